//! Slots between machines, in a store with leases: first come, first served, and every grant has a
//! fence.
//!
//! # Problem
//! [k-assignment](crate::k_assignment) between clients of a store that they reach over a network. A
//! client may die, or be paused for any time. Then the store forgets the client, and its slots come
//! back. A paused client does not know that, so no store can keep it from acting as a holder. Each
//! grant therefore has a *fence*, larger than every fence before it. A resource that refuses old
//! fences never obeys an earlier holder of a slot after a later one.
//!
//! # Source
//! Our own. The store is etcd, or anything with leases, one order of revisions, and transactions.
//!
//! # What the store must offer
//! - Keys that are attached to a lease, and vanish together when it ends.
//! - *Transactions* that compare, and then write or not, in one step. An answer may get lost: then
//!   the request is *in doubt*. The store may have done it, may do it later, or may never do it.
//! - A *revision* that grows with each transaction that writes. A key knows the revision that
//!   created it, and the one that changed it last.
//! - An ordered watch, which feeds a local [`Mirror`]. The mirror is always behind.
//!
//! # Idea
//! A slot is a key, and it names its holder: a unit has one place. A client that finds no free slot
//! creates a key that says that it waits; the revision that created the key is its ticket. A holder
//! that leaves writes the oldest waiter into its slot, in the same transaction. So a passage is two
//! transactions, contended or not, and a waiter only watches its mirror. The comparisons of a
//! transaction decide everything: a mirror that is behind costs a round trip, but never safety or
//! order.
//!
//! # Shared variables
//! A *chair* is a name for one passage at a time of one client. It contains the number of the
//! client's lease, so it is never used under another lease.
//!
//! | key | value | written at | meaning |
//! |---|---|---|---|
//! | `receipt[chair]` | [`Outcome`] | 1 | what became of the chair's last attempt to enter |
//! | `waits[chair]` | | 1, 2, 3, 4 | the chair waits; the revision that created it is its ticket |
//! | `slot[0..k]` | chair | 1, 2, 4 | the slot is held; the revision that changed it is the fence |
//!
//! All are attached to the lease of their chair. A slot without a key is free.
//!
//! # Statements
//! Each is one transaction, and is sent again, unchanged, while it is in doubt.
//! ```text
//! enter, with the receipt r of the last time, and a slot i that seems free:
//!  1  if receipt[me] was changed at r:
//!         if no chair waits and slot[i] is free: slot[i] := me; receipt[me] := granted i
//!         otherwise: waits[me] created; receipt[me] := waits      the doorway ends
//!     read receipt[me]
//! wait: watch the mirror, once it has reached the ticket t, until
//!       - slot[i] = me: inside
//!       - no older chair waits, and slot[i] is free:
//!  2          if waits[me] was created at t, no older chair waits, and slot[i] is free:
//!                 waits[me] deleted; slot[i] := me: inside
//!             otherwise read waits[me] and all slots
//!       - neither waits[me] nor a slot is mine: the lease has ended, or the slot was broken
//! give up:
//!  3  if waits[me] was created at t: waits[me] deleted
//!     otherwise read all slots: perhaps one is mine by now
//! exit, and break, of slot i with fence f; w1, w2, … are the oldest that wait in the mirror:
//!  4  if slot[i] was changed at f:
//!         if w1 is the oldest that waits: waits[w1] deleted; slot[i] := w1
//!         otherwise, if w2 is … and so on
//!         otherwise slot[i] deleted
//! try, without waiting:
//!  5  as 1, but receipt[me] := refused instead of waiting; read all slots, and whether any chair
//!     waits
//! ```
//!
//! # Invariants (all checked)
//! - fences: the fence of a grant is larger than that of every earlier grant
//! - unique names, and at most `k` inside, among the clients whose leases have not ended
//! - order: a chair is granted a slot only if no chair waits with an older ticket
//! - nothing is lost: when all living clients have left and the leases of the dead have ended, all
//!   slots are free and no chair waits
//! - no client is stuck: without further faults, every passage of a living client ends
//! - nothing goes on for ever: a client makes finitely many requests, and so finitely many writes
//! - a client that gives up, in line or while a request is under way, waits for no other client
//! - a holder whose mirror is up to date is told that its slot is lost, if it is; a holder that the
//!   store names is never told so
//! - a client that looks at its clock, [`Term`], knows that its lease has ended before the store
//!   ends it
//!
//! Why they hold:
//! - *Each transaction is done at most once.* 2 and 3 compare the revision that created a key which
//!   they delete, 4 compares the revision of a slot which it changes: these revisions never come
//!   back. 1 creates what it compares with nothing. Therefore it compares and writes the receipt,
//!   which is never deleted while the lease lives. A copy that arrives after the lease has ended
//!   cannot attach a key to it.
//! - *A client learns the outcome of a request before it makes the next one.* Otherwise the store
//!   could do two requests that compare different things.
//! - *Only the oldest waiter is granted a slot*, by 2 or by 4, and no newcomer passes it, by 1. So
//!   2 fails only if 4 was faster, and for the same chair. 2 also compares that there is no older
//!   chair. This is a second line of defence: if a mirror has reached the ticket and shows no older
//!   chair, it will never show one.
//! - *A free slot is noticed.* The oldest waiter watches. It judges by a mirror that has reached
//!   its ticket: an older one does not contain the waiter itself, as if its lease had ended.
//!
//! # Cost, faults, fairness
//! Two round trips a passage, for any number of clients. One more for a waiter that has to take its
//! slot by itself (2): after a death, or if the holder that left had not yet seen it.
//!
//! Any number of clients may die. A dead client's lease ends by itself. Until then it keeps its
//! slot, or its place in line; if its turn comes meanwhile, one slot idles.
//!
//! # Departures
//! This text has no `await`: [`Passage`] says what to send [next](Passage::next), and is told the
//! answer. The checker and the crate for etcd drive the same text.

