//! What the processes of a torture tell each other: counts, and the witness. Slots do not protect
//! any of it.

use super::native::{Shared, Words};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident, $key:literal;)*) => {
        /// A count.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Count {
            $($(#[$doc])* $name,)*
        }

        impl Count {
            pub(super) const ALL: &[(Self, &str)] = &[$((Self::$name, $key)),*];
        }
    };
}

counts! {
    /// Processes that SIGKILL has ended.
    Kills, "kills";
    Stops, "stops";
    Forks, "forks";
    Execs, "execs";
    Opens, "opens";
    Deletions, "deletions";
    /// Processes that ended while they held a slot, or replaced themselves.
    Ends, "ends";
    /// Slots that were broken: by their holder, or because the holder was dead.
    Breaks, "breaks";
    Grants, "grants";
    Timeouts, "timeouts";
    /// A holder finds on its way out that another process came in.
    OverAdmitted, "over_admitted";
    /// Slots that cannot be acquired after the storm.
    Lost, "lost";
    Told, "told";
    /// A holder died inside, and the next one was not told.
    Untold, "untold";
    /// A living holder lost its slot, or more deaths were reported than there were.
    FalseDeaths, "false_deaths";
    /// A fence that is not larger than the previous one of the same slot.
    Fences, "fences_out_of_order";
    /// Survivors that get no slot.
    Stuck, "stuck";
    /// Anything unexpected: errors, panics, other signals.
    Errors, "errors";
}

impl Count {
    /// The counts that must be 0.
    pub(super) const WRONG: [Self; 7] =
        [Self::OverAdmitted, Self::Lost, Self::Untold, Self::FalseDeaths, Self::Fences, Self::Stuck, Self::Errors];
}

/// An upper bound on statement numbers.
const LABELS: usize = 512;
/// The largest number of slots of a run.
pub(super) const MOST_SLOTS: usize = 256;

/// Kills continue.
pub(super) const STORM: u64 = 0;
/// Nothing is disturbed until a process is let in.
pub(super) const PAUSE: u64 = 1;
/// Every process ends after its next passage.
pub(super) const CLOSING: u64 = 2;

#[repr(C)]
pub(super) struct Board {
    counts: [AtomicU64; Count::ALL.len()],
    /// How often a process has killed itself after a statement.
    killed: [AtomicU64; LABELS],
    pub(super) phase: AtomicU64,
    last_grant: AtomicU64,
    longest_gap: AtomicU64,
}

// SAFETY: all its fields are atomic words.
#[allow(unsafe_code)]
unsafe impl Words for Board {}

impl Board {
    pub(super) fn count(&self, count: Count) {
        self.add(count, 1);
    }

    pub(super) fn add(&self, count: Count, n: u64) {
        self.counts[count as usize].fetch_add(n, SeqCst);
    }

    pub(super) fn get(&self, count: Count) -> u64 {
        self.counts[count as usize].load(SeqCst)
    }

    /// Whether enough is wrong to stop.
    pub(super) fn is_enough_wrong(&self) -> bool {
        self.get(Count::Stuck) > 0 || Count::WRONG.iter().map(|count| self.get(*count)).sum::<u64>() > 20
    }

    /// Reports something that no count is for.
    pub(super) fn complain(&self, what: &str) {
        self.count(Count::Errors);
        eprintln!("doorway torture: process {}: {what}", std::process::id());
    }

    pub(super) fn kills_itself(&self, label: u16) {
        self.killed[usize::from(label) % LABELS].fetch_add(1, SeqCst);
    }

    pub(super) fn killed_at(&self, label: u16) -> u64 {
        self.killed[usize::from(label) % LABELS].load(SeqCst)
    }

    pub(super) fn is(&self, phase: u64) -> bool {
        self.phase.load(SeqCst) == phase
    }

    pub(super) fn granted(&self) {
        self.count(Count::Grants);
        let now = nanoseconds();
        let before = self.last_grant.swap(now, SeqCst);
        if before != 0 {
            self.longest_gap.fetch_max(now.saturating_sub(before), SeqCst);
        }
    }

    /// How long no process has been let in. Counts from now if none ever was.
    pub(super) fn gap(&self) -> u64 {
        let now = nanoseconds();
        let last = self.last_grant.compare_exchange(0, now, SeqCst, SeqCst).unwrap_or_else(|last| last);
        if last == 0 { 0 } else { now.saturating_sub(last) }
    }

    pub(super) fn longest_gap(&self) -> u64 {
        self.longest_gap.load(SeqCst)
    }
}

fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// A cell for each slot of one file.
#[repr(C)]
pub(super) struct Witness {
    /// The process that is inside.
    holders: [AtomicU64; MOST_SLOTS],
    /// The last fence.
    fences: [AtomicU64; MOST_SLOTS],
}

// SAFETY: all its fields are atomic words.
#[allow(unsafe_code)]
unsafe impl Words for Witness {}

impl Witness {
    /// The caller holds this slot with this fence, and was told of a death or not.
    pub(super) fn enters(&self, board: Shared<Board>, me: u64, slot: usize, fence: u64, told: bool) {
        let Some(cell) = self.holders.get(slot) else { return board.complain("there is no such slot") };
        if told {
            board.count(Count::Told);
        }
        // A process that died inside is still recorded here; one that lives finds out when it
        // leaves.
        if cell.swap(me, SeqCst) != 0 && !told {
            board.count(Count::Untold);
        }
        if self.fences[slot].swap(fence, SeqCst) >= fence {
            board.count(Count::Fences);
        }
    }

    pub(super) fn leaves(&self, board: Shared<Board>, me: u64, slot: usize) {
        let Some(cell) = self.holders.get(slot) else { return };
        if cell.compare_exchange(me, 0, SeqCst, SeqCst).is_err() {
            board.count(Count::OverAdmitted);
        }
    }
}
