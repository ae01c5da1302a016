//! The local states of one process, discovered by running its text: a trie of histories.
//!
//! A process is deterministic, so its local state *is* the list of values its accesses have seen since its passage began. Each list is
//! a node; its children are by the value seen next. The text runs only when a new node appears; everything else is
//! table look-up. Three things keep the trie small:
//!
//! - a failed turn of a wait leads back to the node of its loop head;
//! - the end of a passage leads back to the root;
//! - nodes with equal `keep` keys are one node.

use super::TextError;
use super::layout::Part;
use super::memory::{Position, Ran, Running, Seen, Sim};
use super::op::Op;
use super::{Keep, Phase};
use doorway_core::memory::{Label, Pid};
use rustc_hash::FxHashMap;

/// A local state of one process.
pub type LocalId = u32;

/// In its remainder, before its next passage.
pub(super) const ROOT: LocalId = 0;
/// All passages are done.
pub(super) const DONE: LocalId = 1;

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Child {
    pub(super) to: LocalId,
    pub(super) how: How,
}

/// What kind of step it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    On,
    FailedTurn { abortable: bool },
    PassageEnded,
}

#[derive(Debug)]
pub(super) struct Node {
    parent: LocalId,
    depth: u32,
    came: Seen,
    pub(super) position: Position,
    kids: Vec<(Seen, Child)>,
}

impl Node {
    /// Where the process is in a part: the statement it rests at there or is about to do, 0 if it is not in it.
    pub(super) fn label_in(&self, part: Part) -> Label {
        if let Some((_, label)) = self.position.rests.iter().find(|(p, _)| *p == part) {
            return *label;
        }
        if self.position.part == part && self.position.phase != Phase::Remainder { self.position.label } else { 0 }
    }
}

/// Two histories that `keep` declared to be one local state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Merge {
    into: LocalId,
    history: Vec<Seen>,
}

/// All local states of one process found so far.
#[derive(Debug)]
pub(super) struct Locals {
    pid: Pid,
    pub(super) nodes: Vec<Node>,
    kept: FxHashMap<String, LocalId>,
    merges: Vec<Merge>,
    pub(super) runs: u64,
    longest: usize,
}

/// How the text of a passage is started, for a process.
pub(super) type Start = dyn Fn(Pid) -> Running;

impl Locals {
    pub(super) fn new(sim: &Sim, start: &Start, pid: Pid, longest: usize) -> Result<Self, TextError> {
        let mut locals =
            Self { pid, nodes: Vec::new(), kept: FxHashMap::default(), merges: Vec::new(), runs: 0, longest };
        let Ran::Asks(position, _) = locals.run(sim, start, Vec::new())? else { return Err(TextError::Lost(pid)) };
        let stopped = Position { op: Op::Stop, ..position.clone() };
        for position in [position, stopped] {
            let came = Seen { value: 0, gave_up: false };
            locals.nodes.push(Node { parent: ROOT, depth: 0, came, position, kids: Vec::new() });
        }
        Ok(locals)
    }

    /// Where the process goes from `from` when its access sees `saw`.
    #[inline]
    pub(super) fn child(
        &mut self,
        sim: &Sim,
        start: &Start,
        keep: Keep,
        from: LocalId,
        saw: Seen,
    ) -> Result<Child, TextError> {
        match self.nodes[from as usize].kids.iter().find(|(value, _)| *value == saw) {
            Some(&(_, child)) => Ok(child),
            None => self.discover(sim, start, keep, from, saw),
        }
    }

