//! Machines on which an access takes time: how long would a passage take on the papers' machines?
//!
//! The shipped texts run as on the other simulated machines, but a clock decides which process
//! steps next. Each process makes its accesses one after the other. Each access takes as long as
//! the [machine](Machine) says, and longer if its path is occupied. Waiting is what the text says:
//! reading again.
//!
//! ```
//! use doorway_check::timed::{BUS, Run, TC2000};
//! use doorway_check::{sim::Rules, subject};
//!
//! let time = |id, machine| {
//!     let subject = subject::find(id).unwrap();
//!     let sizes = subject.sizes(Some(16), None).unwrap();
//!     let world = subject.world(sizes, Rules { sparse: true, ..Rules::default() }).unwrap();
//!     Run::of_passages(2_000).on(world, machine).unwrap().per_passage
//! };
//! // Its waiters spin in their caches; without caches, they spin across the network.
//! assert!(time("anderson-array", BUS) < time("mcs", BUS) * 1.5);
//! assert!(time("anderson-array", TC2000) > time("mcs", TC2000) * 1.5);
//! ```
//!
//! Where a text leaves a choice [open](doorway_core::memory::Choose), a process takes the
//! possibilities in turn, another one in each passage.
//!
//! # What it leaves out
//! Instructions other than accesses take no time. A network has contention only at its ends, a bus
//! has no protocol but "one at a time", caches are unlimited, and each variable has a line of its
//! own. A process that spins in its own memory or cache is not simulated turn by turn: it goes on
//! when what it looked at changes. The *order* of algorithms that comes out here also held on the
//! papers' machines; the microseconds are only as good as the few input figures.

mod machine;

pub use machine::{BUS, Interconnect, Machine, TC2000};

use crate::sim::{Crowd, Moved, Op, Phase, TextError, World};
use doorway_core::memory::Pid;
use doorway_core::registry::CostModel;
use machine::{Place, Traffic};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds.
pub type Nanos = u64;

/// What processes do inside and between passages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// How often a process that is inside reads and writes a shared variable.
    pub references: u32,
    /// How much longer it stays inside.
    pub stays: Nanos,
    /// How long a process is away after its odd and after its even passages: the average, where the
    /// actual time is anything up to twice as long.
    pub away: [Nanos; 2],
}

impl Work {
    /// The papers' small critical section: read a shared counter, then increment it. No process
    /// stays away.
    pub const SMALL: Self = Self { references: 3, stays: 0, away: [0, 0] };
}

/// A run: all processes make passages until there are enough.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Passages of all processes together.
    pub passages: u64,
    /// What they do inside and between passages.
    pub work: Work,
    /// Two clocks never tick alike: each access takes up to this many per cent more or less.
    pub jitter_percent: u8,
    /// The seed of these variations.
    pub seed: u64,
}

/// What one passage takes beyond [`Work`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extra {
    /// How much longer the process stays inside.
    pub stays: Nanos,
    /// How much longer it is away afterwards.
    pub away: Nanos,
}

/// The extra time of a passage, given the process and the number of its earlier passages.
pub type Extras<'a> = &'a mut dyn FnMut(usize, u64) -> Extra;

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Microseconds from one passage to the next, of any process.
    pub per_passage: f64,
    /// Passages of each process.
    pub passages: Vec<u64>,
    /// The share of passages that followed one of another process.
    pub handed_over: f64,
    /// References per passage that left the process's own memory or cache.
    pub far_references: f64,
}

impl Outcome {
    /// The smallest number of passages of a process, divided by the largest.
    #[must_use]
    pub fn share(&self) -> f64 {
        let (least, most) = (self.passages.iter().min(), self.passages.iter().max());
        *least.unwrap_or(&0) as f64 / (*most.unwrap_or(&1)).max(1) as f64
    }
}

impl Run {
    /// With the papers' small critical section.
    #[must_use]
    pub const fn of_passages(passages: u64) -> Self {
        Self { passages, work: Work::SMALL, jitter_percent: 5, seed: 1 }
    }

    /// Runs the processes of a world. The first tenth of the passages is a warm-up, and does not
    /// count.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run.
    pub fn on(&self, world: World, machine: Machine) -> Result<Outcome, TextError> {
        self.on_with(world, machine, &mut |_, _| Extra::default())
    }

    /// The same, where the time of a passage depends on what other passages did: `extras` is called
    /// whenever a process has entered.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run.
    pub fn on_with(&self, world: World, machine: Machine, extras: Extras<'_>) -> Result<Outcome, TextError> {
        let n = world.processes();
        let crowd = Crowd::new(world, 0, CostModel::Dsm)?;
        let mut clockwork = Clockwork {
            extras,
            extra: vec![Extra::default(); n],
            traffic: Traffic::new(machine, n),
            crowd,
            work: self.work,
            due: BinaryHeap::new(),
            spinners: vec![Spinner::default(); n],
            section_left: vec![0; n],
            passages: vec![0; n],
            chance: fastrand::Rng::with_seed(self.seed),
            jitter: u64::from(self.jitter_percent.min(50)),
            counts: Counts { passages: vec![0; n], ..Counts::default() },
        };
        clockwork.run(self.passages / 10)?;
        let before = std::mem::replace(&mut clockwork.counts, Counts { passages: vec![0; n], ..Counts::default() });
        clockwork.counts.last_inside = before.last_inside;
        let began = before.now;
        clockwork.run(self.passages)?;
        let counts = clockwork.counts;
        let passages = counts.passages.iter().sum::<u64>().max(1) as f64;
        Ok(Outcome {
            per_passage: (counts.now - began) as f64 / 1000.0 / passages,
            passages: counts.passages,
            handed_over: counts.handed_over as f64 / passages,
            far_references: counts.far as f64 / passages,
        })
    }
}

