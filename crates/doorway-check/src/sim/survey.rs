//! The local states of each process, all of them, before the search: a finite automaton, made as
//! small as it can be.
//!
//! Without a [`keep`](doorway_core::memory::Here::keep), a local state is a history, and a loop
//! that starts again has histories without end. But a text is a future, and has finitely many
//! contents as long as its variables do. So a survey runs the text of each process from each
//! content it can have ([`Image`]), with each value that its next access can see, until no new
//! content appears. The values of a variable are its initial ones, and those that some process can
//! write, whatever it has seen. That may be more than any run shows, and is never less.
//!
//! Contents that ask for the same, and go on alike whatever they see, are one local state. That is
//! exact, and no word of the text is needed for it. The search then only looks up.
//!
//! What a text could know outside its future:
//! - What it allocates. Each history is run a second time while the first run is still there. So
//!   what both have allocated has different addresses, and contents with such an address differ.
//!   Then the history stays the local state. The second run also shows which bytes of the future
//!   were never written ([`Left`](super::image::Left)).
//! - Cells that all runs share. For each local state to which two histories lead, the text goes on
//!   from the second history too, and must do what it did after the first. From each further
//!   history that leads there, the text goes on at random and, if it leads round in a circle, for
//!   up to [`LONGEST`] accesses. If a cell makes a difference only later, the survey overlooks it:
//!   no text may use one.
//!
//! If the text does something else there, there is no survey. Then a local state is a history
//! again.
//!
//! Variables that grow, such as tickets, have no end of values, but a search with a bound on
//! passages meets few of them. If there is no end within [limits](MOST_ACCESSES), the search finds
//! local states by itself: histories that leave the text with the same content are one
//! ([`Locals::compare_contents`]). After the search, the text goes on from the second history too,
//! as above ([`World::check_contents`]).
//!
//! A failed turn of a wait leads back to the loop head. So nothing may be carried from one turn to
//! the next. The text is run on after each turn that fails: its content there must go on as that at
//! the loop head does. If not, that is an error of the text.
//!
//! If a text says what to `keep`, the search merges its local states as it says. After the search,
//! the contents are compared: those that are one local state must go on alike, with all values that
//! were seen there. [`Pairs`] says in which order.

use super::layout::VarId;
use super::locals::{Automaton, Child, DONE, Doubt, How, LocalId, Locals, Node, ROOT, Start, State};
use super::memory::{Call, Content, Position, Ran, Seen, Sim, TURNS};
use super::op::Op;
use super::world::World;
use super::{Keep, TextError};
use doorway_core::memory::{Label, Pid, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hash;

/// How many accesses a survey before a search makes, in all its runs: about a second.
const MOST_ACCESSES: u64 = 1_000_000;
/// How many values of a variable, or of a choice, are looked at.
const MOST_VALUES: usize = 32;
/// How many accesses are behind any content.
const LONGEST: usize = 300;
/// How many accesses are made to go on at random, for each process.
const MOST_AT_RANDOM: usize = 100_000;
/// How often a history is gone on with at random.
const AT_RANDOM: usize = 3;

/// How far local states that a text declares alike were compared.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct CrossChecked {
    /// How many continuations were compared.
    pub continuations: u64,
    /// Whether these are all.
    pub all: bool,
    /// Local states to which several histories lead.
    pub merged: usize,
    /// Those of them that were compared: at least one of the histories was gone on with that the
    /// text declares like the first, with all values that were seen there; or all of them are the
    /// same to the text anyway.
    pub compared: usize,
}

impl CrossChecked {
    /// Adds what was compared of another process.
    pub(super) fn add(&mut self, other: Self) {
        self.continuations += other.continuations;
        self.all &= other.all;
        self.merged += other.merged;
        self.compared += other.compared;
    }
}

/// How many accesses may be made to compare local states that a text declares alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accesses {
    /// To compare each merged local state once, which takes about as many as finding it did.
    pub(crate) once: u64,
    /// As long as there are fewer, others follow.
    pub(crate) all: u64,
}

/// How often a turn that fails is made where there is little doubt.
const FEW_TURNS: usize = 40;

/// Why there is no survey.
enum GivenUp {
    /// There may be no end of values, or of contents.
    NoEnd,
    /// There is an error that no search would find.
    Error(TextError),
    /// The text says what to keep, or knows what its bytes do not tell.
    Otherwise,
}

impl From<TextError> for GivenUp {
    fn from(_: TextError) -> Self {
        Self::Otherwise
    }
}

/// Where a history leads.
struct Reached {
    ran: Ran,
    responded: Option<Call>,
    /// `None` if the text knows what its bytes do not tell.
    content: Option<Content>,
}

