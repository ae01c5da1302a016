//! A memory made of a tool's own atomics: everything that loom and shuttle have in common.
//!
//! Each access is one operation of the tool on one word, and completes at once. A failed turn of a
//! wait tells the tool to run another process. An [`Encoding`] is a value that says what reads and
//! writes become, because this decides what the tool's answer is worth.

#![allow(dead_code)] // each test crate uses only a part

use doorway::native::now;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{
    Access, Additive, AtomicBlock, Bits, BoundedDecrement, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr, Immediate,
    Label, LateRows, Memory, Name, Next, Pid, Process, ReadWrite, Swap, TestAndSet, Word,
};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// A tool's atomic word.
pub(crate) trait ToolWord: 'static {
    fn new(word: u64) -> Self;
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, word: u64, order: Ordering);
    fn swap(&self, word: u64, order: Ordering) -> u64;
    fn fetch_add(&self, delta: u64, order: Ordering) -> u64;
    fn fetch_or(&self, mask: u64, order: Ordering) -> u64;
    fn fetch_and(&self, mask: u64, order: Ordering) -> u64;
    fn compare_exchange(&self, old: u64, new: u64, order: Ordering, failed: Ordering) -> Result<u64, u64>;
    fn fence(order: Ordering);
    /// Without this call, a tool may follow a spinning process forever.
    fn let_others_run();
}

/// Declares the words of a tool: `words_of!(loom)`.
macro_rules! words_of {
    ($tool:ident) => {
        impl second_opinion::ToolWord for $tool::sync::atomic::AtomicU64 {
            fn new(word: u64) -> Self {
                Self::new(word)
            }
            fn load(&self, order: Ordering) -> u64 {
                self.load(order)
            }
            fn store(&self, word: u64, order: Ordering) {
                self.store(word, order);
            }
            fn swap(&self, word: u64, order: Ordering) -> u64 {
                self.swap(word, order)
            }
            fn fetch_add(&self, delta: u64, order: Ordering) -> u64 {
                self.fetch_add(delta, order)
            }
            fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
                self.fetch_or(mask, order)
            }
            fn fetch_and(&self, mask: u64, order: Ordering) -> u64 {
                self.fetch_and(mask, order)
            }
            fn compare_exchange(&self, old: u64, new: u64, order: Ordering, failed: Ordering) -> Result<u64, u64> {
                self.compare_exchange(old, new, order, failed)
            }
            fn fence(order: Ordering) {
                $tool::sync::atomic::fence(order);
            }
            fn let_others_run() {
                $tool::thread::yield_now();
            }
        }
    };
}
pub(crate) use words_of;

