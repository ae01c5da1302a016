//! The states found so far, exactly, in few bytes.
//!
//! A state is written as a string of bytes: the variables of few bits side by side, then one small number after the other, most of them in one byte. All strings lie in one buffer;
//! a hash table of indices finds them again. For each state the step that first led to it is kept, which gives shortest traces.

use super::bytes::{pack_bits, pop, push, unpack_bits, unzigzag, zigzag};
use crate::sim::{Action, State, World};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A state, by the order of its discovery.
pub(super) type StateId = u32;

#[derive(Debug)]
pub(super) struct Store {
    bytes: Vec<u8>,
    /// Where each state begins; one more entry than there are states.
    starts: Vec<u64>,
    table: HashTable<StateId>,
    /// From which state, and by whose step, each was found.
    parents: Vec<(StateId, (u16, u16))>,
    scratch: Vec<u8>,
    /// The variables of few bits, and how many; and the others.
    narrow: Vec<(usize, u32)>,
    wide: Vec<usize>,
    /// Which of the optional parts of a state there are: crashes, writes in progress, order, cache, sleep, turns, calls, deaths.
    parts: [bool; 8],
}

impl Store {
    pub(super) fn new(world: &World) -> Self {
        let vars = || world.layout().vars().iter().enumerate();
        Self {
            narrow: vars().filter_map(|(v, var)| Some((v, var.few_bits()?))).collect(),
            wide: vars().filter(|(_, var)| var.few_bits().is_none()).map(|(v, _)| v).collect(),
            bytes: Vec::new(),
            starts: vec![0],
            table: HashTable::new(),
            parents: Vec::new(),
            scratch: Vec::new(),
            parts: world.optional_parts(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Adds a state unless it is known; says which it is.
    pub(super) fn insert(&mut self, state: &State, parent: StateId, by: Action) -> StateId {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        pack_bits(&mut scratch, self.narrow.iter().map(|&(v, width)| (state.vars[v], width)));
        self.wide.iter().for_each(|&v| push(&mut scratch, zigzag(state.vars[v])));
        state.locals.iter().for_each(|&l| push(&mut scratch, u64::from(l)));
        state.passages.iter().for_each(|&c| push(&mut scratch, u64::from(c)));
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.parts;
        if crashes {
            push(&mut scratch, state.crashed);
        }
        if writes {
            push(&mut scratch, state.writing);
            push(&mut scratch, state.overlapped);
        }
        if order {
            state.before.iter().for_each(|&mask| push(&mut scratch, mask));
            push(&mut scratch, state.passed);
        }
        if cache {
            state.cached.iter().for_each(|&mask| push(&mut scratch, mask));
        }
        if sleep {
            push(&mut scratch, state.asleep);
            state.owes.iter().for_each(|&v| push(&mut scratch, u64::from(v)));
        }
        if turns {
            state.turns.iter().for_each(|&x| push(&mut scratch, u64::from(x)));
        }
        if calls {
            push(&mut scratch, u64::from(state.calls));
        }
        if deaths {
            push(&mut scratch, state.dying);
            push(&mut scratch, u64::from(state.restarted));
        }

        let (bytes, starts) = (&self.bytes, &self.starts);
        let found = |id: &StateId| slice(bytes, starts, *id) == scratch;
        let entry = self.table.entry(hash(&scratch), found, |id| hash(slice(bytes, starts, *id)));
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

    /// Reads a state into `state`, whose lengths are right already.
    pub(super) fn load(&self, id: StateId, state: &mut State) {
        let mut bytes = slice(&self.bytes, &self.starts, id);
        unpack_bits(&mut bytes, self.narrow.iter().map(|&(_, width)| width), |i, word| {
            state.vars[self.narrow[i].0] = word;
        });
        self.wide.iter().for_each(|&v| state.vars[v] = unzigzag(pop(&mut bytes)));
        state.locals.iter_mut().for_each(|l| *l = pop(&mut bytes) as u32);
        state.passages.iter_mut().for_each(|c| *c = pop(&mut bytes) as u32);
        let [crashes, writes, order, cache, sleep, turns, calls, deaths] = self.parts;
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

    /// What leads from the first state to this one, on a shortest way.
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

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.capacity()
            + self.starts.capacity() * size_of::<u64>()
            + self.parents.capacity() * size_of::<(StateId, (u16, u16))>()
            + self.table.allocation_size()
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
