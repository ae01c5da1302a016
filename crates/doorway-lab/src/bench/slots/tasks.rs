//! A thousand tasks on two workers, or a hundred thousand; some give up.

use super::peers::{self, TaskRoom};
use super::threads::SECTIONS;
use crate::bench::stage::{Stage, Turns};
use crate::bench::{Effort, workers};
use crate::measure;
use crossbeam_utils::CachePadded;
use serde::Serialize;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// How many tasks there are, and how many when there are many.
const TASKS: [usize; 2] = [1000, 100_000];
pub(super) const SECTION: Duration = SECTIONS[0];

/// Peers with the same tasks.
#[derive(Clone, Debug, Serialize)]
pub struct TaskCell {
    /// How many tasks may be inside.
    pub k: usize,
    /// How many tasks enter again and again.
    pub tasks: usize,
    /// Whether a task gives up half-way every fifth time.
    pub cancels: bool,
    /// The throughput of a second copy of tokio's semaphore, divided by that of the first.
    pub control: f64,
    /// The peers.
    pub peers: Vec<TaskStanding>,
}

impl TaskCell {
    pub(super) fn name(&self) -> String {
        let cancels = if self.cancels { ", a fifth cancelled" } else { "" };
        format!("k = {}, {} tasks{cancels}", self.k, self.tasks)
    }
}

/// The result of a peer: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct TaskStanding {
    /// The peer.
    pub peer: &'static str,
    /// Passages per second.
    pub ops: f64,
    /// The slowest and the fastest repetition.
    pub ops_range: (f64, f64),
    /// CPU time of a passage, of the whole process.
    pub cpu_ns: f64,
    /// How many tasks gave up, for each that got in.
    pub cancelled: f64,
    /// The smallest number of passages of a task, divided by the largest.
    pub share: f64,
    /// The largest number of tasks that were ever inside at once.
    pub most_inside: usize,
    /// Places that could not be acquired when all tasks had gone.
    pub lost: usize,
    /// Places that could be acquired beyond the real ones.
    pub gained: usize,
    /// Tasks that were still waiting ten seconds after the end.
    pub stuck: usize,
}

impl TaskStanding {
    /// What must not happen.
    #[must_use]
    pub fn fault(&self, k: usize) -> Option<String> {
        let faults = [
            (self.most_inside > k, format!("{} WERE INSIDE", self.most_inside)),
            (self.lost > 0, format!("{} PERMITS LOST", self.lost)),
            (self.gained > 0, format!("{} PERMITS TOO MANY", self.gained)),
            (self.stuck > 0, format!("{} TASKS STUCK", self.stuck)),
        ];
        let faults: Vec<String> = faults.into_iter().filter_map(|(is, text)| is.then_some(text)).collect();
        (!faults.is_empty()).then(|| faults.join(", "))
    }
}

struct Scene<R> {
    room: CachePadded<R>,
    stage: CachePadded<Stage>,
    inside: CachePadded<AtomicUsize>,
    most_inside: AtomicUsize,
    /// How many tasks have begun.
    begun: AtomicUsize,
    /// For each task that has gone.
    passages: Mutex<Vec<u64>>,
    cancelled: AtomicUsize,
    turns: Turns,
    cancels: bool,
}

