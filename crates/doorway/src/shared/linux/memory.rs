//! The memory that the text runs on: words of a mapped file, the kernel's lock bytes, and sleep
//! that a death ends.
//!
//! | word | here |
//! |---|---|
//! | an access | one atomic operation on the mapping, `SeqCst`, ready at once |
//! | a variable | the place in the file that its name stands for; a new file holds zeros, which every variable begins with |
//! | is a seat's owner dead? | whether its [byte](super::bytes) is free |
//! | sleep | `futex_waitv` on the seat's row and on the hints of the seats it watches; for a task, by the [sentinel](super::sentinel) |
//! | a word that no correct program writes | the error [`Error::Corrupt`], after which the handle refuses all work |
//!
//! # Orderings
//! Everything is `SeqCst`, as in native memory.

#![allow(unsafe_code)]

use super::super::header::{LINE, row, slot};
use super::super::{Error, Mode};
use super::looks::{FIRST_LAG, Hint, LONGEST_LAG, Looks, asks_to_be_woken};
use super::sentinel::{DIED, MOST_WORDS};
use super::{File, file};
use crate::native::now;
use crate::waiting::{Patience, Platform, Policy, Processes};
use doorway_core::memory::{
    Access, Additive, Bits, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr, Memory, Name, Next, Pid, ReadWrite, Ready,
    Seats, Sleeps, Woken, Word,
};
use std::collections::VecDeque;
use std::future::ready;
use std::marker::PhantomData;
use std::ops::{Deref, Index, Range};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

/// What an access can fail with. It is boxed, so that a failure that never happens in practice
/// costs the fast path nothing.
pub(in crate::shared) type Fault = Box<Error>;

/// A word of the file.
#[repr(transparent)]
pub(in crate::shared) struct Cell<T> {
    word: AtomicU64,
    of: PhantomData<fn() -> T>,
}

impl<T: Word> std::fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        T::unpack(self.word.load(SeqCst)).fmt(f)
    }
}

/// Words of the file at equal distances. The words of slots and seats have a line each. Bare
/// numbers, which are sets of bits, follow each other.
pub(in crate::shared) struct Row<T> {
    first: NonNull<u8>,
    length: usize,
    /// Keeps the words mapped for as long as this lives.
    _file: Arc<File>,
    of: PhantomData<fn() -> T>,
}

// SAFETY: it points to atomics in a mapping that it keeps alive.
unsafe impl<T> Send for Row<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Row<T> {}

impl<T: Word> std::fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries((0..self.length).map(|i| &self[i])).finish()
    }
}

impl<T: Word> Row<T> {
    /// A constant, because the compiler multiplies by it wherever a word is looked up.
    const STRIDE: usize = if T::WHOLE { LINE } else { 8 };

    fn new(file: &Arc<File>, offset: usize, length: usize) -> Self {
        let (first, last) = (file.mapping.word(offset), offset + Self::STRIDE * length.saturating_sub(1));
        let _ = file.mapping.word(last); // panics if the last word does not exist
        Self { first: NonNull::from(first).cast(), length, _file: Arc::clone(file), of: PhantomData }
    }
}

impl<T: Word> Index<usize> for Row<T> {
    type Output = Cell<T>;
    #[inline(always)]
    fn index(&self, i: usize) -> &Cell<T> {
        assert!(i < self.length, "the file has no such word");
        // SAFETY: `new` has checked the first and the last word, and `i` is between them. A cell is
        // an atomic word and nothing else.
        unsafe { self.first.add(i * Self::STRIDE).cast::<Cell<T>>().as_ref() }
    }
}

impl<T: Word> Index<(usize, usize)> for Row<T> {
    type Output = Cell<T>;
    fn index(&self, (_, i): (usize, usize)) -> &Cell<T> {
        &self[i]
    }
}

/// One word of the file.
#[derive(Debug)]
pub(in crate::shared) struct Var<T: Word>(Row<T>);

impl<T: Word> Deref for Var<T> {
    type Target = Cell<T>;
    #[inline(always)]
    fn deref(&self) -> &Cell<T> {
        // SAFETY: `Row::new` has checked that there is a first word.
        unsafe { self.0.first.cast::<Cell<T>>().as_ref() }
    }
}

