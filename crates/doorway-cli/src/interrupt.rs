//! Ctrl-C. During a search, the first one stops the search cleanly, so that its results are
//! printed. A second one, or one outside a search, ends the program at once.

use indicatif::ProgressBar;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, Once, PoisonError};

/// The exit code that shells give to a program that Ctrl-C has ended.
pub(crate) const EXIT_CODE: u8 = 130;

static SEARCHING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
/// The bar to clear from the terminal before the program ends.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Until it is dropped, the first Ctrl-C only makes [`is_asked_for`] true.
pub(crate) struct Searching(());

impl Searching {
    pub(crate) fn begin() -> Self {
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

/// Whether the user has asked for the search to stop.
pub(crate) fn is_asked_for() -> bool {
    ASKED.load(SeqCst)
}

/// A line on a terminal that is cleared even if Ctrl-C ends the program; nothing elsewhere.
pub(crate) fn shown(bar: ProgressBar) -> ProgressBar {
    handle();
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

/// Takes over Ctrl-C. Where that fails, Ctrl-C ends the program as usual.
fn handle() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if SEARCHING.load(SeqCst) && !ASKED.swap(true, SeqCst) {
                return;
            }
            // A thread that never returns may be drawing the bar right now.
            if let Some(bar) = SHOWN.try_lock().ok().and_then(|mut shown| shown.take()) {
                bar.finish_and_clear();
            }
            std::process::exit(i32::from(EXIT_CODE));
        });
    });
}
