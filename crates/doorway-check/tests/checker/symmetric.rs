//! States that differ only in the names of processes are one. A search finds the same verdicts as
//! without that, after the same number of steps, and the same number of states with all names.

use doorway_check::prelude::*;
use doorway_check::sim::{Rules, SimCell, SimVar, TextError, World};
use doorway_check::trace::Trace;
use doorway_check::{mutants, subject};
use doorway_core::memory::{Anybody, Label};
use doorway_core::mutex::TestAndSetLock;
use doorway_core::registry::{self, Sizes};
use proptest::prelude::*;
use std::rc::Rc;

/// Compares what both searches say, unless one is refused or too large. Returns whether there are
/// exactly as many states with all names.
fn compare(what: &str, n: usize, explorer: impl Fn() -> Explorer<'static>, world: impl Fn() -> World) -> Option<bool> {
    let few = match explorer().symmetric(true).keep_going(true).explore(world()) {
        Ok(report) => report,
        Err(TextError::NotSymmetric(why)) => {
            assert!(!why.is_empty());
            return None;
        }
        // A faulty text may keep too little, and its images may be the first to show that.
        Err(TextError::TellsApart(_) | TextError::KeepHides { .. }) => return None,
        Err(error) => panic!("{what}: {error}"),
    };
    let all = explorer().keep_going(true).explore(world()).unwrap();
    if !few.complete || !all.complete {
        return None;
    }
    let with_all_names = few.with_all_names.unwrap() as usize;
    // The initial state of some texts names a process; then its images count too.
    assert!(with_all_names >= all.states, "{what}: {with_all_names} are fewer than {}", all.states);
    assert!(with_all_names <= n * (n - 1) * all.states, "{what}: {with_all_names}, {}", all.states);
    for (v, w) in few.verdicts.iter().zip(&all.verdicts) {
        assert_eq!(v.name, w.name);
        if v.holds.is_none() {
            assert!(v.vacuous.is_some(), "{what}: {}", v.name);
            continue;
        }
        assert_eq!(v.holds, w.holds, "{what}: {}", v.name);
        let steps = |v: &doorway_check::explore::Verdict| v.trace.as_ref().map(Trace::len);
        assert_eq!(steps(v), steps(w), "{what}: {}", v.name);
    }
    Some(with_all_names == all.states)
}

#[test]
fn the_catalogue_says_the_same() {
    // Their initial states name a process.
    let names_at_first = [
        "lamport-fast",
        "ya-two",
        "ya-tree",
        "ya-fast",
        "am-chain",
        "am-tree",
        "am-fast",
        "am-graceful",
        "am-dsm-unbounded",
        "am-dsm-chain",
        "am-dsm-tree",
        "am-dsm-fast",
        "am-dsm-graceful",
        "am-assign",
        "am-dsm-assign",
        "peterson-tree",
        "kessels-tree",
        "am-queue",
    ];
    let mut merged = Vec::new();
    for info in registry::ALL {
        let subject = subject::find(info.id).unwrap();
        for (n, k, passages, crashes) in [(2, 1, 1, 0), (3, 1, 1, 0), (3, 2, 1, 1), (2, 1, 2, 0)] {
            let Ok(sizes) = subject.sizes(Some(n), Some(k)) else { continue };
            let rules = Rules { passages: Some(passages), crashes, ..subject.rules() };
            let rules = rules.for_properties(&subject.claims(sizes));
            let explorer = || Explorer::new(n).believe_keep(true).properties(subject.claims(sizes)).max_states(20_000);
            let world = || subject.world(sizes, rules).unwrap();
            let what = format!("{} ({n}, {k})", info.id);
            if let Some(exactly) = compare(&what, n, explorer, world) {
                merged.push(info.id);
                assert!(exactly || names_at_first.contains(&info.id), "{what} has another number of states");
            }
        }
    }
    for id in ["tas", "ticket", "mcs", "mcs-swap", "anderson-array", "am-chain", "am-dsm-chain", "turnstile"] {
        assert!(merged.contains(&id), "{id} is not merged: {merged:?}");
    }
    for id in ["bakery", "black-white-bakery", "kbakery", "dgs"] {
        assert!(!merged.contains(&id), "{id} compares names");
    }
}

