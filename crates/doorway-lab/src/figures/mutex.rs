//! The experiment of Yang and Anderson's section 5 on machines whose accesses take time: their
//! Figures 2 and 3.
//!
//! Measurements on this machine are in `bench::mutex`.

use doorway_check::sim::Rules;
use doorway_check::subject::Subject;
use doorway_check::timed::{BUS, Machine, Nanos, Run, TC2000, Work};
use doorway_core::registry::{self, Info, Problem};
use serde::Serialize;
use std::fmt;

/// Numbers of competing processes.
pub const COMPETING: [usize; 7] = [1, 2, 4, 8, 16, 24, 32];
/// The extra length of a larger section.
const LARGER: Nanos = 20_000;

/// The curves of all algorithms on one machine.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// The machine.
    pub machine: &'static str,
    /// How much longer a process stays inside than reading and incrementing a counter takes, in
    /// microseconds.
    pub stays: f64,
    /// One for each algorithm. Curves with more points come first; among these, the one that ends
    /// lowest.
    pub curves: Vec<Curve>,
}

/// One algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The algorithm.
    pub algorithm: &'static str,
    /// A point for each number of processes that the algorithm supports.
    pub points: Vec<Point>,
}

/// An algorithm with this many processes.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The number of competing processes.
    pub competing: usize,
    /// Microseconds from one critical section to the next.
    pub microseconds: f64,
    /// The smallest number of sections of a process, divided by the largest.
    pub share: f64,
    /// The share of sections that followed one of another process.
    pub handed_over: f64,
    /// References across the network or the bus, per section.
    pub far_references: f64,
}

impl Figure {
    /// The time of a section, if it was simulated.
    #[must_use]
    pub fn microseconds(&self, algorithm: &str, competing: usize) -> Option<f64> {
        let curve = self.curves.iter().find(|curve| curve.algorithm == algorithm)?;
        curve.points.iter().find(|point| point.competing == competing).map(|point| point.microseconds)
    }

    fn draw(title: String, machine: Machine, stays: Nanos, sections: u64) -> Self {
        let exclusive = registry::ALL.iter().filter(|info| info.problem == Problem::MutualExclusion);
        let mut curves: Vec<Curve> = exclusive.map(|info| curve(info, machine, stays, sections)).collect();
        let last = |curve: &Curve| curve.points.last().map_or((0, 0.0), |point| (point.competing, point.microseconds));
        // Curves with more points come first, then the quicker ones.
        curves.sort_by(|a, b| {
            let ((n, time), (m, other)) = (last(a), last(b));
            m.cmp(&n).then(time.total_cmp(&other))
        });
        Self { title, machine: machine.name, stays: stays as f64 / 1000.0, curves }
    }
}

fn curve(info: &'static Info, machine: Machine, stays: Nanos, sections: u64) -> Curve {
    let subject = Subject::from(info);
    let point = |competing| {
        let sizes = subject.sizes(Some(competing), Some(1)).ok()?;
        let world = subject.world(sizes, Rules { sparse: true, ..Rules::default() }).ok()?;
        let run = Run { work: Work { stays, ..Work::SMALL }, ..Run::of_passages(sections) };
        let outcome = run.on(world, machine).ok()?;
        Some(Point {
            competing,
            microseconds: outcome.per_passage,
            share: outcome.share(),
            handed_over: outcome.handed_over,
            far_references: outcome.far_references,
        })
    };
    Curve { algorithm: info.id, points: COMPETING.into_iter().filter_map(point).collect() }
}

