//! Slots between processes under loom: threads play the processes, a mutex plays the kernel.
//!
//! Loom sees what the explorer cannot: orderings weaker than `SeqCst`, and whether what a holder did inside *happens
//! before* what the next holder of the slot does there, also after a death. The words are encoded in the two ways that raise
//! no false alarms (`loom.rs`); each process that is inside touches plain memory.
//!
//! # What plays the kernel
//! The bytes of seats and the sleepers are behind one mutex, as the kernel's lists of locks and of sleepers are behind locks
//! of its own. A process that dies stops before a statement; then its byte becomes free, and those that watch its seat are
//! woken. So what the dead one did happens before somebody finds it dead. That is what the kernel must give: without it,
//! [`Fault::DisorderlyDeath`] is found. Nobody looks again by itself, so a lost wake-up is a deadlock.
//!
//! # What loom does not see
//! Loom takes `SeqCst` accesses for acquire and release; fences are what they should be. So the text as it ships, with `SeqCst`
//! loads and no fences, cannot be run here: it gets false alarms. A mutex that both have had orders more than the text does;
//! runs in which nobody sleeps show what the text does by itself. Loom knows no hints that lie, and no second looks.
//!
//! | race                                     | preemptions | read-modify-writes | loads, stores and fences |
//! |------------------------------------------|-------------|--------------------|--------------------------|
//! | two from outside                         | 4           | 3,927              | 1,195                    |
//! | one inside, one comes                    | 5           | 10,176             | 1,954                    |
//! | the same, in the mode that keeps slots   | 5           | 669                | 200                      |
//! | the first comes again                    | 3           | 1,957              | 700                      |
//! | the second gives up                      | 5           | 7,991              | 2,567                    |
//! | one gives up, one waits                  | 2           | 511                | 476                      |
//! | two wait                                 | 2           | 631                | 277                      |
//!
//! One slot in all of them. Without a bound of preemptions loom was not done with any of them after 30 seconds; a process that
//! dies with nobody else in between has five executions in all. Deaths at each of 42 statements, with two and with three
//! processes, a process that cleans up among them: 159,062 executions with at most 4 and 2 preemptions.

mod second_opinion;

use doorway::native::now;
use doorway_core::k_assignment::seats::{Attempt, Grant, Seats as Text};
use doorway_core::k_exclusion::Abortable;
use doorway_core::memory::{
    Access, Additive, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr, Label, Memory, Name, Next, Pid, Process,
    ReadWrite, Seats, Site, Sleeps, Woken, Word,
};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64;
use loom::sync::{Condvar, Mutex, MutexGuard};
use second_opinion::{Encoding, Read, ToolMemory, Write, complaint, words_of};
use std::cell::Cell as Local;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

words_of!(loom);

type Words = ToolMemory<AtomicU64>;

const SOUND: [(&str, Encoding); 2] =
    [("read-modify-writes", Encoding::READ_MODIFY_WRITES), ("loads, stores and fences", Encoding::FENCED)];

