//! Users of rooms that choose their rooms nondeterministically: the behaviour that a checker
//! explores.
//!
//! A visit is a passage: its entry section enters a room, and its exit section exits. Every tool
//! that checks solutions of [k-exclusion](crate::k_exclusion) therefore also checks rooms.

use super::blelloch_cheng_gibbons_01::{Misuse, Strict};
use super::{LastOut, Refusal, RoomSynchronization, Tickets};
use crate::Failure;
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{Choose, CompareSwap, FetchAdd, Memory, Process, Site, within};

/// Each user enters any room, and exits.
#[derive(Debug)]
pub struct Visits<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R> Visits<M, R> {
    /// Visits to these rooms.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self { part: site.here(), rooms: rooms(site) }
    }
}

impl<M: Choose, R: RoomSynchronization<M>> KExclusion<M> for Visits<M, R> {
    type Held = R::Inside;
    type Refusal = R::Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<R::Inside, Failure<M::Error, R::Refusal>> {
        let room = p.on(self.part).at(0).choose(self.rooms.rooms()).await?;
        self.rooms.enter(p, room).await
    }

    async fn release(&self, p: &Process<M>, inside: R::Inside) -> Result<(), M::Error> {
        self.rooms.exit(p, inside).await.map(|_| ())
    }
}

impl<M: Choose, R: Tickets<M>> Abortable<M> for Visits<M, R> {
    /// The ticket with which it waits.
    type Attempt = Option<R::Ticket>;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Option<R::Ticket>,
    ) -> Result<Option<R::Inside>, Failure<M::Error, Refusal>> {
        let room = p.on(self.part).at(0).choose(self.rooms.rooms()).await?;
        let ticket = attempt.insert(self.rooms.draw(p, room).await?);
        Ok(self.rooms.wait_unless_given_up(p, ticket).await?)
    }

    async fn leave(&self, p: &Process<M>, attempt: Option<R::Ticket>) -> Result<Option<R::Inside>, M::Error> {
        match attempt {
            Some(ticket) => self.rooms.withdraw(p, ticket).await,
            None => Ok(None),
        }
    }
}

/// Each user enters any room, changes to any room, including the same one, and exits.
#[derive(Debug)]
pub struct Changes<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R> Changes<M, R> {
    /// Changes between these rooms.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self { part: site.here(), rooms: rooms(site) }
    }
}

impl<M: Choose, R: Tickets<M>> KExclusion<M> for Changes<M, R> {
    type Held = R::Inside;
    type Refusal = Refusal;

    async fn acquire(&self, p: &Process<M>) -> Result<R::Inside, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let room = here.at(0).choose(self.rooms.rooms()).await?;
        let inside = self.rooms.enter(p, room).await?;
        let to = here.at(0).keeping(&inside).choose(self.rooms.rooms()).await?;
        let ticket = self.rooms.change_ticket(p, inside, to).await?;
        Ok(self.rooms.wait(p, ticket).await?)
    }

    async fn release(&self, p: &Process<M>, inside: R::Inside) -> Result<(), M::Error> {
        self.rooms.exit(p, inside).await.map(|_| ())
    }
}

impl<M: Choose, R: Tickets<M>> Abortable<M> for Changes<M, R> {
    type Attempt = Option<R::Ticket>;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Option<R::Ticket>,
    ) -> Result<Option<R::Inside>, Failure<M::Error, Refusal>> {
        let here = p.on(self.part);
        let room = here.at(0).choose(self.rooms.rooms()).await?;
        let ticket = attempt.insert(self.rooms.draw(p, room).await?);
        let Some(inside) = self.rooms.wait_unless_given_up(p, ticket).await? else { return Ok(None) };
        *attempt = None;
        let to = here.at(0).keeping(&inside).choose(self.rooms.rooms()).await?;
        let ticket = attempt.insert(self.rooms.change_ticket(p, inside, to).await?);
        Ok(self.rooms.wait_unless_given_up(p, ticket).await?)
    }

    async fn leave(&self, p: &Process<M>, attempt: Option<R::Ticket>) -> Result<Option<R::Inside>, M::Error> {
        match attempt {
            Some(ticket) => self.rooms.withdraw(p, ticket).await,
            None => Ok(None),
        }
    }
}

