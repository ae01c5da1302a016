//! Texts that remember something where they should not: in cells that all runs share, behind
//! handles and in tables outside, or from one failed turn of a wait to the next. No such text gets
//! a verdict that its plain loops would not.

use doorway_check::sim::{Keep, Part, Rules, Sim, SimVar, TextError, World};
use doorway_check::{Explorer, Property, Report};
use doorway_core::memory::{Process, Site};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::{Rc, Weak};

/// p0 counts `x` up to 3; p1 raises `z` if it remembers something that it saw there.
struct Vars {
    x: SimVar<u64>,
    y: SimVar<u64>,
    z: SimVar<u64>,
    cell: Cell<u64>,
    list: RefCell<Vec<u64>>,
}

fn search<F>(keep: Keep, text: impl Fn(Rc<Vars>, Process<Sim>) -> F + 'static) -> Result<Report, TextError>
where
    F: Future<Output = ()> + 'static,
{
    let build = |site: &Site<'_, Sim>| Vars {
        x: site.var("x", 0u64),
        y: site.var("y", 0u64),
        z: site.var("z", 0u64),
        cell: Cell::new(0),
        list: RefCell::new(vec![0]),
    };
    let text = Rc::new(text);
    let body = move |vars: Rc<Vars>, p: Process<Sim>| {
        let text = Rc::clone(&text);
        async move {
            if p.pid().index() == 1 {
                return text(vars, p).await;
            }
            for (at, x) in (1..).zip(1..=3) {
                let Ok(()) = p.on(Part::ROOT).at(at).write(&vars.x, x).await;
            }
        }
    };
    let world = World::of_programs(2, Rules { keep, ..Rules::with_passages(Some(1)) }, build, body)?;
    Explorer::new(2).property(Property::always("z is down", |v| v.get::<u64>("z") == 0)).explore(world)
}

