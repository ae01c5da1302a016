//! The wait layer on a tool's own atomics and locks: everything that loom and shuttle have in
//! common.
//!
//! Waiters do here what the handles of native memory do (`native/waits.rs`), without their statics,
//! clocks and parked threads. The layer is a parameter. [`Shipped`] is the real one. [`Rewritten`]
//! is the same protocol written again, so that it can be changed for the worse, one [`Fault`] at a
//! time.

#![allow(dead_code)] // each test crate uses only a part

use doorway::waiting::internals::{Bell, Flags, Lock, Place, Platform, Sequence, Table, Waiter};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Instant;

/// What a tool offers to waiters and to processes that wake them.
pub(crate) trait Tool: Platform + 'static {
    /// What an executor sleeps on while its task has nothing to do.
    type Parker: Wake + Send + Sync + 'static;
    type Thread;
    fn new() -> Self;
    /// Wakes only one sleeper, as a fault requires.
    fn wake_one(&self, word: &Self::Sequence);
    /// Ends all sleeps that have a deadline, now and later.
    fn time_comes(&self);
    fn time_has_come(&self) -> bool;
    fn parker() -> Arc<Self::Parker>;
    fn park(parker: &Self::Parker);
    fn spawn(run: impl FnOnce() + 'static) -> Self::Thread;
    fn join(thread: Self::Thread);
}

/// A value without a lock: loom watches its accesses.
macro_rules! unlocked_of {
    (loom) => {
        pub(crate) struct Watched<T>(loom::cell::UnsafeCell<T>);

        impl<T> doorway::waiting::internals::Unlocked<T> for Watched<T> {
            fn new(value: T) -> Self {
                Self(loom::cell::UnsafeCell::new(value))
            }
            fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
                self.0.with_mut(f)
            }
        }
    };
    (shuttle) => {
        type Watched<T> = std::cell::UnsafeCell<T>;
    };
}
pub(crate) use unlocked_of;

