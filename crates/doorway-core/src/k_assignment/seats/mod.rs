//! Slots for processes that may die: a dead owner's slot comes back, and the next owner is told.
//!
//! # Problem
//! [k-assignment](crate::k_assignment) between processes that may die anywhere and be followed by
//! new ones, in a memory that outlives them. A dead owner's slot comes back once. The next owner of
//! that slot is told that an owner died. Each owner has a fence, larger than that of every earlier
//! owner of the same slot.
//!
//! # Source
//! Our own.
//!
//! # Idea
//! The `k` slot words are the units. The owner, the fence and what the next owner is told are in
//! one word, so a unit is never without an owner. A process that finds no free slot draws a ticket
//! and writes it into the row of its seat; a bit says that a ticket may be there. An owner that
//! leaves offers its slot to the row with the smallest ticket. It frees the slot only if no process
//! waits. An offer is not yet a unit: the slot changes hands by a compare-and-swap on the slot
//! word. If a process dies between its offer and this step, another process that finds the offer
//! can make the step. The memory [says](crate::memory::Seats) which seats have dead owners. Apart
//! from a break, a slot is taken away for no other reason.
//!
//! # Order, or a bound on how often a waiter is passed
//! In strict order (`P = 1`) a newcomer gets in line if any process waits, and every owner hands
//! its slot over: each passage is a change of processes.
//!
//! With a larger `P`, a power of two, newcomers take any free slot, and only every `P`-th owner of
//! a slot hands it over. The others free it and *call* the oldest waiter, unless it is called
//! already. A waiter that is called looks whether a slot is free; if a newcomer was faster, it
//! sleeps again. So at most `P` newcomers take one slot while the same waiter is the oldest, and at
//! most `k P` take any.
//!
//! # Shared variables
//! There are `S` seats, and each process has one. `W(t)`, `C(t)`, `G(i,s,d)` and 0 are values of
//! [`Want`], `F(s,d)` and `H(o,s,d)` of [`Slot`]. `d` is what the next owner is told: nothing, that
//! an owner died, or that its slot was broken ([`News`]).
//!
//! | name | range | initially | written at | meaning |
//! |---|---|---|---|---|
//! | `bits[0..S/64]` | 64 bits | 0 | 6, 12, 15, 29 | which seats have announced that they wait |
//! | `next` | number | 0 | 4 | the next ticket |
//! | `slot[0..k]` | [`Slot`] | `F(0)` | 3, 7, 10, 20, 22, 24, 25, 27, 28, 34 | a unit: free, or the seat that holds it |
//! | `want[0..S]` | [`Want`] | 0 | 5, 11, 13, 14, 19, 25, 38, 41 | what the owner of the seat wants, or is offered |
//!
//! And a byte for each seat, which its owner keeps locked: 29, 30.
//!
//! # Statements
//! ```text
//! enter:
//!  1  if P = 1 and any bit is set goto 4
//!  2  for each slot i, from the last one used: if slot[i] is free
//!  3      slot[i]: F(s,d) → H(me,s+1,d): inside
//!  4  t := next; next := next + 1
//!  5  want[me] := W(t)
//!  6  bits := bits ∪ {me}                                  the doorway ends
//! 41  if want[me] = C(t): want[me] := W(t)
//!  7  while want[me] = W(t) and some slot is free: take it as in 3, then pass it on, perhaps to me
//!  8  after a death, and when it is time to look again: recover
//!  9  while want[me] = W(t): sleep, and watch all other seats with a bit and all owners;
//!     then goto 7
//! 10  want[me] = G(i,s,d): if slot[i] = H(·,s,·): slot[i] → H(me,s+1,d)
//! 11  if slot[i] ≠ H(me,s+1,·): want[me] := W(t); goto 7   a void offer
//! 12  bits := bits ∖ {me}
//! 13  want[me] := 0; 42: inside
//! give up:
//! 14  want[me]: W(t) or C(t) → 0; if it is something else: 10
//! 15  bits := bits ∖ {me}; 42
//! exit: if s mod P = 0, pass on, with nothing to be told; otherwise
//! 17  as below
//! 22  slot[i]: H(me,s,·) → F(s); 38
//! decline, by a process that was let in while it gave up: pass on, with d as it was told
//! pass on slot i, which is H(me,s,·), and say d of it:
//! 16  T := next
//! 17  if no bit is set goto 22
//! 18  of all rows with a bit, the smallest W(t) with t < T;
//!     none, but one with t ≥ T: goto 16; none: goto 22
//! 19  want[j]: W(t) → G(i,s,d); if it is something else goto 16
//! 20  slot[i]: H(me,s,·) → H(j,s+1,d)
//! 21  wake j; done
//! 22  slot[i]: H(me,s,·) → F(s,d); if P > 1: 38
//! 23  if no row with a bit is W: done
//! 24  take a free slot as in 3 and pass it on; there is none: wake the oldest waiter; done
//! call:
//! 38  of all rows with a bit, the smallest W(t) or C(t); none, or C(t): done;
//!     want[j]: W(t) → C(t); failed: done
//! 39  wake j
//! by a process that no longer waits, if P > 1:
//! 42  if a slot is free: 38
//! recover:
//! 25  for each row j that is not 0 and whose owner is dead:
//!         if it is G(i,s,d), 10 for j; want[j] → 0
//! 26  for each slot i that is H(o,s,·) and whose owner is dead:
//! 27      if some want[j] = G(i,s,d): slot[i] → H(j,s+1,d), and 26 for the same i
//! 28      slot[i]: H(o,s,·) → H(me,s+1,died), and pass it on
//! 29  for each bit j whose owner is dead:
//!         lock byte j; if want[j] = 0: bits := bits ∖ {j}; unlock byte j; 42
//! register:
//! 30  lock byte me
//! 31  25 to 29 for the seat me alone; 42
//! break slot i, of the owner that was seen there:
//! 33  if H(o,s,·) was seen
//! 34      slot[i]: H(o,s,·) → H(me,s+1,broken), and pass it on
//! try, by a process that does not wait:
//! 37  if P = 1 and some row with a bit is W:
//!         take a free slot as in 24, pass it on, goto 37; there is none: fail
//!     otherwise: 2 and 3; there is none: fail
//! ```
//! The further accesses of a statement with more than one have numbers of their own: 71 and 72 are
//! the look and the take of 7, and so on.
//!
//! # Invariants (all checked)
//! - unique names: no two living processes have the same slot
//! - (P1) a living process that has slot `i` with fence `s` is its owner: `slot[i] = H(me,s,·)`,
//!   unless it was broken
//! - (P2) a process that follows one that died inside, or was broken there, is told. For each death
//!   at most two processes are told of a death, and for each break at most two of a break. A
//!   process that had a slot in hand to pass it on counts as an owner too, and so does one that was
//!   offered a slot and never came in. A process can be both
//! - (P3) the fence of a process is larger than that of every earlier owner of the slot
//! - (P4) a living process in its remainder has no slot, and its row and its bit are clear: nothing
//!   is lost
//!
//! Why they hold:
//! - *One fact is one word.* No word has to agree with another: tickets only order rows, and a
//!   ticket that died with its process orders nothing.
//! - *Exactly once.* 28 is a compare-and-swap from a word whose fence never comes back. If the
//!   process that won it dies, its own word is reclaimed, and still says that an owner died.
//! - *An offer is not a unit.* Before a row `G(i,s)` is cleared at 25, the slot has left epoch `s`.
//!   To clear the row first would lose the unit.
//! - *A seat is clean before it is used.* One process at a time has its byte locked, and does 31
//!   before anything else. A late compare-and-swap, by a process that helped the owner before,
//!   names an old ticket or an old fence, and fails.
//! - *A bit is cleared by its owner, or under its owner's byte lock.* Otherwise a new owner could
//!   lose its bit.
//! - *A process that frees a slot looks again* (22, 23). *A waiter looks for free slots after
//!   announcing itself* (6, 7).
//! - *First in, first enabled.* A process that comes after another's 6 sees its bit and draws a
//!   larger ticket, and 16 to 19 offer to the smallest. Without 16 a process with an old copy of
//!   the bits can meet a seat that has come back with a new ticket, and prefer it to an older one.
//!
//! # Cost, faults, fairness
//! Without contention, entry takes a load of each word of bits and a compare-and-swap. Exit takes a
//! compare-and-swap, and such a load before and after it.
//!
//! Any number of deaths is tolerated, if a process is left that waits or comes later. A memory that
//! never says that an owner is dead tolerates `k - 1` deaths, as every k-assignment does. There a
//! waiter that died keeps its bit for ever, and once it is offered a slot, it keeps that slot too.
//! 37 looks at rows, so such a bit keeps no other process from trying. A waiter must look for the
//! dead by itself now and then (9): a death that wakes a sleeper is a hint, and hints alone leave
//! processes asleep ([`Sleeps`]). A process that stops keeps the unit that it holds or is offered,
//! and nothing else.
//!
//! First in, first enabled while no process dies. An exit has no bound if others begin passages
//! without end: a process that frees a slot looks again (23), may take a slot that another has just
//! freed (24), and passes that on. In each round another process gets in.
//!
//! # Departures
//! 17 looks before 16 does, because no process needs `T` while no process waits. 29 tries the lock
//! without asking whether the owner is dead: the lock answers that.

