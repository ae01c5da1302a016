//! The checker itself: what it notices, where it stops, and that it says so.

use doorway_check::conformance::{self, Backend, Litmus, Outcome, Simulated};
use doorway_check::explore::Stop;
use doorway_check::schedule::{Runner, ScheduleError};
use doorway_check::sim::{Keep, Part, Rules, Sections, Sim, SimCell, SimVar, TextError, World};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::memory::{Process, Site};
use doorway_core::mutex::lamport_74::Bakery;
use doorway_core::registry::Sizes;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::rc::Rc;

/// Explores a text that is not a lock: all of it in the entry section, one passage.
fn explore_text<F: Future<Output = ()> + 'static>(
    n: usize,
    keep: Keep,
    properties: Vec<Property>,
    text: impl Fn(Rc<SimVar<u64>>, Process<Sim>) -> F + 'static,
) -> Result<Report, TextError> {
    explore_text_told(n, keep, properties, |explorer| explorer, text)
}

/// The same, with options.
fn explore_text_told<F: Future<Output = ()> + 'static>(
    n: usize,
    keep: Keep,
    properties: Vec<Property>,
    tell: impl FnOnce(Explorer<'static>) -> Explorer<'static>,
    text: impl Fn(Rc<SimVar<u64>>, Process<Sim>) -> F + 'static,
) -> Result<Report, TextError> {
    let rules = Rules { passages: Some(1), keep, ..Rules::default() };
    let world = World::of_programs(n, rules, |site| site.var("x", 0u64), text)?;
    tell(Explorer::new(n).properties(properties).keep_going(true)).explore(world)
}

/// A loop has an end for the search if the text is where it was. If it counts its turns, or if
/// nothing is merged, it has none.
#[test]
fn a_loop_without_end_is_an_error() {
    let loops = |keep, counts: bool| {
        explore_text(1, keep, vec![Property::never_stuck("never-stuck")], move |x, p| async move {
            let mut turns = 0u64;
            while p.on(Part::ROOT).at(7).read(&x).await == Ok(0) && turns < u64::MAX {
                turns += u64::from(counts);
            }
        })
    };
    assert_eq!(loops(Keep::Trusted, false).unwrap().verdict("never-stuck").holds, Some(false));
    for (keep, counts) in [(Keep::Trusted, true), (Keep::Ignored, false)] {
        let result = loops(keep, counts);
        let Err(e @ TextError::TooLong { label: 7, .. }) = result else { panic!("{result:?}") };
        assert!(e.to_string().contains("wait_until"));
    }
}

#[test]
fn a_turn_that_reads_nothing_is_an_error() {
    let result = explore_text(1, Keep::Trusted, vec![], |x, p| async move {
        let p = p.on(Part::ROOT);
        let _ = p.at(1).read(&x).await;
        let _: Result<u64, Infallible> = p.spin_until(|| async { Ok(None) }).await;
    });
    assert!(matches!(result, Err(TextError::EmptyTurn { label: 1, .. })), "{result:?}");
}

#[test]
fn a_text_that_flips_a_coin_is_an_error() {
    let coin = Cell::new(0);
    let result = explore_text(1, Keep::Trusted, vec![], move |x, p| {
        coin.set(coin.get() + 1);
        let side = coin.get() % 2;
        async move {
            let _ = p.on(Part::ROOT).at(1).write(&x, side).await;
        }
    });
    assert!(matches!(result, Err(TextError::NotDeterministic(_))), "{result:?}");
}

#[test]
fn awaiting_something_else_is_an_error() {
    let result = explore_text(1, Keep::Trusted, vec![], |_, _| std::future::pending());
    assert!(matches!(result, Err(TextError::Lost(_))), "{result:?}");
}

/// A `keep` that omits a live local hides behaviour. Every search that merges finds out, and so
/// does one that does not.
#[test]
fn a_wrong_keep_is_found() {
    let never_two = || vec![Property::always("x is never 2", |v| v.get::<u64>("x") != 2)];
    let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let here = p.on(Part::ROOT);
        if p.pid().index() == 0 {
            let _ = here.at(1).write(&x, 1).await;
        } else {
            let saw = here.at(2).read(&x).await.unwrap_or(0);
            here.keep(3, &"nothing"); // `saw` is alive
            let _ = here.at(3).fetch_add(&x, 0).await;
            let _ = here.at(4).write(&x, 2 * saw).await;
        }
    };
    let ignored = explore_text(2, Keep::Ignored, never_two(), text).unwrap();
    assert_eq!(ignored.verdict("x is never 2").holds, Some(false));
    for keep in [Keep::Trusted, Keep::CrossChecked] {
        let checked = explore_text(2, keep, never_two(), text);
        assert!(matches!(checked, Err(TextError::KeepHides { label: 3, later: 4, .. })), "{checked:?}");
    }
}

