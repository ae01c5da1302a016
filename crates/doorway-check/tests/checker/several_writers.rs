//! Regular registers with several writers, against a definition without machines: a read returns
//! the value of a write that it overlaps, or of one that was not completely followed by another
//! complete write before the read began.

use doorway_check::sim::{Action, Part, Rules, Sim, SimVar, World};
use doorway_core::memory::{Needs, Process, Register, Site, decl};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Reads,
    Writes(u64),
}
use Does::{Reads, Writes};

/// What each process does to the only register, in order.
type Programs = Vec<Vec<Does>>;

/// A read: its process, and the number of the access.
type Read = (usize, usize);

/// What each read may return.
type Values = BTreeMap<Read, BTreeSet<u64>>;

// ---- by the definition

/// An access, from the moment at which it begins to the one at which it ends; `None` if it never
/// does.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: usize,
    to: Option<usize>,
}

impl Interval {
    fn is_wholly_before(self, other: Self) -> bool {
        self.to.is_some_and(|to| to < other.from)
    }
}

/// What a read may return, given all writes; the register holds 0 before the first.
fn by_definition(read: Interval, writes: &[(Interval, u64)]) -> BTreeSet<u64> {
    let before = || writes.iter().filter(|(write, _)| write.is_wholly_before(read));
    let is_followed = |write: Interval| before().any(|(other, _)| write.is_wholly_before(*other));
    let may_return = |write: Interval| !read.is_wholly_before(write) && !is_followed(write);
    let first = before().next().is_none().then_some(0);
    writes.iter().filter(|(write, _)| may_return(*write)).map(|(_, x)| *x).chain(first).collect()
}

/// What every read may return if processes take their turns in this order. A write takes two turns,
/// and so does a read that is not a single moment.
fn of_schedule(programs: &Programs, schedule: &[usize], reads_last: bool) -> Values {
    let mut accesses: Vec<Vec<Interval>> = vec![Vec::new(); programs.len()];
    let mut open = vec![false; programs.len()];
    for (now, &p) in schedule.iter().enumerate() {
        if open[p] {
            accesses[p].last_mut().expect("what is open has begun").to = Some(now);
            open[p] = false;
        } else {
            let takes_a_moment = programs[p][accesses[p].len()] == Reads && !reads_last;
            accesses[p].push(Interval { from: now, to: takes_a_moment.then_some(now) });
            open[p] = !takes_a_moment;
        }
    }
    let done = || {
        let of = |p: usize| accesses[p].iter().enumerate().map(move |(i, &at)| (p, i, at));
        (0..programs.len()).flat_map(of)
    };
    let writes: Vec<(Interval, u64)> = done()
        .filter_map(|(p, i, at)| match programs[p][i] {
            Writes(x) => Some((at, x)),
            Reads => None,
        })
        .collect();
    let reads = done().filter(|&(p, i, at)| programs[p][i] == Reads && at.to.is_some());
    reads.map(|(p, i, at)| ((p, i), by_definition(at, &writes))).collect()
}

/// Calls back with every order in which all processes can take all their turns.
fn schedules(turns: &mut [usize], schedule: &mut Vec<usize>, each: &mut impl FnMut(&[usize])) {
    if turns.iter().all(|&left| left == 0) {
        return each(schedule);
    }
    for p in 0..turns.len() {
        if turns[p] > 0 {
            turns[p] -= 1;
            schedule.push(p);
            schedules(turns, schedule, each);
            schedule.pop();
            turns[p] += 1;
        }
    }
}

/// What each read may return under some schedule, if reads have a beginning and an end.
fn by_intervals(programs: &Programs) -> Values {
    let mut turns: Vec<usize> = programs.iter().map(|program| 2 * program.len()).collect();
    let mut all = Values::new();
    schedules(&mut turns, &mut Vec::new(), &mut |schedule| merge(&mut all, of_schedule(programs, schedule, true)));
    all
}

fn merge(all: &mut Values, more: Values) {
    more.into_iter().for_each(|(read, values)| all.entry(read).or_default().extend(values));
}

// ---- in the simulator

