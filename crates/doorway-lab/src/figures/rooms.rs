//! The experiment of Blelloch, Cheng and Gibbons' section 4 in simulated time: their Figure 5.
//!
//! Processors take items from a shared stack and put others back, again and again; between the two they are busy with something of their own. With rooms, all who take are inside together, and all who put back;
//! with a lock, one at a time. What each cycle costs all processors together is drawn against their number: flat is a perfect speed-up.

use doorway_check::sim::{Rules, TextError, World};
use doorway_check::subject;
use doorway_check::timed::{Interconnect, Machine, Nanos, Run, Work};
use doorway_core::rooms::Visits;
use doorway_core::rooms::blelloch_cheng_gibbons_01::Rooms;
use serde::Serialize;
use std::fmt;

/// How many processors.
pub const PROCESSORS: [usize; 12] = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30];
/// How long one is busy with its own, of the time that a cycle's items take to be moved.
pub const WAITS: [f64; 3] = [0.4, 1.0, 6.0];
/// Moving the items of one visit.
const TRANSFER: Nanos = 25_000;
/// How often a visit changes how many items there are.
const COUNTS: u32 = 2;

/// A machine with coherent caches and room for many references at a time, as the paper's Sun Enterprise 10000 was. The figures are ours.
pub const CROSSBAR: Machine =
    Machine { name: "crossbar", interconnect: Interconnect::Bus, processors: 64, near: 5, far: 500, occupied: 20 };

/// The curves for one length of the wait.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// How long one waits between taking and putting back, on average, in transfer times of a cycle.
    pub wait: f64,
    /// What a cycle takes that shares nothing, in microseconds: the perfect speed-up.
    pub perfect: f64,
    /// Rooms first, then locks.
    pub curves: Vec<Curve>,
}

/// One way to share.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Which.
    pub by: &'static str,
    /// Microseconds of all processors for one cycle, for each number of them.
    pub total_work: Vec<f64>,
}

impl Figure {
    fn draw(wait: f64, cycles: u64) -> Result<Self, TextError> {
        let away = (wait * 2.0 * TRANSFER as f64) as Nanos;
        let work = Work { references: COUNTS, stays: TRANSFER, away: [away, 0] };
        let curves = ["rooms", "mcs", "ticket", "tas-backoff"].map(|by| {
            let point = |processors: usize| {
                let run = Run { work, ..Run::of_passages(2 * cycles) };
                let outcome = run.on(world(by, processors)?, CROSSBAR)?;
                Ok(2.0 * outcome.per_passage * processors as f64)
            };
            Ok(Curve { by, total_work: PROCESSORS.into_iter().map(point).collect::<Result<_, _>>()? })
        });
        let curves = curves.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { wait, perfect: (2 * TRANSFER + away) as f64 / 1000.0, curves })
    }

    /// Microseconds of all processors for one cycle.
    #[must_use]
    pub fn total_work(&self, by: &str, processors: usize) -> Option<f64> {
        let at = PROCESSORS.iter().position(|&p| p == processors)?;
        self.curves.iter().find(|curve| curve.by == by).map(|curve| curve.total_work[at])
    }

    /// The fewest processors from which on rooms are ahead of a lock; `None` if they never are.
    #[must_use]
    pub fn crossing(&self, lock: &str) -> Option<usize> {
        let ahead = |p: &usize| self.total_work("rooms", *p) < self.total_work(lock, *p);
        PROCESSORS.into_iter().rev().take_while(ahead).last()
    }

    /// What rooms cost beyond the perfect speed-up, in transfer times of a cycle.
    #[must_use]
    pub fn overhead(&self, processors: usize) -> Option<f64> {
        Some((self.total_work("rooms", processors)? - self.perfect) / (2.0 * TRANSFER as f64 / 1000.0))
    }
}

fn world(by: &str, processors: usize) -> Result<World, TextError> {
    let rules = Rules { sparse: true, ..Rules::default() };
    if by == "rooms" {
        return World::new(processors, rules, |site| Visits::new(site, |site| Rooms::new(site, 2)));
    }
    let lock = subject::find(by).expect("the catalogue has it");
    let sizes = lock.sizes(Some(processors), Some(1)).expect("it is made for any number");
    lock.world(sizes, rules)
}

/// For each length of the wait, averages over so many cycles.
///
/// # Errors
/// If a text cannot be run.
pub fn all(cycles: u64, progress: &mut dyn FnMut(&str)) -> Result<Vec<Figure>, TextError> {
    let draw = |wait| {
        let figure = Figure::draw(wait, cycles);
        progress(&format!("simulated, waits of {:.0} %", 100.0 * wait));
        figure
    };
    WAITS.into_iter().map(draw).collect()
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "waits of {:.0} % of the transfer time: microseconds of all processors for a cycle, by their number; perfect: {:.0}\n",
            100.0 * self.wait,
            self.perfect
        )?;
        write!(f, "{:<14}", "")?;
        PROCESSORS.iter().try_for_each(|p| write!(f, "{p:>7}"))?;
        writeln!(f)?;
        for curve in &self.curves {
            write!(f, "{:<14}", curve.by)?;
            curve.total_work.iter().try_for_each(|work| write!(f, "{work:>7.0}"))?;
            match self.crossing(curve.by) {
                Some(p) => writeln!(f, "   rooms are ahead from {p} on")?,
                None => writeln!(f)?,
            }
        }
        write!(f, "{:<14}", "overhead")?;
        PROCESSORS.iter().filter_map(|&p| self.overhead(p)).try_for_each(|overhead| write!(f, "{overhead:>7.2}"))?;
        writeln!(f, "   of rooms, in transfer times")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the paper says of its Figure 5.
    #[test]
    fn locks_are_ahead_with_few_processors_rooms_are_flat_and_the_crossing_moves_right() {
        let figures = all(300, &mut |_| ()).unwrap();
        let mut crossings = Vec::new();
        for figure in &figures {
            let rooms = |p| figure.total_work("rooms", p).unwrap();
            let lock = |p| figure.total_work("mcs", p).unwrap();
            assert!(rooms(30) < 1.4 * rooms(8), "{figure}");
            assert!(lock(30) > 1.5 * lock(16), "{figure}");
            // About one transfer time, however many there are.
            assert!(PROCESSORS[3..].iter().all(|&p| figure.overhead(p).unwrap() < 2.0), "{figure}");
            crossings.push(figure.crossing("mcs").unwrap());
        }
        // Locks are ahead with two processors, where waits are short; with longer waits they are with more.
        assert!(figures[0].total_work("mcs", 2) < figures[0].total_work("rooms", 2), "{}", figures[0]);
        assert!(crossings[..2].iter().all(|&p| p > 2 && p < crossings[2]), "{crossings:?}");
        // Between the shorter waits chance decides where curves cross; how far they are apart behind that it does not.
        let apart = |i: usize| figures[i].total_work("mcs", 8).unwrap() / figures[i].total_work("rooms", 8).unwrap();
        assert!(apart(0) > apart(1) && apart(1) > apart(2), "{} {} {}", apart(0), apart(1), apart(2));
    }
}
