//! Rooms of Blelloch, Cheng and Gibbons with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::memory::{Here, Mark, Process, Site, decl};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Grant, Width};
use doorway_core::rooms::{Refusal, RoomSynchronization, Tickets};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    LooksOnce,
    EntersNextDoor,
    JoinsUnasked,
    RereadsGrant,
    BeginsAtZero,
    LeavesItselfOut,
    LetsInOne,
    WaitBeforeGrant,
    CountsGhostsTwice,
    DoneByGhosts,
    OnlyTurnsAway,
    LeavesGhosts,
    WaitsToLeave,
    DrawsLate,
    OneRoom,
}

pub(super) struct Rooms {
    part: Part,
    rooms: usize,
    width: Width,
    wait: Vec<SimCell<Count>>,
    grant: Vec<SimCell<Grant>>,
    done: Vec<SimCell<Count>>,
    active: SimVar<Active>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    room: usize,
    number: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    room: usize,
    grant: u64,
}

enum Waited {
    LetIn(u64),
    Opens,
}

type Entered<T> = Result<T, Failure<Infallible, Refusal>>;

impl Rooms {
    pub(super) fn new(site: &Site<'_, Sim>, m: usize, width: Width, fault: Fault) -> Self {
        let count = |_| decl(Count(0)).wraps_at(width.bits);
        Self {
            part: site.here(),
            rooms: m,
            width,
            wait: site.row("wait", m, count),
            grant: site.row("grant", m, |_| decl(Grant { ticket: 0, ghosts: 0 })),
            done: site.row("done", m, count),
            active: site.var("activeRoom", Active::NONE),
            fault,
        }
    }

    async fn take(&self, p: Here<'_, Sim>, room: usize) -> Result<u64, Infallible> {
        Ok(self.width.add(p.at(2).fetch_add(&self.wait[room], Count(1)).await?.0, 1))
    }

    async fn look(&self, p: Here<'_, Sim>, ticket: &Ticket) -> Result<Option<Waited>, Infallible> {
        let granted = p.at(3).read(&self.grant[ticket.room]).await?.ticket;
        if self.width.after(ticket.number, granted) <= 0 {
            return Ok(Some(Waited::LetIn(granted)));
        }
        if self.fault == Fault::JoinsUnasked {
            p.keep(4, &(ticket, granted));
        } else {
            p.keep(4, &ticket);
        }
        let active = p.at(4).read(&self.active).await?;
        if self.fault == Fault::JoinsUnasked && active == Active::room(ticket.room) {
            return Ok(Some(Waited::LetIn(granted)));
        }
        if active != Active::NONE {
            return Ok(None);
        }
        p.keep(5, &ticket);
        let opens = p.at(5).compare_swap(&self.active, Active::NONE, Active::room(ticket.room)).await?.is_ok();
        if opens {
            p.shows("opens", ticket.room as u64);
        }
        Ok(opens.then_some(Waited::Opens))
    }

    /// Looks at `activeRoom` once, and from then on at `grant` alone.
    async fn looks_once(&self, p: Here<'_, Sim>, ticket: &Ticket) -> Result<Waited, Infallible> {
        if let Some(waited) = self.look(p, ticket).await? {
            return Ok(waited);
        }
        p.keep(3, &("looked", ticket));
        let let_in = |grant: Grant| self.width.after(ticket.number, grant.ticket) <= 0;
        Ok(Waited::LetIn(p.at(3).wait_until(&self.grant[ticket.room], let_in).await?.ticket))
    }

    async fn goes_in(&self, p: Here<'_, Sim>, room: usize, waited: Waited) -> Result<Inside, Infallible> {
        let grant = match waited {
            Waited::LetIn(grant) => grant,
            Waited::Opens => self.opens(p, room).await?,
        };
        Ok(self.is_inside(p, room, grant))
    }

    fn is_inside(&self, p: Here<'_, Sim>, room: usize, grant: u64) -> Inside {
        p.hides("opens");
        p.mark(Mark::Rests(14));
        let door = usize::from(self.fault == Fault::EntersNextDoor);
        p.shows("inside", ((room + door) % self.rooms) as u64);
        Inside { room, grant }
    }

    async fn opens(&self, p: Here<'_, Sim>, room: usize) -> Result<u64, Infallible> {
        Ok(self.open(p, room, None).await?.unwrap_or_default())
    }

