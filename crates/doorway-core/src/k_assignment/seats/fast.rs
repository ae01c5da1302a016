//! What every passage runs while nobody waits: 1 to 3, 17, 22 and 23. The same tokens in two forms, as futures and as plain
//! functions for memories that are [ready](Ready) at once.

use super::{Freed, Going, Grant, Left, Mortal, Seats, Unit};
use crate::memory::{Here, Label, Process, Ready};
use core::fmt::Debug;

/// One text in two forms. In it, `access!` makes an access, and `either!` takes the first of two calls in the future and the
/// second in the plain function.
macro_rules! in_two_forms {
    ($(
        $(#[doc = $doc:literal])*
        $vis:vis fn $name:ident, $now:ident (&$self:ident $(, $argument:ident: $of:ty)*) -> $out:ty $text:block
    )*) => {
        $(
            $(#[doc = $doc])*
            #[inline(always)]
            $vis async fn $name(&$self $(, $argument: $of)*) -> Result<$out, M::Error> {
                #[allow(unused_macros)]
                macro_rules! access {
                    ($access:expr) => { $access.await? };
                }
                #[allow(unused_macros)]
                macro_rules! either {
                    ($future:expr, $plain:expr) => { $future.await? };
                }
                $text
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), as a plain function.")]
            ///
            /// # Errors
            /// As that.
            #[inline(always)]
            $vis fn $now(&$self $(, $argument: $of)*) -> Result<$out, M::Error>
            where
                M: Ready,
            {
                #[allow(unused_macros)]
                macro_rules! access {
                    ($access:expr) => { M::ready($access)? };
                }
                #[allow(unused_macros)]
                macro_rules! either {
                    ($future:expr, $plain:expr) => { $plain? };
                }
                $text
            }
        )*
    };
}

impl<M: Mortal> Seats<M> {
    in_two_forms! {
        /// Enters if nobody waits and a slot is free, and otherwise does not: 1 to 3. `from` is the slot to look at first.
        ///
        /// # Errors
        /// If an access failed, or a word is damaged.
        pub fn try_enter, try_enter_now(&self, p: &Process<M>, from: usize) -> Option<Grant> {
            let here = p.on(self.part);
            if either!(self.anybody(here, 1, &from), self.anybody_now(here, 1, &from)) {
                return Ok(None);
            }
            let unit = either!(self.take(here, from, [2, 3], &()), self.take_now(here, from, [2, 3], &()));
            Ok(unit.map(|unit| self.inside(here, unit)))
        }

        /// The exit section, as far as it goes while nobody waits: 17, 22, 23. If it has not ended, [`exit_on`](Self::exit_on)
        /// must run.
        ///
        /// # Errors
        /// If an access failed, or a word is damaged.
        pub fn begin_exit, exit_at_once(&self, p: &Process<M>, grant: Grant) -> Result<Left, Going> {
            let (here, unit) = (p.on(self.part), Unit::of(p, grant));
            Ok(match either!(self.free(here, unit, false, &true), self.free_now(here, unit, false, &true)) {
                Freed::Done => Ok(Left::Passed),
                Freed::NotMine => Ok(Left::Broken),
                Freed::LookAgain => Err(Going(unit, true)),
                Freed::SomebodyWaits => Err(Going(unit, false)),
            })
        }

        /// Whether any bit is set: 1, 17, 23.
        pub(super) fn anybody, anybody_now(&self, p: Here<'_, M>, label: Label, live: &impl Debug) -> bool {
            for word in 0..self.words {
                if access!(p.at(label).keeping(&(word, live)).read(&self.bits[word])) != 0 {
                    return Ok(true);
                }
            }
            Ok(false)
        }

        /// Takes a free slot, if it finds one: 2 and 3, and so in 7 and 24.
        pub(super) fn take, take_now(&self, p: Here<'_, M>, from: usize, labels: [Label; 2], live: &impl Debug) -> Option<Unit> {
            let [look, take] = labels;
            let first = if from < self.k { from } else { 0 };
            let mut slot = first;
            loop {
                let word = access!(p.at(look).keeping(&(first, slot, live)).read(&self.slot[slot]));
                if word.owner().is_none() {
                    let Some(mine) = word.taken_by(p.pid().index()) else { return Err(p.at(take).damaged(word)) };
                    let takes = p.at(take).keeping(&(first, slot, word, live));
                    if access!(takes.compare_swap(&self.slot[slot], word, mine)).is_ok() {
                        return Ok(Some(Unit { slot, word: mine }));
                    }
                }
                slot = if slot + 1 < self.k { slot + 1 } else { 0 };
                if slot == first {
                    return Ok(None);
                }
            }
        }

        /// Frees a slot unless somebody may wait, and looks again: 17, 22, 23.
        pub(super) fn free, free_now(&self, p: Here<'_, M>, unit: Unit, died: bool, live: &impl Debug) -> Freed {
            let live = (unit, died, live);
            if either!(self.anybody(p, 17, &live), self.anybody_now(p, 17, &live)) {
                return Ok(Freed::SomebodyWaits);
            }
            let (slot, free) = (&self.slot[unit.slot], unit.word.freed(died));
            if access!(p.at(22).keeping(&live).compare_swap(slot, unit.word, free)).is_err() {
                return Ok(Freed::NotMine);
            }
            let looks = either!(self.anybody(p, 23, &unit.slot), self.anybody_now(p, 23, &unit.slot));
            Ok(if looks { Freed::LookAgain } else { Freed::Done })
        }
    }
}
