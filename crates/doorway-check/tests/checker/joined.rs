//! Steps of several accesses: private variables, atomic blocks, unwatched values. What they may not
//! hide.

use doorway_check::adversary::{Hunt, Method};
use doorway_check::explore::Worst;
use doorway_check::sim::{Crowd, Part, Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Pid, Process, Register, Site, decl};
use doorway_core::registry::{CostModel, Sizes};
use std::convert::Infallible;
use std::rc::Rc;

/// Two shared words, and a private one for each process.
struct Words {
    a: SimVar<u64>,
    b: SimVar<u64>,
    private: Vec<SimCell<u64>>,
}

impl Words {
    fn new(site: &Site<'_, Sim>) -> Self {
        let private = site.row("private", 2, |p| decl(0).private(Pid::new(p)));
        Self { a: site.var("a", 0), b: site.var("b", 0), private }
    }
}

/// Two processes that each run their own text once.
fn programs<F, G>(
    rules: Rules,
    first: impl Fn(Rc<Words>, Process<Sim>) -> F + Copy + 'static,
    second: impl Fn(Rc<Words>, Process<Sim>) -> G + Copy + 'static,
) -> World
where
    F: Future<Output = Result<(), Infallible>> + 'static,
    G: Future<Output = Result<(), Infallible>> + 'static,
{
    let text = move |words: Rc<Words>, p: Process<Sim>| async move {
        let Ok(()) = if p.pid().index() == 0 { first(words, p).await } else { second(words, p).await };
    };
    World::of_programs(2, Rules { passages: Some(1), ..rules }, Words::new, text).unwrap()
}

fn holds(report: &Report) -> Option<bool> {
    report.verdicts[0].holds
}

/// Lets every process in, and notices that only in a variable of its own.
struct NoLock(Words);

impl KExclusion<Sim> for NoLock {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        p.on(Part::ROOT).at(1).read(&self.0.private[p.pid().index()]).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(2).write(&self.0.a, 1).await
    }
}

#[test]
fn a_process_that_enters_by_private_accesses_alone_is_inside_all_the_same() {
    let world = World::new(2, Rules::default(), |site| NoLock(Words::new(site))).unwrap();
    let report = Explorer::new(2).property(Property::exclusion("mutual-exclusion", 1)).explore(world).unwrap();
    assert_eq!(holds(&report), Some(false));
    let mut crowd =
        Crowd::new(World::new(2, Rules::default(), |site| NoLock(Words::new(site))).unwrap(), 0, CostModel::Cc)
            .unwrap();
    crowd.step(0).unwrap();
    assert_eq!(crowd.phase(0), doorway_check::sim::Phase::Inside);
}

#[test]
fn a_block_that_begins_with_a_private_access_is_a_step_of_its_own() {
    let first = |words: Rc<Words>, p: Process<Sim>| async move {
        let here = p.on(Part::ROOT);
        here.at(1).write(&words.a, 1).await?;
        here.block_begins(&()).await?;
        let old = here.at(2).read(&words.private[0]).await?;
        here.at(2).write(&words.b, old + 1).await?;
        here.at(2).write(&words.a, 2).await?;
        here.block_ends(&());
        here.at(3).write(&words.b, 2).await
    };
    let second = |words: Rc<Words>, p: Process<Sim>| async move {
        p.on(Part::ROOT).at(9).read(&words.a).await?;
        Ok(())
    };
    let is = |a: u64, b: u64| {
        Property::sometimes(format!("{a}{b}"), move |v| v.get::<u64>("a") == a && v.get::<u64>("b") == b)
    };
    let seen =
        |a, b| holds(&Explorer::new(2).property(is(a, b)).explore(programs(Rules::default(), first, second)).unwrap());
    assert_eq!(seen(1, 0), Some(true), "before the block");
    assert_eq!(seen(1, 1), Some(false), "in the middle of it");
    assert_eq!(seen(2, 1), Some(true), "after it");
}

