//! A run in one line.
//!
//! ```text
//! dl1/leases/2,1/1/d0p1x0g0b0n/fences/0b.0a.0t.1b.1a.1u.0u/5b1f0c2d
//!  │    │     │  │      │        │         │                  └ a number for what the moves did
//!  │    │     │  │      │        │         └ the moves
//!  │    │     │  │      │        └ the claim it breaks
//!  │    │     │  │      └ requests in doubt, pauses, deaths, give-ups and breaks at most;
//!  │    │     │  │        t: the last client tries; n: the resource compares no fences
//!  │    │     │  └ passages of each client
//!  │    │     └ n, k
//!  │    └ the text, or a mutant of it
//!  └ the version of this format
//! ```
//!
//! A final `@` and a number give the move from which the run repeats for ever.

use super::moves::{Move, State};
use super::search::{Failure, shown};
use super::{Claim, Faults, ID, Leases, Mutant};
use crate::subject::MUTANT_PREFIX;
use std::fmt;
use std::str::FromStr;

/// A run that can be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// What was searched.
    pub leases: Leases,
    /// The claim that the run breaks.
    pub claim: Claim,
    /// The moves.
    pub run: Vec<Move>,
    /// The move from which they repeat for ever.
    pub repeats_from: Option<usize>,
    fingerprint: u32,
}

/// Why a token cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// It is not a token of this kind, or is incomplete.
    Malformed(String),
    /// The text has changed since: this move cannot happen, or the moves do something else.
    Stale(Option<usize>),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(part) => {
                write!(f, "{part:?} cannot be read as a token; copy the whole token, from dl1/ on")
            }
            Self::Stale(Some(step)) => {
                write!(f, "the token is stale: move {step} cannot happen any more; check leases again for a new one")
            }
            Self::Stale(None) => {
                write!(f, "the token is stale: its moves do something else now; check leases again for a new one")
            }
        }
    }
}

impl std::error::Error for TokenError {}

/// How tokens of this kind begin.
const VERSION: &str = "dl1";

/// The longest run of a token.
const MOST_MOVES: usize = 100_000;

impl Token {
    pub(super) fn new(leases: Leases, failure: &Failure) -> Self {
        let Failure { claim, run, repeats_from, states } = failure.clone();
        Self { leases, claim, run, repeats_from, fingerprint: fingerprint(&states) }
    }

    /// Whether this text looks like a token of this kind, and not like one of an algorithm.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.trim().split('/').next() == Some(VERSION)
    }

    /// Makes the run again, and judges whether it breaks the claim.
    ///
    /// ```
    /// use doorway_check::leases::{Faults, Leases, Token};
    /// let paused = Leases { faults: Faults { pauses: 1, ..Faults::NONE }, compares: false, ..Leases::new(2, 1) };
    /// let token = paused.check().token().unwrap().to_string();
    /// let (failure, breaks) = token.parse::<Token>()?.replay()?;
    /// assert!(breaks);
    /// assert_eq!(failure.run.len(), 7);
    /// # Ok::<(), doorway_check::leases::TokenError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text has changed.
    pub fn replay(&self) -> Result<(Failure, bool), TokenError> {
        let Self { leases, claim, run, repeats_from, fingerprint: expected } = self.clone();
        let mut state = State::new(&leases);
        let mut at_the_cycle = None;
        let mut goes_by_itself = true;
        for (i, &what) in run.iter().enumerate() {
            if repeats_from == Some(i) {
                at_the_cycle = Some(state.clone().normal());
            }
            let known = state.moves(leases.mutant).into_iter().find(|(known, _)| *known == what);
            let Some((_, by_itself)) = known else { return Err(TokenError::Stale(Some(i + 1))) };
            goes_by_itself &= by_itself || at_the_cycle.is_none();
            state.act(&leases, what);
        }
        let states = shown(&leases, &run);
        if fingerprint(&states) != expected {
            return Err(TokenError::Stale(None));
        }
        let is_stuck = || state.moves(leases.mutant).iter().all(|(_, by_itself)| !by_itself) && !state.is_over();
        let breaks = match claim {
            Claim::NothingLost => is_stuck(),
            Claim::Ends => goes_by_itself && at_the_cycle.is_some_and(|before| before == state.clone().normal()),
            claim => state.failed() == Some(claim),
        };
        Ok((Failure { claim, run, repeats_from, states }, breaks))
    }
}

