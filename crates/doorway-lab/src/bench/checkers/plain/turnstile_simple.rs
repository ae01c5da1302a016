//! Our simple turnstile for two processes and two places, with one of two faults.

use super::{Lock, Word};

pub(in super::super) struct Turnstile<W, const SPLIT: bool> {
    next: W,
    served: W,
    cell: [W; RING as usize],
}

/// 3 is two steps.
pub(in super::super) type Split<W> = Turnstile<W, true>;
/// 5 is a write.
pub(in super::super) type Blind<W> = Turnstile<W, false>;

const RING: i64 = 8;

impl<W: Word, const SPLIT: bool> Turnstile<W, SPLIT> {
    fn cell(&self, t: i64) -> &W {
        &self.cell[(t % RING) as usize]
    }
}

impl<W: Word, const SPLIT: bool> Lock<W> for Turnstile<W, SPLIT> {
    const N: usize = 2;
    const K: i64 = 2;
    fn new() -> Self {
        let cell = |i| W::new(if i < 2 { i + 1 } else { i + 1 - RING });
        Self { next: W::new(0), served: W::new(0), cell: std::array::from_fn(|i| cell(i as i64)) }
    }
    fn enter(&self, _: usize) {
        let t = self.next.add(1);
        while self.cell(t).read() <= t {
            W::pause();
        }
    }
    fn leave(&self, _: usize) {
        let c = Self::K
            + if SPLIT {
                let x = self.served.read();
                self.served.write(x + 1);
                x
            } else {
                self.served.add(1)
            };
        let mut y = c;
        while self.cell(y - 1).read() < y {
            y -= 1;
        }
        for y in y..=c {
            if SPLIT {
                self.cell(y).compare_swap(y + 1 - RING, y + 1);
            } else {
                self.cell(y).write(y + 1);
            }
        }
    }
}
