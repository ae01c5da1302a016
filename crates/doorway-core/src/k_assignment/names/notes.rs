//! What holders note in their names, for themselves and for later holders.

use super::Number;
use crate::memory::{Here, LateRows, Nobody, Site, Word};

/// The name that comes next, as the holder of several names notes it. No other process reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next(pub u32);

impl Word for Next {
    type Waiters = Nobody;
    const WHOLE: bool = true;

    #[inline(always)]
    fn pack(self) -> u64 {
        self.0.into()
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word as u32)
    }
}

/// For each name, what its holder noted there. Only the holder of a name writes or reads its notes.
///
/// Both rows are made when a process first needs them.
#[derive(Debug)]
pub struct Notes<M: LateRows> {
    /// The name that comes next, if the holder has several.
    after: M::Late<Next>,
    /// The largest [fence number](super#fence-numbers) that any holder made, if there are any.
    last: Option<M::Late<Number>>,
}

impl<M: LateRows> Notes<M> {
    pub(super) fn new(site: &Site<'_, M>, k: usize, fences: Option<u64>) -> Self {
        let room = k.next_power_of_two();
        Self {
            after: site.late_rows("after", room, 1, Next(0)),
            last: fences.map(|fences| site.late_rows("last", room, 1, Number(fences))),
        }
    }

    /// Puts notes together before the program runs, from rows that are not made yet.
    pub const fn of_parts(after: M::Late<Next>, last: M::Late<Number>) -> Self {
        Self { after, last: Some(last) }
    }

    /// Notes which name of the same holder comes next: 8. Only the holder will look there, so no
    /// other process needs to be told that there is room now.
    pub(super) fn link(&self, p: Here<'_, M>, name: u32, next: u32) -> impl Future<Output = Result<(), M::Error>> {
        let is_there = p.make_row(&self.after, 0);
        debug_assert!(is_there, "the only row can be made");
        p.at(8).write_in_passing(&self.after[(0, name as usize)], Next(next))
    }

    /// The name that its holder noted: 9.
    pub(super) async fn linked(&self, p: Here<'_, M>, name: u32) -> Result<u32, M::Error> {
        Ok(p.at(9).read(&self.after[(0, name as usize)]).await?.0)
    }

    /// Whether there are fence numbers.
    pub(super) fn have_numbers(&self) -> bool {
        self.last.is_some()
    }

    /// The number of the last holder of this name that made one: 6.
    pub(super) async fn number(&self, p: Here<'_, M>, name: u32) -> Result<u64, M::Error> {
        Ok(p.at(6).read(self.last(p, name)).await?.0)
    }

    /// Notes the number of the holder: 7. Only later holders will look there.
    pub(super) async fn note(&self, p: Here<'_, M>, name: u32, number: u64) -> Result<(), M::Error> {
        p.at(7).write_in_passing(self.last(p, name), Number(number)).await
    }

    fn last(&self, p: Here<'_, M>, name: u32) -> &M::Cell<Number> {
        let Some(last) = &self.last else { unreachable!("only names that have numbers are asked for them") };
        let is_there = p.make_row(last, 0);
        debug_assert!(is_there, "the only row can be made");
        &last[(0, name as usize)]
    }
}