/// A process's handle on the file: how it waits.
#[derive(Debug)]
pub(in crate::shared) struct Mapped {
    pub(super) file: Arc<File>,
    /// Whether waits leave a waker with the sentinel, instead of blocking the thread.
    as_task: bool,
    give_up_at: Option<Instant>,
}

impl Mapped {
    pub(super) fn new(file: &Arc<File>) -> Self {
        Self { file: Arc::clone(file), as_task: false, give_up_at: None }
    }

    pub(super) fn for_a_thread(file: &Arc<File>, deadline: Option<Instant>) -> Self {
        Self { give_up_at: deadline, ..Self::new(file) }
    }

    pub(super) fn for_a_task(file: &Arc<File>) -> Self {
        Self { as_task: true, ..Self::for_a_thread(file, None) }
    }

    fn corrupt(&self) -> Fault {
        self.file.mapping.is_damaged_now();
        Box::new(Error::Corrupt(self.file.path.clone()))
    }
}

/// The state that one wait keeps between its sleeps.
#[derive(Debug)]
pub(in crate::shared) struct Waiting {
    began: Instant,
    /// When the waiter last looked for the dead; at first, when it began.
    looked: Instant,
    /// How long the waiter goes on without a sleep.
    patience: Patience,
    /// How long to wait for the byte of a process whose hint says that it died.
    lag: Duration,
    /// Whether the next sleep is a [nap](NAP).
    naps: bool,
}

impl Waiting {
    /// Whether the word changes before it is time to sleep.
    fn is_short(&mut self, (word, seen): (&AtomicU64, u64)) -> bool {
        while word.load(SeqCst) == seen {
            if self.patience.is_over(&POLICY) {
                return false;
            }
        }
        true
    }
}

/// How a waiter waits before it sleeps. It never yields: a yield may take a whole time slice,
/// during which a slot that it is offered stays unused.
const POLICY: Policy = Policy::SLEEP;

/// How many times the next waiter spins: about as many as proved useful lately. An estimate, so it
/// orders nothing.
#[derive(Debug)]
pub(super) struct Spins(AtomicU32);

impl Default for Spins {
    fn default() -> Self {
        Self(AtomicU32::new(POLICY.spins))
    }
}

impl Spins {
    /// Lets the next waiter spin once more.
    fn for_a_waiter(&self) -> u32 {
        let spins = self.0.load(Relaxed);
        self.0.store((spins + 1).min(POLICY.spins), Relaxed);
        spins
    }

    fn set(&self, spins: u32) {
        self.0.store(spins, Relaxed);
    }
}

/// A loop that runs this many rounds can only be the result of damage.
const ROUNDS: u32 = 1 << 16;

#[inline(always)]
fn done<T>(x: T) -> impl Future<Output = Result<T, Fault>> {
    ready(Ok(x))
}

impl Memory for Mapped {
    type Error = Fault;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<T>;
    type Var<T: Word> = Var<T>;
    type Row<T: Word> = Row<T>;
    type Group<T: Word, const N: usize> = Row<T>;
    type Table<T: Word> = Row<T>;
    type Wait = Waiting;
    const PLENTY: usize = 0;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    /// # Panics
    /// Panics if the file has no variable of this name.
    fn var<T: Word>(&self, name: Name<()>, decl: Decl<'_, T>) -> Var<T> {
        begins_with_zero(&decl);
        let layout = self.file.mapping.layout();
        match name.name {
            "next" => Var(Row::new(&self.file, layout.next, 1)),
            other => no_such(other),
        }
    }

    fn group<'a, T: Word, const N: usize>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        self.row(n, decl)
    }

    /// # Panics
    /// Panics if the file has no variables of this name.
    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        let (name, decl) = decl(0);
        begins_with_zero(&decl);
        let layout = self.file.mapping.layout();
        let (offset, stride, length) = match name.name {
            "bits" => (layout.bits, 8, self.file.header.seats / 64),
            "slot" => (layout.slots + slot::WORD, LINE, self.file.header.slots),
            "want" => (layout.rows + row::WANT, LINE, self.file.header.seats),
            other => no_such(other),
        };
        assert!(stride == Row::<T>::STRIDE, "words of another type are at another distance");
        assert!(n <= length, "the file has {length} words for {}, not {n}", name.name);
        Row::new(&self.file, offset, n)
    }

    fn table<T: Word>(&self, name: Name<()>, _: Range<usize>, _: usize, _: Decl<'_, T>) -> Row<T> {
        no_such(name.name)
    }

    fn wait_begins(&self, _: Pid) -> Waiting {
        let now = Instant::now();
        let (spins, naps) = (self.file.spins.for_a_waiter(), !self.as_task && self.file.waits_are_short.load(Relaxed));
        Waiting { began: now, looked: now, patience: Patience::new(spins), lag: Duration::ZERO, naps }
    }

    /// The text on this memory says what it sleeps on. This is for texts that do not.
    fn turn_failed(&self, _: Pid, _: &mut Waiting, abortable: bool) -> impl Future<Output = Result<Next, Fault>> {
        let over = abortable && self.give_up_at.is_some_and(|time| Instant::now() >= time);
        if !over {
            std::thread::yield_now();
        }
        done(if over { Next::GiveUp } else { Next::TryAgain })
    }
}

