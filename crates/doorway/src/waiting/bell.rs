//! A variable's bell: who listens, and what threads sleep on.

use super::{Flags, Place, Platform, Sequence, Table, Threads, Waiter};
use crate::tools::{AtomicU8, AtomicU32};
use std::sync::Arc;
use std::time::Instant;

const THREADS: u8 = 1;
const TASKS: u8 = 2;

/// A variable's bell. It lies in the cache line of its variable, and whoever changes that [rings](Self::ring) it.
#[derive(Debug)]
pub struct Bell<P: Platform> {
    sequence: P::Sequence,
    listeners: P::Flags,
    tag: u8,
}

impl Bell<Threads> {
    /// The same before the program runs.
    pub(crate) const fn silent(tag: u8) -> Self {
        Self { sequence: AtomicU32::new(0), listeners: AtomicU8::new(0), tag }
    }
}

impl<P: Platform> Bell<P> {
    /// A bell that nobody listens to, with a byte that its owner may need.
    #[must_use]
    pub fn new(tag: u8) -> Self {
        Self { sequence: P::Sequence::new(), listeners: P::Flags::new(), tag }
    }

    /// The byte.
    #[must_use]
    #[inline(always)]
    pub fn tag(&self) -> u8 {
        self.tag
    }

    /// What it is known by.
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The variable has been changed. The table is asked for only if somebody listens.
    #[inline(always)]
    pub fn ring<'t>(&self, platform: &P, table: impl FnOnce() -> &'t Table<P>)
    where
        P: 't,
    {
        if self.listeners.load() != 0 {
            self.wake(platform, table());
        }
    }

    #[cold]
    fn wake(&self, platform: &P, table: &Table<P>) {
        let listeners = self.listeners.load();
        if listeners & THREADS != 0 {
            // In this order: whoever set the flag that is cleared here has read a sequence that is old as soon as it is bumped.
            self.listeners.clear(THREADS);
            self.sequence.bump();
            platform.wake_all(&self.sequence);
        }
        if listeners & TASKS != 0 {
            table.wake(self.address(), || self.listeners.clear(TASKS));
        }
    }

    /// A thread will sleep here unless something changes; returns what it sleeps on. Whoever relies on it looks at the variable afterwards.
    fn listen(&self) -> u32 {
        // In this order: whoever clears the flag after it was set bumps the sequence after it was read.
        let sequence = self.sequence.load();
        self.listeners.set(THREADS);
        sequence
    }

    /// The same, for a sleep on [several](Platform::sleep_any): where the sequence is, and what it was.
    pub fn listen_among_others(&self) -> (usize, u32) {
        let sequence = self.listen();
        (std::ptr::from_ref(&self.sequence) as usize, sequence)
    }

    /// Puts the thread to sleep until the variable is changed, unless `changed` says that it has been. May return for no reason.
    pub fn sleep(&self, platform: &P, until: Option<Instant>, changed: impl FnOnce() -> bool) {
        let sequence = self.listen();
        if !changed() {
            platform.sleep(&self.sequence, sequence, until);
        }
    }

    /// The waiter will be notified when the variable is changed, unless it is [removed](Table::remove) before.
    /// A caller that relies on it looks at the variable afterwards. Returns the place of the entry.
    pub fn notify(&self, table: &Table<P>, waiter: &Arc<Waiter<P>>) -> Place {
        table.add(self.address(), waiter, || self.listeners.set(TASKS))
    }
}