/// What is known of one process.
struct Surveyed {
    locals: Locals,
    known: FxHashMap<Content, LocalId>,
    /// For each local state, another history that leads to it, if there is one.
    others: Vec<Option<Vec<Seen>>>,
    /// What cannot be asked of the text.
    refused: FxHashSet<(LocalId, Seen)>,
    /// For each turn that fails, where the text then is.
    tried_again: FxHashMap<(LocalId, Seen), LocalId>,
    /// The same turns, each with the number of accesses before it.
    failed: Vec<(LocalId, Seen, usize)>,
    /// The statement of a wait whose turns carry something to the next.
    remembers: Option<Label>,
}

impl World {
    /// Finds the local states of all processes before a search from this state, so that it need not
    /// be told which are alike. A text that tells is left to itself.
    ///
    /// # Errors
    /// Returns an error if turns of a wait carry something to the next.
    pub(crate) fn survey(&mut self, initial: &super::State) -> Result<(), TextError> {
        if self.rules().keep == Keep::Ignored || !self.can_be_surveyed() {
            return Ok(());
        }
        self.sim.reads_bytes(true);
        let values = self.first_values(initial);
        let automata = Survey::new(self, values, false).automata();
        self.sim.reads_bytes(false);
        match automata {
            Ok(automata) => {
                for (p, (automaton, doubts)) in automata.into_iter().enumerate() {
                    match &mut self.machine.locals[p].doubts {
                        Some(later) => later.extend(doubts),
                        None => doubts.iter().try_for_each(|doubt| self.settle(doubt))?,
                    }
                    self.machine.locals[p].follow(automaton);
                }
                Ok(())
            }
            Err(GivenUp::NoEnd) => {
                self.machine.locals.iter_mut().for_each(Locals::compare_contents);
                Ok(())
            }
            Err(GivenUp::Error(why)) => Err(why),
            Err(GivenUp::Otherwise) => Ok(()),
        }
    }

    /// Compares histories that the text declares alike. `None` if it declares none alike.
    ///
    /// `stop`: whether to compare no more.
    ///
    /// # Errors
    /// Returns an error if some go on differently.
    pub(crate) fn check_keep(
        &self,
        most: Accesses,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<CrossChecked>, TextError> {
        if self.locals.iter().all(|locals| !locals.keeps()) {
            return Ok(None);
        }
        // What a fault puts off is in no content.
        if !self.rules().faults.is_empty() || self.rules().sparse {
            let merged = self.locals.iter().map(Locals::many_merged).sum();
            return Ok(Some(CrossChecked { merged, all: merged == 0, ..CrossChecked::default() }));
        }
        self.sim.reads_bytes(true);
        let checked = Survey { stop, ..Survey::new(self, Vec::new(), true) }.compare(most);
        self.sim.reads_bytes(false);
        checked.map(Some)
    }

    /// If local states were told apart by their contents: lets the texts go on from other histories
    /// that have led to them, too.
    ///
    /// # Errors
    /// Returns an error if one goes on differently: then it knows what its content does not tell.
    pub(crate) fn check_contents(&self) -> Result<(), TextError> {
        let start = &*self.start;
        self.machine.locals.iter().try_for_each(|locals| locals.check_contents(&self.sim, start))
    }

    /// Whether what was merged is compared after a search, with all values that the search has met.
    pub(crate) fn is_compared_afterwards(&self) -> bool {
        self.renames() || self.locals.iter().any(|locals| locals.keeps() || locals.compares_contents())
    }

    /// Other ways to merge look at histories.
    fn can_be_surveyed(&self) -> bool {
        let rules = self.rules();
        let counts = rules.normalise && self.layout().vars().iter().any(|v| v.counts);
        let is_told = self.canon.is_some() || self.alike.is_some() || !self.bytes.is_empty() || counts;
        rules.faults.is_empty() && !rules.sparse && !is_told
    }

    /// The values that variables can have before any process writes.
    fn first_values(&self, initial: &super::State) -> Vec<BTreeSet<u64>> {
        let first = |(v, var): (usize, &super::VarInfo)| {
            let mut values = BTreeSet::from([var.init]);
            values.extend(Some(initial.vars[v]).filter(|&word| !var.is_forgotten(word)));
            if self.kind(v as VarId) < Register::Atomic {
                values.extend(self.all_values(v as VarId));
            }
            values
        };
        let mut values: Vec<BTreeSet<u64>> = self.layout().vars().iter().enumerate().map(first).collect();
        // With other names of processes, the search may see others.
        self.add_images(&mut values);
        values
    }
}

/// A survey in progress.
struct Survey<'w> {
    world: &'w World,
    /// The values that each variable can have.
    values: Vec<BTreeSet<u64>>,
    /// How many more accesses it may make, how many it has made, and whether it would have made
    /// more.
    left: u64,
    made: u64,
    is_spent: bool,
    /// Whether it goes on if the text says what to keep.
    even_if_told: bool,
    /// Whether to make no more accesses.
    stop: &'w dyn Fn() -> bool,
}

impl<'w> Survey<'w> {
    fn new(world: &'w World, values: Vec<BTreeSet<u64>>, even_if_told: bool) -> Self {
        Self { world, values, left: MOST_ACCESSES, made: 0, is_spent: false, even_if_told, stop: &|| false }
    }

