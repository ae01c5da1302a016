//! The shipped rooms, entered and left differently.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::memory::{Here, Mark, Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Grant, Inside, Kept, RoomTicket, Rooms, Width};
use doorway_core::rooms::{Refusal, RoomSynchronization, Tickets};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// 11 says that it is in the next room.
    EntersNextDoor,
    /// 4 enters if its room is active.
    JoinsUnasked,
    /// 15 reads `grant` again.
    RereadsGrant,
    /// 27 waits until the turn is over.
    WaitsToLeave,
    /// 2 after 14.
    DrawsLate,
    /// Every user goes to room 0.
    OneRoom,
}

pub(super) struct Otherwise<R> {
    part: Part,
    rooms: R,
    width: Width,
    wait: Vec<SimCell<Count>>,
    grant: Vec<SimCell<Grant>>,
    done: Vec<SimCell<Count>>,
    active: SimVar<Active>,
    fault: Fault,
}

type Entered<T> = Result<T, Failure<Infallible, Refusal>>;

impl<R: RoomSynchronization<Sim>> Otherwise<R> {
    pub(super) fn new(site: &Site<'_, Sim>, rooms: R, width: Width, fault: Fault) -> Self {
        let (sim, part) = (site.memory(), site.here());
        Self {
            part,
            rooms,
            width,
            wait: sim.declared_row(part, "wait"),
            grant: sim.declared_row(part, "grant"),
            done: sim.declared_row(part, "done"),
            active: sim.declared(part, "activeRoom").expect("rooms have one"),
            fault,
        }
    }

    fn is_inside(&self, p: &Process<Sim>, room: usize) {
        let door = usize::from(self.fault == Fault::EntersNextDoor);
        p.on(self.part).shows("inside", ((room + door) % self.rooms.rooms()) as u64);
    }

    /// The room it goes to when it wants this one.
    fn room(&self, room: usize) -> usize {
        if self.fault == Fault::OneRoom { 0 } else { room }
    }

    async fn left(&self, p: &Process<Sim>, room: usize, last: bool) -> Result<bool, Infallible> {
        if self.fault == Fault::WaitsToLeave && !last {
            let over = |now: Active| now != Active::room(room);
            p.on(self.part).at(14).keeping(&("waits", room)).wait_until(&self.active, over).await?;
        }
        Ok(last)
    }
}

/// Rooms with more operations than entering.
pub(super) trait Known: RoomSynchronization<Sim, Refusal = Refusal> {
    fn room_of(inside: &Self::Inside) -> usize;

    /// Exits with a text of this file, if there is one for the fault.
    fn exit_by(
        of: &Otherwise<Self>,
        p: &Process<Sim>,
        inside: Self::Inside,
    ) -> impl Future<Output = Result<bool, Infallible>>
    where
        Self: Sized,
    {
        of.rooms.exit(p, inside)
    }

    fn enter_by(of: &Otherwise<Self>, p: &Process<Sim>, room: usize) -> impl Future<Output = Entered<Self::Inside>>
    where
        Self: Sized,
    {
        of.rooms.enter(p, room)
    }
}

impl Known for doorway_core::rooms::blelloch_cheng_gibbons_01::LateJoin<Sim> {
    fn room_of(inside: &Self::Inside) -> usize {
        inside.room()
    }
}

impl Known for Rooms<Sim> {
    fn room_of(inside: &Inside) -> usize {
        inside.room()
    }

    async fn exit_by(of: &Otherwise<Self>, p: &Process<Sim>, inside: Inside) -> Result<bool, Infallible> {
        match of.fault {
            Fault::None | Fault::RereadsGrant => of.exit_itself(p, inside).await,
            _ => of.rooms.exit(p, inside).await,
        }
    }

    async fn enter_by(of: &Otherwise<Self>, p: &Process<Sim>, room: usize) -> Entered<Inside> {
        let ticket = of.rooms.draw(p, room).await?;
        Ok(of.wait(p, ticket).await?)
    }
}

impl Otherwise<Rooms<Sim>> {
    /// 13 to 27, almost as shipped.
    async fn exit_itself(&self, process: &Process<Sim>, inside: Inside) -> Result<bool, Infallible> {
        let p = process.on(self.part);
        let Kept { room, mut grant } = (&inside).into();
        p.keep(14, &(&inside, room, None::<RoomTicket>));
        let done = self.width.add(p.at(14).fetch_add(&self.done[room], Count(1)).await?.0, 1);
        ["room", "ticket", "inside", "from"].into_iter().for_each(|name| p.hides(name));
        if self.fault == Fault::RereadsGrant {
            grant = p.at(15).keeping(&(done, room)).read(&self.grant[room]).await?.ticket;
        }
        if done != grant {
            return Ok(false);
        }
        p.mark(Mark::Rests(15));
        for k in 1..=self.rooms.rooms() {
            if self.open_if_awaited(p, (room + k) % self.rooms.rooms(), (room, k)).await? {
                return Ok(true);
            }
        }
        p.at(24).keeping(&()).write(&self.active, Active::NONE).await?;
        Ok(true)
    }

