//! The command and all its descendants, in any session.
//!
//! A process that calls [`adopt`] becomes the parent of its descendants when their own parents die.
//! So it has no child left exactly when no descendant is left. It only kills its children, and a
//! child keeps its number until its parent has waited for it.

use super::cgroup::Cgroup;
use super::native;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use std::time::Duration;

/// Makes descendants of this process its children when their parents die.
pub(crate) fn adopt() {
    // Cannot fail since Linux 3.4. On older kernels, this process does not wait for orphans.
    let _ = set_child_subreaper(Some(getpid()));
}

/// What happened to a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// It has ended: its exit code, as in shells, and the signal that killed it or 0.
    Ended { child: Pid, code: u8, signal: u8 },
    /// It was stopped by this signal.
    Stopped { child: Pid, signal: i32 },
    /// It continues after a stop.
    Continued { child: Pid },
    /// There are children, and no news.
    Nothing,
    /// No child is left.
    Alone,
}

/// Looks for news of children.
pub(crate) fn look() -> News {
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED) {
            Ok(Some((child, status))) => {
                if let Some(news) = news(child, status) {
                    return news;
                }
            }
            Ok(None) => return News::Nothing,
            Err(Errno::INTR) => {}
            Err(_) => return News::Alone,
        }
    }
}

fn news(child: Pid, status: WaitStatus) -> Option<News> {
    if let Some(signal) = status.stopping_signal() {
        return Some(News::Stopped { child, signal });
    }
    if status.continued() {
        return Some(News::Continued { child });
    }
    if let Some(code) = status.exit_status() {
        return Some(News::Ended { child, code: code as u8, signal: 0 });
    }
    let signal = status.terminating_signal()? as u8;
    Some(News::Ended { child, code: 128_u8.wrapping_add(signal), signal })
}

/// Whether any process is left. Those that have ended do not count.
pub(crate) fn is_anybody_left() -> bool {
    loop {
        match look() {
            News::Alone => return false,
            News::Nothing => return true,
            News::Ended { .. } | News::Stopped { .. } | News::Continued { .. } => {}
        }
    }
}

/// Kills all descendants until none is left: when a child dies, its own children arrive here.
/// Returns how the watched child ended: its exit code, and the signal or 0.
///
/// Waits for a child that it may not kill because it runs as another user.
pub(crate) fn kill_all(cgroup: Option<&Cgroup>, watched: Option<Pid>) -> Option<(u8, u8)> {
    let mut seen = None;
    let mut pause = Duration::from_micros(100);
    loop {
        loop {
            match look() {
                News::Alone => return seen,
                News::Nothing => break,
                News::Ended { child, code, signal } => {
                    if Some(child) == watched {
                        seen = Some((code, signal));
                    }
                    pause = Duration::from_micros(100);
                }
                News::Stopped { .. } | News::Continued { .. } => {}
            }
        }
        if let Some(cgroup) = cgroup {
            cgroup.kill();
        }
        for child in children() {
            let _ = native::send(child, libc::SIGKILL);
        }
        // One of the killed processes will end soon.
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}

/// The children of this process, as far as the kernel tells while they come and go.
fn children() -> Vec<Pid> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let listed: Option<Vec<String>> =
        tasks.map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect();
    match listed.filter(|listed| !listed.is_empty()) {
        Some(listed) => listed.iter().flat_map(|line| line.split_whitespace()).filter_map(parse).collect(),
        None => children_by_their_parents(), // a kernel without such lists
    }
}

fn parse(number: &str) -> Option<Pid> {
    Pid::from_raw(number.parse().ok()?)
}

fn children_by_their_parents() -> Vec<Pid> {
    let me = std::process::id();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| parse(entry.file_name().to_str()?));
    numbers.filter(|process| parent(*process) == Some(me)).collect()
}

/// The status fields of a process after its name, which may contain anything.
fn fields(process: Pid) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

fn parent(process: Pid) -> Option<u32> {
    fields(process)?.split(' ').nth(1)?.parse().ok()
}

/// Whether this process is an ancestor of that one.
pub(crate) fn is_ours(process: Pid) -> bool {
    let me = std::process::id();
    let mut ancestor = Some(process);
    // Process numbers may be reused in the meantime, so the chain may be a cycle.
    for _ in 0..1000 {
        match ancestor.and_then(parent) {
            Some(parent) if parent == me => return true,
            Some(parent) => ancestor = Pid::from_raw(parent.cast_signed()),
            None => return false,
        }
    }
    false
}

/// Whether the process is stopped now.
pub(crate) fn is_stopped(process: Pid) -> bool {
    fields(process).is_some_and(|fields| fields.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn both_lists_of_children_have_a_child() {
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let number = Pid::from_child(&child);
        assert!(children().contains(&number));
        assert!(children_by_their_parents().contains(&number));
        assert!(!is_stopped(number));
        assert!(is_ours(number) && !is_ours(getpid()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().contains(&number));
    }
}
