//! What people and programs are told of a search: what was searched, what was found, what was
//! covered. The command and [`Report`]'s `Display` and JSON say it in the same words.

use super::{Report, Stop, Verdict, Worst};
use crate::sim::{CrossChecked, Deaths, Rules, VarId, World};
use crate::trace::Trace;
use doorway_core::memory::Register;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// How far verdicts are moved to the right for the names of properties.
const WIDEST: usize = 80;

/// What is said of a property that holds as far as was seen.
pub const UNDECIDED: &str = "not decided";

/// A number with its thousands set apart.
///
/// ```
/// use doorway_check::explore::thousands;
/// let shown = ["0", "999", "1,000", "161,880", "1,000,000"];
/// assert_eq!([0, 999, 1000, 161_880, 1_000_000].map(thousands), shown);
/// ```
#[must_use]
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `word` for one, `words` for more.
///
/// ```
/// assert_eq!(doorway_check::explore::count(1_000, "state"), "1,000 states");
/// ```
#[must_use]
pub fn count(n: u64, word: &str) -> String {
    format!("{} {word}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// What can be done if not all was compared that a text declares alike.
pub(super) const IF_NOT_ALL: &str = "a wrong `keep` can hide runs. Compare more (`compare_keep`), search without `keep` \
    (`Keep::Ignored`, --no-keep), or say that it is right (`believe_keep`, --believe-keep)";

/// On what a verdict rests.
pub(crate) fn provided(CrossChecked { compared, merged, .. }: CrossChecked) -> String {
    let but = if compared == merged { ", not after all histories" } else { "" };
    let [compared, merged] = [compared, merged].map(|many| thousands(many as u64));
    format!("provided `keep` is right: {compared} of {merged} merged local states compared{but}")
}

/// The registers that were asked for, and those that the variables really are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    asked: Register,
    forced: bool,
    /// How many variables there are of each kind, the weakest first, without those that only their
    /// owners access.
    variables: BTreeMap<Register, usize>,
}

impl Registers {
    /// Those of a machine.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let mut variables = BTreeMap::new();
        for (v, _) in (0..).zip(world.layout().vars()).filter(|(_, var)| !var.private) {
            *variables.entry(world.kind(v as VarId)).or_default() += 1;
        }
        Self { variables, ..Self::asked_for(world.rules()) }
    }

    /// For a machine that was not built.
    #[must_use]
    pub fn asked_for(rules: Rules) -> Self {
        Self { asked: rules.registers, forced: rules.force_registers, variables: BTreeMap::new() }
    }

    /// The weakest kind that a variable has.
    fn weakest(&self) -> Register {
        self.variables.keys().next().copied().unwrap_or(self.asked)
    }

    /// In words; `force` is how one weakens them further.
    fn text(&self, force: &str) -> String {
        let asked = self.asked;
        if self.forced {
            return format!("{asked} registers, forced");
        }
        if self.variables.keys().all(|&kind| kind == asked) {
            return format!("{asked} registers");
        }
        match self.weakest() {
            Register::Atomic => format!(
                "atomic registers (not {asked}: no variable declares that it works with a weaker one; {force} weakens them anyway)"
            ),
            _ => {
                let kinds = self.variables.iter().map(|(kind, n)| format!("{n} {kind}"));
                format!("registers as declared: {} ({force} weakens all)", kinds.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A search, for people and for programs.
///
/// ```
/// use doorway_check::explore::Account;
/// use doorway_check::{Explorer, Property};
/// use doorway_core::mutex::yang_anderson_93::TwoProcess;
///
/// let report = Explorer::new(2).property(Property::exclusion("mutual-exclusion", 1)).run(TwoProcess::new)?;
/// let account = Account { title: "by Yang and Anderson", ..Account::of("ya-two", &report) };
/// assert!(account.heading().starts_with("ya-two: by Yang and Anderson\nn=2, atomic registers"));
/// assert!(account.verdicts("not decided").contains("mutual-exclusion  holds"));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The name of the algorithm; may be empty.
    pub id: &'a str,
    /// What it is; may be empty.
    pub title: &'a str,
    /// The number of processes.
    pub processes: usize,
    /// The other size, by its name.
    pub second: Option<(&'a str, usize)>,
    /// How the machine ran.
    pub rules: Rules,
    /// What its variables are.
    pub registers: &'a Registers,
    /// How one weakens them further.
    pub force: &'a str,
    /// The command that replays a token.
    pub replay: &'a str,
    /// What was found.
    pub verdicts: &'a [Verdict],
}

/// A verdict, in JSON.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    holds: Option<bool>,
    /// Why the property holds, or was not decided, although it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    /// The exact maximum of what is bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unbounded: bool,
    /// On what the verdict rests, if that was not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    provided: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
}

/// A search, for programs. It becomes what `doorway check --json` prints.
#[derive(Serialize)]
pub struct Document<'a> {
    algorithm: &'a str,
    n: usize,
    /// Also for sizes that the command calls otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    /// The weakest kind that a variable has, not the kind that was asked for.
    registers: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registers_asked: Option<String>,
    /// How many variables there are of each kind.
    register_kinds: BTreeMap<String, usize>,
    crashes: usize,
    #[serde(skip_serializing_if = "is_zero")]
    restarts: usize,
    /// What else happens to dead processes, where it differs from the default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deaths: Vec<&'static str>,
    passages: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    give_ups: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wakes: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_sleeps: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lag: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<u32>,
    states: usize,
    /// How many these are with all names, if states that differ in the names of processes are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_all_names: Option<u64>,
    edges: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    /// How far merged local states were compared, if that was asked for or was not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_checked: Option<CrossChecked>,
    properties: Vec<Line<'a>>,
}

/// What a search covered.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Covered {
    /// States found.
    pub states: usize,
    /// If states that differ in the names of processes are one: how many these are with all names.
    pub with_all_names: Option<u64>,
    /// Steps tried.
    pub edges: u64,
    /// Whether these are all.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<String>,
    /// How far merged local states were compared, if that was asked for or was not all.
    pub cross_checked: Option<CrossChecked>,
}

impl<'a> Account<'a> {
    /// The account of a search in a program, under this name.
    #[must_use]
    pub fn of(id: &'a str, report: &'a Report) -> Self {
        Self {
            id,
            title: "",
            processes: report.processes,
            second: None,
            rules: report.rules,
            registers: &report.registers,
            force: "force_registers",
            replay: "replay",
            verdicts: &report.verdicts,
        }
    }

    /// The same, for programs.
    #[must_use]
    pub fn document(&self, covered: Covered) -> Document<'a> {
        let (weakest, asked) = (self.registers.weakest(), self.registers.asked);
        let Covered { states, with_all_names, edges, complete, stopped, cross_checked } = covered;
        Document {
            algorithm: self.id,
            n: self.processes,
            k: self.second.map(|(_, k)| k),
            registers: weakest.to_string(),
            registers_asked: (weakest != asked).then(|| asked.to_string()),
            register_kinds: self.registers.variables.iter().map(|(kind, n)| (kind.to_string(), *n)).collect(),
            crashes: self.rules.crashes,
            restarts: self.rules.deaths.restarts,
            deaths: deaths(self.rules.deaths),
            passages: self.rules.passages,
            give_ups: self.rules.give_ups,
            wakes: self.rules.wakes,
            timed_sleeps: self.rules.timed_sleeps,
            line: self.rules.line,
            lag: self.rules.lag,
            switches: self.rules.switches,
            states,
            with_all_names,
            edges,
            complete,
            stopped,
            cross_checked,
            properties: self.verdicts.iter().map(Line::of).collect(),
        }
    }

    /// What is searched.
    #[must_use]
    pub fn heading(&self) -> String {
        let rules = self.rules;
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
        let name = match (self.id, self.title) {
            ("", "") => String::new(),
            (name, "") | ("", name) => format!("{name}\n"),
            (id, title) => format!("{id}: {title}\n"),
        };
        let second = self.second.map_or(String::new(), |(name, k)| format!(" {name}={k}"));
        format!(
            "{name}n={}{second}, {}, {crashes}{give_ups}{sleep}, passages: {passages}{line}\n\n",
            self.processes,
            self.registers.text(self.force)
        )
    }

    /// The verdicts, and a counterexample for each failure. `undecided` is said of what was not
    /// decided.
    #[must_use]
    pub fn verdicts(&self, undecided: &str) -> String {
        let mut out = String::new();
        let width = self.verdicts.iter().map(|v| v.name.chars().count()).max().unwrap_or(0).min(WIDEST);
        for v in self.verdicts {
            let most = match v.most {
                Some(Worst::Bounded(most)) => format!(": the most is {}", thousands(most)),
                Some(Worst::Unbounded) => ": there is no bound".to_owned(),
                None => String::new(),
            };
            let if_right = v.provided.map_or(String::new(), |checked| format!(", {}", provided(checked)));
            let verdict = match (v.holds, &v.trace) {
                (Some(true), _) => {
                    v.vacuous.map_or(format!("holds{most}{if_right}"), |why| format!("holds ({why}){if_right}"))
                }
                (Some(false), Some(trace)) if trace.repeats_from.is_some() => format!("FAILS for ever{most}"),
                (Some(false), Some(trace)) => format!("FAILS after {}{most}", count(trace.len() as u64, "step")),
                (Some(false), None) => format!("FAILS: no run reaches such a state{if_right}"),
                (None, _) => v.vacuous.map_or(undecided.to_owned(), |why| format!("{undecided}: {why}")),
            };
            let _ = writeln!(out, "  {:width$}  {verdict}", v.name);
        }
        for v in self.verdicts.iter().filter(|v| v.holds == Some(false)) {
            if let Some(trace) = &v.trace {
                let how = if trace.repeats_from.is_some() { "A run without end that breaks" } else { "A way to break" };
                let _ = writeln!(out, "\n{how} {}:\n{trace}", v.name);
                if let Some(token) = &v.token {
                    let _ = writeln!(out, "\n{} {token}", self.replay);
                }
                out.extend(self.cannot_use(trace).map(|why| format!("\n{why}\n")));
            }
        }
        out
    }

    /// If registers were weakened by force and the text panicked because of that, says so.
    fn cannot_use(&self, trace: &Trace) -> Option<String> {
        let p = trace.end.iter().position(|at| at.panicked.is_some()).filter(|_| self.rules.force_registers)?;
        let step = trace.steps.iter().rfind(|step| step.process == p)?;
        Some(format!(
            "{} cannot be run over {} registers: its text panicked because it cannot use a value that such a register \
             returned. The last access of p{p} was {}.",
            if self.id.is_empty() { "the algorithm" } else { self.id },
            self.rules.registers,
            step.text()
        ))
    }

    /// What was found and what was covered.
    #[must_use]
    pub fn described(&self, report: &Report, took: Duration, why: &dyn Fn(Stop) -> String) -> String {
        let undecided = if report.coverage.is_some() { "nothing found" } else { UNDECIDED };
        let mut out = self.heading() + &self.verdicts(undecided);
        let covered = match report.stop {
            None => format!("complete{}", within(report.rules)),
            Some(bound @ (Stop::Switches(_) | Stop::Lag(_))) => format!("NOT complete: {bound} were explored"),
            Some(stop) => format!("{} explored, NOT complete: {}", thousands(report.expanded as u64), why(stop)),
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
        if let (Some(share), Some(bits), Some(omitted)) = (report.coverage, report.hash_factor, report.omitted()) {
            let _ = writeln!(
                out,
                "only bits of states were kept, {bits:.0} of memory for each; nothing found is no proof. A new state was \
                 recognised as new with an estimated probability of {:.4}%: some {} were taken for others, and what follows \
                 from them was not seen",
                100.0 * share,
                count(omitted.round() as u64, "state")
            );
        }
        if let Some(all) = report.with_all_names {
            let _ = writeln!(
                out,
                "states that differ only in the names of processes are one; with all names they are {}",
                thousands(all)
            );
        }
        for (name, values) in &report.growing {
            let values = values.map(thousands).join(", ");
            let _ = writeln!(
                out,
                "{name} seems to grow for ever: its largest values were {values} as the search went deeper. Bound the \
                 passages (`passages(3)`, --passages 3); or declare that only differences of its values matter \
                 (`decl(0).counts()`, and `normalise(true)`); or give it a width (`decl(0).wraps_at(8)`)"
            );
        }
        if let Some(CrossChecked { continuations, all, merged, compared }) = report.cross_checked {
            let extent = if all { "all" } else { "NOT all" };
            let [compared, merged] = [compared, merged].map(|many| thousands(many as u64));
            let _ = if continuations == 0 && !all {
                writeln!(out, "none of the {merged} merged local states was compared")
            } else {
                let continuations = count(continuations, "continuation");
                writeln!(
                    out,
                    "merged local states agree on {continuations} ({extent} there are); {compared} of {merged} were \
                     compared"
                )
            };
            if !report.believes_keep && report.verdicts.iter().any(|v| v.provided.is_some()) {
                let _ = writeln!(out, "{IF_NOT_ALL}");
            }
        }
        out
    }
}

impl<'a> Line<'a> {
    fn of(v: &'a Verdict) -> Self {
        let trace = v.trace.as_ref().filter(|_| v.holds == Some(false));
        let most = v.most.and_then(Worst::bounded);
        let replay = trace.and(v.token.as_ref()).map(ToString::to_string);
        Self {
            name: &v.name,
            holds: v.holds,
            why: v.vacuous,
            most,
            unbounded: v.most == Some(Worst::Unbounded),
            provided: v.provided.map(provided),
            trace,
            replay,
        }
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

/// The bounds within which a search is complete.
fn within(rules: Rules) -> String {
    let passages = rules.passages.map(|p| format!("{} of each process", count(u64::from(p), "passage")));
    let line = rules.line.map(|most| format!("a line of {}", count(u64::from(most), "ticket")));
    let bounds: Vec<String> = passages.into_iter().chain(line).collect();
    if bounds.is_empty() { String::new() } else { format!(" for {}", bounds.join(" and ")) }
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let stopped = self.stop.map(|stop| stop.to_string());
        let Self { states, with_all_names, edges, complete, cross_checked, .. } = *self;
        Account::of(&self.name, self)
            .document(Covered { states, with_all_names, edges, complete, stopped, cross_checked })
            .serialize(to)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = self.searching + self.judging;
        let text = Account::of(&self.name, self).described(self, took, &|stop| stop.to_string());
        f.write_str(text.trim_end())
    }
}
