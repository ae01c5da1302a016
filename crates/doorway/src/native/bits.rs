//! The bits of a variable: a byte if its words are that small, 64 bits otherwise.

use crate::tools::{AtomicU8, AtomicU64};
use doorway_core::memory::{Anybody, Byte, Nobody, Waiters, Word};
use std::sync::atomic::Ordering;
use std::sync::atomic::Ordering::SeqCst;

/// The bits of a variable of this type.
pub(super) struct Bits<T: Word>(<T::Waiters as Waiters>::Width<AtomicU8, AtomicU64>);

/// Makes the same access to a byte and to 64 bits. Words of a variable that is kept in a byte fit
/// it, because its type says so.
macro_rules! accesses {
    ($($name:ident($($word:ident),*; $($order:ident),*) -> $out:ty = |$old:ident| $wide:expr;)*) => {
        $(
            #[inline(always)]
            pub(super) fn $name(&self, $($word: u64,)* $($order: Ordering),*) -> $out {
                $(debug_assert!($word <= Self::MAX, "the word does not fit the variable");)*
                T::Waiters::by_width(
                    &self.0,
                    |byte| {
                        let $old = byte.$name($($word as u8,)* $($order),*);
                        $wide
                    },
                    |word| word.$name($($word,)* $($order),*),
                )
            }
        )*
    };
}

impl<T: Word> Bits<T> {
    /// The largest word that fits.
    const MAX: u64 = if size_of::<Self>() == 1 { u8::MAX as u64 } else { u64::MAX };

    pub(super) fn new(word: u64) -> Self {
        debug_assert!(word <= Self::MAX, "the word does not fit the variable");
        Self(T::Waiters::make_width(|| AtomicU8::new(word as u8), || AtomicU64::new(word)))
    }

    /// Changes the word as `change` says, again and again until no other thread comes between.
    /// Returns the old word as an error if `change` says `None`.
    #[inline(always)]
    pub(super) fn fetch_update(&self, mut change: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut old = self.load(SeqCst);
        while let Some(new) = change(old) {
            match self.compare_exchange(old, new, SeqCst, SeqCst) {
                Ok(old) => return Ok(old),
                Err(now) => old = now,
            }
        }
        Err(old)
    }

    accesses! {
        load(; order) -> u64 = |old| old.into();
        store(new; order) -> () = |old| old;
        swap(new; order) -> u64 = |old| old.into();
        fetch_add(delta; order) -> u64 = |old| old.into();
        fetch_or(mask; order) -> u64 = |old| old.into();
        compare_exchange(old, new; success, failure) -> Result<u64, u64> = |found| found.map(u64::from).map_err(u64::from);
    }
}

impl<T: Word<Waiters = Byte>> Bits<T> {
    /// A byte, made before the program runs.
    pub(super) const fn of_byte_early(byte: u8) -> Self {
        Self(AtomicU8::new(byte))
    }
}

impl<T: Word<Waiters = Nobody>> Bits<T> {
    /// 64 bits, made before the program runs.
    pub(super) const fn of_word_early(word: u64) -> Self {
        Self(AtomicU64::new(word))
    }
}

impl<T: Word<Waiters = Anybody>> Bits<T> {
    /// The same for a variable that any process may wait for.
    pub(super) const fn of_word_awaited(word: u64) -> Self {
        Self(AtomicU64::new(word))
    }
}
