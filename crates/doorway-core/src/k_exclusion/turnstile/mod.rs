//! `(N, k)`-exclusion in the order of arrival, for any `N`, with places that can be given up.
//!
//! # Problem
//! k-exclusion whose cost does not depend on `N`, and whose waiters can give up.
//!
//! # Source
//! Our own. It answers the wish at the end of Anderson and Moir, PODC 1994: a solution whose cost
//! under contention is a function of `k` only, and that becomes the fastest kind of spin lock when
//! `k` is 1.
//!
//! # Idea
//! Tickets, and a count of exits: ticket `t` is *enabled* while `t < open`. A process that exits
//! and finds the line empty just leaves. A process that is not enabled announces itself in the word
//! that exits change. Either an exit sees the line, or the announcement sees the exit, so no signal
//! is lost. A process that exits while there is a line *helps*: it signals enabled tickets one at a
//! time, oldest first, each in a record of its own, and moves `front` along. Any process can do any
//! step of helping, and several can do it at once. So a helper that dies or sleeps holds no process
//! up. A process that gives up leaves a *ghost*: its ticket is exited when the front reaches it.
//!
//! # Shared variables
//! | name       | range                       | initially  | home   | written at | meaning |
//! |------------|-----------------------------|------------|--------|------------|---------|
//! | `next`     | ticket                      | 0          | nobody | 2, 27      | the next ticket |
//! | `gate`     | `(open, odd, closed, line)` | `(k,0,0,0)`| nobody | 5, 9, 18, 32 | [which tickets may be inside](Gate); `line`: tickets announced and not exited, ghosts included; `odd`: parity of ghosts exited |
//! | `front`    | `(ticket, ghosts)`          | `(0, 0)`   | nobody | 7, 11, 15, 19 | [enabled tickets before it are dealt with](Front); `ghosts`: how many of them were ghosts |
//! | `rec[0..R]`| `(ticket, fate)`            | older ones | nobody | 14, 21, 36 | [what has become](Record) of ticket `t`, in `rec[t mod R]` |
//! | `door`     | number                      | 0          | nobody | 4, 24, 30  | [whether newcomers may draw](Door): even if so, odd while the line is too long for the ring |
//! | `places`   | number                      | k          | nobody | 42, 44     | [the number of places](Places) |
//!
//! No passage looks at `k`: one more place is an exit without a ticket, one less is an entry
//! without an exit. `places` is for processes that ask for several units: a request for more units
//! than there are places is refused, even while it waits. Tickets are compared by their difference
//! modulo their width.
//!
//! # Why
//! - *`odd`*: the exit of a ghost changes `gate`, and its passing changes `front`. The pair must
//!   happen once, although any process may do each half. `odd` differs from the parity of
//!   `front.ghosts` exactly while the ghost at the front has been exited and not passed. The second
//!   look at `front` (17) makes sure that it is *this* ghost.
//! - *looking again (12)*: Q may exit the ghost that *my* exit enabled, and die with its unit and
//!   mine unsignalled: two places for one death. I am alive, so if ghosts were passed while I
//!   helped, I look again.
//! - *jumping (7, 11)*: while the line is empty, exits do not move the front. A process that
//!   announces itself to an empty line moves it, and if that process is slow, helpers do. An
//!   announced ticket that is enabled and not dealt with is never more than `k` before `open`. For
//!   let `y` be such a ticket. While it is, a process that enters has a smaller one, since a larger
//!   one would have to deal with `y` first. When `y` was enabled, exactly `k` tickets up to `y` had
//!   not been exited, so at most `k - 1` exits can follow.
//! - *the door*: record `t` may be written only while `t < front + R`. Ghosts stay until the front
//!   reaches them, so a process stuck inside and endless give-ups would fill any ring. When the
//!   line is long, newcomers camp before the doorway.
//! - *far tickets*: the door does not stop a process that has read it (1) and not drawn yet (2). If
//!   very many processes are there at once, the last of them draw tickets whose record still
//!   belongs to ticket `t - R`. Such a ticket may wait on the record, because only helpers at the
//!   front write it. It must not write the record: a ghost there would tell ticket `t - R` that it
//!   was dealt with. So a process gives up a far ticket only when the line has moved on (46), and
//!   until then it stays in line.
//! - *an endless line*: records can also lie in [rings that are made when they are
//!   needed](Endless). Then no ticket is far, and the door only guards how far the gate can count.
//!
//! # Invariants (all checked)
//! - (T1) `next - open + places` is the number of tickets that were drawn and not exited, ghosts
//!   included, and of places that are about to be added. Hence at most `places` units are held
//! - (T2) `front <= open` whenever the line is not empty; no ticket after the front is signalled
//! - (T3) `line` is the number of tickets announced and not exited, ghosts included
//! - (T4) if `odd` differs from the parity of `front.ghosts` and the line is not empty, the ticket
//!   at the front is a ghost
//! - (T5) every ticket in line is less than `R` after the oldest that is in line and not dealt
//!   with; that one is at most `k` before `open`
//! - (T6) `line <= R`, and `R < 2^22`: the field never runs into its neighbour. (A process counts
//!   from its announcement on. Half of `R` may wait before the door is closed, a quarter may be
//!   inside, and far tickets need more running threads than the last quarter has records.)
//! - door opens: no process camps for ever before a line that is short, unless a process died
//!
//! # Cost, faults, fairness
//! A passage makes two read-modify-writes and two loads while the line is empty. Under contention
//! it makes a bounded number of remote references that depends neither on `N` nor on `k`
//! (`doorway rmr turnstile`), plus a few for each helper that is slow or dead and each ghost that
//! is passed. Tolerates `k - 1` crashes anywhere, where each counts the units it asked for.
//!
//! First in, first enabled among processes that neither gave up nor died. Statement 2 is the
//! doorway. Giving up takes two tries of one exchange for each ticket. With endless give-ups no
//! process *in line* starves, but a helper can be kept busy; each round is paid for by a new
//! give-up. Processes that camp before a full line are promised nothing among each other. A process
//! that asks for several units draws its tickets by an exchange, so that the line cannot become too
//! long for the ring. Its doorway is lock-free and not wait-free.

