//! Texts for rooms.

mod blelloch_cheng_gibbons_01;
