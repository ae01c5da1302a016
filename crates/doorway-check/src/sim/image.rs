//! What a text in progress contains, byte by byte.
//!
//! A text is a future: a value that contains all its locals and where it is. If two runs leave it
//! with the same bytes, they go on alike, as long as what it points to is the same too. This module
//! reads the bytes. Some of them were never written, or are left over from locals that are gone.
//! They may tell runs apart that are alike. They never make runs alike that are not.
//!
//! Only here does the checker need `unsafe`: to put a future where every byte has a value, and to
//! read bytes of which Rust does not know the value.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

type Text = dyn Future<Output = ()>;

/// A text in progress.
pub(super) enum Running {
    Boxed(Pin<Box<Text>>),
    Placed(Placed),
}

/// A text in a place that other texts had before.
pub(super) struct Placed {
    text: NonNull<Text>,
    place: Rc<Place>,
}

/// Memory for one text at a time. A leftover of an address in it, of which some of the lowest bytes
/// were overwritten, is still an address in it.
pub(super) struct Place {
    begin: NonNull<u8>,
    is_free: Cell<bool>,
    _both: Rc<Both>,
}

/// Two places, side by side: of a leftover of an address, the highest bytes are the same in both.
struct Both(NonNull<u8>);

/// How large a place is, and what its address is a multiple of.
const SIZE: usize = 1 << 16;
const WORD: usize = size_of::<u64>();

impl Both {
    fn layout() -> Option<Layout> {
        Layout::from_size_align(2 * SIZE, 2 * SIZE).ok()
    }
}

impl Place {
    /// Two of them; none if there is no memory.
    pub(super) fn two() -> Vec<Rc<Self>> {
        // SAFETY: the layout is not empty.
        let begin = Both::layout().and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) }));
        let Some(both) = begin.map(|begin| Rc::new(Both(begin))) else { return Vec::new() };
        // SAFETY: the second begins in the middle of what was allocated.
        let second = unsafe { both.0.add(SIZE) };
        let place = |begin| Rc::new(Self { begin, is_free: Cell::new(true), _both: Rc::clone(&both) });
        vec![place(both.0), place(second)]
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout() {
            // SAFETY: it was allocated with this layout, and no text is left in it: each holds on
            // to its place, and that to this.
            unsafe { dealloc(self.0.as_ptr(), layout) };
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // SAFETY: the text was written there, nothing else has been since, and it is not used
        // again.
        unsafe { self.text.drop_in_place() };
        self.place.is_free.set(true);
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

impl Running {
    /// A text that stays where it is put. If that is one of these places, its bytes can be read.
    pub(super) fn new<F: Future<Output = ()> + 'static>(text: F, places: &[Rc<Place>]) -> Self {
        let layout = Layout::new::<F>();
        let fits = layout.size() <= SIZE && layout.align() <= SIZE;
        let Some(place) = places.iter().find(|place| fits && place.is_free.get()) else {
            return Self::Boxed(Box::pin(text));
        };
        place.is_free.set(false);
        let begin = place.begin.cast::<F>();
        // SAFETY: the place is large enough and aligned, and no other text is in it.
        unsafe {
            place.begin.write_bytes(0, layout.size());
            begin.write(text);
        }
        Self::Placed(Placed { text: begin, place: Rc::clone(place) })
    }

    pub(super) fn poll(&mut self) -> Poll<()> {
        let text = match self {
            Self::Boxed(text) => text.as_mut(),
            // SAFETY: the text is there until this is dropped, is borrowed only here, and is never
            // moved: it is dropped in its place.
            Self::Placed(Placed { text, .. }) => unsafe { Pin::new_unchecked(text.as_mut()) },
        };
        text.poll(&mut Context::from_waker(Waker::noop()))
    }
}

impl Future for Running {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Self::poll(&mut self)
    }
}

/// The bytes of a text in progress. Addresses within its place are relative.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Image {
    words: Box<[u64]>,
    /// To what each of them is relative.
    relative: Box<[To]>,
    /// Near which addresses allocated memory is.
    near: u64,
}

