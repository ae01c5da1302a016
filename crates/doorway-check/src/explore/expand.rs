//! One state: what holds in it, and where its steps lead. Nothing changes but the notes of the
//! thread that looks, so several threads can look at a time.

use super::ahead::ask_for;
use super::breaks_off;
use super::bytes::{number_in, push};
use super::crew::NEW;
use super::graph::{Edge, Kind};
use super::recall::{Effect, Key, Piece, Recall};
use super::search::Asked;
use super::store::{Forms, News, Raw, Spare, StateId, Store, shard};
use super::table::tag;
use crate::property::{Property, Test, View};
use crate::sim::{Action, Halt, Machine, Missing, Part, Phase, State, Stepped, TextError, What, is_set};
use std::ops::Range;

/// What threads look with.
#[derive(Clone, Copy)]
pub(super) struct Lens<'a> {
    pub(super) machine: &'a Machine,
    pub(super) store: &'a Store,
    pub(super) asked: &'a [Asked],
    pub(super) keeps_graph: bool,
    pub(super) keep_going: bool,
    /// Whether steps that were made before are looked up.
    pub(super) recalls: bool,
}

/// What one thread found, and its buffers.
#[derive(Debug)]
#[repr(align(128))] // each thread writes its own: none may share a cache line with another's
pub(super) struct Hand {
    pub(super) states: Vec<Looked>,
    /// The steps that lead to states which were not known before the round, and these states as
    /// they are written.
    pub(super) unknown: Vec<Unseen>,
    /// The hashes of these states. Each thread reads all threads' hashes, and little else of them.
    pub(super) hashes: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// Some of these states, by their hashes, and the first that counts: see [`Hand::begin`].
    seen: Vec<u32>,
    seen_from: u32,
    /// The numbers of the new ones among these states; [`NEW`] for the others.
    pub(super) numbers: Vec<StateId>,
    /// The new ones, as the store keeps them.
    pub(super) news: News,
    /// All steps, for the graph: where each leads, or [`NEW`], and what the graph says of it.
    pub(super) edges: Vec<(StateId, u16)>,
    /// For operators over runs: for each state, property and part the processes of which `so` and
    /// `then` hold.
    pub(super) masks: Vec<(u64, u64)>,
    pub(super) notes: Vec<Note>,
    /// The states with pieces that have no numbers, in the order of the steps that lead to them.
    pub(super) loose: Vec<Loose>,
    /// The steps that were not looked up yet, and where they lead, as it is written. No other
    /// thread reads these: what another reads must come back before it can be written again.
    tried: Vec<Found>,
    written: Vec<u8>,
    /// How many steps there were before them.
    before: u32,
    pub(super) spare: Spare,
    /// The steps that this thread has made before.
    recall: Recall,
    apart: Apart,
    /// The look-ups that were begun, and the first state that each found.
    begun: Vec<(usize, StateId)>,
    /// How far the look at the last state has come.
    pub(super) now: When,
    state: State,
    next: State,
    /// The state, and the one after a step, with other names of processes.
    images: [State; 2],
    actions: Vec<Action>,
}

/// The state that is looked at, in short form, and where its pieces are.
#[derive(Default, Debug)]
struct Apart {
    id: StateId,
    short: Vec<u8>,
    /// Where the local states begin, each after the other, and where the last ends.
    locals: Vec<usize>,
    /// What stands for the variables; `None` if it is too long, or steps are not looked up.
    vars: Option<Piece>,
    /// For what is beside variables and local states.
    rest: Vec<u8>,
}

impl Apart {
    /// The local state of a process, and what stands for the variables, unless they are too long.
    #[inline]
    fn pieces(&self, p: usize) -> Option<(Piece, Piece)> {
        let vars = self.vars?;
        Some((Piece::of_local(&self.short[self.locals[p]..self.locals[p + 1]])?, vars))
    }
}

