//! The seats of one handle, and the line of threads and tasks that wait for one.
//!
//! A handle's first seat is its *home*: threads that need not wait hold their slots by it. Each
//! thread or task that waits needs a seat of its own meanwhile. A handle has a limited number of
//! them, and takes each when it is first needed. If all are in use, threads and tasks wait here, in
//! order, and each seat that comes back goes to the first of them.

use super::super::Error;
use super::mapping::Mapping;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// A thread or task that waits for a seat.
#[derive(Default, Debug)]
struct Ticket {
    state: Mutex<State>,
    served: Condvar,
}

#[derive(Default, Debug)]
struct State {
    seat: Option<usize>,
    gone: bool,
    waker: Option<Waker>,
}

impl Ticket {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives it a seat, and takes its waker, if it has one. Returns `None` if it has gone.
    fn serve(&self, seat: usize) -> Option<Option<Waker>> {
        let waker = self.with(|state| {
            if state.gone {
                return None;
            }
            state.seat = Some(seat);
            Some(state.waker.take())
        });
        self.served.notify_one();
        waker
    }

    /// Ends the wait. Returns what it leaves behind.
    fn goes(&self) -> Gone {
        self.with(|state| Gone {
            had_gone: std::mem::replace(&mut state.gone, true),
            seat: state.seat.take(),
            waker: state.waker.take(),
        })
    }
}

/// What a task leaves behind when it stops waiting.
struct Gone {
    /// Whether it had already gone, with its seat.
    had_gone: bool,
    /// The seat that it got at the last moment.
    seat: Option<usize>,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Inner {
    free: Vec<usize>,
    /// How many seats the handle has, or is about to take.
    taken: usize,
    limit: usize,
    line: VecDeque<Arc<Ticket>>,
    /// About how many in the line have gone. At most half of them, so a line always has a live
    /// waiter.
    gone: usize,
}

impl Inner {
    /// Removes the waiters that have gone, once they are more than half of the line. To do so at
    /// each departure would cost time proportional to the line.
    fn sweep(&mut self) {
        if 2 * self.gone > self.line.len() {
            self.line.retain(|ticket| ticket.with(|state| !state.gone));
            self.gone = 0;
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Pool {
    inner: Mutex<Inner>,
    mapping: Arc<Mapping>,
}

/// What a caller of [`Pool::begin`] must do next.
enum Step {
    Have(usize),
    TakeNew,
    Wait(Arc<Ticket>),
}

impl Pool {
    pub(super) fn new(mapping: &Arc<Mapping>, limit: usize) -> Self {
        let inner = Inner { free: Vec::new(), taken: 0, limit: limit.max(1), line: VecDeque::new(), gone: 0 };
        Self { inner: Mutex::new(inner), mapping: Arc::clone(mapping) }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = !inner.line.is_empty();
        let done = change(&mut inner);
        let waits = !inner.line.is_empty();
        if waits != waited {
            self.mapping.seats_are_awaited(waits);
        }
        done
    }

    /// Adds a seat that no thread or task uses.
    pub(super) fn add(&self, seat: usize) {
        self.with(|inner| {
            inner.taken += 1;
            inner.free.push(seat);
        });
    }

    fn begin(&self) -> Step {
        self.with(|inner| {
            if inner.line.is_empty() {
                if let Some(seat) = inner.free.pop() {
                    return Step::Have(seat);
                }
                if inner.taken < inner.limit {
                    inner.taken += 1;
                    return Step::TakeNew;
                }
            }
            let ticket = Arc::<Ticket>::default();
            inner.line.push_back(Arc::clone(&ticket));
            Step::Wait(ticket)
        })
    }

    /// The file has no seat left, so none was taken. The caller gets in line if there are seats to
    /// wait for.
    fn not_taken(&self, error: Error) -> Result<Step, Error> {
        self.with(|inner| {
            inner.taken -= 1;
            if inner.taken == 0 || !matches!(error, Error::NoSeats { .. }) {
                return Err(error);
            }
            if inner.line.is_empty()
                && let Some(seat) = inner.free.pop()
            {
                return Ok(Step::Have(seat));
            }
            let ticket = Arc::<Ticket>::default();
            inner.line.push_back(Arc::clone(&ticket));
            Ok(Step::Wait(ticket))
        })
    }

    fn step(&self, take: impl FnOnce() -> Result<usize, Error>) -> Result<Step, Error> {
        match self.begin() {
            Step::TakeNew => match take() {
                Ok(seat) => Ok(Step::Have(seat)),
                Err(error) => self.not_taken(error),
            },
            step => Ok(step),
        }
    }

    /// Takes a seat to wait with, in order. Returns `None` if the deadline comes first.
    pub(super) fn take(
        &self,
        deadline: Option<Instant>,
        take: impl FnOnce() -> Result<usize, Error>,
    ) -> Result<Option<usize>, Error> {
        let ticket = match self.step(take)? {
            Step::Have(seat) => return Ok(Some(seat)),
            Step::TakeNew => unreachable!("it was taken, or was not"),
            Step::Wait(ticket) => ticket,
        };
        let mut state = ticket.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.seat.is_none() {
            let Some(deadline) = deadline else {
                state = ticket.served.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.gone = true;
                break;
            }
            state = ticket.served.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let seat = state.seat.take();
        drop(state);
        if seat.is_none() {
            self.one_has_gone();
        }
        Ok(seat)
    }

    /// [`take`](Self::take) for a task.
    pub(super) async fn take_async(&self, take: impl FnOnce() -> Result<usize, Error>) -> Result<usize, Error> {
        match self.step(take)? {
            Step::Have(seat) => Ok(seat),
            Step::TakeNew => unreachable!("it was taken, or was not"),
            Step::Wait(ticket) => Ok(Waits { pool: self, ticket }.await),
        }
    }

    /// Gives a seat back. It goes to the first waiter in line.
    pub(super) fn give_back(&self, seat: usize) {
        let waker = self.with(|inner| {
            while let Some(first) = inner.line.pop_front() {
                if let Some(waker) = first.serve(seat) {
                    inner.sweep();
                    return waker;
                }
                inner.gone = inner.gone.saturating_sub(1);
            }
            inner.free.push(seat);
            None
        });
        // A waker is user code: it may drop a task that waits here. So it runs outside the lock.
        if let Some(waker) = waker {
            crate::waiting::contained(|| waker.wake());
        }
    }

    /// Records that a waiter in line has gone.
    fn one_has_gone(&self) {
        self.with(|inner| {
            inner.gone += 1;
            inner.sweep();
        });
    }
}

/// A task in line for a seat.
struct Waits<'a> {
    pool: &'a Pool,
    ticket: Arc<Ticket>,
}

impl Future for Waits<'_> {
    type Output = usize;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<usize> {
        let waker = context.waker().clone();
        let (poll, unused) = self.ticket.with(|state| match state.seat.take() {
            Some(seat) => {
                state.gone = true;
                (Poll::Ready(seat), Some(waker))
            }
            None => (Poll::Pending, state.waker.replace(waker)),
        });
        // A waker's destructor is user code, and runs outside the lock.
        crate::waiting::contained(|| drop(unused));
        poll
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if !self.pool.mapping.is_ours() {
            return; // in a forked child, a thread that no longer exists may hold a lock
        }
        let Gone { had_gone, seat, waker } = self.ticket.goes();
        match seat {
            Some(seat) => self.pool.give_back(seat),
            None if had_gone => {}
            None => self.pool.one_has_gone(),
        }
        crate::waiting::contained(|| drop(waker));
    }
}
