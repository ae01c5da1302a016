//! Something for each pair of processes.

use crate::memory::{Label, Memory, Pid, Site};
use alloc::vec::Vec;

/// One `T` for each two of `n` processes: GRAPH, RANGE and ID.
#[derive(Debug)]
pub struct Pairs<T>(Vec<T>);

impl<T> Pairs<T> {
    /// Builds one for each pair, each on a site of its own. Statements are counted from `first`.
    pub fn new<M: Memory>(
        site: &Site<'_, M>,
        n: usize,
        first: Label,
        one: impl Fn(&Site<'_, M>, Label, Pid, Pid) -> T,
    ) -> Self {
        let pairs = (0..n).flat_map(|high| (0..high).map(move |low| (low, high)));
        let built = pairs
            .enumerate()
            .map(|(i, (low, high))| one(&site.part("fork", Some(i)), first, Pid::new(low), Pid::new(high)));
        Self(built.collect())
    }

    /// The one of these two processes, in any order; `None` for a process and itself.
    #[must_use]
    pub fn of(&self, one: usize, another: usize) -> Option<&T> {
        let (low, high) = (one.min(another), one.max(another));
        if low == high { None } else { self.0.get(high * (high - 1) / 2 + low) }
    }
}
