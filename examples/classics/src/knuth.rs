//! The first solution without starvation, and a fairer one.
//!
//! # Source
//! - [`Knuth`]: Knuth, *Additional Comments on a Problem in Concurrent Programming Control*,
//!   Communications of the ACM 9(5), 1966.
//! - [`DeBruijn`]: de Bruijn, a letter with the same title, Communications of the ACM 10(3), 1967.
//! - [`EisenbergMcGuire`]: Eisenberg and McGuire, *Further Comments on Dijkstra's Concurrent
//!   Programming Control Problem*, Communications of the ACM 15(11), 1972.
//!
//! # Idea
//! Processes stand in a circle, and `k` names the one with the highest priority. A process waits
//! until all processes from `k` up to itself are idle, announces that it got through, and starts
//! again if another process did too. The three differ in how `k` moves. Knuth's moves to the
//! neighbour of the process that leaves; a process may wait for 2^(n-1) - 1 others. De Bruijn's
//! moves only past the favourite itself, or past an idle one. Eisenberg and McGuire's moves to the
//! next process that wants in, so that none waits for more than n - 1 others.
//!
//! ```text
//! Knuth                                        de Bruijn, where it differs
//! 1  control[i] := 1
//! 2  for j := k, k - 1, ... cyclically up to i
//!        if control[j] /= 0 start 2 again
//! 3  control[i] := 2
//! 4  for each other j, downwards,
//!        if control[j] = 2 go to 1
//! 5  k := i                                    (not there)
//!    critical section
//! 6  k := the name before i, cyclically        6  if control[k] = 0 or k = i, k := the name before k
//! 7  control[i] := 0
//!
//! Eisenberg and McGuire
//! 1  control[i] := 1
//! 2  for j := k, k + 1, ... cyclically up to i
//!        if control[j] /= 0 start 2 again
//! 3  control[i] := 2
//! 4  for each other j, if control[j] = 2 go to 1
//! 5  if control[k] /= 0 and k /= i go to 1
//! 6  k := i
//!    critical section
//! 7  k := the first after k, cyclically, with control /= 0 (perhaps i itself)
//! 8  control[i] := 0
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by | meaning |
//! | --- | --- | --- | --- | --- |
//! | `control[i]` | 0, 1, 2 | 0 | i | idle; wants in; got through |
//! | `k` | names | 0 | all; one at a time is past 4 | the favourite |
//!
//! # Claims
//! Mutual exclusion without deadlock and starvation, for atomic registers.

use doorway_check::prelude::*;

const IDLE: u64 = 0;
const WANTS: u64 = 1;
const THROUGH: u64 = 2;

fn control<'a>() -> Decl<'a, u64> {
    decl(IDLE).ranges_over(Domain::Of(&[IDLE, WANTS, THROUGH]))
}

/// The name before this one in the circle.
fn before(j: usize, n: usize) -> usize {
    (j + n - 1) % n
}

lock! {
    /// Knuth's algorithm for `n` processes.
    pub struct Knuth(n: usize): ReadWrite { control: [u64; n] = control(), k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.at(1).write(&self.control[i], WANTS).await?;
            'two: loop {
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        continue 'two;
                    }
                    j = before(j, n);
                }
                break;
            }
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in (0..n).rev().filter(|&j| j != i) {
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            break;
        }
        p.at(5).write(&self.k, p.pid()).await?;
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(6).write(&self.k, Pid::new(before(i, self.n))).await?;
        p.at(7).write(&self.control[i], IDLE).await?;
    }
}

lock! {
    /// De Bruijn's algorithm for `n` processes.
    pub struct DeBruijn(n: usize): ReadWrite { control: [u64; n] = control(), k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.at(1).write(&self.control[i], WANTS).await?;
            'two: loop {
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        continue 'two;
                    }
                    j = before(j, n);
                }
                break;
            }
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in (0..n).rev().filter(|&j| j != i) {
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            break;
        }
    }
    release(self, p) {
        let i = p.pid().index();
        let k = p.at(61).read(&self.k).await?.index();
        if k == i || p.at(62).read(&self.control[k]).await? == IDLE {
            p.at(63).write(&self.k, Pid::new(before(k, self.n))).await?;
        }
        p.at(7).write(&self.control[i], IDLE).await?;
    }
}

lock! {
    /// Eisenberg and McGuire's algorithm for `n` processes.
    pub struct EisenbergMcGuire(n: usize): ReadWrite { control: [u64; n] = control(), k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.at(1).write(&self.control[i], WANTS).await?;
            'two: loop {
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        continue 'two;
                    }
                    j = (j + 1) % n;
                }
                break;
            }
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in crate::others(n, i) {
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            let k = p.at(51).read(&self.k).await?.index();
            if k == i || p.at(52).read(&self.control[k]).await? == IDLE {
                break;
            }
        }
        p.at(6).write(&self.k, p.pid()).await?;
    }
    release(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        let mut j = (p.at(71).read(&self.k).await?.index() + 1) % n;
        while p.at(72).read(&self.control[j]).await? == IDLE {
            j = (j + 1) % n;
        }
        p.at(73).write(&self.k, Pid::new(j)).await?;
        p.at(8).write(&self.control[i], IDLE).await?;
    }
}