/// Tickets are counted from the front, and names are merged besides.
#[test]
fn states_that_a_canon_merges_are_merged_further() {
    for (id, n, k, crashes) in
        [("turnstile", 2, 1, 0), ("turnstile", 2, 2, 1), ("turnstile-line", 2, 1, 0), ("turnstile-line", 2, 2, 1)]
    {
        let (subject, sizes) = (subject::find(id).unwrap(), Sizes { n, k });
        let rules = Rules { crashes, ..Rules::default() }.for_properties(&subject.claims(sizes));
        let explorer = || Explorer::new(n).properties(subject.claims(sizes));
        assert_eq!(compare(id, n, explorer, || subject.world(sizes, rules).unwrap()), Some(true), "{id} ({n}, {k})");
    }
}

/// What fails, fails after the same number of steps.
#[test]
fn faults_are_noticed_all_the_same() {
    let mut noticed = 0;
    for mutant in mutants::ALL.iter().filter(|mutant| mutant.run.is_none() && mutant.sizes.n <= 3) {
        let subject = subject::find(&format!("mutant:{}", mutant.name)).unwrap();
        let Ok(sizes) = subject.sizes(None, None) else { continue };
        let rules = mutant.rules().for_properties(&subject.claims(sizes));
        let explorer = || Explorer::new(sizes.n).believe_keep(true).properties(subject.claims(sizes)).max_states(4_000);
        let world = || subject.world(sizes, rules).unwrap();
        noticed += usize::from(compare(mutant.name, sizes.n, explorer, world).is_some());
    }
    assert!(noticed > 20, "only {noticed} mutants could be merged");
}

// ---- programs that all processes run alike

#[derive(Clone, Copy, Debug)]
enum Instr {
    Raise(bool),
    /// Reads the flag of the process that `Who` names, if it names one.
    LookAtNamed,
    Name,
    NameNobody,
    /// Names itself if no process is named.
    NameIfNobody,
    SwapName,
    Add,
    /// Waits until no process is named.
    Wait,
    /// Goes back to the beginning if it is named, once.
    AgainIfNamed,
}

fn programs() -> impl Strategy<Value = (usize, Vec<Instr>, usize, bool)> {
    let instr = prop_oneof![
        any::<bool>().prop_map(Instr::Raise),
        Just(Instr::LookAtNamed),
        Just(Instr::Name),
        Just(Instr::NameNobody),
        Just(Instr::NameIfNobody),
        Just(Instr::SwapName),
        Just(Instr::Add),
        Just(Instr::Wait),
        Just(Instr::AgainIfNamed),
    ];
    (2..=4usize, prop::collection::vec(instr, 1..5), 0..3usize, any::<bool>())
}

struct Shared {
    who: SimVar<Option<Pid>>,
    sum: SimVar<u64>,
    flag: Vec<SimCell<bool>>,
}

