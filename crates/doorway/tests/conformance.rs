//! Native memory passes the suite for memories, and so does the memory that only spins.

use doorway::native::{Native, now};
use doorway_check::conformance::{self, Backend, Litmus, Outcome, Vars};
use doorway_core::memory::spinning::Spinning;
use doorway_core::memory::{Machine, Pid, Process, Site};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Barrier;

/// Threads that run the same text at the same time, again and again on fresh variables.
struct Threads<M> {
    runs: usize,
    memory: fn() -> M,
}

impl<M> Backend for Threads<M>
where
    M: Machine<Error = Infallible> + Send,
    Vars<M>: Sync,
{
    const EXHAUSTIVE: bool = false;

    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome> {
        let n = litmus.processes();
        let memory = self.memory;
        let runs: Vec<Vars<M>> = (0..self.runs).map(|_| Vars::new(&Site::new(&memory()))).collect();
        let barrier = Barrier::new(n);
        let returned: Vec<Vec<Vec<u64>>> = std::thread::scope(|s| {
            let body = |p| {
                let (runs, barrier) = (&runs, &barrier);
                move || {
                    let process = Process::new(Pid::new(p), memory());
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
    assert_eq!(conformance::run(&Threads { runs: 2000, memory: Native::new }), Litmus::ALL.len());
}

#[test]
fn spinning_memory_conforms() {
    assert_eq!(conformance::run(&Threads { runs: 500, memory: || Spinning }), Litmus::ALL.len());
}
