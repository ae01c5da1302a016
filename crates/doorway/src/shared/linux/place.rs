//! Where files lie: one place for a name, whatever the environment of a program looks like.

use super::super::{Error, Names};
use super::{system, system_at};
use rustix::fs::{self, AtFlags, FileType, Mode as Bits, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The variable that names another directory for plain names.
pub(in crate::shared) const VARIABLE: &str = "DOORWAY_DIR";

/// A checked directory, and a name in it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: OwnedFd,
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Whether this is the directory for names, and not one that a path named.
    pub(super) is_named: bool,
}

/// Finds the directory of a name or of a path.
///
/// `shared` is for files of several users: then the directory may belong to a group, and is never
/// made. Nor is it made for a caller that only `looks`.
pub(super) fn find(name_or_path: &Path, directory: Option<&Path>, shared: bool, looks: bool) -> Result<Place, Error> {
    let name = name_or_path.file_name().unwrap_or_default();
    let above = name_or_path.parent().filter(|above| !above.as_os_str().is_empty());
    let name = check_name(if above.is_some() { name } else { name_or_path.as_os_str() })?;
    let chosen = match (above, directory) {
        (Some(above), None) => Some(above.to_owned()),
        (Some(above), Some(directory)) => Some(directory.join(above)),
        (None, directory) => chosen(directory),
    };
    let opened = match chosen {
        Some(chosen) => open_chosen(chosen, shared, looks),
        None => open_usual(Roots::system(), looks),
    };
    let (directory, path) = opened.map_err(|error| match error {
        // The file is missing with its directory.
        Error::Missing(directory) => Error::Missing(directory.join(&name)),
        error => error,
    })?;
    Ok(Place { directory, path: path.join(&name), name, is_named: above.is_none() })
}

/// The directory for names, if the caller or the environment names one.
fn chosen(directory: Option<&Path>) -> Option<PathBuf> {
    match directory {
        Some(directory) => Some(directory.to_owned()),
        None => std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from),
    }
}

/// Opens a directory that the caller named, and checks that other users cannot replace files in it.
fn open_chosen(directory: PathBuf, shared: bool, looks: bool) -> Result<(OwnedFd, PathBuf), Error> {
    if !shared && !looks {
        make(&directory)?;
    }
    // A path that the caller wrote may lead through the caller's own links.
    let opened = open(&directory, OFlags::empty(), looks)?;
    let stat = fs::fstat(&opened).map_err(|errno| system("looking at the directory", errno))?;
    let me = rustix::process::geteuid().as_raw();
    let mode = stat.st_mode;
    let others = if shared { 0o002 } else { 0o022 };
    // In a sticky directory, only the owner of a file can remove or replace it.
    let closed = mode & others == 0 || mode & 0o1000 != 0;
    if !closed || (stat.st_uid != me && stat.st_uid != 0) {
        return Err(Error::Directory(directory));
    }
    Ok((opened, directory))
}

/// The names in the directory for names, sorted. A directory that does not exist has none.
pub(in crate::shared) fn names(directory: Option<&Path>) -> Result<Names, Error> {
    let opened = match chosen(directory) {
        Some(chosen) => open_chosen(chosen, false, true),
        None => open_usual(Roots::system(), true),
    };
    let (opened, directory) = match opened {
        Ok(opened) => opened,
        Err(Error::Missing(directory)) => return Ok(Names { directory, names: Vec::new() }),
        Err(error) => return Err(error),
    };
    let reading = |errno| system("reading the directory", errno);
    let me = rustix::process::geteuid().as_raw();
    let others = fs::fstat(&opened).map_err(reading)?.st_mode & 0o022 != 0;
    let mut names = Vec::new();
    for entry in fs::Dir::read_from(&opened).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let Ok(name) = check_name(OsStr::from_bytes(entry.file_name().to_bytes())) else { continue };
        // A file that is gone by now was removed.
        let Ok(stat) = fs::statat(&opened, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        // Other users may put anything into a directory that they can write.
        let is_of_interest = !others || stat.st_uid == me;
        if is_of_interest && !FileType::from_raw_mode(stat.st_mode).is_dir() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(Names { directory, names })
}

/// Accepts 1 to 64 letters, digits, dots, underscores and hyphens, of which the first is a letter
/// or a digit.
fn check_name(name: &OsStr) -> Result<String, Error> {
    let bad = || Error::BadName(name.to_string_lossy().into_owned());
    let text = name.to_str().ok_or_else(bad)?;
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
    let good = (1..=64).contains(&text.len())
        && text.bytes().all(plain)
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    if good { Ok(text.to_owned()) } else { Err(bad()) }
}

/// The system's directories for files that need not survive a restart.
struct Roots<'a> {
    run: &'a Path,
    memory: &'a Path,
    temporary: &'a Path,
}

