//! The page of a driver, on a loopback address.
//!
//! Pages of other sites in the same browser can send requests to this address too. So the address
//! contains random bits that only this page knows. The server refuses a request without these bits,
//! a request that names another host (so no other name can be pointed here), and a request from
//! another origin.

use super::{Driver, GRAMMAR};
use crate::sim::TextError;
use crate::viewer;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const MOST_HEADERS: usize = 64;
const LONGEST_HEAD: usize = 32 << 10;
const LONGEST_BODY: usize = 4 << 20;
/// Connections whose request has not shown the token yet. One more, and the oldest is closed.
const MOST_STRANGERS: usize = 48;
/// Requests with the token that are being answered. A browser keeps six for each tab's host.
const MOST_GUESTS: usize = 64;
/// Each search has a machine of its own, with states of its own.
const MOST_SEARCHES: usize = 4;
/// How long a whole request may take to arrive, and a connection to close after its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// After how many states a search looks whether the page that asked is still there.
const LOOKS_UP: u32 = 512;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Make = dyn Fn() -> Result<Driver, TextError> + Send + Sync;

/// A page that is being served.
///
/// Positions are answered one after the other, in the thread that [runs](Page::run) the page. Each
/// search has a thread and a machine of its own, so it keeps no other tab waiting.
pub struct Page {
    driver: Driver,
    listener: TcpListener,
    door: Arc<Door>,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("port", &self.door.port).finish_non_exhaustive()
    }
}

/// Why there is no page.
#[derive(Debug)]
#[non_exhaustive]
pub enum PageError {
    /// The text cannot be run by replay.
    Text(TextError),
    /// The port is not available.
    Port(io::Error),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(e) => e.fmt(f),
            Self::Port(e) => write!(f, "cannot serve a page on 127.0.0.1: {e}; give another port, or 0 for any"),
        }
    }
}
impl std::error::Error for PageError {}

/// What a request must know, and which requests there are.
struct Door {
    port: u16,
    token: String,
    patience: Duration,
    make: Box<Make>,
    /// The oldest first.
    strangers: Mutex<VecDeque<Arc<TcpStream>>>,
    guests: AtomicUsize,
    /// The searches under way by the names that their pages gave them, and whether they should end.
    searches: Mutex<HashMap<String, Arc<AtomicBool>>>,
}

/// A question, and where its answer goes.
type Asked = (Value, Sender<Answer>);
/// A status, and a document.
type Answer = (u16, Value);

/// 128 bits that no other program can guess: the keys of the hash function come from the system's
/// source of random numbers.
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

/// A thread that panicked while it held the lock has left nothing half-done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Page {
    /// Takes a port of the loopback address: this one, or any if it is 0. `make` builds the
    /// machine, once for the page and once for each search. Nothing is answered before
    /// [`Page::run`].
    ///
    /// ```
    /// use doorway_check::Property;
    /// use doorway_check::drive::{Driver, Page};
    /// use doorway_check::sim::{Rules, World};
    /// use doorway_core::k_exclusion::anderson_moir_94::Chain;
    ///
    /// let page = Page::new(0, || {
    ///     let chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1))?;
    ///     Driver::new(chain, vec![Property::exclusion("k-exclusion", 1)])
    /// })?;
    /// assert!(page.url().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), doorway_check::drive::PageError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay, or the port is not available.
    pub fn new(
        port: u16,
        make: impl Fn() -> Result<Driver, TextError> + Send + Sync + 'static,
    ) -> Result<Self, PageError> {
        let driver = make().map_err(PageError::Text)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(PageError::Port)?;
        let door = Door {
            port: listener.local_addr().map_err(PageError::Port)?.port(),
            token: random(),
            patience: PATIENCE,
            make: Box::new(make),
            strangers: Mutex::default(),
            guests: AtomicUsize::new(0),
            searches: Mutex::default(),
        };
        Ok(Self { driver, listener, door: Arc::new(door) })
    }

    /// How long a request may take to arrive as a whole; ten seconds by default.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        let Self { driver, listener, door } = self;
        let door = Arc::into_inner(door).map(|door| Arc::new(Door { patience, ..door }));
        // No other thread has the door before the page runs.
        Self { driver, listener, door: door.expect("the page does not run yet") }
    }

    /// Its address. Only a browser that is given this address can use the page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.door.port, self.door.token)
    }

    /// Answers, for as long as the program runs.
    pub fn run(mut self) {
        let (to, questions) = channel::<Asked>();
        let first = self.first_page();
        let (listener, door) = (self.listener, self.door);
        std::thread::spawn(move || {
            loop {
                let Ok((stream, _)) = listener.accept() else {
                    // There are too many open files; some will be closed.
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                let stranger = Stranger::comes(&door, stream);
                let (to, first) = (to.clone(), Arc::clone(&first));
                // A browser that goes away is not an error. If there is no other thread, it is sent
                // away.
                let _ = std::thread::Builder::new().spawn(move || drop(serve(stranger, &to, &first)));
            }
        });
        // The machine stays in this thread.
        answer_all(&mut self.driver, &questions);
    }

    fn first_page(&mut self) -> Arc<str> {
        let begin = std::mem::take(&mut self.driver.begin);
        let record = self.driver.record(&begin, None, None).or_else(|_| self.driver.record(&[], None, None));
        record.map_or_else(|e| e.to_string(), |record| viewer::driven_page(&record, GRAMMAR)).into()
    }
}

