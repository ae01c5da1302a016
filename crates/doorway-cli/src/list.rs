//! `doorway list`

use crate::{Exit, output};
use doorway_lab::catalogue;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the table in Markdown, as in the README
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.json {
        output::print_json(&catalogue::rows())?;
    } else if args.markdown {
        output::print(&catalogue::markdown())?;
    } else {
        output::print(&catalogue::text())?;
    }
    Ok(Exit::Fine)
}
