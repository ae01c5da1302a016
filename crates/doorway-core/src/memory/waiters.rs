//! How many processes wait for a variable at a time.

/// A value that a memory can keep beside a variable.
pub trait Kept: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Kept for T {}

/// How many processes wait for a variable at a time: [`Nobody`], [`One`] or [`Anybody`]. The [type
/// of its values](super::Word::Waiters) says which. [`Byte`] says in addition that a variable is
/// small.
///
/// A memory keeps beside a variable what it needs to wake the waiters. If no process waits, it
/// needs nothing. If at most one process waits at a time, its waker fits beside the variable, and
/// waiting takes neither a lock nor an allocation. If any number of processes may wait, it needs a
/// list that is stored elsewhere.
///
/// ```
/// use doorway_core::memory::{Nobody, One, Waiters};
///
/// // A memory that keeps this beside a variable does not know how many processes wait for it.
/// struct Cell<W: Waiters> {
///     word: u64,
///     beside: W::Choose<(), u32, Vec<u32>>,
/// }
/// fn beside<W: Waiters>() -> W::Choose<(), u32, Vec<u32>> {
///     W::make(|| (), || 7, Vec::new)
/// }
/// let lonely = Cell::<One> { word: 0, beside: beside::<One>() };
/// assert_eq!(One::either(&lonely.beside, |()| 0, |&one| one, |all: &Vec<u32>| all.len() as u32), 7);
/// assert_eq!(lonely.word, 0);
/// assert!(size_of::<Cell<Nobody>>() == size_of::<u64>());
/// ```
pub trait Waiters: private::Sealed + 'static {
    /// Whether any process ever waits.
    const AWAITED: bool;

    /// Whether at most one process waits at a time.
    const ONE: bool;

    /// One of three types: the first for [`Nobody`] and [`Byte`], the second for [`One`], and the
    /// third for [`Anybody`].
    type Choose<N: Kept, O: Kept, A: Kept>: Kept;

    /// Makes a value of the chosen type.
    fn make<N: Kept, O: Kept, A: Kept>(
        nobody: impl FnOnce() -> N,
        one: impl FnOnce() -> O,
        anybody: impl FnOnce() -> A,
    ) -> Self::Choose<N, O, A>;

    /// Applies the function that belongs to the chosen type.
    fn either<'a, N: Kept, O: Kept, A: Kept, R>(
        chosen: &'a Self::Choose<N, O, A>,
        nobody: impl FnOnce(&'a N) -> R,
        one: impl FnOnce(&'a O) -> R,
        anybody: impl FnOnce(&'a A) -> R,
    ) -> R;

    /// One of two types for the variable itself: the first for [`Byte`], the second for all others.
    type Width<B: Kept, W: Kept>: Kept;

    /// Makes a value of the chosen width.
    fn make_width<B: Kept, W: Kept>(byte: impl FnOnce() -> B, word: impl FnOnce() -> W) -> Self::Width<B, W>;

    /// Applies the function that belongs to the chosen width.
    fn by_width<'a, B: Kept, W: Kept, R>(
        chosen: &'a Self::Width<B, W>,
        byte: impl FnOnce(&'a B) -> R,
        word: impl FnOnce(&'a W) -> R,
    ) -> R;
}

/// No process waits for such a variable, so a change need not wake any process.
#[derive(Clone, Copy, Debug)]
pub enum Nobody {}

/// No process waits for such a variable, and the word of each of its values is less than 256. A
/// memory can keep it in a byte, so that many lie in one cache line.
#[derive(Clone, Copy, Debug)]
pub enum Byte {}

/// At most one process waits for such a variable at a time.
///
/// A second process may begin to wait before the first has noticed that its own wait is over: the
/// condition of the first holds by then, and stays true. A checker verifies that no two processes
/// wait in vain.
#[derive(Clone, Copy, Debug)]
pub enum One {}

/// Any number of processes may wait for such a variable.
#[derive(Clone, Copy, Debug)]
pub enum Anybody {}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Nobody {}
    impl Sealed for super::Byte {}
    impl Sealed for super::One {}
    impl Sealed for super::Anybody {}
}

macro_rules! waiters {
    ($($who:ident: $awaited:literal, $one:literal, $chosen:ident $of:ident, $width:ident $bits:ident;)*) => {
        $(
            impl Waiters for $who {
                const AWAITED: bool = $awaited;
                const ONE: bool = $one;
                type Choose<N: Kept, O: Kept, A: Kept> = $of;

                #[inline(always)]
                fn make<N: Kept, O: Kept, A: Kept>(
                    _nobody: impl FnOnce() -> N,
                    _one: impl FnOnce() -> O,
                    _anybody: impl FnOnce() -> A,
                ) -> $of {
                    $chosen!(_nobody, _one, _anybody)()
                }

                #[inline(always)]
                fn either<'a, N: Kept, O: Kept, A: Kept, R>(
                    chosen: &'a $of,
                    _nobody: impl FnOnce(&'a N) -> R,
                    _one: impl FnOnce(&'a O) -> R,
                    _anybody: impl FnOnce(&'a A) -> R,
                ) -> R {
                    $chosen!(_nobody, _one, _anybody)(chosen)
                }

                type Width<B: Kept, W: Kept> = $bits;

                #[inline(always)]
                fn make_width<B: Kept, W: Kept>(_byte: impl FnOnce() -> B, _word: impl FnOnce() -> W) -> $bits {
                    $width!(_byte, _word, ())()
                }

                #[inline(always)]
                fn by_width<'a, B: Kept, W: Kept, R>(
                    chosen: &'a $bits,
                    _byte: impl FnOnce(&'a B) -> R,
                    _word: impl FnOnce(&'a W) -> R,
                ) -> R {
                    $width!(_byte, _word, ())(chosen)
                }
            }
        )*
    };
}

macro_rules! first {
    ($a:expr, $b:expr, $c:expr) => {
        $a
    };
}
macro_rules! second {
    ($a:expr, $b:expr, $c:expr) => {
        $b
    };
}
macro_rules! third {
    ($a:expr, $b:expr, $c:expr) => {
        $c
    };
}

waiters! {
    Nobody: false, false, first N, second W;
    Byte: false, false, first N, first B;
    One: true, true, second O, second W;
    Anybody: true, false, third A, second W;
}
