//! Tokens replay a run, or say why not.

use doorway_check::explore::Verdict;
use doorway_check::replay::{Token, TokenError};
use doorway_check::sim::{Deaths, Rules};
use doorway_check::{Explorer, subject};
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;

fn failures(id: &str, sizes: Sizes, rules: Rules) -> Vec<(Token, Verdict)> {
    let subject = subject::find(id).unwrap();
    let rules = rules.for_properties(&subject.claims(sizes));
    let search = |keep_going: bool| {
        let explorer =
            Explorer::new(sizes.n).believe_keep(true).properties(subject.claims(sizes)).keep_going(keep_going);
        explorer.max_states(50_000).explore(subject.world(sizes, rules).unwrap())
    };
    // A text with a fault may reach a point where it cannot go on; a failure before that counts.
    let report = search(true).or_else(|_| search(false)).unwrap();
    let failed = report.verdicts.into_iter().filter(|v| v.holds == Some(false) && v.trace.is_some());
    failed.map(|v| (Token::new(&subject, sizes, rules, &v.name, v.trace.as_ref().unwrap()), v)).collect()
}

#[test]
fn crashes_and_torn_reads_are_part_of_a_token() {
    let crash = failures("am-chain", Sizes { n: 2, k: 1 }, Rules { crashes: 1, ..Rules::default() });
    assert!(crash.iter().any(|(token, _)| token.to_string().contains("c/") || token.to_string().contains("c.")));
    let rules = Rules { registers: Register::Safe, force_registers: true, ..Rules::default() };
    let torn = failures("ya-two", Sizes { n: 2, k: 1 }, rules);
    assert!(!torn.is_empty());
    for (token, verdict) in crash.into_iter().chain(torn) {
        let again: Token = token.to_string().parse().unwrap();
        assert_eq!(again.replay().unwrap().steps, verdict.trace.unwrap().steps, "{token}");
    }
}

const GOOD: &str = "dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951";

#[test]
fn a_stale_token_says_so() {
    assert!(GOOD.parse::<Token>().unwrap().replay().is_ok());
    // The same steps on the sound algorithm do something else, at the same statements.
    let other = GOOD.replace("mutant:am-chain-without-7", "mutant:am-chain-without-4");
    assert_eq!(other.parse::<Token>().unwrap().replay(), Err(TokenError::Stale(None)));
    let crashes_too_often = GOOD.replace("0.1x3.0", "0c.1x3.0");
    assert!(matches!(crashes_too_often.parse::<Token>().unwrap().replay(), Err(TokenError::Stale(_))));
    let nobody = GOOD.replace("0.1x3.0", "0.7x3.0");
    assert_eq!(nobody.parse::<Token>().unwrap().replay(), Err(TokenError::Stale(Some(2))));
    let gone = GOOD.replace("without-7", "without-77").parse::<Token>().unwrap().replay();
    assert!(matches!(gone, Err(TokenError::Unknown(_))), "{gone:?}");
}

/// The number at the end of a token vouches for the steps, not for what they are said to show.
#[test]
fn what_a_token_says_of_its_run_is_not_believed() {
    let breaks = |token: &str| {
        let token: Token = token.parse().unwrap();
        assert!(token.replay().is_ok(), "{token}: its steps are as they were");
        token.breaks_its_property()
    };
    assert_eq!(breaks(GOOD), Ok(true));
    for other in ["k-exclusion", "starvation-free", "deadlock-free", "bounded-exit", "k-enter-together", "no-panic"] {
        assert_eq!(breaks(&GOOD.replace("never-stuck", other)), Ok(false), "{other}");
    }
    // The sound text does the same so far; but p0 is about to let p1 in.
    assert_eq!(breaks(&GOOD.replace("mutant:am-chain-without-7", "am-chain")), Ok(false));
    let nonsense = TokenError::NoProperty { id: "am-chain".to_owned(), property: "luck".to_owned() };
    assert_eq!(breaks("dw1/am-chain/2,1/-/c0/atomic/luck//811c9dc5"), Err(nonsense));

    // p1 passes twice while p0 waits: an endless run that breaks one property, but not another.
    let starved = "dw1/tas/3,1/-/c0/atomic/starvation-free/0.1.2.1.0.1.2x2@1/703b4986";
    assert_eq!(breaks(starved), Ok(true));
    assert_eq!(breaks(&starved.replace("starvation-free", "deadlock-free")), Ok(false));
    // Without p0's turn it is unknown whether p0 would have got in: that is not fair.
    let unfair = starved.replace("0.1.2.1.0.1.2x2@1", "0.1.2.1.1.2x2@1");
    let unfair = unfair.parse::<Token>().unwrap();
    assert_eq!(unfair.breaks_its_property(), Ok(false));
}

