//! Prose fits the page: lines of comments and of Markdown have at most 100 columns. It also names
//! its actors.
//!
//! Prose is every line of Markdown outside code blocks, and every comment line of Rust, shell and
//! TOML files. Exceptions are rows of tables, lines that are one link, code in comments, and what a
//! test writes between two marks of a page (`begin` and `end`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Code may be wider: rustfmt keeps it within 120.
const COLUMNS: usize = 100;

/// A sentence about "who ever" does not say which process acts.
const VAGUE: &str = "whoever";

/// Records are what programs printed, and the others are not ours.
const SKIPPED: [&str; 3] = ["target", ".git", "records"];

/// The root of the repository; none where the sources of this crate lie alone.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).ok()?;
    (manifest.contains("[workspace]") && root.join("CONTRIBUTING.md").is_file()).then_some(root)
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let kept = |path: &PathBuf| !SKIPPED.iter().any(|name| path.file_name() == Some(name.as_ref()));
    entries.into_iter().filter(kept).flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The words of a line of prose. Markdown is prose everywhere; other files have it behind one of
/// these marks.
fn words<'a>(line: &'a str, marks: &[&str]) -> Option<&'a str> {
    if marks.is_empty() {
        return Some(line);
    }
    marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark))
}

/// `[name]: address`, `[name](address)`, or an address: what cannot be broken.
fn is_a_link(words: &str) -> bool {
    let address = match words.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, address)) => address.trim_start_matches([':', '(']).trim_start(),
        None => words,
    };
    (address.len() < words.len() || address.contains("://")) && !address.contains(' ')
}

/// The lines of a text that are prose, with their numbers from 1.
fn prose<'a>(text: &'a str, marks: &[&str]) -> Vec<(usize, &'a str)> {
    let (mut code, mut generated) = (false, false);
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(words) = words(line, marks).map(str::trim) else {
            code = false;
            continue;
        };
        if words.starts_with("<!--") {
            generated = words.ends_with(": begin -->");
        } else if words.starts_with("```") {
            code = !code;
        } else if generated {
            continue;
        } else if !code && !words.starts_with('|') && !is_a_link(words) {
            found.push((number + 1, line));
        }
    }
    found
}

fn marks(path: &Path) -> Option<&'static [&'static str]> {
    match path.extension()?.to_str()? {
        "md" => Some(&[]),
        "rs" => Some(&["///", "//!", "//"]),
        "sh" | "toml" => Some(&["#"]),
        _ => None,
    }
}

#[test]
fn prose_fits_the_page_and_names_its_actors() {
    let Some(root) = repository() else {
        eprintln!("SKIPPED: the repository is not here");
        return;
    };
    let mut offenders = String::new();
    let mut lines = 0;
    for path in files(&root) {
        let Some(marks) = marks(&path) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display();
        for (number, line) in prose(&text, marks) {
            lines += 1;
            let columns = line.chars().count();
            if columns > COLUMNS {
                writeln!(offenders, "{name}:{number}: {columns} columns").unwrap();
            }
            if line.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|word| word == VAGUE) {
                writeln!(offenders, "{name}:{number}: \"{VAGUE}\"; name the actor").unwrap();
            }
        }
    }
    assert!(lines > 10_000, "only {lines} lines of prose were found");
    assert!(offenders.is_empty(), "prose of at most {COLUMNS} columns, with named actors:\n{offenders}");
}

/// What the test above takes for prose.
#[test]
fn tables_links_and_code_are_no_prose() {
    let page = "# Title\n| a | b |\n```text\ncode\n```\n- words [and](a/link) words\n[one]: https://example.org\n\
                [one](https://example.org).\n<!-- table: begin -->\nmade\n<!-- table: end -->\nEnd.\n";
    assert_eq!(prose(page, &[]), [(1, "# Title"), (6, "- words [and](a/link) words"), (12, "End.")]);
    let source = "//! Words.\n//! | a |\n//! ```\n//! code\nfn f() {} // behind code\n    // more words\n";
    assert_eq!(prose(source, &["///", "//!", "//"]), [(1, "//! Words."), (6, "    // more words")]);
}
