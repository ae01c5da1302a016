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
pub mod objects;

pub use info::{Bound, CostModel, Defaults, Fits, Info, Paper, Problem, Second, SizeError, Sizes, Tolerates};
pub use objects::OBJECTS;

use crate::k_assignment::anderson_moir_94::Renaming;
use crate::k_assignment::names::{BitNames, FlagNames};
use crate::k_assignment::{Slots, Unfair};
use crate::k_exclusion::anderson_moir_94::{
    Chain, DsmSlot, DsmUnboundedSlot, FastPath, NestedFastPaths, Queue, Stage, Tree, bounds, space,
};
use crate::k_exclusion::danek_10::{KBakery, NonatomicKBakery, Order};
use crate::k_exclusion::dolev_gafni_shavit_88::{self, Dgs, DgsAsPrinted, DgsUnfair};
use crate::k_exclusion::turnstile::{self, Limits, Turnstile};
use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{Instruction, Machine, Register, Site};
use crate::mutex::TestAndSetLock;
use crate::mutex::anderson_90::{self, ArrayLock};
use crate::mutex::kessels_82;
use crate::mutex::lamport_74::Bakery;
use crate::mutex::lamport_87::FastMutex;
use crate::mutex::mellor_crummey_scott_91::{BackoffLock, QueueLock, SwapQueueLock, TicketLock};
use crate::mutex::peterson_81;
use crate::mutex::peterson_fischer_77;
use crate::mutex::yang_anderson_93::{self, Affine, Calls, Combining, TwoProcess, map_of};
use crate::mutex::{ArbitrationTree, levels as tree_levels, nodes as tree_nodes, spins as tree_spins};
use crate::resilient::in_words::{self, ResilientCalls};
use crate::resilient::{MOST_NAMES, Pool};

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

/// An algorithm whose waiting processes can give up.
pub trait AbortableEntry: Entry {
    /// Its type on a memory.
    type Gives<M: Machine>: Abortable<M>;
    /// Builds it.
    fn build_abortable<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::Gives<M>;
}

/// "Do this with the algorithm called so", if one can give up there.
pub trait VisitAbortable {
    /// What comes of it.
    type Out;
    /// Does it with the algorithm `E`.
    fn visit<E: AbortableEntry + 'static>(self) -> Self::Out;
}

macro_rules! abortable {
    ($($name:ident)*) => {
        $(impl AbortableEntry for $name {
            type Gives<M: Machine> = <Self as Entry>::On<M>;
            fn build_abortable<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::Gives<M> {
                Self::build(site, sizes)
            }
        })*

        /// Visits the algorithm called `id`; `None` if there is none, or if nobody can give up there.
        pub fn with_abortable<V: VisitAbortable>(id: &str, visitor: V) -> Option<V::Out> {
            $(if id == $name::INFO.id {
                return Some(visitor.visit::<$name>());
            })*
            None
        }

        /// Whether waiting processes can give up in the algorithm called `id`.
        #[must_use]
        pub fn can_give_up(id: &str) -> bool {
            [$($name::INFO.id),*].contains(&id) || objects::can_give_up(id)
        }
    };
}

abortable!(FairTurnstile TurnstileMany TurnstileUnfair TurnstileSlots TurnstileBits);

/// What is said of the algorithm or object called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Info> {
    ALL.iter().chain(OBJECTS).find(|info| info.id == id)
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
const BLELLOCH_CHENG_GIBBONS_01: Paper =
    Paper { short: "Blelloch, Cheng & Gibbons 2001", title: "Room Synchronizations", venue: "SPAA 2001" };
