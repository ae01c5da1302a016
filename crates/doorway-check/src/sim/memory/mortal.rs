//! Seats and sleep in the simulated memory.
//!
//! The byte of a seat is a variable: 0 while it is free, otherwise the number of the process that
//! has it locked, plus 1.

use super::cells::Alone;
use super::{Sim, SimCell};
use crate::sim::layout::{Part, VarId};
use crate::sim::op::Op;
use doorway_core::memory::{Access, Name, Seats, Sleeps, Woken, Word, decl};
use std::convert::Infallible;

impl Sim {
    /// Gives the variable another initial value. A process that comes later finds the declared
    /// value in its private variables.
    pub fn begins_with<T: Word>(&self, v: &SimCell<T>, value: T) {
        self.0.begins.borrow_mut().push((v.id, v.word(value)));
    }

    /// The owner of the seat is there from the start: its byte is locked.
    pub fn begins_locked(&self, seat: usize) {
        let byte = self.0.bytes.borrow().get(seat).copied();
        self.0.begins.borrow_mut().extend(byte.map(|byte| (byte, seat as u64 + 1)));
    }

    pub(in crate::sim) fn begins(&self) -> Vec<(VarId, u64)> {
        self.0.begins.borrow().clone()
    }

    /// The bytes of seats, in the order of the seats.
    pub(in crate::sim) fn bytes_of_seats(&self) -> Vec<VarId> {
        self.0.bytes.borrow().clone()
    }
}

impl Seats for Sim {
    type Bytes = Vec<SimCell<u64>>;

    fn bytes(&self, name: Name<Part>, seats: usize) -> Vec<SimCell<u64>> {
        let byte = |seat| self.cell(Name { index: Some(seat), ..name }, &decl(0u64));
        let bytes: Vec<_> = (0..seats).map(byte).collect();
        self.0.bytes.borrow_mut().extend(bytes.iter().map(|byte| byte.id));
        bytes
    }

    /// See [`Deaths::suspects`](crate::sim::Deaths::suspects).
    async fn may_have_died(&self, at: Access<Part>) -> Result<bool, Infallible> {
        let Some(deaths) = self.0.deaths.filter(|deaths| deaths.reclaims) else { return Ok(false) };
        Ok(deaths.suspects || self.access(at, Op::AnyDeath, Alone::Never).await != 0)
    }

    async fn is_dead(&self, at: Access<Part>, bytes: &Vec<SimCell<u64>>, seat: usize) -> Result<bool, Infallible> {
        Ok(self.access(at, Op::Read(bytes[seat].id), Alone::Never).await == 0)
    }

    async fn try_lock(&self, at: Access<Part>, bytes: &Vec<SimCell<u64>>, seat: usize) -> Result<bool, Infallible> {
        let me = at.pid.index() as u64 + 1;
        Ok(self.access(at, Op::CompareSwap(bytes[seat].id, 0, me), Alone::Never).await == 0)
    }

    async fn unlock(&self, at: Access<Part>, bytes: &Vec<SimCell<u64>>, seat: usize) -> Result<(), Infallible> {
        self.access(at, Op::Write(bytes[seat].id, 0), Alone::Never).await;
        Ok(())
    }

    fn damaged(&self, at: Access<Part>, word: u64) -> Infallible {
        panic!("statement {} finds {word:#x}, which no process can have written", at.label)
    }
}

impl Sleeps for Sim {
    /// A bit for each seat.
    type Watch = u64;

    fn has_hints(&self) -> bool {
        self.0.deaths.is_some_and(|deaths| deaths.hints)
    }

    fn watch_seat(&self, watch: &mut u64, seat: usize) {
        *watch |= 1u64.checked_shl(seat as u32).unwrap_or(0);
    }

    async fn sleep<T: Word>(
        &self,
        at: Access<Part>,
        _: &mut usize,
        v: &SimCell<T>,
        seen: T,
        watch: &u64,
        abortable: bool,
    ) -> Result<Woken, Infallible> {
        Ok(Woken::unpack(self.access(at, Op::Sleep(v.id, v.word(seen), *watch, abortable), v.alone).await))
    }

    async fn wake<T: Word>(&self, at: Access<Part>, v: &SimCell<T>) -> Result<(), Infallible> {
        self.access(at, Op::Wake(v.id), v.alone).await;
        Ok(())
    }
}
