//! Faults in names over the turnstile.

use crate::mutants::Text;
use crate::mutants::rows::*;
use crate::sim::{Part, Rules, Sim, SimCell, TextError, World};
use doorway_core::Failure;
use doorway_core::k_assignment::names::{BitNames, Flag, FlagNames, Names, Taken};
use doorway_core::k_assignment::slots::Slots;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::turnstile::{Held, Limits, Refused, Turnstile};
use doorway_core::memory::{Here, Mark, Process, Site};
use doorway_core::registry::Sizes;
use std::convert::Infallible;
use std::fmt::Debug;

/// Why no memory can seed it.
const APART: &str = "calls its parts in another order, or loops differently";
const A_NAME_MORE: &str = "built with one name more, for a process that finds none; the fault is the memory's";

/// The shipped text with a fault of the memory, with one name more than places.
const fn roomy(of: &'static str, fault: &'static str) -> Text {
    let bits = of.len() == "turnstile-bits".len();
    own(of, A_NAME_MORE, if bits { with_a_name_more::<BitNames<Sim>> } else { with_a_name_more::<FlagNames<Sim>> })
        .and(fault)
}

fn with_a_name_more<N: Names<Sim> + 'static>(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    World::new(n, rules, |site| Slots::<_, N>::new(site, k + 1, None, |inner| Turnstile::new(inner, n, k)))
}

/// The same over an endless line.
const fn roomy_line(fault: &'static str) -> Text {
    own("turnstile-line-slots", A_NAME_MORE, line_with_a_name_more).and(fault)
}

fn line_with_a_name_more(Sizes { n, k }: Sizes, rules: Rules) -> Result<World, TextError> {
    let limits = Limits::for_growing(n, k);
    let line = |site: &Site<'_, Sim>| Turnstile::endless(site, k, limits, limits.rings(n), 0);
    World::new(n, rules, |site| Slots::<_, FlagNames<Sim>, _>::new(site, k + 1, None, line))
}

