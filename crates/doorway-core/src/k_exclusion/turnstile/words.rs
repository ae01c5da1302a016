//! The words of the turnstile.

use super::TooMany;
use crate::memory::{Additive, Anybody, Field, Nobody, One, Word};
use core::fmt;

/// Tickets, here and in records, are numbers modulo two to this power.
pub const TICKET: u32 = 54;
/// The number of their bits that fit the gate.
const OPEN: u32 = 40;
pub(super) const LINE: u32 = 22;
const GHOSTS: u32 = 64 - TICKET;

/// The difference of two numbers of `bits` bits, which lie less than half the range apart.
fn difference(a: u64, b: u64, bits: u32) -> i64 {
    (a.wrapping_sub(b) << (64 - bits)) as i64 >> (64 - bits)
}

fn low(word: u64, bits: u32) -> u64 {
    word & ((1 << bits) - 1)
}

/// Whether ticket `a` was drawn before ticket `b`.
pub(super) fn is_before(a: u64, b: u64) -> bool {
    difference(a, b, TICKET) < 0
}

/// The ticket drawn `more` after `t`.
pub(super) fn after(t: u64, more: u64) -> u64 {
    low(t.wrapping_add(more), TICKET)
}

/// The next ticket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Next(pub u64);

impl Word for Next {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}
impl Additive for Next {}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", difference(self.0, 0, TICKET))
    }
}

impl Next {
    /// As a ticket.
    #[must_use]
    #[inline(always)]
    pub fn ticket(self) -> u64 {
        low(self.0, TICKET)
    }
}

/// Which tickets may be inside, and whether a process waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// A ticket is enabled if it is smaller.
    pub open: u64,
    /// Whether the number of ghosts that have been exited is odd.
    pub odd: bool,
    /// Whether the turnstile was closed.
    pub closed: bool,
    /// Tickets that were announced and have not been exited, ghosts included.
    pub line: u64,
}

impl Word for Gate {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[
        Field::new("open", 64 - OPEN, OPEN),
        Field::new("odd", LINE + 1, 1),
        Field::new("closed", LINE, 1),
        Field::new("line", 0, LINE),
    ];

    #[inline(always)]
    fn pack(self) -> u64 {
        let fields = self.open << (64 - OPEN) | u64::from(self.odd) << (LINE + 1) | u64::from(self.closed) << LINE;
        fields.wrapping_add(self.line)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self {
            open: word >> (64 - OPEN),
            odd: word >> (LINE + 1) & 1 == 1,
            closed: word >> LINE & 1 == 1,
            line: low(word, LINE),
        }
    }
}
impl Additive for Gate {}

/// Shows `open` and `line`, and a star if `odd`. What is added is shown as the sum with zero.
impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (odd, closed) = (if self.odd { "*" } else { "" }, if self.closed { " closed" } else { "" });
        write!(f, "{}{odd}/{}{closed}", difference(self.open, 0, OPEN), self.line)
    }
}

impl Gate {
    pub(super) const fn new(k: u64) -> Self {
        Self { open: k, odd: false, closed: false, line: 0 }
    }

    /// The word of a gate that lets `k` processes in.
    #[must_use]
    pub const fn word(k: usize) -> u64 {
        (k as u64) << (64 - OPEN)
    }

    /// What announcing `units` tickets adds.
    #[inline(always)]
    pub(super) const fn announced(units: u64) -> Self {
        Self { line: units, ..Self::new(0) }
    }

    /// What exiting `units` tickets adds: tickets that were announced leave the line.
    #[inline(always)]
    pub(super) const fn exited(units: u64, announced: bool) -> Self {
        Self { line: if announced { units.wrapping_neg() } else { 0 }, ..Self::new(units) }
    }

    /// What leaving the line without an exit adds, as processes that forget their places do.
    pub(super) const fn forgotten(units: u64) -> Self {
        Self { line: units.wrapping_neg(), ..Self::new(0) }
    }

    /// How far ticket `t` is from being enabled; it is enabled if this is negative.
    #[inline(always)]
    #[must_use]
    pub fn distance(self, t: u64) -> i64 {
        difference(t, self.open, OPEN)
    }

    #[inline(always)]
    pub(super) fn enables(self, t: u64) -> bool {
        self.distance(t) < 0
    }

    /// The first ticket that is not enabled. `t` is one that is not far from it.
    pub(super) fn open_near(self, t: u64) -> u64 {
        low(t.wrapping_sub(self.distance(t) as u64), TICKET)
    }

