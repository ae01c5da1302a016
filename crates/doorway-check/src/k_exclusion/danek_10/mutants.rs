//! Faults in the k-Bakeries.

use crate::mutants::Text;
use crate::mutants::rows::*;

mod looks_again;

/// Why no memory can seed it.
const LOOPS: &str = "loops differently";

pub(crate) const WITHOUT_FAULT: &[Text] = &[own("kbakery", LOOPS, |s, r| looks_again::world(s, r, false))];

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // kbakery
    mutant(row("kbakery", "write:152x2=0"), TWO_BOUNDED, HOLDS, "kbakery-forgets-its-ticket", "152 does not note what it drew (control: only (T) notices)"),
    mutant(row("kbakery", "drop:14x2.."), TWO_ONCE, Some((ORDER_K, 6)), "kbakery-without-14", "14 dropped: a process draws without having announced its old ticket"),
    mutant(row("kbakery", "drop:14x2.."), THREE_TWO_ONCE, Some((ORDER_K, 13)), "kbakery-without-14-at-two-places", "the same, with two places"),
    mutant(row("kbakery", "drop:16"), TWO_ONCE, Some((STUCK, 6)), "kbakery-without-16", "16 dropped: no process learns the new ticket"),
    mutant(row("kbakery", "read:151=1>0"), TWO_ONCE, Some((ORDER_K, 9)), "kbakery-draws-the-maximum", "151 takes a ticket 1 for none: the next one draws it again"),
    mutant(row("kbakery", "then-set:25:Ticket[me]=0,then-set:25:own[me]=0"), TWO_BOUNDED, HOLDS, "kbakery-resets-its-ticket", "25 also sets the ticket to 0"),
    mutant(row("kbakery", "read:21@p1=1>2"), TWO_ONCE, Some((K_EXCLUSION, 10)), "kbakery-breaks-no-ties", "21 of process 1 takes a ticket 1 for a 2: two processes that have drawn 1 both strike the other out"),
    mutant(row("kbakery", "read:21@p0=1>0"), TWO_ONCE, Some((STUCK, 8)), "kbakery-waits-on-ties", "21 of process 0 takes a ticket 1 for a 0: two processes that have drawn 1 both wait"),
    mutant(built_for("kbakery", 1), TWO_ONCE, Some((ORDER_K, 7)), "kbakery-one-too-many", "19 waits for one fewer"),
    mutant(built_for("kbakery", -1), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-one-too-few", "19 waits for one more"),
    mutant(row("kbakery", "drop:25"), TWO_ONCE, Some((STUCK, 10)), "kbakery-without-25", "25 dropped: never says that it has left"),
    mutant(row("kbakery", "wait:25:Ticket[me+1]=0"), TWO_ONCE, Some((STUCK, 10)), "kbakery-waits-to-leave", "25 waits until the next one has no ticket"),
    mutant(own("kbakery", LOOPS, |s, r| looks_again::world(s, r, true)), THREE_TWO_ONCE, HOLDS, "kbakery-looks-at-everybody-again", "19 starts with all processes in pred at each turn"),
    mutant(row("kbakery", "home:Want=p0"), TWO_BOUNDED, HOLDS, "kbakery-tells-at-home", "Want lives with process 0: others wait far from home"),
    // kbakery-fife
    mutant(row("kbakery-fife", "write:152x2=0"), TWO_BOUNDED, HOLDS, "kbakery-fife-forgets-its-ticket", "152 does not note what it drew (control: only (T) notices)"),
    mutant(row("kbakery-fife", "drop:14x2.."), TWO_ONCE, Some((ORDER_K, 8)), "kbakery-fife-without-14", "14 dropped: a process draws without having announced its old ticket"),
    mutant(row("kbakery-fife", "drop:16"), TWO_ONCE, Some((STUCK, 6)), "kbakery-fife-without-16", "16 dropped: no process learns the new ticket"),
    mutant(row("kbakery-fife", "read:151=1>0"), TWO_ONCE, Some((ORDER_K, 11)), "kbakery-fife-draws-the-maximum", "151 takes a ticket 1 for none: the next one draws it again"),
    mutant(row("kbakery-fife", "then-set:25:Ticket[me]=0,then-set:25:own[me]=0"), TWO_BOUNDED, Some((K_EXCLUSION, 32)), "kbakery-fife-resets-its-ticket", "25 also sets the ticket to 0"),
    mutant(row("kbakery-fife", "read:21@p1=1>2"), TWO_ONCE, Some((K_EXCLUSION, 14)), "kbakery-fife-breaks-no-ties", "21 of process 1 takes a ticket 1 for a 2: two processes that have drawn 1 both strike the other out"),
    mutant(row("kbakery-fife", "read:21@p0=1>0"), TWO_ONCE, Some((STUCK, 8)), "kbakery-fife-waits-on-ties", "21 of process 0 takes a ticket 1 for a 0: two processes that have drawn 1 both wait"),
    mutant(built_for("kbakery-fife", 1), TWO_ONCE, Some((ORDER_K, 8)), "kbakery-fife-one-too-many", "19 waits for one fewer"),
    mutant(built_for("kbakery-fife", -1), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-fife-one-too-few", "19 waits for one more"),
    mutant(row("kbakery-fife", "drop:25"), TWO_ONCE, Some((STUCK, 12)), "kbakery-fife-without-25", "25 dropped: never says that it has left"),
    mutant(row("kbakery-fife", "wait:25:Ticket[me+1]=0"), TWO_ONCE, Some((STUCK, 12)), "kbakery-fife-waits-to-leave", "25 waits until the next one has no ticket"),
    mutant(row("kbakery-fife", "drop:23"), FOUR_TWO_ONCE, Some((ORDER, 25)), "kbakery-fife-without-23", "23 dropped: captures no process").shown_by("dw1/mutant:kbakery-fife-without-23/4,2/1/c0o/atomic/first-in-first-enabled/0x7.1x16.2.3/52c7d792"),
    mutant(row("kbakery-fife", "read:22@p0+1"), THREE_TWO_ONCE, HOLDS, "kbakery-fife-captures-by-name", "22 of process 0 also takes equal tickets, as if names decided"),
    mutant(row("kbakery-fife", "read:22+1"), TWO_BOUNDED, Some((K_EXCLUSION, 14)), "kbakery-fife-captures-ties", "22 takes equal tickets for captured"),
    mutant(row("kbakery-fife", "write:23+1"), TWO_BOUNDED, Some((K_EXCLUSION, 14)), "kbakery-fife-captures-too-much", "23 writes one more than the ticket"),
    mutant(row("kbakery-fife", "then-also:16:Capture"), THREE_ONCE, Some((ORDER_K, 27)), "kbakery-fife-captures-before-it-enters", "23 with 16"),
    // kbakery-nonatomic
    mutant(row("kbakery-nonatomic", "atomic:Want1,atomic:Want2,atomic:Capture1,atomic:Capture2"), TWO_BOUNDED, HOLDS, "kbakery-nonatomic-with-only-tickets-torn", "all other registers are atomic, so that more can be searched").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "drop:301,drop:302"), TWO_ONCE, Some((ORDER_K, 12)), "kbakery-nonatomic-without-30", "30 dropped: a process draws without having announced its old ticket"),
    mutant(row("kbakery-nonatomic", "drop:331,drop:332"), TWO_ONCE, Some((STUCK, 8)), "kbakery-nonatomic-without-33", "33 dropped: no process learns the new ticket"),
    mutant(row("kbakery-nonatomic", "defer:301,defer:331,defer:451,defer:481"), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-writes-copy-2-first", "writes copy 2 before copy 1").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "to:38:Want1,to:39:Want2"), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-reads-copy-1-first", "38 and 39 read copy 1 before copy 2").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "drop:39=99"), TWO_ONCE, Some((ORDER_K, 28)), "kbakery-nonatomic-without-39", "39 dropped: looks at one copy only").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "write:312-1"), TWO_ONCE, Some((ORDER_K, 18)), "kbakery-nonatomic-draws-the-maximum", "312 writes max instead of 1 + max"),
    mutant(row("kbakery-nonatomic", "read:38@p0=1>0"), TWO_ONCE, Some((STUCK, 12)), "kbakery-nonatomic-waits-on-ties", "38 of process 0 takes a ticket 1 for a 0: two processes that have drawn 1 both wait"),
    mutant(built_for("kbakery-nonatomic", 1), TWO_ONCE, Some((ORDER_K, 13)), "kbakery-nonatomic-one-too-many", "36 waits for one fewer"),
    mutant(built_for("kbakery-nonatomic", -1), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-nonatomic-one-too-few", "36 waits for one more"),
    mutant(row("kbakery-nonatomic", "drop:481,drop:482"), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-without-48", "48 dropped: never says that it has left"),
    mutant(row("kbakery-nonatomic", "wait:481:Ticket[me+1]=0"), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-waits-to-leave", "48 waits until the next one has no ticket"),
    mutant(row("kbakery-nonatomic", "read:41+1,read:42+1"), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-captures-ties", "41 and 42 take equal tickets for captured"),
    mutant(row("kbakery-nonatomic", "write:451+1,write:452+1"), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-captures-too-much", "45 writes one more than the ticket"),
    mutant(row("kbakery-nonatomic", "drop:42=99"), TWO_BOUNDED, Some((ORDER_K, 36)), "kbakery-nonatomic-without-42", "42 dropped: looks at one copy of a capture only").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "to:41:Capture1,to:42:Capture2"), TWO_BOUNDED, Some((ORDER_K, 37)), "kbakery-nonatomic-reads-copy-1-of-captures-first", "41 and 42 read copy 1 before copy 2").on_safe_bits(),
    mutant(row("kbakery-nonatomic", "read:44=99"), FOUR_TWO_TWICE, Some((ORDER, 128)), "kbakery-nonatomic-without-44", "44 takes every capture for one that does not hold").on_safe_bits().shown_by("dw1/mutant:kbakery-nonatomic-without-44/4,2/2/c0o/safe/first-in-first-enabled/0x17.2x4.3x4.1x103/215c4a9d"),
    // kbakery-nonatomic-as-printed
    mutant(row("kbakery-nonatomic-as-printed", "atomic:Want1,atomic:Want2,atomic:Capture1,atomic:Capture2"), THREE_TWICE, Some((K_EXCLUSION, 108)), "kbakery-nonatomic-as-printed-with-only-tickets-torn", "all other registers are atomic, so that a search finds what is wrong with it").on_safe_bits().shown_by("dw1/mutant:kbakery-nonatomic-as-printed-with-only-tickets-torn/3,1/2/c0/safe/k-exclusion/0x7.1x4.1s3.1x5.0x21.1x25.0x4.0s0.0x14.0s0.0.2x5.2s0.2x15.2s0.2x2/54ec085b"),
    mutant(row("kbakery-nonatomic-as-printed", "drop:301,drop:302"), TWO_ONCE, Some((ORDER_K, 12)), "kbakery-nonatomic-as-printed-without-30", "30 dropped: a process draws without having announced its old ticket"),
    mutant(row("kbakery-nonatomic-as-printed", "drop:331,drop:332"), TWO_ONCE, Some((STUCK, 8)), "kbakery-nonatomic-as-printed-without-33", "33 dropped: no process learns the new ticket"),
    mutant(row("kbakery-nonatomic-as-printed", "defer:301,defer:331,defer:451,defer:481"), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-as-printed-writes-copy-2-first", "writes copy 2 before copy 1").on_safe_bits(),
    mutant(row("kbakery-nonatomic-as-printed", "to:38:Want1,to:39:Want2"), TWO_BOUNDED, Some((ORDER_K, 29)), "kbakery-nonatomic-as-printed-reads-copy-1-first", "38 and 39 read copy 1 before copy 2").on_safe_bits(),
    mutant(row("kbakery-nonatomic-as-printed", "drop:39=99"), TWO_ONCE, Some((ORDER_K, 28)), "kbakery-nonatomic-as-printed-without-39", "39 dropped: looks at one copy only").on_safe_bits(),
    mutant(row("kbakery-nonatomic-as-printed", "write:312-1"), TWO_ONCE, Some((ORDER_K, 18)), "kbakery-nonatomic-as-printed-draws-the-maximum", "312 writes max instead of 1 + max"),
    mutant(row("kbakery-nonatomic-as-printed", "read:38@p0=1>0"), TWO_ONCE, Some((STUCK, 12)), "kbakery-nonatomic-as-printed-waits-on-ties", "38 of process 0 takes a ticket 1 for a 0: two processes that have drawn 1 both wait"),
    mutant(built_for("kbakery-nonatomic-as-printed", 1), TWO_ONCE, Some((ORDER_K, 13)), "kbakery-nonatomic-as-printed-one-too-many", "36 waits for one fewer"),
    mutant(built_for("kbakery-nonatomic-as-printed", -1), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "kbakery-nonatomic-as-printed-one-too-few", "36 waits for one more"),
    mutant(row("kbakery-nonatomic-as-printed", "drop:481,drop:482"), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-as-printed-without-48", "48 dropped: never says that it has left"),
    mutant(row("kbakery-nonatomic-as-printed", "wait:481:Ticket[me+1]=0"), TWO_ONCE, Some((STUCK, 19)), "kbakery-nonatomic-as-printed-waits-to-leave", "48 waits until the next one has no ticket"),
    mutant(row("kbakery-nonatomic-as-printed", "read:41+1,read:42+1"), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-as-printed-captures-ties", "41 and 42 take equal tickets for captured"),
    mutant(row("kbakery-nonatomic-as-printed", "write:451+1,write:452+1"), TWO_BOUNDED, Some((K_EXCLUSION, 24)), "kbakery-nonatomic-as-printed-captures-too-much", "45 writes one more than the ticket"),
    mutant(row("kbakery-nonatomic-as-printed", "drop:42=99"), TWO_BOUNDED, Some((ORDER_K, 36)), "kbakery-nonatomic-as-printed-without-42", "42 dropped: looks at one copy of a capture only").on_safe_bits(),
    mutant(row("kbakery-nonatomic-as-printed", "to:41:Capture1,to:42:Capture2"), TWO_BOUNDED, Some((ORDER_K, 37)), "kbakery-nonatomic-as-printed-reads-copy-1-of-captures-first", "41 and 42 read copy 1 before copy 2").on_safe_bits(),
    mutant(row("kbakery-nonatomic-as-printed", "read:44=99"), FOUR_TWO_TWICE, Some((ORDER, 128)), "kbakery-nonatomic-as-printed-without-44", "44 takes every capture for one that does not hold").on_safe_bits().shown_by("dw1/mutant:kbakery-nonatomic-as-printed-without-44/4,2/2/c0o/safe/first-in-first-enabled/0x17.2x4.3x4.1x103/215c4a9d"),
];
