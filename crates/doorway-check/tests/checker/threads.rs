//! A search has the same result with any number of threads: the same states, verdicts, traces,
//! tokens, and even the same number of bytes.

use doorway_check::explore::Stop;
use doorway_check::sim::{Deaths, Keep, Rules};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use std::time::Duration;

/// A search, and what makes it different from the others.
struct Case {
    id: &'static str,
    n: usize,
    k: usize,
    rules: Rules,
    keep_going: bool,
    most: Option<usize>,
}

fn case(id: &'static str, n: usize, k: usize) -> Case {
    let rules = subject::find(id).unwrap().rules();
    Case { id, n, k, rules, keep_going: false, most: None }
}

impl Case {
    fn search(&self, threads: usize) -> Report {
        let subject = subject::find(self.id).unwrap();
        let sizes = Sizes { n: self.n, k: self.k };
        let claims = subject.claims(sizes);
        let rules = self.rules.for_properties(&claims);
        let world = subject.world(sizes, rules).unwrap();
        let explorer = Explorer::new(self.n)
            .believe_keep(true)
            .properties(claims)
            .keep_going(self.keep_going)
            .max_states(self.most);
        explorer.threads(threads).explore(world).unwrap()
    }

    /// Everything that a report says, except how long it took.
    fn said(&self, threads: usize) -> String {
        let (searching, judging) = (Duration::ZERO, Duration::ZERO);
        format!("{:?}", Report { searching, judging, ..self.search(threads) })
    }

    fn is_the_same_with_threads(&self) {
        let alone = self.said(1);
        for threads in [2, 3] {
            assert!(alone == self.said(threads), "{} with {threads} threads", self.id);
        }
    }
}

#[test]
fn what_holds_is_the_same_with_threads() {
    let unbounded = Rules::default();
    let alike = Rules { alike: true, ..unbounded };
    let crashes = Rules { crashes: 1, ..Rules::with_passages(Some(1)) };
    let deaths = Deaths { restarts: 1, suspects: false, ..Deaths::default() };
    for case in [
        case("am-chain", 3, 1),
        Case { rules: Rules { crashes: 1, ..unbounded }, ..case("am-chain", 3, 2) },
        Case { rules: Rules::with_passages(Some(1)), ..case("bakery", 3, 1) },
        Case { rules: Rules { keep: Keep::CrossChecked, ..unbounded }, ..case("ya-tree", 3, 1) },
        // A canon: one state stands for each class.
        Case { rules: unbounded, ..case("turnstile", 3, 1) },
        // Numbers: states are compared in another form than they are stored.
        Case { rules: alike, ..case("seats", 2, 1) },
        Case { rules: Rules { crashes: 1, deaths, alike: true, ..crashes }, ..case("seats", 2, 1) },
        // Torn reads, and choices.
        Case { rules: Rules { registers: Register::Safe, ..Rules::with_passages(Some(1)) }, ..case("bakery", 2, 1) },
    ] {
        case.is_the_same_with_threads();
    }
}

#[test]
fn what_fails_is_the_same_with_threads() {
    for id in ["mutant:am-chain-without-7", "tas", "ticket"] {
        let Ok(subject) = subject::find(id) else { continue };
        let sizes = subject.sizes(Some(3), None).unwrap();
        for keep_going in [false, true] {
            Case { keep_going, ..case(id, sizes.n, sizes.k) }.is_the_same_with_threads();
        }
    }
}

#[test]
fn a_limit_cuts_at_the_same_state_with_threads() {
    for most in [1, 1000, 5_000, 6_866, 6_867] {
        let case = Case { most: Some(most), ..case("am-chain", 3, 1) };
        case.is_the_same_with_threads();
        let report = case.search(2);
        assert_eq!(report.states, most);
        assert_eq!(report.stop, (most < 6_867).then_some(Stop::States));
    }
}

/// A failure deep in a large round: the states after it in the round do not count.
#[test]
fn a_failure_ends_a_round_where_it_is() {
    for depth in [50u64, 2_000, 40_000] {
        let search = |threads: usize, keep_going: bool| {
            let subject = subject::find("bakery").unwrap();
            let sizes = Sizes { n: 4, k: 1 };
            let claims = subject.claims(sizes);
            let rules = Rules::with_passages(Some(1)).for_properties(&claims);
            let world = subject.world(sizes, rules).unwrap();
            // Fails at states that are spread over all rounds.
            let rare = Property::always("rare", move |v| {
                let sum = (0..4).fold(0, |sum, p| sum * 31 + u64::from(v.label(p)));
                sum % depth != depth - 1
            });
            let report = Explorer::new(4)
                .believe_keep(true)
                .property(rare)
                .properties(claims)
                .keep_going(keep_going)
                .max_states(60_000)
                .threads(threads)
                .explore(world)
                .unwrap();
            format!("{:?}", Report { searching: Duration::ZERO, judging: Duration::ZERO, ..report })
        };
        for keep_going in [false, true] {
            let alone = search(1, keep_going);
            assert!(alone == search(2, keep_going) && alone == search(3, keep_going), "{depth}");
        }
    }
}

/// Interrupted at a certain step: the first, or one within a round. With and without steps that are
/// remembered, and with states as bits.
#[test]
fn an_interruption_cuts_at_the_same_step_with_threads() {
    let search = |threads: usize, after: u64, with: &dyn for<'a> Fn(Explorer<'a>) -> Explorer<'a>| {
        let subject = subject::find("am-chain").unwrap();
        let sizes = Sizes { n: 4, k: 2 };
        let asked = std::cell::Cell::new(0);
        let explorer = Explorer::new(4)
            .believe_keep(true)
            .property(Property::exclusion("exclusion", 2))
            .threads(threads)
            .stop_when(|| {
                asked.set(asked.get() + 1);
                asked.get() > after
            });
        let report = with(explorer).explore(subject.world(sizes, Rules::default()).unwrap()).unwrap();
        assert_eq!(report.stop == Some(Stop::Interrupted), after < report.edges, "{after} of {}", report.edges);
        format!("{:?}", Report { searching: Duration::ZERO, judging: Duration::ZERO, ..report })
    };
    let ways: [&dyn for<'a> Fn(Explorer<'a>) -> Explorer<'a>; 4] = [
        &|explorer| explorer,
        &|explorer| explorer.recall(false),
        &|explorer| explorer.bitstate(1 << 20),
        &|explorer| explorer.property(Property::never_stuck("never-stuck")).keep_going(true),
    ];
    for with in ways {
        for after in [0, 1, 70_000, 123_456, 200_001] {
            let alone = search(1, after, with);
            assert!(alone == search(2, after, with) && alone == search(3, after, with), "{after}");
        }
    }
}
