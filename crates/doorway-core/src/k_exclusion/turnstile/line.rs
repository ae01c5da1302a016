//! Where the records of tickets lie, and the line that grows by itself.
//!
//! # Problem
//! In a [ring](super::Ring) of a fixed size, record `t mod R` belongs to ticket `t` whether it ever
//! waits or not. So `t` must stay below `front + R`, and the door has to keep newcomers out while
//! the line is long. An endless line has records for any number of waiters, and none before a
//! process waits.
//!
//! # Idea
//! A process that is about to wait *claims* a place for its ticket by compare-and-swap, before it
//! announces the ticket. If another ticket has the place and still needs it, the process makes a
//! ring of twice the size. Old rings stay where they are and are still searched: no record ever
//! moves. When the line is empty, long rings may [go back](super::returning).
//!
//! # Shared variables
//! | name        | range            | initially | home   | written at | meaning |
//! |-------------|------------------|-----------|--------|------------|---------|
//! | `top`       | number           | 0         | nobody | 56, and [more](super::returning) | [the number of rings made](super::Rings) |
//! | `rec[i][j]` | `(ticket, fate)` | free      | nobody | 14, 21, 36, 54, and [more](super::moving) | [what has become](Record) of the last ticket that claimed this place of ring `i`, which has `first * 2^i` places |
//!
//! # Statements
//! Of the turnstile's statements, 13, 20 and 35 look in all rings, and 33 is omitted.
//!
//! | statement | what |
//! |---|---|
//! | 50 | a process that looks for a record asks how many rings there are, and then looks in each (13, 20), the newest first |
//! | 51, 52 | a claimer asks for the newest ring, and looks which ticket has its place |
//! | 53 | a ghost has it: its place is free when the front has passed it. If it was exited, and the process that did it sleeps before it moves the front, the claimer does (19) |
//! | 54 | the claim |
//! | 55 | another ticket needs the place: before it makes a ring, the claimer looks once whether it is enabled by now |
//! | 56 | it makes a ring, and tells others by an exchange of `top` |
//! | 58 | a process that gave up exits ghosts at the front, and so on |
//! | 80 to 102 | waiters [move up](super::moving) past ghosts |
//!
//! # Why
//! - *An absent ticket is dealt with (13)*: a helper saw a gate with `y < open` before it looked
//!   for ticket `y`. If `y` waits, its announcement (5) found `open <= y`, so it came before that,
//!   and the claim before the announcement. Another ticket claims a place only when the ticket
//!   there is signalled, was passed, or cannot wait any more. So the helper finds `y`. If it does
//!   not, `y` is not announced, and its 5 will see that it is enabled.
//! - *places too far back are free (52)*: see *jumping* at the turnstile. A ticket more than
//!   `places` before `open` that is not dealt with does not wait: its process found that it was
//!   enabled when it announced it.
//! - *looking at the gate again (55)*: a claimer that was enabled long ago collides with ever newer
//!   tickets, and would make rings without end.
//! - *sweeping (58)*: a ghost at the front that is not enabled, `y = open`, may be exited too.
//!   `open + 1` then enables `y` itself and no other ticket. So a process that is stuck inside, and
//!   endless give-ups in the order of arrival, leave nothing behind. Ghosts behind a waiter get to
//!   the front when the waiter [moves](super::moving).
//! - *an absent ticket is not swept*: it may be announced at any moment, and wait.
//!
//! # Invariants (all checked)
//! (T1) to (T4) of the turnstile, over all rings, and
//! - (T5) a ticket in line that is not dealt with is at most `places` before `open`
//! - (L1) at most one place has a ticket that is not before the front
//! - (L2) a process that waits, or is about to give up, has its tickets in their places, as far as
//!   they are after the front
//! - (L4) a ring is made only when the newest has fewer places than there are tickets drawn and not
//!   exited. Let `w` be the largest number of such tickets at any moment. The newest ring has fewer
//!   than `2w` places, and all rings together have fewer than `4w`
//!
//! # Cost, faults, fairness
//! As the turnstile's. Nothing changes for a process that need not wait. A process that must wait
//! makes three steps more: 51, 52, 54. A process that dies while it makes a ring leaves the ring to
//! others. Helpers never make one. If there is no memory for a ring, a claimer stays where it is,
//! unannounced, and asks the gate again and again. It enters in its turn, or gets a place, and
//! cannot give up meanwhile.
//!
//! # Searched
//! All claims hold in these searches, which looked at all states. Passages have no bound, and no
//! limit on tickets is needed, since the door bounds the line. Give-ups include sweeping and
//! moving. (`doorway check turnstile-line --n 3 --k 1 --passages unbounded`, and so on.)
//!
//! | processes, places | | states |
//! |---|---|---|
//! | 2, 1 | | 2,470 |
//! | 2, 1 | give-ups | about 151,000 |
//! | 2, 2, one process asks for two | | about 13,000 |
//! | 2, 2, one process asks for two | give-ups | about 1.7 million |
//! | 3, 1 | | about 1.9 million |
//!
//! Two searches without a bound on passages were not completed: three processes and give-ups, and
//! three processes, two places and a death. With these, only bounded passages were searched
//! completely.
//!
//! # Compared with CQS
//! The queue of Koval, Khalanskiy and Alistarh (*CQS: A Formally-Verified Framework for Fair and
//! Abortable Synchronization*, PLDI 2023), which Kotlin's coroutines use, is an endless array too.
//! It is a linked list of segments of fixed size; two counters say which cell is the next to
//! suspend in and which is the next to resume. Processes claim cells by fetch-and-add. A segment
//! whose cells are all cancelled is removed from the list in constant time, and a garbage collector
//! frees it.
//!
//! - *Memory*: theirs is proportional to the number of waiters, wherever cancelled cells are, down
//!   to whole segments. Ours is proportional to the number of waiters too: cancelled tickets with
//!   no waiter before them are swept, and [waiters move up](super::moving) past the others. But a
//!   waiter must run to move. Behind one that was woken and does not run, cancelled tickets stay.
//!   Here theirs is better.
//! - *Reclamation*: theirs needs a collector, or hazard pointers or epochs for every access to a
//!   segment. Ours needs neither: [long rings go back](super::returning) when the line is empty,
//!   and short ones live as long as the object. Theirs frees a segment as soon as it is not used.
//!   Ours keeps all rings as long as one caller waits.
//! - *A process that stops*: in CQS the process that resumes a cell must complete it alone. If it
//!   stops after its fetch-and-add and before it completes the cell, the waiter of that cell sleeps
//!   on, however many units others give back. Here any process can do any step of a signal, so one
//!   death costs one unit and no waiter. This is what a turnstile is for, and it decides: a helper
//!   must find the record of ticket `y` from `y` alone, in a bounded number of steps. A ring gives
//!   this (one step for each ring), and a list of segments does not. (We conclude this from reading
//!   the published algorithm, not from a search.)
//! - *Cancelling*: theirs skips a cancelled cell, or gives it a value that is refused. Here a ghost
//!   must be exited exactly once, since `open` counts tickets. So ghosts are not skipped: they
//!   change places with waiters.

