//! The explorer beside Stateright, on the same models in one run.
//!
//! Time is CPU time of the searching thread, in turns, as medians. Memory is the growth of the peak
//! resident set of a fresh process that makes one search and nothing else.

#[path = "../../doorway-opinions/models/mod.rs"]
#[allow(dead_code)]
mod models;

use doorway_check::{Explorer, Property, claims};
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::mutex::lamport_74::Bakery;
use doorway_core::registry::{self, Sizes};
use doorway_lab::measure;
use std::process::Command;

/// One of the searches.
#[derive(Clone, Copy, PartialEq)]
enum Search {
    Ours,
    OursInvariants,
    Stateright,
}

const SEARCHES: [(Search, &str); 3] = [
    (Search::Ours, "doorway, exclusion"),
    (Search::OursInvariants, "doorway, all invariants"),
    (Search::Stateright, "stateright, exclusion"),
];
const MODELS: [&str; 2] = ["bakery n=4, 1 passage", "am-chain (4,2)"];
const ROUNDS: usize = 7;

/// Makes a search. Returns the number of states, and our own report of memory.
fn search(model: usize, search: Search) -> (usize, Option<f64>) {
    let (id, sizes) = if model == 0 { ("bakery", Sizes { n: 4, k: 1 }) } else { ("am-chain", Sizes { n: 4, k: 2 }) };
    if search == Search::Stateright {
        let sections = models::Sections::Merged;
        let explored = match model {
            0 => models::explore(models::Bakery { n: 4, passages: 1, sections }),
            _ => models::explore(models::Chain { n: 4, k: 2, passages: None, sections }),
        };
        return (explored.unique, None);
    }
    let properties = match search {
        // What is decided on states and steps, so that the graph is the same.
        Search::OursInvariants => {
            let mut claims = claims::of(registry::find(id).expect("it is listed"), sizes);
            claims.retain(|claim| !claim.needs_graph() && !claim.needs_order());
            claims
        }
        _ => vec![Property::exclusion("exclusion", sizes.k)],
    };
    let explorer = Explorer::new(sizes.n).properties(properties);
    let report = match model {
        0 => explorer.passages(1).run(|site| Bakery::new(site, 4)),
        _ => explorer.run(|site| Chain::new(site, 4, 2)),
    };
    let report = report.expect("the texts can be replayed");
    report.assert_holds();
    (report.states, Some(report.bytes_per_state()))
}

/// The largest resident set so far, in bytes.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

/// In a process of its own: peak growth per state.
fn bytes_per_state(model: usize, which: usize) -> Option<f64> {
    let me = std::env::current_exe().ok()?;
    let out = Command::new(me).args(["--one-search", &model.to_string(), &which.to_string()]).output().ok()?;
    String::from_utf8(out.stdout).ok()?.trim().parse().ok()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--one-search") {
        let number = |i: usize| args[at + i].parse::<usize>().expect("two numbers follow");
        let before = peak().unwrap_or(0);
        let (states, _) = search(number(1), SEARCHES[number(2)].0);
        println!("{}", (peak().unwrap_or(0) - before) as f64 / states as f64);
        return;
    }
    // Stateright searches in a thread of its own, so this takes the CPU time of the whole process.
    println!("{}", measure::prepare());
    for (model, name) in MODELS.iter().enumerate() {
        println!("\n{name}");
        println!(
            "{:24}  {:>9}  {:>12}  {:>8}  {:>22}  {:>12}",
            "", "states", "states/s CPU", "ratio", "peak bytes a state", "by own count"
        );
        let mut rates = vec![Vec::new(); SEARCHES.len() + 1];
        let mut states = [(0, None); SEARCHES.len()];
        for _ in 0..ROUNDS {
            for (i, rates) in rates.iter_mut().enumerate() {
                // The last is the control: Stateright against itself.
                let which = i.min(SEARCHES.len() - 1);
                let before = measure::process_cpu_time();
                states[which] = search(model, SEARCHES[which].0);
                rates.push(states[which].0 as f64 / (measure::process_cpu_time() - before).as_secs_f64());
            }
        }
        let medians: Vec<f64> = rates.into_iter().map(measure::median).collect();
        let peer = medians[SEARCHES.len() - 1];
        for (i, (_, name)) in SEARCHES.iter().enumerate() {
            let peak = bytes_per_state(model, i).map_or("?".to_owned(), |b| format!("{b:.0}"));
            let own = states[i].1.map_or(String::new(), |b| format!("{b:.0}"));
            println!(
                "{name:24}  {:>9}  {:>12.0}  {:>8.2}  {peak:>22}  {own:>12}",
                states[i].0,
                medians[i],
                medians[i] / peer
            );
        }
        println!(
            "{:24}  {:>9}  {:>12.0}  {:>8.2}",
            "control (stateright)",
            "",
            medians[SEARCHES.len()],
            medians[SEARCHES.len()] / peer
        );
        assert!(states.iter().all(|s| s.0 == states[0].0), "all find the same states");
    }
}
