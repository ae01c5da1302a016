//! A variable's bell: who listens, and what threads sleep on.

use super::{Flags, Place, Platform, Sequence, Table, Threads, Waiter};
use crate::tools::{AtomicU8, AtomicU32};
use std::sync::Arc;

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

    /// A thread will sleep here unless something changes. It looks at the variable afterwards, and if that is as it
    /// was, it [sleeps](Platform::sleep) on the sequence, while that is what is returned with it.
    pub fn listen(&self) -> (&P::Sequence, u32) {
        // In this order: a changer that clears the flag after it was set bumps the sequence after it was read.
        let heard = self.sequence.load();
        self.listeners.set(THREADS);
        (&self.sequence, heard)
    }

    /// The waiter will be notified when the variable is changed, unless it is [removed](Table::remove) before.
    /// A caller that relies on it looks at the variable afterwards. Returns the place of the entry.
    pub fn notify(&self, table: &Table<P>, waiter: &Arc<Waiter<P>>) -> Place {
        table.add(self.address(), waiter, || self.listeners.set(TASKS))
    }
}