/// The platform of a tool, `platform_of!(loom)`. The tool's crate adds how to spawn and join.
macro_rules! platform_of {
    ($tool:ident, $thread:ty, $spawn:expr, $join:expr) => {
        /// A fence before each access: loom's `SeqCst` loads may read stale values, but not with
        /// fences between them.
        struct Word($tool::sync::atomic::AtomicU32);

        impl Word {
            fn fenced(&self) -> &$tool::sync::atomic::AtomicU32 {
                $tool::sync::atomic::fence(SeqCst);
                &self.0
            }
        }

        impl doorway::waiting::internals::Sequence for Word {
            fn new() -> Self {
                Self($tool::sync::atomic::AtomicU32::new(0))
            }
            fn load(&self) -> u32 {
                self.fenced().load(SeqCst)
            }
            fn bump(&self) {
                self.fenced().fetch_add(1, SeqCst);
            }
            fn store(&self, new: u32) {
                self.fenced().store(new, SeqCst);
            }
            fn exchange(&self, old: u32, new: u32) -> bool {
                self.fenced().compare_exchange(old, new, SeqCst, SeqCst).is_ok()
            }
        }

        impl doorway::waiting::internals::Flags for Word {
            fn new() -> Self {
                Self($tool::sync::atomic::AtomicU32::new(0))
            }
            fn load(&self) -> u8 {
                self.fenced().load(SeqCst) as u8
            }
            fn set(&self, flags: u8) {
                self.fenced().fetch_or(u32::from(flags), SeqCst);
            }
            fn clear(&self, flags: u8) {
                self.fenced().fetch_and(!u32::from(flags), SeqCst);
            }
        }

        waiting_kit::unlocked_of!($tool);

        struct Locked<T>($tool::sync::Mutex<T>);

        impl<T> doorway::waiting::internals::Lock<T> for Locked<T> {
            fn new(value: T) -> Self {
                Self($tool::sync::Mutex::new(value))
            }
            fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
                f(&mut self.0.lock().unwrap())
            }
        }

        /// Sleep as in the kernel: it compares the word and falls asleep in one step, so no wake-up
        /// comes between. One place serves all words, so some sleepers are woken for no reason.
        struct Simulated {
            time_has_come: $tool::sync::Mutex<bool>,
            bed: $tool::sync::Condvar,
        }

        impl doorway::waiting::internals::Platform for Simulated {
            const BUCKETS: usize = 64;
            type Sequence = Word;
            type Flags = Word;
            type Lock<T> = Locked<T>;
            type Unlocked<T> = Watched<T>;

            fn lets_others_run(&self) {
                $tool::thread::yield_now();
            }

            fn sleep(&self, word: &Word, expected: u32, until: Option<Instant>) {
                let time_has_come = self.time_has_come.lock().unwrap();
                if !(until.is_some() && *time_has_come) && doorway::waiting::internals::Sequence::load(word) == expected
                {
                    drop(self.bed.wait(time_has_come));
                }
            }

            fn wake_all(&self, _: &Word) {
                drop(self.time_has_come.lock().unwrap());
                self.bed.notify_all();
            }
        }

        struct Parker {
            woken: $tool::sync::Mutex<bool>,
            bed: $tool::sync::Condvar,
        }

        impl std::task::Wake for Parker {
            fn wake(self: Arc<Self>) {
                *self.woken.lock().unwrap() = true;
                self.bed.notify_one();
            }
        }

        impl waiting_kit::Tool for Simulated {
            type Parker = Parker;
            type Thread = $thread;

            fn new() -> Self {
                Self { time_has_come: $tool::sync::Mutex::new(false), bed: $tool::sync::Condvar::new() }
            }
            fn wake_one(&self, _: &Word) {
                drop(self.time_has_come.lock().unwrap());
                self.bed.notify_one();
            }
            fn time_comes(&self) {
                *self.time_has_come.lock().unwrap() = true;
                self.bed.notify_all();
            }
            fn time_has_come(&self) -> bool {
                *self.time_has_come.lock().unwrap()
            }
            fn parker() -> Arc<Parker> {
                Arc::new(Parker { woken: $tool::sync::Mutex::new(false), bed: $tool::sync::Condvar::new() })
            }
            fn park(parker: &Parker) {
                let mut woken = parker.woken.lock().unwrap();
                while !*woken {
                    woken = parker.bed.wait(woken).unwrap();
                }
                *woken = false;
            }
            fn spawn(run: impl FnOnce() + 'static) -> $thread {
                $spawn(run)
            }
            fn join(thread: $thread) {
                $join(thread);
            }
        }
    };
}
pub(crate) use platform_of;

/// The operations of the wait layer.
pub(crate) trait Layer: 'static {
    type P: Tool;
    type Bell;
    type Waiter: Default;
    fn new(fault: Option<Fault>) -> Self;
    fn platform(&self) -> &Self::P;
    fn bell(&self) -> Self::Bell;
    /// Makes a change, and rings.
    fn change(&self, bell: &Self::Bell, change: impl FnOnce());
    fn sleep(&self, bell: &Self::Bell, until: Option<Instant>, changed: impl FnOnce() -> bool);
    fn begin(&self, waiter: &Self::Waiter);
    fn poll(&self, waiter: &Self::Waiter, waker: &Waker) -> bool;
    /// Registers the waiter, then looks at the variable.
    fn register<R>(&self, bell: &Self::Bell, waiter: &Self::Waiter, look: impl FnOnce() -> R) -> R;
    fn remove(&self, bell: &Self::Bell, waiter: &Self::Waiter);
    fn is_empty(&self) -> bool;
}

/// The shipped layer.
pub(crate) struct Shipped<P: Platform> {
    platform: P,
    table: Table<P>,
}

/// A waiter, and where it has registered: with which bell, and at which place of the table.
pub(crate) struct Registered<P: Platform> {
    waiter: Arc<Waiter<P>>,
    places: RefCell<Vec<(*const Bell<P>, Place)>>,
}

impl<P: Platform> Default for Registered<P> {
    fn default() -> Self {
        Self { waiter: Arc::default(), places: RefCell::default() }
    }
}

impl<P: Tool> Layer for Shipped<P> {
    type P = P;
    type Bell = Bell<P>;
    type Waiter = Registered<P>;

