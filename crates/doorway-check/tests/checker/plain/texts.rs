//! Five classics with loops that start again, written as one would write them: plain `loop`,
//! `while` and labelled `break`, no word about what matters.
//!
//! What each paper says stands above its text in the package `classics`, or here.

use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

fn own<T>(init: T) -> impl Fn(usize) -> doorway_core::memory::Decl<'static, T>
where
    T: doorway_core::memory::Word,
{
    move |i| decl(init).home(Pid::new(i))
}

pub(crate) struct Dekker<M: Memory> {
    part: M::Part,
    /// Whether it waits with a word for waiting, within its loop.
    waits: bool,
    flag: M::Row<bool>,
    turn: M::Var<Pid>,
}

impl<M: Memory> Dekker<M> {
    pub(crate) fn new(site: &Site<'_, M>, waits: bool) -> Self {
        let (flag, turn) = (site.row("flag", 2, own(false)), site.var("turn", Pid::new(0)));
        Self { part: site.here(), waits, flag, turn }
    }
}

impl<M: ReadWrite> KExclusion<M> for Dekker<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let me = p.pid();
        let (i, j) = (me.index(), 1 - me.index());

        p.at(1).write(&self.flag[i], true).await?;
        while p.at(2).read(&self.flag[j]).await? {
            if p.at(3).read(&self.turn).await? != me {
                p.at(4).write(&self.flag[i], false).await?;
                if self.waits {
                    p.at(5).wait_until(&self.turn, |turn| turn == me).await?;
                } else {
                    while p.at(5).read(&self.turn).await? != me {}
                }
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();
        p.at(7).write(&self.turn, Pid::new(1 - i)).await?;
        p.at(8).write(&self.flag[i], false).await
    }
}

pub(crate) struct Knuth<M: Memory> {
    part: M::Part,
    n: usize,
    control: M::Row<u64>,
    k: M::Var<Pid>,
}

impl<M: Memory> Knuth<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self { part: site.here(), n, control: site.row("control", n, own(0)), k: site.var("k", Pid::new(0)) }
    }
}

impl<M: ReadWrite> KExclusion<M> for Knuth<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        'l0: loop {
            p.at(1).write(&self.control[i], 1).await?;
            'l1: loop {
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    if p.at(22).read(&self.control[j]).await? != 0 {
                        continue 'l1;
                    }
                    j = if j == 0 { self.n - 1 } else { j - 1 };
                }
                break;
            }
            p.at(3).write(&self.control[i], 2).await?;
            for j in (0..self.n).rev() {
                if j != i && p.at(4).read(&self.control[j]).await? == 2 {
                    continue 'l0;
                }
            }
            break;
        }
        p.at(5).write(&self.k, p.pid()).await?;
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();
        p.at(6).write(&self.k, Pid::new((i + self.n - 1) % self.n)).await?;
        p.at(7).write(&self.control[i], 0).await
    }
}

/// De Bruijn, *Additional Comments on a Problem in Concurrent Programming Control*, 1967. As
/// Knuth's, but a process that enters does not write `k`, and one that leaves moves `k` on only if
/// `k` is its own name, or `k`'s process is not under way.
pub(crate) struct DeBruijn<M: Memory> {
    part: M::Part,
    n: usize,
    /// Whether the text says which of its locals matter.
    keeps: bool,
    control: M::Row<u64>,
    k: M::Var<Pid>,
}

impl<M: Memory> DeBruijn<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, keeps: bool) -> Self {
        let (control, k) = (site.row("control", n, own(0)), site.var("k", Pid::new(0)));
        Self { part: site.here(), n, keeps, control, k }
    }
}

impl<M: ReadWrite> KExclusion<M> for DeBruijn<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();
        let keeps = |label, j: Option<usize>| {
            if self.keeps {
                p.keep(label, &j);
            }
        };

        'l0: loop {
            keeps(1, None);
            p.at(1).write(&self.control[i], 1).await?;
            'l1: loop {
                keeps(21, None);
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    keeps(22, Some(j));
                    if p.at(22).read(&self.control[j]).await? != 0 {
                        continue 'l1;
                    }
                    j = if j == 0 { self.n - 1 } else { j - 1 };
                }
                break;
            }
            keeps(3, None);
            p.at(3).write(&self.control[i], 2).await?;
            for j in (0..self.n).rev().filter(|&j| j != i) {
                keeps(4, Some(j));
                if p.at(4).read(&self.control[j]).await? == 2 {
                    continue 'l0;
                }
            }
            return Ok(());
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();
        let k = p.at(51).read(&self.k).await?.index();
        if self.keeps {
            p.keep(52, &k);
        }
        if p.at(52).read(&self.control[k]).await? == 0 || k == i {
            if self.keeps {
                p.keep(6, &k);
            }
            p.at(6).write(&self.k, Pid::new((k + self.n - 1) % self.n)).await?;
        }
        if self.keeps {
            p.keep(7, &());
        }
        p.at(7).write(&self.control[i], 0).await
    }
}

