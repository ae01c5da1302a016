//! Hand-written [Stateright](stateright) models, an independent oracle for the checker:
//! Lamport's Bakery ([`Bakery`]), the Anderson-Moir chain for (n,k)-exclusion on
//! cache-coherent machines ([`Chain`]), and their other figures ([`anderson_moir`]).
//!
//! In all of them, the action is the index of the process that takes the next step. A step is
//! exactly one access to a shared variable (plus, under [`Sections::Explicit`], the two steps that
//! leave the remainder and the critical section). A failed turn of a waiting loop is a step that
//! leads back to the same state. The private state of a process holds, at each statement, only what
//! is still live there.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::{Checker, Model, Property};

pub(crate) mod anderson_moir;

/// The name of a process, in `0..n`.
pub(crate) type Pid = u8;

/// Whether the remainder and the critical section are states of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sections {
    /// In the remainder means at the first statement of the entry; in the critical section means at
    /// the first statement of the exit.
    Merged,
    /// One additional step leaves the remainder, and one additional step leaves the critical
    /// section.
    Explicit,
}

/// Lamport's Bakery for `n` processes, each of which stops after `passages` passages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bakery {
    /// The number of processes.
    pub(crate) n: Pid,
    /// The number of passages after which a process stops.
    pub(crate) passages: u32,
    /// How the remainder and the critical section are modelled.
    pub(crate) sections: Sections,
}

/// The position of a process of the [`Bakery`], with its live private variables. The numbers label
/// the statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BakeryPc {
    /// In the remainder ([`Sections::Explicit`] only).
    Start,
    /// 3: `doorway[p] := true`.
    OpenDoorway,
    /// 41, with `(i, max)`: `max := max(max, ticket[i])`.
    ReadTicket(Pid, u64),
    /// 42, with `max`: `ticket[p] := 1 + max`.
    TakeTicket(u64),
    /// 5, with `mine`: `doorway[p] := false`.
    CloseDoorway(u64),
    /// 7, with `(i, mine)`: wait until not `doorway[i]`.
    AwaitDoorway(Pid, u64),
    /// 8, with `(i, mine)`: wait until `ticket[i] = 0` or `(ticket[i], i) >= (mine, p)`.
    AwaitTicket(Pid, u64),
    /// In the critical section ([`Sections::Explicit`] only).
    Inside,
    /// 10: `ticket[p] := 0`.
    DropTicket,
    /// Stopped, with all passages made.
    Done,
}

/// One process of the [`Bakery`], and the two shared variables it owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BakeryProcess {
    /// The position of the process.
    pub(crate) pc: BakeryPc,
    /// The number of passages it has completed.
    pub(crate) completed: u32,
    /// Shared: `doorway[p]`.
    pub(crate) doorway: bool,
    /// Shared: `ticket[p]`.
    pub(crate) ticket: u64,
}

impl Bakery {
    /// The number of processes in the critical section.
    #[must_use]
    pub(crate) fn inside(&self, state: &[BakeryProcess]) -> usize {
        let critical = self.critical();
        state.iter().filter(|process| process.pc == critical).count()
    }

    /// The position of a process that has completed this many passages and has not begun another.
    fn remainder(&self, completed: u32) -> BakeryPc {
        match self.sections {
            _ if completed == self.passages => BakeryPc::Done,
            Sections::Merged => BakeryPc::OpenDoorway,
            Sections::Explicit => BakeryPc::Start,
        }
    }

    /// The position of a process in the critical section.
    fn critical(&self) -> BakeryPc {
        match self.sections {
            Sections::Merged => BakeryPc::DropTicket,
            Sections::Explicit => BakeryPc::Inside,
        }
    }

    /// The first process from `from` on that is not `p`.
    fn other(&self, p: Pid, from: Pid) -> Option<Pid> {
        (from..self.n).find(|&i| i != p)
    }

    /// 41 for the processes from `from` on, then 42.
    fn read_from(&self, p: Pid, from: Pid, max: u64) -> BakeryPc {
        match self.other(p, from) {
            Some(i) => BakeryPc::ReadTicket(i, max),
            None => BakeryPc::TakeTicket(max),
        }
    }

    /// 7 and 8 for the processes from `from` on, then the critical section.
    fn await_from(&self, p: Pid, from: Pid, mine: u64) -> BakeryPc {
        match self.other(p, from) {
            Some(i) => BakeryPc::AwaitDoorway(i, mine),
            None => self.critical(),
        }
    }
}

