//! Anderson and Moir's theorems, measured: the bound, the worst passage found, and the method.
//!
//! Small sizes are searched exhaustively, which gives the exact worst case. Where that does not
//! complete, the search allows only few passages of each process, and the row says so, unless the
//! adversary finds a worse passage. Larger sizes are left to the [adversary](crate::adversary),
//! which gives a lower bound. Each theorem appears once for k-exclusion, and once with names around
//! it, which cost `k` references more. Theorems 3 and 7 with names are Theorems 9 and 10.

use crate::Explorer;
use crate::adversary::{Hunt, Method};
use crate::explore::Worst;
use crate::sim::{Rules, TextError, World};
use doorway_core::k_assignment::anderson_moir_94::Renaming;
use doorway_core::k_exclusion::anderson_moir_94::bounds;
use doorway_core::registry::{self, CostModel, Entry, Sizes};
use serde::Serialize;
use std::fmt::Write as _;

/// A theorem and its algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Theorem {
    /// Its number; with names around it, `1+k` and the like if the paper has no number.
    pub number: &'static str,
    /// The algorithm, as the registry names it.
    pub id: &'static str,
    /// Whether names are around it.
    pub named: bool,
    /// The machine it is about.
    pub model: CostModel,
    without: Build,
    with_names: Build,
    bound: fn(Sizes, usize) -> u64,
    /// What no layout of this algorithm can exceed, if that is less than the bound.
    layout: Option<fn(Sizes) -> u64>,
}

type Build = fn(Sizes, Rules) -> Result<World, TextError>;

const fn theorem<E: Entry + 'static>(
    number: &'static str,
    model: CostModel,
    bound: fn(Sizes, usize) -> u64,
) -> Theorem {
    Theorem {
        number,
        id: E::INFO.id,
        named: false,
        model,
        without: |sizes, rules| World::new(sizes.n, rules, |site| E::build(site, sizes)),
        with_names: |sizes, rules| {
            World::new(sizes.n, rules, |site| Renaming::new(site, sizes.k, |inner| E::build(inner, sizes)))
        },
        bound,
        layout: None,
    }
}

impl Theorem {
    const fn with_layout(self, layout: fn(Sizes) -> u64) -> Self {
        Self { layout: Some(layout), ..self }
    }

    const fn with_names(self, number: &'static str) -> Self {
        Self { number, named: true, ..self }
    }

    /// The bound on remote references per passage, while at most `contention` processes compete.
    #[must_use]
    pub fn bound(&self, sizes: Sizes, contention: usize) -> u64 {
        (self.bound)(sizes, contention) + if self.named { bounds::renaming(sizes) } else { 0 }
    }

    /// A machine that runs its algorithm.
    ///
    /// # Errors
    /// Returns an error if the text breaks the rules of replay.
    pub fn world(&self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        (if self.named { self.with_names } else { self.without })(sizes, rules)
    }
}

const ONE: Theorem = theorem::<registry::AmChain>("1", CostModel::Cc, bounds::theorem_1);
const TWO: Theorem = theorem::<registry::AmTree>("2", CostModel::Cc, bounds::theorem_2);
const THREE: Theorem = theorem::<registry::AmFast>("3", CostModel::Cc, bounds::theorem_3);
const FOUR: Theorem =
    theorem::<registry::AmGraceful>("4", CostModel::Cc, bounds::theorem_4).with_layout(bounds::nested_layout_cc);
const FIVE: Theorem = theorem::<registry::AmDsmChain>("5", CostModel::Dsm, bounds::theorem_5);
const SIX: Theorem = theorem::<registry::AmDsmTree>("6", CostModel::Dsm, bounds::theorem_6);
const SEVEN: Theorem = theorem::<registry::AmDsmFast>("7", CostModel::Dsm, bounds::theorem_7);
const EIGHT: Theorem =
    theorem::<registry::AmDsmGraceful>("8", CostModel::Dsm, bounds::theorem_8).with_layout(bounds::nested_layout_dsm);

/// All ten, and the others with names.
pub const THEOREMS: [Theorem; 16] = [
    ONE,
    TWO,
    THREE,
    FOUR,
    FIVE,
    SIX,
    SEVEN,
    EIGHT,
    THREE.with_names("9"),
    SEVEN.with_names("10"),
    ONE.with_names("1+k"),
    TWO.with_names("2+k"),
    FOUR.with_names("4+k"),
    FIVE.with_names("5+k"),
    SIX.with_names("6+k"),
    EIGHT.with_names("8+k"),
];

/// The sizes that are searched exhaustively.
pub const SMALL: [Sizes; 4] = [Sizes { n: 2, k: 1 }, Sizes { n: 3, k: 1 }, Sizes { n: 3, k: 2 }, Sizes { n: 4, k: 2 }];

