//! The local states of one process, discovered by running its text: a trie of histories.
//!
//! A process is deterministic, so its local state *is* the list of values that its accesses have
//! seen since its passage began. Each list is a node, with a child for each value seen next. The
//! text runs only when a new node appears; everything else is table look-up. If a
//! [survey](super::survey) has found all local states before, no text runs at all. Otherwise three
//! things keep the trie small:
//!
//! - a failed turn of a wait leads back to the node of its loop head;
//! - the end of a passage leads back to the root;
//! - nodes with equal `keep` keys are one node.
//!
//! If a text has no `keep`, and there was no survey only because its variables grow, nodes with
//! equal contents are one node ([`Locals::compare_contents`]).

use super::TextError;
use super::canon::Shift;
use super::layout::Part;
use super::learn::{Halt, Missing};
use super::memory::{Call, Content, Position, Ran, Running, Seen, Sim, TURNS};
use super::op::Op;
use super::survey::CrossChecked;
use super::{Keep, Phase};
use doorway_core::memory::{Label, Pid};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// How many values a message names.
const SHOWN: usize = 8;

/// A local state of one process.
pub type LocalId = u32;

/// In its remainder, before its next passage.
pub(crate) const ROOT: LocalId = 0;
/// All passages are done.
pub(crate) const DONE: LocalId = 1;

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Child {
    pub(super) to: LocalId,
    pub(super) how: How,
    /// The result of the operation that ends with this step.
    pub(super) responds: Option<u32>,
}

/// What kind of step it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum How {
    On,
    /// A turn of a loop ended whose turns may write, and the loop goes on.
    GoneRound,
    FailedTurn {
        abortable: bool,
    },
    PassageEnded,
    Panicked,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: LocalId,
    depth: u32,
    pub(super) came: Seen,
    pub(super) position: Position,
    pub(super) kids: Vec<(Seen, Child)>,
}

impl Node {
    /// Whether a turn of a wait was seen to fail here.
    pub(super) fn is_a_turn(&self) -> bool {
        self.kids.iter().any(|(_, child)| matches!(child.how, How::FailedTurn { .. }))
    }

    /// Where the process is in a part: the statement it rests at or is about to execute, 0 outside
    /// the part.
    pub(super) fn label_in(&self, part: Part) -> Label {
        if let Some((_, label)) = self.position.rests.iter().find(|(p, _)| *p == part) {
            return *label;
        }
        if self.position.part == part && self.position.phase != Phase::Remainder { self.position.label } else { 0 }
    }
}

/// Two histories that `keep` declared to be one local state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Merge {
    into: LocalId,
    history: Vec<Seen>,
}

/// The local states of a process, found by a [survey](super::survey).
#[derive(Debug)]
pub(super) struct Automaton {
    /// The first two are those of a process that is not under way.
    pub(super) states: Vec<State>,
    /// The results of operations.
    pub(super) responses: Vec<Call>,
    pub(super) runs: u64,
}

/// One of them.
#[derive(Debug)]
pub(super) struct State {
    pub(super) position: Position,
    pub(super) kids: Vec<(Seen, Child)>,
    /// The message, if the text has panicked.
    pub(super) panic: Option<Box<str>>,
}

/// An automaton that is followed.
#[derive(Debug)]
struct Followed {
    automaton: Automaton,
    /// For each state, its local state, if it was met.
    met: Vec<Option<LocalId>>,
    /// For each local state, its state.
    states: Vec<u32>,
}

/// All local states of one process found so far.
#[derive(Debug)]
pub(super) struct Locals {
    pid: Pid,
    pub(super) nodes: Vec<Node>,
    kept: FxHashMap<String, LocalId>,
    merges: Vec<Merge>,
    pub(super) runs: u64,
    longest: usize,
    bytes: usize,
    shifts: FxHashMap<(LocalId, Shift), LocalId>,
    /// The results of operations.
    pub(super) responses: Vec<Call>,
    /// The local states in which the text panicked, and the messages.
    pub(super) panics: FxHashMap<LocalId, Box<str>>,
    /// All of them, if they were found before.
    followed: Option<Followed>,
    /// The turns that are still in doubt; `None` if each is tried at once.
    pub(super) doubts: Option<Vec<Doubt>>,
    /// If they are told apart by their contents: those that are known.
    contents: Option<FxHashMap<Content, LocalId>>,
    /// Further histories that led to known contents, one for each step that did.
    others: Vec<(LocalId, Vec<Seen>)>,
}

