//! A run in one line: tokens that replay it.
//!
//! ```text
//! dw1/am-chain/3,1/-/c1/atomic/never-stuck/0x2.0c.1x4/9c2f01aa
//!  │      │     │  │  │    │         │            │         └ a number for what the steps did
//!  │      │     │  │  │    │         │            └ the steps: twice p0, p0 crashes, four times p1
//!  │      │     │  │  │    │         └ the property it breaks
//!  │      │     │  │  │    └ registers (a ! behind: weaker than declared)
//!  │      │     │  │  └ at most one crash
//!  │      │     │  └ passages unbounded
//!  │      │     └ n, k
//!  │      └ the algorithm
//!  └ the version of this format
//! ```
//!
//! An action is a process and what happens to it: nothing for a step, `s` and a number for the
//! value that a torn read returns or a choice picks, `g` for giving up, `c` for a crash, `t` for
//! waking up on its own, `r` for a new process on the seat of a dead one. `x` and a number repeat
//! it. A final `@` and a number give the step from which the run repeats for ever.
//!
//! Letters behind the crashes give the other rules that differ from the [default](Rules): `a`
//! alike, `g` give-ups, `o` order, `w` wakes, `t` timed sleeps; of [deaths](Deaths), `l` late, `h`
//! hints, `n` no rechecks, `k` no reclaims, `s` no suspects; and with a number, `r` restarts, `b`
//! line, `f` lag.
//!
//! Algorithms that are not in the catalogue have names that begin with `own:`. Only the
//! [`Check`](crate::Check) of such an algorithm can replay its tokens. In names, a slash and what a
//! shell would not leave alone are written as `%` and two digits.

use crate::explore::{again, breaks};
use crate::property::Property;
use crate::sim::{Action, Deaths, Rules, TextError, What, World};
use crate::subject::{self, Subject, Unknown};
use crate::trace::Trace;
use crate::viewer::{Record, Recorder};
use doorway_core::memory::Register;
use doorway_core::registry::{SizeError, Sizes};
use std::fmt;
use std::str::FromStr;

/// A run that can be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// The algorithm, or `mutant:` and the mutant.
    pub id: String,
    /// Its sizes.
    pub sizes: Sizes,
    /// The rules of the machine.
    pub rules: Rules,
    /// The property it breaks.
    pub property: String,
    /// The actions of the run.
    pub actions: Vec<Action>,
    /// The step from which the run repeats for ever.
    pub repeats_from: Option<usize>,
    fingerprint: u32,
}

/// Why a token cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// It is not a token, or is incomplete.
    Malformed(String),
    /// Its run has too many steps.
    TooLong,
    /// It has another version.
    Version(String),
    /// It names an unknown algorithm.
    Unknown(Unknown),
    /// The algorithm does not support its sizes.
    Sizes(SizeError),
    /// The algorithm has changed since: this step cannot happen, or the steps do something else.
    Stale(Option<usize>),
    /// The algorithm has no such property.
    NoProperty {
        /// The algorithm.
        id: String,
        /// The property that the token names.
        property: String,
    },
    /// It is of another algorithm, or of another number of processes.
    Elsewhere {
        /// The algorithm and the number of processes of the token.
        of: (String, usize),
        /// Those that were asked to replay it.
        here: (String, usize),
    },
    /// The text cannot be run by replay.
    Text(TextError),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(part) => {
                write!(f, "{part:?} cannot be read as a token; copy the whole token, from dw1/ on")
            }
            Self::TooLong => write!(f, "the run has more than {MOST_ACTIONS} steps; give a shorter one"),
            Self::Version(version) => {
                write!(
                    f,
                    "the token has version {version:?}, and this program reads dw1; check the algorithm again for a new one"
                )
            }
            Self::Unknown(e) => e.fmt(f),
            Self::Sizes(e) => e.fmt(f),
            Self::Stale(Some(step)) => {
                write!(
                    f,
                    "the token is stale: step {step} cannot happen any more; check the algorithm again for a new one"
                )
            }
            Self::Stale(None) => {
                write!(
                    f,
                    "the token is stale or damaged: its steps do something else now; check the algorithm again for a new \
                     one"
                )
            }
            Self::NoProperty { id, property } => write!(
                f,
                "the token is damaged: {id} has no property {property:?}; copy the whole token, from dw1/ on, or check {id} \
                 again for a new one"
            ),
            Self::Elsewhere { of: (id, n), here: (own, m) } if id == own => write!(
                f,
                "the token is of {id} with {n} processes, and here it has {m}; check it with {n}, or get a new token"
            ),
            Self::Elsewhere { of: (id, _), here: (own, _) } => {
                write!(f, "the token is of {id}, and this is {own}; replay it with the check of {id}")
            }
            Self::Text(e) => e.fmt(f),
        }
    }
}
impl std::error::Error for TokenError {}

