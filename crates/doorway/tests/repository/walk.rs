//! How far it is from `Slots::acquire` to the futex when a thread has to sleep: the walk that the
//! map of the project shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each function of the walk, and its file below `crates/`. Each calls the next.
const WALK: [(&str, &str); 10] = [
    ("Slots::acquire", "doorway/src/slots/entering.rs"),
    ("WaysIn::enter_as_thread", "doorway/src/native/waits.rs"),
    ("WaysIn::wait_as_thread", "doorway/src/native/waits.rs"),
    ("Slots::wait", "doorway/src/slots/entering.rs"),
    ("Slots::go_on_unless_closed", "doorway-core/src/k_assignment/slots/mod.rs"),
    ("Slots::go_on", "doorway-core/src/k_assignment/slots/mod.rs"),
    ("Turnstile::enter", "doorway-core/src/k_exclusion/turnstile/mod.rs"),
    ("At::wait_unless_given_up", "doorway-core/src/memory/process.rs"),
    ("Native::unchanged", "doorway/src/native/waits.rs"),
    ("Threads::sleep", "doorway/src/waiting/futexes.rs"),
];

/// What the last function does.
const SLEEPS: &str = "futex::wait";

/// The title of the walk in the map.
const TITLE: &str = "## Walk: one acquire";

fn read(path: impl AsRef<Path>) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(crates.join(path)).unwrap();
    // Comments may name functions that are not called.
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn name(function: &str) -> &str {
    function.rsplit("::").next().unwrap_or(function)
}

/// The text between the first of these brackets and the one that closes it, and the text behind
/// that.
fn within(text: &str, [opens, closes]: [char; 2]) -> (&str, &str) {
    let start = text.find(opens).unwrap();
    let mut depth = 0_usize;
    for (at, bracket) in text[start..].match_indices([opens, closes]) {
        depth = if bracket.starts_with(opens) { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return (&text[start..start + at], &text[start + at + 1..]);
        }
    }
    panic!("{opens} is not closed");
}

/// The body of a function. Methods that a macro makes in pairs are declared as `name,
/// name_owned(...) = |_| { body }`.
fn body_of<'a>(function: &str, text: &'a str) -> Option<&'a str> {
    let name = name(function);
    let declared = [format!("fn {name}("), format!("fn {name}<"), format!("    {name}, {name}_owned(")];
    let at = declared.iter().find_map(|declaration| text.find(declaration))?;
    let (_, behind) = within(&text[at..], ['(', ')']);
    Some(within(behind, ['{', '}']).0)
}

#[test]
fn each_function_of_the_walk_calls_the_next() {
    let called = WALK.iter().skip(1).map(|(function, _)| format!("{}(", name(function))).chain([SLEEPS.to_owned()]);
    for ((function, file), next) in WALK.iter().zip(called) {
        let text = read(file);
        let body = body_of(function, &text).unwrap_or_else(|| panic!("{function} is not in {file}"));
        assert!(body.contains(&next), "{function} in {file} does not call {next}; say where the walk goes now");
    }
    let files: BTreeSet<_> = WALK.iter().map(|(_, file)| file).collect();
    assert!(files.len() <= 6, "{} files to read", files.len());
}

/// The rows of the map's table, `| function | file |`, are these.
#[test]
fn the_map_shows_this_walk() {
    let map = read("../ARCHITECTURE.md");
    let (_, section) = map.split_once(TITLE).expect("the map has the walk");
    let section = section.split("\n## ").next().unwrap_or(section);
    let cells = |row: &str| row.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
    let rows: Vec<_> = section.lines().filter(|line| line.starts_with("| `")).map(cells).collect();
    let shown: Vec<_> = rows.iter().map(|row| (row[1].as_str(), row[2].trim_start_matches("crates/"))).collect();
    assert_eq!(shown, WALK);
}
