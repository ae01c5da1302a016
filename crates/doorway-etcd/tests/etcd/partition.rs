//! A member that is cut off from the others, but not from clients. Needs root and network
//! namespaces.

use crate::resource::{Resource, assert_all_free};
use crate::servers::{Servers, binary, skipped};
use crate::{builder, in_a_runtime};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

fn ip(args: &str) -> bool {
    Command::new("ip").args(args.split(' ')).output().is_ok_and(|out| out.status.success())
}

/// Three namespaces on a bridge.
struct Network {
    id: u32,
}

impl Network {
    fn new() -> Option<Self> {
        let id = std::process::id() % 10_000;
        let network = Self { id };
        let made = ip(&format!("link add dwb{id} type bridge"))
            && ip(&format!("addr add 10.213.77.1/24 dev dwb{id}"))
            && ip(&format!("link set dwb{id} up"))
            && (0..3).all(|i| network.add(i));
        made.then_some(network)
    }

    fn name(&self, i: usize) -> String {
        format!("dwn{}-{i}", self.id)
    }

    fn address(i: usize) -> String {
        format!("10.213.77.{}", 11 + i)
    }

    fn add(&self, i: usize) -> bool {
        let (id, name, address) = (self.id, self.name(i), Self::address(i));
        ip(&format!("netns add {name}"))
            && ip(&format!("link add dwv{id}-{i} type veth peer name eth0 netns {name}"))
            && ip(&format!("link set dwv{id}-{i} master dwb{id} up"))
            && ip(&format!("-n {name} addr add {address}/24 dev eth0"))
            && ip(&format!("-n {name} link set eth0 up"))
            && ip(&format!("-n {name} link set lo up"))
    }

    /// Cuts a member off from the others, or joins it again.
    fn cut(&self, i: usize, is_cut: bool) {
        let verb = if is_cut { "add" } else { "del" };
        for other in (0..3).filter(|&other| other != i) {
            let route = format!("-n {} route {verb} blackhole {}/32", self.name(i), Self::address(other));
            assert!(ip(&route), "{route}");
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for i in 0..3 {
            ip(&format!("netns del {}", self.name(i)));
        }
        ip(&format!("link del dwb{}", self.id));
    }
}

#[test]
fn a_member_is_cut_off() {
    if binary().is_none() {
        return skipped("a_member_is_cut_off", "there is no etcd");
    }
    let Some(network) = Network::new() else {
        // Not an error where it cannot be had.
        return eprintln!("\n*** SKIPPED a_member_is_cut_off: no network namespaces (needs root and `ip`) ***\n");
    };
    let places = (0..3).map(|i| (network.name(i), Network::address(i))).collect();
    let servers = Servers::start_in(places).expect("an etcd");
    in_a_runtime(async {
        let (k, resource) = (2, Arc::new(Resource::new(2)));
        let (passages, is_over) = (Arc::new(std::sync::atomic::AtomicU64::new(0)), Arc::new(false.into()));
        let mut tasks = Vec::new();
        let mut clients = Vec::new();
        for _ in 0..6 {
            let options = builder(&servers, k).request_timeout(Duration::from_millis(500));
            clients.push(options.ttl(Duration::from_secs(60)).connect().await.expect("a cluster"));
        }
        for slots in clients.clone() {
            let (resource, passages, is_over) = (resource.clone(), passages.clone(), Arc::clone(&is_over));
            tasks.push(tokio::spawn(async move {
                while !std::sync::atomic::AtomicBool::load(&is_over, std::sync::atomic::Ordering::SeqCst) {
                    let guard = slots.acquire().await.expect("a slot");
                    resource.work(&guard).await;
                    passages.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    guard.release().await.expect("it was held");
                }
            }));
        }
        let passes = async |more: u64| {
            let now = || passages.load(std::sync::atomic::Ordering::SeqCst);
            let goal = now() + more;
            while now() < goal {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        passes(30).await;
        // Each member in turn, so the leader too, and whichever member the clients use.
        for member in 0..3 {
            network.cut(member, true);
            passes(100).await;
            network.cut(member, false);
            passes(50).await;
        }
        is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        for task in tasks {
            task.await.expect("no panic");
        }
        let doubts: u64 = clients.iter().map(doorway_etcd::Slots::doubts).sum();
        let passages = passages.load(std::sync::atomic::Ordering::SeqCst);
        println!("each member is cut off: {passages} passages, {doubts} requests in doubt, {:?}", resource.seen());
        resource.assert_never_needed(passages);
        assert_all_free(&clients[0]).await;
    });
    drop(servers);
}
