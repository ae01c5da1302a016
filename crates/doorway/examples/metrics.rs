//! A service whose slots and pools can be scraped: `/metrics` in the text format of Prometheus, and
//! `/status` for people.
//!
//! ```text
//! cargo run -p doorway --example metrics -- 127.0.0.1:9184
//! curl http://127.0.0.1:9184/metrics
//! ```
//!
//! It answers one connection after the other, and gives each five seconds. `docs/operating.md`
//! explains the figures.

use doorway::observed::{Histogram, Status};
use doorway::{Pool, Slots};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("http://{}/metrics", listener.local_addr()?);

    let gpus = Slots::new(2)?.observed("gpus");
    let connections = Pool::new(["first", "second", "third"])?.observed("connections");
    thread::scope(|s| {
        for _ in 0..5 {
            s.spawn(|| {
                loop {
                    let work = Duration::from_millis(fastrand::u64(1..50));
                    if let Ok(_mine) = gpus.acquire_timeout(Duration::from_millis(60)) {
                        let _connection = connections.acquire();
                        thread::sleep(work);
                    }
                }
            });
        }
        loop {
            let answered = serve(&listener, || vec![gpus.status(), connections.status()]);
            if let Err(error) = answered {
                eprintln!("a connection failed: {error}"); // the next may not
            }
        }
    })
}

/// Answers one connection. Returns an error if the connection broke or took too long.
pub(crate) fn serve(listener: &TcpListener, figures: impl FnOnce() -> Vec<Status>) -> io::Result<()> {
    const PATIENCE: Option<Duration> = Some(Duration::from_secs(5));
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(PATIENCE)?;
    stream.set_write_timeout(PATIENCE)?;
    let head = head(&mut stream)?;
    let mut words = head.split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => ("200 OK", metrics(&figures())),
        (Some("GET"), Some("/status")) => ("200 OK", figures().iter().map(|status| format!("{status}\n")).collect()),
        (Some("GET"), Some(_)) => ("404 Not Found", "ask for /metrics or /status\n".to_owned()),
        _ => ("400 Bad Request", "ask with GET\n".to_owned()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

/// Reads a request up to the empty line, or up to a sensible length.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    const MOST: usize = 8 << 10;
    let mut read = Vec::new();
    let mut piece = [0; 512];
    while read.len() < MOST && !read.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => break,
            n => read.extend_from_slice(&piece[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

/// The figures as Prometheus reads them.
fn metrics(all: &[Status]) -> String {
    let mut text = String::new();
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
    let mut gauge = |name: &str, help: &str, figure: &dyn Fn(&Status) -> f64| {
        family(&mut text, name, "gauge", help);
        for status in all {
            sample(&mut text, name, &[("slots", &status.name)], figure(status));
        }
    };
    gauge("doorway_places", "Places.", &|status| status.places as f64);
    gauge("doorway_available", "Places that are free.", &|status| status.available as f64);
    gauge("doorway_held", "Places that are held.", &|status| status.holders.len() as f64);
    gauge("doorway_unaccounted", "Places neither free nor held.", &|status| status.unaccounted() as f64);
    gauge("doorway_closed", "1 if closed.", &|status| f64::from(u8::from(status.closed)));
    gauge("doorway_waiters", "Callers that wait.", &|status| status.waiters as f64);
    gauge("doorway_oldest_wait_seconds", "How long the oldest waiter has waited.", &|status| {
        seconds(status.oldest_wait)
    });
    gauge("doorway_oldest_hold_seconds", "How long the oldest holder has held.", &|status| {
        seconds(status.holders.iter().map(|holder| holder.held_for).max())
    });

    family(&mut text, "doorway_waiting_at", "gauge", "Callers that wait, by call site.");
    for status in all {
        for at in &status.waiting_at {
            let labels = [("slots", &*status.name), ("site", &at.site.to_string())];
            sample(&mut text, "doorway_waiting_at", &labels, at.waiters as f64);
        }
    }
    family(&mut text, "doorway_calls_total", "counter", "Calls that were answered, by outcome.");
    for status in all {
        for (outcome, calls) in [
            ("granted", status.granted),
            ("timed_out", status.timed_out),
            ("cancelled", status.cancelled),
            ("refused", status.refused),
            ("no_place", status.no_place),
        ] {
            sample(&mut text, "doorway_calls_total", &[("slots", &status.name), ("outcome", outcome)], calls as f64);
        }
    }
    let mut histogram = |name: &str, help: &str, of: &dyn Fn(&Status) -> &Histogram| {
        family(&mut text, name, "histogram", help);
        all.iter().for_each(|status| buckets(&mut text, name, &status.name, of(status)));
    };
    histogram("doorway_wait_seconds", "Waits of callers that were let in.", &|status| &status.waits);
    histogram("doorway_given_up_seconds", "Waits of callers that were not.", &|status| &status.given_up);
    histogram("doorway_hold_seconds", "How long places were held.", &|status| &status.holds);
    text
}

/// Shows every second bucket from a microsecond to a minute. Buckets are cumulative, so the next
/// one counts what was omitted.
fn buckets(text: &mut String, name: &str, slots: &str, histogram: &Histogram) {
    let mut so_far = 0;
    for (i, (longest, count)) in histogram.buckets().enumerate() {
        so_far += count;
        if (10..=36).contains(&i) && i % 2 == 0 {
            let le = longest.as_secs_f64().to_string();
            sample(text, &format!("{name}_bucket"), &[("slots", slots), ("le", &le)], so_far as f64);
        }
    }
    sample(text, &format!("{name}_bucket"), &[("slots", slots), ("le", "+Inf")], so_far as f64);
    sample(text, &format!("{name}_sum"), &[("slots", slots)], histogram.sum.as_secs_f64());
    sample(text, &format!("{name}_count"), &[("slots", slots)], so_far as f64);
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}"); // a `String` takes everything
}

fn sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
}
