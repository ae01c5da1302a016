//! The invariants of the turnstile, as its file states them, and which of its states are alike.

mod growing;
pub(crate) mod line;
pub(crate) mod mutants;
mod simple;

use crate::Property;
use crate::checked::{Checked, Machine, Merges, checked_abortable, world_at_once};
use crate::claims::together;
use crate::property::View;
use crate::sim::{Canon, Facts, Layout, Phase, Rules, Shift, VarId};
use doorway_core::k_exclusion::turnstile::{Door, Fate, Front, Gate, Limits, Next, Pass, Places, Record, Step, TICKET};
use doorway_core::memory::{Word, fit};
use doorway_core::registry::{Sizes, Turnstile, TurnstileMany, TurnstileUnfair};

impl Checked for Turnstile {
    checked_abortable!();
    const AT_ONCE: Option<Machine> = Some(world_at_once::<Self>);

    fn claims(sizes: Sizes) -> Vec<Property> {
        turnstile(limits(sizes), "")
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits(sizes), rules.lag)))
    }
}

impl Checked for TurnstileUnfair {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        turnstile(limits(sizes), "exclusion")
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![door_opens("exclusion")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits(sizes), rules.lag)))
    }
}

impl Checked for TurnstileMany {
    checked_abortable!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([vec![units_inside(sizes.k)], turnstile(limits_of_many(sizes), "")])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        vec![units_inside(sizes.k), door_opens("")]
    }

    const MERGES: Merges = Merges::Always { lags: true };

    fn canon(layout: &Layout, sizes: Sizes, rules: Rules) -> Option<Box<dyn Canon>> {
        Some(Box::new(Alike::new(layout, limits_of_many(sizes), rules.lag)))
    }
}

/// The limits of the line.
pub(crate) fn limits(sizes: Sizes) -> Limits {
    Limits::for_processes(sizes.n, sizes.k)
}

/// One process asks for two units.
fn limits_of_many(sizes: Sizes) -> Limits {
    Limits::for_processes(sizes.n + 1, sizes.k)
}

/// The difference of two tickets.
fn difference(a: u64, b: u64) -> i64 {
    fit::<i64>(a.wrapping_sub(b), TICKET) as i64
}

/// Records of tickets at or after the front, with this many places.
fn records(v: &View<'_>, places: usize) -> impl Iterator<Item = Record> {
    let front = v.get::<Front>("front").ticket;
    let all: Vec<Record> = (0..places).map(|i| v.get_at("rec", i)).collect();
    all.into_iter().filter(move |record| record.fate() != Fate::Free && difference(record.ticket(), front) >= 0)
}

/// Tickets that were given up and not exited.
fn ghosts(v: &View<'_>, places: usize) -> u64 {
    let (front, gate) = (v.get::<Front>("front"), v.get::<Gate>("gate"));
    let exited = u64::from(gate.odd != front.is_odd());
    let is_one = |record: &Record| record.fate() == Fate::Gone || has_moved(v, places, *record);
    let all = records(v, places).filter(is_one).count() as u64;
    // The one at the front may have been exited.
    all - exited.min(all)
}

/// Whether the process of this ticket waits with another one by now.
fn has_moved(v: &View<'_>, places: usize, record: Record) -> bool {
    record.fate() == Fate::Moving && {
        let pass = v.get::<Pass>("pass");
        let to = fit::<u64>(record.ticket().wrapping_add(pass.by), TICKET);
        pass.is_at(Step::Begun, record.ticket())
            && records(v, places).any(|target| target.is_of(to) && target.fate() != Fate::Gone)
    }
}

/// The units whose tickets a process has drawn and not exited.
fn units(v: &View<'_>, p: usize) -> u64 {
    v.shown(p, "units").unwrap_or(0)
}

/// If a process sees the door closed because the line is too long, it sees it opened again, as long
/// as the holders leave. The process that was to open it may die. After a crash newcomers can only
/// be promised that they open it themselves, so then nothing is claimed.
pub(crate) fn door_opens(kind: &'static str) -> Property {
    let owed = |v: &View<'_>| {
        let door = v.get::<Door>("door");
        !door.is_open() && !door.is_shut() && !v.processes().any(|p| v.has_crashed(p))
    };
    Property::leads_to("door-opens", move |v, _| owed(v), move |v, _| !owed(v)).each(kind)
}

