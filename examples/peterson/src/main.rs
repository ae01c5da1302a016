//! Peterson's algorithm for two processes, and a variant in which two lines are swapped.
//!
//! `cargo run -p peterson` checks both. The walk-through is in `docs/checking.md`.

use doorway_check::{Explorer, Property, Report, sim::TextError};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Memory, Pid, Process, ReadWrite, Site};
use std::convert::Infallible;

/// Peterson 1981. With `TURN_FIRST` a process gives way before it announces that it competes.
struct Peterson<M: Memory, const TURN_FIRST: bool> {
    part: M::Part,
    flag: M::Row<bool>,
    turn: M::Var<Pid>,
}

impl<M: ReadWrite, const TURN_FIRST: bool> Peterson<M, TURN_FIRST> {
    fn new(site: &Site<'_, M>) -> Self {
        Self { part: site.here(), flag: site.row("flag", 2, |_| false.into()), turn: site.var("turn", Pid::new(0)) }
    }
}

impl<M: ReadWrite, const TURN_FIRST: bool> KExclusion<M> for Peterson<M, TURN_FIRST> {
    type Held = ();
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<(), Failure<M::Error>> {
        let (p, me, rival) = (p.on(self.part), p.pid().index(), 1 - p.pid().index());
        if TURN_FIRST {
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
            p.at(1).write(&self.flag[me], true).await?;
        } else {
            p.at(1).write(&self.flag[me], true).await?;
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
        }
        let may_go = || async {
            let free = !p.at(3).read(&self.flag[rival]).await? || p.at(4).read(&self.turn).await? == p.pid();
            Ok(free.then_some(()))
        };
        Ok(p.spin_until(may_go).await?)
    }

    async fn release(&self, p: &Process<M>, (): ()) -> Result<(), M::Error> {
        p.on(self.part).at(5).write(&self.flag[p.pid().index()], false).await
    }
}

fn check<const TURN_FIRST: bool>() -> Result<Report, TextError> {
    Explorer::new(2)
        .property(Property::exclusion("mutual exclusion", 1))
        .property(Property::deadlock_free("deadlock freedom"))
        .property(Property::starvation_free("starvation freedom"))
        .run(Peterson::<_, TURN_FIRST>::new)
}

fn main() -> Result<(), TextError> {
    for report in [check::<false>()?, check::<true>()?] {
        for verdict in &report.verdicts {
            println!("{}: {:?}", verdict.name, verdict.holds);
            if let (Some(false), Some(trace)) = (verdict.holds, &verdict.trace) {
                println!("{trace}");
            }
        }
        println!("{} states, complete: {}\n", report.states, report.complete);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peterson_holds() {
        check::<false>().unwrap().assert_holds();
    }

    #[test]
    fn giving_way_first_breaks_it() {
        let report = check::<true>().unwrap();
        assert_eq!(report.verdict("mutual exclusion").holds, Some(false));
    }
}
