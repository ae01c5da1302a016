//! What a holder has.

use crate::errors::ReleaseError;
use crate::slots::Seat;
use doorway_core::k_assignment::leases::Grant;
use std::fmt;
use tokio::task::AbortHandle;

/// A slot that this client holds, until it is dropped or [lost](Self::lost).
///
/// Dropping it gives the slot back in the background. A program that ends right away should
/// [release](Self::release) it instead, or the slot comes back only when the lease ends.
#[must_use = "the slot is given back when the guard is dropped"]
pub struct Guard {
    grant: Grant,
    seat: Option<Seat>,
    /// What waits for its loss.
    watches: Vec<AbortHandle>,
}

impl Guard {
    pub(crate) fn of(seat: Seat) -> Option<Self> {
        let grant = seat.grant()?;
        Some(Self { grant, seat: Some(seat), watches: Vec::new() })
    }

    /// The number of the slot: `0..k`.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.grant.slot
    }

    /// The fence: a number larger than the fence of every earlier holder of any slot of this
    /// cluster. Pass it to the resource that the slot protects. For each slot, let the resource
    /// refuse a fence that is smaller than one it has seen: a holder that was paused does not know
    /// that it has lost its slot.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.grant.fence
    }

    /// Whether the slot is lost, as far as this machine knows: its lease has ended, or it was
    /// broken. This call asks no other machine. `false` promises nothing: the next instruction may
    /// come after a pause.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.seat.as_ref().is_none_or(Seat::is_lost)
    }

    /// Waits until the slot is lost. The holder must stop then.
    ///
    /// This returns before the cluster gives the slot away, unless the task or the machine was
    /// paused. It judges by this machine's clock.
    pub async fn lost(&self) {
        if let Some(seat) = &self.seat {
            seat.lost_apart().await;
        }
    }

    /// Calls this when the slot is lost, in a task of the runtime. Does nothing if the slot is
    /// given back before.
    pub fn on_lost(&mut self, call: impl FnOnce() + Send + 'static) {
        if let Some(seat) = &self.seat {
            let lost = seat.lost_apart();
            let task = async {
                lost.await;
                call();
            };
            self.watches.push(seat.spawn(task));
        }
    }

    fn unwatch(&mut self) {
        self.watches.drain(..).for_each(|watch| watch.abort());
    }

    /// Gives the slot back, and waits until the cluster has it. During an outage, it waits until
    /// the lease has ended.
    ///
    /// # Errors
    /// Returns an error if the slot had been lost before, or if the cluster refuses the request. If
    /// the answer of the cluster is lost, this may return `Ok` although the slot had been lost
    /// before.
    pub async fn release(mut self) -> Result<(), ReleaseError> {
        self.unwatch();
        match self.seat.take() {
            Some(seat) => seat.release().await,
            None => Ok(()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.unwatch();
        if let Some(seat) = self.seat.take() {
            seat.leave_behind();
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Grant { slot, fence } = self.grant;
        f.debug_struct("Guard").field("slot", &slot).field("fence", &fence).finish_non_exhaustive()
    }
}
