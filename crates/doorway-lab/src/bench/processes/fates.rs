//! What happens to units when processes are killed: each peer, in each case, once.

use super::gates::Peer;
use super::party::Role;
use super::scene::{Cast, Party, Scene, eventually};
use crate::bench::Effort;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// Which process is killed, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// The only holder, while another process waits.
    WhileOneWaits,
    /// The only holder; then another process asks.
    BeforeOneAsks,
    /// The only holder, which has forked a process that lives on.
    WithAChild,
    /// A waiter; then the holder leaves, and another process asks.
    WhileWaiting,
}

impl Case {
    /// In the order of the table.
    pub const ALL: [Self; 4] = [Self::WhileOneWaits, Self::BeforeOneAsks, Self::WithAChild, Self::WhileWaiting];
}

/// What happened to the unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The next holder got it.
    ComesBack,
    /// The next holder got it only when the child of the dead one was gone too.
    Stuck,
    /// No process got it.
    Lost,
}

/// What happens to a peer's units.
#[derive(Clone, Debug, Serialize)]
pub struct Fate {
    /// The peer.
    pub peer: &'static str,
    /// In each case.
    pub cases: Vec<(Case, Outcome)>,
    /// Whether the holder after a dead one was told.
    pub told: bool,
    /// Whether a holder knows which unit it has.
    pub slot_number: bool,
    /// How many units there were before all holders were killed.
    pub units: usize,
    /// How many could be acquired afterwards.
    pub left: usize,
}

impl Peer {
    /// The expected outcome. It only decides how long to wait for the unit: a unit that is not
    /// expected to come back gets less time.
    fn is_expected(self, case: Case) -> Outcome {
        match (self, case) {
            (_, Case::WhileWaiting) => Outcome::ComesBack,
            (Self::Posix | Self::Jobserver, _) => Outcome::Lost,
            (Self::Flock, Case::WithAChild) => Outcome::Stuck,
            _ => Outcome::ComesBack,
        }
    }
}

const STAYS: Role = Role::Stays { forks: false };
/// How long to wait for what should come.
const LONG: Duration = Duration::from_secs(30);

/// How the table is made.
#[derive(Clone, Copy)]
struct Trial<'a> {
    cast: Cast<'a>,
    /// How long to wait for what should not come.
    short: Duration,
}

/// One of our processes that has lost its parent.
struct Orphan(i32);

impl Drop for Orphan {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.0) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl<'a> Trial<'a> {
    fn enters(self, scene: &Scene<'a>, seat: usize, role: Role) -> io::Result<Party> {
        let party = scene.starts(seat, role)?;
        if Scene::sees_mark(&scene.seat(&party).stays, LONG) {
            Ok(party)
        } else {
            Err(io::Error::other("a holder did not get in"))
        }
    }

    fn asks(self, scene: &Scene<'a>, seat: usize) -> io::Result<Party> {
        let party = scene.starts(seat, STAYS)?;
        if !Scene::sees(&scene.seat(&party).asked, LONG) {
            return Err(io::Error::other("a process did not begin"));
        }
        Ok(party)
    }

    fn waits(self, scene: &Scene<'a>, seat: usize) -> io::Result<Party> {
        let party = self.asks(scene, seat)?;
        party.wait_until_asleep();
        Ok(party)
    }

    /// What happened to the unit, and whether the next holder was told.
    fn run(self, peer: Peer, case: Case) -> io::Result<(Outcome, bool)> {
        let scene = Scene::new(self.cast, peer, 1)?;
        let forks = case == Case::WithAChild;
        let mut holder = self.enters(&scene, 0, Role::Stays { forks })?;
        let orphan = forks.then(|| Orphan(scene.seat(&holder).forked.load(SeqCst)));
        let next = match case {
            Case::WhileOneWaits => {
                let next = self.waits(&scene, 1)?;
                drop(holder);
                next
            }
            Case::BeforeOneAsks | Case::WithAChild => {
                drop(holder);
                self.asks(&scene, 1)?
            }
            Case::WhileWaiting => {
                drop(self.waits(&scene, 1)?);
                scene.ends();
                if !holder.ends_within(LONG) {
                    return Err(io::Error::other("the holder did not come out"));
                }
                self.asks(&scene, 2)?
            }
        };
        let seat = scene.seat(&next);
        let limit = if peer.is_expected(case) == Outcome::ComesBack { LONG } else { self.short };
        if Scene::sees(&seat.granted, limit) {
            return Ok((Outcome::ComesBack, seat.told.load(SeqCst) != 0));
        }
        let had_child = orphan.is_some();
        drop(orphan);
        let limit = if peer.is_expected(case) == Outcome::Stuck { LONG } else { self.short };
        let stuck = had_child && Scene::sees(&seat.granted, limit);
        Ok((if stuck { Outcome::Stuck } else { Outcome::Lost }, false))
    }

    /// Kills a holder of each unit; then one more process asks than there are units. Returns the
    /// number of units, and how many processes got in.
    fn kills_all(self, peer: Peer) -> io::Result<(usize, usize)> {
        const UNITS: usize = 4;
        let scene = Scene::new(self.cast, peer, UNITS)?;
        let holders: io::Result<Vec<_>> = (0..scene.k).map(|seat| self.enters(&scene, seat, STAYS)).collect();
        drop(holders?);
        let askers: io::Result<Vec<_>> = (0..=scene.k).map(|i| self.asks(&scene, scene.k + i)).collect();
        let askers = askers?;
        let inside = || askers.iter().filter(|party| scene.seat(party).granted.load(SeqCst) != 0).count();
        let survives = peer.is_expected(Case::BeforeOneAsks) == Outcome::ComesBack;
        eventually(if survives { LONG } else { self.short }, || inside() >= scene.k);
        // One too many would be in by now.
        std::thread::sleep(self.short / 10);
        Ok((scene.k, inside()))
    }

    fn fate(self, peer: Peer) -> io::Result<Fate> {
        let (mut cases, mut told) = (Vec::new(), false);
        for case in Case::ALL {
            let (outcome, is_told) = self.run(peer, case)?;
            cases.push((case, outcome));
            told |= is_told;
        }
        let (units, left) = self.kills_all(peer)?;
        Ok(Fate { peer: peer.name(), cases, told, slot_number: peer.numbers_slots(), units, left })
    }
}

/// All peers, one after the other. If a peer breaks down, or lets too many in, that is added to
/// `faults`.
pub(super) fn table(cast: Cast<'_>, effort: &Effort, faults: &mut Vec<String>) -> Vec<Fate> {
    let short = Duration::from_millis(if effort.tiny { 100 } else { 1000 });
    let mut fates = Vec::new();
    for peer in Peer::MAIN {
        match (Trial { cast, short }).fate(peer) {
            Ok(fate) => {
                if fate.left > fate.units {
                    faults.push(format!("{}: {} of {} units were left", fate.peer, fate.left, fate.units));
                }
                fates.push(fate);
            }
            Err(error) => faults.push(format!("{}, when processes are killed: {error}", peer.name())),
        }
    }
    fates
}
