//! Members that die, stop and come back, and answers that are lost. No lease ends, so no fence is
//! needed: exclusion holds without.

use crate::proxy::Proxy;
use crate::resource::{Resource, assert_all_free};
use crate::servers::Servers;
use crate::{builder, with_cluster};
use doorway_etcd::{Builder, Slots};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const K: usize = 2;
const CLIENTS: usize = 6;

/// Clients that pass again and again while something happens.
struct Storm {
    clients: Vec<Slots>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    resource: Arc<Resource>,
    passages: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Storm {
    async fn begin(builder: impl Fn(usize) -> Builder) -> Self {
        let (resource, passages) = (Arc::new(Resource::new(K)), Arc::new(AtomicU64::new(0)));
        let is_over = Arc::new(AtomicBool::new(false));
        let (mut clients, mut tasks) = (Vec::new(), Vec::new());
        for i in 0..CLIENTS {
            clients.push(builder(i).ttl(Duration::from_secs(60)).connect().await.expect("a cluster"));
        }
        for (i, slots) in clients.iter().cloned().enumerate() {
            let (resource, passages, is_over) = (resource.clone(), passages.clone(), is_over.clone());
            tasks.push(tokio::spawn(async move {
                while !is_over.load(SeqCst) {
                    // Some do not wait, and some give up.
                    let entered = match i {
                        0 => slots.try_acquire().await.ok(),
                        1 => slots.acquire_timeout(Duration::from_millis(30)).await.ok(),
                        _ => Some(slots.acquire().await.expect("a slot")),
                    };
                    let Some(guard) = entered else {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        continue;
                    };
                    resource.work(&guard).await;
                    passages.fetch_add(1, SeqCst);
                    guard.release().await.expect("it was held");
                }
            }));
        }
        Self { clients, tasks, resource, passages, is_over }
    }

    /// Waits for this many further passages.
    async fn passes(&self, more: u64) {
        let goal = self.passages.load(SeqCst) + more;
        while self.passages.load(SeqCst) < goal {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn end(self, what: &str) {
        self.is_over.store(true, SeqCst);
        for task in self.tasks {
            task.await.expect("no panic");
        }
        let (passages, doubts) = (self.passages.load(SeqCst), self.clients.iter().map(Slots::doubts).sum::<u64>());
        println!("{what}: {passages} passages, {doubts} requests in doubt, {:?}", self.resource.seen());
        self.resource.assert_never_needed(passages);
        // What gave up is settled in the background.
        loop {
            let status = self.clients[0].status().await.expect("a status");
            if status.holders.is_empty() && status.waiters.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_all_free(&self.clients[0]).await;
    }
}

async fn storm(servers: &Servers) -> Storm {
    Storm::begin(|_| builder(servers, K).request_timeout(Duration::from_millis(500))).await
}

async fn leader(servers: &Servers) -> usize {
    loop {
        if let Some(leader) = servers.leader() {
            return leader;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn the_leader_is_killed() {
    with_cluster("the_leader_is_killed", 3, async |mut servers| {
        let storm = storm(&servers).await;
        storm.passes(30).await;
        for _ in 0..2 {
            let leader = leader(&servers).await;
            servers.kill(leader);
            storm.passes(100).await;
            servers.run(leader);
            servers.await_health();
            storm.passes(30).await;
        }
        storm.end("the leader is killed, twice").await;
    });
}

#[test]
fn a_member_is_killed() {
    with_cluster("a_member_is_killed", 3, async |mut servers| {
        let storm = storm(&servers).await;
        storm.passes(30).await;
        for _ in 0..2 {
            let member = (leader(&servers).await + 1) % 3;
            servers.kill(member);
            storm.passes(100).await;
            servers.run(member);
            servers.await_health();
            storm.passes(30).await;
        }
        storm.end("a member is killed, twice").await;
    });
}

#[test]
fn a_member_stops() {
    with_cluster("a_member_stops", 3, async |servers| {
        let storm = storm(&servers).await;
        storm.passes(30).await;
        for member in 0..3 {
            servers.stop(member);
            storm.passes(60).await;
            servers.go_on(member);
            storm.passes(30).await;
        }
        storm.end("each member stops, and goes on").await;
    });
}

#[test]
fn all_are_killed() {
    for members in [1, 3] {
        with_cluster("all_are_killed", members, async |mut servers| {
            let storm = storm(&servers).await;
            storm.passes(30).await;
            for _ in 0..2 {
                (0..members).for_each(|i| servers.kill(i));
                (0..members).for_each(|i| servers.run(i));
                servers.await_health();
                storm.passes(60).await;
            }
            storm.end(&format!("all {members} members are killed, twice")).await;
        });
    }
}

/// Answers that take longer than clients wait: nearly every request is in doubt, and done.
#[test]
fn requests_in_doubt() {
    with_cluster("requests_in_doubt", 1, async |servers| {
        let proxy = Proxy::new(servers.address(0)).await;
        let builder = |_| Slots::builder([&proxy.address], "test", K).request_timeout(Duration::from_millis(1));
        let storm = Storm::begin(builder).await;
        proxy.delays(Duration::from_millis(4));
        storm.passes(300).await;
        proxy.delays(Duration::ZERO);
        storm.passes(300).await;
        let doubts: u64 = storm.clients.iter().map(Slots::doubts).sum();
        assert!(doubts > 100, "only {doubts} requests in doubt");
        storm.end("timeouts of 1 ms").await;
    });
}

/// Connections that end at any time.
#[test]
fn connections_are_cut() {
    with_cluster("connections_are_cut", 1, async |servers| {
        let mut proxies = Vec::new();
        for _ in 0..CLIENTS {
            proxies.push(Proxy::new(servers.address(0)).await);
        }
        let builder =
            |i: usize| Slots::builder([&proxies[i].address], "test", K).request_timeout(Duration::from_millis(300));
        let storm = Storm::begin(builder).await;
        for round in 0..60 {
            let proxy = &proxies[round % CLIENTS];
            proxy.cut();
            tokio::time::sleep(Duration::from_millis(round as u64 % 7)).await;
            proxy.mend();
            storm.passes(5).await;
        }
        storm.end("connections are cut 60 times").await;
    });
}
