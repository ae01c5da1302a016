//! Which states of an endless line are alike.

use super::{Kind, difference, short};
use crate::sim::{Canon, Facts, Layout, Phase, Rules, Shift, VarId};
use doorway_core::k_exclusion::turnstile::{
    Door, Fate, Front, Gate, Left, Limits, Next, Pass, Record, Rings, Step, TICKET,
};
use doorway_core::memory::{Field, Word, fit};

/// The ticket at the front of a canonical state. It is not 0, since a count that [began](Left)
/// before ticket 0 is one that never began.
const FRONT: u64 = 1 << 12;

/// How far before the front a ticket lies of which only one thing matters: it was signalled.
const LONG_AGO: i64 = 1 << 11;

/// Which states of an endless line are alike.
///
/// Tickets are counted from `front`, and each ring is turned with it. What is left of tickets
/// before the front moves up to it:
///
/// - *records*: a record that nobody can tell from a free place is one. Any other becomes that of a
///   later ticket of the same place.
/// - *processes that claim (51 to 56)* move by multiples of the longest ring that they may still
///   look at, so that they look at the same places. What such a process remembers moves with it. A
///   process that is enabled by now looks at one ring only: if its place there is taken, it looks
///   at the gate (55), and enters.
/// - *helpers at a front that has moved on* make their remaining steps at once, unless one of these
///   could still matter: it signals a record that was claimed late, or the sweep goes on because of
///   a ghost. Otherwise the helper moves with the record, or with the process that claims it.
/// - *processes that [move](doorway_core::k_exclusion::turnstile::moving)*, or see to it that
///   others move, compare single tickets. All tickets that such a process may still look at move
///   with it.
///
/// Whatever is compared stays in [order](Order): a record, the tickets of those who claim in its
/// place, and what these saw of `open` and of this place. So each number can become larger as long
/// as others do. There is one largest solution, and it depends on nothing but the order and the
/// places. So states that agree on these become one.
///
/// Besides:
///
/// - *processes that wait or give up, and were signalled*, will find any later record in their
///   place. Their ticket becomes one of long ago.
/// - *a process whose next exchange must fail*, because the word has changed and does not come
///   back, makes it at once.
/// - *a process that was to move the front (7) and is late*, and is enabled, does nothing else
///   before it enters. Its ticket becomes one of long ago.
///
/// While no process is in line, the front is moved up as with one ring, but not past a ticket that
/// makes a difference to a process that sees to it that others move, nor past a ghost that makes
/// one to a process that claims. Such a process can sleep for ever, and the front can then be ever
/// further behind. So if tickets are [limited](crate::sim::Rules::line), this distance is too.
#[derive(Debug)]
pub(crate) struct Growing {
    kinds: Vec<Kind>,
    next: usize,
    gate: usize,
    front: usize,
    door: usize,
    rec: usize,
    top: usize,
    pass: usize,
    left: usize,
    /// Where each ring begins in `rec`, and how many places it has.
    rings: Vec<(usize, i64)>,
    /// How many of them are made at most, as (L4) says.
    made: usize,
    limits: Limits,
    /// How far the front can fall behind.
    cut: i64,
}

/// A process that claims a place, or looks at records of single tickets. All numbers are counted
/// from the front.
#[derive(Debug)]
struct Claimer {
    /// Its position among those alive.
    p: usize,
    /// Its tickets: the first and the last.
    tickets: (i64, i64),
    /// Tickets before these are too far back, as it sees it.
    oldest: Vec<i64>,
    /// The ring that it took for the newest.
    newest: Option<usize>,
    /// Which rings it may still look at.
    rings: May,
    /// What it saw in its place, if it may still compare it.
    saw: Option<Record>,
    /// How far it helps.
    upto: Option<i64>,
    /// Whether it can look at all tickets from the first to the last, and at no other.
    looks: bool,
    by: i64,
}

impl Claimer {
    /// Whether it helps at a front that has moved on.
    fn helps_late(&self) -> bool {
        self.upto.is_some() && !self.looks
    }
}

/// Which rings a process may still look at that claims a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum May {
    /// None: it is about to find that it is enabled.
    None,
    /// That which it took for the newest: if its place is taken there, it looks at the gate, and is
    /// enabled.
    Newest,
    /// That, and the newest when it looks again.
    Any,
}

/// What a process remembers of tickets. Numbers are counted from the front.
enum Remembers {
    /// Nothing that is compared with records: what it remembers can move this much.
    Little(i64),
    /// It was signalled, and finds that out in its place of this ring; `None` if the ring is not
    /// known.
    Signalled(i64, Option<usize>),
    /// It is about to find that the front has moved on, and to enter: nothing else. This is where
    /// the front should have been moved to.
    Enters(i64),
    Claims(Claimer),
}

fn of_field(fields: &[Field], name: &str, word: u64) -> u64 {
    fields.iter().find(|field| field.name == name).map_or(0, |field| fit::<u64>(word >> field.lowest, field.bits))
}

