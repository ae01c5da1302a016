//! One trial: starts processes, kills them, and checks what is left. It has one thread, so that it
//! can fork.

use super::board::{Board, CLOSING, Count, PAUSE, STORM, Witness};
use super::native::{self, Shared};
use super::{Mode, Trial, worker};
use doorway::shared::{Error, Previous, Slots, torture};
use fastrand::Rng;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// If no process was let in for this long, it is time to check whether one ever will.
const CALM: u64 = 1_000_000_000;

struct Herd<'a> {
    trial: &'a Trial,
    board: Shared<Board>,
    rng: Rng,
    animals: Vec<Option<Animal>>,
    respawns: bool,
    /// The number of grants at the last kill, and the number of kills since a grant.
    grants: u64,
    kills: u32,
}

struct Animal {
    pid: Pid,
    stopped_until: Option<Instant>,
}

/// Runs a trial. The results are on the board.
pub(super) fn run(trial: &Trial) -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|e| e.to_string())?;
    // If the command was killed, there is no reader for the results.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| e.to_string())?;
    let board = Shared::open(&trial.board())?;
    let crowd = trial.mode.is_crowded().then(|| crowd(trial)).transpose()?;
    let keeper = (trial.mode == Mode::Tolerate).then(|| keeper(trial, board)).transpose()?;
    let animals = (0..trial.processes).map(|_| None).collect();
    let mut herd = Herd { trial, board, rng: Rng::with_seed(trial.seed), animals, respawns: true, grants: 0, kills: 0 };
    herd.storms()?;
    herd.closes()?;
    crowd.into_iter().for_each(ends);
    let is_found = trial.fault.is_some() && board.is_enough_wrong();
    let looked = if is_found { Ok(()) } else { looks_for_units(trial, board) };
    keeper.into_iter().for_each(ends);
    looked?;
    if is_found {
        return Ok(());
    }
    let (told, dead) = (board.get(Count::Told), board.get(Count::Kills) + board.get(Count::Ends));
    // Each death is reported at most twice per thread: the thread may have held one slot, and have
    // been offered or just received another.
    let most = 2 * dead * trial.mode.threads() + board.get(Count::Breaks);
    board.add(Count::FalseDeaths, told.saturating_sub(most));
    Ok(())
}

/// A child process that exits with the result of `life`.
fn start(life: impl FnOnce() -> i32) -> Result<Pid, String> {
    if let Some(child) = native::fork()? {
        return Ok(child);
    }
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(life)).unwrap_or(101);
    native::end(code);
}