    fn new(fault: Option<Fault>) -> Self {
        assert_eq!(fault, None, "the real layer has no faults to choose from");
        Self { platform: P::new(), table: Table::default() }
    }
    fn platform(&self) -> &P {
        &self.platform
    }
    fn bell(&self) -> Bell<P> {
        Bell::new(0xA5)
    }
    fn change(&self, bell: &Bell<P>, change: impl FnOnce()) {
        change();
        bell.ring(&self.platform, || &self.table);
    }
    fn sleep(&self, bell: &Bell<P>, until: Option<Instant>, changed: impl FnOnce() -> bool) {
        let (sequence, heard) = bell.listen();
        if !changed() {
            self.platform.sleep(sequence, heard, until);
        }
    }
    fn begin(&self, waiter: &Self::Waiter) {
        waiter.waiter.begin();
    }
    fn poll(&self, waiter: &Self::Waiter, waker: &Waker) -> bool {
        waiter.waiter.poll(waker)
    }
    fn register<R>(&self, bell: &Bell<P>, waiter: &Self::Waiter, look: impl FnOnce() -> R) -> R {
        let place = bell.notify(&self.table, &waiter.waiter);
        waiter.places.borrow_mut().push((bell, place));
        look()
    }
    fn remove(&self, bell: &Bell<P>, waiter: &Self::Waiter) {
        let here = |of: *const Bell<P>| std::ptr::eq(of, bell);
        waiter.places.borrow().iter().filter(|(of, _)| here(*of)).for_each(|(_, place)| self.table.remove(*place));
        waiter.places.borrow_mut().retain(|(of, _)| !here(*of));
    }
    fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

/// Seeded faults of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Waiters set no flag.
    NoFlag,
    /// Waiters look at the variable, then set their flag.
    LookThenFlag,
    /// Sleepers set their flag, then read the sequence.
    FlagThenSequence,
    /// Changers increment the sequence, then clear the flag.
    BumpThenClear,
    /// Changers do not increment the sequence.
    NoBump,
    /// Changers clear the flag of the tasks after they have released the table.
    ClearAfterLock,
    /// Changers clear the flag of the tasks before they lock the table. See [`Fault::HARMLESS`].
    ClearBeforeLock,
    /// Tasks set their flag before they lock the table.
    FlagBeforeLock,
    /// A waiter's waker is woken before the waiter is marked as notified.
    WakeThenNotified,
    /// The first waker is kept.
    FirstWakerStays,
    /// Changers read the flags, then change the variable.
    FlagsThenChange,
    /// Changers wake one thread and one task.
    WakesOne,
    /// Changers wake the threads, and the tasks only if there are none.
    WakesOneKind,
    /// Changers wake no process.
    NeverRings,
    /// A waiter that ran out of time clears the flag, as if it alone had set it.
    TimeoutClears,
    /// A waiter that is removed from the table clears the flag, as if it alone had set it.
    RemoveClears,
    /// A waiter that is removed from the table takes the others along.
    RemoveTakesAll,
}

impl Fault {
    /// The faults that must be found.
    pub(crate) const FATAL: [Self; 16] = [
        Self::NoFlag,
        Self::LookThenFlag,
        Self::FlagThenSequence,
        Self::BumpThenClear,
        Self::NoBump,
        Self::ClearAfterLock,
        Self::FlagBeforeLock,
        Self::WakeThenNotified,
        Self::FirstWakerStays,
        Self::FlagsThenChange,
        Self::WakesOne,
        Self::WakesOneKind,
        Self::NeverRings,
        Self::TimeoutClears,
        Self::RemoveClears,
        Self::RemoveTakesAll,
    ];

    /// The changes that are harmless.
    ///
    /// A flag is cleared before the table is locked. Every waiter that has set it until then is in
    /// the table when the table is locked, and is taken out and notified. A flag that is set in
    /// between stands for no waiter, and costs the next changer a needless call.
    pub(crate) const HARMLESS: [Self; 1] = [Self::ClearBeforeLock];
}

const THREADS: u8 = 1;
const TASKS: u8 = 2;

