//! How processes clean up after the dead, and how a process takes a seat: 25 to 31.

use super::{Mortal, News, Seats, Unit, Want};
use crate::memory::{Here, Process, within};

impl<M: Mortal> Seats<M> {
    /// Takes back what the dead hold: 25 to 29. Any process may do this, at any time.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn recover(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        for seat in 0..self.seats {
            within!(here, &("row", seat), self.clear_row(here, seat, false).await?);
        }
        for slot in 0..self.k {
            within!(here, &("slot", slot), self.reclaim(here, slot, false).await?);
        }
        for word in 0..self.words {
            let mut bits = here.at(29).keeping(&word).read(&self.bits[word]).await?;
            while bits != 0 {
                let seat = word * self.per_word + bits.trailing_zeros() as usize;
                if seat >= self.seats {
                    return Err(here.at(29).damaged(bits));
                }
                within!(here, &("bit", word, bits), self.clear_bit(here, seat).await?);
                bits &= bits - 1;
            }
        }
        self.one_waits_less(here, &"recovered").await
    }

    /// Whether an earlier owner has left nothing behind. Processes take such seats first, because
    /// there is nothing to clean up. The answer may be outdated as soon as it is given.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn looks_clean(&self, p: &Process<M>, seat: usize) -> Result<bool, M::Error> {
        let here = p.on(self.part);
        if seat >= self.seats || here.at(301).keeping(&seat).read(&self.want[seat]).await? != Want::Nothing {
            return Ok(false);
        }
        let (word, bit) = self.bit(seat);
        if here.at(302).keeping(&seat).read(&self.bits[word]).await? & bit != 0 {
            return Ok(false);
        }
        for slot in 0..self.k {
            if here.at(303).keeping(&(seat, slot)).read(&self.slot[slot]).await?.owner() == Some(seat) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the seat that this process is named after: 30, 31. Returns `false` if another process
    /// has it, or is cleaning it up.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn register(&self, p: &Process<M>) -> Result<bool, M::Error> {
        let (here, me) = (p.on(self.part), p.pid().index());
        if !here.at(30).keeping(&()).try_lock(&self.bytes, me).await? {
            return Ok(false);
        }
        self.clean(p).await?;
        Ok(true)
    }

    /// Cleans up after the owner before: 31. The calling process has locked the byte of its seat.
    ///
    /// # Errors
    /// Returns an error if an access failed, or a word is damaged.
    pub async fn clean(&self, p: &Process<M>) -> Result<(), M::Error> {
        let (here, me) = (p.on(self.part), p.pid().index());
        within!(here, &"own row", self.clear_row(here, me, true).await?);
        for slot in 0..self.k {
            within!(here, &("own slot", slot), self.reclaim(here, slot, true).await?);
        }
        let (word, bit) = self.bit(me);
        if here.at(31).keeping(&()).read(&self.bits[word]).await? & bit != 0 {
            here.at(311).keeping(&()).fetch_and(&self.bits[word], !bit).await?;
        }
        self.one_waits_less(here, &"clean").await
    }

    /// 25 for one row. With `own`, the seat is this process's, so the owner before is dead.
    async fn clear_row(&self, p: Here<'_, M>, seat: usize, own: bool) -> Result<(), M::Error> {
        let mut turn = 0;
        loop {
            let want = p.at(25).keeping(&()).read(&self.want[seat]).await?;
            match want {
                Want::Nothing => return Ok(()),
                Want::Damaged(word) => return Err(p.at(25).damaged(word)),
                Want::Called(_) if self.is_in_order() => return Err(p.at(25).damaged(want)),
                Want::Waits(_) | Want::Called(_) | Want::Offered { .. } => {}
            }
            if !own && !p.at(251).keeping(&want).is_dead(&self.bytes, seat).await? {
                return Ok(());
            }
            // Before the offer is gone the slot has left its epoch: it then belongs to the dead
            // process, or to another one.
            self.follow_up(p, want, seat, [252, 253], &()).await?;
            if p.at(254).keeping(&want).compare_swap(&self.want[seat], want, Want::Nothing).await?.is_ok() {
                return Ok(());
            }
            turn += 1;
            p.at(25).goes_round(turn)?; // it was offered a slot meanwhile
        }
    }

    /// 26 to 28 for one slot. A process that cleans its `own` seat only takes back what that seat
    /// holds.
    async fn reclaim(&self, p: Here<'_, M>, slot: usize, own: bool) -> Result<(), M::Error> {
        let me = p.pid().index();
        let mut turn = 0;
        loop {
            let word = p.at(26).keeping(&()).read(&self.slot[slot]).await?;
            let Some(owner) = self.owner(p, 26, word)? else { return Ok(()) };
            let is_dead = if own {
                owner == me
            } else {
                p.at(261).keeping(&Unit { slot, word }).is_dead(&self.bytes, owner).await?
            };
            if !is_dead {
                return Ok(());
            }
            if let Some((seat, news)) = self.offered(p, Unit { slot, word }).await? {
                let Some(given) = word.given_to(seat, news) else { return Err(p.at(271).damaged(word)) };
                let _ = p
                    .at(271)
                    .keeping(&[Unit { slot, word }, Unit { slot, word: given }])
                    .compare_swap(&self.slot[slot], word, given)
                    .await?;
            } else {
                let Some(mine) = word.given_to(me, News::Died) else { return Err(p.at(28).damaged(word)) };
                if p.at(28).keeping(&Unit { slot, word }).compare_swap(&self.slot[slot], word, mine).await?.is_ok() {
                    within!(p, &(), self.pass(p, Unit { slot, word: mine }, News::Died).await?);
                    return Ok(());
                }
            }
            turn += 1;
            p.at(26).goes_round(turn)?;
        }
    }

    /// The seat that a slot is offered to in this epoch, and the news with it: 27.
    async fn offered(&self, p: Here<'_, M>, unit: Unit) -> Result<Option<(usize, News)>, M::Error> {
        for seat in 0..self.seats {
            if let Want::Offered { slot: i, fence: s, news } =
                p.at(27).keeping(&(seat, unit)).read(&self.want[seat]).await?
                && (i, s) == (unit.slot, unit.word.fence())
            {
                return Ok(Some((seat, news)));
            }
        }
        Ok(None)
    }

    /// 29 for one bit.
    async fn clear_bit(&self, p: Here<'_, M>, seat: usize) -> Result<(), M::Error> {
        if seat == p.pid().index() || !p.at(291).keeping(&()).try_lock(&self.bytes, seat).await? {
            return Ok(());
        }
        if p.at(292).keeping(&()).read(&self.want[seat]).await? == Want::Nothing {
            let (word, bit) = self.bit(seat);
            p.at(293).keeping(&()).fetch_and(&self.bits[word], !bit).await?;
        }
        p.at(294).keeping(&()).unlock(&self.bytes, seat).await
    }
}
