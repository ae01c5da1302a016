//! The simulated memory, as the algorithm's text sees it.
//!
//! A text runs by *replay*. It is given a history: the list of values that its accesses have seen
//! since its passage began. Accesses within the history are answered from it at once. The first
//! access after it is what the process asks for next; there the text is left pending and dropped.
//! So the text runs only when a new history appears, and a local state is a history.

mod cells;
mod faulty;
mod mortal;

pub use cells::{SimCell, SimLate, SimTable, SimVar};

pub(super) use super::image::Running;
use super::image::{self, Fill, Image, Left, Place};
use super::layout::Part;
use super::layout::{Layout, VarId, VarInfo};
use super::line::Line;
use super::op::Op;
use super::panics;
use super::rules::Deaths;
use crate::faults::Faults;
use cells::Alone;
use doorway_core::memory::{
    Access, Additive, AtomicBlock, Bits, BoundedDecrement, Choose, CompareSwap, Decl, FetchAdd, FetchAnd, FetchOr,
    Label, LateRows, Mark, Memory, Name, Next, Pid, ReadWrite, Swap, TestAndSet, Word,
};
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::fmt::{Debug, Write as _};
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::panic::Location;
use std::rc::Rc;
use std::task::Poll;

/// How often a turn that fails is made.
pub(super) const TURNS: usize = 1000;

/// The section of its passage that a process is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Outside; it need not ever start.
    Remainder,
    /// In its entry section: it has made its first access.
    Entry,
    /// In its critical section.
    Inside,
    /// In its exit section.
    Exit,
}

impl Phase {
    /// The phase after the next access of a process in this phase.
    pub(super) fn begun(self) -> Self {
        match self {
            Self::Remainder => Self::Entry,
            Self::Inside => Self::Exit,
            same => same,
        }
    }
}

/// A simulated memory. Clones are handles of the same memory.
#[derive(Clone, Default, Debug)]
pub struct Sim(Rc<Inner>);

#[derive(Default, Debug)]
struct Inner {
    layout: RefCell<Layout>,
    replay: RefCell<Replay>,
    /// Whether entries of tables are created on their first access, for tables too large to build.
    sparse: bool,
    /// Whether a bounded decrement is a compare-and-swap loop.
    loops_to_decrement: bool,
    /// Whether a fetch-and-add is a compare-and-swap loop.
    loops_to_add: bool,
    /// What happens to dead processes; `None` if none dies.
    deaths: Option<Deaths>,
    /// The bytes of seats, in the order of the seats.
    bytes: RefCell<Vec<VarId>>,
    /// The variables whose initial value differs from their declaration.
    begins: RefCell<Vec<(VarId, u64)>>,
    /// The variables created since the last call of `take_made`.
    made: RefCell<Vec<VarInfo>>,
    /// Where it departs from the text.
    faults: Faults,
    /// The faults that have changed anything so far, a bit for each.
    used: Cell<u64>,
    /// Where the text that runs has named its last statement.
    line: Cell<Line>,
    /// Where texts are whose bytes are read; empty if none are.
    places: RefCell<Vec<Rc<Place>>>,
    /// What the memory fills the stack with that it has used; `None` if no bytes are read.
    fill: Cell<Option<Fill>>,
}

/// What one access saw; and whether its turn failed and the process gave up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Seen {
    pub(super) value: u64,
    pub(super) gave_up: bool,
}

/// The input and the output of one run of the text.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    /// Set if the text is not replayed but continues: the answer to what it asked for.
    live: Option<Answer>,
    history: Vec<Seen>,
    seen: usize,
    phase: Phase,
    /// Whether it waits before its doorway.
    camps: bool,
    doorway_done: bool,
    rests: Vec<(Part, Label)>,
    shown: Vec<(Part, &'static str, u64)>,
    held: Vec<(Part, &'static str, u64)>,
    watched: Vec<VarId>,
    frames: Vec<String>,
    kept: Option<String>,
    uses_keep: bool,
    asks: Option<Asked>,
    /// How many accesses were made before the first visible access of the current atomic block.
    block_at: Option<usize>,
    /// The statement of the last access, if it was to plain memory.
    plain_at: Option<(Part, Label)>,
    failed_turn: Option<(usize, bool)>,
    /// Whether the turn that failed is made again.
    tries_again: bool,
    /// Whether that turn belongs to a loop that goes round: it may have changed variables.
    gone_round: bool,
    /// Where the last wait began.
    wait_at: Option<usize>,
    /// Where the waits began that are not over: each within the one before.
    waits: Vec<usize>,
    /// What was invoked since the last access, and what was answered since.
    invoked: Option<Call>,
    responded: Option<Call>,
    /// Whether it is in an operation, and whether it said so out of turn.
    calling: bool,
    calls_out_of_turn: bool,
    /// How many operations it has begun or ended, and how many when the last wait began.
    calls: usize,
    calls_at_wait: usize,
    /// Where a section began with a step of its own, because its first access is a wait.
    section_at: Option<usize>,
    /// Accesses that faults have deferred, and their details.
    faulty: faulty::Pending,
}

/// An operation that a process calls on an object, or its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    /// None if there is no answer.
    pub(super) word: Option<u64>,
    /// For people.
    pub(super) text: Box<str>,
}

