//! What Kessels' tree claims: (S), (Q), (G) and (X) of every node.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::mutex::two_sides::{Text, tree};
use crate::property::View;
use doorway_core::mutex::Side;
use doorway_core::registry::{KesselsTree, Sizes};

impl Checked for KesselsTree {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        let is_last = |v: &View<'_>, side| {
            let are_equal = v.get_at::<bool>("r", 0) == v.get_at::<bool>("r", 1);
            are_equal == (side == Side::Left)
        };
        tree(sizes, Text { inside: 6, is_last })
    }
}