pub mod entries;
mod fast;
mod pass;
mod recover;
mod words;

pub use words::{LAST_FENCE, MOST_SEATS, MOST_SLOTS, News, Slot, Want};

use super::KAssignment;
use crate::Failure;
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{
    CompareSwap, FetchAdd, FetchAnd, FetchOr, Here, Label, Mark, Process, Site, Sleeps, Woken, decl, within,
};
use core::convert::Infallible;
use core::fmt::{self, Debug};

/// What a memory must offer for [`Seats`].
pub trait Mortal: Sleeps + FetchAdd + FetchOr + FetchAnd + CompareSwap {}
impl<M: Sleeps + FetchAdd + FetchOr + FetchAnd + CompareSwap> Mortal for M {}

/// Slots between processes that may die. The [`Pid`](crate::memory::Pid) of a process is its seat.
#[derive(Debug)]
pub struct Seats<M: Mortal> {
    part: M::Part,
    bits: M::Row<u64>,
    next: M::Var<u64>,
    slot: M::Row<Slot>,
    want: M::Row<Want>,
    bytes: M::Bytes,
    seats: usize,
    k: usize,
    /// The number of seats whose bits share one word.
    per_word: usize,
    /// The number of words of bits. Every passage needs it, and a division would cost more than the
    /// rest.
    words: usize,
    /// `P - 1`: an owner hands its slot over if its fence has none of these bits.
    keeps: u64,
}

