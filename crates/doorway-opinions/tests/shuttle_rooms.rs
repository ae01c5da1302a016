//! `doorway::Rooms` under shuttle, from `enter_async` down to the table of wakers: the library's
//! own files, on shuttle's atomics, locks, threads and thread-locals.
//!
//! | runs here as it is | does not |
//! |---|---|
//! | `rooms/{mod,entering,guard,held,last_exit,bookkeeping,names,errors}.rs` | the structures in `rooms/`, strict and late rooms: compiled, not used |
//! | `native/{mod,cells,handle,waits}.rs` | the private state of a handle is std's, because only its own process uses it |
//! | `waiting/{bell,table,platform}.rs` | `waiting/futexes.rs`: threads sleep on a condition variable. They cannot sleep on several words, so they also use the table to wait for several variables |
//! | the text of the rooms | clocks: nothing here has a deadline |
//!
//! Tasks and threads go to different rooms, and futures are dropped wherever they are. No two rooms
//! may be occupied at the same time. A task that sleeps through its turn sleeps forever, and
//! shuttle reports a deadlock. When all have gone, every room can be entered at once. A seeded
//! fault is in the substitutes for std, or in a task that is dropped.

#[allow(unused_macros, unused_imports)] // its memory is not used here
mod second_opinion;

/// What the files import from their crate.
#[allow(unreachable_pub)]
mod tools {
    use super::{Fault, fault};
    use doorway_core::memory::Word;
    use doorway_core::rooms::blelloch_cheng_gibbons_01::Grant;
    use shuttle::sync::atomic as of_shuttle;
    use std::sync::atomic::Ordering;

    pub(crate) use shuttle::sync::Mutex;
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
    pub(crate) use shuttle::{thread, thread_local};

    macro_rules! once {
        ($(#[$doc:meta])* pub(super) static $name:ident: $of:ty = $init:expr;) => {
            shuttle::lazy_static! { pub(super) static ref $name: $of = $init; }
        };
    }
    pub(crate) use once;

    /// The flags of a bell.
    #[derive(Debug)]
    pub struct AtomicU8(of_shuttle::AtomicU8);

    impl AtomicU8 {
        pub(crate) const fn new(flags: u8) -> Self {
            Self(of_shuttle::AtomicU8::new(flags))
        }
        pub(crate) fn load(&self, order: Ordering) -> u8 {
            let flags = self.0.load(order);
            if fault() == Some(Fault::NeverRings) { 0 } else { flags }
        }
        pub(crate) fn fetch_or(&self, flags: u8, order: Ordering) -> u8 {
            if fault() == Some(Fault::NeverListens) { 0 } else { self.0.fetch_or(flags, order) }
        }
        pub(crate) fn fetch_and(&self, flags: u8, order: Ordering) -> u8 {
            self.0.fetch_and(flags, order)
        }
        pub(crate) fn store(&self, byte: u8, order: Ordering) {
            self.0.store(byte, order);
        }
        pub(crate) fn swap(&self, byte: u8, order: Ordering) -> u8 {
            self.0.swap(byte, order)
        }
        pub(crate) fn fetch_add(&self, delta: u8, order: Ordering) -> u8 {
            self.0.fetch_add(delta, order)
        }
        pub(crate) fn compare_exchange(&self, old: u8, new: u8, set: Ordering, failed: Ordering) -> Result<u8, u8> {
            self.0.compare_exchange(old, new, set, failed)
        }
    }

    /// A variable.
    #[derive(Debug)]
    pub struct AtomicU64(of_shuttle::AtomicU64);

    impl AtomicU64 {
        pub(crate) const fn new(word: u64) -> Self {
            Self(of_shuttle::AtomicU64::new(word))
        }
        pub(crate) fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }
        pub(crate) fn store(&self, word: u64, order: Ordering) {
            self.0.store(word, order);
        }
        pub(crate) fn swap(&self, word: u64, order: Ordering) -> u64 {
            self.0.swap(word, order)
        }
        pub(crate) fn fetch_or(&self, mask: u64, order: Ordering) -> u64 {
            self.0.fetch_or(mask, order)
        }
        pub(crate) fn compare_exchange(&self, old: u64, new: u64, set: Ordering, failed: Ordering) -> Result<u64, u64> {
            self.0.compare_exchange(old, new, set, failed)
        }
        pub(crate) fn fetch_add(&self, delta: u64, order: Ordering) -> u64 {
            let leaves_out = match fault() {
                Some(Fault::NeverMarks) => delta == Grant::GIVEN_UP.pack(),
                Some(Fault::NeverTakesBack) => delta == Grant::UNDONE.pack(),
                _ => false,
            };
            if leaves_out {
                self.0.load(order)
            } else if fault() == Some(Fault::AddsInTwoSteps) {
                let old = self.0.load(order);
                self.0.store(old.wrapping_add(delta), order);
                old
            } else {
                self.0.fetch_add(delta, order)
            }
        }
    }
}

