//! Faults in the tray, and in the turnstile beside it.

use crate::mutants::rows::*;

const BOUND: &str = "bypass-bound";
const TWO_THRICE: (usize, usize, Option<u32>) = (2, 1, Some(3));

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(row("bypass", "init:gate#open+1"), TWO, Some((K_EXCLUSION, 10)), "bypass-one-too-many", "the gate starts with one place too many open"),
    mutant(row("bypass", "init:gate#open-1"), TWO_TWO, Some((TOO_FEW, 0)), "bypass-one-too-few", "the gate starts with one place too few open"),
    mutant(row("bypass", "write:61#passed=old"), TWO_THRICE, Some((BOUND, 31)), "bypass-counts-nobody", "61 does not count the newcomers that pass").shown_by("dw1/mutant:bypass-counts-nobody/2,1/3/c0/atomic/bypass-bound/0x2.1x3.0x2.1.0x5.1x18/c07ecbe8"),
    mutant(row("bypass", "split:61"), TWO, Some((K_EXCLUSION, 41)), "bypass-takes-in-two-steps", "61 is two steps: two take the same place"),
    mutant(row("bypass", "blind:61"), TWO, Some((K_EXCLUSION, 40)), "bypass-takes-blindly", "61 is a write, not a compare-and-swap"),
    mutant(row("bypass", "drop:63=0"), TWO, Some((STUCK, 22)), "bypass-leaves-nothing", "63 dropped: the place is lost"),
    mutant(row("bypass", "drop:67"), TWO, Some((STUCK, 22)), "bypass-calls-nobody", "67 dropped: the first in line sleeps on"),
    mutant(row("bypass", "blind:67"), TWO, Some((STUCK, 38)), "bypass-calls-blindly", "67 is a write, not a compare-and-swap: it calls a waiter that was let in"),
    mutant(row("bypass", "drop:69"), TWO, Some((K_EXCLUSION, 39)), "bypass-moves-a-copy", "69 dropped: the place stays in the tray too"),
    mutant(row("bypass", "blind:69"), TWO, Some((K_EXCLUSION, 40)), "bypass-moves-blindly", "69 is a write, not a compare-and-swap"),
    mutant(row("bypass", "blind:72"), TWO, Some((STUCK, 24)), "bypass-listens-blindly", "72 is a write, not a compare-and-swap: a signal is overwritten"),
    mutant(row("bypass", "drop:73=0"), TWO, Some((STUCK, 24)), "bypass-listens-and-sleeps", "73 dropped: does not look after it listens"),
    mutant(row("bypass", "defer:72>73"), TWO, Some((STUCK, 56)), "bypass-looks-then-listens", "72 after 73: looks before it listens"),
    mutant(row("bypass", "drop:77=0"), TWO, Some((DOOR, 62)), "bypass-leaves-its-door", "77 dropped: a process that leaves does not check whether newcomers may draw again"),
    mutant(row("bypass", "read:9#line=0"), TWO, Some((STUCK, 19)), "bypass-moves-without-help", "9 sees no process in line"),
    mutant(row("bypass", "split:5"), TWO, Some((STUCK, 20)), "bypass-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("bypass", "then-also:14:[+1]#ticket+1"), TWO, Some((K_EXCLUSION, 34)), "bypass-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("bypass", "drop:15"), TWO, Some((STUCK, 24)), "bypass-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("bypass", "then-wait:63:tray#loose=0"), TWO, Some((STUCK, 18)), "bypass-waits-to-leave", "after 63, waits until the place is taken"),
    mutant(row("bypass", "blind:14"), TWO, Some((STUCK, 38)), "bypass-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("bypass", "write:18#odd=old"), TWO, Some((STUCK, 61)), "bypass-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(row("bypass", "write:7#ghosts=old"), TWO, Some((STUCK, 76)), "bypass-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("bypass", "drop:4,read:46#open+100"), TWO, Some((STUCK, 143)), "bypass-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up().shown_by("dw1/mutant:bypass-never-full/2,1/-/c0g/atomic/never-stuck/0x6.1x11.1g.1x13.1g.1x13.1g.1x13.1g.1x13.1g.1x13.1g.1x13.1g.1x10.1g.1x12.1g.1x6.0x11/a91d7594"),
    mutant(row("bypass", "write:61#passed+1"), TWO_BOUNDED, HOLDS, "bypass-counts-twice", "61 counts each newcomer that passes twice: fewer pass"),
];
