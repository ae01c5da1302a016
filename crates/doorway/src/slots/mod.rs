//! [`Slots`]: at most `k` inside, first come, first enabled, and each knows its slot.

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

use crate::native::{Cell, Late, Native, Var, now, sure};
use crate::waiting::Policy;
use doorway_core::k_assignment::Slots as Text;
use doorway_core::k_assignment::names::{EitherNames, FEW, FlagNames, Names};
use doorway_core::k_exclusion::bypass::Tray;
use doorway_core::k_exclusion::turnstile::{Endless, Gate, Limits, Look, MOST_RINGS, Turnstile};
use doorway_core::memory::{Near, Pid, Process, Site};
use doorway_core::registry::{SizeError, Sizes};
use std::fmt;

/// At most `k` inside at a time, each with a slot number of its own. One object for threads and tasks, on any executor.
///
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
///
/// # Fairness
/// First come, first enabled: while a caller waits, nobody that asked later is let in before it could be. The place of a
/// caller that gives up goes to the next in line. With [`unfair`](Self::unfair) newcomers retry for a moment before they get
/// in line. With [`bypass`](Self::bypass) newcomers may pass the first in line, a bounded number of times.
///
/// The line grows by itself, up to two million that wait at a time. Those that come when it is as long wait in front of it, in
/// no particular order.
///
/// # Names
/// All ways in are called by one rule: `[try_]acquire[_many][_timeout|_deadline][_owned][_async]`.
///
/// | | one place | several | with a guard that owns |
/// |---|---|---|---|
/// | wait as a thread | `acquire` | `acquire_many` | `…_owned` |
/// | do not wait | `try_acquire` | `try_acquire_many` | `…_owned` |
/// | wait for some time | `acquire_timeout` | `acquire_many_timeout` | `…_owned` |
/// | wait until a time | `acquire_deadline` | `acquire_many_deadline` | `…_owned` |
/// | wait as a task | `acquire_async` | `acquire_many_async` | `acquire_owned_async`, `acquire_many_owned_async` |
/// | be polled | [`PollSlots::poll_acquire`] | [`PollSlots::poll_acquire_many`] | they own |
///
/// `acquire_many(1)` is `acquire`: the same order, the same place. A task has no `_timeout`: take the executor's, since to
/// drop the future is exact.
///
/// # Giving up
/// A timeout that runs out, and a future that is dropped, are exact: no place is lost, no wake-up is lost, nobody else is let in too early. If a waiter is let in at the
/// last moment, it either gets its guard or passes the place on. A future that is `mem::forget`-ten while it waits is another thing: it is a waiter that died, and
/// the place that it would have got is lost when its turn comes.
///
/// # On tokio
/// Slots take no part in tokio's cooperative budget. A task that acquires and releases in a loop, and never has to wait,
/// never gives its worker away. One line in the loop cures that: `tokio::task::consume_budget().await`.
///
/// # When places go
/// [`forget`](Self::forget) and [`Permit::forget`] take places away. A caller that waits for more places than are left gets an error, so that it does not hold up those behind it.
/// A caller that waits for one place goes on waiting even if none is left: somebody may [`add`](Self::add) one, or [`close`](Self::close).
///
/// # What happens before what
/// All that was done before a guard was dropped *happens before* all that is done after a later `acquire` returned, if that one could not have been let in without it; and what was
/// done with a slot happens before what its next holder does.
///
/// # Cost
/// Uncontended, an `acquire` is two read-modify-writes and a few loads, and dropping the guard is one read-modify-write and a store. One read-modify-write and the store are for the slot
/// number: callers that need none take them [`without_numbers`](Self::without_numbers). With more than 16 places, a slot number takes two more read-modify-writes: one for [`fence`](Permit::fence), which costs nothing
/// with fewer. `doorway-lab bench slots` compares.
///
/// # Memory
/// At most 512 bytes for up to 64 places, and a bit for each place beyond. Nothing is allocated before somebody waits, or asks for several places at once. Then the line takes
/// up to 128 bytes for each of those that wait at the worst moment, and keeps them. Waiting itself allocates nothing.
///
/// # When not to use this
/// For one place and data behind it take a mutex. To limit *rates* take a rate limiter. For millions of units (bytes of a budget) take another semaphore: there are at most
/// [65,535](Self::MOST) places here. Between processes take [`shared::Slots`](crate::shared::Slots).
pub struct Slots<N: Numbering = Numbered> {
    text: Text<Native, N::SlotNames, Endless<Native>, Manners<N::Tray>>,
}

/// How callers wait.
#[derive(Clone, Copy, Debug)]
struct Manners<T> {
    policy: Policy,
    unfair: bool,
    tray: T,
}

/// Makes all accesses that wait for nothing. The algorithm does not tell processes apart.
static ANYONE: Process<Native> = Process::new(Pid::new(0), Native::new());

impl Slots {
    /// As many places as there can be.
    pub const MOST: usize = Pid::LIMIT;