#[test]
fn reaching_a_limit_decides_nothing_and_says_so() {
    let search = || {
        Explorer::new(3)
            .property(Property::exclusion("k-exclusion", 1))
            .property(Property::sometimes("all inside", |v| v.inside() == 3))
            .property(Property::sometimes("one inside", |v| v.inside() == 1))
    };
    let by_states = search().max_states(1000).run(|site| Chain::new(site, 3, 1)).unwrap();
    let by_memory = search().max_memory(100_000).run(|site| Chain::new(site, 3, 1)).unwrap();
    for (report, stop) in [(&by_states, Stop::States), (&by_memory, Stop::Memory)] {
        assert_eq!((report.complete, report.stop), (false, Some(stop)));
        let holds = |name| report.verdict(name).holds;
        assert_eq!([holds("k-exclusion"), holds("all inside"), holds("one inside")], [None, None, Some(true)]);
    }
    assert_eq!(by_states.states, 1000);
    let exactly = search().max_states(6_867).run(|site| Chain::new(site, 3, 1)).unwrap();
    assert!(exactly.complete, "a limit that is not exceeded does not matter");
}

#[test]
fn what_never_happens_fails() {
    let report = Explorer::new(2)
        .property(Property::sometimes("both inside", |v| v.inside() == 2))
        .run(|site| Chain::new(site, 2, 1));
    let report = report.unwrap();
    assert_eq!(report.verdict("both inside").holds, Some(false));
    assert!(report.verdict("both inside").trace.is_none());
}

#[test]
fn unless_fails_with_the_step_that_breaks_it() {
    // "A process at 3 stays there until it is at 5" is false: it goes on to 4.
    let wrong = Property::unless("3 unless 5", |v, p| v.at(p, 3), |v, p| v.at(p, 5)).each("slot");
    let right = Property::unless("3 unless 4", |v, p| v.at(p, 3), |v, p| v.at(p, 4)).each("slot");
    let report =
        Explorer::new(2).keep_going(true).properties([wrong, right]).run(|site| Chain::new(site, 2, 1)).unwrap();
    assert_eq!(report.verdict("3 unless 4").holds, Some(true));
    let trace = report.verdict("3 unless 5").trace.as_ref().unwrap();
    assert_eq!((trace.len(), trace.steps[2].statement), (3, 3));
}

#[test]
fn a_search_ends_with_the_first_failure_unless_told_to_go_on() {
    let search = |keep_going| {
        Explorer::new(2)
            .property(Property::exclusion("nobody inside", 0))
            .property(Property::sometimes("someone waits", |v| v.count(5) > 0).each("slot"))
            .keep_going(keep_going)
            .run(|site| Chain::new(site, 2, 1))
            .unwrap()
    };
    let first = search(false);
    assert_eq!((first.stop, first.verdict("someone waits").holds), (Some(Stop::Failed), None));
    let all = search(true);
    assert_eq!(all.verdict("someone waits").holds, Some(true));
    assert_eq!(all.verdict("nobody inside").trace.as_ref().map(Trace::len), Some(1), "still a shortest trace");
}

/// Two flags and no turn: both can wait for each other.
struct FlagsOnly {
    flags: Vec<SimCell<bool>>,
}

impl KExclusion<Sim> for FlagsOnly {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let (p, me) = (p.on(Part::ROOT), p.pid().index());
        p.at(1).write(&self.flags[me], true).await?;
        p.at(2).wait_until(&self.flags[1 - me], |up| !up).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).write(&self.flags[p.pid().index()], false).await
    }
}

#[test]
fn a_deadlock_is_found_where_everyone_waits() {
    let flags = |site: &Site<'_, Sim>| FlagsOnly { flags: site.row("flag", 2, |_| false.into()) };
    let report = Explorer::new(2).property(Property::never_stuck("never-stuck")).run(flags).unwrap();
    let trace = report.verdict("never-stuck").trace.as_ref().unwrap();
    assert_eq!(trace.len(), 2);
    // Alone, no process waits.
    let flags = |site: &Site<'_, Sim>| FlagsOnly { flags: site.row("flag", 2, |_| false.into()) };
    Explorer::new(1).property(Property::never_stuck("never-stuck")).run(flags).unwrap().assert_holds();
}

