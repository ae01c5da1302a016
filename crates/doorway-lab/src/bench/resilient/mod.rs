//! Resilient objects beside locks: `doorway-lab bench resilient`.
//!
//! Threads call operations of one object, again and again: a number, or a record of 64 bytes. First
//! no thread stops. Then one thread stops in the middle of an operation, for ever, or for a moment
//! every now and then. If the holder of a lock stops for ever, all others wait for ever; the table
//! shows that too.

mod peers;
mod run;

use super::stage::Turns;
use super::text::head;
use super::{Effort, Goal, Machine, Watch};
use crate::measure;
use doorway::Combining;
use doorway::resilient::{AmAssign, Resilient};
use peers::{Combined, Counter, Inside, Locked, Peer, Record, State, WriteLocked, swung};
use run::{Plan, Run, run};
use serde::Serialize;
use std::fmt;
use std::sync::{Mutex, RwLock};
use std::time::Duration;

const MUTEX: &str = "std Mutex";
const ARC_SWAP: &str = "arc-swap";
/// The last is a second copy of the mutex.
const CONTROL: &str = "control";
/// The work of a thread between two operations, if any.
const THINKS: Duration = Duration::from_nanos(500);
/// Pauses in the middle of an operation: how often, and how long. About as long as a turn of
/// another thread on the same processor may last.
const PAUSES: (u64, Duration) = (100, Duration::from_millis(1));
/// For how many spins a loser lets the winner go ahead: none, the default of [`Resilient`], and
/// many.
const SPINS: [u32; 3] = [0, 4, 64];

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The effort.
    pub effort: Effort,
    /// No thread stops.
    pub straight: Vec<Table>,
    /// What each unit of resiliency costs.
    pub curves: Vec<Table>,
    /// One thread has stopped for ever.
    pub stopped: Vec<Stopped>,
    /// One thread pauses every now and then.
    pub pausing: Vec<Table>,
    /// The goals, and whether they were reached.
    pub goals: Vec<Goal>,
}

/// Peers that do the same.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What they do.
    pub what: String,
    /// The throughput of a second copy of the mutex, divided by that of the mutex.
    pub control: f64,
    /// The peers.
    pub peers: Vec<Standing>,
}

/// The result of a peer: medians over the repetitions.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The peer.
    pub peer: String,
    /// Operations per second.
    pub ops: f64,
    /// The slowest and the fastest repetition.
    pub ops_range: (f64, f64),
    /// Throughput divided by that of the mutex.
    pub ratio: f64,
    /// CPU time of all threads per operation, including their work between operations.
    pub cpu_ns: f64,
    /// Half of the operations took no longer.
    pub p50_ns: f64,
    /// 999 of 1000 operations took no longer.
    pub p999_ns: f64,
}

/// One peer with and without a stopped thread.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// The peer.
    pub peer: String,
    /// How many threads go on.
    pub threads: usize,
    /// The number of names, of which the stopped thread takes one, if there are names.
    pub names: Option<usize>,
    /// Operations per second while no thread has stopped.
    pub before: f64,
    /// Operations per second after one has.
    pub after: f64,
    /// After one has stopped, 999 of 1000 operations took no longer than this.
    pub p999_ns: f64,
}

impl Stopped {
    fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

type Measure = Box<dyn Fn(&Plan, &Effort) -> Run>;

struct PeerOfObjects {
    peer: String,
    names: Option<usize>,
    run: Measure,
}

fn way<P: Peer>(peer: impl Into<String>, names: Option<usize>, make: impl Fn(&Plan) -> P + 'static) -> PeerOfObjects {
    // Once for the throughput, and once more to time single operations.
    let both = move |plan: &Plan, effort: &Effort| {
        let timed = run(make(plan), &Plan { timed: true, ..*plan }, effort);
        let Run { ops, cpu_ns, .. } = run(make(plan), plan, effort);
        Run { ops, cpu_ns, ..timed }
    };
    PeerOfObjects { peer: peer.into(), names, run: Box::new(both) }
}

fn resilient<T: State>(k: usize, spins: u32) -> Resilient<T> {
    Resilient::new(T::default(), k).expect("the number of names is small").with_pauses(spins)
}

fn wrapped<T: State + 'static>(k: usize, spins: u32) -> PeerOfObjects {
    way(format!("doorway k={k}, {spins} spins"), Some(k), move |_| resilient::<T>(k, spins))
}