#[derive(Clone, Default)]
struct Counts {
    now: Nanos,
    passages: Vec<u64>,
    handed_over: u64,
    far: u64,
    last_inside: Option<usize>,
}

/// A process that may be spinning.
#[derive(Clone, Default)]
struct Spinner {
    /// Whether its current turn has left its own memory or cache.
    far: bool,
    /// Whether it spins locally, and is looked at again only when something changes.
    at_rest: bool,
}

struct Clockwork<'a> {
    crowd: Crowd,
    extras: Extras<'a>,
    /// For the current passage of each process.
    extra: Vec<Extra>,
    traffic: Traffic,
    work: Work,
    /// When each process that is not at rest reaches the target of its next access. The number in
    /// the middle keeps first come, first served.
    due: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    spinners: Vec<Spinner>,
    section_left: Vec<u32>,
    /// Passages of each process, including the warm-up.
    passages: Vec<u64>,
    chance: fastrand::Rng,
    jitter: u64,
    counts: Counts,
}

impl Clockwork<'_> {
    fn run(&mut self, passages: u64) -> Result<(), TextError> {
        if self.due.is_empty() {
            for p in 0..self.crowd.processes() {
                let late = self.chance.u64(0..1000); // no two start on the same tick
                self.send(p, late);
            }
        }
        let mut done = 0;
        while done < passages {
            // A process at rest waits for one that is not. If there is none, the text has
            // deadlocked.
            let Some(Reverse((now, _, p))) = self.due.pop() else { return Err(TextError::Lost(Pid::new(0))) };
            self.counts.now = now;
            done += u64::from(self.arrive(p, now)?);
        }
        Ok(())
    }

    /// The target of a process's next access: the shared data while it is inside, otherwise what
    /// its text accesses.
    fn place(&self, p: usize) -> (Place, bool) {
        if self.section_left[p] > 0 {
            // Read, read, write; read, write; write.
            return (Place::Data, self.section_left[p] == 1);
        }
        let op = self.crowd.next(p);
        let place = op.var().map_or(Place::Nowhere, |v| Place::of(v, self.crowd.layout().var(v)));
        (place, !matches!(op, Op::Read(_)))
    }

    /// A process may make its next access at this time.
    fn send(&mut self, p: usize, at: Nanos) {
        let (place, _) = self.place(p);
        let arrives = at + self.traffic.way(p, place);
        self.due.push(Reverse((arrives, self.traffic.next_number(), p)));
    }

    /// Makes the access. Returns whether it ended a passage.
    fn arrive(&mut self, p: usize, now: Nanos) -> Result<bool, TextError> {
        let (place, writes) = self.place(p);
        let served = self.traffic.serve(p, place, writes, now);
        self.counts.far += u64::from(served.far);
        let took = served.until - now;
        let spread = took * self.jitter / 100;
        let until = if spread == 0 { served.until } else { served.until - spread + self.chance.u64(0..=2 * spread) };
        if self.section_left[p] > 0 {
            self.section_left[p] -= 1;
            let stays = if self.section_left[p] == 0 { self.work.stays + self.extra[p].stays } else { 0 };
            self.send(p, until + stays);
            return Ok(false);
        }
        if let Op::Choose(choices) = self.crowd.next(p) {
            self.crowd.will_choose(p, self.passages[p] % choices.max(1) as u64);
        }
        let Moved { failed_turn, passage_ended, .. } = self.crowd.access(p)?;
        self.spinners[p].far |= served.far;
        for q in self.crowd.take_woken() {
            if std::mem::take(&mut self.spinners[q].at_rest) {
                self.send(q, until);
            }
        }
        if failed_turn {
            let spun_far = std::mem::take(&mut self.spinners[p].far);
            if !spun_far && self.crowd.is_blocked(p) {
                self.spinners[p].at_rest = true;
                return Ok(false);
            }
        }
        let mut free = until;
        if passage_ended {
            let away = self.work.away[usize::from(!self.passages[p].is_multiple_of(2))];
            self.passages[p] += 1;
            self.counts.passages[p] += 1;
            free += self.chance.u64(0..=2 * away) + self.extra[p].away;
        } else if self.crowd.phase(p) == Phase::Inside {
            self.spinners[p].far = false;
            self.counts.handed_over += u64::from(self.counts.last_inside.replace(p) != Some(p));
            self.section_left[p] = self.work.references;
            self.extra[p] = (self.extras)(p, self.passages[p]);
            free += if self.work.references == 0 { self.work.stays + self.extra[p].stays } else { 0 };
        }
        self.send(p, free);
        Ok(passage_ended)
    }
}
