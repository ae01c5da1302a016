//! The tokens that clients can take: a named pipe that holds one byte for each.
//!
//! The pipe loses its name as soon as it is open. Clients reach it through the guardian's
//! descriptor in `/proc`, or inherit descriptors of it. So nothing is left behind, however the
//! guardian ends.

use super::Style;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{self, FileType, Mode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::io;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

/// Scripts use small descriptor numbers, and shells use those from 10 on.
const INHERITED: i32 = 42;

pub(super) struct Fifo {
    ours: OwnedFd,
    /// The descriptors that clients inherit, to read and to write. They are separate from this
    /// process's own, because clients switch theirs between blocking and non-blocking.
    inherited: Option<(OwnedFd, OwnedFd)>,
    /// The name that the kernel shows among the descriptors of a process.
    link: PathBuf,
    /// None if the kernel has no more of these: then the guardian must look now and then.
    events: Option<OwnedFd>,
}

/// What has happened to the pipe since the last look.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Events {
    /// A client took or gave back a token.
    pub(super) moved: bool,
    /// A process has closed it, perhaps because it died.
    pub(super) closed: bool,
}

impl Fifo {
    /// A pipe without tokens. For a moment it has a name in this directory.
    pub(super) fn new(directory: &Path, style: Style) -> io::Result<Self> {
        // Begins with a dot, which no name of slots does.
        let path = directory.join(format!(".jobserver.{}.{:016x}", std::process::id(), nonce()));
        fs::mknodat(fs::CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let opened = Self::open(&path, style);
        let _ = std::fs::remove_file(&path);
        let mut fifo = opened?;
        fifo.link = std::fs::read_link(format!("/proc/self/fd/{}", fifo.ours.as_raw_fd()))?;
        Ok(fifo)
    }

    fn open(path: &Path, style: Style) -> io::Result<Self> {
        let open = |flags| fs::open(path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let ours = open(OFlags::RDWR | OFlags::NONBLOCK)?;
        let stat = fs::fstat(&ours)?;
        if !FileType::from_raw_mode(stat.st_mode).is_fifo() || stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("another process has put something in the place of the pipe"));
        }
        let high = |descriptor: OwnedFd| match fcntl_dupfd_cloexec(&descriptor, INHERITED) {
            Err(Errno::INVAL) => Ok(descriptor), // the limit is low
            copy => copy,
        };
        let inherited = match style {
            Style::Fifo => None,
            Style::Pipe => Some((high(open(OFlags::RDONLY)?)?, high(open(OFlags::WRONLY)?)?)),
        };
        Ok(Self { ours: high(ours)?, inherited, link: PathBuf::new(), events: watch(path).ok() })
    }

    /// The value of `--jobserver-auth`.
    pub(super) fn auth(&self) -> String {
        match &self.inherited {
            Some((read, write)) => format!("{},{}", read.as_raw_fd(), write.as_raw_fd()),
            None => format!("fifo:/proc/{}/fd/{}", std::process::id(), self.ours.as_raw_fd()),
        }
    }

    /// Descriptors that clients inherit.
    pub(super) fn inherited(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.inherited.iter().flat_map(|(read, write)| [read.as_fd(), write.as_fd()])
    }

    /// What to poll for news.
    pub(super) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn link(&self) -> &Path {
        &self.link
    }

    /// How many tokens are in the pipe.
    pub(super) fn unread(&self) -> usize {
        rustix::io::ioctl_fionread(&self.ours).map_or(0, |unread| usize::try_from(unread).unwrap_or(usize::MAX))
    }

    /// Gives clients another token.
    pub(super) fn put(&self) -> io::Result<()> {
        Ok(rustix::io::write(&self.ours, b"+").map(drop)?)
    }

    /// Takes up to this many tokens out of the pipe, and returns how many.
    pub(super) fn take(&self, most: usize) -> usize {
        let mut taken = 0;
        let mut buffer = [0; 256];
        while taken < most {
            let wanted = buffer.len().min(most - taken);
            match rustix::io::read(&self.ours, &mut buffer[..wanted]) {
                Ok(0) | Err(_) => break,
                Ok(read) => taken += read,
            }
        }
        taken
    }

    pub(super) fn look(&self) -> Events {
        let mut seen = Events::default();
        let Some(events) = &self.events else { return Events { moved: true, closed: true } };
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut reader = inotify::Reader::new(events, &mut buffer);
        while let Ok(event) = reader.next() {
            let flags = event.events();
            seen.moved |= flags.intersects(ReadFlags::ACCESS | ReadFlags::MODIFY | ReadFlags::QUEUE_OVERFLOW);
            let closed = ReadFlags::CLOSE_WRITE | ReadFlags::CLOSE_NOWRITE | ReadFlags::QUEUE_OVERFLOW;
            seen.closed |= flags.intersects(closed);
        }
        seen
    }
}

fn watch(path: &Path) -> io::Result<OwnedFd> {
    let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let flags = WatchFlags::ACCESS | WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::CLOSE_NOWRITE;
    inotify::add_watch(&events, path, flags)?;
    Ok(events)
}

/// A number that no other call returns.
pub(super) fn nonce() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::{Read as _, Write as _};

    fn place(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("doorway-fifo-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn a_client_reaches_a_pipe_without_a_name() {
        let place = place("reach");
        let fifo = Fifo::new(&place, Style::Fifo).unwrap();
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "it has no name any more");
        let auth = fifo.auth();
        let path = auth.strip_prefix("fifo:").unwrap();
        let mut client = OpenOptions::new().read(true).write(true).open(path).unwrap();
        fifo.put().unwrap();
        fifo.put().unwrap();
        fifo.look();
        assert_eq!((fifo.unread(), fifo.look()), (2, Events::default()));
        client.read_exact(&mut [0]).unwrap();
        assert_eq!((fifo.unread(), fifo.look()), (1, Events { moved: true, closed: false }));
        client.write_all(b"+").unwrap();
        drop(client);
        assert_eq!((fifo.unread(), fifo.look()), (2, Events { moved: true, closed: true }));
        assert_eq!((fifo.take(1), fifo.unread()), (1, 1));
        assert_eq!((fifo.take(9), fifo.unread()), (1, 0));
        std::fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn inherited_descriptors_are_the_same_pipe() {
        let place = place("inherit");
        let fifo = Fifo::new(&place, Style::Pipe).unwrap();
        let numbers: Vec<i32> = fifo.inherited().map(|descriptor| descriptor.as_raw_fd()).collect();
        assert_eq!(fifo.auth(), format!("{},{}", numbers[0], numbers[1]));
        fifo.put().unwrap();
        fifo.look();
        let ends: Vec<BorrowedFd<'_>> = fifo.inherited().collect();
        assert_eq!(rustix::io::read(ends[0], &mut [0; 9]).unwrap(), 1);
        assert!(fifo.look().moved, "what clients do is noticed in this style too");
        rustix::io::write(ends[1], b"+").unwrap();
        assert_eq!(fifo.unread(), 1);
        std::fs::remove_dir_all(place).unwrap();
    }
}
