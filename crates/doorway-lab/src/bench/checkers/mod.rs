//! The explorer beside other model checkers, in one run: `doorway-lab bench checkers`.
//!
//! The peers are Stateright and Spin, which visit all states, and loom and shuttle, which run
//! threads. Of each lock there is a text, a Stateright model, a Promela model and, if it is faulty,
//! plain Rust on atomics. In all of them one step is one access. So the explorer, Stateright and
//! Spin find the same states, and the run says so if they do not.
//!
//! Each search is a process of its own: this program, started again, or the verifier that Spin
//! writes. Time and memory are those of the whole process.
//!
//! | file | |
//! |---|---|
//! | `ours` | our texts |
//! | `of_stateright` | its models |
//! | `of_spin` | how verifiers are made; the folder has the models |
//! | `plain` | plain Rust for loom and shuttle |
//! | `lines` | how many lines each of them has |

mod lines;
mod of_spin;
mod of_stateright;
mod ours;
mod plain;
mod text;

pub use lines::Lines;

use super::{Effort, Machine, Watch};
use crate::measure::median;
use of_stateright::Way;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wait4::Wait4 as _;

/// A lock at one size.
#[derive(Clone, Copy, Debug)]
struct Subject {
    name: &'static str,
    n: usize,
    k: usize,
    passages: Option<u8>,
    /// Its Promela model, and what seeds the fault in it.
    model: &'static str,
    defines: &'static [&'static str],
    /// What is wrong with it.
    fault: Option<&'static str>,
    /// How many passages of each process the fault needs.
    needs: usize,
}

const fn lock(name: &'static str, n: usize, k: usize, passages: Option<u8>) -> Subject {
    Subject { name, n, k, passages, model: name, defines: &[], fault: None, needs: 0 }
}

/// Locks without a fault, whose states are all visited.
const SEARCHES: [Subject; 5] = [
    lock("tsay", 2, 1, None),
    lock("burns-lynch", 6, 1, None),
    lock("bakery", 3, 1, Some(4)),
    Subject { defines: &["W=16", "LAPS={1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0}"], ..lock("turnstile-simple", 3, 2, Some(6)) },
    lock("am-chain", 5, 3, None),
];

/// Locks with a fault, until it is found.
const HUNTS: [Subject; 6] = [
    Subject { fault: Some("two lines swapped"), needs: 1, ..lock("peterson-turn-first", 2, 1, None) },
    Subject { fault: Some("printed and wrong"), needs: 1, ..lock("hyman", 2, 1, None) },
    Subject { fault: Some("lets two of three in"), needs: 2, ..lock("szymanski-three-bits", 3, 1, None) },
    Subject {
        model: "am-chain",
        defines: &["SEVEN_BEFORE_SIX", "MAY_STOP"],
        fault: Some("a wake-up is lost"),
        needs: 1,
        ..lock("mutant:am-chain-swaps-6-and-7", 3, 1, None)
    },
    Subject {
        model: "turnstile-simple",
        defines: &["SPLIT", "MAY_STOP", "W=8", "LAPS={1,1,0,0,0,0,0,0}"],
        fault: Some("an exit is lost"),
        needs: 4,
        ..lock("mutant:turnstile-simple-three-split", 2, 2, Some(4))
    },
    Subject {
        model: "turnstile-simple",
        defines: &["BLIND", "MAY_STOP", "W=8", "LAPS={1,1,0,0,0,0,0,0}"],
        fault: Some("a late write, a lap later"),
        needs: 9,
        ..lock("mutant:turnstile-simple-signals-blindly", 2, 2, Some(9))
    },
];

fn subject(name: &str) -> Option<&'static Subject> {
    SEARCHES.iter().chain(&HUNTS).find(|subject| subject.name == name)
}

/// What a search found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// The states that it visited, if it knows states.
    pub states: Option<usize>,
    /// The length of the run that shows a failure.
    pub steps: Option<usize>,
    /// The executions that it tried, if it runs threads.
    pub tries: Option<usize>,
}

/// A search by one checker.
#[derive(Clone, Debug, Serialize)]
pub struct Search {
    /// The lock.
    pub lock: String,
    /// The checker, and how it was told to search.
    pub checker: &'static str,
    /// Threads or processes.
    pub threads: usize,
    /// What was found: for random searches, the median.
    pub found: Found,
    /// How many of the repetitions found a failure.
    pub successes: usize,
    /// The repetitions.
    pub repetitions: usize,
    /// Seconds from the start of the process to its end.
    pub wall_s: f64,
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// The largest resident set, in bytes.
    pub peak: u64,
    /// Seconds to make the verifier; only for Spin.
    pub build_s: Option<f64>,
}

