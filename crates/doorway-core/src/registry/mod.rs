//! Every algorithm by name: what is said of it, and how to build it on any memory.
//!
//! This is the only place that lists them all. `doorway list`, the tables in the README files and the checker's
//! defaults are made from it; tests compare what it says with what the checker sees.
//!
//! To do something with "the algorithm called so", write a [`Visit`]or: it is generic over the [`Entry`], so
//! no `dyn` and no lost bounds are involved.
//!
//! ```
//! use doorway::native::{Native, now};
//! use doorway_core::k_exclusion::KExclusion;
//! use doorway_core::memory::{Pid, Process, Site};
//! use doorway_core::registry::{self, Entry, Sizes, Visit};
//!
//! struct Pass(Sizes);
//! impl Visit for Pass {
//!     type Out = &'static str;
//!     fn visit<E: Entry + 'static>(self) -> &'static str {
//!         let algorithm = E::build(&Site::new(&Native::new()), self.0);
//!         let p = Process::new(Pid::new(0), Native::new());
//!         let Ok(held) = now(algorithm.acquire(&p)) else { return "refused" };
//!         now(algorithm.release(&p, held)).unwrap();
//!         E::INFO.id
//!     }
//! }
//! for info in registry::ALL {
//!     let sizes = info.sizes(None, None).unwrap();
//!     assert_eq!(registry::with(info.id, Pass(sizes)), Some(info.id));
//! }
//! ```

mod info;

pub use info::{Bound, CostModel, Defaults, Fits, Info, Paper, Problem, SizeError, Sizes, Tolerates};

use crate::k_exclusion::KExclusion;
use crate::k_exclusion::anderson_moir_94::{Chain, FastPath};
use crate::memory::{Instruction, Machine, Register, Site};
use crate::mutex::TestAndSetLock;
use crate::mutex::lamport_74::Bakery;
use crate::mutex::yang_anderson_93::TwoProcess;

/// An algorithm that can be built on any complete machine.
pub trait Entry {
    /// What is said of it.
    const INFO: Info;
    /// Its type on a memory.
    type On<M: Machine>: KExclusion<M>;
    /// Builds it. The sizes are those [`Info::sizes`] lets pass.
    fn build<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::On<M>;
}

/// "Do this with the algorithm called so."
pub trait Visit {
    /// What comes of it.
    type Out;
    /// Does it with the algorithm `E`.
    fn visit<E: Entry + 'static>(self) -> Self::Out;
}

/// What is said of the algorithm called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Info> {
    ALL.iter().find(|info| info.id == id)
}

