//! What the checker knows of an algorithm beyond its entry in the catalogue: items of one trait on the entry's type.

use crate::Property;
use crate::at_once::OddTry;
use crate::sim::{Canon, Layout, Numbers, Rules, Sim, TextError, World};
use doorway_core::k_exclusion::AtOnce;
use doorway_core::memory::Register;
use doorway_core::registry::{self, AbortableEntry, Entry, Info, Listed, Sizes};

/// What makes a machine.
pub(crate) type Machine = fn(Sizes, Rules) -> Result<World, TextError>;

/// An algorithm or an object that can be checked by name.
pub(crate) trait Checked: Listed {
    /// When states that are alike are taken for one.
    const MERGES: Merges = Merges::Never;

    /// Whether its memory notices deaths, so that others can take the seats of the dead.
    const MORTAL: bool = false;

    /// A machine that runs it.
    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError>;

    /// What its text claims, beyond what its problem asks of every solution.
    fn claims(_: Sizes) -> Vec<Property> {
        Vec::new()
    }

    /// Those of its claims that say nothing of its statements: they are asked of a text with a fault, too.
    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        Vec::new()
    }

    /// Which of its states are alike, if that is known.
    fn canon(_: &Layout, _: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
        None
    }

    /// Which numbers of its states only count, if that is known.
    fn numbers(_: &Layout, _: Sizes) -> Option<Box<dyn Numbers>> {
        None
    }

    /// How many slots it has at the most for `n` processes, if there is a limit.
    fn most_slots(_: usize) -> Option<usize> {
        None
    }

    /// A machine in which some processes enter at once or not at all, if it can be entered so.
    const AT_ONCE: Option<Machine> = None;

    /// Runs that break what its problem asks for, on registers of these kinds, which no short search
    /// finds.
    const BREAKS_ON: &'static [(Register, &'static str)] = &[];
}

/// When states that are alike are taken for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merges {
    /// Nothing is known, or where numbers have to wrap before anything goes wrong, a trace should show them.
    Never,
    /// If the rules say so: there are finitely many states as it is.
    IfAsked,
    /// Counters wrap: there are finitely many states, but only the others are few.
    Wrapping,
    /// Counters grow for ever: only the others are finitely many.
    Always {
        /// Whether what everybody has seen to can lag behind, so that one may ask how far.
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
