//! `doorway tour`: check an algorithm, catch a mutant, run natively.

use crate::output::{print, thousands};
use crate::{Exit, check};
use doorway::AmFast;
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Report, subject};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

pub(crate) fn run() -> Result<Exit, String> {
    print(
        "doorway: at most k get in, and up to k-1 of them may die where they stand.\n\n\
         1. An algorithm, checked. This is the text that ships, run in a simulated memory\n\
         \x20  in every order its steps can happen in.\n\n\
         $ doorway check am-chain\n",
    )?;
    let sound = explore("am-chain")?;
    print(
        "\n2. The same checker on a text with a known fault: the paper's fast path, taken\n\
         \x20  literally, on an instruction that goes below zero. This is the shortest way to\n\
         \x20  break it: three in the block behind the fast path, which is built for two.\n\n\
         $ doorway check mutant:am-fast-as-printed-on-plain-add\n",
    )?;
    let broken = explore("mutant:am-fast-as-printed-on-plain-add")?;
    print("\n3. The repaired text on real threads, and one of them dies inside.\n\n")?;
    let most = natively()?;
    print("\nNext: doorway list, doorway check --help, and the example in the README.\n")?;
    let as_expected = check::exit(&sound) == Exit::Fine && check::exit(&broken) == Exit::Failed && most <= PLACES;
    Ok(if as_expected { Exit::Fine } else { Exit::Failed })
}

fn explore(id: &str) -> Result<Report, String> {
    let subject = subject::find(id).map_err(|e| e.to_string())?;
    let sizes = subject.sizes(None, None).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let claims = subject.claims(sizes);
    let rules = Rules::with_passages(subject.defaults().passages).for_properties(&claims);
    let report = subject
        .world(sizes, rules)
        .and_then(|world| Explorer::new(sizes.n).properties(claims).explore(world))
        .map_err(|e| e.to_string())?;
    print(&check::describe(&subject, sizes, &report, begun.elapsed()))?;
    Ok(report)
}

const THREADS: usize = 8;
const PLACES: usize = 2;
const PASSAGES: usize = 20_000;

/// Threads go in and out; one stays in for good. Returns the largest number seen inside at once.
fn natively() -> Result<usize, String> {
    let gate = AmFast::new(THREADS, PLACES).map_err(|e| e.to_string())?;
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let begun = Instant::now();
    std::thread::scope(|s| {
        for i in 0..THREADS {
            let mut me = gate.join().map_err(|e| e.to_string())?;
            let (inside, most) = (&inside, &most);
            s.spawn(move || {
                for passage in 0..PASSAGES {
                    let guard = me.acquire();
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    if i == 0 && passage == 100 {
                        std::mem::forget(guard); // it never leaves, and tells nobody
                        return;
                    }
                    inside.fetch_sub(1, SeqCst);
                }
            });
        }
        Ok::<(), String>(())
    })?;
    let (most, took) = (most.into_inner(), begun.elapsed());
    print(&format!(
        "am-fast, {THREADS} threads, {PLACES} places: thread 0 died inside on its 101st passage; the other {} made\n\
         {} passages each all the same, never more than {most} inside ({:.2} s).\n",
        THREADS - 1,
        thousands(PASSAGES as u64),
        took.as_secs_f64()
    ))?;
    Ok(most)
}
