//! The states found so far, exactly, in few bytes.
//!
//! A state is written as a string of bytes: narrow variables side by side, then small numbers, most
//! of them in one byte each. All strings lie in one buffer, and a hash table of indices finds them.
//! For each state the store keeps the step that first led to it, which gives shortest traces.

use super::bytes::{pack_bits, pop, push, unpack_bits, unzigzag, zigzag};
use crate::sim::{Action, State, World};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::cell::RefCell;
use std::hash::Hasher;

/// A state, by the order of its discovery.
pub(super) type StateId = u32;

#[derive(Debug)]
pub(super) struct Store {
    bytes: Vec<u8>,
    /// The start of each state, with one extra entry at the end.
    starts: Vec<u64>,
    table: HashTable<StateId>,
    /// The state and the step from which each was found.
    parents: Vec<(StateId, (u16, u16))>,
    scratch: Vec<u8>,
    /// Buffers for states that are compared in another form than they are stored: a candidate, and
    /// a known state.
    new: Vec<u8>,
    known: Option<Compared>,
    parts: Parts,
}

/// A known state, and the form in which it is compared.
#[derive(Debug)]
struct Compared {
    state: State,
    bytes: Vec<u8>,
}

impl Compared {
    fn new(like: &State) -> Self {
        Self { state: like.clone(), bytes: Vec::new() }
    }
}

/// The components of a state.
#[derive(Debug)]
struct Parts {
    /// The narrow variables and their widths; and the others.
    narrow: Vec<(usize, u32)>,
    wide: Vec<usize>,
    /// Which optional components exist: crashes, writes in progress, order, cache, sleep, turns,
    /// calls, deaths.
    optional: [bool; 8],
}

impl Store {
    pub(super) fn new(world: &World) -> Self {
        Self {
            bytes: Vec::new(),
            starts: vec![0],
            table: HashTable::new(),
            parents: Vec::new(),
            scratch: Vec::new(),
            new: Vec::new(),
            known: None,
            parts: Parts::new(world),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Adds a state unless it, or a symmetric one, is known. Returns which it is.
    pub(super) fn insert(&mut self, world: &World, state: &State, parent: StateId, by: Action) -> StateId {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        self.parts.write(state, &mut scratch);
        let (bytes, starts, parts) = (&self.bytes, &self.starts, &self.parts);
        let entry = if world.has_numbers() {
            let of = |id: StateId, compared: &mut Compared| {
                parts.read(slice(bytes, starts, id), &mut compared.state);
                parts.write_compared(world, &compared.state, &mut compared.bytes);
            };
            let known = RefCell::new(self.known.take().unwrap_or_else(|| Compared::new(state)));
            let mut new = std::mem::take(&mut self.new);
            parts.write_compared(world, state, &mut new);
            let found = |id: &StateId| {
                let mut known = known.borrow_mut();
                of(*id, &mut known);
                known.bytes == new
            };
            let rehash = |id: &StateId| {
                let mut known = known.borrow_mut();
                of(*id, &mut known);
                hash(&known.bytes)
            };
            let entry = self.table.entry(hash(&new), found, rehash);
            self.new = new;
            self.known = Some(known.into_inner());
            entry
        } else {
            let found = |id: &StateId| slice(bytes, starts, *id) == scratch;
            self.table.entry(hash(&scratch), found, |id| hash(slice(bytes, starts, *id)))
        };
        let id = match entry {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(place) => {
                let id = self.parents.len() as StateId;
                place.insert(id);
                self.bytes.extend_from_slice(&scratch);
                self.starts.push(self.bytes.len() as u64);
                self.parents.push((parent, by.pack()));
                id
            }
        };
        self.scratch = scratch;
        id
    }

    /// Reads a state into `state`, which already has the right lengths.
    pub(super) fn load(&self, id: StateId, state: &mut State) {
        self.parts.read(slice(&self.bytes, &self.starts, id), state);
    }

    /// The actions that lead from the initial state to this one, on a shortest path.
    pub(super) fn path(&self, mut id: StateId) -> Vec<Action> {
        let mut path = Vec::new();
        while id != 0 {
            let (parent, by) = self.parents[id as usize];
            path.push(Action::unpack(by));
            id = parent;
        }
        path.reverse();
        path
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.starts.capacity() * size_of::<u64>()
            + self.parents.capacity() * size_of::<(StateId, (u16, u16))>()
            + self.table.allocation_size()
    }
}

impl Parts {
    fn new(world: &World) -> Self {
        let vars = || world.layout().vars().iter().enumerate();
        Self {
            narrow: vars().filter_map(|(v, var)| Some((v, var.few_bits()?))).collect(),
            wide: vars().filter(|(_, var)| var.few_bits().is_none()).map(|(v, _)| v).collect(),
            optional: world.optional_parts(),
        }
    }

    /// Writes a state exactly.
    fn write(&self, state: &State, bytes: &mut Vec<u8>) {
        pack_bits(bytes, self.narrow.iter().map(|&(v, width)| (state.vars[v], width)));
        self.wide.iter().for_each(|&v| push(bytes, zigzag(state.vars[v])));
        state.locals.iter().for_each(|&l| push(bytes, u64::from(l)));
        self.write_rest(state, bytes);
    }

    /// Writes a state so that symmetric states become equal.
    fn write_compared(&self, world: &World, state: &State, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.push(1);
        if world.write_alike(state, bytes) {
            self.write_rest(state, bytes);
        } else {
            bytes[0] = 0;
            self.write(state, bytes);
        }
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
    }

    /// Reads what `write` wrote.
    fn read(&self, mut bytes: &[u8], state: &mut State) {
        unpack_bits(&mut bytes, self.narrow.iter().map(|&(_, width)| width), |i, word| {
            state.vars[self.narrow[i].0] = word;
        });
        self.wide.iter().for_each(|&v| state.vars[v] = unzigzag(pop(&mut bytes)));
        state.locals.iter_mut().for_each(|l| *l = pop(&mut bytes) as u32);
        state.passages.iter_mut().for_each(|c| *c = pop(&mut bytes) as u32);
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.optional;
        if crashes {
            state.crashed = pop(&mut bytes);
        }
        if writes {
            state.writing = pop(&mut bytes);
            state.overlapped = pop(&mut bytes);
        }
        if order {
            state.before.iter_mut().for_each(|mask| *mask = pop(&mut bytes));
            state.passed = pop(&mut bytes);
        }
        if cache {
            state.cached.iter_mut().for_each(|mask| *mask = pop(&mut bytes));
        }
        if sleep {
            state.asleep = pop(&mut bytes);
            state.owes.iter_mut().for_each(|v| *v = pop(&mut bytes) as u32);
        }
        if turns {
            state.turns.iter_mut().for_each(|x| *x = pop(&mut bytes) as u32);
        }
        if calls {
            state.calls = pop(&mut bytes) as u32;
        }
        if deaths {
            state.dying = pop(&mut bytes);
            state.restarted = pop(&mut bytes) as u32;
        }
        debug_assert!(bytes.is_empty());
    }
}

fn slice<'a>(bytes: &'a [u8], starts: &[u64], id: StateId) -> &'a [u8] {
    &bytes[starts[id as usize] as usize..starts[id as usize + 1] as usize]
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