/// No orderings at all: read-modify-writes stay what they are, and loads and stores too.
fn relaxed(encoding: Encoding) -> Encoding {
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

/// What is wrong on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// These statements order nothing.
    Relaxed(&'static [Label]),
    /// These statements acquire and release, and are not sequentially consistent.
    AcquireRelease(&'static [Label]),
    /// The slot is freed before the waiter that it is offered to has it, and the waiter takes the offer for the slot.
    FreedBeforeConfirmed,
    /// The byte of a dead process is seen to be free, and what the process did is not.
    DisorderlyDeath,
    /// Nobody is woken.
    NoWake,
    /// Nobody looks whether somebody waits after a slot was freed.
    NoSecondLook,
}

/// Why a process stops.
#[derive(PartialEq, Eq, Debug)]
enum Stop {
    Died,
    Damaged,
}

/// Locks and sleepers.
#[derive(Debug)]
struct Kernel {
    state: Mutex<State>,
    beds: Vec<Condvar>,
    /// The bytes once more, for a kernel that orders nothing.
    disorderly: Vec<std::sync::atomic::AtomicBool>,
}

#[derive(Debug)]
struct State {
    /// Whether the byte of each seat is locked.
    locked: Vec<bool>,
    /// The word that the owner of each seat sleeps on, and whether it is still asleep.
    asleep: Vec<Option<usize>>,
}

impl Kernel {
    fn new(seats: usize) -> Rc<Self> {
        Rc::new(Self {
            state: Mutex::new(State { locked: vec![false; seats], asleep: vec![None; seats] }),
            beds: (0..seats).map(|_| Condvar::new()).collect(),
            disorderly: (0..seats).map(|_| false.into()).collect(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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

    /// The process with this seat has ended. Sleepers have nobody else to watch, so all are woken.
    fn ends(&self, seat: usize) {
        self.disorderly[seat].store(false, Ordering::Relaxed);
        let mut state = self.lock();
        state.locked[seat] = false;
        self.wake(&mut state, |_| true);
    }
}

/// What a process is, beside its seat.
#[derive(Clone, Copy, Default, Debug)]
struct Fate {
    /// It dies before this statement.
    dies_at: Option<Label>,
    /// Whether it is asked to give up as soon as it would sleep.
    gives_up: bool,
    /// Whether the memory never says that somebody is dead, and no death wakes anybody.
    tolerates: bool,
}

/// Loom's words, and a kernel.
struct Loom {
    words: Words,
    faulty: Words,
    fault: Option<Fault>,
    kernel: Rc<Kernel>,
    fate: Fate,
    has_died: Local<bool>,
}

impl Loom {
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

/// What an access of the words gives: it cannot fail.
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
            10 if self.fault == Some(Fault::FreedBeforeConfirmed) && value.pack() & 1 == 0 => {
                T::unpack(((value.pack() & !0x3fff) + (1 << 14)) | (at.pid.index() as u64) << 2 | 1)
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
    async fn fetch_or(&self, at: Access<()>, v: &Self::Cell<u64>, mask: u64) -> Result<u64, Stop> {
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
        let new = if frees { T::unpack(old.pack() & !0x3ffd) } else { new };
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
        let mut state = self.kernel.lock();
        if watch.iter().any(|seat| !state.locked[*seat]) {
            return Ok(Woken::Death);
        }
        // Under the lock, as the kernel does: a process that wakes sleepers after its write finds this one asleep, or its
        // write is seen here.
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

/// One process of a race.
#[derive(Clone, Copy, Debug)]
struct Part {
    passages: usize,
    fate: Fate,
}

impl Part {
    const ONCE: Self = Self { passages: 1, fate: Fate { dies_at: None, gives_up: false, tolerates: false } };
    const TWICE: Self = Self { passages: 2, ..Self::ONCE };
    const GIVES_UP: Self = Self { fate: Fate { dies_at: None, gives_up: true, tolerates: false }, ..Self::ONCE };

    const TOLERATES: Self = Self { fate: Fate { dies_at: None, gives_up: false, tolerates: true }, ..Self::ONCE };

    const fn dies_at(label: Label) -> Self {
        Self { fate: Fate { dies_at: Some(label), gives_up: false, tolerates: false }, ..Self::ONCE }
    }
}

/// Who meets whom.
#[derive(Clone, Debug)]
struct Race {
    /// One for each seat. The first runs on loom's main thread: one thread fewer to interleave.
    parts: Vec<Part>,
    /// Whether the first one is inside when the others begin.
    one_inside: bool,
    /// The most preemptions in an execution, where all would be too many.
    preemptions: Option<usize>,
}

/// All that processes share.
struct Room {
    text: Text<Loom>,
    kernel: Rc<Kernel>,
    /// Plain memory, for each slot: loom complains of two accesses unless one happens before the other.
    inside: Vec<UnsafeCell<()>>,
    /// Whether somebody is inside, or died there.
    is_inside: Vec<Local<bool>>,
    /// How many have died.
    deaths: Arc<AtomicUsize>,
    encoding: Encoding,
    fault: Option<Fault>,
}

impl Room {
    fn memory(encoding: Encoding, fault: Option<Fault>, kernel: &Rc<Kernel>, fate: Fate) -> Loom {
        Loom {
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

    fn new(seats: usize, k: usize, encoding: Encoding, fault: Option<Fault>, deaths: &Arc<AtomicUsize>) -> Self {
        let kernel = Kernel::new(seats);
        let text = Text::new(&Site::new(&Self::memory(encoding, fault, &kernel, Fate::default())), seats, k);
        let inside = (0..k).map(|_| UnsafeCell::new(())).collect();
        let is_inside = (0..k).map(|_| Local::new(false)).collect();
        Self { text, kernel, inside, is_inside, deaths: Arc::clone(deaths), encoding, fault }
    }

    fn process(&self, seat: usize, fate: Fate) -> Process<Loom> {
        Process::new(Pid::new(seat), Self::memory(self.encoding, self.fault, &self.kernel, fate))
    }

    /// Goes in, unless it gives up.
    fn enters(&self, p: &Process<Loom>, gives_up: bool) -> Result<Option<Grant>, Stop> {
        let mut attempt = Attempt::default();
        let grant = match now(self.text.enter(p, 0, &mut attempt, gives_up))? {
            Some(grant) => Some(grant),
            None => now(self.text.leave(p, attempt))?,
        };
        if let Some(grant) = grant {
            self.inside[grant.slot].with_mut(|_| ());
            assert!(!self.is_inside[grant.slot].replace(true) || grant.died, "nobody was told of a death");
        }
        Ok(grant)
    }

    fn passes(&self, p: &Process<Loom>, part: Part, held: Option<Grant>) -> Result<(), Stop> {
        let mut held = held;
        for _ in 0..part.passages {
            let grant = match held.take() {
                Some(grant) => Some(grant),
                None => self.enters(p, part.fate.gives_up)?,
            };
            if let Some(grant) = grant {
                self.inside[grant.slot].with_mut(|_| ()); // also one that was inside from the beginning
                self.is_inside[grant.slot].set(false);
                now(self.text.exit(p, grant))?;
            }
        }
        Ok(())
    }

    /// The life of one process that has its seat.
    fn lives(&self, p: &Process<Loom>, part: Part, held: Option<Grant>) {
        match self.passes(p, part, held) {
            Ok(()) => {}
            Err(stop) => {
                assert_eq!(stop, Stop::Died);
                self.deaths.fetch_add(1, Ordering::Relaxed);
                self.kernel.ends(p.pid().index());
            }
        }
    }
}

/// Runs a race in every way that loom distinguishes within the bound: how many there are, and how many processes died.
fn run(race: &Race, encoding: Encoding, fault: Option<Fault>) -> (usize, usize) {
    let (executions, deaths) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut loom = loom::model::Builder::new();
    (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, race.preemptions);
    (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
    let (counted, died, race) = (Arc::clone(&executions), Arc::clone(&deaths), race.clone());
    loom.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let n = race.parts.len();
        let room = Rc::new(Room::new(n, 1, encoding, fault, &died));
        let mut processes: Vec<_> = (0..n).map(|seat| room.process(seat, race.parts[seat].fate)).collect();
        for p in &processes {
            room.kernel.lock().locked[p.pid().index()] = true;
            room.kernel.disorderly[p.pid().index()].store(true, Ordering::Relaxed);
        }
        let first = processes.remove(0);
        let held = if race.one_inside { room.enters(&first, false).expect("it dies later") } else { None };
        let others: Vec<_> = processes
            .into_iter()
            .map(|p| {
                let (room, part) = (Rc::clone(&room), race.parts[p.pid().index()]);
                loom::thread::spawn(move || room.lives(&p, part, None))
            })
            .collect();
        room.lives(&first, race.parts[0], held);
        for other in others {
            other.join().unwrap();
        }
        // Nothing is lost: a process that comes when all are gone gets in.
        for seat in 0..n {
            room.kernel.ends(seat);
        }
        let last = room.process(0, Fate::default());
        assert_eq!(now(room.text.register(&last)), Ok(true));
        now(room.text.recover(&last)).unwrap();
        let grant = now(room.text.try_enter(&last, 0)).unwrap().expect("the slot was not lost");
        room.inside[0].with_mut(|_| ());
        assert!(!room.is_inside[0].get() || grant.died, "nobody was told of a death");
    });
    (executions.load(Ordering::Relaxed), deaths.load(Ordering::Relaxed))
}

impl Race {
    fn new(preemptions: usize, parts: &[Part]) -> Self {
        Self { parts: parts.to_vec(), one_inside: true, preemptions: Some(preemptions) }
    }

    fn from_outside(self) -> Self {
        Self { one_inside: false, ..self }
    }
}

fn races() -> [(&'static str, Race); 7] {
    use Part as P;
    [
        ("two from outside", Race::new(4, &[P::ONCE, P::ONCE]).from_outside()),
        ("one inside, one comes", Race::new(5, &[P::ONCE, P::ONCE])),
        ("the same, in the mode that keeps slots", Race::new(5, &[P::TOLERATES, P::TOLERATES])),
        ("the first comes again", Race::new(3, &[P::TWICE, P::ONCE])),
        ("the second gives up", Race::new(5, &[P::ONCE, P::GIVES_UP])),
        ("one gives up, one waits", Race::new(2, &[P::ONCE, P::GIVES_UP, P::ONCE])),
        ("two wait", Race::new(2, &[P::ONCE, P::ONCE, P::ONCE])),
    ]
}

fn race(name: &str) -> Race {
    races().into_iter().find(|(named, _)| *named == name).expect("there is such a race").1
}

#[test]
fn nobody_is_inside_too_early_and_nobody_sleeps_for_ever_in_any_execution() {
    for (name, race) in races() {
        for (how, encoding) in SOUND {
            let (executions, _) = run(&race, encoding, None);
            assert!(executions > 1, "{name}, {how}: nothing was interleaved");
            println!("{name}, {how}: {executions} executions");
        }
    }
}

/// Where the holder can die while another comes: all statements of its exit section that it reaches.
const WHILE_IT_LEAVES: &[Label] = &[16, 17, 171, 18, 19, 20, 21, 211, 212, 22, 23, 231, 232, 24, 241, 242];
/// Where a process can die that finds a holder, waits, is let in and leaves.
const WHILE_IT_WAITS: &[Label] = &[
    1, 2, 3, 4, 5, 6, 7, 71, 72, 8, 9, 91, 92, 93, 10, 101, 12, 13, 16, 17, 171, 18, 19, 20, 21, 211, 22, 23, 25, 251,
    26, 261, 29,
];
/// Where a process can die besides that finds the holder dead.
const WHILE_IT_RECOVERS: &[Label] = &[27, 28, 291];

#[test]
fn after_a_death_anywhere_the_others_go_on_and_what_the_dead_did_happens_before() {
    let mut all = 0;
    let mut die = |labels: &[Label], preemptions: usize, parts: &dyn Fn(Part) -> Vec<Part>, others: usize| {
        for label in labels {
            for (how, encoding) in SOUND {
                let race = Race::new(preemptions, &parts(Part::dies_at(*label)));
                let (executions, deaths) = run(&race, encoding, None);
                assert!(deaths > others * executions, "{how}: nobody died at {label}");
                all += executions;
            }
        }
    };
    die(WHILE_IT_LEAVES, 4, &|dies| vec![dies, Part::ONCE], 0);
    die(WHILE_IT_WAITS, 4, &|dies| vec![Part::ONCE, dies], 0);
    for labels in [WHILE_IT_WAITS, WHILE_IT_RECOVERS] {
        die(labels, 2, &|dies| vec![Part::dies_at(17), dies, Part::ONCE], 1);
    }
    println!("deaths: {all} executions");
}

const TWO_INSIDE: &str = "Causality violation: Concurrent write accesses";
const DEADLOCK: &str = "deadlock";

#[test]
fn every_fault_is_found() {
    let once = race("two from outside");
    let comes = race("one inside, one comes");
    let again = race("the first comes again");
    let keeps = race("the same, in the mode that keeps slots");
    let dies = Race::new(3, &[Part::dies_at(17), Part::ONCE]);
    let [(_, swaps), (_, fenced)] = SOUND;
    for (fault, race, encoding, harm) in [
        // What a holder did is not seen by the next one.
        (Fault::Relaxed(&[22]), &once, swaps, TWO_INSIDE),
        (Fault::Relaxed(&[16, 17, 171, 18, 19, 20]), &comes, swaps, TWO_INSIDE),
        // A waiter sees its offer and not the slot that is offered: it takes the offer for a void one.
        (Fault::Relaxed(&[7, 9, 10, 101]), &comes, fenced, DEADLOCK),
        // One frees and does not see the other's bit; the other sleeps and does not see the free slot.
        (Fault::AcquireRelease(&[23]), &once, fenced, DEADLOCK),
        (Fault::AcquireRelease(&[7, 71]), &keeps, fenced, DEADLOCK),
        (Fault::NoSecondLook, &once, swaps, DEADLOCK),
        (Fault::NoWake, &comes, fenced, DEADLOCK),
        (Fault::FreedBeforeConfirmed, &again, swaps, TWO_INSIDE),
        (Fault::DisorderlyDeath, &dies, swaps, TWO_INSIDE),
    ] {
        let got = complaint(|| {
            run(race, encoding, Some(fault));
        });
        let is_harm = got.as_ref().is_some_and(|text| text.starts_with(harm));
        println!("{fault:?}: {}", got.clone().unwrap_or_default().lines().next().unwrap_or_default());
        assert!(is_harm, "{fault:?}: {got:?}");
    }
}

/// Loom takes them for acquire and release: the outcome that both read stale values is one that `SeqCst` forbids.
#[test]
fn seq_cst_without_fences_raises_a_false_alarm() {
    let got = complaint(|| {
        run(&race("the same, in the mode that keeps slots"), Encoding::SEQ_CST, None);
    });
    assert!(got.as_ref().is_some_and(|text| text.starts_with(DEADLOCK)), "{got:?}");
}
