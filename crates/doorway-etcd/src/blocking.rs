//! The same for programs without tasks: every call blocks its thread.
//!
//! A task must not block, and gets the error [`Error::InATask`]: use [`crate::Slots`] there. A
//! thread of `tokio::task::spawn_blocking` may use these slots.
//!
//! ```no_run
//! use doorway_etcd::blocking::Slots;
//! let gpus = Slots::connect(["http://10.0.0.1:2379"], "gpus", 4)?;
//! let mine = gpus.acquire()?;
//! println!("GPU {}, with fence {}", mine.slot(), mine.fence());
//! mine.release()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::errors::{Error, ReleaseError, TimeoutError, TryAcquireError};
use crate::status::{Known, Status};
use crate::{Builder, Guard as Task, Slots as Tasks};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::task::coop;

/// Slots between machines, for threads.
#[derive(Clone, Debug)]
pub struct Slots {
    /// First, so that it is dropped before the runtime.
    slots: Tasks,
    runtime: Arc<Own>,
}

/// A runtime with one thread, which keeps the lease alive and watches.
#[derive(Debug)]
struct Own(Option<Runtime>);

impl Own {
    fn block_on<T: Send>(&self, future: impl Future<Output = T> + Send) -> Result<T, Error> {
        let Some(runtime) = &self.0 else { return Err(Error::InATask) };
        if Handle::try_current().is_err() {
            return Ok(runtime.block_on(future));
        }
        if is_a_task() {
            return Err(Error::InATask);
        }
        // A thread that belongs to another runtime. Whether it may enter this one, only a panic
        // would tell; a thread of our own may.
        let done = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
        Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// Whether a task calls, and not a thread of `spawn_blocking`. Only tasks have a budget: after this
/// many steps it is used up. What was taken of it is given back.
fn is_a_task() -> bool {
    const MORE_THAN_ANY: usize = 256;
    let (mut taken, mut context) = (Vec::new(), Context::from_waker(Waker::noop()));
    let has_a_budget = (0..MORE_THAN_ANY).any(|_| match coop::poll_proceed(&mut context) {
        Poll::Ready(one) => {
            taken.push(one);
            false
        }
        Poll::Pending => true,
    });
    // The last one first: each restores what there was before it.
    while taken.pop().is_some() {}
    has_a_budget
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            if Handle::try_current().is_ok() {
                return runtime.shutdown_background();
            }
            // The lease is being given back.
            runtime.shutdown_timeout(Duration::from_millis(500));
        }
    }
}

/// A slot that this process holds, until it is dropped or lost.
///
/// Dropping it waits, for a second at most, until the cluster has the slot back.
#[derive(Debug)]
#[must_use = "the slot is given back when the guard is dropped"]
pub struct Guard {
    guard: Option<Task>,
    slot: usize,
    fence: u64,
    runtime: Arc<Own>,
}

impl Slots {
    /// Connects to the cluster, for `slots` slots of this name.
    ///
    /// # Errors
    /// The same as for [`Builder::connect`].
    pub fn connect<E: AsRef<str>>(
        endpoints: impl IntoIterator<Item = E>,
        name: impl Into<String>,
        slots: usize,
    ) -> Result<Self, Error> {
        Self::with(Tasks::builder(endpoints, name, slots))
    }

    /// Connects with options.
    ///
    /// # Errors
    /// The same as for [`Builder::connect`]. It also returns an error if a task calls it.
    pub fn with(builder: Builder) -> Result<Self, Error> {
        let made = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = made.map_err(|error| Error::Refused(format!("no thread: {error}")))?;
        let runtime = Arc::new(Own(Some(runtime)));
        let slots = runtime.block_on(builder.connect())??;
        Ok(Self { slots, runtime })
    }

    fn guard(&self, guard: Task) -> Guard {
        let (slot, fence) = (guard.slot(), guard.fence());
        Guard { guard: Some(guard), slot, fence, runtime: Arc::clone(&self.runtime) }
    }

