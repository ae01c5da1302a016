//! The register table: which read-write algorithms work with which kind of register.
//!
//! Every variable of an algorithm becomes the same kind, whatever it declares, and a search decides
//! whether the promises of every solution of its problem still hold. A cell that holds names the
//! instance and the number of states; one that fails names a run.

use crate::checked::Kind;
use crate::explore::Stop;
use crate::replay::Token;
use crate::sim::{Rules, TextError};
use crate::subject::Subject;
use crate::{Explorer, Property, Report, claims};
use doorway_core::memory::{Instruction, Register};
use doorway_core::registry::{self, Info, Sizes};
use serde::Serialize;
use std::fmt::{self, Write as _};

/// The kinds, the strongest first.
pub const KINDS: [Register; 4] = [Register::Atomic, Register::Regular, Register::Monotone, Register::Safe];

/// An algorithm with one kind of register.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The algorithm, as the registry names it.
    pub id: &'static str,
    /// The kind of all its variables.
    pub registers: String,
    /// Whether it claims to work with them.
    pub claimed: bool,
    /// What was found.
    pub outcome: Outcome,
    /// How many processes.
    pub n: usize,
    /// How many processes are let in.
    pub k: usize,
    /// Passages of each process; `None` means no bound.
    pub passages: Option<u32>,
    /// How many states were found.
    pub states: usize,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The search was complete, and everything holds.
    Holds,
    /// A property fails.
    Fails {
        /// The property.
        property: String,
        /// The token for `doorway replay`.
        token: String,
    },
    /// Nothing was found, but the search was not complete: this decides nothing.
    NotComplete,
    /// The search was stopped before it reached this cell.
    NotLookedAt,
}

/// The limit on states for one cell.
pub const STATES: usize = 600_000;

/// The algorithms that only read and write.
pub fn algorithms() -> impl Iterator<Item = &'static Info> {
    let plain = |i: &Instruction| matches!(i, Instruction::Read | Instruction::Write);
    registry::ALL.iter().filter(move |info| info.instructions.iter().all(plain))
}

/// Searches one cell: the default instance, and if that is too large, smaller ones until one is
/// not. A known run that breaks it replaces the search.
///
/// # Errors
/// Returns an error if the text breaks the rules of replay.
pub fn cell(
    info: &'static Info,
    registers: Register,
    states: usize,
    stop_when: fn() -> bool,
) -> Result<Cell, TextError> {
    cell_among(info, registers, &instances(info), states, stop_when)
}

/// [`cell`] with the first of these instances that is not too large.
///
/// ```
/// use doorway_check::tables::registers::{Outcome, cell_among, instances};
/// use doorway_core::memory::Register;
/// let fewest = doorway_core::registry::find("peterson-fischer").unwrap();
/// let cell = cell_among(fewest, Register::Atomic, &instances(fewest), 1000, || false)?;
/// assert_eq!((cell.outcome, cell.states), (Outcome::Holds, 127));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
///
/// # Errors
/// The same as for [`cell`].
///
/// # Panics
/// Panics if there is no instance.
pub fn cell_among(
    info: &'static Info,
    registers: Register,
    instances: &[(Sizes, Option<u32>)],
    states: usize,
    stop_when: fn() -> bool,
) -> Result<Cell, TextError> {
    let subject = Subject::from(info);
    if let Some((_, run)) = Kind::find(info).breaks_on.iter().find(|(kind, _)| *kind == registers) {
        return Ok(known(info, registers, run));
    }
    let mut found = None;
    for &(sizes, passages) in instances {
        let rules = Rules { registers, force_registers: true, passages, ..Rules::default() };
        let report = search(&subject, sizes, rules, states, stop_when)?;
        let outcome = outcome(&subject, sizes, &report);
        let is_last = outcome != Outcome::NotComplete || report.stop == Some(Stop::Interrupted);
        let cell = Cell {
            id: info.id,
            registers: registers.to_string(),
            claimed: registers >= info.registers,
            outcome,
            n: sizes.n,
            k: sizes.k,
            passages,
            states: report.states,
        };
        if is_last {
            return Ok(cell);
        }
        found.get_or_insert(cell);
    }
    Ok(found.expect("there is at least one instance"))
}

fn not_looked_at(info: &'static Info, registers: Register) -> Cell {
    Cell {
        id: info.id,
        registers: registers.to_string(),
        claimed: registers >= info.registers,
        outcome: Outcome::NotLookedAt,
        n: info.defaults.n,
        k: info.defaults.k,
        passages: info.defaults.passages,
        states: 0,
    }
}

fn known(info: &'static Info, registers: Register, run: &str) -> Cell {
    let token: Token = run.parse().expect("what is known is a token");
    Cell {
        id: info.id,
        registers: registers.to_string(),
        claimed: registers >= info.registers,
        outcome: Outcome::Fails { property: token.property.clone(), token: run.to_owned() },
        n: token.sizes.n,
        k: token.sizes.k,
        passages: token.rules.passages,
        states: token.actions.len() + 1,
    }
}

