//! What `doorway run` needs from the operating system and safe Rust does not offer: `fork`,
//! signals, and starting a program as a shell would.

#![allow(unsafe_code)]

use super::args::{c_string, key};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::process::Pid;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32};

/// Whether broken pipes were ignored at the start: Rust ignores them before `main`.
static PIPES_WERE_IGNORED: AtomicBool = AtomicBool::new(false);
/// A bit for each standard stream that was closed at the start: Rust opens these before `main`.
static CLOSED_STREAMS: AtomicU8 = AtomicU8::new(0);

extern "C" fn look_around() {
    // SAFETY: both calls only query, and the first one writes nothing but `action`.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(libc::SIGPIPE, null(), &raw mut action);
        PIPES_WERE_IGNORED.store(action.sa_sigaction == libc::SIG_IGN, SeqCst);
        for stream in 0..3 {
            if libc::fcntl(stream, libc::F_GETFD) == -1 {
                CLOSED_STREAMS.fetch_or(1 << stream, SeqCst);
            }
        }
    }
}

/// The C library calls this before `main`, and before Rust's own preparations.
#[used]
// SAFETY: this section holds functions without arguments, and this one needs nothing from Rust.
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look_around;

/// Whether this standard stream was closed when the program began. Text written there is lost,
/// without an error.
pub(crate) fn was_closed(stream: RawFd) -> bool {
    CLOSED_STREAMS.load(SeqCst) >> stream & 1 == 1
}

/// A signal that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal {
    pub(crate) number: c_int,
    /// The process that sent it; 0 for the terminal.
    pub(crate) sender: u32,
    /// Whether the terminal sent it, so that the whole group has received it. Other signals of the
    /// kernel, such as those of timers, reach one process only.
    pub(crate) by_terminal: bool,
}

/// The signals that a terminal sends.
const OF_TERMINALS: [c_int; 8] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGHUP,
    libc::SIGCONT,
    libc::SIGWINCH,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// All signals, blocked and read here instead, so that they interrupt nothing.
pub(crate) struct Signals {
    descriptor: OwnedFd,
    /// The signals that were blocked before.
    blocked: libc::sigset_t,
    /// Whether SIGCHLD was ignored before.
    children_were_ignored: bool,
}

impl Signals {
    /// Holds for parent and child: each reads the signals that were sent to itself.
    pub(crate) fn take_over() -> std::io::Result<Self> {
        // SAFETY: the sets and actions are local to this function, and each call reads and writes
        // only those. The descriptor that the last call creates has no other owner.
        unsafe {
            let (mut all, mut blocked) = (zeroed::<libc::sigset_t>(), zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut blocked);
            let (default, mut before) = (zeroed::<libc::sigaction>(), zeroed::<libc::sigaction>());
            libc::sigaction(libc::SIGCHLD, &raw const default, &raw mut before);
            let raw = libc::signalfd(-1, &raw const all, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if raw == -1 {
                return Err(std::io::Error::last_os_error());
            }
            let children_were_ignored = before.sa_sigaction == libc::SIG_IGN;
            Ok(Self { descriptor: OwnedFd::from_raw_fd(raw), blocked, children_were_ignored })
        }
    }

    /// The next signal that has arrived. SIGPIPE is skipped: that this process has lost its reader
    /// does not concern the command.
    pub(crate) fn next(&self) -> Option<Signal> {
        let is_own = |signal: &Signal| signal.number == libc::SIGPIPE && signal.sender == std::process::id();
        std::iter::from_fn(|| self.next_of_all()).find(|signal| !is_own(signal))
    }

    fn next_of_all(&self) -> Option<Signal> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let length = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes a whole `info` or nothing.
        let info = unsafe {
            let read = libc::read(self.descriptor.as_raw_fd(), info.as_mut_ptr().cast(), length);
            if read != length.cast_signed() {
                return None;
            }
            info.assume_init()
        };
        let number = info.ssi_signo.cast_signed();
        let by_terminal = info.ssi_code == libc::SI_KERNEL && OF_TERMINALS.contains(&number);
        Some(Signal { number, sender: info.ssi_pid, by_terminal })
    }

