//! The options of `doorway check`, and the refusal of those that would have no effect.

use super::leases::LeaseArgs;
use crate::output::Stream;
use crate::rules::{RuleArgs, first_given};
use crate::sizes::{self, SizeArgs};
use std::num::NonZero;

/// Shown below the options.
pub(crate) const EXAMPLES: &str = "\
Examples:
  doorway check ya-two                                    all claims of the algorithm
  doorway check am-chain --n 3 --k 2 --crashes 1          larger, and a process may crash
  doorway check tas --property starvation-free            one property, which tas does not claim
  doorway check mutant:am-chain-without-7 --html run.html a seeded fault, shown in a browser";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`; or mutant:NAME, as named by `doorway list
    /// --mutants`; or leases
    pub(super) id: String,
    /// Seed a fault into the text, by statement number, such as drop:slot2.7, defer:7 or split:2.
    /// Separate several faults by commas. See docs/faults.md
    #[arg(long, value_name = "FAULT")]
    pub(super) fault: Option<String>,
    #[command(flatten)]
    pub(super) sizes: SizeArgs,
    #[command(flatten)]
    pub(super) rules: RuleArgs,
    /// Check only this property; may be repeated [default: all that the algorithm promises]
    #[arg(long = "property", value_name = "NAME")]
    pub(super) properties: Vec<String>,
    #[command(flatten)]
    pub(super) leases: LeaseArgs,
    /// Search only runs with at most this many context switches. Finds deep failures that need few
    /// switches; decides nothing else
    #[arg(long, value_name = "CHANGES", conflicts_with = "dot")]
    pub(super) switches: Option<u32>,
    /// How to search
    #[arg(long, value_enum, default_value_t = Method::Exhaustive)]
    pub(super) method: Method,
    /// With random or pct: number of runs [default: 10000]
    #[arg(long, value_parser = sizes::from_one::<NonZero<u64>>)]
    pub(super) runs: Option<NonZero<u64>>,
    /// With random or pct: steps per run [default: 500]
    #[arg(long, value_parser = sizes::from_one::<NonZero<usize>>)]
    pub(super) length: Option<NonZero<usize>>,
    /// With pct: depth, the number of ordering constraints a failure may need [default: 3]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) depth: Option<u32>,
    /// With random or pct: seed of the random choices [default: 1]
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Also write the state graph to this file, for Graphviz: every state and step, or a summary if
    /// there are more than 2000 states. The file - is standard output; the report then goes to
    /// standard error
    #[arg(long, value_name = "FILE")]
    pub(super) dot: Option<std::path::PathBuf>,
    /// Also write a picture of the state graph to this file: every state and step, or a summary if
    /// there are more than 400 states. The file - is as in --dot
    #[arg(long, value_name = "FILE", conflicts_with = "switches")]
    pub(super) svg: Option<std::path::PathBuf>,
    /// If a property fails, also write a page that shows the run, step by step, in a browser. The
    /// file - is as in --dot
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<std::path::PathBuf>,
    /// Stop the search after this many states
    #[arg(long, value_name = "STATES", value_parser = sizes::states)]
    pub(super) max_states: Option<NonZero<usize>>,
    /// Stop the search when it uses this much memory, such as 512M or 8GiB (K, M and G are powers
    /// of 1024), and do not start it if the variables alone need more [default: half of the free
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_memory: Option<usize>,
    /// Search with this many threads. The result is the same with any number [default: one for each
    /// core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(super) threads: Option<u8>,
    /// Keep three bits of each state, in this much memory, instead of the state. Finds failures
    /// even if the states do not fit into memory, and proves nothing
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with_all = ["save", "resume"])]
    pub(super) bitstate: Option<usize>,
    /// Treat states that differ only in the names of processes as one state. Refused unless the
    /// processes are all alike; progress and bounds on steps are not decided then
    #[arg(long)]
    pub(super) symmetric: bool,
    /// If a limit or Ctrl-C ends the search, write what it has found to this file, for --resume
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<std::path::PathBuf>,
    /// Continue the search that wrote this file, from where it ended; give the same options
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<std::path::PathBuf>,
    /// Do not merge local states that the text declares alike, and do not forget values that it
    /// declares irrelevant (slow, but right even if the text is wrong)
    #[arg(long)]
    pub(super) no_keep: bool,
    /// After the search, run merged local states side by side to verify that they are alike
    #[arg(long, conflicts_with = "no_keep")]
    pub(super) cross_check: bool,
    /// After the search, make this many accesses at most to compare merged local states [default:
    /// two million and 16 more for each state, but at most 16 million and one more for each state]
    #[arg(long, value_name = "ACCESSES", conflicts_with = "no_keep")]
    pub(super) compare_keep: Option<u64>,
    /// Compare less: the text was searched with --no-keep before. A verdict still says if it holds
    /// only provided that what was not compared is right, but the exit code is 0
    #[arg(long, conflicts_with = "no_keep")]
    pub(super) believe_keep: bool,
    /// After a failure, continue until every property is decided
    #[arg(long)]
    pub(super) keep_going: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// How many threads search.
    pub(super) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(cores, usize::from)
    }

    /// What slots between machines do not have: their store, their moves and their search are their
    /// own.
    pub(super) fn not_of_leases(&self) -> Option<&'static str> {
        let given = [
            ("fault", self.fault.is_some()),
            ("property", !self.properties.is_empty()),
            ("switches", self.switches.is_some()),
            ("method", self.method != Method::Exhaustive),
            ("runs", self.runs.is_some()),
            ("length", self.length.is_some()),
            ("depth", self.depth.is_some()),
            ("seed", self.seed.is_some()),
            ("dot", self.dot.is_some()),
            ("svg", self.svg.is_some()),
            ("html", self.html.is_some()),
            ("threads", self.threads.is_some()),
            ("bitstate", self.bitstate.is_some()),
            ("symmetric", self.symmetric),
            ("save", self.save.is_some()),
            ("resume", self.resume.is_some()),
            ("no-keep", self.no_keep),
            ("cross-check", self.cross_check),
            ("compare-keep", self.compare_keep.is_some()),
            ("believe-keep", self.believe_keep),
            ("keep-going", self.keep_going),
        ];
        first_given(&given).or(self.rules.not_of_leases()).or(self.sizes.not_of_leases())
    }

    /// Where the report goes.
    pub(super) fn report(&self) -> Result<Stream, String> {
        Stream::beside([&self.dot, &self.svg, &self.html])
    }

    /// Refuses an option that would change nothing: its user means something else, or believes that
    /// more is checked than is.
    pub(super) fn refuse_what_has_no_effect(&self) -> Result<(), String> {
        let sampling =
            [("runs", self.runs.is_some()), ("length", self.length.is_some()), ("seed", self.seed.is_some())];
        let searching = [
            ("switches", self.switches.is_some()),
            ("max-states", self.max_states.is_some()),
            ("threads", self.threads.is_some()),
            ("bitstate", self.bitstate.is_some()),
            ("symmetric", self.symmetric),
            ("save", self.save.is_some()),
            ("resume", self.resume.is_some()),
            ("cross-check", self.cross_check),
            ("compare-keep", self.compare_keep.is_some()),
            ("believe-keep", self.believe_keep),
            ("keep-going", self.keep_going),
        ];
        if self.method == Method::Exhaustive {
            if let Some(option) = first_given(&sampling) {
                return Err(format!(
                    "--{option} applies to samples only; add --method random or --method pct, or omit --{option}"
                ));
            }
        } else if let Some(option) = first_given(&searching) {
            return Err(format!("--{option} has no effect on samples; omit it, or omit --method"));
        }
        if self.depth.is_some() && self.method != Method::Pct {
            return Err("--depth applies to priority schedules only; add --method pct, or omit --depth".to_owned());
        }
        if let Some(option) = self.leases.given() {
            let id = &self.id;
            return Err(format!("{id} has no store with leases; omit --{option}"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Method {
    /// All interleavings
    Exhaustive,
    /// Random schedules
    Random,
    /// Schedules with random priorities
    Pct,
}

fn size(text: &str) -> Result<usize, String> {
    let bad = || "give a number of bytes, at least 1, or a size with a unit, such as 512M or 8GiB".to_owned();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit: usize = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(bad()),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(unit));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("7"), Ok(7));
        for (units, bytes) in [
            (&["B", "b"][..], 1),
            (&["K", "KB", "KiB", "k", "kb"], 1 << 10),
            (&["M", "MB", "MiB", " MiB"], 1 << 20),
            (&["G", "GB", "GiB", "gib"], 1 << 30),
        ] {
            for unit in units {
                assert_eq!(size(&format!("3{unit}")), Ok(3 * bytes), "{unit}");
            }
        }
        for bad in ["", "M", "-1G", "0", "0K", "99999999999G", "1.5G", "1T", "1KK", "1iB", "G8"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