fn no_such(name: &str) -> ! {
    panic!("the file has no variable {name}: its format is for one text")
}

/// A new file holds zeros, and no process would write another initial value.
fn begins_with_zero<T: Word>(decl: &Decl<'_, T>) {
    assert!(decl.init.pack() == 0 && decl.width == 64, "variables of a file begin with zero, and have 64 bits");
}

impl Ready for Mapped {
    #[inline(always)]
    fn ready<T>(access: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        now(access)
    }
}

impl ReadWrite for Mapped {
    #[inline(always)]
    fn read<T: Word>(&self, _: Access<()>, v: &Cell<T>) -> impl Future<Output = Result<T, Fault>> {
        done(T::unpack(v.word.load(SeqCst)))
    }

    #[inline(always)]
    fn write<T: Word>(&self, _: Access<()>, v: &Cell<T>, x: T) -> impl Future<Output = Result<(), Fault>> {
        v.word.store(x.pack(), SeqCst);
        done(())
    }

    fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut Waiting,
        abortable: bool,
        _: &Cell<T>,
        _: T,
    ) -> impl Future<Output = Result<Next, Fault>> {
        self.turn_failed(pid, wait, abortable)
    }
}

impl FetchAdd for Mapped {
    #[inline(always)]
    fn fetch_add<T: Additive>(&self, _: Access<()>, v: &Cell<T>, delta: T) -> impl Future<Output = Result<T, Fault>> {
        done(T::unpack(v.word.fetch_add(delta.pack(), SeqCst)))
    }
}

impl FetchOr for Mapped {
    #[inline(always)]
    fn fetch_or<T: Bits>(&self, _: Access<()>, v: &Cell<T>, mask: T) -> impl Future<Output = Result<T, Fault>> {
        done(T::unpack(v.word.fetch_or(mask.pack(), SeqCst)))
    }
}

impl FetchAnd for Mapped {
    #[inline(always)]
    fn fetch_and(&self, _: Access<()>, v: &Cell<u64>, mask: u64) -> impl Future<Output = Result<u64, Fault>> {
        done(v.word.fetch_and(mask, SeqCst))
    }
}

impl CompareSwap for Mapped {
    #[inline(always)]
    fn compare_swap<T: Word>(
        &self,
        _: Access<()>,
        v: &Cell<T>,
        old: T,
        new: T,
    ) -> impl Future<Output = Result<Result<T, T>, Fault>> {
        let swapped = v.word.compare_exchange(old.pack(), new.pack(), SeqCst, SeqCst);
        done(swapped.map(T::unpack).map_err(T::unpack))
    }
}

impl Seats for Mapped {
    type Bytes = ();

    fn bytes(&self, _: Name<()>, _: usize) {}

    fn may_have_died(&self, _: Access<()>) -> impl Future<Output = Result<bool, Fault>> {
        done(self.file.header.mode == Mode::Reclaim)
    }

    fn is_dead(&self, _: Access<()>, (): &(), seat: usize) -> impl Future<Output = Result<bool, Fault>> {
        let may_be = self.file.header.mode == Mode::Reclaim;
        ready(if may_be { self.file.bytes.is_dead(seat).map_err(Box::new) } else { Ok(false) })
    }

    fn try_lock(&self, _: Access<()>, (): &(), seat: usize) -> impl Future<Output = Result<bool, Fault>> {
        ready(self.file.bytes.try_lock(seat).map_err(Box::new))
    }

    fn unlock(&self, _: Access<()>, (): &(), seat: usize) -> impl Future<Output = Result<(), Fault>> {
        ready(self.file.bytes.unlock(seat).map_err(Box::new))
    }

