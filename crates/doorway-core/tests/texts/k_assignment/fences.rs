//! Fence numbers: they grow, whenever a holder asks, and all threads of a holder get the same.

use doorway_check::property::View;
use doorway_check::sim::{Rules, Sim, SimCell, SimVar, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_assignment::names::{BitNames, FlagNames, Names, NoNames};
use doorway_core::k_assignment::slots::Passing;
use doorway_core::k_assignment::{Fence, Grant, Holding, Slots};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::k_exclusion::bypass::Tray;
use doorway_core::k_exclusion::turnstile::{Attempt, Endless, Limits, Refused, Turnstile};
use doorway_core::memory::{Memory, Process, Site, Word};
use std::convert::Infallible;
use std::fmt::Debug;

/// What a process does in a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Asks for its number, or not. Other processes may do anything before it asks.
    Asks,
    /// The same with two names.
    AsksForTwo,
    /// Has two names, asks or not, and splits them. Then it asks for the number of each part.
    Splits,
    /// Has one name, asks or not, takes another if it can, and merges both. Then it asks.
    Merges,
    /// Asks while another thread asks too.
    Lends,
    /// That thread. It is never inside.
    Borrows,
}
use Role::{Asks, AsksForTwo, Borrows, Lends, Merges, Splits};

enum Kind<N> {
    Plain(Slots<Sim, N, Endless<Sim>>),
    Passing(Passing<Sim, N, Endless<Sim>>),
}

impl<N> Kind<N> {
    fn slots(&self) -> &Slots<Sim, N, Endless<Sim>> {
        match self {
            Self::Plain(slots) => slots,
            Self::Passing(passing) => passing.slots(),
        }
    }
}

/// Slots, and what the numbers are compared with.
///
/// Each grant has an index: the process, and `n` more for each of its passages before.
struct Users<N> {
    kind: Kind<N>,
    n: usize,
    roles: &'static [Role],
    /// The number of the holder of each process.
    own: Vec<SimCell<Fence>>,
    /// The number of the last holder of each name that asked.
    last: Vec<SimCell<u64>>,
    /// Which grants have been inside: a bit for each.
    entered: SimVar<u64>,
    /// For each grant whose holder asked, the number, and above it what `entered` was when the
    /// grant began.
    asked: SimVar<u64>,
    /// The bits of one grant in `asked`.
    bits: usize,
    /// What is lent to another thread, and how many threads use it.
    lent: SimVar<u64>,
    users: SimVar<u64>,
    /// The number that the other thread got.
    borrowed: SimVar<u64>,
}

const LAST: &str = "not after the last holder";
const PARTS: &str = "not the same number";
const GROW: &str = "numbers grow past all before";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Inside {
    role: Role,
    holding: Holding,
    grant: usize,
    before: u64,
}

impl<N: Names<Sim>> Users<N> {
    fn own(&self, p: &Process<Sim>) -> &SimCell<Fence> {
        &self.own[p.pid().index()]
    }

    /// Asks for the number. `live` is what the process knows.
    async fn number(&self, p: &Process<Sim>, holding: Holding, live: &impl Debug) -> Result<u64, Infallible> {
        let here = p.on(Sim::ROOT);
        here.part(&(holding, live));
        let number = self.kind.slots().fence(p, holding, self.own(p)).await?;
        here.part_done();
        Ok(number)
    }

