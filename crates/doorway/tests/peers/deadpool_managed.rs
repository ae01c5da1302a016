//! After `managed.rs`, `managed_cancellation.rs`, `managed_deadlock.rs`, `managed_hooks.rs`,
//! `managed_resize.rs`, `managed_timeout.rs` and `managed_unreliable_manager.rs` of deadpool's
//! tests.
//!
//! Their `available` counts idle values here; a free place without a value makes one. Their hooks
//! are lines of `make` and `check`.

use crate::Task;
use crate::task_kit::block_on;
use doorway::pool::{MakeAsync, Managed, ManagedError, Manager, Usage};
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// Makes 0, 1, 2 and so on, unless told otherwise.
#[derive(Default)]
struct Numbers {
    next: AtomicUsize,
    make: Gate,
    check: Gate,
    /// A value that was lent this many times is not lent again.
    lent_at_most: Option<u64>,
    /// What is added to a value each time it is lent again.
    adds: usize,
}

/// What becomes of a call.
#[derive(Clone, Copy, Default, Debug)]
enum Gate {
    #[default]
    Ok,
    Err,
    /// Succeeds at the second poll.
    Slow,
    Never,
}

impl Gate {
    const ALL: [Self; 4] = [Self::Ok, Self::Err, Self::Slow, Self::Never];

    async fn pass(self) -> Result<(), ()> {
        match self {
            Self::Ok => Ok(()),
            Self::Err => Err(()),
            Self::Never => pending().await,
            Self::Slow => {
                let mut turns = 0;
                poll_fn(|context| {
                    turns += 1;
                    context.waker().wake_by_ref();
                    if turns > 1 { Poll::Ready(Ok(())) } else { Poll::Pending }
                })
                .await
            }
        }
    }
}

impl Manager for Numbers {
    type Value = usize;
    type Error = ();
}

impl MakeAsync for Numbers {
    async fn make(&self) -> Result<usize, ()> {
        self.make.pass().await?;
        Ok(self.next.fetch_add(1, SeqCst))
    }

    async fn check(&self, value: &mut usize, usage: &Usage) -> Result<(), ()> {
        self.check.pass().await?;
        *value += self.adds;
        if self.lent_at_most.is_some_and(|most| usage.lent >= most) { Err(()) } else { Ok(()) }
    }
}

type Numbered = Managed<Numbers>;

fn pool(places: usize) -> Arc<Numbered> {
    pool_of(places, Numbers::default())
}

fn pool_of(places: usize, manager: Numbers) -> Arc<Numbered> {
    Arc::new(Managed::new(manager, places).unwrap())
}

/// The number of values, and how many of them are idle.
fn values(pool: &Numbered) -> (usize, usize) {
    let now = pool.statistics();
    (now.values, now.idle)
}

fn waiting(pool: &Numbered) -> usize {
    pool.statistics().waiting
}

fn get(
    pool: &Arc<Numbered>,
) -> Task<impl Future<Output = Result<doorway::pool::OwnedLeased<Numbers>, ManagedError<()>>>> {
    let pool = Arc::clone(pool);
    Task::new(async move { pool.acquire_owned_async().await })
}

#[test]
fn basic() {
    let pool = pool(16);
    assert_eq!(values(&pool), (0, 0));
    let mut lent = Vec::new();
    for there in 1..=3 {
        lent.push(get(&pool).ends().unwrap());
        assert_eq!((values(&pool), waiting(&pool)), ((there, 0), 0));
    }
    for idle in 1..=3 {
        lent.pop();
        assert_eq!((values(&pool), waiting(&pool)), ((3, idle), 0));
    }
}

#[test]
fn closing() {
    let pool = pool(1);
    let lent = get(&pool).ends().unwrap();
    let mut waiter = get(&pool);
    waiter.waits();
    assert_eq!((values(&pool), waiting(&pool)), ((1, 0), 1));
    pool.close();
    assert!(waiter.is_woken());
    assert_eq!(waiter.ends().unwrap_err(), ManagedError::Closed);
    assert_eq!(waiting(&pool), 0);
    assert_eq!(get(&pool).ends().unwrap_err(), ManagedError::Closed);
    drop(lent);
    assert_eq!((values(&pool), waiting(&pool)), ((0, 0), 0));
}

