//! How many instructions a passage through `Slots` takes: alone, in a loop, for `valgrind`.
//!
//! ```text
//! cargo build --release -p doorway --example slots_instructions
//! for what in numbered unnumbered unfair bypass many try pool; do
//!     for n in 1000 11000; do
//!         valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/slots_instructions $what $n
//!     done
//! done
//! ```
//!
//! The difference of the two runs of a kind, divided by 10,000, is the cost of one passage.

use doorway::{Pool, Slots};
use std::hint::black_box;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let n: usize = arguments.next().unwrap_or_default().parse()?;
    let slots = Slots::new(4)?;
    match what.as_str() {
        "numbered" => (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?,
        "unnumbered" => {
            let slots = slots.without_numbers();
            (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?;
        }
        "unfair" => {
            let slots = slots.unfair();
            (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?;
        }
        "bypass" => {
            let slots = slots.bypass(64);
            (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?;
        }
        "bits" => {
            let slots = Slots::new(1000)?;
            (0..n).try_for_each(|_| slots.acquire().map(|guard| drop(black_box(guard))))?;
        }
        "many" => (0..n).try_for_each(|_| slots.acquire_many(2).map(|guard| drop(black_box(guard))))?,
        "try" => (0..n).try_for_each(|_| slots.try_acquire().map(|guard| drop(black_box(guard))))?,
        "pool" => {
            let pool = Pool::new([0u64; 4])?;
            (0..n).try_for_each(|_| pool.acquire().map(|guard| drop(black_box(guard))))?;
        }
        _ => return Err("ask for numbered, unnumbered, unfair, bypass, bits, many, try or pool, and how often".into()),
    }
    Ok(())
}