/// FNV-1a over what the moves did.
fn fingerprint(states: &[String]) -> u32 {
    let bytes = states.iter().flat_map(|state| state.bytes().chain([b'\n']));
    bytes.fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A move in a token: its letter, and whom or what it concerns.
fn letter(what: Move) -> (Option<usize>, char) {
    match what {
        Move::Begins(p) => (Some(p), 'b'),
        Move::IsAnswered(p) => (Some(p), 'a'),
        Move::LosesAnswer(p) => (Some(p), 'l'),
        Move::IsDelayed(p) => (Some(p), 'd'),
        Move::CatchesUp(p) => (Some(p), 'c'),
        Move::Uses(p) => (Some(p), 'u'),
        Move::Leaves(p) => (Some(p), 'e'),
        Move::GivesUp(p) => (Some(p), 'g'),
        Move::LeaseEnds(p) => (Some(p), 't'),
        Move::Renews(p) => (Some(p), 'n'),
        Move::Dies(p) => (Some(p), 'x'),
        Move::Lands(i) => (Some(i), 'r'),
        Move::Breaks(slot) => (Some(slot), 'k'),
        Move::OperatorLooks => (None, 'o'),
        Move::OperatorSees => (None, 's'),
        Move::BreakIsAnswered => (None, 'A'),
        Move::BreakLosesAnswer => (None, 'L'),
        Move::BreakIsDelayed => (None, 'D'),
    }
}

fn read_move(word: &str) -> Option<Move> {
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let (digits, letters) = word.split_at(end);
    let whom = if digits.is_empty() { None } else { Some(digits.parse().ok()?) };
    let of = whom.unwrap_or(0);
    let all = [
        Move::Begins(of),
        Move::IsAnswered(of),
        Move::LosesAnswer(of),
        Move::IsDelayed(of),
        Move::CatchesUp(of),
        Move::Uses(of),
        Move::Leaves(of),
        Move::GivesUp(of),
        Move::LeaseEnds(of),
        Move::Renews(of),
        Move::Dies(of),
        Move::Lands(of),
        Move::Breaks(of),
        Move::OperatorLooks,
        Move::OperatorSees,
        Move::BreakIsAnswered,
        Move::BreakLosesAnswer,
        Move::BreakIsDelayed,
    ];
    let mut chars = letters.chars();
    let (Some(wanted), None) = (chars.next(), chars.next()) else { return None };
    all.into_iter().find(|&what| letter(what) == (whom, wanted))
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Leases { n, k, passages, last_tries, faults, compares, .. } = self.leases;
        let Faults { doubts, pauses, deaths, give_ups, breaks } = faults;
        let flags = format!("{}{}", if last_tries { "t" } else { "" }, if compares { "" } else { "n" });
        write!(f, "{VERSION}/{}/{n},{k}/{passages}/", self.leases.id())?;
        write!(f, "d{doubts}p{pauses}x{deaths}g{give_ups}b{breaks}{flags}/{}/", self.claim)?;
        let word = |&what: &Move| match letter(what) {
            (Some(whom), letter) => format!("{whom}{letter}"),
            (None, letter) => letter.to_string(),
        };
        write!(f, "{}", self.run.iter().map(word).collect::<Vec<_>>().join("."))?;
        if let Some(from) = self.repeats_from {
            write!(f, "@{from}")?;
        }
        write!(f, "/{:08x}", self.fingerprint)
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let bad = |part: &str| TokenError::Malformed(part.to_owned());
        let parts: Vec<&str> = text.trim().split('/').collect();
        let [VERSION, id, sizes, passages, faults, claim, run, fingerprint] = parts[..] else {
            return Err(bad(text));
        };
        let mutant = named(id).ok_or_else(|| bad(id))?;
        let (n, k) = sizes.split_once(',').ok_or_else(|| bad(sizes))?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| bad(text));
        let (faults, last_tries, compares) = read_faults(faults).ok_or_else(|| bad(faults))?;
        let leases = Leases {
            n: number(n)?,
            k: number(k)?,
            passages: passages.parse().map_err(|_| bad(passages))?,
            last_tries,
            faults,
            compares,
            mutant,
        };
        if leases.refuses().is_some() {
            return Err(bad(sizes));
        }
        let claim = Claim::ALL.iter().copied().find(|known| known.to_string() == claim).ok_or_else(|| bad(claim))?;
        let (run, repeats_from) = match run.split_once('@') {
            Some((run, from)) => (run, Some(number(from)?)),
            None => (run, None),
        };
        let words: Vec<&str> = run.split('.').filter(|word| !word.is_empty()).collect();
        if words.len() > MOST_MOVES {
            return Err(bad(words[MOST_MOVES]));
        }
        let run = words.into_iter().map(|word| read_move(word).ok_or_else(|| bad(word))).collect::<Result<_, _>>()?;
        let fingerprint = u32::from_str_radix(fingerprint, 16).map_err(|_| bad(fingerprint))?;
        Ok(Self { leases, claim, run, repeats_from, fingerprint })
    }
}

/// The text, or a mutant of it; `None` if the name is neither.
pub(super) fn named(id: &str) -> Option<Option<Mutant>> {
    let Some(name) = id.strip_prefix(MUTANT_PREFIX) else { return (id == ID).then_some(None) };
    let name = name.strip_prefix(ID)?.strip_prefix('-')?;
    Mutant::ALL.iter().copied().find(|mutant| mutant.id() == name).map(Some)
}

fn read_faults(text: &str) -> Option<(Faults, bool, bool)> {
    let mut rest = text;
    let mut next = |letter: char| {
        let digits = rest.strip_prefix(letter)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        rest = &digits[end..];
        digits[..end].parse::<u8>().ok()
    };
    let faults =
        Faults { doubts: next('d')?, pauses: next('p')?, deaths: next('x')?, give_ups: next('g')?, breaks: next('b')? };
    let (rest, last_tries) = rest.strip_prefix('t').map_or((rest, false), |rest| (rest, true));
    let (rest, compares) = rest.strip_prefix('n').map_or((rest, true), |rest| (rest, false));
    rest.is_empty().then_some((faults, last_tries, compares))
}