#[test]
fn concurrent() {
    let pool = Managed::from_fn(3, || Ok::<_, Infallible>(0)).unwrap();
    thread::scope(|s| {
        for _ in 0..5 {
            s.spawn(|| (0..20).for_each(|_| *pool.acquire().unwrap() += 1));
        }
    });
    let now = pool.statistics();
    assert!(now.values <= 3 && now.idle == now.values, "{now:?}");
    let lent: Vec<_> = (0..3).map(|_| pool.acquire().unwrap()).collect();
    assert_eq!(lent.iter().map(|value| **value).sum::<i32>(), 100);
}

#[test]
fn object_take() {
    let pool = pool(2);
    let (one, two) = (get(&pool).ends().unwrap(), get(&pool).ends().unwrap());
    assert_eq!(values(&pool), (2, 0));
    assert!(Arc::ptr_eq(one.issuer(), &pool));
    assert_eq!(one.take(), 0);
    assert_eq!(values(&pool), (1, 0));
    assert_eq!(two.take(), 1);
    assert_eq!(values(&pool), (0, 0));
    let again = (get(&pool).ends().unwrap(), get(&pool).ends().unwrap());
    assert_eq!((*again.0, *again.1, values(&pool)), (2, 3, (2, 0)));
    drop(again);
    assert_eq!(values(&pool), (2, 2));
}

/// Theirs goes by the age of objects, which needs a clock. What counts is that the rule decides,
/// and may change what it sees. Theirs returns removed objects; here they are dropped, and counted.
#[test]
fn differs_retain() {
    let pool = pool(4);
    drop((get(&pool).ends().unwrap(), get(&pool).ends().unwrap(), get(&pool).ends().unwrap()));
    assert_eq!(values(&pool), (3, 3));
    assert_eq!(pool.retain(|value, _| *value == 1), 2);
    assert_eq!(values(&pool), (1, 1));
    let mut seen = 0;
    assert_eq!(
        pool.retain(|_, usage| {
            seen += usage.lent;
            false
        }),
        1
    );
    assert_eq!((seen, values(&pool)), (1, (0, 0)));
}

/// Makers and checks that succeed, fail, take another poll, or never finish, with callers that give
/// up after some polls.
#[test]
fn cancellations() {
    for (make, check) in Gate::ALL.iter().flat_map(|&make| Gate::ALL.map(|check| (make, check))) {
        let pool = pool_of(2, Numbers { make, check, ..Numbers::default() });
        for turns in [0, 1, 2, 3, 1, 2] {
            let mut callers: Vec<_> = (0..4).map(|_| get(&pool)).collect();
            let mut lent = Vec::new();
            for _ in 0..turns {
                callers.retain_mut(|caller| match caller.poll() {
                    Poll::Ready(told) => {
                        lent.extend(told);
                        false
                    }
                    Poll::Pending => true,
                });
                let now = pool.statistics();
                assert!(now.values <= 2 && now.idle <= 2, "{make:?} {check:?}: {now:?}");
                lent.truncate(1);
            }
        }
        // All callers have given up or left: no place is lost, whatever the manager does.
        let now = pool.statistics();
        assert_eq!((now.idle, waiting(&pool)), (now.values, 0), "{make:?} {check:?}");
        block_on(pool.drain_async()).unwrap();
    }
}

/// The first caller's value cannot be made. The second caller, which waits for the place, makes
/// one.
#[test]
fn pool_drained() {
    struct Remote(Mutex<Vec<Result<(), ()>>>);
    impl Manager for Remote {
        type Value = ();
        type Error = ();
    }
    impl MakeAsync for Remote {
        async fn make(&self) -> Result<(), ()> {
            poll_fn(|_| self.0.lock().unwrap().pop().map_or(Poll::Pending, Poll::Ready)).await
        }
    }

    let pool = Managed::new(Remote(Mutex::default()), 1).unwrap();
    let mut first = Task::new(pool.acquire_async());
    let mut second = Task::new(pool.acquire_async());
    first.waits(); // for its value
    second.waits(); // for the place
    assert_eq!(pool.statistics().values, 0);
    pool.manager().0.lock().unwrap().push(Err(()));
    assert_eq!(first.ends().unwrap_err(), ManagedError::Make(()));
    assert!(second.is_woken());
    second.waits();
    pool.manager().0.lock().unwrap().push(Ok(()));
    let lent = second.ends().unwrap();
    assert_eq!((pool.statistics().values, pool.statistics().idle), (1, 0));
    drop(lent);
    assert_eq!((pool.statistics().values, pool.statistics().idle), (1, 1));
}

