//! A memory that departs from the text at some statements; see [`faults`](crate::faults).

use super::cells::Alone;
use super::{Running, Sim};
use crate::faults::{Change, Fault, Faults, Index, Kind, Place, Target, Times, Value, When, is_called};
use crate::sim::layout::{Layout, Part, VarId};
use crate::sim::locals::Start;
use crate::sim::op::Op;
use doorway_core::memory::{Access, Home, Label, Memory as _, Pid, Register, Word as _};
use std::future::pending;
use std::rc::Rc;

/// How many consecutive accesses may be dropped before the text counts as looping without one.
const LEFT_OUT: usize = 1000;

/// What a wait that does not wait is told, one after the other, until it ends.
const TOLD: [u64; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, u64::MAX];

/// Why a fault is impossible.
const NO_FIELD: &str = "is about a field that there is not";

/// The effects of faults on one run of a text that matter later in it.
#[derive(Clone, Default, Debug)]
pub(super) struct Pending {
    /// Deferred accesses.
    deferred: Vec<Deferred>,
    /// Whether this turn of a wait made an access that had been deferred before the wait.
    made_up: bool,
    /// The statement at which the latest wait does not wait, and what it is told there.
    told: Option<(Label, Option<usize>)>,
    /// The statement of the last access made.
    last: Label,
    /// How many accesses were made.
    made: usize,
    /// How many accesses were dropped since the last one made.
    left_out: usize,
    impossible: Option<(Label, &'static str)>,
    /// The last variable read, and its value, if a fault may ask for it.
    seen: Option<(VarId, u64)>,
    /// The last values seen at the statements that faults ask for.
    seen_at: Vec<(Label, u64)>,
    /// How often each fault's statement was reached, if that matters.
    times: Vec<(usize, usize)>,
    /// Early reads, and their faults.
    early: Vec<(usize, u64)>,
}

/// A deferred access.
#[derive(Clone, Debug)]
struct Deferred {
    at: Access<Part>,
    op: Op,
    alone: Alone,
    /// Deferred until after an access at this statement.
    until: Option<&'static Place>,
    /// Whether a wait has begun since.
    before_the_wait: bool,
    /// The locals that the text showed.
    shown: Vec<(Part, &'static str, u64)>,
    /// The fault, and the number of accesses made before.
    fault: usize,
    since: usize,
}

impl Pending {
    /// Why the text cannot run with its faults, and where.
    pub(super) fn impossible(&self) -> Option<(Label, &'static str)> {
        self.impossible
    }

    /// What is deferred and remembered, as part of what distinguishes local states.
    pub(super) fn owed(&self, faults: Faults) -> String {
        let owed = |d: &Deferred| format!(" owes {:?} of {}@{}", d.op, d.at.part.number(), d.at.label);
        let mut owed = self.deferred.iter().map(owed).collect::<String>();
        if let Some(seen) = self.seen {
            owed += &format!(" saw {seen:?}");
        }
        if !(self.times.is_empty() && self.early.is_empty() && self.seen_at.is_empty()) {
            owed += &format!(" {:?} {:?} {:?}", self.times, self.early, self.seen_at);
        }
        if faults.places().any(|place| place.from.is_some()) {
            owed += &format!(" from {}", self.last);
        }
        owed
    }

    /// Whether the fault is about this access. Counts the visit.
    fn is_meant(&mut self, fault: usize, place: &Place, from: Label) -> bool {
        if place.from.is_some_and(|known| known != from) {
            return false;
        }
        let Some(Times { first, and_later }) = place.times else { return true };
        let i = self.times.iter().position(|(of, _)| *of == fault).unwrap_or_else(|| {
            self.times.push((fault, 0));
            self.times.len() - 1
        });
        let so_far = &mut self.times[i].1;
        *so_far = (*so_far + 1).min(first + 1);
        *so_far == first || and_later && *so_far > first
    }

