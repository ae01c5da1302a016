//! Once slots are closed, no process gets in.
//!
//! # Problem
//! In a closed [turnstile](crate::k_exclusion::turnstile), no process waits. But a waiter that was
//! signalled (14) and has not run since (8) still gets in, whether the holder that signalled it
//! left before it was closed or afterwards. Users want to know that no process gets in once `close`
//! has returned: then they can tear down what the slots protect.
//!
//! # Idea
//! A process that does not get in at once reads the gate again (31) when it has its place. If the
//! gate is closed by then, the process gives its place back, as a holder does, and is refused. A
//! process that gets in at once has seen the gate open (3, 26), and got in at that moment.
//!
//! Only an access after the wait can tell, because any time may pass between a signal and the next
//! step of its waiter. So the turnstile by itself, which provides order and tolerates deaths, stays
//! as it is.
//!
//! # Claim (checked by search, with faults)
//! - closed-lets-nobody-in: a process that has not got in when it is closed never gets in. It is
//!   refused, and no place is lost by that.
//!
//! # Cost
//! One load for each process that had to wait or to help others, and for each newcomer that passed
//! a line. Other processes pay nothing.

use super::{Grant, Holding, Slots};
use crate::Failure;
use crate::k_assignment::names::Names;
use crate::k_exclusion::bypass::Tray;
use crate::k_exclusion::turnstile::{Attempt, Drawn, Fate, Line, Refused};
use crate::memory::{CompareSwap, FetchAdd, LateRows, Process, in_both_forms, within};
use core::ops::Range;

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    /// The exit section, where newcomers pass or not.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn give_back(&self, p: &Process<M>, tray: Option<&Tray<M>>, holding: Holding) -> Result<(), M::Error> {
        match tray {
            Some(tray) => self.release_passing(p, tray, holding).await,
            None => self.give_holding_back(p, holding).await,
        }
    }

    in_both_forms! {
        /// Runs when a process has its place and did not get in at once: 31, and an exit if the
        /// slots are closed.
        #[inline(always)]
        pub fn unless_closed, unless_closed_now(&self, p: &Process<M>, tray: Option<&Tray<M>>, grant: Grant) -> Result<Grant, Refused> {'text: {
            let here = p.on(self.part);
            if !within!(here, &grant, either!(self.line.is_closed(p), self.line.is_closed_now(p))) {
                break 'text Ok(grant);
            }
            access!(self.give_back(p, tray, grant.holding));
            Err(Refused::Closed)
        }}
    }

    /// The same for a process that may have no place.
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

    /// [`barge`](Self::barge), unless the slots are closed meanwhile.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the slots are closed.
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

    /// [`stand`](Self::stand), unless the slots are closed meanwhile.
    ///
    /// # Errors
    /// The same as for [`stand`](Self::stand).
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

    in_both_forms! {
        /// [`enter_in_turn`](Self::enter_in_turn), unless the slots are closed meanwhile.
        #[inline(always)]
        pub fn enter_in_turn_unless_closed, enter_in_turn_unless_closed_now(&self, p: &Process<M>, tray: Option<&Tray<M>>, attempt: &mut Attempt, told: Fate) -> Result<Grant, Refused> {'text: {
            let entered = match tray {
                Some(tray) => access!(self.in_turn_passing(p, tray, attempt, told)),
                None => either!(self.enter_in_turn(p, attempt, told), self.enter_in_turn_now(p, attempt, told)),
            };
            let grant = match entered {
                Ok(grant) => grant,
                Err(why) => break 'text Err(why),
            };
            either!(self.unless_closed(p, tray, grant), self.unless_closed_now(p, tray, grant))
        }}
    }

    /// [`enter_in_turn_passing`](Self::enter_in_turn_passing), whose refusal is a value.
    async fn in_turn_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        attempt: &mut Attempt,
        told: Fate,
    ) -> Result<Result<Grant, Refused>, M::Error> {
        match self.enter_in_turn_passing(p, tray, attempt, told).await {
            Ok(grant) => Ok(Ok(grant)),
            Err(Failure::Refused(why)) => Ok(Err(why)),
            Err(Failure::Memory(e)) => Err(e),
        }
    }

    in_both_forms! {
        /// [`withdraw`](Self::withdraw). If the slots are closed meanwhile, a process that was let
        /// in before gives its place back.
        #[inline(always)]
        pub fn leave_unless_closed, leave_unless_closed_now(&self, p: &Process<M>, tray: Option<&Tray<M>>, attempt: Attempt) -> Option<Grant> {
            let here = p.on(self.part);
            here.shows("looks again", true);
            let let_in = match tray {
                Some(tray) => access!(self.leave_passing(p, tray, attempt)),
                None => either!(self.withdraw(p, attempt), self.withdraw_now(p, attempt)),
            };
            let kept = match let_in {
                Some(grant) => either!(self.unless_closed(p, tray, grant), self.unless_closed_now(p, tray, grant)).ok(),
                None => None,
            };
            here.hides("looks again");
            kept
        }
    }
}
