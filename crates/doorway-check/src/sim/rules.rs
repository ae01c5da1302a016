//! How a machine runs: what counts as a step, which processes may crash, what a register is.

use crate::Property;
use crate::faults::Faults;
use doorway_core::memory::Register;
use doorway_core::registry::CostModel;

/// Whether leaving the remainder, and being inside, are steps of their own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sections {
    /// Neither: a process leaves its remainder with its first access, and the critical section with
    /// the first access of its exit, as in the papers. Others cannot notice the difference, and
    /// there are fewer states.
    #[default]
    Merged,
    /// Both, as in most hand-written models.
    Explicit,
}

/// How to treat the texts' [`keep`](doorway_core::memory::Here::keep), and texts without one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Keep {
    /// Merge local states that it declares alike, and compare some or all of them after the search.
    /// If a text has no `keep`, merge local states that are found to be alike.
    #[default]
    Trusted,
    /// Merge; after the search, whatever it found, run merged histories side by side to verify that
    /// they are alike.
    CrossChecked,
    /// Do not merge: slow, and without an end where a loop starts again, but right even if the
    /// texts are wrong.
    Ignored,
}

/// What happens to dead processes, in machines whose memory has
/// [seats](doorway_core::memory::Seats).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deaths {
    /// How many dead processes may be replaced by a new one on the same seat, at any time.
    pub restarts: usize,
    /// Whether a death is noticed late: the byte of the seat becomes free in a step of its own.
    pub late: bool,
    /// Whether a death wakes one of the processes that sleep and watch the seat.
    pub hints: bool,
    /// Whether sleepers look again on their own, after the first death.
    pub rechecks: bool,
    /// Whether the memory ever reports an owner dead.
    pub reclaims: bool,
    /// Whether the memory may suspect a death before there is one, as memories between processes
    /// do. Otherwise no process looks for dead owners before the first death. That explores fewer
    /// states, and misses runs in which a process dies while another is already looking.
    pub suspects: bool,
}

impl Deaths {
    /// No replacement, deaths are noticed at once, and a waiting process looks for dead owners, at
    /// first and again.
    pub const DEFAULT: Self =
        Self { restarts: 0, late: false, hints: false, rechecks: true, reclaims: true, suspects: true };

    /// What differs from the default, in words; without the restarts.
    #[must_use]
    pub fn unusual(self) -> Vec<&'static str> {
        let unusual = [
            (self.late, "noticed late"),
            (self.hints, "hints"),
            (!self.rechecks, "no second looks"),
            (!self.reclaims, "nothing is reclaimed"),
            (!self.suspects, "looked for only after the first death"),
        ];
        unusual.into_iter().filter_map(|(so, text)| so.then_some(text)).collect()
    }
}

