//! The sweeper: with `--orphans kill`, a process between the wrapper and the guardian. If the guardian
//! is killed, it adopts all that comes from the command, and kills it.
//!
//! The wrapper could not: a shell that had children before it executed `doorway run` leaves them to
//! the wrapper, and they are not the command's.

use super::native::{self, Board};
use super::tree;
use rustix::process::{Pid, WaitOptions, waitpid};

/// The whole life of the sweeper, from when there is a guardian.
pub(super) fn live(guardian: Pid, board: Board) -> ! {
    // Away from the others' group: `timeout -s KILL` and many runners of builds kill the whole group.
    let _ = rustix::process::setsid();
    native::let_go_of(0..3);
    native::close_inherited();
    let status = waitpid(Some(guardian), WaitOptions::empty()).ok().flatten();
    // A guardian that ended by itself has left nobody.
    let killed = tree::kill_all(None, board.command());
    if let Some((code, signal)) = killed.filter(|_| board.end().is_none()) {
        board.set_end(code, signal);
    }
    native::end(status.and_then(|(_, status)| status.terminating_signal()).unwrap_or(0))
}