    /// This many places.
    ///
    /// ```
    /// use doorway::{SizeError, Slots};
    /// assert_eq!(Slots::new(0).unwrap_err(), SizeError::NoPlace);
    /// assert!(matches!(Slots::new(Slots::MOST + 1), Err(SizeError::TooManyPlaces(_))));
    /// ```
    ///
    /// # Errors
    /// If there are none, or more than [`MOST`](Self::MOST).
    pub fn new(places: usize) -> Result<Self, SizeError> {
        let Sizes { k, .. } = Sizes::new(1, places)?;
        Ok(Self::build(k, 0, k, (0, 0), ()))
    }

    /// [`new`](Self::new) before the program runs, for statics: at most 16 places.
    ///
    /// ```
    /// use doorway::Slots;
    ///
    /// static GPUS: Slots = Slots::const_new(4);
    ///
    /// assert_eq!(GPUS.acquire()?.slot(), 0);
    /// # Ok::<(), doorway::Closed>(())
    /// ```
    ///
    /// # Panics
    /// If there are no places, or more than 16: in a static, that is an error of the compiler's.
    #[must_use]
    pub const fn const_new(places: usize) -> Self {
        assert!(places > 0, "there must be a place");
        assert!(
            places <= FEW,
            "at most 16 places can be made before the program runs; take `Slots::new` in a `LazyLock`"
        );
        let limits = Limits::for_anybody(FEW);
        let (gate, front) = ([Cell::of_word_early(Gate::word(places))], [Cell::of_word_early(0)]);
        let (door, all) = ([Cell::of_word_awaited(0)], [Cell::of_word_awaited(places as u64)]);
        let records = Late::of_word_early(limits.ring as u32, MOST_RINGS as u32, 0);
        let line = Endless::of_parts(Near::of([Cell::of_word_early(0)]), records, limits.ring);
        let line = Turnstile::of_parts(
            (),
            limits,
            Var::zero_early(),
            Near::of(gate),
            Near::of(front),
            Near::of(door),
            Near::of(all),
            line,
        );
        let names =
            FlagNames::of_parts([const { Cell::of_word_early(0) }; FEW], Late::of_word_early(FEW as u32, 1, 0), FEW);
        let policy = if places == 1 { Policy::PARK } else { Policy::SLEEP };
        Self {
            text: Text::of_parts((), EitherNames::Few(names), line, FEW, Manners { policy, unfair: false, tray: () }),
        }
    }

    /// The same, but nobody learns which slot it got, and getting in is faster.
    ///
    /// ```
    /// let permits = doorway::Slots::new(2)?.without_numbers();
    /// let _one = permits.acquire()?;
    /// assert_eq!(permits.available(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_numbers(self) -> Slots<Unnumbered> {
        Slots { text: self.text.with_names(&Site::new(ANYONE.memory()), None) }
    }
}

