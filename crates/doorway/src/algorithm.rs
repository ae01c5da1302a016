//! The catalogue's algorithms by name, for [`Mutex`](crate::Mutex).

#![allow(unsafe_code)]

use crate::native::Native;
use doorway_core::memory::Site;
use doorway_core::mutex::mellor_crummey_scott_91::TicketLock;
use doorway_core::registry::{self, Entry, Sizes};

/// An algorithm that lets one in at a time, if it is built for one: data may lie behind it.
///
/// # Safety
/// Its entry sections, by processes with different names, must never be done for two of them at a time that have not begun their `release`. That is `acquire`, and if it has it, `acquire_at_once`.
pub unsafe trait Exclusive: Entry {
    /// Builds it for threads.
    fn build_for_threads(site: &Site<'_, Native>, sizes: Sizes) -> Self::On<Native> {
        Self::build(site, sizes)
    }
}

macro_rules! exclusive {
    ($($(#[$doc:meta])* $name:ident = $entry:ident $({ $build:item })?;)*) => {
        $(
            $(#[$doc])*
            pub type $name = registry::$entry;
            // SAFETY: its text is searched for mutual exclusion at small sizes (`doorway check`), argued in its file for all, and runs here as it was searched, on sequentially consistent words.
            unsafe impl Exclusive for registry::$entry { $($build)? }
        )*
    };
}

exclusive! {
    /// The test-and-set lock.
    Tas = Tas;
    /// Lamport's Bakery.
    Bakery = Bakery;
    /// The test-and-set lock with backoff.
    TasBackoff = TasBackoff;
    /// A tree of Peterson's.
    PetersonTree = PetersonTree;
    /// Kessels' tree.
    KesselsTree = KesselsTree;
    /// Yang and Anderson's, for two threads.
    YaTwo = YaTwo;
    /// Yang and Anderson's tree.
    YaTree = YaTree;
    /// Yang and Anderson's with a fast path: a constant cost while nobody competes.
    YaFast = YaFast;
    /// The ticket lock.
    Ticket = Ticket {
        /// With tickets that never come again, so that who tries never waits.
        fn build_for_threads(site: &Site<'_, Native>, _: Sizes) -> TicketLock<Native> {
            TicketLock::with_bits(site, 64)
        }
    };
    /// Mellor-Crummey and Scott's queue.
    Mcs = Mcs;
    /// The turnstile with one place.
    Turnstile = Turnstile;
    /// Danek's k-Bakery with one place.
    KBakery = Kbakery;
    /// Dolev, Gafni and Shavit's with one place.
    Dgs = Dgs;
}
