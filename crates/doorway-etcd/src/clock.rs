//! The clock by which a client judges its own lease.

use std::time::Duration;

/// Time since some moment in the past. It never jumps, and on Linux it goes on while the machine is
/// suspended.
pub(crate) fn now() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

#[cfg(test)]
mod tests {
    /// A clock that jumps cannot end or prolong a lease here: no other clock is read.
    #[test]
    fn no_other_clock_is_read() {
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("sources") {
            let path = file.expect("a file").path();
            let source = std::fs::read_to_string(&path).expect("text");
            let other = ["System", "Time"].concat();
            assert!(!source.contains(&other), "{path:?}");
        }
    }
}
