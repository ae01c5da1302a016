//! How many processes wait for a variable at a time.

/// What can be kept beside a variable.
pub trait Kept: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Kept for T {}

/// How many processes wait for a variable at a time, as the [type of its values](super::Word::Waiters)
/// says: [`Nobody`], [`One`] or [`Anybody`].
///
/// A memory keeps beside a variable what is needed to wake those that wait. That is nothing if nobody
/// waits, and a list that lies elsewhere if anybody may. If one process waits at a time, its waker fits
/// beside the variable: to wait then takes no lock and no allocation.
///
/// ```
/// use doorway_core::memory::{Nobody, One, Waiters};
///
/// // A memory keeps this beside a variable, of which nobody knows how many processes wait.
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

    /// Whether one process waits at a time.
    const ONE: bool;

    /// One of three types: the first for [`Nobody`], the second for [`One`], the third for [`Anybody`].
    type Choose<N: Kept, O: Kept, A: Kept>: Kept;

    /// Makes the one that is chosen.
    fn make<N: Kept, O: Kept, A: Kept>(
        nobody: impl FnOnce() -> N,
        one: impl FnOnce() -> O,
        anybody: impl FnOnce() -> A,
    ) -> Self::Choose<N, O, A>;

    /// What comes of the one that is chosen.
    fn either<'a, N: Kept, O: Kept, A: Kept, R>(
        chosen: &'a Self::Choose<N, O, A>,
        nobody: impl FnOnce(&'a N) -> R,
        one: impl FnOnce(&'a O) -> R,
        anybody: impl FnOnce(&'a A) -> R,
    ) -> R;
}

/// No process waits for such a variable, so none needs to be woken when it changes.
#[derive(Clone, Copy, Debug)]
pub enum Nobody {}

/// One process waits for such a variable at a time.
///
/// Another process may begin to wait while the first has not noticed yet that its wait is over: what the
/// first waited for has come, and stays. A checker looks that no two processes wait in vain.
#[derive(Clone, Copy, Debug)]
pub enum One {}

/// Any number of processes may wait for such a variable.
#[derive(Clone, Copy, Debug)]
pub enum Anybody {}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Nobody {}
    impl Sealed for super::One {}
    impl Sealed for super::Anybody {}
}

macro_rules! waiters {
    ($($who:ident: $awaited:literal, $one:literal, $chosen:ident $of:ident;)*) => {
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
    Nobody: false, false, first N;
    One: true, true, second O;
    Anybody: true, false, third A;
}
