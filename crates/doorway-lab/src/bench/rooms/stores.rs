//! Where work lies: rooms, and the alternatives.

use super::collector::BATCH;
use crossbeam_deque::{Injector, Steal};
use crossbeam_queue::{ArrayQueue, SegQueue};
use crossbeam_utils::{Backoff, CachePadded};
use doorway::rooms::WorkStack;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// A node of the experiment: the number of generations to come.
pub(super) type Node = u32;

/// Where nodes lie until a thread takes them.
pub(super) trait Store: Sync {
    /// Starts with these nodes. `peak` is the largest number of nodes at a time, for stores that
    /// are last in, first out, and for others.
    fn new(roots: Vec<Node>, peak: Peak) -> Self
    where
        Self: Sized;

    /// Takes a batch, has it processed, and gives back the result, until all is done.
    fn work(&self, process: &mut dyn FnMut(&mut Vec<Node>));
}

/// How much room is needed.
#[derive(Clone, Copy)]
pub(super) struct Peak {
    pub(super) last_in_first_out: usize,
    pub(super) all_at_once: usize,
}

pub(super) struct Rooms(WorkStack<Node>);

impl Store for Rooms {
    fn new(roots: Vec<Node>, _: Peak) -> Self {
        Self(WorkStack::of(roots))
    }

    fn work(&self, process: &mut dyn FnMut(&mut Vec<Node>)) {
        let mut next = self.0.take_into(BATCH, Vec::with_capacity(2 * BATCH));
        while let Some(mut loot) = next {
            process(&mut loot);
            next = loot.next(BATCH);
        }
    }
}

/// A vector behind a lock, and how many threads hold some of its nodes.
#[derive(Default)]
pub(super) struct Locked {
    nodes: Vec<Node>,
    borrowed: usize,
}

impl Locked {
    /// `false` if all is done.
    fn take(&mut self, batch: &mut Vec<Node>) -> bool {
        let from = self.nodes.len().saturating_sub(BATCH);
        batch.extend(self.nodes.drain(from..));
        self.borrowed += usize::from(!batch.is_empty());
        !batch.is_empty() || self.borrowed > 0
    }

    fn give(&mut self, batch: &mut Vec<Node>) {
        self.nodes.append(batch);
        self.borrowed -= 1;
    }
}

/// Gives the vector to one thread at a time.
pub(super) trait Lock: Sync {
    fn of(nodes: Vec<Node>) -> Self;
    fn with<R>(&self, act: impl FnOnce(&mut Locked) -> R) -> R;
}

pub(super) struct Std(std::sync::Mutex<Locked>);

impl Lock for Std {
    fn of(nodes: Vec<Node>) -> Self {
        Self(std::sync::Mutex::new(Locked { nodes, borrowed: 0 }))
    }
    fn with<R>(&self, act: impl FnOnce(&mut Locked) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) struct ParkingLot(parking_lot::Mutex<Locked>);

impl Lock for ParkingLot {
    fn of(nodes: Vec<Node>) -> Self {
        Self(parking_lot::Mutex::new(Locked { nodes, borrowed: 0 }))
    }
    fn with<R>(&self, act: impl FnOnce(&mut Locked) -> R) -> R {
        act(&mut self.0.lock())
    }
}

pub(super) struct UnderLock<L>(CachePadded<L>);

impl<L: Lock> Store for UnderLock<L> {
    fn new(roots: Vec<Node>, _: Peak) -> Self {
        Self(CachePadded::new(L::of(roots)))
    }

    fn work(&self, process: &mut dyn FnMut(&mut Vec<Node>)) {
        let mut batch = Vec::with_capacity(2 * BATCH);
        let backoff = Backoff::new();
        while self.0.with(|locked| locked.take(&mut batch)) {
            if batch.is_empty() {
                backoff.snooze();
                continue;
            }
            backoff.reset();
            process(&mut batch);
            self.0.with(|locked| locked.give(&mut batch));
        }
    }
}

/// Takes one node at a time, and does not know how many are left.
pub(super) trait OneByOne: Sync {
    fn room_for(peak: Peak) -> Self;
    fn push(&self, node: Node);
    fn pop(&self) -> Option<Node>;
}

pub(super) struct Counted<Q> {
    nodes: Q,
    /// Nodes that are not done, wherever they are.
    left: CachePadded<AtomicUsize>,
}

impl<Q: OneByOne> Store for Counted<Q> {
    fn new(roots: Vec<Node>, peak: Peak) -> Self {
        let (nodes, left) = (Q::room_for(peak), CachePadded::new(AtomicUsize::new(roots.len())));
        roots.into_iter().for_each(|node| nodes.push(node));
        Self { nodes, left }
    }

