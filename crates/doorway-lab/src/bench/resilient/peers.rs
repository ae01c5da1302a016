//! What is shared, and how.

use arc_swap::ArcSwap;
use doorway::Combining;
use doorway::combining::Combinable;
use doorway::resilient::{AmAssign, Handle, Object, Resilient};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Adds one.
#[derive(Clone, Copy)]
pub(super) enum Add {
    Straight,
    /// The same, with what its caller does [in the middle](in_the_middle).
    AndStop,
}

/// What is shared: a number, and what belongs to it.
pub(super) trait State: Object<Op = Add, Response = u64> + Default {
    fn number(&self) -> u64;
}

/// A number.
#[derive(Clone, Default)]
pub(super) struct Counter(u64);

/// A number and 56 bytes that change with it.
#[derive(Clone, Default)]
pub(super) struct Record([u64; 8]);

thread_local! {
    /// What this thread does in the middle of its next operation.
    static MIDDLE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// The calling thread does this once, in the middle of its next operation; other threads that help
/// with that operation do not.
pub(super) fn in_the_middle(then: impl FnOnce() + 'static) {
    MIDDLE.with_borrow_mut(|middle| *middle = Some(Box::new(then)));
}

#[cold]
fn middle() {
    let then = MIDDLE.with_borrow_mut(Option::take);
    if let Some(then) = then {
        then();
    }
}

impl Object for Counter {
    type Op = Add;
    type Response = u64;
    #[inline(always)]
    fn apply(&mut self, how: &Add) -> u64 {
        if let Add::AndStop = how {
            middle();
        }
        self.0 += 1;
        self.0
    }
}

impl State for Counter {
    fn number(&self) -> u64 {
        self.0
    }
}

impl Object for Record {
    type Op = Add;
    type Response = u64;
    #[inline(always)]
    fn apply(&mut self, how: &Add) -> u64 {
        if let Add::AndStop = how {
            middle();
        }
        self.0.iter_mut().for_each(|part| *part += 1);
        self.0[0]
    }
}

impl State for Record {
    fn number(&self) -> u64 {
        assert!(self.0.iter().all(|&part| part == self.0[0]), "the parts belong together");
        self.0[0]
    }
}

/// A way to share.
pub(super) trait Peer: Sync {
    type Me<'a>
    where
        Self: 'a;
    /// Adds a thread.
    fn join(&self) -> Self::Me<'_>;
    fn add(me: &mut Self::Me<'_>, how: Add) -> u64;
    /// The final number, when all threads have gone.
    fn number(self) -> u64;
}

/// Behind a mutex.
pub(super) struct Locked<T>(pub(super) Mutex<T>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: State> Peer for Locked<T> {
    type Me<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        lock(&me.0).apply(&how)
    }
    fn number(self) -> u64 {
        lock(&self.0).number()
    }
}

/// Behind a reader-writer lock.
pub(super) struct WriteLocked<T>(pub(super) RwLock<T>);

impl<T: State> Peer for WriteLocked<T> {
    type Me<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        me.0.write().unwrap_or_else(PoisonError::into_inner).apply(&how)
    }
    fn number(self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).number()
    }
}

/// Copied, changed and swapped: lock-free, not wait-free.
pub(super) struct Swung<T>(pub(super) ArcSwap<T>);

impl<T: State + 'static> Peer for Swung<T> {
    type Me<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        let mut response = 0;
        me.0.rcu(|state| {
            let mut state = T::clone(state);
            response = state.apply(&how);
            state
        });
        response
    }
    fn number(self) -> u64 {
        self.0.load().number()
    }
}

/// Marks the operand of a thread that stops.
const STOP: u64 = 1 << 63;

/// Addition in which a thread can stop.
pub(super) struct Sum;

impl Combinable for Sum {
    type Op = u64;
    type Value = u64;
    fn compose(first: u64, second: u64) -> u64 {
        first + second
    }
    #[inline(always)]
    fn apply(op: u64, value: u64) -> u64 {
        if op & STOP != 0 {
            middle();
        }
        value + (op & !STOP)
    }
}

/// Combined: only for operations that can be combined into one.
pub(super) struct Combined(pub(super) Combining<Sum>);

impl Peer for Combined {
    type Me<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        me.0.fetch_and_op(if let Add::AndStop = how { STOP | 1 } else { 1 }).expect("it is built for this many threads")
    }
    fn number(self) -> u64 {
        self.0.into_inner()
    }
}

impl<T: State> Peer for Resilient<T> {
    type Me<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        me.apply(how)
    }
    fn number(self) -> u64 {
        self.into_inner().number()
    }
}

impl<T: State> Peer for Resilient<T, AmAssign> {
    type Me<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn add(me: &mut &Self, how: Add) -> u64 {
        me.apply(how).expect("it is built for this many threads")
    }
    fn number(self) -> u64 {
        self.into_inner().number()
    }
}

/// The inner object, without slots around it, for at most one thread for each name.
pub(super) struct Inside<T: State>(Mutex<Vec<Handle<T>>>);

impl<T: State> Inside<T> {
    pub(super) fn new(object: Resilient<T>) -> Self {
        Self(Mutex::new(object.into_handles()))
    }
}

impl<T: State> Peer for Inside<T> {
    type Me<'a>
        = Taken<'a, T>
    where
        Self: 'a;
    fn join(&self) -> Taken<'_, T> {
        Taken { handle: lock(&self.0).pop(), back: self }
    }
    #[inline(always)]
    fn add(me: &mut Taken<'_, T>, how: Add) -> u64 {
        me.handle.as_mut().map_or(0, |handle| handle.apply(how))
    }
    fn number(self) -> u64 {
        lock(&self.0).first_mut().map_or(0, |handle| handle.read(State::number))
    }
}

/// A handle that is returned on drop.
pub(super) struct Taken<'a, T: State> {
    handle: Option<Handle<T>>,
    back: &'a Inside<T>,
}

impl<T: State> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        lock(&self.back.0).extend(self.handle.take());
    }
}

/// A new object that `arc-swap` shares.
pub(super) fn swung<T: State>() -> Swung<T> {
    Swung(ArcSwap::new(Arc::new(T::default())))
}
