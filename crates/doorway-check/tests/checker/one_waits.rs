//! Where types say that one process waits at a time, no two may wait in vain.

use doorway_check::explore::Stop;
use doorway_check::property::ONE_WAITS;
use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Rules, Sim, World};
use doorway_check::{Explorer, Property};
use doorway_core::memory::{Memory as _, One, Site, Word};

/// A stage. One process at a time waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stage(u64);

impl Word for Stage {
    type Waiters = One;
    const WHOLE: bool = true;
    fn pack(self) -> u64 {
        self.0
    }
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

/// The first `waiters` processes wait for the first stage, and another one reaches it.
fn world(n: usize, waiters: usize, rules: Rules) -> World {
    let build = |site: &Site<'_, Sim>| site.var("stage", Stage(0));
    let world = World::of_programs(n, rules, build, move |stage, p| async move {
        let here = p.on(Sim::ROOT);
        if p.pid().index() < waiters {
            let Ok(_) = here.at(1).wait_until(&stage, |now| now.0 > 0).await;
        } else {
            let Ok(()) = here.at(2).write(&stage, Stage(1)).await;
        }
    });
    world.unwrap()
}

#[test]
fn two_that_wait_in_vain_are_a_failure_with_a_shortest_run() {
    for keep in [Keep::Trusted, Keep::Ignored, Keep::CrossChecked] {
        let rules = Rules { keep, ..Rules::with_passages(Some(1)) };
        let report = Explorer::new(3).believe_keep(true).explore(world(3, 2, rules)).unwrap();
        let failure = report.failure().unwrap();
        assert_eq!((&*failure.name, report.stop), (ONE_WAITS, Some(Stop::Failed)));
        let trace = failure.trace.as_ref().unwrap();
        assert_eq!(trace.len(), 2, "{trace}");
        assert_eq!([trace.end[0].statement, trace.end[1].statement], [Some(1), Some(1)], "{trace}");
    }
    let sampler = Sampler { choose: Choose::Random, runs: 1000, length: 50, seed: 1 };
    let sampled = sampler.run(&mut world(3, 2, Rules::default()), Vec::new()).unwrap();
    assert_eq!((&*sampled.verdicts[0].name, sampled.verdicts[0].holds), (ONE_WAITS, Some(false)));
}

#[test]
fn they_are_one_too_when_they_sleep() {
    let rules = Rules { wakes: true, ..Rules::with_passages(Some(1)) };
    let report = Explorer::new(3).believe_keep(true).explore(world(3, 2, rules)).unwrap();
    assert_eq!(report.failure().unwrap().name, ONE_WAITS);
}

#[test]
fn one_that_waits_alone_is_fine() {
    let rules = Rules::with_passages(Some(1));
    let report = Explorer::new(3).believe_keep(true).explore(world(3, 1, rules)).unwrap();
    report.assert_holds();
    assert!(report.verdicts.is_empty(), "nobody asked");
    let asked =
        Explorer::new(3).believe_keep(true).property(Property::one_waits()).explore(world(3, 1, rules)).unwrap();
    assert!(asked.complete && asked.states > 3);
    assert_eq!(asked.verdict(ONE_WAITS).holds, Some(true));
}

/// It is not checked where no type says so.
#[test]
fn without_such_a_variable_nothing_is_decided() {
    let build = |site: &Site<'_, Sim>| site.var("X", 0u64);
    let world = World::of_programs(2, Rules::default(), build, |x, p| async move {
        let Ok(_) = p.on(Sim::ROOT).at(1).wait_until(&x, |x| x > 0).await;
    });
    let report = Explorer::new(2).believe_keep(true).property(Property::one_waits()).explore(world.unwrap()).unwrap();
    let verdict = report.verdict(ONE_WAITS);
    assert_eq!((verdict.holds, verdict.vacuous.is_some()), (None, true));
}

/// p0 waits for the first stage; p1 reaches it and waits for the second. p0 may not have noticed
/// yet.
#[test]
fn one_may_begin_to_wait_before_another_notices_that_its_wait_is_over() {
    let build = |site: &Site<'_, Sim>| (site.var("stage", Stage(0)), site.var("go", false));
    let handed_on = |second_waits_for: u64| {
        let world = World::of_programs(3, Rules::with_passages(Some(1)), build, move |vars, p| async move {
            let (stage, go) = &*vars;
            let here = p.on(Sim::ROOT);
            match p.pid().index() {
                0 => {
                    let Ok(_) = here.at(1).wait_until(stage, |now| now.0 > 0).await;
                }
                1 => {
                    let Ok(()) = here.at(2).write(stage, Stage(1)).await;
                    let Ok(()) = here.at(3).write(go, true).await;
                    let Ok(_) = here.at(4).wait_until(stage, |now| now.0 >= second_waits_for).await;
                }
                _ => {
                    let Ok(_) = here.at(5).wait_until(go, |go| go).await;
                    // Back to where p0 must go on waiting, if p1 is to wait for that.
                    let Ok(()) = here.at(6).write(stage, Stage(if second_waits_for == 2 { 2 } else { 0 })).await;
                }
            }
        });
        let both = Property::sometimes("both", |v| v.count(1..=1) == 1 && v.count(4..=4) == 1);
        Explorer::new(3)
            .believe_keep(true)
            .property(both)
            .property(Property::one_waits())
            .keep_going(true)
            .explore(world.unwrap())
            .unwrap()
    };
    let fine = handed_on(2);
    assert!(fine.complete);
    assert_eq!((fine.verdict("both").holds, fine.verdict(ONE_WAITS).holds), (Some(true), Some(true)));
    // A stage that was reached must stay: here it falls back, and both wait in vain.
    assert_eq!(handed_on(3).verdict(ONE_WAITS).holds, Some(false));
}

/// A turn may read more than one variable, and this one last. Between two reads no process is at
/// the beginning of a turn.
#[test]
fn turns_that_read_several_variables_count() {
    let build = |site: &Site<'_, Sim>| (site.var("stage", Stage(0)), site.var("go", false));
    let world = World::of_programs(2, Rules::with_passages(Some(1)), build, |vars, p| async move {
        let (stage, go) = &*vars;
        let here = p.on(Sim::ROOT);
        let turn = || async {
            let Ok(go) = here.at(1).read(go).await;
            let Ok(now) = here.at(2).read(stage).await;
            Ok((go || now.0 > 0).then_some(()))
        };
        let Ok(()) = here.spin_until(turn).await;
    });
    let report = Explorer::new(2).believe_keep(true).explore(world.unwrap()).unwrap();
    assert_eq!(report.failure().unwrap().name, ONE_WAITS);
}
