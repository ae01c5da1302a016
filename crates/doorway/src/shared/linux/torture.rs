//! For `doorway torture`: slots whose memory reports the statement of every write, so that a
//! process can end itself there. The memory can also have a fault, which the torture must find. No
//! program needs this.
//!
//! The text and the handle are those of [`Slots`]. Only the memory differs: it wraps the mapped
//! words. Slots themselves do not pay for it.

use super::super::{Builder, Entered, Error, Known, Previous, ReleaseError, Slots};
use super::Handle;
use super::memory::{Cell, Fault as Failure, Mapped, Row, Var, Waiting, Watch};
use doorway_core::k_assignment::seats::{News, Slot};
use doorway_core::memory::{
    Access, Additive, Bits, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr, Memory, Name, Next, Pid, ReadWrite, Ready,
    Seats, Sleeps, Woken, Word,
};
use std::cell::Cell as Local;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

/// What is done to a process.
pub trait Torturer: std::fmt::Debug + Send + Sync {
    /// Called after the statement with this number has written, locked, unlocked or woken.
    fn has_written(&self, statement: u16);
}

/// What a process of the torture suffers, from its beginning.
#[derive(Default, Debug)]
pub struct Torment {
    /// Is called at every write.
    pub torturer: Option<Box<dyn Torturer>>,
    /// The fault of the memory.
    pub fault: Option<Fault>,
    /// No seat looks clean, so the first free one is taken, whatever state it is in.
    pub any_seat: bool,
}

static TORMENT: OnceLock<Torment> = OnceLock::new();

/// Sets what is done to this process. Only the first call counts.
pub fn begin(torment: Torment) {
    let _ = TORMENT.set(torment);
}

/// A fault of the memory, or of the kernel's part in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The dead are never found.
    NoRecovery,
    /// No byte is locked.
    NoByteLock,
    /// Now and then, a living owner counts as dead.
    LeadingDetector,
    /// Freeing a slot lowers its fence by one.
    FenceNotRaised,
    /// The next owner is not told of deaths.
    Untold,
    /// An offer to a dead process is cleared before the slot is given to it.
    ClearedBeforeConfirmed,
    /// A slot is freed before the waiter that it is offered to has taken it, and the waiter takes
    /// the offer for the slot.
    FreedBeforeConfirmed,
    /// A compare-and-swap is a read and a write.
    TornSwap,
    /// A sleeper never looks for the dead.
    Deaf,
    /// Now and then, a slot is taken that is held.
    BlindTake,
}

impl Fault {
    /// All faults, with the names that people write.
    pub const ALL: [(&'static str, Self); 10] = [
        ("no-recovery", Self::NoRecovery),
        ("no-byte-lock", Self::NoByteLock),
        ("leading-detector", Self::LeadingDetector),
        ("fence-not-raised", Self::FenceNotRaised),
        ("untold", Self::Untold),
        ("cleared-before-confirmed", Self::ClearedBeforeConfirmed),
        ("freed-before-confirmed", Self::FreedBeforeConfirmed),
        ("torn-swap", Self::TornSwap),
        ("deaf", Self::Deaf),
        ("blind-take", Self::BlindTake),
    ];
}

/// The statements of the text that write, lock, unlock or wake, and that slots run.
pub const STATEMENTS: [u16; 31] = [
    3, 4, 5, 6, 72, 101, 11, 12, 13, 14, 15, 19, 20, 21, 22, 221, 241, 242, 253, 254, 271, 28, 291, 293, 294, 30, 311,
    34, 38, 39, 41,
];
/// The statements that slots run only where newcomers may [pass](super::super::Builder::bypass).
pub const STATEMENTS_OF_BYPASS: [u16; 3] = [38, 39, 41];

/// Slots in a memory that suffers a [`Torment`].
#[derive(Debug)]
pub struct Tortured(Handle<Struck>);

/// A slot of [`Tortured`] slots. Only [`leave`](Tortured::leave) gives it back.
#[derive(Debug)]
pub struct Passage(Entered);

impl Passage {
    /// The slot.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.0.slot
    }