    /// The gate after `units` more exits.
    #[must_use]
    pub fn opened(self, units: u64) -> Self {
        Self { open: low(self.open.wrapping_add(units), OPEN), ..self }
    }

    /// The gate after the exit of the ghost at the front.
    pub(super) fn ghost_exited(self) -> Self {
        Self { odd: !self.odd, line: self.line - 1, ..self.opened(1) }
    }

    /// Whether `units` exits bring `open` past an odd multiple of 2^37. The front must move once in
    /// that many exits, so that differences to it stay unambiguous.
    #[inline(always)]
    pub(super) fn passes_a_mark(self, units: u64) -> bool {
        let since_mark = |open: u64| low(open.wrapping_add(1 << (OPEN - 3)), OPEN - 2);
        since_mark(self.open) >= (1 << (OPEN - 2)) - units
    }
}

/// The oldest ticket that may not have been dealt with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Front {
    /// All enabled tickets before it are signalled, or were given up and exited.
    pub ticket: u64,
    /// How many of them were given up, modulo 2^10.
    pub ghosts: u64,
}

impl Word for Front {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("ticket", GHOSTS, TICKET), Field::new("ghosts", 0, GHOSTS)];

    fn pack(self) -> u64 {
        self.ticket << GHOSTS | self.ghosts
    }
    fn unpack(word: u64) -> Self {
        Self { ticket: word >> GHOSTS, ghosts: low(word, GHOSTS) }
    }
}

/// The ticket, and how many ghosts were passed.
impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", difference(self.ticket, 0, TICKET))?;
        if self.ghosts > 0 { write!(f, "+{}", self.ghosts) } else { Ok(()) }
    }
}

impl Front {
    /// The number of tickets before `open` that are not dealt with.
    #[must_use]
    pub fn behind(self, open: u64) -> i64 {
        difference(open, self.ticket, OPEN)
    }

    /// Whether an odd number of ghosts was passed.
    #[must_use]
    pub fn is_odd(self) -> bool {
        self.ghosts & 1 == 1
    }

    pub(super) fn passed(self) -> Self {
        Self { ticket: after(self.ticket, 1), ..self }
    }

    pub(super) fn passed_a_ghost(self) -> Self {
        Self { ghosts: after_ghosts(self.ghosts, 1), ..self.passed() }
    }

    /// The front at this ticket, in agreement with a gate that has seen this parity of ghosts.
    #[must_use]
    pub fn moved_to(self, ticket: u64, odd: bool) -> Self {
        Self { ticket: low(ticket, TICKET), ghosts: after_ghosts(self.ghosts, u64::from(odd != self.is_odd())) }
    }
}

pub(super) fn after_ghosts(ghosts: u64, more: u64) -> u64 {
    low(ghosts + more, GHOSTS)
}

/// What has become of a ticket, as far as its record says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// There is none: no ticket has claimed the place yet.
    Free,
    /// Nothing yet.
    Waits,
    /// It was given up: a ghost.
    Gone,
    /// It may enter.
    Signalled,
    /// The turnstile was closed, and nothing else has become of it.
    Shut,
    /// Nothing yet, and its process was asked to [move](super::moving).
    Nudged,
    /// Nothing yet, and its process moves.
    Moving,
    /// Nothing yet, and it can be [called](crate::k_exclusion::bypass) to look for a place that was
    /// left.
    Listens,
    /// Nothing yet, and it was called.
    Called,
}

impl Fate {
    /// Whether nothing has become of it yet, and it is not closed. A process that moves looks by
    /// itself whether it is.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waits | Self::Listens | Self::Called | Self::Nudged)
    }

    /// Whether its process need not wait any longer.
    #[must_use]
    #[inline(always)]
    pub fn ends_the_wait(self) -> bool {
        matches!(self, Self::Signalled | Self::Shut)
    }

    /// Whether its process has something to do: its wait is over, or it was asked to move.
    #[must_use]
    #[inline(always)]
    pub fn says_something(self) -> bool {
        matches!(self, Self::Signalled | Self::Shut | Self::Nudged)
    }

    #[inline(always)]
    const fn of_bits(bits: u64) -> Self {
        match bits & 15 {
            0 => Self::Free,
            1 => Self::Waits,
            2 => Self::Gone,
            3 => Self::Signalled,
            4 => Self::Shut,
            5 => Self::Nudged,
            6 => Self::Moving,
            7 => Self::Listens,
            _ => Self::Called,
        }
    }
}

