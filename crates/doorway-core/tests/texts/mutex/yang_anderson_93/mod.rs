//! Yang and Anderson 1993: the paper's invariants, and the hard cases step by step. `u` is p0, `v`
//! is p1.

mod combining;

use crate::common::{explore, run, run_mutant, values};
use doorway_check::property::View;
use doorway_check::sim::{Phase, Rules};
use doorway_check::{Explorer, Property, claims, subject};
use doorway_core::memory::Pid;
use doorway_core::mutex::yang_anderson_93::{FastPath, TwoProcess};
use doorway_core::registry::{self, Sizes};

#[test]
fn paper_invariants_hold() {
    explore("ya-two", 2, 1, None, 672);
}

#[test]
fn the_initial_value_of_t_is_arbitrary() {
    for t in [0, 1] {
        let claims = claims::of(registry::find("ya-two").unwrap(), Sizes { n: 2, k: 1 });
        Explorer::new(2)
            .believe_keep(true)
            .properties(claims)
            .initially("T", t)
            .run(TwoProcess::new)
            .unwrap()
            .assert_holds();
    }
}

#[test]
fn every_statement_is_reached() {
    let statements = (2..=14).filter(|&s| s != 12).map(|label| {
        // Statement 12 follows directly on the critical section, 11.
        Property::sometimes(format!("someone at {label}"), move |v| v.count(label) > 0)
    });
    let report = Explorer::new(2).believe_keep(true).properties(statements).run(TwoProcess::new).unwrap();
    report.assert_holds();
}

#[test]
fn alone_it_takes_the_short_way() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4").unwrap();
    assert_eq!(r.view().inside(), 1);
    r.follow("p0.12.13").unwrap();
    assert_eq!(r.view().label(0), 0);
}

#[test]
fn the_second_waits_twice() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4  p1.1.2.3.4.5.6.7.8~  p0.12.13.14  p1.8.9.10").unwrap();
    assert_eq!((r.view().inside(), r.value("P[1]").as_deref()), (1, Some("2")));
}

#[test]
fn the_ambiguous_case_is_settled_by_t() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p1.1  p0.1.2.3.4.5.6.7.8~").unwrap();
    assert_eq!(r.value("P[1]").as_deref(), Some("1"));
    r.follow("p1.2.3").unwrap(); // erases u's signal, which is harmless
    assert_eq!(r.value("P[1]").as_deref(), Some("0"));
    r.follow("p1.4.5.6.7.8~  p0.8.9").unwrap(); // v signed last, so u goes first
    assert_eq!((r.view().inside(), r.view().label(0)), (1, 11));
    r.follow("p0.12.13.14  p1.8.9.10").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 11));
}

#[test]
fn a_late_signal_is_forgotten() {
    let mut r = run("ya-two", 2, 1);
    r.follow("p0.1.2.3.4.12  p1.1.2.3.4  p0.13.14").unwrap(); // v is inside already
    assert_eq!((r.view().inside(), r.value("P[1]").as_deref()), (1, Some("2")));
    r.follow("p1.12.13  p1.1.2.3").unwrap();
    assert_eq!(r.value("P[1]").as_deref(), Some("0"));
}

#[test]
fn fails_when_13_comes_before_12() {
    let mut r = run_mutant("ya-two-13-before-12");
    r.follow("p0.1.2.3.4.13  p1.1.2.3.4.5.6.7.8~  p0.12").unwrap();
    assert!(r.is_deadlock().unwrap());
}

#[test]
fn fails_when_4_comes_before_1() {
    let mut r = run_mutant("ya-two-4-before-1");
    r.follow("p0.2.3.4  p1.2.3.4  p0.1  p1.1").unwrap();
    assert_eq!(r.view().inside(), 2);
}

#[test]
fn the_tree_and_the_fast_path_hold() {
    explore("ya-tree", 2, 1, None, 672); // one node, as ya-two
    explore("ya-tree", 3, 1, None, 355_294);
    explore("ya-tree", 1, 1, None, 2); // no node
    explore("ya-fast", 2, 1, None, 141_140);
    explore("ya-fast", 1, 1, None, 15);
}

