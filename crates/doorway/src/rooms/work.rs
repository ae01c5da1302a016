//! [`WorkStack`]: a stack of work that knows when all work is done.

// For dropping the values that are left.
#![allow(unsafe_code)]

use super::pair::Pair;
use super::store::{Segmented, put_many, take_many};
use super::{Full, outside};
use crate::native::{Native, now, someone, sure};
use doorway_core::memory::{Process, Site};
use doorway_core::rooms::Lit;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Work, WorkStack as Text};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A stack of work that many workers share, and that knows when all work is done.
///
/// All work is done when the stack is empty and no worker has any work that could produce more. A
/// worker, which is a thread or a task, takes work as [`Loot`] and may change it in any way. When
/// it drops the loot, it gives back the work that is left to do, even if there is none. This is the
/// work stack of a parallel collector: `examples/rooms_collector.rs`.
///
/// # Panics
/// Panics if a worker panics, the loot that it has is given back on the way out, and other workers
/// go on with it.
///
/// # Examples
/// ```
/// use doorway::rooms::WorkStack;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let work = WorkStack::of(vec![10u32]); // each piece of work becomes two smaller ones
/// let done = AtomicUsize::new(0);
/// std::thread::scope(|s| {
///     for _ in 0..3 {
///         s.spawn(|| {
///             while let Some(mut loot) = work.take(5) {
///                 let pieces: Vec<u32> = loot.drain(..).collect();
///                 done.fetch_add(pieces.len(), Ordering::Relaxed);
///                 loot.extend(pieces.into_iter().filter(|&n| n > 0).flat_map(|n| [n - 1, n - 1]));
///             }
///         });
///     }
/// });
/// assert_eq!(done.into_inner(), (1 << 11) - 1);
/// ```
///
/// Sharing the stack sends values between threads, so the values must be `Send`:
///
/// ```compile_fail,E0277
/// let work = doorway::rooms::WorkStack::of(vec![std::rc::Rc::new(1)]);
/// std::thread::scope(|s| { s.spawn(|| drop(work.take(1))); });
/// ```
pub struct WorkStack<T: Send> {
    text: Text<Native, Pair<Work<Native, Segmented<T>>>>,
}

/// What a visit brought.
enum Visited<'a, T: Send> {
    Loot(Loot<'a, T>),
    /// Nothing, but there may be more later. The vector that was brought.
    Nothing(Vec<T>),
    AllDone,
}

/// All work is done. The values that were pushed stay with the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished;

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all work is done, and workers may have gone home; make a new stack")
    }
}
impl std::error::Error for Finished {}

const AT_FIRST: usize = 1024;

impl<T: Send> WorkStack<T> {
    /// Makes a stack with this work. If there is none, the first worker that asks for work learns
    /// that all is done.
    ///
    /// # Panics
    /// Panics if there is not enough memory.
    #[must_use]
    pub fn of(mut work: Vec<T>) -> Self {
        let store = Segmented::new(work.len().max(AT_FIRST)).expect("there is memory for a copy of the work");
        let stack = Self { text: Text::new(&Site::new(&Native::new()), store, Pair::new) };
        let Ok(()) = stack.push_all(&mut work) else {
            unreachable!("there is room for it, and no worker has asked for work")
        };
        stack
    }

    #[inline(always)]
    fn anyone(&self) -> &Process<Native> {
        &self.text.rooms().anyone
    }

    fn work(&self) -> &Work<Native, Segmented<T>> {
        self.text.rooms().lights()
    }

    /// Adds work, and wakes waiting workers. Work that does not fit into memory stays in the
    /// vector, and so does everything if all work was done before.
    ///
    /// # Errors
    /// Returns an error if all work was done: workers may have gone home.
    ///
    /// # Panics
    /// Panics if there is not enough memory.
    pub fn push_all(&self, work: &mut Vec<T>) -> Result<(), Finished> {
        if work.is_empty() {
            return Ok(());
        }
        self.put(work, false).map(|()| assert!(work.is_empty(), "there is no memory for more work"))
    }

