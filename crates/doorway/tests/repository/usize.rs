//! Tickets, fences and other growing numbers are `u64` everywhere, so that they do not overflow
//! early where a `usize` has 32 bits. A number becomes a `usize` only where it is small.
//!
//! Files that are compiled only for 64 bits (`shared/linux`) are not checked.

use std::fs;
use std::path::{Path, PathBuf};

/// What may become a `usize` without a mask, in these files, and why it is small.
const SMALL: &[(&str, &[&str], &str)] = &[
    ("k_assignment/names/", &["name", "self.k", "self.k.get()", ".trailing_zeros()"], "slots: at most 65,535"),
    ("k_assignment/seats/", &[".trailing_zeros()"], "bits of a word"),
    ("k_assignment/slots/mod.rs", &["self.0", "held.holding.name()", "room"], "slots: at most 65,535"),
    ("k_assignment/slots/mod.rs", &["(self.packed.get() as u32 >> 2)"], "units of a guard: 30 bits"),
    ("k_exclusion/anderson_moir_94/", &["self.loc", "next.loc"], "places of one process: at most `PLENTY`"),
    ("k_exclusion/turnstile/changes.rs", &["units", "room.saturating_sub(places.0)"], "asked for as a `usize`; places"),
    ("k_exclusion/turnstile/limits.rs", &["self.full", "self.places"], "limits that are set as a `usize`, or 2^21"),
    ("k_exclusion/turnstile/line.rs", &["rings", "ring"], "rings, each twice as long: at most 19"),
    ("k_exclusion/turnstile/line.rs", &["(t & ((u64::from(self.first) << ring) - 1))"], "masked before"),
    ("k_exclusion/turnstile/returning.rs", &["line.kept"], "rings"),
    ("k_exclusion/turnstile/words.rs", &["units", "self.0"], "asked for as a `usize`; places"),
    ("memory/word.rs", &["u16::MAX", "self.0"], "process numbers: 16 bits"),
    ("mutex/anderson_90/array.rs", &["p.at(1).fetch_add(&self.next, 1).await?"], "wraps at the number of slots"),
    ("mutex/arbitration_tree.rs", &["self", ".ilog2()"], "a side; levels of a tree"),
    ("resilient/", &["NO_BUFFER", ".trailing_zeros()"], "buffers: 16 bits; bits of a word"),
    (
        "rooms/blelloch_cheng_gibbons_01/",
        &["fit", "got", "j", "(j - got)", "(k - got)", "(j - half)"],
        "elements that are there or fit, of a store whose size is a `usize`",
    ),
    (
        "rooms/blelloch_cheng_gibbons_01/",
        &["doubled", ".read(&self.doubled)).0", ".read(&self.rooms.last_out().doubled).await?", ".ilog2()"],
        "segments, each twice as long",
    ),
    ("rooms/blelloch_cheng_gibbons_01/work_stack.rs", &[".read(&self.lent)).0"], "users that have loot"),
    ("rooms/blelloch_cheng_gibbons_01/words.rs", &["room"], "a number of a room, which was a `usize`"),
    ("rooms/blelloch_cheng_gibbons_01/strict.rs", &["(word >> 32)"], "32 bits"),
    ("k_assignment/seats/mod.rs", &["bypass"], "asked for as a `u16`"),
    ("k_assignment/slots/passing.rs", &["held.holding.name()"], "places: at most 65,535"),
    ("observed/book.rs", &["now.places", "now.free"], "places: at most 65,535"),
    ("observed/status.rs", &["(u64::BITS - nanoseconds.leading_zeros())"], "bits of a word"),
    ("native/", &["places[i]", "most", "self.most", "(self.first"], "lines and rows: `u32`"),
    ("native/handle.rs", &["std::ptr::from_ref(alarm)", "std::ptr::from_ref(word)"], "an address"),
    ("rooms/store.rs", &["segment"], "segments, each twice as long"),
    ("rooms/names.rs", &["self"], "a variant"),
    ("shared/header.rs", &["four(16)", "four(20)", "four(12)"], "four bytes"),
    (
        "slots/",
        &[
            "look.free",
            "(look.free + left)",
            "look.places",
            "self.text.room()",
            "slot",
            "self.holding.name()",
            "self.look().free",
        ],
        "places: at most 65,535",
    ),
    ("slots/mod.rs", &["sure(now(self.text.places(&ANYONE)))"], "places: at most 65,535"),
    ("threads.rs", &["*last"], "where a thread begins to look for a number: any will do"),
    ("waiting/bell.rs", &["std::ptr::from_ref(self)"], "an address"),
    ("waiting/portable.rs", &["std::ptr::from_ref(word)"], "an address"),
    ("waiting/policy.rs", &["cores.count()"], "cores"),
    ("waiting/table.rs", &["(spread >> (u64::BITS - P::BUCKETS.ilog2()))"], "buckets, of which there are fewer"),
];