/// The sizes that are left to the adversary.
pub const LARGE: [Sizes; 6] = [
    Sizes { n: 8, k: 2 },
    Sizes { n: 16, k: 4 },
    Sizes { n: 64, k: 2 },
    Sizes { n: 64, k: 8 },
    Sizes { n: 256, k: 4 },
    Sizes { n: 1024, k: 4 },
];

/// Numbers of competitors: one, `k`, `k + 1`, `2k`, all.
#[must_use]
pub fn contentions(sizes: Sizes) -> Vec<usize> {
    let mut all = [1, sizes.k, sizes.k + 1, 2 * sizes.k, sizes.n].map(|c| c.min(sizes.n)).to_vec();
    all.sort_unstable();
    all.dedup();
    all
}

/// How much effort to spend.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// States of each exhaustive search.
    pub states: usize,
    /// Steps of each hunt.
    pub steps: u64,
    /// Runs of each hunt.
    pub runs: u32,
    /// The seed of the hunts' random choices.
    pub seed: u64,
    /// Measuring stops once this returns true.
    pub stop_when: fn() -> bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { states: 1_000_000, steps: 20_000_000, runs: 40, seed: 1, stop_when: || false }
    }
}

/// One row of the table.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Row {
    /// The theorem.
    pub theorem: &'static str,
    /// The algorithm.
    pub algorithm: String,
    /// The machine model.
    pub model: &'static str,
    /// Processes.
    pub n: usize,
    /// Places.
    pub k: usize,
    /// Competitors.
    pub contention: usize,
    /// The theorem's bound.
    pub bound: u64,
    /// The worst passage found; `None` if no passage of the victim ended, or if there is no bound.
    pub worst: Option<u64>,
    /// Whether there is no bound: the algorithm spins on remote memory.
    pub unbounded: bool,
    /// Whether no passage can cost more. Otherwise `worst` is a lower bound.
    pub exact: bool,
    /// `exhaustive` or `adversary`.
    pub method: &'static str,
    /// For an exhaustive search: passages of each process; `None` means unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<u32>,
    /// States, summed over the measured processes, or steps.
    pub looked_at: u64,
}

impl Row {
    /// Whether it exceeds the bound.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.unbounded || self.worst.is_some_and(|worst| worst > self.bound)
    }

    fn method(&self) -> String {
        match (self.method, self.passages) {
            ("exhaustive", Some(1)) => format!("exhaustive for 1 passage, {} states", self.looked_at),
            ("exhaustive", Some(p)) => format!("exhaustive for {p} passages, {} states", self.looked_at),
            ("exhaustive", None) => format!("exhaustive, {} states", self.looked_at),
            _ => format!("adversary, {} steps", self.looked_at),
        }
    }
}

/// Measures one theorem at one size, for these numbers of competitors. Rows that were not
/// completely measured before the [stop](Effort::stop_when) are missing.
///
/// # Errors
/// Returns an error if a text cannot be run.
pub fn measure(theorem: &Theorem, sizes: Sizes, contentions: &[usize], effort: Effort) -> Result<Vec<Row>, TextError> {
    if SMALL.contains(&sizes) {
        for passages in [None, Some(2), Some(1)] {
            let Some(rows) = exhaustive(theorem, sizes, contentions, passages, effort)? else { continue };
            if passages.is_none() {
                return Ok(rows);
            }
            // The worst passage may need more passages before it; the adversary's runs have no
            // limit.
            let worse = |row: Row| {
                let found = hunt(theorem, sizes, row.contention, effort)?;
                Ok(found.map(|found| if found.worst > row.worst { found } else { row }))
            };
            return rows.into_iter().map(worse).filter_map(Result::transpose).collect();
        }
    }
    let hunted = contentions.iter().map(|&contention| hunt(theorem, sizes, contention, effort));
    hunted.filter_map(Result::transpose).collect()
}

fn row(theorem: &Theorem, sizes: Sizes, contention: usize) -> Row {
    Row {
        theorem: theorem.number,
        algorithm: if theorem.named { format!("names over {}", theorem.id) } else { theorem.id.to_owned() },
        model: theorem.model.name(),
        n: sizes.n,
        k: sizes.k,
        contention,
        bound: theorem.bound(sizes, contention),
        worst: None,
        unbounded: false,
        exact: false,
        method: "adversary",
        passages: None,
        looked_at: 0,
    }
}

