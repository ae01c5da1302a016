//! Batches of a stack and of a queue in rooms. Greedy batches are linearizable over the real rooms;
//! all-or-nothing batches are not.

use doorway_check::sim::{Keep, Rules, Sequential, Sim, SimCell, SimVar, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::{Memory, Process, Site};
use doorway_core::rooms::RoomSynchronization;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{
    IN, InSegments, InWords, RoomQueue, RoomStack, Rooms, SegmentStack, Segments, Top, Width, bits_of_a_queue,
};
use std::rc::Rc;

const SIZE: usize = 3;
/// The content of a slot before any write.
const UNWRITTEN: u64 = 7;
const TAKES: u64 = 1 << 32;

/// Up to ten elements below eight, as digits of a word, together with their number.
fn word(elements: &[u64]) -> u64 {
    elements.iter().rev().fold(0, |word, x| word << 3 | x) | (elements.len() as u64) << 40
}

fn elements(word: u64) -> Vec<u64> {
    (0..word >> 40).map(|i| word >> (3 * i) & 7).collect()
}

/// Adds what fits, and returns the number; or takes what there is, and returns the elements.
struct Batches {
    size: usize,
    first_in_first_out: bool,
}

impl Sequential for Batches {
    type State = Vec<u64>;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> Vec<u64> {
        Vec::new()
    }

    fn apply(&self, stack: &Vec<u64>, op: u64) -> (Vec<u64>, u64) {
        let mut stack = stack.clone();
        if op & TAKES != 0 {
            let got = stack.len().min((op & 7) as usize);
            let first = if self.first_in_first_out { 0 } else { stack.len() - got };
            let taken: Vec<u64> = stack.drain(first..first + got).collect();
            return (stack, word(&taken));
        }
        let before = stack.len();
        stack.extend(elements(op).into_iter().take(self.size - before));
        let added = stack.len() - before;
        (stack, added as u64)
    }
}

#[derive(Clone, Copy, Debug)]
enum Batch {
    Push(&'static [u64]),
    Pop(usize),
}

type Stack = RoomStack<Sim, Rooms<Sim>, InWords<Sim>>;
type Queue = RoomQueue<Sim, Rooms<Sim>, InWords<Sim>>;

/// The structure under test.
enum Store {
    Stack(Stack),
    Queue(Queue),
}

impl Store {
    async fn put(&self, p: &Process<Sim>, all: &[u64]) -> Option<usize> {
        let mut hand = all.to_vec();
        let Ok(added) = match self {
            Self::Stack(stack) => stack.push(p, &mut hand, all.len()).await,
            Self::Queue(queue) => queue.enqueue(p, &mut hand, all.len()).await,
        };
        added.ok().inspect(|&added| assert_eq!(hand, all[added..]))
    }

    async fn take(&self, p: &Process<Sim>, most: usize) -> Option<Vec<u64>> {
        let mut hand = Vec::new();
        let Ok(got) = match self {
            Self::Stack(stack) => stack.pop(p, &mut hand, most).await,
            Self::Queue(queue) => queue.dequeue(p, &mut hand, most).await,
        };
        got.ok().inspect(|&got| assert_eq!(hand.len(), got))?;
        Some(hand)
    }
}

async fn run(store: &Store, p: &Process<Sim>, batch: Batch) {
    let here = p.on(Sim::ROOT);
    match batch {
        Batch::Push(all) => {
            here.invokes(word(all));
            let added = store.put(p, all).await;
            here.responds(added.map_or(u64::MAX, |added| added as u64));
        }
        Batch::Pop(most) => {
            here.invokes(TAKES | most as u64);
            let taken = store.take(p, most).await;
            here.responds(taken.map_or(u64::MAX, |taken| word(&taken)));
        }
    }
}

type Programs = &'static [&'static [Batch]];

fn search(programs: Programs) -> Report {
    let spec = Batches { size: SIZE, first_in_first_out: false };
    let build = |site: &Site<'_, Sim>, rooms: fn(&Site<'_, Sim>) -> Rooms<Sim>| {
        Store::Stack(Stack::new(site, SIZE, InWords::new(site, SIZE, UNWRITTEN), rooms))
    };
    search_in(programs, spec, build)
}

/// The length of a queue is a power of two.
const LENGTH: usize = 2;

fn search_queue(programs: Programs, bits: u32) -> Report {
    let spec = Batches { size: LENGTH, first_in_first_out: true };
    let build = move |site: &Site<'_, Sim>, rooms: fn(&Site<'_, Sim>) -> Rooms<Sim>| {
        Store::Queue(Queue::new(site, LENGTH, bits, InWords::new(site, LENGTH, UNWRITTEN), rooms))
    };
    search_in(programs, spec, build)
}