/// What the accesses of a text become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding {
    pub(crate) read: Read,
    pub(crate) write: Write,
    pub(crate) fetch_add: Add,
    /// The orderings of read-modify-writes, and of the read alone if one fails.
    pub(crate) orders: (Ordering, Ordering),
    /// A `SeqCst` fence before each access.
    pub(crate) fences: bool,
    /// A fault: at this statement, a read sees 0.
    pub(crate) misreads_at: Option<Label>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Load(Ordering),
    AddZero,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Write {
    Store(Ordering),
    Swap,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Add {
    InOneStep,
    /// A fault: other processes may come between the two.
    ReadThenWrite,
}

impl Encoding {
    /// As in native memory.
    pub(crate) const SEQ_CST: Self = Self {
        read: Read::Load(Ordering::SeqCst),
        write: Write::Store(Ordering::SeqCst),
        fetch_add: Add::InOneStep,
        orders: (Ordering::SeqCst, Ordering::SeqCst),
        fences: false,
        misreads_at: None,
    };

    /// Read-modify-writes only: in every memory model they see the latest value.
    pub(crate) const READ_MODIFY_WRITES: Self = Self { read: Read::AddZero, write: Write::Swap, ..Self::SEQ_CST };

    /// A fault: where a text writes one variable and then reads another, the read may overtake the
    /// write.
    pub(crate) const ACQUIRE_RELEASE: Self = Self {
        read: Read::Load(Ordering::Acquire),
        write: Write::Store(Ordering::Release),
        fetch_add: Add::InOneStep,
        orders: (Ordering::AcqRel, Ordering::Acquire),
        fences: false,
        misreads_at: None,
    };

    /// The same loads and stores, ordered by fences.
    pub(crate) const FENCED: Self = Self { fences: true, ..Self::ACQUIRE_RELEASE };

    /// This encoding with a fetch-and-add that is not atomic.
    pub(crate) const fn with_torn_fetch_add(self) -> Self {
        Self { fetch_add: Add::ReadThenWrite, ..self }
    }

    /// This encoding with a read that sees 0.
    pub(crate) const fn misreading_at(self, label: Label) -> Self {
        Self { misreads_at: Some(label), ..self }
    }
}

/// The memory of the tool whose words are `W`.
pub(crate) struct ToolMemory<W> {
    encoding: Encoding,
    words: PhantomData<fn() -> W>,
}

impl<W: ToolWord> Default for ToolMemory<W> {
    fn default() -> Self {
        Self::new(Encoding::SEQ_CST)
    }
}

impl<W: ToolWord> ToolMemory<W> {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, words: PhantomData }
    }

    fn fence(&self) {
        if self.encoding.fences {
            W::fence(Ordering::SeqCst);
        }
    }

    fn read_word(&self, word: &W) -> u64 {
        self.fence();
        match self.encoding.read {
            Read::Load(order) => word.load(order),
            Read::AddZero => word.fetch_add(0, self.encoding.orders.0),
        }
    }

    fn write_word(&self, word: &W, x: u64) {
        self.fence();
        match self.encoding.write {
            Write::Store(order) => word.store(x, order),
            Write::Swap => {
                word.swap(x, self.encoding.orders.0);
            }
        }
    }

    fn compare_exchange(&self, word: &W, old: u64, new: u64) -> Result<u64, u64> {
        self.fence();
        let (order, failed) = self.encoding.orders;
        word.compare_exchange(old, new, order, failed)
    }
}

/// A word with a variable in its *upper* bits, so that a narrow variable wraps where the word does.
pub(crate) struct Cell<W, T> {
    word: W,
    unused: u32,
    of: PhantomData<fn() -> T>,
}

impl<W: ToolWord, T: Word> Cell<W, T> {
    fn new(decl: &Decl<'_, T>) -> Self {
        let unused = u64::BITS - decl.width;
        Self { word: W::new(decl.init.pack() << unused), unused, of: PhantomData }
    }

    fn encode(&self, x: T) -> u64 {
        x.pack() << self.unused
    }

    fn decode(&self, word: u64) -> T {
        T::unpack(if T::SIGNED { (word as i64 >> self.unused) as u64 } else { word >> self.unused })
    }
}

impl<W, T> fmt::Debug for Cell<W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_") // looking would be an access
    }
}

/// Rows of words.
pub(crate) struct Table<W, T> {
    first: usize,
    columns: usize,
    cells: Vec<Cell<W, T>>,
}

impl<W, T> fmt::Debug for Table<W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.cells).finish()
    }
}

impl<W, T> Index<(usize, usize)> for Table<W, T> {
    type Output = Cell<W, T>;
    fn index(&self, (row, column): (usize, usize)) -> &Cell<W, T> {
        &self.cells[(row - self.first) * self.columns + column]
    }
}

