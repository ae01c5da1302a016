//! A service that carries on while one of its workers is stopped in the middle of an operation:
//! `cargo run --release -p doorway --example resilient_service`
//!
//! Four workers sell tickets from one stock. One of them is stopped while it changes the stock: by
//! a debugger, a suspended container, or a low priority. Here it waits for a message. Behind a
//! mutex, no worker would sell another ticket. Here the other three do. When the stopped worker
//! goes on, its sale takes effect once, or not at all.

use doorway::Resilient;
use doorway::resilient::Object;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

/// What is left, and how many tickets each worker has sold. It is copied for each sale, so it is
/// small.
#[derive(Clone, Default)]
struct Stock {
    left: u32,
    sold: [u32; 4],
}

/// A sale, during which its worker may be stopped.
struct Sell {
    worker: usize,
    /// The first thread that runs this sale stops here.
    stop: Option<Arc<Stop>>,
}

struct Stop {
    once: AtomicBool,
    stopped: Barrier,
    goes_on: Barrier,
}

impl Stop {
    fn here(&self) {
        if !self.once.swap(true, SeqCst) {
            self.stopped.wait();
            self.goes_on.wait();
        }
    }
}

impl Object for Stock {
    type Op = Sell;
    /// The number of the ticket.
    type Response = Option<u32>;

    fn apply(&mut self, sale: &Sell) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        if let Some(stop) = &sale.stop {
            stop.here(); // half-way: one ticket fewer, and no worker has it
        }
        self.sold[sale.worker] += 1;
        Some(self.left)
    }
}

const TICKETS: u32 = 1000;

fn main() {
    let stock = Stock { left: TICKETS, sold: [0; 4] };
    let stop = Arc::new(Stop { once: AtomicBool::new(false), stopped: Barrier::new(2), goes_on: Barrier::new(2) });

    // With a mutex, the stopped worker blocks all others.
    let locked = Mutex::new(stock.clone());
    {
        let _held_by_the_stopped_worker = locked.lock().expect("nobody has panicked");
        println!("behind a mutex, while its holder is stopped: others get in: {}", locked.try_lock().is_ok());
    }

    // Two workers may be inside, so one may stop.
    let shared = Resilient::new(stock, 2).expect("two are few");
    let sold_meanwhile = AtomicUsize::new(0);
    let shared = &shared;
    thread::scope(|s| {
        let sale = Sell { worker: 0, stop: Some(Arc::clone(&stop)) };
        let stopped = s.spawn(move || shared.apply(sale));
        stop.stopped.wait();
        thread::scope(|s| {
            for worker in 1..4 {
                let sold = &sold_meanwhile;
                s.spawn(move || {
                    for _ in 0..300 {
                        assert!(shared.apply(Sell { worker, stop: None }).is_some(), "there are enough");
                        sold.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        println!("resilient, while one worker is stopped: others have sold {}", sold_meanwhile.load(SeqCst));
        stop.goes_on.wait();
        let ticket = stopped.join().expect("it goes on").expect("there are enough");
        println!("the one that was stopped goes on, and gets ticket {ticket}");
    });

    let Stock { left, sold } = shared.read(Stock::clone);
    println!("left {left}, sold {sold:?}");
    assert_eq!((left, sold), (TICKETS - 901, [1, 300, 300, 300]), "nothing was lost, and nothing was sold twice");
}
