//! What can happen next, and its effect.

use super::TextError;
use super::cache::{Line, Reference};
use super::calls::Event;
use super::layout::{Part, VarId};
use super::learn::Halt;
use super::locals::{DONE, How, ROOT};
use super::memory::{Phase, Seen};
use super::op::Op;
use super::rules::Rules;
use super::world::{Machine, State, is_set};
use doorway_core::memory::{Home, Pid, Register, Woken};
use doorway_core::registry::CostModel;
use rustc_hash::FxHashMap;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Action {
    /// The process.
    pub process: usize,
    /// What happens to it.
    pub what: What,
}

/// What can happen to a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// It takes its next step. A write to a register that is not atomic is two steps: its beginning
    /// and its end.
    Step,
    /// Its next step has several possible values, and takes this one: what a read returns that
    /// overlaps a write, what a write leaves behind that overlaps another, or what a choice picks.
    Sees(u16),
    /// A turn of its wait fails, and it gives up.
    GiveUp,
    /// It sleeps, and wakes up on its own.
    TimesOut,
    /// It crashes: it never takes a step again.
    Crash,
    /// It crashes, and wakes this one of the sleepers that watch it, not the first.
    CrashWakes(u8),
    /// A new process starts on the seat of this one, which has died.
    Restart,
}

/// The largest number of choices: an action can tell this many apart.
const MOST_CHOICES: usize = u16::MAX as usize - 3;

impl Action {
    /// An ordinary step.
    #[must_use]
    pub const fn step(process: usize) -> Self {
        Self { process, what: What::Step }
    }

    /// Whether it is a crash.
    #[must_use]
    pub const fn is_crash(self) -> bool {
        matches!(self.what, What::Crash | What::CrashWakes(_))
    }

    /// A number for it among this many processes; the usual actions have small ones.
    pub(crate) fn number(self, processes: usize) -> u64 {
        let what = match self.what {
            What::Step => 0,
            What::Crash => 1,
            What::GiveUp => 2,
            What::TimesOut => 3,
            What::Restart => 4,
            What::Sees(i) => 5 + 2 * u64::from(i),
            What::CrashWakes(i) => 6 + 2 * u64::from(i),
        };
        what * processes as u64 + self.process as u64
    }

    pub(crate) fn of_number(number: u64, processes: usize) -> Self {
        let (what, process) = (number / processes as u64, (number % processes as u64) as usize);
        let what = match what {
            0 => What::Step,
            1 => What::Crash,
            2 => What::GiveUp,
            3 => What::TimesOut,
            4 => What::Restart,
            odd if odd % 2 == 1 => What::Sees(((odd - 5) / 2) as u16),
            even => What::CrashWakes(((even - 6) / 2) as u8),
        };
        Self { process, what }
    }
}

/// The effect of an action.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stepped {
    /// What the process saw.
    pub saw: u64,
    /// Whether shared memory is unchanged.
    pub unchanged: bool,
    /// Whether a turn of a wait failed.
    pub failed_turn: bool,
    /// Whether a passage ended.
    pub passage_ended: bool,
    /// Whether the process entered its critical section.
    pub entered: bool,
    /// How many processes that came before it are still waiting, if it entered and the order is
    /// tracked.
    pub overtook: u32,
    /// The remote references that it cost the measured process.
    pub cost: u32,
    /// The monitors that rejected it, a bit for each.
    pub rejected: u64,
}

/// What an action did after its first access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told<'a> {
    /// An access to shared variables: the operation, its part, and what it saw.
    Accessed(Op, Part, u64),
    /// An operation began.
    Invoked(&'a str),
    /// An operation ended, and returned this.
    Responded(&'a str),
}

type Watch<'a> = dyn FnMut(Told<'_>) + 'a;

/// How a turn of a wait would end, and what it would read.
pub(super) enum Turn {
    /// It fails.
    Fails(Vec<VarId>),
    /// It succeeds, or does something other than read.
    Ends(Vec<VarId>),
}

