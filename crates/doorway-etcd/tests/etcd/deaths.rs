//! Clients that die, and clients that are paused for longer than their leases.

use crate::resource::{Resource, assert_all_free};
use crate::servers::{Servers, skipped};
use crate::{connect, in_a_runtime};
use doorway_etcd::{ReleaseError, blocking};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

const WORKER: &str = "DOORWAY_ETCD_WORKER";

/// Not a test: what the other processes of these tests do. Without its variable it does nothing.
///
/// It takes a slot, says so, and uses it whenever it is told to: without asking whether it still
/// holds it, as a program that was paused does.
#[test]
fn worker() {
    let Ok(endpoints) = std::env::var(WORKER) else { return };
    let builder = doorway_etcd::Slots::builder(endpoints.split(','), "test", 1).ttl(Duration::from_secs(1));
    let slots = blocking::Slots::with(builder).expect("a cluster");
    let guard = slots.acquire().expect("a slot");
    println!("\nWORKER holds {} {}", guard.slot(), guard.fence());
    for line in std::io::stdin().lines() {
        match line.expect("a line").as_str() {
            "use" => println!("\nWORKER uses {} {}", guard.slot(), guard.fence()),
            "lost" => println!("\nWORKER lost {} {}", u8::from(guard.is_lost()), guard.fence()),
            "time" => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
                println!("\nWORKER time {} {}", since.as_secs(), guard.fence());
            }
            _ => break,
        }
    }
    println!("\nWORKER released {} 0", u8::from(guard.release() == Err(ReleaseError::Lost)));
}

pub(crate) struct Worker {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Worker {
    fn start(servers: &Servers) -> Self {
        Self::start_by(Command::new(Self::program()), servers.endpoints())
    }

    pub(crate) fn program() -> std::path::PathBuf {
        std::env::current_exe().expect("this program")
    }

    /// A command that starts this program, with more arguments.
    pub(crate) fn start_by(mut command: Command, endpoints: Vec<String>) -> Self {
        let mut child = command
            .args(["--exact", "deaths::worker", "--nocapture"])
            .env(WORKER, endpoints.join(","))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    pub(crate) fn hears(&mut self, what: &str) -> (u64, u64) {
        let prefix = format!("WORKER {what} ");
        loop {
            let line = self.lines.next().expect("the worker runs").expect("a line");
            if let Some(rest) = line.strip_prefix(&prefix) {
                let mut numbers = rest.split(' ').map(|n| n.parse().expect("a number"));
                return (numbers.next().expect("one"), numbers.next().expect("two"));
            }
        }
    }

    pub(crate) fn is_told(&mut self, what: &str) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{what}").expect("the worker listens");
    }

