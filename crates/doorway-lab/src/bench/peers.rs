//! Ways to wait for a change by another thread or task, all behind one pair of verbs: set a number,
//! wait for it.

use crossbeam_utils::CachePadded;
use doorway::native::{Native, now};
use doorway::waiting::Policy;
use doorway_core::memory::{Memory, One, Pid, Process, Site, Word};
use event_listener::{Event, Listener as _};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;

/// A way to wait: numbers that grow, and waiting for them.
pub(super) trait Peer: Copy + Send + Sync + 'static {
    /// A number that one party sets and others wait for.
    type Signal: Send + Sync + 'static;
    /// What each thread or task brings along.
    type Party: Send + Sync + 'static;

    /// Its name in tables.
    fn name(self) -> &'static str;
    /// A signal that has not been set.
    fn signal(self) -> Self::Signal;
    /// A thread or a task.
    fn party(self, index: usize, as_task: bool) -> Self::Party;
    /// The calling thread will wait for the signal.
    fn listens(_: &Self::Signal) {}
    /// Sets the signal, and wakes all that wait for it.
    fn set(me: &Self::Party, signal: &Self::Signal, value: u64);
    /// Blocks until the signal has this value or more; returns it.
    fn wait(me: &Self::Party, signal: &Self::Signal, at_least: u64) -> u64;
}

/// A peer that tasks can wait with.
pub(super) trait TaskPeer: Peer {
    /// [`Peer::wait`] for tasks.
    fn wait_as_task(me: &Self::Party, signal: &Self::Signal, at_least: u64) -> impl Future<Output = u64> + Send;
}

/// Our wait layer: `wait_until` on a variable of native memory. The type `W` of its word says how
/// many processes may wait for it.
#[derive(Clone, Copy)]
pub(super) struct Doorway<W = u64>(pub(super) &'static str, pub(super) Policy, PhantomData<W>);

impl<W> Doorway<W> {
    const fn new(name: &'static str, policy: Policy) -> Self {
        Self(name, policy, PhantomData)
    }
}

pub(super) const PARK: Doorway = Doorway::new("doorway PARK", Policy::PARK);
pub(super) const YIELD: Doorway = Doorway::new("doorway YIELD", Policy::YIELD);
pub(super) const SPIN: Doorway = Doorway::new("doorway SPIN", Policy::SPIN);
/// Tasks leave a waker behind whatever the policy.
pub(super) const TASK: Doorway = Doorway::new("doorway", Policy::PARK);
/// A word for which one process waits at a time, as for the records of `Slots`.
pub(super) const ONE: Doorway<Baton> = Doorway::new("doorway, one waits", Policy::PARK);

/// A number for which one process waits at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Baton(u64);

impl Word for Baton {
    type Waiters = One;
    const WHOLE: bool = true;

    fn pack(self) -> u64 {
        self.0
    }
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

impl<W: Word + Send + Sync> Peer for Doorway<W>
where
    <Native as Memory>::Var<W>: Send + Sync,
{
    type Signal = <Native as Memory>::Var<W>;
    type Party = Process<Native>;

    fn name(self) -> &'static str {
        self.0
    }
    fn signal(self) -> Self::Signal {
        Site::new(&Native::new()).var("Signal", W::unpack(0))
    }
    fn party(self, index: usize, as_task: bool) -> Self::Party {
        let memory = Native::new().with_policy(self.1);
        memory.wait_as_task(as_task);
        Process::new(Pid::new(index), memory)
    }
    fn set(me: &Self::Party, signal: &Self::Signal, value: u64) {
        let Ok(()) = now(me.on(()).at(1).write(signal, W::unpack(value)));
    }
    fn wait(me: &Self::Party, signal: &Self::Signal, at_least: u64) -> u64 {
        let Ok(value) = now(me.on(()).at(2).wait_until(signal, |value: W| value.pack() >= at_least));
        value.pack()
    }
}

impl<W: Word + Send + Sync> TaskPeer for Doorway<W>
where
    <Native as Memory>::Var<W>: Send + Sync,
{
    async fn wait_as_task(me: &Self::Party, signal: &Self::Signal, at_least: u64) -> u64 {
        let Ok(value) = me.on(()).at(2).wait_until(signal, |value: W| value.pack() >= at_least).await;
        value.pack()
    }
}

/// `parking_lot`: a number under a mutex, and a condition variable.
#[derive(Clone, Copy)]
pub(super) struct ParkingLot(pub(super) &'static str);

impl Peer for ParkingLot {
    type Signal = CachePadded<(parking_lot::Mutex<u64>, parking_lot::Condvar)>;
    type Party = ();

    fn name(self) -> &'static str {
        self.0
    }
    fn signal(self) -> Self::Signal {
        CachePadded::default()
    }
    fn party(self, _: usize, _: bool) {}
    fn set((): &(), signal: &Self::Signal, value: u64) {
        *signal.0.lock() = value;
        signal.1.notify_all();
    }
    fn wait((): &(), signal: &Self::Signal, at_least: u64) -> u64 {
        let mut value = signal.0.lock();
        while *value < at_least {
            signal.1.wait(&mut value);
        }
        *value
    }
}

/// `std::thread::park`, and the list of threads to unpark.
#[derive(Clone, Copy)]
pub(super) struct Unpark;

#[derive(Default)]
pub(super) struct Parked {
    value: CachePadded<AtomicU64>,
    threads: Mutex<Vec<Thread>>,
}

impl Peer for Unpark {
    type Signal = Parked;
    type Party = ();

    fn name(self) -> &'static str {
        "std park"
    }
    fn signal(self) -> Parked {
        Parked::default()
    }
    fn party(self, _: usize, _: bool) {}
    fn listens(signal: &Parked) {
        signal.threads.lock().unwrap_or_else(PoisonError::into_inner).push(std::thread::current());
    }
    fn set((): &(), signal: &Parked, value: u64) {
        signal.value.store(value, SeqCst);
        signal.threads.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
    }
    fn wait((): &(), signal: &Parked, at_least: u64) -> u64 {
        loop {
            let value = signal.value.load(SeqCst);
            if value >= at_least {
                return value;
            }
            std::thread::park();
        }
    }
}

