//! The explorer: a machine that is driven in a browser.

use crate::chromium::{Chromium, Page};
use crate::kit::doorway;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// `doorway explore`, until it is dropped.
struct Explorer {
    child: Child,
    url: String,
}

impl Explorer {
    fn start(args: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
            .arg("explore")
            .args(args.split_whitespace())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    /// The host, and the path.
    fn parts(&self) -> (&str, &str) {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    /// The status of a request with these headers.
    fn status(&self, request: &str, headers: &[&str], body: &str) -> u16 {
        let mut stream = TcpStream::connect(self.parts().0).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let text = format!("{request} HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the page shows a run of this many steps, and what comes next.
fn settle(page: &mut Page<'_>, steps: usize) {
    page.until(&format!("viewer.record.steps.length === {steps} && viewer.step === {steps}"));
    page.until("document.querySelector('.choice')");
}

#[test]
fn a_machine_is_driven_by_mouse_and_keyboard() {
    let Some(mut browser) = Chromium::start("the explorer by mouse and keyboard") else { return };
    let explorer = Explorer::start("am-chain --n 2 --k 1 --crashes 1");
    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);
    assert_eq!(page.eval("document.querySelectorAll('.claim.no').length"), 0);

    // Step by mouse, step by key, and back.
    page.click(".choice[data-process='0'] .act.step");
    settle(&mut page, 1);
    assert!(page.text("[data-process='0'] .what").contains("inside"));
    page.key("1");
    settle(&mut page, 2);
    assert!(page.text("#now").contains("X -= 1, was 0"), "{}", page.text("#now"));
    page.click("#undo");
    settle(&mut page, 1);
    page.key("1");
    settle(&mut page, 2);
    page.key("u");
    settle(&mut page, 1);
    assert_eq!(page.eval("location.hash"), "#run=0&step=1");

    // Alone until it waits.
    page.click(".choice[data-process='1'] .alone");
    settle(&mut page, 4);
    page.until("document.getElementById('says').textContent.includes('it waits')");
    assert!(page.text("[data-process='1'] .what").contains("waits on slot1.Q = p1"));

    // A crash, by mouse: p1 waits for ever, which k - 1 = 0 crashes do not promise to avoid.
    page.click(".choice[data-process='0'] .act.crash");
    settle(&mut page, 5);
    assert!(page.text("[data-process='0'] .what").contains("crashed"));
    assert_eq!(page.text("[data-claim='never-stuck'].no"), "never-stuck");
    assert!(page.text(".choice[data-process='0']").contains("no step"));
    page.screenshot("explorer-crash");

    // From an earlier step, another choice: a crash by keys.
    page.key("Home");
    page.until("viewer.step === 0");
    page.until("document.querySelector('.choice[data-process=\"0\"] .act.step')");
    page.key("0");
    settle(&mut page, 1);
    page.key("c");
    page.key("0");
    settle(&mut page, 2);
    assert_eq!(page.eval("location.hash"), "#run=0.0c&step=2");
    // The browser's way back leads to the position before.
    page.eval("history.back()");
    settle(&mut page, 1);
    // Keys may come faster than answers.
    let all = "for (const key of ['u', '0', '1', '1', 'u', '1']) document.dispatchEvent(new KeyboardEvent('keydown', { key }))";
    page.eval(all);
    page.until("location.hash === '#run=0.1x2&step=3'");
    settle(&mut page, 3);
    // So may the browser's ways back and forward.
    page.eval(
        "(async () => { for (const way of [-1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1]) { history.go(way); \
         await new Promise((later) => setTimeout(later, 4)); } await new Promise((later) => setTimeout(later, 500)); })()",
    );
    page.until(
        "viewer.hash().run.split('.').filter(Boolean).map((word) => word.split('x')) \
         .flatMap(([action, times]) => Array(Number(times ?? 1)).fill(action)).join() \
         === viewer.record.steps.map((moved) => moved.action).join()",
    );
    page.assert_no_errors();
}

#[test]
fn searches_find_shortest_ways_and_say_where_a_predicate_is_wrong() {
    let Some(mut browser) = Chromium::start("searches of the explorer") else { return };
    let explorer = Explorer::start("mutant:am-chain-without-7");
    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);

    // A malformed predicate is answered with its place.
    page.key("/");
    page.types("X < && p1@5");
    page.key("Enter");
    page.until("document.querySelector('#says.bad')");
    assert!(page.text("#says").starts_with("at column 5: a value is missing here"), "{}", page.text("#says"));
    assert_eq!(page.eval("document.getElementById('predicate').selectionStart"), 4);

    page.eval("document.getElementById('predicate').select()");
    page.types("slot1.X < 0 && p1@5");
    page.key("Enter");
    page.until("viewer.record.steps.length === 4 && document.getElementById('says').textContent.includes('way')");
    assert_eq!(page.eval("viewer.step"), 0, "the way is shown from where the search began");
    assert!(page.text("#says").contains("after 4 more steps"), "{}", page.text("#says"));
    page.eval("document.getElementById('predicate').blur()");
    page.key("End");
    page.until("viewer.step === 4");

    // What is impossible is said to be impossible.
    page.eval("document.getElementById('predicate').value = 'count@inside > 1'");
    page.click("#search");
    page.until("document.getElementById('says').textContent.startsWith('No: in none of the')");

    // A violation, from here.
    page.click("#violate");
    page.until("viewer.record.steps.length > 4 && document.getElementById('says').textContent.includes('way')");
    assert!(page.text("#says").starts_with("never-stuck is broken after 1 more step"), "{}", page.text("#says"));

    // The position is a token, which the command replays, and which leads back here.
    page.key("End");
    page.until("viewer.step === 5");
    let token = page.text("#token");
    let replayed = doorway(&format!("replay {token}"));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("breaks never-stuck"), "{token}");
    page.click("#reset");
    settle(&mut page, 0);
    page.eval("document.getElementById('from').focus()");
    page.types(&token);
    page.click("#from-token");
    settle(&mut page, 5);
    assert_eq!(page.text("#token"), token);
    // A token of another machine is refused, with the command that opens it.
    page.eval(
        "document.getElementById('from').value = 'dw1/am-chain/3,2/-/c2/atomic/never-stuck/0.0c.1.1c.2x3/69d79a12'",
    );
    page.click("#from-token");
    page.until("document.querySelector('#says.bad')");
    assert!(page.text("#says").contains("doorway explore"), "{}", page.text("#says"));
    // Progress: a run without end, and why it is fair; its token says so too.
    let starves = Explorer::start("mutant:ya-two-always-waits");
    page.go(&starves.url);
    settle(&mut page, 0);
    page.eval("document.getElementById('property').value = 'deadlock-free'");
    page.click("#violate");
    page.until("document.getElementById('says').textContent.includes('repeats for ever')");
    assert!(page.text("#fair").contains("It is fair: p0 "), "{}", page.text("#fair"));
    assert_eq!(page.eval("Boolean(document.getElementById('loop'))"), true);
    let lasso = page.text("#token");
    let replayed = doorway(&format!("replay {lasso}"));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("breaks deadlock-free"), "{lasso}");
    // A long search can be stopped.
    let large = Explorer::start("turnstile --n 5 --k 2 --give-ups --max-states 100000000");
    page.go(&large.url);
    settle(&mut page, 0);
    page.click("#violate");
    page.until("!document.getElementById('stop').hidden");
    page.click("#stop");
    page.until("document.getElementById('says').textContent.includes('the search ended there')");
    drop(large);
    // And the command starts from a token.
    let again = Explorer::start(&token);
    page.go(&again.url);
    settle(&mut page, 5);
    // The page says when the command has ended.
    drop(again);
    page.key("u");
    page.until("document.querySelector('#says.bad')");
    assert_eq!(page.text("#says"), "The program does not answer: has it ended?");
    page.assert_no_errors();
}

#[test]
fn the_dead_are_replaced_and_waiters_give_up() {
    let Some(mut browser) = Chromium::start("give-ups and restarts in the explorer") else { return };
    let explorer = Explorer::start("seats --n 2 --k 1 --crashes 1 --restarts 1 --late-deaths --give-ups");
    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);
    // p0 is inside, and p1 sleeps.
    page.key("/");
    page.types("p0@inside && p1@asleep");
    page.key("Enter");
    page.until("viewer.record.steps.length > 0 && document.getElementById('says').textContent.includes('way')");
    page.eval("document.activeElement.blur()");
    page.key("End");
    page.until("viewer.step === viewer.record.steps.length && document.querySelector('.choice .gives-up')");
    let steps = page.eval("viewer.step").as_u64().unwrap() as usize;
    let sign = |page: &mut Page<'_>, step: usize| page.text(&format!("#lanes .row[data-step='{step}'] .stmt"));

