//! A memory for machines without an operating system. Waits only spin; it needs no `std`, and
//! nothing in it sleeps or wakes.
//!
//! If you have `std`, use `doorway::native`, whose waits sleep.
//!
//! # Targets
//! Words have 64 bits. Some processors have no 64-bit atomics (`thumbv7em`, `riscv32imac`). For
//! them the crate [`portable-atomic`](https://docs.rs/portable-atomic) becomes a dependency and
//! provides the words: each access briefly takes a lock. An interrupt handler must not access a
//! word that the interrupted code may be accessing, because it would spin on that lock forever. The
//! feature `critical-section` of that crate replaces the lock and lifts this restriction.
//!
//! Some processors have no compare-and-swap at all (`thumbv6m`, `riscv32imc`). There this module is
//! absent, unless your program turns on that feature.

use super::{
    Access, Additive, AtomicBlock, Bits, BoundedDecrement, CompareSwap, Decl, FetchAdd, FetchOr, Immediate, LateRows,
    Memory, Name, Next, Pid, ReadWrite, Swap, TestAndSet, Word,
};
use alloc::boxed::Box;
use core::convert::Infallible;
use core::fmt;
use core::future::ready;
use core::hint::spin_loop;
use core::marker::PhantomData;
use core::ops::{Deref, Index, Range};
use core::pin::pin;
use core::sync::atomic::Ordering::SeqCst;
#[cfg(all(target_has_atomic = "64", not(doorway_portable)))]
use core::sync::atomic::{AtomicBool, AtomicU64};
use core::task::{Context, Poll, Waker};
#[cfg(not(all(target_has_atomic = "64", not(doorway_portable))))]
use portable_atomic::{AtomicBool, AtomicU64};

/// The atomics of this machine, with waits that spin.
///
/// ```
/// use doorway_core::k_exclusion::{KExclusion, anderson_moir_94::Chain};
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{Pid, Process, Site};
///
/// let chain = Chain::new(&Site::new(&Spinning), 2, 1);
/// let p = Process::new(Pid::new(0), Spinning);
/// now(chain.acquire(&p)).unwrap();
/// now(chain.release(&p, ())).unwrap();
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Spinning;

/// Runs a future that completes at once, as every future of [`Spinning`] does.
///
/// # Panics
/// Panics if the future does not complete at once, because it awaits something other than an access
/// to this memory.
#[inline(always)]
pub fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => out,
        Poll::Pending => panic!("the future awaits something other than an access to this memory"),
    }
}

/// Aligned so that its contents share no cache line with other words.
#[repr(align(128))]
struct Alone<T>(T);

impl<T: fmt::Debug> fmt::Debug for Alone<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A word. A narrow variable uses its upper bits, as it does natively.
pub struct Cell<T> {
    word: AtomicU64,
    unused: u32,
    of: PhantomData<fn() -> T>,
}

impl<T: Word> Cell<T> {
    fn new(decl: &Decl<'_, T>) -> Self {
        let unused = 64 - decl.width;
        Self { word: AtomicU64::new(decl.init.pack() << unused), unused, of: PhantomData }
    }

    #[inline(always)]
    fn encode(&self, x: T) -> u64 {
        x.pack() << self.unused
    }

    #[inline(always)]
    fn decode(&self, word: u64) -> T {
        T::unpack(if T::SIGNED { (word as i64 >> self.unused) as u64 } else { word >> self.unused })
    }
}

/// Shows the value.
impl<T: Word> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decode(self.word.load(SeqCst)).fmt(f)
    }
}

/// A variable in a cache line of its own.
pub struct Var<T: Word>(Alone<Cell<T>>);

impl<T: Word> fmt::Debug for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Word> Deref for Var<T> {
    type Target = Cell<T>;
    #[inline(always)]
    fn deref(&self) -> &Cell<T> {
        &self.0.0
    }
}

/// A row or a table, each word in a cache line of its own.
#[derive(Debug)]
pub struct Words<T: Word> {
    first: usize,
    columns: usize,
    words: Box<[Alone<Cell<T>>]>,
}

impl<T: Word> Index<usize> for Words<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Cell<T> {
        &self.words[i].0
    }
}

impl<T: Word> Index<(usize, usize)> for Words<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, (row, column): (usize, usize)) -> &Cell<T> {
        &self.words[(row - self.first) * self.columns + column].0
    }
}

#[inline(always)]
fn done<T>(x: T) -> impl Future<Output = Result<T, Infallible>> {
    ready(Ok(x))
}

