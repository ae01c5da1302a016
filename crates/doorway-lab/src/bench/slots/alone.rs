//! What it costs to get in and out when nobody else is there.

use super::peers::{self, Pool, Posix, QueuePool, SemaphorePool, Std};
use crate::bench::Effort;
use crate::bench::entrance::Entrance;
use crate::measure;
use serde::Serialize;
use std::hint::black_box;

/// Peers that do the same alone, in nanoseconds of CPU time.
#[derive(Clone, Debug, Serialize)]
pub struct Alone {
    /// What.
    pub what: &'static str,
    /// How many places there are.
    pub k: usize,
    /// The last peer against itself.
    pub control: f64,
    /// The peers.
    pub peers: Vec<AloneStanding>,
}

/// How a peer did alone: in and out once.
#[derive(Clone, Debug, Serialize)]
pub struct AloneStanding {
    /// Who.
    pub peer: &'static str,
    /// Nanoseconds of CPU time, the median.
    pub cpu_ns: f64,
    /// The shortest and the longest round.
    pub cpu_range_ns: (f64, f64),
    /// Against the best of the others' libraries.
    pub ratio: f64,
    /// Instructions, if somebody [counted](super::Report::count_instructions).
    pub instructions: Option<f64>,
}

impl Alone {
    pub(super) fn cpu_ns(&self, name: &str) -> Option<f64> {
        self.peers.iter().find(|peer| peer.peer == name).map(|peer| peer.cpu_ns)
    }
}

const K: usize = 4;

/// A peer, and what passes through it many times.
type Way = (&'static str, Box<dyn FnMut()>);

fn way<R: Entrance + 'static>(peer: &'static str, times: u32, room: R) -> Way {
    let passes = move || {
        let mut me = room.join();
        // The loop is here, and not around a call of who knows what.
        for _ in 0..times {
            R::pass(black_box(&mut me), || ());
        }
    };
    (peer, Box::new(passes))
}

fn pool<P: Pool>(peer: &'static str, times: u32) -> Way {
    let pool = P::new(vec![0; K]);
    let passes = move || {
        for _ in 0..times {
            black_box(&pool).with(|value| *value = black_box(*value + 1));
        }
    };
    (peer, Box::new(passes))
}

/// Measures peers in turns. The last is the control: a second copy of the last but one.
fn contest(what: &'static str, times: u32, effort: &Effort, mut ways: Vec<Way>) -> Alone {
    let mut calls: Vec<&mut dyn FnMut()> = ways.iter_mut().map(|(_, passes)| &mut **passes as _).collect();
    // Odd, and more than elsewhere: these are short.
    let taken = measure::all_in_turns(4 * effort.repetitions + 1, 1, &mut calls);
    let each = |taken: &[f64]| -> Vec<f64> { taken.iter().map(|ns| ns / f64::from(times)).collect() };
    let standing = |(&(peer, _), taken): (&Way, &Vec<f64>)| {
        let taken = each(taken);
        let cpu_range_ns = measure::range(taken.iter().copied());
        AloneStanding { peer, cpu_ns: measure::median(taken), cpu_range_ns, ratio: 0.0, instructions: None }
    };
    let mut peers: Vec<_> = ways.iter().zip(&taken).map(standing).collect();
    let twin = peers.pop().expect("there is a control");
    let control = twin.cpu_ns / peers.last().expect("there is what it controls").cpu_ns;
    let others = peers.iter().filter(|peer| !super::is_ours(peer.peer)).map(|peer| peer.cpu_ns);
    let (best, _) = measure::range(others);
    for peer in &mut peers {
        peer.ratio = peer.cpu_ns / best;
    }
    Alone { what, k: K, control, peers }
}

/// The last but one is compared with itself.
const CONTROL: &str = "control";

fn semaphores(times: u32) -> Vec<Way> {
    vec![
        way(peers::FAIR, times, peers::slots(K)),
        way(peers::UNFAIR, times, peers::slots(K).unfair()),
        way(peers::UNNUMBERED, times, peers::slots(K).without_numbers()),
        way(peers::UNNUMBERED_UNFAIR, times, peers::slots(K).unfair().without_numbers()),
        way(peers::TOKIO, times, tokio::sync::Semaphore::new(K)),
        way(peers::ASYNC_LOCK, times, async_lock::Semaphore::new(K)),
        way(peers::STD, times, Std::new(K)),
        way(peers::PARKING_LOT, times, peers::ParkingLot::new(K)),
        way(peers::SEM_T, times, Posix::new(K)),
        way(CONTROL, times, Posix::new(K)),
    ]
}

fn pools(times: u32) -> Vec<Way> {
    vec![
        pool::<doorway::Pool<u64>>("doorway pool", times),
        pool::<SemaphorePool>("as deadpool does it", times),
        pool::<QueuePool>("crossbeam queue", times),
        pool::<QueuePool>(CONTROL, times),
    ]
}

/// Semaphores, and pools.
pub(super) fn contests(effort: &Effort) -> Vec<Alone> {
    let effort = *effort;
    let times = effort.rounds.clamp(1, 20_000);
    let measure = move || {
        measure::pin(0);
        vec![
            contest("acquire and release", times, &effort, semaphores(times)),
            contest("a value of a pool and back", times, &effort, pools(times)),
        ]
    };
    std::thread::spawn(measure).join().expect("who is alone does not wait")
}

/// In and out so many times, through one of them, and nothing else: for whoever counts. `false` if there is none of that name.
#[must_use]
pub fn pass_alone(peer: &str, times: u32) -> bool {
    let way = semaphores(times).into_iter().chain(pools(times)).find(|(name, _)| *name == peer);
    way.is_some_and(|(_, mut passes)| {
        passes();
        true
    })
}

impl super::Report {
    /// Counts instructions for everybody who is alone. `count` says how many a program had that did nothing but [`pass_alone`].
    pub fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        const FEW: u32 = 1_000;
        const MORE: u32 = 10_000;
        for peer in self.alone.iter_mut().flat_map(|contest| &mut contest.peers) {
            let of = |times| count(peer.peer, times).map(|instructions| instructions as f64);
            // What the rest of the program does is the same in both.
            peer.instructions = of(FEW).zip(of(FEW + MORE)).map(|(few, all)| (all - few) / f64::from(MORE));
        }
    }
}
