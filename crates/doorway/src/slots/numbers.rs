//! Whether guards know their slots.

use crate::native::Native;
use doorway_core::k_assignment::names::{EitherNames, Names, NoNames};
use std::fmt::Debug;

/// Whether guards know their slots: [`Numbered`] or [`Unnumbered`].
pub trait Numbering: Sized + private::Sealed {
    /// Who has which.
    #[doc(hidden)]
    type SlotNames: Names<Native> + Debug + Send + Sync;
}

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

impl Numbering for Numbered {
    type SlotNames = EitherNames<Native>;
}

impl Numbering for Unnumbered {
    type SlotNames = NoNames;
}
