//! Waiting for an element, and closing, over the real rooms and a real queue or stack: (A1) to
//! (A5). The stack of segments grows meanwhile, so its users change from turn to turn.

use doorway_check::faults::Faults;
use doorway_check::property::View;
use doorway_check::sim::{Keep, Part, Phase, Rules, Sequential, Sim, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::{Memory, Process, Site};
use doorway_core::rooms::blelloch_cheng_gibbons_01::{
    Active, Awaited, AwaitedRooms, Count, Heard, InSegments, InWords, NotLetIn, RoomQueue, RoomStack, Rooms,
    SegmentStack, Segments, Top, Whole, Width, bits_of_a_queue,
};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

const SIZE: usize = 2;
/// The content of a slot before any write.
const UNWRITTEN: u64 = 7;

/// The operations of a process, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    Put(u64),
    /// Waits for an element.
    Take,
    /// Takes an element if there is one.
    Try,
    Close,
    /// Puts this many elements. They are not one operation, if the stack has to grow.
    Batch(usize),
    /// Takes all elements in one visit.
    All,
}
use Does::{All, Batch, Close, Put, Take, Try};

/// Operations and results, as words.
const ASKS_TAKE: u64 = 100;
const ASKS_TRY: u64 = 101;
const ASKS_CLOSE: u64 = 102;
const FITS: u64 = 50;
const FULL: u64 = 51;
const CLOSED: u64 = 52;
const NOTHING: u64 = 53;
const GAVE_UP: u64 = 54;
/// A result that no process ever gets: a take from an empty open structure takes effect later.
const NEVER: u64 = 55;

struct Elements {
    kind: Kind,
}

impl Sequential for Elements {
    type State = (Vec<u64>, bool);
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> (Vec<u64>, bool) {
        (Vec::new(), false)
    }

    fn apply(&self, (elements, closed): &(Vec<u64>, bool), op: u64) -> ((Vec<u64>, bool), u64) {
        let (mut elements, closed) = (elements.clone(), *closed);
        let told = match op {
            ASKS_CLOSE => return ((elements, true), CLOSED),
            ASKS_TAKE | ASKS_TRY if !elements.is_empty() => {
                if self.kind == Kind::Queue {
                    elements.remove(0)
                } else {
                    elements.remove(elements.len() - 1)
                }
            }
            ASKS_TAKE => {
                if closed {
                    CLOSED
                } else {
                    NEVER
                }
            }
            ASKS_TRY => NOTHING,
            _ if closed => CLOSED,
            _ if elements.len() == self.kind.size() => FULL,
            put => {
                elements.push(put);
                FITS
            }
        };
        ((elements, closed), told)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Queue,
    Stack,
    /// It begins with one slot and grows twice, by two slots and by four.
    Growing,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Queue, Self::Stack, Self::Growing];

    fn size(self) -> usize {
        if self == Self::Growing { 7 } else { SIZE }
    }
}

type Doors<X = ()> = AwaitedRooms<Sim, Rooms<Sim, X>>;
type InGrowing = Segments<Sim, InSegments<Sim>>;
type Told = Result<Result<usize, NotLetIn<doorway_core::rooms::Refusal>>, Infallible>;

enum Structure {
    Queue(RoomQueue<Sim, Doors, InWords<Sim>>),
    Stack(RoomStack<Sim, Doors, InWords<Sim>>),
    Growing(SegmentStack<Sim, Doors<InGrowing>>),
}

/// What each kind of doors does.
macro_rules! doors {
    ($all:expr, $doors:ident => $does:expr) => {
        match $all {
            Structure::Queue(queue) => {
                let $doors = queue.rooms();
                $does
            }
            Structure::Stack(stack) => {
                let $doors = stack.rooms();
                $does
            }
            Structure::Growing(stack) => {
                let $doors = stack.rooms();
                $does
            }
        }
    };
}

