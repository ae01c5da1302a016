//! Slots whose newcomers may [pass the waiters in line](crate::k_exclusion::bypass), a bounded
//! number of times.
//!
//! Each operation is that of [slots](super) with a [tray](Tray) beside the turnstile. A process
//! that passes has no ticket. So the fence numbers of such slots come from [the tray's
//! stamps](crate::k_exclusion::bypass) instead of tickets: the number of a grant is
//! `max(last + 1, K s)`, where `s` is its stamp.
//!
//! [What holds of tickets](super::Fence) holds of stamps too. Let `f` be the number of a grant.
//! Since a holder whose number was `K s`, the numbers of its name grew by one `j` times, so
//! `f = K s + j`. Each of these `j` processes added to `next` or `stamp` while it held a place. At
//! most `k - 1` of them did so before that holder had its stamp, since they held places together
//! with it. The others, at least `j - (k - 1)`, made the sum larger than `s + 1` by one each. So a
//! process that asks later has a stamp `t` with `t >= s + 1 + j - (k - 1)` and `t >= s + 1`, hence
//! `K t > K s + j`, because `K >= k`.

use super::{Entered, Grant, Holding, Slots};
use crate::Failure;
use crate::k_assignment::KAssignment;
use crate::k_assignment::names::Names;
use crate::k_exclusion::bypass::{Rest, Tray};
use crate::k_exclusion::turnstile::{Attempt, Drawn, Fate, Held, Line, Record, Refused, Ring};
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{CompareSwap, FetchAdd, LateRows, Memory, Process, in_both_forms, within};

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>, X> Slots<M, N, L, X> {
    in_both_forms! {
        /// The entry of a newcomer that may pass: it takes a place from the tray, or one that is
        /// free. Returns `NoPlace` if there is no such place; the newcomer may try again. A process
        /// that asks for several units takes only free units.
        #[inline(always)]
        pub fn begin_passing, begin_passing_now(&self, p: &Process<M>, tray: &Tray<M>, units: u64, once: bool) -> Entered {'text: {
            let here = p.on(self.part);
            here.part(&());
            let taken = units == 1 && either!(tray.take(p, once), tray.take_now(p, once));
            let held = if taken {
                let held = Held::of(1, false);
                // The tray does not tell whether the slots are closed.
                if either!(self.line.is_closed(p), self.line.is_closed_now(p)) {
                    break 'text Entered::Not(Drawn::with_nobody_to_help(held));
                }
                either!(tray.stamped(p, &self.line, held), tray.stamped_now(p, &self.line, held))
            } else {
                let tried =
                    either!(self.line.draw_if_enabled(p, units, once), self.line.draw_if_enabled_now(p, units, once));
                match Entered::by(here, tried) {
                    Ok(held) => either!(tray.stamped_at_once(p, held), tray.stamped_at_once_now(p, held)),
                    Err(entered) => break 'text entered,
                }
            };
            here.part_done();
            Entered::Inside(either!(self.named(here, held), self.named_now(here, held)))
        }}

        /// The exit section of a process that holds one unit and [did not
        /// wait](Holding::is_one_at_once), up to where it calls a waiter.
        #[inline(always)]
        pub fn end_passing, end_passing_now(&self, p: &Process<M>, tray: &Tray<M>, holding: Holding) -> Rest {
            let here = p.on(self.part);
            let held = holding.held();
            either!(self.names.give_back(here, holding.name()), self.names.give_back_now(here, holding.name()));
            self.is_nameless(here, held);
            here.part(&());
            let rest = either!(tray.give_back(p, &self.line, held), tray.give_back_now(p, &self.line, held));
            if rest == Rest::Nothing {
                here.part_done();
            }
            rest
        }
    }

    /// The rest of that exit section.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn settle_passing(&self, p: &Process<M>, tray: &Tray<M>, rest: Rest) -> Result<(), M::Error> {
        tray.settle(p, &self.line, rest).await?;
        p.on(self.part).part_done();
        Ok(())
    }

    /// [`release`](KExclusion::release), where newcomers may pass.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn release_passing(&self, p: &Process<M>, tray: &Tray<M>, holding: Holding) -> Result<(), M::Error> {
        let here = p.on(self.part);
        self.give_names_back(here, holding).await?;
        within!(here, &(), tray.release(p, &self.line, holding.held()).await?);
        Ok(())
    }

    /// Draws a ticket. With it, the process [goes on](Self::go_on_passing).
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn draw_passing(&self, p: &Process<M>, units: u64) -> Result<Drawn, M::Error> {
        p.on(self.part).part(&());
        self.line.draw(p, units).await
    }

    /// [`go_on`](Self::go_on), where newcomers may pass.
    ///
    /// # Errors
    /// The same as for [`go_on`](Self::go_on).
    pub async fn go_on_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let let_in = tray.go_on(p, &self.line, drawn, units, attempt, may_give_up).await?;
        self.named_passing(p, tray, let_in).await
    }

    /// [`stand`](Self::stand), where newcomers may pass.
    ///
    /// # Errors
    /// The same as for [`stand`](Self::stand).
    pub async fn stand_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let let_in = self.line.stand(p, drawn, units, attempt, true).await.map(super::inside);
        match tray.let_in(p, &self.line, let_in).await? {
            None => Ok(None),
            let_in => self.named_passing(p, tray, let_in).await,
        }
    }

    /// [`turn`](Self::turn), for a process that listens.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn turn_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        place: (u64, &M::Cell<Record>),
        attempt: &Attempt,
    ) -> Result<Option<Fate>, M::Error> {
        tray.turn(p, &self.line, place, attempt, 0).await
    }

    /// [`enter_in_turn`](Self::enter_in_turn), where newcomers may pass.
    ///
    /// # Errors
    /// Returns an error if an access failed, or if the slots are closed.
    pub async fn enter_in_turn_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        attempt: &mut Attempt,
        told: Fate,
    ) -> Result<Grant, Failure<M::Error, Refused>> {
        let let_in = self.line.enter_in_turn(p, attempt, Ok(told)).await.map(Some);
        let let_in = tray.let_in(p, &self.line, let_in).await?;
        match self.named_passing(p, tray, let_in).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("it was let in"),
        }
    }

    /// [`leave`](Abortable::leave), where newcomers may pass.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn leave_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        attempt: Attempt,
    ) -> Result<Option<Grant>, M::Error> {
        Ok(match tray.leave(p, &self.line, attempt).await? {
            Some(held) => {
                let held = tray.stamped(p, &self.line, held).await?;
                Some(self.named(p.on(self.part), held).await?)
            }
            None => None,
        })
    }

    async fn named_passing(
        &self,
        p: &Process<M>,
        tray: &Tray<M>,
        let_in: Option<Held>,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        let here = p.on(self.part);
        let held = match let_in {
            Some(held) => Some(tray.stamped(p, &self.line, held).await?),
            None => None,
        };
        here.part_done();
        Ok(match held {
            Some(held) => Some(self.named(here, held).await?),
            None => None,
        })
    }
}

