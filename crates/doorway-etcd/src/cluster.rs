//! The members of the cluster: which one to ask, for how long, and when to ask another.

use crate::clock;
use crate::errors::Error;
use etcd_client::{Client, ConnectOptions, Error as EtcdError, KvClient, WatchClient};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::runtime::Handle;

/// A member that has failed is left alone for this long at first, and for longer each time.
const SHORTEST_BAN: Duration = Duration::from_millis(250);
const LONGEST_BAN: Duration = Duration::from_secs(5);

struct Endpoint {
    address: String,
    /// One connection; made when it is first used.
    client: Mutex<Option<Client>>,
    /// Until when it is left alone, in milliseconds.
    banned: AtomicU64,
    failures: AtomicU64,
}

/// The clients of all members. The library's own balancer keeps offering dead ones.
pub(crate) struct Cluster {
    endpoints: Vec<Endpoint>,
    /// The member in use.
    current: AtomicUsize,
    options: ConnectOptions,
    pub(crate) timeout: Duration,
    /// How many requests were in doubt.
    pub(crate) doubts: AtomicU64,
    /// Connections belong to the runtime in which the cluster was connected.
    pub(crate) runtime: Handle,
}

/// Why a request has no answer.
pub(crate) enum NoAnswer {
    /// It may have been done, or be done later.
    InDoubt(String),
    /// A lease in it has ended. It was not done.
    NoLease,
    /// It was not done, and never will be.
    Refused(Error),
}

impl Cluster {
    pub(crate) fn new(endpoints: &[String], options: ConnectOptions, timeout: Duration) -> Result<Self, Error> {
        if endpoints.is_empty() {
            return Err(Error::BadEndpoints(String::new()));
        }
        let endpoint = |address: &String| Endpoint {
            address: address.clone(),
            client: Mutex::new(None),
            banned: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        };
        // Clients begin with different members.
        let first = (clock::now().as_nanos() as usize ^ std::process::id() as usize) % endpoints.len();
        let endpoints = endpoints.iter().map(endpoint).collect();
        let (current, doubts) = (AtomicUsize::new(first), AtomicU64::new(0));
        Ok(Self { endpoints, current, options, timeout, doubts, runtime: Handle::current() })
    }

    /// The member to ask now: the one in use, unless it has failed.
    fn pick(&self) -> usize {
        let (n, current, now) = (self.endpoints.len(), self.current.load(SeqCst), millis());
        let banned = |i: usize| self.endpoints[i].banned.load(SeqCst);
        let in_turn = (0..n).map(|i| (current + i) % n);
        let best = in_turn.clone().find(|&i| banned(i) <= now).or_else(|| in_turn.min_by_key(|&i| banned(i)));
        let best = best.unwrap_or(0);
        self.current.store(best, SeqCst);
        best
    }

    fn failed(&self, i: usize) {
        let endpoint = &self.endpoints[i];
        let times = endpoint.failures.fetch_add(1, SeqCst).min(8) as u32;
        let ban = (SHORTEST_BAN * 2u32.pow(times)).min(LONGEST_BAN);
        endpoint.banned.store(millis() + ban.as_millis() as u64, SeqCst);
    }

    fn worked(&self, i: usize) {
        self.endpoints[i].failures.store(0, SeqCst);
        self.endpoints[i].banned.store(0, SeqCst);
    }

    async fn client(&self, i: usize) -> Result<Client, NoAnswer> {
        let endpoint = &self.endpoints[i];
        let known = endpoint.client.lock().unwrap_or_else(|e| e.into_inner()).clone();
        if let Some(client) = known {
            return Ok(client);
        }
        // Connections are made lazily; only a client with a password talks to the member now.
        // The tasks of a connection would end with the runtime of a caller.
        let (address, options) = (endpoint.address.clone(), self.options.clone());
        let made = self.runtime.spawn(async move { Client::connect([address], Some(options)).await });
        let Ok(made) = made.await else { return Err(NoAnswer::Refused(Error::RuntimeEnded)) };
        let client = made.map_err(judge)?;
        *endpoint.client.lock().unwrap_or_else(|e| e.into_inner()) = Some(client.clone());
        Ok(client)
    }

    /// Asks one member, for this long.
    pub(crate) async fn ask<T, F: Future<Output = Result<T, EtcdError>> + Send>(
        &self,
        timeout: Duration,
        request: impl Fn(Client) -> F + Send + Sync,
    ) -> Result<T, NoAnswer> {
        let i = self.pick();
        let asked = async { request(self.client(i).await?).await.map_err(judge) };
        match tokio::time::timeout(timeout, asked).await {
            Ok(Ok(answer)) => {
                self.worked(i);
                Ok(answer)
            }
            Ok(Err(why)) => {
                match &why {
                    NoAnswer::InDoubt(why) => {
                        if is_about_a_token(why) {
                            // The next attempt shows the password again.
                            *self.endpoints[i].client.lock().unwrap_or_else(|e| e.into_inner()) = None;
                        }
                        self.failed(i);
                    }
                    NoAnswer::NoLease | NoAnswer::Refused(_) => self.worked(i),
                }
                Err(why)
            }
            Err(_) => {
                self.failed(i);
                Err(NoAnswer::InDoubt(format!("no answer within {timeout:?}")))
            }
        }
    }

