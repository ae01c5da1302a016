//! What is said of objects: rooms, and what is built on them.
//!
//! A process that comes to an object asks for one thing of several, and nobody knows which. No machine can [choose](crate::memory::Choose) so, and the entries here are built where every choice is
//! tried; on other memories one takes the types themselves.

use super::{BLELLOCH_CHENG_GIBBONS_01, Defaults, Fits, Info, Problem, Sizes, Tolerates};
use crate::memory::{Instruction, Register};
use crate::rooms::blelloch_cheng_gibbons_01::Width;

const ROOMS: &[Instruction] = &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap];

/// What rooms claim.
const CLAIMS: &[&str] =
    &["P1", "P2", "P3", "deadlock-free", "P4", "P5", "bounded-exit", "P8", "P10", "L1", "L2", "L3.1", "L3.2", "L3.3"];

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

/// Every object, in the order of the lists.
pub const OBJECTS: &[Info] = &[
    rooms("rooms", "rooms by tickets, whose waiting users can give up", "2, repaired", CLAIMS, 3),
    rooms(
        "rooms-change",
        "the same where each user changes rooms",
        "2, repaired",
        &[
            "P1",
            "P2",
            "P3",
            "deadlock-free",
            "P4",
            "P5",
            "bounded-exit",
            "P8",
            "P10",
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
    rooms(
        "rooms-strict",
        "the same that turns users away who do not enter and exit by turns",
        "2, with V",
        &["P2", "P3", "deadlock-free", "P4", "P8", "L1", "L2", "L3.1", "L3.2", "L3.3", "V"],
        2,
    ),
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
];

/// How many may give up waiting for a room, where objects are checked.
pub const GHOSTS: u64 = 2;

/// The width of counters where objects are checked: just enough.
#[must_use]
pub const fn width(sizes: Sizes) -> Width {
    Width::for_users(sizes.n, GHOSTS)
}

/// Whether waiting users can give up in the object called `id`.
pub(super) fn can_give_up(id: &str) -> bool {
    matches!(id, "rooms" | "rooms-change")
}
