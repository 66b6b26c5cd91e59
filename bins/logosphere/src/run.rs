//! `run`: begins a run in an experiment's directory.

use std::path::{Path, PathBuf};
use std::process;

use bin_support::{Exit, Failure, Session, printable};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use logosphere_core::{
    Effective, Experiment, ExperimentError, ExperimentStart, FileJournal, Init, Orchestrator,
    RequestTemplate, Settings, Template, parse_init,
};

use crate::clock::SystemClock;
use crate::error::Error;
use crate::population::Population;
use crate::subject::look_up;
use crate::{cli, forecast, leak, running};

/// The program and its version, as journals name it.
pub const SOFTWARE: &str = concat!("logosphere ", env!("CARGO_PKG_VERSION"));

/// Where experiments are made, from the working directory.
pub const EXPERIMENTS: &str = "experiments";

pub fn execute(
    directory: Option<&Path>,
    flags: &cli::RunFlags,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let directory = match directory {
        Some(path) if flags.output_dir.is_none() => Some(look_up(path)?),
        other => other.map(Path::to_owned),
    };
    let directory = directory.as_deref();
    if flags.dry_run {
        return forecast::dry_run(directory, &flags.settings, session);
    }
    let place = match directory {
        // Named as an experiment it has its seeds; named as a place for one it is given what it lacks.
        Some(path) if flags.output_dir.is_none() => Place::Experiment(path),
        Some(path) => Place::Directory(path),
        None => Place::New("run"),
    };
    run_in(place, flags, session).map(|(exit, _)| exit)
}

