//! The turnstile with faults, in all its forms.
//!
//! What mutants never do is left out: nobody closes it, and no exit is so many after the last that the front must move for that alone.

use super::names::{self, WithNames};
use crate::at_once::OddTry;
use crate::sim::{Part, Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::k_exclusion::turnstile::{
    Attempt, Door, Fate, Front, Gate, Held, Limits, Next, Places, Record, TICKET,
};
use doorway_core::k_exclusion::{Abortable, AtOnce, KExclusion};
use doorway_core::memory::{Here, Mark, Process, Site, Word};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::fmt::Debug;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    OneTooMany,
    /// 26 looks whether the first of several tickets is enabled.
    FirstDecides,
    /// 3 and 5 enter although somebody is in line.
    NoHelpAtEntry,
    /// 4 dropped, and whoever wants several draws however long the line is.
    NeverFull,
    /// 7 moves the front, and leaves its ghosts as they were.
    KeepsGhosts,
    /// 9 never helps.
    NoHelpAtExit,
    /// After 9, helps only if the ticket that was enabled is drawn.
    SkipsUndrawn,
    /// After 9, waits until nobody is in line.
    WaitsToLeave,
    /// 10 goes on until one ticket further.
    OneTooFar,
    /// 12 only the first time.
    LooksAgainOnce,
    /// 14 signals the ticket that was drawn last.
    LastInFirst,
    /// 16 to 18 dropped.
    NeverExitsGhosts,
    /// 17 dropped.
    NoSecondLook,
    /// 18 exits, and leaves `odd` as it was.
    UnmarkedExit,
    /// 18 does not raise `upto`.
    KeepsUpto,
    /// 21 takes the ghost out of the line, and 18 does not.
    LeavesLineEarly,
    /// Tickets that were enabled when they were announced become ghosts too.
    GivesUpEnabled,
    /// 40 dropped: who gives up many exits what was enabled, and does not deal with those before it.
    ExitsUndealt,
    /// 24 dropped.
    NeverOpens,
    /// 27 draws whatever 26 says.
    DrawsUnchecked,
}

/// Which form of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Fair,
    Many,
    Unfair,
    Slots(names::Fault),
    Bits(names::Fault),
}

impl Form {
    /// The algorithm it is the text of.
    pub(super) const fn of(self) -> &'static str {
        match self {
            Self::Fair => "turnstile",
            Self::Many => "turnstile-many",
            Self::Unfair => "turnstile-unfair",
            Self::Slots(_) => "turnstile-slots",
            Self::Bits(_) => "turnstile-bits",
        }
    }

    pub(super) fn world(self, fault: Fault, Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
        fn machine<A: Abortable<Sim> + 'static>(
            n: usize,
            rules: Rules,
            build: impl FnOnce(&Site<'_, Sim>) -> A,
        ) -> Result<World, TextError> {
            if rules.give_ups { World::of_abortable(n, rules, build) } else { World::new(n, rules, build) }
        }
        let fair = |site: &Site<'_, Sim>| Turnstile::new(site, k, Limits::for_processes(n, k), fault);
        match self {
            Self::Fair => machine(n, rules, fair),
            Self::Many => machine(n, rules, |site| Many {
                inner: Turnstile::new(site, k, Limits::for_processes(n + 1, k), fault),
                most: k.min(2) as u64,
            }),
            Self::Unfair => machine(n, rules, |site| Unfair { inner: fair(&site.part("exclusion", None)) }),
            Self::Slots(names) => machine(n, rules, |site| WithNames::new(site, k, false, names, fair)),
            Self::Bits(names) => machine(n, rules, |site| WithNames::new(site, k, true, names, fair)),
        }
    }
}

/// The fair one, at which processes with odd numbers do not wait.
pub(super) fn with_attempts(fault: Fault, Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::new(n, rules, |site| OddTry(Turnstile::new(site, k, Limits::for_processes(n, k), fault)))
}

