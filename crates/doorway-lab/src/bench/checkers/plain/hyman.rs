//! Hyman 1966.

use super::{Lock, Word, words};

pub(in super::super) struct Hyman<W> {
    b: [W; 2],
    k: W,
}

impl<W: Word> Lock<W> for Hyman<W> {
    const N: usize = 2;
    fn new() -> Self {
        Self { b: words(), k: W::new(0) }
    }
    fn enter(&self, me: usize) {
        self.b[me].write(1);
        while self.k.read() != me as i64 {
            while self.b[1 - me].is_set() {
                W::pause();
            }
            self.k.write(me as i64);
        }
    }
    fn leave(&self, me: usize) {
        self.b[me].write(0);
    }
}