    /// The fence.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.0.fence
    }

    /// What became of the previous holders.
    #[must_use]
    pub fn previous(&self) -> &Previous {
        self.0.previous.as_deref().unwrap_or(&Previous::Clean)
    }
}

impl Tortured {
    /// The same as [`Builder::open`].
    ///
    /// # Errors
    /// The same as for [`Builder::open`].
    pub fn open(options: &Builder) -> Result<Self, Error> {
        Handle::open(options).map(Self)
    }

    /// Takes a slot. Returns `None` if the deadline comes first.
    ///
    /// # Errors
    /// The same as for [`Slots::acquire`].
    pub fn enter(&self, deadline: Option<Instant>) -> Result<Option<Passage>, Error> {
        Ok(self.0.enter_by_waiting(deadline)?.map(Passage))
    }

    /// Takes a slot for a task. Dropping the future gives up.
    ///
    /// # Errors
    /// The same as for [`Slots::acquire_async`].
    pub async fn enter_as_task(&self) -> Result<Passage, Error> {
        self.0.enter_async().await.map(Passage)
    }

    /// Gives the slot back.
    ///
    /// # Errors
    /// The same as for [`Permit::release`](super::super::Permit::release).
    pub fn leave(&self, passage: Passage) -> Result<(), ReleaseError> {
        self.0.release(&passage.0)
    }

    /// Gives the slot back as a dropped guard does, without asking for the outcome.
    pub fn leave_without_asking(&self, passage: Passage) {
        let _ = self.0.leave(&passage.0);
    }

    /// The same as [`Slots::break_slot`].
    ///
    /// # Errors
    /// The same as for [`Slots::break_slot`].
    pub fn break_slot(&self, slot: usize) -> Result<Option<Known>, Error> {
        self.0.break_slot(slot, None)
    }

    /// A number that identifies the file: no two files have the same.
    #[must_use]
    pub fn identity(&self) -> u64 {
        self.0.file.header.nonce
    }
}

/// Opens slots as a later version of this program would. That version knows these features of the
/// file, and gives them to a file that it makes. The lower half are compatible features, the upper
/// half are not.
pub fn as_later_version(options: Builder, features: u32) -> Builder {
    Builder { features, ..options }
}

/// [`Tortured::identity`] of plain slots.
#[must_use]
pub fn identity(slots: &Slots) -> u64 {
    slots.handle.file.header.nonce
}

/// Makes the handle forget that its file is damaged, so that the next damage can be tried without
/// opening the file again.
pub fn forgive(slots: &Slots) {
    slots.handle.file.mapping.is_repaired_now();
}

/// Locks the bytes of all seats but `left`, as if they belonged to processes that neither hold nor
/// wait. Other processes then take the seats of the dead at once. The locks last until the slots
/// are dropped.
///
/// # Errors
/// Returns an error if a byte cannot be locked.
pub fn crowd_out(slots: &Slots, left: usize) -> Result<(), Error> {
    let file = &slots.handle.file;
    for seat in left..file.header.seats {
        file.bytes.try_lock(seat)?;
    }
    Ok(())
}

/// The bits of a slot below its fence, and those of its owner.
const BELOW_THE_FENCE: u64 = (1 << 15) - 1;
const HELD: u64 = BELOW_THE_FENCE & !(3 << 1);

/// Mapped words, and what is done to the process that uses them.
#[derive(Debug)]
pub(in crate::shared) struct Struck(Mapped);

impl From<Mapped> for Struck {
    fn from(memory: Mapped) -> Self {
        Self(memory)
    }
}

fn torment() -> &'static Torment {
    TORMENT.get_or_init(Torment::default)
}

fn has(fault: Fault) -> bool {
    torment().fault == Some(fault)
}

fn written(at: Access<()>) {
    if let Some(torturer) = &torment().torturer {
        torturer.has_written(at.label);
    }
}

