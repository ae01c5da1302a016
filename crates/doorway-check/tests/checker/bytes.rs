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
        numbers.reserve(1);
        let Err(slot) = numbers.find(tag, |known| known == i) else { panic!("{i} was never added") };
        numbers.fill(slot, tag, u32::MAX - 1 - i);
        assert!(numbers.begin(tag).is_some());
        assert_eq!(numbers.find(tag, |known| known == u32::MAX - 1 - i), Ok(u32::MAX - 1 - i));
        numbers.replace(slot, i);
    }
    assert!((0..50_000).all(|i| numbers.find(tag(hash(i.into())), |known| known == i) == Ok(i)));
    assert!((50_000..60_000).all(|i| numbers.find(tag(hash(i.into())), |known| known == i).is_err()));
    assert!(numbers.bytes() <= 50_000 * 8 * 8 / 7 * 5 / 4 + 1000, "at least 0.7 of the slots are taken");
    // The worst tags: all begin at the last slot, or at the first.
    for tag in [u32::MAX, 0] {
        let mut alike = Table::default();
        for i in 0..500 {
            alike.add(tag, i);
        }
        assert!((0..500).all(|i| alike.find(tag, |known| known == i) == Ok(i)));
        assert!(alike.find(tag, |known| known == 500).is_err());
    }
}

#[test]
fn strings_come_back_by_number_and_keep_their_beginnings() {
    // Short ones; some that are long, after many that are short; and blocks of just 255 bytes.
    let short = |i: usize| vec![i as u8; i * 7919 % 41];
    let seldom_long = |i: usize| vec![i as u8; if i % 10_000 == 9_999 { 1000 } else { i % 3 }];
    let just_enough = |i: usize| vec![i as u8; if i % 8 == 7 { 29 } else { 30 }];
    come_back_by_number(&short, 41);
    come_back_by_number(&short, 200_000);
    come_back_by_number(&seldom_long, 2000);
    come_back_by_number(&just_enough, 70_000);
}

/// Strings that are added together are those that are added one by one, wherever segments end.
#[test]
fn strings_that_are_added_together_are_the_same() {
    let long_seldom = |i: usize| vec![i as u8; if i % 10_000 == 9_999 { 1000 } else { i * 7919 % 41 }];
    for (longest, together) in [(1000, 1), (1000, 7), (1000, 16_384), (1000, 50_000), (200_000, 999)] {
        let (mut alone, mut all) = (Strings::new(longest), Strings::new(longest));
        for first in (0..50_000).step_by(together) {
            let some: Vec<_> = (first..50_000.min(first + together)).map(long_seldom).collect();
            for string in &some {
                alone.add([string, &[]]);
            }
            let lens: Vec<_> = some.iter().map(|string| string.len() as u32).collect();
            all.add_all(&some.concat(), &lens);
        }
        assert_eq!(all.len(), alone.len());
        assert!((0..50_000).all(|i| all.get(i) == alone.get(i) && all.entry(i) == alone.entry(i)), "{together}");
        assert_eq!(all.add([&[1], &[2]]), 50_000);
        assert_eq!(all.get(50_000), [1, 2]);
    }
}

fn come_back_by_number(text: &dyn Fn(usize) -> Vec<u8>, longest: usize) {
    let mut strings = Strings::new(longest);
    for i in 0..40_000 {
        assert_eq!(strings.add([&text(i), &[1, 2]]), i);
    }
    let whole = |i: usize| [&text(i)[..], &[1, 2]].concat();
    assert!((0..40_000).all(|i| strings.get(i) == whole(i) && strings.entry(i).is_some()), "{longest}");
    let before = strings.bytes();
    assert!(strings.full_segments() > 1);
    strings.cut(0, |string| string.len() - 2);
    let cut = strings.in_segment();
    assert!((0..40_000).all(|i| strings.get(i) == if i < cut { text(i) } else { whole(i) }), "{longest}");
    assert!(strings.bytes() < before && strings.len() == 40_000);
}
