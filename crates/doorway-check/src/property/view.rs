//! A state, as properties see it.

use crate::sim::Part;
use crate::sim::{Machine, Op, Phase, State};
use doorway_core::memory::{Home, Label, Word};
use std::ops::RangeInclusive;

/// A set of statement numbers: one, a range, a list, or two sets together.
///
/// ```
/// use doorway_check::property::Labels;
/// assert!((11..=14, 0..=2).has(1));
/// assert!(![3, 5].has(4));
/// ```
pub trait Labels {
    /// Whether it contains this one.
    fn has(&self, label: Label) -> bool;
}

impl Labels for Label {
    fn has(&self, label: Label) -> bool {
        *self == label
    }
}

impl Labels for RangeInclusive<Label> {
    fn has(&self, label: Label) -> bool {
        self.contains(&label)
    }
}

impl<const N: usize> Labels for [Label; N] {
    fn has(&self, label: Label) -> bool {
        self.contains(&label)
    }
}

impl<A: Labels, B: Labels> Labels for (A, B) {
    fn has(&self, label: Label) -> bool {
        self.0.has(label) || self.1.has(label)
    }
}

/// A state, and the part of the algorithm whose variables and statements are in view.
///
/// "`p` is at 6" in a part means that `p` rests at statement 6 of that part, or is about to execute
/// it. A process outside the part is at 0 there.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    world: &'a Machine,
    state: &'a State,
    part: Part,
}

impl<'a> View<'a> {
    /// A view of a whole algorithm.
    #[must_use]
    pub fn new(world: &'a Machine, state: &'a State) -> Self {
        Self { world, state, part: Part::ROOT }
    }

    /// The same state, with another part in view.
    #[must_use]
    pub fn of(self, part: Part) -> Self {
        Self { part, ..self }
    }

    /// All processes.
    pub fn processes(&self) -> std::ops::Range<usize> {
        0..self.world.processes()
    }

    /// The index that the part in view was built under; 0 if it has none.
    #[must_use]
    pub fn index(&self) -> usize {
        self.world.layout().part(self.part).index.unwrap_or(0)
    }

    /// The section of its passage that a process is in.
    #[must_use]
    pub fn phase(&self, p: usize) -> Phase {
        self.world.phase(self.state, p)
    }

    /// Whether a process has crashed.
    #[must_use]
    pub fn has_crashed(&self, p: usize) -> bool {
        self.world.has_crashed(self.state, p)
    }

    /// Whether a process has made all the passages that the rules allow.
    #[must_use]
    pub fn is_done(&self, p: usize) -> bool {
        self.world.next(self.state, p) == Op::Stop && !self.world.owes(self.state, p)
    }

