//! No passage costs more than its theorem says, and the bounds that can be reached are.

use doorway_check::tables::theorems::{Effort, Row, THEOREMS, contentions, measure};
use doorway_core::registry::Sizes;

fn rows(sizes: &[(usize, usize)], effort: Effort) -> Vec<Row> {
    let sizes = sizes.iter().map(|&(n, k)| Sizes { n, k });
    let both = sizes.flat_map(|sizes| THEOREMS.map(|theorem| (theorem, sizes)));
    both.flat_map(|(theorem, sizes)| measure(&theorem, sizes, &contentions(sizes), effort).unwrap()).collect()
}

fn reached(rows: &[Row], n: usize, k: usize) -> Vec<&str> {
    let full = rows.iter().filter(|row| (row.n, row.k, row.contention) == (n, k, n));
    full.filter(|row| row.worst == Some(row.bound)).map(|row| row.theorem).collect()
}

#[test]
fn small_sizes_exhaustively() {
    let rows = rows(&[(2, 1), (3, 1), (3, 2)], Effort { states: 100_000, ..Effort::default() });
    for row in &rows {
        assert!(!row.is_broken() && row.worst.is_some(), "{row:?}");
    }
    assert!(rows.iter().filter(|row| row.n == 2).all(|row| row.method == "exhaustive"));
    assert_eq!(reached(&rows, 2, 1), ["1", "2", "5", "6"]);
    assert_eq!(reached(&rows, 3, 1), ["1", "2", "5", "6"]); // 5 and 6 need more than one passage each
    assert_eq!(reached(&rows, 3, 2), ["1", "5", "1+k", "5+k"]);
}

#[test]
fn larger_sizes_by_the_adversary() {
    the_adversary_reaches_the_bounds(&[(8, 2), (16, 4)]);
}

#[test]
#[ignore = "takes a quarter of a minute; ci/long-searches.sh runs it"]
fn more_places_among_many_by_the_adversary() {
    the_adversary_reaches_the_bounds(&[(64, 2), (64, 8)]);
}

fn the_adversary_reaches_the_bounds(sizes: &[(usize, usize)]) {
    let rows = rows(sizes, Effort { steps: 1_000_000, ..Effort::default() });
    for row in &rows {
        assert!(!row.is_broken() && row.worst.is_some(), "{row:?}");
    }
    for &(n, k) in sizes {
        let reached = reached(&rows, n, k);
        for theorem in ["1", "2", "3", "5", "6"] {
            assert!(reached.contains(&theorem), "Theorem {theorem} at ({n},{k}): {reached:?}");
        }
    }
}
