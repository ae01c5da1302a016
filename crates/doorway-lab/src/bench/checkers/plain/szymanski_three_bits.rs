//! Szymanski 1990, three bits, in the reading of the mCRL2 examples.

use super::{Lock, Word, words};

pub(in super::super) struct ThreeBits<W> {
    a: [W; 3],
    w: [W; 3],
    s: [W; 3],
}

impl<W: Word> Lock<W> for ThreeBits<W> {
    const N: usize = 3;
    fn new() -> Self {
        Self { a: words(), w: words(), s: words() }
    }
    fn enter(&self, me: usize) {
        let others = || (0..3).filter(|&j| j != me);
        let wait_while = |bit: &W| {
            while bit.is_set() {
                W::pause();
            }
        };
        self.a[me].write(1);
        others().for_each(|j| wait_while(&self.s[j]));
        self.w[me].write(1);
        self.a[me].write(0);
        loop {
            if !others().any(|j| self.a[j].is_set()) {
                self.s[me].write(1);
                if !others().any(|j| self.a[j].is_set()) {
                    self.w[me].write(0);
                    others().for_each(|j| wait_while(&self.w[j]));
                    break;
                }
                self.s[me].write(0);
            }
            if others().any(|j| !self.w[j].is_set() && self.s[j].is_set()) {
                self.s[me].write(1);
                self.w[me].write(0);
                break;
            }
            W::pause();
        }
        (0..me).for_each(|j| wait_while(&self.s[j]));
    }
    fn leave(&self, me: usize) {
        self.s[me].write(0);
    }
}
