//! The threads of a search. They look at states together, and take in what they found together.
//!
//! A round has two halves. In the first, each thread takes some of the next states, and writes down
//! where their steps lead. Tables do not change meanwhile, so it also looks up which of these are
//! known from earlier rounds: most are. In the second half, each thread decides about the others
//! that belong into its own tables: which are new, and which were found before in the same round.
//! Between the halves one thread only puts together which hand has which states, a run of states
//! at a time, and after them it adds the new states in the order in which a search with one thread
//! would have found them. So numbers, traces and counts never depend on how many threads there are.

use super::ahead::ask_for;
use super::expand::{AHEAD, Hand, Lens, Unseen};
use super::store::{Forms, MOST_STATES, SHARDS, StateId, Store, shard};
use super::table::{MOST, Table, tag};
use crate::sim::State;
use std::ops::Range;
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

/// States that a thread has taken together: the first of them among its own.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    place: Place,
    /// Whether nothing was noted about any of them.
    is_plain: bool,
}

/// States of a round, one after the other, in the notes of one thread.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) hand: usize,
    /// The states among those of the thread.
    pub(super) states: Range<usize>,
    /// How many steps they have. Only of the last state of a round some may be left out.
    pub(super) steps: u32,
    /// Their steps to unknown states, among those of the thread.
    pub(super) unknown: Range<usize>,
}

/// The threads' notes, and what follows from them.
#[derive(Default, Debug)]
pub(super) struct Crew {
    threads: usize,
    /// One for each thread, and one for what is looked at late.
    pub(super) hands: Vec<Hand>,
    chunks: Vec<Chunk>,
    /// The states of the round in order, as far as it goes.
    pub(super) runs: Vec<Run>,
    /// How many steps they have.
    steps: usize,
    /// One for each thread that has tables in this round.
    lookers: Vec<Looker>,
    sharers: usize,
}

