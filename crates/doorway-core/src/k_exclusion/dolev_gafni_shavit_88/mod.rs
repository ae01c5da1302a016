//! Dolev, Gafni and Shavit, *Toward a Non-Atomic Era: l-Exclusion as a Test Case*, STOC 1988.
//!
//! | in the paper | here |
//! |---|---|
//! | safe bits | [`safe_bit`] |
//! | Constructions 1 to 3, the fork, Theorem 1 | [`Fork`] |
//! | Construction 4, the arrow | [`Arrow`] |
//! | X, GRAPH and Reach, Construction 5 without its oracle | [`Board`] |
//! | Construction 5, Lemma 5 | [`WithOracle`] |
//! | Construction 6, Corollary 2 | [`DgsUnfair`] |
//! | Construction 7, Lemma 7 | [`Ids`] |
//! | Construction 8, Lemma 8 | [`Dgs`], and to the letter [`DgsAsPrinted`] |
//!
//! For study, and for machines that have no read-modify-write at all, or whose reads and writes are
//! not even atomic. Each turn of a wait reads all the bits of all processes.

mod arrow;
mod bit;
mod board;
pub mod entries;
mod fork;
mod ids;
mod l_exclusion;
mod pairs;
mod with_oracle;

pub use arrow::Arrow;
pub use bit::safe_bit;
pub use board::{Board, Reached};
pub use fork::{Fork, ForkState, Mine};
pub use ids::Ids;
pub use l_exclusion::LExclusion;
pub use pairs::Pairs;
pub use with_oracle::{Oracle, WithOracle};

/// Construction 8, repaired: starvation-free.
pub type Dgs<M> = LExclusion<M, true, false>;
/// Construction 6, repaired: the largest process is served.
pub type DgsUnfair<M> = LExclusion<M, false, false>;
/// Construction 8 to the letter: a process can be passed for ever.
pub type DgsAsPrinted<M> = LExclusion<M, true, true>;
/// Construction 6 to the letter, for its counter-examples.
pub type DgsUnfairAsPrinted<M> = LExclusion<M, false, true>;

/// The number of safe bits that [`Dgs`] takes: three forks of six bits for each pair, and X.
/// Without ids that grow there are two forks for each pair.
///
/// ```
/// use doorway_core::k_exclusion::dolev_gafni_shavit_88::bits;
/// assert_eq!([2, 3, 4].map(|n| bits(n, true)), [20, 57, 112]);
/// ```
#[must_use]
pub const fn bits(n: usize, ids_grow: bool) -> u64 {
    6 * forks(n, ids_grow) + n as u64
}

/// The number of words where a bit takes a word. This includes the copies that each process has of
/// its own bits of each fork.
#[must_use]
pub const fn words(n: usize, ids_grow: bool) -> u64 {
    bits(n, ids_grow) + 2 * forks(n, ids_grow)
}

const fn forks(n: usize, ids_grow: bool) -> u64 {
    let pairs = n as u64 * (n as u64).saturating_sub(1) / 2;
    pairs * if ids_grow { 3 } else { 2 }
}
