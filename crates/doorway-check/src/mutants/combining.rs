//! Software combining with faults, of the registry's maps.

use super::arbitration_tree::{self, ArbitrationTree};
use super::two_process::{self, TwoProcess};
use crate::sim::{Part, Sim, SimTable, SimVar};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Here, Label, Mark, Pid, Process, Site, Word, decl};
use doorway_core::mutex::yang_anderson_93::{Affine, Combinable, Map, map_of};
use doorway_core::mutex::{Node, levels};
use std::convert::Infallible;

type Maps = Affine<5>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    /// 12 and 13 after 14.
    NoteAfterLeave,
    /// 13 before 12.
    NoteBeforeResult,
    /// 2 after 3.
    AsksLate,
    /// No 4: does not look for the note.
    NoFour,
    /// No 1: an old note stays.
    NoOne,
    /// The note is a value of the spin variable that 14 of the node writes.
    NoteInSpin,
    /// 8 and 9 also where something was captured before.
    CapturesTwice,
    /// 12 forgets what is applied before.
    ForgetsOrder,
    /// The captured operation is composed the other way round.
    Backwards,
    /// 10 before the climb.
    ReadsEarly,
    /// No 13: nobody is told.
    NoThirteen,
    /// No 14: nobody leaves.
    NoFourteen,
    /// From the leaf to the root.
    LeafFirst,
    /// The root is no node.
    NoRoot,
}

#[derive(Clone, Copy, Debug)]
struct Captured {
    whose: Pid,
    before: Map,
}

type Captures = [Option<Captured>; 16];

pub(super) struct Calls {
    part: Part,
    tree: ArbitrationTree<TwoProcess>,
    v: SimVar<u64>,
    req: SimTable<Map>,
    res: SimTable<u64>,
    done: SimTable<bool>,
    fault: Fault,
}

impl Calls {
    pub(super) fn new(site: &Site<'_, Sim>, n: usize, fault: Fault) -> Self {
        let height = levels(n);
        let tree = if fault == Fault::NoRoot { arbitration_tree::Fault::NoRoot } else { arbitration_tree::Fault::None };
        Self {
            part: site.here(),
            v: site.var("V", 0),
            req: site.table("Req", 0..n, height, decl(Map::unpack(0))),
            res: site.table("Res", 0..n, height, decl(0)),
            done: site.table("Done", 0..n, height, false),
            tree: ArbitrationTree::of_two_process(site, n, tree, two_process::Fault::None),
            fault,
        }
    }

    /// What is still of use at a level on the way out: that of the levels to come.
    fn still<'c>(&self, level: usize, top: usize, captured: &'c Captures) -> (usize, &'c [Option<Captured>]) {
        if self.fault == Fault::LeafFirst { (top, &captured[level..]) } else { (0, &captured[..=level]) }
    }

    async fn note(
        &self,
        here: Here<'_, Sim>,
        (level, top): (usize, usize),
        value: u64,
        captured: &Captures,
    ) -> Result<(), Infallible> {
        let Some(Captured { whose, before }) = captured[level] else { return Ok(()) };
        let result = if self.fault == Fault::ForgetsOrder { value } else { Maps::apply(before, value) };
        let (res, done) = (&self.res[(whose.index(), level)], &self.done[(whose.index(), level)]);
        if self.fault == Fault::NoteBeforeResult {
            here.keep(13, &(level, value, self.still(level, top, captured)));
            here.at(13).write(done, true).await?;
        }
        here.keep(12, &(level, value, self.still(level, top, captured)));
        here.at(12).write(res, result).await?;
        if !matches!(self.fault, Fault::NoteInSpin | Fault::NoThirteen | Fault::NoteBeforeResult) {
            here.keep(13, &(level, value, self.still(level, top, captured)));
            here.at(13).write(done, true).await?;
        }
        Ok(())
    }

    async fn capture(
        &self,
        here: Here<'_, Sim>,
        at: Label,
        (level, node): (usize, &TwoProcess),
        all: &mut Map,
        captured: &mut Captures,
    ) -> Result<(), Infallible> {
        here.keep(at, &(level, *all, &*captured));
        let whose = here.at(at).read(node.signed()).await?;
        if whose != here.pid() {
            here.keep(at + 1, &(level, *all, &*captured, whose));
            let theirs = here.at(at + 1).read(&self.req[(whose.index(), level)]).await?;
            captured[level] = Some(Captured { whose, before: *all });
            *all =
                if self.fault == Fault::Backwards { Maps::compose(theirs, *all) } else { Maps::compose(*all, theirs) };
        }
        Ok(())
    }
}