fn with_field(fields: &[Field], name: &str, word: u64, value: u64) -> u64 {
    fields.iter().find(|field| field.name == name).map_or(word, |field| {
        let mask = fit::<u64>(u64::MAX, field.bits);
        word & !(mask << field.lowest) | (value & mask) << field.lowest
    })
}

/// The record of a ticket this much later.
fn later(record: Record, by: i64) -> u64 {
    let ticket = record.ticket().wrapping_add(by as u64);
    with_field(Record::FIELDS, "ticket", record.pack(), ticket)
}

fn is_free(record: Record) -> bool {
    record.fate() == Fate::Free
}

/// Whether nothing has become of its ticket yet.
fn waits(record: Record) -> bool {
    record.fate().is_open() || matches!(record.fate(), Fate::Shut | Fate::Moving)
}

impl Growing {
    /// For `n` processes, or as many as ask for one unit each.
    pub(crate) fn new(layout: &Layout, limits: Limits, n: usize, rules: Rules) -> Self {
        let kind = |name: &str| match name.rsplit('.').next().unwrap_or(name).split('[').next() {
            Some("next") => Kind::Next,
            Some("gate") => Kind::Gate,
            Some("front") => Kind::Front,
            Some("rec") => Kind::Record,
            Some("door") => Kind::Door,
            Some("top") => Kind::Top,
            Some("pass") => Kind::Pass,
            Some("left") => Kind::Left,
            _ => Kind::Other,
        };
        let kinds: Vec<Kind> = layout.names().iter().map(|name| kind(name)).collect();
        let find = |kind| kinds.iter().position(|&k| k == kind).expect("an endless line has all eight");
        let rings = (0..limits.rings(n)).map(|i| ((limits.ring << i) - limits.ring, (limits.ring << i) as i64));
        // A ring is made only if the newest is smaller than the number of tickets drawn and not
        // exited. Without give-ups each is one that a process has. (One more, for texts that begin
        // with a place too few.)
        let most = (n + 1).div_ceil(limits.ring).next_power_of_two().ilog2() as usize + 1;
        let made = if rules.give_ups { limits.rings(n) } else { most };
        Self {
            made: made.min(limits.rings(n)),
            next: find(Kind::Next),
            gate: find(Kind::Gate),
            front: find(Kind::Front),
            door: find(Kind::Door),
            rec: find(Kind::Record),
            top: find(Kind::Top),
            pass: find(Kind::Pass),
            left: find(Kind::Left),
            rings: rings.collect(),
            limits,
            // As with one ring.
            cut: rules.lag.map_or(2 * limits.places as i64 + 1, i64::from),
            kinds,
        }
    }

    fn front(&self, vars: &[u64]) -> Front {
        Front::unpack(vars[self.front])
    }

    /// The number of places of the longest ring that is ever made.
    fn longest(&self) -> i64 {
        self.rings[self.made - 1].1
    }

    /// Where this ring has its place for a ticket.
    fn place(&self, ring: usize, t: u64) -> usize {
        let (begin, size) = self.rings[ring];
        self.rec + begin + (t & (size as u64 - 1)) as usize
    }

    /// The ring in which this place is.
    fn ring_of(&self, var: VarId) -> Option<usize> {
        let place = (var as usize).checked_sub(self.rec)?;
        self.rings.iter().rposition(|&(begin, _)| begin <= place)
    }

    fn records<'a>(&'a self, vars: &'a [u64]) -> impl Iterator<Item = Record> + 'a {
        let places: i64 = self.rings.iter().map(|&(_, size)| size).sum();
        vars[self.rec..self.rec + places as usize].iter().map(|&word| Record::unpack(word))
    }

    /// The tickets of a process that claims a place, the first and the last.
    fn claims(&self, facts: &Facts) -> Option<(u64, u64)> {
        let claims = match facts.label {
            4 | 51..=56 => true,
            19 => facts.get("front").is_none(),
            _ => false,
        };
        let last = facts.get("ticket").filter(|_| claims && facts.get("waits").is_none())?;
        let units = facts.get("units").unwrap_or(1);
        Some((fit::<u64>(last.wrapping_sub(units - 1), TICKET), last))
    }

    /// Whether it has not said yet that it would move, and that matters when it has given up.
    fn gave_up_nudged(facts: &Facts) -> Option<u64> {
        let given_up = matches!(facts.label, 10..=19 | 22..=24 | 29 | 50 | 58 | 80..=89);
        let record = facts.saw(20).map(Record::unpack).filter(|_| given_up && facts.get("waits").is_none())?;
        (record.fate() == Fate::Nudged).then(|| record.ticket())
    }

