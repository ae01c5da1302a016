//! How many instructions a passage takes if tasks wait. They run on one thread, and `valgrind`
//! counts.
//!
//! ```text
//! cargo build --release -p doorway-lab --example tasks_instructions
//! for what in doorway unnumbered tokio nothing; do
//!     for n in 20 70; do
//!         valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!             target/release/examples/tasks_instructions $what 4 200 $n keep
//!     done
//! done
//! ```
//!
//! The arguments are the semaphore, its places, how many tasks there are, how often each gets in,
//! and `keep` or `cancel`: whether a fifth of the attempts are given up. The difference of the two
//! runs of a kind, divided by 200 * 50, is what one passage takes. With `nothing` there is no
//! semaphore: that is the workload and the executor, with two polls for each passage and not three.

#![cfg_attr(not(target_os = "linux"), allow(unused))] // where the lab is, and what it compares with

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// Gives up if it is not ready after this many polls.
async fn unless_cut<F: Future>(future: F, mut times: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if times == 0 => Poll::Ready(None),
        Poll::Pending => {
            times -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// All tasks: a macro, because guards of different semaphores borrow them in different ways.
macro_rules! run {
    ($room:expr, $tasks:expr, $times:expr, $cancels:expr, |$of:ident| $enter:expr) => {{
        let (room, times, cancels) = (Arc::new($room), $times, $cancels);
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(async {
            let task = |index: usize| {
                let room = Arc::clone(&room);
                tokio::spawn(async move {
                    let $of = &*room;
                    let (mut passages, mut turn) = (0, index);
                    while passages < times {
                        turn += 1;
                        let guard = match turn % 10 {
                            3 if cancels => unless_cut($enter, 0).await,
                            8 if cancels => unless_cut($enter, 1).await,
                            _ => Some($enter.await),
                        };
                        let Some(guard) = guard else { continue };
                        tokio::task::yield_now().await;
                        drop(guard);
                        passages += 1;
                        tokio::task::yield_now().await;
                    }
                })
            };
            let all: Vec<_> = (0..$tasks).map(task).collect();
            for task in all {
                task.await.expect("no task panics");
            }
        });
    }};
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, k, tasks, times, cancels] = arguments.as_slice() else {
        return Err("ask for doorway, unnumbered, tokio or nothing; places; tasks; times; keep or cancel".into());
    };
    let (k, tasks, times, cancels): (usize, usize, u64, _) =
        (k.parse()?, tasks.parse()?, times.parse()?, cancels == "cancel");
    match what.as_str() {
        "doorway" => run!(doorway::Slots::new(k)?, tasks, times, cancels, |slots| slots.acquire_async()),
        "unnumbered" => {
            run!(doorway::Slots::new(k)?.without_numbers(), tasks, times, cancels, |slots| slots.acquire_async());
        }
        "tokio" => run!(tokio::sync::Semaphore::new(k), tasks, times, cancels, |permits| permits.acquire()),
        "nothing" => run!((), tasks, times, cancels, |_nothing| async { String::new() }),
        _ => return Err("ask for doorway, unnumbered, tokio or nothing".into()),
    }
    Ok(())
}
