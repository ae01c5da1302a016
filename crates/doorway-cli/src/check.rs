//! `doorway check`

use crate::output::{count, print, print_json};
use crate::{Exit, output};
use doorway_check::explore::{Progress, Verdict};
use doorway_check::replay::Token;
use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Rules, World};
use doorway_check::subject::{self, Subject};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::Register;
use doorway_core::registry::{self, Second, Sizes};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fmt::Write as _;
use std::num::NonZero;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as `doorway list` names it, or mutant:NAME
    id: String,
    /// Processes [default: the algorithm's]
    #[arg(long)]
    n: Option<usize>,
    /// Places: how many may be inside [default: the algorithm's]
    #[arg(long)]
    k: Option<usize>,
    /// Rooms, of an algorithm that has them [default: the algorithm's]
    #[arg(long)]
    rooms: Option<usize>,
    /// Slots, of an algorithm that has them [default: the algorithm's]
    #[arg(long)]
    slots: Option<usize>,
    /// Passages of each process: a number, or "unbounded" [default: the algorithm's]
    #[arg(long, value_parser = passages)]
    passages: Option<Passages>,
    /// A property to ask for; may be given several times [default: all that the algorithm promises]
    #[arg(long = "property", value_name = "NAME")]
    properties: Vec<String>,
    /// Let up to this many processes crash, at any step outside their remainders [default: 0, or as many as the mutant needs]
    #[arg(long, value_name = "F")]
    crashes: Option<usize>,
    /// Weaken each variable to this kind of register, and no further than it declares [default: atomic, or what the mutant needs]
    #[arg(long, value_parser = register)]
    registers: Option<Register>,
    /// Let waits that can be abandoned be abandoned, at every turn that fails
    #[arg(long)]
    give_ups: bool,
    /// Nobody begins a passage while so many wait or are about to, where processes leave something behind when they give up
    #[arg(long, value_name = "TICKETS")]
    line: Option<NonZero<u32>>,
    /// Let a counter that only some steps move stay no further behind than this, where that decides nothing: fewer states, and what happens when it is further behind is not seen
    #[arg(long, value_name = "TICKETS")]
    lag: Option<NonZero<u32>>,
    /// Search only runs in which another process than the last steps at most this often: finds deep failures that need few changes, and decides nothing else
    #[arg(long, value_name = "CHANGES", conflicts_with = "dot")]
    switches: Option<u32>,
    /// Take states for one that are known to be alike, where that is known and states are finitely many anyway: fewer states, traces harder to read
    #[arg(long)]
    alike: bool,
    /// Let waiting be sleeping, and waking the sleepers a step of its own
    #[arg(long)]
    wakes: bool,
    /// With --wakes: let sleepers wake up by themselves too
    #[arg(long, requires = "wakes")]
    timed_sleeps: bool,
    /// How to search
    #[arg(long, value_enum, default_value_t = Method::Exhaustive)]
    method: Method,
    /// With random or pct: how many runs
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// With random or pct: how many steps a run has
    #[arg(long, default_value = "500")]
    length: NonZero<usize>,
    /// With pct: how many ordering constraints a failure may need
    #[arg(long, default_value_t = 3)]
    depth: u32,
    /// With random or pct: chooses the choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also write the graph of states to this file, for Graphviz (up to 2000 states)
    #[arg(long, value_name = "FILE")]
    dot: Option<std::path::PathBuf>,
    /// With --registers: weaken variables further than they declare
    #[arg(long)]
    force: bool,
    /// End the search after this many states
    #[arg(long, value_name = "STATES")]
    max_states: Option<NonZero<usize>>,
    /// End the search when it holds this much memory, such as 512M or 8G [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<usize>,
    /// Do not merge local states that the text says are alike, nor forget values it says do not matter (slow; right whatever it says)
    #[arg(long)]
    no_keep: bool,
    /// When the search is done, run merged local states side by side to see that they are alike
    #[arg(long, conflicts_with = "no_keep")]
    cross_check: bool,
    /// Go on after a failure until every property is decided
    #[arg(long)]
    keep_going: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// All interleavings
    Exhaustive,
    /// Random schedules
    Random,
    /// Schedules by random priorities
    Pct,
}

#[derive(Clone, Copy)]
struct Passages(Option<u32>);

