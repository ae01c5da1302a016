//! The plain memory behind the words of the universal construction: states, operations and
//! responses, of any type.

use super::{Buffer, Pool};
use crate::memory::{At, Memory};
use core::future::Future;

/// Where to find an operation that is to be applied.
#[derive(Debug)]
pub enum Asked<'a, Op> {
    /// Its caller holds it.
    InHand(&'a Op),
    /// It was announced, and is in this cell of its caller.
    InCell(u8),
}

/// States in buffers, each with one response for each name, and cells with operations. This is
/// plain memory, which an implementation need not protect.
///
/// The [text](super::Universal) guarantees that no process writes memory while another reads or
/// writes it (R3). Any other caller must guarantee the same.
pub trait Store<M: Memory> {
    /// An operation.
    type Op;
    /// The result of an operation.
    type Response;
    /// What remains of a copy that failed.
    type Panic;

    /// The number of names and their buffers, if all stores of this type have the same. A compiler
    /// can then optimise more.
    const SIZES: Option<(usize, Pool)> = None;

    /// Whether [`copy`](Self::copy) can fail at all.
    const COPIES_CAN_FAIL: bool;

    /// A value that identifies an operation, for checkers.
    fn tag(op: &Self::Op) -> u64;

    /// A value that identifies a result, for checkers.
    fn told(result: &Result<Self::Response, Self::Panic>) -> u64;

    /// An operation that changes nothing.
    fn nothing() -> Self::Op;

    /// Copies the state in `from` to `to`.
    fn copy(
        &self,
        at: At<'_, M>,
        from: Buffer,
        to: Buffer,
    ) -> impl Future<Output = Result<Result<(), Self::Panic>, M::Error>>;

    /// Applies `q`'s operation to the state in `to`, and stores its response there. Returns `false`
    /// if the operation failed. The response then says so, whatever the operation has done to the
    /// state.
    fn apply(
        &self,
        at: At<'_, M>,
        to: Buffer,
        q: usize,
        op: Asked<'_, Self::Op>,
    ) -> impl Future<Output = Result<bool, M::Error>>;

    /// Puts an operation into one of `p`'s cells.
    fn put(&self, at: At<'_, M>, p: usize, cell: u8, op: Self::Op) -> impl Future<Output = Result<(), M::Error>>;

    /// Takes `p`'s response out of a buffer.
    fn take(&self, at: At<'_, M>, from: Buffer, p: usize) -> impl Future<Output = Result<Self::Response, M::Error>>;

    /// Called when another process was faster and the operation has been announced. Pauses for a
    /// moment to let others go ahead. The pause must end by itself.
    #[inline(always)]
    fn pause(&self) {}
}
