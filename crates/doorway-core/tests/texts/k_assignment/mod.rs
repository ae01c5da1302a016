//! Texts that also give out names.

mod anderson_moir_94;
mod closing;
mod fences;
mod leases;
mod names;
mod seats;
mod seats_bypass;
mod slots;
