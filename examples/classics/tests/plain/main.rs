//! The texts of the gallery say nothing about which of their locals matter. A search of them ends,
//! finds what it finds of texts that say it, and needs no more states.

mod told;

use classics::burns::BurnsLynch;
use classics::dekker::Dekker;
use classics::knuth::{DeBruijn, EisenbergMcGuire, Knuth};
use doorway_check::sim::TextError;
use doorway_check::{Explorer, Property, Report};

fn asked(n: usize) -> Explorer<'static> {
    Explorer::new(n)
        .property(Property::exclusion("mutual-exclusion", 1))
        .property(Property::deadlock_free("deadlock-free"))
        .property(Property::starvation_free("starvation-free"))
        .keep_going(true)
}

type Searched = Result<Report, TextError>;

/// The text that says nothing, and the text that says what matters.
fn compare(name: &str, n: usize, plain: Searched, told: Searched) {
    let (plain, told) = (plain.unwrap(), told.unwrap());
    let verdicts = |report: &Report| report.verdicts.iter().map(|v| v.holds).collect::<Vec<_>>();
    println!("{name}, n={n}: {} states, and {} if told; {:?}", plain.states, told.states, verdicts(&plain));
    assert_eq!((plain.stop, told.stop), (None, None), "{name}, n={n}");
    assert_eq!(verdicts(&plain), verdicts(&told), "{name}, n={n}");
    assert!(plain.states <= told.states, "{name}, n={n}: {} states, and {} if told", plain.states, told.states);
}

#[test]
fn loops_that_start_again_need_no_words() {
    compare("Dekker", 2, asked(2).run(Dekker::new), asked(2).run(told::Dekker::new));
    for n in [2, 3] {
        let told = asked(n).run(|site| told::DeBruijn::new(site, n));
        compare("de Bruijn", n, asked(n).run(|site| DeBruijn::new(site, n)), told);
        let told = asked(n).run(|site| told::EisenbergMcGuire::new(site, n));
        compare("Eisenberg-McGuire", n, asked(n).run(|site| EisenbergMcGuire::new(site, n)), told);
        let told = asked(n).run(|site| told::Knuth::new(site, n));
        compare("Knuth", n, asked(n).run(|site| Knuth::new(site, n)), told);
        let told = asked(n).run(|site| told::BurnsLynch::new(site, n));
        compare("Burns-Lynch", n, asked(n).run(|site| BurnsLynch::new(site, n)), told);
    }
}

/// The failure of starvation freedom of Burns and Lynch's, and what was covered, are the same with
/// any number of threads.
#[test]
fn threads_change_nothing() {
    let found = |threads| {
        let report = asked(3).threads(threads).run(|site| BurnsLynch::new(site, 3)).unwrap();
        let traces = report.verdicts.iter().map(|v| v.trace.as_ref().map(ToString::to_string)).collect::<Vec<_>>();
        (report.states, report.edges, report.local_states, report.runs, report.statements, traces)
    };
    let one = found(1);
    assert!(one.5[2].is_some());
    assert!((2..=3).all(|threads| found(threads) == one));
}
