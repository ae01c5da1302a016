//! Marks the reachable objects of a heap by several threads, with the work stack of a parallel
//! collector. Room synchronizations were invented for this.
//!
//! `cargo run --release --example rooms_collector -- [objects] [threads]`

use doorway::rooms::WorkStack;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// How many objects a thread takes at a time.
const BATCH: usize = 256;

struct Object {
    marked: AtomicBool,
    fields: Vec<usize>,
}

/// Objects that refer to each other at random. About one in eight is unreachable.
fn heap(objects: usize) -> Vec<Object> {
    let mut chance = 0x9E37_79B9_7F4A_7C15u64;
    let mut roll = |n: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        (chance >> 20) as usize % n
    };
    let mut object =
        |_| Object { marked: AtomicBool::new(false), fields: (0..roll(5)).map(|_| roll(objects)).collect() };
    (0..objects).map(&mut object).collect()
}

/// Marks what can be reached from the roots. Returns the number of objects.
fn mark(heap: &[Object], roots: &[usize], threads: usize) -> usize {
    let grey = |object: &usize| !heap[*object].marked.swap(true, Relaxed);
    let work = WorkStack::of(roots.iter().copied().filter(grey).collect());
    let marked = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                let mut objects = Vec::with_capacity(BATCH);
                let mut next = work.take(BATCH);
                while let Some(mut loot) = next {
                    objects.append(&mut loot);
                    marked.fetch_add(objects.len(), Relaxed);
                    for object in objects.drain(..) {
                        loot.extend(heap[object].fields.iter().copied().filter(grey));
                    }
                    next = loot.next(BATCH); // gives back what it found, and takes some more
                }
            });
        }
    });
    marked.into_inner()
}

/// The same with one thread, as one would usually write it.
fn reachable(heap: &[Object], roots: &[usize]) -> usize {
    let mut seen = vec![false; heap.len()];
    let mut left = roots.to_vec();
    while let Some(object) = left.pop() {
        if !std::mem::replace(&mut seen[object], true) {
            left.extend(&heap[object].fields);
        }
    }
    seen.into_iter().filter(|&seen| seen).count()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map_while(|argument| argument.parse().ok());
    let (objects, threads) = (arguments.next().unwrap_or(200_000), arguments.next().unwrap_or(2));
    let heap = heap(objects.max(1));
    let roots: Vec<usize> = (0..16.min(heap.len())).collect();
    let begin = Instant::now();
    let marked = mark(&heap, &roots, threads.max(1));
    println!("{marked} of {} objects are reachable; {threads} threads took {:?}", heap.len(), begin.elapsed());
    assert_eq!(marked, reachable(&heap, &roots), "each object was marked once");
}