    /// A wait begins, or ends.
    pub(super) fn wait_begins(&mut self) {
        self.deferred.iter_mut().for_each(|d| d.before_the_wait = true);
        self.made_up = false;
        self.told = None;
    }
}

/// One access with faults: the text asked for one, and several may be made.
struct Doing<'s> {
    sim: &'s Sim,
    at: Access<Part>,
    /// What the text keeps before it; kept until the access is over.
    kept: Option<String>,
    /// What was seen so far.
    seen: Vec<u64>,
}

impl Doing<'_> {
    async fn makes(&mut self, at: Access<Part>, op: Op, alone: Alone) -> u64 {
        if !self.seen.is_empty() {
            let kept = self.kept.as_ref().map(|kept| format!("{kept} then {:?} {op:?}", self.seen));
            self.sim.0.replay.borrow_mut().kept = kept;
        }
        let saw = self.sim.asks(at, op, alone).await;
        let faulty = &mut self.sim.0.replay.borrow_mut().faulty;
        faulty.left_out = 0;
        faulty.made += 1;
        faulty.last = at.label;
        if self.sim.0.faults.ask_for_what_was_seen_at(at.label) {
            faulty.seen_at.retain(|(label, _)| *label != at.label);
            faulty.seen_at.push((at.label, saw));
        }
        if let (Op::Read(v), true) = (op, self.sim.0.faults.ask_for_what_was_seen()) {
            faulty.seen = Some((v, saw));
        }
        self.seen.push(saw);
        saw
    }

    /// The accesses inserted before or after this one.
    async fn inserted(&mut self, kinds: &[(usize, &Kind)], now: When, op: Op) {
        let here = op.var();
        for (fault, kind) in kinds {
            match kind {
                Kind::Early(target, _) if now == When::Before => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "reads a variable that there is not").await;
                    };
                    let saw = self.makes(self.at, Op::Read(v), alone).await;
                    let early = &mut self.sim.0.replay.borrow_mut().faulty.early;
                    early.retain(|(of, _)| of != fault);
                    early.push((*fault, saw));
                }
                Kind::Wait(when, target, equal, value) if *when == now => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "waits for a variable that there is not").await;
                    };
                    let Some((lowest, bits)) = self.sim.field(v, target.field.as_deref()) else {
                        return self.sim.cannot(self.at.label, NO_FIELD).await;
                    };
                    let word = self.sim.word(v, *value, self.at.pid);
                    let mut head = self.sim.wait_begins(self.at.pid);
                    while (low(self.makes(self.at, Op::Read(v), alone).await >> lowest, bits) == word) != *equal {
                        let Ok(_) = self.sim.turn_failed(self.at.pid, &mut head, false).await;
                    }
                    self.sim.wait_ends(self.at.pid);
                }
                Kind::Also(when, target, change) if *when == now => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "writes a variable that there is not").await;
                    };
                    let word = op.leaves(op.expects().unwrap_or_default());
                    let of = in_field(target, change.as_ref());
                    let word = match &of {
                        Some(change) => {
                            changed(&self.sim.0.layout.borrow(), v, change, self.at.pid, op.expects(), word)
                        }
                        None => word,
                    };
                    self.makes(self.at, Op::Write(v, word), alone).await;
                }
                Kind::Set(when, target, change) if *when == now => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "writes a variable that there is not").await;
                    };
                    let op = match change {
                        Change::Plus(by) => {
                            let Some((lowest, _)) = self.sim.field(v, target.field.as_deref()) else {
                                return self.sim.cannot(self.at.label, NO_FIELD).await;
                            };
                            Op::FetchAdd(v, (*by as u64) << lowest)
                        }
                        change => Op::Write(v, changed(&self.sim.0.layout.borrow(), v, change, self.at.pid, None, 0)),
                    };
                    self.makes(self.at, op, alone).await;
                }
                _ => {}
            }
        }
    }

    /// Makes the deferred accesses that are due.
    async fn makes_up(&mut self, is_due: impl Fn(&Deferred) -> bool) {
        loop {
            let due = {
                let mut r = self.sim.0.replay.borrow_mut();
                let Some(i) = r.faulty.deferred.iter().position(&is_due) else { return };
                let due = r.faulty.deferred.remove(i);
                r.faulty.made_up |= due.before_the_wait;
                if r.faulty.made > due.since {
                    self.sim.is_used(due.fault); // otherwise nothing came in between
                }
                due
            };
            // A deferred access does not tell where the process rests. It comes with what was shown
            // then.
            let (rests, shown) = {
                let r = &mut *self.sim.0.replay.borrow_mut();
                let shown = r.shown.clone();
                let is_new =
                    |(part, name, _): &&(Part, &str, u64)| !shown.iter().any(|(p, n, _)| (p, n) == (part, name));
                r.shown.extend(due.shown.iter().filter(is_new));
                r.shown.sort_unstable();
                (r.rests.clone(), shown)
            };
            self.makes(due.at, due.op, due.alone).await;
            let r = &mut *self.sim.0.replay.borrow_mut();
            (r.rests, r.shown) = (rests, shown);
        }
    }
}