impl Call {
    fn new<T: Word>(value: T) -> Self {
        Self { word: Some(value.pack()), text: format!("{value:?}").into() }
    }
}

/// What a text asks for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    op: Op,
    part: Part,
    label: Label,
    joined: bool,
    in_block: bool,
}

/// The answer to a text that continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// Not yet.
    None,
    /// Its access saw this.
    Saw(u64),
    /// Its turn failed; it may try again.
    TryAgain,
}

impl Replay {
    #[inline(never)]
    fn wait_begins(&mut self) -> usize {
        self.wait_at = Some(self.seen);
        self.calls_at_wait = self.calls;
        self.faulty.wait_begins();
        self.waits.push(self.seen);
        self.waits.len() - 1
    }

    #[inline(never)]
    fn answer(&mut self, op: Op, part: Part, label: Label, alone: Alone) -> Poll<u64> {
        let saw = match self.live {
            Some(Answer::Saw(value)) => {
                self.live = Some(Answer::None);
                Some(Seen { value, gave_up: false })
            }
            Some(_) => None,
            None => self.history.get(self.seen).copied(),
        };
        let Some(saw) = saw else {
            let joined = match alone {
                Alone::Always => true,
                Alone::While if self.plain_at == Some((part, label)) => true,
                Alone::While | Alone::Never => self.block_at.is_some_and(|begin| self.seen > begin),
            };
            self.asks = Some(Asked { op, part, label, joined, in_block: self.block_at.is_some() });
            return Poll::Pending;
        };
        self.seen += 1;
        self.plain_at = (alone == Alone::While).then_some((part, label));
        if alone == Alone::Always && self.block_at == Some(self.seen - 1) {
            self.block_at = Some(self.seen); // a block begins with its first visible access
        }
        self.kept = None;
        self.rests.retain(|(p, _)| *p != part);
        if self.phase == Phase::Inside {
            self.held.clear();
        }
        self.phase = self.phase.begun();
        self.camps = false;
        self.invoked = None;
        self.responded = None;
        Poll::Ready(saw.value)
    }

    /// The text goes on. If a turn has failed, it is made again: a new step.
    fn goes_on(&mut self) {
        self.asks = None;
        self.tries_again = self.failed_turn.take().is_some();
        if self.tries_again {
            self.plain_at = None;
        }
    }

    /// Everything in here on which the rest of the passage depends, apart from what it will see.
    fn memo(&self) -> String {
        let waits: Vec<_> = self.waits.iter().map(|&at| (at == self.seen, self.section_at == Some(at))).collect();
        let begun = (self.phase, self.camps, self.doorway_done, self.calling, &self.invoked);
        let said = (&self.rests, &self.shown, &self.held, &self.watched, &self.frames);
        // Only these differences are ever looked at; they do not come back.
        let block = self.block_at.map(|at| self.seen > at);
        let since = (self.wait_at == Some(self.seen), self.calls == self.calls_at_wait);
        format!("{begun:?} {said:?} {block:?} {:?} {since:?} {waits:?}", self.plain_at)
    }

    pub(super) fn live() -> Self {
        Self { live: Some(Answer::None), ..Self::default() }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// The part of its request.
    pub(super) fn part(&self) -> Option<Part> {
        self.asks.map(|asked| asked.part)
    }

    /// The statement of its request.
    pub(super) fn label(&self) -> Option<Label> {
        self.asks.map(|asked| asked.label)
    }

    /// Whether a turn that may have changed variables has just failed.
    pub(super) fn has_gone_round(&self) -> bool {
        self.gone_round
    }

    /// Whether its request belongs to the step before.
    pub(super) fn is_joined(&self) -> bool {
        self.asks.is_some_and(|asked| asked.joined)
    }
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            live: None,
            history: Vec::new(),
            seen: 0,
            phase: Phase::Remainder,
            camps: false,
            doorway_done: false,
            rests: Vec::new(),
            shown: Vec::new(),
            held: Vec::new(),
            watched: Vec::new(),
            frames: Vec::new(),
            kept: None,
            uses_keep: false,
            asks: None,
            block_at: None,
            plain_at: None,
            failed_turn: None,
            tries_again: false,
            gone_round: false,
            wait_at: None,
            waits: Vec::new(),
            section_at: None,
            invoked: None,
            responded: None,
            calling: false,
            calls_out_of_turn: false,
            calls: 0,
            calls_at_wait: 0,
            faulty: faulty::Pending::default(),
        }
    }
}

