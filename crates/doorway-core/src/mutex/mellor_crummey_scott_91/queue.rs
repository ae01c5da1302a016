//! Mutual exclusion by a list of waiters, each on a word of its own: the MCS lock.
//!
//! # Problem
//! Mutual exclusion, first come, first served, with a constant number of remote references on
//! machines with and without coherent caches.
//!
//! # Source
//! Mellor-Crummey and Scott 1991: the list-based queue lock ([`QueueLock`]), and its exit section
//! for machines without compare-and-swap ([`SwapQueueLock`]). This text follows textbooks; we did
//! not compare it with the original print. Statement numbers are ours.
//!
//! # Idea
//! `Tail` names the process that came last. A newcomer swaps its own name in, tells its predecessor
//! that it follows, and waits on its own word until the predecessor leaves. A process that leaves
//! without a follower removes itself from `Tail`. If that fails, a newcomer has arrived that has
//! not linked itself yet, and the leaving process waits for the link.
//!
//! Without compare-and-swap, a leaving process empties `Tail` by a swap, and learns too late that
//! others had come. Newcomers that came in the meantime found the list empty. They are *usurpers*,
//! and one of them is inside. The leaving process swaps the old tail back, and links the overtaken
//! processes behind the last usurper.
//!
//! # Shared variables
//! | name        | range  | initially | home   | written at   | meaning |
//! |-------------|--------|-----------|--------|--------------|---------|
//! | `Tail`      | pid, – | –         | nobody | 2, 8, 81, 11 | the process that came last; –: the list is empty |
//! | `Next[p]`   | pid, – | –         | `p`    | 1, follower 4, other 91 | the process that follows `p` |
//! | `Locked[p]` | bool   | false     | `p`    | 3, predecessor 10 | `p` has to wait |
//!
//! Statements 81 and 91 belong to the exit section without compare-and-swap. Statement 8 is a
//! compare-and-swap in one lock and a swap in the other.
//!
//! A process that [will not wait](AtOnce) exchanges `Tail` only if the list is empty (11, after 1).
//! Without compare-and-swap a process cannot ask first: once it has swapped itself in, it is in
//! line.
//!
//! # Invariants (checked)
//! - (E) `Tail = –` exactly if no process is at `{3..6, 8, 9, 10}` (with compare-and-swap)
//! - (H) at most one process has the lock: it is at `{6, 8, 9, 10}`, or at 5 and no longer locked.
//!   Without compare-and-swap: at `{6, 8, 10}`, or at 5 and no longer locked
//! - (N) if `p` is at `{3..6, 8, 9, 10, 81, 91}` and `Next[p] = q`, then `q` is at 5 and locked
//!
//! # Cost, faults, fairness
//! At most 4 remote references in the DSM model (2, 4, 8, 10), 2 alone; without compare-and-swap 5
//! (2, 4, 8, 81, and 91 or 10). With coherent caches at most 10 and 11. The figures are ours. Every
//! process waits only on its own words. No crash is tolerated. The exit section waits for a
//! follower that has not linked itself, so it is not bounded. First come, first served; the doorway
//! is 1 and 2. Without compare-and-swap the lock is not even starvation-free: usurpers can overtake
//! the same process forever, as the checker shows.
//!
//! # Departures from the paper
//! 1. Each process has one record, which has the name of the process: pointers are names. A record
//!    is in one list at a time, and its process leaves the list before it uses the record again.
//! 2. `Next[p]` is read once at 7. If it names a process it is not read again, because it does not
//!    change.

