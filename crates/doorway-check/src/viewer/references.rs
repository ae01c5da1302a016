//! The remote references of every process of a run, on a cache-coherent and on a distributed
//! machine.

use crate::sim::{CacheLine, Layout, Op, Reference};
use doorway_core::memory::{Home, Pid};
use doorway_core::registry::CostModel;

/// The caches of all processes.
#[derive(Debug)]
pub(super) struct Caches {
    /// For each process, the variables in its cache.
    lines: Vec<Vec<CacheLine>>,
}

impl Caches {
    pub(super) fn new(processes: usize, layout: &Layout) -> Self {
        Self { lines: vec![vec![CacheLine::default(); layout.vars().len()]; processes] }
    }

    /// What an access of a process costs it: in the papers' CC model, and in DSM. Updates all
    /// caches.
    pub(super) fn charge(&mut self, layout: &Layout, p: usize, op: Op) -> [u32; 2] {
        let Some(v) = op.var() else { return [0; 2] };
        if layout.var(v).private {
            return [0; 2];
        }
        let at_home = |q: usize| layout.var(v).home == Home::Of(Pid::new(q));
        let mut cost = 0;
        for (q, lines) in self.lines.iter_mut().enumerate() {
            let to = Reference { own: q == p, reads: matches!(op, Op::Read(_)), at_home: at_home(q) };
            cost += u32::from(lines[v as usize].charge(CostModel::Cc, to));
        }
        [cost, u32::from(!at_home(p))]
    }
}
