//! Szymanski 1990, three bits, in the reading of the mCRL2 examples.

use super::{Lock, other};

#[derive(Debug)]
pub(in super::super) struct ThreeBits;

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    S1,
    S2(u8),
    S3,
    S4,
    S7(u8),
    S9,
    S11(u8),
    S12,
    S14,
    S15(u8),
    S181(u8),
    S182(u8),
    S20,
    S21,
    S22(u8),
    S24,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared<const N: usize> {
    a: [bool; N],
    w: [bool; N],
    s: [bool; N],
}

/// The same statement for the next of the others, or what follows the last of them.
fn next<const N: usize>(p: usize, from: usize, same: fn(u8) -> At, then: At) -> At {
    other(N, p, from).map_or(then, |j| same(j as u8))
}

fn first<const N: usize>(p: usize, same: fn(u8) -> At) -> At {
    next::<N>(p, 0, same, At::S24)
}

fn twenty_two(p: usize, j: usize) -> At {
    if j < p { At::S22(j as u8) } else { At::S24 }
}

impl<const N: usize> Lock<N> for ThreeBits {
    type At = At;
    type Shared = Shared<N>;
    const OUTSIDE: At = At::S1;
    const INSIDE: At = At::S24;

    fn shared(&self) -> Shared<N> {
        Shared { a: [false; N], w: [false; N], s: [false; N] }
    }

    fn step(&self, p: usize, at: At, shared: &mut Shared<N>) -> Option<At> {
        let Shared { a, w, s } = shared;
        let (of, after) = (|bits: &[bool; N], j: u8| bits[usize::from(j)], |j: u8| usize::from(j) + 1);
        Some(match at {
            At::S1 => {
                a[p] = true;
                first::<N>(p, At::S2)
            }
            At::S2(j) if of(s, j) => return None,
            At::S2(j) => next::<N>(p, after(j), At::S2, At::S3),
            At::S3 => {
                w[p] = true;
                At::S4
            }
            At::S4 => {
                a[p] = false;
                first::<N>(p, At::S7)
            }
            At::S7(j) if of(a, j) => first::<N>(p, At::S181),
            At::S7(j) => next::<N>(p, after(j), At::S7, At::S9),
            At::S9 => {
                s[p] = true;
                first::<N>(p, At::S11)
            }
            At::S11(j) if of(a, j) => At::S12,
            At::S11(j) => next::<N>(p, after(j), At::S11, At::S14),
            At::S12 => {
                s[p] = false;
                first::<N>(p, At::S181)
            }
            At::S14 => {
                w[p] = false;
                first::<N>(p, At::S15)
            }
            At::S15(j) if of(w, j) => return None,
            At::S15(j) => next::<N>(p, after(j), At::S15, twenty_two(p, 0)),
            At::S181(j) if !of(w, j) => At::S182(j),
            At::S182(j) if of(s, j) => At::S20,
            At::S181(j) | At::S182(j) => next::<N>(p, after(j), At::S181, first::<N>(p, At::S7)),
            At::S20 => {
                s[p] = true;
                At::S21
            }
            At::S21 => {
                w[p] = false;
                twenty_two(p, 0)
            }
            At::S22(j) if of(s, j) => return None,
            At::S22(j) => twenty_two(p, after(j)),
            At::S24 => {
                s[p] = false;
                At::S1
            }
        })
    }
}
