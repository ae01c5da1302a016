//! The sweeper: with `--orphans kill`, a process between the wrapper and the guardian. If the
//! guardian is killed, the sweeper adopts all descendants of the command, and kills them.
//!
//! The wrapper could not do this. A shell that had children before it executed `doorway run` leaves
//! them to the wrapper, and they do not belong to the command.

use super::native::{self, Board};
use super::tree;
use rustix::process::{Pid, WaitOptions, waitpid};

/// The whole life of the sweeper, once there is a guardian.
pub(super) fn live(guardian: Pid, board: Board) -> ! {
    // Leaves the group: `timeout -s KILL` and many build runners kill the whole group.
    let _ = rustix::process::setsid();
    native::let_go_of(0..3);
    native::close_inherited();
    let status = waitpid(Some(guardian), WaitOptions::empty()).ok().flatten();
    // A guardian that exited normally has left no process behind.
    let killed = tree::kill_all(None, board.command());
    if let Some((code, signal)) = killed.filter(|_| board.end().is_none()) {
        board.set_end(code, signal);
    }
    native::end(status.and_then(|(_, status)| status.terminating_signal()).unwrap_or(0))
}
