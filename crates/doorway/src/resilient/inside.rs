//! The universal construction, compiled for each number of names.

use super::Object;
use super::store::{self, Answer, Plain, Quiet};
use crate::native::Native;
use doorway_core::memory::{Pid, Process, Site};
use doorway_core::resilient::Universal;
use std::panic::resume_unwind;

/// The construction for `K` names.
pub(super) struct UniversalFor<T: Object, const K: usize> {
    text: Universal<Native, Plain<T, K>>,
    /// The steps depend on the name, and not on the process that makes them.
    anyone: Process<Native>,
}

impl<T: Object, const K: usize> UniversalFor<T, K> {
    fn new(value: T, pauses: u32) -> Self {
        let store = Plain::new(value, pauses);
        let text = Universal::new(&Site::new(&Native::new()), K, Plain::<T, K>::POOL, store);
        Self { text, anyone: Process::new(Pid::new(0), Native::new()) }
    }

    #[inline(always)]
    fn perform(&self, name: usize, op: T::Op) -> T::Response {
        match self.text.perform_now(&self.anyone, name, Some(Quiet::new(op))) {
            Ok(Answer::Response(response)) => response.into_inner(),
            Ok(Answer::Nothing) => unreachable!("an operation has a response"),
            Ok(Answer::Panicked(panic)) => resume_unwind(*panic.into_inner()),
            Err(panic) => resume_unwind(*panic),
        }
    }

    fn look<R>(&self, name: usize, look: impl FnOnce(&T) -> R) -> R {
        store::look(&self.text, &self.anyone, name, look).unwrap_or_else(|panic| resume_unwind(*panic))
    }

    fn into_inner(self) -> T {
        let Ok(b) = self.text.look_now(&self.anyone, 0) else {
            unreachable!("no other thread is inside: nothing is copied")
        };
        self.text.into_store().into_state(b)
    }
}

macro_rules! numbers_of_names {
    ($($variant:ident $k:literal),*) => {
        /// The construction for each supported number of names.
        pub(super) enum Inside<T: Object> {
            $($variant(UniversalFor<T, $k>),)*
        }

        impl<T: Object> Inside<T> {
            /// Returns `None` if this number of names is not supported.
            pub(super) fn new(value: T, names: usize, pauses: u32) -> Option<Self> {
                match names {
                    $($k => Some(Self::$variant(UniversalFor::new(value, pauses))),)*
                    _ => None,
                }
            }

            pub(super) fn names(&self) -> usize {
                match self {
                    $(Self::$variant(_) => $k,)*
                }
            }

            pub(super) fn set_pauses(&mut self, pauses: u32) {
                match self {
                    $(Self::$variant(names) => names.text.store_mut().pauses = pauses,)*
                }
            }

            /// Performs an operation under this name. The caller must have the name alone until
            /// this returns. Panics if the operation panics, or if cloning the state does.
            #[inline(always)]
            pub(super) fn perform(&self, name: usize, op: T::Op) -> T::Response {
                match self {
                    $(Self::$variant(names) => names.perform(name, op),)*
                }
            }

            /// Looks at the state, under the same condition.
            pub(super) fn look<R>(&self, name: usize, look: impl FnOnce(&T) -> R) -> R {
                match self {
                    $(Self::$variant(names) => names.look(name, look),)*
                }
            }

            pub(super) fn into_inner(self) -> T {
                match self {
                    $(Self::$variant(names) => names.into_inner(),)*
                }
            }
        }
    };
}

numbers_of_names!(One 1, Two 2, Three 3, Four 4, Five 5, Six 6, Seven 7, Eight 8);
