//! States are written in few bytes, and read as they were.

// The file itself: it is private, and compiling the whole library again for three tests would take
// longer than all of them.
#[path = "../../src/explore/bytes.rs"]
mod written;

use written::{pack_bits, pop, push, unpack_bits, unzigzag, zigzag};

#[test]
fn numbers_survive_the_round_trip() {
    for word in [0, 1, 127, 128, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, -1i64 as u64, 1 << 48 | 3] {
        let mut bytes = Vec::new();
        push(&mut bytes, zigzag(word));
        let mut rest = bytes.as_slice();
        assert_eq!(unzigzag(pop(&mut rest)), word);
        assert!(rest.is_empty());
    }
}

#[test]
fn bits_survive_the_round_trip() {
    let words = [(1, 1), (2, 2), (0, 1), (255, 8), (5, 3), (1, 1), (6, 7), (0, 8), (1, 1)];
    for most in 0..=words.len() {
        let mut bytes = Vec::new();
        pack_bits(&mut bytes, words[..most].iter().copied());
        assert_eq!(bytes.len() as u32, words[..most].iter().map(|(_, width)| width).sum::<u32>().div_ceil(8));
        let mut rest = bytes.as_slice();
        unpack_bits(&mut rest, words[..most].iter().map(|(_, width)| *width), |i, word| {
            assert_eq!(word, words[i].0);
        });
        assert!(rest.is_empty());
    }
}

#[test]
fn no_ticket_and_minus_one_take_one_byte() {
    let mut bytes = Vec::new();
    push(&mut bytes, zigzag(u64::MAX));
    assert_eq!(bytes.len(), 1);
}