    async fn open_if_awaited(&self, p: Here<'_, Sim>, r: usize, scanned: (usize, usize)) -> Result<bool, Infallible> {
        let is_nobody = |last, old: Grant| self.width.after(last, self.width.add(old.ticket, old.ghosts)) <= 0;
        let grant = p.at(18).keeping(&scanned).read(&self.grant[r]).await?;
        let last = p.at(18).keeping(&(scanned, grant)).read(&self.wait[r]).await?.0;
        if is_nobody(last, grant) && grant.ghosts == 0 {
            return Ok(false);
        }
        p.at(19).keeping(&scanned).write(&self.active, Active::room(r)).await?;
        p.shows("opens", r as u64);
        let opened = loop {
            let old = p.at(30).keeping(&(r, scanned)).read(&self.grant[r]).await?;
            let last = p.at(31).keeping(&(r, scanned, old)).read(&self.wait[r]).await?.0;
            let nobody = is_nobody(last, old);
            if nobody && old.ghosts == 0 {
                break false;
            }
            if old.ghosts > 0 {
                let done = Count(self.width.add(old.ticket, old.ghosts));
                p.at(32).keeping(&(r, scanned, old, last)).write(&self.done[r], done).await?;
            }
            p.keep(33, &(r, scanned, old, last));
            let new = Grant { ticket: last, ghosts: 0 };
            if p.at(33).compare_swap(&self.grant[r], old, new).await?.is_ok() {
                break !nobody;
            }
        };
        p.hides("opens");
        Ok(opened)
    }
}

impl<R: Known> RoomSynchronization<Sim> for Otherwise<R> {
    type Inside = R::Inside;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.rooms.rooms()
    }

    async fn enter(&self, p: &Process<Sim>, room: usize) -> Entered<R::Inside> {
        let room = self.room(room);
        let inside = R::enter_by(self, p, room).await?;
        self.is_inside(p, room);
        Ok(inside)
    }

    async fn exit(&self, p: &Process<Sim>, inside: R::Inside) -> Result<bool, Infallible> {
        let room = R::room_of(&inside);
        let last = R::exit_by(self, p, inside).await?;
        self.left(p, room, last).await
    }
}

impl Tickets<Sim> for Otherwise<Rooms<Sim>> {
    type Ticket = RoomTicket;

    async fn draw(&self, p: &Process<Sim>, room: usize) -> Entered<RoomTicket> {
        self.rooms.draw(p, self.room(room)).await
    }

    async fn wait(&self, p: &Process<Sim>, ticket: RoomTicket) -> Result<Inside, Infallible> {
        let (here, room) = (p.on(self.part), ticket.room());
        if self.fault == Fault::JoinsUnasked {
            let grant = here.at(3).keeping(&("asks", &ticket)).read(&self.grant[room]).await?.ticket;
            if here.at(4).keeping(&(&ticket, grant)).read(&self.active).await? == Active::room(room) {
                here.mark(Mark::Rests(14));
                self.is_inside(p, room);
                return Ok(Kept { room, grant }.into());
            }
        }
        let inside = self.rooms.wait(p, ticket).await?;
        self.is_inside(p, room);
        Ok(inside)
    }

    async fn wait_unless_given_up(&self, p: &Process<Sim>, ticket: &RoomTicket) -> Result<Option<Inside>, Infallible> {
        self.rooms.wait_unless_given_up(p, ticket).await
    }

    async fn withdraw(&self, p: &Process<Sim>, ticket: RoomTicket) -> Result<Option<Inside>, Infallible> {
        self.rooms.withdraw(p, ticket).await
    }

    async fn change_ticket(&self, p: &Process<Sim>, inside: Inside, to: usize) -> Entered<RoomTicket> {
        let (here, from) = (p.on(self.part), inside.room());
        if self.fault != Fault::DrawsLate {
            let ticket = self.rooms.change_ticket(p, inside, to).await?;
            here.part(&ticket);
            self.left(p, from, false).await?;
            here.part_done();
            return Ok(ticket);
        }
        here.part(&to);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        here.part(&from);
        let ticket = self.rooms.draw(p, to).await?;
        here.part_done();
        here.shows("from", from as u64);
        Ok(ticket)
    }

    async fn try_enter(&self, p: &Process<Sim>, room: usize) -> Entered<Option<Inside>> {
        let inside = self.rooms.try_enter(p, room).await?;
        if inside.is_some() {
            self.is_inside(p, room);
        }
        Ok(inside)
    }
}
