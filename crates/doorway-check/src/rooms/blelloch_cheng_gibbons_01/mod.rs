//! What rooms, and the objects built on them, claim, and the machines that run them.

mod alike;
mod as_printed;
mod claims;
pub(crate) mod mutants;
mod structures;
mod work;
pub(crate) mod worlds;

use crate::Property;
use crate::checked::{Checked, Merges};
use crate::claims::together;
use crate::sim::{Canon, Layout, Rules, Sim, TextError, World};
use alike::Shifted;
use claims::Kind;
use doorway_core::memory::Site;
use doorway_core::registry::{
    Listed, RoomDynamicStack, RoomDynamicStackAsPrinted, RoomQueue, RoomSegmentStack, RoomStack, RoomWorkStack, Rooms,
    RoomsAsPrinted, RoomsChange, RoomsLateJoin, RoomsStrict, RoomsTry, Sizes,
};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{self as texts, DynamicStack, InSegments, LateJoin, Strict};
use doorway_core::rooms::{Changes, Misuses, Tries, Visits};
use worlds::{FIRST_SEGMENT, JOINS, MOST_ARRAYS, first_array};

/// The rooms of an object.
fn rooms_of<E: Listed>(sizes: Sizes) -> impl Fn(&Site<'_, Sim>) -> texts::Rooms<Sim> + Copy {
    let width = width(&E::INFO, sizes);
    move |site| texts::Rooms::with(site, sizes.k, width, ())
}

/// Which states of rooms are alike.
macro_rules! alike_by_rooms {
    (|$sizes:ident| $rooms:expr) => {
        const MERGES: Merges = Merges::Wrapping;

        fn canon(layout: &Layout, $sizes: Sizes, _: Rules) -> Option<Box<dyn Canon>> {
            Some(Box::new(Shifted::new(layout, $rooms, $sizes)?))
        }
    };
}

/// Rooms whose users cannot give up.
fn without_give_ups(rules: Rules, world: impl FnOnce() -> Result<World, TextError>) -> Result<World, TextError> {
    if rules.give_ups { Err(TextError::CannotGiveUp) } else { world() }
}

/// The properties of these rooms, further claims, and their lemmas.
fn of_rooms(kind: Kind, sizes: Sizes, more: Vec<Property>) -> Vec<Property> {
    together([claims::properties(kind, sizes), more, claims::lemmas(kind)])
}

/// Those of them that concern users, not statements.
fn of_users(kind: Kind, sizes: Sizes, more: Vec<Property>) -> Vec<Property> {
    let mut lemmas = claims::lemmas(kind);
    lemmas.retain(|lemma| lemma.name() == "change");
    together([claims::properties(kind, sizes), more, lemmas])
}

/// The claims of rooms of this kind, with these further claims; and those checked of any text.
macro_rules! claims_of_rooms {
    (|$sizes:ident| $kind:expr $(, |$of:ident| $more:expr)?) => {
        fn claims($sizes: Sizes) -> Vec<Property> {
            let kind = $kind;
            of_rooms(kind, $sizes, vec![$({ let $of = kind; $more })?])
        }

        fn asked_of_any_text($sizes: Sizes) -> Vec<Property> {
            let kind = $kind;
            of_users(kind, $sizes, vec![$({ let $of = kind; $more })?])
        }
    };
}

impl Checked for Rooms {
    alike_by_rooms!(|sizes| sizes.k);

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let build = |site: &Site<'_, Sim>| Visits::new(site, rooms_of::<Self>(sizes));
        if rules.give_ups { World::of_abortable(sizes.n, rules, build) } else { World::new(sizes.n, rules, build) }
    }

    claims_of_rooms!(|sizes| Kind::new(&Self::INFO, sizes), |kind| kind.refusals_end());
}

impl Checked for RoomsChange {
    alike_by_rooms!(|sizes| sizes.k);

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let build = |site: &Site<'_, Sim>| Changes::new(site, rooms_of::<Self>(sizes));
        if rules.give_ups { World::of_abortable(sizes.n, rules, build) } else { World::new(sizes.n, rules, build) }
    }

    claims_of_rooms!(|sizes| Kind::new(&Self::INFO, sizes), |kind| kind.refusals_end());
}

impl Checked for RoomsTry {
    alike_by_rooms!(|sizes| sizes.k);

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        without_give_ups(rules, || World::new(sizes.n, rules, |site| Tries::new(site, rooms_of::<Self>(sizes))))
    }

    claims_of_rooms!(|sizes| Kind::new(&Self::INFO, sizes));
}

