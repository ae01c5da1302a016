//! A machine that is driven: its searches agree with the checker's, and what it is asked is
//! understood or refused.

use doorway_check::drive::{Driver, Page, Predicate};
use doorway_check::replay::{Token, read, written};
use doorway_check::sim::{Rules, World};
use doorway_check::trace::Trace;
use doorway_check::{Explorer, Property, subject};
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::memory::Register;
use doorway_core::registry;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const NEVER: &dyn Fn() -> bool = &|| false;

fn driver(id: &str, rules: Rules) -> Driver {
    let subject = subject::find(id).unwrap();
    Driver::of(subject, subject.sizes(None, None).unwrap(), Rules { passages: subject.defaults().passages, ..rules })
        .unwrap()
}

fn driver_of(id: &str) -> Driver {
    driver(id, Rules::default())
}

fn ask(driver: &mut Driver, question: &Value) -> Value {
    driver.answer(question, NEVER).unwrap_or_else(|e| panic!("{question}: {e}"))
}

/// A search from the start finds what the checker finds, for each claim and for properties that do
/// not hold. The run that it finds breaks the property, even if this run has no end.
#[test]
fn searches_agree_with_the_checker() {
    for id in [
        "tas",
        "ya-two",
        "bakery",
        "mutant:am-chain-without-7",
        "mutant:ya-two-4-before-3",
        "mutant:lamport-fast-waits-to-leave",
        "dgs-unfair",
    ] {
        let Ok(subject) = subject::find(id) else { panic!("{id}") };
        let sizes = subject.sizes(None, None).unwrap();
        for claim in subject.claims(sizes) {
            let name = claim.name().to_owned();
            let rules = subject.rules().for_properties(std::slice::from_ref(&claim));
            let world = subject.world(sizes, rules).unwrap();
            let report =
                Explorer::new(sizes.n).believe_keep(true).property(claim).max_states(30_000).explore(world).unwrap();
            let Some(holds) = report.verdict(&name).holds else { continue };
            let mut driver = Driver::of(subject, sizes, subject.rules()).unwrap();
            let found = ask(&mut driver, &json!({ "ask": "search", "run": "", "property": name, "most": 100_000 }));
            let sometimes = ["someone-enters", "k-enter-together"].contains(&&*name);
            assert_eq!(found["run"].is_null(), holds != sometimes, "{id}: {name}: {found}");
            if let Some(run) = found["run"].as_str().filter(|_| !sometimes) {
                breaks(id, &name, run, found["repeats_from"].as_u64().map(|from| from as usize));
            }
        }
    }
    // Not a claim of `tas`: it can be passed for ever.
    let tas = subject::find("tas").unwrap();
    let sizes = tas.sizes(None, None).unwrap();
    let claims = vec![Property::starvation_free("starvation-free")];
    let mut driver = Driver::new(tas.world(sizes, tas.rules()).unwrap(), claims).unwrap();
    for begin in ["", "1", "0.1.2"] {
        let found = ask(&mut driver, &json!({ "ask": "search", "run": begin, "property": "starvation-free" }));
        let from = found["repeats_from"].as_u64().unwrap() as usize;
        breaks("tas", "starvation-free", found["run"].as_str().unwrap(), Some(from));
    }
}

/// The run of an answer breaks a property, as the checker judges it.
fn breaks(id: &str, property: &str, run: &str, repeats_from: Option<usize>) {
    let subject = subject::find(id).unwrap();
    let sizes = subject.sizes(None, None).unwrap();
    let rules = subject.rules();
    let mut world = subject.world(sizes, rules).unwrap();
    let initial = world.initial();
    let mut trace = Trace::of(&mut world, &initial, &read(run).unwrap()).unwrap();
    if let Some(from) = repeats_from {
        trace.repeats(from, Vec::new());
    }
    let token = Token::new(&subject, sizes, rules, property, &trace);
    assert!(token.breaks_its_property().unwrap(), "{id}: {property}: {run} @{repeats_from:?}");
    token.replay().unwrap();
}