/// What a passage carries from entry to exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The slot.
    pub slot: usize,
    /// Its fence: larger than that of every earlier owner of the slot.
    pub fence: u64,
    /// What became of owners of the slot since the last one that left.
    pub news: News,
}

/// How far an entry section has come.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Attempt {
    ticket: Option<u64>,
}

/// What became of the slot of a process that left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// It is free, or another process has it.
    Passed,
    /// It was no longer this process's: another process [broke](Seats::break_slot) it.
    Broken,
}

/// A slot that this process owns, and its word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Unit {
    slot: usize,
    word: Slot,
}

impl Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.slot, self.word)
    }
}

impl Unit {
    #[inline(always)]
    fn of<M: Mortal>(p: &Process<M>, Grant { slot, fence, news }: Grant) -> Self {
        Self { slot, word: Slot::held(p.pid().index(), fence, news) }
    }

    #[inline(always)]
    fn grant(self) -> Grant {
        Grant { slot: self.slot, fence: self.word.fence(), news: self.word.news() }
    }
}

/// An exit section that is not over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "the slot is passed on when `exit_on` has run"]
pub struct Going(Unit, bool);

/// What became of a slot that was to be freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Freed {
    /// It is free, and no process waits.
    Done,
    /// It is free, and a process may wait.
    LookAgain,
    /// It is as it was: a process may wait for it.
    SomebodyWaits,
    /// Another process has it.
    NotMine,
}

