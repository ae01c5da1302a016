//! Faults in the universal construction, alone and within k-assignment.

use super::in_use::{self, MayFail};
use crate::mutants::rows::*;
use crate::sim::{Part, Rules, Sim, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::KAssignment;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Process, Site};
use doorway_core::mutex::yang_anderson_93::{Affine, map_of};
use doorway_core::registry::{AmAssign, Entry, Sizes, TurnstileSlots};
use doorway_core::resilient::in_words::{Calls, InWords, Request, ResilientCalls};
use doorway_core::resilient::{Pool, Universal};
use std::convert::Infallible;

type Maps = Affine<5>;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // universal
    mutant(own("universal", SIZES, |s, r| alone(s, r, ONE_BUFFER_LESS)), (2, 2, Some(4)), Some(("R4", 52)), "universal-one-buffer-less", "names have 2k-1 buffers"),
    mutant(own("universal", SIZES, |s, r| alone(s, r, ONE_CELL_LESS)), (2, 2, Some(2)), Some(("R4", 17)), "universal-one-cell-less", "names have k-1 cells"),
    mutant(row("universal", "read:1x3#version+1"), (2, 2, Some(3)), Some((ORDERED, 46)), "universal-one-attempt", "the second attempt after the announcement fails"),
    mutant(row("universal", "read:3=0"), (2, 2, Some(4)), Some((ORDERED, 58)), "universal-without-help", "3 sees nothing announced: applies nothing but its own operation"),
    mutant(row("universal", "drop:6"), (2, 2, Some(3)), Some(("R3", 21)), "universal-ignores-hazards", "6 dropped: takes buffers that others read"),
    mutant(row("universal", "drop:4"), (2, 2, Some(3)), Some(("R3", 22)), "universal-without-4", "4 dropped: no process knows what it reads"),
    mutant(row("universal", "drop:5=seen"), (2, 2, Some(3)), Some(("R3", 22)), "universal-without-5", "5 dropped: the hazard may have come too late"),
    mutant(row("universal", "drop:4,drop:5=seen"), (2, 2, Some(4)), Some(("R3", 21)), "universal-believes-2", "4 and 5 dropped: believes what it has read"),
    mutant(row("universal", "write:10#version=old"), (2, 2, Some(4)), Some((ORDERED, 58)), "universal-without-versions", "head has no version: a buffer that was recycled looks the same"),
    mutant(row("universal", "read:3#seq+1"), (2, 2, Some(4)), Some((ORDERED, 29)), "universal-pending-if-different", "3 takes what is announced for the next: what was applied last is pending"),
    mutant(row("universal", "defer:12>13"), (2, 2, Some(2)), Some(("R3", 26)), "universal-13-before-12", "announces a cell that is not written yet"),
    mutant(row("universal", "read:1x1#version+1"), (2, 2, Some(2)), HOLDS, "universal-announces-at-once", "its first attempt fails, so that it announces: a control, and what the next ones do too"),
    mutant(row("universal", "read:1x1#version+1,drop:11=0"), (2, 2, Some(2)), Some(("R3", 42)), "universal-ignores-cells", "announces at once, and 11 dropped: in a cell that others read"),
    mutant(row("universal", "read:1x1#version+1,write:4#cells=0"), (2, 2, Some(2)), Some(("R3", 45)), "universal-without-cells-in-4", "announces at once, and 4 says nothing of cells"),
    mutant(row("universal", "read:1x1#version+1,drop:4,drop:5=seen"), (2, 2, Some(2)), Some(("R3", 35)), "universal-skips-4-where-head-is-its-own", "announces at once, and 4 and 5 dropped"),
    mutant(row("universal", "read:1x1#version+1,then-wait:13:head#version!=0"), (2, 2, Some(1)), Some((STUCK, 9)), "universal-waits-for-help", "its first attempt fails, and after 13 it waits until another process has applied an operation"),
    mutant(row("universal", "write:9=0"), (2, 2, Some(2)), Some((ORDERED, 46)), "universal-9-forgets-others", "9 writes that nothing was applied"),
    // universal-in-use
    mutant(row("universal-in-use", "read:17=15"), (2, 2, Some(3)), Some(("R3", 7)), "universal-in-use-ignores-responses", "17 says that all buffers are free, even those whose responses are not taken yet"),
    mutant(row("universal-in-use", "drop:19"), (2, 2, Some(3)), Some(("R3", 57)), "universal-in-use-without-adoption", "19 to 21 dropped: what a failed copy left behind is never finished"),
    mutant(row("universal-in-use", "write:18+1"), (2, 2, Some(3)), Some(("R3", 16)), "universal-in-use-remembers-too-much", "18 keeps the buffer that is used now"),
    mutant(row("universal-in-use", "drop:7<8"), (2, 2, Some(2)), Some((ORDERED, 31)), "universal-in-use-without-a-second-copy", "the changes of a failed operation stay in the state"),
    mutant(row("universal-in-use", "drop:25=seen"), (2, 2, Some(4)), Some(("R3", 40)), "universal-in-use-looks-without-25", "25 dropped: looks at a buffer that may be used again"),
    mutant(row("universal-in-use", "drop:24"), (2, 2, Some(4)), Some(("R3", 40)), "universal-in-use-looks-without-24", "24 dropped: no process knows what it looks at"),
    mutant(row("universal-in-use", "read:3=0"), (2, 2, Some(3)), Some((ORDERED, 64)), "universal-in-use-without-help", "3 sees nothing announced: applies nothing but its own operation"),
    mutant(own("universal-in-use", SIZES, |s, r| in_use(s, r, ONE_CELL_LESS)), (2, 2, Some(2)), Some(("R4", 21)), "universal-in-use-one-cell-less", "names have k-1 cells"),
    mutant(row("universal-in-use", "read:1x1#version+1,then-wait:13:head#version!=0"), (2, 2, Some(1)), Some((STUCK, 10)), "universal-in-use-waits-for-help", "its first attempt fails, and after 13 it waits until another process has applied an operation"),
    mutant(row("universal-in-use", "write:9=0"), (2, 2, Some(2)), Some((ORDERED, 53)), "universal-in-use-9-forgets-others", "9 writes that nothing was applied"),
    // resilient
    mutant(own("resilient", SIZES, |s, r| in_slots(s, r, ONE_CELL_LESS)), (2, 2, Some(2)), Some(("R4", 28)), "resilient-one-cell-less", "names have k-1 cells"),
    mutant(row("resilient", "read:inside.1x3#version+1"), (2, 2, Some(3)), Some((ORDERED, 63)), "resilient-one-attempt", "the second attempt after the announcement fails"),
    mutant(row("resilient", "read:inside.3=0"), (2, 2, Some(4)), Some((ORDERED, 81)), "resilient-without-help", "3 sees nothing announced: applies nothing but its own operation"),
    mutant(row("resilient", "drop:inside.4"), (2, 2, Some(3)), Some(("R3", 39)), "resilient-without-4", "4 dropped: no process knows what it reads"),
    mutant(row("resilient", "drop:inside.5=seen"), (2, 2, Some(3)), Some(("R3", 39)), "resilient-without-5", "5 dropped: the hazard may have come too late"),
    mutant(row("resilient", "drop:inside.4,drop:inside.5=seen"), (2, 2, Some(4)), Some(("R3", 38)), "resilient-believes-2", "4 and 5 dropped: believes what it has read"),
    mutant(row("resilient", "defer:inside.12>inside.13"), (2, 2, Some(2)), Some(("R3", 43)), "resilient-13-before-12", "announces a cell that is not written yet"),
    mutant(own("resilient", CALLS, |s, r| names_go_early(s, r, |site| TurnstileSlots::build(site, s))), (2, 1, Some(1)), Some(("R3", 18)), "resilient-gives-its-name-back-early", "gives its name back before it uses it"),
    mutant(row("resilient", "read:inside.1x1#version+1,then-wait:inside.13:head#version!=0"), (2, 2, Some(1)), Some((STUCK, 18)), "resilient-waits-for-help", "its first attempt fails, and after 13 it waits until another process has applied an operation"),
    mutant(row("resilient", "write:inside.9=0"), (2, 2, Some(2)), Some((ORDERED, 63)), "resilient-9-forgets-others", "9 writes that nothing was applied"),
    // resilient-am
    mutant(own("resilient-am", SIZES, |s, r| in_am(s, r, ONE_CELL_LESS)), (2, 2, Some(2)), Some(("R4", 21)), "resilient-am-one-cell-less", "names have k-1 cells"),
    mutant(row("resilient-am", "read:inside.1x3#version+1"), (2, 2, Some(3)), Some((ORDERED, 53)), "resilient-am-one-attempt", "the second attempt after the announcement fails"),
    mutant(row("resilient-am", "read:inside.3=0"), (2, 2, Some(4)), Some((ORDERED, 68)), "resilient-am-without-help", "3 sees nothing announced: applies nothing but its own operation"),
    mutant(row("resilient-am", "drop:inside.4"), (2, 2, Some(3)), Some(("R3", 29)), "resilient-am-without-4", "4 dropped: no process knows what it reads"),
    mutant(row("resilient-am", "drop:inside.5=seen"), (2, 2, Some(3)), Some(("R3", 29)), "resilient-am-without-5", "5 dropped: the hazard may have come too late"),
    mutant(row("resilient-am", "drop:inside.4,drop:inside.5=seen"), (2, 2, Some(4)), Some(("R3", 28)), "resilient-am-believes-2", "4 and 5 dropped: believes what it has read"),
    mutant(row("resilient-am", "defer:inside.12>inside.13"), (2, 2, Some(2)), Some(("R3", 33)), "resilient-am-13-before-12", "announces a cell that is not written yet"),
    mutant(own("resilient-am", CALLS, |s, r| names_go_early(s, r, |site| AmAssign::build(site, s))), (2, 1, Some(1)), Some(("R3", 14)), "resilient-am-gives-its-name-back-early", "gives its name back before it uses it"),
    mutant(row("resilient-am", "read:inside.1x1#version+1,then-wait:inside.13:head#version!=0"), (2, 2, Some(1)), Some((STUCK, 15)), "resilient-am-waits-for-help", "its first attempt fails, and after 13 it waits until another process has applied an operation"),
    mutant(row("resilient-am", "write:inside.9=0"), (2, 2, Some(2)), Some((ORDERED, 53)), "resilient-am-9-forgets-others", "9 writes that nothing was applied"),
];