/// The directory of a run.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// That of an experiment.
    Experiment(&'a Path),
    /// One that is made if it is not there, and is given seeds if it has none.
    Directory(&'a Path),
    /// A new one of this name.
    New(&'a str),
}

/// Runs in a directory. What can be refused is refused before anything is made or written.
pub fn run_in(
    place: Place<'_>,
    flags: &cli::RunFlags,
    session: &mut Session,
) -> Result<(Exit, Experiment), Failure> {
    let root = Path::new(EXPERIMENTS);
    let planned = match place {
        Place::Experiment(path) => Experiment::open(path),
        Place::Directory(path) => Experiment::planned(path),
        Place::New(name) => Experiment::next(root, name, today()),
    };
    let planned = planned.map_err(failure)?;
    spare(&planned, &flags.settings)?;
    // Another process that works here is named before its run is.
    planned.check_free().map_err(failure)?;
    planned.check_unused().map_err(failure)?;
    let may_lack_seeds = !matches!(place, Place::Experiment(_));
    let ready = prepare(&planned, may_lack_seeds, &flags.settings, session)?;
    let experiment = match place {
        Place::Experiment(_) => planned,
        Place::Directory(path) => Experiment::open_or_make(path).map_err(failure)?,
        Place::New(name) => Experiment::create(root, name, today()).map_err(failure)?,
    };
    if may_lack_seeds {
        provide_init(&experiment, session)?;
    }
    let exit = begin(&experiment, ready, flags, session)?;
    Ok((exit, experiment))
}

/// Refuses to record calls into one of the experiment's own files: a cassette only grows, and so do they.
pub fn spare(experiment: &Experiment, flags: &cli::SettingFlags) -> Result<(), Failure> {
    match &flags.model.record {
        Some(record) => bin_support::spare(record, experiment.files()),
        None => Ok(()),
    }
}

/// Gives an experiment without seeds those of the template, and says so.
pub fn provide_init(experiment: &Experiment, session: &Session) -> Result<(), Failure> {
    if let Some(template) = experiment.provide_init(Path::new(".")).map_err(failure)? {
        let template = match &template {
            Template::File(path) => shown(path),
            Template::BuiltIn => "the built-in template".to_owned(),
        };
        session.notice(&format!(
            "{}: written from {template}; edit it before the next run",
            shown(&experiment.init())
        ));
    }
    Ok(())
}

/// The seeds of an experiment without any: the file's name as a message shows it, and its bytes.
pub fn template() -> Result<(PathBuf, Vec<u8>), Failure> {
    let (bytes, template) = Experiment::template(Path::new(".")).map_err(failure)?;
    let path = match template {
        Template::File(path) => path,
        Template::BuiltIn => "the built-in template".into(),
    };
    Ok((path, bytes))
}

/// A run whose every setting is known.
pub struct Ready {
    pub settings: Settings,
    pub population: Population,
    pub template: RequestTemplate,
    pub init: Init,
    pub init_sha256: String,
    /// SHA-256 of a given `config.json`.
    pub config_sha256: Option<String>,
    /// Settings that nobody gave, of those that a run chooses for itself.
    pub recorded: Vec<&'static str>,
}

/// Reads the seeds and all layers of settings, and makes a request. Nothing is written or sent.
fn prepare(
    experiment: &Experiment,
    may_lack_seeds: bool,
    flags: &cli::SettingFlags,
    session: &Session,
) -> Result<Ready, Failure> {
    let config = experiment.read_config().map_err(failure)?;
    let (config, config_sha256) = config.map(|file| (file.layer, file.sha256)).unzip();
    let mut layer = flags.layer().over(config.unwrap_or_default());
    // The layers as they are given must be right before anything follows from them.
    let seed = layer.seed.map_or_else(drawn, Ok)?;
    let given = layer.clone().settings(seed).map_err(Failure::usage)?;
    let recorded = layer.not_given();
    let (path, bytes) = if may_lack_seeds && !experiment.init().exists() {
        template()?
    } else {
        (experiment.init(), experiment.read_init().map_err(failure)?)
    };
    let init = seeds(&path, &bytes, &given, session)?;
    given
        .check_seeds(init.seeds.len() as u64)
        .map_err(Failure::usage)?;
    let population = Population::choose(&mut layer, &experiment.config(), flags, session)?;
    let settings = layer.settings(seed).map_err(Failure::usage)?;
    let (mind, dialect) = population.mind(&settings)?;
    let template = RequestTemplate::of(&mind, &settings, &dialect).map_err(Failure::usage)?;
    Ok(Ready {
        settings,
        template,
        recorded,
        population,
        init,
        init_sha256: logosphere_core::sha256_hex(&bytes),
        config_sha256,
    })
}

/// The seeds of `init.md`; what is odd about them is said.
pub fn seeds(
    path: &Path,
    bytes: &[u8],
    settings: &Settings,
    session: &Session,
) -> Result<Init, Failure> {
    let init = parse_init(bytes, settings.parse_mode, &settings.init_signature);
    let init = init.and_then(|init| init.check(settings.m_active_pool, settings.allow_zero_seeds));
    let init = init.map_err(|source| {
        let path = path.to_owned();
        Failure::usage(Error::Init { path, source })
    })?;
    for warning in &init.warnings {
        let warning = printable(&warning.to_string());
        session.notice(&format!("{}: {warning}", shown(path)));
    }
    Ok(init)
}

/// Writes the directory's files, begins the journal and runs.
fn begin(
    experiment: &Experiment,
    ready: Ready,
    flags: &cli::RunFlags,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let Ready {
        settings,
        population,
        template,
        init,
        init_sha256,
        config_sha256,
        recorded,
    } = ready;
    let _lock = experiment.lock(process::id()).map_err(failure)?;
    experiment.check_unused().map_err(failure)?;
    population.keep_ledger(experiment)?;
    let (mind, _) = population.mind(&settings)?;
    let config_sha256 = match config_sha256 {
        Some(sha256) => sha256,
        None => experiment
            .write_config(&settings, &recorded)
            .map_err(failure)?,
    };
    let effective = Effective {
        config_sha256,
        init_sha256,
        ..Effective::new(settings, SOFTWARE)
    };
    experiment.write_effective(&effective).map_err(failure)?;
    header(experiment, &effective.settings, &init, session);
    let stored = init.stored(effective.settings.stamp_seeds);
    let stored: Vec<_> = stored.map(|seed| seed.len()).collect();
    session.say(&forecast::brief(
        &effective.settings,
        &stored,
        &flags.settings,
    )?);
    let durability = effective.settings.durability;
    let stamp = effective.settings.stamp_seeds;
    let (mut run_id, mut clock) = (run_id()?, SystemClock::new());
    if flags.canary {
        (run_id, clock) = (format!("canary-{run_id}"), SystemClock::canary());
    }
    let start = ExperimentStart::new(effective, run_id, init.stored(stamp), template);
    let mind = if flags.canary {
        leak::watched(mind, &start.run_id, experiment, &clock)
    } else {
        mind
    };
    let check_leaks = flags.canary || flags.check_leaks == cli::Switch::On;
    if check_leaks {
        leak::warn(&start, experiment, session);
    }
    let journal = FileJournal::create(&experiment.journal(), &experiment.spool(), durability)?;
    let control = running::control(check_leaks, 0)?;
    let run = Orchestrator::start(start, mind, journal, clock, control)?;
    running::drive(run, experiment.path(), &experiment.journal(), session)
}

/// What is about to run.
fn header(experiment: &Experiment, settings: &Settings, init: &Init, session: &Session) {
    let Settings {
        n_minds,
        k_samples,
        m_active_pool,
        max_rounds,
        scheduling,
        parse_mode,
        seed,
        provider,
        model,
        ..
    } = settings;
    session.say(&format!(
        "{}: {} seeds {}, {n_minds} minds, {k_samples} of {m_active_pool} messages, {max_rounds} rounds, {}, {}, seed {seed}, {} {}",
        shown(experiment.path()),
        init.seeds.len(),
        if settings.stamp_seeds {
            format!("signed {}", printable(&init.signature))
        } else {
            "without a stamp".to_owned()
        },
        format!("{scheduling:?}").to_lowercase(),
        format!("{parse_mode:?}").to_lowercase(),
        printable(provider),
        printable(model),
    ));
    let snapshot = *scheduling == logosphere_core::Scheduling::Snapshot;
    if !snapshot && settings.concurrency != Settings::default().concurrency {
        session.notice("minds that read one after another are asked one at a time; concurrency is for --scheduling snapshot");
    }
    if settings.prompt().holds_delimiter() {
        session.notice("the system prompt holds a line `---`: whoever reads a prompt cannot tell it from the messages");
    }
}

/// Whose fault it is decides the exit code.
pub fn failure(error: ExperimentError) -> Failure {
    if error.is_usage() {
        Failure::usage(error)
    } else {
        error.into()
    }
}

/// The day, by universal time.
pub fn today() -> jiff::civil::Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// A seed for a run that is given none.
fn drawn() -> Result<u64, Failure> {
    // JSON readers in other languages keep 53 bits.
    Ok(random()? >> 11)
}

fn run_id() -> Result<String, Failure> {
    Ok(format!("{:016x}", random()?))
}

fn random() -> Result<u64, Failure> {
    getrandom::u64().map_err(|error| {
        Failure::new(
            Exit::Failed,
            Error::Random {
                message: error.to_string(),
            },
        )
    })
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}
