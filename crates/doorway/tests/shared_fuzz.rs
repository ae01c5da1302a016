//! Files that another program wrote, in great numbers: they cause nothing but errors.
//! `ci/fuzz-shared.sh` runs ten million cases.
//!
//! A case is a damage and one action of a user. Most cases damage words of an open file. A handle
//! that has found the damage is told to forget it, so that a case takes microseconds. Files that
//! are truncated or extended, and damaged headers, are opened again.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Builder, Error, Mode, ReleaseError, Slots, TimeoutError, TryAcquireError, torture};
use fastrand::Rng;
use shared_kit::Place;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const SLOTS: u64 = 3;
const SEATS: u64 = 64;
const BODY: u64 = 4096;
const LINE: u64 = 128;
const LENGTH: u64 = BODY + LINE * (2 + SLOTS + SEATS);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn cases() -> u64 {
    setting("DOORWAY_FUZZ_CASES", 30_000)
}

fn rng(salt: u64) -> Rng {
    Rng::with_seed(setting("DOORWAY_FUZZ_SEED", 1) ^ salt << 48)
}

/// The results of the cases.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    fn failed(&mut self, error: &Error) {
        self.count(match error {
            Error::Corrupt(_) => "corrupt",
            Error::NoSeats { .. } => "no seats",
            Error::OtherVersion { .. } => "other version",
            Error::OtherFeatures { .. } => "other features",
            Error::OtherSlots { .. }
            | Error::OtherSeats { .. }
            | Error::OtherMode { .. }
            | Error::OtherBypass { .. } => "other sizes",
            other => panic!("{other:?}"),
        });
    }

    fn print(&self, what: &str) {
        println!("{what}: {} cases: {:?}", self.0.values().sum::<u64>(), self.0);
    }
}

/// Ends the program if a case takes minutes.
fn watched<T>(work: impl FnOnce(&AtomicU64) -> T) -> T {
    let (turn, over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut seen, mut quiet) = (u64::MAX, 0);
            while !over.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(100));
                let now = turn.load(SeqCst);
                quiet = if now == seen { quiet + 1 } else { 0 };
                seen = now;
                if quiet > 3000 {
                    eprintln!("case {now} hangs");
                    std::process::abort();
                }
            }
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&turn)));
        over.store(true, SeqCst);
        done.unwrap_or_else(|panic| {
            eprintln!("in case {}", turn.load(SeqCst));
            std::panic::resume_unwind(panic)
        })
    })
}

/// A word that resembles a real one. A ticket from the future makes loops run 65536 rounds, so it
/// is rare.
fn word(rng: &mut Rng) -> u64 {
    let small = |rng: &mut Rng| rng.u64(..6);
    match rng.u8(..16) {
        0..4 => 0,
        4 => rng.u64(..),
        5 => 1 << rng.u32(..64),
        6..10 => small(rng) << 15 | rng.u64(..SEATS + 4) << 3 | rng.u64(..8),
        10 => (u64::MAX << 15) | rng.u64(..SEATS) << 3 | rng.u64(..8),
        11..13 => rng.u64(..1000) << 2 | 1,
        13..15 => small(rng) << 15 | rng.u64(..SLOTS + 2) << 4 | rng.u64(..4) << 2 | 2,
        _ => u64::MAX,
    }
}

