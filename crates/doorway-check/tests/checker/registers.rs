//! Registers that are not atomic; counters that grow; waits that are given up.

use doorway_check::sim::{Action, Part, Rules, Sim, SimCell, SimVar, What, World};
use doorway_check::{Explorer, Property, Report, subject};
use doorway_core::Failure;
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::Register::{self, Atomic, Monotone, Regular, Safe};
use doorway_core::memory::{Decl, Domain, Mark, Needs, Process, Site, decl};
use doorway_core::registry::Sizes;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;
use std::rc::Rc;

fn check(id: &str, n: usize, passages: Option<u32>, registers: Register, force: bool) -> Report {
    let subject = subject::find(id).unwrap();
    let sizes = Sizes { n, k: 1 };
    let mut claims = subject.claims(sizes);
    claims.retain(|c| ["mutual-exclusion", "never-stuck", "first-come-first-served"].contains(&c.name()));
    let rules = Rules { registers, force_registers: force, ..Rules::with_passages(passages) }.for_properties(&claims);
    Explorer::new(n).believe_keep(true).properties(claims).explore(subject.world(sizes, rules).unwrap()).unwrap()
}

#[test]
fn the_bakery_works_on_safe_registers() {
    for registers in [Atomic, Regular, Monotone, Safe] {
        let two = check("bakery", 2, Some(3), registers, false);
        two.assert_holds();
        let three = check("bakery", 3, Some(1), registers, false);
        three.assert_holds();
        println!("{registers}: {} and {} states", two.states, three.states);
    }
}

#[test]
fn a_variable_is_weakened_no_further_than_it_declares() {
    // ya-two claims nothing for weaker registers: without force, its variables stay atomic.
    let polite = check("ya-two", 2, None, Safe, false);
    polite.assert_holds();
    assert_eq!(polite.states, check("ya-two", 2, None, Atomic, false).states);
    let forced = check("ya-two", 2, None, Safe, true);
    assert_eq!(forced.failure().map(|v| &*v.name), Some("mutual-exclusion"));
}

#[test]
fn a_crash_half_way_through_a_write_leaves_the_register_torn() {
    // p0 crashes in the middle of a write; p1 may read anything for ever after.
    let rules = Rules { crashes: 1, registers: Safe, passages: Some(1), ..Rules::default() };
    let flag = |site: &Site<'_, Sim>| site.var("x", decl(0u64).needs(Needs::Safe(Domain::Of(&[0, 1, 5]))));
    let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let at = p.on(Part::ROOT);
        if p.pid().index() == 0 {
            let _ = at.at(1).write(&x, 1).await;
        } else {
            let _ = at.at(2).read(&x).await;
            let _ = at.at(3).read(&x).await;
            let _ = at.at(4).read(&x).await;
        }
    };
    let mut world = World::of_programs(2, rules, flag, text).unwrap();
    let mut state = world.initial();
    world.step(&mut state, 0).unwrap();
    world.act(&mut state, Action { process: 0, what: What::Crash }).unwrap().unwrap();
    let mut actions = Vec::new();
    world.actions(&state, 1, &mut actions);
    let mut seen = BTreeSet::new();
    for action in actions {
        let mut next = state.clone();
        seen.extend(world.act(&mut next, action).unwrap().filter(|_| action.what != What::Crash).map(|s| s.saw));
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 5]));
}

// ---- reads in one step against reads in two steps

/// One process writes these values to its register, one after the other; the other reads it this
/// many times.
type WritesAndReads = (Vec<u64>, usize);

const DOMAIN: [u64; 4] = [0, 1, 2, 3];

