//! Outages longer than a lease, leases that an operator revokes, rights that are taken away. No
//! slot is lost, and no client floods the cluster.

use crate::proxy::Proxy;
use crate::resource::assert_all_free;
use crate::servers::{Servers, skipped};
use crate::{builder, connect, with_cluster};
use doorway_etcd::{Error, ReleaseError, Slots, TimeoutError, TryAcquireError, blocking};
use etcd_client::Client;
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

/// Both ways to give a slot back end with the lease, and the runtime can end too.
#[test]
fn giving_back_during_an_outage() {
    let Some(servers) = Servers::start(1) else {
        return skipped("giving_back_during_an_outage", "there is no etcd");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let slots = builder(&servers, 2).ttl(Duration::from_secs(1)).connect().await.unwrap();
        let (released, dropped) = (slots.acquire().await.unwrap(), slots.acquire().await.unwrap());
        servers.stop(0);
        drop(dropped);
        // With one thread, a task that spins would keep this from ever returning.
        assert_eq!(released.release().await, Err(ReleaseError::Lost));
        tokio::time::sleep(Duration::from_millis(100)).await;
        servers.go_on(0);
        until_all_free(&slots).await;
    });
    drop(runtime);
}

/// The client's own lease is gone, and it does not know yet.
#[test]
fn a_lease_is_revoked() {
    with_cluster("a_lease_is_revoked", 1, async |servers| {
        let slots = builder(&servers, 1).ttl(Duration::from_secs(60)).connect().await.unwrap();
        let held = slots.acquire().await.unwrap();
        let lease = slots.status().await.unwrap().holders[0].known.lease;
        client(&servers).await.lease_revoke(lease as i64).await.unwrap();
        held.lost().await;
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        let before = servers.handled(&["Txn"]);
        let again = slots.acquire().await.unwrap();
        let sent = servers.handled(&["Txn"]) - before;
        assert!(sent < 20, "{sent} transactions");
        again.release().await.unwrap();
        until_all_free(&slots).await;
    });
}

/// The cluster says that the slot was another's, even if the mirror does not show that yet.
#[test]
fn what_was_broken_is_not_released() {
    with_cluster("what_was_broken_is_not_released", 1, async |servers| {
        let (here, there) = (connect(&servers, 1).await, connect(&servers, 1).await);
        for _ in 0..50 {
            let held = here.acquire().await.unwrap();
            there.break_holder(0, held.fence()).await.unwrap().expect("a holder");
            assert_eq!(held.release().await, Err(ReleaseError::Lost));
        }
        until_all_free(&here).await;
    });
}

