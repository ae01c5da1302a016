//! Our simple turnstile for two processes and two places, perhaps with one of two faults.

use super::{Lock, Word};

pub(in super::super) struct Turnstile<W, const FAULT: u8> {
    next: W,
    served: W,
    cell: [W; RING as usize],
}

/// 3 is two steps.
pub(in super::super) type Split<W> = Turnstile<W, 1>;
/// 5 is a write.
pub(in super::super) type Blind<W> = Turnstile<W, 2>;

const RING: i64 = 8;

impl<W: Word, const FAULT: u8> Turnstile<W, FAULT> {
    fn cell(&self, t: i64) -> &W {
        &self.cell[(t % RING) as usize]
    }
}

impl<W: Word, const FAULT: u8> Lock<W> for Turnstile<W, FAULT> {
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
            + if FAULT == 1 {
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
            if FAULT == 2 {
                self.cell(y).write(y + 1);
            } else {
                self.cell(y).compare_swap(y + 1 - RING, y + 1);
            }
        }
    }
}
