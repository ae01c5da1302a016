//! What seats claim, as their file states it.

mod alike;
pub(crate) mod mutants;
pub(crate) mod passages;

/// Seats as processes use them, in other variations than those of the catalogue.
///
/// ```
/// use doorway_check::Explorer;
/// use doorway_check::claims::SeatsInUse;
/// use doorway_check::sim::Rules;
/// use doorway_core::registry::Sizes;
///
/// // Two words of bits, and a process that must take its seat first.
/// let in_use = SeatsInUse { newcomers: 1, bits_in_a_word: 1, ..SeatsInUse::default() };
/// let sizes = Sizes { n: 2, k: 1 };
/// let claims = in_use.claims(sizes);
/// let rules = Rules::with_passages(Some(1)).for_properties(&claims);
/// let report = Explorer::new(2).properties(claims).believe_keep(true).explore(in_use.world(sizes, rules)?)?;
/// report.assert_holds();
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeatsInUse {
    /// This many processes, the last ones, must take their seats first.
    pub newcomers: usize,
    /// This many seats have their bits in one word.
    pub bits_in_a_word: usize,
    /// What the last process does.
    pub last: Last,
    /// How many newcomers may pass the oldest waiter.
    pub bypass: u32,
}

/// What the last process that uses seats does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Last {
    /// What the others do.
    #[default]
    Passes,
    /// Before each passage it takes the first slot away from its owner.
    Breaks,
    /// It does not wait in line, but tries until it is let in.
    Tries,
    /// If it is granted a slot just as it gives up, it does not enter.
    Declines,
}

impl Default for SeatsInUse {
    fn default() -> Self {
        Self { newcomers: 0, bits_in_a_word: 64, last: Last::Passes, bypass: 0 }
    }
}

impl SeatsInUse {
    /// A machine that runs them.
    ///
    /// # Errors
    /// The same as for [`World::new`].
    pub fn world(self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        passages::world(sizes, rules, self)
    }

    /// Their claims. Where slots are taken away, more processes than slots may be inside, and the
    /// order may slip. A process that does not wait in line is promised nothing but progress.
    #[must_use]
    pub fn claims(self, sizes: Sizes) -> Vec<Property> {
        let info = if self.bypass == 0 { &Seats::INFO } else { &SeatsBypass::INFO };
        let mut claims = crate::claims::of(info, sizes);
        let dropped: &[&str] = match self.last {
            Last::Passes | Last::Declines => &[],
            Last::Breaks => &["k-exclusion", "unique-names", "first-in-first-enabled"],
            Last::Tries => &["every-entry-ends"],
        };
        claims.retain(|claim| !dropped.contains(&claim.name()));
        claims
    }

    /// While no process has died, at most this many newcomers take a free slot while the same
    /// process is first in line.
    #[must_use]
    pub fn bypass_bound(Sizes { n, k }: Sizes, most: u32) -> Property {
        let ticket = |v: &View<'_>, p: usize| match v.get_at::<Want>("want", p) {
            Want::Waits(t) | Want::Called(t) if v.get_at::<u64>("bits", 0) >> p & 1 == 1 => Some(t),
            _ => None,
        };
        let is_first = move |v: &View<'_>, p: usize| {
            v.deaths() == 0
                && ticket(v, p).is_some_and(|mine| (0..n).all(|q| ticket(v, q).is_none_or(|theirs| mine <= theirs)))
        };
        let passes = move |before: &View<'_>, after: &View<'_>| {
            (0..k).any(|i| {
                let (was, is) = (before.get_at::<Slot>("slot", i), after.get_at::<Slot>("slot", i));
                let newcomer = is.owner().filter(|&p| after.get_at::<Want>("want", p) == Want::Nothing);
                was.owner().is_none() && newcomer.is_some()
            })
        };
        Property::at_most("bypass-bound", most, is_first, passes)
    }
}

