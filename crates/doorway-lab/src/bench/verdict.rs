//! Goals for the measurements, and whether they were reached.

use super::Goal;
use crate::measure;
use serde::Serialize;
use std::fmt;

/// A goal over one or several cells. The worst cell counts.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The goal, with the figure of the worst cell.
    #[serde(flatten)]
    pub goal: Goal,
    /// The cells.
    pub over: String,
    /// The number of cells.
    pub cells: usize,
    /// The worst cell.
    pub worst: String,
    /// The figure of the median cell.
    pub median: f64,
}

#[derive(Clone, Copy)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn is_kept(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    /// The larger, the worse.
    pub(super) fn badness(self, value: f64) -> f64 {
        match self {
            Self::AtMost(_) => value,
            Self::AtLeast(_) => -value,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most:.3}"),
            Self::AtLeast(least) => format!("at least {least:.3}"),
        }
    }
}

/// The verdict over the figures of cells. `None` if no cell has a figure: a cell without hand-overs
/// has none.
pub(super) fn verdict(what: &str, bound: Bound, over: &str, figures: Vec<(String, f64)>) -> Option<Verdict> {
    let figures: Vec<_> = figures.into_iter().filter(|(_, value)| value.is_finite()).collect();
    let (worst, measured) =
        figures.iter().max_by(|(_, a), (_, b)| bound.badness(*a).total_cmp(&bound.badness(*b))).cloned()?;
    Some(Verdict {
        goal: Goal { what: what.to_owned(), measured, goal: bound.text(), met: bound.is_kept(measured) },
        over: over.to_owned(),
        cells: figures.len(),
        worst,
        median: measure::median(figures.into_iter().map(|(_, value)| value).collect()),
    })
}

/// Verdicts, each with its cells.
pub(super) fn show(f: &mut fmt::Formatter<'_>, verdicts: &[Verdict]) -> fmt::Result {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_figures_there_is_no_verdict() {
        assert!(verdict("", Bound::AtMost(1.0), "", vec![(String::new(), f64::NAN)]).is_none());
    }

    #[test]
    fn bounds_include_their_ends() {
        assert!(Bound::AtMost(0.4).is_kept(0.4) && !Bound::AtMost(0.4).is_kept(0.41));
        assert!(Bound::AtLeast(3.0).is_kept(3.0) && !Bound::AtLeast(3.0).is_kept(2.99));
    }
}
