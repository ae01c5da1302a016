//! Names that stick: each process first asks for the name it had last.
//!
//! # Problem
//! A name of `0..n` for the time of a passage, for any number of processes that come and go. While
//! at most `n` processes are in a passage, each gets a name that no other one has. A process that
//! comes while `n` others have a name is turned away.
//!
//! # Source
//! Our own.
//!
//! # Idea
//! Each name has a word that says which process holds it, and how often it has been taken. A
//! process tries the name that it had last, and then the following ones. While each process finds
//! its own name free, no process touches words that others write. A process may find all names
//! taken, one after the other, although they were not all taken at any one moment: holders may have
//! changed names behind its back. So it looks again, and is turned away only if no name was taken
//! meanwhile.
//!
//! # Shared variables
//! | name           | range           | initially | home   | written at | meaning |
//! |----------------|-----------------|-----------|--------|------------|---------|
//! | `holder[0..n]` | process, number | nobody, 0 | nobody | 2, 4       | the process that has the name, and how often it has been taken |
//!
//! # Invariants (all checked, as `sticky-names`)
//! - unique names: the names of processes inside are different, and below `n`
//! - (S1) a word names a process exactly while that process has the name
//! - (S2) no process is turned away while at most `n` processes are in a passage
//!
//! # Cost, faults, fairness
//! One load and one compare-and-swap to take a name, and one write to give it back, while no two
//! processes want the same name. Lock-free: a process looks again only if others have taken names.
//! A crashed holder keeps its name for ever.
//!
//! # Bounds
//! A word has 24 bits for the count of times it was taken. If a process is stopped between its two
//! looks for a multiple of 2^24 passages of others, it could be turned away although a name was
//! free for a moment.

pub mod entries;

use crate::memory::{CompareSwap, Field, Here, Memory, Nobody, Site, Word, in_both_forms};
use core::fmt::Debug;

/// The process that has a name, and how often the name has been taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Below 2^40; 0: the name is free.
    pub process: u64,
    /// Modulo 2^24.
    pub times: u64,
}

const TIMES: u32 = 24;

impl Holder {
    #[inline(always)]
    fn taken_by(self, process: u64) -> Self {
        Self { process, times: (self.times + 1) % (1 << TIMES) }
    }
}

impl Word for Holder {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("process", TIMES, 64 - TIMES), Field::new("times", 0, TIMES)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.process << TIMES | self.times
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { process: word >> TIMES, times: word % (1 << TIMES) }
    }
}

/// A name that a process has, to be given back.
#[derive(Debug)]
#[must_use = "a name that is not given back is lost"]
pub struct Taken {
    name: usize,
    times: u64,
}

impl Taken {
    /// The name.
    #[must_use]
    #[inline(always)]
    pub fn name(&self) -> usize {
        self.name
    }
}

/// Names `0..n`, for at most `n` processes at a time.
#[derive(Debug)]
pub struct StickyNames<M: Memory> {
    holder: M::Row<Holder>,
    n: usize,
}

impl<M: CompareSwap> StickyNames<M> {
    /// Names that are all free.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self { holder: site.row("holder", n, |_| Holder { process: 0, times: 0 }.into()), n }
    }

    /// The number of names.
    #[must_use]
    #[inline(always)]
    pub fn names(&self) -> usize {
        self.n
    }

    in_both_forms! {
        /// Takes a name, preferably `first`: 1, 2. `me` is not zero, and no other process uses it.
        /// Returns `None` if all names were taken at some moment of this call.
        #[inline(always)]
        pub fn take, take_now(&self, p: Here<'_, M>, me: u64, first: usize) -> Option<Taken> {
            match either!(self.attempt(p, me, first, &first), self.attempt_now(p, me, first, &first)) {
                Ok(taken) => Some(taken),
                Err(_) => either!(self.search(p, me, first), self.search_now(p, me, first)),
            }
        }

        /// Takes the name if it is free; otherwise returns how often it has been taken: 1, 2.
        #[inline(always)]
        fn attempt, attempt_now<D: Debug>(&self, p: Here<'_, M>, me: u64, name: usize, live: &D) -> Result<Taken, u64> {'text: {
            let holder = &self.holder[name];
            let seen = access!(p.at(1).keeping(&(me, name, live)).read(holder));
            if seen.process != 0 {
                break 'text Err(seen.times);
            }
            let mine = seen.taken_by(me);
            match access!(p.at(2).keeping(&(me, name, live, seen)).compare_swap(holder, seen, mine)) {
                Ok(_) => Ok(Taken { name, times: mine.times }),
                Err(found) => Err(found.times),
            }
        }}

        /// Tries all names, until it has one, or has found all of them taken twice with no name
        /// taken in between.
        #[inline(never)]
        fn search, search_now(&self, p: Here<'_, M>, me: u64, first: usize) -> Option<Taken> {'text: {
            let mut before = None;
            loop {
                let mut times = 0;
                for i in 0..self.n {
                    let (name, live) = ((first + i) % self.n, (first, before, times, i));
                    match either!(self.attempt(p, me, name, &live), self.attempt_now(p, me, name, &live)) {
                        Ok(taken) => break 'text Some(taken),
                        Err(taken) => times += taken,
                    }
                }
                // Each count only grows: if their sum is the same, so are all of them.
                if before == Some(times) {
                    break 'text None;
                }
                before = Some(times);
            }
        }}

        /// Whether `me` has a name: 3.
        pub fn has_one, has_one_now(&self, p: Here<'_, M>, me: u64) -> bool {'text: {
            for name in 0..self.n {
                if access!(p.at(3).keeping(&(me, name)).read(&self.holder[name])).process == me {
                    break 'text true;
                }
            }
            false
        }}

        /// Whether some process has this name: 3.
        pub fn is_taken, is_taken_now(&self, p: Here<'_, M>, name: usize) -> bool {
            access!(p.at(3).read(&self.holder[name])).process != 0
        }

        /// Gives a name back: 4.
        #[inline(always)]
        pub fn give_back, give_back_now(&self, p: Here<'_, M>, taken: Taken) -> () {
            let free = Holder { process: 0, times: taken.times };
            access!(p.at(4).write_in_passing(&self.holder[taken.name], free));
        }
    }
}
