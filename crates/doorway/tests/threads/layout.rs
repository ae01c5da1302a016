//! The layout of the words of native memory.

use crossbeam_utils::CachePadded;
use doorway::native::{Native, now};
use doorway_core::memory::{Anybody, Decl, LateRows, Memory, Pid, Process, Site, Word, decl};
use std::collections::BTreeSet;

type Row<T> = <Native as Memory>::Row<T>;

/// The distance between variables that are kept apart.
const LINE: usize = size_of::<CachePadded<u8>>();

fn row<T: Word>(n: usize, of: impl Fn(usize) -> Decl<'static, T>) -> Row<T> {
    Site::new(&Native::new()).row("row", n, of)
}

fn line_of<T: Word>(row: &Row<T>, i: usize) -> usize {
    std::ptr::from_ref(&row[i]) as usize / LINE
}

#[test]
fn what_lives_with_one_process_shares_lines_and_nothing_else_does() {
    let home = [0, 1, 0, 1, 2].map(Pid::new);
    let of_some = row(5, |i| decl(7u64).home(home[i]));
    for i in 0..5 {
        for j in 0..5 {
            assert_eq!(line_of(&of_some, i) == line_of(&of_some, j), home[i] == home[j], "{i} and {j}");
        }
    }
    let nobodys = row(3, |i| decl(i as u64));
    assert!(line_of(&nobodys, 0) != line_of(&nobodys, 1) && line_of(&nobodys, 1) != line_of(&nobodys, 2));
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spread(u64);

impl Word for Spread {
    type Waiters = Anybody;
    const SPREAD: bool = true;
    fn pack(self) -> u64 {
        self.0
    }
    fn unpack(word: u64) -> Self {
        Self(word)
    }
}

#[test]
fn neighbours_in_a_row_that_is_spread_share_no_line_and_there_are_no_gaps() {
    let spread = row(64, |i| decl(Spread(i as u64)));
    let address = |i: usize| std::ptr::from_ref(&spread[i]).addr();
    let all: BTreeSet<usize> = (0..64).map(address).collect();
    let (first, last) = (*all.first().unwrap(), *all.last().unwrap());
    assert_eq!((all.len(), last - first), (64, 63 * size_of_val(&spread[0])), "there are no gaps");
    for i in 0..64 {
        assert!(address(i).abs_diff(address((i + 1) % 64)) >= LINE);
        assert_eq!(format!("{:?}", spread[i]), format!("Spread({i})"));
    }
}

#[test]
fn what_a_row_does_not_have_is_no_other_entry() {
    for n in [1, 3, 8, 64, 100] {
        let spread = row(n, |i| decl(Spread(i as u64)));
        let address = |i: usize| std::panic::catch_unwind(|| std::ptr::from_ref(&spread[i]) as usize).ok();
        let all: BTreeSet<_> = (0..n).map(address).collect();
        assert!(all.len() == n && !all.contains(&None));
        for beyond in (n..20 * n).chain([1 << 20, usize::MAX]) {
            assert!(!all.contains(&address(beyond)), "{beyond} of {n}");
        }
        assert_eq!(address(16 * n), None);
    }
    let apart = row(3, |i| decl(i as u64));
    assert!(std::panic::catch_unwind(|| format!("{:?}", apart[3])).is_err());
    let at_home = row(3, |i| decl(i as u64).home(Pid::new(0)));
    assert!(std::panic::catch_unwind(|| format!("{:?}", at_home[3])).is_err());
}

#[test]
#[cfg(target_pointer_width = "64")] // where a line has 128 bytes: eight variables fit into one
fn rows_of_a_table_share_no_line() {
    let memory = Native::new();
    let table = Site::new(&memory).table("table", 2..5, 9, decl(7u64));
    let line = |row, column| std::ptr::from_ref(&table[(row, column)]) as usize / LINE;
    assert_eq!(line(2, 0), line(2, 7));
    let lines: BTreeSet<usize> = (2..5).flat_map(|row| [line(row, 0), line(row, 8)]).collect();
    assert_eq!(lines.len(), 6);
}

#[test]
#[cfg(target_pointer_width = "64")] // where a line has 128 bytes: eight variables fit into one
fn a_full_line_is_followed_by_another() {
    let full = row(20, |i| decl(i as u64).home(Pid::new(0)));
    for i in 0..20 {
        assert_eq!(format!("{:?}", full[i]), i.to_string());
    }
    assert_eq!(line_of(&full, 0), line_of(&full, 7));
    assert_ne!(line_of(&full, 7), line_of(&full, 8));
}

#[test]
fn rows_are_made_once_and_stay_where_they_are() {
    let native = Native::new();
    let late = Site::new(&native).late_rows("x", 2, 3, 7u64);
    assert_eq!(format!("{late:?}"), "Late { made: 0, of: 3, .. }");
    assert!(native.make_row(&late, 0));
    let first: *const _ = &late[(0, 1)];
    let p = Process::new(Pid::new(0), Native::new());
    now(p.on(Native::ROOT).at(1).write(&late[(0, 1)], 8)).unwrap();
    assert!(native.make_row(&late, 0) && native.make_row(&late, 1) && native.make_row(&late, 2));
    assert_eq!(format!("{late:?}"), "Late { made: 3, of: 3, .. }");
    assert!(std::ptr::eq(first, &late[(0, 1)]));
    let read = |at| now(p.on(Native::ROOT).at(2).read(&late[at])).unwrap();
    assert_eq!([read((0, 0)), read((0, 1)), read((1, 3)), read((2, 7))], [7, 8, 7, 7]);
    assert!(!native.make_row(&late, 3), "there are no more");
}

#[test]
fn those_that_make_the_same_row_at_once_get_the_same() {
    for _ in 0..100 {
        let late = Site::new(&Native::new()).late_rows("x", 1, 2, 0u64);
        let makers = || {
            let native = Native::new();
            assert!(native.make_row(&late, 0) && native.make_row(&late, 1));
            std::ptr::from_ref(&late[(1, 1)]).addr()
        };
        let seen =
            std::thread::scope(|scope| [scope.spawn(makers), scope.spawn(makers)].map(|one| one.join().unwrap()));
        assert_eq!(seen[0], seen[1]);
    }
}
