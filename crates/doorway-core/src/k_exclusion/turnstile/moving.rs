//! Waiters move up, so that ghosts behind them get to the front.
//!
//! # Problem
//! A ghost can be exited when it is at the front, because `open` counts tickets. So ghosts *behind
//! a waiter* stay until the waiter is served. One patient waiter, and others that come and give up
//! for ever, would fill any memory.
//!
//! # Idea
//! A waiter with ticket `p` and ghosts directly behind it may take up the last of these ghosts,
//! `r`, and give up `p` instead. No living process stood between the two, so the order of arrival
//! is kept. Now the ghosts are before the waiter. If all waiters do this, the last one first, the
//! ghosts end up at the front, where they are [swept](super::Endless). This is a *pass*. A process
//! that gives up begins one, once enough have: it *nudges* the last waiter that has ghosts behind
//! it. The waiter moves, and nudges the waiter before it. Only the waiter itself moves, since it
//! must know where it waits.
//!
//! # Shared variables
//! | name   | range                       | initially    | home   | written at | meaning |
//! |--------|-----------------------------|--------------|--------|------------|---------|
//! | `pass` | `(step, count, ticket, by)` | `(nobody,0)` | nobody | 83, 88, 94, 98, 102 | [which waiter moves](Pass), by how many tickets, and how far it has come; `count`: passes begun |
//! | `left` | `(count, since)`            | `(0, 0)`     | nobody | 80, 84     | [how many gave up](Left) that no look has dealt with, and the next ticket before the last look |
//! | `rec[t]` | as there                  | as there     | nobody | also 89, 93, 95, 96, 97, 101 | a waiter was [nudged](Fate::Nudged), or [moves](Fate::Moving); a ghost was taken up, or [stays](Record) one |
//!
//! # Statements
//! | statement | what |
//! |---|---|
//! | 80 | a process that gave up counts itself. If it was nudged, it asks the waiter before it (81, 85, 87 to 89), or ends the pass (83). It goes on if it is the last of enough |
//! | 81 to 83 | it looks whether a pass is under way. If the waiter that was asked does not move any more, it ends the pass |
//! | 85 to 87 | it looks from the end of the line for a waiter that has ghosts behind it, unless all that were counted are passed. If it finds none, it looks whether another process has begun a pass meanwhile (81) |
//! | 88, 89 | it asks this waiter to move, and nudges it |
//! | 84 | it takes from the count what it has seen to |
//! | 90 to 92 | the waiter sees that, and looks for the ghost |
//! | 93, 94 | it says in its record, and in the pass, that it moves |
//! | 95 | it takes up the ghost: the one step that counts |
//! | 96 | it gives up its old ticket, or stays if it was stopped |
//! | 31, 97 | it looks whether the turnstile was closed meanwhile |
//! | 85, 87 to 89 | it asks the waiter before it. If there is none, it ends the pass (98), and sweeps (58) |
//! | 99 to 102 | a helper finds that the waiter at the front moves. If the ghost was not taken up yet, the helper makes it stay a ghost (101). Otherwise it gives up the old ticket (96). In both cases it ends the pass (102) |
//!
//! # Why
//! - *What a request says stays true*: all tickets between `p` and `r`, and `r`, are ghosts. A
//!   ghost is taken up only by the waiter directly before it, and that is `p`. The requests of two
//!   passes do not mix: from the look for a waiter (87) to the request (88) no pass may begin
//!   (`count`). It counts modulo 2^16. Suppose that exactly 2^16 passes, each after 15 give-ups or
//!   more, begin while a process is between two steps of a look. Then its request may be an old
//!   one, and a waiter may move past another. Nothing else can come of it.
//! - *It moves or stays, not both*: the record of the ghost decides. The waiter read it (92) before
//!   its own record said that it moves (93). A helper acts only after 93. If the helper is first
//!   (101), the waiter's exchange (95) fails. If the waiter is first, the helper sees that the
//!   ghost was taken up, and gives up `p` for it. So no helper lets the process in with `p`, and
//!   then with `r` too.
//! - *A death costs one ticket*: the process has two tickets only between 95 and 96. In between,
//!   its old ticket is not signalled: a helper that finds it at the front does 96.
//! - *The ghost is still there (95)*: while `p` is not dealt with, the front is not after `p`. So
//!   no helper has begun to exit `r`.
//! - *No word is mistaken for an older one*: helpers act on a ghost only for the waiter at the
//!   front. After this waiter none is left that could move to the ghost. A helper that is late
//!   (101) then only marks a ghost that no process would take up. A waiter that was stopped never
//!   moves again (`stays`), so a helper that is late cannot give up its ticket (96).
//! - *An absent ticket ends a run of ghosts*: it may be announced at any moment, and wait.
//! - *A pass that breaks off does no harm*: a waiter that gives up instead goes on with the pass
//!   itself. One that is let in instead was the first in line. If a process dies while it moves,
//!   the pass ends when the front reaches its ticket, or at the next 83.
//! - *Tickets of a process that asks for several stay*: it would have to move all of them at once.
//!
//! # How many ghosts there are
//! A pass begins when `left >= c + line / 4`, where `c` is one less than the first ring has places
//! (15 in the library), and `line` counts waiters, ghosts, and holders that waited. A pass leaves
//! only ghosts that were given up after it began, or that lay behind a process that had drawn a
//! ticket and was not in line yet. The next pass finds these. So there are at most as many ghosts
//! as two rounds of `left`: with `w` waiters and `k` places, `g < 2 (c + (w + k + g) / 4)`. Hence
//! **`g < w + k + 4 c`, when each waiter that was nudged has moved.** A count that begins anew
//! without a pass changes nothing: the ghosts from before it began are gone, so those that are left
//! are at most those of the last two counts. Ghosts that are behind a process that asks for several
//! places, or behind one that was nudged and does not run, are not in this count: they stay until
//! it is served. Besides, each process that stops between 88 and 84 can take one count of others
//! with it, once. The bound is argued, and measured; it is not an invariant that the checker asks
//! for.
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
//!
//! # Searched
//! All claims of the [line](super::Endless) are searched with moves in them. Besides, with give-ups
//! and one passage each, where all places are lost at first, all states were looked at, and nothing
//! was found:
//!
//! | processes | states |
//! |---|---|
//! | two that wait or give up, and one that adds a place | 3,370,922 |
//! | the same, and one that closes instead | 4,105,600 |
//! | one that waits, one that asks for two places and gives up, and one that adds two places | 10,473,689 |
//! | one that waits, and two that give up; no process adds a place: no ghost is left behind the waiter | 7,279,037 |
//! | two that wait or give up, one that adds two places, and one death | 27,254,151 |
//! | two that wait behind one another, and one that gives up behind both; no process adds a place: one pass, two moves | 433,580 |
//! | one that waits, one that gives up behind it, and one that leaves a place for newcomers | 3,815,572 |
//! | two that wait or give up, and one that leaves a place for newcomers | 21,864,362 |
//!
//! The tests name the claims and the seeded faults that break them. A pass beside two places or
//! more and a death, or with more processes than these, was not searched.