    // It gives up: by mouse, back, and by keys.
    page.click(".choice[data-process='1'] .gives-up");
    settle(&mut page, steps + 1);
    assert_eq!(sign(&mut page, steps + 1), "↩");
    assert!(page.text("#now").contains("gives up"), "{}", page.text("#now"));
    page.key("u");
    settle(&mut page, steps);
    page.key("g");
    page.key("1");
    settle(&mut page, steps + 1);
    assert_eq!(sign(&mut page, steps + 1), "↩");
    page.key("g");
    page.key("0");
    page.until("document.querySelector('#says.bad')");
    assert_eq!(page.text("#says"), "p0 cannot do that here.");

    // p0 dies; the death is noticed later, and then another process takes the seat.
    page.key("c");
    page.key("0");
    settle(&mut page, steps + 2);
    assert!(page.text(".process[data-process='0']").contains("dead, not noticed yet"));
    page.key("0");
    settle(&mut page, steps + 3);
    assert!(page.text("#now").contains("its death is noticed"), "{}", page.text("#now"));
    assert!(page.text(".process[data-process='0']").contains("crashed"));
    page.click(".choice[data-process='0'] .restart");
    settle(&mut page, steps + 4);
    assert_eq!(sign(&mut page, steps + 4), "↻");
    page.click("#undo");
    settle(&mut page, steps + 3);
    page.key("r");
    page.key("0");
    settle(&mut page, steps + 4);
    assert!(page.text(".process[data-process='0']").contains("outside"), "{}", page.text(".process[data-process='0']"));

