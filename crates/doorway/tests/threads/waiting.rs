//! Waiting on native memory: threads and tasks, one variable and several, with and without a time
//! limit.

use doorway::gates::{Gate, Member};
use doorway::native::{Native, now};
use doorway::waiting::Policy;
use doorway::waiting::internals::{Bell, Platform, Table, Threads, Waiter};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, Site};
use doorway_core::registry::{self, Entry, Visit};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

type Cell<T> = <Native as Memory>::Cell<T>;
type Var<T> = <Native as Memory>::Var<T>;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor: one task, one thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(out) => return out,
            Poll::Pending => thread::park(),
        }
    }
}

fn process(pid: usize, memory: Native) -> Process<Native> {
    Process::new(Pid::new(pid), memory)
}

fn task() -> Native {
    let memory = Native::new();
    memory.wait_as_task(true);
    memory
}

async fn wait_for(p: &Process<Native>, v: &Cell<u64>, value: u64) {
    let Ok(_) = p.on(()).at(1).wait_until(v, |x| x >= value).await;
}

async fn wait_for_both(p: &Process<Native>, a: &Cell<u64>, b: &Cell<u64>, value: u64) {
    let here = p.on(());
    let turn = || async move {
        let sum = here.at(1).read(a).await?.min(here.at(2).read(b).await?);
        Ok::<_, Infallible>((sum >= value).then_some(()))
    };
    let Ok(()) = here.spin_until(turn).await;
}

const ROUNDS: u64 = 2000;

/// Waits until the variable is at least this value.
type WaitsFor = Box<dyn Fn(&Var<u64>, u64) + Send>;

/// Waiters see every round. The thread that changes the variable goes on when all of them have.
fn every_round_is_seen(waiters: Vec<WaitsFor>) {
    let memory = Native::new();
    let site = Site::new(&memory);
    let (round, seen) = (site.var("round", 0u64), site.var("seen", 0u64));
    thread::scope(|s| {
        let n = waiters.len() as u64;
        for (i, wait) in waiters.into_iter().enumerate() {
            let (round, seen) = (&round, &seen);
            s.spawn(move || {
                let p = process(i, Native::new());
                for r in 1..=ROUNDS {
                    wait(round, r);
                    let Ok(_) = now(p.on(()).at(2).fetch_add(seen, 1));
                }
            });
        }
        let p = process(100, Native::new());
        for r in 1..=ROUNDS {
            let Ok(()) = now(p.on(()).at(1).write(&round, r));
            now(wait_for(&p, &seen, n * r));
        }
    });
}

fn as_thread(policy: Policy) -> WaitsFor {
    let p = process(0, Native::new().with_policy(policy));
    Box::new(move |round, r| now(wait_for(&p, round, r)))
}

fn as_task() -> WaitsFor {
    let p = process(0, task());
    Box::new(move |round, r| block_on(wait_for(&p, round, r)))
}

#[test]
fn a_thread_sees_every_round_whatever_its_policy() {
    for policy in [Policy::PARK, Policy::YIELD, Policy::PARK.turns(0, 0)] {
        every_round_is_seen(vec![as_thread(policy)]);
        every_round_is_seen(vec![as_thread(policy), as_thread(Policy::PARK), as_thread(policy)]);
    }
}

#[test]
fn tasks_and_threads_wait_for_one_variable() {
    every_round_is_seen(vec![as_task()]);
    let asleep_at_once = Policy::PARK.turns(0, 0);
    every_round_is_seen(vec![as_task(), as_thread(asleep_at_once), as_task(), as_thread(Policy::PARK)]);
}

#[test]
fn several_variables_are_waited_for_at_once() {
    let memory = Native::new();
    let site = Site::new(&memory);
    let (a, b) = (site.var("a", 0u64), site.var("b", 0u64));
    let seen = site.row("seen", 2, |_| 0u64.into());
    thread::scope(|s| {
        for i in 0..2 {
            let (a, b, seen) = (&a, &b, &seen);
            s.spawn(move || {
                let asleep_at_once = Native::new().with_policy(Policy::PARK.turns(0, 0));
                let p = process(i, if i == 0 { asleep_at_once } else { task() });
                for r in 1..=ROUNDS {
                    block_on(wait_for_both(&p, a, b, r));
                    let Ok(()) = now(process(i, Native::new()).on(()).at(3).write(&seen[i], r));
                }
            });
        }
        for (i, v) in [&a, &b].into_iter().enumerate() {
            let seen = &seen;
            s.spawn(move || {
                let p = process(2 + i, Native::new());
                for r in 1..=ROUNDS {
                    let Ok(()) = now(p.on(()).at(1).write(v, r));
                    now(wait_for_both(&p, &seen[0], &seen[1], r));
                }
            });
        }
    });
}

