//! Figures 2 and 4 as printed, which is wrong. They are kept to show what goes wrong.

use super::worlds::{UNWRITTEN, arrays_of_a_dynamic_stack, first_array};
use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::memory::{Here, Mark, Process, Site, decl, within};
use doorway_core::registry::Sizes;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Active, Count, Grant, Grows, IN, Inside, OUT, Rooms, Width};
use doorway_core::rooms::{Refusal, RoomSynchronization};
use std::convert::Infallible;

/// Figure 2: an exit reads `activeRoom` (13) and, after it has counted itself done, `grant` (15).
/// By then others may have gone through so often that `grant` has wrapped to the same number, and
/// two users are last.
pub(super) struct RoomsAsPrinted {
    part: Part,
    width: Width,
    wait: Vec<SimCell<Count>>,
    grant: Vec<SimCell<Grant>>,
    done: Vec<SimCell<Count>>,
    active: SimVar<Active>,
}

/// A ticket of a room.
#[derive(Clone, Copy, Debug)]
struct RoomTicket {
    room: usize,
    number: u64,
}

impl RoomsAsPrinted {
    pub(super) fn new(site: &Site<'_, Sim>, m: usize, width: Width) -> Self {
        let count = |_| decl(Count(0)).wraps_at(width.bits);
        Self {
            part: site.here(),
            width,
            wait: site.row("wait", m, count),
            grant: site.row("grant", m, |_| decl(Grant { ticket: 0, ghosts: 0 })),
            done: site.row("done", m, count),
            active: site.var("activeRoom", Active::NONE),
        }
    }

    /// One turn of the wait: 3 to 5. Returns whether it opens the room.
    async fn look(&self, p: Here<'_, Sim>, ticket: RoomTicket) -> Result<Option<bool>, Infallible> {
        let granted = p.at(3).read(&self.grant[ticket.room]).await?.ticket;
        if self.width.after(ticket.number, granted) <= 0 {
            return Ok(Some(false));
        }
        if p.at(4).keeping(&ticket).read(&self.active).await? != Active::NONE {
            return Ok(None);
        }
        let room = Active::room(ticket.room);
        let opens = p.at(5).keeping(&ticket).compare_swap(&self.active, Active::NONE, room).await?.is_ok();
        if opens {
            p.shows("opens", ticket.room as u64);
        }
        Ok(opens.then_some(true))
    }

    /// 6 or 20.
    async fn open(&self, p: Here<'_, Sim>, room: usize, label: u16) -> Result<(), Infallible> {
        let last = p.at(label).keeping(&room).read(&self.wait[room]).await?.0;
        p.at(label).keeping(&(room, last)).write(&self.grant[room], Grant { ticket: last, ghosts: 0 }).await
    }
}

impl RoomSynchronization<Sim> for RoomsAsPrinted {
    /// The room.
    type Inside = usize;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.wait.len()
    }

    async fn enter(&self, p: &Process<Sim>, room: usize) -> Result<usize, Failure<Infallible, Refusal>> {
        let p = p.on(self.part);
        let number = self.width.add(p.at(2).keeping(&room).fetch_add(&self.wait[room], Count(1)).await?.0, 1);
        p.mark(Mark::DoorwayEnds);
        p.shows("room", room as u64);
        p.shows("ticket", number);
        let ticket = RoomTicket { room, number };
        p.keep(3, &ticket);
        if p.spin_until(|| self.look(p, ticket)).await? {
            self.open(p, room, 6).await?;
        }
        p.hides("opens");
        p.mark(Mark::Rests(14));
        p.shows("inside", room as u64);
        Ok(room)
    }

    async fn exit(&self, p: &Process<Sim>, room: usize) -> Result<bool, Infallible> {
        let p = p.on(self.part);
        // A user inside a room sees that room.
        let room = p.at(13).keeping(&room).read(&self.active).await?.is_room().unwrap_or(room);
        let done = self.width.add(p.at(14).keeping(&room).fetch_add(&self.done[room], Count(1)).await?.0, 1);
        p.hides("room");
        p.hides("ticket");
        p.hides("inside");
        if done != p.at(15).keeping(&(done, room)).read(&self.grant[room]).await?.ticket {
            return Ok(false);
        }
        p.mark(Mark::Rests(15));
        for k in 1..=self.rooms() {
            let r = (room + k) % self.rooms();
            let grant = p.at(18).keeping(&(room, k)).read(&self.grant[r]).await?.ticket;
            let last = p.at(18).keeping(&(room, k, grant)).read(&self.wait[r]).await?.0;
            if self.width.after(last, grant) > 0 {
                p.at(19).keeping(&(room, k)).write(&self.active, Active::room(r)).await?;
                p.shows("opens", r as u64);
                self.open(p, r, 20).await?;
                p.hides("opens");
                return Ok(true);
            }
        }
        p.at(24).keeping(&()).write(&self.active, Active::NONE).await?;
        Ok(true)
    }
}

