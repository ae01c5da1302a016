//! `doorway jobserver`: GNU make's jobserver, with slots between processes behind its tokens.
//!
//! | file | |
//! |---|---|
//! | `mod` | what it is told |
//! | `fifo` | the pipe that tokens lie in |
//! | `tokens` | the accounts: tokens against slots |
//! | `clients` | whether anybody could still give a token back |
//! | `flags` | what clients are told, and which style they understand |

mod clients;
mod fifo;
mod flags;
mod tokens;

/// How clients reach the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// By a path: GNU make 4.4 and later, cargo, ninja 1.13 and later
    Fifo,
    /// By two descriptors that they inherit: older makes, and all others but ninja
    Pipe,
}
