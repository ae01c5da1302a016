//! Classic mutual exclusion algorithms, each as its paper prints it: plain loops and jumps, one
//! access at a time, and no word for the checker.
//!
//! Each file is one algorithm or a small family: source, idea, text, variables, claims. [`ALL`]
//! lists them, with those of doorway's catalogue, and [`table`] asks the same questions of all of
//! them. `docs/classics.md` has its answers.
//!
//! ```
//! use doorway_check::prelude::*;
//!
//! let hyman = classics::find("hyman").unwrap();
//! let report = hyman.check(2, Register::Atomic).run()?;
//! println!("{report}"); // the run that Knuth described in 1966, step by step
//! assert_eq!(report.verdict("mutual-exclusion").holds, Some(false));
//! # Ok::<(), doorway_check::sim::TextError>(())
//! ```

#![allow(clippy::needless_range_loop, reason = "processes have numbers in the papers, and loops run over these")]

pub mod aravind;
pub mod attempts;
pub mod attiya_welch;
pub mod burns;
pub mod dekker;
pub mod dijkstra;
pub mod filter;
pub mod first_come;
pub mod hyman;
pub mod kessels;
pub mod knuth;
pub mod lamport;
pub mod peterson;
pub mod queues;
pub mod raynal;
pub mod szymanski;
pub mod table;

mod list;

pub use list::ALL;

use doorway_check::prelude::*;
use doorway_check::sim::{Rules, TextError, World};

/// Small numbers: the first few are the range of a variable.
static NUMBERS: [u64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Larger than every ticket.
const IDLE_TICKET: u64 = 99;

/// What a torn read of a ticket may return.
static TICKETS: [u64; 6] = [0, 1, 2, 3, 4, IDLE_TICKET];

/// The name of the question how often others enter while a process waits.
const OVERTAKEN: &str = "overtaken";

/// The largest number of processes, where a text keeps a local for each.
const MOST: usize = 4;

/// All other processes, in the order of their names.
fn others(n: usize, me: usize) -> impl Iterator<Item = usize> + Clone {
    (0..n).filter(move |&j| j != me)
}

/// How the machine of an algorithm is made: for this many processes, by these rules.
type Build = fn(usize, Rules) -> Result<World, TextError>;

/// An algorithm of the gallery.
#[derive(Clone, Copy, Debug)]
pub struct Classic {
    /// Its name for the command and in tokens.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Its authors.
    pub authors: &'static str,
    /// The year of its publication.
    pub year: u16,
    /// Where its text is, from the folder `docs`.
    pub file: &'static str,
    /// The numbers of processes that tests search.
    pub small: &'static [usize],
    /// The numbers of processes that only the command searches.
    pub large: &'static [usize],
    /// Passages of each process, where variables grow for ever.
    pub passages: Option<u32>,
    /// Whether its text marks the end of a doorway: then it claims that the first to come is the
    /// first served.
    pub first_come: bool,
    /// Whether it only reads and writes, so that it can be asked about weaker registers.
    pub reads_and_writes: bool,
    build: Build,
}

impl Classic {
    /// The questions, for this many processes and with all variables this kind of register.
    pub fn check(&'static self, n: usize, registers: Register) -> Check {
        let name = format!("{}-{n}-{registers}", self.id);
        let order = self.first_come.then(|| Property::first_come("first-come-first-served", 1));
        Check::of(&name, n, move |rules| (self.build)(n, rules))
            .property(Property::exclusion("mutual-exclusion", 1))
            .property(Property::deadlock_free("deadlock-free"))
            .property(Property::starvation_free("starvation-free"))
            .properties(order)
            .properties(self.overtaking(registers))
            .with(move |search| {
                search.registers(registers).force_registers(true).passages(self.passages).keep_going(true)
            })
    }

    /// How often others enter while a process is in its entry section, from its first step on. A
    /// bound on passages would answer that.
    fn overtaking(&self, registers: Register) -> Option<Property> {
        let waits = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry;
        let is_asked = registers == Register::Atomic && self.passages.is_none();
        is_asked.then(|| Property::overtaking(OVERTAKEN, None, waits))
    }

    /// The kinds of registers that it can be asked about.
    pub fn registers(&self) -> &'static [Register] {
        if self.reads_and_writes { &table::KINDS } else { &table::KINDS[..1] }
    }

    /// All numbers of processes that are searched.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.small.iter().chain(self.large).copied()
    }
}

/// The algorithm with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Classic> {
    ALL.iter().find(|classic| classic.id == id)
}