#[path = "../../doorway/src/waiting"]
#[allow(dead_code, unreachable_pub, missing_docs, unused_imports)]
mod waiting {
    mod alarm;
    mod bell;
    mod platform;
    mod table;

    use crate::tools::{AtomicU8, AtomicU32, Mutex};
    pub(crate) use alarm::{Alarm, Set};
    pub(crate) use bell::Bell;
    pub(crate) use doorway::waiting::Policy;
    pub(crate) use doorway::waiting::internals::{Habit, Patience};
    pub(crate) use platform::{Flags, Lock, Platform, Sequence, Threads, Unlocked};
    use shuttle::sync::Condvar;
    use std::cell::UnsafeCell;
    use std::time::Instant;
    pub(crate) use table::{Place, Table, Waiter, contained};

    shuttle::lazy_static! {
        /// One bed for all words: some sleepers are woken for no reason.
        static ref BED: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    impl Platform for Threads {
        /// Few buckets, so that variables share them.
        const BUCKETS: usize = 2;
        type Sequence = AtomicU32;
        type Flags = AtomicU8;
        type Lock<T> = Mutex<T>;
        type Unlocked<T> = UnsafeCell<T>;

        fn sleep(&self, word: &AtomicU32, expected: u32, _: Option<Instant>) {
            let guard = BED.0.lock().unwrap();
            if Sequence::load(word) == expected {
                drop(BED.1.wait(guard));
            }
        }
        fn wake_all(&self, _: &AtomicU32) {
            drop(BED.0.lock().unwrap());
            BED.1.notify_all();
        }
    }
}

#[path = "../../doorway/src/native/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub, missing_docs, missing_debug_implementations)]
mod native;

#[path = "../../doorway/src/rooms/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, unused_imports)]
mod rooms;

use rooms::Rooms;
use second_opinion::complaint;
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::AtomicUsize;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner, thread};
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::Poll;

/// Seeded faults in the layers below, or in a future that is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// A task that is dropped while it waits does nothing about its ticket.
    DropForgets,
    /// A task that gives up does not mark its ticket.
    NeverMarks,
    /// A task that gave up too late leaves its mark in place.
    NeverTakesBack,
    /// A process that changes a variable wakes no waiter.
    NeverRings,
    /// A waiter does not announce that it listens.
    NeverListens,
    /// Other processes come between the read and the write of a fetch-and-add.
    AddsInTwoSteps,
}

impl Fault {
    const ALL: [Self; 6] = [
        Self::DropForgets,
        Self::NeverMarks,
        Self::NeverTakesBack,
        Self::NeverRings,
        Self::NeverListens,
        Self::AddsInTwoSteps,
    ];

    /// The complaints that it may cause.
    fn shows_as(self) -> &'static [&'static str] {
        match self {
            Self::DropForgets | Self::NeverMarks | Self::NeverRings | Self::NeverListens => &["deadlock"],
            Self::NeverTakesBack => &["cannot be entered any more"],
            Self::AddsInTwoSteps => &["deadlock", "two rooms are open", "cannot be entered any more"],
        }
    }
}