/// Where the text was left pending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) op: Op,
    pub(super) part: Part,
    pub(super) label: Label,
    pub(super) phase: Phase,
    pub(super) doorway_done: bool,
    pub(super) rests: Box<[(Part, Label)]>,
    /// The private variables that properties can ask for.
    pub(super) shown: Box<[(Part, &'static str, u64)]>,
    /// Its own variables whose values matter to it.
    pub(super) watched: Box<[VarId]>,
    /// Whether it is not a step of its own: an access to a private variable, a choice, or a later
    /// access of an atomic block or of a statement on plain memory.
    pub(super) joined: bool,
    /// Whether it is in an atomic block.
    pub(super) in_block: bool,
    /// The operation that begins with it.
    pub(super) invokes: Option<Box<Call>>,
    /// Where it is written.
    pub(super) line: Line,
}

impl Position {
    /// Everything that is compared, as text.
    pub(super) fn to_tell_apart(&self) -> String {
        format!("{:?}", Self { line: Line(None), ..self.clone() })
    }

    /// Where a run of the text was left, and which of its locals still matter, if the text said so.
    fn new(asked: Asked, replay: Replay, sim: &Inner) -> (Self, Option<String>) {
        let Asked { op, part, label, joined, in_block } = asked;
        let owed = replay.faulty.owed(sim.faults);
        let Replay { phase, doorway_done, rests, mut shown, held, watched, kept, invoked, calling, .. } = replay;
        shown.extend(held);
        let calls = if calling { format!("{invoked:?}") } else { String::new() };
        let key = kept.map(|k| format!("{phase:?} {doorway_done} {rests:?} {shown:?} {watched:?} {calls}{k}{owed}"));
        let invokes = invoked.map(Box::new);
        let (rests, shown, watched) = (rests.into(), shown.into(), watched.into());
        let line = sim.line.get();
        (Self { op, part, label, phase, doorway_done, rests, shown, watched, joined, in_block, invokes, line }, key)
    }
}

/// How one run of the text ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ran {
    /// It asks for a step; the key says which of its locals still matter, if the text said so.
    Asks(Position, Option<String>),
    /// A turn of a wait failed. The wait began after this many accesses; the flag says whether it
    /// can be given up.
    FailedTurn(usize, bool),
    /// A turn of a loop that goes round failed; the loop began after this many accesses.
    GoneRound(usize),
    /// The passage is over.
    Ended,
    /// It awaits something that is not an access.
    Lost,
    /// It invokes or responds out of turn.
    CallsOutOfTurn,
    /// It panicked, with this message, after its last access.
    Panicked(Position, Box<str>),
    /// A fault is impossible at this statement.
    NoFault(Label, &'static str),
}

/// How a run of the text in steps ended, and what is left of it.
pub(super) struct Walked {
    pub(super) ran: Ran,
    pub(super) responded: Option<Call>,
    /// What the memory knows of it on which its rest depends.
    pub(super) memo: String,
    /// Whether the text says which of its locals matter.
    pub(super) keeps: bool,
    /// What is left of the text itself, if that can be told.
    pub(super) left: Option<Left>,
}

/// What a text knows, and what the memory knows of it on which its rest depends.
pub(super) type Content = (Image, String);

impl Walked {
    /// Whether two runs on one history have ended alike.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.ran, &self.responded, &self.memo) == (&other.ran, &other.responded, &other.memo)
    }

    /// `None` if the text knows what its bytes do not tell.
    pub(super) fn content(self, other: Self) -> Option<Content> {
        let image = self.left.zip(other.left).and_then(|(first, second)| first.known(&second));
        image.map(|image| (image, self.memo))
    }
}

/// One of the two runs of a walk.
struct Walker {
    text: Option<Running>,
    replay: Replay,
    /// With what memory is filled while it runs.
    fill: Option<Fill>,
    polled: Result<Poll<()>, Box<str>>,
}

impl Default for Walker {
    fn default() -> Self {
        Self { text: None, replay: Replay::default(), fill: None, polled: Ok(Poll::Pending) }
    }
}

/// How far a continuing text went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum GoneOn {
    Asks(Op),
    FailedTurn,
    Ended,
    Lost,
    Panicked(Box<str>),
}

