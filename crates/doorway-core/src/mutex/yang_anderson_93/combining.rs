//! Software combining: fetch-and-op for `N` processes, from reads and writes.
//!
//! # Problem
//! An object with one value, and operations that change the value and return its previous one. Each
//! operation takes effect at one moment between its call and its return
//! ([linearizable](https://doi.org/10.1145/78969.78972)). When many processes call at once, only a
//! few of them access the value.
//!
//! # Source
//! Yang and Anderson, PODC 1993, **Section 6.2**. It poses the problem, and says how to notice that
//! there is something to combine. The text is ours.
//!
//! # Idea
//! ```text
//!   p0 adds 1 ─┬─ node 4: p0 first, finds p1 in T ── adds 1+2 ─┬─ node 2 ─ … ─ root: V
//!   p1 adds 2 ─┘          p1 waits, is told its result         │
//! ```
//! Processes climb an [arbitration tree](crate::mutex::ArbitrationTree) of
//! [two-process](TwoProcess) nodes, and a process that reaches the root changes the value. A
//! process that has won a node may find another name in its `T`. The rival of that name has signed,
//! and cannot pass before the winner leaves. The winner takes the rival's operation along. On its
//! way down it writes the result and a note that the operation is done, *before* it leaves the
//! node. A process that passes a node looks for that note first, **however it came to pass**, and
//! turns back if it finds one.
//!
//! # Shared variables
//! | name         | range | initially | home   | written at | meaning |
//! |--------------|-------|-----------|--------|------------|---------|
//! | `V`          | value | any       | nobody | 11         | the object |
//! | `Req[p][h]`  | op    | any       | `p`    | 2          | what `p` brings to its node at level `h`: its own operation, and those it has taken along |
//! | `Res[p][h]`  | value | any       | `p`    | rival 12   | the value to which these were applied |
//! | `Done[p][h]` | bool  | false     | `p`    | 1, rival 13 | they were applied |
//!
//! and the variables of the nodes.
//!
//! # Statements
//! The paper has none. Statements 1 to 7 are executed at each level on the way up; a process rests
//! at 3 while it enters the node. Statements 8 and 9 look at all nodes once more, and 10 and 11
//! change the value. Statements 12 to 14 are executed at each level on the way down; a process
//! rests at 14 while it leaves the node. A process that finds its note at 4 continues at 12, at
//! that level.
//!
//! # Invariants (ours, all checked)
//! - (C1) at most one process is at 10 or 11
//! - (C2) a process at 8, 9, 10 or 11 has no note at any level: no process applies an operation
//!   that another has applied for it
//!
//! # Why it is right
//! Let `p` have passed a node (its 11), and let `r` be the other name in `T`. Then `r` signed `T`
//! after `p` did, and does not pass before `p` has begun to leave (I5, I6 of Figure 1). What `r`
//! brings is therefore already written and does not change. The note is there when `r` passes, by
//! whichever of the statements 4, 5, 9 and 10 of the node it passes. (To tell `r` by its spin
//! variable, at 14 of the node, would be too late: if `r` was slow between 2 and 4, it finds no
//! rival competing and never looks.) The operations of one climb take effect together when `V` is
//! written, in the order in which they were taken along: no other process is at the root, and none
//! of them has returned.
//!
//! # Cost, faults, fairness
//! At most `15 ceil(log2 N) + 2` remote references in the DSM model, `7 ceil(log2 N) + 2` alone. A
//! level costs 15: 10 for the node, 2 to read `T` (at 6, and again at 8), and one each at 7 or 9,
//! at 12 and at 13. The other 2 access `V`. All spins are local. Starvation-free, as the tree is.
//! No crash is tolerated: a process that stops may block all others.
//!
//! # What is ours
//! All of the text. Statements 8 and 9 are not necessary: they find processes that came while `p`
//! climbed, so that more operations are combined.

use super::TwoProcess;
use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, Domain, Here, Label, Mark, Memory, Pid, Process, ReadWrite, Site, Word, decl, within};
use crate::mutex::{ArbitrationTree, Node, levels};
use core::convert::Infallible;
use core::fmt::Debug;

