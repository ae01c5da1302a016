//! Values that own memory, moved through everything that is made of rooms, with some left inside.
//! `ci/valgrind.sh` runs this to check that all memory is freed. With `forget`, some is not.

use doorway::Rooms;
use doorway::rooms::{GrowingStack, Queue, Stack, WorkStack};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

fn values(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("a value that lies on the heap, number {i}")).collect()
}

fn main() {
    let (queue, stack) = (Queue::new(32).expect("it is small"), Stack::new(20).expect("it is small"));
    let growing = GrowingStack::with_capacity(1).expect("it is small");
    let work = WorkStack::of(values(10));
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for i in 0..60 {
                    queue.push_all(&mut values(i % 7));
                    drop(queue.push("one more".to_owned()));
                    drop(queue.pop_many(i % 5));
                    stack.push_all(&mut values(i % 7));
                    drop(stack.pop());
                    growing.push_all(&mut values(i % 9)).expect("there is memory");
                    drop(growing.pop_many(i % 4));
                }
                let mut left = 40;
                while let Some(mut loot) = work.take(3) {
                    loot.pop();
                    if left > 0 {
                        loot.extend(values(2));
                        left -= 1;
                    }
                }
            });
        }
    });
    drop(WorkStack::of(values(5)).take(2).map(|mut loot| loot.pop())); // the others are left inside
    println!("left inside: {} in the queue, {} and {} in the stacks", queue.len(), stack.len(), growing.len());

    // Futures that are dropped while they wait.
    let rooms = Rooms::new(2).expect("there are two").on_last_exit(|_| ());
    let inside = rooms.enter(0).expect("nobody else is there");
    for _ in 0..10 {
        let mut waits = pin!(rooms.enter_async(1));
        assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    drop(inside);

    if std::env::args().any(|argument| argument == "forget") {
        std::mem::forget(queue);
    }
}