impl Sim {
    /// The declarations so far.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.0.layout.borrow().clone()
    }

    /// Runs a text on a history. Returns how that ended, and the response that its last access led
    /// to.
    pub(super) fn run(&self, history: Vec<Seen>, passage: &mut dyn FnMut() -> Running) -> (Ran, Option<Call>) {
        *self.0.replay.borrow_mut() = Replay { history, ..Replay::default() };
        self.0.line.set(Line(None));
        let polled = panics::caught(|| passage().poll());
        let replay = std::mem::take(&mut *self.0.replay.borrow_mut());
        self.ran(polled, replay)
    }

    fn ran(&self, polled: Result<Poll<()>, Box<str>>, mut replay: Replay) -> (Ran, Option<Call>) {
        let responded = replay.responded.take();
        if let Some((label, why)) = replay.faulty.impossible() {
            return (Ran::NoFault(label, why), None);
        }
        let polled = match polled {
            Ok(polled) => polled,
            Err(message) => {
                let stopped = Asked { op: Op::Stop, part: Part::ROOT, label: 0, joined: false, in_block: false };
                return (Ran::Panicked(Position::new(stopped, replay, &self.0).0, message), None);
            }
        };
        if replay.calls_out_of_turn || polled.is_ready() && replay.calling {
            return (Ran::CallsOutOfTurn, None);
        }
        let ran = match (polled, replay.failed_turn, replay.asks) {
            (Poll::Ready(()), ..) => Ran::Ended,
            (Poll::Pending, Some((head, _)), _) if replay.gone_round => Ran::GoneRound(head),
            (Poll::Pending, Some((head, abortable)), _) => Ran::FailedTurn(head, abortable),
            (Poll::Pending, None, Some(asked)) => {
                let (position, key) = Position::new(asked, replay, &self.0);
                Ran::Asks(position, key)
            }
            (Poll::Pending, None, None) => Ran::Lost,
        };
        (ran, responded)
    }

    /// Reads the bytes of texts from here on, until told otherwise. Two of them can be in progress.
    pub(super) fn reads_bytes(&self, reads: bool) {
        *self.0.places.borrow_mut() = if reads { Place::two() } else { Vec::new() };
    }

    /// A passage that begins.
    pub(super) fn begin<F: Future<Output = ()> + 'static>(&self, text: F) -> Running {
        Running::new(text, &self.0.places.borrow())
    }

    /// Whether a turn that has failed fails whenever it is made again and sees the same. It is the
    /// end of this history, from `head` on.
    pub(super) fn fails_again(
        &self,
        history: &[Seen],
        head: usize,
        most: usize,
        passage: &mut dyn FnMut() -> Running,
    ) -> bool {
        *self.0.replay.borrow_mut() = Replay { history: history.to_vec(), ..Replay::default() };
        let fails = panics::caught(|| {
            let (mut running, mut turns) = (passage(), 0);
            while turns < most {
                let polled = running.poll();
                let mut r = self.0.replay.borrow_mut();
                // The history may itself go on after failed turns, of this wait or of others.
                if r.seen == r.history.len() {
                    if r.failed_turn.is_none_or(|(began, _)| began != head) {
                        return false;
                    }
                    turns += 1;
                    r.history.extend_from_slice(&history[head..]);
                } else if polled.is_ready() || r.failed_turn.is_none() {
                    return false;
                }
                r.goes_on();
            }
            true
        });
        *self.0.replay.borrow_mut() = Replay::default();
        // A fault of the memory may change a turn.
        fails == Ok(true) || !self.0.faults.is_empty()
    }

    /// What a text asks for at first and after each access of a history, as long as it does;
    /// [`Op::Stop`] when its passage is over.
    pub(super) fn asks_for(&self, history: &[Seen], passage: &mut dyn FnMut() -> Running) -> Vec<Op> {
        *self.0.replay.borrow_mut() = Replay::default();
        let mut asked = Vec::with_capacity(history.len() + 1);
        let _panicked = panics::caught(|| {
            let (mut running, mut left) = (passage(), history.iter());
            loop {
                let polled = running.poll();
                let mut r = self.0.replay.borrow_mut();
                asked.extend(r.asks.take().map(|asks| asks.op).or(polled.is_ready().then_some(Op::Stop)));
                match left.next() {
                    Some(&saw) if polled.is_pending() => r.history.push(saw),
                    _ => break,
                }
            }
        });
        *self.0.replay.borrow_mut() = Replay::default();
        asked
    }

    /// Runs a text on a history, one access at a time, on a stack without leftovers. So what its
    /// future contains, unused bytes included, follows from what it contained before the last
    /// access, and what that access saw.
    ///
    /// The text is run twice, side by side: what both have allocated is there at the same time. At
    /// the end of the history, and after each access behind it, `met` is told where the two runs
    /// are, and may say what the next access sees.
    ///
    /// A turn that fails is made again if the history goes on; with `on`, also at its end.
    pub(super) fn walk(
        &self,
        history: &[Seen],
        mut on: bool,
        passage: &mut dyn FnMut() -> Running,
        met: &mut dyn FnMut([Walked; 2]) -> Option<Seen>,
    ) {
        self.0.line.set(Line(None));
        let frame = image::frame();
        let mut runs = [(); 2].map(|()| Walker::default());
        let mut ahead = history.iter().copied();
        loop {
            runs.iter_mut().for_each(|run| self.step_on(run, passage));
            let goes_on = runs.iter().all(|run| matches!(run.polled, Ok(Poll::Pending)));
            let has_failed = runs.iter().all(|run| run.replay.failed_turn.is_some());
            let saw = match ahead.next().filter(|_| goes_on) {
                None if goes_on && has_failed && std::mem::take(&mut on) => None,
                None => {
                    let walked = runs.each_mut().map(|run| self.walked(run, frame));
                    let Some(saw) = met(walked).filter(|_| goes_on) else { return };
                    Some(saw)
                }
                saw => saw,
            };
            for run in &mut runs {
                run.replay.history.extend(saw);
                run.replay.goes_on();
            }
        }
    }

    /// The content of a text after a history; `None` if it says what to keep, or knows what its
    /// bytes do not tell.
    pub(super) fn content(&self, history: &[Seen], passage: &mut dyn FnMut() -> Running) -> Option<Content> {
        self.reads_bytes(true);
        let mut content = None;
        self.walk(history, false, passage, &mut |[first, second]| {
            content = if first.is_like(&second) && !first.keeps { first.content(second) } else { None };
            None
        });
        self.reads_bytes(false);
        content
    }

    /// Begins a run of a walk, or goes on with it.
    #[inline(never)]
    fn step_on(&self, run: &mut Walker, passage: &mut dyn FnMut() -> Running) {
        if run.text.is_none() {
            run.fill = Place::next_fill(&self.0.places.borrow());
        }
        self.0.fill.set(run.fill);
        let fill = run.fill.unwrap_or_default();
        std::mem::swap(&mut *self.0.replay.borrow_mut(), &mut run.replay);
        let text = &mut run.text;
        run.polled = panics::caught(|| {
            let text = text.get_or_insert_with(|| {
                fill.wipe();
                passage()
            });
            fill.wipe();
            text.poll()
        });
        if run.polled.is_err() {
            // What panicked once may do so again when it is dropped.
            let _panicked = panics::caught(|| run.text = None);
        }
        self.0.fill.set(None);
        std::mem::swap(&mut *self.0.replay.borrow_mut(), &mut run.replay);
    }

    /// Where a run of a walk is.
    fn walked(&self, run: &mut Walker, frame: u64) -> Walked {
        // The history is long, and nothing here depends on it.
        let history = std::mem::take(&mut run.replay.history);
        let replay = run.replay.clone();
        run.replay.history = history;
        let (memo, keeps) = (replay.memo(), replay.uses_keep);
        let left = run.text.as_ref().and_then(|text| Left::by(text, frame));
        let (ran, responded) = self.ran(run.polled.clone(), replay);
        Walked { ran, responded, memo, keeps, left }
    }

    /// Continues a text with this answer to its last access (none at the start), or after a failed
    /// turn.
    pub(super) fn go_on(&self, running: &mut Running, replay: &mut Replay, answer: Option<u64>) -> GoneOn {
        replay.live = Some(match (answer, replay.failed_turn.take()) {
            (Some(value), _) => Answer::Saw(value),
            (None, Some(_)) => Answer::TryAgain,
            (None, None) => Answer::None,
        });
        replay.asks = None;
        std::mem::swap(&mut *self.0.replay.borrow_mut(), replay);
        let polled = panics::caught(|| running.poll());
        std::mem::swap(&mut *self.0.replay.borrow_mut(), replay);
        match (polled, replay.failed_turn, replay.asks) {
            (Ok(Poll::Ready(())), ..) => GoneOn::Ended,
            (Ok(Poll::Pending), Some(_), _) => GoneOn::FailedTurn,
            (Ok(Poll::Pending), None, Some(asked)) => GoneOn::Asks(asked.op),
            (Ok(Poll::Pending), None, None) => GoneOn::Lost,
            (Err(message), ..) => GoneOn::Panicked(message),
        }
    }

    /// One access: answered from the history, or asked for.
    async fn step(&self, op: Op, part: Part, label: Label, alone: Alone) -> u64 {
        poll_fn(|_| {
            let answer = self.0.replay.borrow_mut().answer(op, part, label, alone);
            self.wipe();
            answer
        })
        .await
    }

    /// Leaves nothing on the stack of what only the memory knows, such as how many accesses there
    /// were: a text may copy stale bytes of the stack into its future.
    #[inline]
    fn wipe(&self) {
        if let Some(fill) = self.0.fill.get() {
            fill.wipe_little();
        }
    }

    async fn access(&self, at: Access<Part>, op: Op, alone: Alone) -> u64 {
        if self.0.faults.is_empty() {
            return self.asks(at, op, alone).await;
        }
        // Boxed, because the futures of all accesses would have to contain it.
        Box::pin(self.faulty_access(at, op, alone)).await
    }

    async fn asks(&self, at: Access<Part>, op: Op, alone: Alone) -> u64 {
        // A process that waits at the first access of a section, or of an operation, has begun it
        // anyway.
        let begins_with_a_wait = {
            let mut r = self.0.replay.borrow_mut();
            let begins = r.phase.begun() != r.phase && !r.camps || r.invoked.is_some();
            let so = r.wait_at == Some(r.seen) && begins;
            if so {
                r.section_at = r.wait_at;
            }
            so
        };
        self.wipe();
        if begins_with_a_wait {
            self.section().await;
        }
        self.step(op, at.part, at.label, alone).await
    }

    /// A step without an access, from one section to the next.
    pub(super) async fn section(&self) {
        self.step(Op::Section, Part::ROOT, 0, Alone::Never).await;
    }

    fn ends_call(&self, result: Call) {
        let mut r = self.0.replay.borrow_mut();
        if r.live.is_some() {
            return; // not watched
        }
        r.calls_out_of_turn |= !r.calling || r.invoked.is_some();
        r.calling = false;
        r.calls += 1;
        r.responded = Some(result);
        self.wipe();
    }

    /// The entry section is done, and this is what it holds. The exit begins with the next step.
    pub(super) fn enters(&self, held: &dyn Debug) {
        let mut r = self.0.replay.borrow_mut();
        r.phase = Phase::Inside;
        // A text that uses `keep` has said what matters up to here; only what its passage holds is
        // left.
        if r.uses_keep {
            r.kept = Some(format!("inside {held:?}"));
        }
        self.wipe();
    }

    /// The entry section was given up; the way out follows.
    pub(super) fn gives_up(&self) {
        self.0.replay.borrow_mut().phase = Phase::Exit;
    }

    pub(super) fn phase(&self) -> Phase {
        self.0.replay.borrow().phase
    }
}