mod changes;
pub mod entries;
mod forms;
mod help;
mod limits;
mod line;
pub mod moving;
pub mod returning;
mod ring;
mod simple;
mod words;

pub use changes::Look;
pub use forms::Many;
pub use limits::Limits;
pub use line::{Endless, Found, KEPT_RINGS, Line, MOST_RINGS};
pub use ring::Ring;
pub use simple::{Signal, Simple, simple_ring};
pub use words::{Door, Fate, Front, Gate, Left, Next, Pass, Places, Record, Rings, Step, TICKET};

use crate::Failure;
use crate::k_exclusion::{Abortable, AtOnce, KExclusion};
use crate::memory::{
    CompareSwap, FetchAdd, Here, Immediate, LateRows, Mark, Memory, Near, Process, Site, Word, in_both_forms,
};
use core::fmt;
use line::Claimed;
use words::after;

/// The shared variables of the turnstile, and where records lie: in one [ring](Ring), or in an
/// [endless](Endless) line.
///
/// The order of its variables matters to speed, where several lie in a cache line. The first ones
/// are constant or seldom written, so each processor keeps a copy of their lines. The last ones are
/// written by each passage. They lie together, and [what a user of the turnstile
/// writes](crate::k_assignment::Slots) follows. A process that enters then fetches one line from
/// the processor of another one, and not one for each variable.
#[repr(C)]
pub struct Turnstile<M: Memory, L = Ring<M>> {
    pub(super) line: L,
    pub(in crate::k_exclusion) limits: Limits,
    /// The bits of a ticket that are noted: all, or none.
    noted: u64,
    part: M::Part,
    places: Near<M, Places>,
    pub(super) door: Near<M, Door>,
    pub(super) next: Near<M, Next>,
    pub(super) gate: Near<M, Gate>,
    pub(super) front: Near<M, Front>,
}

impl<M: Memory, L: fmt::Debug> fmt::Debug for Turnstile<M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Turnstile");
        all.field("next", &self.next).field("gate", &self.gate).field("front", &self.front);
        all.field("line", &self.line).field("door", &self.door).field("places", &self.places).finish_non_exhaustive()
    }
}

/// What a passage carries from entry to exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// The number of units it holds.
    pub units: u64,
    /// Whether it was announced, and so is counted in `line`.
    pub announced: bool,
    /// The last of its tickets; 0 unless the turnstile [notes them](Turnstile::noting_tickets). It
    /// makes no difference to the turnstile.
    pub ticket: u64,
}

impl Held {
    /// `units` units, announced or not.
    #[must_use]
    pub const fn of(units: u64, announced: bool) -> Self {
        Self { units, announced, ticket: 0 }
    }
}

/// How far an entry section has come.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Attempt {
    /// Not in line: there is nothing to give up.
    #[default]
    Outside,
    /// In line for one unit, here.
    One(Spot),
    /// In line with several tickets, or with one that is far.
    InLine {
        /// The first of them.
        first: u64,
        /// The number of tickets.
        units: u64,
        /// The number of them that were enabled when they were announced.
        enabled: u64,
        /// Whether the last of them was so far back that its record still belonged to an earlier
        /// ticket.
        far: bool,
        /// The ring in which the last of them has its record.
        ring: u32,
    },
}

/// Where a process stands that is in line for one unit. It is small, because futures keep it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    ticket: u64,
    /// The ring in which the ticket has its record.
    ring: u32,
}

impl Spot {
    /// The ticket.
    #[must_use]
    #[inline(always)]
    pub fn ticket(self) -> u64 {
        self.ticket
    }
}

/// How far a process comes without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drawn {
    /// Inside.
    Inside(Held),
    /// As good as inside: the ticket is enabled, and the process must first help the tickets in
    /// line before it. Or the turnstile was closed meanwhile.
    Helps(Duty, Held),
    /// It must wait in line.
    Waits(DrawnTickets),
    /// No process may draw a ticket now.
    Kept(Door),
    /// There are too few places.
    Refused(TooMany),
}

impl Drawn {
    /// As good as inside, with no process to help.
    pub(crate) fn with_nobody_to_help(held: Held) -> Self {
        let duty = Duty { upto: 0, units: 0, owes: false, line: false, far: false, odd: false, sweeps: false };
        Self::Helps(duty, held)
    }

    /// Whether no process may draw a ticket now, so that this one has drawn none.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }
}

/// What comes of a try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tried {
    /// The ticket is enabled.
    Drawn(Drawn),
    /// Too few places are free.
    NoPlace,
    /// No process is let in any more.
    Closed,
    /// There are too few places.
    TooMany(TooMany),
}

