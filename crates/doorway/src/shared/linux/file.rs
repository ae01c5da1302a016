//! Making, opening and removing the file. A file that has its name is complete.

use super::super::header::{BYPASS, HEADER, Header, MAGIC, MEANT};
use super::super::{Error, Mode, usual_seats};
use super::bytes::{self, Lock};
use super::fork::Descriptor;
use super::place::Place;
use super::{system, system_at};
use rustix::fs::{self, AtFlags, FallocateFlags, FileType, Mode as Bits, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Gid, geteuid};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// What an existing file must match, and what a new file gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) slots: usize,
    /// `None`: the number in the file; for a new file, a number that fits the slots.
    pub(super) seats: Option<usize>,
    pub(super) mode: Mode,
    pub(super) bypass: u16,
}

/// What a caller wants a file to be.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// `None`: the file must exist, and is taken as it is.
    pub(super) shape: Option<Shape>,
    /// The permissions, if several users share the file.
    pub(super) permissions: Option<u32>,
    pub(super) group: Option<u32>,
    /// The features that this program knows, and gives to a file that it makes.
    pub(super) features: u32,
    /// Whether the thread that opens the file stays for as long as the process.
    pub(super) thread_stays: bool,
}

impl Wanted {
    fn bits(&self) -> u32 {
        self.permissions.unwrap_or(0o600)
    }
}

/// How many times to try to open the file while other processes remove it.
const TRIES: u32 = 200;

/// An open file.
pub(super) struct Opened {
    /// Holds the lock bytes, above all the byte that every process with the file open shares.
    pub(super) descriptor: Descriptor,
    /// Another open file description, for the mapping. A mapping keeps its description open, in a
    /// forked child too, and with it all its locks. So it must not be the description that has the
    /// locks.
    pub(super) to_map: OwnedFd,
    pub(super) header: Header,
}

/// Opens the file, and makes it if it does not exist.
pub(super) fn open(place: &Place, wanted: &Wanted) -> Result<Opened, Error> {
    let mut refused = Error::InUse(place.path.clone());
    for attempt in 0..TRIES {
        if attempt > 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let descriptor = match Descriptor::open(|| open_name(place)) {
            Ok(descriptor) => descriptor,
            Err(Errno::NOENT) => {
                let Some(shape) = wanted.shape else { return Err(Error::Missing(place.path.clone())) };
                create(place, wanted, shape)?;
                continue;
            }
            Err(errno) => return Err(not_opened(errno, place)),
        };
        let file = descriptor.get().ok_or(Error::Forked)?;
        let stat = look(file)?;
        match check_file(&stat, place, wanted) {
            Ok(()) => {}
            // The maker may have linked the file to its name, and not yet removed the first name.
            Err(error) if stat.st_nlink == 2 => {
                refused = error;
                continue;
            }
            Err(_) if stat.st_nlink == 0 => continue,
            Err(error) => return Err(error),
        }
        check_file_system(file)?;
        let header = read_header(file, &stat, wanted.features, &place.path)?;
        if let Some(shape) = wanted.shape {
            compare(&header, shape)?;
        }
        // A process that removes the file locks this byte exclusively for a moment.
        if !bytes::lock(file, header.seats as u64, Lock::Shared)? {
            continue;
        }
        // Only now: the file may have been removed before this process had the byte.
        if look(file)?.st_nlink == 0 {
            continue;
        }
        let to_map = match open_name(place) {
            Ok(to_map) => to_map,
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(not_opened(errno, place)),
        };
        let other = look(to_map.as_fd())?;
        if (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino) {
            return Ok(Opened { descriptor, to_map, header });
        }
    }
    Err(refused)
}

fn open_name(place: &Place) -> Result<OwnedFd, Errno> {
    // Non-blocking: a FIFO in place of the file must not block this process.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    fs::openat(&place.directory, &place.name, flags, Bits::empty())
}

