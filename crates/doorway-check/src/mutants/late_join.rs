//! Rooms that can be joined late, with faults.

use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::memory::{Here, Mark, Process, Site, decl};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Turn, Width};
use doorway_core::rooms::{Refusal, RoomSynchronization};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    Unbounded,
    JoinsAfterTheEnd,
    WaitsToLeave,
    EntersNextDoor,
    BeginsAtZero,
}

pub(super) struct LateJoin {
    part: Part,
    rooms: usize,
    width: Width,
    joins: u64,
    wait: Vec<SimCell<Count>>,
    turn: Vec<SimCell<Turn>>,
    active: SimVar<Active>,
    fault: Fault,
}

enum Waited {
    LetIn,
    Opens,
}

/// Where the bits of `done` begin.
const BELOW_DONE: u32 = 36;

impl LateJoin {
    pub(super) fn new(site: &Site<'_, Sim>, m: usize, width: Width, joins: u64, fault: Fault) -> Self {
        Self {
            part: site.here(),
            rooms: m,
            width,
            joins,
            wait: site.row("wait", m, |_| decl(Count(0)).wraps_at(width.bits)),
            turn: site.row("turn", m, |_| decl(Turn { grant: 0, joins: 0, done: 0 }).wraps_at(BELOW_DONE + width.bits)),
            active: site.var("activeRoom", Active::NONE),
            fault,
        }
    }

    async fn look(&self, p: Here<'_, Sim>, (room, ticket): (usize, u64)) -> Result<Option<Waited>, Infallible> {
        let turn = p.at(3).read(&self.turn[room]).await?;
        if self.width.after(ticket, turn.grant) <= 0 {
            return Ok(Some(Waited::LetIn));
        }
        let unbounded = self.fault == Fault::Unbounded;
        let goes_on = turn.done != turn.grant || self.fault == Fault::JoinsAfterTheEnd;
        if goes_on && (unbounded || turn.joins < self.joins) {
            p.keep(34, &(room, ticket, turn));
            let grant = p.at(34).read(&self.wait[room]).await?.0;
            p.keep(35, &(room, ticket, turn, grant));
            let joins = if unbounded { 0 } else { turn.joins + 1 };
            let joined = Turn { grant, joins, ..turn };
            return Ok(p.at(35).compare_swap(&self.turn[room], turn, joined).await?.is_ok().then_some(Waited::LetIn));
        }
        p.keep(4, &(room, ticket));
        if p.at(4).read(&self.active).await? != Active::NONE {
            return Ok(None);
        }
        p.keep(5, &(room, ticket));
        let opens = p.at(5).compare_swap(&self.active, Active::NONE, Active::room(room)).await?.is_ok();
        if opens {
            p.shows("opens", room as u64);
        }
        Ok(opens.then_some(Waited::Opens))
    }

    async fn open(&self, p: Here<'_, Sim>, room: usize, label: u16) -> Result<(), Infallible> {
        p.keep(label, &room);
        let turn = p.at(label).read(&self.turn[room]).await?;
        p.keep(label, &(room, turn));
        let grant = p.at(label).read(&self.wait[room]).await?.0;
        p.keep(label, &(room, turn, grant));
        p.at(label).write(&self.turn[room], Turn { grant, joins: 0, done: turn.done }).await?;
        p.hides("opens");
        Ok(())
    }

    async fn advance(&self, p: Here<'_, Sim>, room: usize) -> Result<(), Infallible> {
        p.mark(Mark::Rests(15));
        for k in 1..=self.rooms {
            let r = if self.fault == Fault::BeginsAtZero { k - 1 } else { (room + k) % self.rooms };
            p.keep(18, &(room, k));
            let grant = p.at(18).read(&self.turn[r]).await?.grant;
            p.keep(18, &(room, k, grant));
            let last = p.at(18).read(&self.wait[r]).await?.0;
            if self.width.after(last, grant) > 0 {
                p.keep(19, &r);
                p.at(19).write(&self.active, Active::room(r)).await?;
                p.shows("opens", r as u64);
                return self.open(p, r, 20).await;
            }
        }
        p.keep(24, &());
        p.at(24).write(&self.active, Active::NONE).await
    }
}

impl RoomSynchronization<Sim> for LateJoin {
    type Inside = usize;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.rooms
    }

    async fn enter(&self, p: &Process<Sim>, room: usize) -> Result<usize, Failure<Infallible, Refusal>> {
        let p = p.on(self.part);
        p.keep(2, &room);
        let ticket = self.width.add(p.at(2).fetch_add(&self.wait[room], Count(1)).await?.0, 1);
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", ticket);
        p.keep(3, &(room, ticket));
        match p.spin_until(|| self.look(p, (room, ticket))).await? {
            Waited::LetIn => {}
            Waited::Opens => self.open(p, room, 6).await?,
        }
        p.mark(Mark::Rests(14));
        let door = usize::from(self.fault == Fault::EntersNextDoor);
        p.shows("inside", ((room + door) % self.rooms) as u64);
        Ok(room)
    }

    async fn exit(&self, p: &Process<Sim>, room: usize) -> Result<bool, Infallible> {
        let p = p.on(self.part);
        p.keep(14, &room);
        let before = p.at(14).fetch_add(&self.turn[room], Turn::ONE_DONE).await?;
        p.hides("room");
        p.hides("ticket");
        p.hides("inside");
        if self.width.add(before.done, 1) != before.grant {
            if self.fault == Fault::WaitsToLeave {
                p.keep(14, &("waits", room));
                p.at(14).wait_until(&self.active, |now| now != Active::room(room)).await?;
            }
            return Ok(false);
        }
        self.advance(p, room).await?;
        Ok(true)
    }
}
