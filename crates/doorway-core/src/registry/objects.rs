//! What is said of objects: rooms, and what is built on them.
//!
//! A process that comes to an object asks for one thing of several, and nobody knows which. No machine can [choose](crate::memory::Choose) so, and the entries here are built where every choice is
//! tried; on other memories one takes the types themselves.

use super::{BLELLOCH_CHENG_GIBBONS_01, DOORWAY, Defaults, Fits, Info, Problem, Sizes, Tolerates, universal_words};
use crate::memory::{Instruction, Register};
use crate::resilient::MOST_NAMES;
use crate::rooms::blelloch_cheng_gibbons_01::Width;

const ROOMS: &[Instruction] = &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap];

/// What rooms claim that turn users away when too many gave up.
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

/// What rooms claim.
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
        id,
        title,
        problem: Problem::RoomSynchronization,
        paper: BLELLOCH_CHENG_GIBBONS_01,
        figure,
        instructions: ROOMS,
        properties,
        fairness: "rooms in turn; all that wait for a room together",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[],
        orders: None,
        words: |s, _| 3 * s.k as u64 + 1,
        fits: Fits::Any,
        defaults: Defaults { n, k: 2, passages: None },
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

/// Two rooms, and `top`, `start` and `doubled`.
const BESIDE_ARRAYS: u64 = 7 + 3;

/// Slots of up to four arrays, each twice as long as the one before, that are enough: the last is as long as `k`, or all are together.
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

/// Every object, in the order of the lists.
pub const OBJECTS: &[Info] = &[
    rooms("rooms", "rooms by tickets, whose waiting users can give up", "2, repaired", CLAIMS_OF_ROOMS, 3),
    rooms(
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
    ),
    rooms("rooms-try", "the same where users also try, without waiting", "2, repaired", CLAIMS, 3),
    Info {
        words: |s, _| 3 * s.k as u64 + 1 + 2 * s.n as u64,
        ..rooms(
            "rooms-strict",
            "the same that turns users away who do not enter and exit by turns",
            "2, with V",
            // Not P4: users that are turned away for ever never enter, and nobody needs to.
            &["P2", "P3", "never-stuck", "P8", "refusals-end", "L2", "L3.1", "L3.2", "L3.3", "V"],
            2,
        )
    },
    Info {
        words: |s, _| 2 * s.k as u64 + 1,
        ..rooms(
            "rooms-late-join",
            "rooms that latecomers may join once in each turn",
            "2, with one word for grant and done",
            CLAIMS,
            3,
        )
    },
    rooms(
        "rooms-as-printed",
        "rooms as the figure has them, in which two can be last once numbers wrap",
        "2",
        CLAIMS,
        2,
    ),
    structure("room-stack", "a stack whose pushes and pops are in different rooms", "1", 2),
    Info {
        words: |s, _| 7 + 2 + s.k.next_power_of_two() as u64,
        ..structure("room-queue", "a queue whose enqueues and dequeues are in different rooms", "3", 2)
    },
    grows(
        "room-dynamic-stack",
        "a stack that doubles its space, and copies as it goes",
        "4, repaired",
        4,
        words_that_are_copied,
    ),
    grows(
        "room-segment-stack",
        "a stack that grows by segments, and copies nothing",
        "4, with segments",
        3,
        words_in_segments,
    ),
    Info {
        // `lent` and `news` too.
        words: |s, p| words_in_segments(s, p) + 2,
        properties: &["linearizable", "never-stuck", "W1", "W2", "told"],
        ..grows("room-work-stack", "a stack of work that knows when all is done", "", 3, words_in_segments)
    },
    grows(
        "room-dynamic-stack-as-printed",
        "the same that copies, as the figure has it, which takes from an empty stack",
        "4",
        4,
        words_that_are_copied,
    ),
    Info {
        id: "universal-in-use",
        title: "`universal` whose copies and operations can fail, with looks; free buffers are remembered",
        problem: Problem::ResilientObject,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::CompareSwap],
        properties: &["never-stuck", "deadlock-free", "starvation-free", "linearizable", "R2", "R3", "R4", "R5"],
        fairness: "wait-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[],
        orders: None,
        words: |s, _| universal_words(s.k) + 2 * s.k as u64,
        fits: Fits::AllInsideOf(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(2) },
    },
    Info {
        id: "sticky-names",
        title: "names of which each process first asks for the one that it had last",
        problem: Problem::KAssignment,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::CompareSwap],
        properties: &["k-exclusion", "k-enter-together", "unique-names", "S1", "S2"],
        fairness: "lock-free; who finds all names taken is turned away",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[],
        orders: None,
        words: |s, _| s.k as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 3, passages: Some(2) },
    },
];

/// How many may give up waiting for a room, where objects are checked.
pub const GHOSTS: u64 = 2;

/// The width of counters where the object called `id` is checked: just enough.
#[must_use]
pub fn width(id: &str, sizes: Sizes) -> Width {
    Width::for_users(sizes.n, if can_give_up(id) { GHOSTS } else { 0 })
}

/// Whether waiting users can give up in the object called `id`.
pub(super) fn can_give_up(id: &str) -> bool {
    matches!(id, "rooms" | "rooms-change")
}
