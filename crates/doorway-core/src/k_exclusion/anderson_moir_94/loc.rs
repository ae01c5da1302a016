//! A location to wait at, as one word.

use crate::memory::{Anybody, Pid, Word};
use core::fmt;

/// `(pid, loc)`: the `loc`-th spin location of a process. It is one word, so that compare-and-swap
/// can exchange it.
///
/// ```
/// use doorway_core::k_exclusion::anderson_moir_94::Loc;
/// use doorway_core::memory::{Pid, Word};
/// let here = Loc { pid: Pid::new(2), loc: 5 };
/// assert_eq!(Loc::unpack(here.pack()), here);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    /// The process it belongs to.
    pub pid: Pid,
    /// Its number among the locations of that process; below 2^48.
    pub loc: u64,
}

impl Loc {
    /// Row and column in a table.
    #[must_use]
    #[inline(always)]
    pub fn at(self) -> (usize, usize) {
        (self.pid.index(), self.loc as usize)
    }
}

impl Word for Loc {
    type Waiters = Anybody;
    #[inline(always)]
    fn pack(self) -> u64 {
        self.loc << 16 | self.pid.pack()
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { pid: Pid::unpack(word), loc: word >> 16 }
    }
    fn renamed(self, name: &dyn Fn(Pid) -> Pid) -> Self {
        Self { pid: name(self.pid), ..self }
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.pid, self.loc)
    }
}
