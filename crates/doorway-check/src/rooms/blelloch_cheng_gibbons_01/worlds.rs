//! Machines that run the objects of the registry, with every choice that their users have.

use super::as_printed::DynamicStackAsPrinted;
pub(crate) use super::structures::{Answers, Asks};
pub(crate) use super::work::{Reply, Wish};

use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::memory::{Memory, Site};
use doorway_core::registry::{Listed, RoomQueue as Queue, RoomStack as Stack, Sizes};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{
    Count, DynamicStack, InSegments, InWords, RoomQueue, RoomStack, Rooms, SegmentStack, Width, WorkStack,
    bits_of_a_queue,
};
use doorway_core::rooms::{Lit, RoomSynchronization};

/// How often latecomers may join a room in each turn, where that is checked.
pub(crate) const JOINS: u64 = 1;

/// The content of a slot before it is written: no user puts this.
pub(crate) const UNWRITTEN: u64 = 9;

/// The number of slots in the first segment of a stack of segments: any number will do.
pub(crate) const FIRST_SEGMENT: usize = 1;

/// The number of elements in the first array of a growing stack: at least the number of users.
pub(crate) fn first_array(sizes: Sizes) -> usize {
    sizes.n.max(2)
}

/// The largest number of arrays of a growing stack.
pub(crate) const MOST_ARRAYS: usize = 4;

/// How many arrays hold at least this many elements.
pub(crate) fn arrays(slots: usize, most: impl Fn(usize) -> usize) -> usize {
    (1..=MOST_ARRAYS).find(|&arrays| most(arrays) >= slots).unwrap_or(MOST_ARRAYS)
}

/// A machine whose processes put their own number into an object, or take something out.
macro_rules! machine {
    // Objects that move elements between hands and a store.
    ($sizes:ident, $rules:ident, $build:expr, $put:ident, $take:ident, by hand) => {
        machine!(
            $sizes,
            $rules,
            $build,
            |object, p, mine| object.$put(p, &mut vec![mine], 1).await.ok()?.ok().map(|fits| fits == 1),
            |object, p| {
                let mut hand = Vec::new();
                object.$take(p, &mut hand, 1).await.ok()?.ok()?;
                Some(hand.pop())
            }
        )
    };
    ($sizes:ident, $rules:ident, $build:expr, $put:ident, $take:ident) => {
        machine!($sizes, $rules, $build, |object, p, mine| object.$put(p, mine).await.ok(), |object, p| object
            .$take(p)
            .await
            .ok())
    };
    (
        $sizes:ident, $rules:ident, $build:expr,
        |$object:ident, $p:ident, $mine:ident| $put:expr, |$of:ident, $taker:ident| $take:expr
    ) => {
        World::of_programs($sizes.n, $rules, $build, |object, p| async move {
            let here = p.on(Sim::ROOT);
            let Ok(what) = here.at(0).choose(2).await;
            if what == 0 {
                let ($object, $p, $mine) = (&object, &p, p.pid().index() as u64 + 1);
                here.invokes(Asks::Put($mine));
                let put = async { $put };
                if let Some(fits) = put.await {
                    here.responds(Answers::Put(fits));
                }
            } else {
                let ($of, $taker) = (&object, &p);
                here.invokes(Asks::Take);
                let take = async { $take };
                if let Some(taken) = take.await {
                    here.responds(Answers::Took(taken));
                }
            }
        })
    };
}

pub(super) fn of_a_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let width = width(&Stack::INFO, sizes);
    stack(sizes, rules, |site| Rooms::with(site, 2, width, ()))
}

pub(super) fn of_a_queue(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let width = width(&Queue::INFO, sizes);
    queue(sizes, rules, |site| Rooms::with(site, 2, width, ()))
}

pub(crate) fn stack<R: RoomSynchronization<Sim> + 'static>(
    sizes: Sizes,
    rules: Rules,
    rooms: impl Fn(&Site<'_, Sim>) -> R,
) -> Result<World, TextError> {
    let build = |site: &Site<'_, Sim>| RoomStack::new(site, sizes.k, InWords::new(site, sizes.k, UNWRITTEN), rooms);
    machine!(sizes, rules, build, push, pop, by hand)
}

