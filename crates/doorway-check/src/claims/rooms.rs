//! The properties and invariants of room synchronization, as Blelloch, Cheng and Gibbons number them, and which states of rooms are alike.

use crate::Property;
use crate::property::View;
use crate::sim::{Canon, Facts, Layout, Phase, Shift, VarId};
use doorway_core::memory::Word;
use doorway_core::registry::{Info, Problem, Sizes, objects};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Grant, Kept, Status, Turn, Width};

/// A room's counters, whatever words they are in.
struct Counters {
    wait: u64,
    grant: u64,
    ghosts: i64,
    done: u64,
}

/// How a kind of rooms shows what claims are about.
#[derive(Clone, Copy)]
struct Kind {
    width: Width,
    rooms: usize,
    late_join: bool,
    as_printed: bool,
}

impl Kind {
    fn new(info: &Info, sizes: Sizes) -> Self {
        Self {
            width: objects::width(info.id, sizes),
            rooms: sizes.k,
            late_join: info.id == "rooms-late-join",
            as_printed: info.id == "rooms-as-printed",
        }
    }

    fn counters(self, v: &View<'_>, room: usize) -> Counters {
        let wait = v.get_at::<Count>("wait", room).0;
        if self.late_join {
            let turn = v.get_at::<Turn>("turn", room);
            return Counters { wait, grant: turn.grant, ghosts: 0, done: turn.done };
        }
        let grant = v.get_at::<Grant>("grant", room);
        let done = v.get_at::<Count>("done", room).0;
        Counters { wait, grant: grant.ticket, ghosts: grant.ghosts as i64, done }
    }

    /// Room and number of the tickets of a process: the one it came or comes with, and the one it changes with.
    fn tickets(v: &View<'_>, p: usize) -> [Option<(usize, u64)>; 2] {
        [("room", "ticket"), ("next room", "next ticket")].map(|(room, ticket)| {
            let room = v.shown::<u64>(p, room)? as usize;
            Some((room, v.shown::<u64>(p, ticket)?))
        })
    }

    fn all_tickets(self, v: &View<'_>, room: usize) -> Vec<u64> {
        let all = v.processes().flat_map(|p| Self::tickets(v, p));
        all.flatten().filter(|&(of, _)| of == room).map(|(_, ticket)| ticket).collect()
    }

    fn is_blocked(self, v: &View<'_>, (room, ticket): (usize, u64)) -> bool {
        self.width.after(ticket, self.counters(v, room).grant) > 0
    }

    /// Whether a process is in the advance region.
    fn advances(self, v: &View<'_>, p: usize) -> bool {
        v.shown::<u64>(p, "opens").is_some() || v.at(p, [18, 19, 24]) || v.at(p, 15) && !self.as_printed
    }

    /// Whether newcomers to some room are turned away now.
    fn turns_away(self, v: &View<'_>) -> bool {
        let is_full = |room| v.get_at::<Grant>("grant", room).ghosts >= self.width.ghosts;
        v.get::<Active>("activeRoom") != Active::NONE && (0..self.rooms).any(is_full)
    }

    fn waits(self, v: &View<'_>, p: usize) -> bool {
        Self::tickets(v, p)[0].is_some_and(|ticket| self.is_blocked(v, ticket))
    }

    /// However many give up, those that keep a room from its users for that are forgotten; or no room is active, and then nobody is turned away.
    fn refusals_end(self) -> Property {
        let turns_away = move |v: &View<'_>, _: usize| self.turns_away(v);
        Property::leads_to("refusals-end", turns_away, move |v, p| !turns_away(v, p)).despite_give_ups()
    }
}

fn inside(v: &View<'_>, p: usize) -> Option<u64> {
    v.shown(p, "inside")
}