impl Memory for Sim {
    type Error = Infallible;
    type Part = Part;
    const ROOT: Part = Part::ROOT;
    type Cell<T: Word> = SimCell<T>;
    type Var<T: Word> = SimVar<T>;
    type Row<T: Word> = Vec<SimCell<T>>;
    type Group<T: Word, const N: usize> = Vec<SimCell<T>>;
    type Table<T: Word> = SimTable<T>;
    /// Few, because each of them is part of every state.
    const PLENTY: usize = 5;
    /// How many waits it is within. Where it began is not for the text to carry: histories of
    /// different lengths may leave the text where it is.
    type Wait = usize;

    fn part(&self, within: Part, kind: &'static str, index: Option<usize>) -> Part {
        self.0.layout.borrow_mut().add_part(within, kind, index)
    }

    fn var<T: Word>(&self, name: Name<Part>, decl: Decl<'_, T>) -> SimVar<T> {
        SimVar(self.cell(name, &decl))
    }

    fn row<'a, T: Word>(&self, n: usize, decl: impl Fn(usize) -> (Name<Part>, Decl<'a, T>)) -> Vec<SimCell<T>> {
        (0..n).map(decl).map(|(name, decl)| self.cell(name, &decl)).collect()
    }

    fn group<'a, T: Word, const N: usize>(
        &self,
        n: usize,
        decl: impl Fn(usize) -> (Name<Part>, Decl<'a, T>),
    ) -> Vec<SimCell<T>> {
        self.row(n, decl)
    }

    fn table<T: Word>(&self, name: Name<Part>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> SimTable<T> {
        SimTable::new(self, name, rows, columns, decl)
    }

    fn wait_begins(&self, _: Pid) -> usize {
        let within = self.0.replay.borrow_mut().wait_begins();
        self.wipe();
        within
    }

    fn wait_ends(&self, _: Pid) {
        let mut r = self.0.replay.borrow_mut();
        r.waits.pop();
        self.wipe();
        if self.0.faults.is_empty() {
            return;
        }
        r.faulty.wait_begins();
        r.wait_at = None; // a wait may have ended without an access
    }

    /// A failed turn leads back to the loop head: the history is cut there, so waiting never makes
    /// it longer.
    async fn turn_failed(&self, _: Pid, head: &mut usize, abortable: bool) -> Result<Next, Infallible> {
        if !self.0.faults.is_empty() && Box::pin(self.goes_on(*head)).await {
            return Ok(Next::TryAgain);
        }
        {
            let mut r = self.0.replay.borrow_mut();
            let last = r.seen.checked_sub(1).and_then(|last| r.history.get(last));
            if abortable && last.is_some_and(|seen| seen.gave_up) {
                return Ok(Next::GiveUp);
            }
            r.calls_out_of_turn |= r.calls != r.calls_at_wait;
            r.waits.truncate(*head + 1);
            let head = r.waits[*head];
            // The loop head comes after the step that began the section.
            let begun = usize::from(r.section_at == Some(head));
            r.failed_turn = Some((head + begun, abortable));
        }
        poll_fn(|_| {
            let mut r = self.0.replay.borrow_mut();
            if r.live == Some(Answer::TryAgain) {
                r.live = Some(Answer::None);
                return Poll::Ready(Ok(Next::TryAgain));
            }
            if std::mem::take(&mut r.tries_again) {
                return Poll::Ready(Ok(Next::TryAgain));
            }
            Poll::Pending
        })
        .await
    }

    async fn round_failed(&self, pid: Pid, head: &mut usize) -> Result<(), Infallible> {
        self.0.replay.borrow_mut().gone_round = true;
        self.turn_failed(pid, head, false).await?;
        self.0.replay.borrow_mut().gone_round = false;
        Ok(())
    }

    fn line(&self, of_the_source: &'static Location<'static>) {
        self.0.line.set(Line(Some(of_the_source)));
    }

    fn keep(&self, at: Access<Part>, live: &dyn Debug) {
        let mut r = self.0.replay.borrow_mut();
        if r.live.is_some() {
            return; // nothing is merged
        }
        let mut key = format!("{}@{} {live:?}", at.part.number(), at.label);
        for frame in &r.frames {
            let _ = write!(key, "\n{frame}");
        }
        r.kept = Some(key);
        r.uses_keep = true;
        self.wipe();
    }

    fn part_begins(&self, _: Pid, live: &dyn Debug) {
        let mut r = self.0.replay.borrow_mut();
        if r.live.is_none() {
            r.frames.push(format!("{live:?}"));
        }
        self.wipe();
    }

    fn watch<T: Word>(&self, _: Pid, v: &SimCell<T>) {
        self.0.replay.borrow_mut().watched.push(v.id);
        self.wipe();
    }

    fn unwatch<T: Word>(&self, _: Pid, v: &SimCell<T>) {
        self.0.replay.borrow_mut().watched.retain(|id| *id != v.id);
        self.wipe();
    }

    fn invokes<T: Word>(&self, _: Pid, op: T) {
        let mut r = self.0.replay.borrow_mut();
        if r.live.is_some() {
            return; // not watched
        }
        r.calls_out_of_turn |= r.calling;
        r.calling = true;
        r.calls += 1;
        r.invoked = Some(Call::new(op));
        self.wipe();
    }

    fn responds<T: Word>(&self, _: Pid, result: T) {
        self.ends_call(Call::new(result));
    }

    fn abandons(&self, _: Pid) {
        self.ends_call(Call { word: None, text: "nothing".into() });
    }

    fn part_done(&self, _: Pid) {
        self.0.replay.borrow_mut().frames.pop();
        self.wipe();
    }

    fn mark(&self, _: Pid, part: Part, mark: Mark) {
        let mut r = self.0.replay.borrow_mut();
        match mark {
            Mark::DoorwayEnds => r.doorway_done = true,
            Mark::Camps => {
                r.phase = Phase::Remainder;
                r.camps = true;
            }
            Mark::Rests(label) => {
                r.rests.retain(|(p, _)| *p != part);
                r.rests.push((part, label));
                r.rests.sort_unstable();
            }
            Mark::Shows(name, word) => {
                r.shown.retain(|(p, n, _)| (*p, *n) != (part, name));
                r.shown.push((part, name, word));
                r.shown.sort_unstable();
            }
            Mark::Holds(name, word) => r.held.push((part, name, word)),
            Mark::Hides(name) => {
                r.shown.retain(|(p, n, _)| (*p, *n) != (part, name));
                r.held.retain(|(p, n, _)| (*p, *n) != (part, name));
            }
        }
        self.wipe();
    }
}