#[test]
fn a_deadlock_does_not_wait_for_processes_that_need_not_start() {
    // p1 waits for a ticket that p0 kept when it left. If p0 came back it would free the ticket,
    // but it need not.
    let subject = subject::find("mutant:bakery-keeps-its-ticket").unwrap();
    let sizes = Sizes { n: 2, k: 1 };
    let claims = subject.claims(sizes);
    let rules = Rules::with_passages(Some(2)).for_properties(&claims);
    let report = Explorer::new(2).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    let trace = report.verdict("never-stuck").trace.as_ref().unwrap();
    let sections: Vec<&str> = trace.end.iter().map(|at| at.section).collect();
    assert!(sections.contains(&"remainder") && sections.contains(&"entry"), "{sections:?}");
}

#[test]
fn a_trace_is_a_table_with_a_column_for_each_process() {
    let subject = subject::find("mutant:am-chain-without-7").unwrap();
    let sizes = Sizes { n: 2, k: 1 };
    let world = subject.world(sizes, Rules::default()).unwrap();
    let report = Explorer::new(2).properties(subject.claims(sizes)).explore(world).unwrap();
    let expected = "\
step  p0                       p1                      changed
   1  slot1.2: X -= 1, was 1                           X = 0; p0 inside
   2                           slot1.2: X -= 1, was 0  X = -1
   3                           slot1.3: Q := p1        Q = p1
   4                           slot1.4: X = -1
   5  slot1.6: X += 1, was -1                          X = 0; p0 done
 end  p0 outside, p1 waits at slot1.5 (Q = p1)";
    assert_eq!(report.failure().unwrap().trace.as_ref().unwrap().to_string(), expected);
}

#[test]
fn a_process_that_has_made_its_passages_stops() {
    let rules = Rules { passages: Some(1), ..Rules::default() };
    let mut world = World::new(1, rules, |site| Bakery::new(site, 1)).unwrap();
    let mut state = world.initial();
    for _ in 0..10 {
        world.step(&mut state, 0).unwrap();
    }
    assert_eq!(world.next(&state, 0), doorway_check::sim::Op::Stop);
}

/// A memory that shows a forbidden outcome, or hides a required one, does not pass the suite.
struct Flawed {
    litmus: Litmus,
    shows: Option<Outcome>,
}

impl Backend for Flawed {
    const EXHAUSTIVE: bool = true;
    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome> {
        let mut outcomes = Simulated.outcomes(litmus);
        if litmus == self.litmus {
            match &self.shows {
                Some(outcome) => drop(outcomes.insert(outcome.clone())),
                None => drop(outcomes.pop_first()),
            }
        }
        outcomes
    }
}

#[test]
#[should_panic(expected = "StoreBuffering must not come out as [[0], [0]]")]
fn a_memory_with_store_buffers_does_not_conform() {
    conformance::run(&Flawed { litmus: Litmus::StoreBuffering, shows: Some(vec![vec![0], vec![0]]) });
}

#[test]
#[should_panic(expected = "FetchAdd must not come out as [[0], [0]]")]
fn a_memory_whose_addition_is_two_steps_does_not_conform() {
    conformance::run(&Flawed { litmus: Litmus::FetchAdd, shows: Some(vec![vec![0], vec![0]]) });
}

#[test]
#[should_panic(expected = "Coherence must show every allowed outcome")]
fn a_search_that_misses_an_outcome_does_not_conform() {
    conformance::run(&Flawed { litmus: Litmus::Coherence, shows: None });
}

/// A lock whose entry begins with a wait, and that is never given back.
struct NeverGivenBack {
    taken: SimVar<bool>,
}

impl KExclusion<Sim> for NeverGivenBack {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(Part::ROOT);
        Ok(p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?)
    }
    async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}

