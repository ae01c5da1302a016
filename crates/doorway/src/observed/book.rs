//! The record of callers. No protocol depends on it: no caller is let in or kept out because of it.
//!
//! | what | guarded by | written by |
//! |---|---|---|
//! | waiters and their arrival; completed waits; refused callers | the lock of the line | callers that do not get in at once |
//! | holders of slots, since when; how long slots were held | a lock for every sixteenth slot | the holder of the slot |
//! | the number of the last look | an atomic | a look, under the lock of the line |
//!
//! Locks are held for a few instructions, and no user code runs under them. If there are at most 16
//! slots, callers with different slots never meet at a lock.
//!
//! # Why a status describes one moment
//! The moment is when a look takes its number (L). A holder notes the last number after it was let
//! in (H), and erases its record before it leaves. A look shows the records with a smaller number.
//! For such a record, H came before L, and the look found the record after L; so its holder held
//! the slot at L.
//!
//! A waiter leaves the line before H. L is taken under the lock of the line, and the waiters are
//! copied under the same lock. So a caller that was still in the line at L gets a number that is
//! not smaller, and is shown only as a waiter.

use super::status::{Caller, Histogram, Holder, Site, Status, WaitingAt};
use crate::slots::{KnowsSlots, Slots};
use crate::tools::AtomicU64;
use crossbeam_utils::CachePadded;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How many locks the holders are spread over.
const PARTS: usize = 16;
/// How many records a look reads before it releases the lock for a moment.
const PIECE: usize = 256;

/// The record of the callers of one object. Guards and futures of observed objects keep a reference
/// to it.
pub struct Book {
    name: Cow<'static, str>,
    looks: AtomicU64,
    line: Mutex<Line>,
    parts: [CachePadded<Mutex<Part>>; PARTS],
}

/// The record of callers that did not get in at once.
#[derive(Default)]
struct Line {
    /// The number of the next waiter.
    next: u64,
    /// The waiters of each site, by number: oldest first.
    sites: HashMap<Site, BTreeMap<u64, Instant>>,
    waits: Histogram,
    given_up: Histogram,
    timed_out: u64,
    cancelled: u64,
    refused: u64,
    no_place: u64,
}

/// The record of the holders of every sixteenth slot.
#[derive(Default)]
struct Part {
    records: Vec<Option<Record>>,
    at_once: u64,
    holds: Histogram,
}

#[derive(Clone)]
struct Record {
    look: u64,
    since: Instant,
    fence: u64,
    site: Site,
    by: By,
}

/// The kind of caller.
#[derive(Clone)]
pub(super) enum By {
    Thread(Thread),
    Task,
}