impl ReadWrite for Sim {
    async fn read<T: Word>(&self, at: Access<Part>, v: &SimCell<T>) -> Result<T, Infallible> {
        Ok(T::unpack(self.access(at, Op::Read(v.id), v.alone).await))
    }

    async fn write<T: Word>(&self, at: Access<Part>, v: &SimCell<T>, x: T) -> Result<(), Infallible> {
        self.access(at, Op::Write(v.id, v.word(x)), v.alone).await;
        Ok(())
    }

    async fn unchanged<T: Word>(
        &self,
        pid: Pid,
        head: &mut usize,
        abortable: bool,
        _: &SimCell<T>,
        _: T,
    ) -> Result<Next, Infallible> {
        self.turn_failed(pid, head, abortable).await
    }
}

impl FetchAdd for Sim {
    async fn fetch_add<T: Additive>(&self, at: Access<Part>, v: &SimCell<T>, delta: T) -> Result<T, Infallible> {
        if !self.0.loops_to_add {
            return Ok(T::unpack(self.access(at, Op::FetchAdd(v.id, delta.pack()), v.alone).await));
        }
        let mut old = self.access(at, Op::Read(v.id), v.alone).await;
        loop {
            let new = v.word(T::unpack(old.wrapping_add(delta.pack())));
            let saw = self.access(at, Op::CompareSwap(v.id, old, new), v.alone).await;
            if saw == old {
                return Ok(T::unpack(old));
            }
            old = saw;
        }
    }
}

