//! Waiting on native memory: from an entry section that has to wait, down to the sleep.
//!
//! The upper half is [`WaysIn`]: what all objects with entry sections share. The lower half is what
//! a wait does after a turn that failed. Between the two is the text of an algorithm.

use super::handle::{AS_SEQUENCES, IN_TABLE, TABLE};
use super::{Cell, Native, Row, Table, Var, done, now};
use crate::tools::AtomicU32 as Bed;
use crate::waiting::{Alarm, Bell, Patience, Place, Platform, Policy, Sequence, Set, Threads, Waiter, contained};
use doorway_core::Failure;
use doorway_core::memory::{Access, Decl, Memory, Name, Next, Pid, Process, ReadWrite, Word};
use std::convert::Infallible;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::task::{Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Unwraps a result that cannot be an error.
pub(crate) fn sure<T>(result: Result<T, Infallible>) -> T {
    let Ok(value) = result;
    value
}

/// A process that may have to wait, with its own handle. For texts that do not tell processes
/// apart.
pub(crate) fn someone(policy: Policy) -> Process<Native> {
    Process::new(Pid::new(0), Native::new().with_policy(policy))
}

/// How far a process has come without waiting.
pub(crate) enum Begun<W: WaysIn + ?Sized> {
    Inside(W::Inside),
    /// In line, with this place.
    Waits(W::Place),
    /// Not in line.
    Outside,
    Refused(W::Refusal),
}

/// An object with entry sections: a process enters at once, as a thread with or without a deadline,
/// or as a task.
///
/// The object implements each step by its text. The provided methods combine these steps with
/// threads, tasks and clocks.
pub(crate) trait WaysIn {
    /// What a process asks for.
    type Wish: Copy;
    /// What a process has while it is in line: it waits with it, or gives it up.
    type Place;
    /// What a process has while it is inside.
    type Inside;
    /// Why a process may be refused.
    type Refusal;
    /// Whether a thread spins as long as it has lately found useful, and not always as long as the
    /// policy allows.
    const LEARNS: bool = false;

    fn policy(&self) -> Policy;

    /// Enters if this is possible without waiting.
    fn at_once(&self, wish: Self::Wish) -> Result<Option<Self::Inside>, Self::Refusal>;

    /// The first step of a process that is ready to wait: it enters, if it can do so at once.
    fn begin(&self, wish: Self::Wish) -> Begun<Self>;

    /// Gets in line, if `begin` did not do so. A thread may pause and try again first; a task must
    /// not hold up its executor.
    fn line_up(&self, wish: Self::Wish, may_pause: bool) -> Begun<Self>;

    /// Waits until the process is inside. Returns `None` if it was asked to give up.
    fn wait(
        &self,
        p: &Process<Native>,
        place: &mut Self::Place,
    ) -> impl Future<Output = Result<Option<Self::Inside>, Failure<Infallible, Self::Refusal>>>;

    /// Gives up a place in line. Returns `Some` if the process was let in before that.
    fn give_up(&self, p: &Process<Native>, place: Self::Place) -> Option<Self::Inside>;

    /// Leaves.
    fn leave(&self, inside: Self::Inside);

    /// Enters as a thread, without a time limit.
    #[inline(always)]
    fn enter_as_thread(&self, wish: Self::Wish) -> Result<Self::Inside, Self::Refusal> {
        match self.begin(wish) {
            Begun::Inside(inside) => Ok(inside),
            begun => Ok(self.wait_as_thread(wish, begun, None)?.unwrap_or_else(|| not_asked())),
        }
    }

    /// Enters as a thread. Returns `None` if the time runs out first.
    fn enter_within(&self, wish: Self::Wish, timeout: Duration) -> Result<Option<Self::Inside>, Self::Refusal> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.enter_until(wish, deadline),
            None => self.enter_as_thread(wish).map(Some), // beyond the end of time
        }
    }

    /// Enters as a thread. Returns `None` if the deadline comes first.
    fn enter_until(&self, wish: Self::Wish, deadline: Instant) -> Result<Option<Self::Inside>, Self::Refusal> {
        if let Some(inside) = self.at_once(wish)? {
            return Ok(Some(inside));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        self.wait_as_thread(wish, Begun::Outside, Some(deadline))
    }

    /// Continues as a thread from where the process has begun. Returns `None` if the deadline comes
    /// first.
    #[cold]
    #[inline(never)]
    fn wait_as_thread(
        &self,
        wish: Self::Wish,
        mut begun: Begun<Self>,
        deadline: Option<Instant>,
    ) -> Result<Option<Self::Inside>, Self::Refusal> {
        let mut place = loop {
            begun = match begun {
                Begun::Inside(inside) => return Ok(Some(inside)),
                Begun::Refused(why) => return Err(why),
                Begun::Outside => self.line_up(wish, deadline.is_none()),
                Begun::Waits(place) => break place,
            };
        };
        let p = someone(self.policy());
        p.memory().give_up_at(deadline);
        if Self::LEARNS {
            p.memory().spin_as_usual();
        }
        let waited = now(self.wait(&p, &mut place));
        if Self::LEARNS {
            p.memory().learn();
        }
        let waited = waited.map_err(refused)?;
        // A waiter that is let in just as it gives up stays in.
        Ok(waited.or_else(|| self.give_up(&p, place)))
    }
}

