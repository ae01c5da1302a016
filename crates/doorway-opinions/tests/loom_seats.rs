//! Slots between processes under loom: threads play the processes, and a mutex plays the kernel.
//!
//! Loom sees what the explorer cannot: orderings weaker than `SeqCst`, and whether the actions of a
//! holder inside *happen before* those of the next holder of the slot, even after a death. The
//! words are encoded in the two ways that raise no false alarms (`loom.rs`). Each process that is
//! inside touches plain memory.
//!
//! # What plays the kernel
//! The bytes of seats and the sleepers are behind one mutex, just as the kernel's lists of locks
//! and of sleepers are behind locks of its own. A process that dies stops before a statement. Its
//! byte then becomes free, and the processes that watch its seat are woken. The actions of the dead
//! process therefore happen before another process finds it dead. The kernel must guarantee that:
//! without it, [`Fault::DisorderlyDeath`] is found. No process looks again by itself, so a lost
//! wake-up is a deadlock.
//!
//! # What loom does not see
//! Loom treats `SeqCst` accesses as acquire and release; its fences are exact. The text as it
//! ships, with `SeqCst` loads and no fences, therefore cannot be run here: it gets false alarms. A
//! mutex that two processes have both held orders more than the text does. Runs in which no process
//! sleeps show what the text does by itself. Loom knows no hints that lie, and no second looks.
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
//! All of them have one slot. Without a bound on preemptions, loom had not finished the first, the
//! second, the fourth and the fifth after 30 seconds.
//!
//! Deaths at each of 42 statements, including deaths of a process that cleans up: 26,554
//! executions, with at most 3 preemptions of two processes, and 1 or 2 of three. With 4 and 2 there
//! were 159,062, and nothing was found.

mod seats_kit;
mod second_opinion;

use doorway::native::now;
use doorway_core::k_assignment::seats::{Attempt, Grant, News, Seats as Text};
use doorway_core::k_exclusion::Abortable;
use doorway_core::memory::{Label, Pid, Process, Site};
use loom::cell::UnsafeCell;
use seats_kit::{Fate, Fault, Kernel, Loom, Stop};
use second_opinion::{Encoding, complaint, words_of};
use std::cell::Cell as Local;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

words_of!(loom);

const SOUND: [(&str, Encoding); 2] =
    [("read-modify-writes", Encoding::READ_MODIFY_WRITES), ("loads, stores and fences", Encoding::FENCED)];

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

/// The processes that meet in a race.
#[derive(Clone, Debug)]
struct Race {
    /// One for each seat. The first runs on loom's main thread, which leaves one thread fewer to
    /// interleave.
    parts: Vec<Part>,
    /// Whether the first process is inside when the others begin.
    one_inside: bool,
    /// The bound on preemptions in an execution, if searching all executions takes too long.
    preemptions: Option<usize>,
    /// How often newcomers may pass the first waiter in line.
    bypass: u32,
}

/// Everything that the processes share.
struct Room {
    text: Text<Loom>,
    kernel: Rc<Kernel>,
    /// Plain memory for each slot: loom complains about two accesses unless one happens before the
    /// other.
    inside: Vec<UnsafeCell<()>>,
    /// Whether a process is inside, or died there.
    is_inside: Vec<Local<bool>>,
    /// The number of deaths.
    deaths: Arc<AtomicUsize>,
    encoding: Encoding,
    fault: Option<Fault>,
}

impl Room {
    fn new(race: &Race, encoding: Encoding, fault: Option<Fault>, deaths: &Arc<AtomicUsize>) -> Self {
        let seats = race.parts.len();
        let kernel = Kernel::new(seats);
        let memory = Loom::new(encoding, fault, &kernel, Fate::default());
        let text = Text::new(&Site::new(&memory), seats, 1).with_bypass(race.bypass);
        let (inside, is_inside) = (vec![UnsafeCell::new(())], vec![Local::new(false)]);
        Self { text, kernel, inside, is_inside, deaths: Arc::clone(deaths), encoding, fault }
    }

