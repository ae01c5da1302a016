//! The threads of a search. They look at states together, and take in what they found together.
//!
//! A round has four parts, and all threads work on each but the second:
//!
//! 1. Each thread takes some of the next states, and writes down where their steps lead. Tables do
//!    not change meanwhile, so it also looks up which of these are known from earlier rounds: most
//!    are.
//! 2. One thread puts together which hand has which states, a run of states at a time.
//! 3. Each thread decides about the unknown states that belong into its own tables: which are new,
//!    and which were found before in the same round. Then it is known how many new states each run
//!    has, and so the numbers of them all. Each thread numbers the new states of its own hand, and
//!    writes them as the store keeps them.
//! 4. Each thread writes the numbers into its own tables. One also adds what the hands have
//!    written to the store, run by run.
//!
//! The numbers are those that a search with one thread would give. So numbers, traces and counts
//! never depend on how many threads there are.

use super::ahead::ask_for;
use super::expand::{AHEAD, Hand, Lens};
use super::store::{Forms, MOST_STATES, SHARDS, StateId, Store, owner, shard};
use super::table::{MOST, Table, tag};
use super::team::Team;
use crate::sim::State;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says of a step that it leads to a state that was not known before the round.
pub(super) const NEW: StateId = StateId::MAX;
/// How many states a thread takes at a time.
const TAKEN: usize = 128;
/// Fewer states, or new ones, are not worth another thread.
const WORTH_A_THREAD: usize = 512;

/// Something in the notes of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) hand: u32,
    pub(super) at: u32,
}

/// States that a thread has taken together: the first of them among its own, and what the thread
/// that puts them in order has to know. It need not look for that at what another thread wrote.
#[derive(Clone, Debug)]
struct Chunk {
    place: Place,
    states: usize,
    /// How many steps they have, and which of the unknown ones are theirs.
    steps: u32,
    unknown: Range<usize>,
    /// Whether nothing was noted about any of them.
    is_plain: bool,
    /// Whether some steps lead to states that have no short form yet.
    has_loose: bool,
}

/// Chunks that lie side by side. States that are found one after the other often have variables in
/// common, so a thread that looks at neighbours has made more of their steps before.
#[derive(Debug)]
#[repr(align(128))] // each thread mostly takes from its own
struct Span {
    next: AtomicUsize,
    end: usize,
}

impl Span {
    fn new(chunks: Range<usize>) -> Self {
        Self { next: AtomicUsize::new(chunks.start), end: chunks.end }
    }

    /// Takes one after the other, as long as there are some.
    fn taken(&self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(|| Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|chunk| *chunk < self.end))
    }
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
    team: Team,
    /// One for each thread, and one for what is looked at late.
    pub(super) hands: Vec<Hand>,
    /// The states of the round, in order.
    chunks: Vec<Chunk>,
    /// As far as the round goes: its states in order, and how many states and steps that are.
    pub(super) runs: Vec<Run>,
    taken: usize,
    steps: usize,
    /// One for each thread.
    lookers: Vec<Looker>,
    /// How many of them have tables in this round.
    sharers: usize,
}

/// What one thread takes in: the steps to unknown states that belong into its tables.
#[derive(Default, Debug)]
#[repr(align(128))] // each thread writes its own
struct Looker {
    own: Vec<Own>,
    /// Where each of them leads: [`NEW`] if the state is new; or to the same state as an earlier
    /// one, which is as far below [`MOST`].
    to: Vec<StateId>,
    /// The steps to new states, with their tables and slots.
    fresh: Vec<(u32, u32, u32)>,
    /// Where the steps of each run begin.
    begins: Vec<Begin>,
    /// How many states are new.
    new: usize,
}

/// A step to an unknown state.
#[derive(Clone, Copy, Debug)]
struct Own {
    hash: u64,
    place: Place,
}

/// How many steps of a thread, and how many of its new states, come before a run.
#[derive(Clone, Copy, Debug)]
struct Begin {
    steps: u32,
    new: u32,
}