impl Model for Bakery {
    type State = Vec<BakeryProcess>;
    type Action = Pid;

    fn init_states(&self) -> Vec<Self::State> {
        let process = BakeryProcess { pc: self.remainder(0), completed: 0, doorway: false, ticket: 0 };
        vec![vec![process; usize::from(self.n)]]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Pid>) {
        actions.extend((0..self.n).filter(|&p| state[usize::from(p)].pc != BakeryPc::Done));
    }

    fn next_state(&self, last: &Self::State, p: Pid) -> Option<Self::State> {
        let mut next = last.clone();
        let me = &mut next[usize::from(p)];
        match me.pc {
            BakeryPc::Start => me.pc = BakeryPc::OpenDoorway,
            BakeryPc::OpenDoorway => {
                me.doorway = true;
                me.pc = self.read_from(p, 0, 0);
            }
            BakeryPc::ReadTicket(i, max) => {
                let value = last[usize::from(i)].ticket;
                me.pc = self.read_from(p, i + 1, max.max(value));
            }
            BakeryPc::TakeTicket(max) => {
                let mine = 1 + max;
                me.ticket = mine;
                me.pc = BakeryPc::CloseDoorway(mine);
            }
            BakeryPc::CloseDoorway(mine) => {
                me.doorway = false;
                me.pc = self.await_from(p, 0, mine);
            }
            BakeryPc::AwaitDoorway(i, mine) => {
                if !last[usize::from(i)].doorway {
                    me.pc = BakeryPc::AwaitTicket(i, mine);
                }
            }
            BakeryPc::AwaitTicket(i, mine) => {
                let value = last[usize::from(i)].ticket;
                if value == 0 || (value, i) >= (mine, p) {
                    me.pc = self.await_from(p, i + 1, mine);
                }
            }
            BakeryPc::Inside => me.pc = BakeryPc::DropTicket,
            BakeryPc::DropTicket => {
                me.ticket = 0;
                me.completed += 1;
                me.pc = self.remainder(me.completed);
            }
            BakeryPc::Done => return None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::<Self>::always("at most 1 inside", |model, state| model.inside(state) <= 1)]
    }
}

/// The Anderson-Moir chain: (n,k)-exclusion from the levels `n-1, n-2, ..., k`, where level `j`
/// lets `j` of its at most `j + 1` processes pass. The entry goes from level `n-1` to level `k`,
/// the exit from level `k` to level `n-1`. With `k >= n` there are no levels: one step leads
/// inside, and one step leads back, whatever the `sections`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// The number of processes.
    pub(crate) n: Pid,
    /// The number of processes that may be in the critical section at once (at least 1).
    pub(crate) k: Pid,
    /// The number of passages after which a process stops, or `None` if it never stops.
    pub(crate) passages: Option<u32>,
    /// How the remainder and the critical section are modelled.
    pub(crate) sections: Sections,
}

/// The position of a process of the [`Chain`]; the number is the level `j`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChainPc {
    /// In the remainder ([`Sections::Explicit`], or no levels).
    Start,
    /// 2: `old := fetch_add(X_j, -1)`; wait at this level only if `old = 0`.
    Take(Pid),
    /// 3: `Q_j := p`.
    Announce(Pid),
    /// 4: go on waiting only if `X_j < 0`.
    Look(Pid),
    /// 5: wait until `Q_j != p`.
    Await(Pid),
    /// In the critical section ([`Sections::Explicit`], or no levels).
    Inside,
    /// 6: `fetch_add(X_j, +1)`.
    GiveBack(Pid),
    /// 7: `Q_j := p`.
    Release(Pid),
    /// Stopped, with all passages made.
    Done,
}

/// The shared variables of one level `j` of the [`Chain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Level {
    /// `X_j`: the number of places left; negative if some process has to wait.
    pub(crate) x: i64,
    /// `Q_j`: the last process that announced itself or released.
    pub(crate) q: Pid,
}

/// A state of the [`Chain`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChainState {
    /// For each process: its position, and the number of passages it has completed (always 0 if
    /// passages are not bounded).
    pub(crate) processes: Vec<(ChainPc, u32)>,
    /// The levels, `k` first.
    pub(crate) levels: Vec<Level>,
}

