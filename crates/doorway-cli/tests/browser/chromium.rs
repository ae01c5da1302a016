//! A headless Chromium, driven by the DevTools protocol over two pipes.

#![allow(dead_code, unreachable_pub, missing_docs)] // each test takes what it needs

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Longer than anything takes here, on any machine.
const LIMIT: Duration = Duration::from_secs(120);

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser, if there is one: `DOORWAY_CHROMIUM`, or one in the `PATH`.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("DOORWAY_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let places = || std::env::split_paths(&path);
    NAMES.into_iter().find_map(|name| places().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

pub struct Chromium {
    child: Child,
    to: File,
    from: BufReader<File>,
    folder: PathBuf,
    next: u64,
    /// What went wrong in the pages so far.
    pub errors: Vec<String>,
}

/// One page.
pub struct Page<'c> {
    pub browser: &'c mut Chromium,
    /// By which [`Chromium::tab`] comes back to it.
    pub session: String,
}

impl Chromium {
    /// Starts it. Without a browser, says loudly that a test was skipped.
    pub fn start(test: &str) -> Option<Self> {
        let Some(program) = program() else {
            // Not by a macro: the test harness would hide it.
            let note = format!(
                "\n*** SKIPPED: {test}: there is no Chromium here, so nothing was tested in a browser. ***\n\
                 *** Install it (apt-get install chromium), or name it in DOORWAY_CHROMIUM.  ***\n\n"
            );
            let _ = std::io::stderr().write_all(note.as_bytes());
            return None;
        };
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("doorway-browser-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        let (to, from) = (folder.join("to"), folder.join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // It reads commands from descriptor 3 and writes answers to descriptor 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$DOORWAY_TO\" 4>\"$DOORWAY_FROM\""])
            .arg(&program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .env("DOORWAY_TO", &to)
            .env("DOORWAY_FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(&to).unwrap();
        let from = BufReader::new(File::open(&from).unwrap());
        Some(Self { child, to, from, folder, next: 0, errors: Vec::new() })
    }

    /// A folder for the files of a test.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens a page.
    pub fn open(&mut self, url: &str) -> Page<'_> {
        let target = self.call(None, "Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call(None, "Target.attachToTarget", &attach)["sessionId"].as_str().unwrap().to_owned();
        let mut page = Page { browser: self, session };
        page.call("Page.enable", &json!({}));
        page.call("Runtime.enable", &json!({}));
        page.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        page.size(1300, 850);
        page.go(url);
        page
    }

    /// A page that is open.
    pub fn tab(&mut self, session: &str) -> Page<'_> {
        Page { browser: self, session: session.to_owned() }
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = Vec::new();
            self.from.read_until(0, &mut answer).unwrap();
            assert!(!answer.is_empty(), "the browser has ended");
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            if answer["method"] == "Runtime.exceptionThrown" {
                self.errors.push(answer["params"]["exceptionDetails"].to_string());
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Page<'_> {
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.browser.call(Some(&self.session.clone()), method, params)
    }

    /// Goes to an address, and waits until the page is there.
    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
        self.until("document.readyState === 'complete'");
    }

    /// Sets the size of the window.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// The value of an expression in the page.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    pub fn text(&mut self, selector: &str) -> String {
        self.eval(&format!("document.querySelector({selector:?}).textContent")).as_str().unwrap().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.eval(&format!("Boolean({expression})")) != json!(true) {
            if begun.elapsed() > LIMIT {
                let page = self.eval("document.body.innerText");
                panic!("never so: {expression}\n{page}\n{:?}", self.browser.errors);
            }
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Clicks with the mouse on the middle of an element.
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Presses a key: `ArrowRight`, `Home`, or a character.
    pub fn key(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let mut down = json!({ "type": "keyDown", "key": key });
        if text.chars().count() == 1 {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", &down);
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
    }

    /// Types into what has the focus.
    pub fn types(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Texts whose contrast with what is behind them is below 4.5, the level AA of the guidelines
    /// for accessible pages. What is hidden, disabled or out of view is left out.
    pub fn too_faint(&mut self) -> Vec<String> {
        let found = self.eval(include_str!("contrast.js"));
        let found = found.as_array().unwrap_or_else(|| panic!("{found}"));
        assert!(found[0].as_u64().unwrap() > 20, "too few texts were looked at: {found:?}");
        found[1..].iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// Whether the page is wider than the window.
    pub fn overflows(&mut self) -> bool {
        self.eval("document.documentElement.scrollWidth > document.documentElement.clientWidth") == json!(true)
    }

    /// No script has failed.
    pub fn assert_no_errors(&self) {
        assert!(self.browser.errors.is_empty(), "{:?}", self.browser.errors);
    }

    /// If `DOORWAY_SCREENSHOTS` names a folder, writes a picture there, for people to look at.
    pub fn screenshot(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("DOORWAY_SCREENSHOTS") else { return };
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let bytes = decode(picture["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut have, mut bytes) = (0u32, 0, Vec::new());
    for digit in text.chars().filter_map(|c| DIGITS.find(c)) {
        bits = (bits << 6 | digit as u32) & 0xffff;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
        }
    }
    bytes
}