impl Machine {
    /// Everything that can happen to a process.
    pub fn actions(&self, state: &State, p: usize, out: &mut Vec<Action>) {
        let op = self.next(state, p);
        if self.has_crashed(state, p) || self.is_dying(state, p) {
            return self.actions_of_the_dead(state, p, out);
        }
        if op == Op::Stop && !self.owes(state, p) {
            return;
        }
        if self.rules().line.is_some() && state.locals[p] == ROOT && self.is_full(state) {
            return;
        }
        match op {
            _ if self.owes(state, p) => out.push(Action::step(p)),
            _ if self.is_asleep(state, p) => {
                if self.may_time_out(state, p) {
                    out.push(Action { process: p, what: What::TimesOut });
                }
            }
            Op::Read(v) if state.writing != 0 && self.writes_in_progress(state, p, v).next().is_some() => {
                let values = self.torn_values(state, p, v).len() as u16;
                out.extend((0..values).map(|i| Action { process: p, what: What::Sees(i) }));
            }
            Op::Write(v, x) if state.overlapped != 0 && is_set(state.overlapped, p) => {
                let values = self.left_behind(state, v, x).len() as u16;
                out.extend((0..values).map(|i| Action { process: p, what: What::Sees(i) }));
            }
            Op::Choose(n) => {
                let choices = n.clamp(1, MOST_CHOICES) as u16;
                out.extend((0..choices).map(|i| Action { process: p, what: What::Sees(i) }));
            }
            _ => out.push(Action::step(p)),
        }
        let rules = self.rules();
        let gives_up = match op {
            Op::Read(_) => !self.is_asleep(state, p) && !self.owes(state, p),
            Op::Sleep(.., abortable) => abortable && self.is_asleep(state, p),
            _ => false,
        };
        if rules.give_ups && gives_up {
            out.push(Action { process: p, what: What::GiveUp });
        }
        if rules.crashes > 0 {
            self.crashes(state, p, out);
        }
    }

    /// Performs an action; `None`, with the state unchanged, if it cannot happen.
    ///
    /// # Errors
    /// Returns an error if a text breaks the rules of replay, or something is not known yet; then
    /// the state is of no use any more.
    pub(crate) fn act(&self, state: &mut State, action: Action) -> Result<Option<Stepped>, Halt> {
        self.act_watched(state, action, &mut |_| {})
    }

    /// Whether what a process does, and what that leads to, follows from its local state and the
    /// variables, and changes nothing else of a state but the count of its passages. Crashes are no
    /// steps, and no process notices that another has crashed.
    pub(crate) fn steps_are_local(&self) -> bool {
        // All of them, so that a new rule is not forgotten here.
        let Rules {
            wakes,
            order,
            normalise,
            switches,
            measure,
            line,
            sparse,
            force_registers,
            // These say what is a step, what a text does, or what is done with other actions.
            passages: _,
            sections: _,
            keep: _,
            crashes: _,
            give_ups: _,
            bounded_decrement: _,
            fetch_add: _,
            faults: _,
            // What these do is asked of the machine below.
            registers: _,
            deaths: _,
            forget: _,
            alike: _,
            // It matters to a canon only.
            lag: _,
            // It matters to sleepers only.
            timed_sleeps: _,
        } = self.rules();
        let by_rules = !(wakes || order || normalise || sparse || force_registers);
        by_rules
            && switches.is_none()
            && measure.is_none()
            && line.is_none()
            && self.canon.is_none()
            && self.bytes.is_empty()
            && self.heard.is_none()
            && self.watchers.is_empty()
            && self.forgets_nothing()
            && self.weakest_register() == Register::Atomic
    }

    /// Whether all that happens to processes is that they take their next step, or choose.
    pub(crate) fn has_only_steps(&self) -> bool {
        let Rules { crashes, give_ups, .. } = self.rules();
        crashes == 0 && !give_ups && self.steps_are_local()
    }

    /// Whether a search by these rules lets this process step next.
    pub(crate) fn may_step_next(&self, state: &State, p: usize) -> bool {
        let [last, switches] = state.turns;
        last == 0 || last == p as u32 + 1 || self.rules().switches.is_none_or(|most| switches < most)
    }