/// (T1) to (T4), where records have this many places, and some units may have no holder.
fn counts(places: usize, of_nobody: fn(&View<'_>) -> u64) -> [Property; 4] {
    [
        Property::always("T1", move |v| {
            let units_there_are = v.get::<Places>("places").0 as i64;
            let drawn = v.get::<Gate>("gate").distance(v.get::<Next>("next").ticket()) + units_there_are;
            let held: u64 = v.processes().map(|p| units(v, p)).sum();
            drawn == (held + of_nobody(v) + ghosts(v, places)) as i64
        }),
        Property::always("T2", move |v| {
            let (front, gate) = (v.get::<Front>("front"), v.get::<Gate>("gate"));
            let after = |record: &Record| difference(record.ticket(), front.ticket) > 0;
            (gate.line == 0 || front.behind(gate.open) >= 0)
                && records(v, places).filter(after).all(|record| record.fate() != Fate::Signalled)
        }),
        Property::always("T3", move |v| {
            let announced: u64 =
                v.processes().filter(|&p| v.shown::<bool>(p, "in line").is_some()).map(|p| units(v, p)).sum();
            v.get::<Gate>("gate").line == announced + ghosts(v, places)
        }),
        Property::always("T4", move |v| {
            let (front, gate) = (v.get::<Front>("front"), v.get::<Gate>("gate"));
            gate.line == 0
                || gate.odd == front.is_odd()
                || records(v, places).any(|record| record.is_of(front.ticket) && record.fate() == Fate::Gone)
        }),
    ]
}

/// (T1) to (T6) and that the door opens, where `kind` is the part that the turnstile is.
pub(crate) fn turnstile(limits: Limits, kind: &'static str) -> Vec<Property> {
    turnstile_with(limits, kind, |_| 0)
}

/// The same, where some units may have no holder.
pub(crate) fn turnstile_with(limits: Limits, kind: &'static str, of_nobody: fn(&View<'_>) -> u64) -> Vec<Property> {
    let bounds = [
        Property::always("T5", move |v| {
            let gate = v.get::<Gate>("gate");
            let (places, ring) = (limits.places as i64, limits.ring as i64);
            let lives = |p: &usize| !v.has_crashed(*p);
            let in_line = |p: &usize| v.shown::<bool>(*p, "in line").is_some();
            let mut tickets = v.processes().filter(lives).filter(in_line).filter_map(|p| v.shown::<u64>(p, "ticket"));
            let is_near = |t: u64| {
                let record: Record = v.get_at("rec", t as usize & (limits.ring - 1));
                !record.fate_of(t).is_open() || gate.distance(t) >= -places
            };
            let mut waiting = v.processes().filter(lives).filter_map(|p| v.shown::<u64>(p, "waits"));
            tickets.all(|t| gate.distance(t) + places < ring) && waiting.all(is_near)
        }),
        Property::always("T6", move |v| v.get::<Gate>("gate").line <= limits.ring as u64),
        door_opens(kind),
    ];
    counts(limits.ring, of_nobody).into_iter().chain(bounds).map(|claim| claim.each(kind)).collect()
}

