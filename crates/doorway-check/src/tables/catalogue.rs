//! The registry as rows: for `doorway list`, for JSON, and for the tables in the README files.

use crate::leases;
use doorway_core::registry::{self, Bound, CostModel, Defaults, Info};
use serde::Serialize;
use std::collections::BTreeMap;

/// An algorithm, described in words.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Row {
    /// Its name on the command line.
    pub id: &'static str,
    /// What it is.
    pub title: &'static str,
    /// The problem it solves.
    pub problem: String,
    /// Its source.
    pub paper: String,
    /// The figure of the paper.
    pub figure: &'static str,
    /// The instructions its text uses.
    pub instructions: Vec<&'static str>,
    /// The properties that the checker can check.
    pub properties: Vec<&'static str>,
    /// In which order it lets processes in.
    pub fairness: &'static str,
    /// How many crashes it tolerates.
    pub tolerates: String,
    /// The weakest registers it claims to work with.
    pub registers: String,
    /// Remote references of one passage, by cost model.
    pub rmr: BTreeMap<&'static str, String>,
    /// Sizes at which exploring completes.
    pub defaults: DefaultSizes,
}

/// Default sizes.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct DefaultSizes {
    /// Processes.
    pub n: usize,
    /// Places, or [rooms or slots](DefaultSizes::k_is).
    pub k: usize,
    /// The option that sets `k`: `k`, `rooms` or `slots`.
    pub k_is: &'static str,
    /// Passages; `None` means unbounded.
    pub passages: Option<u32>,
}

impl From<&Info> for Row {
    fn from(info: &Info) -> Self {
        let defaults = info.defaults;
        Self {
            id: info.id,
            title: info.title,
            problem: info.problem.to_string(),
            paper: format!("{}, {}, {}", info.paper.short, info.paper.title, info.paper.venue),
            figure: info.figure,
            instructions: info.instructions.iter().map(|i| i.name()).collect(),
            properties: info.properties.to_vec(),
            fairness: info.fairness,
            tolerates: info.tolerates.to_string(),
            registers: info.registers.to_string(),
            rmr: info.rmr.iter().map(|(model, bound)| (model.name(), bound.to_string())).collect(),
            defaults: DefaultSizes {
                n: defaults.n,
                k: defaults.k,
                k_is: info.problem.second().name(),
                passages: defaults.passages,
            },
        }
    }
}

/// Every algorithm, then every object.
fn all() -> impl Iterator<Item = &'static Info> {
    registry::ALL.iter().chain(registry::OBJECTS)
}

/// Every algorithm and every object, and what has a machine of its own.
#[must_use]
pub fn rows() -> Vec<Row> {
    all().map(Row::from).chain([leases::row()]).collect()
}

/// The columns of the tables.
const COLUMNS: [&str; 9] =
    ["id", "problem", "paper", "figure", "instructions", "lets in", "crashes", "registers", "remote references"];

fn cells(info: &Info) -> [String; 9] {
    let bound = |model, name| info.bound(model).map(|b: Bound| format!("{name} {b}"));
    let rmr = [bound(CostModel::Cc, "CC"), bound(CostModel::CcWriteBack, "CC-WB"), bound(CostModel::Dsm, "DSM")];
    [
        info.id.to_owned(),
        info.problem.to_string(),
        info.paper.short.to_owned(),
        info.figure.to_owned(),
        info.instructions.iter().map(|i| i.name()).collect::<Vec<_>>().join(", "),
        info.fairness.to_owned(),
        info.tolerates.to_string(),
        info.registers.to_string(),
        rmr.into_iter().flatten().collect::<Vec<_>>().join("; "),
    ]
}

/// The table of algorithms in Markdown, for the README files; objects have pages of their own.
#[must_use]
pub fn markdown() -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = row(&COLUMNS.map(str::to_owned));
    out += &row(&COLUMNS.map(|_| "---".to_owned()));
    for info in registry::ALL {
        let mut cells = cells(info);
        cells[0] = format!("`{}`", cells[0]);
        out += &row(&cells);
    }
    out
}

/// The list for a terminal.
#[must_use]
pub fn text() -> String {
    all().map(paragraph).chain([of_leases()]).collect::<Vec<_>>().join("\n")
}

/// Slots between machines are not in the registry.
fn of_leases() -> String {
    let Row { id, title, problem, paper, fairness, tolerates, registers, properties, defaults, .. } = leases::row();
    let DefaultSizes { n, k, k_is, passages } = defaults;
    format!(
        "{id}: {title}\n  \
         {problem}; {paper}\n  \
         transactions; {registers}\n  \
         lets in: {fairness}; tolerates {tolerates} crashes\n  \
         round trips: 2\n  \
         properties: {}\n  \
         by default: n={n}, {k_is}={k}, {} passage\n",
        properties.join(" "),
        passages.unwrap_or_default()
    )
}

fn paragraph(info: &Info) -> String {
    let [id, problem, paper, figure, instructions, fairness, crashes, registers, rmr] = cells(info);
    let Defaults { n, k, passages } = info.defaults;
    let passages = passages.map_or(String::new(), |p| format!(", {p} passages"));
    let crashes = if crashes == "0" { "no crash".to_owned() } else { format!("{crashes} crashes") };
    let rmr = if rmr.is_empty() { "nothing claimed".to_owned() } else { rmr };
    format!(
        "{id}: {}\n  \
         {problem}; {paper}, figure {figure}\n  \
         {instructions}; {registers} registers\n  \
         lets in: {fairness}; tolerates {crashes}\n  \
         remote references: {rmr}\n  \
         properties: {}\n  \
         by default: n={n}, {}={k}{passages}\n",
        info.title,
        info.properties.join(" "),
        info.problem.second().name()
    )
}

/// Anderson and Moir's Table 1, for the solutions in the registry: remote references by order, and
/// instructions.
#[must_use]
pub fn table_1() -> String {
    let mut rows = vec![["", "with contention", "without", "instructions"].map(str::to_owned)];
    rows.extend(registry::ALL.iter().filter_map(|info| {
        let (contended, calm) = info.orders?;
        let instructions = info.instructions.iter().map(|i| i.name()).collect::<Vec<_>>().join(", ");
        Some([info.id.to_owned(), contended.to_owned(), calm.to_owned(), instructions])
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    rows.iter()
        .map(|[id, contended, calm, instructions]| {
            let [a, b, c] = widths;
            format!("{id:a$}  {contended:b$}  {calm:c$}  {instructions}\n")
        })
        .collect()
}
