//! The threads of a search. They look at states together, and take in what they found together.
//!
//! A round has two halves. In the first, each thread takes some of the next states, and writes down
//! where their steps lead. Tables do not change meanwhile, so it also looks up which of these are
//! known from earlier rounds: most are. In the second half, each thread enters the others into
//! its own tables. Between them, and after them, one thread puts everything into the order in which
//! a search with one thread would have found it. So numbers, traces and counts never depend on how
//! many threads there are.

use super::expand::{AHEAD, Hand, Lens, Looked};
use super::store::{Forms, MOST_STATES, SHARDS, StateId, Store, shard};
use super::table::{MOST, Table, tag};
use crate::sim::State;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says of a step that it leads to a state that was not known before the round.
pub(super) const NEW: StateId = StateId::MAX;
/// How many states a thread takes at a time.
const TAKEN: usize = 64;
/// Fewer states, or new ones, are not worth another thread.
const WORTH_A_THREAD: usize = 512;

/// Something in the notes of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) hand: u32,
    pub(super) at: u32,
}

/// A step that leads to a state which was not known before the round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown {
    hash: u64,
    /// The step among the unknown ones of its thread.
    pub(super) place: Place,
    /// The state of the round from which it was made, and its number among the steps of that state.
    pub(super) state: u32,
    pub(super) step: u32,
}

/// The threads' notes, and what follows from them.
#[derive(Default, Debug)]
pub(super) struct Crew {
    threads: usize,
    /// One for each thread, and one for what is looked at late.
    pub(super) hands: Vec<Hand>,
    /// Where each state of the round is.
    pub(super) places: Vec<Place>,
    /// How many steps there were after each state of the round.
    pub(super) ends: Vec<u32>,
    /// The steps to unknown states, in order, and where each leads. It is [`NEW`] if no earlier one
    /// leads there, until the state has a number.
    pub(super) unknown: Vec<Unknown>,
    pub(super) to: Vec<StateId>,
    /// How many of the unknown steps of each hand were taken over.
    taken: Vec<usize>,
    lookers: Vec<Looker>,
    /// How many threads share the tables in this round.
    sharers: usize,
}

/// What one thread takes in: steps by their places among the unknown ones.
#[derive(Default, Debug)]
#[repr(align(128))] // each thread writes its own
struct Looker {
    /// The steps to states that belong into its tables, with their hashes.
    own: Vec<(u32, u64)>,
    /// The steps to new states, with their tables and slots.
    fresh: Vec<(u32, u32, u32)>,
    /// The steps to states that an earlier step of the round has found.
    again: Vec<(u32, u32)>,
}

impl Crew {
    pub(super) fn new(threads: usize, like: &State) -> Self {
        // Each in a thread of its own, so that small buffers of two share no cache line.
        let mut hands: Vec<_> = (0..=threads).map(|_| None).collect();
        together(&mut hands, &|hand| *hand = Some(Hand::new(like)));
        let hands = hands.into_iter().flatten().collect();
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
        self.ends.clear();
        self.unknown.clear();
        self.taken.clear();
        self.taken.resize(self.hands.len(), 0);
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
                hand.look_up(lens);
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
        self.hands[place.hand as usize].tie(store, begin.loose..end.loose);
    }

