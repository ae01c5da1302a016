//! The table of registers in the documentation is what a search says.

use doorway_check::replay::Token;
use doorway_check::tables::registers::{self, Cell, KINDS, Outcome, STATES};
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- registers: begin -->\n";
const END: &str = "<!-- registers: end -->";

/// `ci/long-searches.sh` verifies the larger instances of the table.
const FEW_STATES: u64 = 60_000;

/// `DOORWAY_BLESS=1 cargo test` makes the table anew and writes it.
#[test]
fn what_the_table_shows_of_small_instances_is_so_and_its_runs_can_be_replayed() {
    if std::env::var_os("DOORWAY_BLESS").is_some() {
        return is_up_to_date(true);
    }
    let text = std::fs::read_to_string(page()).unwrap();
    let mut cells = Vec::new();
    for info in registers::algorithms() {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{}` |", info.id)));
        let row: Vec<&str> = row.unwrap_or_else(|| panic!("{} is not in the table", info.id)).split('|').collect();
        for (shown, kind) in row[3..].iter().zip(KINDS) {
            if states(shown).is_some_and(|states| states > FEW_STATES) {
                continue;
            }
            let all = registers::instances(info);
            let is_shown = |&(sizes, passages): &_| shown.contains(&registers::instance(sizes, passages));
            let from = all.iter().position(is_shown).unwrap_or(0);
            let cell = registers::cell_among(info, kind, &all[from..], STATES, || false).unwrap();
            assert_eq!(*shown, format!(" {cell} "), "{OLD}");
            if let Outcome::Fails { token, .. } = &cell.outcome {
                assert!(text.contains(&format!("`doorway replay {token}`")), "{OLD}");
            }
            cells.push(cell);
        }
    }
    say_what_was_claimed(&cells);
}

#[test]
#[ignore = "takes half a minute; ci/long-searches.sh runs it"]
fn the_table_shows_the_largest_instances_that_can_be_searched() {
    is_up_to_date(false);
}

const OLD: &str = "docs/registers.md is old; run DOORWAY_BLESS=1 cargo test --workspace";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/registers.md")
}

/// The number of states in a cell of the table.
fn states(shown: &str) -> Option<u64> {
    shown.trim().strip_suffix(" states")?.rsplit(' ').next()?.parse().ok()
}

fn is_up_to_date(bless: bool) {
    let text = std::fs::read_to_string(page()).unwrap();
    let begin = text.find(BEGIN).expect("the file has a place for the table") + BEGIN.len();
    let end = text.find(END).expect("the place for the table ends");
    let cells = registers::table(STATES, &|_| true, || false, &mut |_| ()).unwrap();
    say_what_was_claimed(&cells);
    let wanted = format!("{}{}{}", &text[..begin], registers::markdown(&cells), &text[end..]);
    if bless {
        std::fs::write(page(), wanted).unwrap();
    } else {
        assert!(text == wanted, "{OLD}");
    }
}

/// What fails can be replayed, and was not claimed, except in print.
fn say_what_was_claimed(cells: &[Cell]) {
    for cell in cells {
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
}
