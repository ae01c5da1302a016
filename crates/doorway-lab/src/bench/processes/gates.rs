//! What processes pass through: ours, and those of the system. Each is at a path.

#![allow(unsafe_code)]

use super::mapped::{Mapped, Shareable};
use crate::bench::entrance::Entrance;
use doorway::shared::{Builder, Previous, Slots};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::any::Any;
use std::cell::UnsafeCell;
use std::fs::{File, OpenOptions, TryLockError};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// Must live as long as a gate is used.
pub(super) type Kept = Box<dyn Any + Send + Sync>;

/// At most `k` processes are inside at a time.
pub(super) trait Gate: Sync + Sized + 'static {
    /// Creates one at this path, with all units free.
    fn make(place: &Path, k: usize) -> io::Result<Kept>;
    /// Opens it, in any process.
    fn open(place: &Path, k: usize) -> io::Result<Self>;
    /// Enters, runs `inside`, and leaves. `inside` learns whether this holder was told that an
    /// earlier one died.
    fn pass(&self, inside: impl FnOnce(bool));
}

fn nothing_kept() -> io::Result<Kept> {
    Ok(Box::new(()))
}

/// Ends the process if a peer has broken down: its figures would mean nothing.
fn must(succeeded: bool, doing: &str) {
    if !succeeded {
        let error = io::Error::last_os_error();
        eprintln!("doorway-lab: {doing}: {error}");
        std::process::exit(1);
    }
}

/// Slots between processes. Without times, holders do not record since when they hold. With a
/// bypass, that many newcomers may pass the first in line.
pub(super) struct Doorway<const TIMES: bool, const BYPASS: u16>(Slots);

impl<const TIMES: bool, const BYPASS: u16> Gate for Doorway<TIMES, BYPASS> {
    fn make(place: &Path, k: usize) -> io::Result<Kept> {
        Self::open(place, k)?;
        nothing_kept()
    }
    fn open(place: &Path, k: usize) -> io::Result<Self> {
        Builder::new(place, k).times(TIMES).bypass(BYPASS).open().map(Self).map_err(io::Error::other)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        match self.0.acquire() {
            Ok(guard) => {
                black_box((guard.slot(), guard.fence()));
                inside(matches!(guard.previous(), Previous::Died(_)));
            }
            Err(error) => {
                eprintln!("doorway-lab: {error}");
                std::process::exit(1);
            }
        }
    }
}

/// A POSIX semaphore, shared by processes.
#[repr(C)]
pub(super) struct Posix(UnsafeCell<libc::sem_t>);

// SAFETY: glibc's functions access it by atomics, from any thread and process.
unsafe impl Sync for Posix {}
// SAFETY: a `sem_t` is plain bytes, has no destructor, and is reached by address only.
unsafe impl Shareable for Posix {}

impl Gate for Mapped<Posix> {
    fn make(place: &Path, k: usize) -> io::Result<Kept> {
        let made = Self::create(place)?;
        // SAFETY: the memory is mapped and not in use yet.
        must(unsafe { libc::sem_init(made.0.get(), 1, k as libc::c_uint) } == 0, "sem_init");
        nothing_kept()
    }
    fn open(place: &Path, _: usize) -> io::Result<Self> {
        Self::attach(place)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        let semaphore = self.0.get();
        // SAFETY: `make` has initialised it, and it is mapped.
        while unsafe { libc::sem_wait(semaphore) } != 0 {
            must(io::Error::last_os_error().kind() == io::ErrorKind::Interrupted, "sem_wait");
        }
        inside(false);
        // SAFETY: as above.
        must(unsafe { libc::sem_post(semaphore) } == 0, "sem_post");
    }
}

/// A System V semaphore. The kernel undoes the operations of a process that dies.
pub(super) struct SysV(libc::c_int);

/// Removes the semaphore, which has no file.
struct Removes(libc::c_int);