/// Closed, a pool refuses callers that do not wait, too. Idle values are gone at once.
#[test]
fn closing_and_trying() {
    let pool = Managed::from_fn(2, || Ok::<_, Infallible>(7)).unwrap();
    drop(pool.acquire().unwrap());
    assert_eq!((pool.statistics().values, pool.statistics().idle), (1, 1));
    pool.close();
    assert_eq!(pool.try_acquire().unwrap_err(), ManagedError::Closed);
    assert_eq!(pool.fill(1).unwrap_err(), ManagedError::Closed);
    assert_eq!((pool.statistics().values, pool.drain()), (0, Err(doorway::Closed)));
}

/// A hook that runs when a value is new is a line of `make`. One that rejects a value there either
/// has another one made, or passes its error to the caller.
#[test]
fn hooks_after_making() {
    struct Even {
        next: AtomicUsize,
        tries_again: bool,
    }
    impl Manager for Even {
        type Value = usize;
        type Error = &'static str;
    }
    impl MakeAsync for Even {
        async fn make(&self) -> Result<usize, &'static str> {
            loop {
                let value = self.next.fetch_add(1, SeqCst);
                match value % 2 {
                    0 => return Ok(value),
                    _ if self.tries_again => {}
                    _ => return Err("odd"),
                }
            }
        }
    }
    for tries_again in [true, false] {
        let pool = Managed::new(Even { next: 0.into(), tries_again }, 3).unwrap();
        let mut lent = Vec::new();
        let mut errors = 0;
        while lent.len() < 3 {
            match block_on(pool.acquire_async()) {
                Ok(value) => lent.push(value),
                Err(why) => {
                    assert_eq!(why, ManagedError::Make("odd"));
                    errors += 1;
                }
            }
        }
        assert_eq!(lent.iter().map(|value| **value).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(errors, if tries_again { 0 } else { 2 });
        assert_eq!((pool.statistics().values, pool.statistics().failed), (3, errors));
    }
}

/// Theirs may pass the error of a hook to the caller, whose object is then gone. Here `check` has
/// no way to the caller: it gets another value, a new one in the end.
#[test]
fn differs_a_check_that_fails_is_not_told() {
    let pool = pool_of(1, Numbers { lent_at_most: Some(2), ..Numbers::default() });
    for (value, broken) in [(0, 0), (0, 0), (1, 1), (1, 1), (2, 2)] {
        assert_eq!(*get(&pool).ends().unwrap(), value); // theirs: every third call is an error
        assert_eq!((values(&pool), pool.statistics().broken), ((1, 1), broken));
    }
}

/// Hooks before and after a recycle are lines of `check`.
#[test]
fn differs_hooks_are_lines_of_check() {
    let pool_that_adds = pool_of(1, Numbers { next: 42.into(), adds: 1, ..Numbers::default() });
    let lent: Vec<_> = (0..4).map(|_| *get(&pool_that_adds).ends().unwrap()).collect();
    assert_eq!(lent, [42, 43, 44, 45]);

    let pool_of_two_loans = pool_of(1, Numbers { lent_at_most: Some(2), ..Numbers::default() });
    let lent: Vec<_> = (0..6).map(|_| *get(&pool_of_two_loans).ends().unwrap()).collect();
    assert_eq!((lent, values(&pool_of_two_loans)), (vec![0, 0, 1, 1, 2, 2], (1, 1)));
    assert_eq!(pool_of_two_loans.statistics().broken, 2);
}

