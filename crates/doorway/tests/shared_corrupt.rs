//! Files that another program wrote: they cause nothing but errors, no panic, no hang, no undefined
//! behaviour.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Builder, Error, Mode, ReleaseError, Slots, TimeoutError, TryAcquireError};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use shared_kit::Place;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

const SLOTS: usize = 3;
const BODY: u64 = 4096;
/// Bits and the next ticket, the slots, and some of the rows: what the text reads.
const LINES: u64 = 2 + SLOTS as u64 + 64;

fn open(path: &Path, mode: Mode) -> Result<Slots, Error> {
    Builder::new(path, SLOTS).seats(64).mode(mode).open()
}

/// Does everything that can be done, and accepts only values and errors.
fn use_it(slots: &Slots) {
    let known = |error: &Error| assert!(matches!(error, Error::Corrupt(_) | Error::NoSeats { .. }), "{error:?}");
    let mut guards = Vec::new();
    for _ in 0..SLOTS + 1 {
        match slots.try_acquire() {
            Ok(guard) => {
                let _ = (guard.slot(), guard.fence(), format!("{:?}", guard.previous()));
                guards.push(guard);
            }
            Err(TryAcquireError::NoPlace) => {}
            Err(TryAcquireError::Failed(error)) => known(&error),
        }
    }
    match slots.acquire_timeout(Duration::from_micros(200)) {
        Ok(guard) => guards.push(guard),
        Err(TimeoutError::TimedOut) => {}
        Err(TimeoutError::Failed(error)) => known(&error),
    }
    match slots.status() {
        Ok(status) => assert!(status.holders.len() <= SLOTS && status.waiters.len() <= 64),
        Err(error) => known(&error),
    }
    if let Err(error) = slots.break_slot(1) {
        known(&error);
    }
    for guard in guards {
        match guard.release() {
            Ok(()) | Err(ReleaseError::Broken) => {}
            Err(ReleaseError::Failed(error)) => known(&error),
        }
    }
}

/// A word that resembles a real one.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        any::<u64>(),
        0u64..8,
        // A slot, of an owner that may not exist.
        (0u64..8, 0u64..80, 0u64..5).prop_map(|(low, owner, fence)| fence << 15 | owner << 3 | low),
        // The last fences.
        (0u64..8, 0u64..64).prop_map(|(low, owner)| (u64::MAX << 15) | owner << 3 | low),
        // A ticket; an offer of a slot that may not exist.
        (0u64..10).prop_map(|ticket| ticket << 2 | 1),
        (0u64..6, 0u64..5, 0u64..4).prop_map(|(slot, fence, news)| fence << 15 | slot << 4 | news << 2 | 2),
    ]
}

fn places() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    let line = prop_oneof![0..2u64, 2..2 + SLOTS as u64, 2 + SLOTS as u64..LINES];
    prop::collection::vec((line, prop_oneof![4 => Just(0u64), 1 => 0..16u64], word()), 0..12)
}

fn write(file: &File, words: &[(u64, u64, u64)]) {
    for (line, at, word) in words {
        file.write_all_at(&word.to_le_bytes(), BODY + line * 128 + at * 8).unwrap();
    }
}

