//! The metrics endpoint of the example: it is scraped, and agrees with `status()`.

#[allow(dead_code)] // its `main` runs for ever
#[path = "../../examples/metrics.rs"]
mod example;

use doorway::observed::Status;
use doorway::{Pool, Slots};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

/// Sends this to the endpoint, and reads the answer.
fn ask(listener: &TcpListener, figures: &(dyn Fn() -> Vec<Status> + Sync), what: &str) -> String {
    thread::scope(|s| {
        let server = s.spawn(|| example::serve(listener, figures));
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.write_all(what.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        server.join().unwrap().unwrap();
        answer
    })
}

/// The samples by name and labels. Each belongs to a family that was declared once, before it.
fn parse(text: &str) -> BTreeMap<&str, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').unwrap();
            assert_eq!(families.insert(name, kind), None, "{name} twice");
        } else if !line.starts_with('#') {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
            let kind = families.get(name).or_else(|| families.get(of_histogram?));
            assert!(kind.is_some_and(|kind| (*kind == "histogram") == of_histogram.is_some()), "{line}");
            assert_eq!(samples.insert(sample, value.parse().unwrap()), None, "{sample} twice");
        }
    }
    samples
}

#[test]
fn what_is_scraped_is_what_the_status_says() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (gpus, pool) =
        (Slots::new(2).unwrap().observed("the \"gpus\"\n"), Pool::new([1, 2, 3]).unwrap().observed("pool"));
    let held = gpus.acquire_many(2).unwrap();
    let lent = pool.acquire().unwrap();
    assert!(gpus.try_acquire().is_err() && gpus.acquire_timeout(Duration::from_millis(2)).is_err());
    let (mut waits, line) = (gpus.acquire_async(), line!());
    assert!(Pin::new(&mut waits).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(pool.acquire());
    let figures = || vec![gpus.status(), pool.status()];

    let answer = ask(&listener, &figures, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(&format!("Content-Length: {}\r\n", body.len())));
    let samples = parse(body);
    let after = figures();
    for (name, status) in [(r#"the \"gpus\"\n"#, &after[0]), ("pool", &after[1])] {
        let sample = |what: &str| samples[&*format!("doorway_{what}{{slots=\"{name}\"}}")];
        let calls = |outcome: &str| samples[&*format!("doorway_calls_total{{slots=\"{name}\",outcome=\"{outcome}\"}}")];
        assert_eq!(sample("places"), status.places as f64);
        assert_eq!(sample("available"), status.available as f64);
        assert_eq!(sample("held"), status.holders.len() as f64);
        assert_eq!((sample("unaccounted"), sample("closed")), (0.0, 0.0));
        assert_eq!(sample("waiters"), status.waiters as f64);
        assert_eq!(sample("oldest_wait_seconds") > 0.0, status.waiters > 0);
        assert!(sample("oldest_wait_seconds") <= status.oldest_wait.unwrap_or_default().as_secs_f64());
        assert!(sample("oldest_hold_seconds") > 0.0);
        let expected = [status.granted, status.timed_out, status.cancelled, status.refused, status.no_place];
        let outcomes = ["granted", "timed_out", "cancelled", "refused", "no_place"];
        assert_eq!(outcomes.map(calls), expected.map(|calls| calls as f64));
        for (what, histogram) in [("wait", &status.waits), ("given_up", &status.given_up), ("hold", &status.holds)] {
            assert_eq!(sample(&format!("{what}_seconds_count")), histogram.count() as f64);
            assert_eq!(sample(&format!("{what}_seconds_sum")), histogram.sum.as_secs_f64());
            let prefix = format!("doorway_{what}_seconds_bucket{{slots=\"{name}\",le=\"");
            let mut buckets: Vec<(f64, f64)> = samples
                .iter()
                .filter_map(|(sample, count)| Some((sample.strip_prefix(&*prefix)?.strip_suffix("\"}")?, *count)))
                .map(|(le, count)| (le.parse().unwrap(), count))
                .collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(buckets.len() > 10 && buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
            assert_eq!(buckets.last(), Some(&(f64::INFINITY, histogram.count() as f64)));
            for (le, count) in buckets {
                let within = histogram.buckets().filter(|(longest, _)| longest.as_secs_f64() <= le);
                assert_eq!(count, within.map(|(_, count)| count as f64).sum(), "{what} up to {le}");
            }
        }
    }
    assert_eq!((after[0].timed_out, after[0].no_place, after[1].granted), (1, 1, 2));
    let site = format!("{}:{line}:", file!());
    let (_, waiters) =
        samples.iter().find(|(sample, _)| sample.contains("waiting_at{") && sample.contains(&site)).unwrap();
    assert_eq!(*waiters, 1.0);

    let people = ask(&listener, &figures, "GET /status HTTP/1.1\r\n\r\n");
    assert!(people.contains("2 of 2 held, 1 waiting") && people.contains(&site), "{people}");
    drop((held, lent));
}

#[test]
fn what_is_no_scrape_is_answered_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let figures = || Vec::new();
    assert!(ask(&listener, &figures, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    for nonsense in ["POST /metrics HTTP/1.1\r\n\r\n", "", "\0\u{1}\u{2}", "GET\r\n\r\n"] {
        assert!(ask(&listener, &figures, nonsense).starts_with("HTTP/1.1 400 "), "{nonsense:?}");
    }
}