const IDLE: u64 = 0;
const WANTS_IN: u64 = 1;
const IN_CS: u64 = 2;

/// Eisenberg and McGuire, *Further Comments on Dijkstra's Concurrent Programming Control Problem*,
/// 1972.
pub(crate) struct EisenbergMcGuire<M: Memory> {
    part: M::Part,
    n: usize,
    /// Whether the text says which of its locals matter.
    keeps: bool,
    flag: M::Row<u64>,
    turn: M::Var<Pid>,
}

impl<M: Memory> EisenbergMcGuire<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, keeps: bool) -> Self {
        let (flag, turn) = (site.row("flag", n, own(IDLE)), site.var("turn", Pid::new(0)));
        Self { part: site.here(), n, keeps, flag, turn }
    }
}

impl<M: ReadWrite> KExclusion<M> for EisenbergMcGuire<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let (i, n) = (p.pid().index(), self.n);
        let keeps = |label, j: Option<usize>| {
            if self.keeps {
                p.keep(label, &j);
            }
        };

        loop {
            keeps(1, None);
            p.at(1).write(&self.flag[i], WANTS_IN).await?;
            keeps(21, None);
            let mut j = p.at(21).read(&self.turn).await?.index();
            while j != i {
                keeps(22, Some(j));
                if p.at(22).read(&self.flag[j]).await? != IDLE {
                    keeps(23, None);
                    j = p.at(23).read(&self.turn).await?.index();
                } else {
                    j = (j + 1) % n;
                }
            }
            keeps(3, None);
            p.at(3).write(&self.flag[i], IN_CS).await?;
            let mut j = 0;
            while j < n {
                if j != i {
                    keeps(4, Some(j));
                    if p.at(4).read(&self.flag[j]).await? == IN_CS {
                        break;
                    }
                }
                j += 1;
            }
            if j < n {
                continue;
            }
            keeps(51, None);
            let turn = p.at(51).read(&self.turn).await?.index();
            if turn == i {
                break;
            }
            keeps(52, Some(turn));
            if p.at(52).read(&self.flag[turn]).await? == IDLE {
                break;
            }
        }
        keeps(6, None);
        p.at(6).write(&self.turn, p.pid()).await?;
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let (i, n) = (p.pid().index(), self.n);
        let mut j = (p.at(71).read(&self.turn).await?.index() + 1) % n;
        loop {
            if self.keeps {
                p.keep(72, &j);
            }
            if p.at(72).read(&self.flag[j]).await? != IDLE {
                break;
            }
            j = (j + 1) % n;
        }
        if self.keeps {
            p.keep(8, &j);
        }
        p.at(8).write(&self.turn, Pid::new(j)).await?;
        if self.keeps {
            p.keep(9, &());
        }
        p.at(9).write(&self.flag[i], IDLE).await
    }
}

pub(crate) struct BurnsLynch<M: Memory> {
    part: M::Part,
    n: usize,
    flag: M::Row<bool>,
}

impl<M: Memory> BurnsLynch<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize) -> Self {
        Self { part: site.here(), n, flag: site.row("flag", n, own(false)) }
    }
}

impl<M: ReadWrite> KExclusion<M> for BurnsLynch<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        'again: loop {
            p.at(1).write(&self.flag[i], false).await?;
            for j in 0..i {
                while p.at(2).read(&self.flag[j]).await? {}
            }
            p.at(3).write(&self.flag[i], true).await?;
            for j in 0..i {
                if p.at(4).read(&self.flag[j]).await? {
                    continue 'again;
                }
            }
            break;
        }
        for j in i + 1..self.n {
            while p.at(5).read(&self.flag[j]).await? {}
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(6).write(&self.flag[p.pid().index()], false).await
    }
}
