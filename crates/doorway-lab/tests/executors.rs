//! Slots serve tasks of several executors at once, and threads beside them.
#![cfg(target_os = "linux")]

use doorway::Slots;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use tokio::runtime::{Builder, Runtime};

const PLACES: usize = 3;
const PASSAGES: usize = 200;
const TASKS: usize = 8;

struct World {
    slots: Arc<Slots>,
    inside: AtomicUsize,
    passages: AtomicUsize,
}

impl World {
    fn enter(&self) {
        assert!(self.inside.fetch_add(1, SeqCst) < PLACES, "{:?}", self.slots);
    }

    fn exit(&self) {
        self.inside.fetch_sub(1, SeqCst);
        self.passages.fetch_add(1, SeqCst);
    }

    async fn passes(self: Arc<Self>, i: usize) {
        for passage in 0..PASSAGES {
            if (passage + i).is_multiple_of(5) {
                // Polled once, and dropped if that is not enough.
                let mut dropped = pin!(self.slots.acquire_async());
                if let Poll::Ready(guard) = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    drop(guard);
                }
            }
            // An owned guard may be held across an await, and move to another thread in the
            // meantime.
            let guard = self.slots.acquire_owned_async().await.unwrap();
            self.enter();
            tokio::task::yield_now().await;
            self.exit();
            drop(guard);
        }
    }
}

fn run(world: &Arc<World>, runtime: &Runtime) {
    let tasks: Vec<_> = (0..TASKS).map(|i| runtime.spawn(Arc::clone(world).passes(i))).collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn two_executors_and_a_thread_share_slots() {
    let world = Arc::new(World {
        slots: Arc::new(Slots::new(PLACES).unwrap()),
        inside: AtomicUsize::new(0),
        passages: AtomicUsize::new(0),
    });
    thread::scope(|s| {
        s.spawn(|| run(&world, &Builder::new_current_thread().build().unwrap()));
        s.spawn(|| run(&world, &Builder::new_multi_thread().worker_threads(2).build().unwrap()));
        s.spawn(|| {
            for _ in 0..PASSAGES {
                let _guard = world.slots.acquire().unwrap();
                world.enter();
                world.exit();
            }
        });
    });
    assert_eq!(world.passages.load(SeqCst), (2 * TASKS + 1) * PASSAGES);
    assert_eq!(world.slots.available(), PLACES);
}