std::thread_local! {
    /// The fault of the run on this thread of the test: all of shuttle's threads run on it.
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

fn fault() -> Option<Fault> {
    FAULT.get()
}

const ROOMS: usize = 3;

/// The users inside, and the number of turns.
#[derive(Default)]
struct Desk {
    inside: [AtomicUsize; ROOMS],
    turns: AtomicUsize,
}

impl Desk {
    /// A visit during which others may run.
    fn visit(&self, room: usize) {
        self.inside[room].fetch_add(1, SeqCst);
        self.nobody_but(Some(room));
        self.inside[room].fetch_sub(1, SeqCst);
    }

    fn nobody_but(&self, room: Option<usize>) {
        for other in (0..ROOMS).filter(|&other| Some(other) != room) {
            assert_eq!(self.inside[other].load(SeqCst), 0, "two rooms are open");
        }
    }
}

type LastExit = Box<dyn Fn(usize) + Send + Sync>;

/// Rooms, and the users inside.
struct Scene {
    rooms: Rooms<usize, LastExit>,
    desk: Arc<Desk>,
    seen: Arc<Seen>,
}

/// How often each case occurred, in all schedules of a run.
#[derive(Default, Debug)]
struct Seen {
    /// Inside, although it might have been cancelled.
    let_in: Count,
    /// Dropped before it was polled.
    never_polled: Count,
    /// Dropped while it waited, or between being let in and being polled.
    waiting: Count,
    /// Dropped after it had been woken, together with that wake-up.
    woken: Count,
}

impl Seen {
    fn all(&self) -> [usize; 4] {
        [&self.let_in, &self.never_polled, &self.waiting, &self.woken].map(|count| count.load(Relaxed))
    }
}

impl Scene {
    fn new(seen: &Arc<Seen>) -> Arc<Self> {
        let desk = Arc::new(Desk::default());
        let lights = Arc::clone(&desk);
        let rooms = Rooms::new(ROOMS).unwrap().on_last_exit(Box::new(move |_| {
            lights.nobody_but(None);
            lights.turns.fetch_add(1, SeqCst);
        }) as LastExit);
        Arc::new(Self { rooms, desk, seen: Arc::clone(seen) })
    }

    async fn task_visits(self: Arc<Self>, rooms: [usize; 2]) {
        for room in rooms {
            let inside = self.rooms.enter_async(room).await.unwrap();
            self.desk.visit(inside.room());
        }
    }

    async fn task_changes(self: Arc<Self>, from: usize, to: usize) {
        let inside = self.rooms.enter_async(from).await.unwrap();
        self.desk.visit(from);
        let inside = inside.change_async(to).await.unwrap();
        self.desk.visit(inside.room());
    }

    fn thread_visits(&self, room: usize) {
        let inside = self.rooms.enter(room).unwrap();
        self.desk.visit(inside.room());
    }

    /// Polled a few times or not at all, woken or not, and then dropped.
    async fn task_is_cancelled(self: Arc<Self>, room: usize) {
        let (polls, waits) = (thread_rng().gen_range(0..=2), thread_rng().gen_bool(0.5));
        let mut entry = Box::pin(self.rooms.enter_async(room));
        for _ in 0..polls {
            match poll_fn(|context| Poll::Ready(entry.as_mut().poll(context))).await {
                Poll::Ready(inside) => {
                    self.seen.let_in.fetch_add(1, Relaxed);
                    self.desk.visit(inside.unwrap().room());
                    return;
                }
                Poll::Pending if waits => is_woken().await,
                Poll::Pending => yield_now().await,
            }
        }
        let how = match (polls, waits) {
            (0, _) => &self.seen.never_polled,
            (_, true) => &self.seen.woken,
            (_, false) => &self.seen.waiting,
        };
        how.fetch_add(1, Relaxed);
        if fault() == Some(Fault::DropForgets) {
            std::mem::forget(entry);
        }
    }

    /// All users have gone.
    fn ends(&self) {
        self.desk.nobody_but(None);
        assert!(self.desk.turns.load(SeqCst) > 0);
        for room in 0..ROOMS {
            assert!(self.rooms.try_enter(room).is_ok(), "room {room} cannot be entered any more");
        }
    }
}

/// Returns the task to its executor until it is woken, by whichever process.
async fn is_woken() {
    let mut asked = false;
    poll_fn(|_| if std::mem::replace(&mut asked, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Two tasks visit several rooms, one changes rooms, two are cancelled, and a thread takes part
/// too.
fn all_get_along(seen: &Arc<Seen>) {
    let scene = Scene::new(seen);
    let tasks = [
        spawn(Arc::clone(&scene).task_visits([0, 1])),
        spawn(Arc::clone(&scene).task_visits([1, 0])),
        spawn(Arc::clone(&scene).task_changes(2, 0)),
        spawn(Arc::clone(&scene).task_is_cancelled(1)),
        spawn(Arc::clone(&scene).task_is_cancelled(2)),
    ];
    let thread = thread::spawn({
        let scene = Arc::clone(&scene);
        move || scene.thread_visits(1)
    });
    tasks.into_iter().for_each(|task| block_on(task).unwrap());
    thread.join().unwrap();
    scene.ends();
}

/// One task is inside room 0, one wants to go there next, and one is cancelled on its way to
/// room 1. There are few enough for the schedules to meet at every step.
fn one_is_cancelled(seen: &Arc<Seen>) {
    let scene = Scene::new(seen);
    let tasks = [
        spawn(Arc::clone(&scene).task_visits([0, 1])),
        spawn(Arc::clone(&scene).task_is_cancelled(1)),
        spawn(Arc::clone(&scene).task_is_cancelled(0)),
    ];
    tasks.into_iter().for_each(|task| block_on(task).unwrap());
    scene.ends();
}

const SCHEDULES: usize = if cfg!(feature = "all-texts") { 10_000 } else { 3_000 };
/// Fixed, so that a failure can be reproduced; `SHUTTLE_RANDOM_SEED` sets another.
const SEED: u64 = 2001;
/// One more than the number of priority changes in a schedule.
const DEPTH: usize = 20;

/// The complaint of shuttle, if there was one, in schedules drawn at random and by priorities; and
/// what was seen.
fn run(fault: Option<Fault>, execution: fn(&Arc<Seen>)) -> (Option<String>, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    FAULT.set(fault);
    let complaint = complaint(|| {
        let config = || {
            let mut config = Config::new();
            config.max_steps = MaxSteps::FailAfter(50_000);
            config.failure_persistence = FailurePersistence::None;
            config.silence_warnings = true; // that it treats all orderings as `SeqCst`
            config
        };
        let execution = {
            let seen = Arc::clone(&seen);
            move || execution(&seen)
        };
        let ran = Runner::new(RandomScheduler::new_from_seed(SEED, SCHEDULES), config()).run(execution.clone());
        assert_eq!(ran, SCHEDULES);
        let ran = Runner::new(PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES), config()).run(execution);
        assert_eq!(ran, SCHEDULES);
    });
    FAULT.set(None);
    (complaint, seen)
}

#[test]
fn nobody_is_in_two_rooms_and_nobody_sleeps_through_its_turn() {
    for execution in [all_get_along, one_is_cancelled] {
        let (complaint, seen) = run(None, execution);
        assert_eq!(complaint, None);
        assert!(seen.all().iter().all(|&times| times > 0), "not all of it happened: {seen:?}");
    }
}

#[test]
fn every_fault_is_found() {
    for fault in Fault::ALL {
        let complaints = [all_get_along, one_is_cancelled].map(|execution| run(Some(fault), execution).0);
        println!("{fault:?}: {complaints:?}");
        for complaint in complaints {
            let found = complaint.is_some_and(|found| fault.shows_as().iter().any(|text| found.contains(text)));
            assert!(found, "{fault:?}");
        }
    }
}