/// Tickets that are drawn and not enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrawnTickets {
    first: u64,
    units: u64,
    /// The state of the door when they were drawn, if the line has become too long since.
    too_long: Option<Door>,
    /// The first ticket that was not enabled then, as far as the gate says.
    open: u64,
}

impl DrawnTickets {
    /// The last of them, which decides.
    #[inline(always)]
    fn last(self) -> u64 {
        after(self.first, self.units - 1)
    }
}

/// How far to help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duty {
    /// Tickets before this one must be dealt with.
    upto: u64,
    /// The number of them that the helper itself enabled.
    units: u64,
    /// Whether the helper owes this: a process that enters helps the tickets before its own, and
    /// owes nothing after.
    owes: bool,
    /// Whether there was a line.
    line: bool,
    /// Whether the front must be moved all the same, because it may be far behind.
    far: bool,
    /// The parity of exited ghosts then.
    odd: bool,
    /// Whether the helper then goes on as long as it finds ghosts at the front, enabled or not.
    sweeps: bool,
}

/// How far a process comes before it has to wait in line.
#[derive(Debug)]
pub enum Stands<'a, M: Memory> {
    /// Inside.
    Inside(Held),
    /// In line with the last ticket `t` of its units. The record of `t` tells it when its wait is
    /// over.
    InLine {
        /// The last of its tickets.
        t: u64,
        /// The record of `t`.
        record: &'a M::Cell<Record>,
        /// The number of units it asked for.
        units: u64,
        /// Whether the record may still belong to an earlier ticket.
        far: bool,
    },
    /// The process was asked to give up before it stood in line.
    GivesUp,
}

/// What comes of announcing tickets.
#[derive(Debug)]
pub enum LinedUp<'a, M: Memory> {
    /// It waits in line. This is how far it has come, and the record of the last of its tickets.
    InLine(Attempt, &'a M::Cell<Record>),
    /// The tickets turned out to be enabled.
    Enabled(Drawn),
    /// No process is let in any more, and this one has left the line.
    Closed,
}

/// The gate as an exit found it: there is more to do.
#[must_use = "those in line wait for the rest of the exit section"]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsettled(u64);

/// Why a process is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The turnstile was closed.
    Closed,
    /// There are too few places.
    TooMany(TooMany),
}

/// The turnstile was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closed: no caller is let in any more; holders can still leave")
    }
}
impl core::error::Error for Closed {}

/// A process asked for more places than there are, or than fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    /// The number of places it asked for.
    pub asked: usize,
    /// The number of places it could have asked for.
    pub most: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} places were asked for, and there is room for at most {}; ask for fewer, or reserve room (`room_for`)",
            self.asked, self.most
        )
    }
}
impl core::error::Error for TooMany {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => Closed.fmt(f),
            Self::TooMany(too_many) => too_many.fmt(f),
        }
    }
}
impl core::error::Error for Refused {}

impl From<Closed> for Refused {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl<M: Memory> Turnstile<M> {
    /// Lets `k` processes in; made for `n` processes that ask for one unit each.
    pub fn new(site: &Site<'_, M>, n: usize, k: usize) -> Self {
        Self::with_limits(site, k, Limits::for_processes(n, k), 0)
    }

    /// Lets `k` processes in. Tickets begin with `first`. This makes no difference; tests use it to
    /// be near the point where numbers wrap.
    pub fn with_limits(site: &Site<'_, M>, k: usize, limits: Limits, first: u64) -> Self {
        Self::with_lost(site, k, 0, limits, first)
    }

    /// The same with `k + lost` places, of which `lost` are lost, as if their holders had died.
    ///
    /// # Panics
    /// If the ring is longer than the gate can count, or not a power of two.
    pub fn with_lost(site: &Site<'_, M>, k: usize, lost: usize, limits: Limits, first: u64) -> Self {
        assert!(limits.ring < 1 << words::LINE && limits.ring.is_power_of_two(), "a ring has 2^0 to 2^21 records");
        Self::with_line(site, k, lost, limits, first, |site, first| Ring::new(site, limits.ring, first))
    }
}

impl<M: LateRows> Turnstile<M, Endless<M>> {
    /// Lets `k` processes in, with an endless line. Of the limits, `ring` is the size of the first
    /// of `rings` rings.
    ///
    /// # Panics
    /// If the ring is not a power of two, or more processes can wait than the gate can count.
    pub fn endless(site: &Site<'_, M>, k: usize, limits: Limits, rings: usize, first: u64) -> Self {
        Self::endless_with_lost(site, k, 0, limits, rings, first)
    }

    /// The same with `k + lost` places, of which `lost` are lost, as if their holders had died.
    ///
    /// # Panics
    /// As [`endless`](Self::endless).
    pub fn endless_with_lost(
        site: &Site<'_, M>,
        k: usize,
        lost: usize,
        limits: Limits,
        rings: usize,
        first: u64,
    ) -> Self {
        assert!(limits.full < 1 << (words::LINE - 1) && limits.ring.is_power_of_two(), "fewer than 2^21 wait");
        Self::with_line(site, k, lost, limits, first, |site, _| Endless::new(site, limits.ring, rings))
    }
}

impl<M: Memory, L> Turnstile<M, L> {
    /// Where in the object begins what each passage writes: best at the beginning of a cache line.
    pub const WRITTEN: usize = core::mem::offset_of!(Self, next);