use super::words::{after, is_before};
use super::{DrawnTickets, Fate, Gate, Left, Limits, Pass, Record, Rings, Spot, Turnstile};
use crate::memory::{
    CompareSwap, FetchAdd, Here, Immediate, Label, LateRows, Memory, Near, Process, Site, in_both_forms,
};
use core::fmt::{self, Debug};

/// The number of rings of an endless line, if the first has 16 places: the last has 2^22, twice as
/// many as may wait.
pub const MOST_RINGS: usize = 19;

/// The number of rings that stay, in the library: 262,128 places. Claims use the newest ring, so
/// with up to 131,072 tickets in line no ring is made twice.
pub const KEPT_RINGS: u32 = 14;

/// As many rings as any line has: none goes back.
const ALL_RINGS: u32 = u32::MAX;

/// What comes of claiming places.
#[derive(Debug)]
pub enum Claimed<'a, M: Memory> {
    /// Each ticket that was not enabled has a place; the last of them in this ring, with this
    /// record.
    In(u32, &'a M::Cell<Record>),
    /// The last ticket was enabled meanwhile.
    Enabled(Gate),
}

/// The record of a ticket.
#[derive(Debug)]
pub struct Found<'a, M: Memory> {
    /// The ring that it is in.
    pub ring: u32,
    /// Where it lies.
    pub cell: &'a M::Cell<Record>,
    /// What it says.
    pub record: Record,
    /// What it says of that ticket.
    pub fate: Fate,
    /// Whether the process was counted for it, because the ring can go back: it must [let
    /// go](Line::lets_go) of the record.
    pub counted: bool,
}

