//! What a text in progress contains, byte by byte.
//!
//! A text is a future: a value that contains all its locals and where it is. If two runs leave it
//! with the same bytes, they go on alike, as long as what it points to is the same too. This module
//! reads the bytes. Some of them are left over from locals that are gone. They may tell runs apart
//! that are alike. They never make runs alike that are not.
//!
//! Other bytes were never written: a compiler copies whole structures, and with them what was on
//! the stack. What is there depends on how the program was compiled, and on everything that ran
//! before. So each text is run twice, and all memory that it may copy is filled before: with one
//! byte in the first run, with another in the second ([`Fill`]). If a byte of the future has the
//! first value in the first run and the second value in the second run, it comes from such memory,
//! and no text can know it.
//!
//! Here the checker needs `unsafe`: to put a future where every byte has a value, and to read bytes
//! of which Rust does not know the value.

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

/// Memory for one text at a time. A leftover of an address in it, of which one or two of the lowest
/// bytes were overwritten, is still an address in it.
pub(super) struct Place {
    begin: NonNull<u8>,
    fill: Fill,
    is_free: Cell<bool>,
    _both: Rc<Both>,
}

/// What unused memory is filled with while a text runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Fill(u8);

impl Fill {
    /// One for each place. No address begins with them.
    const OF_PLACES: [Self; 2] = [Self(0x3C), Self(0xC3)];

    /// Overwrites what earlier calls have left on the stack, as far down as texts go.
    #[inline(never)]
    pub(super) fn wipe(self) {
        black_box(&mut [self.0; 1 << 14]);
    }

    /// The same, for what one access leaves.
    #[inline(never)]
    pub(super) fn wipe_little(self) {
        black_box(&mut [self.0; 1 << 12]);
    }
}

/// Two places, side by side: of a leftover of an address, all but the three lowest bytes are the
/// same in both.
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
        let place = |(begin, fill)| Rc::new(Self { begin, fill, is_free: Cell::new(true), _both: Rc::clone(&both) });
        [both.0, second].into_iter().zip(Fill::OF_PLACES).map(place).collect()
    }

    /// With what memory is to be filled before the next text begins in one of these places.
    pub(super) fn next_fill(places: &[Rc<Self>]) -> Option<Fill> {
        places.iter().find(|place| place.is_free.get()).map(|place| place.fill)
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
            place.begin.write_bytes(place.fill.0, layout.size());
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
}

impl Image {
    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.relative)
    }
}

/// What one run has left of a text.
pub(super) struct Left {
    words: Vec<u64>,
    /// Where its place begins. Memory that is allocated is near.
    begin: u64,
    frame: u64,
    fill: Fill,
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

impl Left {
    /// `None` if the text is not in a place, or where no way is known to read bytes.
    pub(super) fn by(running: &Running, frame: u64) -> Option<Self> {
        let Running::Placed(Placed { text, place }) = running else { return None };
        // SAFETY: the text is there.
        let size = size_of_val(unsafe { text.as_ref() });
        let mut words = vec![0u64; size.div_ceil(WORD)];
        // SAFETY: the place has `size` bytes, and `words` has room for them.
        if !unsafe { copy(place.begin.as_ptr(), words.as_mut_ptr().cast::<u8>(), size) } {
            return None;
        }
        Some(Self { words, begin: place.begin.as_ptr() as u64, frame, fill: place.fill })
    }

    /// What the text knows. The other run was on the same history, in another place, while this one
    /// was still there: memory that both have allocated has different addresses. `None` if the text
    /// knows such an address.
    pub(super) fn known(&self, other: &Self) -> Option<Image> {
        if self.words.len() != other.words.len() || self.fill == other.fill {
            return None;
        }
        let pairs = self.words.iter().zip(&other.words);
        let known: Option<Vec<(u64, To)>> = pairs.map(|(&word, &twin)| self.word(word, other, twin)).collect();
        let (words, relative): (Vec<u64>, Vec<To>) = known?.into_iter().unzip();
        Some(Image { words: words.into(), relative: relative.into() })
    }

