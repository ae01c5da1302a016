//! `doorway replay`

use crate::Exit;
use crate::output::{print, print_json};
use doorway_check::export;
use doorway_check::replay::Token;
use doorway_check::schedule::Runner;
use doorway_check::sim::Rules;
use doorway_check::subject;
use doorway_check::trace::Trace;
use doorway_core::registry::{Second, Sizes};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A token that `doorway check` printed, or, with --schedule, an algorithm
    token: String,
    /// Follow a schedule such as "p0.2 p1.2.3 p0>in p1!" instead of a token
    #[arg(long, value_name = "WORDS")]
    schedule: Option<String>,
    /// With --schedule: processes [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    n: Option<usize>,
    /// With --schedule: places [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    k: Option<usize>,
    /// With --schedule: rooms, of an algorithm that has them [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    rooms: Option<usize>,
    /// With --schedule: slots, of an algorithm that has them [default: the algorithm's]
    #[arg(long, requires = "schedule")]
    slots: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print a table for LaTeX
    #[arg(long, conflicts_with = "json")]
    latex: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let (trace, says) = match &args.schedule {
        Some(schedule) => (follow(args, schedule)?, String::new()),
        None => {
            let token: Token = args.token.parse().map_err(|e: doorway_check::replay::TokenError| e.to_string())?;
            let second =
                subject::find(&token.id).map_or(Second::Places, |subject| subject.info.problem.second()).name();
            let (id, property, Sizes { n, k }) = (&token.id, &token.property, token.sizes);
            let says = format!("{id} with n={n}, {second}={k} breaks {property}:\n");
            (token.replay().map_err(|e| e.to_string())?, says)
        }
    };
    if args.json {
        print_json(&trace)?;
    } else if args.latex {
        print(&export::latex(&trace))?;
    } else {
        print(&format!("{says}{trace}\n"))?;
    }
    Ok(Exit::Fine)
}

fn follow(args: &Args, schedule: &str) -> Result<Trace, String> {
    let subject = subject::find(&args.token).map_err(|e| e.to_string())?;
    let second = [(Second::Places, args.k), (Second::Rooms, args.rooms), (Second::Slots, args.slots)];
    let second = subject.info.second(second).map_err(|e| e.to_string())?;
    let sizes = subject.sizes(args.n, second).map_err(|e| e.to_string())?;
    // A schedule says itself who crashes.
    let rules = Rules { crashes: sizes.n.min(64), ..Rules::default() };
    let rules = if sizes.n > 64 { Rules::default() } else { rules };
    let mut runner = Runner::new(subject.world(sizes, rules).map_err(|e| e.to_string())?);
    runner.follow(schedule).map_err(|e| e.to_string())?;
    runner.trace().map_err(|e| e.to_string())
}
