//! Texts for mutual exclusion.

mod arbitration_tree;
mod lamport_74;
mod rivals;
mod taubenfeld_04;
mod yang_anderson_93;
