//! Anderson and Moir 1994, Figure 2 as a chain of slots N-1, ..., K.

use super::Lock;

#[derive(Debug)]
pub(in super::super) struct Chain<const K: usize> {
    pub(in super::super) seven_before_six: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    Outside,
    S2(u8),
    S3(u8),
    S4(u8),
    S5(u8),
    Inside,
    /// The first and the second of the two statements of an exit.
    S6(u8),
    S7(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared<const N: usize> {
    x: [i8; N],
    q: [u8; N],
}

impl<const K: usize> Chain<K> {
    fn passes(j: u8) -> At {
        if usize::from(j) > K { At::S2(j - 1) } else { At::Inside }
    }
    fn leaves<const N: usize>(&self, p: usize, j: usize, shared: &mut Shared<N>, second: bool) {
        if second == self.seven_before_six {
            shared.x[j] += 1;
        } else {
            shared.q[j] = p as u8;
        }
    }
}

impl<const N: usize, const K: usize> Lock<N> for Chain<K> {
    type At = At;
    type Shared = Shared<N>;
    const PLACES: usize = K;
    const OUTSIDE: At = At::Outside;
    const INSIDE: At = At::Inside;

    fn shared(&self) -> Shared<N> {
        Shared { x: std::array::from_fn(|j| j as i8), q: [0; N] }
    }

    fn step(&self, p: usize, at: At, shared: &mut Shared<N>) -> Option<At> {
        Some(match at {
            At::Outside => return self.step(p, At::S2(N as u8 - 1), shared),
            At::S2(j) => {
                shared.x[usize::from(j)] -= 1;
                if shared.x[usize::from(j)] == -1 { At::S3(j) } else { Self::passes(j) }
            }
            At::S3(j) => {
                shared.q[usize::from(j)] = p as u8;
                At::S4(j)
            }
            At::S4(j) if shared.x[usize::from(j)] < 0 => At::S5(j),
            At::S4(j) => Self::passes(j),
            At::S5(j) if shared.q[usize::from(j)] == p as u8 => return None,
            At::S5(j) => Self::passes(j),
            At::Inside => return self.step(p, At::S6(K as u8), shared),
            At::S6(j) => {
                self.leaves(p, usize::from(j), shared, false);
                At::S7(j)
            }
            At::S7(j) => {
                self.leaves(p, usize::from(j), shared, true);
                if usize::from(j) + 1 < N { At::S6(j + 1) } else { At::Outside }
            }
        })
    }
}