    fn automata(mut self) -> Result<Vec<(Automaton, Vec<Doubt>)>, GivenUp> {
        let mut all = Vec::new();
        for p in 0..self.world.processes() {
            all.push(Surveyed::new(&self.world.sim, &*self.world.start, Pid::new(p))?);
        }
        while {
            let mut is_new = false;
            for surveyed in &mut all {
                is_new |= surveyed.go_on(&mut self)?;
            }
            is_new
        } {}
        let automaton = |mut surveyed: Surveyed| {
            let doubts = surveyed.doubts();
            if let Some(label) = surveyed.remembers_turns() {
                return Err(GivenUp::Error(TextError::TurnRemembers { pid: surveyed.locals.pid(), label }));
            }
            let classes = surveyed.classes(Position::to_tell_apart);
            surveyed.go_the_other_way(&mut self, Some(&classes))?;
            surveyed.go_on_at_random(&self)?;
            Ok((surveyed.into_automaton(&classes), doubts))
        };
        all.into_iter().map(automaton).collect()
    }

    /// Compares what was found of each process with the contents of its text. Each process gets a
    /// like share of the accesses.
    fn compare(mut self, most: Accesses) -> Result<CrossChecked, TextError> {
        let (mut sum, mut spent) = (CrossChecked { all: true, ..CrossChecked::default() }, 0);
        let processes = self.world.locals.len() as u64;
        for (locals, before) in self.world.locals.iter().zip(0..) {
            let [once, more] = [most.once, most.all].map(|most| most.saturating_sub(spent) / (processes - before));
            (self.left, self.made, self.is_spent) = (once, 0, false);
            let some = match Surveyed::new(&self.world.sim, &*self.world.start, locals.pid()) {
                Ok(mut surveyed) => surveyed.compare_with(&mut self, locals, more)?,
                Err(_) => CrossChecked { merged: locals.many_merged(), ..CrossChecked::default() },
            };
            sum.add(some);
            spent += self.made;
        }
        Ok(sum)
    }

    /// Runs a text on a history, twice; with `on`, also on after a turn that fails at its end.
    fn walk(&mut self, pid: Pid, history: &[Seen], on: bool) -> Result<Reached, GivenUp> {
        let mut reached = None;
        self.walk_on(pid, history, on, &mut |found| {
            reached = Some(found);
            Ok(None)
        })?;
        reached.ok_or(GivenUp::Otherwise)
    }

    /// The same. `met` learns where the history leads, and may say what the next access sees; and
    /// so on, as long as it does.
    fn walk_on(
        &mut self,
        pid: Pid,
        history: &[Seen],
        on: bool,
        met: &mut dyn FnMut(Reached) -> Result<Option<Seen>, GivenUp>,
    ) -> Result<(), GivenUp> {
        self.pay(2 * (history.len() as u64 + 1))?;
        let (world, mut end) = (self.world, Ok(()));
        world.sim.walk(history, on, &mut || (world.start)(pid), &mut |[first, second]| {
            if !first.is_like(&second) || first.keeps && !self.even_if_told {
                end = Err(GivenUp::Otherwise);
                return None;
            }
            let (ran, responded) = (first.ran.clone(), first.responded.clone());
            let goes_on = met(Reached { ran, responded, content: first.content(second) });
            goes_on.map_or_else(
                |why| {
                    end = Err(why);
                    None
                },
                |saw| saw.filter(|_| self.pay(2).is_ok()),
            )
        });
        end
    }

    /// Counts accesses that are about to be made.
    fn pay(&mut self, accesses: u64) -> Result<(), GivenUp> {
        let left = self.left.checked_sub(accesses).filter(|_| !(self.stop)());
        self.left = left.ok_or_else(|| {
            self.is_spent = true;
            GivenUp::NoEnd
        })?;
        self.made += accesses;
        Ok(())
    }

    fn many_values(&self) -> usize {
        self.values.iter().map(BTreeSet::len).sum()
    }

    /// What a process in this place can see, in any run; and what its access leaves behind.
    fn can_see(&mut self, op: Op) -> Result<Vec<u64>, GivenUp> {
        let Some(v) = op.var() else {
            return match op {
                Op::Stop => Ok(Vec::new()),
                Op::Section => Ok(vec![0]),
                Op::Choose(n) if n <= MOST_VALUES => Ok((0..n.max(1) as u64).collect()),
                Op::Choose(_) => Err(GivenUp::NoEnd),
                _ => Err(GivenUp::Otherwise),
            };
        };
        let (layout, values) = (self.world.layout(), &mut self.values[v as usize]);
        let before: Vec<u64> = values.iter().copied().collect();
        values.extend(before.iter().map(|&old| layout.var(v).fit(op.leaves(old))));
        match op {
            Op::Sleep(..) => Err(GivenUp::Otherwise),
            _ if values.len() > MOST_VALUES => Err(GivenUp::NoEnd),
            Op::Write(..) => Ok(vec![0]),
            _ => Ok(before),
        }
    }
}

