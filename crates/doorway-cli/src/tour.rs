//! `doorway tour`: check an algorithm, catch a mutant, run natively.

use crate::output::{print, thousands};
use crate::{Exit, check};
use doorway::gates::AmFast;
use doorway_check::adversary::{Hunt, Method};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, Report, subject};
use doorway_core::registry::{CostModel, Sizes};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

pub(crate) fn run() -> Result<Exit, String> {
    print(
        "doorway: at most k get in, and up to k-1 of them may die where they stand.\n\n\
         1. An algorithm, checked. This is the text that ships, run in a simulated memory\n\
         \x20  in every order its steps can happen in.\n\n\
         $ doorway check am-chain\n",
    )?;
    let sound = explore("am-chain", None, Rules::default(), &[])?;
    print(
        "\n2. Three processes, two places, and one dies, anywhere. Nobody else is held up.\n\n\
         $ doorway check am-chain --n 3 --k 2 --crashes 1 --property starvation-free\n",
    )?;
    let crashes = |crashes| Rules { crashes, ..Rules::default() };
    let survived = explore("am-chain", Some((3, 2)), crashes(1), &["starvation-free"])?;
    print(
        "\n   Two deaths are one too many for two places:\n\n\
         $ doorway check am-chain --n 3 --k 2 --crashes 2 --property never-stuck\n",
    )?;
    let too_many = explore("am-chain", Some((3, 2)), crashes(2), &["never-stuck"])?;
    print(
        "\n3. The same checker on a text with a known fault: the paper's fast path, taken\n\
         \x20  literally, on an instruction that goes below zero. Three get into the block behind\n\
         \x20  the fast path, which is built for two.\n\n\
         $ doorway check mutant:am-fast-as-printed-on-plain-add\n",
    )?;
    let broken = explore("mutant:am-fast-as-printed-on-plain-add", None, Rules::default(), &[])?;
    print(
        "\n4. The simplest lock is fair to nobody: a run in which p0 looks for ever at the wrong\n\
         \x20  moment.\n\n\
         $ doorway check tas --property starvation-free\n",
    )?;
    let starved = explore("tas", None, Rules::default(), &["starvation-free"])?;
    print(
        "\n5. A theorem, 7(N-k) remote references a passage, and the worst that was found: all\n   interleavings of three processes, then an adversary against 64.\n\n",
    )?;
    let bounds = theorem_1()?;
    print("\n6. The repaired fast path on real threads, and one of them dies inside.\n\n")?;
    let most = natively()?;
    print("\nNext: doorway list, doorway check --help, docs/checking.md, and the example in the README.\n")?;
    let as_expected = [
        (&sound, Exit::Fine),
        (&survived, Exit::Fine),
        (&too_many, Exit::Failed),
        (&broken, Exit::Failed),
        (&starved, Exit::Failed),
    ];
    let fine = as_expected.iter().all(|(report, exit)| check::exit(report) == *exit) && bounds && most <= PLACES;
    Ok(if fine { Exit::Fine } else { Exit::Failed })
}

fn explore(id: &str, sizes: Option<(usize, usize)>, rules: Rules, names: &[&str]) -> Result<Report, String> {
    let subject = subject::find(id).map_err(|e| e.to_string())?;
    let sizes = subject.sizes(sizes.map(|s| s.0), sizes.map(|s| s.1)).map_err(|e| e.to_string())?;
    let begun = Instant::now();
    let claims = if names.is_empty() {
        subject.claims(sizes)
    } else {
        let mut claims = subject.askable(sizes);
        claims.retain(|claim| names.contains(&claim.name()));
        claims
    };
    let rules = Rules { passages: subject.defaults().passages, ..rules }.for_properties(&claims);
    let world = subject.world(sizes, rules).map_err(|e| e.to_string())?;
    let registers = check::Registers::of(&world);
    let report = Explorer::new(sizes.n).properties(claims).explore(world).map_err(|e| e.to_string())?;
    print(&check::describe(&subject, sizes, &registers, &report, begun.elapsed(), &|stop| stop.to_string()))?;
    Ok(report)
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