/// Enters as a task. Dropping the future gives up.
pub(crate) async fn enter_as_task<W: WaysIn>(object: &W, wish: W::Wish) -> Result<W::Inside, W::Refusal> {
    let mut begun = object.begin(wish);
    let place = loop {
        begun = match begun {
            Begun::Inside(inside) => return Ok(inside),
            Begun::Refused(why) => return Err(why),
            Begun::Outside => object.line_up(wish, false),
            Begun::Waits(place) => break place,
        };
    };
    wait_as_task(object, place).await
}

/// Waits as a task. Dropping the future gives up.
pub(crate) async fn wait_as_task<W: WaysIn>(object: &W, place: W::Place) -> Result<W::Inside, W::Refusal> {
    let mut waiter = InLine::new(object, place);
    waiter.p.memory().wait_as_task(true);
    let InLine { p, place, .. } = &mut waiter;
    let Some(mine) = place else { not_asked() };
    let waited = object.wait(p, mine).await;
    waiter.place = None; // inside, or refused
    Ok(waited.map_err(refused)?.unwrap_or_else(|| not_asked()))
}

/// A process in line. If this is dropped before it is let in, the process gives up.
pub(crate) struct InLine<'a, W: WaysIn> {
    object: &'a W,
    p: Process<Native>,
    place: Option<W::Place>,
}

impl<'a, W: WaysIn> InLine<'a, W> {
    pub(crate) fn new(object: &'a W, place: W::Place) -> Self {
        Self { object, p: someone(object.policy()), place: Some(place) }
    }

    /// Takes the place out, because the process waits elsewhere.
    pub(crate) fn take(mut self) -> Option<W::Place> {
        self.place.take()
    }
}

impl<W: WaysIn> Drop for InLine<'_, W> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        self.p.memory().wait_as_task(false);
        if let Some(inside) = self.object.give_up(&self.p, place) {
            self.object.leave(inside);
        }
    }
}

pub(crate) fn refused<R>(failure: Failure<Infallible, R>) -> R {
    match failure {
        Failure::Refused(why) => why,
        Failure::Memory(impossible) => match impossible {},
    }
}

#[cold]
fn not_asked() -> ! {
    unreachable!("a wait without a deadline is never asked to give up")
}