impl Surveyed {
    fn new(sim: &Sim, start: &Start, pid: Pid) -> Result<Self, GivenUp> {
        let locals = Locals::new(sim, start, pid, LONGEST)?;
        let (known, refused, tried_again, failed) = Default::default();
        Ok(Self { locals, known, others: vec![None; 2], refused, tried_again, failed, remembers: None })
    }

    /// Looks at everything that the process can see where it is known to get. Returns whether
    /// anything was new.
    fn go_on(&mut self, survey: &mut Survey<'_>) -> Result<bool, GivenUp> {
        let (mut is_new, mut at) = (false, 0);
        let many = survey.many_values();
        while at < self.locals.nodes.len() {
            let from = at as LocalId;
            for value in survey.can_see(self.locals.nodes[at].position.op)? {
                is_new |= self.look(survey, from, Seen { value, gave_up: false })?;
                let child = self.locals.child(from, Seen { value, gave_up: false });
                let may_give_up = child.is_ok_and(|child| child.how == How::FailedTurn { abortable: true });
                if survey.world.rules().give_ups && may_give_up {
                    is_new |= self.look(survey, from, Seen { value, gave_up: true })?;
                }
            }
            at += 1;
        }
        Ok(is_new || survey.many_values() > many)
    }

    /// Finds out where the process goes from here if it sees this. Returns whether that is new.
    fn look(&mut self, survey: &mut Survey<'_>, from: LocalId, saw: Seen) -> Result<bool, GivenUp> {
        self.look_on(survey, from, saw, &mut |_, _| None)
    }

    /// The same. Where it leads to a content that was not known, `next` may say what the text sees
    /// there: then it goes on at once, and need not be run again from the start.
    fn look_on(
        &mut self,
        survey: &mut Survey<'_>,
        mut from: LocalId,
        mut saw: Seen,
        next: &mut dyn FnMut(&Self, LocalId) -> Option<Seen>,
    ) -> Result<bool, GivenUp> {
        if self.locals.child(from, saw).is_ok() || self.refused.contains(&(from, saw)) {
            return Ok(false);
        }
        let mut history = self.locals.history(from);
        history.push(saw);
        if history.len() > LONGEST {
            return Err(GivenUp::NoEnd);
        }
        let (begin, mut end) = (history.clone(), None);
        survey.walk_on(self.locals.pid(), &begin, false, &mut |reached| {
            self.locals.runs += 2;
            let Reached { ran: Ran::Asks(position, _), responded, content } = reached else {
                end = Some(reached);
                return Ok(None);
            };
            let many = self.locals.nodes.len();
            let to = self.arrive(from, &history, position, content)?;
            self.leads(from, saw, to, How::On, responded);
            let is_new = to as usize == many && history.len() < LONGEST;
            let goes_on = if is_new { next(self, to) } else { None };
            if let Some(next) = goes_on {
                history.push(next);
                (from, saw) = (to, next);
            }
            Ok(goes_on)
        })?;
        match end {
            Some(Reached { ran, responded, .. }) => self.ends(survey, (from, saw), &history, ran, responded),
            None => Ok(true),
        }
    }

    /// Notes where a step leads that ends a history, and does not lead on.
    fn ends(
        &mut self,
        survey: &mut Survey<'_>,
        (from, saw): (LocalId, Seen),
        history: &[Seen],
        ran: Ran,
        responded: Option<Call>,
    ) -> Result<bool, GivenUp> {
        let (to, how) = match ran {
            Ran::Ended => (ROOT, How::PassageEnded),
            Ran::FailedTurn(head, abortable) if head < history.len() => {
                self.try_again(survey, from, history, head)?;
                (self.locals.ancestor(from, head), How::FailedTurn { abortable })
            }
            Ran::GoneRound(head) if head < history.len() => {
                self.try_again(survey, from, history, head)?;
                (self.locals.ancestor(from, head), How::GoneRound)
            }
            Ran::Panicked(position, message) => {
                let to = self.locals.push(from, saw, self.locals.stopped_at(from, position));
                self.others.push(None);
                self.locals.panics.insert(to, message);
                (to, How::Panicked)
            }
            _ => {
                self.refused.insert((from, saw));
                return Ok(false);
            }
        };
        self.leads(from, saw, to, how, responded);
        Ok(true)
    }

    fn leads(&mut self, from: LocalId, saw: Seen, to: LocalId, how: How, responded: Option<Call>) {
        let responds = responded.map(|result| self.locals.response(result));
        self.locals.nodes[from as usize].kids.push((saw, Child { to, how, responds }));
    }