    fn signal(&self, signal: i32) {
        // SAFETY: it is a child of this process that was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A dead holder's slot comes back when its lease ends, and a waiter gets it.
#[test]
fn a_client_is_killed() {
    for members in [1, 3] {
        let Some(servers) = Servers::start(members) else {
            return skipped("a_client_is_killed", "there is no etcd");
        };
        let mut worker = Worker::start(&servers);
        let (_, fence) = worker.hears("holds");
        in_a_runtime(async {
            let slots = connect(&servers, 1).await;
            assert!(slots.try_acquire().await.is_err());
            worker.signal(libc::SIGKILL);
            let guard = slots.acquire().await.expect("the slot");
            assert!(guard.fence() > fence);
            guard.release().await.expect("it was held");
            assert_all_free(&slots).await;
        });
    }
}

/// A dead waiter's place in line comes free, too.
#[test]
fn a_waiting_client_is_killed() {
    let Some(servers) = Servers::start(1) else { return skipped("a_waiting_client_is_killed", "there is no etcd") };
    in_a_runtime(async {
        let slots = connect(&servers, 1).await;
        let held = slots.acquire().await.expect("a slot");
        let worker = Worker::start(&servers);
        while slots.status().await.expect("a status").waiters.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        worker.signal(libc::SIGKILL);
        // The slot is passed to the dead waiter, idles until its lease ends, and comes back.
        held.release().await.expect("it was held");
        slots.acquire().await.expect("the slot").release().await.expect("it was held");
        assert_all_free(&slots).await;
    });
}

/// A paused waiter loses its place in line, and gets in line again when it goes on.
#[test]
fn a_waiting_client_is_paused() {
    let Some(servers) = Servers::start(1) else { return skipped("a_waiting_client_is_paused", "there is no etcd") };
    in_a_runtime(async {
        let slots = connect(&servers, 1).await;
        let held = slots.acquire().await.expect("a slot");
        let mut worker = Worker::start(&servers);
        let waiting = async |wanted: usize| {
            while slots.status().await.expect("a status").waiters.len() != wanted {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        waiting(1).await;
        worker.signal(libc::SIGSTOP);
        waiting(0).await; // its lease has ended
        worker.signal(libc::SIGCONT);
        waiting(1).await;
        let fence = held.fence();
        held.release().await.expect("it was held");
        assert!(worker.hears("holds").1 > fence);
        worker.is_told("release");
        assert_eq!(worker.hears("released").0, 0);
        slots.acquire().await.expect("the slot").release().await.expect("it was held");
        assert_all_free(&slots).await;
    });
}

/// A paused holder loses its slot and does not know. What it does afterwards is refused, because
/// its fence is old.
#[test]
fn a_client_is_paused() {
    for members in [1, 3] {
        let Some(servers) = Servers::start(members) else {
            return skipped("a_client_is_paused", "there is no etcd");
        };
        let resource = Resource::new(1);
        let mut worker = Worker::start(&servers);
        worker.hears("holds");
        worker.is_told("use");
        let (slot, old) = worker.hears("uses");
        assert!(resource.begin(slot as usize, old));
        worker.signal(libc::SIGSTOP);
        in_a_runtime(async {
            let slots = connect(&servers, 1).await;
            let guard = slots.acquire().await.expect("the slot, when the lease has ended");
            assert!(resource.begin(guard.slot(), guard.fence()));
            // Both believe that they hold the slot.
            assert_eq!(resource.seen().overlaps, 1);
            worker.is_told("use");
            worker.is_told("lost");
            worker.signal(libc::SIGCONT);
            let (slot, fence) = worker.hears("uses");
            assert_eq!(fence, old);
            assert!(!resource.begin(slot as usize, fence), "an old fence is refused");
            assert_eq!(worker.hears("lost"), (1, old), "it knows, once it looks at its clock");
            worker.is_told("release");
            assert_eq!(worker.hears("released").0, 1);
            // The holder keeps its slot.
            assert!(!guard.is_lost());
            guard.release().await.expect("it was held");
            assert_all_free(&slots).await;
        });
        let seen = resource.seen();
        println!("a client is paused, {members} members: {seen:?}");
        assert_eq!((seen.obeyed, seen.refused), (2, 1));
    }
}

/// A client that is cut off knows it by its own clock, and begins again when it can.
#[test]
fn a_client_is_cut_off() {
    crate::with_cluster("a_client_is_cut_off", 1, async |servers| {
        let proxy = crate::proxy::Proxy::new(servers.address(0)).await;
        let options = doorway_etcd::Slots::builder([&proxy.address], "test", 1).ttl(Duration::from_secs(1));
        let far = options.connect().await.expect("a cluster");
        let near = connect(&servers, 1).await;
        let held = far.acquire().await.expect("a slot");
        proxy.cut();
        held.lost().await;
        let next = near.acquire().await.expect("the slot");
        assert!(held.is_lost() && next.fence() > held.fence());
        let again = {
            let far = far.clone();
            tokio::spawn(async move { far.acquire().await.expect("the slot") })
        };
        proxy.mend();
        while near.status().await.expect("a status").waiters.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let fence = next.fence();
        next.release().await.expect("it was held");
        let again = again.await.expect("no panic");
        assert!(again.fence() > fence);
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        again.release().await.expect("it was held");
        assert_all_free(&near).await;
    });
}
