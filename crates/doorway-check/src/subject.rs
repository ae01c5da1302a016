//! Everything that can be checked by name: the algorithms of the registry, and the mutants.

use crate::checked::{Kind, Merges};
use crate::faults::{FaultError, Faults};
use crate::mutants::{self, Mutant};
use crate::sim::{Keep, Rules, Sim, TextError, VarInfo, World};
use crate::{Property, claims, leases};
use doorway_core::memory::Memory as _;
use doorway_core::registry::{self, Defaults, Info, SizeError, Sizes};

/// The prefix of mutants' names.
pub const MUTANT_PREFIX: &str = "mutant:";
/// The prefix of names outside the catalogue; see [`Check`](crate::Check).
pub const OWN_PREFIX: &str = "own:";
/// The separator between a name and its faults.
pub const FAULTS_FOLLOW: char = '+';

/// The cost of a variable: the memory and the machine both store its declaration and full name, and
/// a few states are in use at a time.
const BYTES_OF_A_WORD: u64 = 2 * (size_of::<VarInfo>() as u64 + 48) + 64;
/// The cost of a process: its first local state, and its place in states.
const BYTES_OF_A_PROCESS: u64 = 1024;

/// An algorithm or a mutant of one.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The algorithm.
    pub info: &'static Info,
    /// The mutant, if it is one.
    pub mutant: Option<&'static Mutant>,
    /// Faults that the memory seeds into its text, in addition to those that make it a mutant.
    pub faults: Faults,
}

/// Finds an algorithm or, with the prefix `mutant:`, a mutant. [Faults](crate::faults) may follow a
/// `+`.
///
/// ```
/// let chain = doorway_check::subject::find("am-chain").unwrap();
/// assert!(chain.mutant.is_none());
/// assert!(doorway_check::subject::find("mutant:am-chain-swaps-6-and-7").is_ok());
/// assert_eq!(doorway_check::subject::find("am-chian").unwrap_err().nearest, Some("am-chain"));
/// assert_eq!(doorway_check::subject::find("am-chain+drop:7").unwrap().faults.to_string(), "drop:7");
/// ```
///
/// # Errors
/// Returns an error if there is none of this name; the error suggests the nearest. Also if the text
/// after `+` is not a fault.
pub fn find(id: &str) -> Result<Subject, Unknown> {
    let (name, faults) = id.split_once(FAULTS_FOLLOW).map_or((id, None), |(name, faults)| (name, Some(faults)));
    let found = match name.strip_prefix(MUTANT_PREFIX) {
        None => registry::find(name).map(Subject::from),
        Some(name) => mutants::ALL
            .iter()
            .find(|m| m.name == name)
            .and_then(|m| registry::find(m.of).map(|info| Subject { mutant: Some(m), ..Subject::from(info) })),
    };
    let subject = found.ok_or_else(|| Unknown::new(name))?;
    let faults = faults.map_or(Ok(Faults::NONE), str::parse);
    let faults = faults.map_err(|e| Unknown { id: id.to_owned(), nearest: None, fault: Some(e) })?;
    Ok(Subject { faults, ..subject })
}

impl From<&'static Info> for Subject {
    fn from(info: &'static Info) -> Self {
        Self { info, mutant: None, faults: Faults::NONE }
    }
}

/// There is no algorithm of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// What was asked for.
    pub id: String,
    /// The nearest known name, if one is near.
    pub nearest: Option<&'static str>,
    /// What is wrong with the fault, if the algorithm exists.
    pub fault: Option<FaultError>,
}

impl Unknown {
    fn new(id: &str) -> Self {
        let (prefix, name) = id.strip_prefix(MUTANT_PREFIX).map_or(("", id), |name| (MUTANT_PREFIX, name));
        let names: Vec<&'static str> = if prefix.is_empty() {
            registry::ALL.iter().chain(registry::OBJECTS).map(|info| info.id).chain([leases::ID]).collect()
        } else {
            let of_leases = leases::Mutant::ALL.iter().map(|m| m.name());
            mutants::ALL.iter().map(|m| m.name).chain(of_leases).collect()
        };
        let nearest = names
            .into_iter()
            .map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), known), known))
            .min()
            .filter(|(distance, known)| *distance <= known.len() / 2)
            .map(|(_, known)| known);
        Self { id: id.to_owned(), nearest, fault: None }
    }
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(fault) = &self.fault {
            return fault.fmt(f);
        }
        if leases::Leases::named(&self.id).is_some() {
            let id = leases::ID;
            return write!(f, "{id} has a machine of its own, which only `doorway check` and `doorway replay` know");
        }
        if self.id.starts_with(OWN_PREFIX) {
            return write!(
                f,
                "{} is not in the catalogue; the program that checks it replays its tokens, with `Check::replay`",
                self.id
            );
        }
        write!(f, "there is no algorithm {:?}", self.id)?;
        match self.nearest {
            Some(nearest) if self.id.starts_with(MUTANT_PREFIX) => {
                write!(f, "; did you mean {MUTANT_PREFIX}{nearest}?")
            }
            Some(nearest) => write!(f, "; did you mean {nearest}?"),
            None if self.id.starts_with(MUTANT_PREFIX) => write!(f, "; `doorway list --mutants` lists them"),
            None => write!(f, "; `doorway list` lists them"),
        }
    }
}
impl std::error::Error for Unknown {}

impl Subject {
    /// The name it goes by.
    #[must_use]
    pub fn id(&self) -> String {
        let name = self.mutant.map_or(self.info.id.to_owned(), |m| format!("{MUTANT_PREFIX}{}", m.name));
        if self.faults.is_empty() { name } else { format!("{name}{FAULTS_FOLLOW}{}", self.faults) }
    }

