//! `doorway replay`

use crate::output::{print, print_json};
use crate::sizes::sizes;
use crate::{Exit, check, html};
use doorway_check::export;
use doorway_check::replay::{Token, TokenError};
use doorway_check::schedule::Runner;
use doorway_check::sim::Rules;
use doorway_check::subject::{self, Subject};
use doorway_check::trace::Trace;
use doorway_check::viewer::{Record, Recorder};
use doorway_core::registry::Sizes;
use serde::Serialize;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A token that `doorway check` printed or, with --schedule, an algorithm
    token: String,
    /// Follow a schedule such as "p0.2 p1.2.3 p0>in p1!" instead of a token
    #[arg(long, value_name = "WORDS")]
    schedule: Option<String>,
    /// With --schedule: number of processes [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    n: Option<usize>,
    /// With --schedule: number of places [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    k: Option<usize>,
    /// With --schedule: number of rooms, for algorithms that have them [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    rooms: Option<usize>,
    /// With --schedule: number of slots, for algorithms that have them [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    slots: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print a LaTeX table
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Also write a page that shows the run, step by step, in a browser
    #[arg(long, value_name = "FILE")]
    html: Option<std::path::PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let (trace, judged) = match &args.schedule {
        Some(schedule) => (follow(args, schedule)?, None),
        None => again(&args.token).map(|(trace, judged)| (trace, Some(judged)))?,
    };
    if let Some(file) = &args.html {
        html::write(file, &record(args, &trace)?)?;
    }
    if args.json {
        let (property, breaks) = judged.as_ref().map(|judged| (judged.property.as_str(), judged.breaks)).unzip();
        print_json(&Document { property, breaks, trace: &trace })?;
    } else if args.latex {
        print(&export::latex(&trace))?;
    } else {
        print(&format!("{}{trace}\n", judged.as_ref().map_or(String::new(), |judged| judged.says.clone())))?;
    }
    Ok(if judged.is_none_or(|judged| judged.breaks) { Exit::Fine } else { Exit::Failed })
}

/// The run, with everything that a page shows of it.
fn record(args: &Args, trace: &Trace) -> Result<Record, String> {
    if args.schedule.is_none() {
        let token: Token = args.token.parse().map_err(|e: TokenError| e.to_string())?;
        return token.record().map_err(|e| e.to_string());
    }
    let (subject, sizes) = scheduled(args)?;
    let world = subject.world(sizes, schedule_rules(sizes)).map_err(|e| e.to_string())?;
    let recorder = Recorder::new(&world, subject.claims(sizes));
    let record = recorder.and_then(|mut recorder| recorder.record(&trace.actions, None)).map_err(|e| e.to_string())?;
    Ok(record.titled(subject.heading(), subject.describes(sizes, Rules::default())))
}

/// The JSON output.
#[derive(Serialize)]
struct Document<'a> {
    /// The property that the token says the run breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    /// Whether it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks: Option<bool>,
    #[serde(flatten)]
    trace: &'a Trace,
}

/// What a token says of its run, and whether that is true.
struct Judged {
    property: String,
    breaks: bool,
    /// For people.
    says: String,
}

/// The run of a token, and what to print about it.
fn again(token: &str) -> Result<(Trace, Judged), String> {
    if let Ok(subject) = subject::find(token) {
        return Err(format!("{} is an algorithm, not a token; add --schedule to step through it", subject.id()));
    }
    let token: Token = token.parse().map_err(|e: TokenError| e.to_string())?;
    let (id, property, sizes) = (&token.id, &token.property, token.sizes);
    let subject = subject::find(id).map_err(|e| e.to_string())?;
    token.named_property().map_err(|e| e.to_string())?;
    refuse_what_does_not_fit(&subject, sizes)?;
    check::refuse_too_many_values(sizes, token.rules)?;
    let second = subject.info.problem.second().name();
    let trace = token.replay().map_err(|e| e.to_string())?;
    let breaks = token.breaks_its_property().map_err(|e| e.to_string())?;
    let run = format!("{id} with n={}, {second}={}", sizes.n, sizes.k);
    let says = if breaks {
        format!("{run} breaks {property}:\n")
    } else {
        format!(
            "this run of {run} does NOT break {property}, although the token says so; `doorway check {id} --property \
             {property}` looks for one that does:\n"
        )
    };
    Ok((trace, Judged { property: property.clone(), breaks, says }))
}

fn refuse_what_does_not_fit(subject: &Subject, sizes: Sizes) -> Result<(), String> {
    check::does_not_fit(subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)
}

/// The algorithm of a schedule, and its sizes.
fn scheduled(args: &Args) -> Result<(Subject, Sizes), String> {
    let subject = subject::find(&args.token).map_err(|e| e.to_string())?;
    let sizes = sizes(&subject, args.n, [args.k, args.rooms, args.slots])?;
    refuse_what_does_not_fit(&subject, sizes)?;
    Ok((subject, sizes))
}

/// The schedule itself says which processes crash.
fn schedule_rules(sizes: Sizes) -> Rules {
    if sizes.n > 64 { Rules::default() } else { Rules { crashes: sizes.n, ..Rules::default() } }
}

fn follow(args: &Args, schedule: &str) -> Result<Trace, String> {
    let (subject, sizes) = scheduled(args)?;
    let mut runner = Runner::new(subject.world(sizes, schedule_rules(sizes)).map_err(|e| e.to_string())?);
    runner.follow(schedule).map_err(|e| e.to_string())?;
    runner.trace().map_err(|e| e.to_string())
}
