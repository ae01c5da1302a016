//! The command of a program that checks algorithms of its own. The tests of `examples/peterson` run
//! one.

use super::Check;
use crate::explore::{Report, Stop};
use crate::output::write;
use crate::terminal::{INTERRUPTED, Line, Searching, is_asked_to_stop};
use doorway_core::registry::CostModel;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage, after the name of this program:
  [NAME]...              check the algorithms of these names, or all
  replay TOKEN           repeat the run of a token that a check printed
  page TOKEN FILE        write a page that shows this run in a browser
  explore [NAME]         drive an algorithm by hand, in a browser; without a name, the first one
  rmr [NAME]...          count the remote references of the worst passage, CC and DSM
options of a check:
  --json                 print the reports as JSON
  --property NAME        check only this property; may be repeated
  --save FILE            if a limit or Ctrl-C ends the search, write what it has found to this file
  --resume FILE          continue the search that wrote this file; give the same name and properties";

/// The exit codes of `doorway check`.
mod exit {
    pub(super) const FAILED: u8 = 1;
    pub(super) const USAGE: u8 = 2;
    pub(super) const UNDECIDED: u8 = 3;
}

impl Check {
    /// The command of a program that checks this algorithm; see [`main`].
    #[must_use]
    pub fn main(self) -> ExitCode {
        main([self])
    }
}

/// The command of a program that checks algorithms of its own:
/// `fn main() -> ExitCode { doorway_check::main([peterson(), variant()]) }`.
///
/// Without arguments it checks all of them and prints the reports. `replay TOKEN`,
/// `page TOKEN FILE`, `explore`, `rmr`, `--json`, `--property`, `--save` and `--resume` do the same
/// as for the command `doorway`. So does Ctrl-C. On a terminal, a line shows how far a search has
/// got. The exit codes are those of `doorway check`, even if the reader of the output goes away,
/// as `head` does.
#[must_use]
pub fn main(checks: impl IntoIterator<Item = Check>) -> ExitCode {
    let checks: Vec<Check> = checks.into_iter().collect();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match command(&checks, &arguments, &mut std::io::stdout()) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(exit::USAGE)
        }
    }
}

/// The command of [`main`], for programs with options of their own: does what these arguments say,
/// writes what it prints, and returns the exit code.
///
/// ```
/// use doorway_check::check::command;
/// use doorway_check::prelude::*;
/// use doorway_core::mutex::yang_anderson_93::TwoProcess;
///
/// let checks = [Check::lock("two", 2, TwoProcess::new).mutex()];
/// let mut out = Vec::new();
/// assert_eq!(command(&checks, &["two"], &mut out)?, 0);
/// assert!(String::from_utf8(out)?.contains("mutual-exclusion  holds"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if there is no such argument or check, if a check is refused, or if a file
/// cannot be read or written.
pub fn command(checks: &[Check], arguments: &[&str], out: &mut dyn std::io::Write) -> Result<u8, Box<dyn Error>> {
    match arguments {
        _ if arguments.iter().any(|word| ["-h", "--help"].contains(word)) => {
            write(out, &format!("{USAGE}\n"))?;
            Ok(0)
        }
        ["replay", token] => {
            let replay = of(checks, token)?.replay(token)?;
            write(out, &format!("{replay}\n"))?;
            Ok(if replay.breaks { 0 } else { exit::FAILED })
        }
        ["page", token, file] => {
            let page = of(checks, token)?.page(token)?;
            std::fs::write(file, page)
                .map_err(|e| format!("cannot write {file}: {e}; name a file that you can write"))?;
            write(out, &format!("{file} shows this run; open it in a browser\n"))?;
            Ok(0)
        }
        ["explore", names @ ..] if names.len() <= 1 => {
            let check = *named(checks, names)?.first().ok_or(USAGE)?;
            let page = check.serve(0)?;
            let address = page.url();
            write(out, &format!("{address}\nOpen this address in a browser of this machine. Ctrl-C ends the page.\n"))?;
            page.run();
            Ok(0)
        }
        ["rmr", names @ ..] => {
            let mut is_exact = true;
            for check in named(checks, names)? {
                for model in [CostModel::Cc, CostModel::Dsm] {
                    let found = check.rmr(model).map_err(|why| format!("{}: {why}", check.name()))?;
                    is_exact &= found.is_complete() && found.provided().is_none();
                    write(out, &format!("{}: {found}\n\n", check.name()))?;
                }
            }
            Ok(if is_exact { 0 } else { exit::UNDECIDED })
        }
        [command @ ("replay" | "page" | "explore"), ..] => {
            Err(format!("{command} needs the words that are named here, and no others\n{USAGE}").into())
        }
        _ => {
            let asked = Asked::of(arguments)?;
            search(&asked.of_these(checks)?, &asked, out)
        }
    }
}

