//! The list of all algorithms.

use crate::Classic;
use crate::{aravind, attempts, attiya_welch, burns, dekker, dijkstra, filter, first_come, hyman, kessels, knuth};
use crate::{lamport, peterson, queues, raynal, szymanski};
use doorway_check::doorway_core::registry::Sizes;
use doorway_check::sim::World;
use doorway_check::subject;

/// An algorithm of this crate. `n` is there if it takes the number of processes.
macro_rules! own {
    ($id:literal, $name:literal, $authors:literal, $year:literal, $module:ident :: $text:ident($($arg:tt)*), $small:expr) => {
        Classic {
            id: $id,
            name: $name,
            authors: $authors,
            year: $year,
            file: concat!("../examples/classics/src/", stringify!($module), ".rs"),
            small: &$small,
            large: &[],
            passages: None,
            first_come: false,
            reads_and_writes: true,
            build: |n, rules| {
                let _ = n;
                World::new(n, rules, |site| own!(@new site n $module $text $($arg)*))
            },
        }
    };
    (@new $site:ident $n:ident $module:ident $text:ident) => { $module::$text::new($site) };
    (@new $site:ident $n:ident $module:ident $text:ident n) => { $module::$text::new($site, $n) };
    (@new $site:ident $n:ident $module:ident $text:ident n, $option:literal) => {
        $module::$text::new($site, $n, $option)
    };
}

/// An algorithm of the catalogue.
macro_rules! catalogue {
    ($id:literal, $name:literal, $authors:literal, $year:literal, $file:literal, $small:expr) => {
        Classic {
            id: $id,
            name: $name,
            authors: $authors,
            year: $year,
            file: concat!("../crates/doorway-core/src/mutex/", $file),
            small: &$small,
            large: &[],
            passages: None,
            first_come: false,
            reads_and_writes: true,
            build: |n, rules| subject::find($id).expect("the catalogue has it").world(Sizes { n, k: 1 }, rules),
        }
    };
}