/// The exact worst case over all processes; `None` if a search was not complete.
fn exhaustive(
    theorem: &Theorem,
    sizes: Sizes,
    contentions: &[usize],
    passages: Option<u32>,
    effort: Effort,
) -> Result<Option<Vec<Row>>, TextError> {
    let mut rows: Vec<Row> = contentions.iter().map(|&contention| row(theorem, sizes, contention)).collect();
    for p in 0..sizes.n {
        let rules = Rules { measure: Some((p, theorem.model)), ..Rules::with_passages(passages) };
        let world = theorem.world(sizes, rules)?;
        let explorer = Explorer::new(sizes.n).max_states(effort.states).stop_when(effort.stop_when).believe_keep(true);
        let found = explorer.worst_passages(world, contentions)?;
        for (row, found) in rows.iter_mut().zip(found) {
            if !found.complete {
                return Ok(None);
            }
            row.worst = row.worst.max(found.worst.bounded());
            row.unbounded |= found.worst == Worst::Unbounded;
            row.exact = passages.is_none();
            row.looked_at += found.states as u64;
            row.method = "exhaustive";
            row.passages = passages;
        }
    }
    Ok(Some(rows))
}

/// A lower bound; `None` if it was stopped.
fn hunt(theorem: &Theorem, sizes: Sizes, contention: usize, effort: Effort) -> Result<Option<Row>, TextError> {
    let mut row = row(theorem, sizes, contention);
    let names = if theorem.named { bounds::renaming(sizes) } else { 0 };
    let most = theorem.layout.map_or(row.bound, |layout| row.bound.min(layout(sizes) + names));
    let hunt = Hunt {
        model: theorem.model,
        contention,
        method: Method::Adversary,
        runs: effort.runs,
        passages: 3,
        steps: effort.steps,
        enough: Some(most),
        seed: effort.seed,
    };
    let world = || theorem.world(sizes, Rules { sparse: true, ..Rules::default() });
    let quarry = hunt.on_while(world, &|| !(effort.stop_when)())?;
    if (effort.stop_when)() {
        return Ok(None);
    }
    row.unbounded = quarry.worst == Worst::Unbounded;
    row.worst = quarry.worst.bounded().filter(|_| quarry.passages > 0);
    row.looked_at = quarry.steps;
    Ok(Some(row))
}

/// The rows for a terminal.
#[must_use]
pub fn text(rows: &[Row]) -> String {
    let mut out = format!(
        "{:<8}{:<28}{:<6}{:>5}{:>4}{:>6}{:>8}{:>8}{:>7}  {}\n",
        "theorem", "algorithm", "model", "N", "k", "c", "bound", "worst", "", "method"
    );
    for row in rows {
        let worst = match row.worst {
            None if row.unbounded => "∞".to_owned(),
            None => "–".to_owned(),
            Some(worst) => worst.to_string(),
        };
        let close = match row.worst {
            Some(worst) if worst == row.bound => "reached".to_owned(),
            Some(worst) if worst > row.bound => "BROKEN".to_owned(),
            Some(worst) => format!("{:.0} %", 100.0 * worst as f64 / row.bound as f64),
            None => String::new(),
        };
        let _ = writeln!(
            out,
            "{:<8}{:<28}{:<6}{:>5}{:>4}{:>6}{:>8}{worst:>8}{close:>8} {}",
            row.theorem,
            row.algorithm,
            row.model,
            row.n,
            row.k,
            row.contention,
            row.bound,
            row.method()
        );
    }
    out
}

/// The cost (CC) of a passage through nested fast paths whose bounded decrement is a
/// compare-and-swap loop, if it loses 0 to `most` exchanges to another process.
///
/// Five processes and two places: `p0` has read the counter of free places, and `p1` takes or gives
/// back a place before each exchange that `p0` is to lose.
///
/// # Errors
/// Returns an error if the text cannot be run.
pub fn lost_exchanges(most: usize) -> Result<Vec<u64>, TextError> {
    let sizes = Sizes { n: 5, k: 2 };
    (0..=most)
        .map(|lost| {
            let rules = Rules { measure: Some((0, CostModel::Cc)), bounded_decrement: false, ..Rules::default() };
            let mut world = FOUR.world(sizes, rules)?;
            let mut state = world.initial();
            let places = world.layout().by_path("depth0.X").expect("there is a fast path around the rest") as usize;
            let mut cost = u64::from(world.step(&mut state, 0)?.cost);
            for _ in 0..lost {
                let before = state.vars[places];
                while state.vars[places] == before {
                    world.step(&mut state, 1)?;
                }
                cost += u64::from(world.step(&mut state, 0)?.cost);
            }
            loop {
                let step = world.step(&mut state, 0)?;
                cost += u64::from(step.cost);
                if step.passage_ended {
                    return Ok(cost);
                }
            }
        })
        .collect()
}
