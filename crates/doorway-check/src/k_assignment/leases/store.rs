//! A store with leases: what transactions do, and what its keys know.

use doorway_core::k_assignment::leases::{
    Answer, Chair, Compare, Held, Key, Mirror, Op, Receipt, Revision, Revisions, Txn,
};
use std::collections::BTreeMap;

/// A slot that is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Kept {
    pub(super) chair: Chair,
    pub(super) created: Revision,
    pub(super) changed: Revision,
}

/// A transaction would attach a key to a lease that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoLease;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Store {
    pub(super) revision: Revision,
    pub(super) slots: Vec<Option<Kept>>,
    pub(super) waits: BTreeMap<Chair, Revision>,
    pub(super) receipts: BTreeMap<Chair, Receipt>,
    /// A bit for each lease that has ended.
    ended: u64,
    /// A chair was granted a slot while an older one waited.
    pub(super) out_of_order: bool,
}

impl Revisions for Store {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        visit(&mut self.revision);
        for kept in self.slots.iter_mut().flatten() {
            visit(&mut kept.created);
            visit(&mut kept.changed);
        }
        self.waits.values_mut().for_each(&mut *visit);
        self.receipts.values_mut().for_each(|receipt| visit(&mut receipt.changed));
    }
}

impl Store {
    pub(super) fn new(k: usize) -> Self {
        let (slots, waits, receipts) = (vec![None; k], BTreeMap::new(), BTreeMap::new());
        Self { revision: 0, slots, waits, receipts, ended: 0, out_of_order: false }
    }

    pub(super) fn is_alive(&self, lease: u64) -> bool {
        self.ended >> lease & 1 == 0
    }

    /// A lease ends, and its keys with it.
    pub(super) fn end(&mut self, lease: u64) {
        let before = (self.slots.clone(), self.waits.len(), self.receipts.len());
        self.ended |= 1 << lease;
        self.waits.retain(|chair, _| chair.lease != lease);
        self.receipts.retain(|chair, _| chair.lease != lease);
        for slot in &mut self.slots {
            *slot = slot.filter(|kept| kept.chair.lease != lease);
        }
        if before != (self.slots.clone(), self.waits.len(), self.receipts.len()) {
            self.revision += 1;
        }
    }

    /// A lease of the same number begins again, which no store allows.
    pub(super) fn begin_again(&mut self, lease: u64) {
        self.ended &= !(1 << lease);
    }

    /// The store as it is now.
    pub(super) fn mirror(&self) -> Mirror {
        let mut mirror = Mirror::new(self.slots.len());
        for (slot, held) in self.held() {
            mirror.holds(slot, held);
        }
        self.waits.iter().for_each(|(&chair, &ticket)| mirror.waits(chair, ticket));
        mirror.has_reached(self.revision);
        mirror
    }

    fn held(&self) -> Vec<(usize, Held)> {
        let held = |(slot, kept): (usize, &Option<Kept>)| {
            kept.map(|Kept { chair, changed, .. }| (slot, Held { chair, fence: changed }))
        };
        self.slots.iter().enumerate().filter_map(held).collect()
    }

    /// One transaction, in one step.
    pub(super) fn transact(&mut self, txn: &Txn) -> Result<Answer, NoLease> {
        let (mut after, at) = (self.clone(), self.revision + 1);
        let mut answer = Answer { done: self.holds(txn), k: self.slots.len(), ..Answer::default() };
        let mut wrote = false;
        after.run(txn, at, &mut answer, &mut wrote, self)?;
        if wrote {
            after.revision = at;
        }
        answer.revision = after.revision;
        *self = after;
        Ok(answer)
    }

    fn holds(&self, txn: &Txn) -> bool {
        txn.when.iter().all(|compare| match *compare {
            Compare::Changed(key, at) => self.revisions(key).1 == at,
            Compare::Created(key, at) => self.revisions(key).0 == at,
            Compare::NobodyWaits => self.waits.is_empty(),
            Compare::NobodyWaitsBefore(ticket) => self.waits.values().all(|&other| other >= ticket),
        })
    }

    /// When a key was created, and when it was changed.
    fn revisions(&self, key: Key) -> (Revision, Revision) {
        match key {
            Key::Receipt(chair) => self.receipts.get(&chair).map_or((0, 0), |receipt| (1, receipt.changed)),
            Key::Waits(chair) => self.waits.get(&chair).map_or((0, 0), |&ticket| (ticket, ticket)),
            Key::Slot(slot) => self.slots[slot].map_or((0, 0), |kept| (kept.created, kept.changed)),
        }
    }

    fn run(
        &mut self,
        txn: &Txn,
        at: Revision,
        answer: &mut Answer,
        wrote: &mut bool,
        before: &Self,
    ) -> Result<(), NoLease> {
        let branch = if self.holds(txn) { &txn.then } else { &txn.otherwise };
        for op in branch {
            let attached = match op {
                Op::PutReceipt(chair, _) | Op::PutWaits(chair) | Op::PutSlot(_, chair) => Some(chair.lease),
                _ => None,
            };
            if attached.is_some_and(|lease| !self.is_alive(lease)) {
                return Err(NoLease);
            }
            *wrote |= attached.is_some();
            match op {
                Op::Nested(txn) => self.run(txn, at, answer, wrote, before)?,
                Op::PutReceipt(chair, outcome) => {
                    self.receipts.insert(*chair, Receipt { outcome: *outcome, changed: at });
                }
                Op::PutWaits(chair) => {
                    self.waits.entry(*chair).or_insert(at);
                }
                Op::PutSlot(slot, chair) => {
                    let mine = before.waits.get(chair).copied().unwrap_or(Revision::MAX);
                    self.out_of_order |= before.waits.values().any(|&other| other < mine);
                    let created = self.slots[*slot].map_or(at, |kept| kept.created);
                    self.slots[*slot] = Some(Kept { chair: *chair, created, changed: at });
                }
                Op::Delete(key) => {
                    *wrote |= self.revisions(*key).1 != 0;
                    match key {
                        Key::Receipt(chair) => drop(self.receipts.remove(chair)),
                        Key::Waits(chair) => drop(self.waits.remove(chair)),
                        Key::Slot(slot) => self.slots[*slot] = None,
                    }
                }
                Op::ReadReceipt(chair) => answer.receipt = self.receipts.get(chair).copied(),
                Op::ReadWaits(chair) => answer.waits = self.waits.get(chair).copied(),
                Op::ReadSlots => answer.slots = self.held(),
                Op::ReadOldest => answer.oldest = self.waits.values().copied().min(),
            }
        }
        Ok(())
    }
}
