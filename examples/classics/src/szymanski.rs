//! A waiting room with two doors: linear wait, and two forms of it that are wrong.
//!
//! # Source
//! - [`Flag`], [`FlagOfBits`]: Szymanski, *A Simple Solution to Lamport's Concurrent Programming
//!   Problem with Linear Wait*, Supercomputing 1988.
//! - [`ThreeBits`]: Szymanski, *Mutual Exclusion Revisited*, 1990.
//!
//! Of the forms with bits, the papers were not at hand: these are the readings of the mCRL2
//! examples, with their numbers.
//!
//! # Idea
//! The door in is open until the processes inside see no other coming. Then they are let through by
//! name, and the last one out opens the door again. Tests of all flags read them one after the
//! other, in the order of names.
//!
//! ```text
//! Flag
//! 1  flag[i] := 1
//! 2  for each j, wait until flag[j] < 3
//! 3  flag[i] := 3
//! 4  if flag[j] = 1 for some j
//! 5      flag[i] := 2
//! 6      wait until flag[j] = 4 for some j
//! 7  flag[i] := 4
//! 8  for each j < i, wait until flag[j] < 2
//!    critical section
//! 9  for each j > i, wait until flag[j] < 2 or flag[j] = 4
//! 10 flag[i] := 0
//!
//! Flag of bits
//! 1  intent[i] := true
//! 2  for each j, wait until not (intent[j] and in[j])
//! 3  in[i] := true
//! 4  if intent[j] and not in[j] for some j
//! 5      intent[i] := false
//! 6      wait until out[j] for some j
//! 7      intent[i] := true
//! 8  out[i] := true
//! 9  for each j < i, wait until not in[j]
//!    critical section
//! 10 for each j > i, wait until not in[j] or out[j]
//! 11 lower the three bits: intent, in, out as printed; with `door_out_first`: out, intent, in
//!
//! Three bits (a: arriving, w: waiting inside, s: the door is shut by us)
//! 1  a[i] := true
//! 2  for each j, wait until not s[j]
//! 3  w[i] := true
//! 4  a[i] := false
//! 5  while not s[i]
//! 7      if not a[j] for all j
//! 9          s[i] := true
//! 11         if a[j] for some j
//! 12             s[i] := false
//!            otherwise
//! 14             w[i] := false
//! 15             for each j, wait until not w[j]
//! 18     unless 15 was done: if not w[j] and s[j] for some j (with `shut_first`, s[j] is read first)
//! 20         s[i] := true
//! 21         w[i] := false
//! 22 for each j < i, wait until not s[j]
//!    critical section
//! 24 s[i] := false
//! ```
//!
//! # Shared variables
//! | name | range | initially | written by |
//! | --- | --- | --- | --- |
//! | `flag[i]` | 0 to 4 | 0 | i |
//! | the bits | bool | false | i |
//!
//! # Claims
//! `Flag`: mutual exclusion with linear wait, for atomic registers, as far as we know. The forms
//! with bits claim the same; we do not know for which registers. As printed, both let two of three
//! processes in.

use crate::{NUMBERS, others};
use doorway_check::prelude::*;

lock! {
    /// With a flag of five values, for `n` processes.
    pub struct Flag(n: usize): ReadWrite { flag: [u64; n] = decl(0).ranges_over(Domain::Of(&NUMBERS[..5])) }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.flag[i], 1).await?;
        for j in others(n, i) {
            p.at(2).wait_until(&self.flag[j], |flag| flag < 3).await?;
        }
        p.at(3).write(&self.flag[i], 3).await?;
        for j in others(n, i) {
            if p.at(4).read(&self.flag[j]).await? == 1 {
                p.at(5).write(&self.flag[i], 2).await?;
                'six: loop {
                    for j in others(n, i) {
                        if p.at(6).read(&self.flag[j]).await? == 4 {
                            break 'six;
                        }
                    }
                }
                break;
            }
        }
        p.at(7).write(&self.flag[i], 4).await?;
        for j in 0..i {
            p.at(8).wait_until(&self.flag[j], |flag| flag < 2).await?;
        }
    }
    release(self, p) {
        let i = p.pid().index();
        for j in i + 1..self.n {
            p.at(9).wait_until(&self.flag[j], |flag| flag < 2 || flag == 4).await?;
        }
        p.at(10).write(&self.flag[i], 0).await?;
    }
}

