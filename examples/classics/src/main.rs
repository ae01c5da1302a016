//! The command of the gallery.

use classics::{ALL, Classic, find, table};
use std::error::Error;
use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

const USAGE: &str = "usage:
  list            all algorithms
  ID...           ask about these, with all sizes and registers: verdicts, and a run for each failure
  table [ID]...   the table of docs/classics.md, or its rows for these
  write           the whole table, into docs/classics.md
and what any checker of doorway does: replay TOKEN, page TOKEN FILE, explore ID-N-REGISTERS, rmr ID-N-REGISTERS";

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/classics.md");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(code) => code,
        // The reader has seen enough.
        Err(why) if why.downcast_ref().is_some_and(|e: &io::Error| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut out = io::stdout();
    match arguments {
        [] | ["--help" | "-h" | "help"] => writeln!(out, "{USAGE}")?,
        ["list"] => {
            for c in ALL {
                writeln!(out, "{:<26} {} ({} {})", c.id, c.name, c.authors, c.year)?;
            }
        }
        ["table"] => writeln!(out, "{}", table::table(threads, |row| eprint!("{row}"))?)?,
        ["table", ids @ ..] => {
            for classic in named(ids)? {
                for n in classic.sizes() {
                    write!(out, "{}", table::row(classic, n, threads)?)?;
                }
            }
        }
        ["write"] => {
            let mut page = std::fs::read_to_string(PAGE)?;
            let place = table::place(&page)?;
            page.replace_range(place, &table::table(threads, |row| eprint!("{row}"))?);
            std::fs::write(PAGE, page)?;
        }
        ["replay" | "page" | "explore" | "rmr", ..] => return Ok(doorway_check::main(ALL.iter().flat_map(checks))),
        ids => {
            for check in named(ids)?.into_iter().flat_map(checks) {
                writeln!(out, "{}\n", check.with(move |search| search.threads(threads)).run()?)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn checks(classic: &'static Classic) -> impl Iterator<Item = doorway_check::Check> {
    classic.sizes().flat_map(move |n| classic.registers().iter().map(move |&registers| classic.check(n, registers)))
}

fn named(ids: &[&str]) -> Result<Vec<&'static Classic>, String> {
    let find = |id: &&str| find(id).ok_or_else(|| format!("there is no {id} here\n{USAGE}"));
    ids.iter().map(find).collect()
}
