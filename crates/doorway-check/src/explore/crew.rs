//! The threads of a search. They look at states together, and look up what they found together.
//!
//! A round has two halves. In the first, each thread takes some of the next states, and writes down
//! where their steps lead. In the second, each thread looks up the found states that are in its
//! tables. Between them, and after them, one thread puts everything into the order in which a
//! search with one thread would have found it. So numbers, traces and counts never depend on how
//! many threads there are.

use super::expand::{Hand, Lens, Looked, NO_TABLE};
use super::store::{Forms, MOST_STATES, SHARDS, Spare, StateId, Store, shard};
use super::table::{MOST, Table, tag};
use crate::sim::{Machine, State};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says of a step that it leads to a new state.
pub(super) const NEW: StateId = StateId::MAX;
/// How many states a thread takes at a time.
const TAKEN: usize = 64;
/// Fewer states are not worth another thread.
const WORTH_A_THREAD: usize = 512;
/// How many look-ups are begun before the first is finished.
const AHEAD: usize = 64;

/// Something in the notes of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) hand: u32,
    pub(super) at: u32,
}

/// The threads' notes, and what follows from them.
#[derive(Default, Debug)]
pub(super) struct Crew {
    threads: usize,
    /// One for each thread, and one for what is looked at late.
    pub(super) hands: Vec<Hand>,
    /// Where each state of the round is.
    pub(super) places: Vec<Place>,
    /// The steps of the round, in order; and where those of each state end.
    pub(super) steps: Vec<Place>,
    pub(super) ends: Vec<u32>,
    /// Where each step leads, if that is asked for, or [`NEW`].
    pub(super) to: Vec<StateId>,
    lookers: Vec<Looker>,
}

/// What one thread looks up.
#[derive(Default, Debug)]
struct Looker {
    spare: Spare,
    /// The steps to states that are not in a table, or only since this round.
    unknown: Vec<u32>,
    /// The steps to new states, with their tables and slots.
    fresh: Vec<(u32, u32, u32)>,
    /// The steps to known states.
    known: Vec<(u32, StateId)>,
    /// The steps to states that are new, but were found by an earlier step of the round.
    again: Vec<(u32, u32)>,
}

impl Crew {
    pub(super) fn new(threads: usize, like: &State) -> Self {
        let hands = (0..=threads).map(|_| Hand::new(like)).collect();
        let lookers = (0..threads).map(|_| Looker::default()).collect();
        Self { threads, hands, lookers, ..Self::default() }
    }

    /// The notes about states for which something was missing at first.
    pub(super) fn late(&mut self) -> &mut Hand {
        self.hands.last_mut().expect("there is one hand more than threads")
    }

    /// The threads look at these states.
    pub(super) fn look(&mut self, lens: Lens<'_>, first: usize, many: usize) {
        self.hands.iter_mut().for_each(Hand::clear);
        let next = AtomicUsize::new(0);
        let work = |hand: &mut Hand| {
            let mut taken = Vec::new();
            loop {
                let from = next.fetch_add(TAKEN, Ordering::Relaxed);
                if from >= many {
                    return taken;
                }
                taken.push((from, hand.states.len()));
                for i in from..many.min(from + TAKEN) {
                    hand.look(lens, (first + i) as StateId);
                }
            }
        };
        let threads = if many < WORTH_A_THREAD { 1 } else { self.threads };
        let taken = together(&mut self.hands[..threads], &work);
        self.places.clear();
        self.places.resize(many, Place { hand: 0, at: 0 });
        for (hand, taken) in taken.into_iter().enumerate() {
            for (from, at) in taken {
                for i in from..many.min(from + TAKEN) {
                    self.places[i] = Place { hand: hand as u32, at: (at + i - from) as u32 };
                }
            }
        }
    }

    /// Gives a short form to the states to which the steps of a state lead, if they have none.
    pub(super) fn tie(&mut self, store: &mut Store, place: Place, begin: Looked, end: Looked) {
        let Hand { edges, tables, bytes, loose, .. } = &mut self.hands[place.hand as usize];
        for (edge, raw) in &loose[begin.loose as usize..end.loose as usize] {
            let found = &mut edges[*edge as usize];
            let compared = bytes[found.compared as usize..found.to as usize].to_vec();
            found.from = bytes.len() as u32;
            store.tie_loose(raw, bytes);
            if compared.is_empty() && store.bits.is_empty() {
                found.hash = store.hash(&bytes[found.from as usize..]);
                tables[*edge as usize] = shard(found.hash) as u8;
            }
            found.compared = bytes.len() as u32;
            bytes.extend_from_slice(&compared);
            found.to = bytes.len() as u32;
        }
    }

    /// The threads look up where the steps lead, each in its own tables.
    pub(super) fn locate(&mut self, machine: &Machine, store: &mut Store, all: bool) {
        if !store.bits.is_empty() {
            return self.locate_bits(store);
        }
        let mut tables = std::mem::take(&mut store.shards);
        let threads = if self.steps.len() < 2 * WORTH_A_THREAD { 1 } else { self.threads };
        let mut of_thread: Vec<Vec<&mut Table>> = (0..threads).map(|_| Vec::new()).collect();
        for (i, table) in tables.iter_mut().enumerate() {
            of_thread[i % threads].push(table);
        }
        let finder = Finder { machine, store, hands: &self.hands, steps: &self.steps, threads, all };
        let mut workers: Vec<_> = self.lookers.iter_mut().zip(of_thread).enumerate().collect();
        let workers = &mut workers[..threads];
        together(workers, &|(thread, (looker, tables))| finder.find_all(*thread, looker, tables));
        self.to.clear();
        self.to.resize(self.steps.len(), 0);
        for looker in &self.lookers[..threads] {
            looker.known.iter().for_each(|&(step, id)| self.to[step as usize] = id);
            looker.fresh.iter().for_each(|&(step, ..)| self.to[step as usize] = NEW);
        }
        self.lookers[threads..].iter_mut().for_each(Looker::clear);
        store.shards = tables;
    }

