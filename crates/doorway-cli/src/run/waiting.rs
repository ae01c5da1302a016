//! Waiting for a slot, in line with other processes, while listening to the wrapper.

use super::args::Args;
use super::link::{Link, Message};
use super::{FAILED, NO_WAIT, TIMED_OUT, advice, cannot_begin, native};
use doorway::shared::{Known, OwnedGuard, Slots, TryAcquireError};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant, SystemTime};

/// Why there is no slot.
pub(super) enum Ending {
    Told(Message),
    WrapperDied,
}

pub(super) fn ends(code: u8, why: String) -> Ending {
    Ending::Told(Message::Failed { code, why })
}

/// Wakes a process that polls.
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Resets the bell, if it has rung.
    pub(crate) fn hear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Returns a slot when it is this process's turn.
pub(super) fn wait(args: &Args, slots: &Arc<Slots>, link: &Link) -> Result<OwnedGuard, Ending> {
    let fails = |error: doorway::shared::Error| ends(FAILED, advice(&error, args));
    match slots.try_acquire_owned() {
        Ok(guard) => {
            if args.verbose {
                link.tell(&Message::Say(format!("slot {} of {} at once", guard.slot(), args.name.display())));
            }
            return Ok(guard);
        }
        Err(TryAcquireError::Failed(error)) => return Err(fails(error)),
        Err(TryAcquireError::NoPlace) => {}
    }
    if args.no_wait {
        return Err(ends(NO_WAIT, format!("no slot of {} is free{}", args.name.display(), behind(slots).0)));
    }
    // An outer command holds a slot: its lifeline was inherited, perhaps through other processes.
    if native::has_inherited(slots.path()) {
        let name = args.name.display();
        link.tell(&Message::Say(format!(
            "waiting for a slot of {name} inside a command that has one; if all holders wait like this, none of them \
             goes on: use another name in here"
        )));
    }
    let began = Instant::now();
    let deadline = args.timeout.and_then(|timeout| began.checked_add(timeout));
    let guard = {
        let bell = Bell::new().map_err(|error| ends(FAILED, cannot_begin(&error)))?;
        let bell = Arc::new(bell);
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(slots.acquire_owned_async());
        let mut shows = Shows::new(args, slots, link, began);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
                break Some(done.map_err(fails)?);
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                break None;
            }
            shows.at(now);
            let until = deadline.map_or(shows.next, |deadline| deadline.min(shows.next));
            let left =
                Timespec::try_from(until.saturating_duration_since(now)).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            let mut ready = [PollFd::new(link, PollFlags::IN), PollFd::new(&bell, PollFlags::IN)];
            let _ = poll(&mut ready, Some(&left));
            let (is_told, rings) = (!ready[0].revents().is_empty(), !ready[1].revents().is_empty());
            if rings {
                bell.hear();
            }
            if is_told {
                hears(link)?;
            }
        }
    };
    let guard = match guard {
        Some(guard) => guard,
        // A slot may have arrived at the last moment, or a holder may have died.
        None => slots.try_acquire_owned().map_err(|_| {
            let waited = spell(args.timeout.unwrap_or_default());
            let (name, behind) = (args.name.display(), behind(slots).0);
            ends(TIMED_OUT, format!("no slot of {name} became free in {waited}{behind}"))
        })?,
    };
    if args.verbose {
        let waited = spell(began.elapsed());
        link.tell(&Message::Say(format!("slot {} of {} after {waited}", guard.slot(), args.name.display())));
    }
    // If the wrapper is stopped, the command does not start until it continues.
    link.tell(&Message::Granted);
    while hears(link)? != Some(Message::Go) {}
    Ok(guard)
}

/// What the wrapper says before there is a command. A signal that would end a process ends the
/// wait.
pub(super) fn hears(link: &Link) -> Result<Option<Message>, Ending> {
    match link.hear() {
        None => Err(Ending::WrapperDied),
        Some(Message::Signal(signal, is_ignored)) => {
            match signal.number {
                _ if is_ignored => {}
                libc::SIGCHLD | libc::SIGCONT | libc::SIGWINCH | libc::SIGURG => {}
                libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => {
                    link.tell(&Message::Stopped { signal: signal.number, process: 0 });
                }
                number => {
                    let (code, signal) = (128 + number as u8, number as u8);
                    return Err(Ending::Told(Message::Ended { code, signal, stays: false }));
                }
            }
            Ok(None)
        }
        message => Ok(message),
    }
}

