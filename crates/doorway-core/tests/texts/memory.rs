//! What the checker calls the variables of a text, and where they live.

use doorway_check::sim::Sim;
use doorway_core::k_exclusion::anderson_moir_94::{Chain, Tree};
use doorway_core::memory::{Home, Pid, Site};
use doorway_core::mutex::{ArbitrationTree, yang_anderson_93::TwoProcess};

#[test]
fn a_variable_is_called_after_its_part() {
    let sim = Sim::default();
    let _x = Site::new(&sim).part("slot", Some(2)).var("X", 2i64);
    assert_eq!(sim.layout().names(), ["slot2.X"]);
}

#[test]
fn each_row_of_a_table_lives_with_its_process() {
    let sim = Sim::default();
    let _p = Site::new(&sim).table("P", 1..3, 2, false);
    assert_eq!(sim.layout().names(), ["P[1][0]", "P[1][1]", "P[2][0]", "P[2][1]"]);
    assert_eq!(sim.layout().var(3).home, Home::Of(Pid::new(2)));
}

/// The simulated memory has all rows from the start: the second follows the first.
#[test]
fn late_rows_double() {
    let sim = Sim::default();
    let rows = Site::new(&sim).late_rows("rec", 1, 2, 0u64);
    assert_eq!(sim.layout().names(), ["rec[0]", "rec[1]", "rec[2]"]);
    assert_eq!(format!("{:?}", rows[(1, 0)]), "#1");
}

#[test]
fn only_the_members_of_a_node_spin_there() {
    let sim = Sim::default();
    let _tree = ArbitrationTree::new(&Site::new(&sim), 3, TwoProcess::between);
    let layout = sim.layout();
    let spins: Vec<_> = layout.names().into_iter().filter(|name| name.contains("P[")).collect();
    assert_eq!(spins, ["node2.P[0]", "node2.P[1]", "node1.P[0]", "node1.P[1]", "node1.P[2]"]);
}

/// Five processes, of which two get in: leaves for processes 0..4 and for 4 alone, and a root for
/// the 2 + 1 that come out of them.
#[test]
fn a_tree_has_the_slots_of_its_blocks() {
    let sim = Sim::default();
    let _tree = Tree::new(&Site::new(&sim), 5, 2, |site, stage| Chain::new(site, stage.inputs, stage.k));
    let slots = ["level0.block0.slot3", "level0.block0.slot2", "level1.block0.slot2"];
    assert_eq!(sim.layout().names(), slots.map(|slot| [format!("{slot}.X"), format!("{slot}.Q")]).concat());
}
