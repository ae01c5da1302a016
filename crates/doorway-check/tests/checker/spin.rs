//! Our verdicts agree with those of Spin on hand-written models: `ci/spin.sh` compares Spin with
//! the same table.

use doorway_check::sim::Rules;
use doorway_check::{Explorer, subject};
use doorway_core::registry::Sizes;

#[test]
fn verdicts_equal_spins() {
    let table = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/spin/expected.txt");
    let mut compared = 0;
    for line in std::fs::read_to_string(table).unwrap().lines() {
        let [model, n, k, property, verdict] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
        let (Ok(n), Ok(k)) = (n.parse(), k.parse()) else { continue };
        let id = if model == "test-and-set" { "tas" } else { model };
        let Ok(subject) = subject::find(id) else { continue }; // a model of no algorithm of ours
        let sizes = Sizes { n, k };
        let mut asked = subject.askable(sizes);
        asked.retain(|p| p.name() == property);
        assert_eq!(asked.len(), 1, "{line}");
        // Tickets of a bakery have no end.
        let rules = Rules::with_passages(subject.info.defaults.passages).for_properties(&asked);
        let world = subject.world(sizes, rules).unwrap();
        let report = Explorer::new(n).believe_keep(true).properties(asked).explore(world).unwrap();
        assert_eq!(report.verdict(property).holds, Some(verdict == "holds"), "{line}");
        compared += 1;
    }
    assert!(compared >= 15, "{compared} rows were compared");
}
