//! The plain memory of a universal construction, kept in words of the memory: for machines that run
//! every interleaving, and for readers who want to see it.
//!
//! | name         | range  | initially | written at | meaning |
//! |--------------|--------|-----------|------------|---------|
//! | `val[b]`     | value  | any       | 7, 8       | the state in buffer `b` |
//! | `resp[b][q]` | value  | any       | 8          | the result of `q`'s operation that was applied in `b`: the value to which it was applied |
//! | `cell[q][c]` | op     | none      | 12         | an operation that `q` has announced |
//!
//! All of it is [plain](crate::memory::Decl::plain).

use super::{Asked, Buffer, Pool, Resilient, Store, Universal};
use crate::Failure;
use crate::k_assignment::KAssignment;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, At, CompareSwap, Memory, Pid, Process, ReadWrite, Site, Word, decl};
use crate::mutex::yang_anderson_93::Combinable;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

/// An operation in one word. `None` changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<O>(pub Option<O>);

/// The word of `None`. No operation packs to it.
const NOTHING: u64 = u64::MAX;

impl<O: Word> Word for Request<O> {
    type Waiters = Anybody;
    #[inline(always)]
    fn pack(self) -> u64 {
        self.0.map_or(NOTHING, O::pack)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self((word != NOTHING).then(|| O::unpack(word)))
    }
}

/// The result of an operation that has failed. No value equals it.
pub const FAILED: u64 = u64::MAX;

/// States, responses and operations of a family of maps, in words. An operation returns the value
/// to which it was applied.
pub struct InWords<M: Memory, F: Combinable> {
    val: M::Row<u64>,
    resp: M::Table<u64>,
    cell: M::Table<Request<F::Op>>,
    /// Whether an operation fails on a value.
    fails: fn(F::Op, u64) -> bool,
    of: PhantomData<fn() -> F>,
}

impl<M: Memory, F: Combinable> fmt::Debug for InWords<M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InWords").field("val", &self.val).field("resp", &self.resp).field("cell", &self.cell).finish()
    }
}

impl<M: Memory, F: Combinable> InWords<M, F> {
    /// A store for `k` names with these pools. The initial state is `value`.
    pub fn new(site: &Site<'_, M>, k: usize, pool: Pool, value: u64) -> Self {
        let buffers = k * pool.buffers;
        Self {
            val: site.row("val", buffers, |_| decl(value).plain()),
            resp: site.table("resp", 0..buffers, k, decl(0).plain()),
            cell: site.table("cell", 0..k, k, decl(Request(None)).plain()),
            fails: |_, _| false,
            of: PhantomData,
        }
    }

    /// Makes some operations fail on some values, after they have changed the state.
    #[must_use]
    pub fn that_fails(mut self, fails: fn(F::Op, u64) -> bool) -> Self {
        self.fails = fails;
        self
    }
}

impl<M: ReadWrite, F: Combinable<Value = u64>> InWords<M, F> {
    /// The state in a buffer.
    ///
    /// # Errors
    /// Returns an error if the access failed.
    pub async fn state(&self, at: At<'_, M>, b: Buffer) -> Result<u64, M::Error> {
        at.read(&self.val[b.index()]).await
    }
}

impl<M: ReadWrite, F: Combinable<Value = u64>> Store<M> for InWords<M, F> {
    type Op = Request<F::Op>;
    type Response = u64;
    type Panic = Infallible;

    const COPIES_CAN_FAIL: bool = false;

    fn tag(op: &Self::Op) -> u64 {
        op.pack()
    }

    fn told(result: &Result<u64, Infallible>) -> u64 {
        match *result {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    fn nothing() -> Self::Op {
        Request(None)
    }

    async fn copy(&self, at: At<'_, M>, from: Buffer, to: Buffer) -> Result<Result<(), Infallible>, M::Error> {
        let value = at.read(&self.val[from.index()]).await?;
        at.write(&self.val[to.index()], value).await?;
        Ok(Ok(()))
    }

    async fn apply(&self, at: At<'_, M>, to: Buffer, q: usize, asked: Asked<'_, Self::Op>) -> Result<bool, M::Error> {
        let Request(op) = match asked {
            Asked::InHand(op) => *op,
            Asked::InCell(c) => at.read(&self.cell[(q, usize::from(c))]).await?,
        };
        let value = at.read(&self.val[to.index()]).await?;
        let fails = op.is_some_and(|op| (self.fails)(op, value));
        at.write(&self.resp[(to.index(), q)], if fails { FAILED } else { value }).await?;
        if let Some(op) = op {
            at.write(&self.val[to.index()], F::apply(op, value)).await?; // even if it fails afterwards
        }
        Ok(!fails)
    }

    async fn put(&self, at: At<'_, M>, p: usize, cell: u8, op: Self::Op) -> Result<(), M::Error> {
        at.write(&self.cell[(p, usize::from(cell))], op).await
    }

    async fn take(&self, at: At<'_, M>, from: Buffer, p: usize) -> Result<u64, M::Error> {
        at.read(&self.resp[(from.index(), p)]).await
    }
}

/// Operations for `k` processes as passages: the entry section is one operation, and the exit
/// section does nothing. All processes may be inside at once.
#[derive(Debug)]
pub struct Calls<M: Memory, F: Combinable> {
    object: Universal<M, InWords<M, F>>,
    op: fn(Pid) -> F::Op,
}

impl<M: ReadWrite, F: Combinable<Value = u64>> Calls<M, F> {
    /// Each process calls its operation in every passage. Its number is its name.
    pub fn new(site: &Site<'_, M>, k: usize, pool: Pool, op: fn(Pid) -> F::Op) -> Self {
        Self { object: Universal::new(site, k, pool, InWords::new(site, k, pool, 0)), op }
    }
}

impl<M: CompareSwap, F: Combinable<Value = u64>> KExclusion<M> for Calls<M, F> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let op = (self.op)(p.pid());
        let Ok(_) = self.object.perform(p, p.pid().index(), Request(Some(op))).await?;
        Ok(())
    }

    async fn release(&self, _: &Process<M>, (): ()) -> Result<(), M::Error> {
        Ok(())
    }
}

/// The same for any number of processes, within k-assignment. A process inside has its result and
/// still has its name, which the exit section gives back.
#[derive(Debug)]
pub struct ResilientCalls<M: Memory, A, F: Combinable> {
    object: Resilient<M, A, InWords<M, F>>,
    op: fn(Pid) -> F::Op,
}

impl<M: ReadWrite, A, F: Combinable<Value = u64>> ResilientCalls<M, A, F> {
    /// Each process calls its operation in every passage. `names` builds a solution of
    /// k-assignment.
    pub fn new(
        site: &Site<'_, M>,
        k: usize,
        pool: Pool,
        op: fn(Pid) -> F::Op,
        names: impl FnOnce(&Site<'_, M>) -> A,
    ) -> Self {
        Self { object: Resilient::new(site, k, pool, InWords::new(site, k, pool, 0), names), op }
    }
}

impl<M: CompareSwap, A: KAssignment<M>, F: Combinable<Value = u64>> KExclusion<M> for ResilientCalls<M, A, F> {
    type Held = A::Held;
    type Refusal = A::Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<A::Held, Failure<M::Error, A::Refusal>> {
        let op = (self.op)(p.pid());
        let (_, held) = self.object.enter(p, Request(Some(op))).await?;
        Ok(held)
    }

    async fn release(&self, p: &Process<M>, held: A::Held) -> Result<(), M::Error> {
        self.object.leave(p, held).await
    }
}