/// What the reader can see if both reads and writes have a beginning and an end: any value allowed
/// by the definition of the register.
fn by_intervals(kind: Register, (writes, reads): &WritesAndReads) -> BTreeSet<Vec<u64>> {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct At {
        write: usize,
        writing: bool,
        /// What the read in progress may still return.
        reading: Option<BTreeSet<u64>>,
        saw: Vec<u64>,
    }
    let value = |write: usize| if write == 0 { 0 } else { writes[write - 1] };
    // What an overlapping write of `new` over `old` adds.
    let adds = |old: u64, new: u64| -> BTreeSet<u64> {
        match kind {
            Safe => DOMAIN.into(),
            Monotone if new > old => DOMAIN.into_iter().filter(|&x| x >= old).chain([new]).collect(),
            _ => [old, new].into(),
        }
    };
    let mut outcomes = BTreeSet::new();
    let (mut seen, mut todo) = (HashSet::new(), vec![At { write: 0, writing: false, reading: None, saw: Vec::new() }]);
    while let Some(at) = todo.pop() {
        if !seen.insert(at.clone()) {
            continue;
        }
        if at.saw.len() == *reads {
            outcomes.insert(at.saw.clone());
            continue;
        }
        if at.write < writes.len() {
            let mut next = at.clone();
            if at.writing {
                next.write += 1;
                next.writing = false;
            } else {
                next.writing = true;
                if let Some(may) = &mut next.reading {
                    may.extend(adds(value(at.write), writes[at.write]));
                }
            }
            todo.push(next);
        }
        let mut next = at.clone();
        match &at.reading {
            None => {
                let mut may = BTreeSet::from([value(at.write)]);
                if at.writing {
                    may.extend(adds(value(at.write), writes[at.write]));
                }
                next.reading = Some(may);
                todo.push(next);
            }
            Some(may) => {
                for &x in may {
                    let mut next = at.clone();
                    next.reading = None;
                    next.saw.push(x);
                    todo.push(next);
                }
            }
        }
    }
    outcomes
}

/// The same in the simulator, where a read is one step.
fn by_steps(kind: Register, program: &WritesAndReads) -> BTreeSet<Vec<u64>> {
    let declare = |site: &Site<'_, Sim>| -> (SimVar<u64>, SimVar<bool>) {
        (site.var("x", decl(0u64).needs(Needs::Safe(Domain::Of(&DOMAIN)))), site.var("never", false))
    };
    let rules = Rules { registers: kind, ..Rules::default() };
    let (writes, reads) = program.clone();
    let text = move |vars: Rc<(SimVar<u64>, SimVar<bool>)>, p: Process<Sim>| {
        let writes = writes.clone();
        async move {
            let at = p.on(Part::ROOT);
            if p.pid().index() == 0 {
                for &x in &writes {
                    let _ = at.at(1).write(&vars.0, x).await;
                }
            } else {
                for _ in 0..reads {
                    let _ = at.at(2).read(&vars.0).await;
                }
            }
            let _ = at.at(3).wait_until(&vars.1, |x| x).await;
        }
    };
    let mut world = World::of_programs(2, rules, declare, text).unwrap();
    let (mut seen, mut todo) = (HashSet::new(), vec![world.initial()]);
    let mut outcomes = BTreeSet::new();
    while let Some(state) = todo.pop() {
        let history = world.history(&state, 1);
        if history.len() >= reads && world.next_at(&state, 1).1 == 3 {
            outcomes.insert(history[..reads].to_vec());
        }
        let mut actions = Vec::new();
        (0..2).for_each(|p| world.actions(&state, p, &mut actions));
        for action in actions {
            let mut next = state.clone();
            if world.act(&mut next, action).unwrap().is_some() && seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    outcomes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_read_in_one_step_is_a_read_in_two(writes in prop::collection::vec(0..4u64, 0..4), reads in 1..4usize) {
        let program = (writes, reads);
        for kind in [Safe, Monotone, Regular, Atomic] {
            let naive = if kind == Atomic { by_steps(Atomic, &program) } else { by_intervals(kind, &program) };
            prop_assert_eq!(by_steps(kind, &program), naive, "{}", kind);
        }
    }
}

// ---- counters that grow

/// A ticket lock: `next` and `serving` grow for ever, and only their difference matters.
struct TicketLock {
    next: SimVar<u64>,
    serving: SimVar<u64>,
}

impl TicketLock {
    fn new(site: &Site<'_, Sim>, width: u32) -> Self {
        let counter = || -> Decl<'_, u64> { decl(0).counts().wraps_at(width) };
        Self { next: site.var("next", counter()), serving: site.var("serving", counter()) }
    }
}

impl KExclusion<Sim> for TicketLock {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let p = p.on(Part::ROOT);
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.keep(2, &mine);
        p.at(2).wait_until(&self.serving, |now| now == mine).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).fetch_add(&self.serving, 1).await?;
        Ok(())
    }
}

