//! A `keep` that forgets too much makes a search find runs that the text cannot make. No such run
//! is ever shown: each is replayed on the text itself, and a run that does not come out is an error
//! of the text.

use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Part, Phase, Rules, Sim, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Process, Site, decl};
use doorway_core::registry::CostModel;
use std::convert::Infallible;
use std::rc::Rc;

/// A ticket lock, right for three processes. What it keeps of its ticket may be wrong.
struct TicketLock {
    next: SimVar<u64>,
    serving: SimVar<u64>,
    forgets: bool,
}

impl TicketLock {
    fn new(site: &Site<'_, Sim>, forgets: bool) -> Self {
        let counter = || decl(0).wraps_at(2);
        Self { next: site.var("next", counter()), serving: site.var("serving", counter()), forgets }
    }
}

impl KExclusion<Sim> for TicketLock {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(Part::ROOT);
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.keep(2, &if self.forgets { 0 } else { mine });
        p.at(2).wait_until(&self.serving, |now| now == mine).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).fetch_add(&self.serving, 1).await?;
        Ok(())
    }
}

fn search(property: Property, keep: Keep, forgets: bool) -> Result<Report, TextError> {
    Explorer::new(3).property(property).keep(keep).run(|site| TicketLock::new(site, forgets))
}

fn is_no_such_run<T>(found: &Result<T, TextError>) -> bool {
    matches!(found, Err(TextError::NoSuchRun { normalised: false, .. }))
}

/// One property for each way in which runs are found: by a state, by a state of waiting processes,
/// by a step, by a cycle of the graph, and by too many steps.
fn properties() -> [fn() -> Property; 6] {
    [
        || Property::exclusion("mutual-exclusion", 1),
        || Property::sometimes("two inside", |v| v.inside() == 2),
        || Property::never_stuck("never-stuck"),
        || {
            let inside = |v: &doorway_check::property::View<'_>, p: usize| v.phase(p) == Phase::Inside;
            Property::unless("served in turn", inside, move |v, p| {
                !inside(v, p) && v.processes().all(|q| !inside(v, q))
            })
        },
        || Property::starvation_free("starvation-free"),
        || Property::own_steps("never together", 0, |v, p| v.phase(p) == Phase::Inside && v.inside() > 1),
    ]
}

#[test]
fn what_the_text_cannot_do_is_no_counter_example() {
    for property in properties() {
        let name = property().name().to_owned();
        let holds = |report: Report| report.verdicts[0].holds;
        let honest = search(property(), Keep::Trusted, false).map(holds);
        assert_eq!(honest, search(property(), Keep::Ignored, true).map(holds), "{name}");
        assert!(is_no_such_run(&search(property(), Keep::Trusted, true)), "{name}");
        let checked = search(property(), Keep::CrossChecked, true);
        assert!(matches!(checked, Err(TextError::KeepHides { label: 2, .. })), "{name}: {checked:?}");
    }
}

#[test]
fn a_refusal_says_what_to_do() {
    let error = search(Property::exclusion("mutual-exclusion", 1), Keep::Trusted, true).unwrap_err().to_string();
    assert!(error.contains("a `keep` omits a local that matters"), "{error}");
    assert!(error.contains("--no-keep"), "{error}");
}

#[test]
fn samples_are_made_again_too() {
    let mut world = World::new(3, Rules::default(), |site| TicketLock::new(site, true)).unwrap();
    let sampler = Sampler { choose: Choose::Random, runs: 1000, length: 40, seed: 1 };
    let sampled = sampler.run(&mut world, vec![Property::never_stuck("never-stuck")]);
    assert!(is_no_such_run(&sampled), "{sampled:?}");
}

/// A text that is expensive if it finds `x` raised, and otherwise reads one more variable.
#[test]
fn the_worst_passage_is_made_again_too() {
    let worst = |keep, keeps: bool| {
        let rules = Rules { keep, measure: Some((0, CostModel::Dsm)), ..Rules::with_passages(Some(1)) };
        let build = |site: &Site<'_, Sim>| (site.var("x", true), site.var("y", false));
        let text = move |v: Rc<(SimVar<bool>, SimVar<bool>)>, p: Process<Sim>| async move {
            let (x, y) = (&v.0, &v.1);
            let at = p.on(Part::ROOT);
            if p.pid().index() == 1 {
                let _ = at.at(9).write(x, false).await;
                return;
            }
            let Ok(raised) = at.at(1).read(x).await;
            if !raised {
                let _ = at.at(2).read(y).await;
            }
            at.keep(3, &(raised && keeps));
            let _ = at.at(3).read(y).await;
            if raised {
                let _ = at.at(4).read(y).await;
                let _ = at.at(5).read(y).await;
            }
        };
        let world = World::of_programs(2, rules, build, text).unwrap();
        Explorer::new(2).worst_passage(world, 2).map(|passage| passage.worst.bounded())
    };
    assert_eq!(worst(Keep::Trusted, true), Ok(Some(4)));
    assert_eq!(worst(Keep::Ignored, false), Ok(Some(4)));
    assert!(is_no_such_run(&worst(Keep::Trusted, false)));
}

/// A loop that only `keep` makes a loop, and that is counted: it ends after ten turns, but the
/// search believes that it never does.
#[test]
fn a_cycle_is_gone_round_until_the_text_would_leave_it() {
    let ends = |keep, keeps: bool| {
        let rules = Rules { keep, ..Rules::default() };
        let text = move |x: Rc<SimVar<bool>>, p: Process<Sim>| async move {
            let at = p.on(Part::ROOT);
            let Ok(()) = at.at(1).write(&x, true).await;
            for turn in 0..10 {
                at.keep(2, &if keeps { turn } else { 0 });
                let Ok(_) = at.at(2).read(&x).await;
            }
        };
        let world = World::of_programs(1, rules, |site| site.var("x", false), text).unwrap();
        let ends = Property::leads_to("ends", |v, p| v.at(p, 2), |v, p| v.phase(p) == Phase::Remainder);
        Explorer::new(1).property(ends).explore(world).map(|report| report.verdicts[0].holds)
    };
    assert_eq!(ends(Keep::Trusted, true), Ok(Some(true)));
    assert_eq!(ends(Keep::Ignored, false), Ok(Some(true)));
    assert!(is_no_such_run(&ends(Keep::Trusted, false)));
}

/// If a loop is endless and only `keep` makes it a cycle, its run is still shown.
#[test]
fn a_cycle_that_only_keep_makes_one_is_shown() {
    let text = |x: Rc<SimVar<bool>>, p: Process<Sim>| async move {
        let at = p.on(Part::ROOT);
        let Ok(()) = at.at(1).write(&x, true).await;
        loop {
            at.keep(2, &());
            let Ok(up) = at.at(2).read(&x).await;
            if !up {
                return;
            }
        }
    };
    let world = World::of_programs(1, Rules::default(), |site| site.var("x", false), text).unwrap();
    let ends = Property::leads_to("ends", |v, p| v.at(p, 2), |v, p| v.phase(p) == Phase::Remainder);
    let report = Explorer::new(1)
        .property(ends)
        .property(Property::never_stuck("never-stuck"))
        .keep_going(true)
        .explore(world)
        .unwrap();
    assert_eq!(report.verdicts.iter().map(|v| v.holds).collect::<Vec<_>>(), [Some(false); 2]);
}
