//! The mirror of one name: one watch for the whole process, which goes on through everything.

use crate::cluster::{Cluster, NoAnswer, kv, request, watches};
use crate::keys::{Keys, revision};
use doorway_core::k_assignment::leases::{Chair, Key, Mirror};
use etcd_client::{EventType, GetOptions, ResponseHeader, WatchOptions, WatchStream};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};

/// The mirror, and the chairs of this process that look at it.
pub(crate) struct Shown {
    mirror: Mutex<Mirror>,
    /// A bell for each chair of this process. It rings when something happens to the chair.
    bells: Mutex<HashMap<Chair, watch::Sender<()>>>,
    /// How often the mirror was read anew, and how often its watch was opened.
    pub(crate) reads: AtomicU64,
    pub(crate) watches: AtomicU64,
    /// The number of the cluster; 0: not known yet.
    cluster: AtomicU64,
    /// How often the store has gone back, as far as is known.
    backs: AtomicU64,
    /// The latest revision of an answer. The mirror may be far behind it: a watch that was opened
    /// again takes a while.
    answered: AtomicU64,
    /// The watch must be opened anew.
    again: Notify,
}

/// What was known before a request was sent. No answer may know less.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    revision: u64,
    backs: u64,
}

impl Shown {
    pub(crate) fn new(k: usize) -> Self {
        Self {
            mirror: Mutex::new(Mirror::new(k)),
            bells: Mutex::default(),
            reads: 0.into(),
            watches: 0.into(),
            cluster: 0.into(),
            backs: 0.into(),
            answered: 0.into(),
            again: Notify::new(),
        }
    }

    pub(crate) fn before(&self) -> Before {
        let mirror = self.mirror();
        let revision = mirror.revision().max(self.answered.load(SeqCst));
        Before { revision, backs: self.backs.load(SeqCst) }
    }

    /// Whether the store that answers has gone back since: it was restored from a backup, or begun
    /// anew. Then the mirror forgets everything, and its watch is opened anew.
    ///
    /// The request must be one that the cluster answers with a revision which is not older than the
    /// request: a transaction, or a read that is not a local one.
    pub(crate) fn has_gone_back(&self, before: Before, header: Option<&ResponseHeader>) -> bool {
        header.is_some_and(|header| self.is_older(before, header.cluster_id(), revision(header.revision())))
    }

    fn is_older(&self, before: Before, cluster: u64, at: u64) -> bool {
        let mut mirror = self.mirror();
        if self.backs.load(SeqCst) != before.backs {
            return false; // it is known
        }
        let known = self.cluster.swap(cluster, SeqCst);
        let is_another = known != 0 && known != cluster;
        if !is_another && at >= before.revision {
            self.answered.fetch_max(at, SeqCst);
            return false;
        }
        self.backs.fetch_add(1, SeqCst);
        self.answered.store(at, SeqCst);
        *mirror = Mirror::new(mirror.slots().len());
        drop(mirror);
        self.again.notify_one();
        true
    }

