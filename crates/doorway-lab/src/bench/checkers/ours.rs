//! The texts that ship, and those of the gallery, in the explorer.

use super::{Found, Subject};
use classics::{burns, hyman, peterson, szymanski};
use doorway_check::prelude::*;
use doorway_check::subject;
use doorway_core::k_exclusion::anderson_moir_94::Chain;
use doorway_core::k_exclusion::turnstile::Simple;
use doorway_core::mutex::lamport_74::Bakery;
use doorway_core::registry::Sizes;

/// The question that all checkers are asked.
pub(super) fn search(subject: &Subject, threads: usize) -> Result<Found, String> {
    let &Subject { name, n, k, passages, .. } = subject;
    let check = match name {
        "tsay" => Check::lock(name, n, peterson::Tsay::new),
        "burns-lynch" => Check::lock(name, n, move |site| burns::BurnsLynch::new(site, n)),
        "bakery" => Check::lock(name, n, move |site| Bakery::new(site, n)),
        "am-chain" => Check::lock(name, n, move |site| Chain::new(site, n, k)),
        "turnstile-simple" => Check::lock(name, n, move |site| Simple::new(site, n, k)),
        "peterson-turn-first" => Check::lock(name, n, peterson::TurnFirst::new),
        "hyman" => Check::lock(name, n, hyman::Hyman::new),
        "szymanski-three-bits" => Check::lock(name, n, move |site| szymanski::ThreeBits::new(site, n, false)),
        // The faulty ones of the catalogue.
        _ => {
            let subject = subject::find(name).map_err(|error| error.to_string())?;
            Check::of(name, n, move |rules| subject.world(Sizes { n, k }, rules))
        }
    };
    let report = check
        .property(Property::exclusion("exclusion", k))
        .property(Property::never_stuck("never-stuck"))
        .with(move |search| search.passages(passages.map(u32::from)).threads(threads).believe_keep(true))
        .run()
        .map_err(|error| error.to_string())?;
    let steps = report.failure().and_then(|failure| Some(failure.trace.as_ref()?.len()));
    if steps.is_none() {
        report.assert_holds();
    }
    Ok(Found { states: Some(report.states), steps, tries: None })
}
