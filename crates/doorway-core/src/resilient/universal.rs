//! A universal construction: `k` processes share any sequential object, and no process can prevent
//! the others from finishing.
//!
//! # Problem
//! An object is given by its states and by the effect of an operation on a state. `k` processes
//! call operations. Each operation must take effect at one moment between its call and its return
//! (linearizable). Each must return after a bounded number of its caller's own steps, whatever the
//! others do or fail to do (wait-free).
//!
//! # Source
//! Ours. The shape is Fatourou and Kallimanis' (*A highly-efficient wait-free universal
//! construction*, SPAA 2011): announce, copy the state, apply all announced operations, swing a
//! pointer. The first attempt without an announcement is Kogan and Petrank's idea (*A methodology
//! for creating fast wait-free data structures*, PPoPP 2012). Their processes read states while
//! these are overwritten, and check afterwards whether they were. Here no process reads memory that
//! is being written.
//!
//! # Idea
//! ```text
//!   head ──► buffer b: state, and for each name how many of its operations the state has seen
//!              │ copy, apply mine and all that are announced
//!              ▼
//!            buffer w ◄── head, if it still is what it was
//! ```
//! A process that fails to move `head` announces its operation and tries again, twice. The process
//! that makes it fail the second time has seen the announcement. A state is written by one process
//! before it is published. From then on it is only read, until no process can be reading it any
//! more: one hazard word for each name says what that name may be reading.
//!
//! # Shared variables
//! | name             | range                     | initially    | written at | meaning |
//! |------------------|---------------------------|--------------|------------|---------|
//! | `head`           | (version, buffer)         | (0, 0)       | 10         | where the state is; the version grows with each change |
//! | `ann[q]`         | (number, cell)            | (0, 0)       | 13         | `q`'s announced operation; *pending* in buffer `b` iff `number = app[b][q].number + 1` |
//! | `hz[q]`          | (buffer, cell of each)    | (none, …)    | 4          | what `q` may be reading. Never cleared, only overwritten |
//! | `app[b][q]`      | (number, buffer)          | (0, none)    | 9          | how many of `q`'s operations the state in `b` has seen, and where the response of the last one is |
//! | `free[q]`        | set of buffers            | none         | 18         | some of `q`'s buffers that are known to be free; only the process with the name `q` accesses it |
//! | `orphan[q]`      | bool                      | false        | 21, 22     | `q`'s announced operation was left behind; only the process with the name `q` accesses it |
//!
//! and the plain memory of the [store](Store): a state and `k` responses for each buffer, and `k`
//! cells for each name. Each name has at least `2k` buffers, which only it writes.
//!
//! # Statements
//! 1 to 10 are one attempt, 11 to 13 announce, 14 and 15 find what other processes have applied,
//! and 16 takes the response. 17 and 18 remember free buffers, 19 to 22 deal with copies that fail,
//! and 23 to 25 look at the state without an operation.
//!
//! # Invariants (all checked)
//! - (R1) linearizable: the `k` processes see what they would see in a sequential execution
//! - (R2) an operation is applied at most once
//! - (R3) no process writes memory that another reads or writes: buffers at 7 to 10 against `head`,
//!   against those that others copy at 6 to 8, and against those from which others take at 16;
//!   cells at 12 against those that others apply at 8
//! - (R4) a process that looks for a free buffer at 6, or for a free cell at 11, finds one
//! - (R5) at 16 the operation has been applied: three attempts suffice
//! - (R6) if no operation fails, each takes at most `13k + 16` steps of its caller's own, whatever
//!   the others do: three attempts of `4k + 4`, `k + 1` to announce, and 14 to 16. The accesses of
//!   one statement to plain memory are one step
//!
//! # Why two attempts after the announcement
//! The first of them may fail because of a process that read `ann` before 13. The second began
//! after that process changed `head`, and fails because of another change. The process that made
//! this change read `head` after the first change, and hence `ann` after 13. The argument needs the
//! version: the number of a buffer alone may have been read in an earlier life of that buffer.
//!
//! # Why the values read at 2 are consistent
//! 5 finds the version of 1, so `head` was the same all the time, and no process rewrites the
//! buffer that `head` names. A process's own buffer cannot change at all. A process that finds
//! `head` in one of its own buffers, and nothing pending, therefore needs neither 4 nor 5: a
//! process that is alone pays one compare-and-swap. And the value that 15 reads is the same in
//! every state from the moment at which the operation was applied.
//!
//! # Cost, faults, fairness
//! At most three attempts, each with one copy of the state, and one more copy for each operation
//! that fails. If none fails: `25k + 15` accesses where states, operations and responses are one
//! word each, and `4k + 8` for a process that is alone. `2k` buffers are needed: of the buffers of
//! a name, up to `k - 1` are being read by others, `k - 1` hold responses that have not been taken
//! yet, and one is `head`. Any number of the `k` processes may crash at any time, and the others do
//! not notice. An operation of a crashed process takes effect at most once. A name may pass from
//! one process to the next between operations, because nothing that matters is private.
//!
//! # Departures from the sources
//! There is no vector of announcements that fetch-and-add toggles. Responses stay where they were
//! computed, so they need not be copied. A copy that fails (user code can panic) leaves the object
//! as it was; the next holder of the name then finishes an announced operation. An operation that
//! fails has no effect, and the failure is its response.