    /// Compares the number of a holder with that of the last holder of each of its names.
    async fn is_after_the_last(&self, p: &Process<Sim>, inside: Inside, number: u64) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        if !N::NAMED {
            return Ok(());
        }
        let mut name = inside.holding.name();
        for left in (0..inside.holding.units()).rev() {
            let last = &self.last[name as usize];
            let of_the_last = here.at(91).keeping(&(inside, number, name, left)).read(last).await?;
            // Numbers begin with 1.
            if number <= of_the_last && of_the_last > 0 {
                here.shows(LAST, number);
            }
            here.at(92).keeping(&(inside, number, name, left)).write(last, number).await?;
            if left > 0 {
                here.part(&(inside, number, left));
                name = self.kind.slots().next_name(p, name).await?;
                here.part_done();
            }
        }
        Ok(())
    }

    /// Asks, and notes the number.
    async fn asks(&self, p: &Process<Sim>, inside: Inside) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        let number = self.number(p, inside.holding, &inside).await?;
        self.is_after_the_last(p, inside, number).await?;
        let Inside { grant, before, .. } = inside;
        let half = self.bits / 2;
        assert!(number >> half == 0, "the number is too large for this test");
        let asked = (number | before << half) & ((1 << self.bits) - 1);
        here.at(93).keeping(&(inside, number)).fetch_or(&self.asked, asked << (self.bits * grant)).await?;
        Ok(())
    }

    async fn may_ask(&self, p: &Process<Sim>, inside: Inside) -> Result<(), Infallible> {
        match p.on(Sim::ROOT).at(99).keeping(&inside).choose(2).await? {
            0 => Ok(()),
            _ => self.asks(p, inside).await,
        }
    }

    /// The other thread.
    async fn borrows(&self, p: &Process<Sim>) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        here.at(70).fetch_add(&self.users, 1).await?;
        let lent = here.at(71).read(&self.lent).await?;
        if lent != 0 {
            let holding = Holding::unpack(lent);
            here.part(&holding);
            let number = self.kind.slots().fence(p, holding, &self.own[0]).await?;
            here.part_done();
            here.at(72).keeping(&number).write(&self.borrowed, number).await?;
        }
        here.at(73).fetch_add(&self.users, u64::MAX).await?;
        Ok(())
    }

    async fn lends(&self, p: &Process<Sim>, inside: Inside) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        here.at(74).keeping(&inside).write(&self.lent, inside.holding.pack()).await?;
        let number = self.number(p, inside.holding, &("lends", inside)).await?;
        here.at(75).keeping(&(inside, number)).write(&self.lent, 0).await?;
        here.keep(76, &(inside, number));
        here.at(76).wait_until(&self.users, |users| users == 0).await?;
        let borrowed = here.at(77).keeping(&(inside, number)).read(&self.borrowed).await?;
        if borrowed != 0 && borrowed != number {
            here.shows(PARTS, borrowed);
        }
        self.asks(p, inside).await
    }
}

impl<N: Names<Sim>> KExclusion<Sim> for Users<N> {
    type Held = Inside;
    type Refusal = Option<Refused>;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Inside, Failure<Infallible, Option<Refused>>> {
        let here = p.on(Sim::ROOT);
        let role = self.roles[p.pid().index()];
        if role == Borrows {
            self.borrows(p).await?;
            return Err(Failure::Refused(None));
        }
        let units = if matches!(role, AsksForTwo | Splits) { 2 } else { 1 };
        let before = here.at(90).read(&self.entered).await?;
        here.part(&(role, before));
        let entered = match &self.kind {
            Kind::Plain(slots) => slots.acquire(p, units, 0, &mut Attempt::default(), false).await,
            Kind::Passing(slots) => slots.acquire(p).await.map(Some),
        };
        here.part_done();
        let Grant { holding, ticket } = match entered {
            Ok(grant) => grant.expect("it does not give up"),
            Err(Failure::Refused(why)) => return Err(Failure::Refused(Some(why))),
            Err(Failure::Memory(impossible)) => match impossible {},
        };
        let mine = (p.pid().index()..).step_by(self.n).find(|grant| before >> grant & 1 == 0);
        let inside = Inside { role, holding, grant: mine.expect("some process has not been inside"), before };
        here.at(95).keeping(&(inside, ticket)).fetch_or(&self.entered, 1 << inside.grant).await?;
        here.at(96).keeping(&(inside, ticket)).write_in_passing(self.own(p), Fence::Of(ticket)).await?;
        Ok(inside)
    }

