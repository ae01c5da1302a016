//! A run with everything that a page shows of it.

use super::references::Caches;
use super::sources;
use crate::explore::holds_at;
use crate::property::{Property, Test};
use crate::sim::{Action, Op, Phase, State, Stepped, TextError, VarId, What, World, is_set};
use crate::trace::{Step, section};
use doorway_core::memory::{Home, Register};
use serde::Serialize;
use std::panic::Location;

/// How many steps a process is run alone to find out whether it waits.
const ALONE: usize = 200;

/// A run, state by state.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Record {
    /// What runs.
    pub title: String,
    /// Its sizes and rules, in words.
    pub about: String,
    /// The property that the run is about, and whether the run breaks it.
    pub property: Option<(String, bool)>,
    /// The token that replays it.
    pub token: Option<String>,
    /// The number of processes.
    pub processes: usize,
    /// The shared variables.
    pub vars: Vec<Variable>,
    /// The claims that are judged in each state, or of the step that led there.
    pub claims: Vec<String>,
    /// The sources of the texts, as far as they are known.
    pub sources: Vec<Source>,
    /// Where each process is at the start.
    pub start: Vec<Place>,
    /// Which claims are true at the start; see [`Moved::claims`].
    pub claims_at_start: String,
    /// The steps.
    pub steps: Vec<Moved>,
    /// The step from which the run repeats for ever.
    pub repeats_from: Option<usize>,
    /// Why that is fair, process by process.
    pub why_fair: Vec<String>,
}

/// A shared variable.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Variable {
    /// Its full name.
    pub name: String,
    /// Its initial value.
    pub initially: String,
    /// The process in whose memory it lives.
    pub home: Option<usize>,
    /// Its kind of register.
    pub register: String,
    /// Whether only its home process accesses it.
    pub private: bool,
}

/// A file.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Source {
    /// Its path.
    pub name: String,
    /// Its lines.
    pub text: String,
}

/// Where a process is.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Debug)]
pub struct Place {
    /// Its section.
    pub section: &'static str,
    /// The part of the algorithm; empty for the algorithm as a whole.
    pub part: String,
    /// The statement that it is about to execute; `None` if it has stopped.
    pub statement: Option<u16>,
    /// The source, by number, and the line of that statement.
    pub line: Option<(usize, u32)>,
    /// What it does next, in words.
    pub next: String,
    /// The variables that it waits on, by number: run alone, it would come back to where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<VarId>>,
    /// Whether it sleeps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asleep: bool,
    /// Whether it has crashed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crashed: bool,
    /// Whether it has died, and no other process can have noticed that yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dying: bool,
    /// The message of its panic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panicked: Option<String>,
}

/// A write that has begun and not ended.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Half {
    /// The process that writes.
    pub process: usize,
    /// The variable.
    pub var: VarId,
    /// The value that it writes.
    pub value: String,
}

/// A step, and what is different after it.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Moved {
    /// The process.
    pub process: usize,
    /// The action, as tokens write it.
    pub action: String,
    /// `step`, `torn`, `chooses`, `gives up`, `crash`, `restart` or `wakes`.
    pub kind: &'static str,
    /// The part of the algorithm; empty for the algorithm as a whole.
    pub part: String,
    /// The statement.
    pub statement: u16,
    /// The source, by number, and the line of that statement.
    pub line: Option<(usize, u32)>,
    /// What happened.
    pub did: String,
    /// Whether a turn of a wait failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The section that it led into, if that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<&'static str>,
    /// The variables that changed, by number, and their new values.
    pub changed: Vec<(VarId, String)>,
    /// The processes that are somewhere else now, or wait for something else.
    pub places: Vec<(usize, Place)>,
    /// The writes that are in progress now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub half: Vec<Half>,
    /// The remote references that the step cost its process: in CC, and in DSM.
    pub cost: [u32; 2],
    /// A letter for each claim: `+` true, `-` false, `.` about whole runs. For claims that
    /// something can happen: `!` if it does here, `?` if not.
    pub claims: String,
}

