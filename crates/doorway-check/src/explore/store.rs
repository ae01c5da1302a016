//! The states found so far, exactly, in few bytes.
//!
//! A state is written as a string of bytes: narrow variables side by side, then small numbers, most
//! of them in one byte each. Few combinations of variables occur, compared with the number of
//! states. So a state does not contain its variables, but the number of their combination, and the
//! same holds of what is left beside the local states. A hash table finds states by their strings.
//! For each state the store keeps the step that first led to it, which gives shortest traces.

use super::ahead::ask_for;
use super::bits::Bits;
use super::bytes::{number_in, pack_bits, pop, push, unpack_bits, unzigzag, zigzag};
use super::strings::Strings;
use super::table::{MOST, Table, tag};
use crate::sim::{Action, Halt, Machine, Number, State, TextError, World};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A state, by the order of its discovery.
pub(super) type StateId = u32;

/// No search has more states: a few numbers are left for those that have no number yet.
pub(super) const MOST_STATES: usize = (MOST - (1 << 24)) as usize;

/// How many tables share the states, by the highest bits of their hashes. Each grows on its own, so
/// never all of them at once.
pub(super) const SHARDS: usize = 64;

/// How many states there are to each parent that is kept in full.
const BLOCK: usize = 64;

/// A combination of at least this many bytes is kept once, and not in each state.
const SHARED: usize = 4;

#[derive(Debug)]
pub(super) struct Store {
    parts: Parts,
    /// The combinations of variables, and of what is left beside variables and local states.
    vars: Option<Pieces>,
    rest: Option<Pieces>,
    pub(super) shards: Vec<Table>,
    /// Instead of tables, if only the bits of states are kept.
    pub(super) bits: Vec<Bits>,
    /// Of the states in this many segments only how they were found is kept.
    forgotten: usize,
    /// For each state how it was found, and the state.
    found: Strings,
    /// For each block of states the parent of the first.
    parents: Vec<StateId>,
    last_parent: StateId,
    processes: usize,
    how: Vec<u8>,
}

/// Combinations that occur in states, each once.
#[derive(Debug)]
struct Pieces {
    strings: Strings,
    table: Table,
}

/// Buffers for one state at a time.
#[derive(Default, Debug)]
pub(super) struct Spare {
    /// What was written last, in full.
    pub(super) raw: Raw,
    /// A known state, and the form in which it is compared.
    state: Option<State>,
    known: Vec<u8>,
    exactly: Raw,
    numbers: Vec<Number>,
    /// The renamings to try, and the image by one of them.
    renamings: Vec<usize>,
    image: State,
}

/// New states, as the store keeps them, in runs: states with numbers one after the other.
#[derive(Default, Debug)]
pub(super) struct News {
    /// One for each run of steps, also if none of them leads to a new state.
    runs: Vec<NewRun>,
    bytes: Vec<u8>,
    lens: Vec<u32>,
    /// The parents of states that begin a block, if these are not the first of their run.
    parents: Vec<StateId>,
}

/// New states of one run. How the first was found is written last, because it depends on the run
/// before, which another thread may write.
#[derive(Clone, Copy, Default, Debug)]
struct NewRun {
    /// The parent of the first and the number of its action.
    parent: StateId,
    action: u32,
    last_parent: StateId,
    /// Where its states, their bytes and parents end. Those of the run before end where its own
    /// begin.
    lens: u32,
    bytes: u32,
    parents: u32,
}

impl News {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.bytes.clear();
        self.lens.clear();
        self.parents.clear();
    }

    /// Writes a run of states that begins with the number `next`: for each its parent, the number
    /// of the action, and its short form.
    pub(super) fn write<'a>(&mut self, next: StateId, states: impl Iterator<Item = (StateId, u32, &'a [u8])>) {
        let mut run = NewRun::default();
        for (id, (parent, action, short)) in (next..).zip(states) {
            let from = self.bytes.len();
            if id == next {
                (run.parent, run.action) = (parent, action);
            } else {
                let begins_block = (id as usize).is_multiple_of(BLOCK);
                if begins_block {
                    self.parents.push(parent);
                }
                push(&mut self.bytes, u64::from(if begins_block { 0 } else { parent - run.last_parent }));
                push(&mut self.bytes, u64::from(action));
            }
            self.bytes.extend_from_slice(short);
            self.lens.push((self.bytes.len() - from) as u32);
            run.last_parent = parent;
        }
        let [lens, bytes, parents] = [self.lens.len(), self.bytes.len(), self.parents.len()].map(|len| len as u32);
        self.runs.push(NewRun { lens, bytes, parents, ..run });
    }
}

