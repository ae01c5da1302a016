//! Waiters move up, so that ghosts behind them get to the front.
//!
//! # Problem
//! A ghost can be exited when it is at the front, because `open` counts tickets. So ghosts *behind
//! a waiter* stay until the waiter is served. One patient waiter, and others that come and give up
//! for ever, would fill any memory.
//!
//! # Idea
//! A waiter with ticket `p` and ghosts directly behind it may take up the last of these ghosts,
//! `r`, and give up `p` instead. Nobody alive stood between the two, so the order of arrival is
//! kept. Now the ghosts are before the waiter. If all waiters do this, the last one first, the
//! ghosts end up at the front, where they are [swept](super::Endless). This is a *pass*. A process
//! that gives up begins one, once enough have: it *nudges* the last waiter that has ghosts behind
//! it. The waiter moves, and nudges the waiter before it. Only the waiter itself moves, since it
//! must know where it waits.
//!
//! # Shared variables
//! | name   | range                       | initially    | home   | written at | meaning |
//! |--------|-----------------------------|--------------|--------|------------|---------|
//! | `pass` | `(step, count, ticket, by)` | `(nobody,0)` | nobody | 83, 88, 92, 95, 99, 101, 102 | [which waiter moves](Pass), by how many tickets, and how far it has come; `count`: moves begun |
//! | `left` | `(count, since)`            | `(0, 0)`     | nobody | 80, 84     | [how many gave up](Left) since a pass began, and the next ticket then |
//! | `rec[t]` | as there                  | as there     | nobody | also 89, 90, 93, 96, 97, 98 | a waiter was [nudged](Fate::Nudged), or [moves](Fate::Moving) |
//!
//! # Statements
//! | statement | what |
//! |---|---|
//! | 80 | a process that gave up counts itself. It goes on if it is the last of enough, or if it was nudged |
//! | 81 to 83 | it looks whether a pass is under way. If the waiter that was asked is not there any more, it takes the request back |
//! | 84 to 87 | the count begins anew. It looks from the end of the line for a waiter that has ghosts behind it, unless all that were counted are passed |
//! | 88, 89 | it asks this waiter to move, and nudges it |
//! | 90 to 93 | the waiter sees that, begins, and says so in its record |
//! | 94, 95 | it looks for the ghost, and decides that it moves: the one step that counts |
//! | 96, 97 | it takes up the ghost, and then gives up its old ticket. Any process can do both |
//! | 31, 98 | it looks whether the turnstile was closed meanwhile |
//! | 85, 87 to 89 | it asks the waiter before it. If there is none, it ends the pass (99), and sweeps (58) |
//! | 100 to 102 | a helper finds that the waiter at the front moves: it stops it (101), or does the rest of its move |
//!
//! # Why
//! - *What a request says stays true*: all tickets between `p` and `r`, and `r`, are ghosts. A
//!   ghost is taken up only by the waiter directly before it, and that is `p`. The requests of two
//!   passes do not mix: from the look for a waiter (87) to the request (88) no move may begin
//!   (`count`).
//! - *A death costs one ticket*: the process has two tickets only between 96 and 97. But since 95
//!   its old ticket cannot be signalled. A helper that finds it at the front does 96 and 97 first.
//! - *The ghost is still there (96)*: while `p` is not dealt with, the front is not after `p`. So
//!   no helper has begun to exit `r`. It would first have to stop the move, and then 95 fails.
//! - *No word comes back*: a helper that is late takes up nothing twice, because a record counts
//!   how often its ticket was taken up (modulo 2^5).
//! - *An absent ticket ends a run of ghosts*: it may be announced at any moment, and wait.
//! - *A pass that breaks off does no harm*: a waiter that gives up instead goes on with the pass
//!   itself. One that is let in instead was the first in line.
//! - *Tickets of a process that asks for several stay*: it would have to move all of them at once.
//!
//! # How many ghosts there are
//! A pass begins when `left >= c + line / 4`, where `c` is one less than the first ring has places
//! (15 in the library), and `line` counts waiters, ghosts, and holders that waited. A pass leaves
//! only ghosts that were given up after it began, or that lay behind a process that had drawn a
//! ticket and was not in line yet. The next pass finds these. So there are at most as many ghosts
//! as two rounds of `left`: with `w` waiters and `k` places, `g < 2 (c + (w + k + g) / 4)`. Hence
//! **`g < w + k + 4 c`, when each waiter that was nudged has moved.** A count that begins anew without
//! a pass changes nothing: the ghosts from before it began are gone, so those that are left are at
//! most those of the last two counts. Ghosts that are behind a
//! process that asks for several places, or behind one that was nudged and does not run, are not in
//! this count: they stay until it is served.
//!
//! # Cost
//! A process that gives up makes one step more. A pass looks at each ticket in line once or twice,
//! and each waiter that moves makes about twelve steps, and is woken once. Since a quarter of the
//! line gave up before, this is a constant number for each process that gives up: four moves, and
//! few looks. Nothing changes for a process that need not wait, or that is not nudged.
//!
//! `left` also counts ghosts that were exited since. In a line that moves fast, these are many. So
//! `left` notes which ticket was the next one when the count began. If the front has come that far,
//! nothing that was in line then is there any more, and the count begins anew without a pass.

