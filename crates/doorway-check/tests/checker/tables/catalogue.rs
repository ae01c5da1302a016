//! The tables in the README files are those of the registry.

use doorway_check::tables::catalogue;
use doorway_core::registry;
use std::path::Path;

const BEGIN: &str = "<!-- catalogue: begin -->\n";
const END: &str = "<!-- catalogue: end -->";

/// `DOORWAY_BLESS=1 cargo test` writes the tables instead of comparing them.
#[test]
fn readme_tables_are_those_of_the_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["README.md", "crates/doorway-core/README.md"] {
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let begin = text.find(BEGIN).expect("the file has a place for the table") + BEGIN.len();
        let end = text.find(END).expect("the place for the table ends");
        let wanted = format!("{}{}{}", &text[..begin], catalogue::markdown(), &text[end..]);
        if std::env::var_os("DOORWAY_BLESS").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(text == wanted, "the table in {file} is old; run DOORWAY_BLESS=1 cargo test --workspace");
        }
    }
}

#[test]
fn every_row_says_everything() {
    for row in catalogue::rows() {
        let json = serde_json::to_value(&row).unwrap();
        let fields = [
            "id",
            "title",
            "problem",
            "paper",
            "figure",
            "instructions",
            "properties",
            "fairness",
            "tolerates",
            "registers",
            "rmr",
            "defaults",
        ];
        for field in fields {
            assert!(!json[field].is_null(), "{} has no {field}", row.id);
        }
        // Of objects nothing is claimed about cost.
        if registry::OBJECTS.iter().any(|object| object.id == row.id) {
            continue;
        }
        assert!(row.rmr.contains_key("dsm") && row.rmr.keys().any(|model| model.starts_with("cc")), "{}", row.id);
    }
}
