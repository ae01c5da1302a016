//! A trace as a table.

use super::{Step, Trace};
use std::fmt;

impl Step {
    /// What happened, and where: the text in the column of the process.
    #[must_use]
    pub fn text(&self) -> String {
        let place = if self.part.is_empty() { String::new() } else { format!("{}.", self.part) };
        let what = match self.instruction {
            None if self.did.is_empty() => format!("→ {}", self.now.unwrap_or("on")),
            _ => format!("{place}{}: {}", self.statement, self.did),
        };
        if self.waits { format!("{what}, waits") } else { what }
    }

    /// The effect: the variables that changed, and whether the process is inside or done.
    #[must_use]
    pub fn consequence(&self) -> String {
        let changed = self.changed.iter().map(|(name, value)| format!("{name} = {value}"));
        let now = self.now.iter().filter(|&&now| now != "entry").map(|now| match *now {
            "remainder" => format!("p{} done", self.process),
            now => format!("p{} {now}", self.process),
        });
        changed.chain(now).collect::<Vec<_>>().join("; ")
    }
}

fn width(s: &str) -> usize {
    s.chars().count()
}

fn padded(s: &str, to: usize) -> String {
    format!("{s}{}", " ".repeat(to.saturating_sub(width(s))))
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths: Vec<usize> = (0..self.processes).map(|p| width(&format!("p{p}"))).collect();
        for step in &self.steps {
            widths[step.process] = widths[step.process].max(width(&step.text()));
        }
        write!(f, "step")?;
        for (p, &w) in widths.iter().enumerate() {
            write!(f, "  {}", padded(&format!("p{p}"), w))?;
        }
        writeln!(f, "  changed")?;
        for (i, step) in self.steps.iter().enumerate() {
            if self.repeats_from == Some(i) {
                writeln!(f, "----  repeats for ever:")?;
            }
            let mut line = format!("{:4}", i + 1);
            for (p, &w) in widths.iter().enumerate() {
                let text = if p == step.process { step.text() } else { String::new() };
                line += &format!("  {}", padded(&text, w));
            }
            line += &format!("  {}", step.consequence());
            writeln!(f, "{}", line.trim_end())?;
        }
        let end: Vec<String> = self
            .end
            .iter()
            .enumerate()
            .map(|(p, at)| {
                let dot = if at.part.is_empty() { "" } else { "." };
                let place = at.statement.map_or(String::new(), |statement| format!("{}{dot}{statement}", at.part));
                match (at.section, &at.waits) {
                    _ if at.crashed => format!("p{p} crashed at {place}"),
                    _ if at.panicked.is_some() => format!("p{p} panicked after {place}"),
                    ("entry" | "exit", Some(sees)) => format!("p{p} waits at {place} ({sees})"),
                    ("entry" | "exit", None) => format!("p{p} at {place}"),
                    ("remainder", _) => format!("p{p} outside"),
                    (section, _) => format!("p{p} {section}"),
                }
            })
            .collect();
        if self.repeats_from == Some(self.len()) {
            writeln!(f, "----  nothing more happens")?;
        }
        if !self.why_fair.is_empty() {
            return write!(f, " why  {}", self.why_fair.join(", "));
        }
        write!(f, " end  {}", end.join(", "))?;
        for message in self.end.iter().filter_map(|at| at.panicked.as_ref()) {
            write!(f, "\n      {message}")?;
        }
        Ok(())
    }
}
