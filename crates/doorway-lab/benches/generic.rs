//! The generic text of the chain, on native memory, beside the same algorithm by hand on `std`
//! atomics.
//!
//! One thread, uncontended, no parking on either side. CPU time in turns, as medians. The control
//! is the hand-written chain against a second copy of itself.

use crossbeam_utils::{Backoff, CachePadded};
use doorway::native::{Native, now};
use doorway_core::k_exclusion::{KExclusion, anderson_moir_94::Chain};
use doorway_core::memory::{Pid, Process, Site};
use doorway_lab::measure;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

/// Figure 2 as a chain, by hand.
struct ByHand {
    slots: Vec<(CachePadded<AtomicI64>, CachePadded<AtomicU64>)>,
}

impl ByHand {
    fn new(n: usize, k: usize) -> Self {
        let slot = |j| (CachePadded::new(AtomicI64::new(j as i64)), CachePadded::new(AtomicU64::new(0)));
        Self { slots: (k..n).rev().map(slot).collect() }
    }

    #[inline(never)]
    fn acquire(&self, p: u64) {
        for (x, q) in &self.slots {
            if x.fetch_add(-1, SeqCst) == 0 {
                q.store(p, SeqCst);
                if x.load(SeqCst) < 0 {
                    let backoff = Backoff::new();
                    while q.load(SeqCst) == p {
                        backoff.snooze();
                    }
                }
            }
        }
    }

    #[inline(never)]
    fn release(&self, p: u64) {
        for (x, q) in self.slots.iter().rev() {
            x.fetch_add(1, SeqCst);
            q.store(p, SeqCst);
        }
    }
}

#[inline(never)]
fn acquire(chain: &Chain<Native>, p: &Process<Native>) {
    let Ok(()) = now(chain.acquire(p));
}

#[inline(never)]
fn release(chain: &Chain<Native>, p: &Process<Native>) {
    let Ok(()) = now(chain.release(p, ()));
}

fn main() {
    // One side only, a given number of passages of (8,4): for counting instructions.
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--count") {
        let passages = 100_000;
        if args.get(at + 1).is_some_and(|side| side == "generic") {
            let (chain, p) = (Chain::new(&Site::new(&Native::new()), 8, 4), Process::new(Pid::new(0), Native::new()));
            (0..passages).for_each(|_| {
                acquire(&chain, &p);
                release(&chain, &p);
            });
        } else {
            let chain = ByHand::new(8, 4);
            (0..passages).for_each(|_| {
                chain.acquire(black_box(0));
                chain.release(black_box(0));
            });
        }
        return;
    }

    println!("{}", measure::prepare());
    println!("am-chain, one passage, nanoseconds of CPU time\n");
    println!("{:>8}  {:>8}  {:>8}  {:>8}  {:>18}", "(n,k)", "by hand", "generic", "ratio", "control (by hand)");
    for (n, k) in [(2, 1), (4, 2), (8, 4)] {
        let (hand, twin) = (ByHand::new(n, k), ByHand::new(n, k));
        let (chain, p) = (Chain::new(&Site::new(&Native::new()), n, k), Process::new(Pid::new(0), Native::new()));
        let taken = measure::in_turns(
            41,
            50_000,
            &mut [
                &mut || {
                    hand.acquire(black_box(0));
                    hand.release(black_box(0));
                },
                &mut || {
                    acquire(black_box(&chain), &p);
                    release(black_box(&chain), &p);
                },
                &mut || {
                    twin.acquire(black_box(0));
                    twin.release(black_box(0));
                },
            ],
        );
        let [by_hand, generic, control] = taken[..] else { unreachable!("three ways were measured") };
        println!(
            "{:>8}  {by_hand:>8.1}  {generic:>8.1}  {:>8.3}  {:>18.3}",
            format!("({n},{k})"),
            generic / by_hand,
            control / by_hand
        );
    }
}
