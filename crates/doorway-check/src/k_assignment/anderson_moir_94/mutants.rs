//! Faults in Anderson and Moir's k-assignment.

use crate::k_exclusion::anderson_moir_94::mutants::{Part, composed, fast_path};
use crate::mutants::rows::*;

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // am-assign
    mutant(row("am-assign", "split:root.2"), THREE_TWO, Some((NAMES, 8)), "am-assign-tests-then-sets", "2 tests and sets in two steps"),
    mutant(row("am-assign", "write:root.2=false"), THREE_TWO, Some((NAMES, 6)), "am-assign-never-sets", "2 tests the bits and sets none"),
    mutant(row("am-assign", "drop:root.3"), THREE_TWO, Some((NAMES, 11)), "am-assign-never-clears", "3 leaves the bit set"),
    mutant(row("am-assign", "defer:root.3>root.0"), THREE_TWO, Some((NAMES, 11)), "am-assign-clears-late", "3 after 4: the bit is cleared when the place is free"),
    mutant(row("am-assign", "set:exclusion.9:root.X[0]=false"), THREE_TWO, Some((NAMES, 13)), "am-assign-3-unguarded", "also clears the bit of name 0, whatever its name is"),
    mutant(row("am-assign", "drop:root.2=true"), THREE_TWO, Some((NAMES, 4)), "am-assign-starts-at-name-1", "2 begins with name 1"),
    mutant(row("am-assign", "read:exclusion.2=-1>1,read:exclusion.2=-2>1"), THREE, Some((K_EXCLUSION, 7)), "am-assign-as-printed-on-plain-add", "2 is fast below 0, as printed, on a fetch-and-add that goes there"),
    mutant(row("am-assign", "split:exclusion.2"), THREE, Some((K_EXCLUSION, 9)), "am-assign-reads-then-takes-its-place", "2 of the fast path is two steps: two take the same place"),
    mutant(row("am-assign", "defer:slot.6>9,defer:slot.7>9"), THREE, Some((K_EXCLUSION, 13)), "am-assign-returns-its-place-first", "9 before the block is released"),
    mutant(built_for("am-assign", -1), TWO_TWO, Some((TOO_FEW, 0)), "am-assign-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(row("am-assign", "defer:slot.6"), THREE_TWO, Some((STUCK, 18)), "am-assign-swaps-6-and-7-in-its-slots", "in block and slow path, wakes before it frees the slot"),
    mutant(row("am-assign", "init:slot.X+1"), THREE_TWO, Some((K_EXCLUSION, 10)), "am-assign-one-too-many-in-its-slots", "in block and slow path, X starts one too high"),
    mutant(row("am-assign", "write:slot.7=p0"), THREE_TWO, Some((STUCK, 18)), "am-assign-7-names-p0-in-its-slots", "in block and slow path, 7 writes the name p0"),
    mutant(row("am-assign", "then-wait:slot.7:Q!=me"), THREE, Some((STUCK, 4)), "am-assign-waits-to-leave-its-slots", "in block and slow path, after 7, waits until another process writes Q"),
    // am-dsm-assign
    mutant(row("am-dsm-assign", "split:root.2"), THREE_TWO_ONCE, Some((NAMES, 8)), "am-dsm-assign-tests-then-sets", "2 tests and sets in two steps"),
    mutant(row("am-dsm-assign", "write:root.2=false"), THREE_TWO_ONCE, Some((NAMES, 6)), "am-dsm-assign-never-sets", "2 tests the bits and sets none"),
    mutant(row("am-dsm-assign", "drop:root.3"), THREE_TWO_ONCE, Some((NAMES, 11)), "am-dsm-assign-never-clears", "3 leaves the bit set"),
    mutant(row("am-dsm-assign", "defer:root.3>root.0"), THREE_TWO_ONCE, Some((NAMES, 11)), "am-dsm-assign-clears-late", "3 after 4: the bit is cleared when the place is free"),
    mutant(row("am-dsm-assign", "set:exclusion.9:root.X[0]=false"), THREE_TWO_ONCE, Some((NAMES, 17)), "am-dsm-assign-3-unguarded", "also clears the bit of name 0, whatever its name is"),
    mutant(row("am-dsm-assign", "drop:root.2=true"), THREE_TWO_ONCE, Some((NAMES, 4)), "am-dsm-assign-starts-at-name-1", "2 begins with name 1"),
    mutant(row("am-dsm-assign", "read:exclusion.2=-1>1,read:exclusion.2=-2>1"), THREE_ONCE, Some((K_EXCLUSION, 7)), "am-dsm-assign-as-printed-on-plain-add", "2 is fast below 0, as printed, on a fetch-and-add that goes there"),
    mutant(own("am-dsm-assign", CALLS, |s, r| composed(s, r, true, Part::Named(fast_path::Fault::PlaceFirst))), THREE_TWICE, Some((K_EXCLUSION, 23)), "am-dsm-assign-returns-its-place-first", "9 before the block is released"),
    mutant(built_for("am-dsm-assign", -1), TWO_TWO, Some((TOO_FEW, 0)), "am-dsm-assign-has-a-slot-too-many", "slot k-1 added to block and slow path: lets k-1 in"),
    mutant(row("am-dsm-assign", "defer:slot.16"), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-swaps-16-and-17-in-its-slots", "in block and slow path, looks for a process to release before it frees the slot"),
    mutant(row("am-dsm-assign", "defer:slot.11>slot.13"), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-swaps-11-and-13-in-its-slots", "in block and slow path, looks at X before it takes the place in Q"),
    mutant(row("am-dsm-assign", "read:slot1.3+2,read:slot2.3+3"), THREE_TWO_ONCE, Some((K_EXCLUSION, 20)), "am-dsm-assign-3-takes-the-last-in-its-slots", "in block and slow path, 3 begins with the location that may be in Q"),
    mutant(row("am-dsm-assign", "drop:slot.20"), THREE_TWO_ONCE, Some((STUCK, 30)), "am-dsm-assign-without-20-in-its-slots", "in block and slow path, 20 dropped: releases no process"),
    mutant(row("am-dsm-assign", "init:slot.X+1"), THREE_TWO_ONCE, Some((K_EXCLUSION, 10)), "am-dsm-assign-one-too-many-in-its-slots", "in block and slow path, X starts one too high"),
    mutant(row("am-dsm-assign", "init:slot.X-1"), THREE_ONCE, Some((STUCK, 10)), "am-dsm-assign-one-too-few-in-its-slots", "in block and slow path, X starts one too low"),
    mutant(row("am-dsm-assign", "then-wait:slot.21:R=0"), TWO_BOUNDED, Some((LEAVES, 27)), "am-dsm-assign-waits-to-leave-its-slots", "in block and slow path, after 21, waits until no process pins the location"),
];