fn not_opened(errno: Errno, place: &Place) -> Error {
    match errno {
        Errno::LOOP | Errno::ISDIR | Errno::NXIO | Errno::ACCESS | Errno::PERM => Error::NotOurs(place.path.clone()),
        errno => system("opening the file", errno),
    }
}

pub(super) fn look(file: BorrowedFd<'_>) -> Result<Stat, Error> {
    fs::fstat(file).map_err(|errno| system("looking at the file", errno))
}

/// Checks the owner and the type of the file.
fn check_file(stat: &Stat, place: &Place, wanted: &Wanted) -> Result<(), Error> {
    let me = geteuid().as_raw();
    // Among several users, the directory decides which users may make files, and the permissions
    // decide which users may write them.
    let owned = stat.st_uid == me || wanted.permissions.is_some();
    if !FileType::from_raw_mode(stat.st_mode).is_file() || !owned || stat.st_nlink != 1 {
        return Err(Error::NotOurs(place.path.clone()));
    }
    let found = stat.st_mode & 0o7777;
    if wanted.shape.is_some() && found != wanted.bits() {
        return Err(Error::OtherPermissions { found, asked: wanted.bits() });
    }
    Ok(())
}

/// File systems whose shared mappings are incoherent between machines, or do not work at all.
const REFUSED: &[(u32, &str)] = &[
    (0x6969, "NFS"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9p"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x786f_4256, "a VirtualBox folder"),
];

pub(super) fn refuses(kind: u32) -> Result<(), Error> {
    match REFUSED.iter().find(|(refused, _)| *refused == kind) {
        Some((_, name)) => Err(Error::FileSystem { name }),
        None => Ok(()),
    }
}

fn check_file_system(file: BorrowedFd<'_>) -> Result<(), Error> {
    let about = fs::fstatfs(file).map_err(|errno| system("looking at the file system", errno))?;
    refuses(about.f_type as u32)
}

fn read_header(file: BorrowedFd<'_>, stat: &Stat, known: u32, path: &Path) -> Result<Header, Error> {
    let mut bytes = [0; MEANT];
    match rustix::io::pread(file, &mut bytes, 0) {
        Ok(MEANT) => Header::decode(&bytes, stat.st_size.cast_unsigned(), known, path),
        Ok(_) => Err(Error::Corrupt(path.to_owned())),
        Err(errno) => Err(system("reading the header", errno)),
    }
}

/// Never adopts another size, and never makes another file: two files would be two limits.
fn compare(header: &Header, Shape { slots, seats, mode, bypass }: Shape) -> Result<(), Error> {
    if header.slots != slots {
        return Err(Error::OtherSlots { found: header.slots, asked: slots });
    }
    if header.mode != mode {
        return Err(Error::OtherMode { found: header.mode, asked: mode });
    }
    if header.bypass != bypass {
        return Err(Error::OtherBypass { found: header.bypass, asked: bypass });
    }
    match seats {
        Some(asked) if header.seats != asked => return Err(Error::OtherSeats { found: header.seats, asked }),
        _ => {}
    }
    Ok(())
}

/// Writes the whole file before it gets its name. If another process is faster, its file counts.
fn create(place: &Place, wanted: &Wanted, Shape { slots, seats, mode, bypass }: Shape) -> Result<(), Error> {
    let seats = seats.unwrap_or_else(|| usual_seats(slots));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
    let features = if bypass == 0 { wanted.features & !BYPASS } else { wanted.features | BYPASS };
    let header = Header { slots, seats, mode, bypass, features, nonce: nonce(), created: now };
    match without_a_name(place, wanted, &header) {
        Err(Nameless::Impossible) => under_another_name(place, wanted, &header),
        Ok(()) => Ok(()),
        Err(Nameless::Failed(error)) => Err(error),
    }
}

/// Distinguishes two files: the hasher's keys are random, and differ in each call.
fn nonce() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

enum Nameless {
    Impossible,
    Failed(Error),
}

/// Makes a file without a name first, so that a maker that dies leaves nothing behind.
fn without_a_name(place: &Place, wanted: &Wanted, header: &Header) -> Result<(), Nameless> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = fs::openat(&place.directory, ".", flags, Bits::RUSR | Bits::WUSR).map_err(|errno| match errno {
        Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT => Nameless::Impossible,
        errno => Nameless::Failed(not_made(errno, place)),
    })?;
    check_file_system(file.as_fd()).map_err(Nameless::Failed)?;
    fill(file.as_fd(), place, wanted, header).map_err(Nameless::Failed)?;
    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    match fs::linkat(fs::CWD, itself, &place.directory, &place.name, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        // There is no /proc.
        Err(Errno::NOENT) => Err(Nameless::Impossible),
        Err(errno) => Err(Nameless::Failed(not_made(errno, place))),
    }
}

