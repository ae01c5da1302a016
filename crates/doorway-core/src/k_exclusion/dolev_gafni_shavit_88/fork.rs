//! A fork: two processes hand it to each other, and every process can see its state.
//!
//! # Problem
//! Two processes, the *mutators*, give each other precedence. A fork is in the hand of one of them,
//! which uses it or offers it to the other. If one of them dies, even half-way through a bit, the
//! other must still be able to give it precedence, and all processes must see that.
//!
//! # Source
//! Dolev, Gafni and Shavit, STOC 1988: **Constructions 1 to 3**, properties P1 to P5, Theorem 1.
//!
//! # Idea
//! The states go round: `in use by i → offered by i → in use by j → offered by j → in use by i`.
//! Two bits together, one of each mutator, tell whose hand the fork is in: equal for the higher,
//! different for the lower. So each mutator can move it to its own hand by flipping its own bit,
//! and does so only after the other one offered. Whether the holder uses the fork is a bit of the
//! holder, in two copies, written in this order: `wp` for the other mutator, `wq` for all other
//! processes. A process that sees a change in `wq` knows that the other mutator sees it too.
//!
//! # Shared variables
//! `s` is 0 for the lower mutator, 1 for the higher. A process reads none of its own bits: it has
//! copies.
//!
//! | name      | range  | initially      | home  | written at | read by | meaning |
//! |-----------|--------|----------------|-------|------------|---------|---------|
//! | `f[s]`    | bit    | `f[0]=1, f[1]=0` | `s` | 6          | all     | `f[0] = f[1]`: the higher holds the fork |
//! | `wp[s]`   | bit    | 0              | the other mutator | 4, 7 | the other mutator | `s`, if it holds the fork, uses it |
//! | `wq[s]`   | bit    | 0              | `s`   | 5, 8       | all but the mutators | the same |
//! | `mine[s]` | 2 bits | as `f[s]`, `wp[s]` | `s` | 6, 8     | `s` (private) | what `f[s]` and `wp[s]` are, for their writer |
//!
//! To begin with, the lower mutator holds the fork and offers it. Statements are counted from a
//! number that each fork is given, so that the statements of several structures differ.
//!
//! # Invariants (checked)
//! - (W) of a mutator that is not in this fork: `f[s] = mine[s].f` and `wp[s] = wq[s] = mine[s].w`
//! - (H) of a mutator that is not in this fork: if `mine[s].w` then `s` holds it
//!
//! # Cost
//! Wait-free (P2): at most three bits to read, five to read and write. Six safe bits.
//!
//! # Departures from the paper
//! 1. Theorem 1 says that `w` of `i` is to be consistent with respect to all but `i`. That leaves
//!    only the writer to read the first copy; the theorem means all but the *other mutator*. As
//!    printed, P4 and P5 fail (`tests/texts/k_exclusion/dolev_gafni_shavit_88/fork.rs`).
//! 2. A mutator does not read from the other's bits what its own copies tell it. While its own `w`
//!    is set, the fork is in its own hand, because the other mutator takes it only after it was
//!    offered. So `offer` reads nothing, and a mutator that looks at a fork it uses itself reads
//!    nothing either.
//! 3. The printed write of `F` ends in the middle of a line. Here a mutator flips its own bit, and
//!    only after it saw the other value.

use super::safe_bit;
use crate::memory::{Anybody, Here, Label, Memory, Pid, Process, ReadWrite, Site, Word, decl, within};

/// A fork of two processes.
#[derive(Debug)]
pub struct Fork<M: Memory> {
    part: M::Part,
    first: Label,
    mutators: [Pid; 2],
    f: M::Row<bool>,
    wp: M::Row<bool>,
    wq: M::Row<bool>,
    mine: M::Row<Mine>,
}

/// What a read of a fork returns (P1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForkState {
    /// This process uses it.
    InUse(Pid),
    /// It is in the hand of this process, and the other mutator may take it.
    Offered(Pid),
}

/// A mutator's copies of its own bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mine {
    /// Its half of the two bits that tell whose hand the fork is in.
    pub f: bool,
    /// Whether it uses the fork.
    pub w: bool,
}

impl core::fmt::Debug for Mine {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "f{}w{}", u8::from(self.f), u8::from(self.w))
    }
}

impl Word for Mine {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        u64::from(self.f) | u64::from(self.w) << 1
    }
    fn unpack(word: u64) -> Self {
        Self { f: word & 1 != 0, w: word & 2 != 0 }
    }
}

