//! `run`: begins a run in an experiment's directory.

use std::path::Path;
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
    if flags.dry_run {
        return forecast::dry_run(directory, &flags.settings, session);
    }
    let experiment = match directory {
        // Named as an experiment it has its seeds; named as a place for one it is given what it lacks.
        Some(path) if flags.output_dir.is_none() => Experiment::open(path).map_err(failure)?,
        _ => place(directory, session)?,
    };
    spare(&experiment, &flags.settings)?;
    let ready = prepare(&experiment, &flags.settings, session)?;
    begin(&experiment, ready, flags, session)
}

/// Refuses to record calls into one of the experiment's own files: a cassette only grows, and so do they.
pub fn spare(experiment: &Experiment, flags: &cli::SettingFlags) -> Result<(), Failure> {
    match &flags.model.record {
        Some(record) => bin_support::spare(record, experiment.files()),
        None => Ok(()),
    }
}

/// The experiment that is meant, or a new one.
fn place(directory: Option<&Path>, session: &Session) -> Result<Experiment, Failure> {
    let experiment = match directory {
        Some(path) => Experiment::open_or_make(path),
        None => Experiment::create(Path::new(EXPERIMENTS), "run", today()),
    }
    .map_err(failure)?;
    provide_init(&experiment, session)?;
    Ok(experiment)
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

/// A run whose every setting is known.
pub struct Ready {
    pub settings: Settings,
    pub population: Population,
    pub init: Init,
    pub init_sha256: String,
    /// SHA-256 of a given `config.json`.
    pub config_sha256: Option<String>,
}

/// Reads the seeds and all layers of settings. Nothing is written or sent.
pub fn prepare(
    experiment: &Experiment,
    flags: &cli::SettingFlags,
    session: &Session,
) -> Result<Ready, Failure> {
    let config = experiment.read_config().map_err(failure)?;
    let (config, config_sha256) = config.map(|file| (file.layer, file.sha256)).unzip();
    let mut layer = flags.layer().over(config.unwrap_or_default());
    // The layers as they are given must be right before anything follows from them.
    let seed = layer.seed.map_or_else(drawn, Ok)?;
    let given = layer.clone().settings(seed).map_err(Failure::usage)?;
    let bytes = experiment.read_init().map_err(failure)?;
    let init = seeds(&experiment.init(), &bytes, &given, session)?;
    given
        .check_seeds(init.seeds.len() as u64)
        .map_err(Failure::usage)?;
    let population = Population::choose(&mut layer, &experiment.config(), flags, session)?;
    Ok(Ready {
        settings: layer.settings(seed).map_err(Failure::usage)?,
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
        init,
        init_sha256,
        config_sha256,
    } = ready;
    let _lock = experiment.lock(process::id()).map_err(failure)?;
    experiment.check_unused().map_err(failure)?;
    population.keep_ledger(experiment)?;
    let (mind, dialect) = population.mind(&settings)?;
    let template = RequestTemplate::of(&mind, &settings, &dialect).map_err(Failure::usage)?;
    let config_sha256 = match config_sha256 {
        Some(sha256) => sha256,
        None => experiment.write_config(&settings).map_err(failure)?,
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
        leak::warn(&start, experiment, &clock, session);
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