    /// How many steps the round has so far.
    pub(super) fn steps(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Takes over the first steps of the next state. Its states have short forms.
    pub(super) fn take_steps(&mut self, place: Place, begin: Looked, many: u32) {
        let hand = &self.hands[place.hand as usize];
        let state = self.ends.len() as u32;
        let taken = &mut self.taken[place.hand as usize];
        while let Some(new) = hand.unknown.get(*taken).filter(|new| new.step < begin.steps + many) {
            let place = Place { hand: place.hand, at: *taken as u32 };
            self.unknown.push(Unknown { hash: new.hash, place, state, step: new.step - begin.steps });
            *taken += 1;
        }
        self.ends.push(self.steps() as u32 + many);
    }

    /// Forgets what was found after these steps of this state.
    pub(super) fn cut(&mut self, state: usize, steps: u32) {
        let left = self.unknown.partition_point(|step| (step.state as usize, step.step) < (state, steps));
        self.unknown.truncate(left);
        self.to.truncate(left);
        self.ends.truncate(state);
        self.ends.push(self.steps() as u32 + steps);
    }

    /// The threads enter the unknown states into their tables.
    pub(super) fn locate(&mut self, store: &mut Store) {
        self.to.clear();
        if !store.bits.is_empty() {
            self.lookers.iter_mut().for_each(Looker::clear);
            let mut is_new = |step: &Unknown| store.bits[shard(step.hash)].set(step.hash);
            self.to.extend(self.unknown.iter().map(|step| if is_new(step) { NEW } else { 0 }));
            return;
        }
        let threads = if self.unknown.len() < WORTH_A_THREAD { 1 } else { self.threads };
        self.sharers = threads;
        let finder = Finder { hands: &self.hands, unknown: &self.unknown, threads };
        let mut workers = with_tables(&mut self.lookers, &mut store.shards, threads);
        together(&mut workers, &|(thread, looker, tables)| finder.find_all(*thread, looker, tables));
        self.lookers[threads..].iter_mut().for_each(Looker::clear);
        self.to.resize(self.unknown.len(), NEW);
        for looker in &self.lookers {
            looker.again.iter().for_each(|&(step, _)| self.to[step as usize] = 0);
        }
    }

    /// New states have numbers now: the threads write these into their tables.
    pub(super) fn give_numbers(&mut self, store: &mut Store) {
        if !store.bits.is_empty() {
            return;
        }
        let (many, threads) = (self.unknown.len(), self.sharers);
        for looker in &self.lookers {
            for &(step, first) in looker.again.iter().filter(|(step, _)| (*step as usize) < many) {
                self.to[step as usize] = self.to[first as usize];
            }
        }
        let mut workers = with_tables(&mut self.lookers, &mut store.shards, threads);
        together(&mut workers, &|(_, looker, tables)| {
            for &(step, table, slot) in looker.fresh.iter().filter(|(step, ..)| (*step as usize) < many) {
                tables[table as usize / threads].replace(slot as usize, self.to[step as usize]);
            }
        });
    }
}

/// Each thread has every so many-th table.
fn with_tables<'a>(
    lookers: &'a mut [Looker],
    tables: &'a mut [Table],
    threads: usize,
) -> Vec<(usize, &'a mut Looker, Vec<&'a mut Table>)> {
    let mut workers: Vec<_> = lookers[..threads].iter_mut().enumerate().map(|(i, one)| (i, one, Vec::new())).collect();
    for (i, table) in tables.iter_mut().enumerate() {
        workers[i % threads].2.push(table);
    }
    workers
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
        self.own.clear();
        self.fresh.clear();
        self.again.clear();
    }
}

/// What threads enter states with.
struct Finder<'a> {
    hands: &'a [Hand],
    unknown: &'a [Unknown],
    threads: usize,
}

impl Finder<'_> {
    fn forms(&self, step: usize) -> Forms<'_> {
        let Place { hand, at } = self.unknown[step].place;
        self.hands[hand as usize].forms(at as usize)
    }

    /// Enters the states that belong into these tables.
    fn find_all(&self, thread: usize, looker: &mut Looker, tables: &mut [&mut Table]) {
        looker.clear();
        let Looker { own, fresh, again } = looker;
        let mut more = [0usize; SHARDS];
        for (step, unknown) in (0..).zip(self.unknown) {
            let shard = shard(unknown.hash);
            if shard % self.threads == thread {
                more[shard] += 1;
                own.push((step, unknown.hash));
            }
        }
        for (i, table) in tables.iter_mut().enumerate() {
            table.reserve(more[i * self.threads + thread]);
        }
        for (i, &(step, hash)) in own.iter().enumerate() {
            if i % AHEAD == 0 {
                let some = own[i..].iter().take(AHEAD);
                let touched = some.fold(0, |sum, &(_, hash)| sum ^ tables[shard(hash) / self.threads].touch(tag(hash)));
                std::hint::black_box(touched);
            }
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
                Some(first) => again.push((step, MOST - first)),
                None => {
                    let slot = table.add(tag(hash), MOST - step);
                    fresh.push((step, shard as u32, slot as u32));
                }
            }
        }
    }
}
