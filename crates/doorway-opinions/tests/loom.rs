//! A second opinion by loom: every execution of two processes with one passage each, including
//! stale reads.
//!
//! Loom sees what the explorer cannot: orderings weaker than `SeqCst`, and whether the actions of
//! one process inside *happen before* those of the next. It does not model `SeqCst` exactly:
//! `SeqCst` loads may still read stale values, so loads and stores as in native memory raise false
//! alarms. Two encodings of the same texts raise none, and pass the suite for memories with exactly
//! the allowed outcomes: read-modify-writes only, and loads and stores with fences between them.
//!
//! | executions, all of them    | `bakery` | `ya-two` | `am-chain` | `am-fast` |
//! |----------------------------|----------|----------|------------|-----------|
//! | read-modify-writes         | 1,210    | 34,834   | 63         | 693       |
//! | loads, stores and fences   | 3,487    | 25,268   | 87         | 881       |
//! | *the explorer, in states*  | 93       | 246      | 42         | 208       |
//!
//! Loom does not see far. It has no states, so it counts the ways that lead to them. A second
//! passage turns the 63 executions of `am-chain` into 171,495. A third was not finished after three
//! minutes, and neither were three processes after 1,700,000 executions. An endless wait shows in
//! loom as an execution that grew too long. With three processes this may be a false alarm as well,
//! because two waiters can alternate forever while the third does not run (Bakery). Loom remembers
//! seven writes of a variable, and knows no crashes.

mod second_opinion;

use doorway::native::now;
use doorway_check::conformance::{self, Backend, Litmus, Outcome, Vars};
use doorway_core::memory::{At, Instruction, Pid, Process, Site};
use doorway_core::registry::{self, Entry, Info, Sizes, Visit};
use doorway_core::resilient::{Asked, Buffer, Pool, Store, Universal};
use doorway_core::rooms::blelloch_cheng_gibbons_01::Rooms;
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64;
use second_opinion::{Encoding, Read, ToolMemory, Write, complaint, passage, words_of};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

words_of!(loom);

type Loom = ToolMemory<AtomicU64>;

/// The encodings that raise no false alarms.
const SOUND: [(&str, Encoding); 2] =
    [("read-modify-writes", Encoding::READ_MODIFY_WRITES), ("loads, stores and fences", Encoding::FENCED)];

const TWO_INSIDE: &str = "Causality violation: Concurrent write accesses";
const NEVER_ENDS: &str = "Model exceeded maximum number of branches";

/// Runs `execution` in every way that loom distinguishes, and returns the number of ways.
///
/// Loom stops silently at a limit, so there is none here, whatever the environment says. Only the
/// length of one execution is limited. An execution that grows too long is a failure, and this is
/// how an endless wait shows.
fn in_every_way(execution: impl Fn() + Send + Sync + 'static) -> usize {
    let executions = Arc::new(AtomicUsize::new(0));
    let mut loom = loom::model::Builder::new();
    (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, None);
    (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
    loom.check({
        let executions = Arc::clone(&executions);
        move || {
            executions.fetch_add(1, Ordering::Relaxed);
            execution();
        }
    });
    executions.load(Ordering::Relaxed)
}

/// Runs `process` for each of `0..n`. The first runs on loom's main thread, which leaves one thread
/// fewer to interleave.
fn together<T: 'static, P: FnOnce() -> T + 'static>(n: usize, process: impl Fn(usize) -> P) -> Vec<T> {
    let others: Vec<_> = (1..n).map(|p| loom::thread::spawn(process(p))).collect();
    let first = process(0)();
    [first].into_iter().chain(others.into_iter().map(|other| other.join().unwrap())).collect()
}

struct OnePassageEach {
    encoding: Encoding,
    sizes: Sizes,
    /// The number of processes that have finished, in the execution that ran last.
    finished: Arc<AtomicUsize>,
}

impl Visit for OnePassageEach {
    type Out = usize;

    fn visit<E: Entry + 'static>(self) -> usize {
        let Self { encoding, sizes, finished } = self;
        in_every_way(move || {
            finished.store(0, Ordering::Relaxed);
            // Loom complains about two accesses to `inside` unless one happens before the other.
            let shared = Rc::new((E::build(&Site::new(&Loom::new(encoding)), sizes), UnsafeCell::new(())));
            together(sizes.n, |p| {
                let (shared, finished) = (Rc::clone(&shared), Arc::clone(&finished));
                let process = Process::new(Pid::new(p), Loom::new(encoding));
                move || {
                    let (algorithm, inside) = &*shared;
                    passage(algorithm, &process, || inside.with_mut(|_| ()));
                    finished.fetch_add(1, Ordering::Relaxed);
                }
            });
        })
    }
}

