//! The evidence for every text, under the path of the text. It is one program, because linking
//! dominates the cost of the tests.

mod common;
mod k_assignment;
mod k_exclusion;
mod memory;
mod mutex;
mod registry;
mod resilient;
mod rooms;
