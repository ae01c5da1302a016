//! A process, and the operations with which the text of an algorithm is written.

use super::{
    Access, Additive, AtomicBlock, Bits, BoundedDecrement, Choose, CompareSwap, FetchAdd, FetchAnd, FetchOr, Label,
    LateRows, Mark, Memory, Next, Pid, ReadWrite, Swap, TestAndSet, Word,
};
use core::fmt::Debug;
use core::future::Future;
use core::panic::Location;

/// One process: its identity and the memory it acts on.
///
/// It is not `Clone`, so two threads cannot be the same process.
///
/// ```compile_fail,E0599
/// # use doorway_core::memory::{Pid, Process};
/// # use doorway_core::memory::spinning::Spinning;
/// let p = Process::new(Pid::new(0), Spinning);
/// let twin = p.clone();
/// ```
#[derive(Debug)]
pub struct Process<M> {
    pid: Pid,
    memory: M,
}

impl<M: Memory> Process<M> {
    /// Makes a process. Two processes with the same `pid` on one algorithm break that algorithm.
    #[inline(always)]
    pub const fn new(pid: Pid, memory: M) -> Self {
        Self { pid, memory }
    }

    /// Its identity.
    #[must_use]
    #[inline(always)]
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The memory it acts on.
    #[must_use]
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// This process, at work in one part of the algorithm. The text of a part begins with this
    /// call.
    #[must_use]
    #[inline(always)]
    pub fn on(&self, part: M::Part) -> Here<'_, M> {
        Here { process: self, part }
    }
}

/// A process at work in one part of an algorithm. See [`Process::on`].
#[derive(Debug)]
pub struct Here<'p, M: Memory> {
    process: &'p Process<M>,
    part: M::Part,
}

impl<M: Memory> Clone for Here<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Memory> Copy for Here<'_, M> {}

impl<'p, M: Memory> Here<'p, M> {
    /// The identity of the process.
    #[must_use]
    #[inline(always)]
    pub fn pid(self) -> Pid {
        self.process.pid
    }