    async fn open(
        &self,
        p: Here<'_, Sim>,
        room: usize,
        scanned: Option<(usize, usize)>,
    ) -> Result<Option<u64>, Infallible> {
        loop {
            p.keep(30, &(room, scanned));
            let (old, last) = if self.fault == Fault::WaitBeforeGrant {
                let last = p.at(31).read(&self.wait[room]).await?.0;
                p.keep(30, &("late", room, scanned, last));
                (p.at(30).read(&self.grant[room]).await?, last)
            } else {
                let old = p.at(30).read(&self.grant[room]).await?;
                p.keep(31, &(room, scanned, old));
                (old, p.at(31).read(&self.wait[room]).await?.0)
            };
            let nobody = self.is_nobody(last, old);
            if nobody && old.ghosts == 0 {
                return Ok(None);
            }
            if old.ghosts > 0 && self.fault != Fault::DoneByGhosts {
                p.keep(32, &(room, scanned, old, last));
                p.at(32).write(&self.done[room], Count(self.width.add(old.ticket, old.ghosts))).await?;
            }
            let grant = match self.fault {
                Fault::LetsInOne => self.width.add(old.ticket, 1),
                _ => last,
            };
            let ghosts = if self.fault == Fault::CountsGhostsTwice { old.ghosts } else { 0 };
            p.keep(33, &(room, scanned, old, last));
            if p.at(33).compare_swap(&self.grant[room], old, Grant { ticket: grant, ghosts }).await?.is_ok() {
                return Ok((!nobody).then_some(grant));
            }
        }
    }

    fn is_nobody(&self, last: u64, grant: Grant) -> bool {
        self.width.after(last, self.width.add(grant.ticket, grant.ghosts)) <= 0
    }

    async fn leave(
        &self,
        p: Here<'_, Sim>,
        inside: Inside,
        next: Option<&Ticket>,
    ) -> Result<Option<usize>, Infallible> {
        let room = inside.room;
        p.keep(14, &(&inside, room, next));
        let done = self.width.add(p.at(14).fetch_add(&self.done[room], Count(1)).await?.0, 1);
        p.hides("room");
        p.hides("ticket");
        p.hides("inside");
        p.hides("from");
        let grant = if self.fault == Fault::RereadsGrant {
            p.keep(15, &(done, room, next));
            p.at(15).read(&self.grant[room]).await?.ticket
        } else {
            inside.grant
        };
        if self.fault == Fault::WaitsToLeave && done != grant {
            p.keep(14, &("waits", &inside, next));
            let over = |now: Active| now != Active::room(room);
            p.at(14).wait_until(&self.active, over).await?;
        }
        Ok((done == grant).then_some(room))
    }

    async fn advance(&self, process: &Process<Sim>, room: usize, next: Option<&Ticket>) -> Result<(), Infallible> {
        let p = process.on(self.part);
        p.mark(Mark::Rests(15));
        let last = self.rooms - usize::from(self.fault == Fault::LeavesItselfOut);
        for k in 1..=last {
            let r = match self.fault {
                Fault::BeginsAtZero => k - 1,
                _ => (room + k) % self.rooms,
            };
            p.part(&next);
            let opened = self.open_if_awaited(p, r, (room, k)).await?;
            p.part_done();
            if opened {
                return Ok(());
            }
        }
        p.keep(24, &next);
        p.at(24).write(&self.active, Active::NONE).await
    }

    async fn open_if_awaited(&self, p: Here<'_, Sim>, r: usize, scanned: (usize, usize)) -> Result<bool, Infallible> {
        p.keep(18, &scanned);
        let grant = p.at(18).read(&self.grant[r]).await?;
        p.keep(18, &(scanned, grant));
        let last = p.at(18).read(&self.wait[r]).await?.0;
        if self.is_nobody(last, grant) && (grant.ghosts == 0 || self.fault == Fault::LeavesGhosts) {
            return Ok(false);
        }
        p.keep(19, &scanned);
        p.at(19).write(&self.active, Active::room(r)).await?;
        p.shows("opens", r as u64);
        let opened = self.open(p, r, Some(scanned)).await?.is_some();
        p.hides("opens");
        Ok(opened)
    }

    async fn opens_itself(&self, p: Here<'_, Sim>, room: usize) -> Result<Option<(Ticket, u64)>, Infallible> {
        p.keep(5, &room);
        if p.at(5).compare_swap(&self.active, Active::NONE, Active::room(room)).await?.is_err() {
            return Ok(None);
        }
        p.shows("opens", room as u64);
        p.keep(2, &("opens", room));
        p.part(&"opens");
        let number = self.take(p, room).await?;
        p.part_done();
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", number);
        p.part(&number);
        let grant = self.opens(p, room).await?;
        p.part_done();
        p.hides("opens");
        Ok(Some((Ticket { room, number }, grant)))
    }

    async fn is_crowded(&self, p: Here<'_, Sim>, room: usize) -> Result<bool, Infallible> {
        Ok(p.at(1).read(&self.grant[room]).await?.ghosts >= self.width.ghosts)
    }
}