/// A state whose steps were tried, and where its steps, masks, notes and loose states end. Those of
/// the state before it end where its own begin.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Looked {
    pub(super) steps: u32,
    pub(super) masks: u32,
    pub(super) notes: u32,
    pub(super) loose: u32,
    id: StateId,
    /// The processes that need not step.
    pub(super) idle: u64,
    /// Whether something was missing: then nothing was found out.
    pub(super) missed: bool,
}

/// A step.
#[derive(Clone, Copy, Debug)]
struct Found {
    hash: u64,
    at: At,
    /// The number of the action.
    action: u32,
    /// The state, if it was known before the round; otherwise [`NEW`].
    known: StateId,
    /// What the graph says of the step.
    by: u16,
    /// Whether the state has a hash, and no number yet: then it can be looked up.
    hashed: bool,
}

/// A step that leads to a state which was not known before the round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unseen {
    at: At,
    /// The state from which it was made, and the number of the action.
    pub(super) parent: StateId,
    pub(super) action: u32,
    /// Its number among the steps of the thread.
    pub(super) step: u32,
}

/// A state with pieces that have no numbers.
#[derive(Debug)]
pub(super) struct Loose {
    /// The number of the step that leads to it.
    step: u32,
    /// That step among the unknown ones, unless the state was known in another form.
    unknown: Option<u32>,
    raw: Raw,
}

/// Where a state is written: its short form, and then the form in which it is compared.
#[derive(Clone, Copy, Debug)]
struct At {
    from: u32,
    compared: u32,
    to: u32,
}

impl At {
    fn forms(self, bytes: &[u8]) -> Forms<'_> {
        let [from, compared, to] = [self.from, self.compared, self.to].map(|at| at as usize);
        Forms { short: &bytes[from..compared], compared: &bytes[compared..to] }
    }
}

/// How many unknown states a thread looks back at, at most: they fit into the nearest cache.
const SEEN: usize = 1 << 11;
/// How many look-ups are begun before the first is finished.
pub(super) const AHEAD: usize = 64;

impl Found {
    /// A step whose end is known without looking it up.
    const NOT_LOOKED_UP: Self =
        Self { hash: 0, at: At { from: 0, compared: 0, to: 0 }, action: 0, known: NEW, by: 0, hashed: false };
}

/// Something that may end the search.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) when: When,
    pub(super) what: Noted,
}

/// When it was noticed: before the steps of a state, at one of them, or after them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum When {
    Before,
    /// At the step with this number among those of the state.
    At(u32),
    After,
}

#[derive(Clone, Debug)]
pub(super) enum Noted {
    /// The state decides a property.
    State(usize),
    /// A step does.
    Step(usize, Action),
    /// A text cannot go on.
    Error(TextError),
}

impl Hand {
    pub(super) fn new(like: &State) -> Self {
        Self {
            states: Vec::new(),
            unknown: Vec::new(),
            hashes: Vec::new(),
            bytes: Vec::new(),
            seen: Vec::new(),
            seen_from: 0,
            numbers: Vec::new(),
            news: News::default(),
            edges: Vec::new(),
            masks: Vec::new(),
            notes: Vec::new(),
            loose: Vec::new(),
            tried: Vec::new(),
            written: Vec::new(),
            before: 0,
            spare: Spare::default(),
            recall: Recall::default(),
            apart: Apart::default(),
            begun: Vec::new(),
            now: When::Before,
            state: like.clone(),
            next: like.clone(),
            images: [like.clone(), like.clone()],
            actions: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.unknown.clear();
        self.hashes.clear();
        self.bytes.clear();
        self.edges.clear();
        self.masks.clear();
        self.notes.clear();
        self.loose.clear();
        self.tried.clear();
        self.written.clear();
        self.before = 0;
    }

    /// What was found out about the state with this place among those looked at, and where the one
    /// before it ends.
    pub(super) fn looked(&self, at: usize) -> (Looked, Looked) {
        (if at == 0 { Looked::default() } else { self.states[at - 1] }, self.states[at])
    }

    /// How many steps there are.
    fn steps(&self) -> u32 {
        self.before + self.tried.len() as u32
    }

    fn ends(&self) -> Looked {
        let [masks, notes, loose] = [self.masks.len(), self.notes.len(), self.loose.len()].map(|len| len as u32);
        Looked { steps: self.steps(), masks, notes, loose, id: self.apart.id, idle: 0, missed: false }
    }

    /// Whether nothing was noted about these states, and nothing was missing.
    pub(super) fn are_plain(&self, at: usize, many: usize) -> bool {
        let states = &self.states[at..at + many];
        let noted = states.last().map_or(0, |state| state.notes);
        noted == self.looked(at).0.notes && !states.iter().any(|state| state.missed)
    }

    /// Those of the steps between these two that lead to unknown states.
    pub(super) fn unknown_between(&self, from: u32, to: u32) -> Range<usize> {
        let before = |end: u32| self.unknown.partition_point(|new| new.step < end);
        before(from)..before(to)
    }

    /// A state that was not known.
    pub(super) fn forms(&self, unknown: usize) -> Forms<'_> {
        self.unknown[unknown].at.forms(&self.bytes)
    }