/// Operations on a value that can be combined: `compose(f, g)` is `f` followed by `g`.
///
/// Composition must be associative and agree with application; it need not be commutative.
///
/// ```
/// use doorway_core::mutex::yang_anderson_93::{Add, Combinable, Store};
/// assert_eq!(Add::apply(Add::compose(1, 2), 10), Add::apply(2, Add::apply(1, 10)));
/// assert_eq!(Store::compose(1, 2), 2);
/// ```
pub trait Combinable: 'static {
    /// An operation.
    type Op: Word;
    /// The value to which operations apply.
    type Value: Word;
    /// The composition: first the one, then the other.
    fn compose(first: Self::Op, second: Self::Op) -> Self::Op;
    /// The value after an operation.
    fn apply(op: Self::Op, value: Self::Value) -> Self::Value;
}

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident, |$first:ident, $second:ident| $compose:expr, |$op:ident, $value:ident| $apply:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name;
        impl Combinable for $name {
            type Op = u64;
            type Value = u64;
            #[inline(always)]
            fn compose($first: u64, $second: u64) -> u64 {
                $compose
            }
            #[inline(always)]
            fn apply($op: u64, $value: u64) -> u64 {
                $apply
            }
        }
    )*};
}

families! {
    /// Adds, modulo 2^64: fetch-and-add.
    Add, |first, second| first.wrapping_add(second), |op, value| value.wrapping_add(op);
    /// Replaces: fetch-and-store.
    Store, |_first, second| second, |op, _value| op;
    /// The smaller one.
    Min, |first, second| first.min(second), |op, value| value.min(op);
    /// The larger one.
    Max, |first, second| first.max(second), |op, value| value.max(op);
}

/// Maps `x` to `times * x + plus`, modulo `M`. The order of these operations matters, and there are
/// finitely many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Affine<const M: u64>;

/// One such map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Map {
    /// The factor.
    pub times: u32,
    /// The summand.
    pub plus: u32,
}

impl Word for Map {
    type Waiters = Anybody;
    #[inline(always)]
    fn pack(self) -> u64 {
        u64::from(self.times) << 32 | u64::from(self.plus)
    }
    #[inline(always)]
    fn unpack(word: u64) -> Self {
        Self { times: (word >> 32) as u32, plus: word as u32 }
    }
}

impl<const M: u64> Combinable for Affine<M> {
    type Op = Map;
    type Value = u64;

    fn compose(first: Map, second: Map) -> Map {
        let plus = Self::apply(second, u64::from(first.plus));
        let times = u64::from(first.times) * u64::from(second.times) % M;
        Map { times: times as u32, plus: plus as u32 }
    }

    fn apply(op: Map, value: u64) -> u64 {
        (u64::from(op.times) * (value % M) + u64::from(op.plus)) % M
    }
}

/// A tree has no more levels than a process name has bits.
const MOST_LEVELS: usize = 16;

/// An operation that was taken along.
#[derive(Clone, Copy, Debug)]
struct Captured<O> {
    whose: Pid,
    /// The composition of all operations that are applied before it.
    before: O,
}

/// Captured operations by level.
type Captures<O> = [Option<Captured<O>>; MOST_LEVELS];

/// An object that `N` processes change together.
///
/// ```
/// use doorway_core::memory::spinning::{Spinning, now};
/// use doorway_core::memory::{Pid, Process, Site};
/// use doorway_core::mutex::yang_anderson_93::{Add, Combining};
///
/// let tickets = Combining::<_, Add>::new(&Site::new(&Spinning), 2, 10);
/// let p = Process::new(Pid::new(1), Spinning);
/// assert_eq!(now(tickets.fetch_and_op(&p, 5)).unwrap(), 10);
/// assert_eq!(now(tickets.load(&p)).unwrap(), 15);
/// ```
#[derive(Debug)]
pub struct Combining<M: Memory, F: Combinable> {
    part: M::Part,
    tree: ArbitrationTree<M, TwoProcess<M>>,
    v: M::Var<F::Value>,
    req: M::Table<F::Op>,
    res: M::Table<F::Value>,
    done: M::Table<bool>,
}

