//! Faults in the Black-White Bakery.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // black-white-bakery
    mutant(row("black-white-bakery", "drop:1,drop:4"), TWO, Some((MUTEX, 12)), "black-white-bakery-never-says-that-it-chooses", "1 and 4 dropped: no process says that it draws"),
    mutant(row("black-white-bakery", "defer:32"), TWO, Some((MUTEX, 16)), "black-white-bakery-has-chosen-early", "4 before 32: the ticket is not yet written"),
    mutant(row("black-white-bakery", "nowait:6"), TWO, Some((MUTEX, 16)), "black-white-bakery-never-waits-at-6", "6 dropped: compares with a ticket that may still come"),
    mutant(row("black-white-bakery", "nowait:8"), TWO, Some((ORDER_FIRST, 13)), "black-white-bakery-never-waits-at-8", "8 dropped: passes smaller tickets of its colour"),
    mutant(row("black-white-bakery", "drop:92=0"), TWO, Some((ORDER_FIRST, 23)), "black-white-bakery-takes-white-for-shown", "92 always sees white: black tickets pass older ones"),
    mutant(row("black-white-bakery", "drop:31=0"), TWO, Some((ORDER_FIRST, 11)), "black-white-bakery-draws-one", "31 dropped: every process draws one"),
    mutant(row("black-white-bakery", "drop:10"), TWO, Some(("N", 17)), "black-white-bakery-keeps-its-colour", "10 dropped: the colour never changes, and numbers grow as the Bakery's do"),
    mutant(row("black-white-bakery", "drop:11"), TWO, Some((STUCK, 16)), "black-white-bakery-keeps-its-ticket", "11 dropped: leaves with its ticket"),
    mutant(row("black-white-bakery", "drop:4"), TWO, Some((STUCK, 8)), "black-white-bakery-chooses-for-ever", "4 dropped: others wait for a ticket that is there"),
    mutant(row("black-white-bakery", "to:8:Ticket[me]"), TWO, Some((STUCK, 7)), "black-white-bakery-waits-for-itself", "8 looks at its own ticket"),
    mutant(row("black-white-bakery", "wait:11:Choosing[me+1]=true"), TWO, Some((STUCK, 9)), "black-white-bakery-waits-to-leave", "11 waits until the next one draws"),
    mutant(row("black-white-bakery", "then-wait:4:Choosing[me]=true"), TWO, Some((STUCK, 5)), "black-white-bakery-lets-nobody-in", "after 4 waits until it draws again"),
    mutant(row("black-white-bakery", "init:color=1"), TWO, HOLDS, "black-white-bakery-begins-with-black", "the first colour is black (control: either will do)"),
    // black-white-bakery-in-two
    mutant(row("black-white-bakery-in-two", "then-wait:4:Choosing[me]=true"), TWO_BOUNDED, Some((STUCK, 7)), "black-white-bakery-in-two-lets-nobody-in", "after 4 waits until it draws again"),
    mutant(row("black-white-bakery-in-two", "nowait:6"), TWO_BOUNDED, Some((MUTEX, 24)), "black-white-bakery-in-two-never-waits-at-6", "6 dropped: compares with a ticket that may still come"),
    mutant(row("black-white-bakery-in-two", "nowait:8"), TWO_BOUNDED, Some((ORDER_FIRST, 19)), "black-white-bakery-in-two-never-waits-at-8", "8 dropped: passes smaller tickets of its colour"),
    mutant(row("black-white-bakery-in-two", "drop:32"), TWO_BOUNDED, Some((ORDER_FIRST, 17)), "black-white-bakery-in-two-draws-nothing", "32 dropped: no process has a ticket"),
    mutant(row("black-white-bakery-in-two", "drop:11"), TWO_BOUNDED, Some((STUCK, 23)), "black-white-bakery-in-two-keeps-its-ticket", "11 dropped: leaves with its ticket"),
    mutant(row("black-white-bakery-in-two", "drop:4"), TWO_BOUNDED, Some((STUCK, 12)), "black-white-bakery-in-two-chooses-for-ever", "4 dropped: others wait for a ticket that is there"),
    mutant(row("black-white-bakery-in-two", "wait:11:Choosing[me+1]=true"), TWO_BOUNDED, Some((STUCK, 13)), "black-white-bakery-in-two-waits-to-leave", "11 waits until the next one draws"),
];