/// A place in a ring, for the tickets that are equal modulo its size. It is kept as the word that
/// it is in memory: most of the time it is compared, and goes back as it came.
///
/// `stays` says that no waiter [moves](super::moving) away from the ticket: it is one of several,
/// or its process was stopped. Of a ghost it says that no waiter takes it up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Record(u64);

const FATE: u32 = 4;
const BELOW: u32 = FATE + 1;
const STAYS: u64 = 1 << FATE;

impl Word for Record {
    type Waiters = One;
    const WHOLE: bool = true;
    const SPREAD: bool = true;
    const FIELDS: &'static [Field] =
        &[Field::new("ticket", BELOW, TICKET), Field::new("stays", FATE, 1), Field::new("fate", 0, FATE)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fate() == Fate::Free {
            return f.write_str("free");
        }
        write!(f, "{} {:?}", difference(self.ticket(), 0, TICKET), self.fate())?;
        if self.stays() { f.write_str(", stays") } else { Ok(()) }
    }
}

impl Record {
    /// Says that `fate` became of `ticket`.
    #[must_use]
    #[inline(always)]
    pub fn new(ticket: u64, fate: Fate) -> Self {
        Self(low(ticket, TICKET) << BELOW | fate as u64)
    }

    /// The record of a ticket that has just claimed its place. It may be one of several.
    #[inline(always)]
    pub(super) fn claimed(ticket: u64, several: bool) -> Self {
        Self(Self::new(ticket, Fate::Waits).0 | u64::from(several) << FATE)
    }

    /// The record of a place that no ticket has claimed yet.
    pub(super) const FREE: Self = Self(0);

    /// Says that `fate` became of the same ticket.
    #[must_use]
    #[inline(always)]
    pub fn with(self, fate: Fate) -> Self {
        Self(self.0 >> FATE << FATE | fate as u64)
    }

    /// Says the same, and that no waiter moves away from this ticket or to it.
    pub(super) fn staying(self) -> Self {
        Self(self.0 | STAYS)
    }

    /// The ticket of which it speaks.
    #[must_use]
    #[inline(always)]
    pub fn ticket(self) -> u64 {
        low(self.0 >> BELOW, TICKET)
    }

    /// What it says.
    #[must_use]
    #[inline(always)]
    pub fn fate(self) -> Fate {
        Fate::of_bits(self.0)
    }

    /// Whether no waiter moves away from its ticket, or to it.
    fn stays(self) -> bool {
        self.0 & STAYS != 0
    }

    /// Whether its process can be asked to move.
    pub(super) fn can_move(self) -> bool {
        matches!(self.fate(), Fate::Waits | Fate::Listens) && !self.stays()
    }

    /// Whether it is a ghost that the waiter before it can take up.
    pub(super) fn can_be_taken_up(self) -> bool {
        self.fate() == Fate::Gone && !self.stays()
    }

    /// Whether it speaks of ticket `t`.
    #[must_use]
    #[inline(always)]
    pub fn is_of(self, t: u64) -> bool {
        self.fate() != Fate::Free && self.ticket() == t
    }

    /// Whether it leaves its place to ticket `t`, whatever else is the case: no ticket has claimed
    /// it, or an earlier one that was signalled.
    #[inline(always)]
    pub(super) fn lets_in(self, t: u64) -> bool {
        match self.fate() {
            Fate::Free => true,
            Fate::Signalled => !is_before(t, self.ticket()),
            _ => false,
        }
    }

    /// What it says of ticket `t`. A later ticket has the place only after `t` was dealt with.
    #[must_use]
    #[inline(always)]
    pub fn fate_of(self, t: u64) -> Fate {
        match difference(self.ticket(), t, TICKET) {
            0 => self.fate(),
            1.. => Fate::Signalled,
            _ => Fate::Waits,
        }
    }
}

/// How far a [move](super::moving) has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// No process moves.
    Nobody,
    /// A process was asked to.
    Asked,
    /// It moves.
    Begun,
}

/// How many processes gave up whose ghosts no look has dealt with yet.
///
/// The count is in the high bits. If it runs over, it begins again, and touches nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// Their number, modulo 2^24.
    pub count: u64,
    /// The ticket that was the next one when the count began, modulo 2^40; 0 if it never began
    /// anew.
    pub since: u64,
}

impl Word for Left {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[Field::new("count", OPEN, 64 - OPEN), Field::new("since", 0, OPEN)];

    #[inline(always)]
    fn pack(self) -> u64 {
        self.count << OPEN | self.since
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { count: word >> OPEN, since: low(word, OPEN) }
    }
}
impl Additive for Left {}

