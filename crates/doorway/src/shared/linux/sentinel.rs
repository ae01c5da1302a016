//! One thread for each handle. It lives as long as the handle does, and has two tasks. (A program
//! whose main thread opens the handle and stays may [do without
//! it](super::super::Builder::thread_stays) until a task waits.)
//!
//! - **It dies with the process.** When a thread ends, the kernel marks the words of its list of
//!   robust futexes, and wakes a sleeper of each. The sentinel's list has the hint of every seat of
//!   the handle. So the death of the process wakes the waiters that watch its seats, and the end of
//!   any other thread wakes none. The marks are hints: the truth is the [byte](super::bytes).
//! - **It sleeps for tasks.** A task cannot sleep in the kernel, so it leaves its words and its
//!   waker here.
//!
//! # The list
//! The kernel finds a word at a fixed distance from its entry. If the entries lay in the file
//! beside the words, other processes could write them, and unlinking an entry would then write to
//! an address of their choice. So the entries are in private pages, a *shadow* of the file, at the
//! same offsets. The kernel is told the distance between the two. The C library has a list of its
//! own for each thread, for robust mutexes. The sentinel locks no robust mutex, so its list can be
//! ours.

#![allow(unsafe_code)]

use super::super::Error;
use super::super::header::row;
use super::mapping::Mapping;
use crate::waiting::{Platform, Processes, Sequence};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::cell::UnsafeCell;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The kernel's mark in a hint: its thread has died.
pub(super) const DIED: u32 = 0x4000_0000;
/// A sleeper's mark: the kernel must wake it.
pub(super) const WAITERS: u32 = 0x8000_0000;
/// The kernel reads this many entries of a thread's list, and ignores further ones.
const MOST_ENTRIES: usize = 2048;
/// The largest number of words that the kernel lets a thread sleep on.
pub(super) const MOST_WORDS: usize = 128;

/// `struct robust_list_head` of the kernel.
#[repr(C)]
struct Head {
    first: *mut Entry,
    distance: libc::c_long,
    pending: *mut Entry,
}

/// `struct robust_list`.
#[repr(C)]
struct Entry {
    next: *mut Entry,
}

/// The private pages for the entries.
struct Shadow {
    pages: NonNull<u8>,
    length: usize,
}

impl Drop for Shadow {
    fn drop(&mut self) {
        // SAFETY: `List::new` mapped these pages. The thread whose list is in them has withdrawn
        // the list, or never began.
        let _ = unsafe { munmap(self.pages.as_ptr().cast(), self.length) };
    }
}

/// The sentinel's list.
struct List {
    head: Box<UnsafeCell<Head>>,
    shadow: Shadow,
    seats: Vec<usize>,
}

// SAFETY: `head` and `shadow` are reached only through the mutex around the list, and by the kernel
// when the process has ended.
unsafe impl Send for List {}

impl List {
    fn new(mapping: &Mapping) -> Result<Self, Error> {
        let length = mapping.layout().length;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let pages = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap_anonymous(std::ptr::null_mut(), length, access, MapFlags::PRIVATE | MapFlags::NORESERVE)
        };
        let pages = pages.map_err(|errno| super::system("mapping private pages", errno))?;
        let pages = NonNull::new(pages.cast()).ok_or(Error::System { doing: "mapping private pages", code: 0 })?;
        let shadow = Shadow { pages, length };
        let hint = mapping.row(0) + row::HINT;
        let word = std::ptr::from_ref(mapping.half(hint)).addr();
        let distance = word.wrapping_sub(pages.addr().get() + hint).cast_signed();
        let head = Box::new(UnsafeCell::new(Head {
            first: std::ptr::null_mut(),
            distance: distance as libc::c_long,
            pending: std::ptr::null_mut(),
        }));
        let list = Self { head, shadow, seats: Vec::new() };
        list.clear();
        Ok(list)
    }

    /// Empties the list: an empty list points to its own head.
    fn clear(&self) {
        let head = self.head.get();
        // SAFETY: the head lives in the box, and only the holder of the mutex writes it. The kernel
        // reads it after the last write of the process. If the process dies during a write, the
        // kernel sees one of the two values.
        unsafe { (&raw mut (*head).first).write_volatile(head.cast()) };
    }

    fn add(&mut self, mapping: &Mapping, seat: usize) {
        if self.seats.contains(&seat) {
            return;
        }
        let place = mapping.row(seat) + row::HINT;
        assert!(place + size_of::<Entry>() <= self.shadow.length, "the shadow is as long as the file");
        let head = self.head.get();
        // SAFETY: within the shadow, aligned to 8 as the word in the file is, and not yet in the
        // list. The entry is complete before the head points to it, because the process may die
        // between the two writes.
        unsafe {
            let entry: *mut Entry = self.shadow.pages.add(place).cast().as_ptr();
            (&raw mut (*entry).next).write_volatile((&raw const (*head).first).read_volatile());
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
            (&raw mut (*head).first).write_volatile(entry);
        }
        self.seats.push(seat);
    }
}

/// A task that sleeps.
struct Sleeper {
    key: u64,
    words: Vec<(usize, u32)>,
    until: Instant,
    /// `None` after the task was woken.
    waker: Option<Waker>,
}

