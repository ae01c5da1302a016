//! Safe bits are enough: one for each process, or three.
//!
//! # Source
//! Lamport, *The Mutual Exclusion Problem, Part II*, Journal of the ACM 33(2), 1986. His Bakery
//! (1974) and his fast mutex (1987) are in the catalogue (`bakery`, `lamport-fast`).
//!
//! # Idea
//! One bit: a process raises its bit, and lowers it again for a process with a smaller name. Then
//! it waits for those with larger names. Three bits: competitors (`y`) stand in a circle that
//! starts at a first one, `f`. The bits `z` determine `f`, and a passage moves it on. Every process
//! waits for the competitors between `f` and itself.
//!
//! ```text
//! One bit
//! 1  x[i] := true
//! 2  for each j < i, if x[j]
//! 3      x[i] := false
//! 4      wait until not x[j], then go to 1
//! 5  for each j > i, wait until not x[j]
//!    critical section
//! 6  x[i] := false
//!
//! Three bits
//! 1  y[i] := true
//! 2  x[i] := true
//! 3  for each j (i too), read y[j], and if it is up z[j]; f := the first of those with y up whose
//!    z differs from that of the one before, where the smallest counts as differing from the
//!    largest if they are equal
//! 4  for each j in the circle from f up to but not including i, if y[j]
//! 5      x[i] := false unless it is, then go to 3
//! 6  if x[i] is false go to 2
//! 7  for each j in the circle after i up to but not including f, if x[j] go to 3
//!    critical section
//! 8  z[i] := not z[i]
//! 9  x[i] := false
//! 10 y[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `x[i]`, `y[i]`, `z[i]` | bool | false | i |
//!
//! # Claims
//! Mutual exclusion without deadlock, for safe bits. With three bits, without starvation too; with
//! one, the first process can always go first.

use crate::MOST;
use doorway_check::prelude::*;

/// A bit that need only be safe.
fn safe<'a>() -> Decl<'a, bool> {
    decl(false).needs(Needs::Safe(Domain::Of(&[false, true])))
}

lock! {
    /// The one-bit algorithm for `n` processes.
    pub struct OneBit(n: usize): ReadWrite { x: [bool; n] = safe() }
    acquire(self, p) {
        let i = p.pid().index();
        'one: loop {
            p.at(1).write(&self.x[i], true).await?;
            for j in 0..i {
                if p.at(2).read(&self.x[j]).await? {
                    p.at(3).write(&self.x[i], false).await?;
                    p.at(4).wait_until(&self.x[j], |x| !x).await?;
                    continue 'one;
                }
            }
            break;
        }
        for j in i + 1..self.n {
            p.at(5).wait_until(&self.x[j], |x| !x).await?;
        }
    }
    release(self, p) {
        p.at(6).write(&self.x[p.pid().index()], false).await?;
    }
}

/// The processes from one to another around the circle of all `n`, the last one excluded.
fn circle(n: usize, from: usize, to: usize) -> impl Iterator<Item = usize> {
    (0..(to + n - from) % n).map(move |step| (from + step) % n)
}

/// The first competitor at a place where `z` changes, given the `z` of each competitor. There is
/// one: around the circle, the number of such places is odd.
fn first(z: &[Option<bool>]) -> usize {
    let competitors = || z.iter().enumerate().filter_map(|(j, z)| Some((j, (*z)?)));
    let (_, last) = competitors().next_back().expect("a process sees itself");
    let before = std::iter::once(!last).chain(competitors().map(|(_, z)| z));
    let changes = before.zip(competitors()).find(|(before, (_, z))| before != z);
    changes.expect("an odd number of places is not none").1.0
}

lock! {
    /// The three-bit algorithm for `n` processes.
    pub struct ThreeBit(n: usize): ReadWrite { x: [bool; n] = safe(), y: [bool; n] = safe(), z: [bool; n] = safe() }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.y[i], true).await?;
        'two: loop {
            p.at(2).write(&self.x[i], true).await?;
            let mut up = true;
            'three: loop {
                let mut competitors = [None; MOST];
                for (j, z) in competitors.iter_mut().enumerate().take(n) {
                    if j == i || p.at(31).read(&self.y[j]).await? {
                        *z = Some(p.at(32).read(&self.z[j]).await?);
                    }
                }
                let f = first(&competitors);
                for j in circle(n, f, i) {
                    if p.at(4).read(&self.y[j]).await? {
                        if up {
                            p.at(5).write(&self.x[i], false).await?;
                            up = false;
                        }
                        continue 'three;
                    }
                }
                if !up {
                    continue 'two;
                }
                for j in circle(n, (i + 1) % n, f) {
                    if p.at(7).read(&self.x[j]).await? {
                        continue 'three;
                    }
                }
                break 'two;
            }
        }
    }
    release(self, p) {
        let i = p.pid().index();
        let z = p.at(81).read(&self.z[i]).await?;
        p.at(82).write(&self.z[i], !z).await?;
        p.at(9).write(&self.x[i], false).await?;
        p.at(10).write(&self.y[i], false).await?;
    }
}
