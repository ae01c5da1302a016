//! What a memory offers. Each capability is a trait of its own, because the papers' theorems are about
//! exactly these: an algorithm's bounds are its theorem's assumptions.

use super::{Additive, Bits, Decl, Name, Pid, Word};
use core::fmt::{self, Debug};
use core::future::Future;
use core::ops::{Deref, Index, Range};

/// A statement number of the paper, as in `p.at(3)`.
pub type Label = u16;

/// Who accesses, in which part of the algorithm, at which statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access<P> {
    /// The process.
    pub pid: Pid,
    /// The part of the algorithm.
    pub part: P,
    /// The statement.
    pub label: Label,
}

/// Things that are no steps but that properties are about. Natively nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The doorway ends here (orders of arrival are about it; it begins with the first access of the passage).
    DoorwayEnds,
    /// The process waits before its doorway: with the next wait it is as good as in its remainder, until that is over.
    Camps,
    /// The process is at this statement of *this* part until its next access in this part: an outer level
    /// rests at 6 while inner levels run.
    Rests(Label),
    /// A private variable of this part has this value from here on. Properties can ask for it; it is part of the local state.
    Shows(&'static str, u64),
    /// The same, until the exit section begins: what a process holds inside.
    Holds(&'static str, u64),
    /// It has none any more.
    Hides(&'static str),
}

/// What follows a failed turn of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Look again.
    TryAgain,
    /// The process was asked to give up. Only waits that can be abandoned are told so.
    GiveUp,
}

/// A memory: it allocates variables and knows how to wait.
///
/// What an access *is* (a CPU atomic, a step of a scheduler, a round trip), the implementation decides.
/// `doorway-check` has a conformance suite that says what is expected of all of them.
pub trait Memory: Sized {
    /// What can go wrong in an access; [`Infallible`](core::convert::Infallible) for memories in one machine.
    type Error: Debug;
    /// One part of an algorithm: a level of a chain, a block, a node of a tree. Accesses carry the part they
    /// belong to, so that "`p` is at 6" of *this* level is well defined. A memory that does not observe need not tell
    /// parts apart, and `()` then costs nothing.
    type Part: Copy + Debug;
    /// The algorithm as a whole.
    const ROOT: Self::Part;
    /// A word that accesses name.
    type Cell<T: Word>: Debug;
    /// A variable that stands alone.
    type Var<T: Word>: Deref<Target = Self::Cell<T>> + Debug;
    /// A row of variables.
    type Row<T: Word>: Index<usize, Output = Self::Cell<T>> + Debug;
    /// At most `N` variables that lie beside each other, and beside the fields of what they belong to.
    type Group<T: Word, const N: usize>: Index<usize, Output = Self::Cell<T>> + Debug;
    /// A table of variables, each row with the process it lives with: `table[(p, i)]`.
    type Table<T: Word>: Index<(usize, usize), Output = Self::Cell<T>> + Debug;
    /// What one wait remembers between its turns (how long it has been spinning).
    type Wait;

    /// How many variables stand in for a row that a paper calls infinite.
    const PLENTY: usize;

    /// Names a part of an algorithm.
    fn part(&self, within: Self::Part, kind: &'static str, index: Option<usize>) -> Self::Part;

    /// Makes a variable.
    fn var<T: Word>(&self, name: Name<Self::Part>, decl: Decl<'_, T>) -> Self::Var<T>;

    /// Makes a row of variables: the one place where a memory can lay them out by home.
    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<Self::Part>, Decl<'a, T>)) -> Self::Row<T>;

    /// Makes `n` variables that lie beside each other. There are at most `N`.
    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<Self::Part>, Decl<'a, T>),
    ) -> Self::Group<T, N>;

    /// Makes a table of variables declared alike, except that each row lives with its process. `name` is that of the first.
    fn table<T: Word>(
        &self,
        name: Name<Self::Part>,
        rows: Range<usize>,
        columns: usize,
        decl: Decl<'_, T>,
    ) -> Self::Table<T>;

    /// A wait begins: this is its loop head.
    fn wait_begins(&self, pid: Pid) -> Self::Wait;

    /// The wait that began last is over. A wait whose future is dropped does not say so.
    #[inline(always)]
    fn wait_ends(&self, _pid: Pid) {}

    /// A turn of a wait came to nothing. Answers [`Next::GiveUp`] only if the wait is `abortable`.
    ///
    /// Free of the turn's type on purpose: a method generic over the turn's future would cost every future
    /// built on it its `Send`.
    fn turn_failed(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
    ) -> impl Future<Output = Result<Next, Self::Error>>;

    /// A turn of a [loop that goes round](super::Here::go_round_until) came to nothing. It may have changed variables.
    fn round_failed(&self, pid: Pid, wait: &mut Self::Wait) -> impl Future<Output = Result<(), Self::Error>> {
        async move { self.turn_failed(pid, wait, false).await.map(|_| ()) }
    }

    /// See [`Here::pauses`](super::Here::pauses).
    #[inline(always)]
    fn pause(&self, _turn: u32) {}

    /// See [`Here::keep`](super::Here::keep).
    #[inline(always)]
    fn keep(&self, _at: Access<Self::Part>, _live: &dyn Debug) {}

    /// See [`Here::part`](super::Here::part).
    #[inline(always)]
    fn part_begins(&self, _pid: Pid, _live: &dyn Debug) {}

    /// See [`Here::part_done`](super::Here::part_done).
    #[inline(always)]
    fn part_done(&self, _pid: Pid) {}

    /// See [`Here::watches`](super::Here::watches).
    #[inline(always)]
    fn watch<T: Word>(&self, _pid: Pid, _v: &Self::Cell<T>) {}

    /// See [`Here::watches_no_more`](super::Here::watches_no_more).
    #[inline(always)]
    fn unwatch<T: Word>(&self, _pid: Pid, _v: &Self::Cell<T>) {}

    /// See [`Here::invokes`](super::Here::invokes).
    #[inline(always)]
    fn invokes<T: Word>(&self, _pid: Pid, _op: T) {}

    /// See [`Here::responds`](super::Here::responds).
    #[inline(always)]
    fn responds<T: Word>(&self, _pid: Pid, _result: T) {}

    /// See [`Here::abandons`](super::Here::abandons).
    #[inline(always)]
    fn abandons(&self, _pid: Pid) {}

    /// See [`Here::mark`](super::Here::mark).
    #[inline(always)]
    fn mark(&self, _pid: Pid, _part: Self::Part, _mark: Mark) {}
}

/// Atomic reads and writes.
pub trait ReadWrite: Memory {
    /// The value of the variable.
    fn read<T: Word>(&self, at: Access<Self::Part>, v: &Self::Cell<T>) -> impl Future<Output = Result<T, Self::Error>>;

    /// Replaces the value of the variable.
    fn write<T: Word>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        x: T,
    ) -> impl Future<Output = Result<(), Self::Error>>;

    /// [`write`](Self::write), by who does not care when others see it, as long as they then see all that it did before. Only for variables that [nobody waits
    /// for](Word::AWAITED).
    #[inline(always)]
    fn write_in_passing<T: Word>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        x: T,
    ) -> impl Future<Output = Result<(), Self::Error>> {
        self.write(at, v, x)
    }

    /// A turn that read only `v`, and found `seen`, failed: the memory may sleep on that one word until it
    /// is something else. Otherwise as [`Memory::turn_failed`].
    fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
        v: &Self::Cell<T>,
        seen: T,
    ) -> impl Future<Output = Result<Next, Self::Error>>;
}