/// Strict rooms enclose other rooms.
fn strict(sizes: Sizes) -> Kind {
    Kind { part: "rooms", ..Kind::new(&RoomsStrict::INFO, sizes) }
}

impl Checked for RoomsStrict {
    alike_by_rooms!(|sizes| sizes.k);

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        without_give_ups(rules, || {
            World::new(sizes.n, rules, |site| {
                Misuses::new(site, |site| Strict::new(site, sizes.n, rooms_of::<Self>(sizes)))
            })
        })
    }

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([of_rooms(strict(sizes), sizes, vec![claims::strict_refusals_end()]), claims::strict()])
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        together([of_users(strict(sizes), sizes, vec![claims::strict_refusals_end()]), claims::strict()])
    }
}

impl Checked for RoomsLateJoin {
    alike_by_rooms!(|sizes| sizes.k);

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let width = width(&Self::INFO, sizes);
        without_give_ups(rules, || {
            World::new(sizes.n, rules, |site| Visits::new(site, |site| LateJoin::with(site, sizes.k, width, JOINS, ())))
        })
    }

    claims_of_rooms!(|sizes| Kind { late_join: true, ..Kind::new(&Self::INFO, sizes) });
}

impl Checked for RoomsAsPrinted {
    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let width = width(&Self::INFO, sizes);
        without_give_ups(rules, || {
            World::new(sizes.n, rules, |site| {
                Visits::new(site, |site| as_printed::RoomsAsPrinted::new(site, sizes.k, width))
            })
        })
    }

    claims_of_rooms!(|sizes| Kind { as_printed: true, ..Kind::new(&Self::INFO, sizes) });
}

/// A structure has no claims about its own statements: those of its rooms are theirs.
macro_rules! structure {
    ($name:ident, $world:expr, |$sizes:ident| $claims:expr $(, most: $most:expr)?) => {
        impl Checked for $name {
            alike_by_rooms!(|sizes| 2);

            fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
                without_give_ups(rules, || $world(sizes, rules))
            }

            fn claims($sizes: Sizes) -> Vec<Property> {
                $claims
            }

            fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
                Self::claims(sizes)
            }

            $(fn most_slots(n: usize) -> Option<usize> {
                let most: fn(usize) -> usize = $most;
                Some(most(n))
            })?
        }
    };
}

structure!(RoomStack, worlds::of_a_stack, |sizes| structures::properties(sizes.k, false));
structure!(RoomQueue, worlds::of_a_queue, |sizes| structures::properties(sizes.k.next_power_of_two(), true));
structure!(RoomDynamicStack, worlds::dynamic_stack, |sizes| copying(sizes), most: most_copied);
structure!(RoomDynamicStackAsPrinted, worlds::dynamic_stack_as_printed, |sizes| copying(sizes), most: most_copied);
structure!(
    RoomSegmentStack,
    worlds::segment_stack,
    |sizes| {
        let (most, segments) = in_segments(sizes);
        together([structures::properties(most, false), vec![structures::retries(segments as u64 - 1)]])
    },
    most: |_| InSegments::<Sim>::most(FIRST_SEGMENT, MOST_ARRAYS)
);
structure!(
    RoomWorkStack,
    worlds::work_stack,
    |sizes| {
        let (most, segments) = in_segments(sizes);
        // Where memory runs out, one more retry in vain.
        together([work::properties(most), vec![structures::retries(segments as u64)]])
    },
    most: |_| InSegments::<Sim>::most(FIRST_SEGMENT, MOST_ARRAYS)
);

fn copying(sizes: Sizes) -> Vec<Property> {
    let most = |arrays| DynamicStack::<Sim>::most(first_array(sizes), arrays);
    let holds = most(worlds::arrays(sizes.k, most));
    together([structures::properties(holds, false), vec![structures::retries(1)]])
}

fn most_copied(n: usize) -> usize {
    DynamicStack::<Sim>::most(first_array(Sizes { n, k: 1 }), MOST_ARRAYS)
}

/// How many elements the segments hold for this size, and how many segments there are.
fn in_segments(sizes: Sizes) -> (usize, usize) {
    let most = |segments| InSegments::<Sim>::most(FIRST_SEGMENT, segments);
    let segments = worlds::arrays(sizes.k, most);
    (most(segments), segments)
}
