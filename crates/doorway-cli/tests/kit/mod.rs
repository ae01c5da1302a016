//! How tests run the command.

#![allow(dead_code, unreachable_pub, missing_docs)] // each test takes what it needs

#[cfg(all(target_os = "linux", target_endian = "little", target_pointer_width = "64"))]
pub mod run;

use serde_json::Value;
use std::process::{Command, Output};

pub fn doorway(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_doorway")).args(args.split_whitespace()).output().unwrap()
}

pub fn code(args: &str) -> i32 {
    doorway(args).status.code().unwrap()
}

pub fn json(args: &str) -> Value {
    let out = doorway(args);
    assert!(out.stderr.is_empty(), "{args}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Bad usage: exit code 2, nothing on standard output, and a message that contains all these words.
pub fn refused(args: &str, words: &[&str]) {
    let out = doorway(args);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{args}: {message}");
    assert!(out.stdout.is_empty(), "{args}");
    for word in words {
        assert!(message.contains(word), "{args}: {message:?} lacks {word:?}");
    }
}

/// Its standard output, whatever its exit code.
pub fn text(args: &str) -> String {
    String::from_utf8(doorway(args).stdout).unwrap()
}
