//! An algorithm of one's own: tokens, reports, words, bounds and hints, as for the catalogue's.

use doorway_check::prelude::*;
use doorway_check::property::holds;
use doorway_check::replay::TokenError;
use doorway_check::sim::{Rules, SimVar, TextError, World};
use std::panic::{AssertUnwindSafe, catch_unwind};

lock! {
    /// Peterson 1981; in the variant a process gives way first.
    struct Peterson(turn_first: bool): ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    acquire(self, p) {
        let (me, rival) = (p.pid().index(), 1 - p.pid().index());
        if self.turn_first {
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
        }
        p.at(1).write(&self.flag[me], true).await?;
        if !self.turn_first {
            p.at(2).write(&self.turn, Pid::new(rival)).await?;
        }
        p.mark(Mark::DoorwayEnds);
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

fn peterson(turn_first: bool) -> Check {
    Check::lock("my peterson/1", 2, move |site| Peterson::new(site, turn_first))
}

#[test]
fn a_token_survives_any_name_and_notices_that_the_text_has_changed() {
    let both = "never both, at once/ever";
    let claim = || Property::never(both, |v| v.inside() > 1);
    let variant = peterson(true).property(claim());
    let report = variant.run().unwrap();
    let token = report.verdict(both).token.as_ref().unwrap().to_string();
    assert!(!token.contains(' ') && token.starts_with("dw1/own:my%20peterson%2f1/2,1/"), "{token}");
    let again = variant.replay(&token).unwrap();
    assert!(again.breaks);
    assert_eq!(Some(&again.trace), report.verdict(both).trace.as_ref());
    // The right algorithm under the same name.
    assert_eq!(peterson(false).property(claim()).replay(&token), Err(TokenError::Stale(None)));
    let unclaimed = peterson(true).replay(&token).unwrap_err();
    assert!(matches!(unclaimed, TokenError::NoProperty { .. }), "{unclaimed}");
    let catalogue = token.parse::<doorway_check::replay::Token>().unwrap().replay().unwrap_err().to_string();
    assert!(catalogue.contains("Check::replay"), "{catalogue}");
}

#[test]
fn a_report_is_printed_and_becomes_json() {
    let report = peterson(true).mutex().run().unwrap();
    let text = report.to_string();
    let token = report.failure().unwrap().token.as_ref().unwrap();
    assert!(text.starts_with("my peterson/1\nn=2, atomic registers, no crashes, passages: unbounded\n"), "{text}");
    assert!(text.contains("  mutual-exclusion  FAILS after 7 steps"), "{text}");
    assert!(text.contains(&format!("\nreplay {token}\n")), "{text}");
    assert!(text.contains("NOT complete: stopped at the first failure"), "{text}");
    let json = report.json();
    assert_eq!(json["algorithm"], "my peterson/1");
    assert_eq!(json["properties"][0]["replay"], token.to_string());
    assert_eq!(json["properties"][0]["trace"]["steps"].as_array().unwrap().len(), 7);
}

#[test]
fn bounds_find_the_exact_maximum() {
    let report = peterson(false)
        .property(Property::bounded_overtaking("overtaken", 1))
        .property(Property::overtaking("overtaken as soon as it begins", None, |v, p| v.phase(p) == Phase::Entry))
        .property(Property::own_steps("out", 1, |v, p| v.phase(p) == Phase::Inside))
        .with(|explorer| explorer.keep_going(true))
        .run()
        .unwrap();
    let overtaken = report.verdict("overtaken");
    assert_eq!((overtaken.holds, overtaken.most), (Some(true), Some(Worst::Bounded(1))));
    let shown = overtaken.trace.as_ref().unwrap();
    assert!(shown.steps.iter().any(|step| step.now == Some("inside")), "{shown}");
    let early = report.verdict("overtaken as soon as it begins");
    assert_eq!((early.holds, early.most), (Some(true), Some(Worst::Bounded(1))));
    assert_eq!(report.verdict("out").most, Some(Worst::Bounded(1)));
    assert!(report.to_string().contains("overtaken                       holds: the most is 1"), "{report}");

    // A process that has given way, and has not yet announced itself, can be passed for ever.
    let begun = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry;
    let variant = peterson(true).property(Property::overtaking("overtaken", None, begun)).run().unwrap();
    let verdict = variant.verdict("overtaken");
    assert_eq!((verdict.holds, verdict.most), (Some(false), Some(Worst::Unbounded)));
    assert!(verdict.trace.as_ref().unwrap().repeats_from.is_some());
    assert!(variant.to_string().contains("overtaken  FAILS for ever: there is no bound"), "{variant}");

    let never = peterson(false).property(Property::bounded_overtaking("never overtaken", 0)).run().unwrap();
    let verdict = never.verdict("never overtaken");
    assert_eq!((verdict.holds, verdict.most), (Some(false), Some(Worst::Bounded(1))));
    assert!(
        peterson(false)
            .property(Property::bounded_overtaking("never overtaken", 0))
            .replay(&verdict.token.as_ref().unwrap().to_string())
            .unwrap()
            .breaks
    );
}

#[test]
fn two_kinds_of_steps_are_counted_apart() {
    let inside = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry && v.past_doorway(p);
    let lowers = |i: usize| move |was: &View<'_>, is: &View<'_>| was.get_at("flag", i) && !is.get_at::<bool>("flag", i);
    let report = peterson(false)
        .property(Property::at_most("p0 leaves", None, inside, lowers(0)))
        .property(Property::at_most("nothing", 0, inside, |_, _| false))
        .property(Property::at_most("someone leaves", None, inside, move |was, is| {
            lowers(0)(was, is) || lowers(1)(was, is)
        }))
        .run()
        .unwrap();
    let most = |name: &str| report.verdict(name).most;
    // p0 leaves, having been inside at first or having entered once, and p1 is next.
    assert_eq!(most("nothing"), Some(Worst::Bounded(0)));
    assert_eq!(most("p0 leaves"), most("someone leaves"));
    assert_eq!(most("p0 leaves"), Some(Worst::Bounded(1)));
}

#[test]
fn a_formula_says_not_twice_too() {
    let inside = |p: usize| holds(format!("p{p} inside"), move |v| v.phase(p) == Phase::Inside);
    let not_twice = move |from: u16| {
        let waits =
            move |p: usize| holds(format!("p{p} waits"), move |v| v.at(p, from..=4) && v.phase(p) == Phase::Entry);
        Property::ltl_each("not twice", move |p| {
            let other = inside(1 - p);
            let once = other.clone().not().unless(other.clone().unless(other.not().unless(inside(p))));
            waits(p).implies(once).always()
        })
    };
    // Before statement 2 the other may be inside, leave, and be let in once more.
    peterson(false).property(not_twice(3)).run().unwrap().assert_holds();
    let early = peterson(false).property(not_twice(2));
    let report = early.run().unwrap();
    let token = report.failure().unwrap().token.as_ref().unwrap().to_string();
    assert!(early.replay(&token).unwrap().breaks);
}

#[test]
fn overtaking_of_nobody_is_not_decided() {
    let nobody = Property::overtaking("overtaken", 0, |v, p| v.at(p, 99));
    let report = peterson(false).property(nobody).run().unwrap();
    let verdict = report.verdict("overtaken");
    assert_eq!((verdict.holds, verdict.vacuous), (None, Some("no process waits where the property says")));
}

lock! {
    /// Two flags and no turn: both can wait for ever.
    struct Polite: ReadWrite { flag: [bool; 2] = false, door: bool = true }
    acquire(self, p) {
        let rival = 1 - p.pid().index();
        p.at(1).write(&self.flag[p.pid().index()], true).await?;
        p.spin_until(|| async {
            let may = p.at(2).read(&self.door).await? && !p.at(3).read(&self.flag[rival]).await?;
            Ok(may.then_some(()))
        })
        .await?;
    }
    release(self, p) {
        p.at(4).write(&self.flag[p.pid().index()], false).await?;
    }
}

#[test]
fn a_deadlock_says_what_each_process_waits_for() {
    let report = Check::lock("polite", 2, Polite::new).mutex().run().unwrap();
    let failure = report.failure().unwrap();
    assert_eq!(failure.name, "never-stuck");
    let text = failure.trace.as_ref().unwrap().to_string();
    let end = " end  p0 waits at 2 (door = true, flag[1] = true), p1 waits at 2 (door = true, flag[0] = true)";
    assert!(text.ends_with(end), "{text}");
}

lock! {
    /// Tickets without a bound.
    struct Tickets: FetchAdd { next: u64 = 0, serving: u64 = 0 }
    acquire(self, p) {
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        p.at(2).wait_until(&self.serving, |now| now == mine).await?;
    }
    release(self, p) {
        p.at(3).fetch_add(&self.serving, 1).await?;
    }
}

#[test]
fn variables_that_grow_for_ever_are_named() {
    let tickets = Check::lock("tickets", 2, Tickets::new).mutex();
    let report = tickets.clone().with(|explorer| explorer.max_states(2000)).run().unwrap();
    let names: Vec<&str> = report.growing.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["next", "serving"]);
    assert!(report.to_string().contains("next seems to grow for ever"), "{report}");
    // Bounded, nothing grows, and the search ends.
    let bounded = tickets.with(|explorer| explorer.passages(3)).run().unwrap();
    bounded.assert_holds();
    assert!(bounded.growing.is_empty());
    // Nor does anything grow where a search is merely cut off.
    let cut = peterson(false).mutex().with(|explorer| explorer.max_states(20)).run().unwrap();
    assert!(!cut.complete && cut.growing.is_empty(), "{cut}");
}

#[derive(Clone, Copy, PartialEq, Debug, Word)]
enum Fork {
    Free,
    Taken { by: Pid, clean: bool },
}

lock! {
    struct Forks: CompareSwap { fork: Fork = Fork::Free, seen: (bool, u8) = (false, 7) }
    acquire(self, p) {
        let mine = Fork::Taken { by: p.pid(), clean: true };
        p.spin_until(|| async {
            Ok(p.at(1).compare_swap(&self.fork, Fork::Free, mine).await?.is_ok().then_some(()))
        })
        .await?;
    }
    release(self, p) {
        p.at(2).write(&self.seen, (true, 8)).await?;
        p.at(3).write(&self.fork, Fork::Free).await?;
    }
}

#[test]
fn words_by_derive_are_shown_by_their_names() {
    let clean = |v: &View<'_>| matches!(v.get::<Fork>("fork"), Fork::Taken { clean: true, .. });
    let check = Check::lock("forks", 2, Forks::new)
        .mutex()
        .property(Property::always("clean", move |v| v.inside() == 0 || clean(v)))
        .property(Property::never("seen", |v| v.get::<(bool, u8)>("seen").0))
        .with(|explorer| explorer.keep_going(true));
    let report = check.run().unwrap();
    assert_eq!(report.verdict("clean").holds, Some(true));
    assert_eq!(report.verdict("mutual-exclusion").holds, Some(true));
    let text = report.verdict("seen").trace.as_ref().unwrap().to_string();
    assert!(text.contains("fork = Taken { by: p0, clean: true }"), "{text}");
    assert!(text.contains("seen = (true, 8)"), "{text}");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Word)]
