//! How many instructions a passage through observed `Slots` takes. Compare `slots_instructions`, a
//! program that observes nothing.
//!
//! ```text
//! cargo build --release -p doorway --example observed_instructions
//! for n in 1000 11000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/observed_instructions $n
//! done
//! ```
//!
//! The difference of the two runs, divided by 10,000, is the cost of one passage.

use std::hint::black_box;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: usize = std::env::args().nth(1).unwrap_or_default().parse()?;
    let slots = doorway::Slots::new(4)?.observed("slots");
    (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?;
    Ok(())
}
