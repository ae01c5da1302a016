//! The only shared variables there are: safe bits with one writer.

use crate::memory::{Decl, Domain, Needs, Pid, decl};

/// A safe bit that is local to this process.
///
/// A read that overlaps a write returns either value. If the writer dies half-way, every later read
/// overlaps that write.
///
/// ```
/// use doorway_core::k_exclusion::dolev_gafni_shavit_88::safe_bit;
/// use doorway_core::memory::{Pid, Register};
/// let bit = safe_bit(false, Pid::new(1));
/// assert_eq!((bit.needs.register(), bit.width), (Register::Safe, 1));
/// ```
#[must_use]
pub fn safe_bit(init: bool, home: Pid) -> Decl<'static, bool> {
    decl(init).home(home).needs(Needs::Safe(Domain::Of(&[false, true]))).wraps_at(1)
}
