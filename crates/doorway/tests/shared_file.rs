//! The file of slots between processes: where it lies, which users may open it, how it is made, and
//! what it contains, byte by byte.
#![cfg(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    not(any(miri, doorway_portable))
))]

mod shared_kit;

use doorway::shared::{Builder, Error, Mode, Previous, Slots, names_in};
use shared_kit::{Peer, Place};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};
use std::process::Command;

#[test]
fn peer() {
    shared_kit::peer();
}

fn set_mode(path: impl AsRef<std::path::Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a header its correct checksum.
fn seal(file: &mut [u8]) {
    let sum = file[..56]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    file[56..64].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_new_file_is_private_complete_and_zero() {
    let place = Place::new("new");
    let slots = Builder::new(place.file(), 3).seats(128).open().unwrap();
    assert_eq!(slots.path(), place.file());
    let about = fs::metadata(place.file()).unwrap();
    assert_eq!(about.mode() & 0o7777, 0o600);
    let length = 4096 + 128 + 128 + 3 * 128 + 128 * 128;
    assert_eq!(about.len(), length);
    assert!(about.blocks() * 512 >= length, "all of it has its place on the disk");
    let bytes = fs::read(place.file()).unwrap();
    assert_eq!(bytes[..16], *b"doorway\0\x01\0\0\0\0\x10\0\0");
    assert_eq!(bytes[16..32], [3, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(bytes[64..4096 + 128 + 128 + 3 * 128].iter().all(|byte| *byte == 0), "no slot was ever taken");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn the_umask_does_not_matter_where_permissions_are_asked_for() {
    let place = Place::new("umask");
    set_mode(place.path(), 0o770);
    // The umask belongs to the process, so another process sets it.
    let mut command = Command::new("sh");
    command.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let mut other = Peer::start(command);
    assert_eq!(other.ask(&format!("open-for-group {} 1", place.file().display())), "opened");
    assert_eq!(fs::metadata(place.file()).unwrap().mode() & 0o7777, 0o660);
    let open = |permissions| Builder::new(place.file(), 1).permissions(permissions).open();
    assert!(open(0o660).is_ok());
    assert_eq!(open(0o664).unwrap_err(), Error::OtherPermissions { found: 0o660, asked: 0o664 });
    let refused = Slots::open(place.file(), 1).unwrap_err();
    assert_eq!(refused, Error::Directory(place.path().to_owned()), "in private, such a directory will not do");
}

#[test]
fn what_is_no_file_of_ours_is_refused() {
    let place = Place::new("not-ours");
    let not_ours = Error::NotOurs(place.file());
    let refused = || Slots::open(place.file(), 1).unwrap_err();
    // A link, a FIFO (which must not block), a directory, a second name.
    symlink("elsewhere", place.file()).unwrap();
    assert_eq!(refused(), not_ours);
    fs::remove_file(place.file()).unwrap();
    assert!(Command::new("mkfifo").arg(place.file()).status().unwrap().success());
    assert_eq!(refused(), not_ours);
    fs::remove_file(place.file()).unwrap();
    fs::create_dir(place.file()).unwrap();
    assert_eq!(refused(), not_ours);
    fs::remove_dir(place.file()).unwrap();
    drop(Slots::open(place.file(), 1).unwrap());
    fs::hard_link(place.file(), place.path().join("other")).unwrap();
    assert_eq!(refused(), not_ours);
    fs::remove_file(place.path().join("other")).unwrap();
    set_mode(place.file(), 0o644);
    assert_eq!(refused(), Error::OtherPermissions { found: 0o644, asked: 0o600 });
    set_mode(place.file(), 0o600);
    assert!(Slots::open(place.file(), 1).is_ok());
    if chown(place.file(), Some(1), None).is_ok() {
        assert_eq!(refused(), not_ours, "another user's");
    }
}

#[test]
fn the_status_tells_which_bound_on_newcomers_is_in_force() {
    for (slots, asked, in_force) in
        [(1, 64, 64), (1, 100, 64), (3, 50, 48), (3, 5, 0), (2, 4, 4), (1, u16::MAX, 1 << 15)]
    {
        let place = Place::new("in-force");
        let opened = Builder::new(place.file(), slots).bypass(asked).open().unwrap();
        assert_eq!(opened.status().unwrap().bypass, in_force, "{asked} for {slots} slots");
        // To open it again takes the number that was asked for.
        assert!(Builder::new(place.file(), slots).bypass(asked).open().is_ok());
        let other = Builder::new(place.file(), slots).bypass(asked - 1).open().unwrap_err();
        assert_eq!(other, Error::OtherBypass { found: asked, asked: asked - 1 });
    }
}

#[test]
fn another_size_mode_or_version_is_an_error_with_both_values() {
    let place = Place::new("other");
    drop(Slots::open(place.file(), 2).unwrap());
    let refused = |builder: Builder| builder.open().unwrap_err();
    assert_eq!(refused(Builder::new(place.file(), 3)), Error::OtherSlots { found: 2, asked: 3 });
    let seats = Error::OtherSeats { found: 256, asked: 64 };
    assert_eq!(refused(Builder::new(place.file(), 2).seats(64)), seats);
    let mode = Error::OtherMode { found: Mode::Reclaim, asked: Mode::Tolerate };
    assert_eq!(refused(Builder::new(place.file(), 2).mode(Mode::Tolerate)), mode);
    let bypass = Error::OtherBypass { found: 0, asked: 8 };
    assert_eq!(refused(Builder::new(place.file(), 2).bypass(8)), bypass);
    assert_eq!(
        Slots::attach(place.file()).unwrap().places(),
        2,
        "a program that asks for no number gets that of the file"
    );
    assert_eq!(refused(Builder::new(place.file(), 0)), Error::BadSlots(0));
    assert_eq!(refused(Builder::new(place.file(), Slots::MOST + 1)), Error::BadSlots(Slots::MOST + 1));
    for seats in [0, 63, 65, 4160] {
        assert_eq!(refused(Builder::new(place.file(), 2).seats(seats)), Error::BadSeats(seats));
    }
    assert!(matches!(Slots::open("no such/../name!", 1).unwrap_err(), Error::BadName(_)));
    assert_eq!(Slots::attach(place.path().join("none")).unwrap_err(), Error::Missing(place.path().join("none")));
    // Another version, with a correct checksum.
    let file = File::options().read(true).write(true).open(place.file()).unwrap();
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).unwrap();
    header[8] = 2;
    seal(&mut header);
    file.write_all_at(&header, 0).unwrap();
    assert_eq!(refused(Builder::new(place.file(), 2)), Error::OtherVersion { found: 2 });
}

#[test]
fn a_damaged_or_cut_header_is_corrupt() {
    let place = Place::new("header");
    drop(Slots::open(place.file(), 2).unwrap());
    let whole = fs::read(place.file()).unwrap();
    let corrupt = Error::Corrupt(place.file());
    let open = |bytes: &[u8]| {
        fs::write(place.file(), bytes).unwrap();
        Slots::open(place.file(), 2).map(|_| ())
    };
    assert_eq!(open(&[]), Err(corrupt.clone()));
    for length in [1, 63, 64, 4096, whole.len() - 1] {
        assert_eq!(open(&whole[..length]), Err(corrupt.clone()), "{length} bytes");
    }
    assert_eq!(open(&[&whole[..], b"more"].concat()), Err(corrupt.clone()));
    assert_eq!(open(b"#!/bin/sh\necho a script, and no file of ours\n"), Err(corrupt.clone()));
    for at in 0..64 {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        assert_eq!(open(&flipped), Err(corrupt.clone()), "byte {at}");
    }
    assert_eq!(open(&whole), Ok(()));
}

#[test]
fn a_file_that_is_cut_while_it_is_open_is_noticed_by_a_look() {
    let place = Place::new("cut");
    let slots = Slots::open(place.file(), 1).unwrap();
    let file = File::options().write(true).open(place.file()).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length + 1).unwrap(); // longer, because reading beyond a truncated end raises a signal
    assert_eq!(slots.status().unwrap_err(), Error::Corrupt(place.file()));
    assert_eq!(slots.acquire().unwrap_err(), Error::Corrupt(place.file()), "from then on it refuses all work");
}

#[test]
fn many_that_open_at_once_get_one_file() {
    let place = Place::new("race");
    for _ in 0..20 {
        let handles: Vec<Slots> = std::thread::scope(|scope| {
            let open = || Slots::open(place.file(), 1).unwrap();
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let _held = handles[3].acquire().unwrap();
        assert!(handles.iter().all(|slots| slots.try_acquire().is_err()), "two files would be two limits");
        drop(_held);
        drop(handles);
        Slots::remove(place.file()).unwrap();
    }
}

#[test]
fn opening_and_removing_at_once_ends() {
    let place = Place::new("open-remove");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..100 {
                    match Slots::open(place.file(), 1) {
                        // No process removes it while it is open.
                        Ok(slots) => slots.acquire().unwrap().release().unwrap(),
                        Err(error) => assert_eq!(error, Error::InUse(place.file())),
                    }
                    let _ = Slots::remove(place.file());
                }
            });
        }
    });
}

