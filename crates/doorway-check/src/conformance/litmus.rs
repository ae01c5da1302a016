//! Small texts, and their allowed outcomes.

use super::Outcome;
use doorway_core::memory::{Additive, Anybody, Machine, Pid, Process, Site, Word, decl};
use std::collections::BTreeSet;

/// The variables of the litmus tests.
#[derive(Debug)]
pub struct Vars<M: Machine> {
    /// The part they are declared in.
    pub part: M::Part,
    x: M::Var<u64>,
    y: M::Var<u64>,
    signed: M::Var<i64>,
    narrow: M::Var<u64>,
    narrow_signed: M::Var<i64>,
    flag: M::Var<bool>,
    who: M::Var<Option<Pid>>,
    packed: M::Var<Packed>,
    row: M::Row<u64>,
    table: M::Table<u64>,
    private: M::Row<u64>,
    lock: M::Lock,
}

impl<M: Machine> Vars<M> {
    /// Declares them.
    pub fn new(site: &Site<'_, M>) -> Self {
        Self {
            part: site.here(),
            x: site.var("x", 0),
            y: site.var("y", 0),
            signed: site.var("signed", 1),
            narrow: site.var("narrow", decl(3).wraps_at(2)),
            narrow_signed: site.var("narrow signed", decl(3).wraps_at(3)),
            flag: site.var("flag", false),
            who: site.var("who", None),
            packed: site.var("packed", Packed { high: 0, low: u32::MAX - 1 }),
            row: site.row("row", 4, |i| decl(i as u64).home(Pid::new(i % 2))),
            table: site.table("table", 1..3, 2, 5),
            private: site.row("private", 2, |p| decl(p as u64).private(Pid::new(p))),
            lock: site.lock(),
        }
    }
}

/// Two numbers in one word.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Packed {
    high: u32,
    low: u32,
}

impl Word for Packed {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
    fn unpack(word: u64) -> Self {
        Self { high: (word >> 32) as u32, low: word as u32 }
    }
}
impl Additive for Packed {}

/// A litmus test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Litmus {
    /// Each writes its own variable and reads the other's: at least one sees a write.
    StoreBuffering,
    /// Data, then a flag: a process that sees the flag sees the data.
    MessagePassing,
    /// Each reads one variable and then writes the other: neither sees the future.
    LoadBuffering,
    /// Two readers agree on the order of two writes.
    IndependentReads,
    /// Reads of one variable never go back.
    Coherence,
    /// A wait ends with the write it waits for, and sees what was written before.
    WaitForOne,
    /// A wait on two variables ends once both are written.
    WaitForTwo,
    /// Values of all types come back as they were written.
    RoundTrip,
    /// The cells of a row are separate, even in one cache line.
    Row,
    /// The entries of a table are separate.
    Table,
    /// A private variable keeps what its owner wrote, whatever the other process writes to its own.
    Private,
    /// Of two atomic blocks that read and write, one sees what the other wrote.
    AtomicBlock,
    /// Two fetch-and-adds see different values.
    FetchAdd,
    /// Fetch-and-add goes below zero.
    FetchAddSigned,
    /// A narrow variable wraps, and compares by value.
    Wraps,
    /// Fetch-and-add on one field of a packed word.
    PackedField,
    /// Fetch-and-or keeps both bits.
    FetchOr,
    /// Two bounded decrements of 1: one succeeds, and the value stays zero.
    BoundedDecrement,
    /// One of two test-and-sets wins.
    TestAndSet,
    /// Two swaps are ordered.
    Swap,
    /// One of two compare-and-swaps wins, and the other sees which.
    CompareSwap,
}

use Litmus as L;

impl Litmus {
    /// All of them.
    pub const ALL: &[Self] = &[
        L::StoreBuffering,
        L::MessagePassing,
        L::LoadBuffering,
        L::IndependentReads,
        L::Coherence,
        L::WaitForOne,
        L::WaitForTwo,
        L::RoundTrip,
        L::Row,
        L::Table,
        L::Private,
        L::AtomicBlock,
        L::FetchAdd,
        L::FetchAddSigned,
        L::Wraps,
        L::PackedField,
        L::FetchOr,
        L::BoundedDecrement,
        L::TestAndSet,
        L::Swap,
        L::CompareSwap,
    ];
    /// How many values a process returns, at most.
    pub const RESULTS: usize = 6;

