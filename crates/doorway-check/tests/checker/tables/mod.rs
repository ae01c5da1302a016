//! The tables are true, and the documents show them as they are.

mod catalogue;
mod documents;
mod registers;
mod theorems;