impl Roots<'static> {
    fn system() -> Self {
        Self { run: Path::new("/run/user"), memory: Path::new("/dev/shm"), temporary: Path::new("/tmp") }
    }
}

/// Opens the default directory for names. It depends on the user and on the machine, not on the
/// environment: two directories for one name would silently be two semaphores. So a directory that
/// belongs to another user is an error, and no reason to try the next one.
fn open_usual(roots: Roots<'_>, looks: bool) -> Result<(OwnedFd, PathBuf), Error> {
    let me = rustix::process::geteuid().as_raw();
    let run = roots.run.join(me.to_string());
    let directory = if is_directory_of(&run, Some(me)) {
        run.join("doorway")
    } else if is_directory_of(roots.memory, None) {
        roots.memory.join(format!("doorway-{me}"))
    } else {
        roots.temporary.join(format!("doorway-{me}"))
    };
    if !looks {
        make(&directory)?;
    }
    let opened = open(&directory, OFlags::NOFOLLOW, looks)?;
    let stat = fs::fstat(&opened).map_err(|errno| system("looking at the directory", errno))?;
    if stat.st_uid != me || stat.st_mode & 0o022 != 0 {
        return Err(Error::Directory(directory));
    }
    Ok((opened, directory))
}

fn is_directory_of(path: &Path, owner: Option<u32>) -> bool {
    fs::statat(fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
        FileType::from_raw_mode(stat.st_mode).is_dir() && owner.is_none_or(|owner| stat.st_uid == owner)
    })
}

fn make(directory: &Path) -> Result<(), Error> {
    match fs::mkdir(directory, Bits::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        // It may exist on a file system that cannot be written; opening it will tell.
        Err(Errno::ROFS | Errno::ACCESS) if directory.is_dir() => Ok(()),
        Err(Errno::NOSPC | Errno::DQUOT) => Err(Error::Full(directory.to_owned())),
        Err(Errno::NOENT) => Err(Error::NoDirectory(directory.parent().unwrap_or(directory).to_owned())),
        Err(Errno::NOTDIR) => Err(no_directory(directory)),
        Err(errno) => Err(system_at(directory, "making the directory", errno)),
    }
}

/// For a path that leads through something other than a directory, or ends in a link that is not
/// followed.
fn no_directory(path: &Path) -> Error {
    let parts: Vec<&Path> = path.ancestors().collect();
    match parts.into_iter().rev().find(|part| part.symlink_metadata().is_ok() && !part.is_dir()) {
        Some(part) => Error::NotADirectory(part.to_owned()),
        None => Error::Directory(path.to_owned()),
    }
}