fn damage(file: &File, rng: &mut Rng) {
    for _ in 0..rng.u8(1..5) {
        let line = match rng.u8(..8) {
            0 | 1 => 0,
            2..5 => 2 + rng.u64(..SLOTS),
            _ => 2 + SLOTS + rng.u64(..SEATS),
        };
        let within = if rng.u8(..4) == 0 { rng.u64(..16) } else { 0 };
        let word = if line == 0 && within == 0 && rng.bool() { 1 << rng.u32(..64) } else { word(rng) };
        file.write_all_at(&word.to_le_bytes(), BODY + line * LINE + within * 8).unwrap();
    }
    if rng.u8(..6) == 0 {
        // All slots have living owners, so a caller must wait.
        for slot in 0..SLOTS {
            let held = rng.u64(..6) << 15 | rng.u64(SEATS / 2..SEATS) << 3 | 1;
            file.write_all_at(&held.to_le_bytes(), BODY + (2 + slot) * LINE).unwrap();
        }
    }
    if rng.u16(..2000) == 0 {
        let future = rng.u64(900..1100) << 2 | 1; // possibly a ticket that has not been drawn yet
        file.write_all_at(&future.to_le_bytes(), BODY + (2 + SLOTS + rng.u64(..SEATS)) * LINE).unwrap();
    }
}

/// As new, but a thousand tickets are drawn.
fn repair(file: &File) {
    file.write_all_at(&[0; (LENGTH - BODY) as usize], BODY).unwrap();
    file.write_all_at(&1000u64.to_le_bytes(), BODY + LINE).unwrap();
}

/// One action of a user.
fn use_once(slots: &Slots, rng: &mut Rng, tally: &mut Tally) {
    let release = |guard: doorway::shared::Guard<'_>, tally: &mut Tally| match guard.release() {
        Ok(()) => tally.count("let in"),
        Err(ReleaseError::Broken) => tally.count("broken"),
        Err(ReleaseError::Failed(error)) => tally.failed(&error),
    };
    match rng.u8(..64) {
        0..24 => match slots.try_acquire() {
            Ok(guard) => {
                let _ = (guard.slot(), guard.fence(), format!("{:?}", guard.previous()));
                release(guard, tally);
            }
            Err(TryAcquireError::NoPlace) => tally.count("no place"),
            Err(TryAcquireError::Failed(error)) => tally.failed(&error),
        },
        24..48 => {
            let mut task = pin!(slots.acquire_async());
            match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(guard)) => release(guard, tally),
                Poll::Ready(Err(error)) => tally.failed(&error),
                Poll::Pending => tally.count("gave up"),
            }
        }
        48 => match slots.acquire_timeout(Duration::from_micros(50)) {
            Ok(guard) => release(guard, tally),
            Err(TimeoutError::TimedOut) => tally.count("timed out"),
            Err(TimeoutError::Failed(error)) => tally.failed(&error),
        },
        49..56 => match slots.status() {
            Ok(status) => {
                assert!(status.holders.len() <= SLOTS as usize && status.waiters.len() <= SEATS as usize);
                tally.count("status");
            }
            Err(error) => tally.failed(&error),
        },
        _ => match slots.break_slot(rng.usize(..SLOTS as usize)) {
            Ok(_) => tally.count("break"),
            Err(error) => tally.failed(&error),
        },
    }
}

fn open(place: &Place, mode: Mode) -> (Slots, File) {
    let slots = Builder::new(place.file(), SLOTS as usize).seats(SEATS as usize).mode(mode).open().unwrap();
    let file = File::options().read(true).write(true).open(place.file()).unwrap();
    assert_eq!(file.metadata().unwrap().len(), LENGTH);
    (slots, file)
}

fn words(name: &str, mode: Mode, cases: u64, salt: u64) {
    let place = Place::in_memory(name);
    let (slots, file) = open(&place, mode);
    // Half of the seats have living owners.
    let others = Builder::existing(place.file()).open().unwrap();
    torture::crowd_out(&others, SEATS as usize / 2).unwrap();
    let mut rng = rng(salt);
    let mut tally = Tally::default();
    watched(|turn| {
        for case in 0..cases {
            turn.store(case, SeqCst);
            if case % 32 == 0 {
                repair(&file);
            }
            torture::forgive(&slots);
            damage(&file, &mut rng);
            use_once(&slots, &mut rng, &mut tally);
        }
        repair(&file);
        torture::forgive(&slots);
        assert!(slots.acquire().is_ok(), "in a whole file the same handle works");
    });
    tally.print(name);
    assert!(tally.0["corrupt"] > cases / 100 && tally.0["let in"] > cases / 100, "{:?}", tally.0);
}