    fn process(&self, seat: usize, fate: Fate) -> Process<Loom> {
        Process::new(Pid::new(seat), Loom::new(self.encoding, self.fault, &self.kernel, fate))
    }

    /// Enters, unless the process gives up.
    fn enters(&self, p: &Process<Loom>, gives_up: bool) -> Result<Option<Grant>, Stop> {
        let mut attempt = Attempt::default();
        let grant = match now(self.text.enter(p, 0, &mut attempt, gives_up))? {
            Some(grant) => Some(grant),
            None => now(self.text.leave(p, attempt))?,
        };
        if let Some(grant) = grant {
            self.inside[grant.slot].with_mut(|_| ());
            assert!(
                !self.is_inside[grant.slot].replace(true) || grant.news == News::Died,
                "no process was told of a death"
            );
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
                self.inside[grant.slot].with_mut(|_| ()); // also for a process that was inside from the beginning
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

/// Runs a race in every way that loom distinguishes within the bound. Returns the number of
/// executions and the number of processes that died.
fn run(race: &Race, encoding: Encoding, fault: Option<Fault>) -> (usize, usize) {
    let (executions, deaths) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut loom = loom::model::Builder::new();
    (loom.max_permutations, loom.max_duration, loom.preemption_bound) = (None, None, race.preemptions);
    (loom.checkpoint_file, loom.max_branches) = (None, 3_000);
    let (counted, died, race) = (Arc::clone(&executions), Arc::clone(&deaths), race.clone());
    loom.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let n = race.parts.len();
        let room = Rc::new(Room::new(&race, encoding, fault, &died));
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
        // Nothing is lost: a process that comes after all others have gone gets in.
        for seat in 0..n {
            room.kernel.ends(seat);
        }
        let last = room.process(0, Fate::default());
        assert_eq!(now(room.text.register(&last)), Ok(true));
        now(room.text.recover(&last)).unwrap();
        let grant = now(room.text.try_enter(&last, 0)).unwrap().expect("the slot was not lost");
        room.inside[0].with_mut(|_| ());
        assert!(!room.is_inside[0].get() || grant.news == News::Died, "no process was told of a death");
    });
    (executions.load(Ordering::Relaxed), deaths.load(Ordering::Relaxed))
}

impl Race {
    fn new(preemptions: usize, parts: &[Part]) -> Self {
        Self { parts: parts.to_vec(), one_inside: true, preemptions: Some(preemptions), bypass: 0 }
    }

    fn outside(self) -> Self {
        Self { one_inside: false, ..self }
    }

