//! The source of a text, by the name that the compiler gives it.

use doorway_core::sources;

macro_rules! files {
    ($($path:literal)*) => {
        /// Texts that are in this crate: what the checker's processes do with objects, and faulty
        /// texts.
        const OWN: &[(&str, &str)] = &[$(($path, include_str!(concat!("../", $path)))),*];
    };
}

files! {
    "k_assignment/names/sticky/passages.rs"
    "k_assignment/seats/passages.rs"
    "k_assignment/slots/mutants.rs"
    "k_exclusion/anderson_moir_94/mutants/fast_path.rs"
    "k_exclusion/anderson_moir_94/mutants/nested.rs"
    "k_exclusion/anderson_moir_94/mutants/queue.rs"
    "k_exclusion/danek_10/mutants/looks_again.rs"
    "k_exclusion/dolev_gafni_shavit_88/mutants/fork.rs"
    "k_exclusion/dolev_gafni_shavit_88/mutants/text.rs"
    "k_exclusion/turnstile/mutants.rs"
    "resilient/in_use.rs"
    "resilient/mod.rs"
    "rooms/blelloch_cheng_gibbons_01/as_printed.rs"
    "rooms/blelloch_cheng_gibbons_01/mutants/growing.rs"
    "rooms/blelloch_cheng_gibbons_01/mutants/otherwise.rs"
    "rooms/blelloch_cheng_gibbons_01/mutants/work.rs"
    "rooms/blelloch_cheng_gibbons_01/worlds.rs"
}

/// The text of a file of this project, by the path that the compiler gives it, and the path below
/// its `src`.
///
/// ```
/// let file = "crates/doorway-core/src/mutex/lamport_74/bakery.rs";
/// let (name, text) = doorway_check::viewer::source(file).unwrap();
/// assert_eq!(name, "mutex/lamport_74/bakery.rs");
/// assert!(text.contains("p.at(7)"));
/// ```
#[must_use]
pub fn find(file: &str) -> Option<(&'static str, &'static str)> {
    let file = file.replace('\\', "/");
    let (crates, path) = file.rsplit_once("/src/")?;
    let folder = crates.rsplit('/').next().unwrap_or(crates);
    let files = if folder.starts_with("doorway-core") {
        sources::FILES
    } else if folder.starts_with("doorway-check") {
        OWN
    } else {
        return None;
    };
    files.iter().find(|(known, _)| *known == path).copied()
}
