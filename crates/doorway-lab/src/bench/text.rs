//! A report as tables.

use super::alone::Alone;
use super::crowded::Cell;
use super::{Contest, FEWER_THREADS, Goal, MORE_THREADS, Machine, Passage, Report, Throughput};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        writeln!(f, "\nONE HAND-OVER\n")?;
        contests(f, &self.hand_over)?;
        writeln!(f, "\nONE CHANGES, MANY WAIT: ONE ROUND\n")?;
        contests(f, &self.crowd)?;
        throughputs(f, &self.throughput)?;
        passages(f, &self.uncontended)?;
        goals(f, &self.goals)
    }
}

/// What a reader must know about the machine and the method.
pub(super) fn head(f: &mut fmt::Formatter<'_>, machine: &Machine, repetitions: usize) -> fmt::Result {
    let load = machine.load_before.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
    let others = machine.used_by_others.map_or("unknown".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    writeln!(f, "{} processors, load {load} before the run, others used {others} during it", machine.processors)?;
    writeln!(
        f,
        "medians of {repetitions} repetitions, all peers in turns; control: a peer against itself; ratios are to the best of the other libraries",
    )?;
    match &machine.warning {
        Some(warning) => writeln!(f, "WARNING: {warning}"),
        None => Ok(()),
    }
}

pub(super) fn contests(f: &mut fmt::Formatter<'_>, contests: &[Contest]) -> fmt::Result {
    writeln!(
        f,
        "{:<34}{:<16}{:>12}{:>8}{:>12}{:>8}   range of wall ns",
        "", "", "wall ns", "ratio", "CPU ns", "ratio"
    )?;
    for contest in contests {
        for (i, peer) in contest.peers.iter().enumerate() {
            let what = match i {
                0 => contest.what.as_str(),
                1 => &format!("  {}, control {:.2}", contest.place, contest.control),
                _ => "",
            };
            let (low, high) = peer.wall_range_ns;
            writeln!(
                f,
                "{what:<34}{:<16}{:>12.0}{:>8.2}{:>12.0}{:>8.2}   {low:.0} to {high:.0}",
                peer.peer, peer.wall_ns, peer.wall_ratio, peer.cpu_ns, peer.cpu_ratio
            )?;
        }
    }
    Ok(())
}

/// Peers alone.
pub(super) fn alone(f: &mut fmt::Formatter<'_>, contests: &[Alone]) -> fmt::Result {
    writeln!(f, "\nONE THREAD ALONE, CPU TIME, AND INSTRUCTIONS IF VALGRIND IS INSTALLED\n")?;
    writeln!(f, "{:<34}{:<28}{:>9}{:>8}{:>8}   range of CPU ns", "", "", "CPU ns", "ratio", "instr.")?;
    for contest in contests {
        for (i, peer) in contest.peers.iter().enumerate() {
            let what = match i {
                0 => contest.what,
                1 => &format!("  k = {}, control {:.3}", contest.k, contest.control),
                _ => "",
            };
            let (low, high) = peer.cpu_range_ns;
            let instructions = peer.instructions.map_or("-".into(), |instructions| format!("{instructions:.0}"));
            writeln!(
                f,
                "{what:<34}{:<28}{:>9.2}{:>8.2}{instructions:>8}   {low:.2} to {high:.2}",
                peer.peer, peer.cpu_ns, peer.ratio
            )?;
        }
    }
    Ok(())
}

/// Peers with many threads.
pub(super) fn crowded(f: &mut fmt::Formatter<'_>, cells: &[Cell]) -> fmt::Result {
    writeln!(
        f,
        "{:<30}{:<22}{:>10}{:>10}{:>12}{:>10}{:^33}{:>7}   range of kop/s",
        "", "", "", "CPU ns", "beyond", "handed", "waited us", "least/"
    )?;
    writeln!(
        f,
        "{:<30}{:<22}{:>10}{:>10}{:>12}{:>10}{:>11}{:>11}{:>11}{:>7}",
        "", "", "kop/s", "", "the work", "over", "p50", "p99", "p99.9", "most"
    )?;
    for cell in cells {
        for (i, peer) in cell.peers.iter().enumerate() {
            let what = match i {
                0 => cell.name(),
                1 => format!("  control {:.2}", cell.control),
                2 if !cell.is_contended() => "  no waiting".to_owned(),
                _ => String::new(),
            };
            let (low, high) = peer.ops_range;
            writeln!(
                f,
                "{what:<30}{:<22}{:>10.1}{:>10.0}{:>12.0}{:>8.0} %{:>11.2}{:>11.2}{:>11.2}{:>7.2}   {:.1} to {:.1}",
                format!("{}{}", peer.peer, if peer.fair && !peer.peer.contains("fair") { ", fair" } else { "" }),
                peer.ops / 1e3,
                peer.cpu_ns,
                peer.cpu_beyond_work_ns,
                100.0 * peer.handed_over,
                peer.wait_p50_ns / 1e3,
                peer.wait_p99_ns / 1e3,
                peer.wait_p999_ns / 1e3,
                peer.share,
                low / 1e3,
                high / 1e3
            )?;
        }
    }
    Ok(())
}

fn throughputs(f: &mut fmt::Formatter<'_>, rows: &[Throughput]) -> fmt::Result {
    writeln!(f, "\nTHROUGHPUT OF {MORE_THREADS} THREADS ON TWO CORES, AGAINST {FEWER_THREADS} THREADS\n")?;
    writeln!(f, "{:<19}{:>10}{:>3}{:^22}{:>7}{:>9}{:^22}{:^20}", "", "", "", "Mop/s", "", "", "CPU ns", "handed over")?;
    writeln!(
        f,
        "{:<19}{:>10}{:>3}{:>11}{:>11}{:>7}{:>9}{:>11}{:>11}{:>10}{:>10}",
        "", "inside ns", "k", "2", "8", "ratio", "control", "2", "8", "2", "8"
    )?;
    for row in rows {
        writeln!(
            f,
            "{:<19}{:>10}{:>3}{:>11.4}{:>11.4}{:>7.2}{:>9.2}{:>11.0}{:>11.0}{:>8.0} %{:>8.0} %{}",
            row.algorithm,
            row.section_ns,
            row.k,
            row.few_mops,
            row.many_mops,
            row.ratio,
            row.control,
            row.few_cpu_ns,
            row.many_cpu_ns,
            100.0 * row.few_handed_over,
            100.0 * row.many_handed_over,
            if row.collapsed { "  BELOW 0.5" } else { "" }
        )?;
    }
    Ok(())
}

fn passages(f: &mut fmt::Formatter<'_>, rows: &[Passage]) -> fmt::Result {
    writeln!(f, "\nUNCONTENDED PASSAGE, CPU TIME\n")?;
    writeln!(f, "{:<18}{:>10}{:>10}{:>8}{:>9}", "", "PARK ns", "bare ns", "ratio", "control")?;
    for row in rows {
        let what = format!("{} ({},{})", row.algorithm, row.n, row.k);
        writeln!(f, "{what:<18}{:>10.1}{:>10.1}{:>8.3}{:>9.3}", row.park_ns, row.bare_ns, row.ratio, row.control)?;
    }
    Ok(())
}

fn goals(f: &mut fmt::Formatter<'_>, goals: &[Goal]) -> fmt::Result {
    writeln!(f)?;
    goals.iter().try_for_each(|goal| writeln!(f, "{goal}"))
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met = if self.met { "met" } else { "MISSED" };
        write!(f, "goal {met}: {}: {:.3}, should be {}", self.what, self.measured, self.goal)
    }
}
