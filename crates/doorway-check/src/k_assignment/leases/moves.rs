//! The machine: clients, a store, a network, and what the slots guard.

use super::mutants::Mutant;
use super::store::{NoLease, Store};
use super::{Claim, Faults, Leases};
use doorway_core::k_assignment::leases::{
    Answer, Chair, Compare, Grant, Held, Key, Mirror, Next, Outcome, Passage, Receipt, Revision, Revisions, Txn, pass,
};
use std::borrow::Cow;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Client {
    passage: Passage,
    mirror: Mirror,
    /// Passages that it has yet to make.
    left: u8,
    is_busy: bool,
    has_used: bool,
    has_given_up: bool,
    is_dead: bool,
    lease: u64,
}

/// An operator that breaks a slot. It looks up which client holds the slot, and which clients wait,
/// in any order. Then it sends statement 4 until it is answered.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Operator {
    slot: usize,
    fence: Option<Revision>,
    heirs: Option<Vec<(Revision, Chair)>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    store: Store,
    clients: Vec<Client>,
    /// Requests that are delayed. Their answers go nowhere.
    network: Vec<Txn>,
    operator: Option<Operator>,
    /// Fences of slots that an operator may have broken.
    broken: Vec<Revision>,
    faults: Faults,
    /// Of each slot, the last fence that was obeyed, and the revision at which it was granted.
    guarded: Vec<(Revision, Revision)>,
    failed: Option<Claim>,
}

impl Revisions for State {
    fn each_revision(&mut self, visit: &mut dyn FnMut(&mut Revision)) {
        self.store.each_revision(visit);
        for client in &mut self.clients {
            client.passage.each_revision(visit);
            client.mirror.each_revision(visit);
        }
        self.network.iter_mut().for_each(|txn| txn.each_revision(visit));
        if let Some(Operator { fence, heirs, .. }) = &mut self.operator {
            fence.iter_mut().for_each(&mut *visit);
            heirs.iter_mut().flatten().for_each(|(ticket, _)| visit(ticket));
        }
        self.broken.iter_mut().for_each(&mut *visit);
        for (fence, granted) in &mut self.guarded {
            visit(fence);
            visit(granted);
        }
    }
}

/// What happens in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The client begins a passage.
    Begins(usize),
    /// Its request is done, and it is told.
    IsAnswered(usize),
    /// Its request is done, and the answer is lost.
    LosesAnswer(usize),
    /// Its request is delayed.
    IsDelayed(usize),
    /// Its mirror catches up.
    CatchesUp(usize),
    /// It uses what its slot guards.
    Uses(usize),
    /// It begins to leave.
    Leaves(usize),
    /// It gives up.
    GivesUp(usize),
    /// Its lease ends; the client does not know.
    LeaseEnds(usize),
    /// It has noticed that it lost its lease, and gets a new one. That passage is over.
    Renews(usize),
    /// It dies.
    Dies(usize),
    /// A delayed request lands.
    Lands(usize),
    /// An operator wants to break the slot.
    Breaks(usize),
    /// It looks up which client holds the slot.
    OperatorLooks,
    /// Its mirror tells which clients wait.
    OperatorSees,
    /// Its request is done, and it is told.
    BreakIsAnswered,
    /// Its request is done, and the answer is lost.
    BreakLosesAnswer,
    /// Its request is delayed.
    BreakIsDelayed,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begins(p) => write!(f, "c{p} begins a passage"),
            Self::IsAnswered(p) => write!(f, "c{p} sends, and is answered"),
            Self::LosesAnswer(p) => write!(f, "c{p} sends; it is done, and the answer is lost"),
            Self::IsDelayed(p) => write!(f, "c{p} sends, and the request is delayed"),
            Self::CatchesUp(p) => write!(f, "c{p}'s mirror catches up"),
            Self::Uses(p) => write!(f, "c{p} uses what its slot guards"),
            Self::Leaves(p) => write!(f, "c{p} begins to leave"),
            Self::GivesUp(p) => write!(f, "c{p} gives up"),
            Self::LeaseEnds(p) => write!(f, "c{p}'s lease ends"),
            Self::Renews(p) => write!(f, "c{p} gets a new lease"),
            Self::Dies(p) => write!(f, "c{p} dies"),
            Self::Lands(i) => write!(f, "delayed request {i} lands"),
            Self::Breaks(slot) => write!(f, "an operator wants to break slot {slot}"),
            Self::OperatorLooks => f.write_str("the operator looks up the holder"),
            Self::OperatorSees => f.write_str("the operator's mirror shows the waiters"),
            Self::BreakIsAnswered => f.write_str("the operator sends, and is answered"),
            Self::BreakLosesAnswer => f.write_str("the operator sends; it is done, and the answer is lost"),
            Self::BreakIsDelayed => f.write_str("the operator sends, and the request is delayed"),
        }
    }
}

