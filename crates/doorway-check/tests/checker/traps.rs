//! What looks like a check and is not: each of these once passed silently.

use doorway_check::property::View;
use doorway_check::sim::{Action, Keep, Part, Phase, Rules, Sections, Sim, SimVar, TextError, What, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::memory::{Domain, Memory, Pid, Process, Register, Site, Word, decl};
use doorway_core::mutex::TestAndSetLock;
use doorway_core::registry::{CostModel, Sizes};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Why a report cannot be relied on.
fn complaint(report: &Report) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| report.assert_holds())).expect_err("it was accepted");
    panic.downcast_ref::<String>().expect("a panic says why").clone()
}

// ---- an order of arrival without doorways

#[test]
fn an_order_of_arrival_without_a_doorway_is_not_decided() {
    for property in [Property::first_come("in order", 1), Property::first_enabled("in order")] {
        let report = Explorer::new(2).property(property).run(TestAndSetLock::new).unwrap();
        assert_eq!(report.verdict("in order").holds, None);
        assert_eq!(
            complaint(&report),
            "in order is not decided: it was not checked, because the text marks no end of a doorway \
             (`p.mark(Mark::DoorwayEnds)`)"
        );
    }
}

#[test]
fn operations_that_nobody_calls_are_not_decided() {
    let report = subject::find("room-stack").unwrap();
    let sizes = report.sizes(Some(2), Some(2)).unwrap();
    let mut claims = report.claims(sizes);
    claims.retain(|claim| claim.name() == "linearizable");
    let world = World::of_programs(2, Rules::with_passages(Some(1)), |site| site.var("x", 0u64), reads).unwrap();
    let report = Explorer::new(2).properties(claims).explore(world).unwrap();
    assert_eq!(report.verdict("linearizable").holds, None);
    assert_eq!(
        complaint(&report),
        "linearizable is not decided: it was not checked, because the text calls no operation (`p.invokes`)"
    );
}

async fn reads(x: Rc<SimVar<u64>>, p: Process<Sim>) {
    let Ok(_) = p.on(Part::ROOT).at(1).read(&x).await;
}

#[test]
fn what_few_runs_cannot_decide_does_not_hold() {
    let rules = Rules { switches: Some(1), ..Rules::default() };
    let world = World::new(2, rules, |site| Chain::new(site, 2, 1)).unwrap();
    let report = Explorer::new(2).property(Property::starvation_free("starvation-free")).explore(world).unwrap();
    assert!(!report.complete);
    assert!(complaint(&report).starts_with("the search was not complete"), "{}", complaint(&report));
}

// ---- rules that differ from the machine's

#[test]
fn a_rule_that_is_set_where_it_is_not_read_is_refused() {
    let world = || World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
    let ignored: [(&str, Explorer<'_>); 7] = [
        ("passages", Explorer::new(2).passages(2)),
        ("sections", Explorer::new(2).sections(Sections::Explicit)),
        ("keep", Explorer::new(2).keep(Keep::Ignored)),
        ("crashes", Explorer::new(2).crashes(2)),
        ("normalise", Explorer::new(2).normalise(true)),
        ("registers", Explorer::new(2).registers(Register::Safe)),
        ("force_registers", Explorer::new(2).force_registers(true)),
    ];
    for (rule, explorer) in ignored {
        assert_eq!(explorer.explore(world()).unwrap_err(), TextError::OtherRules(rule));
    }
    // A rule that agrees with the machine's may be given twice.
    assert!(Explorer::new(2).crashes(0).passages(None).explore(world()).is_ok());
    let measured = Rules { measure: Some((0, CostModel::Dsm)), ..Rules::default() };
    let measured = World::new(2, measured, |site| Chain::new(site, 2, 1)).unwrap();
    assert_eq!(Explorer::new(2).crashes(1).worst_passage(measured, 2).unwrap_err(), TextError::OtherRules("crashes"));
}

// ---- counters that are kept small

/// A ticket lock that lets in any process that draws this ticket.
struct TicketLock {
    next: SimVar<u64>,
    serving: SimVar<u64>,
    breaks_at: Option<u64>,
}

impl TicketLock {
    fn new(site: &Site<'_, Sim>, breaks_at: Option<u64>) -> Self {
        Self { next: site.var("next", decl(0).counts()), serving: site.var("serving", decl(0).counts()), breaks_at }
    }
}

impl KExclusion<Sim> for TicketLock {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(Part::ROOT);
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.keep(2, &mine);
        if self.breaks_at == Some(mine) {
            return Ok(());
        }
        p.at(2).wait_until(&self.serving, |now| now == mine).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).fetch_add(&self.serving, 1).await?;
        Ok(())
    }
}

fn with_small_counters(property: Property, breaks_at: Option<u64>) -> Result<Report, TextError> {
    Explorer::new(2).property(property).normalise(true).run(|site| TicketLock::new(site, breaks_at))
}

#[test]
fn a_lock_that_breaks_at_a_later_ticket_does_not_hold() {
    for breaks_at in [3, 100] {
        let error = with_small_counters(Property::exclusion("mutual-exclusion", 1), Some(breaks_at)).unwrap_err();
        assert!(matches!(error, TextError::NoSuchRun { normalised: true, .. }), "{breaks_at}: {error}");
        assert!(error.to_string().contains("omit `normalise`"), "{error}");
    }
    let report = with_small_counters(Property::exclusion("mutual-exclusion", 1), None).unwrap();
    report.assert_holds();
    assert_eq!((report.states, report.counts_checked), (9, Some((20_000, false))));
}

