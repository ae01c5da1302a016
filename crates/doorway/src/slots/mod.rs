//! [`Slots`]: at most `k` holders, first come, first enabled, and each knows its slot.

mod entering;
mod errors;
mod future;
mod guard;
mod numbers;
mod poll;

pub use errors::{AcquireError, AcquireTimeoutError, NotMine, TooMany, TryAcquireError};
pub use future::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned};
pub use guard::{OwnedSlotGuard, Permit, SlotGuard};
pub use numbers::{KnowsSlots, Numbered, Numbering, Passing, Unnumbered};
pub use poll::PollSlots;

use crate::native::{ANYONE, Cell, Late, Native, OF_GUARDS, now, sure};
use crate::waiting::Policy;
use doorway_core::k_assignment::Slots as Text;
use doorway_core::k_assignment::names::{EitherNames, FEW, FlagNames, Names, Notes};
use doorway_core::k_exclusion::bypass::Tray;
use doorway_core::k_exclusion::turnstile::{Endless, Gate, KEPT_RINGS, Limits, Look, MOST_RINGS, Turnstile};
use doorway_core::memory::{Near, Pid, Site};
use doorway_core::registry::{SizeError, Sizes};
use std::fmt;

/// At most `k` holders at a time, each with its own slot number.
///
/// Threads and tasks may share one object, on any executor.
///
/// # Fairness
/// First come, first enabled: a caller gets in only when all callers that asked before it can get
/// in too. If a caller gives up, its place goes to the next waiter. With [`unfair`](Self::unfair),
/// newcomers retry for a while before they get in line. With [`bypass`](Self::bypass), newcomers
/// may pass the first waiter, a bounded number of times.
///
/// The line grows by itself, up to two million waiters. More callers than that wait outside the
/// line, in no particular order.
///
/// # Names
/// The names of all methods that acquire follow one rule:
/// `[try_]acquire[_many][_timeout|_deadline][_owned][_async]`.
///
/// | | one place | several | with a guard that owns a reference |
/// |---|---|---|---|
/// | wait as a thread | `acquire` | `acquire_many` | `…_owned` |
/// | do not wait | `try_acquire` | `try_acquire_many` | `…_owned` |
/// | wait for some time | `acquire_timeout` | `acquire_many_timeout` | `…_owned` |
/// | wait until a time | `acquire_deadline` | `acquire_many_deadline` | `…_owned` |
/// | wait as a task | `acquire_async` | `acquire_many_async` | `acquire_owned_async`, `acquire_many_owned_async` |
/// | be polled | [`PollSlots::poll_acquire`] | [`PollSlots::poll_acquire_many`] | always |
///
/// `acquire_many(1)` is `acquire`: the same order, the same place. Tasks have no `_timeout`: use
/// the executor's, since dropping the future gives up exactly.
///
/// # Giving up
/// A timeout and a dropped future give up exactly: no place and no wake-up is lost, and no other
/// caller is let in too early. If a waiter is granted a place just as it gives up, it either
/// returns the guard or passes the place on. A future that is forgotten (`mem::forget`) while it
/// waits is different: it counts as a waiter that died. When its turn comes, it is given a place,
/// and that place is lost.
///
/// # On tokio
/// Slots take no part in tokio's cooperative budget. A task that acquires and releases in a loop,
/// and never has to wait, never yields its worker. Add one line to the loop:
/// `tokio::task::consume_budget().await`.
///
/// # When places go
/// [`forget`](Self::forget) and [`Permit::forget`] remove places. A caller that waits for more
/// places than are left gets an error, so that it does not hold up the callers behind it. A caller
/// that waits for one place goes on waiting even if none is left: another thread may
/// [`add`](Self::add) one, or [`close`](Self::close) the slots.
///
/// # Memory ordering
/// Suppose that an `acquire` could not have succeeded if a guard had not been dropped. Then
/// everything that was done before that drop *happens before* everything that is done after the
/// `acquire` has returned. Also, what a holder of a slot does happens before what the next holder
/// of that slot does.
///
/// # Memory use
/// 384 bytes. With more than 16 places, `new` also allocates a bit for each place, in words of 64.
/// Nothing else is allocated before a caller waits, asks for several places at once, or asks for a
/// [`fence`](Permit::fence). Then the line allocates up to 128 bytes for each caller in line. Once
/// the line is empty, it keeps at most 8.4 MB for the next callers that wait. The future of a task
/// that waits for one place allocates nothing.
///
/// Callers that have given up take no memory for long: while `w` callers wait for one place each,
/// the line has fewer than `w + k + 60` others. Only behind a caller that asks for several places,
/// or a task that was woken and is not polled, do they pile up: up to two million of them, and 134
/// MB, until that caller is served or gives up.
///
/// # When not to use this
/// For one place with data behind it, use a mutex. To limit *rates*, use a rate limiter. For
/// millions of units (bytes of a budget), use another semaphore: there are at most
/// [65,535](Self::MOST) places here. Between processes, use
/// [`shared::Slots`](crate::shared::Slots).
///
/// # Cost
/// An uncontended `acquire` makes two read-modify-writes and a few loads, and dropping the guard
/// makes one read-modify-write and a store. One of the read-modify-writes and the store are for the
/// slot number; callers that need none use [`without_numbers`](Self::without_numbers). With more
/// than 16 places, a slot number takes one read-modify-write more. A [`fence`](Permit::fence) costs
/// nothing before a guard is asked for it; the first fence of an object allocates 256 bytes, and 8
/// for each slot. (With a [bypass](Self::bypass), each `acquire` makes one load more, and some
/// callers a read-modify-write.) `doorway-lab bench slots` compares.
///
/// # Examples
/// ```
/// use doorway::Slots;
///
/// let gpus = Slots::new(4)?;
/// let mine = gpus.acquire()?;
/// let yours = gpus.acquire()?;
/// assert_eq!((mine.slot(), yours.slot()), (0, 1)); // which of the four
/// assert_eq!(gpus.available(), 2);
/// drop(mine);
/// assert_eq!(gpus.acquire()?.slot(), 0); // the lowest that is free
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[repr(C, align(128))] // so that the text can lay out cache lines
pub struct Slots<N: Numbering = Numbered> {
    text: Text<Native, N::SlotNames, Endless<Native>, N::Tray>,
    manners: Manners,
}

