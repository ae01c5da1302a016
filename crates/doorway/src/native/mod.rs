//! Native memory: variables are atomics of this machine.
//!
//! | word | here |
//! |---|---|
//! | an access | one atomic operation, `SeqCst`, ready at once |
//! | waiting | [spin, yield, sleep](crate::waiting), or register a waker: the handle decides |
//! | a row that is made late | a box, freed with the object, or [when it goes back](Native::freeing_rows) |
//! | home | variables of one process may share cache lines, others never do |
//! | bounded decrement | a compare-and-swap loop: lock-free, not wait-free |
//! | atomic block | under a spin lock: a process that dies within blocks all others |
//! | marks, keeping, parts | nothing |
//!
//! # Orderings
//! The papers assume atomic registers and program order, so everything is `SeqCst`.

mod bits;
mod cells;
mod handle;
mod late;
mod waits;

pub(crate) use cells::{Cell, Row, Table, Var};
pub(crate) use handle::ANYONE;
pub use handle::Native;
pub(crate) use late::{Late, OF_GUARDS};
pub(crate) use waits::{Begun, InLine, Wakes, WaysIn, enter_as_task, refused, someone, sure, wait_as_task, ways_in};

use crossbeam_utils::{Backoff, CachePadded};
use doorway_core::memory::{
    Access, Additive, AtomicBlock, Bits, BoundedDecrement, CompareSwap, FetchAdd, FetchOr, Immediate, Memory, Pid,
    Swap, TestAndSet, Word,
};
use doorway_core::registry::{Entry, SizeError, Sizes};
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

/// Runs a future that is ready at its first poll. The futures of [`Native`] are, for threads: their
/// waits block.
///
/// # Panics
/// Panics if the future is not ready at once: it awaits something other than an access to native
/// memory.
///
/// # Examples
/// ```
/// use doorway::native::now;
/// assert_eq!(now(async { 6 * 7 }), 42);
/// ```
#[inline(always)] // Outlined, a passage takes three times as long.
pub fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => out,
        Poll::Pending => panic!("the future awaits something other than an access to native memory"),
    }
}

/// The largest number of words in an object. A word takes between 16 bytes, in a row of its
/// process, and 128 bytes, where it stands alone. So the limit is between a quarter of a gigabyte
/// and two.
const MOST_WORDS: u64 = 1 << 24;

/// Checks that an algorithm can be built here for these sizes.
pub(crate) fn sizes<E: Entry>(n: usize, k: usize) -> Result<Sizes, SizeError> {
    let sizes = E::INFO.sizes(Some(n), Some(k))?;
    let words = (E::INFO.words)(sizes, Native::PLENTY);
    if words > MOST_WORDS { Err(SizeError::TooManyWords { id: E::INFO.id, words }) } else { Ok(sizes) }
}

#[inline(always)]
fn done<T>(x: T) -> impl Future<Output = Result<T, Infallible>> {
    ready(Ok(x))
}

impl Immediate for Native {
    #[inline(always)]
    fn now<T>(access: impl Future<Output = Result<T, Infallible>>) -> T {
        let Ok(value) = now(access);
        value
    }
}

impl FetchAdd for Native {
    #[inline(always)]
    fn fetch_add<T: Additive>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        delta: T,
    ) -> impl Future<Output = Result<T, Infallible>> {
        // A turn that adds to a variable and fails would not leave the variables unchanged. So no
        // turn waits for this access.
        let old = v.word.fetch_add(v.encode(delta), SeqCst);
        v.has_changed();
        done(v.decode(old))
    }
}

impl FetchOr for Native {
    #[inline(always)]
    fn fetch_or<T: Bits>(&self, _: Access<()>, v: &Cell<T>, mask: T) -> impl Future<Output = Result<T, Infallible>> {
        self.looks_at(v);
        let mask = v.encode(mask);
        let old = v.word.fetch_or(mask, SeqCst);
        // A turn that changes nothing must not ring: it would wake itself, and never sleep.
        if old | mask != old {
            v.has_changed();
        }
        done(v.decode(old))
    }
}

impl BoundedDecrement for Native {
    const WAIT_FREE: bool = false;

    #[inline]
    fn bounded_decrement(&self, _: Access<()>, v: &Cell<u64>) -> impl Future<Output = Result<u64, Infallible>> {
        self.looks_at(v);
        let less = |word| v.decode(word).checked_sub(1).map(|x| v.encode(x));
        let old = v.word.fetch_update(less);
        if old.is_ok() {
            v.has_changed();
        }
        let (Ok(old) | Err(old)) = old;
        done(v.decode(old))
    }
}

impl TestAndSet for Native {
    #[inline(always)]
    fn test_and_set(&self, _: Access<()>, v: &Cell<bool>) -> impl Future<Output = Result<bool, Infallible>> {
        self.looks_at(v);
        let old = v.decode(v.word.swap(v.encode(true), SeqCst));
        // As above. If a loser rang, the waiters would also wake each other for ever.
        if !old {
            v.has_changed();
        }
        done(old)
    }
}

impl Swap for Native {
    #[inline(always)]
    fn swap<T: Word>(&self, _: Access<()>, v: &Cell<T>, x: T) -> impl Future<Output = Result<T, Infallible>> {
        self.looks_at(v);
        let new = v.encode(x);
        let old = v.word.swap(new, SeqCst);
        // As above.
        if old != new {
            v.has_changed();
        }
        done(v.decode(old))
    }
}

impl CompareSwap for Native {
    #[inline(always)]
    fn compare_swap<T: Word>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        old: T,
        new: T,
    ) -> impl Future<Output = Result<Result<T, T>, Infallible>> {
        self.looks_at(v);
        let swapped = v.word.compare_exchange(v.encode(old), v.encode(new), SeqCst, SeqCst);
        if swapped.is_ok() {
            v.has_changed();
        }
        done(swapped.map(|w| v.decode(w)).map_err(|w| v.decode(w)))
    }
}

/// The lock of the atomic blocks of one algorithm.
#[derive(Default, Debug)]
pub struct BlockLock(CachePadded<AtomicBool>);

impl AtomicBlock for Native {
    type Lock = BlockLock;

    fn lock(&self) -> BlockLock {
        BlockLock::default()
    }

    #[inline]
    fn block_begins(&self, _: Pid, lock: &BlockLock) -> impl Future<Output = Result<(), Infallible>> {
        let backoff = Backoff::new();
        while lock.0.swap(true, SeqCst) {
            backoff.snooze();
        }
        done(())
    }

    #[inline]
    fn block_ends(&self, _: Pid, lock: &BlockLock) {
        lock.0.store(false, SeqCst);
    }
}
