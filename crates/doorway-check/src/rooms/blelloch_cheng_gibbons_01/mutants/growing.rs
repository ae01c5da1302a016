//! Stacks that grow, with faults, over the shipped rooms.

use crate::rooms::blelloch_cheng_gibbons_01::worlds::{
    Answers, Asks, UNWRITTEN, arrays_of_a_dynamic_stack, first_array, machine, segments,
};
use crate::sim::{Part, Rules, Sim, SimCell, SimVar, TextError, World};
use doorway_core::Failure;
use doorway_core::memory::{Here, Memory, Process, Site};
use doorway_core::registry::Sizes;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{DynamicStack, IN, InSegments, Inside, OUT, Rooms, Width, place};
use doorway_core::rooms::{LastOut, Refusal};
use std::convert::Infallible;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    None,
    NeverAsks,
    NeverGrows,
    ExitsToRetry,
    AsksForEver,
}

/// How the space grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Growth {
    /// By arrays twice as long, into which elements are copied.
    Copying,
    Segments,
}

struct Grows {
    part: Part,
    start: SimVar<bool>,
    doubled: SimVar<u64>,
    /// The largest number of arrays.
    most: u64,
    fault: Fault,
}

impl LastOut<Sim> for Grows {
    async fn last_out(&self, p: &Process<Sim>, room: usize) -> Result<(), Infallible> {
        if room != IN {
            return Ok(());
        }
        let p = p.on(self.part);
        p.keep(12, &());
        if p.at(12).read(&self.start).await? {
            p.keep(13, &());
            p.at(13).write(&self.start, false).await?;
            if self.fault == Fault::NeverGrows {
                return Ok(());
            }
            p.keep(14, &());
            let doubled = p.at(14).read(&self.doubled).await?;
            if doubled + 1 == self.most {
                return Ok(()); // there is no memory for it
            }
            p.keep(14, &doubled);
            p.at(14).write(&self.doubled, doubled + 1).await?;
        }
        Ok(())
    }
}

pub(super) struct Stack {
    part: Part,
    growth: Growth,
    rooms: Rooms<Sim, Grows>,
    first: usize,
    top: SimVar<i64>,
    arrays: Vec<Vec<SimCell<u64>>>,
    fault: Fault,
}

const ARRAYS: [&str; 4] = ["array0", "array1", "array2", "array3"];
const SEGMENTS: [&str; 4] = ["segment0", "segment1", "segment2", "segment3"];
/// Further retries are merged, so that a user that retries for ever is seen to loop. No fault-free
/// text gets here.
const MANY: u64 = 5;

type Refused = Failure<Infallible, Refusal>;