    /// How many processes it has.
    #[must_use]
    pub fn processes(self) -> usize {
        match self {
            L::RoundTrip | L::Row | L::Table | L::FetchAddSigned | L::Wraps | L::PackedField => 1,
            L::WaitForTwo => 3,
            L::IndependentReads => 4,
            _ => 2,
        }
    }

    /// What a process does and returns.
    ///
    /// # Errors
    /// Returns an error if an access failed.
    pub async fn body<M: Machine>(self, v: &Vars<M>, process: &Process<M>) -> Result<Vec<u64>, M::Error> {
        let p = process.on(v.part);
        let me = p.pid().index();
        // Each process's own variable, and the other's.
        let (mine, other) = if me.is_multiple_of(2) { (&v.x, &v.y) } else { (&v.y, &v.x) };
        Ok(match (self, me) {
            (L::StoreBuffering, _) => {
                p.at(1).write(mine, 1).await?;
                vec![p.at(2).read(other).await?]
            }
            (L::LoadBuffering, _) => {
                let saw = p.at(1).read(mine).await?;
                p.at(2).write(other, 1).await?;
                vec![saw]
            }
            (L::MessagePassing | L::WaitForOne, 0) => {
                p.at(1).write(&v.x, 7).await?;
                p.at(2).write(&v.y, 1).await?;
                vec![]
            }
            (L::MessagePassing, _) => vec![p.at(3).read(&v.y).await?, p.at(4).read(&v.x).await?],
            (L::WaitForOne, _) => {
                vec![p.at(3).wait_until(&v.y, |y| y != 0).await?, p.at(4).read(&v.x).await?]
            }
            (L::WaitForTwo, 2) => {
                let both = p
                    .spin_until(|| async {
                        let sum = p.at(2).read(&v.x).await? + p.at(3).read(&v.y).await?;
                        Ok((sum == 2).then_some(sum))
                    })
                    .await?;
                vec![both]
            }
            (L::WaitForTwo, _) | (L::IndependentReads, 0 | 1) => {
                p.at(1).write(mine, 1).await?;
                vec![]
            }
            (L::IndependentReads, _) => vec![p.at(2).read(mine).await?, p.at(3).read(other).await?],
            (L::Coherence, 0) => {
                p.at(1).write(&v.x, 1).await?;
                vec![]
            }
            (L::Coherence, _) => vec![p.at(2).read(&v.x).await?, p.at(3).read(&v.x).await?],
            (L::RoundTrip, _) => {
                p.at(1).write(&v.signed, i64::MIN).await?;
                p.at(2).write(&v.who, Some(Pid::new(3))).await?;
                p.at(3).write(&v.flag, true).await?;
                p.at(4).write(&v.x, u64::MAX).await?;
                vec![
                    p.at(5).read(&v.signed).await?.pack(),
                    p.at(6).read(&v.who).await?.pack(),
                    p.at(7).read(&v.flag).await?.pack(),
                    p.at(8).read(&v.x).await?,
                ]
            }
            (L::Row, _) => {
                p.at(1).write(&v.row[1], 11).await?;
                let mut all = Vec::new();
                for i in 0..4 {
                    all.push(p.at(2).read(&v.row[i]).await?);
                }
                all
            }
            (L::Table, _) => {
                p.at(1).write(&v.table[(2, 0)], 11).await?;
                let mut all = Vec::new();
                for at in [(1, 0), (1, 1), (2, 0), (2, 1)] {
                    all.push(p.at(2).read(&v.table[at]).await?);
                }
                all
            }
            (L::Private, _) => {
                let before = p.at(1).read(&v.private[me]).await?;
                p.at(2).write(&v.private[me], before + 7).await?;
                let turn = p.at(3).fetch_add(&v.x, 1).await?;
                vec![p.at(4).read(&v.private[me]).await?, turn]
            }
            (L::AtomicBlock, _) => {
                p.block_begins(&v.lock).await?;
                let saw = p.at(1).read(&v.x).await?;
                p.at(2).write(&v.x, saw + 1).await?;
                p.block_ends(&v.lock);
                vec![saw]
            }
            (L::FetchAdd, _) => vec![p.at(1).fetch_add(&v.x, 1).await?],
            (L::FetchAddSigned, _) => vec![
                p.at(1).fetch_add(&v.signed, -1).await?.pack(),
                p.at(2).fetch_add(&v.signed, -1).await?.pack(),
                p.at(3).fetch_add(&v.signed, 2).await?.pack(),
                p.at(4).read(&v.signed).await?.pack(),
            ],
            (L::Wraps, _) => vec![
                p.at(1).fetch_add(&v.narrow, 1).await?,
                p.at(2).read(&v.narrow).await?,
                p.at(3).fetch_add(&v.narrow_signed, 1).await?.pack(),
                p.at(4).read(&v.narrow_signed).await?.pack(),
                u64::from(p.at(5).compare_swap(&v.narrow_signed, -4, 2).await?.is_ok()),
                p.at(6).read(&v.narrow_signed).await?.pack(),
            ],
            (L::PackedField, _) => {
                p.at(1).fetch_add(&v.packed, Packed { high: 1, low: 0 }).await?;
                p.at(2).fetch_add(&v.packed, Packed { high: 0, low: 1 }).await?;
                let Packed { high, low } = p.at(3).read(&v.packed).await?;
                vec![u64::from(high), u64::from(low)]
            }
            (L::FetchOr, _) => {
                vec![p.at(1).fetch_or(&v.x, 1 << me).await?, p.at(2).read(&v.x).await?]
            }
            (L::BoundedDecrement, _) => {
                if me == 0 {
                    p.at(1).write(&v.x, 1).await?;
                }
                vec![p.at(2).bounded_decrement(&v.x).await?, p.at(3).bounded_decrement(&v.x).await?]
            }
            (L::TestAndSet, _) => vec![u64::from(p.at(1).test_and_set(&v.flag).await?)],
            (L::Swap, _) => vec![p.at(1).swap(&v.x, me as u64 + 1).await?],
            (L::CompareSwap, _) => match p.at(1).compare_swap(&v.who, None, Some(p.pid())).await? {
                Ok(old) => vec![1, old.pack()],
                Err(seen) => vec![0, seen.pack()],
            },
        })
    }