#[test]
fn a_full_disk_is_an_error_before_anything_is_mapped() {
    let place = Place::new("full");
    let script = "mount -t tmpfs -o size=32k none \"$1\" || exit 9; shift; exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script]).arg(std::env::current_exe().unwrap());
    command.arg(place.path());
    let mut probe = Command::new("unshare");
    probe.args(["--mount", "--map-root-user", "mount", "-t", "tmpfs", "none"]).arg(place.path());
    if !probe.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let mut other = Peer::start(command);
    let answer = other.ask(&format!("open {} 1", place.file().display()));
    assert_eq!(answer, format!("{:?}", Error::Full(place.file())));
    assert_eq!(other.ask(&format!("count {}", place.path().display())), "0", "and nothing is left behind");
}

#[test]
fn a_variable_names_another_directory_and_a_builder_another_still() {
    let place = Place::new("variable");
    let (one, two) = (place.path().join("one"), place.path().join("two"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("DOORWAY_DIR", &one);
    let mut other = Peer::start(command);
    assert_eq!(other.ask("open named 1"), "opened");
    assert!(one.join("named").is_file());
    assert_eq!(fs::metadata(&one).unwrap().mode() & 0o7777, 0o700, "it is made private");
    let slots = Builder::new("named", 1).directory(&two).open().unwrap();
    assert_eq!(slots.path(), two.join("named"));
    assert!(Builder::new("a/b", 1).directory(&two).open().is_ok(), "a path is below the directory");
}

/// A file as a program of version 1 leaves it when it is killed. Slot 1 of 2 is held by seat 5 with
/// fence 7, seat 9 waits with ticket 3, and no process lives.
fn golden() -> Vec<u8> {
    let (slots, rows, length) = (4096 + 128 + 128, 4096 + 128 + 128 + 2 * 128, 4096 + 128 + 128 + 2 * 128 + 64 * 128);
    let mut file = vec![0; length];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"doorway\0\x01\0\0\0\0\x10\0\0\x02\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0");
    put(32, &[0x11; 8]); // nonce
    put(40, &[0x22; 8]); // created
    put(48, &(length as u64).to_le_bytes());
    put(56, &[0x19, 0xe4, 0x4a, 0x60, 0x63, 0x68, 0xc1, 0x4c]);
    put(4096 + 1, &[1 << 1]); // bits: seat 9
    put(4096 + 128, &[4]); // next ticket
    put(slots + 128, &(7u64 << 15 | 5 << 3 | 1).to_le_bytes()); // held, by seat 5, fence 7
    put(slots + 128 + 8, &7u64.to_le_bytes()); // the fence of the notes that follow
    put(slots + 128 + 16, &[0x39, 0x30, 0, 0, 6, 0, 0, 0]); // process 12345, label of 6 bytes
    put(slots + 128 + 24, &1_700_000_000_000_000_000u64.to_le_bytes());
    put(slots + 128 + 64, b"golden");
    put(rows + 9 * 128, &[3 << 2 | 1]); // waits with ticket 3
    put(rows + 9 * 128 + 16, &[0x3a, 0x30, 0, 0]); // process 12346
    put(rows + 5 * 128 + 8, &[0x39, 0x30, 0, 0x40]); // a hint, marked by the kernel
    file
}

#[test]
fn a_golden_file_of_version_1_is_understood() {
    let place = Place::new("golden");
    fs::write(place.file(), golden()).unwrap();
    set_mode(place.file(), 0o600);
    let slots = Builder::new(place.file(), 2).seats(64).open().unwrap();
    let status = slots.status().unwrap();
    assert_eq!((status.holders.len(), status.waiters.len()), (1, 1));
    let holder = &status.holders[0];
    assert_eq!((holder.slot, holder.fence, holder.dead), (1, 7, true));
    assert_eq!((holder.known.pid, holder.known.label.as_deref()), (Some(12345), Some("golden")));
    let since = holder.known.since.unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs(), 1_700_000_000);
    assert!(status.waiters[0].dead && status.waiters[0].known.pid == Some(12346));
    // The look has taken back what the dead held.
    let both = [slots.acquire().unwrap(), slots.acquire().unwrap()];
    assert_eq!((both[0].slot(), both[0].previous()), (0, &Previous::Clean));
    let Previous::Died(known) = both[1].previous() else { panic!("{both:?}") };
    assert_eq!((both[1].slot(), known.pid), (1, Some(12345)));
    assert!(both[1].fence() > 7);
    assert!(slots.status().unwrap().waiters.is_empty());
}

