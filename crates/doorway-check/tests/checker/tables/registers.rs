//! The table of registers in the documentation is what a search says.

use doorway_check::replay::Token;
use doorway_check::tables::registers::{self, Cell, KINDS, Outcome, STATES};
use std::path::Path;

const BEGIN: &str = "<!-- registers: begin -->\n";
const END: &str = "<!-- registers: end -->";

/// Searches the instances that the table shows, and not again those that were too large for it: a search that did not come to
/// its end has shown nothing.
///
/// `DOORWAY_BLESS=1 cargo test` makes the table anew and writes it instead of comparing it.
#[test]
fn the_table_is_up_to_date_and_its_runs_can_be_replayed() {
    let bless = std::env::var_os("DOORWAY_BLESS").is_some();
    is_up_to_date(if bless { &every_instance } else { &those_shown }, bless);
}

#[test]
#[ignore = "takes half a minute; ci/long-searches.sh runs it"]
fn the_table_shows_the_largest_instances_that_can_be_searched() {
    is_up_to_date(&every_instance, false);
}

fn every_instance(_: &str) -> Vec<Cell> {
    registers::table(STATES, &|_| true, || false, &mut |_| ()).unwrap()
}

fn those_shown(table: &str) -> Vec<Cell> {
    let shown = |id: &str, column: usize| -> &str {
        let row = table.lines().find(|line| line.starts_with(&format!("| `{id}` |"))).unwrap_or_default();
        row.split('|').nth(column).unwrap_or_default()
    };
    let mut cells = Vec::new();
    for info in registers::algorithms() {
        for (column, kind) in (3..).zip(KINDS) {
            let all = registers::instances(info);
            let is_shown =
                |&(sizes, passages): &_| shown(info.id, column).contains(&registers::instance(sizes, passages));
            let from = all.iter().position(is_shown).unwrap_or(0);
            cells.push(registers::cell_among(info, kind, &all[from..], STATES, || false).unwrap());
        }
    }
    cells
}

fn is_up_to_date(search: &dyn Fn(&str) -> Vec<Cell>, bless: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/registers.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = text.find(BEGIN).expect("the file has a place for the table") + BEGIN.len();
    let end = text.find(END).expect("the place for the table ends");
    let cells = search(&text[begin..end]);
    for cell in &cells {
        assert!(cell.states > 1, "{cell:?}");
        let Outcome::Fails { property, token } = &cell.outcome else { continue };
        let trace = token.parse::<Token>().unwrap().replay().unwrap();
        if property == "k-exclusion" || property == "mutual-exclusion" {
            assert!(trace.end.iter().filter(|p| p.section == "inside").count() > cell.k, "{cell:?}");
        }
        let is_printed = cell.id.ends_with("-as-printed");
        assert!(!cell.claimed || is_printed, "{} does not do what it claims: {token}", cell.id);
    }
    for printed in ["dgs-as-printed", "kbakery-nonatomic-as-printed"] {
        let fails = |cell: &Cell| cell.id == printed && matches!(cell.outcome, Outcome::Fails { .. });
        assert!(cells.iter().any(fails), "{printed}");
    }
    let wanted = format!("{}{}{}", &text[..begin], registers::markdown(&cells), &text[end..]);
    if bless {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/registers.md is old; run DOORWAY_BLESS=1 cargo test --workspace");
    }
}
