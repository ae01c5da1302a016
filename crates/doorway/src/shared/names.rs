//! Which names there are.

use super::{Error, Handle};
use std::path::{Path, PathBuf};

/// The names in a directory, as [`names`] finds them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Names {
    /// The directory. It need not exist: it is made with the first file.
    pub directory: PathBuf,
    /// The names, in alphabetical order.
    pub names: Vec<String>,
}

/// The names in the directory that [names lie in](super::Builder::new): the usual one, or that of
/// `DOORWAY_DIR`.
///
/// A name is whatever could be opened by it: a file that is damaged, or that is none of doorway's,
/// is listed too, and [`Slots::attach`](super::Slots::attach) says what is wrong with it.
/// Directories are not listed. In a directory that others may write, only files of this user are.
///
/// # Errors
/// If the directory cannot be read, or is one in which no file would be opened.
pub fn names() -> Result<Names, Error> {
    <Handle>::names(None)
}

/// The names in another directory.
///
/// ```
/// use doorway::shared::{Builder, names_in};
/// # let directory = std::env::temp_dir().join(format!("doorway-names-{}", std::process::id()));
/// let gpus = Builder::new("gpus", 4).directory(&directory).open()?;
/// let ports = Builder::new("ports", 9).directory(&directory).open()?;
/// assert_eq!(names_in(&directory)?.names, ["gpus", "ports"]);
/// # drop((gpus, ports));
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`names`].
pub fn names_in(directory: impl AsRef<Path>) -> Result<Names, Error> {
    <Handle>::names(Some(directory.as_ref()))
}
