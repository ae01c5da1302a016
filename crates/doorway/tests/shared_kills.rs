//! Processes that are killed while they keep acquiring and releasing, with a witness outside the
//! slots.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Previous, Slots};
use shared_kit::{Peer, Place};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const K: usize = 2;

/// Cells in a separate file, which all processes map.
struct Witness {
    /// The process inside each slot; 0 if there is none.
    inside: [AtomicU64; K],
    /// The last fence of each slot.
    fence: [AtomicU64; K],
    grants: AtomicU64,
    /// Grants whose holder was told of a death.
    told: AtomicU64,
    /// How often a slot was still occupied, though its next holder was told of no death.
    over_admitted: AtomicU64,
    /// How often a fence did not grow.
    fences_back: AtomicU64,
}

impl Witness {
    fn map(path: &Path) -> &'static Self {
        use std::os::fd::AsRawFd;
        let file = std::fs::File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
        file.set_len(4096).unwrap();
        // SAFETY: a new mapping of a file that is never truncated. It is never unmapped, and
        // consists of atomics.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let page = libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, file.as_raw_fd(), 0);
            assert_ne!(page, libc::MAP_FAILED);
            &*page.cast()
        }
    }
}

/// Enters and leaves until it is killed, if this process was started for that.
fn works(k: usize) {
    let Some(path) = std::env::var_os("DOORWAY_TEST_STORM") else { return };
    let path = Path::new(&path);
    let witness = Witness::map(&path.with_extension("witness"));
    let slots = Slots::open(path, k).unwrap();
    let me = u64::from(std::process::id());
    for round in 0u64.. {
        let guard = slots.acquire().unwrap();
        let slot = guard.slot();
        let before = witness.inside[slot].swap(me, SeqCst);
        match guard.previous() {
            Previous::Clean if before != 0 => _ = witness.over_admitted.fetch_add(1, SeqCst),
            Previous::Clean => {}
            Previous::Died(_) => _ = witness.told.fetch_add(1, SeqCst),
            Previous::Broken(_) => panic!("nobody breaks slots here"),
        }
        if witness.fence[slot].swap(guard.fence(), SeqCst) >= guard.fence() {
            witness.fences_back.fetch_add(1, SeqCst);
        }
        (0..round % 7 * 100).for_each(|_| std::hint::spin_loop());
        if witness.inside[slot].compare_exchange(me, 0, SeqCst, SeqCst).is_err() {
            witness.over_admitted.fetch_add(1, SeqCst);
        }
        witness.grants.fetch_add(1, SeqCst);
    }
}

#[test]
fn peer() {
    works(K);
}

#[test]
fn nothing_is_lost_and_nobody_is_let_in_too_early_while_processes_are_killed() {
    let place = Place::new("storm");
    let witness = Witness::map(&place.file().with_extension("witness"));
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("DOORWAY_TEST_STORM", place.file());
        Peer::start(command)
    };
    let mut workers: Vec<Peer> = (0..5).map(|_| start()).collect();
    let slots = Slots::open(place.file(), K).unwrap();
    for kill in 0..200 {
        // Some process gets in, whichever was killed before.
        let so_far = witness.grants.load(SeqCst);
        while witness.grants.load(SeqCst) < so_far + 3 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(kill * 37 % 900));
        std::mem::replace(&mut workers[kill as usize % 5], start()).kill();
    }
    for worker in workers {
        worker.kill();
    }
    // Everything that they held comes back, once.
    let mine: Vec<_> = (0..K).map(|_| slots.acquire().unwrap()).collect();
    assert!(slots.try_acquire().is_err());
    for guard in &mine {
        let slot = guard.slot();
        let before = witness.inside[slot].load(SeqCst);
        assert!(
            before == 0 || matches!(guard.previous(), Previous::Died(_)),
            "{before} died in {slot}, and no holder was told"
        );
        assert!(guard.fence() > witness.fence[slot].load(SeqCst));
    }
    assert_eq!(witness.over_admitted.load(SeqCst), 0);
    assert_eq!(witness.fences_back.load(SeqCst), 0);
    println!("{} grants, {} told of a death", witness.grants.load(SeqCst), witness.told.load(SeqCst));
}