    #[cold]
    fn discover(&mut self, sim: &Sim, start: &Start, keep: Keep, from: LocalId, saw: Seen) -> Result<Child, TextError> {
        let mut history = self.history(from);
        history.push(saw);
        let depth = history.len();
        let label = self.nodes[from as usize].position.label;
        if depth > self.longest {
            return Err(TextError::TooLong { pid: self.pid, label, accesses: self.longest });
        }
        let child = match self.run(sim, start, history.clone())? {
            Ran::Ended => Child { to: ROOT, how: How::PassageEnded },
            Ran::Lost => return Err(TextError::Lost(self.pid)),
            Ran::FailedTurn(head, abortable) => {
                if head >= depth {
                    return Err(TextError::EmptyTurn { pid: self.pid, label });
                }
                Child { to: self.ancestor(from, head), how: How::FailedTurn { abortable } }
            }
            Ran::Asks(position, key) => {
                let key = key.filter(|_| keep != Keep::Ignored);
                let known = key.as_ref().and_then(|k| self.kept.get(k)).copied();
                let to = known.unwrap_or_else(|| {
                    let id = self.nodes.len() as LocalId;
                    self.nodes.push(Node { parent: from, depth: depth as u32, came: saw, position, kids: Vec::new() });
                    if let Some(key) = key {
                        self.kept.insert(key, id);
                    }
                    id
                });
                if keep == Keep::CrossChecked && known.is_some() {
                    self.merges.push(Merge { into: to, history });
                }
                Child { to, how: How::On }
            }
        };
        self.nodes[from as usize].kids.push((saw, child));
        Ok(child)
    }

    /// Runs the text twice: replay rests on its being deterministic.
    fn run(&mut self, sim: &Sim, start: &Start, history: Vec<Seen>) -> Result<Ran, TextError> {
        let ran = sim.run(history.clone(), &mut || start(self.pid));
        self.runs += 1;
        let again = sim.run(history, &mut || start(self.pid));
        if ran == again { Ok(ran) } else { Err(TextError::NotDeterministic(self.pid)) }
    }

    pub(super) fn history(&self, mut at: LocalId) -> Vec<Seen> {
        let mut history = Vec::with_capacity(self.nodes[at as usize].depth as usize + 1);
        while at != ROOT {
            history.push(self.nodes[at as usize].came);
            at = self.nodes[at as usize].parent;
        }
        history.reverse();
        history
    }

    fn ancestor(&self, mut at: LocalId, depth: usize) -> LocalId {
        while self.nodes[at as usize].depth as usize > depth {
            at = self.nodes[at as usize].parent;
        }
        at
    }

    /// Runs both histories of each merge forward on the same answers, `depth` accesses deep, and compares what they ask for.
    /// Answers are those that the search has seen. Returns how many continuations were compared.
    pub(super) fn cross_check(&mut self, sim: &Sim, start: &Start, depth: usize) -> Result<u64, TextError> {
        let mut compared = 0;
        for merge in std::mem::take(&mut self.merges) {
            let mut todo = vec![(merge.into, merge.history, depth)];
            while let Some((node, history, left)) = todo.pop() {
                let here = self.nodes[node as usize].position.clone();
                compared += 1;
                match self.run(sim, start, history.clone())? {
                    Ran::Asks(position, _) if position == here => {}
                    _ => {
                        let merged = &self.nodes[merge.into as usize].position;
                        return Err(TextError::KeepHides { pid: self.pid, label: merged.label, later: here.label });
                    }
                }
                if left == 0 {
                    continue;
                }
                for (saw, child) in self.nodes[node as usize].kids.clone() {
                    let mut longer = history.clone();
                    longer.push(saw);
                    match (child.how, self.run(sim, start, longer.clone())?) {
                        // A failed turn leads back to a loop head, which was compared on the way here.
                        (How::PassageEnded, Ran::Ended) | (How::FailedTurn { .. }, Ran::FailedTurn(..)) => {}
                        (How::On, Ran::Asks(..)) => todo.push((child.to, longer, left - 1)),
                        _ => {
                            let merged = &self.nodes[merge.into as usize].position;
                            return Err(TextError::KeepHides { pid: self.pid, label: merged.label, later: here.label });
                        }
                    }
                }
            }
        }
        Ok(compared)
    }

    /// Bytes held, roughly.
    pub(super) fn bytes(&self) -> usize {
        let node = size_of::<Node>() + 2 * size_of::<(Seen, Child)>();
        self.nodes.capacity() * node + self.kept.len() * 64 + self.merges.len() * 128
    }
}
