//! Faults in rooms, and in what is built on them.

use super::worlds::{self, Answers, Asks, JOINS, UNWRITTEN, arrays_of_a_dynamic_stack, machine};
use crate::mutants::Text;
use crate::mutants::rows::*;
use crate::sim::{Rules, Sim, TextError, World};
use doorway_core::memory::{Memory as _, Site};
use doorway_core::registry::{Info, Listed as _, RoomQueue, RoomStack, Sizes};
use doorway_core::registry::{Rooms as Visited, RoomsChange, RoomsLateJoin, RoomsTry};
use doorway_core::rooms::blelloch_cheng_gibbons_01::entries::width;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{DynamicStack, LateJoin, Rooms, Width};
use doorway_core::rooms::{Changes, Tries, Visits};
use growing::Growth;
use otherwise::{Fault, Otherwise};

mod growing;
mod otherwise;
mod work;

/// Why no memory can seed it.
const COUNTS: &str = "counts, decides or calls differently";

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // rooms
    mutant(row("rooms", "split:2"), TWO_TWO, Some(("never-stuck", 27)), "rooms-reads-then-draws", "2 is two steps: two draw the same ticket"),
    mutant(row("rooms", "bits:wait=1,bits:done=1"), TWO_TWO, Some(("never-stuck", 10)), "rooms-one-bit-less", "counters have one bit less than the users need").giving_up(),
    mutant(row("rooms", "drop:4@p1=1"), TWO_TWO, Some(("never-stuck", 2)), "rooms-looks-at-active-once", "4 dropped by process 1: it watches grant alone, and its room is never opened"),
    mutant(row("rooms", "drop:4=1,drop:5=1"), TWO_TWO, Some(("never-stuck", 2)), "rooms-never-opens-its-own", "4 and 5 dropped: the first room is never opened"),
    mutant(own("rooms", CALLS, |s, r| visits(s, r, Fault::EntersNextDoor)), TWO_TWO, Some(("P1", 8)), "rooms-enters-next-door", "11 says it is in the next room"),
    mutant(own("rooms", CALLS, |s, r| visits(s, r, Fault::JoinsUnasked)), TWO_TWO, Some(("never-stuck", 20)), "rooms-joins-unasked", "4 goes in if its room is active"),
    mutant(row("rooms", "split:14"), TWO_TWO, Some(("never-stuck", 17)), "rooms-reads-then-counts-done", "14 is two steps: two are done and one is counted"),
    mutant(own("rooms", CALLS, |s, r| visits(s, r, Fault::RereadsGrant)), TWO_TWO, Some(("P2", 251)), "rooms-reads-grant-again", "15 reads grant again, as in print"),
    mutant(row("rooms", "defer:19>33"), TWO_TWO, Some(("never-stuck", 26)), "rooms-19-after-20", "19 after 33: makes a room active that no longer is"),
    mutant(row("rooms", "read:18[1]<14#ticket+2"), THREE_TWO, Some(("P5", 22)), "rooms-begins-at-zero", "18 passes over room 1 if it comes first"),
    mutant(row("rooms", "read:18x2#ticket+2"), TWO_TWO, HOLDS, "rooms-leaves-its-own-out", "16 leaves its own room out (control: a user that waits for it opens it itself)"),
    mutant(row("rooms", "drop:24"), TWO_TWO, Some(("never-stuck", 15)), "rooms-never-closes", "24 dropped"),
    mutant(row("rooms", "write:33-1"), TWO_TWO, Some(("never-stuck", 11)), "rooms-lets-in-one", "33 lets in one ticket only"),
    mutant(own("rooms", CALLS, |s, r| visits(s, r, Fault::WaitsToLeave)), TWO_TWO, Some(("bounded-exit", 27)), "rooms-waits-to-leave", "27 waits until the turn is over"),
    mutant(row("rooms", "early:30:wait>31"), TWO_TWO, Some(("never-stuck", 17)), "rooms-31-before-30", "reads wait before grant: counts a ghost that is not let in").giving_up(),
    mutant(row("rooms", "write:33#ghosts=old"), TWO_TWO, Some(("never-stuck", 36)), "rooms-counts-ghosts-twice", "33 leaves the ghosts there").giving_up(),
    mutant(row("rooms", "to:40:done,write:40=1"), TWO_TWO, Some(("never-stuck", 16)), "rooms-ghosts-are-done-at-once", "a user that gives up counts itself done").giving_up(),
    mutant(row("rooms", "drop:41"), TWO_TWO, Some(("never-stuck", 35)), "rooms-never-takes-a-mark-back", "41 dropped").giving_up(),
    mutant(row("rooms", "drop:1"), TWO_TWO, Some(("never-stuck", 35)), "rooms-never-turns-away", "1 dropped: more ghosts than numbers").giving_up(),
    mutant(row("rooms", "drop:5<1=1"), TWO_TWO, HOLDS, "rooms-only-turns-away", "a user that finds too many ghosts never opens the room itself (control: no user waits)").giving_up(),
    mutant(row("rooms", "read:18#ticket+ghosts,read:18#ghosts=0"), TWO_TWO, Some(("refusals-end", 42)), "rooms-leaves-ghosts", "18 skips a room that has only ghosts: newcomers are turned away for ever").giving_up(),
    // rooms-change
    mutant(own("rooms-change", CALLS, |s, r| changes(s, r, Fault::DrawsLate)), TWO_TWO, Some(("change", 20)), "rooms-change-draws-late", "2 after 14: exits, and then enters"),
    mutant(row("rooms-change", "defer:19>33"), TWO_TWO, Some(("never-stuck", 40)), "rooms-change-19-after-20", "19 after 33"),
    mutant(row("rooms-change", "drop:24"), TWO_TWO, Some(("never-stuck", 25)), "rooms-change-never-closes", "24 dropped"),
    mutant(row("rooms-change", "read:18[1]<14#ticket+2"), THREE_TWO, Some(("P5", 34)), "rooms-change-begins-at-zero", "18 passes over room 1 if it comes first").shown_by("dw1/mutant:rooms-change-begins-at-zero/3,2/-/c0/atomic/P5/0s1.0.1s1.1.0.1.2s0.2x4.0.1.2x3.2s0.2x17@4/399b5b10"),
    mutant(row("rooms-change", "read:31=at30,read:31+1"), TWO_TWO, Some(("change", 20)), "rooms-change-lets-in-one", "33 lets in one ticket only"),
    mutant(own("rooms-change", CALLS, |s, r| changes(s, r, Fault::WaitsToLeave)), TWO_TWO, Some(("never-stuck", 19)), "rooms-change-waits-to-leave", "27 waits until the turn is over"),
    mutant(own("rooms-change", CALLS, |s, r| changes(s, r, Fault::EntersNextDoor)), TWO_TWO, Some(("P1", 8)), "rooms-change-enters-next-door", "11 says it is in the next room"),
    mutant(own("rooms-change", CALLS, |s, r| changes(s, r, Fault::JoinsUnasked)), TWO_TWO, Some(("change", 20)), "rooms-change-joins-unasked", "4 goes in if its room is active"),
    mutant(row("rooms-change", "split:2"), TWO_TWO, Some(("P2", 24)), "rooms-change-reads-then-draws", "2 is two steps"),
    mutant(row("rooms-change", "drop:4=1,drop:5=1"), TWO_TWO, Some((STUCK, 2)), "rooms-change-never-opens-its-own", "4 and 5 dropped: the first room is never opened"),
    mutant(row("rooms-change", "read:18#ticket+ghosts,read:18#ghosts=0"), TWO_TWO, Some(("P4", 35)), "rooms-change-leaves-ghosts", "18 skips a room that has only ghosts").giving_up(),
    // rooms-try
    mutant(row("rooms-try", "defer:2>33"), TWO_TWO, Some(("never-stuck", 17)), "rooms-try-draws-late", "an attempt opens the room first, and then draws"),
    mutant(row("rooms-try", "defer:19>33"), TWO_TWO, Some(("never-stuck", 23)), "rooms-try-19-after-20", "19 after 33"),
    mutant(row("rooms-try", "drop:24"), TWO_TWO, Some(("never-stuck", 12)), "rooms-try-never-closes", "24 dropped"),
    mutant(row("rooms-try", "write:33-1"), TWO_TWO, Some(("never-stuck", 8)), "rooms-try-lets-in-one", "33 lets in one ticket only"),
    mutant(own("rooms-try", CALLS, |s, r| tries(s, r, Fault::WaitsToLeave)), TWO_TWO, Some(("bounded-exit", 21)), "rooms-try-waits-to-leave", "27 waits until the turn is over"),
    mutant(own("rooms-try", CALLS, |s, r| tries(s, r, Fault::EntersNextDoor)), TWO_TWO, Some(("P1", 5)), "rooms-try-enters-next-door", "11 says it is in the next room"),
    mutant(row("rooms-try", "read:18[1]<14#ticket+2"), THREE_TWO, Some(("P5", 22)), "rooms-try-begins-at-zero", "18 passes over room 1 if it comes first"),
    mutant(row("rooms-try", "split:2"), TWO_TWO, Some(("P2", 22)), "rooms-try-reads-then-draws", "2 is two steps"),
    mutant(own("rooms-try", CALLS, |s, r| tries(s, r, Fault::JoinsUnasked)), TWO_TWO, Some(("never-stuck", 15)), "rooms-try-joins-unasked", "4 goes in if its room is active"),
    mutant(row("rooms-try", "bits:wait=1,bits:done=1"), TWO_TWO, Some(("never-stuck", 7)), "rooms-try-one-bit-less", "two bits for two users"),
    mutant(row("rooms-try", "drop:4=1,drop:5=1"), TWO_TWO, Some((STUCK, 2)), "rooms-try-never-opens", "5 dropped: the first room is never opened"),
    // rooms-late-join
    mutant(own("rooms-late-join", SIZES, joined_without_a_bound), THREE_TWO, Some(("never-stuck", 43)), "rooms-late-join-without-a-bound", "any number of joins in a turn").shown_by("dw1/mutant:rooms-late-join-without-a-bound/3,2/-/c0/atomic/never-stuck/0s0.0x6.1s0.1x2.2s0.2x4.2s0.0.0s0.0x4.0s0.2x2.2s0.0x4.0s0.2x2.2s0.0x4.0s1.2x2.1x2/76652239"),
    mutant(row("rooms-late-join", "read:3#done+1,expect:35#done-1,write:35#done-1"), TWO_TWO, Some(("P2", 8)), "rooms-late-join-after-the-end", "34 does not look whether the turn is over"),
    mutant(row("rooms-late-join", "split:14"), TWO_TWO, Some(("never-stuck", 14)), "rooms-late-join-looks-then-exits", "14 reads grant before it counts itself done"),
    mutant(row("rooms-late-join", "blind:35"), TWO_TWO, Some(("never-stuck", 22)), "rooms-late-join-blindly", "35 is a write"),
    mutant(row("rooms-late-join", "defer:19>0"), TWO_TWO, Some(("never-stuck", 23)), "rooms-late-join-19-after-20", "19 after 20"),
    mutant(row("rooms-late-join", "drop:24"), TWO_TWO, Some(("never-stuck", 13)), "rooms-late-join-never-closes", "24 dropped"),
    mutant(own("rooms-late-join", CALLS, |s, r| late(s, r, Fault::WaitsToLeave)), TWO_TWO, Some(("bounded-exit", 24)), "rooms-late-join-waits-to-leave", "27 waits until the turn is over"),
    mutant(own("rooms-late-join", CALLS, |s, r| late(s, r, Fault::EntersNextDoor)), TWO_TWO, Some(("P1", 7)), "rooms-late-join-enters-next-door", "11 says it is in the next room"),
    mutant(row("rooms-late-join", "write:6-1,write:20-1"), TWO_TWO, Some(("never-stuck", 9)), "rooms-late-join-lets-in-one", "6 and 20 let in one ticket only"),
    mutant(row("rooms-late-join", "read:18[1]<14+2"), THREE_TWO, Some(("P5", 19)), "rooms-late-join-begins-at-zero", "18 passes over room 1 if it comes first").shown_by("dw1/mutant:rooms-late-join-begins-at-zero/3,2/-/c0/atomic/P5/0s1.1s1.0.1.2s0.2x3.0.1.2x9@2/94d06b53"),
    mutant(row("rooms-late-join", "drop:4=1"), TWO_TWO, Some((STUCK, 1)), "rooms-late-join-never-opens-its-own", "4 and 5 dropped: the first room is never opened"),
    // rooms-strict
    mutant(row("rooms-strict", "blind:root.1x2"), TWO_TWO, Some(("never-stuck", 14)), "rooms-strict-for-each-room", "a vector for each room, as in print: a user inside one room enters another"),
    mutant(row("rooms-strict", "split:root.1,split:root.6"), TWO_TWO, Some(("V", 5)), "rooms-strict-tests-then-sets", "1 and 6 are two steps: two are the same user"),
    mutant(row("rooms-strict", "blind:root.1,blind:root.6"), TWO_TWO, Some(("V", 3)), "rooms-strict-never-looks", "1 and 6 do not look"),
    mutant(row("rooms-strict", "write:root.3=0"), TWO_TWO, Some(("V", 11)), "rooms-strict-forgets-users", "3 says that the user is outside"),
    mutant(row("rooms-strict", "drop:root.4"), TWO_TWO, Some(("refusals-end", 191)), "rooms-strict-never-comes-back", "4 dropped: a user that asked for a room that does not exist is on its way in for ever"),
    mutant(row("rooms-strict", "drop:root.1=3"), TWO_TWO, Some(("P3", 0)), "rooms-strict-turns-all-away", "1 turns every user away"),
    // room-stack
    mutant(own("room-stack", CALLS, |s, r| stack(s, r, Fault::OneRoom)), TWO_TWO, Some(("linearizable", 15)), "room-stack-in-one-room", "pushes and pops in one room, as in Figure 1(a)"),
    mutant(own("room-stack", CALLS, |s, r| stack(s, r, Fault::JoinsUnasked)), TWO_TWO, Some(("never-stuck", 24)), "room-stack-joins-unasked", "goes in if its room is active"),
    mutant(row("room-stack", "defer:19>33"), TWO_TWO, Some(("never-stuck", 30)), "room-stack-19-after-20", "19 of the rooms after 33"),
    // room-queue
    mutant(own("room-queue", CALLS, |s, r| queue(s, r, Fault::OneRoom)), TWO_TWO, Some(("linearizable", 16)), "room-queue-in-one-room", "enqueues and dequeues in one room"),
    mutant(own("room-queue", CALLS, |s, r| queue(s, r, Fault::JoinsUnasked)), TWO_TWO, Some(("never-stuck", 26)), "room-queue-joins-unasked", "goes in if its room is active"),
    mutant(row("room-queue", "defer:19>33"), TWO_TWO, Some(("never-stuck", 32)), "room-queue-19-after-20", "19 of the rooms after 33"),
    mutant(row("room-queue", "drop:24"), TWO_TWO, Some(("never-stuck", 18)), "room-queue-never-closes", "24 of the rooms dropped"),
    // room-dynamic-stack
    mutant(own("room-dynamic-stack", SIZES, begins_too_small), (2, 4, None), Some(("retries", 43)), "room-dynamic-stack-begins-too-small", "more users than the first array has slots: new space is full at once, and a stale element comes up after the next doubling"),
    mutant(row("room-dynamic-stack", "drop:root.4,drop:root.5"), (1, 8, Some(9)), Some(("linearizable", 198)), "room-dynamic-stack-never-copies", "4 and 5 dropped: what was in the first array is not in the third"),
    mutant(row("room-dynamic-stack", "read:root.8=0>1"), (2, 4, None), Some(("linearizable", 14)), "room-dynamic-stack-takes-from-empty", "8 finds nothing only below 0, as in print"),
    mutant(row("room-dynamic-stack", "to:root.11:array1"), (2, 4, None), Some(("linearizable", 31)), "room-dynamic-stack-loses-the-middle", "11 looks in the second array, where the lower half never was"),
    mutant(own("room-dynamic-stack", COUNTS, |s, r| growing::world(s, r, Growth::Copying, growing::Fault::NeverAsks)), (2, 4, None), Some(("retries", 50)), "room-dynamic-stack-never-asks", "2 dropped: no user is told that there is no space"),
    mutant(row("room-dynamic-stack", "drop:14<2"), (2, 4, None), Some(("never-stuck", 48)), "room-dynamic-stack-enters-again", "a push that retries does not count itself done"),
    mutant(own("room-dynamic-stack", COUNTS, |s, r| growing::world(s, r, Growth::Copying, growing::Fault::ExitsToRetry)), (2, 8, Some(4)), Some(("retries", 79)), "room-dynamic-stack-exits-to-retry", "a push that retries exits and enters, as in print: others fill the new space first"),
    // room-segment-stack
    mutant(row("room-segment-stack", "to:root.8:[+1]"), (2, 3, None), Some(("linearizable", 57)), "room-segment-stack-looks-too-high", "8 looks one slot further up"),
    mutant(row("room-segment-stack", "read:root.5=0>1"), (2, 3, None), Some(("linearizable", 13)), "room-segment-stack-takes-from-empty", "5 finds nothing only below 0"),
    mutant(own("room-segment-stack", COUNTS, |s, r| growing::world(s, r, Growth::Segments, growing::Fault::NeverGrows)), (2, 3, None), Some(("retries", 37)), "room-segment-stack-never-grows", "14 dropped: there is never another segment"),
    mutant(row("room-segment-stack", "drop:14<2"), (2, 3, None), Some(("never-stuck", 40)), "room-segment-stack-enters-again", "a push that retries does not count itself done"),
    mutant(row("room-segment-stack", "drop:root.3"), (2, 3, None), Some(("linearizable", 41)), "room-segment-stack-never-takes-back", "3 dropped: what found no space is counted"),
    mutant(own("room-segment-stack", COUNTS, |s, r| growing::world(s, r, Growth::Segments, growing::Fault::ExitsToRetry)), (2, 3, None), HOLDS, "room-segment-stack-exits-to-retry", "a push that retries exits and enters (control: there is a doubling for each retry)"),
    mutant(own("room-segment-stack", COUNTS, |s, r| growing::world(s, r, Growth::Segments, growing::Fault::AsksForEver)), (2, 3, None), Some(("retries", 81)), "room-segment-stack-asks-for-ever", "there is no memory for another segment, and a push that asked in vain asks again"),
    // room-work-stack
    mutant(own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::CountsLate)), (2, 1, None), Some(("linearizable", 33)), "room-work-stack-counts-late", "21 after the exit: all is done while a worker has loot"),
    mutant(row("room-work-stack", "drop:21,drop:26"), (2, 1, None), Some(("W2", 28)), "room-work-stack-never-counts", "21 and 26 dropped"),
    mutant(own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::ReturnsEarly)), (2, 1, None), Some(("linearizable", 54)), "room-work-stack-returns-early", "26 before it enters: all is done while it brings work"),
    mutant(own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::DecidesInside)), (2, 1, None), Some(("W1", 42)), "room-work-stack-decides-inside", "23 says that all is done if it finds nothing, and no worker has counted loot"),
    mutant(own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::OnlyAfterPushes)), (2, 1, None), Some(("never-stuck", 20)), "room-work-stack-only-after-pushes", "32 only after turns of the push room: a worker that looks at an empty stack waits for ever"),
    mutant(own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::OnlyAfterPops)), (2, 1, None), Some(("never-stuck", 64)), "room-work-stack-only-after-pops", "32 only after turns of the pop room: no worker is told that the last loot came back empty"),
    mutant(row("room-work-stack", "drop:34"), (2, 1, None), Some(("never-stuck", 68)), "room-work-stack-never-tells", "34 dropped: a waiting worker is not told of new work"),
    mutant(row("room-work-stack", "drop:root.22"), (2, 1, None), Some(("linearizable", 34)), "room-work-stack-denies-it", "22 dropped: a worker that comes in when all is done says that there is nothing"),
    mutant(row("room-work-stack", "drop:root.25"), (2, 1, None), Some(("W1", 27)), "room-work-stack-never-looks", "25 dropped: work is added when all is done"),
    mutant(row("room-work-stack", "drop:root.33=1"), (2, 1, None), HOLDS, "room-work-stack-tells-always", "34 also where it was said before (control: it is the same news)"),
];

