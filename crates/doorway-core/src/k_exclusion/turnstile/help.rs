//! Helping: a process that exits while there is a line, or enters past one, helps the tickets in
//! it.

use super::words::after_ghosts;
use super::{Duty, Fate, Found, Gate, Held, Line, Record, Turnstile};
use crate::memory::{CompareSwap, FetchAdd, Here, Process, in_both_forms};

impl<M: FetchAdd + CompareSwap, L: Line<M>> Turnstile<M, L> {
    in_both_forms! {
    /// Deals with all tickets up to where the duty says: 10 to 19. Any process can do any of it,
    /// and several can at once. `live` is what a process holds that helps on its way in.
    #[inline(always)]
    pub fn help, help_now(&self, p: &Process<M>, duty: Duty, live: Option<Held>) -> () {
        let here = p.on(self.part);
        here.part(&live);
        either!(self.help_before(here, duty), self.help_before_now(here, duty));
        either!(self.see_to_the_door(p), self.see_to_the_door_now(p));
        here.part_done();
    }

    /// The same without a look at the door.
    #[inline(always)]
    pub(in crate::k_exclusion) fn help_before, help_before_now(&self, here: Here<'_, M>, duty: Duty) -> () {
        if duty.line {
            either!(self.deal_with_tickets(here, duty), self.deal_with_tickets_now(here, duty));
        } else if duty.far {
            // The line is empty, so no ticket before `open` waits.
            let front = access!(here.at(10).read(&self.front));
            let behind = front.behind(duty.upto).max(0).unsigned_abs();
            let moved = front.moved_to(front.ticket.wrapping_add(behind), duty.odd);
            let _ = access!(here.at(11).compare_swap(&self.front, front, moved));
        }
    }

    /// Opens the door if the line has become short: 29, and 22 to 24. A process that was in line
    /// may have closed it.
    #[inline(always)]
    pub(in crate::k_exclusion) fn see_to_the_door, see_to_the_door_now(&self, p: &Process<M>) -> () {
        let here = p.on(self.part);
        let door = access!(here.at(29).keeping(&()).read(&self.door));
        if !door.is_open() && !door.is_shut() {
            either!(self.open_door(p, door), self.open_door_now(p, door));
        }
    }

    /// 10 to 19.
    #[inline(always)]
    fn deal_with_tickets, deal_with_tickets_now(&self, p: Here<'_, M>, duty: Duty) -> () {
        let Duty { mut upto, units, mut owes, odd, sweeps: sweep, .. } = duty;
        // How many ghosts had been passed when all tickets before `upto` were still to be dealt
        // with, as long as no other process has passed one since.
        let mut seen = None;
        let mut looked = false;
        'look: loop {
            p.shows("upto", upto);
            let front = access!(p
                .at(10)
                .keeping(&(upto, owes, seen, sweep, (!looked).then_some((units, odd))))
                .read(&self.front));
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
                    p.keep(11, &(upto, owes, seen, sweep, odd, front));
                    let far = behind as u64 - self.limits.places;
                    let _ = access!(p
                        .at(11)
                        .compare_swap(&self.front, front, front.moved_to(front.ticket.wrapping_add(far), odd)));
                    p.hides("front");
                    continue;
                }
            }
            // Whether all tickets that this helper must deal with are dealt with, and it only looks
            // for ghosts.
            let sweeps = sweep && behind <= 0 && (!owes || seen.is_some());
            if behind <= 0 && !sweeps {
                if !owes || seen.is_some() {
                    break;
                }
                // Others passed ghosts meanwhile, and may have died with what they owed.
                p.hides("upto");
                seen = Some(front.ghosts);
                p.shows("seen", front.ghosts);
                let g = access!(p.at(12).keeping(&(owes, seen, sweep)).read(&self.gate));
                if g.line == 0 {
                    break;
                }
                upto = g.open;
                continue;
            }
            p.shows("front", front.ticket);
            loop {
                let live = (upto, owes, seen, front, (sweep, sweeps));
                let found =
                    either!(L::find(self, p, 13, front.ticket, live), L::find_now(self, p, 13, front.ticket, live));
                let Some(Found { ring, cell, record, fate, counted }) = found else {
                    if sweeps {
                        break 'look; // the ticket may be announced at any moment, and wait
                    }
                    break; // its process is not in line: it will see that it is enabled
                };
                if sweeps && fate != Fate::Gone {
                    either!(L::lets_go(self, p, counted, &()), L::lets_go_now(self, p, counted));
                    break 'look; // it waits, or its process is about to leave
                }
                match fate {
                    Fate::Signalled | Fate::Free => {
                        either!(L::lets_go(self, p, counted, &live), L::lets_go_now(self, p, counted));
                        break;
                    }
                    Fate::Gone => {
                        let g = access!(p.at(16).keeping(&(upto, owes, seen, sweep, front, counted)).read(&self.gate));
                        if access!(p.at(17).keeping(&(upto, owes, seen, sweep, front, counted, g)).read(&self.front)) != front {
                            p.hides("front");
                            either!(L::lets_go(self, p, counted, &(upto, owes, seen, sweep)), L::lets_go_now(self, p, counted));
                            continue 'look; // otherwise `g` was current while this ghost was at the front
                        }
                        let mut emptied = false;
                        if g.odd == front.is_odd() {
                            if access!(p.at(18)
                                .keeping(&(upto, owes, seen, sweep, front, counted, g))
                                .compare_swap(&self.gate, g, g.ghost_exited()))
                            .is_err()
                            {
                                p.hides("front");
                                either!(L::lets_go(self, p, counted, &(upto, owes, seen, sweep)), L::lets_go_now(self, p, counted));
                                continue 'look;
                            }
                            emptied = self.line.goes_back() && g.line == 1;
                            // Its exit was mine, and so is what it enabled.
                            let more = g.opened(1).open;
                            if front.behind(more) > front.behind(upto) {
                                upto = more;
                            }
                            owes = true;
                            seen = seen.map(|seen| after_ghosts(seen, 1));
                            p.shows("upto", upto);
                            p.shows("seen", seen.unwrap_or(u64::MAX));
                        }
                        let _ = access!(p
                            .at(19)
                            .keeping(&(upto, owes, seen, sweep, front, counted, emptied))
                            .compare_swap(&self.front, front, front.passed_a_ghost()));
                        p.hides("front");
                        either!(L::lets_go(self, p, counted, &(upto, owes, seen, sweep, emptied)), L::lets_go_now(self, p, counted));
                        if emptied {
                            either!(L::gives_back(self, p, &(upto, owes, seen, sweep)), L::gives_back_now(self, p));
                        }
                        continue 'look;
                    }
                    Fate::Waits | Fate::Shut | Fate::Listens | Fate::Called | Fate::Nudged | Fate::Moving => {
                        let waits = fate != Fate::Moving || {
                            let (found, live) = (Found { ring, cell, record, fate, counted }, (live, counted));
                            either!(L::stops_moving(self, p, found, live), L::stops_moving_now(self, p, found, live))
                        };
                        let is_told = waits && {
                            p.keep(14, &(upto, owes, seen, sweep, front, ring, record));
                            let signalled = Record::new(front.ticket, Fate::Signalled);
                            access!(p.at(14).compare_swap(cell, record, signalled)).is_ok()
                        };
                        either!(L::lets_go(self, p, counted, &(live, is_told)), L::lets_go_now(self, p, counted));
                        if is_told {
                            break;
                        }
                    }
                }
            }
            let _ = access!(p
                .at(15)
                .keeping(&(upto, owes, seen, sweep, front))
                .compare_swap(&self.front, front, front.passed()));
            p.hides("front");
        }
        p.hides("front");
        p.hides("upto");
        p.hides("seen");
    }

    /// Exits ghosts at the front after a process has given up: 58, and 10 to 19.
    ///
    /// The process that gave up exits, at once, all ghosts that have no waiter before them.
    /// Enabling a ghost at the front enables no other ticket, so nothing else is owed for it.
    /// `asked` is the ticket of a process that was asked to move.
    #[inline(always)]
    pub(super) fn sweep, sweep_now(&self, p: &Process<M>, asked: Option<u64>) -> () {
        if L::SWEEPS {
            let here = p.on(self.part);
            here.part(&asked);
            let swept = either!(self.sweep_front(p), self.sweep_front_now(p));
            here.part_done();
            if let Some(g) = swept {
                either!(L::has_left(self, here, g.line, asked), L::has_left_now(self, here, g.line, asked));
            }
        }
    }

    /// The same, and nothing else. Returns the gate as it was, if there was a line.
    #[inline(always)]
    pub(super) fn sweep_front, sweep_front_now(&self, p: &Process<M>) -> Option<Gate> {'text: {
        let g = access!(p.on(self.part).at(58).keeping(&()).read(&self.gate));
        if g.line == 0 {
            break 'text None;
        }
        let duty = Duty { upto: g.open, units: 0, owes: false, line: true, far: false, odd: g.odd, sweeps: true };
        // What matters besides is the gate: `help` has a part of its own.
        let here = p.on(self.part);
        here.part(&g.line);
        either!(self.help(p, duty, None), self.help_now(p, duty, None));
        here.part_done();
        Some(g)
    }}
    }
}
