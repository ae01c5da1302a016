//! Processes to test with: the test binary runs itself again, as a peer that follows orders line by
//! line.

#![allow(dead_code, unreachable_pub, reason = "each test file takes what it needs")]

use doorway::shared::{Builder, Previous, ReleaseError, Slots, torture};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::task::{Context, Waker};

/// A directory of the test's own, which is removed with it.
pub struct Place(PathBuf);

impl Place {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("doorway-test-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A directory in memory, where the system has one.
    pub fn in_memory(test: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = parent.join(format!("doorway-test-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("slots")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const ROLE: &str = "DOORWAY_TEST_PEER";

/// A process that follows orders.
pub struct Peer {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// A process that has opened the file.
    pub fn new(path: &Path, slots: usize) -> Self {
        let mut peer = Self::start(Command::new(std::env::current_exe().unwrap()));
        assert_eq!(peer.ask(&format!("open {} {slots}", path.display())), "opened");
        peer
    }

    /// A process that this command starts, with arguments for the test binary added.
    pub fn start(mut command: Command) -> Self {
        command.args(["peer", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, orders, answers }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn tell(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    pub fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the peer has ended");
            if let Some(at) = line.find("@@") {
                return line[at + 2..].trim().to_owned();
            }
        }
    }

    pub fn ask(&mut self, order: &str) -> String {
        self.tell(order);
        self.hear()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child was not waited for, so its number is still its own.
        assert_eq!(unsafe { libc::kill(self.pid().cast_signed(), signal) }, 0);
    }

    /// Sends `kill -9`, and waits for the end.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn told(previous: &Previous) -> String {
    let (kind, known) = match previous {
        Previous::Clean => return "clean".to_owned(),
        Previous::Died(known) => ("died", known),
        Previous::Broken(known) => ("broken", known),
    };
    format!("{kind} {}", known.pid.map_or("nobody".to_owned(), |pid| pid.to_string()))
}

/// The peer's side; call it from a test with the name `peer`.
pub fn peer() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut slots: Option<&'static Slots> = None;
    let mut guards = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words[..] {
            ["open", path, k] => match Builder::new(path, k.parse().unwrap()).label("peer").open() {
                Ok(opened) => {
                    slots = Some(Box::leak(Box::new(opened)));
                    "opened".to_owned()
                }
                Err(error) => format!("{error:?}"),
            },
            ["open-for-group", path, k] => match Builder::new(path, k.parse().unwrap()).permissions(0o660).open() {
                Ok(_) => "opened".to_owned(),
                Err(error) => format!("{error:?}"),
            },
            ["open-later", path, k, features] => {
                let options = Builder::new(path, k.parse().unwrap()).label("later");
                match torture::as_later_version(options, features.parse().unwrap()).open() {
                    Ok(opened) => {
                        slots = Some(Box::leak(Box::new(opened)));
                        "opened".to_owned()
                    }
                    Err(error) => format!("{error:?}"),
                }
            }
            // Holds the only slot, while this many tasks wait for it.
            ["crowd", path, tasks] => {
                let tasks: usize = tasks.parse().unwrap();
                let options = Builder::new(path, 1).seats(4096).waiters(tasks + 1);
                let opened: &'static Slots = Box::leak(Box::new(options.open().unwrap()));
                guards.push(opened.acquire().unwrap());
                for _ in 0..tasks {
                    let mut task = Box::pin(opened.acquire_async());
                    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                    std::mem::forget(task);
                }
                "crowded".to_owned()
            }
            ["names"] => doorway::shared::names().unwrap().names.join(" "),
            ["count", path] => std::fs::read_dir(path).unwrap().count().to_string(),
            ["acquire"] => {
                println!("@@acquiring");
                match slots.unwrap().acquire() {
                    Ok(guard) => {
                        let answer = format!("{} {} {}", guard.slot(), guard.fence(), told(guard.previous()));
                        guards.push(guard);
                        answer
                    }
                    Err(error) => format!("{error:?}"),
                }
            }
            ["drop"] => {
                drop(guards.pop());
                "dropped".to_owned()
            }
            ["release"] => match guards.pop().unwrap().release() {
                Ok(()) => "released".to_owned(),
                Err(ReleaseError::Broken) => "broken".to_owned(),
                Err(ReleaseError::Failed(error)) => format!("{error:?}"),
            },
            ["fork"] => {
                // SAFETY: the child only sleeps.
                match unsafe { libc::fork() } {
                    0 => loop {
                        std::thread::sleep(std::time::Duration::from_secs(1));
                    },
                    child => child.to_string(),
                }
            }
            ["exec"] => {
                use std::os::unix::process::CommandExt;
                println!("@@executing");
                panic!("{}", Command::new("sleep").arg("60").exec());
            }
            ["exit"] => std::process::exit(0),
            _ => panic!("{line:?} is no order"),
        };
        println!("@@{answer}");
        std::io::stdout().flush().unwrap();
    }
}
