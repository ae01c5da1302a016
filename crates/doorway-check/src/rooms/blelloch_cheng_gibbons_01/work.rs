//! A stack of work, as it would behave if operations came one after the other, and what its last
//! one out relies on.

use crate::Property;
use crate::property::View;
use crate::sim::Sequential;
use doorway_core::memory::{Anybody, Word};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{News, Top, Whole};

/// An operation of a stack of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// Add this, which is not 0.
    Add(u64),
    /// Take something.
    Take,
    /// Give back loot: this, or nothing.
    Return(Option<u64>),
    /// Repeat that all is done, to a worker that was told so.
    Ask,
}

const RETURNS: u64 = 1 << 32;
const ASKS: u64 = 1 << 33;

impl Word for Wish {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        match self {
            Self::Add(x) => x,
            Self::Take => 0,
            Self::Return(x) => RETURNS | x.unwrap_or(0),
            Self::Ask => ASKS,
        }
    }
    fn unpack(word: u64) -> Self {
        match word {
            0 => Self::Take,
            ASKS => Self::Ask,
            x if x & RETURNS != 0 => Self::Return(Some(x & !RETURNS).filter(|&x| x != 0)),
            x => Self::Add(x),
        }
    }
}

/// Its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// Whether there was memory.
    Added(bool),
    /// This.
    Took(u64),
    /// All is done.
    AllDone,
    /// Nothing yet: the worker must wait.
    Waits,
}

const ADDED: u64 = 1 << 32;
const FULL: u64 = 1 << 33;
const DONE: u64 = 1 << 34;
const WAITS: u64 = 1 << 35;

impl Word for Reply {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        match self {
            Self::Added(true) => ADDED,
            Self::Added(false) => FULL,
            Self::Took(x) => x,
            Self::AllDone => DONE,
            Self::Waits => WAITS,
        }
    }
    fn unpack(word: u64) -> Self {
        match word {
            ADDED => Self::Added(true),
            FULL => Self::Added(false),
            DONE => Self::AllDone,
            WAITS => Self::Waits,
            x => Self::Took(x),
        }
    }
}

/// A stack of work for up to `most` elements.
struct Workplace {
    most: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    elements: Vec<u64>,
    lent: usize,
    done: bool,
}

impl Sequential for Workplace {
    type State = Place;
    type Op = Wish;
    type Response = Reply;

    fn initial(&self) -> Place {
        Place { elements: Vec::new(), lent: 0, done: false }
    }

    fn apply(&self, place: &Place, wish: Wish) -> (Place, Reply) {
        let mut now = place.clone();
        let reply = match wish {
            Wish::Ask if now.done => Reply::AllDone,
            Wish::Ask => Reply::Added(true),
            Wish::Add(_) if now.done => Reply::AllDone,
            Wish::Add(x) => self.add(&mut now, x),
            Wish::Take => match now.elements.pop() {
                Some(x) => {
                    now.lent += 1;
                    Reply::Took(x)
                }
                None if now.lent == 0 => {
                    now.done = true;
                    Reply::AllDone
                }
                None => Reply::Waits,
            },
            Wish::Return(_) if now.lent == 0 => Reply::Waits,
            Wish::Return(x) => {
                now.lent -= 1;
                let reply = x.map_or(Reply::Added(true), |x| self.add(&mut now, x));
                now.done = now.elements.is_empty() && now.lent == 0;
                reply
            }
        };
        (now, reply)
    }
}

impl Workplace {
    fn add(&self, place: &mut Place, x: u64) -> Reply {
        let fits = place.elements.len() < self.most;
        if fits {
            place.elements.push(x);
        }
        Reply::Added(fits)
    }
}

fn has_loot(v: &View<'_>, p: usize) -> bool {
    v.shown::<u64>(p, "loot").is_some()
}

/// The claims of a stack of work for up to `most` elements.
pub(super) fn properties(most: usize) -> Vec<Property> {
    let quiet = |v: &View<'_>, _: usize| v.get::<News>("news") == News::Nothing;
    vec![
        Property::linearizable("linearizable", Workplace { most }),
        Property::never_stuck("never-stuck"),
        // Once all is done, late workers take from nothing for a moment.
        Property::always("W1", |v| {
            v.get::<News>("news") != News::AllDone
                || v.get::<Top>("top").0 <= 0 && v.processes().all(|p| !has_loot(v, p))
        }),
        Property::always("W2", |v| {
            v.get::<Whole>("lent").0 == v.processes().filter(|&p| has_loot(v, p)).count() as u64
        }),
        Property::leads_to("told", quiet, move |v, p| !quiet(v, p)),
    ]
}
