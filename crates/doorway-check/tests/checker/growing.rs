//! Loops written plainly whose variables grow: with a bound on passages they are searched, as
//! loops that are waits are. Without one, what grows is named.

use doorway_check::explore::Stop;
use doorway_check::prelude::*;
use doorway_check::sim::{SimVar, TextError, World};
use std::cell::Cell;

lock! {
    /// Tickets without a bound. The mistake: let the next but one in, too.
    struct Tickets(waits: bool, is_wrong: bool): FetchAdd { next: u64 = 0, serving: u64 = 0 }
    acquire(self, p) {
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        let last = mine.saturating_sub(u64::from(self.is_wrong && mine == 2));
        if self.waits {
            p.at(2).wait_until(&self.serving, |now| now >= last).await?;
        } else {
            while p.at(2).read(&self.serving).await? < last {}
        }
    }
    release(self, p) {
        p.at(3).fetch_add(&self.serving, 1).await?;
    }
}

fn tickets(n: usize, waits: bool, is_wrong: bool) -> Check {
    Check::lock("tickets", n, move |site| Tickets::new(site, waits, is_wrong)).mutex()
}

#[test]
fn a_plain_loop_is_searched_as_a_wait_is() {
    for (n, passages) in [(2, 3), (3, 2), (2, 20)] {
        let [plain, waits] = [false, true]
            .map(|waits| tickets(n, waits, false).with(move |search| search.passages(passages)).run().unwrap());
        plain.assert_holds();
        waits.assert_holds();
        assert_eq!(plain.states, waits.states, "n={n}, {passages} passages");
    }
}

#[test]
fn its_failures_are_those_of_a_wait() {
    let [plain, waits] = [false, true].map(|waits| {
        let check = tickets(2, waits, true).with(|search| search.passages(3));
        let report = check.run().unwrap();
        let failure = report.failure().unwrap();
        assert_eq!(failure.name, "mutual-exclusion");
        assert!(check.replay(&failure.token.as_ref().unwrap().to_string()).unwrap().breaks);
        failure.trace.as_ref().unwrap().len()
    });
    assert_eq!(plain, waits);
}

#[test]
fn threads_change_nothing() {
    let found = |threads| {
        let report = tickets(3, false, false).with(move |search| search.passages(2).threads(threads)).run().unwrap();
        (report.states, report.edges, report.local_states)
    };
    assert_eq!(found(1), found(3));
}

/// No limit is set, so that the search would take half of the memory.
#[test]
fn what_grows_for_ever_is_named_with_its_values_and_what_to_write() {
    for waits in [false, true] {
        let report = tickets(2, waits, false).run().unwrap();
        assert_eq!((report.stop, report.is_proven()), (Some(Stop::Grows), false), "{report}");
        let names: Vec<&str> = report.growing.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["next", "serving"]);
        let text = report.to_string();
        assert!(text.contains("NOT complete: a variable grows for ever"), "{text}");
        assert!(text.contains("next seems to grow for ever: its largest values were "), "{text}");
        for remedy in ["passages(3)", "decl(0).counts()", "wraps_at(8)"] {
            assert!(text.contains(remedy), "{text}");
        }
        assert_eq!(report.verdict("mutual-exclusion").holds, None);
    }
    // A limit of the user is obeyed.
    let limited = tickets(2, false, false).with(|search| search.max_states(100_000)).run().unwrap();
    assert_eq!(limited.stop, Some(Stop::States));
}

/// If a local grows, there is no end of local states.
#[test]
fn a_loop_that_counts_its_rounds_is_refused_with_the_values_that_it_saw() {
    let text = move |x: std::rc::Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let here = p.on(Sim::ROOT);
        let (mut rounds, mut sum) = (0u64, 0u64);
        while rounds < u64::MAX {
            let Ok(seen) = here.at(7).read(&x).await;
            let Ok(()) = here.at(8).write(&x, seen.min(40) + 1).await;
            (rounds, sum) = (rounds + 1, sum + seen);
        }
        assert!(sum > 0);
    };
    let counting =
        Check::of("counting", 1, move |rules| World::of_programs(1, rules, |site| site.var("x", 0u64), text));
    let refused = counting.with(|search| search.passages(1)).run().unwrap_err();
    assert!(matches!(refused, TextError::TooLong { .. }), "{refused:?}");
    let text = refused.to_string();
    assert!(text.contains("last saw x = ") && text.contains("41"), "{text}");
    assert!(text.contains("if a local counts the rounds of a loop there, remove it"), "{text}");
}

/// What no content tells is noticed after the search.
#[test]
fn a_growing_text_that_remembers_elsewhere_is_refused() {
    struct Vars {
        x: SimVar<u64>,
        y: SimVar<bool>,
        hidden: Cell<bool>,
    }
    let search = |hides: bool| {
        let text = move |vars: std::rc::Rc<Vars>, p: Process<Sim>| async move {
            let here = p.on(Sim::ROOT);
            let Ok(old) = here.at(1).fetch_add(&vars.x, 1).await;
            vars.hidden.set(hides && old > 0);
            for _ in 0..3 {
                let Ok(_) = here.at(2).read(&vars.y).await;
            }
            if vars.hidden.get() {
                let Ok(()) = here.at(3).write(&vars.y, true).await;
            }
        };
        let build =
            |site: &Site<'_, Sim>| Vars { x: site.var("x", 0), y: site.var("y", false), hidden: Cell::new(false) };
        Check::of("hides", 2, move |rules| World::of_programs(2, rules, build, text))
            .property(Property::always("y is down", |v| !v.get::<bool>("y")))
            .with(|search| search.passages(2))
            .run()
    };
    search(false).unwrap().assert_holds();
    let report = search(true);
    let is_noticed = match &report {
        Ok(report) => report.failure().is_some(),
        Err(why) => matches!(why, TextError::RemembersElsewhere { .. } | TextError::NotDeterministic(_)),
    };
    assert!(is_noticed, "{report:?}");
}