const DOORWAY: Paper = Paper { short: "doorway", title: "doorway", venue: "this project" };
const KESSELS_82: Paper = Paper {
    short: "Kessels 1982",
    title: "Arbitration Without Common Modifiable Variables",
    venue: "Acta Informatica 17(2)",
};
const LAMPORT_74: Paper = Paper {
    short: "Lamport 1974",
    title: "A New Solution of Dijkstra's Concurrent Programming Problem",
    venue: "Communications of the ACM 17(8)",
};
const LAMPORT_87: Paper = Paper {
    short: "Lamport 1987",
    title: "A Fast Mutual Exclusion Algorithm",
    venue: "ACM Transactions on Computer Systems 5(1)",
};
const MELLOR_CRUMMEY_SCOTT_91: Paper = Paper {
    short: "Mellor-Crummey & Scott 1991",
    title: "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors",
    venue: "ACM Transactions on Computer Systems 9(1)",
};
const PETERSON_81: Paper = Paper {
    short: "Peterson 1981",
    title: "Myths about the Mutual Exclusion Problem",
    venue: "Information Processing Letters 12(3)",
};
const PETERSON_FISCHER_77: Paper = Paper {
    short: "Peterson & Fischer 1977",
    title: "Economical Solutions for the Critical Section Problem in a Distributed System",
    venue: "STOC 1977",
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

const DANEK_10: Paper = Paper {
    short: "Danek 2010",
    title: "The k-Bakery: Local-Spin k-Exclusion Using Non-Atomic Reads and Writes",
    venue: "PODC 2010",
};

const DOLEV_GAFNI_SHAVIT_88: Paper = Paper {
    short: "Dolev, Gafni & Shavit 1988",
    title: "Toward a Non-Atomic Era: l-Exclusion as a Test Case",
    venue: "STOC 1988",
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
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit"],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |_, _| 1,
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
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "first-come-first-served", "T", "D", "U"],
        fairness: "first come, first served",
        tolerates: Tolerates::None,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| 2 * s.n as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: Some(2) },
    };

    /// [`BackoffLock`]
    TestAndSetBackoff: BackoffLock<M>, |site, sizes| BackoffLock::new(site, sizes.n), Info {
        id: "tas-backoff",
        title: "the test-and-set lock with exponential backoff",
        problem: Problem::MutualExclusion,
        paper: MELLOR_CRUMMEY_SCOTT_91,
        figure: "test-and-set with backoff",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::TestAndSet],
        properties: &[
            "mutual-exclusion",
            "never-stuck",
            "quiet-waits",
            "someone-enters",
            "deadlock-free",
            "bounded-exit",
            "T",
            "D",
        ],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| 1 + 2 * s.n as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`TicketLock`]
    MellorCrummeyScottTicket: TicketLock<M>, |site, sizes| TicketLock::new(site, sizes.n), Info {
        id: "ticket",
        title: "the ticket lock",
        problem: Problem::MutualExclusion,
        paper: MELLOR_CRUMMEY_SCOTT_91,
        figure: "ticket lock",
        instructions: READ_WRITE_ADD,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "first-come-first-served", "C", "U"],
        fairness: "first come, first served",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "c+2", at: |_, c| c as u64 + 2 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |_, _| 2,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`ArrayLock`]
    AndersonArray: ArrayLock<M>, |site, sizes| ArrayLock::new(site, sizes.n), Info {
        id: "anderson-array",
        title: "T. Anderson's queue lock in an array",
        problem: Problem::MutualExclusion,
        paper: ANDERSON_90,
        figure: "array queue",
        instructions: READ_WRITE_ADD,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "first-come-first-served", "O", "P"],
        fairness: "first come, first served",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "5", at: |_, _| 5 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| 1 + anderson_90::slots(s.n) as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`QueueLock`]
    MellorCrummeyScottQueue: QueueLock<M>, |site, sizes| QueueLock::new(site, sizes.n), Info {
        id: "mcs",
        title: "Mellor-Crummey and Scott's queue lock",
        problem: Problem::MutualExclusion,
        paper: MELLOR_CRUMMEY_SCOTT_91,
        figure: "list-based queue lock",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::Swap, Instruction::CompareSwap],
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "starvation-free", "first-come-first-served", "E", "H", "N"],
        fairness: "first come, first served",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "10", at: |_, _| 10 }), (CostModel::Dsm, Bound::AtMost { formula: "4", at: |_, c| if c <= 1 { 2 } else { 4 } })],
        orders: None,
        words: |s, _| 1 + 2 * s.n as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`SwapQueueLock`]
    MellorCrummeyScottSwap: SwapQueueLock<M>, |site, sizes| SwapQueueLock::new(site, sizes.n), Info {
        id: "mcs-swap",
        title: "the same without compare-and-swap, where a process can be passed for ever",
        problem: Problem::MutualExclusion,
        paper: MELLOR_CRUMMEY_SCOTT_91,
        figure: "the same, exit without compare-and-swap",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::Swap],
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "H", "N"],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "11", at: |_, _| 11 }), (CostModel::Dsm, Bound::AtMost { formula: "5", at: |_, c| if c <= 1 { 2 } else { 5 } })],
        orders: None,
        words: |s, _| 1 + 2 * s.n as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`FastMutex`]
    LamportFast: FastMutex<M>, |site, sizes| FastMutex::new(site, sizes.n), Info {
        id: "lamport-fast",
        title: "Lamport's fast mutex",
        problem: Problem::MutualExclusion,
        paper: LAMPORT_87,
        figure: "Algorithm 2",
        instructions: READ_WRITE,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "Y", "B", "X"],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| 2 + s.n as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`TwoProcess`](peterson_fischer_77::TwoProcess)
    PetersonFischer: peterson_fischer_77::TwoProcess<M>, |site, _sizes| peterson_fischer_77::TwoProcess::new(site), Info {
        id: "peterson-fischer",
        title: "Peterson and Fischer's mutex for two processes, reconstructed",
        problem: Problem::MutualExclusion,
        paper: PETERSON_FISCHER_77,
        figure: "two processes",
        instructions: READ_WRITE,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "Q", "G"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "8", at: |_, _| 8 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |_, _| 2,
        fits: Fits::TwoProcesses,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`ArbitrationTree`] of [Peterson's](peterson_81::TwoSides)
    PetersonTree: ArbitrationTree<M, peterson_81::TwoSides<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, peterson_81::TwoSides::between), Info {
        id: "peterson-tree",
        title: "an arbitration tree of Peterson's mutexes",
        problem: Problem::MutualExclusion,
        paper: PETERSON_81,
        figure: "two processes, in a tree",
        instructions: READ_WRITE,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "S", "Q", "G", "X"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost { formula: "7 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 4 } else { 7 } }),
            (CostModel::Dsm, Bound::Unbounded),
        ],
        orders: None,
        words: |s, _| 3 * tree_nodes(s.n) as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 4, k: 1, passages: None },
    };

    /// [`ArbitrationTree`] of [Kessels'](kessels_82::TwoSides)
    KesselsTree: ArbitrationTree<M, kessels_82::TwoSides<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, kessels_82::TwoSides::between), Info {
        id: "kessels-tree",
        title: "Kessels' arbitration tree",
        problem: Problem::MutualExclusion,
        paper: KESSELS_82,
        figure: "two processes, and the tree",
        instructions: READ_WRITE,
        properties: &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "S", "Q", "G", "X"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost { formula: "8 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 5 } else { 8 } }),
            (CostModel::Dsm, Bound::Unbounded),
        ],
        orders: None,
        words: |s, _| 4 * tree_nodes(s.n) as u64,
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
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
            "mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9",
            "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::CcWriteBack, Bound::AtMost { formula: "11", at: |_, c| if c <= 1 { 5 } else { 11 } }),
            (CostModel::Dsm, Bound::AtMost { formula: "10", at: |_, c| if c <= 1 { 5 } else { 10 } }),
        ],
        orders: None,
        words: |_, _| 5,
        fits: Fits::TwoProcesses,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`ArbitrationTree`] of [`TwoProcess`]es
    YangAndersonTree: ArbitrationTree<M, TwoProcess<M>>, |site, sizes| ArbitrationTree::new(site, sizes.n, TwoProcess::between), Info {
        id: "ya-tree",
        title: "Yang and Anderson's arbitration tree",
        problem: Problem::MutualExclusion,
        paper: YANG_ANDERSON_93,
        figure: "1, Section 3",
        instructions: READ_WRITE,
        properties: &[
            "mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "S", "I0", "I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8",
            "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::CcWriteBack, Bound::AtMost { formula: "11 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 5 } else { 11 } }),
            (CostModel::Dsm, Bound::AtMost { formula: "10 ceil(log2 N)", at: |s, c| height(s) * if c <= 1 { 5 } else { 10 } }),
        ],
        orders: None,
        words: |s, _| tree_words(s),
        fits: Fits::OneInside,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`Combining`] of affine maps modulo 5
    YangAndersonCombining: Calls<M, Affine<5>>, |site, sizes| Calls::new(Combining::new(site, sizes.n, 0), map_of), Info {
        id: "ya-combining",
        title: "Software combining over Yang and Anderson's arbitration tree",
        problem: Problem::FetchAndOp,
        paper: YANG_ANDERSON_93,
        figure: "none, Section 6.2",
        instructions: READ_WRITE,
        properties: &["never-stuck", "k-enter-together", "deadlock-free", "starvation-free", "linearizable", "C1", "C2"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::Order("O(log N)")),
            (CostModel::Dsm, Bound::AtMost { formula: "15 ceil(log2 N)+2", at: |s, c| height(s) * if c <= 1 { 7 } else { 15 } + 2 }),
        ],
        orders: None,
        words: |s, _| tree_words(s) + 3 * s.n as u64 * height(s) + 1,
        fits: Fits::AllInside,
        defaults: Defaults { n: 2, k: 2, passages: None },
    };

    /// [`FastPath`](yang_anderson_93::FastPath) around a tree of [`TwoProcess`]es
    YangAndersonFast: yang_anderson_93::FastPath<M, TwoProcess<M>>, |site, sizes| yang_anderson_93::FastPath::new(site, sizes.n, TwoProcess::between), Info {
        id: "ya-fast",
        title: "Yang and Anderson's arbitration tree with a fast path",
        problem: Problem::MutualExclusion,
        paper: YANG_ANDERSON_93,
        figure: "4",
        instructions: READ_WRITE,
        properties: &[
            "mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", "starvation-free", "F1", "F2", "F3", "F4", "F5", "S", "I0", "I1", "I2", "I3",
            "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "L0", "L1", "L2", "L3"],
        fairness: "starvation-free",
        tolerates: Tolerates::None,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::Order("O(N)")),
            (CostModel::Dsm, Bound::AtMost {
                formula: "12 alone on the open path, else 10 ceil(log2 N)+max(N,3)+14",
                at: |s, c| if c <= 1 { 12.max(5 * height(s) + s.n as u64 + 10) } else { 10 * height(s) + 14 + 3.max(s.n as u64) },
            }),
        ],
        orders: None,
        words: |s, _| 3 + s.n as u64 + 3 + s.n as u64 + tree_words(s),
        fits: Fits::OneInside,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`Dgs`]
    DolevGafniShavit: Dgs<M>, |site, sizes| Dgs::new(site, sizes.n, sizes.k), Info {
        id: "dgs",
        title: "Dolev, Gafni and Shavit's l-exclusion from safe bits, repaired",
        problem: Problem::KExclusion,
        paper: DOLEV_GAFNI_SHAVIT_88,
        figure: "Construction 8",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "X", "W", "H", "CL5"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Order("98 if N=2")), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| dolev_gafni_shavit_88::words(s.n, true),
        fits: Fits::Any,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`DgsUnfair`]
    DolevGafniShavitUnfair: DgsUnfair<M>, |site, sizes| DgsUnfair::new(site, sizes.n, sizes.k), Info {
        id: "dgs-unfair",
        title: "the same with fixed ids: the largest is served",
        problem: Problem::KExclusion,
        paper: DOLEV_GAFNI_SHAVIT_88,
        figure: "Construction 6",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "largest-id-enters", "X", "W", "CL5"],
        fairness: "the largest id is served",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| dolev_gafni_shavit_88::words(s.n, false),
        fits: Fits::Any,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`DgsAsPrinted`]
    DolevGafniShavitAsPrinted: DgsAsPrinted<M>, |site, sizes| DgsAsPrinted::new(site, sizes.n, sizes.k), Info {
        id: "dgs-as-printed",
        title: "the same to the letter of the paper, where a process can be passed for ever",
        problem: Problem::KExclusion,
        paper: DOLEV_GAFNI_SHAVIT_88,
        figure: "Construction 8",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "X", "W", "H", "CL5"],
        fairness: "nothing promised",
        tolerates: Tolerates::None,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Unbounded), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, _| dolev_gafni_shavit_88::words(s.n, true),
        fits: Fits::Any,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`Queue`]
    AndersonMoirQueue: Queue<M>, |site, sizes| Queue::new(site, sizes.n, sizes.k), Info {
        id: "am-queue",
        title: "a counter and a queue in atomic blocks, for comparison",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "1",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::AtomicBlock],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "Q1", "Q2", "Q3"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(N)")), (CostModel::Dsm, Bound::Order("O(N)"))],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 1 + s.n as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 4, k: 2, passages: None },
    };

    /// [`Chain`]
    AndersonMoirChain: Chain<M>, |site, sizes| Chain::new(site, sizes.n, sizes.k), Info {
        id: "am-chain",
        title: "Anderson and Moir's chain of slots",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "2",
        instructions: READ_WRITE_ADD,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost { formula: "7(N-k)", at: bounds::theorem_1 }),
            (CostModel::CcWriteBack, Bound::AtMost {
                formula: "6(N-k); 3(N-k) if c <= k",
                at: |s, c| if c <= s.k { 3 * levels(s) } else { 6 * levels(s) },
            }),
            (CostModel::Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, _| space::cc_chain(&Stage::whole(s.n, s.k)),
        fits: Fits::Any,
        defaults: Defaults { n: 4, k: 2, passages: None },
    };

    /// [`Tree`] of [`Chain`]s
    AndersonMoirTree: CcTree<M>, |site, sizes| cc_tree(site, sizes), Info {
        id: "am-tree",
        title: "Anderson and Moir's tree of chains",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "3(a)",
        instructions: READ_WRITE_ADD,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "7k ceil(log2(ceil(N/k)))", at: bounds::theorem_2 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(k log(N/k))", "O(k log(N/k))")),
        words: |s, _| space::tree(s, space::cc_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 4, k: 1, passages: None },
    };

    /// [`FastPath`] around a [`Chain`] for `2k` and, as the slow path, a [`Tree`] for `N`
    AndersonMoirFast: CcFast<M>, |site, sizes| cc_fast(site, sizes), Info {
        id: "am-fast",
        title: "Anderson and Moir's fast path around a tree",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "4",
        instructions: READ_WRITE_ADD,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1", "F1", "F2"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "7k+2 if c <= k, else 7k(ceil(log2(ceil(N/k)))+1)+2", at: bounds::theorem_3 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::cc_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`NestedFastPaths`] of [`Chain`]s
    AndersonMoirGraceful: NestedFastPaths<M, Chain<M>>, |site, sizes| NestedFastPaths::new(site, sizes.n, sizes.k, cc_chain), Info {
        id: "am-graceful",
        title: "Anderson and Moir's nested fast paths",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "3(b)",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::BoundedDecrement],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1", "G1", "G2", "G3"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "ceil(c/k)(7k+2)", at: bounds::theorem_4 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(c)", "O(k)")),
        words: |s, _| space::nested(s, space::cc_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: None },
    };

    /// [`Chain`] of [`DsmUnboundedSlot`]s
    AndersonMoirDsmUnbounded: Chain<M, DsmUnboundedSlot<M>>, |site, sizes| Chain::dsm_unbounded(site, &Stage::whole(sizes.n, sizes.k)), Info {
        id: "am-dsm-unbounded",
        title: "Anderson and Moir's chain for distributed memory, with new locations for each wait",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "5",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I5", "I6", "I7", "I8", "I9", "I10", "U2"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "8(N-k)", at: bounds::unbounded_chain })],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, plenty| space::dsm_unbounded_chain(&Stage::whole(s.n, s.k), plenty),
        fits: Fits::Any,
        defaults: Defaults { n: 2, k: 1, passages: Some(2) },
    };

    /// [`Chain`] of [`DsmSlot`]s
    AndersonMoirDsmChain: DsmChain<M>, |site, sizes| Chain::dsm(site, &Stage::whole(sizes.n, sizes.k)), Info {
        id: "am-dsm-chain",
        title: "Anderson and Moir's chain for distributed memory",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "6",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "D0", "D1", "D2", "D3", "D4", "D5", "D6"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "14(N-k)", at: bounds::theorem_5 })],
        orders: Some(("O(N-k)", "O(N-k)")),
        words: |s, _| space::dsm_chain(&Stage::whole(s.n, s.k)),
        fits: Fits::Any,
        defaults: Defaults { n: 2, k: 1, passages: None },
    };

    /// [`Tree`] of [`Chain`]s of [`DsmSlot`]s
    AndersonMoirDsmTree: DsmTree<M>, |site, sizes| dsm_tree(site, sizes), Info {
        id: "am-dsm-tree",
        title: "Anderson and Moir's tree for distributed memory",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "3(a) with 6",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "D0", "D1", "D2", "D3", "D4", "D5", "D6"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "14k ceil(log2(ceil(N/k)))", at: bounds::theorem_6 })],
        orders: Some(("O(k log(N/k))", "O(k log(N/k))")),
        words: |s, _| space::tree(s, space::dsm_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
    };

    /// [`FastPath`] of [`DsmSlot`]s
    AndersonMoirDsmFast: DsmFast<M>, |site, sizes| dsm_fast(site, sizes), Info {
        id: "am-dsm-fast",
        title: "Anderson and Moir's fast path for distributed memory",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "4 with 6",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "D0", "D1", "D2", "D3", "D4", "D5", "D6", "F1", "F2"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "14k+2 if c <= k, else 14k(ceil(log2(ceil(N/k)))+1)+2", at: bounds::theorem_7 })],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::dsm_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
    };

    /// [`NestedFastPaths`] of [`DsmSlot`]s
    AndersonMoirDsmGraceful: NestedFastPaths<M, DsmChain<M>>, |site, sizes| NestedFastPaths::new(site, sizes.n, sizes.k, Chain::dsm), Info {
        id: "am-dsm-graceful",
        title: "Anderson and Moir's nested fast paths for distributed memory",
        problem: Problem::KExclusion,
        paper: ANDERSON_MOIR_94,
        figure: "3(b) with 6",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::BoundedDecrement, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "D0", "D1", "D2", "D3", "D4", "D5", "D6", "G1", "G2", "G3"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "ceil(c/k)(14k+2)", at: bounds::theorem_8 })],
        orders: Some(("O(c)", "O(k)")),
        words: |s, _| space::nested(s, space::dsm_chain),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 1, passages: Some(1) },
    };

    /// [`KBakery`]
    DanekKBakery: KBakery<M>, |site, sizes| KBakery::new(site, sizes.n, sizes.k, Order::KFirstCome), Info {
        id: "kbakery",
        title: "Danek's k-Bakery",
        problem: Problem::KExclusion,
        paper: DANEK_10,
        figure: "2, unshaded",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "k-first-come-first-served", "W", "T", "L3"],
        fairness: "k-first come, first served",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "8(N-1)+1", at: |s, _| 8 * (s.n as u64 - 1) + 1 }), (CostModel::Dsm, Bound::AtMost { formula: "4(N-1)", at: |s, _| 4 * (s.n as u64 - 1) })],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| square(s) + 2 * s.n as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
    };

    /// [`KBakery`] with captures
    DanekKBakeryFife: KBakery<M>, |site, sizes| KBakery::new(site, sizes.n, sizes.k, Order::FirstEnabled), Info {
        id: "kbakery-fife",
        title: "Danek's k-Bakery, in which who enters captures who is before it",
        problem: Problem::KExclusion,
        paper: DANEK_10,
        figure: "2, shaded",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "k-first-come-first-served", "first-in-first-enabled", "W", "T", "L3", "C"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "12(N-1)+1", at: |s, _| 12 * (s.n as u64 - 1) + 1 }), (CostModel::Dsm, Bound::AtMost { formula: "5(N-1)", at: |s, _| 5 * (s.n as u64 - 1) })],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 2 * square(s) + 2 * s.n as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
    };

    /// [`NonatomicKBakery`]
    DanekKBakeryNonatomic: NonatomicKBakery<M>, |site, sizes| NonatomicKBakery::new(site, sizes.n, sizes.k), Info {
        id: "kbakery-nonatomic",
        title: "Danek's k-Bakery for registers that are not atomic, with monotone tickets",
        problem: Problem::KExclusion,
        paper: DANEK_10,
        figure: "3, repaired",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "k-first-come-first-served", "first-in-first-enabled", "W", "T", "L3", "C"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Order("O(N)")), (CostModel::Dsm, Bound::AtMost { formula: "10(N-1)", at: |s, _| 10 * (s.n as u64 - 1) })],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 5 * square(s) + 2 * s.n as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
    };

    /// [`NonatomicKBakery`] with [safe tickets](NonatomicKBakery::as_printed)
    DanekKBakeryAsPrinted: NonatomicKBakery<M>, |site, sizes| NonatomicKBakery::as_printed(site, sizes.n, sizes.k), Info {
        id: "kbakery-nonatomic-as-printed",
        title: "the same on safe registers only, which lets two in where one may be",
        problem: Problem::KExclusion,
        paper: DANEK_10,
        figure: "3, as printed",
        instructions: READ_WRITE,
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "k-first-come-first-served", "first-in-first-enabled", "W", "T", "L3", "C"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Safe,
        rmr: &[(CostModel::Cc, Bound::Order("O(N)")), (CostModel::Dsm, Bound::AtMost { formula: "10(N-1)", at: |s, _| 10 * (s.n as u64 - 1) })],
        orders: Some(("O(N)", "O(N)")),
        words: |s, _| 5 * square(s) + 2 * s.n as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
    };

    /// [`Turnstile`]
    FairTurnstile: Turnstile<M>, |site, sizes| Turnstile::new(site, sizes.n, sizes.k), Info {
        id: "turnstile",
        title: "tickets, a count of exits, and help: first in, first enabled, for any number of processes",
        problem: Problem::KExclusion,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(1+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n, s.k),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`Many`](turnstile::Many)
    TurnstileMany: turnstile::Many<M>, |site, sizes| turnstile::Many::new(site, sizes.n, sizes.k), Info {
        id: "turnstile-many",
        title: "the turnstile with one process that asks for two units at once",
        problem: Problem::KExclusion,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::FetchAdd, Instruction::CompareSwap],
        // Not starvation-free: before the doorway, others who draw can make who asks for two try again for ever.
        properties: &["k-exclusion", "never-stuck", "deadlock-free", "bounded-exit", "starvation-free-in-line", "first-in-first-enabled", "units-inside", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens"],
        fairness: "first in, first enabled; who asks for two may have to try again at the doorway",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(1+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n + 1, s.k),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`Unfair`], with two tries
    TurnstileUnfair: Unfair<M>, |site, sizes| Unfair::new(site, sizes.n, sizes.k, 2), Info {
        id: "turnstile-unfair",
        title: "the turnstile with tries before the doorway: bypassing is bounded",
        problem: Problem::KExclusion,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens"],
        fairness: "first in, first enabled, from the last of its tries on",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(1+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n, s.k),
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`Simple`](turnstile::Simple)
    TurnstileSimple: turnstile::Simple<M>, |site, sizes| turnstile::Simple::new(site, sizes.n, sizes.k), Info {
        id: "turnstile-simple",
        title: "the turnstile for who never gives up: tickets, and exits that signal all that are enabled",
        problem: Problem::KExclusion,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::FetchAdd, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "S1", "S2"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(1+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| 2 + turnstile::simple_ring(s.n, s.k) as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 4, k: 2, passages: None },
    };

    /// [`FlagNames`] over a [`Turnstile`]
    TurnstileSlots: Slots<M, FlagNames<M>>, |site, sizes| Slots::new(site, sizes.k, None, |inner| Turnstile::new(inner, sizes.n, sizes.k)), Info {
        id: "turnstile-slots",
        title: "the turnstile with names: what `Slots` are made of",
        problem: Problem::KAssignment,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::Swap, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens", "unique-names", "B1", "B2"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(k+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(k+s)", "O(k)")),
        words: |s, _| turnstile_words(s.n, s.k) + 2 * s.k as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`BitNames`] over a [`Turnstile`]
    TurnstileBits: Slots<M, BitNames<M>>, |site, sizes| Slots::new(site, sizes.k, None, |inner| Turnstile::new(inner, sizes.n, sizes.k)), Info {
        id: "turnstile-bits",
        title: "the turnstile with names from a bitmap, for many places",
        problem: Problem::KAssignment,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::FetchAdd, Instruction::FetchOr, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens", "unique-names", "B1", "B2"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(k+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(k+s)", "O(k)")),
        words: |s, _| turnstile_words(s.n, s.k) + (2 * s.k + s.k.div_ceil(64)) as u64,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`Renaming`] over a [`FastPath`]
    AndersonMoirAssign: Renaming<M, CcFast<M>>, |site, sizes| Renaming::new(site, sizes.k, |inner| cc_fast(inner, sizes)), Info {
        id: "am-assign",
        title: "Anderson and Moir's k-assignment: names over a fast path",
        problem: Problem::KAssignment,
        paper: ANDERSON_MOIR_94,
        figure: "7 over 4",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::TestAndSet],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "I1", "I2", "I3", "I4", "U1", "F1", "F2", "unique-names", "N2", "N3"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "8k+2 if c <= k, else 7k(ceil(log2(ceil(N/k)))+1)+k+2", at: bounds::theorem_9 }), (CostModel::Dsm, Bound::Unbounded)],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::cc_chain) + s.k as u64 - 1,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: None },
    };

    /// [`Renaming`] over a [`FastPath`] of [`DsmSlot`]s
    AndersonMoirDsmAssign: Renaming<M, DsmFast<M>>, |site, sizes| Renaming::new(site, sizes.k, |inner| dsm_fast(inner, sizes)), Info {
        id: "am-dsm-assign",
        title: "Anderson and Moir's k-assignment for distributed memory",
        problem: Problem::KAssignment,
        paper: ANDERSON_MOIR_94,
        figure: "7 over 4 with 6",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::TestAndSet, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", "D0", "D1", "D2", "D3", "D4", "D5", "D6", "F1", "F2", "unique-names", "N2", "N3"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("bounded")), (CostModel::Dsm, Bound::AtMost { formula: "15k+2 if c <= k, else 14k(ceil(log2(ceil(N/k)))+1)+k+2", at: bounds::theorem_10 })],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::dsm_chain) + s.k as u64 - 1,
        fits: Fits::Any,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
    };

    /// [`Universal`](crate::resilient::Universal), of affine maps modulo 5
    WaitFree: in_words::Calls<M, Affine<5>>, |site, sizes| in_words::Calls::new(site, sizes.k, Pool::least(sizes.k), map_of), Info {
        id: "universal",
        title: "any object, wait-free for k processes: copy, apply what is announced, swing a pointer",
        problem: Problem::ResilientObject,
        paper: DOORWAY,
        figure: "",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::CompareSwap],
        properties: &["never-stuck", "k-enter-together", "deadlock-free", "starvation-free", "linearizable", "R2", "R3", "R4", "R5", "R6"],
        fairness: "wait-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[
            (CostModel::Cc, Bound::AtMost { formula: "25k+15; 4k+8 alone", at: |s, c| universal_cost(s.k, c) }),
            (CostModel::Dsm, Bound::AtMost { formula: "25k+15; 4k+8 alone", at: |s, c| universal_cost(s.k, c) }),
        ],
        orders: None,
        words: |s, _| universal_words(s.k),
        fits: Fits::AllInsideOf(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(2) },
    };

    /// [`Resilient`](crate::resilient::Resilient) within [`TurnstileSlots`]
    ResilientMaps: ResilientCalls<M, Slots<M, FlagNames<M>>, Affine<5>>, |site, sizes| ResilientCalls::new(site, sizes.k, Pool::least(sizes.k), map_of, |names| TurnstileSlots::build(names, sizes)), Info {
        id: "resilient",
        title: "any object for any number of processes, of which k-1 may die: `universal` within `turnstile-slots`",
        problem: Problem::ResilientObject,
        paper: ANDERSON_MOIR_94,
        figure: "none, Section 1; with our parts",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::Swap, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "starvation-free", "linearizable", "R2", "R3", "R4", "R5", "R6"],
        fairness: "first in, first enabled",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::Order("O(k+s)")), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, p| universal_words(s.k) + (TurnstileSlots::INFO.words)(s, p),
        fits: Fits::UpTo(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(1) },
    };

    /// [`Resilient`](crate::resilient::Resilient) within [`AndersonMoirAssign`]
    ResilientMapsWithinAssign: ResilientCalls<M, Renaming<M, CcFast<M>>, Affine<5>>, |site, sizes| ResilientCalls::new(site, sizes.k, Pool::least(sizes.k), map_of, |names| AndersonMoirAssign::build(names, sizes)), Info {
        id: "resilient-am",
        title: "the same with Anderson and Moir's names: `universal` within `am-assign`",
        problem: Problem::ResilientObject,
        paper: ANDERSON_MOIR_94,
        figure: "none, Section 1; over 7",
        instructions: &[Instruction::Read, Instruction::Write, Instruction::FetchAdd, Instruction::TestAndSet, Instruction::CompareSwap],
        properties: &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "starvation-free", "linearizable", "R2", "R3", "R4", "R5", "R6"],
        fairness: "starvation-free",
        tolerates: Tolerates::KMinusOne,
        registers: Register::Atomic,
        rmr: &[(CostModel::Cc, Bound::AtMost { formula: "those of `am-assign` and 25k+15", at: |s, c| bounds::theorem_9(s, c) + universal_cost(s.k, c.max(2)) }), (CostModel::Dsm, Bound::Unbounded)],
        orders: None,
        words: |s, p| universal_words(s.k) + (AndersonMoirAssign::INFO.words)(s, p),
        fits: Fits::UpTo(MOST_NAMES),
        defaults: Defaults { n: 2, k: 2, passages: Some(1) },
    };
}

