//! The alarm under loom: every race of the one process that waits for a variable with the processes
//! that change it, and with the next waiter.
//!
//! A process that sleeps through a change sleeps forever, and loom reports a deadlock. Loom watches
//! the waker in the alarm, and reports two processes that touch it at once. At the end of each
//! execution no waker is left, and none was dropped twice.
//!
//! In races of two waiters, the second begins to wait when the wait of the first is over. The first
//! may not have noticed that. Either it sleeps, and its change has not been rung for; or it is
//! about to set the alarm, over that of the second.
//!
//! | race                                | preemptions | executions |
//! |-------------------------------------|-------------|------------|
//! | `thread`                            | all         | 228        |
//! | `task`                              | all         | 433        |
//! | `new wakers`                        | all         | 3,633      |
//! | `cancelled`                         | all         | 462        |
//! | `timed thread`                      | 3           | 2,001      |
//! | `thread, two changers`              | 3           | 3,618      |
//! | `task, two changers`                | 3           | 2,734      |
//! | `thread, then thread`               | 3           | 4,911      |
//! | `thread, then task`                 | 3           | 3,321      |
//! | `task, then thread`                 | 3           | 4,482      |
//! | `task, then task`                   | 3           | 4,098      |
//! | `new wakers, then new wakers`       | 3           | 10,230     |
//! | `cancelled, then thread`            | 3           | 2,094      |
//! | `cancelled, then task`              | 3           | 2,013      |
//! | `timed thread, then thread`         | 2           | 6,107      |
//! | `thread, then thread, two changers` | 2           | 4,962      |
//! | `thread, then task, two changers`   | 2           | 3,592      |
//! | `task, then thread, two changers`   | 2           | 3,831      |
//! | `task, then task, two changers`     | 2           | 3,630      |
//!
//! The value of these races shows when the protocol is changed for the worse: each [`Fault`] is
//! found.

mod waiting_kit;

use doorway::waiting::internals::{Alarm, Platform, Sequence, Set, Unlocked};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::time::Instant;
use waiting_kit::{Tool, complaint, platform_of};

platform_of!(loom, loom::thread::JoinHandle<()>, loom::thread::spawn, |thread: loom::thread::JoinHandle<()>| thread
    .join()
    .unwrap());

/// Seeded faults of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// A waiter that finds another waiter's waker drops it.
    DropsOld,
    /// A task that finds a thread in the alarm does not wake it.
    LeavesThread,
    /// A thread that finds a thread in the alarm does not wake it.
    LeavesThreadToThread,
    /// A waiter does not look again after it has set the alarm.
    LooksOnce,
    /// A changer rings before it changes the variable.
    RingsFirst,
    /// A changer that finds a thread does not wake it.
    SkipsThreads,
    /// A changer that finds a task does not wake it.
    SkipsTasks,
    /// A task takes the alarm back, whichever process has set it.
    UnsetsAny,
    /// A thread that was woken turns the alarm off, whichever process has set it.
    StopsAny,
    /// An alarm that is set again keeps its number.
    OneNumber,
    /// A task that is polled again trusts an alarm that may no longer be its own.
    TrustsOld,
    /// A task that is polled with another waker leaves the first waker in place.
    KeepsFirstWaker,
    /// A task that finds another process busy waits without having set the alarm.
    WaitsWithout,
    /// A changer says that it is no longer busy before it takes the waker.
    LetsGoEarly,
    /// A task that gives up leaves its waker in the alarm.
    LeavesWaker,
}

impl Fault {
    const ALL: [Self; 15] = [
        Self::DropsOld,
        Self::LeavesThread,
        Self::LeavesThreadToThread,
        Self::LooksOnce,
        Self::RingsFirst,
        Self::SkipsThreads,
        Self::SkipsTasks,
        Self::UnsetsAny,
        Self::StopsAny,
        Self::OneNumber,
        Self::TrustsOld,
        Self::KeepsFirstWaker,
        Self::WaitsWithout,
        Self::LetsGoEarly,
        Self::LeavesWaker,
    ];

