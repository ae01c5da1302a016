//! What lies behind the words of the universal construction: states, operations and responses, of any type.

use super::{Buffer, Pool};
use crate::memory::{At, Memory};
use core::future::Future;

/// Where an operation is that is to be applied.
#[derive(Debug)]
pub enum Asked<'a, Op> {
    /// Its caller has it.
    InHand(&'a Op),
    /// It was announced, and is in this cell of its caller's.
    InCell(u8),
}

/// States in buffers, each with a response for each name, and cells with operations: plain memory, which whoever implements this need not protect.
///
/// The [text](super::Universal) sees to it that nothing is written while anybody else reads or writes it (R3); whoever else calls these must.
pub trait Store<M: Memory> {
    /// What can be asked for.
    type Op;
    /// What comes of it.
    type Response;
    /// What is left of a copy that failed.
    type Panic;

    /// How many names there are, and their buffers, if all stores of this type are made for as many: a compiler can do more with it then.
    const SIZES: Option<(usize, Pool)> = None;

    /// Whether [`copy`](Self::copy) can fail at all.
    const COPIES_CAN_FAIL: bool;

    /// Tells operations apart, for checkers.
    fn tag(op: &Self::Op) -> u64;

    /// Tells results apart, likewise.
    fn told(result: &Result<Self::Response, Self::Panic>) -> u64;

    /// An operation that changes nothing.
    fn nothing() -> Self::Op;

    /// The state in `to` becomes that in `from`.
    fn copy(
        &self,
        at: At<'_, M>,
        from: Buffer,
        to: Buffer,
    ) -> impl Future<Output = Result<Result<(), Self::Panic>, M::Error>>;

    /// Applies `q`'s operation to the state in `to`; its response is there from now on. `false` if it failed: then its response says so, whatever it has done to the state.
    fn apply(
        &self,
        at: At<'_, M>,
        to: Buffer,
        q: usize,
        op: Asked<'_, Self::Op>,
    ) -> impl Future<Output = Result<bool, M::Error>>;

    /// Puts an operation into a cell of `p`'s.
    fn put(&self, at: At<'_, M>, p: usize, cell: u8, op: Self::Op) -> impl Future<Output = Result<(), M::Error>>;

    /// Takes `p`'s response out of a buffer.
    fn take(&self, at: At<'_, M>, from: Buffer, p: usize) -> impl Future<Output = Result<Self::Response, M::Error>>;

    /// Somebody else was faster, and the operation has been announced: a moment to let others go ahead. It must end by itself.
    #[inline(always)]
    fn pause(&self) {}
}
