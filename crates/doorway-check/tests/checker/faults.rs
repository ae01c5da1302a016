//! Faults that the memory seeds: what they change, what they may not hide, and which statements are
//! not missed.

use doorway_check::faults::{Hunt, Outcome, candidates};
use doorway_check::property::View;
use doorway_check::replay::Token;
use doorway_check::sim::{Keep, Rules, Sim, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::memory::{Memory as _, Process, Site};
use std::rc::Rc;

struct Words {
    x: SimVar<u64>,
    y: SimVar<u64>,
}

impl Words {
    fn new(site: &Site<'_, Sim>) -> Self {
        Self { x: site.var("x", 0), y: site.var("y", 0) }
    }
}

fn rules(faults: &str, keep: Keep) -> Rules {
    Rules { faults: faults.parse().unwrap(), keep, ..Rules::with_passages(Some(1)) }
}

/// What `x` can be when `y` is 1.
fn ends(report: &Report) -> Vec<u64> {
    (0..3).filter(|x| report.verdict(&x.to_string()).holds == Some(true)).collect()
}

fn asks_for_ends(processes: usize) -> Explorer<'static> {
    let is = |x: u64| move |v: &View<'_>| v.get::<u64>("y") == 1 && v.get::<u64>("x") == x;
    (0..3).fold(Explorer::new(processes).believe_keep(true), |explorer, x| {
        explorer.property(Property::sometimes(x.to_string(), is(x)))
    })
}

/// The process writes `x` or does not, and says from 3 on that this no longer matters. It does, if
/// the write was deferred.
#[test]
fn what_was_put_off_tells_local_states_apart() {
    let text = |words: Rc<Words>, p: Process<Sim>| async move {
        let p = p.on(Sim::ROOT);
        let Ok(writes) = p.at(0).choose(2).await;
        let Ok(_) = p.at(2).read(&words.y).await;
        if writes == 1 {
            let Ok(()) = p.at(1).write(&words.x, 1).await;
        }
        p.keep(3, &());
        let Ok(_) = p.at(3).read(&words.y).await;
        p.keep(4, &());
        let Ok(_) = p.at(4).read(&words.y).await;
        p.keep(5, &());
        let Ok(()) = p.at(5).write(&words.y, 1).await;
    };
    for (faults, can_be) in
        [("defer:1>4", &[0, 1][..]), ("defer:1>5", &[0, 1]), ("drop:1", &[0]), ("write:1=2", &[0, 2])]
    {
        for keep in [Keep::Trusted, Keep::CrossChecked, Keep::Ignored] {
            let world = World::of_programs(1, rules(faults, keep), Words::new, text).unwrap();
            // After its last statement a process makes its deferred accesses, so `y` is 1 before
            // `x` is.
            let report = asks_for_ends(1).explore(world).unwrap();
            assert_eq!(ends(&report), can_be, "{faults} {keep:?}");
        }
    }
}

/// Two processes add 1. In two steps, one addition can be lost, whatever the text says of its
/// locals.
#[test]
fn the_second_half_of_a_split_access_tells_local_states_apart() {
    let text = |words: Rc<Words>, p: Process<Sim>| async move {
        let p = p.on(Sim::ROOT);
        p.keep(1, &());
        let Ok(_) = p.at(1).fetch_add(&words.x, 1).await;
        p.keep(2, &());
        let Ok(_) = p.at(2).fetch_add(&words.y, 1).await;
    };
    let both_are_done = |x: u64| move |v: &View<'_>| v.get::<u64>("y") == 2 && v.get::<u64>("x") == x;
    for (faults, lost) in [("split:1", true), ("nowait:9", false)] {
        for keep in [Keep::Trusted, Keep::Ignored] {
            let report = Explorer::new(2)
                .believe_keep(true)
                .property(Property::sometimes("lost", both_are_done(1)))
                .property(Property::sometimes("both", both_are_done(2)))
                .explore(World::of_programs(2, rules(faults, keep), Words::new, text).unwrap())
                .unwrap();
            assert_eq!(report.verdict("lost").holds, Some(lost), "{faults} {keep:?}");
            assert_eq!(report.verdict("both").holds, Some(true), "{faults} {keep:?}");
            assert_eq!(report.faults_without_effect.len(), usize::from(!lost));
        }
    }
}

/// A write that was deferred past the first look of a wait is made once, not in every turn.
#[test]
fn what_was_put_off_before_a_wait_is_made_once() {
    let text = |words: Rc<Words>, p: Process<Sim>| async move {
        let p = p.on(Sim::ROOT);
        if p.pid().index() == 0 {
            p.keep(1, &());
            let Ok(()) = p.at(1).write(&words.x, 1).await;
            p.keep(2, &());
            let Ok(_) = p.at(2).wait_until(&words.y, |y| y == 1).await;
        } else {
            p.keep(3, &());
            let Ok(_) = p.at(3).wait_until(&words.x, |x| x == 1).await;
            p.keep(4, &());
            let Ok(()) = p.at(4).write(&words.x, 2).await;
            p.keep(5, &());
            let Ok(()) = p.at(5).write(&words.y, 1).await;
        }
    };
    for keep in [Keep::Trusted, Keep::Ignored] {
        let world = World::of_programs(2, rules("defer:1", keep), Words::new, text).unwrap();
        assert_eq!(ends(&asks_for_ends(2).explore(world).unwrap()), [2], "{keep:?}");
    }
}

