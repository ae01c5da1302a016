//! Mellor-Crummey and Scott, *Algorithms for Scalable Synchronization on Shared-Memory
//! Multiprocessors*, ACM Transactions on Computer Systems 9(1), 1991.
//!
//! | in the paper | here |
//! |---|---|
//! | the test-and-set lock with exponential backoff | [`BackoffLock`] |
//! | the ticket lock | [`TicketLock`] |
//! | the array-based queue lock of T. Anderson | [`ArrayLock`](super::anderson_90::ArrayLock) |
//! | the list-based queue lock | [`QueueLock`] |
//! | its exit without compare-and-swap | [`SwapQueueLock`] |

mod backoff;
pub mod entries;
mod queue;
mod ticket;

pub use backoff::{BackoffBit, BackoffLock, LONGEST};
pub use queue::{QueueLock, SwapQueueLock};
pub use ticket::{TicketLock, ticket_bits};
