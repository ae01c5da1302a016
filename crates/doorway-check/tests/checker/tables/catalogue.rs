//! The catalogue in `docs/catalogue.md`, and `CATALOGUE.md` of `doorway-core`, which its rustdoc
//! shows, are those of the registry.

use doorway_check::leases;
use doorway_check::tables::catalogue;
use doorway_core::registry::{self, CostModel, Info, Problem};
use std::path::Path;

const BEGIN: &str = "<!-- catalogue: begin -->\n";
const END: &str = "<!-- catalogue: end -->";

/// The sections of the page, in its order: a problem, its title and what solving it means.
const SECTIONS: [(Problem, &str, &str); 7] = [
    (
        Problem::MutualExclusion,
        "Mutual exclusion",
        "At most one process is inside at a time. In `doorway`: `Mutex`, and `gates`.",
    ),
    (
        Problem::KExclusion,
        "k-exclusion",
        "At most `k` processes are inside at a time. The column `crashes` says how many of them may die\n\
         there. In `doorway`: `gates`.",
    ),
    (
        Problem::KAssignment,
        "k-assignment",
        "At most `k` processes are inside at a time, each with a name of its own in `0..k`. In `doorway`:\n\
         `Slots`, `Pool`, `shared::Slots`, and `gates`.",
    ),
    (
        Problem::FetchAndOp,
        "Fetch-and-op",
        "Each operation on a value returns what the value was, as if operations came one after the\n\
         other. In `doorway`: `Combining`.",
    ),
    (
        Problem::RoomSynchronization,
        "Room synchronization",
        "Any number of processes are in one room, and at no time are two rooms in use. In `doorway`:\n\
         `Rooms`.",
    ),
    (
        Problem::DataStructure,
        "Stacks and queues",
        "Operations on a stack or a queue take effect one after the other, as far as any process can\n\
         tell. In `doorway`: `rooms::{Queue, Stack, GrowingStack, WorkStack}`.",
    ),
    (
        Problem::ResilientObject,
        "Resilient objects",
        "Operations on any object take effect one after the other, as far as any process can tell. They\n\
         end as long as at most `k - 1` processes have died. In `doorway`: `Resilient`.",
    ),
];

const COLUMNS: [&str; 9] =
    ["id", "what it is", "paper", "figure", "instructions", "lets in", "crashes", "registers", "remote references"];

fn row(cells: [String; 9]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn cells(info: &Info) -> [String; 9] {
    let bound = |(model, name): (CostModel, &str)| info.bound(model).map(|bound| format!("{name} {bound}"));
    let models = [(CostModel::Cc, "CC"), (CostModel::CcWriteBack, "CC-WB"), (CostModel::Dsm, "DSM")];
    [
        format!("`{}`", info.id),
        info.title.to_owned(),
        info.paper.short.to_owned(),
        info.figure.to_owned(),
        info.instructions.iter().map(|i| i.name()).collect::<Vec<_>>().join(", "),
        info.fairness.to_owned(),
        info.tolerates.to_string(),
        info.registers.to_string(),
        models.into_iter().filter_map(bound).collect::<Vec<_>>().join("; "),
    ]
}

/// The page: a section for each problem, with the algorithms and then the objects that solve it.
fn sections() -> String {
    let all = || registry::ALL.iter().chain(registry::OBJECTS);
    let mut shown = 0;
    let mut out = String::new();
    for (problem, title, meaning) in SECTIONS {
        out += &format!("\n## {title}\n\n{meaning}\n\n");
        out += &row(COLUMNS.map(str::to_owned));
        out += &row(COLUMNS.map(|_| "---".to_owned()));
        for info in all().filter(|info| info.problem == problem) {
            out += &row(cells(info));
            shown += 1;
        }
    }
    assert_eq!(shown, all().count(), "every problem has a section");
    out + "\n"
}

/// `DOORWAY_BLESS=1 cargo test` writes the tables instead of comparing them.
#[test]
fn tables_in_pages_are_those_of_the_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, table) in
        [("docs/catalogue.md", sections()), ("crates/doorway-core/CATALOGUE.md", catalogue::markdown())]
    {
        let path = root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let begin = text.find(BEGIN).expect("the file has a place for the table") + BEGIN.len();
        let end = text.find(END).expect("the place for the table ends");
        let wanted = format!("{}{table}{}", &text[..begin], &text[end..]);
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
        // Of objects nothing is claimed about cost. Slots between machines are not in the registry.
        if registry::OBJECTS.iter().any(|object| object.id == row.id) || row.id == leases::ID {
            continue;
        }
        assert!(row.rmr.contains_key("dsm") && row.rmr.keys().any(|model| model.starts_with("cc")), "{}", row.id);
    }
}