/// Accesses of an operation, where states, operations and responses have one word each; `c` processes are in one. An attempt has up to `8k + 4`: 1, `k` at 2, `k - 1` at 3 and at 6, two at 4 and 5, two at 7,
/// four for each operation at 8, `k` at 9, 1 at 10. There are three, the first of which has its own operation at hand, `k + 1` to announce, and 14 to 16.
fn universal_cost(k: usize, c: usize) -> u64 {
    let k = k as u64;
    if c <= 1 { 4 * k + 8 } else { 3 * (8 * k + 4) - 1 + (k + 1) + 3 }
}

/// Words of a universal construction for `k` names, whose states, operations and responses have one each.
fn universal_words(k: usize) -> u64 {
    let (k, buffers) = (k as u64, (k * Pool::least(k).buffers) as u64);
    1 + 2 * k + k * buffers + buffers + k * buffers + k * k
}

/// The compositions of Anderson and Moir's parts that have an entry, for both machine models.
type CcTree<M> = Tree<M, Chain<M>>;
type CcFast<M> = FastPath<M, Chain<M>, CcTree<M>>;
type DsmChain<M> = Chain<M, DsmSlot<M>>;
type DsmTree<M> = Tree<M, DsmChain<M>>;
type DsmFast<M> = FastPath<M, DsmChain<M>, DsmTree<M>>;