/// A search can begin anywhere, and its way is a shortest one.
#[test]
fn searches_begin_where_one_is() {
    let mut driver = driver("am-chain", Rules::default());
    let run = "0.1x2.2x3";
    let found =
        ask(&mut driver, &json!({ "ask": "search", "run": run, "predicate": "count@inside == 2 && any@waits" }));
    let found = found["run"].as_str().unwrap().to_owned();
    assert!(found.starts_with("0.1x2.2x"), "{found}");
    let none = ask(&mut driver, &json!({ "ask": "search", "run": run, "predicate": "count@inside > 2" }));
    assert_eq!((none["run"].is_null(), &none["complete"]), (true, &json!(true)));
    let few = ask(&mut driver, &json!({ "ask": "search", "run": "", "predicate": "count@inside > 2", "most": 10 }));
    assert_eq!(few["complete"], false);
    let stopped = driver.answer(&json!({ "ask": "search", "predicate": "count@inside > 2" }), &|| true).unwrap();
    assert_eq!(stopped["complete"], false);
}

/// A bound counts what has happened before the position, too.
#[test]
fn bounds_on_steps_are_searched_from_a_position() {
    let id = "mutant:bypass-counts-nobody";
    let run = "0x2.1x3.0x2.1.0x5.1x18"; // the run of its row in the table of mutants
    let (subject, actions) = (subject::find(id).unwrap(), read(run).unwrap());
    let mut driver = Driver::of(subject, subject.sizes(None, None).unwrap(), subject.rules()).unwrap();
    for begin in [0, 10, 20, actions.len() - 1, actions.len()] {
        let question = json!({ "ask": "search", "run": written(&actions[..begin]), "property": "bypass-bound" });
        let found = ask(&mut driver, &question);
        let way = found["run"].as_str().unwrap_or_else(|| panic!("{begin}: {found}"));
        breaks(id, "bypass-bound", way, None);
        assert!(read(way).unwrap().len() <= actions.len(), "{begin}: {found}");
    }
    // The text itself keeps the bound.
    let bypass = subject::find("bypass").unwrap();
    let rules = Rules { passages: Some(2), ..subject.rules() };
    let mut driver = Driver::of(bypass, subject.sizes(None, None).unwrap(), rules).unwrap();
    for begin in ["", "0x2.1x3.0x2.1"] {
        let found = ask(&mut driver, &json!({ "ask": "search", "run": begin, "property": "bypass-bound" }));
        assert_eq!((found["run"].is_null(), &found["complete"]), (true, &json!(true)), "{found}");
    }
}

/// A number that is no statement's is probably a mistake, and "no" alone would look like a theorem.
#[test]
fn a_statement_that_does_not_exist_is_pointed_out() {
    let mut driver = driver_of("ya-two");
    let says = |driver: &mut Driver, predicate: &str| {
        let found = ask(driver, &json!({ "ask": "search", "run": "", "predicate": predicate }));
        found["says"].as_str().unwrap().to_owned()
    };
    assert!(says(&mut driver, "p0@99").contains("No process is ever at 99"));
    assert!(says(&mut driver, "count@{98,200..201} = 1").contains("at 98, 200..201"));
    let no = says(&mut driver, "count@inside = 2");
    assert!(no.starts_with("No: in none of the") && !no.contains("ever at"), "{no}");
}

#[test]
fn every_choice_can_be_made_and_leads_on() {
    let rules = Rules { crashes: 1, registers: Register::Safe, force_registers: true, ..Rules::default() };
    for id in ["peterson-tree", "am-chain", "turnstile"] {
        let mut driver = driver(id, Rules { give_ups: id == "turnstile", ..rules });
        let mut run = String::new();
        for turn in 0..40 {
            let answer = ask(&mut driver, &json!({ "ask": "at", "run": run }));
            let choices: Vec<&Value> =
                answer["next"].as_array().unwrap().iter().flat_map(|p| p.as_array().unwrap()).collect();
            if choices.is_empty() {
                break;
            }
            for choice in &choices {
                let on = json!({ "ask": "at", "run": format!("{run}.{}", choice["action"].as_str().unwrap()) });
                assert_eq!(
                    ask(&mut driver, &on)["record"]["steps"].as_array().unwrap().len(),
                    turn + 1,
                    "{id}: {choice}"
                );
            }
            run = format!("{run}.{}", choices[turn * 7 % choices.len()]["action"].as_str().unwrap());
        }
    }
}