    /// Whether a process moves, or sees to it that others do.
    fn is_in_a_pass(facts: &Facts) -> bool {
        let (waits, units) = (facts.get("waits").is_some(), facts.get("units").unwrap_or(1));
        match facts.label {
            96 | 99..=102 => true,
            81..=95 | 97 | 98 => true,
            80 => waits,
            50 if facts.get("front").is_some() => facts.came_from() == Some(99),
            50 => facts.get("ticket").is_none() || waits && units == 1,
            10..=19 | 22..=24 | 29 | 31 | 58 => waits,
            _ => false,
        }
    }

    /// The first and the last of the tickets at which a process may look that moves, or sees to it
    /// that others do.
    fn looks_at(&self, vars: &[u64], facts: &Facts) -> Option<(i64, i64)> {
        let front = self.front(vars);
        let from = |t: u64| difference(t, front.ticket);
        let (looks, asked) = (Self::is_in_a_pass(facts), Self::gave_up_nudged(facts));
        if !looks && asked.is_none() {
            return None;
        }
        let pass = facts.saw_last(&[81, 91, 99]).map(Pass::unpack);
        let pass = pass.filter(|pass| looks && pass.step != Step::Nobody);
        let of_pass = pass.map(|pass| self.behind_front(vars, pass));
        let by = pass.map(|pass| of_field(Pass::FIELDS, "by", pass.pack()) as i64);
        let left = facts.saw_last(&[80, 84]).map(Left::unpack).filter(|left| looks && left.since != 0);
        let numbers = [
            asked.map(from),
            facts.get("waits").map(from),
            facts.get("front").map(from),
            facts.get("upto").map(|upto| front.behind(upto)),
            facts.saw(85).filter(|_| looks).map(|word| from(Front::unpack(word).ticket)),
            facts.saw(86).filter(|_| looks).map(|word| from(Next::unpack(word).ticket())),
            left.map(|left| front.behind(left.since)),
            of_pass,
            of_pass.zip(by).map(|(t, by)| t + by),
            asked.map(from).zip(by).map(|(t, by)| t + by),
        ];
        let all = || numbers.into_iter().flatten();
        Some(all().min().zip(all().max()).unwrap_or((0, 0)))
    }

    /// The ticket of a pass, from the front.
    fn behind_front(&self, vars: &[u64], pass: Pass) -> i64 {
        let bits = Pass::FIELDS.iter().find(|field| field.name == "ticket").map_or(0, |field| field.bits);
        let less = of_field(Pass::FIELDS, "ticket", pass.pack()).wrapping_sub(self.front(vars).ticket);
        fit::<i64>(less, bits) as i64
    }

    /// The ticket at which a process helps although the front has moved on, if others can tell how
    /// it goes on.
    fn helps_late(&self, vars: &[u64], facts: &Facts, alive: &[&Facts]) -> Option<u64> {
        let acts = matches!(facts.label, 13 | 14 | 50);
        let y = facts.get("front").filter(|&y| acts && y != self.front(vars).ticket)?;
        let may_claim = |facts: &&Facts| {
            self.claims(facts).is_some_and(|(first, last)| difference(y, first) >= 0 && difference(last, y) >= 0)
        };
        let sweeps = facts.saw(58).is_some() && matches!(facts.label, 13 | 50);
        let matters = |record: Record| record.is_of(y) && (waits(record) || sweeps && record.fate() == Fate::Gone);
        (alive.iter().any(may_claim) || self.records(vars).any(matters)).then_some(y)
    }

