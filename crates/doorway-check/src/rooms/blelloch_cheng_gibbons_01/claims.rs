//! The properties and invariants of room synchronization, with the numbers of Blelloch, Cheng and
//! Gibbons.

use crate::Property;
use crate::property::View;
use crate::sim::Phase;
use doorway_core::registry::{Info, Sizes};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Grant, Status, Turn, Width};

/// A room's counters, in any words.
struct Counters {
    wait: u64,
    grant: u64,
    ghosts: i64,
    done: u64,
}

/// How a kind of rooms shows what the claims are about.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) width: Width,
    pub(super) rooms: usize,
    /// Whether `grant` and `done` are one word.
    pub(super) late_join: bool,
    pub(super) as_printed: bool,
    /// The part that the rooms are.
    pub(super) part: &'static str,
}

impl Kind {
    pub(super) fn new(info: &Info, sizes: Sizes) -> Self {
        Self { width: width(info, sizes), rooms: sizes.k, late_join: false, as_printed: false, part: "" }
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

    /// Room and number of a process's tickets: the one it came or comes with, and the one it
    /// changes with.
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

    /// Ghosts that keep a room from its users are forgotten, however many give up; or no room is
    /// active, and then no user is turned away.
    pub(super) fn refusals_end(self) -> Property {
        let turns_away = move |v: &View<'_>, _: usize| self.turns_away(v);
        Property::leads_to("refusals-end", turns_away, move |v, p| !turns_away(v, p)).despite_give_ups()
    }
}

fn inside(v: &View<'_>, p: usize) -> Option<u64> {
    v.shown(p, "inside")
}

/// P1 to P10, as far as they concern states and runs without clocks.
pub(super) fn properties(kind: Kind, sizes: Sizes) -> Vec<Property> {
    let (n, part) = (sizes.n, kind.part);
    vec![
        // A user that is granted entry asked for this room; a user outside has no ticket.
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
    ]
}

/// A user is outside again sooner or later, and then it is not refused.
pub(super) fn strict_refusals_end() -> Property {
    let is_outside = |v: &View<'_>, user: usize| v.get_at::<Status>("V", user) == Status::Outside;
    Property::leads_to("refusals-end", move |v, user| !is_outside(v, user), is_outside)
}

/// The lemmas.
pub(super) fn lemmas(kind: Kind) -> Vec<Property> {
    let part = kind.part;
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
                    // Granted tickets may be too far away to tell apart, but no user compares them.
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
        // A user that has changed to another room does not see it open without being let in.
        Property::always("change", move |v| {
            v.processes().filter(|&p| v.shown::<u64>(p, "from").is_some() && kind.waits(v, p)).all(|p| {
                let to = v.shown::<u64>(p, "room");
                v.shown::<u64>(p, "from") == to || v.processes().all(|q| inside(v, q) != to)
            })
        }),
    ];
    lemmas.into_iter().map(|lemma| lemma.each(part)).collect()
}

/// (V) of strict rooms: there is no ticket for a user that is outside.
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
