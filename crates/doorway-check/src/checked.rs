//! What the checker knows of an algorithm beyond its entry in the catalogue: items of one trait on
//! the entry's type.

use crate::Property;
use crate::at_once::OddTry;
use crate::sim::{Canon, Layout, Numbers, Rules, Sim, TextError, World};
use doorway_core::k_exclusion::AtOnce;
use doorway_core::memory::Register;
use doorway_core::registry::{self, AbortableEntry, Entry, Info, Listed, Sizes};

/// Builds a machine.
pub(crate) type Machine = fn(Sizes, Rules) -> Result<World, TextError>;

/// An algorithm or an object that can be checked by name.
pub(crate) trait Checked: Listed {
    /// When symmetric states are merged.
    const MERGES: Merges = Merges::Never;

    /// Whether its memory notices deaths, so that other processes can take over the seats of the
    /// dead.
    const MORTAL: bool = false;

    /// A machine that runs it.
    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError>;

    /// The claims of its text, beyond what its problem asks of every solution.
    fn claims(_: Sizes) -> Vec<Property> {
        Vec::new()
    }

    /// Claims that do not mention statements: they are checked of a faulty text too.
    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        Vec::new()
    }

    /// Which of its states are symmetric, if that is known.
    fn canon(_: &Layout, _: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        None
    }

    /// Which numbers in its states are only counts, if that is known.
    fn numbers(_: &Layout, _: Sizes) -> Option<Box<dyn Numbers>> {
        None
    }

    /// The largest number of slots for `n` processes, if there is a limit.
    fn most_slots(_: usize) -> Option<usize> {
        None
    }

    /// A machine in which some processes enter at once or not at all, if the algorithm allows it.
    const AT_ONCE: Option<Machine> = None;

    /// Runs that break what its problem asks for, on registers of these kinds, and that no short
    /// search finds.
    const BREAKS_ON: &'static [(Register, &'static str)] = &[];
}

/// When symmetric states are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merges {
    /// Nothing is known; or numbers must wrap before anything goes wrong, and a trace should show
    /// that.
    Never,
    /// If the rules say so: there are finitely many states anyway.
    IfAsked,
    /// Counters wrap: there are finitely many states, but few only after merging.
    Wrapping,
    /// Counters grow for ever: there are finitely many states only after merging.
    Always {
        /// Whether [`Rules::lag`] applies.
        lags: bool,
    },
}

/// The machine of an entry whose processes wait until they are let in.
macro_rules! checked_entry {
    () => {
        fn world(
            sizes: doorway_core::registry::Sizes,
            rules: $crate::sim::Rules,
        ) -> Result<$crate::sim::World, $crate::sim::TextError> {
            $crate::checked::world_of::<Self>(sizes, rules)
        }
    };
}

/// The machine of an entry whose waiting processes can give up.
macro_rules! checked_abortable {
    () => {
        fn world(
            sizes: doorway_core::registry::Sizes,
            rules: $crate::sim::Rules,
        ) -> Result<$crate::sim::World, $crate::sim::TextError> {
            $crate::checked::world_of_abortable::<Self>(sizes, rules)
        }
    };
}

pub(crate) use {checked_abortable, checked_entry};

/// A machine in which processes with odd numbers [do not wait](crate::at_once).
pub(crate) fn world_at_once<E: Entry>(sizes: Sizes, rules: Rules) -> Result<World, TextError>
where
    E::On<Sim>: AtOnce<Sim> + 'static,
{
    World::new(sizes.n, rules, |site| OddTry(E::build(site, sizes)))
}

pub(crate) fn world_of<E: Entry + 'static>(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    if rules.give_ups {
        return Err(TextError::CannotGiveUp);
    }
    World::new(sizes.n, rules, |site| E::build(site, sizes))
}

pub(crate) fn world_of_abortable<E: AbortableEntry + 'static>(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    if rules.give_ups {
        World::of_abortable(sizes.n, rules, |site| E::build_abortable(site, sizes))
    } else {
        World::new(sizes.n, rules, |site| E::build(site, sizes))
    }
}

/// [`Checked`] as a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) info: Info,
    pub(crate) merges: Merges,
    pub(crate) mortal: bool,
    pub(crate) world: Machine,
    pub(crate) claims: fn(Sizes) -> Vec<Property>,
    pub(crate) asked_of_any_text: fn(Sizes) -> Vec<Property>,
    pub(crate) canon: fn(&Layout, Sizes, Rules) -> Option<Box<dyn Canon>>,
    pub(crate) numbers: fn(&Layout, Sizes) -> Option<Box<dyn Numbers>>,
    pub(crate) most_slots: fn(usize) -> Option<usize>,
    pub(crate) at_once: Option<Machine>,
    pub(crate) breaks_on: &'static [(Register, &'static str)],
}

impl Kind {
    const fn of<E: Checked>() -> Self {
        Self {
            info: E::INFO,
            merges: E::MERGES,
            mortal: E::MORTAL,
            world: E::world,
            claims: E::claims,
            asked_of_any_text: E::asked_of_any_text,
            canon: E::canon,
            numbers: E::numbers,
            most_slots: E::most_slots,
            at_once: E::AT_ONCE,
            breaks_on: E::BREAKS_ON,
        }
    }

    /// That of an algorithm or object of the registry.
    pub(crate) fn find(info: &Info) -> &'static Self {
        let all = ALGORITHMS.iter().chain(OBJECTS);
        all.into_iter().find(|kind| kind.info.id == info.id).expect("the registry lists it")
    }
}

macro_rules! algorithms {
    ($($name:ident)*) => {
        pub(crate) const ALGORITHMS: &[Kind] = &[$(Kind::of::<registry::$name>()),*];
    };
}
doorway_core::every_algorithm!(algorithms);

macro_rules! objects {
    ($($name:ident)*) => {
        const OBJECTS: &[Kind] = &[$(Kind::of::<registry::$name>()),*];
    };
}
doorway_core::every_object!(objects);
