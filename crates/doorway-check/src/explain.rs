//! Everything that is known of an algorithm, on one page for a terminal.
//!
//! Its idea, variables, invariants and departures are those that its source says at the top.
//! Statements come from its text, claims and costs from its entry, and faults from the table of
//! mutants or from a [hunt](crate::faults::Hunt).

use crate::Explorer;
use crate::faults::{Found, Hunt, Outcome, candidates};
use crate::mutants;
use crate::sim::{Rules, TextError, World};
use crate::subject::Subject;
use crate::viewer::source;
use doorway_core::memory::Instruction;
use doorway_core::registry::{Bound, Second, Sizes};
use doorway_core::sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What to look for, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How many states the search for its statements and claims may find.
    pub states: usize,
    /// How many states the search for each fault of a single statement may find; `None` takes the
    /// table of mutants instead.
    pub hunt: Option<usize>,
}

impl Default for Effort {
    fn default() -> Self {
        Self { states: 100_000, hunt: None }
    }
}

/// The page of an algorithm at these sizes, under these rules.
///
/// ```
/// use doorway_check::explain::{Effort, page};
/// use doorway_check::subject;
/// let two = subject::find("ya-two").unwrap();
/// let page = page(&two, two.sizes(None, None).unwrap(), two.rules(), Effort::default(), &|| false)?;
/// assert!(page.contains("IDEA"));
/// assert!(page.contains("p.at(7)"));
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
///
/// # Errors
/// Returns an error if its text cannot be run by replay.
pub fn page(
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    effort: Effort,
    stop: &dyn Fn() -> bool,
) -> Result<String, TextError> {
    let info = subject.info;
    let mut out = format!("{}\n{}", plain(&subject.heading()), info.problem);
    if info.paper.title == info.paper.short {
        out += ", our own\n";
    } else {
        let figure = match info.figure {
            "" => String::new(),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => format!(", Figure {number}"),
            name => format!(", {name}"),
        };
        let _ = write!(out, ", {}{figure}\n{}, {}\n", info.paper.short, info.paper.title, info.paper.venue);
    }
    if let Some(mutant) = subject.mutant {
        let _ = writeln!(out, "A mutant of {}. What follows describes the text without the fault.", mutant.of);
    }

    let mut world = subject.world(sizes, rules)?;
    visit(&mut world, effort.states.min(20_000))?;
    let entry = Entry::find(info.id);
    if let Some(entry) = &entry {
        let _ = writeln!(out, "\n{}", entry.doc);
    }
    for (name, text) in files(&world, entry.as_ref()) {
        let _ = writeln!(out, "\nFrom {name}:");
        out += &documentation(text);
    }
    statements(&mut out, &world);
    variables(&mut out, &world);
    costs(&mut out, subject, sizes);
    evidence(&mut out, subject, sizes, rules, effort.states, stop)?;
    match effort.hunt {
        Some(most) => hunted(&mut out, Hunt { subject: *subject, sizes, rules, max_states: most }, stop)?,
        None => known_faults(&mut out, subject),
    }
    let id = subject.id();
    let _ = writeln!(out, "\nMORE");
    let _ = writeln!(out, "  doorway check {id}      every order of steps; --crashes, --registers, larger sizes");
    let _ = writeln!(out, "  doorway explore {id}    drive it by hand, in a browser");
    let _ = writeln!(out, "  doorway faults {id}     every fault of a single statement");
    if !info.rmr.is_empty() {
        let _ = writeln!(out, "  doorway rmr {id}        the worst passage, exactly");
    }
    Ok(out)
}

/// Lets the machine find its local states, breadth first, up to this many states.
fn visit(world: &mut World, most: usize) -> Result<(), TextError> {
    let mut known = rustc_hash::FxHashSet::from_iter([world.initial()]);
    let mut todo = std::collections::VecDeque::from([world.initial()]);
    let mut actions = Vec::new();
    while let Some(state) = todo.pop_front() {
        actions.clear();
        (0..world.processes()).for_each(|p| world.actions(&state, p, &mut actions));
        for &action in &actions {
            let mut next = state.clone();
            if world.act(&mut next, action)?.is_some() && known.len() < most && known.insert(next.clone()) {
                todo.push_back(next);
            }
        }
    }
    Ok(())
}

/// What the catalogue's source says of an algorithm.
struct Entry {
    /// Its description, without links.
    doc: String,
    /// The files of the types that it names.
    files: Vec<&'static str>,
    /// The page of its folder.
    folder: String,
}

