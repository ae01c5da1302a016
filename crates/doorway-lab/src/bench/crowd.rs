//! One thread or task, the *changer*, changes signals, and many wait: all of them for the same
//! signal, or each for its own.

use super::contest::{Contest, Contestant, Taken};
use super::peers::{EventListener, Notify, PARK, ParkingLot, Peer, TASK, TaskPeer, Unpark, YIELD};
use super::{Effort, Pace, STOP, workers};
use crate::measure;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const CROWDS: [usize; 4] = [1, 2, 8, 32];

/// Which waiters a round is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    All,
    OneInTurn,
}

/// What a crowd waits for, and what the changer waits for.
struct Scene<P: Peer> {
    signals: Vec<P::Signal>,
    back: P::Signal,
    answers: AtomicU64,
    waiters: u64,
    meant: Meant,
}

impl<P: Peer> Scene<P> {
    fn new(peer: P, waiters: usize, meant: Meant) -> Self {
        let signals = if meant == Meant::All { 1 } else { waiters };
        Self {
            signals: (0..signals).map(|_| peer.signal()).collect(),
            back: peer.signal(),
            answers: AtomicU64::new(0),
            waiters: waiters as u64,
            meant,
        }
    }

    fn signal_of(&self, waiter: usize) -> &P::Signal {
        &self.signals[waiter % self.signals.len()]
    }

    /// The next round after `round` that this waiter takes part in; its first if `round` is `None`.
    fn next(&self, waiter: usize, round: Option<u64>) -> u64 {
        match (self.meant, round) {
            // The first round is for all, so that every waiter is there.
            (_, None) => 1,
            (Meant::All, Some(round)) => round + 1,
            (Meant::OneInTurn, Some(1)) => 2 + waiter as u64,
            (Meant::OneInTurn, Some(round)) => round + self.waiters,
        }
    }

    /// The changer's part of a round, up to its wait.
    fn begin(&self, me: &P::Party, round: u64) {
        match self.meant {
            Meant::OneInTurn if round > 1 => P::set(me, self.signal_of((round - 2) as usize), round),
            _ => self.signals.iter().for_each(|signal| P::set(me, signal, round)),
        }
    }

    /// A waiter's part of a round, after its wait. The last waiter that the round is for tells the
    /// changer.
    fn answer(&self, me: &P::Party, round: u64) {
        if self.meant == Meant::OneInTurn && round > 1
            || (self.answers.fetch_add(1, SeqCst) + 1).is_multiple_of(self.waiters)
        {
            P::set(me, &self.back, round);
        }
    }

    fn end(&self, me: &P::Party) {
        self.signals.iter().for_each(|signal| P::set(me, signal, STOP));
    }
}

fn of_threads<P: Peer>(peer: P, waiters: usize, meant: Meant, effort: &Effort) -> Taken {
    let scene = Scene::new(peer, waiters, meant);
    std::thread::scope(|s| {
        for waiter in 0..waiters {
            let scene = &scene;
            s.spawn(move || {
                // The changer is on the first processor; a single waiter is on the other.
                measure::pin((waiter + 1) % 2);
                let (me, signal) = (peer.party(1 + waiter, false), scene.signal_of(waiter));
                P::listens(signal);
                let mut round = scene.next(waiter, None);
                while P::wait(&me, signal, round) != STOP {
                    scene.answer(&me, round);
                    round = scene.next(waiter, Some(round));
                }
            });
        }
        let changer = s.spawn(|| {
            measure::pin(0);
            let me = peer.party(0, false);
            P::listens(&scene.back);
            scene.begin(&me, 1);
            P::wait(&me, &scene.back, 1);
            let (mut pace, cpu) = (Pace::new(effort), measure::process_cpu_time());
            while pace.goes_on() {
                scene.begin(&me, pace.turns);
                P::wait(&me, &scene.back, pace.turns);
            }
            let taken = Taken::each(pace.turns - 1, pace.begin.elapsed(), measure::process_cpu_time() - cpu);
            scene.end(&me);
            taken
        });
        changer.join().expect("the changer ends")
    })
}

fn of_tasks<P: TaskPeer>(peer: P, waiters: usize, meant: Meant, effort: &Effort) -> Taken {
    let (scene, effort) = (Arc::new(Scene::new(peer, waiters, meant)), *effort);
    workers().block_on(async {
        let crowd: Vec<_> = (0..waiters)
            .map(|waiter| {
                let scene = Arc::clone(&scene);
                tokio::spawn(async move {
                    let (me, signal) = (peer.party(1 + waiter, true), scene.signal_of(waiter));
                    let mut round = scene.next(waiter, None);
                    while P::wait_as_task(&me, signal, round).await != STOP {
                        scene.answer(&me, round);
                        round = scene.next(waiter, Some(round));
                    }
                })
            })
            .collect();
        let changer = tokio::spawn(async move {
            let me = peer.party(0, true);
            scene.begin(&me, 1);
            P::wait_as_task(&me, &scene.back, 1).await;
            let (mut pace, cpu) = (Pace::new(&effort), measure::process_cpu_time());
            while pace.goes_on() {
                scene.begin(&me, pace.turns);
                P::wait_as_task(&me, &scene.back, pace.turns).await;
            }
            let taken = Taken::each(pace.turns - 1, pace.begin.elapsed(), measure::process_cpu_time() - cpu);
            scene.end(&me);
            taken
        });
        let taken = changer.await.expect("the changer ends");
        for waiter in crowd {
            waiter.await.expect("a waiter ends");
        }
        taken
    })
}

fn threads<P: Peer>(peer: P, waiters: usize, meant: Meant) -> Contestant {
    Contestant { peer: peer.name(), measure: Box::new(move |effort| of_threads(peer, waiters, meant, effort)) }
}

fn tasks<P: TaskPeer>(peer: P, waiters: usize, meant: Meant) -> Contestant {
    Contestant { peer: peer.name(), measure: Box::new(move |effort| of_tasks(peer, waiters, meant, effort)) }
}

/// All crowds. Each gets half of the budget of a hand-over, because there are many.
pub(super) fn contests(effort: &Effort, done: &mut dyn FnMut(&Contest)) -> Vec<Contest> {
    let effort = Effort { budget: (effort.budget / 2).max(Duration::from_millis(1)), ..*effort };
    let mut contests = Vec::new();
    let mut hold = |what: String, waiters, ways| {
        let contest = Contest::hold(what, super::TWO_CORES, waiters, &effort, ways);
        done(&contest);
        contests.push(contest);
    };
    for (meant, name) in [(Meant::All, "wake all"), (Meant::OneInTurn, "wake one of")] {
        for n in CROWDS {
            let ways = vec![
                threads(PARK, n, meant),
                threads(YIELD, n, meant),
                threads(Unpark, n, meant),
                threads(EventListener, n, meant),
                threads(ParkingLot("parking_lot"), n, meant),
                threads(ParkingLot("control"), n, meant),
            ];
            hold(format!("{name} {n} threads"), n, ways);
        }
        for n in CROWDS {
            let ways = vec![
                tasks(TASK, n, meant),
                tasks(EventListener, n, meant),
                tasks(Notify("tokio Notify"), n, meant),
                tasks(Notify("control"), n, meant),
            ];
            hold(format!("{name} {n} tasks"), n, ways);
        }
    }
    contests
}
