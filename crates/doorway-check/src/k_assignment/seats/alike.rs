//! Which states of seats are alike.
//!
//! - *Tickets* are compared with each other, and no process draws an old one: only their order
//!   matters. What 16 has read only says which of them are older.
//! - *Fences* of a slot are compared with that of its word, and with each other for equality. One
//!   that is older by two or more never becomes the word's, nor the one before it. A remembered
//!   free word is only compared with the slot's.
//! - *Where every second, fourth, ... owner hands over*, it matters for each fence whether its
//!   owner does.
//! - *What a slot guards* remembers the last fence; the question is whether that is the owner's or
//!   an older one.

use crate::sim::{Layout, Number, Numbers, Part, VarId};
use doorway_core::k_assignment::seats::{LAST_FENCE, Slot, Want};
use doorway_core::memory::Word;
use doorway_core::registry::Sizes;

/// The counter of tickets; that of slot `i` is `i + 1`.
const TICKETS: u8 = 0;

// The role of a number for the counter of tickets: a ticket, the next one, or a bound below which
// all tickets lie.
const TICKET: u8 = 0;
const NEXT: u8 = 1;
const BELOW: u8 = 2;

// The role of a number for the fences of a slot: that of its word, one that a process remembers or
// is offered, that of a free word that a process remembers, or the one left with what the slot
// guards.
const CURRENT: u8 = 0;
const FENCE: u8 = 1;
const FREE: u8 = 2;
const LAST: u8 = 3;

/// The meaning of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Next,
    Slot(u8),
    Want,
    Last(u8),
    Other,
}

/// The numbers of seats.
#[derive(Debug)]
pub(super) struct Renumbered {
    is: Vec<Is>,
    slots: usize,
    /// An owner whose fence is a multiple of this hands its slot over.
    period: u64,
}

impl Renumbered {
    /// `None` if there are too many slots to tell apart.
    pub(super) fn new(layout: &Layout, Sizes { n, k }: Sizes, period: u64) -> Option<Self> {
        if k >= usize::from(u8::MAX) || period > 1 << 8 {
            return None;
        }
        let mut is = vec![Is::Other; layout.vars().len()];
        let mut set = |name: &str, at: usize, to: Is| {
            if let Some(v) = layout.find(Part::ROOT, name, at) {
                is[v as usize] = to;
            }
        };
        set("next", 0, Is::Next);
        for slot in 0..k {
            set("slot", slot, Is::Slot(slot as u8));
            set("last", slot, Is::Last(slot as u8));
        }
        (0..n).for_each(|seat| set("want", seat, Is::Want));
        Some(Self { is, slots: k, period })
    }
}

fn ticket(role: u8, value: u64) -> Option<Number> {
    Some(Number { of: TICKETS, role, value })
}

fn fence(slot: u8, role: u8, value: u64) -> Option<Number> {
    Some(Number { of: slot + 1, role, value })
}

/// The position of the fence in the words of slots and of offers.
const SEQ: u32 = LAST_FENCE.leading_zeros();

impl Numbers for Renumbered {
    fn in_word(&self, var: VarId, word: u64) -> (u64, Option<Number>) {
        let low = word & ((1 << SEQ) - 1);
        match self.is[var as usize] {
            Is::Next => (0, ticket(NEXT, word)),
            Is::Slot(slot) => {
                let f = Slot::unpack(word).fence();
                (low | (f % self.period) << SEQ, fence(slot, CURRENT, f))
            }
            Is::Last(slot) => (word & 1, fence(slot, LAST, word >> 1)),
            Is::Want => match Want::unpack(word) {
                Want::Waits(t) => (Want::Waits(0).pack(), ticket(TICKET, t)),
                Want::Called(t) => (Want::Called(0).pack(), ticket(TICKET, t)),
                Want::Offered { slot, fence: f, .. } if slot < self.slots => (low, fence(slot as u8, FENCE, f)),
                Want::Nothing | Want::Offered { .. } | Want::Damaged(_) => (word, None),
            },
            Is::Other => (word, None),
        }
    }