#[test]
fn a_property_that_looks_at_how_large_a_counter_is_does_not_hold() {
    let small = || Property::always("small", |v: &View<'_>| v.get::<u64>("next") < 5);
    assert_eq!(with_small_counters(small(), None).unwrap_err(), TextError::CounterAsked);
    let bounded = Explorer::new(2).property(small()).passages(3).run(|site| TicketLock::new(site, None)).unwrap();
    assert_eq!(bounded.verdict("small").holds, Some(false));
}

/// A process that waits for the same ticket for ever is shown with full counters.
#[test]
fn a_cycle_of_growing_counters_is_shown() {
    let overtaken = Property::leads_to("p1 never enters", |v, p| p == 0 && v.at(p, 2), |v, _| v.at(1, 2));
    let report = with_small_counters(overtaken, None).unwrap();
    let trace = report.verdict("p1 never enters").trace.as_ref().expect("p0 goes round alone");
    assert!(trace.repeats_from.is_some());
    assert!(report.verdicts[0].holds == Some(false));
}

// ---- undeclared values

/// One process writes while another reads: what the read can return, or why that is unknown.
fn torn<T: Word>(kind: Register, x: impl Fn(&Site<'_, Sim>) -> SimVar<T>, write: T) -> Result<Vec<u64>, TextError> {
    let rules = Rules { registers: kind, force_registers: true, ..Rules::with_passages(Some(1)) };
    let text = move |x: Rc<SimVar<T>>, p: Process<Sim>| async move {
        let at = p.on(Part::ROOT);
        if p.pid().index() == 0 {
            let _ = at.at(1).write(&x, write).await;
        } else {
            let _ = at.at(2).read(&x).await;
        }
    };
    let mut world = World::of_programs(2, rules, x, text)?;
    let mut state = world.initial();
    world.step(&mut state, 0)?;
    let mut seen = Vec::new();
    for i in 0.. {
        let read = Action { process: 1, what: What::Sees(i) };
        match world.act(&mut state.clone(), read)? {
            Some(stepped) => seen.push(stepped.saw),
            None => break,
        }
    }
    Ok(seen)
}

#[test]
fn a_register_that_is_weakened_by_force_returns_no_value_that_nobody_declared() {
    let undeclared = |site: &Site<'_, Sim>| site.var("x", 7u64);
    for kind in [Register::Safe, Register::Monotone] {
        let error = torn(kind, undeclared, 9).unwrap_err();
        assert_eq!(error, TextError::NoDomain { pid: Pid::new(1), label: 2 });
        assert!(error.to_string().contains("ranges_over"), "{error}");
    }
    // These return only what was written.
    assert_eq!(torn(Register::Regular, undeclared, 9), Ok(vec![7, 9]));
    assert_eq!(torn(Register::Monotone, undeclared, 5), Ok(vec![5, 7]));

    let declared = |site: &Site<'_, Sim>| site.var("x", decl(7u64).ranges_over(Domain::Of(&[6, 7, 8, 9])));
    assert_eq!(torn(Register::Safe, declared, 9), Ok(vec![6, 7, 8, 9]));
    assert_eq!(torn(Register::Monotone, declared, 9), Ok(vec![7, 8, 9]));
}

#[test]
fn bits_and_names_need_no_declaration() {
    assert_eq!(torn(Register::Safe, |site| site.var("x", false), true), Ok(vec![0, 1]));
    assert_eq!(torn(Register::Safe, |site| site.var("x", Pid::new(0)), Pid::new(0)), Ok(vec![0, 1]));
    assert_eq!(torn(Register::Safe, |site| site.var("x", None), Some(Pid::new(0))), Ok(vec![0, 1, 2]));
}

// ---- the literature's words

/// Two processes that give way to each other for ever: none is stuck, and none enters.
struct AfterYou {
    flag: Vec<doorway_check::sim::SimCell<bool>>,
}

impl KExclusion<Sim> for AfterYou {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let (p, me) = (p.on(Sim::ROOT), p.pid().index());
        let turn = || async move {
            p.at(1).write(&self.flag[me], true).await?;
            let other = p.at(2).read(&self.flag[1 - me]).await?;
            if other {
                p.at(3).write(&self.flag[me], false).await?;
            }
            Ok((!other).then_some(()))
        };
        Ok(p.go_round_until(turn).await?)
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Sim::ROOT).at(4).write(&self.flag[p.pid().index()], false).await
    }
}

#[test]
fn giving_way_for_ever_is_not_stuck_and_not_free_from_deadlock() {
    let report = Explorer::new(2)
        .property(Property::never_stuck("never-stuck"))
        .property(Property::deadlock_free("deadlock-free"))
        .run(|site| AfterYou { flag: site.row("flag", 2, |_| false.into()) })
        .unwrap();
    assert_eq!(report.verdicts.iter().map(|v| v.holds).collect::<Vec<_>>(), [Some(true), Some(false)]);
    let inside = |v: &View<'_>, p: usize| v.phase(p) == Phase::Inside;
    let sometimes = Property::sometimes("someone enters", move |v| v.processes().any(|p| inside(v, p)));
    let row = |site: &Site<'_, Sim>| AfterYou { flag: site.row("flag", 2, |_| false.into()) };
    Explorer::new(2).property(sometimes).run(row).unwrap().assert_holds();
}

#[test]
fn the_catalogue_uses_the_literatures_words() {
    let tas = subject::find("tas").unwrap();
    let names: Vec<String> = tas.claims(Sizes { n: 2, k: 1 }).iter().map(|claim| claim.name().to_owned()).collect();
    assert!(names.iter().any(|name| name == "deadlock-free") && names.iter().any(|name| name == "never-stuck"));
    assert!(!names.iter().any(|name| name.contains("livelock")));
}
