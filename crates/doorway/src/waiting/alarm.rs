//! An alarm: the bell of a variable for which one process waits at a time.

#![allow(unsafe_code)]

use super::{Platform, Sequence, Unlocked, contained};
use std::mem::MaybeUninit;
use std::task::Waker;

/// Nothing is set.
const OFF: u32 = 0;
/// A thread sleeps on the state, or is about to.
const THREAD: u32 = 1;
/// The waker of a task is here.
const TASK: u32 = 2;
/// A process is putting a waker here, or taking one away.
const BUSY: u32 = 3;
const KIND: u32 = 3;
/// The step between two numbers. Each time the alarm is set, it gets another number: the state
/// divided by this.
const NUMBER: u32 = 4;

/// The bell of a variable for which [one process](doorway_core::memory::One) waits at a time. The
/// waker of a task is in it, and a thread sleeps on its state. So waiting takes no lock and no
/// allocation.
///
/// # The argument
/// A waiter sets the alarm and then reads the variable. A process changes the variable and then
/// reads the state. All of these are `SeqCst`, so one of the two sees what the other did: either
/// the waiter finds the change, or the process that made the change finds the alarm.
///
/// - *Busy*: only the process that made the state busy touches the waker. It wakes what it takes
///   away. If it is setting the alarm, it reads the variable afterwards. So a process that has
///   changed the variable and finds the state busy has nothing to do.
/// - *A waiter that finds the alarm set* wakes the waiter that set it. The earlier wait is over,
///   because only one process waits at a time. But the process that ended it may not have woken
///   that waiter yet, and will find the new alarm instead.
/// - *A waiter that was woken* checks whether the alarm is still the one that it set. If not, it
///   sets the alarm again.
pub struct Alarm<P: Platform> {
    state: P::Sequence,
    waker: P::Unlocked<MaybeUninit<Waker>>,
}

// SAFETY: only the process that made the state busy accesses the waker, and any thread may use a
// `Waker`.
unsafe impl<P: Platform> Sync for Alarm<P> where P::Sequence: Sync {}

/// A panic leaves it as it was: user code that can panic here runs outside busy states, or is
/// contained.
impl<P: Platform> std::panic::RefUnwindSafe for Alarm<P> {}

impl<P: Platform> std::fmt::Debug for Alarm<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.state.load() & KIND {
            OFF => "off",
            THREAD => "a thread",
            TASK => "a task",
            _ => "busy",
        };
        write!(f, "Alarm({kind})")
    }
}

/// Identifies the alarm that a waiter has set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set(u32);

impl<P: Platform> Default for Alarm<P> {
    fn default() -> Self {
        Self { state: P::Sequence::new(), waker: P::Unlocked::new(MaybeUninit::uninit()) }
    }
}

impl<P: Platform> Alarm<P> {
    /// Rings the alarm: the variable has changed.
    #[inline(always)]
    pub fn ring(&self, platform: &P) {
        if !matches!(self.state.load() & KIND, OFF | BUSY) {
            self.wake(platform);
        }
    }

    #[cold]
    fn wake(&self, platform: &P) {
        loop {
            let state = self.state.load();
            match state & KIND {
                THREAD if self.state.exchange(state, state & !KIND) => return platform.wake_all(&self.state),
                TASK if self.state.exchange(state, state | BUSY) => {
                    let waker = self.take();
                    self.state.store(state & !KIND);
                    return contained(|| waker.wake());
                }
                OFF | BUSY => return,
                _ => {}
            }
        }
    }

    /// Sets the alarm for a thread. The thread then reads the variable. If the variable is
    /// unchanged, the thread [sleeps](Platform::sleep) on the returned word while that has the
    /// returned value.
    pub fn listen(&self, platform: &P) -> (&P::Sequence, u32) {
        loop {
            let state = self.state.load();
            let set = next(state) | THREAD;
            match state & KIND {
                OFF if self.state.exchange(state, set) => break (&self.state, set),
                THREAD if self.state.exchange(state, set) => {
                    platform.wake_all(&self.state);
                    break (&self.state, set);
                }
                TASK if self.state.exchange(state, state | BUSY) => {
                    let waker = self.take();
                    self.state.store(set);
                    contained(|| waker.wake());
                    break (&self.state, set);
                }
                BUSY => platform.lets_others_run(),
                _ => {}
            }
        }
    }

    /// Turns the alarm off after the thread woke up, unless another process has set it.
    pub fn has_listened(&self, heard: u32) {
        self.state.exchange(heard, heard & !KIND);
    }

    /// Sets the alarm for a task, which then reads the variable. Returns `None` if another process
    /// is busy here: the task must try again later.
    pub fn set(&self, platform: &P, new: Waker) -> Option<Set> {
        loop {
            let state = self.state.load();
            if state & KIND == BUSY {
                contained(|| drop(new));
                return None;
            }
            if !self.state.exchange(state, state | BUSY) {
                continue;
            }
            let old = (state & KIND == TASK).then(|| self.take());
            // SAFETY: this process has made the state busy.
            self.waker.with(|waker| unsafe { (*waker).write(new) });
            let set = next(state) | TASK;
            self.state.store(set);
            if let Some(old) = old {
                contained(|| old.wake());
            } else if state & KIND == THREAD {
                platform.wake_all(&self.state);
            }
            return Some(Set(set));
        }
    }

    /// Whether the alarm is still the one that was set.
    #[inline]
    pub fn is_set(&self, Set(set): Set) -> bool {
        self.state.load() == set
    }

    /// Takes the alarm back, if it is still the one that was set.
    #[inline]
    pub fn unset(&self, Set(set): Set) {
        // Nearly always the process that ended the wait has taken it. Then there is nothing to do.
        if self.is_set(Set(set)) {
            self.take_back(set);
        }
    }

    fn take_back(&self, set: u32) {
        if self.state.exchange(set, set | BUSY) {
            let waker = self.take();
            self.state.store(set & !KIND);
            contained(|| drop(waker));
        }
    }

    /// Takes the waker. This process must have made the state busy, and the state before must have
    /// been that of a task.
    fn take(&self) -> Waker {
        // SAFETY: the state of a task says that a waker was written. While the state is busy, no
        // other process accesses it.
        self.waker.with(|waker| unsafe { (*waker).assume_init_read() })
    }
}

/// The state with the next number, and no kind.
fn next(state: u32) -> u32 {
    (state & !KIND).wrapping_add(NUMBER)
}

impl<P: Platform> Drop for Alarm<P> {
    fn drop(&mut self) {
        if self.state.load() & KIND == TASK {
            let waker = self.take();
            contained(|| drop(waker));
        }
    }
}
