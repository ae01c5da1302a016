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
    eprintln!("doorway-lab: measuring needs Linux: threads are pinned, and CPU time is read, as Linux does it");
    std::process::ExitCode::from(2)
}
