//! Deaths in memories with seats: noticing them, sleeping and waking, and the next process.
//!
//! Nothing is kept of a dead process except what it has left in variables. It counts as one that
//! has made all its passages, until another process takes its seat.

use super::learn::Halt;
use super::locals::{DONE, ROOT};
use super::memory::{Phase, Seen};
use super::op::Op;
use super::step::{Action, Stepped, What};
use super::world::{Machine, State, is_set};
use doorway_core::memory::{Home, Pid, Woken, Word as _};

impl Machine {
    /// Whether any process has died so far.
    pub(super) fn any_death(&self, state: &State) -> bool {
        state.crashed | state.dying != 0 || state.restarted != 0
    }

    /// How many processes have died so far.
    #[must_use]
    pub fn deaths(&self, state: &State) -> usize {
        (state.crashed | state.dying).count_ones() as usize + state.restarted as usize
    }

    /// Whether a process has died without being noticed yet.
    #[must_use]
    pub fn is_dying(&self, state: &State, p: usize) -> bool {
        state.dying != 0 && is_set(state.dying, p)
    }

    /// Whether a sleeping process may wake up on its own.
    pub(super) fn may_time_out(&self, state: &State, p: usize) -> bool {
        match self.next(state, p) {
            Op::Sleep(..) => {
                let deaths = self.rules().deaths;
                let suspects = deaths.suspects && deaths.reclaims && self.rules().crashes > 0;
                deaths.rechecks && (suspects || self.any_death(state))
            }
            _ => self.rules().timed_sleeps,
        }
    }

    /// The actions that are possible for a dead process.
    pub(super) fn actions_of_the_dead(&self, state: &State, p: usize, out: &mut Vec<Action>) {
        if self.is_dying(state, p) {
            out.push(Action::step(p));
        } else if !self.bytes.is_empty() && (state.restarted as usize) < self.rules().deaths.restarts {
            out.push(Action { process: p, what: What::Restart });
        }
    }

    /// The ways in which a process can crash: it wakes one of the processes that watch it.
    pub(super) fn crashes(&self, state: &State, p: usize, out: &mut Vec<Action>) {
        if self.deaths(state) >= self.rules().crashes || self.phase(state, p) == Phase::Remainder {
            return;
        }
        out.push(Action { process: p, what: What::Crash });
        let watchers = self.watchers(state, p).count();
        out.extend((1..watchers).map(|i| Action { process: p, what: What::CrashWakes(i as u8) }));
    }

    /// The sleeping processes that watch the seat of a process.
    fn watchers(&self, state: &State, p: usize) -> impl Iterator<Item = usize> {
        let hints = self.rules().deaths.hints;
        let watches = move |q: &usize| {
            let watches_p = matches!(self.next(state, *q), Op::Sleep(_, _, watch, _) if is_set(watch, p));
            hints && watches_p && self.is_asleep(state, *q)
        };
        (0..self.processes()).filter(watches).collect::<Vec<_>>().into_iter()
    }

    /// A process crashes, and wakes one of the processes that watch it, counted from the first.
    /// `None` if it cannot.
    pub(super) fn crash(&self, state: &mut State, p: usize, wakes: usize) -> Result<bool, Halt> {
        let allowed = p < 64 && self.deaths(state) < self.rules().crashes;
        let watcher = self.watchers(state, p).nth(wakes);
        if !allowed || self.phase(state, p) == Phase::Remainder || wakes > 0 && watcher.is_none() {
            return Ok(false);
        }
        if self.bytes.is_empty() {
            state.crashed |= 1 << p;
            return Ok(true);
        }
        state.asleep &= !(1 << p);
        if let Some(q) = watcher {
            self.wakes(state, q, Woken::Death)?;
        }
        if self.rules().deaths.late {
            state.dying |= 1 << p;
        } else {
            self.is_noticed(state, p);
        }
        Ok(true)
    }

    /// Releases whatever a dead process has locked.
    pub(super) fn is_noticed(&self, state: &mut State, p: usize) {
        state.dying &= !(1 << p);
        state.crashed |= 1 << p;
        state.locals[p] = DONE;
        for &byte in &self.bytes {
            let byte = &mut state.vars[byte as usize];
            if *byte == p as u64 + 1 {
                *byte = 0;
            }
        }
        if let Some(before) = state.before.get_mut(p) {
            *before = 0;
        }
        state.before.iter_mut().for_each(|others| *others &= !(1 << p));
        state.passed &= !(1 << p);
    }

    /// A new process takes the seat of a dead one; `false` if it cannot.
    pub(super) fn restart(&self, state: &mut State, p: usize) -> bool {
        let allowed = !self.bytes.is_empty() && (state.restarted as usize) < self.rules().deaths.restarts;
        if !allowed || !self.has_crashed(state, p) {
            return false;
        }
        state.crashed &= !(1 << p);
        state.restarted += 1;
        state.locals[p] = ROOT;
        for (v, info) in self.layout().vars().iter().enumerate() {
            if info.private && info.home == Home::Of(Pid::new(p)) {
                state.vars[v] = info.init;
            }
        }
        true
    }

    /// Whether the owner of one of these seats has died, and no process has taken the seat since.
    fn any_seems_dead(&self, state: &State, seats: u64) -> bool {
        let is_free = |seat: usize| self.bytes.get(seat).is_some_and(|&byte| state.vars[byte as usize] == 0);
        (0..self.bytes.len()).any(|seat| is_set(seats, seat) && (is_set(state.dying, seat) || is_free(seat)))
    }

    /// A sleeping process wakes, and is told why.
    pub(super) fn wakes(&self, state: &mut State, p: usize, why: Woken) -> Result<(), Halt> {
        state.asleep &= !(1 << p);
        let seen = Seen { value: why.pack(), gave_up: false };
        state.locals[p] = self.locals[p].child(state.locals[p], seen)?.to;
        Ok(())
    }

    /// A step of a process that sleeps or is about to. `None` if it cannot happen.
    pub(super) fn sleep(&self, state: &mut State, action: Action) -> Result<Option<Stepped>, Halt> {
        let p = action.process;
        let Op::Sleep(v, seen, watch, abortable) = self.next(state, p) else { return Ok(None) };
        let asleep = self.is_asleep(state, p);
        let why = match action.what {
            What::Step if asleep => return Ok(None),
            What::Step if state.vars[v as usize] != seen => Woken::Called,
            What::Step if self.rules().deaths.hints && self.any_seems_dead(state, watch) => Woken::Death,
            What::Step => {
                state.asleep |= 1 << p;
                let saw = Woken::Again.pack();
                return Ok(Some(Stepped { saw, unchanged: true, failed_turn: true, ..Stepped::default() }));
            }
            What::TimesOut if asleep && self.may_time_out(state, p) => Woken::Again,
            What::GiveUp if asleep && abortable && self.rules().give_ups => Woken::GiveUp,
            _ => return Ok(None),
        };
        self.wakes(state, p, why)?;
        Ok(Some(Stepped { saw: why.pack(), unchanged: true, ..Stepped::default() }))
    }

    /// Wakes all processes that sleep on a variable. Returns whether there were any.
    pub(super) fn wake(&self, state: &mut State, v: super::VarId) -> Result<bool, Halt> {
        let mut any = false;
        for q in 0..self.processes() {
            if self.is_asleep(state, q) && matches!(self.next(state, q), Op::Sleep(on, ..) if on == v) {
                self.wakes(state, q, Woken::Called)?;
                any = true;
            }
        }
        Ok(any)
    }
}