    /// Forgets the new states of the round before. None of this round has a number yet.
    pub(super) fn begin_news(&mut self) {
        self.news.clear();
        self.numbers.clear();
        self.numbers.resize(self.unknown.len(), NEW);
    }

    /// Numbers those of these states that are new, from `next` on, and writes them as the store
    /// keeps them.
    pub(super) fn write_news(&mut self, unknown: Range<usize>, next: StateId, mut is_new: impl FnMut(u64) -> bool) {
        let Self { unknown: all, hashes, bytes, numbers, news, .. } = self;
        let new = unknown.filter(|&at| is_new(hashes[at])).zip(next..).map(|(at, number)| {
            numbers[at] = number;
            let new = &all[at];
            (new.parent, new.action, new.at.forms(bytes).short)
        });
        news.write(next, new);
    }

    /// Begins with states that it will look up together. Most states that a round finds twice are
    /// found by neighbours. So a hand leaves a step out if it has noted an earlier one of these
    /// states' steps to the same state. It looks no further back: which steps are left out must not
    /// depend on which thread has looked at what, because tables grow by how many there are.
    pub(super) fn begin(&mut self) {
        self.seen.resize(SEEN, u32::MAX);
        self.seen_from = self.unknown.len() as u32;
    }

    /// Whether it has noted an earlier step to this state, as far as it remembers. If not, it will
    /// remember that the next one leads there.
    fn has_seen(&mut self, found: &Found) -> bool {
        let Some(seen) = self.seen.get_mut(found.hash as usize % SEEN) else { return false };
        let before = std::mem::replace(seen, self.unknown.len() as u32);
        // What was noted of other states counts no more. If it was noted in another round, it may
        // name one of these states; but that one has another hash, or it would have its place here.
        let Some(&hash) = self.hashes.get(before as usize) else { return false };
        let is_same = hash == found.hash && before >= self.seen_from && {
            self.unknown[before as usize].at.forms(&self.bytes).is_same(found.at.forms(&self.written))
        };
        if is_same {
            *seen = before;
        }
        is_same
    }

