//! Only the order of revisions matters.

use super::{Compare, Grant, Mirror, Op, Passage, Revision, State, Txn};

/// What contains revisions. The text compares them, and does nothing else with them; 0 stands for
/// "none". So two runs that differ only in the numbers are the same run: the checker gives the
/// revisions of each state the numbers 1, 2, 3, … A run without end in which something is written
/// again and again is then a cycle.
///
/// ```
/// use doorway_core::k_assignment::leases::{Chair, Mirror, Revisions};
/// let (a, b) = (Chair { lease: 1, number: 0 }, Chair { lease: 2, number: 0 });
/// let mut mirror = Mirror::new(1);
/// mirror.waits(a, 70);
/// mirror.waits(b, 90);
/// mirror.has_reached(90);
/// mirror.each_revision(&mut |revision| *revision = *revision / 10 - 6);
/// assert_eq!(mirror.oldest(2), [(1, a), (3, b)]);
/// assert_eq!(mirror.revision(), 3);
/// ```
pub trait Revisions {
    /// Visits each of them. A visitor that changes them must keep their order, and 0.
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision));
}

impl Revisions for Grant {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        visit(&mut self.fence);
    }
}

impl Revisions for Passage {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        visit(&mut self.receipt);
        match &mut self.state {
            State::Outside | State::Entering { .. } | State::Lost => {}
            State::Waiting { ticket } | State::Claiming { ticket, .. } | State::Leaving { ticket } => visit(ticket),
            State::Inside(grant) => grant.each_revision(visit),
            State::Passing { grant, heirs } => {
                grant.each_revision(visit);
                heirs.iter_mut().for_each(|(ticket, _)| visit(ticket));
            }
        }
    }
}

impl Revisions for Mirror {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        visit(&mut self.revision);
        self.slots.iter_mut().flatten().for_each(|held| visit(&mut held.fence));
        self.tickets.values_mut().for_each(&mut *visit);
        self.line = self.tickets.iter().map(|(&chair, &ticket)| (ticket, chair)).collect();
    }
}

impl Revisions for Txn {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        for compare in &mut self.when {
            match compare {
                Compare::Changed(_, at) | Compare::Created(_, at) | Compare::NobodyWaitsBefore(at) => visit(at),
                Compare::NobodyWaits => {}
            }
        }
        for op in self.then.iter_mut().chain(&mut self.otherwise) {
            if let Op::Nested(txn) = op {
                txn.each_revision(visit);
            }
        }
    }
}
