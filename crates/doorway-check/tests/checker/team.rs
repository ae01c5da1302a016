//! The threads of a search do all work that they are given, and none of it later.

#[path = "../../src/explore/team.rs"]
mod together;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::current;
use std::time::Duration;
use together::Team;

#[test]
fn each_is_worked_on_once() {
    for size in [1, 2, 3, 8] {
        let team = Team::new(size);
        assert_eq!(team.threads(), size);
        for threads in 1..=size + 1 {
            for many in [0, 1, 2, 3, 7, 100] {
                let mut all = vec![0; many];
                let (more, seen) = (&1, Mutex::new(HashSet::new()));
                team.together(threads, &mut all, |one| {
                    *one += more;
                    seen.lock().unwrap().insert(current().id());
                });
                assert_eq!(all, vec![1; many]);
                assert_eq!(seen.lock().unwrap().len(), threads.min(size).min(many));
            }
        }
    }
}

/// What is worked on may be gone as soon as the work is done: no thread comes late, even if it has
/// slept before.
#[test]
fn nobody_comes_late() {
    let team = Team::new(3);
    for round in 0..2000u64 {
        if round % 500 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let base = Box::new(round);
        let mut all = vec![vec![0u64; 3]; 3];
        team.together(3, &mut all, |one| one.iter_mut().for_each(|word| *word = *base));
        drop(base);
        assert!(all.iter().flatten().all(|&word| word == round));
    }
}

#[test]
fn a_panic_is_passed_on_after_all_have_ended() {
    let team = Team::new(3);
    for who in 0..3 {
        let mut all = [0, 1, 2];
        let ended = catch_unwind(AssertUnwindSafe(|| {
            team.together(3, &mut all, |one| {
                assert!(*one != who, "it is {who}");
                std::thread::sleep(Duration::from_millis(5));
                *one += 10;
            });
        }));
        let why = ended.unwrap_err();
        assert_eq!(why.downcast_ref::<String>().unwrap(), &format!("it is {who}"));
        assert!((0..3).all(|i| all[i] == if i == who { i } else { i + 10 }), "the others did their work");
    }
    // The team goes on.
    let mut all = [1, 2, 3];
    team.together(3, &mut all, |one| *one *= 2);
    assert_eq!(all, [2, 4, 6]);
}