/// Slots and a tray: `doorway::Slots` whose newcomers pass run this.
#[derive(Debug)]
pub struct Passing<M: Memory, N, L = Ring<M>> {
    slots: Slots<M, N, L>,
    tray: Tray<M>,
}

impl<M: Memory, N, L> Passing<M, N, L> {
    /// Puts slots and a tray together. The tray must have been made on the turnstile's site.
    pub fn new(slots: Slots<M, N, L>, tray: Tray<M>) -> Self {
        Self { slots, tray }
    }

    /// The slots.
    pub fn slots(&self) -> &Slots<M, N, L> {
        &self.slots
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>> Passing<M, N, L> {
    async fn enter(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        if let Some(grant) = self.slots.barge(p, Some(&self.tray), 1, 0..1).await? {
            return Ok(Some(grant));
        }
        let drawn = self.slots.draw_passing(p, 1).await?;
        self.slots.go_on_passing(p, &self.tray, drawn, 1, attempt, may_give_up).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>> KExclusion<M> for Passing<M, N, L> {
    type Held = Grant;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<M>) -> Result<Grant, Failure<M::Error, Refused>> {
        match self.enter(p, &mut Attempt::default(), false).await? {
            Some(grant) => Ok(grant),
            None => unreachable!("only a process that may give up is asked to"),
        }
    }

    async fn release(&self, p: &Process<M>, grant: Grant) -> Result<(), M::Error> {
        self.slots.release_passing(p, &self.tray, grant.holding).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>> Abortable<M> for Passing<M, N, L> {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<M>,
        attempt: &mut Attempt,
    ) -> Result<Option<Grant>, Failure<M::Error, Refused>> {
        self.enter(p, attempt, true).await
    }

    async fn leave(&self, p: &Process<M>, attempt: Attempt) -> Result<Option<Grant>, M::Error> {
        self.slots.leave_passing(p, &self.tray, attempt).await
    }
}

impl<M: FetchAdd + CompareSwap + LateRows, N: Names<M>, L: Line<M>> KAssignment<M> for Passing<M, N, L> {
    fn name(held: &Grant) -> usize {
        held.holding.name() as usize
    }
}
