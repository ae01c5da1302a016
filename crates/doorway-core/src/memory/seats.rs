//! What a memory must know about processes that die: it can tell whether the owner of a seat is
//! dead, and a death can end a sleep.
//!
//! A *seat* is a place among the processes, and a [`Pid`](super::Pid) is its number. A seat has at
//! most one owner at a time. The memory has a byte for each seat, and the owner of the seat keeps
//! it locked as long as the owner lives. Between processes the kernel drops that lock when the
//! process is gone, and not before: a free byte means a dead owner.

use super::{Access, Anybody, At, Memory, Name, ReadWrite, Word};
use core::fmt::Debug;
use core::future::Future;

/// Seats with a byte each, which the owner of the seat keeps locked while it lives.
///
/// A death may be noticed late, but never early: until the byte is free, the dead owner counts as
/// alive. A process that [locks](Self::try_lock) the byte of a dead owner makes the seat look alive
/// until it unlocks the byte, or dies itself.
///
/// A process that has several seats is alive in all of them: for each of its own seats
/// [`is_dead`](Self::is_dead) is `false` and [`try_lock`](Self::try_lock) fails.
pub trait Seats: Memory {
    /// The bytes for the seats of one algorithm.
    type Bytes: Debug;

    /// Makes the bytes, all of them free. A memory that outlives its processes finds the existing
    /// ones.
    fn bytes(&self, name: Name<Self::Part>, seats: usize) -> Self::Bytes;

    /// Whether the owner of any seat may have died at all. Returns `false` only if
    /// [`is_dead`](Self::is_dead) would be `false` for every seat. A memory that never reclaims
    /// seats always returns `false`.
    fn may_have_died(&self, at: Access<Self::Part>) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Whether the seat has no living owner, that is, no process has its byte locked.
    fn is_dead(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Locks the byte of the seat unless it is locked already. Returns whether it did.
    fn try_lock(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Unlocks the byte of the seat. This process must have locked it.
    fn unlock(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<(), Self::Error>>;

    /// Reports that a loop begins its `turn`th round, where other processes can prolong the loop.
    /// This is not a step. A memory whose words other processes may damage ends the loop here with
    /// an error once only damage can explain the number of turns.
    ///
    /// # Errors
    /// Returns an error if the memory concludes that its words are damaged.
    #[inline(always)]
    fn goes_round(&self, _at: Access<Self::Part>, _turn: u32) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The error for a word that no process can have written. This is not a step.
    fn damaged(&self, at: Access<Self::Part>, word: u64) -> Self::Error;
}

/// A memory whose accesses complete at once, except [sleep](Sleeps::sleep), although they may fail.
/// It serves the few lines that every passage runs: a compiler inlines a plain function into all
/// its callers, but a future into only one.
pub trait Ready: Memory {
    /// The result of an access other than a sleep.
    ///
    /// # Errors
    /// Returns an error if the access failed.
    fn ready<T>(access: impl Future<Output = Result<T, Self::Error>>) -> Result<T, Self::Error>;
}

/// Why a sleeper woke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// Its word has changed, or another process [woke](Sleeps::wake) it. It should look again.
    Called,
    /// The owner of a seat that it watched has died, or appears to have died.
    Death,
    /// It has slept long enough that it should look for dead owners itself.
    Again,
    /// It was asked to give up.
    GiveUp,
}

impl Word for Woken {
    type Waiters = Anybody;
    #[inline(always)]
    fn pack(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        match word {
            0 => Self::Called,
            1 => Self::Death,
            2 => Self::Again,
            _ => Self::GiveUp,
        }
    }
}

/// Sleep on one word and on the lives of several seats, until another process wakes the sleeper.
///
/// With these operations, the text of an algorithm says when it wakes a sleeper. With the other
/// operations for waiting, the memory finds out by itself when to wake.
pub trait Sleeps: Seats + ReadWrite {
    /// A set of seats.
    type Watch: Default + Debug;

    /// Whether the death of an owner wakes the sleepers that watch its seat. If not, a text need
    /// not find out which seats to watch.
    fn has_hints(&self) -> bool;

    /// Adds a seat to a set. A full set stays as it is: a death may then be noticed later, but
    /// nothing else goes wrong.
    fn watch_seat(&self, watch: &mut Self::Watch, seat: usize);

    /// Sleeps if `v` holds `seen`, until another process [wakes](Self::wake) the sleepers of `v`,
    /// the owner of a watched seat dies, or it is time to look again. Comparing `v` with `seen` and
    /// falling asleep are one step. A process that changes `v` and then wakes its sleepers
    /// therefore either wakes this sleeper or keeps it from falling asleep.
    ///
    /// Returns [`Woken::GiveUp`] only if the sleep is `abortable`. `wait` comes from
    /// [`wait_begins`](Memory::wait_begins) and serves all sleeps of one passage.
    fn sleep<T: Word>(
        &self,
        at: Access<Self::Part>,
        wait: &mut Self::Wait,
        v: &Self::Cell<T>,
        seen: T,
        watch: &Self::Watch,
        abortable: bool,
    ) -> impl Future<Output = Result<Woken, Self::Error>>;

    /// Wakes every process that sleeps on `v`.
    fn wake<T: Word>(&self, at: Access<Self::Part>, v: &Self::Cell<T>)
    -> impl Future<Output = Result<(), Self::Error>>;
}

impl<'p, M: Seats> At<'p, M> {
    /// See [`Seats::may_have_died`].
    #[inline(always)]
    pub fn may_have_died(self) -> impl Future<Output = Result<bool, M::Error>> {
        self.memory().may_have_died(self.access())
    }

    /// See [`Seats::is_dead`].
    #[inline(always)]
    pub fn is_dead(self, bytes: &M::Bytes, seat: usize) -> impl Future<Output = Result<bool, M::Error>> {
        self.memory().is_dead(self.access(), bytes, seat)
    }

    /// See [`Seats::try_lock`].
    #[inline(always)]
    pub fn try_lock(self, bytes: &M::Bytes, seat: usize) -> impl Future<Output = Result<bool, M::Error>> {
        self.memory().try_lock(self.access(), bytes, seat)
    }

    /// See [`Seats::unlock`].
    #[inline(always)]
    pub fn unlock(self, bytes: &M::Bytes, seat: usize) -> impl Future<Output = Result<(), M::Error>> {
        self.memory().unlock(self.access(), bytes, seat)
    }

    /// See [`Seats::goes_round`].
    ///
    /// # Errors
    /// Returns an error if the memory concludes that its words are damaged.
    #[inline(always)]
    pub fn goes_round(self, turn: u32) -> Result<(), M::Error> {
        self.memory().goes_round(self.access(), turn)
    }

    /// See [`Seats::damaged`].
    #[inline(always)]
    pub fn damaged<T: Word>(self, word: T) -> M::Error {
        self.memory().damaged(self.access(), word.pack())
    }
}

impl<'p, M: Sleeps> At<'p, M> {
    /// See [`Sleeps::sleep`].
    #[inline(always)]
    pub fn sleep<T: Word>(
        self,
        wait: &mut M::Wait,
        v: &M::Cell<T>,
        seen: T,
        watch: &M::Watch,
        abortable: bool,
    ) -> impl Future<Output = Result<Woken, M::Error>> {
        self.memory().sleep(self.access(), wait, v, seen, watch, abortable)
    }

    /// See [`Sleeps::wake`].
    #[inline(always)]
    pub fn wake<T: Word>(self, v: &M::Cell<T>) -> impl Future<Output = Result<(), M::Error>> {
        self.memory().wake(self.access(), v)
    }
}