/// Opens the directory. A caller that only `looks` accepts that it is missing.
fn open(directory: &Path, more: OFlags, looks: bool) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
    fs::open(directory, flags, Bits::empty()).map_err(|errno| match errno {
        Errno::LOOP => Error::Directory(directory.to_owned()),
        Errno::NOTDIR => no_directory(directory),
        Errno::NOENT if looks => Error::Missing(directory.to_owned()),
        Errno::NOENT => Error::NoDirectory(directory.to_owned()),
        errno => system_at(directory, "opening the directory", errno),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_for_which_there_is_no_permission_is_named() {
        // No user may make a directory there, not even root.
        let directory = Path::new("/sys/doorway");
        let read_only = system("making the directory", Errno::ROFS);
        let made = make(directory);
        assert!(made == Err(Error::NoPermission(directory.to_owned())) || made == Err(read_only), "{made:?}");
    }

    fn fresh(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("doorway-place-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn names_are_plain() {
        for good in ["a", "7", "gpu.0_x-Y", &"n".repeat(64)] {
            assert_eq!(check_name(OsStr::new(good)).as_deref(), Ok(good));
        }
        for bad in ["", ".", "..", ".hidden", "-x", "_x", "a/b", "a b", "ä", "a\0", &"n".repeat(65)] {
            assert_eq!(check_name(OsStr::new(bad)), Err(Error::BadName(bad.to_owned())));
        }
    }

    #[test]
    fn the_usual_place_is_the_first_that_exists() {
        let root = fresh("usual");
        let (run, memory, temporary) = (root.join("run"), root.join("shm"), root.join("tmp"));
        std::fs::create_dir(&temporary).unwrap();
        let roots = || Roots { run: &run, memory: &memory, temporary: &temporary };
        let me = rustix::process::geteuid().as_raw();
        let place = || open_usual(roots(), false).map(|(_, path)| path);
        assert_eq!(place(), Ok(temporary.join(format!("doorway-{me}"))));
        std::fs::create_dir(&memory).unwrap();
        assert_eq!(place(), Ok(memory.join(format!("doorway-{me}"))));
        std::fs::create_dir_all(run.join(me.to_string())).unwrap();
        assert_eq!(place(), Ok(run.join(format!("{me}/doorway"))));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_place_that_others_can_write_or_that_is_a_link_is_refused_and_no_other_is_tried() {
        let root = fresh("others");
        let (run, memory) = (root.join("run"), root.join("shm"));
        std::fs::create_dir(&memory).unwrap();
        let roots = || Roots { run: &run, memory: &memory, temporary: &root };
        let ours = memory.join(format!("doorway-{}", rustix::process::geteuid().as_raw()));
        symlink(&root, &ours).unwrap();
        assert_eq!(open_usual(roots(), false).unwrap_err(), Error::Directory(ours.clone()));
        std::fs::remove_file(&ours).unwrap();
        std::fs::create_dir(&ours).unwrap();
        std::fs::set_permissions(&ours, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!(open_usual(roots(), false).unwrap_err(), Error::Directory(ours.clone()));
        std::fs::set_permissions(&ours, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert!(open_usual(roots(), false).is_ok());
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_directory_of_ones_own_choice_is_checked_too() {
        let root = fresh("chosen");
        let shared = root.join("shared");
        std::fs::create_dir(&shared).unwrap();
        let set = |mode| std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(mode)).unwrap();
        set(0o777);
        let refused = find(Path::new("x"), Some(&shared), false, false).unwrap_err();
        assert_eq!(refused, Error::Directory(shared.clone()));
        set(0o1777);
        assert!(find(Path::new("x"), Some(&shared), false, false).is_ok(), "sticky, as /tmp is");
        set(0o770);
        assert!(find(Path::new("x"), Some(&shared), false, false).is_err());
        assert!(find(Path::new("x"), Some(&shared), true, false).is_ok(), "for a group, when asked");
        set(0o700);
        assert_eq!(find(&shared.join("x"), None, false, false).unwrap().path, shared.join("x"));
        // A private directory is made. A directory for several users must be made by the
        // administrator.
        let (new, further) = (root.join("new"), root.join("new/er/x"));
        let refused = |path: &Path, directory, shared, looks| find(path, directory, shared, looks).unwrap_err();
        assert_eq!(refused(Path::new("x"), Some(&new), true, false), Error::NoDirectory(new.clone()));
        // Only the last directory of a path is made, and none for a caller that only looks.
        assert_eq!(refused(&further, None, false, false), Error::NoDirectory(new.clone()));
        assert_eq!(refused(&further, None, false, true), Error::Missing(further.clone()));
        assert!(find(Path::new("x"), Some(&root.join("new")), false, false).is_ok());
        std::fs::remove_dir_all(root).unwrap();
    }
}
