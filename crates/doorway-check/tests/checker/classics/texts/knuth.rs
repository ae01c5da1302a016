//! Knuth, *Additional Comments on a Problem in Concurrent Programming Control*, 1966: the first
//! solution without starvation.
//!
//! ```text
//! 1  control[i] := 1
//! 2  for j = k down to the smallest name, then from the largest down to the smallest:
//!        if j = i go to 3; if control[j] /= 0 start 2 again
//! 3  control[i] := 2
//! 4  for each other j, downwards, if control[j] = 2 go to 1
//! 5  k := i
//!    critical section
//! 6  k := the name before i, cyclically
//! 7  control[i] := 0
//! ```
//! Claimed for atomic registers. `k` has n writers, of which one at a time is past 4.

use super::{Registers, names, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

pub(crate) struct Knuth<M: Memory> {
    part: M::Part,
    n: usize,
    control: M::Row<u64>,
    k: M::Var<Pid>,
}

impl<M: Memory> Knuth<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        Self {
            part: site.here(),
            n,
            control: site
                .row("control", n, |i| decl(0).home(Pid::new(i)).needs(needs(registers.one_writer, &[0, 1, 2]))),
            k: site.var("k", decl(Pid::new(0)).needs(needs(registers.many_writers, &names(n)))),
        }
    }
}

impl<M: ReadWrite> Knuth<M> {
    /// One turn of statement 2: whether no process from `k` around to us competes.
    async fn is_next(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        let k = p.at(21).read(&self.k).await?.index();
        for j in (0..=k).rev().chain((0..self.n).rev()) {
            if j == i {
                break;
            }
            if p.at(22).read(&self.control[j]).await? != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Statement 4: whether another process got to 3 as well.
    async fn has_a_rival(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        for j in (0..self.n).rev().filter(|&j| j != i) {
            p.keep(4, &j);
            if p.at(4).read(&self.control[j]).await? == 2 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for Knuth<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        loop {
            p.keep(1, &());
            p.at(1).write(&self.control[i], 1).await?;
            p.keep(2, &());
            p.spin_until(|| async { Ok(self.is_next(p).await?.then_some(())) }).await?;
            p.keep(3, &());
            p.at(3).write(&self.control[i], 2).await?;
            if !self.has_a_rival(p).await? {
                break;
            }
        }
        p.keep(5, &());
        p.at(5).write(&self.k, p.pid()).await?;
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(6).write(&self.k, Pid::new((i + self.n - 1) % self.n)).await?;
        p.keep(7, &());
        p.at(7).write(&self.control[i], 0).await
    }
}