fn low(word: u64, bits: u32) -> u64 {
    word & ((1 << bits) - 1)
}

/// The ticket drawn `more` after `t`.
fn after(t: u64, more: u64) -> u64 {
    low(t.wrapping_add(more), TICKET)
}

fn after_ghosts(ghosts: u64, more: u64) -> u64 {
    low(ghosts + more, 64 - TICKET)
}

fn turned(door: Door) -> Door {
    Door::unpack(low(door.pack() + 1, Door::BITS))
}

const NOTHING: Gate = Gate { open: 0, odd: false, closed: false, line: 0 };

/// What is drawn, and how far that brings.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    Inside(Held),
    Helps(Duty, Held),
    Waits { first: u64, too_long: Option<Door> },
    Kept(Door),
}

#[derive(Clone, Copy, Debug)]
struct Duty {
    upto: u64,
    units: u64,
    owes: bool,
    line: bool,
    odd: bool,
}

pub(super) struct Turnstile {
    part: Part,
    limits: Limits,
    next: SimVar<Next>,
    gate: SimVar<Gate>,
    front: SimVar<Front>,
    rec: Vec<SimCell<Record>>,
    door: SimVar<Door>,
    places: SimVar<Places>,
    fault: Fault,
}

impl Turnstile {
    pub(super) fn new(site: &Site<'_, Sim>, k: usize, limits: Limits, fault: Fault) -> Self {
        let free = if fault == Fault::OneTooMany { k + 1 } else { k };
        let older = |i: usize| Record::new((i as u64).wrapping_sub(limits.ring as u64), Fate::Signalled).into();
        Self {
            part: site.here(),
            limits,
            next: site.var("next", Next(0)),
            gate: site.var("gate", NOTHING.opened(free as u64)),
            front: site.var("front", Front { ticket: 0, ghosts: 0 }),
            rec: site.row("rec", limits.ring, older),
            door: site.var("door", Door::unpack(0)),
            places: site.var("places", Places(k as u64)),
            fault,
        }
    }

    fn record(&self, t: u64) -> &SimCell<Record> {
        &self.rec[t as usize & (self.limits.ring - 1)]
    }

    async fn draw(&self, p: &Process<Sim>, units: u64) -> Result<Drawn, Infallible> {
        let p = p.on(self.part);
        p.keep(1, &());
        let door = p.at(1).read(&self.door).await?;
        if !door.is_open() {
            return Ok(Drawn::Kept(door));
        }
        if units > 1 {
            return self.draw_many(p, units, door).await;
        }
        p.shows("door", door);
        p.keep(2, &door);
        let first = p.at(2).fetch_add(&self.next, Next(units)).await?.ticket();
        p.mark(Mark::DoorwayEnds);
        let t = after(first, units - 1);
        p.shows("ticket", t);
        p.shows("units", units);
        p.keep(3, &(first, door));
        let g = p.at(3).read(&self.gate).await?;
        if g.distance(t) >= 0 {
            let too_long = self.is_full(g, t).then_some(door);
            if too_long.is_none() {
                p.hides("door");
            }
            return Ok(Drawn::Waits { first, too_long });
        }
        Ok(self.enabled(p, t, g, Held::of(units, false)))
    }

    fn is_full(&self, g: Gate, t: u64) -> bool {
        g.distance(t) >= self.limits.full as i64 && self.fault != Fault::NeverFull
    }