fn search_in(
    programs: Programs,
    spec: Batches,
    store: impl Fn(&Site<'_, Sim>, fn(&Site<'_, Sim>) -> Rooms<Sim>) -> Store + 'static,
) -> Report {
    let n = programs.len();
    let build = move |site: &Site<'_, Sim>| store(site, |site| Rooms::with(site, 2, Width::for_users(3, 0), ()));
    let body = move |stack: Rc<Store>, p: Process<Sim>| async move {
        for (i, &batch) in programs[p.pid().index()].iter().enumerate() {
            p.on(Sim::ROOT).part(&i);
            run(&stack, &p, batch).await;
            p.on(Sim::ROOT).part_done();
        }
    };
    let world = World::of_programs(n, Rules { keep: Keep::CrossChecked, ..Rules::with_passages(Some(1)) }, build, body)
        .unwrap();
    let properties = [Property::linearizable("linearizable", spec), Property::never_stuck("never-stuck")];
    let mut explorer = Explorer::new(n).believe_keep(true);
    for property in properties {
        explorer = explorer.property(property);
    }
    explorer.explore(world).unwrap()
}

#[test]
fn greedy_batches_are_linearizable() {
    use Batch::{Pop, Push};
    const ALL: &[&[&[Batch]]] = &[
        &[&[Push(&[1, 2, 3]), Pop(2)], &[Push(&[4, 5]), Pop(3)]],
        &[&[Push(&[1, 2]), Push(&[3, 4])], &[Pop(3), Push(&[5, 6])]],
        &[&[Push(&[1, 2, 3])], &[Push(&[4])], &[Pop(2)]],
    ];
    for programs in ALL {
        let report = search(programs);
        report.assert_holds();
        assert!(report.complete);
        println!("{programs:?}: {} states", report.states);
    }
}

const QUEUE_PROGRAMS: &[Programs] = {
    use Batch::{Pop, Push};
    &[
        &[&[Push(&[1, 2]), Pop(2)], &[Push(&[3, 4]), Pop(2)]],
        &[&[Push(&[1, 2]), Push(&[3, 4])], &[Pop(2), Push(&[5, 6])]],
        &[&[Push(&[1]), Pop(2), Push(&[2, 3])], &[Push(&[4, 5]), Pop(1), Pop(2)]],
        &[&[Push(&[1, 2])], &[Push(&[3, 4])], &[Pop(2)]],
    ]
};

#[test]
fn greedy_batches_of_a_queue_are_linearizable() {
    for programs in QUEUE_PROGRAMS {
        let report = search_queue(programs, bits_of_a_queue(LENGTH, LENGTH * programs.len()));
        report.assert_holds();
        assert!(report.complete);
        println!("queue, {programs:?}: {} states", report.states);
    }
}

/// Two batches that do not fit are counted at the same time. With three bits, a full queue then
/// looks empty.
#[test]
fn numbers_of_a_queue_need_bits_for_all_that_is_in_batches() {
    use Batch::Push;
    const THREE: Programs = &[&[Push(&[1, 2])], &[Push(&[3, 4])], &[Push(&[5, 6])]];
    search_queue(THREE, bits_of_a_queue(LENGTH, LENGTH * THREE.len())).assert_holds();
    let report = search_queue(THREE, 3);
    assert_eq!(report.verdict("linearizable").holds, Some(false));
}

/// A stack with all-or-nothing batches.
struct AllOrNothing {
    rooms: Rooms<Sim>,
    top: SimVar<i64>,
    slots: Vec<SimCell<u64>>,
}

impl AllOrNothing {
    /// A batch that does not fit as a whole is taken back. Meanwhile another user finds no space
    /// where there is some.
    async fn push(&self, p: &Process<Sim>, all: &[u64]) {
        let here = p.on(Sim::ROOT);
        here.invokes(word(all));
        let Ok(inside) = self.rooms.enter(p, IN).await else { return };
        let Ok(j) = here.at(1).fetch_add(&self.top, all.len() as i64).await;
        let fits = j + all.len() as i64 <= SIZE as i64;
        if fits {
            for (slot, &y) in self.slots[j as usize..].iter().zip(all) {
                let Ok(()) = here.at(2).write(slot, y).await;
            }
        } else {
            let Ok(_) = here.at(3).fetch_add(&self.top, -(all.len() as i64)).await;
        }
        here.part(&fits);
        let Ok(_) = RoomSynchronization::exit(&self.rooms, p, inside).await;
        here.part_done();
        here.responds(if fits { all.len() as u64 } else { 0 });
    }
}

/// Adds all, or nothing.
struct Whole;

impl Sequential for Whole {
    type State = usize;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> usize {
        0
    }

    fn apply(&self, held: &usize, op: u64) -> (usize, u64) {
        let more = elements(op).len();
        if held + more <= SIZE { (held + more, more as u64) } else { (*held, 0) }
    }
}

