//! Mutual exclusion for `N` processes, first come, first served, with numbers up to `N`: the
//! Black-White Bakery.
//!
//! # Problem
//! The numbers of [the Bakery](crate::mutex::lamport_74::Bakery) grow forever while it is never
//! empty. Here they stay bounded.
//!
//! # Source
//! Taubenfeld 2004, the Black-White Bakery, from public descriptions; statement numbers are ours.
//!
//! # Idea
//! Tickets have a colour. A process takes the colour that is shown now, and a number larger than
//! all numbers of this colour. It waits for smaller tickets of its own colour. It waits for a
//! ticket of the other colour only while its own colour is shown, because the tickets of the colour
//! that is not shown are the older ones. A process that leaves shows the colour that its own ticket
//! did not have. No new tickets of its colour are therefore drawn until all old ones are gone, and
//! numbers start at one again.
//!
//! # Shared variables
//! | name          | range           | initially | home   | written at | meaning |
//! |---------------|-----------------|-----------|--------|------------|---------|
//! | `color`       | black, white    | white     | nobody | 10         | the colour of new tickets |
//! | `Choosing[p]` | bool            | false     | `p`    | 1, 4       | `p` is drawing a ticket |
//! | `Ticket[p]`   | colour, `0..=N` | white, 0  | `p`    | 32, 11     | `p`'s place; number 0: not competing |
//!
//! With [two registers](BlackWhiteBakery::in_two_registers) there are `Color[p]`, written at 21,
//! and `Number[p]`, written at 32 and 11.
//!
//! # Invariants (checked)
//! - (N) numbers are at most `N`
//! - (T) `p`'s number is 0 exactly if `p@{0, 1, 2, 31, 32}`
//! - (D) `Choosing[p]` exactly if `p@{2, 31, 32, 4}`
//!
//! # Cost, faults, fairness
//! A bounded number of remote references in the CC model, without a claimed constant. Unbounded in
//! the DSM model, because waits read other processes' memory. No crash is tolerated. First come,
//! first served: the doorway is 1 to 4.
//!
//! # Why one register
//! With two registers a reader can see the colour of one ticket and the number of the next. Its own
//! number is then one larger than that of a ticket of the other colour, and the next reader's may
//! be larger still: (N) fails. Two processes never draw more than 3, whatever they do. Three
//! processes draw up to 3 in one passage each, 5 in two, and more in three.
//!
//! # Departures from the paper
//! 1. Drawing is one line in the paper but several accesses: 31 reads one ticket, and 32 writes the
//!    process's own.
//! 2. A process reads none of its own variables.

use crate::Failure;
use crate::k_exclusion::KExclusion;
use crate::memory::{Anybody, Domain, Here, Label, Mark, Memory, Pid, Process, ReadWrite, Site, Word, decl};
use crate::mutex::MutualExclusion;
use core::convert::Infallible;
use core::fmt::Debug;

/// The colour of a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// White.
    White,
    /// Black.
    Black,
}

impl Colour {
    const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

impl Word for Colour {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self as u64
    }
    fn unpack(word: u64) -> Self {
        if word & 1 == 0 { Self::White } else { Self::Black }
    }
}

/// A ticket. The number 0 means no ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColouredTicket {
    /// Its colour.
    pub colour: Colour,
    /// Its number.
    pub number: u64,
}

impl Word for ColouredTicket {
    type Waiters = Anybody;
    fn pack(self) -> u64 {
        self.number << 1 | self.colour.pack()
    }
    fn unpack(word: u64) -> Self {
        Self { colour: Colour::unpack(word), number: word >> 1 }
    }
}

const COLOURS: &[Colour] = &[Colour::White, Colour::Black];

const NONE: ColouredTicket = ColouredTicket { colour: Colour::White, number: 0 };

/// The registers that hold the tickets.
#[derive(Debug)]
enum Tickets<M: Memory> {
    InOne(M::Row<ColouredTicket>),
    InTwo { colour: M::Row<Colour>, number: M::Row<u64> },
}

/// The shared variables.
#[derive(Debug)]
pub struct BlackWhiteBakery<M: Memory> {
    part: M::Part,
    n: usize,
    color: M::Var<Colour>,
    choosing: M::Row<bool>,
    ticket: Tickets<M>,
}

impl<M: ReadWrite> BlackWhiteBakery<M> {
    /// A bakery for `n` processes.
    pub fn new(site: &Site<'_, M>, n: usize) -> Self {
        let ticket = |p| decl(NONE).home(Pid::new(p)).ranges_over(Domain::Naturals);
        Self::with(site, n, Tickets::InOne(site.row("Ticket", n, ticket)))
    }

