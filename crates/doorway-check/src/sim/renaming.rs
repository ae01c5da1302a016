//! States that differ only in the names of processes, compared without being changed.
//!
//! A *renaming* is a permutation σ of the processes. It acts on a state: process `p` becomes
//! `σ(p)`, entry `p` of a row with one entry for each process becomes entry `σ(p)`, words that
//! [name processes](doorway_core::memory::Word::renamed) name others, and the local state of `p`
//! becomes the one that `σ(p)` is in after the same history, renamed. If σ leads steps to steps,
//! then what follows from a state and what follows from its image are images too, and one of them
//! is enough for a property that does not tell processes apart. The initial state may tell them
//! apart: `turn = p0` at first is as good as `turn = p1`. As with [`Numbers`](super::Numbers), a
//! state stays as it was found, and only the form in which states are compared is the least of all
//! images. So every run that a search finds is one of the machine as it is.
//!
//! The text need not declare what is symmetric. Before the search, a few thousand states tell which
//! renamings may be symmetries, and which rows have an entry for each process. That is a guess.
//! After the search, [`World::check_renamings`] compares everything that the search has used:
//!
//! - for each local state that was found, its image asks for the image of what it asks for;
//! - for each value that was seen there, the image leads to the image of where it led, and the
//!   access leaves the image of what it left;
//! - the images of images are those of the composed renamings.
//!
//! So let `s` be a state that was explored, and `t = σ(s)` one that was not. A step of `s` is made
//! of accesses that the search has used. By the first two points the same accesses, renamed, are a
//! step of `t`, and it leads to the image of where the step of `s` led. That state was found, or
//! an image of it was; by the third point, so was one of which it is the image by a single
//! renaming. By induction every reachable state is an image of one that was found.
//!
//! A text whose processes look at each other in the order of their names is not symmetric, and
//! neither is one that compares names. Both are refused, and the error says where two processes
//! part.

use super::canon::{Canonical, Dead};
use super::layout::VarId;
use super::learn::{Halt, Missing};
use super::locals::{DONE, Locals};
use super::memory::{Position, Seen};
use super::op::Op;
use super::world::{Machine, State, World};
use super::{LocalId, TextError};
use doorway_core::memory::{Home, Pid, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// More processes than this keep their names: the images of a state are this factorial.
const MOST_RENAMED: usize = 6;
/// How many states tell which renamings may be symmetries.
const LOOKED_AT: usize = 2_000;
/// How many accesses an error shows of the way to where two processes part.
const SHOWN: usize = 6;

/// A permutation of the processes, and what it does to variables.
#[derive(Clone, Debug)]
struct Renaming {
    to: Vec<usize>,
    vars: Vec<VarId>,
}

/// The renamings, the first of which changes nothing, and the images of local states.
#[derive(Debug)]
pub(super) struct Renamings {
    all: Vec<Renaming>,
    /// For each process and local state that was met: its images, and the least of them.
    images: Vec<Vec<Option<Images>>>,
}

#[derive(Clone, Debug)]
struct Images {
    to: Box<[LocalId]>,
    least: (usize, LocalId),
}

/// How the entries of a row, or of a table, are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Index {
    Fixed,
    ByProcess,
    /// The rows of a table belong to processes, and perhaps its columns.
    ByRow(usize),
    ByRowAndColumn(usize),
}

impl Index {
    fn renamed(self, at: usize, to: &[usize]) -> usize {
        match self {
            Self::Fixed => at,
            Self::ByProcess => to[at],
            Self::ByRow(columns) => to[at / columns] * columns + at % columns,
            Self::ByRowAndColumn(columns) => to[at / columns] * columns + to[at % columns],
        }
    }
}

/// All permutations of the first processes; the first changes nothing.
fn permutations(processes: usize) -> Vec<Vec<usize>> {
    let mut all = vec![(0..processes).collect::<Vec<_>>()];
    for i in 1..processes.min(MOST_RENAMED) {
        for at in 0..all.len() {
            for j in 0..i {
                let mut more = all[at].clone();
                more.swap(i, j);
                all.push(more);
            }
        }
    }
    all
}