fn raises<F>(name: &str, text: impl Fn(Rc<Vars>, Process<Sim>) -> F + Copy + 'static)
where
    F: Future<Output = ()> + 'static,
{
    for keep in [Keep::Trusted, Keep::Ignored] {
        let report = search(keep, text).unwrap();
        assert_eq!(report.verdicts[0].holds, Some(false), "{name}, {keep:?}: {report}");
    }
}

/// A text that raises `z` if it has seen 3 in `x`, by way of what it remembers.
macro_rules! remembers {
    ($name:literal, |$vars:ident, $saw:ident| $make:expr, |$kept:ident| $get:expr) => {
        raises($name, |$vars: Rc<Vars>, p: Process<Sim>| async move {
            let here = p.on(Part::ROOT);
            let $kept = {
                let Ok($saw) = here.at(10).read(&$vars.x).await;
                $make
            };
            let Ok(_) = here.at(11).read(&$vars.y).await;
            let Ok(_) = here.at(12).read(&$vars.y).await;
            if $get == 3 {
                let Ok(()) = here.at(13).write(&$vars.z, 1).await;
            }
        })
    };
}

thread_local! {
    static SLAB: RefCell<Vec<Option<u64>>> = const { RefCell::new(Vec::new()) };
    static TABLE: RefCell<Vec<(u64, Weak<u64>)>> = const { RefCell::new(Vec::new()) };
}

/// A number for a value, free again when it is dropped.
struct Handle(usize);

impl Handle {
    fn new(value: u64) -> Self {
        SLAB.with_borrow_mut(|slab| {
            let free = slab.iter().position(Option::is_none).unwrap_or(slab.len());
            slab.resize(slab.len().max(free + 1), None);
            slab[free] = Some(value);
            Self(free)
        })
    }

    fn get(&self) -> u64 {
        SLAB.with_borrow(|slab| slab[self.0].unwrap())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        SLAB.with_borrow_mut(|slab| slab[self.0] = None);
    }
}

/// One allocation for each value that is in use.
fn interned(value: u64) -> Rc<u64> {
    TABLE.with_borrow_mut(|table| {
        table.retain(|(_, known)| known.strong_count() > 0);
        let known = table.iter().find(|(key, _)| *key == value).and_then(|(_, known)| known.upgrade());
        known.unwrap_or_else(|| {
            let new = Rc::new(value);
            table.push((value, Rc::downgrade(&new)));
            new
        })
    })
}

#[repr(C, packed)]
struct Packed {
    _tag: u8,
    value: Box<u64>,
}

/// Only one of four values makes a difference, so two histories that go on alike prove nothing.
#[test]
fn one_value_of_four_is_not_overlooked() {
    remembers!("a local", |vars, saw| saw, |kept| kept);
    remembers!("a cell", |vars, saw| vars.cell.set(saw), |_kept| vars.cell.get());
    remembers!("a list", |vars, saw| vars.list.borrow_mut()[0] = saw, |_kept| vars.list.borrow()[0]);
    remembers!("a handle", |vars, saw| Handle::new(saw), |kept| kept.get());
    remembers!("a table", |vars, saw| interned(saw), |kept| *kept);
    remembers!("a box", |vars, saw| Box::new(saw), |kept| *kept);
    remembers!("a packed box", |vars, saw| Packed { _tag: 1, value: Box::new(saw) }, |kept| *{ kept.value });
    remembers!("a wide number", |vars, saw| u128::from(saw) << 64, |kept| kept >> 64);
    remembers!("a payload", |vars, saw| f64::from_bits(f64::NAN.to_bits() | saw), |kept| kept.to_bits() & 3);
    remembers!("a length", |vars, saw| vec![(); saw as usize], |kept| kept.len());
    remembers!("a large array", |vars, saw| [saw; 20_000], |kept| kept[1000]);
    remembers!("some or none", |vars, saw| (saw == 3).then_some((3u8, 0u64)), |kept| kept.map_or(0, |kept| kept.0));
}

#[test]
fn a_count_in_a_cell_is_not_overlooked() {
    for most in [2, 5, 40] {
        raises("a loop", move |vars: Rc<Vars>, p: Process<Sim>| async move {
            let here = p.on(Part::ROOT);
            vars.cell.set(0);
            loop {
                let Ok(x) = here.at(10).read(&vars.x).await;
                if x == 3 {
                    break;
                }
                vars.cell.set(vars.cell.get() + 1);
                if vars.cell.get() > most {
                    let Ok(()) = here.at(11).write(&vars.z, 1).await;
                    break;
                }
            }
        });
    }
}

/// A failed turn leads back to the loop head, and what it remembers is lost there. So a wait that
/// ends after some turns would be taken for one that never ends.
#[test]
fn no_turn_of_a_wait_remembers_another() {
    let waits = |keeps: bool, remembers: Rc<dyn Fn() -> Box<dyn Fn(u64) -> bool>>| {
        move |vars: Rc<Vars>, p: Process<Sim>| {
            let ok = remembers();
            async move {
                let here = p.on(Part::ROOT);
                if keeps {
                    here.keep(10, &());
                }
                let Ok(x) = here.at(10).wait_until(&vars.x, |x| x == 3 || ok(x)).await;
                if keeps {
                    here.keep(11, &x);
                }
                let Ok(_) = here.at(11).read(&vars.y).await;
                if x != 3 {
                    let Ok(()) = here.at(12).write(&vars.z, 1).await;
                }
            }
        }
    };
    for most in [1, 2, 5, 40, 600] {
        let counts: Rc<dyn Fn() -> Box<dyn Fn(u64) -> bool>> = Rc::new(move || {
            let turns = Cell::new(0);
            Box::new(move |_| turns.replace(turns.get() + 1) >= most)
        });
        for (keep, keeps) in [(Keep::Trusted, false), (Keep::Trusted, true), (Keep::Ignored, false)] {
            let error = search(keep, waits(keeps, Rc::clone(&counts))).unwrap_err();
            assert!(matches!(error, TextError::TurnRemembers { label: 10, .. }), "{most} {keep:?} {keeps}: {error}");
        }
    }
}

/// The same, if it takes two turns that see different values.
#[test]
fn no_turn_of_a_wait_remembers_what_another_saw() {
    for keeps in [false, true] {
        let text = move |vars: Rc<Vars>, p: Process<Sim>| async move {
            let (here, last) = (p.on(Part::ROOT), Cell::new(0));
            if keeps {
                here.keep(10, &());
            }
            let ok = |x| (x == 2 && last.get() == 1) | (last.replace(x) > 3) | (x == 3);
            let Ok(x) = here.at(10).wait_until(&vars.x, ok).await;
            if keeps {
                here.keep(11, &x);
            }
            let Ok(_) = here.at(11).read(&vars.y).await;
        };
        let error = search(Keep::Trusted, text).unwrap_err();
        assert!(matches!(error, TextError::TurnRemembers { label: 10, .. }), "{keeps}: {error}");
    }
}

/// What makes no difference may be remembered, and what is shown is not what is known.
#[test]
fn turns_that_go_on_alike_are_not_refused() {
    for keep in [Keep::Trusted, Keep::Ignored] {
        let counts = |vars: Rc<Vars>, p: Process<Sim>| async move {
            let (here, turns) = (p.on(Part::ROOT), Cell::new(0u64));
            let ok = |x| turns.replace(turns.get() + 1) == u64::MAX || x == 3;
            let Ok(_) = here.at(10).wait_until(&vars.x, ok).await;
        };
        search(keep, counts).unwrap().assert_holds();
        let shows = |vars: Rc<Vars>, p: Process<Sim>| async move {
            let (here, vars) = (p.on(Part::ROOT), &vars);
            let turn = || async move {
                let Ok(x) = here.at(10).read(&vars.x).await;
                here.shows("x", x);
                let Ok(y) = here.at(11).read(&vars.y).await;
                Ok((x == 3 && y == 0).then_some(()))
            };
            let Ok(()) = here.spin_until(turn).await;
        };
        search(keep, shows).unwrap().assert_holds();
    }
}

/// Turns are tried again while other threads look at states. A search without end still ends soon,
/// and with the same error whatever the number of threads.
#[test]
fn a_turn_that_remembers_ends_a_long_search() {
    let search = |threads: usize, keep: Keep| {
        let build = |site: &Site<'_, Sim>| [site.var("x", 0u64), site.var("y", 0u64)];
        let body = |vars: Rc<[SimVar<u64>; 2]>, p: Process<Sim>| async move {
            let ([x, y], here) = (&*vars, p.on(Part::ROOT));
            if p.pid().index() == 0 {
                // So many steps come first that there is enough to look at.
                for at in 1..=12 {
                    let Ok(_) = here.at(at).read(x).await;
                }
                let turns = Cell::new(0);
                let Ok(_) = here.at(20).wait_until(x, |_| turns.replace(turns.get() + 1) >= 600).await;
            } else if p.pid().index() == 1 {
                // The values have no end, so there is no survey.
                loop {
                    let Ok(so_far) = here.at(1).read(y).await;
                    let Ok(()) = here.at(2).write(y, so_far + 1).await;
                }
            } else {
                for at in 1..=9 {
                    let Ok(_) = here.at(at).read(x).await;
                }
            }
        };
        let rules = Rules { keep, ..Rules::default() };
        let world = World::of_programs(5, rules, build, body).unwrap();
        let steps = Cell::new(0u64);
        let explorer = Explorer::new(5).threads(threads).max_states(1_000_000).stop_when(|| {
            steps.set(steps.get() + 1);
            false
        });
        let error = explorer.explore(world).unwrap_err();
        (error, steps.get())
    };
    for keep in [Keep::Trusted, Keep::Ignored] {
        let (error, steps) = search(1, keep);
        assert!(matches!(error, TextError::TurnRemembers { label: 20, .. }), "{keep:?}: {error}");
        assert!(steps < 1_000_000, "{keep:?}: {steps}");
        assert!((2..=3).all(|threads| search(threads, keep) == (error.clone(), steps)), "{keep:?}");
    }
}