fn world(programs: &Programs) -> World {
    let rules = Rules { registers: Register::Regular, ..Rules::with_passages(Some(1)) };
    let build = |site: &Site<'_, Sim>| (site.var("x", decl(0u64).needs(Needs::Regular)), site.var("never", false));
    let text = Rc::new(programs.clone());
    let body = move |vars: Rc<(SimVar<u64>, SimVar<bool>)>, p: Process<Sim>| {
        let text = Rc::clone(&text);
        async move {
            let at = p.on(Part::ROOT);
            for does in &text[p.pid().index()] {
                let Ok(()) = match *does {
                    Reads => at.at(1).read(&vars.0).await.map(drop),
                    Writes(x) => at.at(2).write(&vars.0, x).await,
                };
            }
            // Stays here, so that the local state still tells what was seen.
            let _ = at.at(3).wait_until(&vars.1, |x| x).await;
        }
    };
    World::of_programs(programs.len(), rules, build, body).unwrap()
}

/// Every schedule, and what each read returns under it: a read is one turn, a write two.
fn by_steps(programs: &Programs) -> BTreeMap<Vec<usize>, Values> {
    let mut world = world(programs);
    let mut all: BTreeMap<Vec<usize>, Values> = BTreeMap::new();
    let mut todo = vec![(world.initial(), Vec::new(), Values::new())];
    while let Some((state, schedule, saw)) = todo.pop() {
        let mut actions: Vec<Action> = Vec::new();
        let busy = |p: &usize| world.next_at(&state, *p).1 != 3;
        (0..programs.len()).filter(busy).for_each(|p| world.actions(&state, p, &mut actions));
        if actions.is_empty() {
            merge(all.entry(schedule).or_default(), saw);
            continue;
        }
        for action in actions {
            let (mut next, p) = (state.clone(), action.process);
            let done = world.history(&state, p).len();
            let stepped = world.act(&mut next, action).unwrap().expect("it was said to be possible");
            let (mut schedule, mut saw) = (schedule.clone(), saw.clone());
            schedule.push(p);
            if programs[p][done] == Reads {
                saw.insert((p, done), BTreeSet::from([stepped.saw]));
            }
            todo.push((next, schedule, saw));
        }
    }
    all
}

fn agree(programs: &Programs) {
    let mut any = Values::new();
    for (schedule, values) in by_steps(programs) {
        assert_eq!(values, of_schedule(programs, &schedule, false), "{programs:?} in the order {schedule:?}");
        merge(&mut any, values);
    }
    assert_eq!(any, by_intervals(programs), "{programs:?}");
}

/// Programs whose writes are all different, so that a value tells which write it comes from.
fn programs() -> impl Strategy<Value = Programs> {
    let of = |n, most| prop::collection::vec(prop::collection::vec(prop::bool::ANY, 1..=most), n);
    let shapes = prop_oneof![of(2, 3), of(3, 1), (of(1, 2), of(2, 1)).prop_map(|(a, b)| [a, b].concat())];
    shapes.prop_map(|shapes| {
        let mut values = 1..;
        let mut does = |writes: bool| if writes { Writes(values.next().unwrap_or(0)) } else { Reads };
        shapes.into_iter().map(|shape| shape.into_iter().map(&mut does).collect()).collect()
    })
}

/// The write of 3 begins first and overlaps both writes of the other process, and loses against the
/// first. That process then reads with nothing in progress: 1 was overwritten long ago.
#[test]
fn a_write_that_loses_brings_nothing_back() {
    let programs = vec![vec![Writes(1), Writes(2), Reads], vec![Writes(3)]];
    agree(&programs);
    let order = vec![1, 0, 0, 0, 1, 0, 0];
    assert_eq!(by_steps(&programs)[&order], Values::from([((0, 2), BTreeSet::from([2, 3]))]));
}

#[test]
fn a_write_may_lose_against_one_that_it_overlaps() {
    let programs = vec![vec![Writes(1), Reads], vec![Writes(2), Reads]];
    agree(&programs);
    let both = BTreeSet::from([1, 2]);
    assert_eq!(by_steps(&programs)[&vec![0, 1, 0, 1, 0, 1]], Values::from([((0, 1), both.clone()), ((1, 1), both)]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_return_what_the_definition_says(programs in programs()) {
        agree(&programs);
    }
}