impl FetchOr for Sim {
    async fn fetch_or<T: Bits>(&self, at: Access<Part>, v: &SimCell<T>, mask: T) -> Result<T, Infallible> {
        Ok(T::unpack(self.access(at, Op::FetchOr(v.id, mask.pack()), v.alone).await))
    }
}

impl FetchAnd for Sim {
    async fn fetch_and(&self, at: Access<Part>, v: &SimCell<u64>, mask: u64) -> Result<u64, Infallible> {
        Ok(self.access(at, Op::FetchAnd(v.id, mask), v.alone).await)
    }
}

impl BoundedDecrement for Sim {
    const WAIT_FREE: bool = true;

    async fn bounded_decrement(&self, at: Access<Part>, v: &SimCell<u64>) -> Result<u64, Infallible> {
        if !self.0.loops_to_decrement {
            return Ok(self.access(at, Op::BoundedDecrement(v.id), v.alone).await);
        }
        let mut old = self.access(at, Op::Read(v.id), v.alone).await;
        while old > 0 {
            let saw = self.access(at, Op::CompareSwap(v.id, old, old - 1), v.alone).await;
            if saw == old {
                break;
            }
            old = saw;
        }
        Ok(old)
    }
}

impl TestAndSet for Sim {
    async fn test_and_set(&self, at: Access<Part>, v: &SimCell<bool>) -> Result<bool, Infallible> {
        Ok(bool::unpack(self.access(at, Op::TestAndSet(v.id), v.alone).await))
    }
}

