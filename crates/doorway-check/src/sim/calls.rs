//! Operations of an object, called by processes: whether some order of them explains their results.
//!
//! A text says when an operation begins and ends ([`invokes`](doorway_core::memory::Here::invokes),
//! [`responds`](doorway_core::memory::Here::responds)). The machine then keeps, as part of its
//! state, *every* order in which the operations called so far can have taken effect. Each such
//! explanation is a state of the sequential object and, for each process, whether its operation has
//! taken effect, and with which result. An operation takes effect between its first access and its
//! last. A result keeps only the explanations that give it. If none is left, no order explains what
//! happened: the object is not linearizable (Herlihy and Wing, *Linearizability: A Correctness
//! Condition for Concurrent Objects*, TOPLAS 1990).
//!
//! This is exact for all histories, of any length: nothing is guessed and nothing is forgotten. If
//! the object has finitely many states, there are finitely many such sets, so passages need no
//! bound.
//!
//! A process that crashes in an operation leaves it behind: it may take effect at any later time,
//! or never. A process that goes on without a result also leaves its operation behind. If it later
//! leaves another one behind, the first can no longer take effect.

use super::learn::{Halt, Missing};
use super::world::{Machine, State, World};
use crate::Property;
use doorway_core::memory::Word;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::hash::Hash;

/// An object as it would behave if operations came one after the other.
///
/// ```
/// use doorway_check::sim::Sequential;
///
/// /// Adds, and returns the old value.
/// struct Counter;
///
/// impl Sequential for Counter {
///     type State = u64;
///     type Op = u64;
///     type Response = u64;
///     fn initial(&self) -> u64 {
///         0
///     }
///     fn apply(&self, state: &u64, delta: u64) -> (u64, u64) {
///         (state + delta, *state)
///     }
/// }
/// assert_eq!(Counter.apply(&3, 2), (5, 3));
/// ```
pub trait Sequential: Send + Sync + 'static {
    /// Its state.
    type State: Clone + Eq + Hash + Debug;
    /// An operation, as the text [invokes](doorway_core::memory::Here::invokes) it.
    type Op: Word;
    /// A result, as the text [responds](doorway_core::memory::Here::responds) with it.
    type Response: Word;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// The state after an operation, and its result.
    fn apply(&self, state: &Self::State, op: Self::Op) -> (Self::State, Self::Response);
}

/// A sequential object whose states are numbers.
pub(crate) trait Object {
    /// The state after this operation, and its result. The initial state is 0.
    fn apply(&mut self, state: u32, op: u64) -> (u32, u64);
}

/// A [`Sequential`] whose states have numbers.
pub(crate) struct Numbered<S: Sequential> {
    spec: std::sync::Arc<S>,
    states: Vec<S::State>,
    known: FxHashMap<S::State, u32>,
}

impl<S: Sequential> Numbered<S> {
    pub(crate) fn new(spec: std::sync::Arc<S>) -> Self {
        let initial = spec.initial();
        Self { spec, states: vec![initial.clone()], known: FxHashMap::from_iter([(initial, 0)]) }
    }
}

impl<S: Sequential> Object for Numbered<S> {
    fn apply(&mut self, state: u32, op: u64) -> (u32, u64) {
        let (next, response) = self.spec.apply(&self.states[state as usize], S::Op::unpack(op));
        let fresh = self.states.len() as u32;
        let id = *self.known.entry(next.clone()).or_insert(fresh);
        if id == fresh {
            self.states.push(next);
        }
        (id, response.pack())
    }
}

/// The operation of one process, in one explanation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Call {
    /// It is in no operation, or in one that does not matter any more.
    None,
    /// Its operation has not taken effect yet.
    Pending(u64),
    /// Its operation has taken effect, and must return this.
    Done(u64),
    /// Left behind: it may still take effect.
    Orphan(u64),
}

/// One explanation of what happened: the state of the object, and the progress of the operations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Explanation {
    object: u32,
    /// For each process its current operation, followed by the operation that each has left behind.
    calls: Box<[Call]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    Invokes(usize, u64),
    Responds(usize, u64),
    /// Without a result: the process crashes, or says so.
    Abandons(usize),
}

/// No explanation is left.
const UNEXPLAINED: u32 = 0;
/// Nothing has been called.
const NOTHING_CALLED: u32 = 1;

/// All explanations of what happened so far, for every history that was met. Sets of explanations
/// have numbers.
pub(super) struct Monitor {
    object: Box<dyn Object>,
    sets: Vec<Box<[Explanation]>>,
    known: FxHashMap<Box<[Explanation]>, u32>,
    bytes: usize,
}

/// What follows from the sets of explanations that were met, as numbers.
#[derive(Default, Debug)]
pub(super) struct Heard {
    after: FxHashMap<(u32, Event), u32>,
    bytes: usize,
}

impl Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("sets", &self.sets.len()).finish_non_exhaustive()
    }
}

