//! Yang and Anderson's Figure 4 with faults.

use super::arbitration_tree::{self, ArbitrationTree};
use super::two_process::{self, TwoProcess};
use crate::sim::{Part, Sim, SimCell, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Pid, Process, Site, decl};
use doorway_core::mutex::yang_anderson_93::Way;
use doorway_core::mutex::{Node, Side};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    TwoBeforeOne,
    FourBeforeThree,
    SixBeforeFive,
    NoSix,
    NoSeven,
    EightBeforeTheTop,
    NoNine,
    NoTwentyTwo,
    ScanBeforeZ,
    NoScan,
    NoTwentySeven,
    OpensAfterTheTop,
    OpensAfterTheTree,
    NeverOpens,
    NoTree,
    NoTop,
    WaitsToLeave,
}

pub(super) struct FastPath {
    part: Part,
    n: usize,
    x: SimVar<Pid>,
    y: SimVar<Option<Pid>>,
    z: SimVar<bool>,
    b: Vec<SimCell<bool>>,
    top: TwoProcess,
    tree: ArbitrationTree<TwoProcess>,
    fault: Fault,
}

impl FastPath {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault, node: two_process::Fault) -> Self {
        Self {
            part: site.here(),
            n,
            x: site.var("X", Pid::new(0)),
            y: site.var("Y", None),
            z: site.var("Z", false),
            b: site.row("B", n, |i| decl(false).home(Pid::new(i))),
            top: TwoProcess::between(&site.part("node", Some(0)), 0..n, None, node),
            tree: ArbitrationTree::of_two_process(&site.part("slow", None), n, arbitration_tree::Fault::None, node),
            fault,
        }
    }

    async fn is_alone(&self, p: &Process<Sim>) -> Result<bool, Infallible> {
        let p = p.on(self.part);
        let me = p.pid();
        let f = self.fault;
        let mut closed = false;
        if f == Fault::TwoBeforeOne {
            closed = p.at(2).read(&self.y).await?.is_some();
            p.keep(1, &closed);
        }
        p.at(1).write(&self.x, me).await?;
        if f != Fault::TwoBeforeOne {
            p.keep(2, &());
            closed = p.at(2).read(&self.y).await?.is_some();
        }
        if closed {
            return Ok(false);
        }
        let mut last = me;
        if f == Fault::FourBeforeThree {
            p.keep(4, &());
            last = p.at(4).read(&self.x).await?;
        }
        p.keep(3, &last);
        p.at(3).write(&self.y, Some(me)).await?;
        if f != Fault::FourBeforeThree {
            p.keep(4, &());
            last = p.at(4).read(&self.x).await?;
        }
        if last != me {
            return Ok(false);
        }
        let mut opening = false;
        if f == Fault::SixBeforeFive {
            p.keep(6, &());
            opening = p.at(6).read(&self.z).await?;
        }
        p.keep(5, &opening);
        p.at(5).write(&self.b[me.index()], true).await?;
        if !matches!(f, Fault::SixBeforeFive | Fault::NoSix) {
            p.keep(6, &());
            opening = p.at(6).read(&self.z).await?;
        }
        if opening {
            return Ok(false);
        }
        if f == Fault::NoSeven {
            return Ok(true);
        }
        p.keep(7, &());
        Ok(p.at(7).read(&self.y).await? == Some(me))
    }

    async fn open(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let p = p.on(self.part);
        let me = p.pid();
        let f = self.fault;
        if f == Fault::NeverOpens {
            return Ok(());
        }
        if f != Fault::NoTwentyTwo {
            p.keep(22, &());
            if p.at(22).read(&self.x).await? != me {
                return Ok(());
            }
        }
        if f != Fault::ScanBeforeZ {
            p.keep(23, &());
            p.at(23).write(&self.z, true).await?;
        }
        let mut is_free = true;
        for i in (0..self.n).filter(|&i| i != me.index() && f != Fault::NoScan) {
            p.keep(24, &(i, is_free));
            is_free &= !p.at(24).read(&self.b[i]).await?;
        }
        if f == Fault::ScanBeforeZ {
            p.keep(23, &is_free);
            p.at(23).write(&self.z, true).await?;
        }
        if is_free {
            p.keep(26, &());
            p.at(26).write(&self.y, None).await?;
        }
        if f == Fault::NoTwentySeven {
            return Ok(());
        }
        p.keep(27, &());
        p.at(27).write(&self.z, false).await
    }

    /// 21 to 27.
    async fn ends_slow(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(self.part);
        here.keep(21, &());
        here.at(21).write(&self.b[p.pid().index()], false).await?;
        here.part(&());
        self.open(p).await?;
        here.part_done();
        Ok(())
    }
}

impl KExclusion<Sim> for FastPath {
    type Held = Way;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Way, Failure<Infallible>> {
        let here = p.on(self.part);
        let (way, side) = if self.is_alone(p).await? {
            here.mark(Mark::Rests(10));
            (Way::Fast, Side::Left)
        } else {
            here.mark(Mark::Rests(12));
            here.keep(12, &());
            if self.fault != Fault::NoTree {
                here.part(&());
                self.tree.acquire(p).await?;
                here.part_done();
            }
            here.mark(Mark::Rests(13));
            (Way::Slow, Side::Right)
        };
        if self.fault != Fault::NoTop {
            here.keep(10, &way);
            here.part(&way);
            self.top.enter(p, side).await?;
            here.part_done();
        }
        Ok(way)
    }

    async fn release(&self, p: &Process<Sim>, way: Way) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let f = self.fault;
        let i = p.pid().index();
        if f == Fault::WaitsToLeave {
            here.at(21).wait_until(&self.b[(i + 1) % self.n], |b| !b).await?;
            here.keep(21, &way);
        }
        match way {
            Way::Fast => {
                if f == Fault::EightBeforeTheTop {
                    here.mark(Mark::Rests(10));
                    here.at(8).write(&self.y, None).await?;
                    here.mark(Mark::Rests(10));
                    here.keep(10, &"opened");
                }
                if f != Fault::NoTop {
                    here.part(&way);
                    self.top.leave(p, Side::Left).await?;
                    here.part_done();
                }
                if f != Fault::EightBeforeTheTop {
                    here.mark(Mark::Rests(8));
                    here.keep(8, &way);
                    here.at(8).write(&self.y, None).await?;
                }
                if f == Fault::NoNine {
                    return Ok(());
                }
                here.mark(Mark::Rests(9));
                here.keep(9, &way);
                here.at(9).write(&self.b[i], false).await
            }
            Way::Slow => {
                let late = matches!(f, Fault::OpensAfterTheTop | Fault::OpensAfterTheTree);
                if !late {
                    self.ends_slow(p).await?;
                }
                if f != Fault::NoTop {
                    here.mark(Mark::Rests(28));
                    here.keep(28, &way);
                    here.part(&way);
                    self.top.leave(p, Side::Right).await?;
                    here.part_done();
                }
                if f == Fault::OpensAfterTheTop {
                    self.ends_slow(p).await?;
                }
                if f != Fault::NoTree {
                    here.mark(Mark::Rests(29));
                    here.keep(29, &());
                    here.part(&());
                    self.tree.release(p, ()).await?;
                    here.part_done();
                }
                if f == Fault::OpensAfterTheTree {
                    self.ends_slow(p).await?;
                }
                Ok(())
            }
        }
    }
}
