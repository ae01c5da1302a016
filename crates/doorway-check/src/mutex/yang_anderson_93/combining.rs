//! What software combining claims: its results are those of its operations one after the other, and
//! our own claims about the text.

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::property::View;
use crate::sim::Sequential;
use doorway_core::mutex::levels;
use doorway_core::mutex::yang_anderson_93::{Affine, Combinable};
use doorway_core::registry::{Sizes, YaCombining};
use std::marker::PhantomData;

impl Checked for YaCombining {
    checked_entry!();

    fn claims(sizes: Sizes) -> Vec<Property> {
        combining(sizes)
    }

    fn asked_of_any_text(_: Sizes) -> Vec<Property> {
        vec![linearizable()]
    }
}

/// Fetch-and-op, one operation after the other.
#[derive(Debug)]
pub struct FetchAndOp<F: Combinable> {
    value: u64,
    of: PhantomData<fn() -> F>,
}

impl<F: Combinable<Value = u64>> FetchAndOp<F> {
    /// On an object with this value.
    #[must_use]
    pub fn new(value: u64) -> Self {
        Self { value, of: PhantomData }
    }
}

impl<F: Combinable<Value = u64>> Sequential for FetchAndOp<F> {
    type State = u64;
    type Op = F::Op;
    type Response = u64;

    fn initial(&self) -> u64 {
        self.value
    }

    fn apply(&self, value: &u64, op: F::Op) -> (u64, u64) {
        (F::apply(op, *value), *value)
    }
}

/// As the registry runs it.
fn linearizable() -> Property {
    Property::linearizable("linearizable", FetchAndOp::<Affine<5>>::new(0))
}

fn combining(sizes: Sizes) -> Vec<Property> {
    let height = levels(sizes.n);
    let noted = move |v: &View<'_>, p: usize| (0..height).any(|h| v.get_in::<bool>("Done", (p, h)));
    vec![
        linearizable(),
        Property::always("C1", |v| v.count(10..=11) <= 1),
        Property::always("C2", move |v| !v.any(8..=11, |p| noted(v, p))),
    ]
}