fn inside<T: State + 'static>(k: usize, spins: u32) -> PeerOfObjects {
    way(format!("doorway inside k={k}, {spins} spins"), Some(k), move |_| Inside::new(resilient::<T>(k, spins)))
}

fn paper<T: State + 'static>(k: usize) -> PeerOfObjects {
    way(format!("doorway am-assign k={k}"), Some(k), move |plan| {
        let threads = plan.threads + plan.stopped;
        Resilient::<T, AmAssign>::for_threads(T::default(), k, threads).expect("the number of threads is small")
    })
}

fn combined() -> PeerOfObjects {
    way("doorway Combining", None, |plan| {
        Combined(Combining::new(0, plan.threads + plan.stopped).expect("the number of threads is small"))
    })
}

fn others<T: State + 'static>() -> [PeerOfObjects; 3] {
    [
        way(MUTEX, None, |_| Locked(Mutex::new(T::default()))),
        way("std RwLock", None, |_| WriteLocked(RwLock::new(T::default()))),
        way(ARC_SWAP, None, |_| swung::<T>()),
    ]
}

fn control<T: State + 'static>() -> PeerOfObjects {
    way(CONTROL, None, |_| Locked(Mutex::new(T::default())))
}

/// All peers in turns.
fn table(what: String, plan: &Plan, effort: &Effort, ways: &[PeerOfObjects]) -> Table {
    let mut runs: Vec<Vec<Run>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..effort.repetitions {
        for (way, runs) in ways.iter().zip(&mut runs) {
            runs.push((way.run)(plan, effort));
        }
    }
    let standing = |(way, runs): (&PeerOfObjects, &Vec<Run>)| {
        let median = |of: fn(&Run) -> f64| measure::median(runs.iter().map(of).collect());
        Standing {
            peer: way.peer.clone(),
            ops: median(|run| run.ops),
            ops_range: measure::range(runs.iter().map(|run| run.ops)),
            ratio: f64::NAN,
            cpu_ns: median(|run| run.cpu_ns),
            p50_ns: median(|run| run.p50_ns),
            p999_ns: median(|run| run.p999_ns),
        }
    };
    let mut peers: Vec<Standing> = ways.iter().zip(&runs).map(standing).collect();
    let mutex = peers.iter().find(|peer| peer.peer == MUTEX).map_or(f64::NAN, |peer| peer.ops);
    peers.iter_mut().for_each(|peer| peer.ratio = peer.ops / mutex);
    let control = peers.iter().position(|peer| peer.peer == CONTROL).map(|twin| peers.remove(twin));
    Table { what, control: control.map_or(f64::NAN, |twin| twin.ratio), peers }
}

impl Table {
    fn peer(&self, name: &str) -> Option<&Standing> {
        self.peers.iter().find(|peer| peer.peer == name)
    }
}

