//! `doorway check`

mod args;
mod leases;
mod print;

pub(crate) use args::{Args, EXAMPLES};

use crate::output::{self, count};
use crate::{Exit, faults, interrupt};
use args::Method;
use doorway_check::explore::{Covered, Registers, Stop, UNDECIDED, Verdict, half_of_free_memory};
use doorway_check::export::{self, DotError};
use doorway_check::picture::{DRAWN, StateGraph};
use doorway_check::replay::Token;
use doorway_check::sample::{Choose, Sampler};
use doorway_check::sim::{Keep, Rules, World};
use doorway_check::subject::Subject;
use doorway_check::terminal::Line;
use doorway_check::viewer;
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use indicatif::HumanBytes;
use print::{account, add_tokens};
use std::fmt::Write as _;
use std::num::NonZero;
use std::time::Instant;

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
    if let Some(leases) = doorway_check::leases::Leases::named(&args.id) {
        return leases::run(leases, args);
    }
    let subject = faults::find(&args.id, args.fault.as_deref())?;
    let sizes = args.sizes.of(&subject)?;
    args.refuse_what_has_no_effect()?;
    let report_to = args.report()?;
    let rules = args.rules.of(&subject, sizes)?;
    let properties = chosen(&subject, sizes, &args.properties)?;
    let keep = match (args.no_keep, args.cross_check) {
        (true, _) => Keep::Ignored,
        (_, true) => Keep::CrossChecked,
        _ => Keep::Trusted,
    };
    let rules = Rules { keep, forget: !args.no_keep, switches: args.switches, ..rules }.for_properties(&properties);

    refuse_too_many_values(sizes, rules)?;
    let limit = Limit::of(args);
    let begun = Instant::now();
    if let Some(why) = does_not_fit(&subject, sizes, limit) {
        return not_built(&subject, sizes, rules, &properties, &why, args);
    }
    let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
    if args.method != Method::Exhaustive {
        return sample(&subject, sizes, rules, properties, world, limit, args);
    }
    let searching = interrupt::Searching::begin();
    let mut line = Line::new();
    let report = Explorer::new(sizes.n)
        .properties(properties)
        .max_states(args.max_states.map(NonZero::get))
        .max_memory(limit.bytes.saturating_sub(subject.bytes(sizes) as usize))
        .keep_going(args.keep_going)
        .threads(args.threads())
        .bitstate(args.bitstate)
        .symmetric(args.symmetric)
        .compare_keep(args.compare_keep)
        .believe_keep(args.believe_keep)
        .save(args.save.clone())
        .resume(args.resume.clone())
        .on_progress(|progress| line.show(progress))
        .stop_when(interrupt::is_asked_for)
        .explore(world);
    drop((searching, line));
    let mut report = report.map_err(|e| e.to_string())?;
    faults::warn_of_those_without_effect(&report);

    add_tokens(&mut report.verdicts, &subject, sizes, report.rules);
    let id = subject.id();
    let account = account((&subject, &id), sizes, report.rules, &report.registers, &report.verdicts);
    if args.json {
        let stopped = report.stop.map(|stop| limit.why(stop, args.max_states));
        let Report { states, with_all_names, edges, complete, cross_checked, .. } = report;
        let covered = Covered { states, with_all_names, edges, complete, stopped, cross_checked };
        report_to.print_json(&account.document(covered))?;
    } else {
        let why = |stop| limit.why(stop, args.max_states);
        report_to.print(&account.described(&report, begun.elapsed(), &why))?;
    }
    let written = write_files(&subject, sizes, report.rules, &report.verdicts, args);
    Ok(exit(&report).unless_not(written))
}

/// How many states a summary of the graph looks at.
const MOST_SUMMED_UP: usize = 100_000;

/// How many states are written for Graphviz.
const MOST_IN_DOT: usize = 2000;

/// Writes the files that were asked for, and returns whether it could. What cannot be written does
/// not hide the verdict.
fn write_files(subject: &Subject, sizes: Sizes, rules: Rules, verdicts: &[Verdict], args: &Args) -> bool {
    let graphs = write_graphs(subject, sizes, rules, args);
    let page = write_page(subject, sizes, rules, verdicts, args);
    let written = graphs.is_ok() && page.is_ok();
    for why in [graphs, page].into_iter().filter_map(Result::err) {
        eprintln!("doorway: {why}");
    }
    written
}