    /// The outcomes that atomic, sequentially consistent memory allows.
    #[must_use]
    pub fn allowed(self) -> BTreeSet<Outcome> {
        const MINUS_ONE: u64 = u64::MAX;
        let list: &[&[&[u64]]] = match self {
            L::StoreBuffering => &[&[&[0], &[1]], &[&[1], &[0]], &[&[1], &[1]]],
            L::LoadBuffering => &[&[&[0], &[0]], &[&[0], &[1]], &[&[1], &[0]]],
            L::MessagePassing => &[&[&[], &[0, 0]], &[&[], &[0, 7]], &[&[], &[1, 7]]],
            L::IndependentReads => {
                let all = (0..16u64).filter(|bits| *bits != 0b0101); // each saw its own first
                let read =
                    |bits: u64| vec![vec![], vec![], vec![bits & 1, bits >> 1 & 1], vec![bits >> 2 & 1, bits >> 3]];
                return all.map(read).collect();
            }
            L::Coherence => &[&[&[], &[0, 0]], &[&[], &[0, 1]], &[&[], &[1, 1]]],
            L::WaitForOne => &[&[&[], &[1, 7]]],
            L::WaitForTwo => &[&[&[], &[], &[2]]],
            L::RoundTrip => &[&[&[1 << 63, 4, 1, u64::MAX]]],
            L::Row => &[&[&[0, 11, 2, 3]]],
            L::Table => &[&[&[5, 5, 11, 5]]],
            L::Private => &[&[&[7, 0], &[8, 1]], &[&[7, 1], &[8, 0]]],
            L::AtomicBlock => &[&[&[0], &[1]], &[&[1], &[0]]],
            L::FetchAdd => &[&[&[0], &[1]], &[&[1], &[0]]],
            L::FetchAddSigned => &[&[&[1, 0, MINUS_ONE, 1]]],
            L::Wraps => &[&[&[3, 0, 3, -4i64 as u64, 1, 2]]],
            L::PackedField => &[&[&[1, u32::MAX as u64]]],
            L::FetchOr => &[&[&[0, 1], &[1, 3]], &[&[2, 3], &[0, 2]], &[&[0, 3], &[1, 3]], &[&[2, 3], &[0, 3]]],
            L::BoundedDecrement => &[&[&[1, 0], &[0, 0]], &[&[0, 0], &[1, 0]], &[&[0, 0], &[0, 1]]],
            L::TestAndSet => &[&[&[0], &[1]], &[&[1], &[0]]],
            L::Swap => &[&[&[0], &[1]], &[&[2], &[0]]],
            L::CompareSwap => &[&[&[1, 0], &[0, 1]], &[&[0, 2], &[1, 0]]],
        };
        list.iter().map(|outcome| outcome.iter().map(|p| p.to_vec()).collect()).collect()
    }
}
