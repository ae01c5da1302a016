//! What the tests of all papers need.

use doorway_check::schedule::Runner;
use doorway_check::sim::{Keep, Phase, Rules};
use doorway_check::{Explorer, Report, subject};
use doorway_core::registry::Sizes;

/// Explores an algorithm with all its claims. They must hold, with exactly this many states. What
/// the text keeps is compared elsewhere: by [`explore_without_trust`] at small sizes, and by
/// `doorway check`. So the other searches here believe it, and are sooner done.
pub(crate) fn explore(id: &str, n: usize, k: usize, passages: Option<u32>, states: usize) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let claims = subject.claims(sizes);
    let rules = Rules::with_passages(passages).for_properties(&claims);
    let report =
        Explorer::new(n).believe_keep(true).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap();
    report.assert_holds();
    assert_eq!(report.states, states, "{id} ({n},{k})");
}

/// Explores an algorithm without `keep` and with cross-checked `keep`: the verdicts are the same.
pub(crate) fn explore_without_trust(id: &str, n: usize, k: usize, passages: Option<u32>) {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    for keep in [Keep::Ignored, Keep::CrossChecked] {
        let claims = subject.claims(sizes);
        // If equal `keep` values are not trusted to mean equal states, forgetting is not trusted
        // either.
        let forget = keep != Keep::Ignored;
        let rules = Rules { passages, keep, forget, ..Rules::default() }.for_properties(&claims);
        let report = Explorer::new(n)
            .believe_keep(true)
            .properties(claims)
            .explore(subject.world(sizes, rules).unwrap())
            .unwrap();
        report.assert_holds();
        println!("{id} ({n},{k}) {keep:?}: {} states", report.states);
    }
}

/// Checks these properties, whether the algorithm claims them or not.
pub(crate) fn ask(id: &str, (n, k): (usize, usize), rules: Rules, names: &[&str]) -> Report {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k };
    let mut asked = subject.askable(sizes);
    asked.retain(|property| names.contains(&property.name()));
    assert_eq!(asked.len(), names.len(), "{id}: {names:?}");
    let rules = rules.for_properties(&asked);
    Explorer::new(n).believe_keep(true).properties(asked).explore(subject.world(sizes, rules).unwrap()).unwrap()
}

/// With `k - 1` crashes anywhere all other processes are served; with `k` crashes they may not be.
/// No number of crashes lets too many processes in.
pub(crate) fn tolerates_k_minus_1_crashes(id: &str, n: usize, k: usize, passages: Option<u32>) {
    let rules = |crashes| Rules { crashes, passages, ..Rules::default() };
    let progress = ["k-exclusion", "never-stuck", "starvation-free"];
    ask(id, (n, k), rules(k - 1), &progress).assert_holds();
    let too_many = ask(id, (n, k), rules(k), &progress[1..2]);
    let trace = too_many.verdict("never-stuck").trace.as_ref().unwrap_or_else(|| panic!("{id} ({n},{k}) survives k"));
    assert_eq!(trace.end.iter().filter(|p| p.crashed).count(), k, "{id} ({n},{k})");
    ask(id, (n, k), rules(n), &progress[..1]).assert_holds();
}

/// A machine to step by hand.
pub(crate) fn run(id: &str, n: usize, k: usize) -> Runner {
    run_by(Rules::default(), id, n, k)
}

/// A machine to step by hand, with its own rules.
pub(crate) fn run_by(rules: Rules, id: &str, n: usize, k: usize) -> Runner {
    Runner::new(subject::find(id).unwrap().world(Sizes { n, k }, rules).unwrap())
}

/// A mutant to step by hand, at the sizes where it fails.
pub(crate) fn run_mutant(name: &str) -> Runner {
    let subject = subject::find(&format!("mutant:{name}")).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    Runner::new(subject.world(sizes, Rules::default()).unwrap())
}

/// The values of these variables, by their full names.
pub(crate) fn values<const N: usize>(r: &Runner, paths: [&str; N]) -> [String; N] {
    paths.map(|path| r.value(path).unwrap_or_else(|| panic!("there is no {path}")))
}

/// The processes inside, including those that crashed there.
pub(crate) fn inside(r: &Runner) -> Vec<usize> {
    r.view().processes().filter(|&p| r.view().phase(p) == Phase::Inside).collect()
}

/// The full names of all variables of an algorithm.
pub(crate) fn variables(id: &str, n: usize, k: usize) -> Vec<String> {
    let world = subject::find(id).unwrap().world(Sizes { n, k }, Rules::default()).unwrap();
    world.layout().names().into_iter().map(str::to_owned).collect()
}

/// The full names of all slots of an algorithm.
pub(crate) fn slots(id: &str, n: usize, k: usize) -> Vec<String> {
    let counter = |name: &String| name.strip_suffix(".X").filter(|part| part.contains("slot")).map(str::to_owned);
    variables(id, n, k).iter().filter_map(counter).collect()
}
