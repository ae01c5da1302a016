//! One level: Figures 2, 5 and 6 without their statements 0, 1 and the last.

use std::fmt::Debug;
use std::hash::Hash;

use super::layout::Site;
use crate::models::Pid;

/// A kind of level. `X` counts the places left.
pub(crate) trait Level: Copy + Debug + PartialEq + Eq + Hash + Send + Sync + 'static {
    /// The shared variables of a level.
    type Shared: Clone + Debug + PartialEq + Eq + Hash + Send + Sync;
    /// The private variables of a process that outlive a passage, for one level.
    type Private: Copy + Debug + Default + PartialEq + Eq + Hash + Send + Sync;
    /// The position of a process in a level, with its live private variables.
    type Pc: Copy + Debug + PartialEq + Eq + Hash + Send + Sync;

    /// The first statement of the entry.
    const ENTRY: Self::Pc;
    /// The first statement of the exit.
    const EXIT: Self::Pc;

    /// The initial shared variables, for `n` processes.
    fn shared(site: Site, n: Pid) -> Self::Shared;

    /// `X`.
    fn places(shared: &Self::Shared) -> i8;

    /// Whether a process may begin a passage.
    fn may_begin(_private: &Self::Private) -> bool {
        true
    }

    /// One step of `p`. Returns its next position, or `None` at the end of the entry or of the
    /// exit.
    fn step(
        site: Site,
        p: Pid,
        pc: Self::Pc,
        shared: &mut Self::Shared,
        private: &mut Self::Private,
    ) -> Option<Self::Pc>;
}

/// Figure 2: a process waits until another process overwrites `Q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpinOnQ;

/// The statements of Figure 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SpinOnQPc {
    /// 2: `if fai(X,-1) = 0`.
    S2,
    /// 3: `Q := p`.
    S3,
    /// 4: `if X < 0`.
    S4,
    /// 5: `while Q = p`.
    S5,
    /// 6: `fai(X,1)`.
    S6,
    /// 7: `Q := p`.
    S7,
}

impl Level for SpinOnQ {
    /// `X` and `Q`.
    type Shared = (i8, Pid);
    type Private = ();
    type Pc = SpinOnQPc;

    const ENTRY: SpinOnQPc = SpinOnQPc::S2;
    const EXIT: SpinOnQPc = SpinOnQPc::S6;

    fn shared(site: Site, _n: Pid) -> (i8, Pid) {
        (site.capacity as i8, 0)
    }

    fn places(&(x, _): &(i8, Pid)) -> i8 {
        x
    }

    fn step(_: Site, p: Pid, pc: SpinOnQPc, (x, q): &mut (i8, Pid), (): &mut ()) -> Option<SpinOnQPc> {
        match pc {
            SpinOnQPc::S2 => {
                *x -= 1;
                (*x == -1).then_some(SpinOnQPc::S3)
            }
            SpinOnQPc::S3 => {
                *q = p;
                Some(SpinOnQPc::S4)
            }
            SpinOnQPc::S4 => (*x < 0).then_some(SpinOnQPc::S5),
            SpinOnQPc::S5 => (*q == p).then_some(SpinOnQPc::S5),
            SpinOnQPc::S6 => {
                *x += 1;
                Some(SpinOnQPc::S7)
            }
            SpinOnQPc::S7 => {
                *q = p;
                None
            }
        }
    }
}

/// A spin location: its owner, and its index there.
type Location = (Pid, u8);

/// A table with a row for each process and a column for each location of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Table<T> {
    columns: u8,
    entries: Vec<T>,
}

impl<T: Copy + Default> Table<T> {
    fn new(rows: Pid, columns: u8) -> Self {
        Self { columns, entries: vec![T::default(); usize::from(rows) * usize::from(columns)] }
    }

    fn entry(&mut self, (pid, loc): Location) -> &mut T {
        assert!(loc < self.columns, "a location of nobody");
        &mut self.entries[usize::from(pid) * usize::from(self.columns) + usize::from(loc)]
    }
}

/// Figure 5: a process waits at one of its own locations that it has never used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UnboundedLocations;

impl UnboundedLocations {
    /// The number of locations of a process. It begins no passage once it has used the last one.
    const LOCATIONS: u8 = 5;
}