#[test]
fn what_the_figures_leave_open_is_arbitrary() {
    let info = registry::find("ya-fast").unwrap();
    for (variable, value) in [("X", 1), ("node0.T", 1), ("slow.node1.T", 1)] {
        let claims = claims::of(info, Sizes { n: 2, k: 1 });
        let report = Explorer::new(2)
            .believe_keep(true)
            .properties(claims)
            .initially(variable, value)
            .run(|site| FastPath::new(site, 2, TwoProcess::between))
            .unwrap();
        report.assert_holds();
    }
}

/// Three processes: node 2 is between p0 and p1; at the root, node 1, its winner meets p2.
#[test]
fn the_tree_is_released_from_the_root_down() {
    let mut r = run("ya-tree", 3, 1);
    r.follow("p0.1.2.3.4 p0.1.2.3.4  p1.1.2.3.4.5.6.7.8~  p2.1.2.3.4.5.6.7.8~").unwrap();
    assert_eq!((r.view().inside(), values(&r, ["node1.C[0]", "node2.C[1]"])), (1, ["p0", "p1"].map(String::from)));
    r.follow("p0.12.13.14").unwrap(); // at the root: p2
    assert_eq!(values(&r, ["node1.P[2]", "node2.P[1]"]), ["2", "0"].map(String::from)); // p1 not yet
    r.follow("p2.8.9.10").unwrap();
    assert_eq!(r.view().inside(), 1);
    r.follow("p0.12.13.14  p1.8.9.10  p1.1.2.3.4.5.6.8~").unwrap(); // p1 has climbed, and waits for p2 now
    assert_eq!(values(&r, ["node1.C[0]", "node1.T"]), ["p1", "p1"].map(String::from));
    r.follow("p2.12.13.14  p1.8.9.10").unwrap();
    assert_eq!(r.view().inside(), 1);
}

#[test]
fn the_rival_of_the_next_passage_may_be_another() {
    let mut r = run("ya-tree", 3, 1);
    r.follow("p2.1.2.3.4  p0.1.2.3.4 p0.1.2.3.4.5.6.7.8~  p2.12.13.14  p0.8.9.10").unwrap();
    r.follow("p0.12.13 p0.12.13  p1.1.2.3.4 p1.1.2.3.4").unwrap();
    assert_eq!((r.view().inside(), r.value("node1.C[0]").as_deref()), (1, Some("p1")));
    r.follow("p2.1.2.3.4.5.6.7.8~").unwrap();
    assert_eq!(values(&r, ["node1.P[0]", "node1.P[1]"]), ["2", "1"].map(String::from)); // p1 is told, not p0
    r.follow("p1.12.13.14  p2.8.9.10").unwrap();
    assert_eq!(r.view().inside(), 1);
}

#[test]
fn fails_when_the_tree_is_released_from_the_leaf() {
    let mut r = run_mutant("ya-tree-exits-from-the-leaf");
    r.follow("p0.1.2.3.4 p0.1.2.3.4  p0.12").unwrap(); // p0 has cleared the way in node 2, but has not left the root
    r.follow("p1.1.2.3.4 p1.1.2.3.4").unwrap(); // p1 comes to the same side of the root
    r.follow("p0.12  p2.1.2.3.4").unwrap(); // p0 erases p1
    assert_eq!(r.view().inside(), 2);
}

#[test]
fn alone_on_the_open_path() {
    let mut r = run("ya-fast", 2, 1);
    r.follow("p0.1.2.3.4.5.6.7 p0.1.2.3.4").unwrap();
    assert_eq!((r.view().inside(), r.view().label(0)), (1, 10));
    r.follow("p0.12.13 p0.8.9").unwrap();
    assert_eq!((r.view().label(0), values(&r, ["Y", "Z", "B[0]"])), (0, ["–", "false", "false"].map(String::from)));
}