/// What a search was asked for.
#[derive(Default)]
struct Asked<'a> {
    names: Vec<&'a str>,
    json: bool,
    properties: Vec<&'a str>,
    save: Option<PathBuf>,
    resume: Option<PathBuf>,
}

impl<'a> Asked<'a> {
    fn of(arguments: &[&'a str]) -> Result<Self, String> {
        let (mut asked, mut words) = (Self::default(), arguments.iter().copied());
        while let Some(word) = words.next() {
            let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
            let mut value = || value.or_else(|| words.next()).ok_or(format!("{option} needs a value\n{USAGE}"));
            match option {
                "--json" if word == option => asked.json = true,
                "--property" => asked.properties.push(value()?),
                "--save" => asked.save = Some(value()?.into()),
                "--resume" => asked.resume = Some(value()?.into()),
                _ if option.starts_with('-') => return Err(format!("there is no option {word}\n{USAGE}")),
                _ => asked.names.push(word),
            }
        }
        Ok(asked)
    }

    /// The checks that it names, with the properties that it names.
    fn of_these(&self, checks: &[Check]) -> Result<Vec<Check>, Box<dyn Error>> {
        let checks = named(checks, &self.names)?;
        if checks.len() != 1 && (self.save.is_some() || self.resume.is_some()) {
            return Err(format!("a file is of one search: give the name of one check\n{USAGE}").into());
        }
        let checks = checks.into_iter().cloned();
        if self.properties.is_empty() {
            return Ok(checks.collect());
        }
        Ok(checks.map(|check| check.only(&self.properties)).collect::<Result<_, _>>()?)
    }
}

/// Searches, and prints each report when it is there: a later check may take long, or be refused.
fn search(checks: &[Check], asked: &Asked<'_>, out: &mut dyn std::io::Write) -> Result<u8, Box<dyn Error>> {
    let mut reports: Vec<Report> = Vec::new();
    for check in checks {
        let (searching, mut line) = (Searching::begin(), Line::new());
        let report = check.run_told(|explorer| {
            let explorer = explorer.on_progress(|progress| line.show(progress)).stop_when(is_asked_to_stop);
            let explorer = if asked.save.is_some() { explorer.save(asked.save.clone()) } else { explorer };
            if asked.resume.is_some() { explorer.resume(asked.resume.clone()) } else { explorer }
        });
        drop((searching, line));
        let report = report.map_err(|why| format!("{}: {why}", check.name()))?;
        if !asked.json {
            let gap = if reports.is_empty() { "" } else { "\n" };
            write(out, &format!("{gap}{report}\n"))?;
        }
        let (is_cut, is_interrupted) =
            (report.stop.is_some_and(Stop::is_saved), report.stop == Some(Stop::Interrupted));
        if let Some(file) = asked.save.as_ref().filter(|_| is_cut) {
            eprintln!("{} keeps what was found; --resume {} goes on", file.display(), file.display());
        }
        reports.push(report);
        if is_interrupted {
            break;
        }
    }
    if asked.json {
        write(out, &(serde_json::to_string_pretty(&reports)? + "\n"))?;
    }
    Ok(code(&reports))
}

/// The checks of these names; all if there are none.
fn named<'a>(checks: &'a [Check], names: &[&str]) -> Result<Vec<&'a Check>, Box<dyn Error>> {
    let find = |name: &&str| {
        let known = || checks.iter().map(Check::name).collect::<Vec<_>>().join(", ");
        let found = checks.iter().find(|check| check.name() == *name);
        found.ok_or_else(|| format!("there is no algorithm {name:?} here; there is {}\n{USAGE}", known()).into())
    };
    if names.is_empty() { Ok(checks.iter().collect()) } else { names.iter().map(find).collect() }
}

/// The check that knows this token; any if none does, for it can say why not.
fn of<'a>(checks: &'a [Check], token: &str) -> Result<&'a Check, Box<dyn Error>> {
    let known = checks.iter().find(|check| check.read(token).is_ok());
    known.or(checks.first()).ok_or_else(|| USAGE.into())
}

fn code(reports: &[Report]) -> u8 {
    match reports {
        _ if reports.iter().any(|report| report.stop == Some(Stop::Interrupted)) => INTERRUPTED,
        _ if reports.iter().any(|report| report.failure().is_some()) => exit::FAILED,
        _ if reports.iter().all(Report::is_proven) => 0,
        _ => exit::UNDECIDED,
    }
}