/// Fetch-and-add: adds, and returns the **old** value.
pub trait FetchAdd: ReadWrite {
    /// Adds `delta`, modulo the variable's width, and returns the old value.
    fn fetch_add<T: Additive>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        delta: T,
    ) -> impl Future<Output = Result<T, Self::Error>>;
}

/// Fetch-and-or on a set of bits: sets, and returns the old set.
pub trait FetchOr: ReadWrite {
    /// Sets the bits of `mask` and returns the old value.
    fn fetch_or<T: Bits>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        mask: T,
    ) -> impl Future<Output = Result<T, Self::Error>>;
}

/// Fetch-and-and on a set of bits: clears, and returns the old set.
pub trait FetchAnd: ReadWrite {
    /// Clears the bits that are not in `mask` and returns the old value.
    fn fetch_and(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<u64>,
        mask: u64,
    ) -> impl Future<Output = Result<u64, Self::Error>>;
}

/// A decrement that stops at zero, which Anderson and Moir's second footnote assumes.
///
/// Never built from another instruction by default: a memory that can only loop on compare-and-swap is lock-free
/// here and not wait-free, and the bounds that rest on one step do not hold for it.
pub trait BoundedDecrement: ReadWrite {
    /// Whether one call is one step, however many others call at the same time.
    const WAIT_FREE: bool;

    /// Subtracts one unless the variable is zero; returns the old value.
    fn bounded_decrement(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<u64>,
    ) -> impl Future<Output = Result<u64, Self::Error>>;
}

