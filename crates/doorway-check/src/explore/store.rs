//! The states found so far, exactly, in few bytes.
//!
//! A state is written as a string of bytes: the variables of few bits side by side, then one small number after the other, most of them in one byte. All strings lie in one buffer;
//! a hash table of indices finds them again. For each state the step that first led to it is kept, which gives shortest traces.

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

/// Words of so many bits, at most eight each, one after the other.
fn pack_bits(bytes: &mut Vec<u8>, words: impl Iterator<Item = (u64, u32)>) {
    let (mut packed, mut bits) = (0u64, 0);
    for (word, width) in words {
        packed |= word << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(packed as u8);
            packed >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(packed as u8);
    }
}

fn unpack_bits(bytes: &mut &[u8], widths: impl Iterator<Item = u32>, mut word: impl FnMut(usize, u64)) {
    let (mut packed, mut bits) = (0u64, 0);
    for (i, width) in widths.enumerate() {
        if bits < width {
            let (&byte, rest) = bytes.split_first().expect("a state was written whole");
            *bytes = rest;
            packed |= u64::from(byte) << bits;
            bits += 8;
        }
        word(i, packed & ((1 << width) - 1));
        packed >>= width;
        bits -= width;
    }
}

/// Small negative numbers, and the largest words, become small too.
fn zigzag(word: u64) -> u64 {
    (word << 1) ^ ((word as i64 >> 63) as u64)
}

fn unzigzag(word: u64) -> u64 {
    (word >> 1) ^ (word & 1).wrapping_neg()
}

fn push(bytes: &mut Vec<u8>, mut word: u64) {
    while word >= 0x80 {
        bytes.push(word as u8 | 0x80);
        word >>= 7;
    }
    bytes.push(word as u8);
}

fn pop(bytes: &mut &[u8]) -> u64 {
    let (mut word, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("a state was written whole");
        *bytes = rest;
        word |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return word;
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_round_trip() {
        for word in [0, 1, 127, 128, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, -1i64 as u64, 1 << 48 | 3] {
            let mut bytes = Vec::new();
            push(&mut bytes, zigzag(word));
            let mut rest = bytes.as_slice();
            assert_eq!(unzigzag(pop(&mut rest)), word);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn bits_survive_the_round_trip() {
        let words = [(1, 1), (2, 2), (0, 1), (255, 8), (5, 3), (1, 1), (6, 7), (0, 8), (1, 1)];
        for most in 0..=words.len() {
            let mut bytes = Vec::new();
            pack_bits(&mut bytes, words[..most].iter().copied());
            assert_eq!(bytes.len() as u32, words[..most].iter().map(|(_, width)| width).sum::<u32>().div_ceil(8));
            let mut rest = bytes.as_slice();
            unpack_bits(&mut rest, words[..most].iter().map(|(_, width)| *width), |i, word| {
                assert_eq!(word, words[i].0);
            });
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn no_ticket_and_minus_one_take_one_byte() {
        let mut bytes = Vec::new();
        push(&mut bytes, zigzag(u64::MAX));
        assert_eq!(bytes.len(), 1);
    }
}