#[test]
fn a_wait_that_can_be_abandoned_is_when_its_time_has_come() {
    let memory = Native::new();
    let v = Site::new(&memory).var("v", 0u64);
    let w = Site::new(&memory).var("w", 0u64);
    for policy in [Policy::PARK, Policy::YIELD, Policy::PARK.at_most(Duration::from_millis(1))] {
        let p = process(0, Native::new().with_policy(policy));
        p.memory().give_up_at(Some(Instant::now() + Duration::from_millis(20)));
        let Ok(given_up) = now(p.on(()).at(1).wait_unless_given_up(&v, |x| x > 0));
        assert_eq!(given_up, None);
        let here = p.on(());
        let turn = || async { Ok(((here.at(1).read(&v).await? + here.at(2).read(&w).await?) > 0).then_some(())) };
        p.memory().give_up_at(Some(Instant::now() + Duration::from_millis(20)));
        let Ok(given_up) = now(here.spin_unless_given_up(turn));
        assert_eq!(given_up, None);
    }
    // A condition that already holds is never given up.
    let p = process(0, Native::new());
    p.memory().give_up_at(Some(Instant::now()));
    let Ok(()) = now(p.on(()).at(1).write(&v, 1));
    assert_eq!(now(p.on(()).at(1).wait_unless_given_up(&v, |x| x > 0)), Ok(Some(1)));
}

/// The process that should ring has died between its change and its wake-up.
#[test]
fn a_nap_ends_by_itself() {
    let bell = Bell::<Threads>::new(0);
    let (sequence, heard) = bell.listen();
    Threads.sleep(sequence, heard, Some(Instant::now() + Duration::from_millis(5)));
    let word = AtomicU32::new(7);
    let soon = || Some(Instant::now() + Duration::from_millis(5));
    Threads.sleep(&word, 7, soon());
    Threads.sleep(&word, 8, None); // the word is not 8, so there is nothing to sleep for
    let words = [(std::ptr::from_ref(&word) as usize, 7)];
    Threads.sleep_any(&words, soon());
    #[cfg(all(target_os = "linux", not(any(miri, doorway_portable))))]
    doorway::waiting::internals::Processes.sleep(&word, 7, soon());
}

#[test]
fn a_waiter_that_gives_up_takes_no_wake_up_along() {
    let memory = Native::new();
    let v = Site::new(&memory).var("v", 0u64);
    thread::scope(|s| {
        for i in 0..3 {
            let v = &v;
            s.spawn(move || {
                let p = process(i, task());
                for r in 1..=ROUNDS {
                    // A wait that is polled and dropped, beside one that is kept.
                    let quitter = process(10 + i, task());
                    {
                        let mut dropped = pin!(wait_for(&quitter, v, r));
                        let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                    }
                    block_on(wait_for(&p, v, r));
                }
            });
        }
        let p = process(20, Native::new());
        for r in 1..=ROUNDS {
            let Ok(()) = now(p.on(()).at(1).write(&v, r));
            thread::yield_now();
        }
    });
}

/// Threads and tasks go through one gate.
fn threads_and_tasks_together<E: Entry>(n: usize, k: usize)
where
    E::On<Native>: KExclusion<Native, Refusal = Infallible> + Sync,
{
    let gate = Gate::<E>::new(n, k).unwrap();
    let inside = AtomicUsize::new(0);
    let enter = |member: &mut Member<E, &Gate<E>>, as_task: bool| {
        let guard = if as_task { block_on(member.acquire_async()) } else { member.acquire() };
        assert!(inside.fetch_add(1, SeqCst) < k, "{}", E::INFO.id);
        thread::yield_now();
        inside.fetch_sub(1, SeqCst);
        drop(guard);
    };
    thread::scope(|s| {
        for i in 0..n {
            let (gate, enter) = (&gate, &enter);
            s.spawn(move || {
                let mut member = gate.join().unwrap();
                // A member may change between thread and task from one passage to the next.
                (0..200).for_each(|passage| enter(&mut member, (i + passage / 20).is_multiple_of(2)));
            });
        }
    });
}