use super::words::{Announced, Applied, Buffer, Buffers, Hazard, Head, MOST_NAMES, Orphan};
use super::{Asked, Store};
use crate::memory::{CompareSwap, Here, Memory, Pid, Process, Site, Word, decl, in_both_forms};

/// The buffers and cells of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// The number of buffers: at least `2k`.
    pub buffers: usize,
    /// The number of cells for announced operations: `k`.
    pub cells: usize,
    /// Whether buffers that were found free are remembered, so that processes read hazards less
    /// often.
    pub remembers: bool,
}

impl Pool {
    /// The smallest pool. Free buffers are searched anew each time.
    #[must_use]
    pub fn least(k: usize) -> Self {
        Self { buffers: 2 * k, cells: k, remembers: false }
    }
}

/// An object for `k` processes with names `0..k`.
#[derive(Debug)]
pub struct Universal<M: Memory, S> {
    part: M::Part,
    k: usize,
    pool: Pool,
    head: M::Var<Head>,
    ann: M::Row<Announced>,
    hz: M::Row<Hazard>,
    app: M::Table<Applied>,
    free: M::Row<Buffers>,
    orphan: M::Row<Orphan>,
    store: S,
}

/// The start of an operation.
#[derive(Debug)]
struct First<Op> {
    /// The operation, if it has not been announced yet.
    op: Option<Op>,
    /// The number of earlier attempts.
    attempt: u8,
    announced: Announced,
}

impl<M: Memory, S: Store<M>> Universal<M, S> {
    /// An object whose state is in the first buffer of `store`. There are `1..=MOST_NAMES` names.
    pub fn new(site: &Site<'_, M>, k: usize, pool: Pool, store: S) -> Self {
        let remembered = if pool.remembers { k } else { 0 };
        let orphans = if S::COPIES_CAN_FAIL { k } else { 0 };
        Self {
            part: site.here(),
            k,
            pool,
            head: site.var("head", Head { version: 0, buffer: Buffer(0) }),
            ann: site.row("ann", k, |q| decl(Announced { seq: 0, cell: 0 }).home(Pid::new(q))),
            hz: site.row("hz", k, |q| decl(Hazard::NONE).home(Pid::new(q))),
            app: site.table("app", 0..k * pool.buffers, k, Applied { seq: 0, loc: None }),
            free: site.row("free", remembered, |q| decl(Buffers(0)).home(Pid::new(q))),
            orphan: site.row("orphan", orphans, |q| decl(Orphan(false)).home(Pid::new(q))),
            store,
        }
    }
}

