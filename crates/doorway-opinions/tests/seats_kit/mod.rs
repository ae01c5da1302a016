//! Loom's words, with what `seats` needs besides: bytes of seats, sleep and deaths.

use crate::second_opinion::{Encoding, Read, ToolMemory, Write};
use doorway_core::k_assignment::seats::{News, Slot};
use doorway_core::memory::{
    Access, Additive, Bits, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr, Label, Memory, Name, Next, Pid, ReadWrite,
    Seats, Sleeps, Woken, Word,
};
use loom::sync::atomic::AtomicU64;
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::cell::Cell as Local;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

type Words = ToolMemory<AtomicU64>;

/// No orderings at all: read-modify-writes remain read-modify-writes, and loads and stores remain
/// loads and stores.
pub(crate) fn relaxed(encoding: Encoding) -> Encoding {
    let read = match encoding.read {
        Read::Load(_) => Read::Load(Ordering::Relaxed),
        Read::AddZero => Read::AddZero,
    };
    let write = match encoding.write {
        Write::Store(_) => Write::Store(Ordering::Relaxed),
        Write::Swap => Write::Swap,
    };
    Encoding { read, write, orders: (Ordering::Relaxed, Ordering::Relaxed), fences: false, ..encoding }
}

/// Seeded faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// These statements order nothing.
    Relaxed(&'static [Label]),
    /// These statements acquire and release, but are not sequentially consistent.
    AcquireRelease(&'static [Label]),
    /// The slot is freed before the waiter to which it is offered has it, and the waiter takes the
    /// offer for the slot.
    FreedBeforeConfirmed,
    /// Others see that the byte of a dead process is free, but not what the process did.
    DisorderlyDeath,
    /// No process is woken.
    NoWake,
    /// After a slot was freed, no process checks for waiters.
    NoSecondLook,
}

/// Why a process stops.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Died,
    Damaged,
}

/// Locks and sleepers.
#[derive(Debug)]
pub(crate) struct Kernel {
    state: Mutex<State>,
    beds: Vec<Condvar>,
    /// A copy of the bytes, for a kernel that orders nothing.
    pub(crate) disorderly: Vec<std::sync::atomic::AtomicBool>,
}

#[derive(Debug)]
pub(crate) struct State {
    /// Whether the byte of each seat is locked.
    pub(crate) locked: Vec<bool>,
    /// The word on which the owner of each seat sleeps, while it is asleep.
    asleep: Vec<Option<usize>>,
}

