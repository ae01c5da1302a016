//! Runs that people look at: one HTML page that needs nothing else.
//!
//! A [`Recorder`] repeats a run and writes down more than a [trace](crate::trace) does: for each
//! state where each process is, on which line of its source, what it waits on, which writes are
//! half-way done, which claims are true, and what the run has cost each process so far. [`page`]
//! puts this [`Record`] into a page that shows it as a diagram, step by step.
//!
//! ```
//! use doorway_check::replay::Token;
//! use doorway_check::viewer;
//!
//! let token: Token = "dw1/mutant:am-chain-without-7/2,1/-/c0/atomic/never-stuck/0.1x3.0/75250951".parse()?;
//! let record = token.record()?;
//! assert_eq!(record.steps.len(), 5);
//! assert!(viewer::page(&record).starts_with("<!doctype html>"));
//! # Ok::<(), doorway_check::replay::TokenError>(())
//! ```

mod record;
mod references;
mod sources;

pub(crate) use record::waits_on;
pub use record::{Half, Moved, Place, Record, Recorder, Source, Variable};
pub use sources::find as source;

use std::fmt::Write as _;

const HTML: &str = include_str!("viewer.html");
const CSS: &str = include_str!("viewer.css");
const JS: &str = include_str!("viewer.js");
const EXPLORER_JS: &str = include_str!("explorer.js");

/// A page that shows a run. It is complete in itself, and asks for nothing over a network.
#[must_use]
pub fn page(record: &Record) -> String {
    assemble(record, &[JS])
}

/// The page of a [driver](crate::drive::Driver).
pub(crate) fn driven_page(record: &Record, grammar: &str) -> String {
    assemble(record, &[JS, &EXPLORER_JS.replace("{{GRAMMAR}}", &grammar.replace('\\', "\\\\").replace('`', "\\`"))])
}

/// The page, with these scripts.
fn assemble(record: &Record, scripts: &[&str]) -> String {
    let scripts = scripts.iter().fold(String::new(), |mut all, script| {
        let _ = write!(all, "<script>\n{script}</script>\n");
        all
    });
    let parts = [
        ("TITLE", escaped(&record.title)),
        ("STYLE", CSS.to_owned()),
        ("RECORD", in_script(record)),
        ("SCRIPTS", scripts),
    ];
    let mut page = String::new();
    let mut rest = HTML;
    // In one pass, so that nothing is looked for in what was put in.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, tail) = after.split_once("}}").unwrap_or((after, ""));
        page += before;
        page += parts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        rest = tail;
    }
    page + rest
}

/// As JSON that may stand in a script element: no `<` can end the element or begin another.
fn in_script(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()).replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