use super::words::{after, is_before};
use super::{Endless, Fate, Found, Gate, Left, Line, Pass, Spot, Step, Turnstile};
use crate::memory::{FetchAdd, Here, Immediate, LateRows, Process, in_both_forms, within};
use core::fmt::Debug;

/// A waiter that can move.
struct Mover<'a, M: LateRows> {
    ticket: u64,
    /// The last of the ghosts behind it.
    to: u64,
    found: Found<'a, M>,
}

impl<M: FetchAdd + LateRows> Turnstile<M, Endless<M>> {
    in_both_forms! {
    /// Counts a process that gave up, and sees to it that waiters move if that is worth it: 80, and
    /// so on. `line` is how many tickets were in line, and `was_asked` says that the process that
    /// gave up was asked to move.
    #[inline(always)]
    pub(super) fn has_left, has_left_now(&self, p: Here<'_, M>, line: u64, was_asked: bool) -> () {
        let left = access!(p.at(80).keeping(&(line, was_asked)).fetch_add(&self.line.left, Left::ONE));
        if was_asked || self.is_worth_it(left.count + 1, line) {
            either!(self.begin_pass(p, left), self.begin_pass_now(p, left));
        }
    }
    }

    /// Whether waiters move when so many gave up since they last did, and so many tickets are in
    /// line: a quarter of the line, and enough to fill the first ring.
    #[inline(always)]
    fn is_worth_it(&self, left: u64, line: u64) -> bool {
        left >= self.line.first - 1 + line / 4
    }