/// Every algorithm and object can be driven, with whatever can happen to it.
#[test]
fn every_text_can_be_driven() {
    for info in registry::ALL.iter().chain(registry::OBJECTS) {
        let rules = Rules { crashes: 1, give_ups: info.can_give_up, ..Rules::default() };
        let mut driver = driver(info.id, rules);
        let mut run: Vec<String> = Vec::new();
        for turn in 0..30 {
            let answer = ask(&mut driver, &json!({ "ask": "next", "run": run.join(".") }));
            let choices = answer["next"].as_array().unwrap().iter().flat_map(|p| p.as_array().unwrap());
            let choices: Vec<&str> = choices.map(|choice| choice["action"].as_str().unwrap()).collect();
            let Some(chosen) = choices.get((turn * turn + 3 * turn) % choices.len().max(1)) else { break };
            run.push((*chosen).to_owned());
        }
        let answer = ask(&mut driver, &json!({ "ask": "at", "run": run.join(".") }));
        assert_eq!(answer["record"]["steps"].as_array().unwrap().len(), run.len(), "{}", info.id);
        let token = answer["record"]["token"].as_str().unwrap();
        let back = ask(&mut driver, &json!({ "ask": "token", "token": token }));
        assert_eq!(read(back["run"].as_str().unwrap()).unwrap(), read(&run.join(".")).unwrap(), "{token}");
        for p in 0..2 {
            ask(&mut driver, &json!({ "ask": "alone", "run": "", "process": p }));
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let mut driver = driver("am-chain", Rules::default());
    for (question, says) in [
        (json!({ "ask": "at", "run": "0.9" }), "step 2 of this run cannot happen"),
        (json!({ "ask": "at", "run": "0c" }), "step 1 of this run cannot happen"),
        (json!({ "ask": "at", "run": "zero" }), "cannot be read as a token"),
        (json!({ "ask": "alone", "run": "", "process": 9 }), "there is no process p9"),
        (json!({ "ask": "search", "run": "", "property": "beauty" }), "there is no claim"),
        (json!({ "ask": "token", "token": "dw1/tas/3,1" }), "cannot be read as a token"),
        (json!({ "ask": "at", "run": "0x6000" }), "a page shows 5000 at most"),
        (json!({ "ask": "token", "token": "0x6000" }), "a page shows 5000 at most"),
        (json!({ "ask": "at", "run": "0.1x3", "repeats_from": 2 }), "does not come back"),
        (json!({ "ask": "at", "run": "0.1x3", "repeats_from": 4 }), "does not come back"),
        (json!({ "ask": "at", "run": "0.1x3", "repeats_from": 9 }), "does not come back"),
        (json!({ "ask": "dance" }), "is not a question"),
        (json!("ask"), "invalid type"),
    ] {
        let error = driver.answer(&question, NEVER).unwrap_err();
        assert!(error["error"].as_str().unwrap().contains(says), "{question}: {error}");
    }
    let token = json!({ "ask": "token", "token": "  doorway replay 0.1x3 " });
    assert_eq!(ask(&mut driver, &token)["run"], written(&read("0.1x3").unwrap()));
}

#[test]
fn predicates_mean_what_they_say() {
    let mut chain = World::new(3, Rules { crashes: 1, ..Rules::default() }, |site| Chain::new(site, 3, 1)).unwrap();
    let mut state = chain.initial();
    let run = read("0x2.1x4.2c").unwrap(); // p0 is inside, p1 waits at slot2.5... p2 cannot crash outside
    for &action in &run {
        let _ = chain.act(&mut state, action).unwrap();
    }
    for (text, so) in [
        ("p0@inside", true),
        ("p1@inside || p0@inside && p2@outside", true),
        ("!(p0@inside)", false),
        ("count@inside == 1", true),
        ("count@inside=1 && count@entry = 1 && count@outside > 0", true),
        ("all@outside", false),
        ("any@crashed", false),
        ("p1@waits", true),
        ("p1@slot1.5", true),
        ("p1@slot1.{2..4,6}", false),
        ("p1@{3,5}", true),
        ("p1@3..6", true),
        ("p1@6..9", false),
        ("slot1.X < 0", true),
        ("slot1.X == -1 && slot1.Q == p1", true),
        ("slot1.Q != p1", false),
        ("slot2.X >= slot1.X", true),
        ("  slot2.X>=slot1.X  ", true),
    ] {
        let predicate = Predicate::parse(text, chain.layout(), 3).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(predicate.holds(&mut chain, &state).unwrap(), so, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]
    /// Whatever is typed, the answer is a predicate or a place within the text.
    #[test]
    fn no_predicate_is_too_odd(words in prop::collection::vec(
        prop::sample::select(vec![
            "p1", "p9", "@", "8", "slot1", ".", "..", "{", "}", ",", "(", ")", "!", "&&", "||", "&", "<", "<=", "==", "=",
            "X", "Q", "[", "]", "count", "any", "inside", "waits", "none", "true", "-", "3", "99999999999999999999", " ", "é", "\u{1f600}",
        ]), 0..12)
    ) {
        let text = words.concat();
        let chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
        if let Err(error) = Predicate::parse(&text, chain.layout(), 2) {
            prop_assert!(error.at <= text.chars().count(), "{text:?}: {error}");
        }
    }
}

#[test]
fn nesting_has_an_end() {
    let chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
    for odd in ["(", "!"] {
        let error = Predicate::parse(&odd.repeat(1_000_000), chain.layout(), 2).unwrap_err();
        assert!(error.message.contains("too deeply"), "{error}");
    }
    assert!(Predicate::parse(&format!("{}X = 0{}", "(".repeat(50), ")".repeat(50)), chain.layout(), 2).is_ok());
}

#[test]
fn malformed_predicates_are_answered_with_the_place() {
    let chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1)).unwrap();
    for (text, at, says) in [
        ("p0@9..1", 7, "write 1..9"),
        ("p0@99999", 3, "there is no such statement"),
        ("X = 99999999999999999999999999999999999999999999", 4, "too large"),
        ("", 0, "a value is missing"),
        ("X <", 3, "a value is missing"),
        ("X < && p1@5", 4, "a value is missing"),
        ("Y > 0", 0, "there is no variable \"Y\"; there are slot1.X, slot1.Q"),
        ("X > 0 p1@5", 6, "does not belong here"),
        ("(X > 0", 6, "a ) is missing"),
        ("p5@3", 0, "there is no p5"),
        ("q1@3", 0, "is not a process"),
        ("p1@slot9.3", 3, "there is no part \"slot9\""),
        ("p1@nowhere", 3, "is not a place"),
        ("p1@", 3, "a statement number is missing"),
        ("p1@{3", 5, "expected , or }"),
        ("Q < p1", 1, "only numbers have an order"),
        ("5", 1, "compare this with something"),
        ("X = 0 && Q = p7", 13, "there is no p7"),
        ("X = 0 & Q = p1", 6, "does not belong here"),
    ] {
        let error = Predicate::parse(text, chain.layout(), 2).unwrap_err();
        assert!(error.at == at && error.message.contains(says), "{text:?}: {error}");
    }
}

/// A page of `ya-two` that runs until the tests end: its host, and its path.
fn served(patience: Duration) -> (String, String) {
    let (to, url) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let page = Page::new(0, || Ok(driver_of("ya-two"))).unwrap().with_patience(patience);
        to.send(page.url()).unwrap();
        page.run();
    });
    let url = url.recv().unwrap();
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    (host.to_owned(), format!("/{path}"))
}

/// A request has to arrive as a whole: bytes that keep coming do not buy more time.
#[test]
fn a_request_that_drips_is_given_up() {
    let (host, path) = served(Duration::from_millis(300));
    for begin in ["GET / HTTP/1.1\r\n".to_owned(), format!("POST {path}ask HTTP/1.1\r\nHost: {host}\r\nX: ")] {
        let mut slow = TcpStream::connect(&host).unwrap();
        slow.write_all(begin.as_bytes()).unwrap();
        slow.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let gone = (0..2000).any(|_| {
            let sent = slow.write_all(b"x");
            let read = slow.read(&mut [0; 64]);
            let waits = matches!(&read, Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut));
            sent.is_err() || !waits
        });
        assert!(gone, "{begin}");
    }
    // A request that comes at once is answered.
    let mut page = TcpStream::connect(&host).unwrap();
    page.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
