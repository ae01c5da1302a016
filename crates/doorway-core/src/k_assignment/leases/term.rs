//! Until when a lease lives, by the client's own clock.

/// A moment of the client's clock, in any unit.
pub type Moment = u64;

/// Until when a lease lives at least.
///
/// The client counts from before it asked. The store counts from when it was asked, which is later.
/// So the store never ends a lease before the client says that it has ended, if their clocks run at
/// the same speed. A client that looks at its clock therefore knows of its loss before another one
/// has its slot. A client that is paused cannot look.
///
/// ```
/// use doorway_core::k_assignment::leases::Term;
/// let mut term = Term::new(100, 10);
/// assert!(!term.has_ended(109) && term.has_ended(110));
/// // A sign of life, which was sent at 105 and answered at some time later.
/// term.is_kept(105, 10);
/// assert_eq!(term.left(110), 5);
/// // An answer that comes late takes nothing away.
/// term.is_kept(101, 10);
/// assert_eq!(term.left(110), 5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term {
    until: Moment,
}

impl Term {
    /// Of a lease for this time that was asked for at this moment.
    #[must_use]
    pub fn new(asked: Moment, ttl: u64) -> Self {
        Self { until: asked.saturating_add(ttl) }
    }

    /// The store has answered a sign of life that was sent at this moment.
    pub fn is_kept(&mut self, asked: Moment, ttl: u64) {
        self.until = self.until.max(asked.saturating_add(ttl));
    }

    /// For how long it lives at least.
    #[must_use]
    pub fn left(&self, now: Moment) -> u64 {
        self.until.saturating_sub(now)
    }

    /// Whether it may have ended.
    #[must_use]
    pub fn has_ended(&self, now: Moment) -> bool {
        self.left(now) == 0
    }
}