/// What one thread takes in: the steps to unknown states that belong into its tables.
#[derive(Default, Debug)]
#[repr(align(128))] // each thread writes its own
struct Looker {
    own: Vec<Place>,
    /// Where each of them leads: [`NEW`] until the state has a number; or to the same state as an
    /// earlier one, which is as far below [`MOST`].
    to: Vec<StateId>,
    /// The steps to new states, with their tables and slots.
    fresh: Vec<(u32, u32, u32)>,
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
        self.runs.clear();
        self.steps = 0;
        let next = AtomicUsize::new(0);
        let work = |hand: &mut Hand| {
            let mut taken = Vec::new();
            loop {
                let from = next.fetch_add(TAKEN, Ordering::Relaxed);
                if from >= many {
                    return taken;
                }
                let at = hand.states.len();
                for i in from..many.min(from + TAKEN) {
                    hand.look(lens, (first + i) as StateId);
                }
                hand.look_up(lens);
                taken.push((from / TAKEN, at as u32, hand.is_plain_from(at)));
            }
        };
        let threads = if many < WORTH_A_THREAD { 1 } else { self.threads };
        let taken = together(&mut self.hands[..threads], &work);
        self.chunks.clear();
        self.chunks.resize(many.div_ceil(TAKEN), Chunk { place: Place { hand: 0, at: 0 }, is_plain: false });
        for (hand, taken) in (0..).zip(taken) {
            for (chunk, at, is_plain) in taken {
                self.chunks[chunk] = Chunk { place: Place { hand, at }, is_plain };
            }
        }
    }

    /// Where a state of the round is, and how many from there on are in one place, with nothing
    /// noted about any of them: none, or all that a thread has taken together.
    pub(super) fn place(&self, state: usize, many: usize) -> (Place, usize) {
        let Chunk { place, is_plain } = self.chunks[state / TAKEN];
        let skipped = state % TAKEN;
        let all = if is_plain && skipped == 0 { TAKEN.min(many - state) } else { 0 };
        (Place { at: place.at + skipped as u32, ..place }, all)
    }

    /// Gives a short form to the states to which the steps of these states lead, if they have none.
    pub(super) fn tie(&mut self, store: &mut Store, place: Place, many: usize) {
        let (hand, first) = (&mut self.hands[place.hand as usize], place.at as usize);
        let (begin, end) = (hand.looked(first).0.loose, hand.states[first + many - 1].loose);
        hand.tie(store, begin..end);
    }

    /// How many steps the round has so far.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Takes over the next states, and so many of their steps: all, except perhaps of the last.
    /// The states to which they lead have short forms.
    pub(super) fn take(&mut self, place: Place, many: usize, steps: u32) {
        let (hand, at) = (place.hand as usize, place.at as usize);
        let first = self.hands[hand].looked(at).0.steps;
        let unknown = self.hands[hand].unknown_between(first, first + steps);
        self.runs.push(Run { hand, states: at..at + many, steps, unknown });
        self.steps += steps as usize;
    }

    /// Leaves out everything after this unknown step of this run.
    pub(super) fn cut(&mut self, run: usize, unknown: usize) {
        self.runs.truncate(run + 1);
        let Some(last) = self.runs.last_mut() else { return };
        let hand = &self.hands[last.hand];
        let Unseen { step, .. } = hand.unknown[unknown];
        let state = hand.states.partition_point(|state| state.steps <= step);
        last.states.end = state + 1;
        last.steps = step + 1 - hand.looked(last.states.start).0.steps;
        last.unknown.end = unknown + 1;
        self.steps = self.runs.iter().map(|run| run.steps as usize).sum();
    }

    /// The threads find out which of the unknown states are new, and enter them into their tables.
    pub(super) fn locate(&mut self, store: &mut Store) {
        self.lookers.iter_mut().for_each(Looker::clear);
        let many = self.runs.iter().map(|run| run.unknown.len()).sum::<usize>();
        self.sharers = if many < WORTH_A_THREAD || !store.bits.is_empty() { 1 } else { self.threads };
        let finder = Finder { hands: &self.hands, runs: &self.runs, threads: self.sharers };
        if store.bits.is_empty() {
            let mut workers = with_tables(&mut self.lookers, &mut store.shards, self.sharers);
            together(&mut workers, &|(thread, looker, tables)| finder.find_all(*thread, looker, tables));
        } else {
            let mut is_new = |new: &Unseen| store.bits[shard(new.hash)].set(new.hash);
            let new = finder.unknown().map(|(_, new)| if is_new(new) { NEW } else { 0 });
            self.lookers[0].to.extend(new);
        }
    }

    /// Gives the numbers from `next` on to the new states, in the order in which they were found.
    /// Ends after a step that leads to one more than `most`, and returns its run and its place in
    /// the notes.
    pub(super) fn number(&mut self, mut next: usize, most: usize) -> Option<(usize, usize)> {
        let mut answers: Vec<_> = self.lookers[..self.sharers].iter_mut().map(|looker| looker.to.iter_mut()).collect();
        for (i, run) in self.runs.iter().enumerate() {
            let unknown = &self.hands[run.hand].unknown;
            for at in run.unknown.clone() {
                let looker = shard(unknown[at].hash) % self.sharers;
                let to = answers[looker].next().expect("there is an answer for each");
                if *to == NEW {
                    *to = next as StateId;
                    next += 1;
                    if next > most {
                        return Some((i, at));
                    }
                }
            }
        }
        None
    }

    /// Adds the new states, which have numbers, to the store. Meanwhile other threads write the
    /// numbers into the tables.
    pub(super) fn add(&mut self, store: &mut Store) {
        let (this, mut tables) = (&*self, std::mem::take(&mut store.shards));
        let mut works = vec![Work { adds: Some(&mut *store), numbers: Vec::new() }];
        works.extend((1..self.sharers).map(|_| Work { adds: None, numbers: Vec::new() }));
        for (i, looker, tables) in with_tables(&this.lookers, &mut tables, self.sharers) {
            works[(i + 1).min(this.sharers - 1)].numbers.push((looker, tables));
        }
        together(&mut works, &|Work { adds, numbers }| {
            adds.iter_mut().for_each(|store| this.add_all(store));
            numbers.iter_mut().for_each(|(looker, tables)| looker.write_numbers(this.sharers, tables));
        });
        drop(works);
        store.shards = tables;
    }

    fn add_all(&self, store: &mut Store) {
        let mut answers: Vec<_> = self.lookers[..self.sharers].iter().map(|looker| looker.to.iter()).collect();
        for run in &self.runs {
            let hand = &self.hands[run.hand];
            for at in run.unknown.clone() {
                let new = &hand.unknown[at];
                let to = answers[shard(new.hash) % self.sharers].next().expect("there is an answer for each");
                if *to as usize == store.len() {
                    store.add(new.parent, new.action, hand.forms(at).short);
                }
            }
        }
    }

    /// Where the steps to unknown states lead, in order, when these have numbers.
    pub(super) fn found(&self) -> impl Iterator<Item = StateId> {
        let mut answers: Vec<_> = self.lookers[..self.sharers].iter().map(|looker| looker.to.iter()).collect();
        let finder = Finder { hands: &self.hands, runs: &self.runs, threads: self.sharers };
        finder.unknown().map(move |(_, new)| {
            let looker = shard(new.hash) % self.sharers;
            let to = *answers[looker].next().expect("there is an answer for each");
            if to as usize > MOST_STATES { self.lookers[looker].to[(MOST - to) as usize] } else { to }
        })
    }
}