/// Names of numbers that grow for ever.
const GROWS: [&str; 7] = ["ticket", "tickets", "fence", "grant", "arrival", "serial", "passages"];

fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The parts of a line that become a `usize` and are neither masked nor known to be small: the text
/// before each.
fn becomes_usize<'a>(file: &str, line: &'a str) -> Vec<&'a str> {
    let line = code(line);
    let is_small = |before: &str| {
        let known = SMALL.iter().filter(|(of, ..)| file.starts_with(of)).flat_map(|(_, small, _)| *small);
        known.into_iter().any(|small| {
            let Some(rest) = before.strip_suffix(small) else { return false };
            // A name counts as a whole; a method counts whatever it is called on.
            small.starts_with('.')
                || rest.ends_with("..")
                || !rest.ends_with(|c: char| c.is_alphanumeric() || "_.)".contains(c))
        })
    };
    let casts = line.match_indices(" as usize").map(|(at, cast)| (&line[..at], &line[at + cast.len()..]));
    let masked = |after: &str| after.starts_with(" & (");
    casts.filter(|(before, after)| !masked(after) && !is_small(before)).map(|(before, _)| before).collect()
}

/// Whether a line declares a number that grows for ever as a `usize`.
fn declares_usize(line: &str) -> bool {
    let code = code(line);
    GROWS.iter().any(|name| {
        code.match_indices(&format!("{name}: usize"))
            .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric()))
    })
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
fn what_grows_never_becomes_a_usize() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for source in [here.join("src"), here.join("../doorway-core/src")] {
        let mut found = Vec::new();
        files(&source, &mut found);
        for path in found {
            let file = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
            if file.starts_with("shared/linux/") {
                continue;
            }
            looked_at += 1;
            for (i, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
                if !becomes_usize(&file, line).is_empty() || declares_usize(line) {
                    wrong.push(format!("{file}:{}: {}", i + 1, line.trim()));
                }
            }
        }
    }
    assert!(looked_at > 100, "the sources are not where they were");
    assert!(
        wrong.is_empty(),
        "a `usize` may have 32 bits. Mask a ticket before or after (`as usize & (size - 1)`), or say here why it is small:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_ticket_in_a_usize_is_found() {
    let ring = "k_exclusion/turnstile/ring.rs";
    assert!(becomes_usize(ring, "&self.rec[t as usize & (self.size - 1)]").is_empty());
    assert_eq!(becomes_usize(ring, "&self.rec[t as usize % self.size]"), ["&self.rec[t"]);
    assert_eq!(becomes_usize(ring, "let mine = ticket as usize;"), ["let mine = ticket"]);
    assert_eq!(
        becomes_usize("k_assignment/names/flags.rs", "self.taken[own.fence as usize]"),
        ["self.taken[own.fence"]
    );
    assert_eq!(becomes_usize("slots/guard.rs", "all.push(its_slot as usize)"), ["all.push(its_slot"]);
    assert!(becomes_usize("slots/guard.rs", "all.push(slot as usize) // not its fence as usize").is_empty());
    assert!(declares_usize("    fence: usize,") && declares_usize("fn after(ticket: usize) {"));
    assert!(!declares_usize("    fence: u64,") && !declares_usize("// fence: usize"));
}
