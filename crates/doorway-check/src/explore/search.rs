//! The search itself.

use super::graph::{Edge, Graph, Kind};
use super::store::{StateId, Store};
use super::{Explorer, Progress, Report, Stop, Verdict, again, breaks_off, progress, shrink};
use crate::property::{Property, Test, View};
use crate::sim::{Action, Keep, Pair, Part, Phase, State, Stepped, TextError, What, World};
use std::time::{Duration, Instant};

/// How many continuations of merged local states [`Keep::CrossChecked`] compares for each process,
/// at most.
const CROSS_CHECKS: u64 = 20_000;
/// How many states to compare with small counters and with full counters, at most.
const COUNTS: usize = 20_000;
/// How many states lie between two looks at memory and progress.
const STRIDE: usize = 4096;
/// The size of states, in bytes, for which that is often enough.
const USUAL_STATE: usize = 256;

/// A property being checked: its parts, and what was found.
pub(super) struct Asked {
    property: Property,
    parts: Vec<Part>,
    /// For operators over runs: for each part and state, the processes of which `so` and `then`
    /// hold.
    so_then: Vec<Vec<(u64, u64)>>,
    decided: Option<Decided>,
    /// Whether it was checked on the whole graph, if it needs the graph.
    judged: bool,
    /// Whether it was not asked for by name: then only its failure gets a verdict.
    unasked: bool,
}

/// What decided a property.
enum Decided {
    /// A state.
    At(StateId),
    /// A step from a state.
    By(StateId, Action),
    /// A run that ends in a cycle.
    Lasso(progress::Lasso),
}

impl Asked {
    /// Whether deciding it means that it failed.
    fn fails_when_decided(&self) -> bool {
        !matches!(self.property.test, Test::Sometimes(_))
    }

    /// Whether a state decides it, for properties that are decided on states.
    fn is_decided_at(&self, world: &mut World, state: &State) -> Result<bool, TextError> {
        is_decided_at(&self.property, &self.parts, world, state)
    }

    fn has_failed(&self) -> bool {
        self.decided.is_some() && self.fails_when_decided()
    }
}

/// Whether a state decides a property in one of these parts, for properties decided on states.
pub(super) fn is_decided_at(
    property: &Property,
    parts: &[Part],
    world: &mut World,
    state: &State,
) -> Result<bool, TextError> {
    let view = View::new(world, state);
    Ok(match &property.test {
        Test::Always(so) => !parts.iter().all(|&part| so(&view.of(part))),
        Test::Sometimes(so) => parts.iter().any(|&part| so(&view.of(part))),
        Test::NeverStuck => world.is_deadlock(state)?,
        Test::NoPanic => world.who_panicked(state).is_some(),
        Test::OneWaits => world.has_two_at_a_word_of_one(state)?,
        Test::QuietWaits => world.is_noisy(state)?,
        Test::Linearizable(_) => !world.is_linearizable(state),
        Test::FirstEnabled => {
            let mut stuck = false;
            for p in (0..world.processes()).filter(|&p| crate::sim::is_set(state.passed & !state.crashed, p)) {
                stuck |= !world.enters_alone(state, p)?;
            }
            stuck
        }
        _ => false,
    })
}