impl Crew {
    pub(super) fn new(threads: usize, like: &State) -> Self {
        let team = Team::new(threads);
        // Each in the thread that uses it, so that small buffers of two share no cache line.
        let mut hands: Vec<_> = (0..=threads).map(|_| None).collect();
        team.together(threads, &mut hands, |hand| *hand = Some(Hand::new(like)));
        let hands = hands.into_iter().flatten().collect();
        let lookers = (0..threads).map(|_| Looker::default()).collect();
        Self { team, hands, lookers, ..Self::default() }
    }

    /// The notes about states for which something was missing at first.
    pub(super) fn late(&mut self) -> &mut Hand {
        self.hands.last_mut().expect("there is one hand more than threads")
    }

    /// The threads look at these states. As long as others have enough to look at, this thread does
    /// chores instead, which no other can do. Each call does one, and says whether there are more.
    pub(super) fn look(&mut self, lens: Lens<'_>, first: usize, many: usize, chore: &mut dyn FnMut() -> bool) {
        self.hands.iter_mut().for_each(Hand::clear);
        self.runs.clear();
        (self.taken, self.steps) = (0, 0);
        let threads = if many < WORTH_A_THREAD { 1 } else { self.team.threads() };
        let all = many.div_ceil(TAKEN);
        let spans: Vec<_> = (0..threads).map(|i| Span::new(all * i / threads..all * (i + 1) / threads)).collect();
        let mut works: Vec<_> = (0..).zip(&mut self.hands[..threads]).map(|(i, hand)| (i, hand, Vec::new())).collect();
        let is_left = || spans.iter().any(|span| span.next.load(Ordering::Relaxed) < span.end);
        let chores = || while is_left() && chore() && many >= WORTH_A_THREAD {};
        self.team.together_after(threads, &mut works, chores, |(i, hand, chunks)| {
            // First its own, then what others have left.
            let mine = *i as usize;
            for chunk in spans[mine..].iter().chain(&spans[..mine]).flat_map(Span::taken) {
                let from = chunk * TAKEN;
                hand.begin();
                let states = TAKEN.min(many - from);
                let (place, unknown) = (Place { hand: *i, at: hand.states.len() as u32 }, hand.unknown.len());
                for i in from..from + states {
                    hand.look(lens, (first + i) as StateId);
                }
                hand.look_up(lens);
                let (begin, end) = (hand.looked(place.at as usize).0, hand.looked(hand.states.len() - 1).1);
                let looked = Chunk {
                    place,
                    states,
                    steps: end.steps - begin.steps,
                    unknown: unknown..hand.unknown.len(),
                    is_plain: hand.are_plain(place.at as usize, states),
                    has_loose: begin.loose < end.loose,
                };
                chunks.push((chunk, looked));
            }
        });
        let mut taken: Vec<_> = works.into_iter().flat_map(|(.., chunks)| chunks).collect();
        taken.sort_unstable_by_key(|(chunk, _)| *chunk);
        self.chunks = taken.into_iter().map(|(_, looked)| looked).collect();
    }

    /// Where the next state of the round is, and how many from there on are in one place, with
    /// nothing noted about any of them.
    pub(super) fn place(&self) -> (Place, usize) {
        let chunk = &self.chunks[self.taken / TAKEN];
        let skipped = self.taken % TAKEN;
        let place = Place { at: chunk.place.at + skipped as u32, ..chunk.place };
        let (hand, left) = (&self.hands[place.hand as usize], chunk.states - skipped);
        let is_plain = |at: &usize| chunk.is_plain || hand.are_plain(*at, 1);
        (place, (place.at as usize..).take(left).take_while(is_plain).count())
    }

    /// The next states of the round, if these are all that a thread has taken together.
    fn whole(&self, place: Place, many: usize) -> Option<&Chunk> {
        self.chunks.get(self.taken / TAKEN).filter(|chunk| (chunk.place, chunk.states) == (place, many))
    }