    /// In one visit, if there is room.
    fn put(&self, work: &mut Vec<T>, returns_loot: bool) -> Result<(), Finished> {
        let mut went = None;
        outside::visit(|| {
            put_many(work, |hand, count| {
                let Ok(given) = self.text.give_now(self.anyone(), hand, count, returns_loot);
                went = given;
            })
        });
        went.map(drop).ok_or(Finished)
    }

    /// Takes up to `most` pieces of work. Returns `None` if all work is done.
    ///
    /// While the stack is empty, this waits for as long as some worker has loot and may bring more.
    /// A worker that asks while it has loot may wait for itself. A `most` of 0 counts as 1.
    ///
    /// # Examples
    /// ```
    /// let work = doorway::rooms::WorkStack::of(vec![1, 2, 3]);
    /// assert_eq!(work.take(usize::MAX).unwrap().len(), 3); // everything on the stack
    /// ```
    pub fn take(&self, most: usize) -> Option<Loot<'_, T>> {
        self.take_into(most, Vec::new())
    }

    /// [`take`](Self::take) with an existing vector, to whose end the work is added. If all work is
    /// done, the vector is dropped with its contents.
    pub fn take_into(&self, most: usize, work: Vec<T>) -> Option<Loot<'_, T>> {
        match self.visit(most, work) {
            Visited::Loot(loot) => Some(loot),
            Visited::AllDone => None,
            Visited::Nothing(work) => now(self.wait(most, work, false)),
        }
    }

    /// [`take`](Self::take) for tasks, on any executor. While others push or take, it waits for
    /// them as a thread does, for as long as that takes.
    ///
    /// Other callers wake the task after they have left the rooms. So a waker may use this stack
    /// itself.
    ///
    /// # Cancel safety
    /// Cancel safe. Dropping the future gives up exactly: it has taken nothing.
    ///
    /// # Examples
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// # let mut context = Context::from_waker(Waker::noop());
    /// let work = doorway::rooms::WorkStack::of(vec![1]);
    /// let mut loot = work.take(1).unwrap();
    /// let mut waits = pin!(work.take_async(9)); // a task polls it
    /// assert!(waits.as_mut().poll(&mut context).is_pending()); // the loot may bring more
    /// loot.extend([2, 3]);
    /// drop(loot);
    /// let Poll::Ready(Some(loot)) = waits.as_mut().poll(&mut context) else { panic!() };
    /// assert_eq!(*loot, [1, 2, 3]);
    /// ```
    pub async fn take_async(&self, most: usize) -> Option<Loot<'_, T>> {
        self.take_into_async(most, Vec::new()).await
    }

    async fn take_into_async(&self, most: usize, work: Vec<T>) -> Option<Loot<'_, T>> {
        match self.visit(most, work) {
            Visited::Loot(loot) => Some(loot),
            Visited::AllDone => None,
            Visited::Nothing(work) => self.wait(most, work, true).await,
        }
    }

    /// Waits until there is work, or all is done: after a visit that found nothing.
    #[cold]
    async fn wait(&self, most: usize, mut work: Vec<T>, as_task: bool) -> Option<Loot<'_, T>> {
        let p = someone(super::PATIENT);
        p.memory().wait_as_task(as_task);
        loop {
            let news = self.text.wait_for_news(&p);
            sure(if as_task { outside::wait(news).await } else { news.await });
            work = match self.visit(most, work) {
                Visited::Loot(loot) => return Some(loot),
                Visited::AllDone => return None,
                Visited::Nothing(work) => work,
            };
        }
    }

    /// One visit. It wakes tasks only at its end.
    fn visit(&self, most: usize, mut work: Vec<T>) -> Visited<'_, T> {
        // The stack cannot have more, unless it grows meanwhile.
        let most = most.clamp(1, self.work().segments().size_now(self.anyone()));
        let mut told = None;
        outside::visit(|| {
            take_many(&mut work, most, |hand| {
                let Ok(got) = self.text.visit_now(self.anyone(), hand, most);
                told = got;
            })
        });
        match told {
            Some(0) => Visited::AllDone,
            Some(_) => Visited::Loot(Loot { stack: self, work }),
            None => Visited::Nothing(work),
        }
    }

    /// Whether all work is done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.work().is_done_now(self.anyone())
    }

    /// The number of pieces of work on the stack. It may have changed by the time you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        let segments = self.work().segments();
        let len = segments.len_now(self.anyone());
        len.min(segments.size_now(self.anyone()))
    }

    /// Whether the stack is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Drops the values that are left.