impl Search {
    /// States for each second of processor time.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        Some(self.found.states? as f64 / self.cpu_s)
    }
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The versions of the peers.
    pub versions: Vec<String>,
    /// Complete searches.
    pub searches: Vec<Search>,
    /// Searches for a fault.
    pub hunts: Vec<Search>,
    /// The lines of the models.
    pub lines: Vec<Lines>,
    /// What could not be measured, and what differs that should not.
    pub faults: Vec<String>,
}

/// A way to search.
#[derive(Clone, Copy, Debug)]
enum Checker {
    Doorway(usize),
    Stateright(Way, usize),
    Spin(of_spin::Options),
    Loom,
    Shuttle(plain::Drawn),
}

impl Checker {
    fn name(self) -> &'static str {
        match self {
            Self::Doorway(_) => "doorway",
            Self::Stateright(Way::BreadthFirst, _) => "Stateright, breadth first",
            Self::Stateright(Way::DepthFirst, _) => "Stateright, depth first",
            Self::Spin(options) => options.name(),
            Self::Loom => "loom",
            Self::Shuttle(plain::Drawn::AtRandom) => "shuttle, at random",
            Self::Shuttle(plain::Drawn::ByPriorities(3)) => "shuttle, PCT depth 3",
            Self::Shuttle(plain::Drawn::ByPriorities(_)) => "shuttle, PCT depth 20",
        }
    }

    fn threads(self) -> usize {
        match self {
            Self::Doorway(threads) | Self::Stateright(_, threads) => threads,
            Self::Spin(options) => options.cores,
            _ => 1,
        }
    }

    /// The orders for a process, which [`take_part`] reads.
    fn orders(self, subject: &Subject, limit: Duration, seed: u64) -> Option<Vec<String>> {
        let (checker, more) = match self {
            Self::Doorway(threads) => ("doorway", threads.to_string()),
            Self::Stateright(Way::BreadthFirst, threads) => ("stateright-bfs", threads.to_string()),
            Self::Stateright(Way::DepthFirst, threads) => ("stateright-dfs", threads.to_string()),
            Self::Loom => ("loom", limit.as_secs().to_string()),
            Self::Shuttle(plain::Drawn::AtRandom) => ("shuttle-random", format!("{} {seed}", limit.as_secs())),
            Self::Shuttle(plain::Drawn::ByPriorities(depth)) => {
                ("shuttle-pct", format!("{} {seed} {depth}", limit.as_secs()))
            }
            Self::Spin(_) => return None,
        };
        let words = [checker, subject.name].into_iter().chain(more.split(' ')).map(str::to_owned);
        Some(words.collect())
    }
}

const ALL_STATES: [Checker; 9] = [
    Checker::Doorway(1),
    Checker::Doorway(2),
    Checker::Stateright(Way::BreadthFirst, 1),
    Checker::Stateright(Way::BreadthFirst, 2),
    Checker::Stateright(Way::DepthFirst, 1),
    Checker::Spin(of_spin::Options::PLAIN),
    Checker::Spin(of_spin::Options::COLLAPSED),
    Checker::Spin(of_spin::Options::TWO_CORES),
    Checker::Spin(of_spin::Options::REDUCED),
];

const HUNTERS: [Checker; 9] = [
    Checker::Doorway(1),
    Checker::Stateright(Way::BreadthFirst, 1),
    Checker::Stateright(Way::DepthFirst, 1),
    Checker::Spin(of_spin::Options::PLAIN),
    Checker::Spin(of_spin::Options::BREADTH_FIRST),
    Checker::Loom,
    Checker::Shuttle(plain::Drawn::AtRandom),
    Checker::Shuttle(plain::Drawn::ByPriorities(3)),
    Checker::Shuttle(plain::Drawn::ByPriorities(20)),
];

