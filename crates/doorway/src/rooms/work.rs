//! [`WorkStack`]: work to do, and when all is done.

// As `cells`.
#![allow(unsafe_code)]

use super::cells::Batch;
use super::names::Side;
use super::pile::Pile;
use super::{Full, LastExit, PATIENT, Rooms};
use crate::native::{Native, Var, now};
use crate::slots::sure;
use crossbeam_utils::CachePadded;
use doorway_core::memory::{Pid, Process, Site};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// A stack of work that many do together, and that knows when all is done: when nothing is left and nobody has any that could become more.
///
/// Who takes some gets it as [`Loot`], does what it likes with it, and gives back what is left to do, also nothing, by dropping it. This is the work stack of a parallel collector: `examples/rooms_collector.rs`.
///
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
/// # Panics
/// Who panics with loot gives it back on the way out: others go on with what was in it.
///
/// Who shares it sends values, so values must be able to be sent:
///
/// ```compile_fail,E0277
/// let work = doorway::rooms::WorkStack::of(vec![std::rc::Rc::new(1)]);
/// std::thread::scope(|s| { s.spawn(|| drop(work.take(1))); });
/// ```
pub struct WorkStack<T: Send> {
    rooms: Rooms<Side, Lights<T>>,
}

/// What the last one out looks after.
struct Lights<T> {
    pile: Pile<T, true>,
    /// How many have loot.
    borrowed: CachePadded<AtomicUsize>,
    finished: AtomicBool,
    /// Changes whenever those who found nothing should look again.
    news: Var<u64>,
    anyone: Process<Native>,
}

impl<T: Send> LastExit<Side> for Lights<T> {
    fn last_exit(&self, side: Side) {
        if side == Side::Push {
            // SAFETY: this is the last one out.
            unsafe { self.pile.grow_if_short() };
        }
        // Only here: inside, somebody may have taken values and not yet said that it has some. And for both rooms: one that is empty from the beginning is only ever popped.
        let left = self.pile.len();
        if left == 0 && self.borrowed.load(SeqCst) == 0 {
            self.finished.store(true, SeqCst);
            self.tell();
        } else if side == Side::Push && left > 0 {
            self.tell();
        }
    }
}

impl<T> Lights<T> {
    fn tell(&self) {
        let p = self.anyone.on(());
        let news = sure(now(p.at(1).read(&self.news)));
        sure(now(p.at(2).write(&self.news, news.wrapping_add(1))));
    }
}

/// All is done; what was pushed is handed back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished;

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all work was done, and workers may have gone home; make a new stack")
    }
}
impl std::error::Error for Finished {}

const AT_FIRST: usize = 1024;

impl<T: Send> WorkStack<T> {
    /// With this to do. With nothing to do, the first that asks for work learns that all is done.
    ///
    /// # Panics
    /// If there is no memory for it.
    #[must_use]
    pub fn of(mut work: Vec<T>) -> Self {
        let pile = Pile::new(work.len().max(AT_FIRST)).expect("there is memory for a copy of the work");
        let lights = Lights {
            pile,
            borrowed: CachePadded::default(),
            finished: AtomicBool::new(false),
            news: Site::new(&Native::new()).var("news", 0u64),
            anyone: Process::new(Pid::new(0), Native::new()),
        };
        let stack = Self { rooms: Rooms::build(2, lights, PATIENT) };
        let Ok(()) = stack.push_all(&mut work) else {
            unreachable!("there is room for it, and nobody has asked for work")
        };
        stack
    }

    fn lights(&self) -> &Lights<T> {
        self.rooms.code()
    }