    /// Every second owner of the slot hands it over, and the others call the first waiter in line.
    fn passing(self) -> Self {
        Self { bypass: 2, ..self }
    }
}

fn races() -> [(&'static str, Race); 7] {
    use Part as P;
    [
        ("two from outside", Race::new(4, &[P::ONCE, P::ONCE]).outside()),
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

/// Newcomers may pass. The owner that frees its slot calls a waiter, which looks for the slot. A
/// waiter that gives up passes the call on.
#[test]
fn nobody_sleeps_through_a_call_in_any_execution() {
    use Part as P;
    let races = [
        ("two from outside", Race::new(4, &[P::ONCE, P::ONCE]).outside()),
        ("one inside, one comes", Race::new(4, &[P::ONCE, P::ONCE])),
        ("the first comes again", Race::new(3, &[P::TWICE, P::ONCE])),
        ("one gives up, one waits", Race::new(2, &[P::ONCE, P::GIVES_UP, P::ONCE])),
        ("the holder dies before it calls", Race::new(3, &[P::dies_at(38), P::ONCE])),
        ("the holder dies before it wakes", Race::new(3, &[P::dies_at(39), P::ONCE])),
        ("the waiter dies that is called", Race::new(2, &[P::ONCE, P::dies_at(41), P::ONCE])),
    ];
    for (name, race) in races {
        for (how, encoding) in SOUND {
            let (executions, _) = run(&race.clone().passing(), encoding, None);
            assert!(executions > 1, "{name}, {how}: nothing was interleaved");
            println!("passing, {name}, {how}: {executions} executions");
        }
    }
}

/// The statements at which the holder can die while another process comes: all statements of its
/// exit section that it reaches.
const WHILE_IT_LEAVES: &[Label] = &[16, 17, 171, 18, 19, 20, 21, 22, 23, 231, 232, 24, 241, 242];
/// The statements at which a process can die that finds a holder, waits, is let in and leaves.
const WHILE_IT_WAITS: &[Label] =
    &[1, 2, 3, 4, 5, 6, 7, 71, 72, 9, 91, 92, 10, 12, 13, 16, 17, 171, 18, 19, 20, 21, 22, 23];
/// Statements that take more preemptions to reach.
const WHILE_IT_CONFIRMS: &[Label] = &[101];
/// Further statements at which a process can die that finds the holder dead.
const WHILE_IT_RECOVERS: &[Label] = &[8, 25, 251, 26, 261, 27, 28, 29, 291];

#[test]
fn after_a_death_anywhere_the_others_go_on_and_what_the_dead_did_happens_before() {
    let (mut all, mut unreached) = (0, Vec::new());
    let mut die = |labels: &[Label], preemptions: usize, parts: &dyn Fn(Part) -> Vec<Part>, others: usize| {
        for label in labels {
            for (how, encoding) in SOUND {
                let race = Race::new(preemptions, &parts(Part::dies_at(*label)));
                let (executions, deaths) = run(&race, encoding, None);
                if deaths <= others * executions {
                    unreached.push((how, parts(Part::ONCE).len(), *label));
                }
                all += executions;
            }
        }
    };
    die(WHILE_IT_LEAVES, 3, &|dies| vec![dies, Part::ONCE], 0);
    for labels in [WHILE_IT_WAITS, WHILE_IT_CONFIRMS] {
        die(labels, 3, &|dies| vec![Part::ONCE, dies], 0);
    }
    for (labels, preemptions) in [(WHILE_IT_WAITS, 1), (WHILE_IT_CONFIRMS, 2), (WHILE_IT_RECOVERS, 2)] {
        die(labels, preemptions, &|dies| vec![Part::dies_at(17), dies, Part::ONCE], 1);
    }
    assert_eq!(unreached, [], "no process died there");
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
    let passes = Race::new(4, &[Part::ONCE, Part::ONCE]).passing();
    let [(_, swaps), (_, fenced)] = SOUND;
    for (fault, race, encoding, harm) in [
        // The next holder does not see what a holder did.
        (Fault::Relaxed(&[22]), &once, swaps, TWO_INSIDE),
        (Fault::Relaxed(&[16, 17, 171, 18, 19, 20]), &comes, swaps, TWO_INSIDE),
        // A waiter sees its offer but not the slot that is offered, and takes the offer for a void
        // one.
        (Fault::Relaxed(&[7, 9, 10, 101]), &comes, fenced, DEADLOCK),
        // One process frees a slot and does not see the other's bit; the other sleeps and does not
        // see the free slot.
        (Fault::AcquireRelease(&[23]), &once, fenced, DEADLOCK),
        (Fault::AcquireRelease(&[7, 71]), &keeps, fenced, DEADLOCK),
        (Fault::NoSecondLook, &once, swaps, DEADLOCK),
        (Fault::NoWake, &comes, fenced, DEADLOCK),
        (Fault::FreedBeforeConfirmed, &again, swaps, TWO_INSIDE),
        // Newcomers may pass: the waiter is called but not woken, or the holder does not check for
        // waiters.
        (Fault::NoWake, &passes, fenced, DEADLOCK),
        (Fault::NoSecondLook, &passes, swaps, DEADLOCK),
        (Fault::AcquireRelease(&[23]), &passes, fenced, DEADLOCK),
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

/// Loom treats them as acquire and release. `SeqCst` forbids the outcome in which both processes
/// read stale values.
#[test]
fn seq_cst_without_fences_raises_a_false_alarm() {
    let got = complaint(|| {
        run(&race("the same, in the mode that keeps slots"), Encoding::SEQ_CST, None);
    });
    assert!(got.as_ref().is_some_and(|text| text.starts_with(DEADLOCK)), "{got:?}");
}