/// How an attempt ends that gets no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    TimedOut,
    Cancelled,
    Refused,
    NoPlace,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No change to the record panics half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    pub(super) fn new(name: Cow<'static, str>) -> Self {
        Self { name, looks: AtomicU64::new(0), line: Mutex::default(), parts: Default::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn part(&self, slot: usize) -> (MutexGuard<'_, Part>, usize) {
        (lock(&self.parts[slot % PARTS]), slot / PARTS)
    }

    /// Records that these slots are held from now on.
    pub(super) fn enters(&self, slots: &[usize], fence: u64, site: Site, by: &By, at_once: bool) {
        // The number first: see the module.
        let look = self.looks.load(SeqCst);
        let since = Instant::now();
        for (i, &slot) in slots.iter().enumerate() {
            let record = Some(Record { look, since, fence, site, by: by.clone() });
            let (mut part, at) = self.part(slot);
            part.at_once += u64::from(at_once && i == 0);
            if part.records.len() <= at {
                part.records.resize(at + 1, None);
            }
            part.records[at] = record;
        }
    }

    /// Records that these slots are no longer held. Returns how long the first of them was.
    pub(super) fn leaves(&self, slots: &[usize]) -> Duration {
        let now = Instant::now();
        let mut first = None;
        for &slot in slots {
            let (mut part, at) = self.part(slot);
            let Some(record) = part.records.get_mut(at).and_then(Option::take) else { continue };
            let held = now.saturating_duration_since(record.since);
            part.holds.record(held);
            drop(part); // the record is dropped without the lock
            first.get_or_insert(held);
        }
        first.unwrap_or_default()
    }

    /// Records that the guard of these slots now has this fence number.
    pub(super) fn has_fence(&self, slots: &[usize], fence: u64) {
        for &slot in slots {
            let (mut part, at) = self.part(slot);
            if let Some(Some(record)) = part.records.get_mut(at) {
                record.fence = fence;
            }
        }
    }

    /// Records that a caller waits from now on. Returns its number and the time.
    pub(super) fn waits(&self, site: Site) -> (u64, Instant) {
        let mut line = lock(&self.line);
        let (number, since) = (line.next, Instant::now());
        line.next += 1;
        line.sites.entry(site).or_default().insert(number, since);
        (number, since)
    }

    /// Records that a waiter waits no more. It got a place, or none for the reason `why`. Returns
    /// how long it waited.
    pub(super) fn waits_no_more(&self, site: Site, (number, since): (u64, Instant), why: Option<Outcome>) -> Duration {
        let mut line = lock(&self.line);
        if let Some(waiting) = line.sites.get_mut(site) {
            waiting.remove(&number);
            if waiting.is_empty() {
                line.sites.remove(site);
            }
        }
        let waited = since.elapsed();
        if let Some(why) = why {
            line.given_up.record(waited);
            line.turns_away(why);
        } else {
            line.waits.record(waited);
        }
        waited
    }

    /// Records that a caller got no place without having waited.
    pub(super) fn turned_away(&self, why: Outcome) {
        lock(&self.line).turns_away(why);
    }

    /// Takes a status.
    #[inline] // like everything that calls plain slots
    pub(super) fn status<N: KnowsSlots>(&self, slots: &Slots<N>) -> Status {
        let (look, at, mut status) = self.look_at_line();
        let now = slots.look();
        (status.places, status.available, status.closed) = (now.places as usize, now.free as usize, now.closed);
        let mut found = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let mut at_once = 0;
            for from in (0..).step_by(PIECE) {
                let part = lock(part);
                if from == 0 {
                    at_once = part.at_once;
                    status.holds.absorb(&part.holds);
                }
                let piece = part.records.iter().enumerate().skip(from).take(PIECE);
                let held = piece.filter_map(|(at, record)| Some((at, record.as_ref().filter(|r| r.look < look)?)));
                found.extend(held.map(|(at, record)| (at * PARTS + i, record.clone())));
                if from + PIECE >= part.records.len() {
                    break;
                }
            }
            status.waits.counts[0] += at_once;
        }
        found.sort_unstable_by_key(|(slot, _)| *slot);
        status.holders = found.into_iter().map(|(slot, record)| record.shown(slot, at)).collect();
        status.granted = status.waits.count();
        status
    }

    /// Takes the number of a look and its moment, with the state of the line at that moment.
    fn look_at_line(&self) -> (u64, Instant, Status) {
        let line = lock(&self.line);
        let look = self.looks.fetch_add(1, SeqCst) + 1;
        let at = Instant::now();
        let since = |since: &Instant| at.saturating_duration_since(*since);
        let waits = line.sites.iter().filter_map(|(site, waiting)| {
            let (_, oldest) = waiting.first_key_value()?;
            Some(WaitingAt { site, waiters: waiting.len(), oldest_wait: since(oldest) })
        });
        let mut waiting_at: Vec<_> = waits.collect();
        let (waits, given_up) = (line.waits.clone(), line.given_up.clone());
        let Line { timed_out, cancelled, refused, no_place, .. } = *line;
        drop(line);
        waiting_at.sort_unstable_by_key(|at| (std::cmp::Reverse(at.oldest_wait), at.site));
        let status = Status {
            name: self.name.clone(),
            places: 0,
            available: 0,
            closed: false,
            holders: Vec::new(),
            waiters: waiting_at.iter().map(|at| at.waiters).sum(),
            oldest_wait: waiting_at.first().map(|at| at.oldest_wait),
            waiting_at,
            granted: 0,
            timed_out,
            cancelled,
            refused,
            no_place,
            waits,
            given_up,
            holds: Histogram::default(),
        };
        (look, at, status)
    }
}

impl Line {
    fn turns_away(&mut self, why: Outcome) {
        *match why {
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::Cancelled => &mut self.cancelled,
            Outcome::Refused => &mut self.refused,
            Outcome::NoPlace => &mut self.no_place,
        } += 1;
    }
}

impl Record {
    fn shown(self, slot: usize, at: Instant) -> Holder {
        let Self { since, fence, site, by, .. } = self;
        let caller = match by {
            By::Thread(thread) => Caller::Thread { name: thread.name().map(str::to_owned), id: thread.id() },
            By::Task => Caller::Task,
        };
        Holder { slot, fence, held_for: at.saturating_duration_since(since), site, caller }
    }
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book").field("name", &self.name).finish_non_exhaustive()
    }
}
