//! The page of a driver, on a loopback address.
//!
//! Pages of other sites in the same browser can send requests to this address too. So every address
//! contains a random token that only the page knows; a request must name this host, so that no
//! other name can be pointed here; and it must not come from another origin.

use super::{Driver, GRAMMAR};
use crate::viewer;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const MOST_HEADERS: usize = 64;
const LONGEST_HEAD: usize = 32 << 10;
const LONGEST_BODY: usize = 4 << 20;
/// A browser keeps a few connections; more are refused.
const MOST_CONNECTIONS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(20);

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page that is being served.
#[derive(Debug)]
pub struct Page {
    driver: Driver,
    listener: TcpListener,
    door: Arc<Door>,
}

/// What a request must know.
#[derive(Debug)]
struct Door {
    port: u16,
    token: String,
    /// How many questions have come.
    asked: AtomicU64,
    /// Searches of questions up to this one should end.
    stopped: AtomicU64,
    connections: AtomicUsize,
}

/// A question, its number, and where its answer goes.
type Asked = (Value, u64, Sender<(u16, Value)>);

impl Driver {
    /// Takes a port of the loopback address: this one, or any if it is 0. Nothing is answered
    /// before [`Page::run`].
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn serve(self, port: u16) -> io::Result<Page> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let door = Door {
            port: listener.local_addr()?.port(),
            token: random(),
            asked: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
        };
        Ok(Page { driver: self, listener, door: Arc::new(door) })
    }
}

/// 128 bits that nobody can guess: the keys of the hash function come from the system's source of
/// random numbers.
fn random() -> String {
    let keys = RandomState::new();
    let mut token = String::new();
    for half in 0..2u8 {
        let mut hasher = keys.build_hasher();
        hasher.write_u8(half);
        let _ = write!(token, "{:016x}", hasher.finish());
    }
    token
}

impl Page {
    /// Its address. Only a browser that is given this address can use the page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.door.port, self.door.token)
    }

    /// Answers, for as long as the program runs.
    pub fn run(mut self) {
        let (to, questions) = channel::<Asked>();
        let first = self.first_page();
        let (listener, door) = (self.listener, Arc::clone(&self.door));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (door, to, first) = (Arc::clone(&door), to.clone(), Arc::clone(&first));
                if door.connections.fetch_add(1, SeqCst) >= MOST_CONNECTIONS {
                    door.connections.fetch_sub(1, SeqCst);
                    continue;
                }
                std::thread::spawn(move || {
                    // A browser that goes away is not an error.
                    let _ = serve(stream, &door, &to, &first);
                    door.connections.fetch_sub(1, SeqCst);
                });
            }
        });
        // The machine stays in this thread.
        answer_all(&mut self.driver, &self.door, &questions);
    }

    fn first_page(&mut self) -> Arc<str> {
        let begin = std::mem::take(&mut self.driver.begin);
        let record = self.driver.record(&begin, None, None).or_else(|_| self.driver.record(&[], None, None));
        record.map_or_else(|e| e.to_string(), |record| viewer::driven_page(&record, GRAMMAR)).into()
    }
}

fn answer_all(driver: &mut Driver, door: &Door, questions: &Receiver<Asked>) {
    while let Ok((question, number, to)) = questions.recv() {
        let answer = match driver.answer(&question, &|| door.stopped.load(SeqCst) >= number) {
            Ok(answer) => (200, answer),
            Err(error) => (400, error),
        };
        let _ = to.send(answer);
    }
}

