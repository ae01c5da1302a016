//! Texts that say nothing about which of their locals matter, or say something wrong.
//!
//! `examples/classics/tests/plain` compares the plain loops of the gallery with texts that say it.

use doorway_check::explore::thousands;
use doorway_check::sim::{Keep, Part, Rules, Sim, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::{Process, Site};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What `x` was decides what is done to `y`, some accesses later. Between them the text remembers
/// it, somewhere.
struct Vars {
    x: SimVar<bool>,
    y: SimVar<bool>,
    /// Where no text should have anything.
    hidden: Cell<bool>,
    scratch: RefCell<Vec<bool>>,
}

fn remembers<F>(keep: Keep, accesses: usize, remember: impl Fn(&Vars, bool) -> F + Copy + 'static) -> Report
where
    F: Fn(&Vars) -> bool + 'static,
{
    let build = |site: &Site<'_, Sim>| Vars {
        x: site.var("x", false),
        y: site.var("y", false),
        hidden: Cell::new(false),
        scratch: RefCell::new(vec![false]),
    };
    let text = move |vars: Rc<Vars>, p: Process<Sim>| async move {
        let here = p.on(Part::ROOT);
        if p.pid().index() == 0 {
            let Ok(()) = here.at(1).write(&vars.x, true).await;
            return;
        }
        let Ok(saw) = here.at(2).read(&vars.x).await;
        let remembered = remember(&vars, saw);
        for _ in 0..accesses {
            let Ok(_) = here.at(3).read(&vars.y).await;
        }
        if remembered(&vars) {
            let Ok(()) = here.at(4).write(&vars.y, true).await;
        }
    };
    let world = World::of_programs(2, Rules { keep, ..Rules::with_passages(Some(1)) }, build, text).unwrap();
    Explorer::new(2).property(Property::always("y is down", |v| !v.get::<bool>("y"))).explore(world).unwrap()
}

/// Each of these texts can raise `y`. A search that took its local states for one, whatever the
/// text remembers, would say that none does.
#[test]
fn what_a_text_remembers_elsewhere_is_not_overlooked() {
    for accesses in [1, 2, 7] {
        for keep in [Keep::Trusted, Keep::Ignored] {
            let raises = |report: Report| assert_eq!(report.verdicts[0].holds, Some(false), "{accesses} {keep:?}");
            raises(remembers(keep, accesses, |_, saw| move |_: &Vars| saw));
            // On the heap, always in the same number of bytes.
            raises(remembers(keep, accesses, |_, saw| {
                let list: Vec<bool> = std::iter::repeat_n(saw, 3).collect();
                move |_: &Vars| list[1]
            }));
            raises(remembers(keep, accesses, |_, saw| {
                let boxed: Box<dyn Fn() -> bool> = Box::new(move || saw);
                move |_: &Vars| boxed()
            }));
            // In what all runs share: within it, or behind a pointer.
            raises(remembers(keep, accesses, |vars, saw| {
                vars.hidden.set(saw);
                |vars: &Vars| vars.hidden.get()
            }));
            raises(remembers(keep, accesses, |vars, saw| {
                vars.scratch.borrow_mut()[0] = saw;
                |vars: &Vars| vars.scratch.borrow()[0]
            }));
        }
    }
}

/// A search that only counts states is told of a wrong `keep` too, and so is the search for the
/// worst passage: see [`bad_keep`](crate::bad_keep) for runs that the text cannot make.
#[test]
fn no_verdict_rests_on_a_wrong_keep() {
    let search = |asks: Vec<Property>, forgets: bool| {
        let text = move |x: Rc<SimVar<bool>>, p: Process<Sim>| async move {
            let here = p.on(Part::ROOT);
            if p.pid().index() == 0 {
                let Ok(()) = here.at(1).write(&x, true).await;
                return;
            }
            // A retry loop, which has no end without `keep`.
            loop {
                here.keep(2, &());
                let Ok(saw) = here.at(2).read(&x).await;
                here.keep(3, &(saw && !forgets));
                let Ok(_) = here.at(3).read(&x).await;
                if saw {
                    break;
                }
            }
            let Ok(()) = here.at(4).write(&x, false).await;
        };
        let world = World::of_programs(2, Rules::with_passages(Some(1)), |site| site.var("x", false), text).unwrap();
        Explorer::new(2).properties(asks).explore(world)
    };
    let asks: [fn() -> Vec<Property>; 3] = [
        Vec::new,
        || vec![Property::always("stays up", |v| v.phase(0) != doorway_check::sim::Phase::Exit)],
        || vec![Property::sometimes("down again", |v| v.at(1, 4) && v.get::<bool>("x"))],
    ];
    for asks in asks {
        let honest = search(asks(), false).unwrap();
        assert!(honest.verdicts.iter().all(|v| v.holds == Some(true)) && honest.cross_checked.is_none());
        let wrong = search(asks(), true);
        assert!(matches!(wrong, Err(TextError::KeepHides { label: 3, .. })), "{wrong:?}");
    }
}

/// A text of many statements, each of which may see several values. What the first has seen
/// matters at the last. From statement `forgets` on, `keep` omits it at one statement.
fn long(statements: u16, forgets: u16) -> Result<Report, TextError> {
    let text = move |vars: Rc<(SimVar<u8>, SimVar<bool>)>, p: Process<Sim>| async move {
        let (here, (x, y)) = (p.on(Part::ROOT), &*vars);
        if p.pid().index() == 0 {
            for value in 1..4 {
                let Ok(()) = here.at(value).write(x, value as u8).await;
            }
            return;
        }
        let Ok(first) = here.at(1).read(x).await;
        let mut last = first;
        for statement in 2..statements {
            here.keep(statement, &(if statement == forgets { 0 } else { first }, last));
            let Ok(saw) = here.at(statement).read(x).await;
            last = saw;
        }
        here.keep(statements, &(first == 3));
        if first == 3 {
            let Ok(()) = here.at(statements).write(y, true).await;
        }
    };
    let build = |site: &Site<'_, Sim>| (site.var("x", 0u8), site.var("y", false));
    let world = World::of_programs(2, Rules::with_passages(Some(1)), build, text).unwrap();
    Explorer::new(2).explore(world)
}

/// The check follows each merged local state at least once to the end of the passage, however long
/// that is.
#[test]
fn a_wrong_keep_deep_in_a_long_text_is_found() {
    assert_eq!(long(100, 0).unwrap().cross_checked, None, "all was compared");
    let wrong = long(100, 58);
    assert!(matches!(wrong, Err(TextError::KeepHides { label: 58, later: 99, .. })), "{wrong:?}");
}

/// Behind so many accesses nothing is compared; and the report says so.
#[test]
fn what_was_not_compared_is_said() {
    let report = long(400, 350).unwrap();
    let checked = report.cross_checked.unwrap();
    assert!(!checked.all && checked.compared < checked.merged, "{checked:?}");
    let [compared, merged] = [checked.compared, checked.merged].map(|many| thousands(many as u64));
    let said = format!("(NOT all there are); {compared} of {merged} were compared");
    assert!(report.to_string().contains(&said), "{report}");
    assert_eq!(report.json()["cross_checked"]["compared"], checked.compared);
}