#[test]
fn one_gate_serves_both() {
    threads_and_tasks_together::<registry::Tas>(4, 1);
    threads_and_tasks_together::<registry::YaTwo>(2, 1);
    threads_and_tasks_together::<registry::AmQueue>(6, 2);
    threads_and_tasks_together::<registry::AmChain>(6, 2);
    threads_and_tasks_together::<registry::AmFast>(6, 2);
    threads_and_tasks_together::<registry::AmGraceful>(6, 2);
    threads_and_tasks_together::<registry::AmDsmFast>(6, 2);
    threads_and_tasks_together::<registry::AmAssign>(6, 2);
}

/// Dropping a waker may run any code, such as the end of a task that held a guard.
#[test]
fn a_waker_whose_end_changes_the_variable_is_dropped_in_peace() {
    static BELL: OnceLock<Bell<Threads>> = OnceLock::new();
    static TABLE: OnceLock<Table<Threads>> = OnceLock::new();
    struct RingsAtItsEnd;
    impl Wake for RingsAtItsEnd {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for RingsAtItsEnd {
        fn drop(&mut self) {
            BELL.get().unwrap().ring(&Threads, || TABLE.get().unwrap());
        }
    }
    let (bell, table) = (BELL.get_or_init(|| Bell::new(0)), TABLE.get_or_init(Table::default));
    let waiter = Arc::new(Waiter::<Threads>::default());
    bell.notify(table, &waiter);
    assert!(!waiter.poll(&Waker::from(Arc::new(RingsAtItsEnd))));
    assert!(!waiter.poll(Waker::noop()), "notified only when the waker before was dropped");
    assert!(waiter.poll(Waker::noop()) && table.is_empty());
}

#[test]
fn a_wait_that_is_dropped_leaves_nothing_behind() {
    let unpark = Arc::new(Unpark(thread::current()));
    let waker = Waker::from(Arc::clone(&unpark));
    let memory = Native::new();
    let (a, b) = (Site::new(&memory).var("a", 0u64), Site::new(&memory).var("b", 0u64));
    let p = process(0, task());
    for _ in 0..2 {
        let mut wait = pin!(wait_for_both(&p, &a, &b, 1));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    {
        let mut wait = pin!(wait_for(&p, &a, 1));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    p.memory().wait_as_task(false);
    let Ok(_) = now(p.on(()).at(1).wait_until(&a, |x| x == 0)); // a wait that ends at once
    drop((p, waker));
    assert_eq!(Arc::strong_count(&unpark), 1);
}

/// Runs code that may never end. Nothing is measured: the time limit only ends the test if there is
/// a fault.
fn ends<T: Send + 'static>(what: &str, code: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(code()));
    result.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// Tasks ask one after the other. The first one that has to wait is let in when the others have
/// left.
struct OneWaits;

impl Visit for OneWaits {
    type Out = bool;
    /// Whether a process can wait in this algorithm.
    fn visit<E: Entry + 'static>(self) -> bool {
        let sizes = [(3, 2), (3, 1), (2, 1)].into_iter().find_map(|(n, k)| E::INFO.sizes(Some(n), Some(k)).ok());
        let Some(sizes) = sizes else { return false };
        let gate = Gate::<E>::new(sizes.n, sizes.k).unwrap();
        let mut members: Vec<_> = (0..sizes.n).map(|_| gate.join().unwrap()).collect();
        let mut inside = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        for member in &mut members {
            let mut entry = Box::pin(member.acquire_or_refused_async());
            if let Poll::Ready(guard) = entry.as_mut().poll(&mut context) {
                inside.push(guard.ok().unwrap());
                continue;
            }
            assert!(entry.as_mut().poll(&mut context).is_pending());
            inside.clear();
            return block_on(entry).is_ok();
        }
        panic!("{} lets all in", E::INFO.id);
    }
}

#[test]
fn a_task_that_has_to_wait_gives_its_thread_back() {
    let waited = registry::ALL
        .iter()
        .filter(|info| ends(info.id, || registry::with(info.id, OneWaits)).expect("it is in the registry"));
    assert!(waited.count() > 30);
}

/// Waits as a thread until all of the variables are set, without spinning. `after` is told of each
/// read: its turn, and its variable. The second turn is the first one that registers what it reads.
fn wait_for_all(variables: &[Var<u64>], after: impl Fn(u32, usize)) {
    let p = process(0, Native::new().with_policy(Policy::PARK.turns(0, 0)));
    let (here, turns) = (p.on(()), AtomicU32::new(0));
    let (turns, after) = (&turns, &after);
    let turn = || async move {
        let turn = turns.fetch_add(1, SeqCst);
        let mut all = true;
        for (i, v) in variables.iter().enumerate() {
            all &= here.at(1).read(v).await? > 0;
            after(turn, i);
        }
        Ok::<_, Infallible>(all.then_some(()))
    };
    let Ok(()) = now(here.spin_until(turn));
}

/// More words than the kernel lets a thread sleep on at once.
const TOO_MANY: usize = 129;

fn variables(n: usize) -> Arc<Vec<Var<u64>>> {
    let memory = Native::new();
    Arc::new((0..n).map(|_| Site::new(&memory).var("v", 0u64)).collect())
}

fn set(variables: &[Var<u64>]) {
    let p = process(1, Native::new());
    for v in variables {
        let Ok(()) = now(p.on(()).at(2).write(v, 1));
    }
}

/// Between two reads of a turn that registers, another thread learns that it cannot sleep on
/// everything that it reads.
#[test]
fn a_turn_registers_in_one_way_whatever_others_learn_meanwhile() {
    let (two, many) = (variables(2), variables(TOO_MANY));
    let (learnt, has_read) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    ends("one sleeps through a change of what it read last", move || {
        set(&two[..1]);
        thread::scope(|s| {
            s.spawn(|| {
                wait_for_all(&many, |turn, i| {
                    if (turn, i) == (2, 0) {
                        learnt.wait();
                    }
                });
            });
            s.spawn(|| {
                wait_for_all(&two, |turn, i| match (turn, i) {
                    (1, 0) => {
                        learnt.wait();
                    }
                    (1, 1) => {
                        has_read.wait();
                    }
                    _ => {}
                });
                set(&many);
            });
            has_read.wait();
            set(&two[1..]);
        });
    });
}

/// An executor on this thread was told that it has something to do, just before one of its tasks
/// blocks.
#[test]
fn a_thread_that_waits_leaves_the_token_of_park_alone() {
    // The turn in which the thread first registers in a way that lets it sleep.
    for (n, sleeps) in [(2, 1), (TOO_MANY, 2)] {
        let (all, about_to_sleep) = (variables(n), Barrier::new(2));
        ends("a token of park was taken", move || {
            let (last, others) = all.split_last().unwrap();
            set(others);
            thread::scope(|s| {
                s.spawn(|| {
                    about_to_sleep.wait();
                    thread::sleep(Duration::from_millis(50)); // by then it most likely sleeps
                    set(std::slice::from_ref(last));
                });
                thread::current().unpark();
                wait_for_all(&all, |turn, i| {
                    if (turn, i) == (sleeps, n - 1) {
                        about_to_sleep.wait();
                    }
                });
                thread::park();
            });
        });
    }
}

/// A waker that notes its number, or panics with a payload whose destructor panics, too.
struct Notes(u32, Arc<Mutex<Vec<u32>>>);

struct PanicsAgain;

impl Drop for PanicsAgain {
    fn drop(&mut self) {
        panic!("on purpose, by a payload");
    }
}

impl Wake for Notes {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
        if self.0.is_multiple_of(1000) {
            std::panic::panic_any(PanicsAgain);
        }
    }
}

#[test]
fn waiters_of_one_word_are_woken_in_the_order_in_which_they_came() {
    const WAITERS: u32 = 100_000;
    let (bell, table) = (Bell::<Threads>::new(0), Table::default());
    let woken = Arc::new(Mutex::new(Vec::new()));
    let waiters: Vec<_> = (0..WAITERS)
        .map(|i| {
            let waiter = Arc::new(Waiter::<Threads>::default());
            let place = bell.notify(&table, &waiter);
            assert!(!waiter.poll(&Waker::from(Arc::new(Notes(i, Arc::clone(&woken))))));
            (waiter, place)
        })
        .collect();
    // Half of them leave, from both ends and the middle.
    let leaves = |i: &u32| (i / 3).is_multiple_of(2);
    let mut leave: Vec<u32> = (0..WAITERS).filter(leaves).collect();
    leave.rotate_left(20_000);
    leave.iter().for_each(|&i| table.remove(waiters[i as usize].1));
    assert_eq!(table.len(), (0..WAITERS).filter(|i| !leaves(i)).count());
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    bell.ring(&Threads, || &table);
    std::panic::set_hook(quiet);
    assert_eq!(*woken.lock().unwrap(), (0..WAITERS).filter(|i| !leaves(i)).collect::<Vec<_>>());
    assert!(table.is_empty());
    table.remove(waiters[0].1); // it is not there any more
}
