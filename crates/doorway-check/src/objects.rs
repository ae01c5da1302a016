//! Machines that run the objects of the registry: every choice that their users have is tried.

use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::memory::Site;
use doorway_core::registry::{Sizes, objects};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{AsPrinted, LateJoin, Rooms, Strict};
use doorway_core::rooms::{Changes, Misuses, Tries, Visits};

/// How often latecomers may join a room in each turn, where that is checked.
const JOINS: u64 = 1;

/// A machine that runs the object called `id`; `None` if there is none.
pub(crate) fn world(id: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let (Sizes { n, k: m }, width) = (sizes, objects::width(sizes));
    let rooms = move |site: &Site<'_, Sim>| Rooms::with(site, m, width, ());
    let world = match id {
        "rooms" if rules.give_ups => World::of_abortable(n, rules, |site| Visits::new(site, rooms)),
        "rooms-change" if rules.give_ups => World::of_abortable(n, rules, |site| Changes::new(site, rooms)),
        "rooms" => World::new(n, rules, |site| Visits::new(site, rooms)),
        "rooms-change" => World::new(n, rules, |site| Changes::new(site, rooms)),
        _ if rules.give_ups => Err(TextError::CannotGiveUp),
        "rooms-try" => World::new(n, rules, |site| Tries::new(site, rooms)),
        "rooms-strict" => World::new(n, rules, |site| Misuses::new(site, |site| Strict::new(site, n, rooms))),
        "rooms-late-join" => {
            World::new(n, rules, |site| Visits::new(site, |site| LateJoin::with(site, m, width, JOINS, ())))
        }
        "rooms-as-printed" => World::new(n, rules, |site| Visits::new(site, |site| AsPrinted::new(site, m, width))),
        _ => return None,
    };
    Some(world)
}