/// A turn of a wait that has failed: the end of this history, from `head` on. It must fail as often
/// as it is made again and sees the same. To try that takes long, and only the thread of the text
/// can do it. So a search puts it off until other threads have states to look at.
#[derive(Debug)]
pub(crate) struct Doubt {
    pub(super) pid: Pid,
    pub(super) label: Label,
    pub(super) history: Vec<Seen>,
    pub(super) head: usize,
    /// How often it must fail.
    pub(super) turns: usize,
}

impl Doubt {
    /// Makes the turn again and again.
    pub(super) fn settle(&self, sim: &Sim, start: &Start) -> Result<(), TextError> {
        let &Self { pid, label, head, turns, .. } = self;
        let fails = sim.fails_again(&self.history, head, turns, &mut || start(pid));
        if fails { Ok(()) } else { Err(TextError::TurnRemembers { pid, label }) }
    }
}

/// How many accesses are made to go on from them, for each process.
const MOST_AGAIN: usize = 200_000;

/// Starts the text of a passage, for a process.
pub(super) type Start = dyn Fn(Pid) -> Running;

impl Locals {
    pub(super) fn new(sim: &Sim, start: &Start, pid: Pid, longest: usize) -> Result<Self, TextError> {
        let mut locals = Self {
            pid,
            nodes: Vec::new(),
            kept: FxHashMap::default(),
            merges: Vec::new(),
            runs: 0,
            longest,
            bytes: 0,
            shifts: FxHashMap::default(),
            responses: Vec::new(),
            panics: FxHashMap::default(),
            followed: None,
            doubts: None,
            contents: None,
            others: Vec::new(),
        };
        let position = match locals.run(sim, start, Vec::new())?.0 {
            Ran::Asks(position, _) => position,
            Ran::FailedTurn(..) | Ran::GoneRound(_) => return Err(TextError::EmptyTurn { pid, label: 0 }),
            Ran::CallsOutOfTurn => return Err(TextError::Calls { pid, label: 0 }),
            Ran::NoFault(label, why) => return Err(TextError::NoFault { pid, label, why }),
            Ran::Ended | Ran::Lost => return Err(TextError::Lost(pid)),
            Ran::Panicked(_, message) => return Err(TextError::Panics { pid, label: 0, message }),
        };
        let stopped = Position { op: Op::Stop, ..position.clone() };
        for position in [position, stopped] {
            let came = Seen { value: 0, gave_up: false };
            locals.nodes.push(Node { parent: ROOT, depth: 0, came, position, kids: Vec::new() });
        }
        Ok(locals)
    }

    /// Where the process goes from `from` when its access sees `saw`, if that is known.
    #[inline]
    pub(super) fn child(&self, from: LocalId, saw: Seen) -> Result<Child, Halt> {
        match self.nodes[from as usize].kids.iter().find(|(value, _)| *value == saw) {
            Some(&(_, child)) => Ok(child),
            None => Err(Halt::Missing(Missing::Child(self.pid.index(), from, saw))),
        }
    }

    /// Runs the text to find that out.
    pub(super) fn learn(
        &mut self,
        sim: &Sim,
        start: &Start,
        keep: Keep,
        from: LocalId,
        saw: Seen,
    ) -> Result<(), TextError> {
        if self.nodes[from as usize].kids.iter().any(|(value, _)| *value == saw) {
            return Ok(());
        }
        if self.followed.is_some() {
            return self.follow_to(sim, start, from, saw);
        }
        self.discover(sim, start, keep, from, saw).map(drop)
    }

    /// Where the process goes is known from here on; no text is run.
    pub(super) fn follow(&mut self, automaton: Automaton) {
        self.runs += automaton.runs;
        self.responses.clone_from(&automaton.responses);
        let mut met = vec![None; automaton.states.len()];
        met[ROOT as usize] = Some(ROOT);
        met[DONE as usize] = Some(DONE);
        self.followed = Some(Followed { automaton, met, states: vec![ROOT, DONE] });
    }