    fn remembers(&self, vars: &[u64], p: usize, alive: &[&Facts]) -> Remembers {
        let (facts, front) = (alive[p], self.front(vars));
        let from = |t: u64| difference(t, front.ticket);
        // Others may draw tickets before the front.
        let first = from(Next::unpack(vars[self.next]).ticket()).min(0);
        let item = |tickets| Claimer {
            p,
            tickets,
            oldest: Vec::new(),
            newest: None,
            rings: May::Any,
            saw: None,
            upto: None,
            looks: false,
            by: 0,
        };
        if let Some(tickets) = self.looks_at(vars, facts) {
            return Remembers::Claims(Claimer { looks: true, ..item(tickets) });
        }
        if let Some(tickets) = self.claims(facts) {
            // What it saw of `open`, for its ticket.
            let several = tickets.0 != tickets.1;
            let now = Some(vars[self.gate]);
            let gates = match (several, facts.label) {
                (true, 55) => [facts.saw(26), now], // it looks again
                (true, _) => [facts.saw(26), facts.saw(55)],
                (false, 55) => [now, None],
                (false, _) => [facts.saw_last(&[3, 55]), None],
            };
            let oldest = |word: u64| front.behind(Gate::unpack(word).open) - self.limits.places as i64;
            let top = facts.saw(51).filter(|_| !matches!(facts.label, 4 | 51)).map(Rings::unpack);
            let is_enabled = !several && from(tickets.1) < front.behind(Gate::unpack(vars[self.gate]).open);
            let rings = match facts.label {
                55 if is_enabled => May::None,
                19 | 52..=54 if is_enabled && facts.did_after(51, 55) => May::Newest,
                _ => May::Any,
            };
            return Remembers::Claims(Claimer {
                rings,
                oldest: gates.into_iter().flatten().map(oldest).collect(),
                newest: top.and_then(|top| (top.rings as usize).checked_sub(1)),
                saw: facts.saw(52).filter(|_| matches!(facts.label, 53 | 54)).map(Record::unpack),
                ..item((from(tickets.0), from(tickets.1)))
            });
        }
        let upto = facts.get("upto").map(|upto| front.behind(upto));
        if facts.label == 7 && facts.expects.is_some_and(|word| word != vars[self.front]) {
            let open = facts.saw(5).map(Gate::unpack).map(|g| front.behind(g.open));
            let units = facts.get("units").unwrap_or(1);
            let is_enabled = |open: &i64| facts.get("ticket").is_some_and(|t| from(t) < (*open).min(0)) && units == 1;
            if let Some(open) = open.filter(is_enabled) {
                return Remembers::Enters(open);
            }
        }
        if let Some(y) = facts.get("front") {
            if y == front.ticket {
                return Remembers::Little(0);
            }
            return Remembers::Claims(Claimer { upto, ..item((from(y), from(y))) });
        }
        let waits = facts.get("waits").is_some();
        let ticket = facts.get("ticket").or(facts.get("waits")).map(from);
        let will_wait = matches!(facts.label, 6 | 7)
            && facts.saw(5).map(Gate::unpack).zip(ticket).is_some_and(|(g, t)| t >= front.behind(g.open));
        if let Some(t) = ticket.filter(|_| waits || will_wait) {
            let units = facts.get("units").unwrap_or(1);
            let ring = match facts.var.filter(|_| units == 1 && matches!(facts.label, 8 | 20 | 21)) {
                Some(var) => self.ring_of(var),
                None => facts.saw(51).map(Rings::unpack).and_then(|top| (top.rings as usize).checked_sub(1)),
            };
            return if t < 0 { Remembers::Signalled(t, ring) } else { Remembers::Little(0) };
        }
        // Whatever it compares must stay behind what it is compared with.
        let ticket = ticket.map(|t| t - first + 1);
        Remembers::Little(-upto.max(ticket).unwrap_or(0).min(0))
    }
}

/// What moves before the front, and what it must stay beside.
struct Moving<'a> {
    of: &'a Growing,
    claimers: Vec<Claimer>,
    /// A ticket whose process was asked to move, and is before the front.
    asked: Option<i64>,
    /// No ticket before this is drawn any more, and none is at the front or after it.
    end: i64,
    /// Tickets before this are too far back for anybody who begins to claim.
    oldest: i64,
    newest: Option<usize>,
}

/// A record before the front.
#[derive(Clone, Copy)]
struct Old {
    ring: usize,
    /// Its index in its ring.
    place: i64,
    record: Record,
    t: i64,
}