/// Measures everything, and reports its progress.
#[must_use]
pub fn compare(effort: &Effort, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let calibrate = || {
        measure::pin(0);
        Turns::lasting(THINKS)
    };
    let thinks = std::thread::spawn(calibrate).join().expect("work ends");
    let processors = watch.machine.processors;
    let straight = Plan { threads: 1, stopped: 0, thinks: None, pauses: None, timed: false, processors };
    let thinking = Plan { thinks: Some(thinks), ..straight };

    let mut tables = Vec::new();
    for (of, bytes) in [("a number", false), ("64 bytes", true)] {
        for (threads, plan) in [(1, straight), (2, straight), (2, thinking), (4, thinking), (8, thinking)] {
            let plan = Plan { threads, ..plan };
            let ways = if bytes { everybody::<Record>(threads) } else { everybody::<Counter>(threads) };
            let table = table(format!("{of}, {}", plan.name()), &plan, effort, &ways);
            progress(&table.what);
            tables.push(table);
        }
    }

    let mut curves = Vec::new();
    for (threads, plan) in [(1, straight), (2, thinking), (8, thinking)] {
        let plan = Plan { threads, ..plan };
        let mut ways: Vec<PeerOfObjects> = others::<Counter>().into_iter().take(1).collect();
        ways.extend((1..=8).map(|k| wrapped::<Counter>(k, SPINS[1])));
        ways.push(control::<Counter>());
        let table = table(format!("a number, {}", plan.name()), &plan, effort, &ways);
        progress(&format!("k from 1 to 8, {}", table.what));
        curves.push(table);
    }

    let mut stopped = Vec::new();
    for threads in [2, 4] {
        let mut ways: Vec<PeerOfObjects> = others::<Counter>().into();
        ways.push(combined());
        ways.extend([
            wrapped::<Counter>(2, SPINS[1]),
            wrapped::<Counter>(3, SPINS[1]),
            wrapped::<Counter>(5, SPINS[1]),
        ]);
        ways.push(paper::<Counter>(3));
        for way in ways {
            let row = one_stops(&way, &Plan { threads, ..thinking }, effort);
            progress(&format!("one stops: {}, {threads} threads go on", row.peer));
            stopped.push(row);
        }
    }

    let pausing = [2, 4].map(|threads| {
        let plan = Plan { threads, pauses: Some(PAUSES), ..thinking };
        let mut ways: Vec<PeerOfObjects> = others::<Counter>().into();
        ways.extend([wrapped::<Counter>(2, SPINS[0]), wrapped::<Counter>(2, SPINS[1])]);
        ways.extend([wrapped::<Counter>(5, SPINS[1]), control::<Counter>()]);
        let table = table(format!("a number, {}", plan.name()), &plan, effort, &ways);
        progress(&format!("one pauses, {}", table.what));
        table
    });

    let goals = goals(&tables, &stopped, &pausing);
    let machine = watch.end();
    Report { machine, effort: *effort, straight: tables, curves, stopped, pausing: pausing.into(), goals }
}

fn everybody<T: State + 'static>(threads: usize) -> Vec<PeerOfObjects> {
    let mut ways: Vec<PeerOfObjects> = others::<T>().into();
    if size_of::<T>() == size_of::<u64>() {
        ways.push(combined()); // it changes one word
    }
    if threads <= 2 {
        ways.extend(SPINS.map(|spins| inside::<T>(2, spins)));
    }
    ways.extend(SPINS.map(|spins| wrapped::<T>(2, spins)));
    ways.push(way("doorway k=2, in order", Some(2), |_| resilient::<T>(2, SPINS[1]).in_order()));
    ways.extend([wrapped::<T>(4, SPINS[1]), paper::<T>(2), control::<T>()]);
    ways
}

fn one_stops(way: &PeerOfObjects, plan: &Plan, effort: &Effort) -> Stopped {
    let (mut before, mut after, mut slow) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.repetitions {
        before.push((way.run)(plan, effort).ops);
        let run = (way.run)(&Plan { stopped: 1, ..*plan }, effort);
        after.push(run.ops);
        slow.push(run.p999_ns);
    }
    Stopped {
        peer: way.peer.clone(),
        threads: plan.threads,
        names: way.names,
        before: measure::median(before),
        after: measure::median(after),
        p999_ns: measure::median(slow),
    }
}

impl Plan {
    fn name(&self) -> String {
        let threads = if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        let thinks = self.thinks.map_or("nothing", |_| "500 ns");
        let pauses = self.pauses.map_or("", |_| ", of which one pauses");
        format!("{threads}{pauses}, {thinks} between two")
    }
}

