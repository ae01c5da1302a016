//! How many instructions an operation takes on structures that are built from rooms, for a lone
//! thread.
//!
//! The difference between two runs is the cost of the additional operations, and is the same every
//! time:
//!
//! ```sh
//! cargo build --release -p doorway --example rooms_instructions
//! count() { # of one run
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/rooms_instructions "$@" 2>&1 |
//!         sed -n 's/.*Collected : //p'
//! }
//! for what in rooms queue queue64 stack stack64 growing growing64 work64; do
//!     echo "$what: $((($(count $what 3000) - $(count $what 2000)) / 1000))"
//! done
//! ```
//!
//! Figures of rustc 1.95 on x86-64, for one visit, or for a push and a pop. The second row is from
//! an earlier version, whose stacks and queues were written by hand on atomics, before they ran the
//! texts of `doorway-core`:
//!
//! | | rooms | queue | queue64 | stack | stack64 | growing | growing64 | work64 |
//! |---|---|---|---|---|---|---|---|---|
//! | the texts | 286 | 583 | 795 | 570 | 785 | 661 | 867 | 1022 |
//! | by hand | 285 | 656 | 815 | 595 | 803 | 778 | 962 | 1113 |

use doorway::Rooms;
use doorway::rooms::{GrowingStack, Queue, Stack, WorkStack};
use std::hint::black_box;

const BATCH: usize = 64;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let times: usize = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1000);
    let (queue, stack) = (Queue::new(128).expect("it is small"), Stack::new(128).expect("it is small"));
    let growing = GrowingStack::with_capacity(128).expect("it is small");
    let mut batch: Vec<u64> = (0..BATCH as u64).collect();
    let mut taken = Vec::with_capacity(BATCH);
    match &*what {
        "rooms" => {
            let rooms = Rooms::new(2).expect("there are two");
            (0..times).for_each(|i| drop(rooms.enter(i % 2)));
        }
        "queue" => (0..times).for_each(|i| {
            queue.push(black_box(i as u64)).expect("there is room");
            black_box(queue.pop());
        }),
        "stack" => (0..times).for_each(|i| {
            stack.push(black_box(i as u64)).expect("there is room");
            black_box(stack.pop());
        }),
        "growing" => (0..times).for_each(|i| {
            growing.push(black_box(i as u64)).expect("there is room");
            black_box(growing.pop());
        }),
        "queue64" => (0..times).for_each(|_| {
            queue.push_all(&mut batch);
            queue.pop_into(&mut taken, BATCH);
            std::mem::swap(&mut batch, &mut taken);
        }),
        "stack64" => (0..times).for_each(|_| {
            stack.push_all(&mut batch);
            stack.pop_into(&mut taken, BATCH);
            std::mem::swap(&mut batch, &mut taken);
        }),
        "growing64" => (0..times).for_each(|_| {
            growing.push_all(&mut batch).expect("there is room");
            growing.pop_into(&mut taken, BATCH);
            std::mem::swap(&mut batch, &mut taken);
        }),
        "work64" => {
            let work = WorkStack::of(batch);
            let mut loot = work.take(BATCH);
            for _ in 0..times {
                loot = loot.and_then(|loot| loot.next(BATCH));
            }
            assert_eq!(loot.map(|loot| loot.len()), Some(BATCH));
        }
        other => panic!("{other:?} is none of rooms, queue, stack, growing, queue64, stack64, growing64, work64"),
    }
}