fn alike(n: usize, program: &[Instr], named_at_first: bool) -> World {
    let program: Rc<[Instr]> = program.into();
    let build = |site: &Site<'_, Sim>| Shared {
        who: site.var("Who", named_at_first.then_some(Pid::new(0))),
        sum: site.var("Sum", 0u64),
        flag: site.row("Flag", n, |_| decl(false)),
    };
    World::of_programs(n, Rules { crashes: 1, ..Rules::with_passages(Some(1)) }, build, move |shared, p| {
        let program = Rc::clone(&program);
        async move {
            let (me, p) = (p.pid(), p.on(Sim::ROOT));
            let (mut at, mut again) = (0, false);
            while at < program.len() {
                let here = p.at(at as Label + 1);
                at += 1;
                match program[at - 1] {
                    Instr::Raise(so) => here.write(&shared.flag[me.index()], so).await.unwrap(),
                    Instr::LookAtNamed => {
                        if let Some(q) = here.read(&shared.who).await.unwrap() {
                            p.at(20 + at as Label).read(&shared.flag[q.index()]).await.unwrap();
                        }
                    }
                    Instr::Name => here.write(&shared.who, Some(me)).await.unwrap(),
                    Instr::NameNobody => here.write(&shared.who, None).await.unwrap(),
                    Instr::NameIfNobody => drop(here.compare_swap(&shared.who, None, Some(me)).await.unwrap()),
                    Instr::SwapName => drop(here.swap(&shared.who, Some(me)).await.unwrap()),
                    Instr::Add => drop(here.fetch_add(&shared.sum, 1).await.unwrap()),
                    Instr::Wait => drop(here.wait_until(&shared.who, |who| who.is_none()).await.unwrap()),
                    Instr::AgainIfNamed => {
                        if here.read(&shared.who).await.unwrap() == Some(me) && !again {
                            (at, again) = (0, true);
                        }
                    }
                }
            }
        }
    })
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_have_as_many_states_with_all_names((n, program, most, named) in programs()) {
        let explorer = || {
            Explorer::new(n).believe_keep(true)
                .property(Property::never_stuck("never-stuck"))
                .property(Property::always("few flags", move |v| {
                    v.processes().filter(|&p| v.get_at::<bool>("Flag", p)).count() <= most
                }))
                .property(Property::sometimes("named and raised", |v| {
                    v.get::<Option<Pid>>("Who").is_some_and(|q| v.get_at::<bool>("Flag", q.index()))
                }))
                .keep_going(true)
        };
        let all = explorer().explore(alike(n, &program, named)).unwrap();
        let few = explorer().symmetric(true).explore(alike(n, &program, named)).unwrap();
        let verdicts = |report: &Report| {
            let of = |v: &doorway_check::explore::Verdict| (v.holds, v.trace.as_ref().map(Trace::len));
            report.verdicts.iter().map(of).collect::<Vec<_>>()
        };
        prop_assert_eq!(verdicts(&few), verdicts(&all));
        // A search ends as soon as all is decided; without properties it sees every state.
        let all = Explorer::new(n).believe_keep(true).explore(alike(n, &program, named)).unwrap();
        let few = Explorer::new(n).believe_keep(true).symmetric(true).explore(alike(n, &program, named)).unwrap();
        prop_assert!(all.complete && few.complete);
        if !named {
            prop_assert_eq!(few.with_all_names, Some(all.states as u64));
        }
    }
}

// ---- what is refused

fn refused(explorer: Explorer<'static>, world: World) -> String {
    explorer.symmetric(true).explore(world).unwrap_err().to_string()
}

fn of(id: &str, n: usize, rules: Rules) -> World {
    subject::find(id).unwrap().world(Sizes { n, k: 1 }, rules).unwrap()
}

#[test]
fn a_text_that_compares_names_is_refused() {
    let once = Rules::with_passages(Some(1));
    let why = refused(Explorer::new(2).believe_keep(true), of("bakery", 2, once));
    assert!(why.contains("if p0 and p1 change places, then p1 should do what p0 does, with other names"), "{why}");
    // Where it looks at the others in the order of their names, they part sooner.
    let why = refused(Explorer::new(3).believe_keep(true), of("bakery", 3, once));
    assert!(why.contains("p2 should be one that reads Ticket[1], but it reads Ticket[0] at 41"), "{why}");
}

#[test]
fn a_property_that_tells_processes_apart_is_refused() {
    let p0 =
        || Explorer::new(2).believe_keep(true).property(Property::never("p0 inside", |v| v.phase(0) == Phase::Inside));
    assert_eq!(
        p0().symmetric(true).explore(of("mcs", 2, Rules::default())).unwrap_err(),
        TextError::TellsApart("p0 inside".into())
    );
    let stays = |v: &View<'_>, p: usize| p == 0 && v.phase(p) == Phase::Inside;
    let stays = Explorer::new(2).believe_keep(true).property(Property::unless("p0 stays", stays, |_, _| false));
    let why = refused(stays, of("mcs", 2, Rules::default()));
    assert!(why.contains("p0 stays holds of a state, and not of the same state with other names"), "{why}");
}

