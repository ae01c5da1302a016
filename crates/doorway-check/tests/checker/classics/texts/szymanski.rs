//! Szymanski's algorithms with linear wait: with a flag of five values and with its bits (1988),
//! and the one with three bits (1990).
//!
//! A waiting room: the door is open until the processes inside see no other coming. Then they are
//! let through by name, and the last one out opens the door again. Tests of all flags read them one
//! after the other, in the order of names.

use super::{BITS, Registers, needs, others};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Memory, Pid, Process, ReadWrite, Site, decl};
use std::convert::Infallible;

/// *A Simple Solution to Lamport's Concurrent Programming Problem with Linear Wait*, 1988.
///
/// ```text
/// 1  flag[i] := 1
/// 2  for each j, wait until flag[j] < 3
/// 3  flag[i] := 3
/// 4  if flag[j] = 1 for some j
/// 5      flag[i] := 2
/// 6      wait until flag[j] = 4 for some j
/// 7  flag[i] := 4
/// 8  for each j < i, wait until flag[j] < 2
///    critical section
/// 9  for each j > i, wait until flag[j] < 2 or flag[j] = 4
/// 10 flag[i] := 0
/// ```
/// Claimed for atomic registers, as far as we know.
pub(crate) struct Flag<M: Memory> {
    part: M::Part,
    n: usize,
    flag: M::Row<u64>,
}

impl<M: Memory> Flag<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers) -> Self {
        let values = [0, 1, 2, 3, 4];
        let flag = site.row("flag", n, |i| decl(0).home(Pid::new(i)).needs(needs(registers.one_writer, &values)));
        Self { part: site.here(), n, flag }
    }
}

impl<M: ReadWrite> Flag<M> {
    /// Statement 4: whether another process is coming in.
    async fn someone_comes(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        for j in others(self.n, p.pid().index()) {
            p.keep(4, &j);
            if p.at(4).read(&self.flag[j]).await? == 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for Flag<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(1).write(&self.flag[i], 1).await?;
        for j in others(self.n, i) {
            p.keep(2, &j);
            p.at(2).wait_until(&self.flag[j], |flag| flag < 3).await?;
        }
        p.keep(3, &());
        p.at(3).write(&self.flag[i], 3).await?;
        if self.someone_comes(p).await? {
            p.keep(5, &());
            p.at(5).write(&self.flag[i], 2).await?;
            p.keep(6, &());
            p.spin_until(|| async {
                for j in others(self.n, i) {
                    if p.at(6).read(&self.flag[j]).await? == 4 {
                        return Ok(Some(()));
                    }
                }
                Ok(None)
            })
            .await?;
        }
        p.keep(7, &());
        p.at(7).write(&self.flag[i], 4).await?;
        for j in 0..i {
            p.keep(8, &j);
            p.at(8).wait_until(&self.flag[j], |flag| flag < 2).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        for j in i + 1..self.n {
            p.keep(9, &j);
            p.at(9).wait_until(&self.flag[j], |flag| flag < 2 || flag == 4).await?;
        }
        p.keep(10, &());
        p.at(10).write(&self.flag[i], 0).await
    }
}

/// In which order [`FlagOfBits`] lowers its bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Intent, door in, door out: the original, according to the mCRL2 examples.
    IntentFirst,
    /// Door out, intent, door in.
    DoorOutFirst,
}

/// The five values of [`Flag`] as three bits, each written on its own, from the same paper.
///
/// ```text
/// 1  intent[i] := true
/// 2  for each j, wait until not (intent[j] and in[j])
/// 3  in[i] := true
/// 4  if intent[j] and not in[j] for some j
/// 5      intent[i] := false
/// 6      wait until out[j] for some j
/// 7      intent[i] := true
/// 8  out[i] := true
/// 9  for each j < i, wait until not in[j]
///    critical section
/// 10 for each j > i, wait until not in[j] or out[j]
/// 11 lower the three bits
/// ```
/// The paper was not at hand; this is the reading of the mCRL2 examples. We do not know which
/// registers it claims to work with.
pub(crate) struct FlagOfBits<M: Memory> {
    part: M::Part,
    n: usize,
    exit: Exit,
    intent: M::Row<bool>,
    door_in: M::Row<bool>,
    door_out: M::Row<bool>,
}

impl<M: Memory> FlagOfBits<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers, exit: Exit) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self {
            part: site.here(),
            n,
            exit,
            intent: site.row("intent", n, bit),
            door_in: site.row("in", n, bit),
            door_out: site.row("out", n, bit),
        }
    }
}

