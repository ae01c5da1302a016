//! What a memory offers. Each capability is a trait of its own, because the papers' theorems assume
//! exactly these capabilities: the bounds of an algorithm are the assumptions of its theorem.

use super::{Additive, Bits, Decl, Name, Pid, Word};
use core::fmt::{self, Debug};
use core::future::Future;
use core::ops::{Deref, Index, Range};
use core::panic::Location;

/// A statement number of the paper, as in `p.at(3)`.
pub type Label = u16;

/// Which process makes an access, in which part of the algorithm, and at which statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access<P> {
    /// The process.
    pub pid: Pid,
    /// The part of the algorithm.
    pub part: P,
    /// The statement.
    pub label: Label,
}

/// Events that are not steps, but that properties refer to. Natively they do nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The doorway ends here. It began with the first access of the passage; orders of arrival
    /// refer to it.
    DoorwayEnds,
    /// The process waits before its doorway. During the next wait it counts as being in its
    /// remainder section.
    Camps,
    /// The process is at this statement of *this* part until its next access in this part: an outer
    /// level rests at 6 while inner levels run.
    Rests(Label),
    /// From here on a private variable of this part has this value. Properties can ask for it, and
    /// it belongs to the local state.
    Shows(&'static str, u64),
    /// The same, until the exit section begins: what a process holds while it is inside.
    Holds(&'static str, u64),
    /// The variable no longer has a value.
    Hides(&'static str),
}

/// What follows a turn of a wait that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Look again.
    TryAgain,
    /// The process was asked to give up. Only waits that can be abandoned are told so.
    GiveUp,
}

/// A memory: it allocates variables and knows how to wait.
///
/// The implementation decides what an access *is*: a CPU atomic, a step of a scheduler, a round
/// trip. The conformance suite in `doorway-check` says what is expected of all of them.
pub trait Memory: Sized {
    /// What can go wrong in an access; [`Infallible`](core::convert::Infallible) for memories
    /// within one machine.
    type Error: Debug;
    /// One part of an algorithm: a level of a chain, a block, a node of a tree. Each access carries
    /// the part it belongs to, so that "`p` is at 6" is well defined for *this* level. A memory
    /// that observes nothing need not tell parts apart, and `()` then costs nothing.
    type Part: Copy + Debug;
    /// The algorithm as a whole.
    const ROOT: Self::Part;
    /// A word, as accesses refer to it.
    type Cell<T: Word>: Debug + 'static;
    /// A variable that stands alone.
    type Var<T: Word>: Deref<Target = Self::Cell<T>> + Debug;
    /// A row of variables.
    type Row<T: Word>: Index<usize, Output = Self::Cell<T>> + Debug;
    /// At most `N` variables that are stored beside each other and beside the other fields of their
    /// owner.
    type Group<T: Word, const N: usize>: Index<usize, Output = Self::Cell<T>> + Debug;
    /// A table of variables in which each row lives with its process: `table[(p, i)]`.
    type Table<T: Word>: Index<(usize, usize), Output = Self::Cell<T>> + Debug;
    /// What a wait remembers between its turns, for instance how long it has been spinning.
    type Wait;

    /// The number of variables that stand in for a row that a paper calls infinite.
    const PLENTY: usize;

    /// Creates the name of a part of an algorithm.
    fn part(&self, within: Self::Part, kind: &'static str, index: Option<usize>) -> Self::Part;

    /// Makes a variable.
    fn var<T: Word>(&self, name: Name<Self::Part>, decl: Decl<'_, T>) -> Self::Var<T>;

    /// Makes a row of variables. This is the one place where a memory can lay them out by home.
    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<Self::Part>, Decl<'a, T>)) -> Self::Row<T>;

    /// Makes `n` variables that are stored beside each other. `n` is at most `N`.
    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<Self::Part>, Decl<'a, T>),
    ) -> Self::Group<T, N>;

    /// Makes a table of variables. They are declared alike, except that each row lives with its
    /// process. `name` is the name of the first one.
    fn table<T: Word>(
        &self,
        name: Name<Self::Part>,
        rows: Range<usize>,
        columns: usize,
        decl: Decl<'_, T>,
    ) -> Self::Table<T>;

    /// A wait begins. This is its loop head.
    fn wait_begins(&self, pid: Pid) -> Self::Wait;

    /// The wait that began last is over. A wait whose future is dropped never reports this.
    #[inline(always)]
    fn wait_ends(&self, _pid: Pid) {}

    /// A turn of a wait failed: one round of its loop, after which the process has to go on
    /// waiting. Returns [`Next::GiveUp`] only if the wait is `abortable`.
    ///
    /// This method is not generic over the turn's future, on purpose: otherwise every future built
    /// on it would lose its `Send`.
    fn turn_failed(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
    ) -> impl Future<Output = Result<Next, Self::Error>>;

    /// A turn of a [loop that goes round](super::Here::go_round_until) failed. It may have changed
    /// variables.
    fn round_failed(&self, pid: Pid, wait: &mut Self::Wait) -> impl Future<Output = Result<(), Self::Error>> {
        async move { self.turn_failed(pid, wait, false).await.map(|_| ()) }
    }

    /// See [`Here::pauses`](super::Here::pauses).
    #[inline(always)]
    fn pause(&self, _turn: u32) {}

    /// The next access is written on this line of the source. [`Here::at`](super::Here::at) calls
    /// it. A memory that shows people where a process is remembers the line. Others ignore it, and
    /// it costs nothing.
    #[inline(always)]
    fn line(&self, _of_the_source: &'static Location<'static>) {}

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
    /// Returns the value of the variable.
    fn read<T: Word>(&self, at: Access<Self::Part>, v: &Self::Cell<T>) -> impl Future<Output = Result<T, Self::Error>>;

    /// Replaces the value of the variable.
    fn write<T: Word>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        x: T,
    ) -> impl Future<Output = Result<(), Self::Error>>;

    /// A [`write`](Self::write) that may be a release store: it may become visible late, but never
    /// before earlier writes of the same process. Only for variables that [no process waits
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

    /// A turn failed that read only `v`, and found `seen`. The memory may let the process sleep on
    /// that one word until its value changes. Otherwise the same as [`Memory::turn_failed`].
    fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
        v: &Self::Cell<T>,
        seen: T,
    ) -> impl Future<Output = Result<Next, Self::Error>>;
}