    async fn draw_many(&self, p: Here<'_, Sim>, units: u64, door: Door) -> Result<Drawn, Infallible> {
        p.shows("door", door);
        p.keep(41, &door);
        p.at(41).read(&self.places).await?;
        loop {
            p.shows("door", door);
            p.keep(25, &door);
            let drawn = p.at(25).read(&self.next).await?;
            let (first, t) = (drawn.ticket(), after(drawn.ticket(), units - 1));
            p.shows("ticket", t);
            p.keep(26, &(drawn, door));
            let g = p.at(26).read(&self.gate).await?;
            if self.is_full(g, t) {
                p.hides("ticket");
                p.keep(4, &door);
                let _ = p.at(4).compare_swap(&self.door, door, turned(door)).await?;
                p.hides("door");
                return Ok(Drawn::Kept(turned(door)));
            }
            p.keep(27, &(drawn, g));
            if p.at(27).compare_swap(&self.next, drawn, Next(drawn.0.wrapping_add(units))).await?.is_ok() {
                p.mark(Mark::DoorwayEnds);
                p.hides("door");
                p.shows("units", units);
                let decides = if self.fault == Fault::FirstDecides { first } else { t };
                if g.distance(decides) < 0 {
                    return Ok(self.enabled(p, t, g, Held::of(units, false)));
                }
                return Ok(Drawn::Waits { first, too_long: None });
            }
        }
    }

    fn enabled(&self, p: Here<'_, Sim>, t: u64, g: Gate, held: Held) -> Drawn {
        p.hides("ticket");
        p.hides("door");
        p.mark(Mark::Rests(9));
        if g.line == 0 || self.fault == Fault::NoHelpAtEntry {
            return Drawn::Inside(held);
        }
        Drawn::Helps(Duty { upto: t, units: held.units, owes: false, line: true, odd: g.odd }, held)
    }

    /// One try.
    async fn draw_if_enabled(&self, p: &Process<Sim>) -> Result<Option<Drawn>, Infallible> {
        let p = p.on(self.part);
        p.keep(25, &());
        let drawn = p.at(25).read(&self.next).await?;
        let t = drawn.ticket();
        p.shows("ticket", t);
        p.keep(26, &drawn);
        let g = p.at(26).read(&self.gate).await?;
        if g.distance(t) >= 0 && self.fault != Fault::DrawsUnchecked {
            p.hides("ticket");
            return Ok(None);
        }
        p.keep(27, &(drawn, g));
        if p.at(27).compare_swap(&self.next, drawn, Next(drawn.0.wrapping_add(1))).await?.is_ok() {
            p.mark(Mark::DoorwayEnds);
            p.shows("units", 1u64);
            return Ok(Some(self.enabled(p, t, g, Held::of(1, false))));
        }
        p.hides("ticket");
        Ok(None)
    }

