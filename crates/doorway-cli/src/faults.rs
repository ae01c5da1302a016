//! `doorway faults`

use crate::output::{count, print, print_json};
use crate::rules::RuleArgs;
use crate::sizes::SizeArgs;
use crate::{Exit, check, interrupt};
use doorway_check::Report;
use doorway_check::explore::Stop;
use doorway_check::faults::{Found, Hunt, Outcome, candidates};
use doorway_check::subject::{self, FAULTS_FOLLOW, Subject};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::fmt::Write as _;
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`
    id: String,
    #[command(flatten)]
    sizes: SizeArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Stop the search for one fault after this many states
    #[arg(long, value_name = "STATES", default_value = "300000")]
    max_states: NonZero<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Finds an algorithm or a mutant, perhaps with a fault besides those of its name.
pub(crate) fn find(id: &str, fault: Option<&str>) -> Result<Subject, String> {
    let sign = if id.contains(FAULTS_FOLLOW) { ',' } else { FAULTS_FOLLOW };
    let id = fault.map_or_else(|| id.to_owned(), |fault| format!("{id}{sign}{fault}"));
    subject::find(&id).map_err(|e| e.to_string())
}

/// Without this warning, a fault at a statement that does not exist would look like one that no
/// claim notices.
pub(crate) fn warn_of_those_without_effect(report: &Report) {
    for fault in &report.faults_without_effect {
        eprintln!("doorway: the fault {fault} changed nothing: no process reached that access or variable");
    }
}

#[derive(Serialize)]
struct Document<'a> {
    algorithm: String,
    n: usize,
    k: usize,
    passages: Option<u32>,
    max_states: usize,
    /// Whether all statements are known, and all their faults were tried.
    complete: bool,
    faults: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    fault: String,
    outcome: &'static str,
    claim: Option<&'a str>,
    steps: Option<usize>,
    token: Option<&'a str>,
    why: Option<String>,
    states: usize,
}

impl<'a> Row<'a> {
    fn of(found: &'a Found) -> Self {
        let Found { fault, outcome, states } = found;
        let row = |outcome| Row {
            fault: fault.to_string(),
            outcome,
            claim: None,
            steps: None,
            token: None,
            why: None,
            states: *states,
        };
        match outcome {
            Outcome::Noticed { claim, steps, token } => {
                Row { claim: Some(claim), steps: Some(*steps), token: token.as_deref(), ..row("noticed") }
            }
            Outcome::Missed => row("not noticed"),
            Outcome::Idle => row("changes nothing"),
            Outcome::Undecided(stop) => Row { why: Some(stop.to_string()), ..row("not decided") },
            Outcome::Impossible(e) => Row { why: Some(e.to_string()), ..row("cannot be run") },
        }
    }

    fn says(&self) -> String {
        match (self.claim, &self.why) {
            (Some(claim), _) => match self.steps {
                Some(0) | None => claim.to_owned(),
                Some(steps) => format!("{claim} after {}", count(steps as u64, "step")),
            },
            (None, Some(why)) => format!("{}: {why}", self.outcome),
            (None, None) => self.outcome.to_owned(),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let subject = subject::find(&args.id).map_err(|e| e.to_string())?;
    let sizes = args.sizes.of(&subject)?;
    check::does_not_fit(&subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)?;
    let rules = args.rules.of(&subject, sizes)?;
    check::refuse_too_many_values(sizes, rules)?;
    let hunt = Hunt { subject, sizes, rules, max_states: args.max_states.get() };
    let searching = interrupt::Searching::begin();
    let (statements, all_known) = hunt.statements(interrupt::is_asked_for).map_err(|e| e.to_string())?;
    let faults = candidates(&statements);
    let style = ProgressStyle::with_template("{pos}/{len} faults, {msg}").map_err(|e| e.to_string())?;
    let bar = interrupt::shown(ProgressBar::new(faults.len() as u64).with_style(style));
    let mut found = Vec::new();
    for fault in &faults {
        if interrupt::is_asked_for() {
            break;
        }
        bar.set_message(fault.to_string());
        let tried = hunt.search(fault, interrupt::is_asked_for);
        // A search that Ctrl-C ended says nothing about the fault.
        if tried.outcome != Outcome::Undecided(Stop::Interrupted) {
            found.push(tried);
        }
        bar.inc(1);
    }
    drop(searching);
    bar.finish_and_clear();
    let complete = all_known && found.len() == faults.len();
    let rows: Vec<Row<'_>> = found.iter().map(Row::of).collect();
    let undecided = rows.iter().filter(|row| row.outcome == "not decided").count();
    if args.json {
        print_json(&Document {
            algorithm: subject.id(),
            n: sizes.n,
            k: sizes.k,
            passages: rules.passages,
            max_states: hunt.max_states,
            complete,
            faults: rows,
        })?;
    } else {
        let second = subject.info.problem.second().name();
        let mut out =
            format!("{} with n={}, {second}={}: which claim notices each fault\n\n", subject.id(), sizes.n, sizes.k);
        let width = rows.iter().map(|row| row.fault.len()).max().unwrap_or(0);
        for row in &rows {
            let _ = writeln!(out, "  {:width$}  {}", row.fault, row.says());
        }
        let of = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
        let _ = write!(
            out,
            "\n{}: {} noticed, {} not noticed, {} that change nothing, {undecided} not decided, {} that cannot be run\n",
            count(rows.len() as u64, "fault"),
            of("noticed"),
            of("not noticed"),
            of("changes nothing"),
            of("cannot be run")
        );
        if found.len() < faults.len() {
            let _ = writeln!(out, "stopped: {} not tried", count((faults.len() - found.len()) as u64, "fault"));
        }
        if !all_known {
            let limit = "the search without faults stopped early, so some statements may be missing";
            let _ = writeln!(out, "{limit}; give a larger --max-states");
        }
        print(&out)?;
    }
    Ok(match (interrupt::is_asked_for(), complete && undecided == 0) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Incomplete,
    })
}