impl Token {
    /// The token of a trace.
    #[must_use]
    pub fn new(subject: &Subject, sizes: Sizes, rules: Rules, property: &str, trace: &Trace) -> Self {
        Self::of(subject.id(), sizes, rules, property, trace)
    }

    pub(crate) fn of(id: String, sizes: Sizes, rules: Rules, property: &str, trace: &Trace) -> Self {
        Self {
            id,
            sizes,
            rules,
            property: property.to_owned(),
            actions: trace.actions.clone(),
            repeats_from: trace.repeats_from,
            fingerprint: fingerprint(trace),
        }
    }

    /// Replays the run.
    ///
    /// # Errors
    /// Returns an error if the algorithm no longer exists or has changed.
    pub fn replay(&self) -> Result<Trace, TokenError> {
        let subject = self.subject()?;
        let sizes = subject.sizes(Some(self.sizes.n), Some(self.sizes.k)).map_err(TokenError::Sizes)?;
        let mut world = subject.world(sizes, self.rules).map_err(TokenError::Text)?;
        self.replay_on(&mut world)
    }

    /// The algorithm of the catalogue.
    fn subject(&self) -> Result<Subject, TokenError> {
        subject::find(&self.id).map_err(TokenError::Unknown)
    }

    /// Replays the run on a machine that was built for it.
    pub(crate) fn replay_on(&self, world: &mut World) -> Result<Trace, TokenError> {
        let initial = world.initial();
        if let Some(bad) = self.actions.iter().position(|a| a.process >= world.processes()) {
            return Err(TokenError::Stale(Some(bad + 1)));
        }
        if self.repeats_from.is_some() {
            // A cycle may close only because local states are merged, as they were in the search.
            world.survey(&initial).map_err(TokenError::Text)?;
        }
        let mut trace = Trace::of(world, &initial, &self.actions).map_err(TokenError::Text)?;
        if trace.len() < self.actions.len() {
            return Err(TokenError::Stale(Some(trace.len() + 1)));
        }
        if fingerprint(&trace) != self.fingerprint {
            return Err(TokenError::Stale(None));
        }
        if let Some(from) = self.repeats_from {
            let mut states = vec![initial.clone()];
            for &action in &self.actions {
                let mut next = states[states.len() - 1].clone();
                world.act(&mut next, action).map_err(TokenError::Text)?;
                states.push(next);
            }
            let (before, last) = (states.get(from), states.last());
            if !before.zip(last).is_some_and(|(before, last)| world.is_alike(before, last)) {
                return Err(TokenError::Stale(None));
            }
            trace.repeats(from, Vec::new());
        }
        again(world, &initial, &self.actions, self.repeats_from, None).map_err(TokenError::Text)?;
        Ok(trace)
    }

