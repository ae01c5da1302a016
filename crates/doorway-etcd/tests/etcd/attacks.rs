//! Operators and clients that do what they should not: keys deleted by hand, leases revoked, slots
//! broken, all while clients pass. A resource outside compares fences. Nothing is obeyed out of
//! order, and at the end all slots are free.

use crate::resource::{Resource, assert_all_free};
use crate::servers::Servers;
use crate::{builder, connect, with_cluster};
use doorway_etcd::{Error, ReleaseError, Slots};
use etcd_client::{Client, DeleteOptions, GetOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

async fn client(servers: &Servers) -> Client {
    Client::connect(servers.endpoints(), None).await.expect("a cluster")
}

async fn until_all_free(slots: &Slots) {
    loop {
        let status = slots.status().await.expect("a status");
        if status.holders.is_empty() && status.waiters.is_empty() {
            return assert_all_free(slots).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Clients that pass while an operator does this: each time, for this many further passages.
async fn beside<F: Future<Output = ()>>(servers: &Servers, k: usize, rounds: u64, mut does: impl FnMut(u64) -> F) {
    let (resource, passages) = (Arc::new(Resource::new(k)), Arc::new(AtomicU64::new(0)));
    let is_over = Arc::new(AtomicBool::new(false));
    let (mut clients, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        clients.push(builder(servers, k).ttl(Duration::from_secs(600)).connect().await.expect("a cluster"));
    }
    for i in 0..8 {
        let (slots, resource) = (clients[i % 4].clone(), resource.clone());
        let (passages, is_over) = (passages.clone(), is_over.clone());
        tasks.push(tokio::spawn(async move {
            while !is_over.load(SeqCst) {
                let guard = slots.acquire().await.expect("a slot");
                resource.work(&guard).await;
                passages.fetch_add(1, SeqCst);
                match guard.release().await {
                    Ok(()) | Err(ReleaseError::Lost) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }));
    }
    for round in 0..rounds {
        does(round).await;
        let goal = passages.load(SeqCst) + 20;
        while passages.load(SeqCst) < goal {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    is_over.store(true, SeqCst);
    for task in tasks {
        task.await.expect("no panic");
    }
    let seen = resource.seen();
    println!("{} passages, {seen:?}", passages.load(SeqCst));
    assert_eq!(seen.same, 0, "no fence is given twice");
    until_all_free(&clients[0]).await;
}

#[test]
fn keys_are_deleted_by_hand() {
    with_cluster("keys_are_deleted_by_hand", 1, async |servers| {
        beside(&servers, 2, 40, async |round| {
            let all = ["s/0", "s/1", "w/", "s/"];
            let key = match round % 5 {
                4 => "doorway/test/.r/".to_owned(),
                which => format!("doorway/test/.q/{}", all[which as usize]),
            };
            let options = key.ends_with('/').then(|| DeleteOptions::new().with_prefix());
            client(&servers).await.delete(key, options).await.expect("it is done");
        })
        .await;
    });
}

#[test]
fn leases_are_revoked_by_hand() {
    with_cluster("leases_are_revoked_by_hand", 1, async |servers| {
        beside(&servers, 2, 25, async |round| {
            let mut client = client(&servers).await;
            let all = client.leases().await.expect("a list");
            let leases = all.leases();
            if let Some(lease) = leases.get(round as usize % leases.len().max(1)) {
                // It may have ended meanwhile.
                let _ = client.lease_revoke(lease.id()).await;
            }
        })
        .await;
    });
}

#[test]
fn slots_are_broken_by_others() {
    with_cluster("slots_are_broken_by_others", 1, async |servers| {
        let operator = connect(&servers, 2).await;
        beside(&servers, 2, 60, async |round| {
            operator.break_slot(round as usize % 2).await.expect("it is done");
        })
        .await;
    });
}

/// A thousand tasks of one client wait, and a thousand of twenty clients.
#[test]
fn a_thousand_wait() {
    with_cluster("a_thousand_wait", 1, async |servers| {
        for clients in [1, 20] {
            let mut all = Vec::new();
            for _ in 0..clients {
                all.push(builder(&servers, 4).ttl(Duration::from_secs(600)).connect().await.unwrap());
            }
            let mut held = Vec::new();
            for _ in 0..4 {
                held.push(all[0].acquire().await.unwrap());
            }
            let resource = Arc::new(Resource::new(4));
            let mut tasks = Vec::new();
            for i in 0..1000 {
                let (slots, resource) = (all[i % clients].clone(), resource.clone());
                tasks.push(tokio::spawn(async move {
                    let guard = slots.acquire().await.unwrap();
                    resource.work(&guard).await;
                    guard.release().await.unwrap();
                }));
            }
            while all[0].status().await.unwrap().waiters.len() < 1000 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // Some give up, wherever they are in line.
            for task in tasks.iter().step_by(10) {
                task.abort();
            }
            let before = servers.handled(&["Txn"]);
            for guard in held {
                guard.release().await.unwrap();
            }
            let mut passages = 0;
            for task in tasks {
                passages += u64::from(task.await.is_ok());
            }
            assert!(passages >= 900);
            until_all_free(&all[0]).await;
            let seen = resource.seen();
            assert_eq!((seen.refused, seen.same, seen.overlaps), (0, 0, 0));
            let trips = (servers.handled(&["Txn"]) - before) as f64 / passages as f64;
            println!("{clients} clients, 1000 waiters: {trips:.2} transactions for each passage after the wait");
            assert!(trips < 3.0, "{trips} transactions");
        }
    });
}

/// Hundreds of slots are given back while the cluster does not answer.
#[test]
fn a_storm_of_releases_during_an_outage() {
    with_cluster("a_storm_of_releases_during_an_outage", 1, async |servers| {
        const K: usize = 300;
        let slots = builder(&servers, K).ttl(Duration::from_secs(600)).connect().await.unwrap();
        let mut held = Vec::new();
        for _ in 0..K {
            held.push(slots.acquire().await.unwrap());
        }
        let waits = {
            let slots = slots.clone();
            tokio::spawn(async move { slots.acquire().await.unwrap() })
        };
        while slots.status().await.unwrap().waiters.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        servers.stop(0);
        let mut tasks = Vec::new();
        for (i, guard) in held.into_iter().enumerate() {
            if i % 3 > 0 {
                tasks.push(tokio::spawn(guard.release()));
            } // else it is dropped
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        let before = servers.processes().len();
        servers.go_on(0);
        assert_eq!(before, 1);
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        waits.await.unwrap().release().await.unwrap();
        until_all_free(&slots).await;
        assert!(slots.doubts() > 0);
    });
}

/// Endpoints of two clusters, by mistake. When one is gone, the client finds itself in the other,
/// and what it held is lost.
#[test]
fn two_clusters() {
    with_cluster("two_clusters", 1, async |mut one| {
        let Some(mut other) = Servers::start(1) else { return };
        let both = [one.endpoints(), other.endpoints()].concat();
        let slots = Slots::builder(both, "test", 1).ttl(Duration::from_secs(600)).connect().await.unwrap();
        let held = slots.acquire().await.unwrap();
        let is_first = !connect(&one, 1).await.status().await.unwrap().holders.is_empty();
        if is_first {
            one.kill(0)
        } else {
            other.kill(0)
        }
        held.lost().await;
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        let again = slots.acquire().await.unwrap();
        assert!(!again.is_lost());
        again.release().await.unwrap();
        assert_all_free(&slots).await;
    });
}

/// The number of slots is deleted, and another client brings another number. Clients that are
/// connected keep theirs; no further client can come with the old number.
#[test]
fn another_number_of_slots() {
    with_cluster("another_number_of_slots", 1, async |servers| {
        let two = connect(&servers, 2).await;
        let mut client = client(&servers).await;
        client.delete("doorway/test/.k", None).await.unwrap();
        let five = connect(&servers, 5).await;
        assert_eq!(builder(&servers, 2).connect().await.unwrap_err(), Error::OtherSlots { found: 5, asked: 2 });
        let (a, b) = (two.acquire().await.unwrap(), two.acquire().await.unwrap());
        assert!(two.try_acquire().await.is_err());
        let mut more = Vec::new();
        for _ in 0..3 {
            more.push(five.try_acquire().await.unwrap());
        }
        assert!(five.try_acquire().await.is_err());
        let waits = {
            let two = two.clone();
            tokio::spawn(async move { two.acquire().await.unwrap() })
        };
        while two.status().await.unwrap().waiters.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Slots that the waiter does not know of are passed to it. It gives them back, and waits
        // on.
        for guard in more {
            guard.release().await.unwrap();
        }
        let (slot, fence) = (a.slot(), a.fence());
        a.release().await.unwrap();
        let third = waits.await.unwrap();
        assert!(!third.is_lost() && third.slot() < 2 && third.fence() > fence);
        assert_eq!(third.slot(), slot);
        for guard in [b, third] {
            guard.release().await.unwrap();
        }
        until_all_free(&five).await;
        let all = client.get("doorway/test/.q/", Some(GetOptions::new().with_prefix())).await.unwrap();
        assert!(all.kvs().is_empty(), "{:?}", all.kvs());
        assert_all_free(&five).await;
    });
}
