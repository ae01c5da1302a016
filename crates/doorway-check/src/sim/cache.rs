//! What an access costs, and what it leaves in the cache of the measured process.

use doorway_core::registry::CostModel;

/// A variable in the cache of the measured process.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Line {
    /// It holds a valid copy.
    pub(super) valid: bool,
    /// No other process does.
    pub(super) exclusive: bool,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// Whether the measured process makes it.
    pub(super) own: bool,
    /// Whether it only reads. A read-modify-write counts as a write, even if it changes nothing.
    pub(super) reads: bool,
    /// Whether the variable lives with the measured process.
    pub(super) at_home: bool,
}

impl Line {
    /// Whether the measured process pays for a reference; updates its cache.
    pub(super) fn charge(&mut self, model: CostModel, to: Reference) -> bool {
        if !to.own {
            self.exclusive = false;
            self.valid &= to.reads;
            return false;
        }
        let costs = match model {
            CostModel::Dsm => return !to.at_home,
            _ if to.reads => !self.valid,
            CostModel::Cc | CostModel::CcWriteBack => true,
            CostModel::CcExclusive => !self.exclusive,
        };
        self.valid = to.reads || model != CostModel::Cc;
        self.exclusive = model == CostModel::CcExclusive && (self.exclusive || !to.reads);
        costs
    }
}