impl<W: ToolWord> Memory for ToolMemory<W> {
    type Error = Infallible;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<W, T>;
    type Var<T: Word> = Box<Cell<W, T>>;
    type Row<T: Word> = Vec<Cell<W, T>>;
    type Group<T: Word, const N: usize> = Vec<Cell<W, T>>;
    type Table<T: Word> = Table<W, T>;
    type Wait = ();
    const PLENTY: usize = 4;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, _: Name<()>, decl: Decl<'_, T>) -> Box<Cell<W, T>> {
        Box::new(Cell::new(&decl))
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Vec<Cell<W, T>> {
        (0..n).map(|i| Cell::new(&decl(i).1)).collect()
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> Vec<Cell<W, T>> {
        self.row(n, decl)
    }

    fn table<T: Word>(&self, _: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Table<W, T> {
        let cells = (0..rows.len() * columns).map(|_| Cell::new(&decl)).collect();
        Table { first: rows.start, columns, cells }
    }

    fn wait_begins(&self, _: Pid) {}

    async fn turn_failed(&self, _: Pid, (): &mut (), _abortable: bool) -> Result<Next, Infallible> {
        W::let_others_run();
        Ok(Next::TryAgain)
    }
}

impl<W: ToolWord> Immediate for ToolMemory<W> {
    fn now<T>(access: impl Future<Output = Result<T, Infallible>>) -> T {
        let Ok(value) = now(access);
        value
    }
}

impl<W: ToolWord> ReadWrite for ToolMemory<W> {
    async fn read<T: Word>(&self, at: Access<()>, v: &Cell<W, T>) -> Result<T, Infallible> {
        if self.encoding.misreads_at == Some(at.label) {
            return Ok(v.decode(0));
        }
        Ok(v.decode(self.read_word(&v.word)))
    }

    async fn write<T: Word>(&self, _: Access<()>, v: &Cell<W, T>, x: T) -> Result<(), Infallible> {
        self.write_word(&v.word, v.encode(x));
        Ok(())
    }

    /// As in native memory, whatever the encoding.
    async fn write_in_passing<T: Word>(&self, _: Access<()>, v: &Cell<W, T>, x: T) -> Result<(), Infallible> {
        v.word.store(v.encode(x), Ordering::Release);
        Ok(())
    }

    async fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut (),
        abortable: bool,
        _: &Cell<W, T>,
        _: T,
    ) -> Result<Next, Infallible> {
        self.turn_failed(pid, wait, abortable).await
    }
}

impl<W: ToolWord> FetchAdd for ToolMemory<W> {
    async fn fetch_add<T: Additive>(&self, _: Access<()>, v: &Cell<W, T>, delta: T) -> Result<T, Infallible> {
        let delta = v.encode(delta);
        let old = match self.encoding.fetch_add {
            Add::InOneStep => {
                self.fence();
                v.word.fetch_add(delta, self.encoding.orders.0)
            }
            Add::ReadThenWrite => {
                let old = self.read_word(&v.word);
                self.write_word(&v.word, old.wrapping_add(delta));
                old
            }
        };
        Ok(v.decode(old))
    }
}

impl<W: ToolWord> FetchOr for ToolMemory<W> {
    async fn fetch_or<T: Bits>(&self, _: Access<()>, v: &Cell<W, T>, mask: T) -> Result<T, Infallible> {
        self.fence();
        Ok(v.decode(v.word.fetch_or(v.encode(mask), self.encoding.orders.0)))
    }
}

impl<W: ToolWord> FetchAnd for ToolMemory<W> {
    async fn fetch_and(&self, _: Access<()>, v: &Cell<W, u64>, mask: u64) -> Result<u64, Infallible> {
        self.fence();
        Ok(v.decode(v.word.fetch_and(v.encode(mask), self.encoding.orders.0)))
    }
}

impl<W: ToolWord> BoundedDecrement for ToolMemory<W> {
    const WAIT_FREE: bool = false;