enum Colour {
    Red,
    Green,
    Blue,
}

#[test]
fn a_safe_register_returns_any_value_of_a_small_type() {
    use doorway_check::sim::World;
    // p0 writes Green over Red while p1 reads: safe registers may return Blue.
    let check = |force: Register| {
        Check::of("colours", 2, move |rules| {
            World::of_programs(
                2,
                rules,
                |site| site.var("colour", Colour::Red),
                |colour, p| async move {
                    let here = p.on(Sim::ROOT);
                    if p.pid().index() == 0 {
                        let Ok(()) = here.at(1).write(&colour, Colour::Green).await;
                    } else {
                        let Ok(seen) = here.at(2).read(&colour).await;
                        here.shows("seen", seen);
                        let Ok(_) = here.at(3).read(&colour).await;
                    }
                },
            )
        })
        .with(move |explorer| explorer.passages(1).registers(force).force_registers(true))
        .property(Property::sometimes("blue", |v| v.shown::<Colour>(1, "seen") == Some(Colour::Blue)))
    };
    assert_eq!(check(Register::Safe).run().unwrap().verdict("blue").holds, Some(true));
    assert_eq!(check(Register::Regular).run().unwrap().verdict("blue").holds, Some(false));
}

/// The verdict of one of two properties would stand for both, and so would the value of a variable.
#[test]
fn nothing_is_found_by_a_name_that_two_have() {
    let twice = peterson(false).mutex().property(Property::exclusion("mutual-exclusion", 2));
    assert_eq!(twice.run().unwrap_err(), TextError::SameName("mutual-exclusion".into()));

    let build = |site: &Site<'_, Sim>| -> [SimVar<u64>; 2] { [site.var("x", 0), site.var("x", 0)] };
    let world = World::of_programs(1, Rules::with_passages(Some(1)), build, |xs, p| async move {
        let Ok(()) = p.on(Sim::ROOT).at(1).write(&xs[1], 1).await;
    });
    let asked = Explorer::new(1).property(Property::always("x is 0", |v| v.get::<u64>("x") == 0));
    let panic = catch_unwind(AssertUnwindSafe(|| asked.explore(world.unwrap()))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "two variables are called x; rename one");
}

#[test]
fn nothing_holds_of_no_process() {
    let none = Check::lock("none", 0, |site| Peterson::new(site, false)).mutex();
    assert_eq!(none.run().unwrap_err(), TextError::NoProcess);
}

#[test]
fn a_name_may_be_longer_than_a_line() {
    let name = "never ".repeat(20_000);
    let report = peterson(false).property(Property::exclusion(name.clone(), 1)).run().unwrap();
    assert!(report.to_string().contains(&name));
}
