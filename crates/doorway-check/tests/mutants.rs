//! Every seeded fault is noticed, by the property and after the number of steps that the table says.

use doorway_check::sim::Rules;
use doorway_check::{Explorer, Property, mutants, subject};
use doorway_core::registry;

#[test]
fn every_mutant_is_killed_and_every_control_holds() {
    let mut wrong = Vec::new();
    for m in mutants::ALL {
        let s = subject::find(&format!("mutant:{}", m.name)).unwrap();
        let sizes = s.sizes(None, None).unwrap();
        let rules = Rules { passages: m.sizes.passages, ..Rules::default() };
        let t = std::time::Instant::now();
        let r = Explorer::new(sizes.n)
            .properties(s.claims(sizes))
            .max_states(2_000_000)
            .explore(s.world(sizes, rules).unwrap())
            .unwrap();
        let got = r.failure().map(|v| (v.name.clone().into_owned(), v.trace.as_ref().map_or(0, |t| t.len())));
        println!("{} {:?} states {} complete {} {:?}", m.name, got, r.states, r.complete, t.elapsed());
        if got.as_ref().map(|(n, l)| (n.as_str(), *l)) != m.fails {
            wrong.push((m.name, got, m.fails));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn drift() {
    for info in registry::ALL {
        let s = subject::find(info.id).unwrap();
        let sizes = s.sizes(None, None).unwrap();
        let rules = Rules { passages: info.defaults.passages, ..Rules::default() };
        let run = |w| Explorer::new(sizes.n).property(Property::exclusion("x", sizes.k)).explore(w).unwrap();
        let a = run(s.world(sizes, rules).unwrap());
        let b = run(mutants::without_fault(info.id, sizes, rules).unwrap().unwrap());
        println!("{} {} {}", info.id, a.states, a.edges);
        assert_eq!((a.states, a.edges), (b.states, b.edges), "{}", info.id);
        let t = std::time::Instant::now();
        let r = Explorer::new(sizes.n).properties(s.claims(sizes)).explore(s.world(sizes, rules).unwrap()).unwrap();
        println!("all claims {:?}", t.elapsed());
        r.assert_holds();
    }
}
