//! Peterson 1981 with its first two lines swapped.

use super::Lock;

#[derive(Debug)]
pub(in super::super) struct TurnFirst;

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    S2,
    S1,
    S31,
    S32,
    S4,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared {
    flag: [bool; 2],
    last: u8,
}

impl Lock<2> for TurnFirst {
    type At = At;
    type Shared = Shared;
    const OUTSIDE: At = At::S2;
    const INSIDE: At = At::S4;

    fn shared(&self) -> Shared {
        Shared { flag: [false; 2], last: 0 }
    }

    fn step(&self, p: usize, at: At, shared: &mut Shared) -> Option<At> {
        Some(match at {
            At::S2 => {
                shared.last = p as u8;
                At::S1
            }
            At::S1 => {
                shared.flag[p] = true;
                At::S31
            }
            At::S31 if shared.flag[1 - p] => At::S32,
            At::S31 => At::S4,
            At::S32 if shared.last == p as u8 => At::S31,
            At::S32 => At::S4,
            At::S4 => {
                shared.flag[p] = false;
                At::S2
            }
        })
    }
}
