//! Names that stick: unique, and refused only if all of them were taken at one moment.

use doorway_check::property::View;
use doorway_check::sim::{Rules, Sim, SimVar, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::Failure;
use doorway_core::k_assignment::names::sticky::{Holder, StickyNames, Taken};
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Mark, Memory, Process, Site};
use std::convert::Infallible;

/// How a process comes to believe that all names are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// As the text has it.
    Twice,
    /// It has found each of them taken, one after the other.
    Once,
}

/// Passages with a name. Each process begins to look at any of them: it stands for all that come after each other.
struct Passages {
    names: StickyNames<Sim>,
    refused: SimVar<bool>,
    looks: Looks,
}

impl Passages {
    fn new(site: &Site<'_, Sim>, names: usize, looks: Looks) -> Self {
        Self { names: StickyNames::new(site, names), refused: site.var("refused", false), looks }
    }
}

#[derive(Debug)]
struct Refused;

impl KExclusion<Sim> for Passages {
    type Held = Taken;
    type Refusal = Refused;

    async fn acquire(&self, p: &Process<Sim>) -> Result<Taken, Failure<Infallible, Refused>> {
        let here = p.on(Sim::ROOT);
        let first = here.at(0).choose(self.names.names()).await?;
        let me = p.pid().index() as u64 + 1;
        if self.looks == Looks::Once {
            let mut all_taken = true;
            for i in 0..self.names.names() {
                all_taken &= self.names.is_taken(here, (first + i) % self.names.names()).await?;
            }
            if all_taken {
                here.at(5).write(&self.refused, true).await?;
                return Err(Failure::Refused(Refused));
            }
        }
        let Some(taken) = self.names.take(here, me, first).await? else {
            here.at(5).write(&self.refused, true).await?;
            return Err(Failure::Refused(Refused));
        };
        here.holds("name", taken.name() as u64);
        here.mark(Mark::Rests(4));
        Ok(taken)
    }

    async fn release(&self, p: &Process<Sim>, taken: Taken) -> Result<(), Infallible> {
        self.names.give_back(p.on(Sim::ROOT), taken).await
    }
}

fn unique_names(names: usize) -> [Property; 3] {
    let name = |v: &View<'_>, p| v.shown::<u64>(p, "name").filter(|_| v.at(p, 4));
    let unique = move |v: &View<'_>| {
        let held: Vec<u64> = v.processes().filter_map(|p| name(v, p)).collect();
        held.iter().enumerate().all(|(i, name)| *name < names as u64 && !held[..i].contains(name))
    };
    let said = move |v: &View<'_>| {
        let holder = |i| v.get_at::<Holder>("holder", i).process;
        v.processes().all(|p| (0..names).all(|i| (holder(i) == p as u64 + 1) == (name(v, p) == Some(i as u64))))
    };
    [Property::exclusion("at most n", names), Property::always("unique", unique), Property::always("S1", said)]
}

fn nobody_is_refused() -> Property {
    Property::always("S2", |v| !v.get::<bool>("refused"))
}

fn explore(
    (processes, names): (usize, usize),
    passages: u32,
    looks: Looks,
    properties: impl IntoIterator<Item = Property>,
) -> Report {
    let rules = Rules::with_passages(Some(passages));
    let world = World::new(processes, rules, |site| Passages::new(site, names, looks)).unwrap();
    Explorer::new(processes).properties(properties).explore(world).unwrap()
}

#[test]
fn nobody_is_refused_while_there_are_enough() {
    for (n, passages) in [(1, 3), (2, 4), (3, 2)] {
        let properties = unique_names(n).into_iter().chain([nobody_is_refused()]);
        explore((n, n), passages, Looks::Twice, properties).assert_holds();
    }
}

#[test]
fn one_too_many_can_be_refused_and_names_are_still_unique() {
    for (processes, names) in [(2, 1), (3, 2)] {
        let refused = Property::sometimes("refused", |v| v.get::<bool>("refused"));
        let properties = unique_names(names).into_iter().chain([refused]);
        explore((processes, names), 2, Looks::Twice, properties).assert_holds();
    }
}

/// The other one has given its name back and taken the next one, between two looks.
#[test]
fn who_looks_once_is_refused_although_there_are_enough() {
    let report = explore((2, 2), 3, Looks::Once, [nobody_is_refused()]);
    assert_eq!(report.verdict("S2").holds, Some(false));
}
