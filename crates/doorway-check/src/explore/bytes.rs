//! Numbers in few bytes, and back.

/// Writes words of the given widths, at most eight bits each, one after the other.
pub(super) fn pack_bits(bytes: &mut Vec<u8>, words: impl Iterator<Item = (u64, u32)>) {
    let (mut packed, mut bits) = (0u64, 0);
    for (word, width) in words {
        packed |= word << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(packed as u8);
            packed >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(packed as u8);
    }
}

pub(super) fn unpack_bits(bytes: &mut &[u8], widths: impl Iterator<Item = u32>, mut word: impl FnMut(usize, u64)) {
    let (mut packed, mut bits) = (0u64, 0);
    for (i, width) in widths.enumerate() {
        if bits < width {
            let (&byte, rest) = bytes.split_first().expect("a state was written whole");
            *bytes = rest;
            packed |= u64::from(byte) << bits;
            bits += 8;
        }
        word(i, packed & ((1 << width) - 1));
        packed >>= width;
        bits -= width;
    }
}

/// Maps small negative numbers, and the largest words, to small numbers too.
pub(super) fn zigzag(word: u64) -> u64 {
    (word << 1) ^ ((word as i64 >> 63) as u64)
}

pub(super) fn unzigzag(word: u64) -> u64 {
    (word >> 1) ^ (word & 1).wrapping_neg()
}

#[inline]
pub(crate) fn push(bytes: &mut Vec<u8>, mut word: u64) {
    while word >= 0x80 {
        bytes.push(word as u8 | 0x80);
        word >>= 7;
    }
    bytes.push(word as u8);
}

#[inline]
pub(super) fn pop(bytes: &mut &[u8]) -> u64 {
    let (mut word, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("a state was written whole");
        *bytes = rest;
        word |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return word;
        }
        shift += 7;
    }
}

/// How many bytes the number has with which these begin.
#[inline]
pub(super) fn number_in(bytes: &[u8]) -> usize {
    1 + bytes.iter().position(|&byte| byte < 0x80).expect("a state was written whole")
}