    /// Looks up which of the states are known to which the last steps lead. Of the others, which
    /// are few, it keeps what was written.
    pub(super) fn look_up(&mut self, lens: Lens<'_>) {
        let by_bits = !lens.store.bits.is_empty();
        let mut loose = self.loose.partition_point(|loose| loose.step < self.before);
        let mut state = self.states.partition_point(|state| state.steps <= self.before);
        let all = self.tried.len();
        for first in (0..all).step_by(AHEAD) {
            let some = first..all.min(first + AHEAD);
            if !by_bits {
                self.find(lens, some.clone());
            }
            for i in some {
                let (found, step) = (self.tried[i], self.before + i as u32);
                if lens.keeps_graph {
                    self.edges.push((found.known, found.by));
                }
                // A graph has all steps.
                let is_again = found.hashed && found.known == NEW && !lens.keeps_graph && self.has_seen(&found);
                let loose = self.loose.get_mut(loose).filter(|loose| loose.step == step).inspect(|_| loose += 1);
                if found.known == NEW && !is_again {
                    loose.into_iter().for_each(|loose| loose.unknown = Some(self.unknown.len() as u32));
                    let At { from, compared, to } = found.at;
                    let back = self.bytes.len() as u32;
                    self.bytes.extend_from_slice(&self.written[from as usize..to as usize]);
                    let at = At { from: back, compared: back + compared - from, to: back + to - from };
                    while self.states[state].steps <= step {
                        state += 1;
                    }
                    let parent = self.states[state].id;
                    self.unknown.push(Unseen { at, parent, action: found.action, step });
                    self.hashes.push(found.hash);
                }
            }
        }
        self.before += all as u32;
        self.tried.clear();
        self.written.clear();
    }

    /// Gives short forms to these states, which have pieces without numbers.
    pub(super) fn tie(&mut self, store: &mut Store, loose: Range<u32>) {
        for Loose { unknown, raw, .. } in &self.loose[loose.start as usize..loose.end as usize] {
            let Some(unknown) = unknown else {
                store.learn(raw);
                continue;
            };
            let (new, hash) = (&mut self.unknown[*unknown as usize], &mut self.hashes[*unknown as usize]);
            let compared = new.at.compared as usize..new.at.to as usize;
            let from = self.bytes.len();
            store.tie_loose(raw, &mut self.bytes);
            if compared.is_empty() && store.bits.is_empty() {
                *hash = store.hash(&self.bytes[from..]);
            }
            let between = self.bytes.len();
            self.bytes.extend_from_within(compared);
            new.at = At { from: from as u32, compared: between as u32, to: self.bytes.len() as u32 };
        }
    }

    /// Looks up several states. Each look-up is begun before the first is finished, because what it
    /// needs may be far away.
    fn find(&mut self, lens: Lens<'_>, steps: Range<usize>) {
        let store = lens.store;
        let Self { tried, begun, written, spare, .. } = self;
        let table = |hash: u64| &store.shards[shard(hash)];
        begun.clear();
        for (step, found) in steps.clone().zip(&tried[steps]) {
            if found.hashed {
                table(found.hash).begin(tag(found.hash)).into_iter().for_each(ask_for);
                begun.push((step, 0));
            }
        }
        begun.retain_mut(|(step, first)| {
            let hash = tried[*step].hash;
            let found = table(hash).find(tag(hash), |_| true);
            *first = found.unwrap_or_default();
            found.inspect(|&id| store.ask_for_entry(id)).is_ok()
        });
        begun.iter().for_each(|&(_, first)| store.ask_for_string(first));
        for &(step, first) in &*begun {
            let found = &mut tried[step];
            let (hash, new) = (found.hash, found.at.forms(written));
            let mut is = |id| store.is_known_as(lens.machine, id, new, spare);
            // Mostly the first with this tag is the one.
            let known = if is(first) { Some(first) } else { table(hash).find(tag(hash), is).ok() };
            found.known = known.unwrap_or(NEW);
        }
    }

