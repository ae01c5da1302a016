//! The cost of getting in and out without contention.

use super::Effort;
use super::entrance::Entrance;
use crate::measure;
use serde::Serialize;
use std::hint::black_box;

/// Peers that do the same thing alone, in nanoseconds of CPU time.
#[derive(Clone, Debug, Serialize)]
pub struct Alone {
    /// What they do.
    pub what: &'static str,
    /// The number of places.
    pub k: usize,
    /// The CPU time of a second copy of the last peer, divided by that of the last peer.
    pub control: f64,
    /// The peers.
    pub peers: Vec<AloneStanding>,
}

/// The result of a peer alone: in and out once.
#[derive(Clone, Debug, Serialize)]
pub struct AloneStanding {
    /// The peer.
    pub peer: &'static str,
    /// Nanoseconds of CPU time, the median.
    pub cpu_ns: f64,
    /// The shortest and the longest round.
    pub cpu_range_ns: (f64, f64),
    /// CPU time divided by that of the best of the other libraries.
    pub ratio: f64,
    /// Instructions, if they were counted.
    pub instructions: Option<f64>,
}

impl Alone {
    /// Counts instructions for every peer. `count` runs a program that only makes passages through
    /// a peer, and returns how many instructions this program executed.
    pub(super) fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        const FEW: u32 = 1_000;
        const MORE: u32 = 10_000;
        for peer in &mut self.peers {
            let of = |times| count(peer.peer, times).map(|instructions| instructions as f64);
            // The rest of the program is the same in both runs.
            peer.instructions = of(FEW).zip(of(FEW + MORE)).map(|(few, all)| (all - few) / f64::from(MORE));
        }
    }

    pub(super) fn cpu_ns(&self, name: &str) -> Option<f64> {
        self.peers.iter().find(|peer| peer.peer == name).map(|peer| peer.cpu_ns)
    }
}

/// A peer, and a closure that passes through it many times.
pub(super) type PeerAlone = (&'static str, Box<dyn FnMut()>);

pub(super) fn way<R: Entrance + 'static>(peer: &'static str, times: u32, room: R) -> PeerAlone {
    let passes = move || {
        let mut me = room.join();
        // The loop is inside the closure. Outside, each turn would call an unknown function.
        for _ in 0..times {
            R::pass(black_box(&mut me), || ());
        }
    };
    (peer, Box::new(passes))
}

/// Measures peers in turns. The last is the control: a second copy of the last but one.
pub(super) fn contest(what: &'static str, k: usize, times: u32, effort: &Effort, mut ways: Vec<PeerAlone>) -> Alone {
    let mut calls: Vec<&mut dyn FnMut()> = ways.iter_mut().map(|(_, passes)| &mut **passes as _).collect();
    // An odd number, because of the median. More rounds than elsewhere, because each is short.
    let taken = measure::all_in_turns(4 * effort.repetitions + 1, 1, &mut calls);
    let each = |taken: &[f64]| -> Vec<f64> { taken.iter().map(|ns| ns / f64::from(times)).collect() };
    let standing = |(&(peer, _), taken): (&PeerAlone, &Vec<f64>)| {
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
    Alone { what, k, control, peers }
}

/// The name of the second copy of the last peer.
pub(super) const CONTROL: &str = "control";
