//! The evidence for every text, under the path of the text: one program, because to link is what tests cost most.

mod common;
mod k_assignment;
mod k_exclusion;
mod mutex;
mod registry;
mod resilient;
mod rooms;
