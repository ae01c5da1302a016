//! Driving a machine by hand, in a browser: which process moves next, what a torn read returns,
//! which process crashes or gives up.
//!
//! A [`Driver`] answers questions about one machine: what can happen after a run, how far a process
//! gets when it runs alone, and whether a search from there finds a violation, or a state in which
//! a [`Predicate`] holds. A [`Page`] serves a page that asks these questions, on a loopback address
//! of this machine.
//!
//! A position *is* the run that leads there, so the driver keeps no state between two questions.
//! The page's address contains the run.

mod bounds;
mod lasso;
mod predicate;
mod seek;
mod server;

pub(crate) use lasso::{Edge, components};
pub use predicate::{GRAMMAR, Predicate, PredicateError};
pub use server::{Page, PageError};

use crate::Check;
use crate::property::{Property, Test};
use crate::replay::{Token, TokenError, read, with_written, written};
use crate::sim::{Action, Phase, Rules, State, TextError, What, World};
use crate::subject::Subject;
use crate::trace::{Step, Trace};
use crate::viewer::{Record, Recorder, waits_on};
use bounds::Bound;
use doorway_core::registry::Sizes;
use seek::{Goal, Sought};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many states a search looks at, unless it is told otherwise.
const MOST_STATES: usize = 200_000;
/// How many steps a position has, at most: a page draws them all.
const MOST_STEPS: usize = 5_000;
/// How many steps a process takes alone, at most.
const MOST_STEPS_ALONE: usize = 2_000;

/// Answers questions about one machine.
///
/// ```
/// use doorway_check::Property;
/// use doorway_check::drive::Driver;
/// use doorway_check::sim::{Rules, World};
/// use doorway_core::k_exclusion::anderson_moir_94::Chain;
/// use serde_json::json;
///
/// let chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1))?;
/// let mut driver = Driver::new(chain, vec![Property::exclusion("k-exclusion", 1)])?;
/// let never = || false;
/// let found = driver.answer(&json!({ "ask": "search", "run": "0", "predicate": "X < 0 && p1@5" }), &never).unwrap();
/// assert_eq!(found["run"], "0.1x3");
/// let wrong = driver.answer(&json!({ "ask": "search", "run": "", "predicate": "X < && p1@5" }), &never).unwrap_err();
/// assert_eq!(wrong["at"], 4); // a value is missing there
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Debug)]
pub struct Driver {
    /// Without merging: what is shown.
    recorder: Recorder,
    /// What searches use.
    world: World,
    named: Option<Named>,
    title: String,
    about: String,
    begin: Vec<Action>,
    most: usize,
}

/// What has tokens.
#[derive(Clone, Debug)]
enum Named {
    /// An algorithm of the catalogue, or a mutant of one.
    Catalogue(Subject, Sizes, Rules),
    /// An algorithm of one's own.
    Own(Check),
}

/// A question.
#[derive(Deserialize)]
struct Question {
    ask: String,
    #[serde(default)]
    run: String,
    process: Option<usize>,
    property: Option<String>,
    predicate: Option<String>,
    token: Option<String>,
    most: Option<usize>,
    repeats_from: Option<usize>,
}

/// Something that can happen next.
#[derive(Serialize)]
struct Choice {
    process: usize,
    /// As tokens write it.
    action: String,
    /// `step`, `torn`, `chooses`, `gives up`, `crash`, `restart` or `wakes`.
    kind: &'static str,
    text: String,
    waits: bool,
}

fn error(message: impl ToString) -> Value {
    json!({ "error": message.to_string() })
}