mod mirror;
mod revisions;
mod term;
mod txn;

pub use mirror::{Held, Mirror};
pub use revisions::Revisions;
pub use term::{Moment, Term};
pub use txn::{Answer, Chair, Compare, Key, Op, Outcome, Receipt, Revision, Txn};

use alloc::vec;
use alloc::vec::Vec;

/// How many of the oldest waiters 4 may give one of `k` slots to. Each one is a comparison more.
/// With fewer, holders that leave at the same time name the same ones, and leave slots free: each
/// costs its next holder a round trip.
fn heirs(k: usize) -> usize {
    (2 * k).clamp(4, 16)
}

/// What a holder has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grant {
    /// The slot.
    pub slot: usize,
    /// The revision at which it was granted: larger than every earlier fence.
    pub fence: Revision,
}

/// Where a passage is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Outside,
    Entering { take: Option<usize>, queue: bool },
    Waiting { ticket: Revision },
    Claiming { ticket: Revision, slot: usize },
    Leaving { ticket: Revision },
    Inside(Grant),
    Passing { grant: Grant, heirs: Vec<(Revision, Chair)> },
    Lost,
}

/// What a passage does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// It sends this. Until it is told the answer, it says so again.
    Send(Txn),
    /// It waits until its mirror changes.
    Watch,
    /// Nothing: it is outside.
    Outside,
    /// Nothing: it is inside.
    Inside(Grant),
    /// Nothing: its lease has ended, or its slot was broken before it had noticed that it was
    /// granted. The chair is of no use any more, unless the lease still lives.
    Lost,
}

/// One chair: passages one after another, of one client.
///
/// ```
/// use doorway_core::k_assignment::leases::{Answer, Chair, Grant, Mirror, Next, Outcome, Passage, Receipt};
///
/// let mirror = Mirror::new(1);
/// let mut passage = Passage::new(Chair { lease: 7, number: 0 });
/// passage.enter(&mirror, true);
/// // The request stays the same until it is answered.
/// let Next::Send(first) = passage.next(&mirror) else { panic!() };
/// assert_eq!(passage.next(&mirror), Next::Send(first));
/// let receipt = Some(Receipt { outcome: Outcome::Granted(0), changed: 5 });
/// passage.answered(&Answer { done: true, revision: 5, receipt, ..Answer::default() });
/// assert_eq!(passage.next(&mirror), Next::Inside(Grant { slot: 0, fence: 5 }));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Passage {
    chair: Chair,
    /// The revision of the chair's receipt.
    receipt: Revision,
    /// The slot it had last, which it takes again if it can.
    last: usize,
    gives_up: bool,
    state: State,
}

impl Passage {
    /// A chair that was never used.
    #[must_use]
    pub fn new(chair: Chair) -> Self {
        // Clients begin with different slots, so that they rarely want the same one.
        let spread = (chair.lease ^ chair.number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let last = usize::from((spread >> 48) as u16);
        Self { chair, receipt: 0, last, gives_up: false, state: State::Outside }
    }

    /// Its name.
    #[must_use]
    pub fn chair(&self) -> Chair {
        self.chair
    }

    /// What it holds.
    #[must_use]
    pub fn grant(&self) -> Option<Grant> {
        match self.state {
            State::Inside(grant) => Some(grant),
            _ => None,
        }
    }

    /// Whether it is outside, with nothing to be decided.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.state == State::Outside
    }

