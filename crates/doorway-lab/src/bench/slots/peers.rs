//! Our semaphores and pools and those of others, all as something to pass through.

use crate::bench::entrance::Entrance;
use crossbeam_queue::ArrayQueue;
use doorway::SlotGuard;
use doorway::Slots;
use doorway::slots::{Numbered, Numbering, Passing, Unnumbered};
use sem_safe::non_named::Semaphore as _;
use sem_safe::{SemaphoreRef, unnamed};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

pub(super) const FAIR: &str = "doorway";
pub(super) const UNFAIR: &str = "doorway unfair";
pub(super) const BYPASS: &str = "doorway bypass 64";
pub(super) const UNNUMBERED_BYPASS: &str = "doorway no numbers, bypass 64";
pub(super) const UNNUMBERED: &str = "doorway no numbers";
pub(super) const UNNUMBERED_UNFAIR: &str = "doorway no numbers, unfair";
pub(super) const TOKIO: &str = "tokio";
pub(super) const ASYNC_LOCK: &str = "async-lock";
pub(super) const STD: &str = "std condvar";
pub(super) const PARKING_LOT: &str = "parking_lot condvar";
pub(super) const PARKING_LOT_FAIR_UNLOCK: &str = "parking_lot fair unlock";
pub(super) const SEM_T: &str = "sem_t";

/// This many of our slots.
pub(in crate::bench) fn slots(k: usize) -> Slots {
    Slots::new(k).expect("the number of places is small")
}

/// Looks at the slot number that a holder has got, if there are numbers.
pub(super) trait Look: Numbering {
    fn look(guard: &SlotGuard<'_, Self>);
}
impl Look for Numbered {
    #[inline(always)]
    fn look(guard: &SlotGuard<'_>) {
        black_box(guard.slot());
    }
}
impl Look for Passing {
    #[inline(always)]
    fn look(guard: &SlotGuard<'_, Self>) {
        black_box(guard.slot());
    }
}
impl Look for Unnumbered {
    #[inline(always)]
    fn look(_: &SlotGuard<'_, Self>) {}
}
impl Look for Passing<Unnumbered> {
    #[inline(always)]
    fn look(_: &SlotGuard<'_, Self>) {}
}

impl<N: Look> Entrance for Slots<N>
where
    Self: Sync,
{
    type Member<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Ok(guard) = me.acquire() else { return false };
        N::look(&guard);
        inside();
        true
    }
}

/// Wakes a parked thread.
struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread, without a runtime: how threads wait for tokio's semaphore.
#[inline(always)]
fn block_on<F: Future>(waker: &Waker, future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(waker)) {
            return value;
        }
        std::thread::park();
    }
}

impl Entrance for tokio::sync::Semaphore {
    /// A waker for each thread, created once.
    type Member<'a> = (&'a Self, Waker);
    fn join(&self) -> Self::Member<'_> {
        (self, Waker::from(Arc::new(Unparks(std::thread::current()))))
    }
    #[inline(always)]
    fn pass((semaphore, waker): &mut Self::Member<'_>, inside: impl FnOnce()) -> bool {
        let guard = block_on(waker, semaphore.acquire());
        inside();
        guard.is_ok()
    }
}

impl Entrance for async_lock::Semaphore {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let _guard = me.acquire_blocking();
        inside();
        true
    }
}

/// The number of free places under a mutex, and a condition variable.
pub(super) struct Std(Mutex<usize>, Condvar);

impl Std {
    pub(super) fn new(k: usize) -> Self {
        Self(Mutex::new(k), Condvar::new())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entrance for Std {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Self(free, one_more) = *me;
        let mut now = one_more.wait_while(lock(free), |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *now -= 1;
        drop(now);
        inside();
        *lock(free) += 1;
        one_more.notify_one();
        true
    }
}

/// The same of `parking_lot`.
pub(super) struct ParkingLot(parking_lot::Mutex<usize>, parking_lot::Condvar);

impl ParkingLot {
    pub(super) fn new(k: usize) -> Self {
        Self(parking_lot::Mutex::new(k), parking_lot::Condvar::new())
    }
}

impl Entrance for ParkingLot {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Self(free, one_more) = *me;
        let mut now = free.lock();
        one_more.wait_while(&mut now, |free| *free == 0);
        *now -= 1;
        drop(now);
        inside();
        *free.lock() += 1;
        one_more.notify_one();
        true
    }
}

/// The system library's semaphore.
pub(super) struct Posix(Pin<Box<unnamed::Semaphore>>);

impl Posix {
    pub(super) fn new(k: usize) -> Self {
        let semaphore = Box::pin(unnamed::Semaphore::uninit());
        let k = u32::try_from(k).expect("the number is small");
        semaphore.as_ref().init_with(false, k).expect("the system has semaphores");
        Self(semaphore)
    }
}

impl Entrance for Posix {
    type Member<'a> = SemaphoreRef<'a>;
    fn join(&self) -> SemaphoreRef<'_> {
        self.0.as_ref().sem_ref().expect("it was initialised when it was built")
    }
    #[inline(always)]
    fn pass(me: &mut SemaphoreRef<'_>, inside: impl FnOnce()) -> bool {
        while me.wait().is_err() {} // interrupted by a signal
        inside();
        me.post().is_ok()
    }
}

