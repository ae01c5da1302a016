//! The life of one process: in and out, until it is killed, kills itself, or is told to end.

use super::board::{Board, CLOSING, Count, STORM, Witness};
use super::native::{self, Shared};
use super::{Mode, Trial};
use doorway::shared::torture::{self, Fault, Passage, STATEMENTS, Torment, Tortured, Torturer};
use doorway::shared::{Error, Guard, Previous, ReleaseError, Slots, TimeoutError};
use fastrand::Rng;
use rustix::process::{Signal, WaitOptions, getpid, kill_process, waitpid};
use std::os::unix::process::CommandExt as _;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Slots as applications use them, or in a memory that knows statements.
enum Door {
    Plain(Slots),
    Struck(Tortured),
}

enum Held<'a> {
    Plain(Guard<'a>),
    Struck(Passage),
}

impl Door {
    fn open(trial: &Trial, is_struck: bool) -> Result<Self, Error> {
        let options = trial.options();
        if is_struck { Tortured::open(&options).map(Self::Struck) } else { options.open().map(Self::Plain) }
    }

    fn identity(&self) -> u64 {
        match self {
            Self::Plain(slots) => torture::identity(slots),
            Self::Struck(slots) => slots.identity(),
        }
    }

    fn enter(&self, limit: Option<Duration>) -> Result<Option<Held<'_>>, Error> {
        match (self, limit) {
            (Self::Plain(slots), None) => slots.acquire().map(|guard| Some(Held::Plain(guard))),
            (Self::Plain(slots), Some(limit)) => match slots.acquire_timeout(limit) {
                Ok(guard) => Ok(Some(Held::Plain(guard))),
                Err(TimeoutError::TimedOut) => Ok(None),
                Err(TimeoutError::Failed(error)) => Err(error),
            },
            (Self::Struck(slots), limit) => {
                Ok(slots.enter(limit.map(|limit| Instant::now() + limit))?.map(Held::Struck))
            }
        }
    }

    /// [`enter`](Self::enter), as a task that is dropped at the deadline.
    fn enter_as_task(&self, limit: Option<Duration>) -> Result<Option<Held<'_>>, Error> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let held = match self {
            Self::Plain(slots) => runs(slots.acquire_async(), deadline).map(|got| got.map(Held::Plain)),
            Self::Struck(slots) => runs(slots.enter_as_task(), deadline).map(|got| got.map(Held::Struck)),
        };
        held.transpose()
    }

    fn leave(&self, held: Held<'_>) -> Result<(), ReleaseError> {
        match (self, held) {
            (_, Held::Plain(guard)) => guard.release(),
            (Self::Struck(slots), Held::Struck(passage)) => slots.leave(passage),
            (Self::Plain(_), Held::Struck(_)) => unreachable!("it came in by this door"),
        }
    }

    fn leave_without_asking(&self, held: Held<'_>) {
        match (self, held) {
            (Self::Struck(slots), Held::Struck(passage)) => slots.leave_without_asking(passage),
            (_, held) => drop(held),
        }
    }

    fn break_slot(&self, slot: usize) -> Result<(), Error> {
        match self {
            Self::Plain(slots) => slots.break_slot(slot).map(|_| ()),
            Self::Struck(slots) => slots.break_slot(slot).map(|_| ()),
        }
    }
}

/// Polls a task until it is done, or drops it at the deadline.
fn runs<T>(task: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    struct Unparks(std::thread::Thread);
    impl Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unparks(std::thread::current())));
    let mut task = pin!(task);
    loop {
        if let Poll::Ready(done) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(done);
        }
        let Some(deadline) = deadline else {
            std::thread::park();
            continue;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}

impl Held<'_> {
    fn slot(&self) -> usize {
        match self {
            Self::Plain(guard) => guard.slot(),
            Self::Struck(passage) => passage.slot(),
        }
    }

    fn fence(&self) -> u64 {
        match self {
            Self::Plain(guard) => guard.fence(),
            Self::Struck(passage) => passage.fence(),
        }
    }

    fn is_told(&self) -> bool {
        let previous = match self {
            Self::Plain(guard) => guard.previous(),
            Self::Struck(passage) => passage.previous(),
        };
        *previous != Previous::Clean
    }
}

