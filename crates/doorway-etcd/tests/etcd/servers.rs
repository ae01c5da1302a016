//! Clusters for tests: one member or three, which can be killed, stopped and cut off.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The etcd to test with: `DOORWAY_ETCD_BIN`, or the one in the path.
pub fn binary() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("DOORWAY_ETCD_BIN") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join("etcd")).find(|etcd| etcd.is_file())
}

/// Says loudly that a test did not run. `DOORWAY_ETCD_REQUIRED` makes that an error.
pub fn skipped(test: &str, why: &str) {
    let required = std::env::var_os("DOORWAY_ETCD_REQUIRED").is_some();
    eprintln!("\n*** SKIPPED {test}: {why} ***\n");
    assert!(!required, "{test} was skipped: {why}");
}

struct Member {
    name: String,
    host: String,
    client: u16,
    peer: u16,
    directory: PathBuf,
    /// The network namespace it runs in.
    namespace: Option<String>,
    child: Option<Child>,
}

pub struct Servers {
    members: Vec<Member>,
    binary: PathBuf,
    root: PathBuf,
    /// A certificate and its key, if clients must use encrypted connections.
    tls: Option<(PathBuf, PathBuf)>,
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

static CLUSTERS: AtomicU32 = AtomicU32::new(0);

impl Servers {
    /// A cluster of this many members; `None` if there is no etcd.
    pub fn start(members: usize) -> Option<Self> {
        Self::start_at(Vec::new(), members, None)
    }

    /// One member that talks to clients with this certificate and key only.
    pub fn start_encrypted(certificate: PathBuf, key: PathBuf) -> Option<Self> {
        Self::start_at(Vec::new(), 1, Some((certificate, key)))
    }

    /// A cluster whose members have these addresses and namespaces.
    pub fn start_in(places: Vec<(String, String)>) -> Option<Self> {
        let n = places.len();
        let at = |(namespace, host)| ((host, 2379, 2380), Some(namespace));
        Self::start_at(places.into_iter().map(at).collect(), n, None)
    }

    #[allow(clippy::type_complexity)]
    fn start_at(
        mut places: Vec<((String, u16, u16), Option<String>)>,
        n: usize,
        tls: Option<(PathBuf, PathBuf)>,
    ) -> Option<Self> {
        let binary = binary()?;
        while places.len() < n {
            places.push((("127.0.0.1".to_owned(), free_port(), free_port()), None));
        }
        let number = CLUSTERS.fetch_add(1, Ordering::SeqCst);
        let root = std::env::temp_dir().join(format!("doorway-etcd-{}-{number}", std::process::id()));
        let member = |(i, ((host, client, peer), namespace)): (usize, _)| Member {
            name: format!("n{i}"),
            host,
            client,
            peer,
            directory: root.join(format!("n{i}")),
            namespace,
            child: None,
        };
        let members = places.into_iter().enumerate().map(member).collect();
        let mut servers = Self { members, binary, root: root.clone(), tls };
        std::fs::create_dir_all(&root).expect("a directory");
        (0..n).for_each(|i| servers.run(i));
        servers.await_health();
        Some(servers)
    }

