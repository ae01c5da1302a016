//! Which thread is which process of a mutex, or of another object that threads use without joining.
//!
//! A thread remembers its number of each one it has used. Looking it up touches nothing that another thread writes. When the thread ends, its numbers go back.

use crate::tools::{Arc, AtomicBool, Mutex, MutexGuard, thread_local};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;

/// All process numbers belong to other threads that live: so many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooManyThreads {
    pub(super) most: usize,
}

impl fmt::Display for TooManyThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { most } = self;
        write!(f, "made for {most} threads, and as many others use it; make it for more, or let one of them end")
    }
}

/// The process numbers of one mutex.
pub(super) struct Names {
    free: Mutex<Vec<usize>>,
    all: usize,
    /// The mutex is gone.
    closed: AtomicBool,
}

impl Names {
    pub(super) fn new(all: usize) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new((0..all).rev().collect()), all, closed: AtomicBool::new(false) })
    }

    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        // The list is whole between any two operations on it.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn registered(&self) -> usize {
        self.all - self.free().len()
    }

    fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// The number of this thread; a new one, if it has none.
    pub(super) fn register(self: &Arc<Self>) -> Result<Registered, TooManyThreads> {
        let known = |mine: &Vec<Registered>| mine.iter().find(|r| Arc::ptr_eq(&r.0.names, self)).cloned();
        // A thread that is ending has lost its list; it registers for one passage.
        let found = MINE.try_with(|mine| known(&mine.borrow())).ok().flatten();
        found.map_or_else(|| self.new_number(), Ok)
    }

    #[cold]
    fn new_number(self: &Arc<Self>) -> Result<Registered, TooManyThreads> {
        let number = self.free().pop().ok_or(TooManyThreads { most: self.all })?;
        let new = Registered(Rc::new(Registration { names: Arc::clone(self), number, inside: Cell::new(false) }));
        let _ = MINE.try_with(|mine| {
            let mut mine = mine.borrow_mut();
            mine.retain(|r| !r.0.names.closed.load(SeqCst));
            mine.push(new.clone());
        });
        Ok(new)
    }
}

thread_local! {
    static MINE: RefCell<Vec<Registered>> = const { RefCell::new(Vec::new()) };
}

/// The share in the names of what they are names of: when it goes, threads may forget theirs.
pub(super) struct Owner(pub(super) Arc<Names>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// This thread's number of one mutex.
#[derive(Clone)]
pub(super) struct Registered(Rc<Registration>);

struct Registration {
    names: Arc<Names>,
    number: usize,
    /// From the first step of an entry to the last of its exit.
    inside: Cell<bool>,
}

impl Registered {
    pub(super) fn number(&self) -> usize {
        self.0.number
    }

    /// `false` if it has begun already.
    pub(super) fn begins(&self) -> bool {
        !self.0.inside.replace(true)
    }

    pub(super) fn ends(&self) {
        self.0.inside.set(false);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Who ends inside has died there: its number must not be used again.
        if !self.inside.get() {
            self.names.free().push(self.number);
        }
    }
}