impl<M: Memory, S> Universal<M, S> {
    /// The plain memory behind the words.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The same, to be changed while no process is inside.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// Returns the plain memory behind the words.
    pub fn into_store(self) -> S {
        self.store
    }

    /// The number of names.
    pub fn names(&self) -> usize {
        self.k
    }
}

impl<M: Memory, S: Store<M>> Universal<M, S> {
    #[inline(always)]
    fn sizes(&self) -> (usize, Pool) {
        match S::SIZES {
            Some(sizes) => sizes,
            None => (self.k, self.pool),
        }
    }

    /// The name to which a buffer belongs.
    #[inline(always)]
    fn owner(&self, b: Buffer) -> usize {
        b.index() / self.sizes().1.buffers
    }

    /// The buffers of `p` that are not in `taken`.
    #[inline(always)]
    fn all_but(&self, p: usize, taken: impl Iterator<Item = Buffer>) -> Buffers {
        let (_, Pool { buffers, .. }) = self.sizes();
        let all = u64::MAX >> (64 - buffers);
        Buffers(taken.filter(|&b| self.owner(b) == p).fold(all, |free, b| free & !(1 << (b.index() % buffers))))
    }

    /// The first buffer of `p` in a set.
    #[inline(always)]
    fn first(&self, p: usize, free: Buffers) -> Buffer {
        let (_, Pool { buffers, .. }) = self.sizes();
        Buffer((p * buffers + (free.0.trailing_zeros() as usize).min(buffers - 1)) as u16)
    }
}

impl<M: CompareSwap, S: Store<M>> Universal<M, S> {
    in_both_forms! {
        /// Applies an operation for the process that has the name `p`. No other process may have
        /// that name.
        #[inline(always)]
        pub fn perform, perform_now(&self, process: &Process<M>, p: usize, op: S::Op) -> Result<S::Response, S::Panic> {'text: {
            let here = process.on(self.part);
            if S::COPIES_CAN_FAIL {
                here.part(&("adopts, then performs", S::tag(&op)));
                if let Err(panic) = either!(self.adopt(here, p), self.adopt_now(here, p)) {
                    break 'text Err(panic);
                }
                here.part_done();
            }
            here.invokes(S::tag(&op));
            here.part(&"performs");
            let first = First { op: Some(op), attempt: 0, announced: Announced { seq: 0, cell: 0 } };
            let result = match either!(self.settle(here, p, first), self.settle_now(here, p, first)) {
                Ok(l) => {
                    let response = Ok(either!(self.take(here, p, l), self.take_now(here, p, l)));
                    here.responds(S::told(&response));
                    response
                }
                Err(panic) => {
                    here.abandons();
                    Err(panic)
                }
            };
            here.part_done();
            result
        }}