impl Sim {
    pub(in crate::sim) fn faults_without_effect(&self) -> Vec<&'static Fault> {
        let used = self.0.used.get();
        (0..)
            .zip(self.0.faults.all())
            .filter(|&(i, _): &(usize, _)| used >> i.min(63) & 1 == 0)
            .map(|(_, fault)| fault)
            .collect()
    }

    fn is_used(&self, fault: usize) {
        self.0.used.set(self.0.used.get() | 1 << fault.min(63));
    }

    /// A variable was declared: faults may change its initial value or its bits. Returns its bits.
    pub(super) fn begins_otherwise(&self, v: VarId) -> u32 {
        let mut layout = self.0.layout.borrow_mut();
        let name = layout.var(v).name();
        for (i, fault) in self.0.faults.all().iter().enumerate() {
            let (Fault::Init(target, _) | Fault::Bits(target, _) | Fault::Atomic(target) | Fault::Home(target, _)) =
                fault
            else {
                continue;
            };
            let of_this_part = target.part.as_ref().is_none_or(|part| is_called(layout.part(name.part), part));
            let place = match target.index {
                None => true,
                Some(Index::Is(at)) => name.index == Some(at),
                Some(Index::FromMe(_) | Index::FromHere(_)) => false,
            };
            if name.name != target.name || !of_this_part || !place {
                continue;
            }
            match fault {
                Fault::Bits(_, bits) => layout.vars[v as usize].narrow(*bits),
                Fault::Home(_, process) => layout.vars[v as usize].home = Home::Of(Pid::new(*process)),
                Fault::Atomic(_) => layout.vars[v as usize].needs = Register::Atomic,
                Fault::Init(_, change) => {
                    let init = layout.var(v).init;
                    let change = in_field(target, Some(change));
                    let begins = change.map_or(init, |change| changed(&layout, v, &change, Pid::new(0), None, init));
                    layout.vars[v as usize].init = begins;
                }
                Fault::At(..) => {}
            }
            self.is_used(i);
        }
        layout.var(v).bits()
    }

    /// Makes an access with the faults of its statement.
    pub(super) async fn faulty_access(&self, at: Access<Part>, mut op: Op, mut alone: Alone) -> u64 {
        let from = self.0.replay.borrow().faulty.last;
        let kinds = self.kinds_at(at, op, from);
        let mut doing = Doing { sim: self, at, kept: self.0.replay.borrow().kept.clone(), seen: Vec::new() };
        let here = op.var();
        let asked = op;
        doing.inserted(&kinds, When::Before, asked).await;
        for (_, kind) in &kinds {
            match kind {
                Kind::To(target) => match self.find(at, target, here) {
                    Some((v, other)) => (op, alone) = (op.on(v), other),
                    None => self.cannot(at.label, "goes to a variable that there is not").await,
                },
                Kind::Write(change) => op = self.with_other_value(at, op, change),
                Kind::Expect(change) => {
                    if let Op::CompareSwap(v, old, new) = op {
                        let other = changed(&self.0.layout.borrow(), v, change, at.pid, None, old);
                        op = Op::CompareSwap(v, other, new);
                    }
                }
                _ => {}
            }
        }
        let (before, owed) = {
            let r = self.0.replay.borrow();
            (r.seen, r.faulty.deferred.len())
        };
        let mut saw = self.done(&mut doing, &kinds, op, alone).await;
        if owed > 0 && self.0.replay.borrow().seen > before {
            let info = self.0.layout.borrow().part(at.part).clone();
            doing.makes_up(|d| d.until.is_none_or(|until| until.is(at.pid, &info, at.label))).await;
        }
        // The access succeeded, although the text expected another value.
        if let (Some(wanted), Some(compared)) = (asked.expects(), op.expects())
            && saw == compared
        {
            saw = wanted;
        }
        for (_, kind) in &kinds {
            if let (Kind::Read(change), Some(v)) = (kind, op.var()) {
                saw = match change {
                    Change::Is(value @ Value::At(_)) => self.now(*value).unwrap_or(saw),
                    change => changed(&self.0.layout.borrow(), v, change, at.pid, op.expects(), saw),
                };
            }
        }
        if asked.expects().is_none_or(|wanted| wanted == saw) {
            doing.inserted(&kinds, When::After, asked).await;
        }
        saw
    }

    /// The access itself, if it is made now.
    async fn done(&self, doing: &mut Doing<'_>, kinds: &[(usize, &'static Kind)], op: Op, alone: Alone) -> u64 {
        let at = doing.at;
        if let Some(told) = self.told_early(at) {
            return told;
        }
        for &(fault, kind) in kinds {
            match (kind, op) {
                (Kind::NoWait, _) => {
                    let told = {
                        let mut r = self.0.replay.borrow_mut();
                        let waits = r.wait_at.is_some();
                        let told = r.faulty.told.filter(|(label, _)| *label == at.label && waits);
                        if told.is_none() && waits {
                            r.faulty.told = Some((at.label, None));
                        }
                        told.and_then(|(_, told)| told)
                    };
                    if let Some(told) = told {
                        return TOLD[told];
                    }
                }
                (Kind::Drop(told), _) => {
                    let told = self.told(op, *told, at.pid);
                    let left_out = {
                        let r = &mut self.0.replay.borrow_mut().faulty;
                        r.left_out += 1;
                        r.left_out
                    };
                    if left_out > LEFT_OUT {
                        self.cannot(at.label, "goes round without an access").await;
                    }
                    return told;
                }
                (Kind::Defer(until, told), _) => {
                    let told = self.told(op, *told, at.pid);
                    let mut r = self.0.replay.borrow_mut();
                    let (until, since, shown) = (until.as_ref(), r.faulty.made, r.shown.clone());
                    r.faulty.deferred.push(Deferred {
                        at,
                        op,
                        alone,
                        until,
                        before_the_wait: false,
                        shown,
                        fault,
                        since,
                    });
                    return told;
                }
                (Kind::Split, _) => {
                    let Some(v) = op.var() else { continue };
                    let old = doing.makes(at, Op::Read(v), alone).await;
                    let new = self.0.layout.borrow().var(v).fit(op.leaves(old));
                    if new != old || matches!(op, Op::FetchAdd(..) | Op::Swap(..)) {
                        doing.makes(at, Op::Write(v, new), alone).await;
                    }
                    return old;
                }
                (Kind::Insist, Op::CompareSwap(_, wanted, _)) => {
                    let mut head = self.wait_begins(at.pid);
                    let mut saw = doing.makes(at, op, alone).await;
                    while saw != wanted {
                        let Ok(_) = self.turn_failed(at.pid, &mut head, false).await;
                        saw = doing.makes(at, op, alone).await;
                    }
                    self.wait_ends(at.pid);
                    return saw;
                }
                (Kind::Force, Op::CompareSwap(v, _, new)) => return doing.makes(at, Op::Swap(v, new), alone).await,
                (Kind::Blind, Op::CompareSwap(v, old, new)) => {
                    doing.makes(at, Op::Write(v, new), alone).await;
                    return old;
                }
                _ => {}
            }
        }
        doing.makes(at, op, alone).await
    }

    /// The faults of this access.
    fn kinds_at(&self, at: Access<Part>, op: Op, from: Label) -> Vec<(usize, &'static Kind)> {
        let layout = self.0.layout.borrow();
        let mut kinds = Vec::new();
        for (i, fault) in self.0.faults.all().iter().enumerate() {
            let Fault::At(place, kind) = fault else { continue };
            let is_about = match kind {
                Kind::Split => crate::faults::reads_and_writes(op),
                Kind::Blind | Kind::Force | Kind::Expect(_) | Kind::Insist => matches!(op, Op::CompareSwap(..)),
                Kind::NoWait | Kind::Read(_) => !matches!(op, Op::Write(..)),
                Kind::Write(_) => !matches!(op, Op::Read(_)),
                _ => true,
            };
            let has_it = |field: &str| op.var().is_some_and(|v| layout.var(v).field(Some(field)).is_some());
            let has_field = match kind {
                Kind::Read(Change::InField(name, _))
                | Kind::Write(Change::InField(name, _))
                | Kind::Expect(Change::InField(name, _)) => has_it(name),
                _ => true,
            };
            let goes_there = || op.var().and_then(|v| layout.var(v).name().index) == place.index;
            if is_about
                && has_field
                && (place.index.is_none() || goes_there())
                && place.is(at.pid, layout.part(at.part), at.label)
                && self.0.replay.borrow_mut().faulty.is_meant(i, place, from)
            {
                kinds.push((i, kind));
                if !matches!(kind, Kind::Defer(..)) {
                    self.is_used(i);
                }
            }
        }
        kinds
    }

    /// The early read for this access, if there was one.
    fn told_early(&self, at: Access<Part>) -> Option<u64> {
        let layout = self.0.layout.borrow();
        let early = &mut self.0.replay.borrow_mut().faulty.early;
        let i = early.iter().position(|(fault, _)| match &self.0.faults.all()[*fault] {
            Fault::At(_, Kind::Early(_, told)) => told.is(at.pid, layout.part(at.part), at.label),
            _ => false,
        })?;
        Some(early.remove(i).1)
    }

    /// The fault is impossible.
    async fn cannot(&self, label: Label, why: &'static str) {
        self.0.replay.borrow_mut().faulty.impossible = Some((label, why));
        pending::<()>().await;
    }

    /// The answer to an access that is not made now: as if it had been the first, and had
    /// succeeded.
    fn told(&self, op: Op, told: Option<Value>, me: Pid) -> u64 {
        let Some(v) = op.var() else { return 0 };
        match (told, op) {
            (Some(Value::Seen), _) => {
                let seen = self.0.replay.borrow().faulty.seen;
                seen.filter(|(of, _)| *of == v).map_or_else(|| self.0.layout.borrow().var(v).init, |(_, word)| word)
            }
            (Some(value), _) => self.now(value).unwrap_or_else(|| self.word(v, value, me)),
            (None, Op::CompareSwap(_, old, _)) => old,
            (None, _) => self.0.layout.borrow().var(v).init,
        }
    }

    fn with_other_value(&self, at: Access<Part>, op: Op, change: &Change) -> Op {
        let Some(v) = op.var() else { return op };
        let other = |word| changed(&self.0.layout.borrow(), v, change, at.pid, op.expects(), word);
        match op {
            Op::Write(v, x) => Op::Write(v, other(x)),
            Op::Swap(v, x) => Op::Swap(v, other(x)),
            Op::FetchAdd(v, delta) => Op::FetchAdd(v, other(delta)),
            Op::FetchOr(v, mask) => Op::FetchOr(v, other(mask)),
            Op::FetchAnd(v, mask) => Op::FetchAnd(v, !other(!mask)),
            Op::CompareSwap(v, old, x) => Op::CompareSwap(v, old, other(x)),
            Op::TestAndSet(v) if other(1) == 0 => Op::Read(v),
            same => same,
        }
    }

    /// The target variable of an access that goes to `here`.
    fn find(&self, at: Access<Part>, target: &Target, here: Option<VarId>) -> Option<(VarId, Alone)> {
        let layout = self.0.layout.borrow();
        let own = here.map(|v| layout.var(v).name());
        let name = if target.name.is_empty() { own?.name } else { &*target.name };
        let part = match &target.part {
            Some(part) => (0..layout.parts.len() as u32)
                .map(Part::new)
                .find(|p| is_called(layout.part(*p), part) && layout.find(*p, name, 0).is_some())?,
            None if layout.find(at.part, name, 0).is_some() => at.part,
            None => own?.part,
        };
        let len = (0..).take_while(|&i| layout.find(part, name, i).is_some()).count() as i64;
        let index = match target.index {
            None if len == 1 => 0,
            None => own.and_then(|own| own.index).unwrap_or(0) as i64,
            Some(Index::Is(index)) => index as i64,
            Some(Index::FromMe(by)) => (at.pid.index() as i64 + by).rem_euclid(len.max(1)),
            Some(Index::FromHere(by)) => (own?.index? as i64 + by).rem_euclid(len.max(1)),
        };
        let v = layout.find(part, name, usize::try_from(index).ok()?)?;
        Some((v, Alone::of(layout.var(v).private, layout.var(v).plain)))
    }

    /// The current value that the fault means.
    fn now(&self, value: Value) -> Option<u64> {
        let Value::At(asked) = value else { return None };
        self.0.replay.borrow().faulty.seen_at.iter().find(|(label, _)| *label == asked).map(|(_, word)| *word)
    }

    fn field(&self, v: VarId, name: Option<&str>) -> Option<(u32, u32)> {
        self.0.layout.borrow().var(v).field(name)
    }

    fn word(&self, v: VarId, value: Value, me: Pid) -> u64 {
        word(&self.0.layout.borrow(), v, value, me)
    }

    /// A turn of a wait has failed. Returns whether the text goes on at once, with what it has done
    /// so far behind it. That is then where the rest of the wait `head` begins.
    pub(super) async fn goes_on(&self, head: usize) -> bool {
        let kept = self.0.replay.borrow().kept.clone();
        let at = Access { pid: Pid::new(0), part: Part::ROOT, label: 0 };
        // The loop head, to which the process returns, does not know of it.
        Doing { sim: self, at, kept, seen: Vec::new() }.makes_up(|d| !d.before_the_wait).await;
        let no_value_ends = {
            let mut r = self.0.replay.borrow_mut();
            let (seen, told) = (r.seen, r.faulty.told);
            if told.is_none() && !std::mem::take(&mut r.faulty.made_up) {
                return false;
            }
            r.waits[head] = seen;
            r.wait_at = Some(seen);
            told.and_then(|(label, told)| {
                let next = told.map_or(0, |told| told + 1);
                r.faulty.told = Some((label, Some(next)));
                (next >= TOLD.len()).then_some(label)
            })
        };
        if let Some(label) = no_value_ends {
            self.cannot(label, "waits for what no simple value ends").await;
        }
        true
    }

    /// Passages that end with their deferred accesses.
    pub(in crate::sim) fn with_what_is_owed(&self, start: Rc<Start>) -> Rc<Start> {
        if self.0.faults.is_empty() {
            return start;
        }
        let sim = self.clone();
        Rc::new(move |pid| {
            let running = start(pid);
            let sim = sim.clone();
            Running::Boxed(Box::pin(async move {
                running.await;
                let at = Access { pid, part: Part::ROOT, label: 0 };
                Doing { sim: &sim, at, kept: None, seen: Vec::new() }.makes_up(|_| true).await;
            }))
        })
    }
}