    /// The races that find it, and the beginning of the complaint.
    fn found_by(self) -> (&'static [&'static str], &'static str) {
        const DEADLOCK: &str = "deadlock";
        match self {
            Self::DropsOld => (&["task, then task", "task, then thread"], DEADLOCK),
            Self::LeavesThread => (&["thread, then task"], DEADLOCK),
            Self::LeavesThreadToThread => (&["thread, then thread, two changers"], DEADLOCK),
            Self::LooksOnce | Self::RingsFirst => {
                (&["thread", "task", "thread, then thread", "task, then task"], DEADLOCK)
            }
            Self::SkipsThreads => (&["thread"], DEADLOCK),
            Self::SkipsTasks => (&["task", "new wakers"], DEADLOCK),
            Self::UnsetsAny => (&["task, then task", "cancelled, then task"], DEADLOCK),
            Self::StopsAny => (&["thread, then thread", "timed thread, then thread"], DEADLOCK),
            Self::OneNumber => (&["thread, then thread"], DEADLOCK),
            Self::TrustsOld => (&["task, then task", "thread, then task"], DEADLOCK),
            Self::KeepsFirstWaker => (&["new wakers"], DEADLOCK),
            Self::WaitsWithout => (&["task, then task"], DEADLOCK),
            Self::LetsGoEarly => (&["new wakers"], "Causality violation"),
            Self::LeavesWaker => (&["cancelled"], "a waker is left"),
        }
    }
}

/// The operations of an alarm.
trait Bell: 'static {
    type Set: Copy;
    fn new(fault: Option<Fault>) -> Self;
    fn ring(&self, platform: &Simulated);
    fn listen(&self, platform: &Simulated) -> (&Word, u32);
    fn has_listened(&self, heard: u32);
    fn set(&self, platform: &Simulated, waker: Waker) -> Option<Self::Set>;
    fn is_set(&self, set: Self::Set) -> bool;
    fn unset(&self, set: Self::Set);
}

impl Bell for Alarm<Simulated> {
    type Set = Set;
    /// The shipped alarm ignores the fault: it belongs to waiters and changers.
    fn new(_: Option<Fault>) -> Self {
        Self::default()
    }
    fn ring(&self, platform: &Simulated) {
        self.ring(platform);
    }
    fn listen(&self, platform: &Simulated) -> (&Word, u32) {
        self.listen(platform)
    }
    fn has_listened(&self, heard: u32) {
        self.has_listened(heard);
    }
    fn set(&self, platform: &Simulated, waker: Waker) -> Option<Set> {
        self.set(platform, waker)
    }
    fn is_set(&self, set: Set) -> bool {
        self.is_set(set)
    }
    fn unset(&self, set: Set) {
        self.unset(set);
    }
}

const OFF: u32 = 0;
const THREAD: u32 = 1;
const TASK: u32 = 2;
const BUSY: u32 = 3;

/// The same protocol, written again with room for a fault.
struct Retold {
    fault: Option<Fault>,
    state: Word,
    waker: Watched<Option<Waker>>,
}

impl Retold {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn exchange_waker(&self, new: Option<Waker>) -> Option<Waker> {
        // SAFETY: loom runs one thread at a time, and reports threads that would be here at once.
        self.waker.with(|waker| unsafe { std::mem::replace(&mut *waker, new) })
    }

    fn next(&self, state: u32) -> u32 {
        if self.has(Fault::OneNumber) { 4 } else { (state & !BUSY) + 4 }
    }

    fn meets(&self, old: Option<Waker>) {
        match old {
            Some(old) if self.has(Fault::DropsOld) => drop(old),
            Some(old) => old.wake(),
            None => {}
        }
    }
}

impl Bell for Retold {
    type Set = u32;
    fn new(fault: Option<Fault>) -> Self {
        Self { fault, state: Sequence::new(), waker: Watched::new(None) }
    }

    fn ring(&self, platform: &Simulated) {
        loop {
            let state = Sequence::load(&self.state);
            match state & BUSY {
                THREAD if self.has(Fault::SkipsThreads) => return,
                TASK if self.has(Fault::SkipsTasks) => return,
                THREAD if self.state.exchange(state, state & !BUSY) => return platform.wake_all(&self.state),
                TASK if self.has(Fault::LetsGoEarly) && self.state.exchange(state, state & !BUSY) => {
                    return self.exchange_waker(None).into_iter().for_each(Waker::wake);
                }
                TASK if self.state.exchange(state, state | BUSY) => {
                    let waker = self.exchange_waker(None);
                    self.state.store(state & !BUSY);
                    return waker.into_iter().for_each(Waker::wake);
                }
                OFF | BUSY => return,
                _ => {}
            }
        }
    }

    fn listen(&self, platform: &Simulated) -> (&Word, u32) {
        loop {
            let state = Sequence::load(&self.state);
            let set = self.next(state) | THREAD;
            match state & BUSY {
                OFF if self.state.exchange(state, set) => return (&self.state, set),
                THREAD if self.state.exchange(state, set) => {
                    if !self.has(Fault::LeavesThreadToThread) {
                        platform.wake_all(&self.state);
                    }
                    return (&self.state, set);
                }
                TASK if self.state.exchange(state, state | BUSY) => {
                    let old = self.exchange_waker(None);
                    self.state.store(set);
                    self.meets(old);
                    return (&self.state, set);
                }
                BUSY => platform.lets_others_run(),
                _ => {}
            }
        }
    }

