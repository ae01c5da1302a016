//! The turnstile, alone and with a tray, on a tool's own atomics, with waits by the real wait
//! layer: everything that loom and shuttle have in common.
//!
//! The text is the shipped one. A [`Flaw`] changes what the memory does at some statements, or what
//! a role does with an answer; only one flaw is active at a time. The wait layer can have a
//! [`Fault`] of its own.

#![allow(dead_code)] // each test crate uses only a part

use crate::second_opinion::ToolWord;
use crate::waiting_kit::{Fault, Layer, Tool};
use doorway::native::now;
use doorway::waiting::internals::{Platform, Sequence};
use doorway_core::Failure;
use doorway_core::k_exclusion::bypass::Bypass;
use doorway_core::k_exclusion::turnstile::{Attempt, Held, Limits, Refused, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{
    Access, Additive, CompareSwap, Decl, FetchAdd, Memory, Name, Next, Pid, Process, ReadWrite, Site, Word,
};
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Seeded flaws in giving up, and in closing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    /// A process that gives up writes its record without checking its content (21).
    LeaveOverwrites,
    /// A process that gives up, but was let in meanwhile, just leaves.
    LeaveForgets,
    /// A process that is dropped while it waits does not leave.
    DropForgets,
    /// Tickets are announced in two steps (5).
    TornAnnouncement,
    /// Exits are counted in two steps (9).
    TornExit,
    /// A process that exits does not help.
    NobodyHelps,
    /// A process that helps does not look at the door (29).
    DoorStays,
    /// Closing does not see a process that has announced itself (36).
    CloseSkips,
    /// A process that closes signals instead of turning away (36): all processes get in.
    CloseSignals,
    /// A holder that leaves its place in the tray calls no waiter (67).
    CallsNobody,
    /// A waiter that was called does not see that a place lies in the tray (73).
    SeesNoPlace,
    /// A process that moves a place leaves it in the tray as well (69).
    MovesACopy,
}

impl Flaw {
    pub(crate) const ALL: [Self; 9] = [
        Self::LeaveOverwrites,
        Self::LeaveForgets,
        Self::DropForgets,
        Self::TornAnnouncement,
        Self::TornExit,
        Self::NobodyHelps,
        Self::DoorStays,
        Self::CloseSkips,
        Self::CloseSignals,
    ];

    /// Those of the tray.
    pub(crate) const OF_THE_TRAY: [Self; 3] = [Self::CallsNobody, Self::SeesNoPlace, Self::MovesACopy];
}

/// The state that all handles share.
pub(crate) struct Shared<L> {
    layer: L,
    flaw: Option<Flaw>,
}

/// How a handle waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// As a thread, which sleeps. Abortable waits are given up at the deadline.
    AsThread,
    /// As a thread that gives up as soon as it would have to wait.
    NotAtAll,
    AsTask,
}

/// A handle on the memory of the tool whose words are `W`.
pub(crate) struct Model<L: Layer, W> {
    shared: Rc<Shared<L>>,
    waits: Waits,
    waiter: L::Waiter,
    words: PhantomData<fn() -> W>,
}

impl<L: Layer, W> Model<L, W> {
    fn new(shared: &Rc<Shared<L>>, waits: Waits) -> Self {
        Self { shared: Rc::clone(shared), waits, waiter: L::Waiter::default(), words: PhantomData }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.shared.flaw == Some(flaw)
    }
}

/// A word, and a bell if a process may wait for it. With this alignment, neighbours never share a
/// bucket of the real table.
#[repr(align(64))]
pub(crate) struct Cell<L: Layer, W, T> {
    word: W,
    bell: Option<L::Bell>,
    of: PhantomData<fn() -> T>,
}

impl<L: Layer, W: ToolWord, T: Word> Cell<L, W, T> {
    fn new(layer: &L, decl: &Decl<'_, T>) -> Self {
        assert_eq!(decl.width, 64, "the words of the turnstile are whole");
        Self { word: W::new(decl.init.pack()), bell: T::AWAITED.then(|| layer.bell()), of: PhantomData }
    }

    /// A read-modify-write, because that sees the latest value in every memory model.
    fn load(&self) -> u64 {
        self.word.fetch_add(0, SeqCst)
    }

    fn change<R>(&self, layer: &L, change: impl FnOnce() -> R) -> R {
        let Some(bell) = &self.bell else { return change() };
        let mut out = None;
        layer.change(bell, || out = Some(change()));
        out.expect("every layer makes the change")
    }
}

impl<L: Layer, W, T> fmt::Debug for Cell<L, W, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_") // looking would be an access
    }
}

/// The turnstile has no table.
pub(crate) struct NoTable<C>(Vec<C>);

