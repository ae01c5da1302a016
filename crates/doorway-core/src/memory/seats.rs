//! What a memory must know of processes that die: seats, whose owners it can tell to be dead, and sleep that a death
//! ends.
//!
//! A *seat* is a place among processes, and a [`Pid`](super::Pid) is its number. One process at a time has a seat. The
//! memory has a byte for each seat, which the owner of the seat keeps locked for as long as it lives. Between
//! processes the kernel drops that lock when the process is gone, and not before: a free byte is a dead owner.

use super::{Access, Anybody, At, Memory, Name, ReadWrite, Word};
use core::fmt::Debug;
use core::future::Future;

/// Seats with a byte each that the owner of the seat keeps locked while it lives.
///
/// A death may be noticed late, and never early: until the byte is free, the dead owner counts as alive. Whoever
/// [locks](Self::try_lock) the byte of a dead owner makes its seat look alive until it unlocks it, or dies itself.
///
/// A process that has several seats is alive in all of them: [`is_dead`](Self::is_dead) of one of its own seats is
/// `false`, and [`try_lock`](Self::try_lock) of one fails.
pub trait Seats: Memory {
    /// The bytes of the seats of one algorithm.
    type Bytes: Debug;

    /// Makes them, all free. A memory that outlives its processes finds those that are there.
    fn bytes(&self, name: Name<Self::Part>, seats: usize) -> Self::Bytes;

    /// Whether any owner of a seat may have died at all. A memory answers `false` only if it knows that
    /// [`is_dead`](Self::is_dead) would say `false` of every seat, as one does that never reclaims.
    fn may_have_died(&self, at: Access<Self::Part>) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Whether the seat has no living owner: nobody has its byte locked.
    fn is_dead(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Locks the byte of the seat, unless it is locked; says whether it did.
    fn try_lock(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<bool, Self::Error>>;

    /// Unlocks the byte of the seat, which this process has locked.
    fn unlock(
        &self,
        at: Access<Self::Part>,
        bytes: &Self::Bytes,
        seat: usize,
    ) -> impl Future<Output = Result<(), Self::Error>>;

    /// A loop that others can make go round goes round once more, for the `turn`th time. No step. A memory whose words
    /// others may damage ends it here with an error after so many turns that only damage explains them.
    ///
    /// # Errors
    /// If the memory takes its words for damaged.
    #[inline(always)]
    fn goes_round(&self, _at: Access<Self::Part>, _turn: u32) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The error for a word that no process can have written. No step.
    fn damaged(&self, at: Access<Self::Part>, word: u64) -> Self::Error;
}

/// A memory whose accesses are ready at once but for [sleep](Sleeps::sleep), though they may fail. For the few lines that
/// every passage runs: compilers inline plain functions into their callers, and futures only into one.
pub trait Ready: Memory {
    /// What comes of an access that is no sleep.
    ///
    /// # Errors
    /// If the access failed.
    fn ready<T>(access: impl Future<Output = Result<T, Self::Error>>) -> Result<T, Self::Error>;
}

/// Why a sleeper woke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// Its word is another one, or somebody [woke](Sleeps::wake) it: it should look again.
    Called,
    /// The owner of a seat that it watched has died, or seems to have.
    Death,
    /// It has slept for so long that it should look for the dead itself.
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

/// Sleep on one word and on the lives of several seats, until somebody wakes the sleeper.
///
/// Here texts say when they wake somebody. In the other words for waiting the memory finds out by itself.
pub trait Sleeps: Seats + ReadWrite {
    /// A set of seats.
    type Watch: Default + Debug;

    /// Whether the death of an owner wakes sleepers that watch its seat. If not, texts need not find out whom to
    /// watch.
    fn has_hints(&self) -> bool;

    /// Adds a seat to a set. A full set stays as it is: to watch fewer costs time and nothing else.
    fn watch_seat(&self, watch: &mut Self::Watch, seat: usize);

    /// Sleeps if `v` holds `seen`, until somebody [wakes](Self::wake) its sleepers, the owner of a watched seat dies, or
    /// it is time to look again. Whether `v` holds `seen` and falling asleep are one step: whoever changes `v` and wakes
    /// its sleepers afterwards wakes this one, or this one does not sleep.
    ///
    /// Answers [`Woken::GiveUp`] only if the sleep is `abortable`. `wait` is that of
    /// [`wait_begins`](Memory::wait_begins), and lasts for all sleeps of one passage.
    fn sleep<T: Word>(
        &self,
        at: Access<Self::Part>,
        wait: &mut Self::Wait,
        v: &Self::Cell<T>,
        seen: T,
        watch: &Self::Watch,
        abortable: bool,
    ) -> impl Future<Output = Result<Woken, Self::Error>>;

    /// Wakes everybody that sleeps on `v`.
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
    /// If the memory takes its words for damaged.
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