/// A process that takes most seats, so that others reuse those of the dead.
fn crowd(trial: &Trial) -> Result<Pid, String> {
    let path = trial.directory.join("crowded");
    let child = start(|| {
        let Ok(slots) = trial.options().open() else { return 1 };
        if torture::crowd_out(&slots, trial.processes + 2).is_err() || std::fs::write(&path, b"").is_err() {
            return 1;
        }
        loop {
            std::thread::park();
        }
    })?;
    let begun = Instant::now();
    while !path.exists() {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err("the crowd did not take its seats".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(child)
}

/// A process that breaks the slots of the dead, where no other process takes them.
fn keeper(trial: &Trial, board: Shared<Board>) -> Result<Pid, String> {
    start(|| {
        let keeps = || -> Result<(), Error> {
            let slots = trial.options().open()?;
            loop {
                for holder in slots.status()?.holders.iter().filter(|holder| holder.dead) {
                    // Not another holder that has the slot by now.
                    if slots.break_holder(holder.slot, holder.fence)?.is_some() {
                        board.count(Count::Breaks);
                    }
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        };
        if let Err(error) = keeps() {
            board.complain(&format!("cannot break the slots of the dead: {error}"));
        }
        1
    })
}

fn ends(child: Pid) {
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
}

impl Herd<'_> {
    fn spawn(&mut self, at: usize) -> Result<(), String> {
        let (seed, trial, board) = (self.rng.u64(..), self.trial, self.board);
        let pid = start(|| worker::live(trial, board, seed))?;
        self.animals[at] = Some(Animal { pid, stopped_until: None });
        Ok(())
    }

    fn living(&self) -> usize {
        self.animals.iter().flatten().count()
    }

    /// Finds out which processes have ended, and starts others in their place.
    fn reaps(&mut self) -> Result<(), String> {
        while let Ok(Some((pid, status))) = waitpid(None, WaitOptions::NOHANG) {
            let Some(at) = self.animals.iter().position(|animal| animal.as_ref().is_some_and(|a| a.pid == pid)) else {
                continue; // a child of a child
            };
            self.animals[at] = None;
            match (status.terminating_signal(), status.exit_status()) {
                (Some(signal), _) if signal == Signal::KILL.as_raw() => self.board.count(Count::Kills),
                (_, Some(0 | worker::KEEPING)) => {}
                (_, Some(1)) => {} // it has reported why
                _ => self.board.complain(&format!("process {} ended: {status:?}", pid.as_raw_nonzero())),
            }
        }
        for at in 0..self.animals.len() {
            if self.respawns && self.animals[at].is_none() {
                self.spawn(at)?;
            }
        }
        Ok(())
    }

    fn signal(&self, at: usize, signal: Signal) {
        if let Some(animal) = &self.animals[at] {
            let _ = kill_process(animal.pid, signal);
        }
    }

    fn is_stopped(&self, at: usize) -> bool {
        self.animals[at].as_ref().is_some_and(|animal| animal.stopped_until.is_some())
    }

    fn stops(&mut self, at: usize) {
        let stopped = (0..self.animals.len()).filter(|at| self.is_stopped(*at)).count();
        if stopped + 1 >= self.animals.len() || self.is_stopped(at) {
            return;
        }
        self.signal(at, Signal::STOP);
        let until = Instant::now() + Duration::from_micros(self.rng.u64(100..30_000));
        if let Some(animal) = &mut self.animals[at] {
            animal.stopped_until = Some(until);
            self.board.count(Count::Stops);
        }
    }

    fn continues(&mut self, everybody: bool) {
        let now = Instant::now();
        for animal in self.animals.iter_mut().flatten() {
            if animal.stopped_until.is_some_and(|until| everybody || until <= now) {
                animal.stopped_until = None;
                let _ = kill_process(animal.pid, Signal::CONT);
            }
        }
    }

    /// Runs until enough has been done, or a process is stuck.
    fn storms(&mut self) -> Result<(), String> {
        let mode = self.trial.mode;
        let end = Instant::now() + self.trial.longest();
        let blows = if mode.kills() { Count::Kills } else { Count::Stops };
        let mut deletes_at = Instant::now();
        while self.board.get(blows) < self.trial.blows && Instant::now() < end && !self.has_found_the_fault() {
            self.reaps()?;
            self.continues(false);
            if self.board.gap() > CALM && !self.goes_on()? {
                return Ok(());
            }
            let at = self.rng.usize(..self.animals.len());
            let chance = self.rng.u8(..8);
            if mode.stops() && (chance < 4 || !mode.kills()) {
                self.stops(at);
            } else if mode.kills() && chance < mode.eighths_of_kills() && self.may_kill() {
                self.signal(at, Signal::KILL);
            }
            if mode.kills() && self.rng.u8(..64) == 0 && !self.strikes()? {
                return Ok(());
            }
            if mode.deletes() && Instant::now() >= deletes_at {
                deletes_at = Instant::now() + Duration::from_millis(self.rng.u64(2..60));
                self.deletes();
            }
            // Some die young, and some live longer.
            let longest = if self.rng.bool() { 300 } else { 3000 };
            std::thread::sleep(Duration::from_micros(self.rng.u64(..longest)));
        }
        Ok(())
    }

    /// A seeded fault need not be counted for ever.
    fn has_found_the_fault(&self) -> bool {
        self.trial.fault.is_some() && self.board.is_enough_wrong()
    }

    /// Whether another process may die before one is let in. Chance alone must not keep killing the
    /// process that blocks all others.
    fn may_kill(&mut self) -> bool {
        let grants = self.board.get(Count::Grants);
        if grants != self.grants {
            (self.grants, self.kills) = (grants, 0);
        }
        self.kills += 1;
        self.kills <= self.trial.mode.kills_in_a_row()
    }

    /// Half of them die at once, when all are in line, and none is replaced: the others must notice
    /// on their own.
    fn strikes(&mut self) -> Result<bool, String> {
        self.continues(true);
        self.reaps()?;
        std::thread::sleep(Duration::from_millis(5));
        self.respawns = false;
        self.kills_half();
        let goes_on = self.goes_on()?;
        self.respawns = true;
        Ok(goes_on)
    }

    fn kills_half(&mut self) {
        let first = self.rng.usize(..2);
        for at in (first..self.animals.len()).step_by(2) {
            self.signal(at, Signal::KILL);
        }
    }

    fn deletes(&mut self) {
        let politely = self.rng.u8(..4) == 0;
        let options = self.trial.options();
        match if politely { options.remove() } else { options.remove_by_force() } {
            Ok(()) => self.board.count(Count::Deletions),
            Err(Error::InUse(_) | Error::Missing(_)) => {}
            Err(error) => self.board.complain(&format!("cannot delete: {error}")),
        }
    }

    /// Whether a process is let in again, if nothing disturbs it.
    fn goes_on(&mut self) -> Result<bool, String> {
        self.board.phase.store(PAUSE, SeqCst);
        let begun = Instant::now();
        self.reaps()?;
        let before = self.board.get(Count::Grants);
        while self.board.get(Count::Grants) == before && self.living() > 0 {
            self.continues(true);
            self.reaps()?;
            if begun.elapsed() > self.trial.patience() {
                self.board.add(Count::Stuck, self.living() as u64);
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.board.phase.store(STORM, SeqCst);
        Ok(true)
    }

    /// The last blow: half of them die at once. Every other process gets in once more, and ends.
    fn closes(&mut self) -> Result<(), String> {
        self.continues(true);
        self.respawns = false;
        self.board.phase.store(CLOSING, SeqCst);
        if self.trial.mode.kills() {
            self.kills_half();
        }
        let begun = Instant::now();
        while self.living() > 0 && begun.elapsed() < self.trial.patience() && !self.has_found_the_fault() {
            self.reaps()?;
            std::thread::sleep(Duration::from_micros(300));
        }
        if !self.has_found_the_fault() {
            self.board.add(Count::Stuck, self.living() as u64);
        }
        for at in 0..self.animals.len() {
            self.signal(at, Signal::KILL);
        }
        while self.living() > 0 {
            self.reaps()?;
        }
        Ok(())
    }
}

/// After the storm every slot can be acquired, and then nothing is left.
fn looks_for_units(trial: &Trial, board: Shared<Board>) -> Result<(), String> {
    let slots: Slots = trial.options().open().map_err(|e| e.to_string())?;
    let witness = Shared::<Witness>::open(&trial.witness(torture::identity(&slots)))?;
    let mut guards = Vec::new();
    for me in 1..=trial.slots as u64 {
        match slots.acquire_timeout(trial.patience()) {
            Ok(guard) => {
                witness.enters(board, me, guard.slot(), guard.fence(), *guard.previous() != Previous::Clean);
                guards.push((me, guard));
            }
            Err(_) => board.count(Count::Lost),
        }
    }
    for (me, guard) in guards {
        witness.leaves(board, me, guard.slot());
        if guard.release().is_err() {
            board.count(Count::FalseDeaths);
        }
    }
    slots.status().map_err(|e| e.to_string())?; // cleans up after dead waiters
    let status = slots.status().map_err(|e| e.to_string())?;
    // Where the dead stay in line, they are granted slots, and the keeper takes those back.
    let stay = trial.mode == Mode::Tolerate;
    let waits = status.waiters.iter().any(|waiter| !(stay && waiter.dead));
    let holds = !stay && !status.holders.is_empty();
    if waits || (holds && board.get(Count::Lost) == 0) {
        board.complain(&format!("after the storm there is still {status:?}"));
    }
    Ok(())
}
