//! How much memory semaphores take: idle, and while many tasks wait.

use super::peers;
use crate::bench::Effort;
use serde::Serialize;
use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Waker};

/// How many idle objects there are, and how many tasks wait for one.
const MANY: usize = 100_000;

/// How many bytes a peer takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bytes {
    /// The peer.
    pub peer: &'static str,
    /// The size of the object itself.
    pub object: usize,
    /// By how much the program grows for each object that no task waits for.
    pub idle: f64,
    /// The size of the future of a task that waits.
    pub future: usize,
    /// By how much the program grows for each task that waits, its boxed future included.
    pub waiter: f64,
}

/// The bytes that this program occupies.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).map_or(f64::NAN, |kib| 1024.0 * kib)
}

/// Measures a peer with `many` objects and tasks. What is made goes to `kept`, so that no peer gets
/// memory that another one has left.
fn bytes<R: 'static, F: Future + 'static>(
    peer: &'static str,
    many: usize,
    kept: &mut Vec<Box<dyn Any>>,
    make: impl Fn(usize) -> R,
    wait: impl Fn(&'static R) -> F,
) -> Bytes {
    let before = resident();
    let mut idle = Vec::with_capacity(many);
    idle.extend((0..many).map(|_| make(4)));
    let after = resident();
    let room: &'static R = Box::leak(Box::new(make(1)));
    let mut waiting: Vec<Pin<Box<F>>> = Vec::with_capacity(many);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..=many {
        let mut future = Box::pin(wait(room));
        // The first gets in, and keeps its place in its output, which is forgotten.
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(guard) => std::mem::forget(guard),
            std::task::Poll::Pending => waiting.push(future),
        }
    }
    let each = |grown: f64| grown / many as f64;
    let (idle_bytes, waiter) = (each(after - before), each(resident() - after));
    kept.push(Box::new(idle));
    kept.push(Box::new(waiting));
    Bytes { peer, object: size_of::<R>(), idle: idle_bytes, future: size_of::<F>(), waiter }
}

/// Measures all peers. Must come first: memory that the program has freed would not count.
pub(super) fn all(effort: &Effort) -> Vec<Bytes> {
    let many = if effort.tiny { 1000 } else { MANY };
    let mut kept = Vec::new();
    vec![
        bytes(peers::FAIR, many, &mut kept, peers::slots, |room| room.acquire_async()),
        bytes(peers::UNNUMBERED, many, &mut kept, |k| peers::slots(k).without_numbers(), |room| room.acquire_async()),
        bytes(peers::BYPASS, many, &mut kept, |k| peers::slots(k).bypass(64), |room| room.acquire_async()),
        bytes(peers::TOKIO, many, &mut kept, tokio::sync::Semaphore::new, tokio::sync::Semaphore::acquire),
        bytes(peers::ASYNC_LOCK, many, &mut kept, async_lock::Semaphore::new, async_lock::Semaphore::acquire),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set for the program that measures.
    const ALONE: &str = "DOORWAY_MEASURES_ALONE";

    /// A program of its own measures: memory that other tests have freed would not count.
    #[test]
    fn an_object_takes_its_size_and_a_waiter_at_least_its_future() {
        if std::env::var_os(ALONE).is_none() {
            let name = std::thread::current().name().unwrap().to_string();
            let program = std::env::current_exe().unwrap();
            let run = Command::new(program).args(["--exact", &name]).env(ALONE, "").output().unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        for Bytes { peer, object, idle, future, waiter } in all(&Effort::tiny(1)) {
            // Memory comes in pages.
            assert!(
                idle >= 0.5 * object as f64 - 8.0 && waiter >= 0.5 * future as f64 - 8.0,
                "{peer}: {idle}, {waiter}"
            );
        }
    }
}
