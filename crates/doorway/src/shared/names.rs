//! Lists names.

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

/// Lists the names in the [directory for names](super::Builder::new): the usual one, or that of
/// `DOORWAY_DIR`.
///
/// The list has every file that could be opened by a name. It includes a file that is damaged, or
/// that is not a file of slots; [`Slots::attach`](super::Slots::attach) says what is wrong with it.
/// It has no directories. In a directory that other users may write, it has only the files of this
/// user.
///
/// # Errors
/// Returns an error if the directory cannot be read, or if no file may be opened in it.
pub fn names() -> Result<Names, Error> {
    <Handle>::names(None)
}

/// Lists the names in another directory.
///
/// # Errors
/// The same as for [`names`].
///
/// # Examples
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
pub fn names_in(directory: impl AsRef<Path>) -> Result<Names, Error> {
    <Handle>::names(Some(directory.as_ref()))
}
