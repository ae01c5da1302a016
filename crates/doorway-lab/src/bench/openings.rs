//! How often a passage of `ya-fast` looks at all processes: the part of Yang and Anderson's Figure
//! 4 that costs `O(N)`.
//!
//! This runs the shipped text on native memory, in a wrapper that counts one statement. The paper's
//! figures for a Sequent Symmetry stand beside it.

use super::{Effort, Machine, Watch};
use crate::measure;
use doorway::native::{Native, now};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Access, Decl, Memory, Name, Next, Pid, Process, ReadWrite, Site, Word};
use doorway_core::mutex::yang_anderson_93::{FastPath, PathTaken, TwoProcess};
use serde::Serialize;
use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Barrier;

/// The write that raises `Z`, after which a process looks at all others.
const RAISES_Z: u16 = 23;
/// Critical sections in total, as in the paper.
const PASSAGES: u32 = 100_000;
/// Threads, and how many of the paper's passages looked at all processes.
const IN_THE_PAPER: [(usize, u64); 4] = [(2, 320), (4, 55), (8, 1), (16, 1)];

/// The result for a number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Openings {
    /// Threads, and processes of the algorithm.
    pub threads: usize,
    /// Whether each thread yields while it is inside, so that others arrive in the meantime, even
    /// with few processors.
    pub lets_others_run: bool,
    /// Passages of all threads.
    pub passages: u64,
    /// How many passages took the fast path: the median of the repetitions.
    pub fast: u64,
    /// How many passages looked at all processes: the median of the repetitions.
    pub looked: u64,
    /// The smallest and the largest such number in a repetition.
    pub range: (u64, u64),
    /// How many of 100,000 passages looked at all processes in the paper.
    pub in_the_paper: u64,
}

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// How often everything was repeated.
    pub repetitions: usize,
    /// For each number of threads.
    pub openings: Vec<Openings>,
}

/// Counts for 2, 4, 8 and 16 threads, and reports its progress.
#[must_use]
pub fn count(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let passages = if effort.tiny { effort.rounds.max(1) } else { PASSAGES };
    let rows = [false, true].into_iter().flat_map(|lets| IN_THE_PAPER.map(|(threads, paper)| (lets, threads, paper)));
    let row = |(lets_others_run, threads, in_the_paper)| {
        let each = passages.div_ceil(threads as u32);
        let mut runs: Vec<Counts> = (0..effort.repetitions).map(|_| run(threads, each, lets_others_run)).collect();
        progress(&format!("{threads} threads"));
        let median = |values: &mut Vec<u64>| {
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        runs.sort_unstable_by_key(|run| run.looked);
        let range = (runs.first().map_or(0, |r| r.looked), runs.last().map_or(0, |r| r.looked));
        Openings {
            threads,
            lets_others_run,
            passages: u64::from(each) * threads as u64,
            fast: median(&mut runs.iter().map(|run| run.fast).collect()),
            looked: median(&mut runs.iter().map(|run| run.looked).collect()),
            range,
            in_the_paper,
        }
    };
    let openings = rows.map(row).collect();
    Report { machine: watch.end(), repetitions: effort.repetitions, openings }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::text::head(f, &self.machine, self.repetitions)?;
        writeln!(f, "\nHOW OFTEN ya-fast LOOKS AT ALL PROCESSES\n")?;
        writeln!(
            f,
            "{:>7}  {:<28}{:>10}{:>10}{:>10}   {:<18}{:>12}",
            "threads", "inside", "passages", "fast", "looked", "fewest to most", "in the paper"
        )?;
        for row in &self.openings {
            let Openings { threads, lets_others_run, passages, fast, looked, range: (least, most), in_the_paper } = row;
            let inside = if *lets_others_run { "an increment and a yield" } else { "an increment" };
            let range = format!("{least} to {most}");
            writeln!(
                f,
                "{threads:>7}  {inside:<28}{passages:>10}{fast:>10}{looked:>10}   {range:<18}{in_the_paper:>12}"
            )?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    fast: u64,
    looked: u64,
}

/// Runs this many threads with this many passages each, and an increment inside.
fn run(threads: usize, passages: u32, lets_others_run: bool) -> Counts {
    let mutex = FastPath::new(&Site::new(&Counting::default()), threads, TwoProcess::between);
    let start = Barrier::new(threads);
    let thread = |i: usize| {
        let p = Process::new(Pid::new(i), Counting::default());
        let (mut fast, mut inside) = (0, 0u64);
        measure::pin(i % 2);
        start.wait();
        for _ in 0..passages {
            let Ok(way) = now(mutex.acquire(&p));
            inside = black_box(inside + 1);
            if lets_others_run {
                std::thread::yield_now();
            }
            fast += u64::from(way == PathTaken::Fast);
            let Ok(()) = now(mutex.release(&p, way));
        }
        Counts { fast, looked: p.memory().raised.get() }
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|i| scope.spawn(move || thread(i))).collect();
        all.into_iter()
            .filter_map(|one| one.join().ok())
            .fold(Counts::default(), |sum, one| Counts { fast: sum.fast + one.fast, looked: sum.looked + one.looked })
    })
}