    async fn enter(
        &self,
        p: &Process<Sim>,
        mut drawn: Drawn,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Infallible> {
        loop {
            drawn = match drawn {
                Drawn::Inside(held) => return Ok(Some(held)),
                Drawn::Helps(duty, held) => {
                    self.help(p, duty, &held).await?;
                    return Ok(Some(held));
                }
                Drawn::Kept(door) => {
                    if !self.camp(p, door, may_give_up).await? {
                        return Ok(None);
                    }
                    self.draw(p, units).await?
                }
                Drawn::Waits { first, too_long } => {
                    match self.line_up(p.on(self.part), (first, units), too_long, attempt).await? {
                        Some(drawn) => drawn,
                        None => return self.wait(p.on(self.part), (first, units), attempt, may_give_up).await,
                    }
                }
            }
        }
    }

    async fn line_up(
        &self,
        p: Here<'_, Sim>,
        (first, units): (u64, u64),
        too_long: Option<Door>,
        attempt: &mut Attempt,
    ) -> Result<Option<Drawn>, Infallible> {
        let t = after(first, units - 1);
        if let Some(door) = too_long {
            p.keep(4, &(first, door));
            let _ = p.at(4).compare_swap(&self.door, door, turned(door)).await?;
            p.hides("door");
        }
        let announced = Gate { line: units, ..NOTHING };
        p.keep(5, &first);
        let g = p.at(5).fetch_add(&self.gate, announced).await?;
        p.shows("in line", true);
        let enabled = (-g.distance(first)).max(0).unsigned_abs().min(units);
        if g.line == 0 {
            p.shows("upto", g.open);
            p.keep(6, &(first, g));
            let front = p.at(6).read(&self.front).await?;
            let behind = front.behind(g.open);
            if behind > 0 {
                p.keep(7, &(first, g, front));
                let odd = if self.fault == Fault::KeepsGhosts { front.is_odd() } else { g.odd };
                let moved = front.moved_to(front.ticket.wrapping_add(behind.unsigned_abs()), odd);
                let _ = p.at(7).compare_swap(&self.front, front, moved).await?;
            }
            p.hides("upto");
        }
        if enabled == units {
            return Ok(Some(self.enabled(p, t, g, Held::of(units, true))));
        }
        *attempt = Attempt::InLine { first, units, enabled, far: false };
        Ok(None)
    }

    async fn wait(
        &self,
        p: Here<'_, Sim>,
        (first, units): (u64, u64),
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Infallible> {
        let t = after(first, units - 1);
        let is_over = |record: Record| record.fate_of(t) == Fate::Signalled;
        if let Attempt::InLine { enabled, .. } = *attempt {
            p.shows("waits", after(first, enabled));
        }
        p.keep(8, &*attempt);
        if units > 1 {
            let turn = || async {
                if is_over(p.at(8).read(self.record(t)).await?) {
                    return Ok(Some(()));
                }
                p.at(45).read(&self.places).await?;
                Ok(None)
            };
            if may_give_up {
                if p.spin_unless_given_up(turn).await?.is_none() {
                    return Ok(None);
                }
            } else {
                p.spin_until(turn).await?;
            }
        } else if may_give_up {
            if p.at(8).wait_unless_given_up(self.record(t), is_over).await?.is_none() {
                return Ok(None);
            }
        } else {
            p.at(8).wait_until(self.record(t), is_over).await?;
        }
        *attempt = Attempt::Outside;
        p.hides("waits");
        p.hides("ticket");
        p.mark(Mark::Rests(9));
        Ok(Some(Held::of(units, true)))
    }

    async fn camp(&self, p: &Process<Sim>, door: Door, may_give_up: bool) -> Result<bool, Infallible> {
        let p = p.on(self.part);
        if self.open_door(p, door).await? {
            return Ok(true);
        }
        p.shows("door", door);
        p.mark(Mark::Camps);
        p.keep(28, &door);
        let turned = |now| now != door;
        let camped = if may_give_up {
            p.at(28).wait_unless_given_up(&self.door, turned).await?
        } else {
            Some(p.at(28).wait_until(&self.door, turned).await?)
        };
        p.hides("door");
        Ok(camped.is_some())
    }

    async fn open_door(&self, p: Here<'_, Sim>, door: Door) -> Result<bool, Infallible> {
        p.shows("door", door);
        p.keep(22, &door);
        let next = p.at(22).read(&self.next).await?.ticket();
        p.shows("ticket", next);
        p.keep(23, &(door, next));
        let g = p.at(23).read(&self.gate).await?;
        p.hides("ticket");
        let is_short = g.distance(next) < self.limits.clear as i64 && self.fault != Fault::NeverOpens;
        if is_short {
            p.keep(24, &door);
            let _ = p.at(24).compare_swap(&self.door, door, turned(door)).await?;
        }
        p.hides("door");
        Ok(is_short)
    }

    async fn give_back(&self, p: Here<'_, Sim>, held: Held) -> Result<Option<Duty>, Infallible> {
        p.keep(9, &held);
        let line = if held.announced { held.units } else { 0 };
        let exited = Gate { line: line.wrapping_neg(), ..NOTHING }.opened(held.units);
        let g = p.at(9).fetch_add(&self.gate, exited).await?;
        p.hides("units");
        p.hides("in line");
        if self.fault == Fault::WaitsToLeave {
            p.keep(9, &"left");
            p.at(9).wait_until(&self.gate, |g| g.line == 0).await?;
            return Ok(None);
        }
        let line = g.line.wrapping_sub(line);
        if line == 0 && !held.announced || self.fault == Fault::NoHelpAtExit {
            return Ok(None);
        }
        let duty = Duty { upto: g.opened(held.units).open, units: held.units, owes: true, line: line != 0, odd: g.odd };
        if self.fault == Fault::SkipsUndrawn {
            p.keep(9, &("left", duty));
            let next = p.at(9).read(&self.next).await?.ticket();
            if g.distance(next) <= 0 {
                return Ok(None);
            }
        }
        Ok(Some(duty))
    }

    async fn help(&self, p: &Process<Sim>, duty: Duty, live: &dyn Debug) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.part(live);
        if duty.line {
            self.deal_with_tickets(here, duty).await?;
        }
        here.keep(29, &());
        let door = here.at(29).read(&self.door).await?;
        if !door.is_open() {
            self.open_door(here, door).await?;
        }
        here.part_done();
        Ok(())
    }

    async fn deal_with_tickets(&self, p: Here<'_, Sim>, duty: Duty) -> Result<(), Infallible> {
        let Duty { mut upto, units, mut owes, odd, .. } = duty;
        let mut seen = None;
        let mut looked = false;
        let mut looked_again = false;
        'look: loop {
            p.shows("upto", upto);
            p.keep(10, &(upto, owes, seen, (!looked).then_some((units, odd)), looked_again));
            let front = p.at(10).read(&self.front).await?;
            let behind = front.behind(upto);
            if looked {
                seen = seen.filter(|&seen| seen == front.ghosts);
                p.shows("seen", seen.unwrap_or(u64::MAX));
            } else {
                looked = true;
                seen = (behind >= units as i64).then_some(front.ghosts);
                p.shows("seen", seen.unwrap_or(u64::MAX));
                if behind > self.limits.places as i64 {
                    p.shows("front", front.ticket);
                    p.keep(11, &(upto, owes, seen, odd, front));
                    let far = behind as u64 - self.limits.places;
                    let moved = front.moved_to(front.ticket.wrapping_add(far), odd);
                    let _ = p.at(11).compare_swap(&self.front, front, moved).await?;
                    p.hides("front");
                    continue;
                }
            }
            let done = if self.fault == Fault::OneTooFar { -1 } else { 0 };
            if behind <= done {
                if !owes || seen.is_some() || looked_again {
                    break;
                }
                p.hides("upto");
                seen = Some(front.ghosts);
                p.shows("seen", front.ghosts);
                p.keep(12, &(owes, seen));
                let g = p.at(12).read(&self.gate).await?;
                if g.line == 0 {
                    break;
                }
                looked_again = self.fault == Fault::LooksAgainOnce;
                upto = g.open;
                continue;
            }
            p.shows("front", front.ticket);
            loop {
                p.keep(13, &(upto, owes, seen, front, looked_again));
                let record = p.at(13).read(self.record(front.ticket)).await?;
                match record.fate_of(front.ticket) {
                    Fate::Signalled => break,
                    Fate::Gone => {
                        let Some(duty) = self.deal_with_a_ghost(p, (upto, owes, seen), front, looked_again).await?
                        else {
                            continue 'look;
                        };
                        (upto, owes, seen) = duty;
                        p.keep(19, &(upto, owes, seen, front, looked_again));
                        let passed = Front { ticket: after(front.ticket, 1), ghosts: after_ghosts(front.ghosts, 1) };
                        let _ = p.at(19).compare_swap(&self.front, front, passed).await?;
                        p.hides("front");
                        continue 'look;
                    }
                    Fate::Waits | Fate::Shut => {
                        p.keep(14, &(upto, owes, seen, front, record, looked_again));
                        let signalled = Record::new(front.ticket, Fate::Signalled);
                        if self.fault == Fault::LastInFirst {
                            let last = after(p.at(14).read(&self.next).await?.ticket(), 1u64.wrapping_neg());
                            p.keep(14, &("last", upto, owes, seen, front, last));
                            p.at(14).write(self.record(last), Record::new(last, Fate::Signalled)).await?;
                            break;
                        }
                        if p.at(14).compare_swap(self.record(front.ticket), record, signalled).await?.is_ok() {
                            break;
                        }
                    }
                }
            }
            p.keep(15, &(upto, owes, seen, front, looked_again));
            let passed = Front { ticket: after(front.ticket, 1), ..front };
            let _ = p.at(15).compare_swap(&self.front, front, passed).await?;
            p.hides("front");
        }
        p.hides("upto");
        p.hides("seen");
        Ok(())
    }

