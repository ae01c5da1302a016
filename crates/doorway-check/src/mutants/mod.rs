//! Algorithms with a seeded fault, to see that the checks would notice.
//!
//! Each family is the text of the algorithm again, with a switch for every fault; without a fault it explores to exactly the same
//! number of states and steps as the shipped text, which a test compares, so the copies cannot drift.
//! Mutants run by name, `doorway check mutant:am-chain-swaps-6-and-7`, and are not listed among the algorithms.
//!
//! A few rows are *controls*: changes that look as dangerous and are not. They must hold.
//!
#![doc = include_str!("../../MUTANTS.md")]

mod bakery;
mod chain;
mod fast_path;
mod two_process;

use crate::sim::{Rules, TextError, World};
use doorway_core::registry::{Defaults, Sizes};

/// A mutant, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name, after the prefix.
    pub name: &'static str,
    /// The algorithm it is a mutant of.
    pub of: &'static str,
    /// What was changed.
    pub change: &'static str,
    /// Where it fails.
    pub sizes: Defaults,
    /// What it breaks, and the length of the shortest trace (0 if it breaks what should happen sometimes: there is none);
    /// `None` for a control.
    pub fails: Option<(&'static str, usize)>,
    text: Text,
}

/// Which text, with which fault.
#[derive(Clone, Copy, Debug)]
enum Text {
    Bakery(bakery::Fault),
    TwoProcess(two_process::Fault),
    Chain(chain::Fault),
    FastPath(fast_path::Fault),
}

impl Text {
    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        match self {
            Self::Bakery(fault) => World::new(n, rules, |site| bakery::Bakery::new(site, n, fault)),
            Self::TwoProcess(fault) => World::new(n, rules, |site| two_process::TwoProcess::new(site, fault)),
            Self::Chain(fault) => World::new(n, rules, |site| chain::Chain::new(site, n, k, fault)),
            Self::FastPath(fault) => World::new(n, rules, |site| fast_path::FastPath::new(site, n, k, fault)),
        }
    }
}

impl Mutant {
    pub(crate) fn world(&self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        self.text.world(sizes, rules)
    }
}

/// The text of an algorithm as its mutants have it, without a fault; `None` if it has no mutants.
pub fn without_fault(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let text = match of {
        "bakery" => Text::Bakery(bakery::Fault::None),
        "ya-two" => Text::TwoProcess(two_process::Fault::None),
        "am-chain" => Text::Chain(chain::Fault::None),
        "am-fast" => Text::FastPath(fast_path::Fault::None),
        _ => return None,
    };
    Some(text.world(sizes, rules))
}

