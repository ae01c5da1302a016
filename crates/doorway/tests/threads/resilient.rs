//! What users of resilient objects rely on: no operation is lost or applied twice, whichever thread
//! stops or panics, and all memory is freed.

use crate::rooms_kit::{Counted, block_on};
use doorway::CallError;
use doorway::resilient::{AmAssign, Closures, Object, Register, Resilient, ResilientBuildError, Ring, Snapshot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

/// A sum, with how often each thread has added to it.
#[derive(Clone, Default)]
struct Ledger {
    sum: u64,
    seen: Vec<u64>,
}

impl Object for Ledger {
    /// The thread, and the amount.
    type Op = (usize, u64);
    /// The previous sum, and how often this thread had added before.
    type Response = (u64, u64);

    fn apply(&mut self, &(who, much): &(usize, u64)) -> (u64, u64) {
        let before = (self.sum, self.seen[who]);
        self.sum += much;
        self.seen[who] += 1;
        before
    }
}

impl Ledger {
    fn of(threads: usize) -> Self {
        Self { sum: 0, seen: vec![0; threads] }
    }
}

#[test]
fn every_operation_takes_effect_once_and_in_the_order_of_its_caller() {
    for (k, threads) in [(1, 3), (2, 2), (2, 5), (3, 3), (4, 6), (8, 8), (8, 12)] {
        let each = 3000;
        let ledger = Resilient::new(Ledger::of(threads), k).unwrap().with_pauses(if k % 2 == 0 { 0 } else { 16 });
        let start = Barrier::new(threads);
        let sums: Vec<Vec<u64>> = thread::scope(|s| {
            let (ledger, start) = (&ledger, &start);
            let add = |who: usize| {
                move || {
                    start.wait();
                    (0..each)
                        .map(|i| {
                            let (sum, before) = ledger.apply((who, 1));
                            assert_eq!(before, i, "its own operations come one after the other");
                            sum
                        })
                        .collect()
                }
            };
            let all: Vec<_> = (0..threads).map(|who| s.spawn(add(who))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut all: Vec<u64> = sums.concat();
        all.sort_unstable();
        assert!(
            all.into_iter().eq(0..each * threads as u64),
            "each operation saw another sum: k={k}, {threads} threads"
        );
        assert_eq!(ledger.into_inner().sum, each * threads as u64);
    }
}

#[test]
fn reads_see_states_that_were() {
    let pair = Resilient::new(Snapshot::new([0u64, 0]), 3).unwrap();
    // The first component is always equal to the second, or one larger.
    let ended = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            for i in 1..=20_000 {
                pair.update(0, i).unwrap();
                pair.update(1, i).unwrap();
            }
            ended.store(true, SeqCst);
        });
        for _ in 0..2 {
            s.spawn(|| {
                let mut last = 0;
                while !ended.load(SeqCst) {
                    let all = pair.scan();
                    assert!(all[0] == all[1] || all[0] == all[1] + 1, "{all:?} never was");
                    assert!(all[1] >= last, "time goes on");
                    last = all[1];
                }
            });
        }
    });
    assert_eq!(pair.scan(), [20_000, 20_000]);
}

/// Adds one, unless it is told to panic or to stop half-way.
#[derive(Clone, Default)]
struct Fragile {
    begun: u64,
    ended: u64,
}

enum Do {
    Add,
    Panic,
    /// The first thread that runs this waits here.
    Stop(AtomicBool, Arc<Halt>),
}

/// Where threads stop, and how many have.
struct Halt {
    barrier: Barrier,
    stopped: AtomicUsize,
}

impl Halt {
    fn new(n: usize) -> Arc<Self> {
        Arc::new(Self { barrier: Barrier::new(n), stopped: AtomicUsize::new(0) })
    }

    fn wait(&self) {
        self.barrier.wait();
    }
}

fn stop(until: &Arc<Halt>) -> Do {
    Do::Stop(AtomicBool::new(false), Arc::clone(until))
}

impl Object for Fragile {
    type Op = Do;
    type Response = u64;

    fn apply(&mut self, op: &Do) -> u64 {
        self.begun += 1;
        match op {
            Do::Add => {}
            Do::Panic => panic!("on purpose"),
            Do::Stop(stopped, until) => {
                if !stopped.swap(true, SeqCst) {
                    until.stopped.fetch_add(1, SeqCst);
                    until.wait();
                }
            }
        }
        self.ended += 1;
        self.ended
    }
}

#[test]
fn an_operation_that_panics_has_no_effect_and_its_caller_is_told() {
    for k in [1, 2, 3] {
        let object = Resilient::new(Fragile::default(), k).unwrap().with_pauses(0);
        let told = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for i in 0..500 {
                        if i % 3 == 0 {
                            let panic = catch_unwind(AssertUnwindSafe(|| object.apply(Do::Panic))).unwrap_err();
                            assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
                            told.fetch_add(1, SeqCst);
                        } else {
                            object.apply(Do::Add);
                        }
                    }
                });
            }
        });
        let told = told.into_inner() as u64;
        assert_eq!(object.read(|state| (state.begun, state.ended)), (2000 - told, 2000 - told));
        assert_eq!(object.available(), k, "every name is back");
    }
}