    /// Its name, and what it is.
    #[must_use]
    pub fn heading(&self) -> String {
        format!("{}: {}", self.id(), self.mutant.map_or(self.info.title, |mutant| mutant.change))
    }

    /// Sizes and rules, in words.
    ///
    /// ```
    /// use doorway_check::{sim::Rules, subject};
    /// let chain = subject::find("am-chain").unwrap();
    /// let rules = Rules { crashes: 1, ..Rules::default() };
    /// let about = chain.describes(chain.sizes(Some(3), Some(1)).unwrap(), rules);
    /// assert_eq!(about, "n=3, k=1, atomic registers, up to 1 crash");
    /// ```
    #[must_use]
    pub fn describes(&self, sizes: Sizes, rules: Rules) -> String {
        rules.in_words(format!("n={}, {}={}", sizes.n, self.info.problem.second().name(), sizes.k))
    }

    /// Default sizes: those of the algorithm, or those at which the mutant fails.
    #[must_use]
    pub fn defaults(&self) -> Defaults {
        self.mutant.map_or(self.info.defaults, |m| m.sizes)
    }

    /// Checks sizes, and fills in the defaults.
    ///
    /// # Errors
    /// Returns an error if the algorithm does not support them.
    pub fn sizes(&self, n: Option<usize>, k: Option<usize>) -> Result<Sizes, SizeError> {
        let defaults = self.defaults();
        // Where every process may be inside, `k` follows from `n`.
        let usual = (!self.info.fits.keeps_nobody_out()).then_some(defaults.k);
        self.info.sizes(Some(n.unwrap_or(defaults.n)), k.or(usual))
    }

    /// The largest number of slots for `n` processes, if there is a limit. It is not built with
    /// more.
    #[must_use]
    pub fn most_slots(&self, n: usize) -> Option<usize> {
        (Kind::find(self.info).most_slots)(n)
    }

    /// Roughly how many bytes a machine that runs it needs before its first step, unless its tables
    /// are [sparse](Rules::sparse).
    ///
    /// ```
    /// use doorway_check::subject;
    /// use doorway_core::registry::Sizes;
    /// let chain = subject::find("am-dsm-chain").unwrap();
    /// assert!(chain.bytes(Sizes { n: 3, k: 1 }) < 1 << 20);
    /// assert!(chain.bytes(Sizes { n: 5000, k: 2 }) > 1 << 30);
    /// ```
    #[must_use]
    pub fn bytes(&self, sizes: Sizes) -> u64 {
        let words = (self.info.words)(sizes, Sim::PLENTY);
        words.saturating_mul(BYTES_OF_A_WORD).saturating_add(sizes.n as u64 * BYTES_OF_A_PROCESS)
    }

    /// Everything it claims. Of a mutant, only the claims of every solution of its problem are
    /// checked: its text no longer has the statements that the invariants name.
    #[must_use]
    pub fn claims(&self, sizes: Sizes) -> Vec<Property> {
        match self.mutant {
            None => claims::of(self.info, sizes),
            Some(_) => claims::of_the_problem(self.info, sizes),
        }
    }

    /// Every property that can be checked by name, claimed or not.
    #[must_use]
    pub fn askable(&self, sizes: Sizes) -> Vec<Property> {
        claims::askable(self.info, sizes)
    }

    /// A machine that runs it.
    ///
    /// # Errors
    /// Returns an error if its text breaks the rules of replay.
    pub fn world(&self, sizes: Sizes, rules: Rules) -> Result<World, TextError> {
        let seeded = self.mutant.map_or(Faults::NONE, Mutant::faults);
        // A faulty text may read a variable that it declares unused; then the value must be right.
        let forget = rules.forget && self.faults.is_empty();
        let rules = Rules { faults: seeded.and(self.faults), forget, ..rules };
        let world = match self.mutant.filter(|mutant| mutant.has_a_text()) {
            Some(mutant) => mutant.world(sizes, rules)?,
            None => (Kind::find(self.info).world)(sizes, rules)?,
        };
        Ok(with_canon(world, self.info, sizes, rules))
    }

    /// How many passages of each process to search when counting remote references, by default.
    #[must_use]
    pub fn passages_to_measure(&self) -> Option<u32> {
        if claims::counts_for_ever(self.info) { Some(2) } else { self.defaults().passages }
    }

    /// The rules under which a mutant fails; for an algorithm, those of its default sizes.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.mutant.map_or_else(|| Rules::with_passages(self.info.defaults.passages), Mutant::rules)
    }
}

/// Makes a machine with ever-growing counters finite, and others smaller if the rules say so. A
/// bound on passages bounds counters too. A measured process must make every access itself.
pub(crate) fn with_canon(world: World, info: &Info, sizes: Sizes, rules: Rules) -> World {
    let plain = !rules.sparse && rules.measure.is_none();
    let wanted = match Kind::find(info).merges {
        Merges::Never => false,
        Merges::IfAsked => rules.alike,
        Merges::Wrapping => true,
        Merges::Always { .. } => rules.passages.is_none(),
    };
    if !plain || !wanted {
        return world;
    }
    let world = world.with_canon(|layout| claims::canon(info, sizes, rules, layout));
    // What a process remembers is known from what it keeps.
    if rules.keep == Keep::Ignored { world } else { world.with_numbers(|layout| claims::numbers(info, sizes, layout)) }
}
