//! What slots protect, outside of etcd: it compares fences, and knows whether two are at work.

use doorway_etcd::{Guard, Slots};
use std::sync::Mutex;

#[derive(Default, Clone, Copy)]
struct Place {
    last: u64,
    is_in_use: bool,
}

/// One place for each slot.
pub struct Resource(Mutex<(Vec<Place>, Seen)>);

/// What it has seen.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub obeyed: u64,
    /// Old fences.
    pub refused: u64,
    /// Fences that two holders had.
    pub same: u64,
    /// Two were at work at the same time.
    pub overlaps: u64,
}

impl Resource {
    pub fn new(k: usize) -> Self {
        Self(Mutex::new((vec![Place::default(); k], Seen::default())))
    }

    /// A holder begins to work. Returns whether it is obeyed.
    pub fn begin(&self, slot: usize, fence: u64) -> bool {
        let (places, seen) = &mut *self.0.lock().expect("no panic");
        let place = &mut places[slot];
        if fence < place.last {
            seen.refused += 1;
            return false;
        }
        seen.same += u64::from(fence == place.last);
        seen.overlaps += u64::from(place.is_in_use);
        seen.obeyed += 1;
        *place = Place { last: fence, is_in_use: true };
        true
    }

    pub fn end(&self, slot: usize) {
        self.0.lock().expect("no panic").0[slot].is_in_use = false;
    }

    /// One passage's work.
    pub async fn work(&self, guard: &Guard) {
        if self.begin(guard.slot(), guard.fence()) {
            tokio::task::yield_now().await;
            self.end(guard.slot());
        }
    }

    pub fn seen(&self) -> Seen {
        self.0.lock().expect("no panic").1
    }

    /// No lease has ended, so no fence was needed.
    #[track_caller]
    pub fn assert_never_needed(&self, passages: u64) {
        let expected = Seen { obeyed: passages, ..Seen::default() };
        assert_eq!(self.seen(), expected);
    }
}

/// No unit was lost: no client waits, and `k` units can be acquired at once.
pub async fn assert_all_free(slots: &Slots) {
    let status = slots.status().await.expect("a status");
    assert!(status.waiters.is_empty() && status.holders.is_empty(), "{status:?}");
    let mut all = Vec::new();
    for _ in 0..slots.places() {
        all.push(slots.try_acquire().await.expect("a free slot"));
    }
    let mut names: Vec<_> = all.iter().map(Guard::slot).collect();
    names.sort_unstable();
    assert!(names.into_iter().eq(0..slots.places()));
    for guard in all {
        guard.release().await.expect("it was held");
    }
}
