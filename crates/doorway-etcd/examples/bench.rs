//! Slots in etcd beside other recipes, in the same run: passages a second, how long an entry takes,
//! and round trips a passage, counted at the server.
//!
//! It starts clusters of its own, on this machine, without `fsync`: compare only within one run.
//!
//! ```sh
//! cargo run --release --example bench            # DOORWAY_ETCD_BIN says which etcd
//! cargo run --release --example bench -- --quick
//! cargo run --release --example bench -- 64 1    # this many clients and slots only, one member
//! ```
//!
//! The last column says where the time goes: how many processor seconds this process and the
//! members used for each second.

#[allow(dead_code)]
#[path = "../tests/etcd/servers.rs"]
mod servers;

use doorway_etcd::Slots;
use etcd_client::{
    Client, Compare, CompareOp, EventType, GetOptions, LockOptions, PutOptions, SortOrder, SortTarget, Txn, TxnOp,
    WatchOptions, WatchStream,
};
use servers::Servers;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::sync::watch;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Clone, Copy, PartialEq)]
enum Recipe {
    /// This crate, with a connection and a mirror for each client.
    Doorway,
    /// This crate, with one connection and one mirror for all: tasks of one process.
    Tasks,
    /// etcd's own lock, for one slot.
    Lock,
    /// `k` keys; a client takes a free one, or waits for any change.
    Keys,
    /// A queue of keys; a client that has to wait opens a watch.
    Queue,
}

impl Recipe {
    fn name(self) -> &'static str {
        match self {
            Self::Doorway => "doorway-etcd",
            Self::Tasks => "doorway-etcd, 1 mirror",
            Self::Lock => "etcd's Lock",
            Self::Keys => "k keys",
            Self::Queue => "queue, watch per wait",
        }
    }
}

/// Rings when a key is deleted.
fn follow(mut stream: WatchStream) -> watch::Receiver<()> {
    let (rings, deleted) = watch::channel(());
    tokio::spawn(async move {
        while let Ok(Some(news)) = stream.message().await {
            if news.events().iter().any(|event| event.event_type() == EventType::Delete) {
                rings.send_replace(());
            }
        }
    });
    deleted
}

/// One client of one recipe.
enum User {
    Doorway(Slots),
    Lock { client: Client, lease: i64, name: String },
    Keys { client: Client, lease: i64, name: String, k: usize, deleted: watch::Receiver<()>, from: usize },
    Queue { client: Client, lease: i64, name: String, k: usize, me: usize },
}

enum Held {
    Doorway(doorway_etcd::Guard),
    Key(Vec<u8>),
}

impl User {
    async fn new(recipe: Recipe, endpoints: &[String], name: &str, k: usize, me: usize) -> Result<Self> {
        if matches!(recipe, Recipe::Doorway | Recipe::Tasks) {
            return Ok(Self::Doorway(Slots::connect(endpoints, name, k).await?));
        }
        let mut client = Client::connect([&endpoints[me % endpoints.len()]], None).await?;
        let lease = client.lease_grant(600, None).await?.id();
        let name = name.to_owned();
        Ok(match recipe {
            Recipe::Keys => {
                let stream = client.watch(format!("{name}/"), Some(WatchOptions::new().with_prefix())).await?;
                Self::Keys { client, lease, name, k, deleted: follow(stream), from: me }
            }
            Recipe::Queue => Self::Queue { client, lease, name, k, me },
            _ => Self::Lock { client, lease, name },
        })
    }

