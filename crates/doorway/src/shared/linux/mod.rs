//! Slots between processes, on Linux.
//!
//! | file | |
//! |---|---|
//! | `place` | where files lie |
//! | `file` | how they are made, opened and removed |
//! | `fork` | descriptors that a forked child does not keep |
//! | `bytes` | lock bytes: which processes are dead |
//! | `sentinel` | the thread that tells other processes of a death, and sleeps for tasks |
//! | `mapping` | the file as words |
//! | `memory` | the memory that the text runs on |
//! | `pool` | the seats of a handle |
//! | `news` | what processes record beside slots and rows, for people |
//! | `torture` | a memory that ends its process at a statement of the text, or has a fault |

mod bytes;
mod file;
mod fork;
mod looks;
mod mapping;
mod memory;
mod news;
mod place;
mod pool;
mod sentinel;
pub mod torture;

use super::header::{self, Header};
use super::{Builder, Entered, Error, Known, Mode, Names, Previous, ReleaseError, Status};
use crate::native::now;
use bytes::Bytes;
pub(super) use bytes::Lifeline;
use doorway_core::k_assignment::seats::{Attempt, Going, Grant, Left, Mortal, News, Seats as Text};
use doorway_core::k_exclusion::Abortable;
use doorway_core::memory::{Pid, Process, Ready, Site};
use mapping::Mapping;
use memory::{Fault, Mapped};
use news::Signature;
use place::Place;
use pool::Pool;
use rustix::io::Errno;
use sentinel::Sentinel;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

fn system(doing: &'static str, errno: Errno) -> Error {
    Error::System { doing, code: errno.raw_os_error() }
}

/// The same, of a call that needs permissions for this path.
fn system_at(path: &Path, doing: &'static str, errno: Errno) -> Error {
    match errno {
        Errno::ACCESS | Errno::PERM => Error::NoPermission(path.to_owned()),
        errno => system(doing, errno),
    }
}

/// An open file. Its parts are dropped in this order: the sentinel ends before the bytes are
/// unlocked, and they are unlocked before the words are unmapped.
#[derive(Debug)]
pub(in crate::shared) struct File {
    sentinel: OnceLock<Sentinel>,
    /// Whether the thread that opens the file stays for as long as the process.
    thread_stays: bool,
    starts: Mutex<()>,
    spins: memory::Spins,
    /// Whether the last wait was shorter than a nap. An estimate, so it orders nothing.
    waits_are_short: AtomicBool,
    bytes: Bytes,
    mapping: Arc<Mapping>,
    header: Header,
    path: PathBuf,
}

impl File {
    fn open(place: Place, wanted: &file::Wanted) -> Result<Self, Error> {
        let file::Opened { descriptor, to_map, header } = file::open(&place, wanted)?;
        let mapping = Mapping::new(to_map.as_fd(), header.layout(), descriptor.generation())?;
        let bytes = Bytes::new(descriptor, header.seats);
        let (mapping, path) = (Arc::new(mapping), place.path);
        Ok(Self {
            sentinel: OnceLock::new(),
            thread_stays: wanted.thread_stays,
            starts: Mutex::new(()),
            spins: memory::Spins::default(),
            waits_are_short: AtomicBool::new(false),
            bytes,
            mapping,
            header,
            path,
        })
    }

    /// The sentinel, which is started on first use.
    fn sentinel(&self) -> Result<&Sentinel, Error> {
        if let Some(sentinel) = self.sentinel.get() {
            return Ok(sentinel);
        }
        let _one_at_a_time = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        if self.sentinel.get().is_none() {
            let _ = self.sentinel.set(Sentinel::new(&self.mapping, self.thread_stays)?);
        }
        Ok(self.sentinel.get().expect("it was set above"))
    }

    /// Returns why the handle can no longer be used, if so.
    fn check(&self) -> Result<(), Error> {
        if !self.mapping.is_ours() {
            return Err(Error::Forked);
        }
        if self.mapping.is_deleted() {
            return Err(Error::Deleted(self.path.clone()));
        }
        if self.mapping.is_damaged() { Err(Error::Corrupt(self.path.clone())) } else { Ok(()) }
    }
}

