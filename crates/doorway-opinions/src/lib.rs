//! What other people's tools say of our texts. Everything is in `tests/`: the shipped texts and files, over the words of [loom] and [shuttle], and
//! models for [Stateright] that were written by hand.
//!
//! [loom]: https://docs.rs/loom
//! [shuttle]: https://docs.rs/shuttle
//! [Stateright]: https://docs.rs/stateright
