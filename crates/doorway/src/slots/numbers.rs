//! Whether guards know their slots, and whether newcomers may pass waiters.

use super::entering::PlaceInLine;
use super::{ANYONE, Slots};
use crate::native::{Native, now, sure, wait_as_task};
use doorway_core::k_assignment::Grant;
use doorway_core::k_assignment::names::{EitherNames, Names, NoNames};
use doorway_core::k_exclusion::bypass::Tray;
use doorway_core::k_exclusion::turnstile::Refused;
use doorway_core::memory::Site;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;

/// Whether guards know their slots ([`Numbered`] or [`Unnumbered`]), and whether newcomers may pass
/// waiters ([`Passing`]).
pub trait Numbering: Sized + private::Sealed {
    /// Which guard has which slot.
    #[doc(hidden)]
    type SlotNames: Names<Native> + Debug + Send + Sync;
    /// What newcomers need in order to pass waiters.
    #[doc(hidden)]
    type Tray: Debug + Send + Sync;
    /// The same, where newcomers [may pass](Slots::bypass) waiters.
    type Passing: Numbering<SlotNames = Self::SlotNames, Tray = Tray<Native>>;

    /// Whether newcomers may pass. This is a constant, so that no code for it is left where they
    /// may not.
    #[doc(hidden)]
    const PASSES: bool;

    /// What newcomers need in order to pass, if they may.
    #[doc(hidden)]
    fn tray(tray: &Self::Tray) -> Option<&Tray<Native>>;

    /// A tray with the same bound as this one, which goes on with its stamps.
    #[doc(hidden)]
    fn tray_after(tray: &Self::Tray) -> Self::Tray;

    /// What becomes of the tray if this many newcomers may pass from now on.
    #[doc(hidden)]
    fn tray_with_bound(tray: Self::Tray, newcomers: u32) -> Tray<Native>;

    /// The wait of a task that needs more state than a place in line has.
    #[doc(hidden)]
    fn wait_elsewhere<'a, S>(slots: S, place: PlaceInLine) -> Elsewhere<'a>
    where
        S: Deref<Target = Slots<Self>> + Send + 'a;
}

/// Such a wait.
pub(super) type Elsewhere<'a> = Pin<Box<dyn Future<Output = Result<Grant, Refused>> + Send + 'a>>;

mod private {
    pub trait Sealed {}
    impl Sealed for super::Numbered {}
    impl Sealed for super::Unnumbered {}
    impl<N> Sealed for super::Passing<N> {}
}

/// Numberings whose guards know their slots: [`Numbered`], also where newcomers may pass.
#[diagnostic::on_unimplemented(
    message = "these guards have no slot numbers",
    note = "slots made by `without_numbers` hand out no numbers; omit that call to have `slot()` and `slots()`"
)]
pub trait KnowsSlots: Numbering {}
impl KnowsSlots for Numbered {}
impl KnowsSlots for Passing<Numbered> {}

/// Guards know their slots.
#[derive(Clone, Copy, Debug)]
pub struct Numbered;

/// Guards have no slots.
#[derive(Clone, Copy, Debug)]
pub struct Unnumbered;

/// The same, where newcomers [may pass](Slots::bypass) waiters.
#[derive(Clone, Copy, Debug)]
pub struct Passing<N = Numbered>(PhantomData<fn() -> N>);

/// How many times a called waiter looks for a place before it sleeps again.
const LOOKS: u8 = 8;

/// A tray for a bound on newcomers. Its stamps are larger than tickets by `stamps`.
pub(super) fn tray(newcomers: u32, stamps: u64) -> Tray<Native> {
    let site = Site::new(ANYONE.memory());
    Tray::new(&site, newcomers, LOOKS).noting_stamps(&site, stamps)
}

/// By how much the stamps of a tray are larger than tickets now.
pub(super) fn stamps(tray: &Tray<Native>) -> u64 {
    sure(now(tray.stamps(&ANYONE)))
}

/// Implemented for each type separately: for arbitrary names, the compiler does not know that the
/// future is `Send`.
macro_rules! numbering {
    ($($who:ty: $names:ty, $tray:ty = |$of:pat_param| $passes:expr, |$old:pat_param| $again:expr, |$was:pat_param, $most:pat_param| $bound:expr, $passing:ty;)*) => {
        $(
            impl Numbering for $who {
                const PASSES: bool = size_of::<$tray>() > 0;
                type SlotNames = $names;
                type Tray = $tray;
                type Passing = $passing;

                #[inline(always)]
                fn tray($of: &Self::Tray) -> Option<&Tray<Native>> {
                    $passes
                }

                fn tray_after($old: &Self::Tray) -> Self::Tray {
                    $again
                }

                fn tray_with_bound($was: Self::Tray, $most: u32) -> Tray<Native> {
                    $bound
                }

                fn wait_elsewhere<'a, S>(slots: S, place: PlaceInLine) -> Elsewhere<'a>
                where
                    S: Deref<Target = Slots<Self>> + Send + 'a,
                {
                    Box::pin(async move { wait_as_task(&*slots, place).await })
                }
            }
        )*
    };
}

numbering! {
    Numbered: EitherNames<Native>, () = |()| None, |()| (), |(), most| tray(most, 0), Passing<Self>;
    Unnumbered: NoNames, () = |()| None, |()| (), |(), most| tray(most, 0), Passing<Self>;
    Passing<Numbered>: EitherNames<Native>, Tray<Native> = |all| Some(all), |old| tray(old.most(), stamps(old)), |old, most| old.with_bound(most), Self;
    Passing<Unnumbered>: NoNames, Tray<Native> = |all| Some(all), |old| tray(old.most(), stamps(old)), |old, most| old.with_bound(most), Self;
}
