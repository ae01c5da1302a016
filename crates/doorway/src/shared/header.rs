//! The file, byte by byte: version 1. `docs/format.md` is this file in words.

use super::{Error, MOST_SEATS, Mode, Slots};
use std::path::Path;

/// The version that this program writes and reads.
pub(super) const VERSION: u32 = 1;
/// Newcomers may pass waiters, within a bound. A program that does not know this feature would
/// break the bound, and would report a called waiter as damage.
pub(super) const BYPASS: u32 = 1 << 16;
/// The features that this program knows.
pub(super) const FEATURES: u32 = BYPASS;
/// The features without which a program must not touch the file. The others are compatible: a
/// program that does not know them ignores them.
const INCOMPATIBLE: u32 = 0xffff_0000;
pub(super) const MAGIC: &[u8; 8] = b"doorway\0";
/// The header's part of the file. It is written once and never mapped.
pub(super) const HEADER: usize = 4096;
/// How many bytes of the header carry meaning.
pub(super) const MEANT: usize = 64;
/// The bytes that each shared word has to itself.
pub(super) const LINE: usize = 128;
/// The longest label, in bytes.
pub(super) const LABEL: usize = 64;
/// Where the lock bytes are: beyond the end of any file, so that no write ever meets them.
pub(super) const LOCKS: u64 = 1 << 40;

/// What a file is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) slots: usize,
    pub(super) seats: usize,
    pub(super) mode: Mode,
    /// How many newcomers may pass the first waiter; 0 for strict order.
    pub(super) bypass: u16,
    /// What the program that made the file added to version 1.
    pub(super) features: u32,
    /// A random number. No two files have the same.
    pub(super) nonce: u64,
    /// When the file was made, in nanoseconds since 1970.
    pub(super) created: u64,
}

/// Offsets within the line of a slot.
pub(super) mod slot {
    /// The word that the text knows.
    pub(in crate::shared) const WORD: usize = 0;
    /// The fence of the holder that wrote the fields below.
    pub(in crate::shared) const FENCE: usize = 8;
    /// The holder's process, and in the upper half the length of its label.
    pub(in crate::shared) const PID: usize = 16;
    /// When the holder got in, in nanoseconds since 1970; 0 if it did not read the clock.
    pub(in crate::shared) const SINCE: usize = 24;
    pub(in crate::shared) const LABEL: usize = 64;
}

/// Offsets within the line of a seat.
pub(super) mod row {
    /// What the seat waits for, or is offered.
    pub(in crate::shared) const WANT: usize = 0;
    /// The word that the kernel marks when the process dies: 32 bits.
    pub(in crate::shared) const HINT: usize = 8;
    /// Not 0 if the seat's waiter may sleep and must be woken: 32 bits.
    pub(in crate::shared) const ASLEEP: usize = 12;
    /// The process that has the seat, and in the upper half the length of its label.
    pub(in crate::shared) const PID: usize = 16;
    /// Since when the seat waits, in nanoseconds since 1970.
    pub(in crate::shared) const SINCE: usize = 24;
    pub(in crate::shared) const LABEL: usize = 64;
}

/// The offset of each part from the beginning of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    pub(super) bits: usize,
    pub(super) next: usize,
    pub(super) slots: usize,
    pub(super) rows: usize,
    pub(super) length: usize,
}

impl Layout {
    pub(super) fn new(slots: usize, seats: usize) -> Self {
        let bits = HEADER;
        let next = bits + (seats / 8).next_multiple_of(LINE);
        let first_slot = next + LINE;
        let rows = first_slot + slots * LINE;
        Self { bits, next, slots: first_slot, rows, length: rows + seats * LINE }
    }
}

/// Checks the numbers of slots and seats.
pub(super) fn check_sizes(slots: usize, seats: usize) -> Result<(), Error> {
    if !(1..=Slots::MOST).contains(&slots) {
        return Err(Error::BadSlots(slots));
    }
    if !(64..=MOST_SEATS).contains(&seats) || !seats.is_multiple_of(64) {
        return Err(Error::BadSeats(seats));
    }
    Ok(())
}

