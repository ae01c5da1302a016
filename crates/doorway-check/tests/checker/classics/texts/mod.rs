//! Classic algorithms for mutual exclusion, as an outsider would write them: a struct of variables,
//! two sections, no memory in sight.
//!
//! Statement numbers are those of the comments above each text; a statement with several accesses
//! numbers them 41, 42 and so on. A process does not read a variable that only it writes if it
//! knows what it wrote.

pub(crate) mod burns;
pub(crate) mod dekker;
pub(crate) mod dijkstra;
pub(crate) mod filter;
pub(crate) mod hyman;
pub(crate) mod kessels;
pub(crate) mod knuth;
pub(crate) mod lamport;
pub(crate) mod peterson;
pub(crate) mod szymanski;

use doorway_core::memory::{Domain, Needs, Pid, Register};

/// The values of a bit.
pub(crate) const BITS: [bool; 2] = [false, true];

/// The registers that a text is declared with: those of variables with one writer, and those of
/// variables with several.
///
/// What a paper claims is one question; what happens to the text below its claim is another. A
/// table asks both, so the registers are a parameter here, and the claim stands in the comment
/// above each text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) one_writer: Register,
    pub(crate) many_writers: Register,
}

/// All variables are of this kind.
pub(crate) const fn all(register: Register) -> Registers {
    Registers { one_writer: register, many_writers: register }
}

impl std::fmt::Display for Registers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.one_writer == self.many_writers {
            write!(f, "{}", self.one_writer)
        } else {
            write!(f, "{}, shared {}", self.one_writer, self.many_writers)
        }
    }
}

/// The claim for a variable over these values.
pub(crate) fn needs<T>(register: Register, values: &[T]) -> Needs<'_, T> {
    match register {
        Register::Safe => Needs::Safe(Domain::Of(values)),
        Register::Monotone => Needs::Monotone(Domain::Of(values)),
        Register::Regular => Needs::Regular,
        Register::Atomic => Needs::Atomic,
    }
}

/// The names of all processes: the range of a variable that holds a name.
pub(crate) fn names(n: usize) -> Vec<Pid> {
    (0..n).map(Pid::new).collect()
}

/// All other processes, in the order of their names.
pub(crate) fn others(n: usize, me: usize) -> impl Iterator<Item = usize> + Clone {
    (0..n).filter(move |&j| j != me)
}
