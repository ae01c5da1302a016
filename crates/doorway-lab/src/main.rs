//! `doorway-lab`: measures beside other libraries.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod command;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    command::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("doorway-lab: measuring needs Linux, to pin threads and to read CPU time; run it there");
    std::process::ExitCode::from(2)
}
