//! Many short strings of bytes, one after the other, by number.
//!
//! They lie in segments, so adding one never moves the others, and memory grows by a segment at a
//! time. Within a segment it is known where every eighth string begins. Each string has its length
//! in front, so the others are a few steps away, in the same place of memory.

/// The most strings in a segment, as a power of two.
const MOST_IN_SEGMENT: u32 = 14;
/// How many strings there are to each known beginning, as a power of two.
const BLOCK: u32 = 3;

/// Strings by number, from 0.
#[derive(Debug)]
pub(super) struct Strings {
    /// How many strings are in a segment, as a power of two.
    segment: u32,
    segments: Vec<Segment>,
    len: usize,
    /// Bytes in all segments but the last.
    bytes: usize,
}

#[derive(Default, Debug)]
struct Segment {
    bytes: Vec<u8>,
    /// Where each block begins.
    blocks: Vec<u32>,
    len: usize,
}

impl Segment {
    fn add(&mut self, pieces: [&[u8]; 2]) {
        if self.len & ((1 << BLOCK) - 1) == 0 {
            self.blocks.push(self.bytes.len() as u32);
        }
        self.len += 1;
        let mut len = pieces[0].len() + pieces[1].len();
        while len >= 0x80 {
            self.bytes.push(len as u8 | 0x80);
            len >>= 7;
        }
        self.bytes.push(len as u8);
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
    }

    /// Where the string begins whose length is here, and where it ends.
    #[inline]
    fn string(&self, at: usize) -> (usize, usize) {
        let first = usize::from(self.bytes[at]);
        if first < 0x80 { (at + 1, at + 1 + first) } else { self.long_string(at) }
    }

    #[cold]
    fn long_string(&self, mut at: usize) -> (usize, usize) {
        let (mut len, mut shift) = (0, 0);
        loop {
            let byte = usize::from(self.bytes[at]);
            at += 1;
            len |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return (at, at + len);
            }
            shift += 7;
        }
    }

    fn is_full(&mut self) {
        self.bytes.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.blocks.capacity() * 4
    }
}

impl Strings {
    /// For strings of at most this length.
    pub(super) fn new(longest: usize) -> Self {
        // A block may begin anywhere in a segment, so a segment has less than four gigabytes.
        let segment = (u32::MAX as usize / (longest + 5)).max(1).ilog2().min(MOST_IN_SEGMENT);
        Self { segment, segments: Vec::new(), len: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds the string of these pieces, and returns its number.
    pub(super) fn add(&mut self, pieces: [&[u8]; 2]) -> usize {
        let id = self.len;
        if id & (self.in_segment() - 1) == 0 {
            if let Some(last) = self.segments.last_mut() {
                last.is_full();
                self.bytes += last.bytes();
            }
            self.segments.push(Segment::default());
        }
        self.segments.last_mut().expect("there is a segment").add(pieces);
        self.len += 1;
        id
    }

    #[inline]
    pub(super) fn get(&self, id: usize) -> &[u8] {
        let segment = &self.segments[id >> self.segment];
        let at = id & (self.in_segment() - 1);
        let mut length = segment.blocks[at >> BLOCK] as usize;
        for _ in 0..at & ((1 << BLOCK) - 1) {
            length = segment.string(length).1;
        }
        let (begin, end) = segment.string(length);
        &segment.bytes[begin..end]
    }

    /// How many segments are full.
    pub(super) fn full_segments(&self) -> usize {
        self.len >> self.segment
    }

    /// How many strings a segment has.
    pub(super) fn in_segment(&self) -> usize {
        1 << self.segment
    }

    /// Keeps only the beginnings of the strings in a segment that is full and not the last.
    /// `begins` says how much of each.
    pub(super) fn cut(&mut self, segment: usize, begins: impl Fn(&[u8]) -> usize) {
        let mut less = Segment::default();
        let first = segment << self.segment;
        for id in first..first + self.in_segment() {
            let string = self.get(id);
            less.add([&string[..begins(string)], &[]]);
        }
        less.is_full();
        self.bytes = self.bytes + less.bytes() - self.segments[segment].bytes();
        self.segments[segment] = less;
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.segments.last().map_or(0, Segment::bytes) + self.segments.capacity() * size_of::<Segment>()
    }
}