impl Moving<'_> {
    fn size(&self, ring: usize) -> i64 {
        self.of.rings[ring].1
    }

    fn shares(&self, claimer: &Claimer, old: &Old) -> bool {
        let size = self.size(old.ring);
        let (first, last) = claimer.tickets;
        claimer.looks || (first..=last).any(|t| (t - old.t) % size == 0)
    }

    /// Whether this process may look at this ring.
    fn may_see(&self, claimer: &Claimer, ring: usize) -> bool {
        if claimer.upto.is_some() || claimer.looks {
            return true;
        }
        match claimer.newest {
            _ if claimer.rings == May::None => false,
            Some(newest) if claimer.rings == May::Newest => ring == newest,
            Some(newest) => ring == newest || self.newest.is_none_or(|newest| ring >= newest),
            None => self.newest.is_none_or(|newest| ring >= newest),
        }
    }

    /// Whether these two may look at the same place of a ring.
    fn meet(&self, a: &Claimer, b: &Claimer) -> bool {
        let share = |ring: usize| {
            let size = self.size(ring);
            let all = (a.tickets.0..=a.tickets.1).flat_map(|x| (b.tickets.0..=b.tickets.1).map(move |y| x - y));
            self.may_see(a, ring) && self.may_see(b, ring) && all.into_iter().any(|less| less % size == 0)
        };
        (0..self.of.made).any(share)
    }

    /// How far the tickets of a claimer must be moved at a time.
    fn step_of(&self, claimer: &Claimer, old: &[Old]) -> i64 {
        if !claimer.helps_late() {
            let seen = (0..self.of.made).filter(|&ring| self.may_see(claimer, ring));
            return seen.map(|ring| self.size(ring)).max().unwrap_or(1);
        }
        // It looks for records of one ticket only.
        let y = claimer.tickets.0;
        let claims = |c: &Claimer| !c.helps_late() && (c.tickets.0..=c.tickets.1).contains(&y);
        let of_it = old.iter().filter(|old| old.t == y).map(|old| self.size(old.ring)).max();
        of_it.filter(|_| !self.claimers.iter().any(claims)).unwrap_or(self.of.longest())
    }

    /// How far what is before the front can move at most, so that nobody can tell. The records come
    /// after the claimers.
    ///
    /// What is compared stays in order. So each number can be at most so much larger, as long as
    /// others are. There is one largest solution: from what would be allowed without the others,
    /// all are reduced until everything is in order.
    fn most(&self, old: &[Old]) -> Vec<i64> {
        let many = self.claimers.len();
        let end = self.end.min(self.oldest);
        let mut steps = Vec::new();
        let mut most = Vec::new();
        for c in &self.claimers {
            let upto = c.upto.map_or(i64::MAX, |upto| -upto);
            steps.push(self.step_of(c, old));
            most.push((end - 1 - c.tickets.1).min(upto).max(0));
        }
        for old in old {
            let end = if waits(old.record) { self.oldest.min(0) } else { 0 };
            steps.push(self.size(old.ring));
            most.push((end - 1 - old.t).max(0));
        }
        let mut order = Order::default();
        for (i, a) in self.claimers.iter().enumerate() {
            for (j, b) in self.claimers.iter().enumerate().take(i) {
                self.keep_claimers(&mut order, (i, a, steps[i]), (j, b, steps[j]));
            }
            for (j, old) in old.iter().enumerate() {
                self.keep_record(&mut order, (i, a, steps[i]), (many + j, old));
            }
        }
        order.most(most, &steps)
    }

    /// What must stay in order of two processes.
    fn keep_claimers(
        &self,
        order: &mut Order,
        (i, a, by_a): (usize, &Claimer, i64),
        (j, b, by_b): (usize, &Claimer, i64),
    ) {
        let ends = |c: &Claimer| [c.tickets.0, c.tickets.1];
        let looks_at = |a: &Claimer, b: &Claimer| a.looks && b.tickets.1 >= a.tickets.0 && b.tickets.0 <= a.tickets.1;
        if looks_at(a, b) || looks_at(b, a) {
            order.together(i, j);
        }
        let late = a.helps_late() || b.helps_late();
        if a.helps_late() && b.helps_late() && a.tickets != b.tickets {
            return;
        }
        if late && !a.looks && !b.looks {
            let within = |a: &Claimer, b: &Claimer| (b.tickets.0..=b.tickets.1).contains(&a.tickets.0);
            if within(a, b) || within(b, a) {
                order.together(i, j);
            }
            // Only whether they have the same ticket.
            for x in ends(a) {
                for y in ends(b) {
                    if (x - y) % by_a.min(by_b) == 0 {
                        order.same_side((i, x), (j, y));
                    }
                }
            }
            return;
        }
        if !a.looks && !b.looks && !self.meet(a, b) {
            return;
        }
        for x in ends(a) {
            for y in ends(b) {
                order.same_side((i, x), (j, y));
            }
            for &y in &b.oldest {
                order.before((i, x), (j, y));
            }
        }
        for y in ends(b) {
            for &x in &a.oldest {
                order.before((j, y), (i, x));
            }
        }
    }

    /// What must stay in order of a process and a record.
    fn keep_record(&self, order: &mut Order, (i, claimer, step): (usize, &Claimer, i64), (j, old): (usize, &Old)) {
        let (first, last) = claimer.tickets;
        if claimer.helps_late() {
            if (first - old.t) % step.min(self.size(old.ring)) == 0 {
                order.same_side((j, old.t), (i, first));
            }
            return;
        }
        if !self.shares(claimer, old) || !self.may_see(claimer, old.ring) {
            return;
        }
        order.same_side((j, old.t), (i, first));
        order.same_side((j, old.t), (i, last));
        if claimer.looks && (first..=last).contains(&old.t) {
            order.together(i, j);
        }
        if waits(old.record) {
            for &oldest in &claimer.oldest {
                order.before((j, old.t), (i, oldest));
            }
        }
        match claimer.saw.filter(|_| claimer.newest == Some(old.ring)) {
            Some(saw) if saw.pack() == old.record.pack() => order.together(i, j),
            Some(saw) if !is_free(saw) => {
                let front = old.record.ticket().wrapping_sub(old.t as u64);
                order.same_side((j, old.t), (i, difference(saw.ticket(), front)));
            }
            _ => {}
        }
    }

    /// Whether nobody can tell the record from a free place.
    fn is_as_good_as_free(&self, old: &Old) -> bool {
        let is_seen = |c: &Claimer| {
            self.may_see(c, old.ring)
                && self.shares(c, old)
                && (c.saw.is_some() && c.newest == Some(old.ring)
                    || c.looks && (c.tickets.0..=c.tickets.1).contains(&old.t)
                    || !c.looks && c.tickets.0 <= old.t
                    || waits(old.record) && c.oldest.iter().any(|&oldest| old.t >= oldest))
        };
        let is_of_nobody = !self.claimers.iter().any(is_seen) && self.asked != Some(old.t);
        let claimable = match old.record.fate() {
            Fate::Gone => false,
            Fate::Signalled => true,
            _ => old.t < self.oldest,
        };
        is_of_nobody && (claimable || self.newest.is_none_or(|newest| old.ring < newest))
    }
}

