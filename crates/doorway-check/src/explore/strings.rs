//! Many short strings of bytes, one after the other, by number.
//!
//! They lie in segments, so adding one never moves the others, and memory grows by a segment at a
//! time. Within a segment, a block of strings has its start, and each string has its distance from
//! that start, in two bytes.

/// The most strings in a segment.
const MOST_IN_SEGMENT: usize = 1 << 14;
/// The most strings in a block.
const MOST_IN_BLOCK: usize = 64;

/// Strings by number, from 0.
#[derive(Debug)]
pub(super) struct Strings {
    /// How many strings are in a segment and in a block, as powers of two.
    segment: u32,
    block: u32,
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
    /// Where each string begins in its block.
    offsets: Vec<u16>,
}

impl Segment {
    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.blocks.capacity() * 4 + self.offsets.capacity() * 2
    }
}

impl Strings {
    /// For strings of at most this length.
    pub(super) fn new(longest: usize) -> Self {
        let power = |most: usize| most.max(1).ilog2();
        let longest = longest.max(1);
        let block = power((usize::from(u16::MAX) / longest).min(MOST_IN_BLOCK));
        let segment = power((u32::MAX as usize / longest).min(MOST_IN_SEGMENT)).max(block);
        Self { segment, block, segments: Vec::new(), len: 0, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many strings a block has.
    pub(super) fn in_block(&self) -> usize {
        1 << self.block
    }

    /// Adds the string of these pieces, and returns its number.
    pub(super) fn add(&mut self, pieces: [&[u8]; 2]) -> usize {
        let id = self.len;
        if id & ((1 << self.segment) - 1) == 0 {
            if let Some(last) = self.segments.last_mut() {
                last.bytes.shrink_to_fit();
                last.blocks.shrink_to_fit();
                last.offsets.shrink_to_fit();
                self.bytes += last.bytes();
            }
            self.segments.push(Segment::default());
        }
        let last = self.segments.last_mut().expect("there is a segment");
        let at = last.bytes.len();
        if id & ((1 << self.block) - 1) == 0 {
            last.blocks.push(at as u32);
        }
        let start = last.blocks[last.blocks.len() - 1] as usize;
        last.offsets.push((at - start) as u16);
        pieces.iter().for_each(|piece| last.bytes.extend_from_slice(piece));
        self.len += 1;
        id
    }

    #[inline]
    pub(super) fn get(&self, id: usize) -> &[u8] {
        let segment = &self.segments[id >> self.segment];
        let at = id & ((1 << self.segment) - 1);
        let block = at >> self.block;
        let start = segment.blocks[block] as usize;
        let begin = start + usize::from(segment.offsets[at]);
        let end = if (at + 1) >> self.block == block && at + 1 < segment.offsets.len() {
            start + usize::from(segment.offsets[at + 1])
        } else {
            segment.blocks.get(block + 1).map_or(segment.bytes.len(), |&end| end as usize)
        };
        &segment.bytes[begin..end]
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.segments.last().map_or(0, Segment::bytes) + self.segments.capacity() * size_of::<Segment>()
    }
}
