//! Whether guards know their slots.

use super::Slots;
use super::entering::PlaceInLine;
use crate::native::{Native, wait_as_task};
use doorway_core::k_assignment::Grant;
use doorway_core::k_assignment::names::{EitherNames, Names, NoNames};
use doorway_core::k_exclusion::turnstile::Refused;
use std::fmt::Debug;
use std::ops::Deref;
use std::pin::Pin;

/// Whether guards know their slots: [`Numbered`] or [`Unnumbered`].
pub trait Numbering: Sized + private::Sealed {
    /// Who has which.
    #[doc(hidden)]
    type SlotNames: Names<Native> + Debug + Send + Sync;

    /// A task's wait that takes more than is kept of one in line.
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
}

/// Guards know their slots.
#[derive(Clone, Copy, Debug)]
pub struct Numbered;

/// Guards have no slots.
#[derive(Clone, Copy, Debug)]
pub struct Unnumbered;

/// For each by itself: of a text over any names it is not known that it can be sent.
macro_rules! numbering {
    ($($who:ty: $names:ty;)*) => {
        $(
            impl Numbering for $who {
                type SlotNames = $names;

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
    Numbered: EitherNames<Native>;
    Unnumbered: NoNames;
}