/// Which of several numbers must stay before which others, when each of them becomes larger.
#[derive(Debug, Default)]
struct Order {
    /// The first may become larger by at most that much more than the second.
    atmost: Vec<(usize, usize, i64)>,
}

impl Order {
    fn together(&mut self, a: usize, b: usize) {
        self.atmost.extend([(a, b, 0), (b, a, 0)]);
    }

    /// Whether `x` is less than `y` stays so.
    fn before(&mut self, (a, x): (usize, i64), (b, y): (usize, i64)) {
        self.atmost.push(if x < y { (a, b, y - x - 1) } else { (b, a, x - y) });
    }

    /// Which of both is larger stays so.
    fn same_side(&mut self, a: (usize, i64), b: (usize, i64)) {
        self.before(a, b);
        self.before(b, a);
    }

    /// The largest numbers, up to these, by which all can grow.
    fn most(&self, mut by: Vec<i64>, steps: &[i64]) -> Vec<i64> {
        by.iter_mut().zip(steps).for_each(|(by, step)| *by -= *by % step);
        while {
            let mut less = false;
            for &(a, b, more) in &self.atmost {
                let most = (by[b] + more) / steps[a] * steps[a];
                if by[a] > most {
                    by[a] = most;
                    less = true;
                }
            }
            less
        } {}
        by
    }
}

impl Canon for Growing {
    fn applies(&self, vars: &[u64], facts: &Facts) -> bool {
        if Rings::unpack(vars[self.top]).rings as usize > self.made {
            return false;
        }
        let Some(t) = facts.get("waits") else { return true };
        let may_wait = |record: Record| record.is_of(t) && waits(record);
        difference(t, self.front(vars).ticket) >= 0 || !self.records(vars).any(may_wait)
    }

    fn settle(&self, _: &mut [u64]) {}

    fn settle_beside(&self, vars: &mut [u64], alive: &[&Facts]) {
        let (gate, front) = (Gate::unpack(vars[self.gate]), self.front(vars));
        let behind = front.behind(gate.open);
        if gate.line != 0 || behind <= self.cut {
            return;
        }
        // A ghost at the front that was exited has its place until the front passes it, for those
        // to whom it is not too far back.
        let is_there = gate.odd != front.is_odd();
        let mut most = behind - self.cut;
        let mut looks = false;
        for p in 0..alive.len() {
            let Remembers::Claims(claimer) = self.remembers(vars, p, alive) else { continue };
            looks |= claimer.looks;
            if is_there && claimer.oldest.iter().any(|&oldest| oldest <= 0) {
                return;
            }
        }
        if looks {
            // No ticket that the front passes may have a record, or get one.
            let claims = alive.iter().filter_map(|facts| self.claims(facts)).map(|(first, _)| first);
            let there = self.records(vars).filter(|&record| !is_free(record)).map(Record::ticket);
            let behind_front = |t: u64| difference(t, front.ticket);
            most = there.chain(claims).map(behind_front).filter(|&t| t >= 0).fold(most, i64::min);
            // Whether all that were counted are passed.
            let since = alive.iter().filter_map(|facts| facts.saw_last(&[80, 84])).chain([vars[self.left]]);
            let since = since.map(Left::unpack).filter(|left| left.since != 0);
            most = since.map(|left| front.behind(left.since)).filter(|&t| t > 0).fold(most, |most, t| most.min(t - 1));
        }
        if most > 0 {
            vars[self.front] = front.moved_to(front.ticket.wrapping_add(most as u64), gate.odd).pack();
        }
    }

    fn is_stale(&self, _: &[u64], _: &Facts) -> bool {
        false
    }

    fn is_stale_beside(&self, vars: &[u64], facts: &Facts, alive: &[&Facts]) -> bool {
        let front = self.front(vars);
        if self.looks_at(vars, facts).is_some() {
            return false;
        }
        match facts.get("front") {
            Some(y) => y != front.ticket && self.helps_late(vars, facts, alive).is_none(),
            // It passes a ghost for another process.
            None => facts.label == 19 && facts.saw(53).is_some_and(|saw| saw != vars[self.front]),
        }
    }

    fn fails_for_good(&self, vars: &[u64], facts: &Facts) -> bool {
        let Some((var, word)) = facts.var.zip(facts.expects) else { return false };
        let returns = !matches!(self.kinds[var as usize], Kind::Gate | Kind::Front | Kind::Record | Kind::Top);
        !returns && vars[var as usize] != word && self.looks_at(vars, facts).is_none()
    }

    fn suits_renaming(&self) -> bool {
        true
    }