    /// Gives a short form to the states to which the steps of these states lead, if they have none.
    pub(super) fn tie(&mut self, store: &mut Store, place: Place, many: usize) {
        if self.whole(place, many).is_some_and(|chunk| !chunk.has_loose) {
            return;
        }
        let (hand, first) = (&mut self.hands[place.hand as usize], place.at as usize);
        let (begin, end) = (hand.looked(first).0.loose, hand.states[first + many - 1].loose);
        hand.tie(store, begin..end);
    }

    /// How many steps the round has so far.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// How many steps these states have.
    pub(super) fn steps_of(&self, place: Place, many: usize) -> u32 {
        self.whole(place, many).map_or_else(
            || {
                let (hand, first) = (&self.hands[place.hand as usize], place.at as usize);
                hand.states[first + many - 1].steps - hand.looked(first).0.steps
            },
            |chunk| chunk.steps,
        )
    }

    /// Takes over the next states, and this many of their steps: all, except perhaps of the last
    /// state. The states to which they lead have short forms.
    pub(super) fn take(&mut self, place: Place, many: usize, steps: u32) {
        let (hand, at) = (place.hand as usize, place.at as usize);
        let whole = self.whole(place, many).filter(|chunk| chunk.steps == steps);
        let unknown = whole.map(|chunk| chunk.unknown.clone()).unwrap_or_else(|| {
            let first = self.hands[hand].looked(at).0.steps;
            self.hands[hand].unknown_between(first, first + steps)
        });
        self.runs.push(Run { hand, states: at..at + many, steps, unknown });
        self.taken += many;
        self.steps += steps as usize;
    }

    /// Leaves out everything after this unknown step of this run.
    pub(super) fn cut(&mut self, run: usize, unknown: usize) {
        self.runs.truncate(run + 1);
        let Some(last) = self.runs.last_mut() else { return };
        let hand = &self.hands[last.hand];
        let step = hand.unknown[unknown].step;
        let state = hand.states.partition_point(|state| state.steps <= step);
        last.states.end = state + 1;
        last.steps = step + 1 - hand.looked(last.states.start).0.steps;
        last.unknown.end = unknown + 1;
        self.steps = self.runs.iter().map(|run| run.steps as usize).sum();
    }

    /// The threads find out which of the unknown states are new, and enter them into their tables.
    pub(super) fn locate(&mut self, store: &mut Store) {
        let Self { team, hands, runs, lookers, sharers, .. } = self;
        let many = runs.iter().map(|run| run.unknown.len()).sum::<usize>();
        let is_shared = many >= WORTH_A_THREAD && store.bits.is_empty();
        *sharers = if is_shared { team.threads().min(SHARDS) } else { 1 };
        let finder = Finder { hands, runs, threads: *sharers };
        if !store.bits.is_empty() {
            return lookers[0].set_all(finder, store);
        }
        let mut works = with_tables(&mut lookers[..*sharers], &mut store.shards);
        team.together(*sharers, &mut works, |(thread, looker, tables)| looker.find_all(finder, *thread, tables));
    }

    /// The step that leads to one more new state than there is room for: its run, and its place in
    /// the notes.
    pub(super) fn first_beyond(&self, room: usize) -> Option<(usize, usize)> {
        let lookers = &self.lookers[..self.sharers];
        if lookers.iter().map(|looker| looker.new).sum::<usize>() <= room {
            return None;
        }
        let all: Vec<_> = (0..self.runs.len()).collect();
        let run = all.partition_point(|&run| new_before(lookers, run) <= room) - 1;
        let (hand, mut answers) = (&self.hands[self.runs[run].hand], Answers::default());
        answers.begin(lookers, run);
        let mut new = self.runs[run].unknown.clone().filter(|&at| answers.next(lookers, hand.hashes[at]) == NEW);
        new.nth(room - new_before(lookers, run)).map(|at| (run, at))
    }

