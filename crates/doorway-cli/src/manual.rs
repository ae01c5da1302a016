//! `doorway completions` and `doorway man`. Both are generated from the command's own options, so
//! they agree with `--help`.

use crate::{Exit, output};
use clap::{Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;
use std::path::PathBuf;

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  bash:  doorway completions bash > ~/.local/share/bash-completion/completions/doorway
  zsh:   doorway completions zsh > ~/.zfunc/_doorway     (with ~/.zfunc in $fpath)
  fish:  doorway completions fish > ~/.config/fish/completions/doorway.fish";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  doorway man | man -l -                         reads the first page
  doorway man ~/.local/share/man/man1            installs all pages: man doorway-run";

/// The command as `--help` shows it: hidden parts are neither completed nor described.
fn shown() -> Command {
    let whole = crate::Args::command();
    let parts = whole.get_subcommands().filter(|part| !part.is_hide_set()).cloned();
    let shown = Command::new("doorway").disable_help_subcommand(true).args(whole.get_arguments().cloned());
    shown.version(env!("CARGO_PKG_VERSION")).about(whole.get_about().cloned().unwrap_or_default()).subcommands(parts)
}

#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, String> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(), "doorway", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The directory to write all pages to, one for each subcommand; it is created if it is
    /// missing. Without it, the first page goes to standard output
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
}

pub(crate) fn man(args: &ManArgs) -> Result<Exit, String> {
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(shown()).render(&mut page).map_err(|e| e.to_string())?;
        output::print(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::Fine);
    };
    std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(shown(), directory)).map_err(|e| {
        format!("cannot write the pages to {}: {e}; name a directory that you can write to", directory.display())
    })?;
    Ok(Exit::Fine)
}