/// For systems that have no files without a name. If the maker dies here, it leaves a file whose
/// name begins with a dot, which no valid name does.
fn under_another_name(place: &Place, wanted: &Wanted, header: &Header) -> Result<(), Error> {
    let first = format!(".{}.{:016x}", place.name, header.nonce);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file =
        fs::openat(&place.directory, &first, flags, Bits::RUSR | Bits::WUSR).map_err(|errno| not_made(errno, place))?;
    let made = check_file_system(file.as_fd()).and_then(|()| fill(file.as_fd(), place, wanted, header));
    let named = made.and_then(|()| {
        match fs::renameat_with(&place.directory, &first, &place.directory, &place.name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            // The file has two names for a moment. A process that opens it and sees both waits.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match fs::linkat(&place.directory, &first, &place.directory, &place.name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::EXIST) => Ok(false),
                    Err(errno) => Err(not_made(errno, place)),
                }
            }
            Err(errno) => Err(not_made(errno, place)),
        }
    });
    if !matches!(named, Ok(true)) {
        let _ = fs::unlinkat(&place.directory, &first, AtFlags::empty());
    }
    named.map(|_| ())
}

fn not_made(errno: Errno, place: &Place) -> Error {
    match errno {
        Errno::NOSPC | Errno::DQUOT => Error::Full(place.path.clone()),
        errno => system_at(&place.path, "making the file", errno),
    }
}

/// Writes the header, and zeros. All blocks are allocated: a hole in a full file system would raise
/// a signal at the first access.
fn fill(file: BorrowedFd<'_>, place: &Place, wanted: &Wanted, header: &Header) -> Result<(), Error> {
    let fails = |errno| not_made(errno, place);
    let length = header.layout().length;
    match fs::fallocate(file, FallocateFlags::empty(), 0, length as u64) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeros = [0; HEADER];
            for at in (0..length).step_by(HEADER) {
                write_all(file, &zeros[..HEADER.min(length - at)], at as u64).map_err(fails)?;
            }
        }
        Err(errno) => return Err(fails(errno)),
    }
    write_all(file, &header.encode(), 0).map_err(fails)?;
    if let Some(group) = wanted.group {
        fs::fchown(file, None, Some(Gid::from_raw(group))).map_err(fails)?;
    }
    // Independent of the umask.
    fs::fchmod(file, Bits::from_raw_mode(wanted.bits())).map_err(fails)
}

fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(file, bytes, at))?;
        if written == 0 {
            return Err(Errno::NOSPC);
        }
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// Whether the file begins like a file of slots of any version.
fn begins_as_ours(file: BorrowedFd<'_>) -> Result<bool, Error> {
    let mut bytes = [0; MAGIC.len()];
    let read = rustix::io::pread(file, &mut bytes, 0).map_err(|errno| system("reading the header", errno))?;
    Ok(read == bytes.len() && bytes == *MAGIC)
}

