//! The universal construction with faults, alone and within k-assignment.

use crate::resilient::in_use::{self, Broken, MayFail, Usable};
use crate::sim::{Part, Rules, Sim, SimCell, SimTable, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::KAssignment;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Mark, Pid, Process, Site, decl};
use doorway_core::mutex::yang_anderson_93::{Affine, Map, map_of};
use doorway_core::registry::{AmAssign, Entry, Sizes, TurnstileSlots};
use doorway_core::resilient::in_words::{InWords, Request};
use doorway_core::resilient::{Announced, Applied, Asked, Buffer, Buffers, Hazard, Head, Orphan, Pool, Store};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// One buffer less for each name.
    FewerBuffers,
    /// One cell less for each name.
    FewerCells,
    /// One attempt after the announcement.
    OneAttempt,
    /// Applies nothing but its own.
    NoHelp,
    /// 6 forgets where responses are.
    IgnoresResponses,
    /// What 2 says of its own operation is believed at once.
    BelievesTwo,
    /// The version never changes.
    NoVersion,
    /// What is announced is pending if it is not the last that was applied.
    PendingIfDifferent,
    /// 13 before 12.
    AnnouncesFirst,
    /// Announces before its first attempt.
    Eager,
    /// The same, and 11 does not look at hazards.
    IgnoresCells,
    /// The same, and 4 says nothing of cells.
    NoCellHazard,
    /// The same, and no 4 and 5 where `head` is its own, whatever is pending.
    OwnAlways,
    /// Announces and waits.
    Waits,
    /// 18 keeps the buffer that is used.
    RemembersTooMuch,
    /// What an operation that failed has done to the state stays.
    NoSecondCopy,
    /// 9 forgets what was applied before.
    ForgetsOthers,
    /// Gives its name back before it does anything with it.
    NameGoesEarly,
}

/// Where the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Within {
    Nothing,
    TurnstileSlots,
    AmAssign,
    /// With all that users can do.
    Use,
}

impl Within {
    /// The algorithm that it is the text of.
    pub(super) const fn of(self) -> &'static str {
        match self {
            Self::Nothing => "universal",
            Self::TurnstileSlots => "resilient",
            Self::AmAssign => "resilient-am",
            Self::Use => "universal-in-use",
        }
    }

    pub(super) fn world(self, fault: Fault, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let Sizes { n, k } = sizes;
        let less = usize::from(fault == Fault::FewerBuffers);
        let pool = Pool { buffers: Pool::least(k).buffers - less, remembers: self == Self::Use };
        let words = |site: &Site<'_, Sim>| InWords::new(site, k, pool, 0);
        match self {
            Self::Nothing => World::new(n, rules, |site| Calls(Universal::new(site, k, pool, words(site), fault))),
            Self::Use => {
                in_use::world(sizes, rules, |site| Universal::new(site, k, pool, MayFail::with(site, k, pool), fault))
            }
            Self::TurnstileSlots => World::new(n, rules, |site| {
                Resilient::new(site, k, pool, words(site), fault, |names| TurnstileSlots::build(names, sizes))
            }),
            Self::AmAssign => World::new(n, rules, |site| {
                Resilient::new(site, k, pool, words(site), fault, |names| AmAssign::build(names, sizes))
            }),
        }
    }
}

struct Universal<S> {
    part: Part,
    k: usize,
    pool: Pool,
    head: SimVar<Head>,
    ann: Vec<SimCell<Announced>>,
    hz: Vec<SimCell<Hazard>>,
    app: SimTable<Applied>,
    free: Vec<SimCell<Buffers>>,
    orphan: Vec<SimCell<Orphan>>,
    store: S,
    fault: Fault,
}

struct First<Op> {
    op: Option<Op>,
    attempt: u8,
    announced: Announced,
}

