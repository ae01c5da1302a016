//! The file as memory. All atomics of slots between processes are here.
//!
//! Nothing that is read from the file is used as an address or as a length. Offsets follow from
//! sizes that were checked when the file was opened, and they are checked again at each use. Other
//! processes may write any byte at any time, so every access is atomic.

#![allow(unsafe_code)]

use super::super::Error;
use super::super::header::{HEADER, LABEL, LINE, Layout};
use super::fork::Generation;
use super::system;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A word was found that this program never writes.
const DAMAGED: u32 = 1;
/// Threads of this handle wait for a seat.
const AWAITED: u32 = 2;
/// The file was found to have no name any more.
const DELETED: u32 = 4;

/// The body of the file, mapped. The header is not mapped.
#[derive(Debug)]
pub(super) struct Mapping {
    /// The mapped pages, from the page that the body begins in.
    pages: NonNull<u8>,
    length: usize,
    /// The offset in the file of the first mapped byte: the file's byte 0 would be at `pages -
    /// skipped`.
    skipped: usize,
    layout: Layout,
    /// The lines of slots, which every passage needs.
    slots: NonNull<Line>,
    slot_count: usize,
    /// 0 while nothing prevents a thread from taking the shortest way in.
    state: AtomicU32,
    generation: Generation,
}

// SAFETY: the pages stay mapped until this is dropped, on any thread, and are accessed only by
// atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(super) fn new(file: BorrowedFd<'_>, layout: Layout, generation: Generation) -> Result<Self, Error> {
        // SAFETY: `sysconf` only returns a value.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(HEADER).max(1);
        let skipped = HEADER - HEADER % page;
        let length = layout.length - skipped;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let pages = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, file, skipped as u64)
        };
        let pages = pages.map_err(|errno| system("mapping the file", errno))?;
        let pages = NonNull::new(pages.cast()).ok_or(Error::System { doing: "mapping the file", code: 0 })?;
        // SAFETY: the slots are between the header and the rows, and both ends are mapped.
        let slots = unsafe { pages.add(layout.slots - skipped) }.cast();
        let slot_count = (layout.rows - layout.slots) / LINE;
        Ok(Self { pages, length, skipped, layout, slots, slot_count, state: AtomicU32::new(0), generation })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The address of this byte of the file. Panics if the file has no such byte.
    fn at(&self, offset: usize) -> NonNull<u8> {
        assert!((HEADER..self.layout.length).contains(&offset), "the file has no such place");
        // SAFETY: the body is mapped from `skipped` to `length`, and the offset is within it.
        unsafe { self.pages.add(offset - self.skipped) }
    }

    /// A word of 64 bits. All of them are at multiples of 8.
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.layout.length, "the file has no such word");
        // SAFETY: within the mapping, aligned, and borrowed for no longer than the mapping lasts.
        // Other processes access the word by atomics, too. If one does not, that is as if it wrote
        // another value.
        unsafe { self.at(offset).cast::<AtomicU64>().as_ref() }
    }

    /// A word of 32 bits.
    pub(super) fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.layout.length, "the file has no such word");
        // SAFETY: as above.
        unsafe { self.at(offset).cast::<AtomicU32>().as_ref() }
    }

    /// The offset of a seat's line.
    pub(super) fn row(&self, seat: usize) -> usize {
        self.layout.rows + seat * LINE
    }

    /// The line of a slot, for the notes beside its word.
    #[inline(always)]
    pub(super) fn slot_line(&self, slot: usize) -> &Line {
        assert!(slot < self.slot_count, "the file has no such slot");
        // SAFETY: within the mapping: the rows are mapped, and are behind all lines of slots. Lines
        // begin at multiples of their length, so this one is aligned as words are. It consists of
        // atomics; as for a word.
        unsafe { self.slots.add(slot).as_ref() }
    }

    /// The line of a seat.
    pub(super) fn row_line(&self, seat: usize) -> &Line {
        self.line(self.row(seat))
    }

    #[inline(always)]
    fn line(&self, offset: usize) -> &Line {
        let inside = offset >= HEADER && offset.is_multiple_of(LINE) && offset <= self.layout.length - LINE;
        assert!(inside, "the file has no such line");
        // SAFETY: within the mapping, aligned as words are, and made of atomics; as for a word.
        unsafe { self.pages.add(offset - self.skipped).cast::<Line>().as_ref() }
    }

    pub(super) fn load_half(&self, offset: usize) -> u32 {
        self.half(offset).load(SeqCst)
    }

    pub(super) fn store_half(&self, offset: usize, value: u32) {
        self.half(offset).store(value, SeqCst);
    }

    /// Replaces a value. If the word has another value, returns that as an error.
    pub(super) fn replace_half(&self, offset: usize, old: u32, new: u32) -> Result<u32, u32> {
        self.half(offset).compare_exchange(old, new, SeqCst, SeqCst)
    }

    /// From now on, the handle refuses all work.
    pub(super) fn is_damaged_now(&self) {
        self.state.fetch_or(DAMAGED, SeqCst);
    }

    /// Forgets the damage, for tests that damage a file on purpose, again and again.
    pub(super) fn is_repaired_now(&self) {
        self.state.fetch_and(!DAMAGED, SeqCst);
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.state.load(SeqCst) & DAMAGED != 0
    }

    /// From now on, the handle refuses all work, because the file was removed.
    pub(super) fn is_deleted_now(&self) {
        self.state.fetch_or(DELETED, SeqCst);
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.state.load(SeqCst) & DELETED != 0
    }

    /// Records whether threads of this handle wait for a seat; if so, newcomers wait, too. The
    /// caller holds the lock of the pool of seats, so this is a copy of the state there.
    pub(super) fn seats_are_awaited(&self, awaited: bool) {
        if awaited {
            self.state.fetch_or(AWAITED, SeqCst);
        } else {
            self.state.fetch_and(!AWAITED, SeqCst);
        }
    }

    /// Whether the shortest way in is clear: there is no damage, no deletion, and no thread that
    /// waits for a seat.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.state.load(SeqCst) == 0
    }

    /// Whether this is still the process that mapped the file.
    #[inline(always)]
    pub(super) fn is_ours(&self) -> bool {
        self.generation.is_now()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped these pages, and nothing borrows them any more. If the call fails,
        // the pages stay mapped, which does no harm.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), self.length) };
    }
}

/// A line of the file: the words that the text knows, and beside them notes about a process, for
/// people. No process is let in or kept out because of the notes, so they are written in no
/// particular order.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Line([AtomicU64; LINE / 8]);

impl Line {
    /// Writes a note at this byte of the line.
    #[inline(always)]
    pub(super) fn note(&self, at: usize, value: u64) {
        self.0[at / 8].store(value, Relaxed);
    }

    #[inline(always)]
    pub(super) fn noted(&self, at: usize) -> u64 {
        self.0[at / 8].load(Relaxed)
    }

    pub(super) fn note_label(&self, at: usize, label: &[u64; LABEL / 8]) {
        for (i, word) in label.iter().enumerate() {
            self.note(at + 8 * i, *word);
        }
    }

    pub(super) fn noted_label(&self, at: usize, length: usize) -> String {
        let bytes: Vec<u8> = (0..LABEL / 8).flat_map(|i| self.noted(at + 8 * i).to_le_bytes()).collect();
        String::from_utf8_lossy(&bytes[..length.min(LABEL)]).into_owned()
    }
}