/// Defines the methods of an object with [`WaysIn`], each in two forms: with a guard that borrows
/// the object, and with one that owns a reference.
macro_rules! ways_in {
    (
        impl [$($generics:tt)*] $of:ty as $handle:ident;
        $guard:ty, $owned_guard:ty: $of_owned:literal;
        $($(#[$doc:meta])* $borrowed:ident, $owned:ident($($argument:ident: $type:ty),*) -> $error:ty = |$call:pat_param| $enter:expr;)*
    ) => {
        impl<$($generics)*> $of {
            $(
                $(#[$doc])*
                #[inline(always)] // like the guard's `drop`
                pub fn $borrowed(&self, $($argument: $type),*) -> Result<$guard, $error> {
                    let ($handle, $call) = (self, stringify!($borrowed));
                    $enter
                }

                #[doc = concat!("[`", stringify!($borrowed), "`](Self::", stringify!($borrowed), ") with a guard that owns a reference. ", $of_owned)]
                ///
                /// # Errors
                /// The same.
                #[inline(always)]
                pub fn $owned(self: &std::sync::Arc<Self>, $($argument: $type),*) -> Result<$owned_guard, $error> {
                    let ($handle, $call) = (std::sync::Arc::clone(self), stringify!($owned));
                    $enter
                }
            )*
        }
    };
}
pub(crate) use ways_in;

/// How many pauses spin, each twice as long as the one before. Later ones yield first.
const PAUSES_BY_SPINNING: u32 = 7;

/// The state that one wait keeps between its turns.
#[derive(Default, Debug)]
pub struct WaitSoFar {
    patience: Patience,
    /// Whether the last turn registered what it read.
    recorded: bool,
}

impl Memory for Native {
    type Error = Infallible;
    /// There is no observer, so parts are not distinguished.
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<T>;
    type Var<T: Word> = Var<T>;
    type Row<T: Word> = Row<T>;
    type Group<T: Word, const N: usize> = [Cell<T>; N];
    type Table<T: Word> = Table<T>;
    type Wait = WaitSoFar;
    const PLENTY: usize = 4096;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, _: Name<()>, decl: Decl<'_, T>) -> Var<T> {
        Var::new(&decl)
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        Row::new((0..n).map(|i| decl(i).1))
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> [Cell<T>; N] {
        assert!(n <= N, "a group of {N} has no room for {n}");
        std::array::from_fn(|i| if i < n { Cell::new(&decl(i).1) } else { Cell::unused() })
    }

    fn table<T: Word>(&self, _: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Table<T> {
        Table::new(rows, columns, &decl)
    }

    fn pause(&self, turn: u32) {
        if turn > PAUSES_BY_SPINNING {
            // If no other thread wants the processor, this returns at once. So the pause spins too.
            std::thread::yield_now();
        }
        (0..1 << turn.saturating_sub(1).min(PAUSES_BY_SPINNING - 1)).for_each(|_| std::hint::spin_loop());
    }

    #[inline]
    fn wait_begins(&self, _: Pid) -> WaitSoFar {
        self.records_no_more(); // a wait that was dropped did not end properly
        let spins = self.spins.load(Relaxed).min(self.policy.spins);
        self.spins.store(spins.saturating_add(1).min(self.policy.spins), Relaxed);
        WaitSoFar { patience: Patience::new(spins), recorded: false }
    }

    #[inline]
    fn wait_ends(&self, _: Pid) {
        self.records_no_more();
    }

    /// Called after a turn that read several variables has failed. To sleep, the next turn
    /// registers at each variable before it reads it. If that turn fails, too, and none of the
    /// variables has changed since, the waiter has nothing to do until one does.
    async fn turn_failed(&self, _: Pid, wait: &mut WaitSoFar, abortable: bool) -> Result<Next, Infallible> {
        debug_assert!(!std::ptr::eq(self, super::ANYONE.memory()), "its reads are not recorded, so it may not wait");
        let deadline = self.deadline(abortable);
        if deadline.is_some_and(|time| Instant::now() >= time) {
            return Ok(Next::GiveUp);
        }
        let as_task = self.as_task.load(Relaxed);
        if wait.recorded {
            let waiter = self.waiter();
            if as_task {
                let dropped = Dropped(self);
                notified(waiter).await;
                std::mem::forget(dropped);
                Self::forget(&self.take_recorded());
            } else {
                let (recorded, until) = (self.take_recorded(), earliest(deadline, self.policy.nap));
                if self.records.load(Relaxed) == IN_TABLE {
                    sleep_until_notified(waiter, until);
                } else if !Threads.sleep_any(&recorded.sequences, until) {
                    self.records.store(IN_TABLE, Relaxed); // from the next turn on
                }
                Self::forget(&recorded);
            }
            waiter.begin();
        } else if as_task || wait.patience.is_over(&self.policy) {
            self.sleeps(&wait.patience);
            self.waiter().begin();
            self.records.store(if as_task { IN_TABLE } else { AS_SEQUENCES }, Relaxed);
            wait.recorded = true;
        }
        Ok(Next::TryAgain)
    }
}

impl ReadWrite for Native {
    #[inline(always)]
    fn read<T: Word>(&self, _: Access<()>, v: &Cell<T>) -> impl Future<Output = Result<T, Infallible>> {
        self.looks_at(v);
        done(v.decode(v.word.load(SeqCst)))
    }

    #[inline(always)]
    fn write<T: Word>(&self, _: Access<()>, v: &Cell<T>, x: T) -> impl Future<Output = Result<(), Infallible>> {
        v.word.store(v.encode(x), SeqCst);
        v.has_changed();
        done(())
    }

    #[inline(always)]
    fn write_in_passing<T: Word>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        x: T,
    ) -> impl Future<Output = Result<(), Infallible>> {
        const { assert!(!T::AWAITED, "a waiter for this variable must be woken: use `write`") };
        // Pairs with the `SeqCst` (hence acquiring) read or exchange by which another process sees
        // the value.
        v.word.store(v.encode(x), Release);
        done(())
    }

    /// Called after a turn that read only `v` has failed.
    async fn unchanged<T: Word>(
        &self,
        _: Pid,
        wait: &mut WaitSoFar,
        abortable: bool,
        v: &Cell<T>,
        seen: T,
    ) -> Result<Next, Infallible> {
        const { assert!(T::AWAITED, "this type declares that no process waits for the variable") };
        let deadline = self.deadline(abortable);
        if deadline.is_some_and(|time| Instant::now() >= time) {
            return Ok(Next::GiveUp);
        }
        let changed = || v.word.load(SeqCst) != v.encode(seen);
        let is_task = self.as_task.load(Relaxed);
        if !is_task && !wait.patience.is_over(&self.policy) {
            return Ok(Next::TryAgain);
        }
        self.sleeps(&wait.patience);
        match (v.alarm(), v.bell()) {
            (Some(alarm), _) if is_task => {
                let mut watch = Watch { alarm, wakes: Wakes::default() };
                poll_fn(|context| watch.wakes.poll(alarm, context.waker(), changed)).await;
            }
            (_, Some(bell)) if is_task => {
                let waiter = self.waiter();
                waiter.begin();
                let entry = Entry(bell.notify(&TABLE, waiter));
                if !changed() {
                    notified(waiter).await;
                    std::mem::forget(entry); // the process that notified it has taken it out
                }
            }
            (alarm, bell) => {
                let heard = alarm.map(|alarm| alarm.listen(&Threads)).or_else(|| bell.map(Bell::listen));
                if let Some((sequence, heard)) = heard.filter(|_| !changed()) {
                    Threads.sleep(sequence, heard, earliest(deadline, self.policy.nap));
                }
                if let Some((alarm, (_, heard))) = alarm.zip(heard) {
                    alarm.has_listened(heard);
                }
            }
        }
        Ok(Next::TryAgain)
    }
}

/// A task's wait for a variable that only this task waits for.
///
/// It holds the alarm that is set, and where the waker in the alarm leads. While that waker exists,
/// no other task's waker leads to the same place. Before the wait this is a tag and nothing else,
/// so that little is written.
#[derive(Default, Debug)]
pub(crate) struct Wakes(Option<(Set, Whom)>);

/// Distinguishes wakers that exist at the same time.
type Whom = (usize, usize);

fn whom(waker: &Waker) -> Whom {
    (waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr())
}

impl Wakes {
    /// Makes sure that the task is woken when the variable changes. Returns `Ready` if the variable
    /// has already changed since it was last read.
    pub(crate) fn poll(
        &mut self,
        alarm: &Alarm<Threads>,
        waker: &Waker,
        mut changed: impl FnMut() -> bool,
    ) -> Poll<()> {
        if self.will_wake(alarm, waker) {
            return Poll::Pending;
        }
        if let Some((set, _)) = self.0.take() {
            alarm.unset(set);
            // The process that rang has most likely changed the variable. Then no new alarm is
            // needed.
            if changed() {
                return Poll::Ready(());
            }
        }
        if self.set(alarm, waker) && changed() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether the alarm was set for this waker all the while. Then a process that changes the
    /// variable finds it.
    #[inline(always)]
    pub(crate) fn will_wake(&self, alarm: &Alarm<Threads>, waker: &Waker) -> bool {
        self.0.is_some_and(|(set, of)| whom(waker) == of && alarm.is_set(set))
    }

    /// Sets the alarm for a task, which then reads the variable. Returns `false` if another process
    /// is busy there, for a moment. Then the task is woken.
    #[inline(always)]
    pub(crate) fn set(&mut self, alarm: &Alarm<Threads>, waker: &Waker) -> bool {
        // A clone may lead elsewhere than its original, and the original may be gone when the task
        // is polled again.
        let clone = waker.clone();
        let of = whom(&clone);
        self.0 = alarm.set(&Threads, clone).map(|set| (set, of));
        if self.0.is_none() {
            contained(|| waker.wake_by_ref());
        }
        self.0.is_some()
    }

    /// Ends the wait, whether it is over or given up.
    #[inline(always)]
    pub(crate) fn end(&mut self, alarm: &Alarm<Threads>) {
        if let Some((set, _)) = self.0.take() {
            alarm.unset(set);
        }
    }
}

/// The same, for as long as a future waits.
struct Watch<'a> {
    alarm: &'a Alarm<Threads>,
    wakes: Wakes,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.wakes.end(self.alarm);
    }
}

/// Removes the entries of a wait for several variables if its future is dropped.
struct Dropped<'a>(&'a Native);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.records_no_more();
        self.0.waiter().begin();
    }
}

