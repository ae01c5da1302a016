//! A stack of work that knows when all work is done.
//!
//! # Problem
//! Workers take elements from a stack, and give back what results from them, possibly nothing. A
//! worker that finds nothing waits as long as another worker has *loot*, because loot may bring
//! more elements. *All is done* when nothing is left and no worker has loot. From then on nothing
//! can be added, and every worker is told.
//!
//! # Source
//! Our own, based on the stack for the collector in section 5 of Blelloch, Cheng and Gibbons.
//! Statement numbers are ours; 1 to 16 are those of the [stack of segments](super::SegmentStack).
//!
//! # Idea
//! A worker counts its loot in and out *inside* the rooms. The [last one out](LastOut) decides
//! whether all is done, when no worker is inside: every element is then on the stack or belongs to
//! loot that was counted.
//!
//! # Shared variables
//! | name   | range     | initially | home   | written at | meaning |
//! |--------|-----------|-----------|--------|------------|---------|
//! | `lent` | 0..p      | 0         | nobody | 21, 26     | the number of workers with loot, when no worker is inside |
//! | `news` | [`News`]  | look      | nobody | 23, 32, 34 | whether a visit is worthwhile |
//!
//! # Why
//! - *both rooms (31)*: the last loot may come back empty, after a turn of the push room; and a
//!   stack that is empty from the beginning is only ever popped.
//! - *`news` is not a count (23, 34)*: a worker that finds nothing says so inside the pop room, in
//!   which no worker can add anything. The last one out of the push room says that there is
//!   something again. A worker that waits for `news` therefore never misses it. No counter of news
//!   is necessary, which would wrap.
//! - *23 looks first (22)*: the worker may have come in after all was done, and must not deny it.
//! - *25 inside*: all can be done between any two visits, but not during one.
//!
//! # Invariants (checked)
//! - (W1) once all is done, there are no elements, and no worker has loot
//! - (W2) `lent` is the number of workers that have loot
//! - (told) a worker that waits for `news` gets some
//!
//! # Cost, faults, fairness
//! One fetch-and-add more than the stack of segments, and two or three reads. A worker that stops
//! with loot keeps all others waiting. Workers take what they find: no worker is promised a share.

use super::{IN, OUT, SegmentStore, Segments, Whole};
use crate::memory::{Anybody, FetchAdd, Immediate, Memory, Process, ReadWrite, Site, Word, in_both_forms, within};
use crate::rooms::{LastOut, Lit, or_refused};

/// Whether a worker should visit the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// There may be something.
    Look,
    /// There is nothing, but some worker has loot, or is about to find out.
    Nothing,
    /// There will never be anything again.
    AllDone,
}

impl Word for News {
    type Waiters = Anybody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        match word {
            1 => Self::Nothing,
            2 => Self::AllDone,
            _ => Self::Look,
        }
    }
}

/// The state that the last one out of a room maintains.
#[derive(Debug)]
pub struct Work<M: Memory, S> {
    part: M::Part,
    segments: Segments<M, S>,
    lent: M::Var<Whole>,
    news: M::Var<News>,
}

impl<M: Memory, S> Work<M, S> {
    /// The first segment of `store` must exist.
    pub fn new(site: &Site<'_, M>, store: S) -> Self {
        Self {
            part: site.here(),
            segments: Segments::new(site, store),
            lent: site.var("lent", Whole(0)),
            news: site.var("news", News::Look),
        }
    }

    /// The segments that hold the work.
    pub fn segments(&self) -> &Segments<M, S> {
        &self.segments
    }
}

impl<M: ReadWrite, S: SegmentStore<M>> Work<M, S> {
    in_both_forms! {
        /// After a turn of any room: 31 to 34.
        #[inline(always)]
        fn look_round, look_round_now(&self, process: &Process<M>, room: usize) -> () {'text: {
            let p = process.on(self.part);
            if access!(p.at(31).keeping(&room).read(self.segments.top())).0 == 0 {
                if access!(p.at(31).keeping(&"nothing").read(&self.lent)) == Whole(0) {
                    access!(p.at(32).keeping(&()).write(&self.news, News::AllDone));
                }
                break 'text;
            }
            if room == IN
                && access!(p.at(33).keeping(&()).read(&self.news)) == News::Nothing {
                    access!(p.at(34).keeping(&()).write(&self.news, News::Look));
                }
        }}

        /// Whether all is done: 35.
        pub fn is_done, is_done_now(&self, p: &Process<M>) -> bool {
            access!(p.on(self.part).at(35).read(&self.news)) == News::AllDone
        }

        /// The number of workers with loot, if no worker is inside: 36.
        pub fn lent, lent_now(&self, p: &Process<M>) -> usize {
            access!(p.on(self.part).at(36).read(&self.lent)).0 as usize
        }
    }
}

impl<M: ReadWrite, S: SegmentStore<M>> LastOut<M> for Work<M, S> {
    async fn last_out(&self, p: &Process<M>, room: usize) -> Result<(), M::Error> {
        let here = p.on(self.part);
        within!(here, &room, self.segments.last_out(p, room).await?);
        self.look_round(p, room).await
    }

    #[inline(always)]
    fn last_out_now(&self, p: &Process<M>, room: usize)
    where
        M: Immediate,
    {
        self.segments.last_out_now(p, room);
        self.look_round_now(p, room);
    }
}

/// A stack of work.
#[derive(Debug)]
pub struct WorkStack<M: Memory, R> {
    part: M::Part,
    rooms: R,
}