impl<M: Mortal> Seats<M> {
    /// For `seats` processes and `k` slots.
    ///
    /// # Panics
    /// Panics if `seats` or `k` is zero, or larger than [`MOST_SEATS`] or [`MOST_SLOTS`].
    pub fn new(site: &Site<'_, M>, seats: usize, k: usize) -> Self {
        Self::with_words_of(site, seats, k, 64)
    }

    /// The same with the bits of `per_word` seats in one word. Memories use 64; the checker uses
    /// fewer, to explore several words.
    ///
    /// # Panics
    /// The same as for [`new`](Self::new), and if `per_word` is not in `1..=64`.
    pub fn with_words_of(site: &Site<'_, M>, seats: usize, k: usize, per_word: usize) -> Self {
        assert!((1..=MOST_SEATS).contains(&seats), "between 1 and {MOST_SEATS} seats, not {seats}");
        assert!((1..=MOST_SLOTS).contains(&k), "between 1 and {MOST_SLOTS} slots, not {k}");
        assert!((1..=64).contains(&per_word), "a word has the bits of 1 to 64 seats, not {per_word}");
        Self {
            part: site.here(),
            bits: site.row("bits", seats.div_ceil(per_word), |_| decl(0)),
            next: site.var("next", 0u64),
            slot: site.row("slot", k, |_| decl(Slot::FRESH)),
            want: site.row("want", seats, |_| decl(Want::Nothing)),
            bytes: site.bytes("byte", seats),
            seats,
            k,
            per_word,
            words: seats.div_ceil(per_word),
            keeps: 0,
        }
    }

    /// Lets at most `bypass` newcomers get in while the same waiter is the oldest. If `bypass` is
    /// less than `2 k`, the order is strict, and no newcomer passes a waiter.
    ///
    /// All processes must agree on this number. If they do not, only the bound is lost.
    #[must_use]
    pub fn with_bypass(mut self, bypass: u32) -> Self {
        let each = bypass as usize / self.k;
        self.keeps = if each == 0 { 0 } else { (1 << each.ilog2()) - 1 };
        self
    }

    /// The largest number of newcomers that get in while the same waiter is the oldest; 0 in strict
    /// order. This is the number of slots times a power of two, at most [what was asked
    /// for](Self::with_bypass).
    #[must_use]
    pub fn bypass(&self) -> u32 {
        if self.is_in_order() { 0 } else { (self.keeps as u32 + 1) * self.k as u32 }
    }

    /// Whether newcomers get in line behind all waiters.
    #[inline(always)]
    pub(self) fn is_in_order(&self) -> bool {
        self.keeps == 0
    }

    /// Whether the owner of this slot hands it over if a process waits.
    #[inline(always)]
    pub(self) fn hands_over(&self, unit: Unit) -> bool {
        unit.word.fence() & self.keeps == 0
    }

