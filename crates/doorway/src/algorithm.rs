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
    ($($name:ident $({ $build:item })?)*) => {
        pub use registry::{$($name),*};
        $(
            // SAFETY: its text is searched for mutual exclusion at small sizes (`doorway check`), argued in its file for
            // all, and runs here as it was searched, on sequentially consistent words.
            unsafe impl Exclusive for $name { $($build)? }
        )*
    };
}

exclusive! {
    Tas Bakery TasBackoff PetersonTree KesselsTree YaTwo YaTree YaFast
    Ticket {
        /// With tickets that never come again, so that a thread that tries never waits.
        fn build_for_threads(site: &Site<'_, Native>, _: Sizes) -> TicketLock<Native> {
            TicketLock::with_bits(site, 64)
        }
    }
    Mcs Turnstile Kbakery Dgs
}