    /// How many processes are in their critical sections, including those that crashed there.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.processes().filter(|&p| self.phase(p) == Phase::Inside).count()
    }

    /// How many processes are outside their remainders.
    #[must_use]
    pub fn contenders(&self) -> usize {
        self.world.contention(self.state)
    }

    /// The statement at which a process is, in the part in view.
    #[must_use]
    pub fn label(&self, p: usize) -> Label {
        self.world.label_in(self.state, p, self.part)
    }

    /// Whether a process is at one of these statements.
    #[must_use]
    pub fn at(&self, p: usize, labels: impl Labels) -> bool {
        labels.has(self.label(p))
    }

    /// How many processes are at one of these statements.
    #[must_use]
    pub fn count(&self, labels: impl Labels) -> usize {
        self.processes().filter(|&p| labels.has(self.label(p))).count()
    }

    /// Whether `so` holds of some process at one of these statements.
    pub fn any(&self, labels: impl Labels, so: impl Fn(usize) -> bool) -> bool {
        self.processes().any(|p| labels.has(self.label(p)) && so(p))
    }

    /// Whether some order of the operations explains what they have returned so far; see
    /// [`Machine::is_linearizable`].
    #[must_use]
    pub fn is_linearizable(&self) -> bool {
        self.world.is_linearizable(self.state)
    }

    /// Whether a process has left its doorway in this passage.
    #[must_use]
    pub fn past_doorway(&self, p: usize) -> bool {
        self.world.past_doorway(self.state, p)
    }

    /// The value of a private variable of a process, if its text
    /// [shows](doorway_core::memory::Here::shows) it at the moment.
    #[must_use]
    pub fn shown<T: Word>(&self, p: usize, name: &str) -> Option<T> {
        self.world.shown(self.state, p, self.part, name).map(T::unpack)
    }

    /// The state of a [monitor](super::Monitor) that watches the machine.
    ///
    /// # Panics
    /// Panics if no monitor of this name watches, or its state has another type: check the property
    /// of the monitor too.
    #[must_use]
    pub fn monitor<T: Word>(&self, name: &str) -> T {
        let Some(at) = self.world.monitors().iter().position(|watcher| watcher.name() == name) else {
            panic!("no monitor {name:?} watches; check its property too")
        };
        let remembers = self.world.monitors()[at].remembers() == std::any::TypeId::of::<T>();
        assert!(remembers, "the monitor {name:?} does not remember a {}", std::any::type_name::<T>());
        T::unpack(self.state.monitors[at])
    }

    /// The value of a variable of the part in view.
    ///
    /// # Panics
    /// Panics if the part has no such variable, two of this name, or one of another type: the
    /// property is wrong, and no verdict would mean anything.
    #[must_use]
    #[track_caller]
    pub fn get<T: Word>(&self, name: &str) -> T {
        self.get_at(name, 0)
    }

    /// The processes that have a row in a table of the part in view.
    ///
    /// # Panics
    /// Panics if the part has no such table.
    pub fn rows_of(&self, name: &str) -> std::ops::Range<usize> {
        let rows = self.world.layout().table(self.part, name).map(|(rows, _)| rows);
        rows.unwrap_or_else(|| panic!("part {:?} has no table {name}", self.world.layout().part(self.part).path))
    }

    /// The value of a variable in a table: `row` is the process that owns the row.
    ///
    /// # Panics
    /// The same as for [`get`](Self::get).
    #[must_use]
    pub fn get_in<T: Word>(&self, name: &str, (row, column): (usize, usize)) -> T {
        let (rows, columns) = self.world.layout().table(self.part, name).unwrap_or((0..0, 0));
        assert!(rows.contains(&row) && column < columns, "there is no {name}[{row}][{column}]");
        self.get_at(name, (row - rows.start) * columns + column)
    }

    /// The process in whose memory a variable of a row is: its home.
    ///
    /// # Panics
    /// Panics if the part has no such variable, or the variable has no home.
    #[must_use]
    pub fn home_of(&self, name: &str, index: usize) -> usize {
        let layout = self.world.layout();
        match layout.find(self.part, name, index).map(|v| layout.var(v).home) {
            Some(Home::Of(p)) => p.index(),
            _ => panic!("part {:?} has no variable {name}[{index}] with a home", layout.part(self.part).path),
        }
    }

    /// How many processes have died so far, including those that were replaced.
    #[must_use]
    pub fn deaths(&self) -> usize {
        self.world.deaths(self.state)
    }

    /// Whether the next step of a process is an access to this variable of the part in view.
    #[must_use]
    pub fn accesses_next(&self, p: usize, name: &str, index: usize) -> bool {
        let next = self.world.next(self.state, p).var();
        next.is_some() && next == self.world.layout().find(self.part, name, index)
    }

    /// Whether the next step of a process is an exchange that fails as things are.
    #[must_use]
    pub fn fails_next(&self, p: usize) -> bool {
        let next = self.world.next(self.state, p);
        next.var().zip(next.expects()).is_some_and(|(v, word)| self.state.vars[v as usize] != word)
    }

    /// Whether the part in view has such a variable.
    #[must_use]
    pub fn declares(&self, name: &str, index: usize) -> bool {
        self.world.layout().find(self.part, name, index).is_some()
    }

    /// The value of a variable in a row.
    ///
    /// # Panics
    /// The same as for [`get`](Self::get).
    #[must_use]
    #[track_caller]
    pub fn get_at<T: Word>(&self, name: &str, index: usize) -> T {
        let layout = self.world.layout();
        let Some(v) = layout.find(self.part, name, index) else {
            let part = &layout.part(self.part).path;
            let part = if part.is_empty() { String::new() } else { format!(" in part {part}") };
            panic!("there is no variable {name}[{index}]{part}; there are {}", layout.names().join(", "))
        };
        assert!(layout.is_alone(self.part, name), "two variables are called {}; rename one", layout.var(v).path);
        assert!(
            layout.holds::<T>(v),
            "{} holds no {}; ask for the type that it was declared with",
            layout.var(v).path,
            std::any::type_name::<T>()
        );
        let word = self.state.vars[v as usize];
        let is_forgotten = layout.var(v).is_forgotten(word);
        // A text with a fault may be at a statement without watching what it should watch there.
        if is_forgotten && !self.world.rules().faults.is_empty() {
            return T::unpack(layout.var(v).init);
        }
        assert!(!is_forgotten, "no process watches {}, so it has no value", layout.var(v).path);
        T::unpack(word)
    }
}