impl Entry {
    /// That of an algorithm: the type has the name of the id.
    fn find(id: &str) -> Option<Self> {
        let camel = |word: &str| word[..1].to_uppercase() + &word[1..];
        let name: String = id.split('-').filter(|word| !word.is_empty()).map(camel).collect();
        let start = format!("    {name}: ");
        sources::FILES.iter().filter(|(path, _)| path.ends_with("entries.rs")).find_map(|(path, text)| {
            let lines: Vec<&str> = text.lines().collect();
            let at = lines.iter().position(|line| line.starts_with(&start))?;
            let before = lines[..at].iter().rev().map_while(|line| line.trim().strip_prefix("///"));
            let mut doc: Vec<&str> = before.map(str::trim).collect();
            doc.reverse();
            let (doc, folder) = (doc.join(" "), path.trim_end_matches("entries.rs"));
            let signature = lines[at][start.len()..].split(',').next().unwrap_or_default();
            let linked = doc.match_indices("](crate::").map(|(i, link)| {
                let path: String = doc[i + link.len()..].chars().take_while(|c| *c != ')').collect();
                path.rsplit("::").next().unwrap_or_default().to_owned()
            });
            let written = signature.split(|c: char| !c.is_alphanumeric()).map(str::to_owned);
            let mut files: Vec<&'static str> = Vec::new();
            for file in linked.chain(written).filter_map(|name| defines(folder, &name)) {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
            Some(Self { doc: wrapped(&plain(&unlinked(&doc))), files, folder: format!("{folder}mod.rs") })
        })
    }
}

/// The file below a folder that defines a type.
fn defines(folder: &str, name: &str) -> Option<&'static str> {
    if !name.starts_with(|c: char| c.is_uppercase()) || name.len() < 2 {
        return None;
    }
    let definition = format!("pub struct {name}");
    let ends = |rest: &str| rest.starts_with(|c: char| !c.is_alphanumeric());
    let has = |text: &str| text.match_indices(&definition).any(|(at, _)| ends(&text[at + definition.len()..]));
    sources::FILES.iter().find(|(path, text)| path.starts_with(folder) && has(text)).map(|(path, _)| *path)
}

/// The sources that explain an algorithm: of the types in its entry, and of its statements.
fn files(world: &World, entry: Option<&Entry>) -> Vec<(&'static str, &'static str)> {
    let named = entry
        .map_or(&[][..], |entry| &entry.files)
        .iter()
        .filter_map(|path| sources::find(path).map(|text| (*path, text)));
    let stated = world.lines_seen().into_iter().filter_map(|(.., line)| source(line.file()));
    let mut files: Vec<(&str, &str)> = Vec::new();
    let folder = entry.and_then(|entry| sources::FILES.iter().find(|(path, _)| *path == entry.folder)).copied();
    for (path, text) in named.chain(stated) {
        if text.contains("//! # Idea") && !files.iter().any(|(known, _)| *known == path) {
            files.push((path, text));
        }
    }
    if files.is_empty() {
        files.extend(folder);
    }
    files
}

/// The sections at the top of a source, as plain text.
fn documentation(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let text = unlinked(&lines.join("\n"));
    let mut out = String::new();
    let mut table: Vec<Vec<String>> = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
            continue;
        }
        if let Some(row) = line.strip_prefix('|').filter(|_| !code) {
            let cells: Vec<String> =
                row.trim_end().trim_end_matches('|').split('|').map(|cell| plain(cell.trim())).collect();
            if !cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
                table.push(cells);
            }
            continue;
        }
        out += &aligned(&std::mem::take(&mut table));
        match line.strip_prefix("# ").filter(|_| !code) {
            Some(heading) => {
                // What is in brackets are names and formulas.
                let heading = plain(heading);
                let (title, rest) = heading.split_at(heading.find('(').unwrap_or(heading.len()));
                let _ = writeln!(out, "{}{rest}", title.to_uppercase());
            }
            None if line.is_empty() => out.push('\n'),
            None => {
                let _ = writeln!(out, "  {}", plain(line));
            }
        }
    }
    out + &aligned(&table)
}

/// A table whose columns stand below each other.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())));
        let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    out
}