/// Fetch-and-add: adds and returns the **old** value.
pub trait FetchAdd: ReadWrite {
    /// Adds `delta` modulo the width of the variable, and returns the old value.
    fn fetch_add<T: Additive>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        delta: T,
    ) -> impl Future<Output = Result<T, Self::Error>>;
}

/// Fetch-and-or on a set of bits: sets bits and returns the old set.
pub trait FetchOr: ReadWrite {
    /// Sets the bits of `mask` and returns the old value.
    fn fetch_or<T: Bits>(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<T>,
        mask: T,
    ) -> impl Future<Output = Result<T, Self::Error>>;
}

/// Fetch-and-and on a set of bits: clears bits and returns the old set.
pub trait FetchAnd: ReadWrite {
    /// Clears the bits that are not in `mask` and returns the old value.
    fn fetch_and(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<u64>,
        mask: u64,
    ) -> impl Future<Output = Result<u64, Self::Error>>;
}

/// A decrement that stops at zero. Anderson and Moir assume it in their second footnote.
///
/// There is no default that builds it from another instruction. If a memory can only loop on
/// compare-and-swap, this instruction is lock-free there but not wait-free, and bounds that rely on
/// a single step do not hold.
pub trait BoundedDecrement: ReadWrite {
    /// Whether a call is one step, no matter how many processes make calls at the same time.
    const WAIT_FREE: bool;

    /// Subtracts one unless the variable is zero, and returns the old value.
    fn bounded_decrement(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<u64>,
    ) -> impl Future<Output = Result<u64, Self::Error>>;
}

/// Test-and-set on one bit.
pub trait TestAndSet: ReadWrite {
    /// Sets the bit and returns its old value.
    fn test_and_set(
        &self,
        at: Access<Self::Part>,
        v: &Self::Cell<bool>,
    ) -> impl Future<Output = Result<bool, Self::Error>>;
}

/// Exchanges a value.
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
    /// If the variable holds `old`, writes `new` and returns `Ok(old)`. Otherwise returns `Err`
    /// with the value it holds.
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
/// When a text is built, it cannot know how many processes will wait at a time, and with late rows
/// it need not pay for them in advance. Rows double: row `i` has `2^i` times as many variables as
/// the first. A row that was made stays where it is until the whole object is dropped, or the text
/// [gives it back](Self::give_rows_back). No row is ever copied.
///
/// Making a row is not an access. A process that has made a row announces it by a
/// [compare-and-swap](CompareSwap) on a variable of the text. No process may access the variables
/// of a row before that variable says that the row exists. So the compare-and-swap is the step in
/// which the row comes into being. The variable holds the number of rows, and the text remembers
/// nothing else about where the row is.
///
/// | memory | a row is |
/// |---|---|
/// | native | a box, whose pointer is exchanged for null; freed with the object |
/// | simulated | part of every state from the start; its variables have their initial values until a process learns that the row exists |
/// | spinning, and those of other tools | made with the whole object, as far as there is room |
pub trait LateRows: CompareSwap {
    /// The rows that were made, and the rows that can still be made.
    type Late<T: Word>: Index<(usize, usize), Output = Self::Cell<T>> + Debug;

