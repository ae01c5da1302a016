//! Yang and Anderson's invariants (I0) to (I16) of Figure 1, for both assignments of `i` and `j`.

use crate::Property;
use crate::property::View;
use doorway_core::memory::Pid;

/// The state of Figure 1, seen by `i` with rival `j`.
struct Rivals<'a> {
    v: &'a View<'a>,
    i: usize,
    j: usize,
}

impl Rivals<'_> {
    fn i(&self, labels: impl crate::property::Labels) -> bool {
        self.v.at(self.i, labels)
    }
    fn j(&self, labels: impl crate::property::Labels) -> bool {
        self.v.at(self.j, labels)
    }
    fn c(&self, p: usize) -> Option<usize> {
        self.v.get_at::<Option<Pid>>("C", p).map(Pid::index)
    }
    fn t(&self) -> usize {
        self.v.get::<Pid>("T").index()
    }
    fn p(&self, p: usize) -> u64 {
        self.v.get_at("P", p)
    }
}

/// `a` implies `b`.
fn implies(a: bool, b: bool) -> bool {
    !a || b
}

fn claim(name: &'static str, so: fn(&Rivals<'_>) -> bool) -> Property {
    Property::always(name, move |v| [(0, 1), (1, 0)].into_iter().all(|(i, j)| so(&Rivals { v, i, j })))
}

/// `i` at a wait leads to its end, or to the news it waits for.
fn progress(name: &'static str, wait: u16, news: Option<u64>) -> Property {
    let got = move |v: &View<'_>, i| news.is_some_and(|least| v.get_at::<u64>("P", i) >= least);
    Property::leads_to(name, move |v, i| v.at(i, wait), move |v, i| !v.at(i, wait) || got(v, i))
}

pub(super) fn two_process() -> Vec<Property> {
    vec![
        claim("I0", |r| r.i((0..=1, 13..=14)) == (r.c(r.i).is_none())),
        claim("I1", |r| r.i(2..=12) == (r.c(r.i) == Some(r.i))),
        claim("I2", |r| implies(r.i(3..=14) || r.j(3..=14), r.t() == r.i || r.t() == r.j)),
        claim("I3", |r| implies(r.i(7), r.p(r.j) == 0)),
        claim("I4", |r| implies(r.i(4..=12) && r.p(r.i) == 2 && r.c(r.j) == Some(r.j), r.t() == r.j || r.j(2))),
        claim("I5", |r| implies(r.i((11..=14, 0..=2)) && r.c(r.j) == Some(r.j), r.t() == r.j || r.j(2))),
        claim("I6", |r| !(r.i(11) && r.j(11))),
        claim("I7", |r| implies(r.i(0..=1) && r.j(5..=10), r.p(r.j) == 2)),
        claim("I8", |r| implies(r.i(8) && r.j(8), r.p(r.i) >= 1 || r.p(r.j) >= 1)),
        claim("I9", |r| implies(r.i(9..=10), r.p(r.i) >= 1)),
        claim("I10", |r| implies(r.t() == r.j && r.j(4..=10), !r.i(10) || r.p(r.j) == 0)),
        claim("I11", |r| !(r.i(10) && r.j(10))),
        claim("I12", |r| implies(r.i(6..=8) && r.j(8..=10) && r.t() == r.j, r.p(r.i) >= 1)),
        claim("I13", |r| implies(r.i((11..=14, 0..=2)) && r.j(3..=10), r.t() == r.j)),
        claim("I14", |r| implies(r.i(0..=2) && r.j(4..=8), r.p(r.j) == 0 || r.p(r.j) == 2)),
        claim("I15", |r| implies(r.i(0..=2) && r.j(9..=10), r.p(r.j) == 2)),
        claim("I16", |r| implies(r.i(3..=8) && r.j(10) && r.t() == r.i, r.p(r.j) == 2)),
        progress("L0", 8, Some(1)),
        progress("L1", 8, None),
        progress("L2", 10, Some(2)),
        progress("L3", 10, None),
    ]
}