    // The token carries the rules.
    let token = page.text("#token");
    let replayed = doorway(&format!("replay {token}"));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("a new process begins here"), "{token}");
    let again = Explorer::start(&token);
    page.go(&again.url);
    settle(&mut page, steps + 4);
    assert_eq!(page.text("#token"), token);
    assert!(
        page.text("#about").contains("up to 1 restart, deaths (noticed late), give-ups"),
        "{}",
        page.text("#about")
    );
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        page.size(width, if width < 600 { 1900 } else { 860 });
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        page.eval("document.getElementById('grammar').hidden = false");
        assert!(!page.overflows(), "{width} pixels are too few");
        assert_eq!(page.too_faint(), Vec::<String>::new(), "{width}, dark: {dark}");
        // Each line of the grammar has room for its example.
        let high =
            "Math.max(...[...document.querySelectorAll('#grammar code')].map((code) => code.getClientRects().length))";
        assert_eq!(page.eval(high), 1);
        page.screenshot(&format!("seats-{width}{}", if dark { "-dark" } else { "" }));
        page.eval("document.getElementById('grammar').hidden = true");
        page.screenshot(&format!("seats-{width}-without-grammar{}", if dark { "-dark" } else { "" }));
    }
    page.assert_no_errors();
}

/// A claim that something can happen is not broken where it has not happened yet.
#[test]
fn what_can_happen_does_not_look_like_a_failure() {
    let Some(mut browser) = Chromium::start("claims that something can happen") else { return };
    let explorer = Explorer::start("ya-two");
    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);
    let claim = "[data-claim='someone-enters']";
    assert_eq!(page.text(claim), "someone-enters not so yet");
    assert_eq!(page.eval("document.querySelectorAll('.claim.no').length"), 0);
    page.eval("document.getElementById('property').value = 'someone-enters'");
    page.eval("document.getElementById('property').dispatchEvent(new Event('change'))");
    assert_eq!(page.text("#violate"), "Search for a state");
    page.click("#violate");
    page.until("document.getElementById('says').textContent.includes('way')");
    assert!(page.text("#says").starts_with("someone-enters happens after"), "{}", page.text("#says"));
    page.key("End");
    page.until("viewer.step === viewer.record.steps.length");
    assert_eq!(page.text(claim), "someone-enters so here");
    let steps = page.eval("viewer.step").as_u64().unwrap() as usize;
    // p0 leaves again.
    page.until("document.querySelector('.choice .act')");
    page.eval(
        "document.querySelector('.choice[data-process=\"' + viewer.record.steps.at(-1).process + '\"] .act').click()",
    );
    settle(&mut page, steps + 1);
    assert_eq!(page.text(claim), format!("someone-enters so at step {steps}"));
}

