//! Temporal formulas: each operator with a text that satisfies it and one that does not, and all of
//! them against naive oracles on random programs.

use doorway_check::prelude::*;
use doorway_check::property::{Formula, holds};
use doorway_check::sim::{Part, Rules, SimVar, World};
use doorway_core::Failure;
use proptest::prelude::*;
use std::convert::Infallible;

/// What a process of a random program does.
#[derive(Clone, Copy, Debug)]
enum Does {
    Write(usize, u64),
    Wait(usize, u64),
    Swap(usize, u64),
}

type Programs = Vec<Vec<Does>>;

fn check(programs: Programs, passages: Option<u32>) -> Check {
    let n = programs.len();
    Check::of("random", n, move |rules| {
        let programs = programs.clone();
        let build = |site: &Site<'_, Sim>| [site.var("x", 0u64), site.var("y", 0u64)];
        World::of_programs(n, rules, build, move |vars, p| {
            let program = programs[p.pid().index()].clone();
            async move {
                let here = p.on(Sim::ROOT);
                // So that a program that waits at once has begun.
                let Ok(_) = here.at(100).read(&vars[0]).await;
                for (at, does) in (1..).zip(program) {
                    match does {
                        Does::Write(v, x) => {
                            let Ok(()) = here.at(at).write(&vars[v], x).await;
                        }
                        Does::Wait(v, x) => {
                            let Ok(_) = here.at(at).wait_until(&vars[v], |now| now == x).await;
                        }
                        Does::Swap(v, x) => {
                            let Ok(_) = here.at(at).swap(&vars[v], x).await;
                        }
                    }
                }
            }
        })
    })
    .with(move |explorer| explorer.passages(passages).keep_going(true))
}

/// A formula, to be evaluated naively too.
#[derive(Clone, Debug)]
pub(crate) enum F {
    Is(usize),
    Not(Box<F>),
    And(Box<F>, Box<F>),
    Or(Box<F>, Box<F>),
    Until(Box<F>, Box<F>),
    Unless(Box<F>, Box<F>),
    LeadsTo(Box<F>, Box<F>),
    Always(Box<F>),
    Eventually(Box<F>),
}

/// The predicates: of variables, and of a process.
fn predicate(i: usize) -> Formula {
    match i {
        0 => holds("x", |v| v.get::<u64>("x") == 1),
        1 => holds("y", |v| v.get::<u64>("y") == 1),
        _ => holds("done", |v| v.is_done(0)),
    }
}

impl F {
    fn formula(&self) -> Formula {
        self.of(predicate)
    }

    /// The formula of these predicates.
    pub(crate) fn of(&self, predicate: fn(usize) -> Formula) -> Formula {
        let of = |f: &Self| f.of(predicate);
        match self {
            Self::Is(i) => predicate(*i),
            Self::Not(a) => of(a).not(),
            Self::And(a, b) => of(a).and(of(b)),
            Self::Or(a, b) => of(a).or(of(b)),
            Self::Until(a, b) => of(a).until(of(b)),
            Self::Unless(a, b) => of(a).unless(of(b)),
            Self::LeadsTo(a, b) => of(a).leads_to(of(b)),
            Self::Always(a) => of(a).always(),
            Self::Eventually(a) => of(a).eventually(),
        }
    }

    /// Whether it holds from state `i` of a run on, whose last state is followed by that at `from`.
    pub(crate) fn holds_on(&self, run: &[[bool; 3]], from: usize, i: usize) -> bool {
        // Each state that is still to come, in the order of its first coming.
        let later: Vec<usize> = (i..run.len()).chain(from..i.max(from)).collect();
        let at = |f: &Self, j: usize| f.holds_on(run, from, j);
        let until = |a: &Self, b: &Self| match later.iter().position(|&j| at(b, j)) {
            Some(first) => later[..first].iter().all(|&j| at(a, j)),
            None => false,
        };
        match self {
            Self::Is(p) => run[i][*p],
            Self::Not(a) => !at(a, i),
            Self::And(a, b) => at(a, i) && at(b, i),
            Self::Or(a, b) => at(a, i) || at(b, i),
            Self::Until(a, b) => until(a, b),
            Self::Unless(a, b) => until(a, b) || later.iter().all(|&j| at(a, j)),
            Self::LeadsTo(a, b) => {
                let ends = |j| Self::Eventually(b.clone()).holds_on(run, from, j);
                later.iter().all(|&j| !at(a, j) || ends(j))
            }
            Self::Always(a) => later.iter().all(|&j| at(a, j)),
            Self::Eventually(a) => later.iter().any(|&j| at(a, j)),
        }
    }