/// A memory that the text can run on: the mapped words, or a wrapper around them.
pub(in crate::shared) trait Backing: Mortal<Error = Fault> + Ready + From<Mapped> {}
impl<M: Mortal<Error = Fault> + Ready + From<Mapped>> Backing for M {}

/// An open file, the text on it, and the seats of this handle.
#[derive(Debug)]
pub(super) struct Handle<M: Mortal = Mapped> {
    /// The home seat: threads that need not wait hold their slots by it.
    home: OnceLock<Process<M>>,
    text: Text<M>,
    pool: Pool,
    signature: Signature,
    settles: Mutex<()>,
    file: Arc<File>,
}

fn wanted(options: &Builder, shape: Option<file::Shape>) -> file::Wanted {
    let &Builder { permissions, group, features, thread_stays, .. } = options;
    file::Wanted { shape, permissions, group, features, thread_stays }
}

fn place(options: &Builder, looks: bool) -> Result<Place, Error> {
    place::find(&options.name, options.directory.as_deref(), options.permissions.is_some(), looks)
}

#[expect(clippy::boxed_local, reason = "to unbox it is what this is for")]
fn unbox(fault: Fault) -> Error {
    *fault
}

/// What the slot's word said of previous owners when the holder came.
#[inline(always)]
fn news_of(entered: &Entered) -> News {
    match entered.previous.as_deref() {
        None | Some(Previous::Clean) => News::None,
        Some(Previous::Died(_)) => News::Died,
        Some(Previous::Broken(_)) => News::Broken,
    }
}

fn has_left(left: Result<Left, Fault>) -> Result<(), ReleaseError> {
    match left {
        Ok(Left::Passed) => Ok(()),
        Ok(Left::Broken) => Err(ReleaseError::Broken),
        Err(fault) => Err((*fault).into()),
    }
}

impl<M: Backing> Handle<M> {
    /// Opens the file. Makes it if it does not exist and the number of slots is known.
    pub(super) fn open(options: &Builder) -> Result<Self, Error> {
        let &Builder { seats, mode, bypass, .. } = options;
        let shape = options.slots.map(|slots| file::Shape { slots, seats, mode, bypass });
        if let Some(slots) = options.slots {
            header::check_sizes(slots, seats.unwrap_or_else(|| super::usual_seats(slots)))?;
        }
        let file = Arc::new(File::open(place(options, shape.is_none())?, &wanted(options, shape))?);
        let memory = M::from(Mapped::new(&file));
        let text = Text::new(&Site::new(&memory), file.header.seats, file.header.slots)
            .with_bypass(u32::from(file.header.bypass));
        let pool = Pool::new(&file.mapping, options.waiters);
        let signature = Signature::new(&options.label, options.times);
        let handle = Self { home: OnceLock::new(), text, pool, signature, settles: Mutex::new(()), file };
        if shape.is_some() {
            handle.home()?;
        }
        Ok(handle)
    }

    pub(super) fn remove(options: &Builder, force: bool) -> Result<(), Error> {
        file::remove(&place(options, true)?, &wanted(options, None), force)
    }