    fn with(&self, var: VarId, word: u64, value: u64) -> u64 {
        match self.is[var as usize] {
            Is::Next => value,
            Is::Slot(_) => word & ((1 << SEQ) - 1) | value << SEQ,
            Is::Last(_) => word & 1 | value << 1,
            Is::Want => match Want::unpack(word) {
                Want::Waits(_) => Want::Waits(value).pack(),
                Want::Called(_) => Want::Called(value).pack(),
                Want::Offered { slot, news, .. } => Want::Offered { slot, fence: value, news }.pack(),
                Want::Nothing | Want::Damaged(_) => word,
            },
            Is::Other => word,
        }
    }

    fn in_kept(&self, kept: &str) -> Option<(String, Vec<Number>)> {
        let mut numbers = Vec::new();
        let mut rest = String::with_capacity(kept.len());
        let mut left = kept;
        while let Some(c) = left.chars().next() {
            if let Some((shape, number, behind)) = counted(&rest, left)? {
                rest.push_str(&shape);
                if self.period > 1 && number.of != TICKETS {
                    rest.push_str(if number.value % self.period == 0 { "last " } else { "" });
                }
                numbers.push(number);
                left = behind;
            } else {
                rest.push(c);
                left = &left[c.len_utf8()..];
            }
        }
        Some((rest, numbers))
    }

    fn period(&self) -> u64 {
        self.period
    }

    fn renumber(&self, numbers: &mut [Number]) {
        let last = numbers.iter().map(|number| number.of).max().unwrap_or(TICKETS);
        renumber_tickets(numbers);
        (TICKETS + 1..=last).for_each(|of| renumber_fences(numbers, of));
    }
}

/// A placeholder for a word or a grant, its number, and the rest of the text.
type Counted<'a> = (String, Number, &'a str);

/// If a text begins with a word or a grant: a placeholder for it, its number, and the rest. `None`
/// if it is unknown, or its slot is. `before` is the text before it.
fn counted<'a>(before: &str, text: &'a str) -> Option<Option<Counted<'a>>> {
    let in_a_word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if in_a_word {
        return Some(None);
    }
    let small = |number: u64| u8::try_from(number).ok().filter(|&number| number < u8::MAX);
    if let Some(text) = text.strip_prefix("W(") {
        let (t, behind) = digits(text)?;
        return Some(Some(("W(".to_owned(), ticket(TICKET, t)?, behind)));
    }
    if let Some(text) = text.strip_prefix("C(") {
        let (t, behind) = digits(text)?;
        return Some(Some(("C(".to_owned(), ticket(TICKET, t)?, behind)));
    }
    if let Some(text) = text.strip_prefix("T(") {
        let (t, behind) = digits(text)?;
        return Some((t != u64::MAX).then_some(("T(".to_owned(), ticket(BELOW, t)?, behind)));
    }
    if let Some(text) = text.strip_prefix("G(") {
        let (slot, behind) = digits(text)?;
        let (f, behind) = digits(behind.strip_prefix(',')?)?;
        return Some(Some((format!("G({slot},"), fence(small(slot)?, FENCE, f)?, behind)));
    }
    if let Some(text) = text.strip_prefix("F(") {
        let (f, behind) = digits(text)?;
        return Some(Some(("F(".to_owned(), fence(small(slot_before(before)?)?, FREE, f)?, behind)));
    }
    if let Some(text) = text.strip_prefix("H(") {
        let (owner, behind) = digits(text)?;
        let (f, behind) = digits(behind.strip_prefix(',')?)?;
        return Some(Some((format!("H({owner},"), fence(small(slot_before(before)?)?, FENCE, f)?, behind)));
    }
    if let Some(text) = text.strip_prefix("Grant { slot: ") {
        let (slot, behind) = digits(text)?;
        let (f, behind) = digits(behind.strip_prefix(", fence: ")?)?;
        return Some(Some((format!("Grant {slot} "), fence(small(slot)?, FENCE, f)?, behind)));
    }
    if let Some(text) = text.strip_prefix("\"name\", ") {
        let (slot, behind) = digits(text)?;
        let (part, behind) = behind.split_once("\"fence\", ")?;
        let (f, behind) = digits(behind)?;
        return Some(Some((format!("name {slot}{part}fence "), fence(small(slot)?, FENCE, f)?, behind)));
    }
    Some(None)
}