#[test]
fn all_or_nothing_by_fetch_and_add_is_not() {
    const PROGRAMS: [&[&[u64]]; 2] = [&[&[1], &[2, 3, 4]], &[&[5]]];
    let build = |site: &Site<'_, Sim>| AllOrNothing {
        rooms: Rooms::with(site, 2, Width::for_users(2, 0), ()),
        top: site.var("top", 0),
        slots: site.row("A", SIZE, |_| UNWRITTEN.into()),
    };
    let body = |stack: Rc<AllOrNothing>, p: Process<Sim>| async move {
        for (i, all) in PROGRAMS[p.pid().index()].iter().enumerate() {
            p.on(Sim::ROOT).part(&i);
            stack.push(&p, all).await;
            p.on(Sim::ROOT).part_done();
        }
    };
    let world = World::of_programs(2, Rules::with_passages(Some(1)), build, body).unwrap();
    let report = Explorer::new(2)
        .believe_keep(true)
        .property(Property::linearizable("linearizable", Whole))
        .explore(world)
        .unwrap();
    assert_eq!(report.verdict("linearizable").holds, Some(false));
}

/// A stack of segments of one and two slots, and the fate of its elements.
struct Growing {
    stack: SegmentStack<Sim, Rooms<Sim, Segments<Sim, InSegments<Sim>>>>,
    /// The elements that each process ends up with, one bit each.
    ends_with: Vec<SimCell<u64>>,
    ended: SimVar<u64>,
}

impl Growing {
    async fn run(&self, p: &Process<Sim>, batches: &[Batch]) {
        let (here, mut mine) = (p.on(Sim::ROOT), 0_u64);
        for (i, &batch) in batches.iter().enumerate() {
            here.part(&(i, mine));
            let (mut hand, put) = match batch {
                Batch::Push(all) => (all.to_vec(), true),
                Batch::Pop(_) => (Vec::new(), false),
            };
            let Ok(moved) = match batch {
                Batch::Push(all) => self.stack.push(p, &mut hand, all.len()).await,
                Batch::Pop(most) => self.stack.pop(p, &mut hand, most).await,
            };
            here.part_done();
            assert!(moved.is_ok_and(|moved| put || moved == hand.len()));
            mine = hand.iter().fold(mine, |mine, x| mine | 1 << x);
        }
        here.keep(90, &mine);
        let Ok(()) = here.at(90).write(&self.ends_with[p.pid().index()], mine).await;
        here.keep(91, &());
        let Ok(_) = here.at(91).fetch_add(&self.ended, 1).await;
    }
}

/// A batch that makes the stack grow takes several visits, so it is not one step. But nothing is
/// lost, and nothing comes out twice, whether there is memory for another segment or not.
#[test]
fn batches_for_which_a_stack_grows_lose_nothing() {
    use Batch::{Pop, Push};
    const ALL: &[Programs] = &[
        &[&[Push(&[1, 2, 3]), Pop(2)], &[Push(&[4]), Pop(3)]],
        &[&[Push(&[1, 2]), Pop(1), Push(&[3, 4, 5])], &[Pop(2), Push(&[6])]],
    ];
    for &programs in ALL {
        let all = programs.iter().copied().flatten().filter_map(|batch| match batch {
            Push(all) => Some(all),
            Pop(_) => None,
        });
        let all = all.flat_map(|all| all.iter()).fold(0, |all, x| all | 1_u64 << x);
        let build = |site: &Site<'_, Sim>| {
            let store = InSegments::new(site, 1, 2, UNWRITTEN).that_runs_out();
            let rooms = |site: &Site<'_, Sim>, lights| Rooms::with(site, 2, Width::for_users(2, 0), lights);
            Growing {
                stack: SegmentStack::new(site, store, rooms),
                ends_with: site.row("ends with", 2, |_| 0.into()),
                ended: site.var("ended", 0),
            }
        };
        let body = move |growing: Rc<Growing>, p: Process<Sim>| async move {
            growing.run(&p, programs[p.pid().index()]).await;
        };
        let rules = Rules { keep: Keep::CrossChecked, ..Rules::with_passages(Some(1)) };
        let world = World::of_programs(2, rules, build, body).unwrap();
        let once = move |v: &doorway_check::property::View<'_>| {
            if v.get::<u64>("ended") < 2 {
                return true;
            }
            let left =
                [("segment0", 0), ("segment1", 0), ("segment1", 1)].into_iter().take(v.get::<Top>("top").0 as usize);
            let left = left.map(|(segment, at)| 1 << v.get_at::<u64>(segment, at));
            let places: Vec<u64> = (0..2).map(|p| v.get_at::<u64>("ends with", p)).chain(left).collect();
            let count: u32 = places.iter().map(|place| place.count_ones()).sum();
            places.iter().fold(0, |all, place| all | place) == all && count == all.count_ones()
        };
        let report = Explorer::new(2)
            .believe_keep(true)
            .property(Property::always("once", once))
            .property(Property::sometimes("all end", |v| v.get::<u64>("ended") == 2))
            .property(Property::never_stuck("never-stuck"))
            .explore(world)
            .unwrap();
        report.assert_holds();
        assert!(report.complete);
        println!("growing, {programs:?}: {} states", report.states);
    }
}
