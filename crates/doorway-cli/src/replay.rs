//! `doorway replay`

use crate::output::{self, Stream, print, print_json};
use crate::sizes::SizeArgs;
use crate::{Exit, check};
use doorway_check::replay::{Token, TokenError};
use doorway_check::schedule::Runner;
use doorway_check::sim::Rules;
use doorway_check::subject::{self, Subject};
use doorway_check::trace::Trace;
use doorway_check::viewer::{self, Record, Recorder};
use doorway_check::{export, leases};
use doorway_core::registry::Sizes;
use serde::Serialize;
use serde_json::json;

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  doorway replay dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a12
  doorway replay am-chain --n 2 --k 1 --schedule 'p0.2 p1.2.3.4.5~ p0!'

A schedule is a list of words: p0.2 executes statement 2 of p0, p1.5~ is a wait that goes on, p0!
crashes p0, and p0>in runs p0 alone until it is inside.";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A token that `doorway check` printed or, with --schedule, an algorithm
    token: String,
    /// Follow a schedule such as "p0.2 p1.2.3 p0>in p1!" instead of a token
    #[arg(long, value_name = "WORDS")]
    schedule: Option<String>,
    #[command(flatten)]
    sizes: SizeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print a LaTeX table
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Also write a page that shows the run, step by step, in a browser. The file - is standard
    /// output; the run in text then goes to standard error
    #[arg(long, value_name = "FILE")]
    html: Option<std::path::PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if leases::Token::is_meant(&args.token) {
        return run_leases(args);
    }
    if let (None, Some(option)) = (&args.schedule, args.sizes.given()) {
        return Err(format!("a token says its sizes itself; omit --{option}, or add --schedule"));
    }
    let report_to = Stream::beside([&args.html])?;
    let (trace, judged) = match &args.schedule {
        Some(schedule) => (follow(args, schedule)?, None),
        None => again(&args.token).map(|(trace, judged)| (trace, Some(judged)))?,
    };
    if let Some(file) = &args.html {
        output::write(file, &viewer::page(&record(args, &trace)?))?;
    }
    if args.json {
        let (property, breaks) = judged.as_ref().map(|judged| (judged.property.as_str(), judged.breaks)).unzip();
        report_to.print_json(&Document { property, breaks, trace: &trace })?;
    } else if args.latex {
        report_to.print(&export::latex(&trace))?;
    } else {
        report_to
            .print(&format!("{}{trace}\n", judged.as_ref().map_or(String::new(), |judged| judged.says.clone())))?;
    }
    Ok(if judged.is_none_or(|judged| judged.breaks) { Exit::Fine } else { Exit::Failed })
}

/// A run of slots between machines.
fn run_leases(args: &Args) -> Result<Exit, String> {
    if args.schedule.is_some() || args.latex || args.html.is_some() {
        return Err(
            "a run of leases has no schedule, no table and no page; omit --schedule, --latex and --html".to_owned()
        );
    }
    let token: leases::Token = args.token.parse().map_err(|e: leases::TokenError| e.to_string())?;
    let (failure, breaks) = token.replay().map_err(|e| e.to_string())?;
    let (leases, claim) = (token.leases, token.claim);
    if args.json {
        let step = |(what, state): (&leases::Move, &String)| json!({ "does": what.to_string(), "then": state });
        let steps: Vec<_> = failure.run.iter().zip(&failure.states).map(step).collect();
        let from = failure.repeats_from;
        print_json(&json!({ "property": claim.name(), "breaks": breaks, "steps": steps, "repeats_from": from }))?;
    } else if breaks {
        print(&format!("{leases} breaks {claim}:\n{failure}"))?;
    } else {
        print(&format!("this run of {leases} does NOT break {claim}, although the token says so:\n{failure}"))?;
    }
    Ok(if breaks { Exit::Fine } else { Exit::Failed })
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
    let sizes = args.sizes.of(&subject)?;
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
