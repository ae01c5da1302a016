//! Temporal formulas: what happens now, sooner or later, for ever.
//!
//! A [`Formula`] is judged on runs without end, in every fair run of the machine; see
//! [`Property::ltl`](super::Property::ltl). It is linear temporal logic without *next*: what the
//! very next step does depends on how fine steps are, and a failed turn of a wait is a step.
//!
//! To decide it, the negation becomes an automaton that accepts exactly the runs that break the
//! formula (Gerth, Peled, Vardi, Wolper, *Simple On-the-fly Automatic Verification of Linear
//! Temporal Logic*, PSTV 1995). A run of the graph and the automaton side by side that is fair and
//! accepted is a counterexample. Before it is shown, the formula is evaluated on that run itself.

use super::{OfState, View};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A temporal formula.
///
/// ```
/// use doorway_check::property::{Formula, holds};
///
/// let asked = holds("asked", |v| v.get::<bool>("asked"));
/// let served = holds("served", |v| v.get::<bool>("served"));
/// let formula: Formula = asked.leads_to(served);
/// assert_eq!(formula.to_string(), "always (not asked or eventually served)");
/// ```
#[derive(Clone)]
pub struct Formula(Arc<Node>);

enum Node {
    Now(String, OfState),
    Not(Formula),
    And(Formula, Formula),
    Or(Formula, Formula),
    /// The second holds at some time, and the first until then.
    Until(Formula, Formula),
    /// The second holds up to and including the time when the first does; for ever if that never
    /// comes.
    Release(Formula, Formula),
    Always(Formula),
    Eventually(Formula),
}

/// A predicate of a state, as a formula: it holds now. The name is for people.
pub fn holds(name: impl Into<String>, so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static) -> Formula {
    Formula(Arc::new(Node::Now(name.into(), Arc::new(so))))
}

impl Formula {
    fn new(node: Node) -> Self {
        Self(Arc::new(node))
    }

    /// It does not hold.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // it reads as the others do
    pub fn not(self) -> Self {
        Self::new(Node::Not(self))
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(Node::And(self, other))
    }

