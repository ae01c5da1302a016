//! Names from Anderson and Moir's k-assignment, as in the paper.

use super::{Object, Resilient, ResilientBuildError};
use crate::combining::CallError;
use crate::native::{Native, now, sizes};
use crate::threads::{Number, ProcessNumbers};
use doorway_core::k_assignment::KAssignment;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::Site;
use doorway_core::registry::{self, Entry};
use std::fmt;

/// Names from Anderson and Moir's [fast path and renaming](crate::gates::AmAssign), for a known
/// number of threads.
///
/// This is the paper's methodology to the letter. [`Slots`](crate::Slots) need no such number, and
/// cost less.
pub struct AmAssign {
    algorithm: <registry::AmAssign as Entry>::On<Native>,
    numbers: ProcessNumbers,
}

impl fmt::Debug for AmAssign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("AmAssign");
        all.field("threads", &self.numbers.len()).field("in_use", &self.numbers.in_use()).finish()
    }
}

impl AmAssign {
    fn with_name<R>(&self, then: impl FnOnce(usize) -> R) -> Result<R, CallError> {
        let me = self.numbers.take()?;
        let Ok(held) = now(self.algorithm.acquire(self.numbers.process(&me)));
        let name = <<registry::AmAssign as Entry>::On<Native> as KAssignment<Native>>::name(&held);
        // However `then` ends, the name is given back.
        let _leaves = Leaves { names: self, inside: Some((me, held)) };
        Ok(then(name))
    }
}

type Held = <<registry::AmAssign as Entry>::On<Native> as KExclusion<Native>>::Held;

struct Leaves<'a> {
    names: &'a AmAssign,
    inside: Option<(Number, Held)>,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        if let Some((me, held)) = self.inside.take() {
            let Ok(()) = now(self.names.algorithm.release(self.names.numbers.process(&me), held));
            self.names.numbers.give_back(me);
        }
    }
}

impl<T: Object> Resilient<T, AmAssign> {
    /// Shares this object between `threads` threads at a time, of which up to `k - 1` may stop.
    ///
    /// # Errors
    /// Returns an error if `k` is 0 or more than [`MOST`](Self::MOST), or if this number of threads
    /// is not supported: for example, because it would take more than a gigabyte or two.
    ///
    /// # Examples
    /// ```
    /// use doorway::resilient::{AmAssign, Register, Resilient};
    /// use std::sync::Arc;
    /// let name = Resilient::<_, AmAssign>::for_threads(Register::new("a"), 2, 4)?;
    /// assert_eq!(*name.apply(Arc::new("b"))?, "a");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_threads(value: T, k: usize, threads: usize) -> Result<Self, ResilientBuildError> {
        Self::within(value, k, || {
            let sizes = sizes::<registry::AmAssign>(threads, k)?;
            Ok::<_, crate::SizeError>(AmAssign {
                algorithm: registry::AmAssign::build(&Site::new(&Native::new()), sizes),
                numbers: ProcessNumbers::new(threads),
            })
        })
    }

    /// Applies an operation.
    ///
    /// # Errors
    /// Returns an error if all process numbers are in use by other threads, or if this thread is
    /// already in an operation on this object.
    ///
    /// # Panics
    /// Panics if the operation panics, or if cloning the state does.
    pub fn apply(&self, op: T::Op) -> Result<T::Response, CallError> {
        self.names.with_name(|name| self.inside.perform(name, op))
    }

    /// Looks at the state.
    ///
    /// # Errors
    /// The same as for [`apply`](Self::apply).
    ///
    /// # Panics
    /// Panics if `look` panics, or if cloning the state does.
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> Result<R, CallError> {
        self.names.with_name(|name| self.inside.look(name, look))
    }
}

impl<T: Object> fmt::Debug for Resilient<T, AmAssign> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Resilient");
        all.field("survives", &self.survives()).field("names", &self.names).finish_non_exhaustive()
    }
}