impl<T: Send> Drop for WorkStack<T> {
    fn drop(&mut self) {
        let left = self.len();
        // SAFETY: no thread is inside, so the first `left` slots have values. They are not used
        // afterwards.
        unsafe { self.work().segments().store().drop_values(left) };
    }
}

impl<T: Send> fmt::Debug for WorkStack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("WorkStack");
        all.field("len", &self.len()).field("borrowed", &self.work().lent_now(self.anyone()));
        all.field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Work that a worker has taken: a vector. When it is dropped, its contents are given back. If it
/// is empty, the stack learns that, too.
///
/// While loot exists, the work is not done. Forgetting it (`mem::forget`) keeps the other workers
/// waiting for ever.
#[must_use = "the work is given back as soon as this is dropped"]
pub struct Loot<'a, T: Send> {
    stack: &'a WorkStack<T>,
    work: Vec<T>,
}

impl<'a, T: Send> Loot<'a, T> {
    /// Gives back the contents and takes more work. This is the same as dropping the loot and
    /// [taking](WorkStack::take) again, but reuses the vector.
    pub fn next(mut self, most: usize) -> Option<Loot<'a, T>> {
        let (stack, work) = (self.stack, self.give_back());
        std::mem::forget(self);
        stack.take_into(most, work)
    }

    /// [`next`](Self::next) for tasks, on any executor.
    ///
    /// # Panics
    /// Panics if there is not enough memory for the contents.
    ///
    /// # Cancel safety
    /// Cancel safe. The contents are given back at once, when the future is first polled; a future
    /// that is dropped before that gives them back, too. From then on, dropping it gives up
    /// exactly: it has taken nothing.
    ///
    /// # Examples
    /// ```
    /// # use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// # let mut context = Context::from_waker(Waker::noop());
    /// let work = doorway::rooms::WorkStack::of(vec![1, 2]);
    /// let mut loot = work.take(1).unwrap();
    /// assert_eq!(*loot, [2]);
    /// loot.clear(); // it is done
    /// let next = pin!(loot.next_async(1)); // a task polls it
    /// let Poll::Ready(Some(mut loot)) = next.poll(&mut context) else { panic!() };
    /// assert_eq!(*loot, [1]);
    /// loot.clear();
    /// let next = pin!(loot.next_async(1));
    /// assert!(matches!(next.poll(&mut context), Poll::Ready(None))); // all is done
    /// ```
    pub async fn next_async(mut self, most: usize) -> Option<Loot<'a, T>> {
        let (stack, work) = (self.stack, self.give_back());
        std::mem::forget(self);
        assert!(work.is_empty(), "there is no memory for more work");
        stack.take_into_async(most, work).await
    }

    /// Returns the vector, with the work that did not fit into memory.
    fn give_back(&mut self) -> Vec<T> {
        let mut work = std::mem::take(&mut self.work);
        let Ok(()) = self.stack.put(&mut work, true) else {
            unreachable!("the work is not done while a worker has loot")
        };
        work
    }

    /// Gives back the contents. This is the same as dropping the loot, unless there is not enough
    /// memory.
    ///
    /// # Errors
    /// Returns the work that did not fit into memory. Only the caller has it now.
    pub fn end(mut self) -> Result<(), Full<Vec<T>>> {
        let left = self.give_back();
        std::mem::forget(self);
        if left.is_empty() { Ok(()) } else { Err(Full(left)) }
    }
}

impl<T: Send> Drop for Loot<'_, T> {
    fn drop(&mut self) {
        let left = self.give_back();
        assert!(left.is_empty() || std::thread::panicking(), "there is no memory for more work");
    }
}

impl<T: Send> Deref for Loot<'_, T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.work
    }
}

impl<T: Send> DerefMut for Loot<'_, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.work
    }
}

impl<T: Send + fmt::Debug> fmt::Debug for Loot<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loot").field(&self.work).finish()
    }
}
