//! The k-Bakery's invariants, as `danek_10/atomic.rs` and `danek_10/nonatomic.rs` state them.

pub(crate) mod mutants;

use crate::Property;
use crate::checked::{Checked, checked_entry};
use crate::property::View;
use crate::sim::Phase;
use doorway_core::k_exclusion::danek_10::Wants;
use doorway_core::memory::Label;
use doorway_core::memory::Register;
use doorway_core::registry::{Kbakery, KbakeryFife, KbakeryNonatomic, KbakeryNonatomicAsPrinted, Sizes};

impl Checked for Kbakery {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        k_bakery()
    }
}

impl Checked for KbakeryFife {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        first_enabled_k_bakery()
    }
}

impl Checked for KbakeryNonatomic {
    checked_entry!();

    fn claims(_: Sizes) -> Vec<Property> {
        nonatomic_k_bakery()
    }
}

impl Checked for KbakeryNonatomicAsPrinted {
    checked_entry!();

    const BREAKS_ON: &'static [(Register, &'static str)] = &[(
        Register::Safe,
        "dw1/kbakery-nonatomic-as-printed/3,1/2/c0/safe/k-exclusion/2x11.1x9.1s3.1x10.2x33.1x35.2x9.2s0.2x23.0x8.0s0.0x27/e76ebd98",
    )];

    fn claims(_: Sizes) -> Vec<Property> {
        nonatomic_k_bakery()
    }
}

fn k_bakery() -> Vec<Property> {
    vec![wants(&["Want"], |at| matches!(at, 151 | 152 | 21..=24)), draws(), nobody_is_struck_out_too_early()]
}

fn first_enabled_k_bakery() -> Vec<Property> {
    let mut claims = k_bakery();
    claims.push(Property::always("C", |v| {
        let holds = |(i, p)| {
            let captured: u64 = v.get_in("Capture", (i, p));
            captured <= ticket(v, p) && (!v.at(p, 24) || captured == ticket(v, p))
        };
        pairs(v).all(holds)
    }));
    claims
}

fn nonatomic_k_bakery() -> Vec<Property> {
    let captures = Property::always("C", |v| {
        let holds = |(i, p)| {
            let [first, second]: [u64; 2] = ["Capture1", "Capture2"].map(|copy| v.get_in(copy, (i, p)));
            first.max(second) <= ticket(v, p) && (first == second || v.at(p, 451..=452))
        };
        pairs(v).all(holds)
    });
    let told = |at| matches!(at, 311 | 312 | 38 | 39 | 41 | 42 | 44 | 46);
    vec![wants(&["Want1", "Want2"], told), draws(), nobody_is_struck_out_too_early(), captures]
}

/// (W)
fn wants(copies: &'static [&'static str], told: fn(Label) -> bool) -> Property {
    Property::always("W", move |v| {
        let says = |i, p, what| copies.iter().all(|copy| v.get_in::<Wants>(copy, (i, p)) == what);
        pairs(v).all(|(i, p)| match v.label(p) {
            0 => says(i, p, Wants::NOTHING),
            at if told(at) => says(i, p, Wants::ticket(ticket(v, p))),
            _ => true,
        })
    })
}

/// (T)
fn draws() -> Property {
    Property::always("T", |v| {
        v.processes().all(|p| v.shown::<u64>(p, "draws").is_none_or(|draws| draws > ticket(v, p)))
    })
}

/// (L3)
fn nobody_is_struck_out_too_early() -> Property {
    Property::always("L3", |v| {
        let competes = |q| v.past_doorway(q) && matches!(v.phase(q), Phase::Entry | Phase::Inside);
        pairs(v).filter(|&(q, _)| competes(q)).all(|(q, p)| match v.shown::<u64>(p, "pred") {
            Some(pred) if (ticket(v, q), q) < (ticket(v, p), p) => pred & (1 << q) != 0,
            _ => true,
        })
    })
}

fn ticket(v: &View<'_>, p: usize) -> u64 {
    v.get_at("Ticket", p)
}

/// All ordered pairs of processes.
fn pairs(v: &View<'_>) -> impl Iterator<Item = (usize, usize)> {
    let n = v.processes().end;
    (0..n).flat_map(move |p| (0..n).filter(move |&q| q != p).map(move |q| (q, p)))
}
