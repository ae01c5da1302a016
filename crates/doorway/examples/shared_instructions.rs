//! How many instructions a passage through slots between processes takes: alone, in a loop, for
//! `valgrind`.
//!
//! ```text
//! cargo build --release -p doorway --example shared_instructions
//! for what in plain times labels try; do
//!     for n in 1000 11000; do
//!         valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/shared_instructions $what $n
//!     done
//! done
//! ```
//!
//! The difference of the two runs of a kind, divided by 10,000, is the cost of one passage.

use doorway::shared::{Builder, Slots};
use std::hint::black_box;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let n: usize = arguments.next().unwrap_or_default().parse()?;
    let path = std::env::temp_dir().join(format!("doorway-instructions-{}", std::process::id()));
    let new = Builder::new(&path, 4);
    let slots = match what.as_str() {
        "plain" | "try" => new.times(false).open()?,
        "times" => new.open()?,
        "labels" => new.times(false).label("a label").open()?,
        _ => return Err("ask for plain, times, labels or try, and how often".into()),
    };
    match what.as_str() {
        "try" => (0..n).try_for_each(|_| slots.try_acquire().map(|guard| drop(black_box(guard))))?,
        _ => (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?,
    }
    drop(slots);
    Ok(Slots::remove(&path)?)
}
