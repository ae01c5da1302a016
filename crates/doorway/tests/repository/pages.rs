//! Pages and tests name the same differences.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DIFFERS: &str = "differs_";

/// The names in a text that follow `before`.
fn names_after(text: &str, before: &str) -> BTreeSet<String> {
    let begin = format!("{before}{DIFFERS}");
    let rest = text.match_indices(&begin).map(|(at, _)| &text[at + before.len()..]);
    rest.map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()).collect()
}

#[test]
fn every_difference_is_on_a_page_and_has_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = here.join("../../docs");
    for (page, modules) in [
        ("coming_from_tokio.md", &["tokio_semaphore", "tokio_batch", "tokio_poll"][..]),
        ("coming_from_async_lock.md", &["async_lock", "async_lock_others"]),
        ("pools.md", &["deadpool_managed", "deadpool_unmanaged"]),
    ] {
        let told = names_after(&fs::read_to_string(docs.join(page)).unwrap(), "`");
        let sources = modules.iter().map(|module| here.join(format!("tests/peers/{module}.rs")));
        let shown: BTreeSet<String> =
            sources.flat_map(|path| names_after(&fs::read_to_string(path).unwrap(), "#[test]\nfn ")).collect();
        assert!(!shown.is_empty());
        assert_eq!(told, shown, "{page}");
    }
}