    /// The same, if states are only bits.
    fn locate_bits(&mut self, store: &mut Store) {
        let Self { hands, steps, to, .. } = self;
        to.clear();
        to.extend(steps.iter().map(|place| {
            let found = &hands[place.hand as usize].edges[place.at as usize];
            if !found.same && store.bits[shard(found.hash)].set(found.hash) { NEW } else { 0 }
        }));
        self.lookers.iter_mut().for_each(Looker::clear);
    }

    /// New states have numbers now: writes these into the tables.
    pub(super) fn give_numbers(&mut self, store: &mut Store) {
        let steps = self.steps.len();
        for looker in &self.lookers {
            for &(step, table, slot) in looker.fresh.iter().filter(|(step, ..)| (*step as usize) < steps) {
                store.shards[table as usize].replace(slot as usize, self.to[step as usize]);
            }
            for &(step, first) in looker.again.iter().filter(|(step, _)| (*step as usize) < steps) {
                self.to[step as usize] = self.to[first as usize];
            }
        }
    }
}

/// Does the work of each of them on a thread of its own, and returns the results in their order.
fn together<T: Send, R: Send>(all: &mut [T], work: &(impl Fn(&mut T) -> R + Sync)) -> Vec<R> {
    let Some((first, others)) = all.split_first_mut() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = others.iter_mut().map(|one| scope.spawn(move || work(one))).collect();
        let mut results = vec![work(first)];
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

impl Looker {
    fn clear(&mut self) {
        self.unknown.clear();
        self.fresh.clear();
        self.known.clear();
        self.again.clear();
    }
}

/// What threads look up with.
struct Finder<'a> {
    machine: &'a Machine,
    store: &'a Store,
    hands: &'a [Hand],
    steps: &'a [Place],
    threads: usize,
    /// Whether it matters where steps to known states lead.
    all: bool,
}

impl Finder<'_> {
    fn hash(&self, step: usize) -> u64 {
        let Place { hand, at } = self.steps[step];
        self.hands[hand as usize].edges[at as usize].hash
    }

    /// Whether a step is to be looked up by this thread. All threads ask this of all steps, so it
    /// reads little.
    fn is_for(&self, thread: usize, step: usize) -> bool {
        let Place { hand, at } = self.steps[step];
        let table = self.hands[hand as usize].tables[at as usize];
        table != NO_TABLE && usize::from(table) % self.threads == thread
    }

    fn forms(&self, step: usize) -> Forms<'_> {
        let Place { hand, at } = self.steps[step];
        let hand = &self.hands[hand as usize];
        let found = &hand.edges[at as usize];
        let [from, compared, to] = [found.from, found.compared, found.to].map(|at| at as usize);
        Forms { short: &hand.bytes[from..compared], compared: &hand.bytes[compared..to] }
    }

    /// Looks up the steps that lead to states in these tables.
    fn find_all(&self, thread: usize, looker: &mut Looker, tables: &mut [&mut Table]) {
        looker.clear();
        let mut begun = Vec::with_capacity(AHEAD);
        for step in 0..self.steps.len() {
            if self.is_for(thread, step) {
                begun.push((step, self.hash(step), None));
            }
            if begun.len() == AHEAD || step + 1 == self.steps.len() {
                self.find_some(&mut begun, looker, tables);
            }
        }
        let mut more = [0usize; SHARDS];
        for &step in &looker.unknown {
            more[shard(self.hash(step as usize))] += 1;
        }
        for (i, table) in tables.iter_mut().enumerate() {
            table.reserve(more[i * self.threads + thread]);
        }
        for &step in &looker.unknown {
            let hash = self.hash(step as usize);
            let shard = shard(hash);
            let table = &mut tables[shard / self.threads];
            let new = self.forms(step as usize);
            // A state that was found in this round has no number yet, but its step has.
            let is_same = |id: u32| {
                id as usize > MOST_STATES && {
                    let first = self.forms((MOST - id) as usize);
                    if new.compared.is_empty() { first.short == new.short } else { first.compared == new.compared }
                }
            };
            match table.find(tag(hash), is_same) {
                Some(first) => looker.again.push((step, MOST - first)),
                None => {
                    let slot = table.add(tag(hash), MOST - step);
                    looker.fresh.push((step, shard as u32, slot as u32));
                }
            }
        }
    }

    /// Looks up several steps. Each is begun before the first is finished, because what it needs
    /// may be far away.
    fn find_some(
        &self,
        begun: &mut Vec<(usize, u64, Option<StateId>)>,
        looker: &mut Looker,
        tables: &mut [&mut Table],
    ) {
        let table = |hash: u64| &*tables[shard(hash) / self.threads];
        let mut sum = 0;
        for &(_, hash, _) in &*begun {
            sum ^= table(hash).touch(tag(hash));
        }
        for (_, hash, first) in &mut *begun {
            *first = table(*hash).find(tag(*hash), |_| true);
            sum ^= first.map_or(0, |id| u64::from(self.store.touch(id)));
        }
        std::hint::black_box(sum);
        for (step, hash, first) in begun.drain(..) {
            let new = self.forms(step);
            let mut is = |id| self.store.is_known_as(self.machine, id, new, &mut looker.spare);
            // Mostly the first with this tag is the one.
            let found = first.and_then(|id| if is(id) { Some(id) } else { table(hash).find(tag(hash), is) });
            match found {
                Some(id) if self.all => looker.known.push((step as u32, id)),
                Some(_) => {}
                None => looker.unknown.push(step as u32),
            }
        }
    }
}
