//! What the last user to leave a room does, and what becomes of its panics.

use super::Room;
use super::bookkeeping::{Kept, Poison};
use crate::native::Native;
use crate::tools::Mutex;
use crate::tools::thread::{self, ThreadId};
use doorway_core::memory::Process;
use doorway_core::rooms::LastOut;
use std::any::Any;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

/// What the last user to leave a room does before another room is opened, once for each turn of a
/// room. Closures implement this; see [`on_last_exit`](super::Rooms::on_last_exit).
///
/// No user is inside any room then, and none gets in until the code is done. It happens after
/// everything that was done inside, and before everything that will be done inside.
pub trait LastExit<R>: Send + Sync {
    /// Whether there is anything to do.
    const DOES_SOMETHING: bool = true;

    /// Runs after a turn of `room`.
    fn last_exit(&self, room: R);
}

/// Does nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nothing;

impl<R> LastExit<R> for Nothing {
    const DOES_SOMETHING: bool = false;

    #[inline(always)]
    fn last_exit(&self, _: R) {}
}

impl<R, F: Fn(R) + Send + Sync> LastExit<R> for F {
    fn last_exit(&self, room: R) {
        self(room);
    }
}

type Payload = Box<dyn Any + Send>;

/// The code, and the panics that were caught on the way.
pub(super) struct Hook<R, X> {
    code: X,
    /// The threads that panicked in the code and have not resumed the panic yet. Several can be
    /// leaving at the same time.
    panics: Mutex<Vec<(ThreadId, Payload)>>,
    /// How many such panics there are.
    kept: Kept,
    /// Whether a user panicked in the code, or inside a room.
    poisoned: Poison,
    rooms: PhantomData<fn(R)>,
}

impl<R, X> Hook<R, X> {
    pub(super) fn new(code: X) -> Self {
        Self { code, panics: Mutex::new(Vec::new()), kept: Kept::none(), poisoned: Poison::none(), rooms: PhantomData }
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    pub(super) fn poison(&self, poisoned: bool) {
        self.poisoned.set(poisoned);
    }

    /// Resumes the panic that was caught in this thread, if there was one, unless the thread is
    /// already unwinding.
    #[inline(always)]
    pub(super) fn resume(&self) {
        if self.kept.is_some() {
            self.resume_own();
        }
    }

    #[cold]
    #[inline(never)]
    fn resume_own(&self) {
        let me = thread::current().id();
        let mut panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        let own = panics.iter().position(|(thread, _)| *thread == me).map(|place| panics.swap_remove(place).1);
        drop(panics);
        if let Some(payload) = own {
            self.kept.one_less();
            if !thread::panicking() {
                resume_unwind(payload);
            }
        }
    }
}

impl<R: Room, X: LastExit<R>> LastOut<Native> for Hook<R, X> {
    #[inline(always)]
    async fn last_out(&self, _: &Process<Native>, room: usize) -> Result<(), Infallible> {
        self.run(room);
        Ok(())
    }

    #[inline(always)]
    fn last_out_now(&self, _: &Process<Native>, room: usize) {
        self.run(room);
    }
}

impl<R: Room, X: LastExit<R>> Hook<R, X> {
    #[inline(always)]
    fn run(&self, room: usize) {
        if X::DOES_SOMETHING {
            self.run_code(room);
        }
    }

    /// Keeps a panic until the next room is open: otherwise the waiters would wait for ever.
    fn run_code(&self, room: usize) {
        let Some(room) = R::from_index(room) else { return };
        // Users can ask whether there was a panic, and so find out that the code left something
        // half done.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.code.last_exit(room))) {
            self.panics.lock().unwrap_or_else(PoisonError::into_inner).push((thread::current().id(), payload));
            self.kept.one_more();
            self.poison(true);
        }
    }
}
