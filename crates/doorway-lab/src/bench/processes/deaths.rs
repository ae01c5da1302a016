//! The time from the death of a holder until the next one is in.

use super::gates::Peer;
use super::party::{Role, clock_ns};
use super::scene::{Cast, Party, Scene};
use crate::bench::Effort;
use crate::bench::alone::CONTROL;
use serde::Serialize;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// The peers that survive the death of a holder; the last is the control, a second copy of the
/// first.
const SURVIVORS: [(&str, Peer); 5] =
    [("", Peer::Doorway), ("", Peer::SysV), ("", Peer::Robust), ("", Peer::Flock), (CONTROL, Peer::Doorway)];

/// A holder is killed while one waiter sleeps.
#[derive(Clone, Debug, Serialize)]
pub struct Deaths {
    /// How often each peer's holder was killed.
    pub trials: usize,
    /// The median of a second copy of our slots, divided by that of our slots.
    pub control: f64,
    /// The peers.
    pub peers: Vec<DeathStanding>,
}

/// From just before the signal is sent until the next holder is in.
#[derive(Clone, Debug, Serialize)]
pub struct DeathStanding {
    /// The peer.
    pub peer: &'static str,
    /// How often the waiter got in.
    pub granted: usize,
    /// How many of those were told that the previous holder had died.
    pub told: usize,
    /// Half of the waiters were in after this time.
    pub p50_ns: f64,
    /// 99 of 100 waiters were in after this time.
    pub p99_ns: f64,
    /// All waiters were in after this time.
    pub max_ns: f64,
}

impl Deaths {
    pub(super) fn peer(&self, peer: Peer) -> Option<&DeathStanding> {
        self.peers.iter().find(|standing| standing.peer == peer.name())
    }
}

/// Holders that are killed one after the other: each waiter is the next holder.
struct Line<'a> {
    scene: Scene<'a>,
    holder: Party,
    taken: Vec<u64>,
    told: usize,
}

/// A waiter of a gate that survives gets in long before.
const NEVER: Duration = Duration::from_secs(30);
const STAYS: Role = Role::Stays { forks: false };

impl<'a> Line<'a> {
    fn new(cast: Cast<'a>, peer: Peer) -> io::Result<Self> {
        let scene = Scene::new(cast, peer, 1)?;
        let holder = scene.starts(0, STAYS)?;
        if !Scene::sees_mark(&scene.seat(&holder).stays, NEVER) {
            return Err(io::Error::other("the first holder did not get in"));
        }
        Ok(Self { scene, holder, taken: Vec::new(), told: 0 })
    }

    /// Kills the holder, and waits until the next one is in.
    fn goes_on(&mut self) -> io::Result<()> {
        let next = self.scene.starts(self.holder.seat + 1, STAYS)?;
        let seat = self.scene.seat(&next);
        if !Scene::sees(&seat.asked, NEVER) {
            return Err(io::Error::other("a waiter did not begin"));
        }
        next.wait_until_asleep();
        // The waiter may have slept for another reason than waiting.
        std::thread::sleep(Duration::from_millis(1));
        let killed = clock_ns();
        self.holder.kill();
        if !Scene::sees(&seat.granted, NEVER) {
            return Err(io::Error::other("a waiter did not get in after a death"));
        }
        self.taken.push(seat.granted.load(SeqCst).saturating_sub(killed));
        self.told += seat.told.load(SeqCst) as usize;
        self.holder = next;
        Ok(())
    }
}

/// This percentage of the values is no larger than this.
fn percentile(sorted: &[u64], share: usize) -> f64 {
    let rank = (sorted.len() * share).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(f64::NAN, |taken| *taken as f64)
}

fn standing(peer: &'static str, taken: &[u64], told: usize) -> DeathStanding {
    let mut sorted = taken.to_vec();
    sorted.sort_unstable();
    let [p50_ns, p99_ns, max_ns] = [50, 99, 100].map(|share| percentile(&sorted, share));
    DeathStanding { peer, granted: taken.len(), told, p50_ns, p99_ns, max_ns }
}

/// All peers in turns. A peer that breaks down has no further trials, and its fault is added to
/// `faults`.
pub(super) fn contest(cast: Cast<'_>, effort: &Effort, faults: &mut Vec<String>) -> Deaths {
    let trials = match (effort.tiny, effort.is_full()) {
        (true, _) => 2,
        (false, true) => 1000,
        (false, false) => 200,
    };
    let mut lines = Vec::new();
    for (name, peer) in SURVIVORS {
        let name = if name.is_empty() { peer.name() } else { name };
        match Line::new(cast, peer) {
            Ok(line) => lines.push((name, line, true)),
            Err(error) => faults.push(format!("{name}, deaths: {error}")),
        }
    }
    for _ in 0..trials {
        for (name, line, goes_on) in lines.iter_mut().filter(|(_, _, goes_on)| *goes_on) {
            if let Err(error) = line.goes_on() {
                faults.push(format!("{name}, deaths: {error}"));
                *goes_on = false;
            }
        }
    }
    let mut peers: Vec<_> = lines.iter().map(|(name, line, _)| standing(name, &line.taken, line.told)).collect();
    let twin = peers.pop_if(|standing| standing.peer == CONTROL);
    let mut deaths = Deaths { trials, control: f64::NAN, peers };
    if let (Some(twin), Some(ours)) = (twin, deaths.peer(Peer::Doorway)) {
        deaths.control = twin.p50_ns / ours.p50_ns;
    }
    deaths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let taken: Vec<u64> = (1..=200).rev().collect();
        let all = standing("", &taken, 7);
        assert_eq!((all.p50_ns, all.p99_ns, all.max_ns, all.granted, all.told), (100.0, 198.0, 200.0, 200, 7));
        let one = standing("", &[5], 0);
        assert_eq!((one.p50_ns, one.p99_ns, one.max_ns), (5.0, 5.0, 5.0));
        assert!(standing("", &[], 0).p50_ns.is_nan());
    }
}