impl Structure {
    async fn put(&self, p: &Process<Sim>, hand: &mut Vec<u64>) -> Told {
        let count = hand.len();
        match self {
            Self::Queue(queue) => queue.enqueue(p, hand, count).await,
            Self::Stack(stack) => stack.push(p, hand, count).await,
            Self::Growing(stack) => stack.push(p, hand, count).await,
        }
    }

    async fn look(&self, p: &Process<Sim>) -> Result<Option<u64>, Infallible> {
        Ok(self.look_for(p, 1).await?.pop())
    }

    async fn look_for(&self, p: &Process<Sim>, most: usize) -> Result<Vec<u64>, Infallible> {
        let mut hand = Vec::new();
        let Ok(told) = match self {
            Self::Queue(queue) => queue.dequeue(p, &mut hand, most).await,
            Self::Stack(stack) => stack.pop(p, &mut hand, most).await,
            Self::Growing(stack) => stack.pop(p, &mut hand, most).await,
        };
        told.expect("no user is shut out of the room of takers");
        Ok(hand)
    }
}

async fn run(all: &Structure, p: &Process<Sim>, does: Does, gives_up: bool, batches: bool) {
    let here = p.on(Sim::ROOT);
    match does {
        Put(x) => {
            here.invokes(x);
            let Ok(told) = all.put(p, &mut vec![x]).await;
            here.responds(match told {
                Ok(1) => FITS,
                Ok(_) => FULL,
                Err(NotLetIn::Closed) => CLOSED,
                Err(NotLetIn::Refused(why)) => panic!("{why}"),
            });
        }
        Take => {
            // An operation that is given up has no effect, so it does not count as one.
            if !gives_up && !batches {
                here.invokes(ASKS_TAKE);
            }
            let Ok(told) = doors!(all, doors => doors.wait_for(p, gives_up, || all.look(p)).await);
            if told == Awaited::GaveUp {
                here.shows("gave up", true);
                // One more step, in which the state is still visible.
                let Ok(_) = doors!(all, doors => doors.is_closed(p).await);
                here.hides("gave up");
            }
            if told == Awaited::Ended {
                here.shows("ended", true);
            }
            if !gives_up && !batches {
                here.responds(match told {
                    Awaited::Got(x) => x,
                    Awaited::Ended => CLOSED,
                    Awaited::GaveUp => GAVE_UP,
                });
            }
        }
        Try => {
            here.invokes(ASKS_TRY);
            let Ok(told) = all.look(p).await;
            here.responds(told.unwrap_or(NOTHING));
        }
        Close => {
            if !batches {
                here.invokes(ASKS_CLOSE);
            }
            let Ok(told) = doors!(all, doors => doors.close(p).await);
            told.expect("there is such a room");
            if !batches {
                here.responds(CLOSED);
            }
        }
        Batch(count) => {
            let Ok(_) = all.put(p, &mut vec![1; count]).await;
        }
        All => {
            let Ok(_) = all.look_for(p, 9).await;
        }
    }
}

type Programs = &'static [&'static [Does]];