impl State {
    pub(super) fn new(leases: &Leases) -> Self {
        assert!((1..=16).contains(&leases.n) && leases.k > 0, "1 to 16 clients and a slot");
        let client = |p: usize| Client {
            passage: Passage::new(Chair { lease: p as u64, number: 0 }),
            mirror: Mirror::new(leases.k),
            left: leases.passages,
            is_busy: false,
            has_used: false,
            has_given_up: false,
            is_dead: false,
            lease: p as u64,
        };
        Self {
            store: Store::new(leases.k),
            clients: (0..leases.n).map(client).collect(),
            network: Vec::new(),
            operator: None,
            broken: Vec::new(),
            faults: leases.faults,
            guarded: vec![(0, 0); leases.k],
            failed: None,
        }
    }

    /// The moves that are possible, and whether each is one that happens by itself, without a
    /// fault.
    pub(super) fn moves(&self, mutant: Option<Mutant>) -> Vec<(Move, bool)> {
        let mut moves = Vec::new();
        for (p, client) in self.clients.iter().enumerate() {
            let lives_on = self.store.is_alive(client.lease);
            if client.is_dead {
                moves.extend(lives_on.then_some((Move::LeaseEnds(p), true)));
                continue;
            }
            let (mut passage, mirror) = (client.passage.clone(), &client.mirror);
            let is_behind = mirror.revision() < self.store.revision;
            let is_over = client.left == 0;
            match passage.next(&seen(mirror, client.passage.chair(), mutant)) {
                Next::Outside if is_over => {}
                Next::Outside => {
                    moves.push((Move::Begins(p), true));
                    moves.extend(is_behind.then_some((Move::CatchesUp(p), true)));
                }
                Next::Send(_) => {
                    moves.push((Move::IsAnswered(p), true));
                    if self.faults.doubts > 0 {
                        moves.extend([(Move::LosesAnswer(p), false), (Move::IsDelayed(p), false)]);
                    }
                }
                Next::Watch => moves.extend(is_behind.then_some((Move::CatchesUp(p), true))),
                Next::Inside(_) => {
                    moves.extend((!client.has_used).then_some((Move::Uses(p), true)));
                    moves.extend((client.has_used || client.has_given_up).then_some((Move::Leaves(p), true)));
                    moves.extend(is_behind.then_some((Move::CatchesUp(p), true)));
                }
                Next::Lost => moves.push((Move::Renews(p), true)),
            }
            // While it waits, and while any request is under way.
            passage.give_up();
            if self.faults.give_ups > 0 && client.is_busy && !client.has_given_up && passage != client.passage {
                moves.push((Move::GivesUp(p), false));
            }
            if self.faults.pauses > 0 && lives_on && !is_over {
                moves.push((Move::LeaseEnds(p), false));
            }
            if self.faults.deaths > 0 && client.is_busy {
                moves.push((Move::Dies(p), false));
            }
        }
        moves.extend((0..self.network.len()).map(|i| (Move::Lands(i), false)));
        match &self.operator {
            None if self.faults.breaks > 0 => {
                let is_held = |&slot: &usize| self.store.slots[slot].is_some();
                moves.extend((0..self.store.slots.len()).filter(is_held).map(|slot| (Move::Breaks(slot), false)));
            }
            None => {}
            Some(Operator { fence: Some(_), heirs: Some(_), .. }) => {
                moves.push((Move::BreakIsAnswered, true));
                if self.faults.doubts > 0 {
                    moves.extend([(Move::BreakLosesAnswer, false), (Move::BreakIsDelayed, false)]);
                }
            }
            Some(Operator { fence, heirs, .. }) => {
                moves.extend(fence.is_none().then_some((Move::OperatorLooks, true)));
                moves.extend(heirs.is_none().then_some((Move::OperatorSees, true)));
            }
        }
        moves
    }