pub(crate) struct RewrittenBell<P: Platform> {
    id: usize,
    sequence: P::Sequence,
    listeners: P::Flags,
}

#[derive(Default)]
struct State {
    notified: bool,
    waker: Option<Waker>,
}

pub(crate) struct RewrittenWaiter<P: Platform>(Arc<P::Lock<State>>);

impl<P: Platform> Default for RewrittenWaiter<P> {
    fn default() -> Self {
        Self(Arc::new(P::Lock::new(State::default())))
    }
}

type Entries<P> = Vec<(usize, Arc<<P as Platform>::Lock<State>>)>;

/// The same protocol written again, with room for a fault. Its table has one bucket, so variables
/// share it.
pub(crate) struct Rewritten<P: Platform> {
    fault: Option<Fault>,
    platform: P,
    bells: Cell<usize>,
    entries: P::Lock<Entries<P>>,
}

impl<P: Tool> Rewritten<P> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn wake(&self, bell: &RewrittenBell<P>, listeners: u8) {
        if listeners & THREADS != 0 {
            if self.has(Fault::BumpThenClear) {
                bell.sequence.bump();
                bell.listeners.clear(THREADS);
            } else {
                bell.listeners.clear(THREADS);
                if !self.has(Fault::NoBump) {
                    bell.sequence.bump();
                }
            }
            if self.has(Fault::WakesOne) {
                self.platform.wake_one(&bell.sequence);
            } else {
                self.platform.wake_all(&bell.sequence);
            }
            if self.has(Fault::WakesOneKind) {
                return;
            }
        }
        if listeners & TASKS != 0 {
            let clear = |when: bool| {
                if when {
                    bell.listeners.clear(TASKS);
                }
            };
            clear(self.has(Fault::ClearBeforeLock));
            let most = if self.has(Fault::WakesOne) { 1 } else { usize::MAX };
            let woken: Entries<P> = self.entries.with(|entries| {
                clear(!self.has(Fault::ClearBeforeLock) && !self.has(Fault::ClearAfterLock));
                entries.extract_if(.., |(id, _)| *id == bell.id).take(most).collect()
            });
            clear(self.has(Fault::ClearAfterLock));
            for (_, waiter) in woken {
                let says_so_first = !self.has(Fault::WakeThenNotified);
                let waker = waiter.with(|state| {
                    state.notified |= says_so_first;
                    state.waker.take()
                });
                if let Some(waker) = waker {
                    waker.wake();
                }
                if !says_so_first {
                    waiter.with(|state| state.notified = true);
                }
            }
        }
    }

    fn listen(&self, bell: &RewrittenBell<P>) -> u32 {
        let older = (!self.has(Fault::FlagThenSequence)).then(|| bell.sequence.load());
        if !self.has(Fault::NoFlag) {
            bell.listeners.set(THREADS);
        }
        older.unwrap_or_else(|| bell.sequence.load())
    }
}

impl<P: Tool> Layer for Rewritten<P> {
    type P = P;
    type Bell = RewrittenBell<P>;
    type Waiter = RewrittenWaiter<P>;

