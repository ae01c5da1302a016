//! What a process asks of the simulated memory, and its effect.

use super::layout::{Layout, Part, VarId};
use doorway_core::memory::{Instruction, Woken, Word as _};

/// The next step of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Reads.
    Read(VarId),
    /// Writes this.
    Write(VarId, u64),
    /// Adds this.
    FetchAdd(VarId, u64),
    /// Sets these bits.
    FetchOr(VarId, u64),
    /// Clears the bits that are not in this.
    FetchAnd(VarId, u64),
    /// Subtracts one unless it is zero.
    BoundedDecrement(VarId),
    /// Sets the bit.
    TestAndSet(VarId),
    /// Writes this.
    Swap(VarId, u64),
    /// If it is the first, writes the second.
    CompareSwap(VarId, u64, u64),
    /// Sleeps if the value is this, until it is woken or the owner of one of these seats dies (a
    /// bit for each). The flag says whether it can be told to give up.
    Sleep(VarId, u64, u64, bool),
    /// Wakes the processes that sleep on it.
    Wake(VarId),
    /// Asks whether any process has died so far.
    AnyDeath,
    /// Picks one of this many values; any of them may result.
    Choose(usize),
    /// Goes from one section to the next, without an access.
    Section,
    /// None: all passages are done.
    Stop,
}

impl Op {
    /// The variable it is about.
    #[must_use]
    pub fn var(self) -> Option<VarId> {
        match self {
            Self::Read(v)
            | Self::Write(v, _)
            | Self::FetchAdd(v, _)
            | Self::FetchOr(v, _)
            | Self::FetchAnd(v, _)
            | Self::Sleep(v, ..)
            | Self::BoundedDecrement(v)
            | Self::TestAndSet(v)
            | Self::Swap(v, _)
            | Self::CompareSwap(v, ..) => Some(v),
            Self::Wake(_) | Self::AnyDeath | Self::Choose(_) | Self::Section | Self::Stop => None,
        }
    }

    /// The same on another variable.
    pub(super) fn on(self, v: VarId) -> Self {
        match self {
            Self::Read(_) => Self::Read(v),
            Self::Write(_, x) => Self::Write(v, x),
            Self::FetchAdd(_, delta) => Self::FetchAdd(v, delta),
            Self::FetchOr(_, mask) => Self::FetchOr(v, mask),
            Self::FetchAnd(_, mask) => Self::FetchAnd(v, mask),
            Self::BoundedDecrement(_) => Self::BoundedDecrement(v),
            Self::TestAndSet(_) => Self::TestAndSet(v),
            Self::Swap(_, x) => Self::Swap(v, x),
            Self::CompareSwap(_, old, x) => Self::CompareSwap(v, old, x),
            other => other,
        }
    }

    /// The value that it must find in order to change anything.
    pub(crate) fn expects(self) -> Option<u64> {
        match self {
            Self::CompareSwap(_, old, _) => Some(old),
            _ => None,
        }
    }

    /// The value of the variable afterwards, given the one before.
    pub(super) fn leaves(self, old: u64) -> u64 {
        match self {
            Self::Read(_)
            | Self::Sleep(..)
            | Self::Wake(_)
            | Self::AnyDeath
            | Self::Choose(_)
            | Self::Section
            | Self::Stop => old,
            Self::Write(_, x) | Self::Swap(_, x) => x,
            Self::FetchAdd(_, delta) => old.wrapping_add(delta),
            Self::FetchOr(_, mask) => old | mask,
            Self::FetchAnd(_, mask) => old & mask,
            Self::BoundedDecrement(_) => old.saturating_sub(1),
            Self::TestAndSet(_) => 1,
            Self::CompareSwap(_, expected, x) => {
                if old == expected {
                    x
                } else {
                    old
                }
            }
        }
    }

    /// Its name among the instructions.
    #[must_use]
    pub fn instruction(self) -> Option<Instruction> {
        Some(match self {
            Self::Read(_) => Instruction::Read,
            Self::Write(..) => Instruction::Write,
            Self::FetchAdd(..) => Instruction::FetchAdd,
            Self::FetchOr(..) => Instruction::FetchOr,
            Self::FetchAnd(..) => Instruction::FetchAnd,
            Self::BoundedDecrement(_) => Instruction::BoundedDecrement,
            Self::TestAndSet(_) => Instruction::TestAndSet,
            Self::Swap(..) => Instruction::Swap,
            Self::CompareSwap(..) => Instruction::CompareSwap,
            Self::Sleep(..) | Self::Wake(_) | Self::AnyDeath | Self::Choose(_) | Self::Section | Self::Stop => {
                return None;
            }
        })
    }

    /// Applies it to the variables, and returns what the process sees. Everything but a write sees
    /// the old value.
    pub(super) fn apply(self, layout: &Layout, vars: &mut [u64]) -> u64 {
        let Some(v) = self.var() else { return 0 };
        let old = vars[v as usize];
        let new = self.leaves(old);
        if new != old {
            vars[v as usize] = layout.var(v).fit(new);
        }
        match self {
            Self::Write(..) => 0,
            Self::Sleep(_, seen, ..) => if old == seen { Woken::Again } else { Woken::Called }.pack(),
            _ => old,
        }
    }

    /// What happened in a part, for people: `saw` is what the process saw.
    #[must_use]
    pub fn describe(self, layout: &Layout, part: Part, saw: u64) -> String {
        if let Self::Choose(n) = self {
            return format!("chooses {saw} of {n}");
        }
        if let Self::AnyDeath = self {
            return if saw == 0 { "no process has died" } else { "a process may have died" }.to_owned();
        }
        if let Self::Wake(v) = self {
            return format!("wakes the sleepers of {}", layout.name_within(part, v));
        }
        let Some(v) = self.var() else { return String::new() };
        let name = layout.name_within(part, v);
        let show = |word| layout.var(v).show(word);
        match self {
            Self::Read(_) => format!("{name} = {}", show(saw)),
            Self::Write(_, x) => format!("{name} := {}", show(x)),
            Self::FetchAdd(_, d) if (d as i64) < 0 => {
                format!("{name} -= {}, was {}", (d as i64).unsigned_abs(), show(saw))
            }
            Self::FetchAdd(_, d) => format!("{name} += {}, was {}", show(d), show(saw)),
            Self::FetchOr(_, m) => format!("{name} |= {m:#b}, was {saw:#b}"),
            Self::FetchAnd(_, m) => format!("{name} &= !{:#b}, was {saw:#b}", !m),
            Self::Sleep(_, seen, ..) => match Woken::unpack(saw) {
                Woken::Called => format!("wakes, or does not sleep, for {name}"),
                Woken::Death => "wakes, or does not sleep, because of a death".to_owned(),
                Woken::Again => format!("sleeps while {name} = {}", show(seen)),
                Woken::GiveUp => "wakes to give up".to_owned(),
            },
            Self::BoundedDecrement(_) => format!("{name} -= 1 unless 0, was {}", show(saw)),
            Self::TestAndSet(_) => format!("{name} := true, was {}", show(saw)),
            Self::Swap(_, x) => format!("{name} := {}, was {}", show(x), show(saw)),
            Self::CompareSwap(_, old, x) if saw == old => format!("{name}: {} → {}", show(old), show(x)),
            Self::CompareSwap(_, old, _) => format!("{name} is {}, not {}", show(saw), show(old)),
            Self::Wake(_) | Self::AnyDeath | Self::Choose(_) | Self::Section | Self::Stop => String::new(),
        }
    }
}