/// A pool: a thread that is inside has one of the values to itself.
pub(super) trait Pool: Send + Sync + 'static {
    fn new(values: Vec<u64>) -> Self;
    fn with(&self, inside: impl FnOnce(&mut u64));
}

/// Ours.
impl Pool for doorway::Pool<u64> {
    fn new(values: Vec<u64>) -> Self {
        Self::new(values).expect("a few values")
    }
    #[inline(always)]
    fn with(&self, inside: impl FnOnce(&mut u64)) {
        let Ok(mut lent) = self.acquire() else { return };
        inside(&mut lent);
    }
}

/// `crossbeam`'s queue of the free values, and a condition variable for when there is none.
pub(super) struct QueuePool {
    free: ArrayQueue<u64>,
    waiting: AtomicUsize,
    turn: Mutex<()>,
    one_more: Condvar,
}

impl QueuePool {
    #[cold]
    fn wait(&self) -> u64 {
        let mut turn = lock(&self.turn);
        self.waiting.fetch_add(1, SeqCst);
        // A waiter announces itself before it looks; a thread that gives back looks for waiters
        // afterwards.
        let value = loop {
            if let Some(value) = self.free.pop() {
                break value;
            }
            turn = self.one_more.wait(turn).unwrap_or_else(PoisonError::into_inner);
        };
        self.waiting.fetch_sub(1, SeqCst);
        value
    }
}

impl Pool for QueuePool {
    fn new(values: Vec<u64>) -> Self {
        let free = ArrayQueue::new(values.len());
        values.into_iter().for_each(|value| free.push(value).expect("it is as long as there are values"));
        Self { free, waiting: AtomicUsize::new(0), turn: Mutex::new(()), one_more: Condvar::new() }
    }
    #[inline(always)]
    fn with(&self, inside: impl FnOnce(&mut u64)) {
        let mut value = self.free.pop().unwrap_or_else(|| self.wait());
        inside(&mut value);
        self.free.push(value).expect("it came from there");
        fence(SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            drop(lock(&self.turn));
            self.one_more.notify_one();
        }
    }
}

/// What `deadpool` does: tokio's semaphore, and the free values under a mutex.
pub(super) struct SemaphorePool {
    semaphore: tokio::sync::Semaphore,
    free: Mutex<Vec<u64>>,
}

impl Pool for SemaphorePool {
    fn new(values: Vec<u64>) -> Self {
        Self { semaphore: tokio::sync::Semaphore::new(values.len()), free: Mutex::new(values) }
    }
    #[inline(always)]
    fn with(&self, inside: impl FnOnce(&mut u64)) {
        // Measured by one thread only, which never waits.
        let Ok(_guard) = block_on(Waker::noop(), self.semaphore.acquire()) else { return };
        let Some(mut value) = lock(&self.free).pop() else { return };
        inside(&mut value);
        lock(&self.free).push(value);
    }
}

/// What tasks wait for.
pub(super) trait TaskRoom: Send + Sync + 'static {
    type Guard<'a>: Send
    where
        Self: 'a;
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send;
    fn enter_at_once(&self) -> Option<Self::Guard<'_>>;
}

const OPEN: &str = "it is never closed";

impl TaskRoom for Slots {
    type Guard<'a> = SlotGuard<'a>;
    async fn enter(&self) -> Self::Guard<'_> {
        self.acquire_async().await.expect(OPEN)
    }
    fn enter_at_once(&self) -> Option<Self::Guard<'_>> {
        self.try_acquire().ok()
    }
}

impl TaskRoom for tokio::sync::Semaphore {
    type Guard<'a> = tokio::sync::SemaphorePermit<'a>;
    async fn enter(&self) -> Self::Guard<'_> {
        self.acquire().await.expect(OPEN)
    }
    fn enter_at_once(&self) -> Option<Self::Guard<'_>> {
        self.try_acquire().ok()
    }
}

impl TaskRoom for async_lock::Semaphore {
    type Guard<'a> = async_lock::SemaphoreGuard<'a>;
    fn enter(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.acquire()
    }
    fn enter_at_once(&self) -> Option<Self::Guard<'_>> {
        self.try_acquire()
    }
}
