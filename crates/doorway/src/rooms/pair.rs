//! The two rooms of a structure that is filled by one operation and emptied by another. The
//! structure has them to itself.

use super::PATIENT;
use crate::native::{Native, now, someone};
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Inside, Rooms as Text, Width};
use doorway_core::rooms::{LastOut, Lit, RoomSynchronization};
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, ready};

/// Two rooms without guards. No request is refused: structures name only rooms that exist, and
/// their users never give up. No user code runs inside, nor at the last exit.
pub(super) struct Pair<X> {
    text: Text<Native, X>,
    /// Makes all accesses that do not wait. The texts do not tell processes apart.
    pub(super) anyone: Process<Native>,
}

impl<X: LastOut<Native>> Pair<X> {
    pub(super) fn new(site: &Site<'_, Native>, lights: X) -> Self {
        let anyone = Process::new(Pid::new(0), Native::new());
        Self { text: Text::with(site, 2, Width::MACHINE, lights), anyone }
    }

    #[cold]
    #[inline(never)]
    fn enter_later(&self, room: usize) -> Inside {
        match now(self.text.enter(&someone(PATIENT), room)) {
            Ok(inside) => inside,
            Err(refused) => unreachable!("{refused:?}"),
        }
    }
}

impl<X: LastOut<Native>> RoomSynchronization<Native> for Pair<X> {
    type Inside = Inside;
    type Refusal = Infallible;

    fn rooms(&self) -> usize {
        2
    }

    fn enter(
        &self,
        p: &Process<Native>,
        room: usize,
    ) -> impl Future<Output = Result<Inside, doorway_core::Failure<Infallible>>> {
        let Ok(inside) = self.enter_now(p, room);
        ready(Ok(inside))
    }

    fn exit(&self, p: &Process<Native>, inside: Inside) -> impl Future<Output = Result<bool, Infallible>> {
        ready(Ok(self.exit_now(p, inside)))
    }

    /// A lone user opens the room without waiting; the others draw tickets. See
    /// [`Rooms`](super::Rooms) for why this overtakes no other user.
    #[inline(always)]
    fn enter_now(&self, p: &Process<Native>, room: usize) -> Result<Inside, Infallible> {
        Ok(match self.text.enter_at_once_now(p, room) {
            Some(inside) => inside,
            None => self.enter_later(room),
        })
    }

    #[inline(always)]
    fn exit_now(&self, p: &Process<Native>, inside: Inside) -> bool {
        self.text.exit_now(p, inside)
    }
}

impl<X: LastOut<Native>> Lit<Native> for Pair<X> {
    type Lights = X;

    #[inline(always)]
    fn lights(&self) -> &X {
        self.text.last_out()
    }

    fn change(
        &self,
        p: &Process<Native>,
        inside: Inside,
        to: usize,
    ) -> impl Future<Output = Result<Inside, doorway_core::Failure<Infallible>>> {
        let Ok(inside) = self.change_now(p, inside, to);
        ready(Ok(inside))
    }

    #[cold]
    #[inline(never)]
    fn change_now(&self, _: &Process<Native>, inside: Inside, to: usize) -> Result<Inside, Infallible> {
        match now(self.text.change(&someone(PATIENT), inside, to)) {
            Ok(inside) => Ok(inside),
            Err(refused) => unreachable!("{refused:?}"),
        }
    }
}

impl<X> fmt::Debug for Pair<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}