#[test]
fn fewer_than_k_callers_that_stop_half_way_hold_up_nobody() {
    for k in [2, 3, 5] {
        let object = Resilient::new(Fragile::default(), k).unwrap();
        let until = Halt::new(k);
        thread::scope(|s| {
            for _ in 1..k {
                s.spawn(|| object.apply(stop(&until)));
            }
            // Before that, another thread could help, and stop in place of the caller.
            while until.stopped.load(SeqCst) < k - 1 {
                thread::yield_now();
            }
            assert_eq!(object.survives(), k - 1);
            let others: Vec<_> =
                (0..3).map(|_| s.spawn(|| (0..1000).for_each(|_| assert!(object.apply(Do::Add) > 0)))).collect();
            others.into_iter().for_each(|other| other.join().unwrap());
            assert!(object.read(|state| state.ended) >= 3000);
            until.wait();
        });
        assert_eq!(object.into_inner().ended, 3000 + k as u64 - 1, "what was stopped took effect once");
    }
}

#[test]
fn k_that_stop_keep_the_others_waiting() {
    let object = Resilient::new(Fragile::default(), 2).unwrap();
    let until = Halt::new(3);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| object.apply(stop(&until)));
        }
        while object.available() > 0 {
            thread::yield_now();
        }
        assert!(object.try_apply(Do::Add).is_err(), "nobody gets in");
        until.wait();
    });
    assert_eq!(object.apply(Do::Add), 3);
}

/// A value whose copies are counted. Some copies fail at regular intervals.
struct Rare<'a> {
    count: usize,
    _alive: Counted<'a>,
    alive: &'a AtomicUsize,
    copies: &'a AtomicUsize,
}

/// The length of the interval.
const EVERY: usize = 7;

impl Clone for Rare<'_> {
    fn clone(&self) -> Self {
        // Two copies in a row fail: if copying into an old value fails, a new copy is tried.
        assert!(self.copies.fetch_add(1, SeqCst) % EVERY < EVERY - 2, "no copy this time");
        Self { _alive: Counted::new(0, self.alive), ..*self }
    }
}

impl<'a> Object for Rare<'a> {
    type Op = Counted<'a>;
    type Response = Counted<'a>;

    fn apply(&mut self, by: &Counted<'a>) -> Counted<'a> {
        self.count += by.0;
        Counted::new(self.count, self.alive)
    }
}

#[test]
fn a_copy_that_fails_fails_its_caller_and_nothing_is_lost() {
    for k in [1, 2, 4] {
        let (alive, copies) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (succeeded, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let rare = Rare { count: 0, _alive: Counted::new(0, &alive), alive: &alive, copies: &copies };
        let object = Resilient::new(rare, k).unwrap().with_pauses(0);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..1000 {
                        let call = catch_unwind(AssertUnwindSafe(|| object.apply(Counted::new(1, &alive))));
                        if call.is_ok() { &succeeded } else { &failed }.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        let (succeeded, failed) = (succeeded.into_inner(), failed.into_inner());
        assert!(failed > 0 && succeeded > 0);
        assert_eq!(object.available(), k);
        let count = object.read(|state| state.count);
        assert!(
            (succeeded..=succeeded + failed).contains(&count),
            "{succeeded} to {} and not {count}",
            succeeded + failed
        );
        drop(object);
        assert_eq!(alive.load(SeqCst), 0, "every state, operation and response is dropped once");
    }
}

#[test]
fn what_is_left_inside_is_dropped_once() {
    let alive = AtomicUsize::new(0);
    let queue = Resilient::new(Ring::new(4), 3).unwrap();
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for i in 0..1000 {
                    drop(queue.push(Arc::new(Counted::new(i, &alive))));
                    drop(queue.pop());
                }
                drop(queue.push(Arc::new(Counted::new(0, &alive))));
            });
        }
    });
    assert!(queue.read(|queue| queue.len() <= 4));
    drop(queue);
    assert_eq!(alive.load(SeqCst), 0);
}

#[test]
fn destructors_that_panic_hurt_nobody() {
    #[derive(Clone)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(thread::panicking(), "on purpose");
        }
    }
    #[derive(Clone)]
    struct Bombs {
        applied: usize,
        _bomb: Bomb,
    }
    impl Object for Bombs {
        type Op = Bomb;
        type Response = ();
        fn apply(&mut self, _: &Bomb) {
            self.applied += 1;
        }
    }
    let object = Resilient::new(Bombs { applied: 0, _bomb: Bomb }, 2).unwrap().with_pauses(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..300 {
                    object.apply(Bomb); // and its caller does not notice
                }
            });
        }
    });
    assert_eq!((object.available(), object.read(|state| state.applied)), (2, 600));
    drop(object);
}