pub(crate) const WITHOUT_FAULT: &[Text] = &[
    own("rooms", CALLS, |s, r| visits(s, r, Fault::None)),
    own("room-dynamic-stack", COUNTS, |s, r| growing::world(s, r, Growth::Copying, growing::Fault::None)),
    own("room-segment-stack", COUNTS, |s, r| growing::world(s, r, Growth::Segments, growing::Fault::None)),
    own("room-work-stack", COUNTS, |s, r| work::world(s, r, work::Fault::None)),
];

fn rooms(info: &Info, m: usize, sizes: Sizes, fault: Fault) -> impl Fn(&Site<'_, Sim>) -> Otherwise<Rooms<Sim>> {
    let width = width(info, sizes);
    move |site| Otherwise::new(site, Rooms::with(site, m, width, ()), width, fault)
}

fn visits(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    let rooms = rooms(&Visited::INFO, sizes.k, sizes, fault);
    if rules.give_ups {
        World::of_abortable(sizes.n, rules, |site| Visits::new(site, rooms))
    } else {
        World::new(sizes.n, rules, |site| Visits::new(site, rooms))
    }
}

fn changes(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    let rooms = rooms(&RoomsChange::INFO, sizes.k, sizes, fault);
    World::new(sizes.n, rules, |site| Changes::new(site, rooms))
}

fn tries(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    let rooms = rooms(&RoomsTry::INFO, sizes.k, sizes, fault);
    World::new(sizes.n, rules, |site| Tries::new(site, rooms))
}

fn late(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    let width = width(&RoomsLateJoin::INFO, sizes);
    World::new(sizes.n, rules, |site| {
        Visits::new(site, |site| Otherwise::new(site, LateJoin::with(site, sizes.k, width, JOINS, ()), width, fault))
    })
}

fn joined_without_a_bound(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let width = width(&RoomsLateJoin::INFO, sizes);
    World::new(sizes.n, rules, |site| Visits::new(site, |site| LateJoin::unbounded(site, sizes.k, width)))
}

fn stack(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    worlds::stack(sizes, rules, rooms(&RoomStack::INFO, 2, sizes, fault))
}

fn queue(sizes: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    worlds::queue(sizes, rules, rooms(&RoomQueue::INFO, 2, sizes, fault))
}

/// More users than the first array has slots.
fn begins_too_small(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
    let (width, (first, arrays)) = (Width::for_users(sizes.n, 0), arrays_of_a_dynamic_stack(sizes, 1));
    machine!(sizes, rules, |site| DynamicStack::new(site, first, arrays, UNWRITTEN, width), push, pop)
}