/// Kills its own process just after a statement.
#[derive(Debug)]
struct Suicide {
    board: Shared<Board>,
    target: u16,
    /// It dawdles here, so that others meet its half-finished work.
    dawdles_at: u16,
    /// It dies at this occurrence of the target.
    turns: AtomicU64,
    /// Or after this many writes.
    writes: AtomicU64,
    rng: Mutex<Rng>,
}

impl Suicide {
    /// Prefers statements at which few processes have died.
    fn new(board: Shared<Board>, rng: &mut Rng) -> Self {
        let candidates: [u16; 3] = std::array::from_fn(|_| STATEMENTS[rng.usize(..STATEMENTS.len())]);
        let target = candidates.into_iter().min_by_key(|label| board.killed_at(*label)).expect("three");
        let (turns, limit) = (rng.u64(1..=3), rng.u32(2..=13));
        Self {
            board,
            target,
            dawdles_at: STATEMENTS[rng.usize(..STATEMENTS.len())],
            turns: AtomicU64::new(turns),
            writes: AtomicU64::new(rng.u64(1..=1 << limit)),
            rng: Mutex::new(rng.fork()),
        }
    }
}

impl Torturer for Suicide {
    fn has_written(&self, statement: u16) {
        if !STATEMENTS.contains(&statement) {
            self.board.complain(&format!("statement {statement} is not in the list of statements"));
        }
        if !self.board.is(STORM) {
            return;
        }
        let is_time =
            self.writes.fetch_sub(1, SeqCst) == 1 || statement == self.target && self.turns.fetch_sub(1, SeqCst) == 1;
        if is_time {
            self.board.kills_itself(statement);
            let _ = kill_process(getpid(), Signal::KILL);
            loop {
                std::thread::park();
            }
        }
        match self.rng.lock().map_or(0, |mut rng| rng.u32(..64)) {
            0 => std::thread::yield_now(),
            chance @ 1..8 if statement == self.dawdles_at => {
                std::thread::sleep(Duration::from_micros(1500 * u64::from(chance)));
            }
            _ => {}
        }
    }
}

/// Runs until the end; returns the exit code.
pub(super) fn live(trial: &Trial, board: Shared<Board>, seed: u64) -> i32 {
    let mut rng = Rng::with_seed(seed);
    let at_statements = trial.mode == Mode::Statements || trial.mode.has_statements() && rng.bool();
    let fault = trial.fault.as_deref().and_then(|name| Fault::ALL.iter().find(|(known, _)| *known == name));
    let is_struck = at_statements || fault.is_some();
    if is_struck {
        let torturer: Option<Box<dyn Torturer>> =
            if at_statements { Some(Box::new(Suicide::new(board, &mut rng))) } else { None };
        torture::begin(Torment { torturer, fault: fault.map(|(_, fault)| *fault), any_seat: trial.mode.is_crowded() });
    }
    let as_task = trial.mode == Mode::Tasks || trial.mode == Mode::Mix && rng.bool();
    let mut life = Life { trial, board, rng, as_task };
    loop {
        let door = match Door::open(trial, is_struck) {
            Ok(door) => door,
            // In this mode others create and delete the file all the time.
            Err(Error::InUse(_) | Error::Deleted(_)) if trial.mode.deletes() => continue,
            Err(error) => {
                board.complain(&format!("cannot open: {error}"));
                return 1;
            }
        };
        board.count(Count::Opens);
        let next = if trial.mode.threads() == 1 { life.visits(&door) } else { life.visits_with_others(&door) };
        match next {
            Next::Open => {}
            Next::End(code) => {
                if code == KEEPING {
                    std::mem::forget(door);
                }
                return code;
            }
        }
    }
}

/// The exit code of a process that ends while it holds a slot.
pub(super) const KEEPING: i32 = 3;

enum Next {
    Open,
    End(i32),
}

struct Life<'a> {
    trial: &'a Trial,
    board: Shared<Board>,
    rng: Rng,
    /// Whether it waits as a task.
    as_task: bool,
}

