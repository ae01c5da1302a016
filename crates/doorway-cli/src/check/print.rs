//! What `doorway check` prints: what it searched, what it found, what it covered.

use crate::output::count;
use crate::{interrupt, output};
use doorway_check::Report;
use doorway_check::explore::{Progress, Stop, Verdict};
use doorway_check::replay::Token;
use doorway_check::sim::{Deaths, Rules, VarId, World};
use doorway_check::subject::Subject;
use doorway_check::trace::Trace;
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The registers that were asked for, and those that the variables really are.
#[derive(Clone)]
pub(crate) struct Registers {
    asked: Register,
    forced: bool,
    /// How many variables there are of each kind, the weakest first, without those that only their
    /// owners access.
    variables: BTreeMap<Register, usize>,
}

impl Registers {
    pub(crate) fn of(world: &World) -> Self {
        let mut variables = BTreeMap::new();
        for (v, _) in (0..).zip(world.layout().vars()).filter(|(_, var)| !var.private) {
            *variables.entry(world.kind(v as VarId)).or_default() += 1;
        }
        Self { variables, ..Self::asked_for(world.rules()) }
    }

    /// For a machine that was not built.
    pub(super) fn asked_for(rules: Rules) -> Self {
        Self { asked: rules.registers, forced: rules.force_registers, variables: BTreeMap::new() }
    }

    /// The weakest kind that a variable has.
    fn weakest(&self) -> Register {
        self.variables.keys().next().copied().unwrap_or(self.asked)
    }

    fn text(&self) -> String {
        let asked = self.asked;
        if self.forced {
            return format!("{asked} registers, forced");
        }
        if self.variables.keys().all(|&kind| kind == asked) {
            return format!("{asked} registers");
        }
        match self.weakest() {
            Register::Atomic => format!(
                "atomic registers (not {asked}: no variable declares that it works with a weaker one; --force weakens them anyway)"
            ),
            _ => {
                let kinds = self.variables.iter().map(|(kind, n)| format!("{n} {kind}"));
                format!("registers as declared: {} (--force weakens all)", kinds.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The JSON output.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) algorithm: String,
    pub(super) n: usize,
    pub(super) k: usize,
    /// The weakest kind that a variable has, not the kind that was asked for.
    pub(super) registers: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) registers_asked: Option<String>,
    /// How many variables there are of each kind.
    pub(super) register_kinds: BTreeMap<String, usize>,
    pub(super) crashes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) restarts: usize,
    /// What else happens to dead processes, where it differs from the default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) deaths: Vec<&'static str>,
    pub(super) passages: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) give_ups: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) wakes: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) timed_sleeps: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lag: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) switches: Option<u32>,
    pub(super) states: usize,
    pub(super) edges: u64,
    pub(super) complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<String>,
    pub(super) properties: Vec<Line<'a>>,
}

