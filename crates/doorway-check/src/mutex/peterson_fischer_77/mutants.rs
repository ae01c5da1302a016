//! Faults in Peterson and Fischer.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("peterson-fischer", "drop:1"), TWO, Some((MUTEX, 17)), "peterson-fischer-without-1", "1 dropped: does not look before it shows a sign"),
    mutant(row("peterson-fischer", "drop:3"), TWO, Some((MUTEX, 6)), "peterson-fischer-looks-once", "3 and 4 dropped: does not see a rival that came in the meantime"),
    mutant(row("peterson-fischer", "drop:4"), TWO, Some((STUCK, 6)), "peterson-fischer-without-4", "4 dropped: knows what it should show, and does not"),
    mutant(row("peterson-fischer", "nowait:5"), TWO, Some((MUTEX, 9)), "peterson-fischer-without-5", "5 dropped: enters without waiting"),
    mutant(row("peterson-fischer", "read:5@p1=2>1"), TWO, Some((STUCK, 8)), "peterson-fischer-both-the-same", "5 of process 1 takes one sign for the other, as process 0 does"),
    mutant(row("peterson-fischer", "read:5=0>1"), TWO, Some((STUCK, 3)), "peterson-fischer-waits-for-nobody", "5 takes a rival that does not compete for one that does"),
    mutant(row("peterson-fischer", "wait:5:q[me]=0"), TWO, Some((STUCK, 3)), "peterson-fischer-waits-for-itself", "5 also waits until its own sign is gone"),
    mutant(row("peterson-fischer", "drop:7"), TWO, Some((STUCK, 9)), "peterson-fischer-without-7", "7 dropped: competes for ever"),
    mutant(row("peterson-fischer", "wait:7:q[me+1]=0"), TWO, Some((STUCK, 9)), "peterson-fischer-waits-to-leave", "7 waits until the rival does not compete"),
];