    /// Whether it waits in line, as far as it knows.
    #[must_use]
    pub fn ticket(&self) -> Option<Revision> {
        match self.state {
            State::Waiting { ticket } | State::Claiming { ticket, .. } | State::Leaving { ticket } => Some(ticket),
            _ => None,
        }
    }

    /// Begins to enter: 1, or 5 if it does not `queue`. Does nothing unless it is outside.
    pub fn enter(&mut self, mirror: &Mirror, queue: bool) {
        if self.is_outside() {
            // A slot that the mirror still shows as this chair's was given back.
            let seems_free = mirror.slot_of(self.chair).map(|grant| grant.slot);
            let take = seems_free.or_else(|| mirror.free_slot(self.last)).or((!queue).then_some(0));
            self.gives_up = false;
            self.state = State::Entering { take, queue };
        }
    }

    /// It no longer wants to enter. A request that is in doubt is decided first: 3.
    pub fn give_up(&mut self) {
        match self.state {
            State::Waiting { ticket } => self.state = State::Leaving { ticket },
            State::Entering { .. } | State::Claiming { .. } => self.gives_up = true,
            _ => {}
        }
    }

    /// Begins to leave: 4. Does nothing unless it is inside.
    pub fn exit(&mut self, mirror: &Mirror) {
        if let State::Inside(grant) = self.state {
            self.last = grant.slot;
            self.state = State::Passing { grant, heirs: mirror.oldest(heirs(mirror.slots().len())) };
        }
    }

    /// What it does next. Looks at the mirror only while it waits.
    pub fn next(&mut self, mirror: &Mirror) -> Next {
        if let State::Waiting { ticket } = self.state {
            match self.judge(mirror, ticket) {
                Some(state) => self.state = state,
                None => return Next::Watch,
            }
        }
        match &self.state {
            State::Outside => Next::Outside,
            State::Inside(grant) => Next::Inside(*grant),
            State::Lost => Next::Lost,
            State::Waiting { .. } => Next::Watch,
            State::Entering { take, queue } => Next::Send(self.entering(*take, *queue)),
            State::Claiming { ticket, slot } => Next::Send(claim(self.chair, *ticket, *slot)),
            State::Leaving { ticket } => Next::Send(leave(self.chair, *ticket)),
            State::Passing { grant, heirs } => Next::Send(pass(*grant, heirs)),
        }
    }

    /// What a waiter concludes from its mirror.
    fn judge(&self, mirror: &Mirror, ticket: Revision) -> Option<State> {
        if mirror.revision() < ticket {
            return None; // the mirror does not know of this waiter yet
        }
        if let Some(grant) = mirror.slot_of(self.chair) {
            return Some(State::Inside(grant));
        }
        if mirror.ticket_of(self.chair) != Some(ticket) {
            return Some(State::Lost);
        }
        let is_oldest = mirror.oldest(1).first() == Some(&(ticket, self.chair));
        let slot = mirror.free_slot(self.last).filter(|_| is_oldest)?;
        Some(State::Claiming { ticket, slot })
    }

    /// The answer to what was sent last, or to an earlier copy of it.
    pub fn answered(&mut self, answer: &Answer) {
        let mine = || answer.slots.iter().find(|(_, held)| held.chair == self.chair);
        let mine = || mine().map(|&(slot, held)| Grant { slot, fence: held.fence });
        self.state = match self.state {
            State::Entering { queue, .. } => match answer.receipt {
                // Only this chair changes its receipt: it is newer, so this request was done.
                Some(Receipt { outcome, changed }) if changed > self.receipt => {
                    self.receipt = changed;
                    self.entered(outcome, changed, answer, queue)
                }
                _ => State::Lost,
            },
            State::Claiming { slot, .. } if answer.done => State::Inside(Grant { slot, fence: answer.revision }),
            State::Claiming { ticket, .. } => match mine() {
                Some(grant) => State::Inside(grant),
                None if answer.waits == Some(ticket) => State::Waiting { ticket },
                None => State::Lost,
            },
            State::Leaving { .. } if answer.done => State::Outside,
            State::Leaving { .. } => mine().map_or(State::Outside, State::Inside),
            State::Passing { .. } => State::Outside,
            ref other => other.clone(),
        };
        if self.gives_up
            && let State::Waiting { ticket } = self.state
        {
            self.state = State::Leaving { ticket };
        }
    }

