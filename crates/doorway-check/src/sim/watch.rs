//! Monitors: your own automata, which watch each step, and whose states are part of the searched
//! state.

use super::step::{Action, Stepped};
use super::world::{Machine, State, World};
use crate::Property;
use crate::property::View;
use doorway_core::memory::Word;
use std::any::TypeId;
use std::sync::Arc;

/// A deterministic automaton that watches every step of a run.
///
/// Its state is small, so it is part of each state that is searched: two states of the machine that
/// the monitor tells apart are two states. It must depend on nothing but what it is given. If it
/// counts without a bound, the search has no end.
///
/// ```
/// use doorway_check::prelude::*;
/// use doorway_check::property::{Monitor, Seen};
///
/// /// Rejects a process that enters twice in a row while another one waits.
/// struct Alternates;
///
/// impl Monitor for Alternates {
///     type State = Option<Pid>;
///     fn initial(&self) -> Option<Pid> {
///         None
///     }
///     fn step(&self, last: Option<Pid>, seen: &Seen<'_>) -> Option<Option<Pid>> {
///         let p = Pid::new(seen.process());
///         let waits = |q: usize| seen.before.past_doorway(q) && seen.before.phase(q) == Phase::Entry;
///         let unfair = last == Some(p) && seen.before.processes().any(|q| q != p.index() && waits(q));
///         match seen.enters() {
///             true if unfair => None,
///             true => Some(Some(p)),
///             false => Some(last),
///         }
///     }
/// }
///
/// lock! {
///     struct TasLock: TestAndSet { taken: bool = false }
///     acquire(self, p) {
///         p.mark(Mark::DoorwayEnds);
///         p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?;
///     }
///     release(self, p) {
///         p.at(2).write(&self.taken, false).await?;
///     }
/// }
/// let tas = Check::lock("tas", 2, TasLock::new).property(Property::monitor("alternates", Alternates));
/// assert_eq!(tas.run()?.verdict("alternates").holds, Some(false));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
pub trait Monitor: Send + Sync + 'static {
    /// What it remembers.
    type State: Word;

    /// Its state before the first step.
    fn initial(&self) -> Self::State;

    /// Its state after a step; `None` if it rejects the step. After that it stays as it was.
    fn step(&self, state: Self::State, seen: &Seen<'_>) -> Option<Self::State>;
}

/// A step, as a [`Monitor`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The state before it.
    pub before: View<'a>,
    /// The state after it. Monitors in view are as they were before it.
    pub after: View<'a>,
    /// What happened, and to which process.
    pub action: Action,
    /// Its effect.
    pub stepped: Stepped,
}

impl Seen<'_> {
    /// The process that took the step, or to which something happened.
    #[must_use]
    pub fn process(&self) -> usize {
        self.action.process
    }

    /// Whether the process entered its critical section.
    #[must_use]
    pub fn enters(&self) -> bool {
        self.stepped.entered
    }

    /// Whether its passage ended.
    #[must_use]
    pub fn ends_passage(&self) -> bool {
        self.stepped.passage_ended
    }
}

/// A monitor whose states are words.
pub(crate) trait Watcher: Send + Sync {
    fn name(&self) -> &str;
    fn initial(&self) -> u64;
    fn step(&self, word: u64, seen: &Seen<'_>) -> Option<u64>;
    fn show(&self, word: u64) -> String;
    fn remembers(&self) -> TypeId;
}

/// A monitor under its name.
pub(crate) struct Watches<M> {
    pub(crate) name: String,
    pub(crate) monitor: M,
}

impl<M: Monitor> Watcher for Watches<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn initial(&self) -> u64 {
        self.monitor.initial().pack()
    }

    fn step(&self, word: u64, seen: &Seen<'_>) -> Option<u64> {
        self.monitor.step(M::State::unpack(word), seen).map(Word::pack)
    }

    fn show(&self, word: u64) -> String {
        super::layout::show::<M::State>(word)
    }

    fn remembers(&self) -> TypeId {
        TypeId::of::<M::State>()
    }
}

impl World {
    /// Watches with the monitors of these properties, beside those that it has.
    pub(super) fn watch_with<'a>(&mut self, properties: impl IntoIterator<Item = &'a Property>) {
        for watcher in properties.into_iter().filter_map(Property::watcher) {
            if self.machine.place_of(watcher).is_none() {
                self.machine.watchers.push(Arc::clone(watcher));
            }
        }
    }
}

impl Machine {
    pub(crate) fn monitors(&self) -> &[Arc<dyn Watcher>] {
        &self.watchers
    }

    /// The place of a monitor among those of this machine.
    pub(crate) fn place_of(&self, watcher: &Arc<dyn Watcher>) -> Option<usize> {
        self.watchers.iter().position(|known| Arc::ptr_eq(known, watcher))
    }

    /// Whether a step was rejected by this monitor.
    pub(crate) fn is_rejected(&self, watcher: &Arc<dyn Watcher>, stepped: Stepped) -> bool {
        self.place_of(watcher).is_some_and(|at| stepped.rejected >> at & 1 == 1)
    }

    /// Shows the step to all monitors.
    pub(super) fn show_step(&self, before: &State, state: &mut State, action: Action, stepped: &mut Stepped) {
        for (at, watcher) in self.watchers.iter().enumerate() {
            let [was, is] = [before, &*state].map(|state| View::new(self, state));
            let seen = Seen { before: was, after: is, action, stepped: *stepped };
            match watcher.step(before.monitors[at], &seen) {
                Some(word) => state.monitors[at] = word,
                None => stepped.rejected |= 1 << at,
            }
        }
    }
}