/// Repeats runs of one machine, and writes down what a page shows.
///
/// ```
/// use doorway_check::schedule::Runner;
/// use doorway_check::sim::{Rules, World};
/// use doorway_check::viewer::Recorder;
/// use doorway_check::Property;
/// use doorway_core::k_exclusion::anderson_moir_94::Chain;
///
/// let chain = || World::new(2, Rules::default(), |site| Chain::new(site, 2, 1));
/// let mut run = Runner::new(chain()?);
/// run.follow("p0.2 p1.2.3.4.5~").unwrap();
/// let claims = vec![Property::exclusion("k-exclusion", 1)];
/// let record = Recorder::new(&chain()?, claims)?.record(run.actions_so_far(), None)?;
/// let last = record.steps.last().unwrap();
/// assert_eq!(last.did, "Q = p1");
/// assert_eq!(last.claims, "+");
/// assert_eq!(record.place(record.steps.len(), 1).waits, Some(vec![1])); // on Q
/// assert!(record.sources[0].name.ends_with("cc_slot.rs"));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Debug)]
pub struct Recorder {
    pub(crate) world: World,
    claims: Vec<Property>,
    /// The sources of a text of one's own.
    own: Vec<Source>,
}

impl Recorder {
    /// Repeats runs of this machine, without merging anything. Claims that need what the machine
    /// does not track are left out.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn new(world: &World, mut claims: Vec<Property>) -> Result<Self, TextError> {
        claims.retain(|claim| !claim.needs_order() || world.rules().order);
        let mut plain = world.unmerged()?;
        plain.watch_for(&claims);
        Ok(Self { world: plain, claims, own: Vec::new() })
    }

    /// Shows the source of a text of your own: `.with_source(file!(), include_str!("main.rs"))`.
    #[must_use]
    pub fn with_source(mut self, file: &str, text: &str) -> Self {
        self.own.push(Source { name: file.to_owned(), text: text.to_owned() });
        self
    }

    /// The claims that are judged.
    #[must_use]
    pub fn claims(&self) -> &[Property] {
        &self.claims
    }

    /// The machine.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The run of these actions. It ends before the first action that cannot happen.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn record(&mut self, actions: &[Action], repeats_from: Option<usize>) -> Result<Record, TextError> {
        let layout = self.world.layout().clone();
        let n = self.world.processes();
        let mut state = self.world.initial();
        let mut sources = Vec::new();
        let mut places = self.places(&state, &mut sources)?;
        let mut caches = Caches::new(n, &layout);
        let (start, claims_at_start) = (places.clone(), self.judge(None, &state)?);
        let (mut steps, mut states) = (Vec::new(), vec![state.clone()]);
        for &action in actions.iter().take_while(|action| action.process < n) {
            let before = state.clone();
            let line = self.line(&before, action.process, &mut sources);
            let mut cost = [0; 2];
            let mut charge = |op: Op| {
                let [cc, dsm] = caches.charge(&layout, action.process, op);
                cost = [cost[0] + cc, cost[1] + dsm];
            };
            let Some((step, stepped)) = Step::take_watched(&mut self.world, &mut state, action, &mut charge)? else {
                break;
            };
            let now = self.places(&state, &mut sources)?;
            let moved = (0..n).filter(|&p| places[p] != now[p]).map(|p| (p, now[p].clone())).collect();
            let changed = (0..).zip(state.vars.iter().zip(&before.vars)).filter(|(_, (is, was))| is != was);
            steps.push(Moved {
                process: action.process,
                action: action.to_string(),
                kind: Self::kind(&self.world, &before, action),
                part: step.part,
                statement: step.statement,
                line,
                did: step.did,
                waits: step.waits,
                now: step.now,
                changed: changed.map(|(v, (&is, _))| (v, layout.var(v).show(is))).collect(),
                places: moved,
                half: self.half(&state),
                cost,
                claims: self.judge(Some((&before, stepped)), &state)?,
            });
            places = now;
            states.push(state.clone());
        }
        let repeats_from = repeats_from.filter(|&from| from <= steps.len());
        let why_fair = repeats_from.map_or(Vec::new(), |from| self.why_fair(&states, &steps, from));
        let initial = &states[0];
        let variable = |v: VarId| Variable {
            name: layout.var(v).path.clone(),
            initially: layout.var(v).show(initial.vars[v as usize]),
            home: if let Home::Of(p) = layout.var(v).home { Some(p.index()) } else { None },
            register: self.world.kind(v).to_string(),
            private: layout.var(v).private,
        };
        Ok(Record {
            title: String::new(),
            about: String::new(),
            property: None,
            token: None,
            processes: n,
            vars: (0..layout.vars().len() as VarId).map(variable).collect(),
            claims: self.claims.iter().map(|claim| claim.name().to_owned()).collect(),
            sources: sources.iter().map(|file| self.source(file)).collect(),
            start,
            claims_at_start,
            steps,
            repeats_from,
            why_fair,
        })
    }

    /// What kind of action it is; see [`Moved::kind`].
    pub(crate) fn kind(world: &World, before: &State, action: Action) -> &'static str {
        match action.what {
            What::Sees(_) if matches!(world.next(before, action.process), Op::Choose(_)) => "chooses",
            What::Sees(_) => "torn",
            What::GiveUp => "gives up",
            What::TimesOut => "wakes",
            What::Crash | What::CrashWakes(_) => "crash",
            What::Restart => "restart",
            What::Step => "step",
        }
    }

    /// A letter for each claim; see [`Moved::claims`].
    pub(crate) fn judge(&mut self, came: Option<(&State, Stepped)>, state: &State) -> Result<String, TextError> {
        let mut letters = String::new();
        for claim in &self.claims {
            let can_happen = matches!(claim.test, Test::Sometimes(_));
            letters.push(match holds_at(&mut self.world, came, state, claim)? {
                Some(true) if can_happen => '!',
                Some(false) if can_happen => '?',
                Some(true) => '+',
                Some(false) => '-',
                None => '.',
            });
        }
        Ok(letters)
    }

    fn half(&self, state: &State) -> Vec<Half> {
        let writes = (0..self.world.processes()).filter(|&p| is_set(state.writing, p));
        let half = |p: usize| match self.world.next(state, p) {
            Op::Write(v, x) => Some(Half { process: p, var: v, value: self.world.layout().var(v).show(x) }),
            _ => None,
        };
        writes.filter_map(half).collect()
    }

    fn places(&mut self, state: &State, sources: &mut Vec<String>) -> Result<Vec<Place>, TextError> {
        (0..self.world.processes()).map(|p| self.place(state, p, sources)).collect()
    }

    fn place(&mut self, state: &State, p: usize, sources: &mut Vec<String>) -> Result<Place, TextError> {
        let world = &self.world;
        let (part, statement) = world.next_at(state, p);
        let op = world.next(state, p);
        let panicked = world.panicked(state, p).map(str::to_owned);
        let next = match op {
            Op::Stop => String::new(),
            op => intends(world, op, state, p),
        };
        let place = Place {
            section: section(world.phase(state, p)),
            part: world.layout().part(part).path.clone(),
            statement: (op != Op::Stop || panicked.is_some()).then_some(statement),
            line: (op != Op::Stop).then(|| self.line(state, p, sources)).flatten(),
            next,
            waits: None,
            asleep: world.is_asleep(state, p),
            crashed: world.has_crashed(state, p),
            dying: world.is_dying(state, p),
            panicked,
        };
        let waits = if place.crashed || place.dying || place.panicked.is_some() {
            None
        } else {
            waits_on(&mut self.world, state, p)?
        };
        Ok(Place { waits, ..place })
    }

    /// The source and the line of the next step of a process.
    fn line(&self, state: &State, p: usize, sources: &mut Vec<String>) -> Option<(usize, u32)> {
        let line: &Location<'_> = self.world.next_line(state, p)?;
        let at = sources.iter().position(|file| file == line.file()).unwrap_or_else(|| {
            sources.push(line.file().to_owned());
            sources.len() - 1
        });
        Some((at, line.line()))
    }

    /// The text of a file: one that was given, one of this project, or one that is still there.
    fn source(&self, file: &str) -> Source {
        if let Some(own) = self.own.iter().find(|own| own.name == file) {
            return own.clone();
        }
        if let Some((name, text)) = sources::find(file) {
            return Source { name: name.to_owned(), text: text.to_owned() };
        }
        Source { name: file.to_owned(), text: std::fs::read_to_string(file).unwrap_or_default() }
    }

    /// Why a run that repeats for ever is fair: what each process does in one round.
    fn why_fair(&self, states: &[State], steps: &[Moved], from: usize) -> Vec<String> {
        let world = &self.world;
        let says = |p: usize| {
            let here = &states[from];
            let own = steps[from..].iter().filter(|step| step.process == p && step.kind != "crash").count();
            let phase = world.phase(here, p);
            let stays = states[from..].iter().all(|state| world.phase(state, p) == phase);
            let stuck = stays && matches!(phase, Phase::Entry | Phase::Exit) && !world.has_crashed(here, p);
            let what = match own {
                _ if world.has_crashed(here, p) => "has crashed".to_owned(),
                0 if world.is_asleep(here, p) => "sleeps".to_owned(),
                0 if world.next(here, p) == Op::Stop => "has made its passages".to_owned(),
                0 => "is outside and need not start".to_owned(),
                1 => "takes 1 step a round".to_owned(),
                own => format!("takes {own} steps a round"),
            };
            format!("p{p} {what}{}", if stuck { ", and never gets on" } else { "" })
        };
        (0..world.processes()).map(says).collect()
    }
}

