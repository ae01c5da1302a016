//! The search itself.

use super::bits::chance_to_miss;
use super::crew::{Crew, NEW, Place};
use super::expand::{Lens, Noted, When, is_decided_at};
use super::graph::{Edge, Graph};
use super::recall::MOST_PROCESSES;
use super::store::{MOST_STATES, Spare, StateId, Store};
use super::{Explorer, Progress, Registers, Report, Stop, Verdict, Worst, again, growth, progress, saved, shrink};
use crate::property::{Judged, Property, Test};
use crate::sim::{Accesses, Action, CrossChecked, Doubt, Keep, Machine, Pair, Part, State, TextError, World};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many continuations of merged local states [`Keep::CrossChecked`] compares for each process,
/// at most.
const CROSS_CHECKS: u64 = 20_000;
/// How many accesses may be made to check what a text keeps: [`FIRST_ACCESSES`], and some more for
/// each state; but no more than [`ACCESSES`], some ten seconds, and one more for each state. Most
/// texts need a small part of that. In a few texts of the catalogue, locals that no longer matter
/// take very many values, and not all is compared.
const FIRST_ACCESSES: u64 = 2_000_000;
const ACCESSES_FOR_A_STATE: u64 = 16;
const ACCESSES: u64 = 16_000_000;
/// The same, if the user believes the text: this many to compare each local state once, and then
/// as long as there are fewer than that many, and one more for every [`STATES_FOR_AN_ACCESS`]
/// states.
const ACCESSES_FOR_ONCE: u64 = 1_000_000;
const FEW_ACCESSES: u64 = 20_000;
const STATES_FOR_AN_ACCESS: u64 = 20;
/// How many states to compare with small counters and with full counters, at most.
const COUNTS: usize = 20_000;
/// How many states lie between two looks at memory and progress.
const STRIDE: usize = 4096;
/// The size of states, in bytes, for which that is often enough.
const USUAL_STATE: usize = 256;
/// How many states to look at in one round, at most: a small part of all that were found, because
/// what is noted about them takes memory, too.
const PART_AT_ONCE: usize = 64;
const FEW_AT_ONCE: usize = 1 << 13;
const MOST_AT_ONCE: usize = 1 << 15;
/// How many bytes they have, at most, roughly.
const MOST_BYTES_AT_ONCE: usize = 1 << 22;
/// A round has few more steps than this.
const MOST_STEPS_AT_ONCE: usize = 1 << 20;
/// Why an order of arrival was not checked.
const NO_DOORWAY: &str = "the text marks no end of a doorway (`p.mark(Mark::DoorwayEnds)`)";

/// A property being checked: its parts, and what was found.
pub(super) struct Asked {
    property: Property,
    parts: Vec<Part>,
    /// For operators over runs: for each part and state, the processes of which `so` and `then`
    /// hold. For formulas, for each part, formula and state the predicates that hold.
    so_then: Vec<Vec<(u64, u64)>>,
    /// The temporal formulas, if it is made of them: one, or one for each process.
    formulas: Vec<Judged>,
    /// Of a bound: the exact maximum, and a run that shows it.
    most: Option<(Worst, Option<progress::Lasso>)>,
    decided: Option<Decided>,
    /// Whether it was checked on the whole graph, if it needs the graph.
    judged: bool,
    /// Whether it was not asked for by name: then only its failure gets a verdict.
    unasked: bool,
}

/// What decided a property.
pub(super) enum Decided {
    /// A state.
    At(StateId),
    /// A step from a state.
    By(StateId, Action),
    /// A run that ends in a cycle.
    Lasso(progress::Lasso),
}

impl Asked {
    /// Whether deciding it means that it failed.
    pub(super) fn fails_when_decided(&self) -> bool {
        !matches!(self.property.test, Test::Sometimes(_))
    }

    /// The property, and the parts in which it is checked.
    pub(super) fn asks(&self) -> (&Property, &[Part]) {
        (&self.property, &self.parts)
    }

    pub(super) fn formulas(&self) -> &[Judged] {
        &self.formulas
    }

    pub(super) fn decided(&self) -> Option<&Decided> {
        self.decided.as_ref()
    }