/// Each user enters any room, or tries to. A user that tries and finds a room active goes away
/// again.
#[derive(Debug)]
pub struct Tries<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R> Tries<M, R> {
    /// Tries at these rooms.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>) -> R) -> Self {
        Self { part: site.here(), rooms: rooms(site) }
    }
}

/// Why a visit did not take place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotNow {
    /// A room was active.
    Active,
    /// The user was turned away.
    Refused(Refusal),
}

fn refused<E>(failure: Failure<E, Refusal>) -> Failure<E, NotNow> {
    match failure {
        Failure::Memory(e) => Failure::Memory(e),
        Failure::Refused(refusal) => Failure::Refused(NotNow::Refused(refusal)),
    }
}

impl<M: Choose, R: Tickets<M>> KExclusion<M> for Tries<M, R> {
    type Held = R::Inside;
    type Refusal = NotNow;

    async fn acquire(&self, p: &Process<M>) -> Result<R::Inside, Failure<M::Error, NotNow>> {
        let rooms = self.rooms.rooms();
        let what = p.on(self.part).at(0).choose(2 * rooms).await?;
        if what < rooms {
            return self.rooms.enter(p, what).await.map_err(refused);
        }
        let tried = self.rooms.try_enter(p, what - rooms).await.map_err(refused)?;
        tried.ok_or(Failure::Refused(NotNow::Active))
    }

    async fn release(&self, p: &Process<M>, inside: R::Inside) -> Result<(), M::Error> {
        self.rooms.exit(p, inside).await.map(|_| ())
    }
}

/// Each user also breaks the rules: it enters from inside, exits from outside, asks for a room that
/// does not exist, or claims to be user 0.
#[derive(Debug)]
pub struct Misuses<M: Memory, X = ()> {
    part: M::Part,
    rooms: Strict<M, X>,
}

impl<M: Memory, X> Misuses<M, X> {
    /// Misuses of these rooms.
    pub fn new(site: &Site<'_, M>, rooms: impl FnOnce(&Site<'_, M>) -> Strict<M, X>) -> Self {
        Self { part: site.here(), rooms: rooms(site) }
    }
}

impl<M: FetchAdd + CompareSwap + Choose, X: LastOut<M>> KExclusion<M> for Misuses<M, X> {
    /// The user that it claims to be.
    type Held = usize;
    type Refusal = Misuse;

    async fn acquire(&self, p: &Process<M>) -> Result<usize, Failure<M::Error, Misuse>> {
        let here = p.on(self.part);
        let own = p.pid().index();
        // Any process may claim to be user 0. Other users may exit without being inside. User 0
        // must not, because another process may have entered in its name.
        let user = if own == 0 { 0 } else { own * here.at(0).choose(2).await? };
        if user != 0 && here.at(0).keeping(&("exits", user)).choose(2).await? == 1 {
            self.rooms.exit(p, user).await?;
        }
        let room = here.at(0).keeping(&("enters", user)).choose(self.rooms.rooms() + 1).await?;
        self.rooms.enter(p, user, room).await?;
        if here.at(0).keeping(&("again", user, room)).choose(2).await? == 1 {
            let again = within!(here, &user, self.rooms.enter(p, user, (room + 1) % self.rooms.rooms()).await);
            if let Err(Failure::Memory(e)) = again {
                return Err(Failure::Memory(e));
            }
        }
        Ok(user)
    }

    async fn release(&self, p: &Process<M>, user: usize) -> Result<(), M::Error> {
        match self.rooms.exit(p, user).await {
            Err(Failure::Memory(e)) => Err(e),
            _ => Ok(()),
        }
    }
}