/// A few words can ask for billions of steps; they must not take the memory for them.
#[test]
fn a_run_without_measure_is_refused() {
    let words = vec!["0x1000000"; 4000].join(".");
    for run in ["0x100001".to_owned(), "0x99999.1x2".to_owned(), words] {
        let token = format!("dw1/am-chain/3,2/-/c2/atomic/never-stuck/{run}/69d79a12");
        assert_eq!(token.parse::<Token>().unwrap_err(), TokenError::TooLong);
    }
}

#[test]
fn what_is_no_token_is_refused() {
    assert!(matches!(GOOD.replace("dw1", "dw9").parse::<Token>(), Err(TokenError::Version(_))));
    for bad in [
        "",
        "dw1",
        "hello",
        &GOOD[..GOOD.len() - 12],
        &GOOD.replace("2,1", "2"),
        &GOOD.replace("2,1", "0,1"),
        &GOOD.replace("c0", "d0"),
        &GOOD.replace("atomic", "holy"),
        &GOOD.replace("0.1x3.0", "0.1y3.0"),
        &GOOD.replace("0.1x3.0", "0.1x99999999999.0"),
        &GOOD.replace("75250951", "nothex"),
    ] {
        let result = bad.parse::<Token>();
        assert!(result.is_err(), "{bad:?}: {result:?}");
    }
}

/// Every token in the documentation can be replayed.
#[test]
fn tokens_in_the_documentation_are_fresh() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    let files = ["", "docs", "papers"].into_iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    for file in paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let words = text.split(|c: char| c.is_whitespace() || c == '`');
        // The example checks its own.
        for word in words.filter(|word| word.starts_with("dw1/") && !word.starts_with("dw1/own:")) {
            let replayed = word.parse::<Token>().and_then(|token| token.replay());
            assert!(replayed.is_ok(), "{}: {word}: {replayed:?}", file.display());
            found += 1;
        }
    }
    assert!(found > 0, "the README shows a token");
}

#[test]
fn traces_change_hands_as_rarely_as_possible() {
    // The shortest way to break the fast path needs each process once.
    let token = failures("mutant:am-fast-as-printed-on-plain-add", Sizes { n: 3, k: 1 }, Rules::default());
    let (token, _) = token.iter().find(|(t, _)| t.property == "k-exclusion").unwrap();
    let switches = token.actions.windows(2).filter(|pair| pair[0].process != pair[1].process).count();
    assert_eq!(switches, 2, "{token}");
}

/// A token carries every rule of its machine.
#[test]
fn the_rules_of_a_token_are_those_of_its_machine() {
    let deaths = Deaths { restarts: 12, late: true, hints: true, rechecks: false, reclaims: false, suspects: false };
    let all = Rules {
        passages: Some(3),
        crashes: 10,
        deaths,
        registers: Register::Regular,
        force_registers: true,
        alike: true,
        give_ups: true,
        order: true,
        wakes: true,
        timed_sleeps: true,
        line: Some(14),
        lag: Some(5),
        ..Rules::default()
    };
    let some = [
        Rules::default(),
        Rules { line: Some(3), ..Rules::default() },
        Rules { crashes: 1, deaths: Deaths { late: true, ..Deaths::default() }, ..Rules::default() },
        all,
    ];
    for rules in some {
        let mut token: Token = GOOD.parse().unwrap();
        token.rules = rules;
        assert_eq!(token.to_string().parse::<Token>().unwrap(), token, "{token}");
    }
    for bad in ["c", "c1r", "c1z", "c1b", "cx", "c1rr1", "c1g2", "1", "c99999999999999999999", "c1b-1", "c1é"] {
        let token = GOOD.replace("/c0/", &format!("/{bad}/"));
        assert!(matches!(token.parse::<Token>(), Err(TokenError::Malformed(_))), "{token}");
    }
}
