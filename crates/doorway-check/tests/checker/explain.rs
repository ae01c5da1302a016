//! Every algorithm and object can be explained.

use doorway_check::explain::{Effort, page};
use doorway_check::subject;
use doorway_core::registry;

/// Whether the words before the statements have asterisks around them.
fn emphasises(page: &str) -> bool {
    let words = page.split("STATEMENTS OF THE TEXT").next().unwrap();
    words.split(" *").skip(1).any(|rest| rest.starts_with(char::is_alphabetic))
}

#[test]
fn every_text_has_a_page() {
    let effort = Effort { states: 300, hunt: None };
    for info in registry::ALL.iter().chain(registry::OBJECTS) {
        let subject = subject::find(info.id).unwrap();
        let page = page(&subject, subject.sizes(None, None).unwrap(), subject.rules(), effort, &|| false).unwrap();
        for part in
            ["IDEA", "SHARED VARIABLES", "STATEMENTS OF THE TEXT", "CLAIMS, SEARCHED NOW", "WHICH CLAIM NOTICES"]
        {
            assert!(page.contains(part), "{}: {part} is missing\n{page}", info.id);
        }
        assert!(
            !page.contains('`') && !emphasises(&page) && !page.contains("](super") && !page.contains("](crate"),
            "{}: a link is left\n{page}",
            info.id
        );
        // Each statement has its line.
        let statements = page.split("STATEMENTS OF THE TEXT\n").nth(1).unwrap();
        let first = statements.lines().next().unwrap();
        assert!(first.contains("at("), "{}: {first}", info.id);
    }
}

#[test]
fn faults_are_those_of_the_table_or_of_a_hunt() {
    let two = subject::find("ya-two").unwrap();
    let sizes = two.sizes(None, None).unwrap();
    let table = page(&two, sizes, two.rules(), Effort::default(), &|| false).unwrap();
    assert!(table.contains("starvation-free holds") && table.contains("drop:3"), "{table}");
    let hunted = page(&two, sizes, two.rules(), Effort { states: 2000, hunt: Some(2000) }, &|| false).unwrap();
    assert!(hunted.contains("drop:root.2") && hunted.contains("searched now, up to 2000 states each"), "{hunted}");
    let stopped = page(&two, sizes, two.rules(), Effort { states: 2000, hunt: Some(2000) }, &|| true).unwrap();
    assert!(stopped.contains("not decided"), "{stopped}");
}

/// Readers are shown a verdict: at smaller sizes, if the search at these sizes is too large.
#[test]
fn claims_are_decided_at_smaller_sizes_if_these_are_too_large() {
    let chain = subject::find("am-chain").unwrap();
    let sizes = chain.sizes(Some(4), Some(2)).unwrap();
    let page = page(&chain, sizes, chain.rules(), Effort { states: 20_000, hunt: None }, &|| false).unwrap();
    assert!(page.contains("n=4, k=2, atomic registers; 20000 states, not all"), "{page}");
    assert!(page.contains("n=3, k=2, atomic registers; 543 states, all of them\n  k-exclusion holds"), "{page}");
    assert!(page.contains("6(N-k) remote references a passage (12 at these sizes); 3(N-k) if c <= k"), "{page}");
}

/// A statement that takes several lines of its source is shown as one.
#[test]
fn statements_are_whole() {
    let turnstile = subject::find("turnstile").unwrap();
    let sizes = turnstile.sizes(None, None).unwrap();
    let page = page(&turnstile, sizes, turnstile.rules(), Effort { states: 3_000, hunt: None }, &|| false).unwrap();
    let statements = page.split("STATEMENTS OF THE TEXT\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let accesses = [".read", "fetch_", "swap", "wait_until", "…"];
    for line in statements.lines() {
        assert!(accesses.iter().any(|access| line.contains(access)), "{line}");
    }
}
