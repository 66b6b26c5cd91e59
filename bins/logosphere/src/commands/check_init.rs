//! `check-init`: checks an `init.md` and prints its seed messages.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::Settings;
use logosphere_core::config::{Init, Layer, parse_init};
use logosphere_core::experiment::Experiment;
use logosphere_core::format::ParseMode;
use serde::Serialize;

use crate::error::Error;
use crate::folders;
use crate::numbers::word;
use crate::setup::{self, failure};

/// The result of the check.
#[derive(Serialize)]
struct Checked<'a> {
    schema_version: u32,
    mode: ParseMode,
    signature: &'a str,
    with_signature: bool,
    notes: &'a str,
    seeds: Vec<Seed>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Seed {
    id: usize,
    text: String,
}

#[derive(Debug, clap::Args)]
pub struct CheckInitArgs {
    /// Seed messages: an init.md, or an experiment's folder or name [default: the newest experiment].
    ///
    /// A config.json in the same folder is used.
    #[arg(value_name = "FILE|EXP")]
    pub file: Option<PathBuf>,
    /// Rules that it is parsed by [default: those of config.json, else lenient].
    #[arg(long, value_enum, value_name = "MODE")]
    pub parse_mode: Option<ParseMode>,
    /// Append no signature to the seed messages.
    #[arg(long)]
    pub no_stamp: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &CheckInitArgs, session: &mut Session) -> Result<Exit, Failure> {
    let given = match &args.file {
        Some(given) => folders::experiment(given, session)?,
        None => folders::newest_experiment(session)?,
    };
    let is_folder = given.is_dir();
    let path = if is_folder {
        given.join("init.md")
    } else {
        given
    };
    let settings = settings(args, &path)?;
    // A pipe that the user names is read; one in a folder may have come with it.
    let bytes = if is_folder {
        Experiment::read_init_at(&path).map_err(failure)?
    } else {
        setup::read(&path)?
    };
    let init = parse(&path, &bytes, &settings)?;
    let checked = Checked {
        schema_version: 1,
        mode: settings.parse_mode,
        signature: &init.signature,
        with_signature: settings.stamp_seeds,
        notes: &init.notes,
        seeds: (init.stored(settings.stamp_seeds).enumerate())
            .map(|(id, text)| Seed { id, text })
            .collect(),
        warnings: init.warnings.iter().map(ToString::to_string).collect(),
    };
    if args.json {
        session.results.json(&checked)?;
    } else {
        show(&checked, session)?;
    }
    Ok(Exit::Done)
}

/// Returns the settings of a run in the file's directory.
fn settings(args: &CheckInitArgs, path: &Path) -> Result<Settings, Failure> {
    let flags = Layer::default().with(|layer| {
        layer.parse_mode = args.parse_mode;
        layer.stamp_seeds = args.no_stamp.then_some(false);
    });
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let config = Experiment::open(folder).and_then(|found| found.read_config());
    let config = config.map_err(failure)?.map(|file| file.layer);
    let layer = flags.over(config.unwrap_or_default());
    layer.settings(0).map_err(Failure::usage)
}

fn parse(path: &Path, bytes: &[u8], settings: &Settings) -> Result<Init, Failure> {
    parse_init(bytes, settings.parse_mode, &settings.init_signature)
        .and_then(|init| init.check(settings.m_active_pool, settings.allow_zero_seeds))
        .map_err(|source| {
            let path = path.to_owned();
            Failure::usage(Error::Init { path, source })
        })
}

fn show(checked: &Checked<'_>, session: &mut Session) -> Result<(), Failure> {
    let out = &mut session.results;
    let count = checked.seeds.len();
    writeln!(
        out,
        "{count} seed{} by the rules of mode {}, {}",
        if count == 1 { "" } else { "s" },
        word(checked.mode),
        if checked.with_signature {
            format!("signed {}", escape(checked.signature))
        } else {
            "without a signature".to_owned()
        }
    )?;
    for seed in &checked.seeds {
        writeln!(out, "seed {}", seed.id)?;
        for line in seed.text.split('\n') {
            // Lines stay lines; other control characters are made visible.
            writeln!(out, "  | {}", escape(line))?;
        }
    }
    for warning in &checked.warnings {
        writeln!(out, "warning: {}", escape(warning))?;
    }
    Ok(())
}