/// Some renamings of which all others are made, and what each is together with every other: the
/// number of the one that has the effect of both.
fn composed(all: &[Renaming]) -> Result<Vec<(usize, Vec<usize>)>, TextError> {
    let number: FxHashMap<&[usize], usize> = all.iter().enumerate().map(|(k, by)| (&*by.to, k)).collect();
    let mut reached = FxHashSet::from_iter([0]);
    let mut some = Vec::new();
    for (j, then) in all.iter().enumerate() {
        if reached.contains(&j) {
            continue;
        }
        let mut both = Vec::new();
        for by in all {
            let to: Vec<usize> = by.to.iter().map(|&p| then.to[p]).collect();
            let vars = by.vars.iter().map(|&v| then.vars[v as usize]);
            let known = number.get(&*to).filter(|&&k| vars.eq(all[k].vars.iter().copied()));
            both.extend(known);
            if known.is_none() {
                let why = format!("{}, and {}, but not both", in_words(&by.to), in_words(&then.to));
                return Err(TextError::NotSymmetric(why.into()));
            }
        }
        some.push((j, both));
        let mut todo: Vec<usize> = reached.iter().copied().collect();
        while let Some(k) = todo.pop() {
            todo.extend(some.iter().map(|(_, both)| both[k]).filter(|&both| reached.insert(both)));
        }
    }
    Ok(some)
}

/// In words.
fn in_words(to: &[usize]) -> String {
    let moved: Vec<usize> = (0..to.len()).filter(|&p| to[p] != p).collect();
    match *moved {
        [p, q] => format!("p{p} and p{q} change places"),
        _ => moved.iter().map(|&p| format!("p{p} is p{}", to[p])).collect::<Vec<_>>().join(", "),
    }
}

impl Renaming {
    fn name(&self, p: Pid) -> Pid {
        self.to.get(p.index()).map_or(p, |&to| Pid::new(to))
    }
}

impl Machine {
    fn renamed_word(&self, by: &Renaming, v: VarId, word: u64) -> u64 {
        self.layout().var(v).renamed(word, &|p| by.name(p))
    }

    /// What a process would have seen, if processes had other names.
    fn renamed_seen(&self, by: &Renaming, op: Op, seen: Seen) -> Seen {
        match (op, op.var()) {
            (Op::Write(..), _) | (_, None) => seen,
            (_, Some(v)) => Seen { value: self.renamed_word(by, v, seen.value), ..seen },
        }
    }

    fn renamed_op(&self, by: &Renaming, op: Op) -> Op {
        let Some(v) = op.var() else { return op };
        let word = |x| self.renamed_word(by, v, x);
        let renamed = match op {
            Op::Write(_, x) => Op::Write(v, word(x)),
            Op::Swap(_, x) => Op::Swap(v, word(x)),
            Op::CompareSwap(_, old, x) => Op::CompareSwap(v, word(old), word(x)),
            other => other,
        };
        renamed.on(by.vars[v as usize])
    }

    /// Whether a process asks for the image of what another asks for.
    fn is_image(&self, by: &Renaming, here: &Position, there: &Position) -> bool {
        let whereabouts = |at: &Position| {
            let rest = (at.part, at.label, at.phase, at.doorway_done, at.joined, at.in_block);
            (rest, at.rests.clone(), at.invokes.clone())
        };
        let mut watched: Vec<VarId> = here.watched.iter().map(|&v| by.vars[v as usize]).collect();
        let mut theirs = there.watched.to_vec();
        watched.sort_unstable();
        theirs.sort_unstable();
        self.renamed_op(by, here.op) == there.op && whereabouts(here) == whereabouts(there) && watched == theirs
    }

    /// Adds the images of the values of variables.
    pub(super) fn add_images(&self, values: &mut [BTreeSet<u64>]) {
        for by in self.renamings.iter().flat_map(|known| &known.all) {
            for v in 0..values.len() {
                let images: Vec<u64> = values[v].iter().map(|&x| self.renamed_word(by, v as VarId, x)).collect();
                values[by.vars[v] as usize].extend(images);
            }
        }
    }

    /// How many renamings there are; one of them changes nothing.
    pub(crate) fn renamings(&self) -> usize {
        self.renamings.as_ref().map_or(1, |renamings| renamings.all.len())
    }

    /// Whether states that differ in the names of processes are one.
    pub(crate) fn renames(&self) -> bool {
        self.renamings.is_some()
    }

