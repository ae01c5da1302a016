//! Graphs and traces for other programs.

use crate::sim::{Op, Phase, State, TextError, What, World};
use crate::trace::Trace;
use std::collections::HashMap;
use std::fmt::Write as _;

/// A graph that is too large to draw.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DotError {
    /// It has more states than this.
    TooLarge(usize),
    /// A text cannot be run by replay.
    Text(TextError),
}

impl std::fmt::Display for DotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(most) => {
                write!(f, "the graph has more than {most} states, too many to draw; give smaller sizes")
            }
            Self::Text(e) => e.fmt(f),
        }
    }
}
impl std::error::Error for DotError {}

/// A graph in the Graphviz language that says something in words: what is left of a graph that is
/// too large.
///
/// ```
/// let words = doorway_check::export::dot_of_text("many \"states\"\n");
/// assert!(words.contains(r#"label="many \"states\"\l""#));
/// ```
#[must_use]
pub fn dot_of_text(text: &str) -> String {
    let lines: String = text.lines().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"") + "\\l").collect();
    format!("digraph states {{\n  summary [shape=note, fontname=monospace, label=\"{lines}\"];\n}}\n")
}

/// All states and steps of a machine, in the Graphviz language. A state shows where each process
/// is; a `*` marks those inside.
///
/// ```
/// use doorway_check::{export, sim::{Rules, World}};
/// use doorway_core::k_exclusion::anderson_moir_94::Chain;
/// let world = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
/// assert_eq!(export::dot(world, 100).unwrap().matches(" -> ").count(), 116);
/// ```
///
/// # Errors
/// Returns an error if there are more than `most` states.
pub fn dot(mut world: World, most: usize) -> Result<String, DotError> {
    let mut known: HashMap<State, usize> = HashMap::from([(world.initial(), 0)]);
    let mut todo = vec![world.initial()];
    let mut out = String::from("digraph states {\n  node [shape=box, fontname=monospace];\n");
    let mut actions = Vec::new();
    while let Some(state) = todo.pop() {
        let id = known[&state];
        let place = |p: usize| match (world.phase(&state, p), world.next_at(&state, p).1) {
            (Phase::Remainder, _) => "-".to_owned(),
            (Phase::Inside, label) => format!("{label}*"),
            (_, label) => label.to_string(),
        };
        let places: Vec<String> = (0..world.processes()).map(place).collect();
        let values: Vec<String> = world
            .layout()
            .vars()
            .iter()
            .zip(&state.vars)
            .map(|(v, &word)| format!("{}={}", v.path, v.show(word)))
            .collect();
        let _ = writeln!(out, "  s{id} [label=\"{}\\n{}\"];", places.join(" "), values.join(" "));
        actions.clear();
        (0..world.processes()).for_each(|p| world.actions(&state, p, &mut actions));
        for &action in &actions {
            let (_, label) = world.next_at(&state, action.process);
            let chooses = matches!(world.next(&state, action.process), Op::Choose(_));
            let mut next = state.clone();
            if world.act(&mut next, action).map_err(DotError::Text)?.is_none() {
                continue;
            }
            let fresh = known.len();
            let to = *known.entry(next.clone()).or_insert(fresh);
            if to == fresh {
                if fresh >= most {
                    return Err(DotError::TooLarge(most));
                }
                todo.push(next);
            }
            let what = match action.what {
                What::Step => format!("{label}"),
                What::Sees(i) if chooses => format!("{label} chooses {i}"),
                What::Sees(i) => format!("{label} torn {i}"),
                What::GiveUp => format!("{label} gives up"),
                What::TimesOut => "wakes up".to_owned(),
                What::Crash => "crashes".to_owned(),
                What::CrashWakes(i) => format!("crashes, wakes {i}"),
                What::Restart => "begins anew".to_owned(),
            };
            let _ = writeln!(out, "  s{id} -> s{to} [label=\"p{}.{what}\"];", action.process);
        }
    }
    out.push_str("}\n");
    Ok(out)
}

/// A trace as a LaTeX table, with one column for each process.
#[must_use]
pub fn latex(trace: &Trace) -> String {
    let escape = |text: &str| {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '_' | '&' | '%' | '#' | '$' | '{' | '}' => out.extend(['\\', c]),
                '→' => out.push_str("$\\to$"),
                '–' => out.push_str("--"),
                '<' | '>' | '=' | '|' => {
                    let _ = write!(out, "${c}$");
                }
                c => out.push(c),
            }
        }
        out
    };
    let mut out = format!("\\begin{{tabular}}{{r{}l}}\n", "l".repeat(trace.processes));
    let heads: Vec<String> = (0..trace.processes).map(|p| format!("$p_{p}$")).collect();
    let _ = writeln!(out, "  & {} & changed \\\\ \\hline", heads.join(" & "));
    for (i, step) in trace.steps.iter().enumerate() {
        if trace.repeats_from == Some(i) {
            out.push_str("  \\hline\n");
        }
        let cell = |p: usize| if p == step.process { escape(&step.text()) } else { String::new() };
        let cells: Vec<String> = (0..trace.processes).map(cell).collect();
        let _ = writeln!(out, "  {} & {} & {} \\\\", i + 1, cells.join(" & "), escape(&step.consequence()));
    }
    out.push_str("\\end{tabular}\n");
    out
}
