//! What tests of [`Slots`] have in common.

#![allow(dead_code, unused_imports)] // each test crate uses some of it

#[path = "../task_kit/mod.rs"]
mod task_kit;

use doorway::Slots;
use doorway::slots::Numbering;
use std::sync::Arc;
use std::task::Wake;
use std::thread;
pub(crate) use task_kit::{Bell, block_on};

/// What `Debug` shows.
pub(crate) struct Look {
    pub(crate) waiting: u64,
    /// Whether more callers wait than fit in the line.
    pub(crate) camping: bool,
}

pub(crate) fn look<N: Numbering>(slots: &Slots<N>) -> Look {
    let text = format!("{slots:?}");
    let (_, rest) = text.split_once("waiting: ").unwrap();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
    Look { waiting: rest[..digits].parse().unwrap(), camping: text.contains("in_front_of_the_line: true") }
}

/// Waits until the condition holds for the slots.
pub(crate) fn until<N: Numbering>(slots: &Slots<N>, so: impl Fn(&Slots<N>) -> bool) {
    while !so(slots) {
        thread::yield_now();
    }
}

/// A waker that runs a closure.
pub(crate) struct Uses(pub(crate) Box<dyn Fn() + Send + Sync>);

impl Wake for Uses {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}