/// Features of version 1 that a later program has added. The lower half are compatible.
const LATER: u32 = 1;
const LATER_AND_INCOMPATIBLE: u32 = 1 << 17 | 1;
/// What this program knows: a bypass.
const KNOWN: u32 = 1 << 16;

/// The golden file as a later program leaves it, with data at all places that version 1 does not
/// use. Also returns these places.
fn golden_of_a_later_version(features: u32) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let mut file = golden();
    file[28..32].copy_from_slice(&features.to_le_bytes());
    seal(&mut file);
    let (slots, rows) = (4096 + 128 + 128, 4096 + 128 + 128 + 2 * 128);
    let mut unused = vec![64..4096, 4096 + 8..4096 + 128, 4096 + 128 + 8..slots];
    unused.extend((0..2).map(|slot| slots + slot * 128).map(|line| line + 32..line + 64));
    unused.extend((0..64).map(|seat| rows + seat * 128).map(|line| line + 32..line + 64));
    for place in &unused {
        file[place.clone()].fill(0xa5);
    }
    (file, unused)
}

#[test]
fn a_golden_file_of_a_later_compatible_version_is_used_and_what_is_not_known_stays() {
    let place = Place::new("later-compatible");
    let (before, unused) = golden_of_a_later_version(LATER);
    fs::write(place.file(), &before).unwrap();
    set_mode(place.file(), 0o600);
    let slots = Builder::new(place.file(), 2).seats(64).label("this").open().unwrap();
    assert_eq!(slots.status().unwrap().holders.len(), 1);
    let both = [slots.acquire().unwrap(), slots.acquire().unwrap()];
    assert!(matches!(both[1].previous(), Previous::Died(_)), "{both:?}");
    assert!(slots.acquire_timeout(std::time::Duration::from_millis(1)).is_err());
    assert!(slots.break_slot(0).unwrap().is_some());
    drop(both);
    drop(slots);
    let after = fs::read(place.file()).unwrap();
    assert_eq!(after[..4096], before[..4096]);
    for place in unused {
        assert_eq!(after[place.clone()], before[place.clone()], "{place:?}");
    }
}

