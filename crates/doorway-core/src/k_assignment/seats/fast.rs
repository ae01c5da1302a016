//! The statements that every passage runs while no process waits: 1 to 3, 17, 22 and 23. They are
//! written as futures, and as plain functions for memories that are [ready](crate::memory::Ready)
//! at once.

use super::{Freed, Going, Grant, Left, Mortal, News, Seats, Unit};
use crate::memory::{Here, Label, Process, in_both_forms};
use core::fmt::Debug;

impl<M: Mortal> Seats<M> {
    in_both_forms! {
        for Ready:

        /// Enters if no process waits and a slot is free: 1 to 3. Otherwise returns `None`. `from`
        /// is the slot that it tries first.
        #[inline(always)]
        pub fn try_enter, try_enter_now(&self, p: &Process<M>, from: usize) -> Option<Grant> {'text: {
            let here = p.on(self.part);
            if self.is_in_order() && either!(self.anybody(here, 1, &from), self.anybody_now(here, 1, &from)) {
                break 'text None;
            }
            let unit = either!(self.take(here, from, [2, 3], &()), self.take_now(here, from, [2, 3], &()));
            unit.map(|unit| self.inside(here, unit))
        }}

        /// The exit section, as far as it goes while no process waits: 17, 22, 23. If it has not
        /// ended, [`exit_on`](Self::exit_on) must run.
        #[inline(always)]
        pub fn begin_exit, exit_at_once(&self, p: &Process<M>, grant: Grant) -> Result<Left, Going> {
            let (here, unit) = (p.on(self.part), Unit::of(p, grant));
            let hands_over = self.hands_over(unit);
            match either!(
                self.free(here, unit, News::None, hands_over, &true),
                self.free_now(here, unit, News::None, hands_over, &true)
            ) {
                Freed::Done => Ok(Left::Passed),
                Freed::NotMine => Ok(Left::Broken),
                Freed::LookAgain => Err(Going(unit, true)),
                Freed::SomebodyWaits => Err(Going(unit, false)),
            }
        }

        /// Whether any bit is set: 1, 17, 23.
        #[inline(always)]
        pub(super) fn anybody, anybody_now(&self, p: Here<'_, M>, label: Label, live: &impl Debug) -> bool {
            if self.words == 4 {
                either!(self.any_of_four(p, label, live), self.any_of_four_now(p, label, live))
            } else {
                either!(self.any_of_all(p, label, live), self.any_of_all_now(p, label, live))
            }
        }

        /// [`anybody`](Self::anybody), for the usual number of words: 256 seats have four.
        #[inline(always)]
        fn any_of_four, any_of_four_now(&self, p: Here<'_, M>, label: Label, live: &impl Debug) -> bool {
            // Index all words before reading any, the last one first: to index each by itself costs
            // more than to read it.
            let (d, c, b, a) = (&self.bits[3], &self.bits[2], &self.bits[1], &self.bits[0]);
            let a = access!(p.at(label).keeping(&(0, false, live)).read(a));
            let b = a | access!(p.at(label).keeping(&(1, a != 0, live)).read(b));
            let c = b | access!(p.at(label).keeping(&(2, b != 0, live)).read(c));
            let d = c | access!(p.at(label).keeping(&(3, c != 0, live)).read(d));
            d != 0
        }

        /// [`anybody`](Self::anybody), for any number of words.
        #[inline(never)]
        fn any_of_all, any_of_all_now(&self, p: Here<'_, M>, label: Label, live: &impl Debug) -> bool {
            let mut any = 0;
            for word in 0..self.words {
                any |= access!(p.at(label).keeping(&(word, any != 0, live)).read(&self.bits[word]));
            }
            any != 0
        }

        /// Takes a free slot, if it finds one: 2 and 3, and likewise in 7 and 24.
        #[inline(always)]
        pub(super) fn take, take_now(&self, p: Here<'_, M>, from: usize, labels: [Label; 2], live: &impl Debug) -> Option<Unit> {'text: {
            let [look, take] = labels;
            let first = if from < self.k { from } else { 0 };
            let mut slot = first;
            loop {
                let word = access!(p.at(look).keeping(&(first, slot, live)).read(&self.slot[slot]));
                if word.owner().is_none() {
                    let Some(mine) = word.taken_by(p.pid().index()) else { return Err(p.at(take).damaged(word)) };
                    let takes = p.at(take).keeping(&(first, Unit { slot, word }, live));
                    if access!(takes.compare_swap(&self.slot[slot], word, mine)).is_ok() {
                        break 'text Some(Unit { slot, word: mine });
                    }
                }
                slot = if slot + 1 < self.k { slot + 1 } else { 0 };
                if slot == first {
                    break 'text None;
                }
            }
        }}

        /// Frees a slot, unless it is to be handed over and a process may wait; then looks again:
        /// 17, 22, 23.
        #[inline(always)]
        pub(super) fn free, free_now(
            &self,
            p: Here<'_, M>,
            unit: Unit,
            news: News,
            hands_over: bool,
            live: &impl Debug
        ) -> Freed {'text: {
            let live = (unit, news, live);
            if hands_over && either!(self.anybody(p, 17, &live), self.anybody_now(p, 17, &live)) {
                break 'text Freed::SomebodyWaits;
            }
            let (slot, free) = (&self.slot[unit.slot], unit.word.freed(news));
            if access!(p.at(22).keeping(&live).compare_swap(slot, unit.word, free)).is_err() {
                break 'text Freed::NotMine;
            }
            let looks = either!(self.anybody(p, 23, &unit.slot), self.anybody_now(p, 23, &unit.slot));
            if looks { Freed::LookAgain } else { Freed::Done }
        }}
    }
}