    fn with_line(
        site: &Site<'_, M>,
        k: usize,
        lost: usize,
        limits: Limits,
        first: u64,
        line: impl FnOnce(&Site<'_, M>, u64) -> L,
    ) -> Self {
        let first = after(first, 0);
        Self {
            part: site.here(),
            limits,
            noted: 0,
            next: site.near("next", Next(first)),
            gate: site.near("gate", Gate::new(0).opened(first.wrapping_add(k as u64))),
            front: site.near("front", Front { ticket: first, ghosts: 0 }),
            line: line(site, first),
            door: site.near("door", Door::OPEN),
            places: site.near("places", Places((k + lost) as u64)),
        }
    }

    /// Puts a turnstile together before the program runs, from variables that have the initial
    /// values of the table above. This is for memories that can make them then. A passage knows its
    /// ticket.
    #[expect(
        clippy::too_many_arguments,
        reason = "one for each variable: a tuple could not be taken apart before the program runs"
    )]
    pub const fn of_parts(
        part: M::Part,
        limits: Limits,
        next: Near<M, Next>,
        gate: Near<M, Gate>,
        front: Near<M, Front>,
        door: Near<M, Door>,
        places: Near<M, Places>,
        line: L,
    ) -> Self {
        Self { part, limits, noted: u64::MAX, next, gate, front, door, places, line }
    }

    /// The same, but a passage knows its ticket.
    ///
    /// This is for numbers that grow with every passage. A count that grows for ever cannot be
    /// searched without a bound on passages.
    #[must_use]
    pub fn noting_tickets(self) -> Self {
        Self { noted: u64::MAX, ..self }
    }

    #[inline(always)]
    fn held(&self, units: u64, announced: bool, t: u64) -> Held {
        Held { units, announced, ticket: t & self.noted }
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Turnstile<M, L> {
    in_both_forms! {
        /// The doorway, and inside if the line is empty: 1 to 3. It waits for nothing.
        #[inline(always)]
        pub fn draw, draw_now(&self, p: &Process<M>, units: u64) -> Drawn {'text: {
            let p = p.on(self.part);
            let door = access!(p.at(1).keeping(&()).read(&self.door));
            if !door.is_open() {
                break 'text Drawn::Kept(door);
            }
            if units > 1 {
                break 'text access!(self.draw_many(p, units, door));
            }
            p.shows("door", door);
            let first = access!(p.at(2)
                .keeping(&door)
                .fetch_add(&self.next, Next(units))).ticket(); // the doorway, one step
            p.mark(Mark::DoorwayEnds);
            let t = after(first, units - 1); // the last ticket decides
            p.shows("ticket", t);
            p.shows("units", units);
            let g = access!(p.at(3).keeping(&(first, door)).read(&self.gate));
            if g.enables(t) {
                break 'text self.enabled(p, t, g, self.held(units, false, t));
            }
            let too_long = (g.distance(t) >= self.limits.full as i64).then_some(door);
            if too_long.is_none() {
                p.hides("door");
            }
            Drawn::Waits(DrawnTickets { first, units, too_long, open: g.open })
        }}

        /// Enters if that is possible at once: 41 for several units, 25 to 27. With `once` it does
        /// not try again if another process drew a ticket meanwhile.
        #[inline(always)]
        pub fn draw_if_enabled, draw_if_enabled_now(&self, p: &Process<M>, units: u64, once: bool) -> Tried {'text: {
            let p = p.on(self.part);
            if units > 1
                && let Err(too_many) = access!(p.at(41).keeping(&()).read(&self.places)).are_enough_for(units) {
                    break 'text Tried::TooMany(too_many);
                }
            loop {
                let drawn = access!(p.at(25).keeping(&()).read(&self.next));
                let next = drawn.ticket();
                p.shows("ticket", next);
                let g = access!(p.at(26).keeping(&drawn).read(&self.gate));
                let t = after(next, units - 1);
                if g.closed || !g.enables(t) {
                    p.hides("ticket");
                    break 'text if g.closed { Tried::Closed } else { Tried::NoPlace };
                }
                let swapped = access!(p.at(27)
                    .keeping(&(drawn, g))
                    .compare_swap(&self.next, drawn, Next(drawn.0.wrapping_add(units))));
                p.hides("ticket");
                if swapped.is_ok() {
                    p.mark(Mark::DoorwayEnds);
                    p.shows("units", units);
                    break 'text Tried::Drawn(self.enabled(p, t, g, self.held(units, false, t)));
                }
                if once {
                    break 'text Tried::NoPlace;
                }
            }
        }}

        /// The part of the exit section that every process does: 9. A process may also give back
        /// units that no ticket stands for: then there are more. Returns `Some` if [the
        /// rest](Self::settle) is needed.
        #[inline(always)]
        pub fn give_back, give_back_now(&self, p: &Process<M>, held: Held) -> Option<Unsettled> {
            let p = p.on(self.part);
            let g = access!(p.at(9).keeping(&held).fetch_add(&self.gate, Gate::exited(held.units, held.announced)));
            p.hides("units");
            p.hides("in line");
            // A process that was announced may have closed the door, and must make sure that it is
            // opened again.
            (g.line != 0 || held.announced || g.passes_a_mark(held.units)).then(|| Unsettled(g.pack()))
        }

        /// The rest of the exit section.
        #[inline(always)]
        pub fn settle, settle_now(&self, p: &Process<M>, held: Held, unsettled: Unsettled) -> () {
            let g = Gate::unpack(unsettled.0);
            let line = g.line - if held.announced { held.units } else { 0 };
            let (upto, far) = (g.opened(held.units).open, g.passes_a_mark(held.units));
            let duty = Duty { upto, units: held.units, owes: true, line: line != 0, far, odd: g.odd, sweeps: false };
            let emptied = line == 0 && held.announced && self.line.goes_back();
            let here = p.on(self.part);
            here.part(&emptied);
            either!(self.help(p, duty, None), self.help_now(p, duty, None));
            here.part_done();
            if emptied {
                either!(L::gives_back(self, here, &()), L::gives_back_now(self, here));
            }
        }
    }

