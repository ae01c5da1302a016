//! Algorithms with a seeded fault, to see that the checks would notice.
//!
//! Most are the shipped text with a fault that the memory seeds, by statement number (see [`faults`](crate::faults)): a row of
//! the table says which. What no memory can do (another order of calls, another comparison, another bound of a loop) is a text
//! of its own, or another part below shipped ones. A text of its own, without a fault, explores to exactly the same number of
//! states and steps as the shipped one, which a test compares, so that drift shows.
//! Mutants run by name, `doorway check mutant:am-chain-swaps-6-and-7`, and are not listed among the algorithms.
//!
//! A few rows are *controls*: changes that look as dangerous and are not. They must hold.
//!
#![doc = include_str!("../../MUTANTS.md")]

mod chain;
mod combining;
mod composed;
mod dgs;
mod dgs_fork;
mod fast_path;
pub(crate) mod growing;
mod kbakery;
mod late_join;
mod names;
mod nested;
mod queue;
mod rooms;
mod sticky;
mod strict;
mod table;
mod tree;
mod turnstile;
mod turnstile_simple;
mod universal;
pub(crate) mod work;

use crate::at_once;
use crate::faults::Faults;
use crate::rooms::blelloch_cheng_gibbons_01::worlds::{self, JOINS};
use crate::sim::{Rules, Sim, TextError, World};
use crate::subject;
use composed::{Composed, Part};
use doorway_core::k_exclusion::danek_10::Order;
use doorway_core::k_exclusion::dolev_gafni_shavit_88::LExclusion;
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
    /// The shipped text of this algorithm, with a fault of the memory.
    Shipped(&'static str, &'static str),
    /// The same with processes that try.
    ShippedAtOnce(&'static str, &'static str),
    /// The shipped text of this algorithm, built for another number of places: so many more.
    BuiltFor(&'static str, isize),
    /// What is composed by this is composed wrongly.
    Combining(combining::Fault),
    Queue(queue::Fault),
    Dgs(dgs::Form, dgs::Fault),
    /// Construction 6 to the letter, which is not among the algorithms.
    DgsUnfairAsPrinted,
    Composed(Composed),
    Turnstile(Form, turnstile::Fault),
    /// With processes that try.
    TurnstileAtOnce(turnstile::Fault),
    Simple(turnstile_simple::Fault),
    KBakery(Order, kbakery::Fault),
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

impl Text {
    const fn why_no_memory_seeds_it(self) -> Option<&'static str> {
        Some(match self {
            Self::Shipped(..) | Self::ShippedAtOnce(..) => return None,
            Self::BuiltFor(..) => "built for other sizes",
            Self::Combining(_) => "composes otherwise, which is no access",
            Self::Queue(_) => "changes what is one atomic block",
            Self::Dgs(..) => "compares or calls otherwise",
            Self::DgsUnfairAsPrinted => "another text, shipped for ids that grow",
            Self::Composed(_) => "calls its parts in another order, or for others",
            Self::Turnstile(..) | Self::TurnstileAtOnce(_) => "compares fields of words, or loops otherwise",
            Self::Simple(_) => "loops otherwise",
            Self::KBakery(..) => "compares or loops otherwise",
            Self::Rooms(..) | Self::RoomStack(_) | Self::RoomQueue(_) => "compares, calls or loops otherwise",
            Self::LateJoin(_) => "compares, calls or loops otherwise",
            Self::Strict(_) => "refuses others",
            Self::Universal(..) => "has other sizes, or loops otherwise",
            Self::Growing(..) => "copies, counts or calls otherwise",
            Self::Work(_) => "calls otherwise",
            Self::Sticky(_) => "compares, counts or loops otherwise",
        })
    }

    /// The algorithm it is the text of.
    const fn of(self) -> &'static str {
        match self {
            Self::Shipped(of, _) | Self::ShippedAtOnce(of, _) | Self::BuiltFor(of, _) => of,
            Self::Combining(_) => "ya-combining",
            Self::Queue(_) => "am-queue",
            Self::Dgs(form, _) => form.of(),
            Self::DgsUnfairAsPrinted => "dgs-unfair",
            Self::Composed(composed) => composed.of,
            Self::Turnstile(form, _) => form.of(),
            Self::TurnstileAtOnce(_) => "turnstile",
            Self::Simple(_) => "turnstile-simple",
            Self::KBakery(Order::KFirstCome, _) => "kbakery",
            Self::KBakery(Order::FirstEnabled, _) => "kbakery-fife",
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
        let tries = matches!(self, Self::TurnstileAtOnce(_) | Self::ShippedAtOnce(..));
        if rules.give_ups && (!self.info().can_give_up || tries) {
            return Err(TextError::CannotGiveUp);
        }
        match self {
            Self::Shipped(..) => Err(TextError::CannotGiveUp),
            Self::BuiltFor(of, more) => match subject::find(of) {
                Ok(subject) => subject.world(Sizes { n, k: k.saturating_add_signed(more) }, rules),
                Err(_) => Err(TextError::CannotGiveUp),
            },
            Self::ShippedAtOnce(of, _) => at_once::world(of, sizes, rules).unwrap_or(Err(TextError::CannotGiveUp)),
            Self::Combining(fault) => fault.world(n, rules),
            Self::Queue(fault) => World::new(n, rules, |site| queue::Queue::new(site, n, k, fault)),
            Self::Dgs(form, fault) => World::new(n, rules, |site| dgs::LExclusion::new(site, n, k, form, fault)),
            Self::DgsUnfairAsPrinted => World::new(n, rules, |site| LExclusion::<_, false, true>::new(site, n, k)),
            Self::Composed(composed) => composed.world(sizes, rules),
            Self::Turnstile(form, fault) => form.world(fault, sizes, rules),
            Self::TurnstileAtOnce(fault) => turnstile::with_attempts(fault, sizes, rules),
            Self::Simple(fault) => World::new(n, rules, |site| turnstile_simple::Simple::new(site, n, k, fault)),
            Self::KBakery(order, fault) => World::new(n, rules, |site| kbakery::KBakery::new(site, n, k, order, fault)),
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
    /// The fault of the memory that makes it, if it is the shipped text.
    ///
    /// # Panics
    /// If the table has a fault that is none.
    #[must_use]
    pub fn faults(&self) -> Faults {
        match self.text {
            Text::Shipped(_, fault) | Text::ShippedAtOnce(_, fault) => {
                fault.parse().unwrap_or_else(|e| panic!("{}: {e}", self.name))
            }
            _ => Faults::NONE,
        }
    }

    /// Why it is not the shipped text with a fault of the memory, if it is not.
    #[must_use]
    pub fn why_no_memory_seeds_it(&self) -> Option<&'static str> {
        self.text.why_no_memory_seeds_it()
    }

    /// Whether it declares the variables that its algorithm has in these sizes, which its claims ask for.
    #[must_use]
    pub fn has_its_variables(&self) -> bool {
        !matches!(self.text, Text::BuiltFor(..))
    }

    /// Whether it has a text of its own, and is not built as its algorithm is.
    pub(crate) fn has_a_text(&self) -> bool {
        !matches!(self.text, Text::Shipped(..))
    }

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

/// The text of an algorithm as its mutants have it, without a fault; `None` if all of them are the shipped text.
pub fn without_fault(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let texts = [
        Text::Queue(queue::Fault::None),
        dgs(dgs::Fault::None),
        dgs_unfair(dgs::Fault::None),
        dgs_as_printed(dgs::Fault::None),
        composed("am-dsm-unbounded", Part::UnboundedChain(chain::Fault::None)),
        composed("am-dsm-chain", Part::Chain(chain::Fault::None)),
        composed("am-tree", Part::Tree(tree::Fault::None)),
        composed("am-dsm-tree", Part::Tree(tree::Fault::None)),
        composed("am-fast", Part::FastPath(fast_path::Fault::None)),
        composed("am-dsm-fast", Part::FastPath(fast_path::Fault::None)),
        composed("am-graceful", Part::Nested(nested::Fault::None)),
        composed("am-dsm-graceful", Part::Nested(nested::Fault::None)),
        composed("am-assign", Part::Named(fast_path::Fault::None)),
        composed("am-dsm-assign", Part::Named(fast_path::Fault::None)),
        Text::Turnstile(Form::Fair, turnstile::Fault::None),
        Text::Turnstile(Form::Many, turnstile::Fault::None),
        Text::Turnstile(Form::Unfair, turnstile::Fault::None),
        simple(turnstile_simple::Fault::None),
        Text::KBakery(Order::KFirstCome, kbakery::Fault::None),
        Text::KBakery(Order::FirstEnabled, kbakery::Fault::None),
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
    let text = texts.into_iter().find(|text| text.of() == of)?;
    let info = registry::find(of)?;
    Some(text.world(sizes, rules).map(|world| subject::with_canon(world, info, sizes, rules)))
}

/// The same, of its text with processes that try; see [`at_once`].
pub fn without_fault_at_once(of: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let text = Text::TurnstileAtOnce(turnstile::Fault::None);
    (of == text.of()).then(|| text.world(sizes, rules))
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

/// The shipped text with a fault of the memory.
const fn row(of: &'static str, fault: &'static str) -> Text {
    Text::Shipped(of, fault)
}

/// The same with processes that try.
const fn trying(of: &'static str, fault: &'static str) -> Text {
    Text::ShippedAtOnce(of, fault)
}

/// One part of what Anderson and Moir compose, with a fault.
const fn composed(of: &'static str, part: Part) -> Text {
    // As all names of theirs are.
    let dsm = of.len() > 4 && of.as_bytes()[3] == b'd';
    Text::Composed(Composed { of, dsm, part })
}

/// A fault in Construction 8 of Dolev, Gafni and Shavit.
const fn dgs(fault: dgs::Fault) -> Text {
    Text::Dgs(dgs::Form::Fair, fault)
}

/// A fault in Construction 6.
const fn dgs_unfair(fault: dgs::Fault) -> Text {
    Text::Dgs(dgs::Form::Unfair, fault)
}

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
