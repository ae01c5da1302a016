//! Our simple turnstile, with `W` cells.

use super::Lock;

#[derive(Debug)]
pub(in super::super) struct Turnstile<const K: usize, const W: usize> {
    pub(in super::super) fault: Option<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Fault {
    /// 3 is two steps.
    Split,
    /// 5 is a write.
    Blind,
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) enum At {
    S1,
    S2(u8),
    S3,
    S3Write(u8),
    S4(u8, u8),
    S5(u8, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub(in super::super) struct Shared<const W: usize> {
    next: u8,
    served: u8,
    cell: [i8; W],
}

impl<const W: usize> Shared<W> {
    fn is_signalled(&self, t: u8) -> bool {
        self.cell[usize::from(t) % W] > t as i8
    }
}

impl<const N: usize, const K: usize, const W: usize> Lock<N> for Turnstile<K, W> {
    type At = At;
    type Shared = Shared<W>;
    const PLACES: usize = K;
    const OUTSIDE: At = At::S1;
    const INSIDE: At = At::S3;

    fn shared(&self) -> Shared<W> {
        let cell = |i| (i + 1) as i8 - if i < K { 0 } else { W as i8 };
        Shared { next: 0, served: 0, cell: std::array::from_fn(cell) }
    }

    fn step(&self, _: usize, at: At, shared: &mut Shared<W>) -> Option<At> {
        let enables = |x: u8| At::S4(x + K as u8, x + K as u8);
        Some(match at {
            At::S1 => {
                shared.next += 1;
                At::S2(shared.next - 1)
            }
            At::S2(t) if !shared.is_signalled(t) => return None,
            At::S2(_) => At::S3,
            At::S3 if self.fault == Some(Fault::Split) => At::S3Write(shared.served),
            At::S3 => {
                shared.served += 1;
                enables(shared.served - 1)
            }
            At::S3Write(x) => {
                shared.served = x + 1;
                enables(x)
            }
            At::S4(c, y) if shared.is_signalled(y - 1) => At::S5(c, y),
            At::S4(c, y) => At::S4(c, y - 1),
            At::S5(c, y) => {
                let cell = &mut shared.cell[usize::from(y) % W];
                if *cell == y as i8 + 1 - W as i8 || self.fault == Some(Fault::Blind) {
                    *cell = y as i8 + 1;
                }
                if y == c { At::S1 } else { At::S5(c, y + 1) }
            }
        })
    }
}