/// Waits, but gives up if it is not ready after this many polls.
async fn unless_cut<F: Future>(future: F, mut times: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if times == 0 => Poll::Ready(None),
        Poll::Pending => {
            times -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

async fn task<R: TaskRoom>(scene: Arc<Scene<R>>, index: usize) {
    let (mut passages, mut cancelled) = (0, 0);
    let mut turn = index;
    scene.begun.fetch_add(1, SeqCst);
    while scene.stage.goes_on(passages) {
        turn += 1;
        // Of ten attempts, one gives up at once, and one after the others had a chance to let it
        // in.
        let guard = match turn % 10 {
            3 if scene.cancels => unless_cut(scene.room.enter(), 0).await,
            8 if scene.cancels => unless_cut(scene.room.enter(), 1).await,
            _ => Some(scene.room.enter().await),
        };
        let counts = scene.stage.counts();
        let Some(guard) = guard else {
            cancelled += usize::from(counts);
            continue;
        };
        scene.most_inside.fetch_max(scene.inside.fetch_add(1, SeqCst) + 1, SeqCst);
        scene.turns.work();
        // Without this there would never be more tasks inside than workers.
        tokio::task::yield_now().await;
        scene.inside.fetch_sub(1, SeqCst);
        drop(guard);
        passages += u64::from(counts);
        // Without this, a task that has just left would be the first to ask again.
        tokio::task::yield_now().await;
    }
    scene.passages.lock().unwrap_or_else(PoisonError::into_inner).push(passages);
    scene.cancelled.fetch_add(cancelled, SeqCst);
    scene.stage.goes();
}

struct Run {
    ops: f64,
    cpu_ns: f64,
    cancelled: f64,
    share: f64,
    most_inside: usize,
    lost: usize,
    gained: usize,
    stuck: usize,
}

fn run<R: TaskRoom>(room: R, plan: &Plan, effort: &Effort) -> Run {
    let scene = Arc::new(Scene {
        room: CachePadded::new(room),
        stage: CachePadded::new(Stage::new(plan.tasks, effort)),
        inside: CachePadded::default(),
        most_inside: AtomicUsize::new(0),
        begun: AtomicUsize::new(0),
        passages: Mutex::default(),
        cancelled: AtomicUsize::new(0),
        turns: plan.turns,
        cancels: plan.cancels,
    });
    let runtime = workers();
    for index in 0..plan.tasks {
        runtime.spawn(task(Arc::clone(&scene), index));
    }
    // The first turn of many tasks takes longer than what is measured.
    while !effort.tiny && scene.begun.load(SeqCst) < plan.tasks {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (wall, cpu) = scene.stage.direct(effort);
    let stuck = scene.stage.wait_for_all();
    // One more than there are, so that an invented place is noticed.
    let taken: Vec<_> = (0..=plan.k).map_while(|_| scene.room.enter_at_once()).collect();
    let (lost, gained) = (plan.k.saturating_sub(taken.len()), taken.len().saturating_sub(plan.k));
    drop(taken);
    runtime.shutdown_background();
    let each = scene.passages.lock().unwrap_or_else(PoisonError::into_inner);
    let passages = each.iter().sum::<u64>() as f64;
    let (fewest, most) = measure::range(each.iter().map(|&passages| passages as f64));
    Run {
        ops: passages / wall.as_secs_f64(),
        cpu_ns: cpu.as_nanos() as f64 / passages.max(1.0),
        cancelled: scene.cancelled.load(SeqCst) as f64 / passages.max(1.0),
        share: fewest / most.max(1.0),
        most_inside: scene.most_inside.load(SeqCst),
        lost,
        gained,
        stuck,
    }
}

#[derive(Clone, Copy)]
struct Plan {
    k: usize,
    tasks: usize,
    turns: Turns,
    cancels: bool,
}

type PeerOfTasks = (&'static str, Box<dyn Fn(&Plan, &Effort) -> Run>);

fn way<R: TaskRoom>(peer: &'static str, room: impl Fn(usize) -> R + 'static) -> PeerOfTasks {
    (peer, Box::new(move |plan, effort| run(room(plan.k), plan, effort)))
}

fn standing(peer: &'static str, runs: &[Run]) -> TaskStanding {
    let median = |of: fn(&Run) -> f64| measure::median(runs.iter().map(of).collect());
    let most = |of: fn(&Run) -> usize| runs.iter().map(of).max().unwrap_or(0);
    TaskStanding {
        peer,
        ops: median(|run| run.ops),
        ops_range: measure::range(runs.iter().map(|run| run.ops)),
        cpu_ns: median(|run| run.cpu_ns),
        cancelled: median(|run| run.cancelled),
        share: median(|run| run.share),
        most_inside: most(|run| run.most_inside),
        lost: most(|run| run.lost),
        gained: most(|run| run.gained),
        stuck: most(|run| run.stuck),
    }
}

fn cell(plan: &Plan, effort: &Effort) -> TaskCell {
    let ways = [
        way(peers::FAIR, peers::slots),
        way(peers::UNFAIR, |k| peers::slots(k).unfair()),
        way(peers::ASYNC_LOCK, async_lock::Semaphore::new),
        way(peers::TOKIO, tokio::sync::Semaphore::new),
        way("control", tokio::sync::Semaphore::new),
    ];
    let mut runs: Vec<Vec<Run>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..effort.repetitions {
        for ((_, run), runs) in ways.iter().zip(&mut runs) {
            runs.push(run(plan, effort));
        }
    }
    let mut peers: Vec<_> = ways.iter().zip(&runs).map(|((peer, _), runs)| standing(peer, runs)).collect();
    let twin = peers.pop().expect("there is a control");
    let control = twin.ops / peers.last().expect("there is what it controls").ops;
    TaskCell { k: plan.k, tasks: plan.tasks, cancels: plan.cancels, control, peers }
}

pub(super) fn cells(turns: Turns, effort: &Effort, done: &mut dyn FnMut(&TaskCell)) -> Vec<TaskCell> {
    let mut cells = Vec::new();
    let [few, many] = TASKS;
    for (k, tasks) in [(4, few), (8, few), (16, few), (8, many)] {
        // A tiny run has each task pass a few times, and is over too late with many of them.
        if effort.tiny && tasks == many {
            continue;
        }
        for cancels in [false, true] {
            let cell = cell(&Plan { k, tasks, turns, cancels }, effort);
            done(&cell);
            cells.push(cell);
        }
    }
    cells
}

/// All faults, which must not happen.
pub(super) fn faults(cells: &[TaskCell]) -> Vec<String> {
    let of = |cell: &TaskCell| -> Vec<String> {
        let told = |peer: &TaskStanding| Some(format!("{}, {}: {}", cell.name(), peer.peer, peer.fault(cell.k)?));
        cell.peers.iter().filter_map(told).collect()
    };
    cells.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_in_capitals() {
        let run =
            Run { ops: 1.0, cpu_ns: 1.0, cancelled: 0.0, share: 1.0, most_inside: 4, lost: 0, gained: 0, stuck: 0 };
        let mut standing = standing("somebody", &[run]);
        assert_eq!(standing.fault(4), None);
        (standing.most_inside, standing.lost) = (5, 2);
        assert_eq!(standing.fault(4).unwrap(), "5 WERE INSIDE, 2 PERMITS LOST");
        assert_eq!(standing.fault(5).unwrap(), "2 PERMITS LOST");
    }

    #[test]
    fn places_that_vanish_or_appear_are_found() {
        use doorway::SlotGuard;
        use doorway::Slots;
        /// One that has fewer or more places than it says, or that lets every task in.
        struct Wrong(Slots, bool);
        impl TaskRoom for Wrong {
            type Guard<'a> = Option<SlotGuard<'a>>;
            async fn enter(&self) -> Self::Guard<'_> {
                if self.1 { None } else { self.0.acquire_async().await.ok() }
            }
            fn enter_at_once(&self) -> Option<Self::Guard<'_>> {
                self.0.try_acquire().ok().map(Some)
            }
        }
        let plan = Plan { k: 2, tasks: TASKS[0], turns: Turns::lasting(SECTION), cancels: true };
        let effort = Effort::tiny(3);
        let fine = run(Wrong(peers::slots(2), false), &plan, &effort);
        assert_eq!((fine.most_inside <= 2, fine.lost, fine.gained, fine.stuck), (true, 0, 0, 0));
        assert_eq!(run(Wrong(peers::slots(1), false), &plan, &effort).lost, 1);
        assert_eq!(run(Wrong(peers::slots(3), false), &plan, &effort).gained, 1);
        assert!(run(Wrong(peers::slots(2), true), &plan, &effort).most_inside > 2);
    }
}