impl Stack {
    pub(crate) fn new(
        site: &Site<'_, Sim>,
        growth: Growth,
        (first, arrays): (usize, usize),
        unwritten: u64,
        width: Width,
        fault: Fault,
    ) -> Self {
        let inner = site.part("rooms", None);
        let array = |(i, name): (usize, &&'static str)| site.row(name, first << i, |_| unwritten.into());
        let grows = Grows {
            part: site.here(),
            start: site.var("start", false),
            doubled: site.var("doubled", 0),
            most: arrays.max(1) as u64,
            fault,
        };
        let names = if growth == Growth::Copying { ARRAYS } else { SEGMENTS };
        Self {
            part: site.here(),
            growth,
            rooms: Rooms::with(&inner, 2, width, grows),
            first,
            top: site.var("top", 0),
            arrays: names.iter().take(arrays.max(1)).enumerate().map(array).collect(),
            fault,
        }
    }

    /// The number of elements that fit after this many doublings.
    fn size(&self, doubled: usize) -> i64 {
        let arrays = doubled + 1;
        match self.growth {
            Growth::Copying => DynamicStack::<Sim>::most(self.first, arrays) as i64,
            Growth::Segments => InSegments::<Sim>::most(self.first, arrays) as i64,
        }
    }

    pub(crate) async fn push(&self, p: &Process<Sim>, y: u64) -> Result<bool, Refused> {
        let here = p.on(self.part);
        let mut retries = 0_u64;
        here.part(&(y, retries));
        let mut inside = self.rooms.enter(p, IN).await?;
        let fits = loop {
            here.keep(1, &inside);
            let j = here.at(1).fetch_add(&self.top, 1).await?;
            let read_size = if self.growth == Growth::Copying { 10 } else { 7 };
            here.keep(read_size, &(&inside, j));
            let doubled = here.at(read_size).read(&self.rooms.last_out().doubled).await? as usize;
            if j < self.size(doubled) {
                match self.growth {
                    Growth::Copying => self.put(here, &inside, (j, doubled), y).await?,
                    Growth::Segments => {
                        here.keep(4, &(&inside, j));
                        here.at(4).write(self.in_segments(j), y).await?;
                    }
                }
                break true;
            }
            // This is unknown until it is asked for.
            let fits = doubled + 1 < self.arrays.len() || self.fault == Fault::AsksForEver;
            if fits && self.fault != Fault::NeverAsks {
                here.keep(2, &inside);
                here.at(2).write(&self.rooms.last_out().start, true).await?;
            }
            here.keep(3, &(&inside, fits));
            here.at(3).fetch_add(&self.top, -1).await?;
            if !fits {
                break false;
            }
            here.part_done();
            retries = MANY.min(retries + 1);
            here.shows("retries", retries);
            here.part(&(y, retries));
            inside = match self.fault {
                Fault::ExitsToRetry => {
                    self.rooms.exit(p, inside).await?;
                    self.rooms.enter(p, IN).await?
                }
                _ => self.rooms.change(p, inside, IN).await?,
            };
        };
        // Where elements are copied, the process is still in the part that knows the element.
        if self.growth == Growth::Segments {
            here.part_done();
        }
        here.part(&fits);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        if self.growth == Growth::Copying {
            here.part_done();
        }
        here.hides("retries");
        Ok(fits)
    }

    /// 4 to 7 of the stack that copies.
    async fn put(
        &self,
        here: Here<'_, Sim>,
        inside: &Inside,
        (j, doubled): (i64, usize),
        y: u64,
    ) -> Result<(), Infallible> {
        let half = self.size(doubled) / 2;
        if doubled > 0 && j >= half {
            let e = (j - half) as usize;
            here.keep(4, &(inside, j, doubled));
            let old = here.at(4).read(&self.arrays[doubled - 1][e]).await?;
            here.keep(5, &(inside, j, doubled, old));
            here.at(5).write(&self.arrays[doubled][e], old).await?;
            here.keep(6, &(inside, j, doubled));
            here.at(6).write(&self.arrays[doubled][j as usize], y).await
        } else {
            here.keep(7, &(inside, j, doubled));
            here.at(7).write(self.slot(doubled.saturating_sub(1), j), y).await
        }
    }

    pub(crate) async fn pop(&self, p: &Process<Sim>) -> Result<Option<u64>, Refused> {
        let here = p.on(self.part);
        let copying = self.growth == Growth::Copying;
        let [takes, gives_back, reads] = if copying { [8, 9, 11] } else { [5, 6, 8] };
        let inside = self.rooms.enter(p, OUT).await?;
        here.keep(takes, &inside);
        let j = here.at(takes).fetch_add(&self.top, -1).await?;
        let x = if j <= 0 {
            here.keep(gives_back, &inside);
            here.at(gives_back).fetch_add(&self.top, 1).await?;
            None
        } else {
            let slot = if copying {
                here.keep(10, &(&inside, j));
                let doubled = here.at(10).read(&self.rooms.last_out().doubled).await? as usize;
                let half = self.size(doubled) / 2;
                let array = if doubled > 0 && j <= half { doubled - 1 } else { doubled };
                here.keep(reads, &(&inside, j, array));
                self.slot(array, j - 1)
            } else {
                here.keep(reads, &(&inside, j));
                self.in_segments(j - 1)
            };
            Some(here.at(reads).read(slot).await?)
        };
        here.part(&x);
        self.rooms.exit(p, inside).await?;
        here.part_done();
        Ok(x)
    }

    // With some faults elements are looked for where there are none: then the first or the last
    // slot stands in.
    fn slot(&self, array: usize, e: i64) -> &SimCell<u64> {
        let array = &self.arrays[array.min(self.arrays.len() - 1)];
        &array[e.clamp(0, array.len() as i64 - 1) as usize]
    }

    fn in_segments(&self, e: i64) -> &SimCell<u64> {
        let most = self.size(self.arrays.len() - 1);
        let (segment, at) = place(self.first, e.clamp(0, most - 1) as usize);
        &self.arrays[segment][at]
    }
}

/// A machine that runs either.
pub(super) fn world(sizes: Sizes, rules: Rules, growth: Growth, fault: Fault) -> Result<World, TextError> {
    let width = Width::for_users(sizes.n, 0);
    let arrays = match growth {
        Growth::Copying => arrays_of_a_dynamic_stack(sizes, first_array(sizes)),
        Growth::Segments => segments(sizes),
    };
    machine!(sizes, rules, |site| Stack::new(site, growth, arrays, UNWRITTEN, width, fault), push, pop)
}
