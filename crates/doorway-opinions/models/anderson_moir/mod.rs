//! Hand-written models of the other figures of Anderson and Moir, from their pseudo-code: the queue
//! (Figure 1), the tree of chains (3a), the fast path (4, with a plain fetch-and-increment and a
//! slow path for all), the nested fast paths (3b, with an exact bounded decrement), the levels for
//! distributed shared memory (5 and 6), and renaming (7).
//!
//! A private statement is merged with the access before it. An entry or exit without any access is
//! one step, whatever the sections.

pub(crate) mod composed;
pub(crate) mod layout;
pub(crate) mod level;
pub(crate) mod queue;
