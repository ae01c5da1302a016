//! `doorway registers`

use crate::{Exit, interrupt, output, sizes};
use doorway_check::tables::registers::{self, Cell, Outcome};
use indicatif::ProgressBar;
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show only these algorithms
    ids: Vec<String>,
    /// Explore at most this many states for each entry
    #[arg(long, default_value_t = NonZero::new(registers::STATES).expect("some states are looked at"), value_parser = sizes::states)]
    states: NonZero<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let known: Vec<&str> = registers::algorithms().map(|info| info.id).collect();
    if let Some(id) = args.ids.iter().find(|id| !known.contains(&id.as_str())) {
        return Err(format!("`{id}` is not one of the algorithms that only read and write; give {}", known.join(", ")));
    }
    // Before the bar, which takes Ctrl-C over too.
    let searching = interrupt::Searching::begin();
    let bar = interrupt::shown(ProgressBar::new_spinner());
    let wanted = |id: &str| args.ids.is_empty() || args.ids.iter().any(|wanted| wanted == id);
    let cells = registers::table(args.states.get(), &wanted, interrupt::is_asked_for, &mut |cell| {
        bar.set_message(format!("{} on {} registers", cell.id, cell.registers));
        bar.tick();
    });
    drop(searching);
    bar.finish_and_clear();
    let cells = cells.map_err(|e| e.to_string())?;
    if args.json {
        output::print_json(&cells)?;
    } else {
        output::print(&registers::markdown(&cells))?;
    }
    if !interrupt::is_asked_for() {
        return Ok(exit(&cells));
    }
    if !args.json {
        let missing = cells.iter().filter(|cell| cell.outcome == Outcome::NotLookedAt).count();
        output::print(&format!(
            "\ninterrupted, NOT complete: {missing} of {} entries were not looked at\n",
            cells.len()
        ))?;
    }
    Ok(Exit::Interrupted)
}

/// Whether the algorithms work with the registers they claim. The texts as printed claim nothing.
fn exit(cells: &[Cell]) -> Exit {
    let claims = |cell: &&Cell| cell.claimed && !cell.id.ends_with("-as-printed");
    let claimed = |outcome: fn(&Outcome) -> bool| cells.iter().filter(claims).any(|cell| outcome(&cell.outcome));
    if claimed(|outcome| matches!(outcome, Outcome::Fails { .. })) {
        Exit::Failed
    } else if claimed(|outcome| *outcome == Outcome::NotComplete) {
        Exit::Incomplete
    } else {
        Exit::Fine
    }
}