    /// Looks at a state, and notes what it finds. Returns what was missing, if anything was.
    pub(super) fn look(&mut self, lens: Lens<'_>, id: StateId) -> Option<Missing> {
        let (begin, tried, written) = (self.ends(), self.tried.len(), self.written.len());
        let mut state = std::mem::take(&mut self.state);
        self.take_apart(lens, id);
        lens.store.read(&self.apart.short, &mut state);
        self.now = When::Before;
        let looked = self.look_at(lens, &state).and_then(|goes_on| match goes_on {
            true => self.look_at_steps(lens, &state),
            false => Ok(()),
        });
        let machine = lens.machine;
        let missing = match looked {
            Ok(()) => None,
            Err(Halt::Text(error)) => {
                self.notes.push(Note { when: self.now, what: Noted::Error(error) });
                None
            }
            Err(Halt::Missing(missing)) => Some(missing),
        };
        if missing.is_some() {
            self.tried.truncate(tried);
            self.written.truncate(written);
            self.masks.truncate(begin.masks as usize);
            self.notes.truncate(begin.notes as usize);
            self.loose.truncate(begin.loose as usize);
            self.states.push(Looked { missed: true, id, ..begin });
        } else {
            let is_idle = |p: &usize| machine.is_idle(&state, *p);
            let processes = if lens.keeps_graph { machine.processes() } else { 0 };
            let idle = (0..processes).filter(is_idle).map(|p| 1u64 << p).sum();
            self.states.push(Looked { idle, ..self.ends() });
        }
        self.state = state;
        missing
    }

    /// Reads a state in short form.
    fn take_apart(&mut self, lens: Lens<'_>, id: StateId) {
        self.apart.id = id;
        let Apart { short, locals, vars, .. } = &mut self.apart;
        short.clear();
        short.extend_from_slice(lens.store.string(id));
        *vars = None;
        if lens.recalls {
            let mut at = lens.store.vars_in(short);
            *vars = Piece::of_vars(&short[..at]);
            locals.clear();
            locals.push(at);
            for _ in 0..lens.machine.processes() {
                at += number_in(&short[at..]);
                locals.push(at);
            }
        }
    }

    /// Asks the properties about a state. Returns whether to go on with its steps.
    fn look_at(&mut self, lens: Lens<'_>, state: &State) -> Result<bool, Halt> {
        let machine = lens.machine;
        let mut goes_on = true;
        for (i, asked) in lens.asked.iter().enumerate().filter(|(_, asked)| asked.is_open()) {
            let (property, parts) = asked.asks();
            let decides = match &property.test {
                Test::LeadsTo(so, then, _) => {
                    let view = View::new(machine, state);
                    for &part in parts {
                        let view = view.of(part);
                        let of = |holds: &dyn Fn(usize) -> bool| {
                            view.processes().filter(|&p| holds(p)).map(|p| 1u64 << p).sum::<u64>()
                        };
                        self.masks.push((of(&|p| so(&view, p)), of(&|p| then(&view, p) || view.has_crashed(p))));
                    }
                    false
                }
                Test::Ltl(_) => {
                    for &part in parts {
                        let view = View::new(machine, state).of(part);
                        self.masks.extend(asked.formulas().iter().map(|formula| (formula.bits(&view), 0)));
                    }
                    false
                }
                Test::AtMost(_, so, _) | Test::OwnSteps(_, so) | Test::Overtaking(_, so) => {
                    let view = View::new(machine, state);
                    for &part in parts {
                        let view = view.of(part);
                        self.masks.push((view.processes().filter(|&p| so(&view, p)).map(|p| 1u64 << p).sum(), 0));
                    }
                    false
                }
                Test::NeverStuck => false, // checked where no step changed anything
                _ => is_decided_at(property, parts, machine, state)?,
            };
            if machine.renames() && matches!(property.test, Test::Always(_) | Test::Sometimes(_)) {
                self.is_told_of_all_names(machine, property, &[state], |states| {
                    is_decided_at(property, parts, machine, states[0]).map(|so| so == decides)
                })?;
            }
            if decides {
                self.notes.push(Note { when: When::Before, what: Noted::State(i) });
                goes_on &= lens.keep_going || !asked.fails_when_decided();
            }
        }
        Ok(goes_on)
    }

    /// If states that differ in the names of processes are one, a property must say the same of all
    /// of them: `so` of a state, or of two that make a step, with each other names.
    fn is_told_of_all_names(
        &mut self,
        machine: &Machine,
        property: &Property,
        states: &[&State],
        so: impl Fn(&[&State]) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        let many = if property.counts_only { 1 } else { machine.renamings() };
        for k in 1..many {
            for (state, image) in states.iter().zip(&mut self.images) {
                machine.renamed(state, k, image)?;
            }
            let [first, second] = &self.images;
            if !so(&[first, second][..states.len()])? {
                return Err(TextError::TellsApart(property.name.as_ref().into()).into());
            }
        }
        Ok(())
    }