impl<M: ReadWrite, F: Combinable> Combining<M, F> {
    /// An object with this initial value, for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize, value: F::Value) -> Self {
        let height = levels(n);
        Self {
            part: site.here(),
            v: site.var("V", decl(value).ranges_over(Domain::Naturals)),
            req: site.table("Req", 0..n, height, decl(F::Op::unpack(0)).ranges_over(Domain::Naturals)),
            res: site.table("Res", 0..n, height, decl(value).ranges_over(Domain::Naturals)),
            done: site.table("Done", 0..n, height, false),
            tree: ArbitrationTree::new(site, n, TwoProcess::between),
        }
    }

    /// Applies an operation, and returns the value to which it was applied.
    ///
    /// # Errors
    /// Returns an error if an access failed. `p` then stays at the statement it had reached, as
    /// after a crash.
    pub async fn fetch_and_op(&self, p: &Process<M>, op: F::Op) -> Result<F::Value, M::Error> {
        let here = p.on(self.part);
        let me = p.pid().index();
        here.invokes(op);

        let mut all = op; // our own operation, then those taken along, in this order
        let mut captured: Captures<F::Op> = [None; MOST_LEVELS];
        let mut applied = None;
        for (level, node, side) in self.tree.path(me) {
            here.at(1).keeping(&(level, all, &captured[..level])).write(&self.done[(me, level)], false).await?;
            // Before we sign `T`: a rival that finds us there takes this along.
            here.at(2).keeping(&(level, all, &captured[..level])).write(&self.req[(me, level)], all).await?;
            here.mark(Mark::Rests(3));
            here.keep(3, &(level, all, &captured[..level]));
            within!(here, &(level, all, &captured[..level]), node.enter(p, side).await?);
            if here.at(4).keeping(&(level, all, &captured[..level])).read(&self.done[(me, level)]).await? {
                applied =
                    Some((level, here.at(5).keeping(&(level, &captured[..level])).read(&self.res[(me, level)]).await?));
                break;
            }
            self.capture(here, 6, (level, node), &mut all, &mut captured).await?;
        }

        let (top, value) = match applied {
            Some(by_another) => by_another,
            None => {
                for (level, node, _) in self.tree.path(me) {
                    if captured[level].is_none() {
                        self.capture(here, 8, (level, node), &mut all, &mut captured).await?;
                    }
                }
                let value = here.at(10).keeping(&(all, &captured)).read(&self.v).await?;
                here.at(11).keeping(&(value, all, &captured)).write(&self.v, F::apply(all, value)).await?;
                (MOST_LEVELS, value)
            }
        };

        for (level, node, side) in self.tree.path(me).rev().filter(|&(level, ..)| level <= top) {
            if let Some(Captured { whose, before }) = captured[level] {
                here.at(12)
                    .keeping(&(level, value, &captured[..=level]))
                    .write(&self.res[(whose.index(), level)], F::apply(before, value))
                    .await?;
                here.at(13)
                    .keeping(&(level, value, &captured[..=level]))
                    .write(&self.done[(whose.index(), level)], true)
                    .await?; // Before we leave the node: the captured process looks when it has passed.
            }
            here.mark(Mark::Rests(14));
            here.keep(14, &(level, value, &captured[..level]));
            within!(here, &(level, value, &captured[..level]), node.leave(p, side).await?);
        }
        here.responds(value);
        Ok(value)
    }

    /// Takes along the operation of a rival that has signed at a node which we have passed, if
    /// there is one.
    async fn capture(
        &self,
        here: Here<'_, M>,
        at: Label,
        (level, node): (usize, &TwoProcess<M>),
        all: &mut F::Op,
        captured: &mut Captures<F::Op>,
    ) -> Result<(), M::Error> {
        let whose = here.at(at).keeping(&(level, *all, &*captured)).read(node.signed()).await?;
        if whose != here.pid() && node.is_member(whose) {
            here.keep(at + 1, &(level, *all, &*captured, whose));
            let theirs = here.at(at + 1).read(&self.req[(whose.index(), level)]).await?;
            captured[level] = Some(Captured { whose, before: *all });
            *all = F::compose(*all, theirs);
        }
        Ok(())
    }

    /// The current value. Operations that were taken along become visible together.
    ///
    /// # Errors
    /// Returns an error if the access failed.
    pub async fn load(&self, p: &Process<M>) -> Result<F::Value, M::Error> {
        p.on(self.part).at(15).read(&self.v).await
    }
}

/// An object as passages: the entry section is one operation, a process inside has its result, and
/// the exit section does nothing. All processes may be inside at once.
#[derive(Debug)]
pub struct Calls<M: Memory, F: Combinable> {
    object: Combining<M, F>,
    op: fn(Pid) -> F::Op,
}

impl<M: ReadWrite, F: Combinable> Calls<M, F> {
    /// Each process calls its operation in every passage.
    pub fn new(object: Combining<M, F>, op: fn(Pid) -> F::Op) -> Self {
        Self { object, op }
    }
}

impl<M: ReadWrite, F: Combinable> KExclusion<M> for Calls<M, F> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        self.object.fetch_and_op(p, (self.op)(p.pid())).await?;
        Ok(())
    }

    async fn release(&self, _: &Process<M>, (): ()) -> Result<(), M::Error> {
        Ok(())
    }
}

/// The maps that processes call when the registry runs them. No two of the first three commute.
#[must_use]
pub fn map_of(p: Pid) -> Map {
    let times = [2, 1, 3];
    Map { times: times[p.index() % times.len()], plus: 1 }
}