impl<C> fmt::Debug for NoTable<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoTable")
    }
}

impl<C> Index<(usize, usize)> for NoTable<C> {
    type Output = C;
    fn index(&self, (_, i): (usize, usize)) -> &C {
        &self.0[i]
    }
}

impl<L: Layer, W: ToolWord> Memory for Model<L, W> {
    type Error = Infallible;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<L, W, T>;
    type Var<T: Word> = Box<Cell<L, W, T>>;
    type Row<T: Word> = Vec<Cell<L, W, T>>;
    type Group<T: Word, const N: usize> = Vec<Cell<L, W, T>>;
    type Table<T: Word> = NoTable<Cell<L, W, T>>;
    type Wait = ();
    const PLENTY: usize = 4;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, _: Name<()>, decl: Decl<'_, T>) -> Self::Var<T> {
        Box::new(Cell::new(&self.shared.layer, &decl))
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Self::Row<T> {
        (0..n).map(|i| Cell::new(&self.shared.layer, &decl(i).1)).collect()
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> Self::Group<T, N> {
        self.row(n, decl)
    }

    fn table<T: Word>(&self, _: Name<()>, _: Range<usize>, _: usize, _: Decl<'_, T>) -> Self::Table<T> {
        NoTable(Vec::new())
    }

    fn wait_begins(&self, _: Pid) {}

    async fn turn_failed(&self, _: Pid, (): &mut (), _: bool) -> Result<Next, Infallible> {
        unreachable!("every wait of the turnstile is for one word")
    }
}

/// An entry in the table, as long as a future waits.
struct Entry<'a, L: Layer> {
    layer: &'a L,
    bell: &'a L::Bell,
    waiter: &'a L::Waiter,
}

impl<L: Layer> Drop for Entry<'_, L> {
    fn drop(&mut self) {
        // A process that is unwound by a tool's complaint has left the model, and must not take
        // another step.
        if !std::thread::panicking() {
            self.layer.remove(self.bell, self.waiter);
        }
    }
}

impl<L: Layer, W: ToolWord> ReadWrite for Model<L, W> {
    async fn read<T: Word>(&self, at: Access<()>, v: &Cell<L, W, T>) -> Result<T, Infallible> {
        if at.label == 29 && self.has(Flaw::DoorStays) {
            return Ok(T::unpack(0)); // open
        }
        if at.label == 73 && self.has(Flaw::SeesNoPlace) {
            return Ok(T::unpack(0)); // nothing
        }
        Ok(T::unpack(v.load()))
    }

    async fn write<T: Word>(&self, _: Access<()>, v: &Cell<L, W, T>, x: T) -> Result<(), Infallible> {
        v.change(&self.shared.layer, || v.word.swap(x.pack(), SeqCst));
        Ok(())
    }

    /// As native handles do.
    async fn unchanged<T: Word>(
        &self,
        _: Pid,
        (): &mut (),
        abortable: bool,
        v: &Cell<L, W, T>,
        seen: T,
    ) -> Result<Next, Infallible> {
        let layer = &self.shared.layer;
        if abortable && (self.waits == Waits::NotAtAll || layer.platform().time_has_come()) {
            return Ok(Next::GiveUp);
        }
        let bell = v.bell.as_ref().expect("a process may wait for it");
        let changed = || v.load() != seen.pack();
        if self.waits == Waits::AsTask {
            layer.begin(&self.waiter);
            let changed = layer.register(bell, &self.waiter, changed);
            let _entry = Entry { layer, bell, waiter: &self.waiter };
            if !changed {
                let notified = |context: &mut Context<'_>| layer.poll(&self.waiter, context.waker());
                poll_fn(|context| if notified(context) { Poll::Ready(()) } else { Poll::Pending }).await;
            }
        } else {
            layer.sleep(bell, abortable.then(Instant::now), changed);
        }
        Ok(Next::TryAgain)
    }
}

impl<L: Layer, W: ToolWord> FetchAdd for Model<L, W> {
    async fn fetch_add<T: Additive>(&self, at: Access<()>, v: &Cell<L, W, T>, delta: T) -> Result<T, Infallible> {
        let torn = at.label == 5 && self.has(Flaw::TornAnnouncement) || at.label == 9 && self.has(Flaw::TornExit);
        let add = || {
            if torn {
                let old = v.load();
                v.word.swap(old.wrapping_add(delta.pack()), SeqCst);
                old
            } else {
                v.word.fetch_add(delta.pack(), SeqCst)
            }
        };
        Ok(T::unpack(v.change(&self.shared.layer, add)))
    }
}

