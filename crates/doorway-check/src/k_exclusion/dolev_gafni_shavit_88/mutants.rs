//! Faults in Dolev, Gafni and Shavit.

use crate::mutants::Text;
use crate::mutants::rows::*;
use crate::sim::{Rules, TextError, World};
use doorway_core::k_exclusion::dolev_gafni_shavit_88 as shipped;
use doorway_core::registry::Sizes;
use text::{Fault, Form, LExclusion};

mod fork;
mod text;

/// Why no memory can seed it.
const COMPARES: &str = "compares or calls differently";
const PRINTED: &str = "another text, shipped for ids that grow";

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::Fork(fork::Fault::WBeforeF))), TWO, HOLDS, "dgs-w-before-f", "forks are read in the wrong order: first whether a fork is used, then by which process").on_safe_bits(),
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::Fork(fork::Fault::TakesItsOwn))), TWO, Some(("deadlock-free", 36)), "dgs-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(row("dgs", "read:23=false,read:33=false,read:43=false"), TWO, Some((K_EXCLUSION, 46)), "dgs-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(row("dgs", "defer:24>26,defer:25>26,defer:34>36,defer:35>36,defer:44>46,defer:45>46"), TWO, Some((K_EXCLUSION, 46)), "dgs-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(row("dgs", "drop:26,drop:36,drop:46,write:29@p0=2>3,write:29@p1=3>2,write:39@p0=2>3,write:39@p1=3>2,write:49@p0=2>3,write:49@p1=3>2"), TWO, Some((K_EXCLUSION, 21)), "dgs-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(row("dgs", "drop:27,drop:28,drop:37,drop:38,drop:47,drop:48,write:29=0>2,write:29=1>3,write:39=0>2,write:39=1>3,write:49=0>2,write:49=1>3"), TWO, Some((K_EXCLUSION, 19)), "dgs-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(row("dgs", "drop:27,drop:37,drop:47"), TWO, Some((STUCK, 22)), "dgs-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(row("dgs", "drop:29,drop:39,drop:49"), TWO, Some((K_EXCLUSION, 23)), "dgs-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(row("dgs", "drop:24,drop:25,drop:26,drop:27,drop:28,drop:29"), TWO, Some((K_EXCLUSION, 18)), "dgs-never-yields", "22 to 29 write nothing: no process ever yields"),
    mutant(row("dgs", "defer:root.1>28"), TWO, Some((K_EXCLUSION, 27)), "dgs-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::MovesAfterReach)), TWO, Some((K_EXCLUSION, 37)), "dgs-moves-after-reach", "yields once more between Reach and the critical section"),
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::KeepsTheGraphRule)), TWO, Some((STARVES, 93)), "dgs-keeps-the-graph-rule", "5 also yields to processes that it sees in their remainders"),
    mutant(row("dgs", "drop:root.5=false"), TWO, HOLDS, "dgs-never-updates-graph", "5 dropped: yields only on arrival").on_safe_bits(),
    mutant(row("dgs", "drop:34,drop:35,drop:36,drop:37,drop:38,drop:39"), TWO, HOLDS, "dgs-never-updates-range", "7 dropped").on_safe_bits(),
    mutant(row("dgs", "read:root.6=true"), TWO, Some((STUCK, 2)), "dgs-reaches-everybody", "6 takes every process to be outside its remainder"),
    mutant(built_for("dgs", 1), TWO, Some((K_EXCLUSION, 29)), "dgs-one-too-many", "enters although it reaches l + 1"),
    mutant(built_for("dgs", -1), TWO_TWO, Some((TOO_FEW, 0)), "dgs-one-too-few", "enters only if it reaches fewer than l"),
    mutant(row("dgs", "set:47:root.x[me]=false"), TWO, HOLDS, "dgs-x-before-ids", "11 before 10: is in its remainder before it offers its forks").on_safe_bits(),
    mutant(row("dgs", "drop:11"), TWO, Some((STUCK, 30)), "dgs-never-clears-x", "11 leaves x set"),
    mutant(row("dgs", "drop:47,drop:48"), TWO, Some((STARVES, 83)), "dgs-never-offers-ids", "10 dropped: ids never shrink"),
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::CountsTheOtherEnd)), TWO, Some((STARVES, 91)), "dgs-counts-the-other-end", "4 counts a fork for the mutator that does not have it"),
    mutant(own("dgs", COMPARES, |s, r| fair(s, r, Fault::MixesRounds)), TWO, HOLDS, "dgs-mixes-rounds", "4 compares its own id from before 3 with the others' ids from after").on_safe_bits(),
    mutant(row("dgs", "wait:11:x[me+1]=false"), TWO, Some((STUCK, 30)), "dgs-waits-to-leave", "10 waits until the next one is in its remainder"),
    mutant(own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::Fork(fork::Fault::WBeforeF))), TWO, HOLDS, "dgs-unfair-w-before-f", "forks are read in the wrong order: first whether a fork is used, then by which process").on_safe_bits(),
    mutant(own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::Fork(fork::Fault::TakesItsOwn))), TWO, Some(("deadlock-free", 27)), "dgs-unfair-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(row("dgs-unfair", "read:23=false,read:33=false"), TWO, Some((K_EXCLUSION, 36)), "dgs-unfair-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(row("dgs-unfair", "defer:24>26,defer:25>26,defer:34>36,defer:35>36"), TWO, Some((K_EXCLUSION, 36)), "dgs-unfair-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(row("dgs-unfair", "drop:26,drop:36,write:29@p0=2>3,write:29@p1=3>2,write:39@p0=2>3,write:39@p1=3>2"), TWO, Some((K_EXCLUSION, 15)), "dgs-unfair-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(row("dgs-unfair", "drop:27,drop:28,drop:37,drop:38,write:29=0>2,write:29=1>3,write:39=0>2,write:39=1>3"), TWO, Some((K_EXCLUSION, 12)), "dgs-unfair-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(row("dgs-unfair", "drop:27,drop:37"), TWO, Some((STUCK, 17)), "dgs-unfair-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(row("dgs-unfair", "drop:29,drop:39"), TWO, Some((K_EXCLUSION, 14)), "dgs-unfair-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(row("dgs-unfair", "drop:24,drop:25,drop:26,drop:27,drop:28,drop:29"), TWO, Some((K_EXCLUSION, 11)), "dgs-unfair-never-yields", "22 to 29 write nothing: no process ever yields"),
    mutant(row("dgs-unfair", "defer:root.1>28"), TWO, Some((K_EXCLUSION, 20)), "dgs-unfair-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::MovesAfterReach)), TWO, Some((K_EXCLUSION, 30)), "dgs-unfair-moves-after-reach", "yields once more between Reach and the critical section"),
    mutant(own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::KeepsTheGraphRule)), TWO, Some(("largest-id-enters", 102)), "dgs-unfair-keeps-the-graph-rule", "5 also yields to processes that it sees in their remainders"),
    mutant(row("dgs-unfair", "drop:root.5=false"), TWO, HOLDS, "dgs-unfair-never-updates-graph", "5 dropped: yields only on arrival").on_safe_bits(),
    mutant(row("dgs-unfair", "drop:34,drop:35,drop:36,drop:37,drop:38,drop:39"), TWO, HOLDS, "dgs-unfair-never-updates-range", "7 dropped").on_safe_bits(),
    mutant(own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::YieldsToAllBelow)), TWO, Some(("largest-id-enters", 84)), "dgs-unfair-yields-to-the-smaller", "5 yields to the smaller ids"),
    mutant(row("dgs-unfair", "read:root.6=true"), TWO, Some((STUCK, 2)), "dgs-unfair-reaches-everybody", "6 takes every process to be outside its remainder"),
    mutant(built_for("dgs-unfair", 1), TWO, Some((K_EXCLUSION, 22)), "dgs-unfair-one-too-many", "enters although it reaches l + 1"),
    mutant(built_for("dgs-unfair", -1), TWO_TWO, Some((TOO_FEW, 0)), "dgs-unfair-one-too-few", "enters only if it reaches fewer than l"),
    mutant(row("dgs-unfair", "drop:11"), TWO, Some((STUCK, 20)), "dgs-unfair-never-clears-x", "11 leaves x set"),
    mutant(row("dgs-unfair", "wait:11:x[me+1]=false"), TWO, Some((STUCK, 20)), "dgs-unfair-waits-to-leave", "10 waits until the next one is in its remainder"),
    mutant(row("dgs-unfair", "drop:RANGE.fork0.*@p0,drop:RANGE.fork0.*@p1,drop:RANGE.fork1.*@p0,drop:RANGE.fork1.*@p2,drop:RANGE.fork2.*@p1,drop:RANGE.fork2.*@p2"), THREE_TWO, Some(("deadlock-free", 110)), "dgs-unfair-figure-3", "7 dropped: the paper's Figure 3").on_safe_bits().crashing(1).shown_by("dw1/mutant:dgs-unfair-figure-3/3,2/-/c1/safe/deadlock-free/1x15.0x15.2x26.0c.1x24.2x8.1x13.2x8@89/ce9ec331"),
    mutant(own("dgs-unfair", PRINTED, unfair_as_printed), (5, 3, None), Some(("deadlock-free", 1179)), "dgs-unfair-as-printed", "to the letter, Reach twice in a turn: the paper's Figure 4").on_safe_bits().crashing(2).shown_by("dw1/mutant:dgs-unfair-as-printed/5,3/-/c2/safe/deadlock-free/0x6.2x28.3x39.4x50.1x50.4x131.0x14.0c.1x43.1c.2x67.2s0.2x29.2s0.2x18.2s0.2x18.2s0.2x29.2s1.3x45.3s0.3x33.3s0.3x22.3s0.3x22.3s0.3x33.3s1.3x6.4x17.4s0.4x20.4s0.4x20.4s0.4x20.4s0.4x20.4s1.4x12.2x46.2s0.2x18.2s0.2x18.2s0.2x18.2s0.2x18.2s1.3x34.3s0.3x22.3s0.3x22.3s0.3x22.3s0.3x22.3s1.3x6.4x17.4s0.4x20.4s0.4x20.4s0.4x20.4s0.4x20.4s1.4x12@809/5804d0a1"),
    mutant(own("dgs-unfair", PRINTED, unfair_as_printed), THREE_TWO, Some(("deadlock-free", 361)), "dgs-unfair-as-printed-dies-leaving", "to the letter, x read twice in 7").on_safe_bits().crashing(1).shown_by("dw1/mutant:dgs-unfair-as-printed-dies-leaving/3,2/-/c1/safe/deadlock-free/2x63.2c.0x15.1x26.0x17.0s1x2.0x6.0s0.0x3.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2.0x17.0s1x2.0x6.0s0.0x14.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2.0x17.0s1x2.0x6.0s0.0x14.0s0.0.0s1.0.0s1.0x2.1.1s1x2.1x17.1s0.1x14.1s0.1.1s1.1.1s1.1x2@183/44e62318"),
    mutant(own("dgs-as-printed", COMPARES, |s, r| as_printed(s, r, Fault::Fork(fork::Fault::TakesItsOwn))), TWO, Some(("deadlock-free", 49)), "dgs-as-printed-takes-its-own", "a mutator takes a fork that it offers itself"),
    mutant(row("dgs-as-printed", "read:23=false,read:33=false,read:43=false"), TWO, Some((K_EXCLUSION, 55)), "dgs-as-printed-takes-what-is-in-use", "a mutator takes a fork that the other one uses").on_safe_bits(),
    mutant(row("dgs-as-printed", "defer:24>26,defer:25>26,defer:34>36,defer:35>36,defer:44>46,defer:45>46"), TWO, Some((K_EXCLUSION, 55)), "dgs-as-printed-flips-first", "6 before 4 and 5: the fork changes hands before it is in use").on_safe_bits(),
    mutant(row("dgs-as-printed", "drop:26,drop:36,drop:46,write:29@p0=2>3,write:29@p1=3>2,write:39@p0=2>3,write:39@p1=3>2,write:49@p0=2>3,write:49@p1=3>2"), TWO, Some((K_EXCLUSION, 30)), "dgs-as-printed-never-flips", "6 dropped: a fork that is taken does not change hands"),
    mutant(row("dgs-as-printed", "drop:27,drop:28,drop:37,drop:38,drop:47,drop:48,write:29=0>2,write:29=1>3,write:39=0>2,write:39=1>3,write:49=0>2,write:49=1>3"), TWO, Some((K_EXCLUSION, 26)), "dgs-as-printed-never-offers", "7 and 8 dropped: forks are never offered"),
    mutant(row("dgs-as-printed", "drop:27,drop:37,drop:47"), TWO, Some((STUCK, 23)), "dgs-as-printed-offers-to-others-only", "7 dropped: the other mutator does not see the offer"),
    mutant(row("dgs-as-printed", "drop:29,drop:39,drop:49"), TWO, Some((K_EXCLUSION, 32)), "dgs-as-printed-forgets-to-note", "a mutator's copies of its own bits stay as they were"),
    mutant(row("dgs-as-printed", "drop:24,drop:25,drop:26,drop:27,drop:28,drop:29"), TWO, Some((K_EXCLUSION, 27)), "dgs-as-printed-never-yields", "22 to 29 write nothing: no process ever yields"),
    mutant(row("dgs-as-printed", "defer:root.1>40"), TWO, Some((K_EXCLUSION, 38)), "dgs-as-printed-yields-first", "2 before 1: yields before it says that it is here"),
    mutant(row("dgs-as-printed", "read:7=true,read:8=true"), TWO, Some((STUCK, 2)), "dgs-as-printed-reaches-everybody", "6 takes every process to be outside its remainder"),
    mutant(built_for("dgs-as-printed", 1), TWO, Some((K_EXCLUSION, 36)), "dgs-as-printed-one-too-many", "enters although it reaches l + 1"),
    mutant(built_for("dgs-as-printed", -1), TWO_TWO, Some((TOO_FEW, 0)), "dgs-as-printed-one-too-few", "enters only if it reaches fewer than l"),
    mutant(row("dgs-as-printed", "drop:11"), TWO, Some((STUCK, 35)), "dgs-as-printed-never-clears-x", "11 leaves x set"),
    mutant(row("dgs-as-printed", "wait:11:x[me+1]=false"), TWO, Some((STUCK, 35)), "dgs-as-printed-waits-to-leave", "10 waits until the next one is in its remainder"),
];

pub(crate) const WITHOUT_FAULT: &[Text] = &[
    own("dgs", COMPARES, |s, r| fair(s, r, Fault::None)),
    own("dgs-unfair", COMPARES, |s, r| unfair(s, r, Fault::None)),
    own("dgs-as-printed", COMPARES, |s, r| as_printed(s, r, Fault::None)),
];

fn fair(Sizes { n, k }: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    World::new(n, rules, |site| LExclusion::new(site, n, k, Form::Fair, fault))
}

fn unfair(Sizes { n, k }: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    World::new(n, rules, |site| LExclusion::new(site, n, k, Form::Unfair, fault))
}

fn as_printed(Sizes { n, k }: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
    World::new(n, rules, |site| LExclusion::new(site, n, k, Form::AsPrinted, fault))
}

/// Construction 6 to the letter, which is not among the algorithms.
fn unfair_as_printed(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::new(n, rules, |site| shipped::LExclusion::<_, false, true>::new(site, n, k))
}
