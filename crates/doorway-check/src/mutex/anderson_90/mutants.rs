//! Faults in the test-and-set lock and Anderson's array lock.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // tas
    mutant(row("tas", "split:1"), TWO, Some((MUTEX, 6)), "tas-tests-then-sets", "test and set are two steps"),
    mutant(row("tas", "write:1=false"), TWO, Some((MUTEX, 4)), "tas-never-sets", "the bit is tested and never set"),
    mutant(row("tas", "drop:2"), TWO, Some((STUCK, 4)), "tas-never-clears", "2 leaves the bit set"),
    mutant(row("tas", "init:Taken=true"), TWO, Some((STUCK, 1)), "tas-starts-taken", "the bit is set from the start"),
    mutant(row("tas", "wait:2:Taken=false"), TWO, Some((STUCK, 3)), "tas-waits-to-leave", "2 waits until the bit is clear"),
    // anderson-array
    mutant(row("anderson-array", "split:1"), TWO, Some((STUCK, 7)), "anderson-array-reads-then-adds", "1 is two steps: two have the same slot"),
    mutant(row("anderson-array", "bits:Next=1,to:5:Slot[0]"), THREE, Some((ORDER_FIRST, 5)), "anderson-array-ring-too-small", "tickets are for two slots only, and 5 always sets slot 0"),
    mutant(row("anderson-array", "drop:3"), TWO, Some((ORDER_FIRST, 6)), "anderson-array-leaves-its-slot-set", "3 dropped: the slot is still set a round later"),
    mutant(row("anderson-array", "init:Slot[1]=true"), TWO, Some((ORDER_FIRST, 4)), "anderson-array-starts-with-two", "two slots are set from the start"),
    mutant(row("anderson-array", "init:Slot=false"), TWO, Some((STUCK, 1)), "anderson-array-starts-with-none", "no slot is set from the start"),
    mutant(row("anderson-array", "to:5:[+1]"), THREE, Some((STUCK, 5)), "anderson-array-skips-one", "5 sets the slot after the next"),
    mutant(row("anderson-array", "drop:5"), TWO, Some((STUCK, 5)), "anderson-array-keeps-the-lock", "5 sets nothing"),
    mutant(row("anderson-array", "wait:5:Next=0"), TWO, Some((STUCK, 4)), "anderson-array-waits-to-leave", "5 waits until the next slot is 0"),
    // with processes that try
    mutant(trying("tas", "split:1@p1"), TWO, Some((MUTEX, 4)), "tas-attempt-tests-then-sets", "an attempt tests and sets in two steps"),
    mutant(trying("tas", "then-set:1@p1:Taken=false"), TWO, Some((MUTEX, 4)), "tas-attempt-clears", "after an attempt, the process clears the bit"),
];
