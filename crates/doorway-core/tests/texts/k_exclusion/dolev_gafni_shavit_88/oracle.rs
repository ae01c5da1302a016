//! Dolev, Gafni and Shavit's constructions with an oracle. Whatever moves the arrows, at most l
//! processes are inside (Construction 5, Lemma 5). A process that stays gets the larger id
//! (Construction 7, Lemma 7, Claim 2).
//!
//! The oracle is a process of its own that writes a safe bit: while it does, a read may return
//! either value.

use doorway_check::property::View;
use doorway_check::sim::{Part, Phase, Rules, Sim, SimCell, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::dolev_gafni_shavit_88::{Ids, Mine, Oracle, WithOracle, safe_bit};
use doorway_core::memory::{Pid, Process, Register, Site};
use std::convert::Infallible;
use std::rc::Rc;

/// A bit that can be read as anything while its writer, the last process, writes it.
#[derive(Clone)]
struct Anything {
    part: Part,
    bit: Rc<SimCell<bool>>,
}

impl Anything {
    fn new(site: &Site<'_, Sim>, writer: usize) -> Self {
        let site = site.part("oracle", None);
        let bit = site.row("bit", 1, |_| safe_bit(false, Pid::new(writer))).remove(0);
        Self { part: site.here(), bit: Rc::new(bit) }
    }

    async fn says(&self, p: &Process<Sim>) -> Result<bool, Infallible> {
        p.on(self.part).keep(51, &());
        p.on(self.part).at(51).read(&self.bit).await
    }

    async fn writes(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        p.on(self.part).at(52).write(&self.bit, false).await
    }
}

impl Oracle<Sim> for Anything {
    async fn yields(&self, p: &Process<Sim>, _: usize) -> Result<bool, Infallible> {
        self.says(p).await
    }
}

/// Construction 5 for `n` processes, and the oracle as one more.
struct Construction5 {
    n: usize,
    oracle: Anything,
    inner: WithOracle<Sim, Anything>,
}

impl KExclusion<Sim> for Construction5 {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        if p.pid().index() == self.n { Ok(self.oracle.writes(p).await?) } else { self.inner.acquire(p).await }
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        if p.pid().index() == self.n { Ok(()) } else { self.inner.release(p, ()).await }
    }
}

fn lemma_5(n: usize, l: usize, rules: Rules) -> Report {
    let inside = move |v: &View<'_>| (0..n).filter(|&p| v.phase(p) == Phase::Inside).map(|p| 1u64 << p).sum::<u64>();
    let build = |site: &Site<'_, Sim>| {
        let oracle = Anything::new(site, n);
        Construction5 { n, inner: WithOracle::new(site, n, l, oracle.clone()), oracle }
    };
    Explorer::new(n + 1)
        .believe_keep(true)
        .property(Property::always("l-exclusion", move |v| inside(v).count_ones() as usize <= l))
        .property(Property::always("CL5", move |v| {
            let inside = inside(v);
            inside == 0 || (0..n).any(|p| inside >> p & 1 == 1 && inside & !v.shown::<u64>(p, "S").unwrap_or(0) == 0)
        }))
        .property(Property::sometimes("l enter together", move |v| inside(v).count_ones() as usize == l.min(n)))
        .explore(World::new(n + 1, rules, build).unwrap())
        .unwrap()
}

const SAFE: Rules = Rules { registers: Register::Safe, ..Rules::DEFAULT };

#[test]
fn whatever_moves_the_arrows_at_most_l_are_inside() {
    for (n, l, crashes) in [(1, 1, 0), (2, 1, 0), (2, 1, 2), (2, 2, 2)] {
        let report = lemma_5(n, l, Rules { crashes, ..SAFE });
        report.assert_holds();
        println!("({n},{l}), {crashes} crashes: {} states", report.states);
    }
}

/// Construction 7 with its oracle: a process stays in the loop for as long as the oracle says so.
struct Construction7 {
    n: usize,
    /// The process that never leaves the loop once it is in it, while the others leave at once and
    /// come back, for ever. If `None`, the oracle decides.
    stays: Option<usize>,
    ids: Ids<Sim>,
    oracle: Anything,
}

impl KExclusion<Sim> for Construction7 {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let me = p.pid().index();
        if me == self.n {
            return Ok(self.oracle.writes(p).await?);
        }
        let here = p.on(Part::ROOT);
        here.go_round_until(|| async {
            self.ids.increment(p).await?;
            self.ids.observe(p).await?;
            let loops = self.oracle.says(p).await?;
            if self.stays.is_some_and(|stays| stays != me) {
                self.ids.initialize(p).await?; // and is back at once
            }
            Ok((!loops && self.stays.is_none()).then_some(()))
        })
        .await?;
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        if p.pid().index() < self.n {
            self.ids.initialize(p).await?;
        }
        Ok(())
    }
}

fn construction_7(n: usize, stays: Option<usize>) -> impl FnOnce(&Site<'_, Sim>) -> Construction7 {
    move |site| Construction7 { n, stays, ids: Ids::new(&site.part("ID", None), n), oracle: Anything::new(site, n) }
}

/// What each mutator knows of its own bits is what they are, whichever processes come and go.
#[test]
fn ids_are_what_their_owners_think() {
    let bits = Property::always("W", |v| {
        (0..2).all(|s| {
            let Mine { f, w } = v.get_at("mine", s);
            let is = |name, bit| v.get_at::<bool>(name, s) == bit;
            v.label(v.home_of("mine", s)) != 0 || is("f", f) && is("wp", w) && is("wq", w)
        })
    });
    let world = World::new(3, SAFE, construction_7(2, None)).unwrap();
    let report = Explorer::new(3).believe_keep(true).property(bits.each("fork")).explore(world).unwrap();
    report.assert_holds();
    println!("Construction 7: {} states", report.states);
}

/// Claim 2 and Lemma 7: a process that stays gets, for good, all forks that it shares with the
/// processes that come and go. So its id is larger than theirs. One of three may die, even half-way
/// through a bit.
#[test]
fn the_process_that_stays_gets_the_larger_id() {
    fn side(v: &View<'_>, p: usize) -> Option<usize> {
        (0..2).find(|&s| v.home_of("mine", s) == p)
    }
    let has = |v: &View<'_>, p| side(v, p).is_some_and(|s| v.get_at::<Mine>("mine", s).w);
    for (n, crashes) in [(2, 0), (3, 1)] {
        for stays in 0..n {
            let is_over = move |v: &View<'_>, p| {
                let other = side(v, p).map(|s| v.home_of("mine", 1 - s));
                has(v, p) || other.is_none_or(|other| v.has_crashed(other))
            };
            let all_are_here = move |v: &View<'_>| (0..n).all(|p| v.phase(p) == Phase::Entry);
            let gets = Property::leads_to("gets", move |v, p| p == stays && all_are_here(v), is_over);
            let keeps = Property::unless("keeps", move |v, p| p == stays && has(v, p), |_, _| false);
            let rules = Rules { crashes, ..if n == 2 { SAFE } else { Rules::DEFAULT } };
            let world = World::new(n + 1, rules, construction_7(n, Some(stays))).unwrap();
            let claims = [gets, keeps].map(|claim| claim.each("fork"));
            let report = Explorer::new(n + 1).believe_keep(true).properties(claims).explore(world).unwrap();
            report.assert_holds();
            println!("{stays} of {n} stays, {crashes} crashes: {} states", report.states);
        }
    }
}