/// Where the records of tickets lie.
pub trait Line<M: FetchAdd + CompareSwap>: Debug + Sized {
    /// Whether a process that gave up exits ghosts that have no waiter before them, and waiters
    /// [move](super::moving).
    const SWEEPS: bool;

    /// What matters of tickets that are drawn and have no places.
    fn kept(tickets: DrawnTickets) -> impl Debug;

    /// Whether a process remembers where the record of a ticket lies, given whether it is the
    /// `last` of its tickets.
    fn remembers(last: bool) -> bool;

    /// Makes sure that tickets have places before they are announced.
    ///
    /// # Errors
    /// If an access failed.
    async fn claim<'a>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        tickets: DrawnTickets,
    ) -> Result<Claimed<'a, M>, M::Error>;

    /// [`claim`](Self::claim), as a plain function.
    fn claim_now<'a>(of: &'a Turnstile<M, Self>, p: Here<'_, M>, tickets: DrawnTickets) -> Claimed<'a, M>
    where
        M: Immediate;

    /// The place of ticket `t` in this ring.
    fn record(&self, ring: u32, t: u64) -> &M::Cell<Record>;

    /// Looks for the record of ticket `t`. Returns `None` if there is none. Only `live`, which
    /// includes `t`, matters to the process meanwhile.
    ///
    /// # Errors
    /// If an access failed.
    async fn find<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Result<Option<Found<'a, M>>, M::Error>;

    /// [`find`](Self::find), as a plain function.
    fn find_now<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Option<Found<'a, M>>
    where
        M: Immediate;

    /// Whether rings [go back](super::returning) when no waiter is in line.
    #[inline(always)]
    fn goes_back(&self) -> bool {
        false
    }

    /// Whether this ring can go back, so that a process which may be out of line is counted while
    /// it uses a record there.
    #[inline(always)]
    fn can_go(&self, _ring: u32) -> bool {
        false
    }

    /// Counts a process that uses a record which can go: 103.
    ///
    /// # Errors
    /// If an access failed.
    async fn takes_hold<K: Debug>(_: &Turnstile<M, Self>, _: Here<'_, M>, _live: &K) -> Result<(), M::Error> {
        Ok(())
    }

    /// [`takes_hold`](Self::takes_hold), as a plain function.
    #[cold]
    #[inline(never)]
    fn takes_hold_now(of: &Turnstile<M, Self>, p: Here<'_, M>)
    where
        M: Immediate,
    {
        M::now(Self::takes_hold(of, p, &()));
    }

    /// A process that was counted does not use the record any more: 104, and perhaps more.
    ///
    /// # Errors
    /// If an access failed.
    async fn lets_go<K: Debug>(
        _: &Turnstile<M, Self>,
        _: Here<'_, M>,
        _counted: bool,
        _live: &K,
    ) -> Result<(), M::Error> {
        Ok(())
    }

    /// [`lets_go`](Self::lets_go), as a plain function.
    #[inline(always)]
    fn lets_go_now(_: &Turnstile<M, Self>, _: Here<'_, M>, _counted: bool)
    where
        M: Immediate,
    {
    }

    /// Gives rings back if no waiter is in line: 105 to 109. A process calls this if it took the
    /// last ticket out of the line, or may have.
    ///
    /// # Errors
    /// If an access failed.
    async fn gives_back<K: Debug>(_: &Turnstile<M, Self>, _: Here<'_, M>, _live: &K) -> Result<(), M::Error> {
        Ok(())
    }

    /// [`gives_back`](Self::gives_back), as a plain function.
    #[inline(always)]
    fn gives_back_now(_: &Turnstile<M, Self>, _: Here<'_, M>)
    where
        M: Immediate,
    {
    }

    /// Whether the record of ticket `t` may still belong to an earlier one that is not dealt with.
    fn is_far(limits: &Limits, g: Gate, t: u64) -> bool;

    /// Tells all that wait that it is closed: 33 to 36.
    ///
    /// # Errors
    /// If an access failed.
    async fn shut(of: &Turnstile<M, Self>, p: Here<'_, M>, gate: Gate) -> Result<(), M::Error>;

    /// Counts a process that gave up: 80, and so on. See [`moving`](super::moving).
    ///
    /// # Errors
    /// If an access failed.
    async fn has_left(_: &Turnstile<M, Self>, _: Here<'_, M>, _line: u64, _asked: Option<u64>) -> Result<(), M::Error> {
        Ok(())
    }

    /// [`has_left`](Self::has_left), as a plain function.
    #[inline(always)]
    fn has_left_now(_: &Turnstile<M, Self>, _: Here<'_, M>, _line: u64, _asked: Option<u64>)
    where
        M: Immediate,
    {
    }

    /// What a waiter does that was asked to move: 90 to 98. Returns where it stands then.
    ///
    /// # Errors
    /// If an access failed.
    async fn move_on(_: &Turnstile<M, Self>, _: &Process<M>, spot: Spot) -> Result<Spot, M::Error> {
        Ok(spot)
    }

    /// What a helper does that finds a waiter at the front which moves: 99 to 102. Returns whether
    /// the waiter is to be signalled.
    ///
    /// # Errors
    /// If an access failed.
    async fn stops_moving<K: Debug>(
        _: &Turnstile<M, Self>,
        _: Here<'_, M>,
        _found: Found<'_, M>,
        _live: K,
    ) -> Result<bool, M::Error> {
        Ok(true)
    }

    /// [`stops_moving`](Self::stops_moving), as a plain function.
    #[cold]
    #[inline(never)]
    fn stops_moving_now<K: Debug>(of: &Turnstile<M, Self>, p: Here<'_, M>, found: Found<'_, M>, live: K) -> bool
    where
        M: Immediate,
    {
        M::now(Self::stops_moving(of, p, found, live))
    }
}

/// A line of rings, each twice as long as the one before it.
pub struct Endless<M: LateRows> {
    pub(super) top: Near<M, Rings>,
    pub(super) rec: M::Late<Record>,
    pub(super) first: u32,
    /// How many rings stay, once they are made.
    pub(super) kept: u32,
    pub(super) pass: Near<M, Pass>,
    pub(super) left: Near<M, Left>,
}

impl<M: LateRows> Debug for Endless<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endless").field("top", &self.top).field("rec", &self.rec).finish_non_exhaustive()
    }
}

impl<M: LateRows> Endless<M> {
    pub(super) fn new(site: &Site<'_, M>, first: usize, rings: usize) -> Self {
        let (top, rec) = (site.near("top", Rings::NONE), site.late_rows("rec", first, rings, Record::FREE));
        let (pass, left) = (site.near("pass", Pass::NOBODY), site.near("left", Left::NOBODY));
        Self { top, rec, first: first as u32, kept: ALL_RINGS, pass, left }
    }
}

impl<M: FetchAdd + LateRows> Claimed<'_, M> {
    /// Whether the process is counted, because the ring of its last ticket can go back.
    fn is_counted(&self, line: &Endless<M>) -> bool {
        matches!(self, Self::In(ring, _) if line.can_go(*ring))
    }
}

impl<M: LateRows> Endless<M> {
    /// Puts a line together before the program runs, from `top`, `pass` and `left`, which are 0,
    /// and late rows that are not made yet. The first row will have `first` places, and all rings
    /// but the first `kept` [go back](super::returning).
    pub const fn of_parts(
        top: Near<M, Rings>,
        pass: Near<M, Pass>,
        left: Near<M, Left>,
        rec: M::Late<Record>,
        first: usize,
        kept: u32,
    ) -> Self {
        Self { top, rec, first: first as u32, kept, pass, left }
    }
}

impl<M: FetchAdd + LateRows> Turnstile<M, Endless<M>> {
    /// Whether a record is of a ticket so far back that it cannot wait, for the process of ticket
    /// `t` that saw this `open`.
    #[cold]
    #[inline(never)]
    fn is_past(&self, record: Record, t: u64, open: u64) -> bool {
        let oldest = Gate { open, ..Gate::new(0) }.open_near(t).wrapping_sub(self.limits.places);
        is_before(record.ticket(), after(oldest, 0))
    }

    in_both_forms! {
    /// 50, and what asks for it. A process that is counted already is not counted again.
    #[inline(always)]
    pub(super) fn look_for, look_for_now<K: Debug>(&self, p: Here<'_, M>, at: Label, t: u64, live: K, already: bool) -> Option<Found<'_, M>> {'text: {
        let line = &self.line;
        let top = access!(p.at(50).keeping(&(t, &live)).read(&line.top));
        let (counted, mut rings) = (!already && top.are_many(line.kept), top.in_use(line.kept));
        if counted {
            rings = either!(self.take_hold(p, &(t, &live)), self.take_hold_now(p));
        }
        for ring in (0..rings).rev() {
            let cell = line.record(ring, t);
            let record = access!(p.at(at).keeping(&(t, ring, counted, &live)).read(cell));
            if record.is_of(t) {
                let can_go = counted && line.can_go(ring);
                if counted && !can_go {
                    either!(self.let_go(p, &(t, ring, record, &live)), self.let_go_now(p));
                }
                break 'text Some(Found { ring, cell, record, fate: record.fate(), counted: can_go });
            }
        }
        if counted {
            either!(self.let_go(p, &(t, &live)), self.let_go_now(p));
        }
        None
    }}

    /// Claims a place for ticket `t`: 51 to 56. `saw` was the first ticket that is not enabled
    /// when the process last looked. `live` is what matters of its other tickets. `counted` says
    /// whether it is counted for one of these; afterwards it is, if the ring of its last ticket can
    /// go back.
    #[inline(always)]
    fn claim_one, claim_one_now(&self, p: Here<'_, M>, t: u64, saw: u64, live: (u64, u64), several: bool, counted: bool) -> Claimed<'_, M> {'text: {
        let (of, line) = (self, &self.line);
        let (mut open, mut counted) = (saw, counted);
        let mut refused = 0;
        'ring: loop {
            let top = access!(p.at(51).keeping(&(t, open, live, counted)).read(&line.top));
            if top.are_many(line.kept) != counted {
                // If it is counted, the rings went back in between.
                if counted {
                    either!(of.let_go(p, &(t, open, live)), of.let_go_now(p));
                } else {
                    either!(of.take_hold(p, &(t, open, live)), of.take_hold_now(p));
                }
                counted = !counted;
                continue 'ring;
            }
            let rings = top.in_use(line.kept);
            let mut looked = false;
            while let Some(newest) = rings.checked_sub(1) {
                let cell = line.record(newest, t);
                let record = access!(p.at(52).keeping(&(t, open, live, top, looked, counted)).read(cell));
                let is_free = match record.fate() {
                    _ if record.lets_in(t) => true, // nearly always
                    _ if is_before(t, record.ticket()) => false,
                    Fate::Gone => {
                        let front = access!(p.at(53).keeping(&(t, open, live, top, looked, counted, record)).read(&of.front));
                        if front.ticket == record.ticket() && of.is_past(record, t, open) {
                            // It was exited, and the process that did it sleeps.
                            let passed = front.passed_a_ghost();
                            let _ = access!(p
                                .at(19)
                                .keeping(&(t, open, live, top, looked, counted, front))
                                .compare_swap(&of.front, front, passed));
                            continue;
                        }
                        is_before(record.ticket(), front.ticket)
                    }
                    _ => of.is_past(record, t, open),
                };
                if is_free {
                    p.keep(54, &(t, open, live, top, looked, counted, record));
                    if access!(p.at(54).compare_swap(cell, record, Record::claimed(t, several))).is_ok() {
                        break 'text Claimed::In(newest, cell);
                    }
                    continue;
                }
                if looked {
                    break;
                }
                let g = access!(p.at(55).keeping(&(t, live, top, counted)).read(&of.gate));
                if g.enables(t) {
                    if counted {
                        either!(of.let_go(p, &(t, live, g)), of.let_go_now(p));
                    }
                    break 'text Claimed::Enabled(g);
                }
                open = g.open;
                looked = true;
            }
            // The newest ring is too short.
            p.shows("grows", u64::from(rings));
            p.shows("saw open", open);
            if !top.going && p.make_row(&line.rec, rings as usize) {
                // A process that makes a ring which can go back is counted at once. Otherwise two
                // processes could take back each other's rings for ever.
                let enters = !counted && line.can_go(rings);
                let grown = if enters { top.grown().after_one_entered() } else { top.grown() };
                let made = access!(p.at(56).keeping(&(t, open, live, top, counted)).compare_swap(&line.top, top, grown));
                if enters && made.is_ok() {
                    p.shows("counted", true);
                    counted = true;
                }
                p.hides("grows");
                p.hides("saw open");
                continue 'ring;
            }
            // There is no memory for another ring.
            refused += 1;
            p.pauses(refused);
            let g = access!(p.at(55).keeping(&(t, live, "no memory", counted)).read(&of.gate));
            p.hides("grows");
            p.hides("saw open");
            if g.enables(t) {
                if counted {
                    either!(of.let_go(p, &(t, live, g)), of.let_go_now(p));
                }
                break 'text Claimed::Enabled(g);
            }
            open = g.open;
        }
    }}

    /// Claims a place for each ticket. A ticket that is enabled by now needs no place. It is not
    /// given up either.
    #[inline(always)]
    fn claim_each, claim_each_now(&self, p: Here<'_, M>, tickets: DrawnTickets) -> Claimed<'_, M> {
        let DrawnTickets { first, units, open, .. } = tickets;
        let several = units > 1;
        // For the others, it is still known what the gate said when they were drawn.
        let live = (first, if several { open } else { 0 });
        let mut claimed = either!(self.claim_one(p, first, open, live, several, false), self.claim_one_now(p, first, open, live, several, false));
        for i in 1..units {
            let (t, counted) = (after(first, i), claimed.is_counted(&self.line));
            claimed = either!(self.claim_one(p, t, open, live, true, counted), self.claim_one_now(p, t, open, live, true, counted));
        }
        claimed
    }
    }
}

impl<M: FetchAdd + LateRows> Line<M> for Endless<M> {
    const SWEEPS: bool = true;

    fn kept(tickets: DrawnTickets) -> impl Debug {
        tickets
    }

    fn remembers(last: bool) -> bool {
        last
    }

    async fn claim<'a>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        tickets: DrawnTickets,
    ) -> Result<Claimed<'a, M>, M::Error> {
        of.claim_each(p, tickets).await
    }

    #[inline(always)]
    fn claim_now<'a>(of: &'a Turnstile<M, Self>, p: Here<'_, M>, tickets: DrawnTickets) -> Claimed<'a, M>
    where
        M: Immediate,
    {
        of.claim_each_now(p, tickets)
    }

    #[inline(always)]
    fn record(&self, ring: u32, t: u64) -> &M::Cell<Record> {
        &self.rec[(ring as usize, (t & ((u64::from(self.first) << ring) - 1)) as usize)]
    }

    async fn find<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Result<Option<Found<'a, M>>, M::Error> {
        of.look_for(p, at, t, live, false).await
    }

    #[inline(always)]
    fn find_now<'a, K: Debug>(
        of: &'a Turnstile<M, Self>,
        p: Here<'_, M>,
        at: Label,
        t: u64,
        live: K,
    ) -> Option<Found<'a, M>>
    where
        M: Immediate,
    {
        of.look_for_now(p, at, t, live, false)
    }

    #[inline(always)]
    fn goes_back(&self) -> bool {
        self.kept != ALL_RINGS
    }

    #[inline(always)]
    fn can_go(&self, ring: u32) -> bool {
        ring >= self.kept
    }

    async fn takes_hold<K: Debug>(of: &Turnstile<M, Self>, p: Here<'_, M>, live: &K) -> Result<(), M::Error> {
        of.take_hold(p, live).await.map(|_| ())
    }

    async fn lets_go<K: Debug>(
        of: &Turnstile<M, Self>,
        p: Here<'_, M>,
        counted: bool,
        live: &K,
    ) -> Result<(), M::Error> {
        if counted { of.let_go(p, live).await } else { Ok(()) }
    }

    #[inline(always)]
    fn lets_go_now(of: &Turnstile<M, Self>, p: Here<'_, M>, counted: bool)
    where
        M: Immediate,
    {
        if counted {
            of.let_go_now(p);
        }
    }

    async fn gives_back<K: Debug>(of: &Turnstile<M, Self>, p: Here<'_, M>, live: &K) -> Result<(), M::Error> {
        of.give_rings_back_if_any(p, live).await
    }

    #[inline(always)]
    fn gives_back_now(of: &Turnstile<M, Self>, p: Here<'_, M>)
    where
        M: Immediate,
    {
        of.give_rings_back_if_any_now(p, &());
    }

    fn is_far(_: &Limits, _: Gate, _: u64) -> bool {
        false
    }

    /// 34 to 36, and 50. A place that is claimed later, or in a ring that is made later, belongs to
    /// a process that announces later.
    async fn shut(of: &Turnstile<M, Self>, p: Here<'_, M>, _: Gate) -> Result<(), M::Error> {
        let front = p.at(34).keeping(&()).read(&of.front).await?.ticket;
        let line = &of.line;
        let top = p.at(50).keeping(&front).read(&line.top).await?;
        let (counted, mut rings) = (top.are_many(line.kept), top.in_use(line.kept));
        if counted {
            rings = of.take_hold(p, &front).await?;
        }
        for ring in 0..rings {
            let mut place = 0;
            while place < u64::from(line.first) << ring {
                let cell = line.record(ring, place);
                let record = p.at(35).keeping(&(front, rings, counted, ring, place)).read(cell).await?;
                if record.fate().is_open()
                    && !is_before(record.ticket(), front)
                    && p.at(36)
                        .keeping(&(front, rings, counted, ring, place, record))
                        .compare_swap(cell, record, record.with(Fate::Shut))
                        .await?
                        .is_err()
                {
                    continue;
                }
                place += 1;
            }
        }
        if counted {
            of.let_go(p, &()).await?;
        }
        Ok(())
    }

    async fn has_left(of: &Turnstile<M, Self>, p: Here<'_, M>, line: u64, asked: Option<u64>) -> Result<(), M::Error> {
        of.has_left(p, line, asked).await
    }

    #[inline(always)]
    fn has_left_now(of: &Turnstile<M, Self>, p: Here<'_, M>, line: u64, asked: Option<u64>)
    where
        M: Immediate,
    {
        of.has_left_now(p, line, asked);
    }

    async fn move_on(of: &Turnstile<M, Self>, p: &Process<M>, spot: Spot) -> Result<Spot, M::Error> {
        of.move_on(p, spot).await
    }

    async fn stops_moving<K: Debug>(
        of: &Turnstile<M, Self>,
        p: Here<'_, M>,
        found: Found<'_, M>,
        live: K,
    ) -> Result<bool, M::Error> {
        of.stops_moving(p, &found, &live).await
    }
}