    /// 16 to 18. `None` if it must look at the front again, and otherwise what is to be done now.
    async fn deal_with_a_ghost(
        &self,
        p: Here<'_, Sim>,
        (mut upto, mut owes, mut seen): (u64, bool, Option<u64>),
        front: Front,
        looked_again: bool,
    ) -> Result<Option<(u64, bool, Option<u64>)>, Infallible> {
        if self.fault == Fault::NeverExitsGhosts {
            return Ok(Some((upto, owes, seen)));
        }
        if self.fault == Fault::NoSecondLook {
            // What it does is right only as long as the front is there: others must be able to move it.
            p.hides("front");
        }
        p.keep(16, &(upto, owes, seen, front, looked_again));
        let g = p.at(16).read(&self.gate).await?;
        if self.fault != Fault::NoSecondLook {
            p.keep(17, &(upto, owes, seen, front, g, looked_again));
            if p.at(17).read(&self.front).await? != front {
                p.hides("front");
                return Ok(None);
            }
        }
        if g.odd == front.is_odd() {
            p.keep(18, &(upto, owes, seen, front, g, looked_again));
            let exited = Gate {
                odd: g.odd == (self.fault == Fault::UnmarkedExit),
                line: if self.fault == Fault::LeavesLineEarly { g.line } else { g.line.saturating_sub(1) },
                ..g.opened(1)
            };
            if p.at(18).compare_swap(&self.gate, g, exited).await?.is_err() {
                p.hides("front");
                return Ok(None);
            }
            let more = g.opened(1).open;
            if front.behind(more) > front.behind(upto) && self.fault != Fault::KeepsUpto {
                upto = more;
            }
            owes = true;
            seen = seen.map(|seen| after_ghosts(seen, 1));
            p.shows("upto", upto);
            p.shows("seen", seen.unwrap_or(u64::MAX));
        }
        Ok(Some((upto, owes, seen)))
    }