impl<M: ReadWrite> Fork<M> {
    /// A fork of two different processes, which the lower one offers. Its statements are counted
    /// from `first`.
    pub fn new(site: &Site<'_, M>, first: Label, one: Pid, another: Pid) -> Self {
        let mutators = if one < another { [one, another] } else { [another, one] };
        let begins = |side: usize| Mine { f: side == 0, w: false };
        Self {
            part: site.here(),
            first,
            mutators,
            f: site.row("f", 2, |s| safe_bit(begins(s).f, mutators[s])),
            wp: site.row("wp", 2, |s| safe_bit(begins(s).w, mutators[1 - s])),
            wq: site.row("wq", 2, |s| safe_bit(begins(s).w, mutators[s])),
            mine: site.row("mine", 2, |s| decl(begins(s)).private(mutators[s]).wraps_at(2)),
        }
    }

    /// The mutator that is not `p`.
    pub(super) fn other(&self, p: Pid) -> Pid {
        self.mutators[usize::from(p == self.mutators[0])]
    }

    fn side(&self, p: Pid) -> Option<usize> {
        self.mutators.iter().position(|&mutator| mutator == p)
    }

    /// The side that holds the fork, given what was read of both `f`.
    fn holder(f: [bool; 2]) -> usize {
        usize::from(f[0] == f[1])
    }

    fn seen(&self, holder: usize, w: bool) -> ForkState {
        if w { ForkState::InUse(self.mutators[holder]) } else { ForkState::Offered(self.mutators[holder]) }
    }

    /// The mutator's own copies. This is no step: no other process knows them.
    async fn own(&self, here: Here<'_, M>, s: usize) -> Result<Mine, M::Error> {
        here.keep(self.first, &());
        here.at(self.first).read(&self.mine[s]).await
    }

    /// Reads the fork: first which mutator holds it, then whether that one uses it. The order is
    /// crucial.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn read(&self, p: &Process<M>) -> Result<ForkState, M::Error> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else {
            here.keep(self.first + 1, &());
            let low = here.at(self.first + 1).read(&self.f[0]).await?;
            here.keep(self.first + 2, &low);
            let holder = Self::holder([low, here.at(self.first + 2).read(&self.f[1]).await?]);
            here.keep(self.first + 3, &holder);
            return Ok(self.seen(holder, here.at(self.first + 3).read(&self.wq[holder]).await?));
        };
        let mine = self.own(here, s).await?;
        if mine.w {
            return Ok(self.seen(s, true));
        }
        here.keep(self.first + 2, &mine.f);
        let f = here.at(self.first + 2).read(&self.f[1 - s]).await?;
        let holder = Self::holder(if s == 0 { [mine.f, f] } else { [f, mine.f] });
        if holder == s {
            return Ok(self.seen(s, false));
        }
        here.keep(self.first + 3, &());
        Ok(self.seen(holder, here.at(self.first + 3).read(&self.wp[holder]).await?))
    }

    /// Takes the fork into use, if the other mutator offers it. Otherwise it has no effect, even if
    /// `p` offers the fork itself or is no mutator.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn take(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else { return Ok(()) };
        let seen = within!(here, &"take", self.read(p).await?);
        if seen != ForkState::Offered(self.mutators[1 - s]) {
            return Ok(());
        }
        here.keep(self.first + 4, &());
        here.at(self.first + 4).write(&self.wp[s], true).await?; // the other mutator sees it before
        here.keep(self.first + 5, &());
        here.at(self.first + 5).write(&self.wq[s], true).await?; // all others do.
        let f = within!(here, &"flips", !self.own(here, s).await?.f);
        here.keep(self.first + 6, &f);
        here.at(self.first + 6).write(&self.f[s], f).await?;
        here.keep(self.first + 9, &f);
        here.at(self.first + 9).write(&self.mine[s], Mine { f, w: true }).await
    }

    /// Offers the fork to the other mutator, if `p` uses it. Otherwise it has no effect.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn offer(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let Some(s) = self.side(p.pid()) else { return Ok(()) };
        let mine = within!(here, &"offer", self.own(here, s).await?);
        if !mine.w {
            return Ok(());
        }
        here.keep(self.first + 7, &mine.f);
        here.at(self.first + 7).write(&self.wp[s], false).await?;
        here.keep(self.first + 8, &mine.f);
        here.at(self.first + 8).write(&self.wq[s], false).await?;
        here.keep(self.first + 9, &mine);
        here.at(self.first + 9).write(&self.mine[s], Mine { w: false, ..mine }).await
    }
}