    fn has_listened(&self, heard: u32) {
        let state = if self.has(Fault::StopsAny) { Sequence::load(&self.state) } else { heard };
        if state & BUSY == THREAD {
            self.state.exchange(state, state & !BUSY);
        }
    }

    fn set(&self, platform: &Simulated, waker: Waker) -> Option<u32> {
        loop {
            let state = Sequence::load(&self.state);
            if state & BUSY == BUSY {
                return None;
            }
            if !self.state.exchange(state, state | BUSY) {
                continue;
            }
            let old = self.exchange_waker(Some(waker));
            let set = self.next(state) | TASK;
            self.state.store(set);
            if state & BUSY == THREAD && !self.has(Fault::LeavesThread) {
                platform.wake_all(&self.state);
            }
            self.meets(old);
            return Some(set);
        }
    }

    fn is_set(&self, set: u32) -> bool {
        Sequence::load(&self.state) == set
    }

    fn unset(&self, set: u32) {
        if self.has(Fault::LeavesWaker) {
            return;
        }
        let set = if self.has(Fault::UnsetsAny) { Sequence::load(&self.state) } else { set };
        if set & BUSY == TASK && self.state.exchange(set, set | BUSY) {
            let waker = self.exchange_waker(None);
            self.state.store(set & !BUSY);
            drop(waker);
        }
    }
}

/// What a task remembers between its polls, as `Wakes` of native memory does.
struct Wakes<B: Bell> {
    set: Option<B::Set>,
    whom: Option<Waker>,
}

impl<B: Bell> Default for Wakes<B> {
    fn default() -> Self {
        Self { set: None, whom: None }
    }
}

/// A variable with an alarm, and the processes that wait for it and change it.
struct World<B: Bell> {
    fault: Option<Fault>,
    platform: Simulated,
    value: Word,
    alarm: ManuallyDrop<B>,
    /// What tasks sleep on. Each is kept twice, so that one is left if a waker was dropped once too
    /// often.
    parkers: RefCell<Vec<[Arc<Parker>; 2]>>,
}

/// A complaint of loom ends an execution halfway. After that loom cannot be asked for anything
/// more, but the alarm would ask when it is dropped.
impl<B: Bell> Drop for World<B> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: this happens once, and nothing uses the alarm afterwards.
            unsafe { ManuallyDrop::drop(&mut self.alarm) };
        }
    }
}

type Role<B> = fn(&World<B>);

