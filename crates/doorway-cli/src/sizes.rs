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

/// How large an algorithm is.
#[derive(clap::Args)]
pub(crate) struct SizeArgs {
    /// Number of processes [default: the algorithm's]
    #[arg(long)]
    pub(crate) n: Option<usize>,
    /// Number of places: how many processes may be inside at once [default: the algorithm's]
    #[arg(long)]
    pub(crate) k: Option<usize>,
    /// Number of rooms, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    rooms: Option<usize>,
    /// Number of slots, for algorithms that have them [default: the algorithm's]
    #[arg(long)]
    slots: Option<usize>,
}

impl SizeArgs {
    /// The first option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let all = [("n", self.n), ("k", self.k), ("rooms", self.rooms), ("slots", self.slots)];
        all.into_iter().find_map(|(name, given)| given.map(|_| name))
    }

    /// The first option that was given and that slots between machines do not have.
    pub(crate) fn not_of_leases(&self) -> Option<&'static str> {
        let all = [("rooms", self.rooms), ("slots", self.slots)];
        all.into_iter().find_map(|(name, given)| given.map(|_| name))
    }

    /// What is not given is the default. Which of `--k`, `--rooms` and `--slots` there is depends
    /// on the algorithm.
    pub(crate) fn of(&self, subject: &Subject) -> Result<Sizes, String> {
        sizes(subject, self.n, [(Second::Places, self.k), (Second::Rooms, self.rooms), (Second::Slots, self.slots)])
    }
}

fn sizes(subject: &Subject, n: Option<usize>, given: [(Second, Option<usize>); 3]) -> Result<Sizes, String> {
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