/// Reports on the wait.
struct Shows<'a> {
    args: &'a Args,
    slots: &'a Arc<Slots>,
    link: &'a Link,
    began: Instant,
    next: Instant,
    /// What the last look saw of the processes ahead, and when to look again.
    behind: String,
    next_look: Instant,
}

const SECOND: Duration = Duration::from_secs(1);
/// Longer than any wait, and short enough for a clock.
const NEVER: Duration = Duration::from_secs(1 << 30);
/// All looks of all waiters together may use a hundredth of one processor.
const LOOKS_IN: u32 = 100;

impl<'a> Shows<'a> {
    fn new(args: &'a Args, slots: &'a Arc<Slots>, link: &'a Link, began: Instant) -> Self {
        Self { args, slots, link, began, next: began, behind: String::new(), next_look: began }
    }

    fn at(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        let name = self.args.name.display();
        if self.began == self.next && self.args.verbose {
            self.link.tell(&Message::Say(format!("waiting for a slot of {name}{}", behind(self.slots).0)));
        } else if self.began != self.next && is_watched() {
            if now >= self.next_look {
                let waiting;
                (self.behind, waiting) = behind(self.slots);
                self.next_look = now + now.elapsed() * LOOKS_IN * waiting;
            }
            let waited = spell(Duration::from_secs(now.duration_since(self.began).as_secs()));
            let line = format!("waiting for a slot of {name}, {waited}{}", self.behind);
            self.link.tell(&Message::Waiting(line));
        }
        // Without a terminal there is nothing more to say.
        self.next = now + if rustix::termios::isatty(rustix::stdio::stderr()) { SECOND } else { NEVER };
    }
}

/// Whether this process is in the foreground of a terminal, and can show a line that changes.
/// Background jobs would all overwrite the same line.
fn is_watched() -> bool {
    let foreground = rustix::termios::tcgetpgrp(rustix::stdio::stderr());
    foreground.is_ok_and(|group| group == rustix::process::getpgrp())
}

/// The processes ahead of this one, for people, and the number of waiters. The text is read word by
/// word, and contains what others wrote.
fn behind(slots: &Slots) -> (String, u32) {
    let Ok(status) = slots.status() else { return (String::new(), 1) };
    let mut text = String::new();
    let me = Some(std::process::id());
    let ahead = status.waiters.iter().take_while(|waiter| waiter.known.pid != me).filter(|waiter| !waiter.dead).count();
    if ahead > 0 {
        text += &format!(", {ahead} ahead");
    }
    // This process may have got a slot since it began to wait; it does not wait for itself.
    let held: Vec<_> = status.holders.iter().filter(|holder| !holder.dead && holder.known.pid != me).collect();
    for (i, holder) in held.iter().take(SHOWN).enumerate() {
        text += if i == 0 { "; held by " } else { ", " };
        text += &describe(&holder.known, |held| format!(" for {held}"));
    }
    if held.len() > SHOWN {
        text += &format!(" and {} more", held.len() - SHOWN);
    }
    (text, u32::try_from(status.waiters.len()).unwrap_or(1).max(1))
}

const SHOWN: usize = 4;

/// A process, for people: its number, its label or command line, and how long ago it got its slot.
pub(super) fn describe(known: &Known, ago: impl Fn(String) -> String) -> String {
    let Some(process) = known.pid else { return "an unknown process".to_owned() };
    let mut text = process.to_string();
    let what = known.label.clone().or_else(|| command_line(process));
    if let Some(what) = what.filter(|what| !what.is_empty()) {
        text += &format!(" ({})", shortened(&what));
    }
    if let Some(since) = known.since.and_then(|since| SystemTime::now().duration_since(since).ok()) {
        text += &ago(spell(since));
    }
    text
}

/// The command after `--`, if the process is a `doorway run`; otherwise the whole command line.
fn command_line(process: u32) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let words: Vec<&[u8]> = bytes.strip_suffix(b"\0").unwrap_or(&bytes).split(|byte| *byte == 0).collect();
    let command = words.iter().position(|word| word == b"--").map_or(&words[..], |at| &words[at + 1..]);
    Some(String::from_utf8_lossy(&command.join(&b' ')).into_owned())
}

/// The first few words.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

/// A time, for people.
pub(super) fn spell(time: Duration) -> String {
    match time.as_secs() {
        0..10 if time.subsec_millis() != 0 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
