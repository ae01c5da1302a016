//! Why slots between processes are refused. Each text says what to do.

use super::Mode;
use std::fmt;
use std::path::PathBuf;

/// What can go wrong with slots between processes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// This system has no such slots: they need Linux on a 64-bit, little-endian machine.
    Unsupported,
    /// The name is not one that a file can have here.
    BadName(String),
    /// The number of slots is none, or too large.
    BadSlots(usize),
    /// The number of seats is no multiple of 64 between 64 and 4096.
    BadSeats(usize),
    /// The directory belongs to another user, or other users may write it.
    Directory(PathBuf),
    /// There is no such directory to make the file in. Only the last directory of a path is made,
    /// and none where [permissions](super::Builder::permissions) are asked for.
    NoDirectory(PathBuf),
    /// What a path leads through, or the place for names, is no directory.
    NotADirectory(PathBuf),
    /// There is no such file.
    Missing(PathBuf),
    /// The file is no regular file of this user's with one name.
    NotOurs(PathBuf),
    /// The file has other permissions than were asked for.
    OtherPermissions {
        /// Those of the file.
        found: u32,
        /// Those that were asked for.
        asked: u32,
    },
    /// The file has another version.
    OtherVersion {
        /// That of the file.
        found: u32,
    },
    /// The file was made by a later program, with features that this one does not know and must
    /// not ignore.
    OtherFeatures {
        /// Those of the file, a bit each.
        found: u32,
        /// Those that this program knows.
        known: u32,
    },
    /// The file has another number of slots.
    OtherSlots {
        /// That of the file.
        found: usize,
        /// The one that was asked for.
        asked: usize,
    },
    /// The file has another number of seats.
    OtherSeats {
        /// That of the file.
        found: usize,
        /// The one that was asked for.
        asked: usize,
    },
    /// The file has another mode.
    OtherMode {
        /// That of the file.
        found: Mode,
        /// The one that was asked for.
        asked: Mode,
    },
    /// The file lets newcomers pass the first in line another number of times.
    OtherBypass {
        /// That of the file.
        found: u16,
        /// The one that was asked for.
        asked: u16,
    },
    /// The file is none of ours, or holds what no program of ours writes.
    Corrupt(PathBuf),
    /// The file to be removed does not begin as a file of slots does.
    NotSlots(PathBuf),
    /// The file was deleted while it was open here.
    Deleted(PathBuf),
    /// Every seat is taken by a process that lives; with [`Mode::Tolerate`] also by a dead one that
    /// still holds or waits.
    NoSeats {
        /// How many there are.
        seats: usize,
    },
    /// The disk, or the user's share of it, is full.
    Full(PathBuf),
    /// The file system does not share memory between machines faithfully.
    FileSystem {
        /// What it is.
        name: &'static str,
    },
    /// Others have the file open.
    InUse(PathBuf),
    /// There is no such slot.
    NoSuchSlot {
        /// The one that was asked for.
        slot: usize,
        /// How many there are.
        slots: usize,
    },
    /// The process was forked since the file was opened.
    Forked,
    /// The operating system refused.
    System {
        /// What was tried.
        doing: &'static str,
        /// The number of the error, as `errno` has it.
        code: i32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str(
                "slots between processes need Linux on a 64-bit, little-endian machine; between threads, take \
                 `doorway::Slots`",
            ),
            Self::BadName(name) => write!(
                f,
                "{name:?} is no name; take 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or a digit"
            ),
            Self::BadSlots(slots) => {
                write!(f, "there cannot be {slots} slots; ask for 1 to {}", super::Slots::MOST)
            }
            Self::BadSeats(seats) => {
                write!(f, "there cannot be {seats} seats; ask for a multiple of 64, at most {}", super::MOST_SEATS)
            }
            Self::Directory(path) => write!(
                f,
                "{} belongs to another user, or other users may write it; make it yours with mode 0700, name another \
                 directory, or say `Builder::permissions` if several users are to share the file",
                path.display()
            ),
            Self::NoDirectory(path) => write!(
                f,
                "there is no directory {}; make it first: only the last directory of a path is made, and none for \
                 several users",
                path.display()
            ),
            Self::NotADirectory(path) => {
                write!(f, "{} is no directory; name a directory, or a path in one", path.display())
            }
            Self::Missing(path) => write!(f, "there is no {}; open it with a number of slots first", path.display()),
            Self::NotOurs(path) => write!(
                f,
                "{} is no regular file of this user's with one name; look who made it, and remove it or take another \
                 name",
                path.display()
            ),
            Self::OtherPermissions { found, asked } => write!(
                f,
                "the file has permissions {found:04o}, and {asked:04o} were asked for; ask for those it has, or remove \
                 it when nobody uses it"
            ),
            Self::OtherVersion { found } => write!(
                f,
                "the file has version {found}, and this program knows version {}; run programs of one version, or \
                 remove the file when nobody uses it",
                super::header::VERSION
            ),
            Self::OtherFeatures { found, known } => write!(
                f,
                "the file has features {found:#x}, and this program knows {known:#x}; run a later version of this \
                 program, or remove the file when nobody uses it"
            ),
            Self::OtherSlots { found, asked } => differs(f, "slots", found, asked),
            Self::OtherSeats { found, asked } => differs(f, "seats", found, asked),
            Self::OtherMode { found, asked } => write!(
                f,
                "the file has mode {found}, and {asked} was asked for; ask for {found}, or remove the file when nobody \
                 uses it"
            ),
            Self::OtherBypass { found, asked } => write!(
                f,
                "the file has a bypass of {found}, and {asked} was asked for; ask for {found}, or remove the file when \
                 nobody uses it"
            ),
            Self::Corrupt(path) => write!(
                f,
                "{} holds what this program never writes; stop its users, remove it, and open it anew",
                path.display()
            ),
            Self::NotSlots(path) => write!(
                f,
                "{} is no file of slots, or its beginning is damaged; if it is to go all the same, remove it as you \
                 remove other files",
                path.display()
            ),
            Self::Deleted(path) => write!(
                f,
                "{} was deleted while it was open; stop what the guards protect, and open it anew",
                path.display()
            ),
            Self::NoSeats { seats } => write!(
                f,
                "all {seats} seats are taken; end some of the processes, or remove the file and open it with more seats"
            ),
            Self::Full(path) => write!(f, "no room for {}; free some space on its file system", path.display()),
            Self::FileSystem { name } => write!(
                f,
                "memory is not shared faithfully through {name}; name a directory on a local file system or in memory"
            ),
            Self::InUse(path) => {
                write!(f, "{} is open in another process; end that one first, or force the removal", path.display())
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
        "the file has {found} {what}, and {asked} were asked for; ask for {found}, or remove the file when nobody uses it"
    )
}

impl std::error::Error for Error {}

/// Why no slot was taken. It may be matched exhaustively: whatever else goes wrong is an [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// None is free now, or somebody waits in line.
    NoPlace,
    /// The slots cannot be used.
    Failed(Error),
}

/// Why waiting ended without a slot. It may be matched exhaustively: whatever else goes wrong is an
/// [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimeoutError {
    /// The time ran out.
    TimedOut,
    /// The slots cannot be used.
    Failed(Error),
}

/// What a holder learns that gives its slot back by [`release`](super::Guard::release). It may be
/// matched exhaustively: whatever else goes wrong is an [`Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReleaseError {
    /// The slot was taken away by [`break_slot`](super::Slots::break_slot), or by another user of
    /// the file that took the process for dead. Another holder may have been inside meanwhile.
    Broken,
    /// The slots cannot be used any more.
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
    ReleaseError: Broken, "the slot was taken away from its holder; check what it protects, its fence is outdated";
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
            (Error::NotADirectory(path()), "/a/b is no directory; name a directory"),
            (Error::OtherFeatures { found: 0x3_0000, known: 1 }, "features 0x30000, and this program knows 0x1; run"),
        ] {
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