impl Memory for Spinning {
    type Error = Infallible;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<T>;
    type Var<T: Word> = Var<T>;
    type Row<T: Word> = Words<T>;
    type Group<T: Word, const N: usize> = Words<T>;
    type Table<T: Word> = Words<T>;
    type Wait = ();
    const PLENTY: usize = 4096;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, _: Name<()>, decl: Decl<'_, T>) -> Var<T> {
        Var(Alone(Cell::new(&decl)))
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Words<T> {
        let words = (0..n).map(|i| Alone(Cell::new(&decl(i).1))).collect();
        Words { first: 0, columns: 1, words }
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> Words<T> {
        self.row(n, decl)
    }

    fn table<T: Word>(&self, _: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Words<T> {
        let words = (0..rows.len() * columns).map(|_| Alone(Cell::new(&decl))).collect();
        Words { first: rows.start, columns, words }
    }

    #[inline(always)]
    fn wait_begins(&self, _: Pid) {}

    fn turn_failed(&self, _: Pid, _: &mut (), _: bool) -> impl Future<Output = Result<Next, Infallible>> {
        spin_loop();
        done(Next::TryAgain)
    }
}

impl Immediate for Spinning {
    #[inline(always)]
    fn now<T>(access: impl Future<Output = Result<T, Infallible>>) -> T {
        let Ok(value) = now(access);
        value
    }
}

impl ReadWrite for Spinning {
    #[inline(always)]
    fn read<T: Word>(&self, _: Access<()>, v: &Cell<T>) -> impl Future<Output = Result<T, Infallible>> {
        done(v.decode(v.word.load(SeqCst)))
    }

    #[inline(always)]
    fn write<T: Word>(&self, _: Access<()>, v: &Cell<T>, x: T) -> impl Future<Output = Result<(), Infallible>> {
        v.word.store(v.encode(x), SeqCst);
        done(())
    }

    fn unchanged<T: Word>(
        &self,
        _: Pid,
        _: &mut (),
        _: bool,
        _: &Cell<T>,
        _: T,
    ) -> impl Future<Output = Result<Next, Infallible>> {
        spin_loop();
        done(Next::TryAgain)
    }
}

impl FetchAdd for Spinning {
    #[inline(always)]
    fn fetch_add<T: Additive>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        delta: T,
    ) -> impl Future<Output = Result<T, Infallible>> {
        done(v.decode(v.word.fetch_add(v.encode(delta), SeqCst)))
    }
}

impl FetchOr for Spinning {
    #[inline(always)]
    fn fetch_or<T: Bits>(&self, _: Access<()>, v: &Cell<T>, mask: T) -> impl Future<Output = Result<T, Infallible>> {
        done(v.decode(v.word.fetch_or(v.encode(mask), SeqCst)))
    }
}

impl BoundedDecrement for Spinning {
    const WAIT_FREE: bool = false;

    #[inline]
    fn bounded_decrement(&self, _: Access<()>, v: &Cell<u64>) -> impl Future<Output = Result<u64, Infallible>> {
        let less = |word| v.decode(word).checked_sub(1).map(|x| v.encode(x));
        let (Ok(old) | Err(old)) = v.word.fetch_update(SeqCst, SeqCst, less);
        done(v.decode(old))
    }
}

impl TestAndSet for Spinning {
    #[inline(always)]
    fn test_and_set(&self, _: Access<()>, v: &Cell<bool>) -> impl Future<Output = Result<bool, Infallible>> {
        done(v.decode(v.word.swap(v.encode(true), SeqCst)))
    }
}

impl Swap for Spinning {
    #[inline(always)]
    fn swap<T: Word>(&self, _: Access<()>, v: &Cell<T>, x: T) -> impl Future<Output = Result<T, Infallible>> {
        done(v.decode(v.word.swap(v.encode(x), SeqCst)))
    }
}

impl CompareSwap for Spinning {
    #[inline(always)]
    fn compare_swap<T: Word>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        old: T,
        new: T,
    ) -> impl Future<Output = Result<Result<T, T>, Infallible>> {
        let swapped = v.word.compare_exchange(v.encode(old), v.encode(new), SeqCst, SeqCst);
        done(swapped.map(|w| v.decode(w)).map_err(|w| v.decode(w)))
    }
}

/// Rows that are stored beside each other, up to the available room.
#[derive(Debug)]
pub struct Late<T: Word> {
    first: usize,
    words: Box<[Alone<Cell<T>>]>,
}

impl<T: Word> Index<(usize, usize)> for Late<T> {
    type Output = Cell<T>;
    fn index(&self, (row, i): (usize, usize)) -> &Cell<T> {
        let size = self.first << row;
        assert!(i < size, "row {row} has {size} variables");
        &self.words[size - self.first + i].0
    }
}

/// All rows exist from the start, up to [`PLENTY`](Memory::PLENTY) variables in all, because there
/// is no allocator that could be asked at any time.
impl LateRows for Spinning {
    type Late<T: Word> = Late<T>;

    fn late_rows<T: Word>(&self, _: Name<()>, first: usize, rows: usize, decl: Decl<'_, T>) -> Late<T> {
        let up_to = |rows: usize| (first << rows) - first;
        let rows = (1..=rows).take_while(|&rows| up_to(rows) <= Self::PLENTY).last().unwrap_or(0);
        Late { first, words: (0..up_to(rows)).map(|_| Alone(Cell::new(&decl))).collect() }
    }

    fn make_row<T: Word>(&self, late: &Late<T>, row: usize) -> bool {
        (late.first << row) - late.first < late.words.len()
    }
}

impl AtomicBlock for Spinning {
    type Lock = AtomicBool;

    fn lock(&self) -> AtomicBool {
        AtomicBool::new(false)
    }

    fn block_begins(&self, _: Pid, lock: &AtomicBool) -> impl Future<Output = Result<(), Infallible>> {
        while lock.swap(true, SeqCst) {
            spin_loop();
        }
        done(())
    }

    fn block_ends(&self, _: Pid, lock: &AtomicBool) {
        lock.store(false, SeqCst);
    }
}
