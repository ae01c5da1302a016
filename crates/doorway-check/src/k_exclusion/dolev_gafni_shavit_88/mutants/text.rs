//! Dolev, Gafni and Shavit's l-exclusion with faults.

use super::fork::{self, Arrow, Fork};
use crate::sim::{Part, Sim, SimCell};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::dolev_gafni_shavit_88::{ForkState, Pairs, Reached, safe_bit};
use doorway_core::memory::{Label, Mark, Pid, Process, Site};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    Fork(fork::Fault),
    /// Yields to larger ids after it looked which processes it reaches.
    MovesAfterReach,
    KeepsTheGraphRule,
    YieldsToAllBelow,
    CountsTheOtherEnd,
    MixesRounds,
}

/// One of the three texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Fair,
    Unfair,
    AsPrinted,
}

impl Form {
    const fn ids_grow(self) -> bool {
        matches!(self, Self::Fair | Self::AsPrinted)
    }

    const fn is_as_printed(self) -> bool {
        matches!(self, Self::AsPrinted)
    }
}

pub(super) struct LExclusion {
    part: Part,
    ids_part: Option<Part>,
    n: usize,
    l: usize,
    x: Vec<SimCell<bool>>,
    graph: Pairs<Arrow>,
    range: Pairs<Arrow>,
    ids: Pairs<Fork>,
    form: Form,
    fault: Fault,
}

