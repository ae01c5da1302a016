//! Software combining of the registry's maps, composed wrongly.

use crate::sim::{Rules, TextError, World};
use doorway_core::mutex::yang_anderson_93::{Affine, Calls, Combinable, Combining, Map, map_of};

type Maps = Affine<5>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// What is captured is applied twice.
    Twice,
    /// What is captured is applied before the own operation, and not after it.
    Backwards,
}

impl Fault {
    pub(super) fn world(self, n: usize, rules: Rules) -> Result<World, TextError> {
        match self {
            Self::Twice => World::new(n, rules, |site| Calls::new(Combining::<_, Twice>::new(site, n, 0), map_of)),
            Self::Backwards => {
                World::new(n, rules, |site| Calls::new(Combining::<_, Backwards>::new(site, n, 0), map_of))
            }
        }
    }
}

struct Twice;

impl Combinable for Twice {
    type Op = Map;
    type Value = u64;

    fn compose(first: Map, second: Map) -> Map {
        Maps::compose(Maps::compose(first, second), second)
    }

    fn apply(op: Map, value: u64) -> u64 {
        Maps::apply(op, value)
    }
}

struct Backwards;

impl Combinable for Backwards {
    type Op = Map;
    type Value = u64;

    fn compose(first: Map, second: Map) -> Map {
        Maps::compose(second, first)
    }

    fn apply(op: Map, value: u64) -> u64 {
        Maps::apply(op, value)
    }
}
