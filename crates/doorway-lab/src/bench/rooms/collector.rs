//! The experiment of the paper's section 4: work that creates more work, in batches, by several
//! threads.

use super::stores::{Counted, Node, ParkingLot, Peak, Rooms, Std, Store, Treiber, UnderLock};
use crate::bench::Effort;
use crate::bench::stage::Turns;
use crate::measure;
use crossbeam_deque::Injector;
use crossbeam_queue::{ArrayQueue, SegQueue};
use serde::Serialize;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// The number of nodes in a batch.
pub(crate) const BATCH: usize = 500;
/// Nodes at the start.
pub(crate) const ROOTS: f64 = 16_000.0;
/// Generations of descendants of a root.
pub(crate) const GENERATIONS: Node = 11;
/// The average wait between taking a batch and giving back the result, relative to a cycle without
/// waits and without other threads.
pub(crate) const WAITS: [f64; 3] = [0.4, 1.0, 6.0];
pub(super) const THREADS: [usize; 4] = [1, 2, 4, 8];
/// A wait is one of `0..=STEPS` steps.
const STEPS: u64 = 16;

pub(super) const ROOMS: &str = "doorway rooms";

/// The size of the experiment.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// Nodes at the start.
    pub roots: usize,
    /// Nodes to process in total.
    pub nodes: usize,
}

impl Size {
    /// This share of the paper's experiment.
    pub(super) fn scaled(scale: f64) -> Self {
        let roots = (ROOTS * scale).round().max(1.0) as usize;
        Self { roots, nodes: roots * ((2 << GENERATIONS) - 1) }
    }

    fn peak(self, threads: usize) -> Peak {
        // Last in, first out, each thread continues with the children of what it took: at most a
        // batch of each generation.
        let deep = (threads + 1) * 2 * BATCH * (GENERATIONS as usize + 2);
        Peak { last_in_first_out: self.roots + deep + (1 << 20), all_at_once: self.roots << GENERATIONS }
    }
}

/// One cell: a number of threads and a length of the wait.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The number of threads, spread over the processors.
    pub threads: usize,
    /// The average wait, in transfer times.
    pub wait: f64,
    /// The time of a node with one thread alone, without synchronization, and with this wait:
    /// perfect speed-up.
    pub perfect_ns: f64,
    /// The work of a second copy of one peer, divided by that of the peer.
    pub control: f64,
    /// The peers.
    pub peers: Vec<Standing>,
}

/// The result of a peer: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The peer.
    pub peer: &'static str,
    /// Wall time times threads, per node.
    pub work_ns: f64,
    /// The smallest and the largest.
    pub work_range_ns: (f64, f64),
    /// CPU time of all threads, per node.
    pub cpu_ns: f64,
    /// Total work divided by that of the best of the others.
    pub ratio: f64,
    /// The cost of taking or giving back a batch beyond perfect speed-up, in transfer times: two
    /// visits per cycle.
    pub overhead: f64,
}

impl Cell {
    pub(super) fn peer(&self, name: &str) -> Option<&Standing> {
        self.peers.iter().find(|peer| peer.peer == name)
    }
}

/// All cells, and the baselines.
#[derive(Clone, Debug, Serialize)]
pub struct Experiment {
    /// The size of the experiment.
    pub size: Size,
    /// The transfer time: one cycle of one thread alone without synchronization or wait (take a
    /// batch, process each node once, give back the result).
    pub transfer_ns: f64,
    /// The time of a node without synchronization and without wait.
    pub alone_ns: f64,
    /// All cells.
    pub cells: Vec<Cell>,
}

/// Processes each node once: a node with generations to come becomes two, and others vanish.
fn process(batch: &mut Vec<Node>) -> usize {
    let taken = batch.len();
    let mut kept = 0;
    for i in 0..taken {
        let node = batch[i];
        if node > 0 {
            batch[kept] = node - 1;
            kept += 1;
            batch.push(node - 1);
        }
    }
    // The second children follow the first ones.
    batch.drain(kept..taken);
    taken
}

/// One thread, no synchronization, no wait. Returns wall time and cycles.
fn alone(size: Size) -> (Duration, usize) {
    let mut nodes = vec![GENERATIONS; size.roots];
    let mut batch = Vec::with_capacity(2 * BATCH);
    let (begin, mut done, mut cycles) = (Instant::now(), 0, 0);
    while !nodes.is_empty() {
        batch.extend(nodes.drain(nodes.len().saturating_sub(BATCH)..));
        done += process(&mut batch);
        nodes.append(&mut batch);
        cycles += 1;
    }
    assert_eq!(done, size.nodes, "each node is processed once");
    (begin.elapsed(), cycles)
}

struct Run {
    work_ns: f64,
    cpu_ns: f64,
}

/// What all threads do.
#[derive(Clone, Copy)]
struct Plan {
    size: Size,
    threads: usize,
    step: Turns,
    processors: usize,
}