    pub(super) fn names(directory: Option<&Path>) -> Result<Names, Error> {
        place::names(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.file.path
    }

    pub(super) fn slots(&self) -> usize {
        self.file.header.slots
    }

    fn process(&self, seat: usize) -> Process<M> {
        Process::new(Pid::new(seat), Mapped::new(&self.file).into())
    }

    /// The home seat, which is taken on first use.
    #[cold]
    #[inline(never)]
    fn take_home(&self) -> Result<&Process<M>, Error> {
        self.file.check()?;
        let _one_at_a_time = self.settles.lock().unwrap_or_else(PoisonError::into_inner);
        if self.home.get().is_none() {
            let seat = self.take_first_seat()?;
            self.pool.add(seat);
            let _ = self.home.set(self.process(seat));
        }
        Ok(self.home.get().expect("it was set above"))
    }

    fn home(&self) -> Result<&Process<M>, Error> {
        match self.home.get() {
            Some(home) => Ok(home),
            None => self.take_home(),
        }
    }

    /// Takes the first seat of this handle. A process that cleans the seat of a dead one has its
    /// byte for a moment. So a file whose bytes are all taken may have a free seat soon after.
    fn take_first_seat(&self) -> Result<usize, Error> {
        for _ in 0..20 {
            match self.take_seat() {
                Err(Error::NoSeats { .. }) => std::thread::sleep(Duration::from_millis(1)),
                taken => return taken,
            }
        }
        self.take_seat()
    }

    /// Takes a free seat: one that looks clean, or else any. A process that is stopped while it
    /// cleans a seat delays what the dead owner of that seat held; hence clean seats come first.
    fn take_seat(&self) -> Result<usize, Error> {
        self.file.check()?;
        let seats = self.file.header.seats;
        let reclaims = self.file.header.mode == Mode::Reclaim;
        // Processes begin at different seats, so that they need not try each other's.
        let first = std::process::id() as usize % seats;
        let all = || (first..seats).chain(0..first);
        for seat in all() {
            let p = self.process(seat);
            let is_clean = || now(self.text.looks_clean(&p, seat)).map_err(unbox);
            // Asking the kernel costs more the more locks there are. A hint may be wrong; the loop
            // below corrects that, because it tries each seat.
            if reclaims && looks::seems_alive(&self.file.mapping, seat) {
                continue;
            }
            // Without recovery, a seat must still be clean once this handle has it.
            if is_clean()? && self.file.bytes.try_lock(seat)? {
                if reclaims {
                    now(self.text.clean(&p)).map_err(unbox)?;
                    return self.has_taken(seat);
                }
                if is_clean()? {
                    return self.has_taken(seat);
                }
                self.file.bytes.unlock(seat)?;
            }
        }
        for seat in all().filter(|_| reclaims) {
            if now(self.text.register(&self.process(seat))).map_err(unbox)? {
                return self.has_taken(seat);
            }
        }
        Err(Error::NoSeats { seats })
    }

    fn has_taken(&self, seat: usize) -> Result<usize, Error> {
        self.signature.takes(&self.file.mapping, seat);
        if self.file.header.mode == Mode::Reclaim {
            self.file.sentinel()?.arm(seat);
        }
        Ok(seat)
    }

    /// Takes a slot if one is free and no process waits. It does not report errors:
    /// [`enter_by_trying`](Self::enter_by_trying) does. The return value fits in registers.
    #[inline(always)]
    pub(super) fn enter_at_once(&self) -> Option<Entered> {
        let home = self.home.get()?;
        let mapping = &*self.file.mapping;
        if !(mapping.is_plain() && mapping.is_ours()) {
            return None;
        }
        let grant = self.text.try_enter_now(home, 0).ok()??;
        Some(self.is_inside(home.pid().index(), grant))
    }

    /// [`enter_at_once`](Self::enter_at_once), with errors, and for a handle that has no seat yet.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_by_trying(&self) -> Result<Option<Entered>, Error> {
        let home = self.home()?;
        self.file.check()?;
        if !self.file.mapping.is_plain() {
            return Ok(None);
        }
        let grant = self.text.try_enter_now(home, 0).map_err(unbox)?;
        Ok(grant.map(|grant| self.is_inside(home.pid().index(), grant)))
    }

