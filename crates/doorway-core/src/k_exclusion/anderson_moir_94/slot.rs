//! What a chain is made of.

use crate::Failure;
use crate::memory::{Memory, Process};
use crate::registry::Sizes;
use core::fmt::Debug;
use core::ops::Range;

/// A `(j+1, j)`-exclusion: the stage before lets in at most `j + 1` processes, and the slot holds
/// back one of them whenever `j` have passed.
///
/// Three figures are slots: [`CcSlot`](super::CcSlot),
/// [`DsmUnboundedSlot`](super::DsmUnboundedSlot) and [`DsmSlot`](super::DsmSlot). Everything built
/// of them (chains, trees, fast paths) is the same text for all three.
pub trait Slot<M: Memory> {
    /// Why the slot may refuse a process.
    type Refusal: Debug;

    /// The part of the algorithm that this slot is.
    fn part(&self) -> M::Part;

    /// The entry section.
    ///
    /// # Cancel safety
    /// Dropping this future part-way *is* a crash of `p`. It uses up one of the `j - 1` crashes
    /// that the slot tolerates.
    ///
    /// # Errors
    /// Returns an error if an access failed; `p` then stands where it stood. If `p` is refused, it
    /// has not entered the slot.
    fn acquire(&self, p: &Process<M>) -> impl Future<Output = Result<(), Failure<M::Error, Self::Refusal>>>;

    /// The exit section.
    ///
    /// # Errors
    /// Returns an error if an access failed; `p` then stands where it stood, as after a crash.
    fn release(&self, p: &Process<M>) -> impl Future<Output = Result<(), M::Error>>;
}

/// A stage of a larger solution: which processes can come to it, how many of them at once, and how
/// many it lets pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// The processes that can come to it.
    pub members: Range<usize>,
    /// How many of them can be in it at once.
    pub inputs: usize,
    /// How many it lets pass.
    pub k: usize,
}

impl Stage {
    /// The only stage of a solution for `n` processes.
    #[must_use]
    pub fn whole(n: usize, k: usize) -> Self {
        Self { members: 0..n, inputs: n, k }
    }

    /// A stage that every process can come to, but at most `inputs` at once.
    #[must_use]
    pub fn before(sizes: Sizes, inputs: usize) -> Self {
        Self { members: 0..sizes.n, inputs: inputs.min(sizes.n), k: sizes.k }
    }
}