impl<M: ReadWrite> FlagOfBits<M> {
    async fn someone_comes(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        for j in others(self.n, p.pid().index()) {
            p.keep(41, &j);
            if p.at(41).read(&self.intent[j]).await? {
                p.keep(42, &j);
                if !p.at(42).read(&self.door_in[j]).await? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for FlagOfBits<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(1).write(&self.intent[i], true).await?;
        for j in others(self.n, i) {
            p.keep(2, &j);
            let may_pass = || async {
                let shut = p.at(21).read(&self.intent[j]).await? && p.at(22).read(&self.door_in[j]).await?;
                Ok((!shut).then_some(()))
            };
            p.spin_until(may_pass).await?;
        }
        p.keep(3, &());
        p.at(3).write(&self.door_in[i], true).await?;
        if self.someone_comes(p).await? {
            p.keep(5, &());
            p.at(5).write(&self.intent[i], false).await?;
            p.keep(6, &());
            p.spin_until(|| async {
                for j in others(self.n, i) {
                    if p.at(6).read(&self.door_out[j]).await? {
                        return Ok(Some(()));
                    }
                }
                Ok(None)
            })
            .await?;
            p.keep(7, &());
            p.at(7).write(&self.intent[i], true).await?;
        }
        p.keep(8, &());
        p.at(8).write(&self.door_out[i], true).await?;
        for j in 0..i {
            p.keep(9, &j);
            p.at(9).wait_until(&self.door_in[j], |up| !up).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let i = p.pid().index();

        for j in i + 1..self.n {
            p.keep(10, &j);
            let may_pass = || async {
                let passes = !p.at(101).read(&self.door_in[j]).await? || p.at(102).read(&self.door_out[j]).await?;
                Ok(passes.then_some(()))
            };
            p.spin_until(may_pass).await?;
        }
        let bits = match self.exit {
            Exit::IntentFirst => [&self.intent[i], &self.door_in[i], &self.door_out[i]],
            Exit::DoorOutFirst => [&self.door_out[i], &self.intent[i], &self.door_in[i]],
        };
        for (at, bit) in bits.into_iter().enumerate() {
            p.keep(11, &at);
            p.at(11).write(bit, false).await?;
        }
        Ok(())
    }
}

/// In which order statement 18 of [`ThreeBitLinearWait`] reads its two bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// First `w`, then `s`.
    WaitFirst,
    /// First `s`, then `w`.
    ShutFirst,
}

/// *Mutual Exclusion Revisited*, 1990: three bits with linear wait. `a`: arriving, `w`: waiting
/// inside, `s`: the door is shut by us.
///
/// ```text
/// 1  a[i] := true
/// 2  for each j, wait until not s[j]
/// 3  w[i] := true
/// 4  a[i] := false
/// 5  while not s[i]
/// 7      if not a[j] for all j
/// 9          s[i] := true
/// 11         if a[j] for some j
/// 12             s[i] := false
///            otherwise
/// 14             w[i] := false
/// 15             for each j, wait until not w[j]
/// 18     unless 15 was done: if not w[j] and s[j] for some j
/// 20         s[i] := true
/// 21         w[i] := false
/// 22 for each j < i, wait until not s[j]
///    critical section
/// 24 s[i] := false
/// ```
/// The paper was not at hand; this is the reading of the mCRL2 examples, with their numbers. We do
/// not know which registers it claims to work with.
pub(crate) struct ThreeBitLinearWait<M: Memory> {
    part: M::Part,
    n: usize,
    reads: Reads,
    a: M::Row<bool>,
    w: M::Row<bool>,
    s: M::Row<bool>,
}

impl<M: Memory> ThreeBitLinearWait<M> {
    pub(crate) fn new(site: &Site<'_, M>, n: usize, registers: Registers, reads: Reads) -> Self {
        let bit = |i| decl(false).home(Pid::new(i)).needs(needs(registers.one_writer, &BITS));
        Self {
            part: site.here(),
            n,
            reads,
            a: site.row("a", n, bit),
            w: site.row("w", n, bit),
            s: site.row("s", n, bit),
        }
    }
}

impl<M: ReadWrite> ThreeBitLinearWait<M> {
    /// Statements 7 and 11: whether a process arrives.
    async fn someone_arrives(&self, p: Here<'_, M>, label: u16) -> Result<bool, M::Error> {
        for j in others(self.n, p.pid().index()) {
            p.keep(label, &j);
            if p.at(label).read(&self.a[j]).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Statement 18: whether a process has shut the door and waits no more.
    async fn someone_leads(&self, p: Here<'_, M>) -> Result<bool, M::Error> {
        for j in others(self.n, p.pid().index()) {
            p.keep(18, &j);
            let leads = match self.reads {
                Reads::WaitFirst => !p.at(181).read(&self.w[j]).await? && p.at(182).read(&self.s[j]).await?,
                Reads::ShutFirst => p.at(181).read(&self.s[j]).await? && !p.at(182).read(&self.w[j]).await?,
            };
            if leads {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<M: ReadWrite> KExclusion<M> for ThreeBitLinearWait<M> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let p = p.on(self.part);
        let i = p.pid().index();

        p.at(1).write(&self.a[i], true).await?;
        for j in others(self.n, i) {
            p.keep(2, &j);
            p.at(2).wait_until(&self.s[j], |shut| !shut).await?;
        }
        p.keep(3, &());
        p.at(3).write(&self.w[i], true).await?;
        p.keep(4, &());
        p.at(4).write(&self.a[i], false).await?;
        loop {
            if !self.someone_arrives(p, 7).await? {
                p.keep(9, &());
                p.at(9).write(&self.s[i], true).await?;
                if !self.someone_arrives(p, 11).await? {
                    p.keep(14, &());
                    p.at(14).write(&self.w[i], false).await?;
                    for j in others(self.n, i) {
                        p.keep(15, &j);
                        p.at(15).wait_until(&self.w[j], |waits| !waits).await?;
                    }
                    break;
                }
                p.keep(12, &());
                p.at(12).write(&self.s[i], false).await?;
            }
            if self.someone_leads(p).await? {
                p.keep(20, &());
                p.at(20).write(&self.s[i], true).await?;
                p.keep(21, &());
                p.at(21).write(&self.w[i], false).await?;
                break;
            }
        }
        for j in 0..i {
            p.keep(22, &j);
            p.at(22).wait_until(&self.s[j], |shut| !shut).await?;
        }
        Ok(())
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(24).write(&self.s[p.pid().index()], false).await
    }
}