pub(super) struct Search<'a> {
    explorer: Explorer<'a>,
    asked: Vec<Asked>,
    pub(super) store: Store,
    /// Kept only if a property needs it.
    pub(super) graph: Option<Graph>,
    pub(super) initial: State,
    pub(super) edges: u64,
    /// The number of states at which to look at memory next.
    next_look: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(mut explorer: Explorer<'a>, world: &World, initial: State) -> Self {
        let named = std::mem::take(&mut explorer.properties);
        let no_panic = (!named.iter().any(|p| matches!(p.test, Test::NoPanic))).then(Property::no_panic);
        let is_told = world.has_words_of_one() && !named.iter().any(|p| matches!(p.test, Test::OneWaits));
        let one_waits = is_told.then(Property::one_waits);
        let asked: Vec<Asked> = named
            .into_iter()
            .map(|property| (property, false))
            .chain(no_panic.into_iter().chain(one_waits).map(|property| (property, true)))
            .map(|(property, unasked)| {
                let parts = world.layout().parts_of_kind(property.kind);
                Asked { so_then: vec![Vec::new(); parts.len()], parts, property, decided: None, judged: false, unasked }
            })
            .collect();
        let graph = asked.iter().any(|a| a.property.test.needs_graph()).then(Graph::default);
        let mut store = Store::new(world);
        store.insert(world, &initial, 0, Action::step(0));
        Self { explorer, asked, store, graph, initial, edges: 0, next_look: 0 }
    }

    /// A search that keeps the graph, whatever the properties.
    pub(super) fn with_graph(explorer: Explorer<'a>, world: &World, initial: State) -> Self {
        let mut search = Self::new(explorer, world, initial);
        search.graph.get_or_insert_default();
        search
    }

    pub(super) fn run(mut self, world: &mut World) -> Result<Report, TextError> {
        let begun = Instant::now();
        let (expanded, stop) = self.search(world)?;
        let searching = begun.elapsed();
        // Few runs do not decide what happens in the end.
        let stop = stop.or(Stop::of_bounds(world.rules()));
        // A run that ends in a panic does not show what would have followed.
        let stop = stop.or(self.panic().map(|_| Stop::Failed));
        let stop = if stop.is_none() { self.look_at_the_whole(world) } else { stop };
        let judging = begun.elapsed() - searching;
        // Before any verdict: this tells whether a failure is real or comes from a wrong `keep`.
        let cross_checked = (world.rules().keep == Keep::CrossChecked).then(|| world.cross_check(CROSS_CHECKS));
        let cross_checked = cross_checked.transpose()?;
        let counts_checked = self.cross_check_counters(world)?;
        Ok(Report { searching, judging, cross_checked, counts_checked, ..self.report(world, expanded, stop)? })
    }

    /// A state in which a text has panicked.
    fn panic(&self) -> Option<StateId> {
        self.asked.iter().find_map(|asked| match (&asked.property.test, &asked.decided) {
            (Test::NoPanic, Some(Decided::At(id))) => Some(*id),
            _ => None,
        })
    }

    /// An error if a text has panicked, for searches that cannot show a failing run.
    pub(super) fn refuse_panics(&self, world: &World) -> Result<(), TextError> {
        let Some(id) = self.panic() else { return Ok(()) };
        let mut state = self.initial.clone();
        self.store.load(id, &mut state);
        world.who_panicked(&state).map_or(Ok(()), |p| Err(world.panic_of(&state, p)))
    }

    /// If counters are kept small, compares with what the text does with full counters.
    pub(super) fn cross_check_counters(&self, world: &mut World) -> Result<Option<(u64, bool)>, TextError> {
        if !world.keeps_counters_small() {
            return Ok(None);
        }
        let mut pair = Pair::new(world, &self.initial, [])?;
        pair.compare_all(COUNTS, |small, as_they_are| {
            self.asked.iter().all(|asked| match &asked.property.test {
                Test::Always(so) | Test::Sometimes(so) => {
                    asked.parts.iter().all(|&part| so(&small.of(part)) == so(&as_they_are.of(part)))
                }
                _ => true,
            })
        })
        .map(Some)
    }

    /// Visits every state, within the limits. Returns how many, and why no more.
    pub(super) fn search(&mut self, world: &mut World) -> Result<(usize, Option<Stop>), TextError> {
        let (mut state, mut next) = (self.initial.clone(), self.initial.clone());
        let mut actions = Vec::new();
        let mut at = 0;
        let stop = loop {
            if at == self.store.len() {
                break None;
            }
            let id = at as StateId;
            self.store.load(id, &mut state);
            self.look_at(world, &state, id)?;
            if let Some(stop) = self.decided() {
                break Some(stop);
            }
            let mut everyone_waits = true;
            actions.clear();
            for p in (0..world.processes()).filter(|&p| world.may_step_next(&state, p)) {
                world.actions(&state, p, &mut actions);
            }
            for &action in &actions {
                next.clone_from(&state);
                let Some(stepped) = world.act(&mut next, action)? else { continue };
                let p = action.process;
                self.edges += 1;
                if !stepped.unchanged && !action.is_crash() && world.phase(&state, p) != Phase::Remainder {
                    everyone_waits = false;
                }
                self.look_at_step(world, (&state, id), &next, action, stepped);
                // A failed turn leads back to where it began, so no look-up is needed.
                let to = if next == state { id } else { self.store.insert(world, &next, id, action) };
                if self.graph.is_some() {
                    let cost = u8::try_from(stepped.cost).map_err(|_| TextError::TooLarge)?;
                    let cost = if self.is_counted(world, &state, &next) { 1 } else { cost };
                    let kind = match action.what {
                        What::Crash | What::CrashWakes(_) | What::Restart => Kind::Crash,
                        What::GiveUp => Kind::GivesUp,
                        _ if stepped.entered => Kind::Enters,
                        _ => Kind::Step,
                    };
                    let edge = Edge::new(to, p, kind, cost);
                    self.graph.iter_mut().for_each(|graph| graph.add_edge(edge));
                }
                if let Some(stop) = self.limit_reached(world, at) {
                    return Ok((at, Some(stop)));
                }
            }
            if everyone_waits {
                self.look_for_deadlock(world, &state, id)?;
            }
            at += 1;
            if let Some(stop) = self.decided() {
                break Some(stop);
            }
        };
        Ok((at, stop))
    }

    /// Whether there is a reason to stop.
    fn decided(&self) -> Option<Stop> {
        let mut failed = self.asked.iter().any(Asked::has_failed);
        if self.explorer.keep_going {
            failed &= self.asked.iter().all(|a| a.decided.is_some() || a.unasked);
        }
        failed.then_some(Stop::Failed)
    }

    fn limit_reached(&mut self, world: &World, at: usize) -> Option<Stop> {
        if self.explorer.is_interrupted() {
            return Some(Stop::Interrupted);
        }
        let states = self.store.len();
        if states > self.explorer.max_states.unwrap_or(usize::MAX).min(StateId::MAX as usize) {
            return Some(Stop::States);
        }
        if states < self.next_look {
            return None;
        }
        let bytes = self.bytes(world);
        // Large states are looked at more often: memory can exceed the limit only between two
        // looks.
        self.next_look = states + (STRIDE * USUAL_STATE / (bytes / states)).clamp(1, STRIDE);
        if let Some(call) = &mut self.explorer.progress {
            call(&Progress { states, frontier: states - at, bytes });
        }
        self.explorer.max_memory.is_some_and(|most| bytes >= most).then_some(Stop::Memory)
    }

    fn bytes(&self, world: &World) -> usize {
        let masks: usize = self.asked.iter().flat_map(|a| &a.so_then).map(|m| m.capacity() * 16).sum();
        self.store.bytes() + world.bytes() + self.graph.as_ref().map_or(0, Graph::bytes) + masks
    }

    fn look_at(&mut self, world: &mut World, state: &State, id: StateId) -> Result<(), TextError> {
        if let Some(graph) = &mut self.graph {
            graph.add_state((0..world.processes()).filter(|&p| world.is_idle(state, p)).map(|p| 1u64 << p).sum());
        }
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            let decides = match &asked.property.test {
                Test::LeadsTo(so, then, _) => {
                    let view = View::new(world, state);
                    for (&part, masks) in asked.parts.iter().zip(&mut asked.so_then) {
                        let view = view.of(part);
                        let of = |holds: &dyn Fn(usize) -> bool| {
                            view.processes().filter(|&p| holds(p)).map(|p| 1u64 << p).sum::<u64>()
                        };
                        masks.push((of(&|p| so(&view, p)), of(&|p| then(&view, p) || view.has_crashed(p))));
                    }
                    false
                }
                Test::AtMost(_, so, _) | Test::OwnSteps(_, so) => {
                    let view = View::new(world, state);
                    for (&part, masks) in asked.parts.iter().zip(&mut asked.so_then) {
                        let view = view.of(part);
                        masks.push((view.processes().filter(|&p| so(&view, p)).map(|p| 1u64 << p).sum(), 0));
                    }
                    false
                }
                Test::NeverStuck => false, // checked where no step changed anything
                _ => asked.is_decided_at(world, state)?,
            };
            if decides {
                asked.decided = Some(Decided::At(id));
            }
        }
        Ok(())
    }

    fn look_at_step(
        &mut self,
        world: &World,
        (state, id): (&State, StateId),
        next: &State,
        action: Action,
        stepped: Stepped,
    ) {
        let (before, after) = (View::new(world, state), View::new(world, next));
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            let broken = match &asked.property.test {
                Test::Unless(so, until) => {
                    asked.parts.iter().any(|&part| breaks_off(so, until, &before.of(part), &after.of(part)))
                }
                Test::FirstCome(k) => stepped.overtook as usize >= *k,
                _ => false,
            };
            if broken {
                asked.decided = Some(Decided::By(id, action));
            }
        }
    }

    /// Whether a step is of the kind that a property limits. It weighs like a remote reference; the
    /// two are never measured together.
    fn is_counted(&self, world: &World, state: &State, next: &State) -> bool {
        self.asked.iter().any(|asked| match &asked.property.test {
            Test::AtMost(.., counted) => asked
                .parts
                .iter()
                .any(|&part| counted(&View::new(world, state).of(part), &View::new(world, next).of(part))),
            _ => false,
        })
    }

    fn look_for_deadlock(&mut self, world: &mut World, state: &State, id: StateId) -> Result<(), TextError> {
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none()) {
            if matches!(asked.property.test, Test::NeverStuck) && world.is_deadlock(state)? {
                asked.decided = Some(Decided::At(id));
            }
        }
        Ok(())
    }

    /// Decides what needs the whole graph. Returns why some of it is undecided, if so.
    fn look_at_the_whole(&mut self, world: &World) -> Option<Stop> {
        let graph = self.graph.as_ref()?;
        let judge = progress::Judge { graph, store: &self.store, world };
        for asked in self.asked.iter_mut().filter(|a| a.decided.is_none() && a.property.needs_graph()) {
            if self.explorer.is_interrupted() {
                return Some(Stop::Interrupted);
            }
            asked.judged = true;
            let lasso = match &asked.property.test {
                Test::LeadsTo(_, _, endless) => asked.so_then.iter().find_map(|masks| judge.leads_to(masks, *endless)),
                Test::DeadlockFree => judge.nobody_enters_any_more(),
                Test::BoundedExit => judge.unbounded_exit(),
                Test::AtMost(most, ..) => {
                    asked.so_then.iter().find_map(|masks| judge.more_than(*most, masks, |edge, _| edge.cost() as u32))
                }
                Test::OwnSteps(most, _) => {
                    let own = |edge: Edge, p: usize| u32::from(edge.process() == p && !edge.is_crash());
                    asked.so_then.iter().find_map(|masks| judge.more_than(*most, masks, own))
                }
                _ => None,
            };
            asked.decided = lasso.map(Decided::Lasso);
        }
        None
    }

    fn report(self, world: &mut World, expanded: usize, stop: Option<Stop>) -> Result<Report, TextError> {
        let complete = stop.is_none();
        // What needs no graph is decided even if the user interrupted the rest.
        let all_seen = expanded == self.store.len() && Stop::of_bounds(world.rules()).is_none();
        let all_seen = stop == Some(Stop::Interrupted) && all_seen;
        let bytes = self.bytes(world);
        let mut verdicts = Vec::new();
        for asked in self.asked.iter().filter(|asked| !asked.unasked || asked.decided.is_some()) {
            let (holds, trace) = match &asked.decided {
                Some(decided) => {
                    let (path, lasso) = match decided {
                        Decided::At(id) => {
                            let path = self.store.path(*id);
                            let still_bad = |world: &mut World, state: &State| asked.is_decided_at(world, state);
                            (shrink::fewer_switches(world, &self.initial, path, still_bad)?, None)
                        }
                        Decided::By(id, action) => {
                            let mut path = self.store.path(*id);
                            path.push(*action);
                            (path, None)
                        }
                        Decided::Lasso(lasso) => {
                            (lasso.actions(world, &self.store)?, Some(lasso).filter(|lasso| lasso.repeats()))
                        }
                    };
                    let (shows, from) = ((&asked.property, &*asked.parts), lasso.map(progress::Lasso::prefix_len));
                    let mut trace = again(world, &self.initial, &path, from, Some(shows))?;
                    if let Some(lasso) = lasso {
                        trace.repeats(lasso.prefix_len(), lasso.why.clone());
                    }
                    (Some(!asked.fails_when_decided()), Some(trace))
                }
                None => {
                    let is_decided = complete || all_seen && (asked.judged || !asked.property.needs_graph());
                    (is_decided.then_some(asked.fails_when_decided()), None)
                }
            };
            let vacuous = if asked.parts.is_empty() {
                Some("there is no such part")
            } else if matches!(asked.property.test, Test::Linearizable(_)) {
                (!world.calls_anything()).then_some("nothing is called")
            } else if matches!(asked.property.test, Test::OneWaits) {
                (!world.has_words_of_one()).then_some("no variable says that one process waits for it")
            } else {
                (asked.property.needs_order() && !world.marks_doorways()).then_some("no doorway is marked")
            };
            // A property of doorways or operations was not checked if the text has none.
            let holds = holds.filter(|_| vacuous.is_none() || asked.parts.is_empty());
            verdicts.push(Verdict { name: asked.property.name.clone(), holds, vacuous, trace });
        }
        Ok(Report {
            processes: world.processes(),
            rules: world.rules(),
            states: self.explorer.max_states.map_or(self.store.len(), |most| self.store.len().min(most)),
            expanded,
            edges: self.edges,
            complete,
            stop,
            bytes,
            local_states: world.local_states(),
            runs: world.runs(),
            instructions: world.instructions_seen(),
            statements: world.statements_seen(),
            faults_without_effect: world.faults_without_effect(),
            searching: Duration::ZERO,
            judging: Duration::ZERO,
            cross_checked: None,
            counts_checked: None,
            verdicts,
        })
    }
}
