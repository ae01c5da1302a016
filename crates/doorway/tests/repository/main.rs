//! What the sources and the pages of the repository have to look like. These tests read files
//! outside of this package.

mod atomics;
mod growth;
mod pages;
mod surface;
mod usize;
mod walk;
