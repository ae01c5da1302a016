//! A stack of work in rooms: no worker goes home before all work is done, and then every worker
//! does.

use crate::common::{explore, explore_without_trust};

#[test]
fn all_is_done_when_nothing_is_left_and_nobody_has_any() {
    explore("room-work-stack", 2, 1, None, 54_996);
    explore("room-work-stack", 2, 3, None, 863_530);
    explore("room-work-stack", 3, 1, Some(1), 84_311);
}

#[test]
fn what_is_said_to_matter_is_all_that_matters() {
    explore_without_trust("room-work-stack", 2, 1, Some(1));
}
