//! `doorway check`

mod args;
mod print;

pub(crate) use args::{Args, Passages, passages, register};
use print::{Registers, describe};

use crate::output::{count, print, print_json};
use crate::sizes::sizes;
use crate::{Exit, faults, html, interrupt};
use args::Method;
use doorway_check::explore::{Stop, Verdict};
use doorway_check::picture::{DRAWN, StateGraph};
use doorway_check::replay::Token;
use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Rules, World};
use doorway_check::subject::{self, Subject};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use indicatif::HumanBytes;
use print::{Bar, Document, UNDECIDED, heading, verdict_lines};
use std::fmt::Write as _;
use std::num::NonZero;
use std::time::Instant;

/// Half of the free memory, so that a search stops cleanly before the system kills it.
fn half_of_free_memory() -> usize {
    let free = || {
        let info = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()
    };
    free().map_or(4 << 30, |kib| kib * 1024 / 2)
}

/// How much memory a search may use, and what its user can do about it.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) bytes: usize,
    advice: &'static str,
}

impl Limit {
    /// Half of the free memory, for a command that has no option for it.
    pub(crate) fn half_of_what_is_free() -> Self {
        Self { bytes: half_of_free_memory(), advice: "give smaller sizes" }
    }

    fn of(args: &Args) -> Self {
        let bytes = args.max_memory.unwrap_or_else(half_of_free_memory);
        Self { bytes, advice: "give smaller sizes or a larger --max-memory" }
    }

    /// Why a search stopped: the limit that it reached, and the option that sets it.
    pub(crate) fn why(self, stop: Stop, max_states: Option<NonZero<usize>>) -> String {
        match (stop, max_states) {
            (Stop::Memory, _) => {
                format!("the search reached its memory limit of {}; {}", HumanBytes(self.bytes as u64), self.advice)
            }
            (Stop::States, Some(most)) => {
                format!(
                    "the search reached its limit of {}; give a larger --max-states",
                    count(most.get() as u64, "state")
                )
            }
            _ => stop.to_string(),
        }
    }
}

/// Why a machine is not even built: its variables alone need more memory than the limit.
pub(crate) fn does_not_fit(subject: &Subject, sizes: Sizes, limit: Limit) -> Option<String> {
    let (bytes, most) = (subject.bytes(sizes), limit.bytes as u64);
    (bytes > most).then(|| {
        format!(
            "the variables of {} with n={}, {}={} need about {}, more than the memory limit of {}; {}",
            subject.id(),
            sizes.n,
            subject.info.problem.second().name(),
            sizes.k,
            HumanBytes(bytes),
            HumanBytes(most),
            limit.advice
        )
    })
}

