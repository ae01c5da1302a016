//! Once slots are closed, nobody gets in.
//!
//! # Problem
//! A closed [turnstile](crate::k_exclusion::turnstile) keeps nobody waiting. But it lets a waiter
//! in that was signalled (14) and has not run since (8), whether the holder that signalled it left
//! before it was closed or afterwards. Users want to know that nobody gets in any more when `close`
//! has returned: then they can tear down what the slots are for.
//!
//! # Idea
//! A process that does not get in at once looks at the gate again (31) when it has its place. If it
//! is closed by then, the process gives its place back, as a holder does, and is refused. A process
//! that gets in at once has seen the gate open (3, 26): there it got in.
//!
//! Only an access after the wait can tell, for a signal may lie there for any time before its
//! waiter runs. So the turnstile by itself, which cares for order and deaths, stays as it is.
//!
//! # Claim (checked by search, with faults)
//! - closed-lets-nobody-in: a process that has not got in when it is closed never gets in. It is
//!   refused, and no place is lost by that.
//!
//! # Cost
//! One load for each process that had to wait or to help others, and for each newcomer that passed
//! a line. Nothing for others.

use super::{Grant, Slots};
use crate::Failure;
use crate::k_assignment::names::Names;
use crate::k_exclusion::bypass::Tray;
use crate::k_exclusion::turnstile::{Attempt, Drawn, Fate, Line, Refused};
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, Process, in_both_forms, within};
use core::ops::Range;

impl<M: FetchAdd + CompareSwap, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    /// The exit section, where newcomers pass or not.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn give_back(&self, p: &Process<M>, tray: Option<&Tray<M>>, grant: Grant) -> Result<(), M::Error> {
        match tray {
            Some(tray) => self.release_passing(p, tray, grant).await,
            None => self.release(p, grant).await,
        }
    }

    in_both_forms! {
        /// What a process does that has its place and did not get in at once: 31, and an exit if it
        /// is closed.
        #[inline(always)]
        pub fn unless_closed, unless_closed_now(&self, p: &Process<M>, tray: Option<&Tray<M>>, grant: Grant) -> Result<Grant, Refused> {'text: {
            let here = p.on(self.part);
            if !within!(here, &grant, either!(self.line.is_closed(p), self.line.is_closed_now(p))) {
                break 'text Ok(grant);
            }
            access!(self.give_back(p, tray, grant));
            Err(Refused::Closed)
        }}
    }

    /// The same of one that may have no place.
    pub(super) async fn if_any_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        entered: Result<Option<Grant>, Failure<M::Error, Refused>>,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        match entered {
            Ok(Some(grant)) => self.unless_closed(p, tray, grant).await?.map(Some).map_err(Failure::Refused),
            other => other,
        }
    }

    /// [`barge`](Self::barge), unless it is closed meanwhile.
    ///
    /// # Errors
    /// If an access failed, or if it is closed.
    pub async fn barge_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        units: u64,
        tries: Range<u32>,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        here.shows("looks again", true);
        let entered = self.barge(p, tray, units, tries).await;
        let entered = self.if_any_unless_closed(p, tray, entered).await;
        here.hides("looks again");
        entered
    }

    /// [`stand`](Self::stand), unless it is closed meanwhile.
    ///
    /// # Errors
    /// As that.
    pub async fn stand_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let entered = match tray {
            Some(tray) => self.stand_passing(p, tray, drawn, units, attempt).await,
            None => self.stand(p, drawn, units, attempt).await,
        };
        self.if_any_unless_closed(p, tray, entered).await
    }

    /// [`enter_in_turn`](Self::enter_in_turn), unless it is closed meanwhile.
    ///
    /// # Errors
    /// As that.
    pub async fn enter_in_turn_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        attempt: &mut Attempt,
        told: Fate,
    ) -> Result<Grant, Failure<M::Error, Refused>> {
        let grant = match tray {
            Some(tray) => self.enter_in_turn_passing(p, tray, attempt, told).await?,
            None => self.enter_in_turn(p, attempt, told).await?,
        };
        self.unless_closed(p, tray, grant).await?.map_err(Failure::Refused)
    }

    /// [`leave`](Abortable::leave). If it is closed meanwhile, a process that was let in before is
    /// not.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn leave_unless_closed(
        &self,
        p: &Process<M>,
        tray: Option<&Tray<M>>,
        attempt: Attempt,
    ) -> Result<Option<Grant>, M::Error> {
        let here = p.on(self.part);
        here.shows("looks again", true);
        let let_in = match tray {
            Some(tray) => self.leave_passing(p, tray, attempt).await?,
            None => self.leave(p, attempt).await?,
        };
        let let_in = self.if_any_unless_closed(p, tray, Ok(let_in)).await;
        here.hides("looks again");
        match let_in {
            Ok(let_in) => Ok(let_in),
            Err(Failure::Refused(_)) => Ok(None),
            Err(Failure::Memory(e)) => Err(e),
        }
    }
}
