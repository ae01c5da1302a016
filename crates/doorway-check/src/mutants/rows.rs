//! The words of the tables: the text and its fault, the sizes, the property it breaks and after how
//! many steps, its name, and the change in words.

pub(crate) use super::Mutant;
use super::{Own, Text, Way};
use crate::sim::{Rules, TextError, World};
use doorway_core::memory::Register;
use doorway_core::registry::{Defaults, Sizes};

pub(crate) type In = (usize, usize, Option<u32>);

pub(crate) const TWO: In = (2, 1, None);
pub(crate) const TWO_ONCE: In = (2, 1, Some(1));
pub(crate) const TWO_BOUNDED: In = (2, 1, Some(2));
pub(crate) const TWO_TWO: In = (2, 2, None);
pub(crate) const TWO_TWO_BOUNDED: In = (2, 2, Some(2));
pub(crate) const THREE: In = (3, 1, None);
pub(crate) const THREE_ONCE: In = (3, 1, Some(1));
pub(crate) const THREE_TWICE: In = (3, 1, Some(2));
pub(crate) const THREE_TWO: In = (3, 2, None);
pub(crate) const THREE_TWO_ONCE: In = (3, 2, Some(1));
pub(crate) const THREE_TWO_TWICE: In = (3, 2, Some(2));
pub(crate) const THREE_THREE: In = (3, 3, None);
pub(crate) const THREE_THREE_ONCE: In = (3, 3, Some(1));
pub(crate) const FOUR_TWO: In = (4, 2, None);
pub(crate) const FOUR_TWO_TWICE: In = (4, 2, Some(2));
pub(crate) const FOUR_TWO_ONCE: In = (4, 2, Some(1));
pub(crate) const MUTEX: &str = "mutual-exclusion";
pub(crate) const K_EXCLUSION: &str = "k-exclusion";
pub(crate) const STUCK: &str = "never-stuck";
pub(crate) const STARVES: &str = "starvation-free";
pub(crate) const TOO_FEW: &str = "k-enter-together";
pub(crate) const LEAVES: &str = "bounded-exit";
pub(crate) const UNITS: &str = "units-inside";
pub(crate) const NAMES: &str = "unique-names";
pub(crate) const DOOR: &str = "door-opens";
pub(crate) const ORDER_FIRST: &str = "first-come-first-served";
pub(crate) const ORDER_K: &str = "k-first-come-first-served";
pub(crate) const ORDER: &str = "first-in-first-enabled";
pub(crate) const ORDERED: &str = "linearizable";
pub(crate) const HOLDS: Option<(&str, usize)> = None;

/// Why no memory can seed a fault: it does not concern an access.
pub(crate) const SIZES: &str = "built for other sizes";
pub(crate) const CALLS: &str = "calls its parts in another order, or for others";

pub(crate) const fn mutant(
    text: Text,
    (n, k, passages): In,
    fails: Option<(&'static str, usize)>,
    name: &'static str,
    change: &'static str,
) -> Mutant {
    let (sizes, registers) = (Defaults { n, k, passages }, Register::Atomic);
    Mutant { name, of: text.of, change, sizes, crashes: 0, give_ups: false, registers, fails, run: None, text }
}

/// The shipped text with a fault of the memory.
pub(crate) const fn row(of: &'static str, fault: &'static str) -> Text {
    Text { of, fault, way: Way::Shipped }
}

/// The same with processes that try.
pub(crate) const fn trying(of: &'static str, fault: &'static str) -> Text {
    Text { of, fault, way: Way::Trying }
}

/// The shipped text, built for this many more places.
pub(crate) const fn built_for(of: &'static str, more: isize) -> Text {
    Text { of, fault: "", way: Way::BuiltFor(more) }
}

/// Another text, or shipped parts put together differently, and why.
pub(crate) const fn own(
    of: &'static str,
    why: &'static str,
    world: fn(Sizes, Rules) -> Result<World, TextError>,
) -> Text {
    Text { of, fault: "", way: Way::Own(Own { why, world }) }
}

impl Text {
    /// With a fault of the memory as well.
    pub(crate) const fn and(self, fault: &'static str) -> Self {
        Self { fault, ..self }
    }
}

impl Mutant {
    pub(crate) const fn crashing(self, crashes: usize) -> Self {
        Self { crashes, ..self }
    }

    pub(crate) const fn shown_by(self, run: &'static str) -> Self {
        Self { run: Some(run), ..self }
    }

    pub(crate) const fn on_safe_bits(self) -> Self {
        Self { registers: Register::Safe, ..self }
    }

    pub(crate) const fn giving_up(self) -> Self {
        Self { give_ups: true, ..self }
    }
}