/// Where a state was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// `None` if it follows from the short form, and there is none yet.
    pub(super) hash: Option<u64>,
    /// Whether it has pieces without a number: then it has no short form yet.
    pub(super) loose: bool,
    pub(super) from: usize,
    pub(super) compared: usize,
    pub(super) to: usize,
}

/// A state in short form, and in the form in which it is compared, if that is another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms<'a> {
    pub(super) short: &'a [u8],
    pub(super) compared: &'a [u8],
}

impl Forms<'_> {
    /// Whether two states that are written alike are one.
    pub(super) fn is_same(self, other: Self) -> bool {
        if self.compared.is_empty() { self.short == other.short } else { self.compared == other.compared }
    }
}

/// A state written in full, and where its local states begin and end.
#[derive(Clone, Default, Debug)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    locals: (usize, usize),
}

/// The components of a state.
#[derive(Debug)]
struct Parts {
    /// The narrow variables and their widths, and how many bytes they take; and the others.
    narrow: Vec<(usize, u32)>,
    packed: usize,
    wide: Vec<usize>,
    /// Which optional components exist: crashes, writes in progress, order, cache, sleep, turns,
    /// calls, deaths.
    optional: [bool; 8],
    /// The greatest length of the variables, of the local states, and of what is left.
    longest: [usize; 3],
}

impl Pieces {
    fn new(longest: usize) -> Self {
        Self { strings: Strings::new(longest), table: Table::default() }
    }

    fn find(&self, piece: &[u8]) -> Option<u32> {
        self.table.find(tag(hash(piece)), |id| self.strings.get(id as usize) == piece).ok()
    }

    fn add(&mut self, piece: &[u8]) {
        if self.find(piece).is_none() {
            let id = self.strings.add([piece, &[]]);
            self.table.add(tag(hash(piece)), id as u32);
        }
    }

    fn bytes(&self) -> usize {
        self.strings.bytes() + self.table.bytes()
    }
}

/// Writes a piece, or its number if its kind is kept once. Returns `false` if it has no number yet.
fn tie(piece: &[u8], pieces: Option<&Pieces>, tied: &mut Vec<u8>) -> bool {
    match pieces {
        None => tied.extend_from_slice(piece),
        Some(pieces) => match pieces.find(piece) {
            Some(id) => push(tied, u64::from(id)),
            None => return false,
        },
    }
    true
}