/// The number of cases, which `DOORWAY_CASES` raises for a long run.
fn cases() -> u32 {
    std::env::var("DOORWAY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Words that were there before the file is opened.
    #[test]
    fn damaged_words_are_errors(before in places(), during in places(), tolerate: bool) {
        thread_local! {
            static PLACE: Place = Place::new("damaged");
        }
        PLACE.with(|place| {
            let mode = if tolerate { Mode::Tolerate } else { Mode::Reclaim };
            let _ = std::fs::remove_file(place.file());
            drop(open(&place.file(), mode).unwrap());
            let file = File::options().write(true).open(place.file()).unwrap();
            write(&file, &before);
            match open(&place.file(), mode) {
                Ok(slots) => {
                    use_it(&slots);
                    // And words that change while it is open.
                    write(&file, &during);
                    use_it(&slots);
                }
                Err(Error::Corrupt(_) | Error::NoSeats { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        });
    }

    /// Files with any contents.
    #[test]
    fn a_file_of_any_bytes_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..6000), keep in 0..64usize) {
        thread_local! {
            static PLACE: Place = Place::new("any-bytes");
        }
        PLACE.with(|place| {
            let _ = std::fs::remove_file(place.file());
            drop(open(&place.file(), Mode::Reclaim).unwrap());
            // The first bytes of a real header, and then something else.
            let real = std::fs::read(place.file()).unwrap();
            let written: Vec<u8> = real.iter().take(keep).chain(bytes.iter()).copied().collect();
            std::fs::write(place.file(), &written).unwrap();
            let refused = open(&place.file(), Mode::Reclaim).unwrap_err();
            assert!(matches!(refused, Error::Corrupt(_) | Error::OtherVersion { .. } | Error::OtherFeatures { .. }), "{refused:?}");
            // A file that does not even begin like one of ours is left alone.
            let begins = written.starts_with(b"doorway\0");
            let removed = Slots::remove(place.file());
            assert!(if begins { removed.is_ok() } else { removed == Err(Error::NotSlots(place.file())) }, "{removed:?}");
        });
    }
}

/// Another process keeps writing words while threads work.
#[test]
fn a_hostile_writer_stops_nobody_for_ever() {
    let place = Place::new("hostile");
    let file = {
        drop(open(&place.file(), Mode::Reclaim).unwrap());
        File::options().write(true).open(place.file()).unwrap()
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut runner = proptest::test_runner::TestRunner::deterministic();
            while !over.load(SeqCst) {
                let words = places().new_tree(&mut runner).unwrap().current();
                write(&file, &words);
            }
        });
        for round in 0..300 {
            match open(&place.file(), Mode::Reclaim) {
                Ok(slots) => use_it(&slots),
                Err(error) => assert!(matches!(error, Error::Corrupt(_) | Error::NoSeats { .. }), "{round}: {error:?}"),
            }
        }
        over.store(true, SeqCst);
    });
}

/// Fences have an end, and a slot that has reached it is never taken again.
#[test]
fn after_the_last_fence_a_slot_is_refused() {
    const LAST: u64 = (1 << 49) - 1;
    let place = Place::new("last-fence");
    let file = {
        drop(Builder::new(place.file(), 1).open().unwrap());
        File::options().write(true).open(place.file()).unwrap()
    };
    let put = |fence: u64| file.write_all_at(&(fence << 15).to_le_bytes(), BODY + 2 * 128).unwrap();
    put(LAST - 2);
    let slots = Builder::new(place.file(), 1).open().unwrap();
    for fence in [LAST - 1, LAST] {
        let guard = slots.try_acquire().unwrap();
        assert_eq!(guard.fence(), fence);
        guard.release().unwrap();
    }
    let corrupt = Error::Corrupt(place.file());
    assert_eq!(slots.try_acquire().unwrap_err(), TryAcquireError::Failed(corrupt.clone()));
    let other = Builder::new(place.file(), 1).open().unwrap();
    assert_eq!(other.acquire().unwrap_err(), corrupt);
    // The holder with the last fence cannot pass its slot to a waiter.
    put(LAST - 1);
    let (holder, waiter) = [(); 2].map(|()| Builder::new(place.file(), 1).open().unwrap()).into();
    let guard = holder.acquire().unwrap();
    let waits = std::thread::spawn(move || waiter.acquire().map(|guard| guard.fence()));
    while holder.status().unwrap().waiters.is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(guard.release().unwrap_err(), ReleaseError::Failed(corrupt.clone()));
    drop(holder); // now the holder is dead to the waiter, which cannot take the slot either
    assert_eq!(waits.join().unwrap(), Err(corrupt));
}