impl<B: Bell> World<B> {
    fn new(fault: Option<Fault>) -> Self {
        let (platform, value, alarm) = (Simulated::new(), Sequence::new(), ManuallyDrop::new(B::new(fault)));
        Self { fault, platform, value, alarm, parkers: RefCell::default() }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Each process plays its role. The first runs on the existing thread.
    fn together(self: &Rc<Self>, roles: &[Role<B>]) {
        let others: Vec<_> = roles[1..]
            .iter()
            .map(|&role| {
                let world = Rc::clone(self);
                Simulated::spawn(move || role(&world))
            })
            .collect();
        roles[0](self);
        others.into_iter().for_each(Simulated::join);
        for parker in self.parkers.borrow().iter() {
            let left = Arc::strong_count(&parker[0]).cmp(&2);
            assert!(left.is_le(), "a waker is left");
            assert!(left.is_ge(), "a waker was dropped twice");
        }
    }

    fn now(&self) -> u32 {
        Sequence::load(&self.value)
    }

    fn parker(&self) -> Arc<Parker> {
        let parker = Simulated::parker();
        self.parkers.borrow_mut().push([Arc::clone(&parker), Arc::clone(&parker)]);
        parker
    }

    fn add(&self) {
        if self.has(Fault::RingsFirst) {
            self.alarm.ring(&self.platform);
            self.value.bump();
        } else {
            self.value.bump();
            self.alarm.ring(&self.platform);
        }
    }

    /// A turn of a thread's wait failed: it sleeps, unless the variable has changed since.
    fn sleep(&self, seen: u32, until: Option<Instant>) {
        let (word, heard) = self.alarm.listen(&self.platform);
        if self.has(Fault::LooksOnce) || self.now() == seen {
            self.platform.sleep(word, heard, until);
        }
        self.alarm.has_listened(heard);
    }

    fn thread_waits(&self, enough: u32) {
        loop {
            let seen = self.now();
            if seen >= enough {
                return;
            }
            self.sleep(seen, None);
        }
    }

    /// The same, unless the deadline comes first.
    fn thread_waits_in_time(&self, enough: u32) {
        loop {
            let seen = self.now();
            if seen >= enough || self.platform.time_has_come() {
                return;
            }
            self.sleep(seen, Some(Instant::now()));
        }
    }

    /// A poll: one turn of the wait. If the wait is not over, the task will be woken.
    fn poll(&self, wakes: &mut Wakes<B>, waker: &Waker, enough: u32) -> Poll<()> {
        if self.now() >= enough {
            return Poll::Ready(());
        }
        if let Some(set) = wakes.set {
            let same =
                wakes.whom.as_ref().is_some_and(|whom| whom.will_wake(waker)) || self.has(Fault::KeepsFirstWaker);
            if same && (self.has(Fault::TrustsOld) || self.alarm.is_set(set)) {
                return Poll::Pending;
            }
            self.alarm.unset(set);
        }
        wakes.set = self.alarm.set(&self.platform, waker.clone());
        wakes.whom = Some(waker.clone());
        if wakes.set.is_none() {
            if !self.has(Fault::WaitsWithout) {
                waker.wake_by_ref();
            }
            return Poll::Pending;
        }
        if !self.has(Fault::LooksOnce) && self.now() >= enough { Poll::Ready(()) } else { Poll::Pending }
    }

    fn end(&self, mut wakes: Wakes<B>) {
        if let Some(set) = wakes.set.take() {
            self.alarm.unset(set);
        }
    }

    fn task_waits_on(&self, wakes: Wakes<B>, enough: u32) {
        let parker = self.parker();
        let waker = Waker::from(Arc::clone(&parker));
        let mut wakes = wakes;
        while self.poll(&mut wakes, &waker, enough).is_pending() {
            Simulated::park(&parker);
            self.platform.lets_others_run(); // the executor runs other tasks first
        }
        self.end(wakes);
    }

    fn task_waits(&self, enough: u32) {
        self.task_waits_on(Wakes::default(), enough);
    }

    /// The first poll of the task comes with a waker that wakes no task.
    fn task_waits_with_new_wakers(&self, enough: u32) {
        let mut wakes = Wakes::default();
        let _ = self.poll(&mut wakes, &Waker::from(self.parker()), enough);
        self.task_waits_on(wakes, enough);
    }

    /// The task is polled once, and dropped.
    fn task_is_cancelled(&self, enough: u32) {
        let mut wakes = Wakes::default();
        let _ = self.poll(&mut wakes, &Waker::from(self.parker()), enough);
        self.end(wakes);
    }

    /// A second process begins to wait when the wait of the first is over.
    fn then(&self, waits: impl FnOnce(&Self)) {
        if self.now() >= 1 {
            waits(self);
        }
    }
}

/// The processes that meet. The first runs on loom's main thread, which leaves one thread fewer to
/// interleave.
struct Race<B: Bell> {
    name: &'static str,
    /// The bound on preemptions in an execution, if searching all executions takes too long.
    preemptions: Option<usize>,
    roles: &'static [Role<B>],
}

/// Makes the change that the first waits for, and then the one that the second waits for.
fn adds_twice<B: Bell>(world: &World<B>) {
    world.add();
    world.add();
}

impl<B: Bell> Race<B> {
    const ALL: [Self; 19] = [
        Self::all("thread", &[|w| w.thread_waits(1), |w| w.add()]),
        Self::all("task", &[|w| w.task_waits(1), |w| w.add()]),
        Self::all("new wakers", &[|w| w.task_waits_with_new_wakers(1), |w| w.add()]),
        Self::all("cancelled", &[|w| w.task_is_cancelled(1), |w| w.add()]),
        Self::some(3, "timed thread", &[|w| w.thread_waits_in_time(1), |w| w.platform.time_comes(), |w| w.add()]),
        Self::some(3, "thread, two changers", &[|w| w.thread_waits(2), |w| w.add(), |w| w.add()]),
        Self::some(3, "task, two changers", &[|w| w.task_waits(2), |w| w.add(), |w| w.add()]),
        Self::some(3, "thread, then thread", &[|w| w.thread_waits(1), |w| w.then(|w| w.thread_waits(2)), adds_twice]),
        Self::some(3, "thread, then task", &[|w| w.thread_waits(1), |w| w.then(|w| w.task_waits(2)), adds_twice]),
        Self::some(3, "task, then thread", &[|w| w.task_waits(1), |w| w.then(|w| w.thread_waits(2)), adds_twice]),
        Self::some(3, "task, then task", &[|w| w.task_waits(1), |w| w.then(|w| w.task_waits(2)), adds_twice]),
        Self::some(
            3,
            "new wakers, then new wakers",
            &[|w| w.task_waits_with_new_wakers(1), |w| w.then(|w| w.task_waits_with_new_wakers(2)), adds_twice],
        ),
        Self::some(
            3,
            "cancelled, then thread",
            &[|w| w.task_is_cancelled(1), |w| w.then(|w| w.thread_waits(2)), adds_twice],
        ),
        Self::some(
            3,
            "cancelled, then task",
            &[|w| w.task_is_cancelled(1), |w| w.then(|w| w.task_waits(2)), adds_twice],
        ),
        Self::some(
            2,
            "timed thread, then thread",
            &[
                |w| w.thread_waits_in_time(1),
                |w| w.then(|w| w.thread_waits(2)),
                |w| w.platform.time_comes(),
                adds_twice,
            ],
        ),
        Self::some(
            2,
            "thread, then thread, two changers",
            &[|w| w.thread_waits(1), |w| w.then(|w| w.thread_waits(2)), |w| w.add(), |w| w.add()],
        ),
        Self::some(
            2,
            "thread, then task, two changers",
            &[|w| w.thread_waits(1), |w| w.then(|w| w.task_waits(2)), |w| w.add(), |w| w.add()],
        ),
        Self::some(
            2,
            "task, then thread, two changers",
            &[|w| w.task_waits(1), |w| w.then(|w| w.thread_waits(2)), |w| w.add(), |w| w.add()],
        ),
        Self::some(
            2,
            "task, then task, two changers",
            &[|w| w.task_waits(1), |w| w.then(|w| w.task_waits(2)), |w| w.add(), |w| w.add()],
        ),
    ];

