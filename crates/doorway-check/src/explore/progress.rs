//! Properties of all fair runs, decided on the stored graph.

use super::Worst;
use super::graph::{Edge, Graph};
use super::product::{Joint, Product};
use super::store::{StateId, Store};
use crate::property::{Automaton, Ltl};
use crate::sim::{Action, Op, Phase, State, TextError, World};

/// The graph, and what its states mean.
pub(super) struct Judge<'a> {
    pub(super) graph: &'a Graph,
    pub(super) store: &'a Store,
    pub(super) world: &'a World,
}

/// A run that ends in a cycle.
pub(super) struct Lasso {
    /// The state where the steps below begin.
    from: StateId,
    /// The path into the cycle.
    lead_in: Vec<(StateId, Edge)>,
    cycle: Vec<(StateId, Edge)>,
    /// The length of the path to `from`.
    path_len: usize,
    /// Whether it ends in a state in which nothing more happens.
    stays: bool,
    /// Why the cycle is a legitimate run, process by process.
    pub(super) why: Vec<String>,
}

impl Lasso {
    /// A path without a cycle.
    pub(super) fn straight(store: &Store, lead_in: Vec<(StateId, Edge)>) -> Self {
        let from = lead_in.first().map_or(0, |(s, _)| *s);
        Self { from, lead_in, cycle: Vec::new(), path_len: store.path(from).len(), stays: false, why: Vec::new() }
    }

    /// A cycle, reached by a shortest path.
    pub(super) fn cycle(store: &Store, cycle: Vec<(StateId, Edge)>) -> Self {
        let from = cycle.first().map_or(0, |(s, _)| *s);
        Self { from, lead_in: Vec::new(), cycle, path_len: store.path(from).len(), stays: false, why: Vec::new() }
    }

    /// Whether it has a cycle, or nothing more happens at its end.
    pub(super) fn repeats(&self) -> bool {
        self.stays || !self.cycle.is_empty()
    }

    pub(super) fn prefix_len(&self) -> usize {
        self.path_len + self.lead_in.len()
    }

    /// All actions, with the cycle once.
    pub(super) fn actions(&self, world: &mut World, store: &Store) -> Result<Vec<Action>, TextError> {
        let mut actions = store.path(self.from);
        let (mut before, mut after) = (world.initial(), world.initial());
        for (from, edge) in self.lead_in.iter().chain(&self.cycle) {
            store.load(*from, &mut before);
            store.load(edge.to, &mut after);
            actions.push(action_between(world, &before, &after, edge.process())?);
        }
        Ok(actions)
    }
}

/// The action of a process that leads from one state to another, or to a symmetric one.
fn action_between(world: &mut World, before: &State, after: &State, p: usize) -> Result<Action, TextError> {
    let mut actions = Vec::new();
    world.actions(before, p, &mut actions);
    for action in actions {
        let mut next = before.clone();
        if world.act(&mut next, action)?.is_some() && world.is_alike(&next, after) {
            return Ok(action);
        }
    }
    unreachable!("every step of the graph was made once")
}

