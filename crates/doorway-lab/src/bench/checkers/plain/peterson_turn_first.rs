//! Peterson 1981 with its first two lines swapped.

use super::{Lock, Word, words};

pub(in super::super) struct TurnFirst<W> {
    flag: [W; 2],
    last: W,
}

impl<W: Word> Lock<W> for TurnFirst<W> {
    const N: usize = 2;
    fn new() -> Self {
        Self { flag: words(), last: W::new(0) }
    }
    fn enter(&self, me: usize) {
        self.last.write(me as i64);
        self.flag[me].write(1);
        while self.flag[1 - me].is_set() && self.last.read() == me as i64 {
            W::pause();
        }
    }
    fn leave(&self, me: usize) {
        self.flag[me].write(0);
    }
}
