//! Waiting for a slot of a cluster, while listening to the wrapper.
//!
//! A thread waits for the cluster, and rings. If the wait ends otherwise, the lease is given back.

use super::args::Args;
use super::link::{Link, Message};
use super::unit::Unit;
use super::waiting::{Bell, Ending, ends, hears, spell};
use super::{FAILED, NO_WAIT, TIMED_OUT, cannot_begin};
use crate::etcd;
use doorway_etcd::blocking::{Guard, Slots};
use doorway_etcd::{Error, ReleaseError, TryAcquireError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd as _, BorrowedFd};
use std::cell::Cell;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, atomic};
use std::task::Wake as _;
use std::time::{Duration, Instant};

/// A slot of a cluster.
pub(super) struct Held {
    guard: Guard,
    slots: Slots,
    bell: Arc<Bell>,
    is_lost: Arc<atomic::AtomicBool>,
    has_said_so: Cell<bool>,
}

impl Held {
    fn new(slots: Slots, mut guard: Guard, bell: Arc<Bell>) -> Self {
        let is_lost = Arc::new(atomic::AtomicBool::new(false));
        let (rings, lost) = (Arc::clone(&bell), Arc::clone(&is_lost));
        guard.on_lost(move || {
            lost.store(true, atomic::Ordering::SeqCst);
            rings.wake_by_ref();
        });
        Self { guard, slots, bell, is_lost, has_said_so: Cell::new(false) }
    }

    pub(super) fn slot(&self) -> usize {
        self.guard.slot()
    }

    pub(super) fn fence(&self) -> u64 {
        self.guard.fence()
    }

    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Looks at the clock too: after a pause, nothing has rung yet.
    pub(super) fn is_newly_lost(&self) -> bool {
        self.bell.hear();
        let is_lost = self.is_lost.load(atomic::Ordering::SeqCst) || self.guard.is_lost();
        is_lost && !self.has_said_so.replace(true)
    }

    pub(super) fn release(self) -> Option<String> {
        let (slot, said) = (self.slot(), self.has_said_so.get());
        let released = self.guard.release();
        // The process ends: without this, the store would keep its lease for a while.
        let _ = self.slots.close();
        match released {
            Ok(()) => None,
            Err(ReleaseError::Lost) if said => None,
            Err(ReleaseError::Lost) => {
                Some(format!("slot {slot} was lost while the command ran: {}", ReleaseError::Lost))
            }
            Err(error) => Some(format!("slot {slot} cannot be given back: {error}")),
        }
    }
}

/// What the thread says.
enum News {
    Connected(Slots),
    Granted(Guard),
    NoPlace,
    Failed(Error),
}

fn begin(args: &Args, endpoints: &str, bell: &Arc<Bell>) -> Result<Receiver<News>, Ending> {
    let label = args.label.as_ref().map(|label| label.to_string_lossy().into_owned());
    let label = label.unwrap_or_else(|| etcd::words(&args.command));
    let name = args.name.to_string_lossy();
    let builder = etcd::builder(endpoints, &name, Some(args.slots)).map_err(|why| ends(FAILED, why))?;
    let builder = builder.label(label);
    let builder = match args.ttl {
        Some(ttl) => builder.ttl(ttl),
        None => builder,
    };
    let (says, news) = channel();
    let (rings, waits) = (Arc::clone(bell), !args.no_wait);
    let live = move || {
        let say = |news| {
            let _ = says.send(news);
            rings.wake_by_ref();
        };
        let slots = match Slots::with(builder) {
            Ok(slots) => slots,
            Err(error) => return say(News::Failed(error)),
        };
        say(News::Connected(slots.clone()));
        match slots.try_acquire() {
            Ok(guard) => return say(News::Granted(guard)),
            Err(TryAcquireError::NoPlace) if waits => {}
            Err(TryAcquireError::NoPlace) => return say(News::NoPlace),
            Err(TryAcquireError::Failed(error)) => return say(News::Failed(error)),
        }
        say(slots.acquire().map_or_else(News::Failed, News::Granted));
    };
    let thread = std::thread::Builder::new().name("doorway".to_owned()).spawn(live);
    thread.map_err(|error| ends(FAILED, cannot_begin(&error)))?;
    Ok(news)
}

/// Returns a slot when it is this process's turn.
pub(super) fn wait(args: &Args, endpoints: &str, link: &Link) -> Result<Unit, Ending> {
    let bell = Arc::new(Bell::new().map_err(|error| ends(FAILED, cannot_begin(&error)))?);
    let news = begin(args, endpoints, &bell)?;
    let mut slots = None;
    let waited = wait_for(args, link, &bell, &news, &mut slots);
    match (waited, slots) {
        (Ok(guard), Some(slots)) => Ok(Unit::Remote(Held::new(slots, guard, bell))),
        (Err(ending), slots) => {
            if let Some(slots) = slots {
                let _ = slots.close();
            }
            Err(ending)
        }
        (Ok(_), None) => Err(ends(FAILED, "a slot without a cluster".to_owned())),
    }
}

fn wait_for(
    args: &Args,
    link: &Link,
    bell: &Bell,
    news: &Receiver<News>,
    slots: &mut Option<Slots>,
) -> Result<Guard, Ending> {
    let (name, began) = (args.name.display(), Instant::now());
    let deadline = args.timeout.and_then(|timeout| began.checked_add(timeout));
    loop {
        while let Ok(news) = news.try_recv() {
            match news {
                News::Connected(connected) => *slots = Some(connected),
                News::NoPlace => return Err(ends(NO_WAIT, format!("no slot of {name} is free"))),
                News::Failed(error) => return Err(ends(FAILED, advice(&error, args))),
                News::Granted(guard) => {
                    if args.verbose {
                        let waited = spell(began.elapsed());
                        link.tell(&Message::Say(format!("slot {} of {name} after {waited}", guard.slot())));
                    }
                    // If the wrapper is stopped, the command does not start until it continues.
                    link.tell(&Message::Granted);
                    while hears(link)? != Some(Message::Go) {}
                    return Ok(guard);
                }
            }
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            let waited = spell(args.timeout.unwrap_or_default());
            return Err(ends(TIMED_OUT, format!("no slot of {name} became free in {waited}")));
        }
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut ready = [PollFd::new(link, PollFlags::IN), PollFd::new(bell, PollFlags::IN)];
        let _ = poll(&mut ready, left.as_ref());
        let (is_told, rings) = (!ready[0].revents().is_empty(), !ready[1].revents().is_empty());
        if rings {
            bell.hear();
        }
        if is_told {
            hears(link)?;
        }
    }
}

fn advice(error: &Error, args: &Args) -> String {
    match error {
        Error::OtherSlots { found, asked } => {
            format!("{} has {found} slots, not {asked}; give -n {found}, or use another name", args.name.display())
        }
        error => error.to_string(),
    }
}