    /// Nothing is awaited while it is locked.
    pub(crate) fn mirror(&self) -> MutexGuard<'_, Mirror> {
        self.mirror.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<Chair, watch::Sender<()>>> {
        self.bells.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A bell for a chair.
    pub(crate) fn listen(&self, chair: Chair) -> watch::Receiver<()> {
        let (bell, heard) = watch::channel(());
        self.bells().insert(chair, bell);
        heard
    }

    /// No passage listens to this bell any more. Another one may have a bell of the same chair by
    /// now.
    pub(crate) fn forget(&self, chair: Chair, heard: &watch::Receiver<()>) {
        let mut bells = self.bells();
        if bells.get(&chair).is_some_and(|bell| bell.subscribe().same_channel(heard)) {
            bells.remove(&chair);
        }
    }

    fn ring(&self, chairs: impl IntoIterator<Item = Chair>) {
        let bells = self.bells();
        for chair in chairs {
            if let Some(bell) = bells.get(&chair) {
                bell.send_replace(());
            }
        }
    }

    fn ring_all(&self) {
        self.bells().values().for_each(|bell| {
            bell.send_replace(());
        });
    }

    /// Reads everything anew: at the start, and whenever a watch has ended. Returns whether the
    /// store has gone back.
    pub(crate) async fn read(&self, cluster: &Cluster, keys: &Keys) -> Result<bool, NoAnswer> {
        let (queue, before) = (keys.queue(), self.before());
        let all = cluster
            .ask(
                cluster.patience(3),
                request!(client, [queue], kv(&client).get(queue, Some(GetOptions::new().with_prefix()))),
            )
            .await?;
        let has_gone_back = self.has_gone_back(before, all.header());
        if !has_gone_back && self.backs.load(SeqCst) != before.backs {
            return Err(NoAnswer::InDoubt("the store has gone back since".to_owned()));
        }
        let mut fresh = Mirror::new(keys.k);
        for kv in all.kvs() {
            match keys.parse(kv.key()) {
                Some(Key::Slot(slot)) => fresh.holds(slot, Keys::held(kv)),
                Some(Key::Waits(chair)) => fresh.waits(chair, revision(kv.create_revision())),
                _ => {}
            }
        }
        fresh.has_reached(all.header().map_or(0, |header| revision(header.revision())));
        *self.mirror() = fresh;
        self.reads.fetch_add(1, SeqCst);
        self.ring_all();
        Ok(has_gone_back)
    }

    /// Follows the store for ever. Says after each time that everything was read anew whether the
    /// store has gone back.
    pub(crate) async fn follow(&self, cluster: &Cluster, keys: &Keys, was_read: impl Fn(bool)) {
        let mut attempt = 0;
        loop {
            let next = self.mirror().revision() + 1;
            let queue = keys.queue();
            let from = WatchOptions::new().with_prefix().with_start_revision(next as i64);
            let opened = cluster
                .ask(cluster.patience(3), request!(client, [queue, from], watches(&client).watch(queue, Some(from))))
                .await;
            if let Ok(stream) = opened {
                self.watches.fetch_add(1, SeqCst);
                let before = self.mirror().revision();
                self.take_in(stream, keys).await;
                if self.mirror().revision() > before {
                    attempt = 0;
                }
            }
            cluster.rest(attempt).await;
            attempt += 1;
            // While there was no watch, events may have been compacted, or the whole store replaced
            // by an older one. Another watch alone would not tell.
            let has_gone_back = loop {
                if let Ok(has_gone_back) = self.read(cluster, keys).await {
                    break has_gone_back;
                }
                cluster.rest(attempt).await;
                attempt += 1;
            };
            was_read(has_gone_back);
        }
    }

    /// Enters events until the stream ends.
    async fn take_in(&self, mut stream: WatchStream, keys: &Keys) {
        loop {
            let response = tokio::select! {
                response = stream.message() => response,
                () = self.again.notified() => return,
            };
            // An error and an end are the same: another stream goes on.
            let Ok(Some(response)) = response else { return };
            if response.canceled() {
                return;
            }
            let mut touched = Vec::new();
            {
                let mut mirror = self.mirror();
                for event in response.events() {
                    let Some(kv) = event.kv() else { continue };
                    let Some(key) = keys.parse(kv.key()) else { continue };
                    if let Key::Slot(slot) = key {
                        touched.extend(mirror.slot(slot).map(|held| held.chair));
                    }
                    match (key, event.event_type()) {
                        (Key::Slot(slot), EventType::Put) => {
                            let held = Keys::held(kv);
                            mirror.holds(slot, held);
                            touched.push(held.chair);
                        }
                        (Key::Waits(chair), EventType::Put) => {
                            mirror.waits(chair, revision(kv.create_revision()));
                            touched.push(chair);
                        }
                        (key, EventType::Delete) => {
                            mirror.deleted(key);
                            touched.extend(match key {
                                Key::Waits(chair) => Some(chair),
                                _ => None,
                            });
                        }
                        (Key::Receipt(_), EventType::Put) => {}
                    }
                }
                // All events of a revision come together.
                if let Some(kv) = response.events().last().and_then(|event| event.kv()) {
                    mirror.has_reached(revision(kv.mod_revision()));
                }
                if mirror.free_slot(0).is_some() {
                    touched.extend(mirror.oldest(1).first().map(|&(_, chair)| chair));
                }
            }
            self.ring(touched);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No answer may know less than an answer before it, whatever the mirror knows.
    #[test]
    fn an_older_store_is_noticed_before_the_mirror_knows() {
        let shown = Shown::new(1);
        assert!(!shown.is_older(shown.before(), 7, 50));
        assert_eq!(shown.mirror().revision(), 0);
        // This request was sent before the other was answered.
        let early = Before { revision: 0, backs: 0 };
        assert!(!shown.is_older(early, 7, 40));
        assert!(!shown.is_older(shown.before(), 7, 50));
        assert!(shown.is_older(shown.before(), 7, 49));
        // It is known now.
        assert!(!shown.is_older(early, 7, 30));
        assert!(!shown.is_older(shown.before(), 7, 49));
        assert!(shown.is_older(shown.before(), 8, 60), "another cluster");
    }

    /// A chair that is used again has a new bell, which the passage before does not take down.
    #[test]
    fn the_next_passage_keeps_its_bell() {
        let (shown, chair) = (Shown::new(1), Chair { lease: 1, number: 0 });
        let first = shown.listen(chair);
        let second = shown.listen(chair);
        shown.forget(chair, &first);
        shown.ring([chair]);
        assert!(second.has_changed().expect("its bell hangs"));
        shown.forget(chair, &second);
        assert!(second.has_changed().is_err());
    }
}
