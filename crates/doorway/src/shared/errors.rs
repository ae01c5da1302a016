//! Errors of slots between processes. Each message says what to do.

use super::Mode;
use std::fmt;
use std::path::PathBuf;

/// What can go wrong with slots between processes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// This system has no such slots: they need Linux on a 64-bit, little-endian machine.
    Unsupported,
    /// The name is not valid as a file name here.
    BadName(String),
    /// The number of slots is 0 or too large.
    BadSlots(usize),
    /// The number of seats is not a multiple of 64 between 64 and 4096.
    BadSeats(usize),
    /// The directory belongs to another user, or other users may write it.
    Directory(PathBuf),
    /// There is no directory to make the file in. Only the last directory of a path is made, and
    /// none where [permissions](super::Builder::permissions) are asked for.
    NoDirectory(PathBuf),
    /// A part of the path, or the directory for names, is not a directory.
    NotADirectory(PathBuf),
    /// This user may not open the directory, or may not make or remove files in it.
    NoPermission(PathBuf),
    /// There is no such file.
    Missing(PathBuf),
    /// The file is not a regular file of this user with exactly one name.
    NotOurs(PathBuf),
    /// The file's permissions differ from those that were asked for.
    OtherPermissions {
        /// The permissions of the file.
        found: u32,
        /// The permissions that were asked for.
        asked: u32,
    },
    /// The file has another format version.
    OtherVersion {
        /// The version of the file.
        found: u32,
    },
    /// A later program made the file, with features that this one does not know and must not
    /// ignore.
    OtherFeatures {
        /// The features of the file, one bit each.
        found: u32,
        /// The features that this program knows.
        known: u32,
    },
    /// The file has another number of slots.
    OtherSlots {
        /// The number of slots in the file.
        found: usize,
        /// The number that was asked for.
        asked: usize,
    },
    /// The file has another number of seats.
    OtherSeats {
        /// The number of seats in the file.
        found: usize,
        /// The number that was asked for.
        asked: usize,
    },
    /// The file has another mode.
    OtherMode {
        /// The mode of the file.
        found: Mode,
        /// The mode that was asked for.
        asked: Mode,
    },
    /// The file has another bound on how many newcomers may pass the first waiter.
    OtherBypass {
        /// The bound of the file.
        found: u16,
        /// The bound that was asked for.
        asked: u16,
    },
    /// The file is not a file of slots, or it contains a value that this program never writes.
    Corrupt(PathBuf),
    /// The file to be removed does not begin like a file of slots.
    NotSlots(PathBuf),
    /// The file was deleted while it was open in this process.
    Deleted(PathBuf),
    /// Every seat belongs to a living process or, with [`Mode::Tolerate`], to a dead process that
    /// still holds or waits.
    NoSeats {
        /// The number of seats.
        seats: usize,
    },
    /// The disk is full, or the user's quota is used up.
    Full(PathBuf),
    /// The file system does not share memory reliably between machines.
    FileSystem {
        /// The file system.
        name: &'static str,
    },
    /// A process has the file open.
    InUse(PathBuf),
    /// There is no such slot.
    NoSuchSlot {
        /// The slot that was asked for.
        slot: usize,
        /// The number of slots.
        slots: usize,
    },
    /// The process was forked since the file was opened.
    Forked,
    /// The operating system refused a call.
    System {
        /// What was tried.
        doing: &'static str,
        /// The error number, as in `errno`.
        code: i32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str(
                "slots between processes need Linux on a 64-bit, little-endian machine; between threads, use \
                 `doorway::Slots`",
            ),
            Self::BadName(name) => write!(
                f,
                "{name:?} is not a valid name; use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or a digit"
            ),
            Self::BadSlots(slots) => {
                write!(f, "{slots} slots are not possible; ask for 1 to {}", super::Slots::MOST)
            }
            Self::BadSeats(seats) => {
                write!(f, "{seats} seats are not possible; ask for a multiple of 64, at most {}", super::MOST_SEATS)
            }
            Self::Directory(path) => write!(
                f,
                "{} belongs to another user, or other users may write it; make it yours with mode 0700, name another \
                 directory, or call `Builder::permissions` if several users share the file",
                path.display()
            ),
            Self::NoDirectory(path) => write!(
                f,
                "there is no directory {}; make it first: doorway makes only the last directory of a path, and none if \
                 several users share the file",
                path.display()
            ),
            Self::NotADirectory(path) => {
                write!(f, "{} is not a directory; name a directory, or a path in one", path.display())
            }
            Self::NoPermission(path) => write!(
                f,
                "this user has no permission for {}; ask its owner, or use another directory",
                path.display()
            ),
            Self::Missing(path) => write!(f, "there is no {}; open it with a number of slots first", path.display()),
            Self::NotOurs(path) => write!(
                f,
                "{} is not a regular file of this user with exactly one name; find out what made it, then remove it or \
                 choose another name",
                path.display()
            ),
            Self::OtherPermissions { found, asked } => write!(
                f,
                "the file has permissions {found:04o}, and {asked:04o} were asked for; ask for those it has, or remove \
                 it when no process uses it"
            ),
            Self::OtherVersion { found } => write!(
                f,
                "the file has version {found}, and this program knows version {}; run programs of one version, or \
                 remove the file when no process uses it",
                super::header::VERSION
            ),
            Self::OtherFeatures { found, known } => write!(
                f,
                "the file has features {found:#x}, and this program knows {known:#x}; run a later version of this \
                 program, or remove the file when no process uses it (`Slots::remove`, `doorway rm`)"
            ),
            Self::OtherSlots { found, asked } => differs(f, "slots", found, asked),
            Self::OtherSeats { found, asked } => differs(f, "seats", found, asked),
            Self::OtherMode { found, asked } => write!(
                f,
                "the file has mode {found}, and {asked} was asked for; ask for {found}, or remove the file when no \
                 process uses it"
            ),
            Self::OtherBypass { found, asked } => write!(
                f,
                "the file has a bypass of {found}, and {asked} was asked for; ask for {found}, or remove the file when no \
                 process uses it"
            ),
            Self::Corrupt(path) => write!(
                f,
                "{} is not a file of slots, or contains values that this program never writes; if it is one, stop its \
                 users, remove it, and open it again",
                path.display()
            ),
            Self::NotSlots(path) => write!(
                f,
                "{} is not a file of slots, or its beginning is damaged; to remove it all the same, delete it like any \
                 other file",
                path.display()
            ),
            Self::Deleted(path) => write!(
                f,
                "{} was deleted while it was open; stop what the guards protect, and open it again",
                path.display()
            ),
            Self::NoSeats { seats } => write!(
                f,
                "all {seats} seats are taken; end some of the processes, or remove the file and open it with more seats"
            ),
            Self::Full(path) => write!(f, "no room for {}; free some space on its file system", path.display()),
            Self::FileSystem { name } => write!(
                f,
                "{name} does not share memory reliably; name a directory on a local file system or in memory"
            ),
            Self::InUse(path) => {
                write!(f, "{} is open in a process; end that process first, or remove the file by force", path.display())
            }
            Self::NoSuchSlot { slot, slots } => {
                write!(f, "there is no slot {slot}; the slots are 0 to {}", slots.saturating_sub(1))
            }
            Self::Forked => f.write_str(
                "this process was forked after the file was opened, and guards stay with the parent; open it again here",
            ),
            Self::System { doing, code } => {
                write!(f, "{doing}: {}", std::io::Error::from_raw_os_error(*code))
            }
        }
    }
}