    /// The process, to be passed to an inner part.
    #[must_use]
    #[inline(always)]
    pub fn process(self) -> &'p Process<M> {
        self.process
    }

    /// Names the statement to which the next access belongs.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn at(self, label: Label) -> At<'p, M> {
        self.process.memory.line(Location::caller());
        At { here: self, label }
    }

    /// Reports an event that is not a step; see [`Mark`].
    #[inline(always)]
    pub fn mark(self, mark: Mark) {
        self.process.memory.mark(self.process.pid, self.part, mark);
    }

    /// From here on a private variable of this part has this value. The name is the paper's.
    /// Properties can ask for the variable.
    #[inline(always)]
    pub fn shows<T: Word>(self, name: &'static str, value: T) {
        self.mark(Mark::Shows(name, value.pack()));
    }

    /// The same, until the exit section begins: for a value that a process holds while it is
    /// inside.
    #[inline(always)]
    pub fn holds<T: Word>(self, name: &'static str, value: T) {
        self.mark(Mark::Holds(name, value.pack()));
    }

    /// From here on properties can no longer ask for this variable.
    #[inline(always)]
    pub fn hides(self, name: &'static str) {
        self.mark(Mark::Hides(name));
    }

    /// An operation of an object begins with the next access; `op` is what the process asks for.
    /// This is not a step. Checkers compare the results of operations with those of a sequential
    /// execution. The operation ends within the same passage, with [`responds`](Self::responds).
    #[inline(always)]
    pub fn invokes<T: Word>(self, op: T) {
        self.process.memory.invokes(self.process.pid, op);
    }

    /// The operation that was invoked last has ended with the previous access, and this is its
    /// result.
    #[inline(always)]
    pub fn responds<T: Word>(self, result: T) {
        self.process.memory.responds(self.process.pid, result);
    }

    /// The operation that was invoked last has ended without a result. Whether it takes effect
    /// remains open until the process abandons another operation. If it has not taken effect by
    /// then, it never does.
    #[inline(always)]
    pub fn abandons(self) {
        self.process.memory.abandons(self.process.pid);
    }

    /// From here on the value of this variable, which belongs to the process, matters to it; see
    /// [`Decl::only_while_watched`](super::Decl::only_while_watched).
    #[inline(always)]
    pub fn watches<T: Word>(self, v: &M::Cell<T>) {
        self.process.memory.watch(self.process.pid, v);
    }

    /// From here on its value no longer matters to the process.
    #[inline(always)]
    pub fn watches_no_more<T: Word>(self, v: &M::Cell<T>) {
        self.process.memory.unwatch(self.process.pid, v);
    }

    /// Says: "the process is about to execute statement `label`, and of the locals of this function
    /// only `live` still matter."
    ///
    /// The checker merges local states for which `Debug` shows the same. If a text has no `keep`,
    /// the checker finds out by itself which local states behave alike, and merges those. If a
    /// local that still matters is missing from `live`, the search misses behaviour. So after its
    /// search the checker compares the states that it has merged. If such a local is missing, the
    /// checker reports an error, or says that it could not compare everything.
    #[inline(always)]
    pub fn keep(self, label: Label, live: &dyn Debug) {
        self.process.memory.keep(self.access(label), live);
    }

    /// An inner part begins, and `live` are the caller's locals that survive it. They stay part of
    /// the local state, whatever the inner part [keeps](Self::keep). The part ends with
    /// [`part_done`](Self::part_done).
    ///
    /// These are plain calls around the inner part. A wrapper that takes its future by value moves
    /// that future: passages then took four times as long.
    #[inline(always)]
    pub fn part(self, live: &dyn Debug) {
        self.process.memory.part_begins(self.process.pid, live);
    }

    /// The inner part that began last has finished.
    #[inline(always)]
    pub fn part_done(self) {
        self.process.memory.part_done(self.process.pid);
    }

    /// Repeats `turn` from its start until it returns `Some`: a wait on several variables.
    ///
    /// `turn` is an `Fn`, so nothing is carried from one turn to the next. Keep state that must
    /// survive several turns in an ordinary loop *around* this one. A turn that fails leaves shared
    /// variables as they were.
    #[inline]
    pub async fn spin_until<T, R>(self, turn: impl Fn() -> R) -> Result<T, M::Error>
    where
        R: Future<Output = Result<Option<T>, M::Error>>,
    {
        let memory = &self.process.memory;
        let mut wait = memory.wait_begins(self.process.pid);
        loop {
            if let Some(t) = turn().await? {
                memory.wait_ends(self.process.pid);
                return Ok(t);
            }
            memory.turn_failed(self.process.pid, &mut wait, false).await?;
        }
    }

    /// Like [`spin_until`](Self::spin_until), but a turn that fails may have changed shared
    /// variables: while a process waits, it does its part for others.
    ///
    /// A turn that changes a shared variable must also change a variable that it has read before. A
    /// memory may let the process sleep until one of the variables that the turn has read changes.
    /// Because the turn itself has changed one, the process makes one more turn before it sleeps.
    /// To meet this condition, keep private copies of what the turn writes.
    ///
    /// A turn that changes nothing must write nothing. A memory may treat every write as a change,
    /// even one of the present value; so a process that writes in every turn never sleeps.
    #[inline]
    pub async fn go_round_until<T, R>(self, turn: impl Fn() -> R) -> Result<T, M::Error>
    where
        R: Future<Output = Result<Option<T>, M::Error>>,
    {
        let memory = &self.process.memory;
        let mut wait = memory.wait_begins(self.process.pid);
        loop {
            if let Some(t) = turn().await? {
                memory.wait_ends(self.process.pid);
                return Ok(t);
            }
            memory.round_failed(self.process.pid, &mut wait).await?;
        }
    }

    /// Pauses between two tries; a larger `turn` means a longer pause. It changes nothing, and no
    /// other process can observe it.
    #[inline(always)]
    pub fn pauses(self, turn: u32) {
        self.process.memory.pause(turn);
    }

    /// Like [`spin_until`](Self::spin_until), for algorithms that can give up. Returns `None` if
    /// the process was asked to give up.
    #[inline]
    pub async fn spin_unless_given_up<T, R>(self, turn: impl Fn() -> R) -> Result<Option<T>, M::Error>
    where
        R: Future<Output = Result<Option<T>, M::Error>>,
    {
        let memory = &self.process.memory;
        let mut wait = memory.wait_begins(self.process.pid);
        loop {
            if let Some(t) = turn().await? {
                memory.wait_ends(self.process.pid);
                return Ok(Some(t));
            }
            if memory.turn_failed(self.process.pid, &mut wait, true).await? == Next::GiveUp {
                memory.wait_ends(self.process.pid);
                return Ok(None);
            }
        }
    }

    #[inline(always)]
    fn access(self, label: Label) -> Access<M::Part> {
        Access { pid: self.process.pid, part: self.part, label }
    }
}

