//! Why a caller gets no place.

use doorway_core::k_exclusion::turnstile::{Closed, Refused};

pub use doorway_core::k_exclusion::turnstile::TooMany;
use std::fmt;

/// Why waiting for several places ended without them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AcquireError {
    /// The slots are closed.
    Closed,
    /// There are fewer places than the caller asked for, so it would wait for ever. Perhaps places
    /// were removed while it waited.
    TooMany(TooMany),
    /// No place was asked for.
    Nothing,
}

/// Why no place was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TryAcquireError {
    /// Too few places are free now.
    NoPlace,
    /// The slots are closed.
    Closed,
    /// There are fewer places than were asked for.
    TooMany(TooMany),
    /// No place was asked for.
    Nothing,
}

/// Why waiting ended without a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AcquireTimeoutError {
    /// The time ran out.
    TimedOut,
    /// The slots are closed.
    Closed,
    /// There are fewer places than the caller asked for, so it would wait for ever. Perhaps places
    /// were removed while it waited.
    TooMany(TooMany),
    /// No place was asked for.
    Nothing,
}

/// A guard could not be [merged](super::Permit::merge), because it belongs to other slots. It is
/// handed back.
pub struct NotMine<G>(pub G);

impl<G> fmt::Debug for NotMine<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotMine(..)")
    }
}

impl<G> fmt::Display for NotMine<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the guard belongs to other slots; merge guards of the same slots only")
    }
}
impl<G> std::error::Error for NotMine<G> {}

/// No place was asked for.
pub(super) struct Nothing;

macro_rules! error {
    ($($name:ident: $($variant:ident)?;)*) => {
        $(
            impl From<Closed> for $name {
                fn from(_: Closed) -> Self {
                    Self::Closed
                }
            }

            impl From<Refused> for $name {
                fn from(why: Refused) -> Self {
                    match why {
                        Refused::Closed => Self::Closed,
                        Refused::TooMany(too_many) => Self::TooMany(too_many),
                    }
                }
            }

            impl From<Nothing> for $name {
                fn from(_: Nothing) -> Self {
                    Self::Nothing
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        $(Self::$variant => f.write_str(text::$variant),)?
                        Self::Closed => Closed.fmt(f),
                        Self::TooMany(TooMany { asked, most }) => write!(
                            f,
                            "{asked} places were asked for, and there are only {most}; ask for fewer, or add places",
                        ),
                        Self::Nothing => f.write_str("no place was asked for; ask for at least one"),
                    }
                }
            }
            impl std::error::Error for $name {}
        )*
    };
}

#[expect(non_upper_case_globals, reason = "named after the variants they are the text of")]
mod text {
    pub(super) const NoPlace: &str = "too few places are free now; try again later, or wait";
    pub(super) const TimedOut: &str = "no place became free in time; wait longer, or try again";
}

error! {
    AcquireError: ;
    TryAcquireError: NoPlace;
    AcquireTimeoutError: TimedOut;
}