    /// Has the default effect of the signal on this process. Returns when the process continues, if
    /// it does.
    pub(crate) fn suffer(&self, signal: c_int) {
        // SAFETY: the set is local to this function, and no handler is installed for the signal.
        unsafe {
            let mut one = zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut one);
            libc::sigaddset(&raw mut one, signal);
            libc::raise(signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const one, null_mut());
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const one, null_mut());
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Whether this process was started with the signal ignored.
pub(crate) fn is_ignored(signal: c_int) -> bool {
    // SAFETY: the call only queries, and writes `action`.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(signal, null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// The guardian writes this, and others read it when the guardian is dead. All zero at first.
#[derive(Clone, Copy)]
pub(crate) struct Board(NonNull<Words>);

#[derive(Default)]
#[repr(C)]
struct Words {
    /// The process of the command, once it has started.
    command: AtomicI32,
    /// How it ended: a bit, the signal that killed it or 0, and its exit code.
    end: AtomicU32,
}

/// The bit that says that the command has ended.
const HAS_ENDED: u32 = 1 << 16;

impl Board {
    pub(crate) fn new() -> std::io::Result<Self> {
        // SAFETY: a new mapping, at an address that the kernel chooses. It is never unmapped.
        let page = unsafe {
            mmap_anonymous(null_mut(), size_of::<Words>(), ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)
        };
        NonNull::new(page?.cast()).map(Self).ok_or_else(|| std::io::Error::other("the kernel has mapped nothing"))
    }

    fn words(&self) -> &Words {
        // SAFETY: mapped while the process lives, aligned to a page, and zero at first, which is a
        // valid value of the words.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn command(&self) -> Option<Pid> {
        Pid::from_raw(self.words().command.load(SeqCst))
    }

    /// The command has ended, with this exit code, and by this signal or 0.
    pub(crate) fn set_end(&self, code: u8, signal: u8) {
        self.words().end.store(HAS_ENDED | u32::from(signal) << 8 | u32::from(code), SeqCst);
    }

    /// How the command ended, if the guardian has seen it: its exit code, and the signal or 0.
    pub(crate) fn end(&self) -> Option<(u8, u8)> {
        let end = self.words().end.load(SeqCst);
        let [code, signal, ..] = end.to_le_bytes();
        (end & HAS_ENDED != 0).then_some((code, signal))
    }
}

/// `None` in the child.
pub(crate) fn fork() -> std::io::Result<Option<Pid>> {
    debug_assert_eq!(std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count), 1, "no other thread may run");
    // SAFETY: this process has no other thread, so no thread holds a lock that the child would
    // need.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Exits at once.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: `_exit` may be called at any time.
    unsafe { libc::_exit(code) }
}

/// Redirects streams of this process to `/dev/null`, so that it keeps none of them open.
pub(crate) fn let_go_of(streams: std::ops::Range<RawFd>) {
    // SAFETY: no value owns the standard streams; a later write to them goes nowhere.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for stream in streams {
            if nowhere == -1 {
                libc::close(stream);
            } else {
                libc::dup2(nowhere, stream);
            }
        }
        if nowhere > 2 {
            libc::close(nowhere);
        }
    }
}

/// The descriptors that this process has inherited beside the standard streams. Its own are closed
/// on exec, so they are not among them.
fn inherited() -> impl Iterator<Item = RawFd> {
    let all = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // SAFETY: the call only queries.
    numbers.filter(|raw| *raw > 2 && unsafe { libc::fcntl(*raw, libc::F_GETFD) } == 0)
}

/// Closes the descriptors that this process has inherited.
pub(crate) fn close_inherited() {
    for raw in inherited() {
        // SAFETY: it was open when this program began, and nothing here uses it.
        unsafe { libc::close(raw) };
    }
}

/// Whether this process has inherited a descriptor of this file.
pub(crate) fn has_inherited(file: &Path) -> bool {
    let of = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let wanted = of(file);
    let link = |raw: RawFd| PathBuf::from(format!("/proc/self/fd/{raw}"));
    wanted.is_some() && inherited().any(|raw| of(&link(raw)) == wanted)
}

/// A program to start.
pub(crate) struct Program<'a> {
    /// Files to try, in this order.
    pub(crate) files: Vec<CString>,
    pub(crate) arguments: Vec<CString>,
    /// Added to the environment of this process; each replaces a variable of the same name.
    pub(crate) environment: Vec<CString>,
    /// Variables of this process that the program does not get.
    pub(crate) without: Vec<&'static CStr>,
    /// Descriptors that it inherits.
    pub(crate) inherits: Vec<BorrowedFd<'a>>,
    /// A file to write `0` to before the program starts: the processes of a control group.
    pub(crate) joins: Option<BorrowedFd<'a>>,
    /// Whether the program is killed when this process dies.
    pub(crate) dies_with_us: bool,
}