    async fn enter(&mut self) -> Result<Held> {
        match self {
            Self::Doorway(slots) => Ok(Held::Doorway(slots.acquire().await?)),
            Self::Lock { client, lease, name } => {
                let options = LockOptions::new().with_lease(*lease);
                Ok(Held::Key(client.lock(name.as_str(), Some(options)).await?.key().to_vec()))
            }
            Self::Keys { client, lease, name, k, deleted, from } => loop {
                deleted.borrow_and_update();
                for i in 0..*k {
                    let key = format!("{name}/{}", (*from + i) % *k);
                    let free = Compare::create_revision(key.clone(), CompareOp::Equal, 0);
                    let put = TxnOp::put(key.clone(), "", Some(PutOptions::new().with_lease(*lease)));
                    if client.txn(Txn::new().when([free]).and_then([put])).await?.succeeded() {
                        *from = (*from + i) % *k;
                        return Ok(Held::Key(key.into_bytes()));
                    }
                }
                // Any key that was deleted since the first look may be free.
                deleted.changed().await?;
            },
            Self::Queue { client, lease, name, k, me } => {
                let key = format!("{name}/{me}");
                let put = client.put(key.clone(), "", Some(PutOptions::new().with_lease(*lease))).await?;
                let mine = put.header().map_or(0, |header| header.revision());
                loop {
                    let ahead = GetOptions::new()
                        .with_prefix()
                        .with_max_create_revision(mine - 1)
                        .with_sort(SortTarget::Create, SortOrder::Descend);
                    let ahead = client.get(format!("{name}/"), Some(ahead.with_limit(*k as i64))).await?;
                    if ahead.kvs().len() < *k {
                        return Ok(Held::Key(key.into_bytes()));
                    }
                    let next = ahead.header().map_or(0, |header| header.revision()) + 1;
                    let options = WatchOptions::new().with_prefix().with_start_revision(next);
                    let mut watch = client.watch(format!("{name}/"), Some(options)).await?;
                    loop {
                        let Some(news) = watch.message().await? else { return Err("the watch ended".into()) };
                        if news.events().iter().any(|event| event.event_type() == EventType::Delete) {
                            break;
                        }
                    }
                }
            }
        }
    }

    async fn leave(&mut self, held: Held) -> Result<()> {
        match (self, held) {
            (_, Held::Doorway(guard)) => guard.release().await?,
            (Self::Lock { client, .. }, Held::Key(key)) => {
                client.unlock(key).await?;
            }
            (Self::Keys { client, .. } | Self::Queue { client, .. }, Held::Key(key)) => {
                client.delete(key, None).await?;
            }
            (Self::Doorway(_), Held::Key(_)) => {}
        }
        Ok(())
    }
}

/// Messages that the members have received, but for leases.
fn received(servers: &Servers) -> u64 {
    let of = |i: usize| -> std::io::Result<u64> {
        let mut stream = TcpStream::connect(servers.address(i))?;
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: etcd\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let counts = |line: &&str| line.starts_with("grpc_server_msg_received_total") && !line.contains("Lease");
        let value = |line: &str| line.rsplit(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) as u64;
        Ok(text.lines().filter(counts).map(value).sum())
    };
    (0..servers.len()).map(|i| of(i).unwrap_or(0)).sum()
}

struct Measured {
    a_second: f64,
    p50: Duration,
    p99: Duration,
    trips: f64,
    fewest: u64,
    most: u64,
    /// Processor seconds a second: of all clients, and of all members.
    busy: (f64, f64),
}