/// Measures everything, and reports its progress.
///
/// `program` is started for each search, with the words `bench checker` and its orders: it must
/// pass these to [`take_part`].
#[must_use]
pub fn compare(effort: &Effort, program: &Path, progress: &mut dyn FnMut(&str)) -> Report {
    let watch = Watch::begin();
    let mut faults = Vec::new();
    let kitchen = of_spin::Kitchen::new();
    if let Err(why) = &kitchen {
        faults.push(format!("Spin was not measured: {why}"));
    }
    let mut versions = lines::versions();
    versions.extend(kitchen.as_ref().ok().map(|kitchen| kitchen.version.clone()));
    let (repetitions, seeds, limit) = match (effort.tiny, effort.is_full()) {
        (true, _) => (1, 1, Duration::from_secs(1)),
        (_, false) => (1, 5, Duration::from_secs(4)),
        (_, true) => (3, 9, Duration::from_secs(4)),
    };
    let how_many = if effort.tiny { 1 } else { SEARCHES.len() + HUNTS.len() };
    let mut all = |subjects: &[Subject], checkers: &[Checker]| {
        let mut measured: Vec<Search> = Vec::new();
        for subject in subjects.iter().take(how_many) {
            for &checker in checkers {
                // Depth first, each pending state of Stateright carries the run that led to it. If
                // runs are long, that is too much for any memory.
                let is_long = subject.fault.is_none() && subject.passages.is_none() && subject.n > 2;
                if is_long && matches!(checker, Checker::Stateright(Way::DepthFirst, _)) {
                    continue;
                }
                // Shuttle tries random schedules, which differ more than times do.
                let repetitions = if matches!(checker, Checker::Shuttle(_)) { seeds } else { repetitions };
                let runs = Runs { program, kitchen: kitchen.as_ref().ok(), subject, checker, limit, repetitions };
                match runs.measure() {
                    Some(Ok(search)) => measured.push(search),
                    Some(Err(why)) => faults.push(format!("{}, {}: {why}", subject.name, checker.name())),
                    None => {}
                }
                progress(&format!("{}, {}", subject.name, checker.name()));
            }
        }
        measured
    };
    let (searches, hunts) = (all(&SEARCHES, &ALL_STATES), all(&HUNTS, &HUNTERS));
    for search in searches.iter().filter(|search| search.checker != of_spin::Options::REDUCED.name()) {
        let ours = searches.iter().find(|other| other.lock == search.lock).and_then(|other| other.found.states);
        if search.found.states != ours || search.found.steps.is_some() {
            faults.push(format!("{}, {}: {:?}, not {ours:?}", search.lock, search.checker, search.found));
        }
    }
    Report { machine: watch.end(), versions, searches, hunts, lines: lines::all(), faults }
}

/// One search, several times.
struct Runs<'a> {
    program: &'a Path,
    kitchen: Option<&'a of_spin::Kitchen>,
    subject: &'a Subject,
    checker: Checker,
    limit: Duration,
    repetitions: usize,
}

/// What one process did.
struct Run {
    found: Found,
    wall: Duration,
    cpu: Duration,
    peak: u64,
}

impl Runs<'_> {
    /// Returns `None` if this machine does not have the checker.
    fn measure(&self) -> Option<Result<Search, String>> {
        let Checker::Spin(options) = self.checker else { return Some(self.repeat(None)) };
        let verifier = self.kitchen?.verifier(self.subject, options);
        Some(verifier.and_then(|verifier| self.repeat(Some(&verifier))))
    }

    fn repeat(&self, verifier: Option<&of_spin::Verifier>) -> Result<Search, String> {
        let mut runs =
            (0..self.repetitions).map(|seed| self.once(verifier, seed as u64)).collect::<Result<Vec<_>, _>>()?;
        // Also the median of what was found: samples differ from run to run. A run that found
        // nothing counts as the longest.
        runs.sort_by_key(|run| (run.found.steps.is_none(), run.found.tries, run.wall));
        let of = |number: fn(&Run) -> f64| median(runs.iter().map(number).collect());
        let name = self.subject.name.trim_start_matches("mutant:");
        Ok(Search {
            lock: match self.subject.passages {
                None => format!("{name} ({},{})", self.subject.n, self.subject.k),
                Some(most) => format!("{name} ({},{}), {most} passages", self.subject.n, self.subject.k),
            },
            checker: self.checker.name(),
            threads: self.checker.threads(),
            successes: runs.iter().filter(|run| run.found.steps.is_some()).count(),
            repetitions: self.repetitions,
            wall_s: of(|run| run.wall.as_secs_f64()),
            cpu_s: of(|run| run.cpu.as_secs_f64()),
            peak: of(|run| run.peak as f64) as u64,
            found: runs[runs.len() / 2].found,
            build_s: verifier.map(|verifier| verifier.built_in.as_secs_f64()),
        })
    }

    fn once(&self, verifier: Option<&of_spin::Verifier>, seed: u64) -> Result<Run, String> {
        let mut command = match (verifier, self.checker.orders(self.subject, self.limit, seed)) {
            (Some(verifier), _) => verifier.command(),
            (None, orders) => {
                let mut command = Command::new(self.program);
                command.args(["bench", "checker"]).args(orders.unwrap_or_default());
                command
            }
        };
        let (run, said) = watched(&mut command)?;
        let found = match verifier {
            Some(_) => of_spin::read(&said)?,
            None => serde_json::from_str(&said).map_err(|error| format!("{error} in {said:?}"))?,
        };
        Ok(Run { found, ..run })
    }
}