/// What an address is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum To {
    /// It is a word as it was found.
    Nothing,
    /// The place of the text.
    Place,
    /// The stack of the run. No text may know such an address: it is a leftover.
    Stack,
}

/// Where a run is on the stack.
pub(super) fn frame() -> u64 {
    let here = 0u8;
    (&raw const here) as u64
}

impl Image {
    /// `None` if the text is not in a place, or where no way is known to read bytes.
    pub(super) fn of(running: &Running, frame: u64) -> Option<Self> {
        let Running::Placed(Placed { text, place }) = running else { return None };
        // SAFETY: the text is there.
        let size = size_of_val(unsafe { text.as_ref() });
        let mut words = vec![0u64; size.div_ceil(WORD)];
        // SAFETY: the place has `size` bytes, and `words` has room for them.
        if !unsafe { copy(place.begin.as_ptr(), words.as_mut_ptr().cast::<u8>(), size) } {
            return None;
        }
        let begin = place.begin.as_ptr() as u64;
        let to = |word: &mut u64| {
            if (begin..begin + SIZE as u64).contains(word) {
                *word -= begin;
                To::Place
            } else if (frame - STACK..frame + STACK).contains(word) {
                *word = word.wrapping_sub(frame);
                To::Stack
            } else {
                To::Nothing
            }
        };
        let relative = words.iter_mut().map(to).collect();
        Some(Self { words: words.into(), relative, near: begin })
    }

    /// Whether the text knows no address of memory that it has allocated itself. The other image is
    /// of another run of it on the same history, in another place, while this one was still there:
    /// memory that both have allocated has different addresses.
    ///
    /// Words that differ and cannot be addresses are leftovers of which some bytes were
    /// overwritten.
    pub(super) fn stands_alone(&self, other: &Self) -> bool {
        let same = self.relative == other.relative && self.words.len() == other.words.len();
        let allocated = Box::new(0u8);
        let known = [self.near, other.near, (&raw const *allocated) as u64, frame()];
        let may_be_address = |word: u64| known.iter().any(|near| near.abs_diff(word) < NEAR);
        let is_harmless = |(a, b): (&u64, &u64)| a == b || !may_be_address(*a) && !may_be_address(*b);
        same && self.words.iter().zip(&other.words).all(is_harmless)
    }
}

/// Memory that is allocated is less than this away from a small or a large piece of other allocated
/// memory, or from the stack.
const NEAR: u64 = 1 << 40;

/// How much of the stack a run may need.
const STACK: u64 = 1 << 20;

/// Copies bytes that may have no value in Rust. The compiler knows nothing of what the instructions
/// do, so to it the copies are bytes of any value.
///
/// # Safety
/// `size` bytes can be read at `from` and written at `to`, which is elsewhere.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy(from: *const u8, to: *mut u8, size: usize) -> bool {
    // SAFETY: as the caller promises; the direction flag is clear between functions.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") size => _, inout("rsi") from => _, inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    }
    true
}

/// See above.
///
/// # Safety
/// `size` bytes can be read at `from` and written at `to`, which is elsewhere.
#[cfg(all(target_arch = "aarch64", not(miri)))]
unsafe fn copy(from: *const u8, to: *mut u8, size: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        std::arch::asm!(
            "2: cbz {left}, 3f",
            "ldrb {byte:w}, [{from}], #1",
            "strb {byte:w}, [{to}], #1",
            "sub {left}, {left}, #1",
            "b 2b",
            "3:",
            left = inout(reg) size => _, from = inout(reg) from => _, to = inout(reg) to => _, byte = out(reg) _,
            options(nostack, preserves_flags)
        );
    }
    true
}

/// Nothing is copied where no way is known.
///
/// # Safety
/// None is needed.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
unsafe fn copy(_: *const u8, _: *mut u8, _: usize) -> bool {
    false
}

/// Overwrites what earlier calls have left on the stack, as far down as texts go.
#[inline(never)]
pub(super) fn wipe() {
    black_box(&mut [0u64; 2048]);
}

/// The same, for what one access leaves.
#[inline(never)]
pub(super) fn wipe_little() {
    black_box(&mut [0u64; 128]);
}