/// Processor seconds that a process has used.
fn used(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, in hundredths of a second.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn used_by(servers: &Servers) -> (f64, f64) {
    (used("self"), servers.processes().iter().map(|id| used(&id.to_string())).sum())
}

async fn measure(servers: &Servers, recipe: Recipe, clients: usize, k: usize, time: Duration) -> Result<Measured> {
    static CELLS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("bench{}", CELLS.fetch_add(1, SeqCst));
    let endpoints = servers.endpoints();
    let mut users: Vec<User> = Vec::new();
    for me in 0..clients {
        let shared = match users.first() {
            Some(User::Doorway(slots)) if recipe == Recipe::Tasks => Some(User::Doorway(slots.clone())),
            _ => None,
        };
        users.push(match shared {
            Some(user) => user,
            None => User::new(recipe, &endpoints, &name, k, me).await?,
        });
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let inside = Arc::new(AtomicUsize::new(0));
    let overfull = Arc::new(AtomicU64::new(0));
    let (before, began) = (received(servers), Instant::now());
    let used_before = used_by(servers);
    let mut tasks = Vec::new();
    for mut user in users {
        let (is_over, inside, overfull) = (is_over.clone(), inside.clone(), overfull.clone());
        tasks.push(tokio::spawn(async move {
            let mut waits = Vec::new();
            while !is_over.load(SeqCst) {
                let asked = Instant::now();
                let held = user.enter().await?;
                waits.push(asked.elapsed());
                overfull.fetch_add(u64::from(inside.fetch_add(1, SeqCst) >= k), SeqCst);
                inside.fetch_sub(1, SeqCst);
                user.leave(held).await?;
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(waits)
        }));
    }
    tokio::time::sleep(time).await;
    is_over.store(true, SeqCst);
    let mut all = Vec::new();
    let mut each = Vec::new();
    for task in tasks {
        let waits = task.await??;
        each.push(waits.len() as u64);
        all.extend(waits);
    }
    let elapsed = began.elapsed();
    let used_after = used_by(servers);
    let busy = |before: f64, after: f64| (after - before) / elapsed.as_secs_f64();
    let busy = (busy(used_before.0, used_after.0), busy(used_before.1, used_after.1));
    let trips = (received(servers) - before) as f64 / all.len().max(1) as f64;
    all.sort_unstable();
    assert_eq!(overfull.load(SeqCst), 0, "{} let too many in", recipe.name());
    let at = |share: f64| all.get((all.len() as f64 * share) as usize).copied().unwrap_or_default();
    Ok(Measured {
        a_second: all.len() as f64 / elapsed.as_secs_f64(),
        p50: at(0.5),
        p99: at(0.99),
        trips,
        fewest: each.iter().copied().min().unwrap_or(0),
        most: each.iter().copied().max().unwrap_or(0),
        busy,
    })
}

fn main() -> Result<()> {
    let quick = std::env::args().any(|word| word == "--quick");
    let only: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let time = if quick { Duration::from_millis(500) } else { Duration::from_secs(3) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for members in [1, 3] {
        let Some(servers) = Servers::start(members) else {
            return Err("there is no etcd; set DOORWAY_ETCD_BIN, or run ci/etcd.sh".into());
        };
        println!("{members} member(s), {:?} each; round trips are messages received by the members", time);
        println!(
            "clients   k  recipe                  passages/s  entry p50    entry p99  trips/passage  each client   busy \
             clients, members"
        );
        for clients in [1, 4, 16, 64] {
            for k in [1, 4, 16] {
                let is_left_out = match only[..] {
                    [wanted, slots] => (wanted, slots, 1) != (clients, k, members),
                    _ => quick && (clients == 64 || k == 16),
                };
                if is_left_out {
                    continue;
                }
                for recipe in [Recipe::Doorway, Recipe::Tasks, Recipe::Lock, Recipe::Keys, Recipe::Queue] {
                    if recipe == Recipe::Lock && k > 1 || recipe == Recipe::Tasks && clients == 1 {
                        continue;
                    }
                    let name = recipe.name();
                    match runtime.block_on(measure(&servers, recipe, clients, k, time)) {
                        Ok(m) => println!(
                            "{clients:>7} {k:>3}  {name:<22} {:>11.0} {:>9.1} ms {:>9.1} ms {:>14.2}  {:<12}  {:.2}, {:.2}",
                            m.a_second,
                            m.p50.as_secs_f64() * 1e3,
                            m.p99.as_secs_f64() * 1e3,
                            m.trips,
                            format!("{}..{}", m.fewest, m.most),
                            m.busy.0,
                            m.busy.1
                        ),
                        Err(error) => println!("{clients:>7} {k:>3}  {name:<22} failed: {error}"),
                    }
                }
            }
        }
        println!();
    }
    Ok(())
}
