//! The cost of getting in and out without contention.

use super::peers::{self, Pool, Posix, QueuePool, SemaphorePool, Std};
use crate::bench::Effort;
use crate::bench::alone::{Alone, CONTROL, PeerAlone, contest, way};
use crate::measure;
use std::hint::black_box;

const K: usize = 4;

fn pool<P: Pool>(peer: &'static str, times: u32) -> PeerAlone {
    let pool = P::new(vec![0; K]);
    let passes = move || {
        for _ in 0..times {
            black_box(&pool).with(|value| *value = black_box(*value + 1));
        }
    };
    (peer, Box::new(passes))
}

fn semaphores(times: u32) -> Vec<PeerAlone> {
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

fn pools(times: u32) -> Vec<PeerAlone> {
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
            contest("acquire and release", K, times, &effort, semaphores(times)),
            contest("a value of a pool and back", K, times, &effort, pools(times)),
        ]
    };
    std::thread::spawn(measure).join().expect("a lone thread does not wait")
}

/// Makes this many passages through one peer, and does nothing else, so that instructions can be
/// counted. Returns `false` if there is no peer of that name.
#[must_use]
pub fn pass_alone(peer: &str, times: u32) -> bool {
    let way = semaphores(times).into_iter().chain(pools(times)).find(|(name, _)| *name == peer);
    way.is_some_and(|(_, mut passes)| {
        passes();
        true
    })
}

impl super::Report {
    /// Counts instructions for every peer alone. `count` runs [`pass_alone`] in a program of its
    /// own, and returns how many instructions this program executed.
    pub fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        self.alone.iter_mut().for_each(|contest| contest.count_instructions(&count));
    }
}
