//! Arbitration trees of Peterson's and of Kessels' mutexes: the properties they have, and their
//! hard cases step by step.

use crate::common::{ask, explore, inside, run, run_mutant, values};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, claims, subject};
use doorway_core::mutex::{ArbitrationTree, kessels_82, peterson_81};
use doorway_core::registry::{self, Sizes};

#[test]
fn what_they_claim_holds() {
    for (id, states) in [("peterson-tree", [2, 32, 480, 7_680]), ("kessels-tree", [2, 104, 3_952, 159_744])] {
        for (n, states) in (1..).zip(states) {
            explore(id, n, 1, None, states);
        }
    }
}

#[test]
fn the_last_signature_at_the_beginning_is_arbitrary() {
    let sizes = Sizes { n: 3, k: 1 };
    let claims = |id: &str| claims::of(registry::find(id).unwrap(), sizes);
    for turn in ["node1.turn", "node2.turn"] {
        let peterson = Explorer::new(3).believe_keep(true).properties(claims("peterson-tree")).initially(turn, 1);
        peterson.run(|site| ArbitrationTree::new(site, 3, peterson_81::TwoSides::between)).unwrap().assert_holds();
    }
    for bit in ["node1.r[0]", "node1.r[1]", "node2.r[0]", "node2.r[1]"] {
        let kessels = Explorer::new(3).believe_keep(true).properties(claims("kessels-tree")).initially(bit, 1);
        kessels.run(|site| ArbitrationTree::new(site, 3, kessels_82::TwoSides::between)).unwrap().assert_holds();
    }
}

#[test]
fn every_statement_is_reached_at_every_node() {
    for (id, last) in [("peterson-tree", 5), ("kessels-tree", 6)] {
        let world = subject::find(id).unwrap().world(Sizes { n: 3, k: 1 }, Rules::default()).unwrap();
        let reached = (2..=last).flat_map(|label| {
            [1, 2].map(|node| {
                let name = format!("{id}: someone at {label} of node {node}");
                Property::sometimes(name, move |v| v.index() == node && v.count(label) > 0).each("node")
            })
        });
        Explorer::new(3).believe_keep(true).properties(reached).explore(world).unwrap().assert_holds();
    }
}

#[test]
fn no_crash_is_tolerated() {
    for id in ["peterson-tree", "kessels-tree"] {
        let rules = Rules { crashes: 1, ..Rules::default() };
        assert_eq!(ask(id, (3, 1), rules, &["never-stuck"]).verdict("never-stuck").holds, Some(false), "{id}");
        ask(id, (3, 1), rules, &["mutual-exclusion"]).assert_holds();
    }
}

#[test]
fn the_last_signer_waits_until_the_other_left_or_signed_after_it() {
    let mut r = run("peterson-tree", 2, 1);
    r.follow("p0.1.2.3  p1.1.2.3.4~").unwrap();
    assert_eq!((inside(&r), values(&r, ["node1.turn"])), (vec![0], ["Right".to_owned()]));
    r.follow("p0.6.1.2  p1.3.4").unwrap(); // p0 is back before p1 has looked, and has signed after it
    assert_eq!((inside(&r), values(&r, ["node1.q[0]", "node1.turn"])), (vec![1], ["true", "Left"].map(String::from)));
    r.follow("p0.3.4~  p1.6  p0.3").unwrap();
    assert_eq!(inside(&r), [0]);
}

#[test]
fn a_signature_between_the_others_two_looks_lets_it_pass() {
    let mut r = run("peterson-tree", 2, 1);
    r.follow("p0.1.2  p1.1  p0.3  p1.2  p0.4").unwrap();
    assert_eq!(inside(&r), [0]);
    r.follow("p1.3.4~").unwrap();
}

#[test]
fn two_bits_name_one_of_the_two_whatever_was_read() {
    // Both read before either signs. Equal bits name the left side.
    let mut r = run("kessels-tree", 2, 1);
    r.follow("p0.1.2  p1.1.2  p0.3  p1.3").unwrap();
    assert_eq!(values(&r, ["node1.r[0]", "node1.r[1]"]), ["false", "true"].map(String::from)); // the right side
    r.follow("p1.4.5~  p0.4.5").unwrap();
    assert_eq!(inside(&r), [0]);
    // Again from there: the bits are as they are, and both sign at the same time.
    r.follow("p0.7  p1.4.7  p0.1.2  p1.1.2  p0.3  p1.3").unwrap();
    assert_eq!(values(&r, ["node1.r[0]", "node1.r[1]"]), ["true", "true"].map(String::from)); // the left side
    r.follow("p0.4.5~  p1.4.5").unwrap();
    assert_eq!(inside(&r), [1]);
}

/// Three processes: node 2 is between p0 and p1; at the root, node 1, its winner meets p2.
#[test]
fn the_next_one_on_a_side_need_not_be_the_same() {
    let mut r = run("peterson-tree", 3, 1);
    r.follow("p0.1.2.3 p0.1.2.3  p1.1.2.3.4~  p2.1.2.3.4~").unwrap();
    assert_eq!((inside(&r), values(&r, ["node1.turn", "node2.turn"])), (vec![0], ["Right", "Right"].map(String::from)));
    r.follow("p0.6 p0.6  p1.3 p1.1.2.3").unwrap(); // p0 leaves from the root down; p1 climbs, and signs after p2
    assert_eq!((inside(&r), values(&r, ["node1.q[0]", "node1.turn"])), (vec![], ["true", "Left"].map(String::from)));
    r.follow("p1.4~  p2.3.4").unwrap();
    assert_eq!(inside(&r), [2]);
}

#[test]
fn fails_when_the_tree_is_released_from_the_leaf() {
    let mut r = run_mutant("peterson-tree-exits-from-the-leaf");
    r.follow("p0.1.2.3 p0.1.2.3  p0.6").unwrap(); // p0 has left node 2, but not the root
    r.follow("p1.1.2.3 p1.1.2.3").unwrap(); // p1 comes to the same side of the root
    r.follow("p0.6  p2.1.2.3").unwrap(); // p0 clears p1's flag
    assert_eq!(inside(&r), [1, 2]);
}

#[test]
fn fails_when_it_signs_before_it_competes() {
    let mut r = run_mutant("peterson-tree-2-before-1");
    r.follow("p0.2  p1.2.1.3  p0.1.3.4").unwrap(); // p1 saw no rival, and p0 finds that p1 signed last
    assert_eq!(inside(&r), [0, 1]);
}

#[test]
fn fails_when_it_looks_before_it_competes() {
    let mut r = run_mutant("kessels-tree-2-before-1");
    // p1 saw no rival. p0's bit has not changed, and p1's says that p1 signed last.
    r.follow("p0.2  p1.2.1.3.4  p0.1.3.4.5").unwrap();
    assert_eq!(inside(&r), [0, 1]);
}
