//! Burns and Lynch 1980.

use super::Lock;

#[derive(Debug)]
pub(in super::super) struct BurnsLynch;

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    Outside,
    S1,
    S2(u8),
    S3,
    S4(u8),
    S5(u8),
    S6,
}

impl BurnsLynch {
    fn two(p: usize, j: usize) -> At {
        if j < p { At::S2(j as u8) } else { At::S3 }
    }
    fn four<const N: usize>(p: usize, j: usize) -> At {
        if j < p { At::S4(j as u8) } else { Self::five::<N>(p + 1) }
    }
    fn five<const N: usize>(j: usize) -> At {
        if j < N { At::S5(j as u8) } else { At::S6 }
    }
}

impl<const N: usize> Lock<N> for BurnsLynch {
    type At = At;
    type Shared = [bool; N];
    const OUTSIDE: At = At::Outside;
    const INSIDE: At = At::S6;

    fn shared(&self) -> [bool; N] {
        [false; N]
    }

    fn step(&self, p: usize, at: At, flag: &mut [bool; N]) -> Option<At> {
        Some(match at {
            At::Outside | At::S1 => {
                flag[p] = false;
                Self::two(p, 0)
            }
            At::S2(j) if flag[usize::from(j)] => return None,
            At::S2(j) => Self::two(p, usize::from(j) + 1),
            At::S3 => {
                flag[p] = true;
                Self::four::<N>(p, 0)
            }
            At::S4(j) if flag[usize::from(j)] => At::S1,
            At::S4(j) => Self::four::<N>(p, usize::from(j) + 1),
            At::S5(j) if flag[usize::from(j)] => return None,
            At::S5(j) => Self::five::<N>(usize::from(j) + 1),
            At::S6 => {
                flag[p] = false;
                At::Outside
            }
        })
    }
}