    /// The doorway for several units: 41, 25 to 27, and 4.
    ///
    /// Many processes that draw many tickets at the same time could run out of the ring. So no
    /// process draws tickets that would make the line too long. The price is that another process
    /// that draws can make this one try again.
    #[cold]
    async fn draw_many(&self, p: Here<'_, M>, units: u64, door: Door) -> Result<Drawn, M::Error> {
        p.shows("door", door);
        if let Err(too_many) = p.at(41).keeping(&door).read(&self.places).await?.are_enough_for(units) {
            p.hides("door");
            return Ok(Drawn::Refused(too_many));
        }
        loop {
            p.shows("door", door);
            let drawn = p.at(25).keeping(&door).read(&self.next).await?;
            let (first, t) = (drawn.ticket(), after(drawn.ticket(), units - 1));
            p.shows("ticket", t);
            let g = p.at(26).keeping(&(drawn, door)).read(&self.gate).await?;
            if g.closed {
                p.hides("ticket");
                p.hides("door");
                return Ok(Drawn::Kept(Door::SHUT));
            }
            if g.distance(t) >= self.limits.full as i64 {
                p.hides("ticket");
                let _ = p.at(4).keeping(&door).compare_swap(&self.door, door, door.turned()).await?;
                p.hides("door");
                return Ok(Drawn::Kept(door.turned()));
            }
            p.keep(27, &(drawn, g));
            let next = Next(drawn.0.wrapping_add(units));
            if p.at(27).compare_swap(&self.next, drawn, next).await?.is_ok() {
                p.mark(Mark::DoorwayEnds);
                p.hides("door");
                p.shows("units", units);
                if g.enables(t) {
                    return Ok(self.enabled(p, t, g, self.held(units, false, t)));
                }
                return Ok(Drawn::Waits(DrawnTickets { first, units, too_long: None, open: g.open }));
            }
        }
    }

    /// Ticket `t` is enabled, by what `g` says.
    #[inline(always)]
    fn enabled(&self, p: Here<'_, M>, t: u64, g: Gate, held: Held) -> Drawn {
        p.hides("ticket");
        p.hides("door");
        p.mark(Mark::Rests(9));
        if g.line == 0 && !g.closed {
            return Drawn::Inside(held);
        }
        let line = g.line != 0;
        Drawn::Helps(
            Duty { upto: t, units: held.units, owes: false, line, far: false, odd: g.odd, sweeps: false },
            held,
        )
    }

    /// The rest of the entry section: the process [stands in line](Self::stand),
    /// [waits](Self::turn) there, and [enters](Self::enter_in_turn). Returns `None` if the process
    /// was asked to give up; [`leave`](Abortable::leave) must then run with the attempt.
    ///
    /// # Errors
    /// If an access failed, or if the turnstile is closed.
    pub async fn enter(
        &self,
        p: &Process<M>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        let (t, record, units, far) = match self.stand(p, drawn, units, attempt, may_give_up).await? {
            Stands::Inside(held) => return Ok(Some(held)),
            Stands::GivesUp => return Ok(None),
            Stands::InLine { t, record, units, far } => (t, record, units, far),
        };
        let here = p.on(self.part);
        let ended = if units > 1 || far {
            self.watch(here, (t, record), units, far, may_give_up).await?
        } else {
            let (mut t, mut record) = (t, record);
            loop {
                let told = |record: Record| record.fate_of(t).says_something();
                let told = if may_give_up {
                    here.at(8).wait_unless_given_up(record, told).await?
                } else {
                    Some(here.at(8).wait_until(record, told).await?)
                };
                let fate = told.map(|record| record.fate_of(t));
                if fate != Some(Fate::Nudged) {
                    break fate.map(Ok);
                }
                (t, record) = self.move_up(p, attempt).await?;
            }
        };
        match ended {
            None => Ok(None),
            Some(told) => Ok(Some(self.enter_in_turn(p, attempt, told).await?)),
        }
    }