impl Life<'_> {
    /// Several threads, each with a life of its own, behind one door.
    fn visits_with_others(&mut self, door: &Door) -> Next {
        let threads = self.trial.mode.threads();
        let ends = std::thread::scope(|scope| {
            let lives: Vec<_> = (0..threads).map(|_| Life { rng: self.rng.fork(), ..*self }).collect();
            let live = |mut life: Self| scope.spawn(move || life.visits(door));
            let lives: Vec<_> = lives.into_iter().map(live).collect();
            lives.into_iter().map(|life| life.join().unwrap_or(Next::End(101))).collect::<Vec<_>>()
        });
        let worst = ends.iter().map(|end| if let Next::End(code) = end { *code } else { 0 }).max();
        Next::End(worst.unwrap_or(0))
    }

    fn visits(&mut self, door: &Door) -> Next {
        let board = self.board;
        let witness = match Shared::<Witness>::open(&self.trial.witness(door.identity())) {
            Ok(witness) => witness,
            Err(error) => {
                board.complain(&error);
                return Next::End(1);
            }
        };
        let restless = self.trial.mode.is_restless();
        loop {
            let closing = board.is(CLOSING);
            let limit = (!closing && self.rng.u8(..10) == 0).then(|| Duration::from_micros(self.rng.u64(..3000)));
            let entered = if self.as_task { door.enter_as_task(limit) } else { door.enter(limit) };
            let held = match entered {
                Ok(Some(held)) => held,
                Ok(None) => {
                    board.count(Count::Timeouts);
                    continue;
                }
                Err(Error::Deleted(_)) if self.trial.mode.deletes() => return Next::Open,
                Err(error) => {
                    board.complain(&format!("cannot enter: {error}"));
                    return Next::End(1);
                }
            };
            let me = u64::from(std::process::id()) << 32 | self.rng.u64(1..1 << 32);
            let slot = held.slot();
            board.granted();
            witness.enters(board, me, slot, held.fence(), held.is_told());
            self.dwells();
            if restless && !closing {
                match self.rng.u8(..100) {
                    0 => {
                        board.count(Count::Ends);
                        std::mem::forget(held);
                        return Next::End(KEEPING);
                    }
                    1 => self.becomes_another(),
                    2..5 => self.forks(door, held.slot()),
                    _ => {}
                }
            }
            witness.leaves(board, me, slot);
            let breaks = !closing && self.rng.u16(..500) == 0;
            if breaks {
                board.count(Count::Breaks);
                if let Err(error) = door.break_slot(slot) {
                    board.complain(&format!("cannot break: {error}"));
                }
                if self.rng.bool() {
                    // It gives back a slot that it no longer holds, and nothing happens.
                    door.leave_without_asking(held);
                    continue;
                }
            }
            match door.leave(held) {
                Ok(()) if !breaks => {}
                Ok(()) => board.complain("a slot that was broken was given back"),
                Err(ReleaseError::Broken) if breaks => {}
                Err(ReleaseError::Broken) => board.count(Count::FalseDeaths),
                Err(ReleaseError::Failed(Error::Deleted(_))) if self.trial.mode.deletes() => {
                    return if closing { Next::End(0) } else { Next::Open };
                }
                Err(ReleaseError::Failed(error)) => {
                    board.complain(&format!("cannot leave: {error}"));
                    return Next::End(1);
                }
            }
            if closing {
                return Next::End(0);
            }
            if restless && self.rng.u8(..20) == 0 {
                return Next::Open;
            }
            if self.rng.u8(..16) == 0 {
                self.dwells();
            }
        }
    }

    fn dwells(&mut self) {
        let long = Duration::from_micros(self.rng.u64(..=self.trial.section));
        if long > Duration::from_micros(30) {
            return std::thread::sleep(long);
        }
        let until = Instant::now() + long;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }

    /// The same process runs another program, which is this one.
    fn becomes_another(&mut self) {
        let (Ok(program), Ok(order)) = (std::env::current_exe(), self.trial.order(self.rng.u64(..))) else { return };
        self.board.count(Count::Ends);
        self.board.count(Count::Execs);
        let error = std::process::Command::new(program).arg("torture-worker").arg(order).exec();
        self.board.complain(&format!("cannot exec: {error}"));
    }

    /// In a forked child all handles are void, and the parent keeps what it holds.
    fn forks(&mut self, door: &Door, slot: usize) {
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        let last = Duration::from_micros(self.rng.u64(..4000));
        match native::fork() {
            Err(error) => self.board.complain(&error),
            Ok(Some(_)) => self.board.count(Count::Forks),
            Ok(None) => {
                if !matches!(door.enter(None), Err(Error::Forked)) || door.break_slot(slot) != Err(Error::Forked) {
                    self.board.complain("a forked child may use what its parent opened");
                }
                std::thread::sleep(last); // the child may outlive its parent
                native::end(0);
            }
        }
    }
}
