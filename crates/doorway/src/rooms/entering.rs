//! The ways in and out.

use super::{EnterError, LastExit, Room, Rooms, TimeoutError, TryEnterError};
use crate::native::{Native, now};
use crate::slots::sure;
use doorway_core::Failure;
use doorway_core::memory::{Pid, Process};
use doorway_core::rooms::Refusal;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Inside, Ticket};
use std::convert::Infallible;
use std::time::{Duration, Instant};

fn refused(failure: Failure<Infallible, Refusal>) -> EnterError {
    match failure {
        Failure::Memory(impossible) => match impossible {},
        Failure::Refused(refusal) => refusal.into(),
    }
}

impl<R: Room, X: LastExit<R>> Rooms<R, X> {
    /// Alone, one opens the room without waiting. Who draws a ticket only if that fails is not before anybody who has one: opening lets in all that wait for the room, and the next turn goes to
    /// those that wait for others.
    #[inline(always)]
    fn try_once(&self, room: R) -> Result<Option<Inside>, EnterError> {
        let (room, rooms) = (room.index(), self.text.rooms());
        if room < rooms {
            Ok(self.text.enter_at_once_now(&self.anyone, room))
        } else {
            Err(EnterError::NoSuchRoom { room, rooms })
        }
    }

    #[inline(always)]
    pub(super) fn go_in(&self, call: &'static str, room: R) -> Result<Inside, EnterError> {
        match self.try_once(room)? {
            Some(inside) => Ok(inside),
            None => self.go_in_later(call, room),
        }
    }

    #[cold]
    #[inline(never)]
    fn go_in_later(&self, call: &'static str, room: R) -> Result<Inside, EnterError> {
        self.is_outside(call)?;
        let ticket = self.draw(room)?;
        Ok(self.wait(ticket, None).unwrap_or_else(|| unreachable!("nobody gives up who has no deadline")))
    }

    #[inline(always)]
    pub(super) fn go_in_at_once(&self, call: &'static str, room: R) -> Result<Inside, TryEnterError> {
        match self.try_once(room)? {
            Some(inside) => Ok(inside),
            None => {
                self.is_outside(call)?;
                Err(TryEnterError::Busy)
            }
        }
    }

    pub(super) fn go_in_within(&self, call: &'static str, room: R, timeout: Duration) -> Result<Inside, TimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.go_in_until(call, room, deadline),
            None => Ok(self.go_in(call, room)?), // beyond the end of time
        }
    }

    pub(super) fn go_in_until(&self, call: &'static str, room: R, deadline: Instant) -> Result<Inside, TimeoutError> {
        if let Some(inside) = self.try_once(room)? {
            return Ok(inside);
        }
        self.is_outside(call)?;
        if Instant::now() >= deadline {
            return Err(TimeoutError::TimedOut);
        }
        let ticket = self.draw(room)?;
        self.wait(ticket, Some(deadline)).ok_or(TimeoutError::TimedOut)
    }

    pub(super) async fn go_in_async(&self, room: R) -> Result<Inside, EnterError> {
        if let Some(inside) = self.try_once(room)? {
            return Ok(inside);
        }
        let ticket = self.draw(room)?;
        Ok(self.wait_async(ticket).await)
    }

    pub(super) fn change_room(&self, inside: Inside, to: R) -> Result<Inside, EnterError> {
        let ticket = self.change_ticket(inside, to)?;
        let inside = self.wait(ticket.take(), None);
        Ok(inside.unwrap_or_else(|| unreachable!("nobody gives up who has no deadline")))
    }

    pub(super) async fn change_room_async(&self, inside: Inside, to: R) -> Result<Inside, EnterError> {
        let ticket = self.change_ticket(inside, to)?.take();
        Ok(self.wait_async(ticket).await)
    }

    /// Leaves, with a ticket for another room.
    fn change_ticket(&self, inside: Inside, to: R) -> Result<Waits<'_, R, X>, EnterError> {
        let ticket = now(self.text.change_ticket(&self.anyone, inside, to.index()));
        // If the code of the last one out panicked, that goes on here, and the ticket must not be lost.
        let waits = ticket.map(|ticket| Waits { rooms: self, p: self.waits(), ticket: Some(ticket) });
        self.text.last_out().resume();
        waits.map_err(refused)
    }

    fn is_outside(&self, call: &'static str) -> Result<(), EnterError> {
        if self.id.is_held() { Err(EnterError::InsideAlready { call }) } else { Ok(()) }
    }

    fn draw(&self, room: R) -> Result<Ticket, EnterError> {
        now(self.text.draw(&self.anyone, room.index())).map_err(refused)
    }

    /// One that has to wait, with a handle of its own.
    fn waits(&self) -> Process<Native> {
        Process::new(Pid::new(0), Native::new().with_policy(self.policy))
    }

    fn wait(&self, ticket: Ticket, deadline: Option<Instant>) -> Option<Inside> {
        let p = self.waits();
        p.memory().give_up_at(deadline);
        let waited = sure(now(self.text.wait_unless_given_up(&p, &ticket)));
        // Let in at the last moment, it is in.
        waited.or_else(|| sure(now(self.text.withdraw(&p, ticket))))
    }

    async fn wait_async(&self, ticket: Ticket) -> Inside {
        let mut waits = Waits { rooms: self, p: self.waits(), ticket: Some(ticket) };
        waits.p.memory().wait_as_task(true);
        let Waits { p, ticket, .. } = &mut waits;
        let Some(drawn) = ticket else { unreachable!("it has just been drawn") };
        let inside = sure(self.text.wait_unless_given_up(p, drawn).await);
        waits.ticket = None;
        inside.unwrap_or_else(|| unreachable!("nobody asks it to give up"))
    }

    #[inline(always)]
    pub(super) fn leave(&self, inside: Inside) {
        if std::thread::panicking() {
            self.text.last_out().poison(true);
        }
        let last = self.text.exit_now(&self.anyone, inside);
        if X::DOES_SOMETHING && last {
            self.text.last_out().resume();
        }
    }
}

/// Somebody with a ticket. If it is dropped before it is let in, it gives up.
struct Waits<'a, R: Room, X: LastExit<R>> {
    rooms: &'a Rooms<R, X>,
    p: Process<Native>,
    ticket: Option<Ticket>,
}

impl<R: Room, X: LastExit<R>> Waits<'_, R, X> {
    /// Somebody else waits with it.
    fn take(mut self) -> Ticket {
        self.ticket.take().unwrap_or_else(|| unreachable!("it is taken once"))
    }
}

impl<R: Room, X: LastExit<R>> Drop for Waits<'_, R, X> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        self.p.memory().wait_as_task(false);
        if let Some(inside) = sure(now(self.rooms.text.withdraw(&self.p, ticket))) {
            self.rooms.leave(inside);
        }
    }
}