/// A copy into an old value fails with a payload whose destructor panics. Then a new copy is made.
#[test]
fn payloads_whose_destructors_panic_hurt_nobody() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("on purpose, by a payload");
        }
    }
    struct Sum(u64);
    impl Clone for Sum {
        fn clone(&self) -> Self {
            Self(self.0)
        }
        fn clone_from(&mut self, _: &Self) {
            std::panic::panic_any(PanicsAgain);
        }
    }
    impl Object for Sum {
        type Op = u64;
        type Response = u64;
        fn apply(&mut self, more: &u64) -> u64 {
            self.0 += more;
            *more
        }
    }
    let object = Resilient::new(Sum(0), 2).unwrap().with_pauses(0);
    thread::scope(|s| {
        for of in 0..2 {
            let object = &object;
            s.spawn(move || (0..300).for_each(|i| assert_eq!(object.apply(2 * i + of), 2 * i + of)));
        }
    });
    assert_eq!((object.available(), object.read(|state| state.0)), (2, (0..600).sum()));
}

#[test]
fn a_caller_that_does_not_want_to_wait_gets_its_operation_back() {
    let object = Resilient::new(Ring::new(1), 1).unwrap();
    object.read(|_| {
        assert_eq!(object.available(), 0);
        let back = object.try_apply(doorway::resilient::RingOp::Push(7)).unwrap_err();
        assert!(matches!(back, doorway::resilient::RingOp::Push(7)));
        let late = std::time::Duration::from_millis(1);
        assert!(object.apply_timeout(doorway::resilient::RingOp::Pop, late).is_err());
        assert!(object.apply_deadline(doorway::resilient::RingOp::Pop, std::time::Instant::now()).is_err());
        assert_eq!(format!("{object:?}"), "Resilient { survives: 0, .. }");
    });
    assert_eq!(object.push(7), Ok(()));
    assert!(format!("{object:?}").contains("[7]"), "{object:?}");
}

#[test]
fn tasks_wait_without_a_thread_and_can_be_dropped() {
    let object = Arc::new(Resilient::new(Ring::new(8), 1).unwrap());
    let (inside, go) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let holder = {
        let (object, inside, go) = (Arc::clone(&object), Arc::clone(&inside), Arc::clone(&go));
        thread::spawn(move || {
            object.read(|_| {
                inside.wait();
                go.wait();
            });
        })
    };
    inside.wait();
    {
        let mut dropped = std::pin::pin!(object.apply_async(doorway::resilient::RingOp::Push(1)));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
    }
    let (done, ended) = mpsc::channel();
    let task = {
        let object = Arc::clone(&object);
        thread::spawn(move || {
            block_on(object.apply_async(doorway::resilient::RingOp::Push(2)));
            done.send(()).unwrap();
        })
    };
    assert!(ended.try_recv().is_err());
    go.wait();
    ended.recv().unwrap();
    task.join().unwrap();
    holder.join().unwrap();
    assert_eq!((object.pop(), object.pop()), (Some(2), None));
}

#[test]
fn the_papers_names_do_as_well() {
    let object = Resilient::<_, AmAssign>::for_threads(Ledger::of(4), 2, 5).unwrap();
    thread::scope(|s| {
        for who in 0..4 {
            let object = &object;
            s.spawn(move || {
                for i in 0..1000 {
                    assert_eq!(object.apply((who, 2)).unwrap().1, i);
                }
            });
        }
    });
    assert_eq!(object.read(|ledger| ledger.sum).unwrap(), 8000);
    assert_eq!(object.read(|_| object.apply((0, 1)).unwrap_err()).unwrap(), CallError::WithinAnother);
    let panics = catch_unwind(AssertUnwindSafe(|| object.apply((9, 1))));
    assert!(panics.is_err(), "there is no such thread");
    assert_eq!(object.apply((0, 0)).unwrap().0, 8000, "and the name is back");
    let few = Resilient::<_, AmAssign>::for_threads(Register::new(0), 1, 1).unwrap();
    few.apply(Arc::new(1)).unwrap();
    thread::scope(|s| {
        let other = || s.spawn(|| few.apply(Arc::new(2)).map(|old| *old)).join().unwrap();
        assert_eq!(few.read(|_| other()).unwrap(), Err(CallError::TooManyThreads { most: 1 }));
        assert_eq!(other(), Ok(1), "nobody else is in it");
    });
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    assert_eq!(Resilient::new(Register::new(0), 0).unwrap_err(), ResilientBuildError::NoneInside);
    assert_eq!(Resilient::new(Register::new(0), 9).unwrap_err(), ResilientBuildError::TooManyInside { asked: 9 });
    let none = Resilient::<_, AmAssign>::for_threads(Closures::new(0), 1, 0).unwrap_err();
    assert!(matches!(none, ResilientBuildError::Threads(_)));
    for error in [ResilientBuildError::NoneInside, ResilientBuildError::TooManyInside { asked: 9 }, none] {
        assert!(error.to_string().len() > 10, "{error}");
    }
}
