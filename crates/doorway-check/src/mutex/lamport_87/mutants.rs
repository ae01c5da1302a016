//! Faults in Lamport's fast mutex.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("lamport-fast", "drop:1"), TWO, Some((MUTEX, 11)), "lamport-fast-without-1", "1 dropped: never says that it is on its way"),
    mutant(row("lamport-fast", "defer:2"), TWO, Some((MUTEX, 10)), "lamport-fast-3-before-2", "looks at y before it signs x"),
    mutant(row("lamport-fast", "drop:3"), TWO, Some((MUTEX, 8)), "lamport-fast-without-3", "3 dropped: does not look whether y is signed"),
    mutant(row("lamport-fast", "drop:4"), TWO, Some((STUCK, 9)), "lamport-fast-without-4", "4 dropped: does not withdraw while it waits for y"),
    mutant(row("lamport-fast", "read:3=nobody,set:6:B[me]=false,drop:6,drop:7=me"), TWO, Some((MUTEX, 8)), "lamport-fast-without-5", "enters after 4 whatever it finds in y and x"),
    mutant(row("lamport-fast", "defer:6"), TWO, Some((MUTEX, 10)), "lamport-fast-7-before-6", "looks at x before it signs y"),
    mutant(row("lamport-fast", "drop:7=me"), TWO, Some((MUTEX, 8)), "lamport-fast-without-7", "7 dropped: always takes the short way"),
    mutant(row("lamport-fast", "drop:8"), THREE, Some((STUCK, 14)), "lamport-fast-without-8", "8 dropped: does not withdraw before it waits for others"),
    mutant(row("lamport-fast", "nowait:9"), TWO, Some((MUTEX, 13)), "lamport-fast-without-9", "9 dropped: does not wait for processes that may be on the short way"),
    mutant(row("lamport-fast", "drop:10=me"), TWO, Some((MUTEX, 19)), "lamport-fast-without-10", "10 dropped: enters even if another process signed y last"),
    mutant(row("lamport-fast", "drop:13"), TWO, Some((STUCK, 10)), "lamport-fast-without-13", "13 dropped: leaves y signed"),
    mutant(row("lamport-fast", "drop:14"), TWO, Some((STUCK, 12)), "lamport-fast-without-14", "14 dropped: seems to be on its way for ever"),
    mutant(row("lamport-fast", "init:y=p0"), TWO, Some((STUCK, 4)), "lamport-fast-starts-taken", "y is signed from the start"),
    mutant(row("lamport-fast", "wait:13:B[me+1]=false"), TWO, Some((LEAVES, 10)), "lamport-fast-waits-to-leave", "13 waits until the next one is not on its way"),
];
