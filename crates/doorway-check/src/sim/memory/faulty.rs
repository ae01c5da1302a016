//! A memory that does otherwise than the text says, at some statements; see [`faults`](crate::faults).

use super::Sim;
use super::cells::Alone;
use crate::faults::{Change, Fault, Index, Kind, Place, Target, Value, When, is_called};
use crate::sim::layout::{Layout, Part, VarId};
use crate::sim::locals::Start;
use crate::sim::op::Op;
use doorway_core::memory::{Access, Label, Memory as _, Pid, Register, Word as _};
use std::future::pending;
use std::rc::Rc;

/// How many accesses in a row may be left out before the text is taken to go round without one.
const LEFT_OUT: usize = 1000;

/// What a wait that does not wait is told, one after the other, until it ends.
const TOLD: [u64; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, u64::MAX];

/// What faults have done to one run of a text that matters later in it.
#[derive(Default, Debug)]
pub(super) struct Pending {
    /// Accesses that were put off.
    deferred: Vec<Deferred>,
    /// Whether one was made in this turn of a wait that had been put off before the wait.
    made_up: bool,
    /// The statement at which the wait that began last does not wait, and what it is told there.
    told: Option<(Label, Option<usize>)>,
    /// The statement of the last access.
    last: Label,
    /// How many accesses were made.
    made: usize,
    /// How many accesses were left out since the last one that was made.
    left_out: usize,
    impossible: Option<(Label, &'static str)>,
    /// What was read last, and of which variable, where a fault may ask for it.
    seen: Option<(VarId, u64)>,
}

/// An access that was put off.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    at: Access<Part>,
    op: Op,
    alone: Alone,
    /// Until after an access at this statement.
    until: Option<&'static Place>,
    /// Whether a wait has begun since.
    before_the_wait: bool,
    /// By which fault, and when so many accesses had been made.
    fault: usize,
    since: usize,
}

impl Pending {
    /// Why the text cannot be run with its faults, and where.
    pub(super) fn impossible(&self) -> Option<(Label, &'static str)> {
        self.impossible
    }

    /// What is put off and remembered, as a part of what tells local states apart.
    pub(super) fn owed(&self) -> String {
        let owed = |d: &Deferred| format!(" owes {:?} of {}@{}", d.op, d.at.part.number(), d.at.label);
        let seen = self.seen.map_or(String::new(), |seen| format!(" saw {seen:?}"));
        self.deferred.iter().map(owed).collect::<String>() + &seen
    }

    /// A wait begins, or ends.
    pub(super) fn wait_begins(&mut self) {
        self.deferred.iter_mut().for_each(|d| d.before_the_wait = true);
        self.made_up = false;
        self.told = None;
    }
}