fn lock_properties() -> [Property; 3] {
    [
        Property::exclusion("mutual-exclusion", 1),
        Property::starvation_free("starvation-free"),
        Property::never_stuck("never-stuck"),
    ]
}

#[test]
fn counters_that_only_differences_matter_of_need_no_bound() {
    let rules = Rules { normalise: true, ..Rules::default() };
    let world = World::new(3, rules, |site| TicketLock::new(site, 64)).unwrap();
    let report = Explorer::new(3).believe_keep(true).properties(lock_properties()).explore(world).unwrap();
    report.assert_holds();
    println!("ticket lock, unbounded: {} states", report.states);
}

/// All states of a machine, with the smallest counter subtracted from memory.
fn small_memories(normalise: bool, passages: u32) -> BTreeSet<(Vec<u64>, Vec<u16>, Vec<u32>)> {
    let rules = Rules { normalise, ..Rules::with_passages(Some(passages)) };
    let mut world = World::new(2, rules, |site| TicketLock::new(site, 64)).unwrap();
    let (mut seen, mut todo) = (HashSet::new(), vec![world.initial()]);
    let mut memories = BTreeSet::new();
    while let Some(state) = todo.pop() {
        let less = state.vars.iter().min().copied().unwrap_or(0);
        let places = (0..2).map(|p| world.next_at(&state, p).1).collect();
        memories.insert((state.vars.iter().map(|v| v - less).collect(), places, state.passages.clone()));
        for p in 0..2 {
            let mut next = state.clone();
            world.step(&mut next, p).unwrap();
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    memories
}

#[test]
fn normalisation_is_exact() {
    for passages in 1..=4 {
        assert_eq!(small_memories(true, passages), small_memories(false, passages), "{passages} passages");
    }
}

#[test]
fn a_ticket_that_wraps_too_early_lets_two_in() {
    // Three processes need three different tickets; one bit has two.
    let search = |width| {
        Explorer::new(3)
            .believe_keep(true)
            .properties(lock_properties())
            .run(|site| TicketLock::new(site, width))
            .unwrap()
    };
    search(2).assert_holds();
    assert_eq!(search(1).failure().map(|v| &*v.name), Some("mutual-exclusion"));
}

// ---- giving up

/// Flags of two processes; a process that gives up lowers its own, or forgets to.
struct Polite {
    flags: Vec<SimCell<bool>>,
    forgets: bool,
}

impl KExclusion<Sim> for Polite {
    type Held = ();
    type Refusal = Infallible;
    async fn acquire(&self, p: &Process<Sim>) -> Result<(), Failure<Infallible>> {
        let (p, me) = (p.on(Part::ROOT), p.pid().index());
        p.at(1).write(&self.flags[me], true).await?;
        p.at(2).wait_until(&self.flags[1 - me], |up| !up).await?;
        Ok(())
    }
    async fn release(&self, p: &Process<Sim>, (): ()) -> Result<(), Infallible> {
        p.on(Part::ROOT).at(3).write(&self.flags[p.pid().index()], false).await
    }
}

impl Abortable<Sim> for Polite {
    type Attempt = bool;
    async fn try_acquire(&self, p: &Process<Sim>, raised: &mut bool) -> Result<Option<()>, Failure<Infallible>> {
        let (p, me) = (p.on(Part::ROOT), p.pid().index());
        p.at(1).write(&self.flags[me], true).await?;
        *raised = true;
        p.mark(Mark::DoorwayEnds);
        Ok(p.at(2).wait_unless_given_up(&self.flags[1 - me], |up| !up).await?.map(drop))
    }
    async fn leave(&self, p: &Process<Sim>, raised: bool) -> Result<Option<()>, Infallible> {
        if raised && !self.forgets {
            p.on(Part::ROOT).at(4).write(&self.flags[p.pid().index()], false).await?;
        }
        Ok(None)
    }
}

#[test]
fn giving_up_is_tried_at_every_turn_that_fails() {
    let search = |give_ups, forgets| {
        let rules = Rules { give_ups, ..Rules::default() };
        let build = |site: &Site<'_, Sim>| Polite { flags: site.row("flag", 2, |_| false.into()), forgets };
        let world = World::of_abortable(2, rules, build).unwrap();
        Explorer::new(2)
            .believe_keep(true)
            .property(Property::exclusion("mutual-exclusion", 1))
            .property(Property::sometimes("someone gives up", |v| v.count(4) > 0))
            .property(Property::never_stuck("never-stuck"))
            .property(Property::always("a process outside has lowered its flag", |v| {
                v.processes()
                    .all(|p| v.phase(p) != doorway_check::sim::Phase::Remainder || !v.get_at::<bool>("flag", p))
            }))
            .keep_going(true)
            .explore(world)
            .unwrap()
    };
    let holds = |r: &Report| r.verdicts.iter().map(|v| v.holds).collect::<Vec<_>>();
    // Both wait for each other; the difference is whether one gives up.
    assert_eq!(holds(&search(false, false)), [Some(true), Some(false), Some(false), Some(true)]);
    assert_eq!(holds(&search(true, false))[1], Some(true));
    assert_eq!(holds(&search(true, false))[3], Some(true));
    assert_eq!(holds(&search(true, true))[3], Some(false), "the mutant is noticed");
}

#[test]
fn whoever_gave_up_was_not_overtaken() {
    let rules = Rules { give_ups: true, order: true, ..Rules::default() };
    let build = |site: &Site<'_, Sim>| Polite { flags: site.row("flag", 2, |_| false.into()), forgets: false };
    let world = World::of_abortable(2, rules, build).unwrap();
    let report = Explorer::new(2).believe_keep(true).property(Property::first_come("fcfs", 1)).explore(world).unwrap();
    report.assert_holds();
}

#[test]
fn nothing_is_torn_unless_somebody_writes() {
    let rules = Rules { registers: Safe, ..Rules::default() };
    let build = |site: &Site<'_, Sim>| site.var("x", decl(0u64).needs(Needs::Safe(Domain::Of(&[0, 1]))));
    let text = |x: Rc<SimVar<u64>>, p: Process<Sim>| async move {
        let _ = p.on(Part::ROOT).at(1).read(&x).await;
    };
    let mut world = World::of_programs(1, rules, build, text).unwrap();
    let mut state = world.initial();
    assert_eq!(world.act(&mut state, Action { process: 0, what: What::Sees(1) }).unwrap(), None);
    assert_eq!(world.act(&mut state, Action { process: 0, what: What::Crash }).unwrap(), None, "nobody may crash");
}

#[test]
fn what_a_process_remembers_of_a_counter_stays_in_order() {
    // p0 remembers the counter at 0 while others increase it; it may only find it larger.
    let search = |normalise| {
        let rules = Rules { normalise, ..Rules::with_passages(Some(2)) };
        let build = |site: &Site<'_, Sim>| -> (SimVar<u64>, SimVar<u64>) {
            (site.var("counter", decl(0).counts()), site.var("shrank", 0))
        };
        let text = |vars: Rc<(SimVar<u64>, SimVar<u64>)>, p: Process<Sim>| async move {
            let at = p.on(Part::ROOT);
            let before = at.at(1).fetch_add(&vars.0, 1).await.unwrap_or(0);
            let after = at.at(2).read(&vars.0).await.unwrap_or(0);
            if after < before {
                let _ = at.at(3).write(&vars.1, 1).await;
            }
        };
        let world = World::of_programs(2, rules, build, text).unwrap();
        let never = Property::always("never shrinks", |v| v.get::<u64>("shrank") == 0);
        Explorer::new(2).believe_keep(true).property(never).explore(world).unwrap().verdict("never shrinks").holds
    };
    assert_eq!((search(false), search(true)), (Some(true), Some(true)));
}
