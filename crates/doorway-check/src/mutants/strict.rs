//! Strict rooms with faults, over the shipped rooms.

use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Process, Site, decl};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Inside, Kept, Misuse, Rooms, Status, Width};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    ForEachRoom,
}

/// Users that misuse strict rooms, and the rooms.
pub(super) struct Misuses {
    part: Part,
    users: usize,
    m: usize,
    rooms: Rooms<Sim>,
    status: Vec<SimCell<Status>>,
    held: Vec<SimCell<Kept>>,
    fault: Fault,
}

type Done<T> = Result<T, Failure<Infallible, Misuse>>;

impl Misuses {
    pub(super) fn new(site: &Site<'_, Sim>, users: usize, m: usize, width: Width, fault: Fault) -> Self {
        let vectors = if fault == Fault::ForEachRoom { m } else { 1 };
        Self {
            part: site.here(),
            users,
            m,
            rooms: Rooms::with(&site.part("rooms", None), m, width, ()),
            status: site.row("V", vectors * users, |_| decl(Status::Outside)),
            held: site.row("held", users, |_| decl(Kept { room: 0, grant: 0 })),
            fault,
        }
    }

    fn status(&self, user: usize, room: usize) -> &SimCell<Status> {
        &self.status[self.vector(room) * self.users + user]
    }

    /// Which vector the states of users in a room are in.
    fn vector(&self, room: usize) -> usize {
        if self.fault == Fault::ForEachRoom { room.min(self.m - 1) } else { 0 }
    }

    async fn moves(
        &self,
        p: &Process<Sim>,
        (user, room): (usize, usize),
        (from, to): (Status, Status),
        label: u16,
    ) -> Done<()> {
        let p = p.on(self.part);
        let vector = self.vector(room);
        p.keep(label, &(user, vector, from, to));
        let cell = self.status(user, room);
        let was = p.at(label).compare_swap(cell, from, to).await?;
        match was {
            Ok(_) => {
                // Which of several vectors counts, (V) does not say.
                if self.fault != Fault::ForEachRoom {
                    p.shows("user", user as u64);
                }
                Ok(())
            }
            Err(is) => Err(Failure::Refused(Misuse::Is(is))),
        }
    }

    async fn enter(&self, p: &Process<Sim>, user: usize, room: usize) -> Done<()> {
        let here = p.on(self.part);
        here.part(&room);
        self.moves(p, (user, room.min(self.m - 1)), (Status::Outside, Status::Enters), 1).await?;
        here.part_done();
        here.part(&(user, self.vector(room)));
        let entered = self.rooms.enter(p, room).await;
        here.part_done();
        match entered {
            Ok(inside) => {
                here.keep(2, &(user, self.vector(room), &inside));
                here.at(2).write(&self.held[user], kept(&inside)).await?;
                here.keep(3, &(user, self.vector(room)));
                here.at(3).write(self.status(user, room), Status::Inside).await?;
                Ok(())
            }
            Err(Failure::Memory(e)) => match e {},
            Err(Failure::Refused(refusal)) => {
                here.keep(4, &(user, self.vector(room), refusal));
                here.at(4).write(self.status(user, room.min(self.m - 1)), Status::Outside).await?;
                here.hides("user");
                Err(Failure::Refused(Misuse::Refused(refusal)))
            }
        }
    }

    async fn exit(&self, p: &Process<Sim>, user: usize, room: usize) -> Done<()> {
        self.moves(p, (user, room), (Status::Inside, Status::Exits), 6).await?;
        let here = p.on(self.part);
        here.keep(8, &(user, self.vector(room)));
        let inside = Inside::from(here.at(8).read(&self.held[user]).await?);
        here.part(&(user, self.vector(room)));
        let last = self.rooms.exit(p, inside).await?;
        here.part_done();
        here.keep(7, &(user, self.vector(room), last));
        here.at(7).write(self.status(user, room), Status::Outside).await?;
        here.hides("user");
        Ok(())
    }
}

fn kept(inside: &Inside) -> Kept {
    inside.into()
}

impl KExclusion<Sim> for Misuses {
    /// User and room.
    type Held = (usize, usize);
    type Refusal = Misuse;

    async fn acquire(&self, p: &Process<Sim>) -> Done<(usize, usize)> {
        let here = p.on(self.part);
        let own = p.pid().index();
        let user = if own == 0 { 0 } else { own * here.at(0).choose(2).await? };
        if user != 0 {
            here.keep(0, &("exits", user));
            if here.at(0).choose(2).await? == 1 {
                self.exit(p, user, 0).await?;
            }
        }
        here.keep(0, &("enters", user));
        let room = here.at(0).choose(self.m + 1).await?;
        self.enter(p, user, room).await?;
        here.keep(0, &("again", user, room));
        if here.at(0).choose(2).await? == 1 {
            here.part(&user);
            let _ = self.enter(p, user, (room + 1) % self.m).await;
            here.part_done();
        }
        // Which room it is, `held` knows.
        Ok((user, if self.fault == Fault::ForEachRoom { room } else { 0 }))
    }

    async fn release(&self, p: &Process<Sim>, (user, room): (usize, usize)) -> Result<(), Infallible> {
        let _ = self.exit(p, user, room).await;
        Ok(())
    }
}
