//! Two parties hand over to each other.

use super::contest::{Contest, Contestant, Taken};
use super::peers::{Doorway, EventListener, Notify, ONE, PARK, ParkingLot, Peer, SPIN, TASK, TaskPeer, Unpark, YIELD};
use super::{Effort, Pace, STOP, executor, workers};
use crate::measure;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two signals, one for each side to wait for.
type Signals<P> = Arc<[<P as Peer>::Signal; 2]>;

fn signals<P: Peer>(peer: P) -> Signals<P> {
    Arc::new([peer.signal(), peer.signal()])
}

/// What one side has seen: hand-overs, and time.
struct Seen {
    turns: u64,
    wall: Duration,
    cpu: Duration,
}

fn busy(time: Duration) {
    let begin = Instant::now();
    while !time.is_zero() && begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The side that sets the pace, and decides when to stop.
fn leads<P: Peer>(peer: P, signals: &Signals<P>, effort: &Effort, hold: Duration) -> Seen {
    let me = peer.party(0, false);
    P::listens(&signals[0]);
    // The other side is ready once it has answered.
    P::set(&me, &signals[1], 1);
    P::wait(&me, &signals[0], 1);
    let (mut pace, cpu) = (Pace::new(effort), measure::cpu_time());
    while pace.goes_on() {
        let turn = pace.turns;
        busy(hold);
        P::set(&me, &signals[1], turn);
        P::wait(&me, &signals[0], turn);
    }
    let seen = Seen { turns: pace.turns - 1, wall: pace.begin.elapsed(), cpu: measure::cpu_time() - cpu };
    P::set(&me, &signals[1], STOP);
    seen
}

/// The side that answers. Returns its CPU time.
fn follows<P: Peer>(peer: P, signals: &Signals<P>, hold: Duration) -> Duration {
    let me = peer.party(1, false);
    P::listens(&signals[1]);
    let mut cpu = Duration::ZERO;
    for turn in 1.. {
        if P::wait(&me, &signals[1], turn) == STOP {
            break;
        }
        if turn == 1 {
            cpu = measure::cpu_time();
        }
        busy(hold);
        P::set(&me, &signals[0], turn);
    }
    measure::cpu_time() - cpu
}

async fn leads_as_task<P: TaskPeer>(peer: P, signals: Signals<P>, effort: Effort) -> Seen {
    let me = peer.party(0, true);
    P::set(&me, &signals[1], 1);
    P::wait_as_task(&me, &signals[0], 1).await;
    let (mut pace, cpu) = (Pace::new(&effort), measure::process_cpu_time());
    while pace.goes_on() {
        let turn = pace.turns;
        P::set(&me, &signals[1], turn);
        P::wait_as_task(&me, &signals[0], turn).await;
    }
    let seen = Seen { turns: pace.turns - 1, wall: pace.begin.elapsed(), cpu: measure::process_cpu_time() - cpu };
    P::set(&me, &signals[1], STOP);
    seen
}

async fn follows_as_task<P: TaskPeer>(peer: P, signals: Signals<P>) -> Duration {
    let me = peer.party(1, true);
    let mut cpu = Duration::ZERO;
    for turn in 1.. {
        if P::wait_as_task(&me, &signals[1], turn).await == STOP {
            break;
        }
        if turn == 1 {
            cpu = measure::cpu_time();
        }
        P::set(&me, &signals[0], turn);
    }
    measure::cpu_time().saturating_sub(cpu) // a task may have changed threads; then this is unused
}

/// Each turn is two hand-overs. Before each of them, a side holds the baton for a while.
fn taken(seen: &Seen, other: Duration, hold: Duration) -> Taken {
    let held = hold.as_nanos() as f64;
    let taken = Taken::each(2 * seen.turns, seen.wall, seen.cpu + other);
    Taken { wall_ns: taken.wall_ns - held, cpu_ns: taken.cpu_ns - held }
}

fn between_threads<P: Peer>(peer: P, processors: [usize; 2], effort: &Effort, hold: Duration) -> Taken {
    let signals = signals(peer);
    std::thread::scope(|s| {
        let follower = s.spawn(|| {
            measure::pin(processors[1]);
            follows(peer, &signals, hold)
        });
        let leader = s.spawn(|| {
            measure::pin(processors[0]);
            leads(peer, &signals, effort, hold)
        });
        taken(&join(leader), join(follower), hold)
    })
}

fn from_thread_to_task<P: TaskPeer>(peer: P, processors: [usize; 2], effort: &Effort) -> Taken {
    let signals = signals(peer);
    std::thread::scope(|s| {
        let task = s.spawn(|| {
            measure::pin(processors[1]);
            executor().block_on(follows_as_task(peer, Arc::clone(&signals)))
        });
        let thread = s.spawn(|| {
            measure::pin(processors[0]);
            leads(peer, &signals, effort, Duration::ZERO)
        });
        taken(&join(thread), join(task), Duration::ZERO)
    })
}

fn between_tasks<P: TaskPeer>(peer: P, on_one_thread: bool, effort: &Effort) -> Taken {
    let (signals, effort) = (signals(peer), *effort);
    let run = move || {
        let runtime = if on_one_thread {
            measure::pin(0);
            executor()
        } else {
            workers()
        };
        runtime.block_on(async {
            let follower = tokio::spawn(follows_as_task(peer, Arc::clone(&signals)));
            let leader = tokio::spawn(leads_as_task(peer, signals, effort));
            let seen = leader.await.expect("the leading task ends");
            follower.await.expect("the following task ends");
            seen
        })
    };
    taken(&join(std::thread::spawn(run)), Duration::ZERO, Duration::ZERO)
}

fn join<T>(thread: impl Joins<T>) -> T {
    thread.joined()
}

/// Both kinds of handles of a thread.
trait Joins<T> {
    fn joined(self) -> T;
}
impl<T> Joins<T> for std::thread::ScopedJoinHandle<'_, T> {
    fn joined(self) -> T {
        self.join().expect("the thread ends")
    }
}
impl<T> Joins<T> for std::thread::JoinHandle<T> {
    fn joined(self) -> T {
        self.join().expect("the thread ends")
    }
}

