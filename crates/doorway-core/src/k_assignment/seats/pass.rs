//! How a slot goes to the next: 16 to 24, and what a process does that only tries: 37.

use super::{Freed, Grant, Left, Mortal, News, Seats, Unit, Want};
use crate::memory::{Here, Label, Process, within};
use core::fmt::{self, Debug};

/// What a look at all rows with a bit has found.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    /// Tickets from this one on are too young to be looked at.
    below: u64,
    /// The seat and the ticket of the oldest that waits.
    oldest: Option<(usize, u64)>,
    /// Whether one waits whose ticket is too young to be looked at.
    younger: bool,
}

impl Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let oldest = self.oldest.map(|(seat, t)| (seat, Want::Waits(t)));
        write!(f, "T({}) {oldest:?} {}", self.below, self.younger)
    }
}

impl<M: Mortal> Seats<M> {
    /// Enters if a slot is left when those that wait have what is free, and otherwise does not: 37. For a process that
    /// does not wait, and found [somebody in line](Self::try_enter): that one may have been offered a slot by now, or may be
    /// dead.
    ///
    /// # Errors
    /// If an access failed, or a word is damaged.
    pub async fn try_past_offers(&self, p: &Process<M>, from: usize) -> Result<Option<Grant>, M::Error> {
        let here = p.on(self.part);
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

    /// Who waits: a look at all rows with a bit. Tickets from `below` on are not looked at.
    async fn line(
        &self,
        p: Here<'_, M>,
        [look, row]: [Label; 2],
        below: u64,
        live: &impl Debug,
    ) -> Result<Line, M::Error> {
        let mut line = Line { below, oldest: None, younger: false };
        for word in 0..self.words {
            let mut bits = p.at(look).keeping(&(word, line, live)).read(&self.bits[word]).await?;
            while bits != 0 {
                let seat = word * self.per_word + bits.trailing_zeros() as usize;
                if seat >= self.seats {
                    return Err(p.at(look).damaged(bits));
                }
                match p.at(row).keeping(&(word, bits, line, live)).read(&self.want[seat]).await? {
                    Want::Waits(t) if t >= below => line.younger = true,
                    Want::Waits(t) if line.oldest.is_none_or(|(_, oldest)| t < oldest) => line.oldest = Some((seat, t)),
                    Want::Damaged(word) => return Err(p.at(row).damaged(word)),
                    Want::Nothing | Want::Waits(_) | Want::Offered { .. } => {}
                }
                bits &= bits - 1;
            }
        }
        Ok(line)
    }

    /// Gives a slot to the oldest that waits, or frees it: 16 to 24.
    pub(super) async fn pass(&self, p: Here<'_, M>, unit: Unit, news: News) -> Result<Left, M::Error> {
        let (mut unit, mut news, mut is_first) = (unit, news, true);
        loop {
            let broken = if is_first { Left::Broken } else { Left::Passed };
            match self.free(p, unit, news, &is_first).await? {
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
            let Some(another) = self.take_another(p, unit).await? else { return Ok(Left::Passed) };
            (unit, news, is_first) = (another, another.word.news(), false);
        }
    }

    /// Offers a slot to the oldest that waits, and makes it that one's: 16 to 21. `false` if nobody waits.
    async fn offer(&self, p: Here<'_, M>, unit: Unit, news: News, live: &impl Debug) -> Result<bool, M::Error> {
        let live = (unit, news, live);
        let mut turn = 0;
        loop {
            let below = p.at(16).keeping(&live).read(&self.next).await?;
            let line = self.line(p, [171, 18], below, &live).await?;
            if let Some((seat, t)) = line.oldest {
                let Some(given) = unit.word.given_to(seat, news) else { return Err(p.at(19).damaged(unit.word)) };
                let offer = Want::Offered { slot: unit.slot, fence: unit.word.fence(), news };
                let (row, slot, waits) = (&self.want[seat], &self.slot[unit.slot], Want::Waits(t));
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

    /// Who has freed a slot looks again whether somebody waits, and takes a free slot to pass it on: 23, 24.
    pub(super) async fn take_another(&self, p: Here<'_, M>, unit: Unit) -> Result<Option<Unit>, M::Error> {
        let Some((oldest, _)) = self.line(p, [231, 232], u64::MAX, &unit.slot).await?.oldest else {
            return Ok(None);
        };
        let another = self.take(p, unit.slot, [24, 241], &oldest).await?;
        if another.is_none() && p.process().memory().has_hints() {
            p.at(242).keeping(&oldest).wake(&self.want[oldest]).await?; // it must watch the one that was faster
        }
        Ok(another)
    }
}