    /// The entry section up to its wait: 4 to 7. It waits for nothing, unless no process may draw a
    /// ticket now.
    ///
    /// # Errors
    /// If an access failed, or if the turnstile is closed.
    pub async fn stand(
        &self,
        p: &Process<M>,
        mut drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Stands<'_, M>, Failure<M::Error, Refused>> {
        let (DrawnTickets { first, units, .. }, record) = loop {
            drawn = match drawn {
                Drawn::Inside(held) => return Ok(Stands::Inside(held)),
                Drawn::Helps(duty, held) => {
                    self.help(p, duty, Some(held)).await?;
                    return Ok(Stands::Inside(held));
                }
                Drawn::Refused(too_many) => return Err(Failure::Refused(Refused::TooMany(too_many))),
                Drawn::Kept(door) if door.is_shut() => return Err(Failure::Refused(Refused::Closed)),
                Drawn::Kept(door) => {
                    if !self.camp(p, door, may_give_up).await? {
                        return Ok(Stands::GivesUp);
                    }
                    self.draw(p, units).await?
                }
                Drawn::Waits(tickets) => match self.line_up(p, tickets).await? {
                    LinedUp::Enabled(drawn) => drawn,
                    LinedUp::Closed => return Err(Failure::Refused(Refused::Closed)),
                    LinedUp::InLine(in_line, record) => {
                        *attempt = in_line;
                        break (tickets, record);
                    }
                },
            }
        };
        let here = p.on(self.part);
        let t = after(first, units - 1);
        let (enabled, far) = match *attempt {
            Attempt::InLine { enabled, far, .. } => (enabled, far),
            _ => (0, false),
        };
        here.shows("waits", after(first, enabled));
        here.keep(8, &*attempt);
        Ok(Stands::InLine { t, record, units, far })
    }

    in_both_forms! {
        /// One turn of the wait of a process that asked for one unit: 8. Returns `Some` if the wait
        /// is over; the process then [enters](Self::enter_in_turn). Returns `Nudged` if the process
        /// is to [move](Self::move_up).
        #[inline(always)]
        pub fn turn, turn_now(&self, p: &Process<M>, t: u64, record: &M::Cell<Record>) -> Option<Fate> {
            let fate = access!(p.on(self.part).at(8).read(record)).fate_of(t);
            fate.says_something().then_some(fate)
        }
    }

