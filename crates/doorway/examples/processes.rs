//! Two slots for four processes, one of which is killed: its slot comes back, and the next holder
//! is told.
//!
//! ```text
//! cargo run -p doorway --example processes
//! ```

use doorway::shared::{Builder, Known, Previous, Slots};
use std::process::{Child, Command};
use std::time::Duration;

/// What the process has written of itself: its label and its number.
fn name(known: &Known) -> String {
    let label = known.label.as_deref().unwrap_or("a process without a label");
    known.pid.map_or_else(|| label.to_owned(), |pid| format!("{label} (process {pid})"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = std::env::temp_dir().join("doorway-example-processes");
    match arguments.next() {
        // A worker that never gives its slot back.
        Some(role) if role == "stuck" => {
            let slots = Builder::new(&path, 2).label(role).open()?;
            let guard = slots.acquire()?;
            println!("stuck: slot {}, until I am killed", guard.slot());
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        Some(role) => {
            let slots = Builder::new(&path, 2).label(role.clone()).open()?;
            for _ in 0..3 {
                let guard = slots.acquire()?;
                match guard.previous() {
                    Previous::Clean => println!("{role}: slot {}, fence {}", guard.slot(), guard.fence()),
                    Previous::Died(known) => {
                        println!("{role}: slot {}, whose holder died: {}", guard.slot(), name(known));
                    }
                    Previous::Broken(known) => println!("{role}: slot {}, taken from {}", guard.slot(), name(known)),
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
        None => {
            let slots = Slots::open(&path, 2)?;
            let start =
                |role: &str| -> std::io::Result<Child> { Command::new(std::env::current_exe()?).arg(role).spawn() };
            let mut stuck = start("stuck")?;
            while slots.status()?.holders.is_empty() {
                std::thread::yield_now();
            }
            let workers = ["one", "two", "three"].map(start);
            for holder in slots.status()?.holders {
                println!("status: slot {} is held by {}", holder.slot, name(&holder.known));
            }
            stuck.kill()?; // as `kill -9` does
            stuck.wait()?;
            for worker in workers {
                worker?.wait()?;
            }
            assert!(slots.status()?.holders.is_empty(), "nothing is lost");
            drop(slots);
            Ok(Slots::remove(&path)?)
        }
    }
}
