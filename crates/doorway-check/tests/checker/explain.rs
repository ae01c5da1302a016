//! Every algorithm and object can be explained.

use doorway_check::explain::{Effort, page};
use doorway_check::subject;
use doorway_core::registry;

#[test]
fn every_text_has_a_page() {
    let effort = Effort { states: 300, hunt: None };
    for info in registry::ALL.iter().chain(registry::OBJECTS) {
        let subject = subject::find(info.id).unwrap();
        let page = page(&subject, subject.sizes(None, None).unwrap(), effort, &|| false).unwrap();
        for part in
            ["IDEA", "SHARED VARIABLES", "STATEMENTS OF THE TEXT", "CLAIMS, SEARCHED NOW", "WHICH CLAIM NOTICES"]
        {
            assert!(page.contains(part), "{}: {part} is missing\n{page}", info.id);
        }
        assert!(
            !page.contains('`') && !page.contains("](super") && !page.contains("](crate"),
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
    let table = page(&two, sizes, Effort::default(), &|| false).unwrap();
    assert!(table.contains("starvation-free holds") && table.contains("drop:3"), "{table}");
    let hunted = page(&two, sizes, Effort { states: 2000, hunt: Some(2000) }, &|| false).unwrap();
    assert!(hunted.contains("drop:root.2") && hunted.contains("searched now, up to 2000 states each"), "{hunted}");
    let stopped = page(&two, sizes, Effort { states: 2000, hunt: Some(2000) }, &|| true).unwrap();
    assert!(stopped.contains("not decided"), "{stopped}");
}
