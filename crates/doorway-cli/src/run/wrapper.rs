//! The wrapper: the process that the user started. It passes on signals, prints messages, and ends
//! as the command did.

use super::link::{Link, Message};
use super::native::{self, Board, Signal, Signals};
use super::tree::{self, News};
use super::{FAILED, line::Line};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::time::Duration;

/// The whole life of the wrapper, once it has a child: the guardian or the sweeper. Returns the
/// exit code.
pub(super) fn live(child: Pid, link: &Link, signals: &Signals, board: Board, line: Line, has_lifeline: bool) -> u8 {
    native::let_go_of(0..2);
    let mut wrapper = Wrapper { child, link, signals, line, has_lifeline, keys: 0, missed: Vec::new(), last: None };
    loop {
        let mut ready = [PollFd::new(link, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        let _ = poll(&mut ready, None);
        let is_told = !ready[0].revents().is_empty();
        while let Some(signal) = signals.next() {
            if signal.number == libc::SIGCHLD {
                continue; // the link tells if the guardian has died
            }
            if signal.by_terminal {
                wrapper.keys |= native::bit(signal.number);
            }
            if !link.tell(&Message::Signal(signal, native::is_ignored(signal.number))) {
                wrapper.missed.push(signal);
            } else {
                wrapper.last = Some(signal);
            }
        }
        if is_told {
            match link.hear() {
                Some(message) => {
                    if let Some(code) = wrapper.hears(message) {
                        return code;
                    }
                }
                None => return wrapper.guardian_has_died(board),
            }
        }
    }
}

struct Wrapper<'a> {
    child: Pid,
    link: &'a Link,
    signals: &'a Signals,
    line: Line,
    /// Whether the command inherits a descriptor that keeps the slot.
    has_lifeline: bool,
    /// A bit for each signal that came from keys of the terminal.
    keys: u64,
    /// Signals that arrived when the guardian was dead.
    missed: Vec<Signal>,
    /// The last signal that the guardian was told.
    last: Option<Signal>,
}

impl Wrapper<'_> {
    /// The exit code, if this is the end.
    fn hears(&mut self, message: Message) -> Option<u8> {
        match message {
            Message::Waiting(line) => self.line.show(&line),
            Message::Say(line) => self.line.say(&line),
            Message::Granted => {
                self.line.clear();
                self.link.tell(&Message::Go);
            }
            Message::Stopped { signal, process } => self.stop(signal, Pid::from_raw(process)),
            Message::Ended { code, signal, stays } => {
                self.line.clear();
                if !stays {
                    // Waits, so that the command's processor time counts as that of a child.
                    let _ = waitpid(Some(self.child), WaitOptions::empty());
                }
                return Some(self.end(code, signal));
            }
            Message::Failed { code, why } => {
                self.line.say(&why);
                return Some(code);
            }
            Message::Signal(..) | Message::Go => {}
        }
        None
    }

    /// Stops as the command was stopped, so that the shell notices, until the shell continues both.
    fn stop(&mut self, signal: i32, command: Option<Pid>) {
        self.line.clear();
        if let Some(command) = command {
            // The command may have continued already, or be about to.
            std::thread::sleep(Duration::from_millis(20));
            if !tree::is_stopped(command) {
                return;
            }
        }
        self.signals.suffer(signal);
    }

    /// A shell ends a loop after Ctrl-C only if the program that it waits for was killed by it.
    fn end(&self, code: u8, signal: u8) -> u8 {
        let by_keys = self.keys >> (signal & 63) & 1 == 1;
        if by_keys && matches!(i32::from(signal), libc::SIGINT | libc::SIGQUIT) {
            let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
            self.signals.suffer(signal.into());
        }
        code
    }

    /// Does what is left to do. A running command is now a child of the wrapper. If there was a
    /// sweeper, the command has died.
    fn guardian_has_died(&mut self, board: Board) -> u8 {
        let ended_before = board.end();
        // A sweeper ends when no process is left. Its exit code is the signal that killed the
        // guardian.
        let status = waitpid(Some(self.child), WaitOptions::empty()).ok().flatten().map(|(_, status)| status);
        let how = match status.and_then(|status| status.terminating_signal().or(status.exit_status())).unwrap_or(0) {
            0 | libc::SIGKILL => "was killed".to_owned(),
            libc::SIGBUS => "was killed by SIGBUS (was the file of the slots truncated?)".to_owned(),
            signal => format!("was killed by signal {signal}"),
        };
        let Some(command) = board.command() else {
            self.line.say(&format!("the guardian {how} before the command began; try again"));
            return FAILED;
        };
        if let Some((code, signal)) = board.end() {
            let when = if ended_before.is_some() { " after the command had ended" } else { ", and so was the command" };
            self.line.say(&format!("the guardian {how}{when}; the next holder of the slot will be told"));
            return self.end(code, signal);
        }
        let slot = if self.has_lifeline {
            "the slot stays taken only while a process of the command keeps DOORWAY_FD open"
        } else {
            "the slot goes to the next waiter, and the command goes on without it"
        };
        self.line.say(&format!("the guardian {how}; {slot}"));
        let unheard = self.last.take().filter(|_| self.link.was_not_heard());
        let missed: Vec<Signal> = unheard.into_iter().chain(self.missed.drain(..)).collect();
        pass_on(command, missed);
        loop {
            match tree::look() {
                News::Ended { child, code, signal } if child == command => return self.end(code, signal),
                News::Stopped { child, signal } if child == command => self.stop(signal, Some(child)),
                News::Alone => {
                    self.line
                        .say("it is not known how the command ended: the guardian died just before it could find out");
                    return FAILED;
                }
                News::Nothing => {
                    let _ = poll(&mut [PollFd::new(self.signals, PollFlags::IN)], None);
                    pass_on(command, std::iter::from_fn(|| self.signals.next()));
                }
                News::Ended { .. } | News::Stopped { .. } | News::Continued { .. } => {}
            }
        }
    }
}

/// The command has already received the signals of the terminal.
fn pass_on(command: Pid, signals: impl IntoIterator<Item = Signal>) {
    for signal in signals {
        if signal.number != libc::SIGCHLD && !signal.by_terminal {
            let _ = native::send(command, signal.number);
        }
    }
}