fn search(programs: Programs, kind: Kind, rules: Rules) -> Report {
    let n = programs.len();
    let gives_up = rules.give_ups;
    let batches = programs.iter().any(|program| program.iter().any(|does| matches!(does, Batch(_))));
    let inner = Arc::new(OnceLock::new());
    let noted = Arc::clone(&inner);
    let build = move |site: &Site<'_, Sim>| {
        let doors = |site: &Site<'_, Sim>| {
            Doors::new(site, |site| {
                let _ = noted.set(site.here());
                Rooms::with(site, 2, Width::for_users(n, 0), ())
            })
        };
        let store = |slots| InWords::new(site, slots, UNWRITTEN);
        match kind {
            Kind::Queue => Structure::Queue(RoomQueue::new(site, SIZE, bits_of_a_queue(SIZE, n), store(SIZE), doors)),
            Kind::Stack => Structure::Stack(RoomStack::new(site, SIZE, store(SIZE), doors)),
            Kind::Growing => {
                let store = InSegments::new(site, 1, 3, UNWRITTEN);
                Structure::Growing(SegmentStack::new(site, store, |site, lights| {
                    Doors::new(site, |site| {
                        let _ = noted.set(site.here());
                        Rooms::with(site, 2, Width::for_users(n, 0), lights)
                    })
                }))
            }
        }
    };
    let body = move |all: Rc<Structure>, p: Process<Sim>| async move {
        for (i, &does) in programs[p.pid().index()].iter().enumerate() {
            p.on(Sim::ROOT).part(&i);
            run(&all, &p, does, gives_up, batches).await;
            p.on(Sim::ROOT).part_done();
        }
    };
    let rules = Rules { passages: Some(1), ..rules };
    let world = World::of_programs(n, rules, build, body).unwrap();
    let closed = |v: &View<'_>| v.get::<bool>("closed");
    let sleeps = |v: &View<'_>, p: usize| v.shown::<Heard>(p, "waits for") == Some(v.get("news"));
    let is_empty = move |v: &View<'_>| {
        let v = v.of(Part::ROOT);
        if kind == Kind::Queue { v.get::<Count>("top") == v.get("bot") } else { v.get::<Top>("top") == Top(0) }
    };
    let waits_in_vain = move |v: &View<'_>| {
        let rests = |p: usize| v.phase(p) == Phase::Remainder || sleeps(v, p);
        v.processes().any(|p| sleeps(v, p)) && v.processes().all(rests) && (closed(v) || !is_empty(v))
    };
    let keeps_a_room = move |v: &View<'_>| {
        let tells = |p: usize| v.shown::<bool>(p, "tells").is_some();
        let waits = |p: usize| v.shown::<Heard>(p, "waits for").is_some();
        let is_outside = |p: usize| v.phase(p) == Phase::Remainder || waits(p) || tells(p);
        v.processes().all(is_outside)
            && v.of(inner.get().copied().unwrap_or(Part::ROOT)).get::<Active>("activeRoom") != Active::NONE
    };
    let mut properties = vec![
        Property::always("A2", move |v| !waits_in_vain(v)).each("rooms"),
        Property::unless("A3", move |v, _| closed(v), |_, _| false).each("rooms"),
        Property::always("A4", move |v| !keeps_a_room(v)).each("rooms"),
    ];
    if programs[0][0] == Take {
        let somebody_sleeps = move |v: &View<'_>| v.processes().any(|p| sleeps(v, p));
        properties.push(Property::sometimes("somebody sleeps", somebody_sleeps).each("rooms"));
    }
    let puts = |program: &&[Does]| program.iter().filter(|does| matches!(does, Put(_))).count();
    if kind == Kind::Growing && (batches || programs.iter().any(|program| puts(program) > 1)) {
        let grew = |v: &View<'_>| v.of(Part::ROOT).get::<Whole>("doubled").0 > 0;
        properties.push(Property::sometimes("the stack grows", grew).each("rooms"));
    }
    if gives_up {
        let gave_up = |v: &View<'_>| v.processes().any(|p| v.shown::<bool>(p, "gave up").is_some());
        properties.push(Property::sometimes("somebody gives up", gave_up));
    }
    if batches {
        let ended = |v: &View<'_>| v.processes().any(|p| v.shown::<bool>(p, "ended").is_some());
        // A take that asks for more than there is lowers `top` below 0 for a moment.
        let nothing_is_put = |v: &View<'_>| v.of(Part::ROOT).get::<Top>("top").0 <= 0;
        properties.push(Property::always("A5", move |v| !ended(v) || nothing_is_put(v)));
        properties.push(Property::sometimes("it has ended", ended));
    } else if !gives_up {
        properties.push(Property::linearizable("A1", Elements { kind }));
    }
    let report =
        Explorer::new(n).believe_keep(true).properties(properties).max_states(3_000_000).explore(world).unwrap();
    println!("{programs:?}, {kind:?}, {:?}: {} states", rules.faults, report.states);
    report
}

const CROSSED: Programs = &[&[Take, Take], &[Put(1), Close]];

