//! The shipped text is the checked text: protocols are texts of `doorway-core`. So the files of
//! this crate touch no atomics, except those that implement the memory, the waiting and the storage
//! behind the texts.

use std::fs;
use std::path::{Path, PathBuf};

/// Where atomics are allowed: the memory that texts run on, how its users wait, and stores behind
/// texts.
fn may(file: &str) -> bool {
    file.starts_with("native/") || file.starts_with("waiting/") || file.ends_with("store.rs")
}

/// Other files that touch atomics, and why that is not a protocol beside a checked text.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "observed/book.rs",
        "the number of the last look, by which a status omits what came after it: no caller is let in or kept out because of it, as its header argues",
    ),
    (
        "rooms/bookkeeping.rs",
        "numbers, a poison flag, and a count that saves a lock: no user is let in or kept out because of them, as its header argues one by one",
    ),
    (
        "shared/linux/mapping.rs",
        "it is the memory of slots between processes: every word of the file is accessed through it. What is no word of a text is information for people, and a flag that sends threads the long way, where the lock of the pool decides",
    ),
    (
        "shared/linux/memory.rs",
        "it makes words of the file variables of the text, one atomic operation for each access, as native/ does",
    ),
    (
        "shared/linux/mod.rs",
        "whether the last wait was short: an estimate by which the next wait chooses how long to sleep at first, and nothing else",
    ),
    ("shared/linux/torture.rs", "a counter from which random numbers are made, for faults that are seeded on purpose"),
    (
        "shared/linux/fork.rs",
        "a count of forks, which only the handler of a fork changes, in a process that has one thread then: it tells whether this is the process that opened a file",
    ),
    (
        "shared/linux/sentinel.rs",
        "a fence for the compiler, between two writes that the kernel reads after the thread has died",
    ),
    ("tools.rs", "it is where native memory and waiting take their atomics from, so that another tool's can stand in"),
];

/// The lines of a file that touch an atomic. Comments do not count, nor do the examples in them,
/// nor algorithms for registers that are not atomic.
fn atomics_in(text: &str) -> Vec<(usize, &str)> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_lowercase().replace("nonatomic", "");
    text.lines().enumerate().filter(|(_, line)| code(line).contains("atomic")).map(|(i, line)| (i + 1, line)).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_memories_waiting_and_stores_touch_atomics() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    assert!(found.len() > 30, "the sources are not where they were");
    let mut used = Vec::new();
    for path in found {
        let file = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap();
        let atomics = atomics_in(&text);
        if may(&file) || atomics.is_empty() {
            continue;
        }
        assert!(
            EXCEPTIONS.iter().any(|(known, _)| *known == file),
            "{file} touches atomics: {atomics:?}. Put what it does into a text of doorway-core, where it is searched; or, if it is no protocol, argue that in this test"
        );
        used.push(file);
    }
    for (file, _) in EXCEPTIONS {
        assert!(used.iter().any(|known| known == file), "{file} touches no atomics any more; take it off the list");
    }
}

#[test]
fn an_atomic_is_found_however_it_is_written() {
    for line in [
        "use std::sync::atomic::AtomicU64;",
        "    count: core::sync::atomic::AtomicUsize,",
        "use std::sync::atomic as a;",
        "static N: portable_atomic::AtomicU32 = AtomicU32::new(0); // a comment",
        "let cell = crossbeam_utils::atomic::AtomicCell::new(1);",
    ] {
        assert_eq!(atomics_in(line), [(1, line)]);
    }
    assert!(atomics_in("/// use std::sync::atomic::AtomicU64;\n// an atomic\nlet x = 1;").is_empty());
    assert!(may("native/cells.rs") && may("rooms/store.rs") && !may("slots/guard.rs") && !may("pool.rs"));
}
