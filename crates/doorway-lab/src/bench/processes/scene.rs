//! The director's side of a measurement: it starts the [parties](super::party), and watches them.

use super::gates::{Gate as _, Kept, Peer, with_gate};
use super::mapped::Mapped;
use super::party::{Board, ENDS, LOOKS, Orders, Role, SEATS, Seat};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

/// A directory in memory that is removed on drop.
pub(super) struct Dir(PathBuf);

impl Dir {
    pub(super) fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let name = format!("doorway-lab-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let dir = Self(base.join(name));
        DirBuilder::new().mode(0o700).create(&dir.0)?;
        Ok(dir)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A participating process. It is killed on drop, unless its end was waited for.
pub(super) struct Party {
    child: Child,
    pub(super) seat: usize,
}

impl Party {
    /// Kills it, without waiting until it is gone.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits until it has ended, at most this long. Returns whether it ended on its own, with
    /// success.
    pub(super) fn ends_within(&mut self, limit: Duration) -> bool {
        let mut status = None;
        eventually(limit, || {
            status = self.child.try_wait().unwrap_or(None);
            status.is_some()
        });
        status.is_some_and(|status| status.success())
    }

    /// Waits until it sleeps, as the system sees it.
    pub(super) fn wait_until_asleep(&self) {
        const LONG: Duration = Duration::from_secs(2);
        let path = format!("/proc/{}/stat", self.child.id());
        let asleep = || {
            let stat = std::fs::read_to_string(&path).unwrap_or_default();
            // The name before may contain spaces and parentheses.
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
        };
        eventually(LONG, asleep);
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// Looks again and again until this holds, at most this long. Returns whether it does.
pub(super) fn eventually(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(LOOKS);
    }
}

/// The program that takes part, and the number of its processors.
#[derive(Clone, Copy)]
pub(super) struct Cast<'a> {
    pub(super) program: &'a Path,
    pub(super) processors: usize,
}

/// A gate, and a board that all parties see.
pub(super) struct Scene<'a> {
    cast: Cast<'a>,
    pub(super) peer: Peer,
    pub(super) k: usize,
    pub(super) board: Mapped<Board>,
    _kept: Kept,
    dir: Dir,
}

impl<'a> Scene<'a> {
    /// Makes a gate with this many units, or with the largest number that it can have.
    pub(super) fn new(cast: Cast<'a>, peer: Peer, k: usize) -> io::Result<Self> {
        let (dir, k) = (Dir::new()?, peer.units(k));
        let board = Mapped::create(&dir.path().join("board"))?;
        let kept = with_gate!(peer, G => G::make(&dir.path().join("gate"), k))?;
        Ok(Self { cast, peer, k, board, _kept: kept, dir })
    }

    pub(super) fn seat(&self, party: &Party) -> &Seat {
        &self.board.seats[party.seat % SEATS]
    }

    /// Starts a process. Its seat is clean: parties that run at the same time have different ones.
    pub(super) fn starts(&self, seat: usize, role: Role) -> io::Result<Party> {
        let Seat { passages, handed_over, cpu_ns, most_inside, asked, granted, told, forked, stays } =
            &self.board.seats[seat % SEATS];
        for word in [passages, handed_over, cpu_ns, most_inside, asked, granted] {
            word.store(0, SeqCst);
        }
        for word in [told, stays] {
            word.store(0, SeqCst);
        }
        forked.store(0, SeqCst);
        let orders = Orders {
            peer: self.peer,
            k: self.k,
            board: self.dir.path().join("board"),
            gate: self.dir.path().join("gate"),
            seat: seat % SEATS,
            processor: seat % self.cast.processors.max(1),
            role,
        };
        let orders = serde_json::to_string(&orders).map_err(io::Error::other)?;
        let mut command = Command::new(self.cast.program);
        command.args(["bench", "party", &orders]).stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Party { child: command.spawn()?, seat: seat % SEATS })
    }

    /// Tells all parties to come out.
    pub(super) fn ends(&self) {
        self.board.phase.store(ENDS, SeqCst);
    }

    /// Waits until a word is no longer 0. Returns whether it changed in time.
    pub(super) fn sees(word: &AtomicU64, limit: Duration) -> bool {
        eventually(limit, || word.load(SeqCst) != 0)
    }

    /// [`sees`](Self::sees), for another word.
    pub(super) fn sees_mark(word: &AtomicU32, limit: Duration) -> bool {
        eventually(limit, || word.load(SeqCst) != 0)
    }
}