    /// The same with one register for the colour of a ticket and another for its number. Numbers
    /// are then not bounded by `n`.
    pub fn in_two_registers(site: &Site<'_, M>, n: usize) -> Self {
        let colour = site.row("Color", n, |p| decl(NONE.colour).home(Pid::new(p)).ranges_over(Domain::Of(COLOURS)));
        let number = site.row("Number", n, |p| decl(NONE.number).home(Pid::new(p)).ranges_over(Domain::Naturals));
        Self::with(site, n, Tickets::InTwo { colour, number })
    }

    fn with(site: &Site<'_, M>, n: usize, ticket: Tickets<M>) -> Self {
        Self {
            part: site.here(),
            n,
            color: site.var("color", decl(Colour::White).ranges_over(Domain::Of(COLOURS))),
            choosing: site.row("Choosing", n, |p| decl(false).home(Pid::new(p))),
            ticket,
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&i| i != me)
    }
}

impl<M: ReadWrite> Tickets<M> {
    /// Reads another process's ticket. With two registers it reads first the colour and then the
    /// number.
    async fn read(&self, p: Here<'_, M>, at: Label, i: usize, live: &impl Debug) -> Result<ColouredTicket, M::Error> {
        p.keep(at, live);
        match self {
            Self::InOne(ticket) => p.at(at).read(&ticket[i]).await,
            Self::InTwo { colour, number } => {
                let colour = p.at(at).read(&colour[i]).await?;
                p.keep(at, &(colour, live));
                Ok(ColouredTicket { colour, number: p.at(at).read(&number[i]).await? })
            }
        }
    }
}

impl<M: ReadWrite> MutualExclusion<M> for BlackWhiteBakery<M> {}

impl<M: ReadWrite> KExclusion<M> for BlackWhiteBakery<M> {
    /// The colour of the process's ticket.
    type Held = Colour;
    type Refusal = Infallible;

    async fn acquire(&self, p: &Process<M>) -> Result<Colour, Failure<M::Error, Infallible>> {
        let p = p.on(self.part);
        let me = p.pid().index();

        p.at(1).write(&self.choosing[me], true).await?;
        let colour = p.at(2).keeping(&()).read(&self.color).await?;
        if let Tickets::InTwo { colour: mine, .. } = &self.ticket {
            p.at(21).keeping(&colour).write(&mine[me], colour).await?;
        }
        let mut max = 0;
        for i in self.others(me) {
            let seen = self.ticket.read(p, 31, i, &(i, max, colour)).await?;
            if seen.colour == colour {
                max = max.max(seen.number);
            }
        }
        let mine = ColouredTicket { colour, number: max + 1 };
        p.keep(32, &mine);
        match &self.ticket {
            Tickets::InOne(ticket) => p.at(32).write(&ticket[me], mine).await?,
            Tickets::InTwo { number, .. } => p.at(32).write(&number[me], mine.number).await?,
        }
        p.at(4).keeping(&mine).write(&self.choosing[me], false).await?;
        p.mark(Mark::DoorwayEnds);

        for i in self.others(me) {
            let live = (i, mine);
            // Its ticket is final, or will come after ours.
            p.at(6).keeping(&live).wait_until(&self.choosing[i], |choosing| !choosing).await?;
            let seen = self.ticket.read(p, 7, i, &live).await?;
            if seen.colour == colour {
                // It goes first if its number is smaller. If its colour changes, it has left and
                // come back.
                let may_pass = || async {
                    let ColouredTicket { colour: now, number } = self.ticket.read(p, 8, i, &live).await?;
                    Ok((number == 0 || now != colour || (number, i) >= (mine.number, me)).then_some(()))
                };
                p.spin_until(may_pass).await?;
            } else {
                // It goes first as long as our colour is the one shown: its ticket is then an old
                // one.
                let may_pass = || async {
                    let ColouredTicket { colour: now, number } = self.ticket.read(p, 91, i, &live).await?;
                    if number == 0 || now == colour {
                        return Ok(Some(()));
                    }
                    Ok((p.at(92).keeping(&live).read(&self.color).await? != colour).then_some(()))
                };
                p.spin_until(may_pass).await?;
            }
        }
        p.holds("colour", colour);
        p.mark(Mark::Rests(10));
        Ok(colour)
    }

    async fn release(&self, p: &Process<M>, colour: Colour) -> Result<(), M::Error> {
        let p = p.on(self.part);
        let me = p.pid().index();
        // Before our number becomes 0; otherwise new tickets would come before old ones.
        p.at(10).write(&self.color, colour.other()).await?;
        p.keep(11, &colour);
        match &self.ticket {
            Tickets::InOne(ticket) => p.at(11).write(&ticket[me], ColouredTicket { colour, number: 0 }).await,
            Tickets::InTwo { number, .. } => p.at(11).write(&number[me], 0).await,
        }
    }
}
