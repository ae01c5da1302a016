//! Peers measured in turns.

use super::Effort;
use crate::measure;
use serde::Serialize;
use std::time::Duration;

/// One measurement of one peer, for one hand-over or one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) wall_ns: f64,
    pub(super) cpu_ns: f64,
}

impl Taken {
    pub(super) fn each(times: u64, wall: Duration, cpu: Duration) -> Self {
        let each = |time: Duration| time.as_nanos() as f64 / times.max(1) as f64;
        Self { wall_ns: each(wall), cpu_ns: each(cpu) }
    }
}

/// How a peer is measured.
pub(super) struct Contestant {
    pub(super) peer: &'static str,
    pub(super) measure: Box<dyn FnMut(&Effort) -> Taken>,
}

/// One table: peers that did the same thing in turns.
#[derive(Clone, Debug, Serialize)]
pub struct Contest {
    /// What they did.
    pub what: String,
    /// Where they ran.
    pub place: &'static str,
    /// The number of waiters.
    pub waiters: usize,
    /// The wall time of a second copy of one peer, divided by that of the peer. A ratio that is no
    /// farther from 1 than this one means nothing.
    pub control: f64,
    /// The peers.
    pub peers: Vec<Standing>,
}

/// The result of a peer: medians over the repetitions, of one hand-over or one round.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The peer.
    pub peer: &'static str,
    /// Nanoseconds until it was done.
    pub wall_ns: f64,
    /// The shortest and the longest repetition.
    pub wall_range_ns: (f64, f64),
    /// Nanoseconds of processor time, of all participants.
    pub cpu_ns: f64,
    /// Wall time divided by that of the best of the other libraries.
    pub wall_ratio: f64,
    /// CPU time divided by that of the best of the other libraries.
    pub cpu_ratio: f64,
}

impl Standing {
    /// Whether this peer is ours, not another library's.
    fn is_ours(&self) -> bool {
        super::is_ours(self.peer)
    }
}

impl Contest {
    /// Measures peers in turns. The last is the control: a second copy of the last but one.
    pub(super) fn hold(
        what: String,
        place: &'static str,
        waiters: usize,
        effort: &Effort,
        mut ways: Vec<Contestant>,
    ) -> Self {
        let mut taken: Vec<Vec<Taken>> = ways.iter().map(|_| Vec::new()).collect();
        for _ in 0..effort.repetitions {
            for (way, taken) in ways.iter_mut().zip(&mut taken) {
                taken.push((way.measure)(effort));
            }
        }
        let mut peers: Vec<Standing> = ways.iter().zip(&taken).map(|(way, taken)| standing(way.peer, taken)).collect();
        let control = peers.pop().expect("there is a control");
        let control = control.wall_ns / peers.last().expect("there is what it controls").wall_ns;
        let best = |of: fn(&Standing) -> f64| {
            peers.iter().filter(|peer| !peer.is_ours()).map(of).min_by(f64::total_cmp).unwrap_or(f64::NAN)
        };
        let (wall, cpu) = (best(|peer| peer.wall_ns), best(|peer| peer.cpu_ns));
        for peer in &mut peers {
            (peer.wall_ratio, peer.cpu_ratio) = (peer.wall_ns / wall, peer.cpu_ns / cpu);
        }
        Self { what, place, waiters, control, peers }
    }

    /// The wall time of one peer against that of another.
    pub(super) fn ratio(&self, peer: &str, to: &str) -> Option<f64> {
        let of = |name| self.peers.iter().find(|peer| peer.peer == name).map(|peer| peer.wall_ns);
        Some(of(peer)? / of(to)?)
    }
}

fn standing(peer: &'static str, taken: &[Taken]) -> Standing {
    let walls = taken.iter().map(|t| t.wall_ns);
    Standing {
        peer,
        wall_range_ns: measure::range(walls.clone()),
        wall_ns: measure::median(walls.collect()),
        cpu_ns: measure::median(taken.iter().map(|t| t.cpu_ns).collect()),
        wall_ratio: 0.0,
        cpu_ratio: 0.0,
    }
}
