//! Clocks that jump at the client. The wall clock is libfaketime's, and jumps while a holder lives;
//! the clock by which a client judges its lease begins elsewhere, in a time namespace.

use crate::deaths::Worker;
use crate::proxy::Proxy;
use crate::resource::assert_all_free;
use crate::servers::{Servers, skipped};
use crate::{connect, in_a_runtime};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A clock that this file sets, in seconds before or after the real one.
struct Clock(PathBuf);

impl Clock {
    fn new() -> Self {
        let clock = Self(std::env::temp_dir().join(format!("doorway-clock-{}", std::process::id())));
        clock.jumps(0);
        clock
    }

    fn jumps(&self, seconds: i64) {
        // In one step, so that no reader sees a part of it.
        let fresh = self.0.with_extension("new");
        std::fs::write(&fresh, format!("{seconds:+}\n")).expect("a file");
        std::fs::rename(fresh, &self.0).expect("a file");
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn hours_ahead(worker: &mut Worker) -> i64 {
    worker.is_told("time");
    let (there, _) = worker.hears("time");
    let here = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    (there as i64 - here as i64 + 1800).div_euclid(3600)
}

fn is_lost(worker: &mut Worker) -> bool {
    worker.is_told("lost");
    worker.hears("lost").0 == 1
}

/// The wall clock jumps by hours, to and fro, while a client holds: it keeps its slot for many
/// times its lease. Then it is cut off, right after a jump: it knows of its loss before another
/// client has the slot.
#[test]
fn the_wall_clock_jumps() {
    let Some(library) = std::env::var_os("DOORWAY_FAKETIME") else {
        return skipped("the_wall_clock_jumps", "there is no libfaketime; ci/etcd.sh gets one");
    };
    for last in [-9, 11] {
        let Some(servers) = Servers::start(1) else { return skipped("the_wall_clock_jumps", "there is no etcd") };
        in_a_runtime(async {
            let (clock, proxy) = (Clock::new(), Proxy::new(servers.address(0)).await);
            let mut command = Command::new(Worker::program());
            command
                .env("LD_PRELOAD", &library)
                .env("FAKETIME_TIMESTAMP_FILE", &clock.0)
                .env("FAKETIME_NO_CACHE", "1")
                // Only the wall clock jumps; no kernel lets the other ones.
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
                .env("DONT_FAKE_MONOTONIC", "1");
            let mut worker = Worker::start_by(command, vec![proxy.address.clone()]);
            let (slot, fence) = worker.hears("holds");
            let near = connect(&servers, 1).await;
            for hours in [0, 7, -9, 10_000, last] {
                clock.jumps(hours * 3600);
                assert_eq!(hours_ahead(&mut worker), hours);
                // Two of its leases, and more.
                tokio::time::sleep(Duration::from_millis(2500)).await;
                assert!(!is_lost(&mut worker), "{hours} hours");
                let holders = near.status().await.expect("a status").holders;
                assert_eq!((holders[0].slot as u64, holders[0].fence), (slot, fence), "{hours} hours");
            }
            clock.jumps(-last * 3600);
            proxy.cut();
            let next = near.acquire().await.expect("the slot, when the lease has ended");
            assert!(is_lost(&mut worker), "it is told in time");
            assert!(next.fence() > fence);
            next.release().await.expect("it was held");
            drop(worker);
            assert_all_free(&near).await;
        });
    }
}

/// A machine that was started years ago, or just now: the time of a lease is counted by one machine
/// only, so its clock may begin anywhere.
#[test]
fn machines_of_different_age() {
    let can = Command::new("unshare").args(["--time", "--boottime", "1000", "--fork", "true"]).status();
    if !can.is_ok_and(|status| status.success()) {
        let why = "no time namespaces here: they need root";
        // Without root there is no way to get them, so this is no reason to fail.
        eprintln!("\n*** SKIPPED machines_of_different_age: {why} ***\n");
        return;
    }
    let Some(servers) = Servers::start(1) else { return skipped("machines_of_different_age", "there is no etcd") };
    in_a_runtime(async {
        let near = connect(&servers, 1).await;
        for age in ["1000000000", "0"] {
            let proxy = Proxy::new(servers.address(0)).await;
            let mut command = Command::new("unshare");
            command.args(["--time", "--boottime", age, "--fork", "--kill-child", "--"]).arg(Worker::program());
            let mut worker = Worker::start_by(command, vec![proxy.address.clone()]);
            let (_, fence) = worker.hears("holds");
            tokio::time::sleep(Duration::from_millis(2500)).await;
            assert!(!is_lost(&mut worker), "{age}");
            proxy.cut();
            let next = near.acquire().await.expect("the slot, when the lease has ended");
            assert!(is_lost(&mut worker), "{age}: it is told in time");
            assert!(next.fence() > fence);
            next.release().await.expect("it was held");
        }
        assert_all_free(&near).await;
    });
}
