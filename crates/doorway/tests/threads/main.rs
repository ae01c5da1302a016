//! What users of the types for threads and tasks rely on. It is one program, because linking
//! dominates the cost of the tests.

mod anderson_moir_94;
mod combining;
mod dolev_gafni_shavit_88;
mod endless;
mod gate;
mod histories;
mod layout;
mod mutex;
mod observed;
mod observed_metrics;
mod pool;
mod pool_managed;
mod resilient;
mod rooms;
mod rooms_held;
mod rooms_kit;
mod rooms_structures;
mod slots_bypass;
#[path = "../slots_kit/mod.rs"]
mod slots_kit;
mod slots_wakers;
mod turnstile;
mod waiting;
