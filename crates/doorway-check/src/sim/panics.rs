//! A panic in a text is the panic of one of its processes, not of the checker.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a text.
    static RUNS_A_TEXT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a text, and catches its panic as a message. Prints nothing: the message belongs to the run,
/// and a search may meet it many times.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Box<str>> {
    stay_silent_for_texts();
    RUNS_A_TEXT.set(true);
    // Unfinished work of a text is thrown away: each run begins with an empty record.
    let ran = catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = message(&*payload);
        drop_contained(payload);
        message
    });
    RUNS_A_TEXT.set(false);
    ran
}

/// The destructor of a panic payload belongs to the text too, and may panic.
fn drop_contained(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // This must end somewhere: a second panic is leaked.
        std::mem::forget(another);
    }
}

fn message(payload: &(dyn Any + Send)) -> Box<str> {
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").into()
}

/// The program's own hook stays in charge of every other panic.
fn stay_silent_for_texts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !RUNS_A_TEXT.get() {
                usual(info);
            }
        }));
    });
}