    fn new(fault: Option<Fault>) -> Self {
        Self { fault, platform: P::new(), bells: Cell::new(0), entries: P::Lock::new(Vec::new()) }
    }
    fn platform(&self) -> &P {
        &self.platform
    }
    fn bell(&self) -> RewrittenBell<P> {
        let id = self.bells.replace(self.bells.get() + 1);
        RewrittenBell { id, sequence: P::Sequence::new(), listeners: P::Flags::new() }
    }
    fn change(&self, bell: &RewrittenBell<P>, change: impl FnOnce()) {
        let early = self.has(Fault::FlagsThenChange).then(|| bell.listeners.load());
        change();
        let listeners = early.unwrap_or_else(|| bell.listeners.load());
        if listeners != 0 && !self.has(Fault::NeverRings) {
            self.wake(bell, listeners);
        }
    }
    fn sleep(&self, bell: &RewrittenBell<P>, until: Option<Instant>, changed: impl FnOnce() -> bool) {
        let (sequence, changed) = if self.has(Fault::LookThenFlag) {
            let changed = changed();
            (self.listen(bell), changed)
        } else {
            (self.listen(bell), changed())
        };
        if !changed {
            self.platform.sleep(&bell.sequence, sequence, until);
        }
        if self.has(Fault::TimeoutClears) && until.is_some() && self.platform.time_has_come() {
            bell.listeners.clear(THREADS);
        }
    }
    fn begin(&self, waiter: &Self::Waiter) {
        waiter.0.with(|state| *state = State::default());
    }
    fn poll(&self, waiter: &Self::Waiter, waker: &Waker) -> bool {
        waiter.0.with(|state| {
            if !(state.notified || self.has(Fault::FirstWakerStays) && state.waker.is_some()) {
                state.waker = Some(waker.clone());
            }
            state.notified
        })
    }
    fn register<R>(&self, bell: &RewrittenBell<P>, waiter: &Self::Waiter, look: impl FnOnce() -> R) -> R {
        let set = |when: bool| {
            if when && !self.has(Fault::NoFlag) {
                bell.listeners.set(TASKS);
            }
        };
        let register = || {
            set(self.has(Fault::FlagBeforeLock));
            self.entries.with(|entries| {
                if !entries.iter().any(|(id, known)| *id == bell.id && Arc::ptr_eq(known, &waiter.0)) {
                    entries.push((bell.id, Arc::clone(&waiter.0)));
                }
                set(!self.has(Fault::FlagBeforeLock));
            });
        };
        if self.has(Fault::LookThenFlag) {
            let seen = look();
            register();
            seen
        } else {
            register();
            look()
        }
    }
    fn remove(&self, bell: &RewrittenBell<P>, waiter: &Self::Waiter) {
        self.entries.with(|entries| {
            let all = self.has(Fault::RemoveTakesAll);
            entries.retain(|(id, known)| !(*id == bell.id && (all || Arc::ptr_eq(known, &waiter.0))));
            if self.has(Fault::RemoveClears) {
                bell.listeners.clear(TASKS);
            }
        });
    }
    fn is_empty(&self) -> bool {
        self.entries.with(|entries| entries.is_empty())
    }
}

/// A variable, as in native memory. With this alignment, neighbours never share a bucket of the
/// real table, wherever they lie: an execution that loom repeats must not depend on addresses.
#[repr(align(64))]
pub(crate) struct Variable<L: Layer> {
    value: <L::P as Platform>::Sequence,
    bell: L::Bell,
}

/// The state that waiters and changers share.
pub(crate) struct World<L: Layer> {
    pub(crate) layer: L,
    variables: Vec<Variable<L>>,
    /// What the task that may run out of time sleeps on.
    alarm: Arc<<L::P as Tool>::Parker>,
}

/// The role of a process in a world.
pub(crate) type Role<L> = fn(&World<L>);

impl<L: Layer> World<L> {
    pub(crate) fn new(fault: Option<Fault>, variables: usize) -> Rc<Self> {
        let layer = L::new(fault);
        let variable = |_| Variable { value: <L::P as Platform>::Sequence::new(), bell: layer.bell() };
        Rc::new(Self { variables: (0..variables).map(variable).collect(), alarm: L::P::parker(), layer })
    }

    /// Each process plays its role, the first of them on the existing thread. After that the table
    /// is empty.
    pub(crate) fn together(self: &Rc<Self>, roles: &[Role<L>]) {
        let others: Vec<_> = roles[1..]
            .iter()
            .map(|&role| {
                let world = Rc::clone(self);
                L::P::spawn(move || role(&world))
            })
            .collect();
        roles[0](self);
        others.into_iter().for_each(L::P::join);
        assert!(self.layer.is_empty(), "a waiter is left in the table");
    }

    fn now(&self, variable: usize) -> u32 {
        self.variables[variable].value.load()
    }

    pub(crate) fn add(&self, variable: usize) {
        let Variable { value, bell } = &self.variables[variable];
        self.layer.change(bell, || {
            value.bump();
        });
    }

    /// A thread sleeps until the variable has reached the value.
    pub(crate) fn thread_waits(&self, variable: usize, enough: u32) {
        loop {
            let seen = self.now(variable);
            if seen >= enough {
                return;
            }
            self.layer.sleep(&self.variables[variable].bell, None, || self.now(variable) != seen);
        }
    }