#[test]
fn damaged_words_reclaim() {
    words("damaged words, reclaim", Mode::Reclaim, cases() * 65 / 100, 1);
}

#[test]
fn damaged_words_tolerate() {
    words("damaged words, tolerate", Mode::Tolerate, cases() * 25 / 100, 2);
}

/// Another thread writes while this one works.
#[test]
fn hostile_words_under_way() {
    let (name, cases) = ("words under way", cases() * 5 / 100);
    let place = Place::in_memory(name);
    let (slots, file) = open(&place, Mode::Reclaim);
    let (over, mut tally, mut chance) = (AtomicBool::new(false), Tally::default(), rng(3));
    let damages = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = rng(4);
            while !over.load(SeqCst) {
                damage(&file, &mut rng);
                if damages.fetch_add(1, SeqCst).is_multiple_of(16) {
                    repair(&file);
                }
                std::thread::yield_now();
            }
        });
        watched(|turn| {
            for case in 0..cases {
                turn.store(case, SeqCst);
                torture::forgive(&slots);
                use_once(&slots, &mut chance, &mut tally);
                // So that both have their turn on a busy machine.
                let seen = damages.load(SeqCst);
                while case % 64 == 0 && damages.load(SeqCst) == seen {
                    std::thread::yield_now();
                }
            }
        });
        over.store(true, SeqCst);
    });
    tally.print(name);
}

/// FNV-1a, as in the format.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Headers with flipped bytes, with various numbers under a correct checksum, and files of other
/// lengths.
#[test]
fn headers_and_lengths() {
    let (name, cases) = ("headers and lengths", cases() * 5 / 100);
    let place = Place::in_memory(name);
    let (slots, file) = open(&place, Mode::Reclaim);
    drop(slots);
    let mut whole = vec![0; LENGTH as usize];
    file.read_exact_at(&mut whole, 0).unwrap();
    let (mut tally, mut rng) = (Tally::default(), rng(5));
    watched(|turn| {
        for case in 0..cases {
            turn.store(case, SeqCst);
            let mut header: [u8; 64] = whole[..64].try_into().unwrap();
            let mut length = LENGTH;
            match rng.u8(..8) {
                0..2 => (0..rng.u8(1..6)).for_each(|_| header[rng.usize(..64)] ^= 1 << rng.u32(..8)),
                2..5 => {
                    for _ in 0..rng.u8(1..4) {
                        let at = 4 * rng.usize(2..14);
                        let value = [rng.u32(..), rng.u32(..130), 1 << rng.u32(..32), 0, u32::MAX][rng.usize(..5)];
                        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
                    }
                }
                5 => length = rng.u64(..2 * LENGTH),
                6 => length = LENGTH + rng.u64(..5) - 2,
                _ => rng.fill(&mut header),
            }
            if rng.u8(..4) != 0 {
                let sum = sum(&header[..56]);
                header[56..].copy_from_slice(&sum.to_le_bytes());
            }
            file.set_len(length).unwrap();
            file.write_all_at(&header[..64.min(length as usize)], 0).unwrap();
            let opened = match rng.u8(..2) {
                0 => Builder::new(place.file(), SLOTS as usize).seats(SEATS as usize).open(),
                _ => Slots::attach(place.file()),
            };
            match opened {
                Ok(slots) => match slots.status() {
                    Ok(_) => tally.count("opened"),
                    Err(error) => tally.failed(&error),
                },
                Err(error) => tally.failed(&error),
            }
            file.set_len(LENGTH).unwrap();
        }
        file.write_all_at(&whole, 0).unwrap();
        assert!(Slots::attach(place.file()).unwrap().acquire().is_ok(), "the whole file is fine");
    });
    tally.print(name);
    assert!(tally.0["corrupt"] > cases / 10, "{:?}", tally.0);
}