#[test]
fn whoever_waits_at_its_first_access_has_left_its_remainder() {
    for sections in [Sections::Merged, Sections::Explicit] {
        let report = Explorer::new(2)
            .sections(sections)
            .property(Property::never_stuck("never-stuck"))
            .property(Property::starvation_free("starvation-free"))
            .keep_going(true)
            .run(|site| NeverGivenBack { taken: site.var("taken", false) })
            .unwrap();
        assert_eq!(report.verdict("never-stuck").holds, Some(false), "{sections:?}");
        assert_eq!(report.verdict("starvation-free").holds, Some(false), "{sections:?}");
    }
}

#[test]
fn a_keep_that_leaves_out_what_is_written_next_is_noticed_at_once() {
    let result = explore_text(2, Keep::Trusted, vec![], |x, p| async move {
        let here = p.on(Part::ROOT);
        let saw = here.at(1).fetch_add(&x, 1).await.unwrap_or(0);
        here.keep(2, &());
        let _ = here.at(2).write(&x, saw).await;
    });
    assert!(matches!(result, Err(TextError::KeepHides { label: 2, later: 2, .. })), "{result:?}");
}

#[test]
fn a_difference_far_behind_a_wrong_keep_is_found() {
    for keep in [Keep::Trusted, Keep::CrossChecked] {
        let result = explore_text(2, keep, vec![], |x, p| async move {
            let here = p.on(Part::ROOT);
            let saw = here.at(1).fetch_add(&x, 1).await.unwrap_or(0);
            here.keep(2, &());
            for _ in 0..12 {
                let _ = here.at(2).read(&x).await;
            }
            let _ = here.at(3).write(&x, saw).await;
        });
        assert!(matches!(result, Err(TextError::KeepHides { label: 2, .. })), "{result:?}");
    }
}

/// One of 256 histories goes on in another way than those with which the text merges it, and
/// there are too many of them to look at all. The last look is cut short in the middle.
#[test]
fn a_report_says_that_not_all_that_keep_merges_was_compared() {
    let never_two = || vec![Property::always("x is never 2", |v| v.get::<u64>("x") != 2)];
    let searched = |keep, keeps: bool, most: Option<u64>| {
        let tell = |explorer: Explorer<'static>| explorer.compare_keep(most);
        explore_text_told(1, keep, never_two(), tell, move |x, p| async move {
            let here = p.on(Part::ROOT);
            for _ in 0..200 {
                let _ = here.at(1).read(&x).await;
            }
            let mut chosen = 0;
            for _ in 0..8 {
                let Ok(bit) = here.at(2).choose(2).await;
                chosen = 2 * chosen + bit;
            }
            let _ = here.at(3).write(&x, 1).await;
            here.keep(4, &if keeps { chosen } else { 0 });
            let _ = here.at(4).write(&x, 0).await;
            for _ in 0..50 {
                let _ = here.at(5).read(&x).await;
            }
            if chosen == 170 {
                let _ = here.at(6).write(&x, 2).await;
            }
        })
    };
    let fails = |searched: Result<Report, TextError>| searched.unwrap().verdict("x is never 2").holds == Some(false);
    assert!(fails(searched(Keep::Trusted, true, None)));
    assert!(fails(searched(Keep::Ignored, false, None)));
    // If the user sets no limit, all of them are looked at.
    let wrong = searched(Keep::Trusted, false, None);
    assert!(matches!(wrong, Err(TextError::KeepHides { label: 4, .. })), "{wrong:?}");
    let report = searched(Keep::Trusted, false, Some(20_000)).unwrap();
    let how_far = report.cross_checked.expect("the report says how far they were compared");
    assert!(!how_far.all, "{how_far:?}");
    assert!(report.to_string().contains("(NOT all there are)"), "{report}");
}

#[test]
fn what_a_passage_holds_is_told_apart_without_keep() {
    struct Opaque(u64);
    impl std::fmt::Debug for Opaque {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("opaque")
        }
    }
    struct Remembers(SimVar<u64>);
    impl KExclusion<Sim> for Remembers {
        type Held = Opaque;
        type Refusal = Infallible;
        async fn acquire(&self, p: &Process<Sim>) -> Result<Opaque, Failure<Infallible>> {
            Ok(Opaque(p.on(Part::ROOT).at(1).fetch_add(&self.0, 1).await?))
        }
        async fn release(&self, p: &Process<Sim>, held: Opaque) -> Result<(), Infallible> {
            let p = p.on(Part::ROOT);
            p.at(2).read(&self.0).await?;
            p.at(3).write(&self.0, 10 + held.0).await
        }
    }
    let search = |keep| {
        Explorer::new(2)
            .passages(1)
            .keep(keep)
            .property(Property::sometimes("11", |v| v.get::<u64>("x") == 11))
            .run(|site| Remembers(site.var("x", 0)))
            .unwrap()
    };
    let [merged, told_apart] = [Keep::Trusted, Keep::Ignored].map(search);
    merged.assert_holds();
    told_apart.assert_holds();
    // What it has read at 2 does not matter.
    assert!(merged.states < told_apart.states);
}