    /// The same, unless the deadline comes first.
    pub(crate) fn thread_waits_in_time(&self, variable: usize, enough: u32) {
        loop {
            let seen = self.now(variable);
            if seen >= enough || self.layer.platform().time_has_come() {
                return;
            }
            let until = Some(Instant::now());
            self.layer.sleep(&self.variables[variable].bell, until, || self.now(variable) != seen);
        }
    }

    /// A task yields until the variable has reached the value.
    pub(crate) fn task_waits(&self, variable: usize, enough: u32) {
        let parker = L::P::parker();
        let waker = Waker::from(Arc::clone(&parker));
        self.task(variable, enough, |waiter| {
            while !self.layer.poll(waiter, &waker) {
                L::P::park(&parker);
            }
            true
        });
    }

    /// The same, unless the deadline comes first: then the task is polled, and gives up.
    pub(crate) fn task_waits_in_time(&self, variable: usize, enough: u32) {
        let waker = Waker::from(Arc::clone(&self.alarm));
        self.task(variable, enough, |waiter| {
            while !self.layer.platform().time_has_come() {
                if self.layer.poll(waiter, &waker) {
                    return true;
                }
                L::P::park(&self.alarm);
            }
            false
        });
    }

    /// Each poll comes with another waker, and only the last waker is useful: no task sleeps on the
    /// parkers of the earlier ones.
    pub(crate) fn task_waits_with_new_wakers(&self, variable: usize, enough: u32) {
        self.task(variable, enough, |waiter| {
            let parker = L::P::parker();
            let _ = self.layer.poll(waiter, &Waker::from(L::P::parker()))
                || self.layer.poll(waiter, &Waker::from(Arc::clone(&parker)));
            let waker = Waker::from(Arc::clone(&parker));
            while !self.layer.poll(waiter, &waker) {
                L::P::park(&parker);
            }
            true
        });
    }

    /// A task begins to wait, is polled once, and is dropped.
    pub(crate) fn task_is_cancelled(&self, variable: usize, enough: u32) {
        let waker = Waker::from(L::P::parker());
        self.task(variable, enough, |waiter| {
            self.layer.poll(waiter, &waker);
            false
        });
    }

    /// `notified` returns when the waiter has been notified, or says that the waiter has given up.
    fn task(&self, variable: usize, enough: u32, notified: impl Fn(&L::Waiter) -> bool) {
        let (waiter, bell) = (L::Waiter::default(), &self.variables[variable].bell);
        loop {
            let seen = self.now(variable);
            if seen >= enough {
                return;
            }
            self.layer.begin(&waiter);
            let changed = self.layer.register(bell, &waiter, || self.now(variable) != seen);
            let goes_on = changed || notified(&waiter);
            self.layer.remove(bell, &waiter);
            if !goes_on {
                return;
            }
        }
    }

    /// Waits until some variables have reached a sum. Registers at each variable before reading it.
    /// (The waiter is a task, or a thread. A thread parks until its waker unparks it, and makes no
    /// difference here.)
    pub(crate) fn waits_for_any(&self, variables: &[usize], enough: u32) {
        let waiter = L::Waiter::default();
        let parker = L::P::parker();
        let waker = Waker::from(Arc::clone(&parker));
        loop {
            self.layer.begin(&waiter);
            let look = |&v: &usize| self.layer.register(&self.variables[v].bell, &waiter, || self.now(v));
            let done = variables.iter().map(look).sum::<u32>() >= enough;
            while !done && !self.layer.poll(&waiter, &waker) {
                L::P::park(&parker);
            }
            variables.iter().for_each(|&v| self.layer.remove(&self.variables[v].bell, &waiter));
            if done {
                return;
            }
        }
    }

    pub(crate) fn time_comes(&self) {
        self.layer.platform().time_comes();
        Arc::clone(&self.alarm).wake();
    }
}

/// The complaint of the tool, if there was one. Tools complain by panicking.
pub(crate) fn complaint(run: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Some(text.expect("a complaint is text").trim().to_owned())
}