fn cc_chain<M: Machine>(site: &Site<'_, M>, stage: &Stage) -> Chain<M> {
    Chain::new(site, stage.inputs, stage.k)
}

fn cc_tree<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> CcTree<M> {
    Tree::new(site, sizes.n, sizes.k, cc_chain)
}

fn cc_fast<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> CcFast<M> {
    FastPath::new(site, sizes.n, sizes.k, cc_chain, |slow| cc_tree(slow, sizes))
}

fn dsm_tree<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> DsmTree<M> {
    Tree::new(site, sizes.n, sizes.k, Chain::dsm)
}

fn dsm_fast<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> DsmFast<M> {
    FastPath::new(site, sizes.n, sizes.k, Chain::dsm, |slow| dsm_tree(slow, sizes))
}

/// Levels of an arbitration tree.
fn height(sizes: Sizes) -> u64 {
    tree_levels(sizes.n) as u64
}

/// Words of an arbitration tree with three for each node, and one for each process and level.
fn tree_words(sizes: Sizes) -> u64 {
    3 * tree_nodes(sizes.n) as u64 + tree_spins(sizes.n) as u64
}

/// Words of a turnstile for `n` processes and `k` places.
fn turnstile_words(n: usize, k: usize) -> u64 {
    5 + Limits::for_processes(n, k).ring as u64
}

/// Words for what everybody tells everybody.
fn square(sizes: Sizes) -> u64 {
    (sizes.n as u64).pow(2)
}

/// Slots in a chain.
fn levels(sizes: Sizes) -> u64 {
    sizes.n.saturating_sub(sizes.k) as u64
}