impl<M: LateRows> Here<'_, M> {
    /// See [`LateRows::make_row`].
    pub fn make_row<T: Word>(self, late: &M::Late<T>, row: usize) -> bool {
        self.process.memory.make_row(late, row)
    }

    /// See [`LateRows::give_rows_back`].
    pub(crate) fn give_rows_back<T: Word>(self, late: &M::Late<T>, kept: usize) -> bool {
        self.process.memory.give_rows_back(late, kept)
    }
}

impl<M: AtomicBlock> Here<'_, M> {
    /// `<`: the accesses up to [`block_ends`](Self::block_ends) are one step. See [`AtomicBlock`].
    #[inline(always)]
    pub fn block_begins(self, lock: &M::Lock) -> impl Future<Output = Result<(), M::Error>> {
        self.process.memory.block_begins(self.process.pid, lock)
    }

    /// `>`
    #[inline(always)]
    pub fn block_ends(self, lock: &M::Lock) {
        self.process.memory.block_ends(self.process.pid, lock);
    }
}

/// `p.at(3)`: process, part and statement. Its verbs are the instructions of the memory.
#[derive(Debug)]
pub struct At<'p, M: Memory> {
    here: Here<'p, M>,
    label: Label,
}

impl<M: Memory> Clone for At<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Memory> Copy for At<'_, M> {}

impl<'p, M: Memory> At<'p, M> {
    /// Says that before this access, only `live` still matters of what the process knows; see
    /// [`Here::keep`].
    ///
    /// ```
    /// use doorway_core::memory::spinning::{Spinning, now};
    /// use doorway_core::memory::{Memory, Pid, Process, Site};
    /// let x = Site::new(&Spinning).var("x", 3u64);
    /// let p = Process::new(Pid::new(0), Spinning);
    /// let seen = now(p.on(Spinning::ROOT).at(1).keeping(&()).read(&x)).unwrap();
    /// assert_eq!(seen, 3);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn keeping(self, live: &dyn Debug) -> Self {
        self.here.keep(self.label, live);
        self
    }

    #[inline(always)]
    pub(super) fn access(self) -> Access<M::Part> {
        self.here.access(self.label)
    }

    #[inline(always)]
    pub(super) fn memory(self) -> &'p M {
        &self.here.process.memory
    }
}

impl<'p, M: ReadWrite> At<'p, M> {
    /// See [`ReadWrite::read`].
    #[inline(always)]
    pub fn read<T: Word>(self, v: &M::Cell<T>) -> impl Future<Output = Result<T, M::Error>> {
        self.memory().read(self.access(), v)
    }

    /// See [`ReadWrite::write`].
    #[inline(always)]
    pub fn write<T: Word>(self, v: &M::Cell<T>, x: T) -> impl Future<Output = Result<(), M::Error>> {
        self.memory().write(self.access(), v, x)
    }

    /// See [`ReadWrite::write_in_passing`].
    #[inline(always)]
    pub fn write_in_passing<T: Word>(self, v: &M::Cell<T>, x: T) -> impl Future<Output = Result<(), M::Error>> {
        self.memory().write_in_passing(self.access(), v, x)
    }

