//! Registers that are not atomic: what overlapping reads return, and what overlapping writes leave
//! behind.

use super::TextError;
use super::layout::{Bounds, VarId};
use super::learn::Halt;
use super::op::Op;
use super::world::{Machine, State, is_set};
use doorway_core::memory::{Pid, Register};

impl Machine {
    /// The values that other processes are writing to a variable.
    pub(super) fn writes_in_progress(&self, state: &State, reader: usize, v: VarId) -> impl Iterator<Item = u64> {
        (0..self.processes()).filter(move |&q| q != reader && is_set(state.writing, q)).filter_map(move |q| match self
            .next(state, q)
        {
            Op::Write(w, x) if w == v => Some(x),
            _ => None,
        })
    }

    pub(super) fn torn_values(&self, state: &State, reader: usize, v: VarId) -> Vec<u64> {
        let writes: Vec<u64> = self.writes_in_progress(state, reader, v).collect();
        self.layout().var(v).torn(self.kind(v), state.vars[v as usize], &writes, self.bounds())
    }

    /// Every value that the declaration of a variable allows, if it says.
    pub(super) fn all_values(&self, v: VarId) -> Vec<u64> {
        self.layout().var(v).torn(Register::Safe, self.layout().var(v).init, &[], self.bounds())
    }

    fn bounds(&self) -> Bounds {
        Bounds { processes: self.processes() as u64, largest: self.rules().largest_natural(self.processes()) }
    }

    /// An error if the next access of a process may see, or leave behind, undeclared values.
    pub(super) fn invents_nothing(&self, state: &State, p: usize) -> Result<(), Halt> {
        let op = self.next(state, p);
        let (v, writes) = match op {
            Op::Read(v) if state.writing != 0 => (v, self.writes_in_progress(state, p, v).collect()),
            Op::Write(v, x) if self.kind(v) == Register::Safe && is_set(state.overlapped, p) => (v, vec![x]),
            _ => return Ok(()),
        };
        if !writes.is_empty() && self.layout().var(v).invents(self.kind(v), state.vars[v as usize], &writes) {
            return Err(Halt::Text(TextError::NoDomain { pid: Pid::new(p), label: self.next_at(state, p).1 }));
        }
        Ok(())
    }

    /// What a variable may hold after a write of `new` that overlapped others: on a safe register
    /// anything, otherwise one of the values written.
    pub(super) fn left_behind(&self, state: &State, v: VarId, new: u64) -> Vec<u64> {
        let kind = if self.kind(v) == Register::Safe { Register::Safe } else { Register::Regular };
        self.layout().var(v).torn(kind, state.vars[v as usize], &[new], self.bounds())
    }

    /// Whether other writes in progress may lose against a write of `x` that ends now.
    ///
    /// A regular write that left another's value in place came before that one. If it counted
    /// against writes still in progress, these could lose to a value that was completely written
    /// before they began. Overlapping safe writes spoil each other, whatever they leave behind.
    pub(super) fn takes_effect(&self, state: &State, v: VarId, x: u64) -> bool {
        match self.kind(v) {
            Register::Safe => true,
            Register::Monotone | Register::Regular => state.vars[v as usize] == x,
            Register::Atomic => false,
        }
    }

    /// Whether it is a write in two steps.
    pub(super) fn is_torn_write(&self, op: Op) -> bool {
        matches!(op, Op::Write(v, _) if self.kind(v) < Register::Atomic)
    }

    /// A block is one step, so nothing in it can be torn.
    pub(super) fn is_whole(&self, state: &State, p: usize) -> Result<(), Halt> {
        let position = &self.node(state, p).position;
        let torn = position.in_block && position.op.var().is_some_and(|v| self.kind(v) < Register::Atomic);
        if torn { Err(Halt::Text(TextError::TornBlock { pid: Pid::new(p), label: position.label })) } else { Ok(()) }
    }
}
