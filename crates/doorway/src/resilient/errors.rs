//! Why an object cannot be built with the sizes that were asked for.

use crate::SizeError;
use doorway_core::resilient::MOST_NAMES;
use std::fmt;

/// Why the object was not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResilientBuildError {
    /// `k` is 0: no thread could ever be inside.
    NoneInside,
    /// `k` is larger than the object's words allow.
    TooManyInside {
        /// The `k` that was asked for.
        asked: usize,
    },
    /// The k-assignment cannot be built for this number of threads.
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
            Self::NoneInside => f.write_str(
                "with k = 0 no thread could call it; use k = 1 for an object that survives no stopped thread",
            ),
            Self::TooManyInside { asked } => {
                let survives = MOST_NAMES - 1;
                write!(
                    f,
                    "k = {asked} is too large; the largest k is {MOST_NAMES}, which survives {survives} stopped threads"
                )
            }
            Self::Threads(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for ResilientBuildError {}
