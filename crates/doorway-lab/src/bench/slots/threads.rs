//! More threads than places.

use super::peers::{self, Posix, Std};
use crate::bench::Effort;
use crate::bench::crowded::{Cell, PeerInCrowd, Plan, cell, way};
use crate::bench::entrance::Mutex;
use crate::bench::stage::Turns;
use std::time::Duration;

/// All peers; the last is the control.
fn ways(k: usize) -> Vec<PeerInCrowd> {
    let tokio = |name| way(name, true, |plan| tokio::sync::Semaphore::new(plan.k));
    // Not counted as fair: it hands over to a parked thread, and passes threads that still spin.
    // Its column of hand-overs shows how often.
    let fair_unlock = || way(peers::PARKING_LOT_FAIR_UNLOCK, false, |_| Mutex::<true>(parking_lot::Mutex::new(())));
    let first = [
        way(peers::FAIR, true, |plan| peers::slots(plan.k)),
        way(peers::UNFAIR, false, |plan| peers::slots(plan.k).unfair()),
        way(peers::BYPASS, false, |plan| peers::slots(plan.k).bypass(64)),
        way(peers::UNNUMBERED_BYPASS, false, |plan| peers::slots(plan.k).without_numbers().bypass(64)),
        tokio(peers::TOKIO),
    ];
    let others = [
        way(peers::ASYNC_LOCK, false, |plan| async_lock::Semaphore::new(plan.k)),
        way(peers::STD, false, |plan| Std::new(plan.k)),
        way(peers::PARKING_LOT, false, |plan| peers::ParkingLot::new(plan.k)),
        way(peers::SEM_T, false, |plan| Posix::new(plan.k)),
        tokio("control"),
    ];
    first.into_iter().chain((k == 1).then(fair_unlock)).chain(others).collect()
}

/// How long a thread works inside, and then outside.
pub(super) const SECTIONS: [Duration; 2] = [Duration::from_nanos(100), Duration::from_micros(10)];

/// Places and threads: for each number of places all contended sizes, and the largest uncontended
/// one.
fn sizes(full: bool) -> Vec<(usize, usize)> {
    const THREADS: [usize; 5] = [1, 2, 4, 8, 32];
    if !full {
        return vec![(1, 1), (1, 2), (1, 8), (1, 32), (4, 8), (4, 32), (16, 32)];
    }
    let with = |k: usize| {
        let reference = THREADS.into_iter().rfind(|&threads| threads <= k);
        reference.into_iter().chain(THREADS.into_iter().filter(move |&threads| threads > k)).map(move |t| (k, t))
    };
    [1, 2, 4, 16].into_iter().flat_map(with).collect()
}

pub(super) fn cells(works: [Turns; 2], processors: usize, effort: &Effort, done: &mut dyn FnMut(&Cell)) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (section, turns) in SECTIONS.into_iter().zip(works) {
        for (k, threads) in sizes(effort.is_full()) {
            let plan = Plan { k, threads, section, turns, processors };
            let cell = cell(&plan, effort, &ways(k), peers::TOKIO);
            done(&cell);
            cells.push(cell);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_places_has_one_reference_and_all_that_wait() {
        let all = sizes(true);
        assert_eq!(
            all,
            [
                (1, 1),
                (1, 2),
                (1, 4),
                (1, 8),
                (1, 32),
                (2, 2),
                (2, 4),
                (2, 8),
                (2, 32),
                (4, 4),
                (4, 8),
                (4, 32),
                (16, 8),
                (16, 32)
            ]
        );
        assert!(sizes(false).iter().all(|size| all.contains(size)));
    }
}
