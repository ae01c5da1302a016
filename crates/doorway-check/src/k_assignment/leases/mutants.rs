//! Faults of the text, as changes of what it sends and sees.

use super::{Claim, Faults, Leases};
use doorway_core::k_assignment::leases::{Compare, Key, Op, Txn};

macro_rules! mutants {
    ($(#[doc = $change:literal] $name:ident $id:literal)*) => {
        /// A seeded fault.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Mutant {
            $(#[doc = $change] $name,)*
        }

        impl Mutant {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its name.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Its name among the mutants of all texts.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("leases-", $id),)*
                }
            }

            /// The change.
            #[must_use]
            pub fn change(self) -> &'static str {
                let change = match self {
                    $(Self::$name => $change,)*
                };
                change.trim().trim_end_matches('.')
            }
        }
    };
}

mutants! {
    /// 1 compares no receipt: a second copy is done too.
    NoReceipt "no-receipt"
    /// After a request in doubt it reads its receipt, and begins again with that.
    BeginsAgain "begins-again"
    /// A new lease has the number of the old one, and the chair its name.
    UsesALeaseAgain "uses-a-lease-again"
    /// It judges by a mirror that has not reached its ticket.
    BelievesAnOldMirror "believes-an-old-mirror"
    /// A waiter never takes a slot by itself.
    DoesNotLookForFreeSlots "does-not-look-for-free-slots"
    /// 1 does not compare whether a chair waits.
    NewcomersPass "newcomers-pass"
    /// A waiter takes a free slot without looking for older waiters, and 2 does not compare either.
    WaitersPass "waiters-pass"
    /// 1 does not compare whether the slot is free.
    TakesAHeldSlot "takes-a-held-slot"
    /// 2 does not compare whether its own key is still there.
    ClaimsTwice "claims-twice"
    /// 2 is always told that it failed.
    NeverClaims "never-claims"
    /// 4 does not compare the fence.
    PassesWhatIsNotItsOwn "passes-what-is-not-its-own"
    /// 4 does not compare whether its heir still waits.
    PassesToNobody "passes-to-nobody"
    /// 4 leaves the heir in line.
    HeirStaysInLine "heir-stays-in-line"
    /// 4 frees nothing if it has no heir.
    KeepsItsSlot "keeps-its-slot"
    /// The fence is the revision that created the slot's key, which stays when the slot is passed.
    FenceIsTheCreation "fence-is-the-creation"
    /// 3 does not compare, and deletes nothing.
    StaysInLine "stays-in-line"
    /// 5 is always refused, and tries again: something is written for ever.
    TriesForEver "tries-for-ever"
    /// A give-up while a request is under way is forgotten.
    ForgetsThatItGaveUp "forgets-that-it-gave-up"
    /// A holder is told that its slot is lost by a mirror that has not reached its fence.
    ToldByAnOldMirror "told-by-an-old-mirror"
    /// A holder whose slot has another holder by now is not told.
    NotToldOfTheNextHolder "not-told-of-the-next-holder"
    /// An operator's 4 does not compare the fence.
    BreaksTheNextHolder "breaks-the-next-holder"
    /// An operator that gets no answer looks up the holder again, and takes its slot.
    LooksAgainInDoubt "looks-again-in-doubt"
}

