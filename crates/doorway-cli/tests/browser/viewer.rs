//! The page of a run.

use crate::chromium::{Chromium, Page};
use crate::kit::code;

/// A starvation of 147 steps with torn reads, of which 94 repeat for ever.
const STARVES: &str = "dw1/dgs-as-printed/2,1/-/c0/safe!/starvation-free/0.1x22.1s1.1s0.1s1.1s0.0x14.1.0s0.0x6.1x4.0s0.1x10.\
                       0s0.1x2.0s0.0x5.1x9.1s0.0x5.1x8.0s0.0s1x2.0.0s0.1x10.0s1.1x2.0s0.0x5.1x9.1s1.0x5.1x8.0s0.0s1x2.0@53/52c2031a";
const CRASHES: &str = "dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a12";

fn step(page: &mut Page<'_>) -> i64 {
    page.eval("viewer.step").as_i64().unwrap()
}

#[test]
fn a_run_is_stepped_through_by_keyboard_and_mouse() {
    let Some(mut browser) = Chromium::start("the viewer by keyboard and mouse") else { return };
    let file = browser.folder().join("run.html");
    assert_eq!(code(&format!("replay {CRASHES} --html {}", file.display())), 0);
    let mut page = browser.open(&format!("file://{}#step=2", file.display()));

    // The link names the step.
    assert_eq!(step(&mut page), 2);
    assert!(page.text("#now").contains("crashes"), "{}", page.text("#now"));
    assert!(page.text("[data-process='0']").contains("crashed"));
    assert!(page.text("#verdict").contains("breaks never-stuck"));

    // Keys.
    page.key("ArrowRight");
    assert_eq!(step(&mut page), 3);
    assert_eq!(page.text(".variable.changed b"), "0");
    assert!(page.text("[data-process='1']").contains("inside"));
    page.key("ArrowLeft");
    page.key("ArrowLeft");
    assert_eq!(step(&mut page), 1);
    assert_eq!(page.eval("location.hash"), "#step=1");
    page.key("End");
    assert_eq!(step(&mut page), 7);
    assert!(page.text("[data-process='2']").contains("waits on slot2.Q = p2"));
    assert_eq!(page.text(".claim.no"), "never-stuck");
    page.key("Home");
    assert_eq!(step(&mut page), 0);
    page.key("?");
    assert_eq!(page.eval("document.getElementById('help').open"), true);
    page.key("ArrowRight");
    assert_eq!(step(&mut page), 0, "the help is open");
    page.eval("document.getElementById('help').close()");

    // The mouse.
    page.click("#forward");
    page.click("#forward");
    assert_eq!(step(&mut page), 2);
    page.click("#back");
    assert_eq!(step(&mut page), 1);
    page.click("#lanes [data-step='5'] .pill");
    assert_eq!(step(&mut page), 5);
    page.click("#number");
    page.eval("document.getElementById('number').select()");
    page.types("6");
    page.key("Enter");
    page.eval("document.getElementById('number').blur()");
    assert_eq!(step(&mut page), 6);
    page.click("#overview svg");
    assert!((2..=5).contains(&step(&mut page)), "the middle of the run");

    // The statement, in the source and in the cost.
    page.eval("viewer.go(6)");
    assert!(page.text("#lines .done").contains("p.at(3)"), "{}", page.text("#lines .done"));
    assert_eq!(
        page.eval("[...document.querySelectorAll('#lines .chip')].map((c) => c.textContent).join()"),
        "p2@4,p0@6,p1@6"
    );
    assert_eq!(page.text("[data-process='2'] .cost"), "CC 2 · DSM 2");
    assert_eq!(page.eval("document.querySelectorAll('#lanes [data-step] .pill[fill=\"var(--bad)\"]').length"), 2);

    // What an invariant says, from the text's own page.
    page.click("[data-claim='I3']");
    assert!(page.text("#meaning").starts_with("I3: X < 0 implies some p@3"), "{}", page.text("#meaning"));

    // Playing ends at the end.
    page.eval("viewer.go(6)");
    page.key(" ");
    page.until("viewer.step === 7");
    page.screenshot("crashes");
    page.assert_no_errors();
}

#[test]
fn a_long_lasso_is_readable_wide_and_narrow() {
    let Some(mut browser) = Chromium::start("the viewer, wide and narrow") else { return };
    let file = browser.folder().join("run.html");
    assert_eq!(code(&format!("replay {STARVES} --html {}", file.display())), 0);
    let mut page = browser.open(&format!("file://{}#step=54", file.display()));
    assert_eq!(page.text("#total"), "147");
    assert!(page.text("#now").contains("torn"));
    assert!(page.text("#fair").contains("p0 takes 34 steps a round, and never gets on"), "{}", page.text("#fair"));
    assert_eq!(page.eval("Boolean(document.getElementById('loop'))"), true);
    page.key("ArrowRight");
    page.eval("viewer.go(60)");
    assert!(page.text(".variable.half").contains("half-written: p1 writes true"));
    for (width, height, dark) in [(1400, 900, false), (1000, 800, true), (390, 844, false), (320, 640, true)] {
        page.size(width, height);
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        page.eval("viewer.go(60)");
        assert!(!page.overflows(), "{width} pixels are too few");
        assert_eq!(page.too_faint(), Vec::<String>::new(), "{width}, dark: {dark}");
        page.screenshot(&format!("lasso-{width}{}", if dark { "-dark" } else { "" }));
    }
    // A player goes round.
    page.eval("viewer.go(147)");
    page.click("#play");
    page.until("viewer.step > 53 && viewer.step < 60");
    page.assert_no_errors();
}

/// Crashes, torn reads and weak registers of three processes.
#[test]
fn a_run_with_crashes_and_torn_reads_is_readable() {
    let Some(mut browser) = Chromium::start("crashes and torn reads") else { return };
    let file = browser.folder().join("run.html");
    let token =
        "dw1/bakery/3,1/2/c2o/safe!/never-stuck/0.2.0.1.2.1x2.2.1.2x2.1c.2x2.0.2x2.0.2x3.0x2.2.2c.0x35/e12a7461";
    assert_eq!(code(&format!("replay {token} --html {}", file.display())), 0);
    let mut page = browser.open(&format!("file://{}#step=26", file.display()));
    for (width, height, dark) in [(1280, 860, false), (1280, 860, true), (390, 1900, false), (390, 1900, true)] {
        page.size(width, height);
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        assert!(!page.overflows(), "{width} pixels are too few");
        assert_eq!(page.too_faint(), Vec::<String>::new(), "{width}, dark: {dark}");
        page.screenshot(&format!("bakery-{width}{}", if dark { "-dark" } else { "" }));
    }
}

#[test]
fn a_state_graph_is_a_picture() {
    let Some(mut browser) = Chromium::start("the picture of a state graph") else { return };
    let file = browser.folder().join("graph.svg");
    assert_eq!(code(&format!("check mutant:am-chain-without-7 --svg {}", file.display())), 1);
    let mut page = browser.open(&format!("file://{}", file.display()));
    assert_eq!(page.eval("document.querySelectorAll('.node').length"), 36);
    assert_eq!(page.eval("document.querySelectorAll('.node.broken').length"), 2);
    page.screenshot("graph");
}
