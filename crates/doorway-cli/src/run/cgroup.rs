//! A control group (version 2) for the command, where this user may create one. It kills all its
//! processes at once, however fast they fork. It is optional.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A group that is removed on drop, if it is empty by then.
pub(crate) struct Cgroup {
    path: PathBuf,
    processes: OwnedFd,
}

impl Cgroup {
    /// Creates a group below that of this process; `None` where that is not possible.
    pub(crate) fn make() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::below(&own(&mounts, &groups)?)
    }

    fn below(parent: &Path) -> Option<Self> {
        remove_those_of_the_dead(parent);
        let path = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        let processes = File::options().write(true).open(path.join("cgroup.procs"));
        // Before Linux 5.14 a group has no `cgroup.kill`, and is of no use.
        match processes.ok().filter(|_| path.join("cgroup.kill").exists()) {
            Some(processes) => Some(Self { path, processes: processes.into() }),
            None => {
                let _ = fs::remove_dir(&path);
                None
            }
        }
    }

    /// A process joins by writing `0` to this file.
    pub(crate) fn processes(&self) -> BorrowedFd<'_> {
        self.processes.as_fd()
    }

    /// Kills every process in the group.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

const PREFIX: &str = "doorway-run-";

/// Removes the groups of guardians that were killed. A group that is not empty cannot be removed.
pub(crate) fn remove_those_of_the_dead(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        if process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The directory of this process's own group: the mount point of the hierarchy, and the path in it.
fn own(mounts: &str, groups: &str) -> Option<PathBuf> {
    let place = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    mounts.lines().find_map(|line| {
        // mount, parent, device, root, mount point, options... - type, source, options
        let (about, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then_some(())?;
        let mut about = about.split(' ').skip(3);
        let (root, point) = (about.next()?, about.next()?);
        let below = Path::new("/").join(place);
        Some(Path::new(point).join(below.strip_prefix(root).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
24 30 0:22 / /proc rw,nosuid - proc proc rw
31 24 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
32 24 0:28 /user.slice /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_own_group_is_found() {
        let find = |groups| own(MOUNTS, groups);
        assert_eq!(find("3:cpu:/\n0::/user.slice/a.scope\n"), Some("/sys/fs/cgroup/a.scope".into()));
        assert_eq!(find("0::/user.slice\n"), Some("/sys/fs/cgroup/".into()));
        assert_eq!(find("0::/system.slice\n"), None, "it is mounted elsewhere");
        assert_eq!(find("3:cpu:/\n"), None, "there is only version 1");
    }

    /// A directory that is no control group has no files of one.
    #[test]
    fn where_there_are_no_groups_none_is_left_behind() {
        let parent = std::env::temp_dir().join(format!("doorway-cgroup-{}", std::process::id()));
        fs::create_dir(&parent).unwrap();
        assert!(Cgroup::below(&parent).is_none());
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
        fs::create_dir(parent.join("doorway-run-4294967295")).unwrap(); // no such process
        fs::create_dir(parent.join(format!("doorway-run-{}", std::process::id()))).unwrap();
        remove_those_of_the_dead(&parent);
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 1);
        fs::remove_dir_all(parent).unwrap();
    }
}
