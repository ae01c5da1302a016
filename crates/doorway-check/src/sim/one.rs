//! Whether only one process waits at a time where the type of a variable says so.

use super::learn::Halt;
use super::op::Op;
use super::step::Turn;
use super::world::{Machine, State};

impl Machine {
    /// Whether there are variables for which one process waits at a time, as their types say.
    pub(crate) fn has_words_of_one(&self) -> bool {
        self.layout().vars().iter().any(|v| v.one_waits)
    }

    /// Whether two processes wait for such a variable, and neither wait is over: each would read
    /// it, and find that it must go on waiting.
    ///
    /// Only processes at the beginning of a turn are examined. A process in a turn that will fail
    /// has changed nothing, and can go on alone until it is there.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub(crate) fn has_two_at_a_word_of_one(&self, state: &State) -> Result<bool, Halt> {
        let may_wait = |world: &Self, p: usize| {
            matches!(world.next(state, p), Op::Read(_) | Op::CompareSwap(..)) && !world.has_crashed(state, p)
        };
        if (0..self.processes()).filter(|&p| may_wait(self, p)).nth(1).is_none() {
            return Ok(false);
        }
        let mut awaited = Vec::new();
        for p in 0..self.processes() {
            if !may_wait(self, p) {
                continue;
            }
            let Turn::Fails(mut reads) = self.turn(state, p)? else { continue };
            reads.retain(|&v| self.layout().var(v).one_waits);
            if reads.iter().any(|v| awaited.contains(v)) {
                return Ok(true);
            }
            awaited.append(&mut reads);
        }
        Ok(false)
    }
}
