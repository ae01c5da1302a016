//! `doorway explain`

use crate::output::print;
use crate::rules::RuleArgs;
use crate::sizes::SizeArgs;
use crate::{Exit, check, faults, interrupt};
use doorway_check::explain::{Effort, page};
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`, or mutant:NAME
    id: String,
    /// Explain the text with this fault. See docs/faults.md
    #[arg(long, value_name = "FAULT")]
    fault: Option<String>,
    #[command(flatten)]
    sizes: SizeArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Try every fault of a single statement now, as `doorway faults` does, instead of showing the
    /// table of mutants; takes seconds to minutes
    #[arg(long)]
    hunt: bool,
    /// Stop each search after this many states
    #[arg(long, value_name = "STATES", default_value = "200000")]
    max_states: NonZero<usize>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let subject = faults::find(&args.id, args.fault.as_deref())?;
    let sizes = args.sizes.of(&subject)?;
    let rules = args.rules.of(&subject, sizes)?;
    check::refuse_too_many_values(sizes, rules)?;
    check::does_not_fit(&subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)?;
    let effort = Effort { states: args.max_states.get(), hunt: args.hunt.then_some(args.max_states.get()) };
    let searching = interrupt::Searching::begin();
    let page = page(&subject, sizes, rules, effort, &interrupt::is_asked_for).map_err(|e| e.to_string())?;
    drop(searching);
    print(&page)?;
    Ok(if interrupt::is_asked_for() { Exit::Interrupted } else { Exit::Fine })
}
