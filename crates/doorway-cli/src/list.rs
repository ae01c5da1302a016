//! `doorway list`

use crate::{Exit, output};
use doorway_check::leases;
use doorway_check::mutants::{self, Mutant};
use doorway_check::subject::MUTANT_PREFIX;
use doorway_check::tables::catalogue;
use serde::Serialize;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the table of algorithms in Markdown (without rooms and the objects built on them)
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// List the mutants: faulty versions of the algorithms, for `doorway check mutant:NAME`
    #[arg(long, conflicts_with = "markdown")]
    mutants: bool,
}

/// A mutant, as JSON.
#[derive(Serialize)]
struct MutantRow {
    id: String,
    of: &'static str,
    change: &'static str,
    /// The property it breaks, or nothing for a control.
    breaks: Option<&'static str>,
}

impl From<&leases::Mutant> for MutantRow {
    fn from(m: &leases::Mutant) -> Self {
        let id = format!("{MUTANT_PREFIX}{}", m.name());
        Self { id, of: leases::ID, change: m.change(), breaks: Some(m.noticed().1.name()) }
    }
}

/// Every mutant.
fn all_mutants() -> impl Iterator<Item = MutantRow> {
    mutants::ALL.iter().map(MutantRow::from).chain(leases::Mutant::ALL.iter().map(MutantRow::from))
}

impl From<&Mutant> for MutantRow {
    fn from(m: &Mutant) -> Self {
        let id = format!("{MUTANT_PREFIX}{}", m.name);
        Self { id, of: m.of, change: m.change, breaks: m.fails.map(|(property, _)| property) }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.json && args.mutants {
        output::print_json(&all_mutants().collect::<Vec<_>>())?;
    } else if args.json {
        output::print_json(&catalogue::rows())?;
    } else if args.markdown {
        output::print(&catalogue::markdown())?;
    } else if args.mutants {
        let line = |m: MutantRow| format!("{}  {}\n", m.id, m.change);
        output::print(&all_mutants().map(line).collect::<String>())?;
    } else {
        output::print(&catalogue::text())?;
    }
    Ok(Exit::Fine)
}