#[test]
fn a_token_knows_its_fault() {
    let subject = subject::find("am-chain+drop:slot1.7").unwrap();
    let sizes = subject.sizes(Some(2), Some(1)).unwrap();
    let claims = subject.claims(sizes);
    let rules = Rules::default().for_properties(&claims);
    let report =
        Explorer::new(2).believe_keep(true).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    let failed = report.failure().unwrap();
    assert_eq!(failed.name, "never-stuck");
    let token = Token::new(&subject, sizes, rules, &failed.name, failed.trace.as_ref().unwrap()).to_string();
    assert!(token.starts_with("dw1/am-chain+drop:slot1.7/2,1/"), "{token}");
    let again = token.parse::<Token>().unwrap().replay().unwrap();
    assert_eq!(again.to_string(), failed.trace.as_ref().unwrap().to_string());
    // With another fault the text goes another way.
    assert!(token.replace("drop:slot1.7", "drop:slot1.3").parse::<Token>().unwrap().replay().is_err());
}

/// A fault that makes no sense is not a verdict.
#[test]
fn what_cannot_be_run_says_so() {
    let world = |id: &str| {
        let subject = subject::find(id).unwrap();
        let sizes = subject.sizes(None, None).unwrap();
        Explorer::new(sizes.n)
            .believe_keep(true)
            .explore(subject.world(sizes, Rules::default())?)
            .map(|report| report.states)
    };
    let impossible = |id: &str| match world(id) {
        Err(TextError::NoFault { why, .. }) => why,
        other => panic!("{id}: {other:?}"),
    };
    assert_eq!(impossible("ya-two+to:7:X"), "goes to a variable that there is not");
    assert_eq!(impossible("ya-two+wait:12:X=1"), "waits for a variable that there is not");
    // There is no ninth process to write to: the text panics, and that is a verdict.
    assert!(world("mcs+read:2=p9").is_ok());
    assert!(matches!(world("tas+drop:1=true"), Err(TextError::EmptyTurn { .. })));
    assert_eq!(world("ya-two+drop:99"), world("ya-two"));
}

fn hunt(id: &str, n: usize, k: usize) -> Vec<(String, Outcome)> {
    let subject = subject::find(id).unwrap();
    let sizes = subject.sizes(Some(n), Some(k)).unwrap();
    let hunt = Hunt { subject, sizes, rules: subject.rules(), max_states: 100_000 };
    let (statements, all) = hunt.statements(|| false).unwrap();
    assert!(all);
    let search = |fault| (format!("{fault}"), hunt.search(fault, || false).outcome);
    candidates(&statements).iter().map(search).collect()
}

fn missed(found: &[(String, Outcome)]) -> Vec<&str> {
    found.iter().filter(|(_, outcome)| *outcome == Outcome::Missed).map(|(fault, _)| &**fault).collect()
}

/// Every statement of these locks is needed: each fault that changes anything is noticed.
#[test]
fn no_statement_of_a_small_lock_is_idle() {
    for (id, n, k) in [("tas", 2, 1), ("peterson-fischer", 2, 1), ("ya-two", 2, 1), ("am-chain", 2, 1)] {
        let found = hunt(id, n, k);
        assert_eq!(missed(&found), [""; 0], "{id}");
        let idle: Vec<&str> =
            found.iter().filter(|(_, outcome)| *outcome == Outcome::Idle).map(|(fault, _)| &**fault).collect();
        assert!(matches!(idle[..], [last] if last.starts_with("defer:")), "{id}: {idle:?}");
    }
    let noticed = |found: &[(String, Outcome)], fault: &str| match found.iter().find(|(f, _)| f == fault) {
        Some((_, Outcome::Noticed { claim, .. })) => claim.clone(),
        other => panic!("{fault}: {other:?}"),
    };
    let chain = hunt("am-chain", 2, 1);
    assert_eq!(noticed(&chain, "drop:slot1.7"), "never-stuck");
    assert_eq!(noticed(&chain, "split:slot1.2"), "k-exclusion");
    assert_eq!(noticed(&chain, "nowait:slot1.5"), "k-exclusion");
}

/// With two processes none finds a pinned location, and where `last` is written no other process
/// looks.
#[test]
fn some_statements_of_figure_6_nobody_misses() {
    assert_eq!(missed(&hunt("am-dsm-chain", 2, 1)), ["drop:slot1.4=0", "defer:slot1.12"]);
}