/// All pairs in all places.
pub(super) fn contests(effort: &Effort, done: &mut dyn FnMut(&Contest)) -> Vec<Contest> {
    let mut contests = Vec::new();
    let mut hold = |what: &str, place, ways| {
        let contest = Contest::hold(what.to_owned(), place, 1, effort, ways);
        done(&contest);
        contests.push(contest);
    };
    let places = [(super::TWO_CORES, [0, 1]), (super::ONE_CORE, [0, 0])];
    let long = Duration::from_micros(50);
    let threads = places.map(|(place, processors)| (super::THREAD_TO_THREAD, place, processors, Duration::ZERO));
    for (what, place, processors, held) in
        threads.into_iter().chain([("thread to thread, asleep by then", super::TWO_CORES, [0, 1], long)])
    {
        fn way<P: Peer>(peer: P, processors: [usize; 2], held: Duration) -> Contestant {
            let measure = Box::new(move |effort: &Effort| between_threads(peer, processors, effort, held));
            Contestant { peer: peer.name(), measure }
        }
        let ours = [PARK, YIELD, SPIN].map(|peer: Doorway| way(peer, processors, held));
        let others = [
            way(Unpark, processors, held),
            way(EventListener, processors, held),
            way(ParkingLot("parking_lot"), processors, held),
            way(ParkingLot("control"), processors, held),
        ];
        hold(what, place, ours.into_iter().chain(others).collect());
    }
    for (place, on_one_thread) in [(super::TWO_CORES, false), (super::ONE_CORE, true)] {
        fn way<P: TaskPeer>(peer: P, on_one_thread: bool) -> Contestant {
            Contestant {
                peer: peer.name(),
                measure: Box::new(move |effort| between_tasks(peer, on_one_thread, effort)),
            }
        }
        let ways = vec![
            way(ONE, on_one_thread),
            way(TASK, on_one_thread),
            way(EventListener, on_one_thread),
            way(Notify("tokio Notify"), on_one_thread),
            way(Notify("control"), on_one_thread),
        ];
        hold("task to task", place, ways);
    }
    for (place, processors) in places {
        fn way<P: TaskPeer>(peer: P, processors: [usize; 2]) -> Contestant {
            let measure = Box::new(move |effort: &Effort| from_thread_to_task(peer, processors, effort));
            Contestant { peer: peer.name(), measure }
        }
        let ours = [PARK, YIELD, SPIN].map(|peer| way(peer, processors));
        let others = [
            way(EventListener, processors),
            way(Notify("tokio Notify"), processors),
            way(Notify("control"), processors),
        ];
        hold("thread to task", place, ours.into_iter().chain(others).collect());
    }
    contests
}