/// What matters of a request.
struct Request {
    post: bool,
    path: String,
    /// The headers that matter, in small letters.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a request; `None` if it is malformed or too long.
fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let n = stream.read(&mut part)?;
        if n == 0 || bytes.len() + n > LONGEST_HEAD + LONGEST_BODY {
            return Ok(None);
        }
        bytes.extend_from_slice(&part[..n]);
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let length = match head.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => continue,
            _ => return Ok(None),
        };
        let post = match head.method {
            Some("GET") => false,
            Some("POST") => true,
            _ => return Ok(None),
        };
        let pair =
            |h: &httparse::Header<'_>| (h.name.to_ascii_lowercase(), String::from_utf8_lossy(h.value).into_owned());
        let mut request = Request {
            post,
            path: head.path.unwrap_or_default().to_owned(),
            headers: head.headers.iter().map(pair).collect(),
            body: Vec::new(),
        };
        let body = request.header("content-length").map_or(Some(0), |length| length.parse::<usize>().ok());
        let Some(body) = body.filter(|&body| body <= LONGEST_BODY) else { return Ok(None) };
        while bytes.len() < length + body {
            let n = stream.read(&mut part)?;
            if n == 0 {
                return Ok(None);
            }
            bytes.extend_from_slice(&part[..n]);
        }
        request.body = bytes[length..length + body].to_vec();
        return Ok(Some(request));
    }
}

/// Why a request is refused, if it is.
fn refusal(request: &Request, door: &Door) -> Option<(u16, &'static str)> {
    // A browser leaves out port 80, which is the usual one.
    let port = if door.port == 80 { String::new() } else { format!(":{}", door.port) };
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}{port}"));
    let is_ours = |host: &&str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    let Some(host) = request.header("host").filter(is_ours) else {
        return Some((421, "this is another host"));
    };
    let own = format!("http://{host}");
    if request.header("origin").map_or(request.post, |origin| !origin.eq_ignore_ascii_case(&own)) {
        return Some((403, "this is another origin"));
    }
    if !matches!(request.header("sec-fetch-site"), None | Some("same-origin" | "none")) {
        return Some((403, "this is another site"));
    }
    let token = request.path.strip_prefix('/').and_then(|path| path.split_once('/')).map_or("", |(token, _)| token);
    let differs = token.len() != door.token.len()
        || token.bytes().zip(door.token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) != 0;
    if differs {
        return Some((404, "there is nothing here; use the address that the command has printed"));
    }
    let json = request.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    (request.post && !json).then_some((415, "this is not JSON"))
}

fn serve(mut stream: TcpStream, door: &Door, to: &Sender<Asked>, first: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(request) = read(&mut stream)? else { return reply(&mut stream, 400, "text/plain", b"bad request") };
    if let Some((status, why)) = refusal(&request, door) {
        return reply(&mut stream, status, "text/plain", why.as_bytes());
    }
    let path = &request.path[1 + door.token.len()..];
    match (request.post, path) {
        (false, "/") => reply(&mut stream, 200, "text/html", first.as_bytes()),
        (true, "/ask") => {
            let (status, answer) = ask(&request.body, door, to);
            reply(&mut stream, status, "application/json", answer.to_string().as_bytes())
        }
        _ => reply(&mut stream, 404, "text/plain", b"there is nothing here"),
    }
}

fn ask(body: &[u8], door: &Door, to: &Sender<Asked>) -> (u16, Value) {
    let Ok(question) = serde_json::from_slice::<Value>(body) else {
        return (400, json!({ "error": "this is not JSON" }));
    };
    if question["ask"] == "stop" {
        door.stopped.store(door.asked.load(SeqCst), SeqCst);
        return (200, json!({}));
    }
    let (answer, answers) = channel();
    let gone = (500, json!({ "error": "the driver has ended" }));
    let number = door.asked.fetch_add(1, SeqCst) + 1;
    if to.send((question, number, answer)).is_err() {
        return gone;
    }
    answers.recv().unwrap_or(gone)
}

fn reply(stream: &mut TcpStream, status: u16, kind: &str, body: &[u8]) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        _ => "Internal Server Error",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()?;
    // Otherwise unread bytes of a request that was refused could take the answer with them.
    stream.shutdown(Shutdown::Write)?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}