/// Native memory that counts how often a process raises `Z`.
#[derive(Default)]
struct Counting {
    native: Native,
    raised: Cell<u64>,
}

impl Memory for Counting {
    type Error = Infallible;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = <Native as Memory>::Cell<T>;
    type Var<T: Word> = <Native as Memory>::Var<T>;
    type Row<T: Word> = <Native as Memory>::Row<T>;
    type Group<T: Word, const N: usize> = <Native as Memory>::Group<T, N>;
    type Table<T: Word> = <Native as Memory>::Table<T>;
    type Wait = <Native as Memory>::Wait;
    const PLENTY: usize = Native::PLENTY;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, name: Name<()>, decl: Decl<'_, T>) -> Self::Var<T> {
        self.native.var(name, decl)
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Self::Row<T> {
        self.native.row(n, decl)
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>),
    ) -> Self::Group<T, N> {
        self.native.group(n, decl)
    }

    fn table<T: Word>(&self, name: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Self::Table<T> {
        self.native.table(name, rows, columns, decl)
    }

    fn wait_begins(&self, pid: Pid) -> Self::Wait {
        self.native.wait_begins(pid)
    }

    fn wait_ends(&self, pid: Pid) {
        self.native.wait_ends(pid);
    }

    fn turn_failed(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
    ) -> impl Future<Output = Result<Next, Infallible>> {
        self.native.turn_failed(pid, wait, abortable)
    }
}

impl ReadWrite for Counting {
    #[inline(always)]
    fn read<T: Word>(&self, at: Access<()>, v: &Self::Cell<T>) -> impl Future<Output = Result<T, Infallible>> {
        self.native.read(at, v)
    }

    #[inline(always)]
    fn write<T: Word>(&self, at: Access<()>, v: &Self::Cell<T>, x: T) -> impl Future<Output = Result<(), Infallible>> {
        if at.label == RAISES_Z {
            self.raised.set(self.raised.get() + 1);
        }
        self.native.write(at, v, x)
    }

    fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut Self::Wait,
        abortable: bool,
        v: &Self::Cell<T>,
        seen: T,
    ) -> impl Future<Output = Result<Next, Infallible>> {
        self.native.unchanged(pid, wait, abortable, v, seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_everybody_goes_fast_and_nobody_looks() {
        let counts = run(1, 50, true);
        assert_eq!((counts.fast, counts.looked), (50, 0));
    }

    /// If a passage was turned away, and no other came after it, it looks at all processes once the
    /// path is closed.
    #[test]
    fn whoever_opens_a_closed_path_is_counted() {
        let mutex = FastPath::new(&Site::new(&Counting::default()), 2, TwoProcess::between);
        let [p, q] = [0, 1].map(|i| Process::new(Pid::new(i), Counting::default()));
        let Ok(way) = now(mutex.acquire(&p));
        assert_eq!(way, PathTaken::Fast);
        let slow = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let q = q;
                let Ok(way) = now(mutex.acquire(&q));
                let Ok(()) = now(mutex.release(&q, way));
                (way, q.memory().raised.get())
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            let Ok(()) = now(mutex.release(&p, way));
            other.join().unwrap()
        });
        // If it came while the path was closed, it went slow and was the last to sign X.
        assert!(matches!(slow, (PathTaken::Slow, 1) | (PathTaken::Fast, 0)), "{slow:?}");
    }

    #[test]
    fn a_tiny_run_counts_all() {
        let report = count(&Effort::tiny(40), &mut |_| ());
        assert_eq!(report.openings.iter().map(|row| row.threads).collect::<Vec<_>>(), [2, 4, 8, 16, 2, 4, 8, 16]);
        assert!(report.openings.iter().all(|row| row.fast + row.looked <= row.passages));
        assert!(report.to_string().contains("in the paper"));
    }
}
