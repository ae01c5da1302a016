//! `doorway check leases`: slots between machines, which have a machine of their own.

use super::{Args, Limit};
use crate::output::{count, print, print_json};
use crate::rules::first_given;
use crate::{Exit, interrupt};
use doorway_check::explore::Stop;
use doorway_check::leases::{Claim, Faults, Leases, Report, TITLE};
use serde_json::json;
use std::fmt::Write as _;
use std::num::NonZero;
use std::time::Instant;

/// The options that only slots between machines have.
#[derive(clap::Args)]
pub(super) struct LeaseArgs {
    /// Leases: let the answers to up to this many requests be lost, or the requests arrive late
    /// [default: 1, or what the mutant needs]
    #[arg(long, value_name = "D")]
    doubts: Option<u8>,
    /// Leases: let up to this many leases end while their clients live on [default: 1, or what the
    /// mutant needs]
    #[arg(long, value_name = "P")]
    pauses: Option<u8>,
    /// Leases: let an operator break up to this many slots [default: 0, or what the mutant needs]
    #[arg(long, value_name = "B")]
    breaks: Option<u8>,
    /// Leases: let the last client try once instead of waiting
    #[arg(long)]
    tries: bool,
    /// Leases: let the resource that the slots protect obey old fences
    #[arg(long)]
    no_fences: bool,
}

impl LeaseArgs {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("doubts", self.doubts.is_some()),
            ("pauses", self.pauses.is_some()),
            ("breaks", self.breaks.is_some()),
            ("tries", self.tries),
            ("no-fences", self.no_fences),
        ])
    }
}

/// About what a state needs, with its moves.
const BYTES_OF_A_STATE: usize = 2500;

pub(super) fn run(usual: Leases, args: &Args) -> Result<Exit, String> {
    let leases = wanted(usual, args)?;
    let (limit, begun) = (Limit::of(args), Instant::now());
    let most = args.max_states.map_or(usize::MAX, NonZero::get);
    let mut stop = None;
    let searching = interrupt::Searching::begin();
    let report = leases.check_while(|states| {
        if interrupt::is_asked_for() {
            stop = Some(Stop::Interrupted);
        } else if states > most {
            stop = Some(Stop::States);
        } else if states > limit.bytes / BYTES_OF_A_STATE {
            stop = Some(Stop::Memory);
        }
        stop.is_none()
    });
    drop(searching);
    let stopped = stop.map(|stop| limit.why(stop, args.max_states));
    if args.json {
        print_json(&document(&report, stopped.as_deref()))?;
    } else {
        let mut out = text(&report);
        let passages = count(u64::from(leases.passages), "passage");
        let covered = match &stopped {
            Some(why) => format!("NOT complete: {why}"),
            None if report.failure.is_some() => "up to the failure".to_owned(),
            None => format!("complete for {passages} of each client"),
        };
        let (states, moves) = (count(report.states as u64, "state"), count(report.moves as u64, "edge"));
        let _ = writeln!(out, "\n{states}, {moves}, {covered} ({:.2} s)", begun.elapsed().as_secs_f64());
        print(&out)?;
    }
    Ok(match (stop, &report.failure) {
        (Some(Stop::Interrupted), _) => Exit::Interrupted,
        (_, Some(_)) => Exit::Failed,
        (Some(_), None) => Exit::Incomplete,
        (None, None) => Exit::Fine,
    })
}

/// The sizes and faults that were asked for; what was not is as usual.
fn wanted(usual: Leases, args: &Args) -> Result<Leases, String> {
    if let Some(option) = args.not_of_leases() {
        return Err(format!("leases has a machine of its own, without --{option}; omit it"));
    }
    let passages = match args.rules.passages {
        None => usual.passages,
        Some(passages) => {
            passages.0.and_then(|p| p.try_into().ok()).ok_or("leases: give --passages from 1 to 255".to_owned())?
        }
    };
    let deaths = args.rules.crashes.map(u8::try_from).transpose().map_err(|_| "give fewer --crashes".to_owned())?;
    let faults = Faults {
        doubts: args.leases.doubts.unwrap_or(usual.faults.doubts),
        pauses: args.leases.pauses.unwrap_or(usual.faults.pauses),
        deaths: deaths.unwrap_or(usual.faults.deaths),
        give_ups: usual.faults.give_ups.max(args.rules.give_ups.into()),
        breaks: args.leases.breaks.unwrap_or(usual.faults.breaks),
    };
    let leases = Leases {
        n: args.sizes.n.unwrap_or(usual.n),
        k: args.sizes.k.unwrap_or(usual.k),
        passages,
        last_tries: args.leases.tries || usual.last_tries,
        faults,
        compares: !args.leases.no_fences && usual.compares,
        mutant: usual.mutant,
    };
    if leases.k > 1000 {
        return Err("--k is more than a search can hold; give a smaller --k".to_owned());
    }
    leases.refuses().map_or(Ok(leases), |why| Err(why.to_owned()))
}

fn text(report: &Report) -> String {
    let Leases { n, k, passages, last_tries, faults, compares, mutant } = report.leases;
    let what = mutant.map_or(TITLE, |mutant| mutant.change());
    let tries = if last_tries { ", the last client tries" } else { "" };
    let compares = if compares { "" } else { ", the resource compares no fences" };
    let mut out = format!("{}: {what}\nn={n} k={k}, {faults}{tries}{compares}", report.leases.id());
    let _ = writeln!(out, ", passages: {passages}\n");
    let width = Claim::ALL.iter().map(|claim| claim.name().len()).max().unwrap_or(0);
    for &claim in Claim::ALL {
        let verdict = match (report.holds(claim), &report.failure) {
            (Some(true), _) => "holds".to_owned(),
            (Some(false), Some(failure)) if failure.repeats_from.is_some() => "FAILS for ever".to_owned(),
            (Some(false), Some(failure)) => format!("FAILS after {}", count(failure.run.len() as u64, "step")),
            _ => super::UNDECIDED.to_owned(),
        };
        let _ = writeln!(out, "  {:width$}  {verdict}", claim.name());
    }
    if let (Some(failure), Some(token)) = (&report.failure, report.token()) {
        let _ = writeln!(out, "\nA way to break {}:\n{failure}\ndoorway replay {token}", failure.claim);
    }
    out
}

fn document(report: &Report, stopped: Option<&str>) -> serde_json::Value {
    let Leases { n, k, passages, last_tries, faults, compares, .. } = report.leases;
    let token = report.token().map(|token| token.to_string());
    let property = |&claim: &Claim| {
        let failure = report.failure.as_ref().filter(|failure| failure.claim == claim);
        let trace = failure.map(|failure| failure.run.iter().map(ToString::to_string).collect::<Vec<_>>());
        let replay = failure.and(token.as_ref());
        json!({ "name": claim.name(), "holds": report.holds(claim), "trace": trace, "replay": replay })
    };
    json!({
        "algorithm": report.leases.id(),
        "n": n,
        "k": k,
        "passages": passages,
        "doubts": faults.doubts,
        "pauses": faults.pauses,
        "crashes": faults.deaths,
        "give_ups": faults.give_ups,
        "breaks": faults.breaks,
        "tries": last_tries,
        "fences": compares,
        "states": report.states,
        "edges": report.moves,
        "complete": report.complete,
        "stopped": stopped,
        "properties": Claim::ALL.iter().map(property).collect::<Vec<_>>(),
    })
}