    /// Adds the new states to the store, and their numbers to the tables.
    pub(super) fn add(&mut self, store: &mut Store) {
        let Self { team, hands, runs, lookers, sharers, .. } = self;
        let (lookers, next) = (&lookers[..*sharers], store.len());
        let mut works: Vec<_> = hands.iter_mut().enumerate().collect();
        team.together(*sharers, &mut works, |(i, hand)| {
            let mut answers = Answers::default();
            hand.begin_news();
            for (run, Run { unknown, .. }) in runs.iter().enumerate().filter(|(_, run)| run.hand == *i) {
                answers.begin(lookers, run);
                let next = (next + new_before(lookers, run)) as StateId;
                hand.write_news(unknown.clone(), next, |hash| answers.next(lookers, hash) == NEW);
            }
        });
        let mut tables = std::mem::take(&mut store.shards);
        let mut adds = Some(&mut *store);
        let works = with_tables(lookers, &mut tables).into_iter();
        let mut works: Vec<_> = works.map(|(_, looker, tables)| (adds.take(), looker, tables)).collect();
        team.together(*sharers, &mut works, |(adds, looker, tables)| {
            adds.iter_mut().for_each(|store| {
                let mut places = vec![0; hands.len()];
                for run in runs.iter() {
                    store.add_run(&hands[run.hand].news, places[run.hand]);
                    places[run.hand] += 1;
                }
            });
            looker.write_numbers(hands, tables);
        });
        drop(works);
        store.shards = tables;
    }

    /// Where the steps to unknown states lead, in order, when the new ones have numbers.
    pub(super) fn found(&self) -> impl Iterator<Item = StateId> {
        let (lookers, mut answers) = (&self.lookers[..self.sharers], Answers::default());
        answers.begin(lookers, 0);
        let number = |Place { hand, at }: Place| self.hands[hand as usize].numbers[at as usize];
        let finder = Finder { hands: &self.hands, runs: &self.runs, threads: self.sharers };
        finder.unknown().map(move |Own { hash, place }| match answers.next(lookers, hash) {
            NEW => number(place),
            to if to as usize > MOST_STATES => {
                number(lookers[owner(hash, lookers.len())].own[(MOST - to) as usize].place)
            }
            to => to,
        })
    }
}

/// How many new states come before a run.
fn new_before(lookers: &[Looker], run: usize) -> usize {
    lookers.iter().map(|looker| looker.begins[run].new as usize).sum()
}

/// What was found about steps to unknown states, one after the other.
#[derive(Default)]
struct Answers {
    /// How far it has come with each thread.
    at: Vec<usize>,
}

impl Answers {
    /// Goes to the first of a run.
    fn begin(&mut self, lookers: &[Looker], run: usize) {
        self.at.clear();
        self.at.extend(lookers.iter().map(|looker| looker.begins.get(run).map_or(0, |begin| begin.steps as usize)));
    }

    #[inline]
    fn next(&mut self, lookers: &[Looker], hash: u64) -> StateId {
        let looker = owner(hash, lookers.len());
        let at = &mut self.at[looker];
        *at += 1;
        lookers[looker].to[*at - 1]
    }
}

/// Threads with the tables that they answer for.
fn with_tables<L>(lookers: impl IntoIterator<Item = L>, mut tables: &mut [Table]) -> Vec<(usize, L, &mut [Table])> {
    let lookers: Vec<_> = lookers.into_iter().collect();
    let threads = lookers.len();
    let with = |(i, looker)| {
        let own = first_table(i + 1, threads) - first_table(i, threads);
        let (own, others) = std::mem::take(&mut tables).split_at_mut(own);
        tables = others;
        (i, looker, own)
    };
    lookers.into_iter().enumerate().map(with).collect()
}

/// The first table of a thread.
fn first_table(thread: usize, threads: usize) -> usize {
    (thread * SHARDS).div_ceil(threads)
}

/// What threads enter states with.
#[derive(Clone, Copy)]
struct Finder<'a> {
    hands: &'a [Hand],
    runs: &'a [Run],
    threads: usize,
}

