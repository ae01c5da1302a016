//! The command that `doorway_check::main` makes of checks: its messages and its exit codes.

use std::process::{Command, Stdio};

fn peterson(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peterson"));
    command.args(arguments);
    command
}

/// The exit code, what was printed, and what was said about a mistake.
fn told(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = peterson(arguments).output().unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), printed, said)
}

/// The token of the run in which the broken variant fails.
fn token() -> String {
    let (_, report, _) = told(&["giving-way-first"]);
    report.split_whitespace().find(|word| word.starts_with("dw1/own:")).unwrap().to_owned()
}

#[test]
fn the_exit_code_is_the_same_if_the_reader_has_gone_away() {
    for (name, code) in [("peterson", 0), ("giving-way-first", 1)] {
        for arguments in [&[name][..], &["--json", name]] {
            let (exit, printed, _) = told(arguments);
            assert!(exit == Some(code) && printed.contains("mutual-exclusion"), "{printed}");
            let (reader, gone) = std::io::pipe().unwrap();
            drop(reader);
            let status = peterson(arguments).stdout(gone).stderr(Stdio::null()).status().unwrap();
            assert_eq!(status.code(), Some(code), "{arguments:?}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    let token = token();
    for (arguments, why) in [
        (&["--jason"][..], "there is no option --jason"),
        (&["replay"], "replay needs the words"),
        (&["page", &token], "page needs the words"),
        (&["petersen"], "there is no algorithm \"petersen\" here; there is peterson, giving-way-first"),
        (&["page", &token, "/nowhere/run.html"], "cannot write /nowhere/run.html"),
        (&["replay", "dw1/own"], "copy the whole token"),
    ] {
        let (code, _, said) = told(arguments);
        assert!(code == Some(2) && said.contains(why), "{said}");
    }
    for arguments in [&["--help"][..], &["explore", "--help"]] {
        let (code, printed, _) = told(arguments);
        assert!(code == Some(0) && printed.contains("replay TOKEN"), "{printed}");
    }
}

#[test]
fn a_page_is_written_and_named() {
    let file = std::env::temp_dir().join(format!("doorway-peterson-{}.html", std::process::id()));
    let (code, printed, _) = told(&["page", &token(), file.to_str().unwrap()]);
    assert!(code == Some(0) && printed.contains("open it in a browser"), "{printed}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
    std::fs::remove_file(file).unwrap();
}