    pub(super) fn act(&mut self, leases: &Leases, what: Move) {
        let mutant = leases.mutant;
        match what {
            Move::Begins(p) => {
                let queue = !(leases.last_tries && p + 1 == leases.n);
                let client = &mut self.clients[p];
                client.passage.enter(&client.mirror, queue);
                client.is_busy = true;
                client.has_used = false;
                client.has_given_up = false;
            }
            Move::IsAnswered(p) => {
                let txn = self.request(p, mutant);
                match self.store.transact(&txn) {
                    Ok(answer) => self.clients[p].passage.answered(&answer),
                    Err(NoLease) => self.clients[p].passage.has_no_lease(),
                }
            }
            Move::LosesAnswer(p) => {
                self.faults.doubts -= 1;
                let txn = self.request(p, mutant);
                // A request that is refused changes nothing.
                let _ = self.store.transact(&txn);
                self.is_in_doubt(p, mutant);
            }
            Move::IsDelayed(p) => {
                self.faults.doubts -= 1;
                let txn = self.request(p, mutant);
                self.network.push(txn);
                self.is_in_doubt(p, mutant);
            }
            Move::Lands(i) => {
                let txn = self.network.remove(i);
                let _ = self.store.transact(&txn);
            }
            Move::CatchesUp(p) => self.clients[p].mirror = self.store.mirror(),
            Move::Uses(p) => self.uses(p, leases),
            Move::Leaves(p) => {
                let client = &mut self.clients[p];
                client.passage.exit(&client.mirror);
            }
            Move::GivesUp(p) => {
                self.faults.give_ups -= 1;
                let client = &mut self.clients[p];
                client.has_given_up = true;
                let waits = client.passage.clone().next(&client.mirror) == Next::Watch;
                if waits || mutant != Some(Mutant::ForgetsThatItGaveUp) {
                    client.passage.give_up();
                }
            }
            Move::LeaseEnds(p) => {
                self.store.end(self.clients[p].lease);
                self.faults.pauses -= u8::from(!self.clients[p].is_dead);
            }
            Move::Renews(p) => self.renews(p, leases),
            Move::Dies(p) => {
                self.faults.deaths -= 1;
                let client = &mut self.clients[p];
                client.is_dead = true;
                // Nothing is kept of it but its lease.
                client.passage = Passage::new(client.passage.chair());
                client.mirror = Mirror::new(leases.k);
            }
            Move::Breaks(slot) => {
                self.faults.breaks -= 1;
                self.operator = Some(Operator { slot, fence: None, heirs: None });
            }
            Move::OperatorLooks => self.operator_looks(),
            Move::OperatorSees => {
                let oldest = self.store.mirror().oldest(1);
                self.operator.iter_mut().for_each(|operator| operator.heirs = Some(oldest.clone()));
            }
            Move::BreakIsAnswered => {
                let done = self.breaking(mutant).map(|txn| self.store.transact(&txn));
                match (done, &mut self.operator) {
                    // A lease in the request has ended: the waiter's. Then the slot becomes free.
                    (Some(Err(NoLease)), Some(operator)) => operator.heirs = Some(Vec::new()),
                    _ => self.operator = None,
                }
            }
            Move::BreakLosesAnswer => {
                self.faults.doubts -= 1;
                if let Some(txn) = self.breaking(mutant) {
                    let _ = self.store.transact(&txn);
                }
                self.break_is_in_doubt(mutant);
            }
            Move::BreakIsDelayed => {
                self.faults.doubts -= 1;
                self.network.extend(self.breaking(mutant));
                self.break_is_in_doubt(mutant);
            }
        }
        self.settle(mutant);
        self.judge(leases);
    }

    /// The operator reads the holder's fence. If the slot is free by now, there is nothing to do.
    fn operator_looks(&mut self) {
        let Some(operator) = &mut self.operator else { return };
        operator.fence = self.store.slots[operator.slot].map(|kept| kept.changed);
        match operator.fence {
            Some(fence) => self.broken.push(fence),
            None => self.operator = None,
        }
    }

    /// What the operator sends: statement 4, for the holder.
    fn breaking(&self, mutant: Option<Mutant>) -> Option<Txn> {
        let Operator { slot, fence, heirs } = self.operator.as_ref()?;
        let mut txn = pass(Grant { slot: *slot, fence: (*fence)? }, heirs.as_ref()?);
        if mutant == Some(Mutant::BreaksTheNextHolder) {
            txn.when.clear();
        }
        Some(txn)
    }

