//! The mirror of one name: one watch for the whole process, which goes on through everything.

use crate::cluster::{Cluster, NoAnswer, kv, request, watches};
use crate::keys::{Keys, revision};
use doorway_core::k_assignment::leases::{Chair, Key, Mirror};
use etcd_client::{EventType, GetOptions, WatchOptions, WatchStream};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use tokio::sync::watch;

/// The mirror, and the chairs of this process that look at it.
pub(crate) struct Shown {
    mirror: Mutex<Mirror>,
    /// A bell for each chair of this process. It rings when something happens to the chair.
    bells: Mutex<HashMap<Chair, watch::Sender<()>>>,
    /// How often the mirror was read anew, and how often its watch was opened.
    pub(crate) reads: std::sync::atomic::AtomicU64,
    pub(crate) watches: std::sync::atomic::AtomicU64,
}

impl Shown {
    pub(crate) fn new(k: usize) -> Self {
        Self { mirror: Mutex::new(Mirror::new(k)), bells: Mutex::default(), reads: 0.into(), watches: 0.into() }
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

    /// Reads everything anew: at the start, and if the events that are missing were compacted.
    pub(crate) async fn read(&self, cluster: &Cluster, keys: &Keys) -> Result<(), NoAnswer> {
        let queue = keys.queue();
        let all = cluster
            .ask(
                cluster.patience(3),
                request!(client, [queue], kv(&client).get(queue, Some(GetOptions::new().with_prefix()))),
            )
            .await?;
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
        self.reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.ring_all();
        Ok(())
    }

    /// Follows the store for ever.
    pub(crate) async fn follow(&self, cluster: &Cluster, keys: &Keys) {
        let mut attempt = 0;
        loop {
            let next = self.mirror().revision() + 1;
            let queue = keys.queue();
            let from = WatchOptions::new().with_prefix().with_start_revision(next as i64);
            let opened = cluster
                .ask(cluster.patience(3), request!(client, [queue, from], watches(&client).watch(queue, Some(from))))
                .await;
            if let Ok(stream) = opened {
                self.watches.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let before = self.mirror().revision();
                let is_compacted = self.take_in(stream, keys).await;
                if self.mirror().revision() > before {
                    attempt = 0;
                }
                if is_compacted && self.read(cluster, keys).await.is_ok() {
                    continue;
                }
            }
            cluster.rest(attempt).await;
            attempt += 1;
        }
    }

    /// Enters events until the stream ends. Returns whether events are missing.
    async fn take_in(&self, mut stream: WatchStream, keys: &Keys) -> bool {
        // An error and an end are the same: another stream goes on where this one ended.
        while let Ok(Some(response)) = stream.message().await {
            if response.canceled() {
                return response.compact_revision() > 0;
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
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
