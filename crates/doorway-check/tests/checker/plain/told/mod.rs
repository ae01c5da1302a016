//! Three classics that say which of their locals matter, to be compared with those that do not.
//! What each paper says stands above its text in the package `classics`.

pub(crate) mod burns;
pub(crate) mod dekker;
pub(crate) mod knuth;