    /// Asks until there is an answer. The request must be one that may be done twice, or not at all
    /// after the first time.
    pub(crate) async fn insist<T, F: Future<Output = Result<T, EtcdError>> + Send>(
        &self,
        request: impl Fn(Client) -> F + Send + Sync,
    ) -> Result<Result<T, NoLease>, Error> {
        self.insist_and_count(&AtomicU64::new(0), request).await
    }

    /// The same. Counts how often the request was in doubt: it may have been done by a copy that
    /// was not answered.
    pub(crate) async fn insist_and_count<T, F: Future<Output = Result<T, EtcdError>> + Send>(
        &self,
        doubts: &AtomicU64,
        request: impl Fn(Client) -> F + Send + Sync,
    ) -> Result<Result<T, NoLease>, Error> {
        let mut attempt = 0;
        loop {
            match self.ask(self.patience(attempt), &request).await {
                Ok(answer) => return Ok(Ok(answer)),
                Err(NoAnswer::NoLease) => return Ok(Err(NoLease)),
                Err(NoAnswer::Refused(error)) => return Err(error),
                Err(NoAnswer::InDoubt(_)) => {
                    doubts.fetch_add(1, SeqCst);
                    self.doubts.fetch_add(1, SeqCst);
                }
            }
            self.rest(attempt).await;
            attempt += 1;
        }
    }

    /// How long to wait for an answer: longer each time, so that a timeout which is too short for
    /// this cluster ends nothing.
    pub(crate) fn patience(&self, attempt: u32) -> Duration {
        self.timeout.saturating_mul(2u32.pow(attempt.min(12))).min(self.timeout.max(Duration::from_secs(5)))
    }

    /// The pause before the next attempt: none until every member was asked.
    pub(crate) async fn rest(&self, attempt: u32) {
        let rounds = (attempt + 1) / self.endpoints.len() as u32;
        if rounds > 0 {
            pause(rounds.min(6)).await;
        }
    }
}

/// The pause before something is tried again for this many times: it doubles, up to 1.3 seconds.
pub(crate) async fn pause(times: u32) {
    let jitter = clock::now().subsec_nanos() as u64 % 10;
    tokio::time::sleep(Duration::from_millis((5 << times.min(8)) + jitter)).await;
}

/// Reads and writes. An answer may have any size: the cluster has done what it answers.
pub(crate) fn kv(client: &Client) -> KvClient {
    client.kv_client().max_decoding_message_size(usize::MAX)
}

/// The same for watches.
pub(crate) fn watches(client: &Client) -> WatchClient {
    client.watch_client().max_decoding_message_size(usize::MAX)
}

/// A request to a client that is handed over, with copies of these values.
macro_rules! request {
    ($client:ident, [$($value:ident),*], $call:expr) => {
        |$client: etcd_client::Client| {
            $(let $value = $value.clone();)*
            async move { $call.await }
        }
    };
}
pub(crate) use request;

/// The store does not know a lease.
pub(crate) struct NoLease;

fn millis() -> u64 {
    clock::now().as_millis() as u64
}

/// What an error means. Every error after sending means that the request is in doubt, unless it
/// says that the request cannot be done.
fn judge(error: EtcdError) -> NoAnswer {
    let text = error.to_string();
    if text.contains("requested lease not found") {
        return NoAnswer::NoLease;
    }
    if is_about_a_token(&text) {
        return NoAnswer::InDoubt(text);
    }
    match error {
        EtcdError::GRpcStatus(status) => {
            use tonic_code::*;
            match status.code() as i32 {
                INVALID_ARGUMENT | PERMISSION_DENIED | UNIMPLEMENTED | UNAUTHENTICATED => {
                    NoAnswer::Refused(Error::Refused(status.message().to_owned()))
                }
                _ => NoAnswer::InDoubt(text),
            }
        }
        EtcdError::InvalidArgs(why) => NoAnswer::Refused(Error::BadEndpoints(why)),
        EtcdError::InvalidUri(why) => NoAnswer::Refused(Error::BadEndpoints(why.to_string())),
        _ => NoAnswer::InDoubt(text),
    }
}

/// Users or rights have changed, or a member was started again. Another token helps.
fn is_about_a_token(why: &str) -> bool {
    ["revision of auth store is old", "revision in header is old", "invalid auth token"].iter().any(|t| why.contains(t))
}

/// The codes of gRPC that mean: not done. An answer that cannot be read is no such code: the
/// request was done.
mod tonic_code {
    pub(super) const INVALID_ARGUMENT: i32 = 3;
    pub(super) const PERMISSION_DENIED: i32 = 7;
    pub(super) const UNIMPLEMENTED: i32 = 12;
    pub(super) const UNAUTHENTICATED: i32 = 16;
}
