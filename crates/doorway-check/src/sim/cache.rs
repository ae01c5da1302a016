//! What an access costs, and what it leaves in the cache of the measured process.

use doorway_core::registry::CostModel;

/// A variable in the cache of the measured process.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Line {
    /// It holds a valid copy.
    pub(crate) valid: bool,
    /// No other process does.
    pub(crate) exclusive: bool,
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Whether the measured process makes it.
    pub(crate) own: bool,
    /// Whether it only reads. A read-modify-write counts as a write, even if it changes nothing.
    pub(crate) reads: bool,
    /// Whether the variable lives with the measured process.
    pub(crate) at_home: bool,
}

impl Line {
    /// Whether the measured process pays for a reference; updates its cache.
    pub(crate) fn charge(&mut self, model: CostModel, to: Reference) -> bool {
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
