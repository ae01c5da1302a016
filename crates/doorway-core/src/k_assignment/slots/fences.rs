//! Fence numbers: made when a holder asks for its number.
//!
//! # Problem
//! A holder that was thought dead may come back. A resource can refuse it if each holder has a
//! number that is larger than those of its predecessors. Most holders never ask for theirs.
//!
//! # Idea
//! What decides the number is known once a process is inside: its ticket, and [what earlier holders
//! left](crate::k_assignment::names#fence-numbers) beside its names. Both stay as they are while
//! the process is inside. So the number may as well be made later, when a thread of the holder asks
//! for it. Several threads may share a grant and ask at the same time. One of them decides (11);
//! the others see what it decided. It then leaves the number beside the names (7), before its call
//! returns, and so before the names go back.
//!
//! # Variables
//! | name  | range | initially | home | written at | meaning |
//! |-------|-------|-----------|------|------------|---------|
//! | `own` | [fence](Fence) | `Of` the ticket | its holder | 11 | the number of a grant, once it is made |
//!
//! and `last[0..k]` of the names.
//!
//! # The number
//! It is `max(last + 1, K t)`. Here `last` is the largest number that a holder of the same name
//! made, `t` is the ticket of the grant, and `K` is a power of two that is at least the number of
//! places.
//!
//! - The number is larger than that of every earlier holder of the same name.
//! - The number is larger than that of every grant whose process was inside before this one drew
//!   its ticket. To see this, let `f` be the number of such a grant. Numbers of one name grow by
//!   one while older tickets follow a newer one there, and at most `k - 1` older tickets can still
//!   be granted after a ticket `u` was. So `f < K (u + 1)` for the ticket `u` of an earlier holder
//!   of its name, or its own. That ticket was drawn before `t`, hence `K t >= K (u + 1)`.
//!
//! The second property ends when `K t` no longer fits 62 bits (2^54 tickets with up to 256 places,
//! 2^46 with the largest number of places). The first ends only after the same number of grants of
//! one name.
//!
//! # Claims (checked by search)
//! - (F) both properties, at whatever time the holder asks
//! - (F1) all threads that ask for the number of one grant get the same
//!
//! # Cost
//! Holders that never ask pay nothing. The first to ask makes two loads, a store and a
//! read-modify-write for each name; later ones make a load.

use super::{Holding, Slots};
use crate::k_assignment::names::Names;
use crate::k_exclusion::turnstile::Line;
use crate::memory::{CompareSwap, FetchAdd, LateRows, Nobody, Process, Word};

/// The number of a grant, or what it will be made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// No thread has asked for it. This is the ticket of the grant.
    Of(u64),
    /// The number.
    Is(u64),
}

impl Fence {
    const IS: u64 = 1;

    /// The word of [`Fence::Of`], for variables that are made with it.
    #[must_use]
    #[inline(always)]
    pub const fn word_of(ticket: u64) -> u64 {
        ticket << 1
    }
}

/// No process waits for it. Tickets and numbers have 63 bits.
impl Word for Fence {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        match self {
            Self::Of(ticket) => Self::word_of(ticket),
            Self::Is(number) => number << 1 | Self::IS,
        }
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        if word & Self::IS == 0 { Self::Of(word >> 1) } else { Self::Is(word >> 1) }
    }
}

/// The largest multiple of a ticket that is a number.
pub(super) const LAST_FENCE: u64 = u64::MAX >> 2;

impl<M: LateRows, N: Names<M>, L, X> Slots<M, N, L, X> {
    /// The least fence number for a process with this ticket: [a multiple of it](self).
    fn least_fence(&self, ticket: u64) -> u64 {
        ticket.min(self.last) << self.below
    }

    /// An upper bound of all fence numbers so far, if `next` is the next ticket.
    pub fn largest_fence(&self, next: u64) -> u64 {
        self.least_fence(next)
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    /// The fence number of a grant, for a thread of its holder: 10, 6, 11, 7. `own` stands beside
    /// the grant, and is `Of` its ticket before the first call.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn fence(&self, p: &Process<M>, holding: Holding, own: &M::Cell<Fence>) -> Result<u64, M::Error> {
        let here = p.on(self.part);
        let ticket = match here.at(10).keeping(&holding).read(own).await? {
            Fence::Is(number) => return Ok(number),
            Fence::Of(ticket) => ticket,
        };
        let (name, units) = (holding.name(), holding.units() as u64);
        let number = self.names.number(here, name, units, self.least_fence(ticket), &(holding, ticket)).await?;
        here.keep(11, &(holding, ticket, number));
        match here.at(11).compare_swap(own, Fence::Of(ticket), Fence::Is(number)).await? {
            Ok(_) => self.names.note(here, name, units, number, &()).await.map(|()| number),
            Err(Fence::Is(number)) => Ok(number),
            Err(Fence::Of(_)) => unreachable!("a grant has one ticket"),
        }
    }
}