/// How many buffers and cells fewer each name has.
type Fewer = (usize, usize);
const ONE_BUFFER_LESS: Fewer = (1, 0);
const ONE_CELL_LESS: Fewer = (0, 1);

fn pool(k: usize, (buffers, cells): Fewer) -> Pool {
    let least = Pool::least(k);
    Pool { buffers: least.buffers - buffers, cells: least.cells - cells, ..least }
}

fn alone(Sizes { n, k }: Sizes, rules: Rules, fewer: Fewer) -> Result<World, TextError> {
    World::new(n, rules, |site| Calls::<_, Maps>::new(site, k, pool(k, fewer), map_of))
}

fn in_use(sizes: Sizes, rules: Rules, fewer: Fewer) -> Result<World, TextError> {
    let pool = Pool { remembers: true, ..pool(sizes.k, fewer) };
    in_use::world(sizes, rules, |site| Universal::new(site, sizes.k, pool, MayFail::with(site, sizes.k, pool)))
}

fn in_slots(sizes: Sizes, rules: Rules, fewer: Fewer) -> Result<World, TextError> {
    within(sizes, rules, fewer, |names| TurnstileSlots::build(names, sizes))
}

fn in_am(sizes: Sizes, rules: Rules, fewer: Fewer) -> Result<World, TextError> {
    within(sizes, rules, fewer, |names| AmAssign::build(names, sizes))
}

