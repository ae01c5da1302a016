//! Entering and leaving. The text decides what is done, and the native memory decides how the
//! process waits.

use super::{EnterError, LastExit, Room, Rooms};
use crate::native::{Begun, InLine, Native, WaysIn, now, refused, sure, wait_as_task};
use crate::waiting::Policy;
use doorway_core::Failure;
use doorway_core::memory::Process;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Inside, RoomTicket};
use std::convert::Infallible;

/// A request for a room, with what is needed to tell whether its user is already inside.
#[derive(Clone, Copy)]
pub(crate) struct Request<R> {
    room: R,
    /// The method that a thread called; such a thread must not be inside. `None` for a task: tasks
    /// cannot be told apart.
    call: Option<&'static str>,
}

impl<R> Request<R> {
    /// A request by a thread that called this method.
    #[inline(always)]
    pub(super) fn of_thread(room: R, call: &'static str) -> Self {
        Self { room, call: Some(call) }
    }

    /// A request by a user that cannot be checked for being inside.
    pub(super) fn of_anyone(room: R) -> Self {
        Self { room, call: None }
    }
}

impl<R: Room, X: LastExit<R>> WaysIn for Rooms<R, X> {
    type Wish = Request<R>;
    type Place = RoomTicket;
    type Inside = Inside;
    type Refusal = EnterError;

    fn policy(&self) -> Policy {
        self.policy
    }

    #[inline(always)]
    fn at_once(&self, request: Request<R>) -> Result<Option<Inside>, EnterError> {
        match self.begin(request) {
            Begun::Inside(inside) => Ok(Some(inside)),
            Begun::Refused(why) => Err(why),
            Begun::Outside | Begun::Waits(_) => self.is_outside(request).map(|()| None),
        }
    }

    /// A lone user opens the room without waiting. If that fails, the user draws a ticket. So it
    /// never gets ahead of a user that has a ticket: opening lets in all users that wait for the
    /// room, and the next turn goes to those that wait for other rooms.
    #[inline(always)]
    fn begin(&self, request: Request<R>) -> Begun<Self> {
        let (room, rooms) = (request.room.index(), self.text.rooms());
        if room >= rooms {
            return Begun::Refused(EnterError::NoSuchRoom { room, rooms });
        }
        match self.text.enter_at_once_now(&self.anyone, room) {
            Some(inside) => Begun::Inside(inside),
            None => Begun::Outside,
        }
    }

    fn line_up(&self, request: Request<R>, _: bool) -> Begun<Self> {
        let draw = || now(self.text.draw(&self.anyone, request.room.index())).map_err(|e| refused(e).into());
        match self.is_outside(request).and_then(|()| draw()) {
            Ok(ticket) => Begun::Waits(ticket),
            Err(why) => Begun::Refused(why),
        }
    }

    async fn wait(
        &self,
        p: &Process<Native>,
        ticket: &mut RoomTicket,
    ) -> Result<Option<Inside>, Failure<Infallible, EnterError>> {
        Ok(self.text.wait_unless_given_up(p, ticket).await?)
    }

    fn give_up(&self, p: &Process<Native>, ticket: RoomTicket) -> Option<Inside> {
        sure(now(self.text.withdraw(p, ticket)))
    }

    #[inline(always)]
    fn leave(&self, inside: Inside) {
        if std::thread::panicking() {
            self.text.last_out().poison(true);
        }
        let last = self.text.exit_now(&self.anyone, inside);
        if X::DOES_SOMETHING && last {
            self.text.last_out().resume();
        }
    }
}

impl<R: Room, X: LastExit<R>> Rooms<R, X> {
    /// Refuses a thread that is inside: it would wait for itself.
    #[cold]
    #[inline(never)]
    fn is_outside(&self, request: Request<R>) -> Result<(), EnterError> {
        match request.call {
            Some(call) if self.id.is_held() => Err(EnterError::InsideAlready { call }),
            _ => Ok(()),
        }
    }

    pub(super) fn change_room(&self, inside: Inside, to: R) -> Result<Inside, EnterError> {
        let ticket = Begun::Waits(self.change_ticket(inside, to)?);
        let inside = self.wait_as_thread(Request::of_anyone(to), ticket, None)?;
        Ok(inside.unwrap_or_else(|| unreachable!("it has no deadline")))
    }

    pub(super) async fn change_room_async(&self, inside: Inside, to: R) -> Result<Inside, EnterError> {
        let ticket = self.change_ticket(inside, to)?;
        wait_as_task(self, ticket).await
    }

    /// Leaves, with a ticket for another room.
    fn change_ticket(&self, inside: Inside, to: R) -> Result<RoomTicket, EnterError> {
        let ticket = now(self.text.change_ticket(&self.anyone, inside, to.index()));
        // If the code of the last exit panicked, the panic goes on here, and the ticket must not be
        // lost.
        let in_line = ticket.map(|ticket| InLine::new(self, ticket));
        self.text.last_out().resume();
        let ticket = in_line.map_err(|failure| EnterError::from(refused(failure)))?.take();
        Ok(ticket.unwrap_or_else(|| unreachable!("it is taken once")))
    }
}
