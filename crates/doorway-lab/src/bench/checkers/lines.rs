//! How many lines a lock has in each language. Blank lines and lines of comments do not count.

use super::of_spin::MODELS;
use serde::Serialize;

/// The lines of one lock.
#[derive(Clone, Debug, Serialize)]
pub struct Lines {
    /// The lock, or what all models of a checker share.
    pub lock: &'static str,
    /// Our text.
    pub doorway: Option<usize>,
    /// The Promela model.
    pub spin: Option<usize>,
    /// The Stateright model.
    pub stateright: Option<usize>,
    /// Plain Rust, for loom and shuttle.
    pub plain: Option<usize>,
}

macro_rules! of_the_gallery {
    ($file:literal) => {
        include_str!(concat!("../../../../../examples/classics/src/", $file))
    };
}
macro_rules! of_the_core {
    ($file:literal) => {
        include_str!(concat!("../../../../doorway-core/src/", $file))
    };
}

/// All lines, or those of the `lock!` with this struct.
enum Text {
    Whole(&'static [&'static str]),
    Lock(&'static str, &'static str),
}

impl Text {
    fn lines(&self) -> usize {
        match self {
            Self::Whole(files) => files.iter().map(|file| count(file)).sum(),
            Self::Lock(file, name) => {
                let mut locks = file.split("\nlock! {");
                let lock = locks.find(|lock| lock.contains(&format!("pub struct {name}")));
                // Up to the brace that closes it, with the line that opens it.
                lock.and_then(|lock| lock.split("\n}\n").next()).map_or(0, |lock| count(lock) + 2)
            }
        }
    }
}

fn count(text: &str) -> usize {
    // All comments of these files stand on lines of their own, or after code. Tests come last.
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut in_comment = false;
    let is_code = |line: &str| {
        let line = line.trim();
        let begins = line.starts_with("/*");
        let was = in_comment;
        in_comment = (was || begins) && !line.contains("*/");
        !was && !begins && !line.is_empty() && !line.starts_with("//")
    };
    text.lines().map(is_code).filter(|is_code| *is_code).count()
}

macro_rules! row {
    ($lock:literal, $text:expr, $stateright:literal $(, $plain:literal)?) => {
        (
            $lock,
            Some($text),
            include_str!(concat!("of_stateright/", $stateright, ".rs")),
            [$(include_str!(concat!("plain/", $plain, ".rs")),)? ""][0],
        )
    };
}

/// Every lock, and what the models share.
pub(super) fn all() -> Vec<Lines> {
    let rows = [
        row!("tsay", Text::Lock(of_the_gallery!("peterson.rs"), "Tsay"), "tsay"),
        row!("burns-lynch", Text::Lock(of_the_gallery!("burns.rs"), "BurnsLynch"), "burns_lynch"),
        row!("bakery", Text::Whole(&[of_the_core!("mutex/lamport_74/bakery.rs")]), "bakery"),
        row!(
            "turnstile-simple",
            Text::Whole(&[of_the_core!("k_exclusion/turnstile/simple.rs")]),
            "turnstile_simple",
            "turnstile_simple"
        ),
        row!(
            "am-chain",
            Text::Whole(&[
                of_the_core!("k_exclusion/anderson_moir_94/cc_slot.rs"),
                of_the_core!("k_exclusion/anderson_moir_94/chain.rs")
            ]),
            "am_chain",
            "am_chain"
        ),
        row!(
            "peterson-turn-first",
            Text::Lock(of_the_gallery!("peterson.rs"), "TurnFirst"),
            "peterson_turn_first",
            "peterson_turn_first"
        ),
        row!("hyman", Text::Lock(of_the_gallery!("hyman.rs"), "Hyman"), "hyman", "hyman"),
        row!(
            "szymanski-three-bits",
            Text::Lock(of_the_gallery!("szymanski.rs"), "ThreeBits"),
            "szymanski_three_bits",
            "szymanski_three_bits"
        ),
        ("frame", None, include_str!("of_stateright/mod.rs"), include_str!("plain/mod.rs")),
    ];
    let promela = |name: &str| MODELS.iter().find(|(model, _)| *model == name).map(|(_, text)| count(text));
    let lines = |(lock, text, stateright, plain): (_, Option<Text>, _, _)| Lines {
        lock,
        doorway: text.map(|text| text.lines()),
        spin: promela(lock),
        stateright: Some(count(stateright)),
        plain: Some(count(plain)).filter(|&lines| lines > 0),
    };
    rows.into_iter().map(lines).collect()
}

/// The versions of the peers that are crates, from the file that fixes them.
pub(super) fn versions() -> Vec<String> {
    let lock = include_str!("../../../../../Cargo.lock");
    let version = |name: &str| {
        let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
        Some(format!("{name} {}", after.split('"').next()?))
    };
    ["stateright", "loom", "shuttle"].into_iter().filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() {
        let text = "/* one\n * two */\nbyte x; /* three */\n\n// four\n    //! five\n}\n";
        assert_eq!(count(text), 2);
        let two = "\nlock! {\n    /// a\n    pub struct A {\n    }\n}\n\nlock! {\n    pub struct B {}\n}\n";
        assert_eq!((Text::Lock(two, "A").lines(), Text::Lock(two, "B").lines()), (4, 3));
    }

    #[test]
    fn every_lock_has_its_lines() {
        let all = all();
        for lines in &all[..8] {
            for count in [lines.doorway, lines.spin, lines.stateright] {
                assert!(count.is_some_and(|count| count > 10), "{lines:?}");
            }
        }
        assert_eq!(versions().len(), 3);
    }
}