/// P1 to P10, as far as they are about states and runs without clocks. `kind`: which part of the object the rooms are.
pub(super) fn properties(info: &Info, sizes: Sizes) -> Vec<Property> {
    let (kind, n) = (Kind::new(info, sizes), sizes.n);
    let part = if info.id == "rooms-strict" { "rooms" } else { "" };
    let mut all = vec![
        // Who is granted entry asked for this room; who is outside has no ticket.
        Property::always("P1", |v| {
            v.processes().all(|p| {
                let came_for = Kind::tickets(v, p)[0].map(|(room, _)| room as u64);
                match v.phase(p) {
                    Phase::Inside => inside(v, p).is_some() && inside(v, p) == came_for,
                    Phase::Remainder => inside(v, p).is_none() && came_for.is_none(),
                    Phase::Entry | Phase::Exit => inside(v, p).is_none_or(|room| Some(room) == came_for),
                }
            })
        })
        .each(part),
        Property::always("P2", |v| {
            let mut rooms = v.processes().filter_map(|p| inside(v, p));
            let first = rooms.next();
            rooms.all(|room| Some(room) == first)
        })
        .each(part),
        Property::sometimes("P3", move |v| v.processes().filter(|&p| inside(v, p).is_some()).count() == n).each(part),
        Property::never_stuck("never-stuck"),
        Property::deadlock_free("P4"),
        Property::leads_to(
            "P5",
            move |v, p| kind.waits(v, p),
            move |v, p| {
                let room = v.shown::<u64>(p, "room");
                !kind.waits(v, p) || v.processes().any(|q| inside(v, q) == room)
            },
        )
        .each(part),
        Property::bounded_exit("bounded-exit"),
        Property::starvation_free("P8"),
        Property::at_most(
            "P10",
            sizes.k as u32 + 1,
            move |v, p| kind.waits(v, p),
            move |before, after| {
                before.processes().any(|p| {
                    let opens = |v: &View<'_>| v.shown::<u64>(p, "opens").map(|room| room as usize);
                    // Not if there were only ghosts.
                    let lets_in = |room| {
                        let counters = kind.counters(after, room);
                        counters.grant != counters.done
                    };
                    before.at(p, [6, 20, 33]) && opens(after).is_none() && opens(before).is_some_and(lets_in)
                })
            },
        )
        .each(part),
    ];
    all.extend(refusals(info, kind));
    all
}

/// Nobody is turned away for ever.
fn refusals(info: &Info, kind: Kind) -> Vec<Property> {
    match info.id {
        "rooms" | "rooms-change" => vec![kind.refusals_end()],
        "rooms-strict" => vec![strict_refusals_end()],
        _ => Vec::new(),
    }
}

/// A user is outside again sooner or later, and then it is not refused.
fn strict_refusals_end() -> Property {
    let is_outside = |v: &View<'_>, user: usize| v.get_at::<Status>("V", user) == Status::Outside;
    Property::leads_to("refusals-end", move |v, user| !is_outside(v, user), is_outside)
}

/// The lemmas.
pub(super) fn lemmas(info: &Info, sizes: Sizes) -> Vec<Property> {
    let kind = Kind::new(info, sizes);
    let part = if info.id == "rooms-strict" { "rooms" } else { "" };
    let lemmas = vec![
        Property::always("L1", move |v| {
            let of_one = |p| {
                let [came, next] = Kind::tickets(v, p);
                next.is_none() || came.is_some_and(|ticket| !kind.is_blocked(v, ticket))
            };
            let unique = |room| {
                let tickets = kind.all_tickets(v, room);
                tickets.iter().all(|ticket| tickets.iter().filter(|other| *other == ticket).count() == 1)
            };
            v.processes().all(of_one) && (0..kind.rooms).all(unique)
        }),
        Property::always("L2", move |v| {
            v.processes().all(|p| {
                let Some(room) = inside(v, p) else { return true };
                Kind::tickets(v, p)[0].is_some_and(|ticket| ticket.0 as u64 == room && !kind.is_blocked(v, ticket))
            })
        }),
        Property::always("L3.1", move |v| {
            (0..kind.rooms).all(|room| {
                let counters = kind.counters(v, room);
                let shown = |p, name: &str| v.shown::<u64>(p, name) == Some(room as u64);
                let misfiled = v.processes().filter(|&p| shown(p, "misfiled")).count() as i64;
                let opens = v.processes().any(|p| shown(p, "opens"));
                let tickets = kind.all_tickets(v, room);
                let blocked = tickets.iter().filter(|&&ticket| kind.is_blocked(v, (room, ticket))).count();
                let waiting = kind.width.after(counters.wait, counters.grant) - (counters.ghosts - misfiled);
                let let_in = kind.width.after(counters.grant, counters.done);
                waiting == blocked as i64
                    && (opens || let_in == (tickets.len() - blocked) as i64)
                    // Those let in may be further away than can be told apart; nobody compares them.
                    && tickets.iter().all(|&ticket| {
                        !kind.is_blocked(v, (room, ticket)) || kind.width.after(counters.wait, ticket) >= 0
                    })
            })
        }),
        Property::always("L3.2", move |v| {
            let advancing: Vec<usize> = v.processes().filter(|&p| kind.advances(v, p)).collect();
            let [p] = advancing[..] else { return advancing.is_empty() };
            let opens = v.shown::<u64>(p, "opens");
            v.get::<Active>("activeRoom") != Active::NONE
                && v.processes().all(|q| inside(v, q).is_none())
                && (0..kind.rooms).filter(|&room| opens != Some(room as u64)).all(|room| {
                    let counters = kind.counters(v, room);
                    counters.grant == counters.done
                })
        }),
        Property::always("L3.3", move |v| {
            let active = v.get::<Active>("activeRoom");
            v.processes().all(|p| {
                let tickets = Kind::tickets(v, p).into_iter().flatten();
                let let_in = tickets.filter(|&ticket| !kind.is_blocked(v, ticket)).map(|(room, _)| room);
                let opens = v.shown::<u64>(p, "opens").map(|room| room as usize);
                let_in.chain(opens).all(|room| active == Active::room(room))
            })
        }),
        // Whoever has changed to another room does not see it open without being let in.
        Property::always("change", move |v| {
            v.processes().filter(|&p| v.shown::<u64>(p, "from").is_some() && kind.waits(v, p)).all(|p| {
                let to = v.shown::<u64>(p, "room");
                v.shown::<u64>(p, "from") == to || v.processes().all(|q| inside(v, q) != to)
            })
        }),
    ];
    lemmas.into_iter().map(|lemma| lemma.each(part)).collect()
}