#[rustfmt::skip] // a table
pub(crate) const MUTANTS: &[Mutant] = &[
    // turnstile-slots
    mutant(row("turnstile-slots", "split:root.3"), TWO_TWO, Some((NAMES, 12)), "turnstile-slots-tests-then-sets", "3 is two steps"),
    mutant(row("turnstile-slots", "read:root.3=0"), TWO_TWO, Some((NAMES, 10)), "turnstile-slots-never-looks", "3 does not look whether another one was faster"),
    mutant(roomy("turnstile-slots", "write:root.4=-1"), TWO_TWO, Some((NAMES, 20)), "turnstile-slots-never-gives-back", "4 clears nothing"),
    mutant(row("turnstile-slots", "to:root.4:taken[0]"), TWO_TWO, Some((NAMES, 18)), "turnstile-slots-gives-back-the-first", "4 clears the first flag"),
    mutant(own("turnstile-slots", APART, |s, r| Apart::<FlagNames<Sim>>::world(s, r, Fault::NamedEarly)), THREE_TWO, Some((NAMES, 13)), "turnstile-slots-names-before-entry", "2 and 3 before 1: more than k take names"),
    mutant(own("turnstile-slots", APART, |s, r| Apart::<FlagNames<Sim>>::world(s, r, Fault::NamelessLate)), THREE_TWO, Some((NAMES, 17)), "turnstile-slots-gives-back-late", "4 after the exit: more than k have names"),
    mutant(own("turnstile-slots", APART, |s, r| Apart::<FlagNames<Sim>>::world(s, r, Fault::LowStays)), TWO_TWO, Some((STARVES, 33)), "turnstile-slots-tries-the-same-again", "after 3 failed, begins with the same name again"),
    mutant(roomy("turnstile-slots", "read:root.2<3=1"), THREE_THREE, Some((NAMES, 15)), "turnstile-slots-leaves-one-out", "after 3 failed, leaves a name out"),
    mutant(roomy("turnstile-slots", "init:gate#open+1"), TWO, Some((K_EXCLUSION, 11)), "turnstile-slots-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile-slots", "init:gate#open-1"), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-slots-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile-slots", "split:exclusion.5"), TWO, Some((STUCK, 14)), "turnstile-slots-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-slots", "drop:exclusion.4,read:46#open+100"), TWO, Some((STUCK, 84)), "turnstile-slots-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up(),
    mutant(row("turnstile-slots", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 21)), "turnstile-slots-is-a-stack", "14 first signals the next waiter"),
    mutant(row("turnstile-slots", "drop:exclusion.15"), TWO, Some((STUCK, 22)), "turnstile-slots-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(roomy("turnstile-slots", "then-also:14:[+1]#ticket+1"), TWO_BOUNDED, Some((K_EXCLUSION, 31)), "turnstile-slots-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("turnstile-slots", "write:exclusion.7#ghosts=old"), TWO, Some((STUCK, 55)), "turnstile-slots-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("turnstile-slots", "write:18#odd=old"), TWO, Some((STUCK, 42)), "turnstile-slots-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(row("turnstile-slots", "blind:exclusion.14"), TWO, Some((STUCK, 26)), "turnstile-slots-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-slots", "drop:exclusion.29=0"), TWO, Some((DOOR, 33)), "turnstile-slots-leaves-its-door", "29 dropped: a process that leaves does not check whether newcomers may draw again").giving_up(),
    // turnstile-line-slots
    mutant(roomy_line("init:gate#open+1"), TWO_BOUNDED, Some((K_EXCLUSION, 11)), "turnstile-line-slots-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile-line-slots", "init:gate#open-1"), TWO_TWO_BOUNDED, Some((TOO_FEW, 0)), "turnstile-line-slots-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile-line-slots", "split:exclusion.5"), TWO_BOUNDED, Some((STUCK, 19)), "turnstile-line-slots-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-line-slots", "drop:exclusion.15"), TWO_BOUNDED, Some((STUCK, 28)), "turnstile-line-slots-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(row("turnstile-line-slots", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 37)), "turnstile-line-slots-is-a-stack", "14 first signals the next waiter, in the next ring"),
    mutant(roomy_line("split:exclusion.2"), THREE_ONCE, Some((K_EXCLUSION, 13)), "turnstile-line-slots-two-split", "2 is two steps: two have the same ticket, and a place each"),
    mutant(row("turnstile-line-slots", "defer:54>5"), TWO_BOUNDED, Some((STUCK, 25)), "turnstile-line-slots-announces-before-it-claims", "54 after 5: a helper does not find the waiter"),
    mutant(row("turnstile-line-slots", "read:52=0,blind:54"), TWO_BOUNDED, Some((STUCK, 35)), "turnstile-line-slots-takes-any-place", "52 finds every place free, and 54 takes it"),
    mutant(row("turnstile-line-slots", "read:16#odd!"), (2, 1, Some(3)), Some((STUCK, 46)), "turnstile-line-slots-never-exits-ghosts", "16 takes a ghost that was not exited for one that was: it keeps its place").giving_up(),
    mutant(row("turnstile-line-slots", "blind:14"), (2, 1, Some(3)), Some((STUCK, 47)), "turnstile-line-slots-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-line-slots", "read:58#line=0"), (2, 1, Some(3)), Some((DOOR, 77)), "turnstile-line-slots-never-sweeps", "58 dropped: a process that gives up leaves ghosts at the front, until newcomers may not draw").giving_up().shown_by("dw1/mutant:turnstile-line-slots-never-sweeps/2,1/3/c0go/atomic/door-opens/0x6.1x3.0x7.1x3.0x7.1x7.0x6.1x8.1g.1x6.0x15.1x8/d438cd5a"),
    mutant(row("turnstile-line-slots", "read:52=161"), TWO_BOUNDED, HOLDS, "turnstile-line-slots-sees-no-free-place", "52 finds every place taken: rings are made for nothing, and a process without a place is enabled in its turn"),
    mutant(row("turnstile-line-slots", "split:root.3"), TWO_TWO_BOUNDED, Some((NAMES, 12)), "turnstile-line-slots-tests-then-sets", "3 is two steps"),
    mutant(roomy_line("write:root.4=-1"), TWO_TWO_BOUNDED, Some((NAMES, 20)), "turnstile-line-slots-never-gives-back", "4 clears nothing"),
    mutant(roomy_line("read:root.2<3=1"), (3, 3, Some(1)), Some((NAMES, 15)), "turnstile-line-slots-leaves-one-out", "after 3 failed, leaves a name out"),
    // turnstile-bits
    mutant(row("turnstile-bits", "split:root.3"), TWO_TWO, Some((NAMES, 12)), "turnstile-bits-tests-then-sets", "3 is two steps"),
    mutant(row("turnstile-bits", "read:root.3=0"), TWO_TWO, Some((NAMES, 10)), "turnstile-bits-never-looks", "3 does not look whether another one was faster"),
    mutant(roomy("turnstile-bits", "write:root.4=0"), TWO_TWO, Some((NAMES, 17)), "turnstile-bits-never-gives-back", "4 clears nothing"),
    mutant(row("turnstile-bits", "set:root.4:taken=0,drop:root.4"), TWO_TWO, Some((NAMES, 17)), "turnstile-bits-gives-back-all", "4 clears the whole word"),
    mutant(own("turnstile-bits", APART, |s, r| Apart::<BitNames<Sim>>::world(s, r, Fault::NamedEarly)), THREE_TWO, Some((NAMES, 11)), "turnstile-bits-names-before-entry", "2 and 3 before 1: more than k take names"),
    mutant(own("turnstile-bits", APART, |s, r| Apart::<BitNames<Sim>>::world(s, r, Fault::NamelessLate)), THREE_TWO, Some((NAMES, 15)), "turnstile-bits-gives-back-late", "4 after the exit: more than k have names"),
    mutant(own("turnstile-bits", APART, |s, r| Apart::<BitNames<Sim>>::world(s, r, Fault::LowStays)), TWO_TWO, Some((STARVES, 33)), "turnstile-bits-tries-the-same-again", "after 3 failed, begins with the same name again"),
    mutant(roomy("turnstile-bits", "read:root.2<3+2"), THREE_THREE, Some((NAMES, 15)), "turnstile-bits-leaves-one-out", "after 3 failed, leaves a name out"),
    mutant(roomy("turnstile-bits", "init:gate#open+1"), TWO, Some((K_EXCLUSION, 10)), "turnstile-bits-one-too-many", "the gate starts with one place too many open"),
    mutant(row("turnstile-bits", "init:gate#open-1"), TWO_TWO, Some((TOO_FEW, 0)), "turnstile-bits-one-too-few", "the gate starts with one place too few open"),
    mutant(row("turnstile-bits", "split:exclusion.5"), TWO, Some((STUCK, 14)), "turnstile-bits-looks-then-announces", "5 is two steps: looks at the gate, then announces"),
    mutant(row("turnstile-bits", "drop:exclusion.4,read:46#open+100"), TWO, Some((STUCK, 84)), "turnstile-bits-never-full", "4 dropped, and 46 sees no distant ticket: the line gets longer than the ring").giving_up(),
    mutant(row("turnstile-bits", "also:14:[+1]#ticket+1"), THREE_ONCE, Some((ORDER, 21)), "turnstile-bits-is-a-stack", "14 first signals the next waiter"),
    mutant(row("turnstile-bits", "drop:exclusion.15"), TWO, Some((STUCK, 22)), "turnstile-bits-never-moves-its-front", "15 dropped: signals the same ticket for ever"),
    mutant(roomy("turnstile-bits", "then-also:14:[+1]#ticket+1"), TWO_BOUNDED, Some((K_EXCLUSION, 30)), "turnstile-bits-helps-one-too-far", "14 also signals the next ticket, which is not enabled"),
    mutant(row("turnstile-bits", "write:exclusion.7#ghosts=old"), TWO, Some((STUCK, 55)), "turnstile-bits-7-keeps-ghosts", "7 does not make the ghosts of the front match the gate").giving_up(),
    mutant(row("turnstile-bits", "write:18#odd=old"), TWO, Some((STUCK, 42)), "turnstile-bits-18-keeps-the-parity", "18 exits a ghost without a mark that it did").giving_up(),
    mutant(row("turnstile-bits", "blind:exclusion.14"), TWO, Some((STUCK, 26)), "turnstile-bits-signals-blindly", "14 is a write, not a compare-and-swap").giving_up(),
    mutant(row("turnstile-bits", "drop:exclusion.29=0"), TWO, Some((DOOR, 33)), "turnstile-bits-leaves-its-door", "29 dropped: a process that leaves does not check whether newcomers may draw again").giving_up(),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// 2 and 3 before 1.
    NamedEarly,
    /// 4 after 5.
    NamelessLate,
    /// After 3 failed, begins with the same name again.
    LowStays,
}