    /// Starts a member, with the data it had.
    pub fn run(&mut self, i: usize) {
        let url = |host: &str, port: u16| format!("http://{host}:{port}");
        let cluster: Vec<_> = self.members.iter().map(|m| format!("{}={}", m.name, url(&m.host, m.peer))).collect();
        let member = &self.members[i];
        let (client, peer) = (self.endpoint(i), url(&member.host, member.peer));
        let mut command = match &member.namespace {
            Some(namespace) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", namespace]).arg(&self.binary);
                command
            }
            None => Command::new(&self.binary),
        };
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.root.join(format!("{i}.log")));
        let log = log.expect("a log");
        command
            .args(["--name", &member.name, "--data-dir"])
            .arg(&member.directory)
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &cluster.join(","), "--initial-cluster-token", "doorway"])
            .args(["--initial-cluster-state", "new", "--unsafe-no-fsync"])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500"])
            .args(["--logger=zap", "--log-level", "warn"])
            .args(self.tls.iter().flat_map(|(certificate, key)| {
                ["--cert-file".into(), certificate.clone(), "--key-file".into(), key.clone()]
            }))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log);
        self.members[i].child = Some(command.spawn().expect("etcd starts"));
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The numbers of the members' processes.
    #[allow(dead_code)]
    pub fn processes(&self) -> Vec<u32> {
        self.members.iter().filter_map(|member| Some(member.child.as_ref()?.id())).collect()
    }

    pub fn endpoints(&self) -> Vec<String> {
        (0..self.len()).map(|i| self.endpoint(i)).collect()
    }

    fn endpoint(&self, i: usize) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address(i))
    }

    pub fn address(&self, i: usize) -> String {
        format!("{}:{}", self.members[i].host, self.members[i].client)
    }

    fn get(&self, i: usize, path: &str) -> Option<String> {
        let args = ["-s", "-k", "--max-time", "2"];
        let url = format!("{}{path}", self.endpoint(i));
        let out = Command::new("curl").args(args).arg(url).output().ok()?;
        String::from_utf8(out.stdout).ok()
    }

    /// Waits until all members that run are healthy.
    pub fn await_health(&self) {
        let start = Instant::now();
        let is_healthy = |i: usize| self.get(i, "/health").is_some_and(|text| text.contains("true"));
        while !(0..self.len()).all(|i| self.members[i].child.is_none() || is_healthy(i)) {
            assert!(start.elapsed() < Duration::from_secs(120), "the cluster is not healthy; see {:?}", self.root);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Which member leads, by its own account.
    pub fn leader(&self) -> Option<usize> {
        (0..self.len()).filter(|&i| self.members[i].child.is_some()).find(|&i| {
            self.get(i, "/metrics").is_some_and(|text| text.lines().any(|line| line == "etcd_server_is_leader 1"))
        })
    }

    /// How many requests of these methods the members have answered.
    pub fn handled(&self, methods: &[&str]) -> u64 {
        let of = |i: usize| -> u64 {
            let text = self.get(i, "/metrics").unwrap_or_default();
            let counts = |line: &&str| {
                line.starts_with("grpc_server_handled_total")
                    && methods.iter().any(|method| line.contains(&format!("grpc_method=\"{method}\"")))
            };
            let value = |line: &str| line.rsplit(' ').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) as u64;
            text.lines().filter(counts).map(value).sum()
        };
        (0..self.len()).map(of).sum()
    }

    fn signal(&self, i: usize, signal: i32) {
        if let Some(child) = &self.members[i].child {
            // SAFETY: it is a child of this process that was not waited for.
            unsafe { libc::kill(child.id() as i32, signal) };
        }
    }

    pub fn kill(&mut self, i: usize) {
        if let Some(mut child) = self.members[i].child.take() {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
    }

    /// Kills the only member, and starts it with the data of this directory, or with none.
    pub fn replace(&mut self, with: Option<&std::path::Path>) {
        self.kill(0);
        let directory = &self.members[0].directory;
        std::fs::remove_dir_all(directory).expect("its data");
        if let Some(backup) = with {
            let copied = Command::new("cp").arg("-r").args([backup, directory]).status();
            assert!(copied.expect("cp").success());
        }
        self.run(0);
        self.await_health();
    }

    /// Copies the data of the only member, while it does not run.
    pub fn back_up(&mut self) -> PathBuf {
        self.kill(0);
        let backup = self.root.join("backup");
        let copied = Command::new("cp").arg("-r").args([&self.members[0].directory, &backup]).status();
        assert!(copied.expect("cp").success());
        self.run(0);
        self.await_health();
        backup
    }

    pub fn stop(&self, i: usize) {
        self.signal(i, libc::SIGSTOP);
    }

    pub fn go_on(&self, i: usize) {
        self.signal(i, libc::SIGCONT);
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        (0..self.len()).for_each(|i| self.kill(i));
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}
