//! Figure 1: the queue, whose two blocks are one atomic step each.

use stateright::{Model, Property};

use crate::models::{Pid, Sections};

/// (n,k)-exclusion by a counter and a queue of waiters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// The number of processes.
    pub(crate) n: Pid,
    /// The number of processes that may be in the critical section at once.
    pub(crate) k: Pid,
    /// The number of passages after which a process stops, or `None` if it never stops.
    pub(crate) passages: Option<u32>,
    /// How the remainder and the critical section are modelled.
    pub(crate) sections: Sections,
}

/// The position of a process of the [`Queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum QueuePc {
    /// In the remainder ([`Sections::Explicit`] only).
    Start,
    /// 1: `< if fai(X,-1) <= 0 then Enqueue(p,Q) >`.
    Take,
    /// 2: wait until `p` is not in `Q`.
    Await,
    /// In the critical section ([`Sections::Explicit`] only).
    Inside,
    /// 3: `< Dequeue(Q); fai(X,1) >`.
    GiveBack,
    /// Stopped, with all passages made.
    Done,
}

/// A state of the [`Queue`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QueueState {
    /// For each process: its position, and the number of passages it has completed (always 0 if
    /// they are not bounded).
    processes: Vec<(QueuePc, u32)>,
    /// `X`: the number of places left; if negative, minus the length of the queue.
    x: i8,
    /// `Q`, its head first.
    q: Vec<Pid>,
}

impl Queue {
    /// The position of a process in the remainder.
    fn remainder(&self) -> QueuePc {
        match self.sections {
            Sections::Merged => QueuePc::Take,
            Sections::Explicit => QueuePc::Start,
        }
    }

    /// The position of a process in the critical section.
    fn critical(&self) -> QueuePc {
        match self.sections {
            Sections::Merged => QueuePc::GiveBack,
            Sections::Explicit => QueuePc::Inside,
        }
    }
}

impl Model for Queue {
    type State = QueueState;
    type Action = Pid;

    fn init_states(&self) -> Vec<QueueState> {
        let processes = vec![(self.remainder(), 0); usize::from(self.n)];
        vec![QueueState { processes, x: self.k as i8, q: Vec::new() }]
    }

    fn actions(&self, state: &QueueState, actions: &mut Vec<Pid>) {
        actions.extend((0..self.n).filter(|&p| state.processes[usize::from(p)].0 != QueuePc::Done));
    }

    fn next_state(&self, last: &QueueState, p: Pid) -> Option<QueueState> {
        let mut next = last.clone();
        let (pc, completed) = &mut next.processes[usize::from(p)];
        match *pc {
            QueuePc::Start => *pc = QueuePc::Take,
            QueuePc::Take => {
                let old = next.x;
                next.x -= 1;
                *pc = if old <= 0 {
                    next.q.push(p);
                    QueuePc::Await
                } else {
                    self.critical()
                };
            }
            QueuePc::Await => {
                if !next.q.contains(&p) {
                    *pc = self.critical();
                }
            }
            QueuePc::Inside => *pc = QueuePc::GiveBack,
            QueuePc::GiveBack => {
                if !next.q.is_empty() {
                    next.q.remove(0);
                }
                next.x += 1;
                *pc = self.remainder();
                if let Some(passages) = self.passages {
                    *completed += 1;
                    if *completed == passages {
                        *pc = QueuePc::Done;
                    }
                }
            }
            QueuePc::Done => return None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("at most k inside", |model, state| {
                let inside = state.processes.iter().filter(|(pc, _)| *pc == model.critical()).count();
                inside <= usize::from(model.k)
            }),
            Property::<Self>::always("X in (k-n)..=k", |model, state| {
                (model.k as i8 - model.n as i8..=model.k as i8).contains(&state.x)
            }),
        ]
    }
}