    /// The operator is not answered. It sends the same again.
    fn break_is_in_doubt(&mut self, mutant: Option<Mutant>) {
        if let (Some(Mutant::LooksAgainInDoubt), Some(operator)) = (mutant, &mut self.operator) {
            operator.fence = self.store.slots[operator.slot].map(|kept| kept.changed).or(operator.fence);
        }
    }

    /// The same state with the revisions 1, 2, 3, … All that follows depends on their order only.
    pub(super) fn normal(mut self) -> Self {
        let fixed = |revision: Revision| revision == 0 || revision == Revision::MAX;
        let mut all = Vec::new();
        self.each_revision(&mut |revision| all.extend(Some(*revision).filter(|&revision| !fixed(revision))));
        all.sort_unstable();
        all.dedup();
        self.each_revision(&mut |revision| {
            if let Ok(at) = all.binary_search(revision) {
                *revision = at as Revision + 1;
            }
        });
        self
    }

    /// What a client sends.
    fn request(&self, p: usize, mutant: Option<Mutant>) -> Txn {
        let client = &self.clients[p];
        match client.passage.clone().next(&seen(&client.mirror, client.passage.chair(), mutant)) {
            Next::Send(txn) => mutant.map_or(txn.clone(), |mutant| mutant.changes(txn)),
            other => unreachable!("a client that sends nothing: {other:?}"),
        }
    }

    /// A client is not answered. The text does nothing then.
    fn is_in_doubt(&mut self, p: usize, mutant: Option<Mutant>) {
        if mutant != Some(Mutant::BeginsAgain) {
            return;
        }
        // It reads its receipt, and begins again with that.
        let enters = matches!(self.request(p, None).when[..], [Compare::Changed(Key::Receipt(_), _)]);
        let client = &mut self.clients[p];
        let receipt = self.store.receipts.get(&client.passage.chair()).copied();
        if let Some(Receipt { changed, .. }) = receipt
            && enters
        {
            let mut anew = client.passage.clone();
            let receipt = Some(Receipt { outcome: Outcome::Refused, changed });
            anew.answered(&Answer { receipt, ..Answer::default() });
            if anew.is_outside() {
                anew.enter(&client.mirror, true);
                client.passage = anew;
            }
        }
    }

    /// Every client looks at its mirror, and counts its passages.
    fn settle(&mut self, mutant: Option<Mutant>) {
        for client in self.clients.iter_mut().filter(|client| !client.is_dead) {
            let mirror = seen(&client.mirror, client.passage.chair(), mutant);
            client.passage.next(&mirror);
            if client.is_busy && client.passage.is_outside() {
                client.is_busy = false;
                client.left -= 1;
            }
            if client.left == 0 {
                // It will not look again.
                client.mirror = Mirror::new(client.mirror.slots().len());
            }
        }
    }

    fn renews(&mut self, p: usize, leases: &Leases) {
        let client = &mut self.clients[p];
        let reuses = leases.mutant == Some(Mutant::UsesALeaseAgain);
        let mut number = client.passage.chair().number;
        if reuses {
            self.store.end(client.lease);
            self.store.begin_again(client.lease);
        } else if self.store.is_alive(client.lease) {
            number += 1; // its slot was broken
        } else {
            client.lease += leases.n as u64;
        }
        client.passage = Passage::new(Chair { lease: client.lease, number });
    }

    fn uses(&mut self, p: usize, leases: &Leases) {
        let client = &mut self.clients[p];
        client.has_used = true;
        let Some(Grant { slot, fence: granted }) = client.passage.grant() else { return };
        let held = self.store.slots[slot].filter(|kept| kept.changed == granted);
        let fence = match (leases.mutant, held) {
            (Some(Mutant::FenceIsTheCreation), Some(kept)) => kept.created,
            _ => granted,
        };
        let (last, last_granted) = self.guarded[slot];
        let is_obeyed = !leases.compares || fence > last;
        if is_obeyed && granted < last_granted || !is_obeyed && held.is_some() {
            self.failed = Some(Claim::Fences);
        }
        if is_obeyed {
            self.guarded[slot] = (fence, granted);
        }
    }

