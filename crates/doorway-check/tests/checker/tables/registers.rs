//! The table of registers in the documentation is what a search says.

use doorway_check::replay::Token;
use doorway_check::tables::registers::{self, Outcome};
use std::path::Path;

const BEGIN: &str = "<!-- registers: begin -->\n";
const END: &str = "<!-- registers: end -->";

/// `DOORWAY_BLESS=1 cargo test` writes the table instead of comparing it.
#[test]
fn the_table_is_up_to_date_and_its_runs_can_be_replayed() {
    let cells = registers::table(registers::STATES, &|_| true, || false, &mut |_| ()).unwrap();
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
        let fails = |cell: &registers::Cell| cell.id == printed && matches!(cell.outcome, Outcome::Fails { .. });
        assert!(cells.iter().any(fails), "{printed}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/registers.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = text.find(BEGIN).expect("the file has a place for the table") + BEGIN.len();
    let end = text.find(END).expect("the place for the table ends");
    let wanted = format!("{}{}{}", &text[..begin], registers::markdown(&cells), &text[end..]);
    if std::env::var_os("DOORWAY_BLESS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/registers.md is old; run DOORWAY_BLESS=1 cargo test --workspace");
    }
}
