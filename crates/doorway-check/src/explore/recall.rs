//! Steps that were made before.
//!
//! What a step does depends, in most machines, on three things only: which process makes it, the
//! local state of that process, and the variables. The number of the combination of variables is
//! the beginning of a state in short form, and local states are next. So a thread that has made a
//! step once knows where it leads in all other states in which these three are the same: the short
//! form of the state after it is that of the state before it, with two pieces exchanged. No
//! variable is unpacked, changed or packed for that.
//!
//! A machine says itself whether its steps are like that (`Machine::steps_are_local`). What is
//! remembered follows from the machine, so it makes no difference to a result which thread
//! remembers what, and a step that was forgotten is made again.

use crate::sim::{Action, DONE, ROOT, What};

/// How many steps a thread remembers at first and at most, as powers of two. Each takes 16 bytes,
/// so a thread needs two megabytes at most.
const FIRST: u32 = 8;
const MOST: u32 = 17;

/// More processes than this are not told apart.
pub(super) const MOST_PROCESSES: usize = 64;

/// A piece of a state in short form: its bytes, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    bytes: u32,
    len: u8,
}

impl Piece {
    /// A piece of at most this many bytes. No piece is the beginning of another of its kind, so the
    /// bytes alone tell pieces apart.
    fn new(bytes: &[u8], most: usize) -> Option<Self> {
        let word = || bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        (bytes.len() <= most).then(|| Self { bytes: word(), len: bytes.len() as u8 })
    }

    /// Of the combination of variables.
    pub(super) fn of_vars(bytes: &[u8]) -> Option<Self> {
        Self::new(bytes, 4)
    }

    /// Of a local state.
    pub(super) fn of_local(bytes: &[u8]) -> Option<Self> {
        Self::new(bytes, 3)
    }

    pub(super) fn len(self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        self.bytes.to_le_bytes().into_iter().take(self.len())
    }
}

/// What a step, or an answer, depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key(u64);

/// No step has this key: the two bits of its kind say so.
const NO_KEY: u64 = u64::MAX;

impl Key {
    fn new(kind: u64, process: usize, local: Piece, vars: Piece) -> Self {
        Self(u64::from(vars.bytes) << 32 | u64::from(local.bytes) << 8 | (process as u64) << 2 | kind)
    }

    /// Of an action, if its effect is remembered. The value of `Sees` would not fit.
    pub(super) fn of_action(action: Action, local: Piece, vars: Piece) -> Option<Self> {
        let kind = match action.what {
            What::Step => 0,
            What::GiveUp => 1,
            _ => return None,
        };
        Some(Self::new(kind, action.process, local, vars))
    }

    /// Of the question whether a process, run alone, only waits.
    pub(super) fn of_waiting(process: usize, local: Piece, vars: Piece) -> Self {
        Self::new(2, process, local, vars)
    }
}

/// What a step does. Of one that cannot happen, and of an answer, only `so` is of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Effect {
    /// The variables after it.
    pub(super) vars: Piece,
    /// The local state of the process after it. If passages are counted, that of a process which
    /// has not made all of them.
    pub(super) local: Piece,
    /// Whether the process goes on: it is not in its remainder, and changes a variable.
    pub(super) goes_on: bool,
    /// Whether it enters its critical section.
    pub(super) enters: bool,
    /// Whether its passage ends.
    pub(super) ends: bool,
    /// Whether the step can happen; or the answer.
    pub(super) so: bool,
}

impl Effect {
    /// The local states of a process in its remainder, and of one that has made all its passages.
    pub(super) const ROOT: Piece = Piece { bytes: ROOT, len: 1 };
    pub(super) const DONE: Piece = Piece { bytes: DONE, len: 1 };

    /// The answer no, for these.
    pub(super) fn answer(local: Piece, vars: Piece) -> Self {
        Self { vars, local, goes_on: false, enters: false, ends: false, so: false }
    }

    fn packed(self) -> u64 {
        let flags = [self.goes_on, self.enters, self.ends, self.so].into_iter().zip(0..);
        let flags = flags.map(|(so, bit)| u64::from(so) << bit).sum::<u64>();
        u64::from(self.vars.bytes) << 32 | u64::from(self.local.bytes) << 8 | u64::from(self.vars.len) << 5 | flags
    }

    fn unpacked(word: u64) -> Self {
        let local = (word >> 8 & 0xff_ffff) as u32;
        // The last byte of a number is less than 128.
        let len = if local < 0x80 {
            1
        } else if local & 0x8000 == 0 {
            2
        } else {
            3
        };
        let is = |bit: u32| word >> bit & 1 == 1;
        Self {
            vars: Piece { bytes: (word >> 32) as u32, len: (word >> 5 & 7) as u8 },
            local: Piece { bytes: local, len },
            goes_on: is(0),
            enters: is(1),
            ends: is(2),
            so: is(3),
        }
    }
}

/// What one thread remembers. Each key has a place and the one beside it, and a new one there
/// drives out the older of two.
#[derive(Default, Debug)]
pub(super) struct Recall {
    /// Keys and effects. Their number is a power of two.
    slots: Vec<(u64, u64)>,
    /// How many are taken.
    taken: usize,
}

impl Recall {
    /// The first place of a key.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let spread = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Effect> {
        if self.slots.is_empty() {
            return None;
        }
        let place = self.place(key.0);
        let slots = [self.slots[place], self.slots[place ^ 1]];
        slots.iter().find(|(known, _)| *known == key.0).map(|&(_, effect)| Effect::unpacked(effect))
    }

    /// Remembers an effect that is not remembered.
    pub(super) fn put(&mut self, key: Key, effect: Effect) {
        if self.taken * 2 >= self.slots.len() && self.slots.len() < 1 << MOST {
            let slots = (self.slots.len() * 4).clamp(1 << FIRST, 1 << MOST);
            let before = std::mem::replace(&mut self.slots, vec![(NO_KEY, 0); slots]);
            self.taken = 0;
            before.into_iter().filter(|(key, _)| *key != NO_KEY).for_each(|slot| self.fill(slot));
        }
        self.fill((key.0, effect.packed()));
    }

    fn fill(&mut self, slot: (u64, u64)) {
        let place = self.place(slot.0);
        let older = std::mem::replace(&mut self.slots[place], slot);
        if older.0 != NO_KEY {
            let oldest = std::mem::replace(&mut self.slots[place ^ 1], older);
            self.taken += usize::from(oldest.0 == NO_KEY);
        } else {
            self.taken += 1;
        }
    }
}