#[test]
fn a_turn_that_fails_must_not_write() {
    let result = explore_text(1, Keep::Trusted, vec![], |x, p| async move {
        let p = p.on(Part::ROOT);
        let _ = p.spin_until(|| async { Ok((p.at(4).fetch_add(&x, 1).await? > 5).then_some(())) }).await;
    });
    assert!(matches!(result, Err(TextError::TurnWrites { label: 4, .. })), "{result:?}");
}

/// A loop that goes round may have written: its turns are steps like others, and it is back at its
/// head after each.
#[test]
fn a_turn_of_a_loop_that_goes_round_may_write() {
    for keep in [Keep::Trusted, Keep::Ignored, Keep::CrossChecked] {
        let counts = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
            let p = p.on(Part::ROOT);
            let turn = || async { Ok((p.at(4).fetch_add(&x, 1).await? > 5).then_some(())) };
            let _ = p.go_round_until(turn).await;
        };
        let properties = vec![Property::sometimes("7", |v| v.get::<u64>("x") == 7)];
        let report = explore_text(1, keep, properties, counts).unwrap();
        report.assert_holds();
        assert_eq!(report.local_states, 2, "before its loop, and always at its head");
    }
    let result = explore_text(1, Keep::Trusted, vec![], |x, p| async move {
        let p = p.on(Part::ROOT);
        let _ = p.at(3).read(&x).await;
        let _ = p.go_round_until(|| async { Ok(None::<()>) }).await;
    });
    assert!(matches!(result, Err(TextError::EmptyTurn { .. })), "{result:?}");
}

#[test]
fn a_failure_is_reported_although_the_text_goes_wrong_later() {
    let rules = Rules { passages: Some(1), ..Rules::default() };
    let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let p = p.on(Part::ROOT);
        let _ = p.at(1).write(&x, 1).await;
        let _ = p.at(2).write(&x, 2).await;
        std::future::pending::<()>().await;
    };
    let world = World::of_programs(1, rules, |site| site.var("x", 0u64), text).unwrap();
    let never_one = Property::always("never 1", |v| v.get::<u64>("x") != 1);
    let report = Explorer::new(1).property(never_one).explore(world).unwrap();
    assert_eq!(report.verdict("never 1").holds, Some(false));
}

#[test]
fn a_property_of_parts_that_there_are_none_of_says_so() {
    let claim = Property::always("never", |_| false).each("slot");
    let report = Explorer::new(2).property(claim).run(|site| Chain::new(site, 2, 5)).unwrap();
    assert_eq!(report.verdict("never").vacuous, Some("there is no such part"));
}

#[test]
fn going_on_ends_when_everything_is_decided() {
    let report = Explorer::new(2)
        .property(Property::exclusion("nobody inside", 0))
        .keep_going(true)
        .run(|site| Bakery::new(site, 2)) // tickets grow for ever
        .unwrap();
    assert_eq!(report.stop, Some(Stop::Failed));
}

#[test]
fn a_refusal_without_an_access_is_a_passage() {
    struct Closed;
    impl KExclusion<Sim> for Closed {
        type Held = ();
        type Refusal = ();
        async fn acquire(&self, _: &Process<Sim>) -> Result<(), Failure<Infallible, ()>> {
            Err(Failure::Refused(()))
        }
        async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
            Ok(())
        }
    }
    for sections in [Sections::Merged, Sections::Explicit] {
        let never = Property::sometimes("someone enters", |v| v.inside() > 0);
        let report = Explorer::new(2).sections(sections).property(never).run(|_| Closed).unwrap();
        assert_eq!(report.verdict("someone enters").holds, Some(false));
    }
}