fn goals(straight: &[Table], stopped: &[Stopped], pausing: &[Table]) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut ask = |what: String, measured: f64, least: f64| {
        goals.push(Goal { what, measured, goal: format!("at least {least}"), met: measured >= least });
    };
    let best = |table: &Table, prefix: &str| {
        let ours = table.peers.iter().filter(|peer| peer.peer.starts_with(prefix));
        ours.max_by(|a, b| a.ratio.total_cmp(&b.ratio)).map(|peer| (peer.peer.clone(), peer.ratio))
    };
    for table in straight.iter().filter(|table| table.what.starts_with("a number")) {
        if let Some((peer, ratio)) = best(table, "doorway inside").filter(|_| table.what.contains("nothing")) {
            ask(format!("{}: {peer} against the mutex", table.what), ratio, 0.35);
        }
        let wrapped = best(table, "doorway k=2").filter(|_| table.what.contains("2 threads, 500"));
        if let Some((peer, ratio)) = wrapped {
            ask(format!("{}: {peer} against the mutex", table.what), ratio, 0.5);
        }
    }
    for row in stopped.iter().filter(|row| row.peer.starts_with("doorway k=")) {
        let Some(names) = row.names else { continue };
        let enough = row.threads < names;
        let (left, least) = if enough { ("enough names left", 0.9) } else { ("too few names left", 0.5) };
        ask(format!("one stopped, {} go on, {}, {left}: against itself", row.threads, row.peer), row.ratio(), least);
    }
    for table in pausing {
        let slow = |name: &str| table.peer(name).map_or(f64::NAN, |peer| peer.p999_ns);
        let ours = slow("doorway k=5, 4 spins");
        ask(format!("{}: p99.9 of the mutex against that of k=5", table.what), slow(MUTEX) / ours, 1.0);
    }
    goals
}

fn million(ops: f64) -> f64 {
    ops / 1e6
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}; control {:.2}", self.what, self.control)?;
        writeln!(
            f,
            "  {:<30}{:>9}{:>9}{:>10}{:>10}{:>12}   range of Mop/s",
            "", "Mop/s", "ratio", "CPU ns", "p50 ns", "p99.9 ns"
        )?;
        for peer in &self.peers {
            let (low, high) = peer.ops_range;
            writeln!(
                f,
                "  {:<30}{:>9.2}{:>9.2}{:>10.0}{:>10.0}{:>12.0}   {:.2} to {:.2}",
                peer.peer,
                million(peer.ops),
                peer.ratio,
                peer.cpu_ns,
                peer.p50_ns,
                peer.p999_ns,
                million(low),
                million(high)
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, threads, before, after, p999_ns, .. } = self;
        write!(f, "  {peer:<30}{threads:>6}{:>14.2}", million(*before))?;
        if *after > 0.0 {
            write!(f, "{:>12.2}{:>9.2}{p999_ns:>12.0}", million(*after), self.ratio())
        } else {
            write!(f, "{:>12}", "hangs")
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        writeln!(f, "\nNO THREAD STOPS (ratios are to the mutex; spins: how long a loser lets the winner go ahead)")?;
        self.straight.iter().try_for_each(|table| write!(f, "\n{table}"))?;
        writeln!(f, "\nWHAT EACH UNIT OF RESILIENCY COSTS: k FROM 1 TO 8, OF WHICH k - 1 MAY STOP")?;
        self.curves.iter().try_for_each(|table| write!(f, "\n{table}"))?;
        writeln!(f, "\nONE THREAD STOPS IN THE MIDDLE OF AN OPERATION, FOR EVER; 500 ns between two operations\n")?;
        writeln!(f, "  {:<30}{:>6}{:>12}{:>12}{:>9}{:>12}", "", "go on", "Mop/s before", "after", "ratio", "p99.9 ns")?;
        self.stopped.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        let (every, pause) = PAUSES;
        writeln!(f, "\nONE THREAD PAUSES FOR {pause:?} IN EVERY {every}th OF ITS OPERATIONS; THE OTHERS' FIGURES")?;
        self.pausing.iter().try_for_each(|table| write!(f, "\n{table}"))?;
        writeln!(f)?;
        self.goals.iter().try_for_each(|goal| writeln!(f, "{goal}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_run_measures_everybody_and_locks_hang_when_one_stops() {
        let report = compare(&Effort::tiny(1), &mut |_| ());
        assert_eq!((report.straight.len(), report.curves.len(), report.pausing.len()), (10, 3, 2));
        assert!(report.straight[0].peers.len() >= 10);
        let locks = [MUTEX, "std RwLock", "doorway Combining"];
        for row in report.stopped.iter().filter(|row| locks.contains(&row.peer.as_str())) {
            assert!(row.after == 0.0, "{}", row.peer);
        }
        let text = report.to_string();
        for word in ["hangs", "doorway inside k=2", "64 bytes, 8 threads", "arc-swap", "p99.9 of the mutex"] {
            assert!(text.contains(word), "{text}");
        }
    }
}
