//! A variable's bell: its listeners, and what threads sleep on.

use super::{Flags, Place, Platform, Sequence, Table, Threads, Waiter};
use crate::tools::{AtomicU8, AtomicU32};
use std::sync::Arc;

const THREADS: u8 = 1;
const TASKS: u8 = 2;

/// A variable's bell. It is in the cache line of its variable, and a process that changes the
/// variable [rings](Self::ring) it.
#[derive(Debug)]
pub struct Bell<P: Platform> {
    sequence: P::Sequence,
    listeners: P::Flags,
    tag: u8,
}

impl Bell<Threads> {
    /// The same, before the program runs.
    pub(crate) const fn silent(tag: u8) -> Self {
        Self { sequence: AtomicU32::new(0), listeners: AtomicU8::new(0), tag }
    }
}

impl<P: Platform> Bell<P> {
    /// A bell without listeners, with a byte for its owner.
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

    /// The key of this bell in the table.
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Rings the bell: the variable has changed. The table is asked for only if there are
    /// listeners.
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
            // In this order: a waiter whose flag is cleared here has read a sequence that becomes
            // outdated as soon as it is bumped.
            self.listeners.clear(THREADS);
            self.sequence.bump();
            platform.wake_all(&self.sequence);
        }
        if listeners & TASKS != 0 {
            table.wake(self.address(), || self.listeners.clear(TASKS));
        }
    }

    /// Registers a thread that will sleep unless something changes. The thread reads the variable
    /// afterwards. If the variable is unchanged, the thread [sleeps](Platform::sleep) on the
    /// sequence while that has the returned value.
    pub fn listen(&self) -> (&P::Sequence, u32) {
        // In this order: a changer that clears the flag after it was set bumps the sequence after
        // it was read.
        let heard = self.sequence.load();
        self.listeners.set(THREADS);
        (&self.sequence, heard)
    }

    /// Registers a waiter, which is notified when the variable changes, unless it is
    /// [removed](Table::remove) before. A caller that relies on this reads the variable afterwards.
    /// Returns the place of the entry.
    pub fn notify(&self, table: &Table<P>, waiter: &Arc<Waiter<P>>) -> Place {
        table.add(self.address(), waiter, || self.listeners.set(TASKS))
    }
}