impl Store {
    /// Keeps states exactly, or only bits of them, in this many bytes.
    pub(super) fn new(machine: &Machine, bits: Option<usize>) -> Self {
        let parts = Parts::new(machine);
        let [vars, locals, rest] = parts.longest;
        let kept_once = |least: usize, longest: usize| (least >= SHARED).then(|| Pieces::new(longest));
        let least_vars = parts.narrow.iter().map(|(_, width)| *width as usize).sum::<usize>() / 8 + parts.wide.len();
        // A step has a parent of at most five bytes, and an action of at most five.
        let found = Strings::new(10 + vars + locals + rest);
        Self {
            vars: kept_once(least_vars, vars),
            rest: kept_once(parts.numbers_in_rest(machine), rest),
            shards: std::iter::repeat_with(Table::default).take(SHARDS).collect(),
            bits: bits.map_or(Vec::new(), |bytes| (0..SHARDS).map(|_| Bits::new(bytes / SHARDS)).collect()),
            forgotten: 0,
            found,
            parents: Vec::new(),
            last_parent: 0,
            processes: machine.processes(),
            how: Vec::new(),
            parts,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Writes a state at the end of `bytes`: first in short form, then, if states have numbers, in
    /// the form in which they are compared.
    ///
    /// # Errors
    /// If the machine does not know what it needs for that.
    pub(super) fn write(
        &self,
        machine: &Machine,
        state: &State,
        spare: &mut Spare,
        bytes: &mut Vec<u8>,
    ) -> Result<Written, Halt> {
        self.parts.write(state, &mut spare.raw);
        let from = bytes.len();
        let loose = !self.tie(&spare.raw, bytes);
        if loose {
            bytes.truncate(from);
        }
        let compared = bytes.len();
        let hash = if machine.compares_otherwise() {
            self.parts.write_compared(machine, state, bytes, spare)?;
            Some(hash(&bytes[compared..]))
        } else if self.bits.is_empty() {
            (!loose).then(|| self.hash(&bytes[from..]))
        } else {
            // Which states are taken for one should not depend on how they are kept.
            Some(hash(&spare.raw.bytes))
        };
        Ok(Written { hash, loose, from, compared, to: bytes.len() })
    }

    /// Whether a known state is the one written here, or symmetric to it.
    #[inline]
    pub(super) fn is_known_as(&self, machine: &Machine, id: StateId, new: Forms<'_>, spare: &mut Spare) -> bool {
        let known = self.string(id);
        known == new.short
            || !new.compared.is_empty() && {
                let mut state = spare.state.take().unwrap_or_else(|| machine.initial());
                self.read(known, &mut state);
                let mut bytes = std::mem::take(&mut spare.known);
                bytes.clear();
                let written = self.parts.write_compared(machine, &state, &mut bytes, spare);
                let same = written.is_ok() && bytes == new.compared;
                debug_assert!(written.is_ok(), "what was compared once can be compared again");
                spare.state = Some(state);
                spare.known = bytes;
                same
            }
    }

    /// Asks for what is needed to find a state.
    #[inline]
    pub(super) fn ask_for_entry(&self, id: StateId) {
        self.found.entry(id as usize).into_iter().for_each(ask_for);
    }

    /// Asks for what will be compared.
    #[inline]
    pub(super) fn ask_for_string(&self, id: StateId) {
        self.found.get(id as usize).first().into_iter().for_each(ask_for);
    }

    /// The hash of a state that is compared by its short form.
    #[inline]
    pub(super) fn hash(&self, short: &[u8]) -> u64 {
        hash(short)
    }

    /// Writes a state whose pieces were not all known; now they are.
    pub(super) fn tie_loose(&mut self, raw: &Raw, bytes: &mut Vec<u8>) {
        self.learn(raw);
        self.tie(raw, bytes);
    }

    /// Adds the initial state, as it was written in full.
    pub(super) fn begin(&mut self, raw: &Raw, hash: Option<u64>) {
        let mut tied = Vec::new();
        self.tie_loose(raw, &mut tied);
        let hash = hash.unwrap_or_else(|| self.hash(&tied));
        self.shards[shard(hash)].add(tag(hash), 0);
        self.bits.get_mut(shard(hash)).map(|bits| bits.set(hash));
        self.add(0, 0, &tied);
    }

    /// Adds a state. Returns `false` if it is known.
    ///
    /// # Errors
    /// If a text cannot be run by replay.
    pub(super) fn add_new(
        &mut self,
        world: &mut World,
        state: &State,
        (parent, by): (StateId, Action),
        spare: &mut Spare,
    ) -> Result<bool, TextError> {
        if self.has(world, state, spare)? {
            return Ok(false);
        }
        let mut short = Vec::new();
        let written = world.knowing(|machine| {
            short.clear();
            self.write(machine, state, spare, &mut short)
        })?;
        short.clear();
        self.tie_loose(&spare.raw, &mut short);
        let id = self.add(parent, by.number(self.processes) as u32, &short);
        let hash = written.hash.unwrap_or_else(|| self.hash(&short));
        self.shards[shard(hash)].add(tag(hash), id);
        Ok(true)
    }

    /// Whether a state, or a symmetric one, is known.
    ///
    /// # Errors
    /// If a text cannot be run by replay.
    pub(super) fn has(&self, world: &mut World, state: &State, spare: &mut Spare) -> Result<bool, TextError> {
        world.knowing(|machine| {
            let mut bytes = Vec::new();
            let written = self.write(machine, state, spare, &mut bytes)?;
            let new = Forms { short: &bytes[..written.compared], compared: &bytes[written.compared..] };
            let known = |id| self.is_known_as(machine, id, new, spare);
            // A state with new pieces may still be symmetric to a known one. Otherwise it is new.
            Ok(written.hash.is_some_and(|hash| self.shards[shard(hash)].find(tag(hash), known).is_ok()))
        })
    }

    pub(super) fn processes(&self) -> usize {
        self.processes
    }

    /// How many states there are, if those that differ in the names of processes are not one.
    pub(super) fn with_all_names(&self, machine: &Machine, like: &State) -> Option<u64> {
        let (mut state, mut spare, mut bytes) = (like.clone(), Spare::default(), Vec::new());
        let mut sum = 0;
        for id in 0..self.len() {
            self.load(id as StateId, &mut state);
            bytes.clear();
            let many = self.parts.write_least(machine, &state, &mut bytes, &mut spare).ok()?;
            sum += (machine.renamings() / many) as u64;
        }
        Some(sum)
    }

    /// For each state but the first, the state and the number of the action that led to it.
    pub(super) fn ways(&self) -> impl Iterator<Item = (StateId, u64)> {
        let mut parent = 0;
        (0..self.len())
            .map(move |id| {
                if id.is_multiple_of(BLOCK) {
                    parent = self.parents[id / BLOCK];
                }
                let mut string = self.found.get(id);
                parent += pop(&mut string) as StateId;
                (parent, pop(&mut string))
            })
            .skip(1)
    }

    /// If only bits are kept, forgets the states before this one. They cannot be loaded any more.
    pub(super) fn forget_before(&mut self, id: usize) {
        if self.bits.is_empty() {
            return;
        }
        while (self.forgotten + 1) * self.found.in_segment() <= id && self.forgotten + 1 < self.found.full_segments() {
            self.found.cut(self.forgotten, |string| {
                let mut rest = string;
                pop(&mut rest);
                pop(&mut rest);
                string.len() - rest.len()
            });
            self.forgotten += 1;
        }
    }

    /// Writes a state shortly. Returns `false` if it has pieces that were not seen before.
    fn tie(&self, raw: &Raw, tied: &mut Vec<u8>) -> bool {
        let (from, to) = raw.locals;
        let [vars, locals, rest] = [&raw.bytes[..from], &raw.bytes[from..to], &raw.bytes[to..]];
        tie(vars, self.vars.as_ref(), tied) && {
            tied.extend_from_slice(locals);
            tie(rest, self.rest.as_ref(), tied)
        }
    }

    /// Gives numbers to the pieces of a state.
    pub(super) fn learn(&mut self, raw: &Raw) {
        let (from, to) = raw.locals;
        self.vars.iter_mut().for_each(|pieces| pieces.add(&raw.bytes[..from]));
        self.rest.iter_mut().for_each(|pieces| pieces.add(&raw.bytes[to..]));
    }

    /// Adds a state that is not known, in short form.
    pub(super) fn add(&mut self, parent: StateId, by: u32, tied: &[u8]) -> StateId {
        if self.len().is_multiple_of(BLOCK) {
            self.parents.push(parent);
            self.last_parent = parent;
        }
        debug_assert!(self.last_parent <= parent, "states are found in the order of their parents");
        self.how.clear();
        push(&mut self.how, u64::from(parent - self.last_parent));
        push(&mut self.how, u64::from(by));
        self.last_parent = parent;
        self.found.add([&self.how, tied]) as StateId
    }

    /// Adds the new states of a run, with this place among those of its thread.
    pub(super) fn add_run(&mut self, news: &News, place: usize) {
        let (run, begin) =
            (news.runs[place], place.checked_sub(1).map_or(NewRun::default(), |before| news.runs[before]));
        let lens = &news.lens[begin.lens as usize..run.lens as usize];
        let Some((&first, lens)) = lens.split_first() else { return };
        let (first, bytes) = news.bytes[begin.bytes as usize..run.bytes as usize].split_at(first as usize);
        self.add(run.parent, run.action, first);
        self.found.add_all(bytes, lens);
        self.parents.extend_from_slice(&news.parents[begin.parents as usize..run.parents as usize]);
        self.last_parent = run.last_parent;
    }

    /// The short form of a state.
    #[inline]
    pub(super) fn string(&self, id: StateId) -> &[u8] {
        let mut string = self.found.get(id as usize);
        pop(&mut string);
        pop(&mut string);
        string
    }

    /// How many bytes of a short form are its variables, or stand for them.
    #[inline]
    pub(super) fn vars_in(&self, short: &[u8]) -> usize {
        match &self.vars {
            Some(_) => number_in(short),
            None => self.parts.wide.iter().fold(self.parts.packed, |at, _| at + number_in(&short[at..])),
        }
    }

    /// Writes what is beside variables and local states in short form, for one more passage of a
    /// process. Returns `false`, and writes something of no use, if that has no number yet.
    pub(super) fn write_rest_after_passage(
        &self,
        mut rest: &[u8],
        p: usize,
        raw: &mut Vec<u8>,
        tied: &mut Vec<u8>,
    ) -> bool {
        raw.clear();
        raw.extend_from_slice(match &self.rest {
            Some(known) => known.strings.get(pop(&mut rest) as usize),
            None => rest,
        });
        let at = (0..p).fold(0, |at, _| at + number_in(&raw[at..]));
        // Numbers of passages usually have one byte, before and after.
        raw[at] < 0x7f && {
            raw[at] += 1;
            tie(raw, self.rest.as_ref(), tied)
        }
    }

    /// Reads a state into `state`, which already has the right lengths.
    pub(super) fn load(&self, id: StateId, state: &mut State) {
        self.read(self.string(id), state);
    }

    /// Reads a state in short form.
    pub(super) fn read(&self, mut string: &[u8], state: &mut State) {
        match &self.vars {
            Some(vars) => self.parts.read_vars(&mut vars.strings.get(pop(&mut string) as usize), state),
            None => self.parts.read_vars(&mut string, state),
        }
        state.locals.iter_mut().for_each(|l| *l = pop(&mut string) as u32);
        match &self.rest {
            Some(rest) => self.parts.read_rest(&mut rest.strings.get(pop(&mut string) as usize), state),
            None => self.parts.read_rest(&mut string, state),
        }
        debug_assert!(string.is_empty());
    }

    /// The state and the step from which a state was found.
    fn came(&self, id: StateId) -> (StateId, Action) {
        let first = id as usize / BLOCK * BLOCK;
        let (mut parent, mut action) = (self.parents[id as usize / BLOCK], 0);
        for at in first..=id as usize {
            let mut string = self.found.get(at);
            parent += pop(&mut string) as StateId;
            action = pop(&mut string);
        }
        (parent, Action::of_number(action, self.processes))
    }

    /// The actions that lead from the initial state to this one, on a shortest path.
    pub(super) fn path(&self, mut id: StateId) -> Vec<Action> {
        let mut path = Vec::new();
        while id != 0 {
            let (parent, by) = self.came(id);
            path.push(by);
            id = parent;
        }
        path.reverse();
        path
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let pieces: usize = self.vars.iter().chain(&self.rest).map(Pieces::bytes).sum();
        let pieces = pieces + self.bits.iter().map(Bits::bytes).sum::<usize>();
        self.found.bytes() + self.parents.capacity() * 4 + self.shards.iter().map(Table::bytes).sum::<usize>() + pieces
    }
}

impl Parts {
    fn new(machine: &Machine) -> Self {
        let vars = || machine.layout().vars().iter().enumerate();
        let narrow: Vec<(usize, u32)> = vars().filter_map(|(v, var)| Some((v, var.few_bits()?))).collect();
        let wide: Vec<usize> = vars().filter(|(_, var)| var.few_bits().is_none()).map(|(v, _)| v).collect();
        let bits: usize = narrow.iter().map(|(_, width)| *width as usize).sum();
        let packed = bits.div_ceil(8);
        let mut parts = Self { narrow, packed, wide, optional: machine.optional_parts(), longest: [0; 3] };
        parts.longest =
            [bits / 8 + 1 + 10 * parts.wide.len(), 5 * machine.processes(), 10 * parts.numbers_in_rest(machine)];
        parts
    }

    /// How many numbers `write_rest` writes.
    fn numbers_in_rest(&self, machine: &Machine) -> usize {
        let n = machine.processes();
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.optional.map(usize::from);
        let passages = if machine.counts_passages() { n } else { 0 };
        let owes = if machine.rules().wakes { n } else { 0 };
        passages
            + crashes
            + 2 * writes
            + (n + 1) * order
            + 2 * cache
            + (1 + owes) * sleep
            + 2 * turns
            + calls
            + 2 * deaths
            + machine.monitors().len()
    }

    /// Writes a state exactly.
    fn write(&self, state: &State, raw: &mut Raw) {
        let bytes = &mut raw.bytes;
        bytes.clear();
        pack_bits(bytes, self.narrow.iter().map(|&(v, width)| (state.vars[v], width)));
        self.wide.iter().for_each(|&v| push(bytes, zigzag(state.vars[v])));
        let from = bytes.len();
        state.locals.iter().for_each(|&l| push(bytes, u64::from(l)));
        raw.locals = (from, bytes.len());
        self.write_rest(state, bytes);
    }

    /// Writes a state at the end of `bytes`, so that symmetric states become equal.
    fn write_compared(
        &self,
        machine: &Machine,
        state: &State,
        bytes: &mut Vec<u8>,
        spare: &mut Spare,
    ) -> Result<(), Halt> {
        if machine.renames() {
            return self.write_least(machine, state, bytes, spare).map(drop);
        }
        let begin = bytes.len();
        bytes.push(1);
        if machine.write_alike(state, bytes, &mut spare.numbers)? {
            self.write_rest(state, bytes);
        } else {
            bytes[begin] = 0;
            self.write(state, &mut spare.exactly);
            bytes.extend_from_slice(&spare.exactly.bytes);
        }
        Ok(())
    }

    /// Writes the least image of a state by a renaming of processes. Returns how many renamings
    /// lead to it.
    fn write_least(
        &self,
        machine: &Machine,
        state: &State,
        bytes: &mut Vec<u8>,
        spare: &mut Spare,
    ) -> Result<usize, Halt> {
        let begin = bytes.len();
        let Spare { exactly, renamings, image, .. } = spare;
        machine.renamings_to_least(state, renamings)?;
        let mut many = 0;
        for &k in &*renamings {
            machine.renamed(state, k, image)?;
            self.write(image, exactly);
            let better = many == 0 || exactly.bytes[..] < bytes[begin..];
            if better {
                bytes.truncate(begin);
                bytes.extend_from_slice(&exactly.bytes);
                many = 1;
            } else if exactly.bytes[..] == bytes[begin..] {
                many += 1;
            }
        }
        Ok(many)
    }

    /// Writes everything except variables and local states.
    fn write_rest(&self, state: &State, bytes: &mut Vec<u8>) {
        state.passages.iter().for_each(|&c| push(bytes, u64::from(c)));
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.optional;
        if crashes {
            push(bytes, state.crashed);
        }
        if writes {
            push(bytes, state.writing);
            push(bytes, state.overlapped);
        }
        if order {
            state.before.iter().for_each(|&mask| push(bytes, mask));
            push(bytes, state.passed);
        }
        if cache {
            state.cached.iter().for_each(|&mask| push(bytes, mask));
        }
        if sleep {
            push(bytes, state.asleep);
            state.owes.iter().for_each(|&v| push(bytes, u64::from(v)));
        }
        if turns {
            state.turns.iter().for_each(|&x| push(bytes, u64::from(x)));
        }
        if calls {
            push(bytes, u64::from(state.calls));
        }
        if deaths {
            push(bytes, state.dying);
            push(bytes, u64::from(state.restarted));
        }
        state.monitors.iter().for_each(|&word| push(bytes, word));
    }

    /// Reads variables.
    fn read_vars(&self, bytes: &mut &[u8], state: &mut State) {
        unpack_bits(bytes, self.narrow.iter().map(|&(_, width)| width), |i, word| {
            state.vars[self.narrow[i].0] = word;
        });
        self.wide.iter().for_each(|&v| state.vars[v] = unzigzag(pop(bytes)));
    }

    /// Reads what `write_rest` wrote.
    fn read_rest(&self, bytes: &mut &[u8], state: &mut State) {
        state.passages.iter_mut().for_each(|c| *c = pop(bytes) as u32);
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.optional;
        if crashes {
            state.crashed = pop(bytes);
        }
        if writes {
            state.writing = pop(bytes);
            state.overlapped = pop(bytes);
        }
        if order {
            state.before.iter_mut().for_each(|mask| *mask = pop(bytes));
            state.passed = pop(bytes);
        }
        if cache {
            state.cached.iter_mut().for_each(|mask| *mask = pop(bytes));
        }
        if sleep {
            state.asleep = pop(bytes);
            state.owes.iter_mut().for_each(|v| *v = pop(bytes) as u32);
        }
        if turns {
            state.turns.iter_mut().for_each(|x| *x = pop(bytes) as u32);
        }
        if calls {
            state.calls = pop(bytes) as u32;
        }
        if deaths {
            state.dying = pop(bytes);
            state.restarted = pop(bytes) as u32;
        }
        state.monitors.iter_mut().for_each(|word| *word = pop(bytes));
    }
}

/// The table in which a state is.
pub(super) fn shard(hash: u64) -> usize {
    (hash >> 58) as usize
}

/// Which of the threads answers for the table of a hash: each has tables that lie side by side.
#[inline]
pub(super) fn owner(hash: u64, threads: usize) -> usize {
    shard(hash) * threads / SHARDS
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // Every bit of the string should reach the upper bits, which choose the table and the slot.
    let hash = hasher.finish();
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
