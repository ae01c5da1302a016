//! The size of `Slots` in bytes: of an object, of a guard, of a future that waits.

use doorway::slots::{Passing, Unnumbered};
use doorway::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned, OwnedSlotGuard, SlotGuard, Slots};
use std::future::Future;

#[test]
fn an_object_has_at_most_384_bytes() {
    println!("Slots {}, without numbers {}", size_of::<Slots>(), size_of::<Slots<Unnumbered>>());
    assert!(size_of::<Slots>() <= 384);
    assert!(size_of::<Slots<Unnumbered>>() <= 256);
    assert!(size_of::<Slots<Passing>>() <= 512);
}

#[test]
fn guards_have_at_most_24_bytes() {
    assert!(size_of::<SlotGuard<'_>>() <= 24);
    assert!(size_of::<OwnedSlotGuard>() <= 24);
}

fn is_small<F: Future + Send + Unpin>() {
    println!("{}: {}", std::any::type_name::<F>(), size_of::<F>());
    assert!(size_of::<F>() <= 128, "{} has {} bytes", std::any::type_name::<F>(), size_of::<F>());
}

#[test]
fn futures_have_at_most_128_bytes() {
    is_small::<Acquire<'_>>();
    is_small::<AcquireOwned>();
    is_small::<AcquireMany<'_>>();
    is_small::<AcquireManyOwned>();
    const fn is_static<T: 'static>() {}
    is_static::<AcquireOwned>();
    is_static::<AcquireManyOwned<Unnumbered>>();
}
