//! How long the line may get.

/// How long the line may get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Records in the ring: a power of two, and at least the sum of `full`, `places` and the number
    /// of processes that draw a ticket at the same time.
    pub ring: usize,
    /// Newcomers camp once a process has seen a ticket at least this far from being enabled,
    pub full: u64,
    /// until the next ticket is less than this far.
    pub clear: u64,
    /// The largest number of places there will ever be.
    pub places: u64,
}

impl Limits {
    /// For `n` processes and `k` places.
    ///
    /// ```
    /// use doorway_core::k_exclusion::turnstile::Limits;
    /// assert_eq!(Limits::for_processes(3, 2).ring, 8);
    /// ```
    #[must_use]
    pub const fn for_processes(n: usize, k: usize) -> Self {
        Self {
            ring: (2 * n + k).next_power_of_two(),
            // Without give-ups no process is that far back.
            full: if n > 1 { n as u64 - 1 } else { 1 },
            // The same number of processes may be on their way into the line, and find that they
            // need not wait: they look at no door.
            clear: if n > 1 { n as u64 - 1 } else { 1 },
            places: k as u64,
        }
    }

    /// For `n` processes and `k` places, where the line [grows](super::Endless) from one place on.
    #[must_use]
    pub const fn for_growing(n: usize, k: usize) -> Self {
        Self { ring: 1, ..Self::for_processes(n, k) }
    }

    /// For any number of processes, and up to `places` places, where the line
    /// [grows](super::Endless) from 16 places on. The door is closed only before more processes
    /// wait than the gate can count.
    #[must_use]
    pub const fn for_anybody(places: usize) -> Self {
        Self { ring: 16, full: (1 << 21) - 1, clear: 1 << 20, places: places as u64 }
    }

    /// The largest number of rings that an endless line of these limits can have with `n`
    /// processes.
    ///
    /// ```
    /// use doorway_core::k_exclusion::turnstile::Limits;
    /// assert_eq!(Limits::for_growing(2, 1).rings(2), 3); // of 1, 2 and 4 places
    /// ```
    #[must_use]
    pub const fn rings(&self, n: usize) -> usize {
        // The largest number of tickets that are drawn and not exited: `full` wait, and every
        // process has read the door before that.
        let most = self.full as usize + n + self.places as usize;
        let mut rings = 1;
        // A ring is made only if the newest is smaller than that.
        while self.ring << (rings - 1) < most {
            rings += 1;
        }
        rings
    }

    /// For any number of processes, and up to a quarter of a ring of places. Half a ring may wait
    /// in line, and less than a quarter may draw a ticket at the same time.
    #[must_use]
    pub const fn for_ring(ring: usize, places: usize) -> Self {
        let quarter = ring as u64 / 4;
        Self { ring, full: 2 * quarter, clear: quarter, places: places as u64 }
    }
}
