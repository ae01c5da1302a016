//! Hyman 1966.

use super::Lock;

#[derive(Debug)]
pub(in super::super) struct Hyman;

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    S1,
    S2,
    S3,
    S4,
    S5,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared {
    b: [bool; 2],
    k: u8,
}

impl Lock<2> for Hyman {
    type At = At;
    type Shared = Shared;
    const OUTSIDE: At = At::S1;
    const INSIDE: At = At::S5;

    fn shared(&self) -> Shared {
        Shared { b: [false; 2], k: 0 }
    }

    fn step(&self, p: usize, at: At, shared: &mut Shared) -> Option<At> {
        Some(match at {
            At::S1 => {
                shared.b[p] = true;
                At::S2
            }
            At::S2 if shared.k == p as u8 => At::S5,
            At::S2 => At::S3,
            At::S3 if shared.b[1 - p] => return None,
            At::S3 => At::S4,
            At::S4 => {
                shared.k = p as u8;
                At::S2
            }
            At::S5 => {
                shared.b[p] = false;
                At::S1
            }
        })
    }
}