impl Mutant {
    /// A search in which it is noticed, and the claim that fails.
    #[must_use]
    pub fn noticed(self) -> (Leases, Claim) {
        let two = Leases { mutant: Some(self), ..Leases::new(2, 1) };
        let with = |faults| Leases { faults, ..two };
        let doubts = |doubts| Faults { doubts, ..Faults::NONE };
        match self {
            Self::NoReceipt => (with(doubts(1)), Claim::NothingLost),
            Self::BeginsAgain => (with(doubts(1)), Claim::NothingLost),
            Self::UsesALeaseAgain => (with(Faults { pauses: 1, ..doubts(1) }), Claim::NothingLost),
            Self::BelievesAnOldMirror => (with(Faults::NONE), Claim::NothingLost),
            Self::DoesNotLookForFreeSlots => (with(Faults::NONE), Claim::NothingLost),
            Self::NewcomersPass => (Leases { n: 3, ..two }, Claim::Order),
            Self::WaitersPass => (Leases { n: 3, ..two }, Claim::Order),
            Self::TakesAHeldSlot => (with(Faults::NONE), Claim::Names),
            Self::ClaimsTwice => (with(doubts(1)), Claim::NothingLost),
            Self::NeverClaims => (two, Claim::Ends),
            Self::PassesWhatIsNotItsOwn => (with(Faults { pauses: 1, ..Faults::NONE }), Claim::Names),
            Self::PassesToNobody => (with(Faults { give_ups: 1, ..Faults::NONE }), Claim::NothingLost),
            Self::HeirStaysInLine => (two, Claim::NothingLost),
            Self::KeepsItsSlot => (two, Claim::NothingLost),
            Self::FenceIsTheCreation => (two, Claim::Fences),
            Self::StaysInLine => (with(Faults { give_ups: 1, ..Faults::NONE }), Claim::NothingLost),
            Self::TriesForEver => (Leases { last_tries: true, ..two }, Claim::Ends),
            Self::ForgetsThatItGaveUp => (with(Faults { give_ups: 1, ..Faults::NONE }), Claim::GiveUps),
            Self::ToldByAnOldMirror => (two, Claim::Loss),
            Self::NotToldOfTheNextHolder => (with(Faults { pauses: 1, ..Faults::NONE }), Claim::Loss),
            Self::BreaksTheNextHolder => (with(Faults { breaks: 1, ..Faults::NONE }), Claim::Names),
            Self::LooksAgainInDoubt => (with(Faults { breaks: 1, ..doubts(1) }), Claim::Names),
        }
    }

    /// What is sent instead.
    pub(super) fn changes(self, mut txn: Txn) -> Txn {
        let enters = txn.when.iter().any(|compare| matches!(compare, Compare::Changed(Key::Receipt(_), _)));
        let tries = enters && txn.otherwise.contains(&Op::ReadSlots);
        let passes = !enters && matches!(txn.when[..], [Compare::Changed(Key::Slot(_), _)]);
        let claims = txn.when.len() == 3;
        let leaves = matches!(txn.when[..], [Compare::Created(Key::Waits(_), _)]);
        match self {
            Self::NoReceipt if enters => txn.when.clear(),
            Self::NewcomersPass if enters => drops(&mut txn, &|compare| *compare == Compare::NobodyWaits),
            Self::TakesAHeldSlot if enters => {
                drops(&mut txn, &|compare| matches!(compare, Compare::Changed(Key::Slot(_), _)));
            }
            Self::WaitersPass if claims => {
                drops(&mut txn, &|compare| matches!(compare, Compare::NobodyWaitsBefore(_)));
            }
            Self::ClaimsTwice if claims => {
                drops(&mut txn, &|compare| matches!(compare, Compare::Created(..) | Compare::NobodyWaitsBefore(_)));
            }
            Self::NeverClaims if claims => txn.when.push(Compare::Changed(Key::Slot(0), u64::MAX)),
            Self::PassesWhatIsNotItsOwn if passes => txn.when.clear(),
            Self::PassesToNobody if passes => {
                drops(&mut txn, &|compare| matches!(compare, Compare::Created(..) | Compare::NobodyWaitsBefore(_)));
            }
            Self::HeirStaysInLine if passes => keeps(&mut txn.then, &|key| matches!(key, Key::Waits(_))),
            Self::KeepsItsSlot if passes => keeps(&mut txn.then, &|key| matches!(key, Key::Slot(_))),
            Self::StaysInLine if leaves => txn.then.clear(),
            Self::TriesForEver if tries => {
                for compare in nested(&mut txn).flat_map(|nested| &mut nested.when) {
                    if let Compare::Changed(Key::Slot(_), at) = compare {
                        *at = u64::MAX;
                    }
                }
            }
            _ => {}
        }
        txn
    }
}

/// The transactions within it.
fn nested(txn: &mut Txn) -> impl Iterator<Item = &mut Txn> {
    txn.then.iter_mut().chain(&mut txn.otherwise).filter_map(|op| match op {
        Op::Nested(txn) => Some(txn),
        _ => None,
    })
}

/// Drops these comparisons, in nested transactions too.
fn drops(txn: &mut Txn, which: &dyn Fn(&Compare) -> bool) {
    txn.when.retain(|compare| !which(compare));
    nested(txn).for_each(|txn| drops(txn, which));
}

/// Keeps these keys, which would have been deleted.
fn keeps(ops: &mut Vec<Op>, which: &dyn Fn(&Key) -> bool) {
    ops.retain(|op| !matches!(op, Op::Delete(key) if which(key)));
    for op in ops {
        if let Op::Nested(txn) = op {
            keeps(&mut txn.then, which);
            keeps(&mut txn.otherwise, which);
        }
    }
}
