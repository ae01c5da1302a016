//! Lamport, *The Mutual Exclusion Problem, Part II*, 1986: with one bit for each process, and with
//! three.
//!
//! Both are claimed for safe bits with one writer.

use super::{BITS, Registers, needs};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

/// The one-bit algorithm, which Burns found too. Not starvation-free: the first process can always
/// go first.
///
/// ```text
/// 1  x[i] := true
/// 2  for each j < i, if x[j]
/// 3      x[i] := false
/// 4      wait until not x[j], then start again at 1
/// 5  for each j > i, wait until not x[j]
///    critical section
/// 6  x[i] := false
/// ```
pub(crate) struct OneBit<M: Memory> {
    part: M::Part,
    n: usize,
    x: M::Row<bool>,
}

impl<M: Memory> OneBit<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self { part: site.here(), n, x: site.row("x", n, bit) }
    }
}

impl<M: ReadWrite> OneBit<M> {
    /// Raises the bit and keeps it up past all processes with smaller names, or lowers it and gives
    /// way.
    async fn stays_up(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        let i = p.pid().index();
        p.keep(1, &());
        p.at(1).write(&self.x[i], true).await?;
        for j in 0..i {
            p.keep(2, &j);
            if p.at(2).read(&self.x[j]).await? {
                p.keep(3, &j);
                p.at(3).write(&self.x[i], false).await?;
                p.keep(4, &j);
                p.at(4).wait_until(&self.x[j], |x| !x).await?;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<M: ReadWrite> KExclusion<M> for OneBit<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        while !self.stays_up(p).await? {}
        for j in p.pid().index() + 1..self.n {
            p.keep(5, &j);
            p.at(5).wait_until(&self.x[j], |x| !x).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(6).write(&self.x[p.pid().index()], false).await
    }
}

/// The three-bit algorithm, starvation-free. Competitors (`y`) stand in a circle that starts at a
/// first one, `f`. The bits `z` determine `f`, and a passage moves it on. Every process waits for
/// the competitors between `f` and itself.
///
/// ```text
/// 1  y[i] := true
/// 2  x[i] := true
/// 3  for each j (i too), read y[j], and if it is up z[j]; f := the first of those with y up whose z differs
///    from that of the one before, where the smallest counts as differing from the largest if they are equal
/// 4  for each j in the circle from f up to but not including i, if y[j]
/// 5      x[i] := false unless it is, then go to 3
/// 6  if x[i] is false go to 2
/// 7  for each j in the circle after i up to but not including f, if x[j] go to 3
///    critical section
/// 8  z[i] := not z[i]
/// 9  x[i] := false
/// 10 y[i] := false
/// ```
pub(crate) struct ThreeBit<M: Memory> {
    part: M::Part,
    n: usize,
    x: M::Row<bool>,
    y: M::Row<bool>,
    z: M::Row<bool>,
}

enum Look {
    /// No process is before us, and no rival's `x` is up.
    Clear,
    /// No process is before us, but our own `x` is down.
    RaiseX,
    /// A process is before us, or a rival was quicker.
    Again,
}

impl<M: Memory> ThreeBit<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self { part: site.here(), n, x: site.row("x", n, bit), y: site.row("y", n, bit), z: site.row("z", n, bit) }
    }

    /// The processes from one to another around the circle of all, the last one excluded.
    fn circle(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + use<M> {
        let n = self.n;
        (0..(to + n - from) % n).map(move |step| (from + step) % n)
    }
}

/// The first competitor at a place where `z` changes. There is one: around the circle, the number
/// of such places is odd.
fn first_in_circle(competitors: &[(usize, bool)]) -> usize {
    let changes = |at: usize| match at.checked_sub(1) {
        Some(before) => competitors[before].1 != competitors[at].1,
        None => competitors[competitors.len() - 1].1 == competitors[at].1,
    };
    let at = (0..competitors.len()).find(|&at| changes(at)).expect("an odd number of places is not none");
    competitors[at].0
}

impl<M: ReadWrite> ThreeBit<M> {
    /// Statements 3 to 7. `up` is the value of our own `x`.
    async fn look(&self, p: Here<'_, M>, up: &mut bool) -> Result<Look, M::Error> {
        let i = p.pid().index();
        let mut competitors = Vec::new();
        for j in 0..self.n {
            p.keep(31, &(j, &competitors, *up));
            if j == i || p.at(31).read(&self.y[j]).await? {
                p.keep(32, &(j, &competitors, *up));
                competitors.push((j, p.at(32).read(&self.z[j]).await?));
            }
        }
        let f = first_in_circle(&competitors);
        for j in self.circle(f, i) {
            p.keep(4, &(f, j, *up));
            if p.at(4).read(&self.y[j]).await? {
                if *up {
                    p.keep(5, &());
                    p.at(5).write(&self.x[i], false).await?;
                    *up = false;
                }
                return Ok(Look::Again);
            }
        }
        if !*up {
            return Ok(Look::RaiseX);
        }
        for j in self.circle((i + 1) % self.n, f) {
            p.keep(7, &(f, j));
            if p.at(7).read(&self.x[j]).await? {
                return Ok(Look::Again);
            }
        }
        Ok(Look::Clear)
    }
}

impl<M: ReadWrite> KExclusion<M> for ThreeBit<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(1).write(&self.y[i], true).await?;
        loop {
            p.keep(2, &());
            p.at(2).write(&self.x[i], true).await?;
            let mut up = true;
            loop {
                match self.look(p, &mut up).await? {
                    Look::Clear => return Ok(()),
                    Look::RaiseX => break,
                    Look::Again => {}
                }
            }
        }
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        let z = p.at(81).read(&self.z[i]).await?;
        p.keep(82, &z);
        p.at(82).write(&self.z[i], !z).await?;
        p.keep(9, &());
        p.at(9).write(&self.x[i], false).await?;
        p.keep(10, &());
        p.at(10).write(&self.y[i], false).await
    }
}