    fn goes_round(&self, _: Access<()>, turn: u32) -> Result<(), Fault> {
        if turn < ROUNDS { Ok(()) } else { Err(self.corrupt()) }
    }

    fn damaged(&self, _: Access<()>, _: u64) -> Fault {
        self.corrupt()
    }
}

/// The seats that a sleeper watches.
#[derive(Default, Debug)]
pub(in crate::shared) struct Watch(VecDeque<usize>);

/// How long a nap lasts. Where waits are short, the first sleep of each wait is a nap.
///
/// A nap ends by itself after this time, and it watches few processes. A full sleep watches a
/// word of each process that holds or waits, so its cost grows with their number. A nap misses no
/// death: the kernel's mark stays, and the next sleep begins with a look at all marks. Much shorter
/// naps would cost more than they save, because a timer that fires before the kernel's next tick
/// must be set in the hardware.
const NAP: Duration = Duration::from_millis(4);
/// How many seats a nap watches: the ones that are named last, which own slots.
const WATCHED_IN_A_NAP: usize = 1;

/// The decision before a sleep.
enum Bed {
    Up(Woken),
    Asleep { words: Vec<(usize, u32)>, until: Instant, deadline: Option<Instant> },
}

impl Mapped {
    /// Looks for a reason to stay awake, and collects the words to sleep on.
    fn make_bed(
        &self,
        wait: &mut Waiting,
        (word, seen): (&AtomicU64, u64),
        watch: &Watch,
        abortable: bool,
    ) -> Result<Bed, Fault> {
        let mapping = &self.file.mapping;
        let now = Instant::now();
        let deadline = self.give_up_at.filter(|_| abortable);
        // This comes first, because other processes may keep changing the word. A waiter that is
        // served at the last moment finds out when it leaves.
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(Bed::Up(Woken::GiveUp));
        }
        if word.load(SeqCst) != seen {
            return Ok(Bed::Up(Woken::Called));
        }
        let looks = Looks::among(self.file.waiting());
        let mut period = looks.after(wait.looked.saturating_duration_since(wait.began));
        let mut words = vec![(self.file.offset_of(word), seen as u32)];
        let mut died = false;
        let watched = if wait.naps { WATCHED_IN_A_NAP } else { MOST_WORDS };
        for seat in watch.0.iter().rev().take(watched).filter(|seat| **seat < self.file.header.seats) {
            let hint = mapping.row(*seat) + row::HINT;
            match asks_to_be_woken(|| mapping.load_half(hint), |old, new| mapping.replace_half(hint, old, new)) {
                Hint::Armed(value) => words.push((hint, value)),
                Hint::Unarmed => period = looks.soon(),
                Hint::Died => died = true,
            }
        }
        let until = if died {
            // The kernel gives the hint before it frees the byte.
            if wait.lag.is_zero() {
                wait.lag = FIRST_LAG;
                return Ok(Bed::Up(Woken::Death));
            }
            let lag = wait.lag;
            wait.lag = (2 * lag).min(LONGEST_LAG);
            now + lag
        } else {
            wait.lag = Duration::ZERO;
            // Other processes may call the waiter before then. The time stays the same.
            if wait.naps { now + NAP } else { wait.looked + period }
        };
        Ok(Bed::Asleep { words, until: deadline.map_or(until, |deadline| deadline.min(until)), deadline })
    }

    /// Finds out what ended a sleep.
    fn gets_up(
        &self,
        wait: &mut Waiting,
        (word, seen): (&AtomicU64, u64),
        (words, until): (&[(usize, u32)], Instant),
        deadline: Option<Instant>,
    ) -> Result<Woken, Fault> {
        let now = Instant::now();
        if word.load(SeqCst) != seen {
            return Ok(Woken::Called);
        }
        if now >= until {
            self.file.check_name()?;
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(Woken::GiveUp);
        }
        let died = |(hint, _): &(usize, u32)| self.file.mapping.load_half(*hint) & DIED != 0;
        Ok(if !wait.lag.is_zero() || words.iter().skip(1).any(died) {
            Woken::Death
        } else if wait.naps {
            Woken::Called // the set of seats to watch must be determined again
        } else if now >= until {
            wait.looked = now;
            Woken::Again
        } else {
            Woken::Called
        })
    }
}