lock! {
    /// The five values as three bits, each written on its own, for `n` processes.
    pub struct FlagOfBits(n: usize, door_out_first: bool): ReadWrite {
        intent: [bool; n] = false,
        door_in: [bool; n] = false,
        door_out: [bool; n] = false,
    }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.intent[i], true).await?;
        for j in others(n, i) {
            while p.at(21).read(&self.intent[j]).await? && p.at(22).read(&self.door_in[j]).await? {}
        }
        p.at(3).write(&self.door_in[i], true).await?;
        for j in others(n, i) {
            if p.at(41).read(&self.intent[j]).await? && !p.at(42).read(&self.door_in[j]).await? {
                p.at(5).write(&self.intent[i], false).await?;
                'six: loop {
                    for j in others(n, i) {
                        if p.at(6).read(&self.door_out[j]).await? {
                            break 'six;
                        }
                    }
                }
                p.at(7).write(&self.intent[i], true).await?;
                break;
            }
        }
        p.at(8).write(&self.door_out[i], true).await?;
        for j in 0..i {
            p.at(9).wait_until(&self.door_in[j], |up| !up).await?;
        }
    }
    release(self, p) {
        let i = p.pid().index();
        for j in i + 1..self.n {
            while p.at(101).read(&self.door_in[j]).await? && !p.at(102).read(&self.door_out[j]).await? {}
        }
        if self.door_out_first {
            p.at(113).write(&self.door_out[i], false).await?;
        }
        p.at(111).write(&self.intent[i], false).await?;
        p.at(112).write(&self.door_in[i], false).await?;
        if !self.door_out_first {
            p.at(113).write(&self.door_out[i], false).await?;
        }
    }
}

lock! {
    /// Three bits with linear wait, for `n` processes.
    pub struct ThreeBits(n: usize, shut_first: bool): ReadWrite {
        a: [bool; n] = false,
        w: [bool; n] = false,
        s: [bool; n] = false,
    }
    acquire(self, p) {
        let (i, n) = (p.pid().index(), self.n);
        p.at(1).write(&self.a[i], true).await?;
        for j in others(n, i) {
            p.at(2).wait_until(&self.s[j], |shut| !shut).await?;
        }
        p.at(3).write(&self.w[i], true).await?;
        p.at(4).write(&self.a[i], false).await?;
        'five: loop {
            let mut someone_arrives = false;
            for j in others(n, i) {
                someone_arrives = p.at(7).read(&self.a[j]).await?;
                if someone_arrives {
                    break;
                }
            }
            if !someone_arrives {
                p.at(9).write(&self.s[i], true).await?;
                let mut someone_arrives = false;
                for j in others(n, i) {
                    someone_arrives = p.at(11).read(&self.a[j]).await?;
                    if someone_arrives {
                        break;
                    }
                }
                if !someone_arrives {
                    p.at(14).write(&self.w[i], false).await?;
                    for j in others(n, i) {
                        p.at(15).wait_until(&self.w[j], |waits| !waits).await?;
                    }
                    break 'five;
                }
                p.at(12).write(&self.s[i], false).await?;
            }
            for j in others(n, i) {
                let leads = if self.shut_first {
                    p.at(181).read(&self.s[j]).await? && !p.at(182).read(&self.w[j]).await?
                } else {
                    !p.at(181).read(&self.w[j]).await? && p.at(182).read(&self.s[j]).await?
                };
                if leads {
                    p.at(20).write(&self.s[i], true).await?;
                    p.at(21).write(&self.w[i], false).await?;
                    break 'five;
                }
            }
        }
        for j in 0..i {
            p.at(22).wait_until(&self.s[j], |shut| !shut).await?;
        }
    }
    release(self, p) {
        p.at(24).write(&self.s[p.pid().index()], false).await?;
    }
}
