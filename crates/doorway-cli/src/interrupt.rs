//! Ctrl-C: the first one ends a search cleanly, so that what was found is printed; a second one,
//! and one that comes when nothing is searched, ends the program at once.

use indicatif::ProgressBar;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, Once, PoisonError};

/// The exit code that shells give to a program that Ctrl-C has ended.
pub(crate) const EXIT_CODE: u8 = 130;

static SEARCHING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
/// What is to be cleared from the terminal before the program ends.
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

/// Whether somebody has asked for the search to end.
pub(crate) fn is_asked_for() -> bool {
    ASKED.load(SeqCst)
}

/// A line on a terminal that is cleared even if Ctrl-C ends the program; nothing elsewhere.
pub(crate) fn shown(bar: ProgressBar) -> ProgressBar {
    handle();
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

/// Takes Ctrl-C over. Where that cannot be done it ends the program as it would have anyway.
fn handle() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if SEARCHING.load(SeqCst) && !ASKED.swap(true, SeqCst) {
                return;
            }
            // The bar may be drawn right now by a thread that never comes back.
            if let Some(bar) = SHOWN.try_lock().ok().and_then(|mut shown| shown.take()) {
                bar.finish_and_clear();
            }
            std::process::exit(i32::from(EXIT_CODE));
        });
    });
}