    /// Replays the run, and judges whether it breaks the property that the token names. The number
    /// at the end of a token vouches for the steps only.
    ///
    /// ```
    /// use doorway_check::replay::Token;
    /// let stuck = "dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951";
    /// assert!(stuck.parse::<Token>()?.breaks_its_property()?);
    /// let two_inside = stuck.replace("never-stuck", "k-exclusion");
    /// assert!(!two_inside.parse::<Token>()?.breaks_its_property()?);
    /// # Ok::<(), doorway_check::replay::TokenError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the algorithm has no such property, or no longer exists.
    pub fn breaks_its_property(&self) -> Result<bool, TokenError> {
        let property = self.named_property()?;
        let rules = self.rules.for_properties(std::slice::from_ref(&property));
        let mut world = self.subject()?.world(self.sizes, rules).map_err(TokenError::Text)?;
        self.breaks_on(&mut world, &property)
    }

    /// Whether the run breaks a property, on a machine that tracks what the property needs.
    pub(crate) fn breaks_on(&self, world: &mut World, property: &Property) -> Result<bool, TokenError> {
        world.watch_for([property]);
        if self.actions.iter().any(|action| action.process >= world.processes()) {
            return Ok(false);
        }
        breaks(world, &self.actions, self.repeats_from, property).map_err(TokenError::Text)
    }

    /// Replays the run, with everything that a [page](crate::viewer) shows of it.
    ///
    /// # Errors
    /// The same as for [`replay`](Self::replay) and
    /// [`breaks_its_property`](Self::breaks_its_property).
    pub fn record(&self) -> Result<Record, TokenError> {
        self.replay()?;
        let breaks = self.breaks_its_property()?;
        let (subject, named) = (self.subject()?, self.named_property()?);
        let world = subject.world(self.sizes, self.rules.for_properties(std::slice::from_ref(&named)));
        let world = world.map_err(TokenError::Text)?;
        let mut claims = subject.claims(self.sizes);
        if !claims.iter().any(|claim| claim.name() == named.name()) {
            claims.insert(0, named);
        }
        let mut recorder = Recorder::new(&world, claims).map_err(TokenError::Text)?;
        let record = recorder.record(&self.actions, self.repeats_from).map_err(TokenError::Text)?;
        let record = record.titled(subject.heading(), subject.describes(self.sizes, self.rules));
        Ok(Record { property: Some((self.property.clone(), breaks)), token: Some(self.to_string()), ..record })
    }

    /// The property that the token names.
    ///
    /// # Errors
    /// Returns an error if the algorithm has no such property, no longer exists, or does not
    /// support the sizes.
    pub fn named_property(&self) -> Result<Property, TokenError> {
        let subject = self.subject()?;
        let sizes = subject.sizes(Some(self.sizes.n), Some(self.sizes.k)).map_err(TokenError::Sizes)?;
        let mut known = subject.askable(sizes).into_iter().chain(subject.claims(sizes));
        let named = known.find(|known| known.name() == self.property);
        named.ok_or_else(|| TokenError::NoProperty { id: self.id.clone(), property: self.property.clone() })
    }
}

/// These rules, with those of a token that tokens write down.
pub(crate) fn with_written(token: Rules, rules: Rules) -> Rules {
    Rules {
        passages: token.passages,
        crashes: token.crashes,
        deaths: token.deaths,
        registers: token.registers,
        force_registers: token.force_registers,
        alike: token.alike,
        give_ups: token.give_ups,
        order: token.order,
        wakes: token.wakes,
        timed_sleeps: token.timed_sleeps,
        line: token.line,
        lag: token.lag,
        ..rules
    }
}

/// A name as tokens write it: in one word, without slashes.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_whitespace() || c.is_control() || "/%'\"\\`$".contains(c) {
            let mut bytes = [0; 4];
            out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// Reads what [`escaped`] wrote.