use crate::Property;
use crate::checked::{Checked, Merges};
use crate::property::View;
use crate::sim::{Layout, Numbers, Phase, Rules, TextError, World};
use alike::Renumbered;
use doorway_core::k_assignment::seats::{Slot, Want};
use doorway_core::registry::{Listed, Seats, SeatsBypass, Sizes};

impl Checked for Seats {
    const MERGES: Merges = Merges::IfAsked;
    const MORTAL: bool = true;

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        SeatsInUse::default().world(sizes, rules)
    }

    fn claims(sizes: Sizes) -> Vec<Property> {
        claims(sizes)
    }

    fn numbers(layout: &Layout, sizes: Sizes) -> Option<Box<dyn Numbers>> {
        Renumbered::new(layout, sizes, 1).map(|numbers| Box::new(numbers) as Box<dyn Numbers>)
    }

    fn asked_of_any_text(sizes: Sizes) -> Vec<Property> {
        claims(sizes)
    }
}

impl Checked for SeatsBypass {
    const MERGES: Merges = Merges::IfAsked;
    const MORTAL: bool = true;

    fn world(sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        SeatsInUse { bypass: least_bypass(sizes), ..SeatsInUse::default() }.world(sizes, rules)
    }

    fn claims(sizes: Sizes) -> Vec<Property> {
        claims(sizes).into_iter().chain([SeatsInUse::bypass_bound(sizes, least_bypass(sizes))]).collect()
    }

    fn numbers(layout: &Layout, sizes: Sizes) -> Option<Box<dyn Numbers>> {
        Renumbered::new(layout, sizes, 2).map(|numbers| Box::new(numbers) as Box<dyn Numbers>)
    }
}

/// The smallest bound that is not strict order: every second owner of a slot hands it over.
fn least_bypass(Sizes { k, .. }: Sizes) -> u32 {
    2 * k as u32
}

/// (P1) to (P4). They do not mention statements, so they are checked of every text.
fn claims(Sizes { n, k }: Sizes) -> Vec<Property> {
    vec![
        Property::always("P1", |v| v.processes().all(|p| is_owner(v, p))),
        Property::always("P2", |v| {
            let count = |name| if v.declares(name, 0) { v.get::<u64>(name) } else { 0 };
            let few_are_told = count("told") <= 2 * v.deaths() as u64 && count("told broken") <= 2 * count("breaks");
            few_are_told && v.processes().all(|p| v.shown::<bool>(p, "untold").is_none())
        }),
        Property::always("P3", |v| v.processes().all(|p| v.shown::<bool>(p, "old fence").is_none())),
        Property::always("P4", move |v| v.processes().all(|p| has_something_to_do(v, p) || has_nothing(v, p, n, k))),
    ]
}

/// Whether the slot that a process has, if any, is its own, or was taken away from it.
fn is_owner(v: &View<'_>, p: usize) -> bool {
    let (Some(slot), Some(fence)) = (v.shown::<u64>(p, "name"), v.shown::<u64>(p, "fence")) else { return true };
    let word = v.get_at::<Slot>("slot", slot as usize);
    let is_broken = v.declares("breaks", 0) && word.fence() > fence;
    is_broken || word.owner() == Some(p) && word.fence() == fence && v.shown::<bool>(p, "overlapped").is_none()
}

/// Whether a process is in a passage, has died, or has not taken its seat yet.
fn has_something_to_do(v: &View<'_>, p: usize) -> bool {
    let is_new = v.declares("seated", p) && !v.get_at::<bool>("seated", p);
    v.phase(p) != Phase::Remainder || v.has_crashed(p) || is_new
}

/// Whether a seat has no slot, and a clear row and bit.
fn has_nothing(v: &View<'_>, p: usize, n: usize, k: usize) -> bool {
    let words = (1..=n).find(|&words| !v.declares("bits", words)).unwrap_or(n);
    let per_word = n.div_ceil(words);
    let bit = v.get_at::<u64>("bits", p / per_word) >> (p % per_word) & 1;
    bit == 0
        && v.get_at::<Want>("want", p) == Want::Nothing
        && !(0..k).any(|i| v.get_at::<Slot>("slot", i).owner() == Some(p))
}