    async fn release(&self, p: &Process<Sim>, inside: Inside) -> Result<(), Infallible> {
        let (here, slots) = (p.on(Sim::ROOT), self.kind.slots());
        let holding = match inside.role {
            Borrows => unreachable!("it is never inside"),
            Lends => {
                self.lends(p, inside).await?;
                inside.holding
            }
            Asks | AsksForTwo => {
                self.may_ask(p, inside).await?;
                inside.holding
            }
            Merges => {
                self.may_ask(p, inside).await?;
                here.part(&inside);
                let more = slots.try_acquire_now(p, 1, false).await;
                here.part_done();
                let Ok(Some(more)) = more else { return self.exits(p, inside.holding).await };
                // It may have asked, so its own number is compared after the next access only.
                let other = &self.own[self.n];
                here.at(97).keeping(&(inside, more)).write_in_passing(other, Fence::Of(more.ticket)).await?;
                here.part(&inside);
                let (whole, fence) = slots.merge(p, (inside.holding, self.own(p)), (more.holding, other)).await?;
                here.part_done();
                let inside = Inside { holding: whole, ..inside };
                here.at(98).keeping(&(inside, fence)).write_in_passing(self.own(p), fence).await?;
                let number = self.number(p, whole, &inside).await?;
                self.is_at_least_the_last(p, inside, number).await?;
                whole
            }
            Splits => {
                self.may_ask(p, inside).await?;
                here.part(&inside);
                let split = slots.split(p, inside.holding, self.own(p), 1).await?;
                here.part_done();
                let (first, second, fence) = split.expect("it has two");
                here.at(98).keeping(&(inside, first, second, fence)).write_in_passing(self.own(p), fence).await?;
                let inside = Inside { holding: first, ..inside };
                let number = self.number(p, first, &inside).await?;
                here.part(&(first, number));
                let other = slots.fence(p, second, self.own(p)).await?;
                here.part_done();
                if other != number {
                    here.shows(PARTS, other);
                }
                for part in [second, first] {
                    let part = Inside { holding: part, ..inside };
                    self.is_at_least_the_last(p, part, number).await?;
                }
                here.part(&first);
                self.exits(p, second).await?;
                here.part_done();
                first
            }
        };
        self.exits(p, holding).await
    }
}

impl<N: Names<Sim>> Users<N> {
    async fn exits(&self, p: &Process<Sim>, holding: Holding) -> Result<(), Infallible> {
        match &self.kind {
            Kind::Plain(slots) => slots.give_holding_back(p, holding).await,
            Kind::Passing(slots) => slots.release(p, Grant { holding, ticket: 0 }).await,
        }
    }

    /// A part has the number of its whole, which the process may have compared before.
    async fn is_at_least_the_last(&self, p: &Process<Sim>, inside: Inside, number: u64) -> Result<(), Infallible> {
        let here = p.on(Sim::ROOT);
        let mut name = inside.holding.name();
        for left in (0..inside.holding.units()).rev() {
            let last = &self.last[name as usize];
            if here.at(91).keeping(&(inside, number, name, left)).read(last).await? > number {
                here.shows(LAST, number);
            }
            here.at(92).keeping(&(inside, number, name, left)).write(last, number).await?;
            if left > 0 {
                here.part(&(inside, number, left));
                name = self.kind.slots().next_name(p, name).await?;
                here.part_done();
            }
        }
        Ok(())
    }
}

/// A grant that was inside before another began has the smaller number.
fn grows_past_all_before(bits: usize) -> Property {
    let half = bits / 2;
    Property::always(GROW, move |v: &View<'_>| {
        let asked = v.get::<u64>("asked");
        let number = |grant: usize| asked >> (bits * grant) & ((1 << half) - 1);
        let before = |grant: usize, other: usize| asked >> (bits * grant + half + other) & 1 == 1;
        let grants = || (0..half).filter(|&grant| bits * grant < 64 && number(grant) > 0);
        grants().all(|later| {
            grants().filter(|&earlier| before(later, earlier)).all(|earlier| number(earlier) < number(later))
        })
    })
}

/// No process shows this.
fn never(what: &'static str) -> Property {
    Property::always(what, move |v| v.processes().all(|p| v.shown::<u64>(p, what).is_none()))
}

/// What numbers are made from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// As shipped.
    Both,
    /// Tickets alone.
    Tickets,
    /// The last number of each name, alone.
    Names,
}

struct Run {
    k: usize,
    roles: &'static [Role],
    from: From,
    passing: bool,
    passages: u32,
    faults: &'static str,
}

impl Run {
    const fn new(k: usize, roles: &'static [Role], passages: u32) -> Self {
        Self { k, roles, from: From::Both, passing: false, passages, faults: "" }
    }

