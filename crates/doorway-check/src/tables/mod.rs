//! Tables over the whole catalogue, as printed by the `doorway` command and shown in the documents.
//!
//! - [`catalogue`]: the registry as rows.
//! - [`registers`]: which read-write algorithms work with which kind of register.
//! - [`theorems`]: Anderson and Moir's theorems beside the measured worst cases.

pub mod catalogue;
pub mod registers;
pub mod theorems;