    fn follow_to(&mut self, sim: &Sim, start: &Start, from: LocalId, saw: Seen) -> Result<(), TextError> {
        let Some(Followed { automaton, met, states }) = &mut self.followed else { return Ok(()) };
        let state = states[from as usize];
        let Some(&(_, child)) = automaton.states[state as usize].kids.iter().find(|(value, _)| *value == saw) else {
            return Err(self.refused(sim, start, from, saw));
        };
        let to = match met[child.to as usize] {
            Some(to) => to,
            None => {
                let to = self.nodes.len() as LocalId;
                let State { position, panic, .. } = &automaton.states[child.to as usize];
                met[child.to as usize] = Some(to);
                states.push(child.to);
                self.panics.extend(panic.clone().map(|message| (to, message)));
                let position = position.clone();
                self.push(from, saw, position)
            }
        };
        self.bytes += 2 * size_of::<(Seen, Child)>();
        self.nodes[from as usize].kids.push((saw, Child { to, ..child }));
        Ok(())
    }

    /// Why the text cannot go on from here.
    fn refused(&mut self, sim: &Sim, start: &Start, from: LocalId, saw: Seen) -> TextError {
        self.followed = None;
        let label = self.nodes[from as usize].position.label;
        let found = self.discover(sim, start, Keep::Ignored, from, saw);
        found.map_or_else(|why| why, |_| TextError::Unforeseen { pid: self.pid, label, value: saw.value })
    }