    fn images<'a>(&self, known: &'a Renamings, p: usize, at: LocalId) -> Result<&'a Images, Halt> {
        let images = known.images[p].get(at as usize).and_then(Option::as_ref);
        images.ok_or(Halt::Missing(Missing::Images(p, at)))
    }

    /// The renamings that may lead to the least image of a state: those that sort its processes by
    /// their local states, as these are up to renaming.
    pub(crate) fn renamings_to_least(&self, state: &State, out: &mut Vec<usize>) -> Result<(), Halt> {
        out.clear();
        let Some(known) = &self.renamings else { return Ok(()) };
        let mut least = Vec::with_capacity(state.locals.len());
        for (p, &at) in state.locals.iter().enumerate() {
            least.push(self.images(known, p, at)?.least);
        }
        let (mut best, mut sorted) = (Vec::new(), vec![(0, 0); least.len()]);
        for (k, by) in known.all.iter().enumerate() {
            for (p, &to) in by.to.iter().enumerate() {
                sorted[to] = least[p];
            }
            if best.is_empty() || sorted < best {
                best.clone_from(&sorted);
                out.clear();
            }
            if sorted == best {
                out.push(k);
            }
        }
        Ok(())
    }

    /// The image of a state.
    pub(crate) fn renamed(&self, state: &State, k: usize, out: &mut State) -> Result<(), Halt> {
        out.clone_from(state);
        let Some(known) = self.renamings.as_ref().filter(|_| k != 0) else { return Ok(()) };
        let by = &known.all[k];
        for (v, &word) in state.vars.iter().enumerate() {
            out.vars[by.vars[v] as usize] = self.renamed_word(by, v as VarId, word);
        }
        let mask = |mask: u64| (0..by.to.len().min(64)).filter(|&p| mask >> p & 1 == 1).map(|p| 1 << by.to[p]).sum();
        for (p, &to) in by.to.iter().enumerate() {
            out.locals[to] = self.images(known, p, state.locals[p])?.to[k];
            if let Some(&passages) = state.passages.get(p) {
                out.passages[to] = passages;
            }
            if let Some(&before) = state.before.get(p) {
                out.before[to] = mask(before);
            }
            if let Some(&owes) = state.owes.get(p) {
                out.owes[to] = if owes == 0 { 0 } else { by.vars[owes as usize - 1] + 1 };
            }
        }
        let [crashed, passed, asleep] = [state.crashed, state.passed, state.asleep].map(mask);
        (out.crashed, out.passed, out.asleep) = (crashed, passed, asleep);
        Ok(())
    }

    /// What a process asks for, for people.
    fn asks(&self, op: Op) -> String {
        let Some(v) = op.var() else { return "does something else".to_owned() };
        let (layout, name) = (self.layout(), self.layout().short_name(v));
        let show = |word| layout.var(v).show(word);
        match op {
            Op::Read(_) => format!("reads {name}"),
            Op::Write(_, x) => format!("writes {name} := {}", show(x)),
            Op::Swap(_, x) => format!("swaps {} into {name}", show(x)),
            Op::CompareSwap(_, old, x) => format!("changes {name} from {} to {}", show(old), show(x)),
            _ => format!("changes {name}"),
        }
    }

    /// Where two processes part, for people.
    fn parts(&self, by: &Renaming, p: usize, at: LocalId, there: &Position) -> TextError {
        let (here, q) = (&self.locals[p].nodes[at as usize].position, by.to[p]);
        let mut way = Vec::new();
        let mut node = at;
        while node > DONE && way.len() < SHOWN {
            let (came, parent) = (self.locals[p].nodes[node as usize].came, self.locals[p].nodes[node as usize].parent);
            let before = &self.locals[p].nodes[parent as usize].position;
            way.push(format!("{}: {}", before.label, before.op.describe(self.layout(), before.part, came.value)));
            node = parent;
        }
        way.reverse();
        let way = if way.is_empty() { "At first".to_owned() } else { format!("After {}", way.join("; ")) };
        let should = self.renamed_op(by, here.op);
        let does = if should == there.op {
            format!("does so at statement {} or in another section, or goes on otherwise", there.label)
        } else {
            format!("{} at {}", self.asks(there.op), there.label)
        };
        TextError::NotSymmetric(
            format!(
                "if {}, then p{q} should do what p{p} does, with other names. {way}, p{p} {} at {}; so p{q} should be \
                 one that {}, but it {does}",
                in_words(&by.to),
                self.asks(here.op),
                here.label,
                self.asks(should),
            )
            .into(),
        )
    }
}

