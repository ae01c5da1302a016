//! States are written in few bytes, and read as they were.

// The file itself: it is private, and compiling the whole library again for three tests would take
// longer than all of them.
#[path = "../../src/explore/strings.rs"]
mod strings;
#[path = "../../src/explore/table.rs"]
mod table;
#[path = "../../src/explore/bytes.rs"]
mod written;

use strings::Strings;
use table::{Table, tag};
use written::{number_in, pack_bits, pop, push, unpack_bits, unzigzag, zigzag};

#[test]
fn numbers_survive_the_round_trip() {
    for word in [0, 1, 127, 128, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, -1i64 as u64, 1 << 48 | 3] {
        let mut bytes = Vec::new();
        push(&mut bytes, zigzag(word));
        assert_eq!(number_in(&[&*bytes, &[0]].concat()), bytes.len());
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

/// A hash as good as any.
fn hash(i: u64) -> u64 {
    let i = (i ^ i >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (i ^ i >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn a_table_finds_every_number_however_it_has_grown() {
    let mut numbers = Table::default();
    for i in 0..50_000u32 {
        let tag = tag(hash(i.into()));
        assert_eq!(numbers.find(tag, |known| known == i), None);
        numbers.reserve(1);
        let slot = numbers.add(tag, u32::MAX - 1 - i);
        assert_ne!(numbers.touch(tag), u64::MAX, "something is where a look-up begins");
        numbers.replace(slot, i);
    }
    assert!((0..50_000).all(|i| numbers.find(tag(hash(i.into())), |known| known == i) == Some(i)));
    assert!((50_000..60_000).all(|i| numbers.find(tag(hash(i.into())), |known| known == i).is_none()));
    assert!(numbers.bytes() <= 50_000 * 8 * 5 / 4 * 5 / 4 + 1000, "at least 0.64 of the slots are taken");
    // The worst tags: all begin at the last slot, or at the first.
    for tag in [u32::MAX, 0] {
        let mut alike = Table::default();
        for i in 0..500 {
            alike.reserve(1);
            alike.add(tag, i);
        }
        assert!((0..500).all(|i| alike.find(tag, |known| known == i) == Some(i)));
        assert_eq!(alike.find(tag, |known| known == 500), None);
    }
}

#[test]
fn strings_come_back_by_number_and_keep_their_beginnings() {
    let text = |i: usize| vec![i as u8; i * 7919 % 41];
    for longest in [41, 2000, 70_000, 200_000] {
        let mut strings = Strings::new(longest);
        for i in 0..40_000 {
            assert_eq!(strings.add([&text(i), &[1, 2]]), i);
        }
        let whole = |i: usize| [&text(i)[..], &[1, 2]].concat();
        assert!((0..40_000).all(|i| strings.get(i) == whole(i)), "{longest}");
        let before = strings.bytes();
        assert!(strings.full_segments() > 1);
        strings.cut(0, |string| string.len() - 2);
        let cut = strings.in_segment();
        assert!((0..40_000).all(|i| strings.get(i) == if i < cut { text(i) } else { whole(i) }), "{longest}");
        assert!(strings.bytes() < before && strings.len() == 40_000);
    }
}