/// Writes the graph for Graphviz and as a picture, and says so if that is only a summary.
fn write_graphs(subject: &Subject, sizes: Sizes, rules: Rules, args: &Args) -> Result<(), String> {
    let world = || subject.world(sizes, rules).map_err(|e| e.to_string());
    let graph = || StateGraph::of(world()?, subject.claims(sizes), MOST_SUMMED_UP).map_err(|e| e.to_string());
    let says = |most: usize, summary: &str| {
        eprint!("doorway: a graph of more than {most} states is not drawn; a summary of it:\n{summary}");
    };
    if let Some(file) = &args.dot {
        match export::dot(world()?, MOST_IN_DOT) {
            Ok(text) => output::write(file, &text)?,
            Err(DotError::TooLarge(most)) => {
                let summary = graph()?.summary();
                output::write(file, &export::dot_of_text(&summary))?;
                says(most, &summary);
            }
            Err(e) => return Err(e.to_string()),
        }
    }
    if let Some(file) = &args.svg {
        let graph = graph()?;
        output::write(file, &graph.svg())?;
        if graph.states() > DRAWN {
            says(DRAWN, &graph.summary());
        }
    }
    Ok(())
}

/// Writes the page of the first failure that has a run, if a page was asked for.
fn write_page(subject: &Subject, sizes: Sizes, rules: Rules, verdicts: &[Verdict], args: &Args) -> Result<(), String> {
    let Some(file) = &args.html else { return Ok(()) };
    let failed = verdicts.iter().find(|v| v.holds == Some(false) && v.trace.is_some());
    let Some((name, trace)) = failed.and_then(|v| v.trace.as_ref().map(|trace| (&v.name, trace))) else {
        eprintln!("doorway: nothing failed that a run can show, so no page was written to {}", file.display());
        return Ok(());
    };
    let record = Token::new(subject, sizes, rules, name, trace).record().map_err(|e| e.to_string())?;
    output::write(file, &viewer::page(&record))
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
    let undecided = |p: &Property| Verdict::undecided(p.name().to_owned());
    let verdicts: Vec<Verdict> = properties.iter().map(undecided).collect();
    let (registers, id) = (Registers::asked_for(rules), subject.id());
    let account = account((subject, &id), sizes, rules, &registers, &verdicts);
    if args.json {
        args.report()?
            .print_json(&account.document(Covered { stopped: Some(why.to_owned()), ..Covered::default() }))?;
    } else {
        let mut out = account.heading() + &account.verdicts(UNDECIDED);
        let _ = writeln!(out, "\nno states, NOT complete: {why}");
        args.report()?.print(&out)?;
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
    let mut sampled = sampled.map_err(|e| e.to_string())?;
    add_tokens(&mut sampled.verdicts, subject, sizes, rules);
    let id = subject.id();
    let account = account((subject, &id), sizes, rules, &registers, &sampled.verdicts);
    let failed = sampled.verdicts.iter().any(|v| v.holds == Some(false));
    let early = stop.map_or(String::new(), |stop| format!(", {}", limit.why(stop, None)));
    let report_to = args.report()?;
    if args.json {
        let stopped = Some(format!("{} by samples{early}", count(sampled.runs, "run")));
        report_to.print_json(&account.document(Covered { edges: sampled.steps, stopped, ..Covered::default() }))?;
    } else {
        let mut out = account.heading() + &account.verdicts(UNDECIDED);
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
        report_to.print(&out)?;
    }
    let written = write_files(subject, sizes, rules, &sampled.verdicts, args);
    let exit = match stop {
        Some(Stop::Interrupted) => Exit::Interrupted,
        _ if failed => Exit::Failed,
        _ => Exit::Incomplete,
    };
    Ok(exit.unless_not(written))
}

fn exit(report: &Report) -> Exit {
    match (report.stop, report.failure()) {
        (Some(Stop::Interrupted), _) => Exit::Interrupted,
        (_, Some(_)) => Exit::Failed,
        _ if report.is_proven() => Exit::Fine,
        _ => Exit::Incomplete,
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
