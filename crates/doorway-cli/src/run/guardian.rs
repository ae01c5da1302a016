//! The guardian: waits for a slot, starts the command, and gives the slot back at the end.
//!
//! No signal but SIGKILL ends it. It adopts all descendants of the command, so it knows when the
//! last of them has ended.

use super::args::{Args, OnLost, Orphans, Words, c_string, key, variable};
use super::cgroup::Cgroup;
use super::link::{Link, Message};
use super::native::{self, Board, Program, Signal, Signals, Started};
use super::tree::{self, News};
use super::unit::Unit;
use super::waiting::{self, Ending};
use super::{Besides, FAILED, NOT_EXECUTABLE, NOT_FOUND, advice, cannot_begin, limits};
use doorway::shared::{Builder, Lifeline, Previous};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::Pid;
use std::collections::HashSet;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

/// The whole life of the guardian.
pub(super) fn live(
    args: &Args,
    besides: &mut dyn Besides,
    link: &Link,
    signals: &Signals,
    board: Board,
    wrapper: Pid,
) -> ! {
    let ending = match try_live(args, besides, link, signals, board, wrapper) {
        Ok(ended) => ended,
        Err(failed) => Some(failed),
    };
    besides.end();
    if let Some(message) = ending {
        link.tell(&message);
    }
    native::end(0)
}

/// Returns what to tell the wrapper when everything is over.
fn try_live(
    args: &Args,
    besides: &mut dyn Besides,
    link: &Link,
    signals: &Signals,
    board: Board,
    wrapper: Pid,
) -> Result<Option<Message>, Message> {
    tree::adopt();
    let waited = match &args.etcd {
        Some(endpoints) => super::remote::wait(args, endpoints, link),
        None => {
            let opened = builder(args).thread_stays().open();
            let slots = Arc::new(opened.map_err(|error| failed(FAILED, advice(&error, args)))?);
            // The process exits once it has given the slot back. Closing the file first would cost
            // time.
            std::mem::forget(Arc::clone(&slots));
            waiting::wait(args, &slots, link).map(Unit::File)
        }
    };
    let guard = match waited {
        Ok(guard) => guard,
        Err(Ending::Told(message)) => return Err(message),
        Err(Ending::WrapperDied) => return Ok(None),
    };
    let mut held = Held { guard, lifeline: None, cgroup: None };
    held.tell_of_the_one_before(args, link);
    let variables = besides.begin(args).map_err(|why| failed(FAILED, why))?;
    let started = held.start(args, variables, &besides.inherits(), signals, board)?;
    native::let_go_of(0..3);
    let command = started.child;
    let mut watch =
        Watch { args, besides, link, signals, board, command, wrapper, early: Vec::new(), continued_by: None };
    let arrived = watch.drain_signals().into_iter().filter(|signal| signal.by_terminal).map(|signal| signal.number);
    // If this is unknown, the command gets the signals twice rather than not at all.
    watch.early =
        arrived.filter(|number| started.missed.is_none_or(|missed| missed & native::bit(*number) != 0)).collect();
    Ok(watch.until_the_end(held))
}

/// How to open the slots.
pub(crate) fn builder(args: &Args) -> Builder {
    let mut builder = Builder::new(&args.name, args.slots).waiters(1);
    if let Some(directory) = &args.directory {
        builder = builder.directory(directory);
    }
    if let Some(seats) = args.seats {
        builder = builder.seats(seats);
    }
    if let Some(permissions) = args.permissions {
        builder = builder.permissions(permissions);
    }
    if let Some(label) = &args.label {
        builder = builder.label(label.to_string_lossy());
    }
    builder
}

fn failed(code: u8, why: String) -> Message {
    Message::Failed { code, why }
}

/// The slot, and what keeps it.
struct Held {
    guard: Unit,
    /// The command inherits this, so the slot outlives this process. The second is a copy with a
    /// number that scripts do not use.
    lifeline: Option<(Lifeline, OwnedFd)>,
    cgroup: Option<Cgroup>,
}

/// Scripts use small descriptor numbers, and shells use those from 10 on.
const LIFELINE: i32 = 40;