impl Kernel {
    pub(crate) fn new(seats: usize) -> Rc<Self> {
        Rc::new(Self {
            state: Mutex::new(State { locked: vec![false; seats], asleep: vec![None; seats] }),
            beds: (0..seats).map(|_| Condvar::new()).collect(),
            disorderly: (0..seats).map(|_| false.into()).collect(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wake(&self, state: &mut State, which: impl Fn(usize) -> bool) {
        for (seat, bed) in self.beds.iter().enumerate() {
            if state.asleep[seat].is_some_and(&which) {
                state.asleep[seat] = None;
                bed.notify_all();
            }
        }
    }

    /// The process with this seat has ended. Sleepers watch no other process, so all of them are
    /// woken.
    pub(crate) fn ends(&self, seat: usize) {
        self.disorderly[seat].store(false, Ordering::Relaxed);
        let mut state = self.lock();
        state.locked[seat] = false;
        self.wake(&mut state, |_| true);
    }
}

/// The fate of a process.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fate {
    /// The process dies before this statement.
    pub(crate) dies_at: Option<Label>,
    /// Whether the process is asked to give up as soon as it would sleep.
    pub(crate) gives_up: bool,
    /// Whether the memory never reports a death, and no death wakes a sleeper.
    pub(crate) tolerates: bool,
}

/// Loom's words, and a kernel.
pub(crate) struct Loom {
    words: Words,
    faulty: Words,
    fault: Option<Fault>,
    kernel: Rc<Kernel>,
    fate: Fate,
    has_died: Local<bool>,
}

impl Loom {
    pub(crate) fn new(encoding: Encoding, fault: Option<Fault>, kernel: &Rc<Kernel>, fate: Fate) -> Self {
        Self {
            words: Words::new(encoding),
            faulty: Words::new(match fault {
                Some(Fault::Relaxed(_)) => relaxed(encoding),
                _ => Encoding { fences: false, ..encoding },
            }),
            fault,
            kernel: Rc::clone(kernel),
            fate,
            has_died: Local::new(false),
        }
    }

    /// The words for this access, unless the process dies first.
    fn at(&self, at: Access<()>) -> Result<&Words, Stop> {
        if self.fate.dies_at == Some(at.label) || self.has_died.get() {
            self.has_died.set(true);
            return Err(Stop::Died);
        }
        Ok(match self.fault {
            Some(Fault::Relaxed(labels) | Fault::AcquireRelease(labels)) if labels.contains(&at.label) => &self.faulty,
            _ => &self.words,
        })
    }
}

/// The result of an access to the words, which cannot fail.
fn of<T>(result: Result<T, std::convert::Infallible>) -> T {
    let Ok(value) = result;
    value
}

impl Memory for Loom {
    type Error = Stop;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = <Words as Memory>::Cell<T>;
    type Var<T: Word> = <Words as Memory>::Var<T>;
    type Row<T: Word> = <Words as Memory>::Row<T>;
    type Group<T: Word, const N: usize> = <Words as Memory>::Group<T, N>;
    type Table<T: Word> = <Words as Memory>::Table<T>;
    type Wait = ();
    const PLENTY: usize = 0;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, name: Name<()>, decl: Decl<'_, T>) -> Self::Var<T> {
        self.words.var(name, decl)
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Self::Row<T> {
        self.words.row(n, decl)
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> Self::Group<T, N> {
        self.words.group::<T, N>(n, decl)
    }

    fn table<T: Word>(&self, name: Name<()>, rows: Range<usize>, n: usize, decl: Decl<'_, T>) -> Self::Table<T> {
        self.words.table(name, rows, n, decl)
    }

    fn wait_begins(&self, _: Pid) {}

    async fn turn_failed(&self, _: Pid, (): &mut (), _: bool) -> Result<Next, Stop> {
        unreachable!("the text sleeps")
    }
}

impl ReadWrite for Loom {
    async fn read<T: Word>(&self, at: Access<()>, v: &Self::Cell<T>) -> Result<T, Stop> {
        let value = of(self.at(at)?.read(at, v).await);
        Ok(match at.label {
            23 if self.fault == Some(Fault::NoSecondLook) => T::unpack(0),
            10 if self.fault == Some(Fault::FreedBeforeConfirmed) => {
                let slot = Slot::unpack(value.pack());
                match slot.owner() {
                    None => T::unpack(slot.taken_by(at.pid.index()).expect("there are fences").pack()),
                    Some(_) => value,
                }
            }
            _ => value,
        })
    }

    async fn write<T: Word>(&self, at: Access<()>, v: &Self::Cell<T>, x: T) -> Result<(), Stop> {
        of(self.at(at)?.write(at, v, x).await);
        Ok(())
    }

    async fn unchanged<T: Word>(&self, _: Pid, (): &mut (), _: bool, _: &Self::Cell<T>, _: T) -> Result<Next, Stop> {
        unreachable!("the text sleeps")
    }
}

impl FetchAdd for Loom {
    async fn fetch_add<T: Additive>(&self, at: Access<()>, v: &Self::Cell<T>, delta: T) -> Result<T, Stop> {
        Ok(of(self.at(at)?.fetch_add(at, v, delta).await))
    }
}

impl FetchOr for Loom {
    async fn fetch_or<T: Bits>(&self, at: Access<()>, v: &Self::Cell<T>, mask: T) -> Result<T, Stop> {
        Ok(of(self.at(at)?.fetch_or(at, v, mask).await))
    }
}

impl FetchAnd for Loom {
    async fn fetch_and(&self, at: Access<()>, v: &Self::Cell<u64>, mask: u64) -> Result<u64, Stop> {
        Ok(of(self.at(at)?.fetch_and(at, v, mask).await))
    }
}

impl CompareSwap for Loom {
    async fn compare_swap<T: Word>(
        &self,
        at: Access<()>,
        v: &Self::Cell<T>,
        old: T,
        new: T,
    ) -> Result<Result<T, T>, Stop> {
        let frees = at.label == 20 && self.fault == Some(Fault::FreedBeforeConfirmed);
        let new = if frees { T::unpack(Slot::unpack(old.pack()).freed(News::None).pack()) } else { new };
        Ok(of(self.at(at)?.compare_swap(at, v, old, new).await))
    }
}

impl Seats for Loom {
    type Bytes = ();

    fn bytes(&self, _: Name<()>, _: usize) {}

    async fn may_have_died(&self, at: Access<()>) -> Result<bool, Stop> {
        self.at(at).map(|_| !self.fate.tolerates)
    }

    async fn is_dead(&self, at: Access<()>, (): &(), seat: usize) -> Result<bool, Stop> {
        self.at(at)?;
        if self.fault == Some(Fault::DisorderlyDeath) {
            return Ok(!self.kernel.disorderly[seat].load(Ordering::Relaxed));
        }
        Ok(!self.kernel.lock().locked[seat])
    }

    async fn try_lock(&self, at: Access<()>, (): &(), seat: usize) -> Result<bool, Stop> {
        self.at(at)?;
        let locked = !std::mem::replace(&mut self.kernel.lock().locked[seat], true);
        self.kernel.disorderly[seat].fetch_or(locked, Ordering::Relaxed);
        Ok(locked)
    }

    async fn unlock(&self, at: Access<()>, (): &(), seat: usize) -> Result<(), Stop> {
        self.at(at)?;
        self.kernel.lock().locked[seat] = false;
        self.kernel.disorderly[seat].store(false, Ordering::Relaxed);
        Ok(())
    }

    fn damaged(&self, _: Access<()>, _: u64) -> Stop {
        Stop::Damaged
    }
}

impl Sleeps for Loom {
    type Watch = Vec<usize>;

    fn has_hints(&self) -> bool {
        !self.fate.tolerates
    }

    fn watch_seat(&self, watch: &mut Vec<usize>, seat: usize) {
        watch.push(seat);
    }

    async fn sleep<T: Word>(
        &self,
        at: Access<()>,
        (): &mut (),
        v: &Self::Cell<T>,
        seen: T,
        watch: &Vec<usize>,
        abortable: bool,
    ) -> Result<Woken, Stop> {
        let words = self.at(at)?;
        if abortable && self.fate.gives_up {
            return Ok(Woken::GiveUp);
        }
        let me = at.pid.index();
        let seems_dead = |seat: &usize| !self.kernel.disorderly[*seat].load(Ordering::Relaxed);
        if self.fault == Some(Fault::DisorderlyDeath) && watch.iter().any(seems_dead) {
            return Ok(Woken::Death);
        }
        let mut state = self.kernel.lock();
        if watch.iter().any(|seat| !state.locked[*seat]) {
            return Ok(Woken::Death);
        }
        // Under the lock, as in the kernel: a process that wakes sleepers after its write either
        // finds this one asleep, or its write is seen here.
        if of(words.read(at, v).await).pack() != seen.pack() {
            return Ok(Woken::Called);
        }
        state.asleep[me] = Some(std::ptr::from_ref(v).addr());
        while state.asleep[me].is_some() {
            state = self.kernel.beds[me].wait(state).unwrap();
        }
        let died = watch.iter().any(|seat| !state.locked[*seat]);
        Ok(if died { Woken::Death } else { Woken::Called })
    }

    async fn wake<T: Word>(&self, at: Access<()>, v: &Self::Cell<T>) -> Result<(), Stop> {
        self.at(at)?;
        if self.fault != Some(Fault::NoWake) {
            let address = std::ptr::from_ref(v).addr();
            self.kernel.wake(&mut self.kernel.lock(), |word| word == address);
        }
        Ok(())
    }
}