impl World {
    /// Finds the renamings that seem to be symmetries of this machine, and compares states up to
    /// them from now on.
    ///
    /// # Errors
    /// Returns an error if there is none, or the rules or the machine do not allow it.
    pub(crate) fn find_renamings(&mut self, initial: &State) -> Result<(), TextError> {
        let (rules, none) = (self.rules(), |why: &str| Err(TextError::NotSymmetric(why.into())));
        if self.weakest_register() < Register::Atomic {
            return none("registers are not atomic, and what a torn read returns has no names to change");
        }
        if rules.switches.is_some() || rules.measure.is_some() {
            return none("what is counted, switches or remote references, depends on who is who");
        }
        // A canon keeps a state that does what this one does, and so does each image of that.
        let canon_may = self.canon.as_ref().is_none_or(Canonical::suits_renaming);
        if !canon_may || self.keeps_counters_small() || self.alike.is_some() || !self.bytes.is_empty() {
            return none("other states are taken for one already, or processes notice deaths");
        }
        if self.heard.is_some() || !self.watchers.is_empty() {
            return none("operations and monitors are about certain processes");
        }
        let locals = (0..self.processes()).map(|p| Locals::new(&self.sim, &*self.start, Pid::new(p), 1000));
        let locals = locals.collect::<Result<Vec<_>, _>>()?;
        let mut scratch = self.with_other_locals(rules, locals, None);
        scratch.look_around(initial)?;
        let (mut all, mut first) = (Vec::new(), None);
        for to in permutations(self.processes()) {
            match scratch.try_renaming(to) {
                Ok(renaming) => all.push(renaming),
                Err(why) => drop(first.get_or_insert(why)),
            }
        }
        if all.len() < 2 {
            return Err(first.unwrap_or(TextError::NotSymmetric("there is only one process".into())));
        }
        self.machine.renamings = Some(Renamings { all, images: vec![Vec::new(); self.processes()] });
        Ok(())
    }

    /// Visits some states, so that the local states of the beginning are known.
    fn look_around(&mut self, initial: &State) -> Result<(), TextError> {
        let (mut been, mut todo) = (FxHashSet::from_iter([initial.clone()]), VecDeque::from([initial.clone()]));
        let mut actions = Vec::new();
        while let Some(state) = todo.pop_front().filter(|_| been.len() < LOOKED_AT) {
            actions.clear();
            (0..self.processes()).for_each(|p| self.actions(&state, p, &mut actions));
            for &action in &actions {
                let mut next = state.clone();
                if self.act(&mut next, action)?.is_some() && been.insert(next.clone()) {
                    todo.push_back(next);
                }
            }
        }
        Ok(())
    }

    /// Whether a permutation may be a symmetry, as far as these local states tell.
    fn try_renaming(&mut self, to: Vec<usize>) -> Result<Renaming, TextError> {
        let vars = (0..self.layout().vars().len() as VarId).collect();
        let mut by = Renaming { to, vars };
        let mut rows = self.rows(&by)?;
        let found: Vec<usize> = self.locals.iter().map(|locals| locals.nodes.len()).collect();
        // Where the other process goes does not depend on which variable it asks for. So images
        // come first, and what they ask for tells how rows are indexed.
        let mut images: Vec<Vec<LocalId>> = Vec::new();
        for (p, &many) in found.iter().enumerate() {
            let mut of_process = vec![0, DONE];
            for at in DONE + 1..many as LocalId {
                let before = of_process[self.locals[p].nodes[at as usize].parent as usize];
                of_process.push(self.image_by(&by, p, at, before)?);
            }
            for (at, &image) in of_process.iter().enumerate() {
                let [here, there] = [(p, at), (by.to[p], image as usize)];
                let [here, there] = [here, there].map(|(p, at)| self.locals[p].nodes[at].position.op.var());
                if let (Some(here), Some(there)) = (here, there) {
                    rows.iter_mut().for_each(|row| row.told(here, there, &by.to));
                }
            }
            images.push(of_process);
        }
        for row in &rows {
            let index = row.may.first().copied().unwrap_or(Index::Fixed);
            for at in 0..row.len {
                by.vars[row.first + at] = (row.first + index.renamed(at, &by.to)) as VarId;
            }
        }
        for (p, of_process) in images.iter().enumerate() {
            for (at, &image) in of_process.iter().enumerate() {
                let there = &self.locals[by.to[p]].nodes[image as usize].position;
                if !self.is_image(&by, &self.locals[p].nodes[at].position, there) {
                    return Err(self.parts(&by, p, at as LocalId, there));
                }
            }
        }
        Ok(by)
    }

