//! Algorithms with a seeded fault, to see that the checks would notice.
//!
//! Each family is the text of the algorithm again, with a switch for every fault; without a fault it explores to exactly the same
//! number of states and steps as the shipped text, which a test compares, so that drift shows. What is composed has a text for each of
//! its parts, and only the part with the fault is not the shipped one.
//! Mutants run by name, `doorway check mutant:am-chain-swaps-6-and-7`, and are not listed among the algorithms.
//!
//! A few rows are *controls*: changes that look as dangerous and are not. They must hold.
//!
#![doc = include_str!("../../MUTANTS.md")]

mod any_slot;
mod arbitration_tree;
mod array;
mod backoff;
mod bakery;
mod cc_slot;
mod chain;
mod composed;
mod dgs;
mod dgs_fork;
mod dsm_slot;
mod dsm_unbounded_slot;
mod fast_path;
mod kbakery;
mod kbakery_nonatomic;
mod lamport_fast;
mod names;
mod nested;
mod peterson_fischer;
mod queue;
mod queue_lock;
mod renaming;
mod test_and_set;
mod ticket;
mod tree;
mod turnstile;
mod turnstile_simple;
mod two_process;
mod ya_fast;

use crate::sim::{Rules, TextError, World};
use crate::subject;
use any_slot::Slots;
use composed::{Around, CC, Composed, DSM, Unbounded, Whole};
use doorway_core::k_exclusion::danek_10::Order;
use doorway_core::memory::Register;
use doorway_core::registry::{self, Defaults, Sizes};
use turnstile::Form;

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
    /// With how many crashes.
    pub crashes: usize,
    /// Whether with give-ups.
    pub give_ups: bool,
    /// On registers how weak; variables of the algorithm are weakened no further than they declare.
    pub registers: Register,
    /// What it breaks, and the length of the shortest trace (0 if it breaks what should happen sometimes: there is none);
    /// `None` for a control.
    pub fails: Option<(&'static str, usize)>,
    /// A run that shows it, where a search would take long.
    pub run: Option<&'static str>,
    text: Text,
}

/// Which text, with which fault.
#[derive(Clone, Copy, Debug)]
enum Text {
    TestAndSet(test_and_set::Fault),
    Bakery(bakery::Fault),
    Backoff(backoff::Fault),
    Ticket(ticket::Fault),
    Array(array::Fault),
    QueueLock(queue_lock::Exit, queue_lock::Fault),
    LamportFast(lamport_fast::Fault),
    PetersonFischer(peterson_fischer::Fault),
    TwoProcess(two_process::Fault),
    /// And what its nodes have.
    YaTree(arbitration_tree::Fault, two_process::Fault),
    /// And what its nodes have.
    YaFast(ya_fast::Fault, two_process::Fault),
    Queue(queue::Fault),
    Dgs(dgs::Form, dgs::Fault),
    Unbounded(Unbounded),
    Composed(Composed),
    Turnstile(Form, turnstile::Fault),
    Simple(turnstile_simple::Fault),
    KBakery(Order, kbakery::Fault),
    /// And whether as printed.
    Nonatomic(bool, kbakery_nonatomic::Fault),
}

impl Text {
    /// The algorithm it is the text of.
    const fn of(self) -> &'static str {
        match self {
            Self::TestAndSet(_) => "tas",
            Self::Bakery(_) => "bakery",
            Self::Backoff(_) => "tas-backoff",
            Self::Ticket(_) => "ticket",
            Self::Array(_) => "anderson-array",
            Self::QueueLock(queue_lock::Exit::CompareSwap, _) => "mcs",
            Self::QueueLock(queue_lock::Exit::Swap, _) => "mcs-swap",
            Self::LamportFast(_) => "lamport-fast",
            Self::PetersonFischer(_) => "peterson-fischer",
            Self::TwoProcess(_) => "ya-two",
            Self::YaTree(..) => "ya-tree",
            Self::YaFast(..) => "ya-fast",
            Self::Queue(_) => "am-queue",
            Self::Dgs(form, _) => form.of(),
            Self::Unbounded(_) => "am-dsm-unbounded",
            Self::Composed(composed) => composed.of(),
            Self::Turnstile(form, _) => form.of(),
            Self::Simple(_) => "turnstile-simple",
            Self::KBakery(Order::KFirstCome, _) => "kbakery",
            Self::KBakery(Order::FirstEnabled, _) => "kbakery-fife",
            Self::Nonatomic(false, _) => "kbakery-nonatomic",
            Self::Nonatomic(true, _) => "kbakery-nonatomic-as-printed",
        }
    }

    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        if rules.give_ups && !registry::can_give_up(self.of()) {
            return Err(TextError::CannotGiveUp);
        }
        match self {
            Self::TestAndSet(fault) => World::new(n, rules, |site| test_and_set::TestAndSetLock::new(site, fault)),
            Self::Bakery(fault) => World::new(n, rules, |site| bakery::Bakery::new(site, n, fault)),
            Self::Backoff(fault) => World::new(n, rules, |site| backoff::BackoffLock::new(site, n, fault)),
            Self::Ticket(fault) => World::new(n, rules, |site| ticket::TicketLock::new(site, n, fault)),
            Self::Array(fault) => World::new(n, rules, |site| array::ArrayLock::new(site, n, fault)),
            Self::QueueLock(exit, fault) => {
                World::new(n, rules, |site| queue_lock::QueueLock::new(site, n, exit, fault))
            }
            Self::LamportFast(fault) => World::new(n, rules, |site| lamport_fast::FastMutex::new(site, n, fault)),
            Self::PetersonFischer(fault) => World::new(n, rules, |site| peterson_fischer::TwoProcess::new(site, fault)),
            Self::TwoProcess(fault) => World::new(n, rules, |site| two_process::TwoProcess::new(site, fault)),
            Self::YaTree(tree, node) => {
                World::new(n, rules, |site| arbitration_tree::ArbitrationTree::new(site, n, tree, node))
            }
            Self::YaFast(fast, node) => World::new(n, rules, |site| ya_fast::FastPath::new(site, n, fast, node)),
            Self::Queue(fault) => World::new(n, rules, |site| queue::Queue::new(site, n, k, fault)),
            Self::Dgs(form, fault) => World::new(n, rules, |site| dgs::LExclusion::new(site, n, k, form, fault)),
            Self::Unbounded(chain) => chain.world(sizes, rules),
            Self::Composed(composed) => composed.world(sizes, rules),
            Self::Turnstile(form, fault) => form.world(fault, sizes, rules),
            Self::Simple(fault) => World::new(n, rules, |site| turnstile_simple::Simple::new(site, n, k, fault)),
            Self::KBakery(order, fault) => World::new(n, rules, |site| kbakery::KBakery::new(site, n, k, order, fault)),
            Self::Nonatomic(as_printed, fault) => {
                World::new(n, rules, |site| kbakery_nonatomic::Nonatomic::new(site, n, k, as_printed, fault))
            }
        }
    }
}

impl Mutant {
    pub(crate) fn world(&self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        self.text.world(sizes, rules)
    }

    /// The rules by which it fails.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let Self { crashes, give_ups, registers, .. } = *self;
        Rules { crashes, give_ups, registers, ..Rules::with_passages(self.sizes.passages) }
    }

    const fn crashing(self, crashes: usize) -> Self {
        Self { crashes, ..self }
    }

    const fn shown_by(self, run: &'static str) -> Self {
        Self { run: Some(run), ..self }
    }

    const fn on_safe_bits(self) -> Self {
        Self { registers: Register::Safe, ..self }
    }

    const fn giving_up(self) -> Self {
        Self { give_ups: true, ..self }
    }

    const fn on(self, registers: Register) -> Self {
        Self { registers, ..self }
    }
}

/// The text of an algorithm as its mutants have it, without a fault; `None` if it has no mutants.
pub fn without_fault(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let texts = [
        Text::TestAndSet(test_and_set::Fault::None),
        Text::Bakery(bakery::Fault::None),
        Text::Backoff(backoff::Fault::None),
        Text::Ticket(ticket::Fault::None),
        Text::Array(array::Fault::None),
        mcs(queue_lock::Fault::None),
        mcs_swap(queue_lock::Fault::None),
        Text::LamportFast(lamport_fast::Fault::None),
        Text::PetersonFischer(peterson_fischer::Fault::None),
        Text::TwoProcess(two_process::Fault::None),
        ya_tree(arbitration_tree::Fault::None),
        ya_fast(ya_fast::Fault::None),
        Text::Queue(queue::Fault::None),
        dgs(dgs::Fault::None),
        dgs_unfair(dgs::Fault::None),
        dgs_as_printed(dgs::Fault::None),
        unbounded(dsm_unbounded_slot::Fault::None, Some(chain::Fault::None)),
        Text::Turnstile(Form::Fair, turnstile::Fault::None),
        Text::Turnstile(Form::Many, turnstile::Fault::None),
        Text::Turnstile(Form::Unfair, turnstile::Fault::None),
        simple(turnstile_simple::Fault::None),
        Text::KBakery(Order::KFirstCome, kbakery::Fault::None),
        Text::KBakery(Order::FirstEnabled, kbakery::Fault::None),
        Text::Nonatomic(false, kbakery_nonatomic::Fault::None),
        Text::Nonatomic(true, kbakery_nonatomic::Fault::None),
        slots(names::Fault::None),
        bits(names::Fault::None),
    ];
    let compositions = [
        (Whole::Chain, Around::Chain(chain::Fault::None)),
        (Whole::Tree, Around::Tree(tree::Fault::None)),
        (Whole::Fast, Around::FastPath(fast_path::Fault::None)),
        (Whole::Graceful, Around::Nested(nested::Fault::None)),
        (Whole::Assign, Around::Renaming(renaming::Fault::None)),
    ];
    let composed = compositions.into_iter().flat_map(|(whole, copy)| [CC, DSM].map(|slots| around(whole, slots, copy)));
    let text = texts.into_iter().chain(composed).find(|text| text.of() == of)?;
    let info = registry::find(of)?;
    Some(text.world(sizes, rules).map(|world| subject::with_canon(world, info, sizes, rules)))
}

