//! Yang and Anderson's invariants (I0) to (I16) of Figure 1, of every node and for both assignments
//! of `i` and `j`, and our own of Figure 4.
//!
//! In print, `i` and `j` are two processes. At a node they are the processes on the two sides, and
//! an empty side is at 0.

mod combining;
pub(crate) mod mutants;

pub use combining::FetchAndOp;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::claims::together;
use crate::mutex::two_sides::Sides;
use crate::property::View;
use doorway_core::memory::Pid;
use doorway_core::registry::{Sizes, YaFast, YaTree, YaTwo};

impl Checked for YaTwo {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        two_process()
    }
}

impl Checked for YaTree {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        tree(sizes)
    }
}

impl Checked for YaFast {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        together([fast_path(), tree(sizes)])
    }
}

/// The state of a node, seen by `i` with rival `j`.
struct Rivals<'a> {
    v: &'a View<'a>,
    sides: Sides,
    i: Rival,
    j: Rival,
}

/// A side, and the process on it.
#[derive(Clone, Copy)]
struct Rival {
    side: usize,
    process: Option<usize>,
}

impl Rivals<'_> {
    fn i(&self, labels: impl crate::property::Labels) -> bool {
        self.at(self.i, labels)
    }
    fn j(&self, labels: impl crate::property::Labels) -> bool {
        self.at(self.j, labels)
    }
    fn at(&self, rival: Rival, labels: impl crate::property::Labels) -> bool {
        labels.has(rival.process.map_or(0, |p| self.v.label(p)))
    }
    /// `C[i] = 0`
    fn is_out(&self, rival: Rival) -> bool {
        self.c(rival).is_none()
    }
    /// `C[i] = i`
    fn competes(&self, rival: Rival) -> bool {
        self.c(rival).is_some_and(|p| rival.process == Some(p))
    }
    fn c(&self, rival: Rival) -> Option<usize> {
        self.v.get_at::<Option<Pid>>("C", rival.side).map(Pid::index)
    }
    /// `T = i`
    fn signed(&self, rival: Rival) -> bool {
        rival.process == Some(self.t())
    }
    /// Signed not by `i`, but by an earlier process of this side.
    fn was_signed_on(&self, rival: Rival) -> bool {
        !self.at(rival, 3..=14) && self.sides.of(self.v, self.t()).is_none_or(|side| side == rival.side)
    }
    fn t(&self) -> usize {
        self.v.get::<Pid>("T").index()
    }
    /// `P[i]`; there is a process on the side.
    fn p(&self, rival: Rival) -> u64 {
        rival.process.map_or(0, |p| spin(self.v, p))
    }
}

/// Where a process waits at the node in view.
fn spin(v: &View<'_>, p: usize) -> u64 {
    v.get_at("P", p - v.home_of("P", 0))
}

/// `a` implies `b`.
fn implies(a: bool, b: bool) -> bool {
    !a || b
}

fn claim(name: &'static str, sides: Sides, so: fn(&Rivals<'_>) -> bool) -> Property {
    let holds = move |v: &View<'_>| {
        let [left, right] = [0, 1].map(|side| Rival { side, process: sides.on(v, side).next() });
        [(left, right), (right, left)].into_iter().all(|(i, j)| so(&Rivals { v, sides, i, j }))
    };
    Property::always(name, holds).each(sides.kind())
}

/// `i` at a wait leads to its end, or to the news it waits for.
fn progress(name: &'static str, sides: Sides, wait: u16, news: Option<u64>) -> Property {
    let got = move |v: &View<'_>, i| news.is_some_and(|least| spin(v, i) >= least);
    Property::leads_to(name, move |v, i| v.at(i, wait), move |v, i| !v.at(i, wait) || got(v, i)).each(sides.kind())
}

fn two_process() -> Vec<Property> {
    figure_1(Sides::Two)
}

/// (S), which the tree guarantees, and Figure 1 at every node.
fn tree(sizes: Sizes) -> Vec<Property> {
    let sides = Sides::Tree(sizes.n);
    let mut claims = vec![sides.one_each()];
    claims.extend(figure_1(sides));
    claims
}

/// (F1) to (F5).
fn fast_path() -> Vec<Property> {
    vec![
        Property::always("F1", |v| v.count(10) <= 1),
        Property::always("F2", |v| v.count((13, 21..=28)) <= 1),
        Property::always("F3", |v| v.count([8, 10]) == 0 || v.get::<Option<Pid>>("Y").is_some()),
        Property::always("F4", |v| v.get::<bool>("Z") == (v.count([24, 26, 27]) > 0)),
        Property::always("F5", |v| {
            v.processes().all(|i| {
                let b: bool = v.get_at("B", i);
                implies(v.at(i, 6..=10), b) && implies(v.at(i, (0..=5, 22..=29)), !b)
            })
        }),
    ]
}

fn figure_1(sides: Sides) -> Vec<Property> {
    let claim = |name, so| claim(name, sides, so);
    let progress = |name, wait, news| progress(name, sides, wait, news);
    vec![
        claim("I0", |r| r.i((0..=1, 13..=14)) == r.is_out(r.i)),
        claim("I1", |r| r.i(2..=12) == r.competes(r.i)),
        claim("I2", |r| {
            let signed = |a, b| r.signed(a) || r.signed(b) || r.was_signed_on(b);
            implies(r.i(3..=14), signed(r.i, r.j)) && implies(r.j(3..=14), signed(r.j, r.i))
        }),
        claim("I3", |r| {
            let rival = r.i.process.and_then(|i| r.v.shown::<Pid>(i, "rival"));
            implies(r.i(7), rival.is_some_and(|rival| spin(r.v, rival.index()) == 0))
        }),
        claim("I4", |r| implies(r.i(4..=12) && r.p(r.i) == 2 && r.competes(r.j), r.signed(r.j) || r.j(2))),
        claim("I5", |r| implies(r.i((11..=14, 0..=2)) && r.competes(r.j), r.signed(r.j) || r.j(2))),
        claim("I6", |r| !(r.i(11) && r.j(11))),
        claim("I7", |r| implies(r.i(0..=1) && r.j(5..=10), r.p(r.j) == 2)),
        claim("I8", |r| implies(r.i(8) && r.j(8), r.p(r.i) >= 1 || r.p(r.j) >= 1)),
        claim("I9", |r| implies(r.i(9..=10), r.p(r.i) >= 1)),
        claim("I10", |r| implies(r.signed(r.j) && r.j(4..=10), !r.i(10) || r.p(r.j) == 0)),
        claim("I11", |r| !(r.i(10) && r.j(10))),
        claim("I12", |r| implies(r.i(6..=8) && r.j(8..=10) && r.signed(r.j), r.p(r.i) >= 1)),
        claim("I13", |r| implies(r.i((11..=14, 0..=2)) && r.j(3..=10), r.signed(r.j))),
        claim("I14", |r| implies(r.i(0..=2) && r.j(4..=8), r.p(r.j) == 0 || r.p(r.j) == 2)),
        claim("I15", |r| implies(r.i(0..=2) && r.j(9..=10), r.p(r.j) == 2)),
        claim("I16", |r| implies(r.i(3..=8) && r.j(10) && r.signed(r.i), r.p(r.j) == 2)),
        progress("L0", 8, Some(1)),
        progress("L1", 8, None),
        progress("L2", 10, Some(2)),
        progress("L3", 10, None),
    ]
}
