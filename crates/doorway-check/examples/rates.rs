//! How fast the search is, with one thread and with several, and how many bytes a state takes.
//!
//! ```console
//! $ cargo run --release -p doorway-check --example rates            # one million states of each
//! $ cargo run --release -p doorway-check --example rates 10000000 1 2 4
//! ```
//!
//! On a machine with other work, elapsed time says little. So it also prints the processor time of
//! all threads, and that of the first thread, which does what the others cannot: with enough free
//! cores, a search takes about as long as its first thread.

use doorway_check::sim::{Deaths, Rules};
use doorway_check::{Explorer, subject};
use doorway_core::registry::Sizes;
use std::fs::read_to_string;
use std::time::Instant;

/// Seconds of processor time of the whole process, and of this thread; 0 where they are not known.
fn processor_time() -> (f64, f64) {
    let process = || {
        let stat = read_to_string("/proc/self/stat").ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
        let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some((user + system) / 100.0)
    };
    let thread = || {
        let stat = read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(stat.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    };
    (process().unwrap_or(0.0), thread().unwrap_or(0.0))
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let most = numbers.next().unwrap_or(1_000_000);
    let mut threads: Vec<usize> = numbers.collect();
    if threads.is_empty() {
        threads = vec![1, 2];
    }
    let passages = |most: u32| Rules::with_passages(Some(most));
    let deaths = Deaths { restarts: 2, suspects: false, ..Deaths::default() };
    let cases = [
        ("bakery", 4, 1, passages(3)),
        ("am-fast", 4, 2, Rules { crashes: 1, ..Rules::default() }),
        ("turnstile", 4, 2, Rules { crashes: 1, ..Rules::default() }),
        ("seats", 3, 2, Rules { crashes: 2, deaths, alike: true, ..passages(1) }),
    ];
    println!("subject    n,k  threads      states  states/s  elapsed  processor  first thread  bytes/state");
    for (id, n, k, rules) in cases {
        for &threads in &threads {
            let (subject, sizes) = (subject::find(id).expect("it is in the catalogue"), Sizes { n, k });
            let claims: Vec<_> = subject.claims(sizes).into_iter().filter(|claim| !claim.needs_graph()).collect();
            let world = subject.world(sizes, rules.for_properties(&claims)).expect("it can be built");
            let (begun, (all, first)) = (Instant::now(), processor_time());
            let search = Explorer::new(n).properties(claims).max_states(most).threads(threads);
            let report = search.explore(world).expect("it can be run");
            let elapsed = begun.elapsed().as_secs_f64();
            let (all_after, first_after) = processor_time();
            println!(
                "{id:10} {n},{k}  {threads:7}  {:10}  {:8.0}  {elapsed:6.2}s  {:8.2}s  {:11.2}s  {:11.1}",
                report.states,
                report.states as f64 / elapsed,
                all_after - all,
                first_after - first,
                report.bytes_per_state()
            );
        }
    }
}