    fn base(&self, vars: &[u64]) -> Shift {
        let front = self.front(vars);
        let passes = of_field(Pass::FIELDS, "count", vars[self.pass]);
        let door = if Door::unpack(vars[self.door]).is_shut() { 0 } else { vars[self.door] & !1 };
        [fit::<u64>(front.ticket.wrapping_sub(FRONT), TICKET), passes << 32 | front.ghosts & !1, door]
    }

    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift {
        self.by(vars, facts, 0)
    }

    fn of_processes(&self, vars: &mut [u64], alive: &[&Facts]) -> Vec<Shift> {
        let (front, gate) = (self.front(vars), Gate::unpack(vars[self.gate]));
        let remembers: Vec<Remembers> = (0..alive.len()).map(|p| self.remembers(vars, p, alive)).collect();
        let mut forward = vec![0; alive.len()];
        let mut moving = Moving {
            of: self,
            claimers: Vec::new(),
            asked: None,
            end: difference(Next::unpack(vars[self.next]).ticket(), front.ticket).min(0),
            oldest: front.behind(gate.open) - self.limits.places as i64,
            newest: (Rings::unpack(vars[self.top]).rings as usize).checked_sub(1),
        };
        // Places that must not be free, because a process finds there that it was signalled.
        let mut taken = Vec::new();
        for (p, remembers) in remembers.into_iter().enumerate() {
            match remembers {
                Remembers::Little(by) => forward[p] = by,
                Remembers::Enters(open) => forward[p] = -LONG_AGO - open,
                Remembers::Signalled(t, ring) => {
                    let size = ring.map_or(self.longest(), |ring| self.rings[ring].1);
                    forward[p] = t.rem_euclid(size) - LONG_AGO - t;
                    let rings = ring.map_or(0..self.rings.len(), |ring| ring..ring + 1);
                    let ticket = front.ticket.wrapping_add(t as u64);
                    taken.extend(rings.map(|ring| self.place(ring, ticket)));
                }
                Remembers::Claims(claimer) => moving.claimers.push(claimer),
            }
        }
        let pass = Pass::unpack(vars[self.pass]);
        let asked = (pass.step != Step::Nobody).then(|| self.behind_front(vars, pass));
        moving.asked = asked.filter(|&t| {
            let ticket = fit::<u64>(front.ticket.wrapping_add(t as u64), TICKET);
            self.records(vars).any(|record| record.is_of(ticket) && waits(record))
        });
        let moved = self.move_old(vars, &mut moving, &taken);
        let looks = |t: i64| moving.claimers.iter().find(|c| c.looks && (c.tickets.0..=c.tickets.1).contains(&t));
        if let Some(t) = asked.filter(|&t| t < 0) {
            let of_record = moved.iter().find(|&&(ticket, _)| ticket == t).filter(|_| moving.asked.is_some());
            let by = looks(t).map(|c| c.by).or(of_record.map(|&(_, by)| by));
            let now = by.map_or(-LONG_AGO - LONG_AGO / 2, |by| t + by);
            let word = with_field(Pass::FIELDS, "ticket", vars[self.pass], front.ticket.wrapping_add(now as u64));
            vars[self.pass] = if by.is_some() { word } else { with_field(Pass::FIELDS, "by", word, 1) };
        }
        let left = Left::unpack(vars[self.left]);
        let since = front.behind(left.since);
        if left.since != 0 && since <= 0 {
            let later = moving.claimers.iter().filter(|c| c.looks && c.tickets.0 > since);
            let end = later.map(|c| c.tickets.0 + c.by - 1).min().unwrap_or(0).min(0);
            let now = looks(since).map_or(end, |c| since + c.by);
            vars[self.left] = with_field(Left::FIELDS, "since", vars[self.left], front.ticket.wrapping_add(now as u64));
        }
        for claimer in &moving.claimers {
            forward[claimer.p] = claimer.by;
        }
        alive.iter().zip(forward).map(|(facts, by)| self.by(vars, facts, by)).collect()
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for var in [self.next, self.gate, self.front, self.door, self.pass, self.left] {
            vars[var] = self.moved(var as VarId, vars[var], by);
        }
        for &(begin, size) in &self.rings {
            let begin = self.rec + begin;
            let ring = &mut vars[begin..begin + size as usize];
            ring.rotate_left(by[0] as usize & (size as usize - 1));
            for i in 0..size as usize {
                vars[begin + i] = self.moved((begin + i) as VarId, vars[begin + i], by);
            }
        }
    }

