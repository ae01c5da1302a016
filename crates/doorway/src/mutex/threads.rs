//! Which thread is which process of a mutex.
//!
//! A thread remembers its number of each mutex it has used. Looking it up touches nothing that another thread writes. When the thread ends, its numbers go back.

use super::LockError;
use crate::tools::{Arc, AtomicBool, Mutex, MutexGuard, thread_local};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;

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

    pub(super) fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// The number of this thread; a new one, if it has none.
    pub(super) fn register(self: &Arc<Self>) -> Result<Registered, LockError> {
        let known = |mine: &Vec<Registered>| mine.iter().find(|r| Arc::ptr_eq(&r.0.names, self)).cloned();
        // A thread that is ending has lost its list; it registers for one passage.
        let found = MINE.try_with(|mine| known(&mine.borrow())).ok().flatten();
        found.map_or_else(|| self.new_number(), Ok)
    }

    #[cold]
    fn new_number(self: &Arc<Self>) -> Result<Registered, LockError> {
        let number = self.free().pop().ok_or(LockError::TooManyThreads { most: self.all })?;
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