/// `[text](address)` becomes `text`, also over the end of a line.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        out += before;
        rest = from;
        let Some(close) = from.find(']') else { break };
        let (label, after) = (&from[1..close], &from[close + 1..]);
        match after.strip_prefix('(').and_then(|link| link.split_once(')')) {
            Some((_, tail)) => {
                out += label;
                rest = tail;
            }
            // A link without an address; or an index, such as `flag[1]`.
            None => {
                out += if label.starts_with('`') { label } else { &from[..=close] };
                rest = after;
            }
        }
    }
    out + rest
}

/// Without backquotes, and without asterisks that emphasise.
fn plain(text: &str) -> String {
    let text = text.replace('`', "").replace("**", "");
    let (mut out, mut open, mut before) = (String::new(), false, ' ');
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        let begins = !open && !after.is_whitespace() && (before.is_whitespace() || before == '(');
        let ends = open && !before.is_whitespace() && !after.is_alphanumeric();
        if c == '*' && (begins || ends) {
            open = begins;
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}

/// Lines of at most 100 columns.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 98 {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out
}

fn statements(out: &mut String, world: &World) {
    let mut lines: BTreeMap<(&str, u16, &str, u32), Vec<Instruction>> = BTreeMap::new();
    for (kind, label, does, line) in world.lines_seen() {
        let all = lines.entry((kind, label, line.file(), line.line())).or_default();
        if !all.contains(&does) {
            all.push(does);
        }
    }
    let mut rows = Vec::new();
    for ((kind, label, file, line), does) in lines {
        let text = source(file).map(|(_, text)| (*text).to_owned()).or_else(|| std::fs::read_to_string(file).ok());
        let text = text.as_deref().map_or(String::new(), |text| statement(text, line as usize));
        let at = if kind.is_empty() { label.to_string() } else { format!("{kind}.{label}") };
        let does: Vec<&str> = does.iter().map(|does| does.name()).collect();
        rows.push(vec![at, does.join(", "), cut(&text, 90)]);
    }
    let _ = writeln!(out, "\nSTATEMENTS OF THE TEXT");
    *out += &aligned(&rows);
}

/// The statement that a line of a source belongs to, on one line.
fn statement(source: &str, line: usize) -> String {
    let lines: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).collect();
    let mut from = line.saturating_sub(1).min(lines.len().saturating_sub(1));
    while from > 0 && lines[from].starts_with('.') {
        from -= 1;
    }
    let mut text = String::new();
    for line in lines.iter().skip(from).take(6).filter(|line| !line.is_empty()) {
        if !text.is_empty() && !line.starts_with('.') && !text.ends_with('(') {
            text.push(' ');
        }
        text += line;
        let open = text.matches(['(', '[']).count() > text.matches([')', ']']).count();
        if !open && text.ends_with([';', '{', '}']) {
            break;
        }
    }
    text
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn variables(out: &mut String, world: &World) {
    let vars = world.layout().vars();
    let _ = writeln!(out, "\nVARIABLES AT THESE SIZES: {}", vars.len());
    let names: Vec<&str> = world.layout().names();
    let shown = 24.min(names.len());
    let more = if names.len() > shown { ", …" } else { "" };
    for line in wrapped(&format!("{}{more}", names[..shown].join(", "))).lines() {
        let _ = writeln!(out, "  {line}");
    }
}

fn costs(out: &mut String, subject: &Subject, sizes: Sizes) {
    let info = subject.info;
    let _ = writeln!(out, "\nCOST, FAULTS AND FAIRNESS, AS CLAIMED");
    for (model, bound) in info.rmr {
        let here = bound.at(sizes, sizes.n).map_or(String::new(), |most| format!(" ({most} at these sizes)"));
        let bound = match bound {
            Bound::Unbounded => "no bound on the".to_owned(),
            bound => plain(&bound.to_string()),
        };
        // The value is that of the first formula; others apply when fewer compete.
        let (first, fewer) = bound.split_once("; ").map_or((&*bound, String::new()), |(first, rest)| {
            (first, format!("; {rest}, where c is how many compete"))
        });
        let what = format!("{first} remote references a passage{here}{fewer}");
        let _ = writeln!(out, "  {:6}{what}", model.name());
    }
    let _ = writeln!(
        out,
        "  tolerates {} crashes; {} registers are enough; {}",
        info.tolerates, info.registers, info.fairness
    );
    if info.can_give_up {
        let _ = writeln!(out, "  waiters can give up");
    }
}

