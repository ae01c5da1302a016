//! Faults in the turnstile, in all its forms.

use crate::mutants::rows::*;
use crate::sim::{Rules, Sim, SimCell, TextError, World};
use doorway_core::Failure;
use doorway_core::k_exclusion::turnstile::{Attempt, Gate, Held, Many, Next, Signal, Simple, Turnstile};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::{Memory as _, Process, Site};
use doorway_core::registry::Sizes;
use std::convert::Infallible;

/// Why no memory can seed it.
const HELPS: &str = "compares two words before it helps";
const GIVES_UP: &str = "gives up otherwise";

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // turnstile
    mutant(row("turnstile", "init:gate#open+1"), TWO, Some((K_EXCLUSION, 6)), "turnstile-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile", "init:gate#open-1"), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile", "split:5"), TWO, Some((STUCK, 11)), "turnstile-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile", "read:3#line=0,read:5#line=0"), FOUR_TWO_ONCE, Some((ORDER, 15)), "turnstile-enters-past-the-line", "3 and 5 do not help earlier tickets: every enabled process enters").crashing(1).shown_by("dw1/mutant:turnstile-enters-past-the-line/4,2/1/c1o/atomic/first-in-first-enabled/0x3.1x3.2x4.0.1.3x3/1a70afe0"),
    mutant(row("turnstile", "drop:4,read:46#open+100"), TWO, Some((STUCK, 81)), "turnstile-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up(),
    mutant(row("turnstile", "write:7#ghosts=old"), TWO, Some((STUCK, 49)), "turnstile-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("turnstile", "read:9#line=0"), TWO, Some((STUCK, 10)), "turnstile-exits-without-help", "9 sees no process in line"),
    mutant(own("turnstile", HELPS, skips_what_is_not_drawn), THREE_TWO, Some((STUCK, 17)), "turnstile-skips-what-is-not-drawn", "after 9, does not help if the enabled ticket is not drawn yet").crashing(1),
    mutant(row("turnstile", "then-wait:9:gate#line=0"), TWO, Some((STUCK, 10)), "turnstile-waits-to-leave", "after 9, waits until no process is in line"),
    mutant(row("turnstile", "then-also:14:[+1]#ticket+1"), TWO_BOUNDED, Some((K_EXCLUSION, 23)), "turnstile-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("turnstile", "drop:12=0"), THREE_TWO, Some((STUCK, 30)), "turnstile-never-looks-again", "12 dropped: does not look again when others passed ghosts").crashing(1).giving_up().shown_by("dw1/mutant:turnstile-never-looks-again/3,2/-/c1go/atomic/never-stuck/0x3.1x3.2x6.2g.2x6.0.1x7.1c.0x2/4b93dfbc"),
    mutant(row("turnstile", "drop:12x2..=0"), THREE_TWO, Some((STUCK, 63)), "turnstile-looks-again-once", "12 only once in each help").crashing(1).giving_up().shown_by("dw1/mutant:turnstile-looks-again-once/3,2/-/c1go/atomic/never-stuck/0x3.1x3.2x6.2g.2x6.2g.2x7.0.1x9.0x2.2g.2x10.1x10.1c.0x2/2dc8b596"),
    mutant(row("turnstile", "blind:14"), TWO, Some((STUCK, 23)), "turnstile-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 18)), "turnstile-is-a-stack", "14 first signals the next waiter"),
    mutant(row("turnstile", "drop:15"), TWO, Some((STUCK, 16)), "turnstile-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile", "read:16#odd!"), TWO, Some((STUCK, 26)), "turnstile-never-exits-ghosts", "16 takes a ghost that was not exited for one that was: it keeps its place").giving_up(),
    mutant(row("turnstile", "write:18#odd=old"), TWO, Some((STUCK, 39)), "turnstile-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(row("turnstile", "read:16#open-1,expect:18#open+1,write:18#open+1"), TWO, Some((STUCK, 25)), "turnstile-18-owes-nothing", "18 does not help what it enables").giving_up(),
    mutant(row("turnstile", "then-set:21:gate#line-1,read:16#line+1,expect:18#line-1"), TWO, Some((STUCK, 20)), "turnstile-ghosts-leave-the-line", "21 takes the ghost out of the line").giving_up(),
    mutant(row("turnstile", "read:23#open-100"), TWO, Some((DOOR, 41)), "turnstile-never-opens-its-door", "24 dropped: once full, full for ever").giving_up(),
    mutant(row("turnstile", "drop:29=0"), TWO, Some((DOOR, 27)), "turnstile-leaves-its-door", "29 dropped: a process that leaves does not check whether newcomers may draw again").giving_up(),
    // turnstile-many
    mutant(row("turnstile-many", "read:26@p0#open+1"), TWO_TWO, Some((UNITS, 8)), "turnstile-many-enters-by-its-first", "26 looks whether the first of its tickets is enabled"),
    mutant(row("turnstile-many", "init:gate#open+1"), TWO, Some((K_EXCLUSION, 6)), "turnstile-many-one-too-many", "the gate starts with one place too many open"),
    mutant(own("turnstile-many", GIVES_UP, gives_up_what_is_enabled), TWO_TWO, Some((STUCK, 43)), "turnstile-many-gives-up-what-is-enabled", "tickets that were enabled when they were announced become ghosts too").giving_up(),
    mutant(row("turnstile-many", "drop:40=0,drop:10<21=1024000,drop:29<21=0"), FOUR_TWO, Some((STUCK, 51)), "turnstile-many-leaves-others-behind", "40 dropped: a process that gives up some of its tickets exits the others without serving earlier ones").giving_up().shown_by("dw1/mutant:turnstile-many-leaves-others-behind/4,2/-/c0g/atomic/never-stuck/1x3.2x3.3x6.0x5.1.2.0x2.0g.0x21.1x4.2x4/570b2246"),
    mutant(row("turnstile-many", "split:5"), TWO_TWO, Some((STUCK, 13)), "turnstile-many-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-many", "drop:4,read:46#open+100"), TWO_TWO, Some((STUCK, 93)), "turnstile-many-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up(),
    mutant(row("turnstile-many", "drop:15"), TWO_TWO, Some((STUCK, 17)), "turnstile-many-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile-many", "then-also:14:[+1]#ticket+1"), TWO_TWO_BOUNDED, Some((UNITS, 25)), "turnstile-many-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("turnstile-many", "write:7#ghosts=old"), TWO_TWO, Some((STUCK, 65)), "turnstile-many-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("turnstile-many", "read:9#line=0"), TWO_TWO, Some((STUCK, 12)), "turnstile-many-exits-without-help", "9 sees no process in line"),
    mutant(row("turnstile-many", "read:16#line+1,expect:18#line-1,write:18#odd=old"), TWO_TWO, Some((STUCK, 46)), "turnstile-many-18-keeps-the-parity", "18 exits a ghost without a mark that it did, and leaves it in line").giving_up(),
    mutant(row("turnstile-many", "drop:17=at10,read:16#line+1,expect:18#line-1"), TWO_TWO, Some((STUCK, 45)), "turnstile-many-without-17", "17 dropped: does not look whether this ghost is still at the front; 18 leaves it in line").giving_up(),
    mutant(row("turnstile-many", "blind:14"), TWO_TWO, Some((STUCK, 31)), "turnstile-many-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-many", "drop:29=0"), TWO_TWO, Some((DOOR, 42)), "turnstile-many-leaves-its-door", "29 dropped: a process that leaves does not check whether newcomers may draw again").giving_up().shown_by("dw1/mutant:turnstile-many-leaves-its-door/2,2/-/c0go/atomic/door-opens/0x5.1x6.1g.1x6.1g.1x5.0x12.1x4.0.1/1dfdc20c"),
    // turnstile-line
    mutant(row("turnstile-line", "init:gate#open+1"), TWO_BOUNDED, Some((K_EXCLUSION, 6)), "turnstile-line-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile-line", "split:5"), TWO_BOUNDED, Some((STUCK, 16)), "turnstile-line-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-line", "defer:54>5"), TWO_BOUNDED, Some((STUCK, 22)), "turnstile-line-announces-before-it-claims", "54 after 5: a helper does not find the waiter"),
    mutant(row("turnstile-line", "read:52=0,blind:54"), TWO_BOUNDED, Some((STUCK, 29)), "turnstile-line-takes-any-place", "52 finds every place free, and 54 takes it"),
    mutant(row("turnstile-line", "blind:54"), TWO_BOUNDED, Some((STUCK, 29)), "turnstile-line-claims-blindly", "54 is a write, not a compare-and-swap"),
    mutant(row("turnstile-line", "read:13[0]=0"), TWO_BOUNDED, Some((STUCK, 21)), "turnstile-line-forgets-its-oldest-ring", "13 does not look in the oldest ring"),
    mutant(row("turnstile-line", "read:50=0"), TWO_BOUNDED, Some((STUCK, 20)), "turnstile-line-finds-nobody", "50 sees no ring: the process at the front seems absent"),
    mutant(row("turnstile-line", "read:53#ticket+100"), THREE_ONCE, Some((STUCK, 46)), "turnstile-line-takes-places-of-ghosts", "53 sees every ghost passed: its place is claimed, and it is never exited").giving_up().shown_by("dw1/mutant:turnstile-line-takes-places-of-ghosts/3,1/1/c0go/atomic/never-stuck/0x3.1x11.1g.1x3.2x8.0x7.1x13/f78ca6d3"),
    mutant(row("turnstile-line", "read:58#line=0"), (2, 1, Some(3)), Some((DOOR, 65)), "turnstile-line-never-sweeps", "58 dropped: a process that gives up leaves ghosts at the front, until newcomers may not draw").giving_up().shown_by("dw1/mutant:turnstile-line-never-sweeps/2,1/3/c0go/atomic/door-opens/0x3.1x3.0x7.1x3.0x7.1x4.0x3.1x8.1g.1x6.0x15.1x5/2e7a76fe"),
    mutant(row("turnstile-line", "blind:14"), (2, 1, Some(3)), Some((STUCK, 44)), "turnstile-line-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-line", "read:16#odd!"), (2, 1, Some(3)), Some((STUCK, 43)), "turnstile-line-never-exits-ghosts", "16 takes a ghost that was not exited for one that was: it keeps its place").giving_up(),
    mutant(row("turnstile-line", "read:9#line=0"), TWO_BOUNDED, Some((STUCK, 15)), "turnstile-line-exits-without-help", "9 sees no process in line"),
    mutant(row("turnstile-line", "drop:15"), TWO_BOUNDED, Some((STUCK, 22)), "turnstile-line-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile-line", "init:gate#open-1"), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "turnstile-line-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile-line", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 32)), "turnstile-line-is-a-stack", "14 first signals the next waiter, in the next ring"),
    mutant(row("turnstile-line", "split:2"), THREE_ONCE, Some((K_EXCLUSION, 8)), "turnstile-line-two-split", "2 is two steps: two have the same ticket, and a place each"),
    mutant(row("turnstile-line", "then-set:9:gate#open+5"), TWO_BOUNDED, Some((K_EXCLUSION, 11)), "turnstile-line-opens-too-far", "after 9, enables five more"),
    mutant(row("turnstile-line", "read:52=161"), TWO_BOUNDED, HOLDS, "turnstile-line-sees-no-free-place", "52 finds every place taken: rings are made for nothing, and a process without a place is enabled in its turn"),
    // turnstile-line-many
    mutant(row("turnstile-line-many", "init:gate#open+1"), TWO_BOUNDED, Some((K_EXCLUSION, 6)), "turnstile-line-many-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile-line-many", "drop:15"), TWO_TWO_BOUNDED, Some((STUCK, 24)), "turnstile-line-many-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile-line-many", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 32)), "turnstile-line-many-is-a-stack", "14 first signals the next waiter, in the next ring"),
    mutant(row("turnstile-line-many", "split:2"), THREE_ONCE, Some((K_EXCLUSION, 8)), "turnstile-line-many-two-split", "2 is two steps: two have the same ticket, and a place each"),
    mutant(row("turnstile-line-many", "then-set:9:gate#open+5"), TWO_BOUNDED, Some((K_EXCLUSION, 11)), "turnstile-line-many-opens-too-far", "after 9, enables five more"),
    mutant(row("turnstile-line-many", "read:52=161"), TWO_TWO_BOUNDED, HOLDS, "turnstile-line-many-sees-no-free-place", "52 finds every place taken: rings are made for nothing, and a process without a place is enabled in its turn"),
    mutant(row("turnstile-line-many", "read:23#open-100,read:3#open-100"), TWO_TWO_BOUNDED, Some((DOOR, 24)), "turnstile-line-many-never-opens-its-door", "3 finds the line too long, and 24 dropped: once full, full for ever"),
    mutant(row("turnstile-line-many", "read:26@p0#open+1"), TWO_TWO_BOUNDED, Some((UNITS, 8)), "turnstile-line-many-enters-by-its-first", "26 looks whether the first of its tickets is enabled"),
    mutant(row("turnstile-line-many", "drop:54x1@p0"), TWO_TWO_BOUNDED, Some((STUCK, 41)), "turnstile-line-many-claims-for-its-last", "54 for the last of its tickets only").giving_up(),
    mutant(row("turnstile-line-many", "split:5"), TWO_TWO_BOUNDED, Some((STUCK, 18)), "turnstile-line-many-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-line-many", "read:9#line=0"), TWO_TWO_BOUNDED, Some((STUCK, 17)), "turnstile-line-many-exits-without-help", "9 sees no process in line"),
    mutant(row("turnstile-line-many", "blind:14"), TWO_TWO_BOUNDED, Some((STUCK, 59)), "turnstile-line-many-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    // turnstile-unfair
    mutant(row("turnstile-unfair", "read:26#open+100"), TWO, Some((K_EXCLUSION, 6)), "turnstile-unfair-draws-whatever-is-free", "27 draws a ticket whether it is enabled or not"),
    mutant(row("turnstile-unfair", "init:gate#open-1"), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-unfair-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile-unfair", "split:5"), TWO, Some((STUCK, 15)), "turnstile-unfair-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-unfair", "drop:4,read:46#open+100"), TWO, Some((STUCK, 121)), "turnstile-unfair-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up(),
    mutant(row("turnstile-unfair", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 26)), "turnstile-unfair-is-a-stack", "14 first signals the next waiter"),
    mutant(row("turnstile-unfair", "drop:15"), TWO, Some((STUCK, 20)), "turnstile-unfair-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile-unfair", "then-also:14:[+1]#ticket+1"), TWO_BOUNDED, Some((K_EXCLUSION, 31)), "turnstile-unfair-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("turnstile-unfair", "write:7#ghosts=old"), TWO, Some((STUCK, 65)), "turnstile-unfair-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("turnstile-unfair", "write:18#odd=old"), TWO, Some((STUCK, 51)), "turnstile-unfair-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(row("turnstile-unfair", "read:9#line=0"), TWO, Some((STUCK, 14)), "turnstile-unfair-exits-without-help", "9 sees no process in line"),
    mutant(row("turnstile-unfair", "blind:14"), TWO, Some((STUCK, 31)), "turnstile-unfair-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-unfair", "drop:29=0"), TWO, Some((DOOR, 54)), "turnstile-unfair-leaves-its-door", "29 dropped: a process that leaves does not check whether newcomers may draw again").giving_up(),
    // turnstile-simple
    mutant(row("turnstile-simple", "split:1"), TWO, Some((K_EXCLUSION, 6)), "turnstile-simple-one-split", "1 is two steps: two have the same ticket"),
    mutant(row("turnstile-simple", "to:2:[-1],read:2+1"), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-waits-for-the-one-before", "2 waits in the cell before its own"),
    mutant(row("turnstile-simple", "read:2+8"), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-2-forgets-the-lap", "2 takes the signal of the ticket that had its cell before"),
    mutant(row("turnstile-simple", "split:3"), TWO_TWO, Some((STUCK, 25)), "turnstile-simple-three-split", "3 is two steps: an exit is lost"),
    mutant(row("turnstile-simple", "write:3+1"), THREE, Some((K_EXCLUSION, 16)), "turnstile-simple-counts-twice", "3 counts two exits"),
    mutant(row("turnstile-simple", "read:3+1"), TWO, Some((K_EXCLUSION, 11)), "turnstile-simple-enables-one-more", "after 3, enables one ticket more"),
    mutant(row("turnstile-simple", "drop:4=99"), TWO_TWO, Some((STUCK, 9)), "turnstile-simple-never-walks-back", "4 dropped: signals its own ticket only").crashing(1),
    mutant(row("turnstile-simple", "defer:5x1>5"), FOUR_TWO_ONCE, Some((ORDER, 12)), "turnstile-simple-newest-first", "5 for the oldest ticket after the next"),
    mutant(own("turnstile-simple", HELPS, simple_skips_what_is_not_drawn), TWO, Some((STUCK, 6)), "turnstile-simple-skips-what-is-not-drawn", "5 does not signal a ticket that is not drawn yet"),
    mutant(row("turnstile-simple", "drop:5"), TWO, Some((STUCK, 5)), "turnstile-simple-leaves-out-its-own", "5 leaves out its own ticket"),
    mutant(row("turnstile-simple", "insist:5"), THREE_TWO, Some((STUCK, 10)), "turnstile-simple-tries-again", "5 again until it succeeds"),
    mutant(row("turnstile-simple", "blind:5"), (2, 2, Some(9)), Some((STUCK, 53)), "turnstile-simple-signals-blindly", "5 is a write, not a compare-and-swap"),
    mutant(built_for("turnstile-simple", 1), TWO, Some((K_EXCLUSION, 4)), "turnstile-simple-one-too-many", "tickets up to k count as signalled, and exits enable one further"),
    mutant(built_for("turnstile-simple", -1), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-simple-one-too-few", "tickets up to k-2 count as signalled, and exits enable one less"),
    mutant(row("turnstile-simple", "then-wait:5:served=0"), TWO, Some((STUCK, 5)), "turnstile-simple-waits-to-leave", "after 5, waits until no ticket was served"),
    mutant(row("turnstile-simple", "drop:4x1=-99"), THREE_TWO, HOLDS, "turnstile-simple-walks-further", "4 goes one further back than it must"),
    // with processes that try
    mutant(trying("turnstile", "read:26#open+100"), TWO_BOUNDED, Some((K_EXCLUSION, 6)), "turnstile-attempt-draws-whatever-is-free", "27 draws a ticket whether it is enabled or not"),
];

/// A text with another exit section.
struct LeavesBy<A, F> {
    inner: A,
    leave: F,
}

impl<A, F> KExclusion<Sim> for LeavesBy<A, F>
where
    A: KExclusion<Sim>,
    F: AsyncFn(&A, &Process<Sim>, A::Held) -> Result<(), Infallible>,
{
    type Held = A::Held;
    type Refusal = A::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<A::Held, Failure<Infallible, A::Refusal>> {
        self.inner.acquire(p).await
    }

    async fn release(&self, p: &Process<Sim>, held: A::Held) -> Result<(), Infallible> {
        (self.leave)(&self.inner, p, held).await
    }
}

/// After 9, it checks whether the enabled ticket is drawn, and helps only then.
fn skips_what_is_not_drawn(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::new(n, rules, |site| {
        let inner = Turnstile::new(site, n, k);
        let (next, gate) = (declared::<Next>(site, "next"), declared::<Gate>(site, "gate"));
        let leave = async move |inner: &Turnstile<Sim>, p: &Process<Sim>, held: Held| {
            let Some(unsettled) = inner.give_back(p, held).await? else { return Ok(()) };
            let here = p.on(Sim::ROOT);
            let drawn = here.at(9).keeping(&("left", held, unsettled)).read(&next[0]).await?.ticket();
            let now = here.at(9).keeping(&("looks", held, unsettled, drawn)).read(&gate[0]).await?;
            if now.distance(drawn) < 0 { Ok(()) } else { inner.settle(p, held, unsettled).await }
        };
        LeavesBy { inner, leave }
    })
}

/// The exit section of the simple turnstile, where 5 does not signal a ticket that is not drawn.
fn simple_skips_what_is_not_drawn(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::new(n, rules, |site| {
        let inner = Simple::new(site, n, k);
        let (next, served, cells) =
            (declared::<Next>(site, "next"), declared::<Next>(site, "served"), declared::<Signal>(site, "cell"));
        let leave = async move |_: &Simple<Sim>, p: &Process<Sim>, (): ()| {
            let p = p.on(Sim::ROOT);
            let cell = |t: i64| &cells[t as usize & (cells.len() - 1)];
            let c = p.at(3).keeping(&()).fetch_add(&served[0], Next(1)).await?.0 as i64 + k as i64;
            p.hides("counts");
            p.shows("upto", c);
            let mut y = c;
            while !p.at(4).keeping(&(c, y)).read(cell(y - 1)).await?.reaches(y - 1) {
                y -= 1;
            }
            for y in y..=c {
                let drawn: Next = p.at(5).keeping(&("looks", c, y)).read(&next[0]).await?;
                if drawn.0 as i64 > y {
                    let a_lap_ago = Signal::to(y - cells.len() as i64);
                    let _ = p.at(5).keeping(&("drawn", c, y)).compare_swap(cell(y), a_lap_ago, Signal::to(y)).await?;
                }
            }
            p.hides("upto");
            Ok(())
        };
        LeavesBy { inner, leave }
    })
}

fn declared<T: doorway_core::memory::Word>(site: &Site<'_, Sim>, name: &str) -> Vec<SimCell<T>> {
    site.memory().declared_row(site.here(), name)
}

/// Tickets that were enabled when they were announced become ghosts too.
struct GivesUpWhatIsEnabled(Many<Sim>);

fn gives_up_what_is_enabled(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::of_abortable(n, rules, |site| GivesUpWhatIsEnabled(Many::new(site, n, k)))
}

impl KExclusion<Sim> for GivesUpWhatIsEnabled {
    type Held = Held;
    type Refusal = <Many<Sim> as KExclusion<Sim>>::Refusal;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Held, Failure<Infallible, Self::Refusal>> {
        self.0.acquire(p).await
    }

    async fn release(&self, p: &Process<Sim>, held: Held) -> Result<(), Infallible> {
        self.0.release(p, held).await
    }
}

impl Abortable<Sim> for GivesUpWhatIsEnabled {
    type Attempt = Attempt;

    async fn try_acquire(
        &self,
        p: &Process<Sim>,
        attempt: &mut Attempt,
    ) -> Result<Option<Held>, Failure<Infallible, Self::Refusal>> {
        self.0.try_acquire(p, attempt).await
    }

    async fn leave(&self, p: &Process<Sim>, attempt: Attempt) -> Result<Option<Held>, Infallible> {
        let attempt = match attempt {
            Attempt::InLine { first, units, far, ring, .. } => Attempt::InLine { first, units, enabled: 0, far, ring },
            other => other,
        };
        self.0.leave(p, attempt).await
    }
}
