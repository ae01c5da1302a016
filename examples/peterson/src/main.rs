//! Peterson's algorithm for two processes, and a variant in which two lines are swapped.
//!
//! `cargo run -p peterson` checks both. The walk-through is in `docs/checking.md`. With `explore
//! giving-way-first` you drive the variant by hand, in a browser; `rmr`, `replay TOKEN` and `page
//! TOKEN FILE` do what `doorway` does for the algorithms of the catalogue.

use doorway_check::prelude::*;

lock! {
    /// Peterson 1981. With `turn_first` a process gives way before it announces that it competes.
    struct Peterson(turn_first: bool): ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (me, rival) = (p.pid().index(), 1 - p.pid().index());
        if self.turn_first {
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
            p.at(1).write(&self.flag[me], true).await?;
        } else {
            p.at(1).write(&self.flag[me], true).await?;
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
        }
        p.spin_until(|| async {
            let free = !p.at(3).read(&self.flag[rival]).await? || p.at(4).read(&self.turn).await? == p.pid();
            Ok(free.then_some(()))
        })
        .await?;
    }
    release(self, p) {
        p.at(5).write(&self.flag[p.pid().index()], false).await?;
    }
}

fn checks() -> [Check; 2] {
    let peterson = |name, turn_first| Check::lock(name, 2, move |site| Peterson::new(site, turn_first)).mutex();
    [peterson("peterson", false), peterson("giving-way-first", true)]
}

fn main() -> std::process::ExitCode {
    doorway_check::main(checks())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn peterson_holds() {
        let [peterson, _] = checks();
        peterson.run().unwrap().assert_holds();
    }

    #[test]
    fn giving_way_first_breaks_it() {
        let [peterson, variant] = checks();
        let report = variant.run().unwrap();
        let failure = report.verdict("mutual-exclusion");
        assert_eq!(failure.holds, Some(false));
        let token = failure.token.as_ref().unwrap().to_string();
        assert!(variant.replay(&token).unwrap().breaks);
        assert!(variant.page(&token).unwrap().contains("p.at(1)"), "the page shows this file");
        let elsewhere = peterson.replay(&token).unwrap_err().to_string();
        assert!(elsewhere.contains("own:giving-way-first"), "{elsewhere}");
    }

    #[test]
    fn the_token_on_the_page_is_fresh() {
        let [_, variant] = checks();
        let page = include_str!("../../../docs/checking.md");
        let token = page.split_whitespace().find(|word| word.starts_with("dw1/own:giving")).unwrap();
        assert!(variant.replay(token).unwrap().breaks);
    }

    #[test]
    fn a_passage_costs_a_constant_unless_it_waits() {
        let [peterson, _] = checks();
        assert_eq!(peterson.rmr(CostModel::Cc).unwrap().worst(), Worst::Bounded(7));
        assert_eq!(peterson.rmr(CostModel::Dsm).unwrap().worst(), Worst::Unbounded);
    }

    #[test]
    fn the_driver_finds_it_too_and_shows_this_file() {
        let [_, variant] = checks();
        let mut driver = variant.driver().unwrap();
        let both = json!({ "ask": "search", "run": "", "predicate": "p0@inside && p1@inside" });
        let found = driver.answer(&both, &|| false).unwrap();
        let shown = driver.answer(&json!({ "ask": "at", "run": found["run"] }), &|| false).unwrap();
        assert!(shown["record"]["sources"][0]["text"].as_str().unwrap().contains("p.at(1)"));
        let again = driver.answer(&json!({ "ask": "token", "token": shown["record"]["token"] }), &|| false).unwrap();
        assert_eq!(again["run"], found["run"]);
    }
}