    /// The local state at the end of a history, whose last step was made from another.
    fn arrive(
        &mut self,
        from: LocalId,
        history: &[Seen],
        position: Position,
        content: Option<Content>,
    ) -> Result<LocalId, GivenUp> {
        let Some(&known) = content.as_ref().and_then(|content| self.known.get(content)) else {
            let to = self.locals.push(from, history[history.len() - 1], position);
            self.others.push(None);
            self.known.extend(content.map(|content| (content, to)));
            return Ok(to);
        };
        if self.locals.nodes[known as usize].position != position {
            return Err(GivenUp::Otherwise);
        }
        self.others[known as usize].get_or_insert_with(|| history.to_vec());
        Ok(known)
    }

    /// Finds out where the text is after a turn that failed at the end of a history, and began
    /// after `head` accesses.
    fn try_again(
        &mut self,
        survey: &mut Survey<'_>,
        from: LocalId,
        history: &[Seen],
        head: usize,
    ) -> Result<(), GivenUp> {
        let at_head = &self.locals.nodes[self.locals.ancestor(from, head) as usize].position;
        let (label, op) = (at_head.label, at_head.op);
        let (pid, start) = (self.locals.pid(), &survey.world.start);
        let saw = history[history.len() - 1];
        self.failed.push((from, saw, head));
        let again = survey.walk(pid, history, true)?;
        // A survey may find that there is no end of values, so it makes many turns last. Of a text
        // that says what to keep, the search has made many after the first history.
        let fails = !survey.even_if_told || survey.world.sim.fails_again(history, head, FEW_TURNS, &mut || start(pid));
        match again.ran {
            Ran::Asks(position, _) if fails && position.op == op => {
                // Without a content, there would be no end of turns.
                if again.content.is_some() {
                    let at = self.arrive(from, history, position, again.content)?;
                    self.tried_again.insert((from, saw), at);
                }
            }
            _ => self.remembers = Some(label),
        }
        Ok(())
    }

    /// The turns that have failed: each must fail again and again. A few times are enough if the
    /// text is where it was before: then only a cell that all runs share could make a difference.
    fn doubts(&self) -> Vec<Doubt> {
        let doubt = |&(from, saw, head): &(LocalId, Seen, usize)| {
            let history = [self.locals.history(from), vec![saw]].concat();
            let at_head = self.locals.ancestor(from, head);
            let turns = if self.tried_again.get(&(from, saw)) == Some(&at_head) { FEW_TURNS } else { TURNS };
            let label = self.locals.nodes[at_head as usize].position.label;
            Doubt { pid: self.locals.pid(), label, history, head, turns }
        };
        self.failed.iter().map(doubt).collect()
    }

    /// The statement of a wait that goes on differently after some failed turn, if there is one.
    fn remembers_turns(&self) -> Option<Label> {
        // What a turn says, such as which variables it shows, is not what it knows.
        let classes = self.classes(|position| (position.op, position.part, position.label));
        let differs = |(&(from, saw), &at): (&(LocalId, Seen), &LocalId)| {
            let head = self.locals.child(from, saw).ok()?.to;
            let label = self.locals.nodes[head as usize].position.label;
            (classes[head as usize] != classes[at as usize]).then_some(label)
        };
        self.remembers.or_else(|| self.tried_again.iter().filter_map(differs).min())
    }

