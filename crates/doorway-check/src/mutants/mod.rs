//! Algorithms with a seeded fault, to see that the checks would notice.
//!
//! Each family is the text of the algorithm again, with a switch for every fault; without a fault it explores to exactly the same
//! number of states and steps as the shipped text, which a test compares, so that drift shows.
//! Mutants run by name, `doorway check mutant:am-chain-swaps-6-and-7`, and are not listed among the algorithms.
//!
//! A few rows are *controls*: changes that look as dangerous and are not. They must hold.
//!
#![doc = include_str!("../../MUTANTS.md")]

mod bakery;
mod chain;
mod fast_path;
mod test_and_set;
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
    TestAndSet(test_and_set::Fault),
    Bakery(bakery::Fault),
    TwoProcess(two_process::Fault),
    Chain(chain::Fault),
    FastPath(fast_path::Fault),
}

impl Text {
    /// The algorithm it is the text of.
    const fn of(self) -> &'static str {
        match self {
            Self::TestAndSet(_) => "tas",
            Self::Bakery(_) => "bakery",
            Self::TwoProcess(_) => "ya-two",
            Self::Chain(_) => "am-chain",
            Self::FastPath(_) => "am-fast",
        }
    }

    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        match self {
            Self::TestAndSet(fault) => World::new(n, rules, |site| test_and_set::TestAndSetLock::new(site, fault)),
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
    let texts = [
        Text::TestAndSet(test_and_set::Fault::None),
        Text::Bakery(bakery::Fault::None),
        Text::TwoProcess(two_process::Fault::None),
        Text::Chain(chain::Fault::None),
        Text::FastPath(fast_path::Fault::None),
    ];
    texts.into_iter().find(|text| text.of() == of).map(|text| text.world(sizes, rules))
}

