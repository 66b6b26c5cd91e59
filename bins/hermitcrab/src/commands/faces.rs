//! `shells`: lists the stored faces, prints one or shows one again.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session, block_on, escape};
use hermitcrab_kernel::ErrorKind;
use hermitcrab_kernel::faces::KeptShells;
use serde_json::json;

use crate::answer::print_json;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::kernel_setup;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab shells
  hermitcrab shells --json";

const LIST_EXAMPLES: &str = "\
Examples:
  hermitcrab shells list
  hermitcrab shells list --json";

const USE_EXAMPLES: &str = "\
Examples:
  hermitcrab demo --dir d && hermitcrab shells use 1 --data d/data
  hermitcrab shells use 1 --data d/data --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  hermitcrab demo --dir e && hermitcrab shells show 1 --data e/data
  hermitcrab shells show 1 --data e/data --json";

#[derive(Debug, clap::Args)]
pub struct FacesArgs {
    #[command(subcommand)]
    pub command: Option<FacesCommand>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum FacesCommand {
    /// List the stored faces
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Show a stored face again
    #[command(after_help = USE_EXAMPLES)]
    Use {
        /// Revision of the face, as the list shows it.
        #[arg(value_name = "REVISION")]
        rev: u64,
    },
    /// Print the source of a stored face
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Revision of the face, as the list shows it.
        #[arg(value_name = "REVISION")]
        rev: u64,
    },
}

/// Lists the stored faces, prints one, or makes one the current face.
pub fn execute(args: &FacesArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    block_on(async {
        match args.command {
            None | Some(FacesCommand::List) => list(args, data, session),
            Some(FacesCommand::Show { rev }) => {
                let source = kept(data, session)?
                    .source(rev)
                    .map_err(|error| Error::from(error).failure())?;
                let source = source.ok_or_else(|| Error::NoShell { rev }.failure())?;
                if args.json {
                    let document = json!({"schema_version": 1, "rev": rev, "source": source});
                    print_json(&document, session)?;
                } else {
                    session.results.write_all(source.as_bytes())?;
                }
                Ok(Exit::Done)
            }
            Some(FacesCommand::Use { rev }) => {
                let kernel = kernel_setup::open_offline(data)?;
                if let Some(fault) = kernel.use_shell(rev).await.fault() {
                    return Err(match fault.kind {
                        ErrorKind::NotFound => Error::NoShell { rev },
                        _ => Error::Tool(fault),
                    }
                    .failure());
                }
                if args.json {
                    print_json(&json!({"schema_version": 1, "rev": rev}), session)?;
                } else {
                    writeln!(session.results, "face {rev} is shown when a page opens")?;
                }
                Ok(Exit::Done)
            }
        }
    })?
}

/// Opens the stored faces to look at.
fn kept(data: &DataDir, session: &Session) -> Result<KeptShells, Failure> {
    data.ensure_named_exists().map_err(Error::failure)?;
    let kept = KeptShells::open(data.path());
    let kept = kept.map_err(|error| Error::from(error).failure())?;
    if let Some(notice) = kept.notice() {
        session.warn(&escape(notice));
    }
    Ok(kept)
}

fn list(args: &FacesArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let kept = kept(data, session)?;
    let shells = kept.list();
    if shells.is_empty() && !args.json {
        session.warn("no shells yet");
    }
    if args.json {
        print_json(&json!({"schema_version": 1, "shells": shells}), session)?;
    }
    let out = &mut session.results;
    for shell in shells.iter().filter(|_| !args.json) {
        let state = match shell.mounted {
            Some(true) => "shown",
            Some(false) => "failed",
            None => "not shown yet",
        };
        let line = format!(
            "{} {} {} by {}, {state}",
            shell.rev, shell.at, shell.component, shell.by
        );
        writeln!(out, "{}", escape(&line))?;
    }
    Ok(Exit::Done)
}