fn passages(text: &str) -> Result<Passages, String> {
    match (text, text.parse()) {
        ("unbounded", _) => Ok(Passages(None)),
        (_, Ok(n)) if n > 0 => Ok(Passages(Some(n))),
        _ => Err("give a number from 1 on, or \"unbounded\"".to_owned()),
    }
}

fn register(text: &str) -> Result<Register, String> {
    let kinds = [Register::Safe, Register::Monotone, Register::Regular, Register::Atomic];
    kinds.into_iter().find(|kind| kind.to_string() == text).ok_or("give safe, monotone, regular or atomic".to_owned())
}

fn size(text: &str) -> Result<usize, String> {
    let bad = || "give a number of bytes, or one with K, M or G behind it, such as 512M".to_owned();
    let (digits, unit) = match text.char_indices().last().ok_or_else(bad)? {
        (at, 'k' | 'K') => (&text[..at], 1 << 10),
        (at, 'm' | 'M') => (&text[..at], 1 << 20),
        (at, 'g' | 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(bad)?;
    if bytes == 0 { Err(bad()) } else { Ok(bytes) }
}

/// Half of the memory that is free now, so that a search ends cleanly before the system ends it.
pub(crate) fn half_of_free_memory() -> usize {
    let free = || {
        let info = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
    };
    free().map_or(4 << 30, |kib| kib * 1024 / 2)
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Document<'a> {
    algorithm: String,
    n: usize,
    k: usize,
    registers: String,
    crashes: usize,
    passages: Option<u32>,
    states: usize,
    edges: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    properties: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    holds: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
}

impl<'a> Line<'a> {
    fn new(v: &'a Verdict, subject: &Subject, sizes: Sizes, rules: Rules) -> Self {
        let trace = v.trace.as_ref().filter(|_| v.holds == Some(false));
        let replay = trace.map(|trace| Token::new(subject, sizes, rules, &v.name, trace).to_string());
        Self { name: &v.name, holds: v.holds, trace, replay }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let subject = subject::find(&args.id).map_err(|e| e.to_string())?;
    let second = [(Second::Places, args.k), (Second::Rooms, args.rooms), (Second::Slots, args.slots)];
    let second = subject.info.second(second).map_err(|e| e.to_string())?;
    let sizes = subject.sizes(args.n, second).map_err(|e| e.to_string())?;
    let properties = chosen(&subject, sizes, &args.properties)?;
    let keep = match (args.no_keep, args.cross_check) {
        (true, _) => Keep::Ignored,
        (_, true) => Keep::CrossChecked,
        _ => Keep::Trusted,
    };
    let passages = args.passages.map_or(subject.defaults().passages, |p| p.0);
    let rules = Rules {
        passages,
        keep,
        forget: !args.no_keep,
        crashes: args.crashes.unwrap_or(subject.rules().crashes),
        registers: args.registers.unwrap_or(subject.rules().registers),
        force_registers: args.force,
        give_ups: args.give_ups || subject.rules().give_ups,
        wakes: args.wakes,
        timed_sleeps: args.timed_sleeps,
        line: args.line.map(NonZero::get),
        lag: args.lag.map(NonZero::get),
        switches: args.switches,
        alike: args.alike,
        ..Rules::default()
    }
    .for_properties(&properties);

    if args.give_ups && !registry::can_give_up(subject.info.id) {
        return Err(format!(
            "{} cannot give up: a process that has begun must go through; drop --give-ups",
            subject.id()
        ));
    }
    let begun = Instant::now();
    let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
    if let Some(file) = &args.dot {
        let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
        let graph = doorway_check::export::dot(world, 2000).map_err(|e| e.to_string())?;
        std::fs::write(file, graph).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    if args.method != Method::Exhaustive {
        return sample(&subject, sizes, rules, properties, world, args);
    }
    let bar = Bar::new();
    let report = Explorer::new(sizes.n)
        .properties(properties)
        .max_states(args.max_states.map(NonZero::get))
        .max_memory(args.max_memory.unwrap_or_else(half_of_free_memory))
        .keep_going(args.keep_going)
        .on_progress(|progress| bar.show(progress))
        .explore(world)
        .map_err(|e| e.to_string())?;
    bar.clear();

    if args.json {
        print_json(&Document {
            algorithm: subject.id(),
            n: sizes.n,
            k: sizes.k,
            registers: report.rules.registers.to_string(),
            crashes: report.rules.crashes,
            passages,
            states: report.states,
            edges: report.edges,
            complete: report.complete,
            stopped: report.stop.map(|stop| stop.to_string()),
            properties: report.verdicts.iter().map(|v| Line::new(v, &subject, sizes, report.rules)).collect(),
        })?;
    } else {
        print(&describe(&subject, sizes, &report, begun.elapsed()))?;
    }
    Ok(exit(&report))
}

/// Samples runs instead of searching all.
fn sample(
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    properties: Vec<Property>,
    mut world: World,
    args: &Args,
) -> Result<Exit, String> {
    let choose = if args.method == Method::Pct { Choose::Priorities { depth: args.depth } } else { Choose::Random };
    let sampler = Sampler { choose, runs: args.runs, length: args.length.get(), seed: args.seed };
    let sampled = sampler.run(&mut world, properties).map_err(|e| e.to_string())?;
    let failed = sampled.verdicts.iter().any(|v| v.holds == Some(false));
    if args.json {
        print_json(&Document {
            algorithm: subject.id(),
            n: sizes.n,
            k: sizes.k,
            registers: rules.registers.to_string(),
            crashes: rules.crashes,
            passages: rules.passages,
            states: 0,
            edges: sampled.steps,
            complete: false,
            stopped: Some(format!("{} runs by samples", sampled.runs)),
            properties: sampled.verdicts.iter().map(|v| Line::new(v, subject, sizes, rules)).collect(),
        })?;
    } else {
        let mut out = heading(subject, sizes, rules);
        verdict_lines(&mut out, &sampled.verdicts, subject, sizes, rules);
        let _ = writeln!(
            out,
            "\n{} of {}, {} in all: a sample, which proves nothing",
            count(sampled.runs, "run"),
            count(args.length.get() as u64, "step"),
            count(sampled.steps, "step")
        );
        if let Some(p) = sampled.probability.filter(|_| rules.crashes == 0 && rules.registers == Register::Atomic) {
            let missed = (1.0 - p).powf(sampled.runs as f64);
            let _ = writeln!(
                out,
                "a failure of depth {} is found by one run with probability at least {p:.1e}, and missed by all with at most {missed:.3}",
                args.depth
            );
        }
        print(&out)?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Incomplete })
}

pub(crate) fn exit(report: &Report) -> Exit {
    match (report.failure(), report.complete) {
        (Some(_), _) => Exit::Failed,
        (None, true) if report.verdicts.iter().all(|v| v.holds.is_some()) => Exit::Fine,
        (None, _) => Exit::Incomplete,
    }
}

/// The properties asked for, or all.
fn chosen(subject: &Subject, sizes: Sizes, names: &[String]) -> Result<Vec<Property>, String> {
    if names.is_empty() {
        return Ok(subject.claims(sizes));
    }
    let mut claims = subject.askable(sizes);
    let mut chosen: Vec<Property> = Vec::new();
    for name in names {
        if chosen.iter().any(|property| property.name() == name) {
            continue;
        }
        let Some(at) = claims.iter().position(|property| property.name() == name) else {
            let known: Vec<&str> = claims.iter().map(Property::name).collect();
            let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
            let nearest =
                known.iter().min_by_key(|known| distance(known)).filter(|known| distance(known) * 2 <= known.len());
            let advice = nearest.map_or(String::new(), |known| format!("; did you mean {known}?"));
            return Err(format!("{} has no property {name:?}{advice} There are {}", subject.id(), known.join(", ")));
        };
        chosen.push(claims.swap_remove(at));
    }
    Ok(chosen)
}

/// What is searched, for people.
fn heading(subject: &Subject, sizes: Sizes, rules: Rules) -> String {
    let passages = rules.passages.map_or("unbounded".to_owned(), |p| p.to_string());
    let crashes = match rules.crashes {
        0 => "no crashes".to_owned(),
        1 => "up to 1 crash".to_owned(),
        f => format!("up to {f} crashes"),
    };
    let force = if rules.force_registers { ", forced" } else { "" };
    let give_ups = if rules.give_ups { ", give-ups" } else { "" };
    let sleep = match (rules.wakes, rules.timed_sleeps) {
        (true, true) => ", sleeping with a time limit",
        (true, false) => ", sleeping",
        _ => "",
    };
    format!(
        "{}: {}\nn={} {}={}, {} registers{force}, {crashes}{give_ups}{sleep}, passages: {passages}\n\n",
        subject.id(),
        subject.mutant.map_or(subject.info.title, |m| m.change),
        sizes.n,
        subject.info.problem.second().name(),
        sizes.k,
        rules.registers
    )
}

/// The verdicts, and the traces of what failed.
fn verdict_lines(out: &mut String, verdicts: &[Verdict], subject: &Subject, sizes: Sizes, rules: Rules) {
    let width = verdicts.iter().map(|v| v.name.len()).max().unwrap_or(0);
    for v in verdicts {
        let verdict = match (v.holds, &v.trace) {
            (Some(true), _) => v.vacuous.map_or("holds".to_owned(), |why| format!("holds ({why})")),
            (Some(false), Some(trace)) if trace.repeats_from.is_some() => "FAILS for ever".to_owned(),
            (Some(false), Some(trace)) => format!("FAILS after {}", count(trace.len() as u64, "step")),
            (Some(false), None) => "FAILS: never so".to_owned(),
            (None, _) => v.vacuous.map_or("not decided".to_owned(), |why| format!("not decided: {why}")),
        };
        let _ = writeln!(out, "  {:width$}  {verdict}", v.name);
    }
    for v in verdicts.iter().filter(|v| v.holds == Some(false)) {
        if let Some(trace) = &v.trace {
            let how = if trace.repeats_from.is_some() { "A run without end that breaks" } else { "A way to break" };
            let token = Token::new(subject, sizes, rules, &v.name, trace);
            let _ = writeln!(out, "\n{how} {}:\n{trace}\n\ndoorway replay {token}", v.name);
        }
    }
}

/// What was found and what was covered, for people.
pub(crate) fn describe(subject: &Subject, sizes: Sizes, report: &Report, took: Duration) -> String {
    let mut out = heading(subject, sizes, report.rules);
    verdict_lines(&mut out, &report.verdicts, subject, sizes, report.rules);
    let covered = match (report.complete, report.rules.passages, report.stop) {
        (true, None, _) => "complete".to_owned(),
        (true, Some(p), _) => format!("complete for {} of each process", count(u64::from(p), "passage")),
        (false, _, Some(why)) => {
            format!("{} looked at, NOT complete: {why}", output::thousands(report.expanded as u64))
        }
        (false, ..) => "NOT complete".to_owned(),
    };
    let few = report.rules.switches.filter(|_| report.complete);
    let few = few.map_or(String::new(), |most| {
        format!(", in runs that change hands at most {}", count(u64::from(most), "time"))
    });
    let _ = writeln!(
        out,
        "\n{}, {}, {covered}{few} ({:.2} s{}, {:.0} bytes a state)",
        count(report.states as u64, "state"),
        count(report.edges, "edge"),
        took.as_secs_f64(),
        // Worth a word only where it can be told apart.
        if report.judging.as_millis() > 100 {
            format!(", {:.2} s of it on progress", report.judging.as_secs_f64())
        } else {
            String::new()
        },
        report.bytes_per_state()
    );
    if let Some((compared, all)) = report.cross_checked {
        let extent = if all { "all" } else { "NOT all" };
        let _ = writeln!(out, "merged local states agree on {} ({extent} there are)", count(compared, "continuation"));
    }
    out
}

/// A line on a terminal that says how far the search has come; nothing elsewhere.
struct Bar {
    bar: ProgressBar,
    begun: Instant,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar, begun: Instant::now() }
    }

    fn show(&self, progress: &Progress) {
        let rate = progress.states as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_message(format!(
            "{} states, {} a second, {} to go on from, {}",
            output::thousands(progress.states as u64),
            output::thousands(rate as u64),
            output::thousands(progress.frontier as u64),
            HumanBytes(progress.bytes as u64)
        ));
        self.bar.tick();
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("7"), Ok(7));
        for bad in ["", "M", "-1G", "0", "99999999999G", "1.5G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn passages_are_counted_from_one() {
        assert_eq!(passages("3").map(|p| p.0), Ok(Some(3)));
        assert_eq!(passages("unbounded").map(|p| p.0), Ok(None));
        assert!(passages("0").is_err() && passages("many").is_err());
    }
}