    /// Whether it holds from this state of a run on, whose last state lasts for ever.
    fn holds(&self, run: &[[bool; 3]]) -> bool {
        let later = || (0..run.len()).map(|i| &run[i..]);
        match self {
            Self::Is(i) => run[0][*i],
            Self::Not(a) => !a.holds(run),
            Self::And(a, b) => a.holds(run) && b.holds(run),
            Self::Or(a, b) => a.holds(run) || b.holds(run),
            Self::Until(a, b) => (0..run.len()).any(|i| b.holds(&run[i..]) && (0..i).all(|j| a.holds(&run[j..]))),
            Self::Unless(a, b) => {
                let until = Self::Until(a.clone(), b.clone());
                until.holds(run) || later().all(|rest| a.holds(rest))
            }
            Self::LeadsTo(a, b) => later().all(|rest| !a.holds(rest) || Self::Eventually(b.clone()).holds(rest)),
            Self::Always(a) => later().all(|rest| a.holds(rest)),
            Self::Eventually(a) => later().any(|rest| a.holds(rest)),
        }
    }
}

pub(crate) fn formula() -> impl Strategy<Value = F> {
    (0..3usize).prop_map(F::Is).prop_recursive(3, 12, 2, |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b))).boxed();
        prop_oneof![
            inner.clone().prop_map(|a| F::Not(Box::new(a))),
            inner.clone().prop_map(|a| F::Always(Box::new(a))),
            inner.prop_map(|a| F::Eventually(Box::new(a))),
            two.clone().prop_map(|(a, b)| F::And(a, b)),
            two.clone().prop_map(|(a, b)| F::Or(a, b)),
            two.clone().prop_map(|(a, b)| F::Until(a, b)),
            two.clone().prop_map(|(a, b)| F::Unless(a, b)),
            two.prop_map(|(a, b)| F::LeadsTo(a, b)),
        ]
    })
}

fn programs(most: usize) -> impl Strategy<Value = Programs> {
    let (v, x) = (0..2usize, 0..2u64);
    let does = prop_oneof![
        (v.clone(), x.clone()).prop_map(|(v, x)| Does::Write(v, x)),
        (v.clone(), x.clone()).prop_map(|(v, x)| Does::Wait(v, x)),
        (v, x).prop_map(|(v, x)| Does::Swap(v, x)),
    ];
    prop::collection::vec(prop::collection::vec(does, 1..=most), 2)
}

/// Every run of the programs, one passage each, up to where nothing changes any more.
fn runs(
    programs: &Programs,
    at: [usize; 2],
    vars: [u64; 2],
    run: &mut Vec<[bool; 3]>,
    found: &mut Vec<Vec<[bool; 3]>>,
) {
    let done = at[0] == programs[0].len() + 1;
    run.push([vars[0] == 1, vars[1] == 1, done]);
    let mut ends = true;
    for p in 0..2 {
        let (mut next, mut after) = (at, vars);
        next[p] += 1;
        // The first step is the read that begins.
        match (at[p].checked_sub(1)).map(|i| programs[p].get(i)) {
            Some(None) => continue,
            None => {}
            Some(Some(&(Does::Write(v, x) | Does::Swap(v, x)))) => after[v] = x,
            Some(Some(&Does::Wait(v, x))) if vars[v] != x => continue,
            Some(Some(Does::Wait(..))) => {}
        }
        ends = false;
        runs(programs, next, after, run, found);
    }
    if ends {
        found.push(run.clone());
    }
    run.pop();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn formulas_agree_with_all_runs_of_random_programs(programs in programs(4), f in formula()) {
        let mut all = Vec::new();
        runs(&programs, [0; 2], [0; 2], &mut Vec::new(), &mut all);
        let holds = all.iter().all(|run| f.holds(run));
        let check = check(programs, Some(1)).property(Property::ltl("f", f.formula()).if_all_take_part());
        let report = check.run().unwrap();
        let verdict = report.verdict("f");
        prop_assert_eq!(verdict.holds, Some(holds), "{}\n{}", f.formula(), report);
        // The run that breaks it does so by itself, without the automaton.
        if let Some(token) = &verdict.token {
            let again = check.replay(&token.to_string()).unwrap();
            prop_assert!(again.breaks, "{}\n{}", f.formula(), again);
        }
    }

    #[test]
    fn leads_to_agrees_with_the_operator_for_processes(programs in programs(3)) {
        let at_one = |v: &View<'_>, p: usize| v.at(p, 1..=2) && v.get::<u64>("x") == 1;
        let over = |v: &View<'_>, p: usize| v.get::<u64>("y") == 1 && v.phase(p) == Phase::Entry;
        let here = move |p: usize| holds("here", move |v| at_one(v, p));
        let then = move |p: usize| holds("then", move |v| over(v, p));
        let check = check(programs, None)
            .property(Property::leads_to("operator", at_one, over))
            .property(Property::ltl_each("formula", move |p| here(p).leads_to(then(p))))
            .property(Property::ltl("never for ever", here(0).stabilises().not()))
            .property(Property::leads_to("never for ever, by the operator", move |v, p| p == 0 && at_one(v, p), move |v, _| !at_one(v, 0)));
        let report = check.run().unwrap();
        prop_assert_eq!(report.verdict("operator").holds, report.verdict("formula").holds, "{}", report);
        let [a, b] = ["never for ever", "never for ever, by the operator"].map(|name| report.verdict(name).holds);
        prop_assert_eq!(a, b, "{}", report);
        for verdict in report.verdicts.iter().filter(|v| v.holds == Some(false)) {
            let again = check.replay(&verdict.token.as_ref().unwrap().to_string()).unwrap();
            prop_assert!(again.breaks, "{}\n{}", verdict.name, again);
        }
    }
}