    /// The rows, and how their entries may be found so that homes agree.
    fn rows(&self, by: &Renaming) -> Result<Vec<Row>, TextError> {
        let (layout, n) = (self.layout(), self.processes());
        let mut rows = Vec::new();
        for (name, first, len) in layout.declared() {
            let (first, len) = (first as usize, len as usize);
            let table = layout.var(first as VarId).name().table;
            let mut may = vec![Index::Fixed];
            match table {
                Some((0, columns)) if len == n * columns => {
                    may.push(Index::ByRow(columns));
                    may.extend((columns == n).then_some(Index::ByRowAndColumn(columns)));
                }
                None if len == n => may.push(Index::ByProcess),
                _ => {}
            }
            may.reverse();
            may.retain(|index| {
                (0..len).all(|at| {
                    let [here, there] = [at, index.renamed(at, &by.to)].map(|at| layout.var((first + at) as VarId));
                    let home = match here.home {
                        Home::Of(p) => Home::Of(by.name(p)),
                        other => other,
                    };
                    home == there.home
                })
            });
            if may.is_empty() {
                let why = format!("if {}, {name} has another home", in_words(&by.to));
                return Err(TextError::NotSymmetric(why.into()));
            }
            rows.push(Row { first, len, may });
        }
        Ok(rows)
    }

    /// The image of a local state; `from` is that of the one before it.
    fn image_by(&mut self, by: &Renaming, p: usize, at: LocalId, from: LocalId) -> Result<LocalId, TextError> {
        let node = &self.locals[p].nodes[at as usize];
        let (parent, came) = (node.parent, node.came);
        let seen = self.renamed_seen(by, self.locals[p].nodes[parent as usize].position.op, came);
        let q = by.to[p];
        Ok(self.knowing(|machine| machine.locals[q].child(from, seen))?.to)
    }

    /// Finds the images of a local state.
    pub(super) fn learn_images(&mut self, p: usize, at: LocalId) -> Result<(), TextError> {
        // The way to it, from the first one whose images are not known.
        let mut way = vec![at];
        while let Some(&next) = way.last().filter(|&&next| next > DONE) {
            let parent = self.locals[p].nodes[next as usize].parent;
            if self.known_images(p, parent).is_some() {
                break;
            }
            way.push(parent);
        }
        for &at in way.iter().rev() {
            self.learn_images_after(p, at)?;
        }
        Ok(())
    }

    fn known_images(&self, p: usize, at: LocalId) -> Option<&Images> {
        self.renamings.as_ref()?.images[p].get(at as usize)?.as_ref()
    }

    fn learn_images_after(&mut self, p: usize, at: LocalId) -> Result<(), TextError> {
        let Some(known) = &self.renamings else { return Ok(()) };
        let all = known.all.clone();
        let mut to = Vec::with_capacity(all.len());
        for (k, by) in all.iter().enumerate() {
            let image = if at <= DONE || k == 0 {
                at
            } else {
                let parent = self.locals[p].nodes[at as usize].parent;
                let before = self.known_images(p, parent).map_or(parent, |images| images.to[k]);
                self.image_by(by, p, at, before)?
            };
            let there = &self.locals[by.to[p]].nodes[image as usize].position;
            if !self.is_image(by, &self.locals[p].nodes[at as usize].position, there) {
                return Err(self.parts(by, p, at, there));
            }
            to.push(image);
        }
        let least = all.iter().zip(&to).map(|(by, &image)| (by.to[p], image)).min().unwrap_or((p, at));
        let many = self.locals[p].nodes.len().max(at as usize + 1);
        let Some(known) = &mut self.machine.renamings else { return Ok(()) };
        let images = &mut known.images[p];
        if images.len() <= at as usize {
            images.resize(many, None);
        }
        images[at as usize] = Some(Images { to: to.into(), least });
        Ok(())
    }

