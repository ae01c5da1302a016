//! Anderson and Moir 1994, Figure 2 as a chain of slots 2 and 1, perhaps with statement 7 before 6.

use super::{Lock, Word, words};

pub(in super::super) struct Chain<W, const SEVEN_BEFORE_SIX: bool> {
    x: [W; 3],
    q: [W; 3],
}

pub(in super::super) type Swapped<W> = Chain<W, true>;

impl<W: Word, const SEVEN_BEFORE_SIX: bool> Lock<W> for Chain<W, SEVEN_BEFORE_SIX> {
    const N: usize = 3;
    fn new() -> Self {
        Self { x: std::array::from_fn(|j| W::new(j as i64)), q: words() }
    }
    fn enter(&self, me: usize) {
        for j in [2, 1] {
            if self.x[j].add(-1) == 0 {
                self.q[j].write(me as i64);
                if self.x[j].read() < 0 {
                    while self.q[j].read() == me as i64 {
                        W::pause();
                    }
                }
            }
        }
    }
    fn leave(&self, me: usize) {
        for j in [1, 2] {
            if SEVEN_BEFORE_SIX {
                self.q[j].write(me as i64);
                self.x[j].add(1);
            } else {
                self.x[j].add(1);
                self.q[j].write(me as i64);
            }
        }
    }
}
