//! `doorway completions` and `doorway man`: shells and `man` understand them, and no command is
//! missing.
#![cfg(feature = "manual")]

mod kit;

use kit::{doorway, refused, text};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The commands that `doorway --help` shows.
fn commands() -> Vec<String> {
    let help = text("--help");
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let first = |line: &str| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).map(str::to_owned);
    let names = list.lines().filter_map(|line| Some(first(line)?.split_whitespace().next()?.to_owned()));
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.len() > 10, "{names:?}");
    names
}

/// Whether a program accepts this text on its standard input; `None` if there is no such program.
fn accepted(program: &str, args: &[&str], input: &str) -> Option<bool> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("SKIPPED: there is no {program}");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writes = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let out = child.wait_with_output().unwrap();
    let _ = writes.join().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    eprint!("{errors}");
    Some(out.status.success() && errors.is_empty())
}

#[test]
fn every_shell_understands_its_completions() {
    for (shell, check) in [("bash", vec!["-n"]), ("zsh", vec!["-n"]), ("fish", vec!["--no-execute"])] {
        let script = text(&format!("completions {shell}"));
        for command in commands() {
            assert!(script.contains(&command), "{shell} does not complete {command}");
        }
        assert!(script.contains("--json") || script.contains("json"), "{shell} completes no options");
        assert!(!script.contains("torture-worker"), "{shell} completes what is hidden");
        assert_ne!(accepted(shell, &check, &script), Some(false), "{shell} does not understand it");
    }
    refused("completions tcsh", &["bash", "zsh", "fish"]);
}

#[test]
fn bash_completes_commands_and_options() {
    let ask = |words: &str, last: usize| {
        format!(
            "{}\nCOMP_WORDS=({words}); COMP_CWORD={last}; _doorway doorway \"${{COMP_WORDS[{last}]}}\" \
             \"${{COMP_WORDS[{}]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            text("completions bash"),
            last - 1
        )
    };
    let Ok(out) = Command::new("bash").args(["-c", &ask("doorway stat", 1)]).output() else {
        eprintln!("SKIPPED: there is no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&out.stdout), "status\n");
    let out = Command::new("bash").args(["-c", &ask("doorway status --wa", 2)]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "--watch\n");
}

#[test]
fn every_command_has_a_page_that_can_be_read() {
    let place = std::env::temp_dir().join(format!("doorway-man-{}", std::process::id()));
    let directory: PathBuf = place.join("share/man1");
    let out = doorway(&format!("man {}", directory.display()));
    assert!(out.status.success() && out.stdout.is_empty() && out.stderr.is_empty());
    let mut pages: Vec<String> =
        std::fs::read_dir(&directory).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let mut expected: Vec<String> = commands().iter().map(|command| format!("doorway-{command}.1")).collect();
    expected.push("doorway.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    for page in &pages {
        let page = std::fs::read_to_string(directory.join(page)).unwrap();
        assert!(page.contains(".TH doorway"));
        assert_ne!(accepted("groff", &["-man", "-Tutf8", "-ww", "-z"], &page), Some(false));
    }
    assert_eq!(text("man"), std::fs::read_to_string(directory.join("doorway.1")).unwrap());
    let status = std::fs::read_to_string(directory.join("doorway-status.1")).unwrap();
    assert!(status.contains("Exit code") && status.contains("doorway status gpu"), "{status}");
    std::fs::remove_dir_all(place).unwrap();
    refused("man /dev/null/x", &["cannot write", "name a directory"]);
}

/// The long options that the help of a command shows.
fn options(command: &str) -> Vec<String> {
    let help = text(&format!("{command} --help"));
    let list = help.split("Options:\n").nth(1).unwrap();
    let shown = list.lines().filter(|line| line.trim_start().starts_with('-') && line.starts_with("  "));
    let long = shown.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    long.map(str::to_owned).filter(|option| option != "--help").collect()
}

/// An option that is explained nowhere is as good as missing.
#[cfg(target_os = "linux")]
#[test]
fn every_option_for_slots_is_on_its_page_and_completed_and_explained() {
    let place = std::env::temp_dir().join(format!("doorway-man-options-{}", std::process::id()));
    assert!(doorway(&format!("man {}", place.display())).status.success());
    let scripts = ["bash", "zsh", "fish"].map(|shell| text(&format!("completions {shell}")));
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command.md")).unwrap();
    let mut seen = 0;
    for command in ["run", "status", "break", "rm", "jobserver"] {
        let page = std::fs::read_to_string(place.join(format!("doorway-{command}.1"))).unwrap().replace('\\', "");
        assert!(page.contains("Examples:"), "{page}");
        let section = guide.split("\n## ").find(|section| section.starts_with(&format!("`{command}`\n"))).unwrap();
        for option in options(command) {
            seen += 1;
            assert!(page.contains(&option), "man doorway-{command} lacks {option}");
            assert!(section.contains(&option), "docs/command.md lacks {option} of {command}");
            let [bash, zsh, fish] = &scripts;
            let short = option.strip_prefix("--").unwrap();
            assert!(bash.contains(&option) && zsh.contains(&option), "{option} of {command} is not completed");
            let line = |line: &&str| line.contains(command) && line.contains(&format!(" -l {short} "));
            assert!(fish.lines().any(|found| line(&found)), "{option} of {command} is not completed by fish");
        }
    }
    assert!(seen > 20, "{seen}");
    std::fs::remove_dir_all(place).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn help_says_how_it_ends_and_shows_examples() {
    for command in ["run", "status", "break", "rm", "jobserver"] {
        let help = text(&format!("{command} --help"));
        assert!(help.contains("Exit code:") && help.contains("Examples:"), "{command}: {help}");
    }
    for command in ["completions", "man"] {
        assert!(text(&format!("{command} --help")).contains("Examples:"), "{command}");
    }
}