/// Returns `true` about once in `n` calls, in an order that differs between processes.
fn one_in(n: u64) -> bool {
    static STATE: AtomicU64 = AtomicU64::new(0);
    thread_local!(static SEED: Local<u64> = Local::new(u64::from(std::process::id())));
    let turn = STATE.fetch_add(1, SeqCst).wrapping_add(SEED.get() << 32);
    // SplitMix64.
    let mut z = turn.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31).is_multiple_of(n)
}

impl Memory for Struck {
    type Error = Failure;
    type Part = ();
    const ROOT: () = ();
    type Cell<T: Word> = Cell<T>;
    type Var<T: Word> = Var<T>;
    type Row<T: Word> = Row<T>;
    type Group<T: Word, const N: usize> = Row<T>;
    type Table<T: Word> = Row<T>;
    type Wait = Waiting;
    const PLENTY: usize = Mapped::PLENTY;

    fn part(&self, (): (), _: &'static str, _: Option<usize>) {}

    fn var<T: Word>(&self, name: Name<()>, decl: Decl<'_, T>) -> Var<T> {
        self.0.var(name, decl)
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        self.0.row(n, decl)
    }

    fn group<'a, T: Word, const N: usize>(&self, n: usize, decl: impl Fn(usize) -> (Name<()>, Decl<'a, T>)) -> Row<T> {
        self.0.row(n, decl)
    }

    fn table<T: Word>(&self, name: Name<()>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Row<T> {
        self.0.table(name, rows, columns, decl)
    }

    fn wait_begins(&self, pid: Pid) -> Waiting {
        self.0.wait_begins(pid)
    }

    async fn turn_failed(&self, pid: Pid, wait: &mut Waiting, abortable: bool) -> Result<Next, Failure> {
        self.0.turn_failed(pid, wait, abortable).await
    }
}

impl Ready for Struck {
    fn ready<T>(access: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        crate::native::now(access)
    }
}

impl ReadWrite for Struck {
    async fn read<T: Word>(&self, at: Access<()>, v: &Cell<T>) -> Result<T, Failure> {
        let value = self.0.read(at, v).await?;
        Ok(match at.label {
            301 if torment().any_seat => T::unpack(1), // the row of a waiter
            10 if has(Fault::FreedBeforeConfirmed) && value.pack() & 1 == 0 => {
                let next = (value.pack() | BELOW_THE_FENCE) + 1;
                T::unpack(Slot::held(at.pid.index(), Slot::unpack(next).fence(), News::None).pack())
            }
            2 | 71 if has(Fault::BlindTake) && one_in(100) => T::unpack(value.pack() & !HELD),
            252 if has(Fault::ClearedBeforeConfirmed) => T::unpack(0), // a slot that is in no epoch
            _ => value,
        })
    }

    async fn write<T: Word>(&self, at: Access<()>, v: &Cell<T>, x: T) -> Result<(), Failure> {
        self.0.write(at, v, x).await?;
        written(at);
        Ok(())
    }

    async fn unchanged<T: Word>(
        &self,
        pid: Pid,
        wait: &mut Waiting,
        abortable: bool,
        v: &Cell<T>,
        seen: T,
    ) -> Result<Next, Failure> {
        self.0.unchanged(pid, wait, abortable, v, seen).await
    }
}

impl FetchAdd for Struck {
    async fn fetch_add<T: Additive>(&self, at: Access<()>, v: &Cell<T>, delta: T) -> Result<T, Failure> {
        let old = self.0.fetch_add(at, v, delta).await?;
        written(at);
        Ok(old)
    }
}

impl FetchOr for Struck {
    async fn fetch_or<T: Bits>(&self, at: Access<()>, v: &Cell<T>, mask: T) -> Result<T, Failure> {
        let old = self.0.fetch_or(at, v, mask).await?;
        written(at);
        Ok(old)
    }
}

impl FetchAnd for Struck {
    async fn fetch_and(&self, at: Access<()>, v: &Cell<u64>, mask: u64) -> Result<u64, Failure> {
        let old = self.0.fetch_and(at, v, mask).await?;
        written(at);
        Ok(old)
    }
}

