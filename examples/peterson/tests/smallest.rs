//! How much a program adds to the text of a lock, as the pages say.

use std::process::Command;

const PROGRAM: &str = include_str!("../src/bin/smallest.rs");
const PAGES: [&str; 2] =
    [include_str!("../../../docs/checking.md"), include_str!("../../../crates/doorway-check/README.md")];

/// The lines around the text: all but its entry, its exit, comments and empty lines. The line with
/// the variables counts, because it also makes the struct.
fn around(program: &str) -> Vec<&str> {
    let mut is_text = false;
    let mut lines = Vec::new();
    for line in program.lines() {
        is_text |= ["    acquire(", "    release("].iter().any(|entry| line.starts_with(entry));
        if !is_text && !line.trim().is_empty() && !line.trim_start().starts_with("//") {
            lines.push(line);
        }
        is_text &= line != "    }";
    }
    lines
}

#[test]
fn a_lock_needs_seven_lines_around_its_text() {
    assert_eq!(around(PROGRAM).len(), 7, "{:#?}", around(PROGRAM));
    for page in PAGES {
        assert!(page.replace('\n', " ").contains("seven lines"));
    }
    // It counts what is added, wherever that is.
    for (at, with) in [("use ", "use std::fmt;\nuse "), ("    struct", "    #[derive(Debug)]\n    struct")] {
        assert_eq!(around(&PROGRAM.replacen(at, with, 1)).len(), 8, "{with}");
    }
}

#[test]
fn this_program_checks_the_lock() {
    let output = Command::new(env!("CARGO_BIN_EXE_smallest")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains(", complete ("), "{printed}");
    assert_eq!(printed.matches("  holds").count(), 6, "{printed}");
}