/// At most `k` units are held in total.
fn units_inside(k: usize) -> Property {
    Property::always("units-inside", move |v| {
        v.processes().filter(|&p| v.phase(p) == Phase::Inside).map(|p| units(v, p)).sum::<u64>() <= k as u64
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Next,
    Gate,
    Front,
    Record,
    Door,
    Top,
    Pass,
    Left,
    Other,
}

/// Which states of a turnstile are alike.
///
/// Tickets are counted from `front`, and the ring is turned with it. Records of tickets before the
/// front say "signalled", which is what they mean to a process that still looks, as long as no
/// process waits for one of them in vain; [if one does](Canon::applies), the state stands for
/// itself. While no process is in line, the front is moved up to where its distance stops making a
/// difference.
#[derive(Debug)]
pub(crate) struct Alike {
    kinds: Vec<Kind>,
    next: usize,
    gate: usize,
    front: usize,
    door: usize,
    rec: usize,
    limits: Limits,
    /// How far the front can fall behind.
    cut: i64,
}

impl Alike {
    pub(crate) fn new(layout: &Layout, limits: Limits, lag: Option<u32>) -> Self {
        let kind = |name: &str| match name.rsplit('.').next().unwrap_or(name).split('[').next() {
            Some("next") => Kind::Next,
            Some("gate") => Kind::Gate,
            Some("front") => Kind::Front,
            Some("rec") => Kind::Record,
            Some("door") => Kind::Door,
            _ => Kind::Other,
        };
        let kinds: Vec<Kind> = layout.names().iter().map(|name| kind(name)).collect();
        let find = |kind| kinds.iter().position(|&k| k == kind).expect("a turnstile has all five");
        let (next, gate, front) = (find(Kind::Next), find(Kind::Gate), find(Kind::Front));
        let (rec, door) = (find(Kind::Record), find(Kind::Door));
        // A process that enters past the line looks up to its own ticket, which is at most as many
        // tickets before `open` as there are places. It jumps (11) if the front is further behind
        // than that.
        let furthest = 2 * limits.places as i64 + 1;
        Self { next, gate, front, door, rec, limits, cut: lag.map_or(furthest, i64::from), kinds }
    }

    fn front(&self, vars: &[u64]) -> Front {
        Front::unpack(vars[self.front])
    }
}

/// Reduces a distance of which only the sign and the parity matter.
fn short(distance: i64) -> i64 {
    if distance <= 2 { distance } else { 2 - distance % 2 }
}

impl Canon for Alike {
    fn applies(&self, vars: &[u64], facts: &Facts) -> bool {
        let is_dealt_with = |t: u64| {
            let record = Record::unpack(vars[self.rec + (t as usize & (self.limits.ring - 1))]);
            difference(t, self.front(vars).ticket) >= 0 || !record.fate_of(t).is_open()
        };
        facts.get("waits").is_none_or(is_dealt_with)
    }

    fn settle(&self, vars: &mut [u64]) {
        let (gate, front) = (Gate::unpack(vars[self.gate]), self.front(vars));
        let behind = front.behind(gate.open);
        if gate.line == 0 && behind > self.cut {
            let moved = front.moved_to(front.ticket.wrapping_add((behind - self.cut) as u64), gate.odd);
            vars[self.front] = moved.pack();
        }
    }

    fn is_stale(&self, vars: &[u64], facts: &Facts) -> bool {
        facts.get("front").is_some_and(|y| y != self.front(vars).ticket)
    }

    fn suits_renaming(&self) -> bool {
        true
    }

    fn base(&self, vars: &[u64]) -> Shift {
        let front = self.front(vars);
        let door = Door::unpack(vars[self.door]);
        [front.ticket, front.ghosts & !1, if door.is_shut() { 0 } else { vars[self.door] & !1 }]
    }

    fn of_process(&self, vars: &[u64], facts: &Facts) -> Shift {
        let [base, ghosts, door] = self.base(vars);
        let front = self.front(vars);
        let mut by = [base, ghosts, door];
        if facts.get("front").is_none() {
            // Whatever it compares must stay behind what it is compared with.
            let first = difference(vars[self.next], base).min(0);
            let upto = facts.get("upto").map(|upto| front.behind(upto));
            let ticket = facts.get("ticket").map(|t| difference(t, base) - first + 1);
            let lift = upto.max(ticket).unwrap_or(0).min(0);
            by[0] = fit::<u64>(base.wrapping_add(lift as u64), TICKET);
        }
        if let Some(seen) = facts.get("seen").filter(|&seen| seen != u64::MAX) {
            let distance = fit::<i64>(front.ghosts.wrapping_sub(seen), 64 - TICKET) as i64;
            by[1] = ghosts.wrapping_sub((distance - short(distance)) as u64);
        }
        if let Some(seen) = facts.get("door").filter(|_| !Door::unpack(vars[self.door]).is_shut()) {
            let distance = fit::<i64>(vars[self.door].wrapping_sub(seen), Door::BITS) as i64;
            by[2] = door.wrapping_sub((distance - short(distance)) as u64);
        }
        by
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for var in [self.next, self.gate, self.front, self.door] {
            vars[var] = self.moved(var as VarId, vars[var], by);
        }
        let ring = &mut vars[self.rec..self.rec + self.limits.ring];
        ring.rotate_left(by[0] as usize & (self.limits.ring - 1));
        let front = Front::unpack(vars[self.front]).ticket;
        for i in 0..self.limits.ring {
            let record = Record::unpack(self.moved(self.rec as VarId, vars[self.rec + i], by));
            let old = difference(record.ticket(), front) < 0;
            let canonical = if old { self.old_record(i, front) } else { record };
            vars[self.rec + i] = canonical.pack();
        }
    }

    fn moved(&self, var: VarId, word: u64, [ticket, ghosts, door]: Shift) -> u64 {
        let less = |t: u64| fit::<u64>(t.wrapping_sub(ticket), TICKET);
        match self.kinds[var as usize] {
            Kind::Next => word.wrapping_sub(difference(ticket, 0) as u64), // more bits than a ticket
            Kind::Gate => Gate::unpack(word).opened(ticket.wrapping_neg()).pack(),
            Kind::Front => {
                let front = Front::unpack(word);
                let ghosts = fit::<u64>(front.ghosts.wrapping_sub(ghosts), 64 - TICKET);
                Front { ticket: less(front.ticket), ghosts }.pack()
            }
            Kind::Record => {
                let record = Record::unpack(word);
                Record::new(less(record.ticket()), record.fate()).pack() // one ring: nothing else is there
            }
            Kind::Door if Door::unpack(word).is_shut() => word,
            Kind::Door => fit::<u64>(word.wrapping_sub(door), Door::BITS),
            Kind::Top | Kind::Pass | Kind::Left | Kind::Other => word, // with one ring
        }
    }

    fn waiting(&self, vars: &[u64]) -> i64 {
        Gate::unpack(vars[self.gate]).distance(Next::unpack(vars[self.next]).ticket())
    }

    fn of_the_dead(&self, facts: &Facts) -> u64 {
        let name = facts.get("name").map_or(0, |name| name + 1);
        name << 32 | facts.get("units").unwrap_or(0) << 1 | facts.get("in line").unwrap_or(0)
    }
}

impl Alike {
    /// The common representative of all old records in this place, with tickets before the front.
    fn old_record(&self, place: usize, front: u64) -> Record {
        let since = (place as u64).wrapping_sub(front) & (self.limits.ring as u64 - 1);
        Record::new(front.wrapping_add(since).wrapping_sub(self.limits.ring as u64), Fate::Signalled)
    }
}