// All that a passage writes shares one cache line, with the flags of all names if there are few.
#[cfg(target_pointer_width = "64")]
const _: () = {
    const fn shares_a_line(written: usize, names: usize) -> bool {
        written.is_multiple_of(64) && written / 64 == (names + FEW - 1) / 64
    }
    type Of<Tray> = Text<Native, EitherNames<Native>, Endless<Native>, Tray>;
    assert!(shares_a_line(Of::<()>::WRITTEN, Of::<()>::NAMES));
    assert!(shares_a_line(Of::<Tray<Native>>::WRITTEN, Of::<Tray<Native>>::NAMES));
};

/// How callers wait.
#[derive(Clone, Copy, Debug)]
struct Manners {
    policy: Policy,
    unfair: bool,
}

impl Slots {
    /// The largest number of places.
    pub const MOST: usize = Pid::LIMIT;

    /// Makes slots with this many places.
    ///
    /// # Errors
    /// Returns an error if `places` is 0 or more than [`MOST`](Self::MOST).
    ///
    /// # Examples
    /// ```
    /// use doorway::{SizeError, Slots};
    /// assert_eq!(Slots::new(0).unwrap_err(), SizeError::NoPlace);
    /// assert!(matches!(Slots::new(Slots::MOST + 1), Err(SizeError::TooManyPlaces(_))));
    /// ```
    pub fn new(places: usize) -> Result<Self, SizeError> {
        let Sizes { k, .. } = Sizes::new(1, places)?;
        Ok(Self::build(k, 0, k, (0, 0), ()))
    }

