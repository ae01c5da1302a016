//! A long search of a command: Ctrl-C ends it cleanly, and a line on the terminal shows how far it
//! has got. `doorway check` and the command of [one's own checks](crate::main) share this.

use crate::explore::{Progress, thousands};
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// The exit code that shells give to a program that Ctrl-C has ended.
pub const INTERRUPTED: u8 = 130;

/// The time between two drawings of the line.
const BETWEEN: Duration = Duration::from_millis(100);

/// Removes from the terminal what is drawn there.
type Clear = Box<dyn FnOnce() + Send>;

static SEARCHING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
/// What to do before Ctrl-C ends the program.
static CLEAR: Mutex<Option<Clear>> = Mutex::new(None);

/// Until it is dropped, the first Ctrl-C only makes [`is_asked_to_stop`] true. A second one, or one
/// outside a search, ends the program at once.
#[derive(Debug)]
pub struct Searching(());

impl Searching {
    /// A search begins.
    #[must_use]
    pub fn begin() -> Self {
        SEARCHING.store(true, SeqCst);
        handle();
        Self(())
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        SEARCHING.store(false, SeqCst);
    }
}

/// Whether the user has pressed Ctrl-C in a search.
#[must_use]
pub fn is_asked_to_stop() -> bool {
    ASKED.load(SeqCst)
}

/// Does this before Ctrl-C ends the program, in place of what was to be done before.
pub fn clear_before_the_end(clear: impl FnOnce() + Send + 'static) {
    handle();
    *CLEAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(clear));
}

/// Takes over Ctrl-C. Where that fails, Ctrl-C ends the program as usual.
fn handle() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if SEARCHING.load(SeqCst) && !ASKED.swap(true, SeqCst) {
                return;
            }
            // A thread that never returns may be drawing right now.
            if let Some(clear) = CLEAR.try_lock().ok().and_then(|mut clear| clear.take()) {
                clear();
            }
            std::process::exit(i32::from(INTERRUPTED));
        });
    });
}

/// A line that shows how far a search has got, if standard error is a terminal; nothing elsewhere.
#[derive(Debug)]
pub struct Line {
    begun: Instant,
    /// When to draw it next; `None` if there is no terminal.
    next: Option<Instant>,
}

impl Line {
    /// Of a search that begins now.
    #[must_use]
    pub fn new() -> Self {
        let (begun, is_terminal) = (Instant::now(), stderr().is_terminal());
        if is_terminal {
            clear_before_the_end(erase);
        }
        Self { begun, next: is_terminal.then_some(begun) }
    }

    /// Draws it again, but not too often.
    pub fn show(&mut self, progress: &Progress) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + BETWEEN);
            let text = progress.in_words(self.begun.elapsed());
            // If that fails, there is nobody to tell.
            let _ = write!(stderr(), "\r\x1b[2K{text}").and_then(|()| stderr().flush());
        }
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.next.is_some() {
            erase();
        }
    }
}

fn erase() {
    let _ = write!(stderr(), "\r\x1b[2K").and_then(|()| stderr().flush());
}

impl Progress {
    /// How far a search has got after this time; and how long the rest takes, if that can be
    /// guessed.
    ///
    /// ```
    /// use doorway_check::explore::Progress;
    /// use std::time::Duration;
    ///
    /// let progress = Progress { states: 3_000_000, frontier: 200_000, bytes: 90 << 20, left: Some(1_234_567) };
    /// let said = "3,000,000 states, 300,000 per second, 200,000 to explore, 90 MiB, some 1,000,000 more to find, in 4 s";
    /// assert_eq!(progress.in_words(Duration::from_secs(10)), said);
    /// let early = Progress { left: None, ..progress };
    /// assert!(said.starts_with(&early.in_words(Duration::from_secs(10))));
    /// ```
    #[must_use]
    pub fn in_words(&self, took: Duration) -> String {
        let rate = self.states as f64 / took.as_secs_f64().max(1e-3);
        format!(
            "{} states, {} per second, {} to explore, {}{}",
            thousands(self.states as u64),
            thousands(rate as u64),
            thousands(self.frontier as u64),
            size(self.bytes),
            self.left.map_or(String::new(), |left| {
                let seconds = (left + self.frontier) as f64 / rate.max(1.0);
                format!(", some {} more to find, in {}", about(left), time(seconds as u64))
            })
        )
    }
}

/// An estimate, with no more digits than it deserves.
fn about(number: usize) -> String {
    let unit = 10usize.pow(number.max(1).ilog10());
    thousands((number / unit * unit) as u64)
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// In one unit: it is only a guess.
fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
