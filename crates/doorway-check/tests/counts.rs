use doorway_check::sim::Sections;
use doorway_check::{Explorer, Property};
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::mutex::lamport_74::Bakery;
#[test]
fn counts() {
    for s in [Sections::Merged, Sections::Explicit] {
        for (n, p) in [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)] {
            let t = std::time::Instant::now();
            let r = Explorer::new(n)
                .passages(p)
                .sections(s)
                .property(Property::exclusion("x", 1))
                .property(Property::deadlock_free("d"))
                .run(|site| Bakery::new(site, n))
                .unwrap();
            println!(
                "{s:?} {n} {p} {} {} {} runs {} {:?} {:.1}",
                r.states,
                r.edges,
                r.local_states,
                r.runs,
                t.elapsed(),
                r.bytes_per_state()
            );
            r.assert_holds();
        }
        for (n, k) in [(2, 1), (3, 2), (3, 1), (4, 3), (4, 2), (2, 2), (2, 5)] {
            let t = std::time::Instant::now();
            let r = Explorer::new(n)
                .sections(s)
                .property(Property::exclusion("x", k))
                .property(Property::deadlock_free("d"))
                .run(|site| Chain::new(site, n, k))
                .unwrap();
            println!(
                "{s:?} {n} {k} {} {} {} runs {} {:?} {:.1}",
                r.states,
                r.edges,
                r.local_states,
                r.runs,
                t.elapsed(),
                r.bytes_per_state()
            );
            r.assert_holds();
        }
    }
}