/// Searches at these sizes, now. If that takes too many states, it also searches at the largest
/// smaller sizes that do not.
fn evidence(
    out: &mut String,
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Result<(), TextError> {
    let mut complete = searched(out, subject, sizes, rules, most, stop)?;
    for n in (1..sizes.n).rev() {
        let k = if subject.info.problem.second() == Second::Places { sizes.k.min(n.max(2) - 1) } else { sizes.k };
        if complete || stop() {
            break;
        }
        let Ok(smaller) = subject.sizes(Some(n), Some(k)) else { continue };
        let mut page = String::new();
        let rules = Rules { crashes: rules.crashes.min(n), ..rules };
        complete = searched(&mut page, subject, smaller, rules, most, stop)?;
        if complete {
            *out += &page;
        }
    }
    Ok(())
}

/// A search at these sizes, now; whether it was complete.
fn searched(
    out: &mut String,
    subject: &Subject,
    sizes: Sizes,
    rules: Rules,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Result<bool, TextError> {
    let claims = subject.claims(sizes);
    let rules = rules.for_properties(&claims);
    let explorer = Explorer::new(sizes.n).properties(claims).max_states(most).keep_going(true).stop_when(stop);
    let explorer = explorer.believe_keep(true); // `doorway check` compares it
    let report = explorer.explore(subject.world(sizes, rules)?)?;
    let all = if report.complete { "all of them" } else { "not all: doorway check goes on" };
    let _ =
        writeln!(out, "\nCLAIMS, SEARCHED NOW: {}; {} states, {all}", subject.describes(sizes, rules), report.states);
    let verdict = |name: &str, holds: Option<bool>| match holds {
        Some(true) => format!("{name} holds"),
        Some(false) => format!("{name} FAILS"),
        None => format!("{name} not decided"),
    };
    let verdicts: Vec<String> = report.verdicts.iter().map(|v| verdict(&v.name, v.holds)).collect();
    for line in wrapped(&verdicts.join(", ")).lines() {
        let _ = writeln!(out, "  {line}");
    }
    Ok(report.complete)
}

fn after(claim: &str, steps: usize) -> String {
    format!("{claim} after {steps} step{}", if steps == 1 { "" } else { "s" })
}

/// The rows of the table of mutants.
fn known_faults(out: &mut String, subject: &Subject) {
    let of = subject.info.id;
    let rows: Vec<Vec<String>> = mutants::ALL
        .iter()
        .filter(|mutant| mutant.of == of)
        .map(|mutant| {
            let breaks = mutant.fails.map_or("nothing: a control".to_owned(), |(name, steps)| match steps {
                0 => name.to_owned(),
                steps => after(name, steps),
            });
            let faults = mutant.faults();
            let how = if faults.is_empty() { format!("mutant:{}", mutant.name) } else { faults.to_string() };
            vec![breaks, mutant.change.to_owned(), how]
        })
        .collect();
    let _ =
        writeln!(out, "\nWHICH CLAIM NOTICES WHICH FAULT (from the table of mutants; --hunt tries every statement)");
    *out += &if rows.is_empty() { "  the table has no fault of it\n".to_owned() } else { aligned(&rows) };
}

/// Every fault of a single statement, tried now.
fn hunted(out: &mut String, hunt: Hunt, stop: &dyn Fn() -> bool) -> Result<(), TextError> {
    let (statements, all) = hunt.statements(stop)?;
    let _ = writeln!(
        out,
        "\nWHICH CLAIM NOTICES WHICH FAULT (searched now, up to {} states each{})",
        hunt.max_states,
        if all { "" } else { "; some statements may be missing" }
    );
    let mut rows = Vec::new();
    for fault in candidates(&statements) {
        if stop() {
            rows.push(vec!["interrupted".to_owned()]);
            break;
        }
        let Found { outcome, .. } = hunt.search(&fault, stop);
        let says = match outcome {
            Outcome::Noticed { claim, steps: 0, .. } => claim,
            Outcome::Noticed { claim, steps, .. } => after(&claim, steps),
            Outcome::Missed => "no claim".to_owned(),
            Outcome::Idle => "it changes nothing".to_owned(),
            Outcome::Undecided(why) => format!("not decided: {why}"),
            Outcome::Impossible(why) => format!("impossible: {why}"),
        };
        rows.push(vec![says, fault.to_string()]);
    }
    *out += &aligned(&rows);
    Ok(())
}