/// Both machines, with small and larger sections: averages over this many sections each.
#[must_use]
pub fn all(sections: u64, progress: &mut dyn FnMut(&str)) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (stays, size) in [(0, "small critical section"), (LARGER, "larger critical section")] {
        for (machine, like) in [(TC2000, "Figure 2"), (BUS, "Figure 3")] {
            let like = if stays == 0 { format!(", as the paper's {like}") } else { String::new() };
            figures.push(Figure::draw(format!("{}, {size}{like}", machine.name), machine, stays, sections));
            progress(&format!("{}, {size}", machine.name));
        }
    }
    figures
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: microseconds for a critical section, by the number of processes that compete\n", self.title)?;
        write!(f, "{:<18}", "")?;
        COMPETING.iter().try_for_each(|n| write!(f, "{n:>8}"))?;
        writeln!(f, "{:>12}{:>13}{:>10}", "far refs", "handed over", "min/max")?;
        for curve in &self.curves {
            write!(f, "{:<18}", curve.algorithm)?;
            for n in COMPETING {
                match curve.points.iter().find(|point| point.competing == n) {
                    Some(point) => write!(f, "{:>8.1}", point.microseconds)?,
                    None => write!(f, "{:>8}", "")?,
                }
            }
            let Some(last) = curve.points.last() else { continue };
            writeln!(f, "{:>12.1}{:>11.0} %{:>10.2}", last.far_references, 100.0 * last.handed_over, last.share)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(figure: &Figure, algorithm: &str, competing: usize) -> f64 {
        figure.microseconds(algorithm, competing).unwrap_or_else(|| panic!("no {algorithm} with {competing}"))
    }

    /// What the paper says of its Figures 2 and 3.
    #[test]
    fn the_curves_lie_as_in_the_paper() {
        let [tc2000, bus] = [(TC2000, "Figure 2"), (BUS, "Figure 3")]
            .map(|(machine, title)| Figure::draw(title.to_owned(), machine, 0, 1000));
        let on = |figure: &Figure, algorithm: &str| {
            COMPETING[1..].iter().map(|&n| time(figure, algorithm, n)).collect::<Vec<_>>()
        };

        // MCS is the best on the TC2000, and flat.
        let mcs = on(&tc2000, "mcs");
        assert!(tc2000.curves[0].algorithm == "mcs" && mcs.iter().all(|time| *time < 1.2 * mcs[0]), "{tc2000}");
        let at_32 = |figure: &Figure, algorithm| time(figure, algorithm, 32);
        // Yang and Anderson's scales, at a slightly higher cost. T. Anderson's is slower by a large
        // margin, and still far better than test-and-set.
        assert!(at_32(&tc2000, "ya-tree") < 2.0 * at_32(&tc2000, "mcs"));
        assert!(at_32(&tc2000, "anderson-array") > 1.5 * at_32(&tc2000, "mcs"));
        assert!(at_32(&tc2000, "tas") > 1.5 * at_32(&tc2000, "anderson-array"));
        // Lamport's collapses: it took 230 us with 16 processes and 620 with 32.
        assert!(time(&tc2000, "lamport-fast", 16) > 100.0 && at_32(&tc2000, "lamport-fast") > 300.0);
        assert!(tc2000.curves.iter().all(|curve| {
            curve.points.len() == 1 || at_32(&tc2000, curve.algorithm) <= at_32(&tc2000, "lamport-fast")
        }));

        // With coherent caches T. Anderson's is as good as MCS, with fewer references across the
        // bus. Lamport's is far better than it was: one process goes on and on.
        let pairs = on(&bus, "anderson-array").into_iter().zip(on(&bus, "mcs"));
        assert!(pairs.into_iter().all(|(anderson, mcs)| anderson <= 1.01 * mcs), "{bus}");
        let far = |algorithm: &str| {
            let curve = bus.curves.iter().find(|curve| curve.algorithm == algorithm).unwrap();
            curve.points.last().unwrap().far_references
        };
        assert!(far("anderson-array") < 0.8 * far("mcs"), "{bus}");
        assert!(at_32(&bus, "anderson-array") < 0.5 * at_32(&bus, "ya-tree"));
        assert!(at_32(&bus, "lamport-fast") < 0.3 * at_32(&tc2000, "lamport-fast"));
        // With coherent caches and small sections, the tree of Peterson's algorithm is ahead.
        // Without coherent caches, it spins across the network.
        assert!(COMPETING[1..].iter().all(|&n| time(&bus, "peterson-tree", n) < time(&bus, "ya-tree", n)), "{bus}");
        assert!(at_32(&tc2000, "peterson-tree") > at_32(&tc2000, "ya-tree"), "{tc2000}");
        let lamport = bus.curves.iter().find(|curve| curve.algorithm == "lamport-fast").unwrap();
        assert!(lamport.points[1].share < 0.1, "{lamport:?}");
    }
}
