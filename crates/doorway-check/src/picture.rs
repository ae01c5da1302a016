//! State graphs that people look at: a picture of a small graph, and a summary of a large one.
//!
//! ```
//! use doorway_check::picture::StateGraph;
//! use doorway_check::sim::{Rules, World};
//! use doorway_check::Property;
//! use doorway_core::k_exclusion::anderson_moir_94::Chain;
//!
//! let world = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1))?;
//! let graph = StateGraph::of(world, vec![Property::exclusion("k-exclusion", 1)], 1000)?;
//! assert!(graph.svg().starts_with("<svg"));
//! assert!(graph.summary().contains("58 states"));
//! # Ok::<(), doorway_check::sim::TextError>(())
//! ```

mod svg;

use crate::drive::{Edge, components};
use crate::explore::holds_at;
use crate::property::{Property, Test};
use crate::sim::{Phase, State, TextError, What, World};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A graph with more states than this is not drawn: its picture is the summary.
pub const DRAWN: usize = 400;

/// All states and steps of a machine, as far as they were looked at.
#[derive(Debug)]
pub struct StateGraph {
    nodes: Vec<Node>,
    edges: Vec<Vec<Edge>>,
    /// The strongly connected components with more than one state.
    components: Vec<Vec<u32>>,
    complete: bool,
}

/// A state.
#[derive(Debug)]
struct Node {
    /// Where each process is; a star marks those inside.
    places: String,
    /// The values of the variables.
    values: String,
    /// Steps from the initial state.
    depth: usize,
    /// The claims that are false there.
    breaks: Vec<String>,
    /// The component with more than one state to which it belongs.
    component: Option<usize>,
    /// Whether some of its steps were not followed, because there are too many states.
    cut: bool,
}

impl StateGraph {
    /// Looks at up to `most` states, breadth first. Claims about single states are judged in each.
    ///
    /// # Errors
    /// Returns an error if a text cannot be run by replay.
    pub fn of(mut world: World, mut claims: Vec<Property>, most: usize) -> Result<Self, TextError> {
        claims.retain(|claim| !matches!(claim.test, Test::Sometimes(_)));
        claims.retain(|claim| !claim.needs_order() || world.rules().order);
        world.watch_for(&claims);
        let mut states = vec![world.initial()];
        let mut known: HashMap<State, u32> = HashMap::from([(world.initial(), 0)]);
        let mut graph = Self { nodes: Vec::new(), edges: Vec::new(), components: Vec::new(), complete: true };
        let (mut depths, mut actions, mut at) = (vec![0], Vec::new(), 0);
        while at < states.len() {
            let state = states[at].clone();
            graph.nodes.push(node(&mut world, &state, depths[at], &claims)?);
            actions.clear();
            (0..world.processes()).for_each(|p| world.actions(&state, p, &mut actions));
            let mut out = Vec::new();
            for &action in &actions {
                let mut next = state.clone();
                let Some(stepped) = world.act(&mut next, action)? else { continue };
                let to = match known.get(&next) {
                    Some(&to) => to,
                    None if states.len() >= most => {
                        graph.complete = false;
                        graph.nodes[at].cut = true;
                        continue;
                    }
                    None => {
                        let to = states.len() as u32;
                        known.insert(next.clone(), to);
                        states.push(next);
                        depths.push(depths[at] + 1);
                        to
                    }
                };
                out.push(Edge { to, action, entered: stepped.entered, gives_up: action.what == What::GiveUp });
            }
            graph.edges.push(out);
            at += 1;
        }
        graph.components = components(&graph.edges, &|_| true, &|_| true);
        graph.components.retain(|members| members.len() > 1);
        graph.components.sort_by_key(|members| std::cmp::Reverse(members.len()));
        for (i, members) in graph.components.iter().enumerate() {
            members.iter().for_each(|&s| graph.nodes[s as usize].component = Some(i));
        }
        Ok(graph)
    }

    /// The number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Whether these are all states.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether nothing more happens in a state.
    fn is_terminal(&self, s: usize) -> bool {
        !self.nodes[s].cut && self.edges[s].iter().all(|edge| edge.to as usize == s)
    }

