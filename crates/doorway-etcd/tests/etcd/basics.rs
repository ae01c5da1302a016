//! What is promised while nothing fails.

use crate::proxy::Proxy;
use crate::resource::{Resource, assert_all_free};
use crate::{builder, connect, with_cluster};
use doorway_etcd::{Error, ReleaseError, Slots, TimeoutError, TryAcquireError, blocking};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

#[test]
fn slots_and_fences() {
    with_cluster("slots_and_fences", 1, async |servers| {
        let (here, there) = (connect(&servers, 2).await, connect(&servers, 2).await);
        let (a, b) = (here.acquire().await.unwrap(), there.acquire().await.unwrap());
        assert_ne!(a.slot(), b.slot());
        assert!(b.fence() > a.fence());
        assert_eq!(here.try_acquire().await.unwrap_err(), TryAcquireError::NoPlace);
        let waits = tokio::spawn(async move { there.acquire().await.unwrap() });
        while here.status().await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
        let status = here.status().await.unwrap();
        assert_eq!((status.holders.len(), status.waiters.len()), (2, 1));
        assert_eq!(status.holders[a.slot()].fence, a.fence());
        assert_eq!(status.holders[0].known.label.as_deref(), Some("a test"));
        assert_eq!(status.holders[0].known.pid, Some(std::process::id()));
        let (slot, fence) = (a.slot(), a.fence());
        assert!(!a.is_lost());
        a.release().await.unwrap();
        let c = waits.await.unwrap();
        assert_eq!(c.slot(), slot);
        assert!(c.fence() > fence && c.fence() > b.fence());
        drop((b, c));
        while !here.status().await.unwrap().holders.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_all_free(&here).await;
    });
}

#[test]
fn first_come_first_served() {
    with_cluster("first_come_first_served", 1, async |servers| {
        let clients = [connect(&servers, 1).await, connect(&servers, 1).await, connect(&servers, 1).await];
        let holder = clients[0].acquire().await.unwrap();
        let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
        let mut tasks = Vec::new();
        for i in 0..12 {
            let (client, sender) = (clients[i % 3].clone(), sender.clone());
            tasks.push(tokio::spawn(async move {
                let guard = client.acquire().await.unwrap();
                sender.send((i, guard.fence())).unwrap();
                guard.release().await.unwrap();
            }));
            while clients[0].status().await.unwrap().waiters.len() <= i {
                tokio::task::yield_now().await;
            }
        }
        holder.release().await.unwrap();
        let mut last = 0;
        for i in 0..12 {
            let (who, fence) = order.recv().await.unwrap();
            assert_eq!(who, i);
            assert!(fence > last);
            last = fence;
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_all_free(&clients[1]).await;
    });
}

#[test]
fn giving_up() {
    with_cluster("giving_up", 1, async |servers| {
        let slots = connect(&servers, 1).await;
        let holder = slots.acquire().await.unwrap();
        let waited = slots.acquire_timeout(Duration::from_millis(50)).await;
        assert_eq!(waited.unwrap_err(), TimeoutError::TimedOut);
        // Futures that are dropped at any time.
        let mut waiting = Vec::new();
        for i in 0..40u64 {
            let other = slots.clone();
            waiting.push(tokio::spawn(async move {
                drop(tokio::time::timeout(Duration::from_micros(i * 250), other.acquire()).await);
            }));
        }
        holder.release().await.unwrap();
        for task in waiting {
            task.await.unwrap();
        }
        // What was left behind is settled in the background.
        loop {
            let status = slots.status().await.unwrap();
            if status.holders.is_empty() && status.waiters.is_empty() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_all_free(&slots).await;
    });
}

#[test]
fn what_is_refused() {
    with_cluster("what_is_refused", 1, async |servers| {
        let missing = Slots::existing(servers.endpoints(), "test").connect().await;
        assert!(matches!(missing, Err(Error::Missing(_))), "{missing:?}");
        let slots = connect(&servers, 3).await;
        let other = builder(&servers, 4).connect().await;
        assert_eq!(other.unwrap_err(), Error::OtherSlots { found: 3, asked: 4 });
        assert_eq!(Slots::existing(servers.endpoints(), "test").connect().await.unwrap().places(), 3);
        assert_eq!(slots.break_slot(3).await.unwrap_err(), Error::NoSuchSlot { slot: 3, slots: 3 });
        assert_eq!(builder(&servers, 0).connect().await.unwrap_err(), Error::BadSlots(0));
        assert!(matches!(Slots::connect(servers.endpoints(), "", 1).await, Err(Error::BadName(_))));
        let nowhere: [&str; 0] = [];
        assert!(matches!(Slots::connect(nowhere, "test", 1).await, Err(Error::BadEndpoints(_))));
        let dead = Slots::builder(["http://127.0.0.1:1"], "test", 1).connect_timeout(Duration::from_millis(300));
        assert!(matches!(dead.connect().await, Err(Error::Unreachable(_))));
    });
}

#[test]
fn breaking() {
    with_cluster("breaking", 1, async |servers| {
        let (here, there) = (connect(&servers, 1).await, connect(&servers, 1).await);
        let holder = here.acquire().await.unwrap();
        let waits = {
            let there = there.clone();
            tokio::spawn(async move { there.acquire().await.unwrap() })
        };
        while there.status().await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(there.break_holder(0, holder.fence() - 1).await.unwrap(), None);
        let known = there.break_slot(0).await.unwrap().expect("a holder");
        assert_eq!(known.pid, Some(std::process::id()));
        holder.lost().await;
        assert!(holder.is_lost());
        let next = waits.await.unwrap();
        assert!(next.fence() > holder.fence());
        assert_eq!(holder.release().await, Err(ReleaseError::Lost));
        assert!(!next.is_lost());
        next.release().await.unwrap();
        assert_eq!(there.break_slot(0).await.unwrap(), None);
        assert_all_free(&here).await;
    });
}

#[test]
fn closing_gives_everything_back() {
    with_cluster("closing_gives_everything_back", 1, async |servers| {
        let (here, there) = (connect(&servers, 2).await, connect(&servers, 2).await);
        let held = here.acquire().await.unwrap();
        here.close().await.unwrap();
        assert!(held.is_lost());
        held.lost().await;
        assert_eq!(held.release().await, Err(ReleaseError::Lost));
        assert_all_free(&there).await;
    });
}

#[test]
fn threads() {
    let Some(servers) = crate::servers::Servers::start(1) else {
        return crate::servers::skipped("threads", "there is no etcd");
    };
    let slots = blocking::Slots::with(builder(&servers, 2)).unwrap();
    let resource = Resource::new(2);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let guard = slots.acquire().unwrap();
                    assert!(resource.begin(guard.slot(), guard.fence()));
                    resource.end(guard.slot());
                    guard.release().unwrap();
                }
            });
        }
    });
    resource.assert_never_needed(120);
    let held = slots.acquire().unwrap();
    let waited = slots.acquire_timeout(Duration::from_millis(20)).map(drop);
    assert!(waited.is_ok());
    assert!(!held.wait_until_lost(Duration::from_millis(1)).unwrap());
    slots.break_slot(held.slot()).unwrap().expect("a holder");
    assert!(held.wait_until_lost(Duration::from_secs(60)).unwrap() && held.is_lost());
    assert_eq!(held.release(), Err(ReleaseError::Lost));
    assert!(slots.status().unwrap().holders.is_empty());
}

