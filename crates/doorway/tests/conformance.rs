//! Native memory passes the suite for memories.

use doorway::native::{Native, now};
use doorway_check::conformance::{self, Backend, Litmus, Outcome, Vars};
use doorway_core::memory::{Pid, Process, Site};
use std::collections::BTreeSet;
use std::sync::Barrier;

/// Threads that run the same text at the same time, over and over on fresh variables.
struct Threads {
    runs: usize,
}

impl Backend for Threads {
    const EXHAUSTIVE: bool = false;

    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome> {
        let n = litmus.processes();
        let runs: Vec<Vars<Native>> = (0..self.runs).map(|_| Vars::new(&Site::new(&Native::new()))).collect();
        let barrier = Barrier::new(n);
        let returned: Vec<Vec<Vec<u64>>> = std::thread::scope(|s| {
            let body = |p| {
                let (runs, barrier) = (&runs, &barrier);
                move || {
                    let process = Process::new(Pid::new(p), Native::new());
                    runs.iter()
                        .map(|vars| {
                            barrier.wait();
                            now(litmus.body(vars, &process)).unwrap()
                        })
                        .collect()
                }
            };
            let threads: Vec<_> = (0..n).map(|p| s.spawn(body(p))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        (0..self.runs).map(|run| returned.iter().map(|of_process| of_process[run].clone()).collect()).collect()
    }
}

#[test]
fn native_memory_conforms() {
    assert_eq!(conformance::run(&Threads { runs: 2000 }), Litmus::ALL.len());
}
