//! Dolev, Gafni and Shavit's l-exclusion on real threads: more threads than cores, some of which
//! die inside.

use doorway::gates::{Dgs, DgsAsPrinted, DgsUnfair, Gate};
use doorway::native::Native;
use doorway::waiting::Policy;
use doorway_core::registry::Entry;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Lets `n` threads make passages, after `dead` others have died inside. Never more than `k` are
/// inside, the dead included.
fn go_on_beside_the_dead<E: Entry>(gate: &Gate<E>, (n, k, dead): (usize, usize, usize), passages: usize)
where
    E::On<Native>: Sync,
{
    for _ in 0..dead {
        let mut member = gate.join().unwrap();
        std::mem::forget(member.acquire_or_refused());
    }
    let (inside, entered) = (AtomicUsize::new(dead), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for _ in 0..n {
            s.spawn(|| {
                let mut me = gate.join().unwrap();
                for _ in 0..passages {
                    let Ok(guard) = me.acquire_or_refused() else { panic!("nobody is refused") };
                    assert!(inside.fetch_add(1, SeqCst) < k, "{}: too many inside", E::INFO.id);
                    entered.fetch_add(1, SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, SeqCst);
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(entered.into_inner(), n * passages, "{}", E::INFO.id);
}

fn at_these_sizes<E: Entry>(new: impl Fn(usize, usize) -> Gate<E>)
where
    E::On<Native>: Sync,
{
    for policy in [Policy::PARK, Policy::YIELD] {
        for (n, k, dead) in [(2, 1, 0), (4, 2, 0), (3, 2, 1), (3, 5, 2)] {
            go_on_beside_the_dead(&new(n + dead, k).with_policy(policy), (n, k, dead), 60);
        }
    }
}

#[test]
fn with_ids_that_grow() {
    at_these_sizes(|n, k| Dgs::new(n, k).unwrap());
}

#[test]
fn with_fixed_ids() {
    at_these_sizes(|n, k| DgsUnfair::new(n, k).unwrap());
}

#[test]
fn as_printed() {
    at_these_sizes(|n, k| DgsAsPrinted::new(n, k).unwrap());
}
