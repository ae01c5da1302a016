//! Helping: a process that exits while there is a line, or enters past one, helps the tickets in
//! it.

use super::words::after_ghosts;
use super::{Duty, Fate, Held, Line, Record, Turnstile};
use crate::memory::{CompareSwap, FetchAdd, Here, Process};

impl<M: FetchAdd + CompareSwap, L: Line<M>> Turnstile<M, L> {
    /// Deals with all tickets up to where the duty says: 10 to 19. Any process can do any of it,
    /// and several can at once. `live` is what a process holds that helps on its way in.
    ///
    /// # Errors
    /// If an access failed.
    pub async fn help(&self, p: &Process<M>, duty: Duty, live: Option<Held>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        here.part(&live);
        self.help_before(here, duty).await?;
        self.see_to_the_door(p).await?;
        here.part_done();
        Ok(())
    }

    /// The same without a look at the door.
    pub(in crate::k_exclusion) async fn help_before(&self, here: Here<'_, M>, duty: Duty) -> Result<(), M::Error> {
        if duty.line {
            self.deal_with_tickets(here, duty).await?;
        } else if duty.far {
            // The line is empty, so no ticket before `open` waits.
            let front = here.at(10).read(&self.front).await?;
            let behind = front.behind(duty.upto).max(0).unsigned_abs();
            let moved = front.moved_to(front.ticket.wrapping_add(behind), duty.odd);
            let _ = here.at(11).compare_swap(&self.front, front, moved).await?;
        }
        Ok(())
    }

    /// Opens the door if the line has become short: 29, and 22 to 24. A process that was in line
    /// may have closed it.
    pub(in crate::k_exclusion) async fn see_to_the_door(&self, p: &Process<M>) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let door = here.at(29).keeping(&()).read(&self.door).await?;
        if !door.is_open() && !door.is_shut() {
            self.open_door(p, door).await?;
        }
        Ok(())
    }

    async fn deal_with_tickets(&self, p: Here<'_, M>, duty: Duty) -> Result<(), M::Error> {
        let Duty { mut upto, units, mut owes, odd, sweeps: sweep, .. } = duty;
        // How many ghosts had been passed when all tickets before `upto` were still to be dealt
        // with, as long as no other process has passed one since.
        let mut seen = None;
        let mut looked = false;
        'look: loop {
            p.shows("upto", upto);
            let front = p
                .at(10)
                .keeping(&(upto, owes, seen, sweep, (!looked).then_some((units, odd))))
                .read(&self.front)
                .await?;
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
                    let _ = p
                        .at(11)
                        .compare_swap(&self.front, front, front.moved_to(front.ticket.wrapping_add(far), odd))
                        .await?;
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
                let g = p.at(12).keeping(&(owes, seen, sweep)).read(&self.gate).await?;
                if g.line == 0 {
                    break;
                }
                upto = g.open;
                continue;
            }
            p.shows("front", front.ticket);
            loop {
                let found = self.line.find(p, 13, front.ticket, (upto, owes, seen, front, (sweep, sweeps))).await?;
                let Some((ring, record)) = found.filter(|(_, record)| !sweeps || record.fate == Fate::Gone) else {
                    if sweeps {
                        break 'look; // the ticket may be announced at any moment, and wait
                    }
                    break; // its process is not in line: it will see that it is enabled
                };
                match record.fate_of(front.ticket) {
                    Fate::Signalled | Fate::Free => break,
                    Fate::Gone => {
                        let g = p.at(16).keeping(&(upto, owes, seen, sweep, front)).read(&self.gate).await?;
                        if p.at(17).keeping(&(upto, owes, seen, sweep, front, g)).read(&self.front).await? != front {
                            p.hides("front");
                            continue 'look; // otherwise `g` was current while this ghost was at the front
                        }
                        if g.odd == front.is_odd() {
                            if p.at(18)
                                .keeping(&(upto, owes, seen, sweep, front, g))
                                .compare_swap(&self.gate, g, g.ghost_exited())
                                .await?
                                .is_err()
                            {
                                p.hides("front");
                                continue 'look;
                            }
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
                        let _ = p
                            .at(19)
                            .keeping(&(upto, owes, seen, sweep, front))
                            .compare_swap(&self.front, front, front.passed_a_ghost())
                            .await?;
                        p.hides("front");
                        continue 'look;
                    }
                    Fate::Waits | Fate::Shut | Fate::Listens | Fate::Called => {
                        p.keep(14, &(upto, owes, seen, sweep, front, ring, record));
                        let signalled = Record::new(front.ticket, Fate::Signalled);
                        if p.at(14).compare_swap(self.line.record(ring, front.ticket), record, signalled).await?.is_ok()
                        {
                            break;
                        }
                    }
                }
            }
            let _ = p
                .at(15)
                .keeping(&(upto, owes, seen, sweep, front))
                .compare_swap(&self.front, front, front.passed())
                .await?;
            p.hides("front");
        }
        p.hides("front");
        p.hides("upto");
        p.hides("seen");
        Ok(())
    }

    /// Exits ghosts at the front after a process has given up: 58, and 10 to 19.
    ///
    /// The process that gave up exits, at once, all ghosts that have no waiter before them.
    /// Enabling a ghost at the front enables no other ticket, so nothing else is owed for it.
    pub(super) async fn sweep(&self, p: &Process<M>) -> Result<(), M::Error> {
        if !L::SWEEPS {
            return Ok(());
        }
        let g = p.on(self.part).at(58).keeping(&()).read(&self.gate).await?;
        if g.line == 0 {
            return Ok(());
        }
        let duty = Duty { upto: g.open, units: 0, owes: false, line: true, far: false, odd: g.odd, sweeps: true };
        self.help(p, duty, None).await
    }
}
