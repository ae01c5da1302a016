//! What a step needs to know and a machine does not know yet.
//!
//! Everything that happens in a [`Machine`] is look-up: where a process goes after what it saw,
//! what follows from an operation, which state stands for a class. So a step only reads, and
//! several threads can make steps at a time. If something is missing, the step is given up. The
//! [`World`] then finds it out, by running a text or by computing it once, and the step is made
//! again.

use super::calls::Event;
use super::canon::{Dead, Shift};
use super::locals::Doubt;
use super::memory::Seen;
use super::step::Told;
use super::world::{Machine, State, World};
use super::{Action, LocalId, Stepped, TextError};

/// Something that was never met before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// Where a process goes from a local state if it sees this.
    Child(usize, LocalId, Seen),
    /// What a canon needs to know of a local state.
    Facts(usize, LocalId),
    /// The local state that stands for a class of dead processes; this is the first.
    Dead(Dead, LocalId),
    /// The local state of smaller counters, which is this one.
    Shifted(usize, LocalId, Shift, LocalId),
    /// The numbers in what a process keeps.
    Remembered(usize, LocalId),
    /// The local states that are this one, with other names of processes.
    Images(usize, LocalId),
    /// What follows from a set of explanations.
    Call(u32, Event),
}

/// Why a step could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    Text(TextError),
    Missing(Missing),
}

impl From<TextError> for Halt {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl World {
    /// What a machine says, once it knows all that it needs for that.
    pub(crate) fn knowing<T>(&mut self, mut says: impl FnMut(&Machine) -> Result<T, Halt>) -> Result<T, TextError> {
        loop {
            match says(&self.machine) {
                Ok(answer) => return Ok(answer),
                Err(Halt::Text(error)) => return Err(error),
                Err(Halt::Missing(missing)) => self.learn(missing)?,
            }
        }
    }

    pub(crate) fn learn(&mut self, missing: Missing) -> Result<(), TextError> {
        match missing {
            Missing::Child(p, from, saw) => {
                let keep = self.rules().keep;
                self.machine.locals[p].learn(&self.sim, &*self.start, keep, from, saw)?;
            }
            Missing::Facts(p, at) => {
                let Machine { canon, locals, .. } = &mut self.machine;
                canon.iter_mut().for_each(|canon| canon.learn_facts(p, at, &locals[p]));
            }
            Missing::Dead(class, at) => self.learn_dead(class, at)?,
            Missing::Shifted(p, from, less, to) => self.machine.locals[p].learn_shifted(from, less, to),
            Missing::Remembered(p, at) => self.learn_remembered(p, at),
            Missing::Images(p, at) => self.learn_images(p, at)?,
            Missing::Call(set, event) => self.learn_call(set, event),
        }
        Ok(())
    }

    /// From here on, turns that fail are tried again only where [`settle`](Self::settle) is called
    /// for what is in doubt; or no longer.
    pub(crate) fn puts_off_doubts(&mut self, so: bool) {
        self.machine.locals.iter_mut().for_each(|locals| locals.doubts = so.then(Vec::new));
    }

    /// What came to be in doubt since the last call.
    pub(crate) fn take_doubts(&mut self) -> impl Iterator<Item = Doubt> {
        self.machine.locals.iter_mut().filter_map(|locals| locals.doubts.as_mut()).flat_map(std::mem::take)
    }

    /// Finds out whether a turn fails as often as it is made.
    ///
    /// # Errors
    /// If it does not: then the text remembers something from one turn to the next.
    pub(crate) fn settle(&self, doubt: &Doubt) -> Result<(), TextError> {
        doubt.settle(&self.sim, &*self.start)
    }

    /// Lets a process take its next step. A process that has stopped stays as it is. A read that
    /// overlaps a write returns the old value, and a choice picks the first.
    ///
    /// # Errors
    /// Returns an error if its text breaks the rules of replay.
    pub fn step(&mut self, state: &mut State, p: usize) -> Result<Stepped, TextError> {
        let stepped = self.act(state, Action::step(p))?;
        Ok(stepped.unwrap_or(Stepped { unchanged: true, ..Stepped::default() }))
    }

    /// Performs an action; `None`, with the state unchanged, if it cannot happen.
    ///
    /// # Errors
    /// Returns an error if a text breaks the rules of replay.
    pub fn act(&mut self, state: &mut State, action: Action) -> Result<Option<Stepped>, TextError> {
        let mut before = std::mem::take(&mut self.before);
        before.clone_from(state);
        let mut is_again = false;
        let stepped = self.knowing(|machine| {
            if std::mem::replace(&mut is_again, true) {
                state.clone_from(&before);
            }
            machine.act(state, action)
        });
        self.before = before;
        stepped
    }

    /// [`act`](Self::act), which also reports each access to shared variables after the first, and
    /// operations that begin and end.
    pub(crate) fn act_watched(
        &mut self,
        state: &mut State,
        action: Action,
        watch: &mut dyn FnMut(Told<'_>),
    ) -> Result<Option<Stepped>, TextError> {
        // Once without being watched, so that nothing is reported twice.
        self.act(&mut state.clone(), action)?;
        self.knowing(|machine| machine.act_watched(state, action, watch))
    }

    /// Whether no process can go on: some process is outside its remainder, and all such processes
    /// that have not crashed have only failing turns. Processes in their remainders need not start.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub fn is_deadlock(&mut self, state: &State) -> Result<bool, TextError> {
        self.knowing(|machine| machine.is_deadlock(state))
    }

    pub(crate) fn is_noisy(&mut self, state: &State) -> Result<bool, TextError> {
        self.knowing(|machine| machine.is_noisy(state))
    }

    pub(crate) fn has_two_at_a_word_of_one(&mut self, state: &State) -> Result<bool, TextError> {
        self.knowing(|machine| machine.has_two_at_a_word_of_one(state))
    }

    /// Whether a process, run alone, enters, whatever torn reads return.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub fn enters_alone(&mut self, state: &State, p: usize) -> Result<bool, TextError> {
        self.knowing(|machine| machine.enters_alone(state, p))
    }
}
