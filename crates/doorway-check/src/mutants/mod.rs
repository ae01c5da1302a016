//! Algorithms with a seeded fault, to verify that the checks would notice.
//!
//! Most mutants are the shipped text with a fault that the memory seeds, by statement number (see
//! [`faults`](crate::faults)); a row of a table says which. No memory can cause some faults:
//! another order of calls, another comparison, another bound of a loop. Such a mutant has another
//! part among shipped ones, or a text of its own. A test compares such a text, without its fault,
//! with the shipped one: both must have exactly the same number of states and steps. So the test
//! shows if the shipped text has changed and the mutant's has not. Mutants run by name,
//! `doorway check mutant:am-chain-swaps-6-and-7`, and are not listed among the algorithms. The
//! table of each paper stands beside its claims.
//!
//! A few rows are *controls*: changes that look just as dangerous but are harmless. They must hold.
//!
#![doc = include_str!("../../MUTANTS.md")]

pub(crate) mod rows;

use crate::at_once;
use crate::faults::Faults;
use crate::sim::{Rules, TextError, World};
use crate::subject;
use crate::{k_assignment, k_exclusion, mutex, resilient, rooms};
use doorway_core::memory::Register;
use doorway_core::registry::{self, Defaults, Sizes};

/// The tables of all papers.
const TABLES: &[&[Mutant]] = &[
    mutex::lamport_74::mutants::MUTANTS,
    mutex::taubenfeld_04::mutants::MUTANTS,
    mutex::mellor_crummey_scott_91::mutants::MUTANTS,
    mutex::anderson_90::mutants::MUTANTS,
    mutex::lamport_87::mutants::MUTANTS,
    mutex::peterson_fischer_77::mutants::MUTANTS,
    mutex::peterson_81::mutants::MUTANTS,
    mutex::kessels_82::mutants::MUTANTS,
    mutex::yang_anderson_93::mutants::MUTANTS,
    k_exclusion::dolev_gafni_shavit_88::mutants::MUTANTS,
    k_exclusion::anderson_moir_94::mutants::MUTANTS,
    k_assignment::anderson_moir_94::mutants::MUTANTS,
    k_exclusion::danek_10::mutants::MUTANTS,
    k_exclusion::turnstile::mutants::MUTANTS,
    k_exclusion::bypass::mutants::MUTANTS,
    k_assignment::slots::mutants::MUTANTS,
    k_assignment::seats::mutants::MUTANTS,
    k_assignment::names::sticky::mutants::MUTANTS,
    rooms::blelloch_cheng_gibbons_01::mutants::MUTANTS,
    resilient::mutants::MUTANTS,
];

/// Separate texts, without a fault.
const WITHOUT_FAULT: &[&[Text]] = &[
    k_exclusion::dolev_gafni_shavit_88::mutants::WITHOUT_FAULT,
    k_exclusion::anderson_moir_94::mutants::WITHOUT_FAULT,
    k_exclusion::danek_10::mutants::WITHOUT_FAULT,
    rooms::blelloch_cheng_gibbons_01::mutants::WITHOUT_FAULT,
];

/// Every mutant and control.
pub const ALL: &[Mutant] = &{
    let mut all = [TABLES[0][0]; count()];
    let (mut table, mut i) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            all[i] = TABLES[table][row];
            (row, i) = (row + 1, i + 1);
        }
        table += 1;
    }
    all
};

const fn count() -> usize {
    let (mut table, mut count) = (0, 0);
    while table < TABLES.len() {
        count += TABLES[table].len();
        table += 1;
    }
    count
}

/// A mutant, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name, after the prefix.
    pub name: &'static str,
    /// The algorithm it is a mutant of.
    pub of: &'static str,
    /// The change.
    pub change: &'static str,
    /// The sizes at which it fails.
    pub sizes: Defaults,
    /// The number of crashes it needs.
    pub crashes: usize,
    /// Whether it needs give-ups.
    pub give_ups: bool,
    /// The registers it needs. Variables of the algorithm are weakened no further than they
    /// declare.
    pub registers: Register,
    /// The property it breaks, and the length of the shortest trace (0, and no trace, for what
    /// should happen sometimes); `None` for a control.
    pub fails: Option<(&'static str, usize)>,
    /// A run that shows it, if a search would take long.
    pub run: Option<&'static str>,
    text: Text,
}

/// The text, and the fault of the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    /// The algorithm.
    of: &'static str,
    fault: &'static str,
    way: Way,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    /// As it is shipped.
    Shipped,
    /// The same with processes that try.
    Trying,
    /// The shipped text, built for this many more places.
    BuiltFor(isize),
    Own(Own),
}

/// Another text, or shipped parts put together differently.
#[derive(Clone, Copy, Debug)]
struct Own {
    why: &'static str,
    world: fn(Sizes, Rules) -> Result<World, TextError>,
}

impl Text {
    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        // Processes that try have no wait to give up.
        let can_give_up = registry::find(self.of).is_some_and(|info| info.can_give_up);
        if rules.give_ups && (!can_give_up || matches!(self.way, Way::Trying)) {
            return Err(TextError::CannotGiveUp);
        }
        match self.way {
            Way::Shipped => Err(TextError::CannotGiveUp),
            Way::BuiltFor(more) => match subject::find(self.of) {
                Ok(subject) => subject.world(Sizes { n, k: k.saturating_add_signed(more) }, rules),
                Err(_) => Err(TextError::CannotGiveUp),
            },
            Way::Trying => at_once::world(self.of, sizes, rules).unwrap_or(Err(TextError::CannotGiveUp)),
            Way::Own(own) => (own.world)(sizes, rules),
        }
    }
}

impl Mutant {
    /// The fault of the memory that makes it, if there is one.
    ///
    /// # Panics
    /// Panics if the fault in the table is not a fault.
    #[must_use]
    pub fn faults(&self) -> Faults {
        match self.text.fault {
            "" => Faults::NONE,
            fault => fault.parse().unwrap_or_else(|e| panic!("{}: {e}", self.name)),
        }
    }

    /// Why it is not the shipped text with a fault of the memory, if it is not.
    #[must_use]
    pub fn why_no_memory_seeds_it(&self) -> Option<&'static str> {
        match self.text.way {
            Way::Shipped | Way::Trying => None,
            Way::BuiltFor(_) => Some(rows::SIZES),
            Way::Own(own) => Some(own.why),
        }
    }

    /// Whether it declares the variables that its algorithm has at these sizes, which its claims
    /// need.
    #[must_use]
    pub fn has_its_variables(&self) -> bool {
        !matches!(self.text.way, Way::BuiltFor(_))
    }

    /// Whether it has its own text, and is not built like its algorithm.
    pub(crate) fn has_a_text(&self) -> bool {
        !matches!(self.text.way, Way::Shipped)
    }

    pub(crate) fn world(&self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        self.text.world(sizes, rules)
    }

    /// The rules under which it fails.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let Self { crashes, give_ups, registers, .. } = *self;
        Rules { crashes, give_ups, registers, ..Rules::with_passages(self.sizes.passages) }
    }
}

/// The text that the mutants of an algorithm share, without a fault; `None` if all of them use the
/// shipped one.
pub fn without_fault(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let text = WITHOUT_FAULT.iter().copied().flatten().find(|text| text.of == of)?;
    let info = registry::find(of)?;
    Some(text.world(sizes, rules).map(|world| subject::with_canon(world, info, sizes, rules)))
}