    /// Waits for a slot.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request.
    pub fn acquire(&self) -> Result<Guard, Error> {
        Ok(self.guard(self.runtime.block_on(self.slots.acquire())??))
    }

    /// Takes a slot if one is free and no client waits.
    ///
    /// # Errors
    /// Returns an error if there is none, or if the cluster refuses the request.
    pub fn try_acquire(&self) -> Result<Guard, TryAcquireError> {
        let tried = self.runtime.block_on(self.slots.try_acquire()).map_err(TryAcquireError::Failed)?;
        Ok(self.guard(tried?))
    }

    /// Waits for a slot, but no longer than `timeout`.
    ///
    /// # Errors
    /// Returns an error if the time is over, or if the cluster refuses the request.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Guard, TimeoutError> {
        let waited = async { self.slots.acquire_timeout(timeout).await };
        Ok(self.guard(self.runtime.block_on(waited).map_err(TimeoutError::Failed)??))
    }

    /// The number of slots.
    #[must_use]
    pub fn places(&self) -> usize {
        self.slots.places()
    }

    /// The time to live that the cluster has granted. It is at least the time that was asked for.
    ///
    /// # Errors
    /// Returns an error if a task calls it.
    pub fn ttl(&self) -> Result<Duration, Error> {
        self.runtime.block_on(self.slots.ttl())
    }

    /// The holders and the waiters.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request.
    pub fn status(&self) -> Result<Status, Error> {
        self.runtime.block_on(self.slots.status())?
    }

    /// Takes a slot away from its holder.
    ///
    /// # Errors
    /// Returns an error if there is no such slot, or if the cluster refuses the request.
    pub fn break_slot(&self, slot: usize) -> Result<Option<Known>, Error> {
        self.runtime.block_on(self.slots.break_slot(slot))?
    }

    /// The same, but only if the holder still has this fence.
    ///
    /// # Errors
    /// The same as for [`break_slot`](Self::break_slot).
    pub fn break_holder(&self, slot: usize, fence: u64) -> Result<Option<Known>, Error> {
        self.runtime.block_on(self.slots.break_holder(slot, fence))?
    }

    /// Gives everything back at once.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request.
    pub fn close(self) -> Result<(), Error> {
        let Self { slots, runtime } = self;
        runtime.block_on(slots.close())?
    }
}

impl Guard {
    /// The number of the slot: `0..k`.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// The fence: a number larger than the fence of every earlier holder.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Whether the slot is lost, as far as this machine knows.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.guard.as_ref().is_none_or(Task::is_lost)
    }

    /// Waits until the slot is lost, but no longer than `timeout`. Returns whether the slot is
    /// lost.
    ///
    /// # Errors
    /// Returns an error if a task calls it.
    pub fn wait_until_lost(&self, timeout: Duration) -> Result<bool, Error> {
        let Some(guard) = &self.guard else { return Ok(true) };
        let lost = async { tokio::time::timeout(timeout, guard.lost()).await.is_ok() };
        self.runtime.block_on(lost)
    }

    /// Calls this when the slot is lost, in a thread of its own. Does nothing if the slot is given
    /// back before.
    pub fn on_lost(&mut self, call: impl FnOnce() + Send + 'static) {
        if let Some(guard) = &mut self.guard {
            guard.on_lost(call);
        }
    }

    /// Gives the slot back.
    ///
    /// # Errors
    /// Returns an error if it was lost before.
    pub fn release(mut self) -> Result<(), ReleaseError> {
        match self.guard.take() {
            Some(guard) => self.runtime.block_on(guard.release()).map_err(ReleaseError::Failed)?,
            None => Ok(()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(guard) = self.guard.take() else { return };
        let released = async { tokio::time::timeout(Duration::from_secs(1), guard.release()).await };
        // In a task, the future is dropped in the runtime, and settles in the background.
        let _ = self.runtime.block_on(released);
    }
}
