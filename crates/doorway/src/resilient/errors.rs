//! What can be wrong with the sizes of an object.

use crate::SizeError;
use doorway_core::resilient::MOST_NAMES;
use std::fmt;

/// Why there is no such object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResilientBuildError {
    /// Nobody could ever be inside.
    NoneInside,
    /// More may be inside at a time than fit its words.
    TooManyInside {
        /// How many were to be.
        asked: usize,
    },
    /// The k-assignment cannot be built for so many threads.
    Threads(SizeError),
}

impl From<SizeError> for ResilientBuildError {
    fn from(error: SizeError) -> Self {
        Self::Threads(error)
    }
}

impl fmt::Display for ResilientBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoneInside => {
                f.write_str("with k = 0 nobody could call it; k = 1 is an object that survives no stop")
            }
            Self::TooManyInside { asked } => {
                let survives = MOST_NAMES - 1;
                write!(f, "k = {asked} is too many; with k = {MOST_NAMES}, the most, it survives {survives} stops")
            }
            Self::Threads(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for ResilientBuildError {}