/// A value as a word of the variable.
fn word(layout: &Layout, v: VarId, value: Value, me: Pid) -> u64 {
    let process = |p: Pid| if layout.holds::<Option<Pid>>(v) { Some(p).pack() } else { p.pack() };
    let word = match value {
        Value::Number(n) => n as u64,
        Value::Bit(bit) => bit.pack(),
        Value::Process(p) => process(Pid::new(p.min(Pid::LIMIT - 1))),
        Value::Me => process(me),
        Value::Nobody => None::<Pid>.pack(),
        Value::Seen | Value::Old | Value::At(_) => layout.var(v).init,
    };
    layout.var(v).fit(word)
}

/// The change, in the field that is meant.
fn in_field(target: &Target, change: Option<&Change>) -> Option<Change> {
    match (&target.field, change?.clone()) {
        (Some(field), change) => Some(Change::InField(field.clone(), Box::new(change))),
        (None, change) => Some(change),
    }
}

/// The lowest bits of a word.
fn low(word: u64, bits: u32) -> u64 {
    word & u64::MAX >> (64 - bits)
}

/// The changed word of an access; `old` is the value that it expects, if it does.
fn changed(layout: &Layout, v: VarId, change: &Change, me: Pid, expected: Option<u64>, old: u64) -> u64 {
    let value = |value: Value| match (value, expected) {
        (Value::Old, Some(expected)) => expected,
        _ => word(layout, v, value, me),
    };
    match change {
        Change::Is(new) => value(*new),
        Change::Of(from, to) if old == value(*from) => value(*to),
        Change::Of(..) => old,
        Change::Plus(by) => layout.var(v).fit(old.wrapping_add(*by as u64)),
        Change::Not => u64::from(old == 0),
        Change::PlusField(_) => old,
        Change::InField(name, change) => {
            let Some((lowest, bits)) = layout.var(v).field(Some(name)) else { return old };
            let of = |word: u64| low(word >> lowest, bits);
            let new = match &**change {
                Change::PlusField(other) => {
                    let Some((lowest, bits)) = layout.var(v).field(Some(other)) else { return old };
                    of(old).wrapping_add(low(old >> lowest, bits))
                }
                change => changed(layout, v, change, me, expected.map(of), of(old)),
            };
            let new = low(new, bits);
            old & !(low(u64::MAX, bits) << lowest) | new << lowest
        }
    }
}