const fn mutant(
    of: &'static str,
    name: &'static str,
    change: &'static str,
    sizes: (usize, usize, Option<u32>),
    fails: Option<(&'static str, usize)>,
    text: Text,
) -> Mutant {
    let (n, k, passages) = sizes;
    Mutant { name, of, change, sizes: Defaults { n, k, passages }, fails, text }
}

const TWO: (usize, usize, Option<u32>) = (2, 1, None);
const TWO_BOUNDED: (usize, usize, Option<u32>) = (2, 1, Some(2));
const THREE: (usize, usize, Option<u32>) = (3, 1, None);
const MUTEX: &str = "mutual-exclusion";
const K_EXCLUSION: &str = "k-exclusion";
const STUCK: &str = "deadlock-free";

/// Every mutant and control.
pub const ALL: &[Mutant] = &[
    mutant(
        "bakery",
        "bakery-never-waits-at-7",
        "7 dropped: does not wait while others draw",
        TWO_BOUNDED,
        Some((MUTEX, 10)),
        Text::Bakery(bakery::Fault::NoWaitAt7),
    ),
    mutant(
        "bakery",
        "bakery-never-opens-its-doorway",
        "3 and 5 dropped: nobody says that it draws",
        TWO_BOUNDED,
        Some((MUTEX, 8)),
        Text::Bakery(bakery::Fault::NoDoorway),
    ),
    mutant(
        "bakery",
        "bakery-closes-its-doorway-early",
        "5 before 42: the ticket is not yet written",
        TWO_BOUNDED,
        Some((MUTEX, 12)),
        Text::Bakery(bakery::Fault::ClosesEarly),
    ),
    mutant(
        "bakery",
        "bakery-breaks-no-ties",
        "8 compares tickets without names: equal ones both enter",
        TWO_BOUNDED,
        Some((MUTEX, 12)),
        Text::Bakery(bakery::Fault::TiesEnter),
    ),
    mutant(
        "bakery",
        "bakery-waits-on-ties",
        "8 waits for equal tickets too",
        TWO_BOUNDED,
        Some((STUCK, 10)),
        Text::Bakery(bakery::Fault::TiesWait),
    ),
    mutant(
        "bakery",
        "bakery-draws-the-maximum",
        "42 writes max instead of 1 + max",
        TWO_BOUNDED,
        Some((MUTEX, 12)),
        Text::Bakery(bakery::Fault::DrawsMax),
    ),
    mutant(
        "bakery",
        "bakery-keeps-its-ticket",
        "10 dropped: leaves with its ticket",
        TWO_BOUNDED,
        Some((STUCK, 12)),
        Text::Bakery(bakery::Fault::KeepsTicket),
    ),
    mutant(
        "bakery",
        "bakery-waits-for-itself",
        "7 and 8 scan the process itself, which never lets itself go",
        TWO_BOUNDED,
        Some((STUCK, 5)),
        Text::Bakery(bakery::Fault::WaitsForItself),
    ),
    mutant(
        "ya-two",
        "ya-two-13-before-12",
        "looks at T before it frees the way",
        TWO,
        Some((STUCK, 13)),
        Text::TwoProcess(two_process::Fault::ThirteenBeforeTwelve),
    ),
    mutant(
        "ya-two",
        "ya-two-4-before-1",
        "looks for a rival before it announces itself",
        TWO,
        Some((MUTEX, 8)),
        Text::TwoProcess(two_process::Fault::FourBeforeOne),
    ),
    mutant(
        "ya-two",
        "ya-two-4-before-2",
        "looks for a rival before it signs T",
        TWO,
        Some((MUTEX, 9)),
        Text::TwoProcess(two_process::Fault::FourBeforeTwo),
    ),
    mutant(
        "ya-two",
        "ya-two-4-before-3",
        "looks for a rival before it forgets old signals",
        TWO,
        Some((STUCK, 14)),
        Text::TwoProcess(two_process::Fault::FourBeforeThree),
    ),
    mutant(
        "ya-two",
        "ya-two-without-3",
        "3 dropped: old signals are never forgotten",
        TWO,
        Some((MUTEX, 23)),
        Text::TwoProcess(two_process::Fault::NoThree),
    ),
    mutant(
        "ya-two",
        "ya-two-without-7",
        "6 and 7 dropped: never tells that T is signed",
        TWO,
        Some((STUCK, 10)),
        Text::TwoProcess(two_process::Fault::NoSeven),
    ),
    mutant(
        "ya-two",
        "ya-two-without-8",
        "8 dropped: does not wait until T is settled",
        TWO,
        Some((STUCK, 16)),
        Text::TwoProcess(two_process::Fault::NoEight),
    ),
    mutant(
        "ya-two",
        "ya-two-without-9",
        "9 dropped: waits at 10 whoever signed last",
        TWO,
        Some((STUCK, 15)),
        Text::TwoProcess(two_process::Fault::NoNine),
    ),
    mutant(
        "ya-two",
        "ya-two-without-10",
        "10 dropped: enters although the rival is inside",
        TWO,
        Some((MUTEX, 18)),
        Text::TwoProcess(two_process::Fault::NoTen),
    ),
    mutant(
        "ya-two",
        "ya-two-without-14",
        "14 dropped: never says that it has left",
        TWO,
        Some((STUCK, 13)),
        Text::TwoProcess(two_process::Fault::NoFourteen),
    ),
    mutant(
        "ya-two",
        "ya-two-without-2",
        "2 dropped: nobody signs T",
        TWO,
        Some((MUTEX, 7)),
        Text::TwoProcess(two_process::Fault::NoTwo),
    ),
    mutant(
        "ya-two",
        "ya-two-without-6",
        "6 dropped: 7 overwrites what it finds",
        TWO,
        Some((STUCK, 21)),
        Text::TwoProcess(two_process::Fault::NoSix),
    ),
    mutant(
        "ya-two",
        "ya-two-without-12",
        "12 dropped: never stops competing",
        TWO,
        Some((STUCK, 12)),
        Text::TwoProcess(two_process::Fault::NoTwelve),
    ),
    mutant(
        "ya-two",
        "ya-two-always-waits",
        "4, 5 and 9 decide nothing: always waits to be released",
        TWO,
        Some((STUCK, 7)),
        Text::TwoProcess(two_process::Fault::AlwaysWaits),
    ),
    mutant(
        "am-chain",
        "am-chain-swaps-3-and-4",
        "looks at X before it announces itself (a missing fence)",
        TWO,
        Some((STUCK, 6)),
        Text::Chain(chain::Fault::FourBeforeThree),
    ),
    mutant(
        "am-chain",
        "am-chain-swaps-6-and-7",
        "wakes before it frees the slot",
        TWO,
        Some((STUCK, 6)),
        Text::Chain(chain::Fault::SevenBeforeSix),
    ),
    mutant(
        "am-chain",
        "am-chain-without-3",
        "3 dropped: waits unannounced",
        TWO,
        Some((K_EXCLUSION, 4)),
        Text::Chain(chain::Fault::NoThree),
    ),
    mutant(
        "am-chain",
        "am-chain-without-4",
        "4 dropped: waits without looking again",
        TWO,
        Some((STUCK, 5)),
        Text::Chain(chain::Fault::NoFour),
    ),
    mutant(
        "am-chain",
        "am-chain-4-tests-at-most-zero",
        "4 tests X <= 0",
        TWO,
        Some((STUCK, 6)),
        Text::Chain(chain::Fault::FourAtMostZero),
    ),
    mutant(
        "am-chain",
        "am-chain-without-7",
        "7 dropped: wakes nobody",
        TWO,
        Some((STUCK, 5)),
        Text::Chain(chain::Fault::NoSeven),
    ),
    mutant(
        "am-chain",
        "am-chain-2-tests-below-zero",
        "2 tests old < 0",
        TWO,
        Some((K_EXCLUSION, 2)),
        Text::Chain(chain::Fault::TwoBelowZero),
    ),
    mutant(
        "am-chain",
        "am-chain-one-too-many",
        "X starts one too high",
        TWO,
        Some((K_EXCLUSION, 2)),
        Text::Chain(chain::Fault::OneTooMany),
    ),
    mutant(
        "am-chain",
        "am-chain-one-too-few",
        "X starts one too low",
        TWO,
        Some((STUCK, 3)),
        Text::Chain(chain::Fault::OneTooFew),
    ),
    mutant(
        "am-chain",
        "am-chain-7-names-p0",
        "7 writes the name p0 whoever leaves",
        THREE,
        Some((STUCK, 10)),
        Text::Chain(chain::Fault::SevenNamesP0),
    ),
    mutant(
        "am-chain",
        "am-chain-exits-outermost-first",
        "leaves the slots in the order of entry",
        THREE,
        Some((K_EXCLUSION, 13)),
        Text::Chain(chain::Fault::OutermostFirst),
    ),
    mutant(
        "am-chain",
        "am-chain-has-a-slot-too-many",
        "slot k-1 added: lets k-1 in",
        (3, 2, None),
        Some(("k-enter-together", 0)),
        Text::Chain(chain::Fault::ASlotTooMany),
    ),
    mutant(
        "am-chain",
        "am-chain-lacks-a-slot",
        "slot N-1 left out",
        THREE,
        Some((K_EXCLUSION, 3)),
        Text::Chain(chain::Fault::LacksASlot),
    ),
    mutant(
        "am-chain",
        "am-chain-7-only-if-another",
        "7 writes only if Q is another's (one read more)",
        THREE,
        None,
        Text::Chain(chain::Fault::SevenIfAnother),
    ),
    mutant(
        "am-fast",
        "am-fast-as-printed-on-plain-add",
        "the figure as printed, on a fetch-and-add that goes below 0",
        THREE,
        Some((K_EXCLUSION, 7)),
        Text::FastPath(fast_path::Fault::AsPrinted),
    ),
    mutant(
        "am-fast",
        "am-fast-never-restores",
        "<= 0 is slow, only the fast increment at 9, slow path sized N-k",
        THREE,
        Some((K_EXCLUSION, 24)),
        Text::FastPath(fast_path::Fault::NeverRestores),
    ),
    mutant(
        "am-fast",
        "am-fast-undoes-at-once",
        "<= 0 is slow and undone at once, slow path sized N-k",
        THREE,
        Some((K_EXCLUSION, 26)),
        Text::FastPath(fast_path::Fault::UndoesAtOnce),
    ),
    mutant(
        "am-fast",
        "am-fast-slow-path-too-small",
        "as shipped, but the slow path sized N-k",
        THREE,
        Some((K_EXCLUSION, 25)),
        Text::FastPath(fast_path::Fault::SlowTooSmall),
    ),
    mutant(
        "am-fast",
        "am-fast-returns-its-place-first",
        "9 before the block is released",
        THREE,
        Some((K_EXCLUSION, 14)),
        Text::FastPath(fast_path::Fault::PlaceFirst),
    ),
    mutant(
        "am-fast",
        "am-fast-swaps-6-and-7-in-its-slots",
        "in block and slow path, wakes before it frees the slot",
        THREE,
        Some((STUCK, 11)),
        Text::FastPath(fast_path::Fault::InSlots(chain::Fault::SevenBeforeSix)),
    ),
    mutant(
        "am-fast",
        "am-fast-one-too-few-in-its-slots",
        "in block and slow path, X starts one too low",
        THREE,
        Some((STUCK, 4)),
        Text::FastPath(fast_path::Fault::InSlots(chain::Fault::OneTooFew)),
    ),
    mutant(
        "am-fast",
        "am-fast-7-names-p0-in-its-slots",
        "in block and slow path, 7 writes the name p0",
        THREE,
        Some((STUCK, 11)),
        Text::FastPath(fast_path::Fault::InSlots(chain::Fault::SevenNamesP0)),
    ),
    mutant(
        "am-fast",
        "am-fast-undoes-at-once-sized-n",
        "<= 0 is slow and undone at once, slow path sized N",
        THREE,
        None,
        Text::FastPath(fast_path::Fault::UndoesAtOnceSizedN),
    ),
    mutant(
        "am-fast",
        "am-fast-on-bounded-decrement",
        "the figure as printed, on the footnote's instruction",
        THREE,
        None,
        Text::FastPath(fast_path::Fault::Exact),
    ),
];