fn unescaped(word: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The longest run of a token. A few words can ask for billions of steps.
const MOST_ACTIONS: usize = 100_000;

/// A number that identifies the run, with high probability: FNV-1a over the steps and the words
/// that describe them. Changing these words makes old tokens stale.
fn fingerprint(trace: &Trace) -> u32 {
    let mut hash = 0x811c_9dc5u32;
    for step in &trace.steps {
        for byte in format!("{} {} {} {}\n", step.process, step.part, step.statement, step.did).bytes() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rules { passages, crashes, registers, force_registers, .. } = self.rules;
        let passages = passages.map_or("-".to_owned(), |p| p.to_string());
        let force = if force_registers { "!" } else { "" };
        let Deaths { restarts, late, hints, rechecks, reclaims, suspects } = self.rules.deaths;
        let deaths = [("l", late), ("h", hints), ("n", !rechecks), ("k", !reclaims), ("s", !suspects)];
        let deaths: String = deaths.into_iter().filter_map(|(flag, so)| so.then_some(flag)).collect();
        let restarts = if restarts > 0 { format!("r{restarts}") } else { String::new() };
        let number = |letter: char, most: Option<u32>| most.map_or(String::new(), |most| format!("{letter}{most}"));
        let flags = format!(
            "{}{}{}{}{}{deaths}{restarts}{}{}",
            if self.rules.alike { "a" } else { "" },
            if self.rules.give_ups { "g" } else { "" },
            if self.rules.order { "o" } else { "" },
            if self.rules.wakes { "w" } else { "" },
            if self.rules.timed_sleeps { "t" } else { "" },
            number('b', self.rules.line),
            number('f', self.rules.lag)
        );
        let Sizes { n, k } = self.sizes;
        write!(
            f,
            "dw1/{}/{n},{k}/{passages}/c{crashes}{flags}/{registers}{force}/{}/",
            escaped(&self.id),
            escaped(&self.property)
        )?;
        write!(f, "{}", written(&self.actions))?;
        if let Some(from) = self.repeats_from {
            write!(f, "@{from}")?;
        }
        write!(f, "/{:08x}", self.fingerprint)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.process)?;
        match self.what {
            What::Step => Ok(()),
            What::Sees(i) => write!(f, "s{i}"),
            What::GiveUp => write!(f, "g"),
            What::Crash => write!(f, "c"),
            What::CrashWakes(i) => write!(f, "c{i}"),
            What::Restart => write!(f, "r"),
            What::TimesOut => write!(f, "t"),
        }
    }
}

impl FromStr for Action {
    type Err = TokenError;

    fn from_str(word: &str) -> Result<Self, TokenError> {
        let bad = || TokenError::Malformed(word.to_owned());
        let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        let what = match &word[end..] {
            "" => What::Step,
            "g" => What::GiveUp,
            "c" => What::Crash,
            "r" => What::Restart,
            wakes if wakes.starts_with('c') => What::CrashWakes(wakes[1..].parse().map_err(|_| bad())?),
            "t" => What::TimesOut,
            sees => What::Sees(sees.strip_prefix('s').and_then(|i| i.parse().ok()).ok_or_else(bad)?),
        };
        Ok(Self { process: word[..end].parse().map_err(|_| bad())?, what })
    }
}

/// The actions of a run, as tokens write them.
///
/// ```
/// use doorway_check::replay::{read, written};
/// let actions = read("0.1x3.0c")?;
/// assert_eq!(actions.len(), 5);
/// assert_eq!(written(&actions), "0.1x3.0c");
/// # Ok::<(), doorway_check::replay::TokenError>(())
/// ```
#[must_use]
pub fn written(actions: &[Action]) -> String {
    let words = actions.chunk_by(|a, b| a == b).map(|same| match same.len() {
        1 => same[0].to_string(),
        times => format!("{}x{times}", same[0]),
    });
    words.collect::<Vec<_>>().join(".")
}

