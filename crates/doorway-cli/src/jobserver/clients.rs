//! Whether any descendant of this process could still hold a token.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Whether a descendant of this process has this file open, as named by the kernel.
///
/// Processes come and go during the look, so a caller that finds none looks again before it
/// believes it. A process that may not be inspected counts as one that has the file open.
pub(super) fn anybody_has(link: &Path) -> bool {
    let mut seen = HashSet::new();
    let mut rest = children(std::process::id());
    while let Some(process) = rest.pop() {
        if !seen.insert(process) {
            continue;
        }
        match fs::read_dir(format!("/proc/{process}/fd")) {
            Ok(descriptors) => {
                if descriptors.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|found| found == link)) {
                    return true;
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied && !is_dead(process) => return true,
            Err(_) => {}
        }
        rest.extend(children(process));
    }
    false
}

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// A zombie shows no descriptors, and gives no other sign.
fn is_dead(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_descendant_that_has_it_open_is_found() {
        let path = std::env::temp_dir().join(format!("doorway-clients-{}", std::process::id()));
        let file = fs::File::create(&path).unwrap();
        let link = fs::canonicalize(&path).unwrap();
        assert!(!anybody_has(&link), "this process is no client of its own");
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 1000 & wait"]).stdin(Stdio::piped()).stdout(file);
        let mut child = shell.spawn().unwrap();
        while !anybody_has(&link) {}
        // A child of the child, alone.
        let grandchildren = loop {
            let found = children(child.id());
            if !found.is_empty() {
                break found;
            }
        };
        for grandchild in grandchildren {
            assert!(Command::new("kill").arg(grandchild.to_string()).status().unwrap().success());
        }
        child.wait().unwrap();
        assert!(!anybody_has(&link));
        fs::remove_file(path).unwrap();
    }
}
