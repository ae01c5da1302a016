//! Machines that run the objects of the registry: every choice that their users have is tried.

use crate::claims::structures::{Answers, Asks};
use crate::claims::work::{Reply, Wish};
use crate::mutants::growing::{Fault, Growth, Stack};
use crate::mutants::work;
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::memory::{Memory, Site};
use doorway_core::registry::{Sizes, objects};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{
    AsPrinted, Count, DynamicStack, InSegments, InWords, LateJoin, RoomQueue, RoomStack, Rooms, SegmentStack, Strict,
    Width, WorkStack, bits_of_a_queue,
};
use doorway_core::rooms::{Changes, Lit, Misuses, RoomSynchronization, Tries, Visits};

/// How often latecomers may join a room in each turn, where that is checked.
pub(crate) const JOINS: u64 = 1;

/// A machine that runs the object called `id`; `None` if there is none.
pub(crate) fn world(id: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let (Sizes { n, k: m }, width) = (sizes, objects::width(id, sizes));
    let rooms = move |site: &Site<'_, Sim>| Rooms::with(site, m, width, ());
    let world = match id {
        "universal-in-use" if rules.give_ups => Err(TextError::CannotGiveUp),
        "universal-in-use" => crate::in_use::shipped(sizes, rules),
        "sticky-names" if rules.give_ups => Err(TextError::CannotGiveUp),
        "sticky-names" => crate::sticky::shipped(sizes, rules),
        "rooms" if rules.give_ups => World::of_abortable(n, rules, |site| Visits::new(site, rooms)),
        "rooms-change" if rules.give_ups => World::of_abortable(n, rules, |site| Changes::new(site, rooms)),
        "rooms" => World::new(n, rules, |site| Visits::new(site, rooms)),
        "rooms-change" => World::new(n, rules, |site| Changes::new(site, rooms)),
        _ if rules.give_ups => Err(TextError::CannotGiveUp),
        "rooms-try" => World::new(n, rules, |site| Tries::new(site, rooms)),
        "rooms-strict" => World::new(n, rules, |site| Misuses::new(site, |site| Strict::new(site, n, rooms))),
        "rooms-late-join" => {
            World::new(n, rules, |site| Visits::new(site, |site| LateJoin::with(site, m, width, JOINS, ())))
        }
        "rooms-as-printed" => World::new(n, rules, |site| Visits::new(site, |site| AsPrinted::new(site, m, width))),
        _ => return structure(id, sizes, rules),
    };
    Some(world)
}

/// What a slot holds before it is written: nobody puts that.
const UNWRITTEN: u64 = 9;

/// How many slots the first segment of a stack of segments has: any number will do.
pub(crate) const FIRST_SEGMENT: usize = 1;

/// How many elements the first array of a stack that grows has: not fewer than there are users.
pub(crate) fn first_array(sizes: Sizes) -> usize {
    sizes.n.max(2)
}

/// How many arrays a stack that grows has at the most.
const MOST_ARRAYS: usize = 4;

/// How many arrays hold at least so many elements.
pub(crate) fn arrays(slots: usize, most: impl Fn(usize) -> usize) -> usize {
    (1..=MOST_ARRAYS).find(|&arrays| most(arrays) >= slots).unwrap_or(MOST_ARRAYS)
}

/// How many slots the object called `id` has at the most for `n` users, if it grows and there is a
/// limit.
pub(crate) fn most_slots(id: &str, n: usize) -> Option<usize> {
    match id {
        "room-dynamic-stack" | "room-dynamic-stack-as-printed" => {
            Some(DynamicStack::<Sim>::most(first_array(Sizes { n, k: 1 }), MOST_ARRAYS))
        }
        "room-segment-stack" | "room-work-stack" => Some(InSegments::<Sim>::most(FIRST_SEGMENT, MOST_ARRAYS)),
        _ => None,
    }
}

fn structure(id: &str, sizes: Sizes, rules: Rules) -> Option<Result<World, TextError>> {
    let width = objects::width(id, sizes);
    let rooms = |site: &Site<'_, Sim>| Rooms::with(site, 2, width, ());
    Some(match id {
        "room-stack" => stack(sizes, rules, rooms),
        "room-queue" => queue(sizes, rules, rooms),
        "room-dynamic-stack" => dynamic_stack(sizes, rules, false),
        "room-dynamic-stack-as-printed" => dynamic_stack(sizes, rules, true),
        "room-segment-stack" => segment_stack(sizes, rules),
        "room-work-stack" => work_stack(sizes, rules),
        _ => return None,
    })
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

/// The first array of a stack that copies, how many there are where space is for `sizes.k` elements.
fn arrays_of_a_dynamic_stack(sizes: Sizes, first: usize) -> (usize, usize) {
    (first, arrays(sizes.k, |g| DynamicStack::<Sim>::most(first, g)))
}

fn dynamic_stack(sizes: Sizes, rules: Rules, as_printed: bool) -> Result<World, TextError> {
    let width = Width::for_users(sizes.n, 0);
    let (first, arrays) = arrays_of_a_dynamic_stack(sizes, first_array(sizes));
    let new = if as_printed { DynamicStack::as_printed } else { DynamicStack::new };
    machine!(sizes, rules, |site| new(site, first, arrays, UNWRITTEN, width), push, pop)
}

fn segments(sizes: Sizes) -> (usize, usize) {
    (FIRST_SEGMENT, arrays(sizes.k, |g| InSegments::<Sim>::most(FIRST_SEGMENT, g)))
}

fn segment_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
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

fn work_stack(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let (width, (first, segments)) = (Width::for_users(sizes.n, 0), segments(sizes));
    workers!(sizes, rules, |site: &Site<'_, Sim>| {
        let store = InSegments::new(site, first, segments, UNWRITTEN).that_runs_out();
        WorkStack::new(site, store, |site, lights| Rooms::with(site, 2, width, lights))
    })
}

/// The same with a fault.
pub(crate) fn faulty_work_stack(sizes: Sizes, rules: Rules, fault: work::Fault) -> Result<World, TextError> {
    let (width, (first, segments)) = (Width::for_users(sizes.n, 0), segments(sizes));
    workers!(sizes, rules, |site: &Site<'_, Sim>| {
        let store = InSegments::new(site, first, segments, UNWRITTEN).that_runs_out();
        work::WorkStack::new(site, store, width, fault)
    })
}

/// Either of them with a fault.
pub(crate) fn growing_stack(sizes: Sizes, rules: Rules, growth: Growth, fault: Fault) -> Result<World, TextError> {
    let width = Width::for_users(sizes.n, 0);
    let arrays = match growth {
        Growth::Copying if fault == Fault::BeginsTooSmall => arrays_of_a_dynamic_stack(sizes, 1),
        Growth::Copying => arrays_of_a_dynamic_stack(sizes, first_array(sizes)),
        Growth::Segments => segments(sizes),
    };
    machine!(sizes, rules, |site| Stack::new(site, growth, arrays, UNWRITTEN, width, fault), push, pop)
}