impl Driver {
    /// Drives this machine, and judges these claims in each state.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn new(world: World, claims: Vec<Property>) -> Result<Self, TextError> {
        let mut driver = Self {
            recorder: Recorder::new(&world, claims)?,
            world,
            named: None,
            title: "an algorithm".to_owned(),
            about: String::new(),
            begin: Vec::new(),
            most: MOST_STATES,
        };
        driver.world.watch_for(driver.recorder.claims());
        Ok(driver)
    }

    /// Drives an algorithm of the catalogue, or a mutant of one.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn of(subject: Subject, sizes: Sizes, rules: Rules) -> Result<Self, TextError> {
        let claims = subject.claims(sizes);
        let rules = rules.for_properties(&claims);
        let driver = Self::new(subject.world(sizes, rules)?, claims)?;
        let driver = driver.titled(subject.heading(), subject.describes(sizes, rules));
        Ok(Self { named: Some(Named::Catalogue(subject, sizes, rules)), ..driver })
    }

    /// Drives an algorithm of your own.
    pub(crate) fn of_own(check: &Check, world: World, claims: Vec<Property>) -> Result<Self, TextError> {
        Ok(Self { named: Some(Named::Own(check.clone())), ..Self::new(world, claims)? })
    }

    /// Says what is driven, and how.
    #[must_use]
    pub fn titled(self, title: impl Into<String>, about: impl Into<String>) -> Self {
        Self { title: title.into(), about: about.into(), ..self }
    }

    /// Shows the source of a text of your own: `.with_source(file!(), include_str!("main.rs"))`.
    #[must_use]
    pub fn with_source(self, file: &str, text: &str) -> Self {
        Self { recorder: self.recorder.with_source(file, text), ..self }
    }

    /// Begins after these actions.
    #[must_use]
    pub fn beginning_with(self, actions: Vec<Action>) -> Self {
        Self { begin: actions, ..self }
    }

    /// Sets after how many states a search ends, unless the question says otherwise. The default is
    /// 200,000.
    #[must_use]
    pub fn max_states(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Answers a question. `stop` is asked during a search whether it should end.
    ///
    /// | ask | with | answer |
    /// |---|---|---|
    /// | `at` | `run`, perhaps `repeats_from` | the [record](Record) of the run, and what can happen `next` |
    /// | `next` | `run` | what can happen next |
    /// | `alone` | `run`, `process` | the run after this process has run alone, and why it stopped |
    /// | `search` | `run`, and `predicate` or `property` | the shortest way there, or that there is none |
    /// | `token` | `token` | the run of a token of this machine |
    ///
    /// # Errors
    /// Returns a document with the message. If a predicate is malformed, it also has the place of
    /// the mistake.
    pub fn answer(&mut self, question: &Value, stop: &dyn Fn() -> bool) -> Result<Value, Value> {
        let question: Question = Question::deserialize(question).map_err(error)?;
        let run = short(read(&question.run).map_err(error)?)?;
        match question.ask.as_str() {
            "at" => {
                if let Some(from) = question.repeats_from {
                    self.comes_back(&run, from)?;
                }
                let record = self.record(&run, question.repeats_from, question.property.as_deref())?;
                if record.steps.len() < run.len() {
                    return Err(error(format!("step {} of this run cannot happen", record.steps.len() + 1)));
                }
                Ok(json!({ "record": record, "run": written(&run), "next": self.next(&run)? }))
            }
            "next" => Ok(json!({ "next": self.next(&run)? })),
            "alone" => self.alone(run, question.process.unwrap_or(0)),
            "search" => self.search(&run, &question, stop),
            "token" => self.run_of(question.token.as_deref().unwrap_or_default()),
            other => Err(error(format!("{other:?} is not a question"))),
        }
    }

    /// The run, and its token.
    pub(crate) fn record(
        &mut self,
        run: &[Action],
        repeats_from: Option<usize>,
        property: Option<&str>,
    ) -> Result<Record, Value> {
        let record = self.recorder.record(run, repeats_from).map_err(error)?;
        let token = self.token(&record, &run[..record.steps.len()], property)?;
        Ok(Record { token: Some(token), ..record.titled(self.title.clone(), self.about.clone()) })
    }

    /// A token that leads here: it names this property, or the first claim that is false here, or
    /// the first of all.
    fn token(&mut self, record: &Record, run: &[Action], property: Option<&str>) -> Result<String, Value> {
        let Some(named) = self.named.clone() else { return Ok(written(run)) };
        let letters = record.steps.last().map_or(&record.claims_at_start, |step| &step.claims);
        let broken = letters.find('-').and_then(|at| record.claims.get(at));
        let asked = property.and_then(|name| record.claims.iter().find(|claim| *claim == name));
        let name = asked.or(broken).or(record.claims.first()).map_or("no-panic", String::as_str);
        let initial = self.recorder.world.initial();
        let mut trace = Trace::of(&mut self.recorder.world, &initial, run).map_err(error)?;
        if let Some(from) = record.repeats_from {
            trace.repeats(from, Vec::new());
        }
        Ok(match named {
            Named::Catalogue(subject, sizes, rules) => Token::new(&subject, sizes, rules, name, &trace),
            Named::Own(check) => check.token(self.world.rules(), name, &trace),
        }
        .to_string())
    }

    /// The state after a run.
    fn state(world: &mut World, run: &[Action]) -> Result<State, Value> {
        Ok(Self::states(world, run)?.pop().unwrap_or_else(|| world.initial()))
    }

    /// The initial state, and that after each step of a run.
    fn states(world: &mut World, run: &[Action]) -> Result<Vec<State>, Value> {
        let mut states = vec![world.initial()];
        for (at, &action) in run.iter().enumerate() {
            let cannot = || error(format!("step {} of this run cannot happen", at + 1));
            let mut state = states[at].clone();
            if action.process >= world.processes() || world.act(&mut state, action).map_err(error)?.is_none() {
                return Err(cannot());
            }
            states.push(state);
        }
        Ok(states)
    }

    /// That a run ends where it was after some of its steps, so that it can repeat for ever.
    fn comes_back(&mut self, run: &[Action], from: usize) -> Result<(), Value> {
        let states = Self::states(&mut self.world, run)?;
        let back = from < run.len() && self.world.is_alike(&states[from], &states[run.len()]);
        if back { Ok(()) } else { Err(error(format!("this run does not come back to where it was after step {from}"))) }
    }

    /// For each process, what can happen to it next.
    fn next(&mut self, run: &[Action]) -> Result<Vec<Vec<Choice>>, Value> {
        let world = &mut self.recorder.world;
        let state = Self::state(world, run)?;
        let mut all = Vec::new();
        for p in 0..world.processes() {
            let (mut actions, mut choices) = (Vec::new(), Vec::new());
            world.actions(&state, p, &mut actions);
            for action in actions {
                let kind = Recorder::kind(world, &state, action);
                let (text, waits) = match Step::take(world, &mut state.clone(), action) {
                    Ok(Some(step)) => (step.text(), step.waits),
                    Ok(None) => continue,
                    Err(e) => (e.to_string(), false),
                };
                choices.push(Choice { process: p, action: action.to_string(), kind, text, waits });
            }
            all.push(choices);
        }
        Ok(all)
    }

    /// Lets a process run alone until it waits, its section changes, or there is a choice.
    fn alone(&mut self, mut run: Vec<Action>, p: usize) -> Result<Value, Value> {
        let world = &mut self.recorder.world;
        let mut state = Self::state(world, &run)?;
        if p >= world.processes() {
            return Err(error(format!("there is no process p{p}")));
        }
        let begun = run.len();
        let mut actions = Vec::new();
        let why = loop {
            let taken = run.len() - begun;
            let phase = world.phase(&state, p);
            if waits_on(world, &state, p).map_err(error)?.is_some() {
                break "it waits";
            }
            actions.clear();
            world.actions(&state, p, &mut actions);
            actions.retain(|action| matches!(action.what, What::Step | What::Sees(_)));
            let only = match actions[..] {
                [] => break "it takes no more steps",
                [only] => only,
                _ => break "there is a choice",
            };
            if taken >= MOST_STEPS_ALONE {
                break "it has taken many steps";
            }
            let Some(stepped) = world.act(&mut state, only).map_err(error)? else { break "it takes no more steps" };
            run.push(only);
            match world.phase(&state, p) {
                Phase::Inside if phase != Phase::Inside => break "it is inside",
                _ if stepped.passage_ended => break "its passage is over",
                _ => {}
            }
        };
        Ok(json!({ "run": written(&run), "steps": run.len() - begun, "why": why }))
    }

    /// Searches from the end of a run.
    fn search(&mut self, run: &[Action], question: &Question, stop: &dyn Fn() -> bool) -> Result<Value, Value> {
        let predicate = match &question.predicate {
            Some(text) => Some(
                Predicate::parse(text, self.world.layout(), self.world.processes())
                    .map_err(|e| json!({ "error": e.to_string(), "at": e.at }))?,
            ),
            None => None,
        };
        let claims = self.recorder.claims();
        let named: Vec<&Property> = match question.property.as_deref() {
            None | Some("") => claims.iter().filter(|claim| !matches!(claim.test, Test::Sometimes(_))).collect(),
            Some(name) => vec![
                claims
                    .iter()
                    .find(|claim| claim.name() == name)
                    .ok_or_else(|| error(format!("there is no claim {name:?}")))?,
            ],
        };
        let elsewhere: Vec<&str> =
            named.iter().filter(|claim| bounds::is_of_all_states(claim)).map(|claim| claim.name()).collect();
        if let ([claim], Some(_)) = (&elsewhere[..], &question.property.as_ref().filter(|name| !name.is_empty())) {
            return Err(error(format!(
                "{claim} is decided on all states at once, and no search from here; a check of the machine decides it"
            )));
        }
        let states = Self::states(&mut self.world, run)?;
        let bounds = if predicate.is_some() { &[][..] } else { &named[..] };
        let bounds: Vec<Bound<'_>> =
            bounds.iter().filter_map(|claim| Bound::along(&self.world, claim, &states, run)).collect();
        let from = states.last().cloned().unwrap_or_else(|| self.world.initial());
        let goal = predicate.as_ref().map_or(Goal::Breaks(&named, &bounds), Goal::Holds);
        let most = question.most.unwrap_or(self.most).max(1);
        let sought = seek::search(&mut self.world, from, &goal, most, stop).map_err(error)?;
        let Sought { way, found, states, complete, shortest, repeats_from, property } = sought;
        let Some(way) = way else {
            let says = if complete {
                let except = if elsewhere.is_empty() || predicate.is_some() {
                    String::new()
                } else {
                    format!(" Not searched for, because only a check decides them: {}.", elsewhere.join(", "))
                };
                let seen = self.world.statements_seen().into_iter().map(|statement| statement.label).collect();
                let missing = predicate.as_ref().map_or_else(Vec::new, |predicate| predicate.names_none_of(&seen));
                let mistake = if missing.is_empty() {
                    String::new()
                } else {
                    format!(" No process is ever at {}: is that the number of a statement?", missing.join(", "))
                };
                format!("No: in none of the {states} states from here on.{mistake}{except}")
            } else {
                format!("Not among the first {states} states from here; the search ended there.")
            };
            return Ok(json!({ "run": null, "states": states, "complete": complete, "says": says }));
        };
        let all = [run, &way[..]].concat();
        let record = self.recorder.record(&all, None).map_err(error)?;
        if record.steps.len() < all.len() {
            return Err(error("the run that was found is not a run of the text: a `keep` omits a local that matters"));
        }
        let steps = way.len();
        let plural = if steps == 1 { "" } else { "s" };
        let says = match repeats_from {
            Some(from) => format!(
                "{found} is broken by a run without end: after {from} of these {steps} steps, the rest repeats for ever."
            ),
            None if steps == 0 => format!("{found} here."),
            None if shortest => format!("{found} after {steps} more step{plural}: a shortest way."),
            None => format!("{found} after {steps} more step{plural}."),
        };
        let repeats_from = repeats_from.map(|from| run.len() + from);
        Ok(
            json!({ "run": written(&all), "states": states, "says": says, "repeats_from": repeats_from, "property": property }),
        )
    }

    /// The run of a token, if the token is of this machine; or a run as tokens write it.
    fn run_of(&self, text: &str) -> Result<Value, Value> {
        let text = text.trim().trim_start_matches("doorway replay ").trim();
        if !text.contains('/') {
            return Ok(json!({ "run": written(&short(read(text).map_err(error)?)?) }));
        }
        let token: Token = text.parse().map_err(|e: TokenError| error(e))?;
        short(token.actions.clone())?;
        match &self.named {
            None => return Err(error("this machine has no name; give the steps alone, such as 0.1x3.0c")),
            Some(Named::Own(check)) => {
                check.replay(text).map_err(error)?;
            }
            Some(Named::Catalogue(subject, sizes, rules)) => {
                let tracked = token.rules.for_properties(&subject.claims(*sizes));
                let written = |rules| with_written(rules, Rules::default());
                if (&token.id, token.sizes, written(tracked)) != (&subject.id(), *sizes, written(*rules)) {
                    let says = format!("the token is of another machine; `doorway explore '{token}'` opens that one");
                    return Err(error(says));
                }
                token.replay().map_err(error)?;
            }
        }
        Ok(json!({
            "run": written(&token.actions),
            "repeats_from": token.repeats_from,
            "property": token.property,
        }))
    }
}

/// A run that a page can show.
fn short(run: Vec<Action>) -> Result<Vec<Action>, Value> {
    if run.len() <= MOST_STEPS {
        return Ok(run);
    }
    Err(error(format!("this run has {} steps, and a page shows {MOST_STEPS} at most", run.len())))
}
