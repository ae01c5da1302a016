//! Figure 2 as it is in print.

use super::{Inside, Rooms, Width};
use crate::Failure;
use crate::memory::{CompareSwap, FetchAdd, Memory, Process, Site};
use crate::rooms::{Refusal, RoomSynchronization};

/// [`Rooms`] as Figure 2 has them: an exit reads `activeRoom` (13) and, after it has counted itself done, `grant` (15). Kept to show what goes wrong: see `rooms-as-printed` in the
/// [registry](crate::registry). Nobody can give up.
#[derive(Debug)]
pub struct AsPrinted<M: Memory>(Rooms<M>);

impl<M: Memory> AsPrinted<M> {
    /// `m` rooms.
    pub fn new(site: &Site<'_, M>, m: usize, width: Width) -> Self {
        Self(Rooms { as_printed: true, ..Rooms::with(site, m, width, ()) })
    }
}

impl<M: FetchAdd + CompareSwap> RoomSynchronization<M> for AsPrinted<M> {
    type Inside = Inside;
    type Refusal = Refusal;

    fn rooms(&self) -> usize {
        self.0.rooms
    }

    async fn enter(&self, p: &Process<M>, room: usize) -> Result<Inside, Failure<M::Error, Refusal>> {
        self.0.enter(p, room).await
    }

    async fn exit(&self, p: &Process<M>, inside: Inside) -> Result<bool, M::Error> {
        self.0.exit(p, inside).await
    }
}