    /// Declares up to `rows` rows without making any. The first row has `first` variables, a power
    /// of two. All variables are declared alike. `name` is the name of the first one.
    fn late_rows<T: Word>(&self, name: Name<Self::Part>, first: usize, rows: usize, decl: Decl<'_, T>)
    -> Self::Late<T>;

    /// Makes this row unless it exists; all rows before it must exist. Returns whether the row
    /// exists now. It does not if there are no more rows, or if there is no memory for it. Never
    /// waits: a process that stops while it makes a row blocks no other process.
    fn make_row<T: Word>(&self, late: &Self::Late<T>, row: usize) -> bool;

    /// Gives back all rows but the first `kept`. Returns whether they are gone, so that their
    /// variables will have their initial values if they are made again. If not, the rows stay, and
    /// the process writes these values itself.
    ///
    /// No process accesses a variable of such a row from now on until the row is made again. The
    /// checker shows that of the texts of this crate, if their callers keep to the rules: a process
    /// gives back what it got, and gives it back once. A memory that frees rows must know that its
    /// callers do; if it does not, it keeps them.
    fn give_rows_back<T: Word>(&self, _: &Self::Late<T>, _kept: usize) -> bool {
        false
    }
}

/// Several accesses as one step, written `< … >` in the papers. Table 1 of Anderson and Moir calls
/// them large critical sections.
///
/// No machine has this. A memory of real words substitutes a lock of its own, and a process that
/// dies within a block then blocks all others. The simulated memory takes a block as one step,
/// during which no process can die.
pub trait AtomicBlock: Memory {
    /// The lock by which the blocks of one algorithm exclude each other.
    type Lock: Debug;

    /// Makes such a lock.
    fn lock(&self) -> Self::Lock;

    /// `<`: begins a block. The accesses up to `block_ends` are one step. A block contains no wait.
    fn block_begins(&self, pid: Pid, lock: &Self::Lock) -> impl Future<Output = Result<(), Self::Error>>;

    /// `>`: ends the block.
    fn block_ends(&self, pid: Pid, lock: &Self::Lock);
}

/// A nondeterministic choice, for what an algorithm leaves open, such as the operation that a
/// process calls next.
///
/// No machine offers this. The simulated memory tries every alternative. A choice is not an access,
/// costs nothing, and forms one step with the access that follows.
pub trait Choose: Memory {
    /// One of `0..n`, or 0 if `n` is 0.
    fn choose(&self, at: Access<Self::Part>, n: usize) -> impl Future<Output = Result<usize, Self::Error>>;
}

/// A memory whose accesses complete at once.
pub trait Immediate: Memory<Error = core::convert::Infallible> {
    /// The result of an access.
    fn now<T>(access: impl Future<Output = Result<T, Self::Error>>) -> T;
}

/// Runs an inner algorithm as a part of this one: [`part`](crate::memory::Here::part) before it,
/// and [`part_done`](crate::memory::Here::part_done) when it has finished.
///
/// This is a macro because a function that takes the inner future by value moves that future:
/// passages then took four times as long.
#[macro_export]
macro_rules! within {
    ($here:expr, $live:expr, $inner:expr) => {{
        $here.part($live);
        let done = $inner;
        $here.part_done();
        done
    }};
}

/// One text in two forms: as a future, and as a plain function for memories whose accesses complete
/// at once. It is for the lines that passages run most, between their waits. A compiler inlines a
/// plain function into all its callers, but a future into only one.
///
/// In the text, `access!` makes an access, and `either!` takes the first of two calls in the future
/// and the second in the plain function. The text ends with its value. It ends early by `break`
/// from a labelled block. Texts for memories that are [`Ready`](crate::memory::Ready) but may fail
/// begin with `for Ready:`, and may return an error.
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
            /// Returns an error if an access failed.
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

/// The difference between the plain forms of [`in_both_forms`]: whether accesses may fail.
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

/// A memory with every instruction. An algorithm requires less. The [registry](crate::registry)
/// requires this, because it must be able to build all of them.
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
    /// Its usual name.
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
