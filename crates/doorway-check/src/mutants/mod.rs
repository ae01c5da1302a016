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
mod combining;
mod composed;
mod dgs;
mod dgs_fork;
mod dsm_slot;
mod dsm_unbounded_slot;
mod fast_path;
pub(crate) mod growing;
mod kbakery;
mod kbakery_nonatomic;
mod kessels;
mod lamport_fast;
mod late_join;
mod names;
mod nested;
mod peterson;
mod peterson_fischer;
mod queue;
mod queue_lock;
mod renaming;
mod rooms;
mod sticky;
mod strict;
mod table;
mod test_and_set;
mod ticket;
mod tree;
mod turnstile;
mod turnstile_simple;
mod two_process;
mod universal;
pub(crate) mod work;
mod ya_fast;

use crate::at_once::OddTry;
use crate::rooms::blelloch_cheng_gibbons_01::worlds::{self, JOINS};
use crate::sim::{Rules, Sim, TextError, World};
use crate::subject;
use any_slot::Slots;
use arbitration_tree::ArbitrationTree;
use composed::{Around, CC, Composed, DSM, Unbounded, Whole};
use doorway_core::k_exclusion::danek_10::Order;
use doorway_core::memory::{Register, Site};
use doorway_core::registry::{self, Defaults, Info, Sizes};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::{Changes, Tries, Visits};
use turnstile::Form;

pub use table::ALL;

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
    /// With processes that try.
    AtOnce(Attempt),
    Backoff(backoff::Fault),
    Ticket(ticket::Fault),
    Array(array::Fault),
    QueueLock(queue_lock::Exit, queue_lock::Fault),
    LamportFast(lamport_fast::Fault),
    PetersonFischer(peterson_fischer::Fault),
    /// And what its nodes have.
    PetersonTree(arbitration_tree::Fault, peterson::Fault),
    /// And what its nodes have.
    KesselsTree(arbitration_tree::Fault, kessels::Fault),
    TwoProcess(two_process::Fault),
    /// And what its nodes have.
    YaTree(arbitration_tree::Fault, two_process::Fault),
    Combining(combining::Fault),
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
    /// And what users do.
    Rooms(Users, rooms::Fault),
    LateJoin(late_join::Fault),
    Strict(strict::Fault),
    /// A stack over rooms with a fault.
    RoomStack(rooms::Fault),
    /// A queue over rooms with a fault.
    RoomQueue(rooms::Fault),
    Universal(universal::Within, universal::Fault),
    /// And how it grows.
    Growing(growing::Growth, growing::Fault),
    Work(work::Fault),
    Sticky(sticky::Fault),
}

/// What users of rooms do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Users {
    Visit,
    Change,
    Try,
}

/// Which text, with which fault, of those that can be entered at once.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    TestAndSet(test_and_set::Fault),
    Backoff(backoff::Fault),
    Ticket(ticket::Fault),
    QueueLock(queue_lock::Fault),
    Turnstile(turnstile::Fault),
}

impl Attempt {
    /// The algorithm it is the text of.
    const fn of(self) -> &'static str {
        match self {
            Self::TestAndSet(_) => "tas",
            Self::Backoff(_) => "tas-backoff",
            Self::Ticket(_) => "ticket",
            Self::QueueLock(_) => "mcs",
            Self::Turnstile(_) => "turnstile",
        }
    }

    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let n = sizes.n;
        match self {
            Self::TestAndSet(fault) => {
                World::new(n, rules, |site| OddTry(test_and_set::TestAndSetLock::new(site, fault)))
            }
            Self::Backoff(fault) => World::new(n, rules, |site| OddTry(backoff::BackoffLock::new(site, n, fault))),
            Self::Ticket(fault) => World::new(n, rules, |site| OddTry(ticket::TicketLock::new(site, n, fault))),
            Self::QueueLock(fault) => {
                let exit = queue_lock::Exit::CompareSwap;
                World::new(n, rules, |site| OddTry(queue_lock::QueueLock::new(site, n, exit, fault)))
            }
            Self::Turnstile(fault) => turnstile::with_attempts(fault, sizes, rules),
        }
    }
}