impl<'a> Document<'a> {
    /// With nothing covered yet.
    pub(super) fn new(
        subject: &Subject,
        sizes: Sizes,
        rules: Rules,
        registers: &Registers,
        verdicts: &'a [Verdict],
    ) -> Self {
        let (weakest, asked) = (registers.weakest(), registers.asked);
        Self {
            algorithm: subject.id(),
            n: sizes.n,
            k: sizes.k,
            registers: weakest.to_string(),
            registers_asked: (weakest != asked).then(|| asked.to_string()),
            register_kinds: registers.variables.iter().map(|(kind, n)| (kind.to_string(), *n)).collect(),
            crashes: rules.crashes,
            restarts: rules.deaths.restarts,
            deaths: deaths(rules.deaths),
            passages: rules.passages,
            give_ups: rules.give_ups,
            wakes: rules.wakes,
            timed_sleeps: rules.timed_sleeps,
            line: rules.line,
            lag: rules.lag,
            switches: rules.switches,
            states: 0,
            edges: 0,
            complete: false,
            stopped: None,
            properties: verdicts.iter().map(|v| Line::new(v, subject, sizes, rules)).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Line<'a> {
    name: &'a str,
    holds: Option<bool>,
    /// Why the property holds, or was not decided, although it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
}

impl<'a> Line<'a> {
    fn new(v: &'a Verdict, subject: &Subject, sizes: Sizes, rules: Rules) -> Self {
        let trace = v.trace.as_ref().filter(|_| v.holds == Some(false));
        let replay = trace.map(|trace| Token::new(subject, sizes, rules, &v.name, trace).to_string());
        Self { name: &v.name, holds: v.holds, why: v.vacuous, trace, replay }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What happens to dead processes, where it differs from the default.
fn deaths(of: Deaths) -> Vec<&'static str> {
    let unusual = [
        (of.late, "noticed late"),
        (of.hints, "hints"),
        (!of.rechecks, "no second looks"),
        (!of.reclaims, "nothing is reclaimed"),
        (!of.suspects, "looked for only after the first death"),
    ];
    unusual.into_iter().filter_map(|(so, text)| so.then_some(text)).collect()
}

/// What is searched, for people.
pub(super) fn heading(subject: &Subject, sizes: Sizes, rules: Rules, registers: &Registers) -> String {
    let passages = rules.passages.map_or("unbounded".to_owned(), |p| p.to_string());
    let crashes = match rules.crashes {
        0 => "no crashes".to_owned(),
        1 => "up to 1 crash".to_owned(),
        f => format!("up to {f} crashes"),
    };
    let restarts = match rules.deaths.restarts {
        0 => String::new(),
        1 => " and 1 restart".to_owned(),
        r => format!(" and {r} restarts"),
    };
    let unusual: String = deaths(rules.deaths).into_iter().map(|so| format!(", {so}")).collect();
    let crashes = crashes + &restarts + &unusual;
    let give_ups = if rules.give_ups { ", give-ups" } else { "" };
    let sleep = match (rules.wakes, rules.timed_sleeps) {
        (true, true) => ", sleeping with a time limit",
        (true, false) => ", sleeping",
        _ => "",
    };
    let line = rules.line.map_or(String::new(), |most| format!(", line: {most}"));
    format!(
        "{}: {}\nn={} {}={}, {}, {crashes}{give_ups}{sleep}, passages: {passages}{line}\n\n",
        subject.id(),
        subject.mutant.map_or(subject.info.title, |m| m.change),
        sizes.n,
        subject.info.problem.second().name(),
        sizes.k,
        registers.text()
    )
}

/// What is said of a property that holds as far as was seen.
pub(super) const UNDECIDED: &str = "not decided";

/// The verdicts, and a counterexample for each failure.
pub(super) fn verdict_lines(
    out: &mut String,
    verdicts: &[Verdict],
    undecided: &str,
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
) {
    let width = verdicts.iter().map(|v| v.name.len()).max().unwrap_or(0);
    for v in verdicts {
        let verdict = match (v.holds, &v.trace) {
            (Some(true), _) => v.vacuous.map_or("holds".to_owned(), |why| format!("holds ({why})")),
            (Some(false), Some(trace)) if trace.repeats_from.is_some() => "FAILS for ever".to_owned(),
            (Some(false), Some(trace)) => format!("FAILS after {}", count(trace.len() as u64, "step")),
            (Some(false), None) => "FAILS: never so".to_owned(),
            (None, _) => v.vacuous.map_or(undecided.to_owned(), |why| format!("{undecided}: {why}")),
        };
        let _ = writeln!(out, "  {:width$}  {verdict}", v.name);
    }
    for v in verdicts.iter().filter(|v| v.holds == Some(false)) {
        if let Some(trace) = &v.trace {
            let how = if trace.repeats_from.is_some() { "A run without end that breaks" } else { "A way to break" };
            let token = Token::new(subject, sizes, rules, &v.name, trace);
            let _ = writeln!(out, "\n{how} {}:\n{trace}\n\ndoorway replay {token}", v.name);
            out.extend(cannot_use(trace, subject, rules).map(|why| format!("\n{why}\n")));
        }
    }
}

/// If registers were weakened by force and the text panicked because of that, says so.
fn cannot_use(trace: &Trace, subject: &Subject, rules: Rules) -> Option<String> {
    let p = trace.end.iter().position(|at| at.panicked.is_some()).filter(|_| rules.force_registers)?;
    let step = trace.steps.iter().rfind(|step| step.process == p)?;
    Some(format!(
        "{} cannot be run over {} registers: its text panicked because it cannot use a value that such a register \
         returned. The last access of p{p} was {}.",
        subject.id(),
        rules.registers,
        step.text()
    ))
}

/// What was found and what was covered, for people.
pub(crate) fn describe(
    subject: &Subject,
    sizes: Sizes,
    registers: &Registers,
    report: &Report,
    took: Duration,
    why: &dyn Fn(Stop) -> String,
) -> String {
    let mut out = heading(subject, sizes, report.rules, registers);
    let undecided = if report.stop == Some(Stop::Bits) { "nothing found" } else { UNDECIDED };
    verdict_lines(&mut out, &report.verdicts, undecided, subject, sizes, report.rules);
    let covered = match report.stop {
        None => format!("complete{}", within(report.rules)),
        Some(Stop::Bits) => format!(
            "{} explored, NOT complete: only bits of states were kept; nothing found is no proof. A new state was \
             recognised as new with an estimated probability of {:.4}%",
            output::thousands(report.expanded as u64),
            100.0 * report.coverage.unwrap_or_default()
        ),
        Some(bound @ (Stop::Switches(_) | Stop::Lag(_))) => format!("NOT complete: {bound} were explored"),
        Some(stop) => format!("{} explored, NOT complete: {}", output::thousands(report.expanded as u64), why(stop)),
    };
    let _ = writeln!(
        out,
        "\n{}, {}, {covered} ({:.2} s{}, {:.0} bytes a state)",
        count(report.states as u64, "state"),
        count(report.edges, "edge"),
        took.as_secs_f64(),
        // Worth mentioning only where it is noticeable.
        if report.judging.as_millis() > 100 {
            format!(", {:.2} s of it on progress", report.judging.as_secs_f64())
        } else {
            String::new()
        },
        report.bytes_per_state()
    );
    if let Some((compared, all)) = report.cross_checked {
        let extent = if all { "all" } else { "NOT all" };
        let _ = writeln!(out, "merged local states agree on {} ({extent} there are)", count(compared, "continuation"));
    }
    out
}

/// The bounds within which a search is complete.
fn within(rules: Rules) -> String {
    let passages = rules.passages.map(|p| format!("{} of each process", count(u64::from(p), "passage")));
    let line = rules.line.map(|most| format!("a line of {}", count(u64::from(most), "ticket")));
    let bounds: Vec<String> = passages.into_iter().chain(line).collect();
    if bounds.is_empty() { String::new() } else { format!(" for {}", bounds.join(" and ")) }
}

/// An estimate, with no more digits than it deserves.
fn about(number: usize) -> String {
    let unit = 10usize.pow(number.max(1).ilog10());
    output::thousands((number / unit * unit) as u64)
}

/// A progress line on a terminal; nothing elsewhere.
pub(super) struct Bar {
    bar: ProgressBar,
    begun: Instant,
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = interrupt::shown(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar, begun: Instant::now() }
    }

    pub(super) fn show(&self, progress: &Progress) {
        let rate = progress.states as f64 / self.begun.elapsed().as_secs_f64().max(1e-3);
        self.bar.set_message(format!(
            "{} states, {} per second, {} to explore, {}{}",
            output::thousands(progress.states as u64),
            output::thousands(rate as u64),
            output::thousands(progress.frontier as u64),
            HumanBytes(progress.bytes as u64),
            progress.left.map_or(String::new(), |left| {
                let seconds = (left + progress.frontier) as f64 / rate.max(1.0);
                format!(", some {} more to find, in {}", about(left), HumanDuration(Duration::from_secs_f64(seconds)))
            })
        ));
        self.bar.tick();
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorway_check::sim::Sim;
    use doorway_check::{Explorer, subject};
    use doorway_core::memory::{Domain, Memory as _, Site, decl};

    #[test]
    fn a_value_that_a_text_cannot_use_is_named() {
        let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::with_passages(Some(1)) };
        let build = |site: &Site<'_, Sim>| site.var("Turn", decl(0u64).ranges_over(Domain::Of(&[0, 1, 2])));
        let world = World::of_programs(2, rules, build, |turn, p| async move {
            let here = p.on(Sim::ROOT);
            if p.pid().index() == 0 {
                let Ok(()) = here.at(1).write(&turn, 1).await;
            } else {
                let Ok(turn) = here.at(2).read(&turn).await;
                assert!(turn < 2, "nobody has turn {turn}");
            }
        });
        let report = Explorer::new(2).explore(world.unwrap()).unwrap();
        let trace = report.failure().unwrap().trace.as_ref().unwrap();
        let chain = subject::find("am-chain").unwrap();
        let why = cannot_use(trace, &chain, rules).unwrap();
        assert!(why.starts_with("am-chain cannot be run over safe registers: "), "{why}");
        assert!(why.ends_with("The last access of p1 was 2: Turn = 2, torn."), "{why}");
        assert_eq!(cannot_use(trace, &chain, Rules::default()), None, "atomic registers are not to blame");
    }
}