    /// Tries all steps of a state.
    fn look_at_steps(&mut self, lens: Lens<'_>, state: &State) -> Result<(), Halt> {
        let mut next = std::mem::take(&mut self.next);
        let mut actions = std::mem::take(&mut self.actions);
        let (mut everyone_waits, first) = (true, self.tried.len());
        let only_steps = lens.recalls && lens.machine.has_only_steps();
        let tried = (0..lens.machine.processes()).filter(|&p| lens.machine.may_step_next(state, p)).try_for_each(|p| {
            // A step that was made before is all that the process can do.
            if only_steps && self.recalls_step(lens, state, Action::step(p), &mut everyone_waits) {
                return Ok(());
            }
            actions.clear();
            lens.machine.actions(state, p, &mut actions);
            actions.iter().try_for_each(|&action| {
                self.now = When::At((self.tried.len() - first) as u32);
                if self.recalls_step(lens, state, action, &mut everyone_waits) {
                    return Ok(());
                }
                next.clone_from(state);
                self.look_at_step(lens, state, &mut next, action, &mut everyone_waits)
            })
        });
        (self.next, self.actions) = (next, actions);
        tried?;
        self.now = When::After;
        if everyone_waits {
            for (i, asked) in lens.asked.iter().enumerate().filter(|(_, asked)| asked.is_open()) {
                if matches!(asked.asks().0.test, Test::NeverStuck) && self.is_deadlock(lens, state)? {
                    self.notes.push(Note { when: When::After, what: Noted::State(i) });
                }
            }
        }
        Ok(())
    }

    /// Whether no process can go on.
    fn is_deadlock(&mut self, lens: Lens<'_>, state: &State) -> Result<bool, Halt> {
        lens.machine.is_deadlock_if(state, |p| {
            let key = self
                .apart
                .pieces(p)
                .map(|(local, vars)| (Key::of_waiting(p, local, vars), Effect::answer(local, vars)));
            if let Some(known) = key.and_then(|(key, _)| self.recall.get(key)) {
                return Ok(known.so);
            }
            let so = lens.machine.only_waits(state, p)?;
            key.into_iter().for_each(|(key, answer)| self.recall.put(key, Effect { so, ..answer }));
            Ok(so)
        })
    }

    /// Notes where a step leads, if it was made before. Returns whether it was.
    fn recalls_step(&mut self, lens: Lens<'_>, state: &State, action: Action, everyone_waits: &mut bool) -> bool {
        let p = action.process;
        let Some((local, vars)) = self.apart.pieces(p) else { return false };
        let known = Key::of_action(action, local, vars).and_then(|key| self.recall.get(key));
        let Some(mut effect) = known else { return false };
        if !effect.so {
            return true;
        }
        let Apart { short, locals, rest, .. } = &mut self.apart;
        let (begin, end) = (locals[p], locals[p + 1]);
        let from = self.written.len();
        if effect.ends && lens.machine.counts_passages() {
            if lens.machine.is_last_passage(state, p) {
                effect.local = Effect::DONE;
            }
            let all = *locals.last().expect("there is a process");
            self.written.extend(effect.vars.bytes());
            self.written.extend_from_slice(&short[vars.len()..begin]);
            self.written.extend(effect.local.bytes());
            self.written.extend_from_slice(&short[end..all]);
            if !lens.store.write_rest_after_passage(&short[all..], p, rest, &mut self.written) {
                self.written.truncate(from);
                return false;
            }
        } else if (effect.vars.len(), effect.local.len()) != (vars.len(), local.len()) {
            self.written.extend(effect.vars.bytes());
            self.written.extend_from_slice(&short[vars.len()..begin]);
            self.written.extend(effect.local.bytes());
            self.written.extend_from_slice(&short[end..]);
        } else if (effect.vars, effect.local) != (vars, local) {
            self.written.extend_from_slice(short);
            let new = &mut self.written[from..];
            new.iter_mut().zip(effect.vars.bytes()).for_each(|(byte, by)| *byte = by);
            new[begin..].iter_mut().zip(effect.local.bytes()).for_each(|(byte, by)| *byte = by);
        }
        *everyone_waits &= !effect.goes_on;
        let by = if lens.keeps_graph { Edge::new(0, p, kind(action, effect.enters), 0).by() } else { 0 };
        let action = action.number(lens.machine.processes()) as u32;
        let to = self.written.len();
        if from == to {
            self.tried.push(Found { known: self.apart.id, action, by, ..Found::NOT_LOOKED_UP });
        } else {
            let hash = lens.store.hash(&self.written[from..]);
            let [from, to] = [from, to].map(|at| at as u32);
            self.tried.push(Found { hash, at: At { from, compared: to, to }, known: NEW, action, by, hashed: true });
        }
        true
    }

