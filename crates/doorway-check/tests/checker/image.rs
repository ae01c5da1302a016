//! The module that reads the bytes of texts, with the tests beside it: the library runs none.

#[allow(dead_code)]
#[path = "../../src/sim/image.rs"]
mod itself;
