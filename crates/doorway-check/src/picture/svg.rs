//! The picture: levels by depth, from the top down.

use super::{DRAWN, StateGraph};
use std::fmt::Write as _;

const LEVEL: f64 = 74.0;
const HIGH: f64 = 22.0;
const LEGEND: f64 = 74.0;
/// How often the states of each level are put into a better order.
const SWEEPS: usize = 12;

const STYLE: &str = "\
svg { background: #fff; font: 11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
text { fill: #1b1f24; } .faint { fill: #5b6470; }
.node rect { fill: #f6f7f9; stroke: #5b6470; } .node text { text-anchor: middle; }
.start rect { stroke-width: 3; } .terminal rect { stroke: #1b1f24; stroke-width: 3; stroke-dasharray: 5 2; }
.broken rect { fill: #fbd9d6; stroke: #b3261e; stroke-width: 2; }
.edge { fill: none; stroke-width: 1.1; opacity: .75; } .edge:hover { stroke-width: 3; opacity: 1; }
.key { stroke-width: 3; } .back { stroke-dasharray: 4 3; opacity: .45; } .bar { fill: #0b57d0; }
.p0 { stroke: #0b57d0; } .p1 { stroke: #b4430a; } .p2 { stroke: #11703c; } .p3 { stroke: #7a1fa2; }
.p4 { stroke: #8a6100; } .p5 { stroke: #b0124f; } .p6 { stroke: #006874; } .p7 { stroke: #4a5a00; }
.c0 rect { fill: #dbe7fd; } .c1 rect { fill: #fde6d8; } .c2 rect { fill: #dcf1e3; } .c3 rect { fill: #f0e0f7; } .c4 rect { fill: #f6ecd0; }
.broken.node rect { fill: #fbd9d6; }
@media (prefers-color-scheme: dark) {
svg { background: #14171b; } text { fill: #e4e8ee; } .faint { fill: #a2acb9; }
.node rect { fill: #1d2127; stroke: #a2acb9; } .terminal rect { stroke: #fff; } .broken.node rect { fill: #5a2320; stroke: #ff8f86; }
.bar { fill: #8ab4f8; } .p0 { stroke: #8ab4f8; } .p1 { stroke: #ffab70; } .p2 { stroke: #7fd6a0; } .p3 { stroke: #d7a5f5; }
.p4 { stroke: #e5c46b; } .p5 { stroke: #ff9dbd; } .p6 { stroke: #7fd0dc; } .p7 { stroke: #c3d07a; }
.c0 rect { fill: #1c2c47; } .c1 rect { fill: #452b1a; } .c2 rect { fill: #1b3a28; } .c3 rect { fill: #3a2746; } .c4 rect { fill: #3e3418; }
}
";

impl StateGraph {
    /// A picture as SVG: of every state and step, if there are at most [`DRAWN`] states; of the
    /// summary, if there are more.
    #[must_use]
    pub fn svg(&self) -> String {
        if self.is_complete() && self.states() <= DRAWN { self.drawn() } else { self.summed_up() }
    }

    /// The states of each level, in an order in which few steps cross.
    fn order(&self) -> Vec<Vec<usize>> {
        let mut levels: Vec<Vec<usize>> = vec![Vec::new(); self.levels().len()];
        for (s, node) in self.nodes.iter().enumerate() {
            levels[node.depth].push(s);
        }
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); self.states()];
        for (s, out) in self.edges.iter().enumerate() {
            for edge in out.iter().filter(|edge| edge.to as usize != s) {
                near[s].push(edge.to as usize);
                near[edge.to as usize].push(s);
            }
        }
        let mut place = vec![0.0; self.states()];
        let spread = |level: &[usize], place: &mut [f64]| {
            for (i, &s) in level.iter().enumerate() {
                place[s] = (i as f64 + 0.5) / level.len() as f64;
            }
        };
        levels.iter().for_each(|level| spread(level, &mut place));
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for i in 0..levels.len() {
                let d = if down { i } else { levels.len() - 1 - i };
                let wanted = |s: usize| {
                    let beside = near[s].iter().filter(|&&t| {
                        let other = self.nodes[t].depth;
                        if down { other + 1 == d } else { other == d + 1 }
                    });
                    let (sum, count) = beside.fold((0.0, 0.0), |(sum, count), &t| (sum + place[t], count + 1.0));
                    if count == 0.0 { place[s] } else { sum / count }
                };
                let mut ranked: Vec<(f64, usize)> = levels[d].iter().map(|&s| (wanted(s), s)).collect();
                ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
                levels[d] = ranked.into_iter().map(|(_, s)| s).collect();
                spread(&levels[d], &mut place);
            }
        }
        levels
    }

    fn drawn(&self) -> String {
        let levels = self.order();
        let longest = self.nodes.iter().map(|node| node.places.chars().count()).max().unwrap_or(1);
        let wide = 12.0 + 6.8 * longest as f64;
        let most = levels.iter().map(Vec::len).max().unwrap_or(1);
        let width = (most as f64 * (wide + 18.0) + 60.0).max(760.0);
        let height = LEGEND + levels.len() as f64 * LEVEL + 20.0;
        let mut at = vec![(0.0, 0.0); self.states()];
        for (d, level) in levels.iter().enumerate() {
            for (i, &s) in level.iter().enumerate() {
                at[s] = (width * (i as f64 + 0.5) / level.len() as f64, LEGEND + LEVEL * (d as f64 + 0.5));
            }
        }
        let mut out = begin(width, height);
        self.legend(&mut out);
        for (s, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                let (from, to) = (at[s], at[edge.to as usize]);
                let back = self.nodes[edge.to as usize].depth <= self.nodes[s].depth;
                let path = if edge.to as usize == s {
                    let x = from.0 + wide / 2.0;
                    format!("M{x:.0} {:.0} c14 -10 14 20 0 10", from.1 - 5.0)
                } else if back {
                    // Round the side, so that it does not hide the steps that lead on.
                    let side = if to.0 >= from.0 { 1.0 } else { -1.0 };
                    let (x, y) = ((from.0 + to.0) / 2.0 + side * 40.0, (from.1 + to.1) / 2.0);
                    format!(
                        "M{:.0} {:.0} Q{x:.0} {y:.0} {:.0} {:.0}",
                        from.0,
                        from.1 - HIGH / 2.0,
                        to.0,
                        to.1 + HIGH / 2.0
                    )
                } else {
                    let (y1, y2) = (from.1 + HIGH / 2.0, to.1 - HIGH / 2.0);
                    let middle = f64::midpoint(y1, y2);
                    format!(
                        "M{:.0} {y1:.0} C{:.0} {middle:.0} {:.0} {middle:.0} {:.0} {y2:.0}",
                        from.0, from.0, to.0, to.0
                    )
                };
                let arrow = if edge.to as usize == s { "" } else { " marker-end=\"url(#arrow)\"" };
                let _ = writeln!(
                    out,
                    "<path class=\"edge p{} {}\" d=\"{path}\"{arrow}><title>p{}, {}</title></path>",
                    edge.action.process % 8,
                    if back { "back" } else { "" },
                    edge.action.process,
                    escaped(&self.nodes[s].places)
                );
            }
        }
        for (s, node) in self.nodes.iter().enumerate() {
            let (x, y) = at[s];
            let mut class = String::from("node");
            if let Some(component) = node.component {
                let _ = write!(class, " c{}", component % 5);
            }
            class += if s == 0 { " start" } else { "" };
            class += if self.is_terminal(s) { " terminal" } else { "" };
            class += if node.breaks.is_empty() { "" } else { " broken" };
            let breaks =
                if node.breaks.is_empty() { String::new() } else { format!("\nbreaks {}", node.breaks.join(", ")) };
            let _ = writeln!(
                out,
                "<g class=\"{class}\"><title>{}\n{}{}</title><rect x=\"{:.0}\" y=\"{:.0}\" width=\"{wide:.0}\" height=\"{HIGH}\" \
                 rx=\"{}\"/><text x=\"{x:.0}\" y=\"{:.0}\">{}</text></g>",
                escaped(&node.places),
                escaped(&node.values),
                escaped(&breaks),
                x - wide / 2.0,
                y - HIGH / 2.0,
                if self.is_terminal(s) { 1 } else { 6 },
                y + 4.0,
                escaped(&node.places)
            );
        }
        out + "</svg>\n"
    }

    /// What the signs mean.
    fn legend(&self, out: &mut String) {
        let terminal = (0..self.states()).filter(|&s| self.is_terminal(s)).count();
        let broken = self.nodes.iter().filter(|node| !node.breaks.is_empty()).count();
        let steps: usize = self.edges.iter().map(Vec::len).sum();
        let lines = [
            format!(
                "{} states, {steps} steps; components with more than one state: {}",
                self.states(),
                self.components.len()
            ),
            format!(
                "{terminal} terminal (angular, dashed), {broken} break a claim (red); one colour for each component"
            ),
            "a state says at which statement each process is: – outside, * inside, × crashed; point at it for values"
                .to_owned(),
        ];
        for (i, line) in lines.iter().enumerate() {
            let class = if i == 0 { "" } else { " class=\"faint\"" };
            let _ = writeln!(out, "<text x=\"12\" y=\"{}\"{class}>{}</text>", 18 + 15 * i, escaped(line));
        }
        let processes = self.nodes.first().map_or(0, |node| node.places.split(' ').count());
        for p in 0..processes.min(8) {
            let x = 12 + 62 * p;
            let _ = writeln!(
                out,
                "<path class=\"key p{p}\" d=\"M{x} 59 h20\"/><text x=\"{}\" y=\"63\" class=\"faint\">p{p}</text>",
                x + 25
            );
        }
    }

    /// The summary, and how wide each level is.
    fn summed_up(&self) -> String {
        let levels = self.levels();
        let most = levels.iter().copied().max().unwrap_or(1).max(1);
        let summary = self.summary();
        let lines: Vec<&str> = summary.lines().collect();
        let (width, chart) = (760.0, 200.0);
        let top = 30.0 + 16.0 * lines.len() as f64;
        let mut out = begin(width, top + chart + 40.0);
        for (i, line) in lines.iter().enumerate() {
            let _ = writeln!(out, "<text x=\"12\" y=\"{}\">{}</text>", 20 + 16 * i, escaped(line));
        }
        let bar = (width - 24.0) / levels.len() as f64;
        for (d, &states) in levels.iter().enumerate() {
            let high = (chart * states as f64 / most as f64).max(1.0);
            let _ = writeln!(
                out,
                "<rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\"><title>after {d} steps: {states} \
                 states</title></rect>",
                12.0 + bar * d as f64,
                top + chart - high,
                (bar - 1.0).max(0.6)
            );
        }
        let _ = writeln!(
            out,
            "<text class=\"faint\" x=\"12\" y=\"{}\">states by the number of steps that lead to them: 0 to {}</text>",
            top + chart + 20.0,
            levels.len() - 1
        );
        out + "</svg>\n"
    }
}

fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <style>\n{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"context-stroke\"/></marker></defs>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