impl Monitor {
    fn new(object: Box<dyn Object>, processes: usize) -> Self {
        let mut monitor = Self { object, sets: Vec::new(), known: FxHashMap::default(), bytes: 0 };
        monitor.number(BTreeSet::new());
        monitor.number(BTreeSet::from([Explanation { object: 0, calls: vec![Call::None; 2 * processes].into() }]));
        monitor
    }

    fn number(&mut self, set: BTreeSet<Explanation>) -> u32 {
        let set: Box<[Explanation]> = set.into_iter().collect();
        if let Some(&id) = self.known.get(&set) {
            return id;
        }
        let id = self.sets.len() as u32;
        self.bytes += set.iter().map(|way| 2 * (size_of::<Explanation>() + size_of_val(&*way.calls))).sum::<usize>();
        self.known.insert(set.clone(), id);
        self.sets.push(set);
        id
    }

    fn after(&mut self, set: u32, event: Event) -> u32 {
        let ways = self.sets[set as usize].clone();
        let next = match event {
            Event::Invokes(p, op) => {
                self.with_effects(ways.into_iter().map(|way| way.with(p, Call::Pending(op))).collect())
            }
            Event::Responds(p, result) => {
                let gives = |way: &Explanation| way.calls[p] == Call::Done(result);
                ways.into_iter().filter(gives).map(|way| way.with(p, Call::None)).collect()
            }
            Event::Abandons(p) => {
                // The first half of the calls are in progress; the second half was left behind.
                let left = |way: Explanation| match way.calls[p] {
                    Call::Pending(op) => {
                        let behind = way.calls.len() / 2 + p;
                        way.with(p, Call::None).with(behind, Call::Orphan(op))
                    }
                    _ => way.with(p, Call::None),
                };
                ways.into_iter().map(left).collect()
            }
        };
        self.number(next)
    }

    /// These explanations, and those in which more operations have taken effect.
    fn with_effects(&mut self, ways: Vec<Explanation>) -> BTreeSet<Explanation> {
        let mut all = BTreeSet::new();
        let mut todo = ways;
        while let Some(way) = todo.pop() {
            if all.contains(&way) {
                continue;
            }
            for p in 0..way.calls.len() {
                let (Call::Pending(op) | Call::Orphan(op)) = way.calls[p] else { continue };
                let (object, result) = self.object.apply(way.object, op);
                let waits = matches!(way.calls[p], Call::Pending(_));
                todo.push(Explanation {
                    object,
                    ..way.clone().with(p, if waits { Call::Done(result) } else { Call::None })
                });
            }
            all.insert(way);
        }
        all
    }
}

impl Explanation {
    fn with(mut self, p: usize, call: Call) -> Self {
        self.calls[p] = call;
        self
    }
}

impl World {
    /// This machine, with its operations compared with a sequential object: see
    /// [`is_linearizable`](Machine::is_linearizable).
    #[must_use]
    pub fn with_object(mut self, spec: impl Sequential) -> Self {
        self.watch_calls(Box::new(Numbered::new(std::sync::Arc::new(spec))));
        self
    }

    /// Watches the operations that these properties are about, and with their monitors.
    ///
    /// # Panics
    /// Panics if they are about several objects: a machine has one.
    pub(crate) fn watch_for<'a>(&mut self, properties: impl IntoIterator<Item = &'a Property>) {
        let properties: Vec<&Property> = properties.into_iter().collect();
        self.watch_with(properties.iter().copied());
        let mut objects = properties.into_iter().filter_map(Property::object);
        let Some(object) = objects.next() else { return };
        assert!(objects.next().is_none(), "a machine has one object; check one linearizable property at a time");
        self.watch_calls(object);
    }

    fn watch_calls(&mut self, object: Box<dyn Object>) {
        self.monitor = Some(Monitor::new(object, self.processes()));
        self.machine.heard = Some(Heard::default());
    }

    /// Finds out what follows from a set of explanations.
    pub(super) fn learn_call(&mut self, set: u32, event: Event) {
        let (Some(monitor), Some(heard)) = (&mut self.monitor, &mut self.machine.heard) else { return };
        heard.after.insert((set, event), monitor.after(set, event));
        heard.bytes = monitor.bytes + 2 * size_of::<((u32, Event), u32)>() * heard.after.len();
    }
}

impl Machine {
    /// Whether some order of the operations explains their results so far; true if none are
    /// watched.
    #[must_use]
    pub fn is_linearizable(&self, state: &State) -> bool {
        self.heard.is_none() || state.calls != UNEXPLAINED
    }

    /// The number of the set before any call.
    pub(super) fn initial_calls(&self) -> u32 {
        if self.heard.is_some() { NOTHING_CALLED } else { UNEXPLAINED }
    }

    #[inline]
    pub(super) fn call(&self, state: &mut State, event: Event) -> Result<(), Halt> {
        if let Some(heard) = &self.heard
            && state.calls != UNEXPLAINED
        {
            let next = heard.after.get(&(state.calls, event)).copied();
            state.calls = next.ok_or(Halt::Missing(Missing::Call(state.calls, event)))?;
        }
        Ok(())
    }

    pub(super) fn monitor_bytes(&self) -> usize {
        self.heard.as_ref().map_or(0, |heard| heard.bytes)
    }
}
