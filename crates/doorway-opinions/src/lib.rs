//! What other people's tools say about our texts. Everything is in `tests/`: the shipped texts and
//! files over the words of [loom] and [shuttle], and hand-written models for [Stateright].
//!
//! [loom]: https://docs.rs/loom
//! [shuttle]: https://docs.rs/shuttle
//! [Stateright]: https://docs.rs/stateright