    /// Adds work: who has none is told. What there is no memory for, and everything if all was done before, stays in the vector.
    ///
    /// # Errors
    /// If all was done: workers may have gone home.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn push_all(&self, work: &mut Vec<T>) -> Result<(), Finished> {
        if work.is_empty() {
            return Ok(());
        }
        self.put(work, false).map(|()| assert!(work.is_empty(), "there is no memory for more work"))
    }

    /// In one visit, if there is room.
    fn put(&self, work: &mut Vec<T>, returns_loot: bool) -> Result<(), Finished> {
        let Lights { pile, borrowed, .. } = self.lights();
        let mut batch = Batch::new(work);
        let mut inside = self.rooms.visit(Side::Push);
        // It changes when nobody is inside.
        if self.is_finished() {
            self.rooms.leave(inside);
            return Err(Finished);
        }
        // SAFETY: inside the room of those who push.
        unsafe { pile.put_batch(&mut batch) };
        while batch.left() > 0 {
            inside = self.rooms.visit_again(inside);
            // SAFETY: the same.
            unsafe { pile.put_batch(&mut batch) };
            if batch.left() > 0 && pile.has_failed() {
                break;
            }
        }
        if returns_loot {
            borrowed.fetch_sub(1, SeqCst);
        }
        self.rooms.leave(inside);
        Ok(())
    }

    /// Takes up to so many pieces of work; waits while there are none, but somebody has some and may bring more. `None`: all is done.
    ///
    /// Who asks while it has loot may wait for itself. None at all are not asked for: it is at least one.
    pub fn take(&self, most: usize) -> Option<Loot<'_, T>> {
        self.take_into(most, Vec::new())
    }

    /// The same in a vector that is there already, at whose end they are.
    pub fn take_into(&self, most: usize, mut work: Vec<T>) -> Option<Loot<'_, T>> {
        let most = most.max(1);
        let Lights { pile, borrowed, news, anyone, .. } = self.lights();
        work.reserve(most);
        loop {
            let seen = sure(now(anyone.on(()).at(1).read(news)));
            if self.is_finished() {
                return None;
            }
            let inside = self.rooms.visit(Side::Pop);
            // SAFETY: inside the room of those who pop, with room for as many.
            let got = unsafe { pile.take(work.as_mut_ptr().add(work.len()), most) };
            if got > 0 {
                borrowed.fetch_add(1, SeqCst);
            }
            self.rooms.leave(inside);
            if got > 0 {
                // SAFETY: so many were moved there.
                unsafe { work.set_len(work.len() + got) };
                return Some(Loot { stack: self, work });
            }
            // Who brings work, or finds that all is done, does so after the visit, hence after this was read.
            let p = Process::new(Pid::new(0), Native::new().with_policy(self.rooms.policy));
            sure(now(p.on(()).at(1).wait_until(news, |now| now != seen)));
        }
    }

    /// Whether all is done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.lights().finished.load(SeqCst)
    }

    /// How many pieces of work lie there. It may be different when you look at it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lights().pile.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Send> fmt::Debug for WorkStack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("WorkStack");
        all.field("len", &self.len()).field("borrowed", &self.lights().borrowed.load(SeqCst));
        all.field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Work that somebody has taken: a vector. What is in it when it is dropped is given back, and if that is nothing, that is said.
///
/// As long as it is there, all is not done. To `mem::forget` it is to keep everybody waiting for ever.
#[must_use = "the work is given back as soon as this is dropped"]
pub struct Loot<'a, T: Send> {
    stack: &'a WorkStack<T>,
    work: Vec<T>,
}

impl<'a, T: Send> Loot<'a, T> {
    /// Gives back what is in it, and takes some more: as dropping it and [taking](WorkStack::take), but in the same vector.
    pub fn next(mut self, most: usize) -> Option<Loot<'a, T>> {
        let (stack, work) = (self.stack, self.give_back());
        std::mem::forget(self);
        stack.take_into(most, work)
    }

    /// The vector, with what there was no memory for.
    fn give_back(&mut self) -> Vec<T> {
        let mut work = std::mem::take(&mut self.work);
        let Ok(()) = self.stack.put(&mut work, true) else { unreachable!("not all is done while somebody has loot") };
        work
    }

    /// Gives back what is in it; the same as to drop it, unless there is no memory.
    ///
    /// # Errors
    /// If there is no memory: here is what was not given back, and nobody else knows of it.
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
