//! Memory that will be needed soon.
//!
//! A look-up reads three places of memory, each of which tells where the next is, and none is
//! likely to be in a cache. So a thread makes many look-ups at a time: it asks for the first places
//! of all, then for the second places of all, and finds them near when it needs them. Only asking
//! lets the processor wait for dozens of them at once: after a few loads that have not come back it
//! would do nothing else.

/// Asks for the memory where this is. That changes nothing but how soon it can be read.
#[inline]
#[allow(unsafe_code)]
pub(super) fn ask_for<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads nothing that a program can see, and never faults. Every
    // processor of this architecture has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast());
    }
    // Elsewhere each look-up waits for itself.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