fn answer_all(driver: &mut Driver, questions: &Receiver<Asked>) {
    while let Ok((question, to)) = questions.recv() {
        let _ = to.send(status(driver.answer(&question, &|| false)));
    }
}

fn status(answer: Result<Value, Value>) -> Answer {
    match answer {
        Ok(answer) => (200, answer),
        Err(error) => (400, error),
    }
}

/// A connection that has not shown the token yet. There may be many of these at a time, on purpose
/// or not. The oldest has to leave for the newest, so that they keep no browser out.
struct Stranger {
    door: Arc<Door>,
    stream: Arc<TcpStream>,
    until: Instant,
}

impl Stranger {
    fn comes(door: &Arc<Door>, stream: TcpStream) -> Self {
        let stream = Arc::new(stream);
        let mut strangers = locked(&door.strangers);
        strangers.push_back(Arc::clone(&stream));
        if strangers.len() > MOST_STRANGERS
            && let Some(oldest) = strangers.pop_front()
        {
            // Its thread notices that.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        drop(strangers);
        Self { door: Arc::clone(door), stream, until: Instant::now() + door.patience }
    }

    /// It has shown the token. `None` if there are too many of these.
    fn is_known(&self) -> Option<Guest<'_>> {
        self.leaves();
        let guest = Guest { door: &self.door };
        (self.door.guests.fetch_add(1, SeqCst) < MOST_GUESTS).then_some(guest)
    }

    fn leaves(&self) {
        locked(&self.door.strangers).retain(|other| !Arc::ptr_eq(other, &self.stream));
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.leaves();
    }
}

/// A request with the token, until it is answered.
struct Guest<'d> {
    door: &'d Door,
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.door.guests.fetch_sub(1, SeqCst);
    }
}

/// Reads until a moment, however slowly the bytes come.
struct Until<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

/// What matters of the head of a request.
struct Request {
    post: bool,
    path: String,
    /// In small letters.
    headers: Vec<(String, String)>,
    /// How long the body is.
    length: usize,
    /// What has come of the body so far.
    begun: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads the head; `None` if it is malformed or too long.
    fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            let n = stream.read(&mut part)?;
            if n == 0 {
                return Ok(None);
            }
            bytes.extend_from_slice(&part[..n]);
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut head = httparse::Request::new(&mut headers);
            let ends = match head.parse(&bytes) {
                Ok(httparse::Status::Complete(ends)) => ends,
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
            let mut request = Self {
                post,
                path: head.path.unwrap_or_default().to_owned(),
                headers: head.headers.iter().map(pair).collect(),
                length: 0,
                begun: bytes[ends..].to_vec(),
            };
            let length = request.header("content-length").map_or(Some(0), |length| length.parse::<usize>().ok());
            let Some(length) = length.filter(|&length| length <= LONGEST_BODY) else { return Ok(None) };
            request.length = length;
            return Ok(Some(request));
        }
    }

    /// The body, if it comes as a whole.
    fn body(&mut self, stream: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut body = std::mem::take(&mut self.begun);
        body.truncate(self.length);
        stream.take((self.length - body.len()) as u64).read_to_end(&mut body)?;
        Ok(body)
    }
}