    async fn give_up(&self, p: Here<'_, Sim>, t: u64, live: &dyn Debug) -> Result<bool, Infallible> {
        loop {
            p.keep(20, &(t, live));
            let record = p.at(20).read(self.record(t)).await?;
            if record.fate_of(t) == Fate::Signalled {
                return Ok(true);
            }
            p.keep(21, &(t, record, live));
            if p.at(21).compare_swap(self.record(t), record, Record::new(t, Fate::Gone)).await?.is_ok() {
                if self.fault == Fault::LeavesLineEarly {
                    p.keep(21, &("gone", t, live));
                    p.at(21).fetch_add(&self.gate, Gate { line: 1u64.wrapping_neg(), ..NOTHING }).await?;
                }
                return Ok(false);
            }
        }
    }

    async fn try_acquire_units(
        &self,
        p: &Process<Sim>,
        units: u64,
        attempt: &mut Attempt,
        may_give_up: bool,
    ) -> Result<Option<Held>, Infallible> {
        let drawn = self.draw(p, units).await?;
        self.enter(p, drawn, units, attempt, may_give_up).await
    }

    async fn acquire_units(&self, p: &Process<Sim>, units: u64) -> Result<Held, Infallible> {
        let held = self.try_acquire_units(p, units, &mut Attempt::default(), false).await?;
        Ok(held.expect("nobody is asked to give up who may not"))
    }
}

impl KExclusion<Sim> for Turnstile {
    type Held = Held;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible>> {
        Ok(self.acquire_units(p, 1).await?)
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        if let Some(duty) = self.give_back(p.on(self.part), held).await? {
            self.help(p, duty, &()).await?;
        }
        Ok(())
    }
}