#[test]
fn a_golden_file_of_a_later_incompatible_version_is_refused_and_can_be_removed() {
    let place = Place::new("later-incompatible");
    let (before, _) = golden_of_a_later_version(LATER_AND_INCOMPATIBLE);
    fs::write(place.file(), &before).unwrap();
    set_mode(place.file(), 0o600);
    let refused = Error::OtherFeatures { found: LATER_AND_INCOMPATIBLE, known: KNOWN };
    assert_eq!(Builder::new(place.file(), 2).seats(64).open().unwrap_err(), refused);
    assert_eq!(Slots::attach(place.file()).unwrap_err(), refused);
    assert_eq!(fs::read(place.file()).unwrap(), before, "nothing was written");
    assert!(refused.to_string().contains("later version"), "{refused}");
    Slots::remove(place.file()).unwrap();
}

/// The other process is a later version of this program, as far as the file is concerned.
#[test]
fn a_later_program_and_this_one_use_one_file_at_the_same_time() {
    let later = |path: &std::path::Path, features: u32| {
        let mut peer = Peer::start(Command::new(std::env::current_exe().unwrap()));
        let answer = peer.ask(&format!("open-later {} 1 {features}", path.display()));
        (peer, answer)
    };
    // Either program may make the file: the later one, or this one while its jobs already run.
    for (name, later_is_first) in [("theirs", true), ("ours", false)] {
        let place = Place::new(&format!("both-{name}"));
        let opened = (!later_is_first).then(|| Slots::open(place.file(), 1).unwrap());
        let held = opened.as_ref().map(|slots| slots.acquire().unwrap());
        // The later program does without every feature that it does not find in the file.
        let features = if later_is_first { LATER } else { LATER_AND_INCOMPATIBLE };
        let (mut other, answer) = later(&place.file(), features);
        assert_eq!(answer, "opened", "{name}");
        drop(held);
        let slots = opened.unwrap_or_else(|| Slots::open(place.file(), 1).unwrap());
        let found = fs::read(place.file()).unwrap()[28];
        assert_eq!(found, if later_is_first { 1 } else { 0 }, "the file stays as it was made");
        assert_eq!(other.ask("acquire"), "acquiring");
        assert!(other.hear().ends_with("clean"));
        assert!(slots.try_acquire().is_err());
        assert_eq!(other.ask("drop"), "dropped");
        let mine = slots.acquire().unwrap();
        assert_eq!(other.ask("acquire"), "acquiring");
        while slots.status().unwrap().waiters.is_empty() {
            std::thread::yield_now();
        }
        let fence = mine.fence();
        drop(mine);
        let theirs: u64 = other.hear().split(' ').nth(1).unwrap().parse().unwrap();
        assert!(theirs > fence);
        let pid = other.pid();
        other.kill();
        let after = slots.acquire().unwrap();
        let Previous::Died(known) = after.previous() else { panic!("{after:?}") };
        assert_eq!((known.pid, known.label.as_deref()), (Some(pid), Some("later")));
    }
    let place = Place::new("both-incompatible");
    let (_other, answer) = later(&place.file(), LATER_AND_INCOMPATIBLE);
    assert_eq!(answer, "opened");
    let refused = Slots::open(place.file(), 1).unwrap_err();
    assert_eq!(refused, Error::OtherFeatures { found: LATER_AND_INCOMPATIBLE, known: KNOWN });
}

