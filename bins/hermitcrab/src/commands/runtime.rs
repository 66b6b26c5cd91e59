//! `runtime`: says which React is kept for faces, and installs it by hand.

use std::io::{self, Write as _};
use std::path::PathBuf;

use bin_support::{Exit, Failure, Interrupt, Results, Session, block_on_threads, escape};
use hermitcrab_face::{ReactStatus, Runtime};
use jiff::Timestamp;
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::data_dir::DataDir;
use crate::error::{Error, name};
use crate::react_sources::{react_sources, show_begin};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab runtime status
  hermitcrab runtime status --json";

#[derive(Debug, clap::Args)]
pub struct RuntimeArgs {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: RuntimeCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum RuntimeCommand {
    /// Print which React is kept, and why an installation failed
    #[command(after_help = "Examples:\n  hermitcrab runtime status")]
    Status,
    /// Install React 18.3.1 now, by npm or pip or from a folder
    ///
    /// Faces use it from the next start of `serve`.
    #[command(
        after_help = "Examples:\n  hermitcrab runtime fetch\n  hermitcrab runtime fetch --to react"
    )]
    Fetch(RuntimeFetchArgs),
}

#[derive(Debug, clap::Args)]
pub struct RuntimeFetchArgs {
    /// Folder in place of the data directory. The scripts are then in DIR/runtime/.
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Folder with react.production.min.js and react-dom.production.min.js of React 18.3.1, or with both in umd/.
    #[arg(long, value_name = "DIR")]
    pub react: Option<PathBuf>,
}

pub fn execute(args: &RuntimeArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    match &args.command {
        RuntimeCommand::Status => {
            let status = RuntimeStatus::of(ReactStatus::read(data.path()));
            print_answer(args.json, Ok(status), session)
        }
        RuntimeCommand::Fetch(fetch) => {
            let interrupt = Interrupt::on_signals()?;
            let fetched = block_on_threads(async {
                tokio::select! {
                    () = interrupt.raised() => None,
                    fetched = fetch_react(fetch, data) => Some(fetched),
                }
            })?;
            match fetched {
                Some(fetched) => print_answer(args.json, fetched, session),
                None => Ok(Exit::Interrupted),
            }
        }
    }
}

async fn fetch_react(args: &RuntimeFetchArgs, data: &DataDir) -> Result<RuntimeStatus, Error> {
    let mut sources = react_sources(true);
    if let Some(dir) = &args.react {
        Runtime::given_react(dir).map_err(|error| Error::GivenReact { error })?;
        sources.dir = Some(dir.clone());
    }
    let place = args.to.as_deref().unwrap_or(data.path());
    let found = sources.find(place, data.now(), &show_begin).await;
    found.map_err(Error::Runtime)?;
    Ok(RuntimeStatus::of(ReactStatus::read(place)))
}

/// The React that is kept, and the attempts that failed.
#[derive(Serialize)]
struct RuntimeStatus {
    folder: PathBuf,
    /// Either `whole`, `torn` or `missing`.
    state: &'static str,
    fault: Option<String>,
    /// Either `npm`, `pip` or a folder.
    source: Option<String>,
    tried: Option<TriedStatus>,
}

/// An installation that failed.
#[derive(Serialize)]
struct TriedStatus {
    at: Timestamp,
    npm: Option<String>,
    pip: Option<String>,
}

impl RuntimeStatus {
    fn of(status: ReactStatus) -> Self {
        let state = match (status.is_whole, &status.fault) {
            (true, _) => "whole",
            (false, Some(_)) => "torn",
            (false, None) => "missing",
        };
        Self {
            state,
            folder: status.folder,
            fault: status.fault,
            source: status.source,
            tried: status.tried_at.map(|at| TriedStatus {
                at,
                npm: status.npm,
                pip: status.pip,
            }),
        }
    }
}

impl Answer for RuntimeStatus {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let folder = name(&self.folder);
        match &self.fault {
            None if self.state == "whole" => {
                let source = self
                    .source
                    .as_deref()
                    .unwrap_or("a source that is not known");
                writeln!(out, "React 18.3.1 is in {folder}, from {}", escape(source))?;
            }
            None => writeln!(
                out,
                "React is not in {folder}: faces run on the built-in subset"
            )?,
            Some(fault) => writeln!(out, "React in {folder} cannot be used: {}", escape(fault))?,
        }
        let Some(tried) = &self.tried else {
            return Ok(());
        };
        writeln!(out, "tried in vain at {}", tried.at)?;
        for (client, why) in [("npm", &tried.npm), ("pip", &tried.pip)] {
            if let Some(why) = why {
                writeln!(out, "  {client}: {}", escape(why))?;
            }
        }
        Ok(())
    }
}
