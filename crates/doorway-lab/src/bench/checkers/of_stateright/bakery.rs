//! Lamport's Bakery, 1974.

use super::{Lock, other};

#[derive(Debug)]
pub(in super::super) struct Bakery;

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    S3,
    S41(u8, u8),
    S42(u8),
    S5(u8),
    S7(u8, u8),
    S8(u8, u8),
    S10,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared<const N: usize> {
    doorway: [bool; N],
    ticket: [u8; N],
}

impl Bakery {
    fn reads<const N: usize>(p: usize, from: usize, max: u8) -> At {
        other(N, p, from).map_or(At::S42(max), |j| At::S41(j as u8, max))
    }
    fn waits<const N: usize>(p: usize, from: usize, mine: u8) -> At {
        other(N, p, from).map_or(At::S10, |j| At::S7(j as u8, mine))
    }
}

impl<const N: usize> Lock<N> for Bakery {
    type At = At;
    type Shared = Shared<N>;
    const OUTSIDE: At = At::S3;
    const INSIDE: At = At::S10;

    fn shared(&self) -> Shared<N> {
        Shared { doorway: [false; N], ticket: [0; N] }
    }

    fn step(&self, p: usize, at: At, shared: &mut Shared<N>) -> Option<At> {
        Some(match at {
            At::S3 => {
                shared.doorway[p] = true;
                Self::reads::<N>(p, 0, 0)
            }
            At::S41(j, max) => Self::reads::<N>(p, usize::from(j) + 1, max.max(shared.ticket[usize::from(j)])),
            At::S42(max) => {
                shared.ticket[p] = max + 1;
                At::S5(max + 1)
            }
            At::S5(mine) => {
                shared.doorway[p] = false;
                Self::waits::<N>(p, 0, mine)
            }
            At::S7(j, _) if shared.doorway[usize::from(j)] => return None,
            At::S7(j, mine) => At::S8(j, mine),
            At::S8(j, mine) => {
                let (ticket, j) = (shared.ticket[usize::from(j)], usize::from(j));
                if ticket != 0 && (ticket, j) < (mine, p) {
                    return None;
                }
                Self::waits::<N>(p, j + 1, mine)
            }
            At::S10 => {
                shared.ticket[p] = 0;
                At::S3
            }
        })
    }
}
