//! Ctrl-C. During a search, the first one stops the search cleanly, so that its results are
//! printed. A second one, or one outside a search, ends the program at once.

use doorway_check::terminal::clear_before_the_end;
pub(crate) use doorway_check::terminal::{INTERRUPTED as EXIT_CODE, Searching, is_asked_to_stop as is_asked_for};
use indicatif::ProgressBar;

/// A line on a terminal that is cleared even if Ctrl-C ends the program; nothing elsewhere.
pub(crate) fn shown(bar: ProgressBar) -> ProgressBar {
    let drawn = bar.clone();
    clear_before_the_end(move || drawn.finish_and_clear());
    bar
}