    #[cold]
    #[inline(never)]
    fn begin_pass_now(&self, p: Here<'_, M>, left: Left)
    where
        M: Immediate,
    {
        M::now(self.begin_pass(p, left));
    }

    /// Asks the last waiter with ghosts behind it to move, unless a pass is under way, or all that
    /// `left` counts have been passed: 81 to 89.
    async fn begin_pass(&self, p: Here<'_, M>, left: Left) -> Result<(), M::Error> {
        let (line, of_pass) = (&self.line, &self.line.pass);
        loop {
            let pass = p.at(81).keeping(&left).read(of_pass).await?;
            match pass.step {
                // It sees, when it has moved, whether more gave up meanwhile.
                Step::Begun | Step::Decided => return Ok(()),
                Step::Asked => {
                    let front = p.at(85).keeping(&(left, pass)).read(&self.front).await?;
                    let t = pass.ticket_near(front.ticket);
                    let found = line.find(p, 82, t, (left, pass)).await?;
                    let is_asked = match found {
                        Some(found) if found.record.can_move() => self.nudge(p, &found, &(left, pass)).await?,
                        Some(Found { fate: Fate::Nudged, .. }) => true,
                        _ => false,
                    };
                    if is_asked {
                        return Ok(());
                    }
                    let _ = p.at(83).keeping(&(left, pass)).compare_swap(of_pass, pass, pass.ended()).await?;
                }
                Step::Nobody => {
                    let next = p.at(86).keeping(&(left, pass)).read(&self.next).await?.ticket();
                    p.at(84).keeping(&(left, pass, next)).write(&line.left, Left::from(next)).await?;
                    // The ghosts of all that were counted so far are found below.
                    let next = p.at(86).keeping(&(left, pass, "again")).read(&self.next).await?.ticket();
                    let Some(mover) = self.look_back(p, next, None, left, &pass).await? else { return Ok(()) };
                    if within!(p, &left, self.ask(p, pass, mover).await?) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Looks for the last waiter before ticket `t` that has ghosts behind it: 85, 87. `last` is the
    /// last of the ghosts that are known to lie at `t` and behind it.
    async fn look_back<K: Debug>(
        &self,
        p: Here<'_, M>,
        mut t: u64,
        mut last: Option<u64>,
        left: Left,
        live: &K,
    ) -> Result<Option<Mover<'_, M>>, M::Error> {
        let front = p.at(85).keeping(&(t, last, left, live)).read(&self.front).await?;
        if left.is_past(front) {
            return Ok(None);
        }
        while is_before(front.ticket, t) {
            t = after(t, 1u64.wrapping_neg());
            let found = self.line.find(p, 87, t, (last, front.ticket, left, live)).await?;
            last = match (found, last) {
                (Some(Found { fate: Fate::Gone, .. }), last) => last.or(Some(t)),
                (Some(found), Some(to)) if found.record.can_move() => return Ok(Some(Mover { ticket: t, to, found })),
                // A ticket that is absent may be announced at any moment, and wait.
                _ => None,
            };
        }
        Ok(None)
    }

    /// Asks a waiter to move: 88, 89. Returns whether that is all there is to do.
    async fn ask(&self, p: Here<'_, M>, pass: Pass, mover: Mover<'_, M>) -> Result<bool, M::Error> {
        let Mover { ticket, to, found } = mover;
        let Some(asked) = pass.asks(ticket, to) else { return Ok(true) };
        let live = (pass, asked, ticket, found.ring, found.record);
        if p.at(88).keeping(&live).compare_swap(&self.line.pass, pass, asked).await?.is_err() {
            return Ok(false); // another process asks, or the line has changed since
        }
        if self.nudge(p, &found, &asked).await? {
            return Ok(true);
        }
        let _ = p.at(83).keeping(&asked).compare_swap(&self.line.pass, asked, asked.ended()).await?;
        Ok(false)
    }

    /// 89.
    async fn nudge<K: Debug>(&self, p: Here<'_, M>, found: &Found<'_, M>, live: &K) -> Result<bool, M::Error> {
        let Found { cell, record, ring, .. } = *found;
        p.keep(89, &(live, ring, record));
        Ok(p.at(89).compare_swap(cell, record, record.with(Fate::Nudged)).await?.is_ok())
    }

    /// What a waiter does that was asked to move: 90 to 99. Returns where it stands then.
    pub(super) async fn move_on(&self, p: &Process<M>, spot: Spot) -> Result<Spot, M::Error> {
        let (here, of_pass) = (p.on(self.part), &self.line.pass);
        let Spot { ticket: t, ring } = spot;
        let cell = self.line.record(ring, t);
        let asked = here.at(90).keeping(&spot).read(cell).await?;
        if asked.fate_of(t) != Fate::Nudged {
            return Ok(spot);
        }
        let pass = here.at(91).keeping(&(spot, asked)).read(of_pass).await?;
        let begun = pass.begun();
        here.keep(92, &(spot, asked, pass));
        if !pass.is_at(Step::Asked, t) || here.at(92).compare_swap(of_pass, pass, begun).await?.is_err() {
            let waits = asked.with(Fate::Waits);
            let _ = here.at(90).keeping(&(spot, asked, "not")).compare_swap(cell, asked, waits).await?;
            return Ok(spot);
        }
        let moving = asked.with(Fate::Moving);
        here.keep(93, &(spot, asked, begun));
        if here.at(93).compare_swap(cell, asked, moving).await?.is_err() {
            let _ = here.at(99).keeping(&(spot, begun, "not")).compare_swap(of_pass, begun, begun.ended()).await?;
            return Ok(spot); // it was told something else meanwhile
        }
        // From here on it either stays or moves, and nobody else decides that it moves.
        let to = after(t, begun.by);
        let ghost = self.line.find(here, 94, to, (spot, asked, begun)).await?;
        let decided = begun.decided();
        let target = match ghost {
            Some(Found { fate: Fate::Gone, ring, cell, record }) => {
                here.keep(95, &(spot, asked, begun, ring, record));
                let decides = here.at(95).compare_swap(of_pass, begun, decided).await?;
                decides.is_ok().then_some((ring, cell, record))
            }
            _ => None,
        };
        let (spot, cell, record) = match target {
            Some((ring, ghost, record)) => {
                let (from, spot) = (spot, Spot { ticket: to, ring });
                let again = record.waits_again();
                here.keep(96, &(from, spot, asked, record, decided));
                let _ = here.at(96).compare_swap(ghost, record, again).await?;
                here.keep(97, &(from, spot, asked, decided));
                let _ = here.at(97).compare_swap(cell, moving, moving.with(Fate::Gone)).await?;
                here.shows("waits", to);
                here.shows("ticket", to);
                (spot, ghost, again)
            }
            None => {
                // A helper lets it in. Until then it waits where it was.
                let again = moving.waits_again();
                here.keep(97, &(spot, asked, "stays"));
                let _ = here.at(97).compare_swap(cell, moving, again).await?;
                (spot, cell, again)
            }
        };
        // Closing does not reach a process while it moves.
        if here.at(31).keeping(&(spot, record, decided, t, target.is_some())).read(&self.gate).await?.closed {
            here.keep(98, &(spot, record, decided, t, target.is_some()));
            let _ = here.at(98).compare_swap(cell, record, record.with(Fate::Shut)).await?;
        }
        if target.is_some() {
            self.pass_on(p, spot, t, decided).await?;
        }
        Ok(spot)
    }

    /// The waiter before ticket `t` moves next: 88, 89. If there is none, ghosts are at the front:
    /// they are swept. This is done by a process that moved from ticket `t`.
    async fn pass_on(&self, p: &Process<M>, spot: Spot, t: u64, pass: Pass) -> Result<(), M::Error> {
        let here = p.on(self.part);
        let last = after(spot.ticket, 1u64.wrapping_neg());
        let mover = self.look_back(here, t, Some(last), Left::NOBODY, &(spot, pass)).await?;
        if let Some(mover) = mover
            && within!(here, &spot, self.ask(here, pass, mover).await?)
        {
            return Ok(());
        }
        let _ = here.at(99).keeping(&(spot, pass)).compare_swap(&self.line.pass, pass, pass.ended()).await?;
        here.part(&spot);
        if let Some(Gate { line, .. }) = self.sweep_front(p).await? {
            let left = here.at(80).keeping(&line).read(&self.line.left).await?;
            if left.count > 0 && self.is_worth_it(left.count, line) {
                self.begin_pass(here, left).await?;
            }
        }
        here.part_done();
        Ok(())
    }

    /// What a helper does that finds a waiter at the front which moves: 100 to 102. Returns whether
    /// the waiter is to be signalled; otherwise the helper looks again.
    pub(super) async fn stops_moving<K: Debug>(
        &self,
        p: Here<'_, M>,
        found: &Found<'_, M>,
        live: &K,
    ) -> Result<bool, M::Error> {
        let of_pass = &self.line.pass;
        let Found { cell, record, ring, .. } = *found;
        let t = record.ticket();
        let pass = p.at(100).keeping(&(live, ring, record)).read(of_pass).await?;
        if pass.is_at(Step::Begun, t) {
            let _ = p.at(101).keeping(&(live, pass)).compare_swap(of_pass, pass, pass.ended()).await?;
            return Ok(false);
        }
        if !pass.is_at(Step::Decided, t) {
            return Ok(true); // it was stopped
        }
        // It has moved. The ticket that it moved to is taken up before this one is given up.
        let to = after(t, pass.by);
        let ghost = self.line.find(p, 94, to, (live, ring, record, pass)).await?;
        if let Some(Found { fate: Fate::Gone, cell: ghost, record: gone, ring: of_ghost }) = ghost {
            // If it still moves, the ghost was not taken up before.
            let live = (live, ring, record, pass, of_ghost, gone);
            if p.at(100).keeping(&(live, "again")).read(of_pass).await? != pass {
                return Ok(false);
            }
            p.keep(96, &live);
            let _ = p.at(96).compare_swap(ghost, gone, gone.waits_again()).await?;
        }
        p.keep(97, &(live, ring, record, pass));
        let _ = p.at(97).compare_swap(cell, record, record.with(Fate::Gone)).await?;
        let _ = p.at(102).keeping(&(live, pass)).compare_swap(of_pass, pass, pass.ended()).await?;
        Ok(false)
    }
}