    /// After 1 or 5, which was done at this revision.
    fn entered(&self, outcome: Outcome, at: Revision, answer: &Answer, queue: bool) -> State {
        match outcome {
            Outcome::Granted(slot) => State::Inside(Grant { slot, fence: at }),
            Outcome::Waits => State::Waiting { ticket: at },
            Outcome::Refused => {
                // Another slot than the one that seemed free may be.
                let is_free = |slot: &usize| answer.slots.iter().all(|(held, _)| held != slot);
                match (0..answer.k).find(is_free) {
                    Some(slot) if answer.oldest.is_none() && !self.gives_up => {
                        State::Entering { take: Some(slot), queue }
                    }
                    _ => State::Outside,
                }
            }
        }
    }

    /// The store refused the request, because a lease in it has ended: the chair's own, unless it
    /// is leaving. Then it frees its slot.
    pub fn has_no_lease(&mut self) {
        match &mut self.state {
            State::Passing { heirs, .. } => heirs.clear(),
            other => *other = State::Lost,
        }
    }

    /// Whether what it holds is no longer its own, as far as the mirror knows. The mirror is
    /// behind: only a fence tells for certain.
    #[must_use]
    pub fn is_lost(&self, mirror: &Mirror) -> bool {
        match self.state {
            State::Inside(Grant { slot, fence }) => {
                mirror.revision() >= fence && mirror.slot(slot) != Some(Held { chair: self.chair, fence })
            }
            ref state => *state == State::Lost,
        }
    }

    /// 1 and 5.
    fn entering(&self, take: Option<usize>, queue: bool) -> Txn {
        let me = self.chair;
        let receipt = |outcome| Op::PutReceipt(me, outcome);
        let (queued, reads) = if queue {
            (vec![Op::PutWaits(me), receipt(Outcome::Waits)], vec![Op::ReadReceipt(me)])
        } else {
            (vec![receipt(Outcome::Refused)], vec![Op::ReadReceipt(me), Op::ReadSlots, Op::ReadOldest])
        };
        let first = match take {
            Some(slot) => Op::Nested(Txn {
                when: vec![Compare::NobodyWaits, Compare::Changed(Key::Slot(slot), 0)],
                then: vec![Op::PutSlot(slot, me), receipt(Outcome::Granted(slot))],
                otherwise: queued,
            }),
            None => Op::Nested(Txn { when: vec![], then: queued, otherwise: vec![] }),
        };
        let then = core::iter::once(first).chain(reads.iter().cloned()).collect();
        Txn { when: vec![Compare::Changed(Key::Receipt(me), self.receipt)], then, otherwise: reads }
    }
}

/// 2.
fn claim(me: Chair, ticket: Revision, slot: usize) -> Txn {
    Txn {
        when: vec![
            Compare::Created(Key::Waits(me), ticket),
            Compare::NobodyWaitsBefore(ticket),
            Compare::Changed(Key::Slot(slot), 0),
        ],
        then: vec![Op::Delete(Key::Waits(me)), Op::PutSlot(slot, me)],
        otherwise: vec![Op::ReadWaits(me), Op::ReadSlots],
    }
}

/// 3.
fn leave(me: Chair, ticket: Revision) -> Txn {
    Txn {
        when: vec![Compare::Created(Key::Waits(me), ticket)],
        then: vec![Op::Delete(Key::Waits(me))],
        otherwise: vec![Op::ReadSlots],
    }
}

/// 4: the slot goes to the first of these that is the oldest that waits, or becomes free.
///
/// An operator that breaks a slot sends the same.
#[must_use]
pub fn pass(Grant { slot, fence }: Grant, heirs: &[(Revision, Chair)]) -> Txn {
    let free = vec![Op::Delete(Key::Slot(slot))];
    let then = heirs.iter().rev().fold(free, |otherwise, &(ticket, heir)| {
        vec![Op::Nested(Txn {
            when: vec![Compare::Created(Key::Waits(heir), ticket), Compare::NobodyWaitsBefore(ticket)],
            then: vec![Op::Delete(Key::Waits(heir)), Op::PutSlot(slot, heir)],
            otherwise,
        })]
    });
    Txn { when: vec![Compare::Changed(Key::Slot(slot), fence)], then, otherwise: vec![] }
}