const fn mutant(
    text: Text,
    sizes: (usize, usize, Option<u32>),
    fails: Option<(&'static str, usize)>,
    name: &'static str,
    change: &'static str,
) -> Mutant {
    let (n, k, passages) = sizes;
    let sizes = Defaults { n, k, passages };
    let registers = Register::Atomic;
    Mutant { name, of: text.of(), change, sizes, crashes: 0, give_ups: false, registers, fails, run: None, text }
}

/// A fault in Mellor-Crummey and Scott's queue lock.
const fn mcs(fault: queue_lock::Fault) -> Text {
    Text::QueueLock(queue_lock::Exit::CompareSwap, fault)
}

/// A fault in the same without compare-and-swap.
const fn mcs_swap(fault: queue_lock::Fault) -> Text {
    Text::QueueLock(queue_lock::Exit::Swap, fault)
}

/// A fault in the arbitration tree.
const fn ya_tree(fault: arbitration_tree::Fault) -> Text {
    Text::YaTree(fault, two_process::Fault::None)
}

/// A fault in its nodes.
const fn in_tree(fault: two_process::Fault) -> Text {
    Text::YaTree(arbitration_tree::Fault::None, fault)
}

/// A fault in Figure 4 of Yang and Anderson.
const fn ya_fast(fault: ya_fast::Fault) -> Text {
    Text::YaFast(fault, two_process::Fault::None)
}

/// A fault in its nodes.
const fn in_fast(fault: two_process::Fault) -> Text {
    Text::YaFast(ya_fast::Fault::None, fault)
}

/// A fault in Construction 8 of Dolev, Gafni and Shavit.
const fn dgs(fault: dgs::Fault) -> Text {
    Text::Dgs(dgs::Form::Fair, fault)
}

/// A fault in Construction 6.
const fn dgs_unfair(fault: dgs::Fault) -> Text {
    Text::Dgs(dgs::Form::Unfair, fault)
}

/// Construction 6 to the letter.
const DGS_UNFAIR_AS_PRINTED: Text = Text::Dgs(dgs::Form::UnfairAsPrinted, dgs::Fault::None);

/// A fault in Construction 8 to the letter.
const fn dgs_as_printed(fault: dgs::Fault) -> Text {
    Text::Dgs(dgs::Form::AsPrinted, fault)
}

/// A fault in the turnstile.
const fn fair(fault: turnstile::Fault) -> Text {
    Text::Turnstile(Form::Fair, fault)
}

/// A fault in the turnstile with one that asks for two.
const fn many(fault: turnstile::Fault) -> Text {
    Text::Turnstile(Form::Many, fault)
}

/// A fault in the unfair turnstile.
const fn unfair(fault: turnstile::Fault) -> Text {
    Text::Turnstile(Form::Unfair, fault)
}

/// A fault in the simple turnstile.
const fn simple(fault: turnstile_simple::Fault) -> Text {
    Text::Simple(fault)
}

/// A fault in the k-Bakery.
const fn first_come(fault: kbakery::Fault) -> Text {
    Text::KBakery(Order::KFirstCome, fault)
}

/// A fault in the k-Bakery with captures.
const fn capturing(fault: kbakery::Fault) -> Text {
    Text::KBakery(Order::FirstEnabled, fault)
}

/// A fault in the k-Bakery from registers that are not atomic.
const fn nonatomic(fault: kbakery_nonatomic::Fault) -> Text {
    Text::Nonatomic(false, fault)
}

/// A fault in the same as printed.
const fn printed(fault: kbakery_nonatomic::Fault) -> Text {
    Text::Nonatomic(true, fault)
}

/// A fault in the names over the turnstile.
const fn slots(fault: names::Fault) -> Text {
    Text::Turnstile(Form::Slots(fault), turnstile::Fault::None)
}

/// A fault in the names from a bitmap over the turnstile.
const fn bits(fault: names::Fault) -> Text {
    Text::Turnstile(Form::Bits(fault), turnstile::Fault::None)
}

/// A fault in the turnstile below names.
const fn below_names(fault: turnstile::Fault) -> Text {
    Text::Turnstile(Form::Slots(names::Fault::None), fault)
}

/// A fault in the turnstile below names from a bitmap.
const fn below_bits(fault: turnstile::Fault) -> Text {
    Text::Turnstile(Form::Bits(names::Fault::None), fault)
}

/// A fault in the slots of Figure 2.
const fn cc(whole: Whole, fault: cc_slot::Fault) -> Text {
    around(whole, Slots::Cc(fault), Around::Shipped)
}

/// A fault in the slots of Figure 6.
const fn dsm(whole: Whole, fault: dsm_slot::Fault) -> Text {
    around(whole, Slots::Dsm(fault), Around::Shipped)
}

/// A fault around slots.
const fn around(whole: Whole, slots: Slots, around: Around) -> Text {
    Text::Composed(Composed { whole, slots, around })
}

/// A fault in the slots of Figure 5, or in their chain.
const fn unbounded(slots: dsm_unbounded_slot::Fault, chain: Option<chain::Fault>) -> Text {
    Text::Unbounded(Unbounded { slots, chain })
}

const TWO: (usize, usize, Option<u32>) = (2, 1, None);
const TWO_ONCE: (usize, usize, Option<u32>) = (2, 1, Some(1));
const TWO_BOUNDED: (usize, usize, Option<u32>) = (2, 1, Some(2));
const TWO_TWO: (usize, usize, Option<u32>) = (2, 2, None);
const TWO_TWO_BOUNDED: (usize, usize, Option<u32>) = (2, 2, Some(2));
const THREE: (usize, usize, Option<u32>) = (3, 1, None);
const THREE_ONCE: (usize, usize, Option<u32>) = (3, 1, Some(1));
const THREE_TWICE: (usize, usize, Option<u32>) = (3, 1, Some(2));
const THREE_TWO: (usize, usize, Option<u32>) = (3, 2, None);
const THREE_TWO_ONCE: (usize, usize, Option<u32>) = (3, 2, Some(1));
const THREE_TWO_TWICE: (usize, usize, Option<u32>) = (3, 2, Some(2));
const THREE_THREE: (usize, usize, Option<u32>) = (3, 3, None);
const FOUR_TWO: (usize, usize, Option<u32>) = (4, 2, None);
const FOUR_TWO_TWICE: (usize, usize, Option<u32>) = (4, 2, Some(2));
const FOUR_TWO_ONCE: (usize, usize, Option<u32>) = (4, 2, Some(1));
const MUTEX: &str = "mutual-exclusion";
const K_EXCLUSION: &str = "k-exclusion";
const STUCK: &str = "deadlock-free";
const STARVES: &str = "starvation-free";
const TOO_FEW: &str = "k-enter-together";
const LEAVES: &str = "bounded-exit";
const UNITS: &str = "units-inside";
const NAMES: &str = "unique-names";
const DOOR: &str = "door-opens";
const ORDER_FIRST: &str = "first-come-first-served";
const ORDER_K: &str = "k-first-come-first-served";
const ORDER: &str = "first-in-first-enabled";
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
    mutant(Text::Bakery(bakery::Fault::DrawsMax), TWO_BOUNDED, Some((ORDER_FIRST, 10)), "bakery-draws-the-maximum", "42 writes max instead of 1 + max"),
    mutant(Text::Bakery(bakery::Fault::KeepsTicket), TWO_BOUNDED, Some((STUCK, 12)), "bakery-keeps-its-ticket", "10 dropped: leaves with its ticket"),
    mutant(Text::Bakery(bakery::Fault::WaitsForItself), TWO_BOUNDED, Some((STUCK, 5)), "bakery-waits-for-itself", "7 and 8 scan the process itself, which never lets itself go"),
    mutant(Text::Bakery(bakery::Fault::WaitsToLeave), TWO_BOUNDED, Some((STUCK, 12)), "bakery-waits-to-leave", "10 waits until the next one has no ticket"),
    // tas-backoff
    mutant(Text::Backoff(backoff::Fault::TestThenSet), TWO, Some((MUTEX, 4)), "tas-backoff-tests-then-sets", "test and set are two steps"),
    mutant(Text::Backoff(backoff::Fault::EntersAfterPause), TWO, Some((MUTEX, 11)), "tas-backoff-enters-after-its-pause", "after the longest pause enters without looking"),
    mutant(Text::Backoff(backoff::Fault::ClearsOnFailure), TWO, Some((MUTEX, 5)), "tas-backoff-clears-on-failure", "after its pause clears the bit, as if it had set it"),
    mutant(Text::Backoff(backoff::Fault::NeverClears), TWO, Some((STUCK, 5)), "tas-backoff-never-clears", "4 leaves the bit set"),
    mutant(Text::Backoff(backoff::Fault::StartsTaken), TWO, Some((STUCK, 3)), "tas-backoff-starts-taken", "the bit is set from the beginning"),
    mutant(Text::Backoff(backoff::Fault::DoublesTooOften), TWO, HOLDS, "tas-backoff-pauses-too-long", "the pause doubles once more than it may, which only (D) notices"),
    mutant(Text::Backoff(backoff::Fault::WaitsToLeave), TWO, Some((STUCK, 2)), "tas-backoff-waits-to-leave", "4 waits until the bit is clear"),
    // ticket
    mutant(Text::Ticket(ticket::Fault::ReadsThenAdds), TWO, Some((STUCK, 6)), "ticket-reads-then-adds", "1 is two steps: two draw the same ticket"),
    mutant(Text::Ticket(ticket::Fault::OneBitLess), THREE, Some((ORDER_FIRST, 4)), "ticket-one-bit-less", "tickets have one bit less than N of them need"),
    mutant(Text::Ticket(ticket::Fault::WaitsForTheNext), THREE, Some((STUCK, 1)), "ticket-waits-for-the-next", "2 waits for the turn after its own"),
    mutant(Text::Ticket(ticket::Fault::NeverServes), TWO, Some((STUCK, 4)), "ticket-never-serves", "4 dropped: nobody is called"),
    mutant(Text::Ticket(ticket::Fault::ServesTwo), THREE, Some((STUCK, 4)), "ticket-skips-one", "4 calls the ticket after the next"),
    mutant(Text::Ticket(ticket::Fault::ServesTheSame), TWO, Some((STUCK, 4)), "ticket-serves-itself", "4 calls its own ticket again"),
    mutant(Text::Ticket(ticket::Fault::WaitsToLeave), TWO, Some((STUCK, 4)), "ticket-waits-to-leave", "4 waits until nobody has drawn after it"),
    // anderson-array
    mutant(Text::Array(array::Fault::ReadsThenAdds), TWO, Some((STUCK, 7)), "anderson-array-reads-then-adds", "1 is two steps: two have the same slot"),
    mutant(Text::Array(array::Fault::RingTooSmall), THREE, Some((ORDER_FIRST, 5)), "anderson-array-ring-too-small", "fewer slots than processes"),
    mutant(Text::Array(array::Fault::LeavesItsSlotSet), TWO, Some((ORDER_FIRST, 6)), "anderson-array-leaves-its-slot-set", "3 dropped: the slot is still set a round later"),
    mutant(Text::Array(array::Fault::StartsWithTwo), TWO, Some((ORDER_FIRST, 4)), "anderson-array-starts-with-two", "two slots are set from the beginning"),
    mutant(Text::Array(array::Fault::StartsWithNone), TWO, Some((STUCK, 1)), "anderson-array-starts-with-none", "no slot is set from the beginning"),
    mutant(Text::Array(array::Fault::SkipsOne), THREE, Some((STUCK, 5)), "anderson-array-skips-one", "5 sets the slot after the next"),
    mutant(Text::Array(array::Fault::KeepsTheLock), TWO, Some((STUCK, 5)), "anderson-array-keeps-the-lock", "5 sets nothing"),
    mutant(Text::Array(array::Fault::WaitsToLeave), TWO, Some((STUCK, 5)), "anderson-array-waits-to-leave", "5 waits until nobody has come after it"),
    // mcs
    mutant(mcs(queue_lock::Fault::NoOne), THREE, Some((STUCK, 15)), "mcs-without-1", "1 dropped: finds the follower of an earlier passage"),
    mutant(mcs(queue_lock::Fault::TwoSplit), TWO, Some((MUTEX, 6)), "mcs-reads-then-writes-tail", "2 is two steps"),
    mutant(mcs(queue_lock::Fault::LinksFirst), TWO, Some((STUCK, 8)), "mcs-4-before-3", "links itself before it says that it has to wait: unlocked too early, it waits for ever"),
    mutant(mcs(queue_lock::Fault::NoThree), TWO, Some((MUTEX, 6)), "mcs-without-3", "3 dropped: does not say that it has to wait"),
    mutant(mcs(queue_lock::Fault::NoFive), TWO, Some((MUTEX, 6)), "mcs-without-5", "5 dropped: enters without waiting"),
    mutant(mcs(queue_lock::Fault::NoNine), TWO, Some((STUCK, 8)), "mcs-without-9", "9 dropped: leaves although somebody is about to link itself"),
    mutant(mcs(queue_lock::Fault::NoTen), TWO, Some((STUCK, 7)), "mcs-without-10", "10 dropped: unlocks nobody"),
    mutant(mcs(queue_lock::Fault::StartsTaken), TWO, Some((STUCK, 4)), "mcs-starts-taken", "the list is not empty at the beginning"),
    mutant(mcs(queue_lock::Fault::NoEight), TWO, Some((STUCK, 7)), "mcs-without-8", "8 dropped: stays in the list when it leaves"),
    mutant(mcs(queue_lock::Fault::EightSplit), TWO, Some((ORDER_FIRST, 9)), "mcs-looks-then-empties", "8 is two steps"),
    mutant(mcs(queue_lock::Fault::NoCompareSwap), THREE, Some((ORDER_FIRST, 8)), "mcs-without-compare-and-swap", "leaves as the lock without compare-and-swap does"),
    // mcs-swap
    mutant(mcs_swap(queue_lock::Fault::NoOne), THREE, Some((STUCK, 15)), "mcs-swap-without-1", "1 dropped: finds the follower of an earlier passage"),
    mutant(mcs_swap(queue_lock::Fault::TwoSplit), TWO, Some((MUTEX, 6)), "mcs-swap-reads-then-writes-tail", "2 is two steps"),
    mutant(mcs_swap(queue_lock::Fault::LinksFirst), TWO, Some((STUCK, 8)), "mcs-swap-4-before-3", "links itself before it says that it has to wait: unlocked too early, it waits for ever"),
    mutant(mcs_swap(queue_lock::Fault::NoThree), TWO, Some((MUTEX, 6)), "mcs-swap-without-3", "3 dropped: does not say that it has to wait"),
    mutant(mcs_swap(queue_lock::Fault::NoFive), TWO, Some((MUTEX, 6)), "mcs-swap-without-5", "5 dropped: enters without waiting"),
    mutant(mcs_swap(queue_lock::Fault::NoNine), TWO, Some((STUCK, 9)), "mcs-swap-without-9", "9 dropped: leaves although somebody is about to link itself"),
    mutant(mcs_swap(queue_lock::Fault::NoTen), TWO, Some((STUCK, 7)), "mcs-swap-without-10", "10 dropped: unlocks nobody"),
    mutant(mcs_swap(queue_lock::Fault::StartsTaken), TWO, Some((STUCK, 4)), "mcs-swap-starts-taken", "the list is not empty at the beginning"),
    mutant(mcs_swap(queue_lock::Fault::NeverPutsBack), THREE, Some((MUTEX, 13)), "mcs-swap-never-puts-back", "81 dropped: the list stays empty though some wait"),
    mutant(mcs_swap(queue_lock::Fault::NeverLooksForUsurpers), THREE, Some((MUTEX, 14)), "mcs-swap-never-looks-for-usurpers", "unlocks its follower although a usurper is inside"),
    // lamport-fast
    mutant(Text::LamportFast(lamport_fast::Fault::NoOne), TWO, Some((MUTEX, 11)), "lamport-fast-without-1", "1 dropped: never says that it is on its way"),
    mutant(Text::LamportFast(lamport_fast::Fault::ThreeBeforeTwo), TWO, Some((MUTEX, 10)), "lamport-fast-3-before-2", "looks at y before it signs x"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoThree), TWO, Some((MUTEX, 8)), "lamport-fast-without-3", "3 dropped: does not look whether y is signed"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoFour), TWO, Some((STUCK, 9)), "lamport-fast-without-4", "4 dropped: does not withdraw while it waits for y"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoFive), TWO, Some((MUTEX, 9)), "lamport-fast-without-5", "5 dropped: enters where it should wait for y"),
    mutant(Text::LamportFast(lamport_fast::Fault::SevenBeforeSix), TWO, Some((MUTEX, 10)), "lamport-fast-7-before-6", "looks at x before it signs y"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoSeven), TWO, Some((MUTEX, 8)), "lamport-fast-without-7", "7 dropped: always takes the short way"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoEight), THREE, Some((STUCK, 14)), "lamport-fast-without-8", "8 dropped: does not withdraw before it waits for others"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoNine), TWO, Some((MUTEX, 12)), "lamport-fast-without-9", "9 dropped: does not wait for who may be on the short way"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoTen), TWO, Some((MUTEX, 19)), "lamport-fast-without-10", "10 dropped: enters whoever signed y last"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoThirteen), TWO, Some((STUCK, 10)), "lamport-fast-without-13", "13 dropped: leaves y signed"),
    mutant(Text::LamportFast(lamport_fast::Fault::NoFourteen), TWO, Some((STUCK, 12)), "lamport-fast-without-14", "14 dropped: seems to be on its way for ever"),
    mutant(Text::LamportFast(lamport_fast::Fault::StartsTaken), TWO, Some((STUCK, 4)), "lamport-fast-starts-taken", "y is signed from the beginning"),
    mutant(Text::LamportFast(lamport_fast::Fault::WaitsToLeave), TWO, Some((LEAVES, 10)), "lamport-fast-waits-to-leave", "13 waits until the next one is not on its way"),
    // peterson-fischer
    mutant(Text::PetersonFischer(peterson_fischer::Fault::NoOne), TWO, Some((MUTEX, 17)), "peterson-fischer-without-1", "1 dropped: does not look before it shows a sign"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::LooksOnce), TWO, Some((MUTEX, 6)), "peterson-fischer-looks-once", "3 and 4 dropped: does not see a rival that came meanwhile"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::NoFour), TWO, Some((STUCK, 6)), "peterson-fischer-without-4", "4 dropped: knows what it should show, and does not"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::NoFive), TWO, Some((MUTEX, 7)), "peterson-fischer-without-5", "5 dropped: enters without waiting"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::BothTheSame), TWO, Some((STUCK, 7)), "peterson-fischer-both-the-same", "process 1 gives way as process 0 does"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::WaitsForNobody), TWO, Some((STUCK, 3)), "peterson-fischer-waits-for-nobody", "5 waits for a rival that does not compete"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::WaitsForItself), TWO, Some((STUCK, 3)), "peterson-fischer-waits-for-itself", "5 looks at its own sign"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::NoSeven), TWO, Some((STUCK, 9)), "peterson-fischer-without-7", "7 dropped: competes for ever"),
    mutant(Text::PetersonFischer(peterson_fischer::Fault::WaitsToLeave), TWO, Some((STUCK, 9)), "peterson-fischer-waits-to-leave", "7 waits until the rival does not compete"),
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
    // ya-tree
    mutant(ya_tree(arbitration_tree::Fault::LeafFirst), THREE, Some((MUTEX, 23)), "ya-tree-exits-from-the-leaf", "the exit goes from the leaf to the root"),
    mutant(ya_tree(arbitration_tree::Fault::NoRoot), THREE, Some((MUTEX, 5)), "ya-tree-without-root", "nobody competes at the root"),
    mutant(ya_tree(arbitration_tree::Fault::NoLeaf), THREE, Some((MUTEX, 8)), "ya-tree-without-leaves", "nobody competes at the lowest level"),
    mutant(ya_tree(arbitration_tree::Fault::OneSpin), THREE, Some((STUCK, 26)), "ya-tree-one-spin-location", "one spin location for all levels"),
    mutant(ya_tree(arbitration_tree::Fault::AllLeft), TWO, Some((MUTEX, 8)), "ya-tree-all-on-the-left", "everybody comes to the left side"),
    mutant(ya_tree(arbitration_tree::Fault::NoLeave), THREE, Some((STUCK, 17)), "ya-tree-leaves-the-root-only", "the exit ends at the root"),
    mutant(in_tree(two_process::Fault::ThirteenBeforeTwelve), TWO, Some((STUCK, 13)), "ya-tree-13-before-12", "looks at T before it frees the way"),
    mutant(in_tree(two_process::Fault::FourBeforeOne), TWO, Some((MUTEX, 8)), "ya-tree-4-before-1", "looks for a rival before it announces itself"),
    mutant(in_tree(two_process::Fault::FourBeforeTwo), TWO, Some((MUTEX, 9)), "ya-tree-4-before-2", "looks for a rival before it signs T"),
    mutant(in_tree(two_process::Fault::FourBeforeThree), TWO, Some((STUCK, 14)), "ya-tree-4-before-3", "looks for a rival before it forgets old signals"),
    mutant(in_tree(two_process::Fault::NoThree), TWO, Some((MUTEX, 23)), "ya-tree-without-3", "3 dropped: old signals are never forgotten"),
    mutant(in_tree(two_process::Fault::NoSeven), TWO, Some((STUCK, 10)), "ya-tree-without-7", "6 and 7 dropped: never tells that T is signed"),
    mutant(in_tree(two_process::Fault::NoEight), TWO, Some((STUCK, 16)), "ya-tree-without-8", "8 dropped: does not wait until T is settled"),
    mutant(in_tree(two_process::Fault::NoNine), TWO, Some((STUCK, 15)), "ya-tree-without-9", "9 dropped: waits at 10 whoever signed last"),
    mutant(in_tree(two_process::Fault::NoTen), TWO, Some((MUTEX, 18)), "ya-tree-without-10", "10 dropped: enters although the rival is inside"),
    mutant(in_tree(two_process::Fault::NoFourteen), TWO, Some((STUCK, 13)), "ya-tree-without-14", "14 dropped: never says that it has left"),
    mutant(in_tree(two_process::Fault::NoTwo), TWO, Some((MUTEX, 7)), "ya-tree-without-2", "2 dropped: nobody signs T"),
    mutant(in_tree(two_process::Fault::NoSix), TWO, Some((STUCK, 21)), "ya-tree-without-6", "6 dropped: 7 overwrites what it finds"),
    mutant(in_tree(two_process::Fault::NoTwelve), TWO, Some((STUCK, 12)), "ya-tree-without-12", "12 dropped: never stops competing"),
    mutant(in_tree(two_process::Fault::AlwaysWaits), TWO, Some((STUCK, 7)), "ya-tree-always-waits", "4, 5 and 9 decide nothing: always waits to be released"),
    mutant(in_tree(two_process::Fault::WaitsToLeave), TWO, Some((STUCK, 12)), "ya-tree-waits-to-leave", "12 waits until the rival does not compete"),
    // ya-fast
    mutant(ya_fast(ya_fast::Fault::TwoBeforeOne), TWO, Some((MUTEX, 22)), "ya-fast-2-before-1", "looks whether the path is open before it signs X"),
    mutant(ya_fast(ya_fast::Fault::FourBeforeThree), TWO, Some((MUTEX, 22)), "ya-fast-4-before-3", "looks whether it signed X last before it closes the path"),
    mutant(ya_fast(ya_fast::Fault::SixBeforeFive), TWO, Some((MUTEX, 42)), "ya-fast-6-before-5", "looks at Z before it sets its B"),
    mutant(ya_fast(ya_fast::Fault::NoSix), TWO, Some((MUTEX, 40)), "ya-fast-without-6", "6 dropped: does not look at Z"),
    mutant(ya_fast(ya_fast::Fault::NoSeven), TWO, Some((MUTEX, 40)), "ya-fast-without-7", "7 dropped: does not look at Y again"),
    mutant(ya_fast(ya_fast::Fault::EightBeforeTheTop), TWO, Some((MUTEX, 36)), "ya-fast-8-before-the-top", "opens the path before it leaves the top"),
    mutant(ya_fast(ya_fast::Fault::NoNine), TWO, HOLDS, "ya-fast-without-9", "9 dropped: leaves with its B set, and nobody opens the path again"),
    mutant(ya_fast(ya_fast::Fault::NoTwentyTwo), TWO, HOLDS, "ya-fast-without-22", "22 dropped: whoever goes slow tries to open the path"),
    mutant(ya_fast(ya_fast::Fault::ScanBeforeZ), TWO, Some((MUTEX, 42)), "ya-fast-24-before-23", "looks at everybody before it raises Z"),
    mutant(ya_fast(ya_fast::Fault::NoScan), TWO, Some((MUTEX, 41)), "ya-fast-without-24", "24 dropped: opens the path whoever is on it"),
    mutant(ya_fast(ya_fast::Fault::NoTwentySeven), TWO, HOLDS, "ya-fast-without-27", "27 dropped: Z stays raised, and nobody goes fast again"),
    mutant(ya_fast(ya_fast::Fault::OpensAfterTheTop), TWO, HOLDS, "ya-fast-opens-after-the-top", "21 to 27 after it has left the top, before the tree"),
    mutant(ya_fast(ya_fast::Fault::OpensAfterTheTree), TWO, Some((MUTEX, 80)), "ya-fast-opens-after-the-tree", "21 to 27 last of all"),
    mutant(ya_fast(ya_fast::Fault::NeverOpens), TWO, HOLDS, "ya-fast-never-opens", "22 to 27 dropped: a path that is closed stays so"),
    mutant(ya_fast(ya_fast::Fault::NoTree), TWO, Some((MUTEX, 14)), "ya-fast-without-tree", "who goes slow does so without the tree"),
    mutant(ya_fast(ya_fast::Fault::NoTop), TWO, Some((MUTEX, 13)), "ya-fast-without-top", "nobody competes at the top"),
    mutant(ya_fast(ya_fast::Fault::WaitsToLeave), TWO, Some((STUCK, 25)), "ya-fast-waits-to-leave", "the exit waits until the next one has not set its B"),
    mutant(in_fast(two_process::Fault::FourBeforeOne), TWO, Some((MUTEX, 21)), "ya-fast-node-4-before-1", "looks for a rival before it announces itself"),
    mutant(in_fast(two_process::Fault::NoThree), TWO, Some((MUTEX, 53)), "ya-fast-node-without-3", "3 dropped: old signals are never forgotten"),
    mutant(in_fast(two_process::Fault::NoSeven), TWO, Some((STUCK, 16)), "ya-fast-node-without-7", "6 and 7 dropped: never tells that T is signed"),
    mutant(in_fast(two_process::Fault::NoEight), TWO, Some((STUCK, 22)), "ya-fast-node-without-8", "8 dropped: does not wait until T is settled"),
    mutant(in_fast(two_process::Fault::NoSix), TWO, Some((STUCK, 37)), "ya-fast-node-without-6", "6 dropped: 7 overwrites what it finds"),
    mutant(in_fast(two_process::Fault::NoTwelve), TWO, Some((STUCK, 25)), "ya-fast-node-without-12", "12 dropped: never stops competing"),
    mutant(in_fast(two_process::Fault::AlwaysWaits), TWO, Some((STUCK, 14)), "ya-fast-node-always-waits", "4, 5 and 9 decide nothing: always waits to be released"),
    // dgs, dgs-unfair, dgs-as-printed
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::WBeforeF)), TWO, HOLDS, "dgs-w-before-f", "forks are read in the wrong order: first whether, then by whom it is used").on_safe_bits(),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::TakesItsOwn)), TWO, Some(("livelock-free", 36)), "dgs-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::TakesWhatIsInUse)), TWO, Some((K_EXCLUSION, 46)), "dgs-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::FlipsFirst)), TWO, Some((K_EXCLUSION, 46)), "dgs-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::NeverFlips)), TWO, Some((K_EXCLUSION, 21)), "dgs-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::NeverOffers)), TWO, Some((K_EXCLUSION, 19)), "dgs-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::OffersToThirdOnly)), TWO, Some((STUCK, 22)), "dgs-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(dgs(dgs::Fault::Fork(dgs_fork::Fault::ForgetsToNote)), TWO, Some((K_EXCLUSION, 23)), "dgs-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(dgs(dgs::Fault::NeverYields), TWO, Some((K_EXCLUSION, 15)), "dgs-never-yields", "2 dropped: arrives without yielding to anybody"),
    mutant(dgs(dgs::Fault::YieldsFirst), TWO, Some((K_EXCLUSION, 29)), "dgs-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(dgs(dgs::Fault::MovesAfterReach), TWO, Some((K_EXCLUSION, 37)), "dgs-moves-after-reach", "yields once more between Reach and the critical section"),
    mutant(dgs(dgs::Fault::KeepsTheGraphRule), TWO, Some((STARVES, 93)), "dgs-keeps-the-graph-rule", "5 also yields to whom it sees in its remainder"),
    mutant(dgs(dgs::Fault::NeverUpdatesGraph), TWO, HOLDS, "dgs-never-updates-graph", "5 dropped: yields to nobody but on arrival").on_safe_bits(),
    mutant(dgs(dgs::Fault::NeverUpdatesRange), TWO, HOLDS, "dgs-never-updates-range", "7 dropped").on_safe_bits(),
    mutant(dgs(dgs::Fault::ReachesEverybody), TWO, Some((STUCK, 2)), "dgs-reaches-everybody", "6 takes everybody to be outside its remainder"),
    mutant(dgs(dgs::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 29)), "dgs-one-too-many", "enters although it reaches l + 1"),
    mutant(dgs(dgs::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "dgs-one-too-few", "enters only if it reaches fewer than l"),
    mutant(dgs(dgs::Fault::XBeforeIds), TWO, HOLDS, "dgs-x-before-ids", "11 before 10: is in its remainder before it offers its forks").on_safe_bits(),
    mutant(dgs(dgs::Fault::NeverClearsX), TWO, Some((STUCK, 30)), "dgs-never-clears-x", "11 leaves x set"),
    mutant(dgs(dgs::Fault::NeverOffersIds), TWO, Some((STARVES, 69)), "dgs-never-offers-ids", "10 dropped: ids never shrink"),
    mutant(dgs(dgs::Fault::CountsTheOtherEnd), TWO, Some((STARVES, 91)), "dgs-counts-the-other-end", "4 counts a fork for the mutator that has it not"),
    mutant(dgs(dgs::Fault::MixesRounds), TWO, HOLDS, "dgs-mixes-rounds", "4 compares an own id from before 3 with the others' from after").on_safe_bits(),
    mutant(dgs(dgs::Fault::WaitsToLeave), TWO, Some((STUCK, 25)), "dgs-waits-to-leave", "10 waits until the next one is in its remainder"),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::WBeforeF)), TWO, HOLDS, "dgs-unfair-w-before-f", "forks are read in the wrong order: first whether, then by whom it is used").on_safe_bits(),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::TakesItsOwn)), TWO, Some(("livelock-free", 27)), "dgs-unfair-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::TakesWhatIsInUse)), TWO, Some((K_EXCLUSION, 36)), "dgs-unfair-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::FlipsFirst)), TWO, Some((K_EXCLUSION, 36)), "dgs-unfair-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::NeverFlips)), TWO, Some((K_EXCLUSION, 15)), "dgs-unfair-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::NeverOffers)), TWO, Some((K_EXCLUSION, 12)), "dgs-unfair-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::OffersToThirdOnly)), TWO, Some((STUCK, 17)), "dgs-unfair-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(dgs_unfair(dgs::Fault::Fork(dgs_fork::Fault::ForgetsToNote)), TWO, Some((K_EXCLUSION, 14)), "dgs-unfair-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(dgs_unfair(dgs::Fault::NeverYields), TWO, Some((K_EXCLUSION, 8)), "dgs-unfair-never-yields", "2 dropped: arrives without yielding to anybody"),
    mutant(dgs_unfair(dgs::Fault::YieldsFirst), TWO, Some((K_EXCLUSION, 22)), "dgs-unfair-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(dgs_unfair(dgs::Fault::MovesAfterReach), TWO, Some((K_EXCLUSION, 30)), "dgs-unfair-moves-after-reach", "yields once more between Reach and the critical section"),
    mutant(dgs_unfair(dgs::Fault::KeepsTheGraphRule), TWO, Some(("largest-id-enters", 102)), "dgs-unfair-keeps-the-graph-rule", "5 also yields to whom it sees in its remainder"),
    mutant(dgs_unfair(dgs::Fault::NeverUpdatesGraph), TWO, HOLDS, "dgs-unfair-never-updates-graph", "5 dropped: yields to nobody but on arrival").on_safe_bits(),
    mutant(dgs_unfair(dgs::Fault::NeverUpdatesRange), TWO, HOLDS, "dgs-unfair-never-updates-range", "7 dropped").on_safe_bits(),
    mutant(dgs_unfair(dgs::Fault::YieldsToAllBelow), TWO, Some(("largest-id-enters", 84)), "dgs-unfair-yields-to-the-smaller", "5 yields to the smaller ids"),
    mutant(dgs_unfair(dgs::Fault::ReachesEverybody), TWO, Some((STUCK, 2)), "dgs-unfair-reaches-everybody", "6 takes everybody to be outside its remainder"),
    mutant(dgs_unfair(dgs::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 22)), "dgs-unfair-one-too-many", "enters although it reaches l + 1"),
    mutant(dgs_unfair(dgs::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "dgs-unfair-one-too-few", "enters only if it reaches fewer than l"),
    mutant(dgs_unfair(dgs::Fault::NeverClearsX), TWO, Some((STUCK, 20)), "dgs-unfair-never-clears-x", "11 leaves x set"),
    mutant(dgs_unfair(dgs::Fault::WaitsToLeave), TWO, Some((STUCK, 20)), "dgs-unfair-waits-to-leave", "10 waits until the next one is in its remainder"),
    mutant(dgs_unfair(dgs::Fault::NeverUpdatesRange), THREE_TWO, Some(("livelock-free", 110)), "dgs-unfair-figure-3", "7 dropped: the paper's Figure 3").on_safe_bits().crashing(1).shown_by("dw1/mutant:dgs-unfair-figure-3/3,2/-/c1/safe/livelock-free/1x15.0x15.2x26.0c.1x24.2x8.1x13.2x8@89/ce9ec331"),
    mutant(DGS_UNFAIR_AS_PRINTED, (5, 3, None), Some(("livelock-free", 1179)), "dgs-unfair-as-printed", "to the letter, Reach twice in a turn: the paper's Figure 4").on_safe_bits().crashing(2).shown_by("dw1/mutant:dgs-unfair-as-printed/5,3/-/c2/safe/livelock-free/0x6.2x28.3x39.4x50.1x50.4x131.0x14.0c.1x43.1c.2x67.2s0.2x29.2s0.2x18.2s0.2x18.2s0.2x29.2s1.3x45.3s0.3x33.3s0.3x22.3s0.3x22.3s0.3x33.3s1.3x6.4x17.4s0.4x20.4s0.4x20.4s0.4x20.4s0.4x20.4s1.4x12.2x46.2s0.2x18.2s0.2x18.2s0.2x18.2s0.2x18.2s1.3x34.3s0.3x22.3s0.3x22.3s0.3x22.3s0.3x22.3s1.3x6.4x17.4s0.4x20.4s0.4x20.4s0.4x20.4s0.4x20.4s1.4x12@809/5804d0a1"),
    mutant(DGS_UNFAIR_AS_PRINTED, THREE_TWO, Some(("livelock-free", 361)), "dgs-unfair-as-printed-dies-leaving", "to the letter, x read twice in 7").on_safe_bits().crashing(1).shown_by("dw1/mutant:dgs-unfair-as-printed-dies-leaving/3,2/-/c1/safe/livelock-free/2x63.2c.0x15.1x26.0x17.0s1x2.0x6.0s0.0x3.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2.0x17.0s1x2.0x6.0s0.0x14.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2.0x17.0s1x2.0x6.0s0.0x14.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2@183/44e62318"),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::TakesItsOwn)), TWO, Some(("livelock-free", 49)), "dgs-as-printed-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::TakesWhatIsInUse)), TWO, Some((K_EXCLUSION, 55)), "dgs-as-printed-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::FlipsFirst)), TWO, Some((K_EXCLUSION, 55)), "dgs-as-printed-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::NeverFlips)), TWO, Some((K_EXCLUSION, 30)), "dgs-as-printed-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::NeverOffers)), TWO, Some((K_EXCLUSION, 26)), "dgs-as-printed-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::OffersToThirdOnly)), TWO, Some((STUCK, 23)), "dgs-as-printed-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(dgs_as_printed(dgs::Fault::Fork(dgs_fork::Fault::ForgetsToNote)), TWO, Some((K_EXCLUSION, 32)), "dgs-as-printed-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(dgs_as_printed(dgs::Fault::NeverYields), TWO, Some((K_EXCLUSION, 24)), "dgs-as-printed-never-yields", "2 dropped: arrives without yielding to anybody"),
    mutant(dgs_as_printed(dgs::Fault::YieldsFirst), TWO, Some((K_EXCLUSION, 38)), "dgs-as-printed-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(dgs_as_printed(dgs::Fault::ReachesEverybody), TWO, Some((STUCK, 2)), "dgs-as-printed-reaches-everybody", "6 takes everybody to be outside its remainder"),
    mutant(dgs_as_printed(dgs::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 36)), "dgs-as-printed-one-too-many", "enters although it reaches l + 1"),
    mutant(dgs_as_printed(dgs::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "dgs-as-printed-one-too-few", "enters only if it reaches fewer than l"),
    mutant(dgs_as_printed(dgs::Fault::NeverClearsX), TWO, Some((STUCK, 35)), "dgs-as-printed-never-clears-x", "11 leaves x set"),
    mutant(dgs_as_printed(dgs::Fault::WaitsToLeave), TWO, Some((STUCK, 29)), "dgs-as-printed-waits-to-leave", "10 waits until the next one is in its remainder"),
    // am-queue
    mutant(Text::Queue(queue::Fault::NoEnqueue), TWO, Some((K_EXCLUSION, 3)), "am-queue-does-not-enqueue", "1 does not enqueue: whoever finds no place goes in"),
    mutant(Text::Queue(queue::Fault::OneSplit), TWO, Some((STUCK, 4)), "am-queue-splits-1", "1 is two steps: counts, then enqueues"),
    mutant(Text::Queue(queue::Fault::NoDequeue), TWO, Some((STUCK, 3)), "am-queue-does-not-dequeue", "3 lets nobody out of the queue"),
    mutant(Text::Queue(queue::Fault::DequeuesAll), THREE, Some((K_EXCLUSION, 6)), "am-queue-dequeues-everybody", "3 lets everybody out of the queue"),
    mutant(Text::Queue(queue::Fault::LastInFirstOut), THREE, Some((ORDER, 5)), "am-queue-is-a-stack", "3 lets out who came last"),
    mutant(Text::Queue(queue::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 2)), "am-queue-one-too-many", "X starts one too high"),
    mutant(Text::Queue(queue::Fault::OneTooFew), THREE_TWO, Some((TOO_FEW, 0)), "am-queue-one-too-few", "X starts one too low"),
    mutant(Text::Queue(queue::Fault::WaitsToLeave), TWO, Some((LEAVES, 6)), "am-queue-waits-to-leave", "after 3, waits until nobody is inside"),
    // am-chain
    mutant(cc(Whole::Chain, cc_slot::Fault::FourBeforeThree), TWO, Some((STUCK, 6)), "am-chain-swaps-3-and-4", "looks at X before it announces itself (a missing fence)"),
    mutant(cc(Whole::Chain, cc_slot::Fault::SevenBeforeSix), TWO, Some((STUCK, 6)), "am-chain-swaps-6-and-7", "wakes before it frees the slot"),
    mutant(cc(Whole::Chain, cc_slot::Fault::NoThree), TWO, Some((K_EXCLUSION, 4)), "am-chain-without-3", "3 dropped: waits unannounced"),
    mutant(cc(Whole::Chain, cc_slot::Fault::NoFour), TWO, Some((STUCK, 5)), "am-chain-without-4", "4 dropped: waits without looking again"),
    mutant(cc(Whole::Chain, cc_slot::Fault::FourAtMostZero), TWO, Some((STUCK, 6)), "am-chain-4-tests-at-most-zero", "4 tests X <= 0"),
    mutant(cc(Whole::Chain, cc_slot::Fault::NoSeven), TWO, Some((STUCK, 5)), "am-chain-without-7", "7 dropped: wakes nobody"),
    mutant(cc(Whole::Chain, cc_slot::Fault::TwoBelowZero), TWO, Some((K_EXCLUSION, 2)), "am-chain-2-tests-below-zero", "2 tests old < 0"),
    mutant(cc(Whole::Chain, cc_slot::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 2)), "am-chain-one-too-many", "X starts one too high"),
    mutant(cc(Whole::Chain, cc_slot::Fault::OneTooFew), TWO, Some((STUCK, 3)), "am-chain-one-too-few", "X starts one too low"),
    mutant(cc(Whole::Chain, cc_slot::Fault::SevenNamesP0), THREE, Some((STUCK, 10)), "am-chain-7-names-p0", "7 writes the name p0 whoever leaves"),
    mutant(around(Whole::Chain, CC, Around::Chain(chain::Fault::OutermostFirst)), THREE, Some((K_EXCLUSION, 13)), "am-chain-exits-outermost-first", "leaves the slots in the order of entry"),
    mutant(around(Whole::Chain, CC, Around::Chain(chain::Fault::ASlotTooMany)), THREE_TWO, Some((TOO_FEW, 0)), "am-chain-has-a-slot-too-many", "slot k-1 added: lets k-1 in"),
    mutant(around(Whole::Chain, CC, Around::Chain(chain::Fault::LacksASlot)), THREE, Some((K_EXCLUSION, 3)), "am-chain-lacks-a-slot", "slot N-1 left out"),
    mutant(cc(Whole::Chain, cc_slot::Fault::WaitsToLeave), TWO, Some((STUCK, 3)), "am-chain-waits-to-leave", "after 7, waits until somebody else writes Q"),
    mutant(cc(Whole::Chain, cc_slot::Fault::SevenIfAnother), THREE, HOLDS, "am-chain-7-only-if-another", "7 writes only if Q is another's (one read more)"),
    // am-tree
    mutant(around(Whole::Tree, CC, Around::Tree(tree::Fault::LeafFirst)), THREE, Some((K_EXCLUSION, 12)), "am-tree-exits-leaf-first", "leaves the blocks in the order of entry"),
    mutant(around(Whole::Tree, CC, Around::Tree(tree::Fault::NoRoot)), THREE, Some((K_EXCLUSION, 2)), "am-tree-skips-the-root", "the last block is not entered"),
    mutant(around(Whole::Tree, CC, Around::Tree(tree::Fault::NoLeaf)), THREE, Some((K_EXCLUSION, 3)), "am-tree-skips-the-leaf", "the first block is not entered"),
    mutant(around(Whole::Tree, CC, Around::Tree(tree::Fault::CrowdedLeaf)), THREE, Some((K_EXCLUSION, 3)), "am-tree-crowds-a-leaf", "2k+1 processes share a leaf that is made for 2k"),
    mutant(around(Whole::Tree, CC, Around::Chain(chain::Fault::ASlotTooMany)), THREE_TWO, Some((TOO_FEW, 0)), "am-tree-has-a-slot-too-many", "slot k-1 added to each block: lets k-1 in"),
    mutant(cc(Whole::Tree, cc_slot::Fault::SevenBeforeSix), THREE, Some((STUCK, 7)), "am-tree-swaps-6-and-7-in-its-slots", "in its blocks, wakes before it frees the slot"),
    mutant(cc(Whole::Tree, cc_slot::Fault::NoThree), THREE, Some((K_EXCLUSION, 5)), "am-tree-without-3-in-its-slots", "in its blocks, 3 dropped: waits unannounced"),
    mutant(cc(Whole::Tree, cc_slot::Fault::OneTooMany), THREE, Some((K_EXCLUSION, 3)), "am-tree-one-too-many-in-its-slots", "in its blocks, X starts one too high"),
    mutant(cc(Whole::Tree, cc_slot::Fault::OneTooFew), THREE, Some((STUCK, 3)), "am-tree-one-too-few-in-its-slots", "in its blocks, X starts one too low"),
    mutant(cc(Whole::Tree, cc_slot::Fault::SevenNamesP0), THREE_TWO, Some((STUCK, 9)), "am-tree-7-names-p0-in-its-slots", "in its blocks, 7 writes the name p0"),
    mutant(cc(Whole::Tree, cc_slot::Fault::WaitsToLeave), THREE, Some((STUCK, 3)), "am-tree-waits-to-leave-its-slots", "in its blocks, after 7, waits until somebody else writes Q"),
    // am-fast
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::AsPrinted)), THREE, Some((K_EXCLUSION, 7)), "am-fast-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::NeverRestores)), THREE, Some((K_EXCLUSION, 24)), "am-fast-never-restores", "<= 0 is slow, only the fast increment at 9, slow path sized N-k"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::UndoesAtOnce)), THREE, Some((K_EXCLUSION, 26)), "am-fast-undoes-at-once", "<= 0 is slow and undone at once, slow path sized N-k"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::SlowTooSmall)), THREE, Some((K_EXCLUSION, 25)), "am-fast-slow-path-too-small", "as shipped, but the slow path sized N-k"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::PlaceFirst)), THREE, Some((K_EXCLUSION, 13)), "am-fast-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Fast, CC, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-fast-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(cc(Whole::Fast, cc_slot::Fault::SevenBeforeSix), THREE, Some((STUCK, 10)), "am-fast-swaps-6-and-7-in-its-slots", "in block and slow path, wakes before it frees the slot"),
    mutant(cc(Whole::Fast, cc_slot::Fault::OneTooFew), THREE, Some((STUCK, 4)), "am-fast-one-too-few-in-its-slots", "in block and slow path, X starts one too low"),
    mutant(cc(Whole::Fast, cc_slot::Fault::SevenNamesP0), THREE_TWO, Some((STUCK, 15)), "am-fast-7-names-p0-in-its-slots", "in block and slow path, 7 writes the name p0"),
    mutant(cc(Whole::Fast, cc_slot::Fault::WaitsToLeave), THREE, Some((STUCK, 4)), "am-fast-waits-to-leave-its-slots", "in block and slow path, after 7, waits until somebody else writes Q"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::UndoesAtOnceSizedN)), THREE, HOLDS, "am-fast-undoes-at-once-sized-n", "<= 0 is slow and undone at once, slow path sized N"),
    mutant(around(Whole::Fast, CC, Around::FastPath(fast_path::Fault::Exact)), THREE, HOLDS, "am-fast-on-bounded-decrement", "the figure as printed, on the footnote's instruction"),
    // am-graceful
    mutant(around(Whole::Graceful, CC, Around::Nested(nested::Fault::AsPrinted)), THREE, Some((K_EXCLUSION, 7)), "am-graceful-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Graceful, CC, Around::Nested(nested::Fault::EveryExitIncrements)), THREE, Some((K_EXCLUSION, 25)), "am-graceful-every-exit-increments", "am-fast's repair, nested: <= 0 is slow, every exit increments"),
    mutant(around(Whole::Graceful, CC, Around::Nested(nested::Fault::PlaceFirst)), THREE, Some((K_EXCLUSION, 13)), "am-graceful-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Graceful, CC, Around::Nested(nested::Fault::OutermostBlockFirst)), THREE, Some((K_EXCLUSION, 7)), "am-graceful-takes-the-outermost-block-first", "5 from the outermost depth inwards"),
    mutant(around(Whole::Graceful, CC, Around::Nested(nested::Fault::OneTooMany)), THREE, Some((K_EXCLUSION, 7)), "am-graceful-has-a-place-too-many", "X of each depth starts one too high"),
    mutant(around(Whole::Graceful, CC, Around::Chain(chain::Fault::ASlotTooMany)), THREE_TWO, Some((TOO_FEW, 0)), "am-graceful-has-a-slot-too-many", "slot k-1 added to each block: lets k-1 in"),
    mutant(cc(Whole::Graceful, cc_slot::Fault::SevenBeforeSix), THREE, Some((STUCK, 10)), "am-graceful-swaps-6-and-7-in-its-slots", "in its blocks, wakes before it frees the slot"),
    mutant(cc(Whole::Graceful, cc_slot::Fault::OneTooFew), THREE, Some((STUCK, 4)), "am-graceful-one-too-few-in-its-slots", "in its blocks, X starts one too low"),
    mutant(cc(Whole::Graceful, cc_slot::Fault::SevenNamesP0), THREE_TWO, Some((STUCK, 9)), "am-graceful-7-names-p0-in-its-slots", "in its blocks, 7 writes the name p0"),
    mutant(cc(Whole::Graceful, cc_slot::Fault::WaitsToLeave), THREE, Some((STUCK, 4)), "am-graceful-waits-to-leave-its-slots", "in its blocks, after 7, waits until somebody else writes Q"),
    // am-dsm-unbounded
    mutant(unbounded(dsm_unbounded_slot::Fault::OneTooMany, None), TWO_BOUNDED, Some((K_EXCLUSION, 2)), "am-dsm-unbounded-one-too-many", "X starts one too high"),
    mutant(unbounded(dsm_unbounded_slot::Fault::OneTooFew, None), TWO_BOUNDED, Some((STUCK, 6)), "am-dsm-unbounded-one-too-few", "X starts one too low"),
    mutant(unbounded(dsm_unbounded_slot::Fault::NoThree, None), TWO_BOUNDED, Some((K_EXCLUSION, 8)), "am-dsm-unbounded-without-3", "3 dropped: waits at the same location each time"),
    mutant(unbounded(dsm_unbounded_slot::Fault::NoFour, None), TWO_BOUNDED, Some((K_EXCLUSION, 7)), "am-dsm-unbounded-without-4", "4 dropped: waits at a location that may be true from before"),
    mutant(unbounded(dsm_unbounded_slot::Fault::NoSix, None), THREE_TWO_TWICE, Some((STUCK, 21)), "am-dsm-unbounded-without-6", "6 dropped: takes the place of one who waits on"),
    mutant(unbounded(dsm_unbounded_slot::Fault::SevenWrites, None), TWO_BOUNDED, Some((STUCK, 16)), "am-dsm-unbounded-7-writes", "7 writes Q, whoever has come since 5"),
    mutant(unbounded(dsm_unbounded_slot::Fault::EightBeforeSeven, None), TWO_BOUNDED, Some((STUCK, 10)), "am-dsm-unbounded-swaps-7-and-8", "looks at X before it takes the place in Q"),
    mutant(unbounded(dsm_unbounded_slot::Fault::NoEight, None), TWO_BOUNDED, Some((STUCK, 9)), "am-dsm-unbounded-without-8", "8 dropped: waits without looking again"),
    mutant(unbounded(dsm_unbounded_slot::Fault::ElevenBeforeTen, None), TWO_BOUNDED, Some((STUCK, 10)), "am-dsm-unbounded-swaps-10-and-11", "looks whom to release before it frees the slot"),
    mutant(unbounded(dsm_unbounded_slot::Fault::NoTwelve, None), TWO_BOUNDED, Some((STUCK, 9)), "am-dsm-unbounded-without-12", "12 dropped: releases nobody"),
    mutant(unbounded(dsm_unbounded_slot::Fault::TwelveWritesFalse, None), THREE_TWO_TWICE, Some((STUCK, 14)), "am-dsm-unbounded-12-writes-false", "12 makes the one it finds wait on"),
    mutant(unbounded(dsm_unbounded_slot::Fault::WaitsToLeave, None), TWO_BOUNDED, Some((STUCK, 4)), "am-dsm-unbounded-waits-to-leave", "after 12, waits until another place is in Q"),
    mutant(unbounded(dsm_unbounded_slot::Fault::None, Some(chain::Fault::OutermostFirst)), THREE_TWICE, Some((K_EXCLUSION, 18)), "am-dsm-unbounded-exits-outermost-first", "leaves the slots in the order of entry"),
    mutant(unbounded(dsm_unbounded_slot::Fault::None, Some(chain::Fault::ASlotTooMany)), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "am-dsm-unbounded-has-a-slot-too-many", "slot k-1 added: lets k-1 in"),
    mutant(unbounded(dsm_unbounded_slot::Fault::None, Some(chain::Fault::LacksASlot)), THREE_ONCE, Some((K_EXCLUSION, 3)), "am-dsm-unbounded-lacks-a-slot", "slot N-1 left out"),
    // am-dsm-chain
    mutant(dsm(Whole::Chain, dsm_slot::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 2)), "am-dsm-chain-one-too-many", "X starts one too high"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::OneTooFew), TWO, Some((STUCK, 9)), "am-dsm-chain-one-too-few", "X starts one too low"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::ThreeTakesLast), TWO, Some((K_EXCLUSION, 12)), "am-dsm-chain-3-takes-the-last", "3 begins with the location that may be in Q"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoSix), TWO, Some((K_EXCLUSION, 53)), "am-dsm-chain-without-6", "6 dropped: waits at a location that may be true from before"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoTen), THREE_TWO_TWICE, Some((STUCK, 35)), "am-dsm-chain-without-10", "10 dropped: takes the place of one who waits on"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::ElevenWrites), TWO, Some((STUCK, 25)), "am-dsm-chain-11-writes", "11 writes Q, whoever has come since 9"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoTwelve), TWO, Some((K_EXCLUSION, 34)), "am-dsm-chain-without-12", "12 dropped: forgets which location may be in Q"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::ThirteenBeforeEleven), TWO, Some((STUCK, 15)), "am-dsm-chain-swaps-11-and-13", "looks at X before it takes the place in Q"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoThirteen), TWO, Some((STUCK, 14)), "am-dsm-chain-without-13", "13 dropped: waits without looking again"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoEight), TWO, Some((STUCK, 52)), "am-dsm-chain-without-8", "8 dropped: takes back a pin it has not set"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoFifteen), TWO, Some((STUCK, 46)), "am-dsm-chain-without-15", "15 dropped: pins for ever"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::SeventeenBeforeSixteen), TWO, Some((STUCK, 15)), "am-dsm-chain-swaps-16-and-17", "looks whom to release before it frees the slot"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoEighteen), TWO, Some((STUCK, 47)), "am-dsm-chain-without-18", "18 dropped: takes back a pin it has not set"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoTwenty), TWO, Some((STUCK, 15)), "am-dsm-chain-without-20", "20 dropped: releases nobody"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoTwentyOne), TWO, Some((STUCK, 45)), "am-dsm-chain-without-21", "21 dropped: pins for ever"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::WaitsToLeave), TWO, Some((LEAVES, 16)), "am-dsm-chain-waits-to-leave", "after 21, waits until nobody pins the location"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::LocationsTooFew(2)), TWO, Some((K_EXCLUSION, 12)), "am-dsm-chain-two-locations-too-few", "k locations"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NineBeforeEight), THREE_TWO, Some((K_EXCLUSION, 94)), "am-dsm-chain-swaps-8-and-9", "looks at Q again before it pins"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoNine), THREE_TWO, Some((K_EXCLUSION, 89)), "am-dsm-chain-without-9", "9 dropped: does not look at Q again after it has pinned"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoPinsIn), THREE_TWO, Some((K_EXCLUSION, 84)), "am-dsm-chain-without-8-and-15", "8 and 15 dropped: the entry pins nothing"),
    mutant(around(Whole::Chain, DSM, Around::Chain(chain::Fault::OutermostFirst)), THREE_TWICE, Some((K_EXCLUSION, 27)), "am-dsm-chain-exits-outermost-first", "leaves the slots in the order of entry"),
    mutant(around(Whole::Chain, DSM, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-chain-has-a-slot-too-many", "slot k-1 added: lets k-1 in"),
    mutant(around(Whole::Chain, DSM, Around::Chain(chain::Fault::LacksASlot)), THREE_ONCE, Some((K_EXCLUSION, 3)), "am-dsm-chain-lacks-a-slot", "slot N-1 left out"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::TwelveAnyway), TWO, HOLDS, "am-dsm-chain-12-anyway", "12 also if 11 failed: then no location of its own is in Q"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::LocationsTooFew(1)), TWO, HOLDS, "am-dsm-chain-one-location-too-few", "k+1 locations: while the k others all pin old ones, their owner waits"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoNineteen), TWO, HOLDS, "am-dsm-chain-without-19", "19 dropped: nobody comes to 3 while one is at 17 to 21"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoPinsOut), TWO, HOLDS, "am-dsm-chain-without-18-and-21", "18 and 21 dropped: the same"),
    mutant(dsm(Whole::Chain, dsm_slot::Fault::NoPinsNorLookOut), THREE_TWO_TWICE, HOLDS, "am-dsm-chain-without-18-19-and-21", "18, 19 and 21 dropped: the same"),
    // am-dsm-tree
    mutant(around(Whole::Tree, DSM, Around::Tree(tree::Fault::LeafFirst)), THREE_TWICE, Some((K_EXCLUSION, 23)), "am-dsm-tree-exits-leaf-first", "leaves the blocks in the order of entry"),
    mutant(around(Whole::Tree, DSM, Around::Tree(tree::Fault::NoRoot)), THREE_ONCE, Some((K_EXCLUSION, 2)), "am-dsm-tree-skips-the-root", "the last block is not entered"),
    mutant(around(Whole::Tree, DSM, Around::Tree(tree::Fault::NoLeaf)), THREE_ONCE, Some((K_EXCLUSION, 3)), "am-dsm-tree-skips-the-leaf", "the first block is not entered"),
    mutant(around(Whole::Tree, DSM, Around::Tree(tree::Fault::CrowdedLeaf)), THREE_ONCE, Some((K_EXCLUSION, 3)), "am-dsm-tree-crowds-a-leaf", "2k+1 processes share a leaf that is made for 2k"),
    mutant(around(Whole::Tree, DSM, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-tree-has-a-slot-too-many", "slot k-1 added to each block: lets k-1 in"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::SeventeenBeforeSixteen), THREE_ONCE, Some((STUCK, 16)), "am-dsm-tree-swaps-16-and-17-in-its-slots", "in its blocks, looks whom to release before it frees the slot"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::ThirteenBeforeEleven), THREE_ONCE, Some((STUCK, 16)), "am-dsm-tree-swaps-11-and-13-in-its-slots", "in its blocks, looks at X before it takes the place in Q"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::ThreeTakesLast), THREE_ONCE, Some((K_EXCLUSION, 13)), "am-dsm-tree-3-takes-the-last-in-its-slots", "in its blocks, 3 begins with the location that may be in Q"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::NoTwenty), THREE_ONCE, Some((STUCK, 16)), "am-dsm-tree-without-20-in-its-slots", "in its blocks, 20 dropped: releases nobody"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::OneTooMany), THREE_ONCE, Some((K_EXCLUSION, 3)), "am-dsm-tree-one-too-many-in-its-slots", "in its blocks, X starts one too high"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::OneTooFew), THREE_ONCE, Some((STUCK, 9)), "am-dsm-tree-one-too-few-in-its-slots", "in its blocks, X starts one too low"),
    mutant(dsm(Whole::Tree, dsm_slot::Fault::WaitsToLeave), THREE_ONCE, Some((LEAVES, 38)), "am-dsm-tree-waits-to-leave-its-slots", "in its blocks, after 21, waits until nobody pins the location"),
    // am-dsm-fast
    mutant(around(Whole::Fast, DSM, Around::FastPath(fast_path::Fault::AsPrinted)), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-fast-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Fast, DSM, Around::FastPath(fast_path::Fault::PlaceFirst)), THREE_TWICE, Some((K_EXCLUSION, 23)), "am-dsm-fast-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Fast, DSM, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-fast-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::SeventeenBeforeSixteen), THREE_ONCE, Some((STUCK, 19)), "am-dsm-fast-swaps-16-and-17-in-its-slots", "in block and slow path, looks whom to release before it frees the slot"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::ThirteenBeforeEleven), THREE_ONCE, Some((STUCK, 19)), "am-dsm-fast-swaps-11-and-13-in-its-slots", "in block and slow path, looks at X before it takes the place in Q"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::ThreeTakesLast), THREE_ONCE, Some((K_EXCLUSION, 15)), "am-dsm-fast-3-takes-the-last-in-its-slots", "in block and slow path, 3 begins with the location that may be in Q"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::NoTwenty), THREE_ONCE, Some((STUCK, 19)), "am-dsm-fast-without-20-in-its-slots", "in block and slow path, 20 dropped: releases nobody"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::OneTooMany), THREE_ONCE, Some((K_EXCLUSION, 5)), "am-dsm-fast-one-too-many-in-its-slots", "in block and slow path, X starts one too high"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::OneTooFew), THREE_ONCE, Some((STUCK, 10)), "am-dsm-fast-one-too-few-in-its-slots", "in block and slow path, X starts one too low"),
    mutant(dsm(Whole::Fast, dsm_slot::Fault::WaitsToLeave), TWO_BOUNDED, Some((LEAVES, 27)), "am-dsm-fast-waits-to-leave-its-slots", "in block and slow path, after 21, waits until nobody pins the location"),
    // am-dsm-graceful
    mutant(around(Whole::Graceful, DSM, Around::Nested(nested::Fault::AsPrinted)), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-graceful-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Graceful, DSM, Around::Nested(nested::Fault::EveryExitIncrements)), THREE_TWICE, Some((K_EXCLUSION, 44)), "am-dsm-graceful-every-exit-increments", "am-fast's repair, nested: <= 0 is slow, every exit increments"),
    mutant(around(Whole::Graceful, DSM, Around::Nested(nested::Fault::PlaceFirst)), THREE_TWICE, Some((K_EXCLUSION, 23)), "am-dsm-graceful-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Graceful, DSM, Around::Nested(nested::Fault::OutermostBlockFirst)), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-graceful-takes-the-outermost-block-first", "5 from the outermost depth inwards"),
    mutant(around(Whole::Graceful, DSM, Around::Nested(nested::Fault::OneTooMany)), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-graceful-has-a-place-too-many", "X of each depth starts one too high"),
    mutant(around(Whole::Graceful, DSM, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-graceful-has-a-slot-too-many", "slot k-1 added to each block: lets k-1 in"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::SeventeenBeforeSixteen), THREE_ONCE, Some((STUCK, 19)), "am-dsm-graceful-swaps-16-and-17-in-its-slots", "in its blocks, looks whom to release before it frees the slot"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::ThirteenBeforeEleven), THREE_ONCE, Some((STUCK, 19)), "am-dsm-graceful-swaps-11-and-13-in-its-slots", "in its blocks, looks at X before it takes the place in Q"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::ThreeTakesLast), THREE_ONCE, Some((K_EXCLUSION, 15)), "am-dsm-graceful-3-takes-the-last-in-its-slots", "in its blocks, 3 begins with the location that may be in Q"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::NoTwenty), THREE_ONCE, Some((STUCK, 19)), "am-dsm-graceful-without-20-in-its-slots", "in its blocks, 20 dropped: releases nobody"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::OneTooMany), THREE_ONCE, Some((K_EXCLUSION, 5)), "am-dsm-graceful-one-too-many-in-its-slots", "in its blocks, X starts one too high"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::OneTooFew), THREE_ONCE, Some((STUCK, 10)), "am-dsm-graceful-one-too-few-in-its-slots", "in its blocks, X starts one too low"),
    mutant(dsm(Whole::Graceful, dsm_slot::Fault::WaitsToLeave), THREE_ONCE, Some((LEAVES, 27)), "am-dsm-graceful-waits-to-leave-its-slots", "in its blocks, after 21, waits until nobody pins the location"),
    // am-assign
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::TestThenSet)), THREE_TWO, Some((NAMES, 8)), "am-assign-tests-then-sets", "2 tests and sets in two steps"),
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::NeverSets)), THREE_TWO, Some((NAMES, 6)), "am-assign-never-sets", "2 tests the bits and sets none"),
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::NeverClears)), THREE_TWO, Some((NAMES, 11)), "am-assign-never-clears", "3 leaves the bit set"),
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::ClearsLate)), THREE_TWO, Some((NAMES, 11)), "am-assign-clears-late", "3 after 4: the bit is cleared when the place is free"),
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::ClearsUnguarded)), THREE_TWO, Some((NAMES, 12)), "am-assign-3-unguarded", "3 also for the last name, which has no bit: clears the one before"),
    mutant(around(Whole::Assign, CC, Around::Renaming(renaming::Fault::StartsAtOne)), THREE_TWO, Some((NAMES, 4)), "am-assign-starts-at-name-1", "2 begins with name 1"),
    mutant(around(Whole::Assign, CC, Around::FastPath(fast_path::Fault::AsPrinted)), THREE, Some((K_EXCLUSION, 7)), "am-assign-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Assign, CC, Around::FastPath(fast_path::Fault::PlaceFirst)), THREE, Some((K_EXCLUSION, 13)), "am-assign-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Assign, CC, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-assign-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(cc(Whole::Assign, cc_slot::Fault::SevenBeforeSix), THREE_TWO, Some((STUCK, 18)), "am-assign-swaps-6-and-7-in-its-slots", "in block and slow path, wakes before it frees the slot"),
    mutant(cc(Whole::Assign, cc_slot::Fault::OneTooMany), THREE_TWO, Some((K_EXCLUSION, 10)), "am-assign-one-too-many-in-its-slots", "in block and slow path, X starts one too high"),
    mutant(cc(Whole::Assign, cc_slot::Fault::SevenNamesP0), THREE_TWO, Some((STUCK, 18)), "am-assign-7-names-p0-in-its-slots", "in block and slow path, 7 writes the name p0"),
    mutant(cc(Whole::Assign, cc_slot::Fault::WaitsToLeave), THREE, Some((STUCK, 4)), "am-assign-waits-to-leave-its-slots", "in block and slow path, after 7, waits until somebody else writes Q"),
    // am-dsm-assign
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::TestThenSet)), THREE_TWO_ONCE, Some((NAMES, 8)), "am-dsm-assign-tests-then-sets", "2 tests and sets in two steps"),
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::NeverSets)), THREE_TWO_ONCE, Some((NAMES, 6)), "am-dsm-assign-never-sets", "2 tests the bits and sets none"),
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::NeverClears)), THREE_TWO_ONCE, Some((NAMES, 11)), "am-dsm-assign-never-clears", "3 leaves the bit set"),
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::ClearsLate)), THREE_TWO_ONCE, Some((NAMES, 11)), "am-dsm-assign-clears-late", "3 after 4: the bit is cleared when the place is free"),
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::ClearsUnguarded)), THREE_TWO_ONCE, Some((NAMES, 12)), "am-dsm-assign-3-unguarded", "3 also for the last name, which has no bit: clears the one before"),
    mutant(around(Whole::Assign, DSM, Around::Renaming(renaming::Fault::StartsAtOne)), THREE_TWO_ONCE, Some((NAMES, 4)), "am-dsm-assign-starts-at-name-1", "2 begins with name 1"),
    mutant(around(Whole::Assign, DSM, Around::FastPath(fast_path::Fault::AsPrinted)), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-assign-as-printed-on-plain-add", "the figure as printed, on a fetch-and-add that goes below 0"),
    mutant(around(Whole::Assign, DSM, Around::FastPath(fast_path::Fault::PlaceFirst)), THREE_TWICE, Some((K_EXCLUSION, 23)), "am-dsm-assign-returns-its-place-first", "9 before the block is released"),
    mutant(around(Whole::Assign, DSM, Around::Chain(chain::Fault::ASlotTooMany)), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-assign-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::SeventeenBeforeSixteen), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-swaps-16-and-17-in-its-slots", "in block and slow path, looks whom to release before it frees the slot"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::ThirteenBeforeEleven), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-swaps-11-and-13-in-its-slots", "in block and slow path, looks at X before it takes the place in Q"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::ThreeTakesLast), THREE_TWO_ONCE, Some((K_EXCLUSION, 20)), "am-dsm-assign-3-takes-the-last-in-its-slots", "in block and slow path, 3 begins with the location that may be in Q"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::NoTwenty), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-without-20-in-its-slots", "in block and slow path, 20 dropped: releases nobody"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::OneTooMany), THREE_TWO_ONCE, Some((K_EXCLUSION, 10)), "am-dsm-assign-one-too-many-in-its-slots", "in block and slow path, X starts one too high"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::OneTooFew), THREE_ONCE, Some((STUCK, 10)), "am-dsm-assign-one-too-few-in-its-slots", "in block and slow path, X starts one too low"),
    mutant(dsm(Whole::Assign, dsm_slot::Fault::WaitsToLeave), TWO_BOUNDED, Some((LEAVES, 27)), "am-dsm-assign-waits-to-leave-its-slots", "in block and slow path, after 21, waits until nobody pins the location"),
    // kbakery
    mutant(first_come(kbakery::Fault::NoOld), TWO_ONCE, Some((ORDER_K, 6)), "kbakery-without-14", "14 dropped: who draws has not announced its old ticket"),
    mutant(first_come(kbakery::Fault::NoOld), THREE_TWO_ONCE, Some((ORDER_K, 13)), "kbakery-without-14-at-two-places", "the same, with two places"),
    mutant(first_come(kbakery::Fault::NoNew), TWO_ONCE, Some((STUCK, 6)), "kbakery-without-16", "16 dropped: nobody learns the new ticket"),
    mutant(first_come(kbakery::Fault::DrawsMax), TWO_ONCE, Some((ORDER_K, 8)), "kbakery-draws-the-maximum", "152 writes max instead of 1 + max"),
    mutant(first_come(kbakery::Fault::ResetsTicket), TWO_BOUNDED, HOLDS, "kbakery-resets-its-ticket", "25 also sets the ticket to 0"),
    mutant(first_come(kbakery::Fault::TiesGo), TWO_ONCE, Some((K_EXCLUSION, 10)), "kbakery-breaks-no-ties", "21 compares tickets without names: equal ones strike each other out"),
    mutant(first_come(kbakery::Fault::TiesStay), TWO_ONCE, Some((STUCK, 8)), "kbakery-waits-on-ties", "21 keeps equal tickets"),
    mutant(first_come(kbakery::Fault::OneTooMany), TWO_ONCE, Some((ORDER_K, 7)), "kbakery-one-too-many", "19 waits for one fewer"),
    mutant(first_come(kbakery::Fault::OneTooFew), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-one-too-few", "19 waits for one more"),
    mutant(first_come(kbakery::Fault::NoExit), TWO_ONCE, Some((STUCK, 10)), "kbakery-without-25", "25 dropped: never says that it has left"),
    mutant(first_come(kbakery::Fault::WaitsToLeave), TWO_ONCE, Some((STUCK, 10)), "kbakery-waits-to-leave", "25 waits until the next one wants nothing"),
    mutant(first_come(kbakery::Fault::LooksAgain), THREE_TWO_ONCE, HOLDS, "kbakery-looks-at-everybody-again", "19 starts with everybody in pred at each turn"),
    mutant(first_come(kbakery::Fault::WriterHome), TWO_BOUNDED, HOLDS, "kbakery-tells-at-home", "Want lives with who writes it: waiting is remote"),
    // kbakery-fife
    mutant(capturing(kbakery::Fault::NoOld), TWO_ONCE, Some((ORDER_K, 8)), "kbakery-fife-without-14", "14 dropped: who draws has not announced its old ticket"),
    mutant(capturing(kbakery::Fault::NoNew), TWO_ONCE, Some((STUCK, 6)), "kbakery-fife-without-16", "16 dropped: nobody learns the new ticket"),
    mutant(capturing(kbakery::Fault::DrawsMax), TWO_ONCE, Some((ORDER_K, 10)), "kbakery-fife-draws-the-maximum", "152 writes max instead of 1 + max"),
    mutant(capturing(kbakery::Fault::ResetsTicket), TWO_BOUNDED, Some((K_EXCLUSION, 32)), "kbakery-fife-resets-its-ticket", "25 also sets the ticket to 0"),
    mutant(capturing(kbakery::Fault::TiesGo), TWO_ONCE, Some((K_EXCLUSION, 14)), "kbakery-fife-breaks-no-ties", "21 compares tickets without names: equal ones strike each other out"),
    mutant(capturing(kbakery::Fault::TiesStay), TWO_ONCE, Some((STUCK, 8)), "kbakery-fife-waits-on-ties", "21 keeps equal tickets"),
    mutant(capturing(kbakery::Fault::OneTooMany), TWO_ONCE, Some((ORDER_K, 8)), "kbakery-fife-one-too-many", "19 waits for one fewer"),
    mutant(capturing(kbakery::Fault::OneTooFew), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-fife-one-too-few", "19 waits for one more"),
    mutant(capturing(kbakery::Fault::NoExit), TWO_ONCE, Some((STUCK, 12)), "kbakery-fife-without-25", "25 dropped: never says that it has left"),
    mutant(capturing(kbakery::Fault::WaitsToLeave), TWO_ONCE, Some((STUCK, 12)), "kbakery-fife-waits-to-leave", "25 waits until the next one wants nothing"),
    mutant(capturing(kbakery::Fault::NoCapture), FOUR_TWO_ONCE, Some((ORDER, 25)), "kbakery-fife-without-23", "23 dropped: captures nobody"),
    mutant(capturing(kbakery::Fault::CapturesByName), THREE_TWO_ONCE, HOLDS, "kbakery-fife-captures-by-name", "22 compares tickets and, where they are equal, names"),
    mutant(capturing(kbakery::Fault::CapturesTies), TWO_BOUNDED, Some((K_EXCLUSION, 14)), "kbakery-fife-captures-ties", "22 takes equal tickets for captured"),
    mutant(capturing(kbakery::Fault::CapturesTooHigh), TWO_BOUNDED, Some((K_EXCLUSION, 14)), "kbakery-fife-captures-too-much", "23 writes one more than the ticket"),
    mutant(capturing(kbakery::Fault::CapturesEarly), THREE_ONCE, Some((ORDER_K, 26)), "kbakery-fife-captures-before-it-enters", "23 before 19"),
    // kbakery-nonatomic
    mutant(nonatomic(kbakery_nonatomic::Fault::OnlyTicketsTorn), TWO_BOUNDED, HOLDS, "kbakery-nonatomic-with-only-tickets-torn", "all other registers are atomic, so that more can be searched").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::NoOld), TWO_ONCE, Some((ORDER_K, 12)), "kbakery-nonatomic-without-30", "30 dropped: who draws has not announced its old ticket"),
    mutant(nonatomic(kbakery_nonatomic::Fault::NoNew), TWO_ONCE, Some((STUCK, 8)), "kbakery-nonatomic-without-33", "33 dropped: nobody learns the new ticket"),
    mutant(nonatomic(kbakery_nonatomic::Fault::WritesTwoFirst), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-writes-copy-2-first", "writes copy 2 before copy 1").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::ReadsOneFirst), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-reads-copy-1-first", "38 and 39 read copy 1 before copy 2").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::OneLook), TWO_ONCE, Some((ORDER_K, 28)), "kbakery-nonatomic-without-39", "39 dropped: looks at one copy only").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::DrawsMax), TWO_ONCE, Some((ORDER_K, 16)), "kbakery-nonatomic-draws-the-maximum", "312 writes max instead of 1 + max"),
    mutant(nonatomic(kbakery_nonatomic::Fault::TiesStay), TWO_ONCE, Some((STUCK, 12)), "kbakery-nonatomic-waits-on-ties", "38 and 39 keep equal tickets"),
    mutant(nonatomic(kbakery_nonatomic::Fault::OneTooMany), TWO_ONCE, Some((ORDER_K, 13)), "kbakery-nonatomic-one-too-many", "36 waits for one fewer"),
    mutant(nonatomic(kbakery_nonatomic::Fault::OneTooFew), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-nonatomic-one-too-few", "36 waits for one more"),
    mutant(nonatomic(kbakery_nonatomic::Fault::NoExit), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-without-48", "48 dropped: never says that it has left"),
    mutant(nonatomic(kbakery_nonatomic::Fault::WaitsToLeave), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-waits-to-leave", "48 waits until the next one wants nothing"),
    mutant(nonatomic(kbakery_nonatomic::Fault::CapturesTies), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-captures-ties", "41 and 42 take equal tickets for captured"),
    mutant(nonatomic(kbakery_nonatomic::Fault::CapturesTooHigh), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-captures-too-much", "45 writes one more than the ticket"),
    mutant(nonatomic(kbakery_nonatomic::Fault::OneLookForCaptures), TWO_BOUNDED, Some((ORDER_K, 36)), "kbakery-nonatomic-without-42", "42 dropped: looks at one copy of a capture only").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::CapturesReadOneFirst), TWO_BOUNDED, Some((ORDER_K, 37)), "kbakery-nonatomic-reads-copy-1-of-captures-first", "41 and 42 read copy 1 before copy 2").on(Register::Safe),
    mutant(nonatomic(kbakery_nonatomic::Fault::AlwaysCaptures), FOUR_TWO_TWICE, Some((ORDER, 128)), "kbakery-nonatomic-without-44", "44 dropped: renews captures that still hold").on(Register::Safe)
        .shown_by("dw1/mutant:kbakery-nonatomic-without-44/4,2/2/c0o/safe/first-in-first-enabled/0x17.2x4.3x4.1x103/215c4a9d"),
    // kbakery-nonatomic-as-printed
    mutant(printed(kbakery_nonatomic::Fault::OnlyTicketsTorn), THREE_TWICE, Some((K_EXCLUSION, 108)), "kbakery-nonatomic-as-printed-with-only-tickets-torn", "all other registers are atomic, so that a search finds what is wrong with it").on(Register::Safe)
        .shown_by("dw1/mutant:kbakery-nonatomic-as-printed-with-only-tickets-torn/3,1/2/c0/safe/k-exclusion/0x7.1x4.1s3.1x5.0x21.1x25.0x4.0s0.0x14.0s0.0.2x5.2s0.2x15.2s0.2x2/54ec085b"),
    mutant(printed(kbakery_nonatomic::Fault::NoOld), TWO_ONCE, Some((ORDER_K, 12)), "kbakery-nonatomic-as-printed-without-30", "30 dropped: who draws has not announced its old ticket"),
    mutant(printed(kbakery_nonatomic::Fault::NoNew), TWO_ONCE, Some((STUCK, 8)), "kbakery-nonatomic-as-printed-without-33", "33 dropped: nobody learns the new ticket"),
    mutant(printed(kbakery_nonatomic::Fault::WritesTwoFirst), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-as-printed-writes-copy-2-first", "writes copy 2 before copy 1").on(Register::Safe),
    mutant(printed(kbakery_nonatomic::Fault::ReadsOneFirst), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-as-printed-reads-copy-1-first", "38 and 39 read copy 1 before copy 2").on(Register::Safe),
    mutant(printed(kbakery_nonatomic::Fault::OneLook), TWO_ONCE, Some((ORDER_K, 28)), "kbakery-nonatomic-as-printed-without-39", "39 dropped: looks at one copy only").on(Register::Safe),
    mutant(printed(kbakery_nonatomic::Fault::DrawsMax), TWO_ONCE, Some((ORDER_K, 16)), "kbakery-nonatomic-as-printed-draws-the-maximum", "312 writes max instead of 1 + max"),
    mutant(printed(kbakery_nonatomic::Fault::TiesStay), TWO_ONCE, Some((STUCK, 12)), "kbakery-nonatomic-as-printed-waits-on-ties", "38 and 39 keep equal tickets"),
    mutant(printed(kbakery_nonatomic::Fault::OneTooMany), TWO_ONCE, Some((ORDER_K, 13)), "kbakery-nonatomic-as-printed-one-too-many", "36 waits for one fewer"),
    mutant(printed(kbakery_nonatomic::Fault::OneTooFew), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-nonatomic-as-printed-one-too-few", "36 waits for one more"),
    mutant(printed(kbakery_nonatomic::Fault::NoExit), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-as-printed-without-48", "48 dropped: never says that it has left"),
    mutant(printed(kbakery_nonatomic::Fault::WaitsToLeave), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-as-printed-waits-to-leave", "48 waits until the next one wants nothing"),
    mutant(printed(kbakery_nonatomic::Fault::CapturesTies), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-as-printed-captures-ties", "41 and 42 take equal tickets for captured"),
    mutant(printed(kbakery_nonatomic::Fault::CapturesTooHigh), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-as-printed-captures-too-much", "45 writes one more than the ticket"),
    mutant(printed(kbakery_nonatomic::Fault::OneLookForCaptures), TWO_BOUNDED, Some((ORDER_K, 36)), "kbakery-nonatomic-as-printed-without-42", "42 dropped: looks at one copy of a capture only").on(Register::Safe),
    mutant(printed(kbakery_nonatomic::Fault::CapturesReadOneFirst), TWO_BOUNDED, Some((ORDER_K, 37)), "kbakery-nonatomic-as-printed-reads-copy-1-of-captures-first", "41 and 42 read copy 1 before copy 2").on(Register::Safe),
    mutant(printed(kbakery_nonatomic::Fault::AlwaysCaptures), FOUR_TWO_TWICE, Some((ORDER, 128)), "kbakery-nonatomic-as-printed-without-44", "44 dropped: renews captures that still hold").on(Register::Safe)
        .shown_by("dw1/mutant:kbakery-nonatomic-as-printed-without-44/4,2/2/c0o/safe/first-in-first-enabled/0x17.2x4.3x4.1x103/215c4a9d"),
    // turnstile
    mutant(fair(turnstile::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 6)), "turnstile-one-too-many", "the gate starts one too far open"),
    mutant(fair(turnstile::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-one-too-few", "the gate starts one too few open"),
    mutant(fair(turnstile::Fault::FiveSplit), TWO, Some((STUCK, 11)), "turnstile-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(fair(turnstile::Fault::NoHelpAtEntry), FOUR_TWO_ONCE, Some((ORDER, 15)), "turnstile-enters-past-the-line", "3 and 5 do not help those before: whoever is enabled enters").crashing(1),
    mutant(fair(turnstile::Fault::NeverFull), TWO, Some((STUCK, 78)), "turnstile-never-full", "4 dropped: the line gets longer than the ring").giving_up(),
    mutant(fair(turnstile::Fault::KeepsGhosts), TWO, Some((STUCK, 49)), "turnstile-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(fair(turnstile::Fault::NoHelpAtExit), TWO, Some((STUCK, 10)), "turnstile-exits-without-help", "9 never helps"),
    mutant(fair(turnstile::Fault::SkipsUndrawn), THREE_TWO, Some((STUCK, 16)), "turnstile-skips-what-is-not-drawn", "after 9, does not help if nobody has drawn the ticket that was enabled").crashing(1),
    mutant(fair(turnstile::Fault::WaitsToLeave), TWO, Some((STUCK, 10)), "turnstile-waits-to-leave", "after 9, waits until nobody is in line"),
    mutant(fair(turnstile::Fault::OneTooFar), TWO_BOUNDED, Some((K_EXCLUSION, 26)), "turnstile-helps-one-too-far", "10 goes on to one ticket that is not enabled"),
    mutant(fair(turnstile::Fault::NeverLooksAgain), THREE_TWO, Some((STUCK, 30)), "turnstile-never-looks-again", "12 dropped: does not look again when others passed ghosts").crashing(1).giving_up(),
    mutant(fair(turnstile::Fault::LooksAgainOnce), THREE_TWO, Some((STUCK, 63)), "turnstile-looks-again-once", "12 only once in each help").crashing(1).giving_up().shown_by("dw1/mutant:turnstile-looks-again-once/3,2/-/c1go/atomic/deadlock-free/0x3.1x3.2x6.2g.2x6.2g.2x7.0.1x9.0x2.2g.2x10.1x10.1c.0x2/2dc8b596"),
    mutant(fair(turnstile::Fault::BlindSignal), TWO, Some((STUCK, 23)), "turnstile-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(fair(turnstile::Fault::LastInFirst), THREE_ONCE, Some((ORDER, 19)), "turnstile-is-a-stack", "14 signals who came last"),
    mutant(fair(turnstile::Fault::NeverPasses), TWO, Some((STUCK, 16)), "turnstile-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(fair(turnstile::Fault::NeverExitsGhosts), TWO, Some((STUCK, 24)), "turnstile-never-exits-ghosts", "16 to 18 dropped: ghosts keep their places").giving_up(),
    mutant(fair(turnstile::Fault::UnmarkedExit), TWO, Some((STUCK, 39)), "turnstile-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(fair(turnstile::Fault::KeepsUpto), TWO, Some((STUCK, 25)), "turnstile-18-owes-nothing", "18 does not help what it enables").giving_up(),
    mutant(fair(turnstile::Fault::LeavesLineEarly), TWO, Some((STUCK, 20)), "turnstile-ghosts-leave-the-line", "21 takes the ghost out of the line").giving_up(),
    mutant(fair(turnstile::Fault::NeverOpens), TWO, Some((DOOR, 41)), "turnstile-never-opens-its-door", "24 dropped: once full, full for ever").giving_up(),
    mutant(fair(turnstile::Fault::LeavesDoor), TWO, Some((DOOR, 27)), "turnstile-leaves-its-door", "29 dropped: who leaves does not look whether newcomers may draw again").giving_up(),
    // turnstile-many
    mutant(many(turnstile::Fault::FirstDecides), TWO_TWO, Some((UNITS, 7)), "turnstile-many-enters-by-its-first", "26 looks whether the first of its tickets is enabled"),
    mutant(many(turnstile::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 6)), "turnstile-many-one-too-many", "the gate starts one too far open"),
    mutant(many(turnstile::Fault::GivesUpEnabled), TWO_TWO, Some((STUCK, 39)), "turnstile-many-gives-up-what-is-enabled", "tickets that were enabled when they were announced become ghosts too").giving_up(),
    mutant(many(turnstile::Fault::ExitsUndealt), FOUR_TWO, Some((STUCK, 49)), "turnstile-many-leaves-others-behind", "40 dropped: who gives up some of its tickets exits the others without dealing with those before it").giving_up().shown_by("dw1/mutant:turnstile-many-leaves-others-behind/4,2/-/c0g/atomic/deadlock-free/1x3.2x3.3x6.0x4.1.2.0.0g.0x21.1x4.2x4/0676e118"),
    mutant(many(turnstile::Fault::FiveSplit), TWO_TWO, Some((STUCK, 12)), "turnstile-many-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(many(turnstile::Fault::NeverFull), TWO_TWO, Some((STUCK, 89)), "turnstile-many-never-full", "4 dropped: the line gets longer than the ring").giving_up(),
    mutant(many(turnstile::Fault::NeverPasses), TWO_TWO, Some((STUCK, 16)), "turnstile-many-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(many(turnstile::Fault::OneTooFar), TWO_TWO_BOUNDED, Some((UNITS, 27)), "turnstile-many-helps-one-too-far", "10 goes on to one ticket that is not enabled"),
    mutant(many(turnstile::Fault::KeepsGhosts), TWO_TWO, Some((STUCK, 62)), "turnstile-many-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(many(turnstile::Fault::NoHelpAtExit), TWO_TWO, Some((STUCK, 11)), "turnstile-many-exits-without-help", "9 never helps"),
    mutant(many(turnstile::Fault::UnmarkedExit), TWO_TWO, Some((STUCK, 45)), "turnstile-many-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(many(turnstile::Fault::NoSecondLook), TWO_TWO, Some((UNITS, 59)), "turnstile-many-without-17", "17 dropped: does not look whether this ghost is still at the front").giving_up(),
    mutant(many(turnstile::Fault::BlindSignal), TWO_TWO, Some((STUCK, 29)), "turnstile-many-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(many(turnstile::Fault::LeavesDoor), TWO_TWO, Some((DOOR, 41)), "turnstile-many-leaves-its-door", "29 dropped: who leaves does not look whether newcomers may draw again").giving_up(),
    // turnstile-unfair
    mutant(unfair(turnstile::Fault::DrawsUnchecked), TWO, Some((K_EXCLUSION, 6)), "turnstile-unfair-draws-whatever-is-free", "27 draws a ticket whether it is enabled or not"),
    mutant(unfair(turnstile::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-unfair-one-too-few", "the gate starts one too few open"),
    mutant(unfair(turnstile::Fault::FiveSplit), TWO, Some((STUCK, 15)), "turnstile-unfair-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(unfair(turnstile::Fault::NeverFull), TWO, Some((STUCK, 118)), "turnstile-unfair-never-full", "4 dropped: the line gets longer than the ring").giving_up(),
    mutant(unfair(turnstile::Fault::LastInFirst), THREE_ONCE, Some((ORDER, 27)), "turnstile-unfair-is-a-stack", "14 signals who came last"),
    mutant(unfair(turnstile::Fault::NeverPasses), TWO, Some((STUCK, 20)), "turnstile-unfair-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(unfair(turnstile::Fault::OneTooFar), TWO_BOUNDED, Some((K_EXCLUSION, 34)), "turnstile-unfair-helps-one-too-far", "10 goes on to one ticket that is not enabled"),
    mutant(unfair(turnstile::Fault::KeepsGhosts), TWO, Some((STUCK, 65)), "turnstile-unfair-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(unfair(turnstile::Fault::UnmarkedExit), TWO, Some((STUCK, 51)), "turnstile-unfair-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(unfair(turnstile::Fault::NoHelpAtExit), TWO, Some((STUCK, 14)), "turnstile-unfair-exits-without-help", "9 never helps"),
    mutant(unfair(turnstile::Fault::BlindSignal), TWO, Some((STUCK, 31)), "turnstile-unfair-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(unfair(turnstile::Fault::LeavesDoor), TWO, Some((DOOR, 54)), "turnstile-unfair-leaves-its-door", "29 dropped: who leaves does not look whether newcomers may draw again").giving_up(),
    // turnstile-simple
    mutant(simple(turnstile_simple::Fault::OneSplit), TWO, Some((K_EXCLUSION, 6)), "turnstile-simple-one-split", "1 is two steps: two have the same ticket"),
    mutant(simple(turnstile_simple::Fault::WrongCell), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-waits-for-the-one-before", "2 waits in the cell before its own"),
    mutant(simple(turnstile_simple::Fault::AnyLap), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-2-forgets-the-lap", "2 takes the signal of the ticket that had its cell before"),
    mutant(simple(turnstile_simple::Fault::ThreeSplit), TWO_TWO, Some((STUCK, 25)), "turnstile-simple-three-split", "3 is two steps: an exit is lost"),
    mutant(simple(turnstile_simple::Fault::CountsTwice), THREE, Some((K_EXCLUSION, 16)), "turnstile-simple-counts-twice", "3 counts two exits"),
    mutant(simple(turnstile_simple::Fault::EnablesMore), TWO, Some((K_EXCLUSION, 11)), "turnstile-simple-enables-one-more", "after 3, enables one ticket more"),
    mutant(simple(turnstile_simple::Fault::NoWalk), TWO_TWO, Some((STUCK, 9)), "turnstile-simple-never-walks-back", "4 dropped: signals its own ticket only").crashing(1),
    mutant(simple(turnstile_simple::Fault::NewestFirst), FOUR_TWO_ONCE, Some((ORDER, 12)), "turnstile-simple-newest-first", "5 begins with the newest"),
    mutant(simple(turnstile_simple::Fault::SkipsUndrawn), TWO, Some((STUCK, 6)), "turnstile-simple-skips-what-is-not-drawn", "5 does not signal what nobody has drawn"),
    mutant(simple(turnstile_simple::Fault::NotItsOwn), TWO, Some((STUCK, 5)), "turnstile-simple-leaves-out-its-own", "5 leaves out its own ticket"),
    mutant(simple(turnstile_simple::Fault::TriesAgain), THREE_TWO, Some((STUCK, 10)), "turnstile-simple-tries-again", "5 again until it succeeds"),
    mutant(simple(turnstile_simple::Fault::Blind), TWO_TWO, Some((STUCK, 48)), "turnstile-simple-signals-blindly", "5 is a write, not a compare-and-swap"),
    mutant(simple(turnstile_simple::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-one-too-many", "tickets up to k count as signalled, and exits enable one further"),
    mutant(simple(turnstile_simple::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-simple-one-too-few", "tickets up to k-2 count as signalled, and exits enable one less"),
    mutant(simple(turnstile_simple::Fault::WaitsToLeave), TWO, Some((STUCK, 5)), "turnstile-simple-waits-to-leave", "after 5, waits until its ticket is drawn"),
    mutant(simple(turnstile_simple::Fault::WalksFurther), THREE_TWO, None, "turnstile-simple-walks-further", "4 goes one further back than it must"),
    // turnstile-slots
    mutant(slots(names::Fault::TestThenSet), TWO_TWO, Some((NAMES, 12)), "turnstile-slots-tests-then-sets", "3 is two steps"),
    mutant(slots(names::Fault::NeverLooks), TWO_TWO, Some((NAMES, 10)), "turnstile-slots-never-looks", "3 does not look whether another one was faster"),
    mutant(slots(names::Fault::NeverGivesBack), TWO_TWO, Some((NAMES, 18)), "turnstile-slots-never-gives-back", "4 clears nothing"),
    mutant(slots(names::Fault::ClearsOthers), TWO_TWO, Some((NAMES, 18)), "turnstile-slots-gives-back-the-first", "4 clears the first flag"),
    mutant(slots(names::Fault::NamedEarly), THREE_TWO, Some((NAMES, 13)), "turnstile-slots-names-before-entry", "2 and 3 before 1: more than k take names"),
    mutant(slots(names::Fault::NamelessLate), THREE_TWO, Some((NAMES, 17)), "turnstile-slots-gives-back-late", "4 after the exit: more than k have names"),
    mutant(slots(names::Fault::LowStays), TWO_TWO, Some((STARVES, 33)), "turnstile-slots-tries-the-same-again", "after 3 failed, begins with the same name again"),
    mutant(slots(names::Fault::LowSkips), THREE_THREE, Some((NAMES, 18)), "turnstile-slots-leaves-one-out", "after 3 failed, leaves a name out"),
    mutant(below_names(turnstile::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 9)), "turnstile-slots-one-too-many", "the gate starts one too far open"),
    mutant(below_names(turnstile::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-slots-one-too-few", "the gate starts one too few open"),
    mutant(below_names(turnstile::Fault::FiveSplit), TWO, Some((STUCK, 14)), "turnstile-slots-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(below_names(turnstile::Fault::NeverFull), TWO, Some((STUCK, 81)), "turnstile-slots-never-full", "4 dropped: the line gets longer than the ring").giving_up(),
    mutant(below_names(turnstile::Fault::LastInFirst), THREE_ONCE, Some((ORDER, 24)), "turnstile-slots-is-a-stack", "14 signals who came last"),
    mutant(below_names(turnstile::Fault::NeverPasses), TWO, Some((STUCK, 22)), "turnstile-slots-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(below_names(turnstile::Fault::OneTooFar), TWO_BOUNDED, Some((K_EXCLUSION, 32)), "turnstile-slots-helps-one-too-far", "10 goes on to one ticket that is not enabled"),
    mutant(below_names(turnstile::Fault::KeepsGhosts), TWO, Some((STUCK, 55)), "turnstile-slots-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(below_names(turnstile::Fault::UnmarkedExit), TWO, Some((STUCK, 42)), "turnstile-slots-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(below_names(turnstile::Fault::BlindSignal), TWO, Some((STUCK, 26)), "turnstile-slots-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(below_names(turnstile::Fault::LeavesDoor), TWO, Some((DOOR, 33)), "turnstile-slots-leaves-its-door", "29 dropped: who leaves does not look whether newcomers may draw again").giving_up(),
    // turnstile-bits
    mutant(bits(names::Fault::TestThenSet), TWO_TWO, Some((NAMES, 12)), "turnstile-bits-tests-then-sets", "3 is two steps"),
    mutant(bits(names::Fault::NeverLooks), TWO_TWO, Some((NAMES, 10)), "turnstile-bits-never-looks", "3 does not look whether another one was faster"),
    mutant(bits(names::Fault::NeverGivesBack), TWO_TWO, Some((NAMES, 16)), "turnstile-bits-never-gives-back", "4 clears nothing"),
    mutant(bits(names::Fault::ClearsOthers), TWO_TWO, Some((NAMES, 17)), "turnstile-bits-gives-back-all", "4 clears the whole word"),
    mutant(bits(names::Fault::NamedEarly), THREE_TWO, Some((NAMES, 11)), "turnstile-bits-names-before-entry", "2 and 3 before 1: more than k take names"),
    mutant(bits(names::Fault::NamelessLate), THREE_TWO, Some((NAMES, 15)), "turnstile-bits-gives-back-late", "4 after the exit: more than k have names"),
    mutant(bits(names::Fault::LowStays), TWO_TWO, Some((STARVES, 33)), "turnstile-bits-tries-the-same-again", "after 3 failed, begins with the same name again"),
    mutant(bits(names::Fault::LowSkips), THREE_THREE, Some((NAMES, 18)), "turnstile-bits-leaves-one-out", "after 3 failed, leaves a name out"),
    mutant(below_bits(turnstile::Fault::OneTooMany), TWO, Some((K_EXCLUSION, 9)), "turnstile-bits-one-too-many", "the gate starts one too far open"),
    mutant(below_bits(turnstile::Fault::OneTooFew), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-bits-one-too-few", "the gate starts one too few open"),
    mutant(below_bits(turnstile::Fault::FiveSplit), TWO, Some((STUCK, 14)), "turnstile-bits-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(below_bits(turnstile::Fault::NeverFull), TWO, Some((STUCK, 81)), "turnstile-bits-never-full", "4 dropped: the line gets longer than the ring").giving_up(),
    mutant(below_bits(turnstile::Fault::LastInFirst), THREE_ONCE, Some((ORDER, 24)), "turnstile-bits-is-a-stack", "14 signals who came last"),
    mutant(below_bits(turnstile::Fault::NeverPasses), TWO, Some((STUCK, 22)), "turnstile-bits-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(below_bits(turnstile::Fault::OneTooFar), TWO_BOUNDED, Some((K_EXCLUSION, 32)), "turnstile-bits-helps-one-too-far", "10 goes on to one ticket that is not enabled"),
    mutant(below_bits(turnstile::Fault::KeepsGhosts), TWO, Some((STUCK, 55)), "turnstile-bits-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(below_bits(turnstile::Fault::UnmarkedExit), TWO, Some((STUCK, 42)), "turnstile-bits-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(below_bits(turnstile::Fault::BlindSignal), TWO, Some((STUCK, 26)), "turnstile-bits-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(below_bits(turnstile::Fault::LeavesDoor), TWO, Some((DOOR, 33)), "turnstile-bits-leaves-its-door", "29 dropped: who leaves does not look whether newcomers may draw again").giving_up(),
];