/// A bound on steps counts from where the position's run began.
#[test]
fn a_bound_on_steps_is_searched_from_here() {
    let Some(mut browser) = Chromium::start("bounds on steps") else { return };
    let explorer = Explorer::start("mutant:bypass-counts-nobody");
    let mut page = browser.open(&format!("{}#run=0x2.1x3.0x2.1.0x5&step=13", explorer.url));
    settle(&mut page, 13);
    page.eval("document.getElementById('property').value = 'bypass-bound'");
    page.click("#violate");
    page.until("document.getElementById('says').textContent.includes('way') || document.querySelector('#says.bad')");
    assert!(page.text("#says").starts_with("bypass-bound is broken after 18 more steps"), "{}", page.text("#says"));
    page.eval("document.getElementById('property').blur()");
    page.key("End");
    page.until("viewer.step === viewer.record.steps.length");
    let token = page.text("#token");
    let replayed = doorway(&format!("replay {token}"));
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("breaks bypass-bound"), "{token}");
}

/// Sixty-four processes have room, and names of two digits.
#[test]
fn many_processes_have_room() {
    let Some(mut browser) = Chromium::start("64 processes") else { return };
    let explorer = Explorer::start("am-chain --n 64 --k 8");
    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);
    for (keys, process) in [(&["1", "2"][..], 12), (&["3", "Enter"], 3), (&["7"], 7), (&["0"], 0), (&["6", "3"], 63)] {
        let steps = page.eval("viewer.step").as_u64().unwrap() as usize;
        for key in keys {
            page.key(key);
        }
        settle(&mut page, steps + 1);
        assert_eq!(page.eval("viewer.record.steps.at(-1).process"), process);
    }
    for (width, height, dark) in [(1280, 860, false), (390, 1900, true)] {
        page.size(width, height);
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        assert!(!page.overflows(), "{width} pixels are too few");
        assert_eq!(page.too_faint(), Vec::<String>::new(), "{width}");
        page.screenshot(&format!("explorer-64-{width}{}", if dark { "-dark" } else { "" }));
    }
    // All of them move: the strip stays low, and the lane of the step is in view.
    let run: Vec<String> = (0..64).map(|p| p.to_string()).collect();
    page.size(1280, 860);
    page.go(&format!("{}#run={}&step=50", explorer.url, run.join(".")));
    page.until("viewer.record.steps.length === 64 && viewer.step === 50");
    assert!(page.eval("document.querySelector('#overview svg').clientHeight").as_u64().unwrap() <= 150);
    assert!(page.eval("document.getElementById('choices').clientHeight").as_u64().unwrap() >= 80);
    let seen = "(() => { const box = document.getElementById('lanes').getBoundingClientRect(); \
                const pill = document.querySelector(\"[data-step='50'] .pill\").getBoundingClientRect(); \
                return pill.left >= box.left && pill.right <= box.right; })()";
    page.until(seen);
    page.screenshot("explorer-64-move");
    page.assert_no_errors();
}

