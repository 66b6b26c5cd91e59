//! `doctor`: checks settings, data directory and models before the first conversation.

use std::io::Write as _;

use bin_support::model::{ModelFlags, ModelSource, OpenOptions};
use bin_support::{Exit, Failure, Session, block_on, escape};
use pscale_blocks::BlockStore as _;
use serde::Serialize;

use crate::answer::print_json;
use crate::data_dir::DataDir;
use crate::error::{Error, with_sources};
use crate::flags::MODEL;
use crate::key_file;
use crate::model_setup::{self, DEFAULTS};
use crate::sizes::{files_below, shown_size};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab doctor --provider offline
  hermitcrab doctor --provider offline --json";

#[derive(Debug, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.help("Cap in dollars for this process")))]
pub struct DoctorArgs {
    /// Print the checks as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten, next_help_heading = MODEL)]
    pub model: ModelFlags,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    /// `None` if the check was not possible.
    holds: Option<bool>,
    found: String,
}

/// Runs all checks. None of them changes anything.
pub fn execute(args: &DoctorArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let mut checks = vec![settings(data), blocks(data), sizes(data)];
    checks.extend(models(args, data, session)?);
    let fails = checks.iter().any(|check| check.holds == Some(false));
    if args.json {
        let document = serde_json::json!({"schema_version": 1, "checks": checks});
        print_json(&document, session)?;
    } else {
        for check in &checks {
            let mark = match check.holds {
                Some(true) => "ok",
                Some(false) => "FAILS",
                None => "?",
            };
            let line = format!("{mark:<6} {:<10} {}", check.what, check.found);
            writeln!(session.results, "{}", escape(&line))?;
        }
    }
    Ok(if fails { Exit::CheckFailed } else { Exit::Done })
}

fn settings(data: &DataDir) -> Check {
    let (holds, found) = match model_setup::settings(data) {
        Ok(settings) => {
            let chain: Vec<_> = settings
                .models
                .iter()
                .map(|spec| spec.id.as_str())
                .collect();
            (
                true,
                format!("{}; fast: {}", chain.join(", "), settings.fast.id),
            )
        }
        Err(error) => (false, with_sources(&error)),
    };
    Check {
        what: "settings",
        holds: Some(holds),
        found,
    }
}

fn blocks(data: &DataDir) -> Check {
    let rows = || -> Result<usize, Error> {
        if data.is_missing() {
            return Ok(data.for_reading()?.names()?.len());
        }
        let store = data.existing()?;
        store.check_logs()?;
        Ok(store.names()?.len())
    };
    let (path, source) = (data.path().display(), data.source());
    let (holds, found) = match rows() {
        Ok(count) => match writable(data) {
            Ok(()) => (true, format!("{count} blocks in {path} ({source})")),
            Err(error) => (
                false,
                format!("{path} ({source}) cannot be written: {error}"),
            ),
        },
        Err(error) => (false, with_sources(&error)),
    };
    Check {
        what: "blocks",
        holds: Some(holds),
        found,
    }
}

/// The size of the directory from which the check names the command that makes it smaller.
const LARGE: u64 = 1 << 30;

/// Adds up the files of each kind.
fn sizes(data: &DataDir) -> Check {
    let mut kinds = [
        ("blocks", 0),
        ("logs", 0),
        ("conversation", 0),
        ("put aside", 0),
        ("other", 0),
    ];
    let mut all = 0;
    for (path, found) in files_below(data.path()) {
        let inside = path.strip_prefix(data.path()).unwrap_or(&path);
        let first = inside.iter().next().unwrap_or_default().to_string_lossy();
        let kind = match first.split('.').next().unwrap_or_default() {
            "blocks" => 0,
            "log" => 1,
            "conversation" | "usage" => 2,
            "trash" | "quarantine" | "backups" => 3,
            _ => 4,
        };
        kinds[kind].1 += found.len();
        all += found.len();
    }
    let listed = kinds.map(|(kind, bytes)| format!("{kind} {}", shown_size(bytes)));
    let hint = if all > LARGE {
        "; `hermitcrab prune` removes what is old"
    } else {
        ""
    };
    Check {
        what: "size",
        holds: Some(true),
        found: format!("{}: {}{hint}", shown_size(all), listed.join(", ")),
    }
}

/// Checks that a file can be created in the directory. A missing directory passes, because the first edit creates it.
fn writable(data: &DataDir) -> std::io::Result<()> {
    if !data.path().exists() {
        return Ok(());
    }
    tempfile::tempfile_in(data.path()).map(drop)
}

/// Checks that the provider serves the models of the settings.
fn models(args: &DoctorArgs, data: &DataDir, session: &mut Session) -> Result<Vec<Check>, Failure> {
    key_file::read(data, session)?;
    let ModelSource::Client { client, host, .. } = args.model.open(
        OpenOptions::new(&DEFAULTS, 0, data.clock()),
        &session.environment,
        |line| session.warn(line),
    )?
    else {
        return Ok(vec![Check {
            what: "models",
            holds: None,
            found: "no provider is asked: offline".to_owned(),
        }]);
    };
    let served = match block_on(client.list_models())? {
        Ok(served) => served,
        Err(error) => {
            return Ok(vec![Check {
                what: "models",
                holds: Some(false),
                found: format!("{host}: {error}"),
            }]);
        }
    };
    let settings = model_setup::settings(data).map_err(Error::failure)?;
    let chain = settings.models.iter().chain([&settings.fast]);
    let asked: Vec<_> = match &args.model.model {
        Some(model) => vec![model.clone()],
        None => chain.map(|spec| spec.id.clone()).collect(),
    };
    Ok(asked
        .into_iter()
        .map(|id| {
            let holds = served.iter().any(|model| model.id == id);
            Check {
                what: "model",
                holds: Some(holds),
                found: if holds {
                    format!("{id} is served by {host}")
                } else {
                    format!("{id} is not served by {host}: name another one in hermitcrab.toml")
                },
            }
        })
        .collect())
}
