//! The vocabulary of the files of entries.

pub(crate) use super::CostModel::{Cc, CcWriteBack, Dsm};
pub(crate) use super::{Bound, Defaults, Entry, Fits, Info, Listed, Paper, Sizes, Tolerates};
pub(crate) use crate::memory::Instruction::{self, *};
pub(crate) use crate::memory::{Machine, Register, Site};

pub(crate) const READ_WRITE: &[Instruction] = &[Read, Write];
pub(crate) const READ_WRITE_ADD: &[Instruction] = &[Read, Write, FetchAdd];

/// Algorithms: the name of each, its type on a memory `M`, how it is built, and the claims about
/// it.
macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident: $on:ty, |$site:ident, $sizes:ident| $build:expr, $info:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;
            impl Listed for $name {
                const INFO: Info = $info;
            }
            impl Entry for $name {
                type On<M: Machine> = $on;
                fn build<M: Machine>($site: &Site<'_, M>, $sizes: Sizes) -> $on {
                    $build
                }
            }
        )*
    };
}

/// Objects: the name of each, and the claims about it.
macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident: $info:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;
            impl Listed for $name {
                const INFO: Info = $info;
            }
        )*
    };
}

/// The algorithms whose waiting processes can give up.
macro_rules! abortable {
    ($($name:ident)*) => {
        $(impl $crate::registry::AbortableEntry for $name {
            type Gives<M: Machine> = <Self as Entry>::On<M>;
            fn build_abortable<M: Machine>(site: &Site<'_, M>, sizes: Sizes) -> Self::Gives<M> {
                Self::build(site, sizes)
            }
        })*
    };
}

/// The claims of nearly every mutex, followed by further ones.
macro_rules! of_a_mutex {
    ($($more:literal),* $(,)?) => {
        &["mutual-exclusion", "never-stuck", "someone-enters", "deadlock-free", "bounded-exit", $($more),*]
    };
}

/// The claims of nearly every solution of k-exclusion, followed by further ones.
macro_rules! of_k_exclusion {
    ($($more:literal),* $(,)?) => {
        &["k-exclusion", "never-stuck", "k-enter-together", "deadlock-free", "bounded-exit", "starvation-free", $($more),*]
    };
}

pub(crate) use {abortable, entries, objects, of_a_mutex, of_k_exclusion};