    fn explore<N: Names<Sim> + 'static>(self) -> Report {
        let Self { k, roles, from, passing, passages, faults } = self;
        let n = roles.len();
        let bits = 64 / (n * passages as usize);
        let mut rules = Rules::with_passages(Some(passages));
        if !faults.is_empty() {
            rules.faults = faults.parse().unwrap();
        }
        let build = |site: &Site<'_, Sim>| {
            let mut tray = None;
            let fences = (from != From::Tickets).then_some(0);
            let slots = Slots::<_, N, _>::new(site, k, fences, |inner| {
                tray = passing.then(|| Tray::new(inner, 1, 0).noting_stamps(inner, 1));
                let limits = Limits::for_growing(n, k);
                let line = Turnstile::endless(inner, k, limits, limits.rings(n), 0);
                if from == From::Names { line } else { line.noting_tickets() }
            });
            let kind = match tray {
                Some(tray) => Kind::Passing(Passing::new(slots, tray)),
                None => Kind::Plain(slots),
            };
            Users {
                kind,
                n,
                roles,
                own: site.row("own", n + 1, |_| Fence::Of(0).into()),
                last: site.row("seen", k, |_| 0.into()),
                entered: site.var("entered", 0),
                asked: site.var("asked", 0),
                bits,
                lent: site.var("lent", 0),
                users: site.var("users", 0),
                borrowed: site.var("borrowed", 0),
            }
        };
        let properties = [grows_past_all_before(bits), never(LAST), never(PARTS), Property::never_stuck("never-stuck")];
        let world = World::new(n, rules, build).unwrap();
        let report =
            Explorer::new(n).believe_keep(true).properties(properties).max_states(40_000_000).explore(world).unwrap();
        let complete = if report.complete { "complete" } else { "NOT complete" };
        println!("{roles:?} k {k}, {passages} passages, passing {passing}: {} states, {complete}", report.states);
        assert!(report.complete || report.failure().is_some());
        report
    }

    fn fails<N: Names<Sim> + 'static>(self, what: &str) {
        let report = self.explore::<N>();
        assert_eq!(report.verdict(what).holds, Some(false), "{what}");
    }
}

#[test]
fn fence_numbers_grow() {
    Run::new(1, &[Asks, Asks], 2).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(2, &[Asks, Asks], 2).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(2, &[AsksForTwo, Asks], 2).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(2, &[Asks, Asks], 2).explore::<BitNames<Sim>>().assert_holds();
    Run::new(2, &[AsksForTwo, Asks], 2).explore::<BitNames<Sim>>().assert_holds();
    Run::new(2, &[Asks, Asks], 2).explore::<NoNames>().assert_holds();
}

#[test]
fn parts_and_wholes_have_one_number() {
    Run::new(2, &[Splits, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(3, &[Merges, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(2, &[Merges, Asks], 2).explore::<FlagNames<Sim>>().assert_holds();
}

#[test]
fn threads_that_share_a_grant_get_one_number() {
    Run::new(1, &[Lends, Borrows, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(2, &[Lends, Borrows, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
}

#[test]
fn fence_numbers_of_slots_whose_newcomers_pass_grow() {
    for (k, passages) in [(1, 1), (2, 2)] {
        Run { passing: true, ..Run::new(k, &[Asks, Asks], passages) }.explore::<FlagNames<Sim>>().assert_holds();
        // A name adds one to the number of its last holder, which hides a stamp that is too small.
        // Without names the number is the stamp alone.
        Run { passing: true, ..Run::new(k, &[Asks, Asks], passages) }.explore::<NoNames>().assert_holds();
    }
}

#[test]
#[ignore = "takes minutes; ci/long-searches.sh runs it"]
fn fence_numbers_grow_in_the_large() {
    Run::new(2, &[Asks, Asks, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
    Run::new(3, &[Merges, Asks, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
    let passing = |k, roles, passages| Run { passing: true, ..Run::new(k, roles, passages) };
    passing(1, &[Asks, Asks], 2).explore::<FlagNames<Sim>>().assert_holds();
    passing(1, &[Asks, Asks, Asks], 1).explore::<FlagNames<Sim>>().assert_holds();
}

/// Neither half of a number is enough.
#[test]
fn fails_when_numbers_are_tickets_or_counts_alone() {
    let run = |from| Run { from, ..Run::new(2, &[Asks, Asks], 3) };
    run(From::Tickets).fails::<FlagNames<Sim>>(LAST); // an older ticket takes the name that a newer one gave back
    run(From::Names).fails::<FlagNames<Sim>>(GROW); // a name that was given out seldom has a small number
    // The tickets of those that did not pass are only half of a stamp.
    Run { passing: true, from: From::Names, ..Run::new(2, &[Asks, Asks], 2) }.fails::<FlagNames<Sim>>(GROW);
}

#[test]
fn each_statement_is_needed() {
    let run = |roles, faults| Run { faults, ..Run::new(2, roles, 2) };
    run(&[Asks, Asks], "drop:root.7").fails::<FlagNames<Sim>>(LAST);
    run(&[Asks, Asks], "read:root.6=0").fails::<FlagNames<Sim>>(LAST);
    Run { faults: "blind:root.11", ..Run::new(1, &[Lends, Borrows, Asks], 1) }.fails::<FlagNames<Sim>>(PARTS);
}
