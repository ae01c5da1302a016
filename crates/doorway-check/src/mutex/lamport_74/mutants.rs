//! Faults in the Bakery.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("bakery", "nowait:7"), TWO_BOUNDED, Some((MUTEX, 12)), "bakery-never-waits-at-7", "7 dropped: does not wait while others draw"),
    mutant(row("bakery", "drop:3,drop:5"), TWO_BOUNDED, Some((MUTEX, 8)), "bakery-never-opens-its-doorway", "3 and 5 dropped: no process says that it draws"),
    mutant(row("bakery", "defer:42"), TWO_BOUNDED, Some((MUTEX, 12)), "bakery-closes-its-doorway-early", "5 before 42: the ticket is not yet written"),
    mutant(row("bakery", "read:8@p1=1>2"), TWO_BOUNDED, Some((MUTEX, 12)), "bakery-breaks-no-ties", "8 of process 1 takes a ticket 1 for a 2: two processes that have drawn 1 both enter"),
    mutant(row("bakery", "read:8=2>1"), TWO_BOUNDED, Some((STUCK, 10)), "bakery-waits-on-ties", "8 takes a ticket 2 for a 1: two processes that have drawn 2 both wait"),
    mutant(row("bakery", "write:42-1"), TWO_BOUNDED, Some((ORDER_FIRST, 10)), "bakery-draws-the-maximum", "42 writes max instead of 1 + max"),
    mutant(row("bakery", "drop:10"), TWO_BOUNDED, Some((STUCK, 12)), "bakery-keeps-its-ticket", "10 dropped: leaves with its ticket"),
    mutant(row("bakery", "wait:8:Ticket[me]=0"), TWO_BOUNDED, Some((STUCK, 5)), "bakery-waits-for-itself", "8 also waits until its own ticket is gone, which never happens"),
    mutant(row("bakery", "wait:10:Ticket[me+1]=0"), TWO_BOUNDED, Some((STUCK, 12)), "bakery-waits-to-leave", "10 waits until the next one has no ticket"),
];
