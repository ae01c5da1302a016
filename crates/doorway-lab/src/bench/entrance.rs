//! What threads pass through.

/// Something that threads enter and leave: a lock, slots, a room or a pool.
pub(super) trait Entrance: Sync {
    type Member<'a>
    where
        Self: 'a;
    /// A member for the calling thread.
    fn join(&self) -> Self::Member<'_>;
    /// Enters, runs `inside`, and leaves; `false` if it was turned away.
    fn pass(me: &mut Self::Member<'_>, inside: impl FnOnce()) -> bool;
}

/// `parking_lot`'s mutex, for `k = 1`. It allows barging, or it hands over to a waiter.
pub(super) struct Mutex<const HANDS_OVER: bool>(pub(super) parking_lot::Mutex<()>);

impl<const HANDS_OVER: bool> Entrance for Mutex<HANDS_OVER> {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let guard = me.0.lock();
        inside();
        if HANDS_OVER {
            parking_lot::MutexGuard::unlock_fair(guard);
        }
        true
    }
}
