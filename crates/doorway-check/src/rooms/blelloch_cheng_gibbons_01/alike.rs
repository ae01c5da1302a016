//! Which states of rooms are alike.

use crate::sim::{Canon, Facts, Layout, Shift, VarId};
use doorway_core::memory::Word;
use doorway_core::registry::Sizes;
use doorway_core::rooms::blelloch_cheng_gibbons_01::{Grant, Kept, Turn};

/// Which states of rooms are alike: those in which the counters of a room, and all copies that
/// users remember, have advanced by the same number. The counters of a room are taken relative to
/// `done`.
#[derive(Debug)]
pub(super) struct Shifted {
    bits: u32,
    rooms: usize,
    /// For each room: the positions of `wait`, of `grant` or `turn`, and of `done` if it is a word
    /// of its own.
    wait: usize,
    grant: usize,
    done: Option<usize>,
    /// The position of what it takes to exit, and for how many users.
    held: Option<(usize, usize)>,
}

impl Shifted {
    /// `None` if there are too many rooms to tell their counters apart.
    pub(super) fn new(layout: &Layout, rooms: usize, sizes: Sizes) -> Option<Self> {
        let find = |name: &str| {
            let last = |path: &&str| path.rsplit('.').next().and_then(|path| path.split('[').next()) == Some(name);
            layout.names().iter().position(last)
        };
        let (wait, done) = (find("wait")?, find("done"));
        let grant = find("grant").or_else(|| find("turn"))?;
        let fits = rooms <= Shift::default().len();
        let held = find("held").map(|held| (held, sizes.n));
        let bits = layout.vars()[wait].bits();
        fits.then_some(Self { bits, rooms, wait, grant, done, held })
    }

    fn less(&self, word: u64, by: u64) -> u64 {
        word.wrapping_sub(by) & ((1 << self.bits) - 1)
    }

    /// The room whose counter a variable is, among those that begin here.
    fn room(&self, var: usize, first: usize) -> Option<usize> {
        var.checked_sub(first).filter(|&room| room < self.rooms)
    }

    fn smaller(&self, var: usize, word: u64, by: Shift) -> u64 {
        if let Some(room) = self.room(var, self.wait) {
            return self.less(word, by[room]);
        }
        if let Some(room) = self.done.and_then(|done| self.room(var, done)) {
            return self.less(word, by[room]);
        }
        if self.held.is_some_and(|(held, users)| (held..held + users).contains(&var)) {
            let kept = Kept::unpack(word);
            return Kept { grant: self.less(kept.grant, by[kept.room]), ..kept }.pack();
        }
        let Some(room) = self.room(var, self.grant) else { return word };
        if self.done.is_some() {
            let Grant { ticket, ghosts } = Grant::unpack(word);
            return Grant { ticket: self.less(ticket, by[room]), ghosts }.pack();
        }
        let Turn { grant, joins, done } = Turn::unpack(word);
        Turn { grant: self.less(grant, by[room]), joins, done: self.less(done, by[room]) }.pack()
    }
}

impl Canon for Shifted {
    fn settle(&self, _vars: &mut [u64]) {}

    fn is_stale(&self, _vars: &[u64], _facts: &Facts) -> bool {
        false
    }

    fn base(&self, vars: &[u64]) -> Shift {
        let done = |room: usize| match self.done {
            Some(done) => vars[done + room],
            None => Turn::unpack(vars[self.grant + room]).done,
        };
        std::array::from_fn(|room| if room < self.rooms { done(room) } else { 0 })
    }

    fn of_process(&self, vars: &[u64], _facts: &Facts) -> Shift {
        self.base(vars)
    }

    fn shift(&self, vars: &mut [u64], by: Shift) {
        for (var, word) in vars.iter_mut().enumerate() {
            *word = self.smaller(var, *word, by);
        }
    }

    fn moved(&self, var: VarId, word: u64, by: Shift) -> u64 {
        self.smaller(var as usize, word, by)
    }

    fn waiting(&self, _vars: &[u64]) -> i64 {
        0
    }

    fn of_the_dead(&self, _facts: &Facts) -> u64 {
        0
    }
}
