//! Tables over the whole catalogue, as the `doorway` command prints them and the documents show them.
//!
//! - [`catalogue`]: the registry as rows.
//! - [`registers`]: which algorithms that only read and write work with which kind of register.
//! - [`theorems`]: Anderson and Moir's theorems beside what is found.

pub mod catalogue;
pub mod registers;
pub mod theorems;