impl Mapped {
    /// Sleeps. Other processes know by now that it may.
    async fn sleep_marked(
        &self,
        wait: &mut Waiting,
        word: (&AtomicU64, u64),
        watch: &Watch,
        abortable: bool,
    ) -> Result<Woken, Fault> {
        let (words, mut until, deadline) = match self.make_bed(wait, word, watch, abortable)? {
            Bed::Up(woken) => return Ok(woken),
            Bed::Asleep { words, until, deadline } => (words, until, deadline),
        };
        if self.as_task {
            self.file.sentinel()?.sleep(words.clone(), until)?.await;
        } else {
            let mapping = &self.file.mapping;
            let address = |(offset, value): &(usize, u32)| (std::ptr::from_ref(mapping.half(*offset)).addr(), *value);
            if !Processes.sleep_any(&words.iter().map(address).collect::<Vec<_>>(), Some(until)) {
                // Without `futex_waitv`, a death wakes no process.
                until = until.min(Instant::now() + Looks::among(self.file.waiting()).soon());
                Processes.sleep(mapping.half(words[0].0), words[0].1, Some(until));
            }
        }
        self.gets_up(wait, word, (&words, until), deadline)
    }
}

impl Sleeps for Mapped {
    type Watch = Watch;

    fn has_hints(&self) -> bool {
        self.file.header.mode == Mode::Reclaim
    }

    fn watch_seat(&self, watch: &mut Watch, seat: usize) {
        watch.0.retain(|watched| *watched != seat);
        // One word is the sleeper's own, and one is the sentinel's. The owners of slots are named
        // last, and their deaths must not be missed.
        if watch.0.len() == MOST_WORDS - 2 {
            watch.0.pop_front();
        }
        watch.0.push_back(seat);
    }

    async fn sleep<T: Word>(
        &self,
        _: Access<()>,
        wait: &mut Waiting,
        v: &Cell<T>,
        seen: T,
        watch: &Watch,
        abortable: bool,
    ) -> Result<Woken, Fault> {
        let word = (&v.word, seen.pack());
        if !self.as_task && wait.is_short(word) {
            return Ok(Woken::Called);
        }
        self.file.spins.set(wait.patience.after_a_sleep());
        // This comes before the second look at the word: a process that changes the word later
        // finds the mark.
        let mark = self.file.offset_of(&v.word) - row::WANT + row::ASLEEP;
        self.file.mapping.store_half(mark, 1);
        let woken = self.sleep_marked(wait, word, watch, abortable).await;
        self.file.mapping.store_half(mark, 0);
        wait.naps = false;
        let is_short = word.0.load(SeqCst) != word.1 && wait.began.elapsed() < NAP;
        self.file.waits_are_short.store(is_short, Relaxed);
        woken
    }

    /// For rows only. Waking a waiter that does not sleep yet makes no system call.
    fn wake<T: Word>(&self, _: Access<()>, v: &Cell<T>) -> impl Future<Output = Result<(), Fault>> {
        let (mapping, row) = (&self.file.mapping, self.file.offset_of(&v.word) - row::WANT);
        if mapping.load_half(row + row::ASLEEP) != 0 {
            Processes.wake_all(mapping.half(row + row::WANT));
        }
        done(())
    }
}

impl File {
    /// The offset of this word in the file. Its lower half has the same offset.
    fn offset_of(&self, word: &AtomicU64) -> usize {
        let first = std::ptr::from_ref(self.mapping.word(self.mapping.layout().bits)).addr();
        std::ptr::from_ref(word).addr() - first + self.mapping.layout().bits
    }

    /// The approximate number of waiters.
    fn waiting(&self) -> u32 {
        let first = self.mapping.layout().bits;
        let words = (0..self.header.seats / 64).map(|i| self.mapping.word(first + 8 * i));
        words.map(|word| word.load(Relaxed).count_ones()).sum()
    }

    /// Whether the file still has its name and its length.
    pub(super) fn check_name(&self) -> Result<(), Fault> {
        let stat = file::look(self.bytes.descriptor().get().ok_or(Error::Forked)?)?;
        if stat.st_nlink == 0 {
            self.mapping.is_deleted_now();
            return Err(Box::new(Error::Deleted(self.path.clone())));
        }
        if stat.st_size != self.mapping.layout().length as i64 {
            self.mapping.is_damaged_now();
            return Err(Box::new(Error::Corrupt(self.path.clone())));
        }
        Ok(())
    }
}