/// Why a request is refused, if it is.
fn refusal(request: &Request, door: &Door) -> Option<(u16, &'static str)> {
    // A browser leaves out port 80, which is the usual one.
    let port = if door.port == 80 { String::new() } else { format!(":{}", door.port) };
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}{port}"));
    let is_ours = |host: &&str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    let once = request.headers.iter().filter(|(name, _)| name == "host").count() == 1;
    let Some(host) = request.header("host").filter(is_ours).filter(|_| once) else {
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

fn serve(stranger: Stranger, to: &Sender<Asked>, first: &str) -> io::Result<()> {
    let (stream, door) = (&*stranger.stream, &*stranger.door);
    stream.set_write_timeout(Some(door.patience))?;
    let mut coming = Until { stream, until: stranger.until };
    let Some(mut request) = Request::read(&mut coming)? else {
        return stranger.reply(400, "text/plain", b"bad request");
    };
    if let Some((status, why)) = refusal(&request, door) {
        return stranger.reply(status, "text/plain", why.as_bytes());
    }
    let Some(_guest) = stranger.is_known() else {
        return stranger.reply(503, "text/plain", b"too many requests at a time");
    };
    let path = &request.path[1 + door.token.len()..];
    match (request.post, path) {
        (false, "/") => stranger.reply(200, "text/html", first.as_bytes()),
        (true, "/ask") => {
            let body = request.body(&mut coming)?;
            let (status, answer) = ask(&body, door, to, stream);
            stranger.reply(status, "application/json", answer.to_string().as_bytes())
        }
        _ => stranger.reply(404, "text/plain", b"there is nothing here"),
    }
}

fn ask(body: &[u8], door: &Door, to: &Sender<Asked>, stream: &TcpStream) -> Answer {
    let Ok(question) = serde_json::from_slice::<Value>(body) else {
        return (400, json!({ "error": "this is not JSON" }));
    };
    let name = || question["search"].as_str().unwrap_or_default().to_owned();
    match question["ask"].as_str() {
        Some("stop") => {
            if let Some(search) = locked(&door.searches).get(&name()) {
                search.store(true, SeqCst);
            }
            (200, json!({}))
        }
        Some("search") => search(&question, name(), door, stream),
        _ => {
            let (answer, answers) = channel();
            let gone = (500, json!({ "error": "the driver has ended" }));
            if to.send((question, answer)).is_err() {
                return gone;
            }
            answers.recv().unwrap_or(gone)
        }
    }
}

/// Searches in this thread, with a machine of its own, until the page says stop or has gone away.
fn search(question: &Value, name: String, door: &Door, stream: &TcpStream) -> Answer {
    let stopped = Arc::new(AtomicBool::new(false));
    let mut searches = locked(&door.searches);
    if searches.len() >= MOST_SEARCHES {
        let error = format!("{MOST_SEARCHES} searches are under way; stop one of them, or wait");
        return (429, json!({ "error": error }));
    }
    if searches.contains_key(&name) {
        return (400, json!({ "error": "a search of this name is under way" }));
    }
    searches.insert(name.clone(), Arc::clone(&stopped));
    drop(searches);
    let _ends = Ends { door, name };
    let turns = Cell::new(0u32);
    let stop = || {
        turns.set(turns.get().wrapping_add(1));
        stopped.load(SeqCst) || turns.get().is_multiple_of(LOOKS_UP) && has_gone(stream)
    };
    let mut driver = match (door.make)() {
        Ok(driver) => driver,
        Err(e) => return (500, json!({ "error": e.to_string() })),
    };
    status(driver.answer(question, &stop))
}

/// Strikes a search off the list, whatever ends it.
struct Ends<'d> {
    door: &'d Door,
    name: String,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        locked(&self.door.searches).remove(&self.name);
    }
}

/// Whether the other side has closed the connection.
fn has_gone(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let looked = stream.peek(&mut [0]);
    let waits = matches!(&looked, Err(e) if e.kind() == io::ErrorKind::WouldBlock);
    stream.set_nonblocking(false).is_err() || !waits && !matches!(looked, Ok(1..))
}

impl Stranger {
    fn reply(&self, status: u16, kind: &str, body: &[u8]) -> io::Result<()> {
        reply(&self.stream, status, kind, body, self.door.patience)
    }
}

fn reply(mut stream: &TcpStream, status: u16, kind: &str, body: &[u8], patience: Duration) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
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
    let mut rest = Until { stream, until: Instant::now() + patience };
    io::copy(&mut rest, &mut io::sink()).map(|_| ())
}
