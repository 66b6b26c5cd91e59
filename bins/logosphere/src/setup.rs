//! Shared parts of the commands that start or resume a run: seeds, settings, minds, and error messages.

use bin_support::{Failure, Session, escape};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_client::Clock;
use logosphere_core::config::{Init, Layer, SettingDifference, parse_init};
use logosphere_core::experiment::{Experiment, ExperimentError, Template};
use logosphere_core::{RequestTemplate, Settings};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::flags::{ChangeableFlags, SettingFlags};
use crate::journal_file;
use crate::population::{ClientContext, Population, place_minds};

/// The program and its version, for journals.
pub const SOFTWARE: &str = concat!("logosphere ", env!("CARGO_PKG_VERSION"));

/// Refuses to record calls into one of the experiment's own files, because both a cassette and they only grow.
pub fn spare(experiment: &Experiment, flags: &ChangeableFlags) -> Result<(), Failure> {
    match &flags.model.record {
        Some(record) => bin_support::output::ensure_not_input(record, experiment.files()),
        None => Ok(()),
    }
}

/// Writes the template to an experiment without `init.md`, and prints a notice.
pub fn ensure_init_file(experiment: &Experiment, session: &Session) -> Result<(), Failure> {
    if let Some(template) = experiment
        .ensure_init_file(Path::new("."))
        .map_err(failure)?
    {
        let template = match &template {
            Template::File(path) => shown(path),
            Template::BuiltIn => "the built-in template".to_owned(),
        };
        session.warn(&format!(
            "{}: written from {template}; edit it before the next run",
            shown(&experiment.init())
        ));
    }
    Ok(())
}

/// Returns the template: the name of its file for messages, and its bytes.
pub fn template() -> Result<(PathBuf, Vec<u8>), Failure> {
    let (bytes, template) = Experiment::template(Path::new(".")).map_err(failure)?;
    let path = match template {
        Template::File(path) => path,
        Template::BuiltIn => "the built-in template".into(),
    };
    Ok((path, bytes))
}

/// Prints the directory that a run is about to write in, then the lines that the user must read.
pub fn announce(experiment: &Experiment, notices: &[String], session: &Session) {
    session.status(&format!("writing to {}", shown(experiment.path())));
    for notice in notices {
        session.warn(notice);
    }
}

/// A run that is ready to begin, with all its settings.
pub struct PreparedRun {
    pub settings: Settings,
    pub population: Population,
    pub template: RequestTemplate,
    pub init: Init,
    pub init_sha256: String,
    /// SHA-256 of a given `config.json`.
    pub config_sha256: Option<String>,
    /// The settings that the run chose because they were not given.
    pub recorded: Vec<&'static str>,
    /// The lines that the user must read.
    pub notices: Vec<String>,
}

/// Reads the seed messages and all layers of settings, and builds a request. Nothing is written or sent.
pub fn prepare(
    experiment: &Experiment,
    may_lack_seeds: bool,
    flags: &SettingFlags,
    context: &ClientContext,
    session: &Session,
) -> Result<PreparedRun, Failure> {
    let config = experiment.read_config().map_err(failure)?;
    let (config, config_sha256) = config.map(|file| (file.layer, file.sha256)).unzip();
    let mut layer = flags.layer().over(config.unwrap_or_default());
    place_minds(&mut layer, flags, &session.environment)?;
    // The layers as they are given must be right before anything follows from them.
    let seed = layer.seed.unwrap_or_default();
    let mut notices = Vec::new();
    let given = layer.clone().settings(seed).map_err(Failure::usage)?;
    let recorded = layer.not_given();
    let (path, bytes) = if may_lack_seeds && !experiment.init().exists() {
        template()?
    } else {
        (experiment.init(), experiment.read_init().map_err(failure)?)
    };
    let init = seeds(&path, &bytes, &given, &mut notices)?;
    given
        .check_seeds(init.seeds.len() as u64)
        .map_err(Failure::usage)?;
    let population = Population::choose(
        &mut layer,
        &experiment.config(),
        &flags.changeable,
        context,
        &session.environment,
        &mut notices,
    )?;
    let settings = layer.settings(seed).map_err(Failure::usage)?;
    let (mind, dialect) = population.mind(&settings)?;
    let template = RequestTemplate::of(&mind, &settings, &dialect).map_err(Failure::usage)?;
    Ok(PreparedRun {
        settings,
        template,
        recorded,
        population,
        init,
        init_sha256: logosphere_core::format::sha256_hex(&bytes),
        config_sha256,
        notices,
    })
}

/// Reads the seed messages of an `init.md`, whose warnings go to `notices`.
pub fn seeds(
    path: &Path,
    bytes: &[u8],
    settings: &Settings,
    notices: &mut Vec<String>,
) -> Result<Init, Failure> {
    let init = parse_init(bytes, settings.parse_mode, &settings.init_signature);
    let init = init.and_then(|init| init.check(settings.m_active_pool, settings.allow_zero_seeds));
    let init = init.map_err(|source| {
        let path = path.to_owned();
        Failure::usage(Error::Init { path, source })
    })?;
    for warning in &init.warnings {
        let warning = escape(&warning.to_string());
        notices.push(format!("{}: {warning}", shown(path)));
    }
    Ok(init)
}

/// Reads a file that the user named.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let path = path.to_owned();
    if journal_file::is_endless(&path) {
        return Err(Failure::usage(Error::Device { path }));
    }
    fs::read(&path).map_err(|source| Failure::usage(Error::Read { path, source }))
}

/// Returns the failure of an experiment's directory, with the exit code of a usage error if the input is wrong.
pub fn failure(error: ExperimentError) -> Failure {
    if error.is_usage() {
        Failure::usage(error)
    } else {
        error.into()
    }
}

/// Returns today's date in UTC.
pub fn today(clock: &dyn Clock) -> jiff::civil::Date {
    timestamp(clock).to_zoned(TimeZone::UTC).date()
}

/// Returns the time of day.
pub fn timestamp(clock: &dyn Clock) -> Timestamp {
    Timestamp::try_from(clock.now()).unwrap_or(Timestamp::MAX)
}

/// Draws the id of a run. The id of a replay is the start of its recording.
pub fn run_id(clock: &dyn Clock, is_replay: bool) -> Result<String, Failure> {
    if is_replay {
        return Ok(format!("{:016x}", timestamp(clock).as_nanosecond()));
    }
    let drawn = getrandom::u64().map_err(|error| Error::Random {
        message: error.to_string(),
    });
    Ok(format!("{:016x}", drawn?))
}

pub fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// Returns the settings that flags change, as `[old, new]`. Settings that a resumed run cannot change are refused.
pub fn changes(
    flags: &Layer,
    run: &Settings,
) -> Result<BTreeMap<String, [serde_json::Value; 2]>, Failure> {
    let differences = flags.differences(run);
    let root = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let fixed: Vec<_> = differences
        .iter()
        .filter(|difference| !Settings::CHANGEABLE.contains(&root(difference.path).as_str()))
        .map(|difference| {
            let text = format!(
                "{}: {} to {}",
                difference.path, difference.run, difference.given
            );
            escape(&text)
        })
        .collect();
    if !fixed.is_empty() {
        return Err(Failure::usage(Error::Fixed { settings: fixed }));
    }
    let pair = |difference: SettingDifference| {
        (
            difference.path.to_owned(),
            [difference.run, difference.given],
        )
    };
    Ok(differences.into_iter().map(pair).collect())
}
