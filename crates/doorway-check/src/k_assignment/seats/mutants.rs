//! Faults of seats.

use super::SeatsInUse;
use crate::mutants::rows::*;

#[rustfmt::skip] // a row for each
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("seats", "split:3"), TWO_ONCE, Some((K_EXCLUSION, 8)), "seats-takes-in-two-steps", "3 looks and writes in two steps: two take one slot"),
    mutant(row("seats", "drop:71=9"), TWO_ONCE, Some((STUCK, 11)), "seats-does-not-look-after-announcing", "7 takes every slot for held: the process that frees it has not seen the bit"),
    mutant(row("seats", "drop:21"), TWO_ONCE, Some((STUCK, 17)), "seats-does-not-wake", "21 dropped: a waiter that is offered a slot sleeps on"),
    mutant(row("seats", "drop:23=0"), TWO_ONCE, Some((STUCK, 12)), "seats-does-not-look-after-freeing", "23 dropped: a waiter that announced itself before 22 sleeps on"),
    mutant(row("seats", "drop:19=0"), TWO_ONCE, Some((STUCK, 9)), "seats-offers-for-ever", "19 is always told that it failed"),
    mutant(row("seats", "init:slot=1"), TWO_ONCE, Some(("P4", 0)), "seats-starts-taken", "a slot is held from the start"),
    mutant(row("seats", "drop:1=0"), THREE_ONCE, Some((ORDER, 10)), "seats-newcomers-pass", "1 dropped: newcomers do not check for waiters"),
    mutant(row("seats", "drop:12"), TWO_ONCE, Some(("P4", 24)), "seats-keeps-its-bit", "12 dropped: a process that is inside seems to wait"),
    mutant(row("seats", "drop:15"), TWO_ONCE, Some(("P4", 13)), "seats-gives-up-with-its-bit", "15 dropped: a process that has given up seems to wait").giving_up(),
    mutant(row("seats", "write:19=65542>65538,write:20=98315>98313"), TWO_ONCE, Some(("P2", 38)), "seats-does-not-tell", "19 and 20 do not say that an owner died").crashing(1),
    mutant(row("seats", "bits:slot=16"), TWO_BOUNDED, Some(("P1", 10)), "seats-fences-come-back", "a fence has one bit").crashing(1),
    mutant(row("seats", "drop:261=0"), THREE_ONCE, Some(("P1", 23)), "seats-reclaims-from-the-living", "26 takes every owner for dead").crashing(1),
    mutant(row("seats", "drop:20"), TWO_ONCE, Some(("P4", 14)), "seats-does-not-confirm", "20 dropped: the waiter that is offered the slot does it, and until then the slot seems to have its old owner"),
    mutant(row("seats", "drop:16=99"), THREE_TWICE, Some((ORDER, 31)), "seats-prefers-newcomers", "16 dropped: with an old copy of the bits, prefers a process that has come back").giving_up().shown_by("dw1/mutant:seats-prefers-newcomers/3,1/2/c0go/atomic/first-in-first-enabled/0x3.1x8.1g.1.0x2.2x4.1x4.0x3.1x5/de84640e"),
    mutant(row("seats-bypass", "split:3"), TWO_ONCE, Some((K_EXCLUSION, 6)), "seats-bypass-takes-in-two-steps", "3 looks and writes in two steps: two take one slot"),
    mutant(row("seats-bypass", "drop:23=0"), TWO_ONCE, Some((STUCK, 9)), "seats-bypass-does-not-look-after-freeing", "23 dropped: no waiter is called"),
    mutant(row("seats-bypass", "drop:38=0"), TWO_ONCE, Some((STUCK, 12)), "seats-bypass-does-not-call", "38 is always told that it failed"),
    mutant(row("seats-bypass", "drop:39"), TWO_ONCE, Some((STUCK, 14)), "seats-bypass-does-not-wake", "39 dropped: a waiter that is called sleeps on"),
    mutant(row("seats-bypass", "drop:41=0"), TWO_ONCE, Some((STUCK, 12)), "seats-bypass-stays-called", "41 is always told that it failed"),
    mutant(row("seats-bypass", "drop:42=9"), THREE_ONCE, Some(("deadlock-free", 25)), "seats-bypass-keeps-the-call", "42 takes every slot for held: a waiter that is called and gives up tells no other").giving_up(),
    mutant(row("seats-bypass", "init:slot=1"), TWO_ONCE, Some(("P4", 0)), "seats-bypass-starts-taken", "a slot is held from the start"),
    mutant(row("seats-bypass", "bits:slot=16"), TWO_BOUNDED, Some(("P1", 7)), "seats-bypass-fences-come-back", "a fence has one bit").crashing(1),
    mutant(row("seats-bypass", "write:19=65542>65538,write:20=98315>98313"), TWO_ONCE, Some(("P2", 38)), "seats-bypass-does-not-tell", "19 and 20 do not say that an owner died").crashing(1),
    mutant(own("seats-bypass", SIZES, |s, r| SeatsInUse { bypass: 4 * s.k as u32, ..SeatsInUse::default() }.world(s, r)), TWO_FOUR_TIMES, Some(("bypass-bound", 26)), "seats-bypass-hands-over-too-rarely", "every fourth owner of a slot hands it over, not every second"),
];

/// Enough passages to pass a waiter three times.
const TWO_FOUR_TIMES: In = (2, 1, Some(4));