    const fn all(name: &'static str, roles: &'static [Role<B>]) -> Self {
        Self { name, preemptions: None, roles }
    }

    const fn some(preemptions: usize, name: &'static str, roles: &'static [Role<B>]) -> Self {
        Self { preemptions: Some(preemptions), ..Self::all(name, roles) }
    }

    /// Runs the race in every way that loom distinguishes within the bound. Returns the number of
    /// executions.
    fn run(&self, fault: Option<Fault>) -> usize {
        let &Self { preemptions, roles, .. } = self;
        let executions = Arc::new(AtomicUsize::new(0));
        let mut loom = loom::model::Builder::new();
        (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, preemptions);
        (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
        loom.check({
            let executions = Arc::clone(&executions);
            move || {
                executions.fetch_add(1, Relaxed);
                Rc::new(World::<B>::new(fault)).together(roles);
            }
        });
        executions.load(Relaxed)
    }
}

fn in_all_races<B: Bell>() {
    for race in Race::<B>::ALL {
        let begun = Instant::now();
        let executions = race.run(None);
        assert!(executions > 1, "{}: nothing was interleaved", race.name);
        println!("{}: {executions} executions, {:?}", race.name, begun.elapsed());
    }
}

#[test]
fn nobody_sleeps_through_a_change() {
    in_all_races::<Alarm<Simulated>>();
}

#[test]
#[ignore = "says again what the alarm says; ci/long-searches.sh runs it"]
fn nor_do_they_when_the_protocol_is_told_once_more() {
    in_all_races::<Retold>();
}

#[test]
fn every_fault_is_found() {
    for fault in Fault::ALL {
        let (races, begins) = fault.found_by();
        for name in races {
            let race = Race::<Retold>::ALL.into_iter().find(|race| race.name == *name).expect("there is such a race");
            let complaint = complaint(|| {
                race.run(Some(fault));
            });
            let is_found = complaint.as_ref().is_some_and(|text| text.starts_with(begins));
            assert!(is_found, "{fault:?}, {name}: {complaint:?}");
            println!("{fault:?}: found by {name}");
        }
    }
}

/// Faults of waiters and changers also show with the shipped alarm.
#[test]
fn faults_of_waiters_and_changers_are_found_with_the_alarm_as_it_is() {
    for fault in [Fault::LooksOnce, Fault::RingsFirst, Fault::TrustsOld, Fault::KeepsFirstWaker, Fault::WaitsWithout] {
        let (races, begins) = fault.found_by();
        for name in races {
            let race = Race::<Alarm<Simulated>>::ALL
                .into_iter()
                .find(|race| race.name == *name)
                .expect("there is such a race");
            let complaint = complaint(|| {
                race.run(Some(fault));
            });
            let is_found = complaint.as_ref().is_some_and(|text| text.starts_with(begins));
            assert!(is_found, "{fault:?}, {name}: {complaint:?}");
        }
    }
}
