//! The checker, checked: verdicts that are known, random programs beside their definitions, and what it must refuse.

mod at_once;
mod bad_keep;
mod bytes;
mod canon;
mod canon_simple;
mod choose;
mod classics;
mod cost;
mod counted_queue;
mod engine;
mod faults;
mod faults_written;
mod joined;
mod linearizable;
mod mutants;
mod panics;
mod progress;
mod random_programs;
mod refusals;
mod registers;
mod replay;
mod several_writers;
mod spin;
mod tables;
mod timed;
mod traps;