/// One access with faults: the text has asked for one, and several may be made.
struct Doing<'s> {
    sim: &'s Sim,
    at: Access<Part>,
    /// What the text keeps before it, which it keeps as long as the access is not over.
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
        if let (Op::Read(v), true) = (op, self.sim.0.faults.ask_for_what_was_seen()) {
            faulty.seen = Some((v, saw));
        }
        self.seen.push(saw);
        saw
    }

    /// What was inserted before the access, or after it.
    async fn inserted(&mut self, kinds: &[(usize, &Kind)], now: When, here: Option<VarId>) {
        for (_, kind) in kinds {
            match kind {
                Kind::Wait(when, target, equal, value) if *when == now => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "waits for a variable that there is not").await;
                    };
                    let word = self.sim.word(v, *value, self.at.pid);
                    let mut head = self.sim.wait_begins(self.at.pid);
                    while (self.makes(self.at, Op::Read(v), alone).await == word) != *equal {
                        let Ok(_) = self.sim.turn_failed(self.at.pid, &mut head, false).await;
                    }
                    self.sim.wait_ends(self.at.pid);
                }
                Kind::Set(when, target, value) if *when == now => {
                    let Some((v, alone)) = self.sim.find(self.at, target, here) else {
                        return self.sim.cannot(self.at.label, "writes a variable that there is not").await;
                    };
                    let word = self.sim.word(v, *value, self.at.pid);
                    self.makes(self.at, Op::Write(v, word), alone).await;
                }
                _ => {}
            }
        }
    }

    /// Makes what was put off and is due.
    async fn makes_up(&mut self, is_due: impl Fn(&Deferred) -> bool) {
        loop {
            let due = {
                let mut r = self.sim.0.replay.borrow_mut();
                let Some(i) = r.faulty.deferred.iter().position(&is_due) else { return };
                let due = r.faulty.deferred.remove(i);
                r.faulty.made_up |= due.before_the_wait;
                if r.faulty.made > due.since {
                    self.sim.is_used(due.fault); // otherwise nothing came between
                }
                due
            };
            // Where the process rests is not what it has put off.
            let rests = self.sim.0.replay.borrow().rests.clone();
            self.makes(due.at, due.op, due.alone).await;
            self.sim.0.replay.borrow_mut().rests = rests;
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

    /// A variable was declared: it may begin with another value, or have fewer bits. How many it has.
    pub(super) fn begins_otherwise(&self, v: VarId) -> u32 {
        let mut layout = self.0.layout.borrow_mut();
        let name = layout.var(v).name();
        for (i, fault) in self.0.faults.all().iter().enumerate() {
            let (Fault::Init(target, _) | Fault::Bits(target, _) | Fault::Atomic(target)) = fault else { continue };
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
                Fault::Atomic(_) => layout.vars[v as usize].needs = Register::Atomic,
                Fault::Init(_, change) => {
                    layout.vars[v as usize].init = changed(&layout, v, *change, Pid::new(0), layout.var(v).init);
                }
                Fault::At(..) => {}
            }
            self.is_used(i);
        }
        layout.var(v).bits()
    }

    /// Makes an access with whatever faults there are at its statement.
    pub(super) async fn faulty_access(&self, at: Access<Part>, mut op: Op, mut alone: Alone) -> u64 {
        self.0.replay.borrow_mut().faulty.last = at.label;
        let kinds = self.kinds_at(at, op);
        let mut doing = Doing { sim: self, at, kept: self.0.replay.borrow().kept.clone(), seen: Vec::new() };
        let here = op.var();
        doing.inserted(&kinds, When::Before, here).await;
        for (_, kind) in &kinds {
            match kind {
                Kind::To(target) => match self.find(at, target, here) {
                    Some((v, other)) => (op, alone) = (op.on(v), other),
                    None => self.cannot(at.label, "goes to a variable that there is not").await,
                },
                Kind::Write(change) => op = self.with_other_value(at, op, *change),
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
        for (_, kind) in &kinds {
            if let (Kind::Read(change), Some(v)) = (kind, op.var()) {
                saw = changed(&self.0.layout.borrow(), v, *change, at.pid, saw);
            }
        }
        doing.inserted(&kinds, When::After, here).await;
        saw
    }

    /// The access itself, if it is made now.
    async fn done(&self, doing: &mut Doing<'_>, kinds: &[(usize, &'static Kind)], op: Op, alone: Alone) -> u64 {
        let at = doing.at;
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
                    let (until, since) = (until.as_ref(), r.faulty.made);
                    r.faulty.deferred.push(Deferred { at, op, alone, until, before_the_wait: false, fault, since });
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

    /// What is wrong with this access.
    fn kinds_at(&self, at: Access<Part>, op: Op) -> Vec<(usize, &'static Kind)> {
        let layout = self.0.layout.borrow();
        let mut kinds = Vec::new();
        for (i, fault) in self.0.faults.all().iter().enumerate() {
            let Fault::At(place, kind) = fault else { continue };
            let is_about = match kind {
                Kind::Split => crate::faults::reads_and_writes(op),
                Kind::Blind | Kind::Force => matches!(op, Op::CompareSwap(..)),
                Kind::NoWait | Kind::Read(_) => !matches!(op, Op::Write(..)),
                Kind::Write(_) => !matches!(op, Op::Read(_)),
                _ => true,
            };
            if is_about && place.is(at.pid, layout.part(at.part), at.label) {
                kinds.push((i, kind));
                if !matches!(kind, Kind::Defer(..)) {
                    self.is_used(i);
                }
            }
        }
        kinds
    }

    /// The fault cannot be made.
    async fn cannot(&self, label: Label, why: &'static str) {
        self.0.replay.borrow_mut().faulty.impossible = Some((label, why));
        pending::<()>().await;
    }

    /// The answer to an access that is not made now: as if it had been made first of all, and well.
    fn told(&self, op: Op, told: Option<Value>, me: Pid) -> u64 {
        let Some(v) = op.var() else { return 0 };
        match (told, op) {
            (Some(Value::Seen), _) => {
                let seen = self.0.replay.borrow().faulty.seen;
                seen.filter(|(of, _)| *of == v).map_or_else(|| self.0.layout.borrow().var(v).init, |(_, word)| word)
            }
            (Some(value), _) => self.word(v, value, me),
            (None, Op::CompareSwap(_, old, _)) => old,
            (None, _) => self.0.layout.borrow().var(v).init,
        }
    }

    fn with_other_value(&self, at: Access<Part>, op: Op, change: Change) -> Op {
        let Some(v) = op.var() else { return op };
        let other = |word| changed(&self.0.layout.borrow(), v, change, at.pid, word);
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

    /// The variable that is meant at an access, which goes to `here`.
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

    fn word(&self, v: VarId, value: Value, me: Pid) -> u64 {
        word(&self.0.layout.borrow(), v, value, me)
    }

    /// A turn of a wait has failed; whether the text goes on at once, with what it has done so far behind it. `head` is then
    /// where the rest of the wait begins.
    pub(super) async fn goes_on(&self, head: &mut usize) -> bool {
        let kept = self.0.replay.borrow().kept.clone();
        let at = Access { pid: Pid::new(0), part: Part::ROOT, label: 0 };
        // The loop head, to which the process goes back, does not know of it.
        Doing { sim: self, at, kept, seen: Vec::new() }.makes_up(|d| !d.before_the_wait).await;
        let no_value_ends = {
            let mut r = self.0.replay.borrow_mut();
            let (seen, told) = (r.seen, r.faulty.told);
            if told.is_none() && !std::mem::take(&mut r.faulty.made_up) {
                return false;
            }
            *head = seen;
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

    /// Passages that end with what was put off in them.
    pub(in crate::sim) fn with_what_is_owed(&self, start: Rc<Start>) -> Rc<Start> {
        if self.0.faults.is_empty() {
            return start;
        }
        let sim = self.clone();
        Rc::new(move |pid| {
            let running = start(pid);
            let sim = sim.clone();
            Box::pin(async move {
                running.await;
                let at = Access { pid, part: Part::ROOT, label: 0 };
                Doing { sim: &sim, at, kept: None, seen: Vec::new() }.makes_up(|_| true).await;
            })
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
        Value::Seen => layout.var(v).init,
    };
    layout.var(v).fit(word)
}

fn changed(layout: &Layout, v: VarId, change: Change, me: Pid, old: u64) -> u64 {
    match change {
        Change::Is(value) => word(layout, v, value, me),
        Change::Of(from, to) if old == word(layout, v, from, me) => word(layout, v, to, me),
        Change::Of(..) => old,
        Change::Plus(by) => layout.var(v).fit(old.wrapping_add(by as u64)),
        Change::Not => u64::from(old == 0),
    }
}