    /// Goes on at random from all histories that lead to a local state of another, and round and
    /// round if they can.
    fn go_on_at_random(&self, survey: &Survey<'_>) -> Result<(), GivenUp> {
        let nodes = &self.locals.nodes;
        let (mut random, mut made) = (fastrand::Rng::with_seed(nodes.len() as u64), 0);
        for (from, node) in (0..).zip(nodes) {
            for &(saw, child) in node.kids.iter().filter(|(saw, child)| {
                let to = &nodes[child.to as usize];
                child.how == How::On && (to.parent, to.came) != (from, *saw)
            }) {
                let round = self.way(child.to, from);
                for i in 0..AT_RANDOM {
                    let mut path = self.locals.history(from);
                    let rounds =
                        round.as_ref().map_or(0, |round| LONGEST.saturating_sub(path.len()) / (round.len() + 1));
                    for _ in 0..if i == 0 { rounds } else { random.usize(0..=rounds) } {
                        path.push(saw);
                        path.extend(round.iter().flatten());
                    }
                    path.push(saw);
                    let mut at = child.to;
                    while path.len() < LONGEST + AT_RANDOM && !nodes[at as usize].kids.is_empty() {
                        let (saw, child) = nodes[at as usize].kids[random.usize(..nodes[at as usize].kids.len())];
                        path.push(saw);
                        at = child.to;
                        if child.how != How::On {
                            break;
                        }
                    }
                    made += path.len();
                    if !self.is_way(survey, &path) {
                        return Err(GivenUp::Otherwise);
                    }
                    if made > MOST_AT_RANDOM {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// A shortest way from one local state to another: what accesses see on it.
    fn way(&self, from: LocalId, to: LocalId) -> Option<Vec<Seen>> {
        let mut came: FxHashMap<LocalId, Option<(LocalId, Seen)>> = FxHashMap::from_iter([(from, None)]);
        let mut todo = VecDeque::from([from]);
        while let Some(at) = todo.pop_front() {
            if at == to {
                let back = std::iter::successors(came[&to], |(before, _)| came[before]);
                let mut way: Vec<Seen> = back.map(|(_, saw)| saw).collect();
                way.reverse();
                return Some(way);
            }
            for &(saw, child) in self.locals.nodes[at as usize].kids.iter().filter(|(_, child)| child.how == How::On) {
                came.entry(child.to).or_insert_with(|| {
                    todo.push_back(child.to);
                    Some((at, saw))
                });
            }
        }
        None
    }

    /// Whether the text, run on this path, asks for what the local states on it say. Only its last
    /// step leads elsewhere than on.
    fn is_way(&self, survey: &Survey<'_>, path: &[Seen]) -> bool {
        let (pid, start) = (self.locals.pid(), &survey.world.start);
        let asked = survey.world.sim.asks_for(path, &mut || start(pid));
        let mut at = Some(ROOT);
        let mut expected = Vec::with_capacity(asked.len());
        for &saw in path {
            let Some(from) = at else { break };
            expected.push(self.locals.nodes[from as usize].position.op);
            at = match self.locals.child(from, saw) {
                Ok(child) if child.how == How::On => Some(child.to),
                Ok(child) if child.how == How::PassageEnded => Some(DONE),
                _ => None,
            };
        }
        expected.extend(at.map(|at| self.locals.nodes[at as usize].position.op));
        asked == expected
    }

    /// Compares local states that were found, some of them declared alike by the text, with its
    /// contents: wherever a history leads to a local state, its content must ask for the same and
    /// go on alike, with all values that were seen there. It makes at most `most` accesses, except
    /// to compare each local state once.
    fn compare_with(&mut self, survey: &mut Survey<'_>, found: &Locals, most: u64) -> Result<CrossChecked, TextError> {
        let (mut pairs, mut made) = (Pairs::new(found), CrossChecked { all: true, ..CrossChecked::default() });
        let mut is_once = true;
        while let Some((pair, is_first)) = pairs.next() {
            if is_once && !is_first {
                is_once = false;
                survey.left = survey.left.min(most.saturating_sub(survey.made));
            }
            let was_all = std::mem::replace(&mut made.all, true);
            self.compare_pair(survey, &mut pairs, pair, &mut made)?;
            if made.all {
                pairs.was_compared(pair);
            }
            made.all &= was_all;
            // The last walk may have been cut short without an error, and other pairs are left.
            if survey.is_spent {
                made.all = false;
                break;
            }
        }
        (made.merged, made.compared) = pairs.covered();
        if !survey.is_spent {
            made.all &= self.go_the_other_way(survey, None).is_ok();
        }
        Ok(made)
    }

    /// Compares what a content does at a local state with what was found there.
    fn compare_pair(
        &mut self,
        survey: &mut Survey<'_>,
        pairs: &mut Pairs<'_>,
        pair: Pair,
        made: &mut CrossChecked,
    ) -> Result<(), TextError> {
        let found = pairs.found;
        let (at, content, failed_at) = (pair.at, pair.content, pair.failed_at);
        let later = found.nodes[at as usize].position.label;
        let is_merged = !pairs.is_first(pair) && failed_at.is_none();
        let merged_at = pair.merged_at.or(is_merged.then_some(later));
        // If nothing was merged, it is not `keep` that makes the difference.
        let pid = found.pid();
        let differs = |later, made: &mut CrossChecked| match (merged_at, failed_at) {
            (Some(label), _) => Err(TextError::KeepHides { pid, label, later }),
            (None, Some(label)) => Err(TextError::TurnRemembers { pid, label }),
            (None, None) => {
                made.all = false;
                Ok(())
            }
        };
        // The first is looked at next, because the text is there already.
        for &(saw, child) in found.nodes[at as usize].kids.iter().rev() {
            made.continuations += 1;
            let mut then = child.to;
            let looked = self.look_on(survey, content, saw, &mut |_, _| {
                let kids = &found.nodes[then as usize].kids;
                let (saw, child) = kids.iter().find(|(_, child)| child.how == How::On).or(kids.first())?;
                then = child.to;
                Some(*saw)
            });
            if looked.is_err() {
                made.all = false;
                if survey.is_spent {
                    return Ok(());
                }
                continue;
            }
            if let Some(label) = self.remembers {
                return Err(TextError::TurnRemembers { pid, label });
            }
            let Ok(other) = self.locals.child(content, saw) else { return differs(later, made) };
            let [here, there] = [(found, child), (&self.locals, other)]
                .map(|(locals, child)| child.responds.map(|response| locals.responded(response)));
            if child.how != other.how || here != there {
                return differs(later, made);
            }
            let [here, there] =
                [(found, child.to), (&self.locals, other.to)].map(|(locals, to)| &locals.nodes[to as usize].position);
            if child.how == How::PassageEnded || child.how == How::Panicked {
                continue;
            }
            // After a failed turn, only what it asks for counts.
            let (is_same, asks_same) = (here == there, here.op == there.op);
            let label = here.label;
            if failed_at.is_some() && !asks_same {
                return differs(label, made);
            }
            if failed_at.is_none() && !is_same {
                // It is what the step leads to that is merged.
                let merged = merged_at.unwrap_or(label);
                return Err(TextError::KeepHides { pid, label: merged, later: label });
            }
            pairs.lead(pair, saw, child, Pair { at: child.to, content: other.to, merged_at, failed_at });
            if let Some(&again) = self.tried_again.get(&(content, saw)) {
                let failed_at = failed_at.or(Some(label));
                pairs.push(Pair { at: child.to, content: again, merged_at, failed_at });
            }
        }
        Ok(())
    }

    /// Goes on from the other history of each local state, and compares.
    /// `classes`: which contents go on alike, if that is known.
    fn go_the_other_way(&mut self, survey: &mut Survey<'_>, classes: Option<&[u32]>) -> Result<(), GivenUp> {
        for at in DONE as usize + 1..self.locals.nodes.len() {
            let Node { parent, came, .. } = self.locals.nodes[at];
            if self.others[at].is_none() {
                let before = self.others[parent as usize].as_ref();
                self.others[at] = before.map(|before| before.iter().copied().chain([came]).collect());
            }
            let Some(other) = self.others[at].clone().filter(|other| other.len() < LONGEST) else { continue };
            for &(saw, child) in &self.locals.nodes[at].kids {
                let history: Vec<Seen> = other.iter().copied().chain([saw]).collect();
                if !self.leads_to(survey, &history, child, classes)? {
                    return Err(GivenUp::Otherwise);
                }
            }
        }
        Ok(())
    }

    /// Whether a step that ends this history leads to where another of the same kind has led.
    fn leads_to(
        &self,
        survey: &mut Survey<'_>,
        history: &[Seen],
        child: Child,
        classes: Option<&[u32]>,
    ) -> Result<bool, GivenUp> {
        let reached = survey.walk(self.locals.pid(), history, false)?;
        if reached.responded.as_ref() != child.responds.map(|response| self.locals.responded(response)) {
            return Ok(false);
        }
        Ok(match (child.how, &reached.ran) {
            (How::PassageEnded, Ran::Ended) | (How::Panicked, Ran::Panicked(..)) => true,
            (How::FailedTurn { .. }, Ran::FailedTurn(head, _)) | (How::GoneRound, Ran::GoneRound(head)) => {
                child.to == ROOT
                    || self.is_at(&survey.walk(self.locals.pid(), &history[..*head], false)?, child.to, classes)
            }
            (How::On, Ran::Asks(..)) => self.is_at(&reached, child.to, classes),
            _ => false,
        })
    }

    /// Whether a text was left in this local state, or in one that goes on alike.
    fn is_at(&self, reached: &Reached, at: LocalId, classes: Option<&[u32]>) -> bool {
        let Ran::Asks(position, _) = &reached.ran else { return false };
        let known = reached.content.as_ref().and_then(|content| self.known.get(content)).zip(classes);
        *position == self.locals.nodes[at as usize].position
            && known.is_none_or(|(&known, classes)| classes[known as usize] == classes[at as usize])
    }

    /// Which contents go on alike (Moore, *Gedanken-experiments on Sequential Machines*, 1956):
    /// they are told apart by what they ask for, then again and again by where they lead.
    fn classes<T: Eq + Hash>(&self, asks: impl Fn(&Position) -> T) -> Vec<u32> {
        let Locals { nodes, panics, .. } = &self.locals;
        let mut classes = numbered((0..).zip(nodes).map(|(at, node)| {
            let kind = if at <= DONE { at } else { DONE + 1 };
            (kind, asks(&node.position), panics.get(&at))
        }));
        let mut many = 0;
        while many < classes.iter().max().map_or(0, |most| most + 1) {
            many = classes.iter().max().map_or(0, |most| most + 1);
            classes = numbered(nodes.iter().enumerate().map(|(at, node)| {
                let mut leads: Vec<_> =
                    node.kids.iter().map(|(saw, c)| (*saw, c.how, c.responds, classes[c.to as usize])).collect();
                leads.sort_unstable();
                (classes[at], leads)
            }));
        }
        classes
    }

    /// The smallest automaton that does the same.
    fn into_automaton(self, classes: &[u32]) -> Automaton {
        let Locals { nodes, panics, .. } = &self.locals;
        let mut states: Vec<State> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if classes[at] as usize == states.len() {
                let kids = node.kids.iter().map(|&(saw, c)| (saw, Child { to: classes[c.to as usize], ..c })).collect();
                let panic = panics.get(&(at as LocalId)).cloned();
                states.push(State { position: node.position.clone(), kids, panic });
            }
        }
        Automaton { states, responses: self.locals.responses, runs: self.locals.runs }
    }
}

/// A content, and the local state that a text declares it to be.
#[derive(Clone, Copy)]
struct Pair {
    at: LocalId,
    content: LocalId,
    /// The statement of the `keep` that has merged it with another, if one has.
    merged_at: Option<Label>,
    /// The statement of a wait of which a turn has failed on the way.
    failed_at: Option<Label>,
}

/// The pairs to compare, in an order that spends few accesses where they count: first each local
/// state with the content of the history by which it was found; then with one other content; then
/// with a third, and so on. Of equal ones the last comes first, because the text is near there.
struct Pairs<'l> {
    found: &'l Locals,
    /// For each local state, the content of the history by which it was found.
    first: Vec<Option<LocalId>>,
    /// Pairs with such contents; and others that were met on the way, not yet in order.
    firsts: Vec<Pair>,
    met: Vec<Pair>,
    others: BTreeMap<u32, Vec<Pair>>,
    /// What was in `others`, and whether after a failed turn.
    been: FxHashSet<(LocalId, LocalId, bool)>,
    states: Vec<Merged>,
}

/// What is known of the merges into a local state.
#[derive(Clone, Copy, Default)]
struct Merged {
    /// Steps that lead here, beside that by which it was found; and those of them that were not
    /// looked at.
    steps: u32,
    unknown: u32,
    /// Contents besides the first; how many of them were compared; and contents after turns that
    /// failed.
    contents: u32,
    compared: u32,
    turns: u32,
}

impl<'l> Pairs<'l> {
    fn new(found: &'l Locals) -> Self {
        let mut states = vec![Merged::default(); found.nodes.len()];
        for to in found.merges_into() {
            states[to as usize].steps += 1;
            states[to as usize].unknown += 1;
        }
        let mut first = vec![None; found.nodes.len()];
        first[ROOT as usize] = Some(ROOT);
        let firsts = vec![Pair { at: ROOT, content: ROOT, merged_at: None, failed_at: None }];
        let (met, others, been) = Default::default();
        Self { found, first, firsts, met, others, been, states }
    }

    /// The next, and whether its local state is compared with no more than one other content
    /// before.
    fn next(&mut self) -> Option<(Pair, bool)> {
        if let Some(pair) = self.firsts.pop() {
            return Some((pair, true));
        }
        std::mem::take(&mut self.met).into_iter().for_each(|pair| self.order(pair));
        let mut next = self.others.first_entry()?;
        let rank = *next.key();
        let pair = next.get_mut().pop();
        if next.get().is_empty() {
            next.remove();
        }
        pair.map(|pair| (pair, rank == 0))
    }

    fn is_first(&self, pair: Pair) -> bool {
        self.first[pair.at as usize] == Some(pair.content)
    }

    /// Where a step leads from a pair.
    fn lead(&mut self, from: Pair, saw: Seen, child: Child, to: Pair) {
        let is_first = self.is_first(from) && from.failed_at.is_none();
        if is_first && child.how == How::On {
            if self.found.is_found_by(child.to, from.at, saw) {
                self.first[child.to as usize] = Some(to.content);
                return self.firsts.push(to);
            }
            self.states[child.to as usize].unknown -= 1;
        }
        self.push(to);
    }

    fn push(&mut self, pair: Pair) {
        self.met.push(pair);
    }

    /// Puts a pair that is not known in order. All first contents are known by now.
    fn order(&mut self, pair: Pair) {
        let Pair { at, content, failed_at, .. } = pair;
        // After a failed turn, less is compared.
        let is_known = self.is_first(pair) || self.been.contains(&(at, content, false));
        if is_known || !self.been.insert((at, content, failed_at.is_some())) {
            return;
        }
        let Merged { contents, turns, .. } = &mut self.states[at as usize];
        let many = if failed_at.is_some() { turns } else { contents };
        self.others.entry(*many).or_default().push(pair);
        *many += 1;
    }

    /// This pair goes on alike, for one step at least.
    fn was_compared(&mut self, pair: Pair) {
        if !self.is_first(pair) && pair.failed_at.is_none() {
            self.states[pair.at as usize].compared += 1;
        }
    }

    /// How many local states are merged, and how many of these were compared: with another content,
    /// if there is one.
    fn covered(&self) -> (usize, usize) {
        let merged = || self.states.iter().filter(|state| state.steps > 0);
        let compared = merged().filter(|state| state.compared > 0 || state.unknown + state.contents == 0);
        (merged().count(), compared.count())
    }
}

/// A number for each, in the order of their first occurrence; the same for equal ones.
fn numbered<T: Eq + Hash>(all: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers = FxHashMap::default();
    all.map(|one| {
        let next = numbers.len() as u32;
        *numbers.entry(one).or_insert(next)
    })
    .collect()
}
