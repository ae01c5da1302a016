//! What `doorway check` prints: what it searched, what it found, what it covered. The words are
//! those of the checker's own [account](Account).

use doorway_check::explore::{Account, Registers, Verdict};
use doorway_check::replay::Token;
use doorway_check::sim::Rules;
use doorway_check::subject::Subject;
use doorway_core::registry::Sizes;

/// Gives each run that was found the token that replays it.
pub(crate) fn add_tokens(verdicts: &mut [Verdict], subject: &Subject, sizes: Sizes, rules: Rules) {
    for v in verdicts {
        v.token = v.trace.as_ref().map(|trace| Token::new(subject, sizes, rules, &v.name, trace));
    }
}

/// The account of a search for one of the catalogue.
pub(crate) fn account<'a>(
    (subject, id): (&Subject, &'a str),
    sizes: Sizes,
    rules: Rules,
    registers: &'a Registers,
    verdicts: &'a [Verdict],
) -> Account<'a> {
    Account {
        id,
        title: subject.mutant.map_or(subject.info.title, |m| m.change),
        processes: sizes.n,
        second: Some((subject.info.problem.second().name(), sizes.k)),
        rules,
        registers,
        force: "--force",
        replay: "doorway replay",
        verdicts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorway_check::sim::{Sim, World};
    use doorway_check::{Explorer, subject};
    use doorway_core::memory::{Domain, Memory as _, Register, Site, decl};

    #[test]
    fn a_value_that_a_text_cannot_use_is_named() {
        let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::with_passages(Some(1)) };
        let build = |site: &Site<'_, Sim>| site.var("Turn", decl(0u64).ranges_over(Domain::Of(&[0, 1, 2])));
        let world = World::of_programs(2, rules, build, |turn, p| async move {
            let here = p.on(Sim::ROOT);
            if p.pid().index() == 0 {
                let Ok(()) = here.at(1).write(&turn, 1).await;
            } else {
                let Ok(turn) = here.at(2).read(&turn).await;
                assert!(turn < 2, "nobody has turn {turn}");
            }
        });
        let report = Explorer::new(2).explore(world.unwrap()).unwrap();
        let chain = subject::find("am-chain").unwrap();
        let sizes = Sizes { n: 2, k: 1 };
        let says = |rules| {
            account((&chain, "am-chain"), sizes, rules, &report.registers, &report.verdicts).verdicts("not decided")
        };
        let text = says(rules);
        let why = text.lines().last().unwrap();
        assert!(why.starts_with("am-chain cannot be run over safe registers: "), "{why}");
        assert!(why.ends_with("The last access of p1 was 2: Turn = 2, torn."), "{why}");
        assert!(!says(Rules::default()).contains("cannot be run"), "atomic registers are not to blame");
    }
}
