//! A text that panics ends a run, not the checker.

use doorway_check::explore::{Stop, Worst};
use doorway_check::property::NO_PANIC;
use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Rules, Sim, TextError, World};
use doorway_check::{Explorer, Property};
use doorway_core::memory::{Domain, Memory as _, Register, Site, decl};
use doorway_core::registry::CostModel;

/// Each process adds to `X`, and panics unless it finds there what it expects; then it leaves.
fn world(n: usize, rules: Rules, most: usize) -> Result<World, TextError> {
    World::of_programs(
        n,
        rules,
        |site: &Site<'_, Sim>| site.var("X", 0u64),
        move |x, p| async move {
            let p = p.on(Sim::ROOT);
            let Ok(found) = p.at(1).fetch_add(&x, 1).await;
            let _ = vec![false; most][found as usize];
            let Ok(_) = p.at(2).fetch_add(&x, u64::MAX).await;
        },
    )
}

#[test]
fn a_panic_is_a_failure_with_a_shortest_run() {
    for keep in [Keep::Trusted, Keep::Ignored, Keep::CrossChecked] {
        let rules = Rules { keep, ..Rules::default() };
        let report = Explorer::new(3).explore(world(3, rules, 2).unwrap()).unwrap();
        let failure = report.failure().unwrap();
        assert_eq!((&*failure.name, report.stop, report.complete), (NO_PANIC, Some(Stop::Failed), false));
        let trace = failure.trace.as_ref().unwrap();
        assert_eq!(trace.len(), 3, "{trace}");
        let message = "index out of bounds: the len is 2 but the index is 2";
        assert_eq!(trace.end[2].panicked.as_deref(), Some(message));
        assert_eq!(trace.end[2].statement, Some(1));
        let text = trace.to_string();
        assert!(text.contains("p2 panicked after 1") && text.ends_with(message), "{text}");
    }
    let fine = Explorer::new(3).explore(world(3, Rules::default(), 3).unwrap()).unwrap();
    fine.assert_holds();
    assert!(fine.verdicts.is_empty(), "nobody asked");
    let asked = Explorer::new(3).property(Property::no_panic()).explore(world(3, Rules::default(), 3).unwrap());
    assert_eq!(asked.unwrap().verdict(NO_PANIC).holds, Some(true));
}

#[test]
fn what_a_run_would_have_done_after_its_panic_is_not_decided() {
    let quick = |v: &doorway_check::property::View<'_>| v.get::<u64>("X") <= 1;
    let explorer = || {
        Explorer::new(3)
            .property(Property::always("never three", |v| v.get::<u64>("X") < 3))
            .property(Property::starvation_free("starvation-free"))
            .property(Property::always("one at a time", quick))
            .keep_going(true)
    };
    let report = explorer().explore(world(3, Rules::default(), 2).unwrap()).unwrap();
    let holds = |name: &str| report.verdict(name).holds;
    assert_eq!(holds("never three"), Some(false));
    assert_eq!(holds("one at a time"), Some(false));
    assert_eq!(holds("starvation-free"), None, "p2 never gets on, and would have");
    assert_eq!(holds(NO_PANIC), Some(false));
    assert!(!report.complete);
    assert_eq!(report.stop, Some(Stop::Failed));
    let fine = explorer().explore(world(3, Rules::default(), 3).unwrap()).unwrap();
    assert_eq!(fine.verdict("starvation-free").holds, Some(true));
}

#[test]
fn samples_find_panics_too() {
    let sampler = Sampler { choose: Choose::Random, runs: 1000, length: 50, seed: 1 };
    let sampled = sampler.run(&mut world(3, Rules::default(), 2).unwrap(), Vec::new()).unwrap();
    assert_eq!(sampled.verdicts.len(), 1);
    assert_eq!((&*sampled.verdicts[0].name, sampled.verdicts[0].holds), (NO_PANIC, Some(false)));
    assert!(sampled.verdicts[0].trace.is_some());
    let sampled = sampler.run(&mut world(3, Rules::default(), 3).unwrap(), Vec::new()).unwrap();
    assert!(sampled.verdicts.is_empty());
}

/// Where no verdict can carry a run, a panic is an error.
#[test]
fn where_only_costs_are_counted_a_panic_is_an_error() {
    let measured = |most| {
        let rules = Rules { measure: Some((0, CostModel::Cc)), ..Rules::default() };
        Explorer::new(2).worst_passage(world(2, rules, most).unwrap(), 2)
    };
    assert_eq!(measured(2).unwrap().worst, Worst::Bounded(2));
    let error = measured(1).unwrap_err();
    assert!(matches!(error, TextError::Panics { label: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("index out of bounds"), "{error}");
    let at_once = World::of_programs(
        1,
        Rules::default(),
        |site: &Site<'_, Sim>| site.var("X", 0u64),
        |_, _| async { panic!("not made yet") },
    );
    let message = "the text of p0 panics before its first access: not made yet";
    assert_eq!(at_once.unwrap_err().to_string(), message);
}

/// A forced register can return what no process wrote, and a text may be unable to use that.
#[test]
fn a_value_that_a_text_cannot_use_is_a_panic_of_the_text() {
    let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::with_passages(Some(1)) };
    let build = |site: &Site<'_, Sim>| {
        let which = site.var("Which", decl(0u64).ranges_over(Domain::Of(&[0, 1, 2])));
        (which, site.row("A", 2, |_| decl(false)))
    };
    let world = World::of_programs(2, rules, build, |vars, p| async move {
        let (which, row) = &*vars;
        let here = p.on(Sim::ROOT);
        if p.pid().index() == 0 {
            let Ok(()) = here.at(1).write(which, 1).await;
        } else {
            let Ok(which) = here.at(2).read(which).await;
            let Ok(()) = here.at(3).write(&row[which as usize], true).await;
        }
    });
    let report = Explorer::new(2).explore(world.unwrap()).unwrap();
    let trace = report.verdict(NO_PANIC).trace.clone().unwrap();
    assert_eq!(trace.steps.last().unwrap().did, "Which = 2, torn", "{trace}");
}

/// The payload of a panic may panic in turn, when it is dropped.
#[test]
fn a_payload_that_panics_is_the_texts_too() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let build = |site: &Site<'_, Sim>| site.var("X", 0u64);
    let world = World::of_programs(1, Rules::default(), build, |x, p| async move {
        let Ok(_) = p.on(Sim::ROOT).at(1).read(&x).await;
        std::panic::panic_any(Bomb);
    });
    let report = Explorer::new(1).explore(world.unwrap()).unwrap();
    let trace = report.verdict(NO_PANIC).trace.as_ref().unwrap();
    assert_eq!(trace.end[0].panicked.as_deref(), Some("a panic without a message"));
}