/// Slots that are dropped give their lease back.
#[test]
fn dropping_gives_the_lease_back() {
    with_cluster("dropping_gives_the_lease_back", 1, async |servers| {
        let mut client = client(&servers).await;
        for _ in 0..10 {
            let slots = builder(&servers, 1).ttl(Duration::from_secs(600)).connect().await.unwrap();
            slots.acquire().await.unwrap().release().await.unwrap();
            drop(slots);
            while !client.leases().await.unwrap().leases().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
}

/// As long as the client keeps its lease alive, nothing but itself gives a slot back.
#[test]
fn rights_are_taken_away() {
    with_cluster("rights_are_taken_away", 1, async |servers| {
        let mut first = client(&servers).await;
        first.user_add("root", "secret", None).await.unwrap();
        first.role_add("root").await.unwrap();
        first.user_grant_role("root", "root").await.unwrap();
        first.user_add("worker", "other", None).await.unwrap();
        first.role_add("worker").await.unwrap();
        let keys = etcd_client::Permission::read_write("doorway/").with_prefix();
        first.role_grant_permission("worker", keys).await.unwrap();
        first.user_grant_role("worker", "worker").await.unwrap();
        first.auth_enable().await.unwrap();
        let options = etcd_client::ConnectOptions::new().with_user("root", "secret");
        let mut root = Client::connect(servers.endpoints(), Some(options)).await.unwrap();

        let limit = Duration::from_secs(600);
        let slots = builder(&servers, 2).ttl(limit).user("worker", "other").connect().await.unwrap();
        let held = slots.acquire().await.unwrap();
        // Every token is old now, and another one is asked for.
        root.user_add("another", "word", None).await.unwrap();
        held.release().await.unwrap();
        let (released, dropped) = (slots.acquire().await.unwrap(), slots.acquire().await.unwrap());
        let options = etcd_client::ConnectOptions::new().with_user("root", "secret");
        let mut root = Client::connect(servers.endpoints(), Some(options)).await.unwrap();
        root.user_revoke_role("worker", "worker").await.unwrap();
        drop(dropped);
        assert!(matches!(released.release().await, Err(ReleaseError::Failed(_))));
        let options = etcd_client::ConnectOptions::new().with_user("root", "secret");
        let mut root = Client::connect(servers.endpoints(), Some(options)).await.unwrap();
        root.user_grant_role("worker", "worker").await.unwrap();
        until_all_free(&slots).await;
    });
}

/// Times without end.
#[test]
fn no_time_is_too_long() {
    with_cluster("no_time_is_too_long", 1, async |servers| {
        let slots = builder(&servers, 1).ttl(Duration::MAX).request_timeout(Duration::MAX).connect().await.unwrap();
        assert_eq!(slots.ttl().await, Duration::from_secs(9_000_000_000));
        slots.acquire_timeout(Duration::MAX).await.unwrap().release().await.unwrap();
        slots.close().await.unwrap();
        let slots = builder(&servers, 1).ttl(Duration::from_millis(3900)).connect().await.unwrap();
        assert_eq!(slots.ttl().await, Duration::from_secs(4));
    });
}

/// What a call in another runtime begins does not end with that runtime.
#[test]
fn another_runtime() {
    let Some(servers) = Servers::start(1) else { return skipped("another_runtime", "there is no etcd") };
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (here, there) = (runtime(), runtime());
    let slots = here.block_on(async {
        let slots = builder(&servers, 1).ttl(Duration::from_secs(3)).connect().await.unwrap();
        let held = slots.acquire().await.unwrap();
        let lease = slots.status().await.unwrap().holders[0].known.lease;
        client(&servers).await.lease_revoke(lease as i64).await.unwrap();
        held.lost().await;
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        slots
    });
    let held = there.block_on(slots.acquire()).unwrap();
    drop(there);
    // The lease that was begun there lives on.
    here.block_on(async { assert!(tokio::time::timeout(Duration::from_secs(5), held.lost()).await.is_err()) });
    here.block_on(held.release()).unwrap();
}

/// Calls in another runtime end with an error when the one that answers has ended, those that wait
/// too.
#[test]
fn the_runtime_ends() {
    let Some(servers) = Servers::start(1) else { return skipped("the_runtime_ends", "there is no etcd") };
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (here, there) = (runtime(), runtime());
    let (slots, held) = here.block_on(async {
        let slots = builder(&servers, 1).ttl(Duration::from_secs(600)).connect().await.unwrap();
        let held = slots.acquire().await.unwrap();
        (slots, held)
    });
    let waits = there.spawn({
        let slots = slots.clone();
        async move { slots.acquire().await.map(drop) }
    });
    there.block_on(async {
        while slots.status().await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
    });
    drop(here);
    there.block_on(async {
        assert_eq!(waits.await.unwrap(), Err(Error::RuntimeEnded));
        assert_eq!(slots.acquire().await.map(drop), Err(Error::RuntimeEnded));
        assert_eq!(slots.try_acquire().await.map(drop), Err(TryAcquireError::Failed(Error::RuntimeEnded)));
        let timed = slots.acquire_timeout(Duration::from_secs(600)).await.map(drop);
        assert_eq!(timed, Err(TimeoutError::Failed(Error::RuntimeEnded)));
        assert_eq!(slots.status().await.map(drop), Err(Error::RuntimeEnded));
        assert_eq!(slots.break_slot(0).await.map(drop), Err(Error::RuntimeEnded));
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        assert_eq!(slots.close().await, Err(Error::RuntimeEnded));
    });
}

/// The blocking face in threads of `spawn_blocking`, and in tasks.
#[test]
fn threads_of_a_runtime() {
    with_cluster("threads_of_a_runtime", 1, async |servers| {
        let options = builder(&servers, 1);
        let in_a_task = || assert_eq!(blocking::Slots::with(options.clone()).map(drop), Err(Error::InATask));
        in_a_task();
        let options_there = options.clone();
        let work = move || {
            let slots = blocking::Slots::with(options_there).unwrap();
            let held = slots.acquire().unwrap();
            assert_eq!(slots.try_acquire().map(drop), Err(TryAcquireError::NoPlace));
            assert!(!held.wait_until_lost(Duration::from_millis(1)).unwrap());
            held.release().unwrap();
            drop(slots.acquire().unwrap());
            assert!(slots.status().unwrap().holders.is_empty());
            slots
        };
        let slots = tokio::task::spawn_blocking(work).await.unwrap();
        let in_place = tokio::spawn({
            let slots = slots.clone();
            async move {
                assert_eq!(slots.acquire().map(drop), Err(Error::InATask));
                // A task that says that it blocks.
                tokio::task::block_in_place(|| slots.acquire().unwrap().release().unwrap());
                // The budget that was asked for is there again.
                assert!(tokio::task::coop::has_budget_remaining());
                assert_eq!(slots.acquire().map(drop), Err(Error::InATask));
            }
        });
        in_place.await.unwrap();
        let held = tokio::task::spawn_blocking({
            let slots = slots.clone();
            move || slots.acquire().unwrap()
        });
        // A task may drop a guard: the slot is given back in the background.
        drop(held.await.unwrap());
        let other = connect(&servers, 1).await;
        other.acquire().await.unwrap().release().await.unwrap();
        in_a_task();
        tokio::task::spawn_blocking(move || slots.close().unwrap()).await.unwrap();
        until_all_free(&other).await;
    });
}

/// Keys that no client here has written, and answers of more than four megabytes.
#[test]
fn foreign_keys() {
    with_cluster("foreign_keys", 1, async |servers| {
        let mut client = client(&servers).await;
        let slots = builder(&servers, 7).ttl(Duration::from_secs(600)).connect().await.unwrap();
        for i in 0..6 {
            client.put(format!("doorway/test/.q/s/{i}"), "x".repeat(1 << 20), None).await.unwrap();
        }
        for alias in ["00", "+6", "7", "x"] {
            client.put(format!("doorway/test/.q/s/{alias}"), "5.5", None).await.unwrap();
        }
        // One slot is left, for a client that was there before, and for one that comes later.
        for slots in [slots.clone(), connect(&servers, 7).await] {
            for _ in 0..3 {
                let held = slots.try_acquire().await.unwrap();
                assert_eq!(held.slot(), 6);
                assert_eq!(slots.try_acquire().await.unwrap_err(), TryAcquireError::NoPlace);
                held.release().await.unwrap();
                slots.acquire().await.unwrap().release().await.unwrap();
            }
        }
        let status = slots.status().await.unwrap();
        assert_eq!(status.holders[0].known.label.as_deref(), Some("not one of slots: the key doorway/test/.q/s/0"));
        for slot in 0..6 {
            slots.break_slot(slot).await.unwrap().expect("a holder");
        }

        // A key among those that wait: all wait behind it, without a word to the cluster.
        client.put("doorway/test/.q/w/garbage", "", None).await.unwrap();
        assert_eq!(slots.status().await.unwrap().waiters.len(), 1);
        assert_eq!(slots.try_acquire().await.unwrap_err(), TryAcquireError::NoPlace);
        let before = servers.handled(&["Txn"]);
        let waits = {
            let slots = slots.clone();
            tokio::spawn(async move { slots.acquire().await.unwrap() })
        };
        while slots.status().await.unwrap().waiters.len() < 2 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        let sent = servers.handled(&["Txn"]) - before;
        assert!(sent < 200, "{sent} transactions");
        client.delete("doorway/test/.q/w/garbage", None).await.unwrap();
        waits.await.unwrap().release().await.unwrap();
        for alias in ["00", "+6", "7", "x"] {
            client.delete(format!("doorway/test/.q/s/{alias}"), None).await.unwrap();
        }
        until_all_free(&slots).await;
    });
}

/// The data of the cluster are replaced by older ones, or by none.
#[test]
fn the_store_goes_back() {
    with_cluster("the_store_goes_back", 1, async |mut servers| {
        for is_empty in [false, true] {
            let slots = builder(&servers, 1).ttl(Duration::from_secs(600)).connect().await.unwrap();
            slots.acquire().await.unwrap().release().await.unwrap();
            let backup = servers.back_up();
            for _ in 0..20 {
                slots.acquire().await.unwrap().release().await.unwrap();
            }
            let held = slots.acquire().await.unwrap();
            assert!(!held.is_lost());
            servers.replace((!is_empty).then_some(backup.as_path()));
            // The backup knows the lease: nothing but the revision tells.
            held.lost().await;
            assert_eq!(held.release().await, Err(ReleaseError::Lost));
            // It begins again, and so do others.
            let before = servers.handled(&["Txn"]);
            let again = slots.acquire().await.unwrap();
            let sent = servers.handled(&["Txn"]) - before;
            assert!(sent < 20, "{sent} transactions");
            assert!(!again.is_lost());
            let other = builder(&servers, 1).connect().await.unwrap();
            let waits = {
                let other = other.clone();
                tokio::spawn(async move { other.acquire().await.unwrap() })
            };
            while slots.status().await.unwrap().waiters.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            again.release().await.unwrap();
            waits.await.unwrap().release().await.unwrap();
            until_all_free(&other).await;
            std::fs::remove_dir_all(backup).unwrap();
        }
    });
}

/// The same, but before the client is connected again others have brought the store beyond every
/// revision that it has seen. The backup says that it holds the slot which it has given back, and
/// that it waits.
#[test]
fn the_store_goes_back_and_on() {
    with_cluster("the_store_goes_back_and_on", 1, async |mut servers| {
        let proxy = Proxy::new(servers.address(0)).await;
        let far = Slots::builder([&proxy.address], "test", 1).ttl(Duration::from_secs(600)).connect().await.unwrap();
        let held = far.acquire().await.unwrap();
        let waits = {
            let far = far.clone();
            tokio::spawn(async move { far.acquire().await.unwrap() })
        };
        while far.status().await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
        let backup = servers.back_up();
        let fence = held.fence();
        held.release().await.unwrap();
        let next = waits.await.unwrap();
        next.release().await.unwrap();
        // The client holds nothing and waits for nothing. It is idle, and its lease lives.
        assert_all_free(&far).await;
        proxy.cut();
        servers.replace(Some(backup.as_path()));
        let near = connect(&servers, 1).await;
        let status = near.status().await.unwrap();
        assert_eq!((status.holders.len(), status.holders[0].fence, status.waiters.len()), (1, fence, 1));
        let mut client = client(&servers).await;
        for i in 0..200 {
            client.put("elsewhere", i.to_string(), None).await.unwrap();
        }
        let reads = far.reads_and_watches().0;
        proxy.mend();
        // Nothing but the far client gives the slot back.
        let guard = near.acquire().await.unwrap();
        assert!(guard.fence() > fence);
        assert!(far.reads_and_watches().0 > reads);
        guard.release().await.unwrap();
        far.acquire().await.unwrap().release().await.unwrap();
        until_all_free(&near).await;
    });
}