impl Swap for Sim {
    async fn swap<T: Word>(&self, at: Access<Part>, v: &SimCell<T>, x: T) -> Result<T, Infallible> {
        Ok(T::unpack(self.access(at, Op::Swap(v.id, v.word(x)), v.alone).await))
    }
}

impl CompareSwap for Sim {
    async fn compare_swap<T: Word>(
        &self,
        at: Access<Part>,
        v: &SimCell<T>,
        old: T,
        new: T,
    ) -> Result<Result<T, T>, Infallible> {
        let old = v.word(old);
        let saw = self.access(at, Op::CompareSwap(v.id, old, v.word(new)), v.alone).await;
        Ok(if saw == old { Ok(T::unpack(saw)) } else { Err(T::unpack(saw)) })
    }
}

/// A row is part of every state, with its declared values until a process is told that it exists:
/// no process could tell when it was created.
impl LateRows for Sim {
    type Late<T: Word> = SimLate<T>;

    fn late_rows<T: Word>(&self, name: Name<Part>, first: usize, rows: usize, decl: Decl<'_, T>) -> SimLate<T> {
        SimLate::new(self, name, first, rows, &decl)
    }

    fn make_row<T: Word>(&self, late: &SimLate<T>, row: usize) -> bool {
        late.has(row)
    }
}

impl Choose for Sim {
    /// No other process can tell when the choice was made, so it is one step with the access after
    /// it, like an access to a private variable.
    async fn choose(&self, at: Access<Part>, n: usize) -> Result<usize, Infallible> {
        Ok(self.step(Op::Choose(n), at.part, at.label, Alone::Always).await as usize)
    }
}

impl AtomicBlock for Sim {
    /// A block is one step, so it needs no mutual exclusion.
    type Lock = ();

    fn lock(&self) {}

    async fn block_begins(&self, _: Pid, (): &()) -> Result<(), Infallible> {
        let mut r = self.0.replay.borrow_mut();
        r.block_at = Some(r.seen);
        Ok(())
    }

    fn block_ends(&self, _: Pid, (): &()) {
        self.0.replay.borrow_mut().block_at = None;
    }
}