impl Held {
    fn tell_of_the_one_before(&self, args: &Args, link: &Link) {
        if !args.verbose {
            return;
        }
        let (what, known) = match self.guard.previous() {
            None | Some(Previous::Clean) => return,
            Some(Previous::Died(known)) => ("died with it", known),
            Some(Previous::Broken(known)) => ("had it taken away, and may still be running", known),
        };
        let who = waiting::describe(known, |ago| format!(", which got it {ago} ago"));
        link.tell(&Message::Say(format!("the last holder of slot {} {what}: {who}", self.guard.slot())));
    }

    fn start(
        &mut self,
        args: &Args,
        variables: Vec<CString>,
        inherits: &[BorrowedFd<'_>],
        signals: &Signals,
        board: Board,
    ) -> Result<Started, Message> {
        if args.keeps_a_descriptor()
            && let Some(lifeline) = self.guard.lifeline()
        {
            let lifeline = lifeline.map_err(|error| failed(FAILED, advice(&error, args)))?;
            let copy = match fcntl_dupfd_cloexec(&lifeline, LIFELINE) {
                Err(Errno::INVAL) => fcntl_dupfd_cloexec(&lifeline, 3), // the limit is low
                copy => copy,
            };
            self.lifeline = Some((lifeline, copy.map_err(|error| failed(FAILED, cannot_begin(&error.into())))?));
        }
        if args.orphans == Orphans::Kill {
            self.cgroup = Cgroup::make();
        }
        let words = Words { slot: self.guard.slot(), fence: self.guard.fence(), name: args.name.clone() };
        let mut environment = vec![
            variable("DOORWAY_SLOT", words.slot.to_string()),
            variable("DOORWAY_FENCE", words.fence.to_string()),
            variable("DOORWAY_NAME", &words.name),
        ];
        // A cluster does not know how the last holder ended.
        environment.extend(self.guard.previous().map(|previous| {
            let how = match previous {
                Previous::Clean => "clean",
                Previous::Died(_) => "died",
                Previous::Broken(_) => "broken",
            };
            variable("DOORWAY_PREVIOUS", how)
        }));
        if let Some((_, copy)) = &self.lifeline {
            environment.push(variable("DOORWAY_FD", copy.as_raw_fd().to_string()));
        }
        environment.extend(variables);
        environment.extend(args.environment.iter().map(|variable| c_string(words.replace(variable))));
        let environment = the_last_of_each(environment);
        let arguments: Vec<OsString> = args.command.iter().map(|argument| words.replace(argument)).collect();
        let program = arguments[0].clone();
        let paths = environment.iter().find_map(|text| text.as_bytes().strip_prefix(b"PATH="));
        let paths = paths.map(|paths| OsStr::from_bytes(paths).to_owned()).or_else(|| std::env::var_os("PATH"));
        let lifeline = self.lifeline.as_ref().map(|(_, copy)| copy.as_fd());
        let started = Program {
            files: files(&program, paths.clone()),
            arguments: arguments.into_iter().map(c_string).collect(),
            environment,
            // The DOORWAY_FD of an outer command would keep another slot.
            without: match (&self.lifeline, self.guard.previous()) {
                (Some(_), _) => Vec::new(),
                (None, Some(_)) => vec![c"DOORWAY_FD"],
                (None, None) => vec![c"DOORWAY_FD", c"DOORWAY_PREVIOUS"],
            },
            inherits: inherits.iter().copied().chain(lifeline).collect(),
            joins: self.cgroup.as_ref().map(Cgroup::processes),
            dies_with_us: args.dies_with_the_guardian(),
        }
        .start(signals, board);
        started.map_err(|error| {
            let name = program.to_string_lossy();
            let (code, why) = match error.raw_os_error() {
                Some(libc::ENOENT) if !name.contains('/') => {
                    let advice = if name.contains(' ') {
                        "to pass a program and its arguments, do not quote them as one word"
                    } else {
                        "give its path"
                    };
                    (NOT_FOUND, format!("there is no command {name:?} in PATH; {advice}"))
                }
                Some(libc::EACCES) if std::path::Path::new(&program).is_dir() => {
                    (NOT_EXECUTABLE, format!("{name:?} is a directory; name a program"))
                }
                Some(libc::ENOENT | libc::ENOTDIR) => (
                    NOT_FOUND,
                    format!("there is no {name:?}, or its interpreter is missing; check the path and the first line"),
                ),
                Some(libc::EACCES) => (
                    NOT_EXECUTABLE,
                    format!(
                        "cannot execute {name:?}: {error}; make it executable (chmod +x), or put the program that \
                         runs it in front"
                    ),
                ),
                code => (NOT_EXECUTABLE, format!("cannot execute {name:?}: {error}{}", limits(code))),
            };
            // If the name is missing, the program is taken for it, and the next word is run.
            let is_a_program = |file: &CString| std::path::Path::new(OsStr::from_bytes(file.as_bytes())).is_file();
            if files(&args.name, paths).iter().any(is_a_program) {
                let slots = args.name.display();
                return failed(
                    code,
                    format!("{why}; {slots} was taken for the name of the slots: give a name before it"),
                );
            }
            failed(code, why)
        })
    }

    /// Gives the slot back, and reports what was wrong with it.
    fn release(self) -> Option<String> {
        self.guard.release()
    }
}

/// The last of the variables with the same name. Programs disagree about which of two they find.
fn the_last_of_each(variables: Vec<CString>) -> Vec<CString> {
    let mut seen = HashSet::new();
    let is_new = |text: &CString| seen.insert(key(text).map(<[u8]>::to_vec));
    let mut kept: Vec<CString> = variables.into_iter().rev().filter(is_new).collect();
    kept.reverse();
    kept
}

/// The files to try for a command, in this order.
fn files(program: &OsStr, paths: Option<OsString>) -> Vec<CString> {
    if program.is_empty() {
        return Vec::new();
    }
    if program.as_bytes().contains(&b'/') {
        return vec![c_string(program.to_owned())];
    }
    let paths = paths.unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
    let file = |path: &[u8]| {
        let mut file = if path.is_empty() { Vec::new() } else { [path, b"/"].concat() }; // empty: this directory
        file.extend_from_slice(program.as_bytes());
        c_string(OsString::from_vec(file))
    };
    paths.as_bytes().split(|byte| *byte == b':').map(file).collect()
}

/// Watches the running command.
struct Watch<'a> {
    args: &'a Args,
    besides: &'a mut dyn Besides,
    link: &'a Link,
    signals: &'a Signals,
    board: Board,
    command: Pid,
    wrapper: Pid,
    /// Terminal signals that arrived before the command existed.
    early: Vec<i32>,
    /// The process that let this one continue, by SIGCONT.
    continued_by: Option<u32>,
}

