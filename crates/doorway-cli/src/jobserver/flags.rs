//! What clients are told: `MAKEFLAGS`, and which style of jobserver they understand.

use super::Style;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that ignore the jobserver if they are told how many jobs to run.
const DEAF_IF_TOLD: &[&str] = &["make", "gmake", "ninja", "ninja-build"];
/// Programs that understand a path.
const READ_PATHS: &[&str] = &["cargo", "rustc", "ninja", "ninja-build", "samu"];

/// `MAKEFLAGS` with this jobserver, and without any other.
///
/// It contains letters or options, and variables after `--`. All of it stays except the number of
/// jobs: an outer jobserver is not for this command.
pub(super) fn makeflags(before: &OsStr, jobs: usize, auth: &str) -> OsString {
    let before = before.as_bytes();
    let variables = match before.windows(4).position(|window| window == b" -- ") {
        Some(at) => at,
        None if before.starts_with(b"-- ") => 0,
        None => before.len(),
    };
    let (options, variables) = before.split_at(variables);
    let kept = options.split(|byte| *byte == b' ').filter(|word| !word.is_empty() && !is_about_jobs(word));
    let ours = ours(jobs, auth);
    let mut words: Vec<&[u8]> = kept.chain(ours.split(' ').map(str::as_bytes)).collect();
    let variables = variables.strip_prefix(b" ").unwrap_or(variables);
    if !variables.is_empty() {
        words.push(variables);
    }
    OsString::from_vec(words.join(&b' '))
}

/// Cargo reads this before `MAKEFLAGS`, and an outer cargo sets it.
pub(super) fn ours(jobs: usize, auth: &str) -> String {
    // The first of these is for make before 4.2, which knew no paths.
    let old = if auth.starts_with("fifo:") { String::new() } else { format!("--jobserver-fds={auth} ") };
    format!("-j{jobs} {old}--jobserver-auth={auth}")
}

fn is_about_jobs(word: &[u8]) -> bool {
    let starts = |start: &str| word.starts_with(start.as_bytes());
    let is_number = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
    starts("--jobserver-auth=")
        || starts("--jobserver-fds=")
        || starts("--jobserver-style=")
        || word == b"--jobs"
        || starts("--jobs=")
        || word.strip_prefix(b"-j").is_some_and(is_number)
}

fn file_name(program: &OsStr) -> &str {
    Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default()
}

/// The command without options that make it ignore the jobserver; `None` if it has none.
pub(super) fn without_jobs(command: &[OsString]) -> Option<Vec<OsString>> {
    let (program, arguments) = command.split_first()?;
    if !DEAF_IF_TOLD.contains(&file_name(program)) {
        return None;
    }
    let with_a_value = if file_name(program).contains("make") { MAKE_WITH_A_VALUE } else { NINJA_WITH_A_VALUE };
    let is_number = |word: &OsString| !word.is_empty() && word.as_bytes().iter().all(u8::is_ascii_digit);
    let mut kept = vec![program.clone()];
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            kept.push(argument.clone());
            kept.extend(arguments.cloned());
            break;
        }
        match letters(argument.as_bytes(), with_a_value) {
            Letters::Jobs { before, takes_the_next } => {
                if before > 1 {
                    kept.push(OsStr::from_bytes(&argument.as_bytes()[..before]).to_owned());
                }
                if takes_the_next {
                    arguments.next_if(|next| is_number(next));
                }
            }
            Letters::TakesTheNext => kept.extend([argument.clone()].into_iter().chain(arguments.next().cloned())),
            Letters::Others if is_about_jobs(argument.as_bytes()) => {
                if argument == "--jobs" {
                    arguments.next_if(|next| is_number(next));
                }
            }
            Letters::Others => kept.push(argument.clone()),
        }
    }
    (kept != command).then_some(kept)
}

/// One-letter options whose value is the rest of the word, or the next word.
const MAKE_WITH_A_VALUE: &[u8] = b"CEfIoW";
const NINJA_WITH_A_VALUE: &[u8] = b"Cdfkltw";

/// The meaning of a word that may combine several one-letter options.
enum Letters {
    /// The one at this place gives the number of jobs, perhaps with the next word.
    Jobs { before: usize, takes_the_next: bool },
    /// The next word is the value of the last one.
    TakesTheNext,
    /// No option of either kind.
    Others,
}

