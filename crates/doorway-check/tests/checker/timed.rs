//! Machines on which an access takes time.

use doorway_check::sim::{Rules, World};
use doorway_check::subject;
use doorway_check::timed::{BUS, Extra, Machine, Run, TC2000, Work};

fn world(id: &str, n: usize) -> World {
    let subject = subject::find(id).unwrap();
    let sizes = subject.sizes(Some(n), None).unwrap();
    subject.world(sizes, Rules { sparse: true, ..Rules::default() }).unwrap()
}

fn exactly(passages: u64, work: Work) -> Run {
    Run { passages, work, jitter_percent: 0, seed: 1 }
}

const NOTHING: Work = Work { references: 0, stays: 0, away: [0, 0] };

/// One access to get in, one to get out.
#[test]
fn alone_a_passage_takes_the_sum_of_its_accesses() {
    let tas = |machine, work| exactly(100, work).on(world("tas", 1), machine).unwrap().per_passage;
    assert_eq!(tas(TC2000, NOTHING), 4.0, "the bit is with another processor");
    assert_eq!(tas(Machine { processors: 1, ..TC2000 }, NOTHING), 1.2, "the only processor has the only memory");
    assert_eq!(tas(BUS, NOTHING), 0.25, "all in its cache");
    assert_eq!(tas(BUS, Work { stays: 1000, ..NOTHING }), 1.25);
    assert_eq!(tas(BUS, Work::SMALL), 0.25 + 3.0 * 0.125);
    let away = tas(BUS, Work { away: [1000, 3000], ..NOTHING });
    assert!((1.75..2.75).contains(&away), "2 us on average: {away}");
}

/// What depends on earlier passages: every second passage is longer, and so is what follows it.
#[test]
fn passages_can_take_extra_time() {
    let asked = &mut 0;
    let mut extras = |p: usize, passages: u64| {
        assert_eq!((p, passages), (0, *asked));
        *asked += 1;
        if passages.is_multiple_of(2) { Extra { stays: 1000, away: 2000 } } else { Extra::default() }
    };
    let outcome = exactly(100, NOTHING).on_with(world("tas", 1), BUS, &mut extras).unwrap();
    assert_eq!(outcome.per_passage, 0.25 + 3.0 / 2.0);
    assert_eq!(*asked, 110, "the first tenth does not count");
}

/// Two memories: the bit lies with the second process, and the first crosses the network twice for
/// each passage.
#[test]
fn far_references_are_counted_and_take_longer() {
    let outcome = exactly(1000, Work { away: [1_000_000; 2], ..NOTHING })
        .on(world("tas", 2), Machine { processors: 2, ..TC2000 });
    let outcome = outcome.unwrap();
    assert_eq!(outcome.passages.iter().sum::<u64>(), 1000);
    assert!((outcome.far_references - 1.0).abs() < 0.1, "two for every second passage: {outcome:?}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_fifo_gives_equal_shares() {
    let run = || Run::of_passages(3000).on(world("mcs", 8), TC2000).unwrap();
    assert_eq!(run(), run());
    assert!(run().share() > 0.9 && run().handed_over > 0.9, "{:?}", run());
}

#[test]
fn many_that_spin_in_one_memory_are_in_each_others_way() {
    let time = |n| Run::of_passages(1000).on(world("tas", n), TC2000).unwrap().per_passage;
    assert!(time(32) > 2.0 * time(4), "{} {}", time(32), time(4));
}
