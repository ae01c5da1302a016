//! How a slot goes to the next owner: 16 to 24; and a process that only tries: 37.

use super::{Freed, Grant, Left, Mortal, News, Seats, Unit, Want};
use crate::memory::{Here, Label, Process, within};
use core::fmt::{self, Debug};

/// What a look at all rows with a bit has found.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    /// Tickets from this one on are too young to count.
    below: u64,
    /// The seat and the ticket of the oldest waiter. `called` says whether it is called.
    oldest: Option<(usize, u64)>,
    called: bool,
    /// Whether there is a waiter whose ticket is too young to count.
    younger: bool,
}

impl Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let oldest = self.oldest.map(|(seat, t)| (seat, Want::Waits(t)));
        let called = if self.called { " called" } else { "" };
        write!(f, "T({}) {oldest:?}{called} {}", self.below, self.younger)
    }
}

impl<M: Mortal> Seats<M> {
    /// Gives free slots to the waiters. If a slot is then left, enters; otherwise does not: 37.
    ///
    /// This is for a process that does not wait, and found [a waiter in line](Self::try_enter).
    /// That waiter may have been offered a slot by now, or may be dead.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn try_past_offers(&self, p: &Process<M>, from: usize) -> Result<Option<Grant>, M::Error> {
        let here = p.on(self.part);
        if !self.is_in_order() {
            let unit = self.take(here, from, [2, 3], &()).await?;
            return Ok(unit.map(|unit| self.inside(here, unit)));
        }
        let mut turn = 0;
        loop {
            if self.line(here, [37, 371], u64::MAX, &from).await?.oldest.is_none() {
                let unit = self.take(here, from, [2, 3], &()).await?;
                return Ok(unit.map(|unit| self.inside(here, unit)));
            }
            let Some(unit) = self.take(here, from, [24, 241], &("try", from)).await? else { return Ok(None) };
            within!(here, &("try", from), self.pass(here, unit, unit.word.news()).await?);
            turn += 1;
            here.at(37).goes_round(turn)?;
        }
    }

    /// Looks at all rows with a bit, to find the oldest waiter. Tickets from `below` on do not
    /// count.
    async fn line(
        &self,
        p: Here<'_, M>,
        [look, row]: [Label; 2],
        below: u64,
        live: &impl Debug,
    ) -> Result<Line, M::Error> {
        let mut line = Line { below, oldest: None, called: false, younger: false };
        for word in 0..self.words {
            let mut bits = p.at(look).keeping(&(word, line, live)).read(&self.bits[word]).await?;
            while bits != 0 {
                let seat = word * self.per_word + bits.trailing_zeros() as usize;
                if seat >= self.seats {
                    return Err(p.at(look).damaged(bits));
                }
                let want = p.at(row).keeping(&(word, bits, line, live)).read(&self.want[seat]).await?;
                match want {
                    Want::Called(_) if self.is_in_order() => return Err(p.at(row).damaged(want)),
                    Want::Damaged(word) => return Err(p.at(row).damaged(word)),
                    Want::Waits(t) | Want::Called(t) if t >= below => line.younger = true,
                    Want::Waits(t) | Want::Called(t) if line.oldest.is_none_or(|(_, oldest)| t < oldest) => {
                        (line.oldest, line.called) = (Some((seat, t)), want == Want::Called(t));
                    }
                    Want::Nothing | Want::Waits(_) | Want::Called(_) | Want::Offered { .. } => {}
                }
                bits &= bits - 1;
            }
        }
        Ok(line)
    }

    /// Gives a slot to the oldest waiter, or frees it: 16 to 24.
    pub(super) async fn pass(&self, p: Here<'_, M>, unit: Unit, news: News) -> Result<Left, M::Error> {
        self.pass_or_free(p, unit, news, true).await
    }

    /// [`pass`](Self::pass); but an owner that does not hand over frees the slot even if a process
    /// waits.
    pub(super) async fn pass_or_free(
        &self,
        p: Here<'_, M>,
        unit: Unit,
        news: News,
        hands_over: bool,
    ) -> Result<Left, M::Error> {
        let (mut unit, mut news, mut is_first) = (unit, news, true);
        loop {
            let broken = if is_first { Left::Broken } else { Left::Passed };
            match self.free(p, unit, news, hands_over, &is_first).await? {
                Freed::Done => return Ok(Left::Passed),
                Freed::NotMine => return Ok(broken),
                Freed::LookAgain => {}
                Freed::SomebodyWaits => {
                    if self.offer(p, unit, news, &is_first).await? {
                        return Ok(Left::Passed);
                    }
                    let free = unit.word.freed(news);
                    let slot = &self.slot[unit.slot];
                    if p.at(221).keeping(&(unit, news, is_first)).compare_swap(slot, unit.word, free).await?.is_err() {
                        return Ok(broken);
                    }
                }
            }
            let Some(another) = self.looks_again(p, unit).await? else { return Ok(Left::Passed) };
            (unit, news, is_first) = (another, another.word.news(), false);
        }
    }

    /// Offers a slot to the oldest waiter, and makes that process its owner: 16 to 21. Returns
    /// `false` if no process waits.
    async fn offer(&self, p: Here<'_, M>, unit: Unit, news: News, live: &impl Debug) -> Result<bool, M::Error> {
        let live = (unit, news, live);
        let mut turn = 0;
        loop {
            let below = p.at(16).keeping(&live).read(&self.next).await?;
            let line = self.line(p, [171, 18], below, &live).await?;
            if let Some((seat, t)) = line.oldest {
                let Some(given) = unit.word.given_to(seat, news) else { return Err(p.at(19).damaged(unit.word)) };
                let offer = Want::Offered { slot: unit.slot, fence: unit.word.fence(), news };
                let (row, slot) = (&self.want[seat], &self.slot[unit.slot]);
                let waits = if line.called { Want::Called(t) } else { Want::Waits(t) };
                if p.at(19).keeping(&(live, seat, waits)).compare_swap(row, waits, offer).await?.is_ok() {
                    let _ = p.at(20).keeping(&(live, seat, waits)).compare_swap(slot, unit.word, given).await?;
                    p.at(21).keeping(&seat).wake(row).await?;
                    return Ok(true);
                }
            } else if !line.younger {
                return Ok(false);
            }
            turn += 1;
            p.at(16).goes_round(turn)?;
        }
    }

    /// Runs after a process has freed a slot, if another process may wait. Returns a slot that the
    /// process has taken in order to pass it on.
    pub(super) async fn looks_again(&self, p: Here<'_, M>, unit: Unit) -> Result<Option<Unit>, M::Error> {
        if self.is_in_order() {
            return self.take_another(p, unit).await;
        }
        self.call(p, &()).await?;
        Ok(None)
    }

    /// Tells the oldest waiter to look whether a slot is free, unless it has been told and has not
    /// looked yet: 38, 39.
    async fn call(&self, p: Here<'_, M>, live: &impl Debug) -> Result<(), M::Error> {
        let line = self.line(p, [381, 382], u64::MAX, live).await?;
        let (Some((seat, t)), false) = (line.oldest, line.called) else { return Ok(()) };
        let (row, waits, called) = (&self.want[seat], Want::Waits(t), Want::Called(t));
        if p.at(38).keeping(&(seat, waits, live)).compare_swap(row, waits, called).await?.is_ok() {
            p.at(39).keeping(&(seat, live)).wake(row).await?;
        }
        // Otherwise the waiter was called, or was offered a slot, or has given up: then it comes to
        // 42 by itself. To try again would go on for ever while others come and go.
        Ok(())
    }

    /// Runs when a process no longer waits, or has cleared the row of another waiter: 42. That
    /// waiter may have been called, so the process passes the call on.
    pub(super) async fn one_waits_less(&self, p: Here<'_, M>, live: &impl Debug) -> Result<(), M::Error> {
        if self.is_in_order() {
            return Ok(());
        }
        for slot in 0..self.k {
            if p.at(42).keeping(&(slot, live)).read(&self.slot[slot]).await?.owner().is_none() {
                return self.call(p, live).await;
            }
        }
        Ok(())
    }

    /// A process that has freed a slot looks again whether another waits, and takes a free slot to
    /// pass it on: 23, 24.
    async fn take_another(&self, p: Here<'_, M>, unit: Unit) -> Result<Option<Unit>, M::Error> {
        let Some((oldest, _)) = self.line(p, [231, 232], u64::MAX, &unit.slot).await?.oldest else {
            return Ok(None);
        };
        let another = self.take(p, unit.slot, [24, 241], &oldest).await?;
        if another.is_none() && p.process().memory().has_hints() {
            p.at(242).keeping(&oldest).wake(&self.want[oldest]).await?; // it must watch the process that was faster
        }
        Ok(another)
    }
}
