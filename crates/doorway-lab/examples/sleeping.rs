//! What it costs to wake a thread, and what a passage costs where threads sleep. Both are in
//! processor time, because throughput means little while other programs run.
//!
//! ```text
//! cargo run --release -p doorway-lab --example sleeping -- 2 8 9
//! ```
//!
//! The arguments are the places, the threads and the repetitions. Threads are pinned to two
//! processors in turn, with 100 ns of work inside and 100 ns outside. Each repetition lasts 300 ms,
//! and the peers take turns.

#![cfg_attr(not(target_os = "linux"), allow(unused))] // where the lab is

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use doorway::Slots;
    use doorway_lab::measure;
    use rustix::thread::futex;
    use std::hint::black_box;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::Thread;
    use std::time::{Duration, Instant};

    struct Unparks(Thread);

    impl Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn block_on<F: Future>(waker: &Waker, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return value;
            }
            std::thread::park();
        }
    }

    fn work(turns: u64) {
        let mut value = 1u64;
        for _ in 0..turns {
            value = black_box(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
    }

    /// Processor time of a passage, in nanoseconds.
    fn crowd(threads: usize, turns: u64, pass: &(dyn Fn(&Waker, &dyn Fn()) + Sync)) -> f64 {
        let (ends, passages) = (AtomicBool::new(false), AtomicU64::new(0));
        let cpu = measure::process_cpu_time();
        std::thread::scope(|all| {
            for index in 0..threads {
                let (ends, passages) = (&ends, &passages);
                all.spawn(move || {
                    measure::pin(index % 2);
                    let waker = Waker::from(Arc::new(Unparks(std::thread::current())));
                    let mut mine = 0;
                    while !ends.load(SeqCst) {
                        pass(&waker, &|| work(turns));
                        work(turns);
                        mine += 1;
                    }
                    passages.fetch_add(mine, SeqCst);
                });
            }
            std::thread::sleep(Duration::from_millis(300));
            ends.store(true, SeqCst);
        });
        (measure::process_cpu_time() - cpu).as_nanos() as f64 / passages.load(SeqCst) as f64
    }

    /// Nanoseconds: the waker's processor time, and the time until the woken thread has run.
    fn wake(times: u32) -> (f64, f64) {
        let (word, asleep, seen) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        let until = |word: &AtomicU32, value| while word.load(SeqCst) != value {};
        std::thread::scope(|all| {
            all.spawn(|| {
                measure::pin(1);
                for round in 0..times {
                    asleep.store(round + 1, SeqCst);
                    while word.load(SeqCst) == round {
                        // Woken, changed or interrupted: it looks again.
                        let _ = futex::wait(&word, futex::Flags::PRIVATE, round, None);
                    }
                    seen.store(round + 1, SeqCst);
                }
            });
            all.spawn(|| {
                measure::pin(0);
                let round = |round: u32| {
                    until(&asleep, round + 1);
                    let begin = Instant::now();
                    while begin.elapsed() < Duration::from_micros(30) {} // until it sleeps
                    let (begin, cpu) = (Instant::now(), measure::cpu_time());
                    word.store(round + 1, SeqCst);
                    let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
                    let cpu = measure::cpu_time() - cpu;
                    until(&seen, round + 1);
                    (cpu.as_nanos() as f64, begin.elapsed().as_nanos() as f64)
                };
                let (cpu, latency): (Vec<f64>, Vec<f64>) = (0..times).map(round).unzip();
                (measure::median(cpu), measure::median(latency))
            })
            .join()
            .expect("it wakes the other")
        })
    }

    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        let arguments: Vec<usize> = std::env::args().skip(1).map(|it| it.parse()).collect::<Result<_, _>>()?;
        let [k, threads, repetitions] = arguments.as_slice() else {
            return Err("ask for places, threads and repetitions".into());
        };
        let clock = |_| {
            let begin = measure::cpu_time();
            (measure::cpu_time() - begin).as_nanos() as f64
        };
        let clock = measure::median((0..1000).map(clock).collect());
        let (cpu, latency) = wake(3000);
        println!("to wake a thread that sleeps: {:.0} ns of the waker's processor time,", cpu - clock);
        println!("{latency:.0} ns until the woken thread has run; medians of 3000");
        let turn = (0..50).map(|_| {
            let begin = Instant::now();
            work(100_000);
            begin.elapsed().as_nanos() as f64 / 1e5
        });
        let turns = (100.0 / measure::range(turn).0) as u64;
        let (mut ours, mut tokios) = (Vec::new(), Vec::new());
        for _ in 0..*repetitions {
            let slots = Slots::new(*k)?;
            ours.push(crowd(*threads, turns, &|_, inside| {
                let _guard = slots.acquire();
                inside();
            }));
            let permits = tokio::sync::Semaphore::new(*k);
            tokios.push(crowd(*threads, turns, &|waker, inside| {
                let _guard = block_on(waker, permits.acquire());
                inside();
            }));
        }
        println!("k = {k}, {threads} threads: processor time of a passage, in ns; median, least and most");
        for (name, times) in [("doorway", ours), ("tokio", tokios)] {
            let (least, most) = measure::range(times.iter().copied());
            println!("{name:10} {:8.0} {least:8.0} {most:8.0}", measure::median(times));
        }
        Ok(())
    }
}
