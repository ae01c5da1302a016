//! A lease, and what keeps it alive.

use crate::clock;
use crate::cluster::{Cluster, NoAnswer, request};
use crate::errors::Error;
use doorway_core::k_assignment::leases::{Chair, Passage, Revision, Term};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

/// One lease. When it has ended, another session follows.
pub(crate) struct Session {
    pub(crate) lease: u64,
    ttl: Duration,
    /// Until when the lease lives at least, by this machine's clock, in milliseconds.
    term: Mutex<Term>,
    ended: watch::Sender<bool>,
    /// Chairs that are not in use, and the revision since when.
    chairs: Mutex<Vec<(Passage, Revision)>>,
    made: AtomicU64,
}

impl Session {
    /// Asks for a lease. An answer that is lost leaves one behind that ends by itself.
    pub(crate) async fn begin(cluster: &Cluster, ttl: Duration, attempt: u32) -> Result<Self, NoAnswer> {
        let seconds = whole_seconds(ttl);
        let sent = clock::now();
        let granted = cluster
            .ask(cluster.patience(attempt), request!(client, [], client.lease_client().grant(seconds, None)))
            .await?;
        // The store may grant more than was asked for: at least some rounds of an election.
        let ttl = Duration::from_secs(granted.ttl().max(1).unsigned_abs());
        Ok(Self {
            lease: granted.id().unsigned_abs(),
            ttl,
            term: Mutex::new(Term::new(millis(sent), millis(ttl))),
            ended: watch::Sender::new(false),
            chairs: Mutex::default(),
            made: AtomicU64::new(0),
        })
    }

    pub(crate) fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Whether the lease lives, as far as this machine can know without asking.
    pub(crate) fn is_alive(&self) -> bool {
        !*self.ended.borrow() && self.time_left() > Duration::ZERO
    }

    fn time_left(&self) -> Duration {
        Duration::from_millis(self.term().left(millis(clock::now())))
    }

    fn term(&self) -> MutexGuard<'_, Term> {
        self.term.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The lease has ended, or is given up.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Ready when the lease has ended.
    pub(crate) async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        while self.is_alive() {
            tokio::select! {
                _ = ended.wait_for(|ended| *ended) => return,
                () = tokio::time::sleep(self.time_left().max(Duration::from_millis(1))) => {}
            }
        }
        self.end();
    }

    /// Keeps the lease alive until it ends.
    pub(crate) async fn keep_alive(&self, cluster: &Cluster) {
        let keep = async {
            let (mut attempt, pause) = (0, self.ttl / 3);
            loop {
                match self.keep_with_one_member(cluster, attempt, pause).await {
                    Err(NoAnswer::NoLease | NoAnswer::Refused(_)) => return self.end(),
                    Err(NoAnswer::InDoubt(_)) => {
                        cluster.rest(attempt).await;
                        attempt += 1;
                    }
                    Ok(()) => attempt = 0,
                }
            }
        };
        tokio::select! {
            () = keep => {}
            () = self.ended() => {}
        }
    }

    /// One stream, for as long as it works.
    async fn keep_with_one_member(&self, cluster: &Cluster, attempt: u32, pause: Duration) -> Result<(), NoAnswer> {
        let patience = cluster.patience(attempt.max(2)).min(pause.max(Duration::from_millis(100)));
        let (sent, lease) = (clock::now(), self.lease as i64);
        let kept = cluster.ask(patience, request!(client, [], client.lease_client().keep_alive(lease))).await;
        let (mut keeper, mut answers) = match kept {
            Err(NoAnswer::InDoubt(why)) if why.contains("lease not found") => return Err(NoAnswer::NoLease),
            kept => kept?,
        };
        self.lives_since(sent, self.ttl);
        loop {
            tokio::time::sleep(pause).await;
            let sent = clock::now();
            let answer = async {
                keeper.keep_alive().await?;
                answers.message().await
            };
            match tokio::time::timeout(patience, answer).await {
                Ok(Ok(Some(answer))) if answer.ttl() > 0 => {
                    self.lives_since(sent, Duration::from_secs(answer.ttl().unsigned_abs()));
                }
                Ok(Ok(Some(_))) => return Err(NoAnswer::NoLease),
                Ok(Ok(None) | Err(_)) | Err(_) => return Ok(()), // another stream goes on at once
            }
        }
    }

    fn lives_since(&self, sent: Duration, ttl: Duration) {
        self.term().is_kept(millis(sent), millis(ttl));
    }

    /// A chair that is not in use.
    pub(crate) fn take_chair(&self) -> Passage {
        let mut chairs = self.chairs.lock().unwrap_or_else(|e| e.into_inner());
        let fresh = || Passage::new(Chair { lease: self.lease, number: self.made.fetch_add(1, SeqCst) });
        chairs.pop().map_or_else(fresh, |(passage, _)| passage)
    }

    /// The chair is outside since this revision, and may be used again.
    pub(crate) fn put_back(&self, passage: Passage, since: Revision) {
        self.chairs.lock().unwrap_or_else(|e| e.into_inner()).push((passage, since));
    }

    /// Whether the chair is this client's, and holds nothing and waits for nothing at this
    /// revision.
    pub(crate) fn rests(&self, chair: Chair, at: Revision) -> bool {
        let chairs = self.chairs.lock().unwrap_or_else(|e| e.into_inner());
        let since = chairs.iter().find(|(passage, _)| passage.chair() == chair).map(|(_, since)| *since);
        let was_made = chair.number < self.made.load(SeqCst);
        chair.lease == self.lease && since.map_or(!was_made, |since| since <= at)
    }

    /// Gives the lease back, and with it everything that it holds. If the cluster does not answer,
    /// this waits until the lease has ended by itself. The client may have ended it for itself
    /// before.
    pub(crate) async fn revoke(&self, cluster: &Cluster) -> Result<(), Error> {
        let left = self.time_left();
        self.end();
        let lease = self.lease as i64;
        let revoked = cluster.insist(request!(client, [], client.lease_client().revoke(lease)));
        match tokio::time::timeout(left, revoked).await {
            Ok(Err(error)) => Err(error),
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// A lease lasts whole seconds, and no longer than etcd allows.
fn whole_seconds(ttl: Duration) -> i64 {
    let seconds = ttl.as_secs().saturating_add(u64::from(ttl.subsec_nanos() > 0));
    seconds.clamp(1, 9_000_000_000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up() {
        let all = [(0, 1), (1, 1), (1000, 1), (1001, 2), (3900, 4), (4000, 4)];
        for (millis, seconds) in all {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds, "{millis} ms");
        }
        assert_eq!(whole_seconds(Duration::MAX), 9_000_000_000);
    }
}
