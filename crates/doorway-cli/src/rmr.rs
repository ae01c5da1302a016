//! `doorway rmr`

use crate::check::{Limit, does_not_fit};
use crate::output::{count, print, print_json};
use crate::sizes::{self, SizeArgs};
use crate::{Exit, interrupt, output};
use clap::ValueEnum;
use doorway_check::Explorer;
use doorway_check::adversary::{self, Hunt};
use doorway_check::explore::{self, Stop, Worst};
use doorway_check::sim::Rules;
use doorway_check::subject::{self, Subject};
use doorway_check::tables::theorems::{self, Effort, Theorem};
use doorway_check::trace::Trace;
use doorway_core::memory::Instruction;
use doorway_core::registry::{CostModel, Sizes};
use serde::Serialize;
use std::fmt::Write as _;
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`
    #[arg(required_unless_present = "theorems")]
    id: Option<String>,
    /// Measure Anderson and Moir's theorems instead: bound, worst passage found and method, for
    /// each size and number of competitors. Takes about twenty minutes; less with --n, --k,
    /// --contention or --theorem
    #[arg(long, conflicts_with_all = ["id", "rooms", "slots", "model", "method", "passages", "without_bounded_decrement"])]
    theorems: bool,
    /// With --theorems: only this theorem, such as 3 or 1+k; may be repeated
    #[arg(long = "theorem", value_name = "NUMBER", requires = "theorems", conflicts_with = "id")]
    only: Vec<String>,
    #[command(flatten)]
    sizes: SizeArgs,
    /// What counts as a remote reference
    #[arg(long, value_enum, default_value_t = Model::Cc)]
    model: Model,
    /// Measure only passages during which at most this many processes compete [default: n]
    #[arg(long, value_name = "C", value_parser = sizes::from_one::<NonZero<usize>>)]
    contention: Option<NonZero<usize>>,
    /// How to look for the worst passage
    #[arg(long, value_enum, default_value_t = Method::Exhaustive)]
    method: Method,
    /// With exhaustive: passages per process, for algorithms with unbounded variables [default: the
    /// algorithm's]
    #[arg(long, value_parser = sizes::from_one::<NonZero<u32>>)]
    passages: Option<NonZero<u32>>,
    /// With adversary or random: number of restarts [default: 20, or 40 for each row of the
    /// theorems]
    #[arg(long, value_parser = sizes::from_one::<NonZero<u32>>)]
    runs: Option<NonZero<u32>>,
    /// With adversary or random: steps in total [default: 200 million, or 20 million for each row
    /// of the theorems]
    #[arg(long, value_parser = sizes::from_one::<NonZero<u64>>)]
    steps: Option<NonZero<u64>>,
    /// With adversary or random: seed of the random choices [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Replace a bounded decrement by a compare-and-swap loop, as on machines without that
    /// instruction
    #[arg(long)]
    without_bounded_decrement: bool,
    /// Stop an exhaustive search after this many states [default: no limit, or 1 million for each
    /// row of the theorems]
    #[arg(long, value_name = "STATES", value_parser = sizes::states)]
    max_states: Option<NonZero<usize>>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Cache-coherent: a write costs 1 and leaves no valid copy (the papers' count)
    Cc,
    /// Cache-coherent: a write costs 1 and leaves the writer a valid copy
    CcWb,
    /// Cache-coherent: a write to a line held exclusively is free
    CcEx,
    /// Distributed: an access to a variable that lives elsewhere costs 1
    Dsm,
}

impl From<Model> for CostModel {
    fn from(model: Model) -> Self {
        match model {
            Model::Cc => Self::Cc,
            Model::CcWb => Self::CcWriteBack,
            Model::CcEx => Self::CcExclusive,
            Model::Dsm => Self::Dsm,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// All interleavings: the exact worst case
    Exhaustive,
    /// A scheduler that makes one process pay, for sizes too large to exhaust
    Adversary,
    /// Random schedules
    Random,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Adversary => "adversary",
            Self::Random => "random",
        }
    }
}

/// The JSON output.
#[derive(Serialize)]
struct Document {
    algorithm: String,
    n: usize,
    k: usize,
    model: &'static str,
    contention: usize,
    worst: Option<u64>,
    bound: Option<u64>,
    method: &'static str,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    local_spin: Option<bool>,
}

/// What was found, by any method.
struct Found {
    worst: Worst,
    complete: bool,
    /// Why an exhaustive search is not complete.
    stopped: Option<String>,
    covered: String,
    trace: Option<Trace>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    let Some(id) = &args.id else { return theorems(args) };
    let subject = subject::find(id).map_err(|e| e.to_string())?;
    let sizes = args.sizes.of(&subject)?;
    refuse_what_has_no_effect(&subject, args)?;
    let contention = args.contention.map_or(sizes.n, NonZero::get);
    if contention > sizes.n {
        return Err(format!("only {} processes can compete, not {contention}; give a smaller --contention", sizes.n));
    }
    let model = CostModel::from(args.model);
    let searching = interrupt::Searching::begin();
    let found = match args.method {
        Method::Exhaustive => exhaustive(&subject, sizes, model, contention, args)?,
        Method::Adversary => hunt(&subject, sizes, model, contention, adversary::Method::Adversary, args)?,
        Method::Random => hunt(&subject, sizes, model, contention, adversary::Method::Random, args)?,
    };
    drop(searching);
    let claimed = subject.info.bound(model);
    let bound = claimed.and_then(|b| b.at(sizes, contention));
    let unbounded = found.worst == Worst::Unbounded;
    let broken = match (bound, found.worst) {
        (Some(bound), Worst::Bounded(worst)) => worst > bound,
        (Some(_), Worst::Unbounded) => true,
        (None, _) => false,
    };
    if args.json {
        print_json(&Document {
            algorithm: subject.id(),
            n: sizes.n,
            k: sizes.k,
            model: model.name(),
            contention,
            worst: found.worst.bounded(),
            bound,
            method: args.method.name(),
            complete: found.complete,
            stopped: found.stopped,
            local_spin: if unbounded { Some(false) } else { found.complete.then_some(true) },
        })?;
    } else {
        let mut out = String::new();
        let claim = match (claimed, bound) {
            (Some(claimed), Some(bound)) => format!("{} ({claimed})", output::thousands(bound)),
            (Some(claimed), None) => claimed.to_string(),
            (None, _) => "nothing".to_owned(),
        };
        let _ = writeln!(out, "{}: {}", subject.id(), subject.info.title);
        let (n, second, k) = (sizes.n, subject.info.problem.second().name(), sizes.k);
        let _ = writeln!(out, "n={n} {second}={k}, at most {contention} compete, model {}\n", model.name());
        let _ = writeln!(out, "  claimed  {claim}");
        let _ =
            writeln!(out, "  worst    {}{}", found.worst.in_words(), if broken { "  MORE THAN CLAIMED" } else { "" });
        if let (true, Some(trace)) = (unbounded || broken, &found.trace) {
            let _ = writeln!(out, "\n{trace}");
        }
        let _ = writeln!(out, "\n{}", found.covered);
        print(&out)?;
    }
    Ok(match (interrupt::is_asked_for(), broken, found.complete) {
        (true, ..) => Exit::Interrupted,
        (_, true, _) => Exit::Failed,
        (_, false, true) => Exit::Fine,
        (_, false, false) => Exit::Incomplete,
    })
}

/// Refuses an option that would change nothing.
fn refuse_what_has_no_effect(subject: &Subject, args: &Args) -> Result<(), String> {
    let hunting = [("runs", args.runs.is_some()), ("steps", args.steps.is_some()), ("seed", args.seed.is_some())];
    let searching = [("passages", args.passages.is_some()), ("max-states", args.max_states.is_some())];
    let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(name, _)| *name);
    if args.method == Method::Exhaustive {
        if let Some(option) = given(&hunting) {
            return Err(format!(
                "--{option} has no effect on an exhaustive search; omit it, or add --method adversary or random"
            ));
        }
    } else if let Some(option) = given(&searching) {
        return Err(format!("--{option} applies to an exhaustive search only; omit it, or omit --method"));
    }
    if args.without_bounded_decrement && !subject.info.instructions.contains(&Instruction::BoundedDecrement) {
        return Err(format!("{} has no bounded decrement; omit --without-bounded-decrement", subject.id()));
    }
    Ok(())
}

/// The exact worst case over all processes.
fn exhaustive(
    subject: &Subject,
    sizes: Sizes,
    model: CostModel,
    contention: usize,
    args: &Args,
) -> Result<Found, String> {
    let passages = args.passages.map(NonZero::get).or(subject.passages_to_measure());
    let limit = Limit::half_of_what_is_free();
    if let Some(why) = does_not_fit(subject, sizes, limit) {
        let covered = format!("exhaustive: no states, NOT complete: {why}, or add --method adversary");
        return Ok(Found { worst: Worst::Bounded(0), complete: false, stopped: Some(why), covered, trace: None });
    }
    let rmr = explore::rmr(model, contention, sizes.n, |measure| {
        let rules = Rules {
            measure: Some(measure),
            bounded_decrement: !args.without_bounded_decrement,
            ..Rules::with_passages(passages)
        };
        let explorer = Explorer::new(sizes.n)
            .max_states(args.max_states.map(NonZero::get))
            .max_memory(limit.bytes)
            .believe_keep(true) // `doorway check` compares it
            .stop_when(interrupt::is_asked_for);
        Ok((explorer, subject.world(sizes, rules)?))
    })
    .map_err(|e| e.to_string())?;
    let why = |stop| limit.why(stop, args.max_states);
    Ok(Found {
        worst: rmr.worst(),
        complete: rmr.is_complete(),
        stopped: rmr.stop().map(why),
        covered: rmr.covered(passages, &why),
        trace: rmr.worst_passage().and_then(|passage| passage.trace.clone()),
    })
}

fn hunt(
    subject: &Subject,
    sizes: Sizes,
    model: CostModel,
    contention: usize,
    method: adversary::Method,
    args: &Args,
) -> Result<Found, String> {
    let enough = subject.info.bound(model).and_then(|bound| bound.at(sizes, contention));
    let (runs, steps) = (args.runs.map_or(20, NonZero::get), args.steps.map_or(200_000_000, NonZero::get));
    let seed = args.seed.unwrap_or(1);
    let hunt = Hunt { model, contention, method, runs, passages: 3, steps, enough, seed };
    let rules = Rules { sparse: true, bounded_decrement: !args.without_bounded_decrement, ..Rules::default() };
    let quarry =
        hunt.on_while(|| subject.world(sizes, rules), &|| !interrupt::is_asked_for()).map_err(|e| e.to_string())?;
    let stopped = interrupt::is_asked_for().then(|| "interrupted".to_owned());
    let covered = format!(
        "{}{}: {} in {}; a lower bound, not a proof",
        args.method.name(),
        stopped.as_ref().map_or(String::new(), |why| format!(", {why}")),
        count(quarry.passages, "passage"),
        count(quarry.steps, "step")
    );
    Ok(Found { worst: quarry.worst, complete: false, stopped, covered, trace: None })
}

/// The JSON output.
#[derive(Serialize)]
struct Theorems<'a> {
    rows: &'a [theorems::Row],
    lost_exchanges: &'a [u64],
    /// Whether no row is missing.
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
}

fn theorems(args: &Args) -> Result<Exit, String> {
    let mut effort = Effort { seed: args.seed.unwrap_or(1), stop_when: interrupt::is_asked_for, ..Effort::default() };
    effort.runs = args.runs.map_or(effort.runs, NonZero::get);
    effort.steps = args.steps.map_or(effort.steps, NonZero::get);
    effort.states = args.max_states.map_or(effort.states, NonZero::get);
    let chosen = |t: &&Theorem| args.only.is_empty() || args.only.iter().any(|only| only == t.number);
    let chosen: Vec<&Theorem> = theorems::THEOREMS.iter().filter(chosen).collect();
    let unknown = args.only.iter().find(|only| !theorems::THEOREMS.iter().any(|t| t.number == **only));
    let fits = |s: &&Sizes| args.sizes.n.is_none_or(|n| s.n == n) && args.sizes.k.is_none_or(|k| s.k == k);
    let contentions = |sizes| {
        let mut all = theorems::contentions(sizes);
        all.retain(|&c| args.contention.is_none_or(|only| only.get() == c));
        all
    };
    let sizes: Vec<Sizes> = theorems::SMALL.iter().chain(&theorems::LARGE).filter(fits).copied().collect();
    if unknown.is_some() || sizes.iter().all(|&sizes| contentions(sizes).is_empty()) {
        let all = theorems::SMALL.iter().chain(&theorems::LARGE).map(|s| format!("({},{})", s.n, s.k));
        let numbers = theorems::THEOREMS.iter().map(|t| t.number);
        return Err(format!(
            "no row matches; the theorems are {}, the sizes {}, and --contention is 1, k, k+1, 2k or N",
            numbers.collect::<Vec<_>>().join(", "),
            all.collect::<Vec<_>>().join(", ")
        ));
    }
    let mut rows = Vec::new();
    let searching = interrupt::Searching::begin();
    'all: for theorem in chosen {
        for &sizes in &sizes {
            let contentions = contentions(sizes);
            if contentions.is_empty() {
                continue;
            }
            let more = theorems::measure(theorem, sizes, &contentions, effort).map_err(|e| e.to_string())?;
            if !args.json && !more.is_empty() {
                let text = theorems::text(&more);
                let lines = if rows.is_empty() { text.as_str() } else { text.split_once('\n').map_or("", |(_, t)| t) };
                print(lines)?;
            }
            rows.extend(more);
            if interrupt::is_asked_for() {
                break 'all;
            }
        }
    }
    drop(searching);
    let interrupted = interrupt::is_asked_for();
    let lost = if interrupted { Vec::new() } else { theorems::lost_exchanges(4).map_err(|e| e.to_string())? };
    if args.json {
        let stopped = interrupted.then(|| Stop::Interrupted.to_string());
        print_json(&Theorems { rows: &rows, lost_exchanges: &lost, complete: !interrupted, stopped })?;
    } else if interrupted {
        print("\ninterrupted, NOT complete: the missing rows were not measured\n")?;
    } else {
        print(&format!(
            "\nexhaustive: the exact worst case (for few passages, a lower bound); adversary: a lower bound\n\
             am-graceful (5,2) without a bounded decrement: a passage that loses 0, 1, 2, … exchanges costs {}\n\n\
             Table 1, as far as it is implemented here:\n{}",
            lost.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
            doorway_check::tables::catalogue::table_1()
        ))?;
    }
    Ok(match rows.iter().any(theorems::Row::is_broken) {
        _ if interrupted => Exit::Interrupted,
        true => Exit::Failed,
        false => Exit::Fine,
    })
}
