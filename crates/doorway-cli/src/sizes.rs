//! Checks the sizes and numbers that the user gave, and names the options in its messages.

use doorway_check::subject::Subject;
use doorway_core::memory::Pid;
use doorway_core::registry::{Second, Sizes};
use std::num::NonZero;
use std::str::FromStr;

/// A number that is at least one.
pub(crate) fn from_one<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number, at least 1".to_owned())
}

/// A limit on the number of states.
pub(crate) fn states(text: &str) -> Result<NonZero<usize>, String> {
    let advice = "give a whole number, at least 1: a search of no states finds nothing";
    text.parse().map_err(|_| advice.to_owned())
}

/// `--n`, and which of `--k`, `--rooms` and `--slots` the algorithm has; what is not given is the
/// default.
pub(crate) fn sizes(
    subject: &Subject,
    n: Option<usize>,
    [k, rooms, slots]: [Option<usize>; 3],
) -> Result<Sizes, String> {
    let given = [(Second::Places, k), (Second::Rooms, rooms), (Second::Slots, slots)];
    let second = subject.info.second(given).map_err(|e| e.to_string())?;
    let has = subject.info.problem.second();
    if let (Some(asked), Second::Rooms | Second::Slots) = (second, has) {
        let option = has.name();
        if asked == 0 {
            let one = option.trim_end_matches('s');
            return Err(format!("--{option} 0 leaves nothing to check; give at least one {one}"));
        }
        if asked > Pid::LIMIT {
            return Err(format!("--{option} {asked} is more than there can be; give at most {}", Pid::LIMIT));
        }
    }
    let sizes = subject.sizes(n, second).map_err(|e| e.to_string())?;
    match subject.most_slots(sizes.n) {
        Some(most) if sizes.k > most => Err(format!(
            "{} with n={} is built with up to {most} slots, not {}; give fewer --slots",
            subject.id(),
            sizes.n,
            sizes.k
        )),
        _ => Ok(sizes),
    }
}