/// As a reboot leaves a file on a disk: no process lives, and the kernel has marked no hint.
#[test]
fn hints_that_are_outdated_only_cost_time() {
    let place = Place::new("outdated");
    let mut file = golden();
    let (slots, rows) = (4096 + 128 + 128, 4096 + 128 + 128 + 2 * 128);
    file[slots..slots + 8].copy_from_slice(&(3u64 << 15 | 6 << 3 | 1).to_le_bytes()); // by seat 6
    for seat in [5, 6, 9] {
        file[rows + seat * 128 + 8..][..4].copy_from_slice(&1u32.to_le_bytes()); // the first process always lives
    }
    fs::write(place.file(), file).unwrap();
    set_mode(place.file(), 0o600);
    let slots = Builder::new(place.file(), 2).seats(64).open().unwrap();
    let both = [slots.acquire().unwrap(), slots.acquire().unwrap()];
    for guard in &both {
        assert!(matches!(guard.previous(), Previous::Died(_)), "{guard:?}");
    }
}

#[test]
fn names_are_those_that_could_be_opened() {
    let place = Place::new("names");
    let list = || names_in(place.path()).unwrap().names;
    assert!(list().is_empty());
    let slots = Builder::new("b.slots", 1).directory(place.path()).open().unwrap();
    fs::write(place.path().join("a-damaged"), "no slots").unwrap();
    fs::write(place.path().join(".b.slots.0123"), "left behind by a maker that died").unwrap();
    fs::write(place.path().join("no name"), "").unwrap();
    fs::write(place.path().join(OsStr::from_bytes(b"not\xffutf8")), "").unwrap();
    fs::write(place.path().join("n".repeat(65)), "").unwrap();
    fs::create_dir(place.path().join("directory")).unwrap();
    symlink("/etc/passwd", place.path().join("link")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap().success());
    assert_eq!(list(), ["a-damaged", "b.slots", "fifo", "link"], "in order, and nothing else");
    let opens = |name| Builder::existing(name).directory(place.path()).open();
    assert!(opens("b.slots").is_ok());
    for other in ["a-damaged", "fifo", "link"] {
        assert!(opens(other).is_err(), "{other}");
    }
    drop(slots);
}

#[test]
fn names_of_a_directory_that_is_missing_or_open_to_others() {
    let place = Place::new("no-names");
    let missing = place.path().join("missing");
    let names = names_in(&missing).unwrap();
    assert_eq!((names.directory, names.names), (missing.clone(), Vec::new()));
    assert!(!missing.exists(), "to look makes no directory");
    set_mode(place.path(), 0o777);
    assert_eq!(names_in(place.path()), Err(Error::Directory(place.path().to_owned())));
    set_mode(place.path(), 0o1777);
    fs::write(place.path().join("mine"), "").unwrap();
    let others = place.path().join("of-others");
    fs::write(&others, "").unwrap();
    // Only root can give a file away.
    let expected = if chown(&others, Some(65534), None).is_ok() { vec!["mine"] } else { vec!["mine", "of-others"] };
    assert_eq!(names_in(place.path()).unwrap().names, expected);
}

#[test]
fn the_variable_names_the_directory_of_names_too() {
    let place = Place::new("names-variable");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("DOORWAY_DIR", place.path().join("there"));
    let mut other = Peer::start(command);
    assert_eq!(other.ask("open plain 1"), "opened");
    assert_eq!(other.ask("names"), "plain");
}
