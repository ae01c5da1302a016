//! The cost of getting in and out without another process.

use super::gates::{Peer, Room, with_gate};
use crate::bench::Effort;
use crate::bench::alone::{Alone, CONTROL, PeerAlone, contest, way};
use crate::measure;

const K: usize = 4;

/// All peers that the system offers; the last is the control.
fn peers() -> Vec<(&'static str, Peer)> {
    let mut peers = Peer::MAIN.to_vec();
    peers.insert(1, Peer::DoorwayUntimed);
    let control = *peers.last().expect("there are peers");
    peers.into_iter().map(|peer| (peer.name(), peer)).chain([(CONTROL, control)]).collect()
}

fn passes(name: &'static str, peer: Peer, times: u32) -> std::io::Result<PeerAlone> {
    with_gate!(peer, G => Ok(way(name, times, Room::<G>::new(peer.units(K))?)))
}

/// What could be measured, and why the rest could not.
pub(super) fn contests(effort: &Effort) -> (Vec<Alone>, Vec<String>) {
    let effort = *effort;
    let times = effort.rounds.clamp(1, 20_000);
    let measure = move || {
        measure::pin(0);
        let (mut ways, mut faults) = (Vec::new(), Vec::new());
        for (name, peer) in peers() {
            match passes(name, peer, times) {
                Ok(way) => ways.push(way),
                Err(error) => faults.push(format!("{name}, alone: {error}")),
            }
        }
        // Without the last two there is no control, and so no figure.
        let complete = ways.len() >= 2 && ways.last().is_some_and(|(name, _)| *name == CONTROL);
        let contests =
            if complete { vec![contest("acquire and release", K, times, &effort, ways)] } else { Vec::new() };
        (contests, faults)
    };
    std::thread::spawn(measure).join().expect("a process that is alone does not wait")
}

/// Makes this many passages through one peer, and does nothing else, so that instructions can be
/// counted. Returns `false` if there is no peer of that name.
#[must_use]
pub fn pass_alone(peer: &str, times: u32) -> bool {
    let found = peers().into_iter().find(|(name, _)| *name == peer);
    let way = found.and_then(|(name, peer)| passes(name, peer, times).ok());
    way.is_some_and(|(_, mut passes)| {
        passes();
        true
    })
}

impl super::Report {
    /// Counts instructions for every peer alone, without those of the kernel. `count` runs
    /// [`pass_alone`] in a program of its own, and returns how many instructions this program
    /// executed.
    pub fn count_instructions(&mut self, count: impl Fn(&str, u32) -> Option<u64>) {
        self.alone.iter_mut().for_each(|contest| contest.count_instructions(&count));
    }
}