fn within<A: KAssignment<Sim> + 'static>(
    Sizes { n, k }: Sizes,
    rules: Rules,
    fewer: Fewer,
    names: impl FnOnce(&Site<'_, Sim>) -> A,
) -> Result<World, TextError> {
    World::new(n, rules, |site| ResilientCalls::<_, _, Maps>::new(site, k, pool(k, fewer), map_of, names))
}

/// Gives its name back before it uses it.
struct NamesGoEarly<A> {
    part: Part,
    names: A,
    inside: Universal<Sim, InWords<Sim, Maps>>,
}

fn names_go_early<A: KAssignment<Sim> + 'static>(
    Sizes { n, k }: Sizes,
    rules: Rules,
    names: impl FnOnce(&Site<'_, Sim>) -> A,
) -> Result<World, TextError> {
    let pool = Pool::least(k);
    World::new(n, rules, |site| {
        let inner = site.part("inside", None);
        let inside = Universal::new(&inner, k, pool, InWords::new(site, k, pool, 0));
        NamesGoEarly { part: site.here(), names: names(&site.part("names", None)), inside }
    })
}

impl<A: KAssignment<Sim>> KExclusion<Sim> for NamesGoEarly<A> {
    type Held = ();
    type Refusal = A::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible, A::Refusal>> {
        let here = p.on(self.part);
        here.mark(Mark::Rests(1));
        here.part(&"names");
        let held = self.names.acquire(p).await?;
        here.part_done();
        let name = A::name(&held);
        here.mark(Mark::Rests(3));
        here.part(&name);
        self.names.release(p, held).await?;
        here.part_done();
        here.mark(Mark::Rests(2));
        here.part(&());
        let Ok(_) = self.inside.perform(p, name, Request(Some(map_of(p.pid())))).await?;
        here.part_done();
        Ok(())
    }

    async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}
