//! The options of `doorway check`, and the refusal of those that would have no effect.

use crate::sizes;
use doorway_check::claims;
use doorway_check::sim::Deaths;
use doorway_check::subject::Subject;
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use std::num::NonZero;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The algorithm, as named by `doorway list`, or mutant:NAME
    pub(super) id: String,
    /// Seed a fault into the text, by statement number, such as drop:slot2.7, defer:7 or split:2.
    /// Separate several faults by commas. See docs/faults.md
    #[arg(long, value_name = "FAULT")]
    pub(super) fault: Option<String>,
    /// Number of processes [default: the algorithm's]
    #[arg(long)]
    pub(super) n: Option<usize>,
    /// Number of places: how many processes may be inside at once [default: the algorithm's]
    #[arg(long)]
    pub(super) k: Option<usize>,
    /// Number of rooms, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    pub(super) rooms: Option<usize>,
    /// Number of slots, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    pub(super) slots: Option<usize>,
    /// Passages per process: a number, or "unbounded" [default: the algorithm's]
    #[arg(long, value_parser = passages)]
    pub(super) passages: Option<Passages>,
    /// Check only this property; may be repeated [default: all that the algorithm promises]
    #[arg(long = "property", value_name = "NAME")]
    pub(super) properties: Vec<String>,
    /// Let up to this many processes crash, at any step outside their remainders [default: 0, or
    /// what the mutant needs]
    #[arg(long, value_name = "F")]
    pub(super) crashes: Option<usize>,
    /// Seats: let up to this many dead processes be replaced by a new process on the same seat
    #[arg(long, value_name = "R", requires = "crashes")]
    pub(super) restarts: Option<usize>,
    /// Seats: let a death be noticed late, in a step of its own
    #[arg(long, requires = "crashes")]
    pub(super) late_deaths: bool,
    /// Seats: let a death wake a sleeper that watches the seat
    #[arg(long, requires = "crashes")]
    pub(super) hints: bool,
    /// Seats: let no sleeper look again on its own
    #[arg(long, requires = "crashes")]
    pub(super) no_rechecks: bool,
    /// Seats: report no death, so that whatever a dead process holds is lost
    #[arg(long, requires = "crashes")]
    pub(super) no_reclaims: bool,
    /// Seats: let no process look for dead owners before the first death. Explores fewer states,
    /// and misses runs in which a process dies while another is already looking
    #[arg(long, requires = "crashes")]
    pub(super) no_suspects: bool,
    /// Weaken each variable to this kind of register (safe, monotone, regular or atomic), but no
    /// further than it declares [default: atomic, or what the mutant needs]
    #[arg(long, value_parser = register)]
    pub(super) registers: Option<Register>,
    /// Let a process give up, wherever the text allows it, at every failed turn of a wait
    #[arg(long)]
    pub(super) give_ups: bool,
    /// Turnstiles: limit the line. No process starts a passage while this many tickets are
    /// outstanding. The search is complete for this bound
    #[arg(long, value_name = "TICKETS", value_parser = sizes::from_one::<NonZero<u32>>)]
    pub(super) line: Option<NonZero<u32>>,
    /// Turnstiles: let the front fall at most this far behind while no process waits (only some
    /// steps move it). Explores fewer states, and can only find failures: runs in which the front
    /// falls further behind are skipped
    #[arg(long, value_name = "TICKETS", value_parser = sizes::from_one::<NonZero<u32>>)]
    pub(super) lag: Option<NonZero<u32>>,
    /// Search only runs with at most this many context switches. Finds deep failures that need few
    /// switches; decides nothing else
    #[arg(long, value_name = "CHANGES", conflicts_with = "dot")]
    pub(super) switches: Option<u32>,
    /// dgs and its kin, and seats: merge symmetric states. Explores fewer states; for dgs and its
    /// kin, traces are harder to read
    #[arg(long)]
    pub(super) alike: bool,
    /// Let waiting processes sleep, and make waking the sleepers a step of its own
    #[arg(long)]
    pub(super) wakes: bool,
    /// With --wakes: let sleepers also wake up on their own
    #[arg(long, requires = "wakes")]
    pub(super) timed_sleeps: bool,
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
    /// Also write the state graph to this file, for Graphviz (up to 2000 states)
    #[arg(long, value_name = "FILE")]
    pub(super) dot: Option<std::path::PathBuf>,
    /// Also write a picture of the state graph to this file: every state and step of up to 400
    /// states, a summary of more
    #[arg(long, value_name = "FILE", conflicts_with = "switches")]
    pub(super) svg: Option<std::path::PathBuf>,
    /// If a property fails, also write a page that shows the run, step by step, in a browser
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<std::path::PathBuf>,
    /// With --registers: weaken variables further than they declare
    #[arg(long, requires = "registers")]
    pub(super) force: bool,
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
    /// Keep three bits of each state, in this much memory, instead of the state. Finds failures in
    /// searches that do not fit into memory, and proves nothing
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with_all = ["save", "resume"])]
    pub(super) bitstate: Option<usize>,
    /// If a limit or Ctrl-C ends the search, write what it knows to this file
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<std::path::PathBuf>,
    /// Go on where the search ended that wrote this file; give the same options
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<std::path::PathBuf>,
    /// Do not merge local states that the text declares alike, and forget no value it declares
    /// irrelevant (slow, but right even if the text is wrong)
    #[arg(long)]
    pub(super) no_keep: bool,
    /// After the search, run merged local states side by side to verify that they are alike
    #[arg(long, conflicts_with = "no_keep")]
    pub(super) cross_check: bool,
    /// After a failure, continue until every property is decided
    #[arg(long)]
    pub(super) keep_going: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// What happens to dead processes.
    pub(super) fn deaths(&self) -> Deaths {
        Deaths {
            restarts: self.restarts.unwrap_or(0),
            late: self.late_deaths,
            hints: self.hints,
            rechecks: !self.no_rechecks,
            reclaims: !self.no_reclaims,
            suspects: !self.no_suspects,
        }
    }

    /// How many threads search.
    pub(super) fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(cores, usize::from)
    }

    /// Refuses an option that would change nothing: its user means something else, or believes that
    /// more is checked than is.
    pub(super) fn refuse_what_has_no_effect(&self, subject: &Subject, sizes: Sizes) -> Result<(), String> {
        let id = subject.id();
        let sampling =
            [("runs", self.runs.is_some()), ("length", self.length.is_some()), ("seed", self.seed.is_some())];
        let searching = [
            ("switches", self.switches.is_some()),
            ("max-states", self.max_states.is_some()),
            ("threads", self.threads.is_some()),
            ("bitstate", self.bitstate.is_some()),
            ("save", self.save.is_some()),
            ("resume", self.resume.is_some()),
            ("cross-check", self.cross_check),
            ("keep-going", self.keep_going),
        ];
        let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        if self.method == Method::Exhaustive {
            if let Some(option) = given(&sampling) {
                return Err(format!(
                    "--{option} applies to samples only; add --method random or --method pct, or omit --{option}"
                ));
            }
        } else if let Some(option) = given(&searching) {
            return Err(format!("--{option} has no effect on samples; omit it, or omit --method"));
        }
        if self.depth.is_some() && self.method != Method::Pct {
            return Err("--depth applies to priority schedules only; add --method pct, or omit --depth".to_owned());
        }
        if self.force && self.registers == Some(Register::Atomic) {
            return Err("--force has no effect on atomic registers; give --registers safe, monotone or regular, or \
                        omit --force"
                .to_owned());
        }
        if self.give_ups && !subject.info.can_give_up {
            return Err(format!("{id} cannot give up: a process that has started must finish; omit --give-ups"));
        }
        let of_seats = [
            ("restarts", self.restarts.is_some()),
            ("late-deaths", self.late_deaths),
            ("hints", self.hints),
            ("no-rechecks", self.no_rechecks),
            ("no-reclaims", self.no_reclaims),
            ("no-suspects", self.no_suspects),
        ];
        if let Some(option) = given(&of_seats).filter(|_| !claims::notices_deaths(subject.info)) {
            return Err(format!("{id} does not notice deaths; omit --{option}"));
        }
        let most = sizes.n + self.restarts.unwrap_or(0);
        if let Some(crashes) = self.crashes.filter(|&crashes| crashes > most) {
            let there_are = match sizes.n {
                1 => "the one process".to_owned(),
                n => format!("the {n} processes"),
            };
            return Err(format!("{there_are} cannot crash {crashes} times; give fewer --crashes"));
        }
        let passages = self.passages.map_or(subject.defaults().passages, |p| p.0);
        let has_front = claims::lags(subject.info);
        let bounds = [("line", self.line, claims::counts_for_ever(subject.info)), ("lag", self.lag, has_front)];
        for (option, _, has_one) in bounds.into_iter().filter(|(_, given, _)| given.is_some()) {
            let name = if option == "line" { "line of tickets" } else { "front that can fall behind" };
            if !has_one {
                return Err(format!("{id} has no {name}; omit --{option}"));
            }
            if passages.is_some() {
                return Err(format!(
                    "--{option} applies to unbounded passages only; omit --{option}, or omit --passages"
                ));
            }
        }
        if self.alike && !claims::has_alike(subject.info) {
            return Err(format!("{id} declares no symmetric states to merge; omit --alike"));
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

#[derive(Clone, Copy)]
pub(crate) struct Passages(pub(crate) Option<u32>);

pub(crate) fn passages(text: &str) -> Result<Passages, String> {
    match (text, text.parse()) {
        ("unbounded", _) => Ok(Passages(None)),
        (_, Ok(n)) if n > 0 => Ok(Passages(Some(n))),
        _ => Err("give a number, at least 1, or \"unbounded\"".to_owned()),
    }
}

pub(crate) fn register(text: &str) -> Result<Register, String> {
    let kinds = [Register::Safe, Register::Monotone, Register::Regular, Register::Atomic];
    kinds.into_iter().find(|kind| kind.to_string() == text).ok_or("give safe, monotone, regular or atomic".to_owned())
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

    #[test]
    fn passages_are_counted_from_one() {
        assert_eq!(passages("3").map(|p| p.0), Ok(Some(3)));
        assert_eq!(passages("unbounded").map(|p| p.0), Ok(None));
        assert!(passages("0").is_err() && passages("many").is_err());
    }
}