/// Figure 4: a pop takes from an empty stack (`j < 0`), or looks for the last element of the lower
/// half in the upper one (`j < size/2`). A push that must retry exits and begins anew, so that
/// others can fill the new space first.
pub(super) struct DynamicStackAsPrinted {
    part: Part,
    rooms: Rooms<Sim, Grows<Sim>>,
    first: usize,
    top: SimVar<i64>,
    arrays: Vec<Vec<SimCell<u64>>>,
}

const ARRAYS: [&str; 4] = ["array0", "array1", "array2", "array3"];

impl DynamicStackAsPrinted {
    pub(super) fn new(site: &Site<'_, Sim>, sizes: Sizes) -> Self {
        let (first, arrays) = arrays_of_a_dynamic_stack(sizes, first_array(sizes));
        let width = Width::for_users(sizes.n, 0);
        let array = |(i, name): (usize, &&'static str)| site.row(name, first << i, |_| UNWRITTEN.into());
        Self {
            part: site.here(),
            rooms: Rooms::with(&site.part("rooms", None), 2, width, Grows::new(site)),
            first,
            top: site.var("top", 0),
            arrays: ARRAYS.iter().take(arrays).enumerate().map(array).collect(),
        }
    }

    pub(super) async fn push(&self, p: &Process<Sim>, y: u64) -> Result<bool, Failure<Infallible, Refusal>> {
        let here = p.on(self.part);
        for retries in 0_u64.. {
            if retries > 0 {
                here.shows("retries", retries);
            }
            here.part(&(y, retries));
            let inside = self.rooms.enter(p, IN).await?;
            let fits = self.push_inside(p, &inside, y).await?;
            within!(here, &fits, self.rooms.exit(p, inside).await?);
            here.part_done();
            if let Some(fits) = fits {
                here.hides("retries");
                return Ok(fits);
            }
        }
        Ok(false)
    }

    /// 1 to 7. `None` if it must retry.
    async fn push_inside(&self, p: &Process<Sim>, inside: &Inside, y: u64) -> Result<Option<bool>, Infallible> {
        let here = p.on(self.part);
        let j = here.at(1).keeping(inside).fetch_add(&self.top, 1).await?;
        let doubled = here.at(10).keeping(&(inside, j)).read(self.rooms.last_out().doubled()).await? as usize;
        let half = (self.first << doubled) as i64 / 2;
        if j >= 2 * half {
            let fits = doubled + 1 < self.arrays.len();
            if fits {
                here.at(2).keeping(inside).write(self.rooms.last_out().start(), true).await?;
            }
            here.at(3).keeping(&(inside, fits)).fetch_add(&self.top, -1).await?;
            return Ok(if fits { None } else { Some(false) });
        }
        if doubled > 0 && j >= half {
            let e = (j - half) as usize;
            let old = here.at(4).keeping(&(inside, j, doubled)).read(&self.arrays[doubled - 1][e]).await?;
            here.at(5).keeping(&(inside, j, doubled, old)).write(&self.arrays[doubled][e], old).await?;
            here.at(6).keeping(&(inside, j, doubled)).write(&self.arrays[doubled][j as usize], y).await?;
        } else if let Some(slot) = self.slot(doubled.saturating_sub(1), j) {
            here.at(7).keeping(&(inside, j, doubled)).write(slot, y).await?;
        }
        Ok(Some(true))
    }

    pub(super) async fn pop(&self, p: &Process<Sim>) -> Result<Option<u64>, Failure<Infallible, Refusal>> {
        let here = p.on(self.part);
        let inside = self.rooms.enter(p, OUT).await?;
        let j = here.at(8).keeping(&inside).fetch_add(&self.top, -1).await?;
        let x = if j < 0 {
            here.at(9).keeping(&inside).fetch_add(&self.top, 1).await?;
            None
        } else {
            let doubled = here.at(10).keeping(&(&inside, j)).read(self.rooms.last_out().doubled()).await? as usize;
            let half = (self.first << doubled) as i64 / 2;
            let array = if doubled > 0 && j < half { doubled - 1 } else { doubled };
            match self.slot(array, j - 1) {
                Some(slot) => Some(here.at(11).keeping(&(&inside, j, array)).read(slot).await?),
                None => Some(UNWRITTEN), // whatever lies before the array
            }
        };
        within!(here, &x, self.rooms.exit(p, inside).await?);
        Ok(x)
    }

    fn slot(&self, array: usize, e: i64) -> Option<&SimCell<u64>> {
        self.arrays[array].get(usize::try_from(e).ok()?)
    }
}
