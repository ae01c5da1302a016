//! Pictures of state graphs show what a search finds.

use doorway_check::picture::{DRAWN, StateGraph};
use doorway_check::sim::Rules;
use doorway_check::{Explorer, subject};

fn graph(id: &str, rules: Rules, most: usize) -> StateGraph {
    let subject = subject::find(id).unwrap();
    let sizes = subject.sizes(Some(2), Some(1)).unwrap();
    StateGraph::of(subject.world(sizes, rules).unwrap(), subject.claims(sizes), most).unwrap()
}

#[test]
fn every_state_and_step_is_drawn() {
    for (id, rules) in [
        ("am-chain", Rules::default()),
        ("am-chain", Rules { crashes: 1, passages: Some(1), ..Rules::default() }),
        ("mutant:am-chain-without-7", Rules::default()),
    ] {
        let subject = subject::find(id).unwrap();
        let world = subject.world(subject.sizes(Some(2), Some(1)).unwrap(), rules).unwrap();
        let report = Explorer::new(2).believe_keep(true).explore(world).unwrap();
        let graph = graph(id, rules, 10_000);
        assert!(graph.is_complete() && graph.states() <= DRAWN);
        let picture = graph.svg();
        assert_eq!(picture.matches("<g class=\"node").count(), report.states, "{id}");
        assert_eq!(picture.matches("class=\"edge").count() as u64, report.edges, "{id}");
    }
}

#[test]
fn terminal_and_violating_states_and_components_are_marked() {
    let once = graph("am-chain", Rules::with_passages(Some(1)), 10_000);
    let picture = once.svg();
    assert!(picture.contains(" terminal\"") && !picture.contains(" broken\""));
    assert!(once.summary().contains("each state is one by itself"), "{}", once.summary());

    let endless = graph("am-chain", Rules::default(), 10_000);
    assert!(!endless.svg().contains(" terminal\""));
    assert_eq!(endless.svg().matches("node c0").count(), 58, "every state can be reached from every other");
    assert!(endless.summary().contains("1 with more than one state, of 58 states"), "{}", endless.summary());

    let stuck = graph("mutant:am-chain-without-7", Rules::default(), 10_000);
    assert!(stuck.svg().contains(" broken\"") && stuck.svg().contains("breaks never-stuck"));
    assert!(stuck.summary().contains("the nearest after 5 steps breaks never-stuck"), "{}", stuck.summary());
}

#[test]
fn a_large_graph_is_summed_up() {
    let large = graph("ya-two", Rules::default(), 10_000);
    assert!(large.states() > DRAWN);
    assert!(!large.svg().contains("node") || !large.svg().contains("<g class"));
    assert!(large.svg().contains("672 states, all there are"), "{}", large.summary());
    let cut = graph("ya-two", Rules::default(), 100);
    assert!(!cut.is_complete() && cut.summary().contains("100 states, NOT all there are"));
    assert!(cut.summary().contains("nothing more happens: 0"), "states that were not followed are not terminal");
}
