//! Peterson's algorithm for two processes, and a variant in which two lines are swapped.
//!
//! `cargo run -p peterson` checks both. The walk-through is in `docs/checking.md`. With `explore`
//! (`cargo run -p peterson -- explore`) you drive the variant by hand, in a browser.

use doorway_check::drive::Driver;
use doorway_check::sim::{Rules, TextError, World};
use doorway_check::{Explorer, Property, Report};
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

fn claims() -> Vec<Property> {
    vec![
        Property::exclusion("mutual exclusion", 1),
        Property::deadlock_free("deadlock freedom"),
        Property::starvation_free("starvation freedom"),
    ]
}

fn check<const TURN_FIRST: bool>() -> Result<Report, TextError> {
    Explorer::new(2).properties(claims()).run(Peterson::<_, TURN_FIRST>::new)
}

/// The variant, to be driven in a browser.
fn driver() -> Result<Driver, TextError> {
    let world = World::new(2, Rules::default(), Peterson::<_, true>::new)?;
    let driver = Driver::new(world, claims())?.with_source(file!(), include_str!("main.rs"));
    Ok(driver.titled("Peterson's algorithm, giving way first", "two processes"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("explore") {
        let page = driver()?.serve(0)?;
        println!("{}", page.url());
        page.run();
        return Ok(());
    }
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
    use serde_json::json;

    #[test]
    fn peterson_holds() {
        check::<false>().unwrap().assert_holds();
    }

    #[test]
    fn giving_way_first_breaks_it() {
        let report = check::<true>().unwrap();
        assert_eq!(report.verdict("mutual exclusion").holds, Some(false));
    }

    #[test]
    fn the_driver_finds_it_too_and_shows_this_file() {
        let mut driver = driver().unwrap();
        let both = json!({ "ask": "search", "run": "", "predicate": "p0@inside && p1@inside" });
        let found = driver.answer(&both, &|| false).unwrap();
        let shown = driver.answer(&json!({ "ask": "at", "run": found["run"] }), &|| false).unwrap();
        assert!(shown["record"]["sources"][0]["text"].as_str().unwrap().contains("p.at(1)"));
    }
}