impl<L: Layer, W: ToolWord> CompareSwap for Model<L, W> {
    async fn compare_swap<T: Word>(
        &self,
        at: Access<()>,
        v: &Cell<L, W, T>,
        old: T,
        new: T,
    ) -> Result<Result<T, T>, Infallible> {
        if at.label == 21 && self.has(Flaw::LeaveOverwrites) {
            v.change(&self.shared.layer, || v.word.swap(new.pack(), SeqCst));
            return Ok(Ok(old));
        }
        let is_skipped = at.label == 36 && self.has(Flaw::CloseSkips)
            || at.label == 67 && self.has(Flaw::CallsNobody)
            || at.label == 69 && self.has(Flaw::MovesACopy);
        if is_skipped {
            return Ok(Ok(old));
        }
        let mut new = new.pack();
        if at.label == 36 && self.has(Flaw::CloseSignals) {
            new = new & !7 | 2; // SIG instead of SHUT
        }
        // A failed exchange has changed nothing. It rings all the same, and so wakes some processes
        // for no reason.
        let swapped = v.change(&self.shared.layer, || v.word.compare_exchange(old.pack(), new, SeqCst, SeqCst));
        Ok(swapped.map(T::unpack).map_err(T::unpack))
    }
}

/// A text around a turnstile.
pub(crate) trait Text<M: Memory>:
    Abortable<M, Attempt = Attempt> + KExclusion<M, Held = Held, Refusal = Refused>
{
    fn line(&self) -> &Turnstile<M>;
}

impl<M: FetchAdd + CompareSwap> Text<M> for Turnstile<M> {
    fn line(&self) -> &Self {
        self
    }
}

impl<M: FetchAdd + CompareSwap> Text<M> for Bypass<M> {
    fn line(&self) -> &Turnstile<M> {
        Self::line(self)
    }
}

/// A turnstile, and the processes inside.
pub(crate) struct Scene<L: Layer, W: ToolWord, T = Turnstile<Model<L, W>>> {
    shared: Rc<Shared<L>>,
    text: T,
    k: usize,
    inside: std::cell::Cell<usize>,
    /// Each process that enters or leaves changes it: the tools put such steps in every order.
    desk: <L::P as Platform>::Sequence,
    words: PhantomData<fn() -> W>,
}

/// The role of a process at a turnstile.
pub(crate) type Part<L, W, T = Turnstile<Model<L, W>>> = fn(&Scene<L, W, T>);

impl<L: Layer, W: ToolWord> Scene<L, W> {
    /// For a few passages: the ring is short, and no process finds the line too long.
    pub(crate) fn new(k: usize, ring: usize, flaw: Option<Flaw>, fault: Option<Fault>) -> Rc<Self> {
        let limits = Limits { ring, full: 1 << 20, clear: 1 << 19, places: k as u64 };
        Self::with_limits(k, limits, flaw, fault)
    }

    /// Any process that waits in line finds it too long already, so others wait in front of it.
    pub(crate) fn with_a_short_line(k: usize, ring: usize, flaw: Option<Flaw>, fault: Option<Fault>) -> Rc<Self> {
        Self::with_limits(k, Limits { ring, full: 0, clear: 1, places: k as u64 }, flaw, fault)
    }

    fn with_limits(k: usize, limits: Limits, flaw: Option<Flaw>, fault: Option<Fault>) -> Rc<Self> {
        Self::of(k, flaw, fault, |site| Turnstile::with_limits(site, k, limits, 0))
    }
}

impl<L: Layer, W: ToolWord> Scene<L, W, Bypass<Model<L, W>>> {
    /// With a tray, for `n` processes: at most `most` newcomers pass the first in line.
    pub(crate) fn with_a_tray(n: usize, k: usize, most: u32, flaw: Option<Flaw>) -> Rc<Self> {
        Self::of(k, flaw, None, |site| Bypass::new(site, n, k, most))
    }
}

