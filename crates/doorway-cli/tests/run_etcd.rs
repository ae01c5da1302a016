//! `doorway run --etcd`: slots between machines. Without the feature, the command says how to get
//! it; with it, and without an etcd, the tests say that they were skipped.
#![cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]

#[cfg(feature = "etcd")]
#[allow(dead_code, unreachable_pub)]
#[path = "../../doorway-etcd/tests/etcd/servers.rs"]
mod servers;

use std::process::{Command, Output};

fn doorway(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
    command.args(words);
    command
}

fn output(words: &[&str]) -> Output {
    doorway(words).output().unwrap()
}

fn errors(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[cfg(not(feature = "etcd"))]
#[test]
fn without_the_feature_it_says_how_to_get_it() {
    let endpoint = ["--etcd", "http://127.0.0.1:1"];
    let run = output(&["run", "-n", "1", "x", endpoint[0], endpoint[1], "--", "true"]);
    assert_eq!(run.status.code(), Some(125));
    let status = output(&["status", "x", endpoint[0], endpoint[1]]);
    let breaks = output(&["break", "x", "0", endpoint[0], endpoint[1]]);
    for out in [run, status, breaks] {
        let text = errors(&out);
        assert!(text.contains("--features etcd") && text.contains("protoc"), "{text}");
    }
}

#[test]
fn options_of_files_are_refused() {
    for option in [["--seats", "64"], ["--permissions", "660"], ["--directory", "/tmp"]] {
        let words = ["run", "-n", "1", "x", "--etcd", "http://127.0.0.1:1", option[0], option[1], "--", "true"];
        let out = output(&words);
        assert_eq!(out.status.code(), Some(125));
        assert!(errors(&out).contains(option[0]), "{}", errors(&out));
    }
    assert_eq!(output(&["run", "-n", "1", "x", "--ttl", "5", "--", "true"]).status.code(), Some(125));
}

#[cfg(feature = "etcd")]
mod with_etcd {
    use super::*;
    use servers::{Servers, skipped};
    use std::io::Read as _;
    use std::process::{Child, Stdio};

    /// Words of `doorway run` with one slot.
    fn words<'a>(endpoints: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        ["run", "-n", "1", "job", "--etcd", endpoints].into_iter().chain(more.iter().copied()).collect()
    }

    /// A command that holds the slot, and has begun.
    fn holder(endpoints: &str, more: &[&str], script: &str) -> Child {
        let script = format!("echo begun; {script}");
        let more: Vec<&str> = more.iter().copied().chain(["--", "sh", "-c", &script]).collect();
        let mut command = doorway(&words(endpoints, &more));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().unwrap();
        let mut begun = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"begun\n");
        child
    }

    #[test]
    fn commands_take_turns() {
        let Some(servers) = Servers::start(1) else { return skipped("commands_take_turns", "there is no etcd") };
        let endpoints = servers.endpoints().join(",");
        let script = "test -z \"$DOORWAY_FD$DOORWAY_PREVIOUS\" && echo $DOORWAY_SLOT $DOORWAY_FENCE {name}; exit 7";
        let first = output(&words(&endpoints, &["--", "sh", "-c", script]));
        assert_eq!(first.status.code(), Some(7), "{}", errors(&first));
        let said = |out: &Output| String::from_utf8_lossy(&out.stdout).into_owned();
        let second = output(&words(&endpoints, &["--", "sh", "-c", script]));
        let fence = |text: &str| text.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        assert!(said(&first).starts_with("0 ") && said(&first).ends_with(" job\n"));
        assert!(fence(&said(&second)) > fence(&said(&first)));

        let held = holder(&endpoints, &[], "read line");
        let busy = output(&words(&endpoints, &["--no-wait", "--", "true"]));
        assert_eq!(busy.status.code(), Some(123), "{}", errors(&busy));
        let late = output(&words(&endpoints, &["--timeout", "200ms", "--", "true"]));
        assert_eq!(late.status.code(), Some(124), "{}", errors(&late));
        let status = output(&["status", "job", "--etcd", &endpoints]);
        let text = said(&status);
        assert!(text.contains("1 of 1 held, 0 waiting") && text.contains("sh -c"), "{text}");
        let json: serde_json::Value =
            serde_json::from_str(&said(&output(&["status", "job", "--json", "--etcd", &endpoints]))).unwrap();
        assert_eq!(json["slots"], 1);
        assert_eq!(json["holders"][0]["slot"], 0);
        let waits = doorway(&words(&endpoints, &["--", "true"])).spawn().unwrap();
        drop(held); // and its standard input: it ends
        assert!(waits.wait_with_output().unwrap().status.success());
        let other = output(&["run", "-n", "2", "job", "--etcd", &endpoints, "--", "true"]);
        assert_eq!(other.status.code(), Some(125));
        assert!(errors(&other).contains("-n 1"), "{}", errors(&other));
    }

    #[test]
    fn a_lost_slot_ends_the_command_or_warns() {
        let Some(servers) = Servers::start(1) else {
            return skipped("a_lost_slot_ends_the_command_or_warns", "there is no etcd");
        };
        let endpoints = servers.endpoints().join(",");
        let held = holder(&endpoints, &[], "sleep 1000 & wait");
        let broken = output(&["break", "job", "0", "--yes", "--etcd", &endpoints]);
        assert!(broken.status.success(), "{}", errors(&broken));
        let out = held.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(137));
        assert!(errors(&out).contains("lost") && errors(&out).contains("killed"), "{}", errors(&out));

        let mut held = holder(&endpoints, &["--on-lost", "warn"], "read line; exit 3");
        assert!(output(&["break", "job", "0", "--yes", "--etcd", &endpoints]).status.success());
        let mut said = String::new();
        let stderr = held.stderr.as_mut().unwrap();
        while !said.contains("goes on") {
            let mut byte = [0];
            stderr.read_exact(&mut byte).unwrap();
            said.push(byte[0].into());
        }
        assert_eq!(held.wait_with_output().unwrap().status.code(), Some(3));
        let free = output(&["break", "job", "0", "--yes", "--etcd", &endpoints]);
        assert_eq!(free.status.code(), Some(1), "{}", errors(&free));
    }

    /// A cluster that is gone for longer than the lease: the command is killed by the guardian's
    /// clock.
    #[test]
    fn a_machine_that_is_cut_off_stops_its_command() {
        let Some(mut servers) = Servers::start(1) else {
            return skipped("a_machine_that_is_cut_off_stops_its_command", "there is no etcd");
        };
        let endpoints = servers.endpoints().join(",");
        let held = holder(&endpoints, &["--ttl", "2s"], "sleep 1000");
        servers.kill(0);
        let out = held.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(137));
        assert!(errors(&out).contains("lost"), "{}", errors(&out));
    }

    /// If doorway itself is killed, the command does not outlive it.
    #[test]
    fn a_guardian_that_is_killed_takes_the_command_along() {
        let Some(servers) = Servers::start(1) else {
            return skipped("a_guardian_that_is_killed_takes_the_command_along", "there is no etcd");
        };
        let endpoints = servers.endpoints().join(",");
        let held = holder(&endpoints, &["--ttl", "2s"], "exec sleep 1000");
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", held.id())).unwrap();
        let guardian: i32 = children.trim().parse().unwrap();
        // SAFETY: it is a child of a child of this process that was not waited for.
        assert_eq!(unsafe { libc::kill(guardian, libc::SIGKILL) }, 0);
        let out = held.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(137), "{}", errors(&out));
        // The slot comes back when the lease ends.
        assert!(output(&words(&endpoints, &["--", "true"])).status.success());
    }
}