/// Removes the file. Without force, no process may have it open.
pub(super) fn remove(place: &Place, wanted: &Wanted, force: bool) -> Result<(), Error> {
    let missing = || Error::Missing(place.path.clone());
    let unlink = || match fs::unlinkat(&place.directory, &place.name, AtFlags::empty()) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) => Err(missing()),
        Err(errno) => Err(system_at(&place.path, "removing the file", errno)),
    };
    let descriptor = Descriptor::open(|| open_name(place)).map_err(|errno| match errno {
        Errno::NOENT => missing(),
        errno => not_opened(errno, place),
    })?;
    let file = descriptor.get().ok_or(Error::Forked)?;
    let stat = look(file)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(Error::NotOurs(place.path.clone()));
    }
    // A path may name any file. In the directory for names, a damaged file can be removed by force.
    let may_go = begins_as_ours(file)? || force && place.is_named;
    if !may_go {
        return Err(Error::NotSlots(place.path.clone()));
    }
    if stat.st_uid != geteuid().as_raw() && wanted.permissions.is_none() && !force {
        return Err(Error::NotOurs(place.path.clone()));
    }
    if !force {
        // Locks all bytes, and does not rely on the rest of the header. It may be damaged or of
        // another version while other processes have the file open.
        if !bytes::lock_all(file)? {
            return Err(Error::InUse(place.path.clone()));
        }
        // The name may belong to another file by now.
        match open_name(place).map(|now| look(now.as_fd())) {
            Ok(Ok(now)) if (now.st_ino, now.st_dev) == (stat.st_ino, stat.st_dev) => {}
            Ok(Ok(_)) => return Err(Error::InUse(place.path.clone())),
            Ok(Err(error)) => return Err(error),
            Err(Errno::NOENT) => return Err(missing()),
            Err(errno) => return Err(not_opened(errno, place)),
        }
    }
    unlink()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> (std::path::PathBuf, Place) {
        let path = std::env::temp_dir().join(format!("doorway-file-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let place = super::super::place::find(&path.join("slots"), None, false, false).unwrap();
        (path, place)
    }

    fn wanted() -> Wanted {
        Wanted {
            shape: Some(Shape { slots: 2, seats: Some(64), mode: Mode::Reclaim, bypass: 0 }),
            permissions: None,
            group: None,
            features: 0,
            thread_stays: false,
        }
    }

    #[test]
    fn file_systems_of_the_network_are_refused() {
        for (kind, name) in [(0x6969, "NFS"), (0x6573_5546, "FUSE"), (0x0102_1997, "9p")] {
            assert_eq!(refuses(kind), Err(Error::FileSystem { name }));
        }
        for local in [
            0x0102_1994, /* tmpfs */
            0xef53,      /* ext4 */
            0x9123_683e, /* btrfs */
            0x794c_7630, /* overlay */
        ] {
            assert_eq!(refuses(local), Ok(()));
        }
    }

    /// On systems that have no files without a name, or no `/proc`.
    #[test]
    fn a_file_that_is_made_under_another_name_is_complete_and_alone() {
        let (directory, place) = place("another");
        let header =
            |nonce| Header { slots: 2, seats: 64, mode: Mode::Reclaim, bypass: 0, features: 0, nonce, created: 0 };
        under_another_name(&place, &wanted(), &header(1)).unwrap();
        under_another_name(&place, &wanted(), &header(2)).unwrap(); // too late: the other file counts
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "the other names are gone");
        let opened = open(&place, &wanted()).unwrap();
        assert_eq!(opened.header, header(1));
        drop(opened);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_name_that_stays_double_is_refused() {
        let (directory, place) = place("double");
        drop(open(&place, &wanted()).unwrap());
        std::fs::hard_link(&place.path, directory.join("other")).unwrap();
        assert_eq!(open(&place, &wanted()).err(), Some(Error::NotOurs(place.path.clone())));
        std::fs::remove_dir_all(directory).unwrap();
    }
}