/// Verdicts of formulas about one run in circles: p0 sets `x`, p1 clears it.
#[test]
fn each_operator_holds_and_fails() {
    let (x, y) = (|| predicate(0), || predicate(1));
    let never = || x().and(x().not());
    let checked = |f: Formula| {
        let programs = vec![vec![Does::Write(0, 1), Does::Wait(0, 0)], vec![Does::Wait(0, 1), Does::Write(0, 0)]];
        let report = check(programs, None).property(Property::ltl("f", f).if_all_take_part()).run().unwrap();
        let verdict = report.verdict("f");
        assert_eq!(verdict.trace.is_some(), verdict.holds == Some(false));
        verdict.holds.unwrap()
    };
    assert!(checked(x().eventually()) && !checked(y().eventually()));
    assert!(checked(x().infinitely_often()) && !checked(y().infinitely_often()));
    assert!(checked(y().not().stabilises()) && !checked(x().stabilises()));
    assert!(checked(y().not().always()) && !checked(x().not().always()));
    assert!(checked(x().leads_to(x().not())) && !checked(x().leads_to(y())));
    assert!(checked(x().not().until(x())) && !checked(x().not().until(y())));
    assert!(checked(y().not().unless(never())) && !checked(x().not().unless(never())));
    assert!(checked(x().implies(y().not())) && !checked(x().implies(y()).always()));
}

#[test]
fn a_process_need_not_take_part_unless_it_is_said() {
    let programs = || vec![vec![Does::Write(0, 1)], vec![Does::Write(1, 1)]];
    let x = || predicate(0);
    let report = check(programs(), Some(1))
        .property(Property::ltl("if all take part", x().eventually()).if_all_take_part())
        .property(Property::ltl("in any fair run", x().eventually()))
        .property(Property::eventually("both", |v| v.get::<u64>("x") + v.get::<u64>("y") == 2).if_all_take_part())
        .property(Property::stabilises("stays", |v| v.get::<u64>("x") == 1).if_all_take_part())
        .run()
        .unwrap();
    let verdicts: Vec<Option<bool>> = report.verdicts.iter().map(|v| v.holds).collect();
    assert_eq!(verdicts, [Some(true), Some(false), Some(true), Some(true)], "{report}");
    let lazy = report.verdict("in any fair run").trace.as_ref().unwrap();
    assert!(lazy.to_string().contains("nothing more happens"), "{lazy}");
}

/// p0 waits for what never comes once p1 is past statement 1, and closes the gate if it gives up.
/// p1 waits for the gate.
struct Gate {
    part: Part,
    past: SimVar<bool>,
    closed: SimVar<bool>,
    never: SimVar<bool>,
}

impl KExclusion<Sim> for Gate {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        self.try_acquire(p, &mut ()).await.map(drop)
    }
    async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Abortable<Sim> for Gate {
    type Attempt = ();
    async fn try_acquire(&self, p: &Process<Sim>, (): &mut ()) -> Result<Option<()>, Failure<Infallible>> {
        let p = p.on(self.part);
        if p.pid().index() == 0 {
            p.at(10).wait_until(&self.past, |past| past).await?;
            return Ok(p.at(11).wait_unless_given_up(&self.never, |so| so).await?.map(drop));
        }
        p.at(1).read(&self.past).await?;
        p.at(2).write(&self.past, true).await?;
        p.at(3).wait_until(&self.closed, |closed| !closed).await?;
        Ok(Some(()))
    }
    async fn leave(&self, p: &Process<Sim>, (): ()) -> Result<Option<()>, Infallible> {
        p.on(self.part).at(12).write(&self.closed, true).await?;
        Ok(None)
    }
}

/// What was owed before a process gave up is owed after it too.
#[test]
fn a_give_up_after_the_promise_may_break_it() {
    let gate = |site: &Site<'_, Sim>| Gate {
        part: site.here(),
        past: site.var("past", false),
        closed: site.var("closed", false),
        never: site.var("never", false),
    };
    let so = |v: &View<'_>, p: usize| p == 1 && v.at(p, 2) && !v.get::<bool>("closed");
    let then = |v: &View<'_>, p: usize| v.phase(p) == Phase::Inside;
    let formula = move |p| holds("so", move |v| so(v, p)).leads_to(holds("then", move |v| then(v, p)));
    for give_ups in [false, true] {
        let check = Check::abortable("gate", 2, gate)
            .property(Property::leads_to("operator", so, then))
            .property(Property::ltl_each("formula", formula))
            .with(move |explorer| explorer.rules(Rules { give_ups, ..Rules::with_passages(Some(1)) }).keep_going(true));
        let report = check.run().unwrap();
        for verdict in &report.verdicts {
            assert_eq!(verdict.holds, Some(!give_ups), "{report}");
            let again = verdict.token.as_ref().map(|token| check.replay(&token.to_string()).unwrap());
            assert!(again.is_none_or(|again| again.breaks), "{report}");
        }
    }
}