impl RoomSynchronization<Sim> for Rooms {
    type Inside = Inside;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.rooms
    }

    async fn enter(&self, p: &Process<Sim>, room: usize) -> Entered<Inside> {
        let room = if self.fault == Fault::OneRoom { 0 } else { room };
        let ticket = self.draw(p, room).await?;
        Ok(self.wait(p, ticket).await?)
    }

    async fn exit(&self, p: &Process<Sim>, inside: Inside) -> Result<bool, Infallible> {
        let Some(room) = self.leave(p.on(self.part), inside, None).await? else { return Ok(false) };
        self.advance(p, room, None).await?;
        Ok(true)
    }
}

impl Tickets<Sim> for Rooms {
    type Ticket = Ticket;

    async fn draw(&self, p: &Process<Sim>, room: usize) -> Entered<Ticket> {
        let p = p.on(self.part);
        p.keep(1, &room);
        if self.is_crowded(p, room).await? {
            if self.fault == Fault::OnlyTurnsAway {
                return Err(Failure::Refused(Refusal::TooManyGaveUp { room }));
            }
            let opened = self.opens_itself(p, room).await?;
            return opened.map(|(ticket, _)| ticket).ok_or(Failure::Refused(Refusal::TooManyGaveUp { room }));
        }
        p.keep(2, &room);
        let number = self.take(p, room).await?;
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", number);
        Ok(Ticket { room, number })
    }

    async fn wait(&self, p: &Process<Sim>, ticket: Ticket) -> Result<Inside, Infallible> {
        let here = p.on(self.part);
        here.keep(3, &ticket);
        let waited = match self.fault {
            Fault::LooksOnce => self.looks_once(here, &ticket).await?,
            _ => here.spin_until(|| self.look(here, &ticket)).await?,
        };
        self.goes_in(here, ticket.room, waited).await
    }

    async fn wait_unless_given_up(&self, p: &Process<Sim>, ticket: &Ticket) -> Result<Option<Inside>, Infallible> {
        let here = p.on(self.part);
        here.keep(3, ticket);
        match here.spin_unless_given_up(|| self.look(here, ticket)).await? {
            Some(waited) => Ok(Some(self.goes_in(here, ticket.room, waited).await?)),
            None => Ok(None),
        }
    }

    async fn withdraw(&self, p: &Process<Sim>, Ticket { room, number }: Ticket) -> Result<Option<Inside>, Infallible> {
        let p = p.on(self.part);
        p.keep(40, &(room, number));
        if self.fault == Fault::DoneByGhosts {
            // Counts itself done at once, as if it had been let in.
            p.at(40).fetch_add(&self.done[room], Count(1)).await?;
            p.hides("room");
            p.hides("ticket");
            return Ok(None);
        }
        let old = p.at(40).fetch_add(&self.grant[room], Grant::GIVEN_UP).await?;
        if self.width.after(number, old.ticket) > 0 {
            p.hides("room");
            p.hides("ticket");
            return Ok(None);
        }
        p.shows("misfiled", room as u64);
        p.keep(41, &(room, old.ticket));
        p.at(41).fetch_add(&self.grant[room], Grant::UNDONE).await?;
        p.hides("misfiled");
        p.mark(Mark::Rests(14));
        Ok(Some(Inside { room, grant: old.ticket }))
    }

    async fn change_ticket(&self, p: &Process<Sim>, inside: Inside, to: usize) -> Entered<Ticket> {
        let here = p.on(self.part);
        let from = inside.room;
        if self.fault == Fault::DrawsLate {
            if let Some(room) = self.leave(here, inside, Some(&Ticket { room: to, number: 0 })).await? {
                self.advance(p, room, Some(&Ticket { room: to, number: 0 })).await?;
            }
            here.keep(2, &("late", from, to));
            let number = self.take(here, to).await?;
            here.shows("room", to as u64);
            here.shows("ticket", number);
            here.shows("from", from as u64);
            return Ok(Ticket { room: to, number });
        }
        here.keep(1, &(inside, to));
        if self.is_crowded(here, to).await? {
            self.exit(p, inside).await?;
            return Err(Failure::Refused(Refusal::TooManyGaveUp { room: to }));
        }
        here.keep(2, &(inside, to));
        here.part(&inside);
        let number = self.take(here, to).await?;
        here.part_done();
        here.shows("next room", to as u64);
        here.shows("next ticket", number);
        let ticket = Ticket { room: to, number };
        let last = self.leave(here, inside, Some(&ticket)).await?;
        here.shows("room", ticket.room as u64);
        here.shows("ticket", ticket.number);
        here.shows("from", from as u64);
        here.hides("next room");
        here.hides("next ticket");
        if let Some(room) = last {
            self.advance(p, room, Some(&ticket)).await?;
        }
        Ok(ticket)
    }

    async fn try_enter(&self, p: &Process<Sim>, room: usize) -> Entered<Option<Inside>> {
        let p = p.on(self.part);
        let Some((_, grant)) = self.opens_itself(p, room).await? else { return Ok(None) };
        Ok(Some(self.is_inside(p, room, grant)))
    }
}