impl CompareSwap for Struck {
    async fn compare_swap<T: Word>(
        &self,
        at: Access<()>,
        v: &Cell<T>,
        old: T,
        new: T,
    ) -> Result<Result<T, T>, Failure> {
        let word = new.pack();
        // A slot has its news in bits 1 and 2, and an offer in bits 2 and 3.
        let new = T::unpack(match at.label {
            22 | 221 if has(Fault::FenceNotRaised) => word.saturating_sub(BELOW_THE_FENCE + 1),
            19 if has(Fault::Untold) => word & !(3 << 2),
            20 | 22 | 221 | 101 | 253 | 271 if has(Fault::Untold) => word & !(3 << 1),
            20 if has(Fault::FreedBeforeConfirmed) => old.pack() & !HELD,
            _ => word,
        });
        if has(Fault::BlindTake) && matches!(at.label, 3 | 72) {
            self.0.write(at, v, new).await?;
            return Ok(Ok(old));
        }
        if has(Fault::TornSwap) {
            let found = self.0.read(at, v).await?;
            if found.pack() != old.pack() {
                return Ok(Err(found));
            }
            std::thread::yield_now();
            self.0.write(at, v, new).await?;
            written(at);
            return Ok(Ok(found));
        }
        let swapped = self.0.compare_swap(at, v, old, new).await?;
        if swapped.is_ok() {
            written(at);
        }
        Ok(swapped)
    }
}

impl Seats for Struck {
    type Bytes = ();

    fn bytes(&self, _: Name<()>, _: usize) {}

    async fn may_have_died(&self, at: Access<()>) -> Result<bool, Failure> {
        Ok(!has(Fault::NoRecovery) && self.0.may_have_died(at).await?)
    }

    async fn is_dead(&self, at: Access<()>, bytes: &(), seat: usize) -> Result<bool, Failure> {
        Ok(match torment().fault {
            Some(Fault::NoRecovery) => false,
            Some(Fault::LeadingDetector) if one_in(20) => true,
            _ => self.0.is_dead(at, bytes, seat).await?,
        })
    }

    async fn try_lock(&self, at: Access<()>, bytes: &(), seat: usize) -> Result<bool, Failure> {
        if has(Fault::NoByteLock) {
            return Ok(true);
        }
        let locked = self.0.try_lock(at, bytes, seat).await?;
        if locked {
            written(at);
        }
        Ok(locked)
    }

    async fn unlock(&self, at: Access<()>, bytes: &(), seat: usize) -> Result<(), Failure> {
        if !has(Fault::NoByteLock) {
            self.0.unlock(at, bytes, seat).await?;
            written(at);
        }
        Ok(())
    }

    fn goes_round(&self, at: Access<()>, turn: u32) -> Result<(), Failure> {
        self.0.goes_round(at, turn)
    }

    fn damaged(&self, at: Access<()>, word: u64) -> Failure {
        self.0.damaged(at, word)
    }
}

impl Sleeps for Struck {
    type Watch = Watch;

    fn has_hints(&self) -> bool {
        self.0.has_hints()
    }

    fn watch_seat(&self, watch: &mut Watch, seat: usize) {
        self.0.watch_seat(watch, seat);
    }

    async fn sleep<T: Word>(
        &self,
        at: Access<()>,
        wait: &mut Waiting,
        v: &Cell<T>,
        seen: T,
        watch: &Watch,
        abortable: bool,
    ) -> Result<Woken, Failure> {
        let woken = self.0.sleep(at, wait, v, seen, watch, abortable).await?;
        let deaf = has(Fault::Deaf) && matches!(woken, Woken::Death | Woken::Again);
        Ok(if deaf { Woken::Called } else { woken })
    }

    async fn wake<T: Word>(&self, at: Access<()>, v: &Cell<T>) -> Result<(), Failure> {
        self.0.wake(at, v).await?;
        written(at);
        Ok(())
    }
}
