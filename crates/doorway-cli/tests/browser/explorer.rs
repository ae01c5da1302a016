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
    page.assert_no_errors();
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
    page.click(".choice[data-process='1'] .alone");
    page.until("document.querySelectorAll(\".choice[data-process='1'] .torn\").length >= 2");
    page.until("document.getElementById('says').textContent");
    assert!(page.text("#says").contains("there is a choice"), "{}", page.text("#says"));
    let steps = page.eval("viewer.step").as_u64().unwrap() as usize;
    let wanted = page.text(".choice[data-process='1'] .torn:nth-of-type(2)");
    page.click(".choice[data-process='1'] .torn:nth-of-type(2)");
    settle(&mut page, steps + 1);
    let seen = wanted.split(": ").nth(1).unwrap().split(", torn").next().unwrap().to_owned();
    assert!(page.text("#now").contains(&seen) && page.text("#now").contains("torn"), "{wanted}: {}", page.text("#now"));
    for (width, dark) in [(390, false), (320, true), (1300, false), (1000, true)] {
        page.size(width, 900);
        page.dark(dark);
        page.until(&format!("innerWidth === {width}"));
        page.eval("scrollTo(0, 0)");
        assert!(!page.overflows(), "{width} pixels are too few");
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
