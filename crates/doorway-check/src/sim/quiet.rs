//! Whether a waiting process writes.

use super::learn::Halt;
use super::locals::{How, LocalId};
use super::memory::Seen;
use super::op::Op;
use super::world::{Machine, State};

impl Machine {
    /// Whether some process, run alone and changing nothing, goes round in a loop that writes.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub(crate) fn is_noisy(&self, state: &State) -> Result<bool, Halt> {
        for p in 0..self.processes() {
            if !self.has_crashed(state, p) && self.writes_to_wait(state, p)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same for one process. A process that chooses, or that changes something, does not wait.
    fn writes_to_wait(&self, state: &State, p: usize) -> Result<bool, Halt> {
        let mut at = state.locals[p];
        let mut vars = state.vars.clone();
        let mut been: Vec<(LocalId, bool)> = Vec::new();
        let (mut steps, mut writes) = (0, false);
        loop {
            if let Some(before) = been.iter().position(|(local, _)| *local == at) {
                return Ok(been[before..].iter().any(|(_, wrote)| *wrote));
            }
            let position = &self.locals[p].nodes[at as usize].position;
            let op = position.op;
            // Nothing changes in the loop, so each of its steps starts in a state that is examined
            // too. It is enough to look at loops whose first step writes.
            steps += usize::from(!position.joined);
            if steps > 1 && !writes {
                return Ok(false);
            }
            let Some(v) = op.var() else { return Ok(false) };
            let old = state.vars[v as usize];
            let value = op.apply(self.layout(), &mut vars);
            if vars[v as usize] != old {
                return Ok(false);
            }
            // For other instructions, a memory can tell an unchanged value from a change.
            let wrote = match op {
                Op::Write(..) | Op::FetchAdd(..) => true,
                Op::CompareSwap(_, expected, _) => expected == old,
                _ => false,
            };
            writes |= wrote;
            been.push((at, wrote));
            let seen = Seen { value, gave_up: false };
            let child = self.locals[p].child(at, seen)?;
            if child.how == How::PassageEnded {
                return Ok(false);
            }
            at = child.to;
        }
    }
}