    async fn bounded_decrement(&self, _: Access<()>, v: &Cell<W, u64>) -> Result<u64, Infallible> {
        let mut old = self.read_word(&v.word);
        while let Some(less) = v.decode(old).checked_sub(1) {
            match self.compare_exchange(&v.word, old, v.encode(less)) {
                Ok(_) => break,
                Err(newer) => old = newer,
            }
        }
        Ok(v.decode(old))
    }
}

impl<W: ToolWord> TestAndSet for ToolMemory<W> {
    async fn test_and_set(&self, at: Access<()>, v: &Cell<W, bool>) -> Result<bool, Infallible> {
        self.swap(at, v, true).await
    }
}

impl<W: ToolWord> Swap for ToolMemory<W> {
    async fn swap<T: Word>(&self, _: Access<()>, v: &Cell<W, T>, x: T) -> Result<T, Infallible> {
        self.fence();
        Ok(v.decode(v.word.swap(v.encode(x), self.encoding.orders.0)))
    }
}

/// Late rows, one after the other. An access to a row that is not there is a panic.
pub(crate) struct Late<W, T> {
    first: usize,
    cells: Vec<Cell<W, T>>,
    init: u64,
    is_there: Vec<AtomicBool>,
}

impl<W, T> Late<W, T> {
    fn first_of(&self, row: usize) -> usize {
        (self.first << row) - self.first
    }
}

impl<W, T> fmt::Debug for Late<W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.cells).finish()
    }
}

impl<W, T> Index<(usize, usize)> for Late<W, T> {
    type Output = Cell<W, T>;
    fn index(&self, (row, i): (usize, usize)) -> &Cell<W, T> {
        assert!(self.is_there[row].load(Ordering::Relaxed), "row {row} is not there");
        &self.cells[self.first_of(row) + i]
    }
}

impl<W: ToolWord> LateRows for ToolMemory<W> {
    type Late<T: Word> = Late<W, T>;

    fn late_rows<T: Word>(&self, _: Name<()>, first: usize, rows: usize, decl: Decl<'_, T>) -> Late<W, T> {
        let cells = (0..(first << rows) - first).map(|_| Cell::new(&decl)).collect();
        let is_there = (0..rows).map(|_| AtomicBool::new(false)).collect();
        Late { first, cells, init: decl.init.pack(), is_there }
    }

    fn make_row<T: Word>(&self, late: &Late<W, T>, row: usize) -> bool {
        if let Some(is_there) = late.is_there.get(row) {
            is_there.store(true, Ordering::Relaxed);
        }
        row < late.is_there.len()
    }

    fn give_rows_back<T: Word>(&self, late: &Late<W, T>, kept: usize) -> bool {
        for is_there in &late.is_there[kept..] {
            is_there.store(false, Ordering::Relaxed);
        }
        for cell in &late.cells[late.first_of(kept)..] {
            self.write_word(&cell.word, late.init << cell.unused);
        }
        true
    }
}

impl<W: ToolWord> CompareSwap for ToolMemory<W> {
    async fn compare_swap<T: Word>(
        &self,
        _: Access<()>,
        v: &Cell<W, T>,
        old: T,
        new: T,
    ) -> Result<Result<T, T>, Infallible> {
        let swapped = self.compare_exchange(&v.word, v.encode(old), v.encode(new));
        Ok(swapped.map(|word| v.decode(word)).map_err(|word| v.decode(word)))
    }
}

impl<W: ToolWord> AtomicBlock for ToolMemory<W> {
    type Lock = Box<Cell<W, bool>>;

    fn lock(&self) -> Self::Lock {
        Box::new(Cell::new(&false.into()))
    }

    async fn block_begins(&self, _: Pid, lock: &Self::Lock) -> Result<(), Infallible> {
        while self.compare_exchange(&lock.word, 0, 1).is_err() {
            W::let_others_run();
        }
        Ok(())
    }

    fn block_ends(&self, _: Pid, lock: &Self::Lock) {
        self.write_word(&lock.word, 0);
    }
}

/// One passage, with an action inside.
pub(crate) fn passage<W: ToolWord>(
    algorithm: &impl KExclusion<ToolMemory<W>>,
    p: &Process<ToolMemory<W>>,
    inside: impl FnOnce(),
) {
    let held = now(algorithm.acquire(p)).expect("a few passages exhaust no tickets");
    inside();
    let Ok(()) = now(algorithm.release(p, held));
}

/// The complaint of the tool, if there was one. Tools complain by panicking.
pub(crate) fn complaint(run: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Some(text.expect("a complaint is text").trim().to_owned())
}