impl Drop for Removes {
    fn drop(&mut self) {
        // SAFETY: the number is from `semget`, and the call accesses no memory of this process.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

impl SysV {
    #[inline(always)]
    fn add(&self, units: libc::c_short) {
        let mut operation = libc::sembuf { sem_num: 0, sem_op: units, sem_flg: libc::SEM_UNDO as libc::c_short };
        // SAFETY: one operation, which outlives the call.
        while unsafe { libc::semop(self.0, &raw mut operation, 1) } != 0 {
            must(io::Error::last_os_error().kind() == io::ErrorKind::Interrupted, "semop");
        }
    }
}

impl Gate for SysV {
    fn make(place: &Path, k: usize) -> io::Result<Kept> {
        // SAFETY: no memory is passed.
        let id = unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) };
        if id < 0 {
            return Err(io::Error::last_os_error());
        }
        let kept = Removes(id);
        // SAFETY: `SETVAL` takes a number, which is the member `val` of the union that it expects.
        must(unsafe { libc::semctl(id, 0, libc::SETVAL, k as libc::c_int) } == 0, "semctl");
        std::fs::write(place, id.to_string())?;
        Ok(Box::new(kept))
    }
    fn open(place: &Path, _: usize) -> io::Result<Self> {
        std::fs::read_to_string(place)?.parse().map(Self).map_err(io::Error::other)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        self.add(-1);
        inside(false);
        self.add(1);
    }
}

/// A robust pthread mutex: one unit, and the next holder is told of a death.
#[repr(C)]
pub(super) struct Robust(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: glibc's functions access it by atomics, from any thread and process.
unsafe impl Sync for Robust {}
// SAFETY: plain bytes without a destructor, reached by address only.
unsafe impl Shareable for Robust {}

impl Gate for Mapped<Robust> {
    fn make(place: &Path, _: usize) -> io::Result<Kept> {
        let made = Self::create(place)?;
        // SAFETY: the attributes are local and initialised before use; the mutex is mapped and not
        // in use yet.
        unsafe {
            let mut how = std::mem::zeroed::<libc::pthread_mutexattr_t>();
            must(libc::pthread_mutexattr_init(&raw mut how) == 0, "pthread_mutexattr_init");
            let shared = libc::pthread_mutexattr_setpshared(&raw mut how, libc::PTHREAD_PROCESS_SHARED);
            must(shared == 0, "pthread_mutexattr_setpshared");
            let robust = libc::pthread_mutexattr_setrobust(&raw mut how, libc::PTHREAD_MUTEX_ROBUST);
            must(robust == 0, "pthread_mutexattr_setrobust");
            must(libc::pthread_mutex_init(made.0.get(), &raw const how) == 0, "pthread_mutex_init");
            libc::pthread_mutexattr_destroy(&raw mut how);
        }
        nothing_kept()
    }
    fn open(place: &Path, _: usize) -> io::Result<Self> {
        Self::attach(place)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        let mutex = self.0.get();
        // SAFETY: `make` has initialised it, and it stays mapped at one address while it is held.
        let locked = unsafe { libc::pthread_mutex_lock(mutex) };
        let died = locked == libc::EOWNERDEAD;
        if died {
            // SAFETY: this thread holds it.
            must(unsafe { libc::pthread_mutex_consistent(mutex) } == 0, "pthread_mutex_consistent");
        }
        must(died || locked == 0, "pthread_mutex_lock");
        inside(died);
        // SAFETY: this thread holds it.
        must(unsafe { libc::pthread_mutex_unlock(mutex) } == 0, "pthread_mutex_unlock");
    }
}

/// A file for each slot, locked by its holder. If all are locked, it looks again after a while: a
/// process cannot wait for several files.
pub(super) struct Flock(Vec<File>);

impl Flock {
    const LOOKS_AGAIN: Duration = Duration::from_micros(200);

    #[inline(always)]
    fn lock(&self) -> &File {
        loop {
            for file in &self.0 {
                match file.try_lock() {
                    Ok(()) => return file,
                    Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(_)) => must(false, "flock"),
                }
            }
            std::thread::sleep(Self::LOOKS_AGAIN);
        }
    }
}

impl Gate for Flock {
    fn make(place: &Path, _: usize) -> io::Result<Kept> {
        std::fs::create_dir(place)?;
        nothing_kept()
    }
    fn open(place: &Path, k: usize) -> io::Result<Self> {
        let open = |slot: usize| OpenOptions::new().append(true).create(true).open(place.join(slot.to_string()));
        (0..k).map(open).collect::<io::Result<_>>().map(Self)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        let file = self.lock();
        inside(false);
        must(file.unlock().is_ok(), "flock");
    }
}