/// What the child needs. It shares its parent's memory, and allocates nothing.
struct Plan {
    files: Vec<*const c_char>,
    arguments: Vec<*const c_char>,
    /// The same for a shell, with room for the file.
    of_a_shell: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    inherits: Vec<c_int>,
    joins: c_int,
    parent: Option<c_int>,
    pipes_were_ignored: bool,
    closed_streams: u8,
    children_were_ignored: bool,
    blocked: libc::sigset_t,
    error: c_int,
    /// The kernel's status file of the parent; and what the child read there.
    about_parent: CString,
    told: [u8; 4096],
    told_length: usize,
    /// Signals that had arrived at the child by then.
    pending: libc::sigset_t,
}

impl Plan {
    /// A bit for each signal that the parent had when the child looked, and the child had not.
    fn missed(&self) -> Option<u64> {
        let told = std::str::from_utf8(self.told.get(..self.told_length)?).ok()?;
        let came = pending(told)?;
        // SAFETY: the child wrote the set before its parent continued, or the set is empty.
        let has = |signal: c_int| unsafe { libc::sigismember(&raw const self.pending, signal) == 1 };
        Some(
            (1..=64)
                .filter(|signal| came >> (signal - 1) & 1 == 1 && !has(*signal))
                .fold(0, |all, signal| all | bit(signal)),
        )
    }
}

/// The bit of a signal in a set.
pub(crate) fn bit(signal: c_int) -> u64 {
    1_u64.wrapping_shl(signal.cast_unsigned())
}