impl<L: Layer, W: ToolWord, T: Text<Model<L, W>> + 'static> Scene<L, W, T> {
    fn of(
        k: usize,
        flaw: Option<Flaw>,
        fault: Option<Fault>,
        text: impl FnOnce(&Site<'_, Model<L, W>>) -> T,
    ) -> Rc<Self> {
        let shared = Rc::new(Shared { layer: L::new(fault), flaw });
        let text = text(&Site::new(&Model::new(&shared, Waits::AsThread)));
        let desk = <L::P as Platform>::Sequence::new();
        Rc::new(Self { shared, text, k, inside: std::cell::Cell::new(0), desk, words: PhantomData })
    }

    /// Each process plays its part, the first of them on the existing thread; then, alone, the
    /// last. After that all places are free, and the table is empty.
    pub(crate) fn together(self: &Rc<Self>, parts: &[Part<L, W, T>], last: Option<Part<L, W, T>>, closed: bool) {
        let others: Vec<_> = parts[1..]
            .iter()
            .map(|&part| {
                let scene = Rc::clone(self);
                L::P::spawn(move || part(&scene))
            })
            .collect();
        parts[0](self);
        others.into_iter().for_each(L::P::join);
        if let Some(last) = last {
            last(self);
        }
        let Ok(look) = now(self.text.line().look(&self.process(Waits::AsThread)));
        assert_eq!((look.free, look.closed), (self.k as u64, closed), "a place was lost");
        assert!(self.shared.layer.is_empty(), "a waiter is left in the table");
    }

    fn process(&self, waits: Waits) -> Process<Model<L, W>> {
        Process::new(Pid::new(0), Model::new(&self.shared, waits))
    }

    fn enters(&self) {
        self.desk.bump();
        let inside = self.inside.get() + 1;
        assert!(inside <= self.k, "{inside} are inside");
        self.inside.set(inside);
    }

    fn exits(&self, p: &Process<Model<L, W>>, held: Held) {
        self.desk.bump();
        self.inside.set(self.inside.get() - 1);
        if self.shared.flaw == Some(Flaw::NobodyHelps) {
            let Ok(_) = now(self.text.line().give_back(p, held));
        } else {
            let Ok(()) = now(self.text.release(p, held));
        }
    }

    /// Lets one process in before any other comes.
    pub(crate) fn with_one_inside(self: Rc<Self>) -> Rc<Self> {
        let entered = now(self.text.acquire(&self.process(Waits::AsThread)));
        assert!(entered.is_ok());
        self.enters();
        self
    }

    /// The process that was inside from the beginning leaves.
    pub(crate) fn first_exits(&self) {
        self.exits(&self.process(Waits::AsThread), Held::of(1, false));
    }

    fn passes_by(&self, p: &Process<Model<L, W>>, entered: Result<Held, Failure<Infallible, Refused>>) {
        // A process that was turned away has nothing to give back.
        if let Ok(held) = entered {
            self.enters();
            self.exits(p, held);
        }
    }

    pub(crate) fn thread_passes(&self) {
        let p = self.process(Waits::AsThread);
        let entered = now(self.text.acquire(&p));
        self.passes_by(&p, entered);
    }

    /// Waits until the deadline.
    pub(crate) fn thread_passes_in_time(&self) {
        self.tries(Waits::AsThread);
    }

    /// Gives up instead of waiting.
    pub(crate) fn thread_gives_up(&self) {
        self.tries(Waits::NotAtAll);
    }

    fn tries(&self, waits: Waits) {
        let p = self.process(waits);
        let mut attempt = Attempt::default();
        match now(self.text.try_acquire(&p, &mut attempt)) {
            Ok(Some(held)) => self.passes_by(&p, Ok(held)),
            Ok(None) => self.leaves(&p, attempt),
            Err(_) => {}
        }
    }

    fn leaves(&self, p: &Process<Model<L, W>>, attempt: Attempt) {
        let Ok(let_in) = now(self.text.leave(p, attempt));
        if let Some(held) = let_in.filter(|_| self.shared.flaw != Some(Flaw::LeaveForgets)) {
            self.passes_by(p, Ok(held));
        }
    }

    pub(crate) fn task_passes(&self) {
        let p = self.process(Waits::AsTask);
        let parker = L::P::parker();
        let waker = Waker::from(Arc::clone(&parker));
        let entered = {
            let mut entry = pin!(self.text.acquire(&p));
            loop {
                match entry.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(entered) => break entered,
                    Poll::Pending => L::P::park(&parker),
                }
            }
        };
        self.passes_by(&p, entered);
    }

    /// Polled once, and then dropped if it is still pending.
    pub(crate) fn task_is_dropped(&self) {
        let p = self.process(Waits::AsTask);
        let mut attempt = Attempt::default();
        let waker = Waker::from(L::P::parker());
        let entered = {
            let mut entry = pin!(self.text.try_acquire(&p, &mut attempt));
            entry.as_mut().poll(&mut Context::from_waker(&waker))
        };
        match entered {
            Poll::Ready(Ok(Some(held))) => self.passes_by(&p, Ok(held)),
            Poll::Ready(Err(_)) => {}
            Poll::Ready(Ok(None)) | Poll::Pending => {
                if self.shared.flaw != Some(Flaw::DropForgets) {
                    self.leaves(&p, attempt);
                }
            }
        }
    }

    pub(crate) fn somebody_closes(&self) {
        let Ok(()) = now(self.text.line().close(&self.process(Waits::AsThread)));
    }

    pub(crate) fn time_comes(&self) {
        self.shared.layer.platform().time_comes();
    }
}
