//! What tests of rooms have in common.

#![allow(dead_code, unused_imports)] // each test crate uses some of it

pub(crate) use crate::slots_kit::{Bell, Uses, block_on};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>, bell: &Arc<Bell>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(bell))))
}

pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Numbers that look random: xorshift.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
}

/// A value that is counted while it lives.
#[derive(Debug)]
pub(crate) struct Counted<'a>(pub(crate) usize, &'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn new(value: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, SeqCst);
        Self(value, alive)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        assert!(self.1.fetch_sub(1, SeqCst) > 0, "dropped twice");
    }
}