impl Watch<'_> {
    /// Runs until the slot is given back. Returns what remains to be told.
    fn until_the_end(&mut self, held: Held) -> Option<Message> {
        loop {
            // First: the command may have ended before the signals were drained.
            if let Some(ended) = self.looks_after_children() {
                return self.command_has_ended(ended, held);
            }
            if self.waits(&held, true) && self.hears() {
                return self.wrapper_has_died(held);
            }
            if self.must_end(&held) {
                let ended = tree::kill_all(held.cgroup.as_ref(), Some(self.command));
                let (code, signal) = ended.unwrap_or((128 + libc::SIGKILL as u8, libc::SIGKILL as u8));
                self.board.set_end(code, signal);
                return self.command_has_ended((code, signal), held);
            }
        }
    }

    /// Waits for something to happen, and does the side work. Returns whether the wrapper has
    /// something to say, if this process listens to it.
    fn waits(&mut self, held: &Held, listens: bool) -> bool {
        let mut reasons = self.besides.reasons();
        reasons.extend(held.guard.bell());
        let mut ready = vec![PollFd::new(self.signals, PollFlags::IN)];
        ready.extend(reasons.iter().map(|reason| PollFd::new(reason, PollFlags::IN)));
        if listens {
            ready.push(PollFd::new(self.link, PollFlags::IN));
        }
        let patience = self.besides.patience().and_then(|patience| Timespec::try_from(patience).ok());
        let _ = poll(&mut ready, patience.as_ref());
        let is_told = listens && ready.last().is_some_and(|link| !link.revents().is_empty());
        drop(ready);
        drop(reasons);
        let continued = self.drain_signals().into_iter().rfind(|signal| signal.number == libc::SIGCONT);
        self.continued_by = continued.map(|signal| signal.sender).or(self.continued_by);
        let link = self.link;
        self.besides.turn(&mut |line| _ = link.tell(&Message::Say(line)));
        is_told
    }

    /// Whether the slot is lost, and the command has to end for that. Says so once.
    fn must_end(&self, held: &Held) -> bool {
        if !held.guard.is_newly_lost() {
            return false;
        }
        let slot = held.guard.slot();
        let ends = self.args.on_lost == OnLost::Kill;
        let what = if ends { "the command is killed" } else { "the command goes on, beside the next holder" };
        self.link.tell(&Message::Say(format!("slot {slot} is lost: its lease has ended, or it was broken; {what}")));
        ends
    }

    /// Reads the signals that have arrived. They only mean that it is time to look. The first time,
    /// they also tell what the command may have missed.
    fn drain_signals(&self) -> Vec<Signal> {
        std::iter::from_fn(|| self.signals.next()).collect()
    }

    /// How the command has ended, if it has: its exit code, and the signal that killed it or 0.
    fn looks_after_children(&self) -> Option<(u8, u8)> {
        loop {
            match tree::look() {
                News::Ended { child, code, signal } if child == self.command => {
                    // At once: from now on no other process can ask the kernel.
                    self.board.set_end(code, signal);
                    return Some((code, signal));
                }
                News::Continued { child } if child == self.command => self.lets_the_wrapper_go_on(),
                News::Stopped { child, signal } if child == self.command => {
                    self.link.tell(&Message::Stopped { signal, process: child.as_raw_nonzero().get() });
                }
                News::Nothing | News::Alone => return None,
                News::Ended { .. } | News::Stopped { .. } | News::Continued { .. } => {}
            }
        }
    }

    /// The wrapper stops together with the command. If only the command were continued, the wrapper
    /// would stay stopped.
    fn lets_the_wrapper_go_on(&self) {
        // The wrapper may be about to stop.
        for _ in 0..3 {
            if tree::is_stopped(self.wrapper) && !tree::is_stopped(self.command) {
                let _ = native::send(self.wrapper, libc::SIGCONT);
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
    }

    /// Whether the wrapper has died.
    fn hears(&mut self) -> bool {
        match self.link.hear() {
            None => return true,
            Some(Message::Signal(signal, _)) if self.has_it(signal) => {}
            Some(Message::Signal(signal, _)) => drop(native::send(self.command, signal.number)),
            Some(_) => {}
        }
        false
    }

    /// Whether the command has received this signal too. A key of the terminal reaches the whole
    /// group. A signal from the command's own processes is meant for others, or for the group.
    fn has_it(&mut self, signal: Signal) -> bool {
        if signal.by_terminal {
            let missed = self.early.iter().position(|early| *early == signal.number);
            return missed.map(|at| self.early.swap_remove(at)).is_none();
        }
        if signal.sender == std::process::id() {
            return true; // it continued before the wrapper did
        }
        // A shell continues the whole group. A second, late SIGCONT would undo a new stop.
        if signal.number == libc::SIGCONT && self.continued_by.take() == Some(signal.sender) {
            return true;
        }
        Pid::from_raw(signal.sender.cast_signed()).is_some_and(tree::is_ours)
    }

    fn wrapper_has_died(&mut self, held: Held) -> Option<Message> {
        match self.args.orphans {
            Orphans::Hold => self.linger(&held),
            Orphans::Release => {}
            Orphans::Kill => drop(tree::kill_all(held.cgroup.as_ref(), None)),
        }
        held.release();
        None
    }

    fn command_has_ended(&mut self, (code, signal): (u8, u8), held: Held) -> Option<Message> {
        match self.args.orphans {
            Orphans::Hold if tree::is_anybody_left() => {
                self.link.tell(&Message::Ended { code, signal, stays: true });
                self.linger(&held);
                held.release();
                return None;
            }
            Orphans::Kill => drop(tree::kill_all(held.cgroup.as_ref(), None)),
            Orphans::Hold | Orphans::Release => {}
        }
        if let Some(complaint) = held.release() {
            self.link.tell(&Message::Say(complaint));
        }
        Some(Message::Ended { code, signal, stays: false })
    }

    /// Waits until no process is left, holding on to nothing but the slot.
    fn linger(&mut self, held: &Held) {
        native::close_inherited();
        let _ = rustix::process::chdir("/");
        loop {
            match tree::look() {
                News::Alone => return,
                News::Nothing => {
                    self.waits(held, false);
                    if self.must_end(held) {
                        tree::kill_all(held.cgroup.as_ref(), None);
                        return;
                    }
                }
                News::Ended { .. } | News::Stopped { .. } | News::Continued { .. } => {}
            }
        }
    }
}