/// The shared variables of Figure 5.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UnboundedShared {
    x: i8,
    q: Location,
    /// `P`: whether the process that waits there may continue.
    go: Table<bool>,
}

/// The statements of Figure 5, with `v` where it is live; 3 is merged with 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnboundedPc {
    /// 2: `if fai(X,-1) = 0`, and 3: `next.loc := next.loc + 1`.
    S2,
    /// 4: `P[p][next.loc] := false`.
    S4,
    /// 5: `v := Q`.
    S5,
    /// 6: `P[v] := true`.
    S6(Location),
    /// 7: `if cas(Q, v, next)`.
    S7(Location),
    /// 8: `if X < 0`.
    S8,
    /// 9: `while not P[p][next.loc]`.
    S9,
    /// 10: `fai(X,1)`.
    S10,
    /// 11: `v := Q`.
    S11,
    /// 12: `P[v] := true`.
    S12(Location),
}

impl Level for UnboundedLocations {
    type Shared = UnboundedShared;
    /// `next.loc`.
    type Private = u8;
    type Pc = UnboundedPc;

    const ENTRY: UnboundedPc = UnboundedPc::S2;
    const EXIT: UnboundedPc = UnboundedPc::S10;

    fn shared(site: Site, n: Pid) -> UnboundedShared {
        UnboundedShared { x: site.capacity as i8, q: (site.first, 0), go: Table::new(n, Self::LOCATIONS) }
    }

    fn places(shared: &UnboundedShared) -> i8 {
        shared.x
    }

    fn may_begin(&next: &u8) -> bool {
        next + 1 < Self::LOCATIONS
    }

    fn step(_: Site, p: Pid, pc: UnboundedPc, shared: &mut UnboundedShared, next: &mut u8) -> Option<UnboundedPc> {
        match pc {
            UnboundedPc::S2 => {
                let old = shared.x;
                shared.x -= 1;
                if old != 0 {
                    return None;
                }
                *next += 1;
                Some(UnboundedPc::S4)
            }
            UnboundedPc::S4 => {
                *shared.go.entry((p, *next)) = false;
                Some(UnboundedPc::S5)
            }
            UnboundedPc::S5 => Some(UnboundedPc::S6(shared.q)),
            UnboundedPc::S6(v) => {
                *shared.go.entry(v) = true;
                Some(UnboundedPc::S7(v))
            }
            UnboundedPc::S7(v) => {
                if shared.q != v {
                    return None;
                }
                shared.q = (p, *next);
                Some(UnboundedPc::S8)
            }
            UnboundedPc::S8 => (shared.x < 0).then_some(UnboundedPc::S9),
            UnboundedPc::S9 => (!*shared.go.entry((p, *next))).then_some(UnboundedPc::S9),
            UnboundedPc::S10 => {
                shared.x += 1;
                Some(UnboundedPc::S11)
            }
            UnboundedPc::S11 => Some(UnboundedPc::S12(shared.q)),
            UnboundedPc::S12(v) => {
                *shared.go.entry(v) = true;
                None
            }
        }
    }
}

/// Figure 6: a process waits at one of its own `k + 2` locations, at which no other process is
/// looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BoundedLocations;

/// The shared variables of Figure 6.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BoundedShared {
    x: i8,
    q: Location,
    /// `P`: whether the process that waits there may continue.
    go: Table<bool>,
    /// `R`: the number of processes that are looking at the location.
    readers: Table<i8>,
}

