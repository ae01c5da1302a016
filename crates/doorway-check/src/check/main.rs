//! The command of a program that checks algorithms of its own. The tests of `examples/peterson` run
//! one.

use super::Check;
use crate::explore::{Report, Stop};
use crate::output::write;
use doorway_core::registry::CostModel;
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "usage, after the name of this program:
  [NAME]...              check the algorithms of these names, or all
  --json [NAME]...       the same, as JSON
  replay TOKEN           repeat the run of a token that a check printed
  page TOKEN FILE        write a page that shows this run in a browser
  explore [NAME]         drive an algorithm by hand, in a browser; without a name, the first one
  rmr [NAME]...          count the remote references of the worst passage, CC and DSM";

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
/// `page TOKEN FILE`, `explore`, `rmr` and `--json` do the same as for the command `doorway`. The
/// exit codes are those of `doorway check`, even if the reader of the output goes away, as `head`
/// does.
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
        ["--json", names @ ..] => {
            let reports: Vec<Report> = named(checks, names)?.into_iter().map(report).collect::<Result<_, _>>()?;
            write(out, &(serde_json::to_string_pretty(&reports)? + "\n"))?;
            Ok(code(&reports))
        }
        [option, ..] if option.starts_with('-') => Err(format!("there is no option {option}\n{USAGE}").into()),
        [command @ ("replay" | "page" | "explore"), ..] => {
            Err(format!("{command} needs the words that are named here, and no others\n{USAGE}").into())
        }
        names => {
            // Each report is printed when it is there: a later check may take long, or be refused.
            let mut reports = Vec::new();
            for check in named(checks, names)? {
                let report = report(check)?;
                let gap = if reports.is_empty() { "" } else { "\n" };
                write(out, &format!("{gap}{report}\n"))?;
                reports.push(report);
            }
            Ok(code(&reports))
        }
    }
}

fn report(check: &Check) -> Result<Report, String> {
    check.run().map_err(|why| format!("{}: {why}", check.name()))
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
        _ if reports.iter().any(|report| report.failure().is_some()) => exit::FAILED,
        _ if reports.iter().any(|report| report.stop == Some(Stop::Interrupted)) => 130,
        _ if reports.iter().all(Report::is_proven) => 0,
        _ => exit::UNDECIDED,
    }
}
