//! What is known of other clients. Information only.

use crate::keys::{FOREIGN, Keys, revision};
use doorway_core::k_assignment::leases::Key;
use etcd_client::KeyValue;
use std::collections::HashMap;

/// What is known of a client. The client wrote it, so it may be false.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Known {
    /// The name of its machine.
    pub host: Option<String>,
    /// Its process number there.
    pub pid: Option<u32>,
    /// Its [label](crate::Builder::label). For a key that is not one of ours: which one it is.
    pub label: Option<String>,
    /// The number of its lease; 0 for a key that is not one of ours.
    pub lease: u64,
}

/// A client that holds a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Holder {
    /// The slot.
    pub slot: usize,
    /// The holder's fence.
    pub fence: u64,
    /// What is known of the holder.
    pub known: Known,
}

/// A task or thread that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Waiter {
    /// The revision at which it got in line.
    pub ticket: u64,
    /// What is known of the waiter.
    pub known: Known,
}

/// Holders and waiters at one revision of the cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The name.
    pub name: String,
    /// The number of slots.
    pub slots: usize,
    /// The holders, by slot.
    pub holders: Vec<Holder>,
    /// The waiters, oldest first.
    pub waiters: Vec<Waiter>,
}

/// What a client writes of itself.
pub(crate) fn described(label: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let one_line = |text: &str| text.trim().replace(char::is_control, " ");
    format!("{}\n{}\n{}", one_line(&host), std::process::id(), one_line(label))
}

fn read(lease: u64, value: &str) -> Known {
    let mut lines = value.split('\n').map(|line| Some(line).filter(|line| !line.is_empty()));
    let mut next = || lines.next().flatten();
    Known {
        host: next().map(str::to_owned),
        pid: next().and_then(|pid| pid.parse().ok()),
        label: next().map(str::to_owned),
        lease,
    }
}

pub(crate) fn of(name: &str, keys: &Keys, kvs: &[KeyValue]) -> Status {
    let member = |kv: &KeyValue| Some((keys.lease_of(kv.key())?, kv.value_str().unwrap_or("").to_owned()));
    let members: HashMap<u64, String> = kvs.iter().filter_map(member).collect();
    let known = |lease: u64, kv: &KeyValue| match lease {
        FOREIGN => {
            let label = Some(format!("not one of slots: the key {}", String::from_utf8_lossy(kv.key())));
            Known { label, ..Known::default() }
        }
        _ => read(lease, members.get(&lease).map_or("", String::as_str)),
    };
    let mut status = Status { name: name.to_owned(), slots: keys.k, holders: Vec::new(), waiters: Vec::new() };
    for kv in kvs {
        match keys.parse(kv.key()) {
            Some(Key::Slot(slot)) => {
                let held = Keys::held(kv);
                status.holders.push(Holder { slot, fence: held.fence, known: known(held.chair.lease, kv) });
            }
            Some(Key::Waits(chair)) => {
                status.waiters.push(Waiter { ticket: revision(kv.create_revision()), known: known(chair.lease, kv) });
            }
            _ => {}
        }
    }
    status.holders.sort_by_key(|holder| holder.slot);
    status.waiters.sort_by_key(|waiter| waiter.ticket);
    status
}