impl Text {
    /// The algorithm it is the text of.
    const fn of(self) -> &'static str {
        match self {
            Self::TestAndSet(_) => "tas",
            Self::Bakery(_) => "bakery",
            Self::AtOnce(attempt) => attempt.of(),
            Self::Backoff(_) => "tas-backoff",
            Self::Ticket(_) => "ticket",
            Self::Array(_) => "anderson-array",
            Self::QueueLock(queue_lock::Exit::CompareSwap, _) => "mcs",
            Self::QueueLock(queue_lock::Exit::Swap, _) => "mcs-swap",
            Self::LamportFast(_) => "lamport-fast",
            Self::PetersonFischer(_) => "peterson-fischer",
            Self::PetersonTree(..) => "peterson-tree",
            Self::KesselsTree(..) => "kessels-tree",
            Self::TwoProcess(_) => "ya-two",
            Self::YaTree(..) => "ya-tree",
            Self::Combining(_) => "ya-combining",
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
            Self::Rooms(Users::Visit, _) => "rooms",
            Self::Rooms(Users::Change, _) => "rooms-change",
            Self::Rooms(Users::Try, _) => "rooms-try",
            Self::LateJoin(_) => "rooms-late-join",
            Self::Strict(_) => "rooms-strict",
            Self::RoomStack(_) => "room-stack",
            Self::RoomQueue(_) => "room-queue",
            Self::Universal(within, _) => within.of(),
            Self::Growing(growing::Growth::Copying, _) => "room-dynamic-stack",
            Self::Growing(growing::Growth::Segments, _) => "room-segment-stack",
            Self::Work(_) => "room-work-stack",
            Self::Sticky(_) => "sticky-names",
        }
    }

    fn info(self) -> &'static Info {
        registry::find(self.of()).expect("a fault is one of an algorithm that is listed")
    }

    fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        // Those that try wait for nothing that they could abandon.
        if rules.give_ups && (!self.info().can_give_up || matches!(self, Self::AtOnce(_))) {
            return Err(TextError::CannotGiveUp);
        }
        match self {
            Self::TestAndSet(fault) => World::new(n, rules, |site| test_and_set::TestAndSetLock::new(site, fault)),
            Self::AtOnce(attempt) => attempt.world(sizes, rules),
            Self::Bakery(fault) => World::new(n, rules, |site| bakery::Bakery::new(site, n, fault)),
            Self::Backoff(fault) => World::new(n, rules, |site| backoff::BackoffLock::new(site, n, fault)),
            Self::Ticket(fault) => World::new(n, rules, |site| ticket::TicketLock::new(site, n, fault)),
            Self::Array(fault) => World::new(n, rules, |site| array::ArrayLock::new(site, n, fault)),
            Self::QueueLock(exit, fault) => {
                World::new(n, rules, |site| queue_lock::QueueLock::new(site, n, exit, fault))
            }
            Self::LamportFast(fault) => World::new(n, rules, |site| lamport_fast::FastMutex::new(site, n, fault)),
            Self::PetersonFischer(fault) => World::new(n, rules, |site| peterson_fischer::TwoProcess::new(site, fault)),
            Self::PetersonTree(tree, node) => World::new(n, rules, |site| {
                ArbitrationTree::new(site, n, tree, |site, _| peterson::TwoSides::new(site, node))
            }),
            Self::KesselsTree(tree, node) => World::new(n, rules, |site| {
                ArbitrationTree::new(site, n, tree, |site, _| kessels::TwoSides::new(site, node))
            }),
            Self::TwoProcess(fault) => World::new(n, rules, |site| two_process::TwoProcess::new(site, fault)),
            Self::YaTree(tree, node) => {
                World::new(n, rules, |site| ArbitrationTree::of_two_process(site, n, tree, node))
            }
            Self::Combining(fault) => World::new(n, rules, |site| combining::Calls::new(site, n, fault)),
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
            Self::Rooms(users, fault) => {
                let width = width(self.info(), sizes);
                let rooms = |site: &Site<'_, Sim>| rooms::Rooms::new(site, k, width, fault);
                match users {
                    Users::Visit if rules.give_ups => World::of_abortable(n, rules, |site| Visits::new(site, rooms)),
                    Users::Change if rules.give_ups => World::of_abortable(n, rules, |site| Changes::new(site, rooms)),
                    Users::Visit => World::new(n, rules, |site| Visits::new(site, rooms)),
                    Users::Change => World::new(n, rules, |site| Changes::new(site, rooms)),
                    Users::Try => World::new(n, rules, |site| Tries::new(site, rooms)),
                }
            }
            Self::LateJoin(fault) => World::new(n, rules, |site| {
                Visits::new(site, |site| late_join::LateJoin::new(site, k, width(self.info(), sizes), JOINS, fault))
            }),
            Self::RoomStack(fault) => {
                let width = width(self.info(), sizes);
                worlds::stack(sizes, rules, |site| rooms::Rooms::new(site, 2, width, fault))
            }
            Self::RoomQueue(fault) => {
                let width = width(self.info(), sizes);
                worlds::queue(sizes, rules, |site| rooms::Rooms::new(site, 2, width, fault))
            }
            Self::Universal(within, fault) => within.world(fault, sizes, rules),
            Self::Growing(growth, fault) => growing::world(sizes, rules, growth, fault),
            Self::Work(fault) => work::world(sizes, rules, fault),
            Self::Sticky(fault) => crate::k_assignment::names::sticky::passages::world(sizes, rules, |site| {
                sticky::StickyNames::new(site, k, fault)
            }),
            Self::Strict(fault) => {
                World::new(n, rules, |site| strict::Misuses::new(site, n, k, width(self.info(), sizes), fault))
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
        peterson_tree(arbitration_tree::Fault::None),
        kessels_tree(arbitration_tree::Fault::None),
        Text::TwoProcess(two_process::Fault::None),
        ya_tree(arbitration_tree::Fault::None),
        Text::Combining(combining::Fault::None),
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
        in_rooms(rooms::Fault::None),
        Text::Rooms(Users::Change, rooms::Fault::None),
        Text::Rooms(Users::Try, rooms::Fault::None),
        Text::LateJoin(late_join::Fault::None),
        Text::Strict(strict::Fault::None),
        Text::RoomStack(rooms::Fault::None),
        Text::RoomQueue(rooms::Fault::None),
        universal(universal::Fault::None),
        resilient(universal::Fault::None),
        resilient_am(universal::Fault::None),
        in_use(universal::Fault::None),
        Text::Growing(growing::Growth::Copying, growing::Fault::None),
        Text::Growing(growing::Growth::Segments, growing::Fault::None),
        Text::Work(work::Fault::None),
        Text::Sticky(sticky::Fault::None),
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

/// The same, of its text with processes that try; see [`at_once`](crate::at_once).
pub fn without_fault_at_once(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let texts = [
        Attempt::TestAndSet(test_and_set::Fault::None),
        Attempt::Backoff(backoff::Fault::None),
        Attempt::Ticket(ticket::Fault::None),
        Attempt::QueueLock(queue_lock::Fault::None),
        Attempt::Turnstile(turnstile::Fault::None),
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

/// A fault in the arbitration tree of Peterson's nodes.
const fn peterson_tree(fault: arbitration_tree::Fault) -> Text {
    Text::PetersonTree(fault, peterson::Fault::None)
}

/// A fault in its nodes.
const fn peterson(fault: peterson::Fault) -> Text {
    Text::PetersonTree(arbitration_tree::Fault::None, fault)
}

/// A fault in Kessels' arbitration tree.
const fn kessels_tree(fault: arbitration_tree::Fault) -> Text {
    Text::KesselsTree(fault, kessels::Fault::None)
}

/// A fault in its nodes.
const fn kessels(fault: kessels::Fault) -> Text {
    Text::KesselsTree(arbitration_tree::Fault::None, fault)
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

/// A fault in the universal construction.
const fn universal(fault: universal::Fault) -> Text {
    Text::Universal(universal::Within::Nothing, fault)
}

/// The same within the turnstile with names.
const fn resilient(fault: universal::Fault) -> Text {
    Text::Universal(universal::Within::TurnstileSlots, fault)
}

/// The same within Anderson and Moir's k-assignment.
const fn resilient_am(fault: universal::Fault) -> Text {
    Text::Universal(universal::Within::AmAssign, fault)
}

/// The same with all that its users can do.
const fn in_use(fault: universal::Fault) -> Text {
    Text::Universal(universal::Within::Use, fault)
}

/// A fault in rooms.
const fn in_rooms(fault: rooms::Fault) -> Text {
    Text::Rooms(Users::Visit, fault)
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