/// Test-and-set on one bit.
pub trait TestAndSet: ReadWrite {
    /// Sets the bit and returns what it was.
    fn test_and_set(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<bool>,
    ) -> impl Future<Output = Result<bool, Self::Error>>;
}

/// Exchange of a value.
pub trait Swap: ReadWrite {
    /// Writes `x` and returns the old value.
    fn swap<T: Word>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        x: T,
    ) -> impl Future<Output = Result<T, Self::Error>>;
}

/// Compare-and-swap.
pub trait CompareSwap: ReadWrite {
    /// If the variable holds `old`, writes `new` and answers `Ok(old)`; otherwise `Err` of what it holds.
    fn compare_swap<T: Word>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        old: T,
        new: T,
    ) -> impl Future<Output = Result<Result<T, T>, Self::Error>>;
}

/// Rows of variables that are made late: while processes run, by a process that needs one.
///
/// What a text cannot know when it is built, how many will wait at a time, it need not pay for then. Rows double:
/// row `i` has `2^i` times as many variables as the first. A row that was made stays where it is until the whole is
/// dropped, so a variable in it can be accessed for as long as any other, and no row is ever copied.
///
/// Making a row is no access. Nobody may look at its variables before a variable of the text, which processes change by
/// [compare-and-swap](CompareSwap) after they made the row, says that it is there: that exchange is the step in which
/// the row comes to be, and what it says, a number of rows, is all that the text keeps of where the row lies.
///
/// | memory | a row is |
/// |---|---|
/// | native | a box, whose pointer is exchanged for null; freed with the object |
/// | simulated | part of every state from the start, with its variables as declared until somebody is told of it |
/// | spinning, and those of other tools | made with the whole, as far as there is room |
pub trait LateRows: CompareSwap {
    /// The rows that were made, and those that can be.
    type Late<T: Word>: Index<(usize, usize), Output = Self::Cell<T>> + Debug;

    /// Declares up to `rows` rows, none of which is made. The first has `first` variables, a power of two; all variables
    /// are declared alike. `name` is that of the first.
    fn late_rows<T: Word>(&self, name: Name<Self::Part>, first: usize, rows: usize, decl: Decl<'_, T>)
    -> Self::Late<T>;

    /// Makes this row, unless it is there; all before it are. Whether it is there now: not if there are no more, or if
    /// there is no memory for it. Never waits: a process that stops while it makes a row is in nobody's way.
    fn make_row<T: Word>(&self, late: &Self::Late<T>, row: usize) -> bool;
}

/// Several accesses as one step, `< … >` in the papers: what Table 1 of Anderson and Moir calls large critical sections.
///
/// No machine has it. A memory of real words stands in with a lock of its own, and a process that dies within a block then blocks everybody; the
/// simulated memory takes a block as one step, in which nobody can die.
pub trait AtomicBlock: Memory {
    /// What the blocks of one algorithm exclude each other by.
    type Lock: Debug;

    /// Makes one.
    fn lock(&self) -> Self::Lock;

    /// `<`. The accesses up to `block_ends` are one step. A block contains no wait.
    fn block_begins(&self, pid: Pid, lock: &Self::Lock) -> impl Future<Output = Result<(), Self::Error>>;