impl Chain {
    /// The number of processes in the critical section.
    #[must_use]
    pub(crate) fn inside(&self, state: &ChainState) -> usize {
        let critical = self.critical();
        state.processes.iter().filter(|(pc, _)| *pc == critical).count()
    }

    /// The position of a process that has completed this many passages and has not begun another.
    fn remainder(&self, completed: u32) -> ChainPc {
        match self.sections {
            _ if self.passages == Some(completed) => ChainPc::Done,
            Sections::Merged if self.k < self.n => ChainPc::Take(self.n - 1),
            Sections::Merged | Sections::Explicit => ChainPc::Start,
        }
    }

    /// The position of a process in the critical section.
    fn critical(&self) -> ChainPc {
        match self.sections {
            Sections::Merged if self.k < self.n => ChainPc::GiveBack(self.k),
            Sections::Merged | Sections::Explicit => ChainPc::Inside,
        }
    }

    /// The next position of a process that has passed level `j`.
    fn passed(&self, j: Pid) -> ChainPc {
        if j > self.k { ChainPc::Take(j - 1) } else { self.critical() }
    }

    /// The next position of a process at the end of a passage. Counts the passage if passages are
    /// bounded.
    fn finish(&self, completed: u32) -> (ChainPc, u32) {
        let completed = if self.passages.is_some() { completed + 1 } else { 0 };
        (self.remainder(completed), completed)
    }
}

impl Model for Chain {
    type State = ChainState;
    type Action = Pid;

    fn init_states(&self) -> Vec<Self::State> {
        assert!(self.k >= 1, "(n,k)-exclusion needs k >= 1");
        vec![ChainState {
            processes: vec![(self.remainder(0), 0); usize::from(self.n)],
            levels: (self.k..self.n).map(|j| Level { x: i64::from(j), q: 0 }).collect(),
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Pid>) {
        actions.extend((0..self.n).filter(|&p| state.processes[usize::from(p)].0 != ChainPc::Done));
    }

    fn next_state(&self, last: &Self::State, p: Pid) -> Option<Self::State> {
        let mut next = last.clone();
        let (pc, completed) = &mut next.processes[usize::from(p)];
        let levels = &mut next.levels;
        let at = |j: Pid| usize::from(j - self.k);
        match *pc {
            ChainPc::Start if self.k < self.n => *pc = ChainPc::Take(self.n - 1),
            ChainPc::Start => *pc = ChainPc::Inside,
            ChainPc::Take(j) => {
                let old = levels[at(j)].x;
                levels[at(j)].x = old - 1;
                *pc = if old == 0 { ChainPc::Announce(j) } else { self.passed(j) };
            }
            ChainPc::Announce(j) => {
                levels[at(j)].q = p;
                *pc = ChainPc::Look(j);
            }
            ChainPc::Look(j) => {
                *pc = if levels[at(j)].x < 0 { ChainPc::Await(j) } else { self.passed(j) };
            }
            ChainPc::Await(j) => {
                if levels[at(j)].q != p {
                    *pc = self.passed(j);
                }
            }
            ChainPc::Inside if self.k < self.n => *pc = ChainPc::GiveBack(self.k),
            ChainPc::Inside => (*pc, *completed) = self.finish(*completed),
            ChainPc::GiveBack(j) => {
                levels[at(j)].x += 1;
                *pc = ChainPc::Release(j);
            }
            ChainPc::Release(j) => {
                levels[at(j)].q = p;
                if j + 1 < self.n {
                    *pc = ChainPc::GiveBack(j + 1);
                } else {
                    (*pc, *completed) = self.finish(*completed);
                }
            }
            ChainPc::Done => return None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::<Self>::always("at most k inside", |model, state| model.inside(state) <= usize::from(model.k))]
    }
}

/// The size of a finished search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Explored {
    /// The number of distinct states that were reached.
    pub(crate) unique: usize,
    /// The number of states that were generated, with repetition: the initial state, and one for
    /// each step from each unique state (failed turns included).
    pub(crate) generated: usize,
}

/// Searches all states breadth-first.
///
/// # Panics
///
/// If a property of the model does not hold.
pub(crate) fn explore<M>(model: M) -> Explored
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + PartialEq + Hash + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq + Send + Sync + 'static,
{
    let checker = model.checker().spawn_bfs().join();
    checker.assert_properties();
    Explored { unique: checker.unique_state_count(), generated: checker.state_count() }
}
