//! A report as tables.

use super::tasks::SECTION;
use super::{Bytes, Report, TaskCell};
use crate::bench::text::{alone, crowded, head};
use crate::bench::verdict;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        memory(f, &self.memory)?;
        alone(f, &self.alone)?;
        writeln!(f, "\nMORE THREADS THAN PLACES, PINNED TO ALL PROCESSORS IN TURN; AS MUCH WORK OUTSIDE AS INSIDE\n")?;
        crowded(f, &self.threads)?;
        tasks(f, &self.tasks)?;
        verdict::show(f, &self.verdicts)?;
        self.faults.iter().try_for_each(|fault| writeln!(f, "WRONG: {fault}"))
    }
}

fn memory(f: &mut fmt::Formatter<'_>, all: &[Bytes]) -> fmt::Result {
    writeln!(f, "\nMEMORY, IN BYTES: AN OBJECT WITH 4 PLACES, AND A TASK THAT WAITS (100,000 OF EACH)\n")?;
    writeln!(f, "{:<42}{:<20}{:>10}{:>12}{:>10}{:>12}", "", "", "object", "all told", "future", "all told")?;
    for Bytes { peer, object, idle, future, waiter } in all {
        writeln!(f, "{:<42}{peer:<20}{object:>10}{idle:>12.0}{future:>10}{waiter:>12.0}", "")?;
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
