//! Goals for [`shared::Slots`](doorway::shared::Slots), and whether they were reached.

use super::crowd::SECTIONS;
use super::gates::Peer;
use super::{Alone, Crowd, Deaths, Verdict};
use crate::bench::verdict::{Bound, verdict};

fn alone(contest: &Alone, of: Peer, to: Peer, bound: Bound) -> Option<Verdict> {
    let ratio = contest.cpu_ns(of.name())? / contest.cpu_ns(to.name())?;
    let what = format!("CPU time alone, {} against {}", of.name(), to.name());
    verdict(&what, bound, "one process alone", vec![(format!("k = {}", contest.k), ratio)])
}

fn crowded(cells: &[&Crowd], section_us: u128, ours: Peer, theirs: Peer) -> Option<Verdict> {
    let figures = cells.iter().filter_map(|cell| Some((cell.name(), cell.ops(ours)? / cell.ops(theirs)?)));
    let what = format!("throughput, {} against {}", ours.name(), theirs.name());
    let over = format!("{section_us} us inside");
    verdict(&what, Bound::AtLeast(1.0), &over, figures.collect())
}

fn death(deaths: &Deaths) -> Vec<Option<Verdict>> {
    let Some(ours) = deaths.peer(Peer::Doorway) else { return Vec::new() };
    let over = format!("{} deaths, one waits", ours.granted);
    let within = |what: &str, ns: f64, most_ms| {
        let what = format!("{what} of the time from a death to the next grant, ms");
        verdict(&what, Bound::AtMost(most_ms), &over, vec![(String::new(), ns / 1e6)])
    };
    vec![within("p50", ours.p50_ns, 0.5), within("p99", ours.p99_ns, 5.0)]
}

pub(super) fn all(contests: &[Alone], crowds: &[Crowd], deaths: &Deaths) -> Vec<Verdict> {
    let mut all = Vec::new();
    for contest in contests {
        all.push(alone(contest, Peer::Doorway, Peer::Posix, Bound::AtMost(3.0)));
        all.push(alone(contest, Peer::SysV, Peer::Doorway, Bound::AtLeast(50.0)));
    }
    for section in SECTIONS {
        let cells: Vec<_> = crowds.iter().filter(|cell| u128::from(cell.section_ns) == section.as_nanos()).collect();
        for ours in [Peer::Doorway, Peer::DoorwayBypass] {
            for theirs in [Peer::SysV, Peer::Robust] {
                all.push(crowded(&cells, section.as_micros(), ours, theirs));
            }
        }
    }
    all.extend(death(deaths));
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::{CrowdStanding, DeathStanding};
    use super::*;

    fn cell(k: usize, section_ns: u64, figures: &[(Peer, f64)]) -> Crowd {
        let standing = |&(peer, ops): &(Peer, f64)| CrowdStanding {
            peer: peer.name(),
            ops,
            ops_range: (ops, ops),
            cpu_ns: 1.0,
            handed_over: 1.0,
            share: 1.0,
            most_inside: 1,
        };
        Crowd { k, processes: 4, section_ns, control: 1.0, peers: figures.iter().map(standing).collect() }
    }

    #[test]
    fn the_worst_cell_of_a_section_decides() {
        let crowds = [
            cell(1, 0, &[(Peer::Doorway, 300.0), (Peer::SysV, 100.0), (Peer::Robust, 600.0)]),
            cell(2, 0, &[(Peer::Doorway, 90.0), (Peer::SysV, 100.0)]),
            cell(1, 10_000, &[(Peer::Doorway, 100.0), (Peer::SysV, 100.0)]),
        ];
        let none = Deaths { trials: 0, control: f64::NAN, peers: Vec::new() };
        let all = all(&[], &crowds, &none);
        let found: Vec<_> = all.iter().map(|v| (v.cells, v.goal.measured, v.goal.met, v.worst.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, 0.9, false, "k = 2, 4 processes, 0 us"),
                (1, 0.5, false, "k = 1, 4 processes, 0 us"),
                (1, 1.0, true, "k = 1, 4 processes, 10 us")
            ]
        );
    }

    #[test]
    fn deaths_are_judged_in_milliseconds() {
        let name = Peer::Doorway.name();
        let ours = DeathStanding { peer: name, granted: 9, told: 9, p50_ns: 4e5, p99_ns: 6e6, max_ns: 7e6 };
        let all = all(&[], &[], &Deaths { trials: 9, control: 1.0, peers: vec![ours] });
        let found: Vec<_> = all.iter().map(|v| (v.goal.measured, v.goal.met)).collect();
        assert_eq!(found, [(0.4, true), (6.0, false)]);
    }
}