    /// What a word is, if the other run has left this one instead. `None` if neither unused memory
    /// nor the places explain the difference: then it names something outside of the text.
    fn word(&self, word: u64, other: &Self, twin: u64) -> Option<(u64, To)> {
        let on_stack = word.wrapping_sub(self.frame);
        if on_stack == twin.wrapping_sub(other.frame) && on_stack.wrapping_add(STACK) < 2 * STACK {
            return Some((on_stack, To::Stack));
        }
        let in_place = word.wrapping_sub(self.begin);
        if in_place == twin.wrapping_sub(other.begin) && in_place < SIZE as u64 {
            return Some((in_place, To::Place));
        }
        // Any bytes of a leftover of an address may be overwritten. If it was an address in the
        // places, one byte tells in which. Without that byte it is a word like others: no text
        // knows an address in both.
        let (mut bytes, mut twins) = (word.to_ne_bytes(), twin.to_ne_bytes());
        for (byte, twin) in bytes.iter_mut().zip(&mut twins) {
            let pair = (*byte, *twin);
            if pair == (self.fill.0, other.fill.0) || pair == (self.which_place(), other.which_place()) {
                (*byte, *twin) = (0, 0);
            }
        }
        (bytes == twins).then_some((u64::from_ne_bytes(bytes), To::Nothing))
    }

    /// The byte in which addresses in the two places differ.
    fn which_place(&self) -> u8 {
        (self.begin / SIZE as u64) as u8
    }
}

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

#[cfg(test)]
mod tests {
    use super::{Fill, Left, To};

    /// What two runs leave of a text of one word, in places where three lowest bytes are zeros.
    fn left(word: u64, twin: u64) -> Option<(u64, To)> {
        let [first, second] = [(word, 0x7F39_5E00_0000, 0), (twin, 0x7F39_5E01_0000, 1)].map(|(word, begin, i)| Left {
            words: vec![word],
            begin,
            frame: 0x7FFC_59E6_8318,
            fill: Fill::OF_PLACES[i],
        });
        first.known(&second).map(|image| (image.words[0], image.relative[0]))
    }

    #[test]
    fn what_does_not_depend_on_the_run_is_known() {
        assert_eq!(left(7, 7), Some((7, To::Nothing)));
        // In its own place, and on the stack.
        assert_eq!(left(0x7F39_5E00_0400, 0x7F39_5E01_0400), Some((0x400, To::Place)));
        assert_eq!(left(0x7FFC_59E6_8310, 0x7FFC_59E6_8310), Some((8u64.wrapping_neg(), To::Stack)));
        // A leftover of an address, of which three bytes were overwritten, is an address by chance.
        assert_eq!(left(0x7F39_5E00_0400, 0x7F39_5E00_0400), Some((0x7F39_5E00_0400, To::Nothing)));
        assert_eq!(left(0x7F39_5E01_0400, 0x7F39_5E01_0400), Some((0x7F39_5E01_0400, To::Nothing)));
    }

    #[test]
    fn bytes_that_were_never_written_are_not_known() {
        assert_eq!(left(0x3C3C_3C3C_3C3C_0001, 0xC3C3_C3C3_C3C3_0001), Some((1, To::Nothing)));
        assert_eq!(left(0x3C3C_3C3C_3C3C_3C3C, 0xC3C3_C3C3_C3C3_C3C3), Some((0, To::Nothing)));
        // A byte that has the same value in both runs was written.
        assert_eq!(left(0x3C, 0x3C), Some((0x3C, To::Nothing)));
        assert_eq!(left(0xC3, 0x3C), None);
        // Leftovers of addresses in the places, with their lowest or highest byte overwritten.
        assert_eq!(left(0x7F39_5E00_0401, 0x7F39_5E01_0401), Some((0x401, To::Place)));
        assert_eq!(left(0x0139_5E00_0400, 0x0139_5E01_0400), Some((0x0139_5E00_0400, To::Nothing)));
    }

    /// If it did, the contents of what was allocated would count for nothing.
    #[test]
    fn no_text_that_knows_what_it_allocated_has_an_image() {
        assert_eq!(left(0x7F39_5C00_0B20, 0x7F39_5C00_0B40), None);
        // In one of the places, but not the same distance from its beginning.
        assert_eq!(left(0x7F39_5E00_0400, 0x7F39_5E01_0408), None);
        // Not aligned, or by a number.
        assert_eq!(left(0x7F_395C_000B_2001, 0x7F_395C_000B_4001), None);
        assert_eq!(left(17, 18), None);
    }
}