#[test]
fn a_schedule_that_is_no_schedule_is_refused() {
    let world = || World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
    for bad in ["p0é", "p", "q0.2", "p0.x", "p0>", "p0!!", "p0.2=x", "0.2", "p0>é", "p0.2é"] {
        let result = Runner::new(world()).follow(bad).map(|_| ());
        assert!(matches!(result, Err(ScheduleError::Word(_))), "{bad}: {result:?}");
    }
    for nobody in ["p2.2", "p9.2", "p7!", "p65536>in"] {
        let result = Runner::new(world()).follow(nobody).map(|_| ());
        assert_eq!(result, Err(ScheduleError::NoProcess { word: nobody.to_owned(), processes: 2 }));
    }
    let never = Runner::new(world()).follow("p0>99").map(|_| ());
    assert!(matches!(never, Err(ScheduleError::Never { .. })), "{never:?}");
    assert!(Runner::new(world()).follow("p0>in p0>in p0>out p0>out").is_ok());
}

#[test]
fn runs_that_change_hands_few_times_are_fewer_and_decide_less() {
    let search = |id: &str, switches| {
        let subject = subject::find(id).unwrap();
        let sizes = Sizes { n: 2, k: 1 };
        let claims = subject.claims(sizes);
        let rules = Rules { switches, ..Rules::with_passages(Some(2)) }.for_properties(&claims);
        Explorer::new(2).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap()
    };
    let holds = |report: &Report, name: &str| report.verdict(name).holds;
    // One process after the other is safe whatever the text, so few runs must not vouch for the
    // rest.
    let unsafe_text = "mutant:bakery-never-opens-its-doorway";
    assert_eq!(holds(&search(unsafe_text, Some(1)), "mutual-exclusion"), None);
    assert_eq!(holds(&search(unsafe_text, Some(2)), "mutual-exclusion"), Some(false));
    assert_eq!(holds(&search(unsafe_text, None), "mutual-exclusion"), Some(false));

    let few = search("bakery", Some(2));
    assert_eq!((few.complete, few.stop), (false, Some(Stop::Switches(2))));
    for name in ["mutual-exclusion", "starvation-free", "first-come-first-served"] {
        assert_eq!(holds(&few, name), None, "{name}");
    }
    assert_eq!(holds(&few, "someone-enters"), Some(true), "one run is enough to show what happens sometimes");
    // With enough switches all runs are explored.
    let seen = |switches| search("bakery", switches).states;
    assert!(seen(Some(1)) < seen(Some(2)) && seen(Some(2)) < seen(Some(3)));
}

#[test]
fn what_needs_no_graph_is_decided_although_the_rest_was_interrupted() {
    let search = |most: u64| {
        let asked = Cell::new(0);
        let is_enough = || {
            asked.set(asked.get() + 1);
            asked.get() > most
        };
        let report = Explorer::new(2)
            .property(Property::exclusion("exclusion", 1))
            .property(Property::sometimes("entered", |v| v.inside() > 0))
            .property(Property::starvation_free("starvation-free"))
            .stop_when(is_enough)
            .run(|site| Chain::new(site, 2, 1))
            .unwrap();
        (report.stop, ["exclusion", "entered", "starvation-free"].map(|name| report.verdict(name).holds), report.edges)
    };
    let (stop, holds, edges) = search(u64::MAX);
    assert_eq!((stop, holds), (None, [Some(true); 3]));
    // It is called at each step, then before each property that is decided on the graph.
    let (stop, holds, _) = search(edges);
    assert_eq!((stop, holds), (Some(Stop::Interrupted), [Some(true), Some(true), None]));
    let (stop, holds, seen) = search(edges - 1);
    assert_eq!((stop, holds, seen), (Some(Stop::Interrupted), [None, Some(true), None], edges));
    assert_eq!(search(0).1, [None; 3]);
}

#[test]
fn what_is_private_never_tears_and_belongs_to_the_write_beside_it() {
    let rules = Rules {
        registers: doorway_core::memory::Register::Safe,
        force_registers: true,
        ..Rules::with_passages(Some(1))
    };
    let subject = subject::find("kbakery").unwrap();
    let mut r = Runner::new(subject.world(Sizes { n: 2, k: 1 }, rules).unwrap());
    r.follow("p0.14.14.151.152.152").unwrap(); // own[0] is read and written with these
    let trace = r.trace().unwrap();
    assert_eq!(trace.steps[0].did, "Want[1][0] := 0 begins");
    assert_eq!((r.value("Ticket[0]"), r.value("own[0]")), (Some("1".to_owned()), Some("1".to_owned())));
}