/// All algorithms, in the order of their years; those that do more than read and write come last.
#[rustfmt::skip]
pub static ALL: &[Classic] = &[
    own!("attempt-1", "First attempt: by turns", "Dijkstra", 1965, attempts::Alternation(), [2]),
    own!("attempt-2", "Second attempt: look first", "Dijkstra", 1965, attempts::LookFirst(), [2]),
    own!("attempt-3", "Third attempt: raise first", "Dijkstra", 1965, attempts::RaiseFirst(), [2]),
    own!("attempt-4", "Fourth attempt: give way", "Dijkstra", 1965, attempts::GiveWay(), [2]),
    own!("dekker", "Dekker", "Dijkstra, after Dekker", 1965, dekker::Dekker(), [2]),
    own!("dijkstra", "Dijkstra", "Dijkstra", 1965, dijkstra::Dijkstra(n), [2, 3]),
    own!("hyman", "Hyman", "Hyman", 1966, hyman::Hyman(), [2]),
    own!("knuth", "Knuth", "Knuth", 1966, knuth::Knuth(n), [2, 3]),
    own!("de-bruijn", "De Bruijn", "de Bruijn", 1967, knuth::DeBruijn(n), [2, 3]),
    own!("eisenberg-mcguire", "Eisenberg–McGuire", "Eisenberg, McGuire", 1972, knuth::EisenbergMcGuire(n), [2, 3]),
    Classic {
        passages: Some(2),
        first_come: true,
        ..catalogue!("bakery", "Bakery", "Lamport", 1974, "lamport_74/bakery.rs", [2])
    },
    catalogue!("peterson-fischer", "Peterson–Fischer", "Peterson, Fischer", 1977, "peterson_fischer_77/two_process.rs", [2]),
    own!("doran-thomas", "Doran–Thomas", "Doran, Thomas", 1980, dekker::DoranThomas(), [2]),
    own!("burns-lynch", "Burns–Lynch, one bit", "Burns, Lynch", 1980, burns::BurnsLynch(n), [2, 3]),
    own!("burns", "Burns, symmetric", "Burns", 1981, burns::Burns(n), [2, 3]),
    Classic {
        passages: Some(2),
        first_come: true,
        ..own!("hehner-shyamasundar", "Hehner–Shyamasundar", "Hehner, Shyamasundar", 1981, first_come::HehnerShyamasundar(n), [2])
    },
    own!("peterson", "Peterson, two processes", "Peterson", 1981, peterson::Peterson(), [2]),
    own!("peterson-turn-first", "Peterson, lines swapped", "folklore", 1981, peterson::TurnFirst(), [2]),
    own!("filter", "Peterson, filter", "Peterson", 1981, filter::Filter(n), [2, 3]),
    catalogue!("peterson-tree", "Peterson, tournament", "Peterson", 1981, "peterson_81/two_sides.rs", [2, 3]),
    own!("kessels", "Kessels, two processes", "Kessels", 1982, kessels::Kessels(), [2]),
    catalogue!("kessels-tree", "Kessels, tournament", "Kessels", 1982, "kessels_82/two_sides.rs", [2, 3]),
    own!("lamport-one-bit", "Lamport, one bit", "Lamport", 1986, lamport::OneBit(n), [2, 3]),
    Classic { large: &[3], ..own!("lamport-three-bits", "Lamport, three bits", "Lamport", 1986, lamport::ThreeBit(n), [2]) },
    catalogue!("lamport-fast", "Lamport, fast", "Lamport", 1987, "lamport_87/fast.rs", [2, 3]),
    own!("szymanski-flag", "Szymanski, flag", "Szymanski", 1988, szymanski::Flag(n), [2, 3]),
    own!("szymanski-flag-bits", "Szymanski, flag of bits", "Szymanski", 1988, szymanski::FlagOfBits(n, false), [2, 3]),
    own!("szymanski-flag-bits-door", "Szymanski, flag of bits, door out first", "after Szymanski", 1988, szymanski::FlagOfBits(n, true), [2, 3]),
    own!("szymanski-three-bits", "Szymanski, three bits", "Szymanski", 1990, szymanski::ThreeBits(n, false), [2, 3]),
    own!("szymanski-three-bits-shut", "Szymanski, three bits, s read first", "after Szymanski", 1990, szymanski::ThreeBits(n, true), [2, 3]),
    Classic {
        large: &[3],
        first_come: true,
        ..own!("lycklama-hadzilacos", "Lycklama–Hadzilacos", "Lycklama, Hadzilacos", 1991, first_come::LycklamaHadzilacos(n), [2])
    },
    own!("anderson-93", "Anderson, two processes", "J. H. Anderson", 1993, kessels::Anderson(), [2]),
    catalogue!("ya-two", "Yang–Anderson, two processes", "Yang, Anderson", 1993, "yang_anderson_93/two_process.rs", [2]),
    catalogue!("ya-tree", "Yang–Anderson, tournament", "Yang, Anderson", 1993, "yang_anderson_93/mod.rs", [2]),
    own!("tsay", "Tsay, two processes", "Tsay", 1998, peterson::Tsay(), [2]),
    own!("attiya-welch", "Attiya–Welch, book", "Attiya, Welch", 2004, attiya_welch::Book(), [2]),
    own!("attiya-welch-loop", "Attiya–Welch, loop", "Attiya, Welch", 2004, attiya_welch::Loop(), [2]),
    Classic {
        passages: Some(2),
        first_come: true,
        ..catalogue!("black-white-bakery", "Black-White Bakery", "Taubenfeld", 2004, "taubenfeld_04/black_white.rs", [2])
    },
    Classic { large: &[3], ..own!("aravind-blru", "Aravind, BLRU", "Aravind", 2011, aravind::Blru(n), [2]) },
    own!("raynal-by-turns", "Raynal, one bit by turns", "Raynal", 2013, raynal::ByTurns(n), [2, 3]),
    own!("dekker-rw-safe", "Dekker, RW-safe", "Buhr, Dice, Hesselink", 2016, dekker::RwSafe(), [2]),
    Classic {
        reads_and_writes: false,
        first_come: true,
        ..own!("clh", "CLH (swap)", "Craig; Magnusson, Landin, Hagersten", 1993, queues::Clh(n), [2, 3])
    },
];