    /// [`act`](Self::act), which also reports each access to shared variables after the first, and
    /// operations that begin and end.
    pub(crate) fn act_watched(
        &self,
        state: &mut State,
        action: Action,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Stepped>, Halt> {
        let before = (!self.watchers.is_empty()).then(|| state.clone());
        let mut stepped = self.happen(state, action, watch)?;
        if let (Some(before), Some(stepped)) = (before, &mut stepped) {
            self.show_step(&before, state, action, stepped);
        }
        if self.rules().switches.is_some() && stepped.is_some() {
            let now = action.process as u32 + 1;
            let [last, switches] = state.turns;
            state.turns = [now, switches + u32::from(last != 0 && last != now)];
        }
        Ok(stepped)
    }

    /// What happens, unseen by monitors: also for looks ahead.
    fn happen(&self, state: &mut State, action: Action, watch: &mut Watch<'_>) -> Result<Option<Stepped>, Halt> {
        let p = action.process;
        if self.rules().sparse {
            return Err(Halt::Text(TextError::Sparse));
        }
        let (op, joined) = (self.next(state, p), self.node(state, p).position.joined);
        self.is_whole(state, p)?;
        if matches!(op, Op::Choose(n) if n > MOST_CHOICES) {
            return Err(Halt::Text(TextError::TooManyChoices { pid: Pid::new(p), label: self.next_at(state, p).1 }));
        }
        if self.is_dying(state, p) {
            let noticed = action.what == What::Step;
            if noticed {
                self.is_noticed(state, p);
            }
            return Ok(noticed.then(Stepped::default));
        }
        if action.what == What::Restart {
            return Ok(self.restart(state, p).then(Stepped::default));
        }
        if op == Op::Stop && !self.owes(state, p) || self.has_crashed(state, p) {
            return Ok(None);
        }
        if let What::Crash | What::CrashWakes(_) = action.what {
            let wakes = if let What::CrashWakes(i) = action.what { usize::from(i) } else { 0 };
            if !self.crash(state, p, wakes)? {
                return Ok(None);
            }
            self.call(state, Event::Abandons(p))?;
            self.make_canonical(state)?;
            return Ok(Some(Stepped::default()));
        }
        if let Op::Sleep(..) = op {
            let before = self.phase(state, p);
            let stepped = self.sleep(state, action)?;
            return Ok(stepped.map(|mut stepped| {
                if self.rules().order {
                    self.keep_order(state, p, before, &mut stepped);
                }
                stepped
            }));
        }
        if (action.what == What::TimesOut) != self.is_asleep(state, p) {
            return Ok(None);
        }
        if action.what == What::TimesOut {
            state.asleep &= !(1 << p);
            return Ok(Some(Stepped { unchanged: true, ..Stepped::default() }));
        }
        if self.owes(state, p) {
            let v = std::mem::take(&mut state.owes[p]) - 1;
            state.asleep &= !self.sleepers_on(state, v)?;
            return Ok(Some(Stepped::default()));
        }
        let before = self.phase(state, p);
        let begins_write = self.is_torn_write(op) && !is_set(state.writing, p);
        let mut stepped = if begins_write {
            self.invoke(state, p, watch)?;
            state.writing |= 1 << p;
            Stepped::default()
        } else {
            match self.complete(state, action, op, watch)? {
                Some(stepped) => stepped,
                None => return Ok(None),
            }
        };
        if self.rules().wakes && !begins_write {
            self.sleep_or_owe(state, p, op, stepped)?;
        }
        // A write in two steps is paid for when it begins.
        if self.rules().measure.is_some() && (begins_write || !self.is_torn_write(op)) {
            stepped.cost = self.charge(state, p, op);
        }
        if !begins_write {
            self.join(state, p, joined, &mut stepped, watch)?;
        }
        if self.rules().normalise {
            self.normalise(state)?;
        }
        self.make_canonical(state)?;
        self.forget(state);
        if self.rules().order {
            self.keep_order(state, p, before, &mut stepped);
        } else {
            stepped.entered = before != Phase::Inside && self.phase(state, p) == Phase::Inside;
        }
        Ok(Some(stepped))
    }

    /// Continues with what belongs to the same step: private accesses next to it, the access after
    /// a choice, and the rest of an atomic block. A private access that begins a section belongs to
    /// the step after it, so that being inside, or in the remainder, remains a state.
    fn join(
        &self,
        state: &mut State,
        p: usize,
        first_was_joined: bool,
        stepped: &mut Stepped,
        watch: &mut Watch<'_>,
    ) -> Result<(), Halt> {
        let mut shared = !first_was_joined;
        while !stepped.passage_ended && !stepped.failed_turn {
            let position = &self.node(state, p).position;
            let (op, part, joined) = (position.op, position.part, position.joined);
            // A text that has panicked asks for nothing more.
            if shared && !joined || position.phase == Phase::Inside || op == Op::Stop {
                break;
            }
            let branches = self.is_torn_write(op)
                || matches!(op, Op::Choose(_))
                || matches!(op, Op::Read(v) if self.writes_in_progress(state, p, v).next().is_some());
            if branches {
                // A torn read or a choice begins a step, whatever private accesses came before it;
                // a torn write has begun already.
                if !shared && self.is_torn_write(op) {
                    self.invoke(state, p, watch)?;
                    state.writing |= 1 << p;
                    stepped.unchanged = false;
                    stepped.cost += self.charge(state, p, op);
                }
                break;
            }
            shared |= !joined;
            let Some(more) = self.complete(state, Action::step(p), op, watch)? else { break };
            stepped.unchanged &= more.unchanged;
            stepped.failed_turn |= more.failed_turn;
            stepped.passage_ended |= more.passage_ended;
            stepped.cost += self.charge(state, p, op);
            if let Some(v) = op.var().filter(|&v| !self.layout().var(v).private) {
                watch(Told::Accessed(op, part, more.saw));
                if !joined {
                    if self.rules().wakes {
                        self.sleep_or_owe(state, p, op, more)?;
                    }
                } else if state.asleep != 0 && !more.unchanged {
                    // A block wakes the processes that sleep on what it writes.
                    state.asleep &= !self.sleepers_on(state, v)?;
                }
            }
        }
        Ok(())
    }

    /// A process that found nothing changed goes to sleep. A process that changed a variable with
    /// sleepers owes them a wake.
    fn sleep_or_owe(&self, state: &mut State, p: usize, op: Op, stepped: Stepped) -> Result<(), Halt> {
        let Some(v) = op.var() else { return Ok(()) };
        if stepped.failed_turn {
            if let Turn::Fails(_) = self.turn(state, p)? {
                state.asleep |= 1 << p;
            }
        } else if !stepped.unchanged && self.sleepers_on(state, v)? != 0 {
            state.owes[p] = v + 1;
        }
        Ok(())
    }

    /// The processes that sleep and have read this variable, a bit for each.
    ///
    /// A sleeper has read what its turn would read now. If another variable has changed as well,
    /// the turn may end before it reaches this one: then the process that changed the other
    /// variable owes the wake.
    fn sleepers_on(&self, state: &State, v: VarId) -> Result<u64, Halt> {
        let mut sleepers = 0;
        for q in (0..self.processes()).filter(|&q| is_set(state.asleep, q)) {
            let (Turn::Fails(reads) | Turn::Ends(reads)) = self.turn(state, q)?;
            if reads.contains(&v) {
                sleepers |= 1 << q;
            }
        }
        Ok(sleepers)
    }

    /// What a turn of a wait would read now, for a process at its head.
    ///
    /// A process that loops outside a wait reads for ever. If local states are merged, it returns
    /// to an earlier state. Otherwise the loop ends after more reads than a turn needs that looks
    /// at every variable several times.
    pub(super) fn turn(&self, state: &State, p: usize) -> Result<Turn, Halt> {
        let head = state.locals[p];
        let (mut at, mut reads) = (head, Vec::new());
        // An earlier position: the process may loop without returning to its head.
        let mut been = head;
        let most = 64 + 8 * state.vars.len();
        while reads.len() <= most {
            let op = self.locals[p].nodes[at as usize].position.op;
            let value = match op {
                Op::Read(v) if self.layout().var(v).is_forgotten(state.vars[v as usize]) => {
                    return Ok(Turn::Ends(reads));
                }
                Op::Read(v) => state.vars[v as usize],
                Op::CompareSwap(v, old, _) if state.vars[v as usize] != old => state.vars[v as usize],
                _ => return Ok(Turn::Ends(reads)),
            };
            reads.extend(op.var());
            let seen = Seen { value, gave_up: false };
            let child = self.locals[p].child(at, seen)?;
            at = match child.how {
                How::GoneRound | How::FailedTurn { .. } if child.to == head => return Ok(Turn::Fails(reads)),
                How::On | How::GoneRound if child.to != been && child.to != head => child.to,
                _ => return Ok(Turn::Ends(reads)),
            };
            if reads.len().is_power_of_two() {
                been = at;
            }
        }
        Ok(Turn::Ends(reads))
    }

    /// A step with no visible effect.
    pub(super) fn step_within(&self, state: &mut State, p: usize) -> Result<(), Halt> {
        let op = self.next(state, p);
        self.complete(state, Action::step(p), op, &mut |_| {})?;
        Ok(())
    }

    /// Subtracts the smallest counter from all of them, and from the values that processes
    /// remember.
    fn normalise(&self, state: &mut State) -> Result<(), Halt> {
        let counters: Vec<usize> = (0..state.vars.len()).filter(|&v| self.layout().vars()[v].counts).collect();
        let counts: Vec<bool> = self.layout().vars().iter().map(|v| v.counts).collect();
        let is_counter = |op: Op| op.var().is_some_and(|v| counts[v as usize]);
        let remembered =
            (0..self.processes()).filter_map(|p| self.locals[p].smallest_seen(state.locals[p], is_counter));
        let less = counters.iter().map(|&v| state.vars[v]).chain(remembered).min().unwrap_or(0);
        if less == 0 {
            return Ok(());
        }
        for p in 0..self.processes() {
            let at = state.locals[p];
            let moved = |op: Op, word: u64| {
                if is_counter(op) && !matches!(op, Op::Write(..)) { word.wrapping_sub(less) } else { word }
            };
            state.locals[p] = self.locals[p].shifted(at, [less, 0, 0], moved)?;
        }
        counters.iter().for_each(|&v| state.vars[v] -= less);
        Ok(())
    }

    /// Does what the text asked for, and gives it the answer.
    #[inline]
    fn complete(
        &self,
        state: &mut State,
        action: Action,
        op: Op,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Stepped>, Halt> {
        let p = action.process;
        let at = state.locals[p];
        let old = op.var().map(|v| state.vars[v as usize]);
        if op.var().is_some_and(|v| self.layout().var(v).is_private_to_another(p)) {
            let label = self.locals[p].nodes[at as usize].position.label;
            return Err(Halt::Text(TextError::NotPrivate { pid: Pid::new(p), label }));
        }
        if let (Some(v), Some(word)) = (op.var(), old)
            && self.layout().var(v).is_forgotten(word)
            && !matches!(op, Op::Write(..))
        {
            let label = self.locals[p].nodes[at as usize].position.label;
            return Err(Halt::Text(TextError::Unwatched { pid: Pid::new(p), label }));
        }
        if self.rules().force_registers {
            self.invents_nothing(state, p)?;
        }
        let value = match (action.what, op) {
            (What::Sees(_), Op::Read(v)) if self.writes_in_progress(state, p, v).next().is_none() => return Ok(None),
            (What::Sees(i), Op::Read(v)) => match self.torn_values(state, p, v).get(usize::from(i)) {
                Some(&value) => value,
                None => return Ok(None),
            },
            (What::Sees(i), Op::Write(v, x)) if is_set(state.overlapped, p) => {
                match self.left_behind(state, v, x).get(usize::from(i)) {
                    Some(&value) => {
                        state.vars[v as usize] = value;
                        0
                    }
                    None => return Ok(None),
                }
            }
            (What::Sees(i), Op::Choose(n)) if usize::from(i) < n.max(1) => i.into(),
            (What::Sees(_), _) => return Ok(None),
            (_, Op::AnyDeath) => u64::from(self.any_death(state)),
            (_, Op::Wake(v)) => u64::from(self.wake(state, v)?),
            _ => op.apply(self.layout(), &mut state.vars),
        };
        let seen = Seen { value, gave_up: false };
        let mut child = self.locals[p].child(at, seen)?;
        if action.what == What::GiveUp {
            if child.how != (How::FailedTurn { abortable: true }) {
                return Ok(None); // a read does not change the state
            }
            child = self.locals[p].child(at, Seen { value, gave_up: true })?;
        }
        if state.writing != 0 {
            if let Op::Write(v, x) = op
                && self.takes_effect(state, v, x)
            {
                let same = |q: usize| is_set(state.writing, q) && self.next(state, q).var() == Some(v) && q != p;
                state.overlapped |= (0..self.processes()).filter(|&q| same(q)).map(|q| 1 << q).sum::<u64>();
            }
            state.writing &= !(1 << p);
            state.overlapped &= !(1 << p);
        }
        if !self.is_torn_write(op) {
            self.invoke(state, p, watch)?;
        }
        state.locals[p] = child.to;
        if let Some(response) = child.responds {
            let response = self.locals[p].responded(response);
            watch(Told::Responded(&response.text));
            let event = response.word.map_or(Event::Abandons(p), |word| Event::Responds(p, word));
            self.call(state, event)?;
        }
        let passage_ended = child.how == How::PassageEnded;
        if passage_ended && let Some(limit) = self.rules().passages {
            let done = match state.passages.get_mut(p) {
                Some(count) => {
                    *count += 1;
                    *count
                }
                None => 1,
            };
            if done >= limit {
                state.locals[p] = DONE;
            }
        }
        let woke = matches!(op, Op::Wake(_)) && value != 0;
        let unchanged = old == op.var().map(|v| state.vars[v as usize]) && !self.is_torn_write(op) && !woke;
        if !unchanged && matches!(child.how, How::FailedTurn { .. }) {
            let label = self.locals[p].nodes[at as usize].position.label;
            return Err(Halt::Text(TextError::TurnWrites { pid: Pid::new(p), label }));
        }
        Ok(Some(Stepped {
            saw: value,
            unchanged,
            failed_turn: matches!(child.how, How::FailedTurn { .. }),
            passage_ended,
            ..Stepped::default()
        }))
    }

    /// Begins the operation that starts with the next access of a process.
    #[inline]
    fn invoke(&self, state: &mut State, p: usize, watch: &mut Watch<'_>) -> Result<(), Halt> {
        let Some(op) = &self.node(state, p).position.invokes else { return Ok(()) };
        watch(Told::Invoked(&op.text));
        let event = Event::Invokes(p, op.word.unwrap_or_default());
        self.call(state, event)
    }

    /// Records the order of arrival, and which processes were passed.
    fn keep_order(&self, state: &mut State, p: usize, before: Phase, stepped: &mut Stepped) {
        let now = self.phase(state, p);
        if before == Phase::Remainder && now != Phase::Remainder {
            let waits = |q: usize| q != p && self.phase(state, q) == Phase::Entry && self.past_doorway(state, q);
            state.before[p] = (0..self.processes()).filter(|&q| waits(q)).map(|q| 1 << q).sum();
        }
        if before != Phase::Inside && now == Phase::Inside {
            stepped.entered = true;
            stepped.overtook = state.before[p].count_ones();
            state.passed |= state.before[p];
        }
        // A process that enters, or leaves without having entered, no longer waits.
        let gave_up = before == Phase::Entry && now == Phase::Exit;
        if stepped.entered || stepped.passage_ended || gave_up {
            state.before[p] = 0;
            state.before.iter_mut().for_each(|others| *others &= !(1 << p));
            state.passed &= !(1 << p);
        }
    }

    /// The cost of an access for the measured process; updates its cache.
    fn charge(&self, state: &mut State, p: usize, op: Op) -> u32 {
        let (Some((measured, model)), Some(v)) = (self.rules().measure, op.var()) else { return 0 };
        if model == CostModel::Dsm || self.layout().var(v).private {
            let local = self.layout().var(v).private || self.layout().var(v).home == Home::Of(Pid::new(measured));
            return u32::from(p == measured && !local);
        }
        let [valid, exclusive] = &mut state.cached;
        let bit = 1u64 << v;
        let mut line = Line { valid: *valid & bit != 0, exclusive: *exclusive & bit != 0 };
        let at_home = self.layout().var(v).home == Home::Of(Pid::new(measured));
        let cost = line.charge(model, Reference { own: p == measured, reads: matches!(op, Op::Read(_)), at_home });
        *valid = if line.valid { *valid | bit } else { *valid & !bit };
        *exclusive = if line.exclusive { *exclusive | bit } else { *exclusive & !bit };
        u32::from(cost)
    }

    /// Whether no process can go on: some process is outside its remainder, and all such processes
    /// that have not crashed have only failing turns. Processes in their remainders need not start.
    ///
    /// Exact: if each such process, run alone, returns to where it is without changing memory,
    /// whatever torn reads return, then no order of their steps changes anything for any of them. A
    /// process that will only wait, but has something else to do first, does not count as waiting
    /// yet.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub(crate) fn is_deadlock(&self, state: &State) -> Result<bool, Halt> {
        self.is_deadlock_if(state, |p| self.only_waits(state, p))
    }

    /// The same, told of each process whether it [only waits](Self::only_waits).
    pub(crate) fn is_deadlock_if(
        &self,
        state: &State,
        mut only_waits: impl FnMut(usize) -> Result<bool, Halt>,
    ) -> Result<bool, Halt> {
        let mut anyone = false;
        for p in 0..self.processes() {
            if self.phase(state, p) != Phase::Remainder && !self.has_crashed(state, p) {
                anyone = true;
                if !only_waits(p)? {
                    return Ok(false);
                }
            }
        }
        Ok(anyone)
    }

    /// Whether a process, run alone, returns to where it is with nothing changed, on every way it
    /// can go.
    pub(crate) fn only_waits(&self, state: &State, p: usize) -> Result<bool, Halt> {
        let mut comes_back = false;
        let mut been = Vec::new();
        let mut todo = vec![state.clone()];
        let mut actions = Vec::new();
        while let Some(at) = todo.pop() {
            actions.clear();
            self.actions(&at, p, &mut actions);
            if actions.is_empty() && self.is_asleep(&at, p) {
                comes_back = true;
            }
            for &action in actions.iter().filter(|a| matches!(a.what, What::Step | What::Sees(_) | What::TimesOut)) {
                let mut next = at.clone();
                let Some(stepped) = self.happen(&mut next, action, &mut |_| {})? else { continue };
                if !stepped.unchanged || stepped.passage_ended {
                    return Ok(false);
                }
                comes_back |= next.locals[p] == state.locals[p] && next.asleep == state.asleep;
                if !been.contains(&(next.locals[p], next.asleep)) {
                    been.push((next.locals[p], next.asleep));
                    todo.push(next);
                }
            }
        }
        Ok(comes_back)
    }

    /// Whether a process, run alone, enters, whatever torn reads return.
    ///
    /// # Errors
    /// The same as for [`step`](Self::step).
    pub(crate) fn enters_alone(&self, state: &State, p: usize) -> Result<bool, Halt> {
        // As long as there is only one way to go, one earlier state is enough to detect a loop. A
        // later state replaces it, each time after twice as many steps.
        let (mut at, mut behind, mut steps) = (state.clone(), state.clone(), 0usize);
        let mut actions = Vec::new();
        while self.phase(&at, p) != Phase::Inside {
            actions.clear();
            self.actions_alone(&at, p, &mut actions);
            let only = match actions[..] {
                [only] if !self.is_asleep(&at, p) => only,
                _ => return self.always_enters(&at, p, &mut FxHashMap::default()),
            };
            if self.happen(&mut at, only, &mut |_| {})?.is_none() {
                return self.always_enters(&at, p, &mut FxHashMap::default());
            }
            if at == behind {
                return Ok(false);
            }
            steps += 1;
            if steps.is_power_of_two() {
                behind.clone_from(&at);
            }
        }
        Ok(true)
    }

    /// The actions that a process can take on its own.
    fn actions_alone(&self, state: &State, p: usize, out: &mut Vec<Action>) {
        self.actions(state, p, out);
        out.retain(|a| matches!(a.what, What::Step | What::Sees(_)));
    }

    /// `been`: states on the way to here (not known to enter), and states known to enter.
    fn always_enters(&self, state: &State, p: usize, been: &mut FxHashMap<State, bool>) -> Result<bool, Halt> {
        if self.phase(state, p) == Phase::Inside {
            return Ok(true);
        }
        if let Some(&enters) = been.get(state) {
            return Ok(enters); // if not, it can loop for ever
        }
        been.insert(state.clone(), false);
        // A sleeping process looks again on its own at some time, though few searches let it.
        if self.is_asleep(state, p) && matches!(self.next(state, p), Op::Sleep(..)) {
            let mut next = state.clone();
            self.wakes(&mut next, p, Woken::Again)?;
            let enters = self.always_enters(&next, p, been)?;
            been.insert(state.clone(), enters);
            return Ok(enters);
        }
        let mut actions = Vec::new();
        self.actions_alone(state, p, &mut actions);
        for action in &actions {
            let mut next = state.clone();
            if self.happen(&mut next, *action, &mut |_| {})?.is_some() && !self.always_enters(&next, p, been)? {
                return Ok(false);
            }
        }
        let enters = !actions.is_empty();
        been.insert(state.clone(), enters);
        Ok(enters)
    }
}
