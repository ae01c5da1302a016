//! What processes record beside slots and rows, for people and for the next holder. No process is
//! let in or kept out because of it.

use super::super::header::{LABEL, row, slot};
use super::super::{Error, Holder, Known, Status, Waiter};
use super::mapping::{Line, Mapping};
use super::memory::Mapped;
use super::{Backing, File, unbox};
use crate::native::now;
use doorway_core::k_assignment::seats::{Grant, Seats as Text, Want};
use doorway_core::memory::{Pid, Process};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What a handle says about itself.
#[derive(Debug)]
pub(super) struct Signature {
    /// The process, and in the upper half the length of the label.
    pid: u64,
    label: [u64; LABEL / 8],
    /// Whether holders read the clock.
    times: bool,
}

impl Signature {
    /// Truncates a label that is too long.
    pub(super) fn new(label: &str, times: bool) -> Self {
        let mut end = label.len().min(LABEL);
        while !label.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = [0; LABEL];
        bytes[..end].copy_from_slice(&label.as_bytes()[..end]);
        let word = |i: usize| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        let pid = u64::from(std::process::id()) | (end as u64) << 32;
        Self { pid, label: std::array::from_fn(word), times }
    }

    fn is_labelled(&self) -> bool {
        self.pid >> 32 != 0
    }

    /// Records that the handle takes a seat.
    pub(super) fn takes(&self, mapping: &Mapping, seat: usize) {
        let line = mapping.row_line(seat);
        line.note(row::PID, self.pid);
        line.note(row::SINCE, 0);
        line.note_label(row::LABEL, &self.label);
    }

    /// Records that a thread or task begins to wait with a seat.
    pub(super) fn waits(&self, mapping: &Mapping, seat: usize) {
        mapping.row_line(seat).note(row::SINCE, clock());
    }

    /// Records that a holder is inside.
    #[inline(always)]
    pub(super) fn enters(&self, mapping: &Mapping, grant: Grant) {
        let line = mapping.slot_line(grant.slot);
        line.note(slot::PID, self.pid);
        line.note(slot::SINCE, if self.times { clock() } else { 0 });
        if self.is_labelled() {
            line.note_label(slot::LABEL, &self.label);
        }
        line.note(slot::FENCE, grant.fence);
    }
}

/// Records that a holder begins to leave.
///
/// From now on, the notes belong to no holder, unless a later holder has written them: the slot may
/// have been broken. This also erases what an earlier holder wrote late, after its slot was broken.
#[inline(always)]
pub(super) fn leaves(mapping: &Mapping, slot: usize, fence: u64) {
    let line = mapping.slot_line(slot);
    if (1..=fence).contains(&line.noted(slot::FENCE)) {
        line.note(slot::FENCE, 0);
    }
}

/// What is known of the last holder that has not left. A holder that leaves erases its notes.
#[cold]
pub(super) fn last_holder(mapping: &Mapping, slot: usize) -> Known {
    let line = mapping.slot_line(slot);
    if line.noted(slot::FENCE) == 0 { Known::default() } else { known(line, (slot::PID, slot::SINCE, slot::LABEL)) }
}

/// What is known of the holder with this fence.
pub(super) fn known_holder(mapping: &Mapping, slot: usize, fence: u64) -> Known {
    let line = mapping.slot_line(slot);
    if line.noted(slot::FENCE) != fence {
        return Known::default();
    }
    known(line, (slot::PID, slot::SINCE, slot::LABEL))
}

fn known(line: &Line, (pid, since, label): (usize, usize, usize)) -> Known {
    let pid = line.noted(pid);
    let length = (pid >> 32) as usize;
    Known {
        pid: Some(pid as u32).filter(|pid| *pid != 0),
        label: (length != 0).then(|| line.noted_label(label, length)),
        since: time(line.noted(since)),
    }
}

/// Reads the holders and waiters, word by word.
pub(super) fn status<M: Backing>(text: &Text<M>, file: &Arc<File>) -> Result<Status, Error> {
    let p = Process::new(Pid::new(0), Mapped::new(file).into()); // looks only
    let mapping = &file.mapping;
    let mut holders = Vec::new();
    for slot in 0..file.header.slots {
        let word = now(text.look_at_slot(&p, slot)).map_err(unbox)?;
        let Some((word, owner)) = word.and_then(|word| Some((word, word.owner()?))) else { continue };
        let mut known = known_holder(mapping, slot, word.fence());
        if known == Known::default() && owner < file.header.seats {
            // The owner has not written anything here yet. Its seat tells which process it is.
            known = Known { since: None, ..known_seat(mapping, owner) };
        }
        holders.push(Holder { slot, fence: word.fence(), dead: file.bytes.is_dead(owner)?, known });
    }
    let mut waiters = Vec::new();
    for seat in 0..file.header.seats {
        let (ticket, offered) = match now(text.look_at_seat(&p, seat)).map_err(unbox)? {
            Some(Want::Waits(ticket) | Want::Called(ticket)) => (ticket, None),
            Some(Want::Offered { slot, .. }) => (0, Some(slot)),
            _ => continue,
        };
        let waiter = Waiter { offered, dead: file.bytes.is_dead(seat)?, known: known_seat(mapping, seat) };
        waiters.push((ticket, waiter));
    }
    waiters.sort_by_key(|(ticket, _)| *ticket);
    Ok(Status {
        path: file.path.clone(),
        slots: file.header.slots,
        seats: file.header.seats,
        mode: file.header.mode,
        bypass: text.bypass() as u16, // at most what was asked for
        holders,
        waiters: waiters.into_iter().map(|(_, waiter)| waiter).collect(),
    })
}

fn known_seat(mapping: &Mapping, seat: usize) -> Known {
    known(mapping.row_line(seat), (row::PID, row::SINCE, row::LABEL))
}

/// The time in nanoseconds since 1970. It may be some milliseconds late, which is good enough for
/// people. The exact time would cost five times as much.
#[allow(unsafe_code)]
fn clock() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes `now`, and nothing else.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    now.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec.cast_unsigned())
}

fn time(nanoseconds: u64) -> Option<SystemTime> {
    if nanoseconds == 0 { None } else { SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds)) }
}
