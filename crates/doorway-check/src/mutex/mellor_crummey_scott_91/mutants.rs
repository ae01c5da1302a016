//! Faults in the locks of Mellor-Crummey and Scott.

use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // tas-backoff
    mutant(row("tas-backoff", "split:1"), TWO, Some((MUTEX, 4)), "tas-backoff-tests-then-sets", "test and set are two steps"),
    mutant(row("tas-backoff", "nowait:1"), TWO, Some((MUTEX, 3)), "tas-backoff-enters-after-its-pause", "after its first pause enters without looking"),
    mutant(row("tas-backoff", "then-set:3:Taken=false"), TWO, Some((MUTEX, 5)), "tas-backoff-clears-on-failure", "while it pauses clears the bit, as if it had set it"),
    mutant(row("tas-backoff", "drop:4"), TWO, Some((STUCK, 5)), "tas-backoff-never-clears", "4 leaves the bit set"),
    mutant(row("tas-backoff", "init:Taken=true"), TWO, Some((STUCK, 3)), "tas-backoff-starts-taken", "the bit is set from the start"),
    mutant(row("tas-backoff", "write:2=4>8"), TWO, HOLDS, "tas-backoff-pauses-too-long", "2 doubles the longest pause too, which only (D) notices"),
    mutant(row("tas-backoff", "then-set:1:Delay[me]=4"), TWO, Some(("quiet-waits", 6)), "tas-backoff-never-sleeps", "2 also writes the longest pause, which is there already"),
    mutant(row("tas-backoff", "wait:4:Taken=false"), TWO, Some((STUCK, 2)), "tas-backoff-waits-to-leave", "4 waits until the bit is clear"),
    // ticket
    mutant(row("ticket", "split:1"), TWO, Some((STUCK, 6)), "ticket-reads-then-adds", "1 is two steps: two draw the same ticket"),
    mutant(row("ticket", "bits:Next=1,bits:Serving=1"), THREE, Some((ORDER_FIRST, 4)), "ticket-one-bit-less", "tickets have one bit less than N of them need"),
    mutant(row("ticket", "read:2-1"), THREE, Some((STUCK, 1)), "ticket-waits-for-the-next", "2 waits for the turn after its own"),
    mutant(row("ticket", "drop:4"), TWO, Some((STUCK, 4)), "ticket-never-serves", "4 dropped: no ticket is called"),
    mutant(row("ticket", "write:4+1"), THREE, Some((STUCK, 4)), "ticket-skips-one", "4 calls the ticket after the next"),
    mutant(row("ticket", "write:4-1"), TWO, Some((STUCK, 4)), "ticket-serves-itself", "4 calls its own ticket again"),
    mutant(row("ticket", "wait:4:Next=0"), TWO, Some((STUCK, 3)), "ticket-waits-to-leave", "4 waits until the next ticket is 0"),
    // mcs
    mutant(row("mcs", "drop:1"), THREE, Some((STUCK, 15)), "mcs-without-1", "1 dropped: finds the follower of an earlier passage"),
    mutant(row("mcs", "split:2"), TWO, Some((MUTEX, 6)), "mcs-reads-then-writes-tail", "2 is two steps"),
    mutant(row("mcs", "defer:3"), TWO, Some((STUCK, 8)), "mcs-4-before-3", "links itself before it says that it has to wait: unlocked too early, it waits for ever"),
    mutant(row("mcs", "drop:3"), TWO, Some((MUTEX, 6)), "mcs-without-3", "3 dropped: does not say that it has to wait"),
    mutant(row("mcs", "nowait:5"), TWO, Some((MUTEX, 7)), "mcs-without-5", "5 dropped: enters without waiting"),
    mutant(row("mcs", "nowait:9"), TWO, Some((STUCK, 10)), "mcs-without-9", "9 dropped: unlocks a process although none has linked itself"),
    mutant(row("mcs", "drop:10"), TWO, Some((STUCK, 7)), "mcs-without-10", "10 dropped: unlocks no process"),
    mutant(row("mcs", "init:Tail=p0"), TWO, Some((STUCK, 4)), "mcs-starts-taken", "the list is not empty at the start"),
    mutant(row("mcs", "drop:8=me"), TWO, Some((STUCK, 7)), "mcs-without-8", "8 dropped: stays in the list when it leaves"),
    mutant(row("mcs", "split:8"), TWO, Some((ORDER_FIRST, 9)), "mcs-looks-then-empties", "8 is two steps"),
    mutant(row("mcs", "blind:8"), THREE, Some((ORDER_FIRST, 8)), "mcs-without-compare-and-swap", "8 empties the list even if another process is last"),
    // mcs-swap
    mutant(row("mcs-swap", "drop:1"), THREE, Some((STUCK, 15)), "mcs-swap-without-1", "1 dropped: finds the follower of an earlier passage"),
    mutant(row("mcs-swap", "split:2"), TWO, Some((MUTEX, 6)), "mcs-swap-reads-then-writes-tail", "2 is two steps"),
    mutant(row("mcs-swap", "defer:3"), TWO, Some((STUCK, 8)), "mcs-swap-4-before-3", "links itself before it says that it has to wait: unlocked too early, it waits for ever"),
    mutant(row("mcs-swap", "drop:3"), TWO, Some((MUTEX, 6)), "mcs-swap-without-3", "3 dropped: does not say that it has to wait"),
    mutant(row("mcs-swap", "nowait:5"), TWO, Some((MUTEX, 7)), "mcs-swap-without-5", "5 dropped: enters without waiting"),
    mutant(row("mcs-swap", "nowait:9"), TWO, Some((STUCK, 11)), "mcs-swap-without-9", "9 dropped: unlocks a process although none has linked itself"),
    mutant(row("mcs-swap", "drop:10,drop:91"), TWO, Some((STUCK, 7)), "mcs-swap-without-10", "10 dropped: unlocks no process"),
    mutant(row("mcs-swap", "init:Tail=p0"), TWO, Some((STUCK, 4)), "mcs-swap-starts-taken", "the list is not empty at the start"),
    mutant(row("mcs-swap", "drop:81"), THREE, Some((MUTEX, 13)), "mcs-swap-never-puts-back", "81 dropped: the list stays empty although processes wait"),
    mutant(row("mcs-swap", "read:81=nobody"), THREE, Some((MUTEX, 14)), "mcs-swap-never-looks-for-usurpers", "unlocks its follower although a usurper is inside"),
    // with processes that try
    mutant(trying("tas-backoff", "then-set:1@p1:Taken=false"), TWO, Some((MUTEX, 3)), "tas-backoff-attempt-clears", "after an attempt, the process clears the bit"),
    mutant(trying("tas-backoff", "split:1@p1"), TWO, Some((MUTEX, 3)), "tas-backoff-attempt-looks-again", "an attempt tests and sets in two steps"),
    mutant(trying("ticket", "nowait:2@p1"), TWO, Some((MUTEX, 8)), "ticket-attempt-without-2", "an attempt drops 2: others have come and gone, and the number is the same again"),
    mutant(trying("ticket", "to:5:Next,nowait:2@p1"), TWO, Some((ORDER_FIRST, 4)), "ticket-attempt-draws-what-is-next", "5 reads Next, and 2 is dropped: an attempt enters with any ticket"),
    mutant(trying("ticket", "blind:6"), TWO, Some((ORDER_FIRST, 4)), "ticket-attempt-keeps-its-ticket", "6 draws whatever has been drawn: two have the same ticket"),
    mutant(trying("mcs", "drop:1@p1"), THREE, Some((STUCK, 17)), "mcs-attempt-without-1", "an attempt drops 1: finds the follower of an earlier passage"),
    mutant(trying("mcs", "split:11"), TWO, Some((MUTEX, 5)), "mcs-attempt-looks-then-writes", "11 is two steps"),
    mutant(trying("mcs", "force:11"), TWO, Some((STUCK, 6)), "mcs-attempt-swaps", "11 swaps whatever it finds"),
];