pub(crate) fn queue<R: RoomSynchronization<Sim> + 'static>(
    sizes: Sizes,
    rules: Rules,
    rooms: impl Fn(&Site<'_, Sim>) -> R,
) -> Result<World, TextError> {
    let (size, bits) = (sizes.k.next_power_of_two(), bits_of_a_queue(sizes.k, sizes.n));
    let build = |site: &Site<'_, Sim>| {
        RoomQueue::<_, _, _, Count>::new(site, size, bits, InWords::new(site, size, UNWRITTEN), rooms)
    };
    machine!(sizes, rules, build, enqueue, dequeue, by hand)
}

/// The first array of a copying stack, and how many arrays there are with space for `sizes.k`
/// elements.
pub(crate) fn arrays_of_a_dynamic_stack(sizes: Sizes, first: usize) -> (usize, usize) {
    (first, arrays(sizes.k, |g| DynamicStack::<Sim>::most(first, g)))
}

pub(super) fn dynamic_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let width = Width::for_users(sizes.n, 0);
    let (first, arrays) = arrays_of_a_dynamic_stack(sizes, first_array(sizes));
    machine!(sizes, rules, |site| DynamicStack::new(site, first, arrays, UNWRITTEN, width), push, pop)
}

pub(super) fn dynamic_stack_as_printed(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    machine!(sizes, rules, |site| DynamicStackAsPrinted::new(site, sizes), push, pop)
}

pub(crate) fn segments(sizes: Sizes) -> (usize, usize) {
    (FIRST_SEGMENT, arrays(sizes.k, |g| InSegments::<Sim>::most(FIRST_SEGMENT, g)))
}

pub(super) fn segment_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let width = Width::for_users(sizes.n, 0);
    let (first, segments) = segments(sizes);
    let build = |site: &Site<'_, Sim>| {
        let store = InSegments::new(site, first, segments, UNWRITTEN);
        SegmentStack::new(site, store, |site, lights| Rooms::with(site, 2, width, lights))
    };
    machine!(sizes, rules, build, push, pop, by hand)
}

/// A machine whose processes add work, or take some and give back nothing or the same again.
macro_rules! workers {
    ($sizes:ident, $rules:ident, $build:expr) => {
        World::of_programs($sizes.n, $rules, $build, |stack, p| async move {
            let here = p.on(Sim::ROOT);
            let Ok(what) = here.at(0).choose(2).await;
            let mut hand = Vec::new();
            if what == 0 {
                hand.push(p.pid().index() as u64 + 1);
                here.invokes(Wish::Add(hand[0]));
                let Ok(Ok(added)) = stack.give(&p, &mut hand, 1, false).await else { return };
                here.responds(added.map_or(Reply::AllDone, |added| Reply::Added(added == 1)));
                return;
            }
            here.invokes(Wish::Take);
            let Ok(Ok(got)) = stack.take(&p, &mut hand, 1).await else { return };
            if got == 0 {
                here.responds(Reply::AllDone);
                here.invokes(Wish::Ask);
                let Ok(done) = stack.rooms().lights().is_done(&p).await;
                here.responds(if done { Reply::AllDone } else { Reply::Added(true) });
                return;
            }
            here.responds(Reply::Took(hand[0]));
            here.keep(0, &hand);
            let Ok(what) = here.at(0).choose(2).await;
            hand.truncate(what);
            here.invokes(Wish::Return(hand.first().copied()));
            let Ok(Ok(added)) = stack.give(&p, &mut hand, what, true).await else { return };
            here.responds(added.map_or(Reply::AllDone, |added| Reply::Added(added == what)));
        })
    };
}

pub(super) fn work_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let (width, (first, segments)) = (Width::for_users(sizes.n, 0), segments(sizes));
    workers!(sizes, rules, |site: &Site<'_, Sim>| {
        let store = InSegments::new(site, first, segments, UNWRITTEN).that_runs_out();
        WorkStack::new(site, store, |site, lights| Rooms::with(site, 2, width, lights))
    })
}

pub(crate) use {machine, workers};
