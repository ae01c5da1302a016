//! Five classics that say before each statement which of their locals still matter.
//!
//! What each paper says stands above its text in this package, which says nothing of the kind.

use doorway_check::prelude::*;

const IDLE: u64 = 0;
const WANTS: u64 = 1;
const THROUGH: u64 = 2;

lock! {
    pub struct Dekker: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, j) = (p.pid().index(), 1 - p.pid().index());
        p.at(1).write(&self.flag[i], true).await?;
        loop {
            p.keep(2, &());
            if !p.at(2).read(&self.flag[j]).await? {
                break;
            }
            p.keep(3, &());
            if p.at(3).read(&self.turn).await? != p.pid() {
                p.keep(4, &());
                p.at(4).write(&self.flag[i], false).await?;
                p.keep(5, &());
                p.at(5).wait_until(&self.turn, |turn| turn == p.pid()).await?;
                p.keep(6, &());
                p.at(6).write(&self.flag[i], true).await?;
            }
        }
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(7).write(&self.turn, Pid::new(1 - i)).await?;
        p.keep(8, &());
        p.at(8).write(&self.flag[i], false).await?;
    }
}

lock! {
    pub struct Knuth(n: usize): ReadWrite { control: [u64; n] = IDLE, k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.keep(1, &());
            p.at(1).write(&self.control[i], WANTS).await?;
            p.keep(2, &());
            p.spin_until(|| async {
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        return Ok(None);
                    }
                    j = (j + n - 1) % n;
                }
                Ok(Some(()))
            })
            .await?;
            p.keep(3, &());
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in (0..n).rev().filter(|&j| j != i) {
                p.keep(4, &j);
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            break;
        }
        p.keep(5, &());
        p.at(5).write(&self.k, p.pid()).await?;
    }
    release(self, p) {
        let i = p.pid().index();
        p.at(6).write(&self.k, Pid::new((i + self.n - 1) % self.n)).await?;
        p.keep(7, &());
        p.at(7).write(&self.control[i], IDLE).await?;
    }
}

lock! {
    pub struct DeBruijn(n: usize): ReadWrite { control: [u64; n] = IDLE, k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.keep(1, &());
            p.at(1).write(&self.control[i], WANTS).await?;
            'two: loop {
                p.keep(21, &());
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    p.keep(22, &j);
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        continue 'two;
                    }
                    j = (j + n - 1) % n;
                }
                break;
            }
            p.keep(3, &());
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in (0..n).rev().filter(|&j| j != i) {
                p.keep(4, &j);
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            break;
        }
    }
    release(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        let k = p.at(61).read(&self.k).await?.index();
        p.keep(62, &k);
        if k == i || p.at(62).read(&self.control[k]).await? == IDLE {
            p.keep(63, &k);
            p.at(63).write(&self.k, Pid::new((k + n - 1) % n)).await?;
        }
        p.keep(7, &());
        p.at(7).write(&self.control[i], IDLE).await?;
    }
}

lock! {
    pub struct EisenbergMcGuire(n: usize): ReadWrite { control: [u64; n] = IDLE, k: Pid = Pid::new(0) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        'one: loop {
            p.keep(1, &());
            p.at(1).write(&self.control[i], WANTS).await?;
            'two: loop {
                p.keep(21, &());
                let mut j = p.at(21).read(&self.k).await?.index();
                while j != i {
                    p.keep(22, &j);
                    if p.at(22).read(&self.control[j]).await? != IDLE {
                        continue 'two;
                    }
                    j = (j + 1) % n;
                }
                break;
            }
            p.keep(3, &());
            p.at(3).write(&self.control[i], THROUGH).await?;
            for j in (0..n).filter(|&j| j != i) {
                p.keep(4, &j);
                if p.at(4).read(&self.control[j]).await? == THROUGH {
                    continue 'one;
                }
            }
            p.keep(51, &());
            let k = p.at(51).read(&self.k).await?.index();
            p.keep(52, &k);
            if k == i || p.at(52).read(&self.control[k]).await? == IDLE {
                break;
            }
        }
        p.keep(6, &());
        p.at(6).write(&self.k, p.pid()).await?;
    }
    release(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        let mut j = (p.at(71).read(&self.k).await?.index() + 1) % n;
        p.keep(72, &j);
        while p.at(72).read(&self.control[j]).await? == IDLE {
            j = (j + 1) % n;
            p.keep(72, &j);
        }
        p.keep(73, &j);
        p.at(73).write(&self.k, Pid::new(j)).await?;
        p.keep(8, &());
        p.at(8).write(&self.control[i], IDLE).await?;
    }
}

lock! {
    pub struct BurnsLynch(n: usize): ReadWrite { flag: [bool; n] = false }
    acquire(self, p) {
        let i = p.pid().index();
        'one: loop {
            p.keep(1, &());
            p.at(1).write(&self.flag[i], false).await?;
            for j in 0..i {
                p.keep(2, &j);
                p.at(2).wait_until(&self.flag[j], |up| !up).await?;
            }
            p.keep(3, &());
            p.at(3).write(&self.flag[i], true).await?;
            for j in 0..i {
                p.keep(4, &j);
                if p.at(4).read(&self.flag[j]).await? {
                    continue 'one;
                }
            }
            break;
        }
        for j in i + 1..self.n {
            p.keep(5, &j);
            p.at(5).wait_until(&self.flag[j], |up| !up).await?;
        }
    }
    release(self, p) {
        p.at(6).write(&self.flag[p.pid().index()], false).await?;
    }
}