use super::words::{after, is_before};
use super::{Endless, Fate, Found, Gate, Left, Line, Pass, Record, Spot, Step, Turnstile};
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
    /// so on. `line` is how many tickets were in line. `asked` is the ticket of the process that
    /// gave up, if it was asked to move.
    #[inline(always)]
    pub(super) fn has_left, has_left_now(&self, p: Here<'_, M>, line: u64, asked: Option<u64>) -> () {
        let before = access!(p.at(80).keeping(&(line, asked)).fetch_add(&self.line.left, Left::ONE));
        let left = before.and_one();
        let mut begins = self.is_worth_it(left.count, line);
        if let Some(t) = asked {
            p.part(&(left, begins));
            begins |= either!(self.breaks_off(p, t), self.breaks_off_now(p, t));
            p.part_done();
        }
        if begins {
            either!(self.begin_pass(p, left), self.begin_pass_now(p, left));
        }
    }
    }

    #[cold]
    #[inline(never)]
    fn breaks_off_now(&self, p: Here<'_, M>, t: u64) -> bool
    where
        M: Immediate,
    {
        M::now(self.breaks_off(p, t))
    }

    /// What a process does that was asked to move from ticket `t`, and gave up instead: it asks the
    /// waiter before it to move to the same ghost: 81, 85, 87 to 89. If there is none, it ends the
    /// pass (83). Returns whether a pass must begin, because that waiter cannot be asked any more.
    ///
    /// It does not look from the end of the line again. Where each waiter that is asked gives up,
    /// every look would be as long as the line.
    async fn breaks_off(&self, p: Here<'_, M>, t: u64) -> Result<bool, M::Error> {
        let of_pass = &self.line.pass;
        let pass = p.at(81).keeping(&t).read(of_pass).await?;
        if !pass.is_at(Step::Asked, t) {
            return Ok(false); // another process has seen to it
        }
        let to = after(t, pass.by);
        if let Some(mover) = self.look_back(p, t, Some(to), Left::NOBODY, &pass).await? {
            return Ok(!within!(p, &(), self.ask(p, pass, mover).await?));
        }
        let _ = p.at(83).keeping(&pass).compare_swap(of_pass, pass, pass.ended()).await?;
        Ok(false)
    }

    /// Whether waiters move. `left` is the number that gave up since they last moved, and `line` is
    /// the number of tickets in line. Waiters move once `left` is at least a quarter of `line`,
    /// plus one less than the first ring has places.
    #[inline(always)]
    fn is_worth_it(&self, left: u64, line: u64) -> bool {
        left >= u64::from(self.line.first) - 1 + line / 4
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
        let of_pass = &self.line.pass;
        loop {
            let pass = p.at(81).keeping(&left).read(of_pass).await?;
            if pass.step == Step::Nobody {
                let next = p.at(86).keeping(&(left, pass)).read(&self.next).await?.ticket();
                let is_seen_to = match self.look_back(p, next, None, left, &(pass, next)).await? {
                    Some(mover) => within!(p, &(left, next), self.ask(p, pass, mover).await?),
                    // Otherwise a waiter may have moved past the ticket that was looked at.
                    None => p.at(81).keeping(&(left, pass, next)).read(of_pass).await? == pass,
                };
                if is_seen_to {
                    return self.counts_anew(p, left, next).await;
                }
                continue;
            }
            let front = p.at(85).keeping(&(left, pass)).read(&self.front).await?;
            let t = pass.ticket_near(front.ticket);
            let found = Endless::find(self, p, 82, t, (left, pass)).await?;
            let counted = found.as_ref().is_some_and(|found| found.counted);
            let is_under_way = match found {
                Some(Found { fate: Fate::Moving, .. }) => true,
                Some(Found { fate: Fate::Nudged, .. }) => pass.step == Step::Asked,
                Some(found) if pass.step == Step::Asked && found.record.can_move() => {
                    self.nudge(p, &found, &(left, pass)).await?
                }
                _ => false,
            };
            Endless::lets_go(self, p, counted, &(left, pass, is_under_way)).await?;
            if is_under_way {
                return Ok(()); // the waiter sees, when it has moved, whether more gave up meanwhile
            }
            let _ = p.at(83).keeping(&(left, pass)).compare_swap(of_pass, pass, pass.ended()).await?;
        }
    }

    /// Takes from the count what a look has dealt with, where `next` was the next ticket before the
    /// look: 84. What others have counted since stays.
    async fn counts_anew(&self, p: Here<'_, M>, left: Left, next: u64) -> Result<(), M::Error> {
        let mut now = p.at(84).keeping(&(left, next)).read(&self.line.left).await?;
        loop {
            let rest = now.without(left.count, next);
            match p.at(84).keeping(&(left, next, now)).compare_swap(&self.line.left, now, rest).await? {
                Ok(_) => return Ok(()),
                Err(changed) => now = changed,
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
            let found = Endless::find(self, p, 87, t, (last, front.ticket, left, live)).await?;
            let counted = found.as_ref().is_some_and(|found| found.counted);
            last = match (found, last) {
                (Some(Found { fate: Fate::Gone, .. }), last) => last.or(Some(t)),
                (Some(found), Some(to)) if found.record.can_move() => return Ok(Some(Mover { ticket: t, to, found })),
                // A ticket that is absent may be announced at any moment, and wait.
                _ => None,
            };
            Endless::lets_go(self, p, counted, &(t, last, front.ticket, left, live)).await?;
        }
        Ok(None)
    }

    /// Asks a waiter to move: 88, 89. Returns whether that is all there is to do.
    async fn ask(&self, p: Here<'_, M>, pass: Pass, mover: Mover<'_, M>) -> Result<bool, M::Error> {
        let counted = mover.found.counted;
        let is_all = within!(p, &counted, self.ask_once(p, pass, mover).await?);
        Endless::lets_go(self, p, counted, &is_all).await?;
        Ok(is_all)
    }

    async fn ask_once(&self, p: Here<'_, M>, pass: Pass, mover: Mover<'_, M>) -> Result<bool, M::Error> {
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

    /// 89. Returns whether the waiter was asked, by this process or by another one.
    async fn nudge<K: Debug>(&self, p: Here<'_, M>, found: &Found<'_, M>, live: &K) -> Result<bool, M::Error> {
        let Found { cell, record, ring, .. } = *found;
        p.keep(89, &(live, ring, record));
        Ok(match p.at(89).compare_swap(cell, record, record.with(Fate::Nudged)).await? {
            Ok(_) => true,
            Err(now) => now.is_of(record.ticket()) && matches!(now.fate(), Fate::Nudged | Fate::Moving),
        })
    }

    /// What a waiter does that was asked to move: 90 to 98. Returns where it stands then.
    pub(super) async fn move_on(&self, p: &Process<M>, spot: Spot) -> Result<Spot, M::Error> {
        let (here, of_pass) = (p.on(self.part), &self.line.pass);
        let Spot { ticket: t, ring } = spot;
        let cell = self.line.record(ring, t);
        let nudged = here.at(90).keeping(&spot).read(cell).await?;
        if nudged.fate_of(t) != Fate::Nudged {
            return Ok(spot);
        }
        let waits = nudged.with(Fate::Waits);
        let asked = here.at(91).keeping(&(spot, nudged)).read(of_pass).await?;
        let to = after(t, asked.by);
        let ghost = if asked.is_at(Step::Asked, t) {
            Endless::find(self, here, 92, to, (spot, nudged, asked)).await?
        } else {
            None
        };
        let counted = ghost.as_ref().is_some_and(|ghost| ghost.counted);
        let ghost = ghost.filter(|ghost| ghost.record.can_be_taken_up());
        // This process is in line with its own ticket, and that of the ghost is too as long as it
        // matters. So no ring goes back now.
        let live = (spot, nudged, asked, ghost.as_ref().map(|ghost| ghost.ring));
        Endless::lets_go(self, here, counted, &live).await?;
        let Some(Found { ring: of_ghost, cell: ghost, record: gone, .. }) = ghost else {
            let _ = here.at(93).keeping(&(spot, nudged, "not")).compare_swap(cell, nudged, waits).await?;
            return Ok(spot); // the request was taken back
        };
        let moving = nudged.with(Fate::Moving);
        here.keep(93, &(spot, nudged, asked, of_ghost));
        if here.at(93).compare_swap(cell, nudged, moving).await?.is_err() {
            return Ok(spot); // it was told something else meanwhile
        }
        // From here on it either moves or stays. One exchange of the ghost's record decides.
        let begun = asked.begun();
        here.keep(94, &(spot, nudged, asked, of_ghost));
        let begins = here.at(94).compare_swap(of_pass, asked, begun).await?.is_ok();
        let from = spot;
        let taken = Record::new(to, Fate::Waits);
        here.keep(95, &(spot, nudged, begun, of_ghost));
        let moves = begins && here.at(95).compare_swap(ghost, gone, taken).await?.is_ok();
        here.keep(96, &(spot, nudged, begun, of_ghost, begins, moves));
        let (spot, cell, record) = if moves {
            here.shows("waits", to);
            here.shows("ticket", to);
            let _ = here.at(96).compare_swap(cell, moving, moving.with(Fate::Gone)).await?;
            (Spot { ticket: to, ring: of_ghost }, ghost, taken)
        } else {
            // A helper that stopped it is about to let it in: it is not asked again.
            let record = if begins { waits.staying() } else { waits };
            let _ = here.at(96).compare_swap(cell, moving, record).await?;
            (spot, cell, record)
        };
        // Closing does not reach a process while it moves.
        let live = (spot, record, begun, from, begins, moves);
        if here.at(31).keeping(&live).read(&self.gate).await?.closed {
            here.keep(97, &live);
            let _ = here.at(97).compare_swap(cell, record, record.with(Fate::Shut)).await?;
        }
        if moves {
            self.pass_on(p, spot, t, begun).await?;
        } else if begins {
            let _ = here.at(98).keeping(&(spot, begun)).compare_swap(of_pass, begun, begun.ended()).await?;
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
        let _ = here.at(98).keeping(&(spot, pass)).compare_swap(&self.line.pass, pass, pass.ended()).await?;
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

    /// What a helper does that finds a waiter at the front which moves: 99 to 102. Returns whether
    /// the waiter is to be signalled; otherwise the helper looks again.
    pub(super) async fn stops_moving<K: Debug>(
        &self,
        p: Here<'_, M>,
        found: &Found<'_, M>,
        live: &K,
    ) -> Result<bool, M::Error> {
        let of_pass = &self.line.pass;
        let Found { cell, record, ring, counted, .. } = *found;
        let t = record.ticket();
        let pass = p.at(99).keeping(&(live, ring, record)).read(of_pass).await?;
        let moves = if pass.is_at(Step::Begun, t) {
            let to = after(t, pass.by);
            let found = self.look_for(p, 100, to, (live, ring, record, pass), counted).await?;
            let counted = found.as_ref().is_some_and(|found| found.counted);
            let moves = match found {
                Some(Found { cell: ghost, record: gone, ring: of_ghost, .. }) if gone.can_be_taken_up() => {
                    p.keep(101, &(live, ring, record, pass, of_ghost));
                    p.at(101).compare_swap(ghost, gone, gone.staying()).await?.ok().map(|_| false)
                }
                found => Some(found.is_some_and(|found| found.fate != Fate::Gone)),
            };
            Endless::lets_go(self, p, counted, &(live, ring, record, pass, moves)).await?;
            let Some(moves) = moves else { return Ok(false) };
            moves
        } else if pass.is_at(Step::Asked, t) {
            false
        } else {
            return Ok(true); // it was stopped
        };
        if moves {
            p.keep(96, &(live, ring, record, pass));
            let _ = p.at(96).compare_swap(cell, record, record.with(Fate::Gone)).await?;
        }
        let _ = p.at(102).keeping(&(live, pass)).compare_swap(of_pass, pass, pass.ended()).await?;
        Ok(false)
    }
}
