//! Goals for [`Slots`](doorway::Slots), and whether they were reached.

use super::peers::{BYPASS, FAIR, SEM_T, TOKIO, UNFAIR, UNNUMBERED, UNNUMBERED_BYPASS};
use super::threads::SECTIONS;
use super::{Alone, Cell, ThreadStanding, Verdict};
use crate::bench::verdict::{Bound, verdict};

fn alone(semaphores: &Alone, ours: &str, theirs: &str, most: f64) -> Option<Verdict> {
    let ratio = semaphores.cpu_ns(ours)? / semaphores.cpu_ns(theirs)?;
    let what = format!("CPU time alone, {ours} against {theirs}");
    verdict(&what, Bound::AtMost(most), "one thread alone", vec![(format!("k = {}", semaphores.k), ratio)])
}

/// In each cell, one of our peers against the best of the others that are as fair.
fn against(cells: &[&Cell], ours: &str, of: fn(&ThreadStanding) -> f64, bound: Bound) -> Vec<(String, f64)> {
    let figure = |cell: &&Cell| {
        let ours = cell.peer(ours)?;
        let ratios = cell.others(ours.fair).map(|peer| of(ours) / of(peer));
        let worst = ratios.max_by(|a, b| bound.badness(*a).total_cmp(&bound.badness(*b)))?;
        Some((cell.name(), worst))
    };
    cells.iter().filter_map(figure).collect()
}

/// The throughput of 32 threads against that of two, with one place.
fn crowded(cells: &[&Cell], ours: &str) -> Vec<(String, f64)> {
    let ops = |threads| {
        let cell = cells.iter().find(|cell| cell.k == 1 && cell.threads == threads)?;
        Some((cell.name(), cell.peer(ours)?.ops))
    };
    let (Some((name, many)), Some((_, few))) = (ops(32), ops(2)) else { return Vec::new() };
    vec![(name, many / few)]
}

pub(super) fn all(semaphores: &[Alone], threads: &[Cell]) -> Vec<Verdict> {
    let mut all = Vec::new();
    if let Some(semaphores) = semaphores.first() {
        all.push(alone(semaphores, FAIR, SEM_T, 1.3));
        all.push(alone(semaphores, FAIR, TOKIO, 0.4));
        all.push(alone(semaphores, UNNUMBERED, SEM_T, 0.8));
    }
    for section in SECTIONS.map(|section| section.as_nanos() as u64) {
        let cells: Vec<&Cell> =
            threads.iter().filter(|cell| cell.section_ns == section && cell.is_contended()).collect();
        let over = format!("{section} ns inside, more threads than places");
        let mut compare = |what: &str, ours, of: fn(&ThreadStanding) -> f64, bound| {
            all.push(verdict(what, bound, &over, against(&cells, ours, of, bound)));
        };
        compare("throughput, fair, against every fair peer", FAIR, |peer| peer.ops, Bound::AtLeast(3.0));
        compare(
            "CPU time beyond the work for a hand-over, fair, against every fair peer",
            FAIR,
            ThreadStanding::cpu_per_hand_over_ns,
            Bound::AtMost(1.0 / 3.0),
        );
        compare("p99 of waiting, fair, against every fair peer", FAIR, |peer| peer.wait_p99_ns, Bound::AtMost(1.0));
        compare("throughput, unfair, against every unfair peer", UNFAIR, |peer| peer.ops, Bound::AtLeast(1.0));
        compare("throughput, bypass 64, against every unfair peer", BYPASS, |peer| peer.ops, Bound::AtLeast(0.9));
        // No peer gives numbers, so this one compares like with like.
        compare(
            "throughput, bypass 64 without numbers, against every unfair peer",
            UNNUMBERED_BYPASS,
            |peer| peer.ops,
            Bound::AtLeast(0.9),
        );
        compare(
            "p99.9 of waiting, bypass 64, against every unfair peer",
            BYPASS,
            |peer| peer.wait_p999_ns,
            Bound::AtMost(1.0),
        );
        let few = cells.iter().filter(|cell| (2..=8).contains(&cell.threads));
        let shares = few.filter_map(|cell| Some((cell.name(), cell.peer(FAIR)?.share))).collect();
        let over = format!("{over}, 2 to 8 threads");
        all.push(verdict("fewest passages of a thread against most, fair", Bound::AtLeast(0.8), &over, shares));
        for ours in [FAIR, UNFAIR] {
            let what = format!("throughput of 32 threads against 2, {ours}");
            let over = format!("{section} ns inside, k = 1");
            all.push(verdict(&what, Bound::AtLeast(0.5), &over, crowded(&cells, ours)));
        }
    }
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(peer: &'static str, fair: bool, ops: f64) -> ThreadStanding {
        ThreadStanding {
            peer,
            fair,
            ops,
            ops_range: (ops, ops),
            cpu_ns: 300.0,
            cpu_beyond_work_ns: 1e6 / ops,
            handed_over: 0.5,
            wait_p50_ns: 1.0,
            wait_p99_ns: 10.0,
            wait_p999_ns: 100.0,
            share: 0.9,
        }
    }

    fn cell(threads: usize, ours: f64, unfair: f64) -> Cell {
        let peers = vec![
            standing(FAIR, true, ours),
            standing(UNFAIR, false, unfair),
            standing(TOKIO, true, 100.0),
            standing("parking_lot fair", true, 50.0),
            standing(SEM_T, false, 1000.0),
        ];
        Cell { k: 1, threads, section_ns: 100, control: 1.0, peers }
    }

    fn find<'a>(all: &'a [Verdict], start: &str) -> &'a Verdict {
        all.iter().find(|verdict| verdict.goal.what.starts_with(start)).unwrap()
    }

    #[test]
    fn the_worst_cell_decides_and_the_median_stands_beside() {
        let all =
            all(&[], &[cell(1, 1.0, 1.0), cell(2, 400.0, 2000.0), cell(8, 500.0, 999.0), cell(32, 250.0, 1500.0)]);
        let fair = find(&all, "throughput, fair");
        assert_eq!((fair.goal.measured, fair.median, fair.cells, fair.goal.met), (2.5, 4.0, 3, false));
        assert_eq!(fair.worst, "k = 1, 32 threads, 100 ns");
        let unfair = find(&all, "throughput, unfair");
        assert_eq!((unfair.goal.measured, unfair.median, unfair.goal.met), (0.999, 1.5, false));
        let cpu = find(&all, "CPU time beyond");
        assert!((cpu.goal.measured - 0.4).abs() < 1e-9 && (cpu.median - 0.25).abs() < 1e-9 && !cpu.goal.met);
        let share = find(&all, "fewest");
        assert_eq!((share.goal.measured, share.cells, share.goal.met), (0.9, 2, true));
        let crowded = find(&all, "throughput of 32 threads against 2, doorway");
        assert_eq!((crowded.goal.measured, crowded.cells, crowded.goal.met), (0.625, 1, true));
        assert!(find(&all, "p99").goal.met);
    }

    #[test]
    fn where_nothing_was_measured_there_is_no_verdict() {
        assert!(all(&[], &[]).is_empty());
    }
}