/// The shipped turnstile and names, put together differently.
struct Apart<N> {
    part: Part,
    names: N,
    flags: Vec<SimCell<Flag>>,
    words: Vec<SimCell<Taken>>,
    line: Turnstile<Sim>,
    k: usize,
    fault: Fault,
}

impl<N: Names<Sim> + 'static> Apart<N> {
    fn world(Sizes { n, k }: Sizes, rules: Rules, fault: Fault) -> Result<World, TextError> {
        World::new(n, rules, |site| Self {
            part: site.here(),
            names: N::new(site, k, None),
            flags: site.memory().declared_row(site.here(), "taken"),
            words: site.memory().declared_row(site.here(), "taken"),
            line: Turnstile::new(&site.part("exclusion", None), n, k),
            k,
            fault,
        })
    }

    async fn take(&self, p: Here<'_, Sim>, live: &impl Debug) -> Result<u32, Infallible> {
        let name = match self.fault {
            Fault::LowStays => self.take_stubbornly(p, live).await?,
            _ => self.names.take(p, live).await?,
        };
        // There is one, except with a fault.
        Ok(name.unwrap_or(self.k as u32 - 1))
    }

    async fn take_stubbornly(&self, p: Here<'_, Sim>, live: &impl Debug) -> Result<Option<u32>, Infallible> {
        let mut slot = 0;
        while slot < self.k {
            let bit = 1 << slot;
            p.keep(2, &(slot, live));
            let is_free = match &*self.words {
                [word] => p.at(2).read(word).await?.0 & bit == 0,
                _ => p.at(2).read(&self.flags[slot]).await? != Flag::TAKEN,
            };
            if !is_free {
                slot += 1;
                continue;
            }
            p.keep(3, &(slot, live));
            let was_free = match &*self.words {
                [word] => p.at(3).fetch_or(word, Taken(bit)).await?.0 & bit == 0,
                _ => p.at(3).swap(&self.flags[slot], Flag::TAKEN).await? != Flag::TAKEN,
            };
            if was_free {
                return Ok(Some(slot as u32));
            }
        }
        Ok(None)
    }
}

impl<N: Names<Sim> + 'static> KExclusion<Sim> for Apart<N> {
    type Held = (Held, u32);
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<Sim>) -> Result<(Held, u32), Failure<Infallible, Refused>> {
        let here = p.on(self.part);
        let early = if self.fault == Fault::NamedEarly { Some(self.take(here, &"early").await?) } else { None };
        here.part(&early);
        let held = self.line.acquire(p).await?;
        here.part_done();
        let name = match early {
            Some(name) => name,
            None => self.take(here, &held).await?,
        };
        here.holds("name", u64::from(name));
        here.mark(Mark::Rests(4));
        Ok((held, name))
    }

    async fn release(&self, p: &Process<Sim>, (held, name): (Held, u32)) -> Result<(), Infallible> {
        let here = p.on(self.part);
        let late = self.fault == Fault::NamelessLate;
        if !late {
            self.names.give_back(here, name).await?;
            here.hides("name");
            here.mark(Mark::Rests(5));
            here.keep(5, &held);
        }
        here.part(&(late, name));
        self.line.release(p, held).await?;
        here.part_done();
        if late {
            here.keep(4, &name);
            self.names.give_back(here, name).await?;
        }
        Ok(())
    }
}