/// The variables that a process reads until it is back where it was, if nothing changes on the way.
pub(crate) fn waits_on(world: &mut World, state: &State, p: usize) -> Result<Option<Vec<VarId>>, TextError> {
    let begun = state.locals[p] != world.initial().locals[p];
    if !begun || world.phase(state, p) == Phase::Inside {
        return Ok(None);
    }
    let (mut at, mut read) = (state.clone(), Vec::new());
    let mut actions = Vec::new();
    for _ in 0..ALONE {
        if let Some(v) = world.next(&at, p).var().filter(|v| !read.contains(v)) {
            read.push(v);
        }
        if world.is_asleep(&at, p) {
            return Ok(Some(read));
        }
        actions.clear();
        world.actions(&at, p, &mut actions);
        actions.retain(|action| matches!(action.what, What::Step | What::Sees(_)));
        let [only] = actions[..] else { return Ok(None) };
        // Only a look ahead: a text that cannot go on has still come this far.
        let Ok(Some(stepped)) = world.act(&mut at, only) else { return Ok(None) };
        if !stepped.unchanged || stepped.passage_ended || stepped.entered {
            return Ok(None);
        }
        if at.locals[p] == state.locals[p] && at.asleep == state.asleep {
            return Ok(Some(read));
        }
    }
    Ok(None)
}

