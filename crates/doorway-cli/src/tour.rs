//! `doorway tour`: check an algorithm, catch a mutant, run natively.

use crate::output::{print, thousands};
use crate::{Exit, check};
use clap::Parser as _;
use doorway::gates::AmFast;
use doorway_check::adversary::{Hunt, Method};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, subject};
use doorway_core::registry::{CostModel, Sizes};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

pub(crate) fn run() -> Result<Exit, String> {
    print(
        "doorway: at most k processes get in, and up to k-1 of them may die at any step.\n\n\
         1. An algorithm, checked. This is the text that ships. It runs in a simulated memory,\n\
         \x20  in every order in which its steps can happen.\n\n",
    )?;
    let sound = check("am-chain")?;
    print("\n2. Three processes, two places, and one process dies, anywhere. The others go on.\n\n")?;
    let survived = check("am-chain --n 3 --k 2 --crashes 1 --property starvation-free")?;
    print("\n   With two places, two deaths are one too many:\n\n")?;
    let too_many = check("am-chain --n 3 --k 2 --crashes 2 --property never-stuck")?;
    print(
        "\n3. The same checker on a text with a known fault: the paper's fast path, taken\n\
         \x20  literally, with an instruction that goes below zero. Three processes get into the\n\
         \x20  block behind the fast path, which is built for two.\n\n",
    )?;
    let broken = check("mutant:am-fast-as-printed-on-plain-add")?;
    print(
        "\n4. The simplest lock is not fair: a run in which p0 always looks at the wrong\n\
         \x20  moment.\n\n",
    )?;
    let starved = check("tas --property starvation-free")?;
    print(
        "\n5. A theorem, 7(N-k) remote references per passage, and the worst found: all\n   interleavings of three processes, then an adversary against 64.\n\n",
    )?;
    let bounds = theorem_1()?;
    print("\n6. The repaired fast path on real threads, and one of them dies inside.\n\n")?;
    let most = natively()?;
    print("\nNext: doorway list, doorway check --help, docs/checking.md, and the example in the README.\n")?;
    let as_expected = [
        (sound, Exit::Fine),
        (survived, Exit::Fine),
        (too_many, Exit::Failed),
        (broken, Exit::Failed),
        (starved, Exit::Failed),
    ];
    let fine = as_expected.iter().all(|(exit, expected)| exit == expected) && bounds && most <= PLACES;
    Ok(if fine { Exit::Fine } else { Exit::Failed })
}

/// Shows a command, and runs it.
fn check(command: &str) -> Result<Exit, String> {
    #[derive(clap::Parser)]
    struct Check {
        #[command(flatten)]
        args: check::Args,
    }
    print(&format!("$ doorway check {command}\n"))?;
    let words = std::iter::once("check").chain(command.split_whitespace());
    check::run(&Check::try_parse_from(words).map_err(|e| e.to_string())?.args)
}

/// Theorem 1 of Anderson and Moir beside what was found; whether it stands and is reached.
fn theorem_1() -> Result<bool, String> {
    let subject = subject::find("am-chain").map_err(|e| e.to_string())?;
    let mut reached = true;
    for (n, k) in [(3, 1), (64, 8)] {
        let sizes = Sizes { n, k };
        let (worst, how) = if n < 10 {
            let rules = Rules { measure: Some((0, CostModel::Cc)), ..Rules::default() };
            let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
            (Explorer::new(n).worst_passage(world, n).map_err(|e| e.to_string())?.worst, "exhaustive")
        } else {
            let hunt = Hunt {
                model: CostModel::Cc,
                contention: n,
                method: Method::Adversary,
                runs: 4,
                passages: 3,
                steps: 1_000_000,
                enough: None,
                seed: 1,
            };
            (hunt.on(|| subject.world(sizes, Rules::default())).map_err(|e| e.to_string())?.worst, "adversary")
        };
        let bound = subject.info.bound(CostModel::Cc).and_then(|b| b.at(sizes, n));
        reached &= worst.bounded() == bound;
        let show = |n: Option<u64>| n.map_or("no bound".to_owned(), thousands);
        print(&format!(
            "   am-chain ({n},{k}): bound {}, worst found {} ({how})\n",
            show(bound),
            show(worst.bounded())
        ))?;
    }
    Ok(reached)
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
                        std::mem::forget(guard); // it never leaves, and does not say so
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
        "am-fast, {THREADS} threads, {PLACES} places: thread 0 died inside on its 101st passage; the other {} still made\n\
         {} passages each, with never more than {most} inside ({:.2} s).\n",
        THREADS - 1,
        thousands(PASSAGES as u64),
        took.as_secs_f64()
    ))?;
    Ok(most)
}
