//! The arbitration tree with faults, of nodes of any kind.

use super::two_process::{self, TwoProcess};
use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Pid, Process, Site, decl};
use doorway_core::mutex::{Node, Side, levels};
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    LeafFirst,
    NoRoot,
    NoLeaf,
    /// Of Yang and Anderson's nodes, which are the only ones with spin locations.
    OneSpin,
    AllLeft,
    NoLeave,
}

pub(super) struct ArbitrationTree<N> {
    part: Part,
    levels: Vec<Vec<Option<N>>>,
    fault: Fault,
}

impl ArbitrationTree<TwoProcess> {
    pub(super) fn of_two_process(site: &Site<'_, Sim>, n: usize, fault: Fault, node: two_process::Fault) -> Self {
        let one_for_all: Option<Rc<[SimCell<u64>]>> =
            (fault == Fault::OneSpin).then(|| site.row("P for all levels", n, |i| decl(0).home(Pid::new(i))).into());
        Self::new(site, n, fault, |site, members| TwoProcess::between(site, members, one_for_all.clone(), node))
    }
}

impl<N> ArbitrationTree<N> {
    pub(super) fn new(
        site: &Site<'_, Sim>,
        n: usize,
        fault: Fault,
        node: impl Fn(&Site<'_, Sim>, Range<usize>) -> N,
    ) -> Self {
        let height = levels(n);
        let build = |level: usize| {
            let width = 2 << level;
            let here = |v: usize| {
                let members = v * width..n.min((v + 1) * width);
                let is_contested = members.len() > width / 2;
                is_contested.then(|| node(&site.part("node", Some((1 << (height - 1 - level)) + v)), members))
            };
            (0..n.div_ceil(width)).map(here).collect()
        };
        Self { part: site.here(), levels: (0..height).map(build).collect(), fault }
    }

    pub(super) fn path(&self, p: usize) -> Vec<(usize, &N, Side)> {
        let root = self.levels.len().saturating_sub(1);
        let is_skipped = |level: usize| match self.fault {
            Fault::NoRoot => level == root,
            Fault::NoLeaf => level == 0,
            _ => false,
        };
        let node = |level: usize| {
            let node = self.levels[level].get(p >> (level + 1))?.as_ref()?;
            let left = p >> level & 1 == 0 || self.fault == Fault::AllLeft;
            Some((level, node, if left { Side::Left } else { Side::Right }))
        };
        (0..self.levels.len()).filter(|&level| !is_skipped(level)).filter_map(node).collect()
    }
}

impl<N: Node<Sim>> KExclusion<Sim> for ArbitrationTree<N> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let here = p.on(self.part);
        for (level, node, side) in self.path(p.pid().index()) {
            here.keep(1, &level);
            here.part(&level);
            node.enter(p, side).await?;
            here.part_done();
        }
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let mut path = self.path(p.pid().index());
        if self.fault != Fault::LeafFirst {
            path.reverse();
        }
        if self.fault == Fault::NoLeave {
            path.truncate(1);
        }
        for (level, node, side) in path {
            here.keep(2, &level);
            here.part(&level);
            node.leave(p, side).await?;
            here.part_done();
        }
        Ok(())
    }
}