/// Runs a process to its end. Returns what it used and what it said.
fn watched(command: &mut Command) -> Result<(Run, String), String> {
    use std::io::Read as _;
    let begun = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let mut said = String::new();
    let mut out = child.stdout.take().ok_or("there is no output")?;
    out.read_to_string(&mut said).map_err(|error| error.to_string())?;
    let used = child.wait4().map_err(|error| error.to_string())?.rusage;
    let (wall, cpu) = (begun.elapsed(), used.utime + used.stime);
    Ok((Run { found: Found::default(), wall, cpu, peak: used.maxrss }, said))
}

/// The search of a process that [`compare`] has started. Returns what it says.
///
/// # Errors
/// Returns an error if the orders make no sense, or if the search fails.
pub fn take_part(orders: &[String]) -> Result<String, String> {
    let nonsense = || format!("cannot read the orders: {}", orders.join(" "));
    let [checker, name, numbers @ ..] = orders else { return Err(nonsense()) };
    let subject = subject(name).ok_or_else(nonsense)?;
    let number = |i: usize| numbers.get(i).and_then(|number| number.parse::<u64>().ok()).ok_or_else(nonsense);
    let limit = || number(0).map(Duration::from_secs);
    let found = match checker.as_str() {
        "doorway" => ours::search(subject, number(0)? as usize)?,
        "stateright-bfs" => by_stateright(subject, Way::BreadthFirst, number(0)? as usize).ok_or_else(nonsense)?,
        "stateright-dfs" => by_stateright(subject, Way::DepthFirst, number(0)? as usize).ok_or_else(nonsense)?,
        "loom" => by_loom(subject, limit()?).ok_or_else(nonsense)?,
        "shuttle-random" => by_shuttle(subject, limit()?, plain::Drawn::AtRandom, number(1)?).ok_or_else(nonsense)?,
        "shuttle-pct" => {
            let drawn = plain::Drawn::ByPriorities(number(2)? as usize);
            by_shuttle(subject, limit()?, drawn, number(1)?).ok_or_else(nonsense)?
        }
        _ => return Err(nonsense()),
    };
    serde_json::to_string(&found).map_err(|error| error.to_string())
}

fn by_stateright(subject: &Subject, way: Way, threads: usize) -> Option<Found> {
    use of_stateright::turnstile_simple::{Fault, Turnstile};
    use of_stateright::{am_chain::Chain, search};
    let most = subject.passages;
    Some(match subject.name {
        "tsay" => search(of_stateright::tsay::Tsay, most, threads, way),
        "burns-lynch" => search::<_, 6>(of_stateright::burns_lynch::BurnsLynch, most, threads, way),
        "bakery" => search::<_, 3>(of_stateright::bakery::Bakery, most, threads, way),
        "am-chain" => search::<_, 5>(Chain::<3> { seven_before_six: false }, most, threads, way),
        "turnstile-simple" => search::<_, 3>(Turnstile::<2, 16> { fault: None }, most, threads, way),
        "peterson-turn-first" => search(of_stateright::peterson_turn_first::TurnFirst, most, threads, way),
        "hyman" => search(of_stateright::hyman::Hyman, most, threads, way),
        "szymanski-three-bits" => search::<_, 3>(of_stateright::szymanski_three_bits::ThreeBits, most, threads, way),
        "mutant:am-chain-swaps-6-and-7" => search::<_, 3>(Chain::<1> { seven_before_six: true }, most, threads, way),
        "mutant:turnstile-simple-three-split" => {
            search::<_, 2>(Turnstile::<2, 8> { fault: Some(Fault::Split) }, most, threads, way)
        }
        "mutant:turnstile-simple-signals-blindly" => {
            search::<_, 2>(Turnstile::<2, 8> { fault: Some(Fault::Blind) }, most, threads, way)
        }
        _ => return None,
    })
}

/// Calls a function for the plain lock of a subject.
macro_rules! with_plain {
    ($subject:expr, $run:ident($($argument:expr),*)) => {
        Some(match $subject.name {
            "peterson-turn-first" => plain::$run::<plain::TurnFirst<_>>($($argument),*),
            "hyman" => plain::$run::<plain::Hyman<_>>($($argument),*),
            "szymanski-three-bits" => plain::$run::<plain::ThreeBits<_>>($($argument),*),
            "mutant:am-chain-swaps-6-and-7" => plain::$run::<plain::Swapped<_>>($($argument),*),
            "mutant:turnstile-simple-three-split" => plain::$run::<plain::Split<_>>($($argument),*),
            "mutant:turnstile-simple-signals-blindly" => plain::$run::<plain::Blind<_>>($($argument),*),
            _ => return None,
        })
    };
}

fn by_loom(subject: &Subject, limit: Duration) -> Option<Found> {
    with_plain!(subject, loom(subject.needs, limit))
}

fn by_shuttle(subject: &Subject, limit: Duration, drawn: plain::Drawn, seed: u64) -> Option<Found> {
    with_plain!(subject, shuttle(subject.needs, limit, drawn, seed))
}
