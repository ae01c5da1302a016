//! `doorway explain`

use crate::output::print;
use crate::sizes::sizes;
use crate::{Exit, check, interrupt};
use doorway_check::explain::{Effort, page};
use doorway_check::subject;
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`, or mutant:NAME
    id: String,
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
    /// Try every fault of a single statement now, as `doorway faults` does, instead of showing the
    /// table of mutants; takes seconds to minutes
    #[arg(long)]
    hunt: bool,
    /// Stop each search after this many states
    #[arg(long, value_name = "STATES", default_value = "100000")]
    max_states: NonZero<usize>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let subject = subject::find(&args.id).map_err(|e| e.to_string())?;
    let sizes = sizes(&subject, args.n, [args.k, args.rooms, args.slots])?;
    check::does_not_fit(&subject, sizes, check::Limit::half_of_what_is_free()).map_or(Ok(()), Err)?;
    let effort = Effort { states: args.max_states.get(), hunt: args.hunt.then_some(args.max_states.get()) };
    let searching = interrupt::Searching::begin();
    let page = page(&subject, sizes, effort, &interrupt::is_asked_for).map_err(|e| e.to_string())?;
    drop(searching);
    print(&page)?;
    Ok(if interrupt::is_asked_for() { Exit::Interrupted } else { Exit::Fine })
}