#[derive(Debug)]
struct Verdict {
    /// `None` if loom complained.
    executions: Option<usize>,
    complaint: Option<String>,
    /// The number of processes that had finished when loom stopped.
    finished: usize,
}

impl Verdict {
    fn complains_of(&self, what: &str) -> bool {
        self.complaint.as_ref().is_some_and(|text| text.starts_with(what))
    }
}

fn two_processes(id: &str, k: usize, encoding: Encoding) -> Verdict {
    let sizes = registry::find(id).unwrap().sizes(Some(2), Some(k)).unwrap();
    let finished = Arc::default();
    let visit = OnePassageEach { encoding, sizes, finished: Arc::clone(&finished) };
    let mut executions = None;
    let complaint = complaint(|| executions = registry::with(id, visit));
    Verdict { executions, complaint, finished: finished.load(Ordering::Relaxed) }
}

/// Two users of rooms, one visit each.
fn two_visits(encoding: Encoding, room_of: fn(usize) -> usize) -> Verdict {
    let (finished, mut executions) = (Arc::new(AtomicUsize::new(0)), None);
    let visits = {
        let finished = Arc::clone(&finished);
        move || {
            finished.store(0, Ordering::Relaxed);
            let shared = Rc::new((Rooms::new(&Site::new(&Loom::new(encoding)), 2), UnsafeCell::new(())));
            together(2, |p| {
                let (shared, finished) = (Rc::clone(&shared), Arc::clone(&finished));
                let process = Process::new(Pid::new(p), Loom::new(encoding));
                move || {
                    let (rooms, inside) = &*shared;
                    let visit = now(rooms.enter(&process, room_of(p))).unwrap();
                    inside.with_mut(|_| ());
                    now(rooms.exit(&process, visit)).unwrap();
                    finished.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    };
    let complaint = complaint(|| executions = Some(in_every_way(visits)));
    Verdict { executions, complaint, finished: finished.load(Ordering::Relaxed) }
}

/// Plain memory: loom complains about two accesses, one of them a write, unless one happens before
/// the other.
struct Plain {
    access: UnsafeCell<()>,
    value: Cell<u64>,
}

impl Plain {
    fn row(n: usize) -> Vec<Self> {
        (0..n).map(|_| Self { access: UnsafeCell::new(()), value: Cell::new(0) }).collect()
    }

    fn get(&self) -> u64 {
        self.access.with(|_| ());
        self.value.get()
    }

    fn set(&self, value: u64) {
        self.access.with_mut(|_| ());
        self.value.set(value);
    }
}

/// A number in plain memory to which operations add.
struct Sum {
    k: usize,
    val: Vec<Plain>,
    resp: Vec<Plain>,
    cell: Vec<Plain>,
}

impl Store<Loom> for Sum {
    type Op = u64;
    type Response = u64;
    type Panic = Infallible;
    const COPIES_CAN_FAIL: bool = false;

    fn tag(op: &u64) -> u64 {
        *op
    }
    fn told(result: &Result<u64, Infallible>) -> u64 {
        result.unwrap_or(0)
    }
    fn nothing() -> u64 {
        0
    }
    async fn copy(&self, _: At<'_, Loom>, from: Buffer, to: Buffer) -> Result<Result<(), Infallible>, Infallible> {
        self.val[to.index()].set(self.val[from.index()].get());
        Ok(Ok(()))
    }
    async fn apply(&self, _: At<'_, Loom>, to: Buffer, q: usize, op: Asked<'_, u64>) -> Result<bool, Infallible> {
        let op = match op {
            Asked::InHand(op) => *op,
            Asked::InCell(c) => self.cell[q * self.k + usize::from(c)].get(),
        };
        let value = self.val[to.index()].get();
        self.resp[to.index() * self.k + q].set(value);
        self.val[to.index()].set(value + op);
        Ok(true)
    }
    async fn put(&self, _: At<'_, Loom>, p: usize, cell: u8, op: u64) -> Result<(), Infallible> {
        self.cell[p * self.k + usize::from(cell)].set(op);
        Ok(())
    }
    async fn take(&self, _: At<'_, Loom>, from: Buffer, p: usize) -> Result<u64, Infallible> {
        Ok(self.resp[from.index() * self.k + p].get())
    }
}

/// Two names with one operation each, on an object in plain memory.
fn two_operations(encoding: Encoding, remembers: bool) -> usize {
    in_every_way(move || {
        let (k, pool) = (2, Pool { remembers, ..Pool::least(2) });
        let buffers = k * pool.buffers;
        let store = Sum { k, val: Plain::row(buffers), resp: Plain::row(buffers * k), cell: Plain::row(k * k) };
        let object = Rc::new(Universal::new(&Site::new(&Loom::new(encoding)), k, pool, store));
        let returned = together(2, |p| {
            let object = Rc::clone(&object);
            let process = Process::new(Pid::new(p), Loom::new(encoding));
            move || {
                let Ok(Ok(value)) = now(object.perform(&process, p, 1 + p as u64));
                value
            }
        });
        assert!([[0, 1], [2, 0]].contains(&[returned[0], returned[1]]), "{returned:?}");
    })
}

struct LitmusTests(Encoding);

impl Backend for LitmusTests {
    const EXHAUSTIVE: bool = true;

    fn outcomes(&self, litmus: Litmus) -> BTreeSet<Outcome> {
        let encoding = self.0;
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        in_every_way({
            let seen = Arc::clone(&seen);
            move || {
                let vars = Rc::new(Vars::new(&Site::new(&Loom::new(encoding))));
                let outcome = together(litmus.processes(), |p| {
                    let vars = Rc::clone(&vars);
                    let process = Process::new(Pid::new(p), Loom::new(encoding));
                    move || now(litmus.body(&vars, &process)).unwrap()
                });
                seen.lock().unwrap().insert(outcome);
            }
        });
        std::mem::take(&mut seen.lock().unwrap())
    }
}

#[test]
fn read_modify_writes_conform_and_so_do_fenced_loads_and_stores() {
    for (_, encoding) in SOUND {
        assert_eq!(conformance::run(&LitmusTests(encoding)), Litmus::ALL.len());
    }
}

/// Algorithms that, with two processes and one place, become the same text as another one: a tree
/// of one node, a path around it that no process takes, or a single name.
const ALIKE: [(&str, &str); 10] = [
    ("ya-tree", "ya-two"),
    ("am-dsm-assign", "am-dsm-fast"),
    ("am-dsm-tree", "am-dsm-chain"),
    ("am-dsm-graceful", "am-dsm-chain"),
    ("kbakery-nonatomic-as-printed", "kbakery-nonatomic"),
    ("turnstile-many", "turnstile"),
    ("turnstile-slots", "turnstile"),
    ("turnstile-bits", "turnstile"),
    ("turnstile-line-many", "turnstile-line"),
    ("resilient", "turnstile"),
];

#[test]
fn every_algorithm_keeps_two_processes_apart_in_every_execution() {
    two_processes_are_apart(&SOUND[..1], |info| ALIKE.iter().all(|(id, _)| *id != info.id));
}

#[test]
#[ignore = "takes half a minute; ci/long-searches.sh runs it"]
fn those_that_are_another_one_have_its_executions() {
    for (id, another) in ALIKE {
        let verdict = two_processes(id, 1, SOUND[0].1);
        assert_eq!((&verdict.complaint, verdict.finished), (&None, 2), "{id}");
        assert_eq!(verdict.executions, two_processes(another, 1, SOUND[0].1).executions, "{id}");
    }
}

#[test]
#[ignore = "takes a minute; ci/long-searches.sh runs it"]
fn every_algorithm_keeps_two_processes_apart_with_other_encodings() {
    two_processes_are_apart(&SOUND[1..], |_| true);
}

fn two_processes_are_apart(encodings: &[(&str, Encoding)], wanted: impl Fn(&Info) -> bool) {
    for &(name, encoding) in encodings {
        // A wait that is itself a read-modify-write spins endlessly beside plain stores.
        let spins = |info: &Info| info.instructions.contains(&Instruction::TestAndSet) && name != SOUND[0].0;
        // Where a passage takes dozens of accesses, loom does not finish within minutes.
        let is_long = |info: &Info| info.id.starts_with("dgs") || info.id == "ya-fast";
        let excludes = |info: &Info| info.sizes(Some(2), Some(1)).is_ok();
        let is_looked_at = |info: &&Info| wanted(info) && excludes(info) && !spins(info) && !is_long(info);
        for info in registry::ALL.iter().filter(is_looked_at) {
            let verdict = two_processes(info.id, 1, encoding);
            assert_eq!((&verdict.complaint, verdict.finished), (&None, 2), "{}, {name}", info.id);
            let executions = verdict.executions.unwrap();
            assert!(executions > 1, "{}, {name}: nothing was interleaved", info.id);
            println!("{}, {name}: {executions} executions", info.id);
        }
    }
}

#[test]
fn nobody_is_in_two_rooms_at_once_in_any_execution_and_what_one_did_happens_before_the_next() {
    for (name, encoding) in SOUND {
        let verdict = two_visits(encoding, |p| p);
        assert_eq!((&verdict.complaint, verdict.finished), (&None, 2), "{name}");
        println!("rooms, {name}: {} executions", verdict.executions.unwrap());
        // In the same room they may be together.
        assert!(two_visits(encoding, |_| 0).complains_of(TWO_INSIDE), "{name}");
    }
}

/// A process that reads a state, an operation or a response reads what was written before, and no
/// process writes it meanwhile, in every execution of one operation each. Without orderings, loom
/// notices that this fails.
#[test]
fn what_a_universal_construction_keeps_in_plain_memory_is_accessed_by_one_at_a_time() {
    for (name, encoding) in SOUND {
        for remembers in [false, true] {
            let executions = two_operations(encoding, remembers);
            println!("universal, remembers: {remembers}, {name}: {executions} executions");
        }
    }
    let relaxed = Encoding {
        read: Read::Load(Ordering::Relaxed),
        write: Write::Store(Ordering::Relaxed),
        orders: (Ordering::Relaxed, Ordering::Relaxed),
        ..Encoding::SEQ_CST
    };
    let complaint = complaint(|| {
        two_operations(relaxed, false);
    });
    assert!(complaint.is_some_and(|text| text.starts_with("Causality violation")));
}

#[test]
fn two_inside_at_once_are_noticed() {
    for (name, encoding) in SOUND {
        let verdict = two_processes("am-chain", 2, encoding); // k = 2: both may be inside
        assert!(verdict.complains_of(TWO_INSIDE), "{name}: {verdict:?}");
    }
}

#[test]
fn a_fetch_and_add_in_two_steps_is_found() {
    for (name, encoding) in SOUND {
        for id in ["am-chain", "am-fast"] {
            let verdict = two_processes(id, 1, encoding.with_torn_fetch_add());
            assert!(verdict.complaint.is_some(), "{id}, {name}");
            println!("{id}, {name}: {verdict:?}");
        }
    }
}

/// The algorithms are not at fault: the cause is an outcome of store buffering that `SeqCst`
/// forbids. If this test fails one day, loom has learnt it, and the encoding of native memory can
/// join [`SOUND`].
#[test]
fn seq_cst_loads_and_stores_raise_false_alarms_as_loom_lets_them_read_stale_values() {
    let nobody_sees_a_write = vec![vec![0], vec![0]];
    assert!(LitmusTests(Encoding::SEQ_CST).outcomes(Litmus::StoreBuffering).contains(&nobody_sees_a_write));
    for (id, alarm) in [("bakery", TWO_INSIDE), ("ya-two", TWO_INSIDE), ("am-chain", NEVER_ENDS)] {
        let verdict = two_processes(id, 1, Encoding::SEQ_CST);
        assert!(verdict.complains_of(alarm), "{id}: {verdict:?}");
    }
}

/// The waiter's write of `Q` (3) may take effect after its read of `X` (4). In between, the other
/// process leaves. It adds to `X` (6), too late for the waiter to see it, and writes `Q` (7), which
/// the waiter's own write then overwrites. The other process has finished, and the waiter waits
/// forever. A store buffer does exactly this. Only the fences are missing: with them, the same
/// loads and stores pass. (Loom reports the same for `SeqCst` without fences, and is wrong there.)
#[test]
fn without_fences_acquire_and_release_lose_a_wake_up_of_the_chain() {
    let verdict = two_processes("am-chain", 1, Encoding::ACQUIRE_RELEASE);
    assert!(verdict.complains_of(NEVER_ENDS), "{verdict:?}");
    assert_eq!(verdict.finished, 1, "one waits for what the other has already done");
}