    /// `>`.
    fn block_ends(&self, pid: Pid, lock: &Self::Lock);
}

/// Picks one of several, and nobody knows which: for what an algorithm leaves open, such as the operation that a process calls next.
///
/// No machine does that. The simulated memory tries each; it is no access, costs nothing and is one step with the access that follows.
pub trait Choose: Memory {
    /// One of `0..n`; 0 if there are none.
    fn choose(&self, at: Access<Self::Part>, n: usize) -> impl Future<Output = Result<usize, Self::Error>>;
}

/// A memory whose accesses are ready at once.
pub trait Immediate: Memory<Error = core::convert::Infallible> {
    /// What comes of an access.
    fn now<T>(access: impl Future<Output = Result<T, Self::Error>>) -> T;
}

/// What an inner algorithm does, as a part of this one: [`part`](crate::memory::Here::part), and [`part_done`](crate::memory::Here::part_done) when it is done.
///
/// A macro, because a function that takes the inner future by value moves that future, and made passages four times
/// slower.
#[macro_export]
macro_rules! within {
    ($here:expr, $live:expr, $inner:expr) => {{
        $here.part($live);
        let done = $inner;
        $here.part_done();
        done
    }};
}

/// One text in two forms: as a future, and as a plain function on memories whose accesses are ready
/// at once. For what passages run most, between their waits: compilers inline plain functions into
/// their callers, and futures only into one.
///
/// In the text, `access!` makes an access, and `either!` takes the first of two calls in the future and the second in the
/// plain function. It ends with its value, and early with `break` from a labelled block. Texts on memories that are
/// [`Ready`](crate::memory::Ready) but may fail begin with `for Ready:`, and may return an error.
macro_rules! in_both_forms {
    (for Ready: $($texts:tt)*) => { $crate::memory::in_both_forms! { @ Ready $($texts)* } };
    (@ $memory:ident $(
        $(#[doc = $doc:literal])*
        $(#[inline($how:ident)])?
        $vis:vis fn $name:ident, $now:ident $(<$generic:ident: $bound:path>)? (&$self:ident $(, $argument:ident: $of:ty)*) -> $out:ty $text:block
    )*) => {
        $(
            $(#[doc = $doc])*
            ///
            /// # Errors
            /// If an access failed.
            $(#[inline($how)])?
            $vis async fn $name $(<$generic: $bound>)? (&$self $(, $argument: $of)*) -> Result<$out, M::Error> {
                #[allow(unused_macros)]
                macro_rules! access {
                    ($access:expr) => { $access.await? };
                }
                #[allow(unused_macros)]
                macro_rules! either {
                    ($future:expr, $plain:expr) => { $future.await? };
                }
                Ok($text)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), as a plain function.")]
            #[doc = $crate::memory::in_plain_form!($memory errors)]
            $(#[inline($how)])?
            $vis fn $now $(<$generic: $bound>)? (&$self $(, $argument: $of)*) -> $crate::memory::in_plain_form!($memory returns $out)
            where
                M: $crate::memory::$memory,
            {
                #[allow(unused_macros)]
                macro_rules! access {
                    ($access:expr) => { $crate::memory::in_plain_form!($memory access $access) };
                }
                #[allow(unused_macros)]
                macro_rules! either {
                    ($future:expr, $plain:expr) => { $crate::memory::in_plain_form!($memory call $plain) };
                }
                $crate::memory::in_plain_form!($memory ends $text)
            }
        )*
    };
    ($($texts:tt)*) => { $crate::memory::in_both_forms! { @ Immediate $($texts)* } };
}

/// What the plain forms of [`in_both_forms`] differ in: whether accesses may fail.
macro_rules! in_plain_form {
    (Immediate errors) => { "" };
    (Immediate returns $out:ty) => { $out };
    (Immediate access $access:expr) => { M::now($access) };
    (Immediate call $plain:expr) => { $plain };
    (Immediate ends $text:block) => { $text };
    (Ready errors) => { "\n\n# Errors\nAs that." };
    (Ready returns $out:ty) => { Result<$out, M::Error> };
    (Ready access $access:expr) => { M::ready($access)? };
    (Ready call $plain:expr) => { $plain? };
    (Ready ends $text:block) => { Ok($text) };
}
pub(crate) use {in_both_forms, in_plain_form};

/// A memory with every instruction. Algorithms ask for less; the [registry](crate::registry), which must be
/// able to build any of them, asks for this.
pub trait Machine: FetchAdd + FetchOr + BoundedDecrement + TestAndSet + Swap + AtomicBlock + LateRows {}
impl<M: FetchAdd + FetchOr + BoundedDecrement + TestAndSet + Swap + AtomicBlock + LateRows> Machine for M {}

/// An instruction by name, as the papers' tables list them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Instruction {
    /// [`ReadWrite::read`]
    Read,
    /// [`ReadWrite::write`]
    Write,
    /// [`FetchAdd`]
    FetchAdd,
    /// [`FetchOr`]
    FetchOr,
    /// [`FetchAnd`]
    FetchAnd,
    /// [`BoundedDecrement`]
    BoundedDecrement,
    /// [`TestAndSet`]
    TestAndSet,
    /// [`Swap`]
    Swap,
    /// [`CompareSwap`]
    CompareSwap,
    /// [`AtomicBlock`]
    AtomicBlock,
}

impl Instruction {
    /// The usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::FetchAdd => "fetch-and-add",
            Self::FetchOr => "fetch-and-or",
            Self::FetchAnd => "fetch-and-and",
            Self::BoundedDecrement => "bounded-decrement",
            Self::TestAndSet => "test-and-set",
            Self::Swap => "swap",
            Self::CompareSwap => "compare-and-swap",
            Self::AtomicBlock => "atomic block",
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
