//! How a machine runs, by the options that `check`, `explore`, `explain` and `faults` share; and
//! the refusal of those that would have no effect.

use crate::sizes;
use doorway_check::claims;
use doorway_check::sim::{Deaths, Rules};
use doorway_check::subject::Subject;
use doorway_core::memory::Register;
use doorway_core::registry::Sizes;
use std::num::NonZero;

/// How the machine runs.
#[derive(clap::Args)]
pub(crate) struct RuleArgs {
    /// Passages per process: a number, or "unbounded" [default: the algorithm's]
    #[arg(long, value_parser = passages)]
    pub(crate) passages: Option<Passages>,
    /// Let up to this many processes crash, at any step outside their remainders [default: 0, or
    /// what the mutant needs]
    #[arg(long, value_name = "F")]
    pub(crate) crashes: Option<usize>,
    /// Seats: let up to this many dead processes be replaced by a new process on the same seat
    #[arg(long, value_name = "R", requires = "crashes")]
    restarts: Option<usize>,
    /// Seats: let a death be noticed late, in a step of its own
    #[arg(long, requires = "crashes")]
    late_deaths: bool,
    /// Seats: let a death wake a sleeper that watches the seat
    #[arg(long, requires = "crashes")]
    hints: bool,
    /// Seats: let no sleeper wake up on its own
    #[arg(long, requires = "crashes")]
    no_rechecks: bool,
    /// Seats: report no death, so that everything that a dead process holds is lost
    #[arg(long, requires = "crashes")]
    no_reclaims: bool,
    /// Seats: let no process look for dead owners before the first death. Explores fewer states,
    /// and misses runs in which a process dies while another is already looking
    #[arg(long, requires = "crashes")]
    no_suspects: bool,
    /// Weaken each variable to this kind of register (safe, monotone, regular or atomic), but no
    /// further than it declares [default: atomic, or what the mutant needs]
    #[arg(long, value_parser = register)]
    registers: Option<Register>,
    /// Let a process give up, wherever the text allows it, at every failed turn of a wait
    #[arg(long)]
    pub(crate) give_ups: bool,
    /// Turnstiles: limit the line. No process starts a passage while this many tickets are
    /// outstanding. The search is complete for this bound
    #[arg(long, value_name = "TICKETS", value_parser = sizes::from_one::<NonZero<u32>>)]
    line: Option<NonZero<u32>>,
    /// Turnstiles: skip runs in which the variable `front` falls further behind than this while no
    /// process waits (only some steps move it). Explores fewer states, and can only find failures
    #[arg(long, value_name = "TICKETS", value_parser = sizes::from_one::<NonZero<u32>>)]
    lag: Option<NonZero<u32>>,
    /// Seats, and dgs and its variants: merge symmetric states. Explores fewer states. Traces of
    /// dgs and its variants are harder to read then
    #[arg(long)]
    alike: bool,
    /// Let waiting processes sleep, and make waking the sleepers a step of its own
    #[arg(long)]
    wakes: bool,
    /// With --wakes: let sleepers also wake up on their own
    #[arg(long, requires = "wakes")]
    timed_sleeps: bool,
    /// With --registers: weaken variables further than they declare
    #[arg(long, requires = "registers")]
    force: bool,
}

/// The name of the first option that was given.
pub(crate) fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(name, _)| *name)
}

impl RuleArgs {
    /// The options that were given, by name.
    fn all(&self) -> [(&'static str, bool); 16] {
        [
            ("passages", self.passages.is_some()),
            ("crashes", self.crashes.is_some()),
            ("restarts", self.restarts.is_some()),
            ("late-deaths", self.late_deaths),
            ("hints", self.hints),
            ("no-rechecks", self.no_rechecks),
            ("no-reclaims", self.no_reclaims),
            ("no-suspects", self.no_suspects),
            ("registers", self.registers.is_some()),
            ("give-ups", self.give_ups),
            ("line", self.line.is_some()),
            ("lag", self.lag.is_some()),
            ("alike", self.alike),
            ("wakes", self.wakes),
            ("timed-sleeps", self.timed_sleeps),
            ("force", self.force),
        ]
    }

    /// The first option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        first_given(&self.all())
    }

