//! States as bits (Holzmann's supertrace): three bits for each, found by its hash.
//!
//! Two states may have the same bits. The second is then taken for the first, and what follows from
//! it may never be looked at. So a search with bits proves nothing; but it needs a fraction of the
//! memory, and whatever it finds is real.

/// How many bits a state has.
const EACH: u32 = 3;

#[derive(Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
    ones: u64,
}

impl Bits {
    pub(super) fn new(bytes: usize) -> Self {
        Self { words: vec![0; (bytes / 8).max(1)], ones: 0 }
    }

    /// Sets the bits of a hash. Returns whether one of them was not set before.
    pub(super) fn set(&mut self, hash: u64) -> bool {
        let (first, stride) = ((hash >> 26) as u32, hash as u32 | 1);
        let mut is_new = false;
        for i in 0..EACH {
            let place = first.wrapping_add(stride.wrapping_mul(i));
            let at = (u64::from(place) * (self.words.len() as u64 * 64)) >> 32;
            let (word, bit) = (&mut self.words[(at / 64) as usize], 1 << (at % 64));
            if *word & bit == 0 {
                *word |= bit;
                self.ones += 1;
                is_new = true;
            }
        }
        is_new
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

/// The probability that a new state is taken for a known one.
pub(super) fn chance_to_miss(all: &[Bits]) -> f64 {
    let (ones, bits) = all.iter().fold((0, 0), |(ones, bits), some| (ones + some.ones, bits + some.words.len() * 64));
    (ones as f64 / bits.max(1) as f64).powi(EACH as i32)
}
