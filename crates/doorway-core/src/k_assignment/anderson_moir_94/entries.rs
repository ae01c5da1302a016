//! The catalogue entries of Anderson and Moir's k-assignment.

use super::Renaming;
use crate::k_exclusion::anderson_moir_94::entries::{CcFast, DsmFast, PAPER, cc_fast, dsm_fast};
use crate::k_exclusion::anderson_moir_94::{bounds, space};
use crate::registry::prelude::*;

entries! {
    /// Anderson and Moir's [names](crate::k_assignment::anderson_moir_94::Renaming) over
    /// [`AmFast`](crate::registry::AmFast): the guard says which slot you got.
    AmAssign: Renaming<M, CcFast<M>>, |site, sizes| Renaming::new(site, sizes.k, |inner| cc_fast(inner, sizes)), Info {
        instructions: &[Read, Write, FetchAdd, TestAndSet],
        properties: of_k_exclusion!["I1", "I2", "I3", "I4", "U1", "F1", "F2", "unique-names", "N2", "N3"],
        rmr: &[
            (Cc, Bound::AtMost {
                formula: "8k+2 if c <= k, else 7k(ceil(log2(ceil(N/k)))+1)+k+2",
                at: bounds::theorem_9,
            }),
            (Dsm, Bound::Unbounded),
        ],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::cc_chain) + s.k as u64 - 1,
        ..Info::k_assignment(
            "am-assign",
            "Anderson and Moir's k-assignment: names over a fast path",
            PAPER,
            "7 over 4",
        )
    };

    /// The same over [`AmDsmFast`](crate::registry::AmDsmFast).
    AmDsmAssign: Renaming<M, DsmFast<M>>, |site, sizes| Renaming::new(site, sizes.k, |inner| dsm_fast(inner, sizes)), Info {
        instructions: &[Read, Write, FetchAdd, TestAndSet, CompareSwap],
        properties: of_k_exclusion![
            "D0", "D1", "D2", "D3", "D4", "D5", "D6", "F1", "F2", "unique-names", "N2", "N3",
        ],
        rmr: &[
            (Cc, Bound::Order("bounded")),
            (Dsm, Bound::AtMost {
                formula: "15k+2 if c <= k, else 14k(ceil(log2(ceil(N/k)))+1)+k+2",
                at: bounds::theorem_10,
            }),
        ],
        orders: Some(("O(k log(N/k))", "O(k)")),
        words: |s, _| space::fast_path(s, space::dsm_chain) + s.k as u64 - 1,
        defaults: Defaults { n: 3, k: 2, passages: Some(1) },
        ..Info::k_assignment(
            "am-dsm-assign",
            "Anderson and Moir's k-assignment for distributed memory",
            PAPER,
            "7 over 4 with 6",
        )
    };
}
