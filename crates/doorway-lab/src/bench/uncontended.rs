//! The cost of an uncontended passage, with parking and without.

use super::Effort;
use crate::measure;
use doorway::native::{Native, now};
use doorway::waiting::Policy;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::spinning::Spinning as Bare;
use doorway_core::memory::{Machine, Pid, Process, Site};
use doorway_core::registry::{AmChain, AmFast, Entry, Sizes};
use serde::Serialize;
use std::hint::black_box;

/// An uncontended passage, in nanoseconds of CPU time.
#[derive(Clone, Debug, Serialize)]
pub struct Passage {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The number of processes it is built for.
    pub n: usize,
    /// How many processes may be inside.
    pub k: usize,
    /// On native memory, with [`Policy::PARK`].
    pub park_ns: f64,
    /// On a memory without *bells*: no thread can sleep there.
    pub bare_ns: f64,
    /// The time on native memory divided by the time without bells.
    pub ratio: f64,
    /// The time on a second memory without bells, divided by the time on the first.
    pub control: f64,
}

#[inline(never)]
fn pass<M: Machine, A: KExclusion<M>>(algorithm: &A, p: &Process<M>) {
    let Ok(held) = now(algorithm.acquire(p)) else { unreachable!("no process is refused here") };
    let Ok(()) = now(algorithm.release(p, held)) else { unreachable!("these memories do not fail") };
}

fn passage<E: Entry>(n: usize, k: usize, effort: &Effort) -> Passage {
    let sizes = Sizes { n, k };
    let parking = Process::new(Pid::new(0), Native::new().with_policy(Policy::PARK));
    let (bare, twin) = (Process::new(Pid::new(0), Bare), Process::new(Pid::new(0), Bare));
    let on_native = E::build(&Site::new(parking.memory()), sizes);
    let (on_bare, on_twin) = (E::build(&Site::new(&Bare), sizes), E::build(&Site::new(&Bare), sizes));
    let mut with_bells = || pass(black_box(&on_native), &parking);
    let mut without = || pass(black_box(&on_bare), &bare);
    let mut control = || pass(black_box(&on_twin), &twin);
    // An odd number, because of the median. More rounds than elsewhere, because each is short.
    let (rounds, times) = (4 * effort.repetitions + 1, effort.rounds.clamp(1, 20_000));
    let taken = measure::in_turns(rounds, times, &mut [&mut with_bells, &mut without, &mut control]);
    let [park_ns, bare_ns, twin_ns] = taken[..] else { unreachable!("three ways were measured") };
    let algorithm = E::INFO.id;
    Passage { algorithm, n, k, park_ns, bare_ns, ratio: park_ns / bare_ns, control: twin_ns / bare_ns }
}

pub(super) fn passages(effort: &Effort) -> Vec<Passage> {
    let effort = *effort;
    let measure = move || {
        measure::pin(0);
        vec![passage::<AmChain>(2, 1, &effort), passage::<AmFast>(8, 2, &effort)]
    };
    std::thread::spawn(measure).join().expect("an uncontended passage ends")
}
