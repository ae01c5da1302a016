//! The catalogue entries of the turnstile.

use super::{Endless, Limits, Many, Simple, simple_ring};
use crate::k_assignment::Unfair;
use crate::registry::prelude::*;

entries! {
    /// The [turnstile](crate::k_exclusion::turnstile) for a known number of processes, in one ring.
    Turnstile: super::Turnstile<M>, |site, sizes| super::Turnstile::new(site, sizes.n, sizes.k), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n, s.k),
        can_give_up: true,
        ..Info::k_exclusion(
            "turnstile",
            "tickets, a count of exits, and help: first in, first enabled, for any number of processes",
            Paper::DOORWAY,
            "",
        )
    };

    /// The turnstile at which process 0 asks for [two places at
    /// once](crate::k_exclusion::turnstile::Many). For comparison.
    TurnstileMany: Many<M>, |site, sizes| Many::new(site, sizes.n, sizes.k), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        // Not starvation-free: before the doorway, other processes that draw can make the process
        // that asks for two try again for ever.
        properties: &[
            "k-exclusion", "never-stuck", "deadlock-free", "bounded-exit",
            "starvation-free-in-line", "first-in-first-enabled", "units-inside", "T1", "T2",
            "T3", "T4", "T5", "T6", "door-opens",
        ],
        fairness: "first in, first enabled; a process that asks for two may have to try again at the doorway",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n + 1, s.k),
        can_give_up: true,
        ..Info::k_exclusion(
            "turnstile-many",
            "the turnstile with one process that asks for two units at once",
            Paper::DOORWAY,
            "",
        )
    };

    /// The turnstile whose line [grows by itself](crate::k_exclusion::turnstile::Endless), from one
    /// place on. `doorway::Slots` are made of it.
    TurnstileLine: super::Turnstile<M, Endless<M>>, |site, sizes| line(site, sizes.n, sizes.k), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "L1", "L2", "L4", "door-opens",
        ],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| line_words(s.n, s.k),
        can_give_up: true,
        defaults: Defaults { n: 2, k: 1, passages: Some(2) },
        ..Info::k_exclusion(
            "turnstile-line",
            "the turnstile with an endless line: places are claimed, and rings double when there are too few",
            Paper::DOORWAY,
            "",
        )
    };

    /// The same, where process 0 asks for [two places at
    /// once](crate::k_exclusion::turnstile::Many).
    TurnstileLineMany: Many<M, Endless<M>>, |site, sizes| Many::endless(site, sizes.n, sizes.k), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: &[
            "k-exclusion", "never-stuck", "deadlock-free", "bounded-exit",
            "starvation-free-in-line", "first-in-first-enabled", "units-inside", "T1", "T2",
            "T3", "T4", "T5", "L1", "L2", "L4", "door-opens",
        ],
        fairness: "first in, first enabled; a process that asks for two may have to try again at the doorway",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| line_words(s.n + 1, s.k),
        can_give_up: true,
        defaults: Defaults { n: 2, k: 1, passages: Some(2) },
        ..Info::k_exclusion(
            "turnstile-line-many",
            "the endless line with one process that asks for two units at once",
            Paper::DOORWAY,
            "",
        )
    };

    /// The [unfair](crate::k_assignment::Unfair) turnstile.
    TurnstileUnfair: Unfair<M>, |site, sizes| Unfair::new(site, sizes.n, sizes.k, 2), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: of_k_exclusion![
            "first-in-first-enabled", "T1", "T2", "T3", "T4", "T5", "T6", "door-opens",
        ],
        fairness: "first in, first enabled, from the last of its tries on",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| turnstile_words(s.n, s.k),
        can_give_up: true,
        ..Info::k_exclusion(
            "turnstile-unfair",
            "the turnstile with tries before the doorway: bypassing is bounded",
            Paper::DOORWAY,
            "",
        )
    };

    /// The [simple](crate::k_exclusion::turnstile::Simple) turnstile, for processes that never give
    /// up.
    TurnstileSimple: Simple<M>, |site, sizes| Simple::new(site, sizes.n, sizes.k), Info {
        instructions: &[Read, FetchAdd, CompareSwap],
        properties: of_k_exclusion!["first-in-first-enabled", "S1", "S2"],
        fairness: "first in, first enabled",
        rmr: &[
            (Cc, Bound::Order("O(1+s)")),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(1+s)", "O(1)")),
        words: |s, _| 2 + simple_ring(s.n, s.k) as u64,
        defaults: Defaults { n: 4, k: 2, passages: None },
        ..Info::k_exclusion(
            "turnstile-simple",
            "the turnstile without give-ups: tickets, and exits that signal all enabled tickets",
            Paper::DOORWAY,
            "",
        )
    };
}

/// Words of a turnstile for `n` processes and `k` places.
pub(crate) fn turnstile_words(n: usize, k: usize) -> u64 {
    5 + Limits::for_processes(n, k).ring as u64
}

pub(crate) fn line<M: Machine>(site: &Site<'_, M>, n: usize, k: usize) -> super::Turnstile<M, Endless<M>> {
    let limits = Limits::for_growing(n, k);
    super::Turnstile::endless(site, k, limits, limits.rings(n), 0)
}

/// The same with an endless line, when it is as long as it gets.
pub(crate) fn line_words(n: usize, k: usize) -> u64 {
    7 + (1 << Limits::for_growing(n, k).rings(n))
}

abortable!(Turnstile TurnstileMany TurnstileUnfair TurnstileLine TurnstileLineMany);
