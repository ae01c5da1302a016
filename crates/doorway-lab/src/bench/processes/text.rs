//! A report as tables.

use super::{Case, Crowd, Deaths, Fate, Outcome, Report};
use crate::bench::text::{alone, head};
use crate::bench::verdict;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        head(f, &self.machine, self.effort.repetitions)?;
        alone(f, &self.alone)?;
        writeln!(f, "A robust mutex has one unit. Instructions are those outside the kernel.")?;
        writeln!(f, "\nPROCESSES, PINNED TO ALL PROCESSORS IN TURN; AS MUCH WORK OUTSIDE AS INSIDE\n")?;
        crowds(f, &self.crowds)?;
        deaths(f, &self.deaths)?;
        fates(f, &self.fates)?;
        verdict::show(f, &self.verdicts)?;
        self.faults.iter().try_for_each(|fault| writeln!(f, "WRONG: {fault}"))
    }
}

fn crowds(f: &mut fmt::Formatter<'_>, cells: &[Crowd]) -> fmt::Result {
    writeln!(
        f,
        "{:<30}{:<18}{:>10}{:>10}{:>13}{:>12}   range of kop/s",
        "", "", "kop/s", "CPU ns", "handed over", "least/most"
    )?;
    for cell in cells {
        for (i, peer) in cell.peers.iter().enumerate() {
            let what = match i {
                0 => cell.name(),
                1 => format!("  control {:.2}", cell.control),
                2 if cell.processes <= cell.k => "  no waiting".to_owned(),
                _ => String::new(),
            };
            let (low, high) = peer.ops_range;
            writeln!(
                f,
                "{what:<30}{:<18}{:>10.1}{:>10.0}{:>11.0} %{:>12.2}   {:.1} to {:.1}",
                peer.peer,
                peer.ops / 1e3,
                peer.cpu_ns,
                100.0 * peer.handed_over,
                peer.share,
                low / 1e3,
                high / 1e3
            )?;
        }
    }
    Ok(())
}

fn deaths(f: &mut fmt::Formatter<'_>, deaths: &Deaths) -> fmt::Result {
    let Deaths { trials, control, peers } = deaths;
    writeln!(f, "\nFROM THE DEATH OF THE HOLDER TO THE NEXT GRANT, US: k = 1, SIGKILL, ONE WAITER SLEEPS\n")?;
    let what = format!("{trials} deaths, control {control:.2}");
    writeln!(f, "{what:<30}{:<18}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "p50", "p99", "max", "granted", "told")?;
    for peer in peers {
        writeln!(
            f,
            "{:<30}{:<18}{:>10.0}{:>10.0}{:>10.0}{:>10}{:>10}",
            "",
            peer.peer,
            peer.p50_ns / 1e3,
            peer.p99_ns / 1e3,
            peer.max_ns / 1e3,
            peer.granted,
            peer.told
        )?;
    }
    Ok(())
}

fn fates(f: &mut fmt::Formatter<'_>, fates: &[Fate]) -> fmt::Result {
    writeln!(f, "\nWHAT BECOMES OF A UNIT WHEN ITS HOLDER IS KILLED\n")?;
    writeln!(
        f,
        "{:<18}{:^48}{:>16}{:>14}{:>14}{:>8}",
        "", "the holder is killed, k = 1:", "a waiter is", "all holders", "the next", "slot"
    )?;
    writeln!(
        f,
        "{:<18}{:>16}{:>16}{:>16}{:>16}{:>14}{:>14}{:>8}",
        "", "one waits", "one asks then", "a child lives", "killed", "are killed", "is told", "number"
    )?;
    let yes = |yes| if yes { "yes" } else { "no" };
    for fate in fates {
        write!(f, "{:<18}", fate.peer)?;
        for (case, outcome) in &fate.cases {
            let word = match (case, outcome) {
                (Case::WhileWaiting, Outcome::ComesBack) => "nothing lost",
                (_, Outcome::ComesBack) => "comes back",
                (_, Outcome::Stuck) => "stuck",
                (_, Outcome::Lost) => "LOST",
            };
            write!(f, "{word:>16}")?;
        }
        let left = format!("{} of {} left", fate.left, fate.units);
        writeln!(f, "{left:>14}{:>14}{:>8}", yes(fate.told), yes(fate.slot_number))?;
    }
    writeln!(f, "Stuck: until the child, which has inherited the open files, is gone too.")
}