fn run<S: Store>(plan: &Plan) -> Run {
    let Plan { size, threads, step, processors } = *plan;
    let store = S::new(vec![GENERATIONS; size.roots], size.peak(threads));
    let ready = Barrier::new(threads + 1);
    let worker = |index: usize| {
        measure::pin(index % processors);
        let mut dice = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut done = 0;
        ready.wait();
        let begin = Instant::now();
        store.work(&mut |batch| {
            done += process(batch);
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (0..(dice >> 20) % (STEPS + 1)).for_each(|_| step.work());
        });
        (done, begin, Instant::now())
    };
    let (worker, ready) = (&worker, &ready);
    let (done, wall, cpu) = std::thread::scope(|s| {
        let all: Vec<_> = (0..threads).map(|index| s.spawn(move || worker(index))).collect();
        let cpu = measure::process_cpu_time();
        ready.wait();
        let all: Vec<_> = all.into_iter().map(|thread| thread.join().expect("a worker ends")).collect();
        let cpu = measure::process_cpu_time() - cpu;
        // From the first start to the last end: this thread may be descheduled at those moments.
        let begin = all.iter().map(|(_, begin, _)| *begin).min().expect("there are workers");
        let end = all.iter().map(|(_, _, end)| *end).max().expect("there are workers");
        (all.iter().map(|(done, ..)| done).sum::<usize>(), end - begin, cpu)
    });
    assert_eq!(done, size.nodes, "each node is processed once");
    let each = |time: Duration| time.as_nanos() as f64 / size.nodes as f64;
    Run { work_ns: each(wall) * threads as f64, cpu_ns: each(cpu) }
}

/// A peer, and how to run it.
type Peer = (&'static str, fn(&Plan) -> Run);

/// Peers; the last is the control, a second copy of the last but one.
const PEERS: [Peer; 8] = [
    (ROOMS, run::<Rooms>),
    ("std Mutex<Vec>", run::<UnderLock<Std>>),
    ("Treiber's stack", run::<Counted<Treiber>>),
    ("crossbeam SegQueue", run::<Counted<SegQueue<Node>>>),
    ("crossbeam ArrayQueue", run::<Counted<ArrayQueue<Node>>>),
    ("crossbeam Injector", run::<Counted<Injector<Node>>>),
    ("parking_lot Mutex<Vec>", run::<UnderLock<ParkingLot>>),
    ("control", run::<UnderLock<ParkingLot>>),
];

/// All peers in turns.
pub(super) fn experiment(effort: &Effort, size: Size, processors: usize, progress: &mut dyn FnMut(&str)) -> Experiment {
    // Five, as in the paper: a run takes a while.
    let repetitions = effort.repetitions.min(5);
    let calibrate = move || {
        measure::pin(0);
        let runs: Vec<_> = (0..repetitions.max(3)).map(|_| alone(size)).collect();
        let median = |of: fn(&(Duration, usize)) -> f64| measure::median(runs.iter().map(of).collect());
        let wall = median(|(wall, _)| wall.as_nanos() as f64);
        let cycles = median(|(_, cycles)| *cycles as f64);
        let transfer = wall / cycles;
        // Uniform from nothing to twice the mean.
        let steps =
            WAITS.map(|wait| Turns::lasting(Duration::from_nanos((2.0 * wait * transfer / STEPS as f64) as u64)));
        (wall / size.nodes as f64, transfer, cycles, steps)
    };
    let (alone_ns, transfer_ns, cycles, steps) = std::thread::spawn(calibrate).join().expect("work ends");
    let per_node = cycles / size.nodes as f64;
    let mut cells = Vec::new();
    for (wait, step) in WAITS.into_iter().zip(steps) {
        for threads in THREADS {
            let plan = Plan { size, threads, step, processors };
            let mut runs: Vec<Vec<Run>> = PEERS.iter().map(|_| Vec::new()).collect();
            for _ in 0..repetitions {
                for ((_, run), runs) in PEERS.iter().zip(&mut runs) {
                    runs.push(run(&plan));
                }
            }
            let perfect_ns = alone_ns + wait * transfer_ns * per_node;
            let standing = |((peer, _), runs): (&Peer, &Vec<Run>)| {
                let work_ns = measure::median(runs.iter().map(|run| run.work_ns).collect());
                Standing {
                    peer,
                    work_ns,
                    work_range_ns: measure::range(runs.iter().map(|run| run.work_ns)),
                    cpu_ns: measure::median(runs.iter().map(|run| run.cpu_ns).collect()),
                    ratio: 0.0,
                    overhead: (work_ns - perfect_ns) / per_node / 2.0 / transfer_ns,
                }
            };
            let mut peers: Vec<_> = PEERS.iter().zip(&runs).map(standing).collect();
            let twin = peers.pop().expect("there is a control");
            let control = twin.work_ns / peers.last().expect("there is what it controls").work_ns;
            let others = peers.iter().filter(|peer| !crate::bench::is_ours(peer.peer)).map(|peer| peer.work_ns);
            let (best, _) = measure::range(others);
            peers.iter_mut().for_each(|peer| peer.ratio = peer.work_ns / best);
            progress(&format!("{threads} threads, waits of {:.0} %", 100.0 * wait));
            cells.push(Cell { threads, wait, perfect_ns, control, peers });
        }
    }
    Experiment { size, transfer_ns, alone_ns, cells }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_size() {
        let size = Size::scaled(1.0);
        assert_eq!((size.roots, size.nodes), (16_000, 65_520_000));
        let (_, cycles) = alone(Size::scaled(0.001));
        assert!(cycles >= 16 * 4095 / BATCH);
    }

    #[test]
    fn a_node_becomes_two_and_then_nothing() {
        let mut batch = vec![2, 0, 1];
        assert_eq!(process(&mut batch), 3);
        batch.sort_unstable();
        assert_eq!(batch, [0, 0, 1, 1]);
    }
}
