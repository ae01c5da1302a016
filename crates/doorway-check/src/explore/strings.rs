//! Many short strings of bytes, one after the other, by number.
//!
//! They lie in segments, so adding one never moves the others, and memory grows by a segment at a
//! time. A segment knows where every eighth string begins, and how long each is. So no string has
//! to be read to find another: one look into the index tells where a string is.

/// The most strings in a segment, as a power of two.
const MOST_IN_SEGMENT: u32 = 14;
/// How many strings a block has, as a power of two.
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
    index: Index,
    len: usize,
}

/// Where the strings of a segment are.
#[derive(Debug)]
enum Index {
    /// By blocks, while each block has at most 255 bytes.
    Blocks(Vec<Block>),
    /// By the end of each string.
    Ends(Vec<u32>),
}

impl Default for Index {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

/// A few strings: where the first begins, and the length of each.
#[derive(Clone, Copy, Debug)]
struct Block {
    begin: u32,
    lens: [u8; 1 << BLOCK],
}

impl Block {
    /// Where the string at this place in the block begins and ends.
    #[inline]
    fn string(self, at: usize) -> (usize, usize) {
        // The highest byte of the product is the sum of all bytes. It has no carry: a block has at
        // most 255 bytes.
        let before = u64::from_le_bytes(self.lens) & ((1 << (8 * at)) - 1);
        let before = before.wrapping_mul(0x0101_0101_0101_0101) >> 56;
        let begin = self.begin as usize + before as usize;
        (begin, begin + usize::from(self.lens[at]))
    }
}

impl Segment {
    fn add(&mut self, pieces: [&[u8]; 2]) {
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        self.note(self.bytes.len() - pieces[0].len() - pieces[1].len(), self.bytes.len());
    }

    /// Notes in the index where the next string begins and ends.
    fn note(&mut self, begin: usize, end: usize) {
        let at = self.len & ((1 << BLOCK) - 1);
        if let Index::Blocks(blocks) = &mut self.index {
            if at == 0 {
                blocks.push(Block { begin: begin as u32, lens: [0; 1 << BLOCK] });
            }
            let block = blocks.last_mut().expect("there is a block");
            if end - block.begin as usize <= usize::from(u8::MAX) {
                block.lens[at] = (end - begin) as u8;
            } else {
                self.index = Index::Ends((0..self.len).map(|at| self.string(at).1 as u32).collect());
            }
        }
        if let Index::Ends(ends) = &mut self.index {
            ends.push(end as u32);
        }
        self.len += 1;
    }

    /// Where a string begins and ends.
    #[inline]
    fn string(&self, at: usize) -> (usize, usize) {
        match &self.index {
            Index::Blocks(blocks) => blocks[at >> BLOCK].string(at & ((1 << BLOCK) - 1)),
            Index::Ends(ends) => (if at == 0 { 0 } else { ends[at - 1] as usize }, ends[at] as usize),
        }
    }

    fn is_full(&mut self) {
        self.bytes.shrink_to_fit();
        match &mut self.index {
            Index::Blocks(blocks) => blocks.shrink_to_fit(),
            Index::Ends(ends) => ends.shrink_to_fit(),
        }
    }

    fn bytes(&self) -> usize {
        let index = match &self.index {
            Index::Blocks(blocks) => blocks.capacity() * size_of::<Block>(),
            Index::Ends(ends) => ends.capacity() * size_of::<u32>(),
        };
        self.bytes.capacity() + index
    }
}

impl Strings {
    /// For strings of at most this length.
    pub(super) fn new(longest: usize) -> Self {
        // A string may begin anywhere in a segment, so a segment has less than four gigabytes.
        let segment = (u32::MAX as usize / longest.max(1)).max(1).ilog2().min(MOST_IN_SEGMENT);
        Self { segment, segments: Vec::new(), len: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds the string of these pieces, and returns its number.
    pub(super) fn add(&mut self, pieces: [&[u8]; 2]) -> usize {
        let id = self.len;
        self.open().add(pieces);
        self.len += 1;
        id
    }

    /// Adds several strings, which lie one after the other in `bytes` and have these lengths.
    pub(super) fn add_all(&mut self, mut bytes: &[u8], mut lens: &[u32]) {
        while !lens.is_empty() {
            let room = self.in_segment() - (self.len & (self.in_segment() - 1));
            let (some, more) = lens.split_at(room.min(lens.len()));
            let segment = self.open();
            let mut end = segment.bytes.len();
            let (here, beyond) = bytes.split_at(some.iter().map(|&len| len as usize).sum());
            segment.bytes.extend_from_slice(here);
            for &len in some {
                let begin = end;
                end += len as usize;
                segment.note(begin, end);
            }
            self.len += some.len();
            (bytes, lens) = (beyond, more);
        }
    }

    /// The segment to which the next string belongs.
    fn open(&mut self) -> &mut Segment {
        if self.len & (self.in_segment() - 1) == 0 {
            if let Some(last) = self.segments.last_mut() {
                last.is_full();
                self.bytes += last.bytes();
            }
            self.segments.push(Segment::default());
        }
        self.segments.last_mut().expect("there is a segment")
    }

    #[inline]
    pub(super) fn get(&self, id: usize) -> &[u8] {
        let segment = &self.segments[id >> self.segment];
        let (begin, end) = segment.string(id & (self.in_segment() - 1));
        &segment.bytes[begin..end]
    }

    /// The part of the index that tells where a string is.
    #[inline]
    pub(super) fn entry(&self, id: usize) -> Option<&u32> {
        match &self.segments[id >> self.segment].index {
            Index::Blocks(blocks) => blocks.get((id & (self.in_segment() - 1)) >> BLOCK).map(|block| &block.begin),
            Index::Ends(ends) => ends.get(id & (self.in_segment() - 1)),
        }
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
