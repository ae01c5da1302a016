//! Pages, in a real browser: by mouse and by keyboard, wide and narrow.
//!
//! Without a Chromium these tests say loudly that they were skipped. With `DOORWAY_SCREENSHOTS`
//! they write pictures into that folder.

#![cfg(unix)]

mod chromium;
mod explorer;
#[path = "../kit/mod.rs"]
mod kit;
mod viewer;
