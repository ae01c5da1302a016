//! How a machine runs: what counts as a step, who may crash, what a register is.

use crate::Property;
use crate::faults::Faults;
use doorway_core::memory::Register;
use doorway_core::registry::CostModel;

/// Whether leaving the remainder, and being inside, are steps of their own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sections {
    /// Neither: a process leaves its remainder with its first access, and the critical section with the first access of its
    /// exit, as in the papers. Nothing that others could notice is lost, and there are fewer states.
    #[default]
    Merged,
    /// Both, as in most hand-written models.
    Explicit,
}

/// What to do with the texts' [`keep`](doorway_core::memory::Here::keep).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Keep {
    /// Merge local states that it says are alike.
    #[default]
    Trusted,
    /// Merge, and when the search is done, whatever it found, run merged histories side by side to see that they are alike.
    CrossChecked,
    /// Do not merge: right whatever the texts say, and slow.
    Ignored,
}

/// What becomes of the dead, in machines whose memory has [seats](doorway_core::memory::Seats).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deaths {
    /// How many of the dead are followed by a new process on the same seat, at any time or never.
    pub restarts: usize,
    /// Whether a death is noticed late: the byte of the seat becomes free in a step of its own.
    pub late: bool,
    /// Whether a death wakes one of those that sleep and watch the seat.
    pub hints: bool,
    /// Whether sleepers look again by themselves, from the first death on.
    pub rechecks: bool,
    /// Whether the memory ever says that an owner is dead.
    pub reclaims: bool,
    /// Whether it says that somebody may have died before anybody has, as memories between processes do. Otherwise
    /// nobody looks for the dead before there are any: fewer states, and runs are not seen in which somebody dies while
    /// another looks already.
    pub suspects: bool,
}

impl Deaths {
    /// Nobody follows the dead, deaths are noticed at once, and whoever waits looks for the dead, at first and again.
    pub const DEFAULT: Self =
        Self { restarts: 0, late: false, hints: false, rechecks: true, reclaims: true, suspects: true };
}

impl Default for Deaths {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a machine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// How many passages each process makes; `None`: no bound.
    pub passages: Option<u32>,
    /// What counts as a step.
    pub sections: Sections,
    /// What to do with `keep`.
    pub keep: Keep,
    /// How many processes may crash, at any step outside their remainders, also half-way through a write.
    pub crashes: usize,
    /// What becomes of them, where the memory has seats.
    pub deaths: Deaths,
    /// Whether waits that can be abandoned are, at every turn that fails.
    pub give_ups: bool,
    /// Whether waiting is sleeping: who finds that what its turn has read is unchanged sleeps until one of these variables changes and it is woken, and waking the sleepers is a step of its own that
    /// follows a write, and that a process can crash before. Turns that do more than read, and compare-and-swaps that fail, do not end in a sleep.
    pub wakes: bool,
    /// With `wakes`: whether sleepers also wake up by themselves.
    pub timed_sleeps: bool,
    /// The weakest registers: each variable is weakened to this, and no further than it declares.
    pub registers: Register,
    /// Weaken further than declared.
    pub force_registers: bool,
    /// Whether states remember who came before whom, for properties about the order of arrival.
    pub order: bool,
    /// Whether counters that were [declared](doorway_core::memory::Decl::counts) to be are kept small: after each step the smallest is subtracted from all.
    /// A search then compares some 20,000 states with those in which counters are as they are.
    pub normalise: bool,
    /// Whether a bounded decrement is one step. Otherwise it is a loop on compare-and-swap, as on machines without that instruction.
    pub bounded_decrement: bool,
    /// Whether a fetch-and-add is one step. Otherwise it is a loop on compare-and-swap; others can make it go round for ever, so passages need a bound.
    pub fetch_add: bool,
    /// Whether values are forgotten that nobody [watches](doorway_core::memory::Decl::only_while_watched).
    pub forget: bool,
    /// Whether entries of tables are made when they are first accessed. Tables may then be far larger than memory, and the machine can be
    /// run as a [`Crowd`](super::Crowd) but not searched.
    pub sparse: bool,
    /// Nobody begins a passage while so many wait or are about to, for algorithms that can tell: whoever gives up leaves something behind, and without a bound there would be no
    /// end of it.
    pub line: Option<u32>,
    /// How far a counter that only some steps move may stay behind others where that makes no difference to who may enter, for algorithms that have one: then it is moved at once. States become
    /// fewer, and what happens only when it is further behind is not seen.
    pub lag: Option<u32>,
    /// How often a search lets another process step than the one that stepped last; `None`: as often as it likes. What takes more changes is not seen, and runs of any length
    /// in which few happen are.
    pub switches: Option<u32>,
    /// Whether states that are known to be alike are one also where they are finitely many, for algorithms of which that is known. What traces show is then one of several ways to name the same values.
    pub alike: bool,
    /// Whose remote references to count, and by which model. States then remember what is in that process's cache.
    pub measure: Option<(usize, CostModel)>,
    /// The faults that the memory seeds into the text.
    pub faults: Faults,
}

impl Default for Rules {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Rules {
    /// Atomic registers, no crashes, no bound on passages: what is not said otherwise.
    pub const DEFAULT: Self = Self {
        passages: None,
        sections: Sections::Merged,
        keep: Keep::Trusted,
        crashes: 0,
        deaths: Deaths::DEFAULT,
        give_ups: false,
        wakes: false,
        timed_sleeps: false,
        registers: Register::Atomic,
        force_registers: false,
        order: false,
        normalise: false,
        bounded_decrement: true,
        fetch_add: true,
        forget: true,
        sparse: false,
        line: None,
        lag: None,
        switches: None,
        alike: false,
        measure: None,
        faults: Faults::NONE,
    };

    /// These rules with a bound on passages.
    #[must_use]
    pub fn with_passages(passages: Option<u32>) -> Self {
        Self { passages, ..Self::default() }
    }

    /// These rules, with what the properties need to be decided.
    #[must_use]
    pub fn for_properties(mut self, properties: &[Property]) -> Self {
        self.order |= properties.iter().any(Property::needs_order);
        self
    }

    /// The largest natural number that a torn read of an unbounded variable returns: above every value that so many passages
    /// can bring about, so that "too large" is among what may be read.
    #[must_use]
    pub fn largest_natural(&self, processes: usize) -> u64 {
        processes as u64 * u64::from(self.passages.unwrap_or(1)) + 2
    }
}