    /// Remembers where a step leads: `None` if it cannot happen, otherwise the state after it and
    /// what stands for its variables.
    fn remember(&mut self, lens: Lens<'_>, state: &State, action: Action, led: Option<(Stepped, &State, Piece)>) {
        let p = action.process;
        let Some((local, vars)) = self.apart.pieces(p) else { return };
        let Some(key) = Key::of_action(action, local, vars) else { return };
        let effect = match led {
            None => Some(Effect::answer(local, vars)),
            Some((stepped, next, vars)) => {
                let (enters, ends) = (stepped.entered, stepped.passage_ended);
                let local = if ends && lens.machine.counts_passages() {
                    Some(Effect::ROOT)
                } else {
                    self.apart.rest.clear();
                    push(&mut self.apart.rest, u64::from(next.locals[p]));
                    Piece::of_local(&self.apart.rest)
                };
                let goes_on = goes_on(lens.machine, state, action, stepped);
                local.map(|local| Effect { vars, local, goes_on, enters, ends, so: true })
            }
        };
        effect.into_iter().for_each(|effect| self.recall.put(key, effect));
    }

    fn look_at_step(
        &mut self,
        lens: Lens<'_>,
        state: &State,
        next: &mut State,
        action: Action,
        everyone_waits: &mut bool,
    ) -> Result<(), Halt> {
        let machine = lens.machine;
        let Some(stepped) = machine.act(next, action)? else {
            self.remember(lens, state, action, None);
            return Ok(());
        };
        let when = self.now;
        *everyone_waits = *everyone_waits && !goes_on(machine, state, action, stepped);
        for (i, asked) in lens.asked.iter().enumerate().filter(|(_, asked)| asked.is_open()) {
            let (property, parts) = asked.asks();
            let broken = match &property.test {
                Test::Unless(so, until) => {
                    let (before, after) = (View::new(machine, state), View::new(machine, next));
                    parts.iter().any(|&part| breaks_off(&**so, &**until, &before.of(part), &after.of(part)))
                }
                Test::FirstCome(k) => stepped.overtook as usize >= *k,
                Test::Monitor(watcher) => machine.is_rejected(watcher, stepped),
                _ => false,
            };
            if machine.renames() && matches!(property.test, Test::Unless(..)) {
                self.is_told_of_all_names(machine, property, &[state, next], |states| {
                    let [before, after] = [states[0], states[1]].map(|state| View::new(machine, state));
                    let Test::Unless(so, until) = &property.test else { return Ok(true) };
                    let breaks = |part| breaks_off(&**so, &**until, &before.of(part), &after.of(part));
                    Ok(parts.iter().any(|&part| breaks(part)) == broken)
                })?;
            }
            if broken {
                self.notes.push(Note { when, what: Noted::Step(i, action) });
            }
        }
        let by = if lens.keeps_graph { by(lens, state, next, action, stepped)? } else { 0 };
        let number = action.number(machine.processes()) as u32;
        if *next == *state {
            if let Some(vars) = self.apart.vars {
                self.remember(lens, state, action, Some((stepped, next, vars)));
            }
            self.tried.push(Found { known: self.apart.id, action: number, by, ..Found::NOT_LOOKED_UP });
            return Ok(());
        }
        let written = lens.store.write(machine, next, &mut self.spare, &mut self.written)?;
        if written.loose {
            self.loose.push(Loose { step: self.steps(), unknown: None, raw: self.spare.raw.clone() });
        } else if lens.recalls {
            let short = &self.written[written.from..written.compared];
            if let Some(vars) = Piece::of_vars(&short[..lens.store.vars_in(short)]) {
                self.remember(lens, state, action, Some((stepped, next, vars)));
            }
        }
        let [from, compared, to] = [written.from, written.compared, written.to].map(|at| at as u32);
        let (hash, hashed) = (written.hash.unwrap_or_default(), written.hash.is_some());
        self.tried.push(Found { hash, at: At { from, compared, to }, known: NEW, action: number, by, hashed });
        Ok(())
    }
}