impl KExclusion<Sim> for Calls {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let here = p.on(self.part);
        let me = p.pid().index();
        let op = map_of(p.pid());
        here.invokes(op);

        let mut all = op;
        let mut captured: Captures = [None; 16];
        let mut applied = None;
        let early = if self.fault == Fault::ReadsEarly { Some(here.at(10).read(&self.v).await?) } else { None };
        for (level, node, side) in self.tree.path(me) {
            if self.fault != Fault::NoOne {
                here.keep(1, &(level, all, &captured[..level], early));
                here.at(1).write(&self.done[(me, level)], false).await?;
            }
            if self.fault != Fault::AsksLate {
                here.keep(2, &(level, all, &captured[..level], early));
                here.at(2).write(&self.req[(me, level)], all).await?;
            }
            here.mark(Mark::Rests(3));
            here.keep(3, &(level, all, &captured[..level], early));
            here.part(&(level, all, &captured[..level], early));
            node.enter(p, side).await?;
            here.part_done();
            if self.fault == Fault::AsksLate {
                here.keep(2, &(level, all, &captured[..level], early));
                here.at(2).write(&self.req[(me, level)], all).await?;
            }
            here.keep(4, &(level, all, &captured[..level], early));
            let noted = match self.fault {
                Fault::NoFour => false,
                Fault::NoteInSpin => here.at(4).read(node.spin(p.pid())).await? == TwoProcess::NEWS,
                _ => here.at(4).read(&self.done[(me, level)]).await?,
            };
            if noted {
                here.keep(5, &(level, &captured[..level]));
                applied = Some((level, here.at(5).read(&self.res[(me, level)]).await?));
                break;
            }
            here.part(&early);
            self.capture(here, 6, (level, node), &mut all, &mut captured).await?;
            here.part_done();
        }

        let (top, value) = match applied {
            Some(by_another) => by_another,
            None => {
                for (level, node, _) in self.tree.path(me) {
                    if captured[level].is_none() || self.fault == Fault::CapturesTwice {
                        here.part(&early);
                        self.capture(here, 8, (level, node), &mut all, &mut captured).await?;
                        here.part_done();
                    }
                }
                here.keep(10, &(all, &captured, early));
                let value = match early {
                    Some(value) => value,
                    None => here.at(10).read(&self.v).await?,
                };
                here.keep(11, &(value, all, &captured));
                here.at(11).write(&self.v, Maps::apply(all, value)).await?;
                (16, value)
            }
        };

        let mut path = self.tree.path(me);
        if self.fault != Fault::LeafFirst {
            path.reverse();
        }
        for (level, node, side) in path.into_iter().filter(|&(level, ..)| level <= top) {
            if self.fault != Fault::NoteAfterLeave {
                self.note(here, (level, top), value, &captured).await?;
            }
            let upwards = self.fault == Fault::LeafFirst;
            let rest = if upwards { (top, &captured[level..]) } else { (0, &captured[..level]) };
            let here_too = matches!(self.fault, Fault::NoteAfterLeave | Fault::NoteInSpin).then_some(captured[level]);
            here.mark(Mark::Rests(14));
            here.keep(14, &(level, value, rest, here_too));
            here.part(&(level, value, rest, here_too));
            match self.fault {
                Fault::NoFourteen => {}
                Fault::NoteInSpin => node.leave_with_news(p, side, captured[level].map(|c| c.whose)).await?,
                _ => node.leave(p, side).await?,
            }
            here.part_done();
            if self.fault == Fault::NoteAfterLeave {
                self.note(here, (level, top), value, &captured).await?;
            }
        }
        here.responds(value);
        Ok(())
    }

    async fn release(&self, _: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        Ok(())
    }
}