/// Makes the entry types, the list and the look-up from one table.
macro_rules! registry {
    ($($(#[$doc:meta])* $name:ident: $on:ty, |$site:ident, $sizes:ident| $build:expr, $info:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;
            impl Entry for $name {
                const INFO: Info = $info;
                type On<M: Machine> = $on;
                fn build<M: Machine>($site: &Site<'_, M>, $sizes: Sizes) -> $on {
                    $build
                }
            }
        )*
        /// Every algorithm, in the order of the lists.
        pub const ALL: &[Info] = &[$($name::INFO),*];

        /// Visits the algorithm called `id`; `None` if there is none.
        pub fn with<V: Visit>(id: &str, visitor: V) -> Option<V::Out> {
            $(if id == $name::INFO.id {
                return Some(visitor.visit::<$name>());
            })*
            None
        }
    };
}

const ANDERSON_90: Paper = Paper {
    short: "T. Anderson 1990",
    title: "The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors",
    venue: "IEEE Transactions on Parallel and Distributed Systems 1(1)",
};
const LAMPORT_74: Paper = Paper {
    short: "Lamport 1974",
    title: "A New Solution of Dijkstra's Concurrent Programming Problem",
    venue: "Communications of the ACM 17(8)",
};
const YANG_ANDERSON_93: Paper = Paper {
    short: "Yang & Anderson 1993",
    title: "Fast, Scalable Synchronization with Minimal Hardware Support",
    venue: "PODC 1993",
};
const ANDERSON_MOIR_94: Paper = Paper {
    short: "Anderson & Moir 1994",
    title: "Using k-Exclusion to Implement Resilient, Scalable Shared Objects",
    venue: "PODC 1994",
};

const READ_WRITE: &[Instruction] = &[Instruction::Read, Instruction::Write];
const READ_WRITE_ADD: &[Instruction] = &[Instruction::Read, Instruction::Write, Instruction::FetchAdd];

registry! {
    /// [`TestAndSetLock`]
    TestAndSetBit: TestAndSetLock<M>, |site, _sizes| TestAndSetLock::new(site), Info {
        id: "tas",
        title: "the test-and-set lock",
        problem: Problem::MutualExclusion,
        paper: ANDERSON_90,
        figure: "test-and-set",
        instructions: &[Instruction::Write, Instruction::TestAndSet],
        properties: &["mutual-exclusion", "deadlock-free", "someone-enters", "livelock-free", "bounded-exit"],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`Bakery`]
    LamportBakery: Bakery<M>, |site, sizes| Bakery::new(site, sizes.n), Info {
        id: "bakery",
        title: "Lamport's Bakery",
        problem: Problem::MutualExclusion,
        paper: LAMPORT_74,
        figure: "1 of Danek 2010",
        instructions: READ_WRITE,
        properties: &["mutual-exclusion", "deadlock-free", "someone-enters", "livelock-free", "bounded-exit", "starvation-free", "first-come-first-served", "T", "D", "U"],
        fairness: "first come, first served",
        tolerates: Tolerates::None,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::Unbounded)],
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: Some(2) },
    };

    /// [`TwoProcess`]
    YangAndersonTwo: TwoProcess<M>, |site, _sizes| TwoProcess::new(site), Info {
        id: "ya-two",
        title: "Yang and Anderson's two-process mutex",
        problem: Problem::MutualExclusion,
        paper: YANG_ANDERSON_93,
        figure: "1",
        instructions: READ_WRITE,
        properties: &[
            "mutual-exclusion", "deadlock-free", "someone-enters", "livelock-free", "bounded-exit", "starvation-free", "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9",
            "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::CcWriteBack, Bound::AtMost { formula: "11", at: |_, c| if c <= 1 { 5 } else { 11 } }),
            (CostModel::Dsm, Bound::AtMost { formula: "10", at: |_, c| if c <= 1 { 5 } else { 10 } }),
        ],
        fits: Fits::TwoProcesses,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`Chain`]
    AndersonMoirChain: Chain<M>, |site, sizes| Chain::new(site, sizes.n, sizes.k), Info {
        id: "am-chain",
        title: "Anderson and Moir's chain of slots",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "2",
        instructions: READ_WRITE_ADD,
        properties: &["k-exclusion", "deadlock-free", "k-enter-together", "livelock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost { formula: "7(N-k)", at: |s, _| 7 * levels(s) }),
            (CostModel::CcWriteBack, Bound::AtMost {
                formula: "6(N-k); 3(N-k) if c <= k",
                at: |s, c| if c <= s.k { 3 * levels(s) } else { 6 * levels(s) },
            }),
            (CostModel::Dsm, Bound::Unbounded),
        ],
        fits: Fits::Any,
        defaults: Defaults { n: 4, k: 2, passages: None },
    };

    /// [`FastPath`] around a [`Chain`] for `2k` and, as the slow path, a [`Chain`] for `N`.
    AndersonMoirFast: FastPath<M, Chain<M>, Chain<M>>,
    |site, sizes| FastPath::new(
        site,
        sizes.k,
        |block| Chain::new(block, block_inputs(sizes), sizes.k),
        |slow| Chain::new(slow, sizes.n, sizes.k),
    ),
    Info {
        id: "am-fast",
        title: "Anderson and Moir's fast path, with chains as block and slow path",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "4",
        instructions: READ_WRITE_ADD,
        properties: &["k-exclusion", "deadlock-free", "k-enter-together", "livelock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1", "F1", "F2"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost {
                formula: "7k+2 if c <= k, else 7N+2 (the slow path is a chain)",
                at: |s, c| {
                    let block = 7 * levels(Sizes { n: block_inputs(s), k: s.k });
                    if c <= s.k { block + 2 } else { block + 7 * levels(s) + 2 }
                },
            }),
            (CostModel::Dsm, Bound::Unbounded),
        ],
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };
}

/// Slots in a chain.
fn levels(sizes: Sizes) -> u64 {
    sizes.n.saturating_sub(sizes.k) as u64
}

/// How many processes can be in the block behind a fast path at once.
fn block_inputs(sizes: Sizes) -> usize {
    sizes.n.min(2 * sizes.k)
}
