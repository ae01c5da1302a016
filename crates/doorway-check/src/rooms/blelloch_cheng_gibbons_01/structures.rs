//! Stacks and queues, as they would behave if operations came one after the other.

use crate::Property;
use crate::sim::Sequential;
use doorway_core::memory::{Anybody, Word};

/// An operation of a stack or queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// Add this, which is not 0.
    Put(u64),
    /// Remove an element.
    Take,
}

impl Word for Asks {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        match self {
            Self::Put(x) => x,
            Self::Take => 0,
        }
    }
    fn unpack(word: u64) -> Self {
        if word == 0 { Self::Take } else { Self::Put(word) }
    }
}

/// Its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    /// Whether there was space.
    Put(bool),
    /// The element, if there was one.
    Took(Option<u64>),
}

const FITS: u64 = 1 << 32;
const FULL: u64 = 1 << 33;

impl Word for Answers {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        match self {
            Self::Put(fits) => {
                if fits {
                    FITS
                } else {
                    FULL
                }
            }
            Self::Took(x) => x.unwrap_or(0),
        }
    }
    fn unpack(word: u64) -> Self {
        match word {
            FITS => Self::Put(true),
            FULL => Self::Put(false),
            0 => Self::Took(None),
            x => Self::Took(Some(x)),
        }
    }
}

/// A stack or queue for up to `most` elements.
struct Elements {
    most: usize,
    first_in_first_out: bool,
}

impl Sequential for Elements {
    type State = Vec<u64>;
    type Op = Asks;
    type Response = Answers;

    fn initial(&self) -> Vec<u64> {
        Vec::new()
    }

    fn apply(&self, elements: &Vec<u64>, op: Asks) -> (Vec<u64>, Answers) {
        let mut now = elements.clone();
        let answer = match op {
            Asks::Put(_) if now.len() >= self.most => Answers::Put(false),
            Asks::Put(x) => {
                now.push(x);
                Answers::Put(true)
            }
            Asks::Take if self.first_in_first_out && !now.is_empty() => Answers::Took(Some(now.remove(0))),
            Asks::Take => Answers::Took(now.pop()),
        };
        (now, answer)
    }
}

/// The claims of stacks and queues of this size.
pub(super) fn properties(most: usize, first_in_first_out: bool) -> Vec<Property> {
    vec![
        Property::linearizable("linearizable", Elements { most, first_in_first_out }),
        Property::never_stuck("never-stuck"),
        Property::starvation_free("starvation-free"),
    ]
}

/// A bound on the retries of a push.
pub(super) fn retries(most: u64) -> Property {
    Property::always("retries", move |v| {
        v.processes().all(|p| v.shown::<u64>(p, "retries").is_none_or(|retries| retries <= most))
    })
}