use crate::Failure;
use crate::k_exclusion::{AtOnce, KExclusion};
use crate::memory::{CompareSwap, Here, Mark, Memory, Pid, Process, Site, Swap, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;

/// The list, and the parts that both locks share.
#[derive(Debug)]
struct Queue<M: Memory> {
    part: M::Part,
    tail: M::Var<Option<Pid>>,
    next: M::Row<Option<Pid>>,
    locked: M::Row<bool>,
}

impl<M: Swap> Queue<M> {
    fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self {
            part: site.here(),
            tail: site.var("Tail", None),
            next: site.row("Next", n, |p| decl(None).home(Pid::new(p))),
            locked: site.row("Locked", n, |p| decl(false).home(Pid::new(p))),
        }
    }

    async fn enter(&self, p: Here<'_, M>) -> Result<(), M::Error> {
        let me = p.pid();
        p.at(1).write(&self.next[me.index()], None).await?;
        let before = p.at(2).keeping(&()).swap(&self.tail, Some(me)).await?;
        p.mark(Mark::DoorwayEnds);
        if let Some(before) = before {
            // Before any other process can know of us and unlock it.
            p.at(3).keeping(&before).write(&self.locked[me.index()], true).await?;
            p.at(4).keeping(&before).write(&self.next[before.index()], Some(me)).await?;
            p.at(5).keeping(&()).wait_until(&self.locked[me.index()], |locked| !locked).await?;
        }
        p.mark(Mark::Rests(6));
        Ok(())
    }

    /// The follower that has linked itself, if there is one.
    async fn follower(&self, p: Here<'_, M>) -> Result<Option<Pid>, M::Error> {
        p.at(7).read(&self.next[p.pid().index()]).await
    }

    /// Waits until the follower, which is known to exist, has linked itself.
    async fn coming(&self, p: Here<'_, M>) -> Result<Option<Pid>, M::Error> {
        p.at(9).wait_until(&self.next[p.pid().index()], |next| next.is_some()).await
    }

    async fn hand_over(&self, p: Here<'_, M>, next: Pid) -> Result<(), M::Error> {
        p.at(10).keeping(&next).write(&self.locked[next.index()], false).await
    }
}

/// The MCS lock.
#[derive(Debug)]
pub struct QueueLock<M: Memory>(Queue<M>);

impl<M: Swap + CompareSwap> QueueLock<M> {
    /// A lock for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self(Queue::new(site, n))
    }
}

impl<M: Swap + CompareSwap> MutualExclusion<M> for QueueLock<M> {}

impl<M: Swap + CompareSwap> KExclusion<M> for QueueLock<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        Ok(self.0.enter(p.on(self.0.part)).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.0.part);
        let mut next = self.0.follower(p).await?;
        if next.is_none() {
            if p.at(8).keeping(&()).compare_swap(&self.0.tail, Some(p.pid()), None).await?.is_ok() {
                return Ok(()); // no follower has come
            }
            p.keep(9, &());
            next = self.0.coming(p).await?;
        }
        match next {
            Some(next) => self.0.hand_over(p, next).await,
            None => Ok(()),
        }
    }
}

impl<M: Swap + CompareSwap> AtOnce<M> for QueueLock<M> {
    async fn acquire_at_once(&self, p: &Process<M>) -> Result<Option<()>, Failure<M::Error>> {
        let p = p.on(self.0.part);
        let me = p.pid();
        p.at(1).write(&self.0.next[me.index()], None).await?;
        if p.at(11).keeping(&()).compare_swap(&self.0.tail, None, Some(me)).await?.is_err() {
            return Ok(None);
        }
        p.mark(Mark::DoorwayEnds);
        p.mark(Mark::Rests(6));
        Ok(Some(()))
    }
}

/// The MCS lock without compare-and-swap.
#[derive(Debug)]
pub struct SwapQueueLock<M: Memory>(Queue<M>);

impl<M: Swap> SwapQueueLock<M> {
    /// A lock for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self(Queue::new(site, n))
    }
}

impl<M: Swap> MutualExclusion<M> for SwapQueueLock<M> {}

impl<M: Swap> KExclusion<M> for SwapQueueLock<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        Ok(self.0.enter(p.on(self.0.part)).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.0.part);
        let (mut next, mut usurper) = (self.0.follower(p).await?, None);
        if next.is_none() {
            let last = p.at(8).keeping(&()).swap(&self.0.tail, None).await?;
            if last == Some(p.pid()) {
                return Ok(()); // no follower has come
            }
            // Newcomers since 8 found the list empty: one is inside, and the others are behind it.
            usurper = p.at(81).keeping(&last).swap(&self.0.tail, last).await?;
            p.keep(9, &usurper);
            next = self.0.coming(p).await?;
        }
        match (next, usurper) {
            (Some(_), Some(usurper)) => {
                p.at(91).keeping(&(next, usurper)).write(&self.0.next[usurper.index()], next).await
            }
            (Some(next), None) => self.0.hand_over(p, next).await,
            (None, _) => Ok(()),
        }
    }
}
