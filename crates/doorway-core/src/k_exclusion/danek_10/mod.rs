//! Danek, *The k-Bakery: Local-Spin k-Exclusion Using Non-Atomic Reads and Writes*, PODC 2010.
//!
//! Lamport's [Bakery](crate::mutex::lamport_74::Bakery) for `k` places, from reads and writes
//! alone. Each process spins only on words that are local to it. For study, and for machines that
//! have nothing stronger.
//!
//! | in the paper | here | id |
//! |---|---|---|
//! | Figure 1, the Bakery | [`lamport_74`](crate::mutex::lamport_74) | `bakery` |
//! | Figure 2, unshaded | [`KBakery`] with [`Order::KFirstCome`] | `kbakery` |
//! | Figure 2, shaded | [`KBakery`] with [`Order::FirstEnabled`] | `kbakery-fife` |
//! | Figure 3 | [`NonatomicKBakery`], with monotone tickets | `kbakery-nonatomic` |
//! | Figure 3 as printed, **which is wrong** | [`NonatomicKBakery::as_printed`], with safe tickets | `kbakery-nonatomic-as-printed` |

mod atomic;
pub mod entries;
mod nonatomic;

pub use atomic::KBakery;
pub use nonatomic::NonatomicKBakery;

use alloc::vec::Vec;
use core::fmt;

/// The order in which a k-Bakery lets processes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// k-first come, first served: a process that enters overtakes fewer than `k` processes that
    /// had left their doorways before it came.
    KFirstCome,
    /// The same, and first in, first enabled: a process that is overtaken can enter by its own
    /// steps alone from then on.
    FirstEnabled,
}

/// What a process tells another one about itself: the ticket it competes with, or that it does not
/// compete. The latter compares larger than every ticket.
///
/// ```
/// use doorway_core::k_exclusion::danek_10::Wants;
/// assert!(Wants::ticket(7) < Wants::NOTHING);
/// assert_eq!(format!("{:?} {:?}", Wants::ticket(7), Wants::NOTHING), "7 ∞");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wants(u64);

impl Wants {
    /// The process does not compete.
    pub const NOTHING: Self = Self(u64::MAX);

    /// The process competes with this ticket.
    #[must_use]
    pub const fn ticket(t: u64) -> Self {
        Self(t)
    }
}

impl fmt::Debug for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NOTHING { f.write_str("∞") } else { fmt::Debug::fmt(&self.0, f) }
    }
}

impl crate::memory::Word for Wants {
    type Waiters = crate::memory::Anybody;
    const WHOLE: bool = true;
    #[inline(always)]
    fn pack(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

/// No larger ticket fits its word, and tickets never become smaller. The process has withdrawn, and
/// every later process will. Build a new k-Bakery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoTicketLeft;

impl fmt::Display for NoTicketLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no larger ticket fits one word, and tickets never become smaller; build a new k-bakery")
    }
}
impl core::error::Error for NoTicketLeft {}

/// The ticket after `t`, if there is one: the largest word means [`Wants::NOTHING`].
fn after(t: u64) -> Option<u64> {
    t.checked_add(1).filter(|&next| Wants::ticket(next) != Wants::NOTHING)
}

/// A set of processes as bits, for properties to look at. It omits processes beyond the 64th.
fn bits(set: &[usize]) -> u64 {
    set.iter().filter_map(|&i| 1u64.checked_shl(i as u32)).sum()
}

/// All of `n` processes except `me`.
fn others(n: usize, me: usize) -> impl Iterator<Item = usize> {
    (0..n).filter(move |&i| i != me)
}

/// `set` without the processes that are `gone`.
fn without(set: &[usize], gone: &[usize]) -> Vec<usize> {
    set.iter().copied().filter(|i| !gone.contains(i)).collect()
}