impl<S: Store<Sim>> Universal<S> {
    fn new(site: &Site<'_, Sim>, k: usize, pool: Pool, store: S, fault: Fault) -> Self {
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
            fault,
        }
    }

    fn is_eager(&self) -> bool {
        matches!(self.fault, Fault::Eager | Fault::IgnoresCells | Fault::NoCellHazard | Fault::OwnAlways)
    }

    fn owner(&self, b: Buffer) -> usize {
        b.index() / self.pool.buffers
    }

    fn all_but(&self, p: usize, taken: impl Iterator<Item = Buffer>) -> Buffers {
        let all = u64::MAX >> (64 - self.pool.buffers);
        Buffers(
            taken.filter(|&b| self.owner(b) == p).fold(all, |free, b| free & !(1 << (b.index() % self.pool.buffers))),
        )
    }

    fn first(&self, p: usize, free: Buffers) -> Buffer {
        let first = free.0.trailing_zeros() as usize;
        Buffer((p * self.pool.buffers + first.min(self.pool.buffers - 1)) as u16)
    }

    async fn perform(
        &self,
        process: &Process<Sim>,
        p: usize,
        op: S::Op,
    ) -> Result<Result<S::Response, S::Panic>, Infallible> {
        let here = process.on(self.part);
        if S::COPIES_CAN_FAIL {
            here.part(&("adopts, then performs", S::tag(&op)));
            if let Err(panic) = self.adopt(here, p).await? {
                return Ok(Err(panic));
            }
            here.part_done();
        }
        here.invokes(S::tag(&op));
        here.part(&"performs");
        let first = First { op: Some(op), attempt: 0, announced: Announced { seq: 0, cell: 0 } };
        let result = match self.settle(here, p, first).await? {
            Ok(l) => {
                let response = Ok(self.take(here, p, l).await?);
                here.responds(S::told(&response));
                response
            }
            Err(panic) => {
                here.abandons();
                Err(panic)
            }
        };
        here.part_done();
        Ok(result)
    }

    async fn look(&self, process: &Process<Sim>, p: usize) -> Result<Result<Buffer, S::Panic>, Infallible> {
        let here = process.on(self.part);
        for attempt in 0..2 {
            here.keep(23, &(p, attempt));
            let head = here.at(23).read(&self.head).await?;
            if self.owner(head.buffer) == p {
                return Ok(Ok(head.buffer));
            }
            here.keep(24, &(p, attempt, head));
            here.at(24).write(&self.hz[p], Hazard::of(head.buffer)).await?;
            here.keep(25, &(p, attempt, head));
            if here.at(25).read(&self.head).await? == head {
                return Ok(Ok(head.buffer));
            }
        }
        here.part(&"looks");
        if S::COPIES_CAN_FAIL
            && let Err(panic) = self.adopt(here, p).await?
        {
            return Ok(Err(panic));
        }
        let first = First { op: Some(S::nothing()), attempt: 0, announced: Announced { seq: 0, cell: 0 } };
        let found = self.settle(here, p, first).await?;
        here.part_done();
        Ok(found)
    }

    async fn take(&self, here: Here<'_, Sim>, p: usize, l: Buffer) -> Result<S::Response, Infallible> {
        here.shows("l", l);
        here.keep(16, &(p, l));
        let response = self.store.take(here.at(16), l, p).await?;
        ["p", "s", "l", "found"].into_iter().for_each(|name| here.hides(name));
        Ok(response)
    }

    async fn adopt(&self, here: Here<'_, Sim>, p: usize) -> Result<Result<(), S::Panic>, Infallible> {
        here.keep(19, &p);
        if here.at(19).read(&self.orphan[p]).await?.0 {
            here.keep(20, &p);
            let announced = here.at(20).read(&self.ann[p]).await?;
            here.shows("s", announced.seq);
            let first = First { op: None, attempt: 1, announced };
            here.part(&"adopts");
            let l = match self.settle(here, p, first).await? {
                Ok(l) => l,
                Err(panic) => return Ok(Err(panic)),
            };
            drop(self.take(here, p, l).await?);
            here.part_done();
            here.keep(21, &p);
            here.at(21).write_in_passing(&self.orphan[p], Orphan(false)).await?;
        }
        Ok(Ok(()))
    }

    async fn announce(&self, here: Here<'_, Sim>, p: usize, mine: &mut Announced, op: S::Op) -> Result<(), Infallible> {
        let k = self.k;
        let mut cells = (1u32 << (k - usize::from(self.fault == Fault::FewerCells))) - 1;
        for q in (0..k).filter(|&q| q != p && self.fault != Fault::IgnoresCells) {
            here.keep(11, &(p, *mine, S::tag(&op), cells, q));
            cells &= !(1 << here.at(11).read(&self.hz[q]).await?.cell(p));
        }
        here.shows("cells", u64::from(cells));
        mine.cell = (cells.trailing_zeros() as u8).min(k as u8 - 1);
        here.shows("c", u64::from(mine.cell));
        if self.fault == Fault::AnnouncesFirst {
            here.keep(13, &(p, *mine, S::tag(&op)));
            here.at(13).write(&self.ann[p], *mine).await?;
        }
        here.keep(12, &(p, *mine, S::tag(&op)));
        self.store.put(here.at(12), p, mine.cell, op).await?;
        ["cells", "c"].into_iter().for_each(|name| here.hides(name));
        if self.fault != Fault::AnnouncesFirst {
            here.keep(13, &(p, *mine));
            here.at(13).write(&self.ann[p], *mine).await?;
        }
        Ok(())
    }

    /// 7 and 8.
    #[allow(clippy::too_many_arguments)]
    async fn build(
        &self,
        here: Here<'_, Sim>,
        p: usize,
        op: Option<&S::Op>,
        mine: Announced,
        (b, w): (Buffer, Buffer),
        batch: u64,
        hazard: Hazard,
        live: &str,
    ) -> Result<Result<(), S::Panic>, Infallible> {
        let mut failed = 0u64;
        'build: loop {
            if failed == 0 || self.fault != Fault::NoSecondCopy {
                here.keep(7, &(live, failed));
                if let Err(panic) = self.store.copy(here.at(7), b, w).await? {
                    return Ok(Err(panic));
                }
            }
            for q in (0..self.k).filter(|q| (batch & !failed) >> q & 1 == 1) {
                here.keep(8, &(live, failed, q));
                let asked = match op {
                    Some(op) if q == p => Asked::InHand(op),
                    _ => Asked::InCell(if q == p { mine.cell } else { hazard.cell(q) }),
                };
                if !self.store.apply(here.at(8), w, q, asked).await? {
                    failed |= 1 << q;
                    continue 'build;
                }
            }
            return Ok(Ok(()));
        }
    }

    async fn settle(
        &self,
        here: Here<'_, Sim>,
        p: usize,
        first: First<S::Op>,
    ) -> Result<Result<Buffer, S::Panic>, Infallible> {
        const SHOWN: [&str; 6] = ["b", "version", "pending", "hazard", "free", "w"];
        let (k, fault) = (self.k, self.fault);
        let others = || (0..k).filter(move |&q| q != p);
        let First { mut op, mut attempt, announced: mut mine } = first;
        here.shows("p", p as u64);
        let mut applied = [Applied { seq: 0, loc: None }; 8];
        let mut ann = [Announced { seq: 0, cell: 0 }; 8];
        'attempts: loop {
            'failed: {
                let tag = op.as_ref().map(S::tag);
                here.keep(1, &(p, attempt, mine, tag));
                let head = here.at(1).read(&self.head).await?;
                let b = head.buffer;
                for q in 0..k {
                    here.keep(2, &(p, attempt, mine, tag, head, &applied[..q]));
                    applied[q] = here.at(2).read(&self.app[(b.index(), q)]).await?;
                }
                if attempt == 0 {
                    mine.seq = applied[p].next();
                    here.shows("s", mine.seq);
                }
                if self.is_eager()
                    && let Some(op) = op.take()
                {
                    self.announce(here, p, &mut mine, op).await?;
                    attempt = 1;
                    continue 'attempts;
                }
                if fault == Fault::Waits {
                    let Some(op) = op.take() else { return Ok(Ok(b)) };
                    self.announce(here, p, &mut mine, op).await?;
                    let done = |head: Head| here.at(2).read(&self.app[(head.buffer.index(), p)]);
                    let turn = || async {
                        let head = here.at(1).read(&self.head).await?;
                        Ok((done(head).await?.seq == mine.seq).then_some(head.buffer))
                    };
                    here.keep(1, &(p, mine));
                    return Ok(Ok(here.spin_until(turn).await?));
                }
                for q in others() {
                    here.keep(3, &(p, attempt, mine, tag, head, &applied[..k], &ann[..q]));
                    ann[q] = here.at(3).read(&self.ann[q]).await?;
                }
                let is_pending = |q: usize| match fault {
                    Fault::NoHelp => false,
                    Fault::PendingIfDifferent => applied[q].seq != ann[q].seq,
                    _ => applied[q].is_followed_by(ann[q]),
                };
                let pending = others().filter(|&q| is_pending(q)).fold(0u64, |all, q| all | 1 << q);
                let done = attempt > 0 && applied[p].seq == mine.seq;
                if done && fault == Fault::BelievesTwo {
                    return Ok(Ok(applied[p].loc.unwrap_or(b)));
                }
                let hazard = others().fold(Hazard::of(b), |hazard, q| hazard.and(q, ann[q].cell));
                let skips = fault == Fault::OwnAlways && !done;
                if self.owner(b) != p || pending != 0 && !skips || done {
                    let live = (p, attempt, mine, tag, head, &applied[..k], pending, hazard);
                    let said = if fault == Fault::NoCellHazard { Hazard::of(b) } else { hazard };
                    here.keep(4, &live);
                    here.at(4).write(&self.hz[p], said).await?;
                    here.keep(5, &live);
                    if here.at(5).read(&self.head).await? != head {
                        break 'failed;
                    }
                }
                if done {
                    return Ok(Ok(applied[p].loc.unwrap_or(b)));
                }

                here.shows("b", b);
                here.shows("version", head.version);
                here.shows("pending", pending);
                here.shows("hazard", hazard);
                let mut free = Buffers(0);
                if self.pool.remembers {
                    here.keep(17, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard));
                    free = here.at(17).read(&self.free[p]).await?;
                }
                if free.0 == 0 {
                    let responses = others().filter_map(|q| applied[q].loc);
                    let taken = responses.filter(|_| fault != Fault::IgnoresResponses).chain([b]);
                    free = self.all_but(p, taken);
                    for q in others() {
                        here.keep(6, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard, free, q));
                        let theirs = here.at(6).read(&self.hz[q]).await?;
                        free = Buffers(free.0 & self.all_but(p, theirs.buffer.into_iter()).0);
                    }
                }
                here.shows("free", free);
                let w = self.first(p, free);
                if self.pool.remembers {
                    let rest = if fault == Fault::RemembersTooMuch { free.0 } else { free.0 & free.0.wrapping_sub(1) };
                    here.keep(18, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard, free));
                    here.at(18).write_in_passing(&self.free[p], Buffers(rest)).await?;
                }

                here.shows("w", w);
                let batch = pending | 1 << p;
                let live = format!("{:?}", (p, attempt, mine, tag, head, &applied[..k], pending, hazard, w));
                if let Err(panic) = self.build(here, p, op.as_ref(), mine, (b, w), batch, hazard, &live).await? {
                    ["p", "s"].into_iter().chain(SHOWN).for_each(|name| here.hides(name));
                    if op.is_none() {
                        here.keep(22, &p);
                        here.at(22).write_in_passing(&self.orphan[p], Orphan(true)).await?;
                    }
                    return Ok(Err(panic));
                }
                for q in 0..k {
                    here.keep(9, &(p, attempt, mine, tag, head, &applied[..k], pending, hazard, w, q));
                    let is_new = batch >> q & 1 == 1;
                    let new = match fault {
                        _ if is_new => Applied { seq: applied[q].next(), loc: Some(w) },
                        Fault::ForgetsOthers => Applied { seq: 0, loc: None },
                        _ => applied[q],
                    };
                    here.at(9).write_in_passing(&self.app[(w.index(), q)], new).await?;
                }
                here.keep(10, &(p, attempt, mine, tag, head, pending, hazard, w));
                let new = if fault == Fault::NoVersion { Head { buffer: w, ..head } } else { head.next(w) };
                let swung = here.at(10).compare_swap(&self.head, head, new).await?.is_ok();
                SHOWN.into_iter().for_each(|name| here.hides(name));
                if swung {
                    return Ok(Ok(w));
                }
            }
            attempt += 1;
            let last = if fault == Fault::OneAttempt { 2 } else { 3 };
            if let Some(op) = op.take() {
                self.announce(here, p, &mut mine, op).await?;
            } else if attempt == last {
                here.keep(14, &(p, mine));
                let head = here.at(14).read(&self.head).await?;
                here.keep(15, &(p, mine, head));
                let x = here.at(15).read(&self.app[(head.buffer.index(), p)]).await?;
                here.shows("found", x.seq == mine.seq);
                return Ok(Ok(x.loc.unwrap_or(head.buffer)));
            }
        }
    }
}