/// What one thread does with new states that have numbers.
struct Work<'a> {
    /// The first adds them.
    adds: Option<&'a mut Store>,
    /// The others write their numbers into these tables.
    numbers: Vec<(&'a Looker, Vec<&'a mut Table>)>,
}

/// Each thread has every so many-th table.
fn with_tables<L>(
    lookers: impl IntoIterator<Item = L>,
    tables: &mut [Table],
    threads: usize,
) -> Vec<(usize, L, Vec<&mut Table>)> {
    let lookers = lookers.into_iter().take(threads).enumerate();
    let mut workers: Vec<_> = lookers.map(|(i, looker)| (i, looker, Vec::new())).collect();
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
        self.to.clear();
        self.fresh.clear();
    }

    /// Writes the numbers of new states into its tables.
    fn write_numbers(&self, threads: usize, tables: &mut [&mut Table]) {
        for &(step, table, slot) in &self.fresh {
            let number = self.to[step as usize];
            if number != NEW {
                tables[table as usize / threads].replace(slot as usize, number);
            }
        }
    }
}

/// What threads enter states with.
#[derive(Clone, Copy)]
struct Finder<'a> {
    hands: &'a [Hand],
    runs: &'a [Run],
    threads: usize,
}

impl<'a> Finder<'a> {
    /// The steps to unknown states, in order.
    fn unknown(self) -> impl Iterator<Item = (Place, &'a Unseen)> {
        self.runs.iter().flat_map(move |run| {
            let place = move |at: usize| Place { hand: run.hand as u32, at: at as u32 };
            run.unknown.clone().map(place).zip(&self.hands[run.hand].unknown[run.unknown.clone()])
        })
    }

    fn hash(self, Place { hand, at }: Place) -> u64 {
        self.hands[hand as usize].unknown[at as usize].hash
    }

    fn forms(self, Place { hand, at }: Place) -> Forms<'a> {
        self.hands[hand as usize].forms(at as usize)
    }

    /// Enters the states that belong into these tables.
    fn find_all(self, thread: usize, looker: &mut Looker, tables: &mut [&mut Table]) {
        let Looker { own, to, fresh } = looker;
        let mut more = [0usize; SHARDS];
        for (place, new) in self.unknown() {
            let shard = shard(new.hash);
            if shard % self.threads == thread {
                more[shard] += 1;
                own.push(place);
            }
        }
        for (i, table) in tables.iter_mut().enumerate() {
            table.reserve(more[i * self.threads + thread]);
        }
        for (i, &place) in own.iter().enumerate() {
            if i % AHEAD == 0 {
                for hash in own[i..].iter().take(AHEAD).map(|&place| self.hash(place)) {
                    tables[shard(hash) / self.threads].begin(tag(hash)).into_iter().for_each(ask_for);
                }
            }
            let hash = self.hash(place);
            let shard = shard(hash);
            let table = &mut tables[shard / self.threads];
            let new = self.forms(place);
            // A state that was found in this round has no number yet, but its step has.
            let is_same = |id: u32| {
                id as usize > MOST_STATES && {
                    let first = self.forms(own[(MOST - id) as usize]);
                    if new.compared.is_empty() { first.short == new.short } else { first.compared == new.compared }
                }
            };
            let found = table.find(tag(hash), is_same);
            to.push(found.unwrap_or(NEW));
            if let Err(slot) = found {
                table.fill(slot, tag(hash), MOST - i as u32);
                fresh.push((i as u32, shard as u32, slot as u32));
            }
        }
    }
}