#[test]
fn a_process_that_looks_at_a_private_variable_before_it_writes_owes_a_wake_too() {
    let gets_on = |looks: bool| {
        let first = move |words: Rc<Words>, p: Process<Sim>| async move {
            let here = p.on(Part::ROOT);
            if looks {
                here.at(1).read(&words.private[0]).await?;
            }
            here.at(1).write(&words.a, 1).await
        };
        let second = |words: Rc<Words>, p: Process<Sim>| async move {
            let here = p.on(Part::ROOT);
            here.at(2).read(&words.a).await?;
            here.at(3).wait_until(&words.a, |a| a == 1).await?;
            Ok(())
        };
        let rules = Rules { crashes: 1, wakes: true, ..Rules::default() };
        let written = |v: &doorway_check::property::View<'_>, p: usize| p == 1 && v.at(1, 3) && v.get::<u64>("a") == 1;
        let gets_on = Property::leads_to("gets on", written, |v, _| !v.at(1, 3));
        holds(&Explorer::new(2).property(gets_on).explore(programs(rules, first, second)).unwrap())
    };
    assert_eq!(gets_on(false), Some(false), "it may die between its write and the wake");
    assert_eq!(gets_on(true), Some(false));
}

#[test]
fn every_access_of_a_block_is_paid_for() {
    let sizes = Sizes { n: 3, k: 1 };
    let subject = subject::find("am-queue").unwrap();
    for (model, most) in [(CostModel::Dsm, 6), (CostModel::Cc, 10)] {
        let exact = (0..sizes.n).map(|p| {
            let world = subject.world(sizes, Rules { measure: Some((p, model)), ..Rules::default() }).unwrap();
            Explorer::new(sizes.n).worst_passage(world, sizes.n).unwrap().worst
        });
        assert_eq!(exact.max(), Some(Worst::Bounded(most)));
        let hunt = Hunt {
            model,
            contention: sizes.n,
            method: Method::Adversary,
            runs: 40,
            passages: 3,
            steps: 100_000,
            enough: None,
            seed: 1,
        };
        assert_eq!(hunt.on(|| subject.world(sizes, Rules::default())).unwrap().worst, Worst::Bounded(most));
    }
}

#[test]
fn reading_what_nobody_watches_or_what_is_anothers_is_an_error() {
    let text = |p: Rc<Vec<SimCell<bool>>>, me: Process<Sim>| async move {
        let here = me.on(Part::ROOT);
        let Ok(()) = here.at(1).write(&p[0], true).await;
        let Ok(_) = here.at(2).read(&p[0]).await;
    };
    let watched = |site: &Site<'_, Sim>| site.row("p", 1, |_| decl(false).home(Pid::new(0)).only_while_watched());
    let result = World::of_programs(1, Rules::with_passages(Some(1)), watched, text)
        .and_then(|world| Explorer::new(1).explore(world));
    assert!(matches!(result, Err(TextError::Unwatched { label: 2, .. })), "{result:?}");
    let private = |site: &Site<'_, Sim>| site.row("p", 1, |_| decl(false).private(Pid::new(0)));
    let result = World::of_programs(2, Rules::with_passages(Some(1)), private, text)
        .and_then(|world| Explorer::new(2).explore(world));
    assert!(matches!(result, Err(TextError::NotPrivate { label: 1, .. })), "{result:?}");
}

#[test]
fn a_block_on_torn_registers_is_refused() {
    let subject = subject::find("am-queue").unwrap();
    let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::default() };
    let world = subject.world(Sizes { n: 2, k: 1 }, rules).unwrap();
    let refused = Explorer::new(2).property(Property::exclusion("k-exclusion", 1)).explore(world).unwrap_err();
    assert!(matches!(refused, TextError::TornBlock { .. }), "{refused}");
}

#[test]
fn a_machine_without_all_its_variables_is_not_searched() {
    let subject = subject::find("am-dsm-chain").unwrap();
    let sparse = || subject.world(Sizes { n: 2, k: 1 }, Rules { sparse: true, ..Rules::default() }).unwrap();
    assert_eq!(Explorer::new(2).explore(sparse()).unwrap_err(), TextError::Sparse);
    let mut world = sparse();
    let mut state = world.initial();
    assert_eq!(world.step(&mut state, 0).unwrap_err(), TextError::Sparse);
}