/// What a process is about to do, in words.
fn intends(world: &World, op: Op, state: &State, p: usize) -> String {
    let layout = world.layout();
    let part = world.next_at(state, p).0;
    let name = |v: VarId| layout.name_within(part, v);
    let show = |v: VarId, x: u64| layout.var(v).show(x);
    match op {
        Op::Read(v) => format!("reads {}", name(v)),
        Op::Write(v, x) if is_set(state.writing, p) => format!("ends {} := {}", name(v), show(v, x)),
        Op::Write(v, x) if world.kind(v) < Register::Atomic => format!("begins {} := {}", name(v), show(v, x)),
        Op::Write(v, x) => format!("{} := {}", name(v), show(v, x)),
        Op::FetchAdd(v, d) if (d as i64) < 0 => format!("{} -= {}", name(v), (d as i64).unsigned_abs()),
        Op::FetchAdd(v, d) => format!("{} += {}", name(v), show(v, d)),
        Op::FetchOr(v, m) => format!("{} |= {m:#b}", name(v)),
        Op::FetchAnd(v, m) => format!("{} &= !{:#b}", name(v), !m),
        Op::BoundedDecrement(v) => format!("{} -= 1 unless 0", name(v)),
        Op::TestAndSet(v) => format!("test-and-set {}", name(v)),
        Op::Swap(v, x) => format!("swaps {} with {}", name(v), show(v, x)),
        Op::CompareSwap(v, old, x) => format!("{}: {} → {}", name(v), show(v, old), show(v, x)),
        Op::Sleep(v, ..) => format!("sleeps on {}", name(v)),
        Op::Wake(v) => format!("wakes the sleepers of {}", name(v)),
        Op::AnyDeath => "asks for deaths".to_owned(),
        Op::Choose(n) => format!("chooses one of {n}"),
        Op::Section => "goes on".to_owned(),
        Op::Stop => String::new(),
    }
}

impl Record {
    /// Says what runs, and how.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>, about: impl Into<String>) -> Self {
        (self.title, self.about) = (title.into(), about.into());
        self
    }

    /// Where a process is after this many steps.
    #[must_use]
    pub fn place(&self, steps: usize, p: usize) -> &Place {
        let moves = self.steps[..steps.min(self.steps.len())].iter().rev().flat_map(|step| &step.places);
        moves.into_iter().find(|(q, _)| *q == p).map_or(&self.start[p], |(_, place)| place)
    }

    /// The value of a variable after this many steps.
    #[must_use]
    pub fn value(&self, steps: usize, v: VarId) -> &str {
        let changes = self.steps[..steps.min(self.steps.len())].iter().rev().flat_map(|step| &step.changed);
        changes.into_iter().find(|(w, _)| *w == v).map_or(&self.vars[v as usize].initially, |(_, value)| value)
    }

    /// The remote references of a process in this many steps: in CC, and in DSM.
    #[must_use]
    pub fn cost(&self, steps: usize, p: usize) -> [u32; 2] {
        let own = self.steps[..steps.min(self.steps.len())].iter().filter(|step| step.process == p);
        own.fold([0; 2], |[cc, dsm], step| [cc + step.cost[0], dsm + step.cost[1]])
    }
}
