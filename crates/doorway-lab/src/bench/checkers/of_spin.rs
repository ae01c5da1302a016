//! Verifiers that Spin writes.

use super::{Found, Subject, watched};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The models, by name.
pub(super) const MODELS: [(&str, &str); 9] = [
    ("frame", include_str!("of_spin/frame.pml")),
    ("tsay", include_str!("of_spin/tsay.pml")),
    ("burns-lynch", include_str!("of_spin/burns-lynch.pml")),
    ("bakery", include_str!("of_spin/bakery.pml")),
    ("turnstile-simple", include_str!("of_spin/turnstile-simple.pml")),
    ("am-chain", include_str!("of_spin/am-chain.pml")),
    ("peterson-turn-first", include_str!("of_spin/peterson-turn-first.pml")),
    ("hyman", include_str!("of_spin/hyman.pml")),
    ("szymanski-three-bits", include_str!("of_spin/szymanski-three-bits.pml")),
];

/// How a verifier searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Options {
    pub(super) cores: usize,
    compile: &'static [&'static str],
}

impl Options {
    /// Every state, stored as it is.
    pub(super) const PLAIN: Self = Self { cores: 1, compile: &["-DNOREDUCE"] };
    pub(super) const COLLAPSED: Self = Self { cores: 1, compile: &["-DNOREDUCE", "-DCOLLAPSE"] };
    pub(super) const TWO_CORES: Self = Self { cores: 2, compile: &["-DNOREDUCE", "-DNCORE=2"] };
    pub(super) const BREADTH_FIRST: Self = Self { cores: 1, compile: &["-DNOREDUCE", "-DBFS"] };
    /// With partial order reduction: not every state.
    pub(super) const REDUCED: Self = Self { cores: 1, compile: &[] };

    pub(super) fn name(self) -> &'static str {
        match self.compile {
            [_, "-DCOLLAPSE"] => "Spin, collapsed",
            [_, "-DBFS"] => "Spin, breadth first",
            [] => "Spin, reduced",
            _ => "Spin",
        }
    }
}

/// Where verifiers are made.
pub(super) struct Kitchen {
    folder: PathBuf,
    pub(super) version: String,
}

/// A verifier, and how it should be called.
pub(super) struct Verifier {
    program: PathBuf,
    arguments: Vec<String>,
    pub(super) built_in: Duration,
}

fn done(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(said) } else { Err(format!("{command:?} says {said}")) }
}

impl Kitchen {
    pub(super) fn new() -> Result<Self, String> {
        let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
        let version = done(Command::new("spin").arg("-V")).map(first)?;
        let compiler = done(Command::new("gcc").arg("--version")).map(first)?;
        let folder = std::env::temp_dir().join(format!("doorway-lab-spin-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Self { folder, version: format!("{version}; {compiler}, -O2 -DSAFETY") })
    }

    /// Makes a verifier with no more depth and no larger table than it needs.
    pub(super) fn verifier(&self, subject: &Subject, options: Options) -> Result<Verifier, String> {
        let folder = self.folder.join(format!("{}-{}", subject.name.replace(':', "-"), options.compile.concat()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        for (name, text) in MODELS {
            std::fs::write(folder.join(format!("{name}.pml")), text).map_err(|error| error.to_string())?;
        }
        let begun = Instant::now();
        let mut spin = Command::new("spin");
        spin.current_dir(&folder).args([format!("-DN={}", subject.n), format!("-DK={}", subject.k)]);
        spin.args(subject.passages.map(|most| format!("-DP={most}")));
        spin.args(subject.defines.iter().map(|define| format!("-D{define}")));
        done(spin.args(["-a", &format!("{}.pml", subject.model)]))?;
        let mut compiler = Command::new("gcc");
        compiler.current_dir(&folder).args(["-O2", "-w", "-DSAFETY"]).args(options.compile);
        done(compiler.args(["-o", "pan", "pan.c"]))?;
        let built_in = begun.elapsed();
        let program = folder.join("pan");
        let with = |depth: u64, log: u32| Verifier {
            program: program.clone(),
            arguments: vec![format!("-m{depth}"), format!("-w{log}")],
            built_in,
        };
        if subject.fault.is_some() {
            return Ok(with(10_000, 16));
        }
        // It runs once with much room, to find out how much it needs.
        let (_, said) = watched(&mut with(10_000_000, 24).command())?;
        let depth = number_after(&said, "depth reached ").ok_or("it does not say how deep it went")?;
        let states = read(&said)?.states.unwrap_or(1) as u64;
        // With several cores, the depth that each reaches differs from run to run.
        Ok(with(depth * options.cores as u64 + 1_000, states.next_power_of_two().ilog2().max(10)))
    }
}

impl Drop for Kitchen {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Verifier {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // The verifier writes the trail of a failure into its working directory.
        command.args(&self.arguments).current_dir(self.program.parent().unwrap_or(&self.program));
        command
    }
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, after) = text.split_once(words)?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// What a verifier found, according to its output.
pub(super) fn read(said: &str) -> Result<Found, String> {
    for problem in ["max search depth too small", "out of memory", "aborted", "recompile", "hash table is full"] {
        if said.contains(problem) && !said.contains("recommend recompiling") {
            return Err(format!("{problem}: {said}"));
        }
    }
    let states = said.lines().find_map(|line| line.trim().strip_suffix(" states, stored")?.trim().parse().ok());
    let depth = number_after(said, "(at depth ").map(|depth| depth as usize);
    // A step into a violated assertion is the last one; an end state comes after the last one.
    let steps = depth.map(|depth| depth + usize::from(said.contains("assertion violated")));
    if states.is_none() || steps.is_none() != said.contains("errors: 0") {
        return Err(format!("it says {said}"));
    }
    Ok(Found { states, steps, tries: None })
}