impl<N: Numbering> Slots<N> {
    /// So many places that are free, and others that are lost, of those there is room for; and which ticket and which fence number come next.
    fn build(free: usize, lost: usize, room: usize, (ticket, fences): (u64, u64), tray: N::Tray) -> Self {
        // There is as much as the names take in any case.
        let room = room.next_multiple_of(if room <= FEW { FEW } else { 64 }).min(Slots::MOST);
        let line = |site: &Site<'_, Native>| {
            Turnstile::endless_with_lost(site, free, lost, Limits::for_anybody(room), MOST_RINGS, ticket)
                .noting_tickets()
        };
        // A waiter for the only place does well to let its holder run; among several places, a waiter that yields is in the way of the holders.
        let policy = if free + lost == 1 { Policy::PARK } else { Policy::SLEEP };
        let text = Text::new(&Site::new(ANYONE.memory()), room, Some(fences), line);
        Self { text: text.with(Manners { policy, unfair: false, tray }) }
    }

    fn with_manners(mut self, change: impl FnOnce(&mut Manners<N::Tray>)) -> Self {
        change(self.text.beside_mut());
        self
    }

    /// The same, but a newcomer retries for a moment before it gets in line. While it retries it has no place in the order,
    /// and others that retry may get in before it. Once it is in line, nobody passes it. Better throughput where sections
    /// are short and there are more threads than processors.
    ///
    /// ```
    /// let slots = doorway::Slots::new(2)?.unfair();
    /// assert!(slots.acquire().is_ok());
    /// # Ok::<(), doorway::SizeError>(())
    /// ```
    #[must_use]
    pub fn unfair(self) -> Self {
        self.with_manners(|manners| manners.unfair = true)
    }

    /// The same, but newcomers may pass waiters, within a bound: while a waiter is first in line, at most `newcomers`
    /// callers that came later get in before it. **A waiter with `m` waiters before it is passed at most
    /// `(m + 1) * newcomers` times.** With 0 no caller in line is passed.
    ///
    /// In strict order every passage is a change of threads as soon as there are more threads than processors. Here a
    /// thread that comes back at once may go on, while the first in line wakes up. Once the bound is reached, the place is
    /// handed over to it. Waiters are let in by arrival among themselves.
    ///
    /// A thread that finds no place tries for a moment before it gets in line, as with [`unfair`](Self::unfair). The bound
    /// counts from its place in line on.
    ///
    /// A caller that asks for several places at once passes nobody. It may be passed as any other.
    ///
    /// **A waiter that dies costs more than in strict order.** A waiting future that is leaked with `mem::forget` takes a
    /// place with it when its turn comes, as in strict order. Here it also keeps free places from the waiters behind it,
    /// until the bound is reached. If no newcomers come, those waiters wait for ever. Where futures may be leaked, stay with
    /// strict order.
    ///
    /// A guard's [`fence`](Permit::fence) costs one read-modify-write more than in strict order.
    ///
    /// The type of the result is `Slots<Passing>`, or `Slots<Passing<Unnumbered>>`, and its guards are
    /// `SlotGuard<'_, Passing>`. Such slots cannot be [observed](crate::observed). What [`unfair`](Self::unfair) said before is
    /// forgotten.
    ///
    /// ```
    /// let slots = doorway::Slots::new(4)?.bypass(64);
    /// let guard = slots.acquire()?;
    /// assert_eq!((guard.slot(), slots.newcomers_pass()), (0, Some(64)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bypass(self, newcomers: u32) -> Slots<N::Passing> {
        let tray = numbers::tray(newcomers, self.stamps());
        let other = |Manners { policy, .. }: Manners<_>| Manners { policy, unfair: false, tray };
        Slots { text: self.text.with_other(other) }
    }

    /// How many newcomers may [pass](Self::bypass) the first in line. `None` without a bypass: then nobody in line is passed.
    #[must_use]
    pub fn newcomers_pass(&self) -> Option<u32> {
        self.tray().map(Tray::most)
    }

    /// What newcomers need to pass, if they may.
    #[inline(always)]
    fn tray(&self) -> Option<&Tray<Native>> {
        N::tray(&self.text.beside().tray)
    }

    /// What fence numbers come from: more than that of every guard so far.
    fn stamps(&self) -> u64 {
        self.tray().map_or_else(|| self.look().next, |tray| sure(now(tray.stamps(&ANYONE))))
    }

    /// The same, in the order of arrival again.
    pub(crate) fn fair(self) -> Self {
        self.with_manners(|manners| manners.unfair = false)
    }

    /// The same, with room for `places` places: [`add`](Self::add) can go up to there.
    ///
    /// ```
    /// let slots = doorway::Slots::new(1)?.room_for(100)?;
    /// slots.add(99)?;
    /// assert_eq!(slots.available(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than [`MOST`](Self::MOST).
    pub fn room_for(self, places: usize) -> Result<Self, SizeError> {
        let Sizes { k, .. } = Sizes::new(1, places.max(1))?;
        // Nobody is inside or in line, for whoever is has it borrowed. What was lost stays lost.
        let look = self.look();
        let (free, room) = (look.free as usize, k.max(self.text.room() as usize));
        let stamps = self.stamps();
        let Manners { policy, unfair, ref tray } = *self.text.beside();
        let so_far = (look.next, self.text.largest_fence(stamps));
        let new = Self::build(free, look.places as usize - free, room, so_far, N::tray_after(tray, stamps));
        if look.closed {
            new.close();
        }
        Ok(new.with_manners(|manners| (manners.policy, manners.unfair) = (policy, unfair)))
    }

    /// The same, but threads wait by this policy, and not by [`Policy::PARK`] (one place) or [`Policy::SLEEP`] (several).
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        self.with_manners(|manners| manners.policy = policy)
    }

    pub(crate) fn look(&self) -> Look {
        sure(now(self.text.look(&ANYONE)))
    }

    /// How many places there are.
    #[must_use]
    pub fn places(&self) -> usize {
        sure(now(self.text.places(&ANYONE))) as usize
    }

    /// How many are free: none, while somebody waits. Never more than there are [places](Self::places), and never more than were free at some moment of the call.
    #[must_use]
    pub fn available(&self) -> usize {
        self.look().free as usize
    }

    /// More places. Those who wait are let in.
    ///
    /// ```
    /// let slots = doorway::Slots::new(1)?;
    /// let _one = slots.acquire()?;
    /// slots.add(1)?;
    /// assert_eq!(slots.acquire()?.slot(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no [room](Self::room_for): without saying otherwise there is room for the next multiple of 16 places,
    /// or of 64 if there are more than 16.
    pub fn add(&self, places: usize) -> Result<(), TooMany> {
        sure(now(self.text.add(&ANYONE, places as u64)))
    }

    /// Takes up to `places` away that are free now, and says how many it took. To take one away that is held, [forget](Permit::forget) its guard.
    ///
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

    /// Lets nobody in any more. Once this has returned, every waiter and every later caller gets an error; a caller that
    /// gives up at that moment may be told that its time ran out. Guards remain what they are.
    ///
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

    /// Whether it was closed.
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
        let gave_up = sure(now(self.text.ghosts(&ANYONE, &look))).min(look.waiting);
        all.field("waiting", &(look.waiting - gave_up));
        if gave_up > 0 {
            all.field("gave_up", &gave_up);
        }
        if self.text.beside().unfair {
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
