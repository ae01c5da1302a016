//! What a participating process does: the other side of a [scene](super::scene).

#![allow(unsafe_code)]

use super::gates::{Gate, Peer, with_gate};
use super::mapped::{Mapped, Shareable};
use crate::bench::stage::Turns;
use crate::measure;
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
use std::time::Duration;

/// How many processes take part in a scene at the same time.
pub(super) const SEATS: usize = 16;

/// The phases of a scene. The board begins with the first.
pub(super) const GATHERS: u32 = 0;
pub(super) const WARMS_UP: u32 = 1;
pub(super) const COUNTS: u32 = 2;
pub(super) const ENDS: u32 = 3;

/// How often an idle process looks at the board.
pub(super) const LOOKS: Duration = Duration::from_micros(200);

/// What a party leaves for the director.
#[derive(Default)]
#[repr(C, align(128))]
pub(super) struct Seat {
    pub(super) passages: AtomicU64,
    pub(super) handed_over: AtomicU64,
    pub(super) cpu_ns: AtomicU64,
    /// The largest number that it saw inside, including itself.
    pub(super) most_inside: AtomicU64,
    /// When it asked to be let in, and when it was let in; 0 before that.
    pub(super) asked: AtomicU64,
    pub(super) granted: AtomicU64,
    /// Whether it was told that an earlier holder died.
    pub(super) told: AtomicU32,
    /// The process that it has forked, or 0.
    pub(super) forked: AtomicI32,
    /// Not 0 once it is inside and has done its task there.
    pub(super) stays: AtomicU32,
}

/// What all processes inside write.
#[derive(Default)]
#[repr(C, align(128))]
pub(super) struct Inside {
    last: AtomicU64,
    now: AtomicU64,
}

/// What the director and all parties see.
#[derive(Default)]
#[repr(C, align(128))]
pub(super) struct Board {
    pub(super) phase: AtomicU32,
    pub(super) ready: AtomicU32,
    inside: Inside,
    pub(super) seats: [Seat; SEATS],
}

// SAFETY: atomics only, for which zero is a value.
unsafe impl Shareable for Board {}

/// The task of a party.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Role {
    /// Passes again and again, works inside and outside, and leaves after this many passages at
    /// most.
    Crowd { turns: u64, most: u64 },
    /// Enters, and stays until the scene ends. It may fork a process that outlives it.
    Stays { forks: bool },
}

/// The orders of a party.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) peer: Peer,
    pub(super) k: usize,
    pub(super) board: PathBuf,
    pub(super) gate: PathBuf,
    pub(super) seat: usize,
    pub(super) processor: usize,
    pub(super) role: Role,
}

/// Nanoseconds on a clock that all processes share.
pub(super) fn clock_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Takes part in a measurement, as a process of its own. [`compare`](super::compare) gives these
/// orders to the processes it starts.
///
/// # Errors
/// Returns an error if the orders make no sense, or name something that does not exist.
pub fn take_part(orders: &str) -> Result<(), String> {
    let orders: Orders = serde_json::from_str(orders).map_err(|error| format!("cannot read the orders: {error}"))?;
    // A party must not outlive a director that the user has stopped.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    measure::pin(orders.processor);
    let open = || -> std::io::Result<()> {
        let board = Mapped::<Board>::attach(&orders.board)?;
        with_gate!(orders.peer, G => play(&G::open(&orders.gate, orders.k)?, &board, &orders));
        Ok(())
    };
    open().map_err(|error| format!("{}: {error}", orders.peer.name()))
}

fn play<G: Gate>(gate: &G, board: &Board, orders: &Orders) {
    // The director uses no more seats than there are.
    let seat = &board.seats[orders.seat % SEATS];
    match orders.role {
        Role::Crowd { turns, most } => {
            board.ready.fetch_add(1, SeqCst);
            while board.phase.load(SeqCst) == GATHERS {
                std::thread::sleep(LOOKS);
            }
            crowd(gate, board, seat, orders.seat as u64 + 1, Turns::of(turns), most);
        }
        Role::Stays { forks } => stays(gate, board, seat, forks),
    }
}

fn crowd<G: Gate>(gate: &G, board: &Board, seat: &Seat, me: u64, turns: Turns, most: u64) {
    let (mut passages, mut handed_over, mut most_inside) = (0, 0, 0);
    let mut cpu_before = None;
    loop {
        let phase = board.phase.load(SeqCst);
        if phase == ENDS || passages >= most {
            break;
        }
        if phase == COUNTS && cpu_before.is_none() {
            cpu_before = Some(measure::process_cpu_time());
        }
        let mut from_another = false;
        gate.pass(|_| {
            from_another = board.inside.last.swap(me, SeqCst) != me;
            most_inside = most_inside.max(board.inside.now.fetch_add(1, SeqCst) + 1);
            turns.work();
            board.inside.now.fetch_sub(1, SeqCst);
        });
        if board.phase.load(SeqCst) == COUNTS {
            passages += 1;
            handed_over += u64::from(from_another);
        }
        turns.work();
    }
    let cpu = cpu_before.map_or(Duration::ZERO, |before| measure::process_cpu_time() - before);
    seat.cpu_ns.store(cpu.as_nanos() as u64, SeqCst);
    seat.handed_over.store(handed_over, SeqCst);
    seat.most_inside.store(most_inside, SeqCst);
    seat.passages.store(passages, SeqCst);
}

fn stays<G: Gate>(gate: &G, board: &Board, seat: &Seat, forks: bool) {
    seat.asked.store(clock_ns(), SeqCst);
    gate.pass(|told| {
        let now = clock_ns();
        seat.told.store(u32::from(told), SeqCst);
        seat.granted.store(now, SeqCst);
        if forks {
            seat.forked.store(fork(), SeqCst);
        }
        seat.stays.store(1, SeqCst);
        while board.phase.load(SeqCst) != ENDS {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// A child that does nothing, and inherits everything that this process has open. The director
/// kills it, or it ends on its own if the director is gone.
fn fork() -> i32 {
    const MINUTE: libc::c_uint = 60;
    // SAFETY: the child only calls `alarm` and `pause`, which are async-signal-safe. It never
    // returns.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(MINUTE);
            loop {
                libc::pause();
            }
        }
        child
    }
}