impl LExclusion {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, l: usize, form: Form, fault: Fault) -> Self {
        let of_forks = if let Fault::Fork(fault) = fault { fault } else { fork::Fault::None };
        let arrow = |site: &Site<'_, Sim>, first: Label, a: Pid, b: Pid| Arrow::new(site, first, a, b, of_forks);
        let fork = |site: &Site<'_, Sim>, first: Label, a: Pid, b: Pid| Fork::new(site, first, a, b, of_forks);
        let x = site.row("x", n, |p| safe_bit(false, Pid::new(p)));
        let graph = Pairs::new(&site.part("GRAPH", None), n, 20, arrow);
        let range = Pairs::new(&site.part("RANGE", None), n, 30, arrow);
        let ids = form.ids_grow().then(|| site.part("ID", None));
        Self {
            part: site.here(),
            ids_part: ids.as_ref().map(Site::here),
            n,
            l,
            x,
            graph,
            range,
            ids: ids.map_or_else(|| Pairs::new(site, 0, 40, fork), |site| Pairs::new(&site, n, 40, fork)),
            form,
            fault,
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.n).filter(move |&j| j != me)
    }

    async fn arrive(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let me = p.pid().index();
        here.at(1).write(&self.x[me], true).await?;
        for j in self.others(me) {
            here.mark(Mark::Rests(2));
            here.part(&(2, j));
            self.redirect(p, j).await?;
            here.part_done();
        }
        Ok(())
    }

    async fn redirect(&self, p: &Process<Sim>, j: usize) -> Result<(), Infallible> {
        match self.graph.of(p.pid().index(), j) {
            Some(arrow) => arrow.redirect(p).await,
            None => Ok(()),
        }
    }

    async fn redirect_range(&self, p: &Process<Sim>, j: usize) -> Result<(), Infallible> {
        match self.range.of(p.pid().index(), j) {
            Some(arrow) => arrow.redirect(p).await,
            None => Ok(()),
        }
    }

    async fn reach(&self, p: &Process<Sim>, at: Label) -> Result<Reached, Infallible> {
        let here = p.on(self.part);
        let me = p.pid().index();
        let mut x = vec![false; self.n];
        x[me] = true;
        for j in self.others(me) {
            here.keep(at, &(j, &x));
            x[j] = here.at(at).read(&self.x[j]).await?;
        }
        here.mark(Mark::Rests(at));
        let mut set = vec![false; self.n];
        set[me] = true;
        let mut todo = vec![me];
        while let Some(j) = todo.pop() {
            for k in 0..self.n {
                let Some(arrow) = self.graph.of(j, k).filter(|_| x[k] && !set[k]) else { continue };
                here.part(&(at, j, k, &x, &set, &todo));
                let to = arrow.read(p).await?;
                here.part_done();
                if to.index() == k {
                    set[k] = true;
                    todo.push(k);
                }
            }
        }
        Ok(Reached { x, set })
    }

    async fn increment(&self, p: &Process<Sim>, ids: Part) -> Result<(), Infallible> {
        for j in 0..self.n {
            let Some(fork) = self.ids.of(p.pid().index(), j) else { continue };
            p.on(ids).part(&("increment", j));
            fork.take(p).await?;
            p.on(ids).part_done();
        }
        Ok(())
    }

    async fn observe(&self, p: &Process<Sim>, ids: Part, live: Option<usize>) -> Result<Vec<usize>, Infallible> {
        let mut counts = vec![0; self.n];
        for (j, k) in (0..self.n).flat_map(|k| (0..k).map(move |j| (j, k))) {
            let Some(fork) = self.ids.of(j, k) else { continue };
            p.on(ids).part(&("observe", j, k, &counts, live));
            let seen = fork.read(p).await?;
            p.on(ids).part_done();
            if let ForkState::InUse(holder) = seen {
                let other_end = self.fault == Fault::CountsTheOtherEnd;
                counts[if other_end { j + k - holder.index() } else { holder.index() }] += 1;
            }
        }
        Ok(counts)
    }

    /// What the process takes the ids of itself and others to be.
    async fn ids(&self, p: &Process<Sim>, ids: Part) -> Result<(usize, Vec<usize>), Infallible> {
        let here = p.on(self.part);
        let me = p.pid().index();
        if self.fault == Fault::MixesRounds {
            here.mark(Mark::Rests(3));
            p.on(ids).part(&"before");
            let before = self.observe(p, ids, None).await?[me];
            p.on(ids).part_done();
            p.on(ids).part(&("mixes", before));
            self.increment(p, ids).await?;
            p.on(ids).part_done();
            here.mark(Mark::Rests(4));
            return Ok((before, self.observe(p, ids, Some(before)).await?));
        }
        here.mark(Mark::Rests(3));
        self.increment(p, ids).await?;
        here.mark(Mark::Rests(4));
        let counts = self.observe(p, ids, None).await?;
        Ok((counts[me], counts))
    }

    async fn turn(&self, p: &Process<Sim>) -> Result<Option<Reached>, Infallible> {
        let here = p.on(self.part);
        let me = p.pid().index();
        let above: Vec<bool> = match self.ids_part {
            None if self.fault == Fault::YieldsToAllBelow => (0..self.n).map(|j| j < me).collect(),
            None => (0..self.n).map(|j| j > me).collect(),
            Some(ids) => {
                let (mine, counts) = self.ids(p, ids).await?;
                (0..self.n).map(|j| (counts[j], j) > (mine, me)).collect()
            }
        };
        here.mark(Mark::Rests(5));
        self.update_graph(p, &above).await?;
        if self.form.is_as_printed() {
            self.update_range_as_printed(p).await?;
            let reached = self.reach(p, 8).await?;
            return Ok((reached.count() <= self.l).then_some(reached));
        }
        here.mark(Mark::Rests(6));
        let reached = self.reach(p, 6).await?;
        let to: Vec<bool> = (0..self.n).map(|j| reached.set[j] || !reached.x[j]).collect();
        let enters = (reached.count() <= self.l).then_some(reached);
        here.mark(Mark::Rests(7));
        for j in self.others(me).filter(|&j| to[j]) {
            here.part(&(7, j, &to[j..], enters.as_ref().map(|reached| &reached.set)));
            self.redirect_range(p, j).await?;
            here.part_done();
        }
        if self.fault == Fault::MovesAfterReach {
            here.part(&("moves", enters.as_ref().map(|reached| &reached.set)));
            for j in self.others(me) {
                here.part(&("moves", j));
                self.redirect(p, j).await?;
                here.part_done();
            }
            here.part_done();
        }
        Ok(enters)
    }

    async fn update_graph(&self, p: &Process<Sim>, above: &[bool]) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let me = p.pid().index();
        for j in self.others(me) {
            if self.form.is_as_printed() || self.fault == Fault::KeepsTheGraphRule {
                here.keep(5, &("not", j, &above[j..]));
                let is_here = here.at(5).read(&self.x[j]).await?;
                here.mark(Mark::Rests(5));
                if !is_here {
                    here.part(&(5, "not", j, &above[j..]));
                    self.redirect(p, j).await?;
                    here.part_done();
                }
            }
            if !above[j] {
                continue;
            }
            here.keep(5, &(j, &above[j..]));
            let is_here = here.at(5).read(&self.x[j]).await?;
            here.mark(Mark::Rests(5));
            if !is_here {
                continue;
            }
            here.part(&(5, j, &above[j..]));
            self.redirect(p, j).await?;
            here.part_done();
            for k in self.others(me) {
                let Some(arrow) = self.range.of(j, k) else { continue };
                here.part(&(5, j, k, &above[j..]));
                let to = arrow.read(p).await?;
                if to.index() == k {
                    here.part(&"and yields");
                    self.redirect(p, k).await?;
                    here.part_done();
                }
                here.part_done();
            }
        }
        Ok(())
    }

    async fn update_range_as_printed(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        for j in self.others(p.pid().index()) {
            here.mark(Mark::Rests(7));
            here.part(&(7, j));
            let reached = self.reach(p, 7).await?.set[j];
            here.part_done();
            here.keep(12, &j);
            if reached || !here.at(12).read(&self.x[j]).await? {
                here.mark(Mark::Rests(7));
                here.part(&(7, "redirect", j));
                self.redirect_range(p, j).await?;
                here.part_done();
            }
        }
        Ok(())
    }

    async fn initialize(&self, p: &Process<Sim>, ids: Part) -> Result<(), Infallible> {
        for j in 0..self.n {
            let Some(fork) = self.ids.of(p.pid().index(), j) else { continue };
            p.on(ids).part(&("initialize", j));
            fork.offer(p).await?;
            p.on(ids).part_done();
        }
        Ok(())
    }

    async fn depart(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.keep(11, &());
        here.at(11).write(&self.x[p.pid().index()], false).await
    }
}

impl KExclusion<Sim> for LExclusion {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let here = p.on(self.part);
        self.arrive(p).await?;
        let reached = here.go_round_until(|| self.turn(p)).await?;
        here.mark(Mark::Rests(9));
        here.holds("S", reached.mask());
        Ok(())
    }

    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        if let Some(ids) = self.ids_part {
            self.initialize(p, ids).await?;
        }
        self.depart(p).await
    }
}