impl Header {
    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.slots, self.seats)
    }

    pub(super) fn encode(&self) -> [u8; MEANT] {
        let mut bytes = [0; MEANT];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &(HEADER as u32).to_le_bytes());
        put(16, &(self.slots as u32).to_le_bytes());
        put(20, &(self.seats as u32).to_le_bytes());
        put(24, &self.mode.number().to_le_bytes());
        put(26, &self.bypass.to_le_bytes());
        put(28, &self.features.to_le_bytes());
        put(32, &self.nonce.to_le_bytes());
        put(40, &self.created.to_le_bytes());
        put(48, &(self.layout().length as u64).to_le_bytes());
        let sum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes these bytes as the header of a file of this length, for a program that knows these
    /// features.
    pub(super) fn decode(bytes: &[u8; MEANT], length: u64, known: u32, path: &Path) -> Result<Self, Error> {
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let corrupt = || Error::Corrupt(path.to_owned());
        if &bytes[..8] != MAGIC || eight(56) != checksum(&bytes[..56]) {
            return Err(corrupt());
        }
        // This comes first: what follows may mean something else in another version.
        if four(8) != VERSION {
            return Err(Error::OtherVersion { found: four(8) });
        }
        let features = four(28);
        if features & INCOMPATIBLE & !known != 0 {
            return Err(Error::OtherFeatures { found: features, known });
        }
        let mode = Mode::from_number(four(24) as u16).ok_or_else(corrupt)?;
        let bypass = (four(24) >> 16) as u16;
        if (bypass != 0) != (features & BYPASS != 0) {
            return Err(corrupt());
        }
        let (slots, seats) = (four(16) as usize, four(20) as usize);
        check_sizes(slots, seats).map_err(|_| corrupt())?;
        let header = Self { slots, seats, mode, bypass, features, nonce: eight(32), created: eight(40) };
        let expected = header.layout().length as u64;
        if four(12) as usize != HEADER || eight(48) != expected || length != expected {
            return Err(corrupt());
        }
        Ok(header)
    }
}

/// FNV-1a, 64 bits. It detects accidents; permissions protect against malice.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> Header {
        Header {
            slots: 4,
            seats: 512,
            mode: Mode::Reclaim,
            bypass: 0,
            features: 0,
            nonce: 0x0123_4567_89ab_cdef,
            created: 1_000_000_007,
        }
    }

    #[test]
    fn version_1_is_these_bytes() {
        let expected: [u8; MEANT] = [
            b'd', b'o', b'o', b'r', b'w', b'a', b'y', 0, // magic
            1, 0, 0, 0, 0, 16, 0, 0, // version, header length
            4, 0, 0, 0, 0, 2, 0, 0, // slots, seats
            0, 0, 0, 0, 0, 0, 0, 0, // mode, features
            0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, // nonce
            7, 0xca, 0x9a, 0x3b, 0, 0, 0, 0, // created
            0, 0x13, 1, 0, 0, 0, 0, 0, // length: 70,400
            0xcd, 0x44, 0x87, 0xcb, 0x3c, 0x7e, 0xb9, 0x46, // checksum of the 56 before
        ];
        let bytes = golden().encode();
        assert_eq!(bytes, expected);
        assert_eq!(Header::decode(&bytes, 70_400, 0, Path::new("x")), Ok(golden()));
    }

    #[test]
    fn everything_has_its_place() {
        let layout = Layout::new(4, 512);
        assert_eq!(layout, Layout { bits: 4096, next: 4224, slots: 4352, rows: 4864, length: 70_400 });
        let layout = Layout::new(1, 4096);
        assert_eq!(layout, Layout { bits: 4096, next: 4608, slots: 4736, rows: 4864, length: 529_152 });
    }

    #[test]
    fn a_flipped_bit_is_corrupt_and_another_version_is_named() {
        let path = Path::new("x");
        let bytes = golden().encode();
        for bit in 0..MEANT * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&flipped, 70_400, 0, path), Err(Error::Corrupt(path.to_owned())), "bit {bit}");
        }
        assert_eq!(Header::decode(&bytes, 70_399, 0, path), Err(Error::Corrupt(path.to_owned())));
        let mut newer = bytes;
        newer[8] = 2;
        let sum = checksum(&newer[..56]);
        newer[56..].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(Header::decode(&newer, 70_400, 0, path), Err(Error::OtherVersion { found: 2 }));
    }

    #[test]
    fn features_that_are_not_known_are_ignored_if_compatible_and_refused_if_not() {
        let path = Path::new("x");
        let with = |features| Header { features, ..golden() };
        let decode = |features, known| Header::decode(&with(features).encode(), 70_400, known, path);
        for compatible in [1, 0x8000, 0xffff] {
            assert_eq!(decode(compatible, 0), Ok(with(compatible)));
        }
        for found in [0x2_0000, 0x8000_0000, 0x6_0001] {
            assert_eq!(decode(found, 0x2_0000 & !found), Err(Error::OtherFeatures { found, known: 0x2_0000 & !found }));
            assert_eq!(decode(found, found), Ok(with(found)));
        }
    }

    #[test]
    fn a_bound_on_passing_stands_in_the_header_and_needs_its_feature() {
        let path = Path::new("x");
        let decode = |header: Header, known| Header::decode(&header.encode(), 70_400, known, path);
        let bounded = Header { bypass: 0x1234, features: BYPASS, ..golden() };
        assert_eq!(bounded.encode()[24..32], [0, 0, 0x34, 0x12, 0, 0, 1, 0]);
        assert_eq!(decode(bounded, FEATURES), Ok(bounded));
        assert_eq!(decode(bounded, 0), Err(Error::OtherFeatures { found: BYPASS, known: 0 }));
        for half in [Header { features: 0, ..bounded }, Header { bypass: 0, ..bounded }] {
            assert_eq!(decode(half, FEATURES), Err(Error::Corrupt(path.to_owned())));
        }
    }
}