        /// Returns a buffer whose state was the object's at some moment of this call. The buffer
        /// does not change until `p` does something else: 23 to 25.
        pub fn look, look_now(&self, process: &Process<M>, p: usize) -> Result<Buffer, S::Panic> {'text: {
            let here = process.on(self.part);
            for attempt in 0..2 {
                let head = access!(here.at(23).keeping(&(p, attempt)).read(&self.head));
                if self.owner(head.buffer) == p {
                    break 'text Ok(head.buffer);
                }
                access!(here.at(24).keeping(&(p, attempt, head)).write(&self.hz[p], Hazard::of(head.buffer)));
                if access!(here.at(25).keeping(&(p, attempt, head)).read(&self.head)) == head {
                    break 'text Ok(head.buffer);
                }
            }
            // Other processes are too fast. Their help serves as well: it preserves the state that
            // has seen our operation.
            here.part(&"looks");
            if S::COPIES_CAN_FAIL
                && let Err(panic) = either!(self.adopt(here, p), self.adopt_now(here, p))
            {
                break 'text Err(panic);
            }
            let first = First { op: Some(S::nothing()), attempt: 0, announced: Announced { seq: 0, cell: 0 } };
            let found = either!(self.settle(here, p, first), self.settle_now(here, p, first));
            here.part_done();
            found
        }}

        /// Statement 16.
        #[inline(always)]
        fn take, take_now(&self, here: Here<'_, M>, p: usize, l: Buffer) -> S::Response {
            here.shows("l", l);
            let response = access!(self.store.take(here.at(16).keeping(&(p, l)), l, p));
            ["p", "s", "l", "found"].into_iter().for_each(|name| here.hides(name));
            response
        }

        /// Finishes the operation that the previous holder of the name left behind: 19, 20, 21.
        fn adopt, adopt_now(&self, here: Here<'_, M>, p: usize) -> Result<(), S::Panic> {'text: {
            if access!(here.at(19).keeping(&p).read(&self.orphan[p])).0 {
                let announced = access!(here.at(20).keeping(&p).read(&self.ann[p]));
                here.shows("s", announced.seq);
                let first = First { op: None, attempt: 1, announced };
                here.part(&"adopts");
                let l = match either!(self.settle(here, p, first), self.settle_now(here, p, first)) {
                    Ok(l) => l,
                    Err(panic) => break 'text Err(panic),
                };
                drop(either!(self.take(here, p, l), self.take_now(here, p, l)));
                here.part_done();
                access!(here.at(21).keeping(&p).write_in_passing(&self.orphan[p], Orphan(false)));
            }
            Ok(())
        }}

        /// 1 to 15: the operation has been applied, and its response is in the returned buffer.
        fn settle, settle_now(&self, here: Here<'_, M>, p: usize, first: First<S::Op>) -> Result<Buffer, S::Panic> {'text: {
            let (k, pool) = self.sizes();
            let others = || (0..k).filter(move |&q| q != p);
            let First { mut op, mut attempt, announced: mut mine } = first;
            here.shows("p", p as u64);
            // Packed words are half as large, and a processor writes all of them to memory before
            // it swings `head`.
            let (mut applied, mut ann) = ([0; MOST_NAMES], [0; MOST_NAMES]);
            loop {'failed: {
                let tag = op.as_ref().map(S::tag);
                let head = access!(here.at(1).keeping(&(p, attempt, mine, tag)).read(&self.head));
                let b = head.buffer;
                for q in 0..k {
                    applied[q] = access!(here.at(2)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..q]))
                        .read(&self.app[(b.index(), q)])).pack();
                }
                let x = Applied::unpack(applied[p]);
                if attempt == 0 {
                    mine.seq = x.next();
                    here.shows("s", mine.seq);
                }
                for q in others() {
                    ann[q] = access!(here.at(3)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], &ann[..q]))
                        .read(&self.ann[q])).pack();
                }
                let is_pending = |&q: &usize| Applied::unpack(applied[q]).is_followed_by(Announced::unpack(ann[q]));
                let pending = others().filter(is_pending).fold(0u64, |all, q| all | 1 << q);
                let done = attempt > 0 && x.seq == mine.seq;
                let hazard = others().fold(Hazard::of(b), |hazard, q| hazard.and(q, Announced::unpack(ann[q]).cell));
                if self.owner(b) != p || pending != 0 || done {
                    access!(here.at(4)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard))
                        .write(&self.hz[p], hazard));
                    if access!(here.at(5)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard))
                        .read(&self.head)) != head {
                        break 'failed; // so what we have read may be inconsistent
                    }
                }
                if done {
                    break 'text Ok(x.loc.unwrap_or(b));
                }

                here.shows("b", b);
                here.shows("version", head.version);
                here.shows("pending", pending);
                here.shows("hazard", hazard);
                let mut free = Buffers(0);
                if pool.remembers {
                    free = access!(here.at(17)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard))
                        .read(&self.free[p]));
                }
                if free.0 == 0 {
                    let taken = others().filter_map(|q| Applied::unpack(applied[q]).loc).chain([b]);
                    free = self.all_but(p, taken);
                    for q in others() {
                        let theirs = access!(here.at(6)
                            .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard, free, q))
                            .read(&self.hz[q]));
                        free = Buffers(free.0 & self.all_but(p, theirs.buffer.into_iter()).0);
                    }
                }
                here.shows("free", free);
                let w = self.first(p, free);
                if pool.remembers {
                    access!(here.at(18)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard, free))
                        .write_in_passing(&self.free[p], Buffers(free.0 & free.0.wrapping_sub(1))));
                }

                here.shows("w", w);
                let batch = pending | 1 << p;
                let mut failed = 0;
                'build: loop {
                    if let Err(panic) = access!(self.store.copy(here.at(7)
                        .keeping(&(p, attempt, mine, tag, head, &applied[..k], pending, hazard, w, failed))
                        , b, w)) {
                        ["p", "s", "b", "version", "pending", "hazard", "free", "w"].into_iter().for_each(|name| here.hides(name));
                        if op.is_none() {
                            access!(here.at(22).keeping(&p).write_in_passing(&self.orphan[p], Orphan(true)));
                        }
                        break 'text Err(panic);
                    }
                    for q in (0..k).filter(|q| (batch & !failed) >> q & 1 == 1) {
                        here.keep(8, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard, w, failed, q));
                        let asked = match &op {
                            Some(op) if q == p => Asked::InHand(op),
                            _ => Asked::InCell(if q == p { mine.cell } else { hazard.cell(q) }),
                        };
                        if !access!(self.store.apply(here.at(8), w, q, asked)) {
                            failed |= 1 << q;
                            continue 'build; // Its response says that it failed; the state must not contain it.
                        }
                    }
                    break;
                }
                for q in 0..k {
                    here.keep(9, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard, w, q));
                    let is_new = batch >> q & 1 == 1;
                    let old = Applied::unpack(applied[q]);
                    let new = if is_new { Applied { seq: old.next(), loc: Some(w) } } else { old };
                    access!(here.at(9).write_in_passing(&self.app[(w.index(), q)], new));
                }
                let swung = access!(here.at(10)
                    .keeping(&(p, attempt, mine, tag, head, pending, hazard, w))
                    .compare_swap(&self.head, head, head.next(w))).is_ok();
                ["b", "version", "pending", "hazard", "free", "w"].into_iter().for_each(|name| here.hides(name));
                if swung {
                    break 'text Ok(w);
                }
            }
            // `head` has changed since 1.
            attempt += 1;
            if let Some(op) = op.take() {
                let mut cells = (1u32 << pool.cells) - 1;
                for q in others() {
                    cells &= !(1 << access!(here.at(11)
                        .keeping(&(p, mine, S::tag(&op), cells, q))
                        .read(&self.hz[q])).cell(p));
                }
                here.shows("cells", u64::from(cells));
                mine.cell = (cells.trailing_zeros() as u8).min(k as u8 - 1);
                here.shows("c", u64::from(mine.cell));
                access!(self.store.put(here.at(12).keeping(&(p, mine, S::tag(&op))), p, mine.cell, op));
                ["cells", "c"].into_iter().for_each(|name| here.hides(name));
                access!(here.at(13)
                    .keeping(&(p, mine))
                    .write(&self.ann[p], mine)); // after 12: a process that sees it reads the cell
                self.store.pause();
            } else if attempt == 3 {
                let head = access!(here.at(14).keeping(&(p, mine)).read(&self.head));
                let x = access!(here.at(15).keeping(&(p, mine, head)).read(&self.app[(head.buffer.index(), p)]));
                here.shows("found", x.seq == mine.seq);
                break 'text Ok(x.loc.unwrap_or(head.buffer));
            }
            }
        }}
    }
}
