//! A report as tables.

use super::tasks::SECTION;
use super::{Alone, Cell, Report, TaskCell, Verdict};
use crate::bench::text::head;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        alone(f, &self.alone)?;
        threads(f, &self.threads)?;
        tasks(f, &self.tasks)?;
        verdicts(f, &self.verdicts)?;
        self.faults.iter().try_for_each(|fault| writeln!(f, "WRONG: {fault}"))
    }
}

fn alone(f: &mut fmt::Formatter<'_>, contests: &[Alone]) -> fmt::Result {
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

fn threads(f: &mut fmt::Formatter<'_>, cells: &[Cell]) -> fmt::Result {
    writeln!(f, "\nMORE THREADS THAN PLACES, PINNED TO ALL PROCESSORS IN TURN; AS MUCH WORK OUTSIDE AS INSIDE\n")?;
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
                2 if !cell.is_contended() => "  nobody waits".to_owned(),
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

fn tasks(f: &mut fmt::Formatter<'_>, cells: &[TaskCell]) -> fmt::Result {
    writeln!(f, "\nTASKS ON TWO WORKERS; {} NS OF WORK AND A YIELD INSIDE, A YIELD OUTSIDE\n", SECTION.as_nanos())?;
    writeln!(
        f,
        "{:<42}{:<20}{:>10}{:>10}{:>11}{:>12}{:>8}   range of kop/s",
        "", "", "kop/s", "CPU ns", "cancelled", "least/most", "inside"
    )?;
    for cell in cells {
        for (i, peer) in cell.peers.iter().enumerate() {
            let what = match i {
                0 => cell.name(),
                1 => format!("  control {:.2}", cell.control),
                _ => String::new(),
            };
            let (low, high) = peer.ops_range;
            writeln!(
                f,
                "{what:<42}{:<20}{:>10.1}{:>10.0}{:>9.0} %{:>12.2}{:>8}   {:.1} to {:.1}{}",
                peer.peer,
                peer.ops / 1e3,
                peer.cpu_ns,
                100.0 * peer.cancelled,
                peer.share,
                peer.most_inside,
                low / 1e3,
                high / 1e3,
                peer.fault(cell.k).map_or(String::new(), |fault| format!("  {fault}"))
            )?;
        }
    }
    Ok(())
}

fn verdicts(f: &mut fmt::Formatter<'_>, verdicts: &[Verdict]) -> fmt::Result {
    writeln!(f)?;
    for verdict in verdicts {
        writeln!(f, "{}", verdict.goal)?;
        if verdict.cells > 1 {
            writeln!(
                f,
                "    {} cells, {}: the worst is {}, the median {:.3}",
                verdict.cells, verdict.over, verdict.worst, verdict.median
            )?;
        } else {
            writeln!(f, "    {}", verdict.over)?;
        }
    }
    Ok(())
}
