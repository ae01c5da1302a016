//! `doorway explore`

use crate::output::print;
use crate::rules::RuleArgs;
use crate::sizes::{SizeArgs, states};
use crate::{Exit, check, faults};
use doorway_check::drive::{Driver, GRAMMAR, Page};
use doorway_check::replay::{Token, TokenError};
use doorway_check::sim::{Action, Rules};
use doorway_check::subject::{self, Subject};
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
    #[command(flatten)]
    sizes: SizeArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Stop each search after this many states
    #[arg(long, value_name = "STATES", default_value = "200000", value_parser = states)]
    max_states: NonZero<usize>,
    /// Serve the page on this port [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let Driven { subject, sizes, rules, begin, place } =
        if args.id.contains('/') { from_token(args)? } else { from_options(args)? };
    check::does_not_fit(&subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)?;
    check::refuse_too_many_values(sizes, rules)?;
    let most = args.max_states.get();
    let driver =
        move || Driver::of(subject, sizes, rules).map(|driver| driver.max_states(most).beginning_with(begin.clone()));
    let page = Page::new(args.port, driver).map_err(|e| e.to_string())?;
    print(&format!("{}{place}\nOpen this address in a browser of this machine. Ctrl-C ends the page.\n", page.url()))?;
    page.run();
    Ok(Exit::Fine)
}

/// What to drive, and where to begin.
struct Driven {
    subject: Subject,
    sizes: Sizes,
    rules: Rules,
    begin: Vec<Action>,
    /// The place on the page: a run that repeats does so there too.
    place: String,
}

fn from_token(args: &Args) -> Result<Driven, String> {
    let fault = args.fault.as_ref().map(|_| "fault");
    if let Some(option) = args.sizes.given().or(args.rules.given()).or(fault) {
        return Err(format!("a token says its sizes and rules itself; omit --{option}"));
    }
    let token: Token = args.id.parse().map_err(|e: TokenError| e.to_string())?;
    token.replay().map_err(|e| e.to_string())?;
    let subject = subject::find(&token.id).map_err(|e| e.to_string())?;
    let run = args.id.trim().split('/').nth(7).and_then(|run| run.split('@').next()).unwrap_or_default();
    let place = token.repeats_from.map_or_else(String::new, |from| {
        format!("#run={run}&from={from}&property={}&step={}", token.property, token.actions.len())
    });
    Ok(Driven { subject, sizes: token.sizes, rules: token.rules, begin: token.actions, place })
}

fn from_options(args: &Args) -> Result<Driven, String> {
    let subject = faults::find(&args.id, args.fault.as_deref())?;
    let sizes = args.sizes.of(&subject)?;
    let rules = args.rules.of(&subject, sizes)?;
    Ok(Driven { subject, sizes, rules, begin: Vec::new(), place: String::new() })
}