    fn work(&self, process: &mut dyn FnMut(&mut Vec<Node>)) {
        let mut batch = Vec::with_capacity(2 * BATCH);
        let backoff = Backoff::new();
        loop {
            batch.extend(std::iter::from_fn(|| self.nodes.pop()).take(BATCH));
            let taken = batch.len();
            if taken == 0 {
                if self.left.load(SeqCst) == 0 {
                    return;
                }
                backoff.snooze();
                continue;
            }
            backoff.reset();
            process(&mut batch);
            let made = batch.len();
            // Counts up before nodes can be found, and down after. So the count is never too small,
            // and a thread that finds no node and sees none left is right.
            self.left.fetch_add(made.saturating_sub(taken), SeqCst);
            batch.drain(..).for_each(|node| self.nodes.push(node));
            self.left.fetch_sub(taken.saturating_sub(made), SeqCst);
        }
    }
}

impl OneByOne for SegQueue<Node> {
    fn room_for(_: Peak) -> Self {
        Self::new()
    }
    fn push(&self, node: Node) {
        self.push(node);
    }
    fn pop(&self) -> Option<Node> {
        self.pop()
    }
}

impl OneByOne for ArrayQueue<Node> {
    fn room_for(peak: Peak) -> Self {
        Self::new(peak.all_at_once)
    }
    fn push(&self, node: Node) {
        self.push(node).expect("there is room for all nodes that there can be at a time");
    }
    fn pop(&self) -> Option<Node> {
        self.pop()
    }
}

impl OneByOne for Injector<Node> {
    fn room_for(_: Peak) -> Self {
        Self::new()
    }
    fn push(&self, node: Node) {
        self.push(node);
    }
    fn pop(&self) -> Option<Node> {
        loop {
            match self.steal() {
                Steal::Success(node) => return Some(node),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }
}

/// Treiber's stack: a list whose head changes by compare-and-swap. Cells are numbered. A count of
/// changes beside the head's number distinguishes a cell that has come back from one that never
/// left.
pub(super) struct Treiber {
    cells: Box<[Cell]>,
    top: Head,
    free: Head,
}

struct Cell {
    next: AtomicU32,
    node: AtomicU32,
}

const NONE: u32 = u32::MAX;

struct Head(CachePadded<AtomicU64>);

impl Head {
    fn new(first: u32) -> Self {
        Self(CachePadded::new(AtomicU64::new(u64::from(first))))
    }

    fn put(&self, cells: &[Cell], cell: u32) {
        let next = |head: u64| {
            cells[cell as usize].next.store(head as u32, SeqCst);
            Some(((head >> 32) + 1) << 32 | u64::from(cell))
        };
        self.0.fetch_update(SeqCst, SeqCst, next).expect("it always goes on");
    }

    fn take(&self, cells: &[Cell]) -> Option<u32> {
        let next = |head: u64| {
            let cell = cells.get(head as u32 as usize)?;
            Some(((head >> 32) + 1) << 32 | u64::from(cell.next.load(SeqCst)))
        };
        self.0.fetch_update(SeqCst, SeqCst, next).ok().map(|head| head as u32)
    }
}

impl OneByOne for Treiber {
    fn room_for(peak: Peak) -> Self {
        let count =
            u32::try_from(peak.last_in_first_out).ok().filter(|&count| count < NONE).expect("there are fewer cells");
        let cell = |i| Cell { next: AtomicU32::new(if i + 1 < count { i + 1 } else { NONE }), node: AtomicU32::new(0) };
        Self { cells: (0..count).map(cell).collect(), top: Head::new(NONE), free: Head::new(0) }
    }

    fn push(&self, node: Node) {
        let cell = self.free.take(&self.cells).expect("there is room for what lies in a stack at a time");
        self.cells[cell as usize].node.store(node, SeqCst);
        self.top.put(&self.cells, cell);
    }

    fn pop(&self) -> Option<Node> {
        let cell = self.top.take(&self.cells)?;
        let node = self.cells[cell as usize].node.load(SeqCst);
        self.free.put(&self.cells, cell);
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treibers_stack_is_one() {
        let stack = Treiber::room_for(Peak { last_in_first_out: 3, all_at_once: 0 });
        for round in 0..5 {
            (0..3).for_each(|node| stack.push(round * 10 + node));
            let popped: Vec<_> = std::iter::from_fn(|| stack.pop()).collect();
            assert_eq!(popped, [2, 1, 0].map(|node| round * 10 + node));
        }
    }
}