impl Usable for Universal<MayFail> {
    async fn perform(
        &self,
        process: &Process<Sim>,
        p: usize,
        op: Request<Map>,
    ) -> Result<Result<u64, Broken>, Infallible> {
        self.perform(process, p, op).await
    }
    async fn look(&self, process: &Process<Sim>, p: usize) -> Result<Result<Buffer, Broken>, Infallible> {
        self.look(process, p).await
    }
    fn store(&self) -> &MayFail {
        &self.store
    }
}

type Words = InWords<Sim, Affine<5>>;

struct Calls(Universal<Words>);

impl KExclusion<Sim> for Calls {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let Ok(_) = self.0.perform(p, p.pid().index(), Request(Some(map_of(p.pid())))).await?;
        Ok(())
    }

    async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}

struct Resilient<A> {
    part: Part,
    names: A,
    inside: Universal<Words>,
}

impl<A> Resilient<A> {
    fn new(
        site: &Site<'_, Sim>,
        k: usize,
        pool: Pool,
        store: Words,
        fault: Fault,
        names: impl FnOnce(&Site<'_, Sim>) -> A,
    ) -> Self {
        Self {
            part: site.here(),
            names: names(&site.part("names", None)),
            inside: Universal::new(&site.part("inside", None), k, pool, store, fault),
        }
    }
}

impl<A: KAssignment<Sim>> Resilient<A> {
    async fn leave(&self, p: &Process<Sim>, held: A::Held) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.mark(Mark::Rests(3));
        here.part(&());
        self.names.release(p, held).await?;
        here.part_done();
        Ok(())
    }
}

impl<A: KAssignment<Sim>> KExclusion<Sim> for Resilient<A> {
    type Held = Option<A::Held>;
    type Refusal = A::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Self::Held, Failure<Infallible, A::Refusal>> {
        let here = p.on(self.part);
        let op = Request(Some(map_of(p.pid())));
        here.mark(Mark::Rests(1));
        here.part(&Words::tag(&op));
        let held = self.names.acquire(p).await?;
        here.part_done();
        let name = A::name(&held);
        let mut held = Some(held);
        if self.inside.fault == Fault::NameGoesEarly
            && let Some(held) = held.take()
        {
            here.part(&name);
            self.leave(p, held).await?;
            here.part_done();
        }
        here.mark(Mark::Rests(2));
        here.part(&held);
        let _ = self.inside.perform(p, name, op).await?;
        here.part_done();
        Ok(held)
    }

    async fn release(&self, p: &Process<Sim>, held: Self::Held) -> Result<(), Infallible> {
        match held {
            Some(held) => self.leave(p, held).await,
            None => Ok(()),
        }
    }
}