    /// The number of seats.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.k
    }

    /// The word of a seat's bit, and the bit.
    fn bit(&self, seat: usize) -> (usize, u64) {
        (seat / self.per_word, 1 << (seat % self.per_word))
    }

    /// The entry section: 1 to 13. Returns `None` if the process was asked to give up;
    /// [`leave`](Abortable::leave) must then run with the attempt.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn enter(
        &self,
        p: &Process<M>,
        from: usize,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, M::Error> {
        if let Some(grant) = self.try_enter(p, from).await? {
            return Ok(Some(grant));
        }
        self.wait(p, from, attempt, may_give_up).await
    }

    /// The entry section from 4 on, for a process that did not get in at once.
    ///
    /// # Errors
    /// The same as for [`enter`](Self::enter).
    pub async fn wait(
        &self,
        p: &Process<M>,
        from: usize,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, M::Error> {
        let (here, me) = (p.on(self.part), p.pid().index());
        let t = here.at(4).keeping(&from).fetch_add(&self.next, 1).await?;
        if t > Want::LAST_TICKET {
            return Err(here.at(4).damaged(t));
        }
        attempt.ticket = Some(t);
        let waits = Want::Waits(t);
        here.at(5).keeping(&(from, waits)).write(&self.want[me], waits).await?;
        let (word, bit) = self.bit(me);
        here.at(6).keeping(&(from, waits)).fetch_or(&self.bits[word], bit).await?;
        here.mark(Mark::DoorwayEnds);
        let mut wait = p.memory().wait_begins(p.pid());
        let (mut looks_for_dead, mut turn) = (false, 0);
        let unit = loop {
            let live = (from, waits, looks_for_dead);
            let mine = here.at(7).keeping(&live).read(&self.want[me]).await?;
            if mine == Want::Called(t) && !self.is_in_order() {
                // This fails if a slot is offered by now, which the next turn sees.
                let _ = here.at(41).keeping(&live).compare_swap(&self.want[me], mine, waits).await?;
            } else if mine != waits {
                if let Some(unit) = self.accept(here, mine, &live).await? {
                    break unit;
                }
                here.at(11).keeping(&live).write(&self.want[me], waits).await?;
            } else if let Some(unit) = self.take(here, from, [71, 72], &live).await? {
                within!(here, &("wait", live), self.pass(here, unit, unit.word.news()).await?);
            } else {
                if looks_for_dead && here.at(8).keeping(&live).may_have_died().await? {
                    within!(here, &("wait", live), self.recover(p).await?);
                }
                let Some(watch) = self.whom_to_watch(here, &(from, waits)).await? else {
                    looks_for_dead = false;
                    turn += 1;
                    here.at(9).goes_round(turn)?;
                    continue;
                };
                let sleeps = here.at(9).keeping(&(from, waits, &watch));
                looks_for_dead = match sleeps.sleep(&mut wait, &self.want[me], waits, &watch, may_give_up).await? {
                    Woken::Called => false,
                    Woken::Death | Woken::Again => true,
                    Woken::GiveUp => {
                        p.memory().wait_ends(p.pid());
                        return Ok(None);
                    }
                };
                turn = 0;
                continue;
            }
            turn += 1;
            here.at(7).goes_round(turn)?;
        };
        p.memory().wait_ends(p.pid());
        self.no_longer_waits(here, unit).await?;
        *attempt = Attempt::default();
        Ok(Some(self.inside(here, unit)))
    }

    /// The exit section.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn exit(&self, p: &Process<M>, grant: Grant) -> Result<Left, M::Error> {
        let (here, unit) = (p.on(self.part), Unit::of(p, grant));
        self.pass_or_free(here, unit, News::None, self.hands_over(unit)).await
    }

    /// The exit section of a process that was let in while it gave up. The next owner is told what
    /// this process was told.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn decline(&self, p: &Process<M>, grant: Grant) -> Result<Left, M::Error> {
        self.pass(p.on(self.part), Unit::of(p, grant), grant.news).await
    }

    /// The rest of an exit section that [began at once](Self::exit_at_once).
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn exit_on(&self, p: &Process<M>, Going(unit, freed): Going) -> Result<Left, M::Error> {
        let here = p.on(self.part);
        if !freed {
            return self.pass(here, unit, News::None).await;
        }
        match self.looks_again(here, unit).await? {
            Some(another) => self.pass(here, another, another.word.news()).await.map(|_| Left::Passed),
            None => Ok(Left::Passed),
        }
    }

    /// Takes a slot away from the owner that was [seen](Self::look_at_slot) there, dead or alive,
    /// and passes it on: 33, 34.
    ///
    /// Returns `false` if the slot is free, or has another owner by now: only the owner that was
    /// seen may lose the slot. The call does not stop the owner, whose [exit](Self::exit) says that
    /// the slot was broken.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn break_slot(&self, p: &Process<M>, slot: usize, word: Slot) -> Result<bool, M::Error> {
        let (here, me) = (p.on(self.part), p.pid().index());
        if slot >= self.k || word.owner().is_none() {
            return Ok(false);
        }
        let Some(mine) = word.given_to(me, News::Broken) else { return Err(here.at(34).damaged(word)) };
        if here.at(34).keeping(&Unit { slot, word }).compare_swap(&self.slot[slot], word, mine).await?.is_err() {
            return Ok(false); // it changed hands meanwhile
        }
        within!(here, &"break", self.pass(here, Unit { slot, word: mine }, News::Broken).await?);
        Ok(true)
    }

    /// The word of a slot, for inspection; `None` if there is no such slot.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn look_at_slot(&self, p: &Process<M>, slot: usize) -> Result<Option<Slot>, M::Error> {
        if slot >= self.k {
            return Ok(None);
        }
        p.on(self.part).at(35).keeping(&()).read(&self.slot[slot]).await.map(Some)
    }

    /// What the owner of a seat wants, for inspection; `None` if there is no such seat.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn look_at_seat(&self, p: &Process<M>, seat: usize) -> Result<Option<Want>, M::Error> {
        if seat >= self.seats {
            return Ok(None);
        }
        p.on(self.part).at(36).keeping(&()).read(&self.want[seat]).await.map(Some)
    }

    #[inline(always)]
    fn inside(&self, p: Here<'_, M>, unit: Unit) -> Grant {
        let grant = unit.grant();
        p.holds("name", grant.slot as u64);
        p.holds("fence", grant.fence);
        grant
    }

    /// Makes an offer this process's own: 10. Returns `None` if the offer is void.
    async fn accept(&self, p: Here<'_, M>, offer: Want, live: &impl Debug) -> Result<Option<Unit>, M::Error> {
        let me = p.pid().index();
        let Some((slot, now)) = self.follow_up(p, offer, me, [10, 101], live).await? else {
            return Err(p.at(10).damaged(offer)); // no process withdraws what another waits for
        };
        let Want::Offered { fence, .. } = offer else { return Ok(None) };
        let is_mine = now.owner() == Some(me) && now.fence() == fence + 1;
        Ok(is_mine.then_some(Unit { slot, word: now }))
    }

    /// Gives a slot to the seat to which it is offered, unless the slot has left the epoch of the
    /// offer: 10, by that seat's owner or on behalf of a dead one. Returns the slot and its word
    /// after that, or `None` if this is no offer.
    async fn follow_up(
        &self,
        p: Here<'_, M>,
        offer: Want,
        to: usize,
        [look, give]: [Label; 2],
        live: &impl Debug,
    ) -> Result<Option<(usize, Slot)>, M::Error> {
        let Want::Offered { slot, fence, news } = offer else { return Ok(None) };
        if slot >= self.k {
            return Err(p.at(look).damaged(offer));
        }
        let now = p.at(look).keeping(&(offer, to, live)).read(&self.slot[slot]).await?;
        if !now.is_held_at(fence) {
            return Ok(Some((slot, now)));
        }
        let Some(given) = now.given_to(to, news) else { return Err(p.at(give).damaged(now)) };
        let gave = p
            .at(give)
            .keeping(&(offer, to, Unit { slot, word: now }, live))
            .compare_swap(&self.slot[slot], now, given)
            .await?;
        Ok(Some((slot, gave.map_or_else(|other| other, |_| given))))
    }

    /// 12 and 13.
    async fn no_longer_waits(&self, p: Here<'_, M>, unit: Unit) -> Result<(), M::Error> {
        let me = p.pid().index();
        let (word, bit) = self.bit(me);
        p.at(12).keeping(&unit).fetch_and(&self.bits[word], !bit).await?;
        p.at(13).keeping(&unit).write(&self.want[me], Want::Nothing).await?;
        self.one_waits_less(p, &unit).await
    }

    /// All waiters, and then all owners, so that no waiter is missed that becomes an owner: 9.
    /// Returns `None` if a slot is free by now, because no death would wake the waiter for that.
    async fn whom_to_watch(&self, p: Here<'_, M>, live: &impl Debug) -> Result<Option<M::Watch>, M::Error> {
        let (memory, me) = (p.process().memory(), p.pid().index());
        let mut watch = M::Watch::default();
        if !memory.has_hints() {
            return Ok(Some(watch));
        }
        for word in 0..self.words {
            let mut bits = p.at(91).keeping(&(word, &watch, live)).read(&self.bits[word]).await?;
            while bits != 0 {
                let seat = word * self.per_word + bits.trailing_zeros() as usize;
                if seat >= self.seats {
                    return Err(p.at(91).damaged(bits));
                }
                if seat != me {
                    memory.watch_seat(&mut watch, seat);
                }
                bits &= bits - 1;
            }
        }
        for slot in 0..self.k {
            let word = p.at(92).keeping(&(slot, &watch, live)).read(&self.slot[slot]).await?;
            let Some(owner) = self.owner(p, 92, word)? else { return Ok(None) };
            memory.watch_seat(&mut watch, owner);
        }
        Ok(Some(watch))
    }

    /// The seat that holds a slot.
    fn owner(&self, p: Here<'_, M>, label: Label, word: Slot) -> Result<Option<usize>, M::Error> {
        match word.owner() {
            Some(owner) if owner >= self.seats => Err(p.at(label).damaged(word)),
            owner => Ok(owner),
        }
    }
}

