//! `doorway list`

use crate::{Exit, output};
use doorway_check::mutants::{self, Mutant};
use doorway_check::subject::MUTANT_PREFIX;
use doorway_lab::catalogue;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the table in Markdown, as in the README
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// List the mutants: faulty versions of the algorithms, for `doorway check mutant:NAME`
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    mutants: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.json {
        output::print_json(&catalogue::rows())?;
    } else if args.markdown {
        output::print(&catalogue::markdown())?;
    } else if args.mutants {
        let line = |m: &Mutant| format!("{MUTANT_PREFIX}{}  {}\n", m.name, m.change);
        output::print(&mutants::ALL.iter().map(line).collect::<String>())?;
    } else {
        output::print(&catalogue::text())?;
    }
    Ok(Exit::Fine)
}