    /// One of them holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(Node::Or(self, other))
    }

    /// If it holds, the other does too.
    #[must_use]
    pub fn implies(self, other: Self) -> Self {
        self.not().or(other)
    }

    /// It holds now and from now on.
    #[must_use]
    pub fn always(self) -> Self {
        Self::new(Node::Always(self))
    }

    /// It holds now or at some later time.
    #[must_use]
    pub fn eventually(self) -> Self {
        Self::new(Node::Eventually(self))
    }

    /// It holds again and again, for ever.
    #[must_use]
    pub fn infinitely_often(self) -> Self {
        self.eventually().always()
    }

    /// From some time on it holds for ever.
    #[must_use]
    pub fn stabilises(self) -> Self {
        self.always().eventually()
    }

    /// The other holds now or at some later time, and until then this one does.
    #[must_use]
    pub fn until(self, other: Self) -> Self {
        Self::new(Node::Until(self, other))
    }

    /// This one holds until the other does; for ever if that never comes.
    #[must_use]
    pub fn unless(self, other: Self) -> Self {
        Self::new(Node::Release(other.clone(), self.or(other)))
    }

    /// Whenever this one holds, the other holds then or at some later time.
    #[must_use]
    pub fn leads_to(self, other: Self) -> Self {
        self.implies(other.eventually()).always()
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |of: &Self| match &*of.0 {
            Node::Now(name, _) => name.clone(),
            Node::Not(_) | Node::Always(_) | Node::Eventually(_) => of.to_string(),
            _ => format!("({of})"),
        };
        match &*self.0 {
            Node::Now(name, _) => f.write_str(name),
            Node::Not(a) => write!(f, "not {}", inner(a)),
            Node::And(a, b) => write!(f, "{} and {}", inner(a), inner(b)),
            Node::Or(a, b) => write!(f, "{} or {}", inner(a), inner(b)),
            Node::Until(a, b) => write!(f, "{} until {}", inner(a), inner(b)),
            Node::Release(a, b) => write!(f, "{} releases {}", inner(a), inner(b)),
            Node::Always(a) => write!(f, "always {}", inner(a)),
            Node::Eventually(a) => write!(f, "eventually {}", inner(a)),
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A formula in which only predicates are negated; predicates are numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Plain {
    True,
    False,
    Is(u32, bool),
    And(usize, usize),
    Or(usize, usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// A formula that is ready to be judged: its predicates, and an automaton for the runs that break
/// it.
pub(crate) struct Judged {
    predicates: Vec<OfState>,
    /// The formula itself.
    plain: Vec<Plain>,
    root: usize,
    pub(crate) breaks: Automaton,
}

impl fmt::Debug for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged").field("plain", &self.plain).finish_non_exhaustive()
    }
}

/// A generalised Büchi automaton whose places say what must hold of the state at hand.
#[derive(Clone, Default, Debug)]
pub(crate) struct Automaton {
    /// For each place, the predicates that must and must not hold, as bits.
    pub(crate) needs: Vec<(u64, u64)>,
    pub(crate) next: Vec<Vec<u32>>,
    pub(crate) first: Vec<u32>,
    /// For each condition the places of which one must come again and again.
    pub(crate) again: Vec<Vec<bool>>,
}

/// How many predicates a formula has, at most: there is a bit for each.
const MOST_PREDICATES: usize = 64;

impl Judged {
    /// # Panics
    /// Panics if the formula has more predicates than bits: it was written by hand, for one check.
    pub(crate) fn new(formula: &Formula) -> Self {
        let mut known = Known::default();
        let root = known.plain(formula, true);
        let broken = known.plain(formula, false);
        assert!(known.predicates.len() <= MOST_PREDICATES, "a formula has at most {MOST_PREDICATES} predicates");
        let breaks = Automaton::of(&known.plain, broken);
        let predicates = known.predicates.into_iter().map(|(_, so)| so).collect();
        Self { predicates, plain: known.plain, root, breaks }
    }

    /// The predicates that hold in a state, as bits.
    pub(crate) fn bits(&self, view: &View<'_>) -> u64 {
        (0..).zip(&self.predicates).filter(|(_, so)| so(view)).map(|(i, _)| 1u64 << i).sum()
    }

    /// Whether the formula holds of a run, by the predicates that hold in each state. The last is
    /// followed by the one at `from`.
    pub(crate) fn holds_of(&self, states: &[u64], from: usize) -> bool {
        self.of_all(self.root, states, from)[0]
    }

    fn of_all(&self, at: usize, states: &[u64], from: usize) -> Vec<bool> {
        let of = |i: usize| self.of_all(i, states, from);
        let after = |i: usize| if i + 1 < states.len() { i + 1 } else { from };
        // Twice round: what holds at the end may follow from what holds at `from`.
        let back = |mut now: Vec<bool>, step: &dyn Fn(usize, bool) -> bool| {
            for _ in 0..2 {
                for i in (0..states.len()).rev() {
                    now[i] = step(i, now[after(i)]);
                }
            }
            now
        };
        match self.plain[at] {
            Plain::True => vec![true; states.len()],
            Plain::False => vec![false; states.len()],
            Plain::Is(predicate, so) => states.iter().map(|bits| (bits >> predicate & 1 == 1) == so).collect(),
            Plain::And(a, b) => of(a).into_iter().zip(of(b)).map(|(a, b)| a && b).collect(),
            Plain::Or(a, b) => of(a).into_iter().zip(of(b)).map(|(a, b)| a || b).collect(),
            Plain::Until(a, b) => {
                let (a, b) = (of(a), of(b));
                back(vec![false; states.len()], &|i, later| b[i] || a[i] && later)
            }
            Plain::Release(a, b) => {
                let (a, b) = (of(a), of(b));
                back(vec![true; states.len()], &|i, later| b[i] && (a[i] || later))
            }
        }
    }
}

#[derive(Default)]
struct Known {
    predicates: Vec<(String, OfState)>,
    plain: Vec<Plain>,
}

impl Known {
    fn add(&mut self, plain: Plain) -> usize {
        self.plain.iter().position(|known| *known == plain).unwrap_or_else(|| {
            self.plain.push(plain);
            self.plain.len() - 1
        })
    }

    /// The formula, or its negation.
    fn plain(&mut self, formula: &Formula, so: bool) -> usize {
        let plain = match &*formula.0 {
            Node::Now(name, predicate) => {
                let same = |(_, known): &(String, OfState)| Arc::ptr_eq(known, predicate);
                let at = self.predicates.iter().position(same).unwrap_or_else(|| {
                    self.predicates.push((name.clone(), Arc::clone(predicate)));
                    self.predicates.len() - 1
                });
                Plain::Is(at as u32, so)
            }
            Node::Not(a) => return self.plain(a, !so),
            Node::And(a, b) | Node::Or(a, b) => {
                let both = matches!(&*formula.0, Node::And(..)) == so;
                let (a, b) = (self.plain(a, so), self.plain(b, so));
                if both { Plain::And(a, b) } else { Plain::Or(a, b) }
            }
            Node::Until(a, b) | Node::Release(a, b) => {
                let until = matches!(&*formula.0, Node::Until(..)) == so;
                let (a, b) = (self.plain(a, so), self.plain(b, so));
                if until { Plain::Until(a, b) } else { Plain::Release(a, b) }
            }
            Node::Always(a) | Node::Eventually(a) => {
                let eventually = matches!(&*formula.0, Node::Eventually(_)) == so;
                let a = self.plain(a, so);
                if eventually {
                    Plain::Until(self.add(Plain::True), a)
                } else {
                    Plain::Release(self.add(Plain::False), a)
                }
            }
        };
        self.add(plain)
    }
}

type Set = BTreeSet<usize>;

/// A place of the automaton in the making.
#[derive(Clone)]
struct Draft {
    /// The places before it; `None` is the beginning.
    before: BTreeSet<Option<usize>>,
    /// What must hold here and was not looked at yet, what was, and what must hold next.
    new: Set,
    old: Set,
    next: Set,
}

impl Automaton {
    /// An automaton that accepts the runs of which the formula holds.
    fn of(plain: &[Plain], root: usize) -> Self {
        let mut done: Vec<Draft> = Vec::new();
        let mut known: BTreeMap<(Set, Set), usize> = BTreeMap::new();
        let first = Draft { before: [None].into(), new: [root].into(), old: Set::new(), next: Set::new() };
        let mut todo = vec![first];
        while let Some(mut at) = todo.pop() {
            let Some(formula) = at.new.pop_first() else {
                let key = (at.old.clone(), at.next.clone());
                if let Some(&same) = known.get(&key) {
                    done[same].before.extend(at.before);
                    continue;
                }
                known.insert(key, done.len());
                let new = at.next.clone();
                todo.push(Draft { before: [Some(done.len())].into(), new, old: Set::new(), next: Set::new() });
                done.push(at);
                continue;
            };
            if at.old.contains(&formula) {
                todo.push(at);
                continue;
            }
            let mut with = |mut at: Draft, new: &[usize], next: &[usize]| {
                at.old.insert(formula);
                let fresh: Vec<usize> = new.iter().copied().filter(|f| !at.old.contains(f)).collect();
                at.new.extend(fresh);
                at.next.extend(next);
                todo.push(at);
            };
            match plain[formula] {
                Plain::False => {}
                Plain::Is(p, so) if at.old.iter().any(|&f| plain[f] == Plain::Is(p, !so)) => {}
                Plain::True | Plain::Is(..) => with(at, &[], &[]),
                Plain::And(a, b) => with(at, &[a, b], &[]),
                Plain::Or(a, b) => {
                    with(at.clone(), &[a], &[]);
                    with(at, &[b], &[]);
                }
                Plain::Until(a, b) => {
                    with(at.clone(), &[a], &[formula]);
                    with(at, &[b], &[]);
                }
                Plain::Release(a, b) => {
                    with(at.clone(), &[b], &[formula]);
                    with(at, &[a, b], &[]);
                }
            }
        }
        let needs = |draft: &Draft| {
            draft.old.iter().fold((0, 0), |(yes, no), &f| match plain[f] {
                Plain::Is(p, true) => (yes | 1 << p, no),
                Plain::Is(p, false) => (yes, no | 1 << p),
                _ => (yes, no),
            })
        };
        let mut automaton = Self {
            needs: done.iter().map(needs).collect(),
            next: vec![Vec::new(); done.len()],
            first: Vec::new(),
            again: Vec::new(),
        };
        for (to, draft) in (0..).zip(&done) {
            for from in &draft.before {
                match from {
                    Some(from) => automaton.next[*from].push(to),
                    None => automaton.first.push(to),
                }
            }
        }
        for (f, formula) in plain.iter().enumerate() {
            if let Plain::Until(_, b) = formula
                && done.iter().any(|draft| draft.old.contains(&f))
            {
                let fulfilled = |draft: &Draft| !draft.old.contains(&f) || draft.old.contains(b);
                automaton.again.push(done.iter().map(fulfilled).collect());
            }
        }
        automaton
    }

    /// Whether a place allows a state of which these predicates hold.
    pub(crate) fn allows(&self, place: u32, bits: u64) -> bool {
        let (yes, no) = self.needs[place as usize];
        bits & yes == yes && bits & no == 0
    }
}
