//! What a client knows of the store, from its watch.

use super::{Chair, Grant, Key, Revision};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The holder of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Held {
    /// The chair that holds it.
    pub chair: Chair,
    /// The revision at which it was granted.
    pub fence: Revision,
}

/// The slots and the line as they were at some revision.
///
/// ```
/// use doorway_core::k_assignment::leases::{Chair, Held, Key, Mirror};
/// let (a, b) = (Chair { lease: 1, number: 0 }, Chair { lease: 2, number: 0 });
/// let mut mirror = Mirror::new(2);
/// mirror.holds(0, Held { chair: a, fence: 3 });
/// mirror.waits(b, 4);
/// mirror.has_reached(4);
/// assert_eq!(mirror.oldest(9), [(4, b)]);
/// assert_eq!(mirror.free_slot(0), Some(1));
/// mirror.deleted(Key::Slot(0));
/// assert_eq!(mirror.free_slot(0), Some(0));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mirror {
    pub(super) revision: Revision,
    pub(super) slots: Vec<Option<Held>>,
    pub(super) line: BTreeMap<Revision, Chair>,
    pub(super) tickets: BTreeMap<Chair, Revision>,
}

impl Mirror {
    /// Of a store with `k` free slots and no waiters.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { revision: 0, slots: vec![None; k], line: BTreeMap::new(), tickets: BTreeMap::new() }
    }

    /// It shows the store as it was at this revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// All events up to this revision have been entered.
    pub fn has_reached(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    /// A slot is held. The mirror ignores slots that there are not.
    pub fn holds(&mut self, slot: usize, held: Held) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(held);
        }
    }

    /// A chair waits, with this ticket.
    pub fn waits(&mut self, chair: Chair, ticket: Revision) {
        if let Some(before) = self.tickets.insert(chair, ticket) {
            self.line.remove(&before);
        }
        self.line.insert(ticket, chair);
    }

    /// A key is gone.
    pub fn deleted(&mut self, key: Key) {
        match key {
            Key::Receipt(_) => {}
            Key::Waits(chair) => {
                if let Some(ticket) = self.tickets.remove(&chair) {
                    self.line.remove(&ticket);
                }
            }
            Key::Slot(slot) => {
                if let Some(place) = self.slots.get_mut(slot) {
                    *place = None;
                }
            }
        }
    }

    /// All slots.
    #[must_use]
    pub fn slots(&self) -> &[Option<Held>] {
        &self.slots
    }

    /// The holder of a slot.
    #[must_use]
    pub fn slot(&self, slot: usize) -> Option<Held> {
        self.slots.get(slot).copied().flatten()
    }

    /// A free slot, the first one from this.
    #[must_use]
    pub fn free_slot(&self, from: usize) -> Option<usize> {
        let k = self.slots.len();
        (0..k).map(|i| (from % k + i) % k).find(|&slot| self.slots[slot].is_none())
    }

    /// What a chair holds.
    #[must_use]
    pub fn slot_of(&self, chair: Chair) -> Option<Grant> {
        let is_mine = |held: &Option<Held>| held.is_some_and(|held| held.chair == chair);
        let slot = self.slots.iter().position(is_mine)?;
        self.slot(slot).map(|held| Grant { slot, fence: held.fence })
    }

    /// The ticket of a chair that waits.
    #[must_use]
    pub fn ticket_of(&self, chair: Chair) -> Option<Revision> {
        self.tickets.get(&chair).copied()
    }

    /// The oldest that wait, at most this many.
    #[must_use]
    pub fn oldest(&self, most: usize) -> Vec<(Revision, Chair)> {
        self.line.iter().take(most).map(|(&ticket, &chair)| (ticket, chair)).collect()
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }
}