impl Left {
    /// No process has given up.
    pub(super) const NOBODY: Self = Self { count: 0, since: 0 };
    /// What one process more adds.
    pub(super) const ONE: Self = Self { count: 1, since: 0 };

    /// One more.
    pub(super) fn and_one(self) -> Self {
        Self { count: self.count + 1, ..self }
    }

    /// The rest, when this many of them were seen to, and all tickets before `next` with them.
    pub(super) fn without(self, count: u64, next: u64) -> Self {
        let is_later = self.since == 0 || difference(next, self.since, OPEN) > 0;
        let since = if is_later { low(next, OPEN) } else { self.since };
        Self { count: self.count.saturating_sub(count), since }
    }

    /// Whether all tickets that were drawn when the count began are dealt with by now.
    pub(super) fn is_past(self, front: Front) -> bool {
        self.since != 0 && front.behind(self.since) <= 0
    }
}

/// Which waiter moves, and where to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// How far it has come.
    pub step: Step,
    /// How many passes were begun, modulo 2^16.
    pub count: u64,
    /// The ticket that it has, modulo 2^24.
    ticket: u64,
    /// How many tickets it moves on.
    pub by: u64,
}

const COUNT: u32 = 16;
const FROM: u32 = 24;
/// As many bits as `line` has in the gate.
const BY: u32 = LINE;

impl Word for Pass {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[
        Field::new("step", 0, 2),
        Field::new("count", 2, COUNT),
        Field::new("ticket", 2 + COUNT, FROM),
        Field::new("by", 2 + COUNT + FROM, BY),
    ];

    fn pack(self) -> u64 {
        self.step as u64 | self.count << 2 | self.ticket << (2 + COUNT) | self.by << (2 + COUNT + FROM)
    }
    fn unpack(word: u64) -> Self {
        let step = match word & 3 {
            0 => Step::Nobody,
            1 => Step::Asked,
            _ => Step::Begun,
        };
        let (count, ticket) = (low(word >> 2, COUNT), low(word >> (2 + COUNT), FROM));
        Self { step, count, ticket, by: word >> (2 + COUNT + FROM) }
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Step::Nobody => write!(f, "nobody")?,
            step => write!(f, "{step:?} {}>{}", self.ticket, self.ticket + self.by)?,
        }
        if self.count > 0 { write!(f, "+{}", self.count) } else { Ok(()) }
    }
}

impl Pass {
    /// No process has moved yet.
    pub(super) const NOBODY: Self = Self { step: Step::Nobody, count: 0, ticket: 0, by: 0 };

    /// The process of ticket `t` is asked to move to ticket `to`, if that is not too far.
    pub(super) fn asks(self, t: u64, to: u64) -> Option<Self> {
        let by = low(to.wrapping_sub(t), TICKET);
        let count = low(self.count + u64::from(self.step == Step::Nobody), COUNT);
        (by >> BY == 0).then(|| Self { step: Step::Asked, count, ticket: low(t, FROM), by })
    }

    /// The process begins to move.
    pub(super) fn begun(self) -> Self {
        Self { step: Step::Begun, ..self }
    }

    /// No process moves any more.
    pub(super) fn ended(self) -> Self {
        Self { count: self.count, ..Self::NOBODY }
    }

    /// Whether it is at this step, and is about ticket `t`. All tickets of a line lie less than
    /// 2^23 apart.
    #[must_use]
    pub fn is_at(self, step: Step, t: u64) -> bool {
        self.step == step && self.ticket == low(t, FROM)
    }

    /// The ticket that it is about, which is not far from `t`.
    pub(super) fn ticket_near(self, t: u64) -> u64 {
        after(t, difference(self.ticket, low(t, FROM), FROM) as u64)
    }
}

/// The number of places. Only a waiter that asks for several units waits for it to change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Places(pub u64);

impl Word for Places {
    type Waiters = Anybody;
    const WHOLE: bool = true;

    fn pack(self) -> u64 {
        self.0
    }
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}
impl Additive for Places {}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Places {
    /// Whether `units` units can ever be held at once.
    pub(super) fn are_enough_for(self, units: u64) -> Result<(), TooMany> {
        if units <= self.0 { Ok(()) } else { Err(TooMany { asked: units as usize, most: self.0 as usize }) }
    }
}

/// How many rings there are, and whether they can go back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rings {
    /// The number of rings that were made and have not gone back.
    pub rings: u64,
    /// Whether a process gives rings back at the moment.
    pub going: bool,
    /// The number of processes that are counted, because they may access records of rings that can
    /// go back.
    pub users: u64,
    /// The number of processes that were ever counted.
    pub entries: u64,
}