    fn moved(&self, var: VarId, word: u64, [ticket, more, door]: Shift) -> u64 {
        let less = |t: u64| fit::<u64>(t.wrapping_sub(ticket), TICKET);
        match self.kinds[var as usize] {
            Kind::Next => word.wrapping_sub(difference(ticket, 0) as u64), // more bits than a ticket
            Kind::Gate => Gate::unpack(word).opened(ticket.wrapping_neg()).pack(),
            Kind::Front => {
                let front = Front::unpack(word);
                Front { ticket: less(front.ticket), ghosts: fit::<u64>(front.ghosts.wrapping_sub(more), 64 - TICKET) }
                    .pack()
            }
            Kind::Record if is_free(Record::unpack(word)) => word,
            Kind::Record => later(Record::unpack(word), -difference(ticket, 0)),
            Kind::Pass => {
                let count = of_field(Pass::FIELDS, "count", word).wrapping_sub(more >> 32);
                let word = with_field(Pass::FIELDS, "count", word, count);
                if Pass::unpack(word).step == Step::Nobody {
                    return word;
                }
                let t = of_field(Pass::FIELDS, "ticket", word).wrapping_sub(ticket);
                with_field(Pass::FIELDS, "ticket", word, t)
            }
            Kind::Left if Left::unpack(word).since == 0 => word,
            Kind::Left => with_field(Left::FIELDS, "since", word, Left::unpack(word).since.wrapping_sub(ticket)),
            Kind::Door if Door::unpack(word).is_shut() => word,
            Kind::Door => fit::<u64>(word.wrapping_sub(door), Door::BITS),
            Kind::Top | Kind::Other => word,
        }
    }

    fn waiting(&self, vars: &[u64]) -> i64 {
        Gate::unpack(vars[self.gate]).distance(Next::unpack(vars[self.next]).ticket())
    }

    fn is_far_behind(&self, vars: &[u64], line: i64) -> bool {
        let (front, gate) = (self.front(vars), Gate::unpack(vars[self.gate]));
        gate.line == 0 && front.behind(gate.open) > self.cut + line
    }

    fn of_the_dead(&self, facts: &Facts) -> u64 {
        let inside = u64::from(facts.phase == Phase::Inside);
        inside << 32 | facts.get("units").unwrap_or(0) << 1 | facts.get("in line").unwrap_or(0)
    }
}

impl Growing {
    /// By how much the copies of a process decrease that move forward by this much.
    fn by(&self, vars: &[u64], facts: &Facts, forward: i64) -> Shift {
        let [base, more, door] = self.base(vars);
        let front = self.front(vars);
        let mut by = [fit::<u64>(base.wrapping_sub(forward as u64), TICKET), more, door];
        if let Some(seen) = facts.get("seen").filter(|&seen| seen != u64::MAX) {
            let distance = fit::<i64>(front.ghosts.wrapping_sub(seen), 64 - TICKET) as i64;
            let ghosts = fit::<u64>(more.wrapping_sub((distance - short(distance)) as u64), 64 - TICKET);
            by[1] = more >> 32 << 32 | ghosts;
        }
        let pass = facts.saw_last(&[81, 91, 99]).filter(|_| Self::is_in_a_pass(facts));
        if let Some(word) = pass {
            // Only whether another pass began since it looked, or began one itself.
            let count = |word| of_field(Pass::FIELDS, "count", word);
            let bits = Pass::FIELDS.iter().find(|field| field.name == "count").map_or(0, |field| field.bits);
            let since = fit::<u64>(count(vars[self.pass]).wrapping_sub(count(word)), bits);
            by[1] = by[1].wrapping_sub(since.saturating_sub(2) << 32);
        }
        if let Some(seen) = facts.get("door").filter(|_| !Door::unpack(vars[self.door]).is_shut()) {
            let distance = fit::<i64>(vars[self.door].wrapping_sub(seen), Door::BITS) as i64;
            by[2] = door.wrapping_sub((distance - short(distance)) as u64);
        }
        by
    }

    /// Moves what is left of tickets before the front.
    /// Returns the tickets whose records were moved, and how far.
    fn move_old(&self, vars: &mut [u64], moving: &mut Moving<'_>, taken: &[usize]) -> Vec<(i64, i64)> {
        let front = self.front(vars).ticket;
        let mut old = Vec::new();
        for (ring, &(begin, size)) in self.rings.iter().enumerate() {
            for place in 0..size {
                let record = Record::unpack(vars[self.rec + begin + place as usize]);
                let t = difference(record.ticket(), front);
                if !is_free(record) && t < 0 {
                    old.push(Old { ring, place, record, t });
                }
            }
        }
        let at = |old: &Old| self.rec + self.rings[old.ring].0 + old.place as usize;
        old.retain(|old| {
            let is_free = !taken.contains(&at(old)) && moving.is_as_good_as_free(old);
            if is_free {
                vars[at(old)] = 0;
            }
            !is_free
        });
        let by = moving.most(&old);
        let of_records = by[moving.claimers.len()..].to_vec();
        moving.claimers.iter_mut().zip(by).for_each(|(claimer, by)| claimer.by = by);
        let moved = old.iter().zip(of_records);
        moved
            .map(|(old, by)| {
                vars[at(old)] = later(old.record, by);
                (old.t, by)
            })
            .collect()
    }
}
