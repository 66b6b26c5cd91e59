//! The command `popper mcp`.

use std::path::{Path, PathBuf, absolute};

use bin_support::mcp::{McpFlags, print_config, serve};
use bin_support::{Exit, Failure, Session};

use crate::episode::{RecordedEpisode, sealed};
use crate::tools;

#[derive(Debug, clap::Args)]
pub struct McpArgs {
    #[command(flatten)]
    pub flags: McpFlags,
    /// Referee an episode of `popper lab` in the universe of this sealed file.
    ///
    /// The tools `public`, `experiment`, `predict`, `laws` and `end` are there, and `simulate` and `span` are not. The client must not be
    /// able to read the file.
    #[arg(long, value_name = "NAME.sealed.json", requires = "log")]
    pub lab: Option<PathBuf>,
    /// File for the record of the episode; one that is there already continues.
    #[arg(long, value_name = "FILE", requires = "lab")]
    pub log: Option<PathBuf>,
}

pub fn execute(args: &McpArgs, session: &mut Session) -> Result<Exit, Failure> {
    let (Some(file), Some(log)) = (&args.lab, &args.log) else {
        return tools::server().execute(&args.flags, session);
    };
    if args.flags.print_config {
        let words = words(file, log)?;
        return print_config("popper", &words, session);
    }
    let sealed = sealed(file)?;
    let played = if log.exists() {
        RecordedEpisode::resume(log, sealed)?
    } else {
        RecordedEpisode::begin(log, sealed)?
    };
    serve(tools::lab_server(played), session)
}

/// The words that start the server in any folder.
fn words(file: &Path, log: &Path) -> Result<Vec<String>, Failure> {
    let full = |path: &Path| Ok::<_, Failure>(absolute(path)?.display().to_string());
    let (file, log) = (full(file)?, full(log)?);
    let words = ["mcp", "--lab", &file, "--log", &log];
    Ok(words.map(str::to_owned).into())
}