    /// Sizes, degrees, components and depth, in words.
    #[must_use]
    pub fn summary(&self) -> String {
        let n = self.nodes.len();
        let steps: usize = self.edges.iter().map(Vec::len).sum();
        let whole = |s: &usize| !self.nodes[*s].cut;
        let degrees: Vec<usize> = (0..n).filter(whole).map(|s| self.edges[s].len()).collect();
        let mut into = vec![0usize; n];
        self.edges.iter().flatten().for_each(|edge| into[edge.to as usize] += 1);
        let depth = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let mut wide = vec![0usize; depth + 1];
        self.nodes.iter().for_each(|node| wide[node.depth] += 1);
        let widest = (0..=depth).max_by_key(|&d| (wide[d], std::cmp::Reverse(d))).unwrap_or(0);
        let own = self.edges.iter().enumerate().flat_map(|(s, out)| out.iter().map(move |e| (s, e.to as usize)));
        let loops = own.filter(|(s, to)| s == to).count();
        let terminal = (0..n).filter(|&s| self.is_terminal(s)).count();
        let broken: Vec<&Node> = self.nodes.iter().filter(|node| !node.breaks.is_empty()).collect();
        let of = |all: &[usize]| (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        let ((least, most), (_, most_in)) = (of(&degrees), of(&into));
        let cyclic: usize = self.components.iter().map(Vec::len).sum();
        let mut out = String::new();
        let all = if self.complete { "all there are" } else { "NOT all there are" };
        let _ = writeln!(out, "{n} states, {all}; {steps} steps, of which {loops} lead nowhere else");
        let mean = degrees.iter().sum::<usize>() as f64 / degrees.len().max(1) as f64;
        let _ =
            writeln!(out, "steps from a state: {least} to {most}, {mean:.2} on average; into a state: up to {most_in}");
        let _ = writeln!(out, "depth: {depth} steps; the widest level is {widest}, with {} states", wide[widest]);
        let sizes: Vec<String> = self.components.iter().take(5).map(|members| members.len().to_string()).collect();
        let more = if self.components.len() > 5 { ", …" } else { "" };
        let _ = match self.components.len() {
            0 => writeln!(out, "strongly connected components: each state is one by itself"),
            many => writeln!(
                out,
                "strongly connected components: {} in all; {many} with more than one state, of {}{more} states",
                n - cyclic + many,
                sizes.join(", ")
            ),
        };
        let _ = writeln!(out, "terminal states, in which nothing more happens: {terminal}");
        let first = broken.iter().min_by_key(|node| node.depth);
        let nearest = first.map_or(String::new(), |node| {
            format!("; the nearest after {} steps breaks {}", node.depth, node.breaks.join(", "))
        });
        let _ = writeln!(out, "states that break a claim: {}{nearest}", broken.len());
        out
    }

    /// How many states there are at each depth.
    fn levels(&self) -> Vec<usize> {
        let depth = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let mut levels = vec![0; depth + 1];
        self.nodes.iter().for_each(|node| levels[node.depth] += 1);
        levels
    }
}

fn node(world: &mut World, state: &State, depth: usize, claims: &[Property]) -> Result<Node, TextError> {
    let mut breaks = Vec::new();
    for claim in claims {
        if holds_at(world, None, state, claim)? == Some(false) {
            breaks.push(claim.name().to_owned());
        }
    }
    let place = |p: usize| match (world.phase(state, p), world.next_at(state, p).1) {
        (..) if world.has_crashed(state, p) => "×".to_owned(),
        (Phase::Remainder, _) => "–".to_owned(),
        (Phase::Inside, label) => format!("{label}*"),
        (_, label) => label.to_string(),
    };
    let places: Vec<String> = (0..world.processes()).map(place).collect();
    let values = (0..)
        .zip(&state.vars)
        .map(|(v, &word)| format!("{}={}", world.layout().short_name(v), world.layout().var(v).show(word)));
    let values = values.collect::<Vec<_>>().join(" ");
    Ok(Node { places: places.join(" "), values, depth, breaks, component: None, cut: false })
}