/// Reads what [`written`] wrote.
///
/// # Errors
/// Returns an error if a word is not an action.
pub fn read(actions: &str) -> Result<Vec<Action>, TokenError> {
    let mut happens = Vec::new();
    for word in actions.split('.').filter(|word| !word.is_empty()) {
        let bad = || TokenError::Malformed(word.to_owned());
        let (action, times) = word.split_once('x').unwrap_or((word, "1"));
        let action: Action = action.parse().map_err(|_| bad())?;
        let times: usize = times.parse().map_err(|_| bad())?;
        if times > MOST_ACTIONS - happens.len() {
            return Err(TokenError::TooLong);
        }
        happens.extend(std::iter::repeat_n(action, times));
    }
    Ok(happens)
}

/// The digits at the beginning, and what follows them.
fn digits_and_rest(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let parts: Vec<&str> = text.trim().split('/').collect();
        let bad = |part: &str| TokenError::Malformed(part.to_owned());
        let [version, id, sizes, passages, crashes, registers, property, actions, fingerprint] = parts[..] else {
            let version = parts[0];
            let other = version.len() < 8 && version.starts_with("dw") && version != "dw1";
            return Err(if other { TokenError::Version(version.to_owned()) } else { bad(text) });
        };
        if version != "dw1" {
            return Err(TokenError::Version(version.to_owned()));
        }
        let number = |s: &str| s.parse::<usize>().map_err(|_| bad(s));
        let (n, k) = sizes.split_once(',').ok_or_else(|| bad(sizes))?;
        let sizes = Sizes::new(number(n)?, number(k)?).map_err(TokenError::Sizes)?;
        let (kind, force_registers) = registers.strip_suffix('!').map_or((registers, false), |kind| (kind, true));
        let kinds = [Register::Safe, Register::Monotone, Register::Regular, Register::Atomic];
        let (digits, mut rest) = digits_and_rest(crashes.strip_prefix('c').ok_or_else(|| bad(crashes))?);
        let crashes_given = number(digits)?;
        let (mut flags, mut numbers) = (String::new(), [None; 3]);
        while let Some(letter) = rest.chars().next() {
            let (digits, after) = digits_and_rest(&rest[letter.len_utf8()..]);
            match ("rbf".find(letter), digits) {
                (Some(at), _) => numbers[at] = Some(digits.parse::<u32>().map_err(|_| bad(crashes))?),
                (None, "") if "agowtlhnks".contains(letter) => flags.push(letter),
                _ => return Err(bad(crashes)),
            }
            rest = after;
        }
        let [restarts, line, lag] = numbers;
        let rules = Rules {
            passages: match passages {
                "-" => None,
                p => Some(p.parse().map_err(|_| bad(p))?),
            },
            crashes: crashes_given,
            deaths: Deaths {
                restarts: restarts.unwrap_or(0) as usize,
                late: flags.contains('l'),
                hints: flags.contains('h'),
                rechecks: !flags.contains('n'),
                reclaims: !flags.contains('k'),
                suspects: !flags.contains('s'),
            },
            registers: kinds.into_iter().find(|k| k.to_string() == kind).ok_or_else(|| bad(registers))?,
            force_registers,
            alike: flags.contains('a'),
            give_ups: flags.contains('g'),
            order: flags.contains('o'),
            wakes: flags.contains('w'),
            timed_sleeps: flags.contains('t'),
            line,
            lag,
            ..Rules::default()
        };
        let (list, repeats_from) = match actions.split_once('@') {
            Some((list, from)) => (list, Some(number(from)?)),
            None => (actions, None),
        };
        let happens = read(list)?;
        let fingerprint = u32::from_str_radix(fingerprint, 16).map_err(|_| bad(fingerprint))?;
        Ok(Self {
            id: unescaped(id).ok_or_else(|| bad(id))?,
            sizes,
            rules,
            property: unescaped(property).ok_or_else(|| bad(property))?,
            actions: happens,
            repeats_from,
            fingerprint,
        })
    }
}
