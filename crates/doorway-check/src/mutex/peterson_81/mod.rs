//! What a tree of Peterson's claims: (S), (Q), (G) and (X) of every node.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::mutex::two_sides::{Text, tree};
use doorway_core::mutex::Side;
use doorway_core::registry::{PetersonTree, Sizes};

impl Checked for PetersonTree {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        tree(sizes, Text { inside: 5, is_last: |v, side| v.get::<Side>("turn") == side })
    }
}
