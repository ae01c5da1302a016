//! Slots in a real etcd. Without one, every test says that it was skipped.

mod attacks;
mod basics;
mod clocks;
mod deaths;
mod hardships;
mod outages;
mod partition;
mod proxy;
mod resource;
mod secured;
mod servers;

use doorway_etcd::{Builder, Slots};
use servers::Servers;
use std::time::Duration;

/// Runs a test in a cluster of this many members.
#[track_caller]
fn with_cluster<F: Future<Output = ()>>(test: &str, members: usize, run: impl FnOnce(Servers) -> F) {
    let Some(servers) = Servers::start(members) else {
        return servers::skipped(test, "there is no etcd; set DOORWAY_ETCD_BIN, or run ci/etcd.sh");
    };
    in_a_runtime(run(servers));
}

fn in_a_runtime(future: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().expect("a runtime").block_on(async {
        let limit = Duration::from_secs(300);
        tokio::time::timeout(limit, future).await.expect("the test does not hang");
    });
}

fn builder(servers: &Servers, k: usize) -> Builder {
    Slots::builder(servers.endpoints(), "test", k).label("a test")
}

async fn connect(servers: &Servers, k: usize) -> Slots {
    builder(servers, k).connect().await.expect("a cluster")
}