const ALL: &[Programs] = &[
    &[&[Take], &[Put(1)]],
    &[&[Take, Take], &[Put(1), Put(2)]],
    &[&[Take, Put(3)], &[Put(1), Take]],
    &[&[Take], &[Close]],
    CROSSED,
    &[&[Put(1), Put(2)], &[Close, Take, Take, Take]],
    &[&[Take], &[Put(1)], &[Close]],
    &[&[Take], &[Take], &[Put(1), Put(2)]],
    &[&[Take, Try], &[Put(1), Try]],
];

/// A batch for which the stack grows twice. It is closed meanwhile. The waiter takes twice, so that
/// it is still there after it has learnt that nothing is left.
const GROWS_TWICE: Programs = &[&[Take, Take], &[Close, All], &[Batch(4)]];

#[test]
fn once_a_waiter_knows_that_nothing_is_left_nothing_comes() {
    let report = search(GROWS_TWICE, Kind::Growing, Rules::default());
    report.assert_holds();
    assert!(report.complete);
}

#[test]
fn waiters_get_what_is_put_or_learn_that_it_is_closed() {
    for kind in Kind::ALL {
        for programs in ALL {
            if kind != Kind::Queue && programs.len() > 2 {
                continue; // the structure makes no difference to the waiters
            }
            // Comparing all merged states takes longer than the search, so it is done for one of
            // them.
            let crossed = kind == Kind::Queue && *programs == CROSSED;
            let keep = if crossed { Keep::CrossChecked } else { Keep::Trusted };
            let report = search(programs, kind, Rules { keep, ..Rules::default() });
            report.assert_holds();
            assert!(report.complete);
        }
    }
}

#[test]
fn waiters_can_give_up() {
    const MORE_TAKES: &[Programs] =
        &[&[&[Take], &[Put(1)]], &[&[Take, Take], &[Put(1)]], &[&[Take], &[Take], &[Put(1)]]];
    for programs in MORE_TAKES {
        let report = search(programs, Kind::Queue, Rules { give_ups: true, ..Rules::default() });
        report.assert_holds();
        assert!(report.complete);
    }
}

#[test]
fn each_claim_is_seen_to_fail() {
    let failing_of = |kind, programs, fault: &str| -> Vec<String> {
        let faults: Faults = fault.parse().unwrap();
        let report = search(programs, kind, Rules { faults, ..Rules::default() });
        report.verdicts.iter().filter(|v| v.holds == Some(false)).map(|v| v.name.to_string()).collect()
    };
    let failing = |programs, fault: &str| failing_of(Kind::Queue, programs, fault);
    // A put that needs more segments does not check whether the stack was closed meanwhile.
    assert_eq!(failing_of(Kind::Growing, GROWS_TWICE, "drop:68"), ["A5"]);
    // A put does not check whether the structure is closed.
    assert_eq!(failing(&[&[Take], &[Close, Put(1)]], "drop:60"), ["A1"]);
    // The last process of a turn does not turn the number, or takes the flag down and leaves the
    // number unchanged.
    assert_eq!(failing(&[&[Take], &[Put(1)]], "drop:64"), ["A2"]);
    assert_eq!(failing(&[&[Take], &[Take], &[Put(1), Put(2)]], "write:64#turns-1"), ["A2"]);
    // A waiter raises the flag after it has looked, or checks whether the structure is closed
    // before it raises the flag.
    assert_eq!(failing(&[&[Take], &[Put(1)]], "defer:62>24"), ["A2"]);
    assert_eq!(failing(&[&[Take], &[Close]], "early:61:closed>66"), ["A2"]);
    // A process that closes does not announce it, or does not check for waiters.
    assert_eq!(failing(&[&[Take], &[Close, Put(1)]], "drop:67"), ["A1"]);
    assert_eq!(failing(&[&[Take], &[Close]], "drop:63"), ["A2"]);
    // A second process that closes opens the structure again.
    assert!(failing(&[&[Close], &[Close, Put(1)]], "write:67@p0=false").contains(&"A3".to_owned()));
    // The last process of a turn tells the waiters before another room can be opened.
    assert_eq!(failing(&[&[Take], &[Put(1)]], "defer:24@p1>64"), ["A4"]);
}