/// Refuses weak registers if the number of passages is so large that a torn read has more results
/// than an action can tell apart.
pub(crate) fn refuse_too_many_values(sizes: Sizes, rules: Rules) -> Result<(), String> {
    let (largest, most) = (rules.largest_natural(sizes.n), u64::from(u16::MAX) - 3);
    if rules.registers > Register::Monotone || largest < most {
        return Ok(());
    }
    Err(format!(
        "with this many passages a torn read may return any number up to {largest}, which is too many; give --passages {} or fewer",
        (most - 3) / sizes.n as u64
    ))
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let id = args.fault.as_ref().map_or_else(|| args.id.clone(), |fault| faults::with(&args.id, fault));
    let subject = subject::find(&id).map_err(|e| e.to_string())?;
    let sizes = sizes(&subject, args.n, [args.k, args.rooms, args.slots])?;
    args.refuse_what_has_no_effect(&subject, sizes)?;
    let properties = chosen(&subject, sizes, &args.properties)?;
    let keep = match (args.no_keep, args.cross_check) {
        (true, _) => Keep::Ignored,
        (_, true) => Keep::CrossChecked,
        _ => Keep::Trusted,
    };
    let rules = Rules {
        passages: args.passages.map_or(subject.defaults().passages, |p| p.0),
        keep,
        forget: !args.no_keep,
        crashes: args.crashes.unwrap_or(subject.rules().crashes.min(sizes.n)),
        deaths: args.deaths(),
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

    refuse_too_many_values(sizes, rules)?;
    let limit = Limit::of(args);
    let begun = Instant::now();
    if let Some(why) = does_not_fit(&subject, sizes, limit) {
        return not_built(&subject, sizes, rules, &properties, &why, args);
    }
    let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
    if let Some(file) = &args.dot {
        let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
        let graph = doorway_check::export::dot(world, 2000).map_err(|e| e.to_string())?;
        std::fs::write(file, graph).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    if let Some(file) = &args.svg {
        draw(&subject, sizes, rules, file)?;
    }
    if args.method != Method::Exhaustive {
        return sample(&subject, sizes, rules, properties, world, limit, args);
    }
    let registers = Registers::of(&world);
    let searching = interrupt::Searching::begin();
    let bar = Bar::new();
    let report = Explorer::new(sizes.n)
        .properties(properties)
        .max_states(args.max_states.map(NonZero::get))
        .max_memory(limit.bytes.saturating_sub(subject.bytes(sizes) as usize))
        .keep_going(args.keep_going)
        .threads(args.threads())
        .bitstate(args.bitstate)
        .save(args.save.clone())
        .resume(args.resume.clone())
        .on_progress(|progress| bar.show(progress))
        .stop_when(interrupt::is_asked_for)
        .explore(world);
    drop(searching);
    bar.clear();
    let report = report.map_err(|e| e.to_string())?;
    faults::warn_of_those_without_effect(&report);

    if args.json {
        print_json(&Document {
            states: report.states,
            edges: report.edges,
            complete: report.complete,
            stopped: report.stop.map(|stop| limit.why(stop, args.max_states)),
            ..Document::new(&subject, sizes, report.rules, &registers, &report.verdicts)
        })?;
    } else {
        let why = |stop| limit.why(stop, args.max_states);
        print(&describe(&subject, sizes, &registers, &report, begun.elapsed(), &why))?;
    }
    // A page that cannot be written does not hide the verdict.
    if let Err(why) = write_page(&subject, sizes, report.rules, &report.verdicts, args) {
        eprintln!("doorway: {why}");
    }
    Ok(exit(&report))
}

/// How many states a summary of the graph looks at.
const MOST_SUMMED_UP: usize = 100_000;

/// Writes a picture of the graph, and says what it shows if that is only a summary.
fn draw(subject: &Subject, sizes: Sizes, rules: Rules, file: &std::path::Path) -> Result<(), String> {
    let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
    let graph = StateGraph::of(world, subject.claims(sizes), MOST_SUMMED_UP).map_err(|e| e.to_string())?;
    std::fs::write(file, graph.svg()).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    if graph.states() > DRAWN {
        eprint!("doorway: more than {DRAWN} states are not drawn; a summary of the graph:\n{}", graph.summary());
    }
    Ok(())
}

/// Writes the page of the first failure that has a run, if a page was asked for.
fn write_page(subject: &Subject, sizes: Sizes, rules: Rules, verdicts: &[Verdict], args: &Args) -> Result<(), String> {
    let Some(file) = &args.html else { return Ok(()) };
    let failed = verdicts.iter().find(|v| v.holds == Some(false) && v.trace.is_some());
    let Some((name, trace)) = failed.and_then(|v| v.trace.as_ref().map(|trace| (&v.name, trace))) else {
        eprintln!("doorway: nothing failed that a run can show, so {} was not written", file.display());
        return Ok(());
    };
    let record = Token::new(subject, sizes, rules, name, trace).record().map_err(|e| e.to_string())?;
    html::write(file, &record)
}

/// Reports that nothing was decided, and why.
fn not_built(
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    properties: &[Property],
    why: &str,
    args: &Args,
) -> Result<Exit, String> {
    let undecided =
        |p: &Property| Verdict { name: p.name().to_owned().into(), holds: None, vacuous: None, trace: None };
    let verdicts: Vec<Verdict> = properties.iter().map(undecided).collect();
    let registers = Registers::asked_for(rules);
    if args.json {
        let stopped = Some(why.to_owned());
        print_json(&Document { stopped, ..Document::new(subject, sizes, rules, &registers, &verdicts) })?;
    } else {
        let mut out = heading(subject, sizes, rules, &registers);
        verdict_lines(&mut out, &verdicts, UNDECIDED, subject, sizes, rules);
        let _ = writeln!(out, "\nno states, NOT complete: {why}");
        print(&out)?;
    }
    Ok(Exit::Incomplete)
}

/// Samples runs instead of exploring all.
fn sample(
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    properties: Vec<Property>,
    mut world: World,
    limit: Limit,
    args: &Args,
) -> Result<Exit, String> {
    let depth = args.depth.unwrap_or(3);
    let choose = if args.method == Method::Pct { Choose::Priorities { depth } } else { Choose::Random };
    let (runs, length) = (args.runs.map_or(10_000, NonZero::get), args.length.map_or(500, NonZero::get));
    let sampler = Sampler { choose, runs, length, seed: args.seed.unwrap_or(1) };
    let registers = Registers::of(&world);
    let mut stop = None;
    let searching = interrupt::Searching::begin();
    let sampled = sampler.run_while(&mut world, properties, |bytes| {
        if interrupt::is_asked_for() {
            stop = Some(Stop::Interrupted);
        } else if bytes >= limit.bytes {
            stop = Some(Stop::Memory);
        }
        stop.is_none()
    });
    drop(searching);
    let sampled = sampled.map_err(|e| e.to_string())?;
    write_page(subject, sizes, rules, &sampled.verdicts, args)?;
    let failed = sampled.verdicts.iter().any(|v| v.holds == Some(false));
    let early = stop.map_or(String::new(), |stop| format!(", {}", limit.why(stop, None)));
    if args.json {
        print_json(&Document {
            edges: sampled.steps,
            stopped: Some(format!("{} by samples{early}", count(sampled.runs, "run"))),
            ..Document::new(subject, sizes, rules, &registers, &sampled.verdicts)
        })?;
    } else {
        let mut out = heading(subject, sizes, rules, &registers);
        verdict_lines(&mut out, &sampled.verdicts, UNDECIDED, subject, sizes, rules);
        let _ = writeln!(
            out,
            "\n{} of {}, {} in all: a sample, which proves nothing{early}",
            count(sampled.runs, "run"),
            count(length as u64, "step"),
            count(sampled.steps, "step")
        );
        if let Some(p) = sampled.probability.filter(|_| rules.crashes == 0 && rules.registers == Register::Atomic) {
            let missed = (1.0 - p).powf(sampled.runs as f64);
            let _ = writeln!(
                out,
                "one run finds a failure of depth {depth} with probability at least {p:.1e}; all runs miss it with probability at most {missed:.3}",
            );
        }
        print(&out)?;
    }
    Ok(match stop {
        Some(Stop::Interrupted) => Exit::Interrupted,
        _ if failed => Exit::Failed,
        _ => Exit::Incomplete,
    })
}

fn exit(report: &Report) -> Exit {
    match (report.stop, report.failure(), report.complete) {
        (Some(Stop::Interrupted), ..) => Exit::Interrupted,
        (_, Some(_), _) => Exit::Failed,
        (_, None, true) if report.verdicts.iter().all(|v| v.holds.is_some()) => Exit::Fine,
        (_, None, _) => Exit::Incomplete,
    }
}

/// The properties asked for, or all of them.
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
            let advice = nearest.map_or("; it has".to_owned(), |known| format!("; did you mean {known}? it has"));
            return Err(format!("{} has no property {name:?}{advice} {}", subject.id(), known.join(", ")));
        };
        chosen.push(claims.swap_remove(at));
    }
    Ok(chosen)
}
