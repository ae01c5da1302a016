//! Every algorithm by name: what is claimed about it, and how to build it on any memory.
//!
//! This is the only place that lists them all. `doorway list`, the tables in the README files and
//! the defaults of the checker are made from it. Tests compare its claims with what the checker
//! sees.
//!
//! To do something with the algorithm of a given name, write a [`Visit`]or. It is generic over the
//! [`Entry`], so there is no `dyn`, and no trait bound is lost.
//!
//! ```
//! use doorway_core::memory::spinning::{Spinning, now};
//! use doorway_core::k_exclusion::KExclusion;
//! use doorway_core::memory::{Pid, Process, Site};
//! use doorway_core::registry::{self, Entry, Sizes, Visit};
//!
//! struct Pass(Sizes);
//! impl Visit for Pass {
//!     type Out = &'static str;
//!     fn visit<E: Entry + 'static>(self) -> &'static str {
//!         let algorithm = E::build(&Site::new(&Spinning), self.0);
//!         let p = Process::new(Pid::new(0), Spinning);
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
pub(crate) mod prelude;

pub use info::{Bound, CostModel, Defaults, Fits, Info, Paper, Problem, Second, SizeError, Sizes, Tolerates};

pub use crate::k_assignment::anderson_moir_94::entries::{AmAssign, AmDsmAssign};
pub use crate::k_assignment::names::sticky::entries::StickyNames;
pub use crate::k_assignment::seats::entries::{Seats, SeatsBypass};
pub use crate::k_assignment::slots::entries::{TurnstileBits, TurnstileLineSlots, TurnstileSlots};
pub use crate::k_exclusion::anderson_moir_94::entries::{
    AmChain, AmDsmChain, AmDsmFast, AmDsmGraceful, AmDsmTree, AmDsmUnbounded, AmFast, AmGraceful, AmQueue, AmTree,
};
pub use crate::k_exclusion::bypass::entries::Bypass;
pub use crate::k_exclusion::danek_10::entries::{Kbakery, KbakeryFife, KbakeryNonatomic, KbakeryNonatomicAsPrinted};
pub use crate::k_exclusion::dolev_gafni_shavit_88::entries::{Dgs, DgsAsPrinted, DgsUnfair};
pub use crate::k_exclusion::turnstile::entries::{
    Turnstile, TurnstileLine, TurnstileLineMany, TurnstileMany, TurnstileSimple, TurnstileUnfair,
};
pub use crate::mutex::anderson_90::entries::{AndersonArray, Tas};
pub use crate::mutex::kessels_82::entries::KesselsTree;
pub use crate::mutex::lamport_74::entries::Bakery;
pub use crate::mutex::lamport_87::entries::LamportFast;
pub use crate::mutex::mellor_crummey_scott_91::entries::{Mcs, McsSwap, TasBackoff, Ticket};
pub use crate::mutex::peterson_81::entries::PetersonTree;
pub use crate::mutex::peterson_fischer_77::entries::PetersonFischer;
pub use crate::mutex::taubenfeld_04::entries::{BlackWhiteBakery, BlackWhiteBakeryInTwo};
pub use crate::mutex::yang_anderson_93::entries::{YaCombining, YaFast, YaTree, YaTwo};
pub use crate::resilient::entries::{Resilient, ResilientAm, Universal, UniversalInUse};
pub use crate::rooms::blelloch_cheng_gibbons_01::entries::{
    RoomDynamicStack, RoomDynamicStackAsPrinted, RoomQueue, RoomSegmentStack, RoomStack, RoomWorkStack, Rooms,
    RoomsAsPrinted, RoomsChange, RoomsLateJoin, RoomsStrict, RoomsTry,
};

use crate::k_exclusion::{Abortable, KExclusion};
use crate::memory::{Machine, Site};

/// Anything with a name: an algorithm or an object.
///
/// The type has the name of the algorithm: `am-fast` is `AmFast`.
pub trait Listed {
    /// What is claimed about it.
    const INFO: Info;
}

/// An algorithm that can be built on any [`Machine`]: a memory with every instruction.
pub trait Entry: Listed {
    /// Its type on a memory.
    type On<M: Machine>: KExclusion<M>;
    /// Builds it. The sizes are ones that [`Info::sizes`] accepts.
    fn build<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::On<M>;
}

/// "Do this with the algorithm of that name."
pub trait Visit {
    /// The result.
    type Out;
    /// Visits the algorithm `E`.
    fn visit<E: Entry + 'static>(self) -> Self::Out;
}

/// An algorithm whose waiting processes can give up.
pub trait AbortableEntry: Entry {
    /// Its type on a memory.
    type Gives<M: Machine>: Abortable<M>;
    /// Builds it.
    fn build_abortable<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::Gives<M>;
}

/// Passes every algorithm to a macro, by the names of the [entries](Entry), in the order of the
/// lists. Add a new algorithm here.
#[macro_export]
macro_rules! every_algorithm {
    ($then:ident) => {
        $then! {
            Tas Bakery BlackWhiteBakery BlackWhiteBakeryInTwo TasBackoff Ticket AndersonArray Mcs McsSwap LamportFast PetersonFischer
            PetersonTree KesselsTree YaTwo YaTree YaCombining YaFast Dgs DgsUnfair DgsAsPrinted
            AmQueue AmChain AmTree AmFast AmGraceful AmDsmUnbounded AmDsmChain AmDsmTree AmDsmFast
            AmDsmGraceful Kbakery KbakeryFife KbakeryNonatomic KbakeryNonatomicAsPrinted Turnstile
            TurnstileMany TurnstileUnfair TurnstileSimple TurnstileLine TurnstileLineMany TurnstileSlots TurnstileLineSlots TurnstileBits Bypass AmAssign
            AmDsmAssign Universal Resilient ResilientAm
        }
    };
}

/// Passes every object to a macro, as [`every_algorithm`] does.
///
/// A process that calls an object chooses one of several operations nondeterministically. No
/// machine can [choose](crate::memory::Choose) like that, so objects are built only where every
/// choice is tried. On other memories use their types directly.
#[macro_export]
macro_rules! every_object {
    ($then:ident) => {
        $then! {
            Rooms RoomsChange RoomsTry RoomsStrict RoomsLateJoin RoomsAsPrinted RoomStack RoomQueue
            RoomDynamicStack RoomSegmentStack RoomWorkStack RoomDynamicStackAsPrinted
            UniversalInUse StickyNames Seats SeatsBypass
        }
    };
}

macro_rules! algorithms {
    ($($name:ident)*) => {
        /// Every algorithm, in the order of the lists.
        pub const ALL: &[Info] = &[$($name::INFO),*];

        /// Visits the algorithm called `id`. Returns `None` if there is no such algorithm.
        pub fn with<V: Visit>(id: &str, visitor: V) -> Option<V::Out> {
            $(if id == $name::INFO.id {
                return Some(visitor.visit::<$name>());
            })*
            None
        }
    };
}
every_algorithm!(algorithms);

macro_rules! objects {
    ($($name:ident)*) => {
        /// Every object, in the order of the lists.
        pub const OBJECTS: &[Info] = &[$($name::INFO),*];
    };
}
every_object!(objects);

/// What is claimed about the algorithm or object called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Info> {
    ALL.iter().chain(OBJECTS).find(|info| info.id == id)
}