/// The statements of Figure 6, with `next.loc` and then `u` where they are live; 3 is merged with
/// 2, 5 with 4, and 12 with 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BoundedPc {
    /// 2: `if fai(X,-1) = 0`, and 3: `next.loc := (last + 1) mod (k + 2)`.
    S2,
    /// 4: `while R[p][next.loc] != 0`, and 5: `next.loc := (next.loc + 1) mod (k + 2)`.
    S4(u8),
    /// 6: `P[p][next.loc] := false`.
    S6(u8),
    /// 7: `u := Q`.
    S7(u8),
    /// 8: `fai(R[u], 1)`.
    S8(u8, Location),
    /// 9: `if Q = u`.
    S9(u8, Location),
    /// 10: `P[u] := true`.
    S10(u8, Location),
    /// 11: `if cas(Q, u, next)`, and 12: `last := next.loc`.
    S11(u8, Location),
    /// 13: `if X < 0`.
    S13(u8, Location),
    /// 14: `while not P[p][next.loc]`.
    S14(u8, Location),
    /// 15: `fai(R[u], -1)`.
    S15(Location),
    /// 16: `fai(X,1)`.
    S16,
    /// 17: `u := Q`.
    S17,
    /// 18: `fai(R[u], 1)`.
    S18(Location),
    /// 19: `if Q = u`.
    S19(Location),
    /// 20: `P[u] := true`.
    S20(Location),
    /// 21: `fai(R[u], -1)`.
    S21(Location),
}

impl Level for BoundedLocations {
    type Shared = BoundedShared;
    /// `last`.
    type Private = u8;
    type Pc = BoundedPc;

    const ENTRY: BoundedPc = BoundedPc::S2;
    const EXIT: BoundedPc = BoundedPc::S16;

    fn shared(site: Site, n: Pid) -> BoundedShared {
        let locations = site.capacity + 2;
        BoundedShared {
            x: site.capacity as i8,
            q: (site.first, 0),
            go: Table::new(n, locations),
            readers: Table::new(n, locations),
        }
    }

    fn places(shared: &BoundedShared) -> i8 {
        shared.x
    }

    fn step(site: Site, p: Pid, pc: BoundedPc, shared: &mut BoundedShared, last: &mut u8) -> Option<BoundedPc> {
        let after = |loc: u8| (loc + 1) % (site.capacity + 2);
        match pc {
            BoundedPc::S2 => {
                let old = shared.x;
                shared.x -= 1;
                (old == 0).then(|| BoundedPc::S4(after(*last)))
            }
            BoundedPc::S4(next) if *shared.readers.entry((p, next)) != 0 => Some(BoundedPc::S4(after(next))),
            BoundedPc::S4(next) => Some(BoundedPc::S6(next)),
            BoundedPc::S6(next) => {
                *shared.go.entry((p, next)) = false;
                Some(BoundedPc::S7(next))
            }
            BoundedPc::S7(next) => Some(BoundedPc::S8(next, shared.q)),
            BoundedPc::S8(next, u) => {
                *shared.readers.entry(u) += 1;
                Some(BoundedPc::S9(next, u))
            }
            BoundedPc::S9(next, u) if shared.q == u => Some(BoundedPc::S10(next, u)),
            BoundedPc::S9(_, u) => Some(BoundedPc::S15(u)),
            BoundedPc::S10(next, u) => {
                *shared.go.entry(u) = true;
                Some(BoundedPc::S11(next, u))
            }
            BoundedPc::S11(next, u) if shared.q == u => {
                shared.q = (p, next);
                *last = next;
                Some(BoundedPc::S13(next, u))
            }
            BoundedPc::S11(_, u) => Some(BoundedPc::S15(u)),
            BoundedPc::S13(next, u) if shared.x < 0 => Some(BoundedPc::S14(next, u)),
            BoundedPc::S13(_, u) => Some(BoundedPc::S15(u)),
            BoundedPc::S14(next, u) if *shared.go.entry((p, next)) => Some(BoundedPc::S15(u)),
            BoundedPc::S14(..) => Some(pc),
            BoundedPc::S15(u) | BoundedPc::S21(u) => {
                *shared.readers.entry(u) -= 1;
                None
            }
            BoundedPc::S16 => {
                shared.x += 1;
                Some(BoundedPc::S17)
            }
            BoundedPc::S17 => Some(BoundedPc::S18(shared.q)),
            BoundedPc::S18(u) => {
                *shared.readers.entry(u) += 1;
                Some(BoundedPc::S19(u))
            }
            BoundedPc::S19(u) if shared.q == u => Some(BoundedPc::S20(u)),
            BoundedPc::S19(u) => Some(BoundedPc::S21(u)),
            BoundedPc::S20(u) => {
                *shared.go.entry(u) = true;
                Some(BoundedPc::S21(u))
            }
        }
    }
}