impl Abortable<Sim> for Turnstile {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<Sim>, attempt: &mut Attempt) -> Result<Option<Held>, Failure<Infallible>> {
        Ok(self.try_acquire_units(p, 1, attempt, true).await?)
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Held>, Infallible> {
        let Attempt::InLine { first, units, enabled, .. } = attempt else { return Ok(None) };
        let enabled = if self.fault == Fault::GivesUpEnabled { 0 } else { enabled };
        let here = p.on(self.part);
        let mut mine = enabled;
        for i in enabled..units {
            here.shows("waits", after(first, i));
            if self.give_up(here, after(first, i), &(i, mine)).await? {
                mine += 1;
            } else {
                here.shows("units", units - (i + 1 - mine));
            }
        }
        let held = Held::of(mine, true);
        here.hides("waits");
        here.hides("ticket");
        if mine == units {
            return Ok(Some(held));
        }
        if mine > 0 {
            if self.fault != Fault::ExitsUndealt {
                let upto = after(first, mine);
                here.shows("upto", upto);
                here.keep(40, &(upto, mine));
                let g = here.at(40).read(&self.gate).await?;
                let duty = Duty { upto, units: mine, owes: false, line: true, odd: g.odd };
                self.help(p, duty, &Some(held)).await?;
            }
            self.release(p, held).await?;
        } else {
            here.hides("units");
            here.hides("in line");
        }
        Ok(None)
    }
}

/// Process 0 asks for two units at once.
struct Many {
    inner: Turnstile,
    most: u64,
}

impl Many {
    fn units(&self, p: &Process<Sim>) -> u64 {
        if p.pid().index() == 0 { self.most } else { 1 }
    }
}

impl KExclusion<Sim> for Many {
    type Held = Held;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible>> {
        Ok(self.inner.acquire_units(p, self.units(p)).await?)
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        self.inner.release(p, held).await
    }
}

impl Abortable<Sim> for Many {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<Sim>, attempt: &mut Attempt) -> Result<Option<Held>, Failure<Infallible>> {
        Ok(self.inner.try_acquire_units(p, self.units(p), attempt, true).await?)
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Held>, Infallible> {
        self.inner.leave(p, attempt).await
    }
}

impl AtOnce<Sim> for Turnstile {
    async fn acquire_at_once(&self, p: &Process<Sim>) -> Result<Option<Held>, Failure<Infallible>> {
        match self.draw_if_enabled(p).await? {
            Some(drawn) => Ok(self.enter(p, drawn, 1, &mut Attempt::default(), false).await?),
            None => Ok(None),
        }
    }
}

/// Newcomers try twice to take what is free.
struct Unfair {
    inner: Turnstile,
}

impl Unfair {
    async fn barge(&self, p: &Process<Sim>) -> Result<Option<Held>, Infallible> {
        for tried in 0..2u32 {
            let here = p.on(self.inner.part);
            here.part(&tried);
            let drawn = self.inner.draw_if_enabled(p).await?;
            here.part_done();
            if let Some(drawn) = drawn {
                return self.inner.enter(p, drawn, 1, &mut Attempt::default(), false).await;
            }
        }
        Ok(None)
    }
}

impl KExclusion<Sim> for Unfair {
    type Held = Held;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible>> {
        match self.barge(p).await? {
            Some(held) => Ok(held),
            None => self.inner.acquire(p).await,
        }
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        self.inner.release(p, held).await
    }
}

impl Abortable<Sim> for Unfair {
    type Attempt = Attempt;

    async fn try_acquire(&self, p: &Process<Sim>, attempt: &mut Attempt) -> Result<Option<Held>, Failure<Infallible>> {
        match self.barge(p).await? {
            Some(held) => Ok(Some(held)),
            None => self.inner.try_acquire(p, attempt).await,
        }
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Held>, Infallible> {
        self.inner.leave(p, attempt).await
    }
}