    /// The common busy-wait, `while Q = p do od`: reads `v` until `ok` accepts its value, and
    /// returns that value.
    #[inline]
    pub async fn wait_until<T: Word>(self, v: &M::Cell<T>, ok: impl Fn(T) -> bool) -> Result<T, M::Error> {
        let (memory, pid) = (self.memory(), self.here.pid());
        let mut wait = memory.wait_begins(pid);
        loop {
            let x = memory.read(self.access(), v).await?;
            if ok(x) {
                memory.wait_ends(pid);
                return Ok(x);
            }
            memory.unchanged(pid, &mut wait, false, v, x).await?;
        }
    }

    /// Like [`wait_until`](Self::wait_until), for algorithms that can give up. Returns `None` if
    /// the process was asked to give up.
    #[inline]
    pub async fn wait_unless_given_up<T: Word>(
        self,
        v: &M::Cell<T>,
        ok: impl Fn(T) -> bool,
    ) -> Result<Option<T>, M::Error> {
        let (memory, pid) = (self.memory(), self.here.pid());
        let mut wait = memory.wait_begins(pid);
        loop {
            let x = memory.read(self.access(), v).await?;
            if ok(x) {
                memory.wait_ends(pid);
                return Ok(Some(x));
            }
            if memory.unchanged(pid, &mut wait, true, v, x).await? == Next::GiveUp {
                memory.wait_ends(pid);
                return Ok(None);
            }
        }
    }
}

impl<'p, M: FetchAdd> At<'p, M> {
    /// See [`FetchAdd::fetch_add`].
    #[inline(always)]
    pub fn fetch_add<T: Additive>(self, v: &M::Cell<T>, delta: T) -> impl Future<Output = Result<T, M::Error>> {
        self.memory().fetch_add(self.access(), v, delta)
    }
}

impl<'p, M: FetchOr> At<'p, M> {
    /// See [`FetchOr::fetch_or`].
    #[inline(always)]
    pub fn fetch_or<T: Bits>(self, v: &M::Cell<T>, mask: T) -> impl Future<Output = Result<T, M::Error>> {
        self.memory().fetch_or(self.access(), v, mask)
    }
}

impl<'p, M: FetchAnd> At<'p, M> {
    /// See [`FetchAnd::fetch_and`].
    #[inline(always)]
    pub fn fetch_and(self, v: &M::Cell<u64>, mask: u64) -> impl Future<Output = Result<u64, M::Error>> {
        self.memory().fetch_and(self.access(), v, mask)
    }
}

impl<'p, M: BoundedDecrement> At<'p, M> {
    /// See [`BoundedDecrement::bounded_decrement`].
    #[inline(always)]
    pub fn bounded_decrement(self, v: &M::Cell<u64>) -> impl Future<Output = Result<u64, M::Error>> {
        self.memory().bounded_decrement(self.access(), v)
    }
}

impl<'p, M: TestAndSet> At<'p, M> {
    /// See [`TestAndSet::test_and_set`].
    #[inline(always)]
    pub fn test_and_set(self, v: &M::Cell<bool>) -> impl Future<Output = Result<bool, M::Error>> {
        self.memory().test_and_set(self.access(), v)
    }
}

impl<'p, M: Swap> At<'p, M> {
    /// See [`Swap::swap`].
    #[inline(always)]
    pub fn swap<T: Word>(self, v: &M::Cell<T>, x: T) -> impl Future<Output = Result<T, M::Error>> {
        self.memory().swap(self.access(), v, x)
    }
}

impl<'p, M: CompareSwap> At<'p, M> {
    /// See [`CompareSwap::compare_swap`].
    #[inline(always)]
    pub fn compare_swap<T: Word>(
        self,
        v: &M::Cell<T>,
        old: T,
        new: T,
    ) -> impl Future<Output = Result<Result<T, T>, M::Error>> {
        self.memory().compare_swap(self.access(), v, old, new)
    }
}

impl<'p, M: Choose> At<'p, M> {
    /// See [`Choose::choose`].
    #[inline(always)]
    pub fn choose(self, n: usize) -> impl Future<Output = Result<usize, M::Error>> {
        self.memory().choose(self.access(), n)
    }
}