impl Default for Deaths {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How a machine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Passages of each process; `None` means no bound.
    pub passages: Option<u32>,
    /// What counts as a step.
    pub sections: Sections,
    /// How to treat `keep`.
    pub keep: Keep,
    /// How many processes may crash, at any step outside their remainders, even in the middle of a
    /// write.
    pub crashes: usize,
    /// What happens to dead processes, if the memory has seats.
    pub deaths: Deaths,
    /// Whether processes may give up, wherever the text allows it, at every failed turn of a wait.
    pub give_ups: bool,
    /// Whether a waiting process sleeps. If a process finds that nothing its turn has read has
    /// changed, it sleeps until one of these variables changes and it is woken. Waking the sleepers
    /// is a step of its own after the write, and a process can crash before it. Turns that do more
    /// than read, and failed compare-and-swaps, do not end in a sleep.
    pub wakes: bool,
    /// With `wakes`: whether sleepers also wake up on their own.
    pub timed_sleeps: bool,
    /// The weakest registers: each variable is weakened to this, but no further than it declares.
    pub registers: Register,
    /// Weaken further than declared.
    pub force_registers: bool,
    /// Whether states record the order of arrival, for properties that are about it.
    pub order: bool,
    /// Whether [declared](doorway_core::memory::Decl::counts) counters are kept small: after each
    /// step the smallest is subtracted from all. A search then compares about 20,000 states with
    /// those of full counters.
    pub normalise: bool,
    /// Whether a bounded decrement is one step. Otherwise it is a compare-and-swap loop, as on
    /// machines without that instruction.
    pub bounded_decrement: bool,
    /// Whether a fetch-and-add is one step. Otherwise it is a compare-and-swap loop, which others
    /// can keep busy for ever, so passages need a bound.
    pub fetch_add: bool,
    /// Whether values that no process [watches](doorway_core::memory::Decl::only_while_watched) are
    /// forgotten.
    pub forget: bool,
    /// Whether entries of tables are created on their first access. Tables may then be far larger
    /// than memory, and the machine can run as a [`Crowd`](super::Crowd) but not be searched.
    pub sparse: bool,
    /// Limits the line, for algorithms that have one: no process starts a passage while this many
    /// tickets are outstanding. A process that gives up leaves its ticket behind, so without a
    /// bound the search would have no end. Nor does one start while a counter that only some steps
    /// move is very far behind, if a process that sleeps keeps the checker from moving it.
    pub line: Option<u32>,
    /// For algorithms with a counter that only some steps move: how far this counter may fall
    /// behind, at times when that has no influence on which process may enter. If it falls further
    /// behind, the checker moves it at once. The search explores fewer states, and misses runs in
    /// which the counter is further behind.
    pub lag: Option<u32>,
    /// The largest number of context switches in a run; `None` means no bound. Misses failures that
    /// need more, but covers runs of any length with few switches.
    pub switches: Option<u32>,
    /// Whether symmetric states are merged even if there are finitely many, for algorithms that
    /// declare them. A trace then shows one of several ways to name the same values.
    pub alike: bool,
    /// The process whose remote references to count, and the cost model. States then contain that
    /// process's cache.
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
    /// The defaults: atomic registers, no crashes, no bound on passages.
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

    /// These rules, plus what is needed to decide the properties.
    #[must_use]
    pub fn for_properties(mut self, properties: &[Property]) -> Self {
        self.order |= properties.iter().any(Property::needs_order);
        self
    }

    /// Sizes and rules, in words.
    pub(crate) fn in_words(&self, sizes: String) -> String {
        let forced = if self.force_registers { ", forced" } else { "" };
        let mut words = vec![sizes, format!("{} registers{forced}", self.registers)];
        let some = |most: usize, word: &str| format!("up to {most} {word}{}", if most == 1 { "" } else { "s" });
        match self.crashes {
            0 => {}
            1 => words.push("up to 1 crash".to_owned()),
            f => words.push(format!("up to {f} crashes")),
        }
        if self.deaths.restarts > 0 {
            words.push(some(self.deaths.restarts, "restart"));
        }
        let unusual = self.deaths.unusual();
        if !unusual.is_empty() {
            words.push(format!("deaths ({})", unusual.join("; ")));
        }
        if self.give_ups {
            words.push("give-ups".to_owned());
        }
        if self.wakes {
            words.push(if self.timed_sleeps { "sleeping with a time limit" } else { "sleeping" }.to_owned());
        }
        words.extend(self.line.map(|most| format!("line: {most}")));
        words.extend(self.lag.map(|most| format!("lag: {most}")));
        if self.alike {
            words.push("alike states merged".to_owned());
        }
        if let Some(passages) = self.passages {
            words.push(some(passages as usize, "passage") + " each");
        }
        words.join(", ")
    }

    /// The largest natural number that a torn read of an unbounded variable returns. It exceeds
    /// every value that this many passages can produce, so that "too large" is among the possible
    /// results.
    #[must_use]
    pub fn largest_natural(&self, processes: usize) -> u64 {
        processes as u64 * u64::from(self.passages.unwrap_or(1)) + 2
    }
}