    pub(super) fn decide(&mut self, decided: Decided) {
        self.decided = Some(decided);
    }

    /// Whether nothing has decided it yet.
    pub(super) fn is_open(&self) -> bool {
        self.decided.is_none()
    }

    /// Whether a state decides it, for properties that are decided on states.
    fn is_decided_at(&self, world: &mut World, state: &State) -> Result<bool, TextError> {
        world.knowing(|machine| is_decided_at(&self.property, &self.parts, machine, state))
    }

    /// Whether a state has masks for it.
    fn has_masks(&self) -> bool {
        matches!(
            self.property.test,
            Test::LeadsTo(..) | Test::AtMost(..) | Test::OwnSteps(..) | Test::Overtaking(..) | Test::Ltl(_)
        )
    }

    fn has_failed(&self) -> bool {
        self.decided.is_some() && self.fails_when_decided()
    }
}

/// The largest maximum of several parts.
fn most_of_parts(
    masks: &[Vec<(u64, u64)>],
    most: impl Fn(&[(u64, u64)]) -> (Worst, Option<progress::Lasso>),
) -> (Worst, Option<progress::Lasso>) {
    let all = masks.iter().map(|masks| most(masks));
    all.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((Worst::Bounded(0), None))
}

/// The run of a maximum that exceeds a bound.
fn exceeds(found: &mut Option<(Worst, Option<progress::Lasso>)>, most: Option<u32>) -> Option<progress::Lasso> {
    let (worst, lasso) = found.as_mut()?;
    let allowed = most.map_or(Worst::Bounded(u64::MAX), |most| Worst::Bounded(u64::from(most)));
    if *worst > allowed { lasso.take() } else { None }
}

/// When something happened in a round: at which of its states, and when there.
type Stamp = (usize, When);

/// Why a round is the last.
enum End {
    Stop(Stop),
    Error(TextError),
}

/// A round in the order of a search that does one thing after the other.
struct Ordered {
    /// How many states were looked at.
    states: usize,
    /// The states before this one were expanded.
    expanded: usize,
    end: Option<(Stamp, End)>,
    /// What was decided, and when.
    marks: Vec<(Stamp, usize)>,
}

pub(super) struct Search<'a> {
    pub(super) explorer: Explorer<'a>,
    pub(super) asked: Vec<Asked>,
    pub(super) store: Store,
    /// Kept only if a property needs it.
    pub(super) graph: Option<Graph>,
    pub(super) initial: State,
    pub(super) edges: u64,
    /// The number of states at which to look at memory next, and at what grows.
    next_look: usize,
    next_growth: usize,
    pub(super) crew: Crew,
    /// How many of the steps were made from a state that was not explored to the end.
    pub(super) partial: u64,
    /// The states before this one were explored by an earlier search.
    from: usize,
    /// How many states were taken for others, as an estimate.
    missed: f64,
    /// How many states were explored and found at some times.
    looks: Vec<(usize, usize)>,
    /// Turns of waits that were not tried again yet, in the order in which they were met.
    doubts: VecDeque<Doubt>,
}

/// Guesses how many states are still to be found, from how many new ones the last tenth of the
/// explored states led to.
fn left(looks: &mut Vec<(usize, usize)>, explored: usize, states: usize) -> Option<usize> {
    if looks.last().is_none_or(|(last, _)| explored > last + last / 64) {
        looks.push((explored, states));
    }
    let before = looks.partition_point(|(then, _)| *then < explored - explored / 10);
    let (then, had) = looks[before.saturating_sub(1).min(looks.len() - 1)];
    let (tried, found) = ((explored - then) as f64, (states - had) as f64);
    let fewer = 1.0 - found / tried.max(1.0);
    (explored > 10_000 && fewer > 0.02).then(|| ((states - explored) as f64 * (1.0 - fewer) / fewer) as usize)
}

