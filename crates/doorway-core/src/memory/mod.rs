//! The vocabulary of the algorithms: what each operation means in each memory.
//!
//! | operation | natively | in the simulator |
//! |---|---|---|
//! | `p.at(3).write(&v, x).await?` | an atomic store | one step, of statement 3 |
//! | `p.at(5).wait_until(&v, ok)` | spin, yield, then sleep | a *turn*, one round of the wait, that fails is a step back to the loop head |
//! | `p.spin_until(\|\| async { … })` | the same, on several variables | the same |
//! | `p.go_round_until(\|\| async { … })` | the same, where turns also write | a step back to the loop head, whatever was written |
//! | `p.on(part)` | nothing | accesses belong to this part |
//! | `p.mark(…)`, `p.shows(…)`, `p.keep(…)`, `p.part(…)` | nothing | positions, private variables, merging of local states |
//! | `p.invokes(op)`, `p.responds(result)` | nothing | an operation of an object begins with the access after `invokes`, and ends with the access before `responds` |
//! | `p.block_begins(&lock).await?` … `p.block_ends(&lock)` | a lock of the memory's own | one step |
//! | `p.at(0).choose(n).await?` | not offered | tries each of `0..n`, in one step with the next access |
//! | `p.at(26).is_dead(&bytes, j).await?`, `try_lock`, `unlock` | a lock of the kernel, which ends with its process | one step; see [`Seats`] |
//! | `p.at(9).sleep(…).await?`, `p.at(21).wake(&v).await?` | sleeps in the kernel; a system call | one step to fall asleep, and one to wake; see [`Sleeps`] |
//! | `memory.make_row(&late, i)` | allocates | nothing: the step is the compare-and-swap that tells others; see [`LateRows`] |
//! | a variable that is declared `private` | an atomic like others | an access is no step of its own, and costs nothing |
//!
//! One `await` is one atomic statement of the paper. The bounds of an algorithm ([`ReadWrite`],
//! [`FetchAdd`], …) are the assumptions of its theorem:
//! `impl<M: ReadWrite> KExclusion<M> for Bakery<M>` *is* the sentence "uses only reads and writes".
//!
//! Read next: [`Memory`], then [`Here`] and [`At`].

mod declare;
pub mod packed;
mod process;
mod seats;
#[cfg(all(target_has_atomic = "64", not(doorway_portable)))]
pub mod spinning;
#[cfg(not(all(target_has_atomic = "64", not(doorway_portable))))]
portable_atomic::cfg_has_atomic_cas! {
    pub mod spinning;
}
mod traits;
mod waiters;
mod word;

pub use crate::within;
pub use declare::{Decl, Domain, Home, Name, Near, Needs, Register, Site, decl};
pub use process::{At, Here, Process};
pub use seats::{Ready, Seats, Sleeps, Woken};
pub use traits::{
    Access, AtomicBlock, BoundedDecrement, Choose, CompareSwap, FetchAdd, FetchAnd, FetchOr, Immediate, Instruction,
    Label, LateRows, Machine, Mark, Memory, Next, ReadWrite, Swap, TestAndSet,
};
pub(crate) use traits::{in_both_forms, in_plain_form};
pub use waiters::{Anybody, Byte, Kept, Nobody, One, Waiters};
pub use word::{Additive, Bits, Field, Pid, Word, fit};
