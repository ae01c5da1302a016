//! Why one is not let in.

use doorway_core::k_exclusion::turnstile::Closed;
use std::fmt;

/// More places were asked for than there are, or than fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    /// How many.
    pub asked: usize,
    /// How many it could have been.
    pub most: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} places were asked for, and there can be at most {} here; ask for fewer", self.asked, self.most)
    }
}
impl std::error::Error for TooMany {}

/// Why waiting for several places ended without them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AcquireError {
    /// Nobody is let in any more.
    Closed,
    /// It would have waited for ever.
    TooMany(TooMany),
}

/// Why nothing was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// Too few places are free now.
    NoPlace,
    /// Nobody is let in any more.
    Closed,
    /// There will never be as many.
    TooMany(TooMany),
}

/// Why waiting ended without a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeoutError {
    /// The time ran out.
    TimedOut,
    /// Nobody is let in any more.
    Closed,
    /// It would have waited for ever.
    TooMany(TooMany),
}

macro_rules! error {
    ($($name:ident: $($variant:ident)?;)*) => {
        $(
            impl From<Closed> for $name {
                fn from(_: Closed) -> Self {
                    Self::Closed
                }
            }

            impl From<TooMany> for $name {
                fn from(too_many: TooMany) -> Self {
                    Self::TooMany(too_many)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        $(Self::$variant => f.write_str(text::$variant),)?
                        Self::Closed => Closed.fmt(f),
                        Self::TooMany(too_many) => too_many.fmt(f),
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
    TimeoutError: TimedOut;
}