/// A search belongs to its tab: others move on, and *Stop* ends no search but its own.
#[test]
fn tabs_do_not_wait_for_each_other() {
    let Some(mut browser) = Chromium::start("searches in two tabs") else { return };
    let explorer = Explorer::start("turnstile --n 5 --k 2 --give-ups --max-states 100000000");
    let searches = |page: &mut Page<'_>| {
        settle(page, 0);
        page.click("#violate");
        page.until("!document.getElementById('stop').hidden");
    };
    let mut page = browser.open(&explorer.url);
    searches(&mut page);
    let first = page.session;

    let mut page = browser.open(&explorer.url);
    settle(&mut page, 0);
    page.key("0");
    settle(&mut page, 1);
    page.key("u");
    searches(&mut page);
    page.click("#stop");
    page.until("document.getElementById('says').textContent.includes('the search ended there')");

    let mut page = browser.tab(&first);
    assert_eq!(page.text("#says"), "Searching…");
    page.click("#stop");
    page.until("document.getElementById('says').textContent.includes('the search ended there')");

    // Tabs that are closed end their searches: four at a time, and then four more.
    for _ in 0..2 {
        for _ in 0..4 {
            let mut page = browser.open(&explorer.url);
            searches(&mut page);
            page.call("Page.navigate", &serde_json::json!({ "url": "about:blank" }));
        }
    }
    let mut page = browser.tab(&first);
    page.until("document.getElementById('says').textContent");
    page.assert_no_errors();
}