/// Whether a process outside its remainder has changed something by its step.
fn goes_on(machine: &Machine, state: &State, action: Action, stepped: Stepped) -> bool {
    !stepped.unchanged && !action.is_crash() && machine.phase(state, action.process) != Phase::Remainder
}

/// What the graph says of a step.
fn by(lens: Lens<'_>, state: &State, next: &State, action: Action, stepped: Stepped) -> Result<u16, Halt> {
    let cost = u8::try_from(stepped.cost).map_err(|_| TextError::TooLarge)?;
    let cost = counted(lens, state, next).unwrap_or(cost);
    Ok(Edge::new(0, action.process, kind(action, stepped.entered), cost).by())
}

fn kind(action: Action, enters: bool) -> Kind {
    match action.what {
        What::Crash | What::CrashWakes(_) | What::Restart => Kind::Crash,
        What::GiveUp => Kind::GivesUp,
        _ if enters => Kind::Enters,
        _ => Kind::Step,
    }
}

/// Which bounds a step counts for, a bit for each; `None` if there are none. These bits take the
/// place of remote references: the two are never measured together.
fn counted(lens: Lens<'_>, state: &State, next: &State) -> Option<u8> {
    let bounds =
        lens.asked.iter().filter_map(|asked| match asked.asks() {
            (Property { test: Test::AtMost(.., counted), .. }, parts) => Some(parts.iter().any(|&part| {
                counted(&View::new(lens.machine, state).of(part), &View::new(lens.machine, next).of(part))
            })),
            _ => None,
        });
    bounds.zip(0..).map(|(so, bit)| u8::from(so) << bit).reduce(|a, b| a | b)
}

/// Whether a state decides a property in one of these parts, for properties decided on states.
pub(super) fn is_decided_at(
    property: &Property,
    parts: &[Part],
    machine: &Machine,
    state: &State,
) -> Result<bool, Halt> {
    let view = View::new(machine, state);
    Ok(match &property.test {
        Test::Always(so) => !parts.iter().all(|&part| so(&view.of(part))),
        Test::Sometimes(so) => parts.iter().any(|&part| so(&view.of(part))),
        Test::NeverStuck => machine.is_deadlock(state)?,
        Test::NoPanic => machine.panicked_process(state).is_some(),
        Test::OneWaits => machine.has_two_at_a_word_of_one(state)?,
        Test::QuietWaits => machine.is_noisy(state)?,
        Test::Linearizable(_) => !machine.is_linearizable(state),
        Test::FirstEnabled => {
            let mut stuck = false;
            for p in (0..machine.processes()).filter(|&p| is_set(state.passed & !state.crashed, p)) {
                stuck |= !machine.enters_alone(state, p)?;
            }
            stuck
        }
        _ => false,
    })
}
