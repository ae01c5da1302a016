//! The two sides of a node, and the processes on them: the common claims of Peterson's and Kessels'
//! nodes.

use crate::Property;
use crate::property::View;
use crate::sim::Part;
use doorway_core::mutex::{self, Side};
use doorway_core::registry::Sizes;

/// The two sides of a node, and where processes come from.
#[derive(Clone, Copy)]
pub(super) enum Sides {
    /// There is one node, for two processes.
    Two,
    /// Nodes of a tree for this many processes, numbered as in a heap. Node 0, if there is one, is
    /// the top of Yang and Anderson's Figure 4.
    Tree(usize),
}

impl Sides {
    /// The kind of part that a node is.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Two => "",
            Self::Tree(_) => "node",
        }
    }

    /// The side of this node that a process comes to; at the top this depends on its way.
    pub(super) fn of(self, v: &View<'_>, p: usize) -> Option<usize> {
        match (self, v.index()) {
            _ if !v.processes().contains(&p) => None,
            (Self::Two, _) => Some(p),
            (Self::Tree(_), 0) => {
                let whole = v.of(Part::ROOT);
                let fast = whole.at(p, 10);
                let slow = whole.at(p, (13, 21..=28));
                (fast || slow).then_some(usize::from(slow))
            }
            (Self::Tree(n), node) => {
                let depth = node.ilog2() as usize;
                let level = mutex::levels(n) - 1 - depth;
                (p >> (level + 1) == node - (1 << depth)).then_some(p >> level & 1)
            }
        }
    }

    /// The processes on a side of the node in view.
    pub(super) fn on(self, v: &View<'_>, side: usize) -> impl Iterator<Item = usize> {
        v.processes().filter(move |&p| v.label(p) != 0 && self.of(v, p) == Some(side))
    }

    /// (S): a tree lets one process at a time come to each side of a node.
    pub(super) fn one_each(self) -> Property {
        let holds = move |v: &View<'_>| [0, 1].into_iter().all(|side| self.on(v, side).count() <= 1);
        Property::always("S", holds).each(self.kind())
    }

    /// A claim of every node, for both assignments of `i` and `j` to its sides.
    fn claim(self, name: &'static str, so: impl Fn(&View<'_>, Seen, Seen) -> bool + Send + Sync + 'static) -> Property {
        let holds = move |v: &View<'_>| {
            let [left, right] = [(0, Side::Left), (1, Side::Right)].map(|(i, side)| {
                let label = self.on(v, i).next().map_or(0, |p| v.label(p));
                Seen { side, label }
            });
            so(v, left, right) && so(v, right, left)
        };
        Property::always(name, holds).each(self.kind())
    }
}

/// A side, and where the process on it is; 0 if there is none.
#[derive(Clone, Copy)]
struct Seen {
    side: Side,
    label: u16,
}

/// Where the critical section of a node is in its text: its statements are 1 to `inside + 1`, and
/// the two before `inside` are a wait.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) inside: u16,
    /// Whether this side is the one that signed last.
    pub(super) is_last: fn(&View<'_>, Side) -> bool,
}

/// (S), (Q), (G) and (X) of every node.
pub(super) fn tree(sizes: Sizes, text: Text) -> Vec<Property> {
    let Text { inside, is_last } = text;
    let sides = Sides::Tree(sizes.n);
    let waits = inside - 2..=inside - 1;
    vec![
        sides.one_each(),
        sides.claim("Q", move |v, i, _| v.get_at::<bool>("q", i.side.index()) == (2..=inside + 1).contains(&i.label)),
        sides.claim("G", move |v, i, j| !(i.label == inside && waits.contains(&j.label)) || is_last(v, j.side)),
        sides.claim("X", move |_, i, j| !(i.label == inside && j.label == inside)),
    ]
}