    /// [`new`](Self::new) before the program runs, for statics: at most 16 places.
    ///
    /// # Panics
    /// Panics if `places` is 0 or more than 16. In a static, that is a compile-time error.
    ///
    /// # Examples
    /// ```
    /// use doorway::Slots;
    ///
    /// static GPUS: Slots = Slots::const_new(4);
    ///
    /// assert_eq!(GPUS.acquire()?.slot(), 0);
    /// # Ok::<(), doorway::Closed>(())
    /// ```
    #[must_use]
    pub const fn const_new(places: usize) -> Self {
        assert!(places > 0, "there must be a place");
        assert!(
            places <= FEW,
            "at most 16 places can be made before the program runs; use `Slots::new` in a `LazyLock`"
        );
        let limits = Limits::for_anybody(FEW);
        let (gate, front) = ([Cell::of_word_early(Gate::word(places))], [Cell::of_word_early(0)]);
        let (door, all) = ([Cell::of_word_awaited(0)], [Cell::of_word_awaited(places as u64)]);
        let records = Late::of_word_early(limits.ring as u32, MOST_RINGS, 0).of_guards();
        let line = Endless::of_parts(
            Near::of([Cell::of_word_early(0)]),
            Near::of([Cell::of_word_early(0)]),
            Near::of([Cell::of_word_early(0)]),
            records,
            limits.ring,
            KEPT_RINGS,
        );
        let line = Turnstile::of_parts(
            (),
            limits,
            Near::of([Cell::of_word_early(0)]),
            Near::of(gate),
            Near::of(front),
            Near::of(door),
            Near::of(all),
            line,
        );
        let notes = Notes::of_parts(Late::of_word_early(FEW as u32, 1, 0), Late::of_word_early(FEW as u32, 1, 0));
        let names = FlagNames::of_parts([const { Cell::of_byte_early(0) }; FEW], notes, FEW);
        let policy = if places == 1 { Policy::PARK } else { Policy::SLEEP };
        Self {
            text: Text::of_parts((), EitherNames::Few(names), line, FEW, ()),
            manners: Manners { policy, unfair: false },
        }
    }

    /// Makes guards without slot numbers, which makes acquiring faster.
    ///
    /// # Examples
    /// ```
    /// let permits = doorway::Slots::new(2)?.without_numbers();
    /// let _one = permits.acquire()?;
    /// assert_eq!(permits.available(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_numbers(self) -> Slots<Unnumbered> {
        Slots { text: self.text.with_names(&Site::new(ANYONE.memory()), None), manners: self.manners }
    }
}