impl Judge<'_> {
    fn all(&self) -> impl Iterator<Item = StateId> + use<> {
        0..self.graph.states() as StateId
    }

    /// A fair run in which `so` holds of some process, and `then` never does after that. `masks`
    /// gives for each state the processes of which these hold. Only runs with finitely many
    /// give-ups count, unless `endless` is set.
    pub(super) fn leads_to(&self, masks: &[(u64, u64)], endless: bool) -> Option<Lasso> {
        let counts = |edge: Edge| endless || !edge.gives_up();
        (0..self.world.processes()).find_map(|p| {
            let so = |s: StateId| masks[s as usize].0 >> p & 1 == 1;
            let not_then = |s: StateId| masks[s as usize].1 >> p & 1 == 0;
            let roots = || self.all().filter(|&s| so(s) && not_then(s));
            // Give-ups that do not go on for ever may come after `so`.
            let owed = self.graph.reached(roots(), not_then);
            let owing = self.all().filter(|&s| owed[s as usize]);
            let members = self.graph.fair_component(self.world.processes(), owing, not_then, counts)?;
            Some(self.lasso(&members, roots(), not_then, counts, Some(p)))
        })
    }

    /// A fair run in which some process is always in its entry section, and no process enters any
    /// more.
    pub(super) fn nobody_enters_any_more(&self) -> Option<Lasso> {
        let n = self.world.processes();
        let nobody_enters = |edge: Edge| !edge.enters() && !edge.gives_up();
        let mut state = self.world.initial();
        let someone_waits = |s: StateId| {
            self.store.load(s, &mut state);
            (0..n).any(|p| self.world.phase(&state, p) == Phase::Entry && !self.world.has_crashed(&state, p))
        };
        let waiting: Vec<bool> = self.all().map(someone_waits).collect();
        let within = |s: StateId| waiting[s as usize];
        let members = self.graph.fair_component(n, self.all(), within, nobody_enters)?;
        Some(self.lasso(&members, self.all(), within, nobody_enters, None))
    }

    /// A run, fair or not, in which a process takes steps in its exit section for ever, and
    /// give-ups end.
    pub(super) fn unbounded_exit(&self) -> Option<Lasso> {
        let n = self.world.processes();
        let mut exits = vec![0u64; self.graph.states()];
        let mut state = self.world.initial();
        for s in self.all() {
            self.store.load(s, &mut state);
            exits[s as usize] = (0..n).filter(|&p| self.world.phase(&state, p) == Phase::Exit).map(|p| 1u64 << p).sum();
        }
        (0..n).find_map(|p| {
            let within = |s: StateId| exits[s as usize] >> p & 1 == 1;
            let finitely = |edge: Edge| !edge.gives_up();
            let steps_of_p = |edge: Edge| edge.process() == p && !edge.is_crash();
            let members = self.graph.components(self.all(), within, finitely, |members, known| {
                let own = members.iter().any(|&s| self.graph.edges(s).any(|e| steps_of_p(e) && known.is_current(e.to)));
                own.then(|| members.to_vec())
            })?;
            let mut lasso = self.lasso(&members, self.all(), within, finitely, Some(p));
            lasso.why = vec![format!("p{p} takes steps in its exit section and never leaves it")];
            Some(lasso)
        })
    }

    /// The most steps that count while `so` holds of some process, and a run that shows it. `masks`
    /// gives for each state the processes of which it holds, and `counts` how often a step counts
    /// for a process.
    pub(super) fn most(&self, masks: &[(u64, u64)], counts: impl Fn(Edge, usize) -> u32) -> (Worst, Option<Lasso>) {
        let mut worst: (Worst, Option<Lasso>) = (Worst::Bounded(0), None);
        for p in 0..self.world.processes() {
            let of_one = self.most_of(p, masks, |edge| counts(edge, p));
            if of_one.0 > worst.0 {
                worst = of_one;
            }
            if worst.0 == Worst::Unbounded {
                break;
            }
        }
        worst
    }

    fn most_of(&self, p: usize, masks: &[(u64, u64)], cost: impl Fn(Edge) -> u32) -> (Worst, Option<Lasso>) {
        let within = |s: StateId| masks[s as usize].0 >> p & 1 == 1;
        // For each state, the largest count from there on.
        let mut rest = vec![0u32; self.graph.states()];
        let endless = self.graph.components(
            self.all(),
            within,
            |_| true,
            |members, known| {
                let mut worst = 0;
                for &s in members {
                    for edge in self.graph.edges(s) {
                        let inside = within(edge.to);
                        if inside && known.is_current(edge.to) {
                            if cost(edge) > 0 {
                                return Some((s, edge, members.to_vec()));
                            }
                        } else {
                            worst = worst.max(cost(edge) + if inside { rest[edge.to as usize] } else { 0 });
                        }
                    }
                }
                members.iter().for_each(|&s| rest[s as usize] = worst);
                None
            },
        );
        if let Some((s, edge, mut members)) = endless {
            members.sort_unstable();
            let is_member = |t: StateId| members.binary_search(&t).is_ok();
            let mut cycle = vec![(s, edge)];
            if edge.to != s {
                let back = self.graph.shortest(std::iter::once(edge.to), is_member, |_| true, |e| e.to == s);
                cycle.extend(back.expect("within a component everything can be reached"));
            }
            let why = vec![format!("each round counts once more for p{p}")];
            return (Worst::Unbounded, Some(Lasso { why, ..Lasso::cycle(self.store, cycle) }));
        }
        let most = self.all().filter(|&s| within(s)).map(|s| rest[s as usize]).max().unwrap_or(0);
        let from = self.all().find(|&s| within(s) && rest[s as usize] == most).filter(|_| most > 0);
        let Some(from) = from else { return (Worst::Bounded(0), None) };
        let mut way: Vec<(StateId, Edge)> = Vec::new();
        let mut at = from;
        while rest[at as usize] > 0 {
            let left = rest[at as usize];
            let after = |e: Edge| if within(e.to) { rest[e.to as usize] } else { 0 };
            let loses_nothing = |e: Edge| cost(e) + after(e) == left;
            let on = self.graph.shortest(std::iter::once(at), |_| true, loses_nothing, |e| cost(e) > 0);
            way.extend(on.expect("the rest counts what was found"));
            at = way[way.len() - 1].1.to;
            if !within(at) {
                break;
            }
        }
        (Worst::Bounded(u64::from(most)), Some(Lasso::straight(self.store, way)))
    }

    /// A fair run that an automaton accepts: one that breaks a formula. `masks` gives for each
    /// state the predicates that hold. The run has finitely many give-ups, unless `endless` is set,
    /// and every process takes part in it if `all_take_part` is.
    pub(super) fn accepted(&self, masks: &[(u64, u64)], automaton: &Automaton, ltl: &Ltl) -> Option<Lasso> {
        let n = self.world.processes();
        let all = u64::MAX >> (64 - n);
        let mut state = self.world.initial();
        let mut idle = |s: StateId| {
            if !ltl.all_take_part {
                return self.graph.idle(s).unwrap_or(all);
            }
            self.store.load(s, &mut state);
            (0..n).filter(|&p| self.world.cannot_step(&state, p)).map(|p| 1u64 << p).sum()
        };
        let product = Product::new(self.graph, masks, automaton, |s| idle(s) == all);
        let follows = |step: &Joint| step.edge.is_none_or(|edge| ltl.endless || !edge.gives_up());
        let members = product.components(follows, |members, is_member| {
            let mut steps = idle(product.nodes[members[0] as usize].0);
            let (mut goes_on, mut again) = (false, vec![false; automaton.again.len()]);
            for &node in members {
                let (_, place) = product.nodes[node as usize];
                automaton.again.iter().zip(&mut again).for_each(|(of, seen)| *seen |= of[place as usize]);
                for step in product.steps(node).iter().filter(|step| follows(step) && is_member(step.to)) {
                    goes_on = true;
                    steps |= step.edge.filter(|edge| !edge.is_crash()).map_or(0, |edge| 1 << edge.process());
                }
            }
            goes_on && steps == all && again.iter().all(|seen| *seen)
        })?;
        let (lead_in, cycle) = product.lasso(&members, automaton, follows);
        let start = cycle.first().map(|(s, _)| *s).or(lead_in.last().map(|(_, edge)| edge.to)).unwrap_or(0);
        let why = self.why_fair(start, &cycle, None);
        Some(Lasso { from: 0, lead_in, stays: cycle.is_empty(), cycle, path_len: 0, why })
    }

    /// A shortest path into a component, and a cycle with a step of every process that steps there.
    fn lasso(
        &self,
        members: &[StateId],
        roots: impl Iterator<Item = StateId>,
        within: impl Fn(StateId) -> bool,
        follows: impl Fn(Edge) -> bool,
        suffers: Option<usize>,
    ) -> Lasso {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let is_member = |s: StateId| sorted.binary_search(&s).is_ok();
        // States are numbered breadth-first, so the smallest number is nearest to the initial
        // state.
        let roots: Vec<StateId> = roots.collect();
        let (from, lead_in) = match roots.iter().copied().find(|&r| is_member(r)) {
            Some(root) => (root, Vec::new()),
            None => {
                let way = self
                    .graph
                    .shortest(roots.into_iter(), within, |_| true, |edge| is_member(edge.to))
                    .expect("the component was found from one of the roots");
                (way[0].0, way)
            }
        };
        let start = lead_in.last().map_or(from, |(_, edge)| edge.to);
        let cycle = self.graph.cycle_through(start, members, follows);
        let path_len = self.store.path(from).len();
        let why = self.why_fair(start, &cycle, suffers);
        Lasso { from, lead_in, cycle, path_len, stays: false, why }
    }

    /// Why every process does its duty in the cycle.
    fn why_fair(&self, start: StateId, cycle: &[(StateId, Edge)], suffers: Option<usize>) -> Vec<String> {
        let mut state = self.world.initial();
        self.store.load(start, &mut state);
        (0..self.world.processes())
            .map(|p| {
                let steps = cycle.iter().filter(|(_, edge)| edge.process() == p).count();
                let what = match steps {
                    _ if self.world.has_crashed(&state, p) => "has crashed".to_owned(),
                    0 if self.world.is_asleep(&state, p) => "sleeps".to_owned(),
                    0 if self.world.next(&state, p) == Op::Stop => "has made its passages".to_owned(),
                    0 => "is outside and need not start".to_owned(),
                    1 => "takes 1 step".to_owned(),
                    steps => format!("takes {steps} steps"),
                };
                let but = if suffers == Some(p) { ", and never gets on" } else { "" };
                format!("p{p} {what}{but}")
            })
            .collect()
    }
}
