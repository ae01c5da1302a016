//! Faults in Kessels's tree.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("kessels-tree", "defer:node1.7>node.7"), THREE, Some((MUTEX, 22)), "kessels-tree-exits-from-the-leaf", "the exit goes from the leaf to the root"),
    mutant(row("kessels-tree", "drop:node1.*"), THREE, Some((MUTEX, 5)), "kessels-tree-without-root", "no process competes at the root"),
    mutant(row("kessels-tree", "drop:node2.*"), THREE, Some((MUTEX, 8)), "kessels-tree-without-leaves", "no process competes at the lowest level"),
    mutant(row("kessels-tree", "to:1@p1:q[0],to:2@p1:r[1],to:3@p1:r[0],to:4@p1:q[1],to:5@p1:r[1],to:7@p1:q[0]"), TWO, Some((MUTEX, 8)), "kessels-tree-all-on-the-left", "all processes come to the left side"),
    mutant(row("kessels-tree", "drop:node2.7"), THREE, Some((STUCK, 12)), "kessels-tree-leaves-the-root-only", "the exit ends at the root"),
    mutant(row("kessels-tree", "defer:1"), TWO, Some((MUTEX, 9)), "kessels-tree-2-before-1", "reads the rival's bit before it says that it competes"),
    mutant(row("kessels-tree", "defer:1>3"), TWO, Some((MUTEX, 9)), "kessels-tree-3-before-1", "signs before it says that it competes"),
    mutant(row("kessels-tree", "drop:1"), TWO, Some((MUTEX, 6)), "kessels-tree-without-1", "1 dropped: never says that it competes"),
    mutant(row("kessels-tree", "drop:2"), TWO, Some((MUTEX, 7)), "kessels-tree-without-2", "2 dropped: signs without a look at the rival's bit"),
    mutant(row("kessels-tree", "drop:3"), TWO, Some((STUCK, 4)), "kessels-tree-without-3", "3 dropped: knows its bit, and does not write it"),
    mutant(row("kessels-tree", "read:2@p1!,read:5@p1!"), TWO, Some((STUCK, 6)), "kessels-tree-both-the-same", "the right side signs as the left does"),
    mutant(row("kessels-tree", "drop:4=true"), TWO, Some((STUCK, 3)), "kessels-tree-without-4", "4 dropped: waits for the rival's bit although there is no rival"),
    mutant(row("kessels-tree", "drop:5"), TWO, Some((STUCK, 6)), "kessels-tree-without-5", "5 dropped: waits for a rival that waits too"),
    mutant(row("kessels-tree", "drop:4=false"), TWO, Some((MUTEX, 6)), "kessels-tree-without-waiting", "4 and 5 dropped: enters without waiting"),
    mutant(row("kessels-tree", "to:4:[+1],drop:2=false,drop:5=false"), TWO, Some((STUCK, 2)), "kessels-tree-waits-for-itself", "4 looks at its own flag, and 5 is dropped"),
    mutant(row("kessels-tree", "drop:7"), TWO, Some((STUCK, 8)), "kessels-tree-without-7", "7 dropped: competes for ever"),
    mutant(row("kessels-tree", "wait:7:q[me+1]=false"), TWO, Some((STUCK, 8)), "kessels-tree-waits-to-leave", "7 waits until the rival does not compete"),
];