/// Many tasks of one client: they share a lease, a mirror and chairs.
#[test]
fn tasks_of_one_client() {
    with_cluster("tasks_of_one_client", 1, async |servers| {
        let slots = connect(&servers, 2).await;
        let (resource, passages) = (Arc::new(Resource::new(2)), Arc::new(AtomicU64::new(0)));
        let mut tasks = Vec::new();
        for i in 0..32 {
            let (slots, resource, passages) = (slots.clone(), resource.clone(), passages.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..40 {
                    let entered = match i % 4 {
                        0 => slots.try_acquire().await.ok(),
                        1 => slots.acquire_timeout(Duration::from_millis(3)).await.ok(),
                        _ => Some(slots.acquire().await.unwrap()),
                    };
                    let Some(guard) = entered else { continue };
                    resource.work(&guard).await;
                    passages.fetch_add(1, SeqCst);
                    if i % 2 == 0 {
                        guard.release().await.unwrap();
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        resource.assert_never_needed(passages.load(SeqCst));
        loop {
            let status = slots.status().await.unwrap();
            if status.holders.is_empty() && status.waiters.is_empty() {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_all_free(&slots).await;
    });
}

/// Round trips are counted at the server: they do not depend on the number of clients.
#[test]
fn two_round_trips_a_passage() {
    with_cluster("two_round_trips_a_passage", 1, async |servers| {
        for (clients, k) in [(1, 1), (4, 1), (16, 1), (16, 4), (16, 16)] {
            let name = format!("{clients}-{k}");
            let mut all = Vec::new();
            for _ in 0..clients {
                all.push(Slots::connect(servers.endpoints(), name.clone(), k).await.unwrap());
            }
            let resource = Arc::new(Resource::new(k));
            let methods = ["Txn", "Range", "Put", "DeleteRange", "LeaseGrant", "LeaseRevoke"];
            let before = servers.handled(&methods);
            let mut tasks = Vec::new();
            for slots in all.clone() {
                let resource = resource.clone();
                tasks.push(tokio::spawn(async move {
                    for _ in 0..40 {
                        let guard = slots.acquire().await.unwrap();
                        resource.work(&guard).await;
                        guard.release().await.unwrap();
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            let passages = clients as u64 * 40;
            resource.assert_never_needed(passages);
            let each = (servers.handled(&methods) - before) as f64 / passages as f64;
            println!("{clients} clients, k = {k}: {each:.3} round trips a passage");
            assert!(each <= 3.0, "{each} round trips a passage with {clients} clients, k = {k}");
            assert_all_free(&all[0]).await;
        }
    });
}

/// A watch that was cut off while its events were compacted.
#[test]
fn compaction_under_a_watch() {
    with_cluster("compaction_under_a_watch", 1, async |servers| {
        let proxy = Proxy::new(servers.address(0)).await;
        let far = Slots::builder([&proxy.address], "test", 1).ttl(Duration::from_secs(60)).connect().await.unwrap();
        let near = connect(&servers, 1).await;
        let held = near.acquire().await.unwrap();
        let waits = {
            let far = far.clone();
            tokio::spawn(async move { far.acquire().await.unwrap() })
        };
        while near.status().await.unwrap().waiters.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(far.reads_and_watches().0, 1);
        proxy.cut();
        // The far client is the oldest that waits, and gets the slot. It does not know that.
        let fence = held.fence();
        held.release().await.unwrap();
        let mut client = etcd_client::Client::connect(servers.endpoints(), None).await.unwrap();
        let mut last = 0;
        for i in 0..20 {
            let put = client.put("elsewhere", i.to_string(), None).await.unwrap();
            last = put.header().unwrap().revision();
        }
        client.compact(last, None).await.unwrap();
        proxy.mend();
        let guard = waits.await.unwrap();
        assert!(guard.fence() > fence && !guard.is_lost());
        assert!(far.reads_and_watches().0 >= 2);
        // The slot was read. Then another watch goes on.
        while far.reads_and_watches().1 < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        guard.release().await.unwrap();
        assert_all_free(&near).await;
    });
}