#[derive(Default)]
struct Sleepers {
    all: Vec<Sleeper>,
    next: u64,
    closing: bool,
}

type Word = <Processes as Platform>::Sequence;

struct Room {
    mapping: Arc<Mapping>,
    list: Mutex<List>,
    sleepers: Mutex<Sleepers>,
    /// Incremented when the sentinel must look at the sleepers again.
    bell: Word,
}

impl Room {
    fn sleepers<T>(&self, change: impl FnOnce(&mut Sleepers) -> T) -> T {
        change(&mut self.sleepers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ring(&self) {
        self.bell.bump();
        Processes.wake_all(&self.bell);
    }

    /// The main loop of the sentinel.
    fn watch(&self) {
        let mut supported = true;
        loop {
            let seen = Sequence::load(&self.bell);
            let bell = (std::ptr::from_ref(&self.bell).addr(), seen);
            let mut words = vec![bell];
            let mut until: Option<Instant> = None;
            let mut closing = false;
            self.sleepers(|sleepers| {
                closing = sleepers.closing;
                for sleeper in sleepers.all.iter().filter(|sleeper| sleeper.waker.is_some()) {
                    until = Some(until.map_or(sleeper.until, |until| until.min(sleeper.until)));
                    for (offset, value) in &sleeper.words {
                        words.push((std::ptr::from_ref(self.mapping.half(*offset)).addr(), *value));
                    }
                }
            });
            if closing {
                return;
            }
            // Words that do not fit are polled.
            if (words.len() > MOST_WORDS || !supported) && words.len() > 1 {
                let soon = Instant::now() + SOON;
                until = Some(until.map_or(soon, |until| until.min(soon)));
            }
            words.truncate(MOST_WORDS);
            if words.len() == 1 || !supported {
                Processes.sleep(&self.bell, seen, until);
            } else if !Processes.sleep_any(&words, until) {
                supported = false;
                continue;
            }
            self.rouse(Sequence::load(&self.bell) == seen);
        }
    }

    /// Wakes the tasks whose words have changed or whose time has come. If a word woke the sentinel
    /// and none has changed, a wake-up came without a change: then all tasks look.
    fn rouse(&self, by_a_word: bool) {
        let now = Instant::now();
        let roused: Vec<Waker> = self.sleepers(|sleepers| {
            let changed = |sleeper: &Sleeper| {
                sleeper.until <= now
                    || sleeper.words.iter().any(|(offset, value)| self.mapping.load_half(*offset) != *value)
            };
            let nothing = by_a_word && !sleepers.all.iter().any(|sleeper| sleeper.waker.is_some() && changed(sleeper));
            let all = sleepers.all.iter_mut().filter(|sleeper| nothing || changed(sleeper));
            all.filter_map(|sleeper| sleeper.waker.take()).collect()
        });
        for waker in roused {
            crate::waiting::contained(|| waker.wake());
        }
    }
}

/// How soon a sleeper that cannot be woken looks again.
const SOON: Duration = Duration::from_millis(4);

/// The thread, its list and its sleepers.
pub(super) struct Sentinel {
    room: Arc<Room>,
    /// The value of this handle's hints while it lives; 0 if the kernel took no list.
    number: u32,
    /// `None` while the thread that opened the handle has the list and no task has slept.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Sentinel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sentinel").field("thread", &self.number).finish_non_exhaustive()
    }
}

impl Sentinel {
    /// With `stays`, the calling thread has the list, if it can: it stays as long as the process
    /// does.
    pub(super) fn new(mapping: &Arc<Mapping>, stays: bool) -> Result<Self, Error> {
        let list = List::new(mapping)?;
        let head = list.head.get().expose_provenance();
        let room = Arc::new(Room {
            mapping: Arc::clone(mapping),
            list: Mutex::new(list),
            sleepers: Mutex::default(),
            bell: Sequence::new(),
        });
        if stays && can_have_a_list() {
            // The thread has the list for as long as it lives, so the room must exist for as long.
            std::mem::forget(Arc::clone(&room));
            return Ok(Self { room, number: take_list(head), thread: Mutex::new(None) });
        }
        let (tell, told) = mpsc::sync_channel(1);
        let watched = Arc::clone(&room);
        let thread = start(move || {
            let _withdraws = Withdraws;
            let _ = tell.send(take_list(head));
            watched.watch();
        })?;
        let number = told.recv().unwrap_or(0);
        Ok(Self { room, number, thread: Mutex::new(Some(thread)) })
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, the kernel tells the waiters that watch this seat of the death of this process.
    /// If the list is full, they look on their own instead.
    pub(super) fn arm(&self, seat: usize) {
        if self.number == 0 {
            return;
        }
        let mapping = &self.room.mapping;
        let mut list = self.room.list.lock().unwrap_or_else(PoisonError::into_inner);
        if list.seats.len() >= MOST_ENTRIES && !list.seats.contains(&seat) {
            mapping.store_half(mapping.row(seat) + row::HINT, 0); // the value that a previous owner left there
            return;
        }
        mapping.store_half(mapping.row(seat) + row::HINT, self.number);
        list.add(mapping, seat);
    }

    /// Sleeps for a task while each word has the given value, and at most until the deadline. May
    /// also wake for no reason.
    pub(super) fn sleep(&self, words: Vec<(usize, u32)>, until: Instant) -> Result<Sleep<'_>, Error> {
        let mut thread = self.thread();
        if thread.is_none() {
            let watched = Arc::clone(&self.room);
            *thread = Some(start(move || watched.watch())?);
        }
        Ok(Sleep { room: &self.room, state: State::New(words, until) })
    }
}

/// Whether the calling thread ends with the process, and has no list yet. The first condition asks
/// for the main thread; in a forked child, that is the thread that forked.
fn can_have_a_list() -> bool {
    /// The process whose list this is. A forked child has none.
    static HAS: Mutex<u32> = Mutex::new(0);
    let process = std::process::id();
    let main = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned() == process;
    main && std::mem::replace(&mut *HAS.lock().unwrap_or_else(PoisonError::into_inner), process) != process
}

/// Gives the list with this head to the calling thread. Returns the thread's number; 0 if the
/// kernel took no list.
fn take_list(head: usize) -> u32 {
    // SAFETY: the head lives in a room that exists until this thread has withdrawn the list, or has
    // ended. The thread locks no robust mutex of the C library.
    let taken = unsafe { libc::syscall(libc::SYS_set_robust_list, head, size_of::<Head>()) } == 0;
    if taken { rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned() } else { 0 }
}

/// Starts a thread with the usual stack size, because wakers run on it.
fn start(body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = without_signals(|| std::thread::Builder::new().name("doorway".to_owned()).spawn(body));
    thread.map_err(|error| Error::System {
        doing: "starting a thread",
        code: error.raw_os_error().unwrap_or(libc::EAGAIN),
    })
}

/// When this is dropped, the kernel forgets this thread's list.
struct Withdraws;

impl Drop for Withdraws {
    fn drop(&mut self) {
        // SAFETY: the kernel accepts a null list. This thread locks no robust mutex.
        unsafe { libc::syscall(libc::SYS_set_robust_list, 0usize, size_of::<Head>()) };
    }
}

/// Runs a closure with all signals blocked, so that no signal handler runs on a thread that it
/// starts.
fn without_signals<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are local to this function, and `pthread_sigmask` accesses nothing else.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let done = run();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        done
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let mapping = &self.room.mapping;
        if !mapping.is_ours() {
            // A forked child has no such thread, and the words belong to the parent.
            std::mem::forget(std::mem::take(&mut self.thread));
            return;
        }
        {
            let list = self.room.list.lock().unwrap_or_else(PoisonError::into_inner);
            list.clear();
            for seat in &list.seats {
                let hint = mapping.row(*seat) + row::HINT;
                mapping.store_half(hint, 0);
                // The waiters that watch this hint look on their own from now on.
                Processes.wake_all(mapping.half(hint));
            }
        }
        self.room.sleepers(|sleepers| sleepers.closing = true);
        self.room.ring();
        // A waker may have dropped the handle. Then this is the sentinel itself, and must not join
        // itself.
        let thread = self.thread().take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

enum State {
    New(Vec<(usize, u32)>, Instant),
    Asleep(u64),
    Done,
}

/// See [`Sentinel::sleep`].
pub(super) struct Sleep<'a> {
    room: &'a Room,
    state: State,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.state {
            State::New(words, until) => {
                let (words, until) = (std::mem::take(words), *until);
                let waker = Some(context.waker().clone());
                let key = self.room.sleepers(|sleepers| {
                    sleepers.next += 1;
                    let key = sleepers.next;
                    sleepers.all.push(Sleeper { key, words, until, waker });
                    key
                });
                self.state = State::Asleep(key);
                self.room.ring();
                Poll::Pending
            }
            State::Asleep(key) => {
                let key = *key;
                let waker = context.waker().clone();
                // The previous waker, if the task is still asleep.
                let before = self.room.sleepers(|sleepers| {
                    let sleeper = sleepers.all.iter_mut().find(|sleeper| sleeper.key == key)?;
                    sleeper.waker.as_mut().map(|before| std::mem::replace(before, waker))
                });
                if before.is_some() {
                    // A waker's destructor is user code, and runs outside the lock.
                    crate::waiting::contained(|| drop(before));
                    return Poll::Pending;
                }
                self.leave();
                Poll::Ready(())
            }
            State::Done => Poll::Ready(()),
        }
    }
}

impl Sleep<'_> {
    fn leave(&mut self) {
        if let State::Asleep(key) = std::mem::replace(&mut self.state, State::Done) {
            if !self.room.mapping.is_ours() {
                return; // in a forked child, a thread that no longer exists may hold the lock
            }
            let gone = self.room.sleepers(|sleepers| {
                sleepers.all.iter().position(|sleeper| sleeper.key == key).map(|at| sleepers.all.swap_remove(at))
            });
            // A waker's destructor is user code, and runs outside the lock.
            crate::waiting::contained(|| drop(gone));
        }
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
