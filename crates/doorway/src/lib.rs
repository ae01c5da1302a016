//! Admission control for threads and tasks: at most `k` get in, and each knows its slot.
//!
//! - [`Slots`]: the semaphore that tells you which slot you got. First come, first enabled; blocking, with timeouts, async and cancel-safe, several places at once.
//! - [`Pool`]: `k` values, lent by slot.
//! - [`Gate`]: an algorithm of the catalogue, for who wants exactly that one. [`AmFast`], [`AmAssign`] and the other types below are gates by name;
//!   [`k_exclusion`](doorway_core::k_exclusion) and [`k_assignment`](doorway_core::k_assignment) say which to take when.
//! - [`Mutex`]: data behind an algorithm of the catalogue, with threads that need not join.
//! - `raw`, with the feature `lock_api`: the algorithms that fit it as raw mutexes for that crate.
//! - [`Combining`]: a value that threads change together, from reads and writes.
//! - [`Rooms`]: any number in one room, nobody in two rooms at once; and in [`rooms`] a queue, stacks, and a work stack made of them.
//! - [`Resilient`]: any object, shared by any number of threads, of which so many may stop half-way.
//! - [`waiting`]: how threads and tasks wait, and why nobody sleeps through a change.
//! - [`native`]: the memory they run on, for who composes algorithms of [`doorway_core`] directly.
//!
//! ```
//! use doorway::Slots;
//!
//! let licences = Slots::new(3)?;
//! let mine = licences.acquire()?;
//! assert_eq!(mine.slot(), 0); // at most three are inside, and each has a slot of its own
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When not to use this
//! For a mutex take `std::sync::Mutex` or `parking_lot`. To limit rates, or to count bytes, see [`Slots`].

#![deny(unsafe_code)]

pub mod algorithm;
pub mod combining;
mod gate;
pub mod mutex;
pub mod native;
pub mod pool;
#[cfg(feature = "lock_api")]
pub mod raw;
pub mod resilient;
pub mod rooms;
pub mod slots;
mod threads;
mod tools;
pub mod waiting;

pub use combining::Combining;
pub use doorway_core::k_exclusion::turnstile::Closed;
pub use doorway_core::registry::{SizeError, Sizes};
pub use gate::{Full, Gate, Guard, Member, Refusal};
pub use mutex::{LockError, Mutex};
pub use pool::Pool;
pub use resilient::Resilient;
pub use rooms::Rooms;
pub use slots::{AcquireError, Slots, TimeoutError, TooMany, TryAcquireError};

use doorway_core::registry;

