//! Monitors: part of the searched state, seen in traces, and refused where states are merged.

use doorway_check::prelude::*;
use doorway_check::property::{Monitor, Seen, holds};
use doorway_check::sim::TextError;

lock! {
    struct TasLock: TestAndSet { taken: bool = false }
    acquire(self, p) {
        p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?;
    }
    release(self, p) {
        p.at(2).write(&self.taken, false).await?;
    }
}

/// Counts how often others have entered since this process began to wait, up to a limit.
struct Overtaken {
    process: usize,
    most: u8,
}

impl Monitor for Overtaken {
    type State = u8;
    fn initial(&self) -> u8 {
        0
    }
    fn step(&self, times: u8, seen: &Seen<'_>) -> Option<u8> {
        let waits = seen.before.phase(self.process) == Phase::Entry;
        match (waits, seen.enters(), seen.process() == self.process) {
            (true, true, false) => (times < self.most).then_some(times + 1),
            (true, ..) if seen.after.phase(self.process) == Phase::Entry => Some(times),
            _ => Some(0),
        }
    }
}

fn tas() -> Check {
    Check::lock("tas", 2, TasLock::new)
}

#[test]
fn a_monitor_rejects_and_is_seen_in_the_trace() {
    let check = tas().property(Property::monitor("overtaken", Overtaken { process: 0, most: 2 }));
    let report = check.run().unwrap();
    let verdict = report.verdict("overtaken");
    assert_eq!(verdict.holds, Some(false));
    let trace = verdict.trace.as_ref().unwrap();
    // p0 waits while p1 is inside; p1 enters twice more, and then once too often.
    let counts: Vec<&str> = trace
        .steps
        .iter()
        .flat_map(|step| &step.changed)
        .filter(|(name, _)| name == "overtaken")
        .map(|(_, value)| &**value)
        .collect();
    assert_eq!(counts, ["1", "2"], "{trace}");
    let token = verdict.token.as_ref().unwrap().to_string();
    let again = check.replay(&token).unwrap();
    assert!(again.breaks, "{again}");
    // The same run breaks nothing for a monitor that allows more.
    let lenient = tas().property(Property::monitor("overtaken", Overtaken { process: 0, most: 3 }));
    assert!(!lenient.replay(&token).unwrap().breaks);
    assert_eq!(lenient.run().unwrap().verdict("overtaken").holds, Some(false), "but there is a longer one");
}

#[test]
fn a_monitor_agrees_with_the_bound_that_it_counts() {
    let waits = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry;
    let bound = tas().property(Property::overtaking("bound", None, waits)).run().unwrap();
    assert_eq!(bound.verdict("bound").most, Some(Worst::Unbounded));
    for passages in 1..4 {
        let few = tas().with(move |explorer| explorer.passages(passages));
        let bound = few.clone().property(Property::overtaking("bound", None, waits)).run().unwrap();
        assert_eq!(bound.verdict("bound").most, Some(Worst::Bounded(passages.into())));
        let monitor = |most| few.clone().property(Property::monitor("overtaken", Overtaken { process: 0, most })).run();
        let holds = |most| monitor(most).unwrap().verdict("overtaken").holds;
        assert_eq!((holds(passages as u8 - 1), holds(passages as u8)), (Some(false), Some(true)));
    }
}

/// Which process entered last.
struct Last;

impl Monitor for Last {
    type State = Option<Pid>;
    fn initial(&self) -> Option<Pid> {
        None
    }
    fn step(&self, last: Option<Pid>, seen: &Seen<'_>) -> Option<Option<Pid>> {
        Some(if seen.enters() { Some(Pid::new(seen.process())) } else { last })
    }
}

#[test]
fn a_monitor_can_be_asked_for_in_states_and_in_formulas() {
    let last =
        |p: usize| holds(format!("p{p} was last"), move |v| v.monitor::<Option<Pid>>("last") == Some(Pid::new(p)));
    let check = |n: usize| {
        Check::lock("tas", n, TasLock::new)
            .property(Property::monitor("last", Last))
            .property(Property::always("whoever is inside was last", |v| {
                let last = v.monitor::<Option<Pid>>("last");
                v.processes().all(|p| v.phase(p) != Phase::Inside || last == Some(Pid::new(p)))
            }))
            .property(Property::ltl("p0 comes back", last(1).leads_to(last(0))).if_all_take_part())
            .property(Property::ltl("someone", last(0).or(last(1)).eventually()).if_all_take_part())
            .with(|explorer| explorer.keep_going(true))
    };
    let report = check(2).run().unwrap();
    let verdicts: Vec<Option<bool>> = report.verdicts.iter().map(|v| v.holds).collect();
    assert_eq!(verdicts, [Some(true), Some(true), Some(false), Some(true)], "{report}");
    // The monitor is part of the state, and threads change nothing.
    let plain = Check::lock("tas", 2, TasLock::new).mutex().with(|explorer| explorer.keep_going(true)).run().unwrap();
    assert!(report.states > plain.states);
    let two = check(3).with(|explorer| explorer.threads(2)).run().unwrap();
    let one = check(3).run().unwrap();
    assert_eq!((two.states, two.edges), (one.states, one.edges));
    let runs = |report: &Report| report.verdicts.iter().map(|v| v.trace.clone()).collect::<Vec<_>>();
    assert_eq!(runs(&two), runs(&one));
}

lock! {
    struct Tickets: FetchAdd { next: u64 = decl(0).counts(), serving: u64 = decl(0).counts() }
    acquire(self, p) {
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.at(2).wait_until(&self.serving, |now| now == mine).await?;
    }
    release(self, p) {
        p.at(3).fetch_add(&self.serving, 1).await?;
    }
}

#[test]
fn a_monitor_is_refused_where_counters_are_kept_small() {
    let check = Check::lock("tickets", 2, Tickets::new).with(|explorer| explorer.normalise(true));
    check.clone().mutex().run().unwrap().assert_holds();
    let refused = check.property(Property::monitor("last", Last)).run().unwrap_err();
    assert_eq!(refused, TextError::Watched);
}

/// Counts without a bound.
struct Entries;

impl Monitor for Entries {
    type State = u64;
    fn initial(&self) -> u64 {
        0
    }
    fn step(&self, entries: u64, seen: &Seen<'_>) -> Option<u64> {
        Some(entries + u64::from(seen.enters()))
    }
}

#[test]
fn a_monitor_that_counts_for_ever_is_named() {
    let check = tas().property(Property::monitor("entries", Entries));
    let report = check.with(|explorer| explorer.max_states(500)).run().unwrap();
    assert_eq!(report.verdict("entries").holds, None);
    let names: Vec<&str> = report.growing.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["the monitor entries"]);
}