#[test]
fn resize() {
    // To fewer places, while all are lent.
    let smaller = pool(2);
    let (one, two) = (get(&smaller).ends().unwrap(), get(&smaller).ends().unwrap());
    smaller.resize(1).unwrap();
    assert_eq!((smaller.places(), values(&smaller).0), (1, 2));
    drop(two);
    assert_eq!((smaller.places(), values(&smaller).0), (1, 1));
    drop(one);
    assert_eq!((smaller.places(), values(&smaller).0), (1, 1));

    // To none and back to one: one of the values stays.
    let one_of_two = pool(2);
    let (one, two) = (get(&one_of_two).ends().unwrap(), get(&one_of_two).ends().unwrap());
    one_of_two.resize(0).unwrap();
    assert_eq!((one_of_two.places(), values(&one_of_two).0), (0, 2));
    one_of_two.resize(1).unwrap();
    assert_eq!((one_of_two.places(), values(&one_of_two).0), (1, 2));
    drop(one);
    assert_eq!((one_of_two.places(), values(&one_of_two).0), (1, 1));
    drop(two);
    assert_eq!((one_of_two.places(), values(&one_of_two).0), (1, 1));

    // To more places.
    let larger = pool(1);
    let one = get(&larger).ends().unwrap();
    larger.resize(2).unwrap();
    assert_eq!((larger.places(), values(&larger).0), (2, 1));
    let two = get(&larger).ends().unwrap();
    assert_eq!((larger.places(), values(&larger).0), (2, 2));
    drop((one, two));
    assert_eq!((larger.places(), values(&larger)), (2, (2, 2)));

    // Back and forth.
    let to_and_fro = pool(1);
    let one = get(&to_and_fro).ends().unwrap();
    [2, 0, 5].into_iter().for_each(|places| to_and_fro.resize(places).unwrap());
    assert_eq!((to_and_fro.places(), values(&to_and_fro).0), (5, 1));
    drop(one);
    assert_eq!((to_and_fro.places(), values(&to_and_fro).0), (5, 1));
}

/// A waiter at a pool without places gets the place that is added.
#[test]
fn resize_pool_grow_concurrent() {
    let pool = pool(1);
    pool.resize(0).unwrap();
    let mut waiter = get(&pool);
    waiter.waits();
    assert_eq!((pool.places(), values(&pool), waiting(&pool)), (0, (0, 0), 1));
    pool.resize(1).unwrap();
    assert!(waiter.is_woken());
    let lent = waiter.ends().unwrap();
    assert_eq!((pool.places(), values(&pool), waiting(&pool)), (1, (1, 0), 0));
    drop(lent);
    assert_eq!(values(&pool), (1, 1));
}

/// Theirs has no places once it is closed. Ours may grow, and still lends nothing.
#[test]
fn differs_close_resize() {
    let pool = pool(1);
    pool.close();
    pool.resize(16).unwrap();
    assert_eq!((pool.places(), values(&pool)), (16, (0, 0)));
    assert_eq!(get(&pool).ends().unwrap_err(), ManagedError::Closed);
}

/// A task uses its executor's time limit: dropping the future gives up exactly. A thread has its
/// own time limit, for the place.
#[test]
fn differs_timeouts() {
    let pool = pool_of(1, Numbers { make: Gate::Never, ..Numbers::default() });
    let mut never = get(&pool);
    never.waits();
    drop(never); // what a timeout of the executor does
    assert_eq!((values(&pool), waiting(&pool)), ((0, 0), 0));

    let threads = Arc::new(Managed::from_fn(1, || Ok::<_, Infallible>(7)).unwrap());
    let lent = threads.acquire().unwrap();
    let (short, now) = (Duration::from_millis(1), std::time::Instant::now());
    assert_eq!(threads.acquire_timeout(short).unwrap_err(), ManagedError::TimedOut);
    assert_eq!(threads.acquire_timeout_owned(short).unwrap_err(), ManagedError::TimedOut);
    assert_eq!(threads.acquire_deadline(now).unwrap_err(), ManagedError::TimedOut);
    assert_eq!(threads.acquire_deadline_owned(now).unwrap_err(), ManagedError::TimedOut);
    drop(lent);
    assert_eq!(*threads.acquire_timeout_owned(Duration::MAX).unwrap(), 7);
}

#[test]
fn unreliable_manager() {
    let none = pool_of(16, Numbers { make: Gate::Err, ..Numbers::default() });
    for _ in 0..2 {
        assert_eq!(get(&none).ends().unwrap_err(), ManagedError::Make(()));
        assert_eq!(values(&none), (0, 0));
    }
    let once = pool_of(16, Numbers { check: Gate::Err, ..Numbers::default() });
    drop((get(&once).ends().unwrap(), get(&once).ends().unwrap()));
    assert_eq!((values(&once), once.statistics().broken), ((2, 2), 0));
    let lent = get(&once).ends().unwrap();
    assert_eq!((*lent, values(&once), once.statistics().broken), (2, (1, 0), 2));
    drop(lent);
    assert_eq!(values(&once), (1, 1));
}