/// (V) of strict rooms: nobody has a ticket for a user that is outside.
pub(super) fn strict() -> Vec<Property> {
    vec![Property::always("V", |v| {
        let user = |p| v.shown::<u64>(p, "user").map(|user| user as usize);
        v.processes().all(|p| {
            user(p).is_none_or(|of| {
                v.get_at::<Status>("V", of) != Status::Outside && v.processes().all(|q| q == p || user(q) != Some(of))
            })
        })
    })]
}

/// Which states of rooms are alike: those in which the counters of a room, and all that users remember of them, are further by the same number. Rooms are counted from what is done.
#[derive(Debug)]
pub(super) struct Shifted {
    bits: u32,
    rooms: usize,
    /// Of each room: where `wait` is, where `grant` or `turn` is, and where `done` is if it is a word of its own.
    wait: usize,
    grant: usize,
    done: Option<usize>,
    /// Where it is kept what it takes to exit, and for how many.
    held: Option<(usize, usize)>,
}

impl Shifted {
    /// `None` if there are more rooms than counters can be told apart.
    pub(super) fn new(layout: &Layout, info: &Info, sizes: Sizes) -> Option<Self> {
        let find = |name: &str| {
            let last = |path: &&str| path.rsplit('.').next().and_then(|path| path.split('[').next()) == Some(name);
            layout.names().iter().position(last)
        };
        let (wait, done) = (find("wait")?, find("done"));
        let grant = find("grant").or_else(|| find("turn"))?;
        let rooms = if info.problem == Problem::DataStructure { 2 } else { sizes.k };
        let fits = rooms <= Shift::default().len();
        let held = find("held").map(|held| (held, sizes.n));
        let bits = layout.vars()[wait].bits();
        fits.then_some(Self { bits, rooms, wait, grant, done, held })
    }

    fn less(&self, word: u64, by: u64) -> u64 {
        word.wrapping_sub(by) & ((1 << self.bits) - 1)
    }

    /// Which room's counter a variable is, of those that begin here.
    fn room(&self, var: usize, first: usize) -> Option<usize> {
        var.checked_sub(first).filter(|&room| room < self.rooms)
    }

    fn smaller(&self, var: usize, word: u64, by: Shift) -> u64 {
        if let Some(room) = self.room(var, self.wait) {
            return self.less(word, by[room]);
        }
        if let Some(room) = self.done.and_then(|done| self.room(var, done)) {
            return self.less(word, by[room]);
        }
        if self.held.is_some_and(|(held, users)| (held..held + users).contains(&var)) {
            let kept = Kept::unpack(word);
            return Kept { grant: self.less(kept.grant, by[kept.room]), ..kept }.pack();
        }
        let Some(room) = self.room(var, self.grant) else { return word };
        if self.done.is_some() {
            let Grant { ticket, ghosts } = Grant::unpack(word);
            return Grant { ticket: self.less(ticket, by[room]), ghosts }.pack();
        }
        let Turn { grant, joins, done } = Turn::unpack(word);
        Turn { grant: self.less(grant, by[room]), joins, done: self.less(done, by[room]) }.pack()
    }
}

impl Canon for Shifted {
    fn settle(&self, _vars: &mut [u64]) {}

    fn is_stale(&self, _vars: &[u64], _facts: &Facts) -> bool {
        false
    }

    fn base(&self, vars: &[u64]) -> Shift {
        let done = |room: usize| match self.done {
            Some(done) => vars[done + room],
            None => Turn::unpack(vars[self.grant + room]).done,
        };
        std::array::from_fn(|room| if room < self.rooms { done(room) } else { 0 })
    }

    fn of_process(&self, vars: &[u64], _facts: &Facts) -> Shift {
        self.base(vars)
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for (var, word) in vars.iter_mut().enumerate() {
            *word = self.smaller(var, *word, by);
        }
    }

    fn moved(&self, var: VarId, word: u64, by: Shift) -> u64 {
        self.smaller(var as usize, word, by)
    }

    fn waiting(&self, _vars: &[u64]) -> i64 {
        0
    }

    fn of_the_dead(&self, _facts: &Facts) -> u64 {
        0
    }
}