    fn judge(&mut self, leases: &Leases) {
        if self.failed.is_some() {
            return;
        }
        // Whether the store names it as the holder of what it believes to hold.
        let is_right = |client: &Client, Grant { slot, fence }| {
            let chair = client.passage.chair();
            self.store.slots[slot].is_some_and(|kept| kept.chair == chair && kept.changed == fence)
        };
        let is_named = |client: &Client| {
            let counts = !client.is_dead && self.store.is_alive(client.lease);
            let grant = client.passage.grant().filter(|grant| counts && !self.broken.contains(&grant.fence));
            grant.is_none_or(|grant| is_right(client, grant))
        };
        let is_told = |client: &Client| {
            let Some(grant) = client.passage.grant().filter(|_| !client.is_dead) else { return true };
            let is_told = client.passage.is_lost(&seen_by_a_holder(client, grant, leases.mutant));
            let is_up_to_date = client.mirror.revision() == self.store.revision;
            if is_right(client, grant) { !is_told } else { is_told || !is_up_to_date }
        };
        let waits = |client: &Client| client.passage.clone().next(&client.mirror) == Next::Watch;
        let goes = |client: &Client| client.is_dead || !client.has_given_up || !waits(client);
        let claims = [
            (Claim::Order, !self.store.out_of_order),
            (Claim::Names, self.clients.iter().all(is_named)),
            (Claim::Loss, self.clients.iter().all(is_told)),
            (Claim::GiveUps, self.clients.iter().all(goes)),
        ];
        self.failed = claims.into_iter().find(|(_, holds)| !holds).map(|(claim, _)| claim);
    }

    pub(super) fn failed(&self) -> Option<Claim> {
        self.failed
    }

    /// Whether everything is over, and nothing is left behind.
    pub(super) fn is_over(&self) -> bool {
        let is_over = |client: &Client| client.is_dead || client.left == 0;
        let is_free = self.store.waits.is_empty() && self.store.slots.iter().all(Option::is_none);
        self.operator.is_none() && self.clients.iter().all(is_over) && is_free
    }

    /// How many are inside, as far as they know.
    pub(super) fn inside(&self) -> usize {
        self.clients.iter().filter(|client| client.passage.grant().is_some()).count()
    }
}

/// What a client takes its mirror for.
fn seen(mirror: &Mirror, chair: Chair, mutant: Option<Mutant>) -> Cow<'_, Mirror> {
    let Some(mutant) = mutant else { return Cow::Borrowed(mirror) };
    let mut other = mirror.clone();
    match mutant {
        Mutant::BelievesAnOldMirror => other.has_reached(Revision::MAX),
        Mutant::DoesNotLookForFreeSlots => {
            let held = Held { chair: Chair { lease: u64::MAX, number: 0 }, fence: 0 };
            let is_free = |slot: &usize| mirror.slot(*slot).is_none();
            (0..mirror.slots().len()).filter(is_free).for_each(|slot| other.holds(slot, held));
        }
        Mutant::WaitersPass => {
            for (_, waits) in mirror.oldest(usize::MAX).into_iter().filter(|(_, waits)| *waits != chair) {
                other.deleted(Key::Waits(waits));
            }
        }
        _ => {}
    }
    Cow::Owned(other)
}

/// What a holder takes its mirror for, when it asks whether it has lost its slot.
fn seen_by_a_holder(client: &Client, Grant { slot, fence }: Grant, mutant: Option<Mutant>) -> Cow<'_, Mirror> {
    let mirror = &client.mirror;
    let mine = Held { chair: client.passage.chair(), fence };
    match mutant {
        Some(Mutant::ToldByAnOldMirror) => {
            let mut other = mirror.clone();
            other.has_reached(Revision::MAX);
            Cow::Owned(other)
        }
        Some(Mutant::NotToldOfTheNextHolder) if mirror.slot(slot).is_some() => {
            let mut other = mirror.clone();
            other.holds(slot, mine);
            Cow::Owned(other)
        }
        _ => Cow::Borrowed(mirror),
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.store.revision)?;
        for (slot, kept) in self.store.slots.iter().enumerate() {
            if let Some(kept) = kept {
                write!(f, " slot[{slot}]=l{}.{}@{}", kept.chair.lease, kept.chair.number, kept.changed)?;
            }
        }
        for (chair, ticket) in &self.store.waits {
            write!(f, " waits[l{}.{}]@{ticket}", chair.lease, chair.number)?;
        }
        for (p, client) in self.clients.iter().enumerate() {
            if let Some(Grant { slot, fence }) = client.passage.grant() {
                write!(f, "; c{p} has slot {slot}, fence {fence}")?;
            }
        }
        if let Some(Operator { slot, fence: Some(fence), .. }) = &self.operator {
            write!(f, "; the operator breaks slot {slot}, fence {fence}")?;
        }
        Ok(())
    }
}