/// The [test-and-set lock](doorway_core::mutex::TestAndSetLock): one bit, and no fairness.
pub type Tas = Gate<registry::Tas>;
/// Lamport's [Bakery](doorway_core::mutex::lamport_74::Bakery): first come, first served, from reads and writes.
pub type Bakery = Gate<registry::Bakery>;
/// The [test-and-set lock with exponential backoff](doorway_core::mutex::mellor_crummey_scott_91::BackoffLock): fewer tries, and no fairness.
pub type TasBackoff = Gate<registry::TasBackoff>;
/// The [ticket lock](doorway_core::mutex::mellor_crummey_scott_91::TicketLock): first come, first served, with two words.
pub type Ticket = Gate<registry::Ticket>;
/// T. Anderson's [queue in an array](doorway_core::mutex::anderson_90::ArrayLock): first come, first served, each waiting at a slot of its own.
pub type AndersonArray = Gate<registry::AndersonArray>;
/// Mellor-Crummey and Scott's [queue lock](doorway_core::mutex::mellor_crummey_scott_91::QueueLock): first come, first served, each spins on its own memory.
pub type Mcs = Gate<registry::Mcs>;
/// The same [without compare-and-swap](doorway_core::mutex::mellor_crummey_scott_91::SwapQueueLock), where a member can be passed for ever. For comparison.
pub type McsSwap = Gate<registry::McsSwap>;
/// Lamport's [fast mutex](doorway_core::mutex::lamport_87::FastMutex): seven accesses alone, from reads and writes, and no fairness.
pub type LamportFast = Gate<registry::LamportFast>;
/// Peterson and Fischer's [two-process mutex](doorway_core::mutex::peterson_fischer_77::TwoProcess), reconstructed. For comparison.
pub type PetersonFischer = Gate<registry::PetersonFischer>;
/// A tree of Peterson's [two-process mutexes](doorway_core::mutex::peterson_81::TwoSides): few accesses, and local spins where caches are coherent.
pub type PetersonTree = Gate<registry::PetersonTree>;
/// Kessels' tree of [mutexes without variables that both sides write](doorway_core::mutex::kessels_82::TwoSides).
pub type KesselsTree = Gate<registry::KesselsTree>;
/// Yang and Anderson's [two-process mutex](doorway_core::mutex::yang_anderson_93::TwoProcess): each spins on its own memory.
pub type YaTwo = Gate<registry::YaTwo>;
/// Yang and Anderson's [arbitration tree](doorway_core::mutex::ArbitrationTree): each spins on its own memory.
pub type YaTree = Gate<registry::YaTree>;
/// The [maps](registry::YaCombining) that the checker searches software combining with, as passages. For study; to use it take [`Combining`].
pub type YaCombining = Gate<registry::YaCombining>;
/// Yang and Anderson's tree with a [fast path](doorway_core::mutex::yang_anderson_93::FastPath) for who is alone.
pub type YaFast = Gate<registry::YaFast>;
/// Dolev, Gafni and Shavit's [l-exclusion from safe bits](doorway_core::k_exclusion::dolev_gafni_shavit_88): starvation-free and survives `k - 1` deaths, from nothing but reads and
/// writes. For study, and for machines without read-modify-write: each turn of a wait reads the bits of all pairs.
pub type Dgs = Gate<registry::Dgs>;
/// The same with fixed ids: of those that wait, the largest member is served. For study.
pub type DgsUnfair = Gate<registry::DgsUnfair>;
/// The same to the letter of the paper, where a member can be passed for ever. For study.
pub type DgsAsPrinted = Gate<registry::DgsAsPrinted>;
/// Anderson and Moir's [queue](doorway_core::k_exclusion::anderson_moir_94::Queue) in atomic blocks, under a spin lock here: for comparison.
pub type AmQueue = Gate<registry::AmQueue>;
/// Anderson and Moir's [chain](doorway_core::k_exclusion::anderson_moir_94::Chain): survives `k - 1` deaths.
pub type AmChain = Gate<registry::AmChain>;
/// Anderson and Moir's [tree](doorway_core::k_exclusion::anderson_moir_94::Tree) of chains: cost grows with `k log(N/k)`.
pub type AmTree = Gate<registry::AmTree>;
/// Anderson and Moir's [fast path](doorway_core::k_exclusion::anderson_moir_94::FastPath) around a tree: cheap while at most `k` compete.
pub type AmFast = Gate<registry::AmFast>;
/// Anderson and Moir's [nested fast paths](doorway_core::k_exclusion::anderson_moir_94::NestedFastPaths): cost grows with contention. Here on
/// compare-and-swap, so lock-free and not wait-free.
pub type AmGraceful = Gate<registry::AmGraceful>;
/// A chain of Anderson and Moir's [Figure 5](doorway_core::k_exclusion::anderson_moir_94::DsmUnboundedSlot): refuses a member that has waited 4095 times. For study.
pub type AmDsmUnbounded = Gate<registry::AmDsmUnbounded>;
/// A chain of Anderson and Moir's [Figure 6](doorway_core::k_exclusion::anderson_moir_94::DsmSlot): each spins on its own memory.
pub type AmDsmChain = Gate<registry::AmDsmChain>;
/// [`AmTree`] where each spins on its own memory.
pub type AmDsmTree = Gate<registry::AmDsmTree>;
/// [`AmFast`] where each spins on its own memory.
pub type AmDsmFast = Gate<registry::AmDsmFast>;
/// [`AmGraceful`] where each spins on its own memory.
pub type AmDsmGraceful = Gate<registry::AmDsmGraceful>;
/// Danek's [k-Bakery](doorway_core::k_exclusion::danek_10::KBakery): k-exclusion from reads and writes alone, each spinning on its own memory. For study, and for machines without
/// read-modify-write instructions; elsewhere [`Slots`] cost far less.
///
/// ```
/// let gate = doorway::KBakery::new(4, 2)?;
/// let (mut a, mut b) = (gate.join().expect("four may join"), gate.join().expect("four may join"));
/// let (_a, _b) = (a.acquire_or_refused()?, b.acquire_or_refused()?); // both are inside; refused once tickets no longer fit a word
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type KBakery = Gate<registry::Kbakery>;
/// The same, in which whoever is overtaken can enter by its own steps alone from then on. For study, and for machines without read-modify-write instructions.
pub type KBakeryFife = Gate<registry::KbakeryFife>;
/// Danek's [k-Bakery for registers that are not atomic](doorway_core::k_exclusion::danek_10::NonatomicKBakery). Here registers are atomic, so that it only costs more than [`KBakeryFife`]: for
/// study, and as the text to carry to a memory whose words tear.
pub type KBakeryNonatomic = Gate<registry::KbakeryNonatomic>;
/// The same [as printed](doorway_core::k_exclusion::danek_10::NonatomicKBakery::as_printed), which is wrong on safe registers. On the atomic ones of this machine it is [`KBakeryNonatomic`]: for study.
pub type KBakeryAsPrinted = Gate<registry::KbakeryNonatomicAsPrinted>;
/// The [turnstile](doorway_core::k_exclusion::turnstile) that [`Slots`] are made of, as a gate.
pub type TurnstileGate = Gate<registry::Turnstile>;
/// The turnstile at which member 0 asks for [two places at once](doorway_core::k_exclusion::turnstile::Many): for comparison.
pub type TurnstileManyGate = Gate<registry::TurnstileMany>;
/// The [unfair](doorway_core::k_assignment::Unfair) turnstile.
pub type TurnstileUnfairGate = Gate<registry::TurnstileUnfair>;
/// The [simple](doorway_core::k_exclusion::turnstile::Simple) turnstile, for who never gives up.
pub type TurnstileSimpleGate = Gate<registry::TurnstileSimple>;
/// The turnstile with names: the guard says [which slot](Guard::slot) you got. [`Slots`] do the same without members.
pub type TurnstileSlotsGate = Gate<registry::TurnstileSlots>;
/// The same, with names from a bitmap.
pub type TurnstileBitsGate = Gate<registry::TurnstileBits>;
/// Anderson and Moir's [names](doorway_core::k_assignment::anderson_moir_94::Renaming) over [`AmFast`]: the guard says [which slot](Guard::slot) you got.
pub type AmAssign = Gate<registry::AmAssign>;
/// The same over [`AmDsmFast`].
pub type AmDsmAssign = Gate<registry::AmDsmAssign>;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// As is that of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/resilient.md")]
struct ResilientPage;
