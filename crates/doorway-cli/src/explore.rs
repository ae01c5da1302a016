//! `doorway explore`

use crate::output::print;
use crate::sizes::{sizes, states};
use crate::{Exit, check, faults};
use doorway_check::drive::{Driver, GRAMMAR};
use doorway_check::replay::{Token, TokenError};
use doorway_check::sim::{Deaths, Rules};
use doorway_check::subject::{self, Subject};
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use std::num::NonZero;

/// Shown below the options.
pub(crate) fn examples() -> String {
    format!(
        "Examples:\n  doorway explore ya-two\n  doorway explore am-chain --n 3 --k 2 --crashes 1\n  \
         doorway explore peterson-tree --n 2 --registers safe --force\n  \
         doorway explore dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951\n\n\
         Predicates, for the search on the page:\n  {}\n",
        GRAMMAR.replace('\n', "\n  ")
    )
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`, or mutant:NAME, or a token that `doorway check`
    /// printed
    id: String,
    /// Seed a fault into the text, by statement number, such as drop:7. See docs/faults.md
    #[arg(long, value_name = "FAULT")]
    fault: Option<String>,
    /// Number of processes [default: the algorithm's]
    #[arg(long)]
    n: Option<usize>,
    /// Number of places: how many processes may be inside at once [default: the algorithm's]
    #[arg(long)]
    k: Option<usize>,
    /// Number of rooms, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    rooms: Option<usize>,
    /// Number of slots, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    slots: Option<usize>,
    /// Passages per process: a number, or "unbounded" [default: the algorithm's]
    #[arg(long, value_parser = check::passages)]
    passages: Option<check::Passages>,
    /// Let up to this many processes crash [default: 0, or what the mutant needs]
    #[arg(long, value_name = "F")]
    crashes: Option<usize>,
    /// Seats: let up to this many dead processes be replaced by a new process on the same seat
    #[arg(long, value_name = "R", requires = "crashes")]
    restarts: Option<usize>,
    /// Weaken each variable to this kind of register (safe, monotone, regular or atomic), but no
    /// further than it declares [default: atomic, or what the mutant needs]
    #[arg(long, value_parser = check::register)]
    registers: Option<Register>,
    /// With --registers: weaken variables further than they declare
    #[arg(long, requires = "registers")]
    force: bool,
    /// Let a process give up, wherever the text allows it
    #[arg(long)]
    give_ups: bool,
    /// Let waiting processes sleep, and make waking the sleepers a step of its own
    #[arg(long)]
    wakes: bool,
    /// With --wakes: let sleepers also wake up on their own
    #[arg(long, requires = "wakes")]
    timed_sleeps: bool,
    /// Stop each search after this many states
    #[arg(long, value_name = "STATES", default_value = "200000", value_parser = states)]
    max_states: NonZero<usize>,
    /// Serve the page on this port [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let (driver, place) = if args.id.contains('/') { from_token(args)? } else { (from_options(args)?, String::new()) };
    let page = driver
        .max_states(args.max_states.get())
        .serve(args.port)
        .map_err(|e| format!("cannot serve a page on 127.0.0.1: {e}"))?;
    print(&format!("{}{place}\nOpen this address in a browser of this machine. Ctrl-C ends the page.\n", page.url()))?;
    page.run();
    Ok(Exit::Fine)
}

/// A machine that does not fit into memory, or has too many torn values, is refused.
fn driver(subject: Subject, sizes: Sizes, rules: Rules) -> Result<Driver, String> {
    check::does_not_fit(&subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)?;
    check::refuse_too_many_values(sizes, rules)?;
    Driver::of(subject, sizes, rules).map_err(|e| e.to_string())
}

/// The machine of a token, and the place on the page: a run that repeats does so there too.
fn from_token(args: &Args) -> Result<(Driver, String), String> {
    let given = [args.n, args.k, args.rooms, args.slots, args.crashes, args.restarts];
    let flags = [args.give_ups, args.wakes, args.timed_sleeps, args.force];
    let others = [args.fault.is_some(), args.registers.is_some(), args.passages.is_some()];
    if given.iter().any(Option::is_some) || flags.contains(&true) || others.contains(&true) {
        return Err("a token says its sizes and rules itself; omit the options".to_owned());
    }
    let token: Token = args.id.parse().map_err(|e: TokenError| e.to_string())?;
    token.replay().map_err(|e| e.to_string())?;
    let subject = subject::find(&token.id).map_err(|e| e.to_string())?;
    let run = args.id.trim().split('/').nth(7).and_then(|run| run.split('@').next()).unwrap_or_default();
    let place = token.repeats_from.map_or_else(String::new, |from| {
        format!("#run={run}&from={from}&property={}&step={}", token.property, token.actions.len())
    });
    Ok((driver(subject, token.sizes, token.rules)?.beginning_with(token.actions), place))
}

fn from_options(args: &Args) -> Result<Driver, String> {
    let id = args.fault.as_ref().map_or_else(|| args.id.clone(), |fault| faults::with(&args.id, fault));
    let subject = subject::find(&id).map_err(|e| e.to_string())?;
    let sizes = sizes(&subject, args.n, [args.k, args.rooms, args.slots])?;
    if args.give_ups && !subject.info.can_give_up {
        return Err(format!("{id} cannot give up: a process that has started must finish; omit --give-ups"));
    }
    if args.restarts.is_some() && !doorway_check::claims::notices_deaths(subject.info) {
        return Err(format!("{id} does not notice deaths; omit --restarts"));
    }
    let most = sizes.n + args.restarts.unwrap_or(0);
    if args.crashes.is_some_and(|crashes| crashes > most) {
        return Err(format!("{most} processes cannot crash more often than {most} times; give fewer --crashes"));
    }
    let usual = subject.rules();
    let rules = Rules {
        passages: args.passages.map_or(subject.defaults().passages, |p| p.0),
        crashes: args.crashes.unwrap_or(usual.crashes.min(sizes.n)),
        deaths: Deaths { restarts: args.restarts.unwrap_or(0), ..Deaths::default() },
        registers: args.registers.unwrap_or(usual.registers),
        force_registers: args.force,
        give_ups: args.give_ups || usual.give_ups,
        wakes: args.wakes,
        timed_sleeps: args.timed_sleeps,
        ..Rules::default()
    };
    driver(subject, sizes, rules)
}
