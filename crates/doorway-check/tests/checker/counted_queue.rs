//! Finds the history by which Blelloch, Cheng and Gibbons show that the fetch-and-add queue of
//! Gottlieb, Lubachevsky and Rudolph is not linearizable.
//!
//! We do not have that queue's text. This is only what the history rests on, written by us: an
//! element is first put into its place and then counted, and a process that takes one first asks
//! the count.

use doorway_check::sim::{Rules, Sequential, Sim, SimCell, SimVar, World};
use doorway_check::{Explorer, Property};
use doorway_core::memory::{Here, Memory, Process, Site};
use std::rc::Rc;

const SIZE: usize = 2;
const NOTHING: u64 = 0;
const PUT: u64 = 9;

/// Operation 0 takes, any other number is put in. The answer to a put is [`PUT`].
struct Fifo;

impl Sequential for Fifo {
    type State = Vec<u64>;
    type Op = u64;
    type Response = u64;

    fn initial(&self) -> Vec<u64> {
        Vec::new()
    }

    fn apply(&self, elements: &Vec<u64>, op: u64) -> (Vec<u64>, u64) {
        let mut now = elements.clone();
        if op != NOTHING {
            now.push(op);
            return (now, PUT);
        }
        let first = if now.is_empty() { NOTHING } else { now.remove(0) };
        (now, first)
    }
}

struct Queue {
    inserts: SimVar<u64>,
    deletes: SimVar<u64>,
    counted: SimVar<u64>,
    places: Vec<SimCell<u64>>,
}

impl Queue {
    fn new(site: &Site<'_, Sim>) -> Self {
        Self {
            inserts: site.var("I", 0),
            deletes: site.var("D", 0),
            counted: site.var("count", 0),
            places: site.row("Q", SIZE, |_| NOTHING.into()),
        }
    }

    async fn put(&self, p: Here<'_, Sim>, x: u64) {
        p.invokes(x);
        let Ok(place) = p.at(1).fetch_add(&self.inserts, 1).await;
        let Ok(()) = p.at(2).write(&self.places[place as usize % SIZE], x).await;
        let Ok(_) = p.at(3).fetch_add(&self.counted, 1).await;
        p.responds(PUT);
    }

    async fn take(&self, p: Here<'_, Sim>) {
        p.invokes(NOTHING);
        let Ok(before) = p.at(4).fetch_add(&self.counted, u64::MAX).await;
        if before == 0 || before > u64::MAX / 2 {
            let Ok(_) = p.at(5).fetch_add(&self.counted, 1).await;
            p.responds(NOTHING);
            return;
        }
        let Ok(place) = p.at(6).fetch_add(&self.deletes, 1).await;
        let Ok(x) = p.at(7).wait_until(&self.places[place as usize % SIZE], |x| x != NOTHING).await;
        let Ok(()) = p.at(8).write(&self.places[place as usize % SIZE], NOTHING).await;
        p.responds(x);
    }
}

#[test]
fn an_element_that_is_counted_late_hides_one_that_was_counted_before() {
    let body = |queue: Rc<Queue>, p: Process<Sim>| async move {
        let here = p.on(Sim::ROOT);
        if p.pid().index() == 0 {
            queue.put(here, 1).await;
        } else {
            queue.put(here, 2).await;
            queue.take(here).await;
            queue.take(here).await;
        }
    };
    let world = World::of_programs(2, Rules::with_passages(Some(1)), Queue::new, body).unwrap();
    let report = Explorer::new(2).property(Property::linearizable("linearizable", Fifo)).explore(world).unwrap();
    assert_eq!(report.verdict("linearizable").holds, Some(false));
    let trace = report.verdict("linearizable").trace.clone().unwrap();
    let said = |process: usize| -> Vec<String> {
        let of = trace.steps.iter().filter(|step| step.process == process);
        let said =
            of.flat_map(|step| step.did.split("; ")).filter(|s| s.starts_with("calls") || s.starts_with("returns"));
        said.map(str::to_owned).collect()
    };
    // The paper's history: one enqueue does not end; the other ends, and then one dequeue gives the
    // first element, and the next finds nothing.
    assert_eq!(said(0), ["calls 1"]);
    assert_eq!(said(1), ["calls 2", "returns 9", "calls 0", "returns 1", "calls 0", "returns 0"]);
}
