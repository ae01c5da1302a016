//! How long an access takes on a machine, and which accesses delay each other.

use super::Nanos;
use crate::sim::{VarId, VarInfo};
use doorway_core::memory::Home;
use rustc_hash::FxHashMap;

/// How processors reach memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interconnect {
    /// Each processor has a part of the memory, and reaches the other parts across a network. There
    /// are no caches. A reference holds its path while it is under way: there is one link from the
    /// group of processors where it begins to the group where it ends, and a part of the memory has
    /// one port.
    Network {
        /// The number of processors in a group.
        group: usize,
    },
    /// All memory is across a bus, which carries one reference at a time. Each processor has a
    /// coherent cache, and a write invalidates the copies of others.
    Bus,
}

/// A machine and its timing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// How processors reach memory.
    pub interconnect: Interconnect,
    /// The number of processors, even if fewer compete: variables without a home are spread over
    /// all.
    pub processors: usize,
    /// The time of a reference to a processor's own memory or cache.
    pub near: Nanos,
    /// The time of any other reference, without contention.
    pub far: Nanos,
    /// How long such a reference occupies the bus, or the path and the memory at its end.
    pub occupied: Nanos,
}

/// The BBN TC2000, as Yang and Anderson describe it: 0.6 µs to a processor's own memory, 2 µs
/// across the network, and caches that are not coherent and so of no use. The network is ours:
/// switches for eight, and a path that is held for most of a reference.
pub const TC2000: Machine = Machine {
    name: "TC2000",
    interconnect: Interconnect::Network { group: 8 },
    processors: 32,
    near: 600,
    far: 2000,
    occupied: 1400,
};

/// A machine with a bus and coherent caches, like the Sequent Symmetry. The paper does not give the
/// times of its references; these figures are ours.
pub const BUS: Machine =
    Machine { name: "bus", interconnect: Interconnect::Bus, processors: 32, near: 125, far: 1000, occupied: 300 };

/// The target of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A variable and its home.
    Variable(VarId, Option<usize>),
    /// The data of the critical sections. It has no home.
    Data,
    /// A local of a process, which takes no time.
    Nowhere,
}

impl Place {
    pub(super) fn of(v: VarId, info: &VarInfo) -> Self {
        match info.home {
            _ if info.private => Self::Nowhere,
            Home::Of(p) => Self::Variable(v, Some(p.index())),
            _ => Self::Variable(v, None),
        }
    }

    /// Its cache line.
    fn line(self) -> Option<VarId> {
        match self {
            Self::Variable(v, _) => Some(v),
            Self::Data => Some(VarId::MAX),
            Self::Nowhere => None,
        }
    }
}

/// An access that was served.
pub(super) struct Served {
    pub(super) until: Nanos,
    pub(super) far: bool,
}

/// The processes that have a copy of a line.
#[derive(Clone, Copy, Default)]
struct Copies {
    /// One bit for each process.
    of: u128,
    /// Whether a single process has it, and may write.
    alone: bool,
}

/// The machine at work.
pub(super) struct Traffic {
    machine: Machine,
    /// When each memory is free again; a bus counts as one.
    free: Vec<Nanos>,
    /// When each link from group to group is free again.
    links: FxHashMap<(usize, usize), Nanos>,
    copies: FxHashMap<VarId, Copies>,
    numbers: u64,
}

impl Traffic {
    pub(super) fn new(machine: Machine, processors: usize) -> Self {
        let servers =
            if machine.interconnect == Interconnect::Bus { 1 } else { processors.max(machine.processors).max(1) };
        Self { machine, free: vec![0; servers], links: FxHashMap::default(), copies: FxHashMap::default(), numbers: 0 }
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The processor whose memory holds a place. Places without a home are distributed, and not
    /// first to the processors that compete first.
    fn memory_of(&self, place: Place) -> Option<usize> {
        match place {
            Place::Nowhere => None,
            Place::Variable(_, Some(home)) => Some(home),
            // Neighbours are far apart, as in interleaved memory.
            Place::Variable(v, None) => Some(self.free.len() - 1 - v as usize * 13 % self.free.len()),
            Place::Data => Some(self.free.len() / 2),
        }
    }

    /// How long a request travels before it needs something exclusively.
    pub(super) fn way(&self, p: usize, place: Place) -> Nanos {
        match (self.machine.interconnect, self.memory_of(place)) {
            (Interconnect::Network { .. }, Some(memory)) if memory != p => {
                (self.machine.far - self.machine.occupied) / 2
            }
            _ => 0,
        }
    }

    /// A request has arrived.
    pub(super) fn serve(&mut self, p: usize, place: Place, writes: bool, now: Nanos) -> Served {
        let (Some(memory), Some(line)) = (self.memory_of(place), place.line()) else {
            return Served { until: now, far: false };
        };
        let Machine { interconnect, near, far, occupied, .. } = self.machine;
        match interconnect {
            Interconnect::Network { .. } if memory == p => {
                let until = now.max(self.free[memory]) + near;
                self.free[memory] = until;
                Served { until, far: false }
            }
            Interconnect::Network { group } => {
                let link = self.links.entry((p / group.max(1), memory / group.max(1))).or_default();
                let until = now.max(self.free[memory]).max(*link) + occupied;
                (*link, self.free[memory]) = (until, until);
                Served { until: until + (far - occupied).div_ceil(2), far: true }
            }
            Interconnect::Bus => {
                let copies = self.copies.entry(line).or_default();
                let mine = 1u128 << (p % 128);
                if copies.of & mine != 0 && (!writes || copies.alone) {
                    return Served { until: now + near, far: false };
                }
                *copies = if writes {
                    Copies { of: mine, alone: true }
                } else {
                    Copies { of: copies.of | mine, alone: false }
                };
                let begins = now.max(self.free[0]);
                self.free[0] = begins + occupied;
                Served { until: begins + far, far: true }
            }
        }
    }
}
