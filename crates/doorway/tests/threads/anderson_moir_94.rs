//! Anderson and Moir's algorithms on real threads: more threads than cores, some of which die
//! inside.

use doorway::native::Native;
use doorway::{
    SizeError,
    gates::{AmAssign, AmDsmChain, AmDsmUnbounded, Gate, Guard},
};
use doorway_core::k_assignment::KAssignment;
use doorway_core::registry::{self, Entry};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Lets `n` threads make passages, after `dead` others have died inside. Never more than `k` are
/// inside, the dead included.
fn go_on_beside_the_dead<E: Entry>(n: usize, k: usize, dead: usize, passages: usize)
where
    E::On<Native>: Sync,
{
    let gate = Gate::<E>::new(n + dead, k).unwrap();
    for _ in 0..dead {
        let mut member = gate.join().unwrap();
        let Ok(guard) = member.acquire_or_refused() else { panic!("nobody is refused so early") };
        std::mem::forget(guard);
    }
    let (inside, entered) = (AtomicUsize::new(dead), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for _ in 0..n {
            s.spawn(|| {
                let mut me = gate.join().unwrap();
                for _ in 0..passages {
                    let Ok(guard) = me.acquire_or_refused() else { panic!("nobody waits that often here") };
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

macro_rules! on_threads {
    ($($test:ident: $entry:ident;)*) => {$(
        #[test]
        fn $test() {
            go_on_beside_the_dead::<registry::$entry>(8, 3, 0, 300);
            go_on_beside_the_dead::<registry::$entry>(6, 3, 2, 200); // k - 1 have died
            go_on_beside_the_dead::<registry::$entry>(7, 1, 0, 100);
            go_on_beside_the_dead::<registry::$entry>(3, 5, 4, 100); // no thread waits
        }
    )*};
}

on_threads! {
    a_chain: AmChain;
    a_tree: AmTree;
    a_fast_path: AmFast;
    nested_fast_paths: AmGraceful;
    a_chain_with_new_locations: AmDsmUnbounded;
    a_chain_with_own_locations: AmDsmChain;
    a_tree_with_own_locations: AmDsmTree;
    a_fast_path_with_own_locations: AmDsmFast;
    nested_fast_paths_with_own_locations: AmDsmGraceful;
    names: AmAssign;
    names_with_own_locations: AmDsmAssign;
    a_queue: AmQueue;
}

/// No two threads inside hold the same name, though some panic inside and one dies there.
fn names_are_unique_and_come_back<E: Entry>()
where
    E::On<Native>: Sync + KAssignment<Native>,
{
    let (n, k) = (8, 3);
    let gate = Gate::<E>::new(n + 1, k).unwrap();
    let taken: [AtomicBool; 3] = Default::default();
    let mut dead = gate.join().unwrap();
    let grave = dead.acquire_or_refused().ok().unwrap();
    let lost = grave.slot();
    taken[lost].store(true, SeqCst);
    std::mem::forget(grave);
    drop(dead);
    std::thread::scope(|s| {
        for thread in 0..n {
            let (gate, taken) = (&gate, &taken);
            s.spawn(move || {
                let mut me = gate.join().unwrap();
                for passage in 0..300 {
                    // A panic inside, without the message on the terminal.
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        let guard = me.acquire_or_refused().ok().unwrap();
                        assert!(!taken[guard.slot()].swap(true, SeqCst), "two hold name {}", guard.slot());
                        std::thread::yield_now();
                        taken[guard.slot()].store(false, SeqCst);
                        if passage % 10 == thread {
                            std::panic::resume_unwind(Box::new("dies of something else"));
                        }
                    }));
                    assert_eq!(outcome.is_err(), passage % 10 == thread);
                }
            });
        }
    });
    // All names but the dead thread's can be acquired again, at once.
    let mut members: Vec<_> = (1..k).map(|_| gate.join().unwrap()).collect();
    let guards: Vec<_> = members.iter_mut().map(|m| m.acquire_or_refused().ok().unwrap()).collect();
    let mut names: Vec<usize> = guards.iter().map(Guard::slot).chain([lost]).collect();
    names.sort_unstable();
    assert_eq!(names, [0, 1, 2]);
}

#[test]
fn names_never_leak() {
    names_are_unique_and_come_back::<registry::AmAssign>();
    names_are_unique_and_come_back::<registry::AmDsmAssign>();
}

#[test]
fn more_members_than_n_are_told_so() {
    let gate = AmAssign::new(2, 1).unwrap();
    let _both = (gate.join().unwrap(), gate.join().unwrap());
    assert_eq!(gate.join().unwrap_err().members, 2);
}

#[test]
fn sizes_beyond_memory_are_refused() {
    let refused = AmDsmChain::new(2000, 4).unwrap_err();
    assert!(matches!(refused, SizeError::TooManyWords { id: "am-dsm-chain", .. }));
    assert!(refused.to_string().contains("a tree or fast path"), "{refused}");
    assert!(doorway::gates::AmDsmFast::new(2000, 4).is_ok());
}

/// Figure 5 has a location for each wait. So a thread that waits often enough is refused, and no
/// location is used twice.
#[test]
fn a_caller_that_has_waited_too_often_is_refused() {
    let gate = AmDsmUnbounded::new(2, 1).unwrap();
    let somebody_was = AtomicBool::new(false);
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut me = gate.join().unwrap();
                while !somebody_was.load(SeqCst) {
                    match me.acquire_or_refused() {
                        // Long enough inside for the other thread to come and wait.
                        Ok(_guard) => std::thread::yield_now(),
                        Err(why) => {
                            assert!(why.to_string().contains("am-dsm-chain"));
                            somebody_was.store(true, SeqCst);
                        }
                    }
                }
            });
        }
    });
}