const USERS: u32 = 6;
const ENTRIES: u32 = USERS + 24;
const GOING: u64 = 1 << (USERS - 1);

impl Word for Rings {
    type Waiters = Nobody;
    const WHOLE: bool = true;
    const FIELDS: &'static [Field] = &[
        Field::new("rings", 0, USERS - 1),
        Field::new("going", USERS - 1, 1),
        Field::new("users", USERS, ENTRIES - USERS),
        Field::new("entries", ENTRIES, 64 - ENTRIES),
    ];

    #[inline(always)]
    fn pack(self) -> u64 {
        let low = self.rings.wrapping_add(u64::from(self.going) * GOING);
        low.wrapping_add(self.users << USERS).wrapping_add(self.entries << ENTRIES)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self {
            rings: word & (GOING - 1),
            going: word & GOING != 0,
            users: low(word >> USERS, ENTRIES - USERS),
            entries: word >> ENTRIES,
        }
    }
}
impl Additive for Rings {}

impl fmt::Debug for Rings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rings, going, users, entries } = *self;
        write!(f, "{rings}{}", if going { " going" } else { "" })?;
        if entries > 0 { write!(f, ", {users} of {entries} use them") } else { Ok(()) }
    }
}

impl Rings {
    /// No ring.
    pub const NONE: Self = Self { rings: 0, going: false, users: 0, entries: 0 };
    /// What a process adds that counts itself.
    pub(super) const ENTERS: Self = Self { users: 1, entries: 1, ..Self::NONE };
    /// What a counted process adds in the end: it is one less.
    pub(super) const LEAVES: Self = Self { users: 1u64.wrapping_neg(), ..Self::NONE };

    /// Whether there are rings that can go back, if the first `kept` cannot.
    #[inline(always)]
    pub(super) fn are_many(self, kept: u32) -> bool {
        self.in_use(kept) > kept
    }

    /// The number of rings in which there may be tickets.
    #[inline(always)]
    pub(super) fn in_use(self, kept: u32) -> u32 {
        // While rings go back, no ticket in them matters.
        if self.going { kept } else { self.rings as u32 }
    }

    /// Whether rings may go back, if no waiter is in line.
    pub(super) fn may_go(self, kept: u32) -> bool {
        self.are_many(kept) && self.users == 0
    }

    /// With one ring more.
    pub(super) fn grown(self) -> Self {
        Self { rings: self.rings + 1, ..self }
    }

    /// The same after a process has [counted itself](Self::ENTERS).
    pub(super) fn after_one_entered(self) -> Self {
        Self { users: self.users + 1, entries: self.entries.wrapping_add(1), ..self }
    }

    /// The same after a counted process has [left](Self::LEAVES).
    pub(super) fn after_one_left(self) -> Self {
        Self { users: self.users - 1, ..self }
    }

    /// The same while all rings but the first ones go back. It counts as an entry, so that a
    /// process which is about to announce a ring that goes cannot do so any more.
    pub(super) fn leaving(self) -> Self {
        Self { going: true, entries: self.entries.wrapping_add(1), ..self }
    }

    /// What the process adds that has given back all rings but the first `kept`.
    pub(super) fn gone(self, kept: u32) -> Self {
        // The flag is set, so that taking it away borrows nothing.
        Self::unpack((u64::from(kept)).wrapping_sub(self.rings).wrapping_sub(GOING))
    }
}

/// Whether newcomers may draw a ticket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Door(u64);

impl Word for Door {
    type Waiters = Anybody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_shut(), self.is_open()) {
            (true, _) => f.write_str("shut"),
            (_, true) => write!(f, "open {}", self.0),
            (_, false) => write!(f, "full {}", self.0),
        }
    }
}

impl Door {
    /// The number of the door counts modulo two to this power.
    pub const BITS: u32 = 62;
    /// Newcomers may draw.
    pub(super) const OPEN: Self = Self(0);
    /// Newcomers may never draw again.
    pub(super) const SHUT: Self = Self(1 << 63 | 1);

    /// Whether newcomers may draw.
    #[inline(always)]
    #[must_use]
    pub fn is_open(self) -> bool {
        self.0 & 1 == 0
    }

    /// Whether newcomers may never draw again.
    #[must_use]
    pub fn is_shut(self) -> bool {
        self.0 >> 63 == 1
    }

    /// From open to full, or from full to open. The door is a number, so that no process closes it
    /// again because of what it saw long ago.
    pub(super) fn turned(self) -> Self {
        Self(low(self.0 + 1, Self::BITS))
    }
}
