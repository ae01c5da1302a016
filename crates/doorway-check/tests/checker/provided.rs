//! A wrong `keep` that hides a failure from the search is an error. If it could not be compared, no
//! verdict is plain.

use doorway_check::check::command;
use doorway_check::explore::Stop;
use doorway_check::prelude::*;
use doorway_check::sim::{Keep, TextError};
use std::panic::{AssertUnwindSafe, catch_unwind};

lock! {
    /// A process that sees that the other has come enters at once. That is wrong, and `keep` hides
    /// it: of what was seen at 3, the search knows only the first.
    struct Hides(hides: bool): TestAndSet { came: [bool; 2] = false, taken: bool = false }
    acquire(self, p) {
        let me = p.pid().index();
        p.at(1).write(&self.came[me], true).await?;
        p.at(2).read(&self.taken).await?; // what it sees there does not matter
        let hurries = p.at(3).read(&self.came[1 - me]).await?;
        p.keep(4, &(hurries && !self.hides));
        p.at(4).read(&self.taken).await?;
        if !hurries {
            p.spin_until(|| async { Ok((!p.at(5).test_and_set(&self.taken).await?).then_some(())) }).await?;
        }
    }
    release(self, p) {
        p.at(6).write(&self.taken, false).await?;
        p.at(7).write(&self.came[p.pid().index()], false).await?;
    }
}

fn lock(hides: bool, property: Property) -> Check {
    Check::lock("hides", 2, move |site| Hides::new(site, hides)).property(property)
}

fn exclusion() -> Property {
    Property::exclusion("mutual-exclusion", 1)
}

/// A bound is no fact of the run that reaches it: others may exceed it.
fn waits_little() -> Property {
    Property::own_steps("steps inside", 5, |v, p| v.phase(p) == Phase::Inside && v.inside() > 1)
}

#[test]
fn the_failure_is_found_without_the_wrong_keep() {
    for property in [exclusion, waits_little] {
        let told = lock(false, property()).run().unwrap();
        let plain = lock(true, property()).with(|search| search.keep(Keep::Ignored).passages(1)).run().unwrap();
        let verdict = |report: &Report| (report.verdicts[0].holds, report.verdicts[0].most);
        assert_eq!(told.is_proven(), told.failure().is_none());
        if told.failure().is_some() {
            assert_eq!(verdict(&told), verdict(&plain));
        } else {
            assert_ne!(verdict(&told).1, Some(Worst::Bounded(0)), "two are inside together");
        }
    }
}

#[test]
fn a_wrong_keep_is_an_error() {
    for property in [exclusion, waits_little] {
        for keep in [Keep::Trusted, Keep::CrossChecked] {
            let wrong = lock(true, property()).with(move |search| search.keep(keep)).run();
            assert!(matches!(wrong, Err(TextError::KeepHides { label: 4, .. })), "{keep:?} {wrong:?}");
        }
    }
}

/// With a limit that is too small to compare anything, or all of it.
#[test]
fn a_wrong_keep_that_was_not_compared_is_said_with_every_verdict() {
    for property in [exclusion, waits_little] {
        let mut is_seen = false;
        for most in [0, 1, 10, 20, 40, 80, 160, 320, 1 << 20] {
            let check = lock(true, property()).with(move |search| search.compare_keep(most));
            let Ok(report) = check.run() else {
                is_seen = true;
                continue;
            };
            assert!(!is_seen, "{most} are enough, and fewer were too");
            let verdict = &report.verdicts[0];
            assert_eq!(verdict.holds, Some(true), "{report}");
            let checked = verdict.provided.unwrap();
            assert!(report.complete && !report.is_proven() && !checked.all, "{report}");
            let rests = format!("provided `keep` is right: {} of {} merged", checked.compared, checked.merged);
            assert!(report.to_string().contains(&rests), "{report}");
            assert!(report.to_string().contains("believe_keep"), "it says what to do: {report}");
            assert!(report.json()["properties"][0]["provided"].as_str().unwrap().starts_with(&rests));
            let panics = catch_unwind(AssertUnwindSafe(|| report.assert_holds())).unwrap_err();
            assert!(panics.downcast_ref::<String>().unwrap().contains(&rests));
            assert_eq!(command(&[check], &[], &mut Vec::new()).unwrap(), 3);
        }
        assert!(is_seen);
    }
}

#[test]
fn no_run_is_not_proven_either() {
    let never = || Property::sometimes("both", |v| v.inside() == 2);
    let report = lock(true, never()).with(|search| search.compare_keep(0)).run().unwrap();
    assert!(report.verdicts[0].provided.is_some());
    assert!(report.to_string().contains("FAILS: no run reaches such a state, provided"), "{report}");
    let shown = lock(false, never()).with(|search| search.compare_keep(0)).run().unwrap();
    assert!(shown.verdicts[0].provided.is_none() && shown.is_proven(), "a run shows it: {shown}");
}

#[test]
fn whoever_believes_it_is_told_on_what_the_verdict_rests() {
    let check = lock(false, Property::never_stuck("never-stuck")).with(|search| search.passages(1));
    let believed = check.clone().with(|search| search.believe_keep(true).compare_keep(0));
    let report = believed.run().unwrap();
    assert!(report.verdicts[0].provided.is_some() && report.is_proven(), "{report}");
    assert!(report.to_string().contains("holds, provided `keep` is right: "), "{report}");
    report.assert_holds();
    assert_eq!(command(&[believed], &[], &mut Vec::new()).unwrap(), 0);
}

#[test]
fn the_worst_passage_says_it_too() {
    let cost = |most| lock(false, exclusion()).with(move |search| search.compare_keep(most)).rmr(CostModel::Dsm);
    let exact = cost(1 << 24).unwrap();
    assert!(exact.provided().is_none() && !exact.to_string().contains("provided"), "{exact}");
    let found = cost(0).unwrap();
    assert!(found.provided().is_some() && found.to_string().contains("; provided `keep` is right"), "{found}");
}

/// Most of what is merged was met by the earlier search, and the file does not tell that.
#[test]
fn a_wrong_keep_is_found_wherever_a_search_is_resumed() {
    let file = std::env::temp_dir().join(format!("doorway-provided-{}", std::process::id()));
    let states = lock(true, exclusion()).with(|search| search.compare_keep(0)).run().unwrap().states;
    for most in 1..states {
        let first = lock(true, exclusion()).run_told(|search| search.max_states(most).save(file.clone())).unwrap();
        assert_eq!(first.stop, Some(Stop::States), "{most}");
        let last = lock(true, exclusion()).run_told(|search| search.resume(file.clone()));
        assert!(matches!(last, Err(TextError::KeepHides { label: 4, .. })), "{most} {last:?}");
    }
    std::fs::remove_file(file).unwrap();
}