    /// Moves a process in line for one unit that was asked to move. Returns its ticket then, and
    /// the record of it.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn move_up(&self, p: &Process<M>, attempt: &mut Attempt) -> Result<(u64, &M::Cell<Record>), M::Error> {
        let Attempt::One(spot) = *attempt else { unreachable!("a process that asks for several never moves") };
        let spot = L::move_on(self, p, spot).await?;
        *attempt = Attempt::One(spot);
        p.on(self.part).keep(8, &*attempt);
        Ok(self.place(spot))
    }

    /// The ticket of a process that stands in line for one unit, and the record of it.
    #[inline(always)]
    pub fn place(&self, Spot { ticket, ring }: Spot) -> (u64, &M::Cell<Record>) {
        (ticket, self.line.record(ring, ticket))
    }

    /// The end of the entry section of a process that was told that its wait is over, or why it was
    /// in vain.
    ///
    /// # Errors
    /// If an access failed, or if the turnstile is closed.
    pub async fn enter_in_turn(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
        told: Result<Fate, Refused>,
    ) -> Result<Held, Failure<M::Error, Refused>> {
        self.in_turn(p, attempt, told).await?.map_err(Failure::Refused)
    }

    in_both_forms! {
    /// [`enter_in_turn`](Self::enter_in_turn), with a refusal as a result.
    #[inline(always)]
    pub(crate) fn in_turn, in_turn_now(&self, p: &Process<M>, attempt: &mut Attempt, told: Result<Fate, Refused>) -> Result<Held, Refused> {
        let here = p.on(self.part);
        let in_line = core::mem::take(attempt);
        let held = match in_line {
            Attempt::One(Spot { ticket, .. }) => Some(self.held(1, true, ticket)),
            Attempt::InLine { first, units, .. } => Some(self.held(units, true, after(first, units - 1))),
            Attempt::Outside => None,
        };
        match (told, held) {
            (Ok(fate), Some(held)) if fate != Fate::Shut => {
                here.hides("waits");
                here.hides("ticket");
                here.mark(Mark::Rests(9));
                Ok(held)
            }
            (told, _) => {
                either!(self.turned_away(p, in_line), self.turned_away_now(p, in_line));
                Err(told.err().unwrap_or(Refused::Closed))
            }
        }
    }

    /// Announces the tickets: 4 to 7.
    #[inline(always)]
    pub(crate) fn line_up, line_up_now(&self, p: &Process<M>, tickets: DrawnTickets) -> LinedUp<'_, M> {'text: {
        let here = p.on(self.part);
        let DrawnTickets { first, units, too_long, .. } = tickets;
        let t = tickets.last();
        if let Some(door) = too_long {
            let _ = access!(here.at(4).keeping(&(L::kept(tickets), door)).compare_swap(&self.door, door, door.turned()));
            here.hides("door");
        }
        let (ring, record) = match either!(L::claim(self, here, tickets), L::claim_now(self, here, tickets)) {
            Claimed::In(ring, record) => (ring, record),
            Claimed::Enabled(g) => break 'text LinedUp::Enabled(self.enabled(here, t, g, self.held(units, false, t))),
        };
        let g = access!(here.at(5).keeping(&(first, ring)).fetch_add(&self.gate, Gate::announced(units)));
        here.shows("in line", true);
        let counted = self.line.can_go(ring);
        either!(L::lets_go(self, here, counted, &(first, ring, g)), L::lets_go_now(self, here, counted));
        let enabled = (-g.distance(first)).max(0).unsigned_abs().min(units);
        if g.line == 0 {
            // No ticket before `open` waits, or ever will.
            here.shows("upto", g.open);
            let front = access!(here.at(6).keeping(&(first, ring, g)).read(&self.front));
            if front.behind(g.open) > 0 {
                here.shows("seen", front.ghosts);
                here.keep(7, &(first, ring, g, front));
                let moved = front.moved_to(g.open_near(t), g.odd);
                let _ = access!(here.at(7).compare_swap(&self.front, front, moved));
                here.hides("seen");
            }
            here.hides("upto");
        }
        if enabled == units {
            break 'text LinedUp::Enabled(self.enabled(here, t, g, self.held(units, true, t)));
        }
        let far = L::is_far(&self.limits, g, t);
        let attempt = if units == 1 && !far {
            Attempt::One(Spot { ticket: t, ring })
        } else {
            Attempt::InLine { first, units, enabled, far, ring }
        };
        if g.closed {
            either!(self.turned_away(p, attempt), self.turned_away_now(p, attempt));
            break 'text LinedUp::Closed;
        }
        LinedUp::InLine(attempt, record)
    }}
    }

    #[cold]
    #[inline(never)]
    fn turned_away_now(&self, p: &Process<M>, attempt: Attempt)
    where
        M: Immediate,
    {
        M::now(self.turned_away(p, attempt));
    }

    /// Refuses a process that was in line: it leaves, as if it gave up.
    async fn turned_away(&self, p: &Process<M>, attempt: Attempt) -> Result<(), M::Error> {
        if let Some(held) = self.leave(p, attempt).await? {
            self.release(p, held).await?;
        }
        Ok(())
    }

    /// Waits although that may be in vain: 8, 45 and 47. By now there may be too few places for
    /// several units, and closing does not reach the record of a far ticket.
    pub(super) async fn watch(
        &self,
        p: Here<'_, M>,
        (t, record): (u64, &M::Cell<Record>),
        units: u64,
        far: bool,
        may_give_up: bool,
    ) -> Result<Option<Result<Fate, Refused>>, M::Error> {
        let turn = || async {
            let fate = p.at(8).read(record).await?.fate_of(t);
            if fate.ends_the_wait() {
                return Ok(Some(Ok(fate)));
            }
            if units > 1
                && let Err(too_many) = p.at(45).read(&self.places).await?.are_enough_for(units)
            {
                return Ok(Some(Err(Refused::TooMany(too_many))));
            }
            if far && p.at(47).read(&self.door).await?.is_shut() {
                return Ok(Some(Err(Refused::Closed)));
            }
            Ok(None)
        };
        if may_give_up { p.spin_unless_given_up(turn).await } else { Ok(Some(p.spin_until(turn).await?)) }
    }

    /// Waits before the doorway until the line is shorter, or finds that it is: 22 to 24 and 28.
    /// Returns `false` if the process was asked to give up.
    async fn camp(&self, p: &Process<M>, door: Door, may_give_up: bool) -> Result<bool, M::Error> {
        if self.open_door(p, door).await? {
            return Ok(true);
        }
        let p = p.on(self.part);
        p.shows("door", door);
        p.mark(Mark::Camps);
        p.keep(28, &door);
        let turned = |now| now != door;
        let camped = if may_give_up {
            p.at(28).wait_unless_given_up(&self.door, turned).await?
        } else {
            Some(p.at(28).wait_until(&self.door, turned).await?)
        };
        p.hides("door");
        Ok(camped.is_some())
    }

    #[cold]
    #[inline(never)]
    pub(super) fn open_door_now(&self, p: &Process<M>, door: Door)
    where
        M: Immediate,
    {
        M::now(self.open_door(p, door));
    }

    /// Lets newcomers draw again if the line is short: 22 to 24. Returns whether it is.
    async fn open_door(&self, p: &Process<M>, door: Door) -> Result<bool, M::Error> {
        let p = p.on(self.part);
        p.shows("door", door);
        let next = p.at(22).keeping(&door).read(&self.next).await?.ticket();
        p.shows("ticket", next);
        let g = p.at(23).keeping(&(door, next)).read(&self.gate).await?;
        p.hides("ticket");
        let is_short = g.distance(next) < self.limits.clear as i64;
        if is_short {
            let _ = p.at(24).keeping(&door).compare_swap(&self.door, door, door.turned()).await?;
        }
        p.hides("door");
        Ok(is_short)
    }

    in_both_forms! {
    /// Gives up ticket `t`, unless it was signalled before: 20, 21. Returns what had become of it
    /// then, and whether the process is counted for its record. A far ticket waits until its record
    /// is its own: 46.
    #[inline(always)]
    fn give_up, give_up_now(&self, p: Here<'_, M>, t: u64, ring: Option<u32>, is_far: bool, live: (u64, u64)) -> (Fate, bool) {'text: {
        let mut far = is_far;
        loop {
            // The process remembers the ring of its last ticket only. It looks for the record of
            // any other one.
            let Found { ring, cell, record, fate, counted } = match ring {
                Some(ring) => {
                    // When it has given up, it is not in line any more, and still uses the record.
                    let counted = self.line.can_go(ring);
                    if counted {
                        either!(L::takes_hold(self, p, &(t, ring, live)), L::takes_hold_now(self, p));
                    }
                    let cell = self.line.record(ring, t);
                    let record = access!(p.at(20).keeping(&(t, ring, far, live)).read(cell));
                    Found { ring, cell, record, fate: record.fate_of(t), counted }
                }
                None => match either!(L::find(self, p, 20, t, (far, live)), L::find_now(self, p, 20, t, (far, live))) {
                    Some(found) => found,
                    None => break 'text (Fate::Signalled, false), // another ticket claimed its place
                },
            };
            if fate == Fate::Signalled {
                break 'text (fate, counted);
            }
            if far {
                far = L::is_far(&self.limits, access!(p.at(46).keeping(&(t, ring, record, live)).read(&self.gate)), t);
                if far {
                    access!(p.at(20).keeping(&("still", t, ring, record, live)).wait_until(cell, |now| now != record));
                }
                continue;
            }
            let gone = Record::new(t, Fate::Gone);
            if access!(p.at(21).keeping(&(t, ring, record, live)).compare_swap(cell, record, gone)).is_ok() {
                break 'text (fate, counted);
            }
            either!(L::lets_go(self, p, counted, &(t, ring, live)), L::lets_go_now(self, p, counted));
        }
    }}

    /// What [`leave`](Abortable::leave) does: 20, 21, and 40. Each ticket is given up by itself, so
    /// that tickets that are enabled do not lie idle until the last one is. A ticket that was
    /// enabled when it was announced is not given up but exited: the front may jump over it.
    #[inline(always)]
    pub(crate) fn withdraw, withdraw_now(&self, p: &Process<M>, attempt: Attempt) -> Option<Held> {'text: {
        let (first, units, enabled, far, ring) = match attempt {
            Attempt::Outside => break 'text None,
            Attempt::One(Spot { ticket, ring }) => (ticket, 1, 0, false, ring),
            Attempt::InLine { first, units, enabled, far, ring } => (first, units, enabled, far, ring),
        };
        let here = p.on(self.part);
        let (mut mine, mut asked, mut counted) = (enabled, None, false);
        for i in enabled..units {
            let (t, live) = (after(first, i), (i, mine));
            here.shows("waits", t);
            // Of the ticket before.
            either!(L::lets_go(self, here, counted, &(attempt, live)), L::lets_go_now(self, here, counted));
            let ring = L::remembers(i + 1 == units).then_some(ring);
            let fate;
            (fate, counted) = either!(self.give_up(here, t, ring, far, live), self.give_up_now(here, t, ring, far, live));
            asked = (fate == Fate::Nudged).then_some(t);
            if fate == Fate::Signalled {
                mine += 1;
            } else {
                here.shows("units", units - (i + 1 - mine));
            }
        }
        let held = self.held(mine, true, after(first, units - 1));
        here.hides("waits");
        here.hides("ticket");
        if mine == 0 {
            here.hides("units");
            here.hides("in line");
        }
        either!(L::lets_go(self, here, counted, &(attempt, mine, asked)), L::lets_go_now(self, here, counted));
        if mine == units {
            break 'text Some(held);
        }
        if mine > 0 {
            // As a process that enters does. The tickets before it may not have been dealt with,
            // and exits of tickets after its own must leave no waiter behind.
            let upto = after(first, mine);
            here.shows("upto", upto);
            let g = access!(here.at(40).keeping(&(upto, mine)).read(&self.gate));
            let duty = Duty { upto, units: mine, owes: false, line: true, far: false, odd: g.odd, sweeps: false };
            access!(self.help(p, duty, Some(held)));
            access!(self.release(p, held));
        } else {
            either!(self.sweep(p, asked), self.sweep_now(p, asked));
        }
        None
    }}
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> KExclusion<M> for Turnstile<M, L> {
    type Held = Held;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Held, Failure<M::Error, Refused>> {
        self.acquire_units(p, 1).await
    }

    async fn release(&self, p: &Process<M>, held: Held) -> Result<(), M::Error> {
        if let Some(unsettled) = self.give_back(p, held).await? {
            self.settle(p, held, unsettled).await?;
        }
        Ok(())
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Turnstile<M, L> {
    /// The entry section for several units at once.
    ///
    /// # Errors
    /// If an access failed, or if the turnstile is closed.
    pub async fn acquire_units(&self, p: &Process<M>, units: u64) -> Result<Held, Failure<M::Error, Refused>> {
        let drawn = self.draw(p, units).await?;
        let mut attempt = Attempt::default();
        match self.enter(p, drawn, units, &mut attempt, false).await? {
            Some(held) => Ok(held),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    /// The same, for a process that may be asked to give up.
    ///
    /// # Errors
    /// If an access failed, or if the turnstile is closed.
    pub async fn try_acquire_units(
        &self,
        p: &Process<M>,
        units: u64,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        let drawn = self.draw(p, units).await?;
        self.enter(p, drawn, units, attempt, true).await
    }
}

/// One try to draw a ticket that is enabled: 25 to 27. A process that gets one helps the tickets
/// before it, if there are any, and waits for nothing.
impl<M: FetchAdd + CompareSwap, L: Line<M>> AtOnce<M> for Turnstile<M, L> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        match self.draw_if_enabled(p, 1, true).await? {
            Tried::Drawn(drawn) => self.enter(p, drawn, 1, &mut Attempt::default(), false).await,
            Tried::NoPlace => Ok(None),
            Tried::Closed => Err(Failure::Refused(Refused::Closed)),
            Tried::TooMany(_) => unreachable!("one is never too many"),
        }
    }
}

impl<M: FetchAdd + CompareSwap, L: Line<M>> Abortable<M> for Turnstile<M, L> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<M::Error, Refused>> {
        self.try_acquire_units(p, 1, attempt).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Held>, M::Error> {
        self.withdraw(p, attempt).await
    }
}
