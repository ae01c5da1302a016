//! A hash table of numbers that grows without looking at what they stand for.
//!
//! A slot holds a number and 32 bits of the hash, its *tag*. The place of a slot follows from the
//! tag, and a larger tag never has an earlier place. So a table grows to any size by one walk from
//! the front to the back of both tables, and never reads a state again.

/// A slot without a number.
const FREE: u64 = u64::MAX;
/// The largest number that a table can hold.
pub(super) const MOST: u32 = u32::MAX - 1;

/// Numbers by the hashes of what they stand for.
#[derive(Default, Debug)]
#[repr(align(128))] // tables of several threads lie beside each other
pub(super) struct Table {
    slots: Vec<u64>,
    len: usize,
}

/// The bits of a hash that a slot keeps. The six above them tell tables apart.
pub(super) fn tag(hash: u64) -> u32 {
    (hash >> 26) as u32
}

impl Table {
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.slots.len() as u64) >> 32) as usize
    }

    /// The first number with this tag of which `is` holds.
    #[inline]
    pub(super) fn find(&self, tag: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot == FREE {
                return None;
            }
            if (slot >> 32) as u32 == tag && is(slot as u32) {
                return Some(slot as u32);
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    /// Reads the slot where a look-up begins, so that it is at hand when the look-up comes.
    #[inline]
    pub(super) fn touch(&self, tag: u32) -> u64 {
        if self.slots.is_empty() { FREE } else { self.slots[self.home(tag)] }
    }

    /// Makes room for this many more numbers: at most four fifths of the slots are taken.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = (self.len + more) * 5 / 4 + 1;
        if needed <= self.slots.len() {
            return;
        }
        let slots = needed.max(self.slots.len() * 5 / 4).max(16);
        let old = std::mem::replace(&mut self.slots, vec![FREE; slots]);
        for slot in old.into_iter().filter(|&slot| slot != FREE) {
            self.put(slot);
        }
    }

    fn put(&mut self, slot: u64) -> usize {
        let mut at = self.home((slot >> 32) as u32);
        while self.slots[at] != FREE {
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
        self.slots[at] = slot;
        at
    }

    /// Adds a number, for which there must be room. Returns its slot.
    #[inline]
    pub(super) fn add(&mut self, tag: u32, number: u32) -> usize {
        debug_assert!(number <= MOST && self.len < self.slots.len());
        self.len += 1;
        self.put(u64::from(tag) << 32 | u64::from(number))
    }

    /// Replaces the number in a slot. No room was made since the slot was filled.
    #[inline]
    pub(super) fn replace(&mut self, slot: usize, number: u32) {
        self.slots[slot] = self.slots[slot] >> 32 << 32 | u64::from(number);
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }
}