#[test]
fn progress_follows_one_process_and_is_not_decided() {
    let tas = Check::lock("tas", 3, TestAndSetLock::new).mutex().symmetric().with(|explorer| explorer.keep_going(true));
    let report = tas.run().unwrap();
    assert!(report.complete);
    for (name, holds) in [("mutual-exclusion", Some(true)), ("never-stuck", Some(true)), ("starvation-free", None)] {
        assert_eq!(report.verdict(name).holds, holds, "{name}");
    }
    let text = report.to_string();
    assert!(text.contains("deadlock-free     not decided: it follows one process"), "{text}");
    assert!(text.contains("with all names they are 20"), "{text}");
}

#[test]
fn weak_registers_monitors_and_counters_are_refused() {
    let weak = Rules { registers: Register::Safe, force_registers: true, ..Rules::default() };
    assert!(refused(Explorer::new(2).believe_keep(true), of("mcs", 2, weak)).contains("registers are not atomic"));
    let switches = Rules { switches: Some(2), ..Rules::default() };
    assert!(refused(Explorer::new(2).believe_keep(true), of("mcs", 2, switches)).contains("who is who"));
    let build = |site: &Site<'_, Sim>| site.var("X", decl(0u64).counts());
    let counts = Rules { normalise: true, ..Rules::default() };
    let world = World::of_programs(2, counts, build, |x, p| async move {
        p.on(Sim::ROOT).at(1).fetch_add(&x, 1).await.unwrap();
    });
    let why = refused(Explorer::new(2).believe_keep(true), world.unwrap());
    assert!(why.contains("other states are taken for one already"), "{why}");
}

/// Processes that part only after more states than the first look sees.
fn parts_late(odd: usize) -> World {
    let build = |site: &Site<'_, Sim>| site.var("X", 0u64);
    World::of_programs(3, Rules::with_passages(Some(30)), build, move |x, p| async move {
        let (me, p) = (p.pid().index(), p.on(Sim::ROOT));
        let before = p.at(1).fetch_add(&x, 1).await.unwrap();
        if before == 60 && me == odd {
            p.at(2).fetch_add(&x, 7).await.unwrap();
        } else {
            p.at(2).read(&x).await.unwrap();
        }
    })
    .unwrap()
}

#[test]
fn processes_that_part_late_are_refused_after_the_search() {
    let report = Explorer::new(3).believe_keep(true).symmetric(true).explore(parts_late(3)).unwrap();
    assert!(report.states > 4_000);
    let why = refused(Explorer::new(3).believe_keep(true), parts_late(1));
    assert!(why.contains("should be one that"), "{why}");
}

/// Names a process, and does not say so.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Hidden(Pid);

impl Word for Hidden {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self.0.pack()
    }
    fn unpack(word: u64) -> Self {
        Self(Pid::unpack(word))
    }
}

/// Says that all processes are one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Wrong(Pid);

impl Word for Wrong {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self.0.pack()
    }
    fn unpack(word: u64) -> Self {
        Self(Pid::unpack(word))
    }
    fn renamed(self, _: &dyn Fn(Pid) -> Pid) -> Self {
        Self(Pid::new(0))
    }
}

#[test]
fn words_that_hide_names_or_lose_them_are_refused() {
    fn writes<T: Word>(wraps: fn(Pid) -> T) -> World {
        let build = move |site: &Site<'_, Sim>| site.var("X", wraps(Pid::new(0)));
        World::of_programs(2, Rules::with_passages(Some(1)), build, move |x, p| async move {
            let (me, p) = (p.pid(), p.on(Sim::ROOT));
            p.at(1).write(&x, wraps(me)).await.unwrap();
            p.at(2).read(&x).await.unwrap();
        })
        .unwrap()
    }
    Explorer::new(2).believe_keep(true).symmetric(true).explore(writes(|p| p)).unwrap();
    let why = refused(Explorer::new(2).believe_keep(true), writes(Hidden));
    assert!(
        why.contains("p0 writes X := Hidden(p0) at 1") && why.contains("but it writes X := Hidden(p1) at 1"),
        "{why}"
    );
    refused(Explorer::new(2).believe_keep(true), writes(Wrong));
}