impl Explorer<'_> {
    /// How many accesses may be made to check what a text keeps, after a search that found this
    /// many states.
    pub(super) fn to_compare(&self, states: usize) -> Accesses {
        let (believed, states) = (self.believe_keep, states as u64);
        match self.compare_keep {
            Some(most) => Accesses { once: most, all: most },
            None if believed => Accesses { once: ACCESSES_FOR_ONCE, all: FEW_ACCESSES + states / STATES_FOR_AN_ACCESS },
            None => {
                let all = (FIRST_ACCESSES + ACCESSES_FOR_A_STATE * states).min(ACCESSES + states);
                Accesses { once: all, all }
            }
        }
    }
}

/// Checks what the text keeps, unless nothing is merged. Returns how much was compared, if
/// something is left.
pub(super) fn check_keep(
    world: &World,
    most: Accesses,
    stop: &dyn Fn() -> bool,
) -> Result<Option<CrossChecked>, TextError> {
    if world.rules().keep == Keep::Ignored {
        return Ok(None);
    }
    Ok(world.check_keep(most, stop)?.filter(|checked| !checked.all && checked.merged > 0))
}

impl<'a> Search<'a> {
    pub(super) fn new(mut explorer: Explorer<'a>, world: &mut World, initial: State) -> Result<Self, TextError> {
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
                let formulas = match &property.test {
                    Test::Ltl(ltl) => ltl.judged(world.processes()),
                    _ => Vec::new(),
                };
                let so_then = vec![Vec::new(); parts.len() * formulas.len().max(1)];
                Asked { so_then, formulas, parts, property, decided: None, judged: false, most: None, unasked }
            })
            .collect();
        let needs_graph = asked.iter().any(|a| a.property.test.needs_graph());
        let graph = (needs_graph && explorer.bitstate.is_none() && !explorer.symmetric).then(Graph::default);
        let mut store = Store::new(world, explorer.bitstate);
        let mut spare = Spare::default();
        let hash = world.knowing(|machine| Ok(store.write(machine, &initial, &mut spare, &mut Vec::new())?.hash))?;
        store.begin(&spare.raw, hash);
        let crew = Crew::new(explorer.threads, &initial);
        let (edges, next_look, next_growth, missed, looks) = (0, 0, growth::FIRST, 0.0, Vec::new());
        let (partial, from, doubts) = (0, 0, VecDeque::new());
        Ok(Self {
            explorer,
            asked,
            store,
            graph,
            initial,
            edges,
            next_look,
            next_growth,
            crew,
            partial,
            from,
            missed,
            looks,
            doubts,
        })
    }

    /// A search that keeps the graph, whatever the properties.
    pub(super) fn with_graph(explorer: Explorer<'a>, world: &mut World, initial: State) -> Result<Self, TextError> {
        let mut search = Self::new(explorer, world, initial)?;
        search.graph.get_or_insert_default();
        Ok(search)
    }

    /// Searches, and judges what was found. The time that it reports counts from `begun`.
    pub(super) fn run(mut self, world: &mut World, begun: Instant) -> Result<Report, TextError> {
        let fingerprint = self.prepare_to_save(world)?;
        let (expanded, stop) = self.search(world)?;
        if let Some(path) = self.explorer.save.as_ref().filter(|_| stop.is_some_and(Stop::is_saved)) {
            self.save(fingerprint, expanded, path)?;
        }
        let searching = begun.elapsed();
        // Few runs do not decide what happens in the end.
        let stop = stop.or(Stop::of_bounds(world.rules()));
        let stop = stop.or(self.explorer.bitstate.map(|_| Stop::Bits));
        // A run that ends in a panic does not show what would have followed.
        let stop = stop.or(self.panic().map(|_| Stop::Failed));
        let stop = if stop.is_none() { self.look_at_the_whole(world) } else { stop };
        let judging = begun.elapsed() - searching;
        // Before any verdict: this tells whether a failure is real or comes from a wrong `keep`.
        let side_by_side = (world.rules().keep == Keep::CrossChecked).then(|| world.cross_check(CROSS_CHECKS));
        let side_by_side = side_by_side.transpose()?;
        let counts_checked = self.cross_check_counters(world)?;
        world.check_renamings()?;
        world.check_contents()?;
        let found = self.store.len();
        let (believes_keep, most) = (self.explorer.believe_keep, self.explorer.to_compare(found));
        let stop_when = self.explorer.stop_when.take();
        let is_asked_to_stop = || stop_when.as_ref().is_some_and(|is_so| is_so());
        let mut report = self.report(world, expanded, stop)?;
        let rests_on_keep = report.verdicts.is_empty() || report.verdicts.iter().any(Verdict::rests_on_merging);
        let cross_checked = match side_by_side {
            Some(checked) if checked.all || !rests_on_keep => Some(checked),
            Some(checked) => Some(match check_keep(world, most, &is_asked_to_stop)? {
                Some(rest) => CrossChecked { compared: checked.compared.max(rest.compared), ..checked },
                None => CrossChecked { all: true, compared: checked.merged, ..checked },
            }),
            None if rests_on_keep => check_keep(world, most, &is_asked_to_stop)?,
            None => None,
        };
        for verdict in report.verdicts.iter_mut().filter(|verdict| verdict.rests_on_merging()) {
            verdict.provided = cross_checked.filter(|checked| !checked.all && checked.merged > 0);
        }
        Ok(Report { searching, judging, cross_checked, believes_keep, counts_checked, ..report })
    }

    /// Goes on where a saved search ended, if asked for. Returns what the search is known by.
    fn prepare_to_save(&mut self, world: &mut World) -> Result<u64, TextError> {
        if self.explorer.save.is_none() && self.explorer.resume.is_none() {
            return Ok(0);
        }
        let why = if self.graph.is_some() {
            "properties that are decided on the whole graph (progress, bounds on steps) cannot be saved or resumed; ask \
             only for the others, with `--property`"
        } else if self.explorer.bitstate.is_some() {
            "a search that keeps only bits of states cannot be saved or resumed"
        } else {
            if let Some(path) = &self.explorer.save {
                saved::can_be_written(path)?;
            }
            let asked = self.asked.iter().map(|asked| (&asked.property, asked.unasked));
            let fingerprint = saved::fingerprint(world, &self.initial, asked);
            if let Some(path) = self.explorer.resume.take() {
                self.from = self.resume(world, fingerprint, &path)?;
            }
            return Ok(fingerprint);
        };
        Err(TextError::Saved(why.into()))
    }

    /// Whether the caller wants the search to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.explorer.is_interrupted()
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
        world.panicked_process(&state).map_or(Ok(()), |p| Err(world.panic_of(&state, p)))
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
        let ended = self.rounds(world);
        // What is still in doubt was met before that which has ended the search.
        self.doubts.extend(world.take_doubts());
        world.puts_off_doubts(false);
        self.doubts.drain(..).try_for_each(|doubt| world.settle(&doubt))?;
        ended
    }

    fn rounds(&mut self, world: &mut World) -> Result<(usize, Option<Stop>), TextError> {
        let mut at = self.from;
        while at < self.store.len() {
            let (expanded, stop) = self.round(world, at)?;
            at = expanded;
            self.store.forget_before(at);
            let limit = self.limit_reached(world, at).filter(|_| at < self.store.len());
            let stop = stop.or(limit);
            if stop.is_some() {
                return Ok((at, stop));
            }
        }
        Ok((at, None))
    }

    /// Looks at the next states, all at once.
    fn round(&mut self, world: &mut World, at: usize) -> Result<(usize, Option<Stop>), TextError> {
        let many = self.next_many(at);
        let keeps_graph = self.graph.is_some();
        let keep_going = self.explorer.keep_going;
        let mut crew = std::mem::take(&mut self.crew);
        let recalls = self.recalls(world);
        let doubts = &mut self.doubts;
        doubts.extend(world.take_doubts());
        let mut settled = Ok(());
        {
            let world: &World = world;
            let (store, asked) = (&self.store, &self.asked[..]);
            let lens = Lens { machine: world, store, asked, keeps_graph, keep_going, recalls };
            let mut chore = || {
                settled = doubts.front().map_or(Ok(()), |doubt| world.settle(doubt));
                settled.is_ok() && doubts.pop_front().is_some()
            };
            crew.look(lens, at, many, &mut chore);
        }
        settled?;
        let ordered = self.put_in_order(world, &mut crew, at, many);
        crew.locate(&mut self.store);
        let before = self.store.len();
        let ended = self.take_in(&mut crew, ordered, at);
        let chance = chance_to_miss(&self.store.bits);
        self.missed += (self.store.len() - before) as f64 * chance / (1.0 - chance).max(1e-9);
        self.crew = crew;
        ended
    }

    /// Whether steps are looked up that were made before: if they depend on little, states are
    /// compared by their short forms, and no property asks about each step.
    fn recalls(&self, machine: &Machine) -> bool {
        let asks_of_steps = |asked: &Asked| {
            matches!(asked.property.test, Test::Unless(..) | Test::FirstCome(_) | Test::Monitor(_) | Test::AtMost(..))
        };
        self.explorer.recall
            && machine.processes() <= MOST_PROCESSES
            && machine.steps_are_local()
            && !machine.compares_otherwise()
            && self.explorer.bitstate.is_none()
            && !self.asked.iter().any(asks_of_steps)
    }

    /// How many states to look at next. Near the limit on states there are few: what lies behind it
    /// should not be looked at in vain.
    fn next_many(&self, at: usize) -> usize {
        let states = self.store.len();
        let long = self.store.bytes() / states;
        let most = (states / PART_AT_ONCE).clamp(FEW_AT_ONCE, MOST_AT_ONCE);
        let most = (MOST_BYTES_AT_ONCE / long.max(1)).clamp(1, most);
        let left = self.most_states().saturating_sub(states) / 64;
        (states - at).min(most).min(left.max(1))
    }

    fn most_states(&self) -> usize {
        self.explorer.max_states.unwrap_or(usize::MAX).min(MOST_STATES)
    }

    /// Goes through what was found about these states, one after the other, up to where the search
    /// ends. States for which something was missing are looked at here.
    fn put_in_order(&mut self, world: &mut World, crew: &mut Crew, at: usize, many: usize) -> Ordered {
        let mut ordered = Ordered { states: 0, expanded: at, end: None, marks: Vec::new() };
        while ordered.states < many && crew.steps() <= MOST_STEPS_AT_ONCE {
            let i = ordered.states;
            let (place, alike) = crew.place();
            if alike > 0 {
                // The usual case, without the ceremony that follows.
                if !self.take_all(crew, &mut ordered, place, alike, at) {
                    return ordered;
                }
                continue;
            }
            let id = (at + i) as StateId;
            let place = match self.look_again(world, crew, place, id) {
                Ok(place) => place,
                Err(error) => {
                    ordered.end = Some(((i, crew.late().now), End::Error(error)));
                    return ordered;
                }
            };
            let (begin, end) = crew.hands[place.hand as usize].looked(place.at as usize);
            let steps = end.steps - begin.steps;
            let notes = crew.hands[place.hand as usize].notes[begin.notes as usize..end.notes as usize].to_vec();
            let mut notes = notes.into_iter().peekable();
            ordered.states = i + 1;
            let mut taken = 0;
            // In the order of a search that does one thing after the other.
            for now in std::iter::once(When::Before).chain((0..=steps).map(When::At)).chain([When::After]) {
                while let Some(note) = notes.next_if(|note| note.when == now) {
                    match note.what {
                        Noted::Error(error) => {
                            ordered.end = Some(((i, now), End::Error(error)));
                            return ordered;
                        }
                        Noted::State(asked) => self.decide(&mut ordered, (i, now), asked, Decided::At(id)),
                        Noted::Step(asked, by) => self.decide(&mut ordered, (i, now), asked, Decided::By(id, by)),
                    }
                }
                let stop = match now {
                    When::Before => {
                        crew.tie(&mut self.store, place, 1);
                        self.decided()
                    }
                    When::At(step) if step < steps => {
                        taken = step + 1;
                        self.explorer.is_interrupted().then_some(Stop::Interrupted)
                    }
                    When::At(_) => None,
                    When::After => {
                        ordered.expanded = at + i + 1;
                        self.decided()
                    }
                };
                if let Some(stop) = stop {
                    crew.take(place, 1, taken);
                    ordered.end = Some(((i, now), End::Stop(stop)));
                    return ordered;
                }
            }
            crew.take(place, 1, steps);
        }
        ordered
    }

    /// Takes over states about which nothing was noted, and returns whether to go on.
    fn take_all(&mut self, crew: &mut Crew, ordered: &mut Ordered, place: Place, many: usize, at: usize) -> bool {
        crew.tie(&mut self.store, place, many);
        let steps = crew.steps_of(place, many);
        let can_be_interrupted = self.explorer.stop_when.is_some();
        let interrupted = (0..steps).find(|_| can_be_interrupted && self.explorer.is_interrupted());
        let Some(step) = interrupted else {
            crew.take(place, many, steps);
            ordered.states += many;
            ordered.expanded = at + ordered.states;
            return true;
        };
        let (hand, first) = (&crew.hands[place.hand as usize], place.at as usize);
        let begin = hand.looked(first).0.steps;
        let before = hand.states[first..first + many].partition_point(|state| state.steps <= begin + step);
        let own = begin + step - hand.looked(first + before).0.steps;
        crew.take(place, before + 1, step + 1);
        let i = ordered.states + before;
        ordered.end = Some(((i, When::At(own)), End::Stop(Stop::Interrupted)));
        ordered.states = i + 1;
        ordered.expanded = at + i;
        false
    }

    /// Looks at a state for which something was missing, and finds it out. Returns where it is.
    fn look_again(
        &mut self,
        world: &mut World,
        crew: &mut Crew,
        place: Place,
        id: StateId,
    ) -> Result<Place, TextError> {
        if !crew.hands[place.hand as usize].states[place.at as usize].missed {
            return Ok(place);
        }
        let (keeps_graph, keep_going) = (self.graph.is_some(), self.explorer.keep_going);
        let recalls = self.recalls(world);
        loop {
            let lens =
                Lens { machine: world, store: &self.store, asked: &self.asked, keeps_graph, keep_going, recalls };
            let late = crew.late();
            match late.look(lens, id) {
                None => {
                    late.look_up(lens);
                    break;
                }
                Some(missing) => {
                    late.states.pop();
                    world.learn(missing)?;
                }
            }
        }
        Ok(Place { hand: crew.hands.len() as u32 - 1, at: crew.late().states.len() as u32 - 1 })
    }

    fn decide(&mut self, ordered: &mut Ordered, stamp: Stamp, asked: usize, decided: Decided) {
        if self.asked[asked].is_open() {
            self.asked[asked].decided = Some(decided);
            ordered.marks.push((stamp, asked));
        }
    }

    /// Adds the new states, in the order in which they were found, up to the limit on states.
    fn take_in(
        &mut self,
        crew: &mut Crew,
        mut ordered: Ordered,
        at: usize,
    ) -> Result<(usize, Option<Stop>), TextError> {
        let room = self.most_states().saturating_sub(self.store.len());
        if let Some((run, unknown)) = crew.first_beyond(room) {
            let hand = &crew.hands[crew.runs[run].hand];
            let new = &hand.unknown[unknown];
            let (i, place) = (new.parent as usize - at, hand.states.partition_point(|state| state.steps <= new.step));
            let when = When::At(new.step - hand.looked(place).0.steps);
            let ends_there = matches!(&ordered.end, Some((stamp, End::Stop(Stop::Interrupted))) if *stamp == (i, when));
            if !ends_there {
                // What was decided after that was never looked at.
                for (_, asked) in ordered.marks.extract_if(.., |(stamp, _)| *stamp > (i, when)) {
                    self.asked[asked].decided = None;
                }
                ordered.states = i + 1;
                ordered.expanded = at + i;
                ordered.end = Some(((i, when), End::Stop(Stop::States)));
                crew.cut(run, unknown);
            }
        }
        match ordered.end {
            Some((_, End::Error(error))) => return Err(error),
            Some(((_, When::At(step)), _)) => self.partial = u64::from(step) + 1,
            _ => {}
        }
        crew.add(&mut self.store);
        self.edges += crew.steps() as u64;
        self.note_graph(crew);
        let stop = ordered.end.map(|(_, end)| match end {
            End::Stop(stop) => stop,
            End::Error(_) => unreachable!("it was returned"),
        });
        let expanded = if stop.is_none() { at + ordered.states } else { ordered.expanded };
        Ok((expanded, stop))
    }

    /// Keeps what properties of whole graphs need.
    fn note_graph(&mut self, crew: &Crew) {
        let Some(graph) = &mut self.graph else { return };
        let mut found = crew.found();
        for run in &crew.runs {
            let (hand, mut left) = (&crew.hands[run.hand], run.steps);
            for at in run.states.clone() {
                let (begin, end) = hand.looked(at);
                graph.add_state(end.idle);
                let mut masks = hand.masks[begin.masks as usize..end.masks as usize].iter();
                for asked in self.asked.iter_mut().filter(|asked| asked.has_masks()) {
                    for (of_part, mask) in asked.so_then.iter_mut().zip(&mut masks) {
                        of_part.push(*mask);
                    }
                }
                let steps = left.min(end.steps - begin.steps);
                for &(to, by) in &hand.edges[begin.steps as usize..(begin.steps + steps) as usize] {
                    let to = if to == NEW { found.next().expect("each of them is unknown") } else { to };
                    graph.add_edge(Edge::leading(to, by));
                }
                left -= steps;
            }
        }
    }

    /// Whether there is a reason to stop.
    fn decided(&self) -> Option<Stop> {
        let mut failed = self.asked.iter().any(Asked::has_failed);
        if self.explorer.keep_going {
            failed &= self.asked.iter().all(|a| a.decided.is_some() || a.unasked);
        }
        failed.then_some(Stop::Failed)
    }

    /// Looks at memory, now and then.
    fn limit_reached(&mut self, world: &World, at: usize) -> Option<Stop> {
        let states = self.store.len();
        if states < self.next_look {
            return None;
        }
        let bytes = self.bytes(world);
        // Large states are looked at more often: memory can exceed the limit only between two
        // looks.
        self.next_look = states + (STRIDE * USUAL_STATE / (bytes / states).max(1)).clamp(1, STRIDE);
        if let Some(call) = &mut self.explorer.progress {
            let left = left(&mut self.looks, at, states);
            call(&Progress { states, frontier: states - at, bytes, left });
        }
        if self.explorer.max_memory.is_some_and(|most| bytes >= most) {
            return Some(Stop::Memory);
        }
        // Without a limit, a search without an end would take all the memory first.
        let may_have_no_end = world.rules().passages.is_none() && self.explorer.max_states.is_none();
        if states < self.next_growth || !may_have_no_end || self.explorer.bitstate.is_some() {
            return None;
        }
        self.next_growth = 2 * states;
        let growing = growth::growing(world, &self.store, &self.initial);
        growing.iter().any(|(_, values)| growth::is_for_ever(values)).then_some(Stop::Grows)
    }

    fn bytes(&self, world: &World) -> usize {
        let masks: usize = self.asked.iter().flat_map(|a| &a.so_then).map(|m| m.capacity() * 16).sum();
        self.store.bytes() + world.bytes() + self.graph.as_ref().map_or(0, Graph::bytes) + masks
    }

    /// Decides what needs the whole graph. Returns why some of it is undecided, if so.
    fn look_at_the_whole(&mut self, world: &World) -> Option<Stop> {
        let graph = self.graph.as_ref()?;
        let judge = progress::Judge { graph, store: &self.store, world };
        // Each kind of counted steps has a bit.
        let mut counted = 0u32..;
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
                    let bit = counted.next().unwrap_or_default();
                    let counts = |edge: Edge, _| (edge.cost() >> bit & 1) as u32;
                    asked.most = Some(most_of_parts(&asked.so_then, |masks| judge.most(masks, counts)));
                    exceeds(&mut asked.most, *most)
                }
                Test::OwnSteps(most, _) => {
                    let own = |edge: Edge, p: usize| u32::from(edge.process() == p && !edge.is_crash());
                    asked.most = Some(most_of_parts(&asked.so_then, |masks| judge.most(masks, own)));
                    exceeds(&mut asked.most, *most)
                }
                Test::Overtaking(most, _) => {
                    let passes = |edge: Edge, p: usize| u32::from(edge.process() != p && edge.enters());
                    asked.most = Some(most_of_parts(&asked.so_then, |masks| judge.most(masks, passes)));
                    exceeds(&mut asked.most, *most)
                }
                Test::Ltl(ltl) => {
                    let each = asked.formulas.iter().cycle().zip(&asked.so_then);
                    each.into_iter().find_map(|(formula, masks)| judge.accepted(masks, &formula.breaks, ltl))
                }
                _ => None,
            };
            asked.decided = lasso.map(Decided::Lasso);
        }
        None
    }

    /// What grew with the depth of the search, if a limit ended it.
    fn growing(&self, world: &World, stop: Option<Stop>) -> Vec<(String, [u64; 4])> {
        let stopped = matches!(stop, Some(Stop::States | Stop::Memory | Stop::Interrupted | Stop::Grows));
        let is_known = stopped && self.explorer.bitstate.is_none();
        if is_known { growth::growing(world, &self.store, &self.initial) } else { Vec::new() }
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
                None if complete && matches!(asked.most, Some((_, Some(_)))) => {
                    // A bound holds, and this is the most.
                    let lasso = asked.most.as_ref().and_then(|(_, lasso)| lasso.as_ref());
                    let path = lasso.map_or(Ok(Vec::new()), |lasso| lasso.actions(world, &self.store))?;
                    (Some(true), Some(again(world, &self.initial, &path, None, None)?))
                }
                None => {
                    let is_decided = complete || all_seen && (asked.judged || !asked.property.needs_graph());
                    (is_decided.then_some(asked.fails_when_decided()), None)
                }
            };
            let vacuous = if asked.parts.is_empty() {
                Some("there is no such part")
            } else if world.renames() && asked.property.needs_graph() {
                Some("it follows one process, and states that differ in the names of processes are one")
            } else if matches!(asked.property.test, Test::Linearizable(_)) {
                (!world.calls_anything()).then_some("the text calls no operation (`p.invokes`)")
            } else if matches!(asked.property.test, Test::Overtaking(..)) {
                let nobody = asked.so_then.iter().flatten().all(|(waits, _)| *waits == 0);
                (nobody && asked.judged).then_some(if world.marks_doorways() {
                    "no process waits where the property says"
                } else {
                    "no process waits where the property says, and the text marks no end of a doorway"
                })
            } else if matches!(asked.property.test, Test::OneWaits) {
                (!world.has_words_of_one()).then_some("no variable says that one process waits for it")
            } else {
                (asked.property.needs_order() && !world.marks_doorways()).then_some(NO_DOORWAY)
            };
            let most = asked.most.as_ref().map(|(most, _)| *most);
            // A property of doorways or operations was not checked if the text has none.
            let holds = holds.filter(|_| vacuous.is_none() || asked.parts.is_empty());
            let name = asked.property.name.clone();
            verdicts.push(Verdict { name, holds, vacuous, trace, most, provided: None, token: None });
        }
        Ok(Report {
            name: String::new(),
            processes: world.processes(),
            rules: world.rules(),
            registers: Registers::of(world),
            states: self.explorer.max_states.map_or(self.store.len(), |most| self.store.len().min(most)),
            expanded,
            edges: self.edges,
            complete,
            stop,
            bytes,
            growing: self.growing(world, stop),
            with_all_names: (world.renames() && self.explorer.bitstate.is_none())
                .then(|| self.store.with_all_names(world, &self.initial))
                .flatten(),
            coverage: self.explorer.bitstate.map(|_| self.store.len() as f64 / (self.store.len() as f64 + self.missed)),
            hash_factor: self.explorer.bitstate.map(|bytes| 8.0 * bytes as f64 / self.store.len() as f64),
            local_states: world.local_states(),
            runs: world.runs(),
            instructions: world.instructions_seen(),
            statements: world.statements_seen(),
            faults_without_effect: world.faults_without_effect(),
            searching: Duration::ZERO,
            judging: Duration::ZERO,
            cross_checked: None,
            believes_keep: false,
            counts_checked: None,
            verdicts,
        })
    }
}
