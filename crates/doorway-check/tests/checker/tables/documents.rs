//! What the documents say of the files is true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Every page of the project, with its text. Records describe the time when they were made.
fn pages() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut folders = vec![root.clone(), root.join("docs"), root.join("papers")];
    folders.extend(entries(&root.join("crates")));
    let pages =
        folders.iter().flat_map(|folder| entries(folder)).filter(|path| path.extension() == Some("md".as_ref()));
    pages.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Whether this is the path of a file or a folder, rather than a command or a type.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let file = [".rs", ".md", ".sh", ".txt", ".toml"].iter().any(|end| word.ends_with(end));
    word.chars().all(plain) && word.contains('/') && (file || word.ends_with('/'))
}

/// Paths start at the root, among the crates, or in the sources of a crate.
fn places() -> Vec<PathBuf> {
    let root = root();
    let mut places = vec![root.clone(), root.join("crates")];
    places.extend(entries(&root.join("crates")).into_iter().map(|folder| folder.join("src")));
    places
}

#[test]
fn every_path_that_a_page_names_exists() {
    let places = places();
    let mut found = 0;
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for word in quoted(&text).filter(|word| is_path(word)) {
            if places.iter().any(|place| place.join(word).exists()) {
                found += 1;
            } else {
                missing.push(format!("{}: {word}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "these paths are named and do not exist:\n{}", missing.join("\n"));
    assert!(found > 100, "only {found} paths were recognised");
}

/// A row of a walk is `| function | file | what happens |`. The walk of `acquire` has a test in
/// `doorway`.
#[test]
fn every_step_of_the_walk_of_a_check_is_a_function_of_its_file() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let places = places();
    let mut walks = 0;
    for walk in map.split("\n## ").filter(|section| section.starts_with("Walk: one check")) {
        walks += 1;
        let rows: Vec<Vec<&str>> =
            walk.lines().map(|line| quoted(line).collect()).filter(|row: &Vec<_>| row.len() >= 2).collect();
        assert!(rows.len() >= 4, "a walk with {} steps", rows.len());
        for row in rows {
            let (name, file) = (row[0], row[1]);
            let function = name.rsplit("::").next().unwrap();
            let path = places.iter().map(|place| place.join(file)).find(|path| path.is_file());
            let text = std::fs::read_to_string(path.unwrap_or_else(|| panic!("there is no {file}"))).unwrap();
            let is_there =
                [format!("fn {function}("), format!("fn {function}<")].iter().any(|head| text.contains(head));
            assert!(is_there, "{file} has no function {function}");
        }
    }
    assert_eq!(walks, 1);
}

#[test]
fn the_map_shows_every_crate_and_every_room_of_it() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let named: BTreeSet<&str> = map.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).collect();
    for folder in entries(&root().join("crates")) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(named.contains(name), "the map does not show {name}");
        for room in entries(&folder.join("src")).iter().filter(|path| path.is_dir()) {
            let room = room.file_name().unwrap().to_str().unwrap();
            assert!(named.contains(room), "the map does not show {room} of {name}");
        }
    }
}