fn differs(f: &mut fmt::Formatter<'_>, what: &str, found: &usize, asked: &usize) -> fmt::Result {
    write!(
        f,
        "the file has {found} {what}, and {asked} were asked for; ask for {found}, or remove the file when no process \
         uses it"
    )
}

impl std::error::Error for Error {}

/// Why no slot was taken. A `match` on this may be exhaustive: every other failure is an [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// No slot is free now, or a process waits in line.
    NoPlace,
    /// The slots cannot be used.
    Failed(Error),
}

/// Why waiting ended without a slot. A `match` on this may be exhaustive: every other failure is an
/// [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimeoutError {
    /// The time ran out.
    TimedOut,
    /// The slots cannot be used.
    Failed(Error),
}

/// What a holder may learn when it gives its slot back by [`release`](super::Guard::release). A
/// `match` on this may be exhaustive: every other failure is an [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReleaseError {
    /// The slot was taken away by [`break_slot`](super::Slots::break_slot), or by another process
    /// that took this one for dead, because code of this process has closed descriptors that are
    /// not its own. Another holder may have been inside meanwhile.
    Broken,
    /// The slots can no longer be used.
    Failed(Error),
}

macro_rules! errors {
    ($($name:ident: $variant:ident, $text:literal;)*) => {
        $(
            impl From<Error> for $name {
                fn from(error: Error) -> Self {
                    Self::Failed(error)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    match self {
                        Self::$variant => f.write_str($text),
                        Self::Failed(error) => error.fmt(f),
                    }
                }
            }

            impl std::error::Error for $name {}
        )*
    };
}

errors! {
    TryAcquireError: NoPlace, "no slot is free now; try again later, or wait";
    TimeoutError: TimedOut, "no slot became free in time; wait longer, or try again";
    ReleaseError: Broken, "the slot was taken away from its holder; check what it protects, because its fence is outdated";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_what_to_do() {
        let path = || PathBuf::from("/a/b");
        for (error, advice) in [
            (Error::Unsupported, "64-bit, little-endian"),
            (Error::Directory(path()), "`Builder::permissions`"),
            (Error::NoDirectory(path()), "make it first"),
            (Error::NoPermission(path()), "/a/b; ask its owner"),
            (Error::Corrupt(path()), "if it is one, stop its users"),
            (Error::NotADirectory(path()), "/a/b is not a directory; name a directory"),
            (Error::OtherFeatures { found: 0x3_0000, known: 1 }, "features 0x30000, and this program knows 0x1; run"),
        ] {
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