/// An entry in the table, for as long as a future waits. Dropping the future removes it.
struct Entry(Place);

impl Drop for Entry {
    fn drop(&mut self) {
        TABLE.remove(self.0);
    }
}

async fn notified(waiter: &Waiter<Threads>) {
    let mut asked = false;
    poll_fn(|context| {
        // A task that is polled again has most likely been notified, and needs no waker.
        let is_notified = (asked && waiter.is_notified()) || waiter.poll(context.waker());
        asked = true;
        if is_notified { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The word that a thread sleeps on until it is notified. It belongs to the wait. The thread's own
/// token of `std::thread::park` may belong to an executor on the same thread.
struct Rouse(Bed);

impl Wake for Rouse {
    fn wake(self: Arc<Self>) {
        self.0.bump();
        Threads.wake_all(&self.0);
    }
}

fn sleep_until_notified(waiter: &Waiter<Threads>, until: Option<Instant>) {
    let rouse = Arc::new(Rouse(Sequence::new()));
    let asleep = Sequence::load(&rouse.0);
    let mut is_notified = waiter.poll(&Waker::from(Arc::clone(&rouse)));
    while !is_notified && until.is_none_or(|until| Instant::now() < until) {
        Threads.sleep(&rouse.0, asleep, until);
        is_notified = waiter.is_notified();
    }
}

fn earliest(deadline: Option<Instant>, nap: Option<Duration>) -> Option<Instant> {
    let nap = nap.and_then(|nap| Instant::now().checked_add(nap));
    deadline.into_iter().chain(nap).min()
}
