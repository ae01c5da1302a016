//! States that differ only in how far counters have advanced, compared without being changed.
//!
//! A [`Canon`](super::Canon) replaces a state by the representative of its class. Here a state
//! stays as it was found, and only the form in which it is compared omits the numbers that do not
//! matter. So every run that a search finds is one of the machine as it is. What a process
//! remembers is known from its [`keep`](doorway_core::memory::Here::keep), in which [`Numbers`]
//! finds the numbers.
//!
//! If a number were overlooked there, different states would become one. So each local state is
//! examined twice: as it is, and with all counters advanced, each by another number. If the
//! remainder changes, or the numbers are not advanced by exactly that much, states with this local
//! state are compared exactly.

use super::LocalId;
use super::layout::VarId;
use super::learn::{Halt, Missing};
use super::locals::{DONE, ROOT};
use super::op::Op;
use super::world::{Machine, State, World};
use crate::explore::push;
use rustc_hash::FxHashMap;
use std::fmt::Debug;

/// A number that matters only in relation to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// Its counter.
    pub of: u8,
    /// Its role for that counter, as [`Numbers`] defines it.
    pub role: u8,
    /// How far the counter had advanced.
    pub value: u64,
}

/// The numbers in the states of one algorithm.
pub trait Numbers: Debug + Send + Sync {
    /// A word of this variable without its number, and that number.
    fn in_word(&self, var: VarId, word: u64) -> (u64, Option<Number>);
    /// The word with another number, if it has one.
    fn with(&self, var: VarId, word: u64, value: u64) -> u64;
    /// What a process keeps without its numbers, and these; `None` if any of it is unknown.
    fn in_kept(&self, kept: &str) -> Option<(String, Vec<Number>)>;
    /// The remainder of a word, or of what a process keeps, tells a counter modulo this.
    fn period(&self) -> u64 {
        1
    }
    /// Replaces the numbers of a state by those of its class.
    fn renumber(&self, numbers: &mut [Number]);
}

/// What is known of a local state.
#[derive(Clone, Debug)]
enum Local {
    /// Not examined yet.
    Unknown,
    /// It can only be compared exactly.
    Exact,
    Known(Remembered),
}

#[derive(Clone, Debug)]
struct Remembered {
    /// It without its numbers.
    rest: u32,
    numbers: Box<[Number]>,
}

/// The numbers, and cached results.
#[derive(Debug)]
pub(super) struct Alike {
    numbers: Box<dyn Numbers>,
    /// For each process and examined local state.
    remembered: Vec<Vec<Local>>,
    rests: FxHashMap<String, u32>,
}

impl Alike {
    /// How far a counter is in the second examination: each counter advances by another number.
    fn further(&self, number: Number) -> u64 {
        number.value.wrapping_add(self.numbers.period() * (3 + 2 * u64::from(number.of)))
    }
}

impl World {
    /// Compares states without numbers that are only counts. Local states that are not merged are
    /// compared exactly.
    #[must_use]
    pub fn with_numbers(mut self, numbers: impl FnOnce(&super::Layout) -> Option<Box<dyn Numbers>>) -> Self {
        let Some(numbers) = numbers(self.layout()) else { return self };
        let remembered = vec![Vec::new(); self.processes()];
        self.machine.alike = Some(Alike { numbers, remembered, rests: FxHashMap::default() });
        self
    }

    /// Whether two states are equal, or differ only in numbers that are counts.
    pub(crate) fn is_alike(&mut self, a: &State, b: &State) -> bool {
        let rest_is_the_same = || *b == State { vars: b.vars.clone(), locals: b.locals.clone(), ..a.clone() };
        if a == b || !rest_is_the_same() {
            return a == b;
        }
        let mut compared = |state: &State| {
            self.knowing(|machine| {
                let mut bytes = Vec::new();
                Ok(machine.write_alike(state, &mut bytes, &mut Vec::new())?.then_some(bytes))
            })
        };
        // Looking at what is kept cannot go wrong: the text has come this far.
        let (a, b) = (compared(a), compared(b));
        matches!((a, b), (Ok(Some(a)), Ok(Some(b))) if a == b)
    }

    /// Examines a local state.
    pub(super) fn learn_remembered(&mut self, p: usize, at: LocalId) {
        let Some(mut alike) = self.machine.alike.take() else { return };
        let remembered = self.remembered(&mut alike, p, at).map_or(Local::Exact, Local::Known);
        let known = &mut alike.remembered[p];
        if known.len() <= at as usize {
            known.resize(self.locals[p].nodes.len().max(at as usize + 1), Local::Unknown);
        }
        known[at as usize] = remembered;
        self.machine.alike = Some(alike);
    }

    fn remembered(&self, alike: &mut Alike, p: usize, at: LocalId) -> Option<Remembered> {
        if at == ROOT || at == DONE {
            return Some(Remembered { rest: at, numbers: Box::default() });
        }
        let kept = |moved: &dyn Fn(Op, u64) -> u64| {
            let kept = self.locals[p].kept_if(&self.sim, &*self.start, at, moved)?;
            alike.numbers.in_kept(&kept)
        };
        let (rest, numbers) = kept(&|_, word| word)?;
        let (same, moved) = kept(&|op, word| match (op, op.var()) {
            (Op::Write(..) | Op::Sleep(..), _) | (_, None) => word,
            (_, Some(v)) => match alike.numbers.in_word(v, word).1 {
                Some(number) => alike.numbers.with(v, word, alike.further(number)),
                None => word,
            },
        })?;
        let expected = numbers.iter().map(|&number| Number { value: alike.further(number), ..number });
        if same != rest || !moved.into_iter().eq(expected) {
            return None;
        }
        let next = alike.rests.len() as u32 + 2;
        Some(Remembered { rest: *alike.rests.entry(rest).or_insert(next), numbers: numbers.into() })
    }
}

impl Machine {
    /// Whether states are compared in another form than that in which they are kept.
    pub(crate) fn compares_otherwise(&self) -> bool {
        self.alike.is_some() || self.renames()
    }

    /// Writes variables and local states in the compared form. Returns `false`, and writes nothing,
    /// if they must be compared exactly.
    pub(crate) fn write_alike(
        &self,
        state: &State,
        bytes: &mut Vec<u8>,
        numbers: &mut Vec<Number>,
    ) -> Result<bool, Halt> {
        let Some(alike) = &self.alike else { return Ok(false) };
        numbers.clear();
        let begin = bytes.len();
        for (v, &word) in state.vars.iter().enumerate() {
            let (rest, number) = alike.numbers.in_word(v as VarId, word);
            push(bytes, rest);
            numbers.extend(number);
        }
        for (p, (&at, known)) in state.locals.iter().zip(&alike.remembered).enumerate() {
            match known.get(at as usize) {
                None | Some(Local::Unknown) => return Err(Halt::Missing(Missing::Remembered(p, at))),
                Some(Local::Exact) => {
                    bytes.truncate(begin);
                    return Ok(false);
                }
                Some(Local::Known(Remembered { rest, numbers: more })) => {
                    push(bytes, u64::from(*rest));
                    numbers.extend_from_slice(more);
                }
            }
        }
        alike.numbers.renumber(numbers);
        numbers.iter().for_each(|number| push(bytes, number.value));
        Ok(true)
    }
}