const fn mutant(
    text: Text,
    sizes: (usize, usize, Option<u32>),
    fails: Option<(&'static str, usize)>,
    name: &'static str,
    change: &'static str,
) -> Mutant {
    let (n, k, passages) = sizes;
    Mutant { name, of: text.of(), change, sizes: Defaults { n, k, passages }, fails, text }
}

const TWO: (usize, usize, Option<u32>) = (2, 1, None);
const TWO_BOUNDED: (usize, usize, Option<u32>) = (2, 1, Some(2));
const THREE: (usize, usize, Option<u32>) = (3, 1, None);
const THREE_TWO: (usize, usize, Option<u32>) = (3, 2, None);
const MUTEX: &str = "mutual-exclusion";
const K_EXCLUSION: &str = "k-exclusion";
const STUCK: &str = "deadlock-free";
const TOO_FEW: &str = "k-enter-together";
const HOLDS: Option<(&str, usize)> = None;

/// Every mutant and control.
#[rustfmt::skip] // a table
pub const ALL: &[Mutant] = &[
    // tas
    mutant(Text::TestAndSet(test_and_set::Fault::TestThenSet), TWO, Some((MUTEX, 6)), "tas-tests-then-sets", "test and set are two steps"),
    mutant(Text::TestAndSet(test_and_set::Fault::NeverSets), TWO, Some((MUTEX, 4)), "tas-never-sets", "the bit is tested and never set"),
    mutant(Text::TestAndSet(test_and_set::Fault::NeverClears), TWO, Some((STUCK, 4)), "tas-never-clears", "2 leaves the bit set"),
    mutant(Text::TestAndSet(test_and_set::Fault::StartsTaken), TWO, Some((STUCK, 1)), "tas-starts-taken", "the bit is set from the beginning"),
    mutant(Text::TestAndSet(test_and_set::Fault::WaitsToLeave), TWO, Some((STUCK, 3)), "tas-waits-to-leave", "2 waits until the bit is clear"),
    // bakery
    mutant(Text::Bakery(bakery::Fault::NoWaitAt7), TWO_BOUNDED, Some((MUTEX, 10)), "bakery-never-waits-at-7", "7 dropped: does not wait while others draw"),
    mutant(Text::Bakery(bakery::Fault::NoDoorway), TWO_BOUNDED, Some((MUTEX, 8)), "bakery-never-opens-its-doorway", "3 and 5 dropped: nobody says that it draws"),
    mutant(Text::Bakery(bakery::Fault::ClosesEarly), TWO_BOUNDED, Some((MUTEX, 12)), "bakery-closes-its-doorway-early", "5 before 42: the ticket is not yet written"),
    mutant(Text::Bakery(bakery::Fault::TiesEnter), TWO_BOUNDED, Some((MUTEX, 12)), "bakery-breaks-no-ties", "8 compares tickets without names: equal ones both enter"),
    mutant(Text::Bakery(bakery::Fault::TiesWait), TWO_BOUNDED, Some((STUCK, 10)), "bakery-waits-on-ties", "8 waits for equal tickets too"),
    mutant(Text::Bakery(bakery::Fault::DrawsMax), TWO_BOUNDED, Some(("first-come-first-served", 10)), "bakery-draws-the-maximum", "42 writes max instead of 1 + max"),
    mutant(Text::Bakery(bakery::Fault::KeepsTicket), TWO_BOUNDED, Some((STUCK, 12)), "bakery-keeps-its-ticket", "10 dropped: leaves with its ticket"),
    mutant(Text::Bakery(bakery::Fault::WaitsForItself), TWO_BOUNDED, Some((STUCK, 5)), "bakery-waits-for-itself", "7 and 8 scan the process itself, which never lets itself go"),
    mutant(Text::Bakery(bakery::Fault::WaitsToLeave), TWO_BOUNDED, Some((STUCK, 12)), "bakery-waits-to-leave", "10 waits until the next one has no ticket"),
    // ya-two
    mutant(Text::TwoProcess(two_process::Fault::ThirteenBeforeTwelve), TWO, Some((STUCK, 13)), "ya-two-13-before-12", "looks at T before it frees the way"),
    mutant(Text::TwoProcess(two_process::Fault::FourBeforeOne), TWO, Some((MUTEX, 8)), "ya-two-4-before-1", "looks for a rival before it announces itself"),
    mutant(Text::TwoProcess(two_process::Fault::FourBeforeTwo), TWO, Some((MUTEX, 9)), "ya-two-4-before-2", "looks for a rival before it signs T"),
    mutant(Text::TwoProcess(two_process::Fault::FourBeforeThree), TWO, Some((STUCK, 14)), "ya-two-4-before-3", "looks for a rival before it forgets old signals"),
    mutant(Text::TwoProcess(two_process::Fault::NoThree), TWO, Some((MUTEX, 23)), "ya-two-without-3", "3 dropped: old signals are never forgotten"),
    mutant(Text::TwoProcess(two_process::Fault::NoSeven), TWO, Some((STUCK, 10)), "ya-two-without-7", "6 and 7 dropped: never tells that T is signed"),
    mutant(Text::TwoProcess(two_process::Fault::NoEight), TWO, Some((STUCK, 16)), "ya-two-without-8", "8 dropped: does not wait until T is settled"),
    mutant(Text::TwoProcess(two_process::Fault::NoNine), TWO, Some((STUCK, 15)), "ya-two-without-9", "9 dropped: waits at 10 whoever signed last"),
    mutant(Text::TwoProcess(two_process::Fault::NoTen), TWO, Some((MUTEX, 18)), "ya-two-without-10", "10 dropped: enters although the rival is inside"),
    mutant(Text::TwoProcess(two_process::Fault::NoFourteen), TWO, Some((STUCK, 13)), "ya-two-without-14", "14 dropped: never says that it has left"),
    mutant(Text::TwoProcess(two_process::Fault::NoTwo), TWO, Some((MUTEX, 7)), "ya-two-without-2", "2 dropped: nobody signs T"),
    mutant(Text::TwoProcess(two_process::Fault::NoSix), TWO, Some((STUCK, 21)), "ya-two-without-6", "6 dropped: 7 overwrites what it finds"),
    mutant(Text::TwoProcess(two_process::Fault::NoTwelve), TWO, Some((STUCK, 12)), "ya-two-without-12", "12 dropped: never stops competing"),
    mutant(Text::TwoProcess(two_process::Fault::AlwaysWaits), TWO, Some((STUCK, 7)), "ya-two-always-waits", "4, 5 and 9 decide nothing: always waits to be released"),
    mutant(Text::TwoProcess(two_process::Fault::WaitsToLeave), TWO, Some((STUCK, 12)), "ya-two-waits-to-leave", "12 waits until the rival does not compete"),
    // am-chain
    mutant(Text::Chain(chain::Fault::FourBeforeThree), TWO, Some((STUCK, 6)), "am-chain-swaps-3-and-4", "looks at X before it announces itself (a missing fence)"),
    mutant(Text::Chain(chain::Fault::SevenBeforeSix), TWO, Some((STUCK, 6)), "am-chain-swaps-6-and-7", "wakes before it frees the slot"),
    mutant(Text::Chain(chain::Fault::NoThree), TWO, Some((K_EXCLUSION, 4)), "am-chain-without-3", "3 dropped: waits unannounced"),
    mutant(Text::Chain(chain::Fault::NoFour), TWO, Some((STUCK, 5)), "am-chain-without-4", "4 dropped: waits without looking again"),
    mutant(Text::Chain(chain::Fault::FourAtMostZero), TWO, Some((STUCK, 6)), "am-chain-4-tests-at-most-zero", "4 tests X <= 0"),
    mutant(Text::Chain(chain::Fault::NoSeven), TWO, Some((STUCK, 5)), "am-chain-without-7", "7 dropped: wakes nobody"),
    mutant(Text::Chain(chain::Fault::TwoBelowZero), TWO, Some((K_EXCLUSION, 2)), "am-chain-2-tests-below-zero", "2 tests old < 0"),
    mutant(Text::Chain(chain::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 2)), "am-chain-one-too-many", "X starts one too high"),
    mutant(Text::Chain(chain::Fault::OneTooFew), TWO, Some((STUCK, 3)), "am-chain-one-too-few", "X starts one too low"),
    mutant(Text::Chain(chain::Fault::SevenNamesP0), THREE, Some((STUCK, 10)), "am-chain-7-names-p0", "7 writes the name p0 whoever leaves"),
    mutant(Text::Chain(chain::Fault::OutermostFirst), THREE, Some((K_EXCLUSION, 13)), "am-chain-exits-outermost-first", "leaves the slots in the order of entry"),
    mutant(Text::Chain(chain::Fault::ASlotTooMany), THREE_TWO, Some((TOO_FEW, 0)), "am-chain-has-a-slot-too-many", "slot k-1 added: lets k-1 in"),
    mutant(Text::Chain(chain::Fault::LacksASlot), THREE, Some((K_EXCLUSION, 3)), "am-chain-lacks-a-slot", "slot N-1 left out"),
    mutant(Text::Chain(chain::Fault::WaitsToLeave), TWO, Some((STUCK, 3)), "am-chain-waits-to-leave", "after 7, waits until somebody else writes Q"),
    mutant(Text::Chain(chain::Fault::SevenIfAnother), THREE, HOLDS, "am-chain-7-only-if-another", "7 writes only if Q is another's (one read more)"),
    // am-fast
    mutant(Text::FastPath(fast_path::Fault::AsPrinted), THREE, Some((K_EXCLUSION, 7)), "am-fast-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(Text::FastPath(fast_path::Fault::NeverRestores), THREE, Some((K_EXCLUSION, 24)), "am-fast-never-restores", "<= 0 is slow, only the fast increment at 9, slow path sized N-k"),
    mutant(Text::FastPath(fast_path::Fault::UndoesAtOnce), THREE, Some((K_EXCLUSION, 26)), "am-fast-undoes-at-once", "<= 0 is slow and undone at once, slow path sized N-k"),
    mutant(Text::FastPath(fast_path::Fault::SlowTooSmall), THREE, Some((K_EXCLUSION, 25)), "am-fast-slow-path-too-small", "as shipped, but the slow path sized N-k"),
    mutant(Text::FastPath(fast_path::Fault::PlaceFirst), THREE, Some((K_EXCLUSION, 14)), "am-fast-returns-its-place-first", "9 before the block is released"),
    mutant(Text::FastPath(fast_path::Fault::InSlots(chain::Fault::SevenBeforeSix)), THREE, Some((STUCK, 11)), "am-fast-swaps-6-and-7-in-its-slots", "in block and slow path, wakes before it frees the slot"),
    mutant(Text::FastPath(fast_path::Fault::InSlots(chain::Fault::OneTooFew)), THREE, Some((STUCK, 4)), "am-fast-one-too-few-in-its-slots", "in block and slow path, X starts one too low"),
    mutant(Text::FastPath(fast_path::Fault::InSlots(chain::Fault::SevenNamesP0)), THREE, Some((STUCK, 11)), "am-fast-7-names-p0-in-its-slots", "in block and slow path, 7 writes the name p0"),
    mutant(Text::FastPath(fast_path::Fault::InSlots(chain::Fault::WaitsToLeave)), THREE, Some((STUCK, 4)), "am-fast-waits-to-leave-its-slots", "in block and slow path, after 7, waits until somebody else writes Q"),
    mutant(Text::FastPath(fast_path::Fault::UndoesAtOnceSizedN), THREE, HOLDS, "am-fast-undoes-at-once-sized-n", "<= 0 is slow and undone at once, slow path sized N"),
    mutant(Text::FastPath(fast_path::Fault::Exact), THREE, HOLDS, "am-fast-on-bounded-decrement", "the figure as printed, on the footnote's instruction"),
];