impl<N: Numbering> Slots<N> {
    /// Builds slots with `free` free places, `lost` lost ones and room for `room`, which continue
    /// with this ticket and this fence number.
    fn build(free: usize, lost: usize, room: usize, (ticket, fences): (u64, u64), tray: N::Tray) -> Self {
        // The names take this much room in any case.
        let room = room.next_multiple_of(if room <= FEW { FEW } else { 64 }).min(Slots::MOST);
        let line = |site: &Site<'_, Native>| {
            Turnstile::endless_with_lost(site, free, lost, Limits::for_anybody(room), MOST_RINGS, ticket)
                .noting_tickets()
                .keeping_rings(KEPT_RINGS)
        };
        // A waiter for the only place should let its holder run. Among several places, a waiter
        // that yields is in the way of the holders.
        let policy = if free + lost == 1 { Policy::PARK } else { Policy::SLEEP };
        let text = Text::new(&Site::new(OF_GUARDS.memory()), room, Some(fences), line);
        Self { text: text.with(tray), manners: Manners { policy, unfair: false } }
    }

    /// Lets a newcomer retry before it gets in line: for some microseconds if sections are long,
    /// and for up to 26 milliseconds if others come and go quickly.
    ///
    /// While it retries, it has no place in line, and other callers that retry may get in first.
    /// Once it is in line, no caller passes it. This improves throughput if sections are short and
    /// there are more threads than processors.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(2)?.unfair();
    /// assert!(slots.acquire().is_ok());
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    #[must_use]
    pub fn unfair(mut self) -> Self {
        self.manners.unfair = true;
        self
    }

    /// Lets newcomers pass waiters, within a bound.
    ///
    /// While a waiter is first in line, at most `newcomers` callers that came later get in before
    /// it. **A waiter with `m` waiters before it is passed at most `(m + 1) * newcomers` times.** A
    /// waiter that asks for `u` places at once counts as `u` waiters. With 0, no caller in line is
    /// passed.
    ///
    /// In strict order, every passage is a switch of threads as soon as there are more threads than
    /// processors. With a bypass, a thread that comes back at once may go on while the first waiter
    /// wakes up. Once the bound is reached, the next holder that leaves hands its place to that
    /// waiter. Among themselves, waiters are served in order of arrival.
    ///
    /// A thread that finds no place first retries, as with [`unfair`](Self::unfair). The bound
    /// protects it only once it is in line.
    ///
    /// A caller that asks for several places at once passes no waiter. It may be passed like any
    /// other.
    ///
    /// **A waiter that dies costs more than in strict order.** If a waiting future is leaked with
    /// `mem::forget`, a place is lost when its turn comes, as in strict order. With a bypass, it
    /// also keeps free places from the waiters behind it, until the bound is reached. If no
    /// newcomers come, those waiters wait for ever. If futures may be leaked, use strict order.
    ///
    /// So that guards have a [`fence`](Permit::fence), each caller makes one load. A caller that
    /// passes a waiter or has waited in line also makes a read-modify-write.
    ///
    /// The type of the result is `Slots<Passing>`, or `Slots<Passing<Unnumbered>>`, and its guards
    /// are `SlotGuard<'_, Passing>`. An earlier call of [`unfair`](Self::unfair) has no effect.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(4)?.bypass(64);
    /// let guard = slots.acquire()?;
    /// assert_eq!((guard.slot(), slots.newcomers_pass()), (0, Some(64)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bypass(self, newcomers: u32) -> Slots<N::Passing> {
        let text = self.text.with_other(|tray| N::tray_with_bound(tray, newcomers));
        Slots { text, manners: Manners { unfair: false, ..self.manners } }
    }

    /// How many newcomers may [pass](Self::bypass) the first waiter. `None` without a bypass: then
    /// no waiter is passed.
    #[must_use]
    pub fn newcomers_pass(&self) -> Option<u32> {
        self.tray().map(Tray::most)
    }

    /// What newcomers need in order to pass, if they may.
    #[inline(always)]
    fn tray(&self) -> Option<&Tray<Native>> {
        N::tray(self.text.beside())
    }

    /// The source of fence numbers: larger than the number of every guard so far.
    fn stamps(&self) -> u64 {
        self.look().next + self.tray().map_or(0, numbers::stamps)
    }

    /// Restores the order of arrival.
    pub(crate) fn fair(mut self) -> Self {
        self.manners.unfair = false;
        self
    }

    /// Reserves room for `places` places: [`add`](Self::add) can go up to that number.
    ///
    /// A guard that was leaked with `mem::forget` keeps its place, and no other caller gets its
    /// slots.
    ///
    /// # Errors
    /// Returns an error if `places` is more than [`MOST`](Self::MOST).
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(1)?.room_for(100)?;
    /// slots.add(99)?;
    /// assert_eq!(slots.available(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn room_for(self, places: usize) -> Result<Self, SizeError> {
        let Sizes { k, .. } = Sizes::new(1, places.max(1))?;
        // No caller is inside or in line, because such a caller borrows the slots. Lost places stay
        // lost. But a waiter that was leaked may have left places in the tray.
        let look = self.look();
        let left = self.tray().map_or(0, |tray| sure(now(tray.loose(&ANYONE))));
        let (free, room) = ((look.free + left) as usize, k.max(self.text.room() as usize));
        let so_far = (look.next, self.text.largest_fence(self.stamps()));
        let tray = N::tray_after(self.text.beside());
        let new = Self::build(free, look.places as usize - free, room, so_far, tray);
        sure(now(new.text.keep_names_of(&ANYONE, &self.text)));
        if look.closed {
            new.close();
        }
        Ok(Self { manners: self.manners, ..new })
    }

    /// Sets how threads wait. The default is [`Policy::PARK`] for one place, and [`Policy::SLEEP`]
    /// for several.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.manners.policy = policy;
        self
    }

    pub(crate) fn look(&self) -> Look {
        sure(now(self.text.look(&ANYONE)))
    }

    /// How many of the places that a look found waited for were given up since.
    fn gave_up(&self, look: &Look) -> u64 {
        sure(now(self.text.ghosts(&ANYONE, look))).min(look.waiting)
    }

    /// How many places callers in line wait for. It takes a step for each of them.
    pub(crate) fn waiting(&self) -> u64 {
        let look = self.look();
        look.waiting - self.gave_up(&look)
    }

    /// The number of places.
    #[must_use]
    pub fn places(&self) -> usize {
        sure(now(self.text.places(&ANYONE))) as usize
    }

    /// The number of places up to which [`add`](Self::add) can go.
    pub(crate) fn room(&self) -> usize {
        self.text.room() as usize
    }

    /// How many places are free. The number is zero while a caller waits. It is never larger than
    /// the number of [places](Self::places), and never larger than the number of places that were
    /// free at some moment of the call.
    #[must_use]
    pub fn available(&self) -> usize {
        self.look().free as usize
    }

    /// Adds places, and lets waiters in.
    ///
    /// # Errors
    /// Returns an error if there is not enough [room](Self::room_for). By default, there is room
    /// for the next multiple of 16 places, or of 64 if there are more than 16.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(1)?;
    /// let _one = slots.acquire()?;
    /// slots.add(1)?;
    /// assert_eq!(slots.acquire()?.slot(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(&self, places: usize) -> Result<(), TooMany> {
        sure(now(self.text.add(&ANYONE, places as u64)))
    }

    /// Removes up to `places` places that are free now. Returns how many it removed. To remove a
    /// place that is held, [forget](Permit::forget) its guard.
    ///
    /// # Examples
    /// ```
    /// let slots = doorway::Slots::new(3)?;
    /// let _held = slots.acquire()?;
    /// assert_eq!(slots.forget(5), 2);
    /// assert_eq!(slots.places(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forget(&self, places: usize) -> usize {
        let one = || self.try_acquire().ok().map(Permit::forget);
        std::iter::from_fn(one).take(places).count()
    }

    /// Closes the slots: no more callers are let in.
    ///
    /// Once this has returned, every waiter and every later caller gets an error. If the time of a
    /// caller runs out just then, it may get the error for that instead. Existing guards stay
    /// valid.
    ///
    /// # Examples
    /// ```
    /// use doorway::{Closed, Slots, TryAcquireError};
    /// let slots = Slots::new(1)?;
    /// let last = slots.acquire()?;
    /// slots.close();
    /// assert_eq!(slots.acquire().unwrap_err(), Closed);
    /// assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::Closed);
    /// drop(last);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        sure(now(self.text.close(&ANYONE)));
    }

    /// Whether the slots were closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.text.is_closed_now(&ANYONE)
    }
}