/// `event-listener`, which serves threads and tasks alike.
#[derive(Clone, Copy)]
pub(super) struct EventListener;

#[derive(Default)]
pub(super) struct Announced {
    value: CachePadded<AtomicU64>,
    event: Event,
}

impl Peer for EventListener {
    type Signal = Announced;
    type Party = ();

    fn name(self) -> &'static str {
        "event-listener"
    }
    fn signal(self) -> Announced {
        Announced::default()
    }
    fn party(self, _: usize, _: bool) {}
    fn set((): &(), signal: &Announced, value: u64) {
        signal.value.store(value, SeqCst);
        signal.event.notify(usize::MAX);
    }
    fn wait((): &(), signal: &Announced, at_least: u64) -> u64 {
        loop {
            let value = signal.value.load(SeqCst);
            if value >= at_least {
                return value;
            }
            let listener = signal.event.listen();
            if signal.value.load(SeqCst) < at_least {
                listener.wait();
            }
        }
    }
}

impl TaskPeer for EventListener {
    async fn wait_as_task((): &(), signal: &Announced, at_least: u64) -> u64 {
        loop {
            let value = signal.value.load(SeqCst);
            if value >= at_least {
                return value;
            }
            let listener = signal.event.listen();
            if signal.value.load(SeqCst) < at_least {
                listener.await;
            }
        }
    }
}

/// `tokio::sync::Notify`. A thread that waits with it blocks on a runtime of its own.
#[derive(Clone, Copy)]
pub(super) struct Notify(pub(super) &'static str);

#[derive(Default)]
pub(super) struct Notified {
    value: CachePadded<AtomicU64>,
    notify: tokio::sync::Notify,
}

impl Peer for Notify {
    type Signal = Notified;
    /// The runtime of a thread.
    type Party = Option<tokio::runtime::Runtime>;

    fn name(self) -> &'static str {
        self.0
    }
    fn signal(self) -> Notified {
        Notified::default()
    }
    fn party(self, _: usize, as_task: bool) -> Self::Party {
        (!as_task).then(super::executor)
    }
    fn set(_: &Self::Party, signal: &Notified, value: u64) {
        signal.value.store(value, SeqCst);
        signal.notify.notify_waiters();
    }
    fn wait(me: &Self::Party, signal: &Notified, at_least: u64) -> u64 {
        me.as_ref().expect("threads bring a runtime").block_on(Self::wait_as_task(&None, signal, at_least))
    }
}

impl TaskPeer for Notify {
    async fn wait_as_task(_: &Self::Party, signal: &Notified, at_least: u64) -> u64 {
        loop {
            // Created before the look: `notify_waiters` wakes every future created by then.
            let notified = signal.notify.notified();
            let value = signal.value.load(SeqCst);
            if value >= at_least {
                return value;
            }
            notified.await;
        }
    }
}