/// What `make` uses: a named pipe with a byte for each unit.
pub(super) struct Jobserver(File);

impl Gate for Jobserver {
    fn make(place: &Path, k: usize) -> io::Result<Kept> {
        mkfifoat(CWD, place, Mode::RUSR | Mode::WUSR)?;
        let pipe = Self::open(place, k)?;
        (&pipe.0).write_all(&vec![b'+'; k])?;
        // A pipe that no process has open is empty.
        Ok(Box::new(pipe))
    }
    fn open(place: &Path, _: usize) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open(place).map(Self)
    }
    #[inline(always)]
    fn pass(&self, inside: impl FnOnce(bool)) {
        let mut token = [0];
        must((&self.0).read_exact(&mut token).is_ok(), "reading a token");
        inside(false);
        must((&self.0).write_all(&token).is_ok(), "writing a token");
    }
}

/// A gate for this process alone, with what it needs.
pub(super) struct Room<G> {
    gate: G,
    _kept: Kept,
    _dir: super::scene::Dir,
}

impl<G: Gate> Room<G> {
    pub(super) fn new(k: usize) -> io::Result<Self> {
        let dir = super::scene::Dir::new()?;
        let place = dir.path().join("gate");
        let kept = G::make(&place, k)?;
        Ok(Self { gate: G::open(&place, k)?, _kept: kept, _dir: dir })
    }
}

impl<G: Gate> Entrance for Room<G> {
    type Member<'a> = &'a G;
    fn join(&self) -> &G {
        &self.gate
    }
    #[inline(always)]
    fn pass(me: &mut &G, inside: impl FnOnce()) -> bool {
        me.pass(|_| inside());
        true
    }
}

/// The peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Peer {
    Doorway,
    DoorwayUntimed,
    DoorwayBypass,
    SysV,
    Robust,
    Flock,
    Jobserver,
    Posix,
}

impl Peer {
    /// The peers in crowds, and in the trials with kills.
    pub(super) const MAIN: [Self; 7] =
        [Self::Doorway, Self::DoorwayBypass, Self::SysV, Self::Robust, Self::Flock, Self::Jobserver, Self::Posix];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Doorway => "doorway shared",
            Self::DoorwayUntimed => "doorway shared, no times",
            Self::DoorwayBypass => "doorway, bypass 1024",
            Self::SysV => "SysV SEM_UNDO",
            Self::Robust => "robust mutex",
            Self::Flock => "flock files",
            Self::Jobserver => "jobserver fifo",
            Self::Posix => "sem_t pshared",
        }
    }

    /// How many units the peer can have, if it is asked for this many.
    pub(super) fn units(self, k: usize) -> usize {
        if self == Self::Robust { 1 } else { k }
    }

    /// Whether a holder knows which unit it has.
    pub(super) fn numbers_slots(self) -> bool {
        matches!(self, Self::Doorway | Self::DoorwayUntimed | Self::DoorwayBypass | Self::Flock)
    }
}

/// Evaluates an expression in which a name stands for the type of a peer's gate.
macro_rules! with_gate {
    ($peer:expr, $gate:ident => $body:expr) => {{
        use $crate::bench::processes::gates::{Doorway, Flock, Jobserver, Peer, Posix, Robust, SysV};
        use $crate::bench::processes::mapped::Mapped;
        match $peer {
            Peer::Doorway => {
                type $gate = Doorway<true, 0>;
                $body
            }
            Peer::DoorwayUntimed => {
                type $gate = Doorway<false, 0>;
                $body
            }
            Peer::DoorwayBypass => {
                type $gate = Doorway<true, 1024>;
                $body
            }
            Peer::SysV => {
                type $gate = SysV;
                $body
            }
            Peer::Robust => {
                type $gate = Mapped<Robust>;
                $body
            }
            Peer::Flock => {
                type $gate = Flock;
                $body
            }
            Peer::Jobserver => {
                type $gate = Jobserver;
                $body
            }
            Peer::Posix => {
                type $gate = Mapped<Posix>;
                $body
            }
        }
    }};
}
pub(super) use with_gate;
