//! What may grow says so. An enum, or a struct with public fields, is `#[non_exhaustive]`, unless
//! this page says why it will not grow.

use std::fs;
use std::path::{Path, PathBuf};

/// Types that users may match on, or construct, without a wildcard, and why.
const COMPLETE: &[(&str, &[&str], &str)] = &[
    ("rooms/awaiting.rs", &["Ended"], "an error with one reason: a second one would need another type"),
    ("rooms/work.rs", &["Finished"], "the same"),
    ("rooms/errors.rs", &["Full"], "it hands a value back, and a pattern takes the value out"),
    ("slots/errors.rs", &["NotMine"], "the same"),
    ("rooms/held.rs", &["ByAnyone"], "a name for a type parameter"),
    ("rooms/last_exit.rs", &["Nothing"], "the same"),
    ("slots/numbers.rs", &["Numbered", "Unnumbered"], "the same"),
    ("waiting/platform.rs", &["Threads", "Processes"], "of the waiting layer, which is not for users"),
    (
        "shared/errors.rs",
        &["TryAcquireError", "TimeoutError", "ReleaseError"],
        "every other failure is an `Error`, which may grow",
    ),
    ("shared/status.rs", &["Previous"], "a new case would have to be handled by the next holder"),
    ("shared/linux/torture.rs", &["Torment", "Fault"], "for the torture of this repository, hidden from users"),
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// The public enums of a file, and its public structs whose fields are all public or which have
/// none, with whether they say that they may grow.
fn types(text: &str) -> Vec<(String, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("pub ") else { continue };
        let Some((kind, rest)) = rest.split_once(' ').filter(|(kind, _)| ["enum", "struct"].contains(kind)) else {
            continue;
        };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body = lines[at + 1..].iter().take_while(|line| !line.starts_with('}'));
        let has_body = rest.trim_end().ends_with('{');
        let is_open = kind == "enum"
            || (has_body && body.clone().any(|line| line.starts_with("    pub ")))
            || (!has_body && (rest.contains("(pub ") || !rest.contains('(')));
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with('#') || line.starts_with("///"));
        if is_open {
            found.push((name, above.clone().any(|line| line.contains("non_exhaustive"))));
        }
    }
    found
}

#[test]
fn what_may_grow_says_so() {
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut paths);
    let (mut grow, mut complete) = (0, Vec::new());
    for path in paths {
        for (name, may_grow) in types(&fs::read_to_string(&path).unwrap()) {
            let here = |(file, names, _): &&(&str, &[&str], _)| path.ends_with(file) && names.contains(&&*name);
            match COMPLETE.iter().find(here) {
                Some((file, _, why)) => {
                    assert!(!may_grow, "{name} in {file} may grow, and should not: {why}");
                    complete.push(name);
                }
                None => {
                    assert!(may_grow, "{name} in {} is not `#[non_exhaustive]`", path.display());
                    grow += 1;
                }
            }
        }
    }
    assert!(grow >= 30, "{grow} types were found that may grow");
    assert_eq!(complete.len(), COMPLETE.iter().map(|(_, names, _)| names.len()).sum::<usize>(), "{complete:?}");
}