/// The pending signals in the status file of a process. Bit 0 is signal 1.
fn pending(told: &str) -> Option<u64> {
    let set = told.lines().find_map(|line| line.strip_prefix("ShdPnd:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

/// A program that was started.
pub(crate) struct Started {
    pub(crate) child: Pid,
    /// A [`bit`] for each signal that arrived here before the child existed, if that is known. The
    /// child has received all other signals of the terminal too.
    pub(crate) missed: Option<u64>,
}

const STACK: usize = 64 << 10;

impl Program<'_> {
    /// Starts the program, with the signal settings that this process had before it took over.
    ///
    /// # Errors
    /// The error of the last file that was tried, or of one that could not be executed.
    pub(crate) fn start(&self, signals: &Signals, board: Board) -> std::io::Result<Started> {
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([null()]).collect::<Vec<_>>();
        let arguments = pointers(&self.arguments);
        let of_a_shell = [c"/bin/sh".as_ptr(), null()].into_iter().chain(arguments.iter().skip(1).copied()).collect();
        let mut plan = Plan {
            files: self.files.iter().map(|file| file.as_ptr()).collect(),
            arguments,
            of_a_shell,
            environment: self.all_environment(),
            inherits: self.inherits.iter().map(AsRawFd::as_raw_fd).collect(),
            joins: self.joins.map_or(-1, |descriptor| descriptor.as_raw_fd()),
            parent: self.dies_with_us.then(|| std::process::id().cast_signed()),
            pipes_were_ignored: PIPES_WERE_IGNORED.load(SeqCst),
            closed_streams: CLOSED_STREAMS.load(SeqCst),
            children_were_ignored: signals.children_were_ignored,
            blocked: signals.blocked,
            error: 0,
            about_parent: c_string(format!("/proc/{}/status", std::process::id()).into()),
            told: [0; 4096],
            told_length: 0,
            // SAFETY: a set of zeros is an empty set.
            pending: unsafe { zeroed() },
        };
        let mut stack = Box::<[u8]>::new_uninit_slice(STACK);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT_SETTID | libc::SIGCHLD;
        // SAFETY: the child runs `begin` on its own stack, which is aligned and long enough. This
        // thread sleeps until the child has executed a program or ended, so `plan` and everything
        // it points to outlive the child's use. All signals are blocked, so no handler of this
        // process runs in the child. The kernel writes the child's number to the board, which stays
        // mapped.
        let child = unsafe {
            let top = stack.as_mut_ptr().add(STACK).cast::<c_void>();
            let top = top.map_addr(|address| address & !15);
            libc::clone(begin, top, flags, (&raw mut plan).cast(), board.words().command.as_ptr())
        };
        let Some(child) = (if child == -1 { None } else { Pid::from_raw(child) }) else {
            return Err(std::io::Error::last_os_error());
        };
        // SAFETY: if the child wrote it, it did so before this thread continued.
        match unsafe { (&raw const plan.error).read_volatile() } {
            0 => Ok(Started { child, missed: plan.missed() }),
            error => {
                let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
                board.words().command.store(0, SeqCst);
                Err(std::io::Error::from_raw_os_error(error))
            }
        }
    }

    /// The environment without the variables to be replaced. An entry may lack a `=`, or be empty.
    fn all_environment(&self) -> Vec<*const c_char> {
        unsafe extern "C" {
            static mut environ: *const *const c_char;
        }
        let replaced: Vec<&[u8]> = self.environment.iter().filter_map(|text| key(text)).collect();
        let left_out = |text: &CStr| {
            key(text).is_some_and(|key| replaced.contains(&key) || self.without.iter().any(|not| not.to_bytes() == key))
        };
        let mut all = Vec::with_capacity(64);
        // SAFETY: the environment is an array of strings that ends with a null pointer, and no
        // thread of this process changes it.
        unsafe {
            let mut entry = environ;
            while !entry.is_null() && !(*entry).is_null() {
                if !left_out(CStr::from_ptr(*entry)) {
                    all.push(*entry);
                }
                entry = entry.add(1);
            }
        }
        all.extend(self.environment.iter().map(|text| text.as_ptr()));
        all.push(null());
        all
    }
}

fn errno() -> c_int {
    // SAFETY: the location belongs to this thread.
    unsafe { *libc::__errno_location() }
}

/// The child, until it executes a program. It only makes system calls.
extern "C" fn begin(plan: *mut c_void) -> c_int {
    // SAFETY: the parent passed it, and sleeps while the child uses it.
    let plan = unsafe { &mut *plan.cast::<Plan>() };
    // SAFETY: all pointers are the parent's, which sleeps. Dispositions, descriptors and the mask
    // belong to the child.
    unsafe {
        // In this order, a signal that arrives between the two does not count as missed.
        let file = libc::open(plan.about_parent.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file != -1 {
            let read = libc::read(file, plan.told.as_mut_ptr().cast(), plan.told.len());
            plan.told_length = usize::try_from(read).unwrap_or(0);
            libc::close(file);
        }
        libc::sigpending(&raw mut plan.pending);
        let mut action: libc::sigaction = zeroed();
        if !plan.pipes_were_ignored {
            libc::sigaction(libc::SIGPIPE, &raw const action, null_mut());
        }
        if plan.children_were_ignored {
            action.sa_sigaction = libc::SIG_IGN;
            libc::sigaction(libc::SIGCHLD, &raw const action, null_mut());
        }
        if plan.joins != -1 {
            // If the child cannot join, its descendants are killed one by one.
            libc::write(plan.joins, c"0".as_ptr().cast(), 1);
        }
        for inherited in &plan.inherits {
            libc::fcntl(*inherited, libc::F_SETFD, 0);
        }
        for stream in (0..3).filter(|stream| plan.closed_streams >> stream & 1 == 1) {
            libc::close(stream);
        }
        if let Some(parent) = plan.parent {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() != parent {
                libc::_exit(128 + libc::SIGKILL); // the parent died before
            }
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const plan.blocked, null_mut());
        let mut error = libc::ENOENT;
        for file in &plan.files {
            libc::execve(*file, plan.arguments.as_ptr(), plan.environment.as_ptr());
            match errno() {
                // A script without an interpreter line.
                libc::ENOEXEC => {
                    plan.of_a_shell[1] = *file;
                    libc::execve(plan.of_a_shell[0], plan.of_a_shell.as_ptr(), plan.environment.as_ptr());
                    error = errno();
                    break;
                }
                libc::EACCES => error = libc::EACCES,
                libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
                other => {
                    error = other;
                    break;
                }
            }
        }
        (&raw mut plan.error).write_volatile(error);
        libc::_exit(127)
    }
}

/// Sends a signal. The process must be a child that was not yet waited for, so that the number
/// still belongs to it.
pub(crate) fn send(child: Pid, signal: c_int) -> std::io::Result<()> {
    // SAFETY: the call touches no memory.
    match unsafe { libc::kill(child.as_raw_nonzero().get(), signal) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_command_is_known_once_it_is_written() {
        let board = Board::new().unwrap();
        assert_eq!((board.command(), board.end()), (None, None));
        board.set_end(0, 0);
        assert_eq!(board.end(), Some((0, 0)), "an exit code of 0 is one too");
        board.set_end(137, 9);
        assert_eq!(board.end(), Some((137, 9)));
    }

    #[test]
    fn signals_that_wait_are_found_in_what_the_kernel_tells() {
        let told = "Name:\tx\nSigPnd:\t0000000000000001\nShdPnd:\t0000000000000802\nSigBlk:\tffffffffffffffff\n";
        assert_eq!(pending(told), Some(1 << (libc::SIGINT - 1) | 1 << (libc::SIGUSR2 - 1)));
        assert_eq!(pending("Name:\tx\n"), None, "it was cut");
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert_eq!(pending(&own), Some(0));
    }
}