    /// [`enter_by_trying`](Self::enter_by_trying), and once more after the slots of the dead have
    /// come back and the line was looked at. For callers that do not wait, and so would never look
    /// for the dead.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_after_the_dead(&self) -> Result<Option<Entered>, Error> {
        let entered = self.enter_by_trying()?;
        if entered.is_some() || !self.file.mapping.is_plain() {
            return Ok(entered);
        }
        let home = self.home()?;
        if self.file.header.mode == Mode::Reclaim {
            now(self.text.recover(home)).map_err(unbox)?;
        }
        let grant = now(self.text.try_past_offers(home, 0)).map_err(unbox)?;
        Ok(grant.map(|grant| self.is_inside(home.pid().index(), grant)))
    }

    #[inline(always)]
    fn is_inside(&self, seat: usize, grant: Grant) -> Entered {
        let mapping = &*self.file.mapping;
        let Grant { slot, fence, news } = grant;
        let previous = if news.is_any() { Some(self.previous(seat, slot, fence, news)) } else { None };
        self.signature.enters(mapping, grant);
        Entered { slot, fence, seat, previous }
    }

    #[cold]
    #[inline(never)]
    fn previous(&self, seat: usize, slot: usize, fence: u64, news: News) -> Box<Previous> {
        let known = news::last_holder(&self.file.mapping, slot);
        let known = match now(self.text.look_at_slot(&self.process(seat), slot)) {
            Ok(Some(word)) if word.is_held_at(fence) => known,
            // This holder's slot was broken before it looked, so the notes may belong to later
            // holders.
            _ => Known::default(),
        };
        Box::new(match news {
            News::None => Previous::Clean,
            News::Died => Previous::Died(known),
            News::Broken => Previous::Broken(known),
        })
    }

    /// Takes a slot in order of arrival, for a thread that did not get one at once. Returns
    /// `None` if the deadline comes first.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_by_waiting(&self, deadline: Option<Instant>) -> Result<Option<Entered>, Error> {
        if let Some(entered) = self.enter_by_trying()? {
            return Ok(Some(entered));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return self.enter_after_the_dead();
        }
        let Some(seat) = self.pool.take(deadline, || self.take_seat())? else { return Ok(None) };
        let mut waits = Waits::new(self, seat, Mapped::for_a_thread(&self.file, deadline));
        self.file.check()?; // it may have waited for its seat for a long time
        let entered = now(self.text.enter(&waits.p, 0, &mut waits.attempt, deadline.is_some()));
        let grant = match entered.map_err(unbox)? {
            Some(grant) => Some(grant),
            // A waiter that is granted a slot just as it gives up keeps it.
            None => waits.leave()?,
        };
        waits.attempt = Attempt::default();
        match grant {
            Some(grant) => Ok(Some(self.is_inside(seat, grant))),
            None => {
                drop(waits);
                self.enter_after_the_dead()
            }
        }
    }

    /// Takes a slot for a task. Dropping the future gives up.
    pub(super) async fn enter_async(&self) -> Result<Entered, Error> {
        if let Some(entered) = self.enter_by_trying()? {
            return Ok(entered);
        }
        self.file.sentinel()?;
        let seat = self.pool.take_async(|| self.take_seat()).await?;
        let mut waits = Waits::new(self, seat, Mapped::for_a_task(&self.file));
        self.file.check()?;
        let entered = self.text.enter(&waits.p, 0, &mut waits.attempt, false).await.map_err(unbox)?;
        waits.attempt = Attempt::default();
        Ok(self.is_inside(seat, entered.expect("a wait without a deadline is never asked to give up")))
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(super) fn leave(&self, entered: &Entered) -> Result<(), ReleaseError> {
        let mapping = &*self.file.mapping;
        if !mapping.is_ours() {
            return Err(Error::Forked.into()); // the slot belongs to the parent
        }
        let Entered { slot, fence, seat, .. } = *entered;
        news::leaves(mapping, slot, fence);
        let news = news_of(entered);
        match self.home.get().filter(|home| home.pid().index() == seat) {
            Some(home) => match self.text.exit_at_once(home, Grant { slot, fence, news }) {
                Ok(Ok(Left::Passed)) => Ok(()),
                left => self.goes_on_leaving(home, left),
            },
            None => self.leave_another_seat(seat, slot, fence, news),
        }
    }

    /// [`leave`](Self::leave), for a holder that asks for the outcome. A slot that is no longer its
    /// own is not passed on, and a file that has lost its name is noticed.
    pub(super) fn release(&self, entered: &Entered) -> Result<(), ReleaseError> {
        if !self.file.mapping.is_ours() {
            return Err(Error::Forked.into());
        }
        let word = now(self.text.look_at_slot(&self.process(entered.seat), entered.slot)).map_err(unbox)?;
        let is_mine = word.is_some_and(|word| word.owner() == Some(entered.seat) && word.fence() == entered.fence);
        if !is_mine {
            return Err(ReleaseError::Broken);
        }
        self.leave(entered)?;
        Ok(self.file.check_name().map_err(unbox)?)
    }

    /// For a guard whose slot has a waiter, and for one that could not leave at once.
    #[cold]
    #[inline(never)]
    fn goes_on_leaving(&self, home: &Process<M>, left: Result<Result<Left, Going>, Fault>) -> Result<(), ReleaseError> {
        has_left(match left {
            Ok(Ok(left)) => Ok(left),
            Ok(Err(going)) => now(self.text.exit_on(home, going)),
            Err(fault) => Err(fault),
        })
    }

    /// For a guard whose thread had to wait, with a seat that is not the home.
    #[cold]
    #[inline(never)]
    fn leave_another_seat(&self, seat: usize, slot: usize, fence: u64, news: News) -> Result<(), ReleaseError> {
        has_left(now(self.text.exit(&self.process(seat), Grant { slot, fence, news })))
    }

    /// A descriptor that keeps the seat of this holder.
    pub(super) fn lifeline(&self, entered: &Entered) -> Result<Lifeline, Error> {
        self.file.check()?;
        self.file.bytes.lifeline(entered.seat, &self.file.path)
    }

    /// Reports the holders and waiters. Brings back what the dead hold.
    pub(super) fn status(&self) -> Result<Status, Error> {
        self.file.check()?;
        self.file.check_name().map_err(unbox)?;
        let status = news::status(&self.text, &self.file)?;
        let dead = status.holders.iter().any(|holder| holder.dead) || status.waiters.iter().any(|waiter| waiter.dead);
        if dead && self.file.header.mode == Mode::Reclaim {
            now(self.text.recover(self.home()?)).map_err(unbox)?;
        }
        Ok(status)
    }

    /// Takes a slot away from its holder. Returns `None` if it has no holder, or none with this
    /// fence.
    pub(super) fn break_slot(&self, slot: usize, fence: Option<u64>) -> Result<Option<Known>, Error> {
        let slots = self.slots();
        if slot >= slots {
            return Err(Error::NoSuchSlot { slot, slots });
        }
        self.file.check()?;
        let home = self.home()?;
        let word = now(self.text.look_at_slot(home, slot)).map_err(unbox)?;
        let is_meant = |fence: u64| word.is_some_and(|word| word.is_held_at(fence));
        let Some(word) = word.filter(|word| is_meant(fence.unwrap_or(word.fence()))) else {
            return Ok(None);
        };
        let known = news::known_holder(&self.file.mapping, slot, word.fence());
        let is_broken = now(self.text.break_slot(home, slot, word)).map_err(unbox)?;
        Ok(is_broken.then_some(known))
    }
}

/// A thread or task that waits with a seat. If this is dropped before it is let in, it gives up.
struct Waits<'a, M: Backing> {
    handle: &'a Handle<M>,
    p: Process<M>,
    attempt: Attempt,
}

impl<'a, M: Backing> Waits<'a, M> {
    fn new(handle: &'a Handle<M>, seat: usize, memory: Mapped) -> Self {
        handle.signature.waits(&handle.file.mapping, seat);
        Self { handle, p: Process::new(Pid::new(seat), memory.into()), attempt: Attempt::default() }
    }

    /// Leaves the line. Returns the slot that it got at the last moment.
    fn leave(&mut self) -> Result<Option<Grant>, Error> {
        let attempt = std::mem::take(&mut self.attempt);
        now(self.handle.text.leave(&self.p, attempt)).map_err(unbox)
    }
}

impl<M: Backing> Drop for Waits<'_, M> {
    fn drop(&mut self) {
        if !self.handle.file.mapping.is_ours() {
            return; // the seat belongs to the parent
        }
        if self.attempt != Attempt::default()
            && let Ok(Some(grant)) = self.leave()
        {
            let _ = now(self.handle.text.decline(&self.p, grant));
        }
        self.handle.pool.give_back(self.p.pid().index());
    }
}