impl<'a> Finder<'a> {
    fn unknown_of(self, run: &'a Run) -> impl Iterator<Item = Own> + 'a {
        let hashes = &self.hands[run.hand].hashes[run.unknown.clone()];
        let places = run.unknown.clone().map(move |at| Place { hand: run.hand as u32, at: at as u32 });
        hashes.iter().zip(places).map(|(&hash, place)| Own { hash, place })
    }

    /// The steps to unknown states, in order.
    fn unknown(self) -> impl Iterator<Item = Own> + 'a {
        self.runs.iter().flat_map(move |run| self.unknown_of(run))
    }

    fn forms(self, Place { hand, at }: Place) -> Forms<'a> {
        self.hands[hand as usize].forms(at as usize)
    }
}

impl Looker {
    fn clear(&mut self) {
        self.own.clear();
        self.to.clear();
        self.fresh.clear();
        self.begins.clear();
        self.new = 0;
    }

    /// Enters the states that belong into these tables.
    fn find_all(&mut self, finder: Finder<'_>, thread: usize, tables: &mut [Table]) {
        self.clear();
        let Self { own, to, fresh, begins, new: all_new } = self;
        let first_table = first_table(thread, finder.threads);
        let mut more = [0usize; SHARDS];
        for run in finder.runs {
            begins.push(Begin { steps: own.len() as u32, new: 0 });
            // Without a branch: no processor foresees which hashes are its own.
            let mut end = own.len();
            own.resize(end + run.unknown.len(), Own { hash: 0, place: Place { hand: 0, at: 0 } });
            for new in finder.unknown_of(run) {
                own[end] = new;
                end += usize::from(owner(new.hash, finder.threads) == thread);
            }
            own.truncate(end);
        }
        for new in &*own {
            more[shard(new.hash)] += 1;
        }
        for (table, more) in tables.iter_mut().zip(&more[first_table..]) {
            table.reserve(*more);
        }
        for (i, &Own { hash, place }) in own.iter().enumerate() {
            if i % AHEAD == 0 {
                for &Own { hash, .. } in own[i..].iter().take(AHEAD) {
                    tables[shard(hash) - first_table].begin(tag(hash)).into_iter().for_each(ask_for);
                }
            }
            let table = &mut tables[shard(hash) - first_table];
            // A state that was found in this round has no number yet, but its step has.
            let is_same = |id: u32| {
                id as usize > MOST_STATES && {
                    let first = own[(MOST - id) as usize];
                    first.hash == hash && finder.forms(first.place).is_same(finder.forms(place))
                }
            };
            let found = table.find(tag(hash), is_same);
            to.push(found.unwrap_or(NEW));
            if let Err(slot) = found {
                table.fill(slot, tag(hash), MOST - i as u32);
                fresh.push((i as u32, (shard(hash) - first_table) as u32, slot as u32));
            }
        }
        *all_new = fresh.len();
        let mut new = 0;
        for begin in begins {
            new += fresh[new..].iter().take_while(|(step, ..)| *step < begin.steps).count();
            begin.new = new as u32;
        }
    }

    /// Sets the bits of states, where only these are kept.
    fn set_all(&mut self, finder: Finder<'_>, store: &mut Store) {
        self.clear();
        for run in finder.runs {
            self.begins.push(Begin { steps: self.to.len() as u32, new: self.new as u32 });
            for Own { hash, .. } in finder.unknown_of(run) {
                let is_new = store.bits[shard(hash)].set(hash);
                self.to.push(if is_new { NEW } else { 0 });
                self.new += usize::from(is_new);
            }
        }
    }

    /// Writes the numbers of new states into its tables.
    fn write_numbers(&self, hands: &[Hand], tables: &mut [Table]) {
        for &(step, table, slot) in &self.fresh {
            let Place { hand, at } = self.own[step as usize].place;
            let number = hands[hand as usize].numbers[at as usize];
            if number != NEW {
                tables[table as usize].replace(slot as usize, number);
            }
        }
    }
}