/// Connections that never say what they want do not keep out the page.
#[test]
fn slow_strangers_are_sent_away_before_the_page() {
    let explorer = Explorer::start("ya-two");
    let (host, path) = explorer.parts();
    let strangers: Vec<TcpStream> = (0..200)
        .map(|i| {
            let mut stream = TcpStream::connect(host).unwrap();
            let _ = stream.write_all(if i % 2 == 0 {
                b"GET / HT"
            } else {
                b"POST /ask HTTP/1.1\r\nContent-Length: 99\r\n"
            });
            stream
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(explorer.status(&format!("GET {path}"), &[&format!("Host: {host}")], ""), 200);
    }
    drop(strangers);
}

#[test]
fn a_torn_read_returns_what_one_chooses_also_on_a_phone() {
    let Some(mut browser) = Chromium::start("torn reads in the explorer") else { return };
    let explorer = Explorer::start("peterson-tree --n 2 --registers safe --force");
    let mut page = browser.open(&explorer.url);
    page.size(390, 844);
    settle(&mut page, 0);
    // p0 begins a write and does not end it; p1 goes on until it reads the same variable.
    page.key("0");
    settle(&mut page, 1);
    assert!(page.text(".variable.half").contains("half-written"), "{}", page.text("#variable-list"));
    page.key("a");
    page.key("1");
    page.until("document.querySelectorAll(\".choice[data-process='1'] .torn\").length >= 2");
    page.until("document.getElementById('says').textContent");
    assert!(page.text("#says").contains("there is a choice"), "{}", page.text("#says"));
    let steps = page.eval("viewer.step").as_u64().unwrap() as usize;
    let wanted = page.text(".choice[data-process='1'] .torn:nth-of-type(2)");
    page.click(".choice[data-process='1'] .torn:nth-of-type(2)");
    settle(&mut page, steps + 1);
    let seen = wanted.split(": ").nth(1).unwrap().split(", torn").next().unwrap().to_owned();
    assert!(page.text("#now").contains(&seen) && page.text("#now").contains("torn"), "{wanted}: {}", page.text("#now"));
    // The same by keys.
    page.key("u");
    settle(&mut page, steps);
    page.key("t");
    page.key("t");
    page.key("Enter");
    settle(&mut page, steps + 1);
    assert!(page.text("#now").contains(&seen) && page.text("#now").contains("torn"), "{wanted}: {}", page.text("#now"));
    for (width, dark) in [(390, false), (320, true), (1300, false), (1000, true)] {
        page.size(width, 900);
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        page.eval("scrollTo(0, 0)");
        assert!(!page.overflows(), "{width} pixels are too few");
        assert_eq!(page.too_faint(), Vec::<String>::new(), "{width}, dark: {dark}");
        page.screenshot(&format!("explorer-{width}{}", if dark { "-dark" } else { "" }));
    }
    page.assert_no_errors();
}

#[test]
fn pages_of_others_cannot_drive_it() {
    let explorer = Explorer::start("ya-two");
    let (host, path) = explorer.parts();
    let (post, at) = (format!("POST {path}ask"), r#"{"ask":"at","run":""}"#);
    let (host_header, origin) = (format!("Host: {host}"), format!("Origin: http://{host}"));
    let json = "Content-Type: application/json";
    let ask = |headers: &[&str]| explorer.status(&post, headers, at);
    assert_eq!(ask(&[&host_header, &origin, json]), 200);
    assert_eq!(ask(&[&host_header, json]), 403, "no origin");
    assert_eq!(ask(&[&host_header, "Origin: http://evil.example", json]), 403);
    assert_eq!(ask(&[&host_header, "Origin: null", json]), 403);
    assert_eq!(ask(&[&host_header, &origin, json, "Sec-Fetch-Site: cross-site"]), 403);
    assert_eq!(ask(&[&host_header, &origin, "Content-Type: text/plain"]), 415, "a form could send this");
    let rebound = format!("evil.example:{}", host.rsplit(':').next().unwrap());
    assert_eq!(ask(&[&format!("Host: {rebound}"), &format!("Origin: http://{rebound}"), json]), 421, "rebinding");
    assert_eq!(ask(&[&origin, json]), 421, "no host");
    assert_eq!(ask(&[&host_header, "Host: evil.example", &origin, json]), 421, "two hosts");
    let guess = format!("POST /{}/ask", "0".repeat(path.len() - 2));
    assert_eq!(explorer.status(&guess, &[&host_header, &origin, json], at), 404);
    assert_eq!(explorer.status("GET /", &[&host_header], ""), 404);
    assert_eq!(explorer.status(&format!("GET {path}"), &[&host_header], ""), 200);
    assert_eq!(explorer.status(&format!("PUT {path}"), &[&host_header], ""), 400);
    assert_eq!(explorer.status(&format!("GET {path}../../etc/passwd"), &[&host_header], ""), 404);
    assert_eq!(explorer.status(&post, &[&host_header, &origin, json], "{"), 400);
    // Two explorers have two addresses.
    assert_ne!(Explorer::start("ya-two").parts().1, path);

    let Some(mut browser) = Chromium::start("a hostile page beside the explorer") else { return };
    let hostile = browser.folder().join("hostile.html");
    std::fs::write(&hostile, "<!doctype html><title>hostile</title>").unwrap();
    let mut page = browser.open(&format!("file://{}", hostile.display()));
    // Even a page that has learnt the address gets nothing: neither by a request nor by a frame.
    let ask = format!("{}ask", explorer.url);
    let fetched = format!(
        "fetch({ask:?}, {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: '{{}}' }})\
         .then((r) => 'answered ' + r.status, () => 'refused')"
    );
    assert_eq!(page.eval(&fetched), "refused");
    let blind = format!(
        "fetch({ask:?}, {{ method: 'POST', mode: 'no-cors', body: '{{\"ask\":\"stop\"}}' }}).then((r) => r.type, () => 'refused')"
    );
    let blind = page.eval(&blind);
    assert!(blind == "opaque" || blind == "refused", "{blind}");
    let framed = format!(
        "new Promise((done) => {{ const f = document.createElement('iframe'); f.src = {:?}; \
         f.onload = () => {{ let seen = 'hidden'; try {{ seen = f.contentDocument ? f.contentDocument.body.innerText : 'hidden'; }} \
         catch (e) {{}} done(seen); }}; document.body.append(f); }})",
        explorer.url
    );
    let framed = page.eval(&framed);
    assert!(!framed.as_str().unwrap().contains("What next"), "{framed}");
}