/// The default instance, and smaller ones: sizes, and passages of each process.
#[must_use]
pub fn instances(info: &'static Info) -> Vec<(Sizes, Option<u32>)> {
    let defaults = info.defaults;
    let full = Sizes { n: defaults.n, k: defaults.k };
    let fewer = |most: u32| (1..=most).rev().map(Some);
    let mut all = vec![(full, defaults.passages)];
    all.extend(fewer(defaults.passages.map_or(2, |passages| passages - 1)).map(|passages| (full, passages)));
    if full.n > 2 {
        all.extend(fewer(4).map(|passages| (Sizes { n: 2, k: 1 }, passages)));
    }
    all
}

/// What a text as printed was printed for: the claims of the repaired text.
fn promised(info: &'static Info, sizes: Sizes) -> Vec<Property> {
    let repaired = info.id.trim_end_matches("-as-printed");
    let claims_it = registry::find(repaired).unwrap_or(info);
    claims::of_the_problem(claims_it, sizes)
}

fn search(
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    states: usize,
    stop_when: fn() -> bool,
) -> Result<Report, TextError> {
    let promised = promised(subject.info, sizes);
    let rules = rules.for_properties(&promised);
    let explorer = Explorer::new(sizes.n).properties(promised).max_states(states).stop_when(stop_when);
    let explorer = explorer.believe_keep(true); // `doorway check` compares it
    explorer.explore(subject.world(sizes, rules)?)
}

fn outcome(subject: &Subject, sizes: Sizes, report: &Report) -> Outcome {
    match report.failure() {
        Some(verdict) => {
            let token =
                verdict.trace.as_ref().map(|trace| Token::new(subject, sizes, report.rules, &verdict.name, trace));
            Outcome::Fails {
                property: verdict.name.to_string(),
                token: token.map_or(String::new(), |token| token.to_string()),
            }
        }
        None if report.complete => Outcome::Holds,
        None => Outcome::NotComplete,
    }
}

/// The table for the wanted algorithms. Once `stop_when` returns true, no further cell is searched.
///
/// # Errors
/// Returns an error if a text breaks the rules of replay.
pub fn table(
    states: usize,
    wanted: &dyn Fn(&str) -> bool,
    stop_when: fn() -> bool,
    progress: &mut dyn FnMut(&Cell),
) -> Result<Vec<Cell>, TextError> {
    let mut cells = Vec::new();
    for info in algorithms().filter(|info| wanted(info.id)) {
        for kind in KINDS {
            let cell = if stop_when() { not_looked_at(info, kind) } else { cell(info, kind, states, stop_when)? };
            progress(&cell);
            cells.push(cell);
        }
    }
    Ok(cells)
}

/// An instance, as named in the table.
///
/// ```
/// use doorway_check::tables::registers::instance;
/// use doorway_core::registry::Sizes;
/// assert_eq!(instance(Sizes { n: 2, k: 1 }, None), "(2,1), unbounded");
/// assert_eq!(instance(Sizes { n: 3, k: 2 }, Some(2)), "(3,2), 2 passages");
/// ```
#[must_use]
pub fn instance(Sizes { n, k }: Sizes, passages: Option<u32>) -> String {
    let passages = match passages {
        None => "unbounded".to_owned(),
        Some(1) => "1 passage".to_owned(),
        Some(passages) => format!("{passages} passages"),
    };
    format!("({n},{k}), {passages}")
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instance = instance(Sizes { n: self.n, k: self.k }, self.passages);
        match &self.outcome {
            Outcome::Holds => write!(f, "holds: {instance}, {} states", self.states),
            Outcome::Fails { property, .. } => write!(f, "**fails**: {property} at {instance}"),
            Outcome::NotComplete => write!(f, "not complete: {instance}, {} states", self.states),
            Outcome::NotLookedAt => f.write_str("not looked at"),
        }
    }
}

/// The table in Markdown, and the runs that break a property.
#[must_use]
pub fn markdown(cells: &[Cell]) -> String {
    let mut out = String::from("| id | claims |");
    KINDS.iter().for_each(|kind| out += &format!(" {kind} |"));
    out += "\n| --- | --- | --- | --- | --- | --- |\n";
    for row in cells.chunk_by(|a, b| a.id == b.id) {
        let weakest = row.iter().rev().find(|cell| cell.claimed).map_or("", |cell| &cell.registers);
        let _ = write!(out, "| `{}` | {weakest} |", row[0].id);
        row.iter().for_each(|cell| out += &format!(" {cell} |"));
        out.push('\n');
    }
    for cell in cells {
        if let Outcome::Fails { property, token } = &cell.outcome {
            let _ =
                write!(out, "\n`{}`, {} registers, {property}:\n`doorway replay {token}`\n", cell.id, cell.registers);
        }
    }
    out
}
