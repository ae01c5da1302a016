//! Its entries in the catalogue: rooms, and the structures built on them.

use super::Width;
use crate::registry::Problem;
use crate::registry::prelude::*;

/// The source of these algorithms.
pub const PAPER: Paper =
    Paper { short: "Blelloch, Cheng & Gibbons 2001", title: "Room Synchronizations", venue: "SPAA 2001" };

const ROOMS: &[Instruction] = &[Read, Write, FetchAdd, CompareSwap];

/// The claims of rooms that turn users away when too many gave up.
const CLAIMS_OF_ROOMS: &[&str] = &[
    "P1",
    "P2",
    "P3",
    "never-stuck",
    "P4",
    "P5",
    "bounded-exit",
    "P8",
    "P10",
    "refusals-end",
    "L1",
    "L2",
    "L3.1",
    "L3.2",
    "L3.3",
];

/// The claims of rooms.
const CLAIMS: &[&str] =
    &["P1", "P2", "P3", "never-stuck", "P4", "P5", "bounded-exit", "P8", "P10", "L1", "L2", "L3.1", "L3.2", "L3.3"];

const fn rooms(
    id: &'static str,
    title: &'static str,
    figure: &'static str,
    properties: &'static [&'static str],
    n: usize,
) -> Info {
    Info {
        problem: Problem::RoomSynchronization,
        instructions: ROOMS,
        properties,
        fairness: "rooms in turn; all that wait for a room together",
        rmr: &[],
        words: |s, _| 3 * s.k as u64 + 1,
        fits: Fits::Any,
        defaults: Defaults { n, k: 2, passages: None },
        ..Info::mutex(id, title, PAPER, figure)
    }
}

const fn structure(id: &'static str, title: &'static str, figure: &'static str, slots: usize) -> Info {
    Info {
        problem: Problem::DataStructure,
        properties: &["linearizable", "never-stuck", "starvation-free"],
        words: |s, _| 7 + 1 + s.k as u64,
        defaults: Defaults { n: 2, k: slots, passages: None },
        ..rooms(id, title, figure, &[], 2)
    }
}

const fn grows(id: &'static str, title: &'static str, figure: &'static str, slots: usize, words: Words) -> Info {
    let properties = &["linearizable", "never-stuck", "starvation-free", "retries"];
    Info { properties, words, ..structure(id, title, figure, slots) }
}

type Words = fn(Sizes, usize) -> u64;

/// The words beside the arrays: two rooms, and `top`, `start` and `doubled`.
const BESIDE_ARRAYS: u64 = 7 + 3;

/// The number of slots in up to four arrays, each twice as long as the one before, that suffice for
/// `k` elements: the last array holds `k`, or all arrays together do.
fn slots_that_double(first: usize, k: usize, together: bool) -> u64 {
    let all = |arrays: u32| first * ((1 << arrays) - 1);
    let holds = |arrays: u32| if together { all(arrays) } else { first << (arrays - 1) };
    all((1..=4).find(|&arrays| holds(arrays) >= k).unwrap_or(4)) as u64
}

fn words_that_are_copied(sizes: Sizes, _: usize) -> u64 {
    BESIDE_ARRAYS + slots_that_double(sizes.n.max(2), sizes.k, false)
}

fn words_in_segments(sizes: Sizes, _: usize) -> u64 {
    BESIDE_ARRAYS + slots_that_double(1, sizes.k, true)
}

objects! {
    /// Rooms by tickets, whose waiting users can give up.
    Rooms: Info { can_give_up: true, ..rooms("rooms", "rooms by tickets, whose waiting users can give up", "2, repaired", CLAIMS_OF_ROOMS, 3) };

    /// The same where each user changes rooms.
    RoomsChange: Info { can_give_up: true, ..rooms(
        "rooms-change",
        "the same where each user changes rooms",
        "2, repaired",
        &[
            "P1",
            "P2",
            "P3",
            "never-stuck",
            "P4",
            "P5",
            "bounded-exit",
            "P8",
            "P10",
            "refusals-end",
            "L1",
            "L2",
            "L3.1",
            "L3.2",
            "L3.3",
            "change",
        ],
        2,
    ) };

    /// The same where users also try, without waiting.
    RoomsTry: rooms("rooms-try", "the same where users also try, without waiting", "2, repaired", CLAIMS, 3);

    /// The same, turning away users that do not alternate between entering and exiting.
    RoomsStrict: Info {
        words: |s, _| 3 * s.k as u64 + 1 + 2 * s.n as u64,
        ..rooms(
            "rooms-strict",
            "the same; users that do not enter and exit by turns are turned away",
            "2, with V",
            // Not P4: users that are turned away forever never enter, and no user needs to.
            &["P2", "P3", "never-stuck", "P8", "refusals-end", "L2", "L3.1", "L3.2", "L3.3", "V"],
            2,
        )
    };

    /// Rooms that latecomers may join once in each turn.
    RoomsLateJoin: Info {
        words: |s, _| 2 * s.k as u64 + 1,
        ..rooms(
            "rooms-late-join",
            "rooms that latecomers may join once in each turn",
            "2, with one word for grant and done",
            CLAIMS,
            3,
        )
    };

    /// Rooms as in the figure: two users can be last once numbers wrap.
    RoomsAsPrinted: rooms(
        "rooms-as-printed",
        "rooms exactly as printed, in which two users can both be the last once numbers wrap",
        "2",
        CLAIMS,
        2,
    );

    /// A stack whose pushes and pops are in different rooms.
    RoomStack: structure("room-stack", "a stack whose pushes and pops are in different rooms", "1", 2);

    /// A queue whose enqueues and dequeues are in different rooms.
    RoomQueue: Info {
        words: |s, _| 7 + 2 + s.k.next_power_of_two() as u64,
        ..structure("room-queue", "a queue whose enqueues and dequeues are in different rooms", "3", 2)
    };

    /// A stack that doubles its space, and copies elements as it goes.
    RoomDynamicStack: grows(
        "room-dynamic-stack",
        "a stack that doubles its space, and copies as it goes",
        "4, repaired",
        4,
        words_that_are_copied,
    );

    /// A stack that grows by segments, and copies nothing.
    RoomSegmentStack: grows(
        "room-segment-stack",
        "a stack that grows by segments, and copies nothing",
        "4, with segments",
        3,
        words_in_segments,
    );

    /// A stack of work that knows when all work is done.
    RoomWorkStack: Info {
        // Plus `lent` and `news`.
        words: |s, p| words_in_segments(s, p) + 2,
        properties: &["linearizable", "never-stuck", "W1", "W2", "told"],
        ..grows("room-work-stack", "a stack of work that knows when all is done", "", 3, words_in_segments)
    };

    /// The same stack, which copies, as printed in the figure: it takes from an empty stack.
    RoomDynamicStackAsPrinted: grows(
        "room-dynamic-stack-as-printed",
        "the stack that copies, exactly as printed: a pop can take from an empty stack",
        "4",
        4,
        words_that_are_copied,
    );
}

/// The number of users that may give up waiting for a room, where objects are checked.
pub const GHOSTS: u64 = 2;

/// The width of counters where an object is checked: just large enough.
#[must_use]
pub fn width(info: &Info, sizes: Sizes) -> Width {
    Width::for_users(sizes.n, if info.can_give_up { GHOSTS } else { 0 })
}