#[test]
fn one_fast_and_one_slow() {
    let mut r = run("ya-fast", 2, 1);
    r.follow("p0.1.2.3.4.5.6.7 p0.1.2.3.4  p1.1.2 p1.1.2.3.4 p1.1.2.3.4.5.6.7.8~").unwrap();
    assert_eq!((r.view().inside(), r.view().label(1)), (1, 13));
    r.follow("p0.12.13.14  p1.8.9.10").unwrap();
    r.follow("p1.21.22.23.24").unwrap(); // p1 sees that p0 may be on the path,
    assert_eq!(values(&r, ["B[0]", "Z", "Y"]), ["true", "true", "p0"].map(String::from));
    r.follow("p1.27").unwrap(); // and leaves the path as it is;
    r.follow("p0.8.9").unwrap(); // p0 opens it.
    assert_eq!(r.value("Y").as_deref(), Some("–"));
}

/// All processes have gone and the path is closed: the next passage is slow and opens it, and the
/// one after that is fast.
#[test]
fn the_path_may_stay_closed_for_one_passage() {
    let mut r = run("ya-fast", 2, 1);
    r.follow("p0.1.2  p1.1.2").unwrap(); // Both find the path open. p1 signs X last,
    r.follow("p1.3.4.5.6.7 p1.1.2.3.4 p1.12.13 p1.8").unwrap(); // and takes the fast path.
    r.follow("p0.3.4 p0.1.2.3.4 p0.1.2.3.4").unwrap(); // p0 closes the path, and takes the slow one.
    r.follow("p0.21.22 p0.12.13 p0.12.13  p1.9").unwrap(); // It did not sign X last, so it does not open the path.
    assert!(r.view().processes().all(|p| r.view().label(p) == 0));
    assert_eq!(r.value("Y").as_deref(), Some("p0"));
    r.follow("p1.1.2 p1.1.2.3.4 p1.1.2.3.4 p1.21.22.23.24.26.27 p1.12.13 p1.12.13").unwrap();
    assert_eq!(r.value("Y").as_deref(), Some("–"));
    r.follow("p1.1.2.3.4.5.6.7").unwrap();
    assert_eq!(r.view().label(1), 10);
}

/// The path can be closed when all processes are in their remainder sections. `Z` and every `B` are
/// clear then.
#[test]
fn what_is_left_when_all_have_gone() {
    let gone = |v: &View<'_>| v.processes().all(|p| v.phase(p) == Phase::Remainder);
    let clear = move |v: &View<'_>| !gone(v) || !v.get::<bool>("Z") && v.processes().all(|p| !v.get_at::<bool>("B", p));
    let closed = move |v: &View<'_>| gone(v) && v.get::<Option<Pid>>("Y").is_some();
    let report = Explorer::new(2)
        .believe_keep(true)
        .property(Property::always("clear", clear))
        .property(Property::sometimes("closed", closed))
        .run(|site| FastPath::new(site, 2, TwoProcess::between))
        .unwrap();
    report.assert_holds();
}

#[test]
fn fails_when_the_path_opens_before_the_top_is_left() {
    let mut r = run_mutant("ya-fast-8-before-the-top");
    r.follow("p0.1.2.3.4.5.6.7 p0.1.2.3.4.12  p1.1.2.3.4.5.6.7").unwrap();
    assert_eq!(r.view().count(10), 2); // both on the left side
}

/// Each store that a load must not overtake.
#[test]
fn fails_when_a_look_comes_before_its_announcement() {
    for name in ["ya-fast-2-before-1", "ya-fast-4-before-3", "ya-fast-6-before-5", "ya-fast-24-before-23"] {
        let subject = subject::find(&format!("mutant:{name}")).unwrap();
        let sizes = Sizes { n: 2, k: 1 };
        let mut claims = subject.askable(sizes);
        claims.retain(|claim| claim.name() == "F1");
        let world = subject.world(sizes, Rules::default()).unwrap();
        let report = Explorer::new(2).believe_keep(true).properties(claims).explore(world).unwrap();
        assert_eq!(report.verdict("F1").holds, Some(false), "{name}");
    }
}