    pub(super) fn push(&mut self, parent: LocalId, came: Seen, position: Position) -> LocalId {
        let (id, depth) = (self.nodes.len() as LocalId, self.nodes[parent as usize].depth + 1);
        self.bytes += size_of::<Node>() + 8 * position.rests.len();
        self.nodes.push(Node { parent, depth, came, position, kids: Vec::new() });
        id
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Where a process stops that panicked after this step.
    pub(super) fn stopped_at(&self, from: LocalId, stopped: Position) -> Position {
        let Position { part, label, .. } = self.nodes[from as usize].position;
        Position { part, label, ..stopped }
    }

    #[cold]
    fn discover(&mut self, sim: &Sim, start: &Start, keep: Keep, from: LocalId, saw: Seen) -> Result<Child, TextError> {
        let mut history = self.history(from);
        history.push(saw);
        let depth = history.len();
        let label = self.nodes[from as usize].position.label;
        if depth > self.longest {
            let saw = self.saw_at(sim, from, label);
            return Err(TextError::TooLong { pid: self.pid, label, accesses: self.longest, saw });
        }
        let (ran, responded) = self.run(sim, start, history.clone())?;
        let responds = responded.map(|result| self.response(result));
        let child = match ran {
            Ran::CallsOutOfTurn => return Err(TextError::Calls { pid: self.pid, label }),
            Ran::NoFault(label, why) => return Err(TextError::NoFault { pid: self.pid, label, why }),
            Ran::Ended => Child { to: ROOT, how: How::PassageEnded, responds },
            Ran::Lost => return Err(TextError::Lost(self.pid)),
            Ran::FailedTurn(head, abortable) => {
                if head >= depth {
                    return Err(TextError::EmptyTurn { pid: self.pid, label });
                }
                self.doubt(sim, start, Doubt { pid: self.pid, label, history, head, turns: TURNS })?;
                Child { to: self.ancestor(from, head), how: How::FailedTurn { abortable }, responds }
            }
            // Its changes stay; but from here on it is where it was.
            Ran::GoneRound(head) => {
                if head >= depth {
                    return Err(TextError::EmptyTurn { pid: self.pid, label });
                }
                self.doubt(sim, start, Doubt { pid: self.pid, label, history, head, turns: TURNS })?;
                Child { to: self.ancestor(from, head), how: How::GoneRound, responds }
            }
            Ran::Panicked(stopped, message) => {
                self.bytes += message.len();
                let id = self.push(from, saw, self.stopped_at(from, stopped));
                self.panics.insert(id, message);
                Child { to: id, how: How::Panicked, responds }
            }
            Ran::Asks(position, key) => {
                let key = key.filter(|_| keep != Keep::Ignored);
                let is_told = key.is_some();
                let content = self.contents.is_some() && !is_told && keep != Keep::Ignored;
                let content = content.then(|| sim.content(&history, &mut || start(self.pid))).flatten();
                let alike = content.as_ref().and_then(|content| self.contents.as_ref()?.get(content)).copied();
                if let Some(at) = alike.filter(|&at| self.nodes[at as usize].position == position) {
                    self.bytes += size_of::<(LocalId, Vec<Seen>)>() + history.len() * size_of::<Seen>();
                    self.others.push((at, history));
                    return Ok(self.leads(from, saw, Child { to: at, how: How::On, responds }));
                }
                let known = key.as_ref().and_then(|k| self.kept.get(k)).copied();
                if known.is_some_and(|known| self.nodes[known as usize].position != position) {
                    return Err(TextError::KeepHides { pid: self.pid, label: position.label, later: position.label });
                }
                let to = known.unwrap_or_else(|| {
                    self.bytes += key.as_ref().map_or(0, String::len);
                    let id = self.push(from, saw, position);
                    if let Some(key) = key {
                        self.kept.insert(key, id);
                    }
                    if let (Some(content), Some(contents)) = (content, &mut self.contents) {
                        self.bytes += size_of_val(&*content.1) + content.0.bytes();
                        contents.insert(content, id);
                    }
                    id
                });
                if keep == Keep::CrossChecked && known.is_some() {
                    self.bytes += size_of::<Merge>() + history.len() * size_of::<Seen>();
                    self.merges.push(Merge { into: to, history });
                }
                Child { to, how: How::On, responds }
            }
        };
        Ok(self.leads(from, saw, child))
    }

    fn leads(&mut self, from: LocalId, saw: Seen, child: Child) -> Child {
        self.bytes += 2 * size_of::<(Seen, Child)>();
        self.nodes[from as usize].kids.push((saw, child));
        child
    }

    /// From here on, histories that leave the text with the same content are one local state.
    pub(super) fn compare_contents(&mut self) {
        self.contents.get_or_insert_default();
    }

    pub(super) fn compares_contents(&self) -> bool {
        self.contents.is_some()
    }

    /// Goes on from the further histories that led to a known content, each time at random to the
    /// end of the passage, and with each value that was seen next.
    pub(super) fn check_contents(&self, sim: &Sim, start: &Start) -> Result<(), TextError> {
        let (mut random, mut made) = (fastrand::Rng::with_seed(self.nodes.len() as u64), 0);
        for (at, history) in &self.others {
            for first in 0..self.nodes[*at as usize].kids.len().max(1) {
                let (mut path, mut now, mut kid) = (history.clone(), *at, first);
                let mut expected = vec![self.nodes[now as usize].position.op];
                while let Some(&(saw, child)) = self.nodes[now as usize].kids.get(kid) {
                    path.push(saw);
                    now = child.to;
                    match child.how {
                        How::On => expected.push(self.nodes[now as usize].position.op),
                        How::PassageEnded => expected.push(Op::Stop),
                        _ => break,
                    }
                    if child.how != How::On || path.len() >= self.longest {
                        break;
                    }
                    kid = random.usize(..self.nodes[now as usize].kids.len().max(1));
                }
                made += path.len();
                let asked = sim.asks_for(&path, &mut || start(self.pid));
                if !asked.get(history.len()..).is_some_and(|asked| asked.starts_with(&expected)) {
                    let label = self.nodes[*at as usize].position.label;
                    return Err(TextError::RemembersElsewhere { pid: self.pid, label });
                }
                if made > MOST_AGAIN {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What the last accesses at a statement saw, for people: `serving = 1, 1, 2`.
    fn saw_at(&self, sim: &Sim, mut at: LocalId, label: Label) -> Box<str> {
        let mut last: Vec<(Op, u64)> = Vec::new();
        while at != ROOT && last.len() < SHOWN {
            let Node { parent, came, .. } = self.nodes[at as usize];
            let Position { op, label: of, .. } = self.nodes[parent as usize].position;
            if of == label && last.first().is_none_or(|(last, _)| last.var() == op.var()) {
                last.push((op, came.value));
            }
            at = parent;
        }
        let layout = sim.layout();
        let Some(var) = last.first().and_then(|(op, _)| op.var()).map(|v| layout.var(v)) else { return "".into() };
        let values: Vec<String> = last.iter().rev().map(|(_, word)| var.show(*word)).collect();
        format!("{} = {}", var.path, values.join(", ")).into()
    }

    /// Tries a turn again, now or later.
    fn doubt(&mut self, sim: &Sim, start: &Start, doubt: Doubt) -> Result<(), TextError> {
        let Some(later) = &mut self.doubts else { return doubt.settle(sim, start) };
        later.push(doubt);
        Ok(())
    }

    /// Runs the text twice: replay requires that it is deterministic.
    fn run(&mut self, sim: &Sim, start: &Start, history: Vec<Seen>) -> Result<(Ran, Option<Call>), TextError> {
        let ran = sim.run(history.clone(), &mut || start(self.pid));
        self.runs += 2;
        let again = sim.run(history, &mut || start(self.pid));
        if ran == again { Ok(ran) } else { Err(TextError::NotDeterministic(self.pid)) }
    }

    pub(super) fn response(&mut self, result: Call) -> u32 {
        let known = self.responses.iter().position(|known| *known == result);
        known.unwrap_or_else(|| {
            self.responses.push(result);
            self.responses.len() - 1
        }) as u32
    }

    /// The result of an operation.
    pub(super) fn responded(&self, response: u32) -> &Call {
        &self.responses[response as usize]
    }

    pub(super) fn history(&self, mut at: LocalId) -> Vec<Seen> {
        let mut history = Vec::with_capacity(self.nodes[at as usize].depth as usize + 1);
        while at != ROOT {
            history.push(self.nodes[at as usize].came);
            at = self.nodes[at as usize].parent;
        }
        history.reverse();
        history
    }

    /// What the last access at each statement saw, in the order of these accesses.
    pub(super) fn seen_last(&self, mut at: LocalId) -> Vec<(Label, u64)> {
        let mut seen: Vec<(Label, u64)> = Vec::new();
        while at != ROOT {
            let Node { parent, came, .. } = self.nodes[at as usize];
            let label = self.nodes[parent as usize].position.label;
            if seen.iter().all(|&(known, _)| known != label) {
                seen.push((label, came.value));
            }
            at = parent;
        }
        seen.reverse();
        seen
    }

    /// What the text would keep after this history, if each access had seen what `moved` makes of
    /// it.
    pub(super) fn kept_if(
        &self,
        sim: &Sim,
        start: &Start,
        at: LocalId,
        moved: &dyn Fn(Op, u64) -> u64,
    ) -> Option<String> {
        let mut history = self.history(at);
        let mut node = at;
        for seen in history.iter_mut().rev() {
            node = self.nodes[node as usize].parent;
            seen.value = moved(self.nodes[node as usize].position.op, seen.value);
        }
        match sim.run(history, &mut || start(self.pid)).0 {
            Ran::Asks(_, kept) => kept,
            _ => None,
        }
    }

    pub(super) fn ancestor(&self, mut at: LocalId, depth: usize) -> LocalId {
        while self.nodes[at as usize].depth as usize > depth {
            at = self.nodes[at as usize].parent;
        }
        at
    }

    /// The smallest value of a counter that the process has seen or is about to write.
    pub(super) fn smallest_seen(&self, mut at: LocalId, counts: impl Fn(Op) -> bool) -> Option<u64> {
        let mut least = match self.nodes[at as usize].position.op {
            op @ Op::Write(_, x) if counts(op) && at != ROOT => Some(x),
            _ => None,
        };
        while at != ROOT {
            let Node { parent, came, .. } = self.nodes[at as usize];
            let op = self.nodes[parent as usize].position.op;
            if counts(op) && !matches!(op, Op::Write(..)) {
                least = Some(least.map_or(came.value, |l: u64| l.min(came.value)));
            }
            at = parent;
        }
        least
    }

    /// The local state in which all counter values seen are smaller by `less`; `moved` maps each
    /// access.
    pub(super) fn shifted(&self, from: LocalId, less: Shift, moved: impl Fn(Op, u64) -> u64) -> Result<LocalId, Halt> {
        if from <= DONE {
            return Ok(from);
        }
        if let Some(&known) = self.shifts.get(&(from, less)) {
            return Ok(known);
        }
        let mut at = ROOT;
        for mut seen in self.history(from) {
            seen.value = moved(self.nodes[at as usize].position.op, seen.value);
            at = self.child(at, seen)?.to;
        }
        Err(Halt::Missing(Missing::Shifted(self.pid.index(), from, less, at)))
    }

    pub(super) fn learn_shifted(&mut self, from: LocalId, less: Shift, to: LocalId) {
        self.shifts.insert((from, less), to);
    }

    /// Runs both histories of each merge forward on the same answers, those that the search has
    /// seen, and compares what they ask for, until nothing new comes up or `most` continuations
    /// were compared.
    pub(super) fn cross_check(&mut self, sim: &Sim, start: &Start, most: u64) -> Result<CrossChecked, TextError> {
        let mut compared: FxHashSet<Merge> = FxHashSet::default();
        let mut states: FxHashSet<LocalId> = FxHashSet::default();
        let merged = self.many_merged();
        let mut runs = 0;
        for merge in std::mem::take(&mut self.merges) {
            let (into, label) = (merge.into, self.nodes[merge.into as usize].position.label);
            // Whether the requests of a history were compared when it was run.
            let mut todo = VecDeque::from([(merge, false)]);
            while let Some((pair, is_alike)) = todo.pop_front() {
                if compared.len() as u64 == most {
                    self.runs += runs;
                    let (continuations, compared) = (most, states.len());
                    return Ok(CrossChecked { continuations, all: false, merged, compared });
                }
                if compared.contains(&pair) {
                    continue;
                }
                let hides = |into: LocalId| {
                    let later = self.nodes[into as usize].position.label;
                    TextError::KeepHides { pid: self.pid, label, later }
                };
                let asks_alike = |ran: &Ran, into: LocalId| matches!(ran, Ran::Asks(position, _) if *position == self.nodes[into as usize].position);
                let go_on = |history: &[Seen]| sim.run(history.to_vec(), &mut || start(self.pid));
                if !is_alike {
                    runs += 1;
                    if !asks_alike(&go_on(&pair.history).0, pair.into) {
                        return Err(hides(pair.into));
                    }
                }
                for &(saw, child) in &self.nodes[pair.into as usize].kids {
                    let mut history = pair.history.clone();
                    history.push(saw);
                    runs += 1;
                    let (ran, responded) = go_on(&history);
                    if responded.as_ref() != child.responds.map(|response| self.responded(response)) {
                        return Err(hides(pair.into));
                    }
                    let is_alike = match (child.how, ran) {
                        (How::PassageEnded, Ran::Ended) | (How::Panicked, Ran::Panicked(..)) => continue,
                        (How::FailedTurn { .. }, Ran::FailedTurn(head, _)) | (How::GoneRound, Ran::GoneRound(head)) => {
                            history.truncate(head);
                            false
                        }
                        (How::On, ran @ Ran::Asks(..)) => {
                            if !asks_alike(&ran, child.to) {
                                return Err(hides(child.to));
                            }
                            true
                        }
                        _ => return Err(hides(pair.into)),
                    };
                    todo.push_back((Merge { into: child.to, history }, is_alike));
                }
                compared.insert(pair);
                states.insert(into);
            }
        }
        self.runs += runs;
        Ok(CrossChecked { continuations: compared.len() as u64, all: true, merged, compared: states.len() })
    }

    /// Whether a local state was found by this step.
    pub(super) fn is_found_by(&self, at: LocalId, from: LocalId, saw: Seen) -> bool {
        let Node { parent, came, .. } = self.nodes[at as usize];
        (parent, came) == (from, saw)
    }

    /// The local states to which steps lead beside those by which they were found, once for each
    /// such step.
    pub(super) fn merges_into(&self) -> impl Iterator<Item = LocalId> {
        (0..).zip(&self.nodes).flat_map(move |(from, node)| {
            let others = node
                .kids
                .iter()
                .filter(move |(saw, child)| child.how == How::On && !self.is_found_by(child.to, from, *saw));
            others.map(|(_, child)| child.to)
        })
    }

    /// How many local states have several histories.
    pub(super) fn many_merged(&self) -> usize {
        self.merges_into().collect::<FxHashSet<_>>().len()
    }

    /// Whether the text declares local states alike.
    pub(super) fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The message of the text's panic, if it panicked.
    pub(super) fn panicked(&self, at: LocalId) -> Option<&str> {
        if self.panics.is_empty() { None } else { self.panics.get(&at).map(|message| &**message) }
    }

    /// Bytes in use, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
