//! Danek, *The k-Bakery: Local-Spin k-Exclusion Using Non-Atomic Reads and Writes*, PODC 2010.
//!
//! Lamport's [Bakery](crate::mutex::lamport_74::Bakery) for `k` places, without a word that anybody but its reader spins on, from reads and writes alone: for study, and for machines
//! that have nothing stronger.
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

/// Whom a k-Bakery lets in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// k-first come, first served: who enters overtakes fewer than `k` that had left their doorways before it came.
    KFirstCome,
    /// The same, and first in, first enabled: whoever is overtaken can enter by its own steps alone from then on.
    FirstEnabled,
}

/// What a process says of itself to another: the ticket it competes with, or that it does not compete, which is larger than every ticket.
///
/// ```
/// use doorway_core::k_exclusion::danek_10::Wants;
/// assert!(Wants::ticket(7) < Wants::NOTHING);
/// assert_eq!(format!("{:?} {:?}", Wants::ticket(7), Wants::NOTHING), "7 ∞");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wants(u64);

impl Wants {
    /// It does not compete.
    pub const NOTHING: Self = Self(u64::MAX);

    /// It competes with this ticket.
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

/// No larger ticket fits its word, and tickets never become smaller: the process has withdrawn, and so will everybody who comes. Build a new k-Bakery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoTicketLeft;

impl fmt::Display for NoTicketLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no larger ticket fits one word, and tickets never become smaller; build a new k-bakery")
    }
}
impl core::error::Error for NoTicketLeft {}

/// The ticket after `t`; the word behind the last one means [`Wants::NOTHING`].
fn after(t: u64) -> Option<u64> {
    t.checked_add(1).filter(|&next| Wants::ticket(next) != Wants::NOTHING)
}

/// A set of processes as bits, for properties to look at; it leaves out those beyond the 64th.
fn bits(set: &[usize]) -> u64 {
    set.iter().filter_map(|&i| 1u64.checked_shl(i as u32)).sum()
}

/// All of `n` processes but `me`.
fn others(n: usize, me: usize) -> impl Iterator<Item = usize> {
    (0..n).filter(move |&i| i != me)
}

/// `set` without those that are `gone`.
fn without(set: &[usize], gone: &[usize]) -> Vec<usize> {
    set.iter().copied().filter(|i| !gone.contains(i)).collect()
}