    /// Which local state stands for dead processes like this one: the image of what stands for them
    /// if they have another name.
    pub(super) fn learn_dead(&mut self, class: Dead, at: LocalId) -> Result<(), TextError> {
        let p = class.0;
        let swaps = |by: &Renaming| by.to[p] == 0 && by.to[0] == p;
        let swap = self.renamings.as_ref().and_then(|known| known.all.iter().position(swaps));
        let stands = match swap.filter(|_| p != 0) {
            Some(swap) => {
                let first = (0, class.1, class.2, class.3);
                let image = self.image(swap, p, at)?;
                let stands = self.machine.canon.as_mut().map(|canon| canon.learn_dead(first, image));
                self.image(swap, 0, stands.unwrap_or(image))?
            }
            None => at,
        };
        self.machine.canon.iter_mut().for_each(|canon| _ = canon.learn_dead(class, stands));
        Ok(())
    }

    fn image(&mut self, k: usize, p: usize, at: LocalId) -> Result<LocalId, TextError> {
        if self.known_images(p, at).is_none() {
            self.learn_images(p, at)?;
        }
        Ok(self.known_images(p, at).map_or(at, |images| images.to[k]))
    }

    /// Checks that the renamings are symmetries of all that was found.
    ///
    /// # Errors
    /// Returns an error if one is not.
    pub(crate) fn check_renamings(&mut self) -> Result<(), TextError> {
        let Some(known) = &self.renamings else { return Ok(()) };
        let all = known.all.clone();
        let composed = composed(&all)?;
        // So that the images of images are known too.
        for p in 0..self.processes() {
            for at in 0..self.locals[p].nodes.len() as LocalId {
                self.image(0, p, at)?;
            }
        }
        let found: Vec<usize> = self.locals.iter().map(|locals| locals.nodes.len()).collect();
        for (p, &many) in found.iter().enumerate() {
            for at in 0..many as LocalId {
                let node = &self.locals[p].nodes[at as usize];
                let (op, kids) = (node.position.op, node.kids.clone());
                for (k, by) in all.iter().enumerate() {
                    let (q, image) = (by.to[p], self.image(k, p, at)?);
                    let differs = |world: &Self| {
                        let there = &world.locals[q].nodes[image as usize].position;
                        Err(world.parts(by, p, at, there))
                    };
                    for &(saw, child) in &kids {
                        let seen = self.renamed_seen(by, op, saw);
                        let there = self.knowing(|machine| machine.locals[q].child(image, seen))?;
                        if (there.how, there.to) != (child.how, self.image(k, p, child.to)?)
                            || !self.leaves_the_image(by, op, saw.value)
                        {
                            return differs(self);
                        }
                    }
                    for &(j, ref both) in &composed {
                        let both = both[k];
                        let word = |v: VarId, x: u64| {
                            let once = self.renamed_word(by, v, x);
                            self.renamed_word(&all[j], by.vars[v as usize], once) == self.renamed_word(&all[both], v, x)
                        };
                        let words = op.var().is_none_or(|v| kids.iter().all(|(saw, _)| word(v, op.leaves(saw.value))));
                        if !words || self.image(j, q, image)? != self.image(both, p, at)? {
                            return differs(self);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether an access to the image of a value leaves the image of what it leaves, and no two
    /// values have the same image.
    fn leaves_the_image(&self, by: &Renaming, op: Op, old: u64) -> bool {
        let Some(v) = op.var() else { return true };
        let mut back = by.clone();
        for (p, &to) in by.to.iter().enumerate() {
            back.to[to] = p;
        }
        let (var, to) = (self.layout().var(v), self.layout().var(by.vars[v as usize]));
        let [left, renamed] = [op.leaves(old), self.renamed_op(by, op).leaves(self.renamed_word(by, v, old))];
        let left = var.fit(left);
        let is_injective = |word| self.renamed_word(&back, v, self.renamed_word(by, v, word)) == word;
        self.renamed_word(by, v, left) == to.fit(renamed) && is_injective(old) && is_injective(left)
    }
}

/// Variables that were declared together.
struct Row {
    first: usize,
    len: usize,
    /// How its entries may be found, the most likely first.
    may: Vec<Index>,
}

impl Row {
    /// Where one process asks for `here`, its image asks for `there`.
    fn told(&mut self, here: VarId, there: VarId, to: &[usize]) {
        let within = |v: VarId| (v as usize).checked_sub(self.first).filter(|&at| at < self.len);
        if let (Some(here), Some(there)) = (within(here), within(there)) {
            // If nothing fits, the processes part, and what was most likely tells where.
            let fits = |index: &Index| index.renamed(here, to) == there;
            if self.may.iter().any(fits) {
                self.may.retain(fits);
            }
        }
    }
}
