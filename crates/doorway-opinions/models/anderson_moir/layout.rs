//! How levels, gates and names are combined.

use crate::models::Pid;

/// A level of some block: it lets `capacity` of its at most `capacity + 1` processes pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// `j`, which is also the initial value of its `X`.
    pub(crate) capacity: Pid,
    /// The process with the smallest name that can come here: the initial value of its `Q`.
    pub(crate) first: Pid,
}

/// The path of a process once the gates have decided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    /// The levels, in the order of the entry. The exit takes them in reverse order.
    pub(crate) levels: Vec<usize>,
    /// The gate whose counter is incremented by the last statement of the exit.
    pub(crate) give_back: Option<usize>,
}

/// How a gate takes a place from its counter `X`, which is initially `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// `fai(X,-1)`, slow if the old value is at most 0 (Formulation B). `X` may become negative.
    Plain,
    /// One step; if `X` is 0, it leaves `X` unchanged and is slow.
    Exact,
}

/// (n,k)-exclusion, with or without names.
///
/// A process asks the gates in turn until it takes a place at some gate `i`. It then follows its
/// route `i`. If all gates refuse it (or if there are none), it follows its last route.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The number of processes.
    pub(crate) n: Pid,
    /// The number of processes that may be in the critical section at once.
    pub(crate) k: Pid,
    /// All levels.
    pub(crate) sites: Vec<Site>,
    /// The number of gates.
    pub(crate) gates: usize,
    /// The kind of the gates.
    pub(crate) gate: Gate,
    /// The routes of each process, one more than there are gates.
    pub(crate) routes: Vec<Vec<Route>>,
    /// Whether processes that have passed take a name in `0..k` (Figure 7).
    pub(crate) names: bool,
}

impl Layout {
    /// Nothing to go through.
    fn empty(n: Pid, k: Pid) -> Self {
        assert!(k >= 1, "(n,k)-exclusion needs k >= 1");
        let routes = vec![vec![Route::default()]; usize::from(n)];
        Self { n, k, sites: Vec::new(), gates: 0, gate: Gate::Exact, routes, names: false }
    }

    /// Adds the levels `m-1, ..., k` of a chain that lets `k` of `m` processes pass, of which
    /// `first` has the smallest name. Returns the levels in the order of the entry. With `m <= k`
    /// there are none.
    fn add_chain(&mut self, m: Pid, first: Pid) -> Vec<usize> {
        let begin = self.sites.len();
        self.sites.extend((self.k..m).rev().map(|capacity| Site { capacity, first }));
        (begin..self.sites.len()).collect()
    }

    /// Adds a tree for all processes. Returns the levels of each process in the order of the entry.
    fn add_tree(&mut self) -> Vec<Vec<usize>> {
        let mut paths = vec![Vec::new(); usize::from(self.n)];
        // The blocks of one rank: the processes that can come there, and how many of them can be
        // there at once.
        let everyone: Vec<Pid> = (0..self.n).collect();
        let mut rank: Vec<(Vec<Pid>, Pid)> =
            everyone.chunks(2 * usize::from(self.k)).map(|group| (group.to_vec(), group.len() as Pid)).collect();
        loop {
            for (group, inputs) in &rank {
                let levels = self.add_chain(*inputs, group[0]);
                for &p in group {
                    paths[usize::from(p)].extend(&levels);
                }
            }
            if rank.len() == 1 {
                return paths;
            }
            let outputs = |(_, inputs): &(Vec<Pid>, Pid)| (*inputs).min(self.k);
            rank = rank
                .chunks(2)
                .map(|blocks| {
                    let group = blocks.iter().flat_map(|(group, _)| group).copied().collect();
                    (group, blocks.iter().map(outputs).sum())
                })
                .collect();
        }
    }

    /// One chain for all.
    pub(crate) fn chain(n: Pid, k: Pid) -> Self {
        let mut layout = Self::empty(n, k);
        let levels = layout.add_chain(n, 0);
        layout.routes = vec![vec![Route { levels, give_back: None }]; usize::from(n)];
        layout
    }

    /// Figure 3a: a tree of chains. Leaf `g` serves the processes from `2kg` to before `2k(g+1)`;
    /// two blocks feed one.
    pub(crate) fn tree(n: Pid, k: Pid) -> Self {
        let mut layout = Self::empty(n, k);
        let paths = layout.add_tree();
        layout.routes = paths.into_iter().map(|levels| vec![Route { levels, give_back: None }]).collect();
        layout
    }

    /// Figure 4 with a [`Gate::Plain`]: the slow path is an (n,k) tree, and the block after it is a
    /// (min(n,2k),k) chain.
    pub(crate) fn fast_path(n: Pid, k: Pid) -> Self {
        assert!(k < n, "a fast path is for k < n");
        let mut layout = Self::empty(n, k);
        let paths = layout.add_tree();
        let block = layout.add_chain(n.min(2 * k), 0);
        let give_back = Some(0);
        layout.routes = paths
            .into_iter()
            .map(|tree| {
                let slow = [tree, block.clone()].concat();
                vec![Route { levels: block.clone(), give_back }, Route { levels: slow, give_back }]
            })
            .collect();
        Self { gates: 1, gate: Gate::Plain, ..layout }
    }

    /// Figure 3b: at each depth there are an exact gate and a (2k,k) chain that both paths lead
    /// through. Processes that the last gate refuses go through a chain if one is necessary.
    pub(crate) fn nested(n: Pid, k: Pid) -> Self {
        let mut layout = Self::empty(n, k);
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut rest = n;
        while rest > 2 * k {
            blocks.push(layout.add_chain(2 * k, 0));
            rest -= k;
        }
        let gates = blocks.len();
        blocks.push(layout.add_chain(rest, 0));
        let routes: Vec<Route> = (0..=gates)
            .map(|depth| Route {
                levels: blocks[..=depth].iter().rev().flatten().copied().collect(),
                give_back: (depth < gates).then_some(depth),
            })
            .collect();
        layout.routes = vec![routes; usize::from(n)];
        Self { gates, ..layout }
    }

    /// Figure 7: the same, with names.
    pub(crate) fn with_names(self) -> Self {
        Self { names: true, ..self }
    }
}
