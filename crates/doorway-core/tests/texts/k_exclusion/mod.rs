//! Texts for k holders.

mod anderson_moir_94;
mod bypass;
mod danek_10;
mod dolev_gafni_shavit_88;
mod turnstile;