impl<M: Memory, R: Lit<M>> WorkStack<M, R> {
    /// The work is in `store`. `rooms` builds two rooms whose last one out maintains the
    /// [work](Work).
    pub fn new<S>(site: &Site<'_, M>, store: S, rooms: impl FnOnce(&Site<'_, M>, Work<M, S>) -> R) -> Self
    where
        R: Lit<M, Lights = Work<M, S>>,
    {
        Self { part: site.here(), rooms: rooms(&site.part("rooms", None), Work::new(site, store)) }
    }

    /// The rooms.
    pub fn rooms(&self) -> &R {
        &self.rooms
    }
}

impl<M: FetchAdd, S: SegmentStore<M>, R: Lit<M, Lights = Work<M, S>>> WorkStack<M, R> {
    /// Takes up to `count` elements, at least one, or waits as long as some worker may bring more:
    /// [visits](Self::visit), and [waits](Self::wait_for_news) between two of them. Returns how
    /// many it took, and the worker has loot then; or 0 if all is done; or why the rooms turned the
    /// worker away.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn take(
        &self,
        p: &Process<M>,
        hand: &mut S::Hand,
        count: usize,
    ) -> Result<Result<usize, R::Refusal>, M::Error> {
        loop {
            match self.visit(p, hand, count).await? {
                Ok(Some(got)) => return Ok(Ok(got)),
                Ok(None) => {}
                Err(refusal) => return Ok(Err(refusal)),
            }
            p.on(self.part).keep(24, &(count, S::told(hand)));
            self.wait_for_news(p).await?;
        }
    }

    /// Waits until a visit is worthwhile: 24. The worker is outside, and has nothing in hand. It
    /// may stop waiting at any time.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn wait_for_news(&self, p: &Process<M>) -> Result<(), M::Error> {
        let more = |news| news != News::Nothing;
        p.on(self.part).at(24).wait_until(&self.rooms.lights().news, more).await.map(drop)
    }

    in_both_forms! {
        /// One visit, without waiting: 20 to 23. Takes up to `count` elements. Returns how many it
        /// took, and the worker has loot then; or 0 if all is done; or `None` if the worker found
        /// nothing, and should [wait](Self::wait_for_news); or why the rooms turned the worker
        /// away.
        #[inline(always)]
        pub fn visit, visit_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize) -> Result<Option<usize>, R::Refusal> {'text: {
            let here = p.on(self.part);
            let work = self.rooms.lights();
            if access!(here.at(20).keeping(&(count, S::told(hand))).read(&work.news)) == News::AllDone {
                break 'text Ok(Some(0));
            }
            here.part(&(count, S::told(hand)));
            let entered = either!(or_refused(self.rooms.enter(p, OUT)), self.rooms.enter_now(p, OUT));
            let inside = match entered {
                Ok(inside) => inside,
                Err(refusal) => break 'text Err(refusal),
            };
            here.part_done();
            let got = within!(here, &count, either!(
                work.segments.take(here, &inside, hand, count),
                work.segments.take_now(here, &inside, hand, count)
            ));
            if got > 0 {
                access!(here.at(21).keeping(&(&inside, got, S::told(hand))).fetch_add(&work.lent, Whole(1)));
                here.shows("loot", got as u64);
            } else {
                if access!(here.at(22).keeping(&(&inside, count, S::told(hand))).read(&work.news)) == News::Look {
                    access!(here.at(23)
                        .keeping(&(&inside, count, S::told(hand)))
                        .write(&work.news, News::Nothing));
                }
            }
            within!(here, &(got, count, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            Ok((got > 0).then_some(got))
        }}

        /// Adds the first `count` elements in hand. If the caller `returns` loot, it has none from
        /// then on. Returns how many it added, which excludes only those for which there is no
        /// memory; or `None` if all was done before; or why the rooms turned the worker away.
        #[inline(always)]
        pub fn give, give_now(&self, p: &Process<M>, hand: &mut S::Hand, count: usize, returns: bool) -> Result<Option<usize>, R::Refusal> {'text: {
            let here = p.on(self.part);
            let work = self.rooms.lights();
            here.part(&(count, returns, S::told(hand)));
            let entered = either!(or_refused(self.rooms.enter(p, IN)), self.rooms.enter_now(p, IN));
            let mut inside = match entered {
                Ok(inside) => inside,
                Err(refusal) => break 'text Err(refusal),
            };
            here.part_done();
            let mut went = None;
            if access!(here.at(25)
                .keeping(&(&inside, count, returns, S::told(hand)))
                .read(&work.news)) != News::AllDone {
                let put = within!(here, &returns, either!(
                    work.segments.put(p, &self.rooms, inside, hand, count),
                    work.segments.put_now(p, &self.rooms, inside, hand, count)
                ));
                inside = match put {
                    Ok((inside, all)) => {
                        went = Some(all);
                        inside
                    }
                    Err((refusal, _)) => break 'text Err(refusal),
                };
                if returns {
                    access!(here.at(26)
                        .keeping(&(&inside, went, S::told(hand)))
                        .fetch_add(&work.lent, Whole(u64::MAX)));
                    here.hides("loot");
                }
            }
            within!(here, &(went, S::told(hand)), either!(self.rooms.exit(p, inside), self.rooms.exit_now(p, inside)));
            here.hides("retries");
            Ok(went)
        }}
    }
}