impl<N: Numbering> fmt::Debug for Slots<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let look = self.look();
        let mut all = f.debug_struct("Slots");
        all.field("places", &look.places).field("held", &(look.places - look.free));
        if N::SlotNames::NAMED {
            let taken = |&slot: &usize| sure(now(self.text.is_taken(&ANYONE, slot)));
            all.field("slots", &(0..self.text.room() as usize).filter(taken).collect::<Vec<_>>());
        }
        let gave_up = self.gave_up(&look);
        all.field("waiting", &(look.waiting - gave_up));
        if gave_up > 0 {
            all.field("gave_up", &gave_up);
        }
        if self.manners.unfair {
            all.field("unfair", &true);
        }
        if let Some(newcomers) = self.newcomers_pass() {
            all.field("newcomers_pass", &newcomers);
        }
        if look.camping {
            all.field("more_wait_in_front_of_the_line", &true);
        }
        if look.closed {
            all.field("closed", &true);
        }
        all.finish()
    }
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Slots>();
    is_send_and_sync::<Slots<Unnumbered>>();
    is_send_and_sync::<Slots<Passing>>();
    is_send_and_sync::<Slots<Passing<Unnumbered>>>();
    is_send_and_sync::<OwnedSlotGuard>();
    is_send_and_sync::<SlotGuard<'_>>();
    const fn is_send<T: Send>() {}
    is_send::<PollSlots>();
    const fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    is_unwind_safe::<Slots>();
    is_unwind_safe::<Slots<Unnumbered>>();
    is_unwind_safe::<OwnedSlotGuard>();
};