    /// The first option that was given and that slots between machines do not have.
    pub(crate) fn not_of_leases(&self) -> Option<&'static str> {
        let of_both = ["passages", "crashes", "give-ups"];
        self.all().into_iter().find(|(name, given)| *given && !of_both.contains(name)).map(|(name, _)| name)
    }

    /// The rules; what is not given is as the algorithm or the mutant needs it.
    pub(crate) fn of(&self, subject: &Subject, sizes: Sizes) -> Result<Rules, String> {
        self.refuse_what_has_no_effect(subject, sizes)?;
        let usual = subject.rules();
        Ok(Rules {
            passages: self.passages.map_or(subject.defaults().passages, |p| p.0),
            crashes: self.crashes.unwrap_or(usual.crashes.min(sizes.n)),
            deaths: Deaths {
                restarts: self.restarts.unwrap_or(0),
                late: self.late_deaths,
                hints: self.hints,
                rechecks: !self.no_rechecks,
                reclaims: !self.no_reclaims,
                suspects: !self.no_suspects,
            },
            registers: self.registers.unwrap_or(usual.registers),
            force_registers: self.force,
            give_ups: self.give_ups || usual.give_ups,
            wakes: self.wakes,
            timed_sleeps: self.timed_sleeps,
            line: self.line.map(NonZero::get),
            lag: self.lag.map(NonZero::get),
            alike: self.alike,
            ..Rules::default()
        })
    }

    /// Refuses an option that would change nothing: its user means something else, or believes that
    /// more is checked than is.
    fn refuse_what_has_no_effect(&self, subject: &Subject, sizes: Sizes) -> Result<(), String> {
        let id = subject.id();
        if self.force && self.registers == Some(Register::Atomic) {
            return Err("--force has no effect on atomic registers; give --registers safe, monotone or regular, or \
                        omit --force"
                .to_owned());
        }
        if self.give_ups && !subject.info.can_give_up {
            return Err(format!("{id} cannot give up: a process that has started must finish; omit --give-ups"));
        }
        let of_seats = [
            ("restarts", self.restarts.is_some()),
            ("late-deaths", self.late_deaths),
            ("hints", self.hints),
            ("no-rechecks", self.no_rechecks),
            ("no-reclaims", self.no_reclaims),
            ("no-suspects", self.no_suspects),
        ];
        if let Some(option) = first_given(&of_seats).filter(|_| !claims::notices_deaths(subject.info)) {
            return Err(format!("{id} does not notice deaths; omit --{option}"));
        }
        let most = sizes.n + self.restarts.unwrap_or(0);
        if let Some(crashes) = self.crashes.filter(|&crashes| crashes > most) {
            let there_are = match sizes.n {
                1 => "the one process".to_owned(),
                n => format!("the {n} processes"),
            };
            return Err(format!("{there_are} cannot crash {crashes} times; give fewer --crashes"));
        }
        let passages = self.passages.map_or(subject.defaults().passages, |p| p.0);
        let has_front = claims::lags(subject.info);
        let bounds = [("line", self.line, claims::counts_for_ever(subject.info)), ("lag", self.lag, has_front)];
        for (option, _, has_one) in bounds.into_iter().filter(|(_, given, _)| given.is_some()) {
            let name = if option == "line" { "line of tickets" } else { "front that can fall behind" };
            if !has_one {
                return Err(format!("{id} has no {name}; omit --{option}"));
            }
            if passages.is_some() {
                return Err(format!(
                    "--{option} applies to unbounded passages only; omit --{option}, or omit --passages"
                ));
            }
        }
        if self.alike && !claims::has_alike(subject.info) {
            return Err(format!("{id} declares no symmetric states to merge; omit --alike"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Passages(pub(crate) Option<u32>);

fn passages(text: &str) -> Result<Passages, String> {
    match (text, text.parse()) {
        ("unbounded", _) => Ok(Passages(None)),
        (_, Ok(n)) if n > 0 => Ok(Passages(Some(n))),
        _ => Err("give a number, at least 1, or \"unbounded\"".to_owned()),
    }
}

fn register(text: &str) -> Result<Register, String> {
    let kinds = [Register::Safe, Register::Monotone, Register::Regular, Register::Atomic];
    kinds.into_iter().find(|kind| kind.to_string() == text).ok_or("give safe, monotone, regular or atomic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_counted_from_one() {
        assert_eq!(passages("3").map(|p| p.0), Ok(Some(3)));
        assert_eq!(passages("unbounded").map(|p| p.0), Ok(None));
        assert!(passages("0").is_err() && passages("many").is_err());
    }
}
