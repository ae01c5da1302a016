//! A hash table of numbers that grows without looking at what they stand for.
//!
//! A number has 32 bits of its hash beside it, its *tag*. Eight numbers and their tags are a
//! *bucket*, which is one cache line: a look-up compares all tags of a bucket at once, and mostly
//! one bucket is enough. The place of a number follows from the tag, and a larger tag never has an
//! earlier place. So a table grows to any size by one walk from the front to the back of both
//! tables, and never reads a state again.

/// How many numbers a bucket holds.
const LANES: usize = 8;
/// Stands for no number.
const FREE: u32 = u32::MAX;
/// The largest number that a table can hold.
pub(super) const MOST: u32 = FREE - 1;

/// Numbers by the hashes of what they stand for.
#[derive(Default, Debug)]
#[repr(align(128))] // tables of several threads lie beside each other
pub(super) struct Table {
    buckets: Vec<Bucket>,
    len: usize,
}

/// Numbers and their tags. Those that are free come last.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Bucket {
    tags: [u32; LANES],
    numbers: [u32; LANES],
}

impl Bucket {
    const EMPTY: Self = Self { tags: [0; LANES], numbers: [FREE; LANES] };

    /// The places with this tag, a bit for each. Free ones may be among them.
    #[inline]
    fn with_tag(&self, tag: u32) -> u32 {
        self.tags.iter().zip(0..).fold(0, |places, (&known, at)| places | u32::from(known == tag) << at)
    }

    /// The first free place.
    #[inline]
    fn free(&self) -> Option<usize> {
        (self.numbers[LANES - 1] == FREE).then(|| self.numbers.iter().filter(|&&number| number != FREE).count())
    }
}

/// The bits of a hash that tell places in a table. The six above them tell tables apart.
pub(super) fn tag(hash: u64) -> u32 {
    (hash >> 26) as u32
}

impl Table {
    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// A number with this tag of which `is` holds; or the slot where it could be added, if
    /// there is room.
    #[inline]
    pub(super) fn find(&self, tag: u32, mut is: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        if self.buckets.is_empty() {
            return Err(0);
        }
        let mut at = self.home(tag);
        loop {
            let bucket = &self.buckets[at];
            let mut places = bucket.with_tag(tag);
            while places != 0 {
                let number = bucket.numbers[places.trailing_zeros() as usize];
                if number != FREE && is(number) {
                    return Ok(number);
                }
                places &= places - 1;
            }
            if let Some(lane) = bucket.free() {
                return Err(at * LANES + lane);
            }
            at = self.next(at);
        }
    }

    /// The bucket where a look-up begins.
    #[inline]
    pub(super) fn begin(&self, tag: u32) -> Option<&Bucket> {
        self.buckets.get(self.home(tag))
    }

    /// Makes room for this many more numbers: at most seven eighths of the slots are taken.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = (self.len + more) / (LANES - 1) + 1;
        if needed <= self.buckets.len() {
            return;
        }
        let buckets = needed.max(self.buckets.len() * 5 / 4).max(2);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::EMPTY; buckets]);
        // How many numbers each bucket has. Most numbers go to the bucket of the one before, and a
        // processor waits long for a line of numbers of which it has just written one.
        let mut many = vec![0u8; buckets];
        for bucket in old {
            for (tag, number) in bucket.tags.into_iter().zip(bucket.numbers) {
                if number == FREE {
                    break;
                }
                let mut at = self.home(tag);
                while usize::from(many[at]) == LANES {
                    at = self.next(at);
                }
                let lane = usize::from(many[at]) % LANES;
                many[at] += 1;
                let bucket = &mut self.buckets[at];
                (bucket.tags[lane], bucket.numbers[lane]) = (tag, number);
            }
        }
    }

    /// Adds a number in the slot where it was not found. There was room for it before that.
    #[inline]
    pub(super) fn fill(&mut self, slot: usize, tag: u32, number: u32) {
        let (bucket, lane) = (&mut self.buckets[slot / LANES], slot % LANES);
        debug_assert!(number <= MOST && bucket.numbers[lane] == FREE);
        (bucket.tags[lane], bucket.numbers[lane]) = (tag, number);
        self.len += 1;
    }

    /// Adds a number that is not in the table, and makes room for it.
    pub(super) fn add(&mut self, tag: u32, number: u32) {
        self.reserve(1);
        if let Err(slot) = self.find(tag, |_| false) {
            self.fill(slot, tag, number);
        }
    }

    /// Replaces the number in a slot. No room was made since the slot was filled.
    #[inline]
    pub(super) fn replace(&mut self, slot: usize, number: u32) {
        self.buckets[slot / LANES].numbers[slot % LANES] = number;
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }
}
