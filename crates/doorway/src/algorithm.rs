//! The catalogue's algorithms by name, for [`Mutex`](crate::Mutex).

#![allow(unsafe_code)]

use crate::native::Native;
use doorway_core::memory::Site;
use doorway_core::mutex::mellor_crummey_scott_91::TicketLock;
use doorway_core::registry::{self, Entry, Sizes};

/// An algorithm that admits one process at a time if it is built for `k = 1`. So a
/// [`Mutex`](crate::Mutex) can protect data with it.
///
/// # Safety
/// The implementor guarantees mutual exclusion. At no time may two processes with different names
/// have completed their entry sections without having begun `release`. The entry sections are
/// `acquire` and, if the algorithm has it, `acquire_at_once`.
pub unsafe trait Exclusive: Entry {
    /// Builds the algorithm for threads.
    fn build_for_threads(site: &Site<'_, Native>, sizes: Sizes) -> Self::On<Native> {
        Self::build(site, sizes)
    }
}

macro_rules! exclusive {
    ($($name:ident $({ $build:item })?)*) => {
        pub use registry::{$($name),*};
        $(
            // SAFETY: the algorithm provides mutual exclusion. Its text is searched for violations
            // at small sizes (`doorway check`), and its file argues the property for all sizes. The
            // text runs here as it was searched, on sequentially consistent words.
            unsafe impl Exclusive for $name { $($build)? }
        )*
    };
}

exclusive! {
    Tas Bakery TasBackoff PetersonTree KesselsTree YaTwo YaTree YaFast
    Ticket {
        /// With tickets that never repeat, so that an attempt never waits.
        fn build_for_threads(site: &Site<'_, Native>, _: Sizes) -> TicketLock<Native> {
            TicketLock::with_bits(site, 64)
        }
    }
    Mcs Turnstile Kbakery Dgs
}
