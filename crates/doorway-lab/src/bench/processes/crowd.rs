//! Processes that enter again and again.

use super::gates::Peer;
use super::party::{COUNTS, ENDS, Role, WARMS_UP};
use super::scene::{Cast, Party, Scene, eventually};
use crate::bench::Effort;
use crate::bench::alone::CONTROL;
use crate::bench::stage::Turns;
use crate::measure;
use serde::Serialize;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// How long a process works inside, and then outside.
pub(super) const SECTIONS: [Duration; 2] = [Duration::ZERO, Duration::from_micros(10)];
const PROCESSES: [usize; 2] = [4, 8];
const UNITS: [usize; 3] = [1, 2, 4];
/// The peer that runs twice in each cell.
const CONTROLLED: Peer = Peer::Doorway;
/// A process that has not come out by then is stuck.
const STUCK: Duration = Duration::from_secs(60);

/// Peers in one cell of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Crowd {
    /// How many processes may be inside.
    pub k: usize,
    /// How many processes enter again and again.
    pub processes: usize,
    /// How long a process works inside, and then outside.
    pub section_ns: u64,
    /// The throughput of a second copy of our slots, divided by that of our slots.
    pub control: f64,
    /// The peers.
    pub peers: Vec<CrowdStanding>,
}

/// The result of a peer: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct CrowdStanding {
    /// The peer.
    pub peer: &'static str,
    /// Passages per second.
    pub ops: f64,
    /// The slowest and the fastest repetition.
    pub ops_range: (f64, f64),
    /// CPU time of a passage, of all processes, including the work inside and outside.
    pub cpu_ns: f64,
    /// The share of passages that followed one of another process.
    pub handed_over: f64,
    /// The smallest number of passages of a process, divided by the largest.
    pub share: f64,
    /// The largest number of processes inside at the same time.
    pub most_inside: u64,
}

impl Crowd {
    pub(super) fn name(&self) -> String {
        format!("k = {}, {} processes, {} us", self.k, self.processes, self.section_ns / 1000)
    }

    pub(super) fn ops(&self, peer: Peer) -> Option<f64> {
        self.peers.iter().find(|standing| standing.peer == peer.name()).map(|standing| standing.ops)
    }
}

struct Run {
    ops: f64,
    cpu_ns: f64,
    handed_over: f64,
    share: f64,
    most_inside: u64,
}

fn run(cast: Cast<'_>, peer: Peer, k: usize, processes: usize, turns: Turns, effort: &Effort) -> io::Result<Run> {
    let scene = Scene::new(cast, peer, k)?;
    let most = if effort.tiny { u64::from(effort.rounds) } else { u64::MAX };
    let role = Role::Crowd { turns: turns.number(), most };
    let mut crowd = (0..processes).map(|seat| scene.starts(seat, role)).collect::<io::Result<Vec<Party>>>()?;
    let is_ready = || scene.board.ready.load(SeqCst) as usize == processes;
    if !eventually(STUCK, is_ready) {
        return Err(io::Error::other("not all processes began"));
    }
    let begin = if effort.tiny {
        scene.board.phase.store(COUNTS, SeqCst);
        Instant::now()
    } else {
        scene.board.phase.store(WARMS_UP, SeqCst);
        std::thread::sleep(effort.budget / 8);
        scene.board.phase.store(COUNTS, SeqCst);
        let begin = Instant::now();
        std::thread::sleep(effort.budget);
        scene.board.phase.store(ENDS, SeqCst);
        begin
    };
    let wall = begin.elapsed();
    let ended = crowd.iter_mut().filter_map(|party| party.ends_within(STUCK).then_some(())).count();
    if ended != processes {
        return Err(io::Error::other(format!("{} of {processes} processes did not come out", processes - ended)));
    }
    // In a tiny run only the number of passages means anything.
    let wall = if effort.tiny { begin.elapsed() } else { wall };
    let seats = &scene.board.seats[..processes];
    let total = |of: fn(&super::party::Seat) -> u64| seats.iter().map(of).sum::<u64>() as f64;
    let passages = total(|seat| seat.passages.load(SeqCst));
    let (fewest, most) = measure::range(seats.iter().map(|seat| seat.passages.load(SeqCst) as f64));
    Ok(Run {
        ops: passages / wall.as_secs_f64(),
        cpu_ns: total(|seat| seat.cpu_ns.load(SeqCst)) / passages.max(1.0),
        handed_over: total(|seat| seat.handed_over.load(SeqCst)) / passages.max(1.0),
        share: fewest / most.max(1.0),
        most_inside: seats.iter().map(|seat| seat.most_inside.load(SeqCst)).max().unwrap_or(0),
    })
}

fn standing(peer: &'static str, runs: &[Run]) -> CrowdStanding {
    let median = |of: fn(&Run) -> f64| measure::median(runs.iter().map(of).collect());
    CrowdStanding {
        peer,
        ops: median(|run| run.ops),
        ops_range: measure::range(runs.iter().map(|run| run.ops)),
        cpu_ns: median(|run| run.cpu_ns),
        handed_over: median(|run| run.handed_over),
        share: median(|run| run.share),
        most_inside: runs.iter().map(|run| run.most_inside).max().unwrap_or(0),
    }
}

/// All peers in turns, the control last. A peer that breaks down has no row, and its fault is added
/// to `faults`.
fn cell(
    cast: Cast<'_>,
    (k, processes): (usize, usize),
    (section, turns): (Duration, Turns),
    effort: &Effort,
    faults: &mut Vec<String>,
) -> Crowd {
    let mut cell = Crowd { k, processes, section_ns: section.as_nanos() as u64, control: f64::NAN, peers: Vec::new() };
    let peers = Peer::MAIN.into_iter().filter(|peer| peer.units(k) == k).map(|peer| (peer.name(), peer));
    let mut runs: Vec<_> = peers.chain([(CONTROL, CONTROLLED)]).map(|who| (who, Vec::new())).collect();
    for _ in 0..effort.repetitions {
        for ((name, peer), runs) in &mut runs {
            match run(cast, *peer, k, processes, turns, effort) {
                Ok(run) => runs.push(run),
                Err(error) => faults.push(format!("{name}, {}: {error}", cell.name())),
            }
        }
    }
    for ((name, _), runs) in runs.iter().filter(|(_, runs)| !runs.is_empty()) {
        let standing = standing(name, runs);
        if standing.most_inside > k as u64 {
            faults.push(format!("{name}, {}: {} were inside", cell.name(), standing.most_inside));
        }
        cell.peers.push(standing);
    }
    if let Some(twin) = cell.peers.pop_if(|standing| standing.peer == CONTROL) {
        cell.control = cell.ops(CONTROLLED).map_or(f64::NAN, |ops| twin.ops / ops);
    }
    cell
}

pub(super) fn cells(
    cast: Cast<'_>,
    effort: &Effort,
    faults: &mut Vec<String>,
    done: &mut dyn FnMut(&Crowd),
) -> Vec<Crowd> {
    let calibrate = || {
        measure::pin(0);
        SECTIONS.map(|section| if section.is_zero() { Turns::of(0) } else { Turns::lasting(section) })
    };
    let works = std::thread::spawn(calibrate).join().expect("work ends");
    let mut cells = Vec::new();
    for section in SECTIONS.into_iter().zip(works) {
        for size in UNITS.into_iter().flat_map(|k| PROCESSES.map(|processes| (k, processes))) {
            let cell = cell(cast, size, section, effort, faults);
            done(&cell);
            cells.push(cell);
        }
    }
    cells
}