fn letters(word: &[u8], with_a_value: &[u8]) -> Letters {
    if !word.starts_with(b"-") || word.starts_with(b"--") {
        return Letters::Others;
    }
    for (at, letter) in word.iter().enumerate().skip(1) {
        let is_last = at + 1 == word.len();
        if *letter == b'j' {
            return Letters::Jobs { before: at, takes_the_next: is_last };
        }
        if with_a_value.contains(letter) {
            return if is_last { Letters::TakesTheNext } else { Letters::Others };
        }
        if !letter.is_ascii_alphabetic() {
            return Letters::Others;
        }
    }
    Letters::Others
}

/// A path, unless there is a make that does not understand one, and the command may run it.
pub(super) fn style_for(program: &OsStr) -> Style {
    let name = file_name(program);
    if READ_PATHS.contains(&name) {
        return Style::Fifo;
    }
    let make = if matches!(name, "make" | "gmake") { program } else { OsStr::new("make") };
    let asked = Command::new(make).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    match asked {
        Ok(answer) if !reads_paths(&String::from_utf8_lossy(&answer.stdout)) => Style::Pipe,
        _ => Style::Fifo,
    }
}

/// Whether this is the version of a make that understands a path.
fn reads_paths(version: &str) -> bool {
    let Some(number) = version.strip_prefix("GNU Make ").and_then(|rest| rest.split_whitespace().next()) else {
        return true; // not GNU make, which knows neither style
    };
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (4, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_others_stay_and_another_jobserver_goes() {
        let of = |before: &str| makeflags(OsStr::new(before), 4, "fifo:/x").into_string().unwrap();
        let ours = "-j4 --jobserver-auth=fifo:/x";
        assert_eq!(of(""), ours);
        assert_eq!(of("ks"), format!("ks {ours}"));
        assert_eq!(of(" -j8 --jobserver-auth=3,4"), ours);
        assert_eq!(of("w -j --jobserver-fds=3,4 --jobserver-auth=3,4 -- A=1 B=two\\ words"), {
            format!("w {ours} -- A=1 B=two\\ words")
        });
        assert_eq!(of("-- A=-j8"), format!("{ours} -- A=-j8"), "a variable is no option");
        assert_eq!(of("-I dir --no-print-directory"), format!("-I dir --no-print-directory {ours}"));
        let pipe = makeflags(OsStr::new(""), 2, "42,43").into_string().unwrap();
        assert_eq!(pipe, "-j2 --jobserver-fds=42,43 --jobserver-auth=42,43");
        assert_eq!(makeflags(OsStr::from_bytes(b"-- A=\xff"), 1, "x").as_bytes(), {
            b"-j1 --jobserver-fds=x --jobserver-auth=x -- A=\xff"
        });
    }

    #[test]
    fn commands_are_not_told_how_many_jobs() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            without_jobs(&words).map(|kept| kept.join(OsStr::new(" ")).into_string().unwrap())
        };
        for told in ["make -j all", "make -j8 all", "make -j 8 all", "make --jobs=8 all", "make --jobs 8 all"] {
            assert_eq!(of(told).as_deref(), Some("make all"), "{told}");
        }
        assert_eq!(of("/usr/bin/ninja -k0 -j4").as_deref(), Some("/usr/bin/ninja -k0"));
        for told in ["make -kj8 all", "make -kj 8 all", "make -kj all"] {
            assert_eq!(of(told).as_deref(), Some("make -k all"), "{told}");
        }
        assert_eq!(of("make -C -j8 -sj8").as_deref(), Some("make -C -j8 -s"), "a directory of this name");
        assert_eq!(of("make -fj8"), None, "a file of this name");
        assert_eq!(of("make -Otarget -j8").as_deref(), Some("make -Otarget"));
        assert_eq!(of("ninja -vj4 -k 0").as_deref(), Some("ninja -v -k 0"));
        assert_eq!(of("ninja -t jobs"), None);
        assert_eq!(of("make all"), None);
        assert_eq!(of("make -- -j8"), None, "a file of this name");
        assert_eq!(of("cargo build -j8"), None, "cargo says itself that it does not listen");
    }

    #[test]
    fn old_makes_do_not_understand_paths() {
        for (version, reads) in [("4.3", false), ("3.81", false), ("4.4", true), ("4.4.1", true), ("5.0", true)] {
            assert_eq!(reads_paths(&format!("GNU Make {version}\nBuilt for x")), reads, "{version}");
        }
        assert!(reads_paths("bmake 2020"));
        assert_eq!(style_for(OsStr::new("/usr/bin/cargo")), Style::Fifo);
    }
}