/// The leading number of a text, and the rest.
fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The slot whose word follows this text.
fn slot_before(text: &str) -> Option<u64> {
    let text = text.strip_suffix(':')?;
    let begin = text.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    text[begin..].parse().ok()
}

/// A few different numbers in order. Every comparison of two states creates some of these, so they
/// are on the stack.
struct Few {
    all: [u64; 16],
    len: usize,
}

impl Few {
    /// `None` if there are too many: then they stay as they are.
    fn of(numbers: impl Iterator<Item = u64>) -> Option<Self> {
        let mut few = Self { all: [0; 16], len: 0 };
        for number in numbers {
            let at = few.below(number) as usize;
            if few.all().get(at) == Some(&number) {
                continue;
            }
            if few.len == few.all.len() {
                return None;
            }
            few.all.copy_within(at..few.len, at + 1);
            few.all[at] = number;
            few.len += 1;
        }
        Some(few)
    }

    fn all(&self) -> &[u64] {
        &self.all[..self.len]
    }

    /// How many of them are below a number.
    fn below(&self, number: u64) -> u64 {
        self.all().iter().take_while(|&&other| other < number).count() as u64
    }
}

/// Replaces tickets by their places in the line.
fn renumber_tickets(numbers: &mut [Number]) {
    let of_role = |role: u8| move |number: &&Number| number.of == TICKETS && number.role == role;
    let Some(next) = numbers.iter().find(of_role(NEXT)).map(|number| number.value) else { return };
    let tickets = Few::of(numbers.iter().filter(of_role(TICKET)).map(|number| number.value));
    let Some(tickets) = tickets else { return };
    if tickets.all().last().is_some_and(|&youngest| youngest >= next) {
        return; // it is not drawn yet, but will be
    }
    for number in numbers.iter_mut().filter(|number| number.of == TICKETS) {
        let older = tickets.below(number.value);
        number.value = match number.role {
            NEXT => 0,
            // Tickets drawn from now on are younger than what was read too.
            BELOW if number.value > next => (number.value - next) << 8 | older,
            _ => older,
        };
    }
}

/// Replaces fences by their distances from that of the slot's word, as far as these matter.
fn renumber_fences(numbers: &mut [Number], of: u8) {
    let is = |number: &&Number, role: u8| number.of == of && number.role == role;
    let Some(current) = numbers.iter().find(|number| is(number, CURRENT)).map(|number| number.value) else { return };
    let behind = |value: u64| current.wrapping_sub(value) as i64;
    let remembered = || numbers.iter().filter(|number| is(number, FENCE)).map(|number| number.value);
    // An owner that has lost its slot might find its own fence, or an older one, with what the slot
    // guards.
    let matters = |last: u64| behind(last) > 0 && remembered().any(|fence| fence <= last);
    let last = numbers.iter().find(|number| is(number, LAST)).map(|number| number.value).filter(|&last| matters(last));
    let old = Few::of(remembered().chain(last).map(behind).filter(|&behind| behind > 1).map(i64::unsigned_abs));
    let Some(old) = old else { return };
    for number in numbers.iter_mut().filter(|number| number.of == of) {
        let behind = behind(number.value);
        number.value = match (behind, number.role) {
            (..0, _) => u64::MAX - behind.unsigned_abs(),
            (0, _) => 0,
            (_, FREE) => 1,
            (_, LAST) if last.is_none() => 1,
            (1, LAST) => 2,
            (1, _) => 1,
            _ => 3 + old.below(behind.unsigned_abs()),
        };
    }
}
