//! Faults in Peterson's tree.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("peterson-tree", "defer:node1.6>node.6"), THREE, Some((MUTEX, 17)), "peterson-tree-exits-from-the-leaf", "the exit goes from the leaf to the root"),
    mutant(row("peterson-tree", "drop:node1.*"), THREE, Some((MUTEX, 4)), "peterson-tree-without-root", "no process competes at the root"),
    mutant(row("peterson-tree", "drop:node2.*"), THREE, Some((MUTEX, 6)), "peterson-tree-without-leaves", "no process competes at the lowest level"),
    mutant(row("peterson-tree", "to:1@p1:q[0],to:3@p1:q[1],to:6@p1:q[0],write:2@p1=0,read:4@p1!"), TWO, Some((MUTEX, 6)), "peterson-tree-all-on-the-left", "all processes come to the left side"),
    mutant(row("peterson-tree", "drop:node2.6"), THREE, Some((STUCK, 9)), "peterson-tree-leaves-the-root-only", "the exit ends at the root"),
    mutant(row("peterson-tree", "defer:1"), TWO, Some((MUTEX, 7)), "peterson-tree-2-before-1", "signs turn before it says that it competes"),
    mutant(row("peterson-tree", "drop:1"), TWO, Some((MUTEX, 4)), "peterson-tree-without-1", "1 dropped: never says that it competes"),
    mutant(row("peterson-tree", "drop:2"), TWO, Some((MUTEX, 5)), "peterson-tree-without-2", "2 dropped: no process signs turn"),
    mutant(row("peterson-tree", "write:2!"), TWO, Some((MUTEX, 7)), "peterson-tree-signs-for-the-rival", "2 signs for the rival"),
    mutant(row("peterson-tree", "drop:3=true"), TWO, Some((STUCK, 2)), "peterson-tree-without-3", "3 dropped: waits for turn although there is no rival"),
    mutant(row("peterson-tree", "drop:4@p0=0,drop:4@p1=1"), TWO, Some((STUCK, 4)), "peterson-tree-without-4", "4 dropped: waits for a rival that waits too"),
    mutant(row("peterson-tree", "drop:3=false"), TWO, Some((MUTEX, 4)), "peterson-tree-without-waiting", "3 and 4 dropped: enters without waiting"),
    mutant(row("peterson-tree", "to:3:[+1],drop:4@p0=0,drop:4@p1=1"), TWO, Some((STUCK, 2)), "peterson-tree-waits-for-itself", "3 looks at its own flag, and 4 is dropped"),
    mutant(row("peterson-tree", "drop:6"), TWO, Some((STUCK, 6)), "peterson-tree-without-6", "6 dropped: competes for ever"),
    mutant(row("peterson-tree", "wait:6:q[me+1]=false"), TWO, Some((STUCK, 6)), "peterson-tree-waits-to-leave", "6 waits until the rival does not compete"),
];
