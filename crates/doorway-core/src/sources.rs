//! The sources of the texts, for programs that show them: the checker's viewer and `doorway
//! explain`.
//!
//! They are compiled in only with the feature `sources`. A test compares the list with the folders.

macro_rules! files {
    ($($path:literal)*) => {
        /// The path below `src` of each file, and its text.
        pub const FILES: &[(&str, &str)] = &[$(($path, include_str!($path))),*];
    };
}

files! {
    "k_assignment/anderson_moir_94/mod.rs"
    "k_assignment/anderson_moir_94/renaming.rs"
    "k_assignment/mod.rs"
    "k_assignment/names/bits.rs"
    "k_assignment/names/either.rs"
    "k_assignment/names/flags.rs"
    "k_assignment/names/mod.rs"
    "k_assignment/names/sticky/mod.rs"
    "k_assignment/seats/fast.rs"
    "k_assignment/seats/mod.rs"
    "k_assignment/seats/pass.rs"
    "k_assignment/seats/recover.rs"
    "k_assignment/seats/words.rs"
    "k_assignment/slots/closing.rs"
    "k_assignment/slots/mod.rs"
    "k_assignment/slots/passing.rs"
    "k_exclusion/anderson_moir_94/bounds.rs"
    "k_exclusion/anderson_moir_94/cc_slot.rs"
    "k_exclusion/anderson_moir_94/chain.rs"
    "k_exclusion/anderson_moir_94/dsm_slot.rs"
    "k_exclusion/anderson_moir_94/dsm_unbounded_slot.rs"
    "k_exclusion/anderson_moir_94/fast_path.rs"
    "k_exclusion/anderson_moir_94/loc.rs"
    "k_exclusion/anderson_moir_94/mod.rs"
    "k_exclusion/anderson_moir_94/nested.rs"
    "k_exclusion/anderson_moir_94/queue.rs"
    "k_exclusion/anderson_moir_94/slot.rs"
    "k_exclusion/anderson_moir_94/space.rs"
    "k_exclusion/anderson_moir_94/tree.rs"
    "k_exclusion/bypass/mod.rs"
    "k_exclusion/bypass/words.rs"
    "k_exclusion/danek_10/atomic.rs"
    "k_exclusion/danek_10/mod.rs"
    "k_exclusion/danek_10/nonatomic.rs"
    "k_exclusion/dolev_gafni_shavit_88/arrow.rs"
    "k_exclusion/dolev_gafni_shavit_88/bit.rs"
    "k_exclusion/dolev_gafni_shavit_88/board.rs"
    "k_exclusion/dolev_gafni_shavit_88/fork.rs"
    "k_exclusion/dolev_gafni_shavit_88/ids.rs"
    "k_exclusion/dolev_gafni_shavit_88/l_exclusion.rs"
    "k_exclusion/dolev_gafni_shavit_88/mod.rs"
    "k_exclusion/dolev_gafni_shavit_88/pairs.rs"
    "k_exclusion/dolev_gafni_shavit_88/with_oracle.rs"
    "k_exclusion/mod.rs"
    "k_exclusion/turnstile/changes.rs"
    "k_exclusion/turnstile/forms.rs"
    "k_exclusion/turnstile/help.rs"
    "k_exclusion/turnstile/limits.rs"
    "k_exclusion/turnstile/line.rs"
    "k_exclusion/turnstile/mod.rs"
    "k_exclusion/turnstile/ring.rs"
    "k_exclusion/turnstile/simple.rs"
    "k_exclusion/turnstile/words.rs"
    "mutex/anderson_90/array.rs"
    "mutex/anderson_90/mod.rs"
    "mutex/anderson_90/test_and_set.rs"
    "mutex/arbitration_tree.rs"
    "mutex/kessels_82/mod.rs"
    "mutex/kessels_82/two_sides.rs"
    "mutex/lamport_74/bakery.rs"
    "mutex/lamport_74/mod.rs"
    "mutex/lamport_87/fast.rs"
    "mutex/lamport_87/mod.rs"
    "mutex/mellor_crummey_scott_91/backoff.rs"
    "mutex/mellor_crummey_scott_91/mod.rs"
    "mutex/mellor_crummey_scott_91/queue.rs"
    "mutex/mellor_crummey_scott_91/ticket.rs"
    "mutex/mod.rs"
    "mutex/peterson_81/mod.rs"
    "mutex/peterson_81/two_sides.rs"
    "mutex/peterson_fischer_77/mod.rs"
    "mutex/peterson_fischer_77/two_process.rs"
    "mutex/taubenfeld_04/black_white.rs"
    "mutex/taubenfeld_04/mod.rs"
    "mutex/yang_anderson_93/combining.rs"
    "mutex/yang_anderson_93/fast_path.rs"
    "mutex/yang_anderson_93/mod.rs"
    "mutex/yang_anderson_93/two_process.rs"
    "resilient/in_words.rs"
    "resilient/mod.rs"
    "resilient/store.rs"
    "resilient/universal.rs"
    "resilient/words.rs"
    "rooms/blelloch_cheng_gibbons_01/awaited.rs"
    "rooms/blelloch_cheng_gibbons_01/dynamic_stack.rs"
    "rooms/blelloch_cheng_gibbons_01/late_join.rs"
    "rooms/blelloch_cheng_gibbons_01/mod.rs"
    "rooms/blelloch_cheng_gibbons_01/queue.rs"
    "rooms/blelloch_cheng_gibbons_01/segment_stack.rs"
    "rooms/blelloch_cheng_gibbons_01/stack.rs"
    "rooms/blelloch_cheng_gibbons_01/store.rs"
    "rooms/blelloch_cheng_gibbons_01/strict.rs"
    "rooms/blelloch_cheng_gibbons_01/words.rs"
    "rooms/blelloch_cheng_gibbons_01/work_stack.rs"
    "rooms/mod.rs"
    "rooms/visits.rs"
}

/// The text of a file, by its path below `src`.
///
/// ```
/// let slot = doorway_core::sources::find("k_exclusion/anderson_moir_94/cc_slot.rs").unwrap();
/// assert!(slot.contains("p.at(2)"));
/// ```
#[must_use]
pub fn find(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}