impl<M: Mortal> KExclusion<M> for Seats<M> {
    type Held = Grant;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error>> {
        match self.enter(p, 0, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        self.exit(p, grant).await.map(|_| ())
    }
}

impl<M: Mortal> Abortable<M> for Seats<M> {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<M>, attempt: &mut Attempt) -> Result<Option<Grant>, Failure<M::Error>> {
        Ok(self.enter(p, 0, attempt, true).await?)
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Grant>, M::Error> {
        let (here, me) = (p.on(self.part), p.pid().index());
        let Some(t) = attempt.ticket else { return Ok(None) };
        let waits = Want::Waits(t);
        let (mut stands, mut turn) = (waits, 0);
        loop {
            let gone =
                here.at(14).keeping(&(waits, stands)).compare_swap(&self.want[me], stands, Want::Nothing).await?;
            let Err(offer) = gone else { break };
            if offer == Want::Nothing {
                break; // it had not yet announced itself
            }
            if offer == Want::Called(t) && !self.is_in_order() {
                stands = offer;
                turn += 1;
                here.at(14).goes_round(turn)?;
                continue;
            }
            stands = waits;
            if let Some(unit) = self.accept(here, offer, &waits).await? {
                self.no_longer_waits(here, unit).await?;
                return Ok(Some(unit.grant()));
            }
            here.at(11).keeping(&waits).write(&self.want[me], waits).await?;
            turn += 1;
            here.at(14).goes_round(turn)?;
        }
        let (word, bit) = self.bit(me);
        here.at(15).keeping(&()).fetch_and(&self.bits[word], !bit).await?;
        self.one_waits_less(here, &"gone").await?;
        Ok(None)
    }
}

impl<M: Mortal> KAssignment<M> for Seats<M> {
    fn name(held: &Grant) -> usize {
        held.slot
    }
}
